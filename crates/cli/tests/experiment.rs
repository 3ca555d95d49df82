//! Tests of `experiment`: killed and resumed, failing learners, changed data, the shipped files.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Bench, Ran, bench, command, real_data};
use rankwright::experiment::{Experiment, LearnerKind};
use rankwright::learn::LearnerSpec;
use serde_json::Value;

/// Two learners and a feature on files, with folds and seeds: 10 cells.
const FILE: &str = r#"
name = "two learners"
metrics = ["ndcg@10", "ap"]
seeds = [1, 2]

[[data]]
name = "split"
files = ["train.txt", "valid.txt"]
split = "train=0.5,valid=0.25,test=0.25"

[[data]]
name = "given"
train = "train.txt"
test = "valid.txt"

[[learner]]
name = "lambdamart"
spec = "lambdamart(trees=25, leaves=7, min_rows=5, sample_queries=0.7)"

[[learner]]
name = "ranknet"
spec = "ranknet(layers=8, epochs=6)"

[[learner]]
name = "bm25"
feature = 22
"#;

/// The files of the results without times, which are the same after every run.
const FILES_WITHOUT_TIMES: [&str; 5] =
    ["report.html", "results.json", "table.md", "per-query.tsv", "experiment.lock.json"];

fn results_without_times(bench: &Bench, folder: &str) -> Vec<String> {
    FILES_WITHOUT_TIMES.iter().map(|file| bench.text(&format!("{folder}/{file}"))).collect()
}

/// Numbers of folders of finished cells, and of unfinished ones.
fn cells(bench: &Bench, folder: &str) -> (usize, usize) {
    let Ok(names) = std::fs::read_dir(bench.path(folder).join("cells")) else { return (0, 0) };
    let names: Vec<_> = names.map(|name| name.unwrap().path()).collect();
    let parts = names.iter().filter(|path| path.extension().is_some()).count();
    (names.len() - parts, parts)
}

fn spawn(bench: &Bench, more: &[&str]) -> Child {
    let words = [&["experiment", "x.toml", "--jobs", "2", "--quiet"][..], more].concat();
    command(bench, &words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until a condition holds, or the process has ended; false in the latter case.
fn wait_for(child: &mut Child, holds: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(120), "nothing happens");
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

#[test]
fn killed_at_any_moment_and_resumed_gives_the_same_bytes() {
    let bench = bench();
    bench.put("x.toml", FILE);
    bench.run("experiment x.toml --jobs 2 --quiet --out whole").ok();
    assert_eq!(cells(&bench, "whole"), (10, 0));
    let mut killed = 0;
    // At the start, during the first checkpoints, and between later cells.
    let moments: [(usize, usize); 5] = [(0, 0), (0, 1), (1, 0), (4, 1), (7, 0)];
    for (done, begun) in moments {
        let mut child = spawn(&bench, &["--out", "cut", "--checkpoint-seconds", "0"]);
        let at = || {
            let found = cells(&bench, "cut");
            found.0 >= done && found.1 >= begun
        };
        if wait_for(&mut child, at) {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
    }
    assert!(killed >= 3, "{killed}");
    bench.run("experiment x.toml --jobs 2 --quiet --out cut").ok();
    assert_eq!(results_without_times(&bench, "cut"), results_without_times(&bench, "whole"));
    assert_eq!(cells(&bench, "cut"), (10, 0));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130_and_says_how_to_go_on() {
    let bench = bench();
    bench.put("x.toml", &FILE.replace("trees=25", "trees=5000"));
    let folder = "results\u{1b}[31m";
    let words = ["experiment", "x.toml", "--jobs", "1", "--only", "lambdamart", "--out", folder];
    let child = command(&bench, &words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert!(child.try_wait().unwrap().is_none() || child.wait().unwrap().code() == Some(130));
    let ran = Ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code(), 130, "{}", ran.err());
    assert!(ran.err().contains("run the command again to resume"), "{}", ran.err());
    assert!(ran.err().contains("results are in results\\u{1b}[31m;"), "{}", ran.err());
    assert!(!ran.err().contains('\u{1b}'), "{:?}", ran.err());
    let saved = bench.path(folder).join("cells");
    let part = std::fs::read_dir(saved).unwrap().map(|e| e.unwrap().path());
    let part = part.into_iter().find(|path| path.extension().is_some()).unwrap();
    assert!(part.join("checkpoint/checkpoint.model").is_file());
}

#[test]
fn files_that_are_no_part_of_the_results_keep_their_content() {
    let bench = bench();
    bench.put("x.toml", FILE);
    std::fs::create_dir(bench.path("study")).unwrap();
    bench.put("study/.lock", "notes");
    bench.put("study/times.md", "of an earlier run with a study");
    bench.run("experiment x.toml --out study --quiet").ok();
    assert_eq!(bench.text("study/.lock"), "notes");
    // The files of the report belong together.
    assert!(bench.path("study/times.json").is_file() && !bench.path("study/times.md").exists());
}

#[test]
fn two_jobs_give_the_same_bytes_as_one() {
    let bench = bench();
    bench.put("x.toml", FILE);
    bench.run("experiment x.toml --jobs 1 --threads 2 --quiet --out one").ok();
    bench.run("experiment x.toml --jobs 2 --threads 2 --quiet --out two").ok();
    for file in &FILES_WITHOUT_TIMES[..4] {
        let [one, two] = ["one", "two"].map(|folder| bench.text(&format!("{folder}/{file}")));
        assert_eq!(one, two, "{file}");
    }
    // The lock differs only in the number of jobs.
    let lock = |folder: &str| -> Value {
        let text = bench.text(&format!("{folder}/experiment.lock.json"));
        let mut lock: Value = serde_json::from_str(&text).unwrap();
        lock["jobs"].take();
        lock
    };
    assert_eq!(lock("one"), lock("two"));
}

#[test]
fn results_are_those_of_train_and_eval() {
    let bench = bench();
    bench.put("x.toml", FILE);
    let found = bench.run("experiment x.toml --quiet --json").json();
    bench
        .run("train|train.txt|--learner|lambdamart(trees=25, leaves=7, min_rows=5, sample_queries=0.7)|--metric|ndcg@10|--seed|2|--out|m.model|--quiet")
        .ok();
    let own = bench.run("eval m.model valid.txt --metric ndcg@10 --json --quiet").json();
    let given = &found["data"][1];
    assert_eq!(given["name"], "given");
    let seed = &given["learners"][0]["seeds"][1];
    assert_eq!(seed["seed"], 2);
    assert_eq!(seed["values"]["ndcg@10"], own["metrics"][0]["value"]);
    let digest = given["learners"][0]["cells"][1]["digest"].as_str().unwrap();
    let stored = std::fs::read(bench.path(&format!("x.results/cells/{digest}/ranker.model")));
    assert_eq!(stored.unwrap(), std::fs::read(bench.path("m.model")).unwrap());
    assert!(found["files"].as_array().unwrap().len() == 6);
}

#[test]
fn a_failing_member_is_reported_and_the_rest_is_finished() {
    let bench = bench();
    let text = FILE.replace("train = \"train.txt\"", "train = \"nowhere.txt\"");
    let text = text.replace("min_rows=5", "min_rows=5, monotone=999:+");
    bench.put("x.toml", &text);
    let ran = bench.run("experiment x.toml --quiet --json");
    assert_eq!(ran.code(), 1);
    let err = ran.err();
    assert!(err.contains("failed: given: cannot read") && err.contains("nowhere.txt"), "{err}");
    assert!(err.contains("failed: split, lambdamart, seed 1; seed 2: "), "{err}");
    let found: Value = serde_json::from_str(&ran.out()).unwrap();
    assert_eq!(found["failed"].as_array().unwrap().len(), 2);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    assert_eq!(found["data"][0]["learners"][0]["name"], "ranknet");
    assert!(bench.path("x.results/report.html").is_file());
    // Once the file is corrected, only the failed cells are run.
    bench.put("x.toml", FILE);
    let dry = bench.run("experiment x.toml --dry-run").ok().out();
    assert!(dry.contains("10 cells, 7 to run") && dry.contains("done      split, bm25"), "{dry}");
    bench.run("experiment x.toml --quiet").ok();
}

/// Regression: the report quoted the first line of any file that an experiment named.
#[test]
fn a_file_that_is_no_data_is_reported_without_its_content() {
    let bench = bench();
    let secret = "hunter2-secret";
    for (name, content) in [
        ("keys", format!("{secret} and more\n")),
        ("keys.txt", format!("{secret} and more\n")),
        ("keys.csv", format!("{secret},password\nx,y\n")),
        ("keys.tsv", format!("{secret}\tpassword\nx\ty\n")),
        ("keys.jsonl", format!("{{\"{secret}\": \"{secret}\"}}\n")),
        ("keys.letor", format!("1 qid:1 1:{secret}\n")),
    ] {
        bench.put(name, &content);
        let text = FILE.replace("train = \"train.txt\"", &format!("train = \"{name}\""));
        bench.put("x.toml", &text);
        let ran = bench.run("experiment x.toml --quiet --json");
        assert_eq!(ran.code(), 1, "{name}");
        assert!(ran.err().contains(name), "{}", ran.err());
        let mut message = ran.err() + &ran.out();
        for file in ["report.html", "results.json", "table.md", "experiment.lock.json"] {
            message += &bench.text(&format!("x.results/{file}"));
        }
        assert!(!message.contains(secret), "{name}: {}", ran.err());
        let text = FILE.replace("feature = 22", &format!("model = \"{name}\""));
        bench.put("x.toml", &text);
        let ran = bench.run("experiment x.toml --quiet --json");
        assert_eq!(ran.code(), 1, "{name} as a model");
        assert!(!(ran.err() + &ran.out()).contains(secret), "{name}: {}", ran.err());
    }
}

#[test]
fn what_is_wrong_in_the_file_is_found_before_anything_runs() {
    let bench = bench();
    for (found, instead, parts) in [
        ("seeds", "seed", ["x.toml, line 4, column 1", "did you mean `seeds`?"]),
        ("ranknet(", "ranknot(", ["line 22, column 8", "did you mean `ranknet`?"]),
        ("\"train.txt\", ", "\"${NO_SUCH_VARIABLE}/t\", ", ["line 8", "NO_SUCH_VARIABLE"]),
    ] {
        bench.put("x.toml", &FILE.replacen(found, instead, 1));
        let ran = bench.run("experiment x.toml");
        assert_eq!(ran.code(), 1);
        for part in parts {
            assert!(ran.err().contains(part), "{}", ran.err());
        }
        assert!(!bench.path("x.results").exists());
    }
    let ran = bench.run("experiment none.toml");
    assert_eq!(ran.code(), 1);
    assert!(ran.err().contains("none.toml"), "{}", ran.err());
}

#[test]
fn a_fixed_model_is_a_member_like_any_other() {
    let bench = bench();
    bench.run("train train.txt --learner mart(trees=3) --out m.model --quiet").ok();
    bench.put("x.toml", &FILE.replace("feature = 22", "model = \"m.model\""));
    let found = bench.run("experiment x.toml --quiet --json --only bm25").json();
    let own = bench.run("eval m.model valid.txt --metric ndcg@10 --json --quiet").json();
    let seed = &found["data"][1]["learners"][0]["seeds"][0];
    assert_eq!(seed["values"]["ndcg@10"], own["metrics"][0]["value"]);
    assert_eq!(found["not_run"], serde_json::json!(["lambdamart", "ranknet"]));
}

/// A grid of two by two with a table and a plot.
const STUDY: &str = r#"
name = "a study"
metrics = ["ndcg(blank=0)@10", "ap"]

[[data]]
name = "made"
generate = "letor(queries=40, documents=10)"
folds = 4

[[learner]]
name = "trees"
spec = "lambdamart(trees=12, stop=6, min_rows=5)"
grid = { leaves = [3, 7], rate = [0.1, 0.4] }

[[table]]
title = "Leaves"
rows = ["leaves"]
choose = ["rate"]

[[plot]]
title = "Curves"
lines = ["leaves"]
panels = ["rate"]
"#;

#[test]
fn a_study_writes_its_tables_and_plots() {
    let bench = bench();
    bench.put("x.toml", STUDY);
    let out = bench.run("experiment x.toml --quiet --jobs 2").ok().out();
    assert!(out.starts_with("Leaves: ndcg(blank=0)@10 on made\nleaves"), "{out}");
    assert!(out.contains("plots (2 files)"), "{out}");
    let table = bench.text("x.results/table.md");
    assert!(table.starts_with("### Leaves: ndcg(blank=0)@10 on made\n\n| leaves |"), "{table}");
    assert!(table.contains("rate is chosen for each fold by ndcg(blank=0)@10"), "{table}");
    assert!(table.contains("### made: 40 test queries of 4 folds"), "{table}");
    assert!(!table.contains("illisecond"));
    assert!(bench.text("x.results/times.md").contains("Milliseconds of the median tree"));
    for panel in ["rate-0-1", "rate-0-4"] {
        let svg = bench.text(&format!("x.results/plots/plot-1-made-{panel}.svg"));
        assert!(svg.starts_with("<svg") && svg.contains("data-series=\"leaves=7\""), "{svg}");
        assert!(svg.len() < 40_000);
    }
    let results: Value = serde_json::from_str(&bench.text("x.results/results.json")).unwrap();
    let cells = results["tables"][0]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    // The mean over queries of each fold's choice, from the values of every query.
    let per_query = bench.text("x.results/per-query.tsv");
    let names: Vec<&str> = per_query.lines().next().unwrap().split('\t').skip(3).collect();
    let rows = per_query.lines().filter(|line| line.starts_with("made\tndcg(blank=0)@10\t"));
    let rows: Vec<Vec<f64>> =
        rows.map(|line| line.split('\t').skip(3).map(|v| v.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 40);
    for cell in cells {
        let folds = cell["folds"].as_array().unwrap();
        let of = |fold: usize| folds[fold]["learner"].as_str().unwrap();
        let place = |fold: usize| names.iter().position(|name| *name == of(fold)).unwrap();
        let sum: f64 = (0..40).map(|q| rows[q][place(q / 10)]).sum();
        let value = cell["value"].as_f64().unwrap();
        assert!((value - sum / 40.0).abs() < 1e-8, "{value}");
        assert!(folds.iter().all(|fold| fold["validation"].as_f64().unwrap() > 0.0));
    }
    // The same cells give the same bytes.
    let before = (
        results_without_times(&bench, "x.results"),
        bench.text("x.results/plots/plot-1-made-rate-0-1.svg"),
    );
    bench.run("experiment x.toml --quiet --jobs 2").ok();
    let after = (
        results_without_times(&bench, "x.results"),
        bench.text("x.results/plots/plot-1-made-rate-0-1.svg"),
    );
    assert_eq!(before, after);
    let dry = bench.run("experiment x.toml --dry-run --only trees").ok().out();
    assert!(dry.contains("16 cells, 0 to run"), "{dry}");
}

/// Both tables of docs/results.md against the files that they describe: the learners in this order,
/// each with this spec.
#[test]
fn the_table_of_specs_is_that_of_the_experiments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/results.md")).unwrap();
    let (values, specs) = page.split_once("## Specs").unwrap();
    let rows = |text: &str| -> Vec<Vec<String>> {
        let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
        rows.map(|row| {
            row.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`']).to_owned()).collect()
        })
        .collect()
    };
    let listed: Vec<(String, String)> = rows(specs)
        .into_iter()
        .map(|row| (row[0].clone(), LearnerSpec::parse(&row[1]).unwrap().to_string()))
        .collect();
    let names: Vec<String> = rows(values).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(names, listed.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    for file in ["mq2008.toml", "mq2007-partial.toml"] {
        let text = std::fs::read_to_string(root.join("experiments").join(file)).unwrap();
        let variable = |_: &str| Some("data".to_owned());
        let experiment = Experiment::parse(&text, file, Path::new("."), &variable).unwrap();
        let found: Vec<(String, String)> = experiment
            .learners
            .into_iter()
            .map(|learner| match learner.kind {
                LearnerKind::Spec(spec) => (learner.name, spec.to_string()),
                other => panic!("{file}: {other:?}"),
            })
            .collect();
        assert_eq!(found, listed, "{file}");
    }
}

/// The files in `experiments/`.
fn shipped() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect()
}

#[test]
fn the_demo_runs_and_its_table_is_markdown() {
    let bench = Bench::new();
    let demo = shipped().into_iter().find(|path| path.ends_with("demo.toml")).unwrap();
    let line = format!("experiment|{}|--out|demo|--quiet", demo.display());
    let out = bench.run(&line).ok().out();
    assert!(out.contains("lambdamart") && out.contains("demo/report.html"), "{out}");
    assert!(bench.text("demo/table.md").contains("| lambdamart"));
    assert!(bench.text("demo/per-query.tsv").starts_with("data\tmetric\tquery\tmart\t"));
}

/// A file of `experiments/lectures/`.
fn lecture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/lectures").join(name)
}

#[test]
fn addresses_and_links_find_the_homepages_of_the_lectures() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(lecture("homepages.toml")).unwrap();
    let small = text.replace("sites=200, pages=20, queries=150", "sites=50, pages=20, queries=50");
    assert_ne!(small, text);
    bench.put("small.toml", &small.replace("trees=300", "trees=30"));
    let found = bench.run("experiment small.toml --out web --quiet --json").json();
    let value = |learner: &str| {
        let learners = found["data"][0]["learners"].as_array().unwrap();
        let found = learners.iter().find(|found| found["name"] == learner).unwrap();
        found["seeds"][0]["values"]["success@10"].as_f64().unwrap()
    };
    let (text, all) = (value("RankSVM, text"), value("RankSVM, text, addresses and links"));
    assert!(all < 1.0 && all > text + 0.2, "{text} with text, {all} with addresses and links");
    let again = bench.run("experiment small.toml --out web --dry-run --json").json();
    assert!(again["cells"].as_array().unwrap().iter().all(|cell| cell["state"] == "done"));
}

#[test]
fn mistakes_about_texts_and_features_are_reported_at_their_place() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(lecture("homepages.toml")).unwrap();
    for (from, to, expected) in [
        ("text:web", "text:wep", "no [[text]] is called `wep` (did you mean `web`?)"),
        ("name = \"web\"", "name = \"a/b\"", "letters, digits, - and _ only"),
        ("seed = 1\n", "queries = \"q.tsv\"\n", "leave out the files"),
        (
            "generate = \"homepages(sites=200, pages=20, queries=150)\"\nseed = 1\n",
            "",
            "or `generate`",
        ),
        ("homepages(sites=200", "homepage(sites=200", "homepages"),
        (
            "feature = \"bm25(field=all)\"",
            "feature = \"bm25(field=all)\"\nfeatures = [\"bm25\"]",
            "needs a `spec`",
        ),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        bench.put("wrong.toml", &wrong);
        let ran = bench.run("experiment wrong.toml --out wrong --quiet");
        assert!(ran.code() == 1 && ran.err().contains(expected), "{to}: {}", ran.err());
    }
    bench.put(
        "numbers.toml",
        &FILE.replace("spec = \"ranknet", "features = [\"22\"]\nspec = \"ranknet"),
    );
    let ran = bench_with_data(&bench).run("experiment numbers.toml --out numbers --quiet");
    assert!(ran.err().contains("have numbers and no names"), "{}", ran.err());
}

/// The folder, with `train.txt` and `valid.txt`.
fn bench_with_data(bench: &Bench) -> &Bench {
    for name in ["train", "valid"] {
        bench.run(&format!("data generate letor --queries 8 --documents 8 --out {name}.txt")).ok();
    }
    bench
}

#[test]
fn the_experiments_of_lectures_on_cacm_can_be_planned() {
    let Some(_) = real_data() else { return };
    let bench = Bench::new();
    for (name, cells) in [("links.toml", 40), ("joachims.toml", 15)] {
        let file = lecture(name).display().to_string();
        let plan = bench.run(&format!("experiment|{file}|--dry-run|--json|--quiet")).json();
        assert!(plan["failed"].as_array().unwrap().is_empty(), "{name}: {plan}");
        assert_eq!(plan["cells"].as_array().unwrap().len(), cells, "{name}");
    }
}

/// The learners' values of a metric on a data set of a result.
fn values(found: &serde_json::Value, data: &str, metric: &str) -> Vec<(String, f64)> {
    let sets = found["data"].as_array().unwrap();
    let set = sets.iter().find(|set| set["name"] == data).unwrap_or_else(|| panic!("no {data}"));
    let learners = set["learners"].as_array().unwrap().iter();
    let value = |learner: &serde_json::Value| {
        let name = learner["name"].as_str().unwrap().to_owned();
        (name, learner["seeds"][0]["values"][metric].as_f64().unwrap())
    };
    learners.map(value).collect()
}

/// Nallapati's table from end to end, on generated stores in place of the collections.
#[test]
fn the_table_of_collections_is_complete_on_generated_stores() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(lecture("nallapati.toml")).unwrap();
    let mut small = String::new();
    let mut stores = 0;
    for line in text.lines() {
        let key = line.split(" =").next().unwrap();
        match key {
            "documents" => {
                stores += 1;
                let genre = ["0", "0.3", "0.6", "0.6"][stores - 1];
                small += &format!(
                    "generate = \"store(records=150, queries=20, genre_overlap={genre})\"\nseed = \
                     {stores}\n"
                );
            }
            "schema" | "queries" | "number_queries" | "qrels" => {}
            "candidates" => small += "candidates = 50\n",
            _ => small += &format!("{line}\n"),
        }
    }
    assert_eq!(stores, 4);
    bench.put("small.toml", &small);
    let found = bench.run("experiment small.toml --out table --quiet --json").json();
    assert_eq!(found["data"].as_array().unwrap().len(), 9, "three collections by three");
    for train in ["Cranfield", "CACM", "NFCorpus"] {
        for test in ["Cranfield", "CACM", "NFCorpus"] {
            let found = values(&found, &format!("{train} to {test}"), "ap");
            let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["LM, tuned mu", "linear SVM", "maximum entropy", "BM25"]);
            assert!(found.iter().all(|(_, value)| (0.05..=1.0).contains(value)), "{found:?}");
        }
    }
    // BM25 is not trained: its value is that of the test collection, whatever the training one.
    let bm25 = |data: &str| values(&found, data, "ap")[3].1;
    assert_eq!(bm25("Cranfield to CACM"), bm25("NFCorpus to CACM"));
    let table = bench.text("table/table.md");
    assert!(table.contains("CACM to CACM") && table.contains("maximum entropy"), "{table}");
}

/// The table of weights on the page of experiments, by a run of the whole experiment.
#[test]
fn the_weights_of_the_page_are_those_of_the_experiment() {
    let Some(_) = real_data() else { return };
    let bench = Bench::new();
    let file = lecture("joachims.toml").display().to_string();
    let found = bench.run(&format!("experiment|{file}|--out|weights|--quiet|--json")).json();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lectures-experiments.md");
    let page = std::fs::read_to_string(page).unwrap();
    let weights = found["weights"][0]["weights"].as_array().unwrap();
    assert_eq!(weights.len(), 10, "{found}");
    for entry in weights {
        let (feature, weight) = (entry["feature"].as_str().unwrap(), &entry["weight"]);
        // The page calls the two runs by their places.
        let name = match (feature.contains("trec_cacm"), feature.contains("trec_rocchio")) {
            (true, _) => "first system, ",
            (_, true) => "second system, ",
            _ => "",
        };
        let shown = format!("| {:.4} | {name}`", weight.as_f64().unwrap());
        assert!(page.contains(&shown), "{shown}{feature} is not on the page");
    }
    let (_, value) = &values(&found, "CACM", "ap")[0];
    assert!(page.contains(&format!("MAP of the combination is {value:.4}")), "{value}");
}

#[test]
fn experiments_on_real_collections_say_where_they_look_for_them() {
    let bench = Bench::new();
    for name in ["nallapati.toml", "links.toml", "joachims.toml"] {
        let file = lecture(name).display().to_string();
        let mut ran = command(&bench, &["experiment", &file, "--dry-run"]);
        let ran = Ran(ran.env_remove("RANKWRIGHT_DATA").output().unwrap());
        assert_eq!(ran.code(), 1);
        let message = "needs the environment variable RANKWRIGHT_DATA, which is not set";
        assert!(ran.err().contains(message), "{name}: {}", ran.err());
    }
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_docs_run() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let blocks = docs.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.collect::<String>();
    let bench = Bench::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_rankwright")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = std::process::Command::new("sh");
    let ran = shell.args(["-e", "-c", &block]).env("PATH", path).current_dir(bench.path(""));
    let ran = Ran(ran.output().unwrap()).ok();
    assert!(ran.out().contains("15 cells, 15 to run"), "{}", ran.out());
    assert!(ran.err().contains("15 of 15 cells were finished before"), "{}", ran.err());
    assert_eq!(ran.out().matches("trees.results/report.html").count(), 2);
    let table = bench.text("steps.results/table.md");
    assert!(table.starts_with("### Newton steps by leaves: ndcg@10 on generated"), "{table}");
    assert!(bench.path("steps.results/plots/plot-1-generated-leaves-15.svg").is_file());
}

#[test]
fn every_shipped_file_can_be_planned() {
    let Some(_) = real_data() else { return };
    let bench = Bench::new();
    let files = shipped();
    assert!(files.len() >= 4);
    for file in files {
        let line = format!("experiment|{}|--dry-run|--json|--quiet", file.display());
        let plan = bench.run(&line).json();
        assert!(plan["failed"].as_array().unwrap().is_empty(), "{}: {plan}", file.display());
        assert!(plan["cells"].as_array().unwrap().len() >= 12);
    }
}
