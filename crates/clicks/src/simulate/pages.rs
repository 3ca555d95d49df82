//! A simulated log of labelled feature data: rankings of each query, and users that click on them.
//!
//! Sessions follow each other, each with a page of every query. The lines depend on the seed alone,
//! not on the number of threads: each page has its own stream of random numbers. A log of counted
//! pages has the same impressions; equal pages of a query are one line with their number.

use std::ops::Range;

use rankwright_data::{DEFAULT_SEED, Dataset, Random};
use rankwright_spec::params;
use rayon::prelude::*;

use super::{LoggedRanking, LoggingRanker, SimulatedUser, counted_sessions};
use crate::feature_rows::document_id;
use crate::impression::Impression;
use crate::log::write::{LogTarget, LogWriteError, LogWriter};

/// Number of pages that are made before they are written.
const BLOCK: u64 = 8192;

/// Number of queries whose pages are counted before they are written.
const QUERY_BLOCK: u64 = 64;

/// The most impressions that a line of the log stands for.
const MAX_COUNT: u64 = 1_000_000;

params! {
    /// The size of a simulated click log.
    pub struct SimulateOptions {
        sessions: u64 = 10, 1..=1_000_000_000, "Sessions of each query; a session is one page.";
        top: Option<usize> = None, 1.., "Show only this many documents.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the draws.";
    }
}

/// Sets scores that are not finite to the lowest one that is; to 0 if there is none.
pub fn fill_missing_scores(scores: &mut [f64]) {
    let finite = scores.iter().copied().filter(|score| score.is_finite());
    let lowest = finite.min_by(f64::total_cmp).unwrap_or(0.0);
    for score in scores.iter_mut().filter(|score| !score.is_finite()) {
        *score = lowest;
    }
}

/// A query whose pages are simulated.
#[derive(Debug, Clone)]
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

/// Some lines of a simulated log.
#[derive(Debug, Clone, Default)]
pub struct SimulatedLines {
    /// The lines.
    pub text: Vec<u8>,
    /// Number of clicks.
    pub clicks: u64,
    /// Number of impressions without a click.
    pub without_click: u64,
}

impl SimulatedLines {
    fn of(pages: &[Impression]) -> Result<Self, LogWriteError> {
        let mut lines = Self::default();
        for page in pages {
            let mut writer = LogWriter::new(LogTarget::Lists, &mut lines.text)?;
            writer.write(page)?;
            writer.finish()?;
            lines.clicks += page.clicks.len() as u64 * page.count;
            lines.without_click += if page.clicks.is_empty() { page.count } else { 0 };
        }
        Ok(lines)
    }
}

/// A log to simulate.
#[derive(Debug)]
pub struct SimulatedLog<'a> {
    queries: Vec<SimulatedQuery>,
    ranker: &'a LoggingRanker,
    /// The spec of the ranker, its name in the log.
    ranker_name: String,
    user: &'a SimulatedUser,
    options: &'a SimulateOptions,
    count_pages: bool,
}

impl<'a> SimulatedLog<'a> {
    /// A log of the queries of labelled data, ranked by these scores, one for each row; the labels
    /// are the grades that users see.
    pub fn new(
        data: &Dataset,
        scores: &[f64],
        ranker: &'a LoggingRanker,
        user: &'a SimulatedUser,
        options: &'a SimulateOptions,
    ) -> Self {
        let queries = (0..data.queries()).map(|query| SimulatedQuery::new(data, scores, query));
        let ranker_name = ranker.spec();
        let queries = queries.collect();
        Self { queries, ranker, ranker_name, user, options, count_pages: false }
    }

    /// Sets whether equal pages of a query are one line with their number.
    #[must_use]
    pub fn count_pages(mut self, count_pages: bool) -> Self {
        self.count_pages = count_pages;
        self
    }

    /// Number of impressions of the whole log.
    pub fn impressions(&self) -> u64 {
        // The range of sessions and the number of rows of a data set keep this below 2^63.
        self.options.sessions * self.queries.len() as u64
    }

    /// The parts of the log, in order, that are made and written one after the other.
    pub fn blocks(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let (all, length) = match self.count_pages {
            true => (self.queries.len() as u64, QUERY_BLOCK),
            false => (self.impressions(), BLOCK),
        };
        (0..all).step_by(length as usize).map(move |start| start..all.min(start + length))
    }

    /// The lines of one of the [`blocks`](Self::blocks), made on all threads.
    pub fn lines(&self, block: Range<u64>) -> Result<Vec<SimulatedLines>, LogWriteError> {
        let lines = |number: u64| SimulatedLines::of(&self.pages_of(number));
        block.into_par_iter().map(lines).collect()
    }

    /// The pages of one of the [`blocks`](Self::blocks), made on all threads.
    pub fn pages(&self, block: Range<u64>) -> Vec<Impression> {
        block.into_par_iter().flat_map_iter(|number| self.pages_of(number)).collect()
    }

    /// The pages of a number of a block.
    fn pages_of(&self, number: u64) -> Vec<Impression> {
        match self.count_pages {
            true => self.counted_pages(number),
            false => vec![self.page(number)],
        }
    }

    /// One page.
    fn page(&self, number: u64) -> Impression {
        let session = number / self.queries.len() as u64;
        let query = &self.queries[(number % self.queries.len() as u64) as usize];
        let mut random = Random::new(self.options.seed, number);
        let shown = self.ranker.rank(&query.scores, self.options.top, &mut random);
        let clicked = self.user.clicks(&query.grades_of(&shown), &mut random);
        let mut page = query.page(&shown, &clicked, &self.ranker_name);
        page.session = (session + 1).to_string();
        page
    }

    /// The distinct pages of a query in all sessions, in the order of their first session.
    fn counted_pages(&self, number: u64) -> Vec<Impression> {
        let query = &self.queries[number as usize];
        // The draws are those of the pages in a log of all pages.
        let queries = self.queries.len() as u64;
        let streams = (0..self.options.sessions).map(|session| session * queries + number);
        let distinct = counted_sessions(
            self.ranker,
            self.user,
            &query.scores,
            &query.grades,
            self.options.top,
            &mut streams.map(|stream| Random::new(self.options.seed, stream)),
        );
        let mut pages = Vec::new();
        for counted in distinct {
            let mut page = query.page(&counted.shown, &counted.clicked, &self.ranker_name);
            let mut rest = counted.count;
            while rest > 0 {
                page.count = rest.min(MAX_COUNT);
                rest -= page.count;
                pages.push(page.clone());
            }
        }
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_score_is_the_lowest_of_positive_and_of_negative_scores() {
        for (found, expected) in [([7.0, 5.0], 5.0), ([-7.0, -5.0], -7.0)] {
            let mut scores = [found[0], f64::NAN, found[1]];
            fill_missing_scores(&mut scores);
            assert_eq!(scores, [found[0], expected, found[1]]);
        }
        let mut scores = [f64::NAN, f64::NEG_INFINITY];
        fill_missing_scores(&mut scores);
        assert_eq!(scores, [0.0, 0.0]);
    }
}
