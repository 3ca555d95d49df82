//! A temporary file in the folder of its target: it is renamed to the target at the end, or
//! removed.
//!
//! On Linux, with most file systems, the file has no name until it is complete, so that a killed
//! writer leaves nothing behind. Elsewhere it is named `.rankwright-PROCESS-NUMBER` and locked
//! while its process lives: the next writer in the folder removes temporary files that are not
//! locked.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::switch::is_list_near;

/// The beginning of the names of temporary files.
const PREFIX: &str = ".rankwright-";

/// Number of names that are tried. A name is in use only if another process has the same process
/// id, on another machine or in another container.
const MAX_NAMES: u32 = 100;

/// A file that is removed on drop unless it gets its final name.
pub(crate) struct TemporaryFile {
    file: File,
    folder: PathBuf,
    /// The temporary name; `None` while the file has no name, and once it has its final name.
    path: Option<PathBuf>,
}

impl TemporaryFile {
    /// Makes a file in a folder, without a name where that is possible.
    pub(crate) fn new_in(folder: &Path) -> io::Result<TemporaryFile> {
        match unnamed(folder) {
            Some(file) => Ok(TemporaryFile { file, folder: folder.to_owned(), path: None }),
            None => Self::named_in(folder),
        }
    }

    /// Makes a file with a temporary name.
    pub(crate) fn named_in(folder: &Path) -> io::Result<TemporaryFile> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        let (file, path) = with_fresh_name(folder, |path| {
            let file = options.open(path)?;
            lock(&file)?;
            // Before it was locked, another writer may have removed it as abandoned.
            match path.exists() {
                true => Ok(file),
                false => Err(io::ErrorKind::AlreadyExists.into()),
            }
        })?;
        named_files().insert(path.clone());
        Ok(TemporaryFile { file, folder: folder.to_owned(), path: Some(path) })
    }

    /// From now on, [`discard_unfinished`] does not remove the file: a list of changes is about to
    /// name it, and another process can then rename it.
    pub(crate) fn keep_if_process_ends(&self) {
        if let Some(path) = &self.path {
            named_files().remove(path);
        }
    }

    /// Leaves the file under its temporary name: a list of changes names it, and it is renamed when
    /// that list is carried out, by this process or another.
    pub(crate) fn keep(mut self) {
        self.keep_if_process_ends();
        self.path = None;
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The temporary name, if it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Gives the file its final name; an existing file of that name is replaced.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<()> {
        let name = match self.path.clone() {
            Some(path) => path,
            None => {
                lock(&self.file)?;
                let file = &self.file;
                let name = with_fresh_name(&self.folder, |path| link_unnamed(file, path))?.1;
                named_files().insert(name.clone());
                name
            }
        };
        self.path = Some(name.clone());
        fs::rename(&name, target)?;
        self.path = None;
        named_files().remove(&name);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // An error in `drop` cannot be reported.
            let _ = fs::remove_file(path);
            named_files().remove(path);
        }
    }
}

/// The names of the temporary files of this process that have one.
fn named_files() -> MutexGuard<'static, HashSet<PathBuf>> {
    static NAMED_FILES: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    NAMED_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of this process. For a program that is about to end while other
/// threads may still write: after this call, no thread of this process can finish a file.
pub fn discard_unfinished() {
    let mut files = named_files();
    for path in files.drain() {
        // The process ends, whether this succeeds or not.
        let _ = fs::remove_file(path);
    }
    // The mutex stays locked for ever: other threads wait for it before they name a file.
    std::mem::forget(files);
}

/// Calls `make` with new names until it finds one that no file has; returns its result and the
/// name.
fn with_fresh_name<T>(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut last_error = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..MAX_NAMES {
        let (process, number) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!("{PREFIX}{process}-{number}"));
        match make(&path) {
            Ok(made) => return Ok((made, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last_error = error,
            Err(error) => return Err(error),
        }
    }
    Err(last_error)
}

/// Locks a new file for as long as this process has it open; does nothing on file systems without
/// locks.
fn lock(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(()),
    }
}

/// Removes temporary files whose process has ended, except those that an unfinished switch (see
/// `switch.rs`) may name. Each process does this only once for each folder.
pub(crate) fn remove_abandoned(folder: &Path) {
    static CLEANED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let Ok(folder) = folder.canonicalize() else { return };
    if CLEANED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone()) {
        remove_abandoned_in(&folder);
    }
}

/// Like `remove_abandoned`, whether or not this process has done it before.
fn remove_abandoned_in(folder: &Path) {
    let is_ours = |entry: &fs::DirEntry| {
        // Only ordinary files: opening a pipe of that name would wait for its writer.
        is_temporary_name(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_ours) {
        let Ok(file) = File::open(entry.path()) else { continue };
        // If we get the lock, the process of the writer has ended; after an error we do not know.
        // That process publishes no list any more, so if there is no list now, none will name the
        // file.
        let is_held =
            matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)));
        if !is_held && !is_list_near(folder) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether this is the name of a temporary file: `.rankwright-PROCESS-NUMBER`.
pub fn is_temporary_name(name: &std::ffi::OsStr) -> bool {
    let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// A file without a name; `None` if the system or the file system does not support it.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // `link_unnamed` needs this folder.
    if !Path::new("/proc/self/fd").exists() {
        return None;
    }
    let mut options = File::options();
    options.read(true).write(true).mode(0o666).custom_flags(libc::O_TMPFILE);
    options.open(folder).ok()
}

/// Gives a file without a name its first name, as the manual page open(2) describes for
/// `O_TMPFILE`.
#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (current_folder, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both names end in NUL and live until the call returns; nothing else is passed.
    let result =
        unsafe { libc::linkat(current_folder, from.as_ptr(), current_folder, to.as_ptr(), follow) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link_unnamed(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_gets_its_final_name_or_is_removed() {
        for make in [TemporaryFile::new_in, TemporaryFile::named_in] {
            let folder = tempfile::tempdir().unwrap();
            let (first, second) = (make(folder.path()).unwrap(), make(folder.path()).unwrap());
            drop(second);
            let target = folder.path().join("a");
            fs::write(&target, "old").unwrap();
            first.persist(&target).unwrap();
            assert_eq!((count_files(folder.path()), fs::read(&target).unwrap().len()), (1, 0));
        }
    }

    #[test]
    fn files_of_dead_writers_are_removed_and_those_of_living_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".rankwright-1-2", ".rankwright-notes", ".rankwright-1-x", "data"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let living = TemporaryFile::named_in(folder.path()).unwrap();
        remove_abandoned_in(folder.path());
        assert!(!folder.path().join(".rankwright-1-2").exists());
        assert!(living.path().unwrap().exists());
        assert_eq!(count_files(folder.path()), 4);
    }

    #[test]
    fn files_that_an_unfinished_switch_may_name_stay() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".rankwright-1-2", ".rankwright-switch"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        remove_abandoned_in(folder.path());
        assert_eq!(count_files(folder.path()), 2);
    }

    /// Opening a pipe without a writer would wait for ever.
    #[cfg(unix)]
    #[test]
    fn a_pipe_with_the_name_of_a_temporary_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join(".rankwright-1-2");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        remove_abandoned_in(folder.path());
        assert!(pipe.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(TemporaryFile::new_in(&folder.path().join("none")).is_err());
    }
}
