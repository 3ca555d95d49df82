//! The preferences of a query, and losses of listed pairs.
//!
//! A query's preferences are either those of its labels, kept as a level for each document (the
//! number of its label among the query's distinct labels) and not listed, or a list: the data's own
//! pairs, all pairs of a query of more than two levels whose clicks are corrected, or a random
//! sample if there would be too many pairs to visit (`logistic_pairs.rs`). A pair's weight is that
//! of [`crate::preferences`], divided by the sum of all weights: the loss is a mean, so that c (the
//! weight of the loss relative to the penalty) means the same on small and large data.
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
    pub(super) of_document: Vec<u32>,
    /// Number of levels, at least 2.
    pub(super) count: u32,
    /// The weight of each document; empty if all are 1.
    pub(super) weights: Vec<f64>,
    /// The factor of every pair's weight: the weight of the query, normalised.
    pub(super) scale: f64,
}

impl LabelLevels {
    /// The levels of labels; `None` if all documents with a positive weight have equal labels.
    /// Documents of weight 0 are ignored, but keep their index.
    fn new(labels: &[f64], weights: Vec<f64>, scale: f64) -> Option<Self> {
        let mut distinct: Vec<f64> = labels.to_vec();
        distinct.sort_unstable_by(f64::total_cmp);
        distinct.dedup_by(|a, b| a == b);
        let level = |label: &f64| distinct.partition_point(|other| other < label) as u32;
        let of_document: Vec<u32> = labels.iter().map(level).collect();
        let levels = Self { of_document, count: distinct.len() as u32, weights, scale };
        (levels.total_weight() > 0.0).then_some(levels)
    }

    /// The weight of a document.
    pub(super) fn weight(&self, document: usize) -> f64 {
        self.weights.get(document).copied().unwrap_or(1.0)
    }

    /// Every pair of a positive weight.
    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (i, level) in self.of_document.iter().enumerate() {
            let lower = self.of_document.iter().enumerate().filter(|(_, other)| *other < level);
            let pair = |(j, _): (usize, &u32)| {
                (i as u32, j as u32, self.scale * self.weight(i) * self.weight(j))
            };
            pairs.extend(lower.map(pair).filter(|(_, _, weight)| *weight > 0.0));
        }
        pairs
    }

    /// The sum of all pairs' weights, without the scale: for each level, the weight of its
    /// documents times the weight of all documents of lower levels.
    fn total_weight(&self) -> f64 {
        let mut sums = vec![0.0; self.count as usize];
        for (document, level) in self.of_document.iter().enumerate() {
            sums[*level as usize] += self.weight(document);
        }
        let mut weight_below = 0.0;
        let mut pair_weight = 0.0;
        for level_weight in sums {
            pair_weight += level_weight * weight_below;
            weight_below += level_weight;
        }
        pair_weight
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

    /// Multiplies the weight of each pair by the factor of its better document. With two levels
    /// this multiplies the weights of the documents of the higher level; with more, pairs are
    /// listed.
    fn with_clicks(self, factors: &[f64]) -> Self {
        let listed = |pairs: Vec<Pair>| {
            let weighted =
                pairs.into_iter().map(|(i, j, weight)| (i, j, weight * factors[i as usize]));
            PairSource::Listed(weighted.collect())
        };
        match self {
            PairSource::Nothing => PairSource::Nothing,
            PairSource::Listed(pairs) => listed(pairs),
            PairSource::Levels(levels) if levels.count > 2 => listed(levels.pairs()),
            PairSource::Levels(levels) => {
                let weight = |(document, level): (usize, &u32)| {
                    levels.weight(document) * if *level > 0 { factors[document] } else { 1.0 }
                };
                let weights = levels.of_document.iter().enumerate().map(weight).collect();
                PairSource::Levels(LabelLevels { weights, ..levels })
            }
        }
    }

    /// Multiplies the weights of all pairs by a factor.
    fn scale_weights(&mut self, factor: f64) {
        match self {
            PairSource::Nothing => {}
            PairSource::Levels(levels) => levels.scale *= factor,
            PairSource::Listed(pairs) => {
                pairs.iter_mut().for_each(|(_, _, weight)| *weight *= factor)
            }
        }
    }
}

/// The preferences of every query, with weights of clicks: `clicks` has for each row the factor of
/// the pairs in which it is the better document, as in propensity SVM-rank (Joachims et al. 2017);
/// `None` if clicks are not corrected. With `norm_query` all queries have the same total weight
/// before these factors. Fails if there are no preferences.
pub(super) fn click_pair_sources(
    data: &Dataset,
    norm_query: bool,
    clicks: Option<&[f64]>,
) -> Result<Vec<PairSource>, LearnError> {
    let mut all = pair_sources(data, norm_query)?;
    let Some(clicks) = clicks else { return Ok(all) };
    for (query, pair_source) in all.iter_mut().enumerate() {
        let source = std::mem::take(pair_source);
        *pair_source = source.with_clicks(&clicks[data.query_rows(query)]);
    }
    let sum: f64 = all.iter().map(PairSource::total_weight).sum();
    all.iter_mut().for_each(|pair_source| pair_source.scale_weights(1.0 / sum));
    Ok(all)
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
        all.iter_mut().for_each(|pair_source| pair_source.scale_weights(1.0 / sum));
        return Ok(all);
    }
    let query_weight = |q: usize| data.query_weights().map_or(1.0, |weights| f64::from(weights[q]));
    let has_pairs = |q: &usize| total_weights[*q] > 0.0;
    let sum: f64 = (0..data.queries()).filter(has_pairs).map(query_weight).sum();
    for q in (0..data.queries()).filter(has_pairs) {
        all[q].scale_weights(query_weight(q) / (sum * total_weights[q]));
    }
    Ok(all)
}

/// The preferences of one query, with the weights of the data, not yet divided by their sum.
fn pair_source(data: &Dataset, preferences: &Preferences<'_>, query: usize) -> PairSource {
    if preferences.explicit_pairs(query).is_some() {
        let pairs = preferences.weighted_pairs(query);
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

/// Returns the loss of listed pairs at these scores, sets the gradient and stores the second
/// derivative of each pair in `hessians`.
pub(super) fn value(
    margin_loss: MarginLoss,
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
        let (loss, first, second) = margin_loss.value_and_derivatives(scores[i] - scores[j]);
        total += weight * loss;
        gradient[i] += weight * first;
        gradient[j] -= weight * first;
        hessians.push(weight * second);
    }
    total
}

/// Sets `product` to the product of the hessian of listed pairs and a direction.
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
