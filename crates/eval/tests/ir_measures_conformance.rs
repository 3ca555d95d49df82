//! Tests that values are equal to those of ir_measures 0.4.3, where its providers (the libraries
//! that it calls) have the same conventions.
//!
//! Providers break ties differently, and one of them, gdeval, prints five decimals: so queries with
//! tied scores are left out, and the tolerance is half of the fifth decimal.

use std::fs;

use crate::common::data;
use crate::common::trec::JudgedRun;
use rankwright_eval::{EvalOptions, MetricSpec, QuerySource, evaluate};

/// Names of ir_measures, and our specs of the same metrics.
const METRIC_PAIRS: &[(&str, &str)] = &[
    ("AP", "ap(preset=trec)"),
    ("AP@10", "ap(preset=trec)@10"),
    ("RR", "rr(preset=trec)"),
    ("RR@10", "rr(preset=trec)@10"),
    ("P@5", "p(preset=trec)@5"),
    ("R@100", "recall(preset=trec)@100"),
    ("Rprec", "rprec(preset=trec)"),
    ("Bpref", "bpref(preset=trec)"),
    ("Success@5", "success(preset=trec)@5"),
    ("nDCG", "ndcg(preset=trec)"),
    ("nDCG@5", "ndcg(preset=trec)@5"),
    ("nDCG(dcg='exp-log2')@5", "ndcg(blank=0)@5"),
    ("nDCG(dcg='exp-log2')@10", "ndcg(blank=0)@10"),
    ("ERR@5", "err(blank=0)@5"),
    ("ERR@10", "err(blank=0)@10"),
    ("ERR@20", "err(blank=0)@20"),
    ("RBP(rel=1)", "rbp(blank=0)"),
    ("RBP(rel=2)", "rbp(rel=2, blank=0)"),
    ("RBP(rel=1,p=0.5)", "rbp(p=0.5, blank=0)"),
    ("RBP(rel=1,p=0.95)", "rbp(p=0.95, blank=0)"),
    ("Judged@10", "judged@10"),
];

#[test]
fn metrics_equal_ir_measures_on_queries_without_ties() {
    let Some(folder) = data("metric-conformance") else { return };
    let path = |end: &str| folder.join(format!("mq2008-svm_rank.{end}"));
    let run = JudgedRun::read(&path("qrels"), &path("run"));
    let resolve = |s: &str| MetricSpec::parse(s).unwrap().resolve(run.kind()).unwrap();
    let measures: Vec<_> = METRIC_PAIRS.iter().map(|(_, ours)| resolve(ours)).collect();
    let found = evaluate(&run, &measures, EvalOptions::default()).unwrap();
    let mut compared = vec![0; METRIC_PAIRS.len()];
    for line in fs::read_to_string(path("ir_measures.tsv")).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (query, expected) = (fields[0], fields[2].parse::<f64>().unwrap());
        let position = METRIC_PAIRS.iter().position(|(theirs, _)| *theirs == fields[1]);
        let Some(m) = position else { continue };
        if query == "all" || run.has_ties(query) {
            continue;
        }
        let q = found.queries.iter().position(|id| id == query).unwrap();
        let value = found.results[m].values[q].unwrap();
        let close = (value - expected).abs() < 5.1e-6;
        assert!(close, "{} query {query}: found {value}, expected {expected}", METRIC_PAIRS[m].0);
        compared[m] += 1;
    }
    for ((theirs, _), count) in METRIC_PAIRS.iter().zip(&compared) {
        assert!(*count >= 300, "{theirs}: only {count} queries compared");
    }
}
