//! A summary of a click log: counts, click rates by rank, queries and their skew, times on
//! documents, and the ranks that documents link.
//!
//! Position bias can be told apart from relevance only between ranks at which the same documents
//! were shown: two ranks are *linked* if some document of a query was shown at both, and ranks of
//! different groups of linked ranks cannot be compared. A position-based model needs one group.

use std::collections::HashSet;

use foldhash::fast::FixedState;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

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
    /// Number of users; 0 if the log names none.
    pub users: usize,
    /// Number of distinct pages: query, documents in their order, and clicked documents.
    pub distinct_pages: usize,
    /// Number of impressions with at least one click.
    pub clicked_impressions: u64,
    /// Impressions and clicks by rank, the first rank first.
    pub ranks: Vec<RankClicks>,
    /// The most frequent queries with their numbers of impressions.
    pub top_queries: Vec<QueryImpressions>,
    /// The skew of impressions over queries.
    pub skew: QuerySkew,
    /// The time that users spent on clicked documents; `None` if no page has two clicks with times.
    pub dwell: Option<DwellTimes>,
    /// The documents that link each rank with others, the first rank first.
    pub rank_links: Vec<RankLinks>,
    /// Groups of ranks (from 1) that are linked by documents; one group if bias can be estimated
    /// for all ranks.
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

/// The skew of impressions over queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuerySkew {
    /// The Gini coefficient of the impressions of queries: 0 if all have the same number, near 1 if
    /// one query has almost all of them.
    pub gini: f64,
    /// Share of the impressions that the most frequent tenth of the queries has.
    pub top_tenth: f64,
    /// Number of queries with a single impression.
    pub once: usize,
}

/// Times between a click and the next click on the same page.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DwellTimes {
    /// Number of clicks with such a time.
    pub clicks: u64,
    /// The median in whole seconds, at most an hour.
    pub median_seconds: u64,
    /// Share of these clicks with at least 30 seconds, often taken for satisfied ones.
    pub long: f64,
}

/// The documents that link a rank with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RankLinks {
    /// The rank, from 1.
    pub rank: usize,
    /// Number of pairs of a query and a document that was shown at this rank.
    pub documents: usize,
    /// Number of these that were shown at other ranks, too.
    pub linked: usize,
}

/// Seconds from which on a time on a document is long.
const LONG_SECONDS: usize = 30;

/// Summarises impressions one after another.
#[derive(Debug, Default)]
pub struct LogSummaryBuilder {
    pages: PagesBuilder,
    /// Hashes of the sessions, and of the users.
    sessions: HashSet<u64, FixedState>,
    users: HashSet<u64, FixedState>,
    clicked_impressions: u64,
    /// Number of clicks by whole seconds until the next click, up to an hour.
    dwell: Vec<u64>,
}

impl LogSummaryBuilder {
    /// Adds an impression.
    pub fn add(&mut self, impression: &Impression) {
        self.pages.add(impression);
        if !impression.clicks.is_empty() {
            self.clicked_impressions += impression.count;
        }
        if !impression.session.is_empty() {
            self.sessions.insert(xxh3_64(impression.session.as_bytes()));
        }
        if !impression.user.is_empty() {
            self.users.insert(xxh3_64(impression.user.as_bytes()));
        }
        if impression.clicks.len() > 1 {
            for seconds in impression.dwell_times().into_iter().flatten() {
                self.dwell.resize(3601, 0);
                self.dwell[(seconds as usize).min(3600)] += impression.count;
            }
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
            users: self.users.len(),
            distinct_pages: pages.distinct(),
            clicked_impressions: self.clicked_impressions,
            ranks: rank_clicks(&pages),
            top_queries: top_queries(&pages),
            skew: query_skew(&pages),
            dwell: dwell_times(&self.dwell),
            rank_links: rank_links(&pages),
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

/// Number of impressions of each query.
fn impressions_of_queries(pages: &Pages) -> Vec<u64> {
    let impressions = |query: crate::pages::QueryPages<'_>| {
        let pages = query.pages.iter();
        pages.map(|page| page.count).sum::<u64>()
    };
    pages.by_query().into_iter().map(impressions).collect()
}

fn query_skew(pages: &Pages) -> QuerySkew {
    let mut counts = impressions_of_queries(pages);
    counts.sort_unstable();
    let (queries, all) = (counts.len() as f64, counts.iter().sum::<u64>() as f64);
    let once = counts.iter().filter(|count| **count == 1).count();
    if counts.is_empty() {
        return QuerySkew { gini: 0.0, top_tenth: 0.0, once };
    }
    // The area below the Lorenz curve, from the sorted counts.
    let weighted: f64 =
        (1..).zip(&counts).map(|(rank, count)| f64::from(rank) * *count as f64).sum();
    let gini = 2.0 * weighted / (queries * all) - (queries + 1.0) / queries;
    let top: u64 = counts.iter().rev().take(counts.len().div_ceil(10)).sum();
    QuerySkew { gini: gini.max(0.0), top_tenth: top as f64 / all, once }
}

fn dwell_times(counts: &[u64]) -> Option<DwellTimes> {
    let clicks: u64 = counts.iter().sum();
    let mut below = 0;
    let median = counts.iter().position(|count| {
        below += count;
        below * 2 >= clicks
    });
    let long: u64 = counts.iter().skip(LONG_SECONDS).sum();
    (clicks > 0).then(|| DwellTimes {
        clicks,
        median_seconds: median.unwrap_or(0) as u64,
        long: long as f64 / clicks as f64,
    })
}

fn rank_links(pages: &Pages) -> Vec<RankLinks> {
    let ranks = |page: crate::pages::DistinctPage<'_>| -> Vec<(u32, usize)> {
        page.pairs.iter().copied().zip(0..).collect()
    };
    let mut shown: Vec<(u32, usize)> = pages.iter().flat_map(ranks).collect();
    shown.sort_unstable();
    shown.dedup();
    let mut links: Vec<RankLinks> =
        (1..=pages.max_ranks()).map(|rank| RankLinks { rank, documents: 0, linked: 0 }).collect();
    for of_pair in shown.chunk_by(|a, b| a.0 == b.0) {
        for (_, rank) in of_pair {
            links[*rank].documents += 1;
            links[*rank].linked += usize::from(of_pair.len() > 1);
        }
    }
    links
}

fn top_queries(pages: &Pages) -> Vec<QueryImpressions> {
    let impressions = impressions_of_queries(pages);
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
    // A page that a bootstrap sample lacks has the count 0.
    for page in pages.iter().filter(|page| page.count > 0) {
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
        let links: Vec<_> = summary.rank_links.iter().map(|l| (l.documents, l.linked)).collect();
        assert_eq!(links, [(3, 2), (3, 2), (2, 0), (1, 0)]);
        // Three impressions of one query and one of the other.
        assert_eq!((summary.skew.gini, summary.skew.top_tenth, summary.skew.once), (0.25, 0.75, 1));
        assert_eq!(summary.dwell, None);
        assert_eq!(summary.top_queries[0], QueryImpressions { query: "q".into(), impressions: 3 });
        let empty = LogSummaryBuilder::default().finish(LogCounts::default());
        assert!(empty.ranks.is_empty() && empty.linked_ranks.is_empty());
    }

    #[test]
    fn the_time_on_a_document_is_that_until_the_next_click() {
        let mut builder = LogSummaryBuilder::default();
        let mut page = Impression::new("q", ["a", "b", "c"]).clicked([1, 2, 3]);
        for (click, time) in page.clicks.iter_mut().zip([10.0, 15.5, 60.0]) {
            click.time = Some(time);
        }
        builder.add(&page);
        let dwell = builder.finish(LogCounts::default()).dwell;
        assert_eq!(dwell, Some(DwellTimes { clicks: 2, median_seconds: 5, long: 0.5 }));
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
