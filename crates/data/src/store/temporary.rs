//! A new file beside its target: renamed over it at the end, or gone.
//!
//! Where the system can (Linux, most file systems), the file has no name until it is complete, so
//! that a killed writer leaves nothing behind. Otherwise it is named `.rankwright-PROCESS-NUMBER`
//! and locked while its writer lives: the next writer in the folder removes those that nobody holds.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::switch::is_list_there;

/// The beginning of the names of temporary files.
const PREFIX: &str = ".rankwright-";

/// Number of names that are tried; a name exists only if another process has the same number.
const TRIES: u32 = 100;

/// A file that is removed on drop unless it gets its final name.
pub(crate) struct TemporaryFile {
    file: File,
    folder: PathBuf,
    /// `None` while the file has no name, and once it has its final one.
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
            // Another writer may have taken it for abandoned before it was locked.
            match path.exists() {
                true => Ok(file),
                false => Err(io::ErrorKind::AlreadyExists.into()),
            }
        })?;
        unfinished().insert(path.clone());
        Ok(TemporaryFile { file, folder: folder.to_owned(), path: Some(path) })
    }

    /// The file stays where it is if the process ends early: a list of renames names it.
    pub(crate) fn keep_if_process_ends(&self) {
        if let Some(path) = &self.path {
            unfinished().remove(path);
        }
    }

    /// Leaves the file where it is, for whoever carries out the list of renames that names it.
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

    /// Gives the file its final name, and replaces a file that has it.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<()> {
        let name = match self.path.clone() {
            Some(path) => path,
            None => {
                lock(&self.file)?;
                let file = &self.file;
                let name = with_fresh_name(&self.folder, |path| link_unnamed(file, path))?.1;
                unfinished().insert(name.clone());
                name
            }
        };
        self.path = Some(name.clone());
        fs::rename(&name, target)?;
        self.path = None;
        unfinished().remove(&name);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // An error in `drop` cannot be reported.
            let _ = fs::remove_file(path);
            unfinished().remove(path);
        }
    }
}

/// The temporary files of this process that have a name.
fn unfinished() -> MutexGuard<'static, HashSet<PathBuf>> {
    static UNFINISHED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of this process. For a program that is about to end at once, while
/// other threads may still write: they can finish no further file.
pub fn discard_unfinished() {
    let mut files = unfinished();
    for path in files.drain() {
        // The process ends, whether this succeeds or not.
        let _ = fs::remove_file(path);
    }
    // No other thread makes a further file from here on.
    std::mem::forget(files);
}

/// Calls `make` with new names until one is free.
fn with_fresh_name<T>(
    folder: &Path,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..TRIES {
        let (process, number) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!("{PREFIX}{process}-{number}"));
        match make(&path) {
            Ok(made) => return Ok((made, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Locks a new file for as long as this process has it open; not every file system can.
fn lock(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
        _ => Ok(()),
    }
}

/// Removes temporary files whose writer is gone, once a process for each folder. Those that an
/// unfinished switch names stay.
pub(crate) fn remove_abandoned(folder: &Path) {
    static SEEN: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);
    let Ok(folder) = folder.canonicalize() else { return };
    if SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone()) {
        remove_abandoned_in(&folder);
    }
}

fn remove_abandoned_in(folder: &Path) {
    let is_ours = |entry: &fs::DirEntry| {
        // A pipe of that name could not be opened without waiting.
        is_temporary_name(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_ours) {
        let Ok(file) = File::open(entry.path()) else { continue };
        // Whoever gets the lock knows that the writer is gone; an error says nothing. A writer that
        // is gone publishes no list any more, so a list that is not there now does not name the file.
        let is_held =
            matches!(file.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_)));
        if !is_held && !is_list_there(folder) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a name is one of temporary files: the prefix, and two numbers.
pub fn is_temporary_name(name: &std::ffi::OsStr) -> bool {
    let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// A file without a name; `None` if the system or the file system has none.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // Its name is given later through this folder.
    if !Path::new("/proc/self/fd").exists() {
        return None;
    }
    let mut options = File::options();
    options.read(true).write(true).mode(0o666).custom_flags(libc::O_TMPFILE);
    options.open(folder).ok()
}

/// Gives a file without a name its first name.
#[cfg(target_os = "linux")]
fn link_unnamed(file: &File, path: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both names end in NUL and live until the call returns; nothing else is passed.
    match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
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

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_gets_its_name_or_is_gone() {
        for make in [TemporaryFile::new_in, TemporaryFile::named_in] {
            let folder = tempfile::tempdir().unwrap();
            let (first, second) = (make(folder.path()).unwrap(), make(folder.path()).unwrap());
            drop(second);
            let target = folder.path().join("a");
            fs::write(&target, "old").unwrap();
            first.persist(&target).unwrap();
            assert_eq!((count(folder.path()), fs::read(&target).unwrap().len()), (1, 0));
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
        assert_eq!(count(folder.path()), 4);
    }

    #[test]
    fn files_that_an_unfinished_switch_may_name_stay() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".rankwright-1-2", ".rankwright-switch"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        remove_abandoned_in(folder.path());
        assert_eq!(count(folder.path()), 2);
    }

    /// A pipe without a writer: whoever opens it waits.
    #[cfg(unix)]
    #[test]
    fn a_pipe_with_the_name_of_a_temporary_file_is_no_obstacle() {
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
