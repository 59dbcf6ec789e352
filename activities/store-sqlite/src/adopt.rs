//! What Khora left for the graph, taken over into the outbox.
//!
//! **Invariant:** an entry is in Khora's table or in the outbox, never in both and never in none: one write transaction
//! moves it.

use dream_core::id::{NamespaceId, RunId};
use dream_core::mirror::{Adoption, pending};
use dream_ports::StoreError;
use dream_ports::mirror::Adopted;
use serde_json::json;

use crate::encode::{hex, parse_id, spell_moment};
use crate::error::ResultExt;
use crate::records::{get, id, spell_json, text};
use crate::runs::now;
use crate::tx::Tx;
use crate::{SqliteStore, sql};

const ADOPT: &str = "take over what Khora left for the graph";
const LOOK: &str = "look for what Khora left for the graph";

/// Whether there is a table of Khora's with a column for it: neither was always there.
async fn keeps_pending(tx: &mut Tx) -> Result<bool, StoreError> {
    let row = sqlx::query(sql!("khora_runs/keeps_pending")).fetch_one(&mut **tx).await.doing(LOOK)?;
    get(&row, "keeps_pending")
}

async fn adopt(tx: &mut Tx, namespace: NamespaceId) -> Result<Adopted, StoreError> {
    let mut adopted = Adopted::default();
    let at = spell_moment(now(tx).await?);
    let rows =
        sqlx::query(sql!("khora_runs/pending")).bind(hex(namespace.0)).fetch_all(&mut **tx).await.doing(ADOPT)?;
    for row in &rows {
        let own_id = text(row, "run_id")?;
        // A run without an id that is one is none that anything could be told of.
        let Some(run) = parse_id(&own_id).map(RunId) else { continue };
        let pending = pending(run, &text(row, "pending")?);
        adopted.unreadable.extend(pending.is_unreadable.then_some(run));
        if pending.adoptions.is_empty() {
            continue;
        }
        let inserted = sqlx::query(sql!("outbox/adopt"))
            .bind(hex(namespace.0))
            .bind(hex(run.0))
            .bind(spelled(&pending.adoptions))
            .bind(&at)
            .execute(&mut **tx)
            .await
            .doing(ADOPT)?;
        sqlx::query(sql!("khora_runs/put_pending"))
            .bind(own_id)
            .bind(&pending.left)
            .execute(&mut **tx)
            .await
            .doing(ADOPT)?;
        adopted.entries += inserted.rows_affected();
    }
    Ok(adopted)
}

fn spelled(entries: &[Adoption]) -> String {
    let entry = |entry: &Adoption| {
        json!({
            "op_id": hex(entry.op.0), "verbs": spell_json(&[&entry.verb]), "written_at": entry.at.map(spell_moment),
        })
    };
    spell_json(&entries.iter().map(entry).collect::<Vec<_>>())
}

impl SqliteStore {
    /// Looks first without holding anybody up: most of the time there is nothing.
    pub(crate) async fn take_over(&self, namespace: NamespaceId) -> Result<Adopted, StoreError> {
        let mut tx = self.reader.begin().await.doing(LOOK)?;
        let is_owed = keeps_pending(&mut tx).await?
            && sqlx::query(sql!("khora_runs/pending"))
                .bind(hex(namespace.0))
                .fetch_optional(&mut *tx)
                .await
                .doing(LOOK)?
                .is_some();
        tx.commit().await.doing(LOOK)?;
        if !is_owed {
            return Ok(Adopted::default());
        }
        let mut tx = self.write(ADOPT).await?;
        let adopted = adopt(&mut tx, namespace).await?;
        tx.commit().await.doing(ADOPT)?;
        Ok(adopted)
    }

    pub(crate) async fn left_by_khora(
        &self,
        after: Option<NamespaceId>,
        limit: u32,
    ) -> Result<Vec<NamespaceId>, StoreError> {
        let mut tx = self.reader.begin().await.doing(LOOK)?;
        if !keeps_pending(&mut tx).await? {
            return Ok(Vec::new());
        }
        let rows = sqlx::query(sql!("khora_runs/adoptable"))
            .bind(after.map(|namespace| hex(namespace.0)).unwrap_or_default())
            .bind(limit)
            .fetch_all(&mut *tx)
            .await
            .doing(LOOK)?;
        rows.iter().map(|row| id(row, "id").map(NamespaceId)).collect()
    }
}
