//! A small table that renders as plain text, Markdown or LaTeX.
//!
//! Cells hold their meaning (best of the column, significantly better or worse) as data; each
//! output format decides how to show it: text writes `*` and `▲`, Markdown `**...**`, LaTeX
//! `\textbf` and a triangle. The width of a column is a number of characters, which is too small
//! only for wide characters, such as Chinese ones. Cost is linear in the cells.
//!
//! Edge cases: rows may be shorter or longer than the header, missing cells are empty and missing
//! alignments left; a table without rows still has its header; line breaks and tabs in a cell
//! become spaces.

mod comparison;
mod latex;
mod markdown;
mod text;

pub use comparison::{comparison_details, comparison_table};

use rankwright_spec::visible;

use crate::compare::Mark;

/// The alignment of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    /// Left, for text.
    #[default]
    Left,
    /// Right, for numbers.
    Right,
}

/// One cell: its text, and its marks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text, without any markup.
    pub text: String,
    /// Whether the cell has the best value of its column.
    pub best: bool,
    /// Mark of a significant difference from the baseline, after the text.
    pub mark: Mark,
}

impl Cell {
    /// A cell without marks.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The text on one line.
    fn line(&self) -> String {
        one_line(&self.text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// A table: header, alignment, rows, and notes below.
///
/// ```
/// use rankwright_eval::table::{Align, Cell, Table};
/// let mut table = Table::new([("system", Align::Left), ("map", Align::Right)]);
/// table.rows.push(vec!["bm25".into(), "0.25".into()]);
/// table.rows.push(vec!["learnt".into(), Cell { best: true, ..Cell::new("0.31") }]);
/// assert_eq!(table.to_markdown(), "\
/// | system |      map |
/// |:-------|---------:|
/// | bm25   |     0.25 |
/// | learnt | **0.31** |
/// ");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Alignment of the columns.
    pub align: Vec<Align>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Lines below the table, such as a legend.
    pub notes: Vec<String>,
}

impl Table {
    /// A table with these columns and no rows yet.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = (S, Align)>) -> Self {
        let (header, align) = columns.into_iter().map(|(name, side)| (name.into(), side)).unzip();
        Self { header, align, ..Self::default() }
    }

    /// Aligned plain text; the best cell of a column is followed by `*`.
    pub fn to_text(&self) -> String {
        text::render(self)
    }

    /// Aligned plain text of at most this many characters a line, where that is possible: texts in
    /// columns aligned to the left, and notes, continue on further lines. Numbers are never broken.
    ///
    /// ```
    /// use rankwright_eval::table::{Align, Table};
    /// let mut table = Table::new([("name", Align::Left), ("meaning", Align::Left)]);
    /// table.rows.push(vec!["rate".into(), "the learning rate of a round".into()]);
    /// assert_eq!(table.to_text_within(24), "\
    /// name  meaning
    /// ----  ------------------
    /// rate  the learning rate
    ///       of a round
    /// ");
    /// ```
    pub fn to_text_within(&self, width: usize) -> String {
        text::render_within(self, width)
    }

    /// A Markdown table; best cells are bold.
    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    /// A LaTeX `tabular` with booktabs rules; best cells are bold.
    pub fn to_latex(&self) -> String {
        latex::render(self)
    }

    /// Number of columns: of the longest row or of the header.
    fn columns(&self) -> usize {
        self.rows.iter().map(Vec::len).fold(self.header.len(), usize::max)
    }

    fn align_of(&self, column: usize) -> Align {
        self.align.get(column).copied().unwrap_or_default()
    }

    /// The header as cells, padded to all columns.
    fn header_cells(&self) -> Vec<Cell> {
        let names = self.header.iter().map(|name| Cell::new(name.as_str()));
        let missing = self.columns().saturating_sub(self.header.len());
        names.chain(std::iter::repeat_n(Cell::default(), missing)).collect()
    }

    /// The rows, each padded to all columns.
    fn padded_rows(&self) -> impl Iterator<Item = Vec<Cell>> {
        let columns = self.columns();
        self.rows.iter().map(move |row| {
            let missing = columns.saturating_sub(row.len());
            row.iter().cloned().chain(std::iter::repeat_n(Cell::default(), missing)).collect()
        })
    }
}

/// The text with spaces for line breaks and tabs, which would break a row in every output format,
/// and with other control characters as escapes.
fn one_line(text: &str) -> String {
    visible::one_line(&text.replace(['\n', '\r', '\t', '\u{2028}', '\u{2029}'], " ")).into_owned()
}

/// Escapes Markdown markup in a text that we did not write, and puts it on one line.
///
/// ```
/// use rankwright_eval::table::escape_markdown;
/// assert_eq!(escape_markdown("a_b\n# c"), "a\\_b \\# c");
/// ```
pub fn escape_markdown(text: &str) -> String {
    markdown::escape(text)
}

/// The number of characters of a text.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// Pads `text` with spaces to at least this many characters.
fn pad(text: &str, min_width: usize, align: Align) -> String {
    let space = " ".repeat(min_width.saturating_sub(width(text)));
    match align {
        Align::Left => format!("{text}{space}"),
        Align::Right => format!("{space}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of two columns, a row of three cells, an empty row.
    fn ragged() -> Table {
        let mut table = Table::new([("a", Align::Left), ("b", Align::Right)]);
        table.rows.push(vec!["1".into(), "two\nlines".into(), "3".into()]);
        table.rows.push(vec![]);
        table
    }

    #[test]
    fn ragged_rows_render_without_losing_a_cell() {
        assert_eq!(ragged().to_text(), "a          b\n-  ---------  -\n1  two lines  3\n\n");
        assert_eq!(
            ragged().to_markdown(),
            "\
| a |         b |   |
|:--|----------:|:--|
| 1 | two lines | 3 |
|   |           |   |
"
        );
        assert!(ragged().to_latex().contains("1 & two lines & 3 \\\\\n &  &  \\\\\n"));
    }

    #[test]
    fn an_empty_table_renders_in_every_format() {
        let empty = Table::default();
        assert_eq!(empty.to_text(), "\n\n");
        assert_eq!(empty.to_markdown(), "|\n|\n");
        assert!(empty.to_latex().contains("\\begin{tabular}{}"));
    }
}
