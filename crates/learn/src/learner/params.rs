//! Parameters of boosting and of trees, and how a spec writes them.

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
    info("min_gain", "least gain of a split", "0"),
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
    let part = |key: &str| params.f64_in(key, 1.0, |x| x > 0.0 && x <= 1.0, PART);
    let boost = BoostParams {
        trees: count(params, "trees", trees, 1)?,
        rate: params.f64_in("rate", rate, |r| r > 0.0, "a number above 0")?,
        tree: tree(params)?,
        bins: match params.u32("bins", 255)? {
            bins @ 2..=255 => bins as usize,
            bins => return Err(params.bad("bins", &bins.to_string(), "2 to 255")),
        },
        sample_queries: part("sample_queries")?,
        sample_features: part("sample_features")?,
        stop: Some(count(params, "stop", 0, 0)?).filter(|stop| *stop > 0),
        newton: params.choice("newton", &newtons, Newton::PerDocument)?,
        ridge: from_zero(params, "ridge", default.ridge)?,
        line_search: params.bool("line_search", false)?,
    };
    if params.is_written("ridge") && boost.newton != Newton::Joint {
        return Err(params.conflict("ridge is for newton=joint; write that too, or leave it out"));
    }
    boost.check()?;
    Ok(boost)
}

fn tree(params: &Params<'_>) -> Result<TreeParams, SpecError> {
    let growths = [("leaf", Growth::LeafWise), ("depth", Growth::DepthWise)];
    let default = TreeParams::default();
    Ok(TreeParams {
        leaves: match count(params, "leaves", default.leaves, 1)? {
            leaves @ ..=65_536 => leaves,
            leaves => return Err(params.bad("leaves", &leaves.to_string(), "1 to 65536")),
        },
        depth: Some(count(params, "depth", 0, 0)?).filter(|depth| *depth > 0),
        min_rows: count(params, "min_rows", default.min_rows as usize, 0)? as u64,
        min_hessian: from_zero(params, "min_hessian", default.min_hessian)?,
        min_gain: from_zero(params, "min_gain", default.min_gain)?,
        impurity: match params.text("impurity") {
            None | Some("none") => None,
            Some(_) => {
                Some(params.f64_in("impurity", 0.0, |x| x >= 0.0, "none | a number from 0 on")?)
            }
        },
        l1: from_zero(params, "l1", 0.0)?,
        l2: from_zero(params, "l2", 0.0)?,
        growth: params.choice("growth", &growths, Growth::LeafWise)?,
        // Features are known once the data is there.
        monotone: Vec::new(),
    })
}

const PART: &str = "a number above 0 and at most 1";

fn from_zero(params: &Params<'_>, key: &str, default: f64) -> Result<f64, SpecError> {
    params.f64_in(key, default, |x| x >= 0.0, "a finite number from 0 on")
}

fn count(params: &Params<'_>, key: &str, default: usize, least: u32) -> Result<usize, SpecError> {
    match params.u32(key, default as u32)? {
        number if number >= least => Ok(number as usize),
        number => {
            let expected = format!("a whole number from {least} on");
            Err(params.bad(key, &number.to_string(), &expected))
        }
    }
}
