//! Records as a table with a line of headings.

use std::path::{Path, PathBuf};

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use dream_core::algo::union_find::UnionFind;
use dream_core::change::{Column, Row, Table as RowTable, Value};
use dream_core::failure::Code;
use uuid::Uuid;

use super::Set;
use crate::exit::Fault;

/// How a table is read: which column is what.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) name: String,
    pub(crate) entity_type: TypeFrom,
    pub(crate) id: Option<String>,
    pub(crate) attributes: Vec<String>,
    pub(crate) delimiter: u8,
}

/// Where a record's type comes from.
#[derive(Clone, Debug)]
pub(crate) enum TypeFrom {
    /// A column.
    Column(String),
    /// All have the same.
    Fixed(String),
}

/// Where the labels come from.
#[derive(Clone, Debug)]
pub(crate) enum Truth {
    /// A column of the table.
    Column(String),
    /// A second table of the same form, and a table of pairs: an id of the first, an id of the second.
    Pairs { also: PathBuf, pairs: PathBuf },
}

/// Reads a table, or two, with labels.
pub(crate) fn read(file: &Path, columns: &Columns, truth: &Truth) -> Result<Set, Fault> {
    let mut set = Set::default();
    match truth {
        Truth::Column(label) => read_into(&mut set, file, columns, Some(label))?,
        Truth::Pairs { also, pairs } => {
            read_into(&mut set, file, columns, None)?;
            read_into(&mut set, also, columns, None)?;
            label_by_pairs(&mut set, [file, also], pairs, columns.delimiter)?;
        }
    }
    Ok(set)
}

fn open(file: &Path, delimiter: u8) -> Result<Reader<std::fs::File>, Fault> {
    let mut builder = ReaderBuilder::new();
    // A row may be short or long; what counts is that the named columns are there.
    builder.delimiter(delimiter).flexible(true).trim(Trim::All);
    builder.from_path(file).map_err(|error| unreadable(file, &error))
}

/// What the reader of tables says quotes nothing of a table.
fn unreadable(file: &Path, error: &csv::Error) -> Fault {
    Fault::new(Code::File, format!("{} cannot be read: {error}", file.display()))
}

/// The id of the record that a table calls `id`.
fn record_id(file: &Path, id: &str) -> Uuid {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    id.parse().unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("dream/eval/1/{file}/{id}").as_bytes()))
}

fn read_into(set: &mut Set, file: &Path, columns: &Columns, label: Option<&str>) -> Result<(), Fault> {
    let mut reader = open(file, columns.delimiter)?;
    let headings = reader.headers().map_err(|error| unreadable(file, &error))?.clone();
    let place = |column: &str| find(&headings, file, column);
    let (name, id) = (place(&columns.name)?, columns.id.as_deref().map(place).transpose()?);
    let type_column = match &columns.entity_type {
        TypeFrom::Column(column) => Some(place(column)?),
        TypeFrom::Fixed(_) => None,
    };
    let attributes = columns.attributes.iter().map(|column| place(column)).collect::<Result<Vec<usize>, Fault>>()?;
    let label = label.map(place).transpose()?;
    for (number, record) in reader.records().enumerate() {
        let line = number as u64 + 2;
        let Ok(record) = record else {
            set.problems.add(line, "no row of this table".to_owned());
            continue;
        };
        let line = record.position().map_or(line, csv::Position::line);
        let entity_type = match (&columns.entity_type, type_column) {
            (TypeFrom::Fixed(entity_type), _) => entity_type,
            (TypeFrom::Column(_), column) => field(&record, column.unwrap_or_default()),
        };
        if field(&record, name).is_empty() || entity_type.is_empty() {
            set.problems.add(line, "a name and a type are expected".to_owned());
            continue;
        }
        let own_id = id.map_or_else(|| Uuid::from_u128(u128::from(line)), |id| record_id(file, field(&record, id)));
        let said = attributes.iter().map(|&column| (headings[column].to_owned(), field(&record, column).into()));
        let said: serde_json::Map<String, serde_json::Value> = said.collect();
        let row = Row::empty(RowTable::Entities, own_id)
            .with(Column::Name, Value::Text(field(&record, name).to_owned()))
            .with(Column::EntityType, Value::Text(entity_type.to_owned()))
            .with(Column::Attributes, Value::Json(serde_json::Value::Object(said).to_string()));
        let label = label.map(|column| field(&record, column).to_owned()).filter(|label| !label.is_empty());
        set.push(line, row, label);
    }
    Ok(())
}

fn find(headings: &StringRecord, file: &Path, column: &str) -> Result<usize, Fault> {
    headings.iter().position(|heading| heading == column).ok_or_else(|| {
        let message = format!("{} has no column {column}", file.display());
        Fault::new(Code::InvalidInput, message)
    })
}

/// A field; empty where the row is short. Where a table puts a space before a quote the reader takes the quotes for text.
fn field(record: &StringRecord, column: usize) -> &str {
    let text = record.get(column).unwrap_or_default();
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Labels the records of two tables: what a pair joins is one thing.
fn label_by_pairs(set: &mut Set, files: [&Path; 2], pairs: &Path, delimiter: u8) -> Result<(), Fault> {
    let mut things = UnionFind::new(u32::try_from(set.rows.len()).unwrap_or(u32::MAX));
    for (number, pair) in open(pairs, delimiter)?.records().enumerate() {
        let ends = pair.ok().and_then(|pair| {
            let end = |side: usize| {
                let place = *set.by_id.get(&record_id(files[side], field(&pair, side)))?;
                u32::try_from(place).ok()
            };
            end(0).zip(end(1))
        });
        let Some((one, other)) = ends else {
            let message = format!("{}, row {}: expected an id of each table", pairs.display(), number + 1);
            return Err(Fault::new(Code::InvalidInput, message));
        };
        things.join(one, other);
    }
    for (place, label) in (0..).zip(&mut set.labels) {
        *label = Some(things.root(place).to_string());
    }
    Ok(())
}
