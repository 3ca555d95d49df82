//! Interleaving: one list made of the rankings of several rankers, so that the clicks on it tell
//! which ranker is better. A method is a file; an [`Interleaver`] makes the list of a request, and
//! [`InterleavedList::credits`] divides the clicks on it among the rankers.

mod balanced;
mod list;
mod list_file;
mod log_outcomes;
mod optimised;
mod outcomes;
mod probabilistic;
mod request_file;
mod simplex;
mod team_draft;
#[cfg(test)]
mod tests;

use rankwright_data::{DEFAULT_SEED, Random};
use rankwright_spec::{choices, error_kinds, params};
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

pub use list::InterleavedList;
pub use list_file::{InterleavedPage, check_lists, read_lists, write_lists};
pub use log_outcomes::{InterleavedLog, InterleavedLogCounts, InterleavingCluster};
pub use outcomes::{
    InterleavingOptions, InterleavingOutcome, InterleavingResult, PowerRow, RankerComparison,
    compare_all_rankers, compare_rankers,
};
pub use request_file::{check_requests, read_requests};

choices! {
    /// A method of interleaving.
    pub enum InterleavingMethod {
        /// Two rankers choose in turns (Radlinski, Kurup and Joachims 2008).
        TeamDraft = "team-draft",
        /// Both rankings are merged so that their tops are seen equally far (Joachims 2002).
        Balanced = "balanced",
        /// Documents are drawn with probabilities that fall with the rank (Hofmann et al. 2011).
        Probabilistic = "probabilistic",
        /// Lists are drawn so that random clicks favour no ranker (Radlinski and Craswell 2013).
        Optimised = "optimised",
        /// Two or more rankers choose in turns: team-draft multileaving (Schuth et al. 2014).
        Multileave = "multileave",
    }
}

params! {
    /// Options of making interleaved lists.
    #[derive(Copy, Eq)]
    pub struct InterleaveOptions {
        length: usize = 10, 1.., "Number of documents of a list.";
        seed: u64 = DEFAULT_SEED, ..,
            "Seed; a list depends on it and on the id of its request alone.";
    }
}

impl InterleavingMethod {
    /// The method for a number of rankings if none is chosen: `team-draft` for two, `multileave`
    /// for more.
    pub fn for_rankings(rankings: usize) -> Self {
        if rankings > 2 { Self::Multileave } else { Self::TeamDraft }
    }
}

/// The reason why rankings cannot be interleaved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterleavingError {
    /// A method has a fixed number of rankings.
    #[error("{method} interleaving takes {expected} rankings, and {found} were given")]
    RankingCount {
        /// The method.
        method: &'static str,
        /// The numbers of rankings that it takes, in words.
        expected: &'static str,
        /// Number of rankings.
        found: usize,
    },
    /// A ranking has a document twice.
    #[error("ranking {ranking} has the document '{document}' twice")]
    RepeatedDocument {
        /// Number of the ranking, from 1.
        ranking: usize,
        /// The document.
        document: String,
    },
    /// Too many lists would have to be weighed.
    #[error(
        "optimised interleaving of {length} ranks would weigh too many lists; at most {max} ranks are \
         possible"
    )]
    ManyRanks {
        /// Number of ranks.
        length: usize,
        /// Largest number of ranks.
        max: usize,
    },
    /// No distribution of lists treats both rankers alike.
    #[error("no distribution over the lists of these two rankings is fair to both")]
    NoFairDistribution,
}

error_kinds! {
    InterleavingError {
        Self::RankingCount { .. } => "ranking-count",
        Self::RepeatedDocument { .. } => "repeated-document",
        Self::ManyRanks { .. } => "many-ranks",
        Self::NoFairDistribution => "no-fair-distribution",
    }
    wraps {}
}

impl InterleavingError {
    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::RankingCount { found: 3.., .. } => {
                "choose multileave, which takes any number of rankings from two on"
            }
            Self::ManyRanks { .. } => "choose fewer ranks, or another method",
            Self::RankingCount { .. }
            | Self::RepeatedDocument { .. }
            | Self::NoFairDistribution => {
                return None;
            }
        };
        Some(text.to_owned())
    }
}

/// The rankings of a query, ready to be interleaved for any number of requests.
///
/// ```
/// use rankwright_clicks::interleave::{Interleaver, InterleavingMethod};
///
/// let rankings = [vec!["a", "b", "c"], vec!["b", "c", "d"]];
/// let interleaver = Interleaver::new(InterleavingMethod::TeamDraft, &rankings, 3)?;
/// let list = interleaver.list(1, "request 7");
/// assert_eq!(list.documents().len(), 3);
/// // A click on the first document is a credit for one of the two rankers.
/// assert_eq!(list.credits(&[0]).iter().sum::<f64>(), 1.0);
/// # Ok::<(), rankwright_clicks::interleave::InterleavingError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Interleaver {
    method: InterleavingMethod,
    rankings: Rankings,
    length: usize,
    /// The lists of optimised interleaving with their probabilities.
    distribution: Vec<(Vec<String>, f64)>,
}

impl Interleaver {
    /// Prepares rankings. Lists have `length` documents; fewer if the longest ranking is shorter.
    pub fn new(
        method: InterleavingMethod,
        rankings: &[Vec<impl AsRef<str>>],
        length: usize,
    ) -> Result<Self, InterleavingError> {
        let rankings = Rankings::new(method, rankings)?;
        let length = rankings.longest().min(length);
        let distribution = match method {
            InterleavingMethod::Optimised => optimised::distribution(&rankings, length)?,
            _ => Vec::new(),
        };
        Ok(Self { method, rankings, length, distribution })
    }

    /// Prepares the rankings of several queries, in parallel; the error has the index of its query.
    pub fn prepare_all(
        method: InterleavingMethod,
        queries: &[Vec<Vec<String>>],
        length: usize,
    ) -> Result<Vec<Self>, (usize, InterleavingError)> {
        let prepared: Vec<Result<Self, InterleavingError>> =
            queries.par_iter().map(|rankings| Self::new(method, rankings, length)).collect();
        let numbered = prepared.into_iter().enumerate();
        numbered.map(|(query, prepared)| prepared.map_err(|error| (query, error))).collect()
    }

    /// The list that is shown for a request. The same rankings, seed and request id always give the
    /// same list.
    pub fn list(&self, seed: u64, request: &str) -> InterleavedList {
        let mut random = request_random(seed, "list", request);
        let drawn = match self.method {
            InterleavingMethod::TeamDraft | InterleavingMethod::Multileave => {
                team_draft::draw(&self.rankings, self.length, &mut random)
            }
            InterleavingMethod::Balanced => {
                balanced::list(&self.rankings, self.length, random.below(2))
            }
            InterleavingMethod::Probabilistic => {
                probabilistic::draw(&self.rankings, self.length, &mut random)
            }
            InterleavingMethod::Optimised => optimised::draw(&self.distribution, &mut random),
        };
        InterleavedList::drawn(self.method, drawn, &self.rankings)
    }
}

/// Random numbers for a request: the same for the same seed, purpose and request id. The clicks of
/// simulated users must not be drawn by the numbers that drew their list.
pub fn request_random(seed: u64, purpose: &str, request: &str) -> Random {
    Random::new(seed, xxh3_64(format!("{purpose} {request}").as_bytes()))
}

/// The documents of a drawn list, and the ranker of each if the method has teams.
#[derive(Debug, Clone, PartialEq, Default)]
struct DrawnList {
    documents: Vec<String>,
    teams: Vec<usize>,
}

/// Rankings without duplicates, in a number that the method takes.
#[derive(Debug, Clone)]
struct Rankings(Vec<Vec<String>>);

impl Rankings {
    fn new(
        method: InterleavingMethod,
        rankings: &[Vec<impl AsRef<str>>],
    ) -> Result<Self, InterleavingError> {
        let (fits, expected) = match method {
            InterleavingMethod::Multileave => (rankings.len() >= 2, "two or more"),
            _ => (rankings.len() == 2, "two"),
        };
        if !fits {
            let (method, found) = (method.name(), rankings.len());
            return Err(InterleavingError::RankingCount { method, expected, found });
        }
        let mut owned = Vec::new();
        for (ranking, number) in rankings.iter().zip(1..) {
            let mut seen = std::collections::HashSet::new();
            let document = ranking.iter().map(AsRef::as_ref).find(|id| !seen.insert(*id));
            if let Some(document) = document {
                let document = document.to_owned();
                return Err(InterleavingError::RepeatedDocument { ranking: number, document });
            }
            owned.push(ranking.iter().map(|id| id.as_ref().to_owned()).collect());
        }
        Ok(Self(owned))
    }

    fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The rank of a document in a ranking, from 1; the rank after the last one if the ranking does
    /// not have it.
    fn rank(&self, ranker: usize, document: &str) -> usize {
        let ranking = &self.0[ranker];
        ranking.iter().position(|other| other == document).unwrap_or(ranking.len()) + 1
    }
}
