//! Output paths of a training: the model, its side file, and checkpoints.
//!
//! Nothing is written beside a model that is not an ordinary file (a pipe, `/dev/null`): no side
//! file, and no checkpoint unless a folder is named. Without a named folder only a cancelled
//! training saves, to `MODEL.checkpoint`, which a finished training removes; a named folder is
//! kept. Paths that cannot be written to are found before the training, not after an hour of it.
//! Where a checkpoint cannot be written in spite of that (the disk has become full), the model so
//! far is written to `MODEL.partial`; where the finished model cannot be written, it is saved in
//! the folder of the checkpoints or in the system's folder for temporary files, and the error says
//! where.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright_data::DataError;
use rankwright_data::store::{check_room, is_same_file};
use rankwright_learn::{Checkpoints, LearnerSpec, TrainResult, TrainingLog};
use rankwright_model::Model;

use super::{TrainModelRequest, save_model};
use crate::tasks::context::RunningTask;
use crate::tasks::split_data::make_folder;
use crate::tasks::{ModelSource, TaskError, Warning, check_outputs};

/// The saved state of a cancelled training.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedTraining {
    /// A checkpoint; the same request with this folder resumes.
    Checkpoint {
        /// Its folder.
        folder: PathBuf,
    },
    /// The checkpoint could not be written; the model so far was written to a file.
    Partial {
        /// The file.
        file: PathBuf,
        /// The reason why there is no checkpoint.
        reason: String,
    },
    /// The model has no path, or one that is not an ordinary file, so there was no path to save to.
    Nothing {
        /// The path of the model; `None` if the request has none.
        out: Option<PathBuf>,
    },
    /// Neither the checkpoint nor the model so far could be written.
    Lost {
        /// The reason.
        reason: String,
    },
}

/// Rejects paths that cannot be written to.
pub(super) fn check(request: &TrainModelRequest) -> Result<(), TaskError> {
    let folder = request.out.as_deref().map(check_file).transpose()?;
    check_inputs(request)?;
    let room = size_estimate(&request.learner);
    if let Some(folder) = folder.filter(|_| !request.out.as_deref().is_some_and(is_special)) {
        check_room(folder, room)?;
    }
    match (&request.checkpoint, checkpoints(request)) {
        (Some(options), Some(checkpoints)) => {
            make_folder(&options.folder)?;
            check_room(&options.folder, room)?;
            Ok(checkpoints.check_unused()?)
        }
        (None, Some(checkpoints)) if checkpoints.folder.is_dir() => {
            check_room(&checkpoints.folder, room)?;
            Ok(checkpoints.check_unused()?)
        }
        (None, Some(Checkpoints { folder, .. })) if folder.symlink_metadata().is_ok() => {
            Err(TaskError::CheckpointIsNoFolder { path: folder })
        }
        _ => Ok(()),
    }
}

/// Rejects writing the model, its side file, its incomplete form or a checkpoint over an input.
/// Only the start model may be replaced, by the model that is trained from it, complete or not.
fn check_inputs(request: &TrainModelRequest) -> Result<(), TaskError> {
    let members = request.learner.files();
    let out = request.out.as_deref();
    let (log, partial) = (out.map(TrainingLog::path_of), out.map(partial_path));
    let checkpoint = checkpoints(request).map(|checkpoints| checkpoints.file());
    let outputs = [out, log.as_deref(), partial.as_deref(), checkpoint.as_deref()];
    let outputs = outputs.into_iter().flatten();
    let start = request.start.as_ref().and_then(ModelSource::path);
    let is_replaced = |path: &Path| {
        [out, partial.as_deref()].into_iter().flatten().any(|other| is_same_file(path, other))
    };
    let inputs = request.inputs().filter(|path| Some(*path) != start);
    let kept = start.filter(|path| !is_replaced(path));
    check_outputs(outputs, inputs.chain(kept).chain(members.iter().map(PathBuf::as_path)))
}

/// Rejects a file in a folder that does not exist, and a folder in place of a file. Returns the
/// folder.
pub(in crate::tasks) fn check_file(path: &Path) -> Result<&Path, TaskError> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(TaskError::NoFolder { folder: folder.to_owned(), file: path.to_owned() });
    }
    match path.is_dir() {
        true => Err(TaskError::IsFolder { path: path.to_owned() }),
        false => Ok(folder),
    }
}

/// Whether the path exists and is not an ordinary file: no file can be written beside it.
fn is_special(out: &Path) -> bool {
    out.metadata().is_ok_and(|meta| !meta.is_file())
}

/// A rough estimate of the bytes of the model, from the largest number of leaves of its trees.
fn size_estimate(learner: &LearnerSpec) -> u64 {
    MIN_ROOM + learner.max_leaves().saturating_mul(LEAF_BYTES).min(MAX_ROOM)
}

/// Room for the parts of a model whose size is not known before the training, and for its log.
const MIN_ROOM: u64 = 1 << 16;
/// Bytes of a leaf and its split in a model file, at least.
const LEAF_BYTES: u64 = 16;
/// Largest number of bytes that are written to find out whether there is room.
const MAX_ROOM: u64 = 1 << 26;

/// Writes a trained model and returns the SHA-256 of its bytes. If that fails, saves the model in
/// the folder of the checkpoints or in the system's folder for temporary files, and returns an
/// error that names this file.
pub(in crate::tasks) fn save_or_rescue(
    model: &Model,
    out: &Path,
    checkpoints: Option<&Path>,
) -> Result<String, TaskError> {
    let error = match save_model(model, out) {
        Ok(sha256) => return Ok(sha256),
        Err(error) => error,
    };
    let name = out.file_name().map_or_else(|| "model".into(), PathBuf::from);
    // A file that is there already is not replaced.
    let checkpoints = checkpoints.map(|folder| folder.join(&name)).filter(|file| !file.exists());
    if let Some(file) = checkpoints
        && save_model(model, &file).is_ok()
    {
        return Err(saved_elsewhere(out, file, &error));
    }
    let temporary = || -> Result<PathBuf, TaskError> {
        let folder = tempfile::Builder::new().prefix("rankwright-model-").tempdir();
        let folder = folder.map_err(|e| DataError::io("create", "a temporary folder", e))?;
        let file = folder.path().join(&name);
        save_model(model, &file)?;
        Ok(folder.keep().join(&name))
    };
    match temporary() {
        Ok(file) => Err(saved_elsewhere(out, file, &error)),
        Err(_) => Err(error),
    }
}

fn saved_elsewhere(out: &Path, file: PathBuf, error: &TaskError) -> TaskError {
    TaskError::ModelSavedElsewhere { out: out.to_owned(), file, reason: error.to_string() }
}

/// Folder and times of checkpoints; none if there are no rounds or no folder is known.
pub(super) fn checkpoints(request: &TrainModelRequest) -> Option<Checkpoints> {
    request.learner.rounds()?;
    match &request.checkpoint {
        Some(options) => {
            let checkpoints = Checkpoints::new(&options.folder).every(options.every);
            Some(checkpoints.every_rounds(options.every_rounds))
        }
        None => {
            let out = request.out.as_deref().filter(|out| !is_special(out))?;
            let folder = with_suffix(out, ".checkpoint");
            Some(Checkpoints::new(folder).every(Duration::MAX))
        }
    }
}

/// A path with a suffix after its name.
pub(in crate::tasks) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The file of an incomplete model, if its checkpoint cannot be written.
fn partial_path(out: &Path) -> PathBuf {
    with_suffix(out, ".partial")
}

/// The error of a cancelled training; `checkpoint_error` is the reason why a checkpoint could not
/// be written.
pub(super) fn stopped_error(
    request: &TrainModelRequest,
    result: &TrainResult,
    checkpoint_error: Option<String>,
) -> TaskError {
    let (unit, done) = (result.history.unit.clone(), result.history.iterations.len());
    let saved = match (checkpoints(request), checkpoint_error) {
        (Some(Checkpoints { folder, .. }), None) => SavedTraining::Checkpoint { folder },
        (None, _) => SavedTraining::Nothing { out: request.out.clone() },
        (Some(_), Some(reason)) => {
            let Some(file) = request.out.as_deref().map(partial_path) else {
                let saved = SavedTraining::Lost { reason };
                return TaskError::TrainingStopped { unit, done, saved };
            };
            match result.model.save(&file) {
                Ok(()) => SavedTraining::Partial { file, reason },
                Err(error) => SavedTraining::Lost {
                    reason: format!(
                        "the checkpoint could not be written ({reason}), nor could {} ({error})",
                        file.display()
                    ),
                },
            }
        }
    };
    TaskError::TrainingStopped { unit, done, saved }
}

/// Removes the checkpoint in the default folder, and the folder unless it has other files.
pub(super) fn remove_default_checkpoint(request: &TrainModelRequest, task: &mut RunningTask<'_>) {
    let Some(checkpoints) = checkpoints(request).filter(|_| request.checkpoint.is_none()) else {
        return;
    };
    let folder = checkpoints.folder.clone();
    match checkpoints.remove() {
        Ok(false) => {}
        Ok(true) => {
            task.warn(Warning::CheckpointRemoved { folder_kept: folder.exists(), folder });
        }
        Err(error) => {
            let message = error.to_string();
            task.warn(Warning::CheckpointNotRemoved { folder, message });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tasks::{CheckpointOptions, Context, DataFiles, TrainingProgress, train_model};
    use rankwright_data::format::{Format, write};
    use rankwright_data::generate::LetorOptions;
    use rankwright_learn::{Progress, TrainingHistory};

    /// Replaces a folder by a file after the first round, so that nothing can be written into it.
    struct ReplacesFolder(PathBuf);

    impl Progress for ReplacesFolder {
        fn round_finished(&self, history: &TrainingHistory) {
            if history.iterations.len() == 1 {
                fs::remove_dir_all(&self.0).unwrap();
                fs::write(&self.0, "a file where the folder was").unwrap();
            }
        }
    }

    impl TrainingProgress for ReplacesFolder {}

    #[test]
    fn a_model_that_cannot_be_written_is_saved_elsewhere_and_the_error_says_where() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let data = LetorOptions { queries: 10, documents: 20, seed: 1 }.generate().unwrap();
        write(&data, path("train.rwd"), Format::Cache).unwrap();
        let learner = LearnerSpec::parse("mart(trees=3, leaves=4)").unwrap();
        let files = || DataFiles::new([path("train.rwd")]);
        let mut request = TrainModelRequest::new(learner.clone(), files()).out(path("whole.model"));
        train_model(&request, &Context::default()).unwrap();
        let whole = fs::read(path("whole.model")).unwrap();
        for checkpoint in [Some(path("c")), None] {
            fs::create_dir(path("gone")).unwrap();
            request.out = Some(path("gone/m.model"));
            request.checkpoint = checkpoint.clone().map(CheckpointOptions::new);
            let progress = ReplacesFolder(path("gone"));
            let error = train_model(&request, &Context::default().training(&progress)).unwrap_err();
            let TaskError::ModelSavedElsewhere { out, file, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!(*out, path("gone/m.model"));
            assert!(error.to_string().contains(&file.display().to_string()), "{error}");
            assert!(fs::read(file).unwrap() == whole, "{}", file.display());
            match checkpoint {
                Some(folder) => assert_eq!(*file, folder.join("m.model")),
                None => fs::remove_dir_all(file.parent().unwrap()).unwrap(),
            }
            fs::remove_file(path("gone")).unwrap();
        }
    }

    #[test]
    fn a_log_that_cannot_be_written_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let data = LetorOptions { queries: 10, documents: 20, seed: 1 }.generate().unwrap();
        write(&data, path("train.rwd"), Format::Cache).unwrap();
        fs::create_dir(path("m.model.log.json")).unwrap();
        let learner = LearnerSpec::parse("mart(trees=3, leaves=4)").unwrap();
        let files = DataFiles::new([path("train.rwd")]);
        let request = TrainModelRequest::new(learner, files).out(path("m.model"));
        let result = train_model(&request, &Context::default()).unwrap();
        assert!(path("m.model").is_file());
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["training-log-not-written"]);
    }

    #[test]
    fn nothing_is_left_of_the_check_for_room() {
        let folder = tempfile::tempdir().unwrap();
        let learner = LearnerSpec::parse("lambdamart(trees=1000, leaves=255)").unwrap();
        assert!(size_estimate(&learner) > 4_000_000);
        check_room(folder.path(), size_estimate(&learner)).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_room_for_a_model_counts_default_leaves_and_nested_learners() {
        let room = |text: &str| size_estimate(&LearnerSpec::parse(text).unwrap()) - MIN_ROOM;
        let leaves = 300 * 31 * LEAF_BYTES;
        assert_eq!(room("lambdamart"), leaves, "leaves=auto is at most 31");
        assert_eq!(room("lambdamart(trees=10, growth=oblivious)"), 10 * 64 * LEAF_BYTES);
        assert_eq!(room("random-forest"), 300 * 100 * LEAF_BYTES);
        assert_eq!(room("bagging(learner=lambdamart, bags=5)"), 5 * leaves);
        assert_eq!(room("blend(members=lambdamart+ranksvm+mart)"), 2 * leaves);
        assert_eq!(room("ranksvm"), 0);
        assert_eq!(room("lambdamart(trees=100000000)"), MAX_ROOM);
    }
}
