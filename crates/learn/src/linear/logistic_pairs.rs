//! The logistic loss of preferences: linear RankNet, "ranking logistic regression".
//!
//! ```text
//! 1/2 |w|^2 + c * mean over preferences, by weight, of ln(1 + exp(-(s_better - s_worse)))
//! ```
//!
//! Every pair of different levels is visited: O(n^2) time for a query of n documents, O(n) memory.
//! The exponentials are those of the documents, not of the pairs: the probability of the wrong
//! order is e_j / (e_i + e_j) with e = exp(s - middle). If scores are too far apart for that, one
//! exponential is computed per pair.
//!
//! Queries of more than 20,000 documents are sampled: each document is paired with 256 others,
//! drawn once by the seed, and a pair counts for as many pairs as it was drawn from.

use rankwright_data::{Dataset, Random};

use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use super::pairs::{self, LabelLevels, Pair, PairSource};
use crate::exp::exp;
use crate::objective::SAMPLED_PARTNERS;

/// Number of documents of a query above which its pairs are sampled.
pub(super) const MAX_DOCUMENTS: usize = 20_000;
/// Largest difference of two scores for which exponentials of single documents can be used.
const MAX_RANGE: f64 = 600.0;

/// The logistic loss of preference pairs.
#[derive(Debug)]
pub(super) struct LogisticPairs {
    pair_sources: Vec<PairSource>,
}

/// Values of a query that `value` keeps for `hessian_product`.
#[derive(Debug, Default)]
pub(super) struct QueryCache {
    hessians: Vec<f64>,
    /// Documents from the lowest level up, and the index at which each one's level begins.
    order: Vec<u32>,
    starts: Vec<u32>,
    weights: Vec<f64>,
    /// e^(s - middle) in that order, or the scores themselves where they are too far apart.
    exponentials: Vec<f64>,
    pairwise: bool,
    /// The direction and the sums, in that order.
    direction: Vec<f64>,
    sums: Vec<f64>,
}

impl LogisticPairs {
    /// The loss of the preferences of all queries; those of large queries are sampled.
    pub(super) fn new(data: &Dataset, mut pair_sources: Vec<PairSource>, seed: u64) -> Self {
        for (query, pair_sources) in pair_sources.iter_mut().enumerate() {
            if let PairSource::Levels(levels) = pair_sources
                && data.query_rows(query).len() > MAX_DOCUMENTS
            {
                *pair_sources = PairSource::Listed(sampled(levels, seed, query));
            }
        }
        Self { pair_sources }
    }
}

/// A sample of a query's pairs: each document with one drawn from each of 256 stretches of rows.
fn sampled(levels: &LabelLevels, seed: u64, query: usize) -> Vec<Pair> {
    let n = levels.of.len();
    let mut random = Random::new(seed ^ 0x7061_6972_7365_6564, query as u64);
    let mut pairs = Vec::with_capacity(n * SAMPLED_PARTNERS);
    for i in 0..n {
        for part in 0..SAMPLED_PARTNERS {
            let (from, to) = (part * n / SAMPLED_PARTNERS, (part + 1) * n / SAMPLED_PARTNERS);
            let j = from + random.below(to - from);
            let (better, worse) = match levels.of[i].cmp(&levels.of[j]) {
                std::cmp::Ordering::Equal => continue,
                std::cmp::Ordering::Greater => (i, j),
                std::cmp::Ordering::Less => (j, i),
            };
            // Either document of a pair may draw the other.
            let copies = 0.5 * (to - from) as f64;
            let weight = copies * levels.scale * levels.weight(i) * levels.weight(j);
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
        let n = levels.of.len();
        if self.order.len() == n {
            return;
        }
        self.order = (0..n as u32).collect();
        self.order.sort_by_key(|document| levels.of[*document as usize]);
        let level = |place: usize| levels.of[self.order[place] as usize];
        let mut starts: Vec<u32> = Vec::with_capacity(n);
        for place in 0..n {
            let same = place > 0 && level(place) == level(place - 1);
            starts.push(if same { starts[place - 1] } else { place as u32 });
        }
        self.starts = starts;
        self.weights =
            self.order.iter().map(|document| levels.weight(*document as usize)).collect();
    }

    /// Returns the loss at these scores and sets the gradient.
    fn value(&mut self, levels: &LabelLevels, scores: &[f64], gradient: &mut [f64]) -> f64 {
        if scores.iter().any(|score| !score.is_finite()) {
            return f64::INFINITY;
        }
        self.sort_by_level(levels);
        let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let middle = 0.5 * (low + high);
        self.pairwise = high - low > MAX_RANGE;
        let exponential =
            |document: &u32| match (self.pairwise, scores[*document as usize] - middle) {
                (true, score) => score,
                (false, score) => exp(score),
            };
        self.exponentials.clear();
        self.exponentials.extend(self.order.iter().map(exponential));
        self.sums.clear();
        self.sums.resize(scores.len(), 0.0);
        let mut total = 0.0;
        for i in 0..scores.len() {
            let (below, own) = (self.starts[i] as usize, self.weights[i]);
            let mine = self.exponentials[i];
            let mut sum_of_own = 0.0;
            for j in 0..below {
                let weight = own * self.weights[j];
                let (loss, wrong) = match self.pairwise {
                    false => {
                        let other = self.exponentials[j];
                        ((other / mine).ln_1p(), other / (mine + other))
                    }
                    true => {
                        let (loss, first, _) = MarginLoss::Logistic.at(mine - self.exponentials[j]);
                        (loss, -first)
                    }
                };
                total += weight * loss;
                self.sums[j] += weight * wrong;
                sum_of_own += weight * wrong;
            }
            self.sums[i] -= sum_of_own;
        }
        self.write_gradient(levels.scale, gradient);
        levels.scale * total
    }

    /// Sets `gradient` to the product of the hessian and a direction.
    fn hessian_product(&mut self, levels: &LabelLevels, direction: &[f64], product: &mut [f64]) {
        self.direction.clear();
        self.direction.extend(self.order.iter().map(|document| direction[*document as usize]));
        self.sums.fill(0.0);
        for i in 0..direction.len() {
            let (below, own) = (self.starts[i] as usize, self.weights[i]);
            let (mine, here) = (self.exponentials[i], self.direction[i]);
            let mut sum = 0.0;
            let others = self.exponentials[..below].iter().zip(&self.weights).zip(&self.direction);
            for (((other, weight), there), out) in others.zip(&mut self.sums) {
                let curvature = match self.pairwise {
                    false => {
                        let both = mine + other;
                        mine * other / (both * both)
                    }
                    true => MarginLoss::Logistic.at(mine - other).2,
                };
                let change = own * weight * curvature * (here - there);
                *out -= change;
                sum += change;
            }
            self.sums[i] += sum;
        }
        self.write_gradient(levels.scale, product);
    }

    /// Writes sums back in the order of the rows.
    fn write_gradient(&self, scale: f64, gradient: &mut [f64]) {
        for (document, sum) in self.order.iter().zip(&self.sums) {
            gradient[*document as usize] = scale * sum;
        }
    }
}

impl ConvexLoss for LogisticPairs {
    type Cache = QueryCache;

    fn value(
        &self,
        query: usize,
        at: LossPoint<'_>,
        cache: &mut QueryCache,
        gradient: Gradient<'_>,
    ) -> f64 {
        match &self.pair_sources[query] {
            PairSource::Nothing => {
                gradient.scores.fill(0.0);
                0.0
            }
            PairSource::Levels(levels) => cache.value(levels, at.scores, gradient.scores),
            PairSource::Listed(list) => pairs::value(
                MarginLoss::Logistic,
                list,
                at.scores,
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
