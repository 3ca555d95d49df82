//! Parameters of boosting: number of trees, shrinkage, samples, early stopping, DART and GOSS.

use rankwright_spec::{Conflict, above, choices, params};

use super::dropout::{DropScale, Dropout};
use super::goss::Goss;
use crate::session::Stop;
use crate::tree::{TreeConfig, TreeParams};

choices! {
    /// The second derivatives in the denominator of a leaf's Newton step.
    ///
    /// A pair loss ties two documents together; when both are in one leaf, moving the leaf does not
    /// change their difference, so their pair does not belong into the leaf's denominator.
    pub enum Newton {
        /// Each document's own second derivative, pairs within a leaf included (Burges 2010).
        PerDocument = "per-document",
        /// Only pairs whose documents are in two leaves.
        CrossLeaf = "cross-leaf",
        /// All leaves at once: the full system, pairs between leaves tie their values together.
        Joint = "joint",
    }
}

params! {
    /// Parameters of boosting.
    pub struct BoostParams, check = check {
        trees: usize = 300, 1.., "Number of trees.";
        rate: f64 = 0.1, above(0.0), "Learning rate (shrinkage): the factor of each tree's values.";
        stop: Stop = Stop::Auto, ..,
            "Number of trees without improvement on validation data after which training stops; \
             auto: all trees are trained. With validation data, the best number of trees is kept; \
             none: all are kept.";
        sample_queries: f64 = 1.0, above(0.0).up_to(1.0),
            "Fraction of the queries that each tree is grown from, drawn for each tree.";
        sample_features: f64 = 1.0, above(0.0).up_to(1.0),
            "Fraction of the features that each tree may use, drawn for each tree.";
        goss_top: f64 = 1.0, above(0.0).up_to(1.0),
            "GOSS: fraction of the queries, those with the largest gradients, that each tree is \
             grown from; 1: all.";
        goss_rest: f64 = 0.1, above(0.0).up_to(1.0),
            "GOSS: fraction of the queries sampled from the rest, reweighted; the first 1/rate \
             trees use all queries.", requires "goss_top<1";
        line_search: bool = false, ..,
            "Scale each tree by the step that minimises the loss along it.";
        drop_trees: f64 = 0.0, 0.0..=1.0,
            "DART: probability that an earlier tree is dropped while a tree is grown; 0: off.";
        drop_skip: f64 = 0.5, 0.0..1.0,
            "DART: probability that a tree is grown without dropping any other.",
            requires "drop_trees>0";
        drop_most: usize = 50, .., "DART: maximum number of trees dropped at once; 0: no limit.",
            requires "drop_trees>0";
        drop_scale: DropScale = DropScale::Tree, ..,
            "DART: scale of the new tree: that of one dropped tree (tree), or of all together \
             (forest).",
            requires "drop_trees>0";
    }
    /// Builder methods for the parameters of boosting.
    pub trait BoostOptions: boost_params;
}

params! {
    /// Parameters of the Newton step of pair objectives.
    pub struct NewtonParams {
        newton: Newton = Newton::PerDocument, ..,
            "Pairs in the denominator of a leaf's step: all of its documents (per-document), only \
             those across leaves (cross-leaf), or all leaves at once (joint).";
        ridge: f64 = 0.01, 0.0..,
            "Ridge on the diagonal of newton=joint, as a fraction of the diagonal's mean.",
            requires "newton=joint";
    }
    /// Builder methods for the parameters of the Newton step.
    pub trait NewtonOptions: newton_params;
}

/// Largest number of leaves of the joint step: each task has a matrix of leaves by leaves.
const MOST_JOINT_LEAVES: usize = 2048;

fn check(params: &BoostParams) -> Result<(), Conflict> {
    let goss = params.goss_top < 1.0;
    if goss && params.sample_queries < 1.0 {
        let (keys, reason) = (&["goss_top", "sample_queries"], "both choose the queries of a tree");
        return Err(Conflict::OnlyOneOf { keys, reason });
    }
    // A sum slightly above 1 is a rounded sum of decimals that is 1.
    if goss && params.goss_top + params.goss_rest > 1.0 + 1e-9 {
        let (keys, reason) = (&["goss_top", "goss_rest"], "both are fractions of all queries");
        return Err(Conflict::AboveLimit { keys, limit: 1, reason });
    }
    if params.drop_trees > 0.0 && params.line_search {
        let reason = "drop_trees scales each tree by the dropped ones, line_search by the loss";
        return Err(Conflict::OnlyOneOf { keys: &["drop_trees", "line_search"], reason });
    }
    Ok(())
}

/// Rejects more leaves than the joint Newton step can solve for.
pub(crate) fn check_joint_newton_leaves(
    newton: &NewtonParams,
    tree: &TreeParams,
) -> Result<(), Conflict> {
    match newton.newton == Newton::Joint && tree.leaves > MOST_JOINT_LEAVES {
        false => Ok(()),
        true => Err(Conflict::AboveLimit {
            keys: &["leaves"],
            limit: MOST_JOINT_LEAVES,
            reason: "newton=joint solves for all leaves at once",
        }),
    }
}

/// Boosting parameters as the engine uses them: checked, with features as columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoostConfig {
    pub(crate) trees: usize,
    pub(crate) rate: f64,
    pub(crate) tree: TreeConfig,
    pub(crate) bins: usize,
    pub(crate) sample_queries: f64,
    pub(crate) one_side: Option<Goss>,
    pub(crate) sample_features: f64,
    pub(crate) stop: Stop,
    pub(crate) newton: Newton,
    pub(crate) ridge: f64,
    pub(crate) line_search: bool,
    pub(crate) dropout: Option<Dropout>,
}

impl BoostConfig {
    /// The configuration of checked parameters.
    pub(crate) fn new(boost: &BoostParams, tree: &TreeParams, newton: &NewtonParams) -> Self {
        let dropout = Dropout {
            share: boost.drop_trees,
            skip: boost.drop_skip,
            most: boost.drop_most,
            scale: boost.drop_scale,
        };
        let one_side = Goss { top: boost.goss_top, rest: boost.goss_rest };
        Self {
            trees: boost.trees,
            rate: boost.rate,
            tree: TreeConfig::new(tree),
            bins: tree.bins,
            sample_queries: boost.sample_queries,
            one_side: (boost.goss_top < 1.0).then_some(one_side),
            sample_features: boost.sample_features,
            stop: boost.stop,
            newton: newton.newton,
            ridge: newton.ridge,
            line_search: boost.line_search,
            dropout: (boost.drop_trees > 0.0).then_some(dropout),
        }
    }
}

#[cfg(test)]
impl Default for BoostConfig {
    fn default() -> Self {
        let trees = BoostParams { trees: 100, ..BoostParams::default() };
        Self::new(&trees, &TreeParams::default(), &NewtonParams::default())
    }
}
