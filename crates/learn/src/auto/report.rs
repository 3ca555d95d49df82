//! The result of an automatic training besides its model: candidates, values and weights.

use rankwright_spec::words::counted;
use serde::Serialize;

/// Candidates of an automatic training with their values, and an estimate for the chosen blend.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AutoReport {
    /// The metric of all values.
    pub metric: String,
    /// Number of folds.
    pub folds: usize,
    /// Number of queries on which the choice was made.
    pub queries: usize,
    /// All candidates, in the order in which they were trained.
    pub candidates: Vec<AutoCandidate>,
    /// The metric of the blend on queries that took no part in its training or in the choice of its
    /// weights: for each fold, weights are chosen on the other folds and evaluated on this one.
    pub estimate: f64,
    /// The out-of-fold metric of the plain mean of all candidates that were trained on every fold.
    pub mean: f64,
}

/// A candidate of an automatic training.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AutoCandidate {
    /// The learner as a spec.
    pub learner: String,
    /// The metric on queries of the folds that it was trained for, by models that have not seen
    /// them; `None` if it failed.
    pub value: Option<f64>,
    /// Number of folds that it was trained for.
    pub folds: usize,
    /// Its weight in the blend; 0 if it is not a member.
    pub weight: f64,
    /// The reason why it could not be trained.
    pub failure: Option<String>,
}

impl AutoReport {
    /// The estimate in words, with its meaning.
    pub fn text(&self) -> String {
        let members = self.candidates.iter().filter(|candidate| candidate.weight > 0.0).count();
        format!(
            "{} {:.4} estimated for the blend of {}, on {} that took no part in training or choice",
            self.metric,
            self.estimate,
            counted(members, "learner"),
            counted(self.queries, "query"),
        )
    }
}
