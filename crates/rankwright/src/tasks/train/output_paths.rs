//! Output paths of a training: the model, its side file, and checkpoints.
//!
//! Nothing is written beside a model that is not an ordinary file (a pipe, `/dev/null`): no side
//! file, and no checkpoint unless a folder is named. Without a named folder only a cancelled
//! training saves, to `MODEL.checkpoint`, which a finished training removes; a named folder is
//! kept. Paths that cannot be written to are found before the training, not after an hour of it.
//! Where a checkpoint cannot be written in spite of that (the disk has become full), the model so
//! far is written to `MODEL.partial`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright_data::DataError;
use rankwright_data::store::is_same_file;
use rankwright_learn::{Checkpoints, TrainResult, TrainingLog};

use super::TrainModelRequest;
use crate::tasks::context::Running;
use crate::tasks::split_data::make_folder;
use crate::tasks::{TaskError, Warning, check_outputs};

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
    /// The model's path is not an ordinary file, so there was no path to save to.
    Nothing {
        /// The path of the model.
        out: PathBuf,
    },
    /// Neither the checkpoint nor the model so far could be written.
    Lost {
        /// The reason.
        reason: String,
    },
}

/// Rejects paths that cannot be written to.
pub(super) fn check(request: &TrainModelRequest) -> Result<(), TaskError> {
    let folder = check_file(&request.out)?;
    check_inputs(request)?;
    if !is_special(&request.out) {
        probe(folder)?;
    }
    match (&request.checkpoint, checkpoints(request)) {
        (Some(options), Some(_)) => {
            make_folder(&options.folder)?;
            probe(&options.folder)
        }
        (None, Some(Checkpoints { folder, .. })) if folder.is_dir() => probe(&folder),
        (None, Some(Checkpoints { folder, .. })) if folder.symlink_metadata().is_ok() => {
            Err(TaskError::CheckpointIsNoFolder { path: folder })
        }
        _ => Ok(()),
    }
}

/// Rejects writing the model, its side file or a checkpoint over an input. Only the start model may
/// be replaced, by the model that is trained from it.
fn check_inputs(request: &TrainModelRequest) -> Result<(), TaskError> {
    let log = TrainingLog::path_of(&request.out);
    let checkpoint = checkpoints(request).map(|checkpoints| checkpoints.file());
    let outputs = [request.out.as_path(), &log].into_iter().chain(checkpoint.as_deref());
    let members = request.learner.files();
    let start = request.start.as_deref();
    let is_replaced = |path: &Path| is_same_file(path, &request.out);
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

/// Checks that files can be created in a folder.
fn probe(folder: &Path) -> Result<(), TaskError> {
    let file = folder.join(format!(".rankwright-probe-{}", std::process::id()));
    File::create(&file)
        .and_then(|_| std::fs::remove_file(&file))
        .map_err(|e| DataError::io("write to the folder", folder.display().to_string(), e).into())
}

/// Folder and times of checkpoints; none where there are no rounds or no folder is known.
pub(super) fn checkpoints(request: &TrainModelRequest) -> Option<Checkpoints> {
    request.learner.rounds()?;
    match &request.checkpoint {
        Some(options) => {
            let checkpoints = Checkpoints::new(&options.folder).every(options.every);
            Some(checkpoints.every_rounds(options.every_rounds))
        }
        None if is_special(&request.out) => None,
        None => Some(Checkpoints::new(beside(&request.out, ".checkpoint")).every(Duration::MAX)),
    }
}

/// A path with a suffix after its name.
pub(in crate::tasks) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// The error of a cancelled training; `failed` is the reason why its checkpoint is missing.
pub(super) fn stopped(
    request: &TrainModelRequest,
    result: &TrainResult,
    failed: Option<String>,
) -> TaskError {
    let saved = match (checkpoints(request), failed) {
        (Some(Checkpoints { folder, .. }), None) => SavedTraining::Checkpoint { folder },
        (None, _) => SavedTraining::Nothing { out: request.out.clone() },
        (Some(_), Some(reason)) => {
            let file = beside(&request.out, ".partial");
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
    let (unit, done) = (result.history.unit.clone(), result.history.iterations.len());
    TaskError::TrainingStopped { unit, done, saved }
}

/// Removes the checkpoint in the default folder, and the folder unless it has other files.
pub(super) fn clean(request: &TrainModelRequest, task: &mut Running<'_>) {
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
