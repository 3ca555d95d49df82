//! Every objective and option of boosted trees from the command line: trained on one and on two
//! threads to the same bytes, shown, scored and measured.

use std::path::PathBuf;

use crate::common::{Bench, Ran, bench, command, real_data};

/// Objectives, then options of growing and boosting.
const OPTIONS: &[&str] = &[
    "lambdamart(weight=loss2",
    "lambdamart(weight=loss2++, mu=5",
    "lambdamart(weight=gap, metric=p@5",
    "lambdamart(pairs=coherent, metric=ndcg@3",
    "lambdamart(pairs=coherent, weight=loss2++, metric=ndcg@3",
    "yetirank(samples=3",
    "yetirank(metric=ap, samples=3, noise=0.5",
    "yetirank(metric=rr, samples=3",
    "lambdamart(growth=oblivious, depth=3",
    "yetirank(growth=oblivious, samples=2",
    "lambdamart(interactions=1+2+3+4+5/11+12+13+14+15",
    "lambdamart(feature_cost=11:0.5/12:2, cost_weight=0.5",
    "lambdamart(categorical=2/3, cat_smooth=5, cat_l2=5, max_categories=8",
    "lambdamart(drop_trees=0.5, drop_skip=0",
    "lambdamart(drop_trees=0.5, drop_skip=0.2, drop_most=1, drop_scale=forest",
    "lambdamart(goss_top=0.3, goss_rest=0.2, rate=0.5",
    "random-forest(sample_queries=0.6",
];

/// Training and test data: MQ2008's first fold where it is available, else generated.
fn data() -> (Bench, Vec<PathBuf>, PathBuf) {
    match real_data() {
        Some(root) => {
            let part = |n: u32| root.join("mq2008").join(format!("S{n}.txt"));
            (Bench::new(), (1..=3).map(part).collect(), part(5))
        }
        None => {
            let bench = bench();
            let paths = ["train.txt", "valid.txt"].map(|name| bench.path(name));
            let [train, test] = paths;
            (bench, vec![train], test)
        }
    }
}

fn run(bench: &Bench, words: &[&str]) -> Ran {
    Ran(command(bench, words).output().unwrap()).ok()
}

#[test]
fn every_option_trains_to_the_same_bytes_and_its_model_is_taken_everywhere() {
    let (bench, train, test) = data();
    let train: Vec<&str> = train.iter().map(|path| path.to_str().unwrap()).collect();
    let test = test.to_str().unwrap();
    for options in OPTIONS {
        let learner = format!("{options}, trees=4, leaves=8)");
        for (threads, out) in [("1", "one.model"), ("2", "two.model")] {
            let words = ["--learner", &learner, "--threads", threads, "--out", out, "--quiet"];
            let words = [&["train"][..], &train, &words].concat();
            run(&bench, &words);
        }
        let bytes = |name: &str| std::fs::read(bench.path(name)).unwrap();
        assert!(bytes("one.model") == bytes("two.model"), "{learner}: threads");
        let shown = run(&bench, &["model", "inspect", "one.model", "--json"]).json();
        let result = shown["learner"].as_str().unwrap_or_default();
        let name = options.split('(').next().unwrap();
        assert!(result.starts_with(&format!("{name}(")), "{learner}: {result}");
        for option in options.split_once('(').unwrap().1.split(", ") {
            assert!(result.contains(option), "{learner}: {result} lacks {option}");
        }
        let rows = std::fs::read_to_string(test).unwrap();
        let rows = rows.lines().filter(|line| line.contains("qid:")).count();
        let scores = run(&bench, &["score", "one.model", test, "--quiet"]).out();
        let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(scores.len(), rows, "{learner}");
        assert!(scores.iter().any(|score| *score != scores[0]), "{learner}: nothing is learnt");
        let words = ["eval", "one.model", test, "--metric", "ndcg@10", "--json", "--quiet"];
        let value = run(&bench, &words).json()["metrics"][0]["value"].as_f64().unwrap();
        assert!(value > 0.3 && value <= 1.0, "{learner}: {value}");
    }
}
