//! The examination of positions, read from a file into the parameters of learners.

use std::path::Path;

use rankwright_data::bytes::read_text_file;
use rankwright_learn::{BiasCorrection, BiasFile, LearnError, LearnerSpec};

use super::TrainModelRequest;
use crate::tasks::TaskError;

/// The request with the examination of its file as parameters of its learner, and the estimator
/// that the file names; `None` if the request has no such file.
pub(super) fn with_examination(
    request: &TrainModelRequest,
) -> Result<Option<(TrainModelRequest, Option<String>)>, TaskError> {
    let Some(path) = &request.bias else { return Ok(None) };
    let file = read(path)?;
    let learner = file.set(&request.learner)?;
    Ok(Some((TrainModelRequest { learner, ..request.clone() }, file.estimator)))
}

/// Learners with the examination of positions that a file has; those without `bias=ips` or
/// `bias=dr` stay as they are. An error if no learner takes an examination.
///
/// ```
/// use rankwright::learn::LearnerSpec;
/// use rankwright::tasks::learners_with_examination;
///
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("bias.txt");
/// std::fs::write(&file, "1 1\n2 0.5\n")?;
/// let learners = [LearnerSpec::parse("lambdamart")?, LearnerSpec::parse("mart(bias=ips)")?];
/// let set = learners_with_examination(&learners, &file)?;
/// assert_eq!(set[0].to_string(), "lambdamart");
/// assert_eq!(set[1].to_string(), "mart(bias=ips, examination=1/0.5)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learners_with_examination(
    learners: &[LearnerSpec],
    path: &Path,
) -> Result<Vec<LearnerSpec>, TaskError> {
    let file = read(path)?;
    let takes_it = |learner: &LearnerSpec| {
        let bias = learner.parameter("bias");
        [BiasCorrection::Ips, BiasCorrection::Dr].iter().any(|b| bias.as_deref() == Some(b.name()))
    };
    if let Some(first) = learners.first()
        && !learners.iter().any(takes_it)
    {
        // The error says what the learner would need.
        file.set(first)?;
    }
    let set = |learner: &LearnerSpec| match takes_it(learner) {
        true => Ok(file.set(learner)?),
        false => Ok(learner.clone()),
    };
    learners.iter().map(set).collect()
}

fn read(path: &Path) -> Result<BiasFile, TaskError> {
    BiasFile::parse(&read_text_file(path)?).map_err(|problem| {
        TaskError::Learn(LearnError::BiasFile { file: path.display().to_string(), problem })
    })
}
