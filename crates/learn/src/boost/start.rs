//! The state that a training starts from: a checkpoint, a given model, or only the base score.
//!
//! New trees are added to the given ones, so the result is one ensemble. The given model's features
//! are looked up in the data by name or id, and its trees are renumbered to the data's columns.

use rankwright_data::Dataset;
use rankwright_model::{
    Ensemble, Matching, Model, ModelBody, ModelError, ScoreOptions, Split, Tree,
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
        match (saved, request.start) {
            (Some(Snapshot { model, start, bytes: dart_bytes }), _) => {
                let ModelBody::Trees(ensemble) = model else { return Err(rejected()) };
                let mut trees = ensemble.trees().to_vec();
                if trees.len() < start.saturating_add(rounds) {
                    return Err(rejected());
                }
                if dart_bytes.is_none() {
                    trees.truncate(start + rounds);
                }
                Ok(Self { base: ensemble.base(), trees, start, dart_bytes })
            }
            (None, Some(model)) => {
                let ensemble = ensemble(model, request.train, request.features)?;
                let trees = ensemble.trees().to_vec();
                Ok(Self { base: ensemble.base(), start: trees.len(), trees, dart_bytes: None })
            }
            (None, None) => Ok(Self { base, trees: Vec::new(), start: 0, dart_bytes: None }),
        }
    }
}

/// The start model's ensemble, its features numbered as in the data.
fn ensemble(model: &Model, data: &Dataset, options: ScoreOptions) -> Result<Ensemble, LearnError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(LearnError::StartNotTrees { kind: model.body().name() });
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
