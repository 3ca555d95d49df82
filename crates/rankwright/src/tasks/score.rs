//! Scores feature data with a model: one number for each row, alone or with the ids of the row, or
//! as a run. Models whose scores mean something in terms of labels also predict grades,
//! probabilities or classes.

use std::path::{Path, PathBuf};

use rankwright_data::{Dataset, ScoreFormat, ScoredRows};
use rankwright_eval::{OrderRule, Orderer, Rows};
use rankwright_model::{MatchOptions, PredictionKind};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::context::RunningTask;
use super::matching::score_data;
use super::paths::check_used;
use super::{Context, DataSource, ModelSource, ReadRules, TaskError, TaskInputs, Warning};

/// A model and the data to score.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ScoreRequest {
    /// The model.
    pub model: ModelSource,
    /// The data.
    pub data: DataSource,
    /// The rule that matches the features of the data with those of the model.
    #[serde(default)]
    pub matching: MatchOptions,
    /// File to write the scores to, where given; otherwise the result alone has them.
    pub out: Option<PathBuf>,
    /// Format of the file; chosen by its extension if not given, one score per line for an unknown
    /// one.
    pub format: Option<ScoreFormat>,
    /// Whether the scores come with the ids of their queries and documents. One score per line then
    /// becomes a table separated by tabs.
    #[serde(default)]
    pub ids: bool,
    /// The name of a run, its last column.
    #[serde(default = "default_tag")]
    pub tag: String,
    /// The predictions that are written instead of scores, if any.
    pub predict: Option<PredictionKind>,
    /// The lowest relevant label of probabilities and classes; that of the training if not given,
    /// or 1 for ordinal models.
    pub rel: Option<f64>,
}

impl TaskInputs for ScoreRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.data.paths().chain(self.model.path()).map(Path::to_owned).collect()
    }
}

/// Name of a run of a request that gives none.
fn default_tag() -> String {
    ScoreRequest::DEFAULT_TAG.to_owned()
}

impl ScoreRequest {
    /// The name of a run if none is given.
    pub const DEFAULT_TAG: &'static str = "rankwright";

    /// Scores this data with this model.
    pub fn new(model: impl Into<ModelSource>, data: impl Into<DataSource>) -> Self {
        ScoreRequest {
            model: model.into(),
            data: data.into(),
            matching: MatchOptions::default(),
            out: None,
            format: None,
            ids: false,
            tag: default_tag(),
            predict: None,
            rel: None,
        }
    }

    /// Sets the rule that matches the features of the data with those of the model.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Writes the scores to this file.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the format of the file.
    pub fn format(mut self, format: ScoreFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets whether the scores come with ids.
    pub fn ids(mut self, ids: bool) -> Self {
        self.ids = ids;
        self
    }

    /// Sets the name of a run.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = tag.into();
        self
    }

    /// Writes predictions instead of scores.
    pub fn predict(mut self, kind: PredictionKind) -> Self {
        self.predict = Some(kind);
        self
    }

    /// Sets the lowest relevant label of probabilities and classes.
    pub fn rel(mut self, rel: f64) -> Self {
        self.rel = Some(rel);
        self
    }

    /// The format to write.
    fn written_format(&self) -> ScoreFormat {
        let of_path = || self.out.as_ref().map_or(ScoreFormat::Scores, ScoreFormat::from_path);
        match self.format.unwrap_or_else(of_path) {
            ScoreFormat::Scores if self.ids => ScoreFormat::Tsv,
            format => format,
        }
    }
}

/// Scores, and the seconds of the steps.
///
/// It serialises to these; scores and ids only if they were not written to a file.
#[derive(Debug, Clone)]
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
    /// The file that was written, and its format.
    pub out: Option<(PathBuf, ScoreFormat)>,
    /// A score for each row, in the row order of the files.
    pub scores: Vec<f64>,
    /// The predictions, if they were requested: their kind, and a number for each row, in the row
    /// order of the files.
    pub predictions: Option<(PredictionKind, Vec<f64>)>,
    /// The ids of the rows, if they were requested and no file was written.
    pub ids: Option<RowIds>,
}

/// The ids of rows.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RowIds {
    /// The query of each row.
    pub query_ids: Vec<String>,
    /// The document of each row; or its row number in the input, from 0, if the data has no ids.
    pub doc_ids: Vec<String>,
}

impl Serialize for ScoreResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("rows", &self.rows)?;
        map.serialize_entry("seconds", &self.seconds)?;
        map.serialize_entry("features_not_in_data", &self.features_not_in_data)?;
        map.serialize_entry("warnings", &self.warnings)?;
        match &self.out {
            Some((path, format)) => {
                map.serialize_entry("out", path)?;
                map.serialize_entry("format", format.name())?;
            }
            None => map.serialize_entry("scores", &self.scores)?,
        }
        if let Some((kind, predictions)) = &self.predictions {
            map.serialize_entry("prediction", kind.name())?;
            if self.out.is_none() {
                map.serialize_entry("predictions", predictions)?;
            }
        }
        if let Some(ids) = &self.ids {
            map.serialize_entry("query_ids", &ids.query_ids)?;
            map.serialize_entry("doc_ids", &ids.doc_ids)?;
        }
        map.end()
    }
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
    request.check_files(request.out.as_deref())?;
    check_used(request.data.has_pair_file(), "pairs", "scores do not depend on preferences")?;
    let reason = match request.predict {
        None => Some("scores do not depend on it"),
        Some(PredictionKind::Grade) => Some("a grade does not depend on it"),
        Some(_) => None,
    };
    check_used(request.rel.is_some() && reason.is_some(), "rel", reason.unwrap_or_default())?;
    let format = request.written_format();
    let names_run = request.out.is_some() && format == ScoreFormat::Run;
    let has_tag = request.tag != ScoreRequest::DEFAULT_TAG;
    check_used(has_tag && !names_run, "tag", "no run is written")?;
    if format == ScoreFormat::Run && !is_one_word(&request.tag) {
        return Err(TaskError::TagNotOneWord { tag: request.tag.clone() });
    }
    if let (ScoreFormat::Run, Some(kind)) = (format, request.predict) {
        return Err(TaskError::RunOfPredictions { kind: kind.name() });
    }
    let model = request.model.load()?;
    let rules = ReadRules::of_model(&model).matched(request.matching).labels_are_optional();
    let loaded = request.data.load(Some(rules), &mut task)?;
    let data = &loaded.data;
    let (scores, missing, seconds) = score_data(&model, data, request.matching, &mut task)?;
    let predict = |kind| model.predictions(&scores, kind, request.rel).map(|found| (kind, found));
    let predictions = request.predict.map(predict).transpose()?;
    let (column, values) = match &predictions {
        Some((kind, values)) => (kind.name(), values),
        None => ("score", &scores),
    };
    let mut ids = None;
    match &request.out {
        Some(out) => {
            let order = match format {
                ScoreFormat::Run => ranking(data, &scores)?,
                _ => data.rows_by_source(),
            };
            let rows = ScoredRows::new(data, values, &order).column(column);
            rows.save(out, format, &request.tag)?;
        }
        None if request.ids => {
            let order = data.rows_by_source();
            let rows = ScoredRows::new(data, &scores, &order);
            ids = Some(RowIds { query_ids: rows.query_ids(), doc_ids: rows.doc_ids() });
        }
        None => {}
    }
    Ok(ScoreResult {
        rows: scores.len(),
        seconds: ScoreSeconds { load: loaded.seconds, score: seconds },
        features_not_in_data: missing,
        warnings: task.into_warnings(),
        out: request.out.clone().map(|out| (out, format)),
        predictions: match &predictions {
            Some((kind, values)) => Some((*kind, data.to_source_order(values)?)),
            None => None,
        },
        scores: data.to_source_order(&scores)?,
        ids,
    })
}

/// The rows of each query from the highest score to the lowest, equal scores by row.
fn ranking(data: &Dataset, scores: &[f64]) -> Result<Vec<u32>, TaskError> {
    let (mut orderer, mut order) = (Orderer::default(), Vec::with_capacity(data.rows()));
    for query in 0..data.queries() {
        let rows = data.query_rows(query);
        let start = rows.start as u32;
        let ranked = orderer.order(Rows::of_scores(&scores[rows]), OrderRule::STABLE)?;
        order.extend(ranked.iter().map(|row| start + row));
    }
    Ok(order)
}

fn is_one_word(tag: &str) -> bool {
    !tag.is_empty() && !tag.contains(char::is_whitespace)
}
