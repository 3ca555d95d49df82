//! The result of a training.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rankwright_eval::{Evaluation, MeasureResult};
use rankwright_learn::{AutoReport, Iteration, KeptRounds, TrainingHistory};
use rankwright_model::{Blend, Model, ModelBody};
use serde::Serialize;

use super::weights::{self, FeatureWeight};
use super::{TrainModelRequest, Trained};
use crate::tasks::Warning;

/// A trained model, its file, and the history of its training.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TrainModelResult {
    /// File of the model.
    pub model: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The values that were chosen for parameters with the value `auto`, by the size of the data, as
    /// in a spec; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<String>,
    /// The candidates of the learner `auto`, with an estimate of the blend's quality; `None` for other
    /// learners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<AutoReport>,
    /// Seconds of the steps.
    pub seconds: TrainSeconds,
    /// Number of trees of the model, if it is made of trees; with a start model of another kind, the
    /// number of trees that were added to it.
    pub trees: Option<usize>,
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

/// The number of trees that were added to a start model of another kind: those of the last member.
fn added_trees(blend: &Blend) -> Option<usize> {
    match blend.members().last()?.1.body() {
        ModelBody::Trees(ensemble) => Some(ensemble.trees().len()),
        _ => None,
    }
}

/// The result of a training whose model was written.
pub(super) fn new(
    request: &TrainModelRequest,
    trained: Trained,
    sha256: String,
    warnings: Vec<Warning>,
) -> TrainModelResult {
    let Trained { model, history, choice, load_seconds, peak, evaluations } = trained;
    let trees = match model.body() {
        ModelBody::Trees(ensemble) => Some(ensemble.trees().len()),
        ModelBody::Blend(blend) if request.start.is_some() => added_trees(blend),
        _ => None,
    };
    let valid = evaluations.iter().map(|(name, found)| (name.clone(), found.results.clone()));
    TrainModelResult {
        model: request.out.clone(),
        sha256,
        auto: model.header().notes.get("auto").cloned(),
        choice,
        seconds: TrainSeconds {
            load: load_seconds,
            bin: history.bin_seconds,
            train: history.train_seconds,
        },
        trees,
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
