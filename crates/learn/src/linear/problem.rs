//! The training problem of a linear model, a function to be minimised:
//!
//! ```text
//! f(w, e) = penalty/2 |w|^2 + c * sum over queries of their part in the mean loss(X w, e)
//! ```
//!
//! where w are the weights, X the transformed features and e the extra parameters (an intercept,
//! thresholds), which are not penalised. How queries are cut into chunks depends on the data alone.
//! One task computes a chunk's scores, losses and sums of rows while its rows are in the
//! processor's cache, and the sums of the chunks are added in their order: the number of threads
//! does not change a bit.
//!
//! Cost of a value or of a product with the hessian: two passes over the features, and the cost of
//! the loss. Memory: a few numbers per row besides the features.

use std::ops::Range;

use rankwright_data::Dataset;
use rayon::prelude::*;

use super::kernel::{add_rows, products};
use super::loss::{ConvexLoss, Gradient, LossPoint};
use super::newton::SmoothFunction;
use crate::simd::Simd;

/// Minimum number of rows of a chunk, except for the last.
const MIN_CHUNK_ROWS: usize = 2048;
/// Number of rows of a large chunk that one task computes.
const BLOCK_ROWS: usize = 8192;

/// The queries that one task works on, and their buffers; `C` is the loss's cache of a query.
#[derive(Debug)]
struct ProblemChunk<C> {
    queries: Range<usize>,
    rows: Range<usize>,
    scores: Vec<f64>,
    /// Derivatives by the scores.
    gradient: Vec<f64>,
    /// The cache of each query.
    caches: Vec<C>,
}

/// Feature values after the transforms.
#[derive(Debug, Clone, Copy)]
pub(super) struct DesignMatrix<'a> {
    pub(super) data: &'a Dataset,
    /// Transformed values, row by row.
    pub(super) values: &'a [f32],
    pub(super) simd: Simd,
}

/// The function to be minimised, and the point at which it was last evaluated.
#[derive(Debug)]
pub(super) struct Problem<'a, L: ConvexLoss> {
    design: DesignMatrix<'a>,
    pub(super) loss: L,
    /// Factor of half the squared norm of the weights.
    pub(super) penalty: f64,
    /// Factor of the loss.
    pub(super) c: f64,
    chunks: Vec<ProblemChunk<L::Cache>>,
}

impl<'a, L: ConvexLoss> Problem<'a, L> {
    /// The problem with c = 1 and a penalty of 1; whole queries are collected into chunks.
    pub(super) fn new(design: DesignMatrix<'a>, loss: L) -> Self {
        let data = design.data;
        let mut chunks = Vec::new();
        let mut first_query = 0;
        for query in 0..data.queries() {
            let rows = data.query_rows(first_query).start..data.query_rows(query).end;
            if rows.len() >= MIN_CHUNK_ROWS || query + 1 == data.queries() {
                let zeros = vec![0.0; rows.len()];
                let queries = first_query..query + 1;
                let caches = queries.clone().map(|_| L::Cache::default()).collect();
                chunks.push(ProblemChunk {
                    queries,
                    rows,
                    scores: zeros.clone(),
                    gradient: zeros,
                    caches,
                });
                first_query = query + 1;
            }
        }
        Self { design, loss, penalty: 1.0, c: 1.0, chunks }
    }

    /// Number of weights; the extra parameters come after them.
    pub(super) fn columns(&self) -> usize {
        self.design.data.columns()
    }

    /// One pass over all queries. Calls `evaluate` with the scores of each query at a point (or,
    /// for a product with the hessian, along a direction), which returns a loss and sets
    /// derivatives by scores and extra parameters. Returns the sum of the losses, and sets `sums`
    /// to the derivatives by weights and extra parameters.
    fn pass(
        &mut self,
        point: &[f64],
        sums: &mut [f64],
        evaluate: impl Fn(&L, usize, LossPoint<'_>, &mut L::Cache, Gradient<'_>) -> f64 + Sync,
    ) -> f64 {
        let (design, loss) = (self.design, &self.loss);
        let (columns, parameters) = (design.data.columns(), sums.len());
        let (weights, extra_parameters) = point.split_at(columns);
        let chunk_sums = |chunk: &mut ProblemChunk<L::Cache>| {
            let rows = chunk.rows.clone();
            let values = &design.values[rows.start * columns..rows.end * columns];
            all_products(design.simd, values, weights, &mut chunk.scores);
            let mut sums = vec![0.0; parameters];
            let mut total = 0.0;
            for (query, cache) in chunk.queries.clone().zip(&mut chunk.caches) {
                let query_rows = design.data.query_rows(query);
                let in_chunk = query_rows.start - rows.start..query_rows.end - rows.start;
                let scores = &chunk.scores[in_chunk.clone()];
                let query_point = LossPoint { scores, extra_parameters };
                let gradient = Gradient {
                    scores: &mut chunk.gradient[in_chunk],
                    extra_parameters: &mut sums[columns..],
                };
                total += evaluate(loss, query, query_point, cache, gradient);
            }
            add_all_rows(design.simd, values, &chunk.gradient, &mut sums[..columns]);
            (total, sums)
        };
        let parts: Vec<(f64, Vec<f64>)> =
            self.chunks.par_iter_mut().with_max_len(1).map(chunk_sums).collect();
        let mut total = 0.0;
        sums.fill(0.0);
        for (value, part) in parts {
            total += value;
            sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
        }
        total
    }

    /// Multiplies the derivatives of the loss by c and adds those of the penalty.
    fn add_penalty(&self, point: &[f64], sums: &mut [f64]) {
        let columns = self.columns();
        for (index, (sum, x)) in sums.iter_mut().zip(point).enumerate() {
            *sum = self.c * *sum + if index < columns { self.penalty * x } else { 0.0 };
        }
    }
}

impl<L: ConvexLoss> SmoothFunction for Problem<'_, L> {
    fn value(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let total = self.pass(point, gradient, |loss, query, query_point, cache, gradient| {
            loss.value(query, query_point, cache, gradient)
        });
        self.add_penalty(point, gradient);
        let weights = &point[..self.columns()];
        self.c * total + 0.5 * self.penalty * weights.iter().map(|w| w * w).sum::<f64>()
    }

    fn hessian_product(&mut self, direction: &[f64], out: &mut [f64]) {
        self.pass(direction, out, |loss, query, direction, cache, product| {
            loss.hessian_product(query, direction, cache, product);
            0.0
        });
        self.add_penalty(direction, out);
    }
}

/// Products of all rows with the weights; a large chunk uses all threads.
fn all_products(simd: Simd, values: &[f32], weights: &[f64], out: &mut [f64]) {
    if out.len() < 2 * BLOCK_ROWS || weights.is_empty() {
        return products(simd, values, weights, out);
    }
    let blocks = out.par_chunks_mut(BLOCK_ROWS).zip(values.par_chunks(BLOCK_ROWS * weights.len()));
    blocks.for_each(|(out, values)| products(simd, values, weights, out));
}

/// Adds up all rows times their coefficients; blocks of a large chunk are added in their order.
fn add_all_rows(simd: Simd, values: &[f32], coefficients: &[f64], sums: &mut [f64]) {
    let columns = sums.len();
    if coefficients.len() < 2 * BLOCK_ROWS || columns == 0 {
        return add_rows(simd, values, coefficients, sums);
    }
    let blocks = coefficients.par_chunks(BLOCK_ROWS).zip(values.par_chunks(BLOCK_ROWS * columns));
    let block_sums = |(coefficients, values): (&[f64], &[f32])| {
        let mut sums = vec![0.0; columns];
        add_rows(simd, values, coefficients, &mut sums);
        sums
    };
    let parts: Vec<Vec<f64>> = blocks.map(block_sums).collect();
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
}
