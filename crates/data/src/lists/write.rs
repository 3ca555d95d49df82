//! Writes judgements and runs: TREC columns, a table with a header, or JSON lines.

use std::io::{self, Write};
use std::path::Path;

use rankwright_spec::choices;
use rankwright_spec::visible::{self, is_control};

use super::QueryLists;

choices! {
    /// A format of judgements and runs.
    pub enum ListFormat {
        /// TREC columns, separated by spaces.
        Trec = "trec",
        /// `query-id corpus-id score`, separated by tabs, with that header.
        Table = "table",
        /// One JSON object per line.
        Jsonl = "jsonl",
    }
}

impl ListFormat {
    /// The format of a path's extension: JSON lines for `.jsonl`, otherwise TREC columns.
    pub fn from_path(path: impl AsRef<Path>) -> Self {
        match path.as_ref().extension().is_some_and(|extension| extension == "jsonl") {
            true => ListFormat::Jsonl,
            false => ListFormat::Trec,
        }
    }
}

/// The kind of list to write; the kinds differ in their TREC columns and in the JSON key of the
/// number.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListColumns<'a> {
    Qrels,
    Run { tag: &'a str },
}

/// Writes lists; an error for ids that the format cannot hold.
pub(super) fn write(
    lists: &QueryLists,
    out: &mut dyn Write,
    columns: ListColumns<'_>,
    format: ListFormat,
) -> io::Result<()> {
    if let ListColumns::Run { tag } = columns
        && format == ListFormat::Trec
        && is_invalid(tag)
    {
        let message = "the name of the run is empty, has spaces or control characters, or starts \
                       with #";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    if format == ListFormat::Table {
        writeln!(out, "query-id\tcorpus-id\tscore")?;
    }
    for query in 0..lists.queries() {
        let id = lists.query_id(query);
        for (index, document) in lists.list(query).enumerate() {
            let doc = std::str::from_utf8(document.id).map_err(|_| refused("is not UTF-8"))?;
            if format != ListFormat::Jsonl && [id, doc].iter().any(|w| is_invalid(w)) {
                return Err(refused(
                    "is empty, has spaces or control characters, or starts with #; write JSON lines \
                     instead",
                ));
            }
            write_line(out, columns, format, id, doc, index + 1, document.value)?;
        }
    }
    Ok(())
}

/// Whether an id cannot be a column of a text file.
fn is_invalid(word: &str) -> bool {
    word.is_empty() || word.contains(|c| c == ' ' || is_control(c)) || word.starts_with('#')
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("a query or document id {why}"))
}

fn write_line(
    out: &mut dyn Write,
    columns: ListColumns<'_>,
    format: ListFormat,
    query: &str,
    doc: &str,
    rank: usize,
    value: f64,
) -> io::Result<()> {
    match (format, columns) {
        (ListFormat::Trec, ListColumns::Qrels) => writeln!(out, "{query} 0 {doc} {value}"),
        (ListFormat::Trec, ListColumns::Run { tag }) => {
            writeln!(out, "{query} Q0 {doc} {rank} {value} {tag}")
        }
        (ListFormat::Table, _) => writeln!(out, "{query}\t{doc}\t{value}"),
        (ListFormat::Jsonl, _) => {
            let key = if matches!(columns, ListColumns::Qrels) { "relevance" } else { "score" };
            let row = serde_json::json!({"query_id": query, "doc_id": doc, key: value});
            writeln!(out, "{}", visible::json(&row.to_string()))
        }
    }
}
