//! Several files that get their names together, although a process can be killed between two
//! renames.
//!
//! All files are complete on disk under temporary names first. Then the list of changes appears in
//! the folder as `.rankwright-switch`, in one step: from then on the new files count. The changes
//! follow, and the list is removed. Whoever finds a list whose writer is gone carries it out before
//! reading or writing in that folder ([`finish_switch`]), so that no reader of ours sees files of
//! two writings side by side. A list that cannot be carried out stays, and so do its temporary files:
//! every reader reports it.
//!
//! Files of several folders that lie in one folder (the folds of a split) have one list there. A reader
//! therefore looks in the folder of its file and in the one above; a list above counts only if it names
//! the folder of the file.
//!
//! `change_list.rs` has the lines of a list. Since a reader carries out what it finds, a list must
//! belong to this user or to the owner of the folder, names files of its folder or of real folders
//! inside only, and removes nothing but feature sets, the only files that are removed in a switch.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::change_list::{ListedChange, remove};
use super::target::folder_of;
use super::temporary::TemporaryFile;
use super::{FileChange, sync_folder};
use crate::error::{DataError, UnfinishedWrite};

/// The list of changes of a folder.
const LIST: &str = ".rankwright-switch";

/// The time that a living writer gets to finish, which takes a moment.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most bytes of a list; a split of 10,000 parts has fewer.
const MOST_BYTES: u64 = 4 << 20;

/// Whether a folder, or the one above, has a list of changes, which may name files of the folder.
pub(super) fn is_list_there(folder: &Path) -> bool {
    let has_list = |folder: &Path| folder.join(LIST).symlink_metadata().is_ok();
    has_list(folder) || folder_above(folder).is_some_and(|(above, _)| has_list(&above))
}

/// The folder above, without links, and the name of this one there.
fn folder_above(folder: &Path) -> Option<(PathBuf, String)> {
    let folder = folder.canonicalize().ok()?;
    Some((folder.parent()?.to_owned(), folder.file_name()?.to_str()?.to_owned()))
}

/// The folder of the list for changes in these folders: the only one, or that in which all of them
/// lie. `None` if there is no such folder.
pub(super) fn common_folder(folders: &[PathBuf]) -> Option<PathBuf> {
    let (first, others) = folders.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let (above, _) = folder_above(first)?;
    let is_inside =
        |folder: &PathBuf| folder_above(folder).is_some_and(|(other, _)| other == above);
    others.iter().all(is_inside).then_some(above)
}

/// Carries out the changes in one folder, or in folders inside it, all or none. If the system refuses one of them, the others
/// wait for the next reader.
pub(super) fn switch_together(
    folder: &Path,
    mut changes: Vec<FileChange>,
) -> Result<(), DataError> {
    let failed = |e| DataError::io("write to", folder.display().to_string(), e);
    changes.retain(|change| matches!(change, FileChange::Replace(_)) || change.path().exists());
    if changes.len() < 2 {
        return changes.into_iter().try_for_each(carry_out_alone).map_err(failed);
    }
    let listed: Option<Vec<ListedChange>> =
        changes.iter().map(|change| ListedChange::of(change, folder)).collect();
    let not_plain = || io::Error::new(io::ErrorKind::InvalidInput, "not a plain file name");
    let listed = listed.ok_or_else(|| failed(not_plain()))?;
    let list = staged_list(folder, &listed).map_err(failed)?;
    for change in &changes {
        if let FileChange::Replace(file) = change {
            file.temporary.keep_if_process_ends();
        }
    }
    while let Err(error) = publish(&list, folder) {
        match error.kind() {
            // Another switch is under way, or was not finished.
            io::ErrorKind::AlreadyExists => finish_switch(folder)?,
            _ => return Err(failed(error)),
        }
    }
    for change in changes {
        if let FileChange::Replace(file) = change {
            file.temporary.keep();
        }
    }
    carry_out(folder, &listed).map_err(|problem| unfinished(folder, problem))?;
    fs::remove_file(folder.join(LIST)).map_err(failed)
}

fn carry_out_alone(change: FileChange) -> io::Result<()> {
    let folder = folder_of(change.path()).to_owned();
    match change {
        FileChange::Replace(file) => file.temporary.persist(&file.path)?,
        FileChange::Remove(path) => remove(&path)?,
    }
    sync_folder(&folder);
    Ok(())
}

/// The list under a temporary name, with the lock of its writer.
fn staged_list(folder: &Path, changes: &[ListedChange]) -> io::Result<TemporaryFile> {
    let list = TemporaryFile::named_in(folder)?;
    let text: String = changes.iter().map(ListedChange::lines).collect();
    list.file().write_all(text.as_bytes())?;
    list.file().sync_all()?;
    Ok(list)
}

fn carry_out(folder: &Path, changes: &[ListedChange]) -> Result<(), UnfinishedWrite> {
    changes.iter().try_for_each(|change| change.carry_out(folder))?;
    for inner in inner_folders(changes) {
        sync_folder(&folder.join(inner));
    }
    sync_folder(folder);
    Ok(())
}

fn inner_folders(changes: &[ListedChange]) -> BTreeSet<&str> {
    changes.iter().filter_map(ListedChange::inner_folder).collect()
}

/// Makes the list appear, with the lock of its writer; an existing one is an error.
fn publish(list: &TemporaryFile, folder: &Path) -> io::Result<()> {
    let name = list.path().ok_or(io::ErrorKind::NotFound)?;
    fs::hard_link(name, folder.join(LIST))?;
    sync_folder(folder);
    Ok(())
}

/// [`finish_switch`] in the folder of a path.
pub(crate) fn finish_switch_of(path: &Path) -> Result<(), DataError> {
    finish_switch(folder_of(path))
}

/// Carries out the changes of the files of a folder that a killed writer left, or waits for a living
/// writer.
pub(super) fn finish_switch(folder: &Path) -> Result<(), DataError> {
    finish_within(folder, PATIENCE).map_err(|problem| unfinished(folder, problem))?;
    match folder_above(folder) {
        Some((above, name)) if names_folder(&above, &name) => {
            finish_within(&above, PATIENCE).map_err(|problem| unfinished(&above, problem))
        }
        _ => Ok(()),
    }
}

/// Whether a folder has a list that names files of this folder inside. Anything else there does not
/// concern the files of the folder inside: it may be the list of a folder such as `/tmp`.
fn names_folder(above: &Path, name: &str) -> bool {
    let list = open_list(&above.join(LIST), above).ok().flatten();
    let changes = list.and_then(|list| read_list(&list).ok());
    changes.is_some_and(|changes| inner_folders(&changes).contains(name))
}

fn unfinished(folder: &Path, problem: UnfinishedWrite) -> DataError {
    DataError::Unfinished { list: folder.join(LIST).display().to_string(), problem }
}

fn finish_within(folder: &Path, patience: Duration) -> Result<(), UnfinishedWrite> {
    let path = folder.join(LIST);
    let failed = |source| UnfinishedWrite::System { file: LIST.to_owned(), source };
    let Some(list) = open_list(&path, folder)? else { return Ok(()) };
    lock(&list, patience)?;
    if !is_still_at(&list, &path) {
        return Ok(());
    }
    let changes = read_list(&list)?;
    for inner in inner_folders(&changes) {
        check_inner(&list, &folder.join(inner))?;
    }
    carry_out(folder, &changes)?;
    fs::remove_file(path).map_err(failed)
}

fn read_list(list: &File) -> Result<Vec<ListedChange>, UnfinishedWrite> {
    let mut text = String::new();
    // Bytes that are not UTF-8 are an error of this kind, too.
    let read = list.take(MOST_BYTES + 1).read_to_string(&mut text);
    if read.is_err() || text.len() as u64 > MOST_BYTES {
        return Err(UnfinishedWrite::NotAList);
    }
    let lines: Vec<&str> = text.lines().collect();
    let changes: Option<Vec<ListedChange>> = lines.chunks(3).map(ListedChange::parse).collect();
    changes.ok_or(UnfinishedWrite::NotAList)
}

/// Rejects a folder inside that is a link, or in which the owner of the list may not change files. One
/// that is not there any more has lost its files, which is found later.
fn check_inner(list: &File, inner: &Path) -> Result<(), UnfinishedWrite> {
    match (inner.symlink_metadata(), list.metadata()) {
        (Ok(found), _) if !found.is_dir() => Err(UnfinishedWrite::NotAList),
        (Ok(_), Ok(list)) if !is_trusted(&list, inner) => Err(UnfinishedWrite::OtherUser),
        _ => Ok(()),
    }
}

/// Opens the list of a folder, if there is one. Only an ordinary file of somebody who may change the
/// files of the folder is a list: anybody may make a file in a folder such as `/tmp`.
fn open_list(path: &Path, folder: &Path) -> Result<Option<File>, UnfinishedWrite> {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    let failed = |source| UnfinishedWrite::System { file: LIST.to_owned(), source };
    let meta = match path.symlink_metadata() {
        Ok(meta) => meta,
        // Nothing in a folder that cannot be entered can be read or written.
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | PermissionDenied) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if !meta.is_file() {
        return Err(UnfinishedWrite::NotAList);
    }
    if !is_trusted(&meta, folder) {
        return Err(UnfinishedWrite::OtherUser);
    }
    match File::open(path) {
        Ok(list) => Ok(Some(list)),
        Err(error) if error.kind() == NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Whether a list belongs to this user, or to the owner of the folder, who may do all that it says.
#[cfg(unix)]
fn is_trusted(list: &Metadata, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the function takes nothing and always succeeds.
    let this_user = unsafe { libc::geteuid() };
    list.uid() == this_user || folder.metadata().is_ok_and(|meta| meta.uid() == list.uid())
}

#[cfg(not(unix))]
fn is_trusted(_list: &Metadata, _folder: &Path) -> bool {
    true
}

/// Waits until the writer of a list is done or gone; not every file system has locks.
fn lock(list: &File, patience: Duration) -> Result<(), UnfinishedWrite> {
    let begin = Instant::now();
    loop {
        match list.try_lock() {
            Err(TryLockError::WouldBlock) if begin.elapsed() >= patience => {
                return Err(UnfinishedWrite::InUse { seconds: patience.as_secs() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

/// Whether an open file is still the one at this path, and not a later one.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |meta: Metadata| (meta.dev(), meta.ino());
    let (open, there) = (file.metadata().map(identity), path.symlink_metadata().map(identity));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

#[cfg(not(unix))]
fn is_still_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests;
