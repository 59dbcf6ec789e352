//! Reading rows of our own tables.
//!
//! **Invariant:** an error names the column, never what stood there.

use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::op::{Draft, Op};
use dream_core::plan::PlanHash;
use dream_core::run::OpenRun;
use dream_core::undo::UndoRecord;
use dream_core::verdict::NamePair;
use dream_ports::StoreError;
use dream_ports::plan::OpRecord;
use dream_ports::run::{Namespace, RunRecord};
use sqlx::sqlite::SqliteRow;
use sqlx::{Decode, Row as _, Sqlite};
use uuid::Uuid;

use crate::encode::{parse_id, parse_ids, parse_moment};

/// A column read as `T`, whatever the file says it is: a computed column has no declared type.
pub(crate) fn get<'r, T: Decode<'r, Sqlite>>(row: &'r SqliteRow, column: &str) -> Result<T, StoreError> {
    row.try_get_unchecked(column).map_err(|_| unreadable(column))
}

pub(crate) fn text(row: &SqliteRow, column: &str) -> Result<String, StoreError> {
    get(row, column)
}

pub(crate) fn maybe(row: &SqliteRow, column: &str) -> Result<Option<String>, StoreError> {
    get(row, column)
}

pub(crate) fn moment(row: &SqliteRow, column: &str) -> Result<Moment, StoreError> {
    parse_moment(&text(row, column)?).ok_or_else(|| unreadable(column))
}

pub(crate) fn maybe_moment(row: &SqliteRow, column: &str) -> Result<Option<Moment>, StoreError> {
    maybe(row, column)?.map(|text| parse_moment(&text).ok_or_else(|| unreadable(column))).transpose()
}

pub(crate) fn id(row: &SqliteRow, column: &str) -> Result<Uuid, StoreError> {
    parse_id(&text(row, column)?).ok_or_else(|| unreadable(column))
}

pub(crate) fn maybe_id(row: &SqliteRow, column: &str) -> Result<Option<Uuid>, StoreError> {
    maybe(row, column)?.map(|text| parse_id(&text).ok_or_else(|| unreadable(column))).transpose()
}

/// A JSON array of ids.
pub(crate) fn ids(row: &SqliteRow, column: &str) -> Result<Vec<Uuid>, StoreError> {
    parse_ids(&text(row, column)?).ok_or_else(|| unreadable(column))
}

pub(crate) fn number(row: &SqliteRow, column: &str) -> Result<u32, StoreError> {
    u32::try_from(get::<i64>(row, column)?).map_err(|_| unreadable(column))
}

pub(crate) fn unreadable(what: &str) -> StoreError {
    StoreError::Unreadable { operation: "read a record", what: what.to_owned() }
}

/// Reads a name that this program wrote itself.
pub(crate) fn word<T: std::str::FromStr>(row: &SqliteRow, column: &str) -> Result<T, StoreError> {
    text(row, column)?.parse().map_err(|_| unreadable(column))
}

pub(crate) fn spell_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| unreachable!("records of this program are JSON"))
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| unreadable(what))
}

/// A pair of names, as digests.
pub(crate) fn name_pair(row: &SqliteRow) -> Result<NamePair, StoreError> {
    let key = |column| read_json(&format!("\"{}\"", get::<String>(row, column)?), "dream_verdict");
    Ok((key("low")?, key("high")?))
}

pub(crate) fn open_run(row: &SqliteRow) -> Result<OpenRun, StoreError> {
    Ok(OpenRun {
        run: RunId(id(row, "run_id")?),
        state: word(row, "state")?,
        is_waiting: get(row, "is_waiting")?,
        heartbeat_at: moment(row, "heartbeat_at")?,
    })
}

pub(crate) fn run_record(row: &SqliteRow) -> Result<RunRecord, StoreError> {
    Ok(RunRecord {
        run: RunId(id(row, "run_id")?),
        realm: word(row, "realm")?,
        namespace: NamespaceId(id(row, "namespace_id")?),
        stable_namespace: StableNamespaceId(id(row, "stable_namespace_id")?),
        mode: word(row, "mode")?,
        trigger: word(row, "trigger")?,
        engine: text(row, "engine")?,
        workflow_id: maybe(row, "workflow_id")?,
        state: word(row, "state")?,
        waiting_for: maybe(row, "waiting_for")?,
        as_of: moment(row, "as_of")?,
        started_at: moment(row, "started_at")?,
        heartbeat_at: moment(row, "heartbeat_at")?,
        finished_at: maybe_moment(row, "finished_at")?,
        input: text(row, "input")?,
        settings: text(row, "settings")?,
        plan_hash: maybe(row, "plan_hash")?.map(PlanHash),
        audit_hash: maybe(row, "audit_hash")?.map(PlanHash),
        ops_total: number(row, "ops_total")?,
        skip_reasons: read_json(&text(row, "skip_reasons")?, "dream_run.skip_reasons")?,
        last_committed_seq: number(row, "last_committed_seq")?,
        error_code: maybe(row, "error_code")?,
        report_path: maybe(row, "report_path")?,
        manifest_sha256: maybe(row, "manifest_sha256")?,
        review_until: maybe_moment(row, "review_until")?,
        sealed_at: maybe_moment(row, "sealed_at")?,
        graph_left: number(row, "graph_left")?,
    })
}

pub(crate) fn namespace(row: &SqliteRow) -> Result<Namespace, StoreError> {
    Ok(Namespace {
        id: NamespaceId(id(row, "id")?),
        stable_id: StableNamespaceId(id(row, "stable_id")?),
        is_read_only: get(row, "is_read_only")?,
    })
}

/// An op as its row holds it.
pub(crate) fn op(run: RunId, row: &SqliteRow) -> Result<Op, StoreError> {
    let draft: Draft = read_json(&text(row, "draft")?, "dream_op.draft")?;
    let mut op = Op::seal(run, number(row, "seq")?, draft);
    op.state = word(row, "state")?;
    op.reason = match maybe(row, "reason")? {
        Some(reason) => Some(reason.parse().map_err(|_| unreadable("dream_op.reason"))?),
        None => None,
    };
    Ok(op)
}

pub(crate) fn undo_record(row: &SqliteRow) -> Result<UndoRecord, StoreError> {
    read_json(&text(row, "record")?, "dream_undo.record")
}

pub(crate) fn op_record(run: RunId, row: &SqliteRow) -> Result<OpRecord, StoreError> {
    Ok(OpRecord {
        op: op(run, row)?,
        numbers: maybe(row, "numbers")?,
        review: get(row, "review")?,
        applied_at: maybe_moment(row, "applied_at")?,
        undone_at: maybe_moment(row, "undone_at")?,
    })
}

/// A JSON array of short texts of our own: content keys, states.
pub(crate) fn text_array<T: ToString>(texts: impl IntoIterator<Item = T>) -> String {
    spell_json(&texts.into_iter().map(|text| text.to_string()).collect::<Vec<_>>())
}
