//! Training data and options, and the trained model.

use std::fmt;
use std::sync::Arc;

use rankwright_data::{DEFAULT_SEED, Dataset};
use rankwright_eval::{Measure, MetricSpec, PREFERENCE_METRIC, SourceKind, measures_for_model};
use rankwright_model::{Header, Model, ModelBody, ScoreMeaning, ScoreOptions};
use serde::Serialize;

use super::checkpoint::Checkpoints;
use super::history::TrainingHistory;
use super::labels::MetricLabels;
use super::progress::{NoProgress, Progress};
use super::rounds::{header, result_without_rounds};
use super::teacher::{SoftTargets, Teacher};
use super::warning::TrainWarning;
use crate::auto::AutoReport;
use crate::collective::{Collective, SingleProcess};
use crate::error::LearnError;
use crate::objective::DEFAULT_METRIC;
use crate::simd::Simd;

/// A validation data set with its name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ValidationSet<'a> {
    /// Name of the set in the history.
    pub name: String,
    /// The data.
    pub data: &'a Dataset,
}

impl<'a> ValidationSet<'a> {
    /// A data set under a name.
    pub fn new(name: impl Into<String>, data: &'a Dataset) -> Self {
        Self { name: name.into(), data }
    }
}

/// Training data and options.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{LearnerSpec, TrainRequest};
///
/// let [train, valid] = [1, 2].map(|seed| LetorOptions { queries: 20, documents: 20, seed });
/// let (train, valid) = (train.generate()?, valid.generate()?);
/// let request = TrainRequest::new(&train).validation(&valid).seed(7);
/// let result = LearnerSpec::parse("lambdamart(trees=50, stop=5)")?.train(request)?;
/// assert!(result.history.best.is_some());
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct TrainRequest<'a> {
    /// Training data.
    pub train: &'a Dataset,
    /// Validation data; the first set is used for early stopping and for choosing the model.
    pub valid: Vec<ValidationSet<'a>>,
    /// Metrics to compute; the first one is used for early stopping and for choosing the model. If
    /// empty, the metric of the learner.
    pub metrics: Vec<Measure>,
    /// If the first metric is one that the learner keeps (`goal=keep(...)`): the tolerance within
    /// which the second metric decides; the learner fills it in.
    pub(crate) tolerance: Option<f64>,
    /// The labels by which the metrics are computed; the learner fills them in.
    pub(crate) metric_labels: MetricLabels,
    /// Whether to compute the metrics on the training data too.
    pub evaluate_training: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// A model to add to; `None` to start from nothing.
    pub start: Option<&'a Model>,
    /// A teacher to learn from besides the labels; `None` for labels alone.
    pub teacher: Option<Teacher<'a>>,
    /// The teacher's scores as targets, and `train` with the queries without labels; the learner
    /// fills them in.
    pub(crate) soft_targets: Option<Arc<SoftTargets>>,
    /// Options for matching features by name or id: those of validation data with those of the
    /// training data, and those of the training data with those of a start model.
    pub features: ScoreOptions,
    /// Folder and frequency of checkpoints; `None` for no checkpoints.
    pub checkpoints: Option<Checkpoints>,
    /// Receives progress events.
    pub progress: &'a dyn Progress,
    /// The learner as a canonical spec, for the model's header; the learner fills it in.
    pub learner: String,
    /// The objective as a spec, for the model's header; the learner fills it in.
    pub objective: String,
    /// The instruction set to use.
    pub simd: Simd,
    /// The connection to the other processes of this training.
    pub collective: &'a dyn Collective,
}

/// The metrics of a training if none is given: those of the learner on data with labels, preference
/// accuracy on data that has pairs alone.
pub(crate) fn measures_on(
    evaluated: &Dataset,
    own: impl FnOnce() -> Result<Vec<Measure>, LearnError>,
) -> Result<Vec<Measure>, LearnError> {
    match evaluated.is_labelled() {
        true => own(),
        false => Ok(vec![MetricSpec::parse(PREFERENCE_METRIC)?.resolve(SourceKind::Features)?]),
    }
}

impl<'a> TrainRequest<'a> {
    /// The header of the model that this request will train: features, feature set, learner,
    /// metric, seed and size of the training data.
    pub fn header(&self) -> Header {
        header(self)
    }

    /// The result of a training without rounds: the model with its header, and an empty history.
    pub fn result(&self, body: ModelBody) -> Result<TrainResult, LearnError> {
        result_without_rounds(self, body)
    }

    /// A request with this training data, and defaults for everything else.
    pub fn new(train: &'a Dataset) -> Self {
        Self {
            train,
            valid: Vec::new(),
            metrics: Vec::new(),
            tolerance: None,
            metric_labels: MetricLabels::default(),
            evaluate_training: false,
            seed: DEFAULT_SEED,
            start: None,
            teacher: None,
            soft_targets: None,
            features: ScoreOptions::default(),
            checkpoints: None,
            progress: &NoProgress,
            learner: String::new(),
            objective: String::new(),
            simd: Simd::Auto,
            collective: &SingleProcess,
        }
    }

    /// If the request has no metrics, sets that of the learner, or the default metric if the
    /// learner has none either; preference accuracy if the data to evaluate has no labels. Metrics
    /// that compare scores with a boundary take that of the objective.
    pub(crate) fn fill_metric(&mut self, learner_metric: Option<&str>) -> Result<(), LearnError> {
        if self.metrics.is_empty() {
            let evaluated = self.valid.first().map_or(self.train, |set| set.data);
            self.metrics = measures_on(evaluated, || {
                let own = MetricSpec::parse(learner_metric.unwrap_or(DEFAULT_METRIC))?;
                Ok(vec![own.resolve(SourceKind::Features)?])
            })?;
        }
        if let Some(meaning) = ScoreMeaning::of_objective(&self.objective) {
            self.metrics = measures_for_model(&self.metrics, |rel| meaning.boundary(rel))?;
        }
        Ok(())
    }

    /// Adds a validation set; the first one is used for early stopping.
    #[must_use]
    pub fn validation(mut self, data: &'a Dataset) -> Self {
        let name = match self.valid.len() {
            0 => "valid".to_owned(),
            count => format!("valid{}", count + 1),
        };
        self.valid.push(ValidationSet::new(name, data));
        self
    }

    /// Sets all validation sets, with their names; the first one is used for early stopping.
    #[must_use]
    pub fn validation_sets(mut self, sets: impl IntoIterator<Item = ValidationSet<'a>>) -> Self {
        self.valid = sets.into_iter().collect();
        self
    }

    /// Sets the metrics to compute; the first one is used for early stopping.
    #[must_use]
    pub fn metrics(mut self, metrics: impl IntoIterator<Item = Measure>) -> Self {
        self.metrics = metrics.into_iter().collect();
        self
    }

    /// Sets whether the metrics are computed on the training data too.
    #[must_use]
    pub fn evaluate_training(mut self, evaluate: bool) -> Self {
        self.evaluate_training = evaluate;
        self
    }

    /// Sets the seed of all random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the model to start from.
    #[must_use]
    pub fn start(mut self, model: impl Into<Option<&'a Model>>) -> Self {
        self.start = model.into();
        self
    }

    /// Sets a teacher to learn from besides the labels.
    #[must_use]
    pub fn teacher(mut self, teacher: impl Into<Option<Teacher<'a>>>) -> Self {
        self.teacher = teacher.into();
        self
    }

    /// Sets the options for matching the features of validation data and of a start model.
    #[must_use]
    pub fn features(mut self, options: ScoreOptions) -> Self {
        self.features = options;
        self
    }

    /// Sets the receiver of progress events, which may also cancel.
    #[must_use]
    pub fn progress(mut self, progress: &'a dyn Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Saves checkpoints during training, and resumes from an existing one.
    #[must_use]
    pub fn checkpoints(mut self, checkpoints: impl Into<Option<Checkpoints>>) -> Self {
        self.checkpoints = checkpoints.into();
        self
    }

    /// Sets the instruction set to use.
    #[must_use]
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Sets the connection to the other processes of this training.
    #[must_use]
    pub fn collective(mut self, collective: &'a dyn Collective) -> Self {
        self.collective = collective;
        self
    }
}

impl<'a> From<&'a Dataset> for TrainRequest<'a> {
    fn from(train: &'a Dataset) -> Self {
        Self::new(train)
    }
}

impl<'a> From<&TrainRequest<'a>> for TrainRequest<'a> {
    fn from(request: &TrainRequest<'a>) -> Self {
        request.clone()
    }
}

impl fmt::Debug for TrainRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrainRequest")
            .field("learner", &self.learner)
            .field("seed", &self.seed)
            .finish()
    }
}

/// The trained model and the history of its training. Serialised without the model, which is
/// written as a file ([`Model::to_bytes`]).
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct TrainResult {
    /// The model: of all rounds, or of the first ones up to the best on validation data.
    #[serde(skip)]
    pub model: Model,
    /// Metrics and times, round by round.
    pub history: TrainingHistory,
    /// False if the training was cancelled before its end.
    pub finished: bool,
    /// Facts that the user should know although the training succeeded.
    pub warnings: Vec<TrainWarning>,
    /// The candidates of an automatic choice; `None` for other learners.
    pub choice: Option<AutoReport>,
}

impl TrainResult {
    /// Whether the first validation set was training data: that of an automatic choice, unless its
    /// queries could not be trained on ([`TrainWarning::ValidationNotUsed`]).
    pub fn trained_on_validation(&self) -> bool {
        let is_unused = |w: &TrainWarning| matches!(w, TrainWarning::ValidationNotUsed { .. });
        self.choice.is_some() && !self.warnings.iter().any(is_unused)
    }

    /// Adds the warnings about the model of a finished training; `min_rows` is the learner's
    /// parameter of that name, `None` if the learner has no such parameter.
    pub(crate) fn add_warnings(
        &mut self,
        request: &TrainRequest<'_>,
        min_rows: Option<u64>,
    ) -> Result<(), LearnError> {
        if self.finished {
            let (model, train, options) = (&self.model, request.train, request.features);
            self.warnings
                .extend(TrainWarning::about_constant_scores(model, train, options, min_rows)?);
            let of_categories = TrainWarning::about_categories(&self.model, request.start, train);
            self.warnings.extend(of_categories);
        }
        Ok(())
    }
}
