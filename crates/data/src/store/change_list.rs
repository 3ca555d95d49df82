//! The lines of a list of changes: what a switch of several files does, for whoever finishes it.
//!
//! Three lines for each change: the temporary file, the digest of its content, and the file that it
//! replaces; or `-`, `-` and the file that is removed. A name is that of a file in the folder of the
//! list, or `FOLDER/FILE` for a folder inside. A file that has its name already is recognised by the
//! digest.

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

/// In the place of a temporary file and its digest: the target is removed.
const NOTHING: &str = "-";

/// A change of a file, in the folder of the list or in a folder inside.
#[derive(Debug, PartialEq)]
pub(super) enum ListedChange {
    Replace { target: String, temporary: String, digest: FileDigest },
    Remove { target: String },
}

impl ListedChange {
    /// The change in the list of a folder; `None` if a name cannot stand on a line.
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
            ListedChange::Remove { target } => format!("{NOTHING}\n{NOTHING}\n{target}\n"),
        }
    }

    /// Reads a change from its lines, which may come from anywhere; only a change that a switch of
    /// this program makes is one.
    pub(super) fn parse(lines: &[&str]) -> Option<ListedChange> {
        let &[temporary, digest, target] = lines else { return None };
        let (folder, _) = parts_of(target)?;
        let target = target.to_owned();
        if (temporary, digest) == (NOTHING, NOTHING) {
            return target.ends_with(FEATURE_SET_ENDING).then_some(ListedChange::Remove { target });
        }
        let digest = digest.parse().ok()?;
        let (same_folder, name) = parts_of(temporary)?;
        let temporary = temporary.to_owned();
        let is_temporary = same_folder == folder && is_temporary_name(OsStr::new(name));
        is_temporary.then_some(ListedChange::Replace { target, temporary, digest })
    }

    fn target(&self) -> &str {
        match self {
            ListedChange::Replace { target, .. } | ListedChange::Remove { target } => target,
        }
    }

    /// The folder inside that of the list, if the file is not in the latter itself.
    pub(super) fn inner_folder(&self) -> Option<&str> {
        self.target().split_once('/').map(|(folder, _)| folder)
    }

    /// Carries out the change, unless it was already.
    pub(super) fn carry_out(&self, folder: &Path) -> Result<(), UnfinishedWrite> {
        let target = folder.join(self.target());
        let failed = |source| UnfinishedWrite::System { file: self.target().to_owned(), source };
        let ListedChange::Replace { temporary, digest, .. } = self else {
            return remove(&target).map_err(failed);
        };
        let temporary = folder.join(temporary);
        if digest.fits_length(&temporary) {
            return fs::rename(temporary, target).map_err(failed);
        }
        match digest.fits(&target) {
            true => Ok(()),
            false => Err(UnfinishedWrite::Missing { file: self.target().to_owned() }),
        }
    }
}

/// The name of a file that can stand in a list.
fn plain_name(path: &Path) -> Option<String> {
    path.file_name()?.to_str().filter(|name| !name.contains('\n')).map(str::to_owned)
}

/// The name of a file in the list of a folder: its own, or with that of a folder inside in front.
fn listed_name(path: &Path, folder: &Path) -> Option<String> {
    let name = plain_name(path)?;
    let own = folder_of(path);
    if own == folder {
        return Some(name);
    }
    let own = own.canonicalize().ok()?;
    (own.parent()? == folder).then_some(())?;
    Some(format!("{}/{name}", plain_name(&own)?))
}

/// The folder and the file of a name in a list; `None` if it leads elsewhere.
fn parts_of(name: &str) -> Option<(Option<&str>, &str)> {
    let is_plain = |part: &str| Path::new(part).file_name() == Some(OsStr::new(part));
    let (folder, file) = match name.split_once('/') {
        Some((folder, file)) => (Some(folder), file),
        None => (None, name),
    };
    (folder.is_none_or(is_plain) && is_plain(file)).then_some((folder, file))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
