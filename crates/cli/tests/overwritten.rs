//! No command writes over one of its inputs, whatever the file is called.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Bench, bench, command};

/// Every output that could be an input: the command, its flag, and a line that must be refused.
const LINES: &[(&str, &str, &str)] = &[
    ("data convert", "", "data convert train.txt link.txt"),
    ("data convert", "", "data convert train.txt hard.csv"),
    ("data convert", "--out", "data convert train.txt --out link.txt"),
    ("data split", "--out", "data split train.txt --parts train=0.5,x=0.5 --out . --force"),
    ("data split", "--out", "data split train.txt --parts hard=0.5,x=0.5 --out . --to csv --force"),
    ("train", "--out", "train train.txt --learner mart --out train.txt"),
    ("train", "--out", "train train.txt --valid valid.txt --learner mart --out valid.txt"),
    ("train", "--out", "train p.log.json --learner mart --out p"),
    ("train", "--out", "train train.txt --pairs pairs --learner mart --out pairs"),
    (
        "train",
        "--out",
        "train train.txt --learner blend(members=file:m.model+ranksvm) --out m.model",
    ),
    ("train", "--out", "train m.partial --learner mart --out m"),
    ("train", "--out", "train train.txt --learner mart(bias=ips) --bias bias.tsv --out bias.tsv"),
    ("train", "--out", "train train.txt --teacher m.model --learner mart --out m.model"),
    (
        "train",
        "--out",
        "train train.txt --teacher m.model --unlabelled valid.txt --learner mart --out valid.txt",
    ),
    ("train", "--checkpoint", "train c/checkpoint.model --learner mart --checkpoint c --out n"),
    ("cv", "--per-query", "cv train.txt --learner mart --per-query train.txt"),
    ("cv", "--per-query", "cv train.txt --learner blend(members=file:m.model) --per-query m.model"),
    ("tune", "--out", "tune train.txt --valid valid.txt --learner mart --out valid.txt"),
    ("tune", "--log", "tune train.txt --valid valid.txt --learner mart --log train.txt"),
    (
        "tune",
        "--out",
        "tune train.txt --learner mart(bias=ips) --space leaves=int(2,4) --bias ranks.txt --out ranks.txt",
    ),
    (
        "cv",
        "--per-query",
        "cv train.txt --learner mart(bias=ips) --bias ranks.txt --per-query ranks.txt",
    ),
    ("tune", "--log", "tune train.txt --valid valid.txt --learner mart --log new --out new"),
    ("score", "--out", "score m.model valid.txt --out m.model"),
    ("score", "--out", "score m.model train.txt --out hard.csv"),
    ("eval", "--per-query", "eval m.model valid.txt --per-query valid.txt"),
    ("eval", "--per-query", "eval m.model valid.txt --per-query ./m.model"),
    ("eval", "--per-query", "eval --scores scores valid.txt --per-query scores"),
    ("eval", "--per-query", "eval --run a.run --qrels qrels --per-query qrels"),
    ("compare", "--per-query", "compare valid.txt m.model --scores scores --per-query m.model"),
    ("compare", "--per-query", "compare --qrels qrels a.run b.run --per-query a.run"),
    ("compare", "--html", "compare --qrels qrels a.run b.run --html b.run"),
    ("compare", "--html", "compare --qrels qrels a.run b.run --html new --per-query new"),
    ("explain", "--html", "explain m.model valid.txt --query 1 --html m.model"),
    ("model inspect", "--svg", "model inspect m.model --svg m.model"),
    ("model inspect", "--svg", "model inspect m.model --data valid.txt --svg valid.txt"),
    ("model convert", "", "model convert m.model --to lightgbm m.model"),
    ("model convert", "--out", "model convert m.model --to lightgbm --out m.model"),
    ("report train", "--out", "report train m.model train.txt --out train.txt"),
    ("report train", "--out", "report train m.model train.txt --out m.model.log.json"),
    ("report shrinkage", "--out", "report shrinkage train.txt --out train.txt"),
    ("report tradeoff", "--out", "report tradeoff train.txt --second p@5 --out train.txt"),
    ("report compare", "--out", "report compare --qrels qrels a.run b.run --out qrels"),
    ("report data", "--out", "report data train.txt --out train.txt"),
    ("report data", "--assets", "report data sizes.csv --out new.html --assets ."),
    ("experiment", "--out", "experiment x.toml --out ."),
    ("experiment", "--out", "experiment sides.toml --out sides"),
    ("experiment", "--out", "experiment plots.toml --out old"),
    ("index", "--out", "index docs.jsonl --out docs.jsonl"),
    ("run", "--out", "run shop --queries queries.tsv --out queries.tsv"),
    ("run", "--out", "run shop --queries queries.tsv --out shop/index.json"),
    ("run", "--out", "run shop --queries queries.tsv --model text.model --out f.csv"),
    ("features", "--out", "features shop --queries queries.tsv --out queries.tsv"),
    (
        "features",
        "--out",
        "features shop --queries queries.tsv --features bm25,run(file=f.csv) --out f.csv",
    ),
    ("features", "--out", "features shop --queries queries.tsv --features set.toml --out f.csv"),
    ("features", "--out", "features shop --queries queries.tsv --features text.csv --out f.csv"),
    ("clicks pairs", "--out", "clicks pairs log.jsonl --out log.jsonl"),
    ("clicks counts", "--out", "clicks counts log.jsonl --out log.jsonl"),
    ("clicks convert", "--out", "clicks convert log.jsonl --to lists --out log.jsonl"),
    ("interleave", "--out", "interleave a.run b.run --out b.run"),
    ("interleave", "--out", "interleave a.run b.run --requests queries.tsv --out queries.tsv"),
    ("interleave simulate", "--out", "interleave simulate a.run --qrels qrels --out a.run"),
    ("interleave simulate", "--out", "interleave simulate a.run --qrels qrels --out qrels"),
    ("interleave score", "--html", "interleave score log.jsonl --lists f.csv --html log.jsonl"),
    ("interleave score", "--html", "interleave score log.jsonl --lists f.csv --html f.csv"),
    (
        "judge prompts",
        "--out",
        "judge prompts a.run b.run --queries queries.tsv --documents docs.jsonl --out docs.jsonl",
    ),
    (
        "judge prompts",
        "--out",
        "judge prompts a.run b.run --queries queries.tsv --index shop --template pairs --out pairs",
    ),
    ("judge read", "--out", "judge read log.jsonl --out log.jsonl"),
    ("judge read", "--out", "judge read scores --prompts log.jsonl --out log.jsonl"),
    ("judge aggregate", "--out", "judge aggregate pairs --out pairs"),
    ("clicks labels", "--out", "clicks labels log.jsonl --features sizes.csv --out sizes.csv"),
    ("clicks labels", "--out", "clicks labels sizes.csv --features train.txt --out sizes.csv"),
    (
        "clicks labels",
        "--out",
        "clicks labels log.jsonl --from ips --bias sizes.csv --features train.txt --out sizes.csv",
    ),
    ("clicks simulate", "--out", "clicks simulate train.txt --by-feature 1 --out train.txt"),
    ("clicks simulate", "--out", "clicks simulate train.txt m.model --out m.model"),
    ("report clicks", "--out", "report clicks log.jsonl --out log.jsonl"),
    ("report clicks", "--out", "report clicks log.jsonl --features sizes.csv --out sizes.csv"),
    ("report clicks", "--assets", "report clicks ranks.json --out new.html --assets ."),
    (
        "classify",
        "--out",
        "classify docs.jsonl --label genre --apply other.jsonl --out other.jsonl",
    ),
];

/// Inputs as the file of log lines, which every command has: named by an argument, beside one, or
/// only in a spec.
const LOGS: &[&str] = &[
    "train train.txt --learner mart --out n --log-file train.txt",
    "train train.txt --learner mart --out n --log-file hard.csv",
    "train train.txt --learner mart --out n --log-file train.txt.weight",
    "train train.txt --learner mart --out n --log-file n",
    "train empty --learner mart --out n --log-file empty",
    "train none --learner mart --out n --log-file none",
    "train train.txt --learner blend(members=file:m.model+ranksvm) --out n --log-file m.model",
    "data convert train.txt new.csv --log-file new.csv",
    "data inspect link.txt --json --log-file link.txt",
    "score m.model valid.txt --log-file m.model",
    "eval --run a.run --qrels qrels --log-file qrels",
    "experiment x.toml --out new --log-file table.md",
    "index docs.jsonl --out new --log-file docs.jsonl",
    "features shop --queries queries.tsv --features set.toml --out new --log-file f.csv",
    "search shop jazz --log-file shop/rankwright.json",
    "clicks inspect log.jsonl --log-file log.jsonl",
];

/// Outputs that cannot be an input: there is none, or it is a new folder.
const WITHOUT_INPUT: [(&str, &str); 7] = [
    ("man", "--out"),
    ("lecture", "--html"),
    ("lecture", "--assets"),
    ("demo", "--out"),
    ("data generate letor", "--out"),
    ("data generate store", "--out"),
    ("data generate homepages", "--out"),
];

/// The outputs of pages share the code of those above.
const SHARED: [(&str, &str); 7] = [
    ("interleave score", "--assets"),
    ("compare", "--assets"),
    ("explain", "--assets"),
    ("report train", "--assets"),
    ("report shrinkage", "--assets"),
    ("report tradeoff", "--assets"),
    ("report compare", "--assets"),
];

/// The flags that name outputs.
const FLAGS: [&str; 7] =
    ["--out", "--per-query", "--svg", "--html", "--assets", "--log", "--checkpoint"];

/// The flag of every command that names an output.
const SHARED_FLAG: &str = "--log-file";

/// A folder with an input of every kind.
fn inputs() -> Bench {
    let bench = bench();
    let documents: String = (0..8)
        .map(|n| {
            format!("{{\"id\": \"d{n}\", \"text\": \"jazz {n}\", \"genre\": \"g{}\"}}\n", n % 2)
        })
        .collect();
    let scores: String =
        (0..bench.text("valid.txt").lines().count()).map(|n| format!("{n}\n")).collect();
    bench
        .put("docs.jsonl", &documents)
        .put("other.jsonl", &documents)
        .put("queries.tsv", "q1\tjazz\n")
        .put("log.jsonl", "{\"query\": \"q\", \"docs\": [\"a\"], \"clicks\": [1]}\n")
        .put("ranks.txt", "1 1\n2 0.5\n")
        .put("ranks.json", "{\"query\": \"q\", \"docs\": [\"a\"], \"clicks\": [1]}\n")
        .put("qrels", "q1 0 d1 1\nq1 0 d2 0\n")
        .put("a.run", "q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 a\n")
        .put("b.run", "q1 Q0 d2 1 2 b\nq1 Q0 d1 2 1 b\n")
        .put("f.csv", "q1 Q0 d1 1 2 a\n")
        .put("scores", &scores)
        .put("pairs", "1 0 1\n")
        .put("bias.tsv", "1 1\n")
        .put("empty", "")
        .put("sizes.csv", "qid,label,x\n1,0,1\n1,1,2\n2,0,3\n2,1,1\n")
        .put("table.md", &bench.text("valid.txt"))
        .put("x.toml", "name = \"x\"\nmetrics = [\"ndcg@10\"]\n[[data]]\nname = \"d\"\n\
             train = \"train.txt\"\ntest = \"table.md\"\n[[learner]]\nname = \"l\"\nspec = \"mart\"\n")
        .put("set.toml", "features = [\"bm25\", \"run(file=f.csv)\"]\n");
    // Weights of the data that are a file of the report, and a plot that leads to the data.
    fs::create_dir_all(bench.path("old/plots")).unwrap();
    fs::create_dir(bench.path("sides")).unwrap();
    bench.put("sides/table.md", &"1\n".repeat(bench.text("train.txt").lines().count()));
    std::os::unix::fs::symlink("sides/table.md", bench.path("train.txt.weight")).unwrap();
    std::os::unix::fs::symlink("../../valid.txt", bench.path("old/plots/curve.svg")).unwrap();
    for (file, test) in [("sides.toml", "table.md"), ("plots.toml", "valid.txt")] {
        let train = if file == "sides.toml" { "train.txt" } else { "table.md" };
        bench.put(
            file,
            &format!(
                "name = \"x\"\nmetrics = [\"ndcg@10\"]\n[[data]]\nname = \"d\"\n\
             train = \"{train}\"\ntest = \"{test}\"\n[[learner]]\nname = \"l\"\nspec = \"mart\"\n"
            ),
        );
    }
    bench.put("p.log.json", &bench.text("train.txt"));
    bench.put("m.partial", &bench.text("train.txt"));
    fs::create_dir(bench.path("c")).unwrap();
    bench.put("c/checkpoint.model", &bench.text("train.txt"));
    fs::hard_link(bench.path("train.txt"), bench.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("train.txt", bench.path("link.txt")).unwrap();
    bench.run("train train.txt --learner mart(trees=2,leaves=4) --out m.model --quiet").ok();
    bench.run("index docs.jsonl --out shop --quiet").ok();
    let features = "features shop --queries queries.tsv --qrels qrels --features set.toml";
    bench.run(&format!("{features} --out text.csv --quiet")).ok();
    bench.run("train text.csv --learner mart(trees=1,min_rows=1) --out text.model --quiet").ok();
    bench
}

/// All files below a folder, with their content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    found
}

#[test]
fn no_output_of_any_command_replaces_an_input() {
    let bench = inputs();
    // A file of the index under a name that is known here.
    let of_index = fs::read_dir(bench.path("shop")).unwrap().map(|entry| entry.unwrap().path());
    let of_index = of_index.into_iter().find(|path| path.is_file()).unwrap();
    let before = contents(&bench.path(""));
    for (command, flag, line) in LINES {
        let of_index = format!("shop/{}", of_index.file_name().unwrap().to_str().unwrap());
        let ran = bench.run(&line.replace("shop/index.json", &of_index));
        let error = ran.err();
        assert!(
            ran.code() == 1 || ran.code() == 2,
            "{command} {flag}: {line}\n{}{error}",
            ran.out()
        );
        let is_refused = error.contains("would be written over the input")
            || error.contains("two results would be written to");
        assert!(is_refused, "{line}\n{error}");
        let after = contents(&bench.path(""));
        let changed = before.iter().find(|(path, content)| after.get(*path) != Some(*content));
        assert!(changed.is_none(), "{line}\nchanged {:?}", changed.map(|(path, _)| path));
    }
}

#[test]
fn log_lines_are_not_appended_to_an_input() {
    let bench = inputs();
    let before = contents(&bench.path(""));
    for line in LOGS {
        let ran = bench.run(line);
        let error = ran.err();
        assert!(ran.code() == 1 || ran.code() == 2, "{line}\n{}{error}", ran.out());
        let is_refused = error.contains("would be written over the input")
            || error.contains("two results would be written to")
            || error.contains("is not a log file");
        assert!(is_refused, "{line}\n{error}");
        assert_eq!(contents(&bench.path("")), before, "{line}");
    }
    // A click log is an input, although `tune --log` is an output.
    let error = bench.run("clicks inspect log.jsonl --log-file log.jsonl").err();
    assert!(error.contains("log.jsonl would be written over the input log.jsonl"), "{error}");
    // Standard input.
    let ran = command(&bench, &["score", "m.model", "-", "--log-file", "valid.txt"])
        .stdin(fs::File::open(bench.path("valid.txt")).unwrap())
        .output()
        .unwrap();
    let error = String::from_utf8(ran.stderr).unwrap();
    assert!(error.contains("valid.txt would be written over the input -"), "{error}");
    assert_eq!(contents(&bench.path("")), before);
}

#[test]
fn a_log_is_appended_to_also_in_another_form_and_in_a_folder_of_results() {
    let bench = inputs();
    fs::create_dir(bench.path("results")).unwrap();
    bench.put("results/log", "");
    for (number, form) in ["", " --json", ""].into_iter().enumerate() {
        let line = "data split train.txt --parts a=0.5,b=0.5 --out results --force";
        bench.run(&format!("{line}{form} --log-file results/log")).ok();
        let log = bench.text("results/log");
        assert_eq!(log.matches("data split").count(), number + 1, "{log}");
    }
}

#[test]
fn a_file_on_standard_input_is_not_replaced_either() {
    let bench = inputs();
    let before = bench.text("valid.txt");
    let ran = command(&bench, &["score", "m.model", "-", "--out", "valid.txt"])
        .stdin(fs::File::open(bench.path("valid.txt")).unwrap())
        .output()
        .unwrap();
    let error = String::from_utf8(ran.stderr).unwrap();
    assert!(error.contains("would be written over the input -"), "{error}");
    assert_eq!(bench.text("valid.txt"), before);
}

#[test]
fn the_start_model_may_be_replaced_by_the_model_that_is_trained_from_it() {
    let bench = inputs();
    let line = "train train.txt --start m.model --learner mart(trees=2,leaves=4) --out m.model";
    bench.run(line).ok();
    // An incomplete model of an earlier training.
    fs::copy(bench.path("m.model"), bench.path("n.partial")).unwrap();
    let line = "train train.txt --start n.partial --learner mart(trees=2,leaves=4) --out n";
    bench.run(line).ok();
}

/// Every command with its help.
fn commands(bench: &Bench, command: &str, found: &mut BTreeMap<String, String>) {
    let help = bench.run(&format!("{command} --help")).ok().out();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names: Vec<String> = listed
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect();
    for name in &names {
        commands(bench, format!("{command} {name}").trim(), found);
    }
    if names.is_empty() {
        found.insert(command.to_owned(), help);
    }
}

#[test]
fn the_test_above_knows_every_output_of_every_command() {
    let bench = Bench::new();
    let mut found = BTreeMap::new();
    commands(&bench, "", &mut found);
    assert!(found.len() > 20, "{:?}", found.keys());
    let known = LINES.iter().map(|(command, flag, _)| (*command, *flag));
    let known: BTreeSet<(&str, &str)> = known.chain(WITHOUT_INPUT).chain(SHARED).collect();
    for (command, help) in &found {
        assert!(help.contains(SHARED_FLAG), "{command}: the option of every command is not there");
        for flag in FLAGS {
            let is_there = help.lines().any(|line| {
                line.trim_start().split([' ', ',']).any(|word| word == flag)
                    && line.trim_start().starts_with('-')
            });
            assert!(
                !is_there || known.contains(&(command, flag)),
                "{command} {flag} is not tested"
            );
        }
    }
}
