//! Rows in a sparse form: only some of their values are given, the others are absent.

use super::{FULL_BLOCK_ROWS, ScoreBuffers, Scorer};
use crate::error::ModelError;
use crate::problem::SparseProblem;

/// Rows in a sparse form.
#[derive(Debug, Clone, Copy)]
pub struct SparseRows<'a> {
    /// The index of each row's first entry in the other two arrays, and at the end the number of
    /// all entries.
    pub row_offsets: &'a [usize],
    /// The column of each entry, from 0.
    pub columns: &'a [u32],
    /// The value of each entry.
    pub values: &'a [f32],
}

impl SparseRows<'_> {
    /// Checks that there are `rows` rows, and that every column is below `columns`.
    fn check(&self, rows: usize, columns: usize) -> Result<(), ModelError> {
        let entries = self.columns.len();
        let offsets_fit = self.row_offsets.is_sorted()
            && self.row_offsets.last().copied().unwrap_or(0) == entries;
        if self.row_offsets.len() != rows + 1 || !offsets_fit || self.values.len() != entries {
            let problem = SparseProblem::RowOffsets { offsets: self.row_offsets.len(), rows };
            return Err(ModelError::InvalidSparseRows(problem));
        }
        match self.columns.iter().find(|column| **column as usize >= columns) {
            None => Ok(()),
            Some(&column) => {
                Err(ModelError::InvalidSparseRows(SparseProblem::Column { column, columns }))
            }
        }
    }
}

impl Scorer {
    /// Scores sparse rows: the rows of one query if the model [`is_listwise`](Scorer::is_listwise),
    /// otherwise any rows. A value that a row does not hold is absent (0 or missing, by the model's
    /// rule).
    pub fn score_sparse(
        &self,
        rows: SparseRows<'_>,
        scores: &mut [f64],
        buffers: &mut ScoreBuffers,
    ) -> Result<(), ModelError> {
        rows.check(scores.len(), self.columns)?;
        let mut dense = std::mem::take(&mut buffers.dense_rows);
        let rows_together = if self.listwise { scores.len().max(1) } else { FULL_BLOCK_ROWS };
        for (block, scores) in scores.chunks_mut(rows_together).enumerate() {
            dense.clear();
            dense.resize(scores.len() * self.columns, self.absent);
            for row in 0..scores.len() {
                let number = block * rows_together + row;
                let entries = rows.row_offsets[number]..rows.row_offsets[number + 1];
                for (column, value) in
                    rows.columns[entries.clone()].iter().zip(&rows.values[entries])
                {
                    dense[row * self.columns + *column as usize] = *value;
                }
            }
            self.engine.score(&dense, self.columns, scores, buffers);
        }
        buffers.dense_rows = dense;
        Ok(())
    }
}
