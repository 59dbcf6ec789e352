//! What an operator may turn: switches, thresholds and bounds, with the defaults that Khora documents.
//!
//! A run works with the settings it began with; they are kept in its row. [`KNOBS`] is the one list of what can be set,
//! under which names, within which bounds: configuration, documentation and tests are made from it.
//!
//! **Invariant:** reading a value never touches the environment; the door reads texts and hands them to [`Settings::set`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::op::OpKind;
use crate::redact::RedactText;
use crate::run::Mode;

/// Days a person may take to look at a plan before the review ends by itself.
pub const REVIEW_DAYS: u64 = 7;

/// The settings of a graph dream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether the graph realm dreams at all.
    pub enabled: bool,
    /// Whether nothing may be applied, in any realm.
    pub disable_apply: bool,
    /// The mode of a run that names none.
    pub default_mode: Mode,
    /// Whether duplicates are merged, and re-absorbed.
    pub dedupe_entities_enabled: bool,
    /// Whether survivors get a new vector.
    pub centroid_recompute_enabled: bool,
    /// Whether dead references are removed.
    pub source_chunk_ids_gc_enabled: bool,
    /// Cosine at which two vectors speak for one thing, 0 to 1.
    pub dedupe_entities_default_threshold: f64,
    /// The same by exact type.
    pub dedupe_entities_per_type_thresholds: BTreeMap<String, f64>,
    /// Dead references a row must have before they are removed.
    pub source_chunk_ids_gc_min_dead: u32,
    /// Least cosine between two members of a cluster whose vectors are averaged, 0 to 1.
    pub centroid_min_intra_cluster_cosine: f64,
    /// Greatest edit distance between two names of a cluster whose vectors are averaged, in characters.
    pub centroid_lev_threshold: u32,
    /// Percentile of the rank below which an entity may be an orphan, 0 to 100.
    pub orphan_pr_percentile_threshold: f64,
    /// Weight of a co-occurrence edge in that rank, 0 to 1.
    pub cooccurrence_edge_weight: f64,
    /// Days within which a recall keeps an entity from being an orphan.
    pub orphan_recall_days: u32,
    /// Whether reports are written as files.
    pub report_file_sink_enabled: bool,
    /// How much memory text reports show.
    pub redact_text: RedactText,
    /// Days that reports and undo are kept.
    pub retention_days: u32,
    /// Runs of one namespace whose reports and undo are kept.
    pub retention_runs_per_namespace: u32,
    /// Namespaces, by either id, that must not be written.
    pub read_only_namespaces: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: false,
            disable_apply: false,
            default_mode: Mode::DryRun,
            dedupe_entities_enabled: false,
            centroid_recompute_enabled: false,
            source_chunk_ids_gc_enabled: false,
            dedupe_entities_default_threshold: 0.90,
            dedupe_entities_per_type_thresholds: BTreeMap::new(),
            source_chunk_ids_gc_min_dead: 1,
            centroid_min_intra_cluster_cosine: 0.88,
            centroid_lev_threshold: 2,
            orphan_pr_percentile_threshold: 5.0,
            cooccurrence_edge_weight: 0.2,
            orphan_recall_days: 30,
            report_file_sink_enabled: true,
            redact_text: RedactText::Summary,
            retention_days: 30,
            retention_runs_per_namespace: 50,
            read_only_namespaces: Vec::new(),
        }
    }
}

/// One thing that can be set.
pub struct Knob {
    /// Its name in a configuration file, and behind `KHORA_DREAM_` in capitals.
    pub name: &'static str,
    /// Another documented name for the same, which must not say something else.
    pub alias: Option<&'static str>,
    /// What it does, in a line.
    pub help: &'static str,
    read: fn(&Settings) -> String,
    write: fn(&mut Settings, &str) -> Result<(), KnobError>,
}

/// Why a value cannot be set. The value itself is not repeated: a list of namespaces may stand where a number belongs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnobError {
    /// No such knob.
    #[error("no such setting")]
    Unknown,
    /// Not of its kind, or out of its bounds.
    #[error("expected {expected}")]
    Expected {
        /// What would do.
        expected: &'static str,
    },
}

/// Texts that mean off, as Khora reads them. Anything else but an explicit yes means a mistake, except for the kill switch,
/// where anything else means on.
const OFF: [&str; 5] = ["", "0", "false", "no", "off"];
const ON: [&str; 4] = ["1", "true", "yes", "on"];

fn switch(text: &str) -> Result<bool, KnobError> {
    let text = text.trim().to_lowercase();
    match (OFF.contains(&text.as_str()), ON.contains(&text.as_str())) {
        (true, _) => Ok(false),
        (_, true) => Ok(true),
        _ => Err(KnobError::Expected { expected: "true or false" }),
    }
}

fn ratio(text: &str) -> Result<f64, KnobError> {
    let number = text.trim().parse().ok().filter(|number: &f64| (0.0..=1.0).contains(number));
    number.ok_or(KnobError::Expected { expected: "a number from 0 to 1" })
}

fn whole(text: &str) -> Result<u32, KnobError> {
    text.trim().parse().map_err(|_| KnobError::Expected { expected: "a whole number, 0 or more" })
}

fn word<T: std::str::FromStr>(text: &str, expected: &'static str) -> Result<T, KnobError> {
    text.trim().parse().map_err(|_| KnobError::Expected { expected })
}

macro_rules! knob {
    ($field:ident, $alias:expr, $parse:expr, $help:literal) => {
        Knob {
            name: stringify!($field),
            alias: $alias,
            help: $help,
            read: |settings| settings.$field.to_string(),
            write: |settings, text| {
                settings.$field = $parse(text)?;
                Ok(())
            },
        }
    };
}

/// Everything that can be set. A new setting is a field and a line here.
pub const KNOBS: &[Knob] = &[
    knob!(enabled, None, switch, "master switch of the graph realm"),
    Knob {
        name: "disable_apply",
        alias: None,
        help: "kill switch: nothing is applied, in any realm; anything but an explicit no sets it",
        read: |settings| settings.disable_apply.to_string(),
        write: |settings, text| {
            settings.disable_apply = !OFF.contains(&text.trim().to_lowercase().as_str());
            Ok(())
        },
    },
    knob!(default_mode, None, |text| word(text, "dry-run, apply or review"), "mode of a run that names none"),
    knob!(
        dedupe_entities_enabled,
        Some("ops.dedupe_entities"),
        switch,
        "merge duplicate entities, re-absorb what came back"
    ),
    knob!(centroid_recompute_enabled, Some("ops.recompute_centroids"), switch, "give survivors of merges a new vector"),
    knob!(
        source_chunk_ids_gc_enabled,
        Some("ops.source_chunk_ids_gc"),
        switch,
        "remove references to chunks that are gone"
    ),
    knob!(dedupe_entities_default_threshold, None, ratio, "cosine at which two vectors speak for one thing"),
    Knob {
        name: "dedupe_entities_per_type_thresholds",
        alias: None,
        help: "the same by exact type, as a JSON object: {\"PERSON\": 0.95}",
        read: |settings| serde_json::to_string(&settings.dedupe_entities_per_type_thresholds).unwrap_or_default(),
        write: |settings, text| {
            let thresholds: Option<BTreeMap<String, f64>> = serde_json::from_str(text).ok();
            settings.dedupe_entities_per_type_thresholds = thresholds
                .filter(|map| map.values().all(|threshold| (0.0..=1.0).contains(threshold)))
                .ok_or(KnobError::Expected { expected: "a JSON object of types and numbers from 0 to 1" })?;
            Ok(())
        },
    },
    Knob {
        name: "source_chunk_ids_gc_min_dead",
        alias: None,
        help: "dead references a row must have before they are removed",
        read: |settings| settings.source_chunk_ids_gc_min_dead.to_string(),
        write: |settings, text| {
            let number = whole(text)?;
            if number == 0 {
                return Err(KnobError::Expected { expected: "a whole number, 1 or more" });
            }
            settings.source_chunk_ids_gc_min_dead = number;
            Ok(())
        },
    },
    knob!(
        centroid_min_intra_cluster_cosine,
        None,
        ratio,
        "least cosine between two members whose vectors are averaged"
    ),
    knob!(centroid_lev_threshold, None, whole, "greatest edit distance between two names whose vectors are averaged"),
    Knob {
        name: "orphan_pr_percentile_threshold",
        alias: None,
        help: "percentile of the rank below which an entity may be an orphan, 0 to 100",
        read: |settings| settings.orphan_pr_percentile_threshold.to_string(),
        write: |settings, text| {
            let number = text.trim().parse().ok().filter(|number: &f64| (0.0..=100.0).contains(number));
            settings.orphan_pr_percentile_threshold =
                number.ok_or(KnobError::Expected { expected: "a number from 0 to 100" })?;
            Ok(())
        },
    },
    knob!(cooccurrence_edge_weight, None, ratio, "weight of a co-occurrence edge in that rank"),
    knob!(orphan_recall_days, None, whole, "days within which a recall keeps an entity from being an orphan"),
    knob!(report_file_sink_enabled, None, switch, "write reports as files"),
    knob!(redact_text, None, |text| word(text, "none, summary or all"), "how much memory text reports show"),
    knob!(retention_days, None, whole, "days that reports and undo are kept"),
    knob!(retention_runs_per_namespace, None, whole, "runs of one namespace whose reports and undo are kept"),
    Knob {
        name: "read_only_namespaces",
        alias: None,
        help: "namespaces, by either id and separated by commas, that must not be written",
        read: |settings| settings.read_only_namespaces.join(","),
        write: |settings, text| {
            let ids: Vec<String> = text.split(',').map(str::trim).filter(|id| !id.is_empty()).map(Into::into).collect();
            if ids.iter().any(|id| uuid::Uuid::parse_str(id).is_err()) {
                return Err(KnobError::Expected { expected: "UUIDs separated by commas" });
            }
            settings.read_only_namespaces = ids;
            Ok(())
        },
    },
];

impl Settings {
    /// Sets one knob, by its name or its alias.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), KnobError> {
        let knob = KNOBS.iter().find(|knob| knob.name == name || knob.alias == Some(name)).ok_or(KnobError::Unknown)?;
        (knob.write)(self, text)
    }

    /// What a knob is set to, as the text that sets it.
    pub fn get(&self, knob: &Knob) -> String {
        (knob.read)(self)
    }

    /// Whether the switch of an op is on. Audits have none, as they only look, a repair
    /// has none, as it is asked for by name, and a space has one for all, its own mode.
    pub const fn is_on(&self, kind: OpKind) -> bool {
        match kind {
            OpKind::Reabsorb | OpKind::DedupeEntities => self.dedupe_entities_enabled,
            OpKind::CentroidRecompute => self.centroid_recompute_enabled,
            OpKind::SourceChunkIdsGc => self.source_chunk_ids_gc_enabled,
            OpKind::SchemaDriftReport
            | OpKind::OrphanReport
            | OpKind::SourceChunkIdsAudit
            | OpKind::MirrorRepair
            | OpKind::SpaceExpire
            | OpKind::SpaceStaleScratch
            | OpKind::SpaceDedupeExact
            | OpKind::SpaceMerge
            | OpKind::SpacePromote
            | OpKind::SpaceDigest
            | OpKind::SpaceProfile
            | OpKind::SpaceProposal
            | OpKind::SpaceContradiction => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_reads_back_what_sets_it() {
        let defaults = Settings::default();
        for knob in KNOBS {
            let mut settings = Settings::default();
            settings.set(knob.name, &defaults.get(knob)).unwrap();
            assert_eq!(settings, defaults, "{}", knob.name);
        }
    }

    #[test]
    fn every_field_has_a_knob() {
        let json = serde_json::to_value(Settings::default()).unwrap();
        let fields: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert!(fields.iter().all(|field| KNOBS.iter().any(|knob| knob.name == field.as_str())), "{fields:?}");
        assert_eq!(fields.len(), KNOBS.len());
    }

    #[test]
    fn the_kill_switch_is_set_by_anything_but_an_explicit_no() {
        for (text, expected) in
            [("0", false), ("", false), ("No", false), ("FALSE", false), ("1", true), ("maybe", true)]
        {
            let mut settings = Settings::default();
            settings.set("disable_apply", text).unwrap();
            assert_eq!(settings.disable_apply, expected, "{text}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_and_changes_nothing() {
        let refused = [
            ("dedupe_entities_default_threshold", "1.1"),
            ("dedupe_entities_default_threshold", "NaN"),
            ("dedupe_entities_per_type_thresholds", "{\"A\": 2}"),
            ("source_chunk_ids_gc_min_dead", "0"),
            ("orphan_pr_percentile_threshold", "101"),
            ("enabled", "maybe"),
            ("redact_text", "some"),
            ("read_only_namespaces", "x"),
            ("unheard_of", "1"),
        ];
        for (name, text) in refused {
            let mut settings = Settings::default();
            assert!(settings.set(name, text).is_err(), "{name}");
            assert_eq!(settings, Settings::default());
        }
    }
}
