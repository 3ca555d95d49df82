//! Tests of `report compare`, and of the output of `compare` besides its table.

use crate::common::{Bench, bench, real_data};
use serde_json::Value;

/// Two score files for three queries, one of them without a relevant document.
fn scored() -> Bench {
    let bench = Bench::new();
    let data = "2 qid:a 1:1 #d1\n0 qid:a 1:2 #d2\n0 qid:a 1:3 #d3\n1 qid:b 1:1 #d1\n\
                0 qid:b 1:2 #d9\n0 qid:c 1:1 #d1\n";
    bench.put("data.txt", data);
    bench.put("old.txt", "1\n2\n3\n2\n1\n0\n").put("new.txt", "3\n2\n1\n1\n2\n0\n");
    bench
}

const SCORES: &str = "--scores old.txt --scores new.txt data.txt";

fn ids(found: &Value, key: &str) -> Vec<String> {
    let rows = found[key].as_array().unwrap();
    rows.iter().map(|row| row["query"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn score_files_give_a_page_and_its_numbers() {
    let bench = scored();
    let found = bench.run(&format!("report compare {SCORES} --metric rr --json --quiet")).json();
    assert_eq!(found["html"], "report.html");
    assert!(bench.text("report.html").starts_with("<!doctype html>"));
    // rr of the old scores: 1/3, 1; of the new: 1, 1/2. Query c has no relevant document.
    let system = &found["per_query"]["systems"][0];
    assert_eq!(
        (&system["system"], &system["wins"], &system["losses"]),
        (&"new.txt".into(), &1.into(), &1.into())
    );
    assert_eq!(system["queries"][1]["gain"], -0.5);
    assert_eq!(ids(&found, "hardest"), ["a", "b"]);
    let hardest = &found["hardest"][0];
    assert_eq!((&hardest["documents"], &hardest["relevant"]), (&3.into(), &1.into()));
    let plain = bench.run(&format!("compare {SCORES} --metric rr --json --quiet")).json();
    assert_eq!(found["metrics"], plain["metrics"]);
    assert!(plain.get("per_query").is_none(), "compare's own document stays as it is");
}

#[test]
fn documents_are_shown_with_ranks_and_scores_of_both() {
    let bench = scored();
    let line = format!("report compare {SCORES} --metric rr --query a --out p.html --json");
    let found = bench.run(&line).json();
    let changes = found["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1);
    let first = &changes[0]["documents"][0];
    assert_eq!(first["document"], "d1");
    assert_eq!(
        (&first["baseline_rank"], &first["rank"], &first["risen"]),
        (&3.into(), &1.into(), &2.into())
    );
    assert_eq!((&first["baseline_score"], &first["score"]), (&1.0.into(), &3.0.into()));
    let ran = bench.run(&format!("report compare {SCORES} --query zz"));
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("query 'zz' is not one of the 3 queries compared"), "{}", ran.err());
    assert!(ran.err().contains("help: ids are written as in the data"), "{}", ran.err());
}

#[test]
fn cutoffs_equal_eval_at_each_k() {
    let bench = bench();
    bench.run("train|train.txt|--learner|mart(trees=5)|--out|a.model|--quiet").ok();
    bench.run("train|train.txt|--learner|lambdamart(trees=5)|--out|b.model|--quiet").ok();
    let found = bench.run("report compare valid.txt a.model b.model --json --quiet").json();
    assert_eq!(found["cutoffs"]["metric"], "ndcg@k");
    for k in [1_usize, 7, 20] {
        let alone = bench.run(&format!("eval b.model valid.txt --metric ndcg@{k} --json")).json();
        let point = &found["cutoffs"]["systems"][1]["values"][k - 1];
        assert_eq!(point["value"], alone["metrics"][0]["value"], "k = {k}");
        assert_eq!(point["ci95"], alone["metrics"][0]["ci95"], "k = {k}");
    }
    let why: Vec<&Value> =
        found["changes"].as_array().unwrap().iter().map(|change| &change["why"]).collect();
    assert!(why.contains(&&"largest win".into()) || why.contains(&&"largest loss".into()));
}

#[test]
fn runs_are_reported_and_missing_documents_have_no_rank() {
    let bench = Bench::new();
    bench.put("qrels", "1 0 a 1\n1 0 b 0\n2 0 a 2\n").put("x.run", "1 Q0 b 1 9 t\n1 Q0 a 2 8 t\n");
    bench.put("y.run", "1 Q0 a 1 9 t\n2 Q0 a 1 1 t\n");
    let line = "report compare --qrels qrels x.run y.run --metric rr --query 1 --json --quiet";
    let found = bench.run(line).json();
    let documents = found["changes"][0]["documents"].as_array().unwrap();
    let b = documents.iter().find(|document| document["document"] == "b").unwrap();
    assert!(b["rank"].is_null() && b["risen"].is_null());
    assert_eq!(b["baseline_rank"], 1);
}

#[test]
fn compare_shows_queries_won_and_lost_and_writes_the_page_when_asked() {
    let bench = scored();
    let out = bench.run(&format!("compare {SCORES} --metric rr --html c.html --quiet")).ok().out();
    assert!(out.contains("new.txt  1 won, 0 tied, 1 lost"), "{out}");
    assert!(out.contains("+ █") && out.contains("-  ▆"), "{out}");
    assert!(bench.text("c.html").contains("Comparison on data.txt"));
    let json = bench.run(&format!("compare {SCORES} --metric rr --html c.html --json")).json();
    assert_eq!(json["html"], "c.html");
    let markdown = bench.run(&format!("compare {SCORES} --metric rr --table markdown")).ok().out();
    assert!(!markdown.contains("1 won"), "{markdown}");
    let one = bench.run("compare --scores old.txt data.txt --metric rr").ok().out();
    assert!(!one.contains("won"), "{one}");
}

#[test]
fn odd_data_gives_a_page_all_the_same() {
    let bench = Bench::new();
    for (data, scores) in [
        ("1 qid:a 1:1\n", "1\n"),
        ("0 qid:a 1:1\n0 qid:a 1:2\n", "1\n2\n"),
        ("0 qid:a 1:1\n1 qid:a 1:2\n0 qid:b 1:1\n", "1\n1\n1\n"),
    ] {
        bench.put("d.txt", data).put("s", scores).put("t", scores);
        bench.run("report compare --scores s --scores t d.txt --quiet").ok();
        bench.run("compare --scores s --scores t d.txt --html c.html --quiet").ok();
    }
}

#[test]
fn a_page_is_not_written_over_an_input() {
    let bench = scored();
    for line in [
        format!("report compare {SCORES} --out data.txt"),
        format!("compare {SCORES} --html data.txt"),
    ] {
        let ran = bench.run(&line);
        assert_eq!(ran.code(), 1, "{line}");
        assert!(ran.err().contains("would be written over the input"), "{}", ran.err());
    }
}

#[test]
fn the_page_of_real_runs_is_smaller_than_5_mib() {
    let Some(folder) = real_data() else { return };
    let bench = Bench::new();
    let folder = folder.join("metric-conformance");
    let [a, b, qrels] = ["mq2008-AdaRank.run", "mq2008-svm_rank.run", "mq2008-AdaRank.qrels"]
        .map(|name| folder.join(name));
    let words = ["report", "compare", "--qrels"].map(str::to_owned).into_iter();
    let words = words.chain([&qrels, &a, &b].map(|path| path.display().to_string()));
    let line: Vec<String> = words.chain(["--json".to_owned()]).collect();
    let found = bench.run(&line.join("|")).json();
    assert_eq!(found["cutoffs"]["systems"].as_array().unwrap().len(), 2);
    assert!(std::fs::metadata(bench.path("report.html")).unwrap().len() < 5 << 20);
}
