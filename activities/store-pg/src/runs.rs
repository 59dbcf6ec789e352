//! Runs and leases.
//!
//! **Invariant:** every transaction that locks both a lease and a run locks the lease first, so that no two of them wait for
//! each other.

use async_trait::async_trait;
use dream_core::clock::Moment;
use dream_core::digest::TextKey;
use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::run::{Admission, Counts, Realm, RunState, Standing, admit};
use dream_ports::run::{
    BeginRun, Begun, Capabilities, Closing, Fence, Namespace, Request, RequestOutcome, RunFilter, RunRecord,
    Standstill, Stop,
};
use dream_ports::{RunStore, StoreError};
use uuid::Uuid;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::khora::KhoraRow;
use crate::leases::Purpose;
use crate::records::{self, count, moment, run_record, spell_json, word};
use crate::tx::Tx;
use crate::{PgStore, query, sql};

pub(crate) async fn find_run(tx: &mut Tx, run: RunId) -> Result<Option<RunRecord>, StoreError> {
    let row = query(sql!("runs/find")).bind(run.0).fetch_optional(&mut **tx).await.doing("read the run")?;
    row.as_ref().map(run_record).transpose()
}

pub(crate) async fn need_run(tx: &mut Tx, run: RunId) -> Result<RunRecord, StoreError> {
    find_run(tx, run).await?.ok_or(StoreError::NoRun { id: run.0 })
}

async fn insert_run(tx: &mut Tx, begin: &BeginRun, at: Moment) -> Result<(), StoreError> {
    query(sql!("runs/insert"))
        .bind(begin.run.0)
        .bind(begin.realm.as_str())
        .bind(begin.namespace.id.0)
        .bind(begin.namespace.stable_id.0)
        .bind(begin.mode.as_str())
        .bind(begin.trigger.as_str())
        .bind(&begin.engine)
        .bind(&begin.workflow_id)
        .bind(Timestamptz::from(at))
        .bind(&begin.input)
        .bind(&begin.settings)
        .bind(spell_json(&begin.skip_reasons))
        .execute(&mut **tx)
        .await
        .doing("write the run")?;
    crate::khora::insert(tx, begin, at).await
}

/// Closes a run, lease first.
pub(crate) async fn close_in(
    tx: &mut Tx,
    run: &RunRecord,
    state: RunState,
    closing: &Closing,
) -> Result<(), StoreError> {
    let at = crate::leases::lock(tx, run.realm, run.namespace).await?.now;
    let closed = query(sql!("runs/close"))
        .bind(run.run.0)
        .bind(state.as_str())
        .bind(Timestamptz::from(at))
        .bind(&closing.error_code)
        .execute(&mut **tx)
        .await
        .doing("close the run")?;
    if closed.rows_affected() == 0 {
        return Ok(());
    }
    crate::leases::release(tx, run.realm, run.namespace, run.run, None).await?;
    if run.realm == Realm::Space {
        crate::jobs::clear_copies(tx, run.run).await?;
    }
    let row = KhoraRow { state: Some(state), is_end: true, closing: Some(closing), ..KhoraRow::default() };
    crate::khora::update(tx, run.run, at, &row).await
}

/// Opens a run again that ended before its plan was done.
async fn reopen(tx: &mut Tx, run: RunId, at: Moment) -> Result<(), StoreError> {
    const OPERATION: &str = "open the run again";
    for statement in [sql!("runs/reopen"), sql!("requests/delete_stops")] {
        query(statement).bind(run.0).execute(&mut **tx).await.doing(OPERATION)?;
    }
    let row = KhoraRow { state: Some(RunState::Planning), ..KhoraRow::default() };
    crate::khora::update(tx, run, at, &row).await
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
    query(sql!("runs/set_state"))
        .bind(fence.run.0)
        .bind(state.as_str())
        .bind(waiting_for)
        .bind(until.map(Timestamptz::from))
        .bind(Timestamptz::from(at))
        .execute(&mut **tx)
        .await
        .doing("say where the run stands")?;
    let row = KhoraRow { state: Some(state), ..KhoraRow::default() };
    crate::khora::update(tx, fence.run, at, &row).await
}

#[async_trait]
impl RunStore for PgStore {
    async fn probe(&self) -> Result<Capabilities, StoreError> {
        self.look().await
    }

    async fn migrate(&self, content: bool) -> Result<(), StoreError> {
        self.migrate_tables(content).await
    }

    async fn text_key(&self) -> Result<TextKey, StoreError> {
        let mut tx = self.read("read the store's key").await?;
        crate::schema::text_key(&mut tx).await
    }

    async fn now(&self) -> Result<Moment, StoreError> {
        const OPERATION: &str = "read the clock";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("runs/now")).fetch_one(&mut *tx).await.doing(OPERATION)?;
        moment(&row, "now")
    }

    async fn resolve_namespace(&self, id: Uuid) -> Result<Namespace, StoreError> {
        const OPERATION: &str = "find the namespace";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("namespaces/resolve")).bind(id).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        records::namespace(&row.ok_or(StoreError::NoNamespace { id })?)
    }

    async fn namespaces(&self, after: Option<StableNamespaceId>, limit: u32) -> Result<Vec<Namespace>, StoreError> {
        const OPERATION: &str = "list namespaces";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("namespaces/list"))
            .bind(after.map(|id| id.0))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(records::namespace).collect()
    }

    async fn begin(&self, begin: &BeginRun) -> Result<Begun, StoreError> {
        const OPERATION: &str = "begin the run";
        let mut tx = self.write(OPERATION).await?;
        // The lease is locked before anything else is read, so that of two that begin at once the second sees the first.
        crate::leases::lock(&mut tx, begin.realm, begin.namespace.id).await?;
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
        let standing: Standing = crate::leases::standing(&mut tx, begin.realm, begin.namespace.id).await?;
        let admission = admit(begin.run, begin.abandon, &standing);
        let Admission::Admit { abandon } = admission else {
            return Ok(Begun::Refused(admission));
        };
        for run in &abandon {
            abandon_in(&mut tx, begin, *run).await?;
        }
        match &standing_run {
            None => insert_run(&mut tx, begin, standing.now).await?,
            Some(run) if run.finished_at.is_some() => reopen(&mut tx, run.run, standing.now).await?,
            Some(_) => {}
        }
        let fence =
            crate::leases::take(&mut tx, begin.realm, begin.namespace.id, begin.run, &begin.holder, Purpose::Run)
                .await?;
        query(sql!("runs/heartbeat"))
            .bind(begin.run.0)
            .bind(Timestamptz::from(standing.now))
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
        const OPERATION: &str = "renew the lease";
        let mut tx = self.write(OPERATION).await?;
        crate::leases::hold(&mut tx, fence).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn park(
        &self,
        fence: &Fence,
        state: RunState,
        waiting_for: &str,
        until: Option<Moment>,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "park the run";
        let mut tx = self.write(OPERATION).await?;
        let at = crate::leases::hold(&mut tx, fence).await?;
        write_state(&mut tx, fence, state, Some(waiting_for), until, at).await?;
        crate::leases::release(&mut tx, fence.realm, fence.namespace, fence.run, Some(fence.epoch)).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn set_state(&self, fence: &Fence, state: RunState) -> Result<(), StoreError> {
        const OPERATION: &str = "say where the run stands";
        let mut tx = self.write(OPERATION).await?;
        let at = crate::leases::hold(&mut tx, fence).await?;
        write_state(&mut tx, fence, state, None, None, at).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn close(&self, run: RunId, state: RunState, closing: &Closing) -> Result<(), StoreError> {
        const OPERATION: &str = "close the run";
        let mut tx = self.write(OPERATION).await?;
        let record = need_run(&mut tx, run).await?;
        close_in(&mut tx, &record, state, closing).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn set_report(&self, run: RunId, path: &str, manifest_sha256: &str) -> Result<(), StoreError> {
        const OPERATION: &str = "say where the report lies";
        let mut tx = self.write(OPERATION).await?;
        query(sql!("runs/set_report"))
            .bind(run.0)
            .bind(path)
            .bind(manifest_sha256)
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        let row = query(sql!("runs/now")).fetch_one(&mut *tx).await.doing(OPERATION)?;
        let at = moment(&row, "now")?;
        let row = KhoraRow { report: Some((path, manifest_sha256)), ..KhoraRow::default() };
        crate::khora::update(&mut tx, run, at, &row).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn run(&self, run: RunId) -> Result<RunRecord, StoreError> {
        let mut tx = self.read("read the run").await?;
        need_run(&mut tx, run).await
    }

    async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRecord>, StoreError> {
        const OPERATION: &str = "list runs";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("runs/list"))
            .bind(filter.namespace.map(|id| id.0))
            .bind(filter.open_only)
            .bind(i64::from(filter.limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(run_record).collect()
    }

    async fn counts(&self, run: RunId) -> Result<Counts, StoreError> {
        const OPERATION: &str = "count ops";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("runs/counts")).bind(run.0).fetch_all(&mut *tx).await.doing(OPERATION)?;
        let mut counts = Counts::new();
        for row in &rows {
            counts.entry(word(row, "kind")?).or_default().insert(word(row, "state")?, count(row, "count")?);
        }
        Ok(counts)
    }

    async fn request(&self, request: &Request) -> Result<RequestOutcome, StoreError> {
        self.record_request(request).await
    }

    async fn requests(&self, run: RunId) -> Result<Vec<Request>, StoreError> {
        let mut tx = self.read("read requests").await?;
        crate::requests::list(&mut tx, run).await
    }

    async fn standstill(&self, run: RunId, namespace: NamespaceId) -> Result<Standstill, StoreError> {
        let mut tx = self.read("read requests").await?;
        crate::requests::standstill(&mut tx, run, namespace).await
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
