//! Rows that come from no file, such as those of requests to a server: turns cells, given by column
//! name, into features.
//!
//! A cell is read like the same value in a file: a text that is no known category is a missing
//! value, a text in a column of numbers must be a number, and times become their parts in UTC.

use std::collections::HashMap;

use super::cell::{CellProblem, feature_from_f64};
use super::schema::{EncodingOrigin, Slot, TableSchema};
use super::write::number_text;
use crate::error::{ColumnProblem, DataError, SourceLocation};
use crate::format::roles::Role;
use crate::point_in_time::PointInTime;
use crate::table_columns::TableColumns;

/// The name of the rows in errors, in the place of a file name.
const SOURCE: &str = "the row";

/// A cell of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RowCell<'a> {
    /// No value.
    Missing,
    /// A number. In a column of times it is the time since the beginning of 1970, in seconds,
    /// milliseconds, microseconds or nanoseconds, whichever gives a time before the year 5139.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A text: a category, a number or a time as a file would have it.
    Text(&'a str),
    /// A point in time, in microseconds since the beginning of 1970 (UTC).
    Time(i64),
}

impl From<f64> for RowCell<'_> {
    fn from(value: f64) -> Self {
        RowCell::Number(value)
    }
}

impl From<bool> for RowCell<'_> {
    fn from(value: bool) -> Self {
        RowCell::Bool(value)
    }
}

impl<'a> From<&'a str> for RowCell<'a> {
    fn from(text: &'a str) -> Self {
        RowCell::Text(text)
    }
}

impl<'a, T: Into<RowCell<'a>>> From<Option<T>> for RowCell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(RowCell::Missing, Into::into)
    }
}

/// Turns rows into features, prepared once for many rows; made by [`TableColumns::row_encoder`].
#[derive(Debug)]
pub struct RowEncoder {
    schema: TableSchema,
    /// The number of each column.
    columns: HashMap<String, usize>,
}

impl TableColumns {
    /// Prepares the encoding of rows.
    pub fn row_encoder(&self) -> RowEncoder {
        let origins = vec![EncodingOrigin::Fixed; self.iter().len()];
        let names = self.iter().enumerate().map(|(number, column)| (column.name.clone(), number));
        let columns = names.collect();
        RowEncoder {
            schema: TableSchema::new(SOURCE, self.without_labels(), origins, false, false),
            columns,
        }
    }

    /// Turns one row, cells by column name in any order, into features in the order of
    /// [`features`](Self::features). A column without a cell is a missing value, and so is a text
    /// that is none of its column's categories. Cells of columns that are no features are ignored;
    /// a name that is no column is an error. For many rows, prepare a
    /// [`row_encoder`](Self::row_encoder) once.
    ///
    /// ```
    /// use rankwright_data::{Encoding, RowCell, TableColumn, TableColumns, TimePart};
    /// let brands = Encoding::Category(["acme".to_owned(), "best".to_owned()].into());
    /// let columns = TableColumns::new(vec![
    ///     TableColumn::feature("brand", brands),
    ///     TableColumn::feature("price", Encoding::Number),
    ///     TableColumn::feature("added", Encoding::Time(vec![TimePart::Weekday])),
    /// ])?;
    /// let row = [("price", 9.5.into()), ("brand", "best".into()), ("added", "2026-11-18".into())];
    /// assert_eq!(columns.encode_row(row)?, [1.0, 9.5, 2.0]);
    /// let row = columns.encode_row([("brand", RowCell::Text("never seen"))])?;
    /// assert!(row[0].is_nan());
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn encode_row<'a>(
        &self,
        cells: impl IntoIterator<Item = (&'a str, RowCell<'a>)>,
    ) -> Result<Vec<f32>, DataError> {
        self.row_encoder().encode(cells)
    }

    /// The names of the features that the columns become, in their order.
    pub fn features(&self) -> Vec<String> {
        self.iter().flat_map(|column| column.features()).collect()
    }
}

impl RowEncoder {
    /// Turns one row into features, as [`TableColumns::encode_row`] does.
    pub fn encode<'a>(
        &self,
        cells: impl IntoIterator<Item = (&'a str, RowCell<'a>)>,
    ) -> Result<Vec<f32>, DataError> {
        let mut row = vec![f32::NAN; self.schema.features().len()];
        let mut is_given = vec![false; self.columns.len()];
        for (name, cell) in cells {
            let Some(&column) = self.columns.get(name) else { return Err(self.unknown(name)) };
            let is_twice =
                is_given.get_mut(column).is_some_and(|is_given| std::mem::replace(is_given, true));
            if is_twice {
                let problem = ColumnProblem::Duplicate { column: name.to_owned() };
                return Err(DataError::columns(SOURCE, problem));
            }
            let slot = self.schema.slot_of(column);
            let values = self
                .values(slot, cell)
                .map_err(|problem| problem.at(SourceLocation::file(SOURCE).in_field(name)))?;
            let (first, count) = self.schema.features_of(slot);
            let targets = row.iter_mut().skip(first).take(count);
            targets.zip(values).for_each(|(target, value)| *target = value);
        }
        Ok(row)
    }

    /// The names of the features, in their order.
    pub fn features(&self) -> &[String] {
        self.schema.features()
    }

    /// The error for a cell of a column that does not exist.
    fn unknown(&self, name: &str) -> DataError {
        let known: Vec<&str> = self.schema.columns().iter().map(|c| c.name.as_str()).collect();
        let (what, name) = ("column", name.to_owned());
        DataError::UnknownName { what, name, known: known.join(", ") }
    }

    /// The values of a slot's features, at most three (the parts of a time).
    fn values(&self, slot: Slot, cell: RowCell<'_>) -> Result<[f32; 3], CellProblem> {
        if cell == RowCell::Missing || matches!(slot, Slot::Role(Role::Ignore)) {
            return Ok([f32::NAN; 3]);
        }
        let text = |text: &str| self.schema.parse(slot, text.as_bytes()).map(|(_, values)| values);
        match (slot, cell) {
            (_, RowCell::Text(value)) => text(value),
            (_, RowCell::Bool(value)) => text(if value { "true" } else { "false" }),
            (Slot::Number { .. }, RowCell::Number(value)) => Ok([feature_from_f64(value)?; 3]),
            (Slot::Time { parts_index, .. }, RowCell::Number(value)) if !value.is_nan() => {
                let time = PointInTime::from_number(value);
                let time =
                    time.ok_or_else(|| CellProblem::not_a_time(number_text(value).as_bytes()))?;
                Ok(self.schema.time(parts_index, time.micros))
            }
            (Slot::Category { .. }, RowCell::Number(value)) if !value.is_nan() => {
                text(&number_text(value))
            }
            (Slot::Time { parts_index, .. }, RowCell::Time(micros)) => {
                Ok(self.schema.time(parts_index, micros))
            }
            (Slot::Number { .. } | Slot::Category { .. }, RowCell::Time(_)) => {
                Err(CellProblem::new("a point in time", "a number or a text"))
            }
            // NaN is a missing value, and columns that are no features are ignored.
            _ => Ok([f32::NAN; 3]),
        }
    }
}
