//! The text of a log, read a block of whole records at a time.
//!
//! A file above 64 MiB is mapped, and compressed files, pipes and standard input are streams, so
//! that a log larger than memory can be read. The beginning tells the format.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr, memrchr};
use rankwright_data::bytes::{Bytes, Input, read_whole};
use rankwright_data::content_stream::ContentStream;
use rankwright_data::{DataError, SourceLocation, is_standard_stream};

use crate::impression::Impression;

/// Number of bytes of a block, unless a record is longer.
const BLOCK_BYTES: usize = 4 << 20;

/// Number of bytes at the beginning of a stream by which the format is detected.
const BEGINNING_BYTES: usize = 1 << 16;

/// The most bytes of a record; a log of longer ones is not a log.
const MAX_RECORD_BYTES: usize = 256 << 20;

/// A file of a log (bytes in memory, a mapped file, or a stream), or its impressions or rows in
/// memory.
///
/// ```
/// use rankwright_clicks::log::LogInput;
/// use rankwright_data::bytes::Input;
///
/// let input = LogInput::from(Input::raw("log.jsonl", b"{}".to_vec()));
/// assert_eq!(input.name(), "log.jsonl");
/// ```
pub struct LogInput {
    name: String,
    content: LogContent,
    /// The bytes that were read so far, of this input and of others that share the counter.
    bytes_read: Arc<AtomicU64>,
}

enum LogContent {
    /// The bytes, and the number of those that were read.
    Whole(Bytes, usize),
    Stream(LogStream),
    /// Impressions or rows in memory.
    Values(LogValues),
}

/// The values of a log in memory.
#[derive(Clone)]
#[non_exhaustive]
pub enum LogValues {
    /// The content of a file, in any format that is read.
    Text(Arc<[u8]>),
    /// Impressions. Clicks on documents that their page does not have are left out and counted, as
    /// those of a file.
    Impressions(Arc<[Impression]>),
    /// Rows of a table, as a Parquet file has them.
    #[cfg(feature = "columnar")]
    Rows(LogRows),
}

/// Rows of a table in memory: a row for each shown document, or for each page with lists of
/// documents and clicks.
#[cfg(feature = "columnar")]
#[derive(Clone)]
pub struct LogRows {
    pub(super) schema: arrow_schema::SchemaRef,
    pub(super) batches: Vec<arrow_array::RecordBatch>,
}

#[cfg(feature = "columnar")]
impl LogRows {
    /// Batches of rows, all of which have the columns of `schema`.
    pub fn new(
        schema: arrow_schema::SchemaRef,
        batches: impl IntoIterator<Item = arrow_array::RecordBatch>,
    ) -> Self {
        Self { schema, batches: batches.into_iter().collect() }
    }
}

impl From<Vec<Impression>> for LogValues {
    fn from(impressions: Vec<Impression>) -> Self {
        LogValues::Impressions(impressions.into())
    }
}

struct LogStream {
    reader: Box<dyn Read + Send>,
    /// Bytes that are not part of a block yet.
    kept: Vec<u8>,
    is_at_end: bool,
}

impl From<Input> for LogInput {
    fn from(input: Input) -> LogInput {
        let Input { name, bytes, .. } = input;
        LogInput { name, content: LogContent::Whole(bytes, 0), bytes_read: Arc::default() }
    }
}

/// A copy of the input.
impl From<&Input> for LogInput {
    fn from(input: &Input) -> LogInput {
        Input::raw(input.name.clone(), input.bytes.to_vec()).into()
    }
}

impl LogInput {
    /// Opens a file; gzip and zstd are decompressed. In a program that allows it, `-` is standard
    /// input.
    pub fn open(path: impl AsRef<Path>) -> Result<LogInput, DataError> {
        let path = path.as_ref();
        if is_standard_stream(path) {
            return LogInput::from_reader("-", Box::new(io::stdin()));
        }
        let name = path.display().to_string();
        if let Some(stream) = ContentStream::open(path)? {
            return LogInput::streamed(name, Box::new(stream));
        }
        // A pipe or a device; a folder is an error of `Input::open`.
        if path.exists() && !path.is_file() && !path.is_dir() {
            let file = File::open(path).map_err(|error| DataError::io("read", &name, error))?;
            return LogInput::from_reader(&name, Box::new(file));
        }
        Ok(Input::open(path)?.into())
    }

    /// Reads a stream of any length. A compressed one is read whole.
    pub fn from_reader(name: &str, reader: Box<dyn Read + Send>) -> Result<LogInput, DataError> {
        let mut input = LogInput::streamed(name.to_owned(), reader)?;
        match input.beginning() {
            [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                let bytes = read_whole(name, &mut input)?;
                Ok(Input::from_bytes(name, bytes)?.into())
            }
            _ => Ok(input),
        }
    }

    /// A log in memory; the name is for messages.
    ///
    /// ```
    /// use rankwright_clicks::Impression;
    /// use rankwright_clicks::log::{LogInput, LogValues, read_log};
    ///
    /// let pages = vec![Impression::new("cat", ["a", "b"]).clicked([2])];
    /// let input = LogInput::from_values("the log", LogValues::from(pages))?;
    /// let counts = read_log([input], None, |_| ())?;
    /// assert_eq!((counts.impressions, counts.clicks), (1, 1));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn from_values(name: &str, values: LogValues) -> Result<LogInput, DataError> {
        match values {
            LogValues::Text(text) => LogInput::from_reader(name, Box::new(Cursor::new(text))),
            values => {
                let content = LogContent::Values(values);
                Ok(LogInput { name: name.to_owned(), content, bytes_read: Arc::default() })
            }
        }
    }

    /// The values in memory, if the input is neither a file nor a text.
    pub(super) fn values(&self) -> Option<LogValues> {
        match &self.content {
            LogContent::Whole(..) | LogContent::Stream(_) => None,
            LogContent::Values(values) => Some(values.clone()),
        }
    }

    fn streamed(name: String, reader: Box<dyn Read + Send>) -> Result<LogInput, DataError> {
        let mut stream = LogStream { reader, kept: Vec::new(), is_at_end: false };
        stream.fill(BEGINNING_BYTES).map_err(|error| read_error(&name, error))?;
        let content = LogContent::Stream(stream);
        Ok(LogInput { name, content, bytes_read: Arc::default() })
    }

    /// The name of the file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of bytes; `None` for a stream and for values in memory.
    pub(super) fn length(&self) -> Option<u64> {
        match &self.content {
            LogContent::Whole(bytes, _) => Some(bytes.len() as u64),
            LogContent::Stream(_) | LogContent::Values(_) => None,
        }
    }

    /// Adds the bytes that are read from now on to this counter.
    pub(super) fn count_bytes(&mut self, counter: &Arc<AtomicU64>) {
        self.bytes_read = Arc::clone(counter);
    }

    /// The first bytes: all of them, or the beginning of a stream; none of values in memory.
    pub(super) fn beginning(&self) -> &[u8] {
        match &self.content {
            LogContent::Whole(bytes, read) => bytes.get(*read..).unwrap_or_default(),
            LogContent::Stream(stream) => &stream.kept,
            LogContent::Values(_) => &[],
        }
    }

    /// Skips a byte-order mark of UTF-8 at the beginning.
    pub(super) fn skip_byte_order_mark(&mut self) {
        if self.beginning().starts_with(b"\xef\xbb\xbf") {
            match &mut self.content {
                LogContent::Whole(_, read) => *read += 3,
                LogContent::Stream(stream) => drop(stream.kept.drain(..3)),
                LogContent::Values(_) => {}
            }
        }
    }

    /// All bytes, as an input of formats that are not streams.
    #[cfg(feature = "columnar")]
    pub(super) fn into_whole(mut self) -> Result<Input, DataError> {
        match self.content {
            LogContent::Whole(bytes, 0) => Ok(Input::raw(self.name, bytes)),
            _ => {
                let name = self.name.clone();
                let bytes = read_whole(&name, &mut self)?;
                Ok(Input::raw(name, bytes))
            }
        }
    }

    /// The next records: at least one whole record that ends with `separator`, or the rest of the
    /// input; `None` at the end.
    pub(super) fn next_block(&mut self, separator: u8) -> Result<Option<Cow<'_, [u8]>>, DataError> {
        let name = &self.name;
        let too_long = || {
            let expected = "records of at most 256 MiB";
            DataError::malformed(SourceLocation::file(name), "a longer record", expected)
        };
        match &mut self.content {
            LogContent::Whole(bytes, read) => {
                let rest = bytes.get(*read..).unwrap_or_default();
                let least = BLOCK_BYTES.min(rest.len());
                let tail = rest.get(least..).unwrap_or_default();
                let end = memchr(separator, tail).map_or(rest.len(), |at| least + at + 1);
                if end > BLOCK_BYTES + MAX_RECORD_BYTES {
                    return Err(too_long());
                }
                *read += end;
                self.bytes_read.fetch_add(end as u64, Ordering::Relaxed);
                Ok(rest.get(..end).filter(|block| !block.is_empty()).map(Cow::Borrowed))
            }
            LogContent::Stream(stream) => loop {
                let searched = stream.kept.len();
                stream.fill(BLOCK_BYTES).map_err(|error| read_error(name, error))?;
                // The beginning of a stream is kept without a search; it is shorter than a block.
                let start = if searched < BLOCK_BYTES { 0 } else { searched };
                let unsearched = stream.kept.get(start..).unwrap_or_default();
                let end = match memrchr(separator, unsearched) {
                    _ if stream.is_at_end => stream.kept.len(),
                    Some(at) => start + at + 1,
                    None if stream.kept.len() > MAX_RECORD_BYTES => return Err(too_long()),
                    None => continue,
                };
                let after = stream.kept.split_off(end);
                let block = std::mem::replace(&mut stream.kept, after);
                self.bytes_read.fetch_add(block.len() as u64, Ordering::Relaxed);
                return Ok((!block.is_empty()).then_some(Cow::Owned(block)));
            },
            LogContent::Values(_) => Ok(None),
        }
    }
}

impl LogStream {
    /// Reads `count` further bytes; fewer at the end of the stream.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        let limit = count as u64;
        let read = self.reader.by_ref().take(limit).read_to_end(&mut self.kept)?;
        self.is_at_end = (read as u64) < limit;
        Ok(())
    }
}

/// The bytes of the input, for readers that find the ends of records themselves; none of values in
/// memory.
impl Read for LogInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.content {
            LogContent::Whole(bytes, read) => {
                let count = Cursor::new(bytes.get(*read..).unwrap_or_default()).read(buffer)?;
                *read += count;
                count
            }
            LogContent::Stream(stream) if stream.kept.is_empty() => stream.reader.read(buffer)?,
            LogContent::Stream(stream) => {
                let count = Cursor::new(&stream.kept).read(buffer)?;
                stream.kept.drain(..count);
                count
            }
            LogContent::Values(_) => 0,
        };
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The error of a reader. A compressed stream puts its own error into an `io::Error`, from which it
/// is taken out again.
pub(super) fn read_error(name: &str, error: io::Error) -> DataError {
    match error.downcast::<DataError>() {
        Ok(error) => error,
        Err(error) => DataError::io("read", name, error),
    }
}

impl std::fmt::Debug for LogInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogInput").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All blocks of an input.
    fn blocks(mut input: LogInput) -> Vec<Vec<u8>> {
        let mut blocks = Vec::new();
        while let Some(block) = input.next_block(b'\n').unwrap() {
            blocks.push(block.into_owned());
        }
        blocks
    }

    #[test]
    fn blocks_end_with_a_record_whether_bytes_are_in_memory_or_a_stream() {
        let line = [vec![b'x'; 999], vec![b'\n']].concat();
        let mut text = line.repeat(11_000);
        text.extend_from_slice(b"the end");
        let whole = blocks(Input::raw("a", text.clone()).into());
        let stream = LogInput::from_reader("a", Box::new(Cursor::new(text.clone()))).unwrap();
        let stream = blocks(stream);
        for found in [whole, stream] {
            assert!(found.len() > 2, "{}", found.len());
            let (last, others) = found.split_last().unwrap();
            assert!(others.iter().all(|block| block.ends_with(b"x\n")));
            assert!(last.ends_with(b"the end") && found.concat() == text);
        }
        // A record that is longer than a block.
        let long = vec![b'y'; 2 * BLOCK_BYTES + 5];
        let stream = LogInput::from_reader("a", Box::new(Cursor::new(long.clone()))).unwrap();
        assert_eq!(blocks(stream), [long]);
        assert!(blocks(Input::raw("a", Vec::new()).into()).is_empty());
    }

    #[test]
    fn a_compressed_stream_is_unpacked_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gz");
        rankwright_data::store::write_atomic(&path, |out| out.write_all(b"some\ntext\n")).unwrap();
        assert_eq!(blocks(LogInput::open(&path).unwrap()), [b"some\ntext\n".to_vec()]);
        let bytes = std::fs::read(&path).unwrap();
        let mut input = LogInput::from_reader("a", Box::new(Cursor::new(bytes))).unwrap();
        let mut text = String::new();
        input.read_to_string(&mut text).unwrap();
        assert_eq!(text, "some\ntext\n");
        assert!(LogInput::open(folder.path()).is_err() && LogInput::open("none").is_err());
    }
}
