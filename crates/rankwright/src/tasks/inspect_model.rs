//! Inspection of a model: its training, its parts, and the importance of its features.

use std::path::{Path, PathBuf};

use rankwright_data::DEFAULT_SEED;
use rankwright_eval::{Measure, MetricSpec, SourceKind, metric_or_default};
use rankwright_learn::permutation::{PermutationImportance, PermutationPlan};
use rankwright_learn::split_impurities;
use rankwright_model::draw::{tree_svg_with, tree_text_with};
use rankwright_model::{
    MatchOptions, MetricDrop, Model, ModelBody, ModelSummary, ScoreOptions, SplitImpurity, Tree,
};
use serde::Serialize;

use super::context::RunningTask;
use super::paths::check_used;
use super::{Context, DataFiles, ReadRules, TaskError, TaskInputs, Warning, load_model};

/// A model to inspect.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InspectModelRequest {
    /// File of the model.
    pub model: PathBuf,
    /// A tree to show as text, counted from 1.
    pub tree: Option<usize>,
    /// Whether to draw that tree, or the first, as SVG.
    pub drawing: bool,
    /// Data from which the impurity of the splits of that tree, or of the first, is computed.
    pub impurity: Option<ImpurityRequest>,
    /// Data on which features are shuffled, for permutation importance.
    pub permutation: Option<PermutationRequest>,
}

/// Data from which the impurity of splits is computed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImpurityRequest {
    /// Feature data with labels: the training data, for the impurities that the training saw.
    pub data: DataFiles,
    /// The rule that matches the features of the data with those of the model.
    pub matching: MatchOptions,
}

impl ImpurityRequest {
    /// Features of the data and of the model match by name.
    pub fn new(data: DataFiles) -> Self {
        ImpurityRequest { data, matching: MatchOptions::default() }
    }

    /// Sets the rule that matches the features of the data with those of the model.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }
}

/// Data on which each feature is shuffled, and the metric.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermutationRequest {
    /// Feature data with labels.
    pub data: DataFiles,
    /// The metric; that of the model's training if not given.
    pub metric: Option<MetricSpec>,
    /// Number of shuffles of each feature.
    pub repeats: usize,
    /// Seed of the shuffles.
    pub seed: u64,
    /// The rule that matches the features of the data with those of the model.
    pub matching: MatchOptions,
}

impl PermutationRequest {
    /// Five shuffles of each feature.
    pub fn new(data: DataFiles) -> Self {
        let seed = DEFAULT_SEED;
        PermutationRequest {
            data,
            metric: None,
            repeats: PermutationPlan::default().repeats,
            seed,
            matching: MatchOptions::default(),
        }
    }
}

impl InspectModelRequest {
    /// Inspects this model.
    pub fn new(model: impl Into<PathBuf>) -> Self {
        let model = model.into();
        InspectModelRequest { model, tree: None, drawing: false, impurity: None, permutation: None }
    }

    /// The files of all data that is read.
    fn data_paths(&self) -> impl Iterator<Item = &Path> {
        let impurity = self.impurity.iter().flat_map(|request| request.data.paths());
        let permutation = self.permutation.iter().flat_map(|request| request.data.paths());
        impurity.chain(permutation)
    }
}

impl TaskInputs for InspectModelRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        [self.model.as_path()].into_iter().chain(self.data_paths()).map(Path::to_owned).collect()
    }
}

/// A summary of a model.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct InspectModelResult {
    /// File of the model.
    pub model: PathBuf,
    /// Training, parts, and importance of the features.
    #[serde(flatten)]
    pub summary: ModelSummary,
    /// The metric and value of the permutation importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permutation: Option<PermutationSummary>,
    /// The requested tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeText>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// The requested drawing, as SVG.
    #[serde(skip)]
    pub drawing: Option<String>,
    /// The model itself.
    #[serde(skip)]
    pub loaded: Model,
}

/// The metric of a permutation importance.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PermutationSummary {
    /// The metric.
    pub metric: String,
    /// All conventions of the metric: how ties, unjudged documents and so on are treated.
    pub convention: String,
    /// Its value without shuffling.
    pub value: f64,
    /// Number of shuffles of each feature.
    pub repeats: usize,
    /// Seed of the shuffles.
    pub seed: u64,
}

/// One tree as text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TreeText {
    /// Its number, from 1.
    pub number: usize,
    /// Number of leaves.
    pub leaves: usize,
    /// Its depth.
    pub depth: usize,
    /// Its splits and leaves, one per line.
    pub text: String,
    /// The impurity of each split, where data was given for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub impurities: Vec<SplitImpurity>,
}

/// Inspects a model.
pub fn inspect_model(
    request: &InspectModelRequest,
    context: &Context<'_>,
) -> Result<InspectModelResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    let is_unused = request.impurity.is_some() && request.tree.is_none() && !request.drawing;
    check_used(is_unused, "impurity", "no tree is shown or drawn")?;
    let model = load_model(&request.model)?;
    let grown = with_trees(&model);
    let requested_tree = request.tree.map(|number| tree_of(grown, number)).transpose()?;
    let impurities = match &request.impurity {
        Some(impurity) => impurities(impurity, &model, request.tree.unwrap_or(1), &mut task)?,
        None => Vec::new(),
    };
    let drawing = match request.drawing {
        true => Some(draw(request, grown, &impurities)?),
        false => None,
    };
    let mut summary = model.summary();
    let mut permutation = None;
    if let Some(shuffles) = &request.permutation {
        let found = permute(shuffles, &model, &mut task)?;
        summary = summary.with_drops(&model, &drops(&found));
        permutation = Some(PermutationSummary {
            metric: found.measure.to_string(),
            convention: found.measure.convention().to_owned(),
            value: found.value,
            repeats: shuffles.repeats,
            seed: shuffles.seed,
        });
    }
    let tree = request.tree.zip(requested_tree).map(|(number, tree)| TreeText {
        number,
        leaves: tree.leaves().len(),
        depth: tree.depth(),
        text: tree_text_with(tree, grown.header(), &impurities),
        impurities,
    });
    Ok(InspectModelResult {
        model: request.model.clone(),
        summary,
        permutation,
        tree,
        warnings: task.into_warnings(),
        drawing,
        loaded: model,
    })
}

/// The part of a model that has trees to show: those that boosting added to a start model, or the
/// model itself.
fn with_trees(model: &Model) -> &Model {
    model.added_trees().unwrap_or(model)
}

/// The tree of a number, from 1.
fn tree_of(model: &Model, number: usize) -> Result<&Tree, TaskError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(TaskError::NoTrees { kind: model.body().name() });
    };
    let tree = number.checked_sub(1).and_then(|index| ensemble.trees().get(index));
    tree.ok_or(TaskError::NoSuchTree { number, trees: ensemble.trees().len() })
}

fn draw(
    request: &InspectModelRequest,
    model: &Model,
    impurities: &[SplitImpurity],
) -> Result<String, TaskError> {
    let number = request.tree.unwrap_or(1);
    let title = format!("tree {number} of {}", request.model.display());
    Ok(tree_svg_with(tree_of(model, number)?, model.header(), &title, impurities))
}

/// The impurity of each split of a tree, whose number counts from 1.
fn impurities(
    request: &ImpurityRequest,
    model: &Model,
    number: usize,
    task: &mut RunningTask<'_>,
) -> Result<Vec<SplitImpurity>, TaskError> {
    tree_of(with_trees(model), number)?;
    let data = request.data.load(Some(ReadRules::of_model(model)), task)?.data;
    let options = ScoreOptions::new().matching(request.matching).simd(task.simd());
    let work = || split_impurities(model, &data, number.saturating_sub(1), options);
    Ok(task.step("computing impurities", work)?.0)
}

/// Computes the permutation importance of the features.
fn permute(
    request: &PermutationRequest,
    model: &Model,
    task: &mut RunningTask<'_>,
) -> Result<PermutationImportance, TaskError> {
    let measure: Measure = match &request.metric {
        Some(metric) => metric.resolve(SourceKind::Features)?,
        None => metric_or_default(None, SourceKind::Features, &model.header().metric)?,
    };
    let data = request.data.load(Some(ReadRules::of_model(model)), task)?.data;
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
