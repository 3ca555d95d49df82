//! Tests of `report train` and `report shrinkage`.

use crate::common::{Ran, bench, command, train};
use serde_json::Value;

/// The JSON document of a report; checks that its page exists.
fn report(bench: &crate::common::Bench, words: &str) -> Value {
    let document = bench.run(&format!("report {words} --out r.html --json")).json();
    assert_eq!(document["html"], "r.html");
    assert!(bench.text("r.html").starts_with("<!"), "the page is HTML");
    document
}

fn last(values: &Value) -> f64 {
    values.as_array().unwrap().last().unwrap().as_f64().unwrap()
}

#[test]
fn a_training_report_ends_with_the_values_of_eval() {
    let bench = bench();
    train(&bench, "lambdamart(trees=12, leaves=6, min_rows=5, stop=none)", "--valid valid.txt");
    let words = "train m.model train.txt --valid valid.txt --metric ndcg@10,ap --points 8";
    let found = report(&bench, words);
    let stages = found["stages"].as_array().unwrap();
    assert!(stages.len() <= 8, "{stages:?}");
    assert_eq!((stages[0].as_u64(), stages.last().unwrap().as_u64()), (Some(0), Some(12)));
    for (data, at) in [("train.txt", 0), ("valid.txt", 1)] {
        let eval = bench.run(&format!("eval m.model {data} --metric ndcg@10,ap --json")).json();
        for metric in 0..2 {
            let curve = last(&found["curves"][metric]["values"][data]);
            assert_eq!(Some(curve), eval["metrics"][metric]["value"].as_f64(), "{data} {at}");
        }
    }
    let best = found["curves"][0]["best"]["value"].as_f64().unwrap();
    assert!(best >= last(&found["curves"][0]["values"]["valid.txt"]));
    assert_eq!(found["time"]["rounds"].as_array().unwrap().len(), 12);
    assert_eq!(found["trees"], serde_json::json!([1, 6, 12]));
    let pairs = &found["lambdas"]["by_pair"];
    assert!(pairs["names"].as_array().unwrap().iter().any(|name| name == "1 over 0"));
    assert_eq!(found["importance"]["permutation"]["data"], "valid.txt");
}

/// As in `train`, each `--valid` is a separate set.
#[test]
fn validation_files_are_sets_of_their_own() {
    let bench = bench();
    train(&bench, "mart(trees=3, leaves=4)", "--valid valid.txt");
    let generate = "data generate letor --queries 9 --documents 20 --seed 3 --out test.txt";
    bench.run(generate).ok();
    let words = "train m.model train.txt --valid valid.txt --valid test.txt --metric ndcg@10";
    let found = report(&bench, words);
    let sets = found["curves"][0]["values"].as_object().unwrap();
    assert_eq!(sets.keys().collect::<Vec<_>>(), ["test.txt", "train.txt", "valid.txt"]);
    for data in ["valid.txt", "test.txt"] {
        let eval = bench.run(&format!("eval m.model {data} --metric ndcg@10 --json")).json();
        assert_eq!(Some(last(&sets[data])), eval["metrics"][0]["value"].as_f64(), "{data}");
    }
    let best = found["curves"][0]["best"]["value"].as_f64().unwrap();
    let first = sets["valid.txt"].as_array().unwrap();
    let most = first.iter().filter_map(Value::as_f64).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(best, most, "the first set decides");

    let words = "shrinkage train.txt --valid valid.txt --valid test.txt --trees 3 --rates 0.5";
    let run = &report(&bench, words)["runs"][0];
    assert_eq!(run["other_validation"].as_array().unwrap().len(), 1);
    assert_ne!(run["other_validation"][0], run["validation"]);
}

#[test]
fn a_query_can_be_chosen_and_an_unknown_one_is_refused() {
    let bench = bench();
    train(&bench, "rankmart(trees=4, leaves=4, min_rows=5)", "");
    let found = report(&bench, "train m.model train.txt --query 3");
    assert_eq!(found["forces"]["query"], "3");
    let document = &found["forces"]["stages"][0]["documents"][0];
    assert!(document["ranknet"].is_number() && document["lambdarank"].is_number());
    let ran = bench.run("report train m.model train.txt --query nobody --out x.html");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("no query 'nobody'"), "{}", ran.err());
    assert!(!bench.path("x.html").exists());
}

#[test]
fn models_without_trees_or_log_get_a_report_without_those_parts() {
    let bench = bench();
    train(&bench, "linear-regression", "");
    std::fs::remove_file(bench.path("m.model.log.json")).unwrap();
    let ran = bench.run("report train m.model train.txt --out r.html --json");
    assert!(ran.err().contains("there is no training log m.model.log.json"), "{}", ran.err());
    let found = ran.json();
    assert!(found["time"]["left_out"].is_string() && found["lambdas"]["left_out"].is_string());
    assert!(found["curves"].as_array().unwrap().is_empty());
    assert!(found["values"][0]["value"].is_number());
}

#[test]
fn the_page_is_not_written_over_an_input() {
    let bench = bench();
    train(&bench, "mart(trees=2, leaves=4)", "");
    let ran = bench.run("report train m.model train.txt --out train.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("would be written over"), "{}", ran.err());
    let ran = bench.run("report train train.txt train.txt");
    assert_eq!(ran.code(), 1, "data is no model");
}

#[test]
fn shrinkages_are_trained_and_overlaid() {
    let bench = bench();
    let words = "shrinkage train.txt --valid valid.txt --trees 6 --rates 1.0,0.2";
    let found = report(&bench, words);
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run["validation"].as_array().unwrap().len() == 6));
    assert_eq!(runs[1]["learner"], "lambdamart(trees=6, rate=0.2, leaves=16)");
    // The same curve as that of the training itself.
    let learner = "lambdamart(trees=6, rate=0.2, leaves=16)";
    let trained = train(&bench, learner, "--valid valid.txt --metric ndcg@10");
    let rounds = trained["iterations"].as_array().unwrap();
    let curve: Vec<&Value> = rounds.iter().map(|round| &round["values"][0][0]).collect();
    assert_eq!(curve, runs[1]["validation"].as_array().unwrap().iter().collect::<Vec<_>>());
}

#[test]
fn without_validation_data_a_fifth_is_held_out_with_a_note() {
    let bench = bench();
    let words = ["report", "shrinkage", "train.txt", "--trees", "2", "--rates", "0.5", "--json"];
    let ran = Ran(command(&bench, &words).output().unwrap());
    assert!(ran.err().contains("there is no validation data"), "{}", ran.err());
    assert!(ran.err().contains("drawn at random with the seed, are held out"), "{}", ran.err());
    assert_eq!(ran.json()["best_rate"], 0.5);
    for (rates, message) in [("0", "above 0"), ("0.1,0.1", "twice")] {
        let ran = bench.run(&format!("report shrinkage train.txt --rates {rates}"));
        assert_eq!(ran.code(), 2);
        assert!(ran.err().contains(message), "{}", ran.err());
    }
    let ran = bench.run("report shrinkage train.txt --learner linear-regression");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("has no parameter `rate`"), "{}", ran.err());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_trainings_and_writes_nothing() {
    let bench = bench();
    let endless = ["report", "shrinkage", "train.txt", "--trees", "10000000", "--out", "r.html"];
    let ran = crate::common::interrupted(&bench, &endless);
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.err().contains("error: interrupted"), "{}", ran.err());
    assert!(ran.out().is_empty() && !bench.path("r.html").exists());
}
