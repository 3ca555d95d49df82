//! Sources of bytes: a file, standard input, or a compressed file decompressed in memory.
//!
//! Compression is detected by content (the magic bytes of gzip and zstd), not by extension. The
//! size of everything that is read into memory is bounded ([`memory_limit`]). For compressed files,
//! the ratio of the content's size to the compressed size is bounded as well, so that a small file
//! cannot use up the memory of the machine, unless the program has set a memory limit, which then
//! is the only bound.
//!
//! Files of up to 64 MiB are copied into memory: a copy costs a few milliseconds, and a file that
//! another process shortens meanwhile is an error. Larger files are mapped. A mapped file that
//! another process shortens while it is read raises the signal SIGBUS, which no library can turn
//! into an error; a program can install a handler, as the `rankwright` command does. Writes of this
//! project replace files instead of changing them, so they never shorten a file that is being read.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::error::DataError;
use crate::memory::{configured_limit, memory_limit};
use crate::standard_streams::is_standard_stream;
use crate::store::finish_interrupted_write;

/// Files up to this size are copied into memory, larger ones are mapped.
const MAX_COPIED_BYTES: u64 = 64 << 20;

/// Decompressed content up to this size may have any ratio to the compressed size.
#[cfg(any(feature = "compressed", feature = "columnar"))]
const ANY_RATIO_BYTES: u64 = 256 << 20;

/// The largest ratio of larger content to its compressed size. Text of numbers reaches about 20,
/// and gzip cannot exceed some 1,000. The ratio is checked while decompressing, so that a
/// decompression bomb (a small file with huge content) takes at most about 256 MiB; it does not
/// apply if the program has set a memory limit.
#[cfg(any(feature = "compressed", feature = "columnar"))]
const MAX_RATIO: u64 = 200;

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
        finish_interrupted_write(path)?;
        let file = File::open(path).map_err(|error| DataError::io("read", &name, error))?;
        let meta = file.metadata().map_err(|error| DataError::io("read", &name, error))?;
        if meta.is_dir() {
            let is_dir = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file");
            return Err(DataError::io("read", name, is_dir));
        }
        if !meta.is_file() || meta.len() == 0 {
            return Ok(Input { path: Some(path.to_owned()), ..Input::read(name, file)? });
        }
        let bytes = match meta.len() <= MAX_COPIED_BYTES {
            true => Bytes::Owned(copy(&name, file, meta.len())?),
            // SAFETY: the map is read-only and private to this value. Another process that
            // shortens the file causes a fault; the module documentation states that limit.
            false => Bytes::Mapped(
                unsafe { Mmap::map(&file) }.map_err(|error| DataError::io("map", &name, error))?,
            ),
        };
        let bytes = decompress(&name, &bytes)?.map_or(bytes, Bytes::Owned);
        Ok(Input { name, bytes, path: Some(path.to_owned()) })
    }

    /// The file that was opened; `None` for standard input and bytes in memory, which have no side
    /// files (files beside the data, such as `DATA.weight`).
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes bytes in memory; gzip and zstd are decompressed.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Result<Input, DataError> {
        let name = name.into();
        let decompressed = decompress(&name, &bytes)?;
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

    fn read(name: String, reader: impl Read) -> Result<Input, DataError> {
        let bytes = read_whole(&name, reader)?;
        Input::from_bytes(name, bytes)
    }
}

/// Reads all bytes of a reader, an error if they are more than an input may take; `name` is its
/// name in errors.
///
/// ```
/// use rankwright_data::bytes::read_whole;
///
/// assert_eq!(read_whole("a", b"bytes".as_slice())?, b"bytes");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_whole(name: &str, reader: impl Read) -> Result<Vec<u8>, DataError> {
    let limit = max_stream_bytes();
    let bytes = read_bounded(reader, limit, |error| DataError::io("read", name, error))?;
    bytes.ok_or_else(|| DataError::ContentTooLarge { file: name.to_owned(), limit })
}

/// Reads all bytes of an ordinary file as [`read_blocks`] does, an error if they are more than an
/// input may take.
pub fn read_file(path: impl AsRef<Path>) -> Result<Vec<u8>, DataError> {
    let path = path.as_ref();
    let limit = max_stream_bytes();
    if path.metadata().is_ok_and(|meta| meta.len() > limit) {
        return Err(DataError::ContentTooLarge { file: path.display().to_string(), limit });
    }
    // A file that grows meanwhile is an error of `read_blocks`.
    let mut bytes = Vec::new();
    read_blocks(path, |block| bytes.extend_from_slice(block))?;
    Ok(bytes)
}

/// Reads an ordinary file as [`read_file`] does; an error if its bytes are no text.
pub fn read_text_file(path: impl AsRef<Path>) -> Result<String, DataError> {
    let path = path.as_ref();
    String::from_utf8(read_file(path)?).map_err(|error| {
        let error = io::Error::new(io::ErrorKind::InvalidData, error.utf8_error());
        DataError::io("read", path.display().to_string(), error)
    })
}

/// Calls `take` with the bytes of an ordinary file, block by block, without decompressing them;
/// returns the number of bytes. A pipe or a device is refused: it may have no end, and can be read
/// only once. If the file belongs to an interrupted write of several files, that write is finished
/// first.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.txt");
/// std::fs::write(&path, "1 qid:1 1:2\n").unwrap();
/// let mut lines = 0;
/// let count = |block: &[u8]| lines += block.iter().filter(|byte| **byte == b'\n').count();
/// assert_eq!(rankwright_data::bytes::read_blocks(&path, count)?, 12);
/// assert_eq!(lines, 1);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_blocks(path: impl AsRef<Path>, mut take: impl FnMut(&[u8])) -> Result<u64, DataError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let failed = |error| DataError::io("read", name.as_str(), error);
    finish_interrupted_write(path)?;
    // Checked before opening, because opening a pipe waits for its writer.
    if path.metadata().map_err(failed)?.is_file() {
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        // One byte more than expected, so that a file that grows is noticed as well.
        let (mut file, mut block) = (file.take(length + 1), vec![0; 1 << 20]);
        let mut read = 0;
        loop {
            match file.read(&mut block).map_err(failed)? {
                0 if read == length => return Ok(read),
                0 => return Err(DataError::ChangedWhileRead { file: name }),
                bytes => {
                    take(block.get(..bytes).unwrap_or_default());
                    read += bytes as u64;
                }
            }
        }
    }
    Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file")))
}

/// The content of a file of this length; an error if the length changes while the file is read.
fn copy(name: &str, file: File, length: u64) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    // One byte more than expected, so that a file that grows is noticed as well.
    let read = file.take(length + 1).read_to_end(&mut bytes);
    read.map_err(|error| DataError::io("read", name, error))?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(DataError::ChangedWhileRead { file: name.to_owned() }),
    }
}

/// The most bytes that are read from a stream into memory: the limit that the program has set, or
/// half of the available memory, since the data set made from the bytes takes memory as well.
fn max_stream_bytes() -> u64 {
    configured_limit().unwrap_or_else(|| memory_limit() / 2)
}

/// Limits for the content of a compressed input.
#[cfg(any(feature = "compressed", feature = "columnar"))]
pub(crate) struct ContentLimits {
    /// The largest size of the content.
    pub(crate) max_bytes: u64,
    /// Whether content up to `max_bytes` may have any ratio to its compressed size. True if the
    /// program has set a memory limit, since it then knows how much it can take.
    pub(crate) any_ratio: bool,
}

#[cfg(any(feature = "compressed", feature = "columnar"))]
impl ContentLimits {
    /// The limits of this process now.
    pub(crate) fn current() -> ContentLimits {
        ContentLimits { max_bytes: max_stream_bytes(), any_ratio: configured_limit().is_some() }
    }

    /// Rejects content that is too large, or too large for its compressed size.
    pub(crate) fn check(&self, name: &str, compressed: u64, content: u64) -> Result<(), DataError> {
        if content > self.max_bytes {
            let file = name.to_owned();
            return Err(DataError::ContentTooLarge { file, limit: self.max_bytes });
        }
        self.check_ratio(name, compressed, content)
    }

    /// Rejects content that is too large for its compressed size. Unlike `check`, this accepts more
    /// than `max_bytes`: for readers that keep only a part of the content in memory.
    pub(crate) fn check_ratio(
        &self,
        name: &str,
        compressed: u64,
        content: u64,
    ) -> Result<(), DataError> {
        let may_have_any_ratio =
            content <= ANY_RATIO_BYTES || (self.any_ratio && content <= self.max_bytes);
        match may_have_any_ratio || content <= compressed.saturating_mul(MAX_RATIO) {
            true => Ok(()),
            false => {
                let file = name.to_owned();
                Err(DataError::CompressionRatio { file, compressed, content })
            }
        }
    }
}

/// Reads a whole stream of at most `limit` bytes; `None` if it is longer.
fn read_bounded(
    reader: impl Read,
    limit: u64,
    failed: impl Fn(io::Error) -> DataError,
) -> Result<Option<Vec<u8>>, DataError> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Refuses a gzip or zstd stream in a build that cannot decompress it.
#[cfg(not(feature = "compressed"))]
fn decompress(name: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, DataError> {
    match bytes {
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let message =
                "it needs the cargo feature `compressed`, which is not part of this build";
            let error = io::Error::new(io::ErrorKind::Unsupported, message);
            Err(DataError::io("decompress", name, error))
        }
        _ => Ok(None),
    }
}

/// The content of a gzip or zstd stream; `None` if the bytes are neither.
#[cfg(feature = "compressed")]
fn decompress(name: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, DataError> {
    let input = io::Cursor::new(bytes);
    let content = if bytes.starts_with(&[0x1f, 0x8b]) {
        let decoder = flate2::bufread::MultiGzDecoder::new(input);
        decompress_with(name, decoder, |decoder| decoder.get_ref().position())
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::Decoder::with_buffer(input);
        let decoder = decoder.map_err(|error| DataError::io("decompress", name, error))?;
        decompress_with(name, decoder, |decoder| decoder.get_ref().position())
    } else {
        return Ok(None);
    };
    content.map(Some)
}

/// Decompresses within the limits of size and ratio; `consumed` returns the number of compressed
/// bytes that the decoder has read so far.
#[cfg(feature = "compressed")]
fn decompress_with<R: Read>(
    name: &str,
    mut decoder: R,
    consumed: impl Fn(&R) -> u64,
) -> Result<Vec<u8>, DataError> {
    let limits = ContentLimits::current();
    let mut content = Vec::new();
    loop {
        let size_before = content.len() as u64;
        let read = decoder.by_ref().take(1 << 20).read_to_end(&mut content);
        if read.map_err(|error| DataError::io("decompress", name, error))? == 0 {
            return Ok(content);
        }
        let (size, compressed) = (content.len() as u64, consumed(&decoder));
        limits.check(name, compressed, size).map_err(|error| match error {
            // The message says "more than", so it gives the size before the last block.
            DataError::CompressionRatio { file, compressed, .. } => {
                DataError::CompressionRatio { file, compressed, content: size_before }
            }
            other => other,
        })?;
    }
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

    #[test]
    fn a_file_that_changes_while_it_is_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "0123456789").unwrap();
        let read = |length| copy("a.txt", File::open(&path).unwrap(), length);
        assert_eq!(read(10).unwrap(), b"0123456789");
        for length in [11, 9] {
            let error = read(length).unwrap_err();
            assert!(matches!(error, DataError::ChangedWhileRead { .. }), "{error}");
        }
    }

    #[test]
    fn blocks_are_read_from_ordinary_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let content: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let mut found = Vec::new();
        let bytes = read_blocks(&path, |block| found.extend_from_slice(block)).unwrap();
        assert!(bytes == 3_000_000 && found == content);
        let error = read_blocks(folder.path(), |_| ()).unwrap_err().to_string();
        assert!(error.ends_with("it is not an ordinary file"), "{error}");
        #[cfg(unix)]
        for endless in ["/dev/zero", "/dev/null"] {
            assert!(read_blocks(endless, |_| ()).is_err(), "{endless}");
        }
    }

    /// Spaces compress 10,000 to 1 with zstd, and about 1,000 to 1 with gzip.
    #[test]
    fn a_decompression_bomb_is_refused() {
        let block = vec![b' '; 1 << 20];
        let mut bomb = zstd::Encoder::new(Vec::new(), 1).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        (0..260).for_each(|_| bomb.write_all(&block).unwrap());
        (0..260).for_each(|_| gzip.write_all(&block).unwrap());
        for bomb in [bomb.finish().unwrap(), gzip.finish().unwrap()] {
            assert!(bomb.len() < 2 << 20, "{}", bomb.len());
            let error = Input::from_bytes("bomb", bomb).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with("bomb: "), "{text}");
            assert!(text.ends_with("decompress to more than 256 MiB"), "{text}");
            assert_eq!(error.remedy(), Some(crate::Remedy::AllowMemory));
        }
    }

    #[test]
    fn a_stream_is_read_up_to_its_limit() {
        let read = |limit| read_bounded(&[7u8; 100][..], limit, |e| DataError::io("read", "x", e));
        assert_eq!(read(100).unwrap().unwrap().len(), 100);
        assert!(read(99).unwrap().is_none());
    }
}
