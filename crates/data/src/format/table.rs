//! Code shared by all tables: columns with roles in, a data set out; and the rules for single
//! values.
//!
//! Features are f32 and NaN is missing; a finite number that f32 cannot hold is rejected, as is
//! anything that is no number. Labels and weights must be finite. A table without rows is an error,
//! one without features is not. Cost: one pass, the matrix is filled in place.

mod cell;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{HashMap, HashSet};

use super::ReadOptions;
use super::roles::{Role, Roles};
use crate::dataset::{Dataset, QueryIndex, RowColumns};
use crate::error::{ColumnProblem, DataError, Remedy, SourceLocation};
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::strings::Strings;
use crate::warnings::{WarningKind, Warnings};

#[cfg(feature = "columnar")]
pub(super) use cell::feature_from_f64;
pub(super) use cell::{CellProblem, Fields, expected, feature_from_text, missing};
pub(super) use write::{check_writable, write_number, write_rows};

/// The target of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A column of the matrix.
    Feature(usize),
    /// The column of a role; `Ignore` drops the cells.
    Role(Role),
}

/// The columns of a table, fixed by the first file.
#[derive(Debug)]
pub(super) struct TableSchema {
    file: String,
    columns: Vec<(String, Slot)>,
    features: Vec<String>,
}

impl TableSchema {
    /// Gives the columns of the first file their roles.
    pub(super) fn new(
        file: &str,
        names: &[String],
        roles: &Roles,
    ) -> Result<TableSchema, DataError> {
        let mut schema =
            TableSchema { file: file.to_owned(), columns: Vec::new(), features: Vec::new() };
        for (name, role) in names.iter().zip(roles.assign(file, names)?) {
            let slot = match role {
                Role::Feature => schema.add_feature(name.clone()),
                role => Slot::Role(role),
            };
            schema.columns.push((name.clone(), slot));
        }
        Ok(schema)
    }

    /// Adds a feature that is no column of its own.
    pub(super) fn add_feature(&mut self, name: String) -> Slot {
        self.features.push(name);
        Slot::Feature(self.features.len() - 1)
    }

    pub(super) fn features(&self) -> &[String] {
        &self.features
    }

    pub(super) fn columns(&self) -> &[(String, Slot)] {
        &self.columns
    }

    fn has(&self, role: Role) -> bool {
        self.columns.iter().any(|(_, slot)| *slot == Slot::Role(role))
    }

    /// Adds the name of a role's column to a location.
    fn with_column_of(&self, role: Role, location: SourceLocation) -> SourceLocation {
        let of_role = |(_, slot): &&(String, Slot)| *slot == Slot::Role(role);
        match self.columns.iter().find(of_role) {
            Some((name, _)) => location.in_field(name),
            None => location,
        }
    }

    /// The slots for the columns of a further file: the same names, in any order.
    pub(super) fn slots(&self, file: &str, names: &[String]) -> Result<Vec<Slot>, DataError> {
        let known: HashMap<&str, Slot> =
            self.columns.iter().map(|(name, slot)| (name.as_str(), *slot)).collect();
        let slots: Option<Vec<Slot>> =
            names.iter().map(|name| known.get(name.as_str()).copied()).collect();
        let given: HashSet<&str> = names.iter().map(String::as_str).collect();
        let all_once = given.len() == names.len() && names.len() == self.columns.len();
        if let Some(slots) = slots.filter(|_| all_once) {
            return Ok(slots);
        }
        let added: Vec<String> =
            names.iter().filter(|n| !known.contains_key(n.as_str())).cloned().collect();
        let own = self.columns.iter().map(|(name, _)| name);
        let missing: Vec<String> = own.filter(|n| !given.contains(n.as_str())).cloned().collect();
        // All columns of the first file and no other: then one of them occurs twice.
        let mut seen = HashSet::new();
        let twice = names.iter().find(|name| !seen.insert(name.as_str()));
        let problem = match twice {
            Some(column) if added.is_empty() && missing.is_empty() => {
                ColumnProblem::Duplicate { column: column.clone() }
            }
            _ => ColumnProblem::Different { first: self.file.clone(), added, missing },
        };
        Err(DataError::columns(file, problem))
    }
}

/// Collects rows and builds a data set of them.
pub(super) struct TableBuilder<'o> {
    options: &'o ReadOptions,
    schema: TableSchema,
    /// Warnings so far; `finish` returns them.
    pub(super) warnings: Warnings,
    values: Vec<f32>,
    labels: Vec<f64>,
    labelled: bool,
    queries: QueryIndex,
    query_of_row: Vec<u32>,
    doc_ids: Option<Strings>,
    row_weights: Option<Vec<f32>>,
    query_weights: Option<Vec<f32>>,
    first_weight_of_query: Vec<f32>,
    positions: Option<Vec<u32>>,
}

impl<'o> TableBuilder<'o> {
    /// An empty table with these columns.
    pub(super) fn new(schema: TableSchema, options: &'o ReadOptions) -> TableBuilder<'o> {
        TableBuilder {
            options,
            warnings: Warnings::default(),
            values: Vec::new(),
            labels: Vec::new(),
            labelled: schema.has(Role::Label),
            queries: QueryIndex::default(),
            query_of_row: Vec::new(),
            doc_ids: schema.has(Role::Docid).then(Strings::default),
            row_weights: schema.has(Role::Weight).then(Vec::new),
            query_weights: schema.has(Role::QueryWeight).then(Vec::new),
            first_weight_of_query: Vec::new(),
            positions: schema.has(Role::Position).then(Vec::new),
            schema,
        }
    }

    pub(super) fn schema(&self) -> &TableSchema {
        &self.schema
    }

    /// Reserves memory for further rows; `most` values bound what an untrusted count may claim.
    pub(super) fn reserve(&mut self, rows: usize, most: usize) {
        let wanted = rows.saturating_mul(self.schema.features.len()).min(most);
        // Only a hint: if it fails, growing row by row reports the error.
        let _ = self.values.try_reserve_exact(wanted);
    }

    /// Adds rows whose features are all `fill`, and returns them to be filled.
    pub(super) fn add_rows(
        &mut self,
        file: &str,
        rows: usize,
        fill: f32,
    ) -> Result<&mut [f32], DataError> {
        let start = self.values.len();
        let width = self.schema.features.len();
        let limit = self.options.max_matrix_bytes;
        let end = rows.checked_mul(width).and_then(|added| added.checked_add(start));
        let fits = |end: &usize| (*end as u64).checked_mul(4).is_some_and(|bytes| bytes <= limit);
        match end.filter(fits).filter(|end| self.values.try_reserve(end - start).is_ok()) {
            Some(end) => self.values.resize(end, fill),
            None => {
                let rows = self.labels.len().saturating_add(rows);
                return Err(DataError::TooLarge {
                    file: file.to_owned(),
                    rows,
                    columns: width,
                    limit,
                    remedy: Remedy::FewerColumns,
                });
            }
        }
        Ok(self.values.get_mut(start..).unwrap_or_default())
    }

    /// Sets one feature of the row that was added last.
    pub(super) fn set_last(&mut self, column: usize, value: f32) {
        let start = self.values.len().saturating_sub(self.schema.features.len());
        if let Some(cell) = self.values.get_mut(start + column) {
            *cell = value;
        }
    }

    /// Completes a row whose features are already set.
    pub(super) fn end_row(
        &mut self,
        fields: Fields<'_>,
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        let schema = &self.schema;
        let absent = |role: Role| missing(role).at(schema.with_column_of(role, location()));
        let query = fields.query.ok_or_else(|| absent(Role::Query))?;
        let number = self.queries.number(&query);
        self.query_of_row.push(number);
        self.labels.push(match self.labelled {
            true => fields.label.ok_or_else(|| absent(Role::Label))?,
            false => 0.0,
        });
        if let Some(doc_ids) = &mut self.doc_ids {
            let docid = fields.docid.unwrap_or_default();
            self.warnings.add(
                WarningKind::RowsWithoutDocid,
                u64::from(docid.is_empty()),
                &location,
            );
            doc_ids.push(&docid);
        }
        if let Some(weights) = &mut self.row_weights {
            weights.push(fields.weight.ok_or_else(|| absent(Role::Weight))?);
        }
        if let Some(positions) = &mut self.positions {
            positions.push(fields.position.ok_or_else(|| absent(Role::Position))?);
        }
        if let Some(weights) = &mut self.query_weights {
            let weight = fields.query_weight.ok_or_else(|| absent(Role::QueryWeight))?;
            weights.push(weight);
            if self.first_weight_of_query.len() == number as usize {
                self.first_weight_of_query.push(weight);
            }
            let first = self.first_weight_of_query.get(number as usize).copied();
            if let Some(first) = first.filter(|first| *first != weight) {
                let location = schema.with_column_of(Role::QueryWeight, location());
                let expected = format!("{first} as in the first row of query '{query}'");
                return Err(DataError::malformed(location, weight.to_string(), expected));
            }
        }
        Ok(())
    }

    /// Groups the rows by query.
    pub(super) fn finish(self, warnings: &mut Warnings) -> Result<Dataset, DataError> {
        let file = self.schema.file;
        if self.labels.is_empty() {
            return Err(DataError::Empty { file, what: "rows" });
        }
        warnings.merge(self.warnings);
        let matrix = Matrix::from_rows(self.labels.len(), self.schema.features.len(), self.values)?;
        let features = FeatureNames::from_names(self.schema.features);
        let columns = RowColumns {
            doc_ids: self.doc_ids,
            row_weights: self.row_weights,
            query_weights: self.query_weights,
            positions: self.positions,
            absent: self.options.absent,
            ..RowColumns::new(matrix, features, self.labels, self.queries, self.query_of_row)
        };
        Dataset::grouped(columns, &file, warnings)
    }
}
