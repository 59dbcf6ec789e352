//! Evidence, rules and reasons in words.
//!
//! A plan speaks in enums and numbers; here they become what a person reads in a summary, a review or a terminal.
//!
//! **Invariant:** these words are ours; no memory text passes through here. A name of a rule that this table does not know
//! is shown as it is, with spaces, so that a new rule reads well before it has words of its own.

use serde::Serialize;

use crate::algo::cosine::Score;
use crate::apply::EffectNumbers;
use crate::op::{OpKind, OpState, Reason};
use crate::realm::graph::dedupe::{CosineEvidence, NotScored, PairEvidence, Support};
use crate::realm::graph::evidence::Evidence;
use crate::report::plain::count;

/// What speaks for an op and what against.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// What speaks for it.
    pub speaks_for: Vec<String>,
    /// What speaks against it.
    pub speaks_against: Vec<String>,
}

/// Why something was not done.
pub const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::ParentNotApplied => "the op it builds on was not applied",
        Reason::Rejected => "a person rejected it",
        Reason::RowMissing => "a row it relied on is gone",
        Reason::RowRetired => "a row it relied on was retired meanwhile",
        Reason::NameOrTypeChanged => "a name or type it relied on changed meanwhile",
        Reason::VectorsDisagree => "a vector it relied on changed and no longer agrees",
        Reason::EmbeddingModelChanged => "a member got a vector of another model meanwhile",
        Reason::AliasGone => "the alias it relied on is gone",
        Reason::VerdictKeepApart => "a person said that these stay two",
        Reason::StoreRefused => "the store refused the write",
        Reason::ForbiddenEffect => "it would have changed what its kind may not change",
        Reason::SkipUniqueCollision => "another entity owns the survivor's name and type",
        Reason::SkipCollision => "one survivor would absorb two clusters",
        Reason::SkipSingleton => "fewer than two members have a vector, or are left",
        Reason::SkipMultimodal => "the members' vectors speak of more than one concept; look at the merge itself",
        Reason::NoEmbedding => {
            "no embedder is configured, or none answered for the survivor's name; its vector stays as it is"
        }
        Reason::VectorsInLancedb => "this file keeps its vectors in LanceDB, which is not written",
        Reason::OpRequiresExpertise => "it needs declared types (an expertise)",
        Reason::OpDisabledByConfig => "switched off",
        Reason::OpNotSupportedByEngine => "there is no such op in this realm",
        Reason::NoMergeClusters => "no merge was planned",
        Reason::MissingEntityEmbedding => "entities without a vector were decided by their names alone",
        Reason::LivenessSuspicious => "more than half of the references look dead, which is more likely a mistake",
        Reason::GraphUnavailable => "the graph database, which has the edges, does not answer",
        Reason::MirrorPending => "the graph database is behind; the reconciler catches up",
        Reason::BackendUnsupported => "this store cannot do it",
        Reason::PlanCapReached => "the plan was full; the next run goes on",
        Reason::OutOfScope => "its rows are outside of the scope",
        Reason::FactChanged => "a fact was changed since it was read",
        Reason::FactPinned => "a fact was pinned since it was read",
        Reason::FactGone => "a fact was forgotten since it was read",
        Reason::FactRecalled => "the fact was recalled since it was read",
        Reason::TextForgotten => "what it would have written was forgotten",
    }
}

/// What became of an op, as a participle.
pub const fn state(state: OpState) -> &'static str {
    match state {
        OpState::Sealed => "planned",
        OpState::Applied => "applied",
        OpState::Noop => "noop",
        OpState::KeptApart => "kept apart",
        OpState::Skipped => "skipped",
        OpState::Stale => "stale",
        OpState::Failed => "failed",
        OpState::Undone => "undone",
    }
}

/// The words for the name of a rule, of a veto, or of a reason to stay two.
pub fn rule(name: &str) -> String {
    let words = match name {
        "same_letters" => "the names are the same letters",
        "names_and_cosine" => "the names speak for it and the vectors agree",
        "same_words" => "the names are the same words",
        "middle_initial" => "the same words, a middle name as an initial",
        "one_slip" => "the names are one slip of a finger apart",
        "only_expansion" => "an acronym that only one name spells out",
        "names_and_context" => "the names speak for it, and a neighbour, chunk or attribute supports them",
        "no_support" | "unsupported" => "the names are alike, and nothing supports them",
        "vectors_alone" | "names_silent" => "only the vectors propose it",
        "vetoed" | "veto" => "something forbids it",
        "cluster_disagrees" => "the pair is alike, but other members of its cluster are not",
        "out_of_scope" => "one of the two is outside of the scope",
        "claimed" => "one of the two is being re-absorbed in this run",
        "verdict_keep_apart" => "it was said before that these stay two",
        "different_type" => "the types differ",
        "folds_to_nothing" => "a name has no letters to compare",
        "different_numbers" => "the numbers or versions in the names differ",
        "generational_suffix" => "parent and child, or members of a series (Jr, Sr, II, III)",
        "different_letter" => "the names end in different single letters",
        "different_legal_form" => "the legal forms belong to different countries",
        "disjoint_neighbourhoods" => "both have many neighbours, and not one in common",
        "attributes_contradict" => "their attributes contradict each other",
        "absorbed_before" => "it was absorbed before and came back",
        "dead_references" => "the chunks are gone",
        "close_names" => "the names are close, and so are the vectors",
        "distant_names" => "the names are distant, so the mean says little",
        "joined_by_other_evidence" => "a pair was joined by more than its vectors",
        "vectors_fall_apart" => "the vectors fall apart",
        "singleton" => "fewer than two members",
        other => return other.replace('_', " "),
    };
    words.to_owned()
}

/// A score as people read it.
pub fn score(score: Score) -> String {
    format!("{:.4}", f64::from(score.0) / f64::from(Score::ONE.0))
}

/// The name that a unit variant has on the wire.
pub(super) fn wire_name(variant: &impl Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(name)) => name,
        _ => unreachable!("relations, vetoes and supports are unit variants"),
    }
}

/// What speaks for two being one, and what against. `threshold` is the cosine that their type asks for.
pub fn pair(pair: &PairEvidence, threshold: Option<Score>) -> Weighed {
    let mut weighed = Weighed::default();
    weigh_names(pair, &mut weighed);
    weigh_vectors(pair.cosine, threshold, &mut weighed);
    weigh_context(pair, &mut weighed);
    weighed.speaks_against.extend(pair.vetoes.iter().map(|veto| rule(&wire_name(veto))));
    weighed
}

fn weigh_names(pair: &PairEvidence, weighed: &mut Weighed) {
    let names = &pair.names;
    let relation = match wire_name(&names.relation).as_str() {
        "same" => Some("the same letters".to_owned()),
        "same_words" => Some("the same words".to_owned()),
        "slip" => Some("the same words but for one slip".to_owned()),
        "shortened" => Some("the same words, some of them shortened".to_owned()),
        "acronym" => Some("one is the acronym of the other".to_owned()),
        "extended" => Some("one holds all words of the other and more".to_owned()),
        "narrowed" => Some("one holds all words of the other and a place".to_owned()),
        "overlapping" => Some("some words in common".to_owned()),
        "silent" => None,
        other => Some(other.replace('_', " ")),
    };
    match relation {
        Some(relation) if names.similarity == Score::ONE => weighed.speaks_for.push(relation),
        Some(relation) => weighed.speaks_for.push(format!("{relation} (alike by {})", score(names.similarity))),
        None => weighed.speaks_against.push("nothing in common in the names".to_owned()),
    }
    let own = |words: u8| count(u64::from(words), "word", "words");
    match (names.left_only, names.right_only) {
        (0, 0) => {}
        (0, words) | (words, 0) => weighed.speaks_against.push(format!("one name has {} more", own(words))),
        (left, right) => {
            weighed.speaks_against.push(format!("each name has words of its own ({left} and {right})"));
        }
    }
}

fn weigh_vectors(cosine: CosineEvidence, threshold: Option<Score>, weighed: &mut Weighed) {
    match (cosine, threshold) {
        (CosineEvidence::Scored(found), Some(floor)) if found < floor => {
            weighed.speaks_against.push(format!("cosine {}, below {}", score(found), score(floor)));
        }
        (CosineEvidence::Scored(found), _) => weighed.speaks_for.push(format!("cosine {}", score(found))),
        (CosineEvidence::NotScored(NotScored::Absent), _) => {
            weighed.speaks_against.push("no vectors to compare".to_owned());
        }
        (CosineEvidence::NotScored(NotScored::DifferentModel), _) => {
            weighed.speaks_against.push("the vectors come from different models".to_owned());
        }
        (CosineEvidence::NotScored(NotScored::NoDirection), _) => {
            weighed.speaks_against.push("a vector without direction".to_owned());
        }
        (CosineEvidence::NotScored(NotScored::NotNeeded), _) => {}
    }
}

fn weigh_context(pair: &PairEvidence, weighed: &mut Weighed) {
    let neighbours = &pair.neighbours;
    if neighbours.shared > 0 {
        let shared = count(u64::from(neighbours.shared), "shared neighbour", "shared neighbours");
        weighed.speaks_for.push(format!("{shared} of {} and {}", neighbours.left, neighbours.right));
    } else if neighbours.left > 0 && neighbours.right > 0 {
        let (left, right) = (neighbours.left, neighbours.right);
        weighed.speaks_against.push(format!("no shared neighbour of {left} and {right}"));
    }
    if neighbours.linked {
        weighed.speaks_against.push("an edge runs between the two".to_owned());
    }
    if pair.chunks.shared > 0 {
        weighed.speaks_for.push(count(u64::from(pair.chunks.shared), "shared chunk", "shared chunks"));
    }
    let attributes = pair.attributes;
    if attributes.shared > 0 {
        weighed.speaks_for.push(count(u64::from(attributes.shared), "attribute agrees", "attributes agree"));
    }
    if attributes.conflicting > 0 {
        let conflicting = count(u64::from(attributes.conflicting), "attribute differs", "attributes differ");
        weighed.speaks_against.push(conflicting);
    }
}

/// What would have made two one, any of which is enough.
pub fn missing(pair: &PairEvidence) -> Vec<String> {
    let words = |support: &Support| match support {
        Support::CosineAtThreshold => "a cosine at the threshold",
        Support::SharedNeighbour => "a shared neighbour",
        Support::SharedChunk => "a shared chunk",
        Support::SharedAttribute => "an attribute that agrees",
    };
    pair.missing.iter().map(|support| words(support).to_owned()).collect()
}

/// What speaks for an op and what against, whatever its kind. Of a merge it is the evidence of its weakest pair, as a
/// cluster is as good as that.
pub fn evidence(evidence: &Evidence, threshold: Option<Score>) -> Weighed {
    match evidence {
        Evidence::Merge(merge) => weakest(&merge.pairs).map(|weakest| pair(weakest, threshold)).unwrap_or_default(),
        Evidence::Apart(apart) => pair(apart, threshold),
        Evidence::Collision(collision) => Weighed {
            speaks_for: vec![count(u64::from(collision.members), "member", "members")],
            speaks_against: vec!["collides with a row outside of the cluster".to_owned()],
        },
        Evidence::Reabsorb(came_back) => {
            let mut speaks_for = vec!["absorbed by an earlier merge".to_owned()];
            if came_back.revived {
                speaks_for.push("its row lives again".to_owned());
            }
            speaks_for.push(count(came_back.mentions_new.max(0).unsigned_abs(), "new mention", "new mentions"));
            speaks_for.push(count(u64::from(came_back.edges_live), "live edge", "live edges"));
            Weighed { speaks_for, speaks_against: Vec::new() }
        }
        Evidence::Centroid(centroid) => {
            let vectors = count(u64::from(centroid.vectors), "vector", "vectors");
            let least = centroid.cosine_min.map(|least| format!("least cosine {}", score(least)));
            let mut speaks_for =
                vec![format!("{vectors} of {}", count(u64::from(centroid.members), "member", "members"))];
            speaks_for.extend(least);
            speaks_for.push(format!(
                "names at most {} apart",
                count(u64::from(centroid.edit_distance_max), "letter", "letters")
            ));
            Weighed { speaks_for, speaks_against: Vec::new() }
        }
        Evidence::Drop(drop) => {
            let references = count(u64::from(drop.references), "reference", "references");
            Weighed { speaks_for: vec![format!("{} of {references} dead", drop.dead)], speaks_against: Vec::new() }
        }
        Evidence::Repair(repair) => {
            Weighed { speaks_for: vec![repair.difference.title().to_owned()], speaks_against: Vec::new() }
        }
        Evidence::Space(space) => {
            let recalls = space.recalls.max(0).unsigned_abs();
            let speaks_against = (recalls > 0).then(|| count(recalls, "recall", "recalls"));
            Weighed { speaks_for: Vec::new(), speaks_against: speaks_against.into_iter().collect() }
        }
    }
}

/// What speaks for an op or against it, in as few words as a cell of a table has room for.
pub fn brief(rule: &str, evidence: &Evidence) -> String {
    let some = |number: u32, one: &str, many: &str| (number > 0).then(|| count(u64::from(number), one, many));
    let (first, more) = match evidence {
        Evidence::Merge(merge) => match weakest(&merge.pairs) {
            Some(pair) => {
                let cosine = pair.cosine.score().map(|cosine| format!("cosine {}", score(cosine)));
                let neighbours = some(pair.neighbours.shared, "neighbour", "neighbours");
                let chunks = some(pair.chunks.shared, "chunk", "chunks");
                (wire_name(&pair.names.relation), [cosine, neighbours, chunks])
            }
            None => (rule.to_owned(), [None, None, None]),
        },
        Evidence::Apart(pair) => {
            let cosine = pair.cosine.score().map(|cosine| format!("cosine {}", score(cosine)));
            (rule.to_owned(), [cosine, None, None])
        }
        Evidence::Collision(collision) => (rule.to_owned(), [some(collision.members, "member", "members"), None, None]),
        Evidence::Reabsorb(came_back) => {
            let mentions = count(came_back.mentions_new.max(0).unsigned_abs(), "new mention", "new mentions");
            (mentions, [some(came_back.edges_live, "live edge", "live edges"), None, None])
        }
        Evidence::Centroid(centroid) => {
            let cosine = centroid.cosine_min.map(|cosine| format!("cosine {}", score(cosine)));
            (rule.to_owned(), [cosine, some(centroid.members, "member", "members"), None])
        }
        Evidence::Drop(drop) => (format!("{} of {} dead", drop.dead, drop.references), [None, None, None]),
        Evidence::Repair(repair) => (repair.difference.title().to_owned(), [None, None, None]),
        Evidence::Space(space) => (rule.to_owned(), [some(space.changes, "change", "changes"), None, None]),
    };
    let mut parts = vec![first.replace('_', " ")];
    parts.extend(more.into_iter().flatten());
    parts.join(", ")
}

/// The pair that was joined by the weakest rule, and of those the one whose names are least alike.
pub fn weakest(pairs: &[PairEvidence]) -> Option<&PairEvidence> {
    pairs.iter().max_by_key(|pair| (pair.rule, std::cmp::Reverse(pair.names.similarity), pair.left, pair.right))
}

/// What an op did, in words; empty if it did nothing.
pub fn numbers(numbers: &EffectNumbers) -> Vec<String> {
    let edges = &numbers.edges;
    let counted = [
        (u64::from(numbers.absorbed), "entity absorbed", "entities absorbed"),
        (numbers.mentions_added.max(0).unsigned_abs(), "mention gained", "mentions gained"),
        (u64::from(edges.moved), "edge moved", "edges moved"),
        (u64::from(edges.parallels_folded), "parallel edge folded", "parallel edges folded"),
        (u64::from(edges.parallels_kept), "parallel edge left two", "parallel edges left two"),
        (u64::from(edges.self_loops_retired), "self-loop retired", "self-loops retired"),
        (u64::from(edges.temporal_moved), "temporal edge moved", "temporal edges moved"),
        (
            u64::from(numbers.attributes_conflicting),
            "attribute value kept as alternative",
            "attribute values kept as alternatives",
        ),
        (u64::from(numbers.sources_dropped), "source id beyond the cap", "source ids beyond the cap"),
        (u64::from(numbers.references_removed), "dead reference removed", "dead references removed"),
        (u64::from(numbers.vectors_set), "vector set", "vectors set"),
        (u64::from(numbers.facts_removed), "fact removed", "facts removed"),
        (u64::from(numbers.rows_written), "row written", "rows written"),
    ];
    counted.into_iter().filter(|(number, ..)| *number > 0).map(|(number, one, many)| count(number, one, many)).collect()
}

/// What an audit is about.
pub const fn audit_title(kind: OpKind) -> &'static str {
    match kind {
        OpKind::SchemaDriftReport => "Types against the declared ones",
        OpKind::OrphanReport => "Entities that nobody points at",
        OpKind::SourceChunkIdsAudit => "References to chunks",
        _ => kind.title(),
    }
}
