//! The result of an automatic training besides its model: candidates, values and weights.

use rankwright_spec::words::counted;
use serde::{Deserialize, Serialize};

/// Candidates of an automatic training with their values, and an estimate for the chosen blend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoReport {
    /// The metric of all values.
    pub metric: String,
    /// Number of folds.
    pub folds: usize,
    /// Number of queries on which the choice was made.
    pub queries: usize,
    /// The learner that repeats this training exactly: without a limit of time, which would drop
    /// other candidates on another machine.
    pub learner: String,
    /// All candidates, the best first and those without a value last; equal ones in the order in
    /// which they were trained.
    pub candidates: Vec<AutoCandidate>,
    /// The metric of the blend on queries that took no part in its training or in the choice of its
    /// weights: for each fold, weights are chosen on the other folds and evaluated on this one.
    pub estimate: f64,
    /// The 95 % interval of the estimate; `None` if there are too few queries.
    pub ci95: Option<(f64, f64)>,
    /// The out-of-fold metric of the plain mean of all candidates that were trained on every fold.
    pub mean: f64,
    /// The model that serves in place of the blend (`serve=fast`); `None` if the blend serves.
    pub served: Option<AutoServed>,
}

/// A model that has learned from the blend and serves in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoServed {
    /// The learner as a spec.
    pub learner: String,
    /// Its metric on the held-out queries that kept its best number of trees, so that the value
    /// flatters.
    pub value: f64,
    /// The out-of-fold metric of the blend on the same queries.
    pub blend: f64,
    /// Number of these queries.
    pub queries: usize,
}

/// A candidate of an automatic training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoCandidate {
    /// The learner as a spec.
    pub learner: String,
    /// The metric on queries of the folds that it was trained for, by models that have not seen
    /// them; `None` if it failed.
    pub value: Option<f64>,
    /// The 95 % interval of the value; `None` if there are too few queries.
    pub ci95: Option<(f64, f64)>,
    /// Number of folds that it was trained for.
    pub folds: usize,
    /// Its weight in the blend; 0 if it is not a member.
    pub weight: f64,
    /// Seconds of its trainings.
    pub seconds: f64,
    /// The reason why it could not be trained.
    pub failure: Option<String>,
}

impl AutoReport {
    /// A report without candidates.
    pub(super) fn new(folds: usize, queries: usize) -> Self {
        Self {
            metric: String::new(),
            folds,
            queries,
            learner: String::new(),
            candidates: Vec::new(),
            estimate: f64::NAN,
            ci95: None,
            mean: f64::NAN,
            served: None,
        }
    }

    /// The values of the model that serves in place of the blend, in words; `None` if the blend
    /// serves.
    pub fn served_text(&self) -> Option<String> {
        let AutoServed { learner, value, blend, queries } = self.served.as_ref()?;
        let queries = counted(*queries, "held-out query");
        Some(format!(
            "{learner} serves in place of the blend: {} {value:.4} on {queries}, which chose its number \
             of trees; the blend {blend:.4}",
            self.metric
        ))
    }

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
