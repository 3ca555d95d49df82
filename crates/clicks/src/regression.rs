//! Relevance as a logistic function of features, under the position-based model:
//!
//! ```text
//! P(click) = examination(rank) relevance(x),    relevance(x) = 1 / (1 + exp(-w x))
//! ```
//!
//! Regression EM (Wang, Golbandi, Bendersky, Metzler and Najork 2018) estimates both factors: each
//! step computes the expected examinations and relevant impressions given the clicks, sets the
//! examination of a rank to its share, and moves w towards the expected relevance. As documents
//! share w, ranks need no common documents; if relevance is no logistic function of the features,
//! the estimate is biased by as much.
//!
//! A step of w is one of Boehning and Lindsay (1988): Newton's step with X' diag(n) X / 4, where X
//! are the features of the pairs and n their impressions, in place of the Hessian, which it bounds,
//! so that the likelihood never falls; the matrix is the same in every step and is factorised once.
//! Features are standardised, a missing value is the mean, and w has an L2 penalty of 1. The
//! examination of rank 1 is fixed at 1. Cost of a step: O(pairs x features). Pairs are visited in
//! parallel in blocks, whose sums are added in order.

use rayon::prelude::*;

use crate::error::ClicksError;
use crate::pages::Pages;
use crate::rank_table::{RankCell, RankTable};

/// Number of pairs whose sums are made by one task.
const BLOCK: usize = 2048;

/// The penalty on the squares of the weights of standardised features.
const L2: f64 = 1.0;

/// The features of the pairs of a log, standardised; the first of them is 1.
#[derive(Debug, Clone)]
pub struct PairFeatures {
    columns: usize,
    /// A row for each pair; zeros if the pair has no features.
    values: Vec<f32>,
    is_known: Vec<bool>,
    means: Vec<f64>,
    scales: Vec<f64>,
}

impl PairFeatures {
    /// The features of a log's pairs: `features` returns those of a query and a document, or `None`
    /// for a pair without features, which is left out of estimates. All rows have one length.
    pub fn new<'a>(
        pages: &Pages,
        mut features: impl FnMut(&str, &str) -> Option<&'a [f32]>,
    ) -> Result<Self, ClicksError> {
        let rows: Vec<Option<&[f32]>> =
            pages.named_pairs().map(|(query, document)| features(query, document)).collect();
        let Some(width) = rows.iter().flatten().map(|row| row.len()).next() else {
            return Err(ClicksError::NoKnownDocuments);
        };
        let (means, scales) = moments(rows.iter().flatten().copied(), width);
        let mut found = Self {
            columns: width + 1,
            values: Vec::with_capacity(rows.len() * (width + 1)),
            is_known: rows.iter().map(Option::is_some).collect(),
            means,
            scales,
        };
        for row in rows {
            match row {
                Some(row) => {
                    let row = found.standardised(row);
                    found.values.extend(row);
                }
                None => found.values.extend(std::iter::repeat_n(0.0, width + 1)),
            }
        }
        Ok(found)
    }

    /// Number of pairs that have features.
    pub fn known(&self) -> usize {
        self.is_known.iter().filter(|known| **known).count()
    }

    /// Whether a pair has features.
    pub(crate) fn is_known(&self, pair: u32) -> bool {
        self.is_known[pair as usize]
    }

    /// 1, and the standardised values of a row.
    fn standardised(&self, row: &[f32]) -> Vec<f32> {
        let columns = row.iter().zip(&self.means).zip(&self.scales);
        let value = |((value, mean), scale): ((&f32, &f64), &f64)| match value.is_finite() {
            true => ((f64::from(*value) - mean) / scale) as f32,
            false => 0.0,
        };
        std::iter::once(1.0).chain(columns.map(value)).collect()
    }

    fn row(&self, pair: usize) -> &[f32] {
        &self.values[pair * self.columns..(pair + 1) * self.columns]
    }
}

/// Mean and standard deviation (1 if it is 0) of the finite values of each column.
fn moments<'a>(
    rows: impl Iterator<Item = &'a [f32]> + Clone,
    width: usize,
) -> (Vec<f64>, Vec<f64>) {
    let sums = |of: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0_f64); width];
        for row in rows.clone() {
            for (column, value) in row.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                let (sum, count) = &mut sums[column];
                *sum += of(column, f64::from(*value));
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(sum, count)| sum / count.max(1.0)).collect()
    };
    let means = sums(&|_, value| value);
    let variances = sums(&|column, value| (value - means[column]).powi(2));
    let scale = |variance: f64| if variance > 1e-12 { variance.sqrt() } else { 1.0 };
    (means, variances.into_iter().map(scale).collect())
}

/// Fitted relevance and examination.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RegressionFit {
    /// w, the intercept first.
    weights: Vec<f64>,
    /// The examination of each rank.
    pub(crate) examination: Vec<f64>,
}

impl RegressionFit {
    /// The start of a fit: relevance .5, and this examination.
    pub(crate) fn start(features: &PairFeatures, examination: Vec<f64>) -> Self {
        Self { weights: vec![0.0; features.columns], examination }
    }

    /// The same with the examination of rank 1 fixed at 1.
    pub(crate) fn anchored(mut self) -> Self {
        self.examination.iter_mut().take(1).for_each(|first| *first = 1.0);
        self
    }

    /// Improves the fit by this many steps. Examination stays as it is if `learns_examination` is
    /// false.
    pub(crate) fn improved(
        mut self,
        table: &RankTable,
        features: &PairFeatures,
        iterations: u32,
        learns_examination: bool,
    ) -> Self {
        let pairs: Vec<&[RankCell]> =
            table.by_pair().filter(|cells| features.is_known[cells[0].pair as usize]).collect();
        let bound = CurvatureBound::new(&pairs, features);
        for _ in 0..iterations {
            let blocks: Vec<BlockSums> =
                pairs.par_chunks(BLOCK).map(|block| self.sums(block, features)).collect();
            let mut total = BlockSums::new(features.columns, self.examination.len());
            blocks.iter().for_each(|block| total.add(block));
            if learns_examination {
                let ranks = self.examination.iter_mut().zip(&total.ranks).skip(1);
                for (value, (examined, shown)) in ranks.filter(|(_, (_, shown))| *shown > 0.0) {
                    *value = examined / shown;
                }
            }
            for (sum, weight) in total.gradient.iter_mut().zip(&self.weights).skip(1) {
                *sum -= L2 * weight;
            }
            let step = bound.solved(total.gradient);
            self.weights.iter_mut().zip(step).for_each(|(weight, step)| *weight += step);
        }
        self
    }

    /// The sums over some pairs that a step needs.
    fn sums(&self, pairs: &[&[RankCell]], features: &PairFeatures) -> BlockSums {
        let mut sums = BlockSums::new(features.columns, self.examination.len());
        for cells in pairs {
            let row = features.row(cells[0].pair as usize);
            let relevance = self.relevance(row);
            // Expected relevant impressions beyond those that the features predict.
            let mut surplus = 0.0;
            for cell in *cells {
                let examination = self.examination[cell.rank as usize];
                let no_click = 1.0 - examination * relevance;
                let skipped = match no_click > 0.0 {
                    true => (cell.shown - cell.clicked) / no_click,
                    false => 0.0,
                };
                let relevant = cell.clicked + skipped * relevance * (1.0 - examination);
                surplus += relevant - cell.shown * relevance;
                let (examined, shown) = &mut sums.ranks[cell.rank as usize];
                *examined += cell.clicked + skipped * examination * (1.0 - relevance);
                *shown += cell.shown;
            }
            let values = sums.gradient.iter_mut().zip(row);
            values.for_each(|(sum, value)| *sum += surplus * f64::from(*value));
        }
        sums
    }

    fn relevance(&self, row: &[f32]) -> f64 {
        let score: f64 = self.weights.iter().zip(row).map(|(w, x)| w * f64::from(*x)).sum();
        1.0 / (1.0 + (-score).exp())
    }

    /// The relevance of a document with this row of features, which is not standardised yet.
    pub(crate) fn probability(&self, features: &PairFeatures, row: &[f32]) -> f64 {
        self.relevance(&features.standardised(row))
    }
}

/// The relevance of documents, fitted to clicks whose examination is known.
#[derive(Debug, Clone)]
pub struct RelevanceModel {
    fit: RegressionFit,
    features: PairFeatures,
    /// The largest examination if it is above 1; otherwise 1.
    scale: f64,
}

impl RelevanceModel {
    /// Usual number of iterations of a fit.
    pub const DEFAULT_ITERATIONS: u32 = 500;

    /// Fits the model to a log. Cells of ranks without an examination are left out. Examinations
    /// are taken as they are, as in the weights of `ips`: if some are above 1, because a rank is
    /// examined more often than rank 1, no relevance exceeds 1 / the largest of them.
    pub fn fit(
        pages: &Pages,
        features: PairFeatures,
        examination: &[Option<f64>],
        iterations: u32,
    ) -> Self {
        let mut table = RankTable::new(pages);
        let known = |rank: u32| examination.get(rank as usize).copied().flatten();
        table.cells.retain(|cell| known(cell.rank).is_some_and(|value| value > 0.0));
        // P(click) = (examination / scale) x (scale x relevance), and both factors are at most 1.
        let scale = examination.iter().flatten().copied().fold(1.0, f64::max);
        let values = (0..table.ranks as u32).map(|rank| known(rank).unwrap_or(1.0) / scale);
        let start = RegressionFit::start(&features, values.collect());
        Self { fit: start.improved(&table, &features, iterations, false), features, scale }
    }

    /// The relevance of a document with these features, from 0 to 1.
    pub fn relevance(&self, row: &[f32]) -> f64 {
        self.fit.probability(&self.features, row) / self.scale
    }
}

/// Sums over a block of pairs.
struct BlockSums {
    /// The gradient of the expected log-likelihood with respect to w.
    gradient: Vec<f64>,
    /// Expected examinations and impressions of each rank.
    ranks: Vec<(f64, f64)>,
}

impl BlockSums {
    fn new(columns: usize, ranks: usize) -> Self {
        Self { gradient: vec![0.0; columns], ranks: vec![(0.0, 0.0); ranks] }
    }

    fn add(&mut self, other: &Self) {
        self.gradient.iter_mut().zip(&other.gradient).for_each(|(sum, value)| *sum += value);
        for ((examined, shown), (more, more_shown)) in self.ranks.iter_mut().zip(&other.ranks) {
            *examined += more;
            *shown += more_shown;
        }
    }
}

/// X' diag(n) X / 4 and the penalty, as the lower triangle L of its Cholesky factors.
struct CurvatureBound {
    size: usize,
    lower: Vec<f64>,
}

impl CurvatureBound {
    fn new(pairs: &[&[RankCell]], features: &PairFeatures) -> Self {
        let size = features.columns;
        let block = |block: &[&[RankCell]]| {
            let mut sums = vec![0.0; size * size];
            for cells in block {
                let shown: f64 = cells.iter().map(|cell| cell.shown).sum();
                let row = features.row(cells[0].pair as usize);
                for (i, value) in row.iter().enumerate() {
                    let factor = shown * f64::from(*value) / 4.0;
                    let line = sums[i * size..=i * size + i].iter_mut().zip(row);
                    line.for_each(|(sum, other)| *sum += factor * f64::from(*other));
                }
            }
            sums
        };
        let blocks: Vec<Vec<f64>> = pairs.par_chunks(BLOCK).map(block).collect();
        let mut lower = vec![0.0; size * size];
        for block in blocks {
            lower.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        // The intercept has no penalty, but a tiny value keeps the matrix positive definite.
        (0..size).for_each(|i| lower[i * size + i] += if i == 0 { 1e-9 } else { L2 });
        for i in 0..size {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * size + k] * lower[j * size + k]).sum();
                let rest = lower[i * size + j] - dot;
                lower[i * size + j] = match i == j {
                    true => rest.max(1e-12).sqrt(),
                    false => rest / lower[j * size + j],
                };
            }
        }
        Self { size, lower }
    }

    /// The solution x of L L' x = `right`.
    fn solved(&self, mut right: Vec<f64>) -> Vec<f64> {
        let at = |i: usize, j: usize| self.lower[i * self.size + j];
        for i in 0..self.size {
            let dot: f64 = (0..i).map(|k| at(i, k) * right[k]).sum();
            right[i] = (right[i] - dot) / at(i, i);
        }
        for i in (0..self.size).rev() {
            let dot: f64 = (i + 1..self.size).map(|k| at(k, i) * right[k]).sum();
            right[i] = (right[i] - dot) / at(i, i);
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impression::Impression;

    #[test]
    fn relevance_is_that_of_a_logistic_regression_where_everything_is_examined() {
        // Documents with x = 0 are clicked in 1 of 4 impressions, those with x = 1 in 3 of 4.
        // Without a penalty the probabilities would be the rates; 4,000 impressions leave little of
        // it.
        let mut log = Vec::new();
        for at in 0..4000 {
            let page = Impression::new(format!("q{}", at % 2), ["a", "b"]);
            let clicks = [(at / 2 % 4 == 0, 1), (at / 2 % 4 != 0, 2)];
            let ranks = clicks.into_iter().filter(|(clicked, _)| *clicked).map(|(_, rank)| rank);
            log.push(page.clicked(ranks));
        }
        let pages = Pages::collect(&log);
        let row = |_: &str, document: &str| match document {
            "a" => Some(&[0.0_f32, f32::NAN][..]),
            _ => Some(&[1.0_f32, f32::NAN][..]),
        };
        let features = PairFeatures::new(&pages, row).unwrap();
        let model = RelevanceModel::fit(&pages, features, &[Some(1.0), Some(1.0)], 500);
        for (x, expected) in [(0.0, 0.25), (1.0, 0.75)] {
            let found = model.relevance(&[x, f32::NAN]);
            assert!((found - expected).abs() < 2e-3, "{x}: {found}");
        }
        // Half as much examination of rank 2 doubles the relevance of what was shown there, up to
        // 1.
        let features = PairFeatures::new(&pages, row).unwrap();
        let model = RelevanceModel::fit(&pages, features, &[Some(1.0), Some(0.8)], 3000);
        let found = model.relevance(&[1.0, 0.0]);
        assert!((found - 0.75 / 0.8).abs() < 5e-3, "{found}");
        // An examination above 1 is no less an examination.
        let features = PairFeatures::new(&pages, row).unwrap();
        let model = RelevanceModel::fit(&pages, features, &[Some(1.0), Some(1.5)], 3000);
        for (x, expected) in [(0.0, 0.25), (1.0, 0.5)] {
            let found = model.relevance(&[x, f32::NAN]);
            assert!((found - expected).abs() < 5e-3, "{x}: {found}");
        }
    }

    #[test]
    fn a_log_without_features_is_refused() {
        let pages = Pages::collect(&[Impression::new("q", ["a"])]);
        let error = PairFeatures::new(&pages, |_, _| None).unwrap_err();
        assert!(matches!(error, ClicksError::NoKnownDocuments), "{error}");
    }

    #[test]
    fn the_factorisation_solves_the_equations() {
        let pages = Pages::collect(&[Impression::new("q", ["a", "b", "c"])]);
        let rows = [[0.5, 2.0], [-1.0, 0.25], [4.0, 1.0]];
        let features = PairFeatures::new(&pages, |_, document| {
            let at = ["a", "b", "c"].iter().position(|name| *name == document)?;
            Some(&rows[at][..])
        })
        .unwrap();
        let table = RankTable::new(&pages);
        let pairs: Vec<&[RankCell]> = table.by_pair().collect();
        let solution = CurvatureBound::new(&pairs, &features).solved(vec![1.0, -2.0, 0.5]);
        for (i, expected) in [1.0, -2.0, 0.5].into_iter().enumerate() {
            let entry = |j: usize| {
                let products = (0..3)
                    .map(|p| f64::from(features.row(p)[i]) * f64::from(features.row(p)[j]) / 4.0);
                products.sum::<f64>() + if i == j && i > 0 { L2 } else { 0.0 }
            };
            let found: f64 = (0..3).map(|j| entry(j) * solution[j]).sum();
            assert!((found - expected).abs() < 1e-6, "{i}: {found}");
        }
    }
}
