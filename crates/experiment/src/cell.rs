//! A cell: one learner on one fold of one data set with one seed, and where its result is kept.
//!
//! The folder of a cell is named by a digest of everything that determines the result. It is
//! written beside (`DIGEST.part/cell`) and renamed when it is whole, so that a kill at any moment
//! leaves a whole cell or none; `DIGEST.part` also holds the training's checkpoint. A stored cell
//! counts only if its model and its scores have the checksums that it names; any other is run anew.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, read_scores, write_scores};
use rankwright_model::Model;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sha256;
use crate::ExperimentError;

const RECORD: &str = "cell.json";
const MODEL: &str = "ranker.model";
const SCORES: &str = "scores.txt";

/// What is to be run, by numbers into the experiment.
#[derive(Debug, Clone)]
pub struct ExperimentCell {
    /// Which data set.
    pub data: usize,
    /// Which fold of it, from 0.
    pub fold: usize,
    /// Which learner.
    pub learner: usize,
    /// The seed of the training.
    pub seed: u64,
    /// Name of its folder: SHA-256 of `key`, shortened.
    pub digest: String,
    /// Everything that determines the result.
    pub key: Value,
    /// Whether it is there.
    pub state: CellState,
}

/// Whether a cell is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CellState {
    /// It is stored, and its checksums hold.
    #[serde(rename = "done")]
    Stored,
    /// It is to be run.
    #[serde(rename = "to run")]
    Open,
    /// It is not stored, and not asked for.
    #[serde(rename = "left out")]
    Left,
}

impl CellState {
    /// `done`, `to run` or `left out`.
    pub fn name(self) -> &'static str {
        match self {
            CellState::Stored => "done",
            CellState::Open => "to run",
            CellState::Left => "left out",
        }
    }
}

/// What is kept of a cell besides the model and the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredCell {
    /// Everything that determines the result.
    pub key: Value,
    /// SHA-256 of the model's file.
    pub model_sha256: String,
    /// SHA-256 of the file of test scores.
    pub scores_sha256: String,
    /// What a round of the training is called; empty where there are none.
    pub unit: String,
    /// Rounds that were done.
    pub rounds: usize,
    /// The round with the best value on validation data, where that was looked at.
    pub best: Option<usize>,
    /// Trees of the model, where it has any.
    pub trees: usize,
    /// The metric that decides, on validation data after each round; empty where that was not
    /// looked at, and none where no query has a value.
    pub curve: Vec<Option<f64>>,
    /// Where the time went. Not part of any report.
    pub seconds: CellSeconds,
}

/// Seconds of a cell by phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CellSeconds {
    /// Turning features into bins.
    pub bin: f64,
    /// Training.
    pub train: f64,
    /// The median round of the training, without looking at validation data.
    pub round: f64,
    /// Scoring the test part.
    pub score: f64,
}

/// The folder of cells.
#[derive(Debug, Clone)]
pub(super) struct CellStore(pub(super) PathBuf);

impl CellStore {
    fn place(&self, digest: &str) -> PathBuf {
        self.0.join(digest)
    }

    /// Where an unfinished cell is kept.
    pub(super) fn part(&self, digest: &str) -> PathBuf {
        self.0.join(format!("{digest}.part"))
    }

    /// A stored cell with its test scores, if it is there and sound.
    pub(super) fn load(&self, cell: &ExperimentCell) -> Option<(StoredCell, Vec<f64>)> {
        let folder = self.place(&cell.digest);
        let history = fs::read(folder.join(RECORD)).ok()?;
        let stored: StoredCell = serde_json::from_slice(&history).ok()?;
        let scores = fs::read(folder.join(SCORES)).ok()?;
        let model = match fs::read(folder.join(MODEL)) {
            Ok(bytes) => sha256(&bytes),
            // A fixed model is not copied; its checksum is in the key.
            Err(_) => cell.key.pointer("/learner/model")?.as_str()?.to_owned(),
        };
        let sound = stored.key == cell.key
            && stored.scores_sha256 == sha256(&scores)
            && stored.model_sha256 == model;
        let input = Input::from_bytes(SCORES, scores).ok()?;
        let scores = read_scores(&input).ok().filter(|_| sound)?;
        Some((stored, scores))
    }

    /// Whether there is something of a cell, sound or not.
    pub(super) fn holds(&self, cell: &ExperimentCell) -> bool {
        self.place(&cell.digest).join(RECORD).is_file()
    }

    /// Stores a cell: whole or not at all. A fixed model (`None`) has its checksum in `stored`.
    pub(super) fn store(
        &self,
        digest: &str,
        mut stored: StoredCell,
        model: Option<&Model>,
        scores: &[f64],
    ) -> Result<(), ExperimentError> {
        let (part, place) = (self.part(digest), self.place(digest));
        let draft = part.join("cell");
        fresh(&draft).map_err(|e| failed("write", &draft, e))?;
        if let Some(model) = model {
            let bytes = model.to_bytes();
            stored.model_sha256 = sha256(&bytes);
            write(&draft.join(MODEL), &bytes)?;
        }
        write_scores(draft.join(SCORES), scores)?;
        let written = fs::read(draft.join(SCORES)).map_err(|e| failed("read", &draft, e))?;
        stored.scores_sha256 = sha256(&written);
        let unwritable = ExperimentError::Internal { invariant: "a stored cell is valid JSON" };
        let history = serde_json::to_vec_pretty(&stored).map_err(|_| unwritable)?;
        write(&draft.join(RECORD), &history)?;
        sync(&draft);
        // What stands there is damaged, or this cell would not have been run.
        let old = part.join("damaged");
        let _ = fs::rename(&place, &old);
        fs::rename(&draft, &place).map_err(|e| failed("write", &place, e))?;
        sync(&self.0);
        let _ = fs::remove_dir_all(&part);
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    rankwright_data::store::write_atomic(path, |out| out.write_all(bytes))
}

/// An empty folder.
fn fresh(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => fs::create_dir_all(folder),
    }
}

/// Puts a folder's entries on disk; not every file system can do it.
fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn failed(action: &'static str, path: &Path, error: io::Error) -> DataError {
    DataError::io(action, path.display().to_string(), error)
}
