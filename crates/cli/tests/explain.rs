//! Tests of `explain`: documents, pairs, lists and whole data sets, for every kind of model.

use crate::common::{Bench, bench, train};
use serde_json::{Value, json};

const TREES: &str = "lambdamart(trees=20, leaves=8)";

fn numbers(list: &Value, key: &str) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|entry| entry[key].as_f64().unwrap()).collect()
}

fn explained(bench: &Bench, more: &str) -> Value {
    bench.run(&format!("explain m.model valid.txt --json {more}")).json()
}

/// The id of the first query of `valid.txt`.
fn first_query(bench: &Bench) -> String {
    let text = bench.text("valid.txt");
    let word = text.split_whitespace().find_map(|word| word.strip_prefix("qid:"));
    word.unwrap().to_owned()
}

/// Checks that every document's contributions sum to its score as `score` computes it.
fn check_sums(bench: &Bench, found: &Value) {
    let scores = bench.run("score m.model valid.txt").ok().out();
    let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
    let base = found["base"].as_f64().unwrap();
    for document in found["documents"].as_array().unwrap() {
        let score = document["score"].as_f64().unwrap();
        assert_eq!(score, scores[document["row"].as_u64().unwrap() as usize]);
        let parts = numbers(&document["contributions"], "contribution");
        let sum = base + parts.iter().sum::<f64>();
        assert!((sum - score).abs() < 1e-9 * score.abs().max(1.0), "{sum} {score}");
        assert!(parts.is_sorted_by(|a, b| a.abs() >= b.abs()));
    }
}

#[test]
fn trees_are_explained_with_documents_by_rank_and_a_pair() {
    let bench = bench();
    train(&bench, TREES, "");
    let query = first_query(&bench);
    let found = explained(&bench, &format!("--query {query}"));
    check_sums(&bench, &found);
    let documents = found["documents"].as_array().unwrap();
    let lines = bench.text("valid.txt");
    let size = lines.lines().filter(|line| line.contains(&format!(" qid:{query} "))).count();
    assert!(size > 8, "{size}");
    assert_eq!(
        numbers(&found["documents"], "rank"),
        (1..=size).map(|rank| rank as f64).collect::<Vec<_>>()
    );
    assert_eq!(found["exact"], true);
    let (a, b) = (documents[0]["doc"].as_str().unwrap(), documents[7]["doc"].as_str().unwrap());
    let found = explained(&bench, &format!("--query {query} --pair {a} {b} --doc {a} --doc {b}"));
    let pair = &found["pair"];
    let lead = pair["difference"].as_f64().unwrap();
    let sum: f64 = numbers(&pair["contributions"], "difference").iter().sum();
    assert!(lead > 0.0 && (sum - lead).abs() < 1e-12, "{sum} {lead}");
    assert_eq!(numbers(&found["documents"], "rank"), [1.0, 8.0]);
    let spread = numbers(&found["list"], "spread");
    assert!(spread[0] > 0.0 && spread.is_sorted_by(|a, b| a >= b));
}

#[test]
fn text_shows_bars_and_a_page_is_written() {
    let bench = bench();
    train(&bench, TREES, "");
    let query = first_query(&bench);
    let ran =
        bench.run(&format!("explain m.model valid.txt --query {query} --top 4 --html e.html"));
    let text = ran.ok().out();
    for part in ["rank 1: document", "rank 3: document", " others", "over the list", "█", "│"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("rank 4: document"), "{text}");
    assert!(bench.text("e.html").starts_with("<!doctype html>"));
    let ran = bench.run(&format!("explain m.model valid.txt --query {query} --html m.model"));
    assert_eq!(ran.code(), 1, "a page is not written over the model");
}

#[test]
fn every_kind_of_model_is_explained_on_any_number_of_threads() {
    let bench = bench();
    let query = first_query(&bench);
    let kinds = [
        ("linear-regression", true),
        ("ranknet(layers=6, epochs=1)", false),
        ("random-forest(trees=5)", true),
    ];
    for (learner, exact) in kinds {
        train(&bench, learner, "");
        let found = explained(&bench, &format!("--query {query} --permutations 3"));
        check_sums(&bench, &found);
        assert_eq!(found["exact"], exact, "{learner}");
        let again = explained(&bench, &format!("--query {query} --permutations 3 --threads 3"));
        assert!(again == found, "{learner}");
        let other =
            explained(&bench, &format!("--query {query} --permutations 3 --background train.txt"));
        check_sums(&bench, &other);
        assert_eq!(other["relative_to"], "the documents of train.txt");
    }
}

#[test]
fn a_data_set_is_summed_up_with_dependence_on_a_feature() {
    let bench = bench();
    train(&bench, TREES, "");
    let found = explained(&bench, "");
    let summary = &found["summary"];
    let rows = bench.text("valid.txt").lines().filter(|line| line.contains(" qid:")).count();
    assert_eq!(summary["queries"].as_u64(), Some(12));
    assert_eq!(summary["documents"].as_u64(), Some(rows as u64));
    let sizes = numbers(&summary["features"], "size");
    assert!(sizes[0] > 0.0 && sizes.is_sorted_by(|a, b| a >= b));
    let feature = summary["features"][0]["feature"].as_str().unwrap().to_owned();
    let found = explained(&bench, &format!("--dependence {feature} --curves 2 --html s.html"));
    let curve = &found["dependence"][0];
    assert_eq!(
        (curve["feature"].as_str(), found["html"].as_str()),
        (Some(&feature[..]), Some("s.html"))
    );
    assert!(numbers(&curve["points"], "value").is_sorted_by(|a, b| a < b));
    assert_eq!(curve["curves"].as_array().unwrap().len(), 2);
    let text = bench.run(&format!("explain m.model valid.txt --dependence {feature}")).ok().out();
    assert!(text.contains("mean size") && text.contains(&format!("feature {feature}")), "{text}");
}

#[test]
fn explanations_that_are_not_possible_are_refused_with_advice() {
    let bench = bench();
    train(&bench, TREES, "");
    let query = first_query(&bench);
    let refused = |more: &str, code: i32| {
        let ran = bench.run(&format!("explain m.model valid.txt {more}"));
        assert_eq!(ran.code(), code, "{more}: {}", ran.err());
        ran.err()
    };
    let error = refused("--query nosuch", 1);
    assert!(
        error.contains("no query 'nosuch'")
            && error.contains("the data has 12 queries; for example"),
        "{error}"
    );
    let error = refused(&format!("--query {query} --doc 99999"), 1);
    assert!(error.contains("has no document '99999'"), "{error}");
    let error = refused("--dependence bm52", 1);
    assert!(error.contains("no feature 'bm52'"), "{error}");
    refused("--doc 1", 2);
    refused("--pair 1 2", 2);
    refused(&format!("--query {query} --pair 1"), 2);
    let error = refused("--pairs p.txt", 2);
    assert!(error.contains("does not apply"), "{error}");
}

#[test]
fn features_that_the_data_lacks_are_reported() {
    let bench = bench();
    train(&bench, TREES, "");
    let query = first_query(&bench);
    let line = format!("explain m.model valid.txt --query {query}");
    let ran = bench.run(&line).ok();
    assert!(!ran.err().contains("lacks"), "{}", ran.err());
    assert_eq!(bench.run(&format!("{line} --json")).json()["features_not_in_data"], json!([]));
    // Only the first few features; ids that a file does not have are absent values.
    let few = |line: &str| line.split(' ').take(6).collect::<Vec<_>>().join(" ");
    let rows = bench.text("valid.txt");
    let rows: Vec<String> = rows.lines().filter(|line| line.contains("qid:")).map(few).collect();
    bench.put("few.txt", &format!("{}\n", rows.join("\n")));
    let line = format!("explain m.model few.txt --query {query}");
    let note = "the data lacks ";
    let err = bench.run(&line).ok().err();
    assert!(err.contains(note) && err.contains("that the model uses, taken as zero: "), "{err}");
    assert!(!bench.run(&format!("{line} --quiet")).ok().err().contains(note));
    let lacking = bench.run(&format!("{line} --json")).json()["features_not_in_data"].clone();
    let lacking: Vec<u32> =
        lacking.as_array().unwrap().iter().map(|f| f.as_str().unwrap().parse().unwrap()).collect();
    assert!(!lacking.is_empty() && lacking.iter().all(|feature| *feature > 4), "{lacking:?}");
    for line in ["score m.model few.txt", "eval m.model few.txt"] {
        assert!(bench.run(line).ok().err().contains(note), "{line}");
    }
}

#[test]
fn one_document_is_written_in_the_singular() {
    let bench = bench();
    train(&bench, TREES, "");
    let rows = bench.text("valid.txt");
    let row = rows.lines().find(|line| line.contains("qid:")).unwrap();
    bench.put("one.txt", &format!("{row}\n"));
    let text = bench.run("explain m.model one.txt").ok().out();
    assert!(text.contains("over 1 document of 1 query,"), "{text}");
    let query = first_query(&bench);
    let text = bench.run(&format!("explain m.model one.txt --query {query}")).ok().out();
    assert!(text.contains(&format!("query {query}: 1 document; base score")), "{text}");
}
