//! The number of cells that run at a time: limited by threads and by memory.
//!
//! The memory of a cell is estimated from the size of its data: text unpacks to less than its own
//! size, compressed files to several times theirs, and training needs about as much again as the
//! matrix. The estimate is conservative; `--jobs` overrides it.

use std::path::Path;

use super::file::{DataOrigin, DataSet, DataSource};

/// Bytes of available memory, where the system reports them.
pub(super) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Estimated bytes that a cell of this data set needs.
pub(super) fn need(set: &DataSet) -> u64 {
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

/// The number of jobs, and the reason.
pub(super) fn jobs(
    asked: Option<usize>,
    threads: usize,
    cells: usize,
    need: u64,
    available: Option<u64>,
) -> (usize, String) {
    if let Some(jobs) = asked {
        return (jobs.max(1), "as asked".to_owned());
    }
    // Leaves a part of the memory to other programs.
    let fit = available.map_or(usize::MAX, |free| ((free / 10 * 7) / need.max(1)) as usize).max(1);
    let jobs = threads.min(fit).min(cells).max(1);
    let why = match () {
        () if jobs == cells => "one for each cell".to_owned(),
        () if jobs == fit && fit < threads => format!(
            "a cell may need {} MiB, of {} MiB free",
            need >> 20,
            available.unwrap_or(0) >> 20
        ),
        () => "one for each thread".to_owned(),
    };
    (jobs, why)
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
    }
}
