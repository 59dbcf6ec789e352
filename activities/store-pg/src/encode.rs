//! Between cells and what PostgreSQL holds.
//!
//! Ids, lists of ids, moments and vectors travel in binary. JSON travels as text, in both directions, so that a number keeps
//! its digits. Types of extensions are never named to the driver, which would look them up in the middle of a transaction: a
//! vector is read through `vector_send` and bound as a stretch of an array of floats.

use dream_core::change::{Cell, Column, Row, Table, Value, ValueKind};
use dream_core::clock::Moment;
use dream_ports::StoreError;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgRow, PgTypeInfo, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Row as _, Type, ValueRef as _};
use uuid::Uuid;

/// Microseconds from 1970 to 2000, where PostgreSQL's clock begins.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// Microseconds since 1970 that a [`Moment`] can spell: the years 1 to 9999. PostgreSQL's go further, to infinity.
const SPELLABLE: std::ops::Range<i64> = -62_135_596_800_000_000..253_402_207_200_000_000;

/// A moment on its way to or from the server, by the server's own clock: microseconds since 2000, with infinity at each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timestamptz(i64);

impl From<Moment> for Timestamptz {
    fn from(moment: Moment) -> Self {
        Self(moment.micros().saturating_sub(EPOCH_MICROS))
    }
}

impl From<Timestamptz> for Moment {
    fn from(time: Timestamptz) -> Self {
        Self::from_micros(time.0.saturating_add(EPOCH_MICROS))
    }
}

impl Type<Postgres> for Timestamptz {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1184))
    }
}

impl PgHasArrayType for Timestamptz {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(1185))
    }
}

impl Encode<'_, Postgres> for Timestamptz {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.0, buffer)
    }
}

impl Decode<'_, Postgres> for Timestamptz {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        let bytes: [u8; 8] = value.as_bytes()?.try_into()?;
        Ok(Self(i64::from_be_bytes(bytes)))
    }
}

/// A moment as a cell. What a [`Moment`] cannot spell is kept as the server's number, so that undo gives it back.
fn time_cell(time: Timestamptz) -> Cell {
    let moment = Moment::from(time);
    let spelling = (!SPELLABLE.contains(&moment.micros())).then(|| format!("pg:{}", time.0).into());
    Cell { value: Value::Time(moment), spelling }
}

/// The moment a cell stands for, on its way to the server.
pub(crate) fn time_of(cell: &Cell) -> Option<Timestamptz> {
    let number = cell.spelling.as_deref().and_then(|spelling| spelling.strip_prefix("pg:")?.parse().ok());
    number.map(Timestamptz).or_else(|| cell.value.time().map(Timestamptz::from))
}

/// A list of ids as the text of an array. Lists of lists must be rectangular, so each of several lists is bound as text.
pub(crate) fn ids_text(ids: &[Uuid]) -> String {
    const LENGTH: usize = uuid::fmt::Hyphenated::LENGTH;
    let mut text = String::with_capacity(2 + ids.len() * (LENGTH + 1));
    text.push('{');
    for (place, id) in ids.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(id.hyphenated().encode_lower(&mut [0; LENGTH]));
    }
    text.push('}');
    text
}

/// Reads a list of ids from the binary form of `uuid[]`; false if it is none.
pub(crate) fn read_ids(bytes: &[u8], ids: &mut Vec<Uuid>) -> bool {
    ids.clear();
    read_ids_into(bytes, ids).is_some()
}

fn read_ids_into(bytes: &[u8], ids: &mut Vec<Uuid>) -> Option<()> {
    let (dimensions, rest) = bytes.split_first_chunk::<4>()?;
    match i32::from_be_bytes(*dimensions) {
        0 => return Some(()),
        1 => {}
        _ => return None,
    }
    // Flags, element type, number of elements, lower bound; then each element with its length in front.
    let mut rest = rest.get(16..)?;
    while let Some((length, element)) = rest.split_first_chunk::<4>() {
        if i32::from_be_bytes(*length) != 16 {
            return None;
        }
        let (id, after) = element.split_first_chunk::<16>()?;
        ids.push(Uuid::from_bytes(*id));
        rest = after;
    }
    Some(())
}

/// Reads a vector from what `vector_send` answers; false if it is none.
pub(crate) fn read_vector(bytes: &[u8], vector: &mut Vec<f32>) -> bool {
    vector.clear();
    let Some((header, components)) = bytes.split_first_chunk::<4>() else {
        return false;
    };
    let (components, rest) = components.as_chunks::<4>();
    vector.extend(components.iter().map(|component| f32::from_be_bytes(*component)));
    rest.is_empty() && usize::from(u16::from_be_bytes([header[0], header[1]])) == components.len()
}

/// The row of a statement that selected the columns of `table` under their names, without its vector.
pub(crate) fn table_row(table: Table, found: &PgRow) -> Result<Row, StoreError> {
    let id: Uuid = found.try_get("id").map_err(|_| unreadable(format!("{table}.id")))?;
    let mut row = Row::empty(table, id);
    for column in table.columns().iter().filter(|column| **column != Column::Embedding) {
        let cell = cell(found, *column).map_err(|_| unreadable(format!("{table}.{column} of row {id}")))?;
        row.put(*column, cell);
    }
    Ok(row)
}

/// The vector of an entity's row, selected as `embedding`.
pub(crate) fn vector_cell(found: &PgRow) -> Result<Cell, StoreError> {
    let bad = || {
        let id = found.try_get::<Uuid, _>("id").unwrap_or_default();
        unreadable(format!("{}.{} of row {id}", Table::Entities, Column::Embedding))
    };
    let Some(bytes) = found.try_get::<Option<&[u8]>, _>("embedding").map_err(|_| bad())? else {
        return Ok(Cell::default());
    };
    let mut vector = Vec::new();
    if read_vector(bytes, &mut vector) { Ok(Value::Vector(vector).into()) } else { Err(bad()) }
}

fn unreadable(what: String) -> StoreError {
    StoreError::Unreadable { operation: "read a row", what }
}

fn cell(row: &PgRow, column: Column) -> Result<Cell, sqlx::Error> {
    fn value<'r, T>(row: &'r PgRow, name: &str, value: impl Fn(T) -> Value) -> Result<Value, sqlx::Error>
    where
        T: Decode<'r, Postgres> + Type<Postgres>,
    {
        Ok(row.try_get::<Option<T>, _>(name)?.map_or(Value::Null, value))
    }
    let name = column.as_str();
    Ok(match column.kind() {
        ValueKind::Bool => value(row, name, Value::Bool)?,
        ValueKind::Int => value(row, name, Value::Int)?,
        ValueKind::Float => value(row, name, Value::Float)?,
        ValueKind::Text => value(row, name, Value::Text)?,
        ValueKind::Json => value(row, name, Value::Json)?,
        ValueKind::Id => value(row, name, Value::Id)?,
        ValueKind::Time => {
            return Ok(row.try_get::<Option<Timestamptz>, _>(name)?.map(time_cell).unwrap_or_default());
        }
        ValueKind::Ids => {
            let raw = row.try_get_raw(name)?;
            if raw.is_null() {
                return Ok(Cell::default());
            }
            let mut ids = Vec::new();
            if !read_ids(raw.as_bytes().map_err(sqlx::Error::Decode)?, &mut ids) {
                return Err(sqlx::Error::Decode("no list of ids".into()));
            }
            Value::Ids(ids)
        }
        ValueKind::Vector => Value::Null,
    }
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_beyond_all_years_comes_back_as_it_was() {
        for number in [i64::MAX, i64::MIN, 0, -EPOCH_MICROS, 300_000_000_000_000_000] {
            assert_eq!(time_of(&time_cell(Timestamptz(number))), Some(Timestamptz(number)));
        }
        assert_eq!(time_cell(Timestamptz(-EPOCH_MICROS)), Value::Time(Moment::from_micros(0)).into());
    }

    #[test]
    fn a_list_of_ids_is_read_as_the_server_sends_it() {
        let mut ids = vec![Uuid::nil()];
        assert!(read_ids(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 134], &mut ids));
        assert!(ids.is_empty());
        let mut bytes = vec![0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 11, 134, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 16];
        bytes.extend([7; 16]);
        assert!(read_ids(&bytes, &mut ids));
        assert_eq!(ids, [Uuid::from_bytes([7; 16])]);
        assert!(!read_ids(&bytes[..30], &mut ids), "cut short");
        bytes[3] = 2;
        assert!(!read_ids(&bytes, &mut ids), "two dimensions");
    }

    #[test]
    fn a_vector_is_read_as_the_server_sends_it() {
        let mut vector = Vec::new();
        assert!(read_vector(&[0, 2, 0, 0, 63, 128, 0, 0, 191, 0, 0, 0], &mut vector));
        assert_eq!(vector, [1.0, -0.5]);
        assert!(!read_vector(&[0, 3, 0, 0, 63, 128, 0, 0], &mut vector), "cut short");
    }

    #[test]
    fn lists_of_ids_are_spelled_as_arrays() {
        assert_eq!(ids_text(&[]), "{}");
        let id = Uuid::from_u128(1);
        assert_eq!(ids_text(&[id, id]), format!("{{{id},{id}}}"));
    }
}
