//! Tests of the inputs of `train`: training data, validation data, a start model, and options that
//! depend on the learner.

use crate::common::{Bench, bench, train};

#[test]
fn features_that_training_does_not_know_are_named() {
    let bench = Bench::new();
    bench
        .put("train.txt", "1 qid:a 1:3 2:1\n0 qid:a 1:1 2:5\n1 qid:b 1:4 2:2\n0 qid:b 1:2\n")
        .put("wide.txt", "1 qid:a 1:3 3:1\n0 qid:a 1:1 4:1\n")
        .put("narrow.txt", "1 qid:a 1:3\n0 qid:a 1:1\n")
        .put("named.csv", "qid,label,bm25,pr\na,1,3,1\na,0,1,1\n")
        .put("other.csv", "qid,label,bm25,length\na,1,3,1\na,0,1,1\n");
    let base = "--learner mart(trees=2,leaves=2,min_rows=1)";
    let wide = format!("train train.txt --valid wide.txt {base} --out m");
    let ran = bench.run(&wide);
    assert_eq!((ran.code(), bench.path("m").exists()), (1, false));
    let message = "wide.txt has 2 features that the training data does not know: 3, 4";
    assert!(ran.err().contains(message) && ran.err().contains("help: "), "{}", ran.err());
    assert!(ran.err().contains("--ignore-extra"), "{}", ran.err());
    let ran = bench.run(&format!("{wide} --ignore-extra")).ok();
    assert!(!ran.err().contains("note: "), "{}", ran.err());
    bench.run(&format!("train train.txt --valid narrow.txt {base} --out m")).ok();
    let line = format!("train train.txt --valid named.csv {base} --out m");
    let ran = bench.run(&line);
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("those of named.csv have the names bm25, pr"), "{}", ran.err());
    let line = format!("{line} --match-by position");
    assert!(bench.run(&format!("{line} --quiet")).ok().err().is_empty());
    let ran = bench.run(&format!("train named.csv --valid other.csv {base} --out m"));
    assert_eq!(ran.code(), 1);
    let message = "other.csv lacks 1 of the features of the training data: pr";
    assert!(ran.err().contains(message), "{}", ran.err());
    // A linear model is evaluated on validation data too.
    let line = "train train.txt --valid wide.txt --learner linear(weights=1:1) --out m";
    assert!(bench.run(line).err().contains("does not know: 3, 4"));
}

#[test]
fn validation_data_without_rows_is_refused_before_training() {
    let bench = Bench::new();
    bench.put("train.txt", "1 qid:a 1:3\n0 qid:a 1:1\n").put("empty.txt", "");
    let ran = bench.run("train train.txt --valid empty.txt --learner mart(trees=2) --out m");
    assert_eq!((ran.code(), bench.path("m").exists()), (1, false));
    assert!(ran.err().contains("empty.txt holds no rows"), "{}", ran.err());
}

#[test]
fn a_start_model_and_the_training_data_have_the_same_features() {
    let bench = Bench::new();
    bench
        .put("narrow.txt", "1 qid:a 1:3\n0 qid:a 1:1\n1 qid:b 1:4\n0 qid:b 1:2\n")
        .put("wide.txt", "1 qid:a 1:3 2:1\n0 qid:a 1:1 3:1\n1 qid:b 1:4\n0 qid:b 1:2\n")
        .put("named.csv", "qid,label,bm25\na,1,3\na,0,1\n");
    let base = "--learner mart(trees=2,leaves=2,min_rows=1)";
    for name in ["narrow", "wide"] {
        bench.run(&format!("train {name}.txt {base} --out {name}.model")).ok();
    }
    for (data, model, message) in [
        (
            "wide.txt",
            "narrow.model",
            "the training data has 2 features that the start model narrow.model does not know: 2, 3",
        ),
        (
            "narrow.txt",
            "wide.model",
            "the start model wide.model has 2 features that the training data does not know: 2, 3",
        ),
    ] {
        let line = format!("train {data} {base} --start {model} --out m");
        let ran = bench.run(&line);
        assert_eq!((ran.code(), bench.path("m").exists()), (1, false), "{line}");
        assert!(ran.err().contains(message), "{}", ran.err());
        assert!(ran.err().contains("help: ") && ran.err().contains("--ignore-extra"));
        bench.run(&format!("{line} --ignore-extra --quiet")).ok();
        std::fs::remove_file(bench.path("m")).unwrap();
    }
    let line = format!("train named.csv {base} --start narrow.model --out m");
    let ran = bench.run(&line);
    assert_eq!((ran.code(), bench.path("m").exists()), (1, false));
    let message = "the features of the start model narrow.model have the number 1; those of the training data have the names ";
    assert!(ran.err().contains(message), "{}", ran.err());
    assert!(ran.err().contains("help: ") && ran.err().contains("--match-by position"));
    bench.run(&format!("{line} --match-by position")).ok();
}

#[test]
fn options_that_would_do_nothing_for_a_line_are_refused() {
    let bench = bench();
    train(&bench, "mart(trees=1)", "");
    for (words, flag) in [
        ("train.txt --seed 1", "--seed"),
        ("train.txt --checkpoint c", "--checkpoint"),
        ("train.txt --checkpoint c --checkpoint-trees 3", "--checkpoint"),
        ("train.txt --start m.model", "--start"),
        ("--seed 3", "--seed"),
        ("--metric ap", "--metric"),
        ("--eval-train", "--eval-train"),
        ("--valid valid.txt", "--valid"),
        ("--absent zero", "--absent"),
        ("--format letor", "--format"),
        ("--columns qid=q", "--columns"),
        ("--pairs p.txt", "--pairs"),
    ] {
        let ran = bench.run(&format!("train {words} --learner linear(weights=22:1) --out x"));
        assert_eq!(ran.code(), 2, "{words}: {}", ran.err());
        let message = ran.err();
        assert!(message.contains("has no effect") && message.contains(flag), "{words}: {message}");
        assert!(!bench.path("x").exists() && !bench.path("c").exists(), "{words}");
    }
    // These options have an effect where there is data.
    let line = "train train.txt --valid valid.txt --metric ap --eval-train --learner linear(weights=22:1) --out x --json";
    let found = bench.run(line).json();
    assert_eq!(found["valid"]["training"][0]["metric"], "ap");
    assert_eq!(found["sets"], serde_json::json!(["training", "valid.txt"]));
    let eval = bench.run("eval x valid.txt --metric ap --json").json();
    assert_eq!(found["valid"]["valid.txt"][0]["value"], eval["metrics"][0]["value"]);
    bench.run("train --learner linear(weights=22:1,metric=err@5) --out x").ok();
    assert!(bench.run("model inspect x").ok().out().contains("err@5"));
}

/// The default seed is the same in every command with random choices.
#[test]
fn every_command_has_the_same_seed_by_default() {
    let bench = Bench::new();
    for command in [
        "demo",
        "cv",
        "tune",
        "train",
        "compare",
        "explain",
        "classify",
        "data generate letor",
        "data generate store",
        "data generate homepages",
        "data split",
        "model inspect",
        "report train",
        "report shrinkage",
        "report compare",
        "report data",
    ] {
        let help = bench.run(&format!("{command} --help")).ok().out();
        let (_, seed) =
            help.split_once("--seed <N>").unwrap_or_else(|| panic!("{command}: {help}"));
        // Up to the next option.
        let seed = seed.split("\n  ").take_while(|line| !line.trim_start().starts_with('-'));
        let seed = seed.collect::<Vec<_>>().join(" ");
        assert!(
            seed.contains("[default: 1]") || seed.contains("1 if not given"),
            "{command}: {seed}"
        );
    }
}
