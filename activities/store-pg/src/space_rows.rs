//! Rows of a space, read and written one by one or page by page, and what forgetting one reaches.

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::id::{NamespaceId, RunId};
use dream_core::rows::{Image, Needs, Rows};
use dream_core::run::{Realm, RunState};
use dream_ports::StoreError;
use dream_ports::run::Closing;
use dream_ports::space::Forgotten;
use uuid::Uuid;

use crate::encode::table_row;
use crate::error::ResultExt;
use crate::load::load;
use crate::records::{get, spell_json, undo_record};
use crate::runs::{close_in, need_run};
use crate::schema::shape;
use crate::tx::Tx;
use crate::write::{delete_statement, images};
use crate::{PgStore, query, sql};

/// What a caller asks of a table that belongs to no space.
const fn no_table(operation: &'static str) -> StoreError {
    StoreError::Unsupported { operation }
}

const fn page_statement(table: Table) -> Option<&'static str> {
    Some(match table {
        Table::Entities | Table::Relationships | Table::TemporalEdges | Table::Aliases => return None,
        Table::Facts => sql!("facts/page"),
        Table::Journal => sql!("journal/page"),
        Table::Actions => sql!("actions/page"),
        Table::KeyValues => sql!("key_values/page"),
        Table::Records => sql!("records/page"),
        Table::Profiles => sql!("profiles/page"),
    })
}

/// One row, locked.
async fn load_one(tx: &mut Tx, space: NamespaceId, key: RowKey) -> Result<Rows, StoreError> {
    let mut needs = Needs::default();
    needs.rows.insert(key);
    let mut rows = Rows::default();
    let shape = shape(tx).await?;
    load(tx, shape, space, &needs, &mut rows).await?;
    Ok(rows)
}

impl PgStore {
    pub(crate) async fn page_of(
        &self,
        space: NamespaceId,
        table: Table,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<Row>, StoreError> {
        const OPERATION: &str = "read rows of a space";
        let statement = page_statement(table).ok_or(no_table(OPERATION))?;
        let mut tx = self.read(OPERATION).await?;
        let found = query(statement)
            .bind(space.0)
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&mut *tx)
            .await
            .doing(OPERATION)?;
        found.iter().map(|row| table_row(table, row)).collect()
    }

    pub(crate) async fn row_of(&self, space: NamespaceId, key: RowKey) -> Result<Option<Row>, StoreError> {
        let mut tx = self.write("read a row of a space").await?;
        Ok(load_one(&mut tx, space, key).await?.get(key).cloned())
    }

    pub(crate) async fn put_whole(&self, space: NamespaceId, rows: &[Row]) -> Result<(), StoreError> {
        const OPERATION: &str = "write rows of a space";
        if rows.iter().any(|row| !row.table.is_of_space()) {
            return Err(no_table(OPERATION));
        }
        let whole: Vec<Image> = rows.iter().cloned().map(Image::of_new).collect();
        let mut tx = self.write(OPERATION).await?;
        images(&mut tx, space, &whole).await?;
        tx.commit().await.doing(OPERATION)
    }

    pub(crate) async fn change_cells(
        &self,
        space: NamespaceId,
        key: RowKey,
        cells: &[(Column, Value)],
    ) -> Result<Option<Row>, StoreError> {
        const OPERATION: &str = "change a row of a space";
        if !key.table.is_of_space() {
            return Err(no_table(OPERATION));
        }
        let mut tx = self.write(OPERATION).await?;
        let mut rows = load_one(&mut tx, space, key).await?;
        let mut editor = rows.edit();
        for (column, value) in cells {
            if editor.set(key, *column, value.clone()).is_err() {
                return Ok(None);
            }
        }
        editor.finish();
        images(&mut tx, space, &rows.images()).await?;
        tx.commit().await.doing(OPERATION)?;
        Ok(rows.get(key).cloned())
    }

    pub(crate) async fn remove_of(&self, space: NamespaceId, table: Table, ids: &[Uuid]) -> Result<u32, StoreError> {
        const OPERATION: &str = "take rows out of a space";
        let statement = delete_statement(table).filter(|_| table.is_of_space()).ok_or(no_table(OPERATION))?;
        let mut tx = self.write(OPERATION).await?;
        let removed = query(statement).bind(space.0).bind(ids.to_vec()).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(removed.rows_affected()).unwrap_or(u32::MAX))
    }

    pub(crate) async fn count_recalls(&self, space: NamespaceId, facts: &[Uuid]) -> Result<u32, StoreError> {
        const OPERATION: &str = "count recalls";
        let mut tx = self.write(OPERATION).await?;
        let recalled =
            query(sql!("facts/recall")).bind(space.0).bind(facts.to_vec()).execute(&mut *tx).await.doing(OPERATION)?;
        tx.commit().await.doing(OPERATION)?;
        Ok(u32::try_from(recalled.rows_affected()).unwrap_or(u32::MAX))
    }

    pub(crate) async fn take_out(&self, space: NamespaceId, fact: Uuid) -> Result<Forgotten, StoreError> {
        const OPERATION: &str = "forget a fact";
        let mut tx = self.write(OPERATION).await?;
        // The lease first, as everybody does: a group that is being carried out is waited for, and its records are found.
        crate::leases::lock(&mut tx, Realm::Space, space).await?;
        let abandoned = abandon_waiting(&mut tx, space).await?;
        let gone = query(sql!("facts/delete")).bind(space.0).bind(vec![fact]).execute(&mut *tx).await;
        let gone = gone.doing(OPERATION)?;
        query(sql!("records/delete_of_fact"))
            .bind(space.0)
            .bind(fact.to_string())
            .execute(&mut *tx)
            .await
            .doing(OPERATION)?;
        let undo_records = take_out_of_undo(&mut tx, RowKey { table: Table::Facts, id: fact }).await?;
        let copies = [
            sql!("jobs/clear_of_space"),
            sql!("job_answers/clear_of_space"),
            sql!("op_texts/delete_of_space"),
            sql!("mind_answers/delete_of_space"),
        ];
        for statement in copies {
            query(statement).bind(space.0).execute(&mut *tx).await.doing(OPERATION)?;
        }
        tx.commit().await.doing(OPERATION)?;
        Ok(Forgotten { was_there: gone.rows_affected() > 0, abandoned, undo_records })
    }
}

async fn abandon_waiting(tx: &mut Tx, space: NamespaceId) -> Result<Vec<RunId>, StoreError> {
    let rows = query(sql!("runs/awaiting_client"))
        .bind(space.0)
        .fetch_all(&mut **tx)
        .await
        .doing("look for runs that wait")?;
    let mut abandoned = Vec::with_capacity(rows.len());
    for row in &rows {
        let run = RunId(get(row, "run_id")?);
        let record = need_run(tx, run).await?;
        close_in(tx, &record, RunState::Abandoned, &Closing::default()).await?;
        abandoned.push(run);
    }
    Ok(abandoned)
}

async fn take_out_of_undo(tx: &mut Tx, key: RowKey) -> Result<u32, StoreError> {
    const OPERATION: &str = "take a row out of undo records";
    let rows =
        query(sql!("undo/of_row")).bind(key.table.as_str()).bind(key.id).fetch_all(&mut **tx).await.doing(OPERATION)?;
    for row in &rows {
        let record = undo_record(row)?.without(key);
        query(sql!("undo/replace"))
            .bind(get::<Uuid>(row, "op_id")?)
            .bind(spell_json(&record))
            .execute(&mut **tx)
            .await
            .doing(OPERATION)?;
    }
    Ok(u32::try_from(rows.len()).unwrap_or(u32::MAX))
}
