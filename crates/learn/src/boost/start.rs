//! Starting from a model that is there already: the lectures' BaseModel.
//!
//! New trees are added to the given ones, so the result is one ensemble. The given model's features
//! are found in the data by name or id, and its trees are renumbered to the data's columns.

use rankwright_data::Dataset;
use rankwright_model::{Ensemble, Kind, Matching, Model, ModelError, ScoreOptions, Split, Tree};

use crate::error::LearnError;

/// The start model's ensemble, its features numbered as in the data.
pub(crate) fn ensemble(
    model: &Model,
    data: &Dataset,
    options: ScoreOptions,
) -> Result<Ensemble, LearnError> {
    let Kind::Trees(ensemble) = model.kind() else {
        return Err(LearnError::unfit(
            format!("the start model is a {} model", model.kind().name()),
            "trees can be added to trees only; give a tree model",
        ));
    };
    let (of_model, of_data) = (model.header().absent, data.absent());
    if of_model != of_data {
        return Err(ModelError::Absent { model: of_model.name(), data: of_data.name() }.into());
    }
    let matching = Matching::new(model.header(), data.features(), options.ignore_extra)?;
    let renumbered = |split: &Split| {
        let column = matching.column(split.feature as usize).ok_or_else(|| {
            let name = model.header().features.name(split.feature as usize).into_owned();
            LearnError::unfit(
                format!("the start model uses feature {name}, which the training data lacks"),
                "train on data with the start model's features",
            )
        })?;
        Ok(Split { feature: column as u32, ..*split })
    };
    let tree = |tree: &Tree| {
        let splits = tree.splits().iter().map(renumbered).collect::<Result<_, LearnError>>()?;
        Ok(Tree::new(splits, tree.leaves().to_vec())?)
    };
    let trees = ensemble.trees().iter().map(tree).collect::<Result<_, LearnError>>()?;
    Ok(Ensemble::new(ensemble.base(), trees)?)
}
