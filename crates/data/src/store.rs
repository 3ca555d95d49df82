//! Atomic writes: a reader sees the old file or the whole new one, never a part.
//!
//! The content goes to a temporary file in the same folder, is synced, and then renamed over the
//! target; the folder is synced last. A write that fails (disk full, a writer's error) leaves the
//! old file unchanged and removes the temporary one. A target that is no ordinary file (a pipe,
//! `/dev/null`) is written directly; `-` is standard output in programs that allow it. Targets that
//! end in `.gz` or `.zst` are compressed.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::DataError;
use crate::standard_streams::is_standard_stream;
use crate::temporary::TemporaryFile;

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
    let result = if is_standard_stream(path) {
        match compressed(path, &mut BufWriter::new(io::stdout().lock()), write_body) {
            // The reader has closed the pipe (`... | head`); that is no failure.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    } else if !is_ordinary(path) {
        File::options()
            .write(true)
            .open(path)
            .and_then(|file| compressed(path, &mut BufWriter::new(file), write_body))
    } else {
        StagedFile::write(path, write_body).and_then(StagedFile::persist)
    };
    result.map_err(|e| DataError::io("write", path.display().to_string(), e))
}

/// A file that is complete on disk but does not have its final name yet.
struct StagedFile<'a> {
    path: &'a Path,
    folder: &'a Path,
    temporary: TemporaryFile,
}

impl<'a> StagedFile<'a> {
    fn write(
        path: &'a Path,
        write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<StagedFile<'a>> {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let message = format!("the folder {} does not exist", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let temporary = TemporaryFile::new_in(folder)?;
        compressed(path, &mut BufWriter::with_capacity(1 << 20, temporary.file()), write_body)?;
        inherit_mode(path, temporary.file())?;
        temporary.file().sync_all()?;
        Ok(StagedFile { path, folder, temporary })
    }

    /// Gives the file its final name.
    fn persist(self) -> io::Result<()> {
        self.temporary.persist(self.path)?;
        // The rename is durable only after the folder is synced; not every file system can do that.
        if let Ok(folder) = File::open(self.folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

/// Writes a file and a text beside it, so that they appear together: both are complete on disk
/// before either gets its final name. Without a text, an older file's text is removed, since it
/// does not describe the new one. The file must be an ordinary one, see [`is_ordinary`].
pub(crate) fn write_with_companion(
    path: &Path,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    companion: &Path,
    text: Option<&str>,
) -> Result<(), DataError> {
    let failed = |path: &Path, e| DataError::io("write", path.display().to_string(), e);
    let file = StagedFile::write(path, write_body).map_err(|e| failed(path, e))?;
    let beside =
        text.map(|text| StagedFile::write(companion, |out| out.write_all(text.as_bytes())));
    let beside = beside.transpose().map_err(|e| failed(companion, e))?;
    file.persist().map_err(|e| failed(path, e))?;
    match beside {
        Some(beside) => beside.persist().map_err(|e| failed(companion, e)),
        None if companion.is_file() => std::fs::remove_file(companion)
            .map_err(|e| DataError::io("remove", companion.display().to_string(), e)),
        None => Ok(()),
    }
}

/// Whether a path is an ordinary file or does not exist yet: no pipe, no device, not standard
/// output.
pub(crate) fn is_ordinary(path: &Path) -> bool {
    !is_standard_stream(path) && !path.metadata().is_ok_and(|meta| !meta.is_file())
}

/// Temporary files are private; the result gets the old file's mode, or the umask's default.
#[cfg(unix)]
fn inherit_mode(path: &Path, file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = path.metadata().map_or(0o644, |meta| meta.permissions().mode());
    file.set_permissions(std::fs::Permissions::from_mode(mode & 0o777))
}

#[cfg(not(unix))]
fn inherit_mode(_path: &Path, _file: &File) -> io::Result<()> {
    Ok(())
}

/// Compresses the bytes that `write_body` writes, by the extension of the path.
#[cfg(not(feature = "compressed"))]
fn compressed(
    path: &Path,
    out: &mut dyn Write,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if matches!(path.extension().and_then(|e| e.to_str()), Some("gz" | "zst")) {
        let message =
            "compression needs the cargo feature `compressed`, which is not part of this build";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    write_body(out)?;
    out.flush()
}

/// Compresses the bytes that `write_body` writes, by the extension of the path.
#[cfg(feature = "compressed")]
fn compressed(
    path: &Path,
    out: &mut dyn Write,
    write_body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            let mut gz = flate2::write::GzEncoder::new(&mut *out, flate2::Compression::default());
            write_body(&mut gz)?;
            gz.finish()?;
        }
        Some("zst") => {
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
    fn packed_targets_unpack_to_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.gz", "a.zst"] {
            let path = folder.path().join(name);
            write_atomic(&path, |out| out.write_all(&[b'x'; 999])).unwrap();
            assert!(path.metadata().unwrap().len() < 200);
            assert_eq!(&*Input::open(&path).unwrap().bytes, &[b'x'; 999]);
        }
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
