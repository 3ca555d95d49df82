//! Reads documents: files of several formats, and folders, as one stream.
//!
//! | format | a document is | detected by |
//! |---|---|---|
//! | `jsonl` | a line with a JSON object | `{` |
//! | `trec` | `<DOC>` ... `</DOC>` | `<DOC` |
//! | `smart` | `.I` to the next `.I` | `.I ` |
//! | `csv`, `tsv` | a row under a header line | a comma or a tab in the first line |
//! | `parquet` | a row | `PAR1` |
//! | `folder` | a text, Markdown or HTML file | being a folder |
//!
//! gzip and zstd are decompressed. Bytes that are not UTF-8 are replaced by U+FFFD; they and other
//! recoverable problems are counted ([`Warnings`]). A document that cannot be read is an error with
//! its location, after which the stream ends, unless such documents are skipped
//! ([`Documents::skip_broken`]). Cost is linear in the bytes.

mod chunked;
#[cfg(feature = "columnar")]
mod columnar;
pub(crate) mod cursor;
pub(crate) mod entities;
mod folder;
mod format;
mod html;
pub(crate) mod id;
pub(crate) mod json;
mod jsonl;
pub(crate) mod markup;
pub(crate) mod parts;
mod skipped;
pub(crate) mod smart;
mod smart_links;
mod table;
#[cfg(test)]
mod tests;
mod trec;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::content_stream::ContentStream;
use rankwright_data::{DataError, SourceLocation, WarningKind, Warnings, is_standard_stream};

use self::chunked::ChunkedDocuments;
use self::cursor::Cursor;
use crate::document::{Document, Value};
use crate::error::SearchError;

pub use self::format::DocumentFormat;
pub use self::skipped::{SkippedDocument, SkippedDocuments};

/// Reads the documents of one input.
trait DocumentReader: Send {
    /// The next document; `None` at the end. After an error about one document, the next call
    /// continues after this document.
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>>;

    /// The progress: number of bytes read, and of all bytes.
    fn position(&self) -> (u64, u64);

    /// Tells the reader of a table that it may have no ids, see [`Documents::rows_without_ids`];
    /// `documents_before` is the number of documents of the collection before this input.
    fn number_rows(&mut self, _fields: &[String], _documents_before: u64) {}
}

/// The documents of a collection, as an iterator.
///
/// ```
/// use rankwright_search::Documents;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("albums.jsonl");
/// std::fs::write(&path, "{\"id\": \"d1\", \"title\": \"Blue Train\", \"year\": 1958}\n")?;
/// let mut documents = Documents::open(&path, None)?;
/// let first = documents.next().unwrap()?;
/// assert_eq!((first.id.as_str(), first.text("title")), ("d1", Some("Blue Train")));
/// assert!(documents.next().is_none() && documents.warnings().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Documents {
    /// The inputs that are not open yet, with their sizes on disk in bytes, if known.
    remaining: std::vec::IntoIter<(PathBuf, Option<u64>)>,
    /// The format; `None` if it is detected for each input.
    format: Option<DocumentFormat>,
    open: Option<OpenInput>,
    warnings: Warnings,
    /// The documents that were skipped; `None` if a broken document is an error.
    skipped: Option<SkippedDocuments>,
    /// Bytes of finished inputs, in their size on disk.
    finished_bytes: u64,
    /// Bytes of all inputs on disk; `None` if a size is not known.
    total_bytes: Option<u64>,
    /// Columns that are fields even if they come first in a table; `None` if the first column is the
    /// id of any table without a column of ids.
    fields: Option<Vec<String>>,
    /// Number of documents read from finished inputs.
    finished_documents: u64,
}

/// The current input.
struct OpenInput {
    name: String,
    reader: Box<dyn DocumentReader>,
    /// Its size on disk in bytes, if known.
    size: Option<u64>,
    /// Number of documents read from it.
    documents: u64,
}

impl Documents {
    /// Opens a file, a folder, or standard input for `-`; the format is detected by content if
    /// `None`.
    pub fn open(
        path: impl AsRef<Path>,
        format: Option<DocumentFormat>,
    ) -> Result<Documents, SearchError> {
        Documents::open_all(&[path], format)
    }

    /// Opens several inputs as one collection, in this order. Each may have its own format.
    ///
    /// Every path must exist now; an input is opened when the previous one ends.
    pub fn open_all<P: AsRef<Path>>(
        paths: &[P],
        format: Option<DocumentFormat>,
    ) -> Result<Documents, SearchError> {
        let mut remaining = Vec::with_capacity(paths.len());
        for path in paths.iter().map(AsRef::as_ref) {
            remaining.push((path.to_owned(), size_of(path)?));
        }
        let total_bytes = remaining.iter().map(|(_, size)| *size).sum();
        let mut documents = Documents {
            remaining: remaining.into_iter(),
            format,
            open: None,
            warnings: Warnings::default(),
            skipped: None,
            finished_bytes: 0,
            total_bytes,
            fields: None,
            finished_documents: 0,
        };
        documents.open_next()?;
        Ok(documents)
    }

    /// Sets whether a document that cannot be read, such as a line that is not JSON, is skipped;
    /// otherwise it is an error. Damage of a whole file is always an error.
    ///
    /// ```
    /// use rankwright_search::Documents;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("albums.jsonl");
    /// std::fs::write(&path, "{\"id\": \"d1\"}\n{\"id\": \n{\"id\": \"d3\"}\n")?;
    /// let mut documents = Documents::open(&path, None)?.skip_broken(true);
    /// let ids: Result<Vec<String>, _> = documents.by_ref().map(|d| d.map(|d| d.id)).collect();
    /// assert_eq!(ids?, ["d1", "d3"]);
    /// let skipped = documents.skipped().unwrap();
    /// assert_eq!((skipped.documents, skipped.first[0].location.line), (1, Some(2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn skip_broken(mut self, skip: bool) -> Self {
        self.skipped = skip.then(SkippedDocuments::default);
        self
    }

    /// Sets that CSV and TSV files may have no ids: if no column is called as an id, and the first one
    /// is among `fields` or holds numbers with fractions, then it is a field, and the ids of documents
    /// are their numbers in the collection, from 1. Without this, the first column is the id.
    ///
    /// ```
    /// use rankwright_search::Documents;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("points.csv");
    /// std::fs::write(&path, "x,y,class\n0.5,1,a\n0.5,0.2,b\n")?;
    /// let mut documents = Documents::open(&path, None)?.rows_without_ids(&[]);
    /// let second = documents.nth(1).unwrap()?;
    /// assert_eq!((second.id.as_str(), second.text("x")), ("2", Some("0.5")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn rows_without_ids(mut self, fields: &[String]) -> Self {
        self.fields = Some(fields.to_vec());
        self.number_rows();
        self
    }

    /// Lets the current input know that it may have no ids.
    fn number_rows(&mut self) {
        if let (Some(fields), Some(open)) = (&self.fields, &mut self.open) {
            open.reader.number_rows(fields, self.finished_documents);
        }
    }

    /// The documents that were skipped so far; `None` if documents that cannot be read are errors.
    pub fn skipped(&self) -> Option<&SkippedDocuments> {
        self.skipped.as_ref()
    }

    /// Bytes read so far, in sizes on disk; for a compressed file, its size times the share of its
    /// content that was read.
    pub fn bytes_read(&self) -> u64 {
        let of_open_input = self.open.as_ref().map_or(0, |open| {
            let (read, length) = open.reader.position();
            let size = open.size.unwrap_or(length);
            let on_disk =
                u128::from(read.min(length)) * u128::from(size) / u128::from(length.max(1));
            u64::try_from(on_disk).unwrap_or(size)
        });
        self.finished_bytes + of_open_input
    }

    /// Bytes of all inputs; `None` if one of them is standard input or another stream.
    pub fn bytes_total(&self) -> Option<u64> {
        self.total_bytes
    }

    /// Recoverable problems so far.
    pub fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    /// Opens the next input that is not blank.
    fn open_next(&mut self) -> Result<(), SearchError> {
        for (path, size) in self.remaining.by_ref() {
            let name = path.display().to_string();
            match open_reader(&path, self.format, &mut self.warnings)? {
                Some((reader, length)) => {
                    let size = size.or(length);
                    self.open = Some(OpenInput { name, reader, size, documents: 0 });
                    self.number_rows();
                    return Ok(());
                }
                None => {
                    self.finished_bytes += size.unwrap_or(0);
                    self.warnings.add(WarningKind::EmptyInputs, 1, || SourceLocation::file(name));
                }
            }
        }
        Ok(())
    }

    /// Closes the current input.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.finished_documents += open.documents;
            self.finished_bytes += open.size.unwrap_or_else(|| open.reader.position().1);
            let empty = u64::from(open.documents == 0);
            self.warnings.add(WarningKind::EmptyInputs, empty, || SourceLocation::file(open.name));
        }
    }
}

impl Iterator for Documents {
    type Item = Result<Document, SearchError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let open = self.open.as_mut()?;
            match open.reader.next(&mut self.warnings) {
                Some(Ok(document)) => {
                    open.documents += 1;
                    let without_text = u64::from(!has_text(&document));
                    self.warnings.add(WarningKind::WithoutText, without_text, || {
                        SourceLocation::file(format!("{}, document {}", open.name, document.id))
                    });
                    return Some(Ok(document));
                }
                Some(Err(error)) => {
                    let is_skipped =
                        self.skipped.as_mut().is_some_and(|skipped| skipped.add(&error));
                    if !is_skipped {
                        return Some(Err(self.end_with(error)));
                    }
                }
                None => {
                    self.close();
                    if let Err(error) = self.open_next() {
                        return Some(Err(self.end_with(error)));
                    }
                }
            }
        }
    }
}

impl Documents {
    /// Ends the stream: no further document is read. Returns the error.
    fn end_with(&mut self, error: SearchError) -> SearchError {
        self.open = None;
        self.remaining = Vec::new().into_iter();
        error
    }
}

impl std::fmt::Debug for Documents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let open = self.open.as_ref().map(|open| &open.name);
        f.debug_struct("Documents").field("open", &open).field("warnings", &self.warnings).finish()
    }
}

/// Whether a document has a text that is not only whitespace.
fn has_text(document: &Document) -> bool {
    let has_words = |text: &String| !text.trim().is_empty();
    document.fields.iter().any(|(_, value)| match value {
        Value::Text(text) => has_words(text),
        Value::Texts(texts) => texts.iter().any(has_words),
        Value::Number(_) => false,
    })
}

/// Bytes on disk of a file, or of all documents in a folder; `None` for standard input and other
/// streams.
fn size_of(path: &Path) -> Result<Option<u64>, SearchError> {
    if is_standard_stream(path) {
        return Ok(None);
    }
    let meta = fs::metadata(path);
    let meta = meta.map_err(|e| DataError::io("read", path.display().to_string(), e))?;
    match meta.is_dir() {
        true => Ok(Some(folder::Folder::open(path)?.position().1)),
        false => Ok(meta.is_file().then_some(meta.len())),
    }
}

/// A reader, and the number of bytes of its input if all of them are in memory.
type SizedReader = (Box<dyn DocumentReader>, Option<u64>);

/// Opens an input; `None` if it is blank.
fn open_reader(
    path: &Path,
    format: Option<DocumentFormat>,
    warnings: &mut Warnings,
) -> Result<Option<SizedReader>, SearchError> {
    if format == Some(DocumentFormat::Folder)
        || (format.is_none() && DocumentFormat::of_path(path).is_some())
    {
        return Ok(Some((Box::new(folder::Folder::open(path)?), None)));
    }
    if let Some(stream) = ContentStream::open(path)?
        && let Some(reader) = streaming_reader(stream, format, warnings)?
    {
        return Ok(Some((reader, None)));
    }
    input_reader(Input::open(path)?, format, warnings)
}

/// Number of bytes at the beginning of a compressed file's content by which the format is detected.
const BEGINNING_BYTES: usize = 1 << 16;

/// The reader for a compressed file, which decompresses a part at a time; `None` if the whole file
/// must be in memory.
fn streaming_reader(
    mut stream: ContentStream,
    format: Option<DocumentFormat>,
    warnings: &mut Warnings,
) -> Result<Option<Box<dyn DocumentReader>>, SearchError> {
    let mut beginning = Vec::new();
    stream.append_to(&mut beginning, BEGINNING_BYTES)?;
    let format = match format {
        Some(format) => format,
        None => match DocumentFormat::of_input(&Input::raw(stream.name(), beginning.clone())) {
            // The first separator of a long header may come after the beginning.
            Ok(Some(DocumentFormat::Csv | DocumentFormat::Tsv)) if !beginning.contains(&b'\n') => {
                return Ok(None);
            }
            Ok(Some(format)) => format,
            // Blank, or unknown by its beginning: detected again when the whole file is in memory.
            _ => return Ok(None),
        },
    };
    let delimiter = match format {
        DocumentFormat::Csv => b',',
        DocumentFormat::Tsv => b'\t',
        _ => {
            let chunked = ChunkedDocuments::new(stream, beginning, format);
            return Ok(chunked.map(|chunked| Box::new(chunked) as Box<dyn DocumentReader>));
        }
    };
    let table = table::TableSource::streamed(stream, beginning, delimiter, warnings)?;
    Ok(Some(Box::new(table)))
}

/// The reader for an input that is not a folder, and is in memory as a whole; `None` if it is
/// blank.
fn input_reader(
    input: Input,
    format: Option<DocumentFormat>,
    warnings: &mut Warnings,
) -> Result<Option<SizedReader>, SearchError> {
    let format = match format {
        Some(format) => Some(format),
        None => DocumentFormat::of_input(&input)?,
    };
    let length = Some(input.bytes.len() as u64);
    let reader: Box<dyn DocumentReader> = match format {
        None => return Ok(None),
        Some(DocumentFormat::Jsonl) => Box::new(jsonl::Jsonl(Cursor::new(input))),
        Some(DocumentFormat::Trec) => Box::new(trec::Trec(Cursor::new(input))),
        Some(DocumentFormat::Smart) => Box::new(smart::Smart::new(Cursor::new(input))),
        Some(DocumentFormat::Csv) => Box::new(table::TableSource::new(input, b',', warnings)?),
        Some(DocumentFormat::Tsv) => Box::new(table::TableSource::new(input, b'\t', warnings)?),
        Some(DocumentFormat::Parquet) => parquet(input)?,
        Some(DocumentFormat::Folder) => {
            let error = io::Error::new(io::ErrorKind::NotADirectory, "it is a file, not a folder");
            return Err(DataError::io("read", input.name, error).into());
        }
    };
    Ok(Some((reader, length)))
}

/// The reader of a Parquet file.
#[cfg(feature = "columnar")]
fn parquet(input: Input) -> Result<Box<dyn DocumentReader>, SearchError> {
    Ok(Box::new(columnar::Parquet::open(input)?))
}

/// The error that this build cannot read Parquet files.
#[cfg(not(feature = "columnar"))]
fn parquet(_: Input) -> Result<Box<dyn DocumentReader>, SearchError> {
    let (format, feature) = (rankwright_data::format::Format::Parquet, "columnar");
    Err(SearchError::from(DataError::NotBuilt { format, feature }))
}
