//! Matches a model's features with those of a data set.

use rankwright_data::Dataset;
use rankwright_model::{MatchOptions, Matching, Model, ScoreOptions};

use super::context::RunningTask;
use super::{Context, TaskError, Warning};

/// Checks that a model can score a data set. Returns the names of the features that scores depend
/// on and the data lacks, and warnings about these and about texts that the model does not know.
pub fn match_features(
    model: &Model,
    data: &Dataset,
    options: MatchOptions,
) -> Result<(Vec<String>, Vec<Warning>), TaskError> {
    let context = Context::default();
    let mut task = RunningTask::new(&context);
    let missing = check(model, data, options, &mut task)?;
    Ok((missing, task.into_warnings()))
}

/// Like [`match_features`]; the warnings are added to the task.
pub(super) fn check(
    model: &Model,
    data: &Dataset,
    options: MatchOptions,
    task: &mut RunningTask<'_>,
) -> Result<Vec<String>, TaskError> {
    let matching = Matching::new(model.header(), data.features(), options)?;
    let used = model.used_features();
    let names = &model.header().features;
    let missing = used.iter().filter(|feature| matching.column(**feature).is_none());
    let missing: Vec<String> = missing.map(|feature| names.name(*feature).into_owned()).collect();
    if !missing.is_empty() {
        task.warn(Warning::MissingFeatures {
            names: missing.clone(),
            used: used.len(),
            taken_as: model.header().absent.name(),
        });
    }
    for unseen in model.unseen_categories(data, &matching) {
        task.warn(Warning::UnseenCategories(unseen));
    }
    Ok(missing)
}

/// Scores of a data set in its row order, the features that it lacks, and the seconds of scoring.
pub(super) fn score_data(
    model: &Model,
    data: &Dataset,
    options: MatchOptions,
    task: &mut RunningTask<'_>,
) -> Result<(Vec<f64>, Vec<String>, f64), TaskError> {
    let missing = check(model, data, options, task)?;
    let options = ScoreOptions::new().matching(options).simd(task.simd());
    let (scores, seconds) = task.step("scoring", || model.score(data, options))?;
    Ok((scores, missing, seconds))
}
