//! The interface between processes that share one training (data-parallel training): each process
//! holds some of the queries, and only integers are exchanged.
//!
//! Histograms, counts and fixed-point sums are added with wrapping integer addition, so neither the
//! order nor the number of processes can change a bit of a tree that is grown from given
//! derivatives; bin bounds come from a gathered and sorted sample. [`SingleProcess`] is the
//! implementation for one process, which exchanges nothing.
//!
//! Two things are not exchanged yet, so that whole trainings differ from those of a single process.
//! Random samples, the order of tied documents and other random draws are seeded with query
//! numbers, which count the queries of one process. Constants that an objective computes over all
//! documents are computed by each process for its own documents.

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

    /// Appends to `values` the values that every other process passes; the caller must not depend
    /// on the order of the processes.
    fn gather(&self, values: &mut Vec<u32>) -> Result<(), LearnError>;
}

/// The implementation for a single process: there is nothing to exchange.
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

    fn gather(&self, _values: &mut Vec<u32>) -> Result<(), LearnError> {
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

    /// The memory shared by threads that simulate processes.
    #[derive(Debug)]
    struct SharedTable {
        /// The values of each process, by its rank.
        table: Mutex<Vec<Vec<u64>>>,
        /// All processes wait here until each has stored, or read, the table.
        barrier: Barrier,
    }

    /// One simulated process.
    #[derive(Debug)]
    struct Process<'a> {
        rank: usize,
        size: usize,
        shared: &'a SharedTable,
    }

    impl Process<'_> {
        /// Stores the values of this process; returns those of all processes.
        fn exchange(&self, values: Vec<u64>) -> Vec<Vec<u64>> {
            self.shared.table.lock().unwrap()[self.rank] = values;
            self.shared.barrier.wait();
            let all = self.shared.table.lock().unwrap().clone();
            self.shared.barrier.wait();
            all
        }

        /// Replaces each cell by the combination of that cell of all processes.
        fn combine(&self, cells: &mut [u64], combine: impl Fn(u64, u64) -> u64) {
            let all = self.exchange(cells.to_vec());
            for (index, cell) in cells.iter_mut().enumerate() {
                *cell = all.iter().map(|cells| cells[index]).reduce(&combine).unwrap();
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
            self.combine(cells, u64::wrapping_add);
            Ok(())
        }

        fn max(&self, cells: &mut [u64]) -> Result<(), LearnError> {
            self.combine(cells, u64::max);
            Ok(())
        }

        fn gather(&self, values: &mut Vec<u32>) -> Result<(), LearnError> {
            let all = self.exchange(values.iter().map(|v| u64::from(*v)).collect());
            let others = all.into_iter().enumerate().filter(|(rank, _)| *rank != self.rank);
            values.extend(others.flat_map(|(_, values)| values).map(|v| v as u32));
            Ok(())
        }
    }

    /// One tree on the labels, grown by this process and the others together; `data` are the
    /// queries of this process. Returns the splits, and the number of rows of each leaf over all
    /// processes.
    fn tree(
        data: &Dataset,
        params: &TreeConfig,
        collective: &dyn Collective,
    ) -> (Vec<Split>, Vec<u64>) {
        // Any derivatives that depend on the label.
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
        // All 136 features as categorical ones: the integer parts of their values are category
        // numbers, some of which occur in one process only.
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
                let queries: Vec<usize> = (0..30).filter(|query| query % size == rank).collect();
                let data = data.select_queries(&queries).unwrap();
                // A thread pool of its own: a process that waits for the others must not block
                // their threads.
                let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
                pool.install(|| tree(&data, params, &Process { rank, size, shared }))
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
