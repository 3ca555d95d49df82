//! Atomic writes: a reader sees the old file or the whole new one, never a part.
//!
//! The content goes to a temporary file in the same folder (`temporary.rs`), is synced, and then
//! renamed over the target; the folder is synced last. A write that fails (disk full, a writer's
//! error) leaves the old file unchanged and removes the temporary one. Several files that belong
//! together are replaced together (`switch.rs`); if that is interrupted, the next read or write in
//! the folder finishes it first. Symbolic links are followed, so that the link stays and the file
//! that it leads to is replaced; a target that is no ordinary file (a pipe, `/dev/null`) is written
//! to directly (`target.rs`); `-` is standard output in programs that allow it. Targets whose names
//! end in `.gz` or `.zst` are compressed. `lock.rs` locks folders, `scratch.rs` has files of
//! records that do not fit into memory.

mod change_list;
mod digest;
mod identity;
mod lock;
mod overwrite;
mod scratch;
mod switch;
mod target;
mod temporary;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::DataError;
use digest::{DigestWriter, FileDigest};
pub use identity::is_same_file;
pub use lock::FolderLock;
pub use overwrite::{Overwritten, overwritten};
pub use scratch::{ScratchFile, ScratchReader};
pub(crate) use switch::finish_interrupted_write;
use target::{WriteTarget, folder_of};
use temporary::{TemporaryFile, remove_abandoned};
pub use temporary::{discard_unfinished, is_temporary_name};

/// A function that writes the content of a file.
pub type WriteBody<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a>;

/// Writes a file atomically with the bytes that `write_body` writes.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// let path = dir.path().join("scores.txt");
/// rankwright_data::store::write_atomic(&path, |out| writeln!(out, "1.5"))?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "1.5\n");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn write_atomic(
    path: impl AsRef<Path>,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let path = path.as_ref();
    let failed = |e| DataError::io("write", path.display().to_string(), e);
    match WriteTarget::of(path).map_err(failed)? {
        WriteTarget::Ordinary(target) => {
            prepare(folder_of(&target))?;
            let staged = StagedFile::write(target, write_body, TemporaryFile::new_in);
            staged.and_then(StagedFile::persist).map_err(failed)
        }
        WriteTarget::StandardOutput => write_to_stdout(path, write_body).map_err(failed),
        WriteTarget::Special(special) => {
            write_to_special(path, &special, write_body).map_err(failed)
        }
    }
}

/// Writes a file atomically with a body that can fail for reasons of its own; its result is
/// returned. If the body fails, no file is written. An error of the output itself is a
/// [`DataError`] with the path, whatever the body made of it.
///
/// ```
/// use rankwright_data::{DataError, store::write_atomic_with};
///
/// # let dir = tempfile::tempdir().unwrap();
/// let path = dir.path().join("scores.txt");
/// let error = write_atomic_with(&path, |_| Err::<(), _>(DataError::NoInput)).unwrap_err();
/// assert_eq!(error.kind(), "no-input");
/// assert!(!path.exists());
/// ```
pub fn write_atomic_with<T, E: From<DataError>>(
    path: impl AsRef<Path>,
    body: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    let mut result = None;
    let mut is_output_error = false;
    let written = write_atomic(path, |out| {
        let mut output = WatchedOutput { out, error: None };
        let found = body(&mut output);
        let error = match (&found, output.error) {
            (_, Some(error)) => {
                is_output_error = true;
                Some(error)
            }
            (Err(_), None) => Some(io::ErrorKind::Other.into()),
            (Ok(_), None) => None,
        };
        result = Some(found);
        error.map_or(Ok(()), Err)
    });
    match (result, written) {
        (Some(Err(error)), Err(_)) if !is_output_error => Err(error),
        (_, Err(error)) => Err(error.into()),
        // The result of the body may be an error although the write succeeded: if the reader of
        // standard output has closed the pipe, that is no failure of the write.
        (Some(result), Ok(())) => result,
        (None, Ok(())) => Err(DataError::Internal { invariant: BODY_RUNS }.into()),
    }
}

/// The invariant of [`write_atomic_with`].
const BODY_RUNS: &str = "the body of a written file has run";

/// An output that keeps its first error.
struct WatchedOutput<'a> {
    out: &'a mut dyn Write,
    error: Option<io::Error>,
}

impl WatchedOutput<'_> {
    /// The same result; keeps its error if it is the first.
    fn watched<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            // Callers repeat an interrupted call.
            if kind != io::ErrorKind::Interrupted && self.error.is_none() {
                self.error = Some(error);
            }
            kind.into()
        })
    }
}

impl Write for WatchedOutput<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.watched(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.watched(result)
    }
}

fn write_to_stdout(
    path: &Path,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = PipeWriter { out: io::stdout().lock(), is_closed: false };
    let written = write_compressed(path, &mut BufWriter::new(&mut out), write_body);
    match out.is_closed {
        // The reader has closed the pipe (`... | head`); that is no failure.
        true => Ok(()),
        false => written,
    }
}

/// A writer that remembers that the reader at the other end of a pipe has closed it: writers of
/// tables hide the kind of the error in errors of their own.
struct PipeWriter<W> {
    out: W,
    is_closed: bool,
}

impl<W> PipeWriter<W> {
    /// The same result; remembers whether it says that the pipe is closed.
    fn noted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.is_closed |= matches!(&result, Err(e) if e.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for PipeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noted(flushed)
    }
}

/// Writes to a pipe, a device or an open descriptor.
fn write_to_special(
    path: &Path,
    special: &Path,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = File::options().append(true).open(special)?;
    write_compressed(path, &mut BufWriter::new(file), write_body)
}

/// Prepares a folder for a write: finishes an interrupted switch (see `switch.rs`), then removes
/// temporary files of killed writers. In this order, since the switch needs its temporary files.
fn prepare(folder: &Path) -> Result<(), DataError> {
    switch::finish_switch(folder)?;
    remove_abandoned(folder);
    Ok(())
}

/// Writes several files that belong together, and removes those without a body. All of them are
/// complete on disk before the first gets its final name, and after a process was killed, readers
/// see all old files or all new files. This holds if the files are in one folder or in subfolders
/// of it. Otherwise the files of each folder change together, one folder after the other.
/// Pipes and devices are written to directly.
///
/// Together with other changes, only feature sets (`DATA.features.toml`) can be removed; the
/// removal of another file has to be a call of its own. Of a link, the link is removed and not its
/// target.
pub fn write_together<'a>(
    files: impl IntoIterator<Item = (PathBuf, Option<WriteBody<'a>>)>,
) -> Result<(), DataError> {
    let mut changes: Vec<FileChange> = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for (path, write_body) in files {
        let failed = |e| DataError::io("write", path.display().to_string(), e);
        match (WriteTarget::of(&path).map_err(failed)?, write_body) {
            (WriteTarget::Ordinary(target), write_body) => {
                // The target of a link may be in use by others; only the link is removed.
                let target = if write_body.is_some() { target } else { path.clone() };
                let folder = folder_of(&target).to_owned();
                prepare(&folder)?;
                folders.extend((!folders.contains(&folder)).then_some(folder));
                changes.push(match write_body {
                    Some(body) => FileChange::Replace(
                        StagedFile::write(target, body, TemporaryFile::named_in).map_err(failed)?,
                    ),
                    None => FileChange::Remove(target),
                });
            }
            (WriteTarget::StandardOutput, Some(write_body)) => {
                write_to_stdout(&path, write_body).map_err(failed)?;
            }
            (WriteTarget::Special(special), Some(write_body)) => {
                write_to_special(&path, &special, write_body).map_err(failed)?;
            }
            (_, None) => {}
        }
    }
    if let Some(folder) = switch::common_folder(&folders) {
        // A killed writer may have left its list of changes there under a temporary name.
        prepare(&folder)?;
        return switch::switch_together(&folder, changes);
    }
    for folder in folders {
        let (in_folder, remaining) =
            changes.into_iter().partition(|change| folder_of(change.path()) == folder);
        changes = remaining;
        switch::switch_together(&folder, in_folder)?;
    }
    Ok(())
}

/// A change of a file that is prepared and not yet visible: a new content, or its removal.
enum FileChange {
    Replace(StagedFile),
    Remove(PathBuf),
}

impl FileChange {
    fn path(&self) -> &Path {
        match self {
            FileChange::Replace(file) => &file.path,
            FileChange::Remove(path) => path,
        }
    }
}

/// A file that is complete on disk but does not have its final name yet.
struct StagedFile {
    /// The final name.
    path: PathBuf,
    temporary: TemporaryFile,
    /// The digest of its content.
    digest: FileDigest,
}

impl StagedFile {
    /// Writes the content of the file `path` to a temporary file, which `make_temporary` makes in
    /// the same folder.
    fn write(
        path: PathBuf,
        write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        make_temporary: impl FnOnce(&Path) -> io::Result<TemporaryFile>,
    ) -> io::Result<StagedFile> {
        let folder = folder_of(&path);
        if !folder.is_dir() {
            let message = format!("the folder {} does not exist", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let temporary = make_temporary(folder)?;
        let mut written = DigestWriter::new(temporary.file());
        write_compressed(&path, &mut BufWriter::with_capacity(1 << 20, &mut written), write_body)?;
        let digest = written.digest();
        keep_mode(&path, temporary.file())?;
        temporary.file().sync_all()?;
        Ok(StagedFile { path, temporary, digest })
    }

    /// Gives the file its final name.
    fn persist(self) -> io::Result<()> {
        let folder = folder_of(&self.path);
        self.temporary.persist(&self.path)?;
        sync_folder(folder);
        Ok(())
    }
}

/// Makes renames in a folder durable; not every file system can do that.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Checks that a new file of this many bytes can be written in a folder, by writing one and
/// removing it again.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// rankwright_data::store::check_room(folder.path(), 1 << 16)?;
/// assert!(rankwright_data::store::check_room(folder.path().join("none"), 1).is_err());
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn check_room(folder: impl AsRef<Path>, bytes: u64) -> Result<(), DataError> {
    let folder = folder.as_ref();
    prepare(folder)?;
    let fill = || -> io::Result<()> {
        let temporary = TemporaryFile::new_in(folder)?;
        io::copy(&mut io::repeat(0).take(bytes), &mut temporary.file())?;
        temporary.file().sync_data()
    };
    fill().map_err(|e| DataError::io("write to the folder", folder.display().to_string(), e))
}

/// Whether a path leads to an ordinary file, or to nothing yet: not to a pipe, a device or standard
/// output.
pub(crate) fn is_ordinary(path: &Path) -> bool {
    matches!(WriteTarget::of(path), Ok(WriteTarget::Ordinary(_)))
}

/// Gives `file` the permissions (mode) of the file at `path`, which it will replace. If there is no
/// such file, it keeps the permissions that the umask gave it.
#[cfg(unix)]
fn keep_mode(path: &Path, file: &File) -> io::Result<()> {
    match path.metadata() {
        Ok(meta) => file.set_permissions(meta.permissions()),
        Err(_) => Ok(()),
    }
}

#[cfg(not(unix))]
fn keep_mode(_path: &Path, _file: &File) -> io::Result<()> {
    Ok(())
}

/// The extension of a path in lower case: formats are chosen by it whatever its case, and so is
/// compression.
fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Compresses the bytes that `write_body` writes, by the extension of the path.
#[cfg(not(feature = "compressed"))]
fn write_compressed(
    path: &Path,
    out: &mut dyn Write,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if matches!(extension(path).as_str(), "gz" | "zst") {
        let message =
            "compression needs the cargo feature `compressed`, which is not part of this build";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    write_body(out)?;
    out.flush()
}

/// Compresses the bytes that `write_body` writes, by the extension of the path.
#[cfg(feature = "compressed")]
fn write_compressed(
    path: &Path,
    out: &mut dyn Write,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match extension(path).as_str() {
        "gz" => {
            let mut gz = flate2::write::GzEncoder::new(&mut *out, flate2::Compression::default());
            write_body(&mut gz)?;
            gz.finish()?;
        }
        "zst" => {
            // 3 is the default level of zstd.
            let mut zstd = zstd::Encoder::new(&mut *out, 3)?;
            write_body(&mut zstd)?;
            zstd.finish()?;
        }
        _ => write_body(out)?,
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_atomic(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_atomic(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"))
        });
        assert!(error.unwrap_err().to_string().contains("no space left"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn compressed_targets_decompress_to_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.gz", "a.zst", "a.csv.GZ"] {
            let path = folder.path().join(name);
            write_atomic(&path, |out| out.write_all(&[b'x'; 999])).unwrap();
            assert!(path.metadata().unwrap().len() < 200);
            assert_eq!(&*Input::open(&path).unwrap().bytes, &[b'x'; 999]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_new_file_has_the_mode_of_the_umask() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("real", at("link")).unwrap();
        write_atomic(at("link"), |out| out.write_all(b"new")).unwrap();
        assert!(at("link").is_symlink() && !at("real").is_symlink());
        assert_eq!(std::fs::read(at("real")).unwrap(), b"new");
        let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o777;
        std::fs::write(at("plain"), "x").unwrap();
        assert_eq!(mode("real"), mode("plain"));
        std::fs::set_permissions(at("real"), std::fs::Permissions::from_mode(0o640)).unwrap();
        write_atomic(at("link"), |out| out.write_all(b"newer")).unwrap();
        assert_eq!(mode("real"), 0o640);
        assert!(write_atomic(folder.path(), |_| Ok(())).is_err(), "a folder is refused");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_atomic(folder.path().join("no/where"), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_to_and_not_replaced() {
        write_atomic(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }
}
