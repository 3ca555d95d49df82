//! The content of a compressed file as a stream, for readers that need only a part of it at a time.
//!
//! The ratio of the content's size to the compressed size has the same limit as for a whole
//! [`Input`](crate::bytes::Input). The size itself is not limited; a reader must not hold more than
//! [`ContentStream::max_kept_bytes`] of the content in memory at a time.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use crate::bytes::ContentLimits;
use crate::error::DataError;
use crate::standard_streams::is_standard_stream;
use crate::store::finish_interrupted_write;

/// A file whose bytes are counted as they are read.
struct CountedFile {
    file: File,
    read: u64,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

/// The decoder of a compressed file.
enum Decoder {
    Gzip(Box<flate2::bufread::MultiGzDecoder<BufReader<CountedFile>>>),
    Zstd(zstd::Decoder<'static, BufReader<CountedFile>>),
}

impl Decoder {
    /// Compressed bytes that were read so far.
    fn consumed(&self) -> u64 {
        match self {
            Decoder::Gzip(decoder) => decoder.get_ref().get_ref().read,
            Decoder::Zstd(decoder) => decoder.get_ref().get_ref().read,
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// The content of a compressed file, from its beginning to its end.
///
/// An error of [`Read`] holds the [`DataError`].
///
/// ```
/// use std::io::Read;
/// use rankwright_data::content_stream::ContentStream;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.gz");
/// rankwright_data::store::write_atomic(&path, |out| writeln!(out, "some text"))?;
/// let mut text = String::new();
/// ContentStream::open(&path)?.unwrap().read_to_string(&mut text).unwrap();
/// assert_eq!(text, "some text\n");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub struct ContentStream {
    name: String,
    decoder: Decoder,
    /// Size of the file.
    length: u64,
    /// Bytes of content that were decompressed so far.
    content: u64,
    limits: ContentLimits,
}

impl ContentStream {
    /// Opens a file; `None` if it is not an ordinary file with a gzip or zstd stream.
    pub fn open(path: impl AsRef<Path>) -> Result<Option<ContentStream>, DataError> {
        let path = path.as_ref();
        if is_standard_stream(path) || !path.is_file() {
            return Ok(None);
        }
        let name = path.display().to_string();
        finish_interrupted_write(path)?;
        let open = || File::open(path).map_err(|error| DataError::io("read", &name, error));
        let mut magic = Vec::new();
        let read = open()?.take(4).read_to_end(&mut magic);
        read.map_err(|error| DataError::io("read", &name, error))?;
        let file = open()?;
        let length = file.metadata().map_err(|error| DataError::io("read", &name, error))?.len();
        let file = BufReader::with_capacity(1 << 16, CountedFile { file, read: 0 });
        let decoder = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Decoder::Gzip(Box::new(flate2::bufread::MultiGzDecoder::new(file))),
            [0x28, 0xb5, 0x2f, 0xfd] => {
                let decoder = zstd::Decoder::with_buffer(file);
                Decoder::Zstd(decoder.map_err(|e| DataError::io("decompress", &name, e))?)
            }
            _ => return Ok(None),
        };
        let limits = ContentLimits::current();
        Ok(Some(ContentStream { name, decoder, length, content: 0, limits }))
    }

    /// The name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of compressed bytes that were read so far, and the size of the compressed file.
    pub fn position(&self) -> (u64, u64) {
        (self.decoder.consumed().min(self.length), self.length)
    }

    /// The most bytes of content that a reader may hold in memory at a time.
    pub fn max_kept_bytes(&self) -> u64 {
        self.limits.max_bytes
    }

    /// The error for a reader that would have to hold more than `max_kept_bytes` in memory.
    pub fn too_large(&self) -> DataError {
        DataError::ContentTooLarge { file: self.name.clone(), limit: self.limits.max_bytes }
    }

    fn read_content(&mut self, buffer: &mut [u8]) -> Result<usize, DataError> {
        let read = self.decoder.read(buffer);
        let read = read.map_err(|error| DataError::io("decompress", &self.name, error))?;
        self.content += read as u64;
        self.limits.check_ratio(&self.name, self.decoder.consumed(), self.content)?;
        Ok(read)
    }

    /// Appends the next `count` bytes of content, or fewer at the end; returns their number.
    pub fn append_to(&mut self, content: &mut Vec<u8>, count: usize) -> Result<usize, DataError> {
        let start = content.len();
        content.resize(start + count, 0);
        let mut filled = start;
        let result = loop {
            let Some(free) = content.get_mut(filled..).filter(|free| !free.is_empty()) else {
                break Ok(());
            };
            match self.read_content(free) {
                Ok(0) => break Ok(()),
                Ok(read) => filled += read,
                Err(error) => break Err(error),
            }
        };
        content.truncate(filled);
        result.map(|()| filled - start)
    }
}

impl Read for ContentStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_content(buffer).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_content_comes_in_parts_and_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        // Bytes that hardly compress: high bits of multiples of Knuth's hash constant.
        let text: Vec<u8> =
            (0..2_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for name in ["a.gz", "a.zst"] {
            let path = folder.path().join(name);
            crate::store::write_atomic(&path, |out| out.write_all(&text)).unwrap();
            let mut stream = ContentStream::open(&path).unwrap().unwrap();
            let mut found = Vec::new();
            while stream.append_to(&mut found, 300_000).unwrap() > 0 {}
            assert!(found == text, "{name}");
            assert_eq!(
                stream.position(),
                (path.metadata().unwrap().len(), path.metadata().unwrap().len())
            );
        }
        std::fs::write(folder.path().join("plain"), "x").unwrap();
        for other in ["plain", "none", "."] {
            assert!(ContentStream::open(folder.path().join(other)).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn a_bomb_and_a_cut_stream_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.zst");
        let mut bomb = zstd::Encoder::new(Vec::new(), 1).unwrap();
        (0..300).for_each(|_| bomb.write_all(&vec![b' '; 1 << 20]).unwrap());
        std::fs::write(&path, bomb.finish().unwrap()).unwrap();
        let mut stream = ContentStream::open(&path).unwrap().unwrap();
        let error = io::copy(&mut stream, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("decompress to more than"), "{error}");
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&[7; 5000]).unwrap();
        let bytes = gz.finish().unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let mut stream = ContentStream::open(&path).unwrap().unwrap();
        let error = io::copy(&mut stream, &mut io::sink()).unwrap_err();
        assert!(error.to_string().starts_with("cannot decompress"), "{error}");
    }
}
