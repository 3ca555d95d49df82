//! Parameters of a tree: sizes, limits and penalties.

use rankwright_spec::{Auto, Conflict, choices, params};

use super::rules::{CategoricalText, FeatureCostText, InteractionText, MonotoneText};
use super::size_defaults::SizeDefaults;

choices! {
    /// The order in which leaves are split.
    pub enum Growth {
        /// The leaf with the largest gain first.
        LeafWise = "leaf",
        /// Level by level, within a level the largest gain first.
        DepthWise = "depth",
        /// Level by level, one test for all leaves of a level: an oblivious (symmetric) tree.
        Oblivious = "oblivious",
    }
}

choices! {
    /// A monotone constraint: the direction in which scores may change with a feature.
    pub enum Direction {
        /// A larger value never lowers the score.
        Rising = "+",
        /// A larger value never raises the score.
        Falling = "-",
    }
}

params! {
    /// Parameters of a tree.
    ///
    /// ```
    /// use rankwright_learn::tree::TreeParams;
    /// use rankwright_learn::prelude::*;
    /// use rankwright_spec::check_params;
    ///
    /// let params = TreeParams::default().leaves(7).monotone("price:-");
    /// assert!(check_params(&params, "tree").is_ok());
    /// assert!(check_params(&params.leaves(1), "tree").is_err());
    /// ```
    pub struct TreeParams, check = check {
        leaves: Auto<usize> = Auto::Auto, 2..=65536,
            "Maximum number of leaves of a tree; auto: 4 to 31, by the number of documents.";
        depth: usize = 0, .., "Maximum number of splits from the root to a leaf; 0: no limit.";
        min_rows: Auto<u64> = Auto::Auto, ..,
            "Minimum number of rows in a leaf; auto: by the number of documents.";
        min_hessian: f64 = 0.001, 0.0.., "Minimum sum of hessians in a leaf.";
        min_gain: f64 = 0.0, 0.0.., "A split must have a gain above this.";
        impurity: Option<f64> = None, 0.0..,
            "A leaf with an impurity (half the variance of the gradients) up to this is not split.";
        l1: f64 = 0.0, 0.0.., "L1 penalty on leaf values.";
        l2: f64 = 0.0, 0.0.., "L2 penalty on leaf values.";
        bins: usize = 255, 2..=255, "Maximum number of bins of a feature.";
        growth: Growth = Growth::LeafWise, ..,
            "Order of growth: the leaf with the largest gain first (leaf), level by level (depth), \
             or all leaves of a level by one test (oblivious; depth 6 if neither depth nor leaves \
             is given).";
        monotone: MonotoneText = MonotoneText::default(), ..,
            "Features whose larger values must not lower (+) or raise (-) the score: 22:+/72:-.";
        interactions: InteractionText = InteractionText::default(), ..,
            "Groups of features; features share a path only within a group: 1+2+5/7+9.";
        feature_cost: FeatureCostText = FeatureCostText::default(), ..,
            "Costs of features, subtracted from the gain of splits until a tree has used the \
             feature: 12:0.5/33:2.";
        cost_weight: f64 = 1.0, 0.0.., "Factor of every cost in feature_cost.",
            requires "feature_cost!=none";
        categorical: CategoricalText = CategoricalText::default(), ..,
            "Features whose values are category numbers, from 0 on: 3/17. Columns of texts are \
             categorical without this.";
        cat_smooth: f64 = 10.0, 0.0..,
            "Added to a category's hessian when categories are sorted.";
        cat_l2: f64 = 10.0, 0.0.., "Added to l2 when sets of categories are compared.";
        max_categories: usize = 32, 1..=255, "Maximum number of categories in the set of a split.";
    }
    /// Builder methods for the parameters of a tree.
    pub trait TreeOptions: tree_params;
}

/// Default number of levels of an oblivious tree.
const OBLIVIOUS_DEPTH: usize = 6;
/// Largest number of levels of an oblivious tree: every leaf of a level that may still be split
/// keeps its histogram, and a level has up to 2^10 leaves.
const MAX_LEVELS: usize = 10;

/// Rejects parameters that contradict each other.
fn check(params: &TreeParams) -> Result<(), Conflict> {
    if params.growth == Growth::Oblivious {
        if TreeConfig::new(params).levels() > MAX_LEVELS {
            return Err(Conflict::AboveLimit {
                keys: &["the number of levels"],
                limit: MAX_LEVELS,
                reason: "growth=oblivious allows no more; depth and leaves set the levels",
            });
        }
        if !params.categorical.is_none() {
            return Err(Conflict::Incompatible {
                setting: "categorical".to_owned(),
                other: "growth=oblivious".to_owned(),
                reason: "a level has one test, and sets of categories are found leaf by leaf",
            });
        }
    }
    match params.monotone.names().find(|name| params.categorical.names().any(|c| c == *name)) {
        None => Ok(()),
        Some(both) => Err(Conflict::FeatureInBoth {
            feature: both.to_string(),
            keys: ["monotone", "categorical"],
            reason: "categories have no order",
        }),
    }
}

/// Tree parameters as the engine uses them: checked, with features as columns. Fields without a
/// comment are the parameters of the same name in [`TreeParams`]. The fingerprint of a checkpoint
/// is computed from the `Debug` text: with a renamed field, older checkpoints are rejected.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeConfig {
    pub(crate) leaves: usize,
    /// Largest number of splits from the root to a leaf; `None` for no limit.
    pub(crate) depth: Option<usize>,
    pub(crate) min_rows: u64,
    pub(crate) min_hessian: f64,
    pub(crate) min_gain: f64,
    /// A leaf with an impurity up to this is not split; `None` for no such limit.
    pub(crate) impurity: Option<f64>,
    pub(crate) l1: f64,
    pub(crate) l2: f64,
    pub(crate) growth: Growth,
    /// Columns with a monotone constraint.
    pub(crate) monotone: Vec<(u32, Direction)>,
    /// Groups of columns: only columns of one group share a path. Empty for no constraint.
    pub(crate) interactions: Vec<Vec<u32>>,
    /// The cost of a split on a column that no earlier tree has used, in units of gain.
    pub(crate) feature_cost: Vec<(u32, f64)>,
    pub(crate) cost_weight: f64,
    /// Columns whose values are category numbers.
    pub(crate) categorical: Vec<u32>,
    pub(crate) cat_smooth: f64,
    pub(crate) cat_l2: f64,
    pub(crate) max_categories: usize,
}

impl TreeConfig {
    /// The configuration of checked parameters; columns are resolved once the data is known
    /// ([`TreeParams::resolve`]).
    pub(crate) fn new(params: &TreeParams) -> Self {
        let large = SizeDefaults::LARGE;
        let mut depth = Some(params.depth).filter(|depth| *depth > 0);
        let leaves = match (params.leaves, params.growth) {
            (Auto::Given(leaves), _) => leaves,
            (Auto::Auto, Growth::Oblivious) => {
                let levels = depth.unwrap_or(OBLIVIOUS_DEPTH);
                depth = Some(levels);
                // `check`, which calls this function, rejects more than 10 levels; the shift must
                // not overflow before.
                1 << levels.min(16)
            }
            (Auto::Auto, _) => large.leaves,
        };
        Self {
            leaves,
            depth,
            min_rows: params.min_rows.or(large.min_rows),
            min_hessian: params.min_hessian,
            min_gain: params.min_gain,
            impurity: params.impurity,
            l1: params.l1,
            l2: params.l2,
            growth: params.growth,
            monotone: Vec::new(),
            interactions: Vec::new(),
            feature_cost: Vec::new(),
            cost_weight: params.cost_weight,
            categorical: Vec::new(),
            cat_smooth: params.cat_smooth,
            cat_l2: params.cat_l2,
            max_categories: params.max_categories,
        }
    }

    /// Levels of an oblivious tree: `depth`, or fewer if `leaves` allows fewer.
    pub(crate) fn levels(&self) -> usize {
        let by_leaves = self.leaves.max(1).ilog2() as usize;
        self.depth.map_or(by_leaves, |depth| depth.min(by_leaves))
    }

    /// Whether a leaf at this depth may be split.
    pub(crate) fn may_deepen(&self, depth: usize) -> bool {
        self.depth.is_none_or(|limit| depth < limit)
    }
}

#[cfg(test)]
impl Default for TreeConfig {
    fn default() -> Self {
        Self::new(&TreeParams::default())
    }
}
