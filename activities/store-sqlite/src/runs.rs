//! Runs and leases.

use async_trait::async_trait;
use dream_core::clock::Moment;
use dream_core::digest::TextKey;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::plan::PlanHash;
use dream_core::run::{Admission, Counts, RunState, admit};
use dream_ports::run::{
    BeginRun, Begun, Capabilities, Closing, Fence, Namespace, Request, RequestOutcome, RunFilter, RunRecord,
    Standstill, Stop,
};
use dream_ports::{RunStore, StoreError};
use sqlx::{Sqlite, Transaction};
use uuid::Uuid;

use crate::encode::{hex, parse_moment, spell_moment};
use crate::error::ResultExt;
use crate::leases::Purpose;
use crate::records::{namespace, number, run_record, spell_json, word};
use crate::{SqliteStore, sql};

pub(crate) type Tx = Transaction<'static, Sqlite>;

impl SqliteStore {
    /// A transaction that may write. It waits for other writers at its start and never afterwards.
    pub(crate) async fn write(&self, operation: &'static str) -> Result<Tx, StoreError> {
        self.writer.begin_with("begin immediate").await.doing(operation)
    }

    pub(crate) async fn close_in(
        &self,
        tx: &mut Tx,
        run: &RunRecord,
        state: RunState,
        closing: &Closing,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "close the run";
        let at = now(tx).await?;
        let closed = sqlx::query(sql!("runs/close"))
            .bind(hex(run.run.0))
            .bind(state.as_str())
            .bind(spell_moment(at))
            .bind(&closing.error_code)
            .execute(&mut **tx)
            .await
            .doing(OPERATION)?;
        if closed.rows_affected() == 0 {
            return Ok(());
        }
        self.release(tx, run.realm, run.namespace, run.run, None).await?;
        let khora = KhoraRow { state: Some(state), is_end: true, closing: Some(closing), ..KhoraRow::default() };
        self.tell_khora(tx, run.run, at, &khora).await
    }

    /// Keeps Khora's own run row true, where that table exists.
    pub(crate) async fn tell_khora(
        &self,
        tx: &mut Tx,
        run: RunId,
        at: Moment,
        row: &KhoraRow<'_>,
    ) -> Result<(), StoreError> {
        if !self.capabilities().await?.has_khora_runs {
            return Ok(());
        }
        sqlx::query(sql!("runs/update_khora"))
            .bind(run.0.to_string())
            .bind(row.state.map(RunState::in_khoras_words))
            .bind(spell_moment(at))
            .bind(row.is_end)
            .bind(row.plan_hash.map(|hash| hash.0.as_str()))
            .bind(row.ops_total)
            .bind(row.last_committed_seq)
            .bind(row.closing.and_then(|closing| closing.error_code.as_deref()))
            .bind(row.report.map(|(path, _)| path))
            .bind(row.report.map(|(_, sha256)| sha256))
            .execute(&mut **tx)
            .await
            .doing("keep Khora's run row true")?;
        Ok(())
    }

    async fn insert_run(&self, tx: &mut Tx, begin: &BeginRun, at: Moment) -> Result<(), StoreError> {
        sqlx::query(sql!("runs/insert"))
            .bind(hex(begin.run.0))
            .bind(begin.realm.as_str())
            .bind(hex(begin.namespace.id.0))
            .bind(hex(begin.namespace.stable_id.0))
            .bind(begin.mode.as_str())
            .bind(begin.trigger.as_str())
            .bind(&begin.engine)
            .bind(&begin.workflow_id)
            .bind(spell_moment(at))
            .bind(&begin.input)
            .bind(&begin.settings)
            .bind(spell_json(&begin.skip_reasons))
            .execute(&mut **tx)
            .await
            .doing("write the run")?;
        if self.capabilities().await?.has_khora_runs {
            sqlx::query(sql!("runs/insert_khora"))
                .bind(begin.run.0.to_string())
                .bind(begin.namespace.stable_id.0.to_string())
                .bind(if begin.mode.may_write() { "apply" } else { "dry-run" })
                .bind(spell_moment(at))
                .execute(&mut **tx)
                .await
                .doing("write the run")?;
        }
        Ok(())
    }
}

/// What is said in Khora's own run row. What is none stays as it is.
#[derive(Default)]
pub(crate) struct KhoraRow<'a> {
    pub(crate) state: Option<RunState>,
    pub(crate) is_end: bool,
    pub(crate) plan_hash: Option<&'a PlanHash>,
    pub(crate) ops_total: Option<i64>,
    pub(crate) last_committed_seq: Option<i64>,
    pub(crate) closing: Option<&'a Closing>,
    pub(crate) report: Option<(&'a str, &'a str)>,
}

pub(crate) async fn now(tx: &mut Tx) -> Result<Moment, StoreError> {
    let text: String = sqlx::query_scalar(sql!("runs/now")).fetch_one(&mut **tx).await.doing("read the clock")?;
    parse_moment(&text)
}

pub(crate) async fn find_run(tx: &mut Tx, run: RunId) -> Result<Option<RunRecord>, StoreError> {
    let row = sqlx::query(sql!("runs/find")).bind(hex(run.0)).fetch_optional(&mut **tx).await.doing("read the run")?;
    row.as_ref().map(run_record).transpose()
}

#[async_trait]
impl RunStore for SqliteStore {
    async fn probe(&self) -> Result<Capabilities, StoreError> {
        self.look().await
    }

    async fn migrate(&self, content: bool) -> Result<(), StoreError> {
        self.migrate_tables(content).await
    }

    async fn text_key(&self) -> Result<TextKey, StoreError> {
        self.read_text_key().await
    }

    async fn now(&self) -> Result<Moment, StoreError> {
        let text: String =
            sqlx::query_scalar(sql!("runs/now")).fetch_one(&self.reader).await.doing("read the clock")?;
        parse_moment(&text)
    }

    async fn resolve_namespace(&self, id: Uuid) -> Result<Namespace, StoreError> {
        let row = sqlx::query(sql!("namespaces/resolve"))
            .bind(hex(id))
            .bind(id.to_string())
            .fetch_optional(&self.reader)
            .await
            .doing("find the namespace")?;
        namespace(&row.ok_or(StoreError::NoNamespace { id })?)
    }

    async fn namespaces(&self, after: Option<StableNamespaceId>, limit: u32) -> Result<Vec<Namespace>, StoreError> {
        let rows = sqlx::query(sql!("namespaces/list"))
            .bind(after.map(|id| hex(id.0)).unwrap_or_default())
            .bind(limit)
            .fetch_all(&self.reader)
            .await
            .doing("list namespaces")?;
        rows.iter().map(namespace).collect()
    }

    async fn begin(&self, begin: &BeginRun) -> Result<Begun, StoreError> {
        let mut tx = self.write("begin the run").await?;
        let standing_run = find_run(&mut tx, begin.run).await?;
        let closed = standing_run.as_ref().filter(|run| run.finished_at.is_some());
        if let Some(run) = closed.filter(|run| !(begin.is_resume && run.state.may_reopen())) {
            return Ok(Begun::Closed(Box::new(run.clone())));
        }
        if begin.is_resume && standing_run.is_none() {
            return Err(StoreError::NoRun { id: begin.run.0 });
        }
        let mut abandoned = Vec::new();
        if let Some(run) = begin.abandon {
            abandoned.push(run);
            self.abandon_in(&mut tx, run).await?;
        }
        let standing = self.standing(&mut tx, begin.realm, begin.namespace.id).await?;
        let admission = admit(begin.run, &standing);
        let Admission::Admit { abandon } = admission else { return Ok(Begun::Refused(admission)) };
        for run in abandon {
            self.abandon_in(&mut tx, run).await?;
            abandoned.push(run);
        }
        match &standing_run {
            None => self.insert_run(&mut tx, begin, standing.now).await?,
            Some(run) if run.finished_at.is_some() => self.reopen(&mut tx, run.run, standing.now).await?,
            Some(_) => {}
        }
        let fence =
            self.take_lease(&mut tx, begin.realm, begin.namespace.id, begin.run, &begin.holder, Purpose::Run).await?;
        sqlx::query(sql!("runs/heartbeat"))
            .bind(hex(begin.run.0))
            .bind(spell_moment(standing.now))
            .execute(&mut *tx)
            .await
            .doing("begin the run")?;
        let run = find_run(&mut tx, begin.run).await?.ok_or(StoreError::NoRun { id: begin.run.0 })?;
        tx.commit().await.doing("begin the run")?;
        Ok(Begun::Holds { fence, run: Box::new(run), abandoned })
    }

    async fn fence(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        let mut tx = self.write("take the lease").await?;
        let record = find_run(&mut tx, run).await?.ok_or(StoreError::NoRun { id: run.0 })?;
        let standing = self.standing(&mut tx, record.realm, record.namespace).await?;
        let is_taken = standing.lease.is_some_and(|lease| lease.run != run && lease.expires_at > standing.now);
        if is_taken || record.finished_at.is_some() {
            return Err(StoreError::LeaseLost { run });
        }
        let fence = self.take_lease(&mut tx, record.realm, record.namespace, run, holder, Purpose::Run).await?;
        tx.commit().await.doing("take the lease")?;
        Ok(fence)
    }

    async fn renew(&self, fence: &Fence) -> Result<(), StoreError> {
        let mut tx = self.write("renew the lease").await?;
        self.hold(&mut tx, fence).await?;
        tx.commit().await.doing("renew the lease")
    }

    async fn park(
        &self,
        fence: &Fence,
        state: RunState,
        waiting_for: &str,
        until: Option<Moment>,
    ) -> Result<(), StoreError> {
        let mut tx = self.write("park the run").await?;
        let at = self.hold(&mut tx, fence).await?;
        self.write_state(&mut tx, fence, state, Some(waiting_for), until, at).await?;
        self.release(&mut tx, fence.realm, fence.namespace, fence.run, Some(fence.epoch)).await?;
        tx.commit().await.doing("park the run")
    }

    async fn set_state(&self, fence: &Fence, state: RunState) -> Result<(), StoreError> {
        let mut tx = self.write("say where the run stands").await?;
        let at = self.hold(&mut tx, fence).await?;
        self.write_state(&mut tx, fence, state, None, None, at).await?;
        tx.commit().await.doing("say where the run stands")
    }

    async fn close(&self, run: RunId, state: RunState, closing: &Closing) -> Result<(), StoreError> {
        let mut tx = self.write("close the run").await?;
        let record = find_run(&mut tx, run).await?.ok_or(StoreError::NoRun { id: run.0 })?;
        self.close_in(&mut tx, &record, state, closing).await?;
        tx.commit().await.doing("close the run")
    }

    async fn set_report(&self, run: RunId, path: &str, manifest_sha256: &str) -> Result<(), StoreError> {
        const OPERATION: &str = "say where the report lies";
        let mut tx = self.write(OPERATION).await?;
        sqlx::query(sql!("runs/set_report"))
            .bind(hex(run.0))
            .bind(path)
            .bind(manifest_sha256)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        let at = now(&mut tx).await?;
        let khora = KhoraRow { report: Some((path, manifest_sha256)), ..KhoraRow::default() };
        self.tell_khora(&mut tx, run, at, &khora).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn run(&self, run: RunId) -> Result<RunRecord, StoreError> {
        let row =
            sqlx::query(sql!("runs/find")).bind(hex(run.0)).fetch_optional(&self.reader).await.doing("read the run")?;
        run_record(&row.ok_or(StoreError::NoRun { id: run.0 })?)
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        let rows = sqlx::query(sql!("runs/list"))
            .bind(filter.namespace.map(|id| hex(id.0)))
            .bind(filter.open_only)
            .bind(filter.limit)
            .fetch_all(&self.reader)
            .await
            .doing("list runs")?;
        rows.iter().map(run_record).collect()
    }

    async fn counts(&self, run: RunId) -> Result<Counts, StoreError> {
        let rows =
            sqlx::query(sql!("runs/counts")).bind(hex(run.0)).fetch_all(&self.reader).await.doing("count ops")?;
        let mut counts = Counts::new();
        for row in &rows {
            counts.entry(word(row, "kind")?).or_default().insert(word(row, "state")?, number(row, "count")?);
        }
        Ok(counts)
    }

    async fn request(&self, request: &Request) -> Result<RequestOutcome, StoreError> {
        self.record_request(request).await
    }

    async fn requests(&self, run: RunId) -> Result<Vec<Request>, StoreError> {
        self.list_requests(run).await
    }

    async fn standstill(&self, run: RunId, namespace: NamespaceId) -> Result<Standstill, StoreError> {
        let mut connection = self.reader.acquire().await.doing("read requests")?;
        crate::requests::standstill(&mut connection, run, namespace).await
    }

    async fn set_stop(&self, namespace: Option<NamespaceId>, stop: Option<(&str, &str)>) -> Result<(), StoreError> {
        self.write_stop(namespace, stop).await
    }

    async fn stops(&self) -> Result<Vec<Stop>, StoreError> {
        self.list_stops().await
    }

    async fn sweep(&self, before: Moment, runs_max: u32) -> Result<Vec<(RunId, Option<String>)>, StoreError> {
        self.sweep_runs(before, runs_max).await
    }
}

impl SqliteStore {
    /// Opens a run again that ended before its plan was done.
    async fn reopen(&self, tx: &mut Tx, run: RunId, at: Moment) -> Result<(), StoreError> {
        const OPERATION: &str = "open the run again";
        for statement in [sql!("runs/reopen"), sql!("requests/delete_stops")] {
            sqlx::query(statement).bind(hex(run.0)).execute(&mut **tx).await.doing(OPERATION)?;
        }
        let khora = KhoraRow { state: Some(RunState::Planning), ..KhoraRow::default() };
        self.tell_khora(tx, run, at, &khora).await
    }

    async fn abandon_in(&self, tx: &mut Tx, run: RunId) -> Result<(), StoreError> {
        let record = find_run(tx, run).await?.ok_or(StoreError::NoRun { id: run.0 })?;
        self.close_in(tx, &record, RunState::Abandoned, &Closing::default()).await
    }

    async fn write_state(
        &self,
        tx: &mut Tx,
        fence: &Fence,
        state: RunState,
        waiting_for: Option<&str>,
        until: Option<Moment>,
        at: Moment,
    ) -> Result<(), StoreError> {
        sqlx::query(sql!("runs/set_state"))
            .bind(hex(fence.run.0))
            .bind(state.as_str())
            .bind(waiting_for)
            .bind(until.map(spell_moment))
            .bind(spell_moment(at))
            .execute(&mut **tx)
            .await
            .doing("say where the run stands")?;
        let khora = KhoraRow { state: Some(state), ..KhoraRow::default() };
        self.tell_khora(tx, fence.run, at, &khora).await
    }

    pub(crate) async fn take_for_undo(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        let mut tx = self.write("take the lease").await?;
        let record = find_run(&mut tx, run).await?.ok_or(StoreError::NoRun { id: run.0 })?;
        let standing = self.standing(&mut tx, record.realm, record.namespace).await?;
        let held = standing.lease.is_some_and(|lease| lease.expires_at > standing.now);
        let working = standing.open_runs.iter().any(|open| {
            !open.is_waiting && standing.now.seconds_since(open.heartbeat_at) < dream_core::run::STUCK_AFTER_SECONDS
        });
        if held || working {
            return Err(StoreError::LeaseLost { run });
        }
        let fence = self.take_lease(&mut tx, record.realm, record.namespace, run, holder, Purpose::Undo).await?;
        tx.commit().await.doing("take the lease")?;
        Ok(fence)
    }
}
