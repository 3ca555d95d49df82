//! Documents whose rank differs between the baseline and another system.
//!
//! Documents of a run are matched by id, those of feature data by row. Documents are ranked as the
//! main metric ranks them: by descending score, then by the metric's tie policy. A document that
//! one of two runs lacks has no rank there. Up to sixty documents are shown: those that either
//! system ranks among its first twenty, and relevant ones.
//!
//! Where no query is named, three are chosen for each system: the largest win, the largest loss and
//! the median. Cost: two sorts of each chosen query. Edge cases: a system without a query in common
//! with the baseline shows nothing.

use std::collections::HashMap;

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_eval::{Candidates, OrderRule, Orderer, QuerySource, Rows, SourceKind};

use rankwright_spec::words::counted;

use super::wins::Differences;
use super::{ComparisonReport, SourceDetails, fixed, signed};
use crate::chart::{Axis, Body, Chart, Series, SeriesColour};
use crate::error::ReportError;
use crate::known::KnownNames;
use crate::page::{ChoiceControl, PageBlock, Section};

/// Maximum number of systems that are compared with the baseline here.
const SYSTEMS: usize = 4;
/// Documents up to this rank are always shown.
const TOP: usize = 20;
/// Maximum number of documents shown of a query.
const DOCUMENTS: usize = 60;

/// One query under the baseline and under another system.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Index of the query.
    pub(super) query: usize,
    /// Index of the system that is compared with the baseline.
    pub(super) system: usize,
    /// The reason why this query is shown, such as `largest win`; empty if the caller named it.
    pub(super) reason: &'static str,
    /// The main metric's value under the baseline and under the system.
    pub(super) values: (Option<f64>, Option<f64>),
    /// The documents, by their better rank.
    pub(super) documents: Vec<RankChange>,
    /// Number of documents that are not shown.
    pub(super) omitted: usize,
}

/// A document under both systems.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankChange {
    pub(super) name: String,
    /// None if the document is unjudged.
    pub(super) label: Option<f64>,
    /// Under the baseline; none if its run lacks the document.
    pub(super) before: Option<DocumentRank>,
    /// Under the other system; none if its run lacks the document.
    pub(super) after: Option<DocumentRank>,
}

/// Rank and score of a document under one system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DocumentRank {
    /// The rank, from 1.
    pub(super) rank: usize,
    pub(super) score: f64,
}

impl RankChange {
    /// The better one of both ranks.
    fn best_rank(&self) -> usize {
        let ranks = [self.before, self.after].into_iter().flatten().map(|ranked| ranked.rank);
        ranks.min().unwrap_or(usize::MAX)
    }

    /// Number of ranks that the document rose; below 0 if it fell.
    pub(super) fn risen(&self) -> Option<i64> {
        Some(self.before?.rank as i64 - self.after?.rank as i64)
    }
}

/// The changes to show, and the number of systems that are left out. `named` are the ids of queries
/// that the caller wants to see.
pub(super) fn select(
    report: &ComparisonReport,
    sources: &[&dyn QuerySource],
    named: &[String],
) -> Result<(Vec<Change>, usize), ReportError> {
    let named = named.iter().map(|id| find(report, id)).collect::<Result<Vec<usize>, _>>()?;
    let mut changes = Vec::new();
    for differences in report.differences.iter().take(SYSTEMS) {
        let chosen = match named.is_empty() {
            true => informative(differences),
            false => named.iter().map(|query| (*query, "")).collect(),
        };
        for (query, reason) in chosen {
            changes.push(change(report, sources, (query, reason), differences.system)?);
        }
    }
    Ok((changes, report.differences.len().saturating_sub(SYSTEMS)))
}

/// The index of a query by its id.
fn find(report: &ComparisonReport, id: &str) -> Result<usize, ReportError> {
    let queries = report.queries();
    queries.iter().position(|query| query == id).ok_or_else(|| {
        let known = KnownNames::similar_to(id, queries.iter().map(String::as_str));
        ReportError::NotCompared { query: id.to_owned(), known }
    })
}

/// The largest win, the largest loss and the median query.
fn informative(differences: &Differences) -> Vec<(usize, &'static str)> {
    let sorted = &differences.sorted;
    let win = sorted.first().filter(|(_, d)| *d > 0.0).map(|(q, _)| (*q, "largest win"));
    let loss = sorted.last().filter(|(_, d)| *d < 0.0).map(|(q, _)| (*q, "largest loss"));
    let median = sorted.get(sorted.len() / 2).map(|(q, _)| (*q, "median"));
    let mut chosen: Vec<(usize, &'static str)> = Vec::new();
    for (query, reason) in [win, loss, median].into_iter().flatten() {
        if chosen.iter().all(|(other, _)| *other != query) {
            chosen.push((query, reason));
        }
    }
    chosen
}

/// The documents of a query under the baseline and under a system, with the reason to show it.
fn change(
    report: &ComparisonReport,
    sources: &[&dyn QuerySource],
    (query, reason): (usize, &'static str),
    system: usize,
) -> Result<Change, ReportError> {
    let baseline = report.comparison.baseline;
    // There is a main metric, because without metrics there are no differences to show.
    let rule = report.measures()[report.main].measure.conventions().order();
    let (before, after) =
        (list(sources[baseline], query, rule)?, list(sources[system], query, rule)?);
    let all = merged(before, after);
    let total = all.len();
    let relevant = |document: &RankChange| document.label.is_some_and(|label| label >= 1.0);
    let mut documents: Vec<RankChange> = all
        .into_iter()
        .filter(|document| document.best_rank() <= TOP || relevant(document))
        .collect();
    documents.truncate(DOCUMENTS);
    let omitted = total - documents.len();
    let values = (report.value(baseline, query), report.value(system, query));
    Ok(Change { query, system, reason, values, documents, omitted })
}

/// A document in a list, with the key by which both lists are matched.
struct ListedDocument {
    key: Vec<u8>,
    name: String,
    label: Option<f64>,
    ranked: DocumentRank,
}

/// A query's documents in rank order.
fn list(
    source: &dyn QuerySource,
    q: usize,
    rule: OrderRule,
) -> Result<Vec<ListedDocument>, ReportError> {
    let mut candidates = Candidates::new();
    candidates.clear();
    source.load(q, &mut candidates)?;
    candidates.check()?;
    let Candidates { scores, labels, judged, doc_ids, .. } = &candidates;
    let mut orderer = Orderer::default();
    let order = orderer.order(Rows { scores, labels, doc_ids }, rule)?;
    let listed = |(position, &row): (usize, &u32)| {
        let row = row as usize;
        let id = doc_ids.get(row).copied().filter(|id| !id.is_empty());
        let numbered = || format!("document {}", row + 1);
        let name = id.map_or_else(numbered, |id| String::from_utf8_lossy(id).into_owned());
        let key = match (source.kind(), id) {
            (SourceKind::Run, Some(id)) => id.to_vec(),
            _ => row.to_le_bytes().to_vec(),
        };
        let is_judged = judged.get(row).copied().unwrap_or(true);
        let ranked = DocumentRank { rank: position + 1, score: *scores.get(row)? };
        Some(ListedDocument {
            key,
            name,
            label: labels.get(row).copied().filter(|_| is_judged),
            ranked,
        })
    };
    Ok(order.iter().enumerate().filter_map(listed).collect())
}

/// Both lists merged, sorted by the better rank, then by the rank in the second list.
fn merged(before: Vec<ListedDocument>, after: Vec<ListedDocument>) -> Vec<RankChange> {
    let mut positions: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut all: Vec<RankChange> = Vec::new();
    for ListedDocument { key, name, label, ranked } in after {
        positions.insert(key, all.len());
        all.push(RankChange { name, label, before: None, after: Some(ranked) });
    }
    for ListedDocument { key, name, label, ranked } in before {
        match positions.get(&key).and_then(|&position| all.get_mut(position)) {
            Some(document) => document.before = Some(ranked),
            None => all.push(RankChange { name, label, before: Some(ranked), after: None }),
        }
    }
    let rank = |ranked: Option<DocumentRank>| ranked.map_or(usize::MAX, |ranked| ranked.rank);
    all.sort_by_key(|document| (document.best_rank(), rank(document.after), rank(document.before)));
    all
}

/// The section: a choice of queries, each with a chart and a table.
pub(super) fn section(report: &ComparisonReport, details: &SourceDetails) -> Option<Section> {
    if details.changes.is_empty() {
        return None;
    }
    let has_several_systems = report.differences.len() > 1;
    let group = |(index, change): (usize, &Change)| {
        let id = report.query_id(change.query);
        let mut name = format!("Query {id}");
        if has_several_systems {
            name += &format!(", {}", report.name(change.system));
        }
        if !change.reason.is_empty() {
            name += &format!(" ({})", change.reason);
        }
        (name, blocks(report, change, index + 1))
    };
    let mut blocks = vec![PageBlock::Choice {
        id: "changed-query".to_owned(),
        label: "Query".to_owned(),
        groups: details.changes.iter().enumerate().map(group).collect(),
        control: ChoiceControl::List,
    }];
    if details.omitted > 0 {
        blocks.push(PageBlock::Text(format!(
            "Shown for the first {SYSTEMS} systems; {} left out.",
            left_out(details.omitted, "more system")
        )));
    }
    let title = "Rank changes within a query".to_owned();
    Some(Section { id: "changes".to_owned(), title, blocks })
}

/// A number of things that are left out, with the verb: `1 more system is`.
fn left_out(count: usize, unit: &str) -> String {
    format!("{} {}", counted(count, unit), if count == 1 { "is" } else { "are" })
}

/// A sentence, a chart and a table on one query; `number` makes their ids unique.
fn blocks(report: &ComparisonReport, change: &Change, number: usize) -> Vec<PageBlock> {
    let (system, baseline) = (report.name(change.system), report.baseline_name());
    let (before, after) = change.values;
    let query = report.query_id(change.query);
    let summary = format!(
        "Query {query}: {} is {} under {baseline} and {} under {system}.",
        report.main_metric(),
        fixed(before),
        fixed(after)
    );
    let table = PageBlock::Table {
        id: format!("change-table-{number}"),
        title: format!("Documents of query {query} under {baseline} and {system}"),
        table: table(change, baseline, system),
    };
    vec![PageBlock::Text(summary), PageBlock::Chart(chart(report, change, number)), table]
}

/// A point for each document that both systems rank, coloured by its label.
fn chart(report: &ComparisonReport, change: &Change, number: usize) -> Chart {
    let (system, baseline) = (report.name(change.system), report.baseline_name());
    let mut labels: Vec<Option<f64>> =
        change.documents.iter().map(|document| document.label).collect();
    labels.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    labels.dedup();
    let judged: Vec<f64> = labels.iter().copied().flatten().collect();
    let series = |label: &Option<f64>| {
        // Labels are in descending order; unjudged documents have a colour of their own.
        let index = label.and_then(|label| judged.iter().position(|other| *other == label));
        let colour = index.map_or(SeriesColour::Distinct, |index| SeriesColour::Ordinal {
            step: judged.len() - 1 - index,
            of: judged.len(),
        });
        let of_label = change.documents.iter().filter(|document| document.label == *label);
        let ranked =
            of_label.filter_map(|document| Some((document, document.before?, document.after?)));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by_key(|(_, before, _)| before.rank);
        let named = |value: f64| format!("label {value}");
        Series {
            name: label.map_or("unjudged".to_owned(), named),
            points: ranked
                .iter()
                .map(|(_, before, after)| (before.rank as f64, after.rank as f64))
                .collect(),
            names: ranked.iter().map(|(document, _, _)| document.name.clone()).collect(),
            colour,
            ..Series::default()
        }
    };
    let ranks = change.documents.iter().filter_map(|d| Some(d.before?.rank.max(d.after?.rank)));
    // The same range on both axes, so that equal ranks are on the diagonal.
    let range = ranks.max().map(|last| (0.0, last as f64 + 1.0));
    Chart {
        id: format!("change-{number}"),
        title: format!("Query {}: ranks under both systems", report.query_id(change.query)),
        caption: format!(
            "Each point is a document; rank 1 is at the top and at the left. On the diagonal both \
             systems give it the same rank; above the diagonal {system} ranks it nearer to the top \
             than {baseline} does."
        ),
        x: Axis { label: format!("Rank under {baseline}"), range, ..Axis::default() },
        y: Axis { label: format!("Rank under {system}"), range, reversed: true, ..Axis::default() },
        body: Body::Points(labels.iter().map(series).filter(|s| !s.points.is_empty()).collect()),
    }
}

/// A row for each document: its label, its ranks and its scores under both systems.
fn table(change: &Change, baseline: &str, system: &str) -> Table {
    let mut table = Table::new([
        ("document".to_owned(), Align::Left),
        ("label".to_owned(), Align::Right),
        (format!("rank, {baseline}"), Align::Right),
        (format!("rank, {system}"), Align::Right),
        ("ranks gained".to_owned(), Align::Right),
        (format!("score, {baseline}"), Align::Right),
        (format!("score, {system}"), Align::Right),
        ("score change".to_owned(), Align::Right),
    ]);
    for document in &change.documents {
        let rank =
            |ranked: Option<DocumentRank>| ranked.map_or("-".to_owned(), |r| r.rank.to_string());
        let score = |ranked: Option<DocumentRank>| ranked.map(|r| r.score);
        let scores = score(document.before).zip(score(document.after));
        let risen = match document.risen() {
            Some(ranks) if ranks > 0 => format!("+{ranks}"),
            Some(ranks) => ranks.to_string(),
            None => "-".to_owned(),
        };
        let cells = [
            document.name.clone(),
            document.label.map_or("unjudged".to_owned(), |label| label.to_string()),
            rank(document.before),
            rank(document.after),
            risen,
            fixed(score(document.before)),
            fixed(score(document.after)),
            signed(scores.map(|(before, after)| after - before)),
        ];
        table.rows.push(cells.into_iter().map(Cell::new).collect());
    }
    if change.omitted > 0 {
        table.notes.push(format!(
            "{} left out: not relevant and below rank {TOP}, or beyond the first {DOCUMENTS}",
            left_out(change.omitted, "more document")
        ));
    }
    table
        .notes
        .push("scores of two systems may have different scales; ranks can be compared".to_owned());
    table
}
