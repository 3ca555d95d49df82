//! The feature matrix: f32, row-major, NaN is "missing"; owned, shared with the program that made
//! it, or mapped from a cache file.
//!
//! A large matrix that a reader fills is in anonymous memory pages of its own, in huge pages if the
//! kernel has them: to touch 400 MB for the first time in pages of 4 KiB would cost a fifth of the
//! whole reading time.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{Mmap, MmapMut};
use rayon::prelude::*;

use crate::error::DataError;

/// Rows of equally many f32 values.
#[derive(Debug, Clone)]
pub struct Matrix {
    storage: Storage,
    rows: usize,
    columns: usize,
}

/// The memory of a matrix.
#[derive(Debug)]
enum Storage {
    Owned(Vec<f32>),
    /// Anonymous memory pages.
    Pages(MmapMut),
    /// A mapped file, from the byte `start` on.
    Mapped {
        map: Arc<Mmap>,
        start: usize,
    },
    /// Memory that the program which made the matrix owns too.
    Shared(SharedValues),
}

/// Values in memory that another part of the program owns too.
#[derive(Clone)]
struct SharedValues(Arc<dyn AsRef<[f32]> + Send + Sync>);

impl fmt::Debug for SharedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedValues").field(&(*self.0).as_ref()).finish()
    }
}

impl Clone for Storage {
    fn clone(&self) -> Self {
        match self {
            Storage::Owned(values) => Storage::Owned(values.clone()),
            Storage::Pages(pages) => Storage::Owned(bytemuck::cast_slice(pages).to_vec()),
            Storage::Mapped { map, start } => Storage::Mapped { map: map.clone(), start: *start },
            Storage::Shared(values) => Storage::Shared(values.clone()),
        }
    }
}

/// The rows of a block that a thread fills at a time.
const FILLED_ROWS: usize = 4096;

/// From this many bytes on, a matrix gets memory pages of its own.
const MIN_BYTES_FOR_PAGES: usize = 4 << 20;

impl Matrix {
    /// A matrix of the given values, row after row.
    ///
    /// ```
    /// use rankwright_data::Matrix;
    /// let m = Matrix::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// assert_eq!(m.row(1), [4.0, 5.0, 6.0]);
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn from_rows(rows: usize, columns: usize, values: Vec<f32>) -> Result<Self, DataError> {
        if rows.checked_mul(columns) != Some(values.len()) {
            let what = "value";
            let (found, per, expected) = (values.len(), "cell", rows.saturating_mul(columns));
            return Err(DataError::LengthMismatch { what, found, per, expected });
        }
        Ok(Matrix { storage: Storage::Owned(values), rows, columns })
    }

    /// A matrix of values that another part of the program owns too, row after row, without a copy.
    /// They must not change.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use rankwright_data::Matrix;
    /// let m = Matrix::from_shared(2, 2, Arc::new([1.0, 2.0, 3.0, 4.0]))?;
    /// assert_eq!(m.row(1), [3.0, 4.0]);
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn from_shared(
        rows: usize,
        columns: usize,
        values: Arc<dyn AsRef<[f32]> + Send + Sync>,
    ) -> Result<Self, DataError> {
        let found = (*values).as_ref().len();
        if rows.checked_mul(columns) != Some(found) {
            let (what, per, expected) = ("value", "cell", rows.saturating_mul(columns));
            return Err(DataError::LengthMismatch { what, found, per, expected });
        }
        Ok(Matrix { storage: Storage::Shared(SharedValues(values)), rows, columns })
    }

    /// A matrix that `fill` fills, a block of consecutive rows at a time, on all threads: it gets
    /// the number of the first row and the values of the block, row after row, all 0. `fill` may
    /// fail; which of several errors is returned is not determined.
    ///
    /// ```
    /// use rankwright_data::{DataError, Matrix};
    /// let m = Matrix::filled(1000, 2, |first_row, block| {
    ///     for (row, values) in (first_row..).zip(block.chunks_exact_mut(2)) {
    ///         values.copy_from_slice(&[row as f32, -1.0]);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(m.row(999), [999.0, -1.0]);
    /// # Ok::<(), DataError>(())
    /// ```
    pub fn filled(
        rows: usize,
        columns: usize,
        fill: impl Fn(usize, &mut [f32]) -> Result<(), DataError> + Sync,
    ) -> Result<Self, DataError> {
        let memory = |error| DataError::io("allocate", "a matrix of features", error);
        let mut matrix = Matrix::zeroed(rows, columns).map_err(memory)?;
        if columns > 0 {
            let blocks = matrix.values_mut().par_chunks_mut(FILLED_ROWS * columns);
            blocks.enumerate().try_for_each(|(block, values)| fill(block * FILLED_ROWS, values))?;
        }
        Ok(matrix)
    }

    /// A matrix of zeros, for a reader to fill; an error if there is no memory for it.
    pub(crate) fn zeroed(rows: usize, columns: usize) -> io::Result<Self> {
        let bytes = rows.checked_mul(columns).and_then(|cells| cells.checked_mul(4));
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        if bytes < MIN_BYTES_FOR_PAGES {
            let storage = Storage::Owned(vec![0.0; bytes / 4]);
            return Ok(Matrix { storage, rows, columns });
        }
        let pages = MmapMut::map_anon(bytes)?;
        // Only advice: without huge pages reading is slower, with the same result.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Ok(Matrix { storage: Storage::Pages(pages), rows, columns })
    }

    /// All values, row after row, to be changed; empty for a matrix in a mapped file or in shared
    /// memory.
    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        match &mut self.storage {
            Storage::Owned(values) => values,
            Storage::Pages(pages) => bytemuck::cast_slice_mut(pages),
            Storage::Mapped { .. } | Storage::Shared(_) => &mut [],
        }
    }

    /// The same matrix in memory of its own, so that its values can be changed.
    pub(crate) fn into_owned(self) -> Matrix {
        match &self.storage {
            Storage::Mapped { .. } | Storage::Shared(_) => {
                let values = self.values().to_vec();
                Matrix { storage: Storage::Owned(values), ..self }
            }
            _ => self,
        }
    }

    /// A matrix in a mapped file at the byte `start`, which must be a multiple of 4.
    pub(crate) fn mapped(
        map: Arc<Mmap>,
        start: usize,
        rows: usize,
        columns: usize,
    ) -> Option<Self> {
        let bytes = rows.checked_mul(columns)?.checked_mul(4)?;
        let slice = map.get(start..start.checked_add(bytes)?)?;
        bytemuck::try_cast_slice::<u8, f32>(slice).ok()?;
        Some(Matrix { storage: Storage::Mapped { map, start }, rows, columns })
    }

    /// Frees the memory of rows that will not be read for a while, if the matrix is in a mapped
    /// file: they are loaded from the file again when they are read. Does nothing for other
    /// matrices.
    pub fn release(&self, rows: Range<usize>) {
        #[cfg(unix)]
        if let Storage::Mapped { map, start } = &self.storage {
            let row_bytes = self.columns * 4;
            let end = rows.end.min(self.rows) * row_bytes;
            let first = rows.start * row_bytes;
            if first < end {
                // SAFETY: the mapping is read-only and backed by a file, so that pages which are
                // dropped are read from the file again, with the same content. It is advice:
                // whether it is followed does not matter.
                let _ = unsafe {
                    map.unchecked_advise_range(
                        UncheckedAdvice::DontNeed,
                        start + first,
                        end - first,
                    )
                };
            }
        }
        #[cfg(not(unix))]
        let _ = rows;
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        match &self.storage {
            Storage::Owned(values) => values,
            Storage::Pages(pages) => bytemuck::cast_slice(pages),
            Storage::Mapped { map, start } => {
                let end = start + self.rows * self.columns * 4;
                bytemuck::cast_slice(&map[*start..end])
            }
            Storage::Shared(values) => (*values.0).as_ref(),
        }
    }

    /// One row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f32] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let start = row * self.columns;
        &self.values()[start..start + self.columns]
    }

    /// One value.
    ///
    /// # Panics
    ///
    /// If there is no such row or column.
    pub fn get(&self, row: usize, column: usize) -> f32 {
        self.row(row)[column]
    }

    /// The rows `rows[0]`, `rows[1]`, ... as a new matrix.
    pub fn select(&self, rows: &[u32]) -> Result<Matrix, DataError> {
        match rows.iter().find(|&&row| row as usize >= self.rows) {
            Some(&row) => {
                Err(DataError::OutOfRange { what: "row", index: row as usize, count: self.rows })
            }
            None => Ok(self.selected(rows)),
        }
    }

    /// Like `select`, for rows that are known to exist.
    pub(crate) fn selected(&self, order: &[u32]) -> Matrix {
        let mut values = Vec::with_capacity(order.len() * self.columns);
        for &row in order {
            values.extend_from_slice(self.row(row as usize));
        }
        Matrix { storage: Storage::Owned(values), rows: order.len(), columns: self.columns }
    }

    /// Puts the rows into another order, in place: the new row `i` is the old row `order[i]`.
    /// `order` must be a permutation. The rows of each cycle of the permutation are moved one after
    /// the other, with one row of extra memory.
    pub(crate) fn reorder(&mut self, order: &[u32]) {
        let columns = self.columns;
        if matches!(self.storage, Storage::Mapped { .. } | Storage::Shared(_)) {
            *self = self.selected(order);
            return;
        }
        let values = self.values_mut();
        let mut done = vec![false; order.len()];
        let mut spare = vec![0f32; columns];
        for start in 0..order.len() {
            if done[start] || order[start] as usize == start {
                continue;
            }
            spare.copy_from_slice(&values[start * columns..(start + 1) * columns]);
            let mut to = start;
            loop {
                done[to] = true;
                let from = order[to] as usize;
                if from == start {
                    values[to * columns..(to + 1) * columns].copy_from_slice(&spare);
                    break;
                }
                values.copy_within(from * columns..(from + 1) * columns, to * columns);
                to = from;
            }
        }
    }
}

impl PartialEq for Matrix {
    /// Equal in shape and in the bits of every value, so that a missing value (NaN) equals itself.
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
            && self.columns == other.columns
            && bytemuck::cast_slice::<f32, u32>(self.values())
                == bytemuck::cast_slice::<f32, u32>(other.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reordering_in_place_equals_selecting(
            order in (1usize..40).prop_flat_map(|n| Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle()),
            columns in 0usize..4,
        ) {
            let values = (0..order.len() * columns).map(|v| v as f32).collect();
            let mut matrix = Matrix::from_rows(order.len(), columns, values).unwrap();
            let selected = matrix.select(&order).unwrap();
            matrix.reorder(&order);
            prop_assert_eq!(matrix, selected);
        }
    }

    #[test]
    fn a_large_matrix_behaves_like_a_small_one() {
        let (rows, columns) = (MIN_BYTES_FOR_PAGES / 4, 2);
        let mut large = Matrix::zeroed(rows, columns).unwrap();
        assert!(matches!(large.storage, Storage::Pages(_)));
        assert!(large.values().iter().all(|v| *v == 0.0));
        large.values_mut().iter_mut().enumerate().for_each(|(i, v)| *v = i as f32);
        let copy = large.clone();
        assert_eq!(copy, large);
        let order: Vec<u32> = (0..rows as u32).rev().collect();
        large.reorder(&order);
        assert_eq!(large, copy.select(&order).unwrap());
        assert!(Matrix::zeroed(usize::MAX, 2).is_err());
    }

    #[test]
    fn a_shared_matrix_is_not_copied_until_its_rows_move() {
        let values = Arc::new(vec![1.0f32, 2.0, 3.0, 4.0]);
        let mut shared = Matrix::from_shared(2, 2, values.clone()).unwrap();
        assert_eq!(shared.values().as_ptr(), values.as_ptr());
        assert_eq!(shared.clone().values().as_ptr(), values.as_ptr());
        shared.reorder(&[1, 0]);
        assert_eq!(shared.values(), [3.0, 4.0, 1.0, 2.0]);
        assert_eq!(*values, [1.0, 2.0, 3.0, 4.0]);
        assert!(Matrix::from_shared(2, 1, values).is_err());
    }

    #[test]
    fn every_row_is_filled_once_and_an_error_is_returned() {
        let (rows, columns) = (3 * FILLED_ROWS + 5, 3);
        let filled = Matrix::filled(rows, columns, |first, block| {
            let cells = block.iter_mut().enumerate();
            cells.for_each(|(cell, value)| *value += (first * columns + cell) as f32);
            Ok(())
        });
        let expected = (0..rows * columns).map(|cell| cell as f32).collect();
        assert_eq!(filled.unwrap(), Matrix::from_rows(rows, columns, expected).unwrap());
        let failed = Matrix::filled(rows, columns, |_, _| Err(DataError::NoInput));
        assert!(matches!(failed, Err(DataError::NoInput)));
        assert_eq!(Matrix::filled(3, 0, |_, _| Ok(())).unwrap().rows(), 3);
    }

    #[test]
    fn rows_that_do_not_exist_are_refused() {
        let matrix = Matrix::from_rows(2, 1, vec![1.0, 2.0]).unwrap();
        assert_eq!(matrix.select(&[1, 1]).unwrap().values(), [2.0, 2.0]);
        let error = matrix.select(&[0, 99]).unwrap_err().to_string();
        assert_eq!(error, "there is no row 99 among 2 rows, numbered from 0");
    }

    #[test]
    fn a_wrong_number_of_values_is_refused() {
        assert!(Matrix::from_rows(2, 2, vec![0.0; 3]).is_err());
        assert!(Matrix::from_rows(usize::MAX, 2, vec![]).is_err());
    }
}
