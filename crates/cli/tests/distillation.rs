//! A teacher, several goals and a limit of time, as typed.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Instant;

use crate::common::{Bench, Ran, command};

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

/// The automatic choice, killed without a warning at ten moments of its course, ends with the bytes
/// of the run that nobody killed, also the plan of a limit of time.
#[test]
fn auto_that_is_killed_at_ten_moments_gives_the_same_bytes() {
    let bench = Bench::new();
    bench.run("data generate letor --queries 60 --documents 20 --seed 1 --out train.txt").ok();
    let learner =
        "auto(candidates=ranksvm+mart(trees=80)+xendcg(trees=80)+ranknet(epochs=6), folds=3)";
    let start = |folder: &str| -> Child {
        let out = format!("{folder}.model");
        let words =
            ["train", "train.txt", "--learner", learner, "--out", &out, "--checkpoint", folder];
        let mut running = command(&bench, &words);
        running.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let end = |child: Child| Ran(child.wait_with_output().unwrap());
    let begun = Instant::now();
    assert_eq!(end(start("whole")).code(), 0);
    let whole = begun.elapsed();
    let models =
        |folder: &str| std::fs::read_dir(bench.path(folder)).map_or(0, |entries| entries.count());
    let (mut killed, mut moved) = (0, 0);
    for moment in 0..10_u32 {
        let before = models("killed");
        let mut running = start("killed");
        // Each run goes on where the one before was: a tenth of the whole, and a bit to load.
        sleep(whole / 10 + whole * moment / 100);
        if running.try_wait().unwrap().is_none() {
            running.kill().unwrap();
            killed += 1;
        }
        running.wait().unwrap();
        moved += usize::from(models("killed") != before);
    }
    println!("{killed} of 10 runs were killed, {moved} of them had saved a model");
    assert!(killed >= 3 && moved >= 1, "{killed} {moved}");
    let last = end(start("killed"));
    assert_eq!(last.code(), 0, "{}", last.err());
    assert!(read(&bench, "killed.model") == read(&bench, "whole.model"));
    // On any threads, too.
    for threads in [1, 2, 3] {
        let line = format!("train|train.txt|--learner|{learner}|--out|t.model|--threads|{threads}");
        bench.run(&line).ok();
        assert!(read(&bench, "t.model") == read(&bench, "whole.model"), "{threads} threads");
    }
}

/// Further labels, from a table to a model and back, and the picture of their trade-off.
#[test]
fn several_columns_of_labels_as_typed() {
    let bench = Bench::new();
    let mut table = "qid,docid,relevance,clicks,price,age\n".to_owned();
    for row in 0..240 {
        let (price, age) = (row % 7, (row * 5) % 11);
        table += &format!("{},d{row},{},{},{price},{age}\n", row / 8, price / 3, age / 4);
    }
    bench.put("shop.csv", &table);
    let columns = "--columns extra_label=clicks";
    bench.run(&format!("data convert shop.csv shop.rwd {columns}")).ok();
    bench.run("data convert shop.rwd again.csv").ok();
    assert!(bench.text("again.csv").starts_with("qid,docid,label,label:clicks,price,age\n"));
    let learner = "lambdamart(trees=20,leaves=4,labels=relevance:1+clicks:0.5)";
    bench.run(&format!("train shop.csv {columns} --learner {learner} --out a.model")).ok();
    bench.run(&format!("train shop.rwd --learner {learner} --out b.model")).ok();
    assert!(read(&bench, "a.model") == read(&bench, "b.model"));
    // Data to score needs neither column.
    bench.put("new.csv", "qid,docid,price,age\n1,a,3,4\n1,b,6,0\n");
    assert_eq!(bench.run("score a.model new.csv").ok().out().lines().count(), 2);
    bench.run(&format!("cv shop.rwd --learner {learner} --folds 3")).ok();
    bench.run("data split shop.rwd --parts train=0.7,test=0.3 --out parts").ok();
    bench
        .run(&format!(
            "train parts/train.rwd --valid parts/test.rwd --learner {learner} --out c.model"
        ))
        .ok();
    let plain = fails(&bench, &format!("train shop.csv --learner {learner} --out d.model"));
    assert!(plain.contains("'clicks'") && plain.contains("extra_label=NAME"), "{plain}");
    let words = "report|tradeoff|shop.rwd|--learner|lambdamart(trees=10,leaves=4)|--second|ndcg@10 on clicks|--weights|0,0.5,1|--keep|0.01|--out|t.html|--assets|t|--json";
    let report = bench.run(words).json();
    let value = |point: usize, goal: usize| {
        report["points"][point]["values"][goal]["value"].as_f64().unwrap()
    };
    assert!(value(0, 0) > value(2, 0) && value(0, 1) < value(2, 1), "{report}");
    assert!(bench.text("t.html").contains("Trade-off curve"));
    assert!(bench.text("t/trade-off.svg").contains("<svg"));
    let both = "report|tradeoff|shop.rwd|--second|p@5 on clicks|--out|u.html";
    assert!(fails(&bench, both).contains("and not in both"));
}
