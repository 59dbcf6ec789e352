//! Rows of a space, read and written one by one or page by page.

use dream_core::change::{Column, Row, RowKey, Table, Value};
use dream_core::id::NamespaceId;
use dream_core::rows::{Image, Needs, Rows};
use dream_ports::StoreError;
use uuid::Uuid;

use crate::encode::table_row;
use crate::error::ResultExt;
use crate::load::load;
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
pub(crate) async fn load_one(tx: &mut Tx, space: NamespaceId, key: RowKey) -> Result<Rows, StoreError> {
    let mut needs = Needs::default();
    needs.rows.insert(key);
    let mut rows = Rows::default();
    let shape = shape(tx).await?;
    load(tx, shape, space, &needs, &mut rows).await?;
    Ok(rows)
}

/// Rows of a table of a space, by id, behind `after`.
pub(crate) async fn page_in(
    tx: &mut Tx,
    space: NamespaceId,
    table: Table,
    after: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Row>, StoreError> {
    const OPERATION: &str = "read rows of a space";
    let statement = page_statement(table).ok_or(no_table(OPERATION))?;
    let page = query(statement).bind(space.0).bind(after).bind(i64::from(limit));
    let found = page.fetch_all(&mut **tx).await.doing(OPERATION)?;
    found.iter().map(|row| table_row(table, row)).collect()
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
        let mut tx = self.read(OPERATION).await?;
        page_in(&mut tx, space, table, after, limit).await
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
}
