//! What keeps two entities apart, whatever speaks for them.
//!
//! **Invariant:** a veto looks at two entities only, never at the rest of a cluster, and is symmetric.
//! A new veto is a variant of [`Veto`] and a line in [`name_vetoes`] or [`context_vetoes`].

use super::compare::NameMatch;
use super::name::{Marks, NameFacts};
use super::plan::{AttributeEvidence, NameRelation, NeighbourEvidence, Veto};
use super::settings::{ATTRIBUTES_TO_SPEAK_MIN, NEIGHBOURS_TO_SPEAK_MIN};

/// A set of vetoes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VetoSet(u16);

impl VetoSet {
    const ALL: [Veto; 9] = [
        Veto::VerdictKeepApart,
        Veto::DifferentType,
        Veto::FoldsToNothing,
        Veto::DifferentNumbers,
        Veto::GenerationalSuffix,
        Veto::DifferentLetter,
        Veto::DifferentLegalForm,
        Veto::DisjointNeighbourhoods,
        Veto::AttributesContradict,
    ];

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, veto: Veto) -> bool {
        self.0 & (1 << veto as u16) != 0
    }

    pub(super) fn insert_if(&mut self, condition: bool, veto: Veto) {
        self.0 |= u16::from(condition) << veto as u16;
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The vetoes in their order.
    pub(super) fn list(self) -> Vec<Veto> {
        Self::ALL.into_iter().filter(|veto| self.has(*veto)).collect()
    }
}

/// The vetoes that two names speak.
pub(super) fn name_vetoes(left: &NameFacts, right: &NameFacts, names: &NameMatch) -> VetoSet {
    let mut vetoes = VetoSet::default();
    vetoes.insert_if(left.folded == 0 || right.folded == 0, Veto::FoldsToNothing);
    let numbers_differ = left.numbers != right.numbers;
    // "Demol II" and "Demol": the numeral stands where a generation stands, and the digits agree.
    let series = left.marks.has(Marks::ROMAN_END) || right.marks.has(Marks::ROMAN_END);
    let series_differs = numbers_differ && series && left.digits == right.digits;
    vetoes.insert_if(numbers_differ && !series_differs, Veto::DifferentNumbers);
    vetoes.insert_if(series_differs || left.generation != right.generation, Veto::GenerationalSuffix);
    let letters = left.marks.has(Marks::LETTER_END) && right.marks.has(Marks::LETTER_END);
    let own_words = names.words.left_only > 0 && names.words.right_only > 0;
    vetoes.insert_if(letters && own_words && names.words.equal_words > 0, Veto::DifferentLetter);
    let forms = left.countries != 0 && right.countries != 0 && left.countries & right.countries == 0;
    vetoes.insert_if(forms && names.relation <= NameRelation::Extended, Veto::DifferentLegalForm);
    vetoes
}

/// The vetoes that the surroundings speak.
pub(super) fn context_vetoes(neighbours: NeighbourEvidence, attributes: AttributeEvidence) -> VetoSet {
    let mut vetoes = VetoSet::default();
    let both_speak = neighbours.left.min(neighbours.right) as usize >= NEIGHBOURS_TO_SPEAK_MIN;
    vetoes.insert_if(both_speak && neighbours.shared == 0, Veto::DisjointNeighbourhoods);
    let contradict = attributes.shared == 0 && attributes.conflicting >= ATTRIBUTES_TO_SPEAK_MIN;
    vetoes.insert_if(contradict, Veto::AttributesContradict);
    vetoes
}
