//! The engine of a sum of trees: the trees are cut into batches, each a select network
//! (`network.rs`) or trees that rows walk down (`walk.rs`).

use super::kernel::Portable;
use super::network::{BlockBuffers, MAX_LEAVES, Network};
use super::prepared_tree::PreparedTree;
use super::walk::Walks;
use super::{Engine, FULL_BLOCK_ROWS, SMALL_BLOCK_ROWS, ScoreBuffers};
use crate::ensemble::Ensemble;
use crate::matching::Matching;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Simd;

/// Up to this number of rows are scored one by one, walking down the trees; a block of more rows
/// goes through the select network.
const MAX_WALKED_ROWS: usize = 5;

/// A base score, and batches of trees that add to it in turn.
#[derive(Debug)]
pub(super) struct TreeBatches {
    base: f64,
    pub(super) batches: Vec<TreeBatch>,
    simd: Simd,
}

/// Consecutive trees that are scored in the same way.
#[derive(Debug)]
pub(super) enum TreeBatch {
    Network(Network),
    Walks(Walks),
}

impl TreeBatches {
    pub(super) fn new(ensemble: &Ensemble, matching: &Matching, simd: Simd) -> TreeBatches {
        let trees: Vec<PreparedTree> =
            ensemble.trees().iter().map(|tree| PreparedTree::new(tree, matching)).collect();
        let mut batches = Vec::new();
        let mut remaining = &trees[..];
        while !remaining.is_empty() {
            let taken = match Network::of_prefix(remaining) {
                Some((network, count)) => {
                    batches.push(TreeBatch::Network(network));
                    count
                }
                None => {
                    let large = |tree: &&PreparedTree| tree.values.len() > MAX_LEAVES;
                    // At least one: the first tree may be small, but have too many split tests.
                    let count = remaining.iter().take_while(large).count().max(1);
                    batches.push(TreeBatch::Walks(Walks::new(&remaining[..count])));
                    count
                }
            };
            remaining = &remaining[taken..];
        }
        TreeBatches { base: ensemble.base(), batches, simd }
    }

    /// Adds the values of all trees to the scores of a block of rows.
    fn add<const N: usize>(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        buffers: &mut BlockBuffers<N>,
    ) {
        for batch in &self.batches {
            match batch {
                TreeBatch::Walks(walks) => walks.add(values, columns, scores),
                TreeBatch::Network(network) => {
                    #[cfg(target_arch = "x86_64")]
                    if let Some(avx2) = self.simd.avx2() {
                        // SAFETY: `avx2` proves that the processor has AVX2 and POPCNT.
                        unsafe { add_avx2(avx2, network, values, columns, scores, buffers) };
                        continue;
                    }
                    network.add(Portable, values, columns, scores, buffers);
                }
            }
        }
    }

    /// Adds the values of all trees to the score of one row. `ranks` is a buffer for the ranks of
    /// the row's values among the thresholds of their columns (`split_tests.rs`).
    fn add_row(&self, row: &[f32], score: &mut f64, ranks: &mut Vec<i8>) {
        for batch in &self.batches {
            match batch {
                TreeBatch::Walks(walks) => walks.add_row(row, score),
                TreeBatch::Network(network) => {
                    #[cfg(target_arch = "x86_64")]
                    if let Some(avx2) = self.simd.avx2() {
                        // SAFETY: `avx2` proves that the processor has AVX2 and POPCNT.
                        unsafe { add_row_avx2(avx2, network, row, score, ranks) };
                        continue;
                    }
                    network.add_row(Portable, row, score, ranks);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn add_row_avx2(avx2: Avx2, network: &Network, row: &[f32], score: &mut f64, ranks: &mut Vec<i8>) {
    network.add_row(avx2, row, score, ranks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn add_avx2<const N: usize>(
    avx2: Avx2,
    network: &Network,
    values: &[f32],
    columns: usize,
    scores: &mut [f64],
    buffers: &mut BlockBuffers<N>,
) {
    network.add(avx2, values, columns, scores, buffers);
}

impl Engine for TreeBatches {
    fn score(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        buffers: &mut ScoreBuffers,
    ) {
        scores.fill(self.base);
        let mut done = 0;
        while done < scores.len() {
            let block_rows = (scores.len() - done).min(FULL_BLOCK_ROWS);
            let values = &values[done * columns..(done + block_rows) * columns];
            let scores = &mut scores[done..done + block_rows];
            if block_rows > SMALL_BLOCK_ROWS {
                self.add(values, columns, scores, &mut buffers.full_block);
            } else if block_rows > MAX_WALKED_ROWS {
                self.add(values, columns, scores, &mut buffers.small_block);
            } else {
                for (row, score) in scores.iter_mut().enumerate() {
                    let row = &values[row * columns..(row + 1) * columns];
                    self.add_row(row, score, &mut buffers.ranks);
                }
            }
            done += block_rows;
        }
    }

    fn name(&self) -> String {
        // Batches that are oblivious networks, other networks, and walks.
        let mut counts = [0_usize; 3];
        for batch in &self.batches {
            match batch {
                TreeBatch::Network(network) if network.is_oblivious() => counts[0] += 1,
                TreeBatch::Network(_) => counts[1] += 1,
                TreeBatch::Walks(_) => counts[2] += 1,
            }
        }
        let names = ["oblivious", "select network", "walk"];
        let used = names.iter().zip(counts).filter(|(_, count)| *count > 0);
        let used: Vec<&str> = used.map(|(name, _)| *name).collect();
        if used.is_empty() { "constant".to_owned() } else { used.join(" + ") }
    }
}
