//! Tests of comparison reports.

use rankwright_data::{Qrels, QueryLists, Run};
use rankwright_eval::compare::CompareOptions;
use rankwright_eval::{JudgedRun, Measure, MetricSpec, ScoredQueries, evaluate};
use serde_json::to_value;

use super::*;
use crate::chart::{Body, Chart};
use crate::page::PageBlock;

fn measures(specs: &[&str], kind: SourceKind) -> Vec<Measure> {
    specs.iter().map(|s| MetricSpec::parse(s).unwrap().resolve(kind).unwrap()).collect()
}

/// Three queries (a, b, c) of three documents. The metric rr of the baseline is 1, 1/2 and 1/3,
/// that of the other system 1/2, 1/2 and 1.
const LABELS: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0];
const BASE: [f64; 9] = [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 3.0, 2.0, 1.0];
const OTHER: [f64; 9] = [2.0, 3.0, 1.0, 3.0, 2.0, 1.0, 2.0, 1.0, 3.0];

fn queries(scores: &[f64]) -> ScoredQueries<'_> {
    let ids = vec!["a", "b", "c"];
    ScoredQueries::new(&LABELS, scores, vec![0..3, 3..6, 6..9], ids).unwrap()
}

fn report(specs: &[&str]) -> ComparisonReport {
    let measures = measures(specs, SourceKind::Features);
    let systems = [("base", &BASE), ("other", &OTHER)].map(|(name, scores)| {
        let found = evaluate(&queries(scores), &measures, EvalOptions::default()).unwrap();
        (name.to_owned(), found)
    });
    ComparisonReport::new("T", systems.to_vec(), &CompareOptions::default()).unwrap()
}

fn with_sources(report: ComparisonReport, named: &[&str]) -> Result<ComparisonReport, ReportError> {
    let (base, other) = (queries(&BASE), queries(&OTHER));
    let named: Vec<String> = named.iter().map(|id| (*id).to_owned()).collect();
    report.with_sources(&[&base, &other], &named, EvalOptions::default())
}

/// All charts of a page, including those in choices.
fn charts(blocks: &[PageBlock]) -> Vec<&Chart> {
    let mut found = Vec::new();
    for block in blocks {
        match block {
            PageBlock::Chart(chart) => found.push(chart),
            PageBlock::Choice { groups, .. } => {
                groups.iter().for_each(|(_, blocks)| found.extend(charts(blocks)));
            }
            _ => {}
        }
    }
    found
}

fn section<'a>(page: &'a Page, id: &str) -> &'a Section {
    page.sections.iter().find(|section| section.id == id).unwrap()
}

#[test]
fn wins_are_sorted_with_the_largest_first_and_counted() {
    let report = report(&["rr"]);
    let differences = &report.differences[0];
    let found: Vec<(usize, f64)> = differences.sorted.clone();
    let expected = [(2, 1.0 - 1.0 / 3.0), (1, 0.0), (0, -0.5)];
    assert_eq!(found, expected);
    let counts = differences.counts;
    assert_eq!((counts.wins, counts.ties, counts.losses), (1, 1, 1));
    let page = report.page();
    let all = charts(&section(&page, "wins").blocks);
    let Body::Bars(bars) = &all[0].body else { panic!("bars expected") };
    assert_eq!(bars.categories, ["c", "b", "a"]);
    assert_eq!(bars.series[1].values[2], -0.5);
    assert!(bars.series[0].values[2].is_nan());
}

#[test]
fn where_lower_values_are_better_a_lower_value_is_a_win() {
    // Inversions of the baseline: 0, 1, 2; of the other system: 1, 1, 0.
    let report = report(&["inversions"]);
    let found: Vec<(usize, f64)> = report.differences[0].sorted.clone();
    assert_eq!(found, [(2, 2.0), (1, 0.0), (0, -1.0)]);
    // The worst mean is the highest: b and c have 1, a has 1/2.
    let hard: Vec<usize> = hardest::hardest(&report).iter().map(|row| row.query).collect();
    assert_eq!(hard, [1, 2, 0]);
}

#[test]
fn hardest_queries_have_the_lowest_mean_and_different_ones_the_largest_span() {
    // Means: a 3/4, b 1/2, c 2/3.
    let report = report(&["rr"]);
    let hard: Vec<usize> = hardest::hardest(&report).iter().map(|row| row.query).collect();
    assert_eq!(hard, [1, 2, 0]);
    let different = hardest::most_different(&report);
    let found: Vec<usize> = different.iter().map(|row| row.query).collect();
    assert_eq!(found, [2, 0], "query b does not differ");
}

#[test]
fn the_curve_equals_an_evaluation_at_each_cutoff() {
    let report = with_sources(report(&["kendall", "ap", "p@2"]), &[]).unwrap();
    let curves = report.details.as_ref().unwrap().curves.as_ref().unwrap();
    assert_eq!(curves.metric, "p@k", "the first with a cut-off is taken");
    for (s, scores) in [&BASE, &OTHER].into_iter().enumerate() {
        for k in [1_u32, 2, 20] {
            let measure = measures(&[&format!("p@{k}")], SourceKind::Features);
            let found = evaluate(&queries(scores), &measure, EvalOptions::default()).unwrap();
            let point = curves.systems[s][k as usize - 1];
            assert_eq!((point.value, point.ci95), (found.results[0].value, found.results[0].ci95));
        }
    }
    assert!(curves.convention.contains("cutoff=k"), "{}", curves.convention);
}

#[test]
fn metrics_without_a_cutoff_give_no_curves() {
    let report = with_sources(report(&["kendall"]), &[]).unwrap();
    assert!(report.details.as_ref().unwrap().curves.is_none());
    assert!(!report.page().sections.iter().any(|section| section.id == "cutoffs"));
    assert!(to_value(&report).unwrap()["cutoffs"].is_null());
}

#[test]
fn informative_queries_are_shown_with_their_rank_changes() {
    let report = with_sources(report(&["rr"]), &[]).unwrap();
    let json = to_value(&report).unwrap();
    let why: Vec<&str> =
        json["changes"].as_array().unwrap().iter().map(|c| c["why"].as_str().unwrap()).collect();
    assert_eq!(why, ["largest win", "largest loss", "median"]);
    let win = &json["changes"][0];
    assert_eq!((&win["query"], &win["value"]), (&"c".into(), &1.0.into()));
    // Documents are sorted by the better rank, then by the rank under the other system, which ranks
    // the third document first.
    let first = &win["documents"][0];
    assert_eq!((&first["document"], &first["risen"]), (&"document 3".into(), &2.into()));
    assert_eq!((&first["baseline_rank"], &first["rank"]), (&3.into(), &1.into()));
    assert_eq!((&first["baseline_score"], &first["score"]), (&1.0.into(), &3.0.into()));
    let sizes = &report.details.as_ref().unwrap().query_sizes;
    assert_eq!(sizes[0], QuerySize { documents: 3, relevant: 1 });
}

#[test]
fn a_named_query_is_shown_and_an_unknown_one_refused() {
    let found = to_value(with_sources(report(&["rr"]), &["b"]).unwrap()).unwrap();
    assert_eq!(found["changes"].as_array().unwrap().len(), 1);
    assert_eq!(found["changes"][0]["query"], "b");
    let error = with_sources(report(&["rr"]), &["z"]).unwrap_err();
    assert!(
        error.to_string().contains("query 'z' is not one of the 3 queries compared"),
        "{error}"
    );
    assert!(error.help().unwrap().contains("a, b, c"));
}

#[test]
fn documents_of_runs_are_matched_by_id_and_may_be_in_one_run_only() {
    let qrels =
        Qrels::from_lists(QueryLists::from_rows("q", [("1", "a", 1.0), ("1", "b", 0.0)]).unwrap());
    let runs = [
        QueryLists::from_rows("r", [("1", "x", 9.0), ("1", "a", 8.0)]).unwrap(),
        QueryLists::from_rows("r", [("1", "a", 9.0), ("1", "b", 8.0)]).unwrap(),
    ]
    .map(Run::from_lists);
    let sources: Vec<JudgedRun<'_>> = runs.iter().map(|run| JudgedRun::new(run, &qrels)).collect();
    let rr = measures(&["rr"], SourceKind::Run);
    let systems = sources.iter().zip(["one", "two"]).map(|(source, name)| {
        (name.to_owned(), evaluate(source, &rr, EvalOptions::default()).unwrap())
    });
    let report = ComparisonReport::new("T", systems.collect(), &CompareOptions::default()).unwrap();
    let report =
        report.with_sources(&[&sources[0], &sources[1]], &[], EvalOptions::default()).unwrap();
    let moved = &report.details.as_ref().unwrap().changes[0].documents;
    let shown: Vec<(&str, Option<f64>, Option<i64>)> =
        moved.iter().map(|m| (m.name.as_str(), m.label, m.risen())).collect();
    assert_eq!(shown, [("a", Some(1.0), Some(1)), ("x", None, None), ("b", Some(0.0), None)]);
}

#[test]
fn many_queries_share_bars_that_keep_the_mean() {
    // Each query has a relevant and a non-relevant document. The other system always ranks the
    // relevant one first; the baseline does so for every third query, and reverses or ties the
    // rest.
    let n = 1001;
    let labels = [1.0, 0.0].repeat(n);
    let base: Vec<f64> = (0..2 * n).map(|row| if row % 3 == 0 { 1.0 } else { 0.5 }).collect();
    let other: Vec<f64> = (0..2 * n).map(|row| if row % 2 == 0 { 1.0 } else { 0.5 }).collect();
    let ids: Vec<String> = (0..n).map(|q| q.to_string()).collect();
    let rr = measures(&["rr"], SourceKind::Features);
    let systems = [("base", &base), ("other", &other)].map(|(name, scores)| {
        let ranges = (0..n).map(|q| 2 * q..2 * q + 2).collect();
        let ids = ids.iter().map(String::as_str).collect();
        let source = ScoredQueries::new(&labels, scores, ranges, ids).unwrap();
        (name.to_owned(), evaluate(&source, &rr, EvalOptions::default()).unwrap())
    });
    let options = CompareOptions::default().samples(1000);
    let report = ComparisonReport::new("T", systems.to_vec(), &options).unwrap();
    let page = report.page();
    let chart = charts(&section(&page, "wins").blocks)[0];
    let Body::Bars(bars) = &chart.body else { panic!("bars expected") };
    assert_eq!(bars.categories.len(), 91, "eleven queries for each bar");
    assert_eq!(bars.categories[0], "1 to 11");
    assert_eq!(bars.series[0].values[0], 0.5);
    assert_eq!(bars.categories[90], "991 to 1001");
}

#[test]
fn the_terminal_shows_wins_above_losses() {
    let text = report(&["rr"]).per_query_text(80);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "rr by query against base, the largest win first (█ is 0.6667):");
    assert_eq!(lines[1], "other  1 won, 1 tied, 1 lost");
    assert_eq!(lines[2], "       + █");
    // 0.5 / 0.6667 is six eighths.
    assert_eq!(lines[3], "       -   ▆");
}

#[test]
fn one_system_is_described_without_wins() {
    let rr = measures(&["rr"], SourceKind::Features);
    let found = evaluate(&queries(&BASE), &rr, EvalOptions::default()).unwrap();
    let systems = vec![("only".to_owned(), found)];
    let report = ComparisonReport::new("T", systems, &CompareOptions::default()).unwrap();
    assert_eq!(report.per_query_text(80), "");
    let page = report.page();
    // The mean of 1, 1/2 and 1/3.
    assert!(page.summary.starts_with("only: rr 0.6111"), "{}", page.summary);
    let ids: Vec<&str> = page.sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(ids, ["summary", "hardest"]);
}

#[test]
fn facts_and_sections_of_the_caller_are_on_the_page() {
    let own = Section { id: "own".into(), title: "Own".into(), blocks: Vec::new() };
    let page =
        report(&["rr"]).with_facts(vec![("Data".into(), "d.txt".into())]).with_section(own).page();
    assert_eq!(page.facts[0], ("Data".to_owned(), "d.txt".to_owned()));
    assert_eq!(page.sections.last().unwrap().id, "own");
    // The mean of -1/2, 0 and 2/3 is 0.0556.
    assert!(page.summary.contains("other is not significantly different from base (+0.0556, p ="));
}

#[test]
fn sources_in_another_order_are_refused() {
    let reversed =
        ScoredQueries::new(&LABELS, &BASE, vec![6..9, 3..6, 0..3], vec!["c", "b", "a"]).unwrap();
    let wrong = report(&["rr"])
        .with_sources(&[&queries(&BASE), &reversed], &[], EvalOptions::default())
        .unwrap_err();
    assert!(
        wrong
            .to_string()
            .contains("the source of other does not have the queries of the evaluation of base"),
        "{wrong}"
    );
}

#[test]
fn other_queries_are_refused() {
    let rr = measures(&["rr"], SourceKind::Features);
    let evaluation = |ids: [&str; 3]| {
        let ranges = vec![0..3, 3..6, 6..9];
        let source = ScoredQueries::new(&LABELS, &BASE, ranges, ids.to_vec()).unwrap();
        evaluate(&source, &rr, EvalOptions::default()).unwrap()
    };
    let systems = [("x", ["a", "b", "c"]), ("y", ["a", "c", "d"])]
        .map(|(name, ids)| (name.to_owned(), evaluation(ids)));
    let error =
        ComparisonReport::new("T", systems.to_vec(), &CompareOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "y was evaluated on query d and x was not; expected the same queries for all systems"
    );
}

#[test]
fn metrics_with_means_above_1_have_a_chart_of_their_own() {
    let page = report(&["rr", "ap", "inversions", "dcg@3"]).page();
    let all = charts(&section(&page, "summary").blocks);
    let categories: Vec<Vec<String>> = all
        .iter()
        .map(|chart| match &chart.body {
            Body::Bars(bars) => bars.categories.clone(),
            _ => panic!("bars expected"),
        })
        .collect();
    assert_eq!(categories, [vec!["rr", "ap", "inversions"], vec!["dcg@3"]]);
}

#[test]
fn the_caller_can_choose_the_main_metric() {
    let report = report(&["kendall", "rr"]).with_main("rr").unwrap();
    assert_eq!(report.differences[0].sorted[0], (2, 1.0 - 1.0 / 3.0));
    assert_eq!(to_value(&report).unwrap()["per_query"]["metric"], "rr");
    assert!(report.page().summary.starts_with("By rr:"));
    let error = report.with_main("ap").unwrap_err();
    assert!(error.to_string().ends_with("one of the compared metrics: kendall, rr"), "{error}");
}
