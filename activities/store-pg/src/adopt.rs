//! What Khora left for the graph, taken over into the outbox.
//!
//! **Invariant:** an entry is in Khora's table or in the outbox, never in both and never in none: one transaction moves it,
//! under the locks of Khora's dreams, so that no dream carries it out meanwhile.

use dream_core::id::{NamespaceId, RunId, StableNamespaceId};
use dream_core::mirror::{Pending, pending};
use dream_ports::StoreError;
use dream_ports::mirror::Adopted;
use uuid::Uuid;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::locks::{exclude_ingestion, exclude_khoras_dreams};
use crate::records::{get, spell_json};
use crate::tx::{Tx, end};
use crate::{PgStore, query, sql};

const ADOPT: &str = "take over what Khora left for the graph";
const LOOK: &str = "look for what Khora left for the graph";

/// Whether there is a table of Khora's with a column for it: neither was always there.
async fn keeps_pending(tx: &mut Tx) -> Result<bool, StoreError> {
    let row = query(sql!("khora_runs/keeps_pending")).fetch_one(&mut **tx).await.doing(LOOK)?;
    get(&row, "keeps_pending")
}

/// The stable id of a namespace for which Khora left something.
async fn owed(tx: &mut Tx, namespace: NamespaceId) -> Result<Option<StableNamespaceId>, StoreError> {
    if !keeps_pending(tx).await? {
        return Ok(None);
    }
    let row = query(sql!("khora_runs/owed")).bind(namespace.0).fetch_optional(&mut **tx).await.doing(LOOK)?;
    row.map(|row| get(&row, "stable_id").map(StableNamespaceId)).transpose()
}

async fn adopt(tx: &mut Tx, namespace: NamespaceId, stable: StableNamespaceId) -> Result<Adopted, StoreError> {
    let mut adopted = Adopted::default();
    // In the order in which everybody does: behind ingestion's lock no group of ours takes us for a dream of Khora's.
    exclude_ingestion(tx, namespace).await?;
    if !exclude_khoras_dreams(tx, namespace, stable).await? {
        return Ok(Adopted { waits_for_khora: true, ..adopted });
    }
    let rows = query(sql!("khora_runs/lock_pending"))
        .bind(namespace.0)
        .bind(stable.0)
        .fetch_all(&mut **tx)
        .await
        .doing(ADOPT)?;
    for row in &rows {
        let run = RunId(get(row, "run_id")?);
        let pending = pending(run, get(row, "pending")?);
        adopted.unreadable.extend(pending.is_unreadable.then_some(run));
        if !pending.adoptions.is_empty() {
            adopted.entries += move_over(tx, namespace, run, &pending).await?;
        }
    }
    Ok(adopted)
}

async fn move_over(tx: &mut Tx, namespace: NamespaceId, run: RunId, pending: &Pending) -> Result<u64, StoreError> {
    let entries = &pending.adoptions;
    let inserted = query(sql!("outbox/adopt"))
        .bind(namespace.0)
        .bind(run.0)
        .bind(entries.iter().map(|entry| entry.op.0).collect::<Vec<Uuid>>())
        .bind(entries.iter().map(|entry| spell_json(&[&entry.verb])).collect::<Vec<String>>())
        .bind(entries.iter().map(|entry| entry.at.map(Timestamptz::from)).collect::<Vec<_>>())
        .execute(&mut **tx)
        .await
        .doing(ADOPT)?;
    query(sql!("khora_runs/put_pending")).bind(run.0).bind(&pending.left).execute(&mut **tx).await.doing(ADOPT)?;
    Ok(inserted.rows_affected())
}

impl PgStore {
    /// Looks first without any lock: most of the time there is nothing.
    pub(crate) async fn take_over(&self, namespace: NamespaceId) -> Result<Adopted, StoreError> {
        let mut tx = self.read(LOOK).await?;
        let owed = owed(&mut tx, namespace).await?;
        end(tx, true, LOOK).await?;
        let Some(stable) = owed else { return Ok(Adopted::default()) };
        let mut tx = self.write(ADOPT).await?;
        let adopted = adopt(&mut tx, namespace, stable).await;
        end(tx, adopted.is_ok(), ADOPT).await?;
        adopted
    }

    pub(crate) async fn left_by_khora(
        &self,
        after: Option<NamespaceId>,
        limit: u32,
    ) -> Result<Vec<NamespaceId>, StoreError> {
        let mut tx = self.read(LOOK).await?;
        if !keeps_pending(&mut tx).await? {
            return Ok(Vec::new());
        }
        let rows = query(sql!("khora_runs/adoptable"))
            .bind(after.map(|namespace| namespace.0))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(LOOK)?;
        rows.iter().map(|row| get(row, "id").map(NamespaceId)).collect()
    }
}
