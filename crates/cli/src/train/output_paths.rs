//! Where a training writes: the model, its side file, and checkpoints.
//!
//! A model that is no ordinary file (a pipe, `/dev/null`) has nothing beside it: no side file, and
//! no checkpoint unless a folder is named. Without `--checkpoint`, only Ctrl-C saves, to
//! `MODEL.checkpoint`, which a finished training removes; a folder that was named stays. Places
//! that cannot be written to are found before the training, not after an hour of it. Where a
//! checkpoint cannot be written in spite of that (a disk that has become full), the model so far
//! goes to `MODEL.partial`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright::data::DataError;
use rankwright::learn::{Checkpoints, LearnerSpec, TrainResult};

use super::Args;
use crate::failure::Failure;
use crate::input::not_over_an_input;
use crate::output::Output;

/// Refuses places that cannot be written to.
pub(super) fn check(args: &Args, learner: &LearnerSpec) -> Result<(), Failure> {
    let parent = match args.out.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    if !parent.is_dir() {
        return Err(Failure::request(format!(
            "there is no folder {} for the model; make it first",
            parent.display()
        )));
    }
    if args.out.is_dir() {
        return Err(Failure::request(format!(
            "{} is a folder; name a file in it",
            args.out.display()
        )));
    }
    let inputs = args.data.iter().chain(&args.valid).chain(&args.read.pairs);
    not_over_an_input(&args.out, inputs.map(PathBuf::as_path))?;
    if !is_special(&args.out) {
        probe(parent)?;
    }
    match (&args.checkpoint, checkpoints(args, learner)) {
        (Some(folder), Some(_)) => {
            std::fs::create_dir_all(folder)
                .map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
            probe(folder)
        }
        (None, Some(Checkpoints { folder, .. })) if folder.is_dir() => probe(&folder),
        (None, Some(Checkpoints { folder, .. })) if folder.symlink_metadata().is_ok() => {
            Err(Failure::request(format!(
                "{0} is no folder, but an interrupted training would be saved in it; move it away, \
                 or name a folder with --checkpoint",
                folder.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Whether something is there that is no ordinary file: nothing can stand beside it.
fn is_special(out: &Path) -> bool {
    out.metadata().is_ok_and(|meta| !meta.is_file())
}

/// Makes sure that files can be made in a folder.
fn probe(folder: &Path) -> Result<(), Failure> {
    let file = folder.join(format!(".rankwright-probe-{}", std::process::id()));
    File::create(&file)
        .and_then(|_| std::fs::remove_file(&file))
        .map_err(|e| DataError::io("write to the folder", folder.display().to_string(), e).into())
}

/// Where and when to save on the way; `None` where nothing is trained in rounds or no place is known.
pub(super) fn checkpoints(args: &Args, learner: &LearnerSpec) -> Option<Checkpoints> {
    learner.rounds()?;
    match &args.checkpoint {
        Some(folder) => Some(Checkpoints {
            folder: folder.clone(),
            every_trees: args.checkpoint_trees.unwrap_or(0),
            every: Duration::from_secs(args.checkpoint_seconds),
        }),
        None if is_special(&args.out) => None,
        None => Some(Checkpoints {
            folder: beside(&args.out, ".checkpoint"),
            every_trees: 0,
            every: Duration::MAX,
        }),
    }
}

/// The side file of the model, where one can stand beside it.
pub(super) fn log(args: &Args) -> Option<PathBuf> {
    args.out.is_file().then(|| beside(&args.out, ".log.json"))
}

/// A path with something after its name.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// What is said of a training that Ctrl-C ended; `unsaved` is why its checkpoint is not there.
pub(super) fn interrupted(
    args: &Args,
    learner: &LearnerSpec,
    outcome: &TrainResult,
    unsaved: Option<String>,
) -> Failure {
    let (unit, done) = (outcome.history.unit.clone(), outcome.history.iterations.len());
    match (checkpoints(args, learner), unsaved) {
        (Some(Checkpoints { folder, .. }), None) => Failure::Interrupted { unit, done, folder },
        (None, _) => Failure::Unsaved { unit, done, out: args.out.clone() },
        (Some(_), Some(why)) => {
            let file = beside(&args.out, ".partial");
            match outcome.model.save(&file) {
                Ok(()) => Failure::Partial { unit, done, file, why },
                Err(error) => Failure::request(format!(
                    "interrupted after {unit} {done}, and all is lost: the checkpoint could not be \
                     written ({why}), nor could {} ({error})",
                    file.display()
                )),
            }
        }
    }
}

/// Takes away the checkpoint that nobody asked for, and its folder unless there is more in it.
pub(super) fn clean(args: &Args, learner: &LearnerSpec, out: &Output) {
    let Some(checkpoints) = checkpoints(args, learner).filter(|_| args.checkpoint.is_none()) else {
        return;
    };
    let folder = checkpoints.folder.display();
    match checkpoints.remove() {
        Ok(false) => {}
        Ok(true) if checkpoints.folder.exists() => {
            out.note(format!("the training is whole; removed its checkpoint in {folder}"));
        }
        Ok(true) => out.note(format!("the training is whole; removed {folder}")),
        Err(error) => out.note(format!("{folder} is not needed any more, but: {error}")),
    }
}
