//! Code shared by the readers of all tables (CSV, JSON lines, Parquet, Arrow): from columns with
//! roles to a data set, and the rules for single values.
//!
//! `read_table` runs the steps. The cells of the first rows are counted by their content
//! (`content.rs`); columns get their roles and encodings (`plan.rs`, `guess.rs`); columns that are
//! not just numbers are counted again in all rows; then the rows are read. If a column of numbers
//! turns out to have another value in a later row, the last two steps are repeated with this
//! knowledge.
//!
//! Features are f32 and NaN is missing; a finite number that f32 cannot hold is rejected. Labels
//! and weights must be finite. A table without rows is an error, a table without features is not.

mod cell;
mod content;
mod guess;
mod missing_words;
mod parts;
mod plan;
mod row;
mod schema;
#[cfg(test)]
mod tests;
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

pub(super) use cell::{CellProblem, RoleValues, expected, missing};
#[cfg(feature = "columnar")]
pub(super) use cell::{feature_from_f64, feature_from_text};
pub(super) use content::{ColumnContent, TypedValues, is_code};
#[cfg(feature = "columnar")]
pub(super) use missing_words::MissingWords;
pub(super) use parts::{RowPart, join_parts};
pub(super) use plan::SourceColumn;
use plan::TablePlan;
pub use row::{RowCell, RowEncoder};
pub(super) use schema::{CellRead, Slot, TableSchema, indices_by_column, match_columns};
pub(super) use write::{
    category_texts, check_writable, read_as_categories, write_number, write_rows,
};

/// The number of cells in the first rows that are counted before columns get their roles.
const SAMPLED_CELLS: usize = 200_000;

/// The id of the only query, for data without queries.
pub(super) const ONE_QUERY: &str = "all";

/// A table of one format, in one or several files.
pub(super) trait TableSource {
    /// The name of the first file.
    fn file(&self) -> &str;

    /// The columns of the first file.
    fn columns(&self) -> &[SourceColumn];

    /// Whether the format tells texts and missing values apart, so that the text `NA` is a text.
    fn has_text_type(&self) -> bool;

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
    /// The numbers of columns that were guessed to be numbers, but have another value in a later
    /// row.
    NotNumbers(Vec<usize>),
}

/// Reads a table. Also returns all its columns, with their roles and encodings.
pub(super) fn read_table(
    source: &dyn TableSource,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<(Dataset, TableColumns), DataError> {
    let columns = source.columns().to_vec();
    let top_level = columns.iter().filter(|column| !column.is_nested);
    check_names(source.file(), &top_level.map(|column| column.name.clone()).collect::<Vec<_>>())?;
    let all: Vec<usize> = (0..columns.len()).collect();
    let sampled_rows = (SAMPLED_CELLS / columns.len().max(1)).clamp(20, 500);
    let contents = source.survey(&all, Some(sampled_rows))?;
    let has_text_type = source.has_text_type();
    let mut plan = TablePlan::new(source.file(), columns, contents, options, has_text_type)?;
    loop {
        let to_survey = plan.columns_to_survey();
        if !to_survey.is_empty() {
            plan.set_contents(&to_survey, source.survey(&to_survey, None)?);
        }
        let mut new_warnings = Warnings::default();
        let schema = plan.schema(&mut new_warnings)?;
        let (table_columns, is_one_query) = (schema.columns().clone(), schema.is_one_query);
        match source.read(schema, options, &mut new_warnings)? {
            TableRead::Data(mut data) => {
                warnings.merge(new_warnings);
                // The columns are kept in the data set, except if their names alone tell their
                // roles. The name of a nested feature never means a role. Without a query, the
                // columns are always kept: only all of them together show that there is none.
                let columns = table_columns.iter().zip(source.columns());
                let is_implied = columns.into_iter().all(|(column, source)| {
                    column.is_implied() || (source.is_nested && column.is_number())
                });
                if data.table_columns.is_none() && (!is_implied || is_one_query) {
                    data.table_columns = Some(Arc::new(table_columns.clone()));
                }
                return Ok((*data, table_columns));
            }
            TableRead::NotNumbers(columns) => plan.mark_suspect(&columns),
        }
    }
}

/// Collects rows one after the other, and builds a data set from them.
pub(super) struct TableBuilder<'o> {
    options: &'o ReadOptions,
    schema: TableSchema,
    /// The features of all rows so far, row after row.
    values: Vec<f32>,
    /// Everything else of all rows so far.
    part: RowPart,
    /// The memory that the table may take, determined once: asking the system takes longer than
    /// reading a row.
    memory_limit: u64,
}

impl<'o> TableBuilder<'o> {
    /// An empty table with these columns.
    pub(super) fn new(schema: TableSchema, options: &'o ReadOptions) -> TableBuilder<'o> {
        TableBuilder {
            options,
            schema,
            values: Vec::new(),
            part: RowPart::default(),
            memory_limit: memory_limit(),
        }
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
        check_content(file, self.part.rows + 1, width, self.memory_limit)
    }

    /// Reads a cell of text into the row that was added last.
    pub(super) fn set_in_last_row(
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
        role_values: RoleValues<'_>,
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        self.part.end_row(&self.schema, role_values, location)
    }

    /// Groups the rows by query.
    pub(super) fn finish(self, warnings: &mut Warnings) -> Result<TableRead, DataError> {
        if self.part.rows == 0 {
            return Err(DataError::Empty { file: self.schema.file, what: "rows" });
        }
        let width = self.schema.features().len();
        let matrix = Matrix::from_rows(self.part.rows, width, self.values)?;
        join_parts(&self.schema, matrix, vec![self.part], self.options.absent, warnings)
    }
}

/// A matrix of zeros with this number of rows, for a reader to fill.
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

/// The result for features that were guessed to be numbers, but have other values.
fn not_numbers(schema: &TableSchema, features: impl IntoIterator<Item = usize>) -> TableRead {
    let columns: BTreeSet<usize> =
        features.into_iter().filter_map(|feature| schema.source(feature)).collect();
    TableRead::NotNumbers(columns.into_iter().collect())
}

/// Rejects rows that take more than `limit` bytes of memory. Only the features, the label (8 bytes)
/// and the query number (4 bytes) of each row are counted; ids and weights take more.
fn check_content(file: &str, rows: usize, width: usize, limit: u64) -> Result<(), DataError> {
    let bytes_of_row = width.saturating_mul(4).saturating_add(12);
    match rows.saturating_mul(bytes_of_row) as u64 <= limit {
        true => Ok(()),
        false => Err(DataError::ContentTooLarge { file: file.to_owned(), limit }),
    }
}

/// The error for a matrix that is too large.
fn too_large(file: &str, rows: usize, columns: usize, limit: u64) -> DataError {
    let (file, remedy) = (file.to_owned(), Remedy::FewerColumns);
    DataError::TooLarge { file, rows, columns, limit, remedy }
}
