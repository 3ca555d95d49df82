//! A new file beside its target: renamed over it at the end, or removed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of names that are tried; a name exists only if another process has the same number.
const TRIES: u32 = 100;

/// A file that only its owner can read, deleted on drop unless it is persisted.
pub(crate) struct TemporaryFile {
    file: File,
    /// `None` once the file has its final name.
    path: Option<PathBuf>,
}

impl TemporaryFile {
    /// Makes a file in a folder, under a name that starts with `.rankwright-`.
    pub(crate) fn new_in(folder: &Path) -> io::Result<TemporaryFile> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let (process, number) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
            let path = folder.join(format!(".rankwright-{process}-{number}"));
            match private().open(&path) {
                Ok(file) => return Ok(TemporaryFile { file, path: Some(path) }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its final name, and replaces a file that has it.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
            self.path = None;
        }
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // An error in `drop` cannot be reported.
            let _ = fs::remove_file(path);
        }
    }
}

/// Options that create a new file that only its owner can read.
fn private() -> fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_persisted_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) =
            (TemporaryFile::new_in(folder.path()), TemporaryFile::new_in(folder.path()));
        assert_eq!(count(folder.path()), 2);
        drop(second.unwrap());
        let target = folder.path().join("a");
        fs::write(&target, "old").unwrap();
        first.unwrap().persist(&target).unwrap();
        assert_eq!((count(folder.path()), fs::read(&target).unwrap().len()), (1, 0));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(TemporaryFile::new_in(&folder.path().join("none")).is_err());
    }
}
