//! The folder of a generation (see `meta.rs`) as tantivy accesses it, for reading or for writing.
//!
//! Reading takes no lock of tantivy and writes nothing, so that an index on a read-only disk can be
//! searched. A reader holds a shared lock on the file `readers.lock` where the system allows it;
//! a build removes an old generation only if no reader holds such a lock.
//!
//! While files are written, the first error of the operating system is recorded: tantivy writes on
//! threads of its own, and reports only that one of them ended. Files that are replaced as a whole
//! (`meta.json`) are written by the data crate, so that they have the same permissions as the
//! others.

use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rankwright_data::{DataError, store};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

use super::lock;
use crate::error::{SearchError, copy_io_error};

/// The file of a generation that its readers lock.
const READERS_LOCK: &str = "readers.lock";

/// Creates the file that readers lock.
pub(super) fn create_reader_lock(generation: &Path) -> io::Result<()> {
    File::create(generation.join(READERS_LOCK)).map(drop)
}

/// Locks a generation for a reader until the returned file is dropped. `None` if that is not
/// possible: the generation may then be removed while it is read.
pub(super) fn lock_for_reading(generation: &Path) -> Option<File> {
    let file = File::open(generation.join(READERS_LOCK)).ok()?;
    file.try_lock_shared().is_ok().then_some(file)
}

/// Removes a generation that is not in use. If a process still reads it, it stays until the next
/// build.
pub(super) fn remove_generation(generation: &Path) {
    let readers = File::open(generation.join(READERS_LOCK));
    let is_read = |file: &File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    if !readers.as_ref().is_ok_and(is_read) {
        let _ = std::fs::remove_dir_all(generation);
    }
}

/// The folder of a generation that is only read.
#[derive(Debug, Clone)]
pub(super) struct ReadDirectory(MmapDirectory);

impl ReadDirectory {
    pub(super) fn open(generation: &Path) -> tantivy::Result<Self> {
        Ok(Self(MmapDirectory::open(generation)?))
    }
}

/// The error of every attempt to write.
fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the index was opened for reading")
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only()), filepath: path.into() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(), path.into()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(read_only())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// A lock that locks nothing: a reader whose files are removed meanwhile opens the index again.
    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

/// The first error of the operating system while files were written.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteFailure(Arc<Mutex<Option<io::Error>>>);

impl WriteFailure {
    fn record<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.keep(error))
    }

    fn keep(&self, error: &io::Error) {
        lock(&self.0).get_or_insert_with(|| copy_io_error(error));
    }

    /// The error to report when tantivy fails with `error`: the recorded error of the operating
    /// system if there is one.
    pub(super) fn explain(&self, path: &Path, error: &tantivy::TantivyError) -> SearchError {
        match &*lock(&self.0) {
            Some(system) => SearchError::access(path, copy_io_error(system)),
            None => SearchError::tantivy(path, error),
        }
    }
}

/// The folder of a generation that is written.
#[derive(Debug, Clone)]
struct WriteDirectory {
    folder: MmapDirectory,
    path: PathBuf,
    failure: WriteFailure,
}

impl Directory for WriteDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.folder.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.folder.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.folder.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        // Tantivy gives new files new names. If a file has such a name, its writer was killed
        // before it committed.
        let is_leftover = |error: &OpenWriteError| {
            matches!(error, OpenWriteError::FileAlreadyExists(_))
                && self.folder.delete(path).is_ok()
        };
        let opened = match self.folder.open_write(path) {
            Err(error) if is_leftover(&error) => self.folder.open_write(path),
            opened => opened,
        };
        let opened = opened.inspect_err(|error| match error {
            OpenWriteError::IoError { io_error, .. } => self.failure.keep(io_error),
            OpenWriteError::FileAlreadyExists(_) => {}
        });
        // Takes the file out of its empty buffer, and puts a recorder of errors between the two.
        let writer = opened?
            .into_inner()
            .map_err(|error| OpenWriteError::wrap_io_error(error.into_error(), path.to_owned()))?;
        Ok(BufWriter::new(Box::new(RecordedWriter { writer, failure: self.failure.clone() })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.folder.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        // Tantivy's own function would make a file that only its owner can read.
        let written = store::write_atomic(self.path.join(path), |out| out.write_all(data));
        self.failure.record(written.map_err(system_error))
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.failure.record(self.folder.sync_directory())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        self.folder.acquire_lock(lock).inspect_err(|error| match error {
            LockError::IoError(error) => self.failure.keep(error),
            LockError::LockBusy => {}
        })
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.folder.watch(callback)
    }
}

/// The error of the operating system inside an error of the data crate.
fn system_error(error: DataError) -> io::Error {
    match error {
        DataError::Io { source, .. } => source,
        other => io::Error::other(other),
    }
}

/// A writer whose first error is recorded.
struct RecordedWriter {
    writer: Box<dyn TerminatingWrite + Send + Sync>,
    failure: WriteFailure,
}

impl Write for RecordedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.failure.record(self.writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.failure.record(self.writer.flush())
    }
}

impl TerminatingWrite for RecordedWriter {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        self.failure.record(self.writer.terminate_ref(token))
    }
}

/// A tantivy index that is written, in a folder or in memory.
#[derive(Debug, Clone)]
pub(super) struct WritableIndex {
    /// Tantivy's index.
    pub(super) index: tantivy::Index,
    /// The first error of the operating system.
    pub(super) failure: WriteFailure,
    /// The folder of the whole index, or `in memory`, for error messages.
    pub(super) path: PathBuf,
}

impl WritableIndex {
    /// Opens or creates the index of a generation; `path` is the folder of the whole index.
    pub(super) fn open(
        path: &Path,
        generation: &Path,
        open: impl FnOnce(Box<dyn Directory>) -> tantivy::Result<tantivy::Index>,
    ) -> Result<Self, SearchError> {
        let failure = WriteFailure::default();
        let failed = |error: tantivy::TantivyError| failure.explain(path, &error);
        let folder = MmapDirectory::open(generation).map_err(|error| failed(error.into()))?;
        let directory =
            WriteDirectory { folder, path: generation.to_owned(), failure: failure.clone() };
        let index = open(Box::new(directory)).map_err(failed)?;
        Ok(Self { index, failure, path: path.to_owned() })
    }

    /// An index in memory.
    pub(super) fn in_memory(index: tantivy::Index, path: &Path) -> Self {
        Self { index, failure: WriteFailure::default(), path: path.to_owned() }
    }

    /// The error to report when tantivy fails with `error` while writing.
    pub(super) fn write_error(&self, error: &tantivy::TantivyError) -> SearchError {
        self.failure.explain(&self.path, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_opened_for_reading_refuses_every_write() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "x").unwrap();
        let directory = ReadDirectory::open(folder.path()).unwrap();
        let file = Path::new("a");
        assert!(directory.open_write(Path::new("b")).is_err());
        assert!(directory.atomic_write(file, b"y").is_err());
        assert!(directory.delete(file).is_err());
        directory.acquire_lock(&tantivy::directory::META_LOCK).unwrap();
        assert_eq!(directory.atomic_read(file).unwrap(), b"x");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_of_a_killed_writer_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        std::fs::write(path.join("a.3.del"), "half of it").unwrap();
        let directory = WriteDirectory {
            folder: MmapDirectory::open(&path).unwrap(),
            path: path.clone(),
            failure: WriteFailure::default(),
        };
        let mut writer = directory.open_write(Path::new("a.3.del")).unwrap();
        writer.write_all(b"new").unwrap();
        writer.flush().unwrap();
        assert_eq!(std::fs::read(path.join("a.3.del")).unwrap(), b"new");
    }

    #[test]
    fn the_first_error_of_the_system_explains_what_tantivy_reports() {
        let failure = WriteFailure::default();
        let killed = tantivy::TantivyError::ErrorInThread("index writer was killed".into());
        let path = Path::new("shop");
        assert!(failure.explain(path, &killed).to_string().contains("was killed"));
        // Linux: 28 is ENOSPC (no space left), 5 is EIO.
        for code in [28, 5] {
            let _ = failure.record(Err::<(), _>(io::Error::from_raw_os_error(code)));
        }
        let error = failure.explain(path, &killed);
        let SearchError::IndexAccess { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.raw_os_error(), Some(28));
        let message = error.to_string();
        assert!(message.starts_with("cannot access the index shop: No space left"), "{message}");
    }
}
