//! Hints about probable mistakes in filters.
//!
//! A filter that no document passes is checked for the usual mistakes: a value of several words
//! without quotes, a value that differs in case or spelling from a value of the field, a range
//! whose ends are exchanged. A word that is the name of a field, such as `in_stock` alone, gives a
//! hint even if documents pass: it is read as a word of the text.

use std::fmt;
use std::ops::Bound;

use rankwright_spec::nearest;
use serde::Serialize;

use super::condition::{Condition, ResolvedFilter, StringTest};
use super::expression::{Comparison, FieldTest, FilterExpression, Literal, Node, ValueTest};
use crate::error::SearchError;
use crate::index::Index;
use crate::schema::FieldKind;

/// A possible mistake in a filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FilterHint {
    /// A word of the filter is the name of a field, but has no comparison.
    BareField {
        /// The field.
        name: String,
        /// Conditions that test the field.
        examples: String,
    },
    /// A range in the words of SQL, `price BETWEEN 10 AND 20`, which are read as words of the text.
    Between {
        /// The field.
        field: String,
        /// The condition that tests the range.
        example: String,
    },
    /// A value of several words has no quotes, so that only the first word belongs to the field.
    Unquoted {
        /// The field.
        field: String,
        /// The part of the value that belongs to the field.
        read: String,
        /// The whole value.
        value: String,
    },
    /// No document has the value in the field, but some have a similar one.
    OtherValue {
        /// The field.
        field: String,
        /// The value of the filter.
        value: String,
        /// A similar value that documents have.
        similar: String,
    },
    /// The ends of a range are exchanged, so that no value is in it.
    ReversedRange {
        /// The field.
        field: String,
    },
}

impl fmt::Display for FilterHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BareField { name, examples } => write!(
                f,
                "`{name}` alone is read as a word of the text; for the field write {examples}"
            ),
            Self::Between { field, example } => write!(
                f,
                "BETWEEN is read as a word of the text; for the range of `{field}` write {example}"
            ),
            Self::Unquoted { field, read, value } => write!(
                f,
                "only `{read}` is the value of `{field}`, the rest is read as words of the text; \
                 quote values with spaces: {field}:\"{value}\""
            ),
            Self::OtherValue { field, value, similar } => {
                let quotes =
                    if similar.contains(|c: char| !c.is_alphanumeric()) { "\"" } else { "" };
                write!(f, "no document has the value `{value}` in the field `{field}`; ")?;
                write!(f, "did you mean {field}:{quotes}{similar}{quotes}?")
            }
            Self::ReversedRange { field } => write!(
                f,
                "the first end of the range of `{field}` lies above the second one, so that the \
                 range has no values"
            ),
        }
    }
}

/// Finds the hints on an expression. `filter` is the resolved expression, and `any_passes` is true
/// if at least one document passes it.
pub(super) fn hints(
    index: &Index,
    expression: &FilterExpression,
    filter: &ResolvedFilter,
    any_passes: bool,
) -> Result<Vec<FilterHint>, SearchError> {
    let mut finder = HintFinder { index, hints: Vec::new() };
    finder.bare_fields(&expression.root);
    if !any_passes {
        finder.unquoted(&expression.root)?;
        finder.impossible_conditions(filter)?;
    }
    Ok(finder.hints)
}

/// Collects hints.
struct HintFinder<'a> {
    index: &'a Index,
    hints: Vec<FilterHint>,
}

impl HintFinder<'_> {
    /// Finds words that are searched for in the text although they are names of fields (text fields
    /// excepted), and `field BETWEEN low AND high`.
    fn bare_fields(&mut self, node: &Node) {
        match node {
            Node::And(nodes) => {
                let mut nodes = nodes.as_slice();
                while let [first, rest @ ..] = nodes {
                    match self.between(nodes) {
                        Some(hint) => {
                            self.hints.push(hint);
                            nodes = nodes.get(4..).unwrap_or_default();
                        }
                        None => {
                            self.bare_fields(first);
                            nodes = rest;
                        }
                    }
                }
            }
            Node::Or(nodes) => nodes.iter().for_each(|node| self.bare_fields(node)),
            Node::Not(node) => self.bare_fields(node),
            Node::Test(test) => {
                let Some(word) = bare_word(test).filter(|word| !word.is_quoted) else { return };
                let examples = match self.index.schema().kind(&word.text) {
                    None | Some(FieldKind::Text | FieldKind::Stored) => return,
                    Some(FieldKind::Number) => format!("{0}:true, {0}>0 or {0}:*", word.text),
                    Some(FieldKind::Date) => format!("{0}>=2024 or {0}:*", word.text),
                    Some(_) => format!("{0}:value or {0}:*", word.text),
                };
                self.hints.push(FilterHint::BareField { name: word.text.clone(), examples });
            }
        }
    }

    /// The hint if conditions begin with `field BETWEEN low AND high`.
    fn between(&self, nodes: &[Node]) -> Option<FilterHint> {
        let word = |at: usize| match nodes.get(at)? {
            Node::Test(test) => bare_word(test).map(|word| word.text.as_str()),
            _ => None,
        };
        let (field, between, low, high) = (word(0)?, word(1)?, word(2)?, word(3)?);
        let is_range = between.eq_ignore_ascii_case("between")
            && matches!(self.index.schema().kind(field), Some(FieldKind::Number | FieldKind::Date));
        let field = field.to_owned();
        let example = format!("{field}:[{low} TO {high}]");
        is_range.then_some(FilterHint::Between { field, example })
    }

    /// Finds values of several words without quotes: `color:Dark Green`.
    fn unquoted(&mut self, node: &Node) -> Result<(), SearchError> {
        let nodes = match node {
            Node::Or(nodes) => return nodes.iter().try_for_each(|node| self.unquoted(node)),
            Node::Not(node) => return self.unquoted(node),
            Node::Test(_) => return Ok(()),
            Node::And(nodes) => nodes,
        };
        for (i, node) in nodes.iter().enumerate() {
            let Node::Test(FieldTest {
                field: Some(field),
                test: ValueTest::Compare(Comparison::Matches | Comparison::Equals, value),
            }) = node
            else {
                self.unquoted(node)?;
                continue;
            };
            let words = nodes[i + 1..].iter().map_while(|node| match node {
                Node::Test(test) => bare_word(test).filter(|word| !word.is_quoted),
                _ => None,
            });
            let words: Vec<&str> = words.map(|word| word.text.as_str()).collect();
            if words.is_empty() || value.is_quoted {
                continue;
            }
            let whole = format!("{} {}", value.text, words.join(" "));
            let is_probable = match self.index.schema().kind(&field.text) {
                Some(kind @ (FieldKind::Category | FieldKind::Links)) => {
                    self.similar_value(&field.text, kind, &whole)?.is_some()
                }
                Some(FieldKind::Text) => true,
                _ => false,
            };
            if is_probable {
                self.hints.push(FilterHint::Unquoted {
                    field: field.text.clone(),
                    read: value.text.clone(),
                    value: whole,
                });
            }
        }
        Ok(())
    }

    /// Finds conditions that no document can pass: reversed ranges, and values that no document
    /// has.
    fn impossible_conditions(&mut self, filter: &ResolvedFilter) -> Result<(), SearchError> {
        match filter {
            ResolvedFilter::All(filters) | ResolvedFilter::Any(filters) => {
                filters.iter().try_for_each(|filter| self.impossible_conditions(filter))
            }
            ResolvedFilter::Not(_) | ResolvedFilter::Everything => Ok(()),
            ResolvedFilter::Condition(Condition::Interval { field, interval, .. }) => {
                let end = |bound: &Bound<f64>| match bound {
                    Bound::Included(value) | Bound::Excluded(value) => Some(*value),
                    Bound::Unbounded => None,
                };
                if let (Some(low), Some(high)) = (end(&interval.0), end(&interval.1))
                    && low > high
                {
                    self.hints.push(FilterHint::ReversedRange { field: field.clone() });
                }
                Ok(())
            }
            ResolvedFilter::Condition(Condition::FieldValue {
                field,
                kind,
                test: StringTest::Equals(value),
            }) => {
                let found = self.similar_value(field, *kind, value)?;
                let is_explained = self.hints.iter().any(|hint| match hint {
                    FilterHint::Unquoted { field: explained, .. } => explained == field,
                    _ => false,
                });
                match found {
                    Some(similar) if similar != *value && !is_explained => {
                        let (field, value) = (field.clone(), value.clone());
                        self.hints.push(FilterHint::OtherValue { field, value, similar });
                    }
                    _ => {}
                }
                Ok(())
            }
            ResolvedFilter::Condition(_) => Ok(()),
        }
    }

    /// The value of a field that equals a text; otherwise one that equals it ignoring case;
    /// otherwise the most similar one, if any is similar.
    fn similar_value(
        &self,
        field: &str,
        kind: FieldKind,
        text: &str,
    ) -> Result<Option<String>, SearchError> {
        let field_values = self.index.field_values(field, kind)?;
        let values: Vec<&str> = field_values.texts().collect();
        let lower_case = text.to_lowercase();
        let equal = values.iter().find(|value| **value == text);
        let equal =
            equal.or_else(|| values.iter().find(|value| value.to_lowercase() == lower_case));
        Ok(equal.map(|value| (*value).to_owned()).or_else(|| nearest(text, &values)))
    }
}

/// The word of a condition without a field.
fn bare_word(test: &FieldTest) -> Option<&Literal> {
    match test {
        FieldTest { field: None, test: ValueTest::Compare(_, word) } => Some(word),
        _ => None,
    }
}
