//! The keys of cells: everything that determines a cell's result, as JSON. A cell is one training
//! run: data set x fold x learner x seed. The digest of its key names a cell's folder.
//!
//! A key has the version of the program, the version of the rules of training, the learner with
//! every setting, the seed, the contents of the data files (not their names), the division into
//! folds, the options of reading and the metric of early stopping. Names of learners and data sets
//! are not part of a key, and neither are the other metrics: they can change without training
//! again. If a field of the key is added or renamed, no stored cell is found any more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rankwright_data::DataError;
use rankwright_data::bytes::read_blocks;
use rankwright_model::MatchBy;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::file::{DataOrigin, DataSet, DataSource};
use super::lock::{FileChecksum, LockedDefinition, LockedDivision, LockedGenerator, is_default};
use super::paths::FilePath;
use super::{hexadecimal, sha256};

/// The version of the rules of training: how an experiment trains and stops early, as far as
/// neither the version of the program nor the settings of a learner show it. It is increased
/// whenever such a rule changes, so that cells from before the change are not reused.
///
/// Version 2: with a validation part, learners that train in rounds keep their best round
/// (`stop=auto`).
pub(super) const TRAINING_RULES: u32 = 2;

/// Everything that determines the result of a cell.
#[derive(Serialize)]
pub(super) struct CellKey<'a> {
    pub(super) version: &'static str,
    /// [`TRAINING_RULES`].
    pub(super) training_rules: u32,
    pub(super) learner: &'a LockedDefinition,
    /// The features that it is trained on; empty for all.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) features: &'a [String],
    /// `None` if the seed has no effect.
    pub(super) seed: Option<u64>,
    pub(super) data: &'a DataKey<'a>,
    /// Number of the fold, from 1.
    pub(super) fold: usize,
    /// The first metric, which is used for early stopping, with its convention: how ties, unjudged
    /// documents and so on are treated.
    pub(super) metric: &'a str,
}

/// Everything that determines the data of a fold.
#[derive(Serialize)]
pub(super) struct DataKey<'a> {
    /// `None` if there is no such fold.
    source: Option<SourceKey<'a>>,
    /// `None` if the format is detected.
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
    /// The key of a fold, from 0, of a data set with these checksums.
    pub(super) fn new(set: &'a DataSet, fold: usize, checksums: &'a FileChecksums) -> Self {
        let source = match &set.source {
            DataSource::Folds(folds) => folds.get(fold).map(|fold| SourceKey::Fold {
                train: checksums.of_files(&fold.train),
                valid: checksums.of_files(&fold.valid),
                test: checksums.of_files(&fold.test),
            }),
            DataSource::Whole { origin, division } => Some(SourceKey::Whole {
                origin: OriginKey::new(origin, checksums),
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
    fn new(origin: &DataOrigin, checksums: &'a FileChecksums) -> Self {
        match origin {
            DataOrigin::Files(files) => OriginKey::Files { files: checksums.of_files(files) },
            DataOrigin::Generated(options) => {
                OriginKey::Generated { letor: LockedGenerator::new(options) }
            }
        }
    }
}

/// Checksums of a data set's files.
pub(super) struct FileChecksums {
    /// The checksum of each file.
    by_path: HashMap<PathBuf, String>,
    /// The files, each once.
    pub(super) listed: Vec<FileChecksum>,
}

impl FileChecksums {
    /// Reads all files of a data set.
    pub(super) fn of(set: &DataSet) -> Result<Self, DataError> {
        let mut checksums = Self { by_path: HashMap::new(), listed: Vec::new() };
        for FilePath { written, path } in set.files() {
            if checksums.by_path.contains_key(path) {
                continue;
            }
            let (sha256, bytes) = checksum(path)?;
            checksums.by_path.insert(path.clone(), sha256.clone());
            checksums.listed.push(FileChecksum { file: written.clone(), sha256, bytes });
        }
        Ok(checksums)
    }

    /// The checksums of some of the files.
    fn of_files(&self, files: &[FilePath]) -> Vec<&str> {
        // Panics for an unknown file: with a default checksum different files would share a cell.
        let checksum = |file: &FilePath| self.by_path[&file.path].as_str();
        files.iter().map(checksum).collect()
    }
}

/// SHA-256 and size of a file. The checksum also covers the side files that are read with it, such
/// as `train.txt.weight`.
pub(super) fn checksum(path: &Path) -> Result<(String, u64), DataError> {
    let (mut checksum, size) = file_checksum(path)?;
    for extension in ["query", "weight", "position"] {
        let side_file = PathBuf::from(format!("{}.{extension}", path.display()));
        if side_file.is_file() {
            let (side_checksum, _) = file_checksum(&side_file)?;
            checksum = sha256(format!("{checksum} {extension} {side_checksum}").as_bytes());
        }
    }
    Ok((checksum, size))
}

/// SHA-256 and size of one file, which is read in blocks and may be larger than memory.
fn file_checksum(path: &Path) -> Result<(String, u64), DataError> {
    let mut hash = Sha256::new();
    let bytes = read_blocks(path, |block| hash.update(block))?;
    Ok((hexadecimal(&hash.finalize()), bytes))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::Plan;
    use crate::tests::{FILE, options, parse, run};

    /// Renames the folders of all cells to those that a program with other rules of training would
    /// have used.
    #[test]
    fn cells_of_other_rules_of_training_are_not_reused() {
        let experiment = parse(FILE).unwrap();
        let folder = TempDir::new().unwrap();
        run(&experiment, folder.path(), &options());
        let plan = || Plan::new(&experiment, folder.path(), &options()).unwrap();
        assert_eq!(plan().pending().len(), 0, "cells of the same rules are reused");
        for cell in plan().cells() {
            assert_eq!(cell.key["training_rules"], TRAINING_RULES);
            let mut old_key = cell.key.clone();
            old_key["training_rules"] = (TRAINING_RULES - 1).into();
            let digest: String = sha256(old_key.to_string().as_bytes()).chars().take(32).collect();
            let cell_folder = |digest: &str| folder.path().join("cells").join(digest);
            std::fs::rename(cell_folder(&cell.digest), cell_folder(&digest)).unwrap();
        }
        assert_eq!(plan().pending().len(), plan().cells().len());
    }
}
