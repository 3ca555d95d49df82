//! Descriptions of parameters, as help, documentation and other languages read them.

use std::fmt;

use serde::Serialize;

/// One parameter of a learner, metric, feature or first stage.
///
/// It serialises to the entries of `list ... --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParamDef {
    /// Name in a spec.
    pub name: &'static str,
    /// Type of its values.
    #[serde(flatten)]
    pub kind: ParamKind,
    /// The default as a spec writes it; `None` for a parameter that must be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Smallest and largest value; for values other than numbers there are no limits.
    #[serde(skip_serializing_if = "RangeDef::is_unlimited")]
    pub range: RangeDef,
    /// The condition under which it has an effect, such as `newton=joint` (the parameter `newton`
    /// has the value `joint`); `None` if it always has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires: Option<&'static str>,
    /// One sentence of help.
    pub help: &'static str,
}

impl ParamDef {
    /// The values that are allowed, in words: "a whole number from 1 to 65536".
    ///
    /// ```
    /// use rankwright_spec::{ParamGroup, params};
    ///
    /// params! {
    ///     /// A tree.
    ///     pub struct Tree {
    ///         leaves: u32 = 31, 1..=65536, "Maximum number of leaves of a tree.";
    ///     }
    /// }
    /// assert_eq!(Tree::default().defs()[0].expected(), "a whole number from 1 to 65536");
    /// ```
    pub fn expected(&self) -> String {
        self.kind.expected(&self.range)
    }
}

/// The type of a parameter's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
#[non_exhaustive]
pub enum ParamKind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// One of several names.
    Choice {
        /// The names.
        values: Vec<&'static str>,
    },
    /// The spec of another component.
    Spec {
        /// The kind of component: `metric`, `learner`.
        of: &'static str,
    },
    /// A text, whose form the help describes.
    Text,
    /// Several values separated by slashes.
    List {
        /// The type of each value.
        of: Box<ParamKind>,
    },
    /// One value for all names, or values by name, joined by plus signs: `title:2+text:1`.
    ByName {
        /// The type of each value.
        of: Box<ParamKind>,
    },
    /// A value, or a word with a special meaning: `auto`, `none`.
    Either {
        /// The word.
        word: &'static str,
        /// The type of other values.
        or: Box<ParamKind>,
    },
}

impl ParamKind {
    /// The values of this kind within a range, in words.
    pub fn expected(&self, range: &RangeDef) -> String {
        match self {
            Self::Integer => format!("a whole number{}", limits(range, " from 0 on")),
            Self::Number => match limits(range, "") {
                limits if limits.is_empty() => "a finite number".to_owned(),
                limits => format!("a number{limits}"),
            },
            Self::Boolean => "true | false".to_owned(),
            Self::Choice { values } => values.join(" | "),
            Self::Spec { of } if of.starts_with('o') => format!("an {of}"),
            Self::Spec { of } => format!("a {of}"),
            Self::Text => "a text".to_owned(),
            Self::List { of } => format!("{}, or several separated by slashes", of.expected(range)),
            Self::ByName { of } => {
                format!("{}, or one for each name, like a:1+b:2", of.expected(range))
            }
            Self::Either { word, or } => format!("{word} | {}", or.expected(range)),
        }
    }
}

/// The limits in words, with a space before them; the text `none` if there are no limits.
fn limits(range: &RangeDef, none: &str) -> String {
    let Some(low) = range.min else {
        return range.max.map_or(none.to_owned(), |high| match range.max_excluded {
            true => format!(" below {high}"),
            false => format!(" up to {high}"),
        });
    };
    let low = match range.min_excluded {
        true => format!(" above {low}"),
        false => format!(" from {low}"),
    };
    match range.max {
        None if range.min_excluded => low,
        None => format!("{low} on"),
        Some(high) if range.max_excluded => format!("{low}, below {high}"),
        Some(high) if range.min_excluded => format!("{low}, up to {high}"),
        Some(high) => format!("{low} to {high}"),
    }
}

/// The limits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RangeDef {
    /// The smallest value; `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Whether the smallest value itself is not allowed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub min_excluded: bool,
    /// The largest value; `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether the largest value itself is not allowed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub max_excluded: bool,
}

impl RangeDef {
    /// Whether every value is allowed.
    pub fn is_unlimited(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    /// Whether a number lies within the limits.
    pub fn contains(&self, value: f64) -> bool {
        let above = |min: f64| if self.min_excluded { value > min } else { value >= min };
        let below = |max: f64| if self.max_excluded { value < max } else { value <= max };
        self.min.is_none_or(above) && self.max.is_none_or(below)
    }
}

impl fmt::Display for RangeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(limits(self, "").trim_start())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::range::{ParamRange, above};

    #[test]
    fn limits_read_as_words() {
        let number = |range: RangeDef| ParamKind::Number.expected(&range);
        assert_eq!(number((..).def()), "a finite number");
        assert_eq!(number(above(0.0).def()), "a number above 0");
        assert_eq!(number(above(0.0).up_to(1.0).def()), "a number above 0, up to 1");
        assert_eq!(number(above(0.0).below(1.0).def()), "a number above 0, below 1");
        assert_eq!(number((0.0..).def()), "a number from 0 on");
        assert_eq!(number((0.0..=0.5).def()), "a number from 0 to 0.5");
        assert_eq!(number((0.0..1.0).def()), "a number from 0, below 1");
        assert_eq!(ParamKind::Integer.expected(&(..).def()), "a whole number from 0 on");
        assert_eq!(ParamKind::Integer.expected(&(1..).def()), "a whole number from 1 on");
        let by_name = ParamKind::ByName { of: Box::new(ParamKind::Number) };
        let expected = "a number from 0 on, or one for each name, like a:1+b:2";
        assert_eq!(by_name.expected(&(0.0..).def()), expected);
    }
}
