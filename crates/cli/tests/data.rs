//! Tests of `data`, `demo` and `list`.

use std::collections::HashSet;

use crate::common::{Bench, bench, real_data};
use rankwright::data::store::{WriteBody, write_together};
use rankwright::model::ModelFormat;

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
fn a_generated_store_is_three_files_and_the_same_again() {
    let bench = Bench::new();
    let line = "data generate store --records 120 --queries 4 --seed 3";
    let result = bench.run(&format!("{line} --out shop --json")).json();
    assert_eq!((&result["records"], &result["queries"]), (&120.into(), &4.into()));
    let (documents, qrels) = (bench.text("shop/documents.jsonl"), bench.text("shop/qrels.txt"));
    assert_eq!(documents.lines().count(), 120);
    assert_eq!(bench.text("shop/queries.jsonl").lines().count(), 4);
    assert_eq!(qrels.lines().count() as u64, result["judgements"].as_u64().unwrap());
    let message = bench.run(&format!("{line} --out deep/again --threads 1")).ok().out();
    assert!(message.contains("120 synthetic records, 4 queries"), "{message}");
    for name in ["documents.jsonl", "queries.jsonl", "qrels.txt"] {
        let again = bench.text(&format!("deep/again/{name}"));
        assert_eq!(again, bench.text(&format!("shop/{name}")), "{name}");
    }
    let ran = bench.run(&format!("{line} --out -"));
    assert!(
        ran.code() != 0 && ran.err().contains("--out cannot be standard output"),
        "{}",
        ran.err()
    );
    let ran = bench.run("data generate store --records 0 --out none");
    assert!(ran.err().contains("records=0 is not allowed"), "{}", ran.err());
    assert!(!bench.path("none").exists());
}

#[test]
fn a_generated_web_has_homepages_and_a_store_the_popularity_of_artists() {
    let bench = Bench::new();
    let line = "data generate homepages --sites 20 --pages 4 --queries 6 --seed 3";
    let result = bench.run(&format!("{line} --out web --json")).json();
    assert_eq!(result["queries"], 6);
    let pages = bench.text("web/documents.jsonl");
    assert_eq!(pages.lines().count() as u64, result["pages"].as_u64().unwrap());
    let fronts = pages.matches("/\",\"links\"").count();
    assert!(fronts > 20, "a homepage for each site, and the first pages of parts: {fronts}");
    let message = bench.run(&format!("{line} --out again --threads 1")).ok().out();
    assert!(message.contains("synthetic pages, 6 queries"), "{message}");
    assert_eq!(bench.text("again/documents.jsonl"), pages);
    let ran = bench.run(&format!("{line} --out -"));
    assert!(ran.err().contains("--out cannot be standard output"), "{}", ran.err());
    let line = "data generate store --records 40 --queries 2 --out shop --artist-popularity";
    bench.run(line).ok();
    assert_eq!(bench.text("shop/documents.jsonl").matches("\"artist_popularity\":").count(), 40);
}

#[test]
fn standard_input_and_output_are_files_too() {
    let bench = Bench::new();
    bench.put("a.txt", "1 qid:x 1:2\n");
    bench.run("data convert a.txt --out option.csv").ok();
    bench.run("data convert a.txt last.csv").ok();
    assert_eq!(bench.text("option.csv"), bench.text("last.csv"));
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
    bench.put("p.txt", "q a b 1.5\nq a < b\nq 0 = 1\n").put("bad.txt", "q a b\nq a z\n");
    let ran = bench.run("data inspect d.txt --pairs p.txt --json").ok();
    assert!(
        ran.err().contains("1 preference pair contradicted by the opposite pair"),
        "{}",
        ran.err()
    );
    assert_eq!(ran.json()["pairs"], 3);
    // A flag may stand between the input and the output.
    let middle = bench.run("data convert d.txt --pairs p.txt d.rwd").ok();
    assert!(middle.out().starts_with("d.rwd: 3 documents of 2 queries"), "{}", middle.out());
    assert_eq!(bench.run("data inspect d.rwd --json").json()["pairs"], 3);
    let alone = bench.run("data convert d.txt --pairs p.txt");
    assert!(alone.code() == 2 && alone.err().contains("DATA... OUT"), "{}", alone.err());
    let ran = bench.run("data convert d.txt d.csv --pairs p.txt").ok();
    assert!(
        ran.err().contains("d.csv: this format does not keep preference pairs"),
        "{}",
        ran.err()
    );
    bench.run("data convert d.txt d.rwd --pairs p.txt").ok();
    assert_eq!(bench.run("data inspect d.rwd --json").json()["pairs"], 3);
    let ran = bench.run("data inspect d.txt --pairs bad.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("bad.txt:2: found 'z', expected a document id"), "{}", ran.err());
}

#[test]
fn the_demo_goes_from_text_to_a_comparison_and_keeps_what_it_made() {
    let bench = Bench::new();
    let found = bench.run("demo --records 800 --queries 60 --out kept --json").json();
    let systems = found["metrics"][0]["systems"].as_array().unwrap();
    assert_eq!(systems.len(), 5);
    let line = "compare --qrels kept/test.qrels.txt kept/bm25.run kept/lambdamart.run --metric ndcg@10 --json";
    let again = bench.run(line).json();
    let value =
        |v: &serde_json::Value, system: usize| v["metrics"][0]["systems"][system]["value"].clone();
    assert_eq!((value(&found, 0), value(&found, 4)), (value(&again, 0), value(&again, 1)));
    assert!(value(&found, 4).as_f64() > value(&found, 0).as_f64(), "learning beats BM25");
    // The kept files work together: the model records its features, and so does a training on the
    // data.
    let shown = bench.run("search kept/index --model kept/lambdamart.model -k 2 --json a b").json();
    assert!(shown["documents"].as_array().is_some());
    bench.run("train kept/train.rwd --learner ranksvm --out mine.model").ok();
    let model = bench.run("model inspect mine.model --json").json();
    let set = model["feature_set"].as_str().unwrap();
    assert!(set.contains("analysis = \"english\""), "{set}");
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
    // Metrics with another default than the first one are named.
    for default in
        ["nonrel; drop for accuracy, rmse, mae", "exp; linear for q", "skip; 0 for bpref"]
    {
        assert!(text.contains(default), "{default}: {text}");
    }
    let formats = bench.run("list formats").ok().out();
    assert!(formats.contains("parquet") && formats.contains("q1 d7 > d3 2.5"));
    for format in ModelFormat::all() {
        assert!(formats.contains(&format!("{} ({})", format.name, format.system)), "{format}");
    }
    assert!(bench.run("list features").ok().out().contains("nallapati-6"));
    assert!(bench.run("list first-stages").ok().out().contains("dirichlet"));
    assert!(bench.run("completions bash").ok().out().contains("rankwright"));
}

#[test]
fn data_that_cannot_be_held_or_written_is_refused() {
    let bench = Bench::new();
    let ran = bench.run("data generate letor --queries 99999999999999 --out g.txt");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("do not fit into memory"), "{}", ran.err());
    bench.put("a.txt", "1 qid:x 1:2\n");
    let ran = bench.run("data convert a.txt no/where.csv");
    assert!(ran.err().contains("the folder no does not exist"), "{}", ran.err());
    assert!(!ran.err().contains(".rankwright-"), "{}", ran.err());
    assert_eq!(bench.run("data convert a.txt - --to csv --json").code(), 1);
    let ran = bench.run("data convert a.txt a.csv --absent missing").ok();
    assert!(
        ran.err().contains("a.csv: this format does not keep the rule that absent features"),
        "{}",
        ran.err()
    );
}

#[test]
fn a_format_that_cannot_hold_all_of_the_data_says_what_is_lost() {
    let bench = Bench::new();
    bench.put("a.csv", "qid,label,bm25,weight\n1,0,2,3\n");
    let ran = bench.run("data convert a.csv b.txt").ok();
    assert!(
        ran.err().contains("note: b.txt: this format does not keep feature names"),
        "{}",
        ran.err()
    );
    assert!(
        ran.err().contains("note: b.txt: this format does not keep row weights"),
        "{}",
        ran.err()
    );
    assert_eq!(bench.text("b.txt"), "0 qid:1 1:2\n");
    assert!(bench.run("data convert a.csv b.what").err().contains("is not that of a format"));
}

/// The next command may be one that checks the folder of its output before it reads anything.
#[test]
fn a_killed_split_is_finished_by_a_training_into_its_folder() {
    let train = "train shop/train.txt --learner mart(trees=1) --out shop/m.model";
    for line in [train, "data inspect shop/test.txt"] {
        let bench = bench();
        for (folder, seed) in [("shop", 1), ("new", 2)] {
            let parts = "--parts train=0.5,test=0.5";
            bench.run(&format!("data split train.txt {parts} --seed {seed} --out {folder}")).ok();
        }
        // A folder at the place of the second file stops the switch after the first one.
        let obstacle = bench.path("shop/notes.txt");
        let files = ["train.txt", "notes.txt", "test.txt"].map(|name| {
            let (obstacle, from) = (&obstacle, bench.path("new").join(name));
            let body: WriteBody<'_> = Box::new(move |out| match name {
                "notes.txt" => std::fs::create_dir(obstacle),
                _ => out.write_all(&std::fs::read(from)?),
            });
            (bench.path("shop").join(name), Some(body))
        });
        write_together(files).unwrap_err();
        let ran = bench.run(line);
        assert!(ran.err().contains("notes.txt cannot be changed"), "{line}: {}", ran.err());
        assert!(ran.err().contains("help: make it possible to replace that file"), "{}", ran.err());
        std::fs::remove_dir(&obstacle).unwrap();
        bench.run(line).ok();
        for part in ["train.txt", "test.txt"] {
            let (found, new) = (bench.text(&format!("shop/{part}")), format!("new/{part}"));
            assert_eq!(found, bench.text(&new), "{line}: {part}");
        }
    }
}

/// Files of every kind of write: one without a name at first, several together, a model and its
/// log, and those of an index.
#[cfg(unix)]
#[test]
fn new_files_have_the_mode_of_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let bench = bench();
    bench.put("docs.jsonl", "{\"id\": \"a\", \"title\": \"red shoe\"}\n");
    bench.put("more.jsonl", "{\"id\": \"b\", \"title\": \"red hat\"}\n");
    for (mask, mode) in [("027", 0o640), ("077", 0o600), ("000", 0o666)] {
        for words in [
            "data convert train.txt w/a.rwd",
            "data split train.txt --out w --parts b=0.5,c=0.5",
            "train train.txt --learner mart(trees=2) --out w/d.model",
            "index docs.jsonl --out w/shop",
            "index more.jsonl --out w/shop --add",
        ] {
            let mut shell = std::process::Command::new("sh");
            let script = format!("umask {mask}; mkdir -p w; exec \"$0\" \"$@\"");
            shell.args(["-c", &script, env!("CARGO_BIN_EXE_rankwright")]).args(words.split(' '));
            let ran = crate::common::Ran(shell.current_dir(bench.path("")).output().unwrap());
            ran.ok();
        }
        let files = files_below(&bench.path("w"));
        let is_there = |name: &str| files.iter().any(|path| path.ends_with(name));
        let names = ["a.rwd", "b.txt", "c.txt", "d.model", "d.model.log.json"];
        assert!(names.into_iter().chain(["rankwright.json", "meta.json"]).all(is_there));
        for path in files {
            let found = path.metadata().unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode, "umask {mask}: {}", path.display());
        }
        std::fs::remove_dir_all(bench.path("w")).unwrap();
    }
}

/// All files below a folder.
#[cfg(unix)]
fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// As root, a rename over the link would destroy the name of standard output for the whole system.
#[cfg(target_os = "linux")]
#[test]
fn the_names_of_standard_output_are_written_to_and_stay() {
    let bench = bench();
    bench.run("train train.txt --learner mart(trees=2) --out m.model --quiet").ok();
    let scores = bench.run("score m.model valid.txt").ok().out();
    std::os::unix::fs::symlink("/dev/stdout", bench.path("link")).unwrap();
    for out in ["/dev/stdout", "/proc/self/fd/1", "link"] {
        let file = std::fs::File::create(bench.path("file")).unwrap();
        let mut score = crate::common::command(&bench, &["score", "m.model", "valid.txt", "--out"]);
        let ran = score.arg(out).stdout(file).output().unwrap();
        assert!(ran.status.success(), "{out}: {}", String::from_utf8_lossy(&ran.stderr));
        assert!(bench.text("file").starts_with(&scores), "{out}: {}", bench.text("file"));
    }
    assert!(bench.path("link").is_symlink() && std::path::Path::new("/dev/stdout").is_symlink());
}

#[test]
fn files_of_an_older_division_are_named_with_a_line_that_removes_them() {
    let bench = bench();
    bench.run("data split train.txt --out parts").ok();
    let ran = bench.run("data split train.txt --parts train=0.5,test=0.5 --out parts --force").ok();
    assert!(ran.out().contains("the folder also has 1 file of an earlier split"), "{}", ran.out());
    let error = ran.err();
    let (_, line) = error.lines().find_map(|line| line.split_once("for instance: ")).unwrap();
    assert_eq!(line, "rm parts/valid.txt");
    bench.shell(line).ok();
    let ran = bench.run("data split train.txt --parts train=0.5,test=0.5 --out parts --force").ok();
    assert!(!ran.err().contains("division") && !ran.out().contains("division"), "{}", ran.err());
}
