//! The interface between processes that share one training: each holds some of the queries, and
//! only integers are exchanged.
//!
//! Histograms, counts and fixed-point sums are added with wrapping integer addition, so neither the
//! order nor the number of processes can change a bit of a tree that is grown from given
//! derivatives; bin bounds come from a gathered and sorted sample. [`SingleProcess`] is the
//! implementation for one process, which exchanges nothing.
//!
//! Not exchanged yet: random samples, the order of tied documents and other random draws are seeded
//! with query numbers, which count the queries of one process; and constants that objectives
//! compute over all documents are computed by each process for its own documents.

use std::fmt::Debug;

use crate::error::LearnError;

/// Exchanges integers between processes that train together. Every process calls the same methods
/// in the same order.
pub trait Collective: Debug + Send + Sync {
    /// Number of processes.
    fn size(&self) -> usize;

    /// Number of this process, from 0.
    fn rank(&self) -> usize;

    /// Replaces each cell by its wrapping sum over all processes.
    fn sum(&self, cells: &mut [u64]) -> Result<(), LearnError>;

    /// Replaces each cell by its largest value over all processes.
    fn max(&self, cells: &mut [u64]) -> Result<(), LearnError>;

    /// Appends to `mine` the values that every other process passes; the caller must not depend on
    /// the order of the processes.
    fn gather(&self, mine: &mut Vec<u32>) -> Result<(), LearnError>;
}

/// The implementation for a single process.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleProcess;

impl Collective for SingleProcess {
    fn size(&self) -> usize {
        1
    }

    fn rank(&self) -> usize {
        0
    }

    fn sum(&self, _cells: &mut [u64]) -> Result<(), LearnError> {
        Ok(())
    }

    fn max(&self, _cells: &mut [u64]) -> Result<(), LearnError> {
        Ok(())
    }

    fn gather(&self, _mine: &mut Vec<u32>) -> Result<(), LearnError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Mutex};

    use rankwright_data::Dataset;
    use rankwright_data::generate::LetorOptions;
    use rankwright_model::Split;

    use super::*;
    use crate::bins::Binned;
    use crate::simd::Simd;
    use crate::tree::{Grow, GrowInput, Grower, Growth, Scales, TreeConfig};

    /// Simulates processes by threads: each stores its values under its rank, and reads all values
    /// when all have stored theirs.
    #[derive(Debug)]
    struct SharedTable {
        table: Mutex<Vec<Vec<u64>>>,
        barrier: Barrier,
    }

    #[derive(Debug)]
    struct Process<'a> {
        rank: usize,
        size: usize,
        shared: &'a SharedTable,
    }

    impl Process<'_> {
        fn exchange(&self, mine: Vec<u64>) -> Vec<Vec<u64>> {
            self.shared.table.lock().unwrap()[self.rank] = mine;
            self.shared.barrier.wait();
            let all = self.shared.table.lock().unwrap().clone();
            self.shared.barrier.wait();
            all
        }

        fn fold(&self, cells: &mut [u64], combine: impl Fn(u64, u64) -> u64) {
            let all = self.exchange(cells.to_vec());
            for (at, cell) in cells.iter_mut().enumerate() {
                *cell = all.iter().map(|cells| cells[at]).reduce(&combine).unwrap();
            }
        }
    }

    impl Collective for Process<'_> {
        fn size(&self) -> usize {
            self.size
        }

        fn rank(&self) -> usize {
            self.rank
        }

        fn sum(&self, cells: &mut [u64]) -> Result<(), LearnError> {
            self.fold(cells, u64::wrapping_add);
            Ok(())
        }

        fn max(&self, cells: &mut [u64]) -> Result<(), LearnError> {
            self.fold(cells, u64::max);
            Ok(())
        }

        fn gather(&self, mine: &mut Vec<u32>) -> Result<(), LearnError> {
            let all = self.exchange(mine.iter().map(|v| u64::from(*v)).collect());
            let others = all.into_iter().enumerate().filter(|(rank, _)| *rank != self.rank);
            mine.extend(others.flat_map(|(_, values)| values).map(|v| v as u32));
            Ok(())
        }
    }

    /// One tree on the labels, grown from the queries of this process: its splits, and the number
    /// of rows of each leaf.
    fn tree(
        data: &Dataset,
        params: &TreeConfig,
        collective: &dyn Collective,
    ) -> (Vec<Split>, Vec<u64>) {
        let gradient: Vec<f32> = data.labels().iter().map(|label| 0.7 - *label as f32).collect();
        let hessian: Vec<f32> = gradient.iter().map(|g| 0.1 + g.abs()).collect();
        let binned = Binned::with_categories(data, 40, &params.categorical, collective).unwrap();
        let scales = Scales::of(&gradient, &hessian, collective).unwrap();
        let mut grower = Grower::new(&binned, params, collective, Simd::Auto);
        let (gradient, hessian, scales) = (&gradient[..], &hessian[..], &scales);
        let input = GrowInput { gradient, hessian, scales, sample: None, features: None };
        let grown = grower.grow(input).unwrap();
        (grown.splits, grown.leaves.iter().map(|leaf| leaf.rows).collect())
    }

    #[test]
    fn processes_that_share_the_queries_grow_the_tree_of_a_single_process() {
        let data = LetorOptions { queries: 30, documents: 50, seed: 4 }.generate().unwrap();
        let leafwise = TreeConfig { leaves: 20, min_rows: 7, ..TreeConfig::default() };
        let oblivious = TreeConfig { leaves: 32, growth: Growth::Oblivious, ..leafwise.clone() };
        // The integer parts of every feature are categories, some of them in one process only.
        let categorical = TreeConfig { categorical: (0..136).collect(), ..leafwise.clone() };
        for (params, size) in
            [(&leafwise, 2), (&leafwise, 3), (&oblivious, 2), (&oblivious, 3), (&categorical, 3)]
        {
            let expected = tree(&data, params, &SingleProcess);
            assert!(expected.0.len() > 10);
            let shared = SharedTable {
                table: Mutex::new(vec![Vec::new(); size]),
                barrier: Barrier::new(size),
            };
            let (data, shared) = (&data, &shared);
            let process = |rank: usize| {
                let mine: Vec<usize> = (0..30).filter(|query| query % size == rank).collect();
                let part = data.select_queries(&mine).unwrap();
                // A pool of its own: a thread that waits for the others must not block theirs.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
                pool.install(|| tree(&part, params, &Process { rank, size, shared }))
            };
            let trees: Vec<_> = std::thread::scope(|scope| {
                let running: Vec<_> =
                    (0..size).map(|rank| scope.spawn(move || process(rank))).collect();
                running.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(trees.iter().all(|tree| *tree == expected), "{size} processes, {params:?}");
        }
    }
}
