//! The formats hold their promises: Khora's keys in Khora's order, an export that reads back, a manifest that notices.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value as Json;

use crate::clock::Moment;
use crate::redact::{RedactText, Redaction};
use crate::report::event::Event;
use crate::report::fixture::{World, applied, cancelled, dry_run, failed, waiting};
use crate::report::manifest::{FileDigest, FileEntry, Manifest, ManifestError};
use crate::report::summary::Summary;
use crate::run::{Mode, RunState, Trigger};
use crate::undo::UndoRecord;

const WHOLE: Redaction = Redaction::new(RedactText::None);

/// The keys of an object, in the order in which they stand.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Keys;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Keys, M::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Khora's keys of each event, in Khora's order.
const KHORA_KEYS: [(&str, &str); 6] = [
    ("DreamRunStarted", "run_id namespace_id mode trigger started_at"),
    ("DreamPhaseStarted", "run_id namespace_id phase started_at"),
    (
        "DreamOperationEvent",
        "op_id run_id phase op_type inputs outputs decision rationale source_llm_call_ids undo started_at duration_ms \
         namespace_id text_refs",
    ),
    ("DreamPhaseCompleted", "run_id namespace_id phase outcome ops_total duration_ms"),
    ("DreamRunCompleted", "run_id namespace_id mode duration_ms ops_total"),
    ("DreamRunFailed", "run_id namespace_id mode duration_ms error_hash error_type"),
];

fn worlds() -> [World; 5] {
    [applied(), dry_run(), cancelled(), failed(), waiting()]
}

#[test]
fn every_line_has_khoras_keys_in_khoras_order_then_ours_then_the_tags() {
    for line in
        worlds().iter().flat_map(|world| world.files(&WHOLE).events.lines().map(str::to_owned).collect::<Vec<_>>())
    {
        let json: Json = serde_json::from_str(&line).unwrap();
        let event = json["event"].as_str().unwrap();
        let (_, khora) = KHORA_KEYS.iter().find(|(name, _)| *name == event).unwrap();
        let Keys(mut keys) = serde_json::from_str(&line).unwrap();
        assert_eq!(keys.split_off(keys.len() - 2), ["schema", "event"]);
        assert_eq!(json["schema"], "dream-report/1");
        keys.pop_if(|last| last == "dream");
        assert_eq!(keys.join(" "), *khora);
        for moment in ["started_at"].into_iter().filter_map(|key| json[key].as_str()) {
            assert!(moment.ends_with('Z') && moment.parse::<Moment>().is_ok());
        }
    }
}

#[test]
fn values_that_khora_does_not_know_stand_under_our_key() {
    let mut world = waiting();
    world.run.trigger = Trigger::Schedule;
    let first: Json = serde_json::from_str(world.files(&WHOLE).events.lines().next().unwrap()).unwrap();
    assert_eq!((&first["mode"], &first["trigger"]), (&Json::from("apply"), &Json::from("manual")));
    assert_eq!((&first["dream"]["mode"], &first["dream"]["trigger"]), (&Json::from("review"), &Json::from("schedule")));
    world.run.is_resumed = true;
    let first: Json = serde_json::from_str(world.files(&WHOLE).events.lines().next().unwrap()).unwrap();
    assert_eq!(first["trigger"], "resume");
}

#[test]
fn every_end_has_its_event_and_an_open_run_has_none() {
    for state in RunState::ALL {
        let mut world = dry_run();
        world.run.state = *state;
        let expected = match state {
            RunState::Planning | RunState::AwaitingReview | RunState::AwaitingClient | RunState::Applying => None,
            RunState::Failed | RunState::AbortedSafety | RunState::Abandoned => Some(Event::RunFailed),
            RunState::Completed | RunState::Cancelled | RunState::Undone | RunState::PartlyUndone => {
                Some(Event::RunCompleted)
            }
        };
        let last = *world.events().last().unwrap();
        assert_eq!(expected.unwrap_or(last), last, "{state}");
        assert!(world.files(&WHOLE).summary.contains("## How to look closer"), "{state} has a page");
    }
}

#[test]
fn an_export_without_redaction_reads_back_as_the_undo_records() {
    let world = applied();
    let export: Json = serde_json::from_str(&world.files(&WHOLE).undo).unwrap();
    assert_eq!(export["dream"]["redacted"], Json::Null);
    let records: Vec<&UndoRecord> = world.ops.iter().filter_map(|op| op.undo.as_ref()).collect();
    let ops = export["ops"].as_array().unwrap();
    assert_eq!(ops.len(), records.len());
    for (op, record) in ops.iter().zip(records) {
        let changes = op["dream"]["changes"].clone();
        let read: UndoRecord = serde_json::from_value(serde_json::json!({ "changes": changes })).unwrap();
        assert_eq!(read, *record);
    }
}

#[test]
fn a_redacted_export_says_so_and_holds_no_digest_of_a_text() {
    for degree in [RedactText::Summary, RedactText::All] {
        let export: Json = serde_json::from_str(&applied().files(&Redaction::new(degree)).undo).unwrap();
        assert_eq!(export["dream"]["redacted"], degree.as_str());
        let columns = &export["ops"][0]["dream"]["changes"][0]["columns"];
        assert_eq!(columns["description"]["after"], Json::Null);
        assert_eq!(columns["attributes"]["after"], Json::Null);
        assert_ne!(columns["mention_count"]["after"], Json::Null);
    }
}

#[test]
fn a_dry_run_has_an_empty_export() {
    let export: Json = serde_json::from_str(&dry_run().files(&WHOLE).undo).unwrap();
    assert_eq!(export["ops"], Json::Array(vec![]));
    assert_eq!(export["schema_version"], "dream-undo/1");
}

#[test]
fn the_same_run_gives_the_same_files_again() {
    for world in worlds() {
        let (one, two) = (world.files(&WHOLE), world.files(&WHOLE));
        assert_eq!(
            (one.events, one.undo, one.summary, one.manifest),
            (two.events, two.undo, two.summary, two.manifest)
        );
    }
}

#[test]
fn a_summary_stays_small_and_shows_the_heaviest_in_any_order() {
    let world = applied();
    let fold = |reverse: bool| {
        let mut ops: Vec<_> = world.ops.iter().collect();
        if reverse {
            ops.reverse();
        }
        let mut summary = Summary::new(&world.run);
        ops.into_iter().cycle().take(world.ops.len() * 40).for_each(|op| summary.feed(&Event::Op(op)));
        assert!(summary.entities().len() < 60);
        let names = |entity| world.name(entity);
        summary.page(&crate::report::Lens::new(&WHOLE, &names))
    };
    assert_eq!(fold(false), fold(true));
    assert!(fold(false).contains("The first 10 of 160 ops that change something"));
}

#[test]
fn a_page_names_only_entities_that_it_asked_for() {
    let world = applied();
    let mut summary = Summary::new(&world.run);
    world.events().iter().for_each(|event| summary.feed(event));
    let asked = summary.entities();
    let names = |entity| {
        assert!(asked.contains(&entity), "{entity} was not asked for");
        world.name(entity)
    };
    summary.page(&crate::report::Lens::new(&WHOLE, &names));
}

#[test]
fn another_schema_is_refused_and_so_is_anything_unreadable() {
    let text = applied().files(&WHOLE).manifest;
    assert!(Manifest::read(&text).is_ok());
    let other = text.replace("dream-report/1", "dream-report/2");
    assert_eq!(Manifest::read(&other), Err(ManifestError::OtherSchema));
    assert_eq!(Manifest::read("{}"), Err(ManifestError::Unreadable));
    assert_eq!(Manifest::read(&text.replace("\"files\"", "\"fils\"")), Err(ManifestError::Unreadable));
    let sealed = FileEntry::of(text.as_bytes()).sha256;
    assert!(Manifest::read_sealed(&text, &sealed).is_ok());
    assert_eq!(Manifest::read_sealed(&other, &sealed), Err(ManifestError::OtherManifest));
}

#[test]
fn only_a_run_that_came_to_its_end_is_completed() {
    let completed = |world: World| Manifest::read(&world.files(&WHOLE).manifest).unwrap().completed;
    assert!(completed(applied()) && completed(dry_run()) && completed(cancelled()));
    assert!(!completed(failed()) && !completed(waiting()));
    assert_eq!(waiting().run.mode, Mode::Review);
}

/// The files of a report by name, and its manifest.
fn report() -> (Manifest, BTreeMap<String, Vec<u8>>) {
    let world = applied();
    let files = world.files(&WHOLE);
    let named = [("events.jsonl", files.events), ("undo.json", files.undo), ("summary.md", files.summary)];
    let run = world.run.run;
    let found = named.map(|(name, content)| (format!("{run}.{name}"), content.into_bytes()));
    (Manifest::read(&files.manifest).unwrap(), found.into())
}

fn entries(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, FileEntry> {
    files.iter().map(|(name, content)| (name.clone(), FileEntry::of(content))).collect()
}

#[test]
fn a_manifest_knows_its_files() {
    let (manifest, mut files) = report();
    assert_eq!(manifest.verify_all(&entries(&files)), Ok(()));
    files.insert("stranger".into(), vec![]);
    assert_eq!(manifest.verify_all(&entries(&files)), Err(ManifestError::Unknown { name: "stranger".into() }));
    files.remove("stranger");
    let (name, _) = files.pop_first().unwrap();
    assert_eq!(manifest.verify_all(&entries(&files)), Err(ManifestError::Missing { name }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_flipped_bit_is_noticed(file in 0..3_usize, byte in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let (manifest, mut files) = report();
        let content = files.values_mut().nth(file).unwrap();
        let place = byte.index(content.len());
        content[place] ^= 1 << bit;
        let verdict = manifest.verify_all(&entries(&files));
        let differs = matches!(verdict, Err(ManifestError::Differs { .. }));
        prop_assert!(differs);
    }

    #[test]
    fn a_file_has_one_digest_however_it_is_cut(content in prop::collection::vec(any::<u8>(), 0..200), cut in any::<prop::sample::Index>()) {
        let (head, tail) = content.split_at(cut.index(content.len() + 1));
        let mut digest = FileDigest::default();
        digest.feed(head);
        digest.feed(tail);
        prop_assert_eq!(digest.finish(), FileEntry::of(&content));
    }
}
