//! Inspection of a model: its training, its parts, and the importance of its features.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_model::draw::{tree_svg_with, tree_text_with};
use rankwright_model::{Model, ModelBody, ModelSummary, SplitImpurity, Tree};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
#[cfg(feature = "train")]
use super::inspect_with_data::{self, ImpurityRequest, PermutationRequest};
use super::{Context, ModelSource, TaskError, TaskInputs, Warning};

/// A model to inspect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InspectModelRequest {
    /// The model.
    pub model: ModelSource,
    /// A tree to show as text, counted from 1.
    pub tree: Option<usize>,
    /// Whether to draw that tree, or the first, as SVG.
    #[serde(default)]
    pub drawing: bool,
    /// Data from which the impurity of the splits of that tree, or of the first, is computed.
    #[cfg(feature = "train")]
    pub impurity: Option<ImpurityRequest>,
    /// Data on which features are shuffled, for permutation importance.
    #[cfg(feature = "train")]
    pub permutation: Option<PermutationRequest>,
}

impl InspectModelRequest {
    /// Inspects this model.
    pub fn new(model: impl Into<ModelSource>) -> Self {
        InspectModelRequest {
            model: model.into(),
            tree: None,
            drawing: false,
            #[cfg(feature = "train")]
            impurity: None,
            #[cfg(feature = "train")]
            permutation: None,
        }
    }
}

impl TaskInputs for InspectModelRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let files = self.model.path().map(Path::to_owned).into_iter();
        #[cfg(feature = "train")]
        let files = files.chain(inspect_with_data::paths(self).map(Path::to_owned));
        files.collect()
    }
}

/// A summary of a model.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct InspectModelResult {
    /// File of the model, or its name in memory.
    pub model: String,
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
    pub loaded: Arc<Model>,
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
    #[cfg_attr(not(feature = "train"), allow(unused_mut))]
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    #[cfg(feature = "train")]
    inspect_with_data::check(request)?;
    let model = request.model.load()?;
    let grown = with_trees(&model);
    let requested_tree = request.tree.map(|number| tree_of(grown, number)).transpose()?;
    #[cfg(feature = "train")]
    let impurities = inspect_with_data::impurities(request, &model, &mut task)?;
    #[cfg(not(feature = "train"))]
    let impurities = Vec::new();
    let drawing = match request.drawing {
        true => Some(draw(request, grown, &impurities)?),
        false => None,
    };
    let summary = model.summary();
    #[cfg(feature = "train")]
    let (summary, permutation) = inspect_with_data::permute(request, &model, summary, &mut task)?;
    #[cfg(not(feature = "train"))]
    let permutation = None;
    let tree = request.tree.zip(requested_tree).map(|(number, tree)| TreeText {
        number,
        leaves: tree.leaves().len(),
        depth: tree.depth(),
        text: tree_text_with(tree, grown.header(), &impurities),
        impurities,
    });
    Ok(InspectModelResult {
        model: request.model.name(),
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
pub(super) fn with_trees(model: &Model) -> &Model {
    model.added_trees().unwrap_or(model)
}

/// The tree of a number, from 1.
pub(super) fn tree_of(model: &Model, number: usize) -> Result<&Tree, TaskError> {
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
    let title = format!("tree {number} of {}", request.model.name());
    Ok(tree_svg_with(tree_of(model, number)?, model.header(), &title, impurities))
}
