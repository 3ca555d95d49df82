//! The logistic loss of preferences: linear RankNet, "ranking logistic regression".
//!
//! ```text
//! 1/2 |w|^2 + c * mean over preferences, by weight, of ln(1 + exp(-(s_better - s_worse)))
//! ```
//!
//! Levels are the distinct labels of a query, numbered from 0. Every pair of different levels is
//! visited: O(n^2) time for a query of n documents, O(n) memory. The exponentials are those of the
//! documents, not of the pairs: with i the better document, the probability of the wrong order is
//! e_j / (e_i + e_j), where e = exp(s - middle) and middle is halfway between the lowest and the
//! highest score. If scores are too far apart for that, one exponential is computed per pair.
//!
//! Queries of more than 20,000 documents are sampled: each document is paired with 256 others,
//! drawn once by the seed: one from each of 256 ranges of documents. A drawn pair stands for half
//! of the document's pairs with that range, since either document of a pair may draw the other.

use rankwright_data::{Dataset, Random};

use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use super::pairs::{self, LabelLevels, Pair, PairSource};
use crate::exp::exp;
use crate::objective::SAMPLED_PARTNERS;

/// Number of documents of a query above which its pairs are sampled.
pub(super) const MAX_DOCUMENTS: usize = 20_000;
/// Largest difference of two scores for which exponentials of single documents can be used: these
/// lie between e^-300 and e^300, and their squares are within the range of f64.
const MAX_RANGE: f64 = 600.0;

/// Any constant: keeps the random choice of pairs apart from other random numbers of the seed.
const PAIRS_SEED: u64 = 0x7061_6972_7365_6564;

/// The logistic loss of preference pairs.
#[derive(Debug)]
pub(super) struct LogisticPairs {
    pair_sources: Vec<PairSource>,
}

/// Values of a query that `value` keeps for `hessian_product`.
#[derive(Debug, Default)]
pub(super) struct QueryCache {
    /// Second derivatives of listed pairs.
    hessians: Vec<f64>,
    /// Documents from the lowest level up; the vectors below are in this order.
    order: Vec<u32>,
    /// For each document, the index in that order at which its level begins.
    starts: Vec<u32>,
    /// The weight of each document.
    weights: Vec<f64>,
    /// e^(s - middle) of each document, or s - middle if the scores are too far apart.
    exponentials: Vec<f64>,
    /// Whether the scores are too far apart for exponentials of single documents.
    too_far_apart: bool,
    /// The direction of a product with the hessian.
    direction: Vec<f64>,
    /// The gradient, or the product with the hessian.
    sums: Vec<f64>,
}

impl LogisticPairs {
    /// The loss of the preferences of all queries; those of large queries are sampled.
    pub(super) fn new(data: &Dataset, mut pair_sources: Vec<PairSource>, seed: u64) -> Self {
        for (query, pair_source) in pair_sources.iter_mut().enumerate() {
            if let PairSource::Levels(levels) = pair_source
                && data.query_rows(query).len() > MAX_DOCUMENTS
            {
                *pair_source = PairSource::Listed(sampled(levels, seed, query));
            }
        }
        Self { pair_sources }
    }
}

/// A sample of a query's pairs: each document with one drawn from each of 256 ranges of documents.
fn sampled(levels: &LabelLevels, seed: u64, query: usize) -> Vec<Pair> {
    let n = levels.of_document.len();
    let mut random = Random::new(seed ^ PAIRS_SEED, query as u64);
    let mut pairs = Vec::with_capacity(n * SAMPLED_PARTNERS);
    for i in 0..n {
        for part in 0..SAMPLED_PARTNERS {
            let (from, to) = (part * n / SAMPLED_PARTNERS, (part + 1) * n / SAMPLED_PARTNERS);
            let j = from + random.below(to - from);
            let (better, worse) = match levels.of_document[i].cmp(&levels.of_document[j]) {
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Greater => (i, j),
                std::cmp::Ordering::Less => (j, i),
            };
            // The number of pairs that this one represents; either document of a pair may draw the
            // other.
            let represented = 0.5 * (to - from) as f64;
            let weight = represented * levels.scale * levels.weight(i) * levels.weight(j);
            if weight > 0.0 {
                pairs.push((better as u32, worse as u32, weight));
            }
        }
    }
    pairs
}

impl QueryCache {
    /// Sorts the documents by level, once.
    fn sort_by_level(&mut self, levels: &LabelLevels) {
        let n = levels.of_document.len();
        if self.order.len() == n {
            return;
        }
        self.order = (0..n as u32).collect();
        self.order.sort_by_key(|document| levels.of_document[*document as usize]);
        let level = |position: usize| levels.of_document[self.order[position] as usize];
        let mut starts: Vec<u32> = Vec::with_capacity(n);
        for position in 0..n {
            let same_level = position > 0 && level(position) == level(position - 1);
            starts.push(if same_level { starts[position - 1] } else { position as u32 });
        }
        self.starts = starts;
        self.weights =
            self.order.iter().map(|document| levels.weight(*document as usize)).collect();
    }

    /// Returns the loss at these scores and sets the gradient; if a score is not finite, the loss
    /// is infinite and the gradient is not set.
    fn value(&mut self, levels: &LabelLevels, scores: &[f64], gradient: &mut [f64]) -> f64 {
        if scores.iter().any(|score| !score.is_finite()) {
            return f64::INFINITY;
        }
        self.sort_by_level(levels);
        let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let middle = 0.5 * (low + high);
        self.too_far_apart = high - low > MAX_RANGE;
        let exponential =
            |document: &u32| match (self.too_far_apart, scores[*document as usize] - middle) {
                (true, score) => score,
                (false, score) => exp(score),
            };
        self.exponentials.clear();
        self.exponentials.extend(self.order.iter().map(exponential));
        self.sums.clear();
        self.sums.resize(scores.len(), 0.0);
        let mut total = 0.0;
        for i in 0..scores.len() {
            // The documents of lower levels are those before `worse_end`.
            let (worse_end, own_weight) = (self.starts[i] as usize, self.weights[i]);
            // `own` and `other` are exponentials, or scores if these are too far apart.
            let own = self.exponentials[i];
            let mut own_sum = 0.0;
            for j in 0..worse_end {
                let (weight, other) = (own_weight * self.weights[j], self.exponentials[j]);
                let (loss, wrong_probability) = match self.too_far_apart {
                    false => ((other / own).ln_1p(), other / (own + other)),
                    true => {
                        let (loss, first, _) =
                            MarginLoss::Logistic.value_and_derivatives(own - other);
                        (loss, -first)
                    }
                };
                total += weight * loss;
                self.sums[j] += weight * wrong_probability;
                own_sum += weight * wrong_probability;
            }
            self.sums[i] -= own_sum;
        }
        self.write_sums(levels.scale, gradient);
        levels.scale * total
    }

    /// Sets `product` to the product of the hessian and a direction.
    fn hessian_product(&mut self, levels: &LabelLevels, direction: &[f64], product: &mut [f64]) {
        self.direction.clear();
        self.direction.extend(self.order.iter().map(|document| direction[*document as usize]));
        self.sums.fill(0.0);
        for i in 0..direction.len() {
            let (worse_end, own_weight) = (self.starts[i] as usize, self.weights[i]);
            let (own, own_direction) = (self.exponentials[i], self.direction[i]);
            let mut own_sum = 0.0;
            let others =
                self.exponentials[..worse_end].iter().zip(&self.weights).zip(&self.direction);
            for (((other, weight), direction), sum) in others.zip(&mut self.sums) {
                let hessian = match self.too_far_apart {
                    false => {
                        let both = own + other;
                        own * other / (both * both)
                    }
                    true => MarginLoss::Logistic.value_and_derivatives(own - other).2,
                };
                let change = own_weight * weight * hessian * (own_direction - direction);
                *sum -= change;
                own_sum += change;
            }
            self.sums[i] += own_sum;
        }
        self.write_sums(levels.scale, product);
    }

    /// Writes the sums times `scale`, in the order of the rows.
    fn write_sums(&self, scale: f64, out: &mut [f64]) {
        for (document, sum) in self.order.iter().zip(&self.sums) {
            out[*document as usize] = scale * sum;
        }
    }
}

impl ConvexLoss for LogisticPairs {
    type Cache = QueryCache;

    fn value(
        &self,
        query: usize,
        point: LossPoint<'_>,
        cache: &mut QueryCache,
        gradient: Gradient<'_>,
    ) -> f64 {
        match &self.pair_sources[query] {
            PairSource::Nothing => {
                gradient.scores.fill(0.0);
                0.0
            }
            PairSource::Levels(levels) => cache.value(levels, point.scores, gradient.scores),
            PairSource::Listed(list) => pairs::value(
                MarginLoss::Logistic,
                list,
                point.scores,
                &mut cache.hessians,
                gradient.scores,
            ),
        }
    }

    fn hessian_product(
        &self,
        query: usize,
        direction: LossPoint<'_>,
        cache: &mut QueryCache,
        product: Gradient<'_>,
    ) {
        match &self.pair_sources[query] {
            PairSource::Nothing => product.scores.fill(0.0),
            PairSource::Levels(levels) => {
                cache.hessian_product(levels, direction.scores, product.scores)
            }
            PairSource::Listed(list) => {
                pairs::hessian_product(list, &cache.hessians, direction.scores, product.scores)
            }
        }
    }
}
