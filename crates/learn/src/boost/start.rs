//! The state that a training starts from: a checkpoint, a given model, or only the base score.
//!
//! A start model is Burges' F0(x) = BaseModel(x). If it is a tree model, new trees are added to its
//! trees, so the result is one ensemble: the start model's features are looked up in the data by
//! name or id, and the features in its splits are replaced by the columns of the data. A start
//! model of another kind is kept as it is: boosting starts from its scores, and the result is the
//! sum of that model and the new trees ([`Blend::sum_with_weight`]).
//!
//! If the scores s of the start model and the scores F of the training's objective both give a
//! probability of relevance, boosting starts from the F of the same probability:
//!
//! ```text
//! start model       P = 1 / (1 + exp(-(a s + b)))
//! log-loss          P = 1 / (1 + exp(-2F))           F0 = (a s + b) / 2
//! ordinal           P = 1 / (1 + exp(t - F))         F0 = a s          (thresholds t are fitted)
//! ```
//!
//! a is 1 for logistic regression and XGBoost's binary models, LightGBM's `sigmoid` for its binary
//! models, 2 for models of the log-loss. All other start models have F0 = s.

use rankwright_data::Dataset;
use rankwright_model::{
    Blend, Ensemble, Header, Leaf, MatchBy, Matching, Model, ModelBody, ModelError, ScoreMeaning,
    ScoreOptions, Split, Tree,
};
use rankwright_spec::Spec;

use crate::error::{LearnError, StateProblem};
use crate::objective::{ObjectiveParams, OrdinalParams};
use crate::session::{Snapshot, TrainRequest};

/// The base score and trees that a training starts from.
#[derive(Debug)]
pub(crate) struct StartState {
    /// The base score: the constant part of every score.
    pub(crate) base: f64,
    /// Trees of the start model, then those of a checkpoint: at least one for each of its rounds.
    pub(crate) trees: Vec<Tree>,
    /// Number of trees of the start model.
    pub(crate) start_trees: usize,
    /// The start model if it is not a tree model; its scores are added to those of the trees.
    pub(crate) model: Option<StartMember>,
    /// The state of DART in the checkpoint; `None` without a checkpoint or if no trees are dropped.
    pub(crate) dart_state: Option<Vec<u8>>,
}

/// A start model that is not a tree model, as a member of the sum: its features are named as in the
/// data.
#[derive(Debug)]
pub(crate) struct StartMember {
    model: Model,
    /// The factor of its scores.
    factor: f64,
}

/// The scores F0 that boosting starts from: `factor` times the scores of the start model, plus
/// `shift`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StartScale {
    factor: f64,
    shift: f64,
}

impl StartScale {
    /// Of a start model whose scores are taken as they are.
    pub(crate) const UNCHANGED: Self = Self { factor: 1.0, shift: 0.0 };

    /// The scale for a request: that of equal probabilities if both the start model and the
    /// objective have them.
    pub(crate) fn of(request: &TrainRequest<'_>) -> Self {
        let found = request.start.and_then(|start| Self::to_objective(start, &request.objective));
        found.unwrap_or(Self::UNCHANGED)
    }

    /// The scale for an objective, given as a spec; `None` if it or the start model has no
    /// probabilities.
    fn to_objective(start: &Model, objective: &str) -> Option<Self> {
        let meaning = start.score_meaning()?;
        if Spec::parse(objective).ok()?.name == OrdinalParams::DEF.name {
            // The thresholds are fitted to the scores: a shift would move them alone.
            let highest = match &meaning {
                ScoreMeaning::Grades { grades, .. } => grades.last().copied(),
                _ => None,
            };
            let (factor, _) = meaning.log_odds(highest.unwrap_or_default())?;
            return Some(Self { factor, shift: 0.0 });
        }
        let ScoreMeaning::Logit { rel, slope } = ScoreMeaning::of_objective(objective)? else {
            return None;
        };
        let (factor, shift) = meaning.log_odds(rel)?;
        Some(Self { factor: factor / slope, shift: shift / slope })
    }
}

impl StartState {
    /// The state of the checkpoint `saved` after the first `rounds` rounds if there is one, else
    /// the start model of the request, else only the base score `base`.
    pub(crate) fn find(
        request: &TrainRequest<'_>,
        saved: Option<Snapshot>,
        rounds: usize,
        base: f64,
    ) -> Result<Self, LearnError> {
        let missing_trees = || LearnError::from(StateProblem::MissingTrees);
        let non_tree = request.start.filter(|model| !matches!(model.body(), ModelBody::Trees(_)));
        let model = non_tree.map(|model| start_member(model, request.train, request.features));
        let model = model.transpose()?;
        let scale = StartScale::of(request);
        let model = model.map(|model| StartMember { model, factor: scale.factor });
        // The scores of a start model replace the base score of the objective.
        let base = if model.is_some() { scale.shift } else { base };
        match (saved, request.start) {
            (Some(Snapshot { model: saved, start_trees, learner_state: dart_state }), _) => {
                let ModelBody::Trees(ensemble) = saved else { return Err(missing_trees()) };
                let mut trees = ensemble.trees().to_vec();
                if trees.len() < start_trees.saturating_add(rounds) {
                    return Err(missing_trees());
                }
                // The state of DART holds the leaves of all trees, so all trees are kept with it.
                if dart_state.is_none() {
                    trees.truncate(start_trees + rounds);
                }
                Ok(Self { base: ensemble.base(), trees, start_trees, model, dart_state })
            }
            (None, Some(tree_model)) if model.is_none() => {
                let ensemble = start_ensemble(tree_model, scale, request.train, request.features)?;
                let (base, trees) = (ensemble.base(), ensemble.trees().to_vec());
                Ok(Self { base, start_trees: trees.len(), trees, model, dart_state: None })
            }
            (None, _) => {
                Ok(Self { base, trees: Vec::new(), start_trees: 0, model, dart_state: None })
            }
        }
    }
}

/// The body of a model that consists of a start model, if there is one, and of trees. `start` is a
/// start model that is not a tree model.
pub(crate) fn body_with_start(
    start: Option<&StartMember>,
    header: &Header,
    trees: Ensemble,
) -> Result<ModelBody, LearnError> {
    let Some(start) = start else { return Ok(ModelBody::Trees(trees)) };
    let trees = Model::new(header.clone(), ModelBody::Trees(trees))?;
    let StartMember { model, factor } = start;
    Ok(ModelBody::Blend(Blend::sum_with_weight(*factor, model.clone(), trees)?))
}

/// A start model that is not a tree model, with its features named as in the data.
fn start_member(model: &Model, data: &Dataset, options: ScoreOptions) -> Result<Model, LearnError> {
    // The rules for features that are absent from sparse rows: 0 or missing.
    let (model_rule, data_rule) = (model.header().absent, data.absent());
    if model_rule != data_rule && model.distinguishes_missing() {
        return Err(ModelError::Absent { model: model_rule.name(), data: data_rule.name() }.into());
    }
    let matching = Matching::new(model.header(), data.features(), options.matching)?;
    model.check_categories(data, &matching)?;
    match options.matching.by {
        MatchBy::Position => Ok(model.clone().renamed_by_position(data.features())?),
        _ => Ok(model.clone()),
    }
}

/// The ensemble of a start model that is a tree model, its features numbered as in the data and its
/// scores on the scale of the objective.
fn start_ensemble(
    model: &Model,
    scale: StartScale,
    data: &Dataset,
    options: ScoreOptions,
) -> Result<Ensemble, LearnError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(LearnError::Internal { invariant: "only trees are joined with new trees" });
    };
    // The rules for features that are absent from sparse rows: 0 or missing.
    let (model_rule, data_rule) = (model.header().absent, data.absent());
    if model_rule != data_rule {
        return Err(ModelError::Absent { model: model_rule.name(), data: data_rule.name() }.into());
    }
    let matching = Matching::new(model.header(), data.features(), options.matching)?;
    model.check_categories(data, &matching)?;
    let renumbered = |split: &Split| {
        let column = matching.column(split.feature as usize).ok_or_else(|| {
            let name = model.header().features.name(split.feature as usize).into_owned();
            LearnError::StartModelFeature { feature: name }
        })?;
        Ok(Split { feature: column as u32, ..*split })
    };
    let tree = |tree: &Tree| {
        let splits = tree.splits().iter().map(renumbered).collect::<Result<_, LearnError>>()?;
        let scaled = |leaf: &Leaf| Leaf { value: scale.factor * leaf.value, ..*leaf };
        let leaves = tree.leaves().iter().map(scaled).collect();
        Ok(Tree::with_sets(splits, leaves, tree.sets().to_vec())?)
    };
    let trees = ensemble.trees().iter().map(tree).collect::<Result<_, LearnError>>()?;
    Ok(Ensemble::new(scale.factor * ensemble.base() + scale.shift, trees)?)
}
