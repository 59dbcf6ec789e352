//! Names joined to ops, for commands that show a plan to whoever may open the store.

use std::collections::BTreeMap;

use dream_core::redact::{RedactText, Redaction};
use dream_core::report::table::Table;
use dream_core::report::{EntityName, Lens};
use dream_ports::Store;
use uuid::Uuid;

use crate::exit::Fault;
use crate::term;

/// Names and types of entities.
pub(crate) struct Names {
    names: BTreeMap<Uuid, (String, String)>,
    redaction: Redaction,
}

impl Names {
    /// Looks names up. Whoever may open the store may see them.
    pub(crate) async fn of(store: &dyn Store, mut ids: Vec<Uuid>) -> Result<Self, Fault> {
        ids.sort_unstable();
        ids.dedup();
        let found = store.names(&ids).await?;
        let names = found.into_iter().map(|(id, name, entity_type)| (id, (name, entity_type))).collect();
        Ok(Self { names, redaction: Redaction::new(RedactText::None) })
    }

    /// Shows what `draw` draws with these names.
    pub(crate) fn show<T>(&self, draw: impl FnOnce(&Lens<'_>) -> T) -> T {
        let find = |id: Uuid| self.names.get(&id).map(|(name, entity_type)| EntityName { name, entity_type });
        draw(&Lens::new(&self.redaction, &find))
    }
}

/// Prints a table of the core.
pub(crate) fn print(table: &Table) {
    term::table(&table.headers, &table.rows);
}
