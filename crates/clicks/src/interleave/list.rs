//! An interleaved list: the shown documents, and everything that is needed to divide clicks on them
//! among the rankers.

use super::{DrawnList, InterleavingMethod, Rankings};
use super::{balanced, optimised, probabilistic, team_draft};

/// A list that is shown to a user, made of several rankings.
#[derive(Debug, Clone, PartialEq)]
pub struct InterleavedList {
    method: InterleavingMethod,
    documents: Vec<String>,
    /// The ranker of each document, from 0; empty if the method has no teams.
    teams: Vec<usize>,
    /// For each ranker the rank of each document, from 1; the rank after the last one of the
    /// ranking if the ranking does not have the document.
    ranks: Vec<Vec<usize>>,
    /// For each ranker the number of documents of its ranking.
    lengths: Vec<usize>,
}

impl InterleavedList {
    pub(super) fn drawn(method: InterleavingMethod, drawn: DrawnList, rankings: &Rankings) -> Self {
        let DrawnList { documents, teams } = drawn;
        let ranks = (0..rankings.0.len())
            .map(|ranker| documents.iter().map(|id| rankings.rank(ranker, id)).collect())
            .collect();
        let lengths = rankings.0.iter().map(Vec::len).collect();
        Self { method, documents, teams, ranks, lengths }
    }

    /// A list of these parts, as a file has them; the error says what was expected of a part.
    pub(super) fn from_parts(
        method: InterleavingMethod,
        documents: Vec<String>,
        teams: Vec<usize>,
        ranks: Vec<Vec<usize>>,
        lengths: Vec<usize>,
    ) -> Result<Self, &'static str> {
        let (rankers, shown) = (lengths.len(), documents.len());
        let has_teams =
            matches!(method, InterleavingMethod::TeamDraft | InterleavingMethod::Multileave);
        if rankers < 2 || (method != InterleavingMethod::Multileave && rankers > 2) {
            return Err("as many rankers as the method takes");
        }
        if ranks.len() != rankers || ranks.iter().any(|ranks| ranks.len() != shown) {
            return Err("a rank by each ranker for each document");
        }
        let is_rank = |(ranks, length): (&Vec<usize>, &usize)| {
            let mut found: Vec<usize> = ranks.iter().copied().filter(|r| r <= length).collect();
            found.sort_unstable();
            let is_repeated = found.windows(2).any(|two| two.first() == two.last());
            !is_repeated && ranks.iter().all(|rank| *rank >= 1 && rank - 1 <= *length)
        };
        if !ranks.iter().zip(&lengths).all(is_rank) {
            return Err("ranks from 1 on, each at most once, or one more than the ranking has");
        }
        if teams.len() != if has_teams { shown } else { 0 } {
            return Err("a team for each document, if the method has teams");
        }
        if teams.iter().any(|team| *team >= rankers) {
            return Err("teams that are numbers of rankers, from 0");
        }
        Ok(Self { method, documents, teams, ranks, lengths })
    }

    /// The method.
    pub fn method(&self) -> InterleavingMethod {
        self.method
    }

    /// The shown documents, the first rank first.
    pub fn documents(&self) -> &[String] {
        &self.documents
    }

    /// For methods in which each document belongs to one ranker, the ranker of each document, from
    /// 0; otherwise empty.
    pub fn teams(&self) -> &[usize] {
        &self.teams
    }

    /// For each ranker the rank that it gave each shown document, from 1; one more than
    /// [`Self::lengths`] if its ranking does not have the document.
    pub fn ranks(&self) -> &[Vec<usize>] {
        &self.ranks
    }

    /// The rank, from 1, that a ranker gave the document at this index of the list; `None` if its
    /// ranking does not have the document.
    pub(super) fn rank(&self, ranker: usize, index: usize) -> Option<usize> {
        let rank = self.ranks[ranker][index];
        (rank <= self.lengths[ranker]).then_some(rank)
    }

    /// For each ranker the number of documents of its ranking.
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// Number of rankers.
    pub fn rankers(&self) -> usize {
        self.lengths.len()
    }

    /// The credit of each ranker for the clicks on the list, given as indices of documents from 0.
    /// The ranker with the larger credit wins; equal credits are a tie. Repeated clicks count once,
    /// and indices that the list does not have are ignored.
    pub fn credits(&self, clicks: &[usize]) -> Vec<f64> {
        let mut clicks = clicks.to_vec();
        clicks.sort_unstable();
        clicks.dedup();
        clicks.retain(|click| *click < self.documents.len());
        match self.method {
            InterleavingMethod::TeamDraft | InterleavingMethod::Multileave => {
                team_draft::credits(self, &clicks)
            }
            InterleavingMethod::Balanced => balanced::credits(self, &clicks),
            InterleavingMethod::Probabilistic => probabilistic::credits(self, &clicks),
            InterleavingMethod::Optimised => optimised::credits(self, &clicks),
        }
    }
}
