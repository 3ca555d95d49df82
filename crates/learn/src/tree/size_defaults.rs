//! Defaults of boosted trees that depend on the size of the training data.
//!
//! Small data sets need small trees with many rows in a leaf; large ones can use the 31 leaves that
//! published results on large data sets have. The rule was chosen on validation parts of two LETOR
//! sets and of generated data of several sizes (docs/defaults.md).

use rankwright_spec::Auto;

use super::TreeParams;
use crate::collective::Collective;
use crate::error::LearnError;

/// The values used for parameters that are `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SizeDefaults {
    /// Maximum number of leaves of a tree.
    pub(crate) leaves: usize,
    /// Minimum number of rows in a leaf.
    pub(crate) min_rows: u64,
    /// Learning rate.
    pub(crate) rate: f64,
}

impl SizeDefaults {
    /// The defaults for large data, of at least 500,000 rows.
    pub(crate) const LARGE: Self = Self { leaves: 31, min_rows: 20, rate: 0.1 };

    /// The defaults for a number of rows.
    pub(crate) fn for_rows(rows: u64) -> Self {
        match rows {
            0..40_000 => Self { leaves: 4, min_rows: (rows / 100).clamp(5, 100), rate: 0.05 },
            40_000..150_000 => Self { leaves: 7, min_rows: 100, rate: 0.1 },
            150_000..500_000 => Self { leaves: 15, min_rows: 100, rate: 0.1 },
            _ => Self::LARGE,
        }
    }

    /// The defaults for the rows of all processes; `rows` is the number of rows of this process.
    pub(crate) fn of_processes(
        rows: usize,
        collective: &dyn Collective,
    ) -> Result<Self, LearnError> {
        let mut rows = [rows as u64];
        collective.sum(&mut rows)?;
        Ok(Self::for_rows(rows[0]))
    }
}

impl TreeParams {
    /// The parameters with values in place of `auto`. Oblivious trees keep their own default.
    pub(crate) fn with_defaults(&self, defaults: &SizeDefaults) -> Self {
        let leaves = match self.growth {
            super::Growth::Oblivious => self.leaves,
            _ => Auto::Given(self.leaves.or(defaults.leaves)),
        };
        let min_rows = Auto::Given(self.min_rows.or(defaults.min_rows));
        Self { leaves, min_rows, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_never_give_smaller_trees_and_tiny_data_can_still_be_split() {
        let mut last = SizeDefaults::for_rows(0);
        for rows in (0..700_000).step_by(500) {
            let defaults = SizeDefaults::for_rows(rows);
            assert!(defaults.leaves >= last.leaves, "{rows}");
            assert!(rows < 20 || 2 * defaults.min_rows <= rows, "{rows}: {defaults:?}");
            last = defaults;
        }
        assert_eq!(last, SizeDefaults::LARGE);
    }
}
