//! Checkpoints: the state that a killed training needs to resume with the same result.
//!
//! A checkpoint is an ordinary model file, `checkpoint.model` in a folder of its own: the model so
//! far, and as a note in its header the history of the rounds, the state of the learner, and a
//! fingerprint of the data and of everything else that determines the result (spec, seed, metrics,
//! validation sets, start model, teacher). Scores of boosted trees are not saved: adding up the
//! trees in their order gives the same bits again, and every random draw depends only on its round.
//! If trees are dropped during training (DART), the file has all trees with their current weights,
//! and the note has the leaf values with which they were grown. The file is replaced atomically, so
//! that a killed process or a full disk leaves the last good file. The folder is locked while a
//! training uses it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rankwright_data::Dataset;
use rankwright_data::store::FolderLock;
use rankwright_model::Model;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::history::{Iteration, TrainingHistory};
use super::rounds::Snapshot;
use crate::error::{CheckpointProblem, LearnError, StateProblem};

/// Folder and frequency of checkpoints.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Checkpoints {
    /// Folder of the checkpoint; created when it is first needed.
    pub folder: PathBuf,
    /// Number of rounds (trees, epochs) between two checkpoints; 0 saves by time only.
    pub every_rounds: usize,
    /// Time between two checkpoints; `Duration::MAX` saves by rounds only, and when training is
    /// cancelled.
    pub every: Duration,
}

impl Checkpoints {
    /// Time between two checkpoints if none is given.
    pub const DEFAULT_INTERVAL: Duration = Duration::from_secs(60);

    /// Saves to a folder once a minute.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), every_rounds: 0, every: Self::DEFAULT_INTERVAL }
    }

    /// Sets the number of rounds between two checkpoints.
    #[must_use]
    pub fn every_rounds(mut self, rounds: usize) -> Self {
        self.every_rounds = rounds;
        self
    }

    /// Sets the time between two checkpoints.
    #[must_use]
    pub fn every(mut self, time: Duration) -> Self {
        self.every = time;
        self
    }

    /// The path of the checkpoint file.
    pub fn file(&self) -> PathBuf {
        self.folder.join("checkpoint.model")
    }

    /// The checkpoints of a training within this one (a member of a blend, a bag, a candidate of an
    /// automatic choice), `number` from 0, in a folder within this one.
    pub(crate) fn member(&self, number: usize) -> Checkpoints {
        let folder = self.folder.join(format!("{MEMBER_PREFIX}{}", number + 1));
        Checkpoints { folder, ..self.clone() }
    }

    /// The checkpoint that keeps the finished model of a member until all members are done.
    pub(crate) fn finished_member(&self) -> Checkpoints {
        Checkpoints { folder: self.folder.join(FINISHED_FOLDER), ..self.clone() }
    }

    /// Whether checkpoints are saved during training, and not only when it is cancelled.
    fn is_regular(&self) -> bool {
        self.every_rounds > 0 || self.every < Duration::MAX
    }

    /// Keeps other trainings out of the folder, which is created if needed.
    pub(crate) fn lock(&self) -> Result<FolderLock, LearnError> {
        let lock = FolderLock::acquire(&self.folder, LOCK_FILE)?;
        lock.ok_or_else(|| LearnError::CheckpointInUse { folder: self.folder.clone() })
    }

    /// Locks the folder at the start of a training; `None` if there is no folder yet and the
    /// training saves only when it is cancelled, so that the folder may never be needed.
    pub(crate) fn lock_at_start(&self) -> Result<Option<FolderLock>, LearnError> {
        match self.is_regular() || self.folder.is_dir() {
            true => self.lock().map(Some),
            false => Ok(None),
        }
    }

    /// Fails if another training uses the folder now, so that a program can report that before it
    /// reads data.
    pub fn check_unused(&self) -> Result<(), LearnError> {
        match self.folder.is_dir() {
            true => self.lock().map(drop),
            false => Ok(()),
        }
    }

    /// Deletes the checkpoint file, those of the trainings within this one, and folders that are
    /// then empty. Returns whether there was a file. It is an error if a training is using the
    /// folder; then nothing is deleted.
    ///
    /// ```
    /// use rankwright_learn::Checkpoints;
    ///
    /// assert!(!Checkpoints::new("no-such-folder").remove()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn remove(&self) -> io::Result<bool> {
        let lock = match self.folder.is_dir() {
            true => Some(self.lock().map_err(io::Error::other)?),
            false => None,
        };
        let removed = self.remove_files()?;
        drop(lock);
        let _ = std::fs::remove_dir(&self.folder);
        Ok(removed)
    }

    /// Deletes the checkpoint file, and the folders of the trainings within this one, which may
    /// have such folders of their own.
    fn remove_files(&self) -> io::Result<bool> {
        let mut removed = match std::fs::remove_file(self.file()) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        // Numbers may be missing: a training writes its first checkpoint some time after it begins.
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten() {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let number: Option<usize> =
                name.strip_prefix(MEMBER_PREFIX).and_then(|number| number.parse().ok());
            let nested = match number {
                Some(1..) => Checkpoints { folder: entry.path(), ..self.clone() },
                _ if name == FINISHED_FOLDER => self.finished_member(),
                _ => continue,
            };
            removed |= nested.remove_files()?;
            // The lock file of a training that was killed.
            let _ = std::fs::remove_file(nested.folder.join(LOCK_FILE));
            // A folder that holds other files stays.
            let _ = std::fs::remove_dir(&nested.folder);
        }
        Ok(removed)
    }
}

/// The folder of a nested training has this prefix and the number of the training, from 1.
const MEMBER_PREFIX: &str = "member-";

/// The folder, within that of a nested training, that keeps its finished model.
const FINISHED_FOLDER: &str = "done";

/// The file by which a training keeps others out of its folder.
const LOCK_FILE: &str = "training.lock";

/// The key of the note in a checkpoint's header.
pub(super) const NOTE_KEY: &str = "checkpoint";

/// The state in a checkpoint besides the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckpointState {
    /// Fingerprint of the data and of the request as text.
    pub(crate) fingerprint: u64,
    /// Number of trees in the file that came from the start model.
    #[serde(rename = "start")]
    pub(crate) start_trees: usize,
    /// The history of the rounds done.
    pub(crate) iterations: Vec<Iteration>,
    /// Seconds of training so far.
    pub(crate) train_seconds: f64,
    /// State of the learner, as two hexadecimal digits for each byte; `None` for boosting without
    /// DART, where the model is the whole state.
    #[serde(rename = "learner", default, skip_serializing_if = "Option::is_none")]
    pub(crate) learner_state: Option<String>,
}

/// Saves checkpoints when they are due.
#[derive(Debug)]
pub(crate) struct CheckpointSaver<'a> {
    options: &'a Checkpoints,
    /// Time of the last save, or of the start.
    last_save: Instant,
    /// Number of rounds that were done at the last save.
    last_rounds: usize,
}

impl<'a> CheckpointSaver<'a> {
    /// A saver for a training that has done this number of rounds.
    pub(crate) fn new(options: &'a Checkpoints, rounds: usize) -> Self {
        Self { options, last_save: Instant::now(), last_rounds: rounds }
    }

    /// Whether a checkpoint is due after this number of rounds.
    pub(crate) fn is_due(&self, rounds: usize) -> bool {
        let by_rounds =
            self.options.every_rounds > 0 && rounds - self.last_rounds >= self.options.every_rounds;
        by_rounds || self.last_save.elapsed() >= self.options.every
    }

    /// Writes a checkpoint after this number of rounds.
    pub(crate) fn save(
        &mut self,
        model: Model,
        state: &CheckpointState,
        rounds: usize,
    ) -> Result<(), LearnError> {
        let (mut header, body) = model.into_parts();
        let text = serde_json::to_string(state)
            .map_err(|_| LearnError::Internal { invariant: "a history can be written as JSON" })?;
        header.notes.insert(NOTE_KEY.to_owned(), text);
        std::fs::create_dir_all(&self.options.folder).map_err(|error| {
            let folder = self.options.folder.display().to_string();
            rankwright_data::DataError::io("make the folder", folder, error)
        })?;
        Model::new(header, body)?.save(self.options.file())?;
        self.last_save = Instant::now();
        self.last_rounds = rounds;
        Ok(())
    }
}

/// The hexadecimal digits.
const HEX: [char; 16] =
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// Reads a checkpoint and checks that it belongs to the training with this fingerprint; `None` if
/// there is no file.
pub(crate) fn load(
    path: &Path,
    fingerprint: u64,
) -> Result<Option<(Model, CheckpointState)>, LearnError> {
    if !path.exists() {
        return Ok(None);
    }
    let rejected = |problem| LearnError::Checkpoint { path: path.display().to_string(), problem };
    let model = Model::load(path).map_err(|error| rejected(CheckpointProblem::Damaged(error)))?;
    let note = model.header().notes.get(NOTE_KEY);
    let note = note.ok_or_else(|| rejected(CheckpointProblem::NotACheckpoint))?;
    let state: CheckpointState =
        serde_json::from_str(note).map_err(|_| rejected(CheckpointProblem::Unreadable))?;
    if state.fingerprint != fingerprint {
        return Err(rejected(CheckpointProblem::OtherTraining));
    }
    Ok(Some((model, state)))
}

/// Number of rows hashed together.
const BLOCK: usize = 4096;

/// A fingerprint of a training: of every value of the data, and of the request as text.
pub(crate) fn fingerprint(data: &Dataset, request_text: &str) -> u64 {
    let hash_of = |values: &[f32]| xxh3_64(bytemuck::cast_slice(values));
    let width = data.columns().max(1);
    let blocks = data.matrix().values().par_chunks(width * BLOCK).enumerate();
    let of_block = |(block, values): (usize, &[f32])| {
        let hash = hash_of(values);
        // The pages of a memory-mapped file need not stay in memory.
        data.matrix().release(block * BLOCK..(block + 1) * BLOCK);
        hash
    };
    let mut parts: Vec<u64> = blocks.map(of_block).collect();
    parts.push(xxh3_64(bytemuck::cast_slice(data.labels())));
    for name in data.label_column_names() {
        let labels = data.label_column(name).unwrap_or_default();
        parts.extend([xxh3_64(name.as_bytes()), xxh3_64(bytemuck::cast_slice(labels))]);
    }
    parts.extend((0..data.queries()).map(|query| data.query_rows(query).end as u64));
    parts.extend([data.row_weights(), data.query_weights()].into_iter().flatten().map(hash_of));
    parts.extend(data.positions().map(|positions| xxh3_64(bytemuck::cast_slice(positions))));
    if let Some(ids) = data.doc_ids() {
        // `bias=dr` joins the rows of a document.
        parts.extend((0..data.rows()).map(|row| xxh3_64(ids.get(row).as_bytes())));
    }
    for pair in data.pairs().unwrap_or_default() {
        let words = [pair.better, pair.worse, pair.weight.to_bits(), u32::from(pair.equal)];
        parts.push(xxh3_64(bytemuck::cast_slice(&words)));
    }
    parts.push(xxh3_64(request_text.as_bytes()));
    xxh3_64(bytemuck::cast_slice(&parts))
}

/// Writes bytes as two hexadecimal digits each.
fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        digits.extend([byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]));
    }
    digits
}

impl CheckpointState {
    /// The state of a training after its last round.
    pub(crate) fn new(fingerprint: u64, history: &TrainingHistory, snapshot: &Snapshot) -> Self {
        Self {
            fingerprint,
            start_trees: snapshot.start_trees,
            iterations: history.iterations.clone(),
            train_seconds: history.train_seconds,
            learner_state: snapshot.learner_state.as_deref().map(hexadecimal),
        }
    }

    /// The state of a finished nested training: the model is all that is needed.
    pub(crate) fn finished(fingerprint: u64, train_seconds: f64) -> Self {
        let iterations = Vec::new();
        Self { fingerprint, start_trees: 0, iterations, train_seconds, learner_state: None }
    }

    /// Takes the learner's state out as bytes; `None` if there is none.
    pub(crate) fn take_learner_state(&mut self) -> Result<Option<Vec<u8>>, LearnError> {
        let Some(text) = self.learner_state.take() else { return Ok(None) };
        let digit = |byte: &u8| (*byte as char).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8; 2]| Some(digit(&pair[0])? << 4 | digit(&pair[1])?);
        let (pairs, odd_digit) = text.as_bytes().as_chunks();
        let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
        let bytes = bytes.filter(|_| odd_digit.is_empty()).ok_or(StateProblem::NotHexadecimal)?;
        Ok(Some(bytes))
    }

    /// Puts the iterations back into a history.
    pub(crate) fn restore(self, history: &mut TrainingHistory) {
        history.iterations = self.iterations;
        history.train_seconds = self.train_seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_of_trainings_within_trainings_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let outer = Checkpoints::new(folder.path().join("checkpoints"));
        let bag = outer.member(2).member(0);
        let finished_bag = outer.member(1).member(4).finished_member();
        for nested in [&outer, &bag, &finished_bag] {
            std::fs::create_dir_all(&nested.folder).unwrap();
            std::fs::write(nested.file(), "model").unwrap();
        }
        std::fs::write(bag.folder.join(LOCK_FILE), "").unwrap();
        assert!(outer.remove().unwrap());
        assert!(!outer.folder.exists());
    }

    #[test]
    fn files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let outer = Checkpoints::new(folder.path().join("checkpoints"));
        let notes = outer.member(0).folder.join("notes.txt");
        std::fs::create_dir_all(outer.member(0).folder).unwrap();
        std::fs::create_dir_all(outer.folder.join("member-0")).unwrap();
        std::fs::write(&notes, "mine").unwrap();
        assert!(!outer.remove().unwrap());
        assert!(notes.exists() && outer.folder.join("member-0").exists());
    }

    /// A training on `labels=label+clicks` must not resume after the clicks have changed.
    #[test]
    fn the_fingerprint_depends_on_every_column_of_labels() {
        let data = Dataset::from_dense(&[0.5, 0.1], 1, [2, 0], ["a", "a"]).unwrap();
        let with_column = |name: &str, labels: [f64; 2]| {
            let data = data.clone().with_label_column(name, labels.to_vec()).unwrap();
            fingerprint(&data, "")
        };
        let found = with_column("clicks", [0.0, 7.0]);
        assert_eq!(found, with_column("clicks", [0.0, 7.0]));
        assert_ne!(found, with_column("clicks", [0.0, 6.0]));
        assert_ne!(found, with_column("sales", [0.0, 7.0]));
        assert_ne!(found, fingerprint(&data, ""));
    }

    /// With `bias=dr` the rows of a document are joined by its id.
    #[test]
    fn the_fingerprint_depends_on_the_ids_of_documents() {
        let with_ids = |ids: [&str; 2]| {
            let data = Dataset::builder().rows([[0.5], [0.1]]).labels([2, 0]).query_ids(["a", "a"]);
            fingerprint(&data.doc_ids(ids).build().unwrap(), "")
        };
        assert_eq!(with_ids(["x", "y"]), with_ids(["x", "y"]));
        assert_ne!(with_ids(["x", "y"]), with_ids(["x", "x"]));
    }
}
