//! Tests of data reports.

use rankwright_data::bytes::Input;
use rankwright_data::format::{Format, ReadOptions, read_inputs};
use rankwright_data::generate::LetorOptions;
use rankwright_eval::{MetricSpec, ScoredDataset, SourceKind};
use serde_json::to_value;

use super::*;
use crate::chart::Body;
use crate::page::PageBlock;

fn data(text: &str) -> Dataset {
    let input = Input::from_bytes("f", text.as_bytes().to_vec()).unwrap();
    let options = ReadOptions::new().format(Format::Letor);
    read_inputs(vec![input], &options).unwrap().data
}

fn report(text: &str) -> DataReport {
    DataReport::new("T", &data(text), &DataOptions::default()).unwrap()
}

/// A query with four documents. Feature 1 has a tie, feature 2 has the order of feature 1 reversed,
/// feature 3 is constant, feature 4 lacks a value.
const FOUR_DOCUMENTS: &str = "\
0 qid:a 1:1 2:9 3:5 4:1
0 qid:a 1:2 2:8 3:5 4:NULL
1 qid:a 1:2 2:8 3:5 4:3
2 qid:a 1:3 2:7 3:5 4:2
";

/// Regression: the bars of categories were called 0, 1, 2.
#[test]
fn categories_have_their_texts_in_charts() {
    let text = b"qid,label,brand\nq,1,Zeta\nq,0,Acme\nq,0,Zeta\nq,1,\n".to_vec();
    let options = ReadOptions::new().format(Format::Csv);
    let data = read_inputs(vec![Input::from_bytes("f", text).unwrap()], &options).unwrap().data;
    let report = DataReport::new("T", &data, &DataOptions::default()).unwrap();
    let spread = &report.spreads[0];
    assert_eq!([spread.value_text(0.0), spread.value_text(1.0)], ["Zeta", "Acme"]);
    assert_eq!(spread.shares[0].1, [0.5, 0.5]);
    assert_eq!(spread.shares[1].1, [1.0, 0.0], "a missing value does not count");
}

#[test]
fn tau_b_of_four_documents_with_ties_equals_the_value_by_hand() {
    let report = report(FOUR_DOCUMENTS);
    let tau = |c: usize| report.relations[c].tau;
    // Pairs: 6, of which one is tied in the feature and one in the label; the other four are
    // concordant: 4 / sqrt(5 * 5).
    assert!((tau(0) - 0.8).abs() < 1e-15);
    assert!((tau(1) + 0.8).abs() < 1e-15);
    assert_eq!(tau(2), 0.0);
    // Labels 0, 1, 2 with values 1, 3, 2: two concordant, one discordant, of three.
    assert!((tau(3) - 1.0 / 3.0).abs() < 1e-15);
    assert_eq!(report.order, [0, 1, 3, 2]);
}

#[test]
fn single_feature_rankers_equal_an_evaluation_of_the_column() {
    let data = LetorOptions { queries: 30, documents: 25, seed: 3 }.generate().unwrap();
    let report = DataReport::new("T", &data, &DataOptions::default()).unwrap();
    let ndcg = MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap();
    for c in [0, 17, 71] {
        for (sign, found) in
            [(1.0, report.relations[c].descending), (-1.0, report.relations[c].ascending)]
        {
            let scores: Vec<f64> =
                (0..data.rows()).map(|r| sign * f64::from(data.matrix().get(r, c))).collect();
            let scored = ScoredDataset::new(&data, &scores).unwrap();
            assert_eq!(
                found,
                scored.evaluate(std::slice::from_ref(&ndcg)).unwrap().results[0].value
            );
        }
    }
}

#[test]
fn the_better_direction_is_shown_and_ties_count_as_the_worst_order() {
    let report = report(FOUR_DOCUMENTS);
    let better = report.ranker.metric().better();
    assert!(report.relations[0].best(better).1);
    assert!(!report.relations[1].best(better).1);
    assert_eq!(report.relations[0].descending, report.relations[1].ascending);
    // A constant feature ranks as badly as the labels allow: 0 0 1 2 from the top, in both
    // directions. DCG = 1 / log2(4) + 3 / log2(5); the ideal DCG is 3 + 1 / log2(3).
    let worst = (0.5 + 3.0 / 5.0_f64.log2()) / (3.0 + 1.0 / 3.0_f64.log2());
    assert!((report.relations[2].descending - worst).abs() < 1e-12);
    assert_eq!(report.relations[2].descending, report.relations[2].ascending);
}

#[test]
fn near_duplicates_of_both_signs_are_found() {
    let report = report(FOUR_DOCUMENTS);
    let groups = &report.similar.groups;
    assert_eq!(groups.len(), 1);
    let members: Vec<usize> = groups[0].iter().map(|(c, _)| *c).collect();
    assert_eq!(members, [0, 1]);
    assert!((groups[0][1].1 + 1.0).abs() < 1e-12, "{:?}", groups[0]);
    let json = to_value(&report).unwrap();
    assert_eq!(json["similar"]["near_duplicates"][0][1]["feature"], "2");
}

#[test]
fn the_sample_is_seeded_and_holds_no_row_twice() {
    let rows = sample(1000, 50, 1);
    assert_eq!(rows.len(), 50);
    assert!(rows.is_sorted_by(|a, b| a < b) && *rows.last().unwrap() < 1000);
    assert_eq!(rows, sample(1000, 50, 1));
    assert_ne!(rows, sample(1000, 50, 2));
    assert_eq!(sample(3, 50, 1), [0, 1, 2]);
}

#[test]
fn shares_of_a_label_sum_to_one_and_the_outer_bins_have_the_values_beyond() {
    let few_values = report(FOUR_DOCUMENTS);
    let spread = few_values.spreads.iter().find(|spread| spread.column == 0).unwrap();
    assert_eq!(spread.bins, spread::Bins::Values(vec![1.0, 2.0, 3.0]));
    assert_eq!(spread.shares[0], ("label 0".to_owned(), vec![0.5, 0.5, 0.0]));
    assert_eq!(spread.shares[2], ("label 2".to_owned(), vec![0.0, 0.0, 1.0]));
    // 400 different values, one of them far beyond all others.
    let text: String = (0..400)
        .map(|i| format!("{} qid:a 1:{}\n", i % 2, if i == 7 { 1e9 } else { f64::from(i) }))
        .collect();
    let many_values = report(&text);
    let spread = &many_values.spreads[0];
    assert!(matches!(spread.bins, spread::Bins::Range(low, high) if low < 10.0 && high < 1e6));
    for (_, shares) in &spread.shares {
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn unusual_data_sets_have_a_report() {
    for (text, queries) in [
        // One document; equal labels; infinite values; unusual labels; no features.
        ("1 qid:a 1:1\n", 1),
        ("0 qid:a 1:1 2:NULL\n0 qid:a 1:2 2:NULL\n", 1),
        ("0 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:inf\n", 2),
        ("-1 qid:a 1:1\n0.5 qid:a 1:-inf\n7 qid:b\n", 2),
        ("0 qid:a\n1 qid:a\n", 1),
    ] {
        let report = report(text);
        let json = to_value(&report).unwrap();
        assert_eq!(json["queries"], queries, "{text}");
        let page = report.page();
        assert_eq!(page.sections[0].id, "labels");
        for feature in &report.relations {
            assert!(feature.tau.is_nan() || feature.tau.abs() <= 1.0, "{text}");
        }
    }
    let equal_labels = report("0 qid:a 1:1\n0 qid:a 1:2\n");
    let json = to_value(&equal_labels).unwrap();
    assert!(
        equal_labels.relations[0].tau.is_nan() && json["feature_summaries"][0]["tau"].is_null()
    );
    let summary = equal_labels.page().summary;
    assert!(summary.ends_with("1 feature."), "{summary}");
}

#[test]
fn a_feature_that_is_always_missing_is_reported() {
    let report = report("0 qid:a 1:NULL 2:1\n1 qid:a 1:NULL 2:2\n");
    assert!(report.relations[0].tau.is_nan());
    let page = report.page();
    let missing = page.sections.iter().find(|section| section.id == "missing").unwrap();
    let PageBlock::Chart(chart) = &missing.blocks[0] else { panic!("a chart expected") };
    let Body::Bars(bars) = &chart.body else { panic!("bars expected") };
    assert_eq!((bars.categories[0].as_str(), bars.series[0].values[0]), ("1", 1.0));
    let warnings = page.sections.iter().find(|section| section.id == "warnings").unwrap();
    let text = "Constant features, which cannot help to rank: 1.".to_owned();
    assert!(warnings.blocks.contains(&PageBlock::Text(text)), "{:?}", warnings.blocks);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let data = LetorOptions { queries: 20, documents: 30, seed: 5 }.generate().unwrap();
    let found: Vec<serde_json::Value> = [1, 3]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let options = DataOptions { sample: 100, ..DataOptions::default() };
            pool.install(|| to_value(DataReport::new("T", &data, &options).unwrap()).unwrap())
        })
        .collect();
    assert_eq!(found[0], found[1]);
}

#[test]
fn options_out_of_range_are_refused() {
    let default = DataOptions::default;
    for (options, message) in [
        (DataOptions { top: 0, ..default() }, "from 1 to 50"),
        (DataOptions { duplicate_correlation: 1.5, ..default() }, "duplicate_correlation"),
        (DataOptions { sample: 1, ..default() }, "sample"),
        (DataOptions { ..default().metric("ndgc") }, "did you mean `ndcg`"),
    ] {
        let error = DataReport::new("T", &data(FOUR_DOCUMENTS), &options).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn very_many_features_are_refused() {
    let width = MOST_FEATURES + 1;
    let data =
        Dataset::from_dense(vec![0.0; 2 * width], width, vec![0.0, 1.0], ["q", "q"]).unwrap();
    let error = DataReport::new("wide", &data, &DataOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the data has 20001 features; a report has at most 20000");
}
