//! Tables fit a terminal, whatever stands in them.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::change::{Column, RowKey, Value};
use crate::redact::{RedactText, Redaction};
use crate::report::Lens;
use crate::report::fixture::{World, applied, cancelled, dry_run, failed, merge_changes};
use crate::report::table::{Table, WIDTH_MAX, counts_rows, diff_rows, plan_rows, run_rows};
use crate::undo::UndoRecord;

const WHOLE: Redaction = Redaction::new(RedactText::None);

fn with_lens<T>(world: &World, look: impl FnOnce(&Lens<'_>) -> T) -> T {
    let names = |entity| world.name(entity);
    look(&Lens::new(&WHOLE, &names))
}

#[track_caller]
fn check(table: &Table, expected: &Expect) {
    let mut text = format!("{}\n", table.headers.join(" | "));
    for row in &table.rows {
        text.push_str(&row.join(" | "));
        text.push('\n');
    }
    assert!(table.width() <= WIDTH_MAX, "{} columns\n{text}", table.width());
    expected.assert_eq(&text);
}

#[test]
fn a_plan_reads_as_what_is_done_and_why() {
    let world = applied();
    check(
        &with_lens(&world, |lens| plan_rows(&world.ops, lens)),
        &expect![[r#"
            seq | op | outcome | what | why
            1 | dedupe | applied | OpenAI ← Open AI, OpenAI Inc. | same words, cosine 0.9712, 2 nei…
            2 | centroid | skipped | vector of OpenAI | no embedder is configured, or no…
            3 | dedupe | undone | Marie Skłodowska-Curie ← M. … | shortened, cosine 0.7420, 2 chun…
            4 | centroid | applied | vector of Marie Skłodowska-C… | close names, cosine 0.9512, 2 me…
            5 | dedupe | stale | Zürich ← Zurich | a name or type it relied on chan…
            6 | dedupe | kept apart | GPT-3 / GPT-4 | different numbers
            7 | dedupe | kept apart | John Demol / John Demol Jr. | generational suffix
            8 | dedupe | kept apart | Acme / Acme Holding | unsupported
            9 | dedupe | skipped | Acme / Acme Ltd | another entity owns the survivor…
            10 | reabsorb | applied | Acme ← Acme Ltd | 2 new mentions, 1 live edge
            11 | gc | applied | 3 of OpenAI | 3 of 8 dead
            12 | gc | noop | 1 of …000001f5 | 1 of 2 dead
            13 | gc | failed | 1 of GPT-3 | the store refused the write
        "#]],
    );
}

#[test]
fn counts_add_up_and_leave_out_what_never_happened() {
    check(
        &counts_rows(&applied().run.counts),
        &expect![[r#"
            op | applied | noop | kept apart | skipped | stale | failed | undone | all
            reabsorb | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1
            dedupe | 1 | 0 | 3 | 1 | 1 | 0 | 1 | 7
            centroid | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 2
            gc | 1 | 1 | 0 | 0 | 0 | 1 | 0 | 3
            all | 4 | 1 | 3 | 2 | 1 | 1 | 1 | 13
        "#]],
    );
    check(
        &counts_rows(&dry_run().run.counts),
        &expect![[r#"
        op | planned | kept apart | skipped | all
        reabsorb | 1 | 0 | 0 | 1
        dedupe | 3 | 3 | 1 | 7
        centroid | 2 | 0 | 0 | 2
        gc | 3 | 0 | 0 | 3
        all | 9 | 3 | 1 | 13
    "#]],
    );
}

#[test]
fn a_history_names_runs_in_full() {
    let runs = [applied().run, dry_run().run, cancelled().run, failed().run];
    check(
        &run_rows(&runs),
        &expect![[r#"
        run | started (UTC) | mode | state | applied
        0198c0de-0000-7000-8000-000000000001 | 2026-03-01 03:04 | apply | partly_undone | 4/13
        0198c0de-0000-7000-8000-000000000001 | 2026-03-01 03:04 | dry-run | completed | 0/13
        0198c0de-0000-7000-8000-000000000001 | 2026-03-01 03:04 | apply | cancelled | 1/13
        0198c0de-0000-7000-8000-000000000001 | 2026-03-01 03:04 | apply | failed | 0/0
    "#]],
    );
}

#[test]
fn a_diff_shows_before_and_after_and_what_others_changed_since() {
    let world = applied();
    let changes = merge_changes();
    let current = |key: RowKey, column: Column| {
        if column == Column::MentionCount {
            return Some(Value::Int(20));
        }
        let change = changes.iter().find(|change| change.key == key)?;
        change.columns.iter().find(|change| change.column == column).map(|change| change.after.clone())
    };
    let record = UndoRecord::of(&changes);
    check(
        &with_lens(&world, |lens| diff_rows([&record], &current, lens)),
        &expect![[r#"
        table | row | column | before → after
        entities | OpenAI | description | "" → makes models
        entities | OpenAI | attributes | {"hq":"San Francisco"} → {"ceo":"S.A.","hq":"S…
        entities | OpenAI | source_chunk_ids | 2 → 3 ids (+1 -0)
        entities | OpenAI | mention_count | 5 → (changed since)
        relationships | …000001f5 | source_entity_id | OpenAI Inc. → OpenAI
        relationships | …000001f6 | invalidated_at | null → 2026-03-01 03:04
        relationships | …000001f6 | invalidated_by | null → …0000004d
        aliases | Open AI | (row) | created
        entities | Open AI | valid_until | null → 2026-03-01 03:04
    "#]],
    );
    check(
        &with_lens(&world, |lens| diff_rows([&record], &|_, _| None, lens)),
        &expect![[r#"
        table | row | column | before → after
        entities | OpenAI | description | "" → (row is gone)
        entities | OpenAI | attributes | {"hq":"San Francisco"} → (row is gone)
        entities | OpenAI | source_chunk_ids | 2 ids, 1 added
        entities | OpenAI | mention_count | 5 → (row is gone)
        relationships | …000001f5 | source_entity_id | OpenAI Inc. → (row is gone)
        relationships | …000001f6 | invalidated_at | null → (row is gone)
        relationships | …000001f6 | invalidated_by | null → (row is gone)
        aliases | Open AI | (row) | created
        entities | Open AI | valid_until | null → (row is gone)
    "#]],
    );
}

proptest! {
    #[test]
    fn no_name_makes_a_table_wider(name in "\\PC{0,80}|[\\x00-\\x7f]{0,80}") {
        let mut world = applied();
        for (known, entity_type) in world.names.values_mut() {
            known.clone_from(&name);
            entity_type.clone_from(&name);
        }
        let records: Vec<UndoRecord> = world.ops.iter().filter_map(|op| op.undo.clone()).collect();
        let current = |_: RowKey, _: Column| Some(Value::Text(name.clone()));
        let tables = with_lens(&world, |lens| [plan_rows(&world.ops, lens), diff_rows(&records, &current, lens)]);
        for table in tables {
            prop_assert!(table.width() <= WIDTH_MAX);
            let mut cells = table.rows.iter().flatten();
            prop_assert!(cells.all(|cell| !cell.chars().any(char::is_control)));
        }
    }
}
