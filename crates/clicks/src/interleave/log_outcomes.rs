//! The outcomes of a log: its impressions, each with the list that it shows, and the credits of its
//! clicks.
//!
//! The list of an impression is that of its request, or else the only one of its query with the same
//! documents.

use std::collections::HashMap;

use rankwright_spec::choices;

use super::{InterleavedPage, InterleavingOutcome};
use crate::impression::Impression;

choices! {
    /// The impressions that the bootstrap of an interleaved comparison keeps together.
    pub enum InterleavingCluster {
        /// Those of a user; an impression without a user is kept together with those of its
        /// session.
        User = "user",
        /// Those of a query.
        Query = "query",
        /// Each impression is drawn by itself.
        Impression = "impression",
    }
}

/// Counts of a log of interleaved lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterleavedLogCounts {
    /// Number of impressions that show none of the lists.
    pub other_impressions: u64,
    /// Number of impressions that show the documents of several lists with other teams or ranks.
    pub ambiguous: u64,
    /// Number of clicks on documents that the list does not have.
    pub other_clicks: u64,
    /// Number of lists that were shown.
    pub shown_lists: usize,
}

/// The lists, found by the impressions that show them, and the outcomes so far.
#[derive(Debug, Clone)]
pub struct InterleavedLog<'a> {
    pages: &'a [InterleavedPage],
    cluster: InterleavingCluster,
    by_request: HashMap<&'a str, usize>,
    /// The first list of a query with these documents, and whether another one has other teams or
    /// ranks.
    by_documents: HashMap<(&'a str, &'a [String]), (usize, bool)>,
    is_shown: Vec<bool>,
    outcomes: Vec<InterleavingOutcome>,
    other_impressions: u64,
    ambiguous: u64,
    other_clicks: u64,
    /// Impressions of a list that have a user.
    of_users: u64,
    /// Impressions of a list that have a session but no user.
    of_sessions: u64,
}

impl<'a> InterleavedLog<'a> {
    /// A log of these lists, whose impressions are kept together by `cluster`.
    pub fn new(pages: &'a [InterleavedPage], cluster: InterleavingCluster) -> Self {
        let by_request = pages.iter().map(|page| page.request.as_str()).zip(0..).collect();
        let mut by_documents: HashMap<(&str, &[String]), (usize, bool)> = HashMap::new();
        for (number, page) in pages.iter().enumerate() {
            let key = (page.query.as_str(), page.list.documents());
            let (first, is_ambiguous) = by_documents.entry(key).or_insert((number, false));
            *is_ambiguous |= pages.get(*first).is_some_and(|first| first.list != page.list);
        }
        Self {
            pages,
            cluster,
            by_request,
            by_documents,
            is_shown: vec![false; pages.len()],
            outcomes: Vec::new(),
            other_impressions: 0,
            ambiguous: 0,
            other_clicks: 0,
            of_users: 0,
            of_sessions: 0,
        }
    }

    /// The outcome of each impression of a list.
    pub fn outcomes(&self) -> &[InterleavingOutcome] {
        &self.outcomes
    }

    /// Counts of the log.
    pub fn counts(&self) -> InterleavedLogCounts {
        InterleavedLogCounts {
            other_impressions: self.other_impressions,
            ambiguous: self.ambiguous,
            other_clicks: self.other_clicks,
            shown_lists: self.is_shown.iter().filter(|is_shown| **is_shown).count(),
        }
    }

    /// The number of impressions that are drawn by themselves, although those of a user are to be
    /// kept together.
    pub fn without_user(&self) -> u64 {
        match self.cluster {
            InterleavingCluster::User => {
                self.outcomes.len() as u64 - self.of_users - self.of_sessions
            }
            InterleavingCluster::Query | InterleavingCluster::Impression => 0,
        }
    }

    /// The name of the impressions that are kept together, as far as the log tells them.
    pub fn cluster_name(&self) -> &'static str {
        match (self.cluster, self.of_users, self.of_sessions) {
            (InterleavingCluster::User, 0, 0) => InterleavingCluster::Impression.name(),
            (InterleavingCluster::User, 0, _) => "session",
            (cluster, _, _) => cluster.name(),
        }
    }

    /// Credits the clicks of an impression to the rankers of its list.
    pub fn add(&mut self, impression: &Impression) {
        let by_documents =
            || self.by_documents.get(&(impression.query.as_str(), &impression.documents[..]));
        let number = match self.by_request.get(impression.id.as_str()) {
            Some(number) => *number,
            None => match by_documents() {
                Some((number, false)) => *number,
                Some((_, true)) => {
                    self.ambiguous += 1;
                    return;
                }
                None => {
                    self.other_impressions += 1;
                    return;
                }
            },
        };
        let Some(page) = self.pages.get(number) else { return };
        if let Some(is_shown) = self.is_shown.get_mut(number) {
            *is_shown = true;
        }
        let mut clicks = Vec::new();
        for click in &impression.clicks {
            let document = impression.documents.get(click.index);
            let place = page.list.documents().iter().position(|id| Some(id) == document);
            match place {
                Some(place) => clicks.push(place),
                None => self.other_clicks += 1,
            }
        }
        let has_user = !impression.user.is_empty();
        self.of_users += u64::from(has_user);
        self.of_sessions += u64::from(!has_user && !impression.session.is_empty());
        let user = match self.cluster {
            InterleavingCluster::User if has_user => format!("user {}", impression.user),
            // The session is the closest thing to a user that such an impression has.
            InterleavingCluster::User if !impression.session.is_empty() => {
                format!("session {}", impression.session)
            }
            InterleavingCluster::Query => page.query.clone(),
            InterleavingCluster::User | InterleavingCluster::Impression => String::new(),
        };
        let credits = page.list.credits(&clicks);
        let outcome = InterleavingOutcome::new(&page.query, clicks.len(), credits).of_user(user);
        self.outcomes.push(outcome);
    }
}

#[cfg(test)]
mod tests {
    use rankwright_data::bytes::Input;

    use super::super::read_lists;
    use super::*;

    const LISTS: &str = r#"{"request": "r1", "query": "q", "method": "team-draft", "rankers": ["old", "new"], "documents": ["a", "b"], "teams": [0, 1], "ranks": [[1, 2], [2, 1]], "lengths": [2, 2]}
{"request": "r2", "query": "q", "method": "team-draft", "rankers": ["old", "new"], "documents": ["a", "b"], "teams": [1, 0], "ranks": [[1, 2], [1, 2]], "lengths": [2, 2]}
"#;

    #[test]
    fn an_impression_belongs_to_the_list_of_its_request_or_to_none() {
        let pages = read_lists(&Input::from_bytes("lists", LISTS.into()).unwrap()).unwrap();
        let mut log = InterleavedLog::new(&pages, InterleavingCluster::User);
        let mut of_request = Impression::new("q", ["a", "b"]).clicked([2]);
        of_request.id = "r1".to_owned();
        log.add(&of_request);
        // Both lists have these documents, with other teams.
        log.add(&Impression::new("q", ["a", "b"]));
        log.add(&Impression::new("q", ["x"]));
        let expected = InterleavedLogCounts {
            other_impressions: 1,
            ambiguous: 1,
            other_clicks: 0,
            shown_lists: 1,
        };
        assert_eq!(log.counts(), expected);
        assert_eq!((log.outcomes().len(), log.without_user()), (1, 1));
        assert_eq!(log.cluster_name(), "impression");
    }
}
