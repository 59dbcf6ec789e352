//! Runs.

use async_trait::async_trait;
use dream_core::clock::Moment;
use dream_core::digest::TextKey;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::run::{Admission, Counts, Realm, RunState, admit};
use dream_ports::run::{
    BeginRun, Begun, Capabilities, Closing, Fence, Namespace, Request, RequestOutcome, RunFilter, RunRecord,
    Standstill, Stop,
};
use dream_ports::{RunStore, StoreError};
use uuid::Uuid;

use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::khora::KhoraRow;
use crate::leases::{Purpose, hold, release, standing, take};
use crate::records::{moment, namespace, number, run_record, spell_json, word};
use crate::tx::Tx;
use crate::{SqliteStore, sql};

pub(crate) async fn now(tx: &mut Tx) -> Result<Moment, StoreError> {
    let row = sqlx::query(sql!("runs/now")).fetch_one(&mut **tx).await.doing("read the clock")?;
    moment(&row, "now")
}

pub(crate) async fn find_run(tx: &mut Tx, run: RunId) -> Result<Option<RunRecord>, StoreError> {
    let row = sqlx::query(sql!("runs/find")).bind(hex(run.0)).fetch_optional(&mut **tx).await.doing("read the run")?;
    row.as_ref().map(run_record).transpose()
}

pub(crate) async fn need_run(tx: &mut Tx, run: RunId) -> Result<RunRecord, StoreError> {
    find_run(tx, run).await?.ok_or(StoreError::NoRun { id: run.0 })
}

async fn insert_run(tx: &mut Tx, begin: &BeginRun, at: Moment) -> Result<(), StoreError> {
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
    crate::khora::insert(tx, begin, at).await
}

pub(crate) async fn close_in(
    tx: &mut Tx,
    run: &RunRecord,
    state: RunState,
    closing: &Closing,
) -> Result<(), StoreError> {
    let at = now(tx).await?;
    let closed = sqlx::query(sql!("runs/close"))
        .bind(hex(run.run.0))
        .bind(state.as_str())
        .bind(spell_moment(at))
        .bind(&closing.error_code)
        .execute(&mut **tx)
        .await
        .doing("close the run")?;
    if closed.rows_affected() == 0 {
        return Ok(());
    }
    release(tx, run.realm, run.namespace, run.run, None).await?;
    if run.realm == Realm::Space {
        crate::jobs::clear_copies(tx, run.run).await?;
    }
    let khora = KhoraRow { state: Some(state), is_end: true, closing: Some(closing), ..KhoraRow::default() };
    crate::khora::update(tx, run.run, at, &khora).await
}

/// Opens a run again that ended before its plan was done.
async fn reopen(tx: &mut Tx, run: RunId, at: Moment) -> Result<(), StoreError> {
    const OPERATION: &str = "open the run again";
    for statement in [sql!("runs/reopen"), sql!("requests/delete_stops")] {
        sqlx::query(statement).bind(hex(run.0)).execute(&mut **tx).await.doing(OPERATION)?;
    }
    let khora = KhoraRow { state: Some(RunState::Planning), ..KhoraRow::default() };
    crate::khora::update(tx, run, at, &khora).await
}

async fn abandon_in(tx: &mut Tx, begin: &BeginRun, run: RunId) -> Result<(), StoreError> {
    let record = need_run(tx, run).await?;
    if (record.realm, record.namespace) != (begin.realm, begin.namespace.id) {
        return Err(StoreError::NoRun { id: run.0 });
    }
    close_in(tx, &record, RunState::Abandoned, &Closing::default()).await
}

pub(crate) async fn write_state(
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
    crate::khora::update(tx, fence.run, at, &khora).await
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
        let row = sqlx::query(sql!("runs/now")).fetch_one(&self.reader).await.doing("read the clock")?;
        moment(&row, "now")
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
        const OPERATION: &str = "begin the run";
        let mut tx = self.write(OPERATION).await?;
        let standing_run = find_run(&mut tx, begin.run).await?;
        if let Some(run) = &standing_run {
            if (run.realm, run.namespace) != (begin.realm, begin.namespace.id) {
                return Err(StoreError::Refused { operation: OPERATION, code: "run_of_another_target".to_owned() });
            }
            if run.finished_at.is_some() && !(begin.is_resume && run.state.may_reopen()) {
                return Ok(Begun::Closed(Box::new(run.clone())));
            }
        }
        if begin.is_resume && standing_run.is_none() {
            return Err(StoreError::NoRun { id: begin.run.0 });
        }
        let standing = standing(&mut tx, begin.realm, begin.namespace.id).await?;
        let admission = admit(begin.run, begin.abandon, &standing);
        let Admission::Admit { abandon } = admission else { return Ok(Begun::Refused(admission)) };
        for run in &abandon {
            abandon_in(&mut tx, begin, *run).await?;
        }
        match &standing_run {
            None => insert_run(&mut tx, begin, standing.now).await?,
            Some(run) if run.finished_at.is_some() => reopen(&mut tx, run.run, standing.now).await?,
            Some(_) => {}
        }
        let fence = take(&mut tx, begin.realm, begin.namespace.id, begin.run, &begin.holder, Purpose::Run).await?;
        sqlx::query(sql!("runs/heartbeat"))
            .bind(hex(begin.run.0))
            .bind(spell_moment(standing.now))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        let run = need_run(&mut tx, begin.run).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(Begun::Holds { fence, run: Box::new(run), abandoned: abandon })
    }

    async fn fence(&self, run: RunId, holder: &str) -> Result<Fence, StoreError> {
        self.take_for_run(run, holder).await
    }

    async fn renew(&self, fence: &Fence) -> Result<(), StoreError> {
        let mut tx = self.write("renew the lease").await?;
        hold(&mut tx, fence).await?;
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
        let at = hold(&mut tx, fence).await?;
        write_state(&mut tx, fence, state, Some(waiting_for), until, at).await?;
        release(&mut tx, fence.realm, fence.namespace, fence.run, Some(fence.epoch)).await?;
        tx.commit().await.doing("park the run")
    }

    async fn set_state(&self, fence: &Fence, state: RunState) -> Result<(), StoreError> {
        let mut tx = self.write("say where the run stands").await?;
        let at = hold(&mut tx, fence).await?;
        write_state(&mut tx, fence, state, None, None, at).await?;
        tx.commit().await.doing("say where the run stands")
    }

    async fn close(&self, run: RunId, state: RunState, closing: &Closing) -> Result<(), StoreError> {
        let mut tx = self.write("close the run").await?;
        let record = need_run(&mut tx, run).await?;
        close_in(&mut tx, &record, state, closing).await?;
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
        crate::khora::update(&mut tx, run, at, &khora).await?;
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

    async fn sweepable(&self, before: Moment, runs_max: u32) -> Result<Vec<(RunId, Option<String>)>, StoreError> {
        self.sweepable_runs(before, runs_max).await
    }

    async fn forget(&self, runs: &[RunId]) -> Result<u32, StoreError> {
        self.forget_runs(runs).await
    }
}
