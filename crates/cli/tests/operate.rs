//! The command as part of other programs: errors as JSON, logs, formats of scores, manual pages,
//! lists that fit the terminal, hints for names of other systems.

use serde_json::Value;

use crate::common::{Bench, Ran, bench, command, interrupted, train};

/// The error on the last line of standard error; standard output must be empty.
fn error(ran: &Ran) -> Value {
    assert_eq!(ran.out(), "", "{}", ran.err());
    let text = ran.err();
    let document: Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {text}"));
    let error = document["error"].clone();
    for key in ["kind", "message"] {
        assert!(error[key].is_string(), "{text}");
    }
    assert!(error["help"].is_string() || error["help"].is_null(), "{text}");
    assert_eq!(error["exit_code"], ran.code(), "{text}");
    error
}

#[test]
fn every_error_under_json_is_one_line_of_json_with_the_same_shape() {
    let bench = bench();
    bench.put("broken.txt", "0 qid:1 1:x\n").put("empty.txt", "");
    for (line, code, kind) in [
        ("eval m.model lost.txt --json", 1, "io"),
        ("train broken.txt --learner mart --out m.model --json", 1, "malformed"),
        ("train empty.txt --learner mart --out m.model --json", 1, "empty"),
        ("train train.txt --learner mrt --out m.model --json", 1, "unknown-name"),
        ("train train.txt --learner mart(x=1) --out m.model --json", 1, "unknown-key"),
        ("train train.txt --learner mart --out - --json", 2, "usage"),
        ("--json", 2, "usage"),
        ("eval --json --nonsense", 2, "usage"),
        ("train train.txt --measure-training --json", 2, "usage"),
        ("train train.txt --learning-rate 0.1 --json", 2, "usage"),
        ("data inspect train.txt --threads many --json", 2, "usage"),
    ] {
        let ran = bench.run(line);
        assert_eq!((error(&ran)["kind"].as_str(), ran.code()), (Some(kind), code), "{line}");
    }
    let renamed = error(&bench.run("train train.txt --measure-training --json"));
    assert!(renamed["message"].as_str().unwrap().contains("--eval-train"), "{renamed}");
    // Without --json errors are text.
    let plain = bench.run("train train.txt --learner mrt --out m.model");
    assert!(plain.err().starts_with("error: unknown learner"), "{}", plain.err());
}

#[test]
fn an_interruption_under_json_is_json_too() {
    let bench = bench();
    let words =
        ["train", "train.txt", "--learner", "lambdamart(trees=1000000)", "--out", "m.model"];
    let ran = interrupted(&bench, &[&words[..], &["--json"]].concat());
    assert_eq!(ran.code(), 130, "{}", ran.err());
    let error = error(&ran);
    assert_eq!(error["kind"], "training-stopped", "{error}");
    assert_eq!(error["help"], "run the same command again to resume", "{error}");
}

#[test]
fn parameters_of_other_systems_are_refused_with_their_names_here() {
    let bench = bench();
    let err = |line: &str| {
        let ran = bench.run(line);
        assert_ne!(ran.code(), 0, "{line}");
        ran.err()
    };
    let text = err("train train.txt --learner lambdamart(num_leaves=7) --out m.model");
    assert!(text.contains("`lambdamart` has no parameter `num_leaves`: it is called `leaves`"));
    assert!(!text.contains("known:"), "{text}");
    let text = err("train train.txt --num-leaves 31 --learner mart --out m.model");
    assert!(text.contains("--learner 'lambdamart(leaves=...)'"), "{text}");
    let text = err("train train.txt --leaves 31 --learner mart --out m.model");
    assert!(
        text.contains("a parameter of a learner: --learner 'lambdamart(leaves=...)'"),
        "{text}"
    );
    // A parameter that only nets have.
    let text = err("train train.txt --epochs 5 --learner ranknet --out m.model");
    assert!(
        text.contains("a parameter of a learner: --learner 'lambdarank(epochs=...)'"),
        "{text}"
    );
    let text = err("train train.txt --random-state 3 --learner mart --out m.model");
    assert!(text.contains("give --seed N"), "{text}");
    let text = err("eval --scores s train.txt --num-leaves 31");
    assert!(text.contains("unexpected argument"), "{text}");
}

#[test]
fn steps_are_printed_and_logged_where_requested_and_results_stay_alone() {
    let bench = bench();
    train(&bench, "mart(trees=20, leaves=4)", "");
    let quiet = bench.run("eval m.model valid.txt").ok();
    assert_eq!(quiet.err(), "");
    let verbose = bench.run("eval m.model valid.txt -v --log-file steps.log").ok();
    assert_eq!(verbose.out(), quiet.out());
    let steps = verbose.err();
    assert!(steps.lines().all(|line| line.starts_with('[') && line.contains(" s] ")), "{steps}");
    for part in ["rankwright 0.", "reading valid.txt", "scoring", "evaluating", "done in"] {
        assert!(steps.contains(part), "{part}: {steps}");
    }
    // The log is appended to, in JSON under --json, and has errors.
    bench.run("eval m.model valid.txt --log-file steps.log").ok();
    bench.run("eval m.model lost.txt --log-file steps.log");
    let log = bench.text("steps.log");
    assert_eq!(log.lines().filter(|line| line.contains("info    done in")).count(), 2, "{log}");
    let last = log.lines().last().unwrap();
    assert!(last.contains("error   ") && last.contains("lost.txt"), "{last}");
    assert!(last.starts_with("20") && last.contains("T"), "{last}");
    bench.run("eval m.model valid.txt --log-file steps.jsonl --json").ok();
    for line in bench.text("steps.jsonl").lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry["time"].as_str().unwrap().ends_with('Z') && entry["message"].is_string());
    }
    let words = "train train.txt --learner mart(trees=20) --valid valid.txt --out v.model";
    let rounds = |flag: &str| {
        let text = bench.run(&format!("{words} {flag}")).ok().err();
        text.lines().filter(|line| line.contains("] tree ")).count()
    };
    assert_eq!((rounds("-v"), rounds("-vv")), (10, 20));
    assert_eq!(bench.run("eval m.model valid.txt -v -q").code(), 2);
    let unwritable = bench.run("eval m.model valid.txt --log-file no/where.log");
    assert!(unwritable.err().contains("cannot open the log file no/where.log"));
}

#[test]
fn scores_are_written_with_ids_as_tables_and_as_runs() {
    let bench = bench();
    bench.put("ids.csv", "qid,docid,label,a\nq1,d1,1,0.5\nq2,x,0,0.1\nq1,d2,0,0.7\nq2,y,2,0.9\n");
    bench.run("train ids.csv --learner linear(weights=a:1) --out a.model").ok();
    assert_eq!(bench.run("score a.model ids.csv").ok().out().lines().count(), 4);
    let table = bench.run("score a.model ids.csv --with-ids").ok().out();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows[0], ["qid", "docid", "score"]);
    assert_eq!(
        (rows[1][1], rows[2][1], rows[3][1]),
        ("d1", "x", "d2"),
        "in the order of the input"
    );
    let score: f64 = rows[3][2].parse().unwrap();
    assert_eq!(score as f32, 0.7);

    // A run that our own evaluation reads, in the order of the scores.
    bench.run("score a.model ids.csv --out a.run --tag mine").ok();
    let run = bench.text("a.run");
    let first: Vec<&str> = run.lines().next().unwrap().split(' ').collect();
    assert_eq!((first[0], first[2], first[3], first[5]), ("q1", "d2", "1", "mine"));
    bench.put("qrels", "q1 0 d1 1\nq1 0 d2 0\nq2 0 y 2\n");
    let of_run = bench.run("eval --run a.run --qrels qrels --metric ap --json").json();
    let of_model = bench.run("eval a.model ids.csv --metric ap --json").json();
    assert_eq!(of_run["metrics"][0]["value"], of_model["metrics"][0]["value"]);

    for (file, start) in
        [("s.parquet", &b"PAR1"[..]), ("s.arrow", b"ARROW1"), ("s.jsonl", b"{\"qid\"")]
    {
        let message = bench.run(&format!("score a.model ids.csv --out {file}")).ok().out();
        assert!(message.starts_with(&format!("{file}: 4 scores, as ")), "{message}");
        assert!(std::fs::read(bench.path(file)).unwrap().starts_with(start), "{file}");
    }
    let csv = bench.run("score a.model ids.csv --to csv").ok().out();
    assert_eq!(csv.lines().next(), Some("qid,docid,score"));
    let refused = bench.run("score|a.model|ids.csv|--out|a.run|--tag|two words");
    assert!(refused.code() == 2 && refused.err().contains("one word"), "{}", refused.err());
}

#[test]
fn scores_are_part_of_the_json_document_unless_a_file_has_them() {
    let bench = bench();
    train(&bench, "mart(trees=3)", "");
    let found = bench.run("score m.model valid.txt --json").json();
    let count = found["rows"].as_u64().unwrap() as usize;
    assert_eq!(found["scores"].as_array().unwrap().len(), count);
    let lines = bench.run("score m.model valid.txt").ok().out();
    let first: f64 = lines.lines().next().unwrap().parse().unwrap();
    assert_eq!(found["scores"][0].as_f64(), Some(first));
    assert!(found["query_ids"].is_null());
    let named = bench.run("score m.model valid.txt --json --with-ids").json();
    assert_eq!(named["query_ids"].as_array().unwrap().len(), count);
    assert_eq!(named["doc_ids"][1], "1", "rows without ids have their number");
    let written = bench.run("score m.model valid.txt --json --out s.txt").json();
    assert!(
        written["scores"].is_null() && written["out"] == "s.txt" && written["format"] == "scores"
    );
    assert_eq!(bench.text("s.txt"), lines);
}

/// Runs the command as on a terminal of this many columns.
fn with_columns(bench: &Bench, words: &[&str], columns: &str) -> String {
    let mut command = command(bench, words);
    Ran(command.env("COLUMNS", columns).output().unwrap()).ok().out()
}

#[test]
fn lists_fit_the_terminal_and_one_entry_is_shown_whole() {
    let bench = Bench::new();
    for what in ["learners", "objectives", "metrics", "features", "first-stages", "formats"] {
        for columns in ["80", "120"] {
            let text = with_columns(&bench, &["list", what], columns);
            let most: usize = columns.parse().unwrap();
            let wide = text.lines().find(|line| line.chars().count() > most);
            assert_eq!(wide, None, "{what}");
        }
        // Lines of a pipe are whole, so that they can be searched.
        let whole = bench.run(&format!("list {what}")).ok().out();
        assert!(whole.lines().any(|line| line.chars().count() > 120), "{what}");
    }
    let one = bench.run("list learners lambdamart").ok().out();
    assert!(one.starts_with("lambdamart: ") && one.contains("truncation"), "{one}");
    assert!(!one.contains("ranknet"), "{one}");
    let json = bench.run("list learners lambdamart --json").json();
    assert_eq!(json["name"], "lambdamart");
    for line in [
        "list metrics ndcg",
        "list metrics iprec",
        "list objectives lambda",
        "list features bm25",
        "list first-stages bm25",
    ] {
        let ran = bench.run(line);
        assert!(ran.code() == 0 || line.contains("objectives"), "{line}: {}", ran.err());
    }
    let unknown = bench.run("list learners lamdamart");
    assert!(unknown.code() == 1 && unknown.err().contains("did you mean `lambdamart`?"));
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let bench = Bench::new();
    let message = bench.run("man --out pages").ok().out();
    assert!(message.starts_with("pages: "), "{message}");
    for (page, part) in [
        ("rankwright.1", "rankwright\\-train(1)"),
        ("rankwright-train.1", "\\-\\-checkpoint"),
        ("rankwright-data-inspect.1", "\\-\\-columns"),
    ] {
        let text = bench.text(&format!("pages/{page}"));
        assert!(text.contains(".TH") && text.contains(part), "{page}: {text}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.run(&format!("completions {shell}")).ok().out();
        assert!(script.contains("log-file"), "{shell}");
    }
}

#[test]
fn a_note_names_the_metrics_that_ties_decide() {
    let bench = bench();
    bench.run("train valid.txt --learner linear(weights=127:0) --out flat.model");
    let rows = bench.run("data inspect valid.txt --json").json()["rows"].as_u64().unwrap();
    bench.put("flat.txt", &"1\n".repeat(rows as usize));
    let text = bench.run("eval --scores flat.txt valid.txt --metric ndcg@10").ok().out();
    assert!(text.contains("ties: equal scores decide ndcg@10 in "), "{text}");
    assert!(text.contains("(ties=worst here)"), "{text}");
    let json = bench.run("eval --scores flat.txt valid.txt --metric ndcg@10 --json").json();
    let ties = &json["metrics"][0]["ties"];
    assert!(ties["low"].as_f64() < ties["high"].as_f64() && ties["queries"].is_u64(), "{json}");
    train(&bench, "mart(trees=30)", "");
    bench.run("score m.model valid.txt --out good.txt").ok();
    let both = bench.run("compare valid.txt --scores flat.txt --scores good.txt").ok().out();
    let lines = both.lines().filter(|line| line.starts_with("ties: ")).collect::<Vec<_>>();
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line.starts_with("ties: flat.txt: ")),
        "{both}"
    );
}

#[test]
fn trial_0_says_what_was_added_and_explanations_what_is_left_out() {
    let bench = bench();
    let tuned = bench
        .run("tune train.txt --valid valid.txt --learner mart(trees=5) --trials 2 --space leaves=int(2,4)")
        .ok()
        .out();
    assert!(tuned.contains("trial 0 is the learner as given, with stop=50"), "{tuned}");
    train(&bench, "mart(trees=3)", "");
    let query =
        bench.text("valid.txt").split("qid:").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ran = bench.run(&format!("explain m.model valid.txt --query {query}")).ok();
    assert!(ran.out().contains("Shown: the first 3 of 60 documents."), "{}", ran.out());
    assert!(ran.err().contains("--documents N"), "{}", ran.err());
    let more =
        bench.run(&format!("explain m.model valid.txt --query {query} --documents 1000")).ok();
    assert!(!more.out().contains("Shown:"), "{}", more.out());
}

#[test]
fn a_linear_model_of_transformed_features_is_refused_by_its_own_name() {
    let bench = bench();
    train(&bench, "linear-regression(transform=rank)", "");
    let ran = bench.run("model convert m.model --to ranklib --out m.txt");
    assert!(ran.err().contains("a linear model whose features are transformed"), "{}", ran.err());
    assert!(!ran.err().contains("a net"), "{}", ran.err());
    train(&bench, "linear-regression(transform=standard)", "");
    bench.run("model convert m.model --to ranklib --out m.txt").ok();
}

#[test]
fn every_key_of_a_result_is_on_the_page_of_results() {
    let bench = bench();
    train(&bench, "mart(trees=3)", "");
    let page =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/results.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (command, line) in [
        ("train", "train train.txt --learner mart(trees=2) --valid valid.txt --out t.model"),
        ("eval", "eval m.model valid.txt"),
        ("compare", "compare valid.txt m.model t.model"),
        ("score", "score m.model valid.txt --with-ids"),
        ("cv", "cv train.txt --learner mart(trees=2) --folds 2"),
        ("data inspect", "data inspect train.txt"),
        ("data convert", "data convert train.txt train.rwd"),
        ("data split", "data split train.txt --out parts"),
        ("model inspect", "model inspect m.model"),
        ("model convert", "model convert m.model --to lightgbm --out m.lgb"),
    ] {
        let heading = format!("## `{command}`\n");
        let section = page.split(&heading).nth(1).unwrap_or_else(|| panic!("no section {command}"));
        let section = section.split("\n## ").next().unwrap();
        let keys: Vec<&str> = section
            .lines()
            .filter_map(|row| row.strip_prefix("| `")?.split('`').next())
            .flat_map(|keys| keys.split(", "))
            .map(|key| key.split(['.', '[']).next().unwrap())
            .collect();
        let found = bench.run(&format!("{line} --json")).json();
        for key in found.as_object().unwrap().keys() {
            assert!(keys.contains(&key.as_str()), "{command}: {key} is not among {keys:?}");
        }
    }
}

#[test]
fn scores_with_ids_are_evaluated_and_compared() {
    let bench = bench();
    train(&bench, "mart(trees=5)", "");
    bench.run("score m.model valid.txt --out scores.txt").ok();
    bench.run("score m.model valid.txt --out scores.csv").ok();
    bench.run("score m.model valid.txt --out scores.tsv").ok();
    bench.run("score m.model valid.txt --out scores.jsonl").ok();
    // Another order of rows: the ids decide.
    let table = bench.text("scores.csv");
    let (header, rows) = table.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    bench.put("reversed.csv", &format!("{header}\n{}\n", rows.join("\n")));
    let plain = bench.run("eval --scores scores.txt valid.txt --json").ok().out();
    for name in ["scores.csv", "scores.tsv", "scores.jsonl", "reversed.csv"] {
        let found = bench.run(&format!("eval --scores {name} valid.txt --json")).ok().out();
        assert_eq!(found, plain, "{name}");
    }
    let both = "compare valid.txt m.model --scores scores.csv --metric ndcg@10 --json";
    let found = bench.run(both).json().to_string();
    assert!(found.contains("scores"), "{found}");

    let error = bench.run("compare valid.txt m.model scores.csv").err();
    assert!(error.contains("scores.csv has scores with ids"), "{error}");
    assert!(error.contains("help: give files of scores with --scores FILE"), "{error}");
    let error = bench.run("compare valid.txt m.model scores.txt").err();
    assert!(error.contains("--scores FILE"), "{error}");
}

/// `... | head` closes the pipe while scores are written.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_error_in_any_format_of_scores() {
    let bench = bench();
    train(&bench, "mart(trees=5)", "");
    for options in ["", "--with-ids", "--to csv", "--to jsonl", "--to run"] {
        // Standard output is closed before the first row is written.
        let line = format!(
            "mkfifo p; (rankwright score m.model train.txt {options} > p; echo $? > code) & \
             exec 3< p; exec 3<&-; wait; rm p; cat code"
        );
        let ran = bench.shell(&line);
        assert_eq!((ran.out().trim(), ran.err().as_str()), ("0", ""), "{options}");
    }
}

/// A night was killed, and the next export is there: the script of the page trains again.
#[cfg(unix)]
#[test]
fn the_nightly_script_goes_on_after_a_kill_and_a_new_export() {
    let page = include_str!("../../../docs/howto/nightly.md");
    let (_, script) = page.split_once("cat > nightly.sh <<'END'\n").unwrap();
    let (script, _) = script.split_once("END\n").unwrap();
    let bench = Bench::new();
    bench.shell("mkdir data models").ok();
    let generate = |name: &str, seed: usize| {
        let line = format!(
            "data generate letor --queries 60 --documents 10 --seed {seed} --out data/{name}.rwd"
        );
        bench.run(&line).ok();
    };
    for (name, seed) in [("train", 1), ("valid", 2), ("test", 3)] {
        generate(name, seed);
    }
    // The folder of a training on the old data, as a kill leaves it behind.
    let learner = "lambdamart(trees=60, leaves=15, stop=10)";
    let line = format!(
        "train|data/train.rwd|--valid|data/valid.rwd|--checkpoint|state|--checkpoint-trees|5|\
         --learner|{learner}|--out|old.model"
    );
    bench.run(&line).ok();
    assert!(bench.path("state").exists());
    generate("train", 11);
    let error = bench.run(&line.replace("old.model", "new.model")).err();
    assert!(error.contains("belongs to a training with other data"), "{error}");

    bench.put("nightly.sh", script);
    let ran = bench.shell("export PATH=\"$(dirname \"$COMMAND\"):$PATH\"; sh nightly.sh").ok();
    assert_eq!(ran.out(), "models/current.model is new\n", "{}", ran.err());
    assert!(!bench.path("state").exists());
}

#[test]
fn values_of_queries_are_separated_by_commas_in_a_csv_file() {
    let bench = bench();
    train(&bench, "mart(trees=5)", "");
    bench.run("eval m.model valid.txt --metric ndcg@10 --per-query a.csv").ok();
    bench.run("eval m.model valid.txt --metric ndcg@10 --per-query a.tsv").ok();
    assert!(bench.text("a.csv").starts_with("metric,query,value\nndcg@10,"));
    assert_eq!(bench.text("a.csv").replace(',', "\t"), bench.text("a.tsv"));
}
