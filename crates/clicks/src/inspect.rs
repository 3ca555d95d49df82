//! A summary of a click log: counts, click rates by rank, queries, and the ranks that documents
//! link.
//!
//! Position bias can be told apart from relevance only between ranks at which the same documents
//! were shown: two ranks are *linked* if some document of a query was shown at both, and ranks of
//! different groups of linked ranks cannot be compared. A position-based model needs one group.

use std::collections::HashSet;

use foldhash::fast::FixedState;
use serde::Serialize;

use crate::impression::Impression;
use crate::log::LogCounts;
use crate::pages::{Pages, PagesBuilder};
use crate::rank_groups::RankGroups;

/// Number of the most frequent queries that a summary names.
const TOP_QUERIES: usize = 10;

/// The normal quantile of a 95 % interval.
const QUANTILE: f64 = 1.959_963_984_540_054;

/// A summary of a click log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LogSummary {
    /// Counts of impressions and clicks.
    pub counts: LogCounts,
    /// Number of queries.
    pub queries: usize,
    /// Number of pairs of a query and a shown document.
    pub pairs: usize,
    /// Number of sessions; 0 if the log names none.
    pub sessions: usize,
    /// Number of distinct pages: query, documents in their order, and clicked documents.
    pub distinct_pages: usize,
    /// Number of impressions with at least one click.
    pub clicked_impressions: u64,
    /// Impressions and clicks by rank, the first rank first.
    pub ranks: Vec<RankClicks>,
    /// The most frequent queries with their numbers of impressions.
    pub top_queries: Vec<QueryImpressions>,
    /// Groups of ranks (from 1) that are linked by documents; one group if bias can be estimated for
    /// all ranks.
    pub linked_ranks: Vec<Vec<usize>>,
}

/// Impressions and clicks of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankClicks {
    /// The rank, from 1.
    pub rank: usize,
    /// Number of impressions with a document at this rank.
    pub shown: u64,
    /// Number of impressions in which it was clicked.
    pub clicked: u64,
    /// The click rate.
    pub rate: f64,
    /// Its 95 % interval (Wilson).
    pub ci95: [f64; 2],
}

/// A query with its number of impressions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryImpressions {
    /// The query.
    pub query: String,
    /// Number of impressions.
    pub impressions: u64,
}

/// Summarises impressions one after another.
#[derive(Debug, Default)]
pub struct LogSummaryBuilder {
    pages: PagesBuilder,
    sessions: HashSet<String, FixedState>,
    clicked_impressions: u64,
}

impl LogSummaryBuilder {
    /// Adds an impression.
    pub fn add(&mut self, impression: &Impression) {
        self.pages.add(impression);
        self.clicked_impressions += u64::from(!impression.clicks.is_empty());
        if !impression.session.is_empty() && !self.sessions.contains(&impression.session) {
            self.sessions.insert(impression.session.clone());
        }
    }

    /// The summary, with the counts of the reader.
    pub fn finish(self, counts: LogCounts) -> LogSummary {
        let pages = self.pages.finish();
        LogSummary {
            counts,
            queries: pages.queries().len(),
            pairs: pages.pairs(),
            sessions: self.sessions.len(),
            distinct_pages: pages.distinct(),
            clicked_impressions: self.clicked_impressions,
            ranks: rank_clicks(&pages),
            top_queries: top_queries(&pages),
            linked_ranks: linked_ranks(&pages).groups(),
        }
    }
}

fn rank_clicks(pages: &Pages) -> Vec<RankClicks> {
    let mut counts = vec![(0, 0); pages.max_ranks()];
    for page in pages.iter() {
        for ((shown, clicked), was_clicked) in counts.iter_mut().zip(page.clicked) {
            *shown += page.count;
            *clicked += if *was_clicked { page.count } else { 0 };
        }
    }
    let rank = |(rank, (shown, clicked)): (usize, (u64, u64))| RankClicks {
        rank,
        shown,
        clicked,
        rate: clicked as f64 / shown as f64,
        ci95: wilson(clicked as f64, shown as f64),
    };
    (1..).zip(counts).map(rank).collect()
}

/// The interval of Wilson (1927) for a share of successes among trials.
fn wilson(successes: f64, trials: f64) -> [f64; 2] {
    let square = QUANTILE * QUANTILE;
    let centre = (successes + square / 2.0) / (trials + square);
    let spread = successes * (trials - successes) / trials + square / 4.0;
    let half = QUANTILE * spread.sqrt() / (trials + square);
    [(centre - half).max(0.0), (centre + half).min(1.0)]
}

fn top_queries(pages: &Pages) -> Vec<QueryImpressions> {
    let impressions = pages.by_query().into_iter().map(|query| {
        let pages = query.pages.iter();
        pages.map(|page| page.count).sum::<u64>()
    });
    let mut counted: Vec<QueryImpressions> = pages
        .queries()
        .iter()
        .zip(impressions)
        .map(|(query, impressions)| QueryImpressions { query: query.clone(), impressions })
        .collect();
    // A stable sort: equally frequent queries keep the order of the log.
    counted.sort_by_key(|query| std::cmp::Reverse(query.impressions));
    counted.truncate(TOP_QUERIES);
    counted
}

/// The groups of ranks that documents link.
pub(crate) fn linked_ranks(pages: &Pages) -> RankGroups {
    let mut first_rank: Vec<Option<usize>> = vec![None; pages.pairs()];
    let mut groups = RankGroups::new(pages.max_ranks());
    for page in pages.iter() {
        for (rank, pair) in page.pairs.iter().enumerate() {
            let first = *first_rank[*pair as usize].get_or_insert(rank);
            groups.link(first, rank);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_ranks_queries_and_links() {
        let mut builder = LogSummaryBuilder::default();
        let mut log = [
            Impression::new("q", ["a", "b", "c"]).clicked([1, 2]),
            Impression::new("q", ["b", "a", "c"]),
            Impression::new("q", ["b", "a", "c"]).clicked([2]),
            Impression::new("r", ["x", "y", "z", "w"]),
        ];
        log[0].session = "s".into();
        log[1].session = "s".into();
        log.iter().for_each(|page| builder.add(page));
        let summary = builder.finish(LogCounts::default());
        assert_eq!((summary.queries, summary.pairs, summary.sessions), (2, 7, 1));
        assert_eq!((summary.distinct_pages, summary.clicked_impressions), (4, 2));
        let clicks: Vec<_> = summary.ranks.iter().map(|rank| (rank.shown, rank.clicked)).collect();
        assert_eq!(clicks, [(4, 1), (4, 2), (4, 0), (1, 0)]);
        // a and b were at ranks 1 and 2; nothing links ranks 3 and 4.
        assert_eq!(summary.linked_ranks, [vec![1, 2], vec![3], vec![4]]);
        assert_eq!(summary.top_queries[0], QueryImpressions { query: "q".into(), impressions: 3 });
        let empty = LogSummaryBuilder::default().finish(LogCounts::default());
        assert!(empty.ranks.is_empty() && empty.linked_ranks.is_empty());
    }

    #[test]
    fn the_interval_of_a_rate_is_wilsons() {
        // 10 of 50, by R's prop.test without continuity correction.
        let [low, high] = wilson(10.0, 50.0);
        assert!((low - 0.112_437).abs() < 1e-6 && (high - 0.330_371).abs() < 1e-6, "{low} {high}");
        assert_eq!(wilson(0.0, 10.0)[0], 0.0);
        assert!(wilson(10.0, 10.0)[1] <= 1.0);
    }
}
