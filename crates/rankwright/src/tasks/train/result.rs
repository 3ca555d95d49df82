//! The result of a training.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rankwright_eval::{Evaluation, MeasureResult};
use rankwright_learn::{AutoReport, Iteration, KeptRounds, TrainingHistory};
use rankwright_model::{BiasFactors, Model, ModelBody, Tree};
use serde::Serialize;

use super::weights::{self, FeatureWeight};
use super::{TrainModelRequest, Trained};
use crate::tasks::Warning;

/// A trained model, its file, and the history of its training.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TrainModelResult {
    /// File of the model, if one was requested.
    pub model: Option<PathBuf>,
    /// SHA-256 of the model's bytes.
    pub sha256: String,
    /// Whether the training was stopped before its end, which only a request that keeps the model of
    /// a stopped training can be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_stopped: bool,
    /// The learner: parameters that differ from their defaults.
    pub learner: String,
    /// Seed of all random choices.
    pub seed: u64,
    /// The values that were chosen for parameters with the value `auto`, by the size of the data,
    /// as in a spec; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<String>,
    /// The position bias that clicks were corrected for; `None` if they were not corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_bias: Option<BiasFactors>,
    /// The estimator of the examination of positions, if it was read from a file that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias_estimator: Option<String>,
    /// The candidates of the learner `auto`, with an estimate of the blend's quality; `None` for
    /// other learners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<AutoReport>,
    /// Seconds of the steps.
    pub seconds: TrainSeconds,
    /// Number of trees of the model, if it is made of trees; with a start model of another kind,
    /// the number of trees that were added to it.
    pub trees: Option<usize>,
    /// Mean number of leaves of these trees.
    pub mean_leaves: Option<f64>,
    /// Number of the trees that are those of the start model; none without a start model, 0 if it
    /// is of another kind.
    pub start_trees: Option<usize>,
    /// The name of a round: `tree`, `epoch`, ...; empty if there are none.
    pub unit: String,
    /// Number of rounds at the best value on the validation data.
    pub best: Option<usize>,
    /// The rounds that the model is made of, and why; none if there are no rounds.
    pub kept: Option<KeptRounds>,
    /// Names of the data sets of the metrics.
    pub sets: Vec<String>,
    /// The metrics, the deciding one first.
    pub metrics: Vec<String>,
    /// Values and times of each round.
    pub iterations: Vec<Iteration>,
    /// Weights by feature, largest first, if the model is linear.
    pub weights: Option<Vec<FeatureWeight>>,
    /// Values of the final model on each data set.
    pub valid: BTreeMap<String, Vec<MeasureResult>>,
    /// Largest memory of the process up to the end of the training, if the system reports it.
    pub peak_rss_bytes: Option<u64>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// The history as the learner recorded it.
    #[serde(skip)]
    pub history: TrainingHistory,
    /// The final model's evaluation on each data set, in the order of the sets.
    #[serde(skip)]
    pub evaluations: Vec<(String, Evaluation)>,
    /// The model itself.
    #[serde(skip)]
    pub trained: Model,
}

/// Seconds of the steps of a training.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct TrainSeconds {
    /// Reading data.
    pub load: f64,
    /// Binning of the features.
    pub bin: f64,
    /// All rounds.
    pub train: f64,
}

/// The trees of a model; in the sum of a start model and trees, those of the last member, which
/// were added. `None` for other models.
fn trees(model: &Model) -> Option<&[Tree]> {
    match model.body() {
        ModelBody::Trees(ensemble) => Some(ensemble.trees()),
        ModelBody::Blend(blend) => match blend.members().last()?.1.body() {
            ModelBody::Trees(ensemble) => Some(ensemble.trees()),
            _ => None,
        },
        _ => None,
    }
}

/// The number of trees of a start model, to which trees are added; 0 if it is of another kind.
pub(super) fn own_trees(start: &Model) -> usize {
    match start.body() {
        ModelBody::Trees(ensemble) => ensemble.trees().len(),
        _ => 0,
    }
}

/// The mean number of leaves of trees.
fn mean_leaves(trees: &[Tree]) -> Option<f64> {
    let leaves: usize = trees.iter().map(|tree| tree.leaves().len()).sum();
    (!trees.is_empty()).then(|| leaves as f64 / trees.len() as f64)
}

/// The result of a training whose model was written.
pub(super) fn new(
    request: &TrainModelRequest,
    trained: Trained,
    sha256: String,
    warnings: Vec<Warning>,
) -> TrainModelResult {
    let Trained {
        model,
        history,
        is_stopped,
        choice,
        load_seconds,
        peak,
        start_trees,
        evaluations,
    } = trained;
    // A blend without a start model is the learner `blend`, whose last member is one of many.
    let is_sum = matches!(model.body(), ModelBody::Blend(_));
    let trees = trees(&model).filter(|_| !is_sum || request.start.is_some());
    let valid = evaluations.iter().map(|(name, found)| (name.clone(), found.results.clone()));
    TrainModelResult {
        model: request.out.clone(),
        sha256,
        is_stopped,
        learner: request.learner.to_string(),
        seed: request.seed_or_default(),
        auto: model.header().notes.get("auto").cloned(),
        position_bias: model.header().position_bias.clone(),
        bias_estimator: None,
        choice,
        seconds: TrainSeconds {
            load: load_seconds,
            bin: history.bin_seconds,
            train: history.train_seconds,
        },
        trees: trees.map(<[Tree]>::len),
        mean_leaves: trees.and_then(mean_leaves),
        start_trees,
        unit: history.unit.clone(),
        best: history.best,
        kept: history.kept.clone(),
        sets: history.sets.clone(),
        metrics: history.metrics.clone(),
        iterations: history.iterations.clone(),
        weights: weights::of_model(&model, &history.weights),
        valid: valid.collect(),
        peak_rss_bytes: peak,
        warnings,
        history,
        evaluations,
        trained: model,
    }
}
