//! Tests of `report data`.

use crate::common::{Bench, bench, real_data};
use serde_json::Value;

fn feature<'a>(found: &'a Value, name: &str) -> &'a Value {
    let all = found["feature_summaries"].as_array().unwrap();
    all.iter().find(|feature| feature["name"] == name).unwrap()
}

#[test]
fn generated_data_is_described() {
    let bench = bench();
    let found = bench.run("report data train.txt --json --quiet").json();
    assert_eq!(found["feature_summaries"].as_array().unwrap().len(), 136);
    assert_eq!(found["spreads"].as_array().unwrap().len(), 20);
    assert_eq!(found["similar"]["correlations"]["values"].as_array().unwrap().len(), 20);
    assert!(bench.text("report.html").starts_with("<!doctype html>"));
    let inspected = bench.run("data inspect train.txt --json --quiet").json();
    for key in ["rows", "queries", "features", "labels", "query_sizes", "warnings", "blank_queries"]
    {
        assert_eq!(found[key], inspected[key], "{key}");
    }
    let text = bench.run("report data train.txt --out other.html").ok().out();
    let message = format!("20 queries, {} documents, 136 features.", inspected["rows"]);
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(&message), "{text}");
}

#[test]
fn a_single_feature_ranker_equals_eval_of_a_score_file() {
    let bench = bench();
    bench.run("data convert train.txt train.csv").ok();
    let table = bench.text("train.csv");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = header.iter().position(|name| *name == "72").unwrap();
    let values = lines.map(|line| line.split(',').nth(column).unwrap().to_owned());
    bench.put("scores.txt", &format!("{}\n", values.collect::<Vec<_>>().join("\n")));
    let alone = bench.run("eval --scores scores.txt train.txt --metric ndcg@10,kendall --json");
    let alone = alone.json();
    let found = bench.run("report data train.txt --json --quiet").json();
    let feature = feature(&found, "72");
    assert_eq!(feature["ranker"]["descending"], alone["metrics"][0]["value"]);
    assert_eq!(feature["tau"], alone["metrics"][1]["value"]);
    assert_eq!(feature["tau_ci95"], alone["metrics"][1]["ci95"]);
    assert_eq!(found["ranker"]["metric"], "ndcg@10");
    assert!(found["ranker"]["convention"].as_str().unwrap().contains("ties=worst"));
}

#[test]
fn another_metric_may_rank_and_wrong_ones_are_refused() {
    let bench = bench();
    let found = bench.run("report data train.txt --metric rr --top 3 --json --quiet").json();
    assert_eq!(found["ranker"]["metric"], "rr");
    assert_eq!(found["spreads"].as_array().unwrap().len(), 3);
    for (line, code, message) in [
        ("report data train.txt --metric ndgc", 1, "did you mean `ndcg`"),
        ("report data gone.txt", 1, "cannot read gone.txt"),
        ("report data train.txt --top 0", 2, "--top"),
        ("report data train.txt --out train.txt", 1, "would be written over the input train.txt"),
        ("report data", 2, "DATA"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), code, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
    }
}

#[test]
fn odd_data_is_described_all_the_same() {
    let bench = Bench::new();
    for (name, data, queries) in [
        ("one document", "1 qid:a 1:1\n", 1),
        ("all labels equal", "0 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:1\n", 2),
        ("always missing", "0 qid:a 1:NULL 2:1\n1 qid:a 1:NULL 2:2\n", 1),
        ("blank queries", "1 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:1\n0 qid:b 1:3\n", 2),
        ("no feature but zeros", "0 qid:a\n1 qid:a\n", 1),
    ] {
        bench.put("d.txt", data);
        let found = bench.run("report data d.txt --json --quiet").json();
        assert_eq!(found["queries"], queries, "{name}");
    }
    bench.put("d.txt", "0 qid:a 1:NULL 2:1\n1 qid:a 1:NULL 2:2\n");
    let found = bench.run("report data d.txt --json --quiet").json();
    assert!(feature(&found, "1")["tau"].is_null());
    assert_eq!(found["missing"][0], "1");
    assert_eq!(feature(&found, "2")["tau"], 1.0);
}

#[test]
fn queries_without_a_relevant_document_are_counted_apart_if_there_are_any() {
    let bench = Bench::new();
    bench.put("d.txt", "1 qid:a 1:1\n0 qid:a 1:2\n0 qid:b 1:1\n0 qid:b 1:3\n1 qid:c 1:3\n");
    bench.run("report data d.txt --quiet").ok();
    let page = bench.text("report.html");
    assert!(page.contains("3, 2 of them with a relevant document"), "{page}");
    bench.put("d.txt", "1 qid:a 1:1\n0 qid:a 1:2\n");
    let text = bench.run("report data d.txt").ok().out();
    assert!(text.contains("1 query, 2 documents, 1 feature."), "{text}");
    assert!(!bench.text("report.html").contains("of them with a relevant document"));
}

#[test]
fn copies_and_negated_copies_are_near_duplicates() {
    let bench = Bench::new();
    let rows: String = (0..60)
        .map(|i| {
            let (label, x, y) = (i % 3, (i * 37) % 61, (i * 23) % 59);
            format!("{label} qid:{} 1:{x} 2:{y} 3:{} 4:{}\n", i / 20, x * x, -x)
        })
        .collect();
    bench.put("d.txt", &rows);
    let found = bench.run("report data d.txt --json --quiet").json();
    let groups = found["similar"]["near_duplicates"].as_array().unwrap();
    assert_eq!(groups.len(), 1);
    let names: Vec<&Value> =
        groups[0].as_array().unwrap().iter().map(|member| &member["feature"]).collect();
    assert_eq!(names, ["1", "3", "4"]);
    let negated = groups[0][2]["correlation"].as_f64().unwrap();
    assert!((negated + 1.0).abs() < 1e-9, "{negated}");
}

#[test]
fn threads_do_not_change_a_digit() {
    let bench = bench();
    let line = |threads: u32| format!("report data train.txt --json --quiet --threads {threads}");
    assert_eq!(bench.run(&line(1)).json(), bench.run(&line(3)).json());
}

#[test]
fn the_page_of_real_data_is_smaller_than_5_mib() {
    let Some(folder) = real_data() else { return };
    let file = folder.join("mq2008").join("S1.txt");
    let bench = Bench::new();
    let found = bench.run(&format!("report|data|{}|--json", file.display())).json();
    assert_eq!(found["features"], 46);
    assert!(std::fs::metadata(bench.path("report.html")).unwrap().len() < 5 << 20);
}
