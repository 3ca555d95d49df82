//! Forward and backward pass of a mini-batch: scores, derivatives of the loss, gradient.
//!
//! The rows of a mini-batch are given as [`RowLists`]: a list is a query or a pair of documents.
//! The rows are cut into blocks of about 128, at most 64 blocks for any number of threads; the loss
//! gets whole lists. Each block has its own gradient, and these are added in the order of the
//! blocks. So the result is the same on any number of threads, and a single list of a million
//! documents keeps all threads busy.
//!
//! Only batch norm makes blocks depend on each other: with batch norm they wait for each other
//! after the matrix product of each layer.

use std::ops::Range;

use rayon::prelude::*;

use super::block::{BatchTotals, NetBlock, NoiseLevels};
use super::draws::RandomLanes;
use super::matrix::NetMatrix;
use super::norm::BatchStats;
use super::shape::{HiddenNorm, NetShape};
use crate::error::{LearnError, NotFiniteValue};
use crate::objective::{Derivatives, DocumentPair, ObjectiveBuffers};

/// Rows of a block, unless that makes more than [`MAX_BLOCKS`].
const BLOCK_ROWS: usize = 128;
/// Maximum number of blocks of a mini-batch.
const MAX_BLOCKS: usize = 64;
/// Number of parameters of the net whose gradients one task adds up.
const CHUNK: usize = 8192;

/// Rows of one pass through the net, list by list.
#[derive(Debug, Default)]
pub(super) struct RowLists {
    /// Rows of the data, those of a list together.
    pub(super) rows: Vec<u32>,
    pub(super) lists: Vec<RowList>,
}

/// Rows whose scores the loss sees together.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowList {
    /// The query of the rows.
    pub(super) query: usize,
    /// End of the list in the rows of all lists; it begins where the previous list ends.
    pub(super) end: usize,
    /// For a list of two documents, the better one first: their preference, with document numbers
    /// within the query. `None` if the list is a whole query.
    pub(super) pair: Option<DocumentPair>,
}

impl RowLists {
    /// Removes all lists.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.lists.clear();
    }

    /// Adds a list: these rows of a query, or a pair of its documents.
    pub(super) fn push(
        &mut self,
        query: usize,
        rows: impl Iterator<Item = u32>,
        pair: Option<DocumentPair>,
    ) {
        self.rows.extend(rows);
        self.lists.push(RowList { query, end: self.rows.len(), pair });
    }
}

/// Computes the derivatives of the loss of one list by its scores.
pub(super) trait ListLoss: Sync {
    /// Sets the derivatives of a list, given its scores.
    fn list_derivatives(
        &self,
        list: &RowList,
        scores: &[f64],
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError>;
}

/// Inputs of a pass other than the lists.
#[derive(Clone, Copy)]
pub(super) struct PassInput<'a> {
    /// The parameters of the net.
    pub(super) parameters: &'a [f32],
    /// All rows, transformed.
    pub(super) data: NetMatrix<'a>,
    pub(super) loss: &'a dyn ListLoss,
    /// Factor of the gradient by the scores.
    pub(super) scale: f32,
    pub(super) noise_levels: NoiseLevels,
    /// Seed of the random numbers of noise and dropout.
    pub(super) draw_seed: u64,
    /// Number of the pass: each pass draws other random numbers.
    pub(super) pass_number: u64,
}

/// Buffers for mini-batches.
#[derive(Debug)]
pub(super) struct PassBuffers {
    shape: NetShape,
    blocks: Vec<NetBlock>,
    /// Score of each row of the lists.
    scores: Vec<f64>,
    /// Gradient of the loss by each score.
    score_gradient: Vec<f32>,
    /// Hessians of the objective, which nets do not use.
    score_hessian: Vec<f32>,
    /// Buffers of the objective, for each task.
    objective_buffers: Vec<ObjectiveBuffers>,
    /// Statistics of batch norm in the last pass, by layer; empty without it.
    pub(super) stats: Vec<BatchStats>,
    /// The gradient by the parameters of the net, summed over all passes since it was cleared.
    pub(super) parameter_gradient: Vec<f32>,
}

impl PassBuffers {
    /// Empty buffers for a net of this shape.
    pub(super) fn new(shape: NetShape) -> Self {
        let parameter_gradient = vec![0.0; shape.parameter_count];
        Self {
            shape,
            blocks: Vec::new(),
            scores: Vec::new(),
            score_gradient: Vec::new(),
            score_hessian: Vec::new(),
            objective_buffers: Vec::new(),
            stats: Vec::new(),
            parameter_gradient,
        }
    }

    /// Adds the gradient of the lists to `parameter_gradient`.
    pub(super) fn add_gradient(
        &mut self,
        lists: &RowLists,
        input: PassInput<'_>,
    ) -> Result<(), LearnError> {
        if lists.rows.is_empty() {
            return Ok(());
        }
        let count = lists.rows.len().div_ceil(BLOCK_ROWS).min(MAX_BLOCKS);
        while self.blocks.len() < count {
            self.blocks.push(NetBlock::new(&self.shape));
        }
        self.forward(lists, count, input);
        self.collect_scores(count)?;
        self.derivatives(lists, input)?;
        self.backward(count, input);
        self.add_block_gradients(count);
        Ok(())
    }

    /// The scores of the lists' rows, without noise and dropout; batch norm uses this batch's
    /// statistics.
    #[cfg(test)]
    pub(super) fn score(&mut self, lists: &RowLists, input: PassInput<'_>) -> Vec<f64> {
        let count = lists.rows.len().div_ceil(BLOCK_ROWS).min(MAX_BLOCKS);
        self.blocks.resize_with(count, || NetBlock::new(&self.shape));
        self.forward(lists, count, PassInput { noise_levels: NoiseLevels::default(), ..input });
        self.collect_scores(count).unwrap();
        self.scores.clone()
    }

    /// The forward pass of the lists, in `count` blocks.
    fn forward(&mut self, lists: &RowLists, count: usize, input: PassInput<'_>) {
        let Self { shape, blocks, stats, .. } = self;
        let (blocks, layers) = (&mut blocks[..count], shape.layers.len());
        let (PassInput { parameters, data, noise_levels, draw_seed, pass_number, .. }, shape) =
            (input, &*shape);
        let independent = !shape.has_batch_norm();
        blocks.par_iter_mut().with_max_len(1).enumerate().for_each(|(number, block)| {
            let rows = &lists.rows[block_rows(lists.rows.len(), count, number)];
            // The number of a block fits into 8 bits: there are at most 64 blocks.
            let draws = RandomLanes::new(draw_seed, pass_number << 8 | number as u64);
            block.load(data, rows, draws, noise_levels.noise);
            for layer in (0..layers).filter(|_| independent) {
                block.forward_product(shape, layer, parameters);
                block.forward_activation(shape, layer, parameters, None, noise_levels.dropout);
            }
        });
        stats.clear();
        for layer in (0..layers).filter(|_| !independent) {
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.forward_product(shape, layer, parameters));
            let is_batch_norm = shape.layers[layer].norm == HiddenNorm::Batch;
            stats.push(match is_batch_norm {
                true => BatchStats::new(&batch_sums(blocks), lists.rows.len()),
                false => BatchStats::default(),
            });
            let (stats, dropout) = (stats.last().filter(|_| is_batch_norm), noise_levels.dropout);
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| {
                block.forward_activation(shape, layer, parameters, stats, dropout)
            });
        }
    }

    /// Collects the scores of the blocks; an error if a score is not finite.
    fn collect_scores(&mut self, count: usize) -> Result<(), LearnError> {
        self.scores.clear();
        for block in &self.blocks[..count] {
            self.scores.extend(block.scores().iter().map(|score| f64::from(*score)));
        }
        match self.scores.iter().all(|score| score.is_finite()) {
            true => Ok(()),
            false => Err(diverged()),
        }
    }

    /// Derivatives by the scores, list by list.
    fn derivatives(&mut self, lists: &RowLists, input: PassInput<'_>) -> Result<(), LearnError> {
        let rows = lists.rows.len();
        self.score_gradient.resize(rows, 0.0);
        self.score_hessian.resize(rows, 0.0);
        let chunks = chunk_lists(&lists.lists, rows);
        while self.objective_buffers.len() < chunks.len() {
            self.objective_buffers.push(ObjectiveBuffers::default());
        }
        // Each task gets the part of the derivatives that belongs to its lists.
        let mut gradient = &mut self.score_gradient[..];
        let mut hessian = &mut self.score_hessian[..];
        let mut tasks = Vec::with_capacity(chunks.len());
        for (range, buffers) in chunks.into_iter().zip(&mut self.objective_buffers) {
            let (first_row, end_row) =
                (list_start(&lists.lists, range.start), list_start(&lists.lists, range.end));
            let (task_gradient, later_gradient) = gradient.split_at_mut(end_row - first_row);
            let (task_hessian, later_hessian) = hessian.split_at_mut(end_row - first_row);
            (gradient, hessian) = (later_gradient, later_hessian);
            tasks.push((&lists.lists[range], first_row, task_gradient, task_hessian, buffers));
        }
        let scores = &self.scores;
        tasks.into_par_iter().with_max_len(1).try_for_each(
            |(lists, first_row, gradient, hessian, buffers)| {
                let mut start = first_row;
                for list in lists {
                    let list_rows = start - first_row..list.end - first_row;
                    let mut out = Derivatives {
                        gradient: &mut gradient[list_rows.clone()],
                        hessian: &mut hessian[list_rows.clone()],
                        cache: &mut [],
                    };
                    let list_scores = &scores[start..list.end];
                    input.loss.list_derivatives(list, list_scores, buffers, &mut out)?;
                    gradient[list_rows].iter_mut().for_each(|g| *g *= input.scale);
                    start = list.end;
                }
                Ok(())
            },
        )
    }

    /// The backward pass, in `count` blocks: each gets the gradient of its rows.
    fn backward(&mut self, count: usize, input: PassInput<'_>) {
        let Self { shape, blocks, score_gradient, stats, .. } = self;
        let (blocks, layers, parameters) =
            (&mut blocks[..count], shape.layers.len(), input.parameters);
        let (shape, rows) = (&*shape, score_gradient.len());
        let independent = !shape.has_batch_norm();
        blocks.par_iter_mut().with_max_len(1).enumerate().for_each(|(number, block)| {
            block.start_backward(&score_gradient[block_rows(rows, count, number)]);
            for layer in (0..layers).rev().filter(|_| independent) {
                block.backward_activation(shape, layer);
                block.backward_product(shape, layer, parameters, None);
            }
        });
        for layer in (0..layers).rev().filter(|_| !independent) {
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.backward_activation(shape, layer));
            let is_batch_norm = shape.layers[layer].norm == HiddenNorm::Batch;
            let sums = if is_batch_norm { batch_sums(blocks) } else { Vec::new() };
            let batch =
                is_batch_norm.then(|| BatchTotals { sums: &sums, stats: &stats[layer], rows });
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.backward_product(shape, layer, parameters, batch));
        }
    }

    /// Adds the gradients of the first `count` blocks to `parameter_gradient`, in their order.
    fn add_block_gradients(&mut self, count: usize) {
        let blocks = &self.blocks[..count];
        let add = |(chunk, total): (usize, &mut [f32])| {
            let range = chunk * CHUNK..chunk * CHUNK + total.len();
            for block in blocks {
                let more = &block.gradient[range.clone()];
                total.iter_mut().zip(more).for_each(|(total, more)| *total += more);
            }
        };
        self.parameter_gradient.par_chunks_mut(CHUNK).enumerate().for_each(add);
    }
}

/// The error when scores or parameters are no longer finite.
pub(super) fn diverged() -> LearnError {
    NotFiniteValue::NetScores.into()
}

/// The range of a block in the rows of all lists; `number` counts the `count` blocks from 0.
fn block_rows(rows: usize, count: usize, number: usize) -> Range<usize> {
    number * rows / count..(number + 1) * rows / count
}

/// The index in the rows of all lists at which a list begins; `number` counts lists from 0.
fn list_start(lists: &[RowList], number: usize) -> usize {
    if number == 0 { 0 } else { lists[number - 1].end }
}

/// Cuts the lists into chunks of about equal numbers of rows, a few for each thread. Lists do not
/// depend on each other, so the chunks may depend on the number of threads.
fn chunk_lists(lists: &[RowList], rows: usize) -> Vec<Range<usize>> {
    // At least 32 rows, so that the work of a task outweighs the cost of starting it.
    let chunk_rows = rows.div_ceil(4 * rayon::current_num_threads()).max(32);
    let (mut chunks, mut first) = (Vec::new(), 0);
    for (last, list) in lists.iter().enumerate() {
        if list.end - list_start(lists, first) >= chunk_rows || last + 1 == lists.len() {
            chunks.push(first..last + 1);
            first = last + 1;
        }
    }
    chunks
}

/// The `sums` of all blocks added up, for batch norm.
fn batch_sums(blocks: &[NetBlock]) -> Vec<f64> {
    let mut all = vec![0.0; blocks.first().map_or(0, |block| block.sums.len())];
    for block in blocks {
        all.iter_mut().zip(&block.sums).for_each(|(all, more)| *all += more);
    }
    all
}
