//! A simulated click log: rankings of labelled feature data, and users that click on them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use rankwright_clicks::Impression;
use rankwright_clicks::log::write::{LogTarget, LogWriteError, LogWriter};
use rankwright_clicks::simulate::{LoggedRanking, LoggingRanker, SimulatedUser, counted_sessions};
use rankwright_data::store::write_atomic_with;
use rankwright_data::{DEFAULT_SEED, Dataset, Random};
use rankwright_model::MatchOptions;
use rankwright_spec::{check_params, params};
use serde::Serialize;

use super::feature_rows::document_id;
use crate::tasks::context::RunningTask;
use crate::tasks::matching::score_data;
use crate::tasks::{Context, DataFiles, ReadRules, TaskError, TaskInputs, Warning, load_model};

/// Number of pages that are made before they are written.
const BLOCK: u64 = 8192;

/// Number of queries whose pages are counted before they are written.
const QUERY_BLOCK: u64 = 64;

/// The most impressions that a line of the log stands for.
const MAX_COUNT: u64 = 1_000_000;

/// The scores by which the logged rankings are made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggingScores {
    /// Those of a model.
    Model(PathBuf),
    /// The values of a feature, by its name or number. A missing value counts as the lowest one of
    /// the data; as the highest one if the order is reversed, so that it is shown last, too.
    Feature(String),
}

params! {
    /// The size of a simulated click log.
    pub struct SimulateOptions {
        sessions: u64 = 10, 1..=1_000_000_000, "Sessions of each query; a session is one page.";
        top: Option<usize> = None, 1.., "Show only this many documents.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the draws.";
    }
}

/// Labelled feature data, a ranker, users, and the log to write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SimulateClicksRequest {
    /// The data; its labels are the grades that users see.
    pub data: DataFiles,
    /// The scores of the logged rankings.
    pub scores: LoggingScores,
    /// The rule that matches the features of the data with those of the model.
    pub matching: MatchOptions,
    /// Whether the scores are reversed: the lowest first.
    pub reverse: bool,
    /// The ranker that makes pages from the scores.
    pub ranker: LoggingRanker,
    /// The users.
    pub user: SimulatedUser,
    /// The number of sessions and of documents of a page, and the seed.
    pub options: SimulateOptions,
    /// Whether equal pages of a query are one line with their number, so that a log of many sessions
    /// stays small. They have no session then, and follow each other query by query.
    pub count_pages: bool,
    /// The log: JSON lines with `session`, `query`, `docs`, `clicks`, `ranker` and, of a stochastic
    /// ranker, `propensities`.
    pub out: PathBuf,
}

impl TaskInputs for SimulateClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let model = match &self.scores {
            LoggingScores::Model(path) => Some(path.as_path()),
            LoggingScores::Feature(_) => None,
        };
        self.data.paths().chain(model).map(Path::to_owned).collect()
    }
}

impl SimulateClicksRequest {
    /// Ten sessions a query on pages by score, with all documents.
    pub fn new(
        data: DataFiles,
        scores: LoggingScores,
        user: SimulatedUser,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self {
            data,
            scores,
            matching: MatchOptions::default(),
            reverse: false,
            ranker: LoggingRanker::fixed(),
            user,
            options: SimulateOptions::default(),
            count_pages: false,
            out: out.into(),
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

/// The log that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulateClicksResult {
    /// The file.
    pub out: PathBuf,
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

/// Writes a simulated click log. Sessions follow each other, each with a page of every query; the
/// result depends on the seed alone, not on the number of threads. A log of counted pages has the
/// same impressions.
pub fn simulate_clicks(
    request: &SimulateClicksRequest,
    context: &Context<'_>,
) -> Result<SimulateClicksResult, TaskError> {
    check_params(&request.options, "simulation")?;
    request.check_files([request.out.as_path()])?;
    let mut task = RunningTask::new(context);
    let (data, scores) = scored(request, &mut task)?;
    let ranker = request.ranker.spec();
    let queries: Vec<SimulatedQuery> =
        (0..data.queries()).map(|query| SimulatedQuery::new(&data, &scores, query)).collect();
    let (mut clicks, mut without_click) = (0, 0);
    // The range of sessions and the number of rows of a data set keep this below 2^63.
    let impressions = request.options.sessions * queries.len() as u64;
    let step = format!("simulating {}", request.out.display());
    let simulate = || {
        write_atomic_with(&request.out, |out| {
            let (all, block_length) = match request.count_pages {
                true => (queries.len() as u64, QUERY_BLOCK),
                false => (impressions, BLOCK),
            };
            for block_start in (0..all).step_by(block_length as usize) {
                if context.is_cancelled() {
                    return Err(TaskError::Cancelled);
                }
                let block = block_start..all.min(block_start + block_length);
                for lines in made_lines(request, &queries, &ranker, block)? {
                    clicks += lines.clicks;
                    without_click += lines.without_click;
                    out.write_all(&lines.text).map_err(LogWriteError::from)?;
                }
            }
            Ok(())
        })
    };
    let ((), seconds) = task.step(&step, simulate)?;
    Ok(SimulateClicksResult {
        out: request.out.clone(),
        ranker,
        user: request.user.spec(),
        queries: queries.len(),
        impressions,
        clicks,
        without_click,
        seconds,
        warnings: task.into_warnings(),
    })
}

/// The data, and the score of each of its rows; higher scores are ranked first.
fn scored(
    request: &SimulateClicksRequest,
    task: &mut RunningTask<'_>,
) -> Result<(Dataset, Vec<f64>), TaskError> {
    let (data, mut scores) = match &request.scores {
        LoggingScores::Model(path) => {
            let model = load_model(path)?;
            let loaded = request.data.load(Some(ReadRules::of_model(&model)), task)?;
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
    fill_missing(&mut scores);
    Ok((data, scores))
}

/// Sets scores that are not finite to the lowest one that is; to 0 if there is none.
fn fill_missing(scores: &mut [f64]) {
    let finite = scores.iter().copied().filter(|score| score.is_finite());
    let lowest = finite.min_by(f64::total_cmp).unwrap_or(0.0);
    for score in scores.iter_mut().filter(|score| !score.is_finite()) {
        *score = lowest;
    }
}

/// A query whose pages are simulated.
struct SimulatedQuery {
    id: String,
    documents: Vec<String>,
    scores: Vec<f64>,
    grades: Vec<f64>,
}

impl SimulatedQuery {
    fn new(data: &Dataset, scores: &[f64], query: usize) -> Self {
        let query = data.query(query);
        let documents = query.rows.clone().map(|row| document_id(data, row));
        Self {
            id: query.id.to_owned(),
            documents: documents.collect(),
            scores: scores[query.rows].to_vec(),
            grades: query.labels.to_vec(),
        }
    }
}

/// Some lines of the log.
#[derive(Default)]
struct SimulatedLines {
    text: Vec<u8>,
    clicks: u64,
    /// Number of impressions without a click.
    without_click: u64,
}

/// Makes the lines of the pages with these numbers, or of the queries with these numbers if pages
/// are counted; in parallel if the build allows.
fn made_lines(
    request: &SimulateClicksRequest,
    queries: &[SimulatedQuery],
    ranker: &str,
    numbers: Range<u64>,
) -> Result<Vec<SimulatedLines>, LogWriteError> {
    let lines = |number: u64| match request.count_pages {
        true => counted_lines(request, queries, ranker, number),
        false => page_line(request, queries, ranker, number),
    };
    #[cfg(feature = "train")]
    {
        use rayon::prelude::*;
        numbers.into_par_iter().map(lines).collect()
    }
    #[cfg(not(feature = "train"))]
    numbers.map(lines).collect()
}

/// The line of one page.
fn page_line(
    request: &SimulateClicksRequest,
    queries: &[SimulatedQuery],
    ranker: &str,
    number: u64,
) -> Result<SimulatedLines, LogWriteError> {
    let session = number / queries.len() as u64;
    let query = &queries[(number % queries.len() as u64) as usize];
    let mut random = Random::new(request.options.seed, number);
    let shown = request.ranker.rank(&query.scores, request.options.top, &mut random);
    let clicked = request.user.clicks(&query.grades_of(&shown), &mut random);
    let mut page = query.page(&shown, &clicked, ranker);
    page.session = (session + 1).to_string();
    let mut lines = SimulatedLines::default();
    lines.add(&page)?;
    Ok(lines)
}

/// The distinct pages of a query in all sessions, in the order of their first session.
fn counted_lines(
    request: &SimulateClicksRequest,
    queries: &[SimulatedQuery],
    ranker: &str,
    number: u64,
) -> Result<SimulatedLines, LogWriteError> {
    let query = &queries[number as usize];
    // The draws are those of the pages in a log of all pages.
    let streams =
        (0..request.options.sessions).map(|session| session * queries.len() as u64 + number);
    let pages = counted_sessions(
        &request.ranker,
        &request.user,
        &query.scores,
        &query.grades,
        request.options.top,
        &mut streams.map(|stream| Random::new(request.options.seed, stream)),
    );
    let mut lines = SimulatedLines::default();
    for counted in pages {
        let mut page = query.page(&counted.shown, &counted.clicked, ranker);
        let mut rest = counted.count;
        while rest > 0 {
            page.count = rest.min(MAX_COUNT);
            rest -= page.count;
            lines.add(&page)?;
        }
    }
    Ok(lines)
}

impl SimulatedQuery {
    /// The grades of the shown documents.
    fn grades_of(&self, shown: &LoggedRanking) -> Vec<f64> {
        shown.order.iter().map(|index| self.grades[*index]).collect()
    }

    /// An impression of the shown documents with these clicks.
    fn page(&self, shown: &LoggedRanking, clicked: &[bool], ranker: &str) -> Impression {
        let documents = shown.order.iter().map(|index| self.documents[*index].as_str());
        let clicks = (1..).zip(clicked).filter(|(_, clicked)| **clicked).map(|(rank, _)| rank);
        let mut page = Impression::new(self.id.as_str(), documents).clicked(clicks);
        page.ranker = ranker.to_owned();
        page.propensities.clone_from(&shown.propensities);
        page
    }
}

impl SimulatedLines {
    fn add(&mut self, page: &Impression) -> Result<(), LogWriteError> {
        let mut writer = LogWriter::new(LogTarget::Lists, &mut self.text)?;
        writer.write(page)?;
        writer.finish()?;
        self.clicks += page.clicks.len() as u64 * page.count;
        self.without_click += if page.clicks.is_empty() { page.count } else { 0 };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_score_is_the_lowest_of_positive_and_of_negative_scores() {
        for (found, expected) in [([7.0, 5.0], 5.0), ([-7.0, -5.0], -7.0)] {
            let mut scores = [found[0], f64::NAN, found[1]];
            fill_missing(&mut scores);
            assert_eq!(scores, [found[0], expected, found[1]]);
        }
        let mut scores = [f64::NAN, f64::NEG_INFINITY];
        fill_missing(&mut scores);
        assert_eq!(scores, [0.0, 0.0]);
    }
}
