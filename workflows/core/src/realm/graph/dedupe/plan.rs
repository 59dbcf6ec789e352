//! The plan: what merges, what stays apart and why, in ids, numbers and enums.
//!
//! **Invariant:** nothing here holds memory text, and every list is sorted by ids, so that equal data give equal bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use crate::algo::cosine::Score;

/// Everything dedupe decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DedupePlan {
    /// Clusters to merge, by survivor.
    pub merges: Vec<MergeDraft>,
    /// Pairs that look alike and stay two, the strongest first when the list is cut, then by ids.
    pub kept_apart: Vec<KeptApart>,
    /// Pairs kept apart beyond the listed ones, by reason.
    pub kept_apart_unlisted: BTreeMap<KeptApartReason, u64>,
    /// Clusters that would collide with a row outside of them.
    pub collisions: Vec<Collision>,
    /// How candidates were found, and which bounds bit.
    pub blocks: BlockReport,
    /// Totals.
    pub counts: DedupeCounts,
}

/// One cluster that becomes one entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeDraft {
    /// The survivor: most mentioned, then oldest, then smallest id.
    pub keep: Uuid,
    /// The others, sorted.
    pub absorb: Vec<Uuid>,
    /// The type all of them have.
    pub entity_type: String,
    /// The pairs that joined the cluster.
    pub pairs: Vec<PairEvidence>,
    /// Whether all of `pairs` have a cosine at or above the type's threshold.
    pub every_pair_reached_cosine_threshold: bool,
}

/// A pair that was looked at and stays two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptApart {
    /// Why, in one word.
    pub reason: KeptApartReason,
    /// Why, in numbers.
    pub evidence: PairEvidence,
}

/// Why a pair stays two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptApartReason {
    /// Something forbids it, whatever speaks for it.
    Vetoed,
    /// Only the vectors propose it.
    NamesSilent,
    /// The names are alike, and nothing supports them.
    Unsupported,
    /// The pair is alike, and its cluster holds members that are not.
    ClusterDisagrees,
    /// One of the two is not in the scope of this run.
    OutOfScope,
    /// One of the two is already being re-absorbed in this run.
    Claimed,
}

/// Everything that was weighed for one pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairEvidence {
    /// The smaller id.
    pub left: Uuid,
    /// The larger id.
    pub right: Uuid,
    /// What the names say.
    pub names: NameEvidence,
    /// What the vectors say.
    pub cosine: CosineEvidence,
    /// Attributes that both have.
    pub attributes: AttributeEvidence,
    /// Neighbours, co-occurrence left out.
    pub neighbours: NeighbourEvidence,
    /// Chunks that mention them.
    pub chunks: SharedEvidence,
    /// The stated rule that decided.
    pub rule: Rule,
    /// What forbids a merge.
    pub vetoes: Vec<Veto>,
    /// What would have made it a merge; any one of them is enough.
    pub missing: Vec<Support>,
}

/// What two names have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameEvidence {
    /// Keys that both names have.
    pub keys: Vec<NameKey>,
    /// How the one name relates to the other.
    pub relation: NameRelation,
    /// How alike the words are, each weighed by how rare it is.
    pub similarity: Score,
    /// Words of the left name that the right one lacks.
    pub left_only: u8,
    /// Words of the right name that the left one lacks.
    pub right_only: u8,
}

/// A key that two names can share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameKey {
    /// The same name but for letter case.
    Exact,
    /// The same letters but for case, diacritics, spacing and punctuation.
    Folded,
    /// The same words but for legal forms, articles and titles.
    Core,
    /// The same words in another order or spelling.
    Bag,
    /// One name is the other's acronym.
    Acronym,
    /// An initial on one side, the word on the other.
    Initials,
    /// One slip of a finger apart.
    Slip,
    /// A word that begins alike.
    TokenPrefix,
}

/// How one name relates to another, from the closest to the most distant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameRelation {
    /// The same letters.
    Same,
    /// The same words.
    SameWords,
    /// The same words but for one slip of a finger.
    Slip,
    /// The same words, some of them shortened to initials or abbreviations.
    Shortened,
    /// One is the acronym of the other.
    Acronym,
    /// One holds all words of the other and more.
    Extended,
    /// One holds all words of the other and the name of a country or a direction: a branch of it.
    Narrowed,
    /// Some words are common, each has words of its own.
    Overlapping,
    /// Nothing in common.
    Silent,
}

/// What two vectors say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CosineEvidence {
    /// Their cosine.
    Scored(Score),
    /// Why there is none.
    NotScored(NotScored),
}

impl CosineEvidence {
    /// The score, where there is one.
    pub fn score(self) -> Option<Score> {
        match self {
            Self::Scored(score) => Some(score),
            Self::NotScored(_) => None,
        }
    }
}

/// Why a pair has no cosine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotScored {
    /// One of the two has no vector, or it was not supplied.
    Absent,
    /// The vectors come from different models or have different lengths.
    DifferentModel,
    /// One of the two is zero, not a number or infinite.
    NoDirection,
    /// The names decided without asking for vectors.
    NotNeeded,
}

/// How many of something two entities share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedEvidence {
    /// Both have it.
    pub shared: u32,
    /// How many the left one has.
    pub left: u32,
    /// How many the right one has.
    pub right: u32,
}

/// What two neighbourhoods share, co-occurrence left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighbourEvidence {
    /// Neighbours of both.
    pub shared: u32,
    /// Those of them that are not everybody's neighbour.
    pub telling: u32,
    /// How many the left one has.
    pub left: u32,
    /// How many the right one has.
    pub right: u32,
    /// Whether an edge runs between the two: it says that they are two.
    pub linked: bool,
}

/// Attributes that both entities have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttributeEvidence {
    /// The same value.
    pub shared: u16,
    /// Values with less than half of the longer one's words in common.
    pub conflicting: u16,
}

/// The stated rules, in the order in which `rule.rs` states and applies them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A veto forbids the merge.
    Veto,
    /// The names are the same letters: merge.
    SameLetters,
    /// The names speak for it and the cosine reaches the threshold: merge.
    NamesAndCosine,
    /// The names are the same words and nothing contradicts them: merge.
    SameWords,
    /// The same words, a middle name as an initial, and nothing contradicts them: merge.
    MiddleInitial,
    /// One slip of a finger in a long name, and nothing contradicts it: merge.
    OneSlip,
    /// A long acronym that only one name in the store spells out: merge.
    OnlyExpansion,
    /// The names speak for it and a neighbour, chunk or attribute supports them: merge.
    NamesAndContext,
    /// The names speak for it and nothing supports them: stay two.
    NoSupport,
    /// Only the vectors speak for it: stay two.
    VectorsAlone,
}

impl Rule {
    /// Whether the rule says merge.
    pub fn merges(self) -> bool {
        !matches!(self, Self::Veto | Self::NoSupport | Self::VectorsAlone)
    }
}

/// What forbids a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Veto {
    /// A person or an earlier run said that the two are two.
    VerdictKeepApart,
    /// The types differ.
    DifferentType,
    /// A name folds to nothing: there is nothing to compare.
    FoldsToNothing,
    /// The numbers or versions in the names differ.
    DifferentNumbers,
    /// Parent and child, or members of a series: Jr, Sr, II, III.
    GenerationalSuffix,
    /// The names end in different single letters: "Building A", "Building D".
    DifferentLetter,
    /// The legal forms belong to different countries' laws: `GmbH`, `S.p.A.`.
    DifferentLegalForm,
    /// The neighbourhoods are disjoint, and both are large enough to speak.
    DisjointNeighbourhoods,
    /// Several attributes contradict each other, and none agrees.
    AttributesContradict,
}

/// What could support a pair whose names are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// A cosine at or above the threshold of the type.
    CosineAtThreshold,
    /// A neighbour of both.
    SharedNeighbour,
    /// A chunk that mentions both.
    SharedChunk,
    /// An attribute with the same value.
    SharedAttribute,
}

/// A cluster that is reported and left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collision {
    /// What would collide.
    pub kind: CollisionKind,
    /// The survivor the cluster would have had.
    pub keep: Uuid,
    /// The members it would have absorbed, sorted.
    pub absorb: Vec<Uuid>,
    /// The row it collides with.
    pub with: Uuid,
}

/// What collides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollisionKind {
    /// A row outside the cluster owns the survivor's exact name and type.
    SkipUniqueCollision,
    /// A member is already absorbing other rows in this run.
    SkipCollision,
}

/// How candidates were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockReport {
    /// One entry per family of keys, in the order they ran.
    pub families: Vec<FamilyReport>,
    /// Types too large for a comparison of all vectors: they are compared within name blocks only.
    pub types_beyond_nearest: u32,
    /// Entities of those types.
    pub entities_beyond_nearest: u64,
    /// Candidate pairs dropped because the bound on all pairs was reached.
    pub pairs_truncated: u64,
}

/// What one family of keys found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyReport {
    /// The family.
    pub family: Family,
    /// Blocks with two members or more.
    pub blocks: u64,
    /// Pairs compared.
    pub pairs_compared: u64,
    /// Pairs whose names had something to say and that no earlier family had found.
    pub pairs_found: u64,
    /// Oversized blocks that were split by a longer key.
    pub blocks_split: u64,
    /// Oversized blocks that were sampled by the hash of the id.
    pub blocks_sampled: u64,
    /// Sizes of the largest sampled blocks, largest first.
    pub sampled_sizes: Vec<u32>,
}

/// A family of blocking keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Folded name (which holds the exact lower-cased one), across types so that a type conflict is seen.
    FoldedName,
    /// Name without legal form, articles and titles.
    CoreName,
    /// Words in any order and spelling.
    WordBag,
    /// Name without its numbers: members of a series, compared so that it can be said why they stay apart.
    Series,
    /// Acronym against first letters.
    Acronym,
    /// Initial and last word.
    Initials,
    /// First or second half of the letters.
    Halves,
    /// First letters of a word.
    TokenPrefix,
    /// Exact nearest neighbours of the vector within the type.
    NearestVectors,
}

/// Totals of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DedupeCounts {
    /// Entities fed.
    pub entities: u64,
    /// Edges fed whose ends are both known.
    pub edges: u64,
    /// Edges that name an entity that was not fed.
    pub edges_dangling: u64,
    /// Pairs weighed with everything known about them.
    pub pairs_weighed: u64,
    /// Entities without a vector.
    pub vectors_absent: u64,
    /// Vectors asked for.
    pub vectors_needed: u64,
    /// Vectors that were asked for and never fed, or had the wrong length.
    pub vectors_missing: u64,
    /// Vectors without direction: zero, NaN or infinite. Their pairs are not scored.
    pub vectors_without_direction: u64,
    /// Names that fold to nothing.
    pub names_folding_to_nothing: u64,
    /// Entities that merges remove.
    pub entities_absorbed: u64,
}
