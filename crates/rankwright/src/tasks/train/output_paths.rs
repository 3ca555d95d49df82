//! Where a training writes: the model, its side file, and checkpoints.
//!
//! A model that is no ordinary file (a pipe, `/dev/null`) has nothing beside it: no side file, and
//! no checkpoint unless a folder is named. Without a named folder only a cancelled training saves,
//! to `MODEL.checkpoint`, which a finished training removes; a folder that was named stays. Places
//! that cannot be written to are found before the training, not after an hour of it. Where a
//! checkpoint cannot be written in spite of that (a disk that has become full), the model so far
//! goes to `MODEL.partial`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright_data::DataError;
use rankwright_learn::{Checkpoints, TrainResult};

use super::TrainModelRequest;
use crate::tasks::context::Running;
use crate::tasks::split_data::make_folder;
use crate::tasks::{TaskError, Warning, check_output};

/// What is left of a training that was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedTraining {
    /// A checkpoint; the same request with this folder goes on.
    Checkpoint {
        /// Its folder.
        folder: PathBuf,
    },
    /// The checkpoint could not be written; the model so far is a file.
    Partial {
        /// The file.
        file: PathBuf,
        /// Why there is no checkpoint.
        reason: String,
    },
    /// The model goes to no ordinary file, so there was no place to save to.
    Nothing {
        /// Where the model goes.
        out: PathBuf,
    },
    /// Neither the checkpoint nor the model so far could be written.
    Lost {
        /// Why not.
        reason: String,
    },
}

/// Refuses places that cannot be written to.
pub(super) fn check(request: &TrainModelRequest) -> Result<(), TaskError> {
    let folder = check_file(&request.out)?;
    check_output(&request.out, request.inputs().filter(|path| Some(*path) != start(request)))?;
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

/// A start model may be replaced by the model that grows out of it.
fn start(request: &TrainModelRequest) -> Option<&Path> {
    request.start.as_deref()
}

/// Refuses a file in a folder that does not exist, and a folder in place of a file. Gives the
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

/// Whether something is there that is no ordinary file: nothing can stand beside it.
fn is_special(out: &Path) -> bool {
    out.metadata().is_ok_and(|meta| !meta.is_file())
}

/// Makes sure that files can be made in a folder.
fn probe(folder: &Path) -> Result<(), TaskError> {
    let file = folder.join(format!(".rankwright-probe-{}", std::process::id()));
    File::create(&file)
        .and_then(|_| std::fs::remove_file(&file))
        .map_err(|e| DataError::io("write to the folder", folder.display().to_string(), e).into())
}

/// Where and when to save on the way; none where nothing is trained in rounds or no place is known.
pub(super) fn checkpoints(request: &TrainModelRequest) -> Option<Checkpoints> {
    request.learner.rounds()?;
    match &request.checkpoint {
        Some(options) => Some(Checkpoints {
            folder: options.folder.clone(),
            every_trees: options.every_rounds,
            every: options.every,
        }),
        None if is_special(&request.out) => None,
        None => Some(Checkpoints {
            folder: beside(&request.out, ".checkpoint"),
            every_trees: 0,
            every: Duration::MAX,
        }),
    }
}

/// A path with something after its name.
pub(in crate::tasks) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// The error of a cancelled training; `failed` is why its checkpoint is not there.
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

/// Removes the checkpoint that nobody asked for, and its folder unless there is more in it.
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
