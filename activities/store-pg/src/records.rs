//! Reading rows of our own tables.
//!
//! **Invariant:** an error names the column, never what stood there.

use dream_core::clock::Moment;
use dream_core::digest::Fingerprint;
use dream_core::id::{ContentKey, NamespaceId, RunId, StableNamespaceId};
use dream_core::op::{Draft, Op};
use dream_core::plan::PlanHash;
use dream_core::run::OpenRun;
use dream_core::undo::UndoRecord;
use dream_core::verdict::NamePair;
use dream_ports::StoreError;
use dream_ports::plan::OpRecord;
use dream_ports::run::{Namespace, RunRecord};
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row as _, Type};

use crate::encode::Timestamptz;

/// A column of any type the driver reads.
pub(crate) fn get<'r, T>(row: &'r PgRow, column: &str) -> Result<T, StoreError>
where
    T: Decode<'r, Postgres> + Type<Postgres>,
{
    row.try_get(column).map_err(|_| unreadable(column))
}

pub(crate) fn moment(row: &PgRow, column: &str) -> Result<Moment, StoreError> {
    get::<Timestamptz>(row, column).map(Moment::from)
}

pub(crate) fn maybe_moment(row: &PgRow, column: &str) -> Result<Option<Moment>, StoreError> {
    Ok(get::<Option<Timestamptz>>(row, column)?.map(Moment::from))
}

/// A number that is never negative.
pub(crate) fn number(row: &PgRow, column: &str) -> Result<u32, StoreError> {
    u32::try_from(get::<i32>(row, column)?).map_err(|_| unreadable(column))
}

/// What `count(*)` answers.
pub(crate) fn count(row: &PgRow, column: &str) -> Result<u32, StoreError> {
    u32::try_from(get::<i64>(row, column)?).map_err(|_| unreadable(column))
}

pub(crate) fn unreadable(what: &str) -> StoreError {
    StoreError::Unreadable { operation: "read a record", what: what.to_owned() }
}

/// Reads a name that this program wrote itself.
pub(crate) fn word<T: std::str::FromStr>(row: &PgRow, column: &str) -> Result<T, StoreError> {
    get::<&str>(row, column)?.parse().map_err(|_| unreadable(column))
}

pub(crate) fn content_key(row: &PgRow, column: &str) -> Result<ContentKey, StoreError> {
    get::<&[u8]>(row, column)?.try_into().map(ContentKey).map_err(|_| unreadable(column))
}

/// A pair of names, as digests.
pub(crate) fn name_pair(row: &PgRow) -> Result<NamePair, StoreError> {
    Ok((fingerprint(row, "low")?, fingerprint(row, "high")?))
}

pub(crate) fn fingerprint(row: &PgRow, column: &str) -> Result<Fingerprint, StoreError> {
    get::<&[u8]>(row, column)?.try_into().map(Fingerprint).map_err(|_| unreadable(column))
}

pub(crate) fn spell_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| unreachable!("records of this program are JSON"))
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(text: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| unreadable(what))
}

/// A number on its way into an `integer` column. Those of this program are far from its end.
pub(crate) fn signed(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// An op as its row holds it.
pub(crate) fn op(run: RunId, row: &PgRow) -> Result<Op, StoreError> {
    let draft: Draft = read_json(get(row, "draft")?, "dream.op.draft")?;
    let mut op = Op::seal(run, number(row, "seq")?, draft);
    op.state = word(row, "state")?;
    op.reason = match get::<Option<&str>>(row, "reason")? {
        Some(reason) => Some(reason.parse().map_err(|_| unreadable("dream.op.reason"))?),
        None => None,
    };
    Ok(op)
}

pub(crate) fn op_record(run: RunId, row: &PgRow) -> Result<OpRecord, StoreError> {
    Ok(OpRecord {
        op: op(run, row)?,
        numbers: get(row, "numbers")?,
        review: get(row, "review")?,
        applied_at: maybe_moment(row, "applied_at")?,
        undone_at: maybe_moment(row, "undone_at")?,
    })
}

pub(crate) fn undo_record(row: &PgRow) -> Result<UndoRecord, StoreError> {
    read_json(get(row, "record")?, "dream.undo.record")
}

pub(crate) fn open_run(row: &PgRow) -> Result<OpenRun, StoreError> {
    Ok(OpenRun {
        run: RunId(get(row, "run_id")?),
        state: word(row, "state")?,
        is_waiting: get(row, "is_waiting")?,
        heartbeat_at: moment(row, "heartbeat_at")?,
    })
}

pub(crate) fn run_record(row: &PgRow) -> Result<RunRecord, StoreError> {
    Ok(RunRecord {
        run: RunId(get(row, "run_id")?),
        realm: word(row, "realm")?,
        namespace: NamespaceId(get(row, "namespace_id")?),
        stable_namespace: StableNamespaceId(get(row, "stable_namespace_id")?),
        mode: word(row, "mode")?,
        trigger: word(row, "trigger")?,
        engine: get(row, "engine")?,
        workflow_id: get(row, "workflow_id")?,
        state: word(row, "state")?,
        waiting_for: get(row, "waiting_for")?,
        as_of: moment(row, "as_of")?,
        started_at: moment(row, "started_at")?,
        heartbeat_at: moment(row, "heartbeat_at")?,
        finished_at: maybe_moment(row, "finished_at")?,
        input: get(row, "input")?,
        settings: get(row, "settings")?,
        plan_hash: get::<Option<String>>(row, "plan_hash")?.map(PlanHash),
        audit_hash: get::<Option<String>>(row, "audit_hash")?.map(PlanHash),
        ops_total: number(row, "ops_total")?,
        skip_reasons: read_json(get(row, "skip_reasons")?, "dream.run.skip_reasons")?,
        last_committed_seq: number(row, "last_committed_seq")?,
        error_code: get(row, "error_code")?,
        report_path: get(row, "report_path")?,
        manifest_sha256: get(row, "manifest_sha256")?,
        review_until: maybe_moment(row, "review_until")?,
        sealed_at: maybe_moment(row, "sealed_at")?,
        graph_left: number(row, "graph_left")?,
    })
}

pub(crate) fn namespace(row: &PgRow) -> Result<Namespace, StoreError> {
    Ok(Namespace {
        id: NamespaceId(get(row, "id")?),
        stable_id: StableNamespaceId(get(row, "stable_id")?),
        is_read_only: get(row, "is_read_only")?,
    })
}
