//! Cross validation by query, for one learner or several on the same folds.

use std::path::{Path, PathBuf};

use rankwright_data::Dataset;
use rankwright_eval::compare::{CompareOptions, Comparison, compare_evaluations};
use rankwright_eval::{
    Evaluation, Measure, MeasureResult, MetricSpec, name_boundary_of_each_model,
};
use rankwright_learn::{CvOptions, CvResult, FoldParams, FoldResult, LearnerSpec, cross_validate};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::metrics::no_boundary;
use super::train::{ForwardedProgress, learner_metrics, learners_with_examination, warn_about};
use super::{Context, DataSource, TaskError, TaskInputs, Warning};

/// Learners to cross-validate, and the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CrossValidateRequest {
    /// The data.
    pub data: DataSource,
    /// The learners; several are compared with the first.
    pub learners: Vec<LearnerSpec>,
    /// Metrics to report; the first decides on early stopping. The first learner's own metric if
    /// empty.
    #[serde(default)]
    pub metrics: Vec<MetricSpec>,
    /// Number of folds, seed, and the part of the training queries to validate on.
    #[serde(default)]
    pub division: FoldParams,
    /// File with the examination of positions, for the learners with `bias=ips` or `bias=dr`; see
    /// `BiasFile` of `rankwright::learn` for its forms.
    pub bias: Option<PathBuf>,
}

impl CrossValidateRequest {
    /// A cross validation with five folds.
    pub fn new(learners: Vec<LearnerSpec>, data: impl Into<DataSource>) -> Self {
        CrossValidateRequest {
            data: data.into(),
            learners,
            metrics: Vec::new(),
            division: FoldParams::default(),
            bias: None,
        }
    }

    /// Sets the metrics.
    pub fn metrics(mut self, metrics: Vec<MetricSpec>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets the number of folds, the seed, and the part of the training queries to validate on.
    pub fn division(mut self, division: FoldParams) -> Self {
        self.division = division;
        self
    }

    /// Sets a file with the examination of positions.
    pub fn bias(mut self, file: impl Into<PathBuf>) -> Self {
        self.bias = Some(file.into());
        self
    }
}

/// The data, and the models that blends name as their members.
impl TaskInputs for CrossValidateRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let members = self.learners.iter().flat_map(LearnerSpec::files);
        let paths = self.data.paths().map(Path::to_owned);
        paths.chain(members).chain(self.bias.clone()).collect()
    }
}

/// The result of a cross validation: every query is tested once, by a model that has not seen it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CrossValidateResult {
    /// Number of folds.
    pub folds: usize,
    /// Seed of the folds and the trainings.
    pub seed: u64,
    /// Part of the training queries that decided on early stopping or on a choice among models.
    pub valid_part: Option<f64>,
    /// One entry for each learner.
    pub learners: Vec<CrossValidated>,
    /// The learners compared with the first, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// The result of one learner on all folds.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct CrossValidated {
    /// The learner.
    pub learner: String,
    /// One entry for each fold.
    pub folds: Vec<FoldValues>,
    /// The metrics over all queries.
    pub metrics: Vec<MeasureResult>,
    /// Whether validation data affects the model: by early stopping, or by choosing.
    pub uses_validation: bool,
    /// Values of all queries.
    #[serde(skip)]
    pub pooled: Evaluation,
    /// The score of each row, in the row order of the files, by a model that has not seen its query.
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// The result of one fold of one learner.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FoldValues {
    /// Number of test queries.
    pub queries: usize,
    /// Number of training queries.
    pub trained: usize,
    /// Number of queries that decided on early stopping or on a choice among models.
    pub validated: usize,
    /// Number of trees of the model.
    pub trees: usize,
    /// Seconds of training.
    pub seconds: f64,
    /// Each metric on the test queries; NaN (`null` in JSON) where no query counts.
    pub values: Vec<f64>,
}

/// Cross-validates learners by query.
pub fn cross_validate_learners(
    request: &CrossValidateRequest,
    context: &Context<'_>,
) -> Result<CrossValidateResult, TaskError> {
    let mut task = RunningTask::new(context);
    let with_bias = match &request.bias {
        Some(file) => {
            let learners = learners_with_examination(&request.learners, file)?;
            Some(CrossValidateRequest { learners, ..request.clone() })
        }
        None => None,
    };
    let request = with_bias.as_ref().unwrap_or(request);
    let measures = check(request)?;
    request.check_files([])?;
    let loaded = request.data.load(None, &mut task)?;
    let measures = match (request.metrics.is_empty(), request.learners.first()) {
        (true, Some(first)) => first.measures_on(&loaded.data)?,
        _ => measures,
    };
    let mut learners = Vec::new();
    for learner in &request.learners {
        let result = validate(request, learner, &loaded.data, &measures, &mut task)?;
        // All folds of a learner warn for the same reason, so the first warning is enough.
        let mut warnings = result.folds.iter().flat_map(|fold| &fold.warnings);
        if let Some(warning) = warnings.find(|warning| !warning.is_about_data()) {
            task.warn(Warning::Training(warning.clone()));
        }
        for metric in result.folds.first().iter().flat_map(|fold| &fold.without_boundary) {
            task.warn(no_boundary(Some(&learner.to_string()), metric.clone()));
        }
        learners.push(CrossValidated {
            learner: learner.to_string(),
            folds: result.folds.iter().map(FoldValues::new).collect(),
            metrics: result.pooled.results.clone(),
            uses_validation: learner.uses_validation(),
            scores: loaded.data.to_source_order(&result.scores)?,
            pooled: result.pooled,
        });
    }
    let system = |found: &CrossValidated| (found.learner.clone(), found.pooled.clone());
    let mut systems: Vec<(String, Evaluation)> = learners.iter().map(system).collect();
    let mut evaluations: Vec<_> = systems.iter_mut().map(|(_, evaluation)| evaluation).collect();
    name_boundary_of_each_model(&mut evaluations);
    let comparison = match systems.len() {
        0 | 1 => None,
        _ => {
            let options = CompareOptions::default();
            let work = || compare_evaluations(&systems, &options);
            Some(task.step("testing differences", work)?.0)
        }
    };
    Ok(CrossValidateResult {
        folds: request.division.folds,
        seed: request.division.seed,
        valid_part: request.division.valid_part,
        learners,
        comparison,
        warnings: task.into_warnings(),
    })
}

/// Rejects equal learners and options without an effect. Returns the metrics.
fn check(request: &CrossValidateRequest) -> Result<Vec<Measure>, TaskError> {
    let learners = &request.learners;
    let Some(first) = learners.first() else { return Err(TaskError::NoLearner) };
    let twice = (1..learners.len())
        .find(|n| learners[..*n].iter().any(|l| l.canonical() == learners[*n].canonical()));
    if let Some(twice) = twice {
        return Err(TaskError::LearnerTwice { learner: learners[twice].to_string() });
    }
    if request.division.valid_part.is_some() && !learners.iter().any(LearnerSpec::uses_validation) {
        return Err(TaskError::ValidPartUnused);
    }
    learner_metrics(&request.metrics, first)
}

/// Cross-validates one learner; a cancelled cross validation is an error.
fn validate(
    request: &CrossValidateRequest,
    learner: &LearnerSpec,
    data: &Dataset,
    measures: &[Measure],
    task: &mut RunningTask<'_>,
) -> Result<CvResult, TaskError> {
    warn_about(learner, data, measures, task)?;
    let forwarded = ForwardedProgress::begin(task.context(), learner, data.rows(), None);
    let options = CvOptions::new(measures.to_vec())
        .division(request.division.clone())
        .simd(task.simd())
        .progress(&forwarded);
    match cross_validate(learner, data, &options)? {
        result if result.finished => Ok(result),
        _ => Err(TaskError::Cancelled),
    }
}

impl FoldValues {
    fn new(fold: &FoldResult) -> Self {
        FoldValues {
            queries: fold.queries.len(),
            trained: fold.trained,
            validated: fold.validated,
            trees: fold.trees,
            seconds: fold.seconds,
            values: fold.results.iter().map(|result| result.value).collect(),
        }
    }
}
