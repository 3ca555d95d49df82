//! The lines of a list of changes. The list says what a switch (several files that are replaced
//! together, see `switch.rs`) does, so that another process can finish an interrupted one.
//!
//! Three lines for each change: the temporary file, the digest of its content, and the file that it
//! replaces; or `-`, `-` and the file that is removed. Files are named relative to the folder of
//! the list: `FILE` or `SUBFOLDER/FILE`. The digest tells whether a file was already replaced.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use super::FileChange;
use super::digest::FileDigest;
use super::target::folder_of;
use super::temporary::is_temporary_name;
use crate::error::UnfinishedWrite;
use crate::format::FEATURE_SET_ENDING;

/// Stands for the temporary file and for its digest if the target is removed.
const REMOVAL: &str = "-";

/// A change of a file in the folder of the list or in one of its subfolders.
#[derive(Debug, PartialEq)]
pub(super) enum ListedChange {
    Replace { target: String, temporary: String, digest: FileDigest },
    Remove { target: String },
}

impl ListedChange {
    /// Whether [`parse`](ListedChange::parse) accepts the change: a removal only of a feature set.
    pub(super) fn can_be_listed(change: &FileChange) -> bool {
        match change {
            FileChange::Replace(_) => true,
            FileChange::Remove(path) => path.to_str().is_some_and(can_be_removed),
        }
    }

    /// The change as an entry in the list of `folder`; `None` if a file name cannot be written as a
    /// line of text, or the file is not in the folder or a subfolder.
    pub(super) fn of(change: &FileChange, folder: &Path) -> Option<ListedChange> {
        let target = listed_name(change.path(), folder)?;
        Some(match change {
            FileChange::Replace(file) => {
                let temporary = listed_name(file.temporary.path()?, folder)?;
                ListedChange::Replace { target, temporary, digest: file.digest }
            }
            FileChange::Remove(_) => ListedChange::Remove { target },
        })
    }

    pub(super) fn lines(&self) -> String {
        match self {
            ListedChange::Replace { target, temporary, digest } => {
                format!("{temporary}\n{digest}\n{target}\n")
            }
            ListedChange::Remove { target } => format!("{REMOVAL}\n{REMOVAL}\n{target}\n"),
        }
    }

    /// Parses the three lines of a change. Anybody may have written them, so only a change that
    /// this program could have written is accepted: a list that somebody puts into a folder cannot
    /// remove data.
    pub(super) fn parse(lines: &[&str]) -> Option<ListedChange> {
        let &[temporary, digest, target] = lines else { return None };
        let (folder, _) = parts_of(target)?;
        let target = target.to_owned();
        if (temporary, digest) == (REMOVAL, REMOVAL) {
            return can_be_removed(&target).then_some(ListedChange::Remove { target });
        }
        let digest = digest.parse().ok()?;
        let (temporary_folder, name) = parts_of(temporary)?;
        let temporary = temporary.to_owned();
        let is_temporary = temporary_folder == folder && is_temporary_name(OsStr::new(name));
        is_temporary.then_some(ListedChange::Replace { target, temporary, digest })
    }

    fn target(&self) -> &str {
        match self {
            ListedChange::Replace { target, .. } | ListedChange::Remove { target } => target,
        }
    }

    /// The subfolder of the file; `None` if it is in the folder of the list itself.
    pub(super) fn subfolder(&self) -> Option<&str> {
        self.target().split_once('/').map(|(folder, _)| folder)
    }

    /// Carries out the change, unless it was carried out already.
    pub(super) fn carry_out(&self, folder: &Path) -> Result<(), UnfinishedWrite> {
        let target = folder.join(self.target());
        let failed = |source| UnfinishedWrite::System { file: self.target().to_owned(), source };
        let ListedChange::Replace { temporary, digest, .. } = self else {
            return remove(&target).map_err(failed);
        };
        let temporary = folder.join(temporary);
        if digest.matches_length(&temporary) {
            return fs::rename(temporary, target).map_err(failed);
        }
        match digest.matches_content(&target) {
            true => Ok(()),
            false => Err(UnfinishedWrite::Missing { file: self.target().to_owned() }),
        }
    }
}

/// Whether a list may remove a file of this name: only the feature set of data that is replaced.
/// No switch of this program removes another file.
fn can_be_removed(name: &str) -> bool {
    name.ends_with(FEATURE_SET_ENDING)
}

/// The name of a file without its folder; `None` if it cannot be written as a line of text.
fn plain_name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().filter(|name| !name.contains('\n')).map(str::to_owned)
}

/// The name of a file in the list of `folder`: `FILE` or `SUBFOLDER/FILE`.
fn listed_name(path: &Path, folder: &Path) -> Option<String> {
    let name = plain_name(path)?;
    let file_folder = folder_of(path);
    if file_folder == folder {
        return Some(name);
    }
    let file_folder = file_folder.canonicalize().ok()?;
    if file_folder == folder {
        return Some(name);
    }
    (file_folder.parent()? == folder).then_some(())?;
    Some(format!("{}/{name}", plain_name(&file_folder)?))
}

/// The subfolder and the file of a name in a list; `None` if the name leads out of the folder
/// (`..`) or deeper than one subfolder.
fn parts_of(name: &str) -> Option<(Option<&str>, &str)> {
    let is_plain = |part: &str| Path::new(part).file_name() == Some(OsStr::new(part));
    let (folder, file) = match name.split_once('/') {
        Some((folder, file)) => (Some(folder), file),
        None => (None, name),
    };
    (folder.is_none_or(is_plain) && is_plain(file)).then_some((folder, file))
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
