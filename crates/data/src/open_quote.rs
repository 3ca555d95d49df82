//! Quotes of separated values that are never closed.
//!
//! A quote at the start of a cell opens it, and the next single quote closes it, even if it stands
//! many lines below. Readers of CSV then join these lines to one cell, without an error. Such a
//! cell shows itself by its end: a closing quote is followed by a separator or by a line end, the
//! opening quote of a later cell by its text.

/// The offset in a record of the quote that opens a cell of several lines which has no proper end:
/// no closing quote, or one that is followed by something else than a separator or a line end.
///
/// ```
/// use rankwright_data::open_quote;
///
/// // The second line is a part of the cell that the first line opens.
/// assert_eq!(open_quote(b"1,\"a\n2,\"b\"\n", b','), Some(2));
/// assert_eq!(open_quote(b"1,\"two\nlines\"\n", b','), None);
/// ```
pub fn open_quote(record: &[u8], separator: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let cell = record.get(at..)?;
        let is_end = |byte: &u8| *byte == separator || matches!(byte, b'\r' | b'\n');
        let length = match cell.first() {
            Some(b'"') => {
                let length = quoted_length(cell);
                let quoted = cell.get(..length.unwrap_or(cell.len())).unwrap_or(cell);
                let is_closed = length.is_some_and(|length| cell.get(length).is_none_or(is_end));
                if !is_closed && memchr::memchr(b'\n', quoted.trim_ascii_end()).is_some() {
                    return Some(at);
                }
                // Readers take what follows a closing quote as a part of the cell.
                let rest = cell.get(length?..)?;
                length? + rest.iter().position(is_end)?
            }
            _ => cell.iter().position(is_end)?,
        };
        match cell.get(length) {
            Some(byte) if *byte == separator => at += length + 1,
            _ => return None,
        }
    }
}

/// The length of a quoted cell, with both quotes; `None` if it is not closed.
fn quoted_length(cell: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr(b'"', cell.get(at..)?)? + 1;
        match cell.get(at) {
            Some(b'"') => at += 1,
            _ => return Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cells_of_several_lines_without_a_proper_end_are_found() {
        for proper in [
            "",
            "a,b\n",
            "\"a\",\"b\"\r\n",
            "\"a \"\"b\"\"\nc\",d\n",
            "\"a\nb\"\r\n",
            "\"a\nb\"",
            // A single line: readers take these as they are.
            "5\" disk,\"a\"b\"\n",
            "a,\"b\n",
        ] {
            assert_eq!(open_quote(proper.as_bytes(), b','), None, "{proper:?}");
        }
        for (open, at) in
            [("\"a\nb,\"c\"\n", 0), ("x,\"fine\nhere\",\"a\nb\n", 14), ("x,\"a\"\"\nb,\"c\"\n", 2)]
        {
            assert_eq!(open_quote(open.as_bytes(), b','), Some(at), "{open:?}");
        }
        assert_eq!(open_quote(b"x;\"a\nb\";c\n", b';'), None);
    }
}
