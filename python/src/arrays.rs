//! Arrays of the buffer protocol as features: any order, any strides, several types of numbers.
//!
//! A C-contiguous array of 32-bit floats is shared without a copy. Everything else is copied column
//! by column within small blocks of rows, so that the lines of both sides stay in the processor's
//! cache, and blocks are divided among the threads.

use std::sync::Arc;

use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::prelude::*;
use rankwright::data::{DataError, Matrix};

use crate::errors::of_kind;
use crate::run::in_pool;

/// The rows that are copied at a time: both sides of this many rows and 16 columns fit the cache.
const BLOCK: usize = 128;

/// The type of the numbers of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberType {
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
trait Number: Copy {
    fn feature(self) -> f32;
    fn wide(self) -> f64;
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl Number for $number {
            fn feature(self) -> f32 {
                self as f32
            }
            fn wide(self) -> f64 {
                self as f64
            }
        }
    )* };
}

numbers!(f32 f64 i64 i32);

impl ColumnView {
    /// The column of a slice of 32-bit floats, which the caller keeps alive.
    pub(crate) fn of_slice(values: &[f32]) -> Self {
        let pointer = values.as_ptr().cast();
        ColumnView { pointer, stride: 4, numbers: NumberType::F32 }
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
        unsafe {
            match self.numbers {
                NumberType::F32 => copy_as::<f32>(first, self.stride, cells, width),
                NumberType::F64 => copy_as::<f64>(first, self.stride, cells, width),
                NumberType::I64 => copy_as::<i64>(first, self.stride, cells, width),
                NumberType::I32 => copy_as::<i32>(first, self.stride, cells, width),
            }
        }
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

/// The columns that are copied at a time, so that each row gets half a line of the cache at once.
const GROUP: usize = 8;

/// Copies the rows from `first_row` on of columns of one type into the first cells of each `width`
/// cells; returns whether a number is infinite as a feature.
///
/// # Safety
///
/// Each column has numbers of this type, and a row for each `width` cells, from `first_row` on.
unsafe fn copy_group<T: Number>(
    columns: &[ColumnView; GROUP],
    first_row: usize,
    cells: &mut [f32],
    width: usize,
) -> bool {
    let mut at =
        columns.map(|column| column.pointer.wrapping_offset(first_row as isize * column.stride));
    let mut is_any_infinite = false;
    for cells in cells.chunks_mut(width) {
        for ((cell, at), column) in cells.iter_mut().zip(&mut at).zip(columns) {
            // SAFETY: as the caller promises; arrays may be unaligned.
            let value = unsafe { at.cast::<T>().read_unaligned() }.feature();
            is_any_infinite |= value.is_infinite();
            *cell = value;
            *at = at.wrapping_offset(column.stride);
        }
    }
    is_any_infinite
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
    let mut number = 0;
    while number < width {
        let group: Option<&[ColumnView; GROUP]> =
            columns.get(number..number + GROUP).and_then(|group| group.try_into().ok());
        let same = group
            .filter(|group| group.iter().all(|column| column.numbers == columns[number].numbers));
        let here = &mut cells[number..];
        // SAFETY: as the caller promises.
        let is_copied = same.is_some_and(|group| unsafe {
            !match columns[number].numbers {
                NumberType::F32 => copy_group::<f32>(group, first_row, here, width),
                NumberType::F64 => copy_group::<f64>(group, first_row, here, width),
                NumberType::I64 => copy_group::<i64>(group, first_row, here, width),
                NumberType::I32 => copy_group::<i32>(group, first_row, here, width),
            }
        });
        let count = if is_copied { GROUP } else { 1 };
        if !is_copied {
            // SAFETY: as the caller promises.
            let overflow = unsafe { columns[number].copy(first_row, here, width) };
            if let Some((row, value)) = overflow {
                return Some((row, number, value));
            }
        }
        number += count;
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
