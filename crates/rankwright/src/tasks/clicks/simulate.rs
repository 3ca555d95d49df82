//! A simulated click log: rankings of labelled feature data, and users that click on them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_clicks::Impression;
use rankwright_clicks::log::write::LogWriteError;
use rankwright_clicks::simulate::{
    LoggingRanker, SimulateOptions, SimulatedLog, SimulatedUser, fill_missing_scores,
};
use rankwright_data::Dataset;
use rankwright_data::store::write_atomic_with;
use rankwright_model::MatchOptions;
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use crate::tasks::context::RunningTask;
use crate::tasks::matching::score_data;
use crate::tasks::{Context, DataSource, ModelSource, ReadRules, TaskError, TaskInputs, Warning};

/// The scores by which the logged rankings are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum LoggingScores {
    /// Those of a model.
    Model(ModelSource),
    /// The values of a feature, by its name or number. A missing value counts as the lowest one of
    /// the data; as the highest one if the order is reversed, so that it is shown last, too.
    Feature(String),
}

/// Labelled feature data, a ranker, users, and the log to write.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SimulateClicksRequest {
    /// The data; its labels are the grades that users see.
    pub data: DataSource,
    /// The scores of the logged rankings.
    pub scores: LoggingScores,
    /// The rule that matches the features of the data with those of the model.
    #[serde(default)]
    pub matching: MatchOptions,
    /// Whether the scores are reversed: the lowest first.
    #[serde(default)]
    pub reverse: bool,
    /// The ranker that makes pages from the scores.
    #[serde(default)]
    pub ranker: LoggingRanker,
    /// The users; `pbm` if not given.
    #[serde(default)]
    pub user: SimulatedUser,
    /// The number of sessions and of documents of a page, and the seed.
    #[serde(default)]
    pub options: SimulateOptions,
    /// Whether equal pages of a query are one line with their number, so that a log of many sessions
    /// stays small. They have no session then, and follow each other query by query.
    #[serde(default)]
    pub count_pages: bool,
    /// The log: JSON lines with `session`, `query`, `docs`, `clicks`, `ranker` and, of a stochastic
    /// ranker, `propensities`. Without a file, the result has the pages.
    pub out: Option<PathBuf>,
}

impl TaskInputs for SimulateClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let model = match &self.scores {
            LoggingScores::Model(model) => model.path(),
            LoggingScores::Feature(_) => None,
        };
        self.data.paths().chain(model).map(Path::to_owned).collect()
    }
}

impl SimulateClicksRequest {
    /// Ten sessions a query on pages by score, with all documents, of users by `pbm`.
    pub fn new(data: impl Into<DataSource>, scores: LoggingScores) -> Self {
        Self {
            data: data.into(),
            scores,
            matching: MatchOptions::default(),
            reverse: false,
            ranker: LoggingRanker::default(),
            user: SimulatedUser::default(),
            options: SimulateOptions::default(),
            count_pages: false,
            out: None,
        }
    }

    /// Sets the rule that matches the features of the data with those of the model.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Sets whether the lowest scores come first.
    pub fn reverse(mut self, reverse: bool) -> Self {
        self.reverse = reverse;
        self
    }

    /// Sets the ranker that makes pages from the scores.
    pub fn ranker(mut self, ranker: LoggingRanker) -> Self {
        self.ranker = ranker;
        self
    }

    /// Sets the users.
    pub fn user(mut self, user: SimulatedUser) -> Self {
        self.user = user;
        self
    }

    /// Sets the file of the log.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the number of sessions of each query.
    pub fn sessions(mut self, sessions: u64) -> Self {
        self.options.sessions = sessions;
        self
    }

    /// Sets the number of documents that a page shows.
    pub fn top(mut self, top: Option<usize>) -> Self {
        self.options.top = top;
        self
    }

    /// Sets the seed of the draws.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Sets whether equal pages of a query are one line with their number.
    pub fn count_pages(mut self, count_pages: bool) -> Self {
        self.count_pages = count_pages;
        self
    }
}

/// A simulated log, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulateClicksResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The pages, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<Impression>>,
    /// The spec of the ranker.
    pub ranker: String,
    /// The spec of the users.
    pub user: String,
    /// Number of queries.
    pub queries: usize,
    /// Number of impressions.
    pub impressions: u64,
    /// Number of clicks.
    pub clicks: u64,
    /// Number of impressions without a click.
    pub without_click: u64,
    /// Seconds of simulating and writing.
    pub seconds: f64,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Simulates a click log. Sessions follow each other, each with a page of every query; the
/// result depends on the seed alone, not on the number of threads. A log of counted pages has the
/// same impressions.
pub fn simulate_clicks(
    request: &SimulateClicksRequest,
    context: &Context<'_>,
) -> Result<SimulateClicksResult, TaskError> {
    check_params(&request.options, "simulation")?;
    request.check_files(request.out.as_deref())?;
    let mut task = RunningTask::new(context);
    let (data, scores) = scored(request, &mut task)?;
    let log = SimulatedLog::new(&data, &scores, &request.ranker, &request.user, &request.options)
        .count_pages(request.count_pages);
    let simulated = match &request.out {
        Some(out) => {
            let step = format!("simulating {}", out.display());
            task.step(&step, || write_log(&log, out, context))
        }
        None => task.step("simulating clicks", || collect_log(&log, context)),
    };
    let (SimulatedClicks { clicks, without_click, pages }, seconds) = simulated?;
    Ok(SimulateClicksResult {
        out: request.out.clone(),
        pages,
        ranker: request.ranker.spec(),
        user: request.user.spec(),
        queries: data.queries(),
        impressions: log.impressions(),
        clicks,
        without_click,
        seconds,
        warnings: task.into_warnings(),
    })
}

/// The clicks of a simulated log, and its pages if they are kept in memory.
#[derive(Default)]
struct SimulatedClicks {
    clicks: u64,
    without_click: u64,
    pages: Option<Vec<Impression>>,
}

/// Writes a log, a block of pages after the other.
fn write_log(
    log: &SimulatedLog<'_>,
    out: &Path,
    context: &Context<'_>,
) -> Result<SimulatedClicks, TaskError> {
    let mut found = SimulatedClicks::default();
    write_atomic_with(out, |file| {
        for block in log.blocks() {
            if context.is_cancelled() {
                return Err(TaskError::Cancelled);
            }
            for lines in log.lines(block)? {
                file.write_all(&lines.text).map_err(LogWriteError::from)?;
                found.clicks += lines.clicks;
                found.without_click += lines.without_click;
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Simulates a log into memory.
fn collect_log(
    log: &SimulatedLog<'_>,
    context: &Context<'_>,
) -> Result<SimulatedClicks, TaskError> {
    let mut pages = Vec::new();
    for block in log.blocks() {
        if context.is_cancelled() {
            return Err(TaskError::Cancelled);
        }
        pages.extend(log.pages(block));
    }
    let clicks = pages.iter().map(|page| page.clicks.len() as u64 * page.count).sum();
    let without_click = pages.iter().filter(|page| page.clicks.is_empty());
    let without_click = without_click.map(|page| page.count).sum();
    Ok(SimulatedClicks { clicks, without_click, pages: Some(pages) })
}

/// The data, and the score of each of its rows; higher scores are ranked first.
fn scored(
    request: &SimulateClicksRequest,
    task: &mut RunningTask<'_>,
) -> Result<(Arc<Dataset>, Vec<f64>), TaskError> {
    let (data, mut scores) = match &request.scores {
        LoggingScores::Model(source) => {
            let model = source.load()?;
            let loaded = request
                .data
                .load(Some(ReadRules::of_model(&model).matched(request.matching)), task)?;
            let (scores, ..) = score_data(&model, &loaded.data, request.matching, task)?;
            (loaded.data, scores)
        }
        LoggingScores::Feature(name) => {
            let data = request.data.load(None, task)?.data;
            let column = data.features().column(name).ok_or_else(|| TaskError::UnknownFeature {
                name: name.clone(),
                features: data.columns(),
            })?;
            let scores = (0..data.rows()).map(|row| f64::from(data.matrix().get(row, column)));
            let scores = scores.collect();
            (data, scores)
        }
    };
    if request.reverse {
        scores.iter_mut().for_each(|score| *score = -*score);
    }
    fill_missing_scores(&mut scores);
    Ok((data, scores))
}
