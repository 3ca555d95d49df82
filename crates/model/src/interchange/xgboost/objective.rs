//! The margin of `base_score`: the inverse of the objective's transform of a margin.

use super::{invalid, unsupported};
use crate::error::ModelError;
use crate::interchange::{FileProblem, UnsupportedPart};

/// The functions from a prediction to a margin.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LinkFunction {
    Same,
    /// `ln(p / (1 - p))`.
    Logit,
    Log,
}

/// Each objective with one output, as XGBoost names it.
const LINKS: [(&str, LinkFunction); 17] = [
    ("reg:squarederror", LinkFunction::Same),
    ("reg:linear", LinkFunction::Same),
    ("reg:squaredlogerror", LinkFunction::Same),
    ("reg:pseudohubererror", LinkFunction::Same),
    ("reg:absoluteerror", LinkFunction::Same),
    ("reg:quantileerror", LinkFunction::Same),
    ("reg:logistic", LinkFunction::Logit),
    ("binary:logistic", LinkFunction::Logit),
    ("binary:hinge", LinkFunction::Same),
    ("rank:ndcg", LinkFunction::Same),
    ("rank:map", LinkFunction::Same),
    ("rank:pairwise", LinkFunction::Same),
    ("count:poisson", LinkFunction::Log),
    ("survival:cox", LinkFunction::Log),
    ("survival:aft", LinkFunction::Log),
    ("reg:gamma", LinkFunction::Log),
    ("reg:tweedie", LinkFunction::Log),
];

/// The margin of a base score; `version` is that of the program that wrote it.
pub(super) fn margin(objective: &str, base: f32, version: (u32, u32)) -> Result<f64, ModelError> {
    let known = LINKS.iter().find(|(name, _)| *name == objective).map(|(_, link)| *link);
    // In earlier versions it was a probability there too.
    let link = match (known, objective) {
        (None, "binary:logitraw") if version >= (1, 7) => LinkFunction::Same,
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
        LinkFunction::Same => base,
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

/// Whether the second derivative of each row is 1, so that a sum of them counts rows.
pub(super) fn counts_rows(objective: &str) -> bool {
    matches!(objective, "reg:squarederror" | "reg:linear")
}
