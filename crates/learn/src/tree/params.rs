//! What a tree may look like: sizes, limits and penalties, checked once.

use rankwright_eval::SpecError;

/// The order in which leaves are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// The leaf with the largest gain first.
    #[default]
    LeafWise,
    /// Level by level, within a level the largest gain first.
    DepthWise,
}

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
        ];
        for (key, value) in penalties {
            if !(value.is_finite() && value >= 0.0) {
                return bad(key, value.to_string(), "a finite number from 0 on");
            }
        }
        if self.leaves == 0 || self.leaves > 65_536 {
            return bad("leaves", self.leaves.to_string(), "1 to 65536");
        }
        Ok(())
    }

    /// Whether a leaf at this depth may be split.
    pub(crate) fn may_deepen(&self, depth: usize) -> bool {
        self.depth.is_none_or(|most| depth < most)
    }
}
