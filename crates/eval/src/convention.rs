//! Conventions that relevance metrics share, each with a name and a default.
//!
//! | name | choices | default |
//! |---|---|---|
//! | `blank` | a query without a relevant document is skipped, or counts 0 or 1 | `skip` |
//! | `missing` | a judged query that the run lacks counts 0 (`zero`), or is skipped | `zero` |
//! | `unjudged` | documents without a judgement are non-relevant, or dropped before ranking | `nonrel` |
//! | `ties` | see [`TiePolicy`] | `worst` for feature data, `docid` for runs |
//! | `scores` | compared as `f64`, or rounded to `f32` first | `f64` |
//!
//! The parameters are declared in `metric/shared.rs`; here are their values.

use rankwright_spec::{Auto, ParamGroup, ParamValue, RangeDef, SpecError, choices};

use crate::order::{OrderRule, TiePolicy};
use crate::source::SourceKind;

choices! {
    /// The value of a query without a relevant document (a blank query).
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Blank {
        /// Left out of the mean.
        Skip = "skip",
        /// Counts 0.
        Zero = "0",
        /// Counts 1.
        One = "1",
    }
}

choices! {
    /// The value of a judged query that the run did not return.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Missing {
        /// Counts as an empty ranking: 0 for most metrics.
        Zero = "zero",
        /// Left out of the mean.
        Skip = "skip",
    }
}

choices! {
    /// The treatment of documents without a judgement.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Unjudged {
        /// They stay in the ranking and count as non-relevant.
        NonRelevant = "nonrel",
        /// They are removed before ranking.
        Drop = "drop",
    }
}

choices! {
    /// The width at which scores are compared.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum ScoreWidth {
        /// 64-bit floats, as they are.
        F64 = "f64",
        /// Rounded to 32-bit floats first, as trec_eval does.
        F32 = "f32",
    }
}

/// The shared conventions of one measure (how ties, unjudged documents and so on are treated), with
/// all defaults filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conventions {
    /// Queries without a relevant document.
    pub blank: Blank,
    /// Judged queries that the run lacks.
    pub missing: Missing,
    /// Documents without a judgement.
    pub unjudged: Unjudged,
    /// Equal scores.
    pub ties: TiePolicy,
    /// The width at which scores are compared.
    pub scores: ScoreWidth,
}

/// The names of the shared conventions, in the order in which they are printed.
pub(crate) const SHARED_CONVENTIONS: [&str; 5] = ["blank", "missing", "unjudged", "ties", "scores"];

impl Conventions {
    /// The shared conventions in a metric's parameters; those that it lacks have their defaults.
    pub(crate) fn resolve(params: &dyn ParamGroup, kind: SourceKind) -> Result<Self, SpecError> {
        let default = Self::of(kind);
        Ok(Self {
            blank: value(params, "blank")?.unwrap_or(default.blank),
            missing: value(params, "missing")?.unwrap_or(default.missing),
            unjudged: value(params, "unjudged")?.unwrap_or(default.unjudged),
            ties: match params.text("ties") {
                // A metric without the parameter does not depend on the order of equal scores.
                None => TiePolicy::Stable,
                Some(_) => value(params, "ties")?.unwrap_or(Auto::Auto).or(default.ties),
            },
            scores: value(params, "scores")?.unwrap_or(default.scores),
        })
    }

    /// The defaults of the shared conventions for a kind of data.
    pub fn of(kind: SourceKind) -> Self {
        Self {
            blank: Blank::Skip,
            missing: Missing::Zero,
            unjudged: Unjudged::NonRelevant,
            ties: match kind {
                SourceKind::Features => TiePolicy::Worst,
                SourceKind::Run => TiePolicy::Docid,
            },
            scores: ScoreWidth::F64,
        }
    }

    /// The rule by which documents are ranked under these conventions.
    pub fn order(&self) -> OrderRule {
        OrderRule { ties: self.ties, scores32: self.scores == ScoreWidth::F32 }
    }

    /// `key=value` for one shared convention, as printed with a result; `None` for other keys.
    pub fn describe(&self, key: &str) -> Option<String> {
        let value = match key {
            "blank" => self.blank.name(),
            "missing" => self.missing.name(),
            "unjudged" => self.unjudged.name(),
            "ties" => self.ties.name(),
            "scores" => self.scores.name(),
            _ => return None,
        };
        Some(format!("{key}={value}"))
    }
}

/// The typed value of a parameter; `None` if the group has no such parameter.
fn value<T: ParamValue>(params: &dyn ParamGroup, key: &str) -> Result<Option<T>, SpecError> {
    let Some(text) = params.text(key) else { return Ok(None) };
    T::read(&text, &RangeDef::default()).map(Some).map_err(|error| error.at("metric", key, &text))
}
