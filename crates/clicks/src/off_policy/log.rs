//! The distinct pages of a log with their propensities, each with its number of impressions.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::PropensityKind;
use crate::error::ClicksError;
use crate::impression::Impression;

/// A page with the number of its impressions.
#[derive(Debug, Clone)]
pub(super) struct LoggedPage {
    /// The number of the query.
    pub(super) query: usize,
    /// The numbers of the shown documents, the first rank first.
    pub(super) documents: Box<[u32]>,
    pub(super) clicked: Box<[bool]>,
    /// The probability of each document given those above; empty if only examination counts.
    pub(super) propensities: Box<[f64]>,
    pub(super) count: f64,
}

/// The distinct pages of a log with their propensities.
#[derive(Debug, Clone, Default)]
pub struct LoggedPages {
    pub(super) queries: Vec<String>,
    /// The number of each document, by its id.
    pub(super) documents: HashMap<String, u32, FixedState>,
    /// The pages, sorted by query.
    pub(super) pages: Vec<LoggedPage>,
    /// The propensities for which the pages were collected.
    pub(super) kind: PropensityKind,
}

impl LoggedPages {
    /// The ids of the queries, in the order of their first appearance.
    pub fn queries(&self) -> &[String] {
        &self.queries
    }

    /// Length of the longest page.
    pub fn max_ranks(&self) -> usize {
        self.pages.iter().map(|page| page.documents.len()).max().unwrap_or(0)
    }
}

/// Collects impressions into [`LoggedPages`].
#[derive(Debug)]
pub struct LoggedPagesBuilder {
    kind: PropensityKind,
    queries: Vec<String>,
    query_numbers: HashMap<String, usize, FixedState>,
    documents: HashMap<String, u32, FixedState>,
    /// For each page its place in the order of first appearance, and its number of impressions.
    pages: HashMap<LoggedKey, (usize, f64), FixedState>,
    /// The query of the first page without propensities.
    without_propensities: Option<String>,
}

/// Query, documents, clicks and the bits of the propensities of a page.
type LoggedKey = (usize, Box<[u32]>, Box<[bool]>, Box<[u64]>);

impl LoggedPagesBuilder {
    /// Collects pages for estimates with these propensities.
    pub fn new(kind: PropensityKind) -> Self {
        Self {
            kind,
            queries: Vec::new(),
            query_numbers: HashMap::default(),
            documents: HashMap::default(),
            pages: HashMap::default(),
            without_propensities: None,
        }
    }

    /// Adds an impression. One without documents is left out.
    pub fn add(&mut self, impression: &Impression) {
        if impression.documents.is_empty() {
            return;
        }
        let propensities: &[f64] = match self.kind {
            PropensityKind::Examination => &[],
            PropensityKind::Page => {
                let known = &impression.propensities;
                let is_complete = known.len() == impression.documents.len()
                    && known.iter().all(|propensity| *propensity > 0.0);
                if !is_complete && self.without_propensities.is_none() {
                    self.without_propensities = Some(impression.query.clone());
                }
                known
            }
        };
        let query = match self.query_numbers.get(&impression.query) {
            Some(query) => *query,
            None => {
                let query = self.queries.len();
                self.queries.push(impression.query.clone());
                self.query_numbers.insert(impression.query.clone(), query);
                query
            }
        };
        let mut number = |id: &String| match self.documents.get(id) {
            Some(number) => *number,
            None => {
                let number = self.documents.len() as u32;
                self.documents.insert(id.clone(), number);
                number
            }
        };
        let documents = impression.documents.iter().map(&mut number).collect();
        let clicked = impression.clicked_ranks().into_boxed_slice();
        let bits = propensities.iter().map(|propensity| propensity.to_bits()).collect();
        let order = self.pages.len();
        let page = self.pages.entry((query, documents, clicked, bits)).or_insert((order, 0.0));
        page.1 += impression.count as f64;
    }

    /// The collected pages; an error if a page lacks propensities that are needed.
    pub fn finish(self) -> Result<LoggedPages, ClicksError> {
        if let Some(query) = self.without_propensities {
            return Err(ClicksError::NoPropensities { query });
        }
        let mut sorted: Vec<(LoggedKey, (usize, f64))> = self.pages.into_iter().collect();
        sorted.sort_unstable_by_key(|((query, ..), (order, _))| (*query, *order));
        let page = |((query, documents, clicked, bits), (_, count)): (LoggedKey, (usize, f64))| {
            let propensities = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
            LoggedPage { query, documents, clicked, propensities, count }
        };
        let pages = sorted.into_iter().map(page).collect();
        Ok(LoggedPages { queries: self.queries, documents: self.documents, pages, kind: self.kind })
    }
}
