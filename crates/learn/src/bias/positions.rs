//! The positions of the training data, numbered.

use rankwright_data::Dataset;
use rankwright_model::MAX_POSITIONS;

use super::BiasCorrection;
use crate::error::LearnError;

/// The different positions of a data set, and the position of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PositionIndex {
    /// The different positions, ascending.
    pub(super) positions: Vec<u32>,
    /// For each row, the index of its position in `positions`.
    pub(super) of_row: Vec<u32>,
}

impl PositionIndex {
    /// Numbers the positions of a data set; an error if it has none, or too many.
    pub(super) fn new(data: &Dataset, bias: BiasCorrection) -> Result<Self, LearnError> {
        let rows = positions_of(data, bias)?;
        let mut positions = rows.to_vec();
        positions.sort_unstable();
        positions.dedup();
        if positions.len() > MAX_POSITIONS {
            let (found, most) = (positions.len(), MAX_POSITIONS);
            return Err(LearnError::TooManyPositions { found, most });
        }
        let index = |position: &u32| positions.partition_point(|other| other < position) as u32;
        let of_row = rows.iter().map(index).collect();
        Ok(Self { positions, of_row })
    }

    /// Number of different positions.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// The sum of a value over the rows of each position, added in row order, so that the number of
    /// threads changes nothing. `rows` are those that count; `None` for all.
    pub(super) fn sums(&self, rows: Option<&[u32]>, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        let mut add = |row: usize| sums[self.of_row[row] as usize] += value(row);
        match rows {
            Some(rows) => rows.iter().for_each(|row| add(*row as usize)),
            None => (0..self.of_row.len()).for_each(add),
        }
        sums
    }
}

/// The position of each row of a data set, from 1; an error if it has none.
pub(super) fn positions_of(data: &Dataset, bias: BiasCorrection) -> Result<&[u32], LearnError> {
    data.positions().ok_or(LearnError::PositionsMissing { bias: bias.name() })
}
