//! Interleaved comparisons through the command: lists, clicks on them, and the table of wins.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::Bench;

/// Forty queries; `good.run` has the relevant documents first, `bad.run` last, `mixed.run` in the
/// middle.
fn runs() -> Bench {
    let bench = Bench::new();
    let (mut qrels, mut runs) = (String::new(), [const { String::new() }; 3]);
    for query in 0..40 {
        for document in 0..8 {
            let grade = 4_u32.saturating_sub(document);
            qrels += &format!("q{query} 0 d{document} {grade}\n");
            let scores = [100 - document, document, (document * 5 + query) % 8];
            for (run, score) in runs.iter_mut().zip(scores) {
                *run += &format!("q{query} Q0 d{document} 0 {score} x\n");
            }
        }
    }
    let [good, bad, mixed] = runs;
    bench.put("qrels", &qrels).put("good.run", &good).put("bad.run", &bad).put("mixed.run", &mixed);
    bench
}

fn lists(bench: &Bench, name: &str) -> Vec<Value> {
    bench.text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lists_follow_from_the_seed_and_the_request() {
    let bench = runs();
    let result = bench.run("interleave bad.run good.run -k 5 --out a.jsonl --json").json();
    assert_eq!((&result["method"], &result["requests"]), (&"team-draft".into(), &40.into()));
    bench.run("interleave bad.run good.run -k 5 --out b.jsonl --threads 1").ok();
    assert_eq!(bench.text("a.jsonl"), bench.text("b.jsonl"));
    bench.run("interleave bad.run good.run -k 5 --seed 8 --out b.jsonl").ok();
    assert_ne!(bench.text("a.jsonl"), bench.text("b.jsonl"));
    // A request has the same list whatever else is asked for.
    bench.put("requests", "q7\tq7\nq3\tq3\n");
    bench.run("interleave bad.run good.run -k 5 --requests requests --out c.jsonl").ok();
    let all = lists(&bench, "a.jsonl");
    let few = lists(&bench, "c.jsonl");
    assert_eq!((&few[0], &few[1]), (&all[7], &all[3]));
    let list = &all[0];
    assert_eq!(list["rankers"], serde_json::json!(["bad.run", "good.run"]));
    let shown: BTreeSet<&str> =
        list["documents"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!((shown.len(), list["teams"].as_array().unwrap().len()), (5, 5));
    // As a run, which `eval` reads.
    bench.run("interleave bad.run good.run -k 5 --to trec --out lists.run").ok();
    let ndcg = bench.run("eval --run lists.run --qrels qrels --metric ndcg@5 --json").json();
    let value = ndcg["metrics"][0]["value"].as_f64().unwrap();
    assert!((0.3..0.95).contains(&value), "{value}");
}

#[test]
fn the_table_of_wins_and_losses_finds_the_better_run_by_every_method() {
    let bench = runs();
    for method in ["balanced", "team-draft", "probabilistic", "optimised", "multileave"] {
        let made = format!("interleave bad.run good.run --method {method} -k 6 --repeat 8 --out l");
        bench.run(&made).ok();
        bench.run("interleave simulate l --qrels qrels --users 50 --out events").ok();
        let result = bench.run("interleave score events --lists l --samples 200 --json").json();
        let found = &result["comparisons"][0];
        assert_eq!((&found["first"], &found["second"]), (&"bad.run".into(), &"good.run".into()));
        assert_eq!((&result["method"], &result["shown_lists"]), (&method.into(), &320.into()));
        assert!(found["delta"].as_f64().unwrap() > 0.1, "{found}");
        assert!(found["p"].as_f64().unwrap() < 1e-4, "{found}");
        assert_eq!(found["queries"], 40);
        assert!((45..=50).contains(&found["users"].as_u64().unwrap()), "{found}");
        let interval = found["delta_ci95"].as_array().unwrap();
        assert!(interval[0].as_f64().unwrap() > 0.0, "{found}");
        // Nothing is lost or counted twice.
        let count = |key: &str| found[key].as_u64().unwrap();
        let wins = [0, 1].map(|ranker| found["wins"][ranker].as_u64().unwrap());
        assert_eq!(wins[0] + wins[1] + count("ties") + count("without_clicks"), 320);
    }
    let text = bench.run("interleave score events --lists l --by impression").ok().out();
    for part in ["good.run vs. bad.run", "tie (with clicks)", "<0.0001", "(as here)", "320"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    bench.run("interleave score events --lists l --html page.html --assets plots").ok();
    assert!(bench.text("page.html").contains("significantly better"));
    assert!(bench.path("plots/outcome-chart.svg").exists());
}

#[test]
fn three_runs_are_compared_in_pairs() {
    let bench = runs();
    bench.run("interleave bad.run mixed.run good.run -k 6 --repeat 10 --out l").ok();
    bench.run("interleave simulate l --qrels qrels --out events").ok();
    let result = bench.run("interleave score events --lists l --json").json();
    assert_eq!(result["method"], "multileave");
    let pairs: Vec<(&str, &str)> = result["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair["first"].as_str().unwrap(), pair["second"].as_str().unwrap()))
        .collect();
    let expected = [("bad.run", "mixed.run"), ("bad.run", "good.run"), ("mixed.run", "good.run")];
    assert_eq!(pairs, expected);
    for pair in result["comparisons"].as_array().unwrap() {
        assert!(pair["delta"].as_f64().unwrap() > 0.0, "{pair}");
        assert!(pair["p_corrected"].as_f64().unwrap() >= pair["p"].as_f64().unwrap(), "{pair}");
    }
    let text = bench.run("interleave score events --lists l").ok().out();
    assert!(text.contains("corrected p") && !text.contains("impressions needed"), "{text}");
}

#[test]
fn requests_that_cannot_be_met_say_what_to_type() {
    let bench = runs();
    let three = bench.run("interleave bad.run mixed.run good.run --method balanced --out l");
    assert!(three.code() == 1 && three.err().contains("multileave"), "{}", three.err());
    let one = bench.run("interleave bad.run --out l");
    assert_eq!(one.code(), 2, "{}", one.err());
    let no_out = bench.run("interleave bad.run good.run");
    assert!(no_out.code() == 2 && no_out.err().contains("--out"), "{}", no_out.err());
    let method = bench.run("interleave bad.run good.run --method draft --out l");
    assert!(method.code() == 2 && method.err().contains("team-draft"), "{}", method.err());
    let long = bench.run("interleave bad.run good.run --method optimised -k 8 --out l");
    assert_eq!(long.code(), 0, "{}", long.err());
    bench.put("log", "{\"query\": \"z\", \"docs\": [\"a\"], \"clicks\": [1]}\n");
    let other = bench.run("interleave score log --lists l");
    assert!(
        other.code() == 1 && other.err().contains("no impression of the log"),
        "{}",
        other.err()
    );
    let twice = bench.run("interleave simulate l --qrels qrels --sessions 3 --out events");
    assert!(twice.code() == 1 && twice.err().contains("--repeat"), "{}", twice.err());
    let user = bench.run("interleave simulate l --qrels qrels --user pmb --out events");
    assert!(user.code() == 1 && user.err().contains("pbm"), "{}", user.err());
}
