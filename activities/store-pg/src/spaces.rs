//! Spaces: who they are, and which keys open them.

use async_trait::async_trait;
use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::clock::Moment;
use dream_core::id::{NamespaceId, RunId};
use dream_core::realm::space::fact::DreamMode;
use dream_ports::run::Fence;
use dream_ports::space::{
    AnswerOutcome, Forgotten, JobRecord, KeyHash, KeyId, NewAnswer, NewJob, NewSpace, Round, SpacePatch, SpaceRecord,
    Tidied, key_range,
};
use dream_ports::{SpaceStore, StoreError};
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::encode::Timestamptz;
use crate::error::ResultExt;
use crate::records::{get, maybe_moment, moment, unreadable, word};
use crate::tx::Tx;
use crate::{PgStore, query, sql};

fn space_record(row: &PgRow) -> Result<SpaceRecord, StoreError> {
    Ok(SpaceRecord {
        id: NamespaceId(get(row, "id")?),
        name: get(row, "name")?,
        zone: get(row, "time_zone")?,
        mode: word(row, "dream_mode")?,
        created_at: moment(row, "created_at")?,
        last_used_at: maybe_moment(row, "last_used_at")?,
        last_dream_started_at: maybe_moment(row, "last_dream_started_at")?,
    })
}

async fn insert_key(
    tx: &mut Tx,
    id: NamespaceId,
    key_hash: &KeyHash,
    operation: &'static str,
) -> Result<(), StoreError> {
    query(sql!("space_keys/insert")).bind(key_hash.to_vec()).bind(id.0).execute(&mut **tx).await.doing(operation)?;
    Ok(())
}

#[async_trait]
impl SpaceStore for PgStore {
    async fn create_space(&self, space: &NewSpace) -> Result<(), StoreError> {
        const OPERATION: &str = "make the space";
        let mut tx = self.write(OPERATION).await?;
        query(sql!("spaces/insert"))
            .bind(space.id.0)
            .bind(&space.name)
            .bind(&space.zone)
            .bind(space.mode.as_str())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        insert_key(&mut tx, space.id, &space.key_hash, OPERATION).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn space(&self, id: NamespaceId) -> Result<SpaceRecord, StoreError> {
        const OPERATION: &str = "find the space";
        let mut tx = self.read(OPERATION).await?;
        let row = query(sql!("spaces/find")).bind(id.0).fetch_optional(&mut *tx).await.doing(OPERATION)?;
        space_record(&row.ok_or(StoreError::NoSpace { id: id.0 })?)
    }

    async fn spaces(&self, after: Option<NamespaceId>, limit: u32) -> Result<Vec<SpaceRecord>, StoreError> {
        const OPERATION: &str = "list spaces";
        let mut tx = self.read(OPERATION).await?;
        let rows = query(sql!("spaces/list"))
            .bind(after.map(|id| id.0))
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        rows.iter().map(space_record).collect()
    }

    async fn change_space(&self, id: NamespaceId, patch: &SpacePatch) -> Result<(), StoreError> {
        const OPERATION: &str = "change the space";
        let mut tx = self.write(OPERATION).await?;
        let changed = query(sql!("spaces/update"))
            .bind(id.0)
            .bind(&patch.name)
            .bind(&patch.zone)
            .bind(patch.mode.map(DreamMode::as_str))
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        if changed.rows_affected() == 0 { Err(StoreError::NoSpace { id: id.0 }) } else { Ok(()) }
    }

    async fn add_space_key(&self, id: NamespaceId, key_hash: &KeyHash) -> Result<(), StoreError> {
        const OPERATION: &str = "give the space a key";
        let mut tx = self.write(OPERATION).await?;
        insert_key(&mut tx, id, key_hash, OPERATION).await?;
        tx.commit().await.doing(OPERATION)
    }

    async fn keys_under(&self, id: KeyId) -> Result<Vec<(KeyHash, NamespaceId)>, StoreError> {
        const OPERATION: &str = "look a key up";
        let mut tx = self.read(OPERATION).await?;
        let [first, last] = key_range(id);
        let keys = query(sql!("space_keys/find")).bind(first.to_vec()).bind(last.to_vec());
        let rows = keys.fetch_all(&mut *tx).await.doing(OPERATION)?;
        let key = |row: &PgRow| {
            let hash = get::<&[u8]>(row, "key_hash")?.try_into().map_err(|_| unreadable("dream.space_key.key_hash"))?;
            Ok((hash, NamespaceId(get(row, "space_id")?)))
        };
        rows.iter().map(key).collect()
    }

    async fn use_space(&self, id: NamespaceId) -> Result<(), StoreError> {
        const OPERATION: &str = "note that the space is used";
        let mut tx = self.write(OPERATION).await?;
        let used = query(sql!("spaces/use")).bind(id.0).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        if used.rows_affected() == 0 { Err(StoreError::NoSpace { id: id.0 }) } else { Ok(()) }
    }

    async fn space_rows(
        &self,
        space: NamespaceId,
        table: Table,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        self.page_of(space, table, after, limit).await
    }

    async fn space_row(&self, space: NamespaceId, key: RowKey) -> Result<Option<Row>, StoreError> {
        self.row_of(space, key).await
    }

    async fn put_rows(&self, space: NamespaceId, rows: &[Row]) -> Result<(), StoreError> {
        self.put_whole(space, rows).await
    }

    async fn change_row(
        &self,
        space: NamespaceId,
        key: RowKey,
        cells: &[(Column, Value)],
    ) -> Result<Option<Row>, StoreError> {
        self.change_cells(space, key, cells).await
    }

    async fn remove_rows(&self, space: NamespaceId, table: Table, ids: &[Uuid]) -> Result<u32, StoreError> {
        self.remove_of(space, table, ids).await
    }

    async fn recall_facts(&self, space: NamespaceId, facts: &[Uuid]) -> Result<u32, StoreError> {
        self.count_recalls(space, facts).await
    }

    async fn forget_fact(&self, space: NamespaceId, fact: Uuid) -> Result<Forgotten, StoreError> {
        self.take_out(space, fact).await
    }

    async fn tidy(&self, fence: &Fence, step: &str, as_of: Moment) -> Result<Tidied, StoreError> {
        self.tidy_once(fence, step, as_of).await
    }

    async fn append_round(&self, fence: &Fence, round: &Round<'_>) -> Result<bool, StoreError> {
        self.seal_behind(fence, round).await
    }

    async fn ask(&self, fence: &Fence, job: &NewJob<'_>) -> Result<bool, StoreError> {
        self.write_job(fence, job).await
    }

    async fn job(&self, run: RunId) -> Result<Option<JobRecord>, StoreError> {
        self.find_job(run).await
    }

    async fn answer_job(&self, run: RunId, answer: &NewAnswer<'_>) -> Result<AnswerOutcome, StoreError> {
        self.take_answer(run, answer).await
    }

    async fn purge_space_undo(&self, before: Moment) -> Result<u32, StoreError> {
        const OPERATION: &str = "purge undo records";
        let mut tx = self.write(OPERATION).await?;
        let gone =
            query(sql!("undo/purge")).bind(Timestamptz::from(before)).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(gone.rows_affected()).unwrap_or(u32::MAX))
    }
}
