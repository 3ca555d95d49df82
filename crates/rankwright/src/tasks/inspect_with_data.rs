//! The parts of the inspection of a model that need data and learners: the impurity of splits, and
//! the permutation importance of features.

use std::path::Path;

use rankwright_data::DEFAULT_SEED;
use rankwright_eval::{Measure, MetricSpec, SourceKind, metric_or_default};
use rankwright_learn::permutation::{PermutationImportance, PermutationPlan};
use rankwright_learn::split_impurities;
use rankwright_model::{
    MatchOptions, MetricDrop, Model, ModelSummary, ScoreOptions, SplitImpurity,
};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::inspect_model::{tree_of, with_trees};
use super::paths::check_used;
use super::request_json::default_seed;
use super::{DataSource, InspectModelRequest, PermutationSummary, ReadRules, TaskError};

/// Data from which the impurity of splits is computed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ImpurityRequest {
    /// Feature data with labels: the training data, for the impurities that the training saw.
    pub data: DataSource,
    /// The rule that matches the features of the data with those of the model.
    #[serde(default)]
    pub matching: MatchOptions,
}

impl ImpurityRequest {
    /// Features of the data and of the model match by name.
    pub fn new(data: impl Into<DataSource>) -> Self {
        ImpurityRequest { data: data.into(), matching: MatchOptions::default() }
    }

    /// Sets the rule that matches the features of the data with those of the model.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }
}

/// Data on which each feature is shuffled, and the metric.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PermutationRequest {
    /// Feature data with labels.
    pub data: DataSource,
    /// The metric; that of the model's training if not given.
    pub metric: Option<MetricSpec>,
    /// Number of shuffles of each feature.
    #[serde(default = "default_repeats")]
    pub repeats: usize,
    /// Seed of the shuffles.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The rule that matches the features of the data with those of the model.
    #[serde(default)]
    pub matching: MatchOptions,
}

/// Number of shuffles of a request that gives none.
fn default_repeats() -> usize {
    PermutationPlan::default().repeats
}

impl PermutationRequest {
    /// Five shuffles of each feature.
    pub fn new(data: impl Into<DataSource>) -> Self {
        let seed = DEFAULT_SEED;
        PermutationRequest {
            data: data.into(),
            metric: None,
            repeats: default_repeats(),
            seed,
            matching: MatchOptions::default(),
        }
    }
}

/// The files of all data that is read.
pub(super) fn paths(request: &InspectModelRequest) -> impl Iterator<Item = &Path> {
    let impurity = request.impurity.iter().flat_map(|request| request.data.paths());
    let permutation = request.permutation.iter().flat_map(|request| request.data.paths());
    impurity.chain(permutation)
}

/// Rejects data for the impurity of splits that nobody would see.
pub(super) fn check(request: &InspectModelRequest) -> Result<(), TaskError> {
    let is_unused = request.impurity.is_some() && request.tree.is_none() && !request.drawing;
    check_used(is_unused, "impurity", "no tree is shown or drawn")
}

/// The impurity of each split of the requested tree, or of the first; none if no data is given.
pub(super) fn impurities(
    request: &InspectModelRequest,
    model: &Model,
    task: &mut RunningTask<'_>,
) -> Result<Vec<SplitImpurity>, TaskError> {
    let number = request.tree.unwrap_or(1);
    let Some(request) = &request.impurity else { return Ok(Vec::new()) };
    tree_of(with_trees(model), number)?;
    let data =
        request.data.load(Some(ReadRules::of_model(model).matched(request.matching)), task)?.data;
    let options = ScoreOptions::new().matching(request.matching).simd(task.simd());
    let work = || split_impurities(model, &data, number.saturating_sub(1), options);
    Ok(task.step("computing impurities", work)?.0)
}

/// The summary with the permutation importance of the features, if data is given for it.
pub(super) fn permute(
    request: &InspectModelRequest,
    model: &Model,
    summary: ModelSummary,
    task: &mut RunningTask<'_>,
) -> Result<(ModelSummary, Option<PermutationSummary>), TaskError> {
    let Some(shuffles) = &request.permutation else { return Ok((summary, None)) };
    let found = importance(shuffles, model, task)?;
    let permutation = PermutationSummary {
        metric: found.measure.to_string(),
        convention: found.measure.convention().to_owned(),
        value: found.value,
        repeats: shuffles.repeats,
        seed: shuffles.seed,
    };
    Ok((summary.with_drops(model, &drops(&found)), Some(permutation)))
}

/// Computes the permutation importance of the features.
fn importance(
    request: &PermutationRequest,
    model: &Model,
    task: &mut RunningTask<'_>,
) -> Result<PermutationImportance, TaskError> {
    let measure: Measure = match &request.metric {
        Some(metric) => metric.resolve(SourceKind::Features)?,
        None => metric_or_default(None, SourceKind::Features, &model.header().metric)?,
    };
    let data =
        request.data.load(Some(ReadRules::of_model(model).matched(request.matching)), task)?.data;
    let options = ScoreOptions::new().matching(request.matching).simd(task.simd());
    let plan = PermutationPlan::new().repeats(request.repeats).seed(request.seed).options(options);
    let work = || PermutationImportance::new(model, &data, measure, plan);
    Ok(task.step("shuffling features", work)?.0)
}

/// The drop of the metric for each shuffled feature.
fn drops(found: &PermutationImportance) -> Vec<(usize, MetricDrop)> {
    let numbers = found.drops.iter().map(|(number, _)| *number);
    let drop = |number| {
        let (mean, spread) = found.mean_and_deviation(number)?;
        Some((number, MetricDrop { mean, spread }))
    };
    numbers.filter_map(drop).collect()
}
