//! Derivatives of the training data: the objective is evaluated query by query, in parallel.
//!
//! Queries are divided into chunks of about equal cost; each chunk keeps its own buffers. A query's
//! derivatives depend on the query alone, so the division into chunks cannot change them. The
//! objective knows neither query weights nor samples: here the derivatives of a query are
//! multiplied by its weight and by its *multiplicity* in the sample, which is 0 for a query that is
//! not in the sample.

use std::ops::Range;

use rankwright_data::Dataset;
use rayon::prelude::*;

use crate::bias::{CorrectedClicks, RowClickWeights};
use crate::error::LearnError;
use crate::objective::{
    ClickWeights, Derivatives, DocumentPair, Objective, ObjectiveBuffers, QueryView,
    TrainingDocuments,
};
use crate::preferences::pairs_by_query;

/// The queries of one task, with its buffers.
#[derive(Debug)]
struct QueryChunk {
    queries: Range<usize>,
    /// Number of rows of these queries.
    rows: usize,
    buffers: ObjectiveBuffers,
}

/// The queries of a data set, prepared for an objective.
#[derive(Debug)]
pub(crate) struct TrainingQueries<'a> {
    data: &'a Dataset,
    chunks: Vec<QueryChunk>,
    /// The data's explicit preference pairs, query by query.
    pairs: Vec<DocumentPair>,
    /// The index of each query's first pair in `pairs`, and at the end the number of all pairs;
    /// empty if the data has no pairs.
    pair_offsets: Vec<usize>,
    /// Corrections for position bias.
    clicks: CorrectedClicks,
    /// Row weight times query weight; empty if all are 1.
    weights: Vec<f32>,
    /// For each row, a number that the objective keeps from one pass to the next (see
    /// [`Derivatives`]).
    cache: Vec<u32>,
}

/// The gradients and hessians of all rows.
#[derive(Debug)]
pub(crate) struct AllDerivatives {
    pub(crate) gradient: Vec<f32>,
    pub(crate) hessian: Vec<f32>,
}

/// Arguments of a pass over the queries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryPass<'a> {
    pub(crate) objective: &'a dyn Objective,
    /// The scores of all rows.
    pub(crate) scores: &'a [f64],
    /// Seed of the objective's random numbers.
    pub(crate) seed: u64,
    /// The multiplicity of each query in a sample: the factor of its derivatives, 0 if it is not in
    /// the sample; `None` if all are 1.
    pub(crate) multiplicities: Option<&'a [f32]>,
}

impl QueryPass<'_> {
    /// The multiplicity of a query.
    fn multiplicity(&self, query: usize) -> f32 {
        self.multiplicities.map_or(1.0, |multiplicities| multiplicities[query])
    }
}

impl<'a> TrainingQueries<'a> {
    /// Divides the queries into chunks by the objective's cost.
    pub(crate) fn new(data: &'a Dataset, objective: &dyn Objective) -> Self {
        Self::with_clicks(data, objective, CorrectedClicks::default())
    }

    /// The same with clicks that are corrected for position bias.
    pub(crate) fn with_clicks(
        data: &'a Dataset,
        objective: &dyn Objective,
        clicks: CorrectedClicks,
    ) -> Self {
        let (pairs, pair_offsets) = pairs_by_query(data);
        Self {
            data,
            chunks: chunks(data, objective),
            pairs,
            pair_offsets,
            weights: weights(data, clicks.row_weights.as_deref()),
            clicks,
            cache: vec![0; data.rows()],
        }
    }

    /// Sets the weights of clicks.
    pub(crate) fn set_click_weights(&mut self, weights: RowClickWeights) {
        self.clicks.weights = Some(weights);
    }

    /// All documents, for values that an objective computes from the whole data.
    pub(crate) fn documents<'b>(&'b self, scores: &'b [f64]) -> TrainingDocuments<'b> {
        let labels = self.clicks.labels.as_deref().unwrap_or(self.data.labels());
        TrainingDocuments { labels, weights: &self.weights, scores }
    }

    /// Computes the derivatives of every row; those of queries that are not sampled are 0.
    pub(crate) fn derivatives(
        &mut self,
        pass: QueryPass<'_>,
        out: &mut AllDerivatives,
    ) -> Result<(), LearnError> {
        let mut tasks = Vec::with_capacity(self.chunks.len());
        // The parts of the chunks that have no task yet.
        let (mut gradient, mut hessian) = (&mut out.gradient[..], &mut out.hessian[..]);
        let mut cache = &mut self.cache[..];
        for chunk in &mut self.chunks {
            let (chunk_gradient, gradient_after) = gradient.split_at_mut(chunk.rows);
            let (chunk_hessian, hessian_after) = hessian.split_at_mut(chunk.rows);
            let (chunk_cache, cache_after) = cache.split_at_mut(chunk.rows);
            (gradient, hessian, cache) = (gradient_after, hessian_after, cache_after);
            tasks.push((chunk, chunk_gradient, chunk_hessian, chunk_cache));
        }
        let shared = SharedQueries::new(self.data, &self.pairs, &self.pair_offsets, &self.clicks);
        tasks.into_par_iter().with_max_len(1).try_for_each(|(chunk, gradient, hessian, cache)| {
            let first_row = self.data.query_rows(chunk.queries.start).start;
            for query in chunk.queries.clone() {
                let rows = self.data.query_rows(query);
                let rows_in_chunk = rows.start - first_row..rows.end - first_row;
                let mut out = Derivatives {
                    gradient: &mut gradient[rows_in_chunk.clone()],
                    hessian: &mut hessian[rows_in_chunk.clone()],
                    cache: &mut cache[rows_in_chunk],
                };
                let multiplicity = pass.multiplicity(query);
                if multiplicity == 0.0 {
                    out.gradient.fill(0.0);
                    out.hessian.fill(0.0);
                    continue;
                }
                let view = shared.view(query, pass);
                shared.query_derivatives(&view, pass.objective, &mut chunk.buffers, &mut out)?;
                multiply(out.gradient, out.hessian, multiplicity);
            }
            Ok(())
        })
    }

    /// Each query's sum of |gradient|, added in the order of its documents.
    pub(crate) fn gradient_sums(&self, derivatives: &AllDerivatives) -> Vec<f64> {
        let of_query = |query: usize| {
            let gradient = &derivatives.gradient[self.data.query_rows(query)];
            gradient.iter().map(|g| f64::from(g.abs())).sum()
        };
        (0..self.data.queries()).into_par_iter().map(of_query).collect()
    }

    /// Multiplies the derivatives of all queries by the multiplicities of a sample.
    pub(crate) fn apply_multiplicities(&self, multiplicities: &[f32], out: &mut AllDerivatives) {
        for (query, multiplicity) in multiplicities.iter().enumerate() {
            let rows = self.data.query_rows(query);
            multiply(&mut out.gradient[rows.clone()], &mut out.hessian[rows], *multiplicity);
        }
    }

    /// The queries without the buffers, for callers that visit the queries in an order of their
    /// own.
    pub(crate) fn shared(&self) -> SharedQueries<'_> {
        SharedQueries::new(self.data, &self.pairs, &self.pair_offsets, &self.clicks)
    }

    /// Sums over all pairs of all sampled queries: for each pair, `add(row, other_row, hessian,
    /// sums)` adds the pair's hessian to some of the `cells` integer sums, which are returned. Sums
    /// wrap, so the order does not matter. An error if the objective has no pairs.
    pub(crate) fn sum_by_pairs(
        &mut self,
        pass: QueryPass<'_>,
        cells: usize,
        add: impl Fn(usize, usize, f64, &mut [u64]) + Sync,
    ) -> Result<Vec<u64>, LearnError> {
        let shared = SharedQueries::new(self.data, &self.pairs, &self.pair_offsets, &self.clicks);
        let of_chunk = |chunk: &mut QueryChunk| {
            let mut sums = vec![0_u64; cells];
            for query in chunk.queries.clone() {
                let weight = f64::from(shared.weight(query)) * f64::from(pass.multiplicity(query));
                if weight == 0.0 {
                    continue;
                }
                let first_row = shared.data.query_rows(query).start;
                let mut visit = |i: usize, j: usize, h: f64| {
                    add(first_row + i, first_row + j, h * weight, &mut sums);
                };
                let view = shared.view(query, pass);
                let has_pairs = pass.objective.pair_hessians(&view, &mut chunk.buffers, &mut visit);
                if !has_pairs.map_err(|error| shared.with_query_id(query, error))? {
                    return Err(LearnError::NewtonWithoutPairs);
                }
            }
            Ok(sums)
        };
        let add_sums = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(b));
            Ok(a)
        };
        self.chunks.par_iter_mut().map(of_chunk).try_reduce(|| vec![0; cells], add_sums)
    }

    /// For each row, the sum of the losses of its pairs as the better document, and as the worse
    /// one, times the weight of the query. An error if the objective has no pairs.
    pub(crate) fn pair_losses(
        &mut self,
        pass: QueryPass<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>), LearnError> {
        let (mut all_better, mut all_worse) =
            (vec![0.0; self.data.rows()], vec![0.0; self.data.rows()]);
        let mut tasks = Vec::with_capacity(self.chunks.len());
        let (mut better, mut worse) = (&mut all_better[..], &mut all_worse[..]);
        for chunk in &mut self.chunks {
            let (chunk_better, better_after) = better.split_at_mut(chunk.rows);
            let (chunk_worse, worse_after) = worse.split_at_mut(chunk.rows);
            (better, worse) = (better_after, worse_after);
            tasks.push((chunk, chunk_better, chunk_worse));
        }
        let shared = SharedQueries::new(self.data, &self.pairs, &self.pair_offsets, &self.clicks);
        tasks.into_par_iter().with_max_len(1).try_for_each(|(chunk, better, worse)| {
            let chunk_start = shared.data.query_rows(chunk.queries.start).start;
            for query in chunk.queries.clone() {
                let weight = f64::from(shared.weight(query));
                if weight == 0.0 {
                    continue;
                }
                let first = shared.data.query_rows(query).start - chunk_start;
                let mut visit = |i: usize, j: usize, loss: f64| {
                    better[first + i] += loss * weight;
                    worse[first + j] += loss * weight;
                };
                let view = shared.view(query, pass);
                let has_pairs = pass.objective.pair_losses(&view, &mut chunk.buffers, &mut visit);
                if !has_pairs.map_err(|error| shared.with_query_id(query, error))? {
                    let invariant = "factors of pairs are for losses of pairs";
                    return Err(LearnError::Internal { invariant });
                }
            }
            Ok(())
        })?;
        Ok((all_better, all_worse))
    }

    /// The derivative of the loss when all scores move along `direction`: the sum of gradient times
    /// direction, of each query first, then in the order of the queries. `buffers` is overwritten.
    pub(crate) fn directional_derivative(
        &mut self,
        pass: QueryPass<'_>,
        direction: &[f64],
        buffers: &mut AllDerivatives,
    ) -> Result<f64, LearnError> {
        self.derivatives(pass, buffers)?;
        let of_query = |query: usize| {
            let rows = self.data.query_rows(query);
            let terms = buffers.gradient[rows.clone()].iter().zip(&direction[rows]);
            terms.map(|(g, d)| f64::from(*g) * d).sum::<f64>()
        };
        let derivatives: Vec<f64> =
            (0..self.data.queries()).into_par_iter().map(of_query).collect();
        Ok(derivatives.iter().sum())
    }

    /// The loss of the sampled queries, added in their order; `None` if the objective has no loss.
    pub(crate) fn loss(&mut self, pass: QueryPass<'_>) -> Result<Option<f64>, LearnError> {
        let shared = SharedQueries::new(self.data, &self.pairs, &self.pair_offsets, &self.clicks);
        let of_chunk = |chunk: &mut QueryChunk| {
            let query_loss = |query: usize| {
                let weight = f64::from(shared.weight(query)) * f64::from(pass.multiplicity(query));
                if weight == 0.0 {
                    return Ok(Some(0.0));
                }
                let loss = pass.objective.loss(&shared.view(query, pass), &mut chunk.buffers);
                let loss = loss.map_err(|error| shared.with_query_id(query, error))?;
                Ok(loss.map(|loss| loss * weight))
            };
            chunk.queries.clone().map(query_loss).collect::<Result<Vec<Option<f64>>, LearnError>>()
        };
        let losses: Result<Vec<Vec<Option<f64>>>, LearnError> =
            self.chunks.par_iter_mut().map(of_chunk).collect();
        Ok(losses?.into_iter().flatten().sum())
    }
}

/// The read-only fields of [`TrainingQueries`], which all tasks share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedQueries<'a> {
    data: &'a Dataset,
    pairs: &'a [DocumentPair],
    pair_offsets: &'a [usize],
    clicks: &'a CorrectedClicks,
}

impl<'a> SharedQueries<'a> {
    fn new(
        data: &'a Dataset,
        pairs: &'a [DocumentPair],
        pair_offsets: &'a [usize],
        clicks: &'a CorrectedClicks,
    ) -> Self {
        Self { data, pairs, pair_offsets, clicks }
    }
}

impl SharedQueries<'_> {
    /// Weight of a query.
    pub(crate) fn weight(&self, query: usize) -> f32 {
        self.data.query_weights().map_or(1.0, |weights| weights[query])
    }

    /// Adds the query's id to an error of an objective, which does not know ids.
    fn with_query_id(&self, query: usize, error: LearnError) -> LearnError {
        let id = self.data.query(query).id;
        match error {
            LearnError::Eval(error) => LearnError::Eval(error.in_query(id)),
            other => LearnError::InQuery { query: id.to_owned(), error: Box::new(other) },
        }
    }

    /// A view of a query with its scores in the pass.
    fn view<'b>(&'b self, query: usize, pass: QueryPass<'b>) -> QueryView<'b> {
        self.view_with_scores(query, &pass.scores[self.data.query_rows(query)], pass.seed)
    }

    /// A view of a query; `scores` are those of its documents.
    pub(crate) fn view_with_scores<'b>(
        &'b self,
        query: usize,
        scores: &'b [f64],
        seed: u64,
    ) -> QueryView<'b> {
        let rows = self.data.query_rows(query);
        let pairs = match self.pair_offsets {
            [] => None,
            pair_offsets => Some(&self.pairs[pair_offsets[query]..pair_offsets[query + 1]]),
        };
        let labels = self.clicks.labels.as_deref().unwrap_or(self.data.labels());
        let row_weights = self.clicks.row_weights.as_deref().or(self.data.row_weights());
        let click_weights = self.clicks.weights.as_ref().map(|weights| ClickWeights {
            better: &weights.better[rows.clone()],
            worse: &weights.worse[rows.clone()],
        });
        QueryView {
            query,
            labels: &labels[rows.clone()],
            scores,
            weights: row_weights.map_or(&[], |weights| &weights[rows]),
            pairs,
            seed,
            click_weights,
            kept_labels: None,
        }
    }

    /// The derivatives of one query, multiplied by its weight.
    pub(crate) fn query_derivatives(
        &self,
        view: &QueryView<'_>,
        objective: &dyn Objective,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let weight = self.weight(view.query);
        if weight == 0.0 {
            out.gradient.fill(0.0);
            out.hessian.fill(0.0);
            return Ok(());
        }
        let result = objective.derivatives(view, buffers, out);
        result.map_err(|error| self.with_query_id(view.query, error))?;
        multiply(out.gradient, out.hessian, weight);
        Ok(())
    }
}

/// Multiplies the derivatives of a query by its weight or multiplicity.
fn multiply(gradient: &mut [f32], hessian: &mut [f32], factor: f32) {
    if factor != 1.0 {
        gradient.iter_mut().for_each(|g| *g *= factor);
        hessian.iter_mut().for_each(|h| *h *= factor);
    }
}

/// Divides the queries into chunks of about equal cost, about 8 for each thread, so that a thread
/// that finishes early can take another chunk.
fn chunks(data: &Dataset, objective: &dyn Objective) -> Vec<QueryChunk> {
    let cost = |query: usize| objective.cost(data.query_rows(query).len()).max(1);
    let total_cost: u64 = (0..data.queries()).map(cost).sum();
    let cost_per_chunk = total_cost / (8 * rayon::current_num_threads() as u64).max(1);
    let mut chunks = Vec::new();
    let (mut first_query, mut chunk_cost) = (0, 0);
    for query in 0..data.queries() {
        chunk_cost += cost(query);
        if chunk_cost >= cost_per_chunk || query + 1 == data.queries() {
            let rows = data.query_rows(query).end - data.query_rows(first_query).start;
            chunks.push(QueryChunk {
                queries: first_query..query + 1,
                rows,
                buffers: ObjectiveBuffers::default(),
            });
            (first_query, chunk_cost) = (query + 1, 0);
        }
    }
    chunks
}

/// Row weights times query weights; empty if there are neither. `corrected` are row weights in
/// place of those of the data.
fn weights(data: &Dataset, corrected: Option<&[f32]>) -> Vec<f32> {
    let row_weights = corrected.or(data.row_weights());
    if row_weights.is_none() && data.query_weights().is_none() {
        return Vec::new();
    }
    let mut weights = match row_weights {
        Some(weights) => weights.to_vec(),
        None => vec![1.0; data.rows()],
    };
    if let Some(query_weights) = data.query_weights() {
        for (query, weight) in query_weights.iter().enumerate() {
            weights[data.query_rows(query)].iter_mut().for_each(|w| *w *= weight);
        }
    }
    weights
}
