//! Parameters of boosting and of trees, and how a spec writes them.
//!
//! Here texts become numbers; which numbers make sense is said in one place, by
//! [`BoostParams::check`] and the check of its tree parameters. What is no number becomes one that
//! they refuse, so that there is one message for each parameter. Only what they have no limit for
//! is looked at here.

use rankwright_eval::{ParamInfo, Params, SpecError};

use crate::boost::{BoostParams, Newton};
use crate::objective::DEFAULT_METRIC;
use crate::tree::{Growth, TreeParams};

const fn info(name: &'static str, doc: &'static str, default: &'static str) -> ParamInfo {
    ParamInfo { name, doc, default }
}

/// What is watched where lambdas do not aim at it.
pub(super) const METRIC: ParamInfo =
    info("metric", "metric to watch and to stop by", DEFAULT_METRIC);

/// Parameters of every boosted learner.
pub(super) const BOOSTING: &[ParamInfo] = &[
    info("trees", "number of trees", "300"),
    info("rate", "shrinkage: what part of each tree's step is taken", "0.1"),
    info("stop", "stop when validation has not improved for so many trees; 0: never", "0"),
    info("sample_queries", "part of the queries that each tree sees, drawn anew", "1"),
    info("sample_features", "part of the features that each tree may use, drawn anew", "1"),
    info("line_search", "scale each tree by the step that is best along it", "false"),
];

/// Parameters of boosting on pairs.
pub(super) const NEWTON: &[ParamInfo] = &[
    info(
        "newton",
        "which pairs count under a leaf's step: per-document (all) | cross-leaf | joint (all \
         leaves at once)",
        "per-document",
    ),
    info("ridge", "added to the diagonal of newton=joint, as a part of its mean", "0.01"),
];

/// Parameters of every tree.
pub(super) const TREE: &[ParamInfo] = &[
    info("leaves", "most leaves of a tree", "31"),
    info("depth", "most splits from the root to a leaf; 0: no limit", "0"),
    info("min_rows", "least rows in a leaf", "20"),
    info("min_hessian", "least sum of second derivatives in a leaf", "0.001"),
    info("min_gain", "a split must gain more than this", "0"),
    info(
        "impurity",
        "leaves with an impurity (half the variance) up to this stay: none | number",
        "none",
    ),
    info("l1", "L1 penalty on leaf values", "0"),
    info("l2", "L2 penalty on leaf values", "0"),
    info("bins", "most bins of a feature, 2 to 255", "255"),
    info("growth", "split next: leaf (the largest gain) | depth (level by level)", "leaf"),
    info(
        "monotone",
        "features whose larger values must not lower (+) or raise (-) the score: 22:+/72:-",
        "none",
    ),
];

/// Reads the parameters; a single tree takes its whole step.
pub(super) fn read(params: &Params<'_>, single: bool) -> Result<BoostParams, SpecError> {
    let newtons = [
        ("per-document", Newton::PerDocument),
        ("cross-leaf", Newton::CrossLeaf),
        ("joint", Newton::Joint),
    ];
    let default = BoostParams::default();
    let (trees, rate) = if single { (1, 1.0) } else { (300, 0.1) };
    let boost = BoostParams {
        // In a program, no trees give the constant or the start model; in a spec it is a slip.
        trees: match limited(params, "trees", trees) {
            0 => return Err(params.bad("trees", params.text("trees").unwrap_or("0"), FROM_ONE)),
            trees => trees,
        },
        rate: number(params, "rate", rate),
        tree: tree(params)?,
        bins: limited(params, "bins", default.bins),
        sample_queries: number(params, "sample_queries", default.sample_queries),
        sample_features: number(params, "sample_features", default.sample_features),
        stop: Some(count(params, "stop", 0)?).filter(|stop| *stop > 0),
        newton: params.choice("newton", &newtons, Newton::PerDocument)?,
        ridge: number(params, "ridge", default.ridge),
        line_search: params.bool("line_search", false)?,
    };
    if params.is_written("ridge") && boost.newton != Newton::Joint {
        return Err(params.conflict("ridge is for newton=joint; write that too, or leave it out"));
    }
    boost.check().map_err(|error| in_spec(error, params))?;
    Ok(boost)
}

/// The error of a check, told of the learner as it was written.
fn in_spec(error: SpecError, params: &Params<'_>) -> SpecError {
    match error {
        SpecError::BadValue { key, value, expected, .. } => {
            params.bad(&key, params.text(&key).unwrap_or(&value), &expected)
        }
        SpecError::Conflict { why, .. } => params.conflict(why),
        other => other,
    }
}

fn tree(params: &Params<'_>) -> Result<TreeParams, SpecError> {
    let growths = [("leaf", Growth::LeafWise), ("depth", Growth::DepthWise)];
    let default = TreeParams::default();
    Ok(TreeParams {
        leaves: limited(params, "leaves", default.leaves),
        depth: Some(count(params, "depth", 0)?).filter(|depth| *depth > 0),
        min_rows: count(params, "min_rows", default.min_rows as usize)? as u64,
        min_hessian: number(params, "min_hessian", default.min_hessian),
        min_gain: number(params, "min_gain", default.min_gain),
        impurity: match params.text("impurity") {
            None | Some("none") => None,
            Some(_) => {
                Some(params.f64_in("impurity", 0.0, |x| x >= 0.0, "none | a number from 0 on")?)
            }
        },
        l1: number(params, "l1", default.l1),
        l2: number(params, "l2", default.l2),
        growth: params.choice("growth", &growths, Growth::LeafWise)?,
        // Features are known once the data is there.
        monotone: Vec::new(),
    })
}

const FROM_ONE: &str = "a whole number from 1 on";

/// A whole number that a check limits to 1 and more; 0 where it is none.
fn limited(params: &Params<'_>, key: &str, default: usize) -> usize {
    params.text(key).map_or(default, |text| text.parse::<u32>().map_or(0, |n| n as usize))
}

/// A number that a check limits; NaN where it is none.
fn number(params: &Params<'_>, key: &str, default: f64) -> f64 {
    params.text(key).map_or(default, |text| text.parse().unwrap_or(f64::NAN))
}

/// A whole number without a limit.
fn count(params: &Params<'_>, key: &str, default: usize) -> Result<usize, SpecError> {
    Ok(params.u32(key, default as u32)? as usize)
}
