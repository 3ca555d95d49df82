//! A cell of an experiment and the storage of its result. A cell is one training run: data set x
//! fold x learner x seed.
//!
//! The folder of a cell is named by a digest of everything that determines the result. It is
//! written under a temporary name (`DIGEST.part/cell`) and renamed when it is complete, so that a
//! kill at any moment leaves a whole cell or none; `DIGEST.part` also holds the training's
//! checkpoint. A stored cell is used only if its model and its scores have the recorded checksums;
//! a damaged cell is run again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rankwright_data::bytes::{Input, read_file};
use rankwright_data::{DataError, read_scores, write_scores};
use rankwright_learn::TrainWarning;
use rankwright_model::Model;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sha256;
use crate::ExperimentError;

/// The file of a [`StoredCell`].
const RECORD: &str = "cell.json";
/// The file of the model.
const MODEL: &str = "ranker.model";
/// The file of the scores on the test part.
const SCORES: &str = "scores.txt";

/// A cell of an experiment: one learner on one fold of one data set with one seed.
#[derive(Debug, Clone)]
pub struct ExperimentCell {
    /// Index of the data set, from 0.
    pub data: usize,
    /// Index of the fold, from 0.
    pub fold: usize,
    /// Index of the learner, from 0.
    pub learner: usize,
    /// The seed of the training.
    pub seed: u64,
    /// Name of the cell's folder: SHA-256 of `key`, shortened to 32 hexadecimal digits.
    pub digest: String,
    /// Everything that determines the result.
    pub key: Value,
    /// The state: stored, to be run, or left out.
    pub state: CellState,
}

/// The state of a cell: stored, to be run, or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CellState {
    /// The result is stored, and its checksums match.
    #[serde(rename = "done")]
    Stored,
    /// The cell is to be run.
    #[serde(rename = "to run")]
    Pending,
    /// The result is not stored, and the cell was not requested.
    #[serde(rename = "left out")]
    Skipped,
}

impl CellState {
    /// The state in words: `done`, `to run` or `left out`.
    pub fn name(self) -> &'static str {
        match self {
            CellState::Stored => "done",
            CellState::Pending => "to run",
            CellState::Skipped => "left out",
        }
    }
}

/// The stored result of a cell besides the model and the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredCell {
    /// Everything that determines the result.
    pub key: Value,
    /// SHA-256 of the model's file.
    pub model_sha256: String,
    /// SHA-256 of the file of test scores.
    pub scores_sha256: String,
    /// The word for one round of the training, such as `tree`; empty if there are no rounds.
    pub unit: String,
    /// Number of rounds of the training.
    pub rounds: usize,
    /// Number of the round with the best value on validation data, from 1; `None` without
    /// validation data.
    pub best: Option<usize>,
    /// Number of trees of the model; 0 if it has none.
    pub trees: usize,
    /// The first metric of the experiment on validation data after each round; empty without
    /// validation data, and `None` for a round after which no query has a value.
    pub curve: Vec<Option<f64>>,
    /// Warnings about the model, such as that it gives all documents of a query the same score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<CellWarning>,
    /// Seconds by phase. Reports do not have them; a study prints the seconds of a round.
    pub seconds: CellSeconds,
}

/// A warning about the model of a cell, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellWarning {
    /// The stable name of the kind of warning, in kebab case.
    pub kind: String,
    /// The message.
    pub message: String,
}

impl CellWarning {
    pub(super) fn new(warning: &TrainWarning) -> Self {
        Self { kind: warning.kind().to_owned(), message: warning.to_string() }
    }
}

/// Seconds of a cell by phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CellSeconds {
    /// Binning of the features.
    pub bin: f64,
    /// Training.
    pub train: f64,
    /// The median round of the training, without evaluation on validation data.
    pub round: f64,
    /// Scoring of the test part.
    pub score: f64,
}

/// The folder that holds the results of cells.
#[derive(Debug, Clone)]
pub(super) struct CellStore(pub(super) PathBuf);

impl CellStore {
    /// The folder of a stored cell.
    fn folder(&self, digest: &str) -> PathBuf {
        self.0.join(digest)
    }

    /// The folder of a cell that is not stored yet: its checkpoint, and its result while it is
    /// written.
    pub(super) fn unfinished_folder(&self, digest: &str) -> PathBuf {
        self.0.join(format!("{digest}.part"))
    }

    /// Loads a stored cell with its test scores; `None` if it does not exist or is damaged.
    pub(super) fn load(&self, cell: &ExperimentCell) -> Option<(StoredCell, Vec<f64>)> {
        let folder = self.folder(&cell.digest);
        let record = read(&folder.join(RECORD))?;
        let stored: StoredCell = serde_json::from_slice(&record).ok()?;
        let scores = read(&folder.join(SCORES))?;
        let model = match read(&folder.join(MODEL)) {
            Some(bytes) => sha256(&bytes),
            // A model given as a file in place of a learner is not copied; its checksum is in the
            // key.
            None => cell.key.pointer("/learner/model")?.as_str()?.to_owned(),
        };
        let is_undamaged = stored.key == cell.key
            && stored.scores_sha256 == sha256(&scores)
            && stored.model_sha256 == model;
        let input = Input::from_bytes(SCORES, scores).ok()?;
        let scores = read_scores(&input).ok().filter(|_| is_undamaged)?;
        Some((stored, scores))
    }

    /// The model of a stored cell; `None` if it has none of its own or is damaged.
    pub(super) fn model(&self, digest: &str) -> Option<Model> {
        Model::load(self.folder(digest).join(MODEL)).ok()
    }

    /// Whether the folder of a cell has a record, damaged or not.
    pub(super) fn holds(&self, cell: &ExperimentCell) -> bool {
        self.folder(&cell.digest).join(RECORD).is_file()
    }

    /// Stores a cell, whole or not at all. `model` is `None` if a model file was given in place of
    /// a learner; its checksum is then in `stored` already.
    pub(super) fn store(
        &self,
        digest: &str,
        mut stored: StoredCell,
        model: Option<&Model>,
        scores: &[f64],
    ) -> Result<(), ExperimentError> {
        let (unfinished, folder) = (self.unfinished_folder(digest), self.folder(digest));
        let draft = unfinished.join("cell");
        create_empty(&draft).map_err(|e| io_error("write", &draft, e))?;
        if let Some(model) = model {
            let bytes = model.to_bytes();
            stored.model_sha256 = sha256(&bytes);
            write(&draft.join(MODEL), &bytes)?;
        }
        write_scores(draft.join(SCORES), scores)?;
        let written = fs::read(draft.join(SCORES)).map_err(|e| io_error("read", &draft, e))?;
        stored.scores_sha256 = sha256(&written);
        let internal = ExperimentError::Internal { invariant: "a stored cell is valid JSON" };
        let record = serde_json::to_vec_pretty(&stored).map_err(|_| internal)?;
        write(&draft.join(RECORD), &record)?;
        sync(&draft);
        // If the folder exists, it is damaged: otherwise this cell would not have been run.
        let damaged = unfinished.join("damaged");
        let _ = fs::rename(&folder, &damaged);
        fs::rename(&draft, &folder).map_err(|e| io_error("write", &folder, e))?;
        sync(&self.0);
        let _ = fs::remove_dir_all(&unfinished);
        Ok(())
    }
}

/// The bytes of a file of a cell; none if they cannot be read.
fn read(path: &Path) -> Option<Vec<u8>> {
    read_file(path).ok()
}

/// Writes a file, whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    rankwright_data::store::write_atomic(path, |out| out.write_all(bytes))
}

/// Creates an empty folder, in place of an existing one.
fn create_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => fs::create_dir_all(folder),
    }
}

/// Flushes a folder's entries to disk; not every file system supports it.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn io_error(action: &'static str, path: &Path, error: io::Error) -> DataError {
    DataError::io(action, path.display().to_string(), error)
}
