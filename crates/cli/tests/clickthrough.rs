//! The path of Joachims (2002), as lectures teach it: users click on a ranking, their clicks become
//! preferences, a ranking SVM learns from them, and an interleaved comparison shows that the learnt
//! ranking is better.

use crate::common::Bench;

#[test]
fn clicks_on_a_ranking_train_a_better_one_and_interleaving_proves_it() {
    let bench = Bench::new();
    bench.run("data generate store --records 2000 --queries 200 --out store").ok();
    bench.run("index store/documents.jsonl --out records").ok();
    // Users see the first queries; the comparison is on others.
    let queries = bench.text("store/queries.jsonl");
    let (asked, new): (Vec<&str>, Vec<&str>) = {
        let lines: Vec<&str> = queries.lines().collect();
        (lines[..100].to_vec(), lines[100..].to_vec())
    };
    bench.put("asked.jsonl", &(asked.join("\n") + "\n")).put("new.jsonl", &(new.join("\n") + "\n"));
    bench.run("run records --queries asked.jsonl -k 20 --out shown.run").ok();
    let users = "--qrels store/qrels.txt --user dbn(noise=0.02)";
    bench.run(&format!("interleave simulate shown.run {users} --sessions 30 -k 20 --out log")).ok();
    let pairs =
        bench.run("clicks pairs log --rule skip-previous,next --out pairs.tsv --json").json();
    assert_eq!(pairs["queries"], 100);
    bench.run("features records --queries asked.jsonl --candidates 50 --out train.csv").ok();
    bench.run("train train.csv --pairs pairs.tsv --learner ranksvm --out new.model").ok();
    bench.run("run records --queries new.jsonl -k 20 --out old.run").ok();
    bench.run("run records --queries new.jsonl --model new.model -k 20 --out new.run").ok();
    bench.run("interleave old.run new.run --repeat 5 --out lists.jsonl").ok();
    bench.run(&format!("interleave simulate lists.jsonl {users} --users 200 --out events")).ok();
    let result = bench.run("interleave score events --lists lists.jsonl --json").json();
    let found = &result["comparisons"][0];
    assert_eq!((&found["second"], &found["impressions"]), (&"new.run".into(), &500.into()));
    let [old, new] = [0, 1].map(|ranker| found["wins"][ranker].as_u64().unwrap());
    assert!(new > old && found["p"].as_f64().unwrap() < 0.01, "{found}");
    assert!(found["delta_ci95"][0].as_f64().unwrap() > 0.0, "{found}");
    // The judgements, which no step of the learning saw, agree.
    let judged =
        bench.run("compare --qrels store/qrels.txt old.run new.run --metric ndcg@10 --json");
    let systems = judged.json()["metrics"][0]["systems"].clone();
    let mean = |system: usize| systems[system]["value"].as_f64().unwrap();
    assert!(mean(1) > mean(0), "{systems}");
}
