//! `data`, `demo` and `list` as a user meets them.

mod common;

use std::collections::HashSet;

use common::{Bench, real_data};

#[test]
fn generated_data_goes_through_every_format_and_back() {
    let bench = Bench::new();
    bench.run("data generate letor --queries 4 --documents 9 --seed 3 --out a.txt").ok();
    for name in ["b.csv", "c.tsv.gz", "d.jsonl", "e.parquet", "f.arrow", "g.rwd", "h.txt.zst"] {
        bench.run(&format!("data convert a.txt {name}")).ok();
        bench.run(&format!("data convert {name} back.txt")).ok();
        assert_eq!(bench.text("back.txt"), bench.text("a.txt"), "{name}");
    }
    bench
        .run("data generate letor --queries 4 --documents 9 --seed 3 --out z.txt --threads 1")
        .ok();
    assert_eq!(bench.text("z.txt"), bench.text("a.txt"));
}

#[test]
fn standard_input_and_output_are_files_too() {
    let bench = Bench::new();
    bench.put("a.txt", "1 qid:x 1:2\n");
    let ran = bench.run("data convert a.txt - --to csv").ok();
    assert_eq!(ran.out(), "qid,label,1\nx,1,2\n");
}

#[test]
fn parts_and_folds_share_no_query() {
    let bench = Bench::new();
    bench.run("data generate letor --queries 23 --documents 5 --out all.txt").ok();
    bench.run("data split all.txt --seed 5 --out parts").ok();
    let queries = |name: &str| -> HashSet<String> {
        let text = bench.text(name);
        text.lines().map(|l| l.split(' ').nth(1).unwrap().to_owned()).collect()
    };
    let parts = ["train", "valid", "test"].map(|part| queries(&format!("parts/{part}.txt")));
    assert_eq!(parts.iter().map(HashSet::len).sum::<usize>(), 23);
    assert_eq!(parts.iter().flatten().collect::<HashSet<_>>().len(), 23);
    let found = bench.run("data split all.txt --folds 4 --out folds --to csv --json").json();
    assert_eq!(found["parts"].as_array().unwrap().len(), 12);
    let tested: HashSet<String> = (1..=4)
        .flat_map(|fold| {
            let text = bench.text(&format!("folds/fold{fold}/test.csv"));
            text.lines()
                .skip(1)
                .map(|l| l.split(',').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(tested.len(), 23);
}

#[test]
fn inspect_counts_mq2008() {
    let Some(folder) = real_data() else { return };
    let files: Vec<String> =
        (1..=5).map(|s| folder.join(format!("mq2008/S{s}.txt")).display().to_string()).collect();
    let found = Bench::new().run(&format!("data inspect {} --json", files.join(" "))).json();
    assert_eq!(found["queries"], 784);
    assert_eq!(found["rows"], 15_211);
    assert_eq!(found["features"], 46);
    assert_eq!(found["blank_queries"], 220);
    let labels: Vec<u64> =
        found["labels"].as_array().unwrap().iter().map(|l| l["rows"].as_u64().unwrap()).collect();
    assert_eq!(labels, [12_279, 2_001, 931]);
}

#[test]
fn lightgbm_s_own_example_is_read_with_its_side_file() {
    let Some(folder) = real_data() else { return };
    let file = folder.join("lightgbm-lambdarank/rank.train");
    let found = Bench::new().run(&format!("data inspect {} --json", file.display())).json();
    assert_eq!((&found["queries"], &found["rows"]), (&201.into(), &3005.into()));
}

#[test]
fn pairs_are_read_with_the_data() {
    let bench = Bench::new();
    bench.put("d.txt", "1 qid:q 1:1 # a\n0 qid:q 1:2 # b\n0 qid:r 1:2\n");
    bench.put("p.txt", "q a b 0.5\nq a < b\nq 0 = 1\n").put("bad.txt", "q a b\nq a z\n");
    let ran = bench.run("data inspect d.txt --pairs p.txt --json").ok();
    assert!(ran.err().contains("1 pair(s) whose opposite is there too"), "{}", ran.err());
    assert_eq!(ran.json()["pairs"], 3);
    let ran = bench.run("data convert d.txt d.csv --pairs p.txt");
    assert!(ran.err().contains("csv has no place for preference pairs"), "{}", ran.err());
    bench.run("data convert d.txt d.rwd --pairs p.txt").ok();
    assert_eq!(bench.run("data inspect d.rwd --json").json()["pairs"], 3);
    let ran = bench.run("data inspect d.txt --pairs bad.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("bad.txt:2: found 'z', expected a document id"), "{}", ran.err());
}

#[test]
fn the_demo_compares_and_keeps_what_it_made() {
    let bench = Bench::new();
    let found = bench.run("demo --queries 30 --out kept --json").json();
    assert_eq!(found["metrics"][0]["systems"].as_array().unwrap().len(), 4);
    let line = "compare kept/test.txt kept/line.model --scores kept/lambdamart.scores --metric ndcg@10 --json";
    let again = bench.run(line).json();
    let value =
        |v: &serde_json::Value, system: usize| v["metrics"][0]["systems"][system]["value"].clone();
    assert_eq!((value(&found, 0), value(&found, 3)), (value(&again, 0), value(&again, 1)));
    assert!(value(&found, 3).as_f64() > value(&found, 0).as_f64(), "learning beats a guess");
}

#[test]
fn lists_name_everything_there_is() {
    let bench = Bench::new();
    let metrics = bench.run("list metrics --json").json();
    assert!(metrics["metrics"].as_array().unwrap().len() >= 25);
    let text = bench.run("list metrics").ok().out();
    for name in ["ndcg", "rbp", "kendall", "letor4", "blank", "ties"] {
        assert!(text.contains(name), "{name}");
    }
    assert!(bench.run("list formats").ok().out().contains("parquet"));
    assert!(bench.run("completions bash").ok().out().contains("rankwright"));
}

#[test]
fn what_cannot_be_held_or_written_is_refused_in_words() {
    let bench = Bench::new();
    let ran = bench.run("data generate letor --queries 99999999999999 --out g.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("do not fit into memory"), "{}", ran.err());
    bench.put("a.txt", "1 qid:x 1:2\n");
    let ran = bench.run("data convert a.txt no/where.csv");
    assert!(ran.err().contains("there is no folder no"), "{}", ran.err());
    assert!(!ran.err().contains(".rankwright-"), "{}", ran.err());
    assert_eq!(bench.run("data convert a.txt - --to csv --json").code(), 1);
    let ran = bench.run("data convert a.txt a.csv --absent missing").ok();
    assert!(ran.err().contains("does not record that absent features"), "{}", ran.err());
}

#[test]
fn a_format_that_cannot_hold_the_data_says_so_and_writes_nothing() {
    let bench = Bench::new();
    bench.put("a.csv", "qid,label,bm25\n1,0,2\n");
    let ran = bench.run("data convert a.csv b.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("would lose names like 'bm25'"), "{}", ran.err());
    assert!(!bench.path("b.txt").exists());
    assert!(bench.run("data convert a.csv b.what").err().contains("does not tell a format"));
}
