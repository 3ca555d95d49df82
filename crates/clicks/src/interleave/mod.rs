//! Interleaving: one list made of the rankings of several rankers, so that the clicks on it tell
//! which ranker is better. A method is a file; [`interleave`] makes the list of a request, and
//! [`credits`] divides the clicks on it among the rankers.

mod balanced;
mod optimised;
mod outcomes;
mod probabilistic;
mod simplex;
mod team_draft;
#[cfg(test)]
mod tests;

use rankwright_data::Random;
use rankwright_spec::choices;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

pub use outcomes::{InterleavingOutcome, InterleavingResult, PowerRow, summarise};

choices! {
    /// A method of interleaving.
    pub enum InterleavingMethod {
        /// Rankers choose in turns; for two or more rankers (Radlinski, Kurup and Joachims 2008).
        TeamDraft = "team-draft",
        /// Both rankings are merged so that their tops are seen equally far (Joachims 2002).
        Balanced = "balanced",
        /// Documents are drawn with probabilities that fall with the rank (Hofmann et al. 2011).
        Probabilistic = "probabilistic",
        /// Lists are drawn so that random clicks favour no ranker (Radlinski and Craswell 2013).
        Optimised = "optimised",
    }
}

/// A list that is shown to a user, made of several rankings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InterleavedList {
    /// The shown documents, the first rank first.
    pub documents: Vec<String>,
    /// For methods in which each document belongs to one ranker, the ranker of each document, from
    /// 0; otherwise empty.
    pub teams: Vec<usize>,
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
    DuplicateDocument {
        /// Number of the ranking, from 1.
        ranking: usize,
        /// The document.
        document: String,
    },
    /// Too many lists would have to be weighed.
    #[error(
        "optimised interleaving of {length} ranks would weigh too many lists; at most {max} are possible"
    )]
    TooLong {
        /// Number of ranks.
        length: usize,
        /// Largest number of ranks.
        max: usize,
    },
    /// No distribution of lists treats both rankers alike.
    #[error("no distribution over the lists of these two rankings is fair to both")]
    NoFairDistribution,
}

/// Makes the list that is shown for a request. The same rankings, seed and request id always give
/// the same list. The list is at most as long as the longest ranking, and as `length`.
///
/// ```
/// use rankwright_clicks::interleave::{InterleavingMethod, interleave};
///
/// let rankings = [vec!["a", "b", "c"], vec!["b", "c", "d"]];
/// let list = interleave(InterleavingMethod::TeamDraft, &rankings, 3, 1, "request 7")?;
/// assert_eq!(list.documents.len(), 3);
/// assert_eq!(list, interleave(InterleavingMethod::TeamDraft, &rankings, 3, 1, "request 7")?);
/// # Ok::<(), rankwright_clicks::interleave::InterleavingError>(())
/// ```
pub fn interleave(
    method: InterleavingMethod,
    rankings: &[Vec<impl AsRef<str>>],
    length: usize,
    seed: u64,
    request: &str,
) -> Result<InterleavedList, InterleavingError> {
    let rankings = checked(method, rankings)?;
    let mut random = Random::new(seed, xxh3_64(request.as_bytes()));
    let length = rankings.longest().min(length);
    match method {
        InterleavingMethod::TeamDraft => Ok(team_draft::draw(&rankings, length, &mut random)),
        InterleavingMethod::Balanced => Ok(balanced::draw(&rankings, length, &mut random)),
        InterleavingMethod::Probabilistic => {
            Ok(probabilistic::draw(&rankings, length, &mut random))
        }
        InterleavingMethod::Optimised => optimised::draw(&rankings, length, &mut random),
    }
}

/// The credit of each ranker for the clicks on a list, given as ranks from 0. The ranker with the
/// larger credit wins; equal credits are a tie.
pub fn credits(
    method: InterleavingMethod,
    rankings: &[Vec<impl AsRef<str>>],
    list: &InterleavedList,
    clicks: &[usize],
) -> Result<Vec<f64>, InterleavingError> {
    let rankings = checked(method, rankings)?;
    let mut clicks = clicks.to_vec();
    clicks.sort_unstable();
    clicks.dedup();
    clicks.retain(|click| *click < list.documents.len());
    Ok(match method {
        InterleavingMethod::TeamDraft => team_draft::credits(&rankings, list, &clicks),
        InterleavingMethod::Balanced => balanced::credits(&rankings, list, &clicks),
        InterleavingMethod::Probabilistic => probabilistic::credits(&rankings, list, &clicks),
        InterleavingMethod::Optimised => optimised::credits(&rankings, list, &clicks),
    })
}

/// Rankings without duplicates, in a number that the method takes.
struct Rankings(Vec<Vec<String>>);

impl Rankings {
    fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The rank of a document in a ranking, from 1; the rank after the last one if it has it not.
    fn rank(&self, ranker: usize, document: &str) -> usize {
        let ranking = &self.0[ranker];
        ranking.iter().position(|other| other == document).unwrap_or(ranking.len()) + 1
    }
}

fn checked(
    method: InterleavingMethod,
    rankings: &[Vec<impl AsRef<str>>],
) -> Result<Rankings, InterleavingError> {
    let (fits, expected) = match method {
        InterleavingMethod::TeamDraft => (rankings.len() >= 2, "two or more"),
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
            return Err(InterleavingError::DuplicateDocument { ranking: number, document });
        }
        owned.push(ranking.iter().map(|id| id.as_ref().to_owned()).collect());
    }
    Ok(Rankings(owned))
}
