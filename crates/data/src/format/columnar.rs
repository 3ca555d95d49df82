//! Parquet and Arrow IPC (file and stream): one column per feature, or one list column `features`.
//!
//! Integers, floats, booleans, decimals, strings and dictionaries of them are read; a column of
//! another type must be ignored by name. A null is a missing value; in a query id, a label, a
//! weight or a position it is an error with its row (counted from 1).
//!
//! Files are untrusted. Every length in a file that our code reads is compared with the available
//! bytes before memory is allocated for it; and since the arrow and parquet crates still panic on
//! some damaged files, a panic inside them becomes an error here. (The panic's own message still
//! goes to standard error; a library must not replace the hook.)

mod ipc;
mod metadata;
#[cfg(test)]
mod tests;
mod values;
// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use std::collections::HashMap;
use std::fmt;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_schema::{Field, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use self::metadata::Metadata;
use self::values::{ListColumn, Values, is_plain, is_plain_list};
use super::ReadOptions;
use super::feature_set::FeatureSets;
use super::roles::Role;
use super::table::{Fields, Slot, TableBuilder, TableSchema};
use crate::arrow_values::{UnreadableValues, list_range};
use crate::bytes::{Bytes, Input};
use crate::dataset::{Absent, Dataset};
use crate::error::{ColumnProblem, DataError, FileDamage, Remedy, SourceLocation};
use crate::panics::catch_panic;
use crate::warnings::{WarningKind, Warnings};

pub(super) use self::write::{write_arrow, write_parquet};

/// A column of this name may hold all features of a row as a list.
const LIST_COLUMN: &str = "features";

/// Number of rows decoded at a time.
const READ_ROWS: usize = 8192;

/// Reads one data set from Parquet files with the same columns.
pub(super) fn read_parquet(
    inputs: Vec<Input>,
    options: &ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
) -> Result<Dataset, DataError> {
    read_each(inputs, options, sets, warnings, |name, bytes, collector| {
        let fail = |error: &dyn fmt::Display| damaged(name, FileDamage::reader(error));
        // The types of Parquet itself are enough; the Arrow schema that some writers embed is one
        // more part that can be damaged.
        let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, plain)
            .map_err(|e| fail(&e))?;
        let schema = builder.schema().clone();
        let entries = builder.metadata().file_metadata().key_value_metadata();
        let entries = entries.into_iter().flatten();
        let entries = entries.map(|entry| (&*entry.key, entry.value.as_deref().unwrap_or("")));
        collector.open(name, &schema, Metadata::read(name, entries)?)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), collector.read_columns(&schema));
        let reader = builder.with_projection(mask).with_batch_size(READ_ROWS).build();
        for batch in reader.map_err(|e| fail(&e))? {
            collector.batch(name, &batch.map_err(|e| fail(&e))?)?;
        }
        Ok(())
    })
}

/// Reads one data set from Arrow IPC files or streams with the same columns.
pub(super) fn read_arrow(
    inputs: Vec<Input>,
    options: &ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
) -> Result<Dataset, DataError> {
    read_each(inputs, options, sets, warnings, |name, bytes, collector| {
        let buffer = Buffer::from(bytes);
        match buffer.starts_with(b"ARROW1") {
            true => ipc::read_file(name, buffer, collector),
            false => ipc::read_stream(name, buffer, collector),
        }
    })
}

type ReadOne<'o> = fn(&str, ::bytes::Bytes, &mut Collector<'o>) -> Result<(), DataError>;

/// Runs a reader over each input and turns its panics into errors.
fn read_each<'o>(
    inputs: Vec<Input>,
    options: &'o ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
    read: ReadOne<'o>,
) -> Result<Dataset, DataError> {
    let mut collector = Collector::new(options);
    for (number, input) in inputs.into_iter().enumerate() {
        // Neither copies: the mapped file itself becomes the owner of the bytes.
        let bytes = match input.bytes {
            Bytes::Mapped(map) => ::bytes::Bytes::from_owner(map),
            Bytes::Owned(bytes) => ::bytes::Bytes::from(bytes),
        };
        // The collector is dropped when this fails, so its partial state is never used.
        let result = catch_panic(|| read(&input.name, bytes, &mut collector));
        result.map_err(|message| damaged(&input.name, FileDamage::panic(&message)))??;
        if let Some(text) = collector.feature_set.take() {
            sets.set_inside(number, text);
        }
    }
    collector.finish(warnings)
}

fn damaged(file: &str, damage: FileDamage) -> DataError {
    DataError::Damaged { file: file.to_owned(), damage }
}

/// The target of a column of the current file.
#[derive(Clone, Copy)]
enum ColumnTarget {
    Cell(Slot),
    /// The list column, whose values are the last columns of the matrix.
    List,
}

/// Collects batches into a table.
struct Collector<'o> {
    options: &'o ReadOptions,
    /// The name of the first file.
    first: String,
    /// The columns, before the first batch shows the length of the lists.
    pending: Option<TableSchema>,
    table: Option<TableBuilder<'o>>,
    /// The number of values in each list; 0 if there is no list column.
    list_length: usize,
    /// Columns of the current file.
    targets: HashMap<String, ColumnTarget>,
    /// Rows of the current file, so far.
    rows: u64,
    /// The feature set of the current file.
    feature_set: Option<String>,
    /// The rule for absent features, if a file records it.
    absent: Option<Absent>,
}

impl<'o> Collector<'o> {
    fn new(options: &'o ReadOptions) -> Self {
        Collector {
            options,
            first: String::new(),
            pending: None,
            table: None,
            list_length: 0,
            targets: HashMap::new(),
            rows: 0,
            feature_set: None,
            absent: None,
        }
    }

    /// Starts a file: gives its columns their roles and checks their types.
    fn open(
        &mut self,
        file: &str,
        schema: &SchemaRef,
        metadata: Metadata,
    ) -> Result<(), DataError> {
        self.rows = 0;
        self.feature_set = metadata.feature_set;
        if let (Some(known), Some(absent)) = (self.absent, metadata.absent)
            && known != absent
        {
            let first = self.first.clone();
            return Err(DataError::AbsentRules { first, second: file.to_owned() });
        }
        self.absent = self.absent.or(metadata.absent);
        let is_list = |field: &Field| {
            field.name() == LIST_COLUMN
                && is_plain_list(field.data_type())
                && self.options.roles.role(LIST_COLUMN).is_none()
        };
        let (lists, plain): (Vec<&Field>, Vec<&Field>) =
            schema.fields().iter().map(|field| field.as_ref()).partition(|field| is_list(field));
        let names: Vec<String> = plain.iter().map(|field| field.name().clone()).collect();
        let known = self.table.as_ref().map(TableBuilder::schema).or(self.pending.as_ref());
        let slots = match known {
            Some(known) => known.slots(file, &names)?,
            None => {
                let schema = TableSchema::new(file, &names, &self.options.roles)?;
                let slots = schema.columns().iter().map(|(_, slot)| *slot).collect();
                self.first = file.to_owned();
                self.pending = Some(schema);
                slots
            }
        };
        if self.table.is_some() && (self.list_length == 0) != lists.is_empty() {
            let first = self.first.clone();
            return Err(DataError::columns(file, ColumnProblem::ListInOne { first }));
        }
        for (field, slot) in plain.iter().zip(&slots) {
            check_type(file, field, *slot)?;
        }
        let plain = names.into_iter().zip(slots.into_iter().map(ColumnTarget::Cell));
        let lists = lists.into_iter().map(|field| (field.name().clone(), ColumnTarget::List));
        self.targets = plain.chain(lists).collect();
        Ok(())
    }

    /// The numbers of the columns that are not ignored.
    fn read_columns(&self, schema: &SchemaRef) -> Vec<usize> {
        let ignored = |name: &String| {
            matches!(self.targets.get(name), Some(ColumnTarget::Cell(Slot::Role(Role::Ignore))))
        };
        (0..schema.fields().len()).filter(|&at| !ignored(schema.field(at).name())).collect()
    }

    fn batch(&mut self, file: &str, batch: &RecordBatch) -> Result<(), DataError> {
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        let mut table = match (self.table.take(), self.pending.take()) {
            (Some(table), _) => table,
            (None, Some(schema)) => self.table_for(file, schema, batch)?,
            (None, None) => return Err(damaged(file, FileDamage::NoSchema)),
        };
        let width = table.schema().features().len();
        let cells = table.add_rows(file, rows, f32::NAN)?;
        let mut roles: Vec<(&str, Role, Values)> = Vec::new();
        let mut missing_words = 0;
        for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            let name = field.name().as_str();
            let failed = |error| unreadable(file, name, &error);
            match self.targets.get(name) {
                None | Some(ColumnTarget::Cell(Slot::Role(Role::Ignore))) => {}
                Some(ColumnTarget::Cell(Slot::Role(role @ (Role::Query | Role::Docid)))) => {
                    roles.push((name, *role, Values::ids(array).map_err(failed)?));
                }
                Some(ColumnTarget::Cell(Slot::Role(role))) => {
                    roles.push((name, *role, Values::of(array).map_err(failed)?));
                }
                Some(ColumnTarget::Cell(Slot::Feature(column))) => {
                    let source = Values::of(array).map_err(failed)?;
                    missing_words +=
                        source.fill_column(cells, width, *column).map_err(|(row, problem)| {
                            problem.at(self.location(file, row).in_field(name))
                        })?;
                }
                Some(ColumnTarget::List) => {
                    let lists = ListColumn::of(array, self.list_length).map_err(failed)?;
                    lists.fill_last_columns(cells, width).map_err(|(row, problem)| {
                        problem.at(self.location(file, row).in_field(name))
                    })?;
                }
            }
        }
        table
            .warnings
            .add(WarningKind::MissingValues, missing_words, || SourceLocation::file(file));
        for row in 0..rows {
            let location = || self.location(file, row);
            let mut fields = Fields::default();
            for (name, role, values) in &roles {
                let set = values.set(row, *role, &mut fields);
                set.map_err(|problem| problem.at(location().in_field(*name)))?;
            }
            table.end_row(fields, location)?;
        }
        self.rows += rows as u64;
        self.table = Some(table);
        Ok(())
    }

    /// The location of a row of the current batch.
    fn location(&self, file: &str, row: usize) -> SourceLocation {
        SourceLocation::line(file, self.rows + row as u64 + 1)
    }

    /// Makes the table, once the first row of the first batch shows the length of the lists.
    fn table_for(
        &mut self,
        file: &str,
        mut schema: TableSchema,
        batch: &RecordBatch,
    ) -> Result<TableBuilder<'o>, DataError> {
        let list = batch.column_by_name(LIST_COLUMN);
        let list =
            list.filter(|_| matches!(self.targets.get(LIST_COLUMN), Some(ColumnTarget::List)));
        if let Some(list) = list {
            self.list_length = list_range(list, 0).map_or(0, |range| range.len());
            if self.list_length == 0 {
                let location = self.location(file, 0).in_field(LIST_COLUMN);
                return Err(DataError::malformed(location, "an empty list", "a list of features"));
            }
            for name in (1..=self.list_length).map(|id| id.to_string()) {
                if schema.features().contains(&name) {
                    let problem =
                        ColumnProblem::ColumnAndListed { column: name, list: LIST_COLUMN };
                    return Err(DataError::columns(file, problem));
                }
                schema.add_feature(name);
            }
        }
        Ok(TableBuilder::new(schema, self.options))
    }

    fn finish(self, warnings: &mut Warnings) -> Result<Dataset, DataError> {
        match self.table {
            Some(table) => {
                let data = table.finish(warnings)?;
                Ok(Dataset { absent: self.absent.unwrap_or(data.absent), ..data })
            }
            None => Err(DataError::Empty { file: self.first, what: "rows" }),
        }
    }
}

fn unreadable(file: &str, column: &str, error: &UnreadableValues) -> DataError {
    let location = SourceLocation::file(file).in_field(column);
    DataError::malformed(location, format!("values that cannot be read ({error})"), "plain values")
        .with_help(Remedy::IgnoreColumn { column: column.to_owned() })
}

fn check_type(file: &str, field: &Field, slot: Slot) -> Result<(), DataError> {
    let kind = field.data_type();
    let fits = match slot {
        Slot::Role(Role::Ignore) => true,
        Slot::Role(Role::Query | Role::Docid) => is_plain(kind) || kind.is_binary(),
        _ => is_plain(kind),
    };
    if fits {
        return Ok(());
    }
    let column = field.name().clone();
    let kind: String = kind.to_string().chars().take(60).collect();
    Err(DataError::columns(file, ColumnProblem::Type { column, kind }))
}
