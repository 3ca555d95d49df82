//! Labels, ids, weights and positions of some rows: everything but the features, which are in the
//! matrix. Parts that were read in parallel are joined in the order of the files.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cell::{RoleValues, missing};
use super::missing_words::MissingWords;
use super::schema::{CellRead, Slot, TableSchema};
use super::{ONE_QUERY, TableRead, not_numbers};
use crate::dataset::{Absent, Dataset, LabelColumn, QueryIndex, RowColumns};
use crate::error::{DataError, SourceLocation};
use crate::format::roles::Role;
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::strings::Strings;
use crate::warnings::{WarningKind, Warnings};

/// The bytes of ids in memory, counted over all tasks that read a table. A Parquet or Arrow file
/// holds an id that many rows have once, while a data set holds that of every row.
#[derive(Debug)]
pub(super) struct IdBytes {
    sum: AtomicU64,
    limit: u64,
}

/// The number of times that an id is in memory: in the part of a task and in the joined columns.
const ID_COPIES: u64 = 2;

/// A task reports the bytes of its ids when it has read this many, and at its end.
const REPORTED_BYTES: u64 = 64 << 10;

impl IdBytes {
    /// A count of 0 bytes, of which there may be at most `limit`.
    pub(super) fn new(limit: u64) -> IdBytes {
        IdBytes { sum: AtomicU64::new(0), limit }
    }

    /// Adds the bytes of further ids; an error if all ids together take more than the limit.
    fn add(&self, file: &str, bytes: u64) -> Result<(), DataError> {
        let bytes = bytes.saturating_mul(ID_COPIES);
        let before = self.sum.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) <= self.limit {
            true => Ok(()),
            false => Err(DataError::ContentTooLarge { file: file.to_owned(), limit: self.limit }),
        }
    }
}

/// Labels, ids, weights and positions of the rows that one task has read.
#[derive(Debug, Default)]
pub(in crate::format) struct RowPart {
    /// The number of rows.
    pub(in crate::format) rows: usize,
    labels: Vec<f64>,
    /// The labels of the first row in all further columns of labels, then those of the second row.
    extra_labels: Vec<f64>,
    /// Query ids, each with the number of adjacent rows that have it.
    adjacent_rows: Vec<(String, u32)>,
    doc_ids: Strings,
    row_weights: Vec<f32>,
    /// One per row.
    query_weights: Vec<f32>,
    /// The query weight in the first row of each query, by query id.
    first_query_weights: HashMap<String, f32>,
    positions: Vec<u32>,
    /// The bytes of ids that are not yet reported to the schema.
    unreported_bytes: u64,
    /// Warnings on these rows.
    pub(in crate::format) warnings: Warnings,
    /// Values that are written as words for a missing value.
    pub(in crate::format) missing_words: MissingWords,
    /// Features that were guessed to be numbers, but have another value in one of these rows.
    not_numbers: Vec<usize>,
}

impl RowPart {
    /// Reads a cell into the features of its slot in the row.
    pub(in crate::format) fn set_text(
        &mut self,
        schema: &TableSchema,
        slot: Slot,
        cell: &[u8],
        row: &mut [f32],
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        match (schema.set_text(slot, cell, row).map_err(|p| p.at(location()))?, slot) {
            (CellRead::MissingWord, slot) => {
                let (feature, _) = schema.features_of(slot);
                self.missing_words.add(feature, cell, location);
            }
            (CellRead::NotNumber, Slot::Number { feature, .. }) => self.mark_not_number(feature),
            (CellRead::UnseenCategory, Slot::Category { feature, .. }) => {
                self.warn_of_unseen(schema, feature, cell, location);
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts a text that is none of the categories of earlier data.
    pub(in crate::format) fn warn_of_unseen(
        &mut self,
        schema: &TableSchema,
        feature: usize,
        cell: &[u8],
        location: impl Fn() -> SourceLocation,
    ) {
        let column = schema.features().get(feature).map_or("", String::as_str);
        let text = String::from_utf8_lossy(cell.trim_ascii()).into_owned();
        let location = || SourceLocation { field: None, column: None, ..location() };
        self.warnings.add_unseen(column, 1, &[text], location);
    }

    /// Marks a feature that was guessed to be numbers, but has another value.
    pub(in crate::format) fn mark_not_number(&mut self, feature: usize) {
        if !self.not_numbers.contains(&feature) {
            self.not_numbers.push(feature);
        }
    }

    /// Adds the role values of a row whose features are already set; an error if one is missing.
    pub(in crate::format) fn end_row(
        &mut self,
        schema: &TableSchema,
        role_values: RoleValues<'_>,
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        let missing = |role: Role| missing(role).at(schema.with_column_of(role, location()));
        let query = match (&role_values.query, schema.is_one_query) {
            (_, true) => ONE_QUERY,
            (Some(query), false) => query,
            (None, false) => return Err(missing(Role::Query)),
        };
        match self.adjacent_rows.last_mut() {
            Some((id, rows)) if id == query => *rows += 1,
            _ => {
                self.unreported_bytes += query.len() as u64;
                self.adjacent_rows.push((query.to_owned(), 1));
            }
        }
        self.labels.push(match schema.is_labelled {
            true => role_values.label.ok_or_else(|| missing(Role::Label))?,
            false => 0.0,
        });
        for (number, column) in schema.label_columns().iter().enumerate() {
            let label = role_values.extra_labels.get(number).copied().flatten();
            let no_label = || super::missing(Role::ExtraLabel);
            self.extra_labels
                .push(label.ok_or_else(|| no_label().at(location().in_field(column)))?);
        }
        if schema.has(Role::Docid) {
            let docid = role_values.docid.as_deref().unwrap_or_default();
            let is_empty = u64::from(docid.is_empty());
            self.warnings.add(WarningKind::RowsWithoutDocid, is_empty, &location);
            self.unreported_bytes += docid.len() as u64;
            self.doc_ids.push(docid);
        }
        if self.unreported_bytes >= REPORTED_BYTES {
            self.report_id_bytes(schema)?;
        }
        if schema.has(Role::Weight) {
            self.row_weights.push(role_values.weight.ok_or_else(|| missing(Role::Weight))?);
        }
        if schema.has(Role::Position) {
            self.positions.push(role_values.position.ok_or_else(|| missing(Role::Position))?);
        }
        if schema.has(Role::QueryWeight) {
            let weight = role_values.query_weight.ok_or_else(|| missing(Role::QueryWeight))?;
            self.query_weights.push(weight);
            let first = match self.first_query_weights.get(query) {
                Some(first) => *first,
                None => *self.first_query_weights.entry(query.to_owned()).or_insert(weight),
            };
            if first != weight {
                let location = schema.with_column_of(Role::QueryWeight, location());
                let expected = format!("{first} as in the first row of query '{query}'");
                return Err(DataError::malformed(location, weight.to_string(), expected));
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Adds the bytes of the ids since the last call to those of all tasks.
    fn report_id_bytes(&mut self, schema: &TableSchema) -> Result<(), DataError> {
        schema.id_bytes.add(&schema.file, std::mem::take(&mut self.unreported_bytes))
    }
}

/// Warns of query ids that differ from another one only by spaces around them.
fn warn_of_spaces(schema: &TableSchema, queries: &QueryIndex, warnings: &mut Warnings) {
    let differs_by_spaces = |id: &&str| id.trim() != *id && queries.contains(id.trim());
    let count = queries.iter().filter(differs_by_spaces).count() as u64;
    let location = schema.with_column_of(Role::Query, SourceLocation::file(&schema.file));
    warnings.add(WarningKind::IdsWithSpaces, count, || location);
}

/// Joins parts in the order of the files and groups the rows by query. The matrix is already
/// filled.
pub(in crate::format) fn join_parts(
    schema: &TableSchema,
    matrix: Matrix,
    mut parts: Vec<RowPart>,
    absent: Absent,
    warnings: &mut Warnings,
) -> Result<TableRead, DataError> {
    let wrong_guesses: Vec<usize> =
        parts.iter().flat_map(|part| part.not_numbers.iter().copied()).collect();
    if !wrong_guesses.is_empty() {
        return Ok(not_numbers(schema, wrong_guesses));
    }
    parts.iter_mut().try_for_each(|part| part.report_id_bytes(schema))?;
    let rows = parts.iter().map(|part| part.rows).sum();
    let (mut labels, mut query_of_row) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let (mut queries, mut doc_ids) = (QueryIndex::default(), Strings::default());
    let (mut row_weights, mut query_weights, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    let mut missing_words = MissingWords::default();
    let mut label_columns: Vec<LabelColumn> =
        schema.label_columns().iter().map(|name| LabelColumn::of_table(name, rows)).collect();
    for part in parts {
        labels.extend_from_slice(&part.labels);
        for (number, column) in label_columns.iter_mut().enumerate() {
            let of_column = part.extra_labels.iter().skip(number);
            column.labels.extend(of_column.step_by(schema.label_columns().len()));
        }
        for (id, rows) in &part.adjacent_rows {
            query_of_row.extend(std::iter::repeat_n(queries.number(id), *rows as usize));
        }
        doc_ids.append(&part.doc_ids);
        row_weights.extend_from_slice(&part.row_weights);
        query_weights.extend_from_slice(&part.query_weights);
        positions.extend_from_slice(&part.positions);
        warnings.merge(part.warnings);
        missing_words.merge(part.missing_words);
    }
    missing_words.warn(schema, warnings);
    warn_of_spaces(schema, &queries, warnings);
    let features = FeatureNames::from_names(schema.features().to_vec());
    let columns = RowColumns {
        doc_ids: schema.has(Role::Docid).then_some(doc_ids),
        row_weights: schema.has(Role::Weight).then_some(row_weights),
        query_weights: schema.has(Role::QueryWeight).then_some(query_weights),
        positions: schema.has(Role::Position).then_some(positions),
        absent,
        is_labelled: schema.is_labelled,
        label_columns,
        ..RowColumns::new(matrix, features, labels, queries, query_of_row)
    };
    // The line of a row is not known here: a record may have several, and blank lines have no row.
    let data = Dataset::grouped(columns, |_| SourceLocation::file(&schema.file), warnings)?;
    Ok(TableRead::Data(Box::new(data)))
}
