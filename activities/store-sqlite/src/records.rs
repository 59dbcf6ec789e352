//! Reads the rows of our own tables.

use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::plan::PlanHash;
use dream_core::run::OpenRun;
use dream_ports::StoreError;
use dream_ports::run::{Namespace, RunRecord};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::encode::{parse_id, parse_moment};
use crate::error::ResultExt;

pub(crate) fn text(row: &SqliteRow, column: &str) -> Result<String, StoreError> {
    row.try_get_unchecked(column).doing("read a record")
}

pub(crate) fn maybe(row: &SqliteRow, column: &str) -> Result<Option<String>, StoreError> {
    row.try_get_unchecked(column).doing("read a record")
}

pub(crate) fn moment(row: &SqliteRow, column: &str) -> Result<Moment, StoreError> {
    parse_moment(&text(row, column)?)
}

pub(crate) fn id(row: &SqliteRow, column: &str) -> Result<Uuid, StoreError> {
    parse_id(&text(row, column)?)
}

pub(crate) fn number(row: &SqliteRow, column: &str) -> Result<u32, StoreError> {
    let number: i64 = row.try_get_unchecked(column).doing("read a record")?;
    u32::try_from(number).map_err(|_| unreadable(column))
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

pub(crate) fn open_run(row: &SqliteRow) -> Result<OpenRun, StoreError> {
    Ok(OpenRun {
        run: RunId(id(row, "run_id")?),
        state: word(row, "state")?,
        is_waiting: row.try_get_unchecked("is_waiting").doing("read a record")?,
        heartbeat_at: moment(row, "heartbeat_at")?,
    })
}

pub(crate) fn maybe_moment(row: &SqliteRow, column: &str) -> Result<Option<Moment>, StoreError> {
    maybe(row, column)?.map(|text| parse_moment(&text)).transpose()
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
    })
}

pub(crate) fn namespace(row: &SqliteRow) -> Result<Namespace, StoreError> {
    Ok(Namespace {
        id: NamespaceId(id(row, "id")?),
        stable_id: StableNamespaceId(id(row, "stable_id")?),
        is_read_only: row.try_get_unchecked("is_read_only").doing("read a namespace")?,
    })
}
