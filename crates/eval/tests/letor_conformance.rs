//! Tests that our values equal all 40 rows that the LETOR 4.0 script printed for published
//! baselines, to its four digits.

use std::fs;
use std::path::Path;

use crate::common::data;
use rankwright_eval::{EvalOptions, Measure, ScoredQueries, evaluate};

/// Labels and query ids of a LETOR file, in row order.
fn read_part(path: &Path) -> (Vec<f64>, Vec<String>) {
    let text = fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let mut fields = line.split(' ');
        let label: f64 = fields.next().unwrap().parse().unwrap();
        (label, fields.next().unwrap().strip_prefix("qid:").unwrap().to_owned())
    };
    text.lines().map(row).unzip()
}

/// The spec for a column of the expected table.
fn spec_of(column: &str) -> String {
    match column.split_once('@') {
        Some(("NDCG", k)) => format!("ndcg(preset=letor4)@{k}"),
        Some(("P", k)) => format!("p(preset=letor4)@{k}"),
        None if column == "MeanNDCG" => "mean-ndcg(preset=letor4)".to_owned(),
        _ => "ap(preset=letor4)".to_owned(),
    }
}

#[test]
fn all_forty_rows_of_the_letor_baselines_are_reproduced() {
    let (Some(baselines), Some(mq2008)) = (data("letor-baselines"), data("mq2008")) else { return };
    let table = fs::read_to_string(baselines.join("expected.tsv")).unwrap();
    let mut lines = table.lines().map(|l| l.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    // The first five columns describe the run; those after them are metrics.
    let columns = &header[5..];
    assert_eq!(columns.len(), 22);
    let measures: Vec<Measure> =
        columns.iter().map(|c| crate::common::measure(&spec_of(c))).collect();
    let mut rows = 0;
    for row in lines {
        // Fold 1 tests on part 5, fold 2 on part 1, and so on.
        let fold: usize = row[2].strip_prefix("Fold").unwrap().parse().unwrap();
        let part = if fold == 1 { 5 } else { fold - 1 };
        let (labels, qids) = read_part(&mq2008.join(format!("S{part}.txt")));
        let text = fs::read_to_string(baselines.join(row[3])).unwrap();
        let scores: Vec<f64> = text.lines().map(|l| l.trim().parse().unwrap()).collect();
        let (mut ranges, mut ids, mut start) = (Vec::new(), Vec::new(), 0);
        for query in qids.chunk_by(|a, b| a == b) {
            ranges.push(start..start + query.len());
            ids.push(query[0].as_str());
            start += query.len();
        }
        let source = ScoredQueries::new(&labels, &scores, ranges, ids).unwrap();
        let found = evaluate(&source, &measures, EvalOptions::default()).unwrap();
        for ((column, result), expected) in columns.iter().zip(&found.results).zip(&row[5..]) {
            let expected_value: f64 = expected.parse().unwrap();
            let close = (result.value - expected_value).abs() < 5.001e-5;
            let context = format!("{} {} {column}", row[1], row[2]);
            assert!(close, "{context}: found {}, expected {expected}", result.value);
        }
        rows += 1;
    }
    assert_eq!(rows, 40);
}
