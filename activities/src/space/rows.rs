//! Reading a whole space, page by page.
//!
//! What is read over several pages may change in between; that is what the premises of ops are for.

use dream_core::change::{Row, Table};
use dream_core::failure::{Code, Failure};
use dream_core::id::NamespaceId;
use dream_core::realm::space::fact::Fact;
use dream_core::realm::space::row::{self, UnreadableRow};
use dream_ports::Store;

use crate::failure::ResultExt;

/// Rows on one page.
const ROWS_PER_PAGE: u32 = 1_000;

/// Most rows of one table that a dream looks at. A space of more facts than this is no memory of one person any more; the
/// oldest ids are looked at first, and the run says nothing of the rest.
const ROWS_MAX: usize = 100_000;

/// All rows of a table of a space, by id.
pub async fn all(store: &dyn Store, space: NamespaceId, table: Table) -> Result<Vec<Row>, Failure> {
    let mut rows: Vec<Row> = Vec::new();
    while rows.len() < ROWS_MAX {
        let after = rows.last().map(|row| row.id);
        let page = store.space_rows(space, table, after, ROWS_PER_PAGE).await.or_fail()?;
        let is_last = page.len() < ROWS_PER_PAGE as usize;
        rows.extend(page);
        if is_last {
            break;
        }
    }
    Ok(rows)
}

/// The facts of rows.
pub fn facts(rows: &[Row]) -> Result<Vec<Fact>, Failure> {
    rows.iter().map(row::fact).collect::<Result<_, _>>().map_err(|error| unreadable(&error))
}

/// A row of ours in which something cannot be read.
pub fn unreadable(error: &UnreadableRow) -> Failure {
    Failure::new(Code::StoreUnreadable, error.to_string())
}
