//! The preferences of a query, and losses of listed pairs.
//!
//! A query's preferences are either those of its labels, kept as a level for each document and
//! never listed, or a list: the data's own pairs, or a seeded sample if there would be too many to
//! visit. A pair's weight is that of [`crate::preferences`], divided by the sum of all weights: the
//! loss is a mean, so that c means the same on small and large data.
//!
//! With `norm_query` each query's weights are scaled so that all queries have the same total
//! weight, as in the ranking SVM of Cao et al. (2006); without it, a query counts by its number of
//! pairs.

use rankwright_data::Dataset;

use super::loss::MarginLoss;
use crate::error::LearnError;
use crate::preferences::Preferences;

/// One listed preference: the preferred document, the other document, and the weight.
pub(super) type Pair = (u32, u32, f64);

/// The source of one query's preference pairs.
#[derive(Debug, Default)]
pub(super) enum PairSource {
    /// No preferences.
    #[default]
    Nothing,
    /// Any two documents of different levels: the one of the higher level is preferred.
    Levels(LabelLevels),
    /// Listed pairs.
    Listed(Vec<Pair>),
}

/// The label level of each document of a query.
#[derive(Debug)]
pub(super) struct LabelLevels {
    /// The level of each document, from 0.
    pub(super) of: Vec<u32>,
    /// Number of levels, at least 2.
    pub(super) count: u32,
    /// The weight of each document; empty if all are 1.
    pub(super) weights: Vec<f64>,
    /// The factor of every pair's weight: the weight of the query.
    pub(super) scale: f64,
}

impl LabelLevels {
    /// The levels of labels; `None` if all documents with a positive weight have equal labels.
    /// Documents of weight 0 are ignored, but keep their index.
    fn new(labels: &[f64], weights: Vec<f64>, scale: f64) -> Option<Self> {
        let mut different: Vec<f64> = labels.to_vec();
        different.sort_unstable_by(f64::total_cmp);
        different.dedup_by(|a, b| a == b);
        let level = |label: &f64| different.partition_point(|other| other < label) as u32;
        let of: Vec<u32> = labels.iter().map(level).collect();
        let levels = Self { of, count: different.len() as u32, weights, scale };
        (levels.total_weight() > 0.0).then_some(levels)
    }

    /// The weight of a document.
    pub(super) fn weight(&self, document: usize) -> f64 {
        self.weights.get(document).copied().unwrap_or(1.0)
    }

    /// The sum of all pairs' weights, without the scale: half of (the squared total minus each
    /// level's squared total).
    fn total_weight(&self) -> f64 {
        let mut sums = vec![0.0; self.count as usize];
        for (document, level) in self.of.iter().enumerate() {
            sums[*level as usize] += self.weight(document);
        }
        let mut below = 0.0;
        let mut pairs = 0.0;
        for sum in sums {
            pairs += sum * below;
            below += sum;
        }
        pairs
    }
}

impl PairSource {
    /// The sum of the weights of all pairs.
    fn total_weight(&self) -> f64 {
        match self {
            PairSource::Nothing => 0.0,
            PairSource::Levels(levels) => levels.scale * levels.total_weight(),
            PairSource::Listed(pairs) => pairs.iter().map(|(_, _, weight)| weight).sum(),
        }
    }

    fn scale(&mut self, by: f64) {
        match self {
            PairSource::Nothing => {}
            PairSource::Levels(levels) => levels.scale *= by,
            PairSource::Listed(pairs) => pairs.iter_mut().for_each(|(_, _, weight)| *weight *= by),
        }
    }
}

/// The preferences of every query; fails if there are none.
pub(super) fn pair_sources(
    data: &Dataset,
    norm_query: bool,
) -> Result<Vec<PairSource>, LearnError> {
    let preferences = Preferences::new(data);
    preferences.check()?;
    let mut all: Vec<PairSource> =
        (0..data.queries()).map(|q| pair_source(data, &preferences, q)).collect();
    let total_weights: Vec<f64> = all.iter().map(PairSource::total_weight).collect();
    let sum: f64 = total_weights.iter().sum();
    if sum <= 0.0 {
        return Err(LearnError::ZeroWeights);
    }
    if !norm_query {
        all.iter_mut().for_each(|pair_sources| pair_sources.scale(1.0 / sum));
        return Ok(all);
    }
    let weight = |q: usize| data.query_weights().map_or(1.0, |weights| f64::from(weights[q]));
    let counts = |q: &usize| total_weights[*q] > 0.0;
    let queries: f64 = (0..data.queries()).filter(counts).map(weight).sum();
    for q in (0..data.queries()).filter(counts) {
        all[q].scale(weight(q) / (queries * total_weights[q]));
    }
    Ok(all)
}

fn pair_source(data: &Dataset, preferences: &Preferences<'_>, query: usize) -> PairSource {
    if preferences.own(query).is_some() {
        let pairs = preferences.listed(query);
        return match pairs.is_empty() {
            true => PairSource::Nothing,
            false => PairSource::Listed(
                pairs.into_iter().map(|(a, b, weight)| (a, b, f64::from(weight))).collect(),
            ),
        };
    }
    let rows = data.query_rows(query);
    let scale = data.query_weights().map_or(1.0, |weights| f64::from(weights[query]));
    let weights = data.row_weights().map_or(&[][..], |weights| &weights[rows]);
    let weights = weights.iter().map(|weight| f64::from(*weight)).collect();
    match LabelLevels::new(data.query(query).labels, weights, scale) {
        Some(levels) if scale > 0.0 => PairSource::Levels(levels),
        _ => PairSource::Nothing,
    }
}

/// Returns the loss of listed pairs at these scores, sets the gradient and keeps second
/// derivatives.
pub(super) fn value(
    shape: MarginLoss,
    pairs: &[Pair],
    scores: &[f64],
    hessians: &mut Vec<f64>,
    gradient: &mut [f64],
) -> f64 {
    gradient.fill(0.0);
    hessians.clear();
    let mut total = 0.0;
    for &(better, worse, weight) in pairs {
        let (i, j) = (better as usize, worse as usize);
        let (loss, first, second) = shape.at(scores[i] - scores[j]);
        total += weight * loss;
        gradient[i] += weight * first;
        gradient[j] -= weight * first;
        hessians.push(weight * second);
    }
    total
}

/// Sets `gradient` to the product of the hessian of listed pairs and a direction.
pub(super) fn hessian_product(
    pairs: &[Pair],
    hessians: &[f64],
    direction: &[f64],
    product: &mut [f64],
) {
    product.fill(0.0);
    for (&(better, worse, _), hessian) in pairs.iter().zip(hessians) {
        if *hessian != 0.0 {
            let (i, j) = (better as usize, worse as usize);
            let change = hessian * (direction[i] - direction[j]);
            product[i] += change;
            product[j] -= change;
        }
    }
}
