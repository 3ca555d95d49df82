//! Tests of predictions in terms of labels: `score --as`, and the accuracy of models at their own
//! boundary.

use crate::common::{Bench, Ran, bench};

/// The lecture's table of relevance as a class: cosine score, proximity window, relevant or not.
const RELEVANCE: &str = "qid,label,cosine,window\n\
    q,1,0.032,3\nq,0,0.02,4\nq,1,0.043,2\nq,0,0.004,2\nq,1,0.022,3\nq,1,0.03,2\nq,0,0.027,5\n";

fn numbers(ran: Ran) -> Vec<f64> {
    ran.ok().out().lines().map(|line| line.parse().unwrap()).collect()
}

fn accuracy(bench: &Bench, line: &str) -> (f64, String) {
    let metrics = bench.run(&format!("{line} --json")).json()["metrics"][0].clone();
    let convention = metrics["convention"].as_str().unwrap().to_owned();
    (metrics["value"].as_f64().unwrap(), convention)
}

/// Regression: accuracy called documents relevant from a score of 0.5 on, whatever the model, and a
/// support vector machine that separates the table had 6/7.
#[test]
fn the_lectures_table_is_separated_and_its_accuracy_is_1() {
    let bench = Bench::new();
    bench.put("table.csv", RELEVANCE);
    for learner in ["linear-svm(c=1000)", "logistic(c=10000)", "mart(loss=logloss,min_rows=1)"] {
        bench.run(&format!("train table.csv --learner {learner} --out m.model")).ok();
        let (value, convention) = accuracy(&bench, "eval m.model table.csv --metric accuracy");
        assert_eq!(value, 1.0, "{learner}");
        assert!(convention.starts_with("threshold=0, rel=1"), "{convention}");
        let classes = numbers(bench.run("score m.model table.csv --as class"));
        assert_eq!(classes, [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0], "{learner}");
    }
    // A given threshold stands, and a file of scores has no model.
    let (value, _) = accuracy(&bench, "eval m.model table.csv --metric accuracy(threshold=1e9)");
    assert!((value - 3.0 / 7.0).abs() < 1e-12);
    bench.run("score m.model table.csv --out s.txt").ok();
    let (_, convention) = accuracy(&bench, "eval --scores s.txt table.csv --metric accuracy");
    assert!(convention.starts_with("threshold=0.5, "), "{convention}");
}

/// Regression: for a model that was trained on another lowest relevant label, which has no boundary
/// for that of the metric, `compare` and the row of all folds took 0 where `eval` takes 0.5.
#[test]
fn accuracy_for_another_lowest_relevant_label_is_the_same_in_every_table() {
    let bench = bench();
    bench.run("train train.txt --learner logistic(rel=2) --out a.model").ok();
    bench.run("train train.txt --learner linear-svm(rel=2) --out b.model").ok();
    let compared = bench.run("compare valid.txt a.model b.model --metric accuracy --json").json();
    for (index, model) in ["a.model", "b.model"].into_iter().enumerate() {
        let line = format!("eval {model} valid.txt --metric accuracy");
        let (value, convention) = accuracy(&bench, &line);
        assert!(convention.starts_with("threshold=0.5, "), "{convention}");
        assert_eq!(compared["metrics"][0]["systems"][index]["value"], value, "{model}");
    }
    let cv = "cv train.txt --learner logistic(rel=2) --folds 2 --metric accuracy --json";
    let found = bench.run(cv).json().to_string();
    assert!(found.contains("threshold=0.5") && !found.contains("threshold=0,"), "{found}");
}

/// Regression: `score --as class` refuses a model that only ranks, and `eval` took a threshold of
/// 0.5 for it without a word.
#[test]
fn accuracy_of_a_model_without_a_boundary_is_warned_of() {
    let bench = bench();
    let warnings = |line: &str| bench.run(&format!("{line} --json")).json()["warnings"].clone();
    bench.run("train train.txt --learner lambdamart(trees=2) --out rank.model").ok();
    let found = warnings("eval rank.model valid.txt --metric ndcg@10,accuracy");
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(
        (&found[0]["kind"], &found[0]["metric"]),
        (&"no-boundary".into(), &"accuracy".into())
    );
    assert_eq!(found[0]["threshold"], 0.5);
    let ran = bench.run("eval rank.model valid.txt --metric accuracy").ok();
    assert!(ran.err().contains("from a score of 0.5 on"), "{}", ran.err());
    // A given threshold, another metric or a model with a boundary is nothing to warn of.
    bench.run("train train.txt --learner logistic --out class.model").ok();
    for line in [
        "eval rank.model valid.txt --metric accuracy(threshold=0.5)",
        "eval rank.model valid.txt --metric ndcg@10",
        "eval class.model valid.txt --metric accuracy",
    ] {
        assert_eq!(warnings(line), serde_json::json!([]), "{line}");
    }
}

/// Regression: only `eval` warned.
#[test]
fn every_table_with_accuracy_of_a_model_that_only_ranks_warns() {
    let bench = bench();
    let rank = "--learner lambdamart(trees=2)";
    bench.run(&format!("train train.txt {rank} --out rank.model")).ok();
    bench.run("train train.txt --learner logistic --out class.model").ok();
    let reports = "report train rank.model train.txt --valid valid.txt --out page.html";
    for (line, model) in [
        (format!("train train.txt --valid valid.txt {rank} --out again.model"), None),
        (format!("cv train.txt --folds 2 {rank} --learner logistic"), Some("lambdamart(trees=2)")),
        ("compare valid.txt rank.model class.model".to_owned(), Some("rank.model")),
        (reports.to_owned(), None),
    ] {
        let found = bench.run(&format!("{line} --metric accuracy --json")).json();
        let warnings = found["warnings"].as_array().unwrap().iter();
        let warnings: Vec<_> = warnings.filter(|w| w["kind"] == "no-boundary").collect();
        assert_eq!(warnings.len(), 1, "{line}: {found}");
        assert_eq!(warnings[0].get("model").and_then(|model| model.as_str()), model, "{line}");
        assert!(warnings[0]["message"].as_str().unwrap().contains("from a score of 0.5 on"));
    }
    // Without a table of values there is nothing to warn of.
    let ran = bench.run(&format!("train train.txt {rank} --metric accuracy --out m.model"));
    assert!(!ran.err().contains("boundary"), "{}", ran.err());
    let ran = bench.run("score rank.model valid.txt --as class");
    assert!(ran.code() == 1 && ran.err().contains("give no class"), "{}", ran.err());
}

/// Regression: learners whose models have different boundaries could not be compared.
#[test]
fn learners_with_different_boundaries_are_cross_validated_each_at_its_own() {
    let bench = bench();
    let line = "cv train.txt --folds 2 --learner logistic --learner linear-regression";
    let found = bench.run(&format!("{line} --metric accuracy,ndcg@5 --json")).json();
    let systems = found["comparison"]["metrics"][0].clone();
    let convention = systems["convention"].as_str().unwrap();
    assert!(convention.starts_with("threshold=each-model, "), "{systems}");
    for (place, threshold) in [(0, "threshold=0, "), (1, "threshold=0.5, ")] {
        let own = &found["learners"][place]["metrics"][0];
        assert!(own["convention"].as_str().unwrap().starts_with(threshold), "{own}");
        assert_eq!(own["value"], systems["systems"][place]["value"]);
    }
}

/// Regression: the report took a threshold of 0.5 for every model.
#[test]
fn the_report_on_a_training_takes_the_models_boundary() {
    let bench = bench();
    bench.run("train train.txt --learner logistic --out m.model").ok();
    let own = accuracy(&bench, "eval m.model train.txt --metric accuracy");
    assert!(own.1.starts_with("threshold=0, "), "{}", own.1);
    let line = "report train m.model train.txt --metric accuracy --out page.html";
    let found = bench.run(&format!("{line} --json")).json();
    let text = found.to_string();
    assert!(text.contains("threshold=0, rel=1") && !text.contains("threshold=0.5"), "{text}");
    assert!(bench.text("page.html").contains(&format!("{:.4}", own.0)), "{own:?}");
}

#[test]
fn training_and_cross_validation_use_the_boundary_too() {
    let bench = bench();
    let line = "--learner logistic --metric accuracy --json";
    let trained =
        bench.run(&format!("train train.txt --valid valid.txt {line} --out m.model")).json();
    let convention = &trained["valid"]["valid.txt"][0]["convention"];
    assert!(convention.as_str().unwrap().starts_with("threshold=0, "), "{trained}");
    let cv = bench.run("cv train.txt --folds 3 --learner logistic --metric accuracy").ok().out();
    assert!(cv.contains("threshold=0, rel=1"), "{cv}");
}

#[test]
fn models_with_different_boundaries_are_compared_each_at_its_own() {
    let bench = Bench::new();
    bench.put("table.csv", RELEVANCE);
    bench.run("train table.csv --learner linear-svm(c=1000) --out svm.model").ok();
    bench.run("train table.csv --learner linear-regression --out regression.model").ok();
    let text = "compare table.csv svm.model regression.model --metric accuracy";
    let shown = bench.run(text).ok().out();
    assert!(shown.contains("threshold=each-model"), "{shown}");
    let alone = ["svm", "regression"]
        .map(|name| accuracy(&bench, &format!("eval {name}.model table.csv --metric accuracy")).0);
    let found = bench.run(&format!("{text} --json")).json();
    let systems = found["metrics"][0]["systems"].as_array().unwrap();
    let values: Vec<f64> = systems.iter().map(|system| system["value"].as_f64().unwrap()).collect();
    assert_eq!(values, alone);
}

#[test]
fn probabilities_are_the_sigmoid_of_the_scores() {
    let bench = bench();
    for (learner, slope) in [("logistic(rel=2)", 1.0), ("mart(loss=logloss,rel=2,trees=5)", 2.0)] {
        bench.run(&format!("train train.txt --learner {learner} --out m.model")).ok();
        let scores = numbers(bench.run("score m.model valid.txt"));
        let found = numbers(bench.run("score m.model valid.txt --as probability --rel 2"));
        for (score, probability) in scores.iter().zip(&found) {
            assert!((probability - 1.0 / (1.0 + (-slope * score).exp())).abs() < 1e-12);
        }
    }
    let error = bench.run("score m.model valid.txt --as probability --rel 1");
    assert_eq!(error.code(), 1);
    assert!(error.err().contains("give --rel 2"), "{}", error.err());
    let error = bench.run("score m.model valid.txt --as grade").err();
    assert!(error.contains("those of ordinal and mart(loss=ordinal) do"), "{error}");
}

#[test]
fn ordinal_models_predict_grades_of_the_training_data() {
    let bench = bench();
    for learner in ["ordinal", "ordinal(c=1/30)", "mart(loss=ordinal,trees=30)"] {
        let train = "train train.txt --valid valid.txt";
        bench.run(&format!("{train} --learner {learner} --out m.model")).ok();
        let table = bench.run("score m.model train.txt --as grade --with-ids").ok().out();
        assert!(table.starts_with("qid\trow\tgrade\n"), "{table}");
        let found = bench.run("score m.model train.txt --as grade --json").json();
        assert_eq!(found["prediction"], "grade");
        let text = bench.text("train.txt");
        let labels = text.lines().map(|line| line.split(' ').next().unwrap());
        let labels: Vec<f64> = labels.map(|label| label.parse().unwrap()).collect();
        let grades = found["predictions"].as_array().unwrap();
        let hits = grades.iter().zip(&labels).filter(|(g, l)| g.as_f64() == Some(**l)).count();
        let share_of_0 = labels.iter().filter(|label| **label == 0.0).count();
        assert!(hits > share_of_0, "{learner}: {hits} right, {share_of_0} labels of 0");
        // The probability of being relevant is above 1/2 exactly where the class is 1.
        for rel in [1, 2] {
            let score = |kind| {
                numbers(bench.run(&format!("score m.model train.txt --as {kind} --rel {rel}")))
            };
            let (classes, probabilities) = (score("class"), score("probability"));
            let same = |(class, p): (&f64, &f64)| (*class == 1.0) == (*p >= 0.5);
            assert!(classes.iter().zip(&probabilities).all(same));
            // The mean probability of the training data is near the share of such labels.
            let share = labels.iter().filter(|label| **label >= f64::from(rel)).count() as f64;
            let mean = probabilities.iter().sum::<f64>();
            assert!((mean - share).abs() < 0.05 * labels.len() as f64, "{learner} {mean} {share}");
        }
    }
}

#[test]
fn models_that_only_rank_and_runs_are_refused() {
    let bench = bench();
    bench.run("train train.txt --learner lambdamart(trees=2) --out m.model").ok();
    let error = bench.run("score m.model valid.txt --as probability");
    assert_eq!(error.code(), 1);
    assert!(error.err().contains("logistic, ordinal, mart(loss=logloss)"), "{}", error.err());
    let error = bench.run("score m.model valid.txt --as class --to run").err();
    assert!(error.contains("a run ranks documents by score"), "{error}");
    assert_eq!(bench.run("score m.model valid.txt --as grade --rel 2").code(), 2);
}
