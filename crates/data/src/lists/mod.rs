//! Judgements and runs: for each query a list of documents with a number each.
//!
//! [`Qrels`] have the relevance of documents, a [`Run`] has the scores of a system. Both hold a
//! document id as a range of the text of the file, in 16 bytes per document together with the
//! number, so that ten million documents need little more memory than their file. TREC columns,
//! tab-separated tables with a header (BEIR), and JSON lines are read; the format is detected by
//! content.

mod json;
mod read;
mod write;

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use crate::bytes::{Bytes, Input};
use crate::error::{DataError, SourceLocation};
use crate::store::write_atomic;
use crate::warnings::Warnings;

pub use write::ListFormat;

/// Documents with a number each, by query.
#[derive(Debug)]
pub struct QueryLists {
    /// The name of the input.
    name: String,
    /// The text that contains the document ids.
    text: Bytes,
    /// Whether `text` is the file itself, so that the line of a document is known.
    is_file: bool,
    /// The documents in file order, in blocks that were read in parallel.
    blocks: Vec<Vec<PackedDocument>>,
    queries: Vec<QueryList>,
    /// The number of each query id.
    by_id: HashMap<String, u32, foldhash::fast::RandomState>,
}

#[derive(Debug)]
struct QueryList {
    id: String,
    /// This query's documents in file order: the number of a block, and a range of its documents.
    spans: Vec<(u32, Range<u32>)>,
}

/// A document: the range of its id in the text, and its number.
#[derive(Debug, Clone, Copy)]
struct PackedDocument {
    /// The start of the range in the upper 48 bits, its length in the lower 16 bits.
    id_range: u64,
    value: f64,
}

impl PackedDocument {
    /// `None` if the id is too long (over 65,535 bytes) or starts beyond 2^48.
    fn new(range: Range<usize>, value: f64) -> Option<PackedDocument> {
        let length = u16::try_from(range.len()).ok()?;
        let start = u64::try_from(range.start).ok().filter(|s| *s < 1 << 48)?;
        Some(PackedDocument { id_range: start << 16 | u64::from(length), value })
    }

    /// The range of the id in the text.
    fn range(self) -> Range<usize> {
        let start = (self.id_range >> 16) as usize;
        start..start + (self.id_range & 0xffff) as usize
    }
}

/// A document of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListedDocument<'a> {
    /// The document id.
    pub id: &'a [u8],
    /// The score or relevance.
    pub value: f64,
}

impl QueryLists {
    /// Makes lists from rows (query, document, number), queries in the order of first appearance.
    pub fn from_rows<'a>(
        name: impl Into<String>,
        rows: impl IntoIterator<Item = (&'a str, &'a str, f64)>,
    ) -> Result<QueryLists, DataError> {
        let mut text = Vec::new();
        let mut entries = Vec::new();
        let mut adjacent_documents: Vec<(String, u32)> = Vec::new();
        for (query, document, value) in rows {
            let start = text.len();
            text.extend_from_slice(document.as_bytes());
            let entry = PackedDocument::new(start..text.len(), value);
            let bytes = document.len();
            entries.push(entry.ok_or(DataError::LongDocumentId { bytes })?);
            match adjacent_documents.last_mut() {
                Some((id, rows)) if id == query => *rows += 1,
                _ => adjacent_documents.push((query.to_owned(), 1)),
            }
        }
        let mut lists = QueryLists::empty(name.into(), text.into(), false);
        lists.add_block(entries, adjacent_documents);
        Ok(lists)
    }

    fn empty(name: String, text: Bytes, is_file: bool) -> QueryLists {
        let (blocks, queries) = (Vec::new(), Vec::new());
        QueryLists { name, text, is_file, blocks, queries, by_id: HashMap::default() }
    }

    /// Adds a block of documents; `adjacent_documents` has the query ids, each with the number of
    /// adjacent documents of that query.
    fn add_block(&mut self, entries: Vec<PackedDocument>, adjacent_documents: Vec<(String, u32)>) {
        let block = self.blocks.len() as u32;
        let mut start = 0;
        for (id, rows) in adjacent_documents {
            let query = match self.by_id.get(&id) {
                Some(&query) => query,
                None => {
                    let query = self.queries.len() as u32;
                    self.by_id.insert(id.clone(), query);
                    self.queries.push(QueryList { id, spans: Vec::new() });
                    query
                }
            };
            if let Some(list) = self.queries.get_mut(query as usize) {
                list.spans.push((block, start..start + rows));
            }
            start += rows;
        }
        self.blocks.push(entries);
    }

    /// The name of the input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Number of documents over all queries.
    pub fn documents(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// The id of a query.
    ///
    /// # Panics
    ///
    /// If there is no such query.
    #[allow(clippy::indexing_slicing, reason = "the id of another query would go unnoticed")]
    pub fn query_id(&self, query: usize) -> &str {
        &self.queries[query].id
    }

    /// The number of the query with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).map(|&query| query as usize)
    }

    #[allow(clippy::indexing_slicing, reason = "an empty list would go unnoticed")]
    fn entries(&self, query: usize) -> impl Iterator<Item = PackedDocument> + '_ {
        self.queries[query].spans.iter().flat_map(|(block, range)| {
            let block = &self.blocks[*block as usize];
            block[range.start as usize..range.end as usize].iter().copied()
        })
    }

    /// Each query's id with its documents.
    pub fn iter(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = ListedDocument<'_>>)> {
        (0..self.queries()).map(|query| (self.query_id(query), self.list(query)))
    }

    /// The documents of a query, in the order of the input.
    pub fn list(&self, query: usize) -> impl Iterator<Item = ListedDocument<'_>> {
        self.entries(query).map(|entry| ListedDocument {
            id: self.text.get(entry.range()).unwrap_or(&[]),
            value: entry.value,
        })
    }

    /// The location in the input of a document, given by its index in the query's list.
    pub fn location(&self, query: usize, document: usize) -> SourceLocation {
        match self.entries(query).nth(document) {
            Some(entry) if self.is_file => {
                let before = self.text.get(..entry.range().start).unwrap_or(&[]);
                let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
                SourceLocation::line(&self.name, line)
            }
            _ => SourceLocation::file(&self.name),
        }
    }
}

impl PartialEq for QueryLists {
    /// Equal queries in the same order, with equal documents and numbers in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.queries() == other.queries()
            && (0..self.queries())
                .all(|q| self.query_id(q) == other.query_id(q) && self.list(q).eq(other.list(q)))
    }
}

/// Relevance judgements.
///
/// ```
/// use rankwright_data::{Qrels, bytes::Input};
/// let input = Input::from_bytes("qrels", b"q1 0 d1 2\nq1 0 d2 0\n".to_vec())?;
/// let (qrels, _) = Qrels::read(input)?;
/// assert_eq!(qrels.lists().list(0).map(|d| d.value).collect::<Vec<_>>(), [2.0, 0.0]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct Qrels(QueryLists);

impl Qrels {
    /// Reads judgements: TREC columns `qid 0 docid relevance`, a table `query-id corpus-id
    /// score` with a header, JSON lines, Cranfield's `qid docid relevance` (relevance codes are not
    /// changed) or SMART's `qid docid 0 0` (every document has relevance 1).
    pub fn read(input: Input) -> Result<(Qrels, Warnings), DataError> {
        read::read(input, read::ListKind::Qrels).map(|(lists, warnings)| (Qrels(lists), warnings))
    }

    /// Judgements from lists whose numbers are relevance grades.
    pub fn from_lists(lists: QueryLists) -> Qrels {
        Qrels(lists)
    }

    /// The judgements by query.
    pub fn lists(&self) -> &QueryLists {
        &self.0
    }

    /// Reads judgements from a file; [`read`](Self::read) returns warnings too.
    pub fn open(path: impl AsRef<Path>) -> Result<Qrels, DataError> {
        Ok(Qrels::read(Input::open(path)?)?.0)
    }

    /// Each query's id with its judged documents.
    pub fn iter(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = ListedDocument<'_>>)> {
        self.0.iter()
    }

    /// Writes judgements to a file, atomically.
    pub fn save(&self, path: impl AsRef<Path>, format: ListFormat) -> Result<(), DataError> {
        write_atomic(path, |out| self.write_to(out, format))
    }

    /// Writes judgements into a writer.
    pub fn write_to(&self, mut out: impl Write, format: ListFormat) -> io::Result<()> {
        write::write(&self.0, &mut out, write::ListColumns::Qrels, format)
    }
}

/// The output of a system: documents with scores, by query.
#[derive(Debug, PartialEq)]
pub struct Run(QueryLists);

impl Run {
    /// Reads a run: TREC columns `qid Q0 docid rank score tag`, a table `query-id corpus-id
    /// score` with a header, or JSON lines. Ranks and row order in the file do not matter.
    pub fn read(input: Input) -> Result<(Run, Warnings), DataError> {
        read::read(input, read::ListKind::Run).map(|(lists, warnings)| (Run(lists), warnings))
    }

    /// A run from lists whose numbers are scores.
    pub fn from_lists(lists: QueryLists) -> Run {
        Run(lists)
    }

    /// The documents and scores by query.
    pub fn lists(&self) -> &QueryLists {
        &self.0
    }

    /// Reads a run from a file; [`read`](Self::read) returns warnings too.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("bm25.run");
    /// # std::fs::write(&path, "q1 Q0 d7 1 9.5 bm25\n").unwrap();
    /// use rankwright_data::Run;
    /// for (query, documents) in Run::open(&path)?.iter() {
    ///     for document in documents {
    ///         assert_eq!((query, document.id, document.value), ("q1", &b"d7"[..], 9.5));
    ///     }
    /// }
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<Run, DataError> {
        Ok(Run::read(Input::open(path)?)?.0)
    }

    /// Each query's id with its documents, in the order of the input.
    pub fn iter(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = ListedDocument<'_>>)> {
        self.0.iter()
    }

    /// Writes a run to a file, atomically; ranks count documents in the order of each list.
    pub fn save(
        &self,
        path: impl AsRef<Path>,
        format: ListFormat,
        tag: &str,
    ) -> Result<(), DataError> {
        write_atomic(path, |out| self.write_to(out, format, tag))
    }

    /// Writes a run into a writer; ranks count documents in the order of each list.
    pub fn write_to(&self, mut out: impl Write, format: ListFormat, tag: &str) -> io::Result<()> {
        write::write(&self.0, &mut out, write::ListColumns::Run { tag }, format)
    }
}

#[cfg(test)]
mod tests;
