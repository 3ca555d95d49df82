//! The number of cells that run at a time: limited by threads and by memory. A cell is one training
//! run: data set x fold x learner x seed.
//!
//! The memory of a cell is estimated before its data is read. For generated data the number of rows
//! and columns is known, and the matrix has 4 bytes for each value. For files only the size is
//! known: dense text is larger than its matrix, and a compressed file is taken to be an eighth as
//! large as its matrix. Training needs about as much again as the matrix. The estimate is too low
//! for sparse text, because the matrix also has the features that a row leaves out; a requested
//! number of jobs overrides the estimate.

use std::fmt;
use std::path::Path;

use super::file::{DataOrigin, DataSet, DataSource};

/// Bytes that a cell needs besides its data.
const BASE_BYTES: u64 = 64 << 20;
/// Bytes of a row of generated data: 136 features of 4 bytes each.
const GENERATED_ROW_BYTES: u64 = 136 * 4;

/// Estimated bytes that a cell of this data set needs.
pub(super) fn needed(set: &DataSet) -> u64 {
    let total = |paths: &mut dyn Iterator<Item = &Path>| {
        paths.map(decoded_bytes).fold(0, u64::saturating_add)
    };
    let data_bytes = match &set.source {
        DataSource::Folds(folds) => {
            let bytes = folds.iter().map(|fold| {
                let parts = [&fold.train, &fold.valid, &fold.test];
                total(&mut parts.into_iter().flatten().map(|file| file.path.as_path()))
            });
            bytes.max().unwrap_or(0)
        }
        DataSource::Whole { origin: DataOrigin::Files(files), .. } => {
            // The undivided data is held beside the parts.
            total(&mut files.iter().map(|file| file.path.as_path())).saturating_mul(2)
        }
        DataSource::Whole { origin: DataOrigin::Generated(options), .. } => {
            let rows = (options.queries as u64).saturating_mul(options.documents as u64);
            rows.saturating_mul(GENERATED_ROW_BYTES).saturating_mul(2)
        }
    };
    BASE_BYTES.saturating_add(data_bytes.saturating_mul(2))
}

/// Estimated bytes of a file's content in memory; see the top of this file.
fn decoded_bytes(path: &Path) -> u64 {
    let bytes = path.metadata().map_or(0, |meta| meta.len());
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz" | "zst" | "parquet") => bytes.saturating_mul(8),
        _ => bytes,
    }
}

/// The reason for the number of cells that run at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobLimit {
    /// The number was requested.
    Requested,
    /// Every cell has a job.
    Cells,
    /// Every thread has a job.
    Threads,
    /// More jobs may not fit into memory.
    Memory {
        /// Estimated bytes that one cell needs.
        needed: u64,
        /// Bytes of available memory.
        available: u64,
    },
}

impl fmt::Display for JobLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requested => f.write_str("as requested"),
            Self::Cells => f.write_str("one job for each cell"),
            Self::Threads => f.write_str("one job for each thread"),
            Self::Memory { needed, available } => write!(
                f,
                "limited by memory: a cell may need {} MiB, and {} MiB are available",
                needed >> 20,
                available >> 20
            ),
        }
    }
}

/// The number of jobs, and the reason. `needed` are the bytes that a cell needs; `available` is
/// `u64::MAX` if the memory is not known.
pub(super) fn jobs(
    requested: Option<usize>,
    threads: usize,
    cells: usize,
    needed: u64,
    available: u64,
) -> (usize, JobLimit) {
    if let Some(jobs) = requested {
        return (jobs.max(1), JobLimit::Requested);
    }
    // Leaves 30 % of the memory to other programs.
    let fitting = available / 10 * 7 / needed.max(1);
    let fitting = usize::try_from(fitting).unwrap_or(usize::MAX).max(1);
    let jobs = threads.min(fitting).min(cells).max(1);
    let limit = if jobs == cells {
        JobLimit::Cells
    } else if jobs == fitting && fitting < threads {
        JobLimit::Memory { needed, available }
    } else {
        JobLimit::Threads
    };
    (jobs, limit)
}

#[cfg(test)]
mod tests {
    use rankwright_data::Absent;
    use rankwright_data::generate::LetorOptions;

    use super::*;
    use crate::file::QueryDivision;

    #[test]
    fn jobs_are_bounded_by_threads_cells_and_memory() {
        let gib = 1 << 30;
        assert_eq!(jobs(None, 8, 100, gib, 100 * gib).0, 8);
        assert_eq!(jobs(None, 8, 3, gib, 100 * gib).0, 3);
        assert_eq!(jobs(None, 8, 100, gib, 3 * gib).0, 2);
        assert_eq!(jobs(None, 8, 100, 9 * gib, 3 * gib).0, 1);
        assert_eq!(jobs(None, 8, 0, gib, u64::MAX).0, 1);
        assert_eq!(jobs(None, 8, 100, gib, u64::MAX), (8, JobLimit::Threads));
        assert_eq!(jobs(Some(5), 2, 1, gib, 0).0, 5);
        let (_, limit) = jobs(None, 8, 100, gib, 3 * gib);
        assert_eq!(
            limit.to_string(),
            "limited by memory: a cell may need 1024 MiB, and 3072 MiB are available"
        );
    }

    fn generated(queries: usize, documents: usize) -> DataSet {
        let options = LetorOptions { queries, documents, seed: 1 };
        let division = QueryDivision::Folds { count: 3, seed: 1 };
        DataSet {
            name: "generated".to_owned(),
            source: DataSource::Whole { origin: DataOrigin::Generated(options), division },
            format: None,
            absent: Absent::default(),
            columns: String::new(),
            matching: rankwright_model::MatchOptions::default(),
        }
    }

    #[test]
    fn generated_data_needs_four_times_its_matrix_and_huge_sizes_do_not_overflow() {
        // The undivided data and its parts, and as much again for training: four times the matrix.
        assert_eq!(needed(&generated(10, 20)), BASE_BYTES + 4 * 10 * 20 * 136 * 4);
        assert_eq!(needed(&generated(usize::MAX, 1)), u64::MAX);
        assert_eq!(needed(&generated(1 << 40, 1 << 13)), u64::MAX);
    }
}
