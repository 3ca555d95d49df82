//! A teacher, several goals and a limit of time, as typed.

use crate::common::Bench;

/// The bytes of a file.
fn read(bench: &Bench, name: &str) -> Vec<u8> {
    std::fs::read(bench.path(name)).unwrap()
}

/// The error of a command that must fail.
fn fails(bench: &Bench, line: &str) -> String {
    let ran = bench.run(line);
    assert!([1, 2].contains(&ran.code()), "{line}: {} {}", ran.code(), ran.err());
    ran.err()
}

/// Training data and more queries, generated.
fn bench() -> Bench {
    let bench = Bench::new();
    for (name, seed) in [("train", 1), ("more", 2)] {
        let generate = "data generate letor --queries 15 --documents 10";
        bench.run(&format!("{generate} --seed {seed} --out {name}.txt")).ok();
    }
    bench.run("train train.txt --learner ranksvm --out teacher.model").ok();
    bench
}

#[test]
fn a_student_learns_from_a_teacher_and_from_queries_without_labels() {
    let bench = bench();
    let learner = "--learner lambdamart(trees=5)";
    bench.run(&format!("train train.txt {learner} --out alone.model")).ok();
    let taught = format!("train train.txt {learner} --teacher teacher.model --unlabelled more.txt");
    bench.run(&format!("{taught} --out student.model")).ok();
    bench.run(&format!("{taught} --teacher-weight 0 --out same.model")).ok();
    assert!(read(&bench, "same.model") == read(&bench, "alone.model"));
    assert!(read(&bench, "student.model") != read(&bench, "alone.model"));
    let wrong = fails(&bench, &format!("{taught} --teacher-weight 2 --out wrong.model"));
    assert!(wrong.contains("teacher_weight=2"), "{wrong}");
    let refused = "train train.txt --learner rankboost --teacher teacher.model --out wrong.model";
    let refused = fails(&bench, refused);
    assert!(refused.contains("lambdamart") && refused.contains("--teacher"), "{refused}");
    let replaced = format!("train train.txt {learner} --teacher teacher.model --out teacher.model");
    let replaced = fails(&bench, &replaced);
    assert!(replaced.contains("teacher.model"), "{replaced}");
}

/// A table without labels needs a teacher and nothing else.
#[test]
fn a_table_without_labels_is_learned_from_the_teacher_alone() {
    let bench = Bench::new();
    let mut table = "qid,label,price,age\n".to_owned();
    for row in 0..60 {
        table += &format!("{},{},{},{}\n", row / 6, row % 3, row % 3 + row % 2, row % 7);
    }
    bench.put("train.csv", &table);
    bench.run("train train.csv --learner ranksvm --out teacher.model").ok();
    let bare = "train train.csv --columns label=none --learner mart(trees=20) --out bare.model";
    bench.run(&format!("{bare} --teacher teacher.model")).ok();
    let found =
        bench.run("eval bare.model train.csv --columns label=label --metric ndcg@10 --json").json();
    assert!(found["metrics"][0]["value"].as_f64().unwrap() > 0.7, "{found}");
}

#[test]
fn a_limit_of_time_prints_the_learner_that_repeats_the_training() {
    let bench = bench();
    let auto = "--learner auto(candidates=ranksvm+mart(trees=3),folds=3)";
    let timed =
        bench.run(&format!("train train.txt {auto} --minutes 10 --out timed.model")).ok().out();
    assert!(timed.contains("the same model without a limit of time"), "{timed}");
    bench.run(&format!("train train.txt {auto} --out plain.model")).ok();
    assert!(read(&bench, "timed.model") == read(&bench, "plain.model"));
    let other = fails(&bench, "train train.txt --learner mart --minutes 1 --out m.model");
    assert!(other.contains("minutes"), "{other}");
    let report = bench.run("report train timed.model train.txt --out r.html --json").json();
    assert_eq!(report["choice"]["candidates"].as_array().unwrap().len(), 2, "{report}");
    let page = bench.text("r.html");
    assert!(page.contains("Weights in the blend") && page.contains("All candidates"));
}

#[test]
fn several_goals_train_and_evaluate() {
    let bench = bench();
    let goals = "--learner lambdamart(trees=5,metric=ndcg@10:1+p@5:0.3)";
    bench.run(&format!("train train.txt {goals} --out goals.model")).ok();
    let metrics = "--metric ndcg@10 --metric p@5 --metric ndcg@10:1+p@5:0.3";
    let found = bench.run(&format!("eval goals.model more.txt {metrics} --json")).json();
    let value = |index: usize| found["metrics"][index]["value"].as_f64().unwrap();
    assert!((value(0) + 0.3 * value(1) - value(2)).abs() < 1e-9, "{found}");
    let kept = "--learner lambdamart(trees=5,metric=p@5,goal=keep(ndcg@10,0.005))";
    let trained = format!("train train.txt --valid more.txt {kept} --out kept.model --json");
    let trained = bench.run(&trained).json();
    assert_eq!(trained["metrics"], serde_json::json!(["ndcg@10", "p@5"]));
}
