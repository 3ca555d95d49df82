//! The margin of `base_score`. XGBoost's objectives transform a margin (the sum of the trees) to a
//! prediction, and `base_score` is stored as a prediction: its margin is given by the inverse
//! function.

use super::{invalid, unsupported};
use crate::error::ModelError;
use crate::interchange::{FileProblem, UnsupportedPart};

/// The function from a prediction to its margin.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LinkFunction {
    /// The prediction itself.
    Identity,
    /// `ln(p / (1 - p))`.
    Logit,
    /// `ln(p)`.
    Log,
}

/// The link function of each objective with one output, by XGBoost's names.
const LINKS: [(&str, LinkFunction); 17] = [
    ("reg:squarederror", LinkFunction::Identity),
    ("reg:linear", LinkFunction::Identity),
    ("reg:squaredlogerror", LinkFunction::Identity),
    ("reg:pseudohubererror", LinkFunction::Identity),
    ("reg:absoluteerror", LinkFunction::Identity),
    ("reg:quantileerror", LinkFunction::Identity),
    ("reg:logistic", LinkFunction::Logit),
    ("binary:logistic", LinkFunction::Logit),
    ("binary:hinge", LinkFunction::Identity),
    ("rank:ndcg", LinkFunction::Identity),
    ("rank:map", LinkFunction::Identity),
    ("rank:pairwise", LinkFunction::Identity),
    ("count:poisson", LinkFunction::Log),
    ("survival:cox", LinkFunction::Log),
    ("survival:aft", LinkFunction::Log),
    ("reg:gamma", LinkFunction::Log),
    ("reg:tweedie", LinkFunction::Log),
];

/// The margin of a base score; `version` is that of the XGBoost that wrote the file: major, minor.
pub(super) fn margin(objective: &str, base: f32, version: (u32, u32)) -> Result<f64, ModelError> {
    let known = LINKS.iter().find(|(name, _)| *name == objective).map(|(_, link)| *link);
    // Some versions before 1.7 stored the base score of `binary:logitraw` as a probability, and the
    // file does not tell which; those are refused.
    let link = match (known, objective) {
        (None, "binary:logitraw") if version >= (1, 7) => LinkFunction::Identity,
        (None, _) => {
            return Err(unsupported(UnsupportedPart::Objective {
                objective: objective.chars().take(60).collect(),
                reason: "the meaning of its base_score is not known",
            }));
        }
        (Some(link), _) => link,
    };
    let base = f64::from(base);
    let margin = match link {
        LinkFunction::Identity => base,
        LinkFunction::Logit => (base / (1.0 - base)).ln(),
        LinkFunction::Log => base.ln(),
    };
    match margin.is_finite() {
        true => Ok(margin),
        false => Err(invalid(FileProblem::BadValue {
            name: "base_score",
            line: None,
            found: base.to_string(),
            expected: "a number whose margin under the objective is finite",
        })),
    }
}

/// Whether the second derivative of the objective is 1 for each row, so that a sum of them counts
/// rows.
pub(super) fn counts_rows(objective: &str) -> bool {
    matches!(objective, "reg:squarederror" | "reg:linear")
}
