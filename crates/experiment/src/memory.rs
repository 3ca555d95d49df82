//! The number of cells that run at a time: limited by threads and by memory.
//!
//! The memory of a cell is estimated from the size of its data: text unpacks to less than its own
//! size, compressed files to several times theirs, and training needs about as much again as the
//! matrix. The estimate is conservative; a requested number of jobs overrides it.

use std::fmt;
use std::path::Path;

use super::file::{DataOrigin, DataSet, DataSource};

/// Bytes of available memory, where the system reports them.
pub(super) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Estimated bytes that a cell of this data set needs.
pub(super) fn needed(set: &DataSet) -> u64 {
    const SMALL: u64 = 64 << 20;
    let of = |paths: &mut dyn Iterator<Item = &Path>| paths.map(unpacked).sum::<u64>();
    let data = match &set.source {
        DataSource::Folds(folds) => {
            let bytes = folds.iter().map(|fold| {
                let parts = [&fold.train, &fold.valid, &fold.test];
                of(&mut parts.into_iter().flatten().map(|file| file.path.as_path()))
            });
            bytes.max().unwrap_or(0)
        }
        DataSource::Whole { origin: DataOrigin::Files(files), .. } => {
            // The undivided data is held beside the parts.
            2 * of(&mut files.iter().map(|file| file.path.as_path()))
        }
        DataSource::Whole { origin: DataOrigin::Generated(options), .. } => {
            2 * (options.queries as u64)
                .saturating_mul(options.documents as u64)
                .saturating_mul(544)
        }
    };
    SMALL.saturating_add(data.saturating_mul(2))
}

fn unpacked(path: &Path) -> u64 {
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

/// The number of jobs, and the reason.
pub(super) fn jobs(
    requested: Option<usize>,
    threads: usize,
    cells: usize,
    needed: u64,
    available: Option<u64>,
) -> (usize, JobLimit) {
    if let Some(jobs) = requested {
        return (jobs.max(1), JobLimit::Requested);
    }
    // Leaves a part of the memory to other programs.
    let fit =
        available.map_or(usize::MAX, |free| ((free / 10 * 7) / needed.max(1)) as usize).max(1);
    let jobs = threads.min(fit).min(cells).max(1);
    let limit = match available {
        _ if jobs == cells => JobLimit::Cells,
        Some(available) if jobs == fit && fit < threads => JobLimit::Memory { needed, available },
        _ => JobLimit::Threads,
    };
    (jobs, limit)
}

#[cfg(test)]
mod tests {
    use super::jobs;

    #[test]
    fn jobs_are_bounded_by_threads_cells_and_memory() {
        let gib = 1 << 30;
        assert_eq!(jobs(None, 8, 100, gib, Some(100 * gib)).0, 8);
        assert_eq!(jobs(None, 8, 3, gib, Some(100 * gib)).0, 3);
        assert_eq!(jobs(None, 8, 100, gib, Some(3 * gib)).0, 2);
        assert_eq!(jobs(None, 8, 100, 9 * gib, Some(3 * gib)).0, 1);
        assert_eq!(jobs(None, 8, 0, gib, None).0, 1);
        assert_eq!(jobs(Some(5), 2, 1, gib, Some(0)).0, 5);
        let (_, limit) = jobs(None, 8, 100, gib, Some(3 * gib));
        assert_eq!(
            limit.to_string(),
            "limited by memory: a cell may need 1024 MiB, and 3072 MiB are available"
        );
    }
}
