//! Sources of bytes: a mapped file, standard input, or a compressed file decompressed in memory.
//!
//! Compression is detected by content (gzip and zstd magic), never by extension alone. Another
//! process must not shorten a mapped file while it is read; that is the usual limit of mapping, and
//! the reason why every write of this project replaces files instead of changing them.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::error::DataError;
use crate::standard_streams::is_standard_stream;
use crate::store::finish_switch_of;

/// Read-only bytes, mapped or owned.
#[derive(Debug)]
pub enum Bytes {
    /// A mapped file.
    Mapped(Mmap),
    /// Bytes in memory.
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::Owned(bytes)
    }
}

/// A named input, decompressed.
#[derive(Debug)]
pub struct Input {
    /// Name for messages: the path as given, or `-`.
    pub name: String,
    /// The content after decompression.
    pub bytes: Bytes,
    /// The file that was opened; `None` for standard input and bytes in memory.
    path: Option<PathBuf>,
}

impl Input {
    /// Opens a file; gzip and zstd are decompressed. In a program that allows it, `-` is standard
    /// input, see [`allow_standard_streams`](crate::allow_standard_streams).
    pub fn open(path: impl AsRef<Path>) -> Result<Input, DataError> {
        let path = path.as_ref();
        if is_standard_stream(path) {
            return Input::stdin();
        }
        let name = path.display().to_string();
        finish_switch_of(path).map_err(|error| DataError::io("read", &name, error))?;
        let file = File::open(path).map_err(|error| DataError::io("read", &name, error))?;
        let meta = file.metadata().map_err(|error| DataError::io("read", &name, error))?;
        if meta.is_dir() {
            let is_dir = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file");
            return Err(DataError::io("read", name, is_dir));
        }
        if !meta.is_file() || meta.len() == 0 {
            return Ok(Input { path: Some(path.to_owned()), ..Input::read(name, file)? });
        }
        // SAFETY: the map is read-only and private to this value. Another process that truncates
        // the file under us would fault; the module documentation states that limit.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|error| DataError::io("map", &name, error))?;
        let decompressed =
            decompress(&map).map_err(|error| DataError::io("decompress", &name, error))?;
        let bytes = decompressed.map_or(Bytes::Mapped(map), Bytes::Owned);
        Ok(Input { name, bytes, path: Some(path.to_owned()) })
    }

    /// The file that was opened; `None` for standard input and bytes in memory, which have no side
    /// files.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes bytes in memory; gzip and zstd are decompressed.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Input, DataError> {
        let name = name.into();
        let decompressed =
            decompress(&bytes).map_err(|error| DataError::io("decompress", &name, error))?;
        Ok(Input { name, bytes: decompressed.unwrap_or(bytes).into(), path: None })
    }

    /// Takes bytes unchanged, compressed or not.
    pub fn raw(name: impl Into<String>, bytes: impl Into<Bytes>) -> Input {
        Input { name: name.into(), bytes: bytes.into(), path: None }
    }

    /// Reads all of standard input; gzip and zstd are decompressed.
    pub fn stdin() -> Result<Input, DataError> {
        Input::read("-".to_owned(), io::stdin().lock())
    }

    fn read(name: String, mut reader: impl Read) -> Result<Input, DataError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| DataError::io("read", &name, error))?;
        Input::from_bytes(name, bytes)
    }
}

/// Refuses a gzip or zstd stream in a build that cannot decompress it.
#[cfg(not(feature = "compressed"))]
fn decompress(bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    match bytes {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it needs the cargo feature `compressed`, which is not part of this build",
        )),
        _ => Ok(None),
    }
}

/// The content of a gzip or zstd stream; `None` if the bytes are neither.
#[cfg(feature = "compressed")]
fn decompress(bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut decompressed = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut decompressed)?;
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::Decoder::with_buffer(bytes)?.read_to_end(&mut decompressed)?;
    } else {
        return Ok(None);
    }
    Ok(Some(decompressed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn gzip_and_zstd_are_detected_by_content() {
        let text = b"1 qid:1 1:2\n".repeat(100);
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&text).unwrap();
        let compressed = [gz.finish().unwrap(), zstd::encode_all(&text[..], 1).unwrap()];
        for bytes in compressed {
            assert_ne!(bytes, text);
            assert_eq!(&*Input::from_bytes("x", bytes).unwrap().bytes, &text[..]);
        }
        assert_eq!(&*Input::from_bytes("x", text.clone()).unwrap().bytes, &text[..]);
    }

    #[test]
    fn a_cut_gzip_stream_is_an_error() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&[7; 5000]).unwrap();
        let mut bytes = gz.finish().unwrap();
        bytes.truncate(bytes.len() / 2);
        let error = Input::from_bytes("cut.gz", bytes).unwrap_err().to_string();
        assert!(error.starts_with("cannot decompress cut.gz"), "{error}");
    }
}
