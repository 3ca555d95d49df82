//! What boosting is told: how many trees, how fast, on which part of the data.

use rankwright_spec::SpecError;

use super::dropout::Dropout;
use super::one_side::OneSide;
use crate::tree::TreeParams;

/// Which second derivatives stand in the denominator of a leaf's Newton step.
///
/// A pair loss ties two documents together; when both are in one leaf, moving the leaf does not
/// change their difference, so their pair does not belong into the leaf's denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Newton {
    /// Each document's own second derivative, pairs within a leaf included (Burges 2010).
    #[default]
    PerDocument,
    /// Only pairs whose documents are in two leaves.
    CrossLeaf,
    /// All leaves at once: the full system, pairs between leaves tie their values together.
    Joint,
}

/// How a boosted ensemble is trained.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostParams {
    /// Number of trees.
    pub trees: usize,
    /// Shrinkage: what part of each tree's step is taken.
    pub rate: f64,
    /// How each tree is grown.
    pub tree: TreeParams,
    /// Most bins a feature, 2 to 255.
    pub bins: usize,
    /// Part of the queries that each tree sees.
    pub sample_queries: f64,
    /// Part of the queries that each tree sees, chosen by their gradients; not with `sample_queries`.
    pub one_side: Option<OneSide>,
    /// Part of the features that each tree may use.
    pub sample_features: f64,
    /// Stop when the metric has not improved for so many trees, and keep the best.
    pub stop: Option<usize>,
    /// The denominator of leaf values.
    pub newton: Newton,
    /// Added to the diagonal of the joint system, as a part of its mean diagonal.
    pub ridge: f64,
    /// Scale each tree by the step that makes the loss smallest along it.
    pub line_search: bool,
    /// Leave trees out while others are grown; not with `line_search`.
    pub dropout: Option<Dropout>,
}

impl Default for BoostParams {
    fn default() -> Self {
        Self {
            trees: 100,
            rate: 0.1,
            tree: TreeParams::default(),
            bins: 255,
            sample_queries: 1.0,
            one_side: None,
            sample_features: 1.0,
            stop: None,
            newton: Newton::PerDocument,
            ridge: 0.01,
            line_search: false,
            dropout: None,
        }
    }
}

impl BoostParams {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), SpecError> {
        self.tree.check()?;
        let in_unit = |x: f64| x > 0.0 && x <= 1.0;
        let checks = [
            ("rate", self.rate, self.rate > 0.0 && self.rate.is_finite(), "a number above 0"),
            ("sample_queries", self.sample_queries, in_unit(self.sample_queries), PART),
            ("sample_features", self.sample_features, in_unit(self.sample_features), PART),
            ("bins", self.bins as f64, (2..=255).contains(&self.bins), "2 to 255"),
            ("ridge", self.ridge, self.ridge >= 0.0 && self.ridge.is_finite(), "0 or more"),
        ];
        self.one_side.as_ref().map_or(Ok(()), OneSide::check)?;
        self.dropout.as_ref().map_or(Ok(()), Dropout::check)?;
        if let Some(why) = self.conflict() {
            return Err(SpecError::Conflict { name: "boosting".to_owned(), why });
        }
        all_legal(checks)
    }
}

/// Refuses the first value that is not legal; each with its name, whether it is, and what would be.
pub(super) fn all_legal<const N: usize>(
    checks: [(&str, f64, bool, &str); N],
) -> Result<(), SpecError> {
    match checks.into_iter().find(|(_, _, legal, _)| !legal) {
        None => Ok(()),
        Some((key, value, _, expected)) => Err(SpecError::BadValue {
            name: "boosting".to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
            expected: expected.to_owned(),
        }),
    }
}

impl BoostParams {
    /// What does not go together.
    fn conflict(&self) -> Option<String> {
        if self.newton == Newton::Joint && self.tree.leaves > MOST_JOINT_LEAVES {
            return Some(format!(
                "newton=joint solves for all leaves at once: at most {MOST_JOINT_LEAVES} leaves"
            ));
        }
        if self.one_side.is_some() && self.sample_queries < 1.0 {
            let why = "goss_top and sample_queries both choose the queries of a tree; write one";
            return Some(why.to_owned());
        }
        if self.dropout.is_some() && self.line_search {
            let why = "drop_trees scales each tree by what was dropped, line_search by the loss; \
                       write one";
            return Some(why.to_owned());
        }
        None
    }
}

/// The joint step has a matrix of leaves by leaves for each task.
const MOST_JOINT_LEAVES: usize = 2048;
pub(super) const PART: &str = "a number above 0 and at most 1";
