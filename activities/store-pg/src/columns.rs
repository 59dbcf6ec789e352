//! Rows turned into columns: the arrays in which a set of rows is bound.

use dream_core::change::{Cell, Column, Row, Table};
use dream_core::rows::Image;
use uuid::Uuid;

use crate::encode::{Timestamptz, ids_text, time_of};

/// A set of rows of one table, column by column.
pub(crate) struct Columns<'a> {
    /// Each row with the bits of the columns that count of it.
    rows: Vec<(&'a Row, u32)>,
    /// The columns that count of any row.
    any: u32,
}

/// Vectors of a set of rows, end to end, with the place of each: an array of arrays would have to be rectangular.
pub(crate) struct Vectors {
    pub(crate) components: Vec<f32>,
    /// The first component of each row, counted from 1.
    pub(crate) from: Vec<Option<i32>>,
    /// The last.
    pub(crate) to: Vec<Option<i32>>,
}

impl<'a> Columns<'a> {
    /// The touched columns of images.
    pub(crate) fn touched(table: Table, images: &[&'a Image]) -> Self {
        debug_assert!(images.iter().all(|image| image.row.table == table));
        let rows: Vec<_> = images.iter().map(|image| (&image.row, image.touched)).collect();
        Self { any: rows.iter().fold(0, |any, (_, bits)| any | bits), rows }
    }

    /// All columns of rows.
    pub(crate) fn whole(rows: impl Iterator<Item = &'a Row>) -> Self {
        Self { rows: rows.map(|row| (row, u32::MAX)).collect(), any: u32::MAX }
    }

    /// A column, as an array; an empty one if it counts of no row.
    fn array<T>(&self, column: Column, value: impl Fn(&'a Cell) -> Option<T>) -> Vec<Option<T>> {
        let bit = |row: &Row| row.table.bit(column);
        if self.rows.first().is_none_or(|(row, _)| self.any & bit(row) == 0) {
            return Vec::new();
        }
        let cell = |(row, bits): &(&'a Row, u32)| row.cell(column).filter(|_| bits & bit(row) != 0).and_then(&value);
        self.rows.iter().map(cell).collect()
    }

    pub(crate) fn ids(&self) -> Vec<Uuid> {
        self.rows.iter().map(|(row, _)| row.id).collect()
    }

    pub(crate) fn bits(&self) -> Vec<i64> {
        self.rows.iter().map(|(_, bits)| i64::from(*bits)).collect()
    }

    /// Text and JSON.
    pub(crate) fn texts(&self, column: Column) -> Vec<Option<&'a str>> {
        self.array(column, |cell| cell.value.text())
    }

    pub(crate) fn integers(&self, column: Column) -> Vec<Option<i64>> {
        self.array(column, |cell| cell.value.int())
    }

    pub(crate) fn floats(&self, column: Column) -> Vec<Option<f64>> {
        self.array(column, |cell| cell.value.float())
    }

    pub(crate) fn truths(&self, column: Column) -> Vec<Option<bool>> {
        self.array(column, |cell| cell.value.truth())
    }

    pub(crate) fn uuids(&self, column: Column) -> Vec<Option<Uuid>> {
        self.array(column, |cell| cell.value.id())
    }

    pub(crate) fn times(&self, column: Column) -> Vec<Option<Timestamptz>> {
        self.array(column, time_of)
    }

    pub(crate) fn id_lists(&self, column: Column) -> Vec<Option<String>> {
        self.array(column, |cell| (!cell.value.is_null()).then(|| ids_text(cell.value.ids())))
    }

    pub(crate) fn vectors(&self, column: Column) -> Vectors {
        let mut vectors = Vectors { components: Vec::new(), from: Vec::new(), to: Vec::new() };
        for vector in self.array(column, |cell| cell.value.vector()) {
            let place = |components: &Vec<f32>| i32::try_from(components.len()).unwrap_or(i32::MAX);
            vectors.from.push(vector.map(|_| place(&vectors.components).saturating_add(1)));
            vectors.components.extend_from_slice(vector.unwrap_or_default());
            vectors.to.push(vector.map(|_| place(&vectors.components)));
        }
        vectors
    }
}
