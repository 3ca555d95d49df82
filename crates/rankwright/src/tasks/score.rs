//! Scores feature data with a model: one number for each row.

use std::path::PathBuf;

use rankwright_data::write_scores;
use rankwright_model::MatchOptions;
use serde::Serialize;

use super::context::RunningTask;
use super::matching::score_data;
use super::{
    Context, DataFiles, TaskError, Warning, check_outputs, check_standard_input, load_model,
};

/// A model and the data to score.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ScoreRequest {
    /// File of the model.
    pub model: PathBuf,
    /// The data.
    pub data: DataFiles,
    /// The rule that matches the features of the data with those of the model.
    pub matching: MatchOptions,
    /// File to write the scores to, one per line in row order, where given.
    pub out: Option<PathBuf>,
}

impl ScoreRequest {
    /// Scores this data with this model.
    pub fn new(model: impl Into<PathBuf>, data: DataFiles) -> Self {
        ScoreRequest { model: model.into(), data, matching: MatchOptions::default(), out: None }
    }

    /// Sets whether to ignore features that the model does not know.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Writes the scores to this file.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }
}

/// Scores, and the seconds of the steps.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ScoreResult {
    /// Number of rows.
    pub rows: usize,
    /// Seconds of the steps.
    pub seconds: ScoreSeconds,
    /// Features that scores depend on and the data lacks.
    pub features_not_in_data: Vec<String>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// A score for each row, in the row order of the files.
    #[serde(skip)]
    pub scores: Vec<f64>,
}

/// Seconds of the steps of scoring.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct ScoreSeconds {
    /// Reading the data.
    pub load: f64,
    /// Scoring it.
    pub score: f64,
}

/// Scores feature data with a model.
pub fn score(request: &ScoreRequest, context: &Context<'_>) -> Result<ScoreResult, TaskError> {
    let mut task = RunningTask::new(context);
    let inputs = || request.data.paths().chain([request.model.as_path()]);
    check_standard_input(inputs())?;
    check_outputs(request.out.as_deref(), inputs())?;
    let model = load_model(&request.model)?;
    let loaded = request.data.load(Some(model.header().absent), &mut task)?;
    let (scores, missing, seconds) = score_data(&model, &loaded.data, request.matching, &mut task)?;
    let scores = loaded.data.to_source_order(&scores)?;
    if let Some(out) = &request.out {
        write_scores(out, &scores)?;
    }
    Ok(ScoreResult {
        rows: scores.len(),
        seconds: ScoreSeconds { load: loaded.seconds, score: seconds },
        features_not_in_data: missing,
        warnings: task.into_warnings(),
        scores,
    })
}
