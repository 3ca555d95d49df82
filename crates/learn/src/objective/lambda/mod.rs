//! Pair logistic loss times the weight of a pair: RankMART and LambdaMART.
//!
//! For each pair of documents with i better than j (Burges, MSR-TR-2010-82, section 3):
//!
//! ```text
//! rho      = 1 / (1 + exp(sigma (s_i - s_j)))
//! lambda_i = -sigma * weight * rho            the opposite for j
//! hessian  =  sigma^2 * weight * rho * (1 - rho)       for both
//! ```
//!
//! The weight is 1 (RankMART) or the absolute change of a metric when the two documents swap ranks
//! (LambdaMART), times the weights of both documents (a document of weight 2 counts like two of
//! them). `ranked.rs` orders a query by score, `rows.rs` selects the pairs, `weight.rs` computes
//! their weight, `logistic.rs` the pair's loss; `kernel.rs` is the fast loop over pairs, `pairs.rs`
//! the general one.
//!
//! The parameter `goal` keeps another metric before that of the lambdas (`goal.rs`).
//!
//! The parameter `weight` chooses weights other than the change of the metric (`lambdaloss.rs`,
//! `lambdagap.rs`), the parameter `pairs` pairs other than those of the first ranks
//! (`coherent.rs`).
//!
//! A *row of pairs* is one document with all those that it is paired with. With truncation level T,
//! only the documents at the first T ranks are paired with all documents below them. *Equal pairs*
//! are pairs of equal labels, or explicit preferences that judge two documents equal.
//!
//! There are two normalisations, each an option; LightGBM's `lambdarank_norm` is both of them.
//! `norm_gap` divides a pair's weight by 0.01 + |s_i - s_j| unless all scores of the query are
//! equal. `norm_query` multiplies a query's derivatives by log2(1 + S) / S, where S is twice the
//! sum of its absolute pair lambdas (document weights included), so that no query dominates the
//! others.
//!
//! If clicks are corrected for position bias, a pair's weight is also multiplied by the weight of
//! its better document and that of its worse one (`QueryView::click_weights`); equal pairs are not.
//! S is computed without these weights: otherwise the norm would undo them in queries of a single
//! click.
//!
//! If the data has explicit preferences, a query's pairs are those, with their weights; equal pairs
//! have target probability P = 1/2. With a metric such a query needs labels too, from which the
//! metric computes the weights.
//!
//! The loss is defined for weight 1 without normalisation; with a metric, lambdas are not the
//! gradient of a known function. The second derivative is exact for fixed order and weights. Cost:
//! O(T n) for truncation T, memory O(n). Queries of 0 or 1 documents, of equal labels and, with a
//! metric, without a relevant document give zeros. Lambdas of a query sum to 0.

mod coherent;
mod goal;
mod kernel;
mod lambdagap;
mod lambdaloss;
mod logistic;
mod pairs;
mod params;
mod ranked;
#[cfg(test)]
mod reference;
mod rows;
#[cfg(test)]
mod speed;
#[cfg(test)]
mod tests;
mod weight;

use rankwright_eval::SwapDelta;
use rankwright_spec::SpecError;

use self::goal::KeptLabels;
use self::kernel::{MAX_RANGE, RankColumns};
use self::logistic::Logistic;
use self::pairs::QueryPairs;
use self::ranked::RankedQuery;
use self::rows::{is_sampled, spans};
use self::weight::{MetricWeight, SwapCache};
use super::{
    Derivatives, Objective, ObjectiveBuffers, PairLambda, QueryView, RankedDocument,
    RelevanceScale, TeacherTerm, TrainingDocuments, check_shape, pointwise,
};
use crate::bias::BiasCorrection;
use crate::error::{LearnError, NotFiniteValue};
use crate::simd::Simd;

pub use coherent::PairChoice;
pub use goal::{GoalText, KeptMetric};
pub use params::{
    LambdaConfig, LambdaOptions, LambdaParams, LambdaPreset, PairOptions, PairParams, TiedLabels,
    WeightSchemeName,
};
pub use rows::SAMPLED_PARTNERS;
pub use weight::{CutoffMode, WeightScheme, WeightSource};

/// The pairwise objective; [`LambdaConfig::check`] creates it.
///
/// ```
/// use rankwright_learn::objective::{
///     Derivatives, LambdaConfig, Objective, ObjectiveBuffers, QueryView,
/// };
///
/// let pair = LambdaConfig::default().check()?;
/// // P(first beats second) is 1/5, and the first is the better one: lambda is -4/5.
/// let scores = [0.25_f64.ln(), 0.0];
/// let query = QueryView::new(&[1.0, 0.0], &scores);
/// let (mut gradient, mut hessian, mut cache) = ([0.0; 2], [0.0; 2], [0; 2]);
/// let mut out =
///     Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut cache };
/// pair.derivatives(&query, &mut ObjectiveBuffers::default(), &mut out)?;
/// assert!((gradient[0] + 0.8).abs() < 1e-6 && (gradient[1] - 0.8).abs() < 1e-6);
/// assert!((hessian[0] - 0.16).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Lambda {
    params: LambdaConfig,
    /// The metric that gives the weights of pairs; `None` for weight 1.
    metric: Option<MetricWeight>,
    /// Number of first ranks that are paired with all ranks below them; `usize::MAX` for all.
    truncation: usize,
    /// Whether all labels of the training data are equal, as in data that has preferences but no
    /// labels; a metric cannot compute weights from them.
    all_labels_equal: bool,
}

/// Buffers that a thread keeps from query to query.
#[derive(Debug, Default)]
pub(super) struct LambdaBuffers {
    ranked: RankedQuery,
    columns: RankColumns,
    swaps: SwapCache,
    /// The weights that the metric gives to one row of pairs.
    row: Vec<f64>,
    /// Rank of each document, for preference pairs.
    ranks: Vec<u32>,
}

/// Smallest sigma * (best score - worst score), other than 0, for which the kernel is precise
/// enough for equal pairs.
const MIN_TIE_RANGE: f64 = 0.01;

/// Factors by which the sums in [`RankColumns`] are multiplied to give a query's derivatives.
#[derive(Debug, Clone, Copy)]
struct QueryScale {
    /// Factor of the gradient, without `norm`.
    gradient: f64,
    /// Factor of the hessian, without `norm`.
    hessian: f64,
    /// The query's norm, another factor of both: log2(1 + S) / S, or 1 without normalisation.
    norm: f64,
}

impl Lambda {
    /// The objective of checked parameters; resolves the metric and the truncation level.
    pub(super) fn new(params: LambdaConfig) -> Result<Self, SpecError> {
        let default_truncation = match params.scheme {
            // LambdaGap uses pairs at all ranks that are at least k ranks apart.
            WeightScheme::Gap => None,
            // The advice of LightGBM's documentation for `lambdarank_truncation_level`.
            _ => params.cutoff().map(|k| k as usize + 3),
        };
        let truncation = params.truncation.or(default_truncation).unwrap_or(usize::MAX);
        let metric = params.pair_weight.resolve(params.scheme, params.cut, truncation)?;
        let metric = match (metric, &params.keep) {
            (Some(metric), Some(kept)) => Some(metric.keeping(kept, params.cut, truncation)?),
            (metric, _) => metric,
        };
        Ok(Self { params, metric, truncation, all_labels_equal: false })
    }

    /// Number of ranks whose documents are paired with all below them; `None` for all.
    pub fn truncation(&self) -> Option<usize> {
        (self.truncation < usize::MAX).then_some(self.truncation)
    }

    /// The pair loss of this query; weights are divided by the gap only if the scores differ.
    fn logistic(&self, ranked: &RankedQuery) -> Logistic {
        let divide_by_gap = self.params.norm_gap && ranked.range() > 0.0;
        Logistic { sigma: self.params.sigma, divide_by_gap }
    }

    /// Orders the query by score and prepares the metric, which is returned; `None` for weight 1.
    /// `last_order` is the order of the previous iteration, if known, and is updated.
    fn prepare_query<'w>(
        &self,
        query: &QueryView<'_>,
        ranked: &mut RankedQuery,
        swaps: &'w mut SwapCache,
        last_order: &mut [u32],
    ) -> Result<Option<&'w dyn SwapDelta>, LearnError> {
        let has_labels = query.labels.len() == query.scores.len();
        let is_usable = match query.pairs {
            Some(_) => self.metric.is_none() || has_labels && !self.all_labels_equal,
            None => has_labels,
        };
        if !is_usable {
            return Err(LearnError::LabelsMissing);
        }
        let with_ideal = self.metric.is_some();
        ranked.fill(query, last_order, with_ideal)?;
        let sampled = is_sampled(ranked.len(), self.truncation);
        if self.params.pairs == PairChoice::Coherent && query.pairs.is_none() && !sampled {
            coherent::find_promoted(ranked, self.truncation);
        }
        let metric = self.metric.as_ref();
        let kept = KeptLabels { labels: &ranked.kept_labels, ideal: &ranked.kept_ideal };
        let kept = query.kept_labels.map(|_| kept);
        metric.map(|m| m.prepare(swaps, &ranked.labels, &ranked.ideal, kept)).transpose()
    }

    /// Computes the sums of the query's lambdas and hessians in `buffers.columns`, by rank; returns
    /// the factors that they are still to be multiplied by.
    fn sums(
        &self,
        query: &QueryView<'_>,
        buffers: &mut LambdaBuffers,
        last_order: &mut [u32],
    ) -> Result<QueryScale, LearnError> {
        let LambdaBuffers { ranked, columns, swaps, row, ranks } = buffers;
        let swap = self.prepare_query(query, ranked, swaps, last_order)?;
        let mut unweighted_total = None;
        if self.params.norm_query && !ranked.clicks.is_empty() {
            let clicks = std::mem::take(&mut ranked.clicks);
            unweighted_total = Some(self.pair_sums(query, ranked, swap, columns, (row, ranks))?.1);
            ranked.clicks = clicks;
        }
        let (scale, total) = self.pair_sums(query, ranked, swap, columns, (row, ranks))?;
        let norm = match self.params.norm_query {
            true => norm_of(unweighted_total.unwrap_or(total)),
            false => 1.0,
        };
        Ok(QueryScale { norm, ..scale })
    }

    /// Computes the sums of the query's lambdas and hessians in `columns`, by rank; returns the
    /// factors that they are still to be multiplied by, without the norm, and S of the norm.
    fn pair_sums(
        &self,
        query: &QueryView<'_>,
        ranked: &RankedQuery,
        swap: Option<&dyn SwapDelta>,
        columns: &mut RankColumns,
        (row, ranks): (&mut Vec<f64>, &mut Vec<u32>),
    ) -> Result<(QueryScale, f64), LearnError> {
        let range = self.params.sigma * ranked.range();
        // An equal pair is half a preference each way. If the scores are nearly equal, the two
        // halves nearly cancel, and little of their difference is left in 32 bits.
        let beyond_kernel =
            range > MAX_RANGE || self.counts_ties() && range > 0.0 && range < MIN_TIE_RANGE;
        let pairs =
            QueryPairs { ranked, swap, truncation: self.truncation, ties: self.counts_ties() };
        let (scale, total) = if beyond_kernel || query.pairs.is_some() {
            self.sums_by_pair(query, &pairs, columns, (row, ranks))?
        } else {
            self.sums_by_row(query, &pairs, columns, row)
        };
        // Sampled pairs are added to one of their documents only, so the lambdas need not sum to 0.
        if query.pairs.is_none() && is_sampled(pairs.ranked.len(), self.truncation) {
            let mean = columns.lambdas.iter().sum::<f64>() / columns.lambdas.len() as f64;
            columns.lambdas.iter_mut().for_each(|l| *l -= mean);
        }
        Ok((scale, total))
    }

    /// Sums derivatives pair by pair; returns their factors, and S: the sum of absolute pair
    /// lambdas, each counted for both documents.
    fn sums_by_pair(
        &self,
        query: &QueryView<'_>,
        pairs: &QueryPairs<'_>,
        columns: &mut RankColumns,
        pair_buffers: (&mut Vec<f64>, &mut Vec<u32>),
    ) -> Result<(QueryScale, f64), LearnError> {
        let scores = &pairs.ranked.scores;
        let (lambdas, hessians) = columns.clear_sums(scores.len());
        let logistic = self.logistic(pairs.ranked);
        let mut total = 0.0;
        pairs.for_each(query, pair_buffers, |pair| {
            let derivatives = logistic.derivatives(pair, scores[pair.i], scores[pair.j]);
            lambdas[pair.j] -= derivatives.gradient * pair.copies;
            hessians[pair.j] += derivatives.hessian * pair.copies;
            total += derivatives.gradient.abs() * pair.copies;
            if pair.adds_to_i {
                lambdas[pair.i] += derivatives.gradient;
                hessians[pair.i] += derivatives.hessian;
                total += derivatives.gradient.abs();
            }
        })?;
        Ok((QueryScale { gradient: 1.0, hessian: 1.0, norm: 1.0 }, total))
    }

    /// Sums derivatives with the kernel, one row of pairs after another; returns their factors,
    /// and S as [`Lambda::sums_by_pair`] does.
    fn sums_by_row(
        &self,
        query: &QueryView<'_>,
        pairs: &QueryPairs<'_>,
        columns: &mut RankColumns,
        row: &mut Vec<f64>,
    ) -> (QueryScale, f64) {
        let LambdaConfig { sigma, norm_gap, simd, .. } = self.params;
        let ranked = pairs.ranked;
        columns.load_scores(&ranked.scores, sigma, norm_gap, simd);
        let factors = pairs.swap.and_then(|swap| swap.factors());
        // Weights are divided by `unit`, the range of the gains, so that they fit into 32 bits.
        let (min_gain, unit) = factors.map_or((0.0, 1.0), |f| min_and_range(f.gains));
        let mut total = 0.0;
        // A smaller range has no finite reciprocal: the gains count as equal, and all sums are 0.
        if unit >= f64::MIN_POSITIVE {
            match factors {
                Some(factors) if self.has_contiguous_unweighted_pairs(ranked) => {
                    let inverse_unit = 1.0 / unit;
                    let gains = factors.gains.iter().map(|g| (g - min_gain) * inverse_unit);
                    columns.set_factors(gains, factors.discounts);
                    total = 2.0 * columns.product_rows(self.truncation, simd);
                }
                None if pairs.swap.is_none()
                    && !pairs.ties
                    && self.has_contiguous_unweighted_pairs(ranked)
                    && columns.set_labels(&ranked.labels) =>
                {
                    total = 2.0 * columns.sign_rows(self.truncation, simd);
                }
                _ => total = self.sums_by_weighted_rows(query, pairs, columns, row, unit),
            }
        }
        let gradient = sigma * unit * columns.scale;
        (QueryScale { gradient, hessian: gradient * sigma, norm: 1.0 }, gradient * total)
    }

    /// Sums derivatives with the kernel from the weight of every pair, divided by `unit`: for
    /// metrics that are not sums of gain times discount, weighted documents, equal pairs, promoted
    /// ranks (`coherent.rs`) and sampled pairs. Returns S divided by the factor of the gradient.
    fn sums_by_weighted_rows(
        &self,
        query: &QueryView<'_>,
        pairs: &QueryPairs<'_>,
        columns: &mut RankColumns,
        row: &mut Vec<f64>,
        unit: f64,
    ) -> f64 {
        let n = pairs.ranked.len();
        row.clear();
        row.resize(n, 0.0);
        columns.clear_row(pairs.ties);
        let mut total = 0.0;
        for (count, span) in spans(pairs.rows(query)).enumerate() {
            if RankColumns::needs_flush(count) {
                columns.flush();
            }
            let into = (&mut columns.row_weights[..], &mut columns.row_tie_weights[..]);
            pairs.fill_row(&span, unit, row, into);
            let sums = columns.weighted_row(span.i, span.from, span.to, self.params.simd);
            total += sums.total;
            if span.adds_to_i {
                columns.lambdas[span.i] -= sums.lambda;
                columns.hessians[span.i] += sums.hessian;
                total += sums.total;
            }
        }
        columns.flush();
        total
    }

    /// Calls `visit` with every pair of a query, its derivatives, and the factor by which they are
    /// still to be multiplied: the query's norm, times the number of pairs that a sampled one
    /// represents.
    fn for_each_pair(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        mut visit: impl FnMut(&RankedQuery, &logistic::RankPair, logistic::PairDerivatives, f64),
    ) -> Result<(), LearnError> {
        if query.scores.len() < 2 {
            return Ok(());
        }
        let buffers = &mut buffers.lambda;
        let norm = match self.params.norm_query {
            true => self.sums(query, buffers, &mut [])?.norm,
            false => 1.0,
        };
        let LambdaBuffers { ranked, swaps, row, ranks, .. } = buffers;
        let swap = self.prepare_query(query, ranked, swaps, &mut [])?;
        let pairs =
            QueryPairs { ranked, swap, truncation: self.truncation, ties: self.counts_ties() };
        let (logistic, scores) = (self.logistic(ranked), &ranked.scores);
        pairs.for_each(query, (row, ranks), |pair| {
            let derivatives = logistic.derivatives(pair, scores[pair.i], scores[pair.j]);
            visit(ranked, pair, derivatives, norm * pairs_represented(pair));
        })
    }

    /// Whether every row of pairs is one of the first ranks with all ranks below it, and all
    /// documents and clicks have weight 1.
    fn has_contiguous_unweighted_pairs(&self, ranked: &RankedQuery) -> bool {
        ranked.weights.is_empty()
            && ranked.clicks.is_empty()
            && ranked.promoted.is_empty()
            && !is_sampled(ranked.len(), self.truncation)
    }

    /// Whether pairs of equal labels count.
    fn counts_ties(&self) -> bool {
        self.params.ties == TiedLabels::Half
    }

    /// Whether the derivatives are those of a known loss.
    fn has_loss(&self) -> bool {
        self.metric.is_none() && !self.params.norm_gap && !self.params.norm_query
    }
}

/// The query's norm log2(1 + S) / S, where `total` is S; the limit for S = 0.
fn norm_of(total: f64) -> f64 {
    let ratio = if total > 0.0 { total.ln_1p() / total } else { 1.0 };
    ratio / std::f64::consts::LN_2
}

/// The smallest value, and the largest minus the smallest.
fn min_and_range(values: &[f64]) -> (f64, f64) {
    // Comparisons in lanes are vectorised; min and max of floats that may be NaN are not.
    let (mut min, mut max) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for l in 0..8 {
            min[l] = if chunk[l] < min[l] { chunk[l] } else { min[l] };
            max[l] = if chunk[l] > max[l] { chunk[l] } else { max[l] };
        }
    }
    let min = min.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
    let max = max.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max);
    (min, max - min)
}

impl Objective for Lambda {
    fn teacher_term(&self) -> TeacherTerm {
        match self.metric {
            Some(_) => TeacherTerm::SoftLabels,
            None => TeacherTerm::SoftPairs,
        }
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        if query.scores.len() < 2 {
            out.gradient.fill(0.0);
            out.hessian.fill(0.0);
            return Ok(());
        }
        let buffers = &mut buffers.lambda;
        let scale = self.sums(query, buffers, out.cache)?;
        let gradient_factor = scale.gradient * scale.norm;
        let hessian_factor = scale.hessian * scale.norm;
        let mut finite = true;
        let sums = buffers.columns.lambdas.iter().zip(&buffers.columns.hessians);
        for (&document, (l, h)) in buffers.ranked.order.iter().zip(sums) {
            let (g, h) = ((l * gradient_factor) as f32, (h * hessian_factor) as f32);
            finite &= g.is_finite() && h.is_finite();
            out.gradient[document as usize] = g;
            out.hessian[document as usize] = h;
        }
        if finite {
            return Ok(());
        }
        Err(NotFiniteValue::Lambdas.into())
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        if !self.has_loss() {
            return Ok(None);
        }
        if query.scores.len() < 2 {
            return Ok(Some(0.0));
        }
        let LambdaBuffers { ranked, swaps, row, ranks, .. } = &mut buffers.lambda;
        let swap = self.prepare_query(query, ranked, swaps, &mut [])?;
        let pairs =
            QueryPairs { ranked, swap, truncation: self.truncation, ties: self.counts_ties() };
        let (logistic, scores) = (self.logistic(ranked), &ranked.scores);
        let mut sum = 0.0;
        pairs.for_each(query, (row, ranks), |pair| {
            let loss = logistic.loss(pair, scores[pair.i], scores[pair.j]);
            sum += loss * pairs_represented(pair);
        })?;
        Ok(Some(sum))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        self.all_labels_equal = all.labels.windows(2).all(|w| w[0] == w[1]);
        // Only the largest label can be outside the metric's scale of grades.
        let largest = all.labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if let Some(metric) = self.metric.as_ref().filter(|_| largest.is_finite()) {
            metric.prepare(&mut SwapCache::default(), &[largest], &[largest], None)?;
        }
        Ok(0.0)
    }

    fn pair_hessians(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        self.for_each_pair(query, buffers, |ranked, pair, derivatives, scale| {
            let (i, j) = (ranked.order[pair.i] as usize, ranked.order[pair.j] as usize);
            visit(i, j, derivatives.hessian * scale);
        })?;
        Ok(true)
    }

    fn pair_lambdas(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(PairLambda),
    ) -> Result<bool, LearnError> {
        self.for_each_pair(query, buffers, |ranked, pair, derivatives, scale| {
            let at_rank =
                |rank: usize| RankedDocument { document: ranked.order[rank] as usize, rank };
            // If the derivative by the score of i is below 0, i should rise.
            let (pushed_up, pushed_down) = match derivatives.gradient <= 0.0 {
                true => (at_rank(pair.i), at_rank(pair.j)),
                false => (at_rank(pair.j), at_rank(pair.i)),
            };
            visit(PairLambda { pushed_up, pushed_down, size: derivatives.gradient.abs() * scale });
        })?;
        Ok(true)
    }

    fn pair_losses(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        let logistic = Logistic { sigma: self.params.sigma, divide_by_gap: false };
        self.for_each_pair(query, buffers, |ranked, pair, _, scale| {
            if pair.weight != 0.0 {
                let loss = logistic.loss(pair, ranked.scores[pair.i], ranked.scores[pair.j]);
                let (i, j) = (ranked.order[pair.i] as usize, ranked.order[pair.j] as usize);
                let (better, worse) = if pair.weight > 0.0 { (i, j) } else { (j, i) };
                visit(better, worse, loss * scale);
            }
        })?;
        Ok(true)
    }

    fn supports_bias(&self, bias: BiasCorrection) -> bool {
        bias != BiasCorrection::Dr || self.relevance_scale().is_some()
    }

    fn relevance_scale(&self) -> Option<RelevanceScale> {
        match &self.params.pair_weight {
            WeightSource::Metric(spec) if matches!(spec.def().name, "ndcg" | "dcg") => {
                match spec.canonical().get("gain") {
                    None | Some("exp") => Some(RelevanceScale::Exponential),
                    Some("linear") => Some(RelevanceScale::Linear),
                    Some(_) => None,
                }
            }
            _ => None,
        }
    }

    fn cost(&self, documents: usize) -> u64 {
        let partners = match is_sampled(documents, self.truncation) {
            true => rows::SAMPLED_PARTNERS,
            false => self.truncation.min(documents),
        };
        // The unit is the time of a pair; sorting takes about 50 units per document.
        (documents as u64).saturating_mul(50 + partners as u64)
    }

    fn samples_pairs(&self, documents: usize) -> bool {
        is_sampled(documents, self.truncation)
    }

    fn set_simd(&mut self, simd: Simd) {
        self.params.simd = simd;
    }
}

/// The number of pairs that a visited pair represents. A sampled pair counts half, because every
/// pair can be sampled twice: with either of its documents as the partner of the other.
fn pairs_represented(pair: &logistic::RankPair) -> f64 {
    if pair.adds_to_i { 1.0 } else { 0.5 * pair.copies }
}
