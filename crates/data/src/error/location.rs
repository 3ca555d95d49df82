//! Locations in an input, and quoted bytes for errors.

use std::fmt;

use rankwright_spec::visible::one_line;

use serde::Serialize;

/// A location in an input: a file, and as far as known the line, the column and the field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// File name as the user gave it; `-` is standard input.
    pub file: String,
    /// Line (or record) number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Byte column inside the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// Name of the field or column, if the format has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl SourceLocation {
    /// A whole file.
    pub fn file(file: impl Into<String>) -> Self {
        SourceLocation { file: file.into(), ..SourceLocation::default() }
    }

    /// A line of a file.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        SourceLocation { file: file.into(), line: Some(line), ..SourceLocation::default() }
    }

    /// The same location with a byte column (from 1).
    pub fn at_column(mut self, column: u64) -> Self {
        self.column = Some(column);
        self
    }

    /// The same location with a field name.
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if let Some(field) = &self.field {
            write!(f, " (column '{}')", one_line(field))?;
        }
        Ok(())
    }
}

/// Bytes as an error shows them: the first 40 characters, escaped and quoted.
pub fn quote(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".into();
    }
    // 40 characters are at most 160 bytes; a line of 100 MB need not be decoded as a whole.
    let text = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes));
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_prints_its_known_parts() {
        assert_eq!(SourceLocation::file("a.txt").to_string(), "a.txt");
        assert_eq!(SourceLocation::line("a.txt", 3).at_column(7).to_string(), "a.txt:3:7");
        assert_eq!(
            SourceLocation::line("a.csv", 2).in_field("bm25").to_string(),
            "a.csv:2 (column 'bm25')"
        );
    }

    #[test]
    fn quoted_text_is_escaped_and_short() {
        assert_eq!(quote(b""), "nothing");
        assert_eq!(quote(b"a\tb"), "'a\\tb'");
        // 40 characters, an ellipsis and two quotation marks.
        assert_eq!(quote(&[b'x'; 50]).chars().count(), 43);
    }
}
