//! Report on a training: learning curves, lambdas, labels over ranks, time, importance and trees of
//! a model, from its file, the log beside it and its data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::bytes::Input;
use rankwright_data::{DEFAULT_SEED, Dataset};
use rankwright_eval::{MetricSpec, SourceKind, ToMeasures};
use rankwright_learn::TrainingLog;
use rankwright_model::{MatchOptions, Model, ScoreOptions};
use rankwright_report::training::{
    NamedData, TrainingOptions, TrainingReport, TrainingReportParams, TrainingRequest,
};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize, Serializer};

use super::context::RunningTask;
use super::paths::set_names;
use super::train::digest;
use super::{
    Context, DataSource, ModelSource, ReadRules, TaskError, TaskInputs, Warning, matching,
};
use crate::tasks::request_json::default_seed;

/// A model, the data of its training, and options of the report.
///
/// ```
/// use rankwright::tasks::{DataFiles, ReportTrainingRequest, TaskInputs};
///
/// let request = ReportTrainingRequest::new("lambdamart.model", DataFiles::new(["train.txt"]))
///     .validation("valid.txt")
///     .query("17");
/// assert_eq!(request.inputs().len(), 3);
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReportTrainingRequest {
    /// The model; the log of its training is the file beside its file.
    pub model: ModelSource,
    /// The data that it was trained on.
    pub data: DataSource,
    /// Sets of validation data; options of reading that they do not give are those of the training
    /// data. The first determines the best round.
    #[serde(default)]
    pub valid: Vec<DataSource>,
    /// Metrics; the first determines the best round. If empty: the metric of the model's training,
    /// or ndcg@10 if the model names none.
    #[serde(default)]
    pub metrics: Vec<MetricSpec>,
    /// Id of the query whose forces are drawn. If not given: one of 10 to 20 documents, if there is
    /// any, with many different labels and a typical value of the metric.
    pub query: Option<String>,
    /// Maximum number of points of the learning curves, 2 to 1000: numbers of trees after which the
    /// model is evaluated. Curves from the log do not depend on it.
    #[serde(default = "default_points")]
    pub points: usize,
    /// Number of trees to draw, up to 50.
    #[serde(default = "default_trees")]
    pub trees: usize,
    /// Seed of all random choices: sampled queries, shuffles.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The rule that matches the features of the data with those of the model.
    #[serde(default)]
    pub matching: MatchOptions,
}

/// Number of points of a curve of a request that gives none.
fn default_points() -> usize {
    TrainingReportParams::default().points
}

/// Number of trees to draw of a request that gives none.
fn default_trees() -> usize {
    TrainingReportParams::default().trees
}

impl ReportTrainingRequest {
    /// Reports on the training of a model on this data.
    pub fn new(model: impl Into<ModelSource>, data: impl Into<DataSource>) -> Self {
        ReportTrainingRequest {
            model: model.into(),
            data: data.into(),
            valid: Vec::new(),
            metrics: Vec::new(),
            query: None,
            points: default_points(),
            trees: default_trees(),
            seed: DEFAULT_SEED,
            matching: MatchOptions::default(),
        }
    }

    /// Adds a set of validation data.
    pub fn validation(mut self, data: impl Into<DataSource>) -> Self {
        self.valid.push(data.into());
        self
    }

    /// Sets the metrics.
    pub fn metrics(mut self, metrics: Vec<MetricSpec>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Shows the list of this query.
    pub fn query(mut self, id: impl Into<String>) -> Self {
        self.query = Some(id.into());
        self
    }
}

impl TaskInputs for ReportTrainingRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let data = self.data.paths().chain(self.valid.iter().flat_map(DataSource::paths));
        self.model.path().into_iter().chain(data).map(Path::to_owned).collect()
    }
}

/// A report on the training of a model. Serialised as the numbers of the report, with all warnings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportTrainingResult {
    /// The report.
    pub report: TrainingReport,
    /// All warnings, including those of the report.
    pub warnings: Vec<Warning>,
}

impl Serialize for ReportTrainingResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report.result_with(&self.warnings).serialize(serializer)
    }
}

/// Reports on the training of a model.
pub fn report_training(
    request: &ReportTrainingRequest,
    context: &Context<'_>,
) -> Result<ReportTrainingResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    let ReportTrainingRequest { points, trees, seed, .. } = *request;
    let params = TrainingReportParams::default().points(points).trees(trees).seed(seed);
    check_params(&params, "report on training")?;
    let measures = request.metrics.to_measures(SourceKind::Features)?;
    let model = request.model.load()?;
    let log = match request.model.path() {
        Some(file) => load_log(file, &mut task)?,
        None => None,
    };
    let train = load_set(request, &request.data, &model, &mut task)?;
    let mut valid = Vec::new();
    for source in &request.valid {
        let source = source.with_options_of(&request.data);
        valid.push(load_set(request, &source, &model, &mut task)?);
    }
    let (train_name, valid_names) = set_names(&request.data, &request.valid);
    let model_name = request.model.source_name().short();
    let sets = valid_names.iter().zip(&valid).map(|(name, data)| NamedData { name, data });
    let train = NamedData { name: &train_name, data: &train };
    let input = TrainingRequest::new((&model_name, &model), train)
        .valid(sets.collect())
        .measures(measures)
        .log(log);
    let options = TrainingOptions::default()
        .points(request.points)
        .query(request.query.clone())
        .trees(request.trees)
        .seed(request.seed)
        .score(ScoreOptions::new().matching(request.matching).simd(task.simd()));
    let (report, _) =
        task.step("analysing the training", || TrainingReport::new(&input, &options))?;
    report.warnings.iter().for_each(|warning| task.warn(Warning::Report(warning.clone())));
    Ok(ReportTrainingResult { report, warnings: task.into_warnings() })
}

/// The log beside the model, if it exists, can be read and is that of this model; the report works
/// without it.
fn load_log(model: &Path, task: &mut RunningTask<'_>) -> Result<Option<TrainingLog>, TaskError> {
    let file = TrainingLog::path_of(model);
    let log = match TrainingLog::read_for_model(model) {
        Ok(Some(log)) => log,
        Ok(None) => {
            task.warn(Warning::NoTrainingLog { file });
            return Ok(None);
        }
        Err(error) => {
            task.warn(Warning::BadTrainingLog { message: error.to_string() });
            return Ok(None);
        }
    };
    // The digest is that of the content, without compression.
    let found = digest(&Input::open(model)?.bytes);
    if log.sha256.as_ref().is_some_and(|sha256| *sha256 != found) {
        task.warn(Warning::OtherTrainingLog { file });
        return Ok(None);
    }
    Ok(Some(log))
}

/// A data set, read with the model's rule for absent features and matched with its features.
fn load_set(
    request: &ReportTrainingRequest,
    source: &DataSource,
    model: &Model,
    task: &mut RunningTask<'_>,
) -> Result<Arc<Dataset>, TaskError> {
    let data = source.load(Some(ReadRules::of_model(model).matched(request.matching)), task)?.data;
    matching::check(model, &data, request.matching, task)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{DataFiles, TrainModelRequest, train_model};
    use rankwright_data::format::{Format, write};
    use rankwright_data::generate::LetorOptions;
    use rankwright_learn::LearnerSpec;
    use std::sync::atomic::AtomicBool;

    /// A trained model with its log, training and validation data.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, seed) in [("train.rwd", 1), ("valid.rwd", 2)] {
            let data = LetorOptions { queries: 15, documents: 10, seed }.generate().unwrap();
            write(&data, folder.path().join(name), Format::Cache).unwrap();
        }
        let learner = LearnerSpec::parse("lambdamart(trees=3, leaves=4)").unwrap();
        let data = DataFiles::new([folder.path().join("train.rwd")]);
        let request = TrainModelRequest::new(learner, data).out(folder.path().join("m.model"));
        train_model(&request, &Context::default()).unwrap();
        folder
    }

    fn request(folder: &Path) -> ReportTrainingRequest {
        let data = DataFiles::new([folder.join("train.rwd")]);
        ReportTrainingRequest::new(folder.join("m.model"), data)
            .validation(folder.join("valid.rwd"))
    }

    #[test]
    fn the_result_is_the_report_with_all_warnings() {
        let folder = folder();
        let request = request(folder.path());
        let result = report_training(&request, &Context::default()).unwrap();
        assert_eq!(result.warnings, []);
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json, serde_json::to_value(&result.report).unwrap());
        assert_eq!(json["model"], "m.model");
        let sets = json["curves"][0]["values"].as_object().unwrap();
        assert_eq!(sets.keys().collect::<Vec<_>>(), ["train.rwd", "valid.rwd"]);

        let log = TrainingLog::path_of(request.model.path().unwrap());
        std::fs::write(&log, "{}").unwrap();
        let kinds = |result: &ReportTrainingResult| {
            let json = serde_json::to_value(result).unwrap();
            let kinds = json["warnings"].as_array().unwrap().iter().map(|w| w["kind"].clone());
            kinds.collect::<Vec<_>>()
        };
        let damaged = report_training(&request, &Context::default()).unwrap();
        assert_eq!(kinds(&damaged), ["bad-training-log", "no-log"]);
        // The log of another training, which was killed before it wrote its own log.
        let learner = LearnerSpec::parse("lambdamart(trees=2, leaves=4)").unwrap();
        let data = DataFiles::new([folder.path().join("train.rwd")]);
        let other = TrainModelRequest::new(learner, data).out(folder.path().join("other.model"));
        train_model(&other, &Context::default()).unwrap();
        std::fs::copy(TrainingLog::path_of(other.out.as_deref().unwrap()), &log).unwrap();
        let with_other_log = report_training(&request, &Context::default()).unwrap();
        assert_eq!(kinds(&with_other_log), ["other-training-log", "no-log"]);
        std::fs::remove_file(&log).unwrap();
        let without_log = report_training(&request, &Context::default()).unwrap();
        assert_eq!(kinds(&without_log), ["no-training-log", "no-log"]);
    }

    #[test]
    fn data_is_no_model_and_a_raised_flag_ends_the_report() {
        let folder = folder();
        let mut wrong = request(folder.path());
        wrong.model = folder.path().join("train.rwd").into();
        let error = report_training(&wrong, &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::Model(_)), "{error}");
        let raised = AtomicBool::new(true);
        let context = Context::default().cancel(&raised);
        let error = report_training(&request(folder.path()), &context).unwrap_err();
        assert!(matches!(error, TaskError::Cancelled), "{error}");
    }
}
