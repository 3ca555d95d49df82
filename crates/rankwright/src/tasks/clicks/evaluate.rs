//! Off-policy evaluation: the value that models would have, from the log of another ranker.

use std::path::{Path, PathBuf};

use rankwright_clicks::LogFeatureRows;
use rankwright_clicks::bias::BiasOptions;
use rankwright_clicks::log::LogCounts;
use rankwright_clicks::off_policy::{
    LoggedPagesBuilder, OffPolicyOptions, PolicyValue, PropensityKind, TargetRanking, rank_weights,
    value_difference,
};
use rankwright_clicks::regression::RelevanceModel;
use rankwright_data::Dataset;
use rankwright_eval::MetricSpec;
use rankwright_model::MatchOptions;
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::LogSource;
use super::examination::{CollectedLog, ExaminationSource, LogCollector};
use crate::tasks::context::RunningTask;
use crate::tasks::input_files::common_rules;
use crate::tasks::matching::score_data;
use crate::tasks::sources::source_names;
use crate::tasks::{Context, DataSource, ModelSource, TaskError, TaskInputs, Warning};

/// A click log, the models to evaluate, and feature data of the documents.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EvaluateClicksRequest {
    /// The log.
    pub log: LogSource,
    /// The models; the first is the one that others are compared with.
    pub models: Vec<ModelSource>,
    /// Feature data that the models rank, joined with the log by the ids of query and document. It
    /// needs no labels.
    pub features: DataSource,
    /// The rule that matches the features of the data with those of the models.
    #[serde(default)]
    pub matching: MatchOptions,
    /// The metric, a sum over ranks; `DEFAULT_METRIC` if not given.
    pub metric: Option<MetricSpec>,
    /// The examination of ranks, where the estimate needs it.
    #[serde(default)]
    pub examination: ExaminationSource,
    /// Options of the examination if it is estimated.
    #[serde(default)]
    pub bias: BiasOptions,
    /// Estimator, propensities, clip, overlap and intervals.
    #[serde(default)]
    pub options: OffPolicyOptions,
}

impl TaskInputs for EvaluateClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let models = self.models.iter().filter_map(ModelSource::path);
        let others = models.chain(self.features.paths()).chain(self.examination.path());
        self.log.paths().chain(others).map(Path::to_owned).collect()
    }
}

impl EvaluateClicksRequest {
    /// The metric if none is given.
    pub const DEFAULT_METRIC: &'static str = "dcg@10";

    /// Evaluates models by `dcg@10`, with the default options.
    pub fn new(
        log: impl Into<LogSource>,
        models: impl IntoIterator<Item = impl Into<ModelSource>>,
        features: impl Into<DataSource>,
    ) -> Self {
        Self {
            log: log.into(),
            models: models.into_iter().map(Into::into).collect(),
            features: features.into(),
            matching: MatchOptions::default(),
            metric: None,
            examination: ExaminationSource::default(),
            bias: BiasOptions::default(),
            options: OffPolicyOptions::default(),
        }
    }

    /// Sets the metric, a sum over ranks.
    pub fn metric(mut self, metric: MetricSpec) -> Self {
        self.metric = Some(metric);
        self
    }

    /// Sets the rule that matches the features of the data with those of the models.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Sets the examination of ranks.
    pub fn examination(mut self, examination: ExaminationSource) -> Self {
        self.examination = examination;
        self
    }

    /// Sets the options of the examination if it is estimated: the name of the random ranker, and
    /// the impressions that link ranks.
    pub fn bias(mut self, options: BiasOptions) -> Self {
        self.bias = options;
        self
    }

    /// Sets the options.
    pub fn options(mut self, options: OffPolicyOptions) -> Self {
        self.options = options;
        self
    }
}

/// The value that each model would have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvaluateClicksResult {
    /// The metric.
    pub metric: String,
    /// Name of the estimator.
    pub estimator: &'static str,
    /// Name of the kind of propensities.
    pub propensity: &'static str,
    /// The largest weight of a click, if it was limited.
    pub clip: Option<f64>,
    /// The value of each model.
    pub models: Vec<ModelValue>,
    /// The examination of each rank; empty if the estimate does not use it.
    pub examination: Vec<Option<f64>>,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Seconds of estimating.
    pub seconds: f64,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// The value that a model would have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelValue {
    /// Name of the model.
    pub model: String,
    /// The value, its interval, overlap and effective sample.
    #[serde(flatten)]
    pub value: PolicyValue,
    /// The difference from the first model; `None` for that one.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, by the same bootstrap samples.
    pub difference_ci95: Option<[f64; 2]>,
}

/// Estimates the value that models would have from the clicks on another ranking.
pub fn evaluate_clicks(
    request: &EvaluateClicksRequest,
    context: &Context<'_>,
) -> Result<EvaluateClicksResult, TaskError> {
    check_params(&request.options, "evaluation")?;
    check_params(&request.bias, "bias")?;
    request.check_files([])?;
    let needs_regression = request.options.estimator.needs_regression();
    let needs_examination =
        needs_regression || request.options.propensity == PropensityKind::Examination;
    if !needs_examination {
        let reason = "the propensities are those of the pages";
        request.examination.check_unused(&request.bias, reason)?;
    }
    let metric = match &request.metric {
        Some(metric) => metric.clone(),
        None => MetricSpec::parse(EvaluateClicksRequest::DEFAULT_METRIC)?,
    };
    let mut task = RunningTask::new(context);
    let names = source_names(&request.models);
    let mut models = Vec::new();
    for (source, name) in request.models.iter().zip(names) {
        models.push((name, source.load()?));
    }
    let rules =
        common_rules(&models)?.map(|rules| rules.matched(request.matching).labels_are_optional());
    let loaded = request.features.load(rules, &mut task)?;
    let rows = LogFeatureRows::new(&loaded.data);
    let weights = weights(&metric, &loaded.data)?;
    let (mut collector, mut builder) =
        (LogCollector::default(), LoggedPagesBuilder::new(request.options.propensity));
    let (counts, _) = request.log.read(&task, |impression| {
        collector.add(impression, &request.bias.random_ranker);
        builder.add(impression);
    })?;
    let (log, logged) = (collector.finish(), builder.finish()?);
    let examination = match needs_examination {
        true => request.examination.examination(&request.bias, &log, Some(&rows), &task)?,
        false => Vec::new(),
    };
    let relevance = match needs_regression {
        true => Some(regression(&log, &rows, &examination, &task)?),
        false => None,
    };
    let unknown = logged.queries().iter().filter(|query| rows.query(query).is_none()).count();
    if unknown > 0 {
        task.warn(Warning::UnknownLogQueries { unknown, all: logged.queries().len() });
    }
    let (mut found, mut seconds): (Vec<ModelValue>, f64) = (Vec::new(), 0.0);
    for (name, model) in models {
        let (scores, ..) = score_data(&model, &loaded.data, request.matching, &mut task)?;
        let rankings = logged.rankings(&rows, &scores, relevance.as_ref(), weights.len())?;
        let target =
            TargetRanking { rankings: &rankings, weights: &weights, examination: &examination };
        let step = format!("evaluating {name}");
        let estimate = || {
            let value = logged.value(&target, &request.options);
            value.map_err(|error| TaskError::ModelValue { model: name.clone(), error })
        };
        let (value, taken) = task.step(&step, estimate)?;
        seconds += taken;
        let difference = found.first().map(|first| value_difference(&value, &first.value));
        found.push(ModelValue {
            model: name,
            value,
            difference: difference.map(|(difference, _)| difference),
            difference_ci95: difference.and_then(|(_, ci95)| ci95),
        });
    }
    Ok(EvaluateClicksResult {
        metric: metric.to_string(),
        estimator: request.options.estimator.name(),
        propensity: request.options.propensity.name(),
        clip: request.options.clip,
        models: found,
        examination,
        counts,
        seconds,
        warnings: task.into_warnings(),
    })
}

/// The regression of relevance on features.
fn regression(
    log: &CollectedLog,
    rows: &LogFeatureRows<'_>,
    examination: &[Option<f64>],
    task: &RunningTask<'_>,
) -> Result<RelevanceModel, TaskError> {
    let features = rows.pair_features(&log.pages)?;
    let fit = || {
        let iterations = RelevanceModel::DEFAULT_ITERATIONS;
        Ok::<_, TaskError>(RelevanceModel::fit(&log.pages, features, examination, iterations))
    };
    Ok(task.step("regressing relevance on features", fit)?.0)
}

/// The metric's weight of each rank of the longest ranking, or down to its cut-off.
fn weights(metric: &MetricSpec, data: &Dataset) -> Result<Vec<f64>, TaskError> {
    let longest = (0..data.queries()).map(|query| data.query_rows(query).len()).max();
    let cutoff = metric.canonical().cutoff.map_or(usize::MAX, |cutoff| cutoff as usize);
    Ok(rank_weights(metric, longest.unwrap_or(0).min(cutoff))?)
}
