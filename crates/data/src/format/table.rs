//! Code shared by all tables: columns with roles in, a data set out; and the rules for single
//! values.
//!
//! `read_table` runs the steps: the first rows are looked at (`content.rs`), columns get their roles
//! and encodings (`plan.rs`, `guess.rs`), all rows of columns that are no numbers are counted, and
//! then the rows are read. If a later row of a column of numbers is none, the last two steps are
//! repeated with this knowledge.
//!
//! Features are f32 and NaN is missing; a finite number that f32 cannot hold is rejected. Labels and
//! weights must be finite. A table without rows is an error, one without features is not.

mod cell;
mod content;
mod guess;
mod parts;
mod plan;
mod row;
mod schema;
#[cfg(test)]
mod tests;
mod time;
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ReadOptions;
use super::roles::check_names;
use crate::dataset::Dataset;
use crate::error::{DataError, Remedy, SourceLocation};
use crate::matrix::Matrix;
use crate::memory::memory_limit;
use crate::table_columns::TableColumns;
use crate::warnings::Warnings;

pub(super) use cell::{CellProblem, Fields, expected, missing};
#[cfg(feature = "columnar")]
pub(super) use cell::{feature_from_f64, feature_from_text};
pub(super) use content::{ColumnContent, TypedValues, is_code};
pub(super) use parts::{RowPart, data_set};
pub(super) use plan::SourceColumn;
use plan::TablePlan;
pub use row::{RowCell, RowEncoder};
pub(super) use schema::{CellRead, Slot, TableSchema, columns_of};
pub(super) use write::{
    category_texts, check_writable, read_as_categories, write_number, write_rows,
};

/// Cells of the first rows that are looked at before anything is decided.
const SAMPLED_CELLS: usize = 200_000;

/// The id of the query of all rows in data without queries.
pub(super) const ONE_QUERY: &str = "all";

/// A table of one format, in one or several files.
pub(super) trait TableSource {
    /// The name of the first file.
    fn file(&self) -> &str;

    /// The columns of the first file.
    fn columns(&self) -> &[SourceColumn];

    /// Counts the content of some columns in the first `rows` rows of the first file, or in all
    /// rows of all files.
    fn survey(
        &self,
        columns: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ColumnContent>, DataError>;

    /// Reads all rows.
    fn read(
        &self,
        schema: TableSchema,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<TableRead, DataError>;
}

/// The result of reading all rows.
pub(super) enum TableRead {
    /// The data.
    Data(Box<Dataset>),
    /// Columns of guessed numbers hold something else in a later row.
    NotNumbers(Vec<usize>),
}

/// Reads a table. The columns are all of them, also those that their names imply.
pub(super) fn read_table(
    source: &dyn TableSource,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<(Dataset, TableColumns), DataError> {
    let columns = source.columns().to_vec();
    let own = columns.iter().filter(|column| !column.is_nested);
    check_names(source.file(), &own.map(|column| column.name.clone()).collect::<Vec<_>>())?;
    let all: Vec<usize> = (0..columns.len()).collect();
    let rows = (SAMPLED_CELLS / columns.len().max(1)).clamp(20, 500);
    let contents = source.survey(&all, Some(rows))?;
    let mut plan = TablePlan::new(source.file(), columns, contents, options)?;
    loop {
        let unknown = plan.unknown_contents();
        if !unknown.is_empty() {
            plan.set_contents(&unknown, source.survey(&unknown, None)?);
        }
        let mut found = Warnings::default();
        let schema = plan.schema(&mut found)?;
        let (table_columns, is_one_query) = (schema.columns().clone(), schema.is_one_query);
        match source.read(schema, options, &mut found)? {
            TableRead::Data(mut data) => {
                warnings.merge(found);
                // Names of a group of features mean nothing else. That there is no query is
                // known from all columns together, so they are kept.
                let is_implied = table_columns.iter().zip(source.columns()).all(|(column, of)| {
                    column.is_implied() || (of.is_nested && column.is_number())
                });
                if data.table_columns.is_none() && (!is_implied || is_one_query) {
                    data.table_columns = Some(Arc::new(table_columns.clone()));
                }
                return Ok((*data, table_columns));
            }
            TableRead::NotNumbers(columns) => plan.suspect(&columns),
        }
    }
}

/// Collects rows and builds a data set of them, one row after the other.
pub(super) struct TableBuilder<'o> {
    options: &'o ReadOptions,
    schema: TableSchema,
    values: Vec<f32>,
    part: RowPart,
}

impl<'o> TableBuilder<'o> {
    /// An empty table with these columns.
    pub(super) fn new(schema: TableSchema, options: &'o ReadOptions) -> TableBuilder<'o> {
        TableBuilder { options, schema, values: Vec::new(), part: RowPart::default() }
    }

    pub(super) fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// Adds a row whose features are all `fill`.
    pub(super) fn add_row(&mut self, file: &str, fill: f32) -> Result<(), DataError> {
        let start = self.values.len();
        let width = self.schema.features().len();
        let limit = self.options.max_matrix_bytes;
        let end = start.checked_add(width);
        let fits = |end: &usize| (*end as u64).checked_mul(4).is_some_and(|bytes| bytes <= limit);
        match end.filter(fits).filter(|end| self.values.try_reserve(end - start).is_ok()) {
            Some(end) => self.values.resize(end, fill),
            None => return Err(too_large(file, self.part.rows + 1, width, limit)),
        }
        check_content(file, self.part.rows + 1, width, memory_limit())
    }

    /// Reads a cell of text into the row that was added last.
    pub(super) fn set_last(
        &mut self,
        slot: Slot,
        cell: &[u8],
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        let start = self.values.len().saturating_sub(self.schema.features().len());
        let row = self.values.get_mut(start..).unwrap_or_default();
        self.part.set_text(&self.schema, slot, cell, row, location)
    }

    /// Completes a row whose features are already set.
    pub(super) fn end_row(
        &mut self,
        fields: Fields<'_>,
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        self.part.end_row(&self.schema, fields, location)
    }

    /// Groups the rows by query.
    pub(super) fn finish(self, warnings: &mut Warnings) -> Result<TableRead, DataError> {
        if self.part.rows == 0 {
            return Err(DataError::Empty { file: self.schema.file, what: "rows" });
        }
        let width = self.schema.features().len();
        let matrix = Matrix::from_rows(self.part.rows, width, self.values)?;
        data_set(&self.schema, matrix, vec![self.part], self.options.absent, warnings)
    }
}

/// A matrix of these rows that is to be filled.
pub(super) fn new_matrix(
    schema: &TableSchema,
    rows: usize,
    options: &ReadOptions,
) -> Result<Matrix, DataError> {
    let width = schema.features().len();
    let bytes = rows.saturating_mul(width).saturating_mul(4) as u64;
    if bytes > options.max_matrix_bytes {
        return Err(too_large(&schema.file, rows, width, options.max_matrix_bytes));
    }
    check_content(&schema.file, rows, width, memory_limit())?;
    let name = &schema.file;
    Matrix::zeroed(rows, width).map_err(|e| DataError::io("hold the matrix of", name, e))
}

/// The columns of features that hold no numbers.
fn not_numbers(schema: &TableSchema, features: impl IntoIterator<Item = usize>) -> TableRead {
    let columns: BTreeSet<usize> =
        features.into_iter().filter_map(|feature| schema.source(feature)).collect();
    TableRead::NotNumbers(columns.into_iter().collect())
}

/// Rejects rows that take more than the memory that an input may take: features, and with each row
/// a label and the number of its query. Ids and weights come on top.
fn check_content(file: &str, rows: usize, width: usize, limit: u64) -> Result<(), DataError> {
    let bytes_of_row = width.saturating_mul(4).saturating_add(12);
    match rows.saturating_mul(bytes_of_row) as u64 <= limit {
        true => Ok(()),
        false => Err(DataError::ContentTooLarge { file: file.to_owned(), limit }),
    }
}

/// The error of a matrix that is too large.
fn too_large(file: &str, rows: usize, columns: usize, limit: u64) -> DataError {
    let (file, remedy) = (file.to_owned(), Remedy::FewerColumns);
    DataError::TooLarge { file, rows, columns, limit, remedy }
}
