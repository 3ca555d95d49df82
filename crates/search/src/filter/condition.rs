//! Resolves the conditions of a filter for an index: the names of fields are looked up, and values
//! are read according to the field's kind.
//!
//! | kind | meaning of `:` and `=` | comparisons by order |
//! |---|---|---|
//! | text | the words of the value in this order, after the index's analysis | none |
//! | number | equal; `true` is 1 and `false` is 0 | `<` `<=` `>` `>=`, ranges |
//! | date | within the year, month, day or second of the value | as for numbers |
//! | category, links | one of the values is equal | none |
//! | url | `:` the address contains the value, ignoring case; `=` it equals the value | none |
//! | stored | cannot be filtered | none |
//!
//! `id` is the document's id if no field has that name. A document without a value in a field
//! passes no comparison of that field.

use std::ops::{Bound, RangeBounds};

use rankwright_spec::nearest;
use time::{Date, Month};

use super::error::{FilterError, FilterProblem};
use super::expression::{
    Comparison, FieldTest, FilterExpression, Literal, Node, RangeEnd, ValueTest,
};
use crate::document::Value;
use crate::index::Index;
use crate::schema::{FieldKind, date_of, number_of};

/// The name of the document's id in a filter.
const ID: &str = "id";

const SECONDS_PER_DAY: i64 = 86_400;

/// A filter expression resolved for the fields of an index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ResolvedFilter {
    /// Documents that pass all of these.
    All(Vec<ResolvedFilter>),
    /// Documents that pass at least one of these.
    Any(Vec<ResolvedFilter>),
    /// Documents that do not pass this.
    Not(Box<ResolvedFilter>),
    /// Every document.
    Everything,
    /// Documents that fulfil a condition.
    Condition(Condition),
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    /// A text field has these terms, each with its position in the phrase, at the same distances;
    /// `None` means any text field.
    Phrase { field: Option<String>, terms: Vec<(String, usize)> },
    /// A text field has at least one term.
    HasText { field: String },
    /// The value of a number field, or of a date field in seconds since 1970, is in an interval.
    Interval { field: String, kind: FieldKind, interval: Interval },
    /// One of the values of a field of categories, links or web addresses passes a test.
    FieldValue { field: String, kind: FieldKind, test: StringTest },
    /// The id of the document passes a test.
    Id(StringTest),
}

/// A range of numbers.
pub(super) type Interval = (Bound<f64>, Bound<f64>);

/// A test of a value of a field of categories, links or web addresses, or of an id.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StringTest {
    /// Any value passes.
    Present,
    /// The value is this text.
    Equals(String),
    /// The value contains this text, which is in lower case, ignoring case.
    Contains(String),
}

impl StringTest {
    /// Whether a value passes the test.
    pub(super) fn passes(&self, value: &str) -> bool {
        match self {
            Self::Present => true,
            Self::Equals(text) => value == text,
            Self::Contains(text) => value.to_lowercase().contains(text),
        }
    }
}

impl FilterExpression {
    /// Resolves the expression for the fields of an index.
    pub(super) fn resolve(&self, index: &Index) -> Result<ResolvedFilter, FilterError> {
        let resolver = Resolver { index };
        let failed = |(offset, problem)| FilterError {
            origin: self.origin,
            ..FilterError::new(&self.text, offset, problem)
        };
        resolver.resolve(&self.root).map_err(failed)
    }
}

/// A result, or a problem and the byte of the filter's text at which it is.
type Resolved<T> = Result<T, (usize, FilterProblem)>;

/// Resolves the nodes of an expression.
struct Resolver<'a> {
    index: &'a Index,
}

impl Resolver<'_> {
    fn resolve(&self, node: &Node) -> Resolved<ResolvedFilter> {
        let filters = |nodes: &[Node]| {
            nodes.iter().map(|node| self.resolve(node)).collect::<Resolved<Vec<ResolvedFilter>>>()
        };
        Ok(match node {
            Node::And(nodes) => ResolvedFilter::All(filters(nodes)?),
            Node::Or(nodes) => ResolvedFilter::Any(filters(nodes)?),
            Node::Not(node) => ResolvedFilter::Not(Box::new(self.resolve(node)?)),
            Node::Test(test) => self.field_test(test)?,
        })
    }

    /// Looks up the field of a test.
    fn field_test(&self, FieldTest { field, test }: &FieldTest) -> Resolved<ResolvedFilter> {
        let Some(field) = field else {
            return match test {
                ValueTest::Compare(_, word) => self.phrase(None, word),
                // Without a field, the only other test is `*`.
                _ => Ok(ResolvedFilter::Everything),
            };
        };
        match self.index.schema().kind(&field.text) {
            Some(kind) => self.typed_test(field, kind, test),
            None if field.text == ID => {
                value_filter(field, FieldKind::Category, test, Condition::Id)
            }
            None => {
                let schema = self.index.schema();
                let known: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
                let similar = nearest(&field.text, &known);
                let known = schema.to_string();
                let problem =
                    FilterProblem::UnknownField { name: field.text.clone(), known, similar };
                Err((field.offset, problem))
            }
        }
    }

    /// A test of a field of a known kind.
    fn typed_test(
        &self,
        field: &Literal,
        kind: FieldKind,
        test: &ValueTest,
    ) -> Resolved<ResolvedFilter> {
        let name = field.text.clone();
        match kind {
            FieldKind::Text => self.text_filter(field, test),
            FieldKind::Number => interval_filter(field, kind, test, number_interval),
            FieldKind::Date => interval_filter(field, kind, test, date_interval),
            FieldKind::Category | FieldKind::Links | FieldKind::Url => {
                value_filter(field, kind, test, |test| Condition::FieldValue {
                    field: name.clone(),
                    kind,
                    test,
                })
            }
            FieldKind::Stored => Err((field.offset, FilterProblem::NotFilterable { name })),
        }
    }

    /// A test of a text field.
    fn text_filter(&self, field: &Literal, test: &ValueTest) -> Resolved<ResolvedFilter> {
        let name = || Some(field.text.clone());
        match test {
            ValueTest::Present => {
                Ok(ResolvedFilter::Condition(Condition::HasText { field: field.text.clone() }))
            }
            ValueTest::Compare(Comparison::Matches | Comparison::Equals, value) => {
                self.phrase(name(), value)
            }
            ValueTest::OneOf(_, values) => {
                let filters = values.iter().map(|value| self.phrase(name(), value));
                Ok(ResolvedFilter::Any(filters.collect::<Resolved<_>>()?))
            }
            ValueTest::Compare(..) | ValueTest::Range { .. } => {
                Err(no_order(field, FieldKind::Text))
            }
        }
    }

    /// The condition that a text field, or any, has the words of a value one after another.
    fn phrase(&self, field: Option<String>, value: &Literal) -> Resolved<ResolvedFilter> {
        check_wildcard(value)?;
        let terms = self.index.analysis().terms_with_positions(&value.text);
        if terms.is_empty() {
            return Err((value.offset, FilterProblem::NoTerms { value: value.text.clone() }));
        }
        Ok(ResolvedFilter::Condition(Condition::Phrase { field, terms }))
    }
}

/// The problem that the values of a field have no order.
fn no_order(field: &Literal, kind: FieldKind) -> (usize, FilterProblem) {
    (field.offset, FilterProblem::NoOrder { name: field.text.clone(), kind })
}

/// Rejects `*` inside of a value without quotes: values have no wildcards.
fn check_wildcard(value: &Literal) -> Resolved<()> {
    match !value.is_quoted && value.text.contains('*') {
        true => Err((value.offset, FilterProblem::Wildcard { value: value.text.clone() })),
        false => Ok(()),
    }
}

/// A test of a field of categories, links or web addresses, or of the id.
fn value_filter(
    field: &Literal,
    kind: FieldKind,
    test: &ValueTest,
    condition: impl Fn(StringTest) -> Condition,
) -> Resolved<ResolvedFilter> {
    let equals = |value: &Literal, comparison: Comparison| -> Resolved<ResolvedFilter> {
        check_wildcard(value)?;
        let test = match (kind, comparison) {
            (FieldKind::Url, Comparison::Matches) => {
                StringTest::Contains(value.text.to_lowercase())
            }
            _ => StringTest::Equals(value.text.clone()),
        };
        Ok(ResolvedFilter::Condition(condition(test)))
    };
    match test {
        ValueTest::Present => Ok(ResolvedFilter::Condition(condition(StringTest::Present))),
        ValueTest::Compare(comparison @ (Comparison::Matches | Comparison::Equals), value) => {
            equals(value, *comparison)
        }
        ValueTest::OneOf(comparison, values) => {
            let filters = values.iter().map(|value| equals(value, *comparison));
            Ok(ResolvedFilter::Any(filters.collect::<Resolved<_>>()?))
        }
        ValueTest::Compare(..) | ValueTest::Range { .. } => Err(no_order(field, kind)),
    }
}

/// Reads a value as the interval of all numbers that it stands for: one number, or the seconds of a
/// period.
type ReadInterval = fn(&str) -> Option<Interval>;

/// A test of a number or date field.
fn interval_filter(
    field: &Literal,
    kind: FieldKind,
    test: &ValueTest,
    read: ReadInterval,
) -> Resolved<ResolvedFilter> {
    let read = |value: &Literal| -> Resolved<Interval> {
        read(value.text.trim()).ok_or_else(|| {
            let (name, value_text) = (field.text.clone(), value.text.clone());
            let problem = match kind {
                FieldKind::Date => FilterProblem::NotADate { name, value: value_text },
                _ => FilterProblem::NotANumber { name, value: value_text },
            };
            (value.offset, problem)
        })
    };
    let filter = |interval| {
        ResolvedFilter::Condition(Condition::Interval { field: field.text.clone(), kind, interval })
    };
    Ok(match test {
        ValueTest::Present => filter((Bound::Unbounded, Bound::Unbounded)),
        ValueTest::OneOf(_, values) => {
            let filters = values.iter().map(|value| Ok(filter(read(value)?)));
            ResolvedFilter::Any(filters.collect::<Resolved<_>>()?)
        }
        ValueTest::Range { low, high } => {
            let end = |end: &RangeEnd| end.value.as_ref().map(&read).transpose();
            let from = match end(low)? {
                None => Bound::Unbounded,
                Some(value) if low.included => value.0,
                Some(value) => lower_bound_after(value),
            };
            let to = match end(high)? {
                None => Bound::Unbounded,
                Some(value) if high.included => value.1,
                Some(value) => upper_bound_before(value),
            };
            filter((from, to))
        }
        ValueTest::Compare(comparison, value) => {
            // `1990..1999`; a side that is empty is an open end.
            if let (Comparison::Matches | Comparison::Equals, false, Some((low, high))) =
                (comparison, value.is_quoted, value.text.split_once(".."))
            {
                let end = |text: &str| {
                    let literal =
                        Literal { text: text.to_owned(), is_quoted: true, offset: value.offset };
                    (!text.is_empty()).then(|| read(&literal)).transpose()
                };
                let from = end(low)?.map_or(Bound::Unbounded, |interval| interval.0);
                let to = end(high)?.map_or(Bound::Unbounded, |interval| interval.1);
                return Ok(filter((from, to)));
            }
            let interval = read(value)?;
            filter(match comparison {
                Comparison::Matches | Comparison::Equals => interval,
                Comparison::Less => (Bound::Unbounded, upper_bound_before(interval)),
                Comparison::AtMost => (Bound::Unbounded, interval.1),
                Comparison::Greater => (lower_bound_after(interval), Bound::Unbounded),
                Comparison::AtLeast => (interval.0, Bound::Unbounded),
            })
        }
    })
}

/// The upper bound of all values below an interval.
fn upper_bound_before(interval: Interval) -> Bound<f64> {
    flipped(interval.0)
}

/// The lower bound of all values above an interval.
fn lower_bound_after(interval: Interval) -> Bound<f64> {
    flipped(interval.1)
}

/// The bound of the values on the other side: an end that was included is excluded.
fn flipped(bound: Bound<f64>) -> Bound<f64> {
    match bound {
        Bound::Included(value) => Bound::Excluded(value),
        Bound::Excluded(value) => Bound::Included(value),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// Whether a value lies in an interval; a missing value (NaN) lies in none.
pub(super) fn contains(interval: &Interval, value: f64) -> bool {
    !value.is_nan() && interval.contains(&value)
}

/// The interval of one number.
fn number_interval(text: &str) -> Option<Interval> {
    let number = match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => number_of(&Value::Text(text.to_owned())),
    }?;
    Some((Bound::Included(number), Bound::Included(number)))
}

/// All seconds of a year, a month, a day, or the second of a timestamp.
fn date_interval(text: &str) -> Option<Interval> {
    let seconds = |date: Date| date.midnight().assume_utc().unix_timestamp();
    let interval =
        |from: i64, to: i64| Some((Bound::Included(from as f64), Bound::Excluded(to as f64)));
    // The first second of a month.
    let month_start = |year: i32, month: u8| {
        Date::from_calendar_date(year, Month::try_from(month).ok()?, 1).ok().map(seconds)
    };
    // The number of a part that has exactly this many digits; `None` for another part.
    let digits = |part: &str, length: usize| {
        (part.len() == length && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())
    };
    let after_last_date = || seconds(Date::MAX) + SECONDS_PER_DAY;
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [year] if digits(year, 4).is_some() => {
            let year: i32 = year.parse().ok()?;
            let next = month_start(year + 1, 1).unwrap_or_else(after_last_date);
            interval(month_start(year, 1)?, next)
        }
        [year, month] => {
            let year: i32 = digits(year, 4)??;
            let month = u8::try_from(digits(month, 2)??).ok()?;
            let next = match month {
                12 => month_start(year + 1, 1).unwrap_or_else(after_last_date),
                _ => month_start(year, month + 1)?,
            };
            interval(month_start(year, month)?, next)
        }
        _ => {
            let from = date_of(&Value::Text(text.to_owned()))?;
            let is_day = text.len() == "2024-05-31".len();
            interval(from, from + if is_day { SECONDS_PER_DAY } else { 1 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_for_all_seconds_of_its_period() {
        // The number of seconds of a period.
        let length = |text: &str| match date_interval(text) {
            Some((Bound::Included(from), Bound::Excluded(to))) => Some(to - from),
            other => other.map(|_| f64::NAN),
        };
        assert_eq!(length("2024"), Some(366.0 * 86_400.0));
        assert_eq!(length("2023-02"), Some(28.0 * 86_400.0));
        assert_eq!(length("2023-12"), Some(31.0 * 86_400.0));
        assert_eq!(length("2024-05-31"), Some(86_400.0));
        assert_eq!(length("2024-05-31T12:00:00Z"), Some(1.0));
        assert_eq!(length("9999-12"), Some(31.0 * 86_400.0));
        for text in ["", "24", "2024-13", "2024-5", "soon", "2023-02-29", "-2024"] {
            assert_eq!(length(text), None, "{text}");
        }
    }
}
