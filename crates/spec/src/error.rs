//! Errors of specs and parameters.

use crate::conflict::Conflict;
use crate::nearest::nearest;
use crate::other_systems::{other_first_stage, other_system_learner, other_system_param};

/// The reason why a spec was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The text does not follow the grammar.
    #[error("spec `{spec}`, column {column}: found {found}, expected {expected}")]
    Syntax {
        /// The whole text.
        spec: String,
        /// Column, counted in characters from 1.
        column: usize,
        /// The text found there.
        found: String,
        /// The text that may stand there.
        expected: &'static str,
    },
    /// More levels of nested parentheses than a spec may have.
    #[error("spec, column {column}: parentheses nest more than {most} levels deep")]
    TooDeep {
        /// The column of the first parenthesis too many, counted in characters from 1.
        column: usize,
        /// The most levels.
        most: usize,
    },
    /// A name that is not that of a metric, learner or other component.
    #[error("unknown {kind} `{found}`{}; known: {}", did_you_mean(.nearest), .known.join(", "))]
    UnknownName {
        /// The kind of thing that was looked up: `metric`, `learner`.
        kind: &'static str,
        /// The name as written.
        found: String,
        /// All known names.
        known: Vec<String>,
        /// The known name closest to it; for a name of another system, such as `XGBRanker`, our
        /// spec of the same thing.
        nearest: Option<String>,
    },
    /// The named thing has no such parameter.
    #[error("`{name}` has no parameter `{key}`{}", suggestion(.hint, .nearest, .known))]
    UnknownKey {
        /// Name of the spec.
        name: String,
        /// The parameter as written.
        key: String,
        /// The parameters that there are.
        known: Vec<String>,
        /// The closest of these parameters; `None` if none is close.
        nearest: Option<String>,
        /// A hint, if the name is one of another system: "it is called `rate` here".
        hint: Option<String>,
    },
    /// The same parameter twice.
    #[error("`{name}` is given `{key}` twice")]
    DuplicateKey {
        /// Name of the spec.
        name: String,
        /// The repeated parameter.
        key: String,
    },
    /// A parameter that has no default was left out.
    #[error("`{name}` needs `{key}`: {expected}")]
    MissingKey {
        /// Name of the spec.
        name: String,
        /// The parameter.
        key: String,
        /// The help of the parameter, or the values that are allowed.
        expected: String,
    },
    /// A value of the wrong kind or out of range.
    #[error("`{name}`: {key}={value} is not allowed; expected {expected}")]
    BadValue {
        /// Name of the spec.
        name: String,
        /// The parameter.
        key: String,
        /// The value as written.
        value: String,
        /// The values that are allowed.
        expected: String,
    },
    /// Values that are each allowed, but not together or not in this place.
    #[error("`{name}`: {conflict}")]
    Conflict {
        /// Name of the spec.
        name: String,
        /// The conflict.
        conflict: Conflict,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default()
}

/// The end of the message: the hint, or the nearest name and all known ones.
fn suggestion(hint: &Option<String>, nearest: &Option<String>, known: &[String]) -> String {
    match hint {
        Some(hint) => format!(": {hint}"),
        None => format!("{}; known: {}", did_you_mean(nearest), list(known)),
    }
}

/// The known parameters as a list.
fn list(known: &[String]) -> String {
    if known.is_empty() { "none, it takes no parameters".to_owned() } else { known.join(", ") }
}

impl SpecError {
    /// The error of a name that is not among the known ones; `kind` is that of the component:
    /// `metric`, `learner`.
    pub fn unknown(kind: &'static str, found: &str, known: &[&str]) -> Self {
        let other = match kind {
            "learner" => other_system_learner(found).map(|entry| entry.our_spec),
            "first stage" => other_first_stage(found),
            _ => None,
        };
        Self::UnknownName {
            kind,
            found: found.to_owned(),
            nearest: other.map(str::to_owned).or_else(|| nearest(found, known)),
            known: known.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Values of the spec `name` that are each allowed, but not together.
    pub fn conflict(name: impl Into<String>, conflict: Conflict) -> Self {
        Self::Conflict { name: name.into(), conflict }
    }

    /// A remedy, if there is one.
    ///
    /// ```
    /// use rankwright_spec::Spec;
    ///
    /// let error = Spec::parse("ndcg(gain=exp, gain=linear)").unwrap_err();
    /// assert_eq!(error.to_string(), "`ndcg` is given `gain` twice");
    /// assert_eq!(error.help().unwrap(), "keep one value of `gain`");
    /// ```
    pub fn help(&self) -> Option<String> {
        match self {
            Self::DuplicateKey { key, .. } => Some(format!("keep one value of `{key}`")),
            Self::Conflict { conflict, .. } => conflict.help(),
            Self::UnknownName { kind: "learner", found, .. } => {
                let note = other_system_learner(found).map(|entry| entry.note);
                note.filter(|note| !note.is_empty()).map(str::to_owned)
            }
            // A parameter of LightGBM's objective `lambdarank`, which is a net here.
            Self::UnknownKey { name, key, hint: None, .. } if name == "lambdarank" => {
                let is_of_other_system = other_system_param(key).is_some();
                is_of_other_system.then(|| {
                    "`lambdarank` is a net here; LightGBM's objective of that name is the learner \
                     `lambdamart`"
                        .to_owned()
                })
            }
            // The messages of the other errors list what is known or expected.
            _ => None,
        }
    }
}

/// The reason why the text of one parameter was rejected; [`SpecError`] adds the spec and the
/// parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueError {
    /// The text is not a value of the parameter's kind, or not in its range.
    Expected(String),
    /// The value is a spec, and that spec was rejected.
    Spec(SpecError),
}

impl ValueError {
    /// The error as that of the parameter `key` of the spec `name`.
    pub fn at(self, name: &str, key: &str, value: &str) -> SpecError {
        match self {
            Self::Expected(expected) => SpecError::BadValue {
                name: name.to_owned(),
                key: key.to_owned(),
                value: value.to_owned(),
                expected,
            },
            Self::Spec(error) => error,
        }
    }
}
