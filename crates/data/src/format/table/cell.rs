//! Single cells of a table: the allowed values of a feature, a label, a weight or an id.

use std::borrow::Cow;

use super::schema::Slot;
use super::write::number_text;
use crate::error::{DataError, Remedy, SourceLocation, quote};
use crate::format::roles::Role;

/// A value that is rejected, before its location is known.
#[derive(Debug)]
pub(in crate::format) struct CellProblem {
    found: String,
    expected: &'static str,
    /// Whether the column is perhaps not a feature, so that the advice is to ignore it.
    maybe_not_feature: bool,
    /// Other advice.
    help: Option<&'static str>,
}

impl CellProblem {
    pub(in crate::format) fn new(found: impl Into<String>, expected: &'static str) -> CellProblem {
        CellProblem { found: found.into(), expected, maybe_not_feature: false, help: None }
    }

    /// Like `new`, with the advice to ignore the column.
    pub(in crate::format) fn not_a_feature(
        found: impl Into<String>,
        expected: &'static str,
    ) -> CellProblem {
        CellProblem { found: found.into(), expected, maybe_not_feature: true, help: None }
    }

    /// A text that is no point in time.
    pub(in crate::format) fn not_a_time(cell: &[u8]) -> CellProblem {
        CellProblem::not_a_feature(
            quote(cell),
            "a point in time, such as 2026-03-31 or 2026-03-31 18:30",
        )
    }

    /// Bytes that are no text.
    pub(in crate::format) fn not_utf8(cell: &[u8]) -> CellProblem {
        CellProblem::new(format!("bytes {}", quote(cell)), "UTF-8 text")
    }

    /// Whether the cell is no number at all; a number out of range is one.
    pub(in crate::format) fn is_no_number(&self) -> bool {
        self.maybe_not_feature
    }

    /// The error for this problem at a location.
    pub(in crate::format) fn at(self, location: SourceLocation) -> DataError {
        let column = location.field.clone().filter(|_| self.maybe_not_feature);
        let error = DataError::malformed(location, self.found, self.expected);
        match (column, self.help) {
            (Some(column), _) => error.with_help(Remedy::ignore_column(&column)),
            (None, Some(help)) => error.with_help(help),
            (None, None) => error,
        }
    }
}

/// The expected value in the error for a number that f32 cannot hold.
const IN_RANGE: &str = "a number within ±3.4e38 (features are 32-bit floats)";

/// A feature that was read from text.
#[derive(Debug, Clone, Copy)]
pub(in crate::format) struct TextValue {
    pub(in crate::format) value: f32,
    /// Whether it is a missing value written as a word, such as `NULL`.
    pub(in crate::format) is_missing_word: bool,
}

/// Whether a text means a missing value: `NULL`, `nan`, `NA` or `n/a`, in any case.
pub(in crate::format) fn is_missing_word(text: &[u8]) -> bool {
    let words: [&[u8]; 6] = [b"null", b"na", b"n/a", b"nan", b"-nan", b"+nan"];
    (2..=4).contains(&text.len()) && words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Reads a feature: a number, `inf`, `true`, `false`, or one of the spellings of a missing value.
pub(in crate::format) fn feature_from_text(cell: &[u8]) -> Result<TextValue, CellProblem> {
    let text = cell.trim_ascii();
    if let Ok(value) = fast_float2::parse::<f32, _>(text) {
        let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
        if value.is_infinite() && !matches!(digits.first(), Some(b'i' | b'I')) {
            return Err(CellProblem::new(quote(text), IN_RANGE));
        }
        let value = if value.is_nan() { f32::NAN } else { value };
        return Ok(TextValue { value, is_missing_word: value.is_nan() });
    }
    if text.is_empty() || is_missing_word(text) {
        return Ok(TextValue { value: f32::NAN, is_missing_word: !text.is_empty() });
    }
    for (word, value) in [(b"true".as_slice(), 1.0), (b"false", 0.0)] {
        if text.eq_ignore_ascii_case(word) {
            return Ok(TextValue { value, is_missing_word: false });
        }
    }
    Err(CellProblem::not_a_feature(quote(cell), "a number or an empty cell"))
}

/// A feature from a 64-bit number; an error if it is finite but out of the range of f32.
pub(in crate::format) fn feature_from_f64(value: f64) -> Result<f32, CellProblem> {
    let single = value as f32;
    match () {
        () if single.is_nan() => Ok(f32::NAN),
        () if single.is_infinite() && value.is_finite() => {
            Err(CellProblem::new(number_text(value), IN_RANGE))
        }
        () => Ok(single),
    }
}

/// The values of one row that are no features, by role.
#[derive(Debug, Default)]
pub(in crate::format) struct RoleValues<'a> {
    pub(super) query: Option<Cow<'a, str>>,
    pub(super) docid: Option<Cow<'a, str>>,
    pub(super) label: Option<f64>,
    pub(super) weight: Option<f32>,
    pub(super) query_weight: Option<f32>,
    pub(super) position: Option<u32>,
    /// By the number of the further column of labels; empty as long as none is set.
    pub(super) extra_labels: Vec<Option<f64>>,
}

impl<'a> RoleValues<'a> {
    /// Sets the value of a slot that has a role from text.
    pub(in crate::format) fn set_text(
        &mut self,
        slot: Slot,
        text: Cow<'a, str>,
    ) -> Result<(), CellProblem> {
        let role = slot.role();
        match role {
            Role::Query if text.is_empty() => return Err(missing(role)),
            Role::Query => self.query = Some(text),
            Role::Docid => self.docid = Some(text),
            Role::Feature | Role::Ignore => {}
            role if text.trim().is_empty() => return Err(missing(role)),
            Role::ExtraLabel if text.trim().eq_ignore_ascii_case("true") => {
                return self.set_number(slot, 1.0);
            }
            Role::ExtraLabel if text.trim().eq_ignore_ascii_case("false") => {
                return self.set_number(slot, 0.0);
            }
            role => match fast_float2::parse::<f64, _>(text.trim()) {
                Ok(value) => self
                    .set_number(slot, value)
                    .map_err(|problem| CellProblem { found: quote(text.as_bytes()), ..problem })?,
                Err(_) => {
                    let help = (role == Role::Label).then_some(LABELS_ARE_NUMBERS);
                    let problem = CellProblem::new(quote(text.as_bytes()), expected(role));
                    return Err(CellProblem { help, ..problem });
                }
            },
        }
        Ok(())
    }

    /// Sets the value of a slot that has a role from a number; as an id it is written plainly (`10`,
    /// not `10.0`).
    pub(in crate::format) fn set_number(
        &mut self,
        slot: Slot,
        value: f64,
    ) -> Result<(), CellProblem> {
        let role = slot.role();
        let refused = || Err(CellProblem::new(number_text(value), expected(role)));
        let is_weight = value >= 0.0 && (value as f32).is_finite();
        match role {
            Role::Query | Role::Docid if value.is_nan() => return refused(),
            Role::Query => self.query = Some(value.to_string().into()),
            Role::Docid => self.docid = Some(value.to_string().into()),
            Role::Label if value.is_finite() => self.label = Some(value),
            Role::ExtraLabel if value.is_finite() => {
                if let Slot::ExtraLabel(number) = slot {
                    let length = self.extra_labels.len().max(number + 1);
                    self.extra_labels.resize(length, None);
                    self.extra_labels.iter_mut().skip(number).take(1).for_each(|label| {
                        *label = Some(value);
                    });
                }
            }
            Role::Weight if is_weight => self.weight = Some(value as f32),
            Role::QueryWeight if is_weight => self.query_weight = Some(value as f32),
            Role::Position if (1.0..=u32::MAX.into()).contains(&value) && value.fract() == 0.0 => {
                self.position = Some(value as u32);
            }
            Role::Feature | Role::Ignore => {}
            _ => return refused(),
        }
        Ok(())
    }
}

/// The allowed values of a role.
pub(in crate::format) fn expected(role: Role) -> &'static str {
    match role {
        Role::Query => "a query id",
        Role::Docid => "a document id",
        Role::Label | Role::ExtraLabel => "a label, which is a finite number",
        Role::Weight | Role::QueryWeight => "a weight, which is a finite number from 0",
        Role::Position => "a position, which is a whole number from 1",
        // The other roles are features.
        _ => "a number",
    }
}

/// Advice on a label in words.
const LABELS_ARE_NUMBERS: &str =
    "write grades as numbers, higher is better, such as 0 for bad and 2 for good";

/// Advice on a row without a label.
const ROWS_NEED_LABELS: &str =
    "leave out rows that nobody judged, or write 0 if they count as not relevant";

/// The problem if a row has no value for a role.
pub(in crate::format) fn missing(role: Role) -> CellProblem {
    let is_label = matches!(role, Role::Label | Role::ExtraLabel);
    let help = is_label.then_some(ROWS_NEED_LABELS);
    CellProblem { help, ..CellProblem::new("nothing", expected(role)) }
}
