//! Parameters of boosting: number of trees, shrinkage, samples, early stopping, DART and GOSS.

use rankwright_spec::{Auto, Conflict, above, choices, params};

use super::dropout::{DropScale, Dropout};
use super::goss::Goss;
use crate::error::LearnError;
use crate::session::{Stop, TrainRequest};
use crate::tree::{Growth, SizeDefaults, TreeConfig, TreeParams};

choices! {
    /// The second derivatives in the denominator of a leaf's Newton step.
    ///
    /// A pair loss depends on the score difference of two documents. When both are in one leaf, the
    /// leaf's value does not change their difference, so their pair does not belong into the leaf's
    /// denominator; `per-document` counts such pairs all the same, as Burges does.
    pub enum Newton {
        /// Each document's own second derivative, pairs within a leaf included (Burges 2010).
        PerDocument = "per-document",
        /// Only pairs whose documents are in two leaves.
        CrossLeaf = "cross-leaf",
        /// All leaves at once: a linear system, in which the pairs between two leaves link the
        /// values of both.
        Joint = "joint",
    }
}

params! {
    /// Parameters of boosting.
    pub struct BoostParams, check = check {
        trees: usize = 300, 1.., "Number of trees.";
        rate: Auto<f64> = Auto::Auto, above(0.0),
            "Learning rate (shrinkage): the factor of each tree's values; auto: 0.05 or 0.1, by the \
             number of documents.";
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
            "Pairs in the denominator of a leaf's step: all pairs of its documents (per-document), \
             only pairs across leaves (cross-leaf), or one step for all leaves together (joint).";
        ridge: f64 = 0.01, 0.0..,
            "Ridge on the diagonal of newton=joint, as a fraction of the diagonal's mean.",
            requires "newton=joint";
    }
    /// Builder methods for the parameters of the Newton step.
    pub trait NewtonOptions: newton_params;
}

/// Largest number of leaves of the joint step: each parallel task has a matrix of leaves by leaves.
const MAX_JOINT_LEAVES: usize = 2048;

/// Rejects parameters that contradict each other.
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
    match newton.newton == Newton::Joint
        && tree.leaves.given().is_some_and(|leaves| leaves > MAX_JOINT_LEAVES)
    {
        false => Ok(()),
        true => Err(Conflict::AboveLimit {
            keys: &["leaves"],
            limit: MAX_JOINT_LEAVES,
            reason: "newton=joint solves for all leaves at once",
        }),
    }
}

/// Boosting parameters as the engine uses them: checked, and features are given by their columns
/// instead of names. Fields without a comment are the parameters of the same name. The fingerprint
/// of a checkpoint is computed from the `Debug` text: with a renamed field, older checkpoints are
/// rejected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoostConfig {
    pub(crate) trees: usize,
    pub(crate) rate: f64,
    pub(crate) tree: TreeConfig,
    /// The values chosen for the parameters that are `auto`, written as in a spec; empty if no
    /// parameter is.
    pub(crate) chosen: String,
    /// Maximum number of bins of a feature.
    pub(crate) bins: usize,
    pub(crate) sample_queries: f64,
    /// `None` if queries are not sampled by their gradients.
    pub(crate) goss: Option<Goss>,
    pub(crate) sample_features: f64,
    pub(crate) stop: Stop,
    pub(crate) newton: Newton,
    pub(crate) ridge: f64,
    pub(crate) line_search: bool,
    /// `None` if no trees are dropped.
    pub(crate) dropout: Option<Dropout>,
}

impl BoostParams {
    /// The parameters with values in place of `auto`.
    pub(crate) fn with_defaults(&self, defaults: &SizeDefaults) -> Self {
        Self { rate: Auto::Given(self.rate.or(defaults.rate)), ..self.clone() }
    }
}

impl BoostConfig {
    /// The configuration for the data of a request: columns are resolved, and `auto` is replaced by
    /// values for the number of rows. `name` is that of the learner, for errors.
    pub(crate) fn for_request(
        request: &TrainRequest<'_>,
        name: &str,
        boost: &BoostParams,
        tree: &TreeParams,
        newton: &NewtonParams,
    ) -> Result<Self, LearnError> {
        let defaults = SizeDefaults::of_processes(request.train.rows(), request.collective)?;
        let chosen = chosen_values(boost, tree, &defaults);
        let (boost, tree) = (boost.with_defaults(&defaults), tree.with_defaults(&defaults));
        let resolved = tree.resolve(request.train, name)?;
        Ok(Self { tree: resolved, chosen, ..Self::new(&boost, &tree, newton) })
    }

    /// The configuration of checked parameters.
    pub(crate) fn new(boost: &BoostParams, tree: &TreeParams, newton: &NewtonParams) -> Self {
        let dropout = Dropout {
            probability: boost.drop_trees,
            skip: boost.drop_skip,
            max_dropped: boost.drop_most,
            scale: boost.drop_scale,
        };
        let goss = Goss { top: boost.goss_top, rest: boost.goss_rest };
        Self {
            trees: boost.trees,
            rate: boost.rate.or(SizeDefaults::LARGE.rate),
            tree: TreeConfig::new(tree),
            chosen: String::new(),
            bins: tree.bins,
            sample_queries: boost.sample_queries,
            goss: (boost.goss_top < 1.0).then_some(goss),
            sample_features: boost.sample_features,
            stop: boost.stop,
            newton: newton.newton,
            ridge: newton.ridge,
            line_search: boost.line_search,
            dropout: (boost.drop_trees > 0.0).then_some(dropout),
        }
    }
}

/// The values chosen for the parameters that are `auto`: "leaves=7, min_rows=100, rate=0.05".
fn chosen_values(boost: &BoostParams, tree: &TreeParams, defaults: &SizeDefaults) -> String {
    let SizeDefaults { leaves, min_rows, rate } = defaults;
    // Oblivious trees have a default number of leaves that does not depend on the data.
    let leaves_are_auto = tree.leaves == Auto::Auto && tree.growth != Growth::Oblivious;
    let values = [
        (leaves_are_auto, format!("leaves={leaves}")),
        (tree.min_rows == Auto::Auto, format!("min_rows={min_rows}")),
        (boost.rate == Auto::Auto, format!("rate={rate}")),
    ];
    let values = values.into_iter().filter_map(|(is_auto, text)| is_auto.then_some(text));
    values.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
impl Default for BoostConfig {
    fn default() -> Self {
        let boost = BoostParams { trees: 100, ..BoostParams::default() };
        Self::new(&boost, &TreeParams::default(), &NewtonParams::default())
    }
}
