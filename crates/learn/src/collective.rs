//! The seam between processes that share one training: each holds some of the queries, and only
//! integers cross.
//!
//! Histograms, counts and fixed-point sums are added with wrapping integer addition, so neither the
//! order nor the number of processes can change a bit; bin boundaries come from a sample that each
//! row joins by its own hash, gathered and sorted. [`Local`] is the implementation for one process:
//! nothing to exchange.

use std::fmt::Debug;

use crate::error::LearnError;

/// What processes that train together exchange. Every process calls the same methods in the same
/// order.
pub trait Collective: Debug + Send + Sync {
    /// Number of processes.
    fn size(&self) -> usize;

    /// Number of this process, from 0.
    fn rank(&self) -> usize;

    /// Replaces each cell by its wrapping sum over all processes.
    fn sum(&self, cells: &mut [u64]) -> Result<(), LearnError>;

    /// Replaces each cell by its largest value over all processes.
    fn max(&self, cells: &mut [u64]) -> Result<(), LearnError>;

    /// Appends to `mine` what every other process has in its own, by rank; the caller must not
    /// depend on the order.
    fn gather(&self, mine: &mut Vec<u32>) -> Result<(), LearnError>;
}

/// One process on its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

impl Collective for Local {
    fn size(&self) -> usize {
        1
    }

    fn rank(&self) -> usize {
        0
    }

    fn sum(&self, _cells: &mut [u64]) -> Result<(), LearnError> {
        Ok(())
    }

    fn max(&self, _cells: &mut [u64]) -> Result<(), LearnError> {
        Ok(())
    }

    fn gather(&self, _mine: &mut Vec<u32>) -> Result<(), LearnError> {
        Ok(())
    }
}
