//! Forward and backward pass of a mini-batch: scores, derivatives of the loss, gradient.
//!
//! A mini-batch is a set of [`RowLists`] of rows. Its rows are cut into blocks of about 128, at
//! most 64 blocks for any number of threads; the loss gets whole lists. Each block has its own
//! gradient, and these are added in the order of the blocks. So the result is the same on any
//! number of threads, and a single list of a million documents keeps all threads busy.
//!
//! Only batch norm makes blocks depend on each other: with it they synchronise after each layer.

use std::ops::Range;

use rayon::prelude::*;

use super::block::{NetBlock, NoiseLevels};
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
    /// For a list of two documents, the better one first: their preference, numbered within the
    /// query. `None`: the list is a whole query.
    pub(super) pair: Option<DocumentPair>,
}

impl RowLists {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.lists.clear();
    }

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
        work: &mut ObjectiveBuffers,
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
    /// Seed of the random draws, and the number of the pass, which makes them different in each.
    pub(super) draws: (u64, u64),
}

/// Buffers for mini-batches.
#[derive(Debug)]
pub(super) struct PassBuffers {
    shape: NetShape,
    blocks: Vec<NetBlock>,
    /// Score of each row of the lists.
    scores: Vec<f64>,
    /// Gradient of the loss by each score.
    gradient: Vec<f32>,
    /// Hessians of the objective, which nets do not use.
    hessian: Vec<f32>,
    /// Buffers of each task.
    objective_buffers: Vec<ObjectiveBuffers>,
    /// Statistics of batch norm in the last pass, by layer; empty without it.
    pub(super) stats: Vec<BatchStats>,
    /// The gradient by the parameters of the net, of all passes since it was cleared.
    pub(super) total: Vec<f32>,
}

impl PassBuffers {
    pub(super) fn new(shape: NetShape) -> Self {
        let total = vec![0.0; shape.parameter_count];
        Self {
            shape,
            blocks: Vec::new(),
            scores: Vec::new(),
            gradient: Vec::new(),
            hessian: Vec::new(),
            objective_buffers: Vec::new(),
            stats: Vec::new(),
            total,
        }
    }

    /// Adds the gradient of the lists to the total.
    pub(super) fn add(&mut self, lists: &RowLists, input: PassInput<'_>) -> Result<(), LearnError> {
        if lists.rows.is_empty() {
            return Ok(());
        }
        let count = lists.rows.len().div_ceil(BLOCK_ROWS).min(MAX_BLOCKS);
        while self.blocks.len() < count {
            self.blocks.push(NetBlock::new(&self.shape));
        }
        self.forward(lists, count, input);
        self.take_scores(count)?;
        self.derivatives(lists, input)?;
        self.backward(count, input);
        self.sum(count);
        Ok(())
    }

    /// The scores of the lists' rows, without noise and dropout; batch norm uses this batch's
    /// statistics.
    #[cfg(test)]
    pub(super) fn score(&mut self, lists: &RowLists, input: PassInput<'_>) -> Vec<f64> {
        let count = lists.rows.len().div_ceil(BLOCK_ROWS).min(MAX_BLOCKS);
        self.blocks.resize_with(count, || NetBlock::new(&self.shape));
        self.forward(lists, count, PassInput { noise_levels: NoiseLevels::default(), ..input });
        self.take_scores(count).unwrap();
        self.scores.clone()
    }

    /// The forward pass of the lists, in `count` blocks.
    fn forward(&mut self, lists: &RowLists, count: usize, input: PassInput<'_>) {
        let Self { shape, blocks, stats, .. } = self;
        let (blocks, layers) = (&mut blocks[..count], shape.layers.len());
        let (PassInput { parameters, data, noise_levels, draws: (seed, pass), .. }, shape) =
            (input, &*shape);
        let independent = !shape.has_batch_norm();
        blocks.par_iter_mut().with_max_len(1).enumerate().for_each(|(at, block)| {
            let rows = &lists.rows[block_rows(lists.rows.len(), count, at)];
            let draws = RandomLanes::new(seed, pass << 8 | at as u64);
            block.load(data, rows, draws, noise_levels.noise);
            for layer in (0..layers).filter(|_| independent) {
                block.forward_product(shape, layer, parameters);
                block.forward_rest(shape, layer, parameters, None, noise_levels.dropout);
            }
        });
        stats.clear();
        for layer in (0..layers).filter(|_| !independent) {
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.forward_product(shape, layer, parameters));
            let is_batch_norm = shape.layers[layer].norm == HiddenNorm::Batch;
            stats.push(match is_batch_norm {
                true => BatchStats::new(&sums(blocks), lists.rows.len()),
                false => BatchStats::default(),
            });
            let (stats, dropout) = (stats.last().filter(|_| is_batch_norm), noise_levels.dropout);
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.forward_rest(shape, layer, parameters, stats, dropout));
        }
    }

    /// Collects the scores of the blocks.
    fn take_scores(&mut self, count: usize) -> Result<(), LearnError> {
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
        self.gradient.resize(rows, 0.0);
        self.hessian.resize(rows, 0.0);
        let chunks = chunk_lists(&lists.lists, rows);
        while self.objective_buffers.len() < chunks.len() {
            self.objective_buffers.push(ObjectiveBuffers::default());
        }
        let (mut gradient, mut hessian) = (&mut self.gradient[..], &mut self.hessian[..]);
        let mut tasks = Vec::with_capacity(chunks.len());
        for (range, work) in chunks.into_iter().zip(&mut self.objective_buffers) {
            let (first, end) =
                (list_start(&lists.lists, range.start), list_start(&lists.lists, range.end));
            let (own_gradient, rest_gradient) = gradient.split_at_mut(end - first);
            let (own_hessian, rest_hessian) = hessian.split_at_mut(end - first);
            (gradient, hessian) = (rest_gradient, rest_hessian);
            tasks.push((&lists.lists[range], first, own_gradient, own_hessian, work));
        }
        let scores = &self.scores;
        tasks.into_par_iter().with_max_len(1).try_for_each(
            |(lists, first, gradient, hessian, work)| {
                let mut from = first;
                for list in lists {
                    let here = from - first..list.end - first;
                    let mut out = Derivatives {
                        gradient: &mut gradient[here.clone()],
                        hessian: &mut hessian[here.clone()],
                        cache: &mut [],
                    };
                    input.loss.list_derivatives(list, &scores[from..list.end], work, &mut out)?;
                    gradient[here].iter_mut().for_each(|g| *g *= input.scale);
                    from = list.end;
                }
                Ok(())
            },
        )
    }

    /// The backward pass, in `count` blocks: each gets the gradient of its rows.
    fn backward(&mut self, count: usize, input: PassInput<'_>) {
        let Self { shape, blocks, gradient, stats, .. } = self;
        let (blocks, layers, parameters) =
            (&mut blocks[..count], shape.layers.len(), input.parameters);
        let (shape, rows) = (&*shape, gradient.len());
        let independent = !shape.has_batch_norm();
        blocks.par_iter_mut().with_max_len(1).enumerate().for_each(|(at, block)| {
            block.start_back(&gradient[block_rows(rows, count, at)]);
            for layer in (0..layers).rev().filter(|_| independent) {
                block.backward_activation(shape, layer);
                block.backward_product(shape, layer, parameters, None);
            }
        });
        for layer in (0..layers).rev().filter(|_| !independent) {
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.backward_activation(shape, layer));
            let is_batch_norm = shape.layers[layer].norm == HiddenNorm::Batch;
            let sums = if is_batch_norm { sums(blocks) } else { Vec::new() };
            let batch_sums = is_batch_norm.then(|| (&sums[..], &stats[layer], rows));
            let tasks = blocks.par_iter_mut().with_max_len(1);
            tasks.for_each(|block| block.backward_product(shape, layer, parameters, batch_sums));
        }
    }

    /// Adds the gradients of the first `count` blocks to the total, in their order.
    fn sum(&mut self, count: usize) {
        let blocks = &self.blocks[..count];
        let add = |(chunk, total): (usize, &mut [f32])| {
            let range = chunk * CHUNK..chunk * CHUNK + total.len();
            for block in blocks {
                let more = &block.gradient[range.clone()];
                total.iter_mut().zip(more).for_each(|(total, more)| *total += more);
            }
        };
        self.total.par_chunks_mut(CHUNK).enumerate().for_each(add);
    }
}

/// The error when values are no longer finite.
pub(super) fn diverged() -> LearnError {
    NotFiniteValue::NetScores.into()
}

/// The range of a block in the rows of all lists: block `at`, from 0, of `count`.
fn block_rows(rows: usize, count: usize, at: usize) -> Range<usize> {
    at * rows / count..(at + 1) * rows / count
}

/// The index in the rows of all lists at which list `at`, from 0, begins.
fn list_start(lists: &[RowList], at: usize) -> usize {
    if at == 0 { 0 } else { lists[at - 1].end }
}

/// Cuts the lists into chunks of about equal numbers of rows, a few for each thread. Lists do not
/// depend on each other, so the chunks may depend on the number of threads.
fn chunk_lists(lists: &[RowList], rows: usize) -> Vec<Range<usize>> {
    let chunk_rows = rows.div_ceil(4 * rayon::current_num_threads()).max(32);
    let (mut chunks, mut first) = (Vec::new(), 0);
    for at in 0..lists.len() {
        if lists[at].end - list_start(lists, first) >= chunk_rows || at + 1 == lists.len() {
            chunks.push(first..at + 1);
            first = at + 1;
        }
    }
    chunks
}

/// Sums of batch norm over all blocks.
fn sums(blocks: &[NetBlock]) -> Vec<f64> {
    let mut all = vec![0.0; blocks.first().map_or(0, |block| block.sums.len())];
    for block in blocks {
        all.iter_mut().zip(&block.sums).for_each(|(all, more)| *all += more);
    }
    all
}
