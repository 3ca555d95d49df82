//! The examination of positions, read from a file into the parameters of a learner.

use rankwright_data::bytes::read_text_file;
use rankwright_learn::{BiasFile, LearnError};

use super::TrainModelRequest;
use crate::tasks::TaskError;

/// The request with the examination of its file as parameters of its learner, and the estimator
/// that the file names; `None` if the request has no such file.
pub(super) fn with_examination(
    request: &TrainModelRequest,
) -> Result<Option<(TrainModelRequest, Option<String>)>, TaskError> {
    let Some(path) = &request.bias else { return Ok(None) };
    let file = BiasFile::parse(&read_text_file(path)?).map_err(|problem| {
        TaskError::Learn(LearnError::BiasFile { file: path.display().to_string(), problem })
    })?;
    let learner = file.set(&request.learner)?;
    Ok(Some((TrainModelRequest { learner, ..request.clone() }, file.estimator)))
}
