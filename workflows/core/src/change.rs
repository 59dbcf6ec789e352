//! What an op does to the stores, as data: a list of row changes.
//!
//! A change names a table, a row and the columns touched, each with the cell before and the value after.
//! Apply, undo, staleness, diff, redaction and the outbox are written once, over this.
//!
//! **Invariant:** there is no table here of which nothing may ever change (documents, chunks): an effect that cannot be
//! spelled needs no guard. A new table is a new [`Table`] with its columns, and a loader and a writer in each store.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Moment;
use crate::json;

macro_rules! named_variants {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name this has in stores, files and on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::change::UnknownName;
            fn from_str(text: &str) -> Result<Self, $crate::change::UnknownName> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::change::UnknownName { expected: &[$($text),+] }),
                }
            }
        }
    };
}
pub(crate) use named_variants;

mod table;

pub use table::{Column, Table, ValueKind};

/// A name that is none of the names it could be. It carries what was allowed, never what was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown name; one of {expected:?} is meant")]
pub struct UnknownName {
    /// The names that exist.
    pub expected: &'static [&'static str],
}

/// The value of one cell.
///
/// JSON stays the text it was read as: a number that passes through a float does not come back the same.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// SQL null.
    #[default]
    Null,
    /// Truth value.
    Bool(bool),
    /// Integer.
    Int(i64),
    /// Double precision number.
    Float(f64),
    /// Text.
    Text(String),
    /// Point in time.
    Time(Moment),
    /// One id.
    Id(Uuid),
    /// A list of ids, in the order kept by the store.
    Ids(Vec<Uuid>),
    /// A JSON document, as text.
    Json(String),
    /// A vector of 32-bit floats.
    Vector(Vec<f32>),
}

impl Value {
    /// Whether both are the same content; JSON documents are compared by content, not by spelling.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Json(one), Self::Json(two)) => one == two || json::same(one, two),
            (Self::Float(one), Self::Float(two)) => one.to_bits() == two.to_bits(),
            (Self::Vector(one), Self::Vector(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            _ => self == other,
        }
    }

    /// The truth value, if it is one.
    pub const fn truth(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The integer, if it is one.
    pub const fn int(&self) -> Option<i64> {
        if let Self::Int(number) = self { Some(*number) } else { None }
    }

    /// The number, if it is one.
    pub const fn float(&self) -> Option<f64> {
        if let Self::Float(number) = self { Some(*number) } else { None }
    }

    /// The text, if it is text or JSON.
    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) | Self::Json(text) = self { Some(text) } else { None }
    }

    /// The moment, if it is one.
    pub const fn time(&self) -> Option<Moment> {
        if let Self::Time(moment) = self { Some(*moment) } else { None }
    }

    /// The id, if it is one.
    pub const fn id(&self) -> Option<Uuid> {
        if let Self::Id(id) = self { Some(*id) } else { None }
    }

    /// The ids, none for null.
    pub fn ids(&self) -> &[Uuid] {
        if let Self::Ids(ids) = self { ids } else { &[] }
    }

    /// The vector, if it is one.
    pub fn vector(&self) -> Option<&[f32]> {
        if let Self::Vector(vector) = self { Some(vector) } else { None }
    }

    /// Whether this is SQL null.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// A value together with the spelling the store used for it, where that differs from the one this program would use.
///
/// Khora's embedded file spells moments and id lists in several ways; undo gives back the very bytes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Cell {
    /// What the cell means.
    pub value: Value,
    /// The text the store held, if another than this program's own spelling.
    pub spelling: Option<Box<str>>,
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self { value, spelling: None }
    }
}

/// A row of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The table.
    pub table: Table,
    /// The row's id.
    pub id: Uuid,
    cells: Vec<Cell>,
}

impl Row {
    /// A row whose cells are all null.
    pub fn empty(table: Table, id: Uuid) -> Self {
        Self { table, id, cells: vec![Cell::default(); table.columns().len()] }
    }

    /// The name of the row.
    pub const fn key(&self) -> RowKey {
        RowKey { table: self.table, id: self.id }
    }

    /// The value in `column`; null for a column the table lacks.
    pub fn get(&self, column: Column) -> &Value {
        const NULL: &Value = &Value::Null;
        self.cell(column).map_or(NULL, |cell| &cell.value)
    }

    /// The cell in `column`.
    pub fn cell(&self, column: Column) -> Option<&Cell> {
        self.table.position(column).map(|position| &self.cells[position])
    }

    /// Whether the row's validity has not ended, and nobody has invalidated it.
    pub fn is_live(&self, now: Moment) -> bool {
        let ended = |column| self.get(column).time().is_some_and(|end| end <= now);
        !ended(Column::ValidUntil) && !ended(Column::ValidTo) && self.get(Column::InvalidatedAt).is_null()
    }

    /// Puts a cell into `column`; a column the table lacks is left out.
    pub fn put(&mut self, column: Column, cell: impl Into<Cell>) {
        if let Some(position) = self.table.position(column) {
            self.cells[position] = cell.into();
        }
    }

    /// The same row with a value in `column`.
    #[must_use]
    pub fn with(mut self, column: Column, value: Value) -> Self {
        self.put(column, value);
        self
    }
}

/// The name of a row: its table and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RowKey {
    /// The table.
    pub table: Table,
    /// The row's id.
    pub id: Uuid,
}

impl RowKey {
    /// An entity's name.
    pub const fn entity(id: Uuid) -> Self {
        Self { table: Table::Entities, id }
    }

    /// A relationship's name.
    pub const fn relationship(id: Uuid) -> Self {
        Self { table: Table::Relationships, id }
    }
}

named_variants! {
    /// Whether the row itself comes or goes.
    pub enum Existence {
        /// It was there and stays.
        Kept = "kept",
        /// The op made it.
        Created = "created",
        /// The op removed it.
        Removed = "removed",
    }
}

/// What one op did to one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowChange {
    /// Which row.
    pub key: RowKey,
    /// Whether the row itself came or went.
    pub existence: Existence,
    /// The columns touched, in column order; of a row that came or went: all that are not null.
    pub columns: Vec<ColumnChange>,
}

/// What one op did to one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnChange {
    /// Which column.
    pub column: Column,
    /// The cell as it was found.
    pub before: Cell,
    /// The value it was given.
    pub after: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_every_table_has_its_own_bit() {
        for table in Table::ALL {
            let bits: Vec<u32> = table.columns().iter().map(|column| table.bit(*column)).collect();
            assert!(bits.iter().all(|bit| bit.is_power_of_two()));
            assert_eq!(bits.iter().fold(0, |all, bit| all | bit).count_ones() as usize, bits.len());
        }
    }
}
