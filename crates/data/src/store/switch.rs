//! A switch: several files that are replaced (or removed) together, although a process can be
//! killed between two renames.
//!
//! First, all new files are written completely, under temporary names. Then a list of the changes,
//! a journal, appears in the folder as `.rankwright-switch`, in one step: from then on the new
//! files count. The files are renamed, and the list is removed. A process that finds a list whose
//! writer has ended carries out the listed changes before it reads or writes in that folder
//! ([`finish_switch`]), so that no reader of this library sees old and new files side by side. A
//! list that cannot be carried out stays, and so do its temporary files: every reader reports it.
//!
//! Files in several subfolders of one folder (the folds of a split), or in a folder and its
//! subfolders (the report of an experiment and its plots), have one list in that folder. A reader
//! therefore looks for a list in the folder of its file and in the parent folder; a list in the
//! parent counts only if it names the folder of the file.
//!
//! `change_list.rs` defines the lines of a list. Since a reader carries out the changes that it
//! finds, a list is accepted only if it belongs to this user or to the owner of the folder, names
//! only files of its folder and of subfolders that are not links, and removes only feature sets,
//! since a switch removes no other files.

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

/// The file name of the list of changes in a folder.
const LIST: &str = ".rankwright-switch";

/// The longest wait for a living writer to finish, which usually takes milliseconds.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// The largest size of a list; the list of a split of 10,000 parts is smaller.
const MAX_LIST_BYTES: u64 = 4 << 20;

/// Whether a folder or its parent has a list of changes, which may name files of the folder.
pub(super) fn is_list_near(folder: &Path) -> bool {
    let has_list = |folder: &Path| folder.join(LIST).symlink_metadata().is_ok();
    has_list(folder) || parent_and_name(folder).is_some_and(|(parent, _)| has_list(&parent))
}

/// The parent of a folder, without links, and the name of the folder there.
fn parent_and_name(folder: &Path) -> Option<(PathBuf, String)> {
    let folder = folder.canonicalize().ok()?;
    Some((folder.parent()?.to_owned(), folder.file_name()?.to_str()?.to_owned()))
}

/// The folder of the list for changes in these folders: the only folder, or one that each of them
/// is or is in. `None` if there is no such folder.
pub(super) fn common_folder(folders: &[PathBuf]) -> Option<PathBuf> {
    let (first, others) = folders.split_first()?;
    if others.is_empty() {
        return Some(first.clone());
    }
    let real: Vec<PathBuf> =
        folders.iter().map(|folder| folder.canonicalize().ok()).collect::<Option<_>>()?;
    let first = real.first()?;
    let holds_all = |candidate: &&Path| {
        real.iter().all(|folder| folder == candidate || folder.parent() == Some(candidate))
    };
    let candidates = [Some(first.as_path()), first.parent()];
    candidates.into_iter().flatten().find(holds_all).map(Path::to_owned)
}

/// Carries out changes in one folder, or in its subfolders, all or none. If the system refuses one
/// of them, the next reader tries again. Of several changes, a removal must be that of a feature
/// set, since [`ListedChange::parse`] accepts no other.
pub(super) fn switch_together(
    folder: &Path,
    mut changes: Vec<FileChange>,
) -> Result<(), DataError> {
    let failed = |e| DataError::io("write to", folder.display().to_string(), e);
    if changes.len() > 1 && changes.iter().any(|change| !ListedChange::can_be_listed(change)) {
        let invariant = "a file that is removed together with other changes is a feature set";
        return Err(DataError::Internal { invariant });
    }
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    changes.retain(|change| matches!(change, FileChange::Replace(_)) || is_there(change.path()));
    if changes.len() < 2 {
        return changes.into_iter().try_for_each(carry_out_without_list).map_err(failed);
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
            // Another process is in the middle of a switch, or did not finish one.
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

/// Carries out a single change, which is atomic by itself.
fn carry_out_without_list(change: FileChange) -> io::Result<()> {
    let folder = folder_of(change.path()).to_owned();
    match change {
        FileChange::Replace(file) => file.temporary.persist(&file.path)?,
        FileChange::Remove(path) => remove(&path)?,
    }
    sync_folder(&folder);
    Ok(())
}

/// Writes the list under a temporary name; it is locked while this process is alive.
fn staged_list(folder: &Path, changes: &[ListedChange]) -> io::Result<TemporaryFile> {
    let list = TemporaryFile::named_in(folder)?;
    let text: String = changes.iter().map(ListedChange::lines).collect();
    list.file().write_all(text.as_bytes())?;
    list.file().sync_all()?;
    Ok(list)
}

fn carry_out(folder: &Path, changes: &[ListedChange]) -> Result<(), UnfinishedWrite> {
    changes.iter().try_for_each(|change| change.carry_out(folder))?;
    for subfolder in subfolders(changes) {
        sync_folder(&folder.join(subfolder));
    }
    sync_folder(folder);
    Ok(())
}

fn subfolders(changes: &[ListedChange]) -> BTreeSet<&str> {
    changes.iter().filter_map(ListedChange::subfolder).collect()
}

/// Gives the list its final name; an error if the folder has a list already.
fn publish(list: &TemporaryFile, folder: &Path) -> io::Result<()> {
    let name = list.path().ok_or(io::ErrorKind::NotFound)?;
    fs::hard_link(name, folder.join(LIST))?;
    sync_folder(folder);
    Ok(())
}

/// Before a file is read: finishes an interrupted write of several files in its folder
/// ([`finish_switch`]).
pub(crate) fn finish_interrupted_write(path: &Path) -> Result<(), DataError> {
    finish_switch(folder_of(path))
}

/// Carries out the changes in a folder that a killed writer has listed, or waits for a living
/// writer.
pub(super) fn finish_switch(folder: &Path) -> Result<(), DataError> {
    finish_within(folder, MAX_WAIT).map_err(|problem| unfinished(folder, problem))?;
    match parent_and_name(folder) {
        Some((parent, name)) if lists_subfolder(&parent, &name) => {
            finish_within(&parent, MAX_WAIT).map_err(|problem| unfinished(&parent, problem))
        }
        _ => Ok(()),
    }
}

/// Whether a folder has a list that names files of the subfolder `name`. Any other list there, or a
/// file that only looks like a list (in a folder such as `/tmp`), does not concern the subfolder.
fn lists_subfolder(parent: &Path, name: &str) -> bool {
    let list = open_list(&parent.join(LIST), parent).ok().flatten();
    let changes = list.and_then(|list| read_list(&list).ok());
    changes.is_some_and(|changes| subfolders(&changes).contains(name))
}

fn unfinished(folder: &Path, problem: UnfinishedWrite) -> DataError {
    DataError::Unfinished { list: folder.join(LIST).display().to_string(), problem }
}

/// Carries out the list of a folder, if it has one; waits at most `max_wait` for a living writer.
fn finish_within(folder: &Path, max_wait: Duration) -> Result<(), UnfinishedWrite> {
    let path = folder.join(LIST);
    let failed = |source| UnfinishedWrite::System { file: LIST.to_owned(), source };
    let Some(list) = open_list(&path, folder)? else { return Ok(()) };
    lock(&list, max_wait)?;
    if !is_still_at(&list, &path) {
        return Ok(());
    }
    let changes = read_list(&list)?;
    for subfolder in subfolders(&changes) {
        check_subfolder(&list, &folder.join(subfolder))?;
    }
    carry_out(folder, &changes)?;
    fs::remove_file(path).map_err(failed)
}

fn read_list(list: &File) -> Result<Vec<ListedChange>, UnfinishedWrite> {
    let mut text = String::new();
    // `read_to_string` also fails on bytes that are not UTF-8.
    let read = list.take(MAX_LIST_BYTES + 1).read_to_string(&mut text);
    if read.is_err() || text.len() as u64 > MAX_LIST_BYTES {
        return Err(UnfinishedWrite::NotAList);
    }
    let lines: Vec<&str> = text.lines().collect();
    let changes: Option<Vec<ListedChange>> = lines.chunks(3).map(ListedChange::parse).collect();
    changes.ok_or(UnfinishedWrite::NotAList)
}

/// Rejects a subfolder that is a link, or in which the owner of the list may not change files. If
/// the subfolder does not exist any more, `carry_out` reports its files as missing.
fn check_subfolder(list: &File, subfolder: &Path) -> Result<(), UnfinishedWrite> {
    match (subfolder.symlink_metadata(), list.metadata()) {
        (Ok(found), _) if !found.is_dir() => Err(UnfinishedWrite::NotAList),
        (Ok(_), Ok(list)) if !is_trusted(&list, subfolder) => Err(UnfinishedWrite::OtherUser),
        _ => Ok(()),
    }
}

/// Opens the list of a folder, if there is one. It must be an ordinary file of a user who may
/// change the files of the folder, since anybody may create a file in a folder such as `/tmp`.
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

/// Whether a list belongs to this user or to the owner of the folder, who may change all its files.
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

/// Locks a list: waits until its writer is done or its process has ended. On a file system without
/// locks there is no wait.
fn lock(list: &File, max_wait: Duration) -> Result<(), UnfinishedWrite> {
    let begin = Instant::now();
    loop {
        match list.try_lock() {
            Err(TryLockError::WouldBlock) if begin.elapsed() >= max_wait => {
                return Err(UnfinishedWrite::InUse { seconds: max_wait.as_secs() });
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
}

/// Whether the file at this path is still the open file, and not a later file of the same name.
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
