//! The values of some features for some documents, and their contributions.

use rankwright_data::{Dataset, Random};

use crate::matching::Matching;

/// The values of the features that a model uses, for some documents: row after row, in the order of
/// those features.
#[derive(Debug, Clone)]
pub(super) struct UsedFeatureRows {
    /// Number of features.
    pub(super) width: usize,
    /// Number of rows.
    pub(super) rows: usize,
    pub(super) values: Vec<f32>,
}

impl UsedFeatureRows {
    /// The values of features in rows of a data set.
    pub(super) fn gather(
        data: &Dataset,
        rows: impl ExactSizeIterator<Item = usize>,
        matching: &Matching,
        features: &[usize],
    ) -> UsedFeatureRows {
        let columns: Vec<_> = features.iter().map(|feature| matching.column(*feature)).collect();
        let (count, matrix, absent) = (rows.len(), data.matrix(), matching.absent());
        let mut values = Vec::with_capacity(count * features.len());
        for row in rows {
            values.extend(columns.iter().map(|column| match column {
                Some(column) => matrix.get(row, *column),
                None => absent,
            }));
        }
        UsedFeatureRows { width: features.len(), rows: count, values }
    }

    /// The values of one row.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// The same rows with only some of the columns.
    pub(super) fn select(&self, columns: &[usize]) -> UsedFeatureRows {
        let rows = (0..self.rows).map(|row| self.row(row));
        let values = rows.flat_map(|row| columns.iter().map(|column| row[*column])).collect();
        UsedFeatureRows { width: columns.len(), rows: self.rows, values }
    }

    /// The first `rows` rows; all rows if there are fewer.
    pub(super) fn first(&self, rows: usize) -> UsedFeatureRows {
        let rows = rows.min(self.rows);
        UsedFeatureRows {
            width: self.width,
            rows,
            values: self.values[..rows * self.width].to_vec(),
        }
    }
}

/// The scores of one query's documents, and the parts that they are sums of.
#[derive(Debug, Clone)]
pub(super) struct Contributions {
    /// The base, from which every score starts.
    pub(super) base: f64,
    /// The score of each document.
    pub(super) scores: Vec<f64>,
    /// The contribution of each feature, document by document.
    pub(super) values: Vec<f64>,
}

/// At most `max` of the numbers 0 to `count - 1`, chosen by seed, in random order.
pub(super) fn sample(count: usize, max: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut random = Random::new(seed, 0);
    // The first steps of a Fisher-Yates shuffle.
    for i in 0..max.min(count) {
        let other = i + random.below(count - i);
        numbers.swap(i, other);
    }
    numbers.truncate(max);
    numbers
}

/// Adds the rounding error of a sum to its largest term, so that the terms sum to `total`.
pub(super) fn absorb_rounding(values: &mut [f64], total: f64) {
    let magnitude = |value: &&mut f64| value.abs();
    let error = total - values.iter().sum::<f64>();
    if !error.is_finite() {
        return;
    }
    if let Some(largest) = values.iter_mut().max_by(|a, b| magnitude(a).total_cmp(&magnitude(b))) {
        *largest += error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_without_repeats_and_depends_on_the_seed_alone() {
        let mut found = sample(50, 20, 3);
        assert_eq!(found, sample(50, 20, 3));
        assert_ne!(found, sample(50, 20, 4));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 20);
        assert_eq!(sample(3, 20, 1).len(), 3);
        assert!(sample(0, 5, 1).is_empty());
    }

    #[test]
    fn the_rounding_error_goes_to_the_largest_term() {
        let mut values = [0.5, -2.0, 1.0];
        absorb_rounding(&mut values, -0.25);
        assert_eq!(values, [0.5, -1.75, 1.0]);
        absorb_rounding(&mut [], 1.0);
    }
}
