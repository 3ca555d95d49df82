//! Tests of `tune`.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, bench, command, real_data};
use rankwright::data::Random;
use serde_json::Value;

/// A search on the validation data, with further arguments.
fn tune(bench: &Bench, learner: &str, space: &str, more: &str) -> Ran {
    let words = ["tune", "train.txt", "--learner", learner, "--space", space];
    let words: Vec<&str> = words.into_iter().chain(more.split_whitespace()).collect();
    Ran(command(bench, &words).output().unwrap())
}

/// The document without values that differ from run to run.
fn timeless(mut document: Value) -> Value {
    for trial in document["trials"].as_array_mut().unwrap() {
        trial["seconds"].take();
    }
    document["best"]["seconds"].take();
    document["log"].take();
    // The warnings contain the number of trials in the log.
    document["warnings"].take();
    document
}

const SPACE: &str = "leaves=int(2,15), rate=log(0.05,0.5), min_rows=choice(1,5,20)";

#[test]
fn the_chosen_spec_trains_to_the_model_that_was_written() {
    let bench = bench();
    let more = "--valid valid.txt --trials 6 --seed 3 --out best.model";
    let text = tune(&bench, "lambdamart(trees=20)", SPACE, more).ok().out();
    for part in ["95% interval", "ndcg@10: ", "6 trials, random search, seed 3", "caution"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let line = text.lines().find_map(|line| line.strip_prefix("use ")).unwrap();
    let spec = line.split('\'').nth(1).unwrap();
    assert!(line.ends_with("--seed 3"), "{line}");
    let words = ["train", "train.txt", "--valid", "valid.txt", "--learner", spec];
    let words = [&words[..], &["--seed", "3", "--out", "again.model"]].concat();
    Ran(command(&bench, &words).output().unwrap()).ok();
    assert_eq!(
        std::fs::read(bench.path("best.model")).unwrap(),
        std::fs::read(bench.path("again.model")).unwrap()
    );
    let found = tune(&bench, "lambdamart(trees=20)", SPACE, &format!("{more} --json")).json();
    assert_eq!(found["best"]["spec"], spec);
    let eval = bench.run("eval best.model valid.txt --metric ndcg@10 --json").json();
    assert_eq!(eval["metrics"][0]["value"], found["best"]["value"]);
    assert_eq!(eval["metrics"][0]["ci95"], found["best"]["ci95"]);
    assert_eq!(found["trials"].as_array().unwrap().len(), 6);
    let zero = found["trials"].as_array().unwrap().iter().find(|t| t["trial"] == 0).unwrap();
    assert_eq!(zero["spec"], "lambdamart(trees=20, stop=50)");
    if found["best"]["trial"] != 0 {
        let gain = found["best"]["value"].as_f64().unwrap() - zero["value"].as_f64().unwrap();
        let result = found["versus_trial_0"]["difference"].as_f64().unwrap();
        assert!((gain - result).abs() < 1e-12);
    }
}

#[test]
fn the_log_of_an_earlier_training_does_not_stay_beside_a_new_model() {
    let bench = bench();
    bench.run("train train.txt --learner mart(trees=3) --out m.model").ok();
    assert!(bench.path("m.model.log.json").is_file());
    let more = "--valid valid.txt --trials 2 --out m.model";
    tune(&bench, "mart(trees=2)", "leaves=int(2,4)", more).ok();
    assert!(!bench.path("m.model.log.json").exists());
    // A file of that name that is no log of a training stays.
    bench.put("m.model.log.json", "notes");
    tune(&bench, "mart(trees=2)", "leaves=int(2,4)", more).ok();
    assert_eq!(bench.text("m.model.log.json"), "notes");
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let bench = bench();
    bench.put("notes", "mine\n");
    let valid = "--valid valid.txt --trials 5";
    for (learner, space, more, code, message) in [
        ("lamdamart", "leaves=int(2,9)", valid, 1, "did you mean `lambdamart`?"),
        ("mart", "leafs=int(2,9)", valid, 1, "did you mean `leaves`?"),
        ("mart", "rate=lg(0.1,1)", valid, 1, "did you mean `log`?"),
        ("mart", "rate=log(1,0.1)", valid, 1, "the lower one first"),
        ("mart", "rate=log(0.1,1", valid, 1, "expected `)`"),
        ("mart", "leaves=choice(7,x)", valid, 1, "leaves=x is not allowed"),
        (
            "mart",
            "trees=int(3,9)",
            "--valid valid.txt --method halving",
            1,
            "halving varies trees itself",
        ),
        ("mart(stop=3)", "leaves=int(2,9)", "--folds 3", 1, "--valid-part"),
        ("mart(stop=none)", "leaves=int(2,9)", "--folds 3 --valid-part 0.2", 2, "stop=none"),
        (
            "mart(stop=3)",
            "leaves=int(2,9)",
            "--valid-part 0.2 --out m",
            2,
            "trained on all of the data",
        ),
        ("mart", "leaves=int(2,9)", "--folds 3 --valid valid.txt", 2, "cannot be used with"),
        ("mart", "leaves=int(2,9)", "--folds 1", 1, "at least 2 folds are needed"),
        ("mart", "leaves=int(2,9)", "--metric ndgc", 1, "did you mean `ndcg`?"),
        ("mart", "leaves=int(2,9)", "--metric ap,rr", 2, "--metric takes one metric here"),
        ("mart", "leaves=int(2,9)", "--trials 0", 1, "0 trials"),
        (
            "mart",
            "leaves=int(2,9)",
            "--valid valid.txt --log notes",
            1,
            "is not the log of a parameter search",
        ),
        (
            "mart",
            "leaves=int(2,9)",
            "--valid valid.txt --log train.txt",
            1,
            "would be written over the input train.txt",
        ),
        ("mart", "leaves=int(2,9)", "--out no/where", 1, "the folder no does not exist"),
        ("mart", "leaves=int(2,9)", "--out -", 2, "a model is written to a file"),
        ("mart", "leaves=int(2,9)", "--out x --log x", 2, "two results would be written to x"),
        ("linear(weights=1:1)", "bias=int(0,1)", valid, 1, "learns nothing"),
    ] {
        let ran = tune(&bench, learner, space, more);
        assert_eq!(ran.code(), code, "{learner} {space} {more}: {}", ran.err());
        assert!(ran.err().contains(message), "{learner} {space} {more}: {}", ran.err());
        assert_eq!(ran.out(), "");
    }
    assert_eq!(bench.text("notes"), "mine\n");
    let ran = bench.run("tune --learner mart");
    assert_eq!(ran.code(), 2);
}

#[test]
fn the_space_that_is_shown_can_be_given() {
    let bench = bench();
    for learner in ["lambdamart(trees=5)", "ranksvm", "linear-regression"] {
        let shown =
            Ran(command(&bench, &["tune", "--show-space", "--learner", learner]).output().unwrap());
        let shown = shown.ok().out();
        let more = "--valid valid.txt --trials 3 --json";
        let given = tune(&bench, learner, shown.trim(), more).json();
        let words = ["tune", "train.txt", "--learner", learner];
        let words: Vec<&str> = words.into_iter().chain(more.split_whitespace()).collect();
        let own = Ran(command(&bench, &words).output().unwrap()).json();
        assert_eq!(timeless(own), timeless(given), "{learner}");
    }
}

#[test]
fn any_number_of_threads_prints_the_same() {
    let bench = bench();
    for method in ["random", "halving"] {
        let on = |threads: usize| {
            let more = format!(
                "--valid valid.txt --trials 9 --method {method} --json --threads {threads}"
            );
            timeless(tune(&bench, "lambdamart(trees=9)", SPACE, &more).json())
        };
        let one = on(1);
        assert!([2, 3, 8].into_iter().all(|threads| on(threads) == one), "{method}");
    }
}

#[test]
fn folds_give_what_cross_validation_gives() {
    let bench = bench();
    let more = "--folds 3 --trials 3 --seed 2 --metric err@5 --json --out m.model";
    let found = tune(&bench, "mart(trees=5)", "leaves=choice(3,9,12)", more).json();
    for trial in found["trials"].as_array().unwrap() {
        let spec = trial["spec"].as_str().unwrap();
        let words = ["cv", "train.txt", "--folds", "3", "--seed", "2", "--learner", spec];
        let words = [&words[..], &["--metric", "err@5", "--json"]].concat();
        let cv = Ran(command(&bench, &words).output().unwrap()).json();
        assert_eq!(cv["learners"][0]["metrics"][0]["value"], trial["value"]);
    }
    let spec = found["best"]["spec"].as_str().unwrap();
    assert!(bench.run("model inspect m.model").ok().out().contains(spec));
    // Part of each fold's training queries can decide on stopping.
    let more = "--folds 2 --valid-part 0.3 --trials 2 --json";
    let found = tune(&bench, "mart(trees=30, stop=3)", "leaves=choice(3,9)", more).json();
    assert!(found["best"]["rounds"].as_f64().unwrap() < 30.0);
}

#[test]
fn a_log_is_extended_and_refuses_another_command() {
    let bench = bench();
    let valid = "--valid valid.txt --log log --json";
    tune(&bench, "mart(trees=3)", "leaves=int(2,90)", &format!("{valid} --trials 3")).ok();
    let more = tune(&bench, "mart(trees=3)", "leaves=int(2,90)", &format!("{valid} --trials 6"));
    assert!(
        more.err().contains("3 trainings of this search were finished before"),
        "{}",
        more.err()
    );
    let fresh =
        tune(&bench, "mart(trees=3)", "leaves=int(2,90)", "--valid valid.txt --json --trials 6");
    assert_eq!(timeless(more.json()), timeless(fresh.json()));
    for line in bench.text("log").lines().skip(1) {
        let trial: Value = serde_json::from_str(line).unwrap();
        assert!(trial["value"].is_f64() && trial["seconds"].is_f64(), "{line}");
        assert!(trial["spec"].is_string() && trial["seed"] == 1, "{line}");
        assert_eq!(trial["data"].as_array().unwrap().len(), 2, "{line}");
    }
    for (learner, space, more, message) in [
        ("mart(trees=4)", "leaves=int(2,90)", valid, "learner was mart(trees=3, stop=50), now"),
        ("mart(trees=3)", "leaves=int(2,91)", valid, "space was leaves=int(2,90), now"),
        ("mart(trees=3)", "leaves=int(2,90)", "--log log --folds 2", "evaluated on was"),
        ("mart(trees=3)", "leaves=int(2,90)", "--valid valid.txt --log log --seed 2", "seed was 1"),
        ("mart(trees=3)", "leaves=int(2,90)", "--valid train.txt --log log", "validation data was"),
    ] {
        let ran = tune(&bench, learner, space, more);
        assert_eq!(ran.code(), 1, "{}", ran.err());
        assert!(ran.err().contains(message), "{}", ran.err());
    }
}

/// A search long enough to be interrupted.
fn long(bench: &Bench, method: &str, log: &str) -> Command {
    let learner = "lambdamart(trees=60, leaves=15, min_rows=2)";
    let space = "leaves=int(4,31), rate=log(0.02,0.5)";
    let words = ["tune", "train.txt", "--valid", "valid.txt", "--learner", learner];
    let words = [&words[..], &["--space", space, "--trials", "9", "--method", method]].concat();
    let mut command = command(bench, &words);
    command.args(["--log", log, "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_search_killed_at_any_moment_comes_to_the_same_table() {
    let bench = bench();
    for method in ["random", "halving"] {
        let begun = Instant::now();
        let whole = Ran(long(&bench, method, "whole").output().unwrap()).json();
        let took = begun.elapsed();
        let mut random = Random::new(7, 1);
        let mut moved = 0;
        for _ in 0..8 {
            let lines = |text: std::io::Result<String>| text.map_or(0, |t| t.lines().count());
            let before = lines(std::fs::read_to_string(bench.path("killed")));
            let mut running = long(&bench, method, "killed").spawn().unwrap();
            sleep(took.mul_f64(0.1 + 0.3 * random.unit()));
            running.kill().unwrap();
            running.wait().unwrap();
            let after = lines(std::fs::read_to_string(bench.path("killed")));
            assert!(after >= before);
            moved += usize::from(after > before);
        }
        assert!(moved >= 2, "only {moved} of 8 kills came after a trial was finished");
        let last = Ran(long(&bench, method, "killed").output().unwrap()).json();
        assert_eq!(timeless(last), timeless(whole), "{method}");
        assert!(!bench.path("killed.trials").exists());
        std::fs::remove_file(bench.path("killed")).unwrap();
        std::fs::remove_file(bench.path("whole")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_go_on() {
    let bench = bench();
    let whole = Ran(long(&bench, "random", "whole").output().unwrap()).json();
    let running = long(&bench, "random", "log").spawn().unwrap();
    let begun = Instant::now();
    while std::fs::read_to_string(bench.path("log")).map_or(0, |t| t.lines().count()) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no trial is finished");
        sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap();
    let ran = Ran(running.wait_with_output().unwrap());
    if ran.code() != 0 {
        assert_eq!(ran.code(), 130, "{}", ran.err());
        assert!(ran.err().contains("run the command again to resume"), "{}", ran.err());
        assert_eq!(ran.out(), "");
    }
    let rest = Ran(long(&bench, "random", "log").output().unwrap());
    assert!(rest.err().contains("finished before"), "{}", rest.err());
    assert_eq!(timeless(rest.json()), timeless(whole));
}

#[test]
fn a_trial_that_fails_does_not_end_the_search() {
    let bench = bench();
    let space = "monotone=choice(1:+,999:+)";
    let ran = tune(&bench, "mart(trees=3)", space, "--valid valid.txt --trials 8").ok();
    assert!(ran.out().contains("trials failed, for example:"), "{}", ran.out());
    assert!(ran.err().contains("trial 1 (mart(") && ran.err().contains("999"), "{}", ran.err());
    let all = tune(&bench, "mart(trees=3, monotone=999:+)", "leaves=int(2,9)", "--trials 2");
    assert_eq!(all.code(), 1);
    assert!(all.err().contains("every trial failed"), "{}", all.err());
}

#[test]
fn a_search_improves_on_a_poor_first_spec_on_real_data() {
    let Some(folder) = real_data() else { return };
    let bench = Bench::new();
    let part = |n: usize| folder.join(format!("mq2008/S{n}.txt")).display().to_string();
    // Nine trees of two leaves use a handful of features.
    let line = format!(
        "tune|{}|{}|--valid|{}|--learner|lambdamart(trees=9, leaves=2)|--space|\
         leaves=choice(8,16), min_rows=logint(5,100), rate=log(0.05,0.2)|--trials|9|\
         --method|halving|--json",
        part(1),
        part(2),
        part(4)
    );
    let found = bench.run(&line).json();
    assert_ne!(found["best"]["trial"], 0, "{found}");
    assert!(found["versus_trial_0"]["difference"].as_f64().unwrap() > 0.0);
}
