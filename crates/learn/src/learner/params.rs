//! Parameters of boosting and of trees, and how a spec writes them.
//!
//! Here texts become numbers; which numbers make sense is said in one place, by
//! [`BoostParams::check`] and the check of its tree parameters. What is no number becomes one that
//! they refuse, so that there is one message for each parameter. Only what they have no limit for
//! is looked at here.

use rankwright_eval::{ParamInfo, Params};
use rankwright_spec::SpecError;

use crate::boost::{BoostParams, DropScale, Dropout, Newton, OneSide};
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
    info(
        "goss_top",
        "part of the queries that each tree sees for their large gradients; 1: all",
        "1",
    ),
    info(
        "goss_rest",
        "with goss_top: part of the queries drawn from the others, which then count for all of \
         them; the first 1/rate trees see all queries",
        "0.1",
    ),
    info("line_search", "scale each tree by the step that is best along it", "false"),
    info(
        "drop_trees",
        "DART: chance of each earlier tree to be left out while a tree is grown; 0: off",
        "0",
    ),
    info("drop_skip", "with drop_trees: chance that a tree is grown with no other left out", "0.5"),
    info("drop_most", "with drop_trees: most trees left out at once; 0: no limit", "50"),
    info(
        "drop_scale",
        "with drop_trees: the new tree gets the size of one tree left out, or of all: tree | forest",
        "tree",
    ),
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
    info(
        "growth",
        "split next: leaf (the largest gain) | depth (level by level) | oblivious (a level at a \
         time, all by one question; then depth is 6 where neither it nor leaves is given)",
        "leaf",
    ),
    info(
        "monotone",
        "features whose larger values must not lower (+) or raise (-) the score: 22:+/72:-",
        "none",
    ),
    info(
        "interactions",
        "groups of features: only those of one group meet on a path, others meet none: 1+2+5/7+9",
        "none",
    ),
    info(
        "feature_cost",
        "taken from the gain of splits on a feature until a tree has used it: 12:0.5/33:2",
        "none",
    ),
    info("cost_weight", "what every feature_cost is multiplied with", "1"),
    info("categorical", "features whose values are numbers of categories, from 0 on: 3/17", "none"),
    info("cat_smooth", "added to a category's second derivative when they are put in order", "10"),
    info("cat_l2", "added to l2 when sets of categories are compared", "10"),
    info("max_categories", "most categories in the set that a split asks for, 1 to 255", "32"),
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
        one_side: one_side(params)?,
        dropout: dropout(params)?,
    };
    if params.is_written("ridge") && boost.newton != Newton::Joint {
        return Err(params.conflict("ridge is for newton=joint; write that too, or leave it out"));
    }
    boost.check().map_err(|error| in_spec(error, params))?;
    Ok(boost)
}

/// Sampling by gradients; none where all queries are kept for theirs.
fn one_side(params: &Params<'_>) -> Result<Option<OneSide>, SpecError> {
    let (top, rest) = (number(params, "goss_top", 1.0), number(params, "goss_rest", 0.1));
    if top != 1.0 {
        return Ok(Some(OneSide { top, rest }));
    }
    match params.is_written("goss_rest") {
        true => Err(params.conflict("goss_rest is for goss_top below 1; write that too")),
        false => Ok(None),
    }
}

/// Dropping trees; none where their chance is 0.
fn dropout(params: &Params<'_>) -> Result<Option<Dropout>, SpecError> {
    let default = Dropout::default();
    let scales = [("tree", DropScale::Tree), ("forest", DropScale::Forest)];
    let dropout = Dropout {
        share: number(params, "drop_trees", 0.0),
        skip: number(params, "drop_skip", default.skip),
        most: count(params, "drop_most", default.most)?,
        scale: params.choice("drop_scale", &scales, default.scale)?,
    };
    if dropout.share != 0.0 {
        return Ok(Some(dropout));
    }
    match ["drop_skip", "drop_most", "drop_scale"].iter().find(|key| params.is_written(key)) {
        Some(key) => {
            Err(params.conflict(format!("{key} is for drop_trees above 0; write that too")))
        }
        None => Ok(None),
    }
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
    let growths = [
        ("leaf", Growth::LeafWise),
        ("depth", Growth::DepthWise),
        ("oblivious", Growth::Oblivious),
    ];
    let default = TreeParams::default();
    let growth = params.choice("growth", &growths, Growth::LeafWise)?;
    let mut depth = Some(count(params, "depth", 0)?).filter(|depth| *depth > 0);
    let mut leaves = default.leaves;
    if growth == Growth::Oblivious && !params.is_written("leaves") {
        // One given number is enough; more levels than there may be are refused by the check.
        depth = depth.or(Some(OBLIVIOUS_DEPTH));
        leaves = 1 << depth.unwrap_or(0).min(16);
    }
    Ok(TreeParams {
        leaves: limited(params, "leaves", leaves),
        depth,
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
        growth,
        cost_weight: number(params, "cost_weight", default.cost_weight),
        cat_smooth: number(params, "cat_smooth", default.cat_smooth),
        cat_l2: number(params, "cat_l2", default.cat_l2),
        max_categories: limited(params, "max_categories", default.max_categories),
        // Features are known once the data is there.
        ..default
    })
}

/// Levels of an oblivious tree where nothing is said.
const OBLIVIOUS_DEPTH: usize = 6;

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
