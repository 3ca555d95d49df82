//! The fast reader of JSON lines. It reads lines whose keys are those of the first line, in the
//! same order, with ordinary numbers and texts without escapes, straight into a row of the matrix,
//! and returns `None` for anything else: the caller then reads the same line with the reference
//! reader. A property test checks that the two agree.

use memchr::memchr2;

use super::{FeatureLayout, LineLayout};
use crate::error::SourceLocation;
use crate::format::roles::Role;
use crate::format::table::{CellRead, RoleValues, RowPart, Slot, TableSchema, is_code};
use crate::number::{Window, f32_token, window};

/// The expected keys, as JSON text and in the order of the first line, with the targets of their
/// values.
pub(super) struct FastLines {
    keys: Vec<(Box<[u8]>, FastValue)>,
}

/// The target of a value.
enum FastValue {
    Cell(Slot),
    /// An object of features: the expected keys with their targets.
    Object(Vec<(Box<[u8]>, Slot)>),
    /// An array of features.
    Array(Vec<Slot>),
}

/// A key as JSON text, with its quotes.
fn json_text(key: &str) -> Box<[u8]> {
    // A text can always be written as JSON.
    serde_json::to_vec(key).unwrap_or_default().into()
}

impl FastLines {
    pub(super) fn new(layout: &LineLayout, schema: &TableSchema) -> FastLines {
        let value = |column: &Option<usize>| match (column, &layout.features) {
            (Some(column), _) => FastValue::Cell(schema.slot_of(*column)),
            (None, FeatureLayout::Object(_, order)) => {
                let slot =
                    |(name, column): &(String, usize)| (json_text(name), schema.slot_of(*column));
                FastValue::Object(order.iter().map(slot).collect())
            }
            (None, FeatureLayout::Array(columns)) => {
                FastValue::Array(columns.iter().map(|column| schema.slot_of(*column)).collect())
            }
            // Cannot happen: a key without a column is `features`.
            (None, FeatureLayout::None) => FastValue::Array(Vec::new()),
        };
        let keys = layout.key_order.iter().map(|(key, column)| (json_text(key), value(column)));
        FastLines { keys: keys.collect() }
    }

    /// Reads a line: features into `row`, other values into the result. `None` if the line has an
    /// unusual form; the row may then be partly overwritten.
    pub(super) fn line<'a>(
        &self,
        text: &'a [u8],
        schema: &TableSchema,
        row: &mut [f32],
        part: &mut RowPart,
        location: impl Fn() -> SourceLocation,
    ) -> Option<RoleValues<'a>> {
        let mut cursor = LineCursor { text, at: 0 };
        let mut role_values = RoleValues::default();
        let mut target = Target {
            schema,
            row,
            missing_words: Vec::new(),
            not_numbers: Vec::new(),
            unseen: Vec::new(),
        };
        cursor.expect(b'{')?;
        for (number, (key, value)) in self.keys.iter().enumerate() {
            if number > 0 {
                cursor.expect(b',')?;
            }
            cursor.key(key)?;
            match value {
                FastValue::Cell(slot) => cursor.value(*slot, &mut target, &mut role_values)?,
                FastValue::Object(members) => {
                    cursor.expect(b'{')?;
                    for (number, (key, slot)) in members.iter().enumerate() {
                        if number > 0 {
                            cursor.expect(b',')?;
                        }
                        cursor.key(key)?;
                        cursor.value(*slot, &mut target, &mut role_values)?;
                    }
                    cursor.expect(b'}')?;
                }
                FastValue::Array(slots) => {
                    cursor.expect(b'[')?;
                    for (number, slot) in slots.iter().enumerate() {
                        if number > 0 {
                            cursor.expect(b',')?;
                        }
                        cursor.value(*slot, &mut target, &mut role_values)?;
                    }
                    cursor.expect(b']')?;
                }
            }
        }
        cursor.expect(b'}')?;
        if !cursor.is_at_end() {
            return None;
        }
        for (feature, cell) in std::mem::take(&mut target.unseen) {
            part.warn_of_unseen(schema, feature, &cell, &location);
        }
        for (feature, word) in std::mem::take(&mut target.missing_words) {
            part.missing_words.add(feature, &word, &location);
        }
        target.not_numbers.into_iter().for_each(|feature| part.mark_not_number(feature));
        Some(role_values)
    }
}

/// The row that a line is read into.
struct Target<'t> {
    schema: &'t TableSchema,
    row: &'t mut [f32],
    /// Features with missing values that are written as words, such as `NULL`.
    missing_words: Vec<(usize, Vec<u8>)>,
    /// Features that were guessed to be numbers, but have another value in this line.
    not_numbers: Vec<usize>,
    /// Features of categories with texts of this line that are none of earlier data's categories.
    unseen: Vec<(usize, Vec<u8>)>,
}

/// A position in the text of a line. Methods return `None` if the text has an unusual form.
struct LineCursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> LineCursor<'a> {
    /// Skips whitespace, then this byte.
    #[inline(always)]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_blanks();
        (*self.text.get(self.at)? == byte).then(|| self.at += 1)
    }

    #[inline(always)]
    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Skips a key and its colon.
    #[inline(always)]
    fn key(&mut self, key: &[u8]) -> Option<()> {
        self.skip_blanks();
        if !self.text.get(self.at..)?.starts_with(key) {
            return None;
        }
        self.at += key.len();
        self.expect(b':')
    }

    fn is_at_end(&self) -> bool {
        self.text.get(self.at..).unwrap_or(&[]).trim_ascii().is_empty()
    }

    /// Reads a value: a feature into the row of `target`, another value into `role_values`.
    #[inline]
    fn value(
        &mut self,
        slot: Slot,
        target: &mut Target<'_>,
        role_values: &mut RoleValues<'a>,
    ) -> Option<()> {
        self.skip_blanks();
        if let Slot::Number { feature, .. } = slot
            && let Some((value, length)) = number(self.text, self.at)
        {
            *target.row.get_mut(feature)? = value;
            self.at += length;
            return Some(());
        }
        let (cell, is_text) = self.cell()?;
        match slot {
            Slot::Role(Role::Ignore) => Some(()),
            Slot::Role(Role::Query | Role::Docid) => {
                let is_plain = is_text || (!cell.is_empty() && cell.iter().all(u8::is_ascii_digit));
                let text = std::str::from_utf8(cell).ok().filter(|_| is_plain)?;
                role_values.set_text(slot, text.into()).ok()
            }
            Slot::Role(_) | Slot::ExtraLabel(_) => {
                let text = std::str::from_utf8(cell).ok().filter(|_| !is_text)?;
                role_values.set_text(slot, text.into()).ok()
            }
            slot => {
                match (target.schema.set_text(slot, cell, target.row).ok()?, slot) {
                    (CellRead::MissingWord, slot) => {
                        let (feature, _) = target.schema.features_of(slot);
                        target.missing_words.push((feature, cell.to_vec()));
                    }
                    (CellRead::NotNumber, Slot::Number { feature, .. }) => {
                        target.not_numbers.push(feature);
                    }
                    (CellRead::UnseenCategory, Slot::Category { feature, .. }) => {
                        target.unseen.push((feature, cell.to_vec()));
                    }
                    _ => {}
                }
                Some(())
            }
        }
    }

    /// The text of a value, and whether it is in quotes; `null` is an empty text.
    fn cell(&mut self) -> Option<(&'a [u8], bool)> {
        let rest = self.text.get(self.at..)?;
        if let Some(b'"') = rest.first() {
            let inside = rest.get(1..)?;
            let end = memchr2(b'"', b'\\', inside)?;
            let cell = inside.get(..end).filter(|_| inside.get(end) == Some(&b'"'))?;
            self.at += end + 2;
            // Control characters are not allowed in texts.
            return cell.iter().all(|byte| *byte >= b' ').then_some((cell, true));
        }
        let is_inside =
            |byte: &u8| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
        let length = rest.iter().take_while(|byte| is_inside(byte)).count();
        let cell = rest.get(..length)?;
        self.at += length;
        match cell {
            b"null" => Some((b"", false)),
            b"true" | b"false" => Some((cell, false)),
            _ => is_json_number(cell).then_some((cell, false)),
        }
    }
}

/// Whether a text is a number by JSON's grammar.
fn is_json_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole_digits = digits(text);
    // JSON allows no leading zeros.
    if whole_digits == 0 || is_code(text.get(..whole_digits).unwrap_or(&[])) {
        return false;
    }
    let mut rest = text.get(whole_digits..).unwrap_or(&[]);
    if let Some(fraction) = rest.strip_prefix(b".") {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = fraction.get(length..).unwrap_or(&[]);
    }
    match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let exponent =
                exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        _ => false,
    }
}

/// The number at an offset, and its length; `None` if it is not a number without exponent of at
/// most 15 bytes.
#[inline(always)]
fn number(text: &[u8], at: usize) -> Option<(f32, usize)> {
    let window: &Window = window(text, at)?;
    let (length, is_plain) = number_length(window);
    // JSON has no leading zeros, no plus sign, and digits on both sides of a point.
    let [one, two, three, ..] = *window;
    let (first, second) = if one == b'-' { (two, three) } else { (one, two) };
    let is_start_valid = first.is_ascii_digit() && !(first == b'0' && second.is_ascii_digit());
    if !is_plain || !is_start_valid || length > 15 || length == 0 {
        return None;
    }
    if !window.get(length - 1)?.is_ascii_digit() {
        return None;
    }
    Some((f32_token(window, length)?, length))
}

/// The length of the token at the start of a window (at most 16), up to a comma, a bracket or
/// whitespace; and whether it consists of digits, a minus sign in front, and points that are each
/// followed by a digit.
#[inline(always)]
fn number_length(window: &Window) -> (usize, bool) {
    let (mut length, mut is_plain, mut is_after_point) = (0, true, false);
    for byte in window.iter().take(16) {
        match byte {
            b'0'..=b'9' => is_after_point = false,
            b'.' => {
                is_plain &= !is_after_point;
                is_after_point = true;
            }
            b'-' if length == 0 => {}
            b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' => break,
            _ => is_plain = false,
        }
        length += 1;
    }
    (length, is_plain && !is_after_point)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::super::JsonTable;
    use super::*;
    use crate::format::ReadOptions;
    use crate::format::table::{TableRead, TableSource, read_table};
    use crate::warnings::Warnings;

    proptest! {
        #[test]
        fn numbers_are_those_of_the_json_grammar(
            text in "-?[0-9.eE+-]{1,10}|-?[0-9]{1,3}[.]?[0-9]{0,3}(e[0-9])?",
        ) {
            let is_valid = serde_json::from_str::<Box<RawValue>>(&text).is_ok();
            prop_assert_eq!(is_json_number(text.as_bytes()), is_valid, "{}", text);
            let padded = [text.as_bytes(), b",", &[b' '; 32]].concat();
            if let Some((value, length)) = number(&padded, 0) {
                prop_assert!(is_valid && length == text.len());
                prop_assert_eq!(value.to_bits(), text.parse::<f32>().unwrap().to_bits());
            }
        }
    }

    /// A table that is read by the reference reader only.
    struct ReferenceTable<'a>(JsonTable<'a>);

    impl TableSource for ReferenceTable<'_> {
        fn file(&self) -> &str {
            self.0.file()
        }

        fn columns(&self) -> &[crate::format::table::SourceColumn] {
            self.0.columns()
        }

        fn has_text_type(&self) -> bool {
            self.0.has_text_type()
        }

        fn survey(
            &self,
            columns: &[usize],
            rows: Option<usize>,
        ) -> Result<Vec<crate::format::table::ColumnContent>, crate::DataError> {
            self.0.survey(columns, rows)
        }

        fn read(
            &self,
            schema: TableSchema,
            options: &ReadOptions,
            warnings: &mut Warnings,
        ) -> Result<TableRead, crate::DataError> {
            self.0.read_with(&schema, None, options, warnings)
        }
    }

    /// A JSON value, valid or invalid.
    fn value_text() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => (-1e4f32..1e4).prop_map(|v| v.to_string()),
            3 => (0u32..2000).prop_map(|v| v.to_string()),
            1 => any::<f32>().prop_map(|v| format!("{v:e}")),
            1 => prop::sample::select(vec![
                "null", "true", "false", "01", "1.", "-", "1e39", "\"a\"", "\"NULL\"", "[1]", "{}",
                "\"a\\u0062\"", "\"007\"", "nul", "\"ö\"", " 7 ", "\"2026-01-02\"",
            ]).prop_map(str::to_owned),
        ]
    }

    /// A file of a few lines; some have their keys in another order, and some have spaces.
    fn file_text() -> impl Strategy<Value = String> {
        let is_reordered = prop_oneof![8 => Just(false), 1 => Just(true)];
        let row = (0u32..4, prop::collection::vec(value_text(), 3), is_reordered, 0usize..3);
        let row = row.prop_map(|(query, values, is_reordered, spacing)| {
            let (a, b, c) = (&values[0], &values[1], &values[2]);
            let blank = if spacing == 0 { " " } else { "" };
            match is_reordered {
                false => format!(
                    "{{\"qid\":{blank}{query},\"label\": 1,{blank}\"a\":{a},\"features\":{{\"b\":{b},\"c\":{c}}}}}\n"
                ),
                true => format!("{{\"label\":1,\"qid\":{query},\"features\":{{\"c\":{b}}}}}\n\n"),
            }
        });
        let first = "{\"qid\":\"0\",\"label\":0,\"a\":1,\"features\":{\"b\":2,\"c\":3}}\n";
        prop::collection::vec(row, 0..10).prop_map(move |rows| format!("{first}{}", rows.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_fast_reader_agrees_with_the_reference_reader(text in file_text()) {
            let options = ReadOptions::default();
            let read = |is_fast: bool| -> Result<_, String> {
                let mut warnings = Warnings::default();
                let table = JsonTable::open(vec![("t.jsonl", text.as_bytes())], &options);
                let table = table.map_err(|e| e.to_string())?;
                let source: &dyn TableSource =
                    if is_fast { &table } else { &ReferenceTable(table) };
                let found = read_table(source, &options, &mut warnings).map_err(|e| e.to_string())?;
                Ok((found, warnings))
            };
            prop_assert_eq!(read(true), read(false), "{}", text);
        }
    }
}
