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

/// A name that is none of the names it could be. It carries what was allowed, never what was said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown name; one of {expected:?} is meant")]
pub struct UnknownName {
    /// The names that exist.
    pub expected: &'static [&'static str],
}

named_variants! {
    /// A table of which rows may change.
    pub enum Table {
        /// Entities of a namespace.
        Entities = "entities",
        /// Relationships between them.
        Relationships = "relationships",
        /// Khora's temporal edges, which follow a merge.
        TemporalEdges = "temporal_edges",
        /// Our record of which name was absorbed by which entity; its row id is the absorbed entity's.
        Aliases = "aliases",
    }
}

named_variants! {
    /// A column of one of the tables. The same name means the same thing in each of them.
    pub enum Column {
        /// Display name.
        Name = "name",
        /// Declared or extracted type of an entity.
        EntityType = "entity_type",
        /// Type of a relationship.
        RelationshipType = "relationship_type",
        /// Free text.
        Description = "description",
        /// JSON object of an entity.
        Attributes = "attributes",
        /// JSON object of a relationship.
        Properties = "properties",
        /// Documents the row was extracted from.
        SourceDocumentIds = "source_document_ids",
        /// Chunks the row was extracted from.
        SourceChunkIds = "source_chunk_ids",
        /// How often ingestion met the entity.
        MentionCount = "mention_count",
        /// Vector of the name.
        Embedding = "embedding",
        /// Model that made the vector.
        EmbeddingModel = "embedding_model",
        /// Where an edge starts.
        SourceEntityId = "source_entity_id",
        /// Where an edge ends.
        TargetEntityId = "target_entity_id",
        /// Start of validity.
        ValidFrom = "valid_from",
        /// End of validity; on entities this is retirement.
        ValidUntil = "valid_until",
        /// When Khora pruned an edge.
        ValidTo = "valid_to",
        /// When a dream invalidated an edge.
        InvalidatedAt = "invalidated_at",
        /// The op that did.
        InvalidatedBy = "invalidated_by",
        /// Whether a temporal edge holds.
        IsValid = "is_valid",
        /// 0 to 1.
        Confidence = "confidence",
        /// Strength of an edge.
        Weight = "weight",
        /// JSON object; `aliases` of a survivor live here.
        Metadata = "metadata",
        /// When the row was first written.
        CreatedAt = "created_at",
        /// When the row was last written.
        UpdatedAt = "updated_at",
        /// The survivor an alias points at.
        CanonicalId = "canonical_id",
        /// Mentions of the absorbed entity that its survivor already counts.
        MentionCountSeen = "mention_count_seen",
        /// The op that absorbed it.
        AbsorbedBy = "absorbed_by",
    }
}

/// What kind of value a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// [`Value::Bool`].
    Bool,
    /// [`Value::Int`].
    Int,
    /// [`Value::Float`].
    Float,
    /// [`Value::Text`].
    Text,
    /// [`Value::Time`].
    Time,
    /// [`Value::Id`].
    Id,
    /// [`Value::Ids`].
    Ids,
    /// [`Value::Json`].
    Json,
    /// [`Value::Vector`].
    Vector,
}

impl Column {
    /// What kind of value it holds.
    pub const fn kind(self) -> ValueKind {
        match self {
            Self::Name | Self::EntityType | Self::RelationshipType | Self::Description | Self::EmbeddingModel => {
                ValueKind::Text
            }
            Self::Attributes | Self::Properties | Self::Metadata => ValueKind::Json,
            Self::SourceDocumentIds | Self::SourceChunkIds => ValueKind::Ids,
            Self::MentionCount | Self::MentionCountSeen => ValueKind::Int,
            Self::Confidence | Self::Weight => ValueKind::Float,
            Self::IsValid => ValueKind::Bool,
            Self::Embedding => ValueKind::Vector,
            Self::SourceEntityId
            | Self::TargetEntityId
            | Self::InvalidatedBy
            | Self::CanonicalId
            | Self::AbsorbedBy => ValueKind::Id,
            Self::ValidFrom
            | Self::ValidUntil
            | Self::ValidTo
            | Self::InvalidatedAt
            | Self::CreatedAt
            | Self::UpdatedAt => ValueKind::Time,
        }
    }
}

impl Table {
    /// The columns this program knows of the table, in the order in which a [`Row`] keeps them.
    pub const fn columns(self) -> &'static [Column] {
        use Column as C;
        match self {
            Self::Entities => &[
                C::Name,
                C::EntityType,
                C::Description,
                C::Attributes,
                C::SourceDocumentIds,
                C::SourceChunkIds,
                C::MentionCount,
                C::Embedding,
                C::EmbeddingModel,
                C::ValidUntil,
                C::Confidence,
                C::Metadata,
                C::CreatedAt,
                C::UpdatedAt,
            ],
            Self::Relationships => &[
                C::SourceEntityId,
                C::TargetEntityId,
                C::RelationshipType,
                C::Description,
                C::Properties,
                C::SourceDocumentIds,
                C::SourceChunkIds,
                C::ValidFrom,
                C::ValidUntil,
                C::ValidTo,
                C::InvalidatedAt,
                C::InvalidatedBy,
                C::Confidence,
                C::Weight,
                C::Metadata,
                C::CreatedAt,
                C::UpdatedAt,
            ],
            Self::TemporalEdges => &[C::SourceEntityId, C::TargetEntityId, C::RelationshipType, C::IsValid],
            Self::Aliases => &[C::Name, C::EntityType, C::CanonicalId, C::MentionCountSeen, C::AbsorbedBy],
        }
    }

    /// Where `column` stands in a row of this table.
    pub fn position(self, column: Column) -> Option<usize> {
        self.columns().iter().position(|known| *known == column)
    }

    /// The bit that marks `column` as touched in a write to this table.
    pub fn bit(self, column: Column) -> u32 {
        self.position(column).map_or(0, |position| 1 << position)
    }
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
