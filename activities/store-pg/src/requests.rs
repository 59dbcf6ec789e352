//! Requests and the kill switch: rows that are read inside of every group.

use dream_core::id::{NamespaceId, RunId};
use dream_core::plan::PlanHash;
use dream_ports::StoreError;
use dream_ports::run::{Request, RequestKind, RequestOutcome, Standstill, Stop};
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::error::ResultExt;
use crate::records::{get, moment, run_record, unreadable};
use crate::tx::Tx;
use crate::{PgStore, query, sql};

fn request_kind(text: &str) -> Result<RequestKind, StoreError> {
    [RequestKind::Approve, RequestKind::Reject, RequestKind::Cancel, RequestKind::Pause]
        .into_iter()
        .find(|kind| kind.as_str() == text)
        .ok_or_else(|| unreadable("dream.request.kind"))
}

/// What stands against going on.
pub(crate) async fn standstill(tx: &mut Tx, run: RunId, namespace: NamespaceId) -> Result<Standstill, StoreError> {
    let row = query(sql!("control/standing"))
        .bind(run.0)
        .bind(namespace.0)
        .fetch_one(&mut **tx)
        .await
        .doing("read requests")?;
    let stopped = if get(&row, "is_stopped")? { Some(stop(&row)?) } else { None };
    Ok(Standstill { stopped, cancel: get(&row, "cancel")?, pause: get(&row, "pause")? })
}

pub(crate) async fn list(tx: &mut Tx, run: RunId) -> Result<Vec<Request>, StoreError> {
    let rows = query(sql!("requests/list")).bind(run.0).fetch_all(&mut **tx).await.doing("read requests")?;
    let request = |row: &PgRow| {
        Ok(Request {
            run,
            kind: request_kind(get(row, "kind")?)?,
            by: get(row, "by_whom")?,
            plan_hash: get::<Option<String>>(row, "plan_hash")?.map(PlanHash),
        })
    };
    rows.iter().map(request).collect()
}

fn stop(row: &PgRow) -> Result<Stop, StoreError> {
    Ok(Stop {
        namespace: get::<Option<Uuid>>(row, "namespace_id")?.map(NamespaceId),
        by: get(row, "by_whom")?,
        why: get(row, "why")?,
        at: moment(row, "set_at")?,
    })
}

impl PgStore {
    pub(crate) async fn record_request(&self, request: &Request) -> Result<RequestOutcome, StoreError> {
        const OPERATION: &str = "record the request";
        let mut tx = self.write(OPERATION).await?;
        let run = query(sql!("runs/lock")).bind(request.run.0).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        let run = run_record(&run.ok_or(StoreError::NoRun { id: request.run.0 })?)?;
        let standing = list(&mut tx, request.run).await?;
        let outcome = request.outcome(&run, &standing);
        if outcome != RequestOutcome::Recorded {
            return Ok(outcome);
        }
        if request.kind == RequestKind::Unpause {
            query(sql!("requests/delete"))
                .bind(request.run.0)
                .bind(RequestKind::Pause.as_str())
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        } else {
            query(sql!("requests/insert"))
                .bind(request.run.0)
                .bind(request.kind.as_str())
                .bind(&request.by)
                .bind(request.plan_hash.as_ref().map(|hash| hash.0.as_str()))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(outcome)
    }

    pub(crate) async fn write_stop(
        &self,
        namespace: Option<NamespaceId>,
        stop: Option<(&str, &str)>,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "set the kill switch";
        let namespace = namespace.map(|id| id.0);
        let mut tx = self.write(OPERATION).await?;
        let statement = match stop {
            Some((by, why)) => query(sql!("control/set")).bind(namespace).bind(by).bind(why),
            None => query(sql!("control/clear")).bind(namespace),
        };
        statement.execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)
    }

    pub(crate) async fn list_stops(&self) -> Result<Vec<Stop>, StoreError> {
        const OPERATION: &str = "read the kill switch";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("control/list")).fetch_all(&mut *tx).await.doing(OPERATION)?;
        rows.iter().map(stop).collect()
    }
}
