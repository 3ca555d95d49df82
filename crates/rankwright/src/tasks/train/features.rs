//! Features of validation data and of a start model, matched with those of the training data.
//!
//! The new model has the features of the training data, so validation data may lack some of them
//! (absent values) but may have no others. A start model scores the training data, and passes its
//! features on to the new model. A feature that the other side does not know is an error unless
//! extra features are ignored. Names match names, and numbers match numbers, unless features are
//! matched by position.

use rankwright_data::Dataset;
use rankwright_model::{Header, MatchOptions, Matching, Model, ModelError};

use crate::tasks::TaskError;
#[cfg(feature = "search")]
use crate::tasks::Warning;
use crate::tasks::context::RunningTask;

/// Matches validation data with the training data.
pub(in crate::tasks) fn check_validation(
    train: &Dataset,
    name: &str,
    valid: &Dataset,
    options: MatchOptions,
) -> Result<(), TaskError> {
    let mut known = Header::new(train.features().clone(), train.absent());
    known.table_columns = train.table_columns().cloned();
    let matching = Matching::new(&known, valid.features(), options)
        .map_err(|error| mismatch(error, name, TRAINING))?;
    known.check_categories(valid, &matching)?;
    Ok(())
}

/// Matches a start model with the training data, in both directions.
pub(super) fn check_start(
    train: &Dataset,
    name: &str,
    start: &Model,
    options: MatchOptions,
) -> Result<(), TaskError> {
    let name = format!("the start model {name}");
    Matching::new(start.header(), train.features(), options)
        .map_err(|error| mismatch(error, TRAINING, &name))?;
    let known = Header::new(train.features().clone(), train.absent());
    match Matching::new(&known, &start.header().features, options) {
        // Ids that the start model knows and sparse data does not have are absent values.
        Err(error @ (ModelError::UnknownFeatures { .. } | ModelError::UnknownNumbers { .. })) => {
            Err(mismatch(error, &name, TRAINING))
        }
        _ => Ok(()),
    }
}

/// The training data in messages.
const TRAINING: &str = "the training data";

/// The error of a mismatch between the features of `input` and those of `other`.
fn mismatch(error: ModelError, input: &str, other: &str) -> TaskError {
    let (input, other) = (input.to_owned(), other.to_owned());
    match error {
        ModelError::UnknownFeatures { count, names }
        | ModelError::UnknownNumbers { count, names, .. } => {
            TaskError::UnknownFeatures { found_in: input, unknown_to: other, count, names }
        }
        ModelError::MissingFeatures { count, names } => {
            TaskError::MissingFeatures { missing_in: input, found_in: other, count, names }
        }
        ModelError::NamesAndNumbers { model, data } => TaskError::NamesAndNumbers {
            first: other,
            first_naming: model,
            second: input,
            second_naming: data,
        },
        error => error.into(),
    }
}

/// Warns if the feature set of the training data does not describe its features. The model
/// records the set in every case, since the learner writes the header; an index that is to compute
/// the features checks them by their names.
#[cfg(feature = "search")]
pub(in crate::tasks) fn check_feature_set(data: &Dataset, task: &mut RunningTask<'_>) {
    use rankwright_search::FeatureSet;
    let Some(text) = data.feature_set() else { return };
    match FeatureSet::from_toml(text) {
        Ok(set) => {
            let names = set.features.iter().map(|name| name.as_str());
            if !data.features().iter().eq(names) {
                task.warn(Warning::OtherFeatureSet);
            }
        }
        Err(error) => task.warn(Warning::BadFeatureSet { message: error.to_string() }),
    }
}

/// Without search there is no reader of feature sets.
#[cfg(not(feature = "search"))]
pub(in crate::tasks) fn check_feature_set(_data: &Dataset, _task: &mut RunningTask<'_>) {}

#[cfg(all(test, feature = "search"))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tasks::{Context, TrainModelRequest, TrainModelResult, train_model};
    use rankwright_data::format::{Format, write};
    use rankwright_learn::LearnerSpec;
    use rankwright_learn::prelude::*;

    fn data(feature_set: &str) -> Dataset {
        let rows = [[0.1, 3.0], [0.9, 1.0], [0.4, 2.0], [0.8, 0.0], [0.2, 5.0], [0.7, 4.0]];
        Dataset::from_rows(rows, ["bm25", "age"])
            .labels([0, 2, 1, 1, 0, 1])
            .query_ids(["red", "red", "red", "blue", "blue", "blue"])
            .feature_set(feature_set)
            .build()
            .unwrap()
    }

    fn train(folder: &Path, data: &Dataset) -> TrainModelResult {
        let file = folder.join("train.rwd");
        write(data, &file, Format::Cache).unwrap();
        let learner = LearnerSpec::parse("mart(trees=2, leaves=2, min_rows=1)").unwrap();
        let out = folder.join("m.model");
        let request = TrainModelRequest::new(learner, file).out(out);
        train_model(&request, &Context::default()).unwrap()
    }

    /// The learner alone writes the header, so that a task and a program give the same model.
    #[test]
    fn the_task_gives_the_bytes_of_fit_whatever_the_feature_set_names() {
        let folder = tempfile::tempdir().unwrap();
        for (set, kinds) in [
            ("features = [\"bm25\", \"age\"]\n", &[][..]),
            ("features = [\"bm25\"]\n", &["other-feature-set"][..]),
            ("features = 3\n", &["bad-feature-set"][..]),
        ] {
            let data = data(set);
            let result = train(folder.path(), &data);
            let fitted = Mart::new().trees(2).leaves(2).min_rows(1).fit(&data).unwrap().model;
            assert!(
                std::fs::read(result.model.as_ref().unwrap()).unwrap() == fitted.to_bytes(),
                "{set}"
            );
            assert_eq!(fitted.header().feature_set.as_deref(), Some(set));
            let found: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
            assert_eq!(found, kinds, "{set}");
        }
    }
}
