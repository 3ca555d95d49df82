//! What a tree may look like: sizes, limits and penalties, checked once.

use rankwright_spec::SpecError;

/// The order in which leaves are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// The leaf with the largest gain first.
    #[default]
    LeafWise,
    /// Level by level, within a level the largest gain first.
    DepthWise,
    /// Level by level, one question for all leaves of a level: an oblivious (symmetric) tree.
    Oblivious,
}

/// The most levels of an oblivious tree: every open leaf of a level keeps its histogram.
const MOST_LEVELS: usize = 10;

/// How scores must move with a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A larger value never lowers the score.
    Rising,
    /// A larger value never raises the score.
    Falling,
}

/// How one tree is grown.
///
/// ```
/// use rankwright_learn::tree::TreeParams;
///
/// let params = TreeParams { leaves: 7, ..TreeParams::default() };
/// assert!(params.check().is_ok());
/// assert!(TreeParams { leaves: 0, ..params }.check().is_err());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TreeParams {
    /// Most leaves; 1 gives a constant.
    pub leaves: usize,
    /// Most splits from the root to a leaf; `None` is no limit.
    pub depth: Option<usize>,
    /// Least rows in a leaf.
    pub min_rows: u64,
    /// Least sum of second derivatives in a leaf.
    pub min_hessian: f64,
    /// A split must gain more than this.
    pub min_gain: f64,
    /// A leaf whose impurity G (half the variance of the gradients) is at or below this stays.
    pub impurity: Option<f64>,
    /// L1 penalty on leaf values.
    pub l1: f64,
    /// L2 penalty on leaf values.
    pub l2: f64,
    /// Which leaf is split next.
    pub growth: Growth,
    /// Constraints by feature (column of the data).
    pub monotone: Vec<(u32, Direction)>,
    /// Groups of features: only those of one group meet on a path. A feature in no group meets none.
    /// No groups: no constraint.
    pub interactions: Vec<Vec<u32>>,
    /// What a split on a feature costs while no tree before has asked for it, in units of gain.
    pub feature_cost: Vec<(u32, f64)>,
    /// What all costs are multiplied with.
    pub cost_weight: f64,
    /// Features whose values are numbers of categories.
    pub categorical: Vec<u32>,
    /// Added to a category's second derivative when categories are put in order.
    pub cat_smooth: f64,
    /// Added to `l2` when sets of categories are compared.
    pub cat_l2: f64,
    /// Most categories in the set that a split asks for.
    pub max_categories: usize,
}

impl Default for TreeParams {
    fn default() -> Self {
        Self {
            leaves: 31,
            depth: None,
            min_rows: 20,
            min_hessian: 1e-3,
            min_gain: 0.0,
            impurity: None,
            l1: 0.0,
            l2: 0.0,
            growth: Growth::LeafWise,
            monotone: Vec::new(),
            interactions: Vec::new(),
            feature_cost: Vec::new(),
            cost_weight: 1.0,
            categorical: Vec::new(),
            cat_smooth: 10.0,
            cat_l2: 10.0,
            max_categories: 32,
        }
    }
}

impl TreeParams {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), SpecError> {
        let bad = |key: &str, value: String, expected: &str| {
            Err(SpecError::BadValue {
                name: "tree".to_owned(),
                key: key.to_owned(),
                value,
                expected: expected.to_owned(),
            })
        };
        let penalties = [
            ("min_hessian", self.min_hessian),
            ("min_gain", self.min_gain),
            ("l1", self.l1),
            ("l2", self.l2),
            ("cost_weight", self.cost_weight),
            ("cat_smooth", self.cat_smooth),
            ("cat_l2", self.cat_l2),
        ];
        for (key, value) in penalties {
            if !(value.is_finite() && value >= 0.0) {
                return bad(key, value.to_string(), "a finite number from 0 on");
            }
        }
        if self.leaves == 0 || self.leaves > 65_536 {
            return bad("leaves", self.leaves.to_string(), "1 to 65536");
        }
        if self.max_categories == 0 || self.max_categories > 255 {
            return bad("max_categories", self.max_categories.to_string(), "1 to 255");
        }
        if let Some((_, cost)) =
            self.feature_cost.iter().find(|(_, c)| !(c.is_finite() && *c >= 0.0))
        {
            return bad("feature_cost", cost.to_string(), "finite costs from 0 on");
        }
        self.check_together()
    }

    /// Refuses what makes no sense together.
    fn check_together(&self) -> Result<(), SpecError> {
        let clash =
            |why: &str| Err(SpecError::Conflict { name: "tree".to_owned(), why: why.to_owned() });
        if self.growth == Growth::Oblivious && self.levels() > MOST_LEVELS {
            return clash(
                "growth=oblivious has at most 10 levels; lower depth, or leaves to 1024 or less",
            );
        }
        if self.growth == Growth::Oblivious && !self.categorical.is_empty() {
            return clash(
                "growth=oblivious asks one question a level, and sets of categories are found leaf \
                 by leaf; leave categorical out, or grow by leaf or depth",
            );
        }
        let is_category = |(feature, _): &(u32, Direction)| self.categorical.contains(feature);
        if self.monotone.iter().any(is_category) {
            return clash("categories have no order; name a feature in monotone or in categorical");
        }
        Ok(())
    }

    /// Levels of an oblivious tree: `depth`, or as many as `leaves` allows where those are fewer.
    pub(crate) fn levels(&self) -> usize {
        let by_leaves = self.leaves.max(1).ilog2() as usize;
        self.depth.map_or(by_leaves, |depth| depth.min(by_leaves))
    }

    /// Whether a leaf at this depth may be split.
    pub(crate) fn may_deepen(&self, depth: usize) -> bool {
        self.depth.is_none_or(|most| depth < most)
    }
}
