//! Files that cost more than they hold, that change while they are read, and names with control
//! characters: the command ends with an error and says why.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, bench, command};

/// A file that compresses more than 10,000 to 1.
fn bomb(bench: &Bench, name: &str, mebibytes: usize) {
    let block = vec![b'\n'; 1 << 20];
    rankwright::data::store::write_atomic(bench.path(name), |out| {
        (0..mebibytes).try_for_each(|_| out.write_all(&block))
    })
    .unwrap();
    assert!(bench.path(name).metadata().unwrap().len() < 100 << 10);
}

#[test]
fn a_decompression_bomb_is_refused_wherever_a_file_is_read() {
    let bench = bench();
    bomb(&bench, "bomb.zst", 300);
    bench.put("run", "1 Q0 d 1 1 x\n").put("qrels", "1 0 d 1\n");
    bench.run("train train.txt --learner mart(trees=2) --out m.model --quiet").ok();
    for line in [
        "data inspect bomb.zst",
        "score bomb.zst valid.txt",
        "score m.model bomb.zst",
        "eval --run bomb.zst --qrels qrels",
        "eval --run run --qrels bomb.zst",
        "index bomb.zst --out index",
        "train train.txt --pairs bomb.zst --learner rankmart --out n.model",
    ] {
        let ran = bench.run(line);
        let said = "of compressed data decompress to more than 256 MiB";
        assert!(ran.code() == 1 && ran.err().contains(said), "{line}\n{}", ran.err());
        assert!(ran.err().contains("--max-memory"), "{}", ran.err());
    }
    let small = bench.run("data inspect bomb.zst --max-memory 100M");
    let said = "the content of bomb.zst takes more than 100 MiB, the limit for an input";
    assert!(small.err().contains(said), "{}", small.err());
    let large = bench.run("data inspect bomb.zst --max-memory 1G");
    assert!(large.err().contains("holds no rows"), "the bomb is read: {}", large.err());
}

#[test]
fn a_large_feature_id_alone_does_not_take_memory() {
    let bench = Bench::new();
    let rows: String = (0..21).map(|n| format!("{} qid:1 16777216:1\n", n % 2)).collect();
    bench.put("wide.txt", &rows);
    for line in ["data inspect wide.txt", "train wide.txt --learner mart --out m"] {
        let began = Instant::now();
        let ran = bench.run(line);
        assert_eq!(ran.code(), 1, "{line}");
        let said = "21 rows and 16777216 features make a matrix of 1344 MiB, but only 21 of its \
                    cells have a value (the largest feature id is 16777216)";
        assert!(ran.err().contains(said), "{}", ran.err());
        assert!(ran.err().contains("--max-memory"), "{}", ran.err());
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn a_very_wide_table_is_refused_where_every_column_costs() {
    let bench = Bench::new();
    let line =
        |cell: &dyn Fn(usize) -> String| (0..100_000).map(cell).collect::<Vec<_>>().join(",");
    let header = line(&|n| format!("f{n}"));
    let row = line(&|_| "1".to_owned());
    bench.put("wide.csv", &format!("qid,label,{header}\n1,0,{row}\n1,1,{row}\n"));
    let ran = bench.run("data convert wide.csv wide.parquet");
    let said = "Parquet files of 100000 features are not written; the limit is 20000";
    assert!(ran.code() == 1 && ran.err().contains(said), "{}", ran.err());
    assert!(!bench.path("wide.parquet").exists());
    let ran = bench.run("report data wide.csv --out page.html");
    let said = "the data has 100000 features; a report has at most 20000";
    assert!(ran.code() == 1 && ran.err().contains(said), "{}", ran.err());
    let ran = bench.run("data inspect wide.csv").ok();
    assert!(ran.out().contains("only the first of them are shown"));
    assert!(ran.out().lines().count() < 1100);
}

/// A file that is large enough to be mapped shrinks while it is read.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let bench = Bench::new();
    let path = bench.path("large.txt");
    let row: String = (1..=136).map(|id| format!(" {id}:0.{id}")).collect();
    let block: String = (0..500).map(|q| format!("1 qid:{q}{row}\n")).collect();
    let mut file = File::create(&path).unwrap();
    while file.metadata().unwrap().len() < 160 << 20 {
        file.write_all(block.as_bytes()).unwrap();
    }
    drop(file);
    let mut running = command(&bench, &["data", "inspect", "large.txt", "--threads", "1"]);
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let maps = format!("/proc/{}/maps", running.id());
    let began = Instant::now();
    while !fs::read_to_string(&maps).unwrap_or_default().contains("large.txt") {
        assert!(began.elapsed() < Duration::from_secs(60), "the file is not mapped");
    }
    File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    let ran = Ran(running.wait_with_output().unwrap());
    assert_eq!(ran.code(), 1, "{}{}", ran.out(), ran.err());
    assert!(ran.err().contains("error: a file became shorter while it was read"), "{}", ran.err());
    assert!(ran.err().contains("another program has changed one of the input files"));
}

#[test]
fn control_characters_of_ids_neither_forge_rows_nor_reach_the_terminal() {
    let bench = Bench::new();
    let id = "a\\tndcg@10\\nndcg@10\\tb\\u001b[31m\\u009b\\u202e";
    let line = |label: u8, docid: &str| {
        format!(
            "{{\"qid\": \"{id}\", \"docid\": \"{docid}\", \"label\": {label}, \"x\\tx\": {label}}}\n"
        )
    };
    bench.put("d.jsonl", &(line(1, id) + &line(0, "plain"))).put("scores", "1\n2\n");
    let shown = "a\\tndcg@10\\nndcg@10\\tb\\u{1b}[31m\\u{9b}\\u{202e}";
    let line = "eval --scores scores d.jsonl --metric ndcg@10 --per-query values.tsv";
    bench.run(line).ok();
    let values = bench.text("values.tsv");
    assert_eq!(values.lines().count(), 2, "{values}");
    assert_eq!(values.lines().nth(1).unwrap().split('\t').nth(1), Some(shown));
    let raw = |text: &str| text.contains(['\u{1b}', '\u{9b}', '\u{202e}']);
    for line in [
        "eval --scores scores d.jsonl --metric ndcg@10 --json",
        "data inspect d.jsonl --features",
        "data inspect d.jsonl --features --json",
        "compare --scores scores --scores scores d.jsonl",
        "report data d.jsonl --out page.html",
        "data convert d.jsonl d.txt",
        "data inspect \u{1b}[31m",
    ] {
        let ran = bench.run(line);
        assert!(!raw(&ran.out()) && !raw(&ran.err()), "{line}\n{}{}", ran.out(), ran.err());
    }
    let json = bench.run("eval --scores scores d.jsonl --metric ndcg@10 --json").json();
    assert!(json["metrics"][0]["value"].is_number(), "{json}");
    // LETOR text has no way to write such an id; a table of text has none for a NUL.
    let ran = bench.run("data convert d.jsonl d.txt");
    assert!(ran.code() == 1 && ran.err().contains("because of its characters"), "{}", ran.err());
    bench.put("n.jsonl", "{\"qid\": \"1\", \"label\": 1, \"a\\u0000b\": 2}\n");
    let ran = bench.run("data convert n.jsonl n.csv");
    assert!(ran.code() == 1 && ran.err().contains("has a NUL byte"), "{}", ran.err());
    assert!(!bench.path("n.csv").exists());
}

#[test]
fn a_pair_that_may_be_a_weight_or_a_probability_needs_a_word() {
    let bench = Bench::new();
    bench.put("d.txt", "1 qid:1 1:3 #a\n0 qid:1 1:1 #b\n").put("pairs", "1 a b 0.5\n");
    let ran = bench.run("data inspect d.txt --pairs pairs");
    let said = "pairs:1: 0.5 may be a weight ('a' is better than 'b', and the pair counts 0.5 \
                times) or a probability ('a' and 'b' are equally good)";
    assert!(ran.code() == 1 && ran.err().contains(said), "{}", ran.err());
    assert!(ran.err().contains("--pair-column weight"), "{}", ran.err());
    for column in ["weight", "probability"] {
        bench.run(&format!("data inspect d.txt --pairs pairs --pair-column {column}")).ok();
        bench.put("named", &format!("qid\tbetter\tworse\t{column}\n1\ta\tb\t0.5\n"));
        bench.run("data inspect d.txt --pairs named").ok();
    }
    bench.put("soft", "1 a b 0.7\n");
    let ran = bench.run("data inspect d.txt --pairs soft --pair-column probability");
    assert!(ran.err().contains("is a soft target, which is not supported yet"), "{}", ran.err());
}

#[test]
fn a_split_does_not_replace_an_older_one_by_itself() {
    let bench = bench();
    let line = "data split train.txt --parts train=0.5,test=0.5 --out parts";
    bench.run(line).ok();
    let old = bench.text("parts/test.txt");
    let ran = bench.run(&format!("{line} --seed 9"));
    assert!(ran.code() == 1 && ran.err().contains("exist already"), "{}", ran.err());
    assert!(ran.err().contains("--force"), "{}", ran.err());
    assert_eq!(bench.text("parts/test.txt"), old);
    bench.run(&format!("{line} --seed 9 --force")).ok();
    assert_ne!(bench.text("parts/test.txt"), old);
}
