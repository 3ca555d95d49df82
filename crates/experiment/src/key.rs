//! The keys of cells: everything that determines a cell's result, as JSON. Its digest names the
//! cell, which is one training run: data set x fold x learner x seed.
//!
//! A key covers version, learner with every setting, seed, contents of the data files (not their
//! names), the division into folds, options of reading and the metric of early stopping. Names of
//! learners and data sets are not part of it, and neither are the other metrics: they can change
//! without training again. Another field, or another name for one, makes every stored cell useless.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rankwright_data::DataError;
use rankwright_model::MatchBy;
use serde::Serialize;

use super::file::{DataOrigin, DataSet, DataSource};
use super::lock::{FileChecksum, LearnerSettings, LockedDivision, LockedGenerator, is_default};
use super::paths::FilePath;
use super::sha256;

/// Everything that determines the result of a cell.
#[derive(Serialize)]
pub(super) struct CellKey<'a> {
    pub(super) version: &'static str,
    pub(super) learner: &'a LearnerSettings,
    /// None where the seed has no effect.
    pub(super) seed: Option<u64>,
    pub(super) data: &'a DataKey<'a>,
    /// Number of the fold, from 1.
    pub(super) fold: usize,
    /// The first metric, which is used for early stopping, with its convention: how ties, unjudged
    /// documents and so on are treated.
    pub(super) metric: Option<&'a str>,
}

/// Everything that determines the data of a fold.
#[derive(Serialize)]
pub(super) struct DataKey<'a> {
    source: Option<SourceKey<'a>>,
    format: Option<&'static str>,
    absent: &'static str,
    columns: &'a str,
    ignore_extra: bool,
    #[serde(skip_serializing_if = "is_default")]
    match_by: MatchBy,
}

/// Checksums of the files of a fold, or a collection of queries and its division.
#[derive(Serialize)]
#[serde(untagged)]
enum SourceKey<'a> {
    Fold { train: Vec<&'a str>, valid: Vec<&'a str>, test: Vec<&'a str> },
    Whole { origin: OriginKey<'a>, division: LockedDivision },
}

/// Checksums of files, or a generator.
#[derive(Serialize)]
#[serde(untagged)]
enum OriginKey<'a> {
    Files { files: Vec<&'a str> },
    Generated { letor: LockedGenerator },
}

impl<'a> DataKey<'a> {
    pub(super) fn new(set: &'a DataSet, fold: usize, sums: &'a FileChecksums) -> Self {
        let source = match &set.source {
            DataSource::Folds(folds) => folds.get(fold).map(|fold| SourceKey::Fold {
                train: sums.all(&fold.train),
                valid: sums.all(&fold.valid),
                test: sums.all(&fold.test),
            }),
            DataSource::Whole { origin, division } => Some(SourceKey::Whole {
                origin: OriginKey::new(origin, sums),
                division: LockedDivision::new(division),
            }),
        };
        DataKey {
            source,
            format: set.format.map(|format| format.info().name),
            absent: set.absent.name(),
            columns: &set.columns,
            ignore_extra: set.matching.ignore_extra,
            match_by: set.matching.by,
        }
    }
}

impl<'a> OriginKey<'a> {
    fn new(origin: &DataOrigin, sums: &'a FileChecksums) -> Self {
        match origin {
            DataOrigin::Files(files) => OriginKey::Files { files: sums.all(files) },
            DataOrigin::Generated(options) => {
                OriginKey::Generated { letor: LockedGenerator::new(options) }
            }
        }
    }
}

/// Checksums of a data set's files.
pub(super) struct FileChecksums {
    by_path: HashMap<PathBuf, String>,
    /// The files, each once.
    pub(super) listed: Vec<FileChecksum>,
}

impl FileChecksums {
    pub(super) fn of(set: &DataSet) -> Result<Self, DataError> {
        let mut sums = Self { by_path: HashMap::new(), listed: Vec::new() };
        for FilePath { written, path } in set.files() {
            if sums.by_path.contains_key(path) {
                continue;
            }
            let (sha256, bytes) = checksum(path)?;
            sums.by_path.insert(path.clone(), sha256.clone());
            sums.listed.push(FileChecksum { file: written.clone(), sha256, bytes });
        }
        Ok(sums)
    }

    fn all(&self, files: &[FilePath]) -> Vec<&str> {
        // A file without a checksum would make different files share a cell.
        let sum = |file: &FilePath| self.by_path[&file.path].as_str();
        files.iter().map(sum).collect()
    }
}

/// SHA-256 and size of a file; side files that are read with it count as part of it.
pub(super) fn checksum(path: &Path) -> Result<(String, u64), DataError> {
    let read = |path: &Path| {
        std::fs::read(path).map_err(|e| DataError::io("read", path.display().to_string(), e))
    };
    let mut bytes = read(path)?;
    let size = bytes.len() as u64;
    let mut sum = sha256(&bytes);
    for side in ["query", "weight", "position"] {
        let beside = PathBuf::from(format!("{}.{side}", path.display()));
        if beside.is_file() {
            bytes = read(&beside)?;
            sum = sha256(format!("{sum} {side} {}", sha256(&bytes)).as_bytes());
        }
    }
    Ok((sum, size))
}
