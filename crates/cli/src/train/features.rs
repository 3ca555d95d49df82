//! Whether the features of validation data and of a start model are those of the training data.
//!
//! The rule is that of `score`: the model to come knows the features of the training data, so
//! validation data may lack some of them (absent values) but may have no others; a start model
//! scores the training data, and hands its features on to the model to come. What the other side
//! does not know is an error unless `--ignore-extra` is given. Matching by position is said aloud.

use std::path::Path;

use rankwright::data::Dataset;
use rankwright::model::{Header, Matching, Model, ModelBody, ModelError};
use rankwright::search::{FEATURES_NOTE, FeatureSet};

use crate::failure::Failure;
use crate::output::Output;

/// Matches validation data with the training data.
pub(crate) fn check_valid(
    train: &Dataset,
    path: &Path,
    valid: &Dataset,
    ignore_extra: bool,
    out: &Output,
) -> Result<(), Failure> {
    let known = Header::new(train.features().clone(), train.absent());
    let matching = Matching::new(&known, valid.features(), ignore_extra).map_err(|error| {
        mismatch(error, &path.display().to_string(), "the training data", IGNORE)
    })?;
    tell(&matching, path, out);
    Ok(())
}

/// Matches a start model with the training data, in both directions.
pub(super) fn check_start(
    train: &Dataset,
    path: &Path,
    start: &Model,
    ignore_extra: bool,
    out: &Output,
) -> Result<(), Failure> {
    // That trees can be added to trees only is for the learner to say.
    if !matches!(start.body(), ModelBody::Trees(_)) {
        return Ok(());
    }
    let name = path.display().to_string();
    let matching = Matching::new(start.header(), train.features(), ignore_extra);
    let matching = matching.map_err(|error| {
        mismatch(error, "the training data", &format!("the start model {name}"), NEW)
    })?;
    tell(&matching, path, out);
    let known = Header::new(train.features().clone(), train.absent());
    let back = Matching::new(&known, &start.header().features, ignore_extra);
    match back {
        // Ids that the start model knows and sparse data does not have are told by name.
        Err(error @ ModelError::UnknownFeatures { .. }) => Err(mismatch(
            error,
            &format!("the start model {name}"),
            "the training data",
            "check that this is the right model; --ignore-extra leaves out those that none of its \
             trees asks for",
        )),
        _ => Ok(()),
    }
}

const IGNORE: &str = "check that this is the right data; --ignore-extra passes over them";
const NEW: &str = "check that this is the right model; with --ignore-extra its trees pass over \
                   them, and new trees may use them";

/// A mismatch in the words of training: who has what, who does not know it, and the way out.
fn mismatch(error: ModelError, holder: &str, knower: &str, help: &str) -> Failure {
    let (message, help) = match error {
        ModelError::UnknownFeatures { count, names } => {
            let features = if count == 1 { "a feature" } else { &format!("{count} features") };
            (format!("{holder} has {features} that {knower} does not know: {names}"), help)
        }
        ModelError::MissingFeatures { count, names } => (
            format!("{holder} lacks {count} of the features of {knower}: {names}"),
            "add these columns, or rename them so that both agree",
        ),
        other => return other.into(),
    };
    Failure::Mismatch { message, help: help.to_owned() }
}

fn tell(matching: &Matching, path: &Path, out: &Output) {
    if matching.by_position() {
        out.note(format!(
            "only one of {} and the training data has feature names: features are matched by \
             their order",
            path.display()
        ));
    }
}

/// The model with the feature set of its data, so that `search` and `run` compute what was trained on.
pub(crate) fn with_set(model: Model, data: &Dataset, out: &Output) -> Result<Model, Failure> {
    let Some(text) = data.feature_set() else { return Ok(model) };
    let set = FeatureSet::from_toml(text)?;
    let (mut header, kind) = model.into_parts();
    if !header.features.iter().eq(set.features.iter().map(|name| name.as_str())) {
        out.note("the feature set of the data names other features than the data has: left out");
        return Ok(Model::new(header, kind)?);
    }
    header.notes.insert(FEATURES_NOTE.to_owned(), set.to_toml());
    Ok(Model::new(header, kind)?)
}
