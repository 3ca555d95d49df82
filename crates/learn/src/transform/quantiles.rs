//! Ranks as tables: the rank of a feature's value among the training values, as a fraction from 0
//! to 1 (`rank`) or as a normal quantile (`gauss`).
//!
//! The mid-rank of a value is the fraction of the values below it plus half of the fraction that
//! equals it. A feature keeps up to 256 points of (value, mid-rank), all its distinct values if
//! they are that few; between two points ranks are interpolated. Of more than 250,000 rows every
//! k-th one is used, so that the choice depends on the data alone. Cost: a sort of each feature.
//!
//! `gauss` replaces a rank by the normal quantile (Wichura's algorithm AS 241, 1988, the short form
//! with 7 digits); mid-ranks are never 0 or 1.

use rankwright_data::Dataset;
use rankwright_model::{TransformStep, Transforms};
use rayon::prelude::*;

use crate::error::LearnError;

/// Maximum number of points of a table.
const MAX_POINTS: usize = 256;
/// Maximum number of rows that are used.
const MAX_ROWS: usize = 250_000;

/// The tables of all features: from values to ranks, or with `gauss` to normal quantiles.
pub(super) fn fit(data: &Dataset, gauss: bool) -> Result<Transforms, LearnError> {
    // The result for missing values, and for all values of a feature without finite ones.
    let median = if gauss { 0.0 } else { 0.5 };
    let stride = data.rows().div_ceil(MAX_ROWS).max(1);
    let table = |column: usize| {
        let values = data.matrix().values().iter().skip(column).step_by(data.columns() * stride);
        let mut values: Vec<f32> = values.copied().filter(|x| x.is_finite()).collect();
        values.sort_unstable_by(f32::total_cmp);
        let (from, ranks) = points(&values);
        let to = ranks.into_iter().map(|rank| if gauss { normal_quantile(rank) } else { rank });
        let to: Vec<f32> = to.map(|value| value as f32).collect();
        match from.is_empty() {
            true => vec![TransformStep::Table { from: vec![0.0], to: vec![median] }],
            false => vec![TransformStep::Table { from, to }],
        }
    };
    let steps: Vec<Vec<TransformStep>> = (0..data.columns()).into_par_iter().map(table).collect();
    let missing = vec![median; data.columns()];
    let min_max_in_query = false;
    Ok(Transforms::new(steps, missing, min_max_in_query)?)
}

/// At most [`MAX_POINTS`] points for sorted values: distinct values, ascending, and their
/// mid-ranks.
fn points(sorted: &[f32]) -> (Vec<f32>, Vec<f64>) {
    let count = sorted.len() as f64;
    let mut below = 0; // Number of values below the current one.
    let mut distinct: Vec<(f32, f64)> = Vec::new();
    for same in sorted.chunk_by(|a, b| a == b) {
        let rank = (below as f64 + 0.5 * same.len() as f64) / count;
        distinct.push((same[0], rank));
        below += same.len();
    }
    if distinct.len() <= MAX_POINTS {
        return distinct.into_iter().unzip();
    }
    // The first value at or above each of evenly spaced ranks; the smallest and the largest value
    // are always among them.
    let mut chosen: Vec<usize> = (0..MAX_POINTS - 1)
        .map(|point| {
            let rank = point as f64 / (MAX_POINTS - 1) as f64;
            distinct.partition_point(|(_, r)| *r < rank).min(distinct.len() - 1)
        })
        .collect();
    chosen.push(distinct.len() - 1);
    chosen.dedup();
    chosen.into_iter().map(|index| distinct[index]).unzip()
}

/// The value below which a standard normal variable falls with this probability, 0 < p < 1: AS 241,
/// quotients of polynomials in r, in three ranges of p.
fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        let numerator =
            ((59.109_374_720 * r + 159.291_132_02) * r + 50.434_271_938) * r + 3.387_132_717_9;
        let denominator = ((67.187_563_600 * r + 78.757_757_664) * r + 17.895_169_469) * r + 1.0;
        return q * numerator / denominator;
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-tail.ln()).sqrt();
    let size = if r <= 5.0 {
        let r = r - 1.6;
        let numerator =
            ((0.170_238_211_03 * r + 1.306_728_481_6) * r + 2.756_815_390_0) * r + 1.423_437_277_7;
        let denominator = (0.120_211_329_75 * r + 0.737_001_642_50) * r + 1.0;
        numerator / denominator
    } else {
        let r = r - 5.0;
        let numerator = ((0.017_337_203_997 * r + 0.428_682_943_37) * r + 3.081_226_386_0) * r
            + 6.657_905_115_0;
        let denominator = (0.012_258_202_635 * r + 0.241_978_942_25) * r + 1.0;
        numerator / denominator
    };
    if q < 0.0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        // Expected: inv_cdf of Python's statistics.NormalDist, which uses the long form of AS 241.
        for (p, expected) in [
            (0.5, 0.0),
            (0.75, 0.674_489_75),
            (0.975, 1.959_963_985),
            (0.001, -3.090_232_306),
            (1e-9, -5.997_807_015),
            (1e-15, -7.941_345_326),
        ] {
            let found = normal_quantile(p);
            assert!((found - expected).abs() < 2e-6, "{p}: {found}");
            if p > 1e-6 {
                assert!((normal_quantile(1.0 - p) + found).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn equal_values_have_the_middle_of_their_ranks() {
        // Of four values: (number below + half the number of equal ones) / 4.
        let (from, ranks) = points(&[1.0, 2.0, 2.0, 5.0]);
        assert_eq!(from, [1.0, 2.0, 5.0]);
        assert_eq!(ranks, [0.125, 0.5, 0.875]);
        assert_eq!(points(&[]), (vec![], vec![]));
        let zeros = points(&[-0.0, 0.0]);
        assert_eq!(zeros.1, [0.5]);
    }

    #[test]
    fn of_many_values_some_are_kept_including_both_ends() {
        let values: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
        let (from, ranks) = points(&values);
        assert!(from.len() <= MAX_POINTS && from.len() > MAX_POINTS - 3, "{}", from.len());
        assert_eq!((from[0], from[from.len() - 1]), (0.0, 9_999.0));
        assert!(from.is_sorted_by(|a, b| a < b) && ranks.is_sorted_by(|a, b| a < b));
        assert!(ranks[0] > 0.0 && ranks[ranks.len() - 1] < 1.0);
    }
}
