//! The state that a training starts from: a checkpoint, a given model, or only the base score.
//!
//! Burges' F0(x) = BaseModel(x). New trees are added to those of a tree model, so the result is one
//! ensemble: the given model's features are looked up in the data by name or id, and its trees are
//! renumbered to the data's columns. Any other model stays whole: its scores are where boosting
//! starts, and the result is the sum of that model and the new trees ([`Blend::sum`]).

use rankwright_data::Dataset;
use rankwright_model::{
    Blend, Ensemble, Header, MatchBy, Matching, Model, ModelBody, ModelError, ScoreOptions, Split,
    Tree,
};

use crate::error::{LearnError, StateProblem};
use crate::session::{Snapshot, TrainRequest};

/// The base score and trees that a training starts from.
#[derive(Debug)]
pub(crate) struct StartState {
    pub(crate) base: f64,
    /// Trees of the start model, then those of a checkpoint: at least one for each of its rounds.
    pub(crate) trees: Vec<Tree>,
    /// Number of trees of the start model.
    pub(crate) start: usize,
    /// The start model if it is no tree model; its scores are added to those of the trees.
    pub(crate) model: Option<Model>,
    /// The bytes of DART in the checkpoint; `None` without a checkpoint or if no trees are dropped.
    pub(crate) dart_bytes: Option<Vec<u8>>,
}

impl StartState {
    /// The checkpoint `saved` after this many rounds if there is one, else the start model of the
    /// request, else only the base score.
    pub(crate) fn find(
        request: &TrainRequest<'_>,
        saved: Option<Snapshot>,
        rounds: usize,
        base: f64,
    ) -> Result<Self, LearnError> {
        let rejected = || LearnError::from(StateProblem::MissingTrees);
        let other = request.start.filter(|model| !matches!(model.body(), ModelBody::Trees(_)));
        let model = other.map(|model| start_member(model, request.train, request.features));
        let model = model.transpose()?;
        // The base score of an objective is in place of a start model.
        let base = if model.is_some() { 0.0 } else { base };
        match (saved, request.start) {
            (Some(Snapshot { model: saved, start, bytes: dart_bytes }), _) => {
                let ModelBody::Trees(ensemble) = saved else { return Err(rejected()) };
                let mut trees = ensemble.trees().to_vec();
                if trees.len() < start.saturating_add(rounds) {
                    return Err(rejected());
                }
                if dart_bytes.is_none() {
                    trees.truncate(start + rounds);
                }
                Ok(Self { base: ensemble.base(), trees, start, model, dart_bytes })
            }
            (None, Some(trees)) if model.is_none() => {
                let ensemble = ensemble(trees, request.train, request.features)?;
                let (base, trees) = (ensemble.base(), ensemble.trees().to_vec());
                Ok(Self { base, start: trees.len(), trees, model, dart_bytes: None })
            }
            (None, _) => Ok(Self { base, trees: Vec::new(), start: 0, model, dart_bytes: None }),
        }
    }
}

/// The body of a model that consists of a start model, if there is one, and of trees.
pub(crate) fn with_start(
    start: Option<&Model>,
    header: &Header,
    trees: Ensemble,
) -> Result<ModelBody, LearnError> {
    let Some(start) = start else { return Ok(ModelBody::Trees(trees)) };
    let trees = Model::new(header.clone(), ModelBody::Trees(trees))?;
    Ok(ModelBody::Blend(Blend::sum(start.clone(), trees)?))
}

/// The start model, its features named as in the data.
fn start_member(model: &Model, data: &Dataset, options: ScoreOptions) -> Result<Model, LearnError> {
    let (of_model, of_data) = (model.header().absent, data.absent());
    if of_model != of_data && model.distinguishes_missing() {
        return Err(ModelError::Absent { model: of_model.name(), data: of_data.name() }.into());
    }
    model.check_categories(data)?;
    Matching::new(model.header(), data.features(), options.matching)?;
    match options.matching.by {
        MatchBy::Position => Ok(model.clone().renamed_by_position(data.features())?),
        _ => Ok(model.clone()),
    }
}

/// The start model's ensemble, its features numbered as in the data.
fn ensemble(model: &Model, data: &Dataset, options: ScoreOptions) -> Result<Ensemble, LearnError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(LearnError::Internal { invariant: "only trees are joined with new trees" });
    };
    let (of_model, of_data) = (model.header().absent, data.absent());
    if of_model != of_data {
        return Err(ModelError::Absent { model: of_model.name(), data: of_data.name() }.into());
    }
    model.check_categories(data)?;
    let matching = Matching::new(model.header(), data.features(), options.matching)?;
    let renumbered = |split: &Split| {
        let column = matching.column(split.feature as usize).ok_or_else(|| {
            let name = model.header().features.name(split.feature as usize).into_owned();
            LearnError::StartFeature { feature: name }
        })?;
        Ok(Split { feature: column as u32, ..*split })
    };
    let tree = |tree: &Tree| {
        let splits = tree.splits().iter().map(renumbered).collect::<Result<_, LearnError>>()?;
        Ok(Tree::with_sets(splits, tree.leaves().to_vec(), tree.sets().to_vec())?)
    };
    let trees = ensemble.trees().iter().map(tree).collect::<Result<_, LearnError>>()?;
    Ok(Ensemble::new(ensemble.base(), trees)?)
}
