//! Planted text must not come out where it was told to stay in.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::change::{Cell, Column, ColumnChange, Existence, RowChange, RowKey, Table, Value};
use crate::realm::graph::drift::DriftReport;
use crate::redact::{Holds, RedactText, Redaction, SUMMARY_CHARACTERS_MAX, holds};
use crate::report::Lens;
use crate::report::facts::Finding;
use crate::report::fixture::{Files, World, applied, dry_run};
use crate::report::table::{diff_rows, plan_rows};
use crate::run::{DeclaredType, Expertise};
use crate::undo::UndoRecord;

/// Planted texts: longer than a summary may show, so that a text that is cut shows its head and never its tail.
fn canary(number: usize) -> String {
    format!("CANARY-{number:03}-{}-TAIL-{number:03}", "ß".repeat(SUMMARY_CHARACTERS_MAX))
}

/// Hands out canaries.
#[derive(Default)]
struct Planter(usize);

impl Planter {
    fn text(&mut self) -> String {
        self.0 += 1;
        canary(self.0)
    }

    fn counts<V: Copy>(&mut self, value: V) -> BTreeMap<String, V> {
        (0..5).map(|_| (self.text(), value)).collect()
    }

    /// A change of every column of text of a table, before and after.
    fn change(&mut self, key: RowKey, existence: Existence) -> RowChange {
        let columns = key.table.columns().iter().filter(|column| holds(**column) != Holds::Facts);
        let columns = columns.map(|column| ColumnChange {
            column: *column,
            before: self.cell(*column),
            after: Value::Text(self.text()),
        });
        RowChange { key, existence, columns: columns.collect() }
    }

    fn cell(&mut self, column: Column) -> Cell {
        let text = self.text();
        match holds(column) {
            Holds::Document => {
                Value::Json(format!(r#"{{"{}":["{text}",{{"{}":1}}]}}"#, self.text(), self.text())).into()
            }
            // Spelled otherwise than meant, as a foreign store may.
            Holds::TypeName => Cell { value: Value::Text(text), spelling: Some(self.text().into()) },
            Holds::Text | Holds::Facts => Value::Text(text).into(),
        }
    }
}

/// A world whose every text is a canary; answers how many there are.
fn planted(mut world: World) -> (World, usize) {
    let mut planter = Planter::default();
    for (name, entity_type) in world.names.values_mut() {
        *name = planter.text();
        *entity_type = planter.text();
    }
    for op in &mut world.ops {
        let Some(record) = op.undo.take() else { continue };
        let mut changes = vec![planter.change(RowKey { table: Table::Aliases, id: op.op.id.0 }, Existence::Created)];
        changes.extend(record.keys().map(|key| planter.change(key, Existence::Kept)));
        changes.push(planter.change(RowKey::relationship(op.op.id.0), Existence::Removed));
        op.undo = Some(UndoRecord::of(&changes));
    }
    let mut types = || (0..5).map(|_| planter.text()).collect();
    let report = DriftReport {
        new_entity_types: types(),
        unused_entity_types: types(),
        new_relationship_types: types(),
        unused_relationship_types: types(),
        ..DriftReport::default()
    };
    let report = DriftReport {
        entity_frequency_delta: planter.counts((1, 9)),
        relationship_frequency_delta: planter.counts((1, 9)),
        entity_frequencies: planter.counts(1),
        relationship_frequencies: planter.counts(1),
        ..report
    };
    for finding in world.audits.iter_mut().flat_map(|audit| &mut audit.findings) {
        if let Finding::Drift(found) = finding {
            **found = report.clone();
        }
    }
    (world, planter.0)
}

/// Everything that a report or a terminal shows of a world.
fn shown(world: &World, redaction: &Redaction) -> Vec<String> {
    let Files { events, undo, summary, manifest } = world.files(redaction);
    let names = |entity| world.name(entity);
    let lens = Lens::new(redaction, &names);
    let records = || world.ops.iter().filter_map(|op| op.undo.as_ref());
    let secret = Value::Text(canary(999));
    let tables = [plan_rows(&world.ops, &lens), diff_rows(records(), &|_, _| Some(secret.clone()), &lens)];
    let mut shown = vec![events, undo, summary, manifest];
    shown.extend(tables.into_iter().flat_map(|table| table.rows).flatten());
    shown
}

#[test]
fn of_a_hundred_planted_texts_none_comes_out_when_text_is_taken_out() {
    for world in [applied(), dry_run()] {
        let (world, texts) = planted(world);
        for text in shown(&world, &Redaction::new(RedactText::All)) {
            assert!(!text.contains("CANARY") && !text.contains("TAIL") && !text.contains('ß'), "{text}");
        }
        if world.run.mode.may_write() {
            assert!(texts >= 100, "{texts}");
        }
    }
}

#[test]
fn no_planted_text_is_longer_than_a_summary_may_show() {
    let (world, texts) = planted(applied());
    let shown = shown(&world, &Redaction::new(RedactText::Summary));
    let all = shown.join("\n");
    assert!(!all.contains("TAIL"));
    assert!(!all.contains(&"ß".repeat(SUMMARY_CHARACTERS_MAX - 10)), "a head and so many letters are more than may be");
    let seen = (1..=texts).filter(|number| all.contains(&format!("CANARY-{number:03}"))).count();
    assert!(seen >= 100, "only {seen} of {texts} canaries sing at all");
    let documents = shown[0].lines().chain([shown[1].as_str()]);
    for document in documents {
        for_each_text(&serde_json::from_str(document).unwrap(), &mut |text| {
            assert!(!text.contains("CANARY") || text.chars().count() <= SUMMARY_CHARACTERS_MAX, "{text}");
        });
    }
}

fn for_each_text(json: &Json, look: &mut impl FnMut(&str)) {
    match json {
        Json::String(text) => look(text),
        Json::Array(items) => items.iter().for_each(|item| for_each_text(item, look)),
        Json::Object(fields) => {
            for (key, value) in fields {
                look(key);
                for_each_text(value, look);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[test]
fn without_redaction_every_planted_text_that_a_report_holds_is_whole() {
    let (world, _) = planted(applied());
    let files = world.files(&Redaction::new(RedactText::None));
    for (name, entity_type) in world.names.values().take(3) {
        assert!(files.events.contains(name) && files.events.contains(entity_type));
    }
}

#[test]
fn declared_types_are_kinds_and_are_kept() {
    let declared = DeclaredType::Name("ORGANIZATION".into());
    let redaction = Redaction::new(RedactText::All)
        .declaring(&Expertise { entity_types: vec![declared], relationship_types: vec![] });
    let files = applied().files(&redaction);
    for text in [&files.events, &files.summary] {
        assert!(text.contains("ORGANIZATION") && !text.contains("PERSON") && !text.contains("OpenAI"));
    }
}

#[test]
fn ids_kinds_and_numbers_are_the_same_whatever_is_taken_out() {
    let lines = |degree| applied().files(&Redaction::new(degree)).events;
    let facts = |events: &str| -> Vec<String> {
        let mut facts = Vec::new();
        for line in events.lines() {
            let json: Json = serde_json::from_str(line).unwrap();
            facts.push(json["dream"].to_string());
            facts.push(json["rationale"].to_string());
            facts.push(format!("{}{}{}", json["op_id"], json["op_type"], json["decision"]));
            facts.push(format!("{}{}", json["inputs"]["keep_id"], json["inputs"]["drop_ids"]));
        }
        facts
    };
    assert_eq!(facts(&lines(RedactText::None)), facts(&lines(RedactText::All)));
    assert_eq!(facts(&lines(RedactText::None)), facts(&lines(RedactText::Summary)));
}
