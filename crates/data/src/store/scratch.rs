//! A scratch file: records that do not fit into memory are written to it and read back once.
//!
//! The file is a temporary one (`temporary.rs`): where the system allows it, it has no name, so
//! that nothing remains of a process that was killed.

use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::temporary::{TemporaryFile, remove_abandoned};
use crate::error::DataError;

/// Bytes that are collected before they are written, and read at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// A file that is written once, then read once, and removed.
///
/// ```
/// use std::io::Read;
/// use rankwright_data::store::ScratchFile;
///
/// let mut file = ScratchFile::new_in(std::env::temp_dir())?;
/// file.append(b"some records")?;
/// let mut text = String::new();
/// file.into_reader()?.read_to_string(&mut text).unwrap();
/// assert_eq!(text, "some records");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub struct ScratchFile {
    file: TemporaryFile,
    folder: PathBuf,
    /// Bytes that are not written yet.
    buffer: Vec<u8>,
    length: u64,
}

impl ScratchFile {
    /// Makes an empty file in a folder.
    pub fn new_in(folder: impl AsRef<Path>) -> Result<ScratchFile, DataError> {
        let folder = folder.as_ref().to_owned();
        remove_abandoned(&folder);
        let file =
            TemporaryFile::new_in(&folder).map_err(|error| failed("write", &folder, error))?;
        Ok(ScratchFile { file, folder, buffer: Vec::new(), length: 0 })
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.length += bytes.len() as u64;
        self.buffer.extend_from_slice(bytes);
        match self.buffer.len() < BUFFER_BYTES {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Number of bytes that were appended.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn flush(&mut self) -> Result<(), DataError> {
        let mut file = self.file.file();
        let written = file.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| failed("write", &self.folder, error))
    }

    /// Reads the file from its beginning.
    pub fn into_reader(mut self) -> Result<ScratchReader, DataError> {
        self.flush()?;
        let mut file = self.file.file();
        file.rewind().map_err(|error| failed("read", &self.folder, error))?;
        let file = FileReader { file: self.file };
        Ok(ScratchReader {
            reader: BufReader::with_capacity(BUFFER_BYTES, file),
            folder: self.folder,
        })
    }
}

impl std::fmt::Debug for ScratchFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScratchFile").field("length", &self.length).finish_non_exhaustive()
    }
}

fn failed(action: &'static str, folder: &Path, error: io::Error) -> DataError {
    DataError::io(action, format!("a temporary file in {}", folder.display()), error)
}

struct FileReader {
    file: TemporaryFile,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.file();
        file.read(buffer)
    }
}

/// The content of a scratch file, from its beginning to its end.
pub struct ScratchReader {
    reader: BufReader<FileReader>,
    folder: PathBuf,
}

impl ScratchReader {
    /// Fills a buffer; false if the file ends before its first byte.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, DataError> {
        let mut filled = 0;
        while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
            match self.reader.read(free) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => {
                    let cut = io::Error::from(io::ErrorKind::UnexpectedEof);
                    return Err(failed("read", &self.folder, cut));
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed("read", &self.folder, error)),
            }
        }
        Ok(true)
    }
}

impl Read for ScratchReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_file_gives_back_its_bytes_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = ScratchFile::new_in(folder.path()).unwrap();
        let record: Vec<u8> = (0..=255).collect();
        (0..1000).for_each(|_| file.append(&record).unwrap());
        assert_eq!((file.len(), file.is_empty()), (256_000, false));
        let mut reader = file.into_reader().unwrap();
        let mut found = [0; 256];
        for _ in 0..1000 {
            assert!(reader.fill(&mut found).unwrap());
            assert_eq!(found[..], record[..]);
        }
        assert!(!reader.fill(&mut found).unwrap());
        drop(reader);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut cut = ScratchFile::new_in(folder.path()).unwrap();
        cut.append(b"half").unwrap();
        let error = cut.into_reader().unwrap().fill(&mut found).unwrap_err().to_string();
        assert!(error.starts_with("cannot read a temporary file in "), "{error}");
        assert!(ScratchFile::new_in(folder.path().join("none")).is_err());
    }
}
