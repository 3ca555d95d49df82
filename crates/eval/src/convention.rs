//! Conventions that all relevance metrics share, each with a name and a default.
//!
//! | name | choices | default |
//! |---|---|---|
//! | `blank` | a query without a relevant document is skipped, or counts 0 or 1 | `skip` |
//! | `missing` | a judged query that the run lacks counts 0 (`zero`), or is skipped | `zero` |
//! | `unjudged` | documents without a judgement are non-relevant, or dropped before ranking | `nonrel` |
//! | `ties` | see [`TiePolicy`] | `worst` for feature data, `docid` for runs |
//! | `scores` | compared as `f64`, or rounded to `f32` first | `f64` |

use crate::order::{OrderRule, TiePolicy};
use crate::params::{ParamInfo, Params};
use crate::source::SourceKind;
use rankwright_spec::SpecError;

/// The value of a query without a relevant document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blank {
    /// Left out of the mean.
    Skip,
    /// Counts 0.
    Zero,
    /// Counts 1.
    One,
}

/// The value of a judged query that the run did not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Missing {
    /// Counts as an empty ranking: 0 for most metrics.
    Zero,
    /// Left out of the mean.
    Skip,
}

/// What happens to documents without a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unjudged {
    /// They stay in the ranking and count as non-relevant.
    NonRelevant,
    /// They are removed before ranking.
    Drop,
}

/// The shared conventions of one measure, settled.
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
    /// Compare scores as 32-bit floats.
    pub scores32: bool,
}

/// `preset`, understood before all other parameters.
pub(crate) const PRESET: ParamInfo = ParamInfo {
    name: "preset",
    doc: "conventions of a known tool; parameters written beside it win",
    default: "none",
};
/// `rel`.
pub(crate) const REL: ParamInfo =
    ParamInfo { name: "rel", doc: "lowest label that counts as relevant (above 0)", default: "1" };
/// `blank`.
pub(crate) const BLANK: ParamInfo = ParamInfo {
    name: "blank",
    doc: "query without a relevant document: skip | 0 | 1",
    default: "skip",
};
/// `missing`.
pub(crate) const MISSING: ParamInfo = ParamInfo {
    name: "missing",
    doc: "judged query that the run did not return: zero | skip",
    default: "zero",
};
/// `unjudged`.
pub(crate) const UNJUDGED: ParamInfo = ParamInfo {
    name: "unjudged",
    doc: "documents without a judgement: nonrel | drop",
    default: "nonrel",
};
/// `ties`.
pub(crate) const TIES: ParamInfo = ParamInfo {
    name: "ties",
    doc: "order among equal scores: worst | docid | stable | best | mean",
    default: "worst for feature data, docid for runs",
};
/// `scores`.
pub(crate) const SCORES: ParamInfo =
    ParamInfo { name: "scores", doc: "compare scores as f64 | f32", default: "f64" };

impl Conventions {
    /// Reads the shared parameters; what is not written or preset gets the default.
    pub fn read(params: &Params<'_>, kind: SourceKind) -> Result<Self, SpecError> {
        let blank = [("skip", Blank::Skip), ("0", Blank::Zero), ("1", Blank::One)];
        let missing = [("zero", Missing::Zero), ("skip", Missing::Skip)];
        let unjudged = [("nonrel", Unjudged::NonRelevant), ("drop", Unjudged::Drop)];
        let default = Self::of(kind);
        let scores = [("f64", false), ("f32", true)];
        Ok(Self {
            blank: params.choice("blank", &blank, default.blank)?,
            missing: params.choice("missing", &missing, default.missing)?,
            unjudged: params.choice("unjudged", &unjudged, default.unjudged)?,
            ties: params.choice("ties", &TiePolicy::ALL, default.ties)?,
            scores32: params.choice("scores", &scores, default.scores32)?,
        })
    }

    /// The defaults for a kind of data.
    pub fn of(kind: SourceKind) -> Self {
        Self {
            blank: Blank::Skip,
            missing: Missing::Zero,
            unjudged: Unjudged::NonRelevant,
            ties: match kind {
                SourceKind::Features => TiePolicy::Worst,
                SourceKind::Run => TiePolicy::Docid,
            },
            scores32: false,
        }
    }

    /// The order that these conventions ask for.
    pub fn order(&self) -> OrderRule {
        OrderRule { ties: self.ties, scores32: self.scores32 }
    }

    /// `key=value` for one shared parameter, as printed with a number.
    pub fn say(&self, key: &str) -> Option<String> {
        let value = match key {
            "blank" => match self.blank {
                Blank::Skip => "skip",
                Blank::Zero => "0",
                Blank::One => "1",
            },
            "missing" => match self.missing {
                Missing::Zero => "zero",
                Missing::Skip => "skip",
            },
            "unjudged" => match self.unjudged {
                Unjudged::NonRelevant => "nonrel",
                Unjudged::Drop => "drop",
            },
            "ties" => self.ties.name(),
            "scores" => match self.scores32 {
                true => "f32",
                false => "f64",
            },
            _ => return None,
        };
        Some(format!("{key}={value}"))
    }
}

/// Reads `rel`; thresholds of 0 and below would make unjudged documents relevant.
pub(crate) fn read_rel(params: &Params<'_>) -> Result<f64, SpecError> {
    params.f64_in("rel", 1.0, |r| r > 0.0, "a label above 0")
}
