//! Rows of the matrix from decoded columns.
//!
//! Columns are decoded in parallel, a few row groups (a wave) at a time, so that memory stays
//! bounded; then blocks of rows are filled in parallel. Sixteen rows are filled together: the
//! sixteen values of a column are one cache line, and the rows stay in the first-level cache of the
//! processor.

use rayon::prelude::*;

use super::decode::{Decoded, decode};
use super::values::{ListColumn, Values};
use super::{ColumnarTable, RowGroup, unreadable};
use crate::error::{DataError, FileDamage, SourceLocation};
use crate::format::ReadOptions;
use crate::format::roles::Role;
use crate::format::table::{
    RoleValues, RowPart, Slot, TableRead, TableSchema, join_parts, new_matrix,
};
use crate::warnings::Warnings;

/// The number of cells (256 MiB) that are decoded before rows are filled from them.
const WAVE_CELLS: usize = 64 << 20;

/// The number of rows that one task fills.
const BLOCK_ROWS: usize = 2048;

/// The number of rows and of columns that are transposed together.
const SQUARE: usize = 16;

/// The number of columns that one task decodes.
const COLUMNS_PER_TASK: usize = 8;

/// Reads all rows of a table.
pub(super) fn read(
    table: &ColumnarTable,
    schema: &TableSchema,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<TableRead, DataError> {
    let groups = table.groups();
    let rows = groups.iter().try_fold(0usize, |sum, group| sum.checked_add(group.rows));
    let rows = rows.unwrap_or(usize::MAX);
    let width = schema.features().len();
    let mut matrix = new_matrix(schema, rows, options)?;
    let mut rest = matrix.values_mut();
    let mut parts: Vec<RowPart> = Vec::new();
    let mut groups = groups.into_iter().peekable();
    while groups.peek().is_some() {
        // Row groups, each with its rows of the matrix.
        let (mut wave, mut cells) = (Vec::new(), 0usize);
        while let Some(group) = groups.next_if(|_| cells < WAVE_CELLS) {
            cells = cells.saturating_add(group.rows.saturating_mul(width));
            let length = group.rows * width;
            let (group_rows, after) = std::mem::take(&mut rest).split_at_mut(length);
            wave.push((group, group_rows));
            rest = after;
        }
        read_wave(table, schema, wave, &mut parts)?;
    }
    join_parts(schema, matrix, parts, options.absent, warnings)
}

/// Decodes some row groups and fills their rows of the matrix.
fn read_wave(
    table: &ColumnarTable,
    schema: &TableSchema,
    wave: Vec<(RowGroup, &mut [f32])>,
    parts: &mut Vec<RowPart>,
) -> Result<(), DataError> {
    // The index of a group in the wave, and some of its fields.
    let mut tasks: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, (group, _)) in wave.iter().enumerate() {
        let fields = used_fields(table, schema, group.file);
        tasks.extend(fields.chunks(COLUMNS_PER_TASK).map(|fields| (index, fields.to_vec())));
    }
    let group_at = |index: usize| wave.get(index).map(|(group, _)| *group);
    let decoded: Vec<Result<Vec<Decoded>, DataError>> = tasks
        .par_iter()
        .map(|(index, fields)| match group_at(*index) {
            Some(group) => decode(table, schema, group, fields),
            None => Ok(Vec::new()),
        })
        .collect();
    let mut group_columns: Vec<GroupColumns> =
        wave.iter().map(|(group, _)| GroupColumns::new(*group, schema)).collect();
    // A part without rows, for the warnings and wrong guesses of all columns.
    let mut column_part = RowPart::default();
    for ((index, _), columns) in tasks.iter().zip(decoded) {
        if let Some(group) = group_columns.get_mut(*index) {
            columns?.into_iter().for_each(|column| group.add(column, &mut column_part));
        }
    }
    parts.push(column_part);
    let width = schema.features().len();
    let mut blocks = Vec::new();
    for ((group, mut cells), columns) in wave.into_iter().zip(&group_columns) {
        for start in (0..group.rows).step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(group.rows - start);
            let (block, after) = cells.split_at_mut(count * width);
            blocks.push((columns, start, count, block));
            cells = after;
        }
    }
    let filled: Vec<Result<RowPart, DataError>> = blocks
        .into_par_iter()
        .map(|(columns, start, count, cells)| columns.fill(table, schema, start, count, cells))
        .collect();
    for part in filled {
        parts.push(part?);
    }
    Ok(())
}

/// The fields of a file that are not ignored, in their order.
fn used_fields(table: &ColumnarTable, schema: &TableSchema, file: usize) -> Vec<usize> {
    let Some(file) = table.files.get(file) else { return Vec::new() };
    let is_used = |number: &Option<usize>| {
        number.is_none_or(|number| schema.slot_of(number) != Slot::Role(Role::Ignore))
    };
    let fields = file.column_numbers.iter().enumerate();
    fields.filter(|(_, number)| is_used(number)).map(|(field, _)| field).collect()
}

/// The decoded columns of a row group.
struct GroupColumns {
    group: RowGroup,
    /// By feature; `None` for elements of the list column.
    features: Vec<Option<super::decode::FeatureValues>>,
    /// The columns that are no features: slot, name and values.
    roles: Vec<(Slot, String, Values)>,
    /// The list column.
    list: Option<arrow_array::ArrayRef>,
    /// Whether a column was wrongly guessed to be numbers, so that the table is read again.
    has_wrong_guess: bool,
}

impl GroupColumns {
    fn new(group: RowGroup, schema: &TableSchema) -> GroupColumns {
        let features = schema.features().iter().map(|_| None).collect();
        GroupColumns { group, features, roles: Vec::new(), list: None, has_wrong_guess: false }
    }

    /// Adds a column; its warnings and a wrong guess go to `part`.
    fn add(&mut self, column: Decoded, part: &mut RowPart) {
        match column {
            Decoded::Nothing => {}
            Decoded::Features { first, values, missing_words, warnings } => {
                part.missing_words.merge(missing_words);
                part.warnings.merge(warnings);
                for (target, values) in self.features.iter_mut().skip(first).zip(values) {
                    *target = Some(values);
                }
            }
            Decoded::NotNumbers { feature } => {
                self.has_wrong_guess = true;
                part.mark_not_number(feature);
            }
            Decoded::Role { slot, name, values } => self.roles.push((slot, name, values)),
            Decoded::List(array) => self.list = Some(array),
        }
    }

    /// Fills a block of `count` rows, beginning with the row `start` of the group.
    fn fill(
        &self,
        table: &ColumnarTable,
        schema: &TableSchema,
        start: usize,
        count: usize,
        cells: &mut [f32],
    ) -> Result<RowPart, DataError> {
        let file = table.files.get(self.group.file).map_or("", |file| &file.name);
        let location =
            |row: usize| SourceLocation::line(file, (self.group.first_row + row + 1) as u64);
        let width = schema.features().len();
        let slices: Vec<&[f32]> = self
            .features
            .iter()
            .map(|values| values.as_ref().map_or(&[][..], |values| values.values()))
            .collect();
        if slices.iter().any(|slice| !slice.is_empty() && slice.len() < start + count) {
            let damage = FileDamage::reader("a column with too few values");
            return Err(super::damaged(file, damage));
        }
        if width > 0 {
            transpose(&slices, start, width, cells);
        }
        if let Some(list) = &self.list {
            let failed = |error| unreadable(file, super::LIST_COLUMN, &error);
            let length = table.list_length.unwrap_or(0);
            let lists = ListColumn::of(list, length).map_err(failed)?;
            lists
                .fill_last_columns(start, cells, width)
                .map_err(|(row, problem)| problem.at(location(row).in_field(super::LIST_COLUMN)))?;
        }
        let mut part = RowPart::default();
        // If the table is read again anyway, errors of these rows do not matter yet.
        for row in (start..start + count).filter(|_| !self.has_wrong_guess) {
            let mut role_values = RoleValues::default();
            for (slot, name, values) in &self.roles {
                let set = values.set(row, *slot, &mut role_values);
                set.map_err(|problem| problem.at(location(row).in_field(name)))?;
            }
            part.end_row(schema, role_values, || location(row))?;
        }
        Ok(part)
    }
}

/// Fills rows from columns, beginning with the value at `start`; cells of columns without values
/// become missing. Squares of sixteen rows and columns are transposed in registers and in the
/// first-level cache.
fn transpose(columns: &[&[f32]], start: usize, width: usize, cells: &mut [f32]) {
    for (number, rows) in cells.chunks_mut(width * SQUARE).enumerate() {
        let first = start + number * SQUARE;
        let is_whole = rows.len() == width * SQUARE;
        let squares = if is_whole { columns.chunks_exact(SQUARE) } else { [].chunks_exact(SQUARE) };
        let mut filled = 0;
        for square in squares {
            let mut values = [[f32::NAN; SQUARE]; SQUARE];
            for (target, column) in values.iter_mut().zip(square) {
                if let Some(column) = column.get(first..first + SQUARE) {
                    target.copy_from_slice(column);
                }
            }
            for (row, cells) in rows.chunks_exact_mut(width).enumerate().take(SQUARE) {
                let cells = cells.get_mut(filled..filled + SQUARE).unwrap_or_default();
                for (cell, column) in cells.iter_mut().zip(&values) {
                    *cell = plain_nan(column.get(row).copied().unwrap_or(f32::NAN));
                }
            }
            filled += SQUARE;
        }
        transpose_by_columns(columns, first, width, rows, filled);
    }
}

/// Fills the columns from `filled` on, one after the other.
fn transpose_by_columns(
    columns: &[&[f32]],
    first: usize,
    width: usize,
    rows: &mut [f32],
    filled: usize,
) {
    let count = rows.len() / width;
    for (column, values) in columns.iter().enumerate().skip(filled) {
        let targets = rows.iter_mut().skip(column).step_by(width);
        match values.get(first..first + count) {
            Some(values) => {
                targets.zip(values).for_each(|(cell, value)| *cell = plain_nan(*value));
            }
            None => targets.for_each(|cell| *cell = f32::NAN),
        }
    }
}

/// The value; every NaN with the same bits.
fn plain_nan(value: f32) -> f32 {
    if value.is_nan() { f32::NAN } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_of_rows_and_columns_have_the_cells_of_single_columns() {
        let other_nan = f32::from_bits(0x7fc0_0001);
        for (rows, width) in [(1, 1), (16, 16), (15, 17), (40, 35), (64, 5), (33, 32)] {
            let start = 3;
            let value = |row: usize, column: usize| match (row + column) % 11 {
                0 => other_nan,
                _ => (row * 100 + column) as f32,
            };
            let columns: Vec<Vec<f32>> = (0..width)
                .map(|column| (0..rows + start).map(|row| value(row, column)).collect())
                .collect();
            // Every seventh column has no values, like an element of a list column.
            let slices: Vec<&[f32]> = (0..width)
                .map(|column| if column % 7 == 6 { &[][..] } else { columns[column].as_slice() })
                .collect();
            let (mut fast, mut reference) = (vec![0.0; rows * width], vec![0.0; rows * width]);
            transpose(&slices, start, width, &mut fast);
            transpose_by_columns(&slices, start, width, &mut reference, 0);
            let bits = |cells: &[f32]| cells.iter().map(|cell| cell.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&fast), bits(&reference), "{rows} x {width}");
            let is_missing = reference[0].to_bits() == f32::NAN.to_bits();
            assert_eq!(is_missing, value(start, 0).is_nan());
        }
    }
}
