//! Requests and the kill switch: rows that are read inside of every group.

use dream_core::id::{NamespaceId, RunId};
use dream_core::plan::PlanHash;
use dream_ports::StoreError;
use dream_ports::run::{Request, RequestKind, RequestOutcome, Standstill, Stop};
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use crate::encode::{hex, spell_moment};
use crate::error::ResultExt;
use crate::records::{id, maybe, moment, text, unreadable};
use crate::runs::{need_run, now};
use crate::{SqliteStore, sql};

fn request_kind(text: &str) -> Result<RequestKind, StoreError> {
    [RequestKind::Approve, RequestKind::Reject, RequestKind::Cancel, RequestKind::Pause]
        .into_iter()
        .find(|kind| kind.as_str() == text)
        .ok_or_else(|| unreadable("dream_request.kind"))
}

/// What stands against going on.
pub(crate) async fn standstill(
    connection: &mut SqliteConnection,
    run: RunId,
    namespace: NamespaceId,
) -> Result<Standstill, StoreError> {
    let row = sqlx::query(sql!("control/find"))
        .bind(hex(namespace.0))
        .fetch_optional(&mut *connection)
        .await
        .doing("read the kill switch")?;
    let stopped = row.as_ref().map(stop).transpose()?;
    let kinds = list(connection, run).await?;
    let asked = |kind| kinds.iter().any(|request| request.kind == kind);
    Ok(Standstill { stopped, cancel: asked(RequestKind::Cancel), pause: asked(RequestKind::Pause) })
}

async fn list(connection: &mut SqliteConnection, run: RunId) -> Result<Vec<Request>, StoreError> {
    let rows =
        sqlx::query(sql!("requests/list")).bind(hex(run.0)).fetch_all(&mut *connection).await.doing("read requests")?;
    let request = |row: &SqliteRow| {
        Ok(Request {
            run,
            kind: request_kind(&text(row, "kind")?)?,
            by: text(row, "by_whom")?,
            plan_hash: maybe(row, "plan_hash")?.map(PlanHash),
        })
    };
    rows.iter().map(request).collect()
}

fn stop(row: &SqliteRow) -> Result<Stop, StoreError> {
    let is_of_store = text(row, "namespace_id")?.is_empty();
    Ok(Stop {
        namespace: if is_of_store { None } else { Some(NamespaceId(id(row, "namespace_id")?)) },
        by: text(row, "by_whom")?,
        why: text(row, "why")?,
        at: moment(row, "set_at")?,
    })
}

impl SqliteStore {
    pub(crate) async fn record_request(&self, request: &Request) -> Result<RequestOutcome, StoreError> {
        const OPERATION: &str = "record the request";
        let mut tx = self.write(OPERATION).await?;
        let run = need_run(&mut tx, request.run).await?;
        let standing = list(&mut tx, request.run).await?;
        let outcome = request.outcome(&run, &standing);
        if outcome != RequestOutcome::Recorded {
            return Ok(outcome);
        }
        if request.kind == RequestKind::Unpause {
            sqlx::query(sql!("requests/delete"))
                .bind(hex(request.run.0))
                .bind(RequestKind::Pause.as_str())
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        } else {
            let at = now(&mut tx).await?;
            sqlx::query(sql!("requests/insert"))
                .bind(hex(request.run.0))
                .bind(request.kind.as_str())
                .bind(&request.by)
                .bind(request.plan_hash.as_ref().map(|hash| hash.0.as_str()))
                .bind(spell_moment(at))
                .execute(&mut *tx)
                .await
                .doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(outcome)
    }

    pub(crate) async fn list_requests(&self, run: RunId) -> Result<Vec<Request>, StoreError> {
        let mut connection = self.reader.acquire().await.doing("read requests")?;
        list(&mut connection, run).await
    }

    pub(crate) async fn write_stop(
        &self,
        namespace: Option<NamespaceId>,
        stop: Option<(&str, &str)>,
    ) -> Result<(), StoreError> {
        const OPERATION: &str = "set the kill switch";
        let key = namespace.map(|id| hex(id.0)).unwrap_or_default();
        let mut tx = self.write(OPERATION).await?;
        match stop {
            Some((by, why)) => {
                let at = now(&mut tx).await?;
                sqlx::query(sql!("control/set"))
                    .bind(key)
                    .bind(by)
                    .bind(why)
                    .bind(spell_moment(at))
                    .execute(&mut *tx)
                    .await
                    .doing(OPERATION)?;
            }
            None => {
                sqlx::query(sql!("control/clear")).bind(key).execute(&mut *tx).await.doing(OPERATION)?;
            }
        }
        tx.commit().await.doing(OPERATION)
    }

    pub(crate) async fn list_stops(&self) -> Result<Vec<Stop>, StoreError> {
        let rows = sqlx::query(sql!("control/list")).fetch_all(&self.reader).await.doing("read the kill switch")?;
        rows.iter().map(stop).collect()
    }
}
