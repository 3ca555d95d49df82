//! The position bias of a click log, by several estimators, for all pages or by group.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rankwright_clicks::LogFeatureRows;
use rankwright_clicks::bias::{
    BiasEstimator, BiasLog, BiasOptions, PositionBias, check_not_all_refused, disagreement,
};
use rankwright_clicks::log::LogCounts;
use rankwright_clicks::regression::PairFeatures;
use rankwright_clicks::{ClicksError, Impression};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::LogSource;
use super::examination::{CollectedLog, LogCollector};
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, DataSource, ReadRules, TaskError, TaskInputs, Warning};

/// A click log, and the estimators of its position bias.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EstimateBiasRequest {
    /// The log.
    pub log: LogSource,
    /// The estimators; if empty, all of them that the log and the features allow.
    #[serde(default)]
    pub estimators: Vec<BiasEstimator>,
    /// Their options.
    #[serde(default)]
    pub options: BiasOptions,
    /// Feature data of the documents, for `regression-em`.
    pub features: Option<DataSource>,
    /// An attribute of pages: the bias is also estimated for the pages of each of its values.
    pub by: Option<String>,
}

impl TaskInputs for EstimateBiasRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let features = self.features.iter().flat_map(DataSource::paths).map(Path::to_owned);
        self.log.paths().map(Path::to_owned).chain(features).collect()
    }
}

impl EstimateBiasRequest {
    /// All estimators that the log allows, with their default options.
    pub fn new(log: impl Into<LogSource>) -> Self {
        Self {
            log: log.into(),
            estimators: Vec::new(),
            options: BiasOptions::default(),
            features: None,
            by: None,
        }
    }

    /// Sets feature data of the documents, joined by the ids of query and document.
    pub fn features(mut self, features: impl Into<DataSource>) -> Self {
        self.features = Some(features.into());
        self
    }

    /// Estimates the bias for the pages of each value of an attribute (`device`, `ranker`,
    /// `session`), too.
    pub fn by(mut self, attribute: impl Into<String>) -> Self {
        self.by = Some(attribute.into());
        self
    }

    /// Sets the estimators.
    pub fn estimators(mut self, estimators: impl IntoIterator<Item = BiasEstimator>) -> Self {
        self.estimators = estimators.into_iter().collect();
        self
    }

    /// Sets the options.
    pub fn options(mut self, options: BiasOptions) -> Self {
        self.options = options;
        self
    }
}

/// The position bias of a click log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EstimateBiasResult {
    /// The bias by each estimator.
    pub estimates: Vec<PositionBias>,
    /// Largest difference at a rank between estimators that correct for relevance; `None` if fewer
    /// than two have an estimate.
    pub disagreement: Option<f64>,
    /// The bias of the pages of each value of the requested attribute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<BiasGroup>,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Seconds of estimating.
    pub seconds: f64,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// The position bias of some of the pages of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BiasGroup {
    /// The attribute.
    pub attribute: String,
    /// Its value; `None` for pages without one.
    pub value: Option<String>,
    /// Number of impressions.
    pub impressions: u64,
    /// The bias by each estimator.
    pub estimates: Vec<PositionBias>,
    /// Largest difference at a rank between estimators that correct for relevance.
    pub disagreement: Option<f64>,
}

/// Estimates the position bias of a click log. An error if every estimator that corrects for
/// relevance refuses.
pub fn estimate_bias(
    request: &EstimateBiasRequest,
    context: &Context<'_>,
) -> Result<EstimateBiasResult, TaskError> {
    check_params(&request.options, "bias")?;
    request.check_files([])?;
    let mut task = RunningTask::new(context);
    let mut all = LogCollector::default();
    let mut by_value: BTreeMap<Option<String>, LogCollector> = BTreeMap::new();
    let random_ranker = &request.options.random_ranker;
    let (counts, _) = request.log.read(&task, |impression| {
        all.add(impression, random_ranker);
        if let Some(attribute) = &request.by {
            let value = impression.attribute(attribute).map(str::to_owned);
            by_value.entry(value).or_default().add(impression, random_ranker);
        }
    })?;
    if let Some(name) = &request.by
        && by_value.keys().all(Option::is_none)
    {
        let known = Impression::ATTRIBUTES.to_vec();
        return Err(ClicksError::UnknownAttribute { name: name.clone(), known }.into());
    }
    let rules = ReadRules::default().labels_are_optional();
    let loaded = request.features.as_ref().map(|source| source.load(Some(rules), &mut task));
    let loaded = loaded.transpose()?;
    let rows = loaded.as_ref().map(|loaded| LogFeatureRows::new(&loaded.data));
    let mut seconds = 0.0;
    let estimates = estimates(request, &all.finish(), rows.as_ref(), &task, &mut seconds)?;
    let mut groups = Vec::new();
    for (value, collector) in by_value {
        let log = collector.finish();
        let features = match features_of(request, &log, rows.as_ref()) {
            // The estimator by features refuses for this group; the others have their estimates.
            Err(TaskError::Clicks(ClicksError::NoKnownDocuments)) => None,
            features => features?,
        };
        let estimates = estimates_with(request, &log, features.as_ref(), &task, &mut seconds)?;
        groups.push(BiasGroup {
            attribute: request.by.clone().unwrap_or_default(),
            value,
            impressions: log.pages.impressions(),
            disagreement: disagreement(&estimates),
            estimates,
        });
    }
    check_not_all_refused(&estimates)?;
    Ok(EstimateBiasResult {
        disagreement: disagreement(&estimates),
        estimates,
        groups,
        counts,
        seconds,
        warnings: task.into_warnings(),
    })
}

/// The estimates of a log by the requested estimators, or by all that it allows.
pub(super) fn estimates(
    request: &EstimateBiasRequest,
    log: &CollectedLog,
    rows: Option<&LogFeatureRows<'_>>,
    task: &RunningTask<'_>,
    seconds: &mut f64,
) -> Result<Vec<PositionBias>, TaskError> {
    let features = features_of(request, log, rows)?;
    estimates_with(request, log, features.as_ref(), task, seconds)
}

/// The requested estimators; all if there are none.
fn requested(request: &EstimateBiasRequest) -> Vec<BiasEstimator> {
    match request.estimators.is_empty() {
        true => BiasEstimator::ALL.iter().map(|(_, estimator)| *estimator).collect(),
        false => request.estimators.clone(),
    }
}

/// The features of the documents of a log, if an estimator needs them.
fn features_of(
    request: &EstimateBiasRequest,
    log: &CollectedLog,
    rows: Option<&LogFeatureRows<'_>>,
) -> Result<Option<PairFeatures>, TaskError> {
    let needs_features = requested(request).contains(&BiasEstimator::RegressionEm);
    let features = rows.filter(|_| needs_features).map(|rows| rows.pair_features(&log.pages));
    Ok(features.transpose()?)
}

fn estimates_with(
    request: &EstimateBiasRequest,
    log: &CollectedLog,
    features: Option<&PairFeatures>,
    task: &RunningTask<'_>,
    seconds: &mut f64,
) -> Result<Vec<PositionBias>, TaskError> {
    let mut bias_log = BiasLog::new(&log.pages).random_pages(&log.random_pages);
    if let Some(features) = features {
        bias_log = bias_log.features(features);
    }
    let mut found = Vec::new();
    for estimator in requested(request) {
        let step = format!("estimating bias by {}", estimator.name());
        let (bias, taken) = task.step(&step, || bias_log.bias(estimator, &request.options))?;
        *seconds += taken;
        // Without a request by name, an estimator that lacks its input is left out.
        let has_features = request.features.is_some();
        let refusal = bias.refusal.as_ref();
        let lacks_input =
            refusal.is_some_and(|refusal| BiasEstimator::lacks_input(refusal, has_features));
        if !(request.estimators.is_empty() && lacks_input) {
            found.push(bias);
        }
    }
    Ok(found)
}
