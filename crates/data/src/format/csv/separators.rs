//! The separators of a file: the delimiter of its columns, and its decimal sign.
//!
//! Spreadsheets separate columns by semicolons in countries that write decimal commas. A CSV file is
//! read so if its header has more semicolons than commas and more than tabs. If one cell of such a
//! file is a number with a decimal comma, such as `12,50`, the whole file is taken to have decimal
//! commas. Then `1.234`, which may mean 1234, is not read as a number.

use std::borrow::Cow;

use memchr::memchr_iter;

use crate::format::detect::is_split_by_semicolons;
use crate::formatted_number::{exchange_commas_and_points, is_decimal_comma};

/// Cells with more bytes are not searched for decimal commas.
const MAX_NUMBER_BYTES: usize = 32;

/// The separators of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Separators {
    /// The byte between two cells.
    pub(super) delimiter: u8,
    /// Whether numbers have a decimal comma.
    pub(super) has_decimal_commas: bool,
}

impl Separators {
    /// The separators of a text without byte-order mark; `delimiter` is that of the format.
    pub(super) fn of(text: &[u8], delimiter: u8) -> Separators {
        let line = text.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        if delimiter == b',' && is_split_by_semicolons(line) {
            return Separators { delimiter: b';', has_decimal_commas: has_decimal_commas(text) };
        }
        Separators { delimiter, has_decimal_commas: false }
    }

    /// The text of a number with the decimal point that readers of numbers expect. In a file with
    /// decimal commas, commas and points are exchanged.
    pub(super) fn with_point<'c>(&self, cell: Cow<'c, [u8]>) -> Cow<'c, [u8]> {
        match self.has_decimal_commas && cell.iter().any(|byte| matches!(byte, b',' | b'.')) {
            true => Cow::Owned(exchange_commas_and_points(&cell)),
            false => cell,
        }
    }
}

/// Whether any cell of a text that is separated by semicolons is a number with a decimal comma.
fn has_decimal_commas(text: &[u8]) -> bool {
    memchr_iter(b',', text).any(|at| cell_around(text, at).is_some_and(is_decimal_comma))
}

/// The cell around an offset, without quotes and spaces; `None` if it is too long for a number.
fn cell_around(text: &[u8], at: usize) -> Option<&str> {
    let is_end = |byte: &u8| matches!(byte, b';' | b'\n' | b'\r' | b'"');
    let start = at.saturating_sub(MAX_NUMBER_BYTES);
    let before = text.get(start..at)?;
    let after = text.get(at..(at + MAX_NUMBER_BYTES).min(text.len()))?;
    let start = match before.iter().rposition(is_end) {
        Some(found) => start + found + 1,
        None if start == 0 => 0,
        None => return None,
    };
    let end = match after.iter().position(is_end) {
        Some(found) => at + found,
        None if at + after.len() == text.len() => text.len(),
        None => return None,
    };
    std::str::from_utf8(text.get(start..end)?).ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_and_the_cells_decide() {
        let of = |text: &str| {
            let found = Separators::of(text.as_bytes(), b',');
            (char::from(found.delimiter), found.has_decimal_commas)
        };
        assert_eq!(of("a;b\n1;2,5\n"), (';', true));
        assert_eq!(of("a;b\n1;\" -2,5 \""), (';', true));
        assert_eq!(of("a;b;c\n2,5;1;2"), (';', true));
        for points in ["a;b\n1;2.5\n", "a;b\n1;red, blue\n", "a;b\n1,2,3;4\n", "a;b\n1;x1,5\n"] {
            assert_eq!(of(points), (';', false), "{points}");
        }
        let long = format!("a;b\n1;{}1,5{}\n", "x".repeat(40), "y".repeat(40));
        assert_eq!(of(&long), (';', false));
        assert_eq!(of("a,b;c,d\n1,2\n"), (',', false));
        assert_eq!(of("\"a;b;c\",d\n1,2\n"), (',', false));
        assert_eq!(Separators::of(b"a;b\tc;d\n", b'\t').delimiter, b'\t');
    }

    #[test]
    fn commas_and_points_change_their_meaning_together() {
        let comma = Separators { delimiter: b';', has_decimal_commas: true };
        let point = Separators { has_decimal_commas: false, ..comma };
        for (cell, expected) in
            [("1,5", "1.5"), ("1.234", "1,234"), ("1.234,5", "1,234.5"), ("7", "7")]
        {
            assert_eq!(comma.with_point(cell.as_bytes().into()), expected.as_bytes());
            assert_eq!(point.with_point(cell.as_bytes().into()), cell.as_bytes());
        }
    }
}
