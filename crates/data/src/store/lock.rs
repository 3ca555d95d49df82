//! Locks of folders that only one process at a time may use.
//!
//! The lock is a lock of the operating system on a file in the folder; the mere existence of the
//! file means nothing. The system releases the lock when the process ends, however it ends, so that
//! the file of a killed process does no harm. The file is removed when the lock is released; a
//! process that gets the lock therefore checks that the file still exists.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::DataError;

/// Number of attempts to lock. A further attempt is needed only if another process releases its
/// lock, and removes the file, between our opening and our locking of the file.
const ATTEMPTS: u32 = 100;

/// A folder that is locked until this is dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
    path: PathBuf,
    /// The folder, if `acquire` created it.
    created_folder: Option<PathBuf>,
}

impl FolderLock {
    /// Locks a folder, which is created if needed, by a file of this name in it; `None` if another
    /// process, or another `FolderLock` of this process, holds the lock. On a file system without
    /// locks, every call succeeds.
    ///
    /// ```
    /// use rankwright_data::store::FolderLock;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// let lock = FolderLock::acquire(folder.path(), "training.lock")?;
    /// assert!(lock.is_some());
    /// assert!(FolderLock::acquire(folder.path(), "training.lock")?.is_none());
    /// drop(lock);
    /// assert!(FolderLock::acquire(folder.path(), "training.lock")?.is_some());
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn acquire(folder: impl AsRef<Path>, name: &str) -> Result<Option<Self>, DataError> {
        let folder = folder.as_ref();
        let failed = |action| move |e| DataError::io(action, folder.display().to_string(), e);
        let created_folder = match folder.is_dir() {
            true => None,
            false => {
                fs::create_dir_all(folder).map_err(failed("make the folder"))?;
                Some(folder.to_owned())
            }
        };
        let path = folder.join(name);
        for _ in 0..ATTEMPTS {
            let mut options = File::options();
            let file = options.create(true).truncate(false).write(true).open(&path);
            let file = file.map_err(failed("write to the folder"))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Ok(()) | Err(TryLockError::Error(_)) if is_at(&file, &path) => {
                    return Ok(Some(FolderLock { _file: file, path, created_folder }));
                }
                // Another process has released its lock and removed the file.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
        }
        Err(failed("lock")(io::ErrorKind::ResourceBusy.into()))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Errors in `drop` cannot be reported; a file that stays is no obstacle.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = &self.created_folder {
            // Only an empty folder is removed.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Whether the path still leads to this open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |meta: fs::Metadata| (meta.dev(), meta.ino());
    match (file.metadata(), path.metadata()) {
        (Ok(own), Ok(there)) => id(own) == id(there),
        _ => false,
    }
}

/// Other systems do not remove a file that is open.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_of_a_killed_process_is_ignored_and_nothing_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("checkpoint");
        let lock = FolderLock::acquire(&folder, "lock").unwrap();
        assert!(folder.join("lock").exists());
        assert!(FolderLock::acquire(&folder, "lock").unwrap().is_none());
        drop(lock);
        assert!(!folder.exists());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("lock"), "of a killed process").unwrap();
        drop(FolderLock::acquire(&folder, "lock").unwrap().unwrap());
        assert!(folder.is_dir() && !folder.join("lock").exists());
    }

    #[test]
    fn one_thread_at_a_time_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let holders = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(_lock) = FolderLock::acquire(folder.path(), "lock").unwrap()
                        else {
                            continue;
                        };
                        use std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(holders.fetch_add(1, SeqCst), 0);
                        assert_eq!(holders.fetch_sub(1, SeqCst), 1);
                    }
                });
            }
        });
    }
}
