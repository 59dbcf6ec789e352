//! The schema drift report: observed types against declared ones, and what moved since the last run.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::run::{DeclaredType, Expertise};

/// Share by which a count must have moved to be reported.
const MOVED_SHARE_MIN: f64 = 0.5;

/// Types that are counted one by one; beyond them all are one sum. A namespace with more types than this has no schema.
pub const TYPES_MAX: usize = 10_000;

/// How often each type occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequencies {
    /// By entity type.
    pub entity: BTreeMap<String, u64>,
    /// By relationship type.
    pub relationship: BTreeMap<String, u64>,
    /// Rows of types beyond [`TYPES_MAX`].
    #[serde(default)]
    pub beyond: u64,
}

impl Frequencies {
    /// Counts a live entity.
    pub fn feed_entity(&mut self, entity_type: &str) {
        self.beyond += count(&mut self.entity, entity_type);
    }

    /// Counts a live relationship.
    pub fn feed_relationship(&mut self, relationship_type: &str) {
        self.beyond += count(&mut self.relationship, relationship_type);
    }
}

fn count(counts: &mut BTreeMap<String, u64>, name: &str) -> u64 {
    if let Some(count) = counts.get_mut(name) {
        *count += 1;
        return 0;
    }
    if counts.len() == TYPES_MAX {
        return 1;
    }
    counts.insert(name.to_owned(), 1);
    0
}

/// What the report says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftReport {
    /// Observed and not declared.
    pub new_entity_types: Vec<String>,
    /// Declared and not observed.
    pub unused_entity_types: Vec<String>,
    /// Observed and not declared.
    pub new_relationship_types: Vec<String>,
    /// Declared and not observed.
    pub unused_relationship_types: Vec<String>,
    /// Count in the last run and now, where it moved by half or more.
    pub entity_frequency_delta: BTreeMap<String, (u64, u64)>,
    /// Count in the last run and now, where it moved by half or more.
    pub relationship_frequency_delta: BTreeMap<String, (u64, u64)>,
    /// Counts now.
    pub entity_frequencies: BTreeMap<String, u64>,
    /// Counts now.
    pub relationship_frequencies: BTreeMap<String, u64>,
    /// Live entities.
    pub entity_total: u64,
    /// Live relationships.
    pub relationship_total: u64,
    /// Whether there was a last run to compare with.
    pub has_baseline: bool,
}

/// Compares what is observed with what is declared, and with what the last run observed.
pub fn report(observed: &Frequencies, declared: &Expertise, before: Option<&Frequencies>) -> DriftReport {
    let (new_entity_types, unused_entity_types) = differences(&observed.entity, &declared.entity_types);
    let (new_relationship_types, unused_relationship_types) =
        differences(&observed.relationship, &declared.relationship_types);
    let delta = |kind: fn(&Frequencies) -> &BTreeMap<String, u64>| {
        before.map(|before| moved(kind(before), kind(observed))).unwrap_or_default()
    };
    DriftReport {
        new_entity_types,
        unused_entity_types,
        new_relationship_types,
        unused_relationship_types,
        entity_frequency_delta: delta(|frequencies| &frequencies.entity),
        relationship_frequency_delta: delta(|frequencies| &frequencies.relationship),
        entity_total: observed.entity.values().sum(),
        relationship_total: observed.relationship.values().sum(),
        entity_frequencies: observed.entity.clone(),
        relationship_frequencies: observed.relationship.clone(),
        has_baseline: before.is_some(),
    }
}

fn differences(observed: &BTreeMap<String, u64>, declared: &[DeclaredType]) -> (Vec<String>, Vec<String>) {
    let declared: BTreeSet<&str> = declared.iter().map(DeclaredType::name).collect();
    let new = observed.keys().filter(|name| !declared.contains(name.as_str())).cloned().collect();
    let unused = declared.into_iter().filter(|name| !observed.contains_key(*name)).map(Into::into).collect();
    (new, unused)
}

/// Counts that moved by half or more of the larger one.
fn moved(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> BTreeMap<String, (u64, u64)> {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let count = |counts: &BTreeMap<String, u64>, name: &String| counts.get(name).copied().unwrap_or(0);
    names
        .into_iter()
        .map(|name| (name, count(before, name), count(now, name)))
        .filter(|(_, before, now)| {
            #[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^53")]
            let share = before.abs_diff(*now) as f64 / (*before).max(*now).max(1) as f64;
            share >= MOVED_SHARE_MIN
        })
        .map(|(name, before, now)| (name.clone(), (before, now)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequencies(entity: &[(&str, u64)]) -> Frequencies {
        Frequencies {
            entity: entity.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            ..Frequencies::default()
        }
    }

    #[test]
    fn new_unused_and_moved_types_are_told_apart() {
        let declared = Expertise {
            entity_types: vec![DeclaredType::Name("PERSON".into()), DeclaredType::Object { name: "PLACE".into() }],
            relationship_types: vec![],
        };
        let before = frequencies(&[("PERSON", 10), ("GADGET", 3), ("OLD", 2)]);
        let report = report(&frequencies(&[("PERSON", 19), ("GADGET", 6)]), &declared, Some(&before));
        assert_eq!(report.new_entity_types, ["GADGET"]);
        assert_eq!(report.unused_entity_types, ["PLACE"]);
        assert_eq!(
            report.entity_frequency_delta,
            BTreeMap::from([("GADGET".to_owned(), (3, 6)), ("OLD".to_owned(), (2, 0))])
        );
    }

    #[test]
    fn the_first_run_has_nothing_to_compare_with() {
        let report = report(&frequencies(&[("PERSON", 1)]), &Expertise::default(), None);
        assert!(report.entity_frequency_delta.is_empty() && !report.has_baseline);
    }
}
