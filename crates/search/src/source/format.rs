//! The formats of documents, and their detection by content.

use std::path::Path;

use rankwright_data::bytes::Input;
use rankwright_data::is_split_by_semicolons;
use rankwright_spec::{SpecError, json_by_text};

use crate::error::SearchError;

/// A format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// One JSON object per line.
    Jsonl,
    /// TREC's `<DOC>` ... `</DOC>`.
    Trec,
    /// SMART's `.I`, `.T`, `.W`: Cranfield, CACM, CISI, MED.
    Smart,
    /// Columns separated by commas or semicolons, with a header line.
    Csv,
    /// Tab-separated columns with a header line.
    Tsv,
    /// Parquet; only if the crate is built with the feature `columnar`.
    Parquet,
    /// A folder of text, Markdown and HTML files.
    Folder,
}

json_by_text!(DocumentFormat, |format: &DocumentFormat| format.name(), |name: &str| {
    let known = || DocumentFormat::ALL.map(DocumentFormat::name);
    DocumentFormat::from_name(name).ok_or_else(|| SpecError::unknown("format", name, &known()))
});

impl DocumentFormat {
    /// Every format, in the order in which help lists them.
    pub const ALL: [DocumentFormat; 7] = [
        DocumentFormat::Jsonl,
        DocumentFormat::Trec,
        DocumentFormat::Smart,
        DocumentFormat::Csv,
        DocumentFormat::Tsv,
        DocumentFormat::Parquet,
        DocumentFormat::Folder,
    ];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            DocumentFormat::Jsonl => "jsonl",
            DocumentFormat::Trec => "trec",
            DocumentFormat::Smart => "smart",
            DocumentFormat::Csv => "csv",
            DocumentFormat::Tsv => "tsv",
            DocumentFormat::Parquet => "parquet",
            DocumentFormat::Folder => "folder",
        }
    }

    /// One line of help.
    pub fn doc(self) -> &'static str {
        match self {
            DocumentFormat::Jsonl => "one JSON object per line, with an id (id, _id, docid, ...)",
            DocumentFormat::Trec => "TREC's <DOC> ... </DOC>",
            DocumentFormat::Smart => "SMART's .I, .T, .W: Cranfield, CACM, CISI, MED",
            DocumentFormat::Csv => "columns separated by commas or semicolons, with a header line",
            DocumentFormat::Tsv => "tab-separated columns with a header line",
            DocumentFormat::Parquet => "Parquet",
            DocumentFormat::Folder => "a folder of text, Markdown and HTML files",
        }
    }

    /// The format of this name.
    ///
    /// ```
    /// use rankwright_search::DocumentFormat;
    /// assert_eq!(DocumentFormat::from_name("smart"), Some(DocumentFormat::Smart));
    /// assert_eq!(DocumentFormat::from_name("word"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<DocumentFormat> {
        DocumentFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Detects the format of an input by its first bytes; `None` if it is blank.
    pub(super) fn of_input(input: &Input) -> Result<Option<DocumentFormat>, SearchError> {
        if input.bytes.starts_with(b"PAR1") {
            return Ok(Some(DocumentFormat::Parquet));
        }
        let text = input.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.bytes);
        let text = text.trim_ascii_start();
        let line = text.split(|&b| b == b'\n').next().unwrap_or(&[]);
        let starts_with = |prefix: &[u8]| {
            text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        let format = match text.first() {
            None => return Ok(None),
            Some(b'{' | b'[') => DocumentFormat::Jsonl,
            _ if starts_with(b"<doc") || starts_with(b"<?xml") => DocumentFormat::Trec,
            _ if text.starts_with(b".I ") || text.starts_with(b".I\t") => DocumentFormat::Smart,
            _ if is_split_by_semicolons(line) => DocumentFormat::Csv,
            _ if line.contains(&b'\t') => DocumentFormat::Tsv,
            _ if line.contains(&b',') => DocumentFormat::Csv,
            _ => {
                return Err(SearchError::UnknownDocumentFormat { file: input.name.clone() });
            }
        };
        Ok(Some(format))
    }

    /// The format of a path that is a folder; `None` for other paths, whose content decides.
    pub(super) fn of_path(path: &Path) -> Option<DocumentFormat> {
        path.is_dir().then_some(DocumentFormat::Folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_detected_by_content() {
        let of = |bytes: &[u8]| {
            DocumentFormat::of_input(&Input::from_bytes("x", bytes.to_vec()).unwrap())
        };
        for (bytes, format) in [
            (&b"\xef\xbb\xbf\n {\"id\":1}"[..], "jsonl"),
            (b"[{\"id\":1}]", "jsonl"),
            (b"\n<DOC>\n", "trec"),
            (b"<doc id=1>", "trec"),
            (b".I 1\n.W\n", "smart"),
            (b"PAR1\0\0", "parquet"),
            (b"id\ttitle, long\n", "tsv"),
            (b"id,title\n1\t,2\n", "csv"),
            (b"id;title, long;price\n", "csv"),
            (b"id;title\tprice\tyear\n", "tsv"),
        ] {
            assert_eq!(of(bytes).unwrap().map(DocumentFormat::name), Some(format));
        }
        assert_eq!(of(b" \n").unwrap(), None);
        let error = of(b"once upon a time\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "x: the first line does not show the format of the documents"
        );
        assert!(error.help().unwrap().contains("jsonl, trec, smart"));
    }
}
