//! Arrays of the buffer protocol as features: any order, any strides, several types of numbers.
//!
//! A C-contiguous array of 32-bit floats is shared without a copy. Everything else is copied in
//! blocks of rows, which are divided among the threads. Rows that are adjacent in memory are
//! converted as they are. Columns that are adjacent in memory (Fortran order, columns of frames) are
//! transposed eight at a time, through a tile that stays in the nearest cache: a column is read over
//! whole pages of memory, and the rows of a block stay in the second cache until all of their columns
//! are there. Arrays of other strides are copied number by number.

use std::sync::Arc;

use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::prelude::*;
use rankwright::data::{DataError, Matrix};

use crate::errors::of_kind;
use crate::run::in_pool;

/// The rows of a block: 1024 rows of 136 features are half a megabyte.
const BLOCK: usize = 1024;

/// The type of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberType {
    F32,
    F64,
    I64,
    I32,
}

/// A column of numbers in memory that somebody else keeps alive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnView {
    /// The first value; the others follow at multiples of `stride` bytes.
    pointer: *const u8,
    stride: isize,
    numbers: NumberType,
}

// SAFETY: a view only reads memory that its creator keeps alive and unchanged.
unsafe impl Send for ColumnView {}
// SAFETY: as above; reading from several threads is no race.
unsafe impl Sync for ColumnView {}

/// A number that becomes a feature.
pub(crate) trait Number: Copy {
    /// The type of the number.
    const TYPE: NumberType;
    fn feature(self) -> f32;
    fn wide(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty: $variant:ident),*) => { $(
        impl Number for $number {
            const TYPE: NumberType = NumberType::$variant;
            fn feature(self) -> f32 {
                self as f32
            }
            fn wide(self) -> f64 {
                self as f64
            }
        }
    )* };
}

numbers!(f32: F32, f64: F64, i64: I64, i32: I32);

/// Calls a generic function with the type of the numbers.
macro_rules! with_type {
    ($numbers:expr, $function:ident($($argument:expr),*)) => {
        match $numbers {
            NumberType::F32 => $function::<f32>($($argument),*),
            NumberType::F64 => $function::<f64>($($argument),*),
            NumberType::I64 => $function::<i64>($($argument),*),
            NumberType::I32 => $function::<i32>($($argument),*),
        }
    };
}

impl ColumnView {
    /// The column of a slice of numbers, which the caller keeps alive.
    pub(crate) fn of_slice<T: Number>(values: &[T]) -> Self {
        let pointer = values.as_ptr().cast();
        ColumnView { pointer, stride: size_of(T::TYPE), numbers: T::TYPE }
    }

    /// Copies the rows from `first_row` on into every `width`th cell; returns the first cell whose
    /// number is finite and out of the range of 32-bit floats, with the number.
    ///
    /// # Safety
    ///
    /// The column has a row for each of these cells, from `first_row` on.
    unsafe fn copy(
        self,
        first_row: usize,
        cells: &mut [f32],
        width: usize,
    ) -> Option<(usize, f64)> {
        let first = self.pointer.wrapping_offset(first_row as isize * self.stride);
        // SAFETY: as the caller promises.
        unsafe { with_type!(self.numbers, copy_as(first, self.stride, cells, width)) }
    }
}

/// Copies numbers of one type, see [`ColumnView::copy`].
///
/// # Safety
///
/// There is a number at `first` and at each multiple of `stride` after it, one for each cell.
unsafe fn copy_as<T: Number>(
    first: *const u8,
    stride: isize,
    cells: &mut [f32],
    width: usize,
) -> Option<(usize, f64)> {
    // SAFETY: as the caller promises; arrays may be unaligned.
    let read = |at: *const u8| unsafe { at.cast::<T>().read_unaligned() };
    let mut at = first;
    let mut is_any_infinite = false;
    for cells in cells.chunks_mut(width) {
        let value = read(at).feature();
        is_any_infinite |= value.is_infinite();
        cells[0] = value;
        at = at.wrapping_offset(stride);
    }
    if !is_any_infinite {
        return None;
    }
    let count = cells.len().div_ceil(width);
    let numbers = (0..count).map(|row| read(first.wrapping_offset(row as isize * stride)));
    let mut overflows = numbers
        .enumerate()
        .filter(|(_, number)| number.feature().is_infinite() && number.wide().is_finite());
    overflows.next().map(|(row, number)| (row, number.wide()))
}

/// The columns that are transposed at a time, and the rows of a tile.
const GROUP: usize = 8;
const TILE: usize = 32;

/// Transposes the rows from `first_row` on of columns of one type, whose numbers are adjacent in
/// memory, into the first cells of each `width` cells; returns whether a number is infinite as a
/// feature.
///
/// # Safety
///
/// Each column has numbers of this type, and a row for each `width` cells, from `first_row` on.
unsafe fn transpose<T: Number>(
    columns: &[ColumnView; GROUP],
    first_row: usize,
    cells: &mut [f32],
    width: usize,
) -> bool {
    let mut is_any_infinite = false;
    let mut tile = [[0.0_f32; TILE]; GROUP];
    for (number, cells) in cells.chunks_mut(TILE * width).enumerate() {
        let first_row = first_row + number * TILE;
        let rows = cells.len().div_ceil(width);
        for (tile, column) in tile.iter_mut().zip(columns) {
            let first = column.pointer.cast::<T>().wrapping_add(first_row);
            for (row, to) in tile[..rows].iter_mut().enumerate() {
                // SAFETY: as the caller promises; arrays may be unaligned.
                let value = unsafe { first.wrapping_add(row).read_unaligned() }.feature();
                is_any_infinite |= value.is_infinite();
                *to = value;
            }
        }
        for (row, cells) in cells.chunks_mut(width).enumerate() {
            for (cell, tile) in cells[..GROUP].iter_mut().zip(&tile) {
                *cell = tile[row];
            }
        }
    }
    is_any_infinite
}

/// Converts rows whose numbers are adjacent in memory; returns whether a number is infinite as a
/// feature. `stride` is that of the rows, in bytes.
///
/// # Safety
///
/// There are `width` numbers of this type at `first` and at each multiple of `stride` after it, one
/// row for each `width` cells.
unsafe fn convert_rows<T: Number>(
    first: *const u8,
    stride: isize,
    cells: &mut [f32],
    width: usize,
) -> bool {
    let mut is_any_infinite = false;
    for (row, cells) in cells.chunks_mut(width).enumerate() {
        let first = first.wrapping_offset(row as isize * stride).cast::<T>();
        for (number, cell) in cells.iter_mut().enumerate() {
            // SAFETY: as the caller promises; arrays may be unaligned.
            let value = unsafe { first.wrapping_add(number).read_unaligned() }.feature();
            is_any_infinite |= value.is_infinite();
            *cell = value;
        }
    }
    is_any_infinite
}

/// The bytes of a number.
fn size_of(numbers: NumberType) -> isize {
    match numbers {
        NumberType::F32 | NumberType::I32 => 4,
        NumberType::F64 | NumberType::I64 => 8,
    }
}

/// The stride of rows whose numbers are adjacent in memory; `None` if they are not.
fn adjacent_rows(columns: &[ColumnView]) -> Option<isize> {
    let first = columns.first()?;
    let step = size_of(first.numbers);
    let is_next = |pair: &[ColumnView]| {
        let [left, right] = pair else { return false };
        left.pointer.wrapping_offset(step) == right.pointer
            && (left.stride, left.numbers) == (right.stride, right.numbers)
    };
    columns.windows(2).all(is_next).then_some(first.stride)
}

/// The group of columns of one type at the start of a list, if the numbers of each of them are
/// adjacent in memory.
fn adjacent_group(columns: &[ColumnView]) -> Option<&[ColumnView; GROUP]> {
    let group: &[ColumnView; GROUP] = columns.get(..GROUP)?.try_into().ok()?;
    let numbers = group[0].numbers;
    let is_adjacent =
        |column: &ColumnView| column.numbers == numbers && column.stride == size_of(numbers);
    group.iter().all(is_adjacent).then_some(group)
}

/// Copies a block of rows; returns the place and the number of a cell that is out of the range of
/// 32-bit floats, if there is one.
///
/// # Safety
///
/// Each column has a row for each `columns.len()` cells, from `first_row` on.
unsafe fn copy_block(
    columns: &[ColumnView],
    first_row: usize,
    cells: &mut [f32],
) -> Option<(usize, usize, f64)> {
    let width = columns.len();
    if let (Some(stride), Some(column)) = (adjacent_rows(columns), columns.first()) {
        let first = column.pointer.wrapping_offset(first_row as isize * stride);
        // SAFETY: as the caller promises: the first number of each row is followed by the others.
        let is_any_infinite =
            unsafe { with_type!(column.numbers, convert_rows(first, stride, cells, width)) };
        if !is_any_infinite {
            return None;
        }
    }
    let mut number = 0;
    while number < width {
        let here = &mut cells[number..];
        // SAFETY: as the caller promises.
        let is_copied = adjacent_group(&columns[number..]).is_some_and(|group| unsafe {
            !with_type!(group[0].numbers, transpose(group, first_row, here, width))
        });
        if is_copied {
            number += GROUP;
            continue;
        }
        // SAFETY: as the caller promises.
        let overflow = unsafe { columns[number].copy(first_row, here, width) };
        if let Some((row, value)) = overflow {
            return Some((row, number, value));
        }
        number += 1;
    }
    None
}

/// The matrix of these columns, each of which has `rows` rows; `name` is for errors.
pub(crate) fn matrix_of_columns(
    columns: &[ColumnView],
    rows: usize,
    name: &(dyn Fn(usize) -> String + Sync),
) -> Result<Matrix, DataError> {
    let width = columns.len();
    Matrix::filled(rows, width, |first_row, cells| {
        for (block, cells) in cells.chunks_mut(BLOCK * width).enumerate() {
            let first_row = first_row + block * BLOCK;
            // SAFETY: the cells are those of rows of the matrix, which every column has.
            if let Some((row, number, value)) = unsafe { copy_block(columns, first_row, cells) } {
                let (feature, row) = (name(number), first_row + row);
                return Err(DataError::FeatureOutOfRange { feature, row, value });
            }
        }
        Ok(())
    })
}

/// The name of a feature in errors: as given, or its number from 1.
pub(crate) fn feature_name(names: Option<&[String]>, number: usize) -> String {
    match names.and_then(|names| names.get(number)) {
        Some(name) => name.clone(),
        None => (number + 1).to_string(),
    }
}

/// An array of numbers, kept alive while its columns are read.
pub(crate) struct NumberArray {
    buffer: PyUntypedBuffer,
    numbers: NumberType,
}

impl NumberArray {
    /// The array of an object; the Python package has converted types other than these.
    pub(crate) fn get(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        let numbers = match () {
            () if buffer.as_typed::<f32>().is_ok() => NumberType::F32,
            () if buffer.as_typed::<f64>().is_ok() => NumberType::F64,
            () if buffer.as_typed::<i64>().is_ok() => NumberType::I64,
            () if buffer.as_typed::<i32>().is_ok() => NumberType::I32,
            () => {
                let kind = buffer.format().to_string_lossy().into_owned();
                let message =
                    format!("an array of the type '{kind}' holds no numbers to learn from");
                return Err(of_kind(object.py(), "array-type", &message, None));
            }
        };
        Ok(NumberArray { buffer, numbers })
    }

    /// Rows and columns; an array of one dimension is one column.
    pub(crate) fn shape(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        match *self.buffer.shape() {
            [rows] => Ok((rows, 1)),
            [rows, columns] => Ok((rows, columns)),
            ref other => {
                let message =
                    format!("features are an array of 2 dimensions; found {}", other.len());
                Err(of_kind(py, "array-dimensions", &message, None))
            }
        }
    }

    /// The columns of the array.
    pub(crate) fn columns(&self) -> Vec<ColumnView> {
        let first = self.buffer.buf_ptr().cast::<u8>().cast_const();
        let strides = self.buffer.strides();
        let (stride, next) = (strides[0], strides.get(1).copied().unwrap_or(0));
        let count = self.buffer.shape().get(1).copied().unwrap_or(1);
        let column = |number: usize| ColumnView {
            pointer: first.wrapping_offset(number as isize * next),
            stride,
            numbers: self.numbers,
        };
        (0..count).map(column).collect()
    }

    /// The features of a small array, row after row, on this thread.
    pub(crate) fn small_matrix(&self, rows: usize, width: usize) -> Result<Vec<f32>, DataError> {
        let mut cells = vec![0.0; rows * width];
        for (number, column) in self.columns().into_iter().enumerate() {
            let Some(cells) = cells.get_mut(number..).filter(|cells| !cells.is_empty()) else {
                break;
            };
            // SAFETY: the array has a row for each of these cells.
            if let Some((row, value)) = unsafe { column.copy(0, cells, width) } {
                let feature = feature_name(None, number);
                return Err(DataError::FeatureOutOfRange { feature, row, value });
            }
        }
        Ok(cells)
    }

    /// The features of the array: shared if it is C-contiguous and of 32-bit floats, else a copy.
    pub(crate) fn into_matrix(
        self,
        py: Python<'_>,
        names: Option<&[String]>,
        threads: usize,
    ) -> PyResult<Matrix> {
        let (rows, columns) = self.shape(py)?;
        if self.numbers == NumberType::F32 && self.buffer.is_c_contiguous() {
            let values = SharedArray(self.buffer.into_typed::<f32>()?);
            return in_pool(py, threads, || Matrix::from_shared(rows, columns, Arc::new(values)));
        }
        let views = self.columns();
        let name = |number: usize| feature_name(names, number);
        in_pool(py, threads, || matrix_of_columns(&views, rows, &name))
    }
}

/// A C-contiguous array whose memory the interpreter keeps.
struct SharedArray(PyBuffer<f32>);

impl AsRef<[f32]> for SharedArray {
    fn as_ref(&self) -> &[f32] {
        let count = self.0.item_count();
        match count {
            0 => &[],
            // SAFETY: the buffer is C-contiguous, aligned and of 32-bit floats, and lives as long as
            // this value. The package's documentation says that the array must not be changed while
            // a data set shares it.
            _ => unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<f32>(), count) },
        }
    }
}

/// The values of an array of one dimension and a certain type, as the Python package has made it.
pub(crate) fn vector<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(object)?.to_vec(object.py())
}

/// Scores as bytes, which the Python package turns into an array without a copy.
pub(crate) fn score_bytes<'py>(
    py: Python<'py>,
    scores: &[f64],
) -> PyResult<Bound<'py, pyo3::types::PyByteArray>> {
    pyo3::types::PyByteArray::new_with(py, scores.len() * 8, |bytes| {
        for (to, score) in bytes.chunks_exact_mut(8).zip(scores) {
            to.copy_from_slice(&score.to_ne_bytes());
        }
        Ok(())
    })
}
