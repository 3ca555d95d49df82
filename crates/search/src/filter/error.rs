//! Errors of filters: a problem, and its position in the text of the filter.

use rankwright_spec::visible::one_line;
use std::fmt;

use crate::schema::FieldKind;

/// A filter that cannot be parsed, or does not fit the fields of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterError {
    /// The text of the filter.
    pub filter: String,
    /// The position of the problem in the text, in characters from 0.
    pub position: usize,
    /// The problem.
    pub problem: FilterProblem,
    /// The kind of the text: a filter or a query.
    pub origin: ConditionOrigin,
}

/// The kind of text that a condition was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConditionOrigin {
    /// A filter.
    #[default]
    Filter,
    /// A query in simple syntax.
    Query,
}

/// A problem of a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterProblem {
    /// The filter has no condition.
    #[error("the filter is empty")]
    Empty,
    /// The text is too long.
    #[error("the filter has more than {most} characters")]
    TooLong {
        /// Maximum number of characters.
        most: usize,
    },
    /// Brackets and NOT are nested too deeply.
    #[error("brackets and NOT are nested more than {most} deep")]
    TooDeep {
        /// Maximum number of levels.
        most: usize,
    },
    /// There are too many conditions.
    #[error("there are more than {most} conditions")]
    TooManyConditions {
        /// Maximum number of conditions.
        most: usize,
    },
    /// A condition is missing, such as after `AND`.
    #[error("a condition is missing here")]
    MissingCondition,
    /// A value is missing after an operator.
    #[error("a value is missing after `{operator}`")]
    MissingValue {
        /// The operator.
        operator: String,
    },
    /// A quoted text has no end.
    #[error("this quote is not closed")]
    UnclosedQuote,
    /// A bracket is not closed.
    #[error("`{open}` is not closed")]
    UnclosedBracket {
        /// The opening bracket.
        open: char,
    },
    /// A character that has no meaning at its position.
    #[error("`{found}` is not expected here")]
    UnexpectedCharacter {
        /// The character.
        found: char,
    },
    /// A range without the word TO.
    #[error("a range is written `[low TO high]`; `TO` is missing here")]
    MissingTo,
    /// The index has no such field.
    #[error("there is no field `{name}`", name = one_line(.name))]
    UnknownField {
        /// The name.
        name: String,
        /// The fields of the index with their kinds.
        known: String,
        /// A field with a similar name.
        similar: Option<String>,
    },
    /// The field is only stored.
    #[error("field `{name}` is stored only, so that it cannot be filtered", name = one_line(.name))]
    NotFilterable {
        /// The name.
        name: String,
    },
    /// A comparison or range of a field whose values have no order.
    #[error(
        "field `{name}` is of kind {}, whose values have no order",
        .kind.name(), name = one_line(.name)
    )]
    NoOrder {
        /// The field.
        name: String,
        /// Its kind.
        kind: FieldKind,
    },
    /// The value of a number field is not a number.
    #[error(
        "field `{name}` is a number, and `{value}` is not",
        name = one_line(.name), value = one_line(.value)
    )]
    NotANumber {
        /// The field.
        name: String,
        /// The value.
        value: String,
    },
    /// The value of a date field is not a date.
    #[error(
        "field `{name}` is a date, and `{value}` is not",
        name = one_line(.name), value = one_line(.value)
    )]
    NotADate {
        /// The field.
        name: String,
        /// The value.
        value: String,
    },
    /// The analysis removes all words of a value of a text field.
    #[error(
        "no term is left of `{value}`: it has stop words or punctuation only",
        value = one_line(.value)
    )]
    NoTerms {
        /// The value.
        value: String,
    },
    /// An unquoted value has a wildcard.
    #[error("`{value}` has a wildcard; values are compared whole", value = one_line(.value))]
    Wildcard {
        /// The value.
        value: String,
    },
}

impl FilterProblem {
    /// Advice for the user: a way to repair the filter, if there is one.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Empty | Self::MissingCondition | Self::UnexpectedCharacter { .. } => {
                "write conditions such as genre:rock AND year>=1990; quote values with spaces or \
                 brackets"
                    .into()
            }
            Self::MissingValue { .. } => "an empty value is written \"\"".into(),
            Self::NoTerms { value } if value.chars().all(|c| matches!(c, '&' | '|')) => {
                "conditions are joined by AND and OR, such as genre:rock AND year>=1990".into()
            }
            Self::MissingTo => "for example year:[1990 TO 1999]; `*` is an open end".into(),
            Self::UnknownField { known, similar, .. } => match similar {
                Some(similar) => format!("did you mean `{similar}`? The fields are {known}"),
                None => format!("the fields are {known}"),
            },
            Self::NoOrder { .. } => "compare it with `:`".into(),
            Self::NotADate { .. } => {
                "dates are written 2024, 2024-05, 2024-05-31 or 2024-05-31T12:00:00Z".into()
            }
            Self::Wildcard { .. } => {
                "`*` alone asks whether the field has a value; quote it to mean the character"
                    .into()
            }
            _ => return None,
        })
    }
}

impl FilterError {
    /// The error of a problem at a byte of a filter.
    pub(super) fn new(filter: &str, byte: usize, problem: FilterProblem) -> Self {
        let before = filter.char_indices().take_while(|(start, _)| *start < byte);
        let origin = ConditionOrigin::Filter;
        Self { filter: filter.to_owned(), position: before.count(), problem, origin }
    }

    /// Advice for the user: a way to repair the filter, if there is one.
    pub fn help(&self) -> Option<String> {
        self.problem.help()
    }

    /// The filter on one line, and below it a line with a `^` at the problem. Of a long filter only
    /// the part around the problem is shown.
    pub fn pointer(&self) -> String {
        // Numbers of characters that are shown before the problem and from it on.
        const BEFORE: usize = 50;
        const AFTER: usize = 25;
        let start = self.position.saturating_sub(BEFORE);
        let part = self.filter.chars().skip(start).take(BEFORE + AFTER);
        let on_one_line = |c: char| if c.is_control() { ' ' } else { c };
        let part: String = part.map(on_one_line).collect();
        format!("{}\n{}^", part.trim_end(), " ".repeat(self.position - start))
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            ConditionOrigin::Filter => "filter",
            ConditionOrigin::Query => "query",
        };
        write!(f, "{origin}, character {}: {}", self.position + 1, self.problem)
    }
}

impl std::error::Error for FilterError {}
