//! Files that take far more memory than their size, files that change while they are read, and
//! names with control characters: the command ends with an error and says why.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, bench, command};
use rankwright::data::Dataset;
use rankwright::data::format::{Format, write};

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
        let message = "of compressed data decompress to more than 256 MiB";
        assert!(ran.code() == 1 && ran.err().contains(message), "{line}\n{}", ran.err());
        assert!(ran.err().contains("--max-memory"), "{}", ran.err());
    }
    let small = bench.run("data inspect bomb.zst --max-memory 100M");
    let message = "the content of bomb.zst takes more than 100 MiB, the limit for an input";
    assert!(small.err().contains(message), "{}", small.err());
    let large = bench.run("data inspect bomb.zst --max-memory 1G");
    assert!(large.err().contains("holds no rows"), "the bomb is read: {}", large.err());
}

#[test]
fn a_large_feature_id_alone_does_not_take_memory() {
    let bench = Bench::new();
    for (rows, size) in [(1, "64 MiB"), (3, "192 MiB"), (21, "1344 MiB")] {
        let lines = (0..rows).map(|n| format!("{} qid:1 16777216:1\n", n % 2));
        bench.put("wide.txt", &lines.collect::<String>());
        let counted = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        let message = format!(
            "{counted} and 16777216 features make a matrix of {size}, but only {rows} of its cells"
        );
        for line in ["data inspect wide.txt", "train wide.txt --learner mart --out m"] {
            let began = Instant::now();
            let ran = bench.run(line);
            assert_eq!(ran.code(), 1, "{line}");
            assert!(ran.err().contains(&message), "{}", ran.err());
            assert!(ran.err().contains("the largest feature id is 16777216"), "{}", ran.err());
            assert!(ran.err().contains("--max-memory"), "{}", ran.err());
            assert!(began.elapsed() < Duration::from_secs(20));
        }
    }
}

/// Equal values cost nothing in Parquet, but every row has a label and a query in memory.
#[test]
fn many_rows_of_a_small_parquet_file_count_with_their_labels_and_ids() {
    let bench = Bench::new();
    let rows: String = (0..100_000).map(|row| format!("{},{},1\n", row / 1000, row % 2)).collect();
    bench.put("rows.csv", &format!("qid,label,x\n{rows}"));
    bench.run("data convert rows.csv rows.parquet").ok();
    assert!(bench.path("rows.parquet").metadata().unwrap().len() < 20_000);
    // The matrix alone takes 400,000 bytes, all columns take 1,600,000.
    for line in ["data inspect rows.parquet", "data convert rows.csv out.rwd"] {
        let ran = bench.run(&format!("{line} --max-memory 1M"));
        let message = "takes more than 1 MiB, the limit for an input";
        assert!(ran.code() == 1 && ran.err().contains(message), "{line}\n{}", ran.err());
        assert!(ran.err().contains("--max-memory"), "{}", ran.err());
        bench.run(&format!("{line} --max-memory 4M")).ok();
    }
}

/// A dictionary of a Parquet file holds a long id once; a data set holds that of every row.
#[test]
fn long_ids_of_a_small_parquet_file_count_in_every_row() {
    let bench = Bench::new();
    let id = "x".repeat(5000);
    let rows: String = (0..2000).map(|row| format!("{row},{id},{},1\n", row % 2)).collect();
    bench.put("ids.csv", &format!("qid,docid,label,x\n{rows}"));
    bench.run("data convert ids.csv ids.parquet").ok();
    assert!(bench.path("ids.parquet").metadata().unwrap().len() < 30_000);
    // 10 MB of ids, which are in memory twice when they are joined.
    for line in ["data inspect ids.parquet", "train ids.parquet --learner mart --out m"] {
        let ran = bench.run(&format!("{line} --max-memory 15M"));
        let message = "ids.parquet takes more than 15 MiB, the limit for an input";
        assert!(ran.code() == 1 && ran.err().contains(message), "{line}\n{}", ran.err());
        bench.run(&format!("{line} --max-memory 25M")).ok();
    }
    // As documents they are read a few at a time.
    bench.run("index ids.parquet --out index --max-memory 15M");
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
    let message = "Parquet files of 100000 features are not written; the limit is 20000";
    assert!(ran.code() == 1 && ran.err().contains(message), "{}", ran.err());
    assert!(!bench.path("wide.parquet").exists());
    let ran = bench.run("report data wide.csv --out page.html");
    let message = "the data has 100000 features; a report has at most 20000";
    assert!(ran.code() == 1 && ran.err().contains(message), "{}", ran.err());
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
fn messages_and_logs_have_no_control_characters_of_ids_and_names() {
    let bench = Bench::new();
    let row = |label: u8| format!("q\\u202e\", \"label\": {label}, \"x\\u009b\": {label}");
    let line = |label: u8| format!("{{\"qid\": \"{}}}\n", row(label));
    let name = "d\u{9b}.jsonl";
    bench.put(name, &(line(0) + &line(1)));
    bench.run(&format!("train {name} --learner mart(trees=2,min_rows=1) --out m")).ok();
    let log = bench.text("m.log.json");
    assert!(!log.contains(['\u{9b}', '\u{202e}']) && log.contains("d\\u009b.jsonl"), "{log}");
    let ran = bench.run(&format!("explain|m|{name}|--query|e\t9\nforged"));
    assert!(ran.code() == 1 && ran.err().contains("no query 'e\\t9\\nforged'"), "{}", ran.err());
    assert!(!ran.err().contains('\u{202e}'), "{}", ran.err());
    bench.put("docs.jsonl", "{\"id\": \"1\", \"title\": \"a lamp\"}\n");
    bench.run("index docs.jsonl --out shop").ok();
    for words in ["--filter|a\tb:x", "--facet|a\nb"] {
        let ran = bench.run(&format!("search|shop|lamp|{words}"));
        assert_eq!(ran.code(), 1, "{words}");
        assert!(!ran.err().contains('\t') && !ran.err().contains("a\nb"), "{}", ran.err());
    }
}

/// Scores with ids: every row is one row, and the terminal gets no escape sequence.
#[test]
fn control_characters_of_ids_do_not_forge_scores() {
    let bench = Bench::new();
    let id = "q\\t9\\nforged\\t9\\u001b[31m\\u009b\\u202e";
    let line = |label: u8, docid: &str| {
        format!(
            "{{\"qid\": \"{id}\", \"docid\": \"{docid}\", \"label\": {label}, \"x\": {label}}}\n"
        )
    };
    bench.put("d.jsonl", &(line(1, id) + &line(0, "plain")));
    bench.run("train d.jsonl --learner mart(trees=1,min_rows=1) --out m.model --quiet").ok();
    let shown = "q\\t9\\nforged\\t9\\u{1b}[31m\\u{9b}\\u{202e}";
    let raw = |text: &str| text.contains(['\u{1b}', '\u{9b}', '\u{202e}']);
    for (words, mark) in
        [("--with-ids", '\t'), ("--to tsv", '\t'), ("--to csv", ','), ("--to jsonl", '\0')]
    {
        let text = bench.run(&format!("score m.model d.jsonl {words}")).ok().out();
        assert!(!raw(&text) && !text.contains("\nforged"), "{words}: {text:?}");
        assert_eq!(text.lines().count(), if mark == '\0' { 2 } else { 3 }, "{words}: {text}");
        if mark != '\0' {
            let cells: Vec<&str> = text.lines().nth(1).unwrap().split(mark).collect();
            assert_eq!(cells[..2], [shown, shown], "{words}");
        }
        bench.run(&format!("score m.model d.jsonl {words} --out scores --json")).ok();
        assert_eq!(bench.text("scores"), text, "{words}");
    }
    let ran = bench.run("score m.model d.jsonl --to run");
    assert!(ran.code() == 1 && !raw(&ran.err()), "{}", ran.err());
    bench.put("n.jsonl", "{\"qid\": \"a\\u0000b\", \"label\": 1, \"x\": 2}\n");
    for format in ["csv", "tsv"] {
        let ran = bench.run(&format!("score m.model n.jsonl --to {format} --out n"));
        assert!(ran.code() == 1 && ran.err().contains("has a NUL byte"), "{}", ran.err());
        assert!(!bench.path("n").exists());
    }
}

/// Names with line ends in the files of an experiment: neither a row nor a column more.
#[test]
fn names_with_line_ends_do_not_forge_rows_of_an_experiment() {
    let bench = Bench::new();
    let row = |query: &str, label: u8, x: u8| {
        format!("{{\"qid\": \"{query}\", \"label\": {label}, \"a\\nb\\r\\nc\": {x}}}\n")
    };
    let queries = ["a\\nb\\r\\nc", "plain", "x\\ty | z", "third"];
    let rows = |from: usize| -> String {
        queries[from..from + 2].iter().flat_map(|q| [row(q, 1, 3), row(q, 0, 1)]).collect()
    };
    let file = |name: &str| {
        format!(
            "name = \"evil\\nname\"\nmetrics = [\"ndcg@10\"]\n[[data]]\nname = \"e | f\"\n\
             train = \"train.jsonl\"\ntest = \"test.jsonl\"\n\
             [[learner]]\nname = \"{name}\"\nspec = \"mart(trees=2, min_rows=1)\"\n\
             [[learner]]\nname = \"plain\"\nspec = \"mart(trees=3, min_rows=1)\"\n"
        )
    };
    bench.put("train.jsonl", &rows(2)).put("test.jsonl", &rows(0));
    bench.put("x.toml", &file("a\\nb\\r\\nc"));
    let ran = bench.run("experiment x.toml --out out");
    assert!(ran.err().contains("a name must be one line without tabs"), "{}", ran.err());
    bench.put("x.toml", &file("a | d"));
    bench.run("experiment x.toml --out out").ok();
    let values = bench.text("out/per-query.tsv");
    let columns: Vec<usize> = values.lines().map(|line| line.split('\t').count()).collect();
    assert_eq!(columns.len(), 1 + 2, "a header and two queries:\n{values}");
    assert!(columns.iter().all(|count| *count == columns[0]), "{values}");
    assert!(values.contains("a\\nb\\r\\nc") && !values.contains('\r'), "{values:?}");
    let table = bench.text("out/table.md");
    assert!(!table.contains('\r'), "{table:?}");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.iter().any(|row| row.contains("a \\| d")), "{table}");
    let cells = |row: &&str| row.replace("\\|", "").matches('|').count();
    assert!(rows.iter().all(|row| cells(row) > 2), "{table}");
    for line in table.lines() {
        assert!(!line.starts_with("e | f") && line != "name", "{table}");
    }
}

/// Waits until the memory map of a running command has a file of this name.
#[cfg(target_os = "linux")]
fn wait_for_map(running: &std::process::Child, name: &str) {
    let maps = format!("/proc/{}/maps", running.id());
    let began = Instant::now();
    while !fs::read_to_string(&maps).unwrap_or_default().contains(name) {
        assert!(began.elapsed() < Duration::from_secs(60), "{name} is not mapped");
    }
}

/// A data set in our own format and the segments of an index are mapped, and shrink while they are
/// read.
#[cfg(target_os = "linux")]
#[test]
fn a_cache_and_an_index_that_shrink_while_they_are_read_are_an_error() {
    let bench = Bench::new();
    let columns = 400;
    let data = Dataset::from_dense(
        vec![0.5_f32; 50_000 * columns],
        columns,
        (0..50_000).map(|row| row % 3),
        (0..50_000).map(|row| (row / 50).to_string()),
    );
    write(&data.unwrap(), bench.path("large.rwd"), Format::Cache).unwrap();
    assert!(bench.path("large.rwd").metadata().unwrap().len() > 64 << 20);
    let text = |n: usize| {
        (0..60).map(|at| format!("w{} ", (n * 31 + at * at * 7) % 997)).collect::<String>()
    };
    let documents: String =
        (0..4000).map(|n| format!("{{\"id\": \"{n}\", \"text\": \"{}\"}}\n", text(n))).collect();
    let queries: String = (0..60_000).map(|n| format!("q{n}\t{}\n", text(n))).collect();
    bench.put("docs.jsonl", &documents).put("queries.tsv", &queries);
    bench.run("index docs.jsonl --out shop --quiet").ok();
    for (words, mapped) in [
        ("data convert large.rwd out.csv --threads 1", "large.rwd"),
        ("run shop --queries queries.tsv --out out.run --threads 1", "generation-"),
    ] {
        let mut running = command(&bench, &words.split(' ').collect::<Vec<_>>());
        let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_map(&running, mapped);
        let mut folders = vec![bench.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                let is_segment = path.to_string_lossy().contains(mapped) && path.is_file();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(path);
                } else if is_segment && !path.ends_with("meta.json") {
                    File::options().write(true).open(path).unwrap().set_len(0).unwrap();
                }
            }
        }
        let ran = Ran(running.wait_with_output().unwrap());
        assert_eq!(ran.code(), 1, "{words}: {}{}", ran.out(), ran.err());
        // The files of an index are opened one after the other, so that some may be empty by then.
        let messages = ["error: a file became shorter while it was read", "--rebuild"];
        assert!(messages.iter().any(|text| ran.err().contains(text)), "{words}: {}", ran.err());
        assert!(!bench.path("out.csv").exists() && !bench.path("out.run").exists());
    }
}

#[test]
fn an_ambiguous_fourth_column_of_pairs_must_be_named() {
    let bench = Bench::new();
    bench.put("d.txt", "1 qid:1 1:3 #a\n0 qid:1 1:1 #b\n").put("pairs", "1 a b 0.5\n");
    let ran = bench.run("data inspect d.txt --pairs pairs");
    let message = "pairs:1: 0.5 may be a weight ('a' is better than 'b', and the pair counts 0.5 \
                times) or a probability ('a' and 'b' are equally good)";
    assert!(ran.code() == 1 && ran.err().contains(message), "{}", ran.err());
    assert!(ran.err().contains("--pair-column weight"), "{}", ran.err());
    for column in ["weight", "probability"] {
        bench.run(&format!("data inspect d.txt --pairs pairs --pair-column {column}")).ok();
        bench.put("named", &format!("qid\tbetter\tworse\t{column}\n1\ta\tb\t0.5\n"));
        bench.run("data inspect d.txt --pairs named").ok();
    }
    bench.put("soft", "1 a b 0.7\n");
    let ran = bench.run("data inspect d.txt --pairs soft --pair-column probability");
    // A soft target is a preference in each direction.
    let said = ran.ok().out();
    let pairs = said.lines().find(|line| line.contains("preference pairs")).unwrap();
    assert!(pairs.ends_with(" 2"), "{pairs}");
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

/// Regression: the largest possible number of bootstrap samples ended the process.
#[test]
fn numbers_beyond_their_declared_ranges_are_wrong_usage() {
    let bench = Bench::new();
    let samples = "expected a whole number from 0 to 100000";
    for (line, message) in [
        ("interleave score log --lists lists --samples 18446744073709551615", samples),
        ("interleave score log --lists lists --samples 1000000000000", samples),
        ("clicks bias log --samples 4294967295", samples),
        ("clicks evaluate log m --features data --samples 4294967295", samples),
        ("interleave simulate run --qrels q --out log --users 0", "from 1 on"),
        ("judge aggregate judgements --out pairs --prior nan", "a number above 0"),
        ("explain m data --permutations 0", "a whole number from 1 to 100000"),
        ("model inspect m --data data --repeats 0", "a whole number from 1"),
        ("clicks labels log --features data --out x.csv --clip 0.5", "a number from 1 on"),
    ] {
        let ran = bench.run(line);
        assert_eq!(ran.code(), 2, "{line}\n{}", ran.err());
        assert!(ran.err().contains(message), "{line}\n{}", ran.err());
    }
}
