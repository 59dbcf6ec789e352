//! The lines, as they are written. JSON objects inside of a line are kept as text, so that numbers keep their spelling.

use dream_core::change::{Cell, Column, Row, Table, Value};
use dream_core::clock::Moment;
use dream_ports::content::ChunkView;
use dream_ports::transfer::NewChunk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

/// Characters of a name, as Khora's tables bound it.
const NAME_CHARACTERS_MAX: usize = 512;

/// Characters of a type, as Khora's tables bound it.
const TYPE_CHARACTERS_MAX: usize = 64;

/// Characters of a model's name, as Khora's tables bound it.
const MODEL_CHARACTERS_MAX: usize = 128;

/// What a line is.
#[derive(Debug, Deserialize)]
pub(crate) struct Kind {
    pub(crate) kind: String,
}

/// An entity.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "entity")]
pub(crate) struct EntityLine {
    /// `entity`.
    pub(crate) kind: String,
    /// Its id.
    pub(crate) id: Uuid,
    /// Its name.
    pub(crate) name: String,
    /// Its type.
    #[serde(default = "entity_type_default")]
    pub(crate) entity_type: String,
    /// Free text.
    #[serde(default)]
    pub(crate) description: String,
    /// A JSON object.
    #[serde(default = "empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) attributes: Box<RawValue>,
    /// Documents it was extracted from.
    #[serde(default)]
    pub(crate) source_document_ids: Vec<Uuid>,
    /// Chunks it was extracted from.
    #[serde(default)]
    pub(crate) source_chunk_ids: Vec<Uuid>,
    /// How often it was met.
    #[serde(default = "one")]
    pub(crate) mention_count: i64,
    /// 0 to 1.
    #[serde(default = "certain")]
    pub(crate) confidence: f64,
    /// Its vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) embedding: Option<Vec<f32>>,
    /// The model that made the vector.
    #[serde(default)]
    pub(crate) embedding_model: String,
    /// When it was retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) valid_until: Option<Moment>,
    /// A JSON object.
    #[serde(default = "empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) metadata: Box<RawValue>,
    /// When it was first written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) created_at: Option<Moment>,
    /// When it was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) updated_at: Option<Moment>,
}

/// A relationship.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "relationship")]
pub(crate) struct RelationshipLine {
    /// `relationship`.
    pub(crate) kind: String,
    /// Its id.
    pub(crate) id: Uuid,
    /// Where it starts.
    pub(crate) source_entity_id: Uuid,
    /// Where it ends.
    pub(crate) target_entity_id: Uuid,
    /// Its type.
    #[serde(default = "relationship_type_default")]
    pub(crate) relationship_type: String,
    /// Free text.
    #[serde(default)]
    pub(crate) description: String,
    /// A JSON object.
    #[serde(default = "empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) properties: Box<RawValue>,
    /// Documents it was extracted from.
    #[serde(default)]
    pub(crate) source_document_ids: Vec<Uuid>,
    /// Chunks it was extracted from.
    #[serde(default)]
    pub(crate) source_chunk_ids: Vec<Uuid>,
    /// 0 to 1.
    #[serde(default = "certain")]
    pub(crate) confidence: f64,
    /// Its strength.
    #[serde(default = "certain")]
    pub(crate) weight: f64,
    /// Start of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) valid_from: Option<Moment>,
    /// End of validity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) valid_until: Option<Moment>,
    /// When it was pruned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) valid_to: Option<Moment>,
    /// When a dream invalidated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) invalidated_at: Option<Moment>,
    /// The op that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invalidated_by: Option<Uuid>,
    /// A JSON object.
    #[serde(default = "empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(crate) metadata: Box<RawValue>,
    /// When it was first written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) created_at: Option<Moment>,
    /// When it was last written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) updated_at: Option<Moment>,
}

/// A chunk.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "chunk")]
pub(crate) struct ChunkLine {
    /// `chunk`.
    pub(crate) kind: String,
    /// Its id.
    pub(crate) id: Uuid,
    /// Its document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_id: Option<Uuid>,
    /// Its text.
    pub(crate) content: String,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) created_at: Option<Moment>,
    /// When it was last recalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) last_accessed_at: Option<Moment>,
}

/// One line, for the published schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a schema is made of it, never a value")]
pub(crate) enum Line {
    Entity(EntityLine),
    Relationship(RelationshipLine),
    Chunk(ChunkLine),
}

fn entity_type_default() -> String {
    "CONCEPT".to_owned()
}

fn relationship_type_default() -> String {
    "RELATES_TO".to_owned()
}

fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| unreachable!("{{}} is JSON"))
}

const fn one() -> i64 {
    1
}

const fn certain() -> f64 {
    1.0
}

/// Why a line that is well-formed cannot be used: the field, and what is expected of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {expected}")]
pub(crate) struct Unusable {
    field: &'static str,
    expected: &'static str,
}

/// Checks a text against what every store can hold.
fn check_text(field: &'static str, text: &str, characters_max: usize) -> Result<(), Unusable> {
    if text.contains('\0') {
        return Err(Unusable { field, expected: "no NUL character can be stored" });
    }
    if text.chars().count() > characters_max {
        return Err(Unusable { field, expected: "longer than the store's column" });
    }
    Ok(())
}

fn check_object(field: &'static str, json: &RawValue) -> Result<(), Unusable> {
    if !json.get().trim_start().starts_with('{') {
        return Err(Unusable { field, expected: "expected an object" });
    }
    if json.get().contains("\\u0000") {
        return Err(Unusable { field, expected: "no NUL character can be stored" });
    }
    Ok(())
}

fn check_ratio(field: &'static str, number: f64) -> Result<(), Unusable> {
    if (0.0..=1.0).contains(&number) {
        Ok(())
    } else {
        Err(Unusable { field, expected: "expected a number from 0 to 1" })
    }
}

impl EntityLine {
    /// The row, with `now` where the line names no moment.
    pub(crate) fn row(self, now: Moment) -> Result<Row, Unusable> {
        if self.name.trim().is_empty() {
            return Err(Unusable { field: "name", expected: "expected a name" });
        }
        check_text("name", &self.name, NAME_CHARACTERS_MAX)?;
        check_text("entity_type", &self.entity_type, TYPE_CHARACTERS_MAX)?;
        check_text("embedding_model", &self.embedding_model, MODEL_CHARACTERS_MAX)?;
        check_text("description", &self.description, usize::MAX)?;
        check_object("attributes", &self.attributes)?;
        check_object("metadata", &self.metadata)?;
        check_ratio("confidence", self.confidence)?;
        if i32::try_from(self.mention_count).is_err() || self.mention_count < 0 {
            return Err(Unusable { field: "mention_count", expected: "expected a count" });
        }
        if self.embedding.as_ref().is_some_and(Vec::is_empty) {
            return Err(Unusable { field: "embedding", expected: "expected numbers" });
        }
        let created_at = self.created_at.unwrap_or(now);
        Ok(Row::empty(Table::Entities, self.id)
            .with(Column::Name, Value::Text(self.name))
            .with(Column::EntityType, Value::Text(self.entity_type))
            .with(Column::Description, Value::Text(self.description))
            .with(Column::Attributes, Value::Json(self.attributes.get().to_owned()))
            .with(Column::SourceDocumentIds, Value::Ids(self.source_document_ids))
            .with(Column::SourceChunkIds, Value::Ids(self.source_chunk_ids))
            .with(Column::MentionCount, Value::Int(self.mention_count))
            .with(Column::Embedding, self.embedding.map_or(Value::Null, Value::Vector))
            .with(Column::EmbeddingModel, Value::Text(self.embedding_model))
            .with(Column::ValidUntil, self.valid_until.map_or(Value::Null, Value::Time))
            .with(Column::Confidence, Value::Float(self.confidence))
            .with(Column::Metadata, Value::Json(self.metadata.get().to_owned()))
            .with(Column::CreatedAt, Value::Time(created_at))
            .with(Column::UpdatedAt, Value::Time(self.updated_at.unwrap_or(created_at))))
    }

    /// The line of a row.
    pub(crate) fn of(row: &Row, with_embedding: bool) -> Self {
        let text = |column| row.get(column).text().unwrap_or_default().to_owned();
        Self {
            kind: "entity".to_owned(),
            id: row.id,
            name: text(Column::Name),
            entity_type: non_empty(text(Column::EntityType), entity_type_default),
            description: text(Column::Description),
            attributes: raw(row, Column::Attributes),
            source_document_ids: row.get(Column::SourceDocumentIds).ids().to_vec(),
            source_chunk_ids: row.get(Column::SourceChunkIds).ids().to_vec(),
            mention_count: row.get(Column::MentionCount).int().unwrap_or(1),
            confidence: row.get(Column::Confidence).float().unwrap_or(1.0),
            embedding: row.get(Column::Embedding).vector().filter(|_| with_embedding).map(<[f32]>::to_vec),
            embedding_model: text(Column::EmbeddingModel),
            valid_until: row.get(Column::ValidUntil).time(),
            metadata: raw(row, Column::Metadata),
            created_at: row.get(Column::CreatedAt).time(),
            updated_at: row.get(Column::UpdatedAt).time(),
        }
    }
}

impl RelationshipLine {
    /// The row, with `now` where the line names no moment.
    pub(crate) fn row(self, now: Moment) -> Result<Row, Unusable> {
        check_text("relationship_type", &self.relationship_type, TYPE_CHARACTERS_MAX)?;
        check_text("description", &self.description, usize::MAX)?;
        check_object("properties", &self.properties)?;
        check_object("metadata", &self.metadata)?;
        check_ratio("confidence", self.confidence)?;
        let time = |moment: Option<Moment>| Cell::from(moment.map_or(Value::Null, Value::Time));
        let created_at = self.created_at.unwrap_or(now);
        let mut row = Row::empty(Table::Relationships, self.id)
            .with(Column::SourceEntityId, Value::Id(self.source_entity_id))
            .with(Column::TargetEntityId, Value::Id(self.target_entity_id))
            .with(Column::RelationshipType, Value::Text(self.relationship_type))
            .with(Column::Description, Value::Text(self.description))
            .with(Column::Properties, Value::Json(self.properties.get().to_owned()))
            .with(Column::SourceDocumentIds, Value::Ids(self.source_document_ids))
            .with(Column::SourceChunkIds, Value::Ids(self.source_chunk_ids))
            .with(Column::Confidence, Value::Float(self.confidence))
            .with(Column::Weight, Value::Float(self.weight))
            .with(Column::Metadata, Value::Json(self.metadata.get().to_owned()))
            .with(Column::InvalidatedBy, self.invalidated_by.map_or(Value::Null, Value::Id))
            .with(Column::CreatedAt, Value::Time(created_at))
            .with(Column::UpdatedAt, Value::Time(self.updated_at.unwrap_or(created_at)));
        row.put(Column::ValidFrom, time(self.valid_from));
        row.put(Column::ValidUntil, time(self.valid_until));
        row.put(Column::ValidTo, time(self.valid_to));
        row.put(Column::InvalidatedAt, time(self.invalidated_at));
        Ok(row)
    }

    /// The line of a row.
    pub(crate) fn of(row: &Row) -> Self {
        let text = |column| row.get(column).text().unwrap_or_default().to_owned();
        let time = |column| row.get(column).time();
        Self {
            kind: "relationship".to_owned(),
            id: row.id,
            source_entity_id: row.get(Column::SourceEntityId).id().unwrap_or_default(),
            target_entity_id: row.get(Column::TargetEntityId).id().unwrap_or_default(),
            relationship_type: non_empty(text(Column::RelationshipType), relationship_type_default),
            description: text(Column::Description),
            properties: raw(row, Column::Properties),
            source_document_ids: row.get(Column::SourceDocumentIds).ids().to_vec(),
            source_chunk_ids: row.get(Column::SourceChunkIds).ids().to_vec(),
            confidence: row.get(Column::Confidence).float().unwrap_or(1.0),
            weight: row.get(Column::Weight).float().unwrap_or(1.0),
            valid_from: time(Column::ValidFrom),
            valid_until: time(Column::ValidUntil),
            valid_to: time(Column::ValidTo),
            invalidated_at: time(Column::InvalidatedAt),
            invalidated_by: row.get(Column::InvalidatedBy).id(),
            metadata: raw(row, Column::Metadata),
            created_at: time(Column::CreatedAt),
            updated_at: time(Column::UpdatedAt),
        }
    }
}

impl ChunkLine {
    /// The chunk, with `now` where the line names no moment.
    pub(crate) fn chunk(self, now: Moment) -> Result<NewChunk, Unusable> {
        check_text("content", &self.content, usize::MAX)?;
        Ok(NewChunk {
            id: self.id,
            document: self.document_id,
            content: self.content,
            created_at: self.created_at.unwrap_or(now),
            last_accessed_at: self.last_accessed_at,
        })
    }

    /// The line of a chunk.
    pub(crate) fn of(chunk: ChunkView<'_>) -> Self {
        Self {
            kind: "chunk".to_owned(),
            id: chunk.id,
            document_id: chunk.document,
            content: chunk.content.to_owned(),
            created_at: Some(chunk.created_at),
            last_accessed_at: chunk.last_accessed_at,
        }
    }
}

fn non_empty(text: String, default: fn() -> String) -> String {
    if text.is_empty() { default() } else { text }
}

fn raw(row: &Row, column: Column) -> Box<RawValue> {
    let text = row.get(column).text().unwrap_or("{}").to_owned();
    RawValue::from_string(text).unwrap_or_else(|_| empty_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published schema is made from the types above; run with `DREAM_BLESS=1` to write it anew.
    #[test]
    fn the_published_schema_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/formats/import.schema.json");
        let mut schema = serde_json::to_value(schemars::schema_for!(Line)).unwrap();
        // Whether maps keep their order hangs on what else is built into the program.
        schema.sort_all_objects();
        let schema = schemars::Schema::try_from(schema).unwrap();
        let fresh = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("DREAM_BLESS").is_some() {
            std::fs::write(path, &fresh).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), fresh);
    }

    #[test]
    fn an_entity_comes_back_from_its_line_with_its_numbers_as_they_were_spelled() {
        let json =
            r#"{"kind":"entity","id":"48140776-f36b-40e5-8e98-a60e4a594578","name":"A","attributes":{"n":1.10}}"#;
        let line: EntityLine = serde_json::from_str(json).unwrap();
        let row = line.row(Moment::from_micros(0)).unwrap();
        assert_eq!(row.get(Column::Attributes).text(), Some(r#"{"n":1.10}"#));
        let again = serde_json::to_string(&EntityLine::of(&row, true)).unwrap();
        let row_again = serde_json::from_str::<EntityLine>(&again).unwrap().row(Moment::from_micros(9)).unwrap();
        assert_eq!(row_again, row);
    }

    #[test]
    fn what_no_store_can_hold_is_refused_by_the_name_of_its_field() {
        let entity = |field: &str, value: &str| {
            let json = format!(
                r#"{{"kind":"entity","id":"48140776-f36b-40e5-8e98-a60e4a594578","name":"A","{field}":{value}}}"#
            );
            serde_json::from_str::<EntityLine>(&json).unwrap().row(Moment::from_micros(0)).unwrap_err().field
        };
        assert_eq!(entity("description", r#""a\u0000b""#), "description");
        assert_eq!(entity("attributes", "[1]"), "attributes");
        assert_eq!(entity("attributes", r#"{"a":"\u0000"}"#), "attributes");
        assert_eq!(entity("confidence", "2"), "confidence");
        assert_eq!(entity("mention_count", "-1"), "mention_count");
        assert_eq!(entity("entity_type", &format!("\"{}\"", "x".repeat(65))), "entity_type");
    }
}
