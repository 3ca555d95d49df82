//! Models that meet data.

use std::path::Path;

use rankwright::data::Dataset;
use rankwright::model::Model;
use rankwright::tasks::{load_model, match_features};

use crate::failure::Failure;
use crate::output::Output;

/// Reads a model of any known format from a file, or from standard input for `-`.
pub(crate) fn load(path: &Path) -> Result<Model, Failure> {
    Ok(load_model(path)?)
}

/// Checks that a model can score data, and notes what the data lacks. Gives the names of these
/// features.
pub(crate) fn warn_matching(
    model: &Model,
    data: &Dataset,
    ignore_extra: bool,
    out: &Output,
) -> Result<Vec<String>, Failure> {
    let (lacking, warnings) = match_features(model, data, ignore_extra)?;
    warnings.iter().for_each(|warning| out.note(warning.to_string()));
    Ok(lacking)
}
