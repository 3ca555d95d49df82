//! Training on clicks: the file of examination, the printed factors, and what is refused.

use crate::common::Bench;
use rankwright::data::Random;

/// Pages of four documents with clicks and positions.
fn clicks() -> Bench {
    let mut random = Random::new(3, 0);
    let mut text = "qid,label,position,good,shown\n".to_owned();
    for query in 0..60 {
        for position in 1..=4 {
            let good = random.unit();
            let clicked = random.unit() < if good > 0.6 { 0.9 } else { 0.1 } / f64::from(position);
            let (label, shown) = (u8::from(clicked), 4 - position);
            text += &format!("{query},{label},{position},{good},{shown}\n");
        }
    }
    let bench = Bench::new();
    bench.put("clicks.csv", &text).put("bias.tsv", "1 1\n2 0.5\n3 0.33\n4 0.25\n");
    let json = r#"{"estimates":[{"estimator":"click-rate","examination":[1,1,1,1],"ci95":[]},
        {"estimator":"em","examination":[1,0.5,0.33,0.25],"ci95":[]}],"disagreement":null}"#;
    bench.put("bias.json", json);
    bench
}

#[test]
fn factors_are_printed_by_training_and_inspection() {
    let bench = clicks();
    let learner = "lambdamart(trees=5,bias=gam)";
    let trained = bench.run(&format!("train clicks.csv --learner {learner} --out gam.model")).ok();
    assert!(trained.out().contains("bias     gam, 4 positions"), "{}", trained.out());
    let shown = bench.run("model inspect gam.model").ok().out();
    for part in ["position bias", "gam, 4 positions", "term", "scores do not depend"] {
        assert!(shown.contains(part) && trained.out().contains("term"), "{part}: {shown}");
    }
    let json = bench.run("model inspect gam.model --json").json();
    let bias = &json["position_bias"];
    assert_eq!(
        (&bias["kind"], &bias["positions"]),
        (&"gam".into(), &serde_json::json!([1, 2, 3, 4]))
    );
    assert_eq!(bias["columns"][0]["values"].as_array().unwrap().len(), 4);
    let plain =
        bench.run("train clicks.csv --learner lambdamart(trees=5) --out m.model --json").json();
    assert!(plain.get("position_bias").is_none());
}

#[test]
fn a_bias_file_of_either_form_sets_the_examination_and_the_clip_is_printed() {
    let bench = clicks();
    let train = |learner: &str, more: &str| {
        bench.run(&format!("train clicks.csv --learner {learner} --out m.model {more}"))
    };
    let inline = train("rankmart(trees=4,bias=ips,examination=1/0.5/0.33/0.25)", "--json").json();
    let lines = train("rankmart(trees=4,bias=ips)", "--bias bias.tsv --json").json();
    let json = train("rankmart(trees=4,bias=ips)", "--bias bias.json --json").json();
    assert_eq!(inline["sha256"], lines["sha256"]);
    assert_eq!(inline["sha256"], json["sha256"]);
    assert_eq!(json["bias_estimator"], "em");
    for learner in ["ranksvm(bias=ips,bias_clip=0.4)", "lambdamart(trees=4,bias=dr,bias_clip=0.4)"]
    {
        let trained = train(learner, "--bias bias.json").ok().out();
        assert!(trained.contains("clipped at 0.4, estimated by em"), "{trained}");
        let shown = bench.run("model inspect m.model").ok().out();
        assert!(shown.contains("an examination below 0.4 was raised to it"), "{shown}");
    }
}

#[test]
fn what_is_missing_is_named_with_the_way_out() {
    let bench = clicks();
    bench.put("plain.csv", "qid,label,good\n1,0,0.1\n1,1,0.2\n").put("wrong.tsv", "1 one\n");
    for (line, parts) in [
        ("train plain.csv --learner lambdamart(bias=gam)", ["needs the position", "--columns"]),
        (
            "train clicks.csv --learner lambdamart(bias=ips)",
            ["needs the examination", "--bias FILE"],
        ),
        (
            "train clicks.csv --learner lambdamart(bias=gam) --bias bias.tsv",
            ["examination", "bias=ips or dr"],
        ),
        (
            "train clicks.csv --learner lambdamart(bias=ips) --bias wrong.tsv",
            ["wrong.tsv", "line 1"],
        ),
        (
            "train clicks.csv --learner lambdamart(bias=ips) --bias none.tsv",
            ["none.tsv", "none.tsv"],
        ),
        ("train clicks.csv --learner mart(bias=pairwise)", ["bias=pairwise", "pairs"]),
    ] {
        let ran = bench.run(&format!("{line} --out m.model"));
        assert_ne!(ran.code(), 0, "{line}");
        for part in parts {
            assert!(ran.err().contains(part), "{line}: {}", ran.err());
        }
        assert!(!bench.path("m.model").exists(), "{line}");
    }
}

#[test]
fn cross_validation_and_search_take_the_examination_of_a_file() {
    let bench = clicks();
    let given = "examination=1/0.5/0.33/0.25";
    let naive = "mart(trees=3)";
    let by_file = bench
        .run(&format!("cv clicks.csv --learner {naive} --learner mart(trees=3,bias=ips) --bias bias.json --json"))
        .json();
    let written = bench
        .run(&format!(
            "cv clicks.csv --learner {naive} --learner mart(trees=3,bias=ips,{given}) --json"
        ))
        .json();
    assert_eq!(by_file["learners"][0]["learner"], naive);
    for learner in 0..2 {
        let values = |found: &serde_json::Value| found["learners"][learner]["metrics"].clone();
        assert_eq!(values(&by_file), values(&written));
    }
    let tune = "tune clicks.csv --trials 2 --folds 2 --space leaves=int(2,4) --json --learner";
    let by_file = bench.run(&format!("{tune} mart(trees=3,bias=ips) --bias bias.tsv")).json();
    let written = bench.run(&format!("{tune} mart(trees=3,bias=ips,{given})")).json();
    assert!(by_file["best"]["spec"].as_str().unwrap().contains(given), "{by_file}");
    assert_eq!(by_file["best"]["value"], written["best"]["value"]);
    for line in ["cv clicks.csv --learner mart", "tune clicks.csv --trials 1 --learner mart"] {
        let refused = bench.run(&format!("{line} --bias bias.tsv"));
        let error = refused.err();
        assert!(refused.code() != 0 && error.contains("bias=ips or dr"), "{line}: {error}");
    }
}
