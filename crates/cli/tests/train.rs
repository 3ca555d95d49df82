//! Tests of `train` and `cv`.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, bench, command, train};
use rankwright::data::Random;
use serde_json::Value;

fn sha(found: &Value) -> String {
    let text = found["sha256"].as_str().unwrap().to_owned();
    assert_eq!(text.len(), 64);
    text
}

#[test]
fn a_trained_model_scores_and_is_measured_as_training_said() {
    let bench = bench();
    let found = train(&bench, "lambdamart(trees=20, leaves=7, stop=5)", "--valid valid.txt");
    assert_eq!(found["model"], "m.model");
    let valid = &found["valid"]["valid.txt"][0];
    assert_eq!(valid["metric"], "ndcg@10");
    assert!(valid["convention"].as_str().unwrap().contains("ties=worst"));
    let eval = bench.run("eval m.model valid.txt --metric ndcg@10 --json").json();
    assert_eq!(eval["metrics"][0]["value"], valid["value"]);
    bench.run("score m.model valid.txt --out s.txt").ok();
    let scored = bench.run("eval --scores s.txt valid.txt --metric ndcg@10 --json").json();
    assert_eq!(scored["metrics"][0]["value"], valid["value"]);
    // The best iteration is the last one of the model.
    let best = found["best"].as_u64().unwrap() as usize;
    assert_eq!(found["trees"], best);
    let at_best = found["iterations"][best - 1]["values"][0][0].as_f64().unwrap();
    assert!((at_best - valid["value"].as_f64().unwrap()).abs() < 1e-12);
    for phase in ["load", "bin", "train"] {
        assert!(found["seconds"][phase].as_f64().unwrap() > 0.0, "{phase}");
    }
    assert!(found["peak_rss_bytes"].as_u64().is_none_or(|bytes| bytes > 1 << 20));
    let log: Value = serde_json::from_str(&bench.text("m.model.log.json")).unwrap();
    assert_eq!((&log["sha256"], &log["seed"]), (&found["sha256"], &1.into()));
    assert_eq!(log["learner"], "lambdamart(trees=20, stop=5, leaves=7)");
    assert!(log["threads"].as_u64().unwrap() > 0);
}

#[test]
fn a_training_that_names_no_learner_is_one_by_lambdamart() {
    let bench = bench();
    let bare = bench.run("train train.txt --valid valid.txt --out bare.model --json").json();
    let named = bench
        .run("train train.txt --valid valid.txt --learner lambdamart --out named.model --json")
        .json();
    assert_eq!(sha(&bare), sha(&named));
    let validated = bench.run("cv train.txt --folds 2 --json").json();
    assert_eq!(validated["learners"][0]["learner"], "lambdamart");
    let shown = bench.run("tune train.txt --folds 2 --show-space").ok().out();
    assert!(shown.contains("leaves="), "{shown}");
}

#[test]
fn the_text_says_what_was_made_and_how_good_it_is() {
    let bench = bench();
    let words = "train train.txt --valid valid.txt --learner mart(trees=4,stop=none,leaves=5) --metric ap --metric err@5 --eval-train --out m.model";
    let ran = bench.run(words).ok();
    for part in [
        "sha256   ",
        "mart(trees=4, stop=none, leaves=5)",
        "4, 5.0 leaves",
        "training",
        "valid.txt",
    ] {
        assert!(ran.out().contains(part), "{part}: {}", ran.out());
    }
    assert!(ran.out().contains("ap: ") && ran.out().contains("err@5: "), "{}", ran.out());
    let shown = bench.run("model inspect m.model").ok().out();
    assert!(shown.contains("mart(trees=4, stop=none, leaves=5)"), "{shown}");
}

#[test]
fn the_same_bytes_come_from_any_number_of_threads_and_from_portable_code() {
    let bench = bench();
    for learner in [
        "lambdamart(trees=8, leaves=15, min_rows=3, sample_queries=0.7, sample_features=0.7)",
        "lambdamart(trees=4, metric=ap, newton=joint, min_rows=3)",
        "rankmart(trees=5, leaves=15, min_rows=3)",
        "xendcg(trees=5, leaves=15, min_rows=3)",
        "mart(trees=5, loss=logloss, min_rows=3, line_search=true)",
    ] {
        let one = sha(&train(&bench, learner, "--threads 1"));
        for threads in ["2", "3", "8"] {
            assert_eq!(sha(&train(&bench, learner, &format!("--threads {threads}"))), one);
        }
        let words = ["train", "train.txt", "--learner", learner, "--out", "m.model", "--json"];
        let portable = command(&bench, &words).env("RANKWRIGHT_SIMD", "portable").output();
        assert_eq!(sha(&Ran(portable.unwrap()).json()), one, "{learner}");
        let seed = sha(&train(&bench, learner, "--seed 2"));
        assert_ne!(seed, one, "the seed is in the header");
    }
    let odd = command(&bench, &["train", "train.txt", "-l", "mart", "--out", "x"])
        .env("RANKWRIGHT_SIMD", "mmx")
        .output();
    let odd = Ran(odd.unwrap());
    assert_eq!(odd.code(), 1);
    assert!(odd.err().contains("unknown value of RANKWRIGHT_SIMD `mmx`"), "{}", odd.err());
}

#[test]
fn start_adds_trees_to_a_model() {
    let bench = bench();
    train(&bench, "mart(trees=3, leaves=5)", "");
    std::fs::rename(bench.path("m.model"), bench.path("first.model")).unwrap();
    let more = train(&bench, "mart(trees=4, leaves=5)", "--start first.model --valid valid.txt");
    assert_eq!((&more["trees"], more["iterations"].as_array().unwrap().len()), (&7.into(), 4));
    // Squared error has no state between trees: three trees and four more are seven.
    let seven = train(&bench, "mart(trees=7, leaves=5)", "--valid valid.txt");
    assert_eq!(more["valid"], seven["valid"]);
    let line = "train train.txt --learner mart(trees=2) --start first.model --out m.model";
    let message = bench.run(line).ok().out();
    assert!(message.contains("3 from the start model"), "{message}");
}

#[test]
fn trees_are_added_to_a_model_of_any_kind() {
    let bench = bench();
    for learner in [
        "linear-regression",
        "ranknet(epochs=2)",
        "blend(members=ranksvm+tree,weights=equal,normalise=standard)",
    ] {
        bench.run(&format!("train train.txt --seed 1 --out base.model --learner {learner}")).ok();
        let line = "train train.txt --start base.model --out sum.model --learner";
        let message = bench.run(&format!("{line} lambdamart(trees=4,leaves=5)")).ok().out();
        assert!(message.contains("added to the scores of the start model"), "{learner}: {message}");
        let one = bench.run("score base.model valid.txt").ok().out();
        let sum = bench.run("score sum.model valid.txt").ok().out();
        let numbers =
            |text: &str| -> Vec<f64> { text.lines().map(|line| line.parse().unwrap()).collect() };
        let added: Vec<f64> =
            numbers(&sum).iter().zip(numbers(&one)).map(|(sum, one)| sum - one).collect();
        // The four trees add several different values.
        let mut distinct = added.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
        assert!(distinct.len() > 4, "{learner}: {distinct:?}");
        let inspected = bench.run("model inspect sum.model").ok().out();
        assert!(inspected.contains("4 trees"), "{inspected}");
        bench.run("explain sum.model valid.txt --query 1").ok();
        // A sum continues like any other model.
        let line = "train train.txt --start sum.model --out more.model --learner";
        bench.run(&format!("{line} lambdamart(trees=2,leaves=5)")).ok();
    }
}

#[test]
fn pairs_teach_what_labels_do_not() {
    let bench = Bench::new();
    let mut data = String::from("qid,label,docid,f\n");
    let mut pairs = String::new();
    for query in 0..30 {
        for document in 0..4 {
            data += &format!("q{query},0,d{document},{document}\n");
        }
        pairs += &format!("q{query} d0 > d1\nq{query} d1 > d2 2\nq{query}\td2\td3\n");
    }
    bench.put("d.csv", &data).put("p.txt", &pairs);
    bench.run("train d.csv --pairs p.txt --learner rankmart(trees=5,min_rows=5) --out m").ok();
    bench.run("score m d.csv --out s").ok();
    let scores: Vec<f64> = bench.text("s").lines().map(|line| line.parse().unwrap()).collect();
    assert!(scores[..4].windows(2).all(|pair| pair[0] > pair[1]), "{:?}", &scores[..4]);
    let ran = bench.run("train d.csv --pairs p.txt --learner mart --out m");
    assert_eq!(ran.code(), 1);
    // The documents have no labels, so only learners of pairs alone are named.
    let alone = "rankmart, ranksvm, pairwise-logistic, ranknet, rankboost";
    let message = format!("mart does not learn from preference pairs; {alone} do");
    assert!(ran.err().contains(&message), "{}", ran.err());
    let ran = bench.run("train d.csv --pairs p.txt --learner lambdamart --out m");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains(&format!("{alone} learn from pairs alone")), "{}", ran.err());
    assert!(ran.err().contains("help: choose one of these with --learner"), "{}", ran.err());
}

#[test]
fn validation_data_keeps_the_best_rounds_and_the_last_line_says_so() {
    let bench = bench();
    let last = |ran: &Ran| ran.out().lines().last().unwrap_or_default().to_owned();
    let line = "train train.txt --valid valid.txt --out m.model --learner";
    let ran = bench.run(&format!("{line} lambdamart(trees=60,rate=0.5)")).ok();
    let text = last(&ran);
    assert!(
        text.starts_with("kept ")
            && text.contains(" of 60 trees: the best ndcg@10 on valid.txt, 0."),
        "{text}"
    );
    assert!(text.ends_with("(stop=none in the spec keeps all)"), "{text}");
    let kept: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kept < 60);
    let log: Value = serde_json::from_str(&bench.text("m.model.log.json")).unwrap();
    assert_eq!((&log["trees"], &log["best"]), (&kept.into(), &kept.into()));
    // The model itself, and not only what is said of it.
    let written = bench.run("model inspect m.model --json").json();
    assert_eq!(written["trees"]["count"], kept);
    let found = train(&bench, "lambdamart(trees=60, rate=0.5)", "--valid valid.txt");
    for json in [&log["kept"], &found["kept"]] {
        assert_eq!((&json["rounds"], &json["of"]), (&kept.into(), &60.into()));
        assert_eq!(
            (&json["reason"], &json["metric"]),
            (&"best-on-validation".into(), &"ndcg@10".into())
        );
        assert_eq!(json["value"], found["valid"]["valid.txt"][0]["value"]);
    }
    let ran = bench.run(&format!("{line} lambdamart(trees=60,rate=0.5,stop=none)")).ok();
    assert_eq!(last(&ran), "kept all 60 trees: keeping all was requested (stop=none)");
    let plain =
        bench.run("train train.txt --out p.model --learner lambdamart(trees=60,rate=0.5)").ok();
    assert_eq!(last(&plain), "kept all 60 trees: there is no validation data");
    // Neither validation data nor the rounds after the best one change the trees.
    let trees = |name: &str| {
        bench.run(&format!("model inspect {name} --json")).json()["trees"]["count"].clone()
    };
    assert_eq!((trees("p.model"), trees("m.model")), (60.into(), 60.into()));
    for (learner, unit) in [
        ("listnet(epochs=4)", "epochs"),
        ("rankboost(trees=9)", "trees"),
        ("adarank(rounds=5)", "round"),
        ("coordinate-ascent(restarts=1,passes=2)", "pass"),
        ("random-forest(trees=5)", "trees"),
    ] {
        let text = last(&bench.run(&format!("{line} {learner}")).ok());
        assert!(text.starts_with("kept ") && text.contains(unit), "{learner}: {text}");
        assert!(text.contains("the best ndcg@10 on valid.txt"), "{learner}: {text}");
    }
    let text = last(&bench.run(&format!("{line} ranksvm")).ok());
    assert!(text.ends_with(": the last one is the result"), "{text}");
}

#[test]
fn a_model_that_ranks_nothing_is_written_with_a_warning() {
    let bench = Bench::new();
    let mut text = String::new();
    for row in 0..30 {
        text += &format!("{} qid:{} 1:{}\n", row % 2, row / 10, row % 7);
    }
    bench.put("d.txt", &text);
    let line = "train d.txt --learner lambdamart(trees=3,min_rows=20) --out m";
    let message = "the model gives every document of a query the same score, so it ranks nothing: with min_rows=20, a split needs 40 rows, and the training data has 30";
    let ran = bench.run(line).ok();
    assert!(ran.err().contains(message), "{}", ran.err());
    let json = bench.run(&format!("{line} --json")).json();
    assert_eq!(json["warnings"][0]["kind"], "constant-scores");
    assert_eq!(json["warnings"][0]["reason"], "too-few-rows");
    let log: Value = serde_json::from_str(&bench.text("m.log.json")).unwrap();
    assert_eq!(log["warnings"][0]["message"], message);
    let ran = bench.run("cv d.txt --learner mart(trees=3,min_rows=20) --folds 3").ok();
    assert_eq!(ran.err().matches("ranks nothing").count(), 1, "{}", ran.err());
    let ran = bench.run("tune d.txt --learner mart(trees=3,min_rows=20) --space rate=log(0.1,1) --trials 2 --folds 2 --out t").ok();
    assert_eq!(ran.err().matches("ranks nothing").count(), 1, "{}", ran.err());
}

#[test]
fn two_trainings_do_not_share_a_checkpoint_folder() {
    let bench = bench();
    let endless = |out| {
        [
            "train",
            "train.txt",
            "--learner",
            "mart(trees=10000000)",
            "--out",
            out,
            "--checkpoint",
            "c",
        ]
    };
    let mut first = command(&bench, &endless("a.model"));
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut first = first.unwrap();
    let started = Instant::now();
    while !bench.path("c/training.lock").exists() && started.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(10));
    }
    // The first may be between its early check and its training.
    sleep(Duration::from_millis(1000));
    let second = Ran(command(&bench, &endless("b.model")).output().unwrap());
    assert_eq!(second.code(), 1, "{}", second.err());
    assert!(
        second.err().contains("another training is using the checkpoint folder c"),
        "{}",
        second.err()
    );
    assert!(second.err().contains("give another folder with --checkpoint"), "{}", second.err());
    assert!(first.try_wait().unwrap().is_none(), "the first goes on");
    // A killed training leaves its lock file, which does not stop the next training.
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(bench.path("c/training.lock").exists());
    bench.run("train train.txt --learner mart(trees=2) --out b.model --checkpoint c").ok();
    assert!(!bench.path("c/training.lock").exists());
}

#[test]
fn failures_have_their_codes_and_ways_out() {
    let bench = bench();
    bench.put("taken", "a file where a folder should be").put("blank.txt", "0 qid:1 1:3\n");
    train(&bench, "mart(trees=1)", "");
    for (line, code, message) in [
        ("train train.txt --learner lamdamart --out x", 1, "did you mean `lambdamart`?"),
        ("train train.txt --learner mart(leafs=3) --out x", 1, "did you mean `leaves`?"),
        ("train train.txt --learner mart(loss=hubert) --out x", 1, "query-rmse"),
        ("train train.txt --learner mart(monotone=999:+) --out x", 1, "1 to 136"),
        ("train train.txt --learner mart --metric ndgc --out x", 1, "did you mean `ndcg`?"),
        ("train --learner mart --out x", 2, "give feature data"),
        ("train train.txt", 2, "--out"),
        ("train train.txt --learner mart --out -", 2, "a model is written to a file"),
        ("train train.txt --learner mart --out no/where", 1, "the folder no does not exist"),
        ("train train.txt --learner mart --out x --checkpoint-trees 3", 2, "--checkpoint"),
        (
            "train train.txt --learner mart --out x --checkpoint taken",
            1,
            "cannot create the folder taken",
        ),
        ("train train.txt --learner mart(stop=3) --out x", 1, "give --valid DATA"),
        ("train m.model --learner mart --out x", 1, "is a model; feature data is expected"),
        ("train gone.txt --learner mart --out x", 1, "cannot read gone.txt"),
        (
            "train train.txt --valid blank.txt --learner mart(trees=2) --out x",
            1,
            "no query of blank.txt has a value for ndcg@10",
        ),
        (
            "train train.txt --learner tree --out train.txt",
            1,
            "would be written over the input train.txt",
        ),
        ("score m.model train.txt --out m.model", 1, "would be written over the input m.model"),
        ("cv train.txt --learner mart(stop=3)", 1, "--valid-part 0.2"),
        ("cv train.txt --learner mart --folds 1", 1, "at least 2 folds"),
        (
            "cv train.txt --learner mart(stop=none) --valid-part 0.2",
            2,
            "leave stop=none out of the spec",
        ),
        ("train train.txt --learner mart --out x --ignore-extra", 2, "--valid or --start"),
        ("cv train.txt --learner mart --learner mart()", 2, "mart is given twice"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), code, "{line}: {}", ran.err());
        assert!(ran.err().contains(message), "{line}: {}", ran.err());
        assert!(ran.out().is_empty(), "{line} wrote a result");
        assert!(!bench.path("x").exists(), "{line} wrote a model");
    }
}

/// Rows of 40 queries, each with these (label, feature) documents in this order.
fn queries_of(documents: &[(u32, u32)]) -> String {
    let row = |query: usize, (label, feature): &(u32, u32)| {
        format!("{label} qid:{query} 1:{feature} 2:0.5\n")
    };
    (0..40).flat_map(|query| documents.iter().map(move |document| row(query, document))).collect()
}

#[test]
fn equal_scores_have_the_same_metric_in_files_sorted_either_way_by_label() {
    let bench = Bench::new();
    // There is nothing to learn, so all scores are equal: a file sorted by label must not look
    // good.
    for (name, labels) in [("best.txt", [4, 2, 1, 0, 0]), ("worst.txt", [0, 0, 1, 2, 4])] {
        bench.put(name, &queries_of(&labels.map(|label| (label, 7))));
    }
    for learner in ["lambdamart(trees=3,min_rows=1)", "mart(trees=3)", "xendcg(trees=3)"] {
        let value = |name: &str| {
            let line = format!("train {name} --learner {learner} --out m --eval-train --json");
            bench.run(&line).json()["valid"]["training"][0]["value"].as_f64().unwrap()
        };
        let (best, worst) = (value("best.txt"), value("worst.txt"));
        assert_eq!(best, worst, "{learner}");
        assert!(best < 0.6, "{learner}: {best}");
    }
}

#[test]
fn ties_that_decide_have_a_line_wherever_metrics_are_shown() {
    let bench = Bench::new();
    // Two documents differ in the feature, and the others tie.
    let text = queries_of(&[(4, 9), (2, 7), (1, 7), (0, 7), (0, 7)]);
    bench.put("d.txt", &text).put("plain.txt", &queries_of(&[(2, 3), (1, 2), (0, 1)]));
    let mart = "mart(trees=3,min_rows=1,leaves=3)";
    let message = "equal scores decide ndcg@10 in 40 of 40 queries";
    let train = bench.run(&format!("train d.txt --learner {mart} --out m --eval-train")).ok().out();
    assert!(train.contains(&format!("ties: {message}")), "{train}");
    let line = format!("train plain.txt --learner {mart} --valid d.txt --out m --eval-train");
    let two = bench.run(&line).ok().out();
    assert!(two.contains(&format!("ties: d.txt: {message}")), "{two}");
    assert!(!two.contains("ties: training"), "{two}");
    let one = bench.run(&format!("cv d.txt --learner {mart} --folds 2")).ok().out();
    assert!(one.contains(&format!("ties: {message}")), "{one}");
    let other = "ranksvm";
    let line = format!("cv d.txt --learner {mart} --learner {other} --folds 2");
    let both = bench.run(&line).ok().out();
    assert!(both.contains(&format!("ties: ranksvm: {message}")), "{both}");
    assert!(both.contains("ties: mart("), "{both}");
    bench.put(
        "x.toml",
        "name = \"ties\"\nmetrics = [\"ndcg@10\"]\n[[data]]\nname = \"d\"\ntrain = \"d.txt\"\n\
         test = \"d.txt\"\n[[learner]]\nname = \"trees\"\nspec = \"mart(trees=3)\"\n\
         [[learner]]\nname = \"line\"\nspec = \"ranksvm\"\n",
    );
    let table = bench.run("experiment x.toml").ok().out();
    assert!(table.contains(&format!("ties: trees: {message}")), "{table}");
    assert!(table.contains(&format!("ties: line: {message}")), "{table}");
}

#[test]
fn the_first_rows_of_a_file_are_not_the_first_ranks_of_training() {
    let bench = Bench::new();
    // Documents 1 and 2 are equally relevant, eight others are not. At the start all scores are
    // equal. If ranks were given by rows then, ndcg@1 would depend on the document of the first row
    // alone, and its twin would learn nothing from a pair with any other.
    let others = [(0, 3); 8];
    let orders = [
        [&[(1, 1), (1, 2)][..], &others].concat(),
        [&[(1, 2), (1, 1)][..], &others].concat(),
        [&others[..], &[(1, 1), (1, 2)]].concat(),
    ];
    for documents in orders {
        bench.put("d.txt", &queries_of(&documents));
        let learner = "lambdamart(trees=1,leaves=3,min_rows=1,min_hessian=0,rate=1,metric=ndcg@1,cut=hard,truncation=1)";
        bench.run(&format!("train d.txt --learner {learner} --out m")).ok();
        bench.run("score m d.txt --out s").ok();
        let scores = bench.text("s");
        let scores: Vec<f64> = scores.lines().map(|line| line.parse().unwrap()).collect();
        let of = |feature: u32| {
            scores[documents.iter().position(|(_, found)| *found == feature).unwrap()]
        };
        let (one, twin, other) = (of(1), of(2), of(3));
        assert!(one > other && twin > other, "{documents:?}: {one} {twin} {other}");
        assert!((one - twin).abs() < 0.5 * (one - other), "{documents:?}: {one} {twin} {other}");
    }
}

/// A training long enough to be killed in the middle, with a checkpoint at every tree.
const LONG: [&str; 11] = [
    "train",
    "train.txt",
    "--valid",
    "valid.txt",
    "--learner",
    "lambdamart(trees=60, leaves=15, min_rows=3, sample_queries=0.8)",
    "--out",
    "long.model",
    "--checkpoint-trees",
    "1",
    "--json",
];

fn long(bench: &Bench, folder: &str) -> Command {
    command(bench, &[&LONG[..], &["--checkpoint", folder]].concat())
}

#[test]
fn a_training_killed_at_any_moment_goes_on_to_the_same_bytes() {
    let bench = bench();
    let begun = Instant::now();
    let whole = sha(&Ran(long(&bench, "whole").output().unwrap()).json());
    // Some kills happen while reading, some while training, and a few runs finish.
    let longest = begun.elapsed().as_millis() as usize / 2;
    let mut random = Random::new(20, 7);
    let (mut kills, mut moved) = (0, 0);
    let checkpoint = bench.path("killed/checkpoint.model");
    let saved = || std::fs::read(&checkpoint).ok();
    while kills < 20 {
        let before = saved();
        let mut running = long(&bench, "killed");
        let running = running.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut running = running.unwrap();
        sleep(Duration::from_millis(random.below(longest) as u64));
        if running.try_wait().unwrap().is_some() {
            let output = running.wait_with_output().unwrap();
            assert_eq!(sha(&Ran(output).json()), whole);
            std::fs::remove_dir_all(bench.path("killed")).unwrap();
            continue;
        }
        running.kill().unwrap();
        running.wait().unwrap();
        kills += 1;
        moved += usize::from(saved() != before);
    }
    assert!(moved >= 3, "only {moved} of {kills} kills came after a tree was saved");
    let last = Ran(long(&bench, "killed").output().unwrap()).ok();
    assert_eq!(sha(&last.json()), whole);
}

#[test]
fn checkpoints_of_other_trainings_are_refused() {
    let bench = bench();
    let ran = Ran(long(&bench, "c").output().unwrap()).ok();
    assert!(!ran.err().contains("resuming"), "{}", ran.err());
    let again = Ran(long(&bench, "c").output().unwrap()).ok();
    assert!(again.err().contains("resuming after tree 60 from c"), "{}", again.err());
    for other in [
        "train valid.txt --valid valid.txt --learner lambdamart(trees=60,leaves=15,min_rows=3,sample_queries=0.8)",
        "train train.txt --valid valid.txt --learner lambdamart(trees=60,leaves=14,min_rows=3,sample_queries=0.8)",
        "train train.txt --valid valid.txt --learner lambdamart(trees=60,leaves=15,min_rows=3,sample_queries=0.8) --seed 2",
        "train train.txt --valid train.txt --learner lambdamart(trees=60,leaves=15,min_rows=3,sample_queries=0.8)",
    ] {
        let ran = bench.run(&format!("{other} --out x --checkpoint c"));
        assert_eq!(ran.code(), 1, "{other}");
        assert!(ran.err().contains("belongs to a training with other data"), "{}", ran.err());
    }
    std::fs::copy(bench.path("long.model"), bench.path("c/checkpoint.model")).unwrap();
    let ran = Ran(long(&bench, "c").output().unwrap());
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("is a model, not a checkpoint"), "{}", ran.err());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_says_how_to_go_on() {
    let bench = bench();
    let words = |trees: usize| {
        let learner = format!("mart(trees={trees}, leaves=7, sample_features=0.5)");
        ["train", "train.txt", "--learner", &learner, "--out", "m.model"].map(str::to_owned)
    };
    let endless = words(10_000_000);
    let ran = crate::common::interrupted(&bench, &endless.each_ref().map(String::as_str));
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.out().is_empty() && !bench.path("m.model").exists());
    assert!(ran.err().contains("saved in m.model.checkpoint"), "{}", ran.err());
    assert!(ran.err().contains("run the same command again to resume"));
    let message = ran.err();
    let (_, after) = message.split_once("interrupted after tree ").unwrap();
    let done: usize = after.split(';').next().unwrap().parse().unwrap();
    let finite = words(done + 3);
    let finite: Vec<&str> = finite.iter().map(String::as_str).collect();
    let ran = Ran(command(&bench, &finite).output().unwrap()).ok();
    assert!(ran.err().contains(&format!("resuming after tree {done}")), "{}", ran.err());
    assert!(
        ran.err().contains("the checkpoint folder m.model.checkpoint was removed"),
        "{}",
        ran.err()
    );
    assert!(!bench.path("m.model.checkpoint").exists());
    let resumed = std::fs::read(bench.path("m.model")).unwrap();
    Ran(command(&bench, &finite).output().unwrap()).ok();
    assert!(resumed == std::fs::read(bench.path("m.model")).unwrap());
}

#[test]
fn cross_validation_reports_folds_and_compares_learners() {
    let bench = bench();
    let line = "cv train.txt --learner tree(leaves=4) --learner lambdamart(trees=5,leaves=7,stop=3) --folds 4 --valid-part 0.25 --metric ndcg@10,ap --per-query p.tsv";
    let found = bench.run(&format!("{line} --json")).json();
    let learners = found["learners"].as_array().unwrap();
    assert_eq!(learners.len(), 2);
    for learner in learners {
        let folds = learner["folds"].as_array().unwrap();
        let tested: u64 = folds.iter().map(|fold| fold["queries"].as_u64().unwrap()).sum();
        assert_eq!((folds.len(), tested), (4, 20));
        // A learner without early stopping ignores that part, and trains on all.
        let stops = learner["learner"].as_str().unwrap().contains("stop=");
        let parts = |fold: &Value| ["trained", "validated"].map(|key| fold[key].as_u64().unwrap());
        let expected = if stops { [11, 4] } else { [15, 0] };
        assert!(folds.iter().all(|fold| parts(fold) == expected), "{folds:?}");
        assert_eq!(learner["metrics"].as_array().unwrap().len(), 2);
    }
    assert_eq!(found["comparison"]["baseline"], "tree(leaves=4)");
    assert_eq!(
        found["comparison"]["metrics"][0]["systems"][1]["value"],
        learners[1]["metrics"][0]["value"]
    );
    let table = bench.text("p.tsv");
    assert!(table.starts_with("metric\tquery\ttree(leaves=4)\tlambdamart("), "{table}");
    assert!(table.lines().count() > 30);
    let text = bench.run(line).ok().out();
    let folds_line = "4 folds by query, seed 1; 0.25 of the training queries decide on stopping or choosing for lambdamart(trees=5, stop=3, leaves=7), the others train on all";
    for part in ["fold 4", folds_line, "randomisation"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text =
        bench.run("cv train.txt -l mart(trees=3,stop=2) --folds 2 --valid-part 0.5").ok().out();
    assert!(
        text.contains(
            "2 folds by query, seed 1; 0.5 of the training queries decide on stopping or choosing\n"
        ),
        "{text}"
    );
    let text = bench.run("cv train.txt --learner tree --folds 2").ok().out();
    assert!(text.contains("fold 2") && text.contains("2 folds by query, seed 1\n"), "{text}");
    let one = bench.run("cv train.txt --learner tree --folds 3 --threads 1 --json").json();
    let three = bench.run("cv train.txt --learner tree --folds 3 --threads 3 --json").json();
    assert_eq!(one["learners"][0]["metrics"], three["learners"][0]["metrics"]);
}

#[test]
fn a_linear_model_needs_no_data_and_lists_name_all_learners() {
    let bench = bench();
    let found = bench.run("train --learner linear(weights=22:0.03/72:0.06) --out a.model --json");
    assert_eq!(found.json()["trees"], Value::Null);
    let with = train(&bench, "linear(weights=22:0.03/72:0.06)", "--valid valid.txt");
    let alone = bench.run("eval a.model valid.txt --metric ndcg@10 --ignore-extra --json").json();
    assert_eq!(with["valid"]["valid.txt"][0]["value"], alone["metrics"][0]["value"]);
    let all = bench.run("list learners --json").json();
    let names = all["learners"].as_array().unwrap().iter().map(|learner| &learner["name"]);
    let names: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
    for name in ["lambdamart", "mart", "tree", "linear", "ranksvm", "pairwise-logistic", "logistic"]
    {
        assert!(names.contains(&name), "{name}");
    }
    let text = bench.run("list learners").ok().out();
    for name in names.into_iter().chain(["sample_queries", "norm_gap", "22:+/72:-"]) {
        assert!(text.contains(name), "{name}");
    }
}

#[test]
fn objectives_are_listed_with_their_parameters() {
    let bench = Bench::new();
    let all = bench.run("list objectives --json").json();
    let all = all["objectives"].as_array().unwrap();
    let names: Vec<&str> = all.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"xendcg") && names.contains(&"huber"), "{names:?}");
    let huber = all.iter().find(|one| one["name"] == "huber").unwrap();
    assert_eq!(huber["parameters"][0]["name"], "alpha");
    let text = bench.run("list objectives").ok().out();
    for name in names.into_iter().chain(["alpha", "terms", "huber(alpha=0.9)"]) {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn linear_models_are_trained_inspected_and_used_like_any_model() {
    let bench = bench();
    for learner in
        ["ranksvm", "pairwise-logistic", "linear-regression", "logistic", "linear-svm", "ordinal"]
    {
        let found = train(&bench, learner, "--valid valid.txt");
        let weights = found["weights"].as_array().unwrap();
        assert_eq!(weights.len(), 136);
        let value = |at: usize| weights[at]["weight"].as_f64().unwrap();
        assert!(value(0) > 0.0 && value(0) >= value(1) && value(135) < 0.0, "{learner}");
        assert!(weights[0]["feature"].as_str().is_some());
        let eval = bench.run("eval m.model valid.txt --metric ndcg@10 --json").json();
        assert_eq!(eval["metrics"][0]["value"], found["valid"]["valid.txt"][0]["value"]);
        bench.run("model inspect m.model").ok();
    }
    // Raw weights are available where the features were only shifted and scaled.
    let raw = |learner: &str| train(&bench, learner, "")["weights"][0]["raw"].as_f64().is_some();
    assert!(raw("ranksvm(transform=standard)") && !raw("ranksvm(transform=query-min-max)"));
    let text = bench.run("train train.txt --learner ranksvm --out m.model").ok().out();
    assert!(text.contains("(120 more)") && text.contains("weights of 136 features"), "{text}");
    assert!(text.contains("rounds   ") && text.contains("(step)"), "{text}");
    bench.run("train train.txt --learner logistic --out n.model").ok();
    bench.run("compare valid.txt m.model n.model").ok();
}

#[test]
fn the_best_c_is_chosen_on_validation_data() {
    let bench = bench();
    let ran = bench.run("train train.txt --learner ranksvm(c=0.001/0.1) --out m.model");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("give --valid DATA"), "{}", ran.err());
    let found = train(&bench, "ranksvm(c=0.001/0.1)", "--valid valid.txt");
    assert_eq!(
        (&found["unit"], found["iterations"].as_array().unwrap().len()),
        (&"value of c".into(), 2)
    );
    let best = found["best"].as_u64().unwrap() as usize;
    assert_eq!(
        found["iterations"][best - 1]["values"][0][0],
        found["valid"]["valid.txt"][0]["value"]
    );
    let cv = bench.run(
        "cv train.txt --learner ranksvm(c=0.001/0.1) --learner ranksvm --folds 2 --valid-part 0.3",
    );
    cv.ok();
    for (line, message) in [
        ("train train.txt --learner ranksvm --start m.model --out x", "cannot start from a model"),
        (
            "train train.txt --learner linear-regression --checkpoint c --out x",
            "trained in one step",
        ),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), 2, "{line}");
        assert!(ran.err().contains(message), "{}", ran.err());
    }
}

#[test]
fn a_finished_training_leaves_nothing_that_nobody_asked_for() {
    let bench = bench();
    let names = || {
        let entries = std::fs::read_dir(bench.path("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    train(&bench, "mart(trees=2)", "");
    let left = ["m.model", "m.model.log.json", "train.txt", "valid.txt"];
    assert_eq!(names(), left);
    // A named folder is kept, with its content.
    std::fs::create_dir(bench.path("mine")).unwrap();
    bench.put("mine/notes.txt", "mine");
    train(&bench, "mart(trees=2)", "--checkpoint mine");
    assert_eq!(bench.text("mine/notes.txt"), "mine");
    train(&bench, "mart(trees=2)", "--checkpoint new");
    assert!(bench.path("new").is_dir());
    train(&bench, "mart(trees=2)", "--checkpoint m.model.checkpoint --checkpoint-trees 1");
    assert!(bench.path("m.model.checkpoint/checkpoint.model").exists());
    // Without the option the folder belongs to the training, except for other files in it.
    bench.put("m.model.checkpoint/notes.txt", "mine");
    train(&bench, "mart(trees=3)", "");
    assert!(!bench.path("m.model.checkpoint/checkpoint.model").exists());
    assert_eq!(bench.text("m.model.checkpoint/notes.txt"), "mine");
    // A linear model has no checkpoints, so an existing one belongs to another training.
    bench.put("m.model.checkpoint/checkpoint.model", "of another training");
    train(&bench, "linear(weights=22:1)", "");
    assert_eq!(bench.text("m.model.checkpoint/checkpoint.model"), "of another training");
    let help = bench.run("train --help").ok().out();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("The folder and what was saved last are kept"), "{help}");
}

#[test]
fn a_place_where_nothing_could_be_saved_is_found_before_the_training() {
    let bench = bench();
    bench.put("m.model.checkpoint", "a file where a folder should be");
    let endless = "train train.txt --learner mart(trees=10000000) --out m.model";
    let ran = bench.run(endless);
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("m.model.checkpoint is not a folder"), "{}", ran.err());
    assert!(ran.err().contains("--checkpoint"), "{}", ran.err());
    assert_eq!(bench.text("m.model.checkpoint"), "a file where a folder should be");
    train(&bench, "mart(trees=1)", "--checkpoint c");
    train(&bench, "linear(weights=22:1)", "");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_beside_what_is_no_file() {
    let bench = bench();
    std::os::unix::fs::symlink("/dev/null", bench.path("null")).unwrap();
    let before = std::fs::read_dir(bench.path("")).unwrap().count();
    let words = ["train", "train.txt", "--learner", "mart(trees=2)", "--out", "null", "--json"];
    let found = Ran(command(&bench, &words).output().unwrap()).json();
    assert_eq!(found["trees"], 2);
    assert_eq!(std::fs::read_dir(bench.path("")).unwrap().count(), before);
    let endless = ["train", "train.txt", "--learner", "mart(trees=10000000)", "--out", "null"];
    let ran = crate::common::interrupted(&bench, &endless);
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.err().contains("nothing was saved: null is not an ordinary file"), "{}", ran.err());
    assert!(
        ran.err().contains("help: give a folder for checkpoints with --checkpoint DIR"),
        "{}",
        ran.err()
    );
    assert_eq!(std::fs::read_dir(bench.path("")).unwrap().count(), before);
}

#[test]
fn pairs_that_are_only_sampled_are_reported_once() {
    let bench = Bench::new();
    let row = |n: usize| format!("{} qid:large 1:{}\n", n % 2, n % 7);
    let mut text: String = (0..20_001).map(row).collect();
    text += "1 qid:small 1:1\n0 qid:small 1:2\n";
    bench.put("d.txt", &text);
    let ran = bench.run("train d.txt --learner rankmart(trees=3,leaves=2) --out m").ok();
    let message = "note: 1 query is too large for rankmart to use every pair of documents";
    assert_eq!(ran.err().matches(message).count(), 1, "{}", ran.err());
    assert!(ran.err().contains("paired with 256 others"), "{}", ran.err());
    let ran = bench.run("train d.txt --learner lambdamart(trees=1,leaves=2) --out m").ok();
    assert!(!ran.err().contains("too large"), "{}", ran.err());
    let ran = bench.run("cv d.txt --folds 2 --learner rankmart(trees=1,leaves=2)").ok();
    assert_eq!(ran.err().matches(message).count(), 1, "{}", ran.err());
}

#[cfg(unix)]
#[test]
fn trees_are_kept_where_the_checkpoint_cannot_be_written() {
    let bench = bench();
    let words = ["train", "train.txt", "--learner", "mart(trees=10000000, leaves=7)"];
    let words = [&words[..], &["--out", "m.model", "--checkpoint", "c"]].concat();
    let mut running = command(&bench, &words);
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !bench.path("c").is_dir() {
        sleep(Duration::from_millis(10));
    }
    sleep(Duration::from_millis(1500));
    std::fs::remove_dir_all(bench.path("c")).unwrap();
    bench.put("c", "a file where the folder was");
    Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    let ran = Ran(running.wait_with_output().unwrap());
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.err().contains("the checkpoint could not be written"), "{}", ran.err());
    assert!(ran.err().contains("help: train with --start m.model.partial"), "{}", ran.err());
    let trees = bench.run("model inspect m.model.partial --json").json()["trees"]["count"].clone();
    let message = ran.err();
    let (_, after) = message.split_once("interrupted after tree ").unwrap();
    assert_eq!(trees.to_string(), after.split(';').next().unwrap());
    let more = train(&bench, "mart(trees=2, leaves=7)", "--start m.model.partial");
    assert_eq!(more["trees"].as_u64(), trees.as_u64().map(|trees| trees + 2));
}

#[test]
fn errors_of_an_objective_name_the_query() {
    let bench = Bench::new();
    bench.put("d.txt", "1 qid:near 1:1\n0 qid:near 1:2\n1000 qid:far-out 1:1\n0 qid:far-out 1:2\n");
    let ran = bench.run("train d.txt --learner lambdamart(metric=dcg@10,norm_query=false) --out m");
    assert_eq!(ran.code(), 1);
    let message = "query far-out: lambdas leave the range of a 32-bit float";
    assert!(ran.err().contains(message), "{}", ran.err());
}

/// Regression: of two validation sets of one name, one was missing in the result.
#[test]
fn validation_sets_of_one_name_have_values_of_their_own() {
    let bench = bench();
    bench.put("training", &bench.text("valid.txt"));
    let line = "train train.txt --learner mart(trees=2) --valid training --valid valid.txt \
                --valid valid.txt --eval-train --out m.model --json";
    let result = bench.run(line).json();
    let names: Vec<&String> = result["valid"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["training", "training (validation)", "valid.txt", "valid.txt (2)"]);
    assert_ne!(result["valid"]["training"], result["valid"]["training (validation)"]);
}
