//! Unit tests of experiments: the file, digests, stored cells, and that interruptions do not change
//! the results.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rankwright_data::format::{Format, write};
use rankwright_data::generate::LetorOptions;
use rankwright_learn::NoProgress;
use rankwright_report::PageBlock;
use tempfile::TempDir;

use super::*;

/// An experiment of 15 cells: three folds, two learners with two seeds each and one without a seed.
pub(super) const FILE: &str = r#"
name = "small"
metrics = ["ndcg@5", "ap"]
seeds = [1, 2]

[[data]]
name = "made"
generate = "letor(queries=24, documents=8)"
folds = 3

[[learner]]
name = "mart"
spec = "mart(trees=6, leaves=4, min_rows=2, sample_queries=0.5)"

[[learner]]
name = "lambdamart"
spec = "lambdamart(trees=8, leaves=4, min_rows=2, sample_queries=0.5, stop=4)"

[[learner]]
name = "bm25"
feature = 22
"#;

pub(super) fn parse(text: &str) -> Result<Experiment, crate::ExperimentError> {
    Experiment::parse(text, "x.toml", Path::new("."), &|_| None)
}

fn experiment(text: &str, folder: &Path) -> Experiment {
    Experiment::parse(text, "x.toml", folder, &|_| None).unwrap()
}

pub(super) fn options() -> PlanOptions {
    PlanOptions { jobs: Some(1), threads: 2, ..PlanOptions::default() }
}

/// Runs to the end; returns the report.
pub(super) fn run(experiment: &Experiment, out: &Path, options: &PlanOptions) -> ExperimentReport {
    let plan = Plan::new(experiment, out, options).unwrap();
    let run = plan.run(&NoProgress).unwrap();
    assert!(run.finished);
    ExperimentReport::new(&plan, &run).unwrap()
}

/// All contents of a report that must not change from run to run.
fn content(report: &ExperimentReport) -> String {
    let ExperimentReport { page, results, markdown, per_query, plots, .. } = report;
    let results = to_json(results).unwrap();
    format!("{page:?}{results}{markdown}{per_query}{plots:?}")
}

/// The digests of all cells.
pub(super) fn digests(text: &str) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let experiment = parse(text).unwrap();
    let plan = Plan::new(&experiment, folder.path(), &options()).unwrap();
    plan.cells().iter().map(|cell| cell.digest.clone()).collect()
}

#[test]
fn errors_in_a_file_name_their_position() {
    for (original, replacement, parts) in [
        ("seeds", "sedes", &["x.toml, line 4, column 1", "`seeds`?", "baseline"][..]),
        ("folds = 3", "fold_sed = 3", &["line 9", "[[data]] has no", "`fold_seed`?"]),
        (
            "spec = \"mart",
            "specs = \"mart",
            &["line 13", "the keys are name, spec, grid, model, feature"],
        ),
        ("[[learner]]\nname = \"bm25\"", "[[lerner]]", &["line 19", "`learner`?"]),
        ("lambdamart(trees", "lamdamart(trees", &["line 17", "did you mean `lambdamart`?"]),
        ("trees=8", "tres=8", &["line 17", "`trees`?"]),
        ("\"ap\"", "\"app\"", &["line 3", "did you mean `ap`"]),
        ("[1, 2]", "[1, 1]", &["line 4", "seed 1 is given twice"]),
        ("[1, 2]", "[1, -2]", &["line 4, column 13", "expected a whole number, 0 or more"]),
        ("seeds", "baseline = \"mrat\"\nseeds", &["line 4", "did you mean `mart`?"]),
        ("seeds", "test = \"u\"\nseeds", &["line 4", "randomisation"]),
        ("seeds", "alpha = 2\nseeds", &["line 4", "alpha"]),
        ("folds = 3", "folds = 2", &["line 9", "at least 3 folds"]),
        ("folds = 3", "split = \"train=0.5,dev=0.5\"", &["train, valid and test, not dev"]),
        ("folds = 3", "folds = 3\nfiles = [\"a\"]", &["one of train, fold, folders"]),
        ("generate = \"letor(", "generate = \"store(", &["line 8", "letor"]),
        ("generate = \"letor(queries=24, documents=8)\"", "files = [\"${NO}/a\"]", &["NO, which"]),
        (
            "generate = \"letor(queries=24, documents=8)\"",
            "train = [\"a\"]",
            &["line 9", "cannot be used together with `train`"],
        ),
        ("feature = 22", "feature = 22\nspec = \"mart\"", &["line 21", "exactly one of `spec`"]),
        ("name = \"bm25\"", "name = \"mart\"", &["two learners are called `mart`"]),
        ("feature = 22", "spec = \"blend(members=file:a+mart)\"", &["write its spec instead"]),
        ("name = \"small\"", "name = 3", &["line 2, column 8", "integer `3`, expected a string"]),
        ("name = \"small\"", "name = ", &["x.toml, line 2"]),
        ("seeds", "metrics2 = 3\nseeds", &["the experiment has no key `metrics2`", "`metrics`?"]),
        ("folds = 3", "folds = 3\nabsent = \"none\"", &["line 10", "\"zero\" or \"missing\""]),
        ("folds = 3", "folds = 3\nformat = \"cvs\"", &["line 10, column 10", "csv"]),
        ("folds = 3", "folds = 3\ncolumns = \"a\"", &["line 10, column 11"]),
        ("documents=8", "documents=8, seed=2", &["line 8", "a key `seed` beside"]),
    ] {
        assert!(FILE.contains(original), "{original}");
        let error = parse(&FILE.replacen(original, replacement, 1)).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{replacement}: {error} has no {part}");
        }
    }
    assert!(parse("name = \"x\"").unwrap_err().to_string().contains("there is no learner"));
}

#[test]
fn parts_folders_and_fold_tables_give_their_folds() {
    let folds_of = |source: &str| {
        let text = FILE.replace("generate = \"letor(queries=24, documents=8)\"\nfolds = 3", source);
        let DataSource::Folds(folds) = &parse(&text).unwrap().data[0].source else { panic!() };
        let names = |files: &[FilePath]| {
            let names: Vec<&str> = files.iter().map(|file| file.written.as_str()).collect();
            names.join("+")
        };
        let name =
            |f: &FoldFiles| format!("{} {} {}", names(&f.train), names(&f.valid), names(&f.test));
        folds.iter().map(name).collect::<Vec<_>>()
    };
    let folds = folds_of("parts = [\"S{1..5}\"]");
    assert_eq!(
        folds,
        ["S1+S2+S3 S4 S5", "S2+S3+S4 S5 S1", "S3+S4+S5 S1 S2", "S4+S5+S1 S2 S3", "S5+S1+S2 S3 S4"]
    );
    let folds = folds_of("folders = \"Fold{1..2}\"");
    assert_eq!(folds[1], "Fold2/train.txt Fold2/vali.txt Fold2/test.txt");
    let folds = folds_of("[[data.fold]]\ntrain = [\"a\", \"b\"]\ntest = \"c\"");
    assert_eq!(folds, ["a+b  c"]);
}

#[test]
fn digests_cover_everything_that_determines_a_result_and_nothing_else() {
    let before = digests(FILE);
    assert_eq!(before.len(), 3 * (2 + 2 + 1));
    let distinct: std::collections::HashSet<&String> = before.iter().collect();
    assert_eq!(distinct.len(), before.len());
    for (original, replacement) in [
        ("name = \"small\"", "name = \"other\""),
        ("name = \"made\"", "name = \"other\""),
        ("name = \"mart\"", "name = \"other\""),
        (", \"ap\"", ", \"rr\""),
        ("seeds", "alpha = 0.01\nseeds"),
        ("mart(trees=6, leaves=4", "mart( leaves=4,trees=6"),
    ] {
        assert_eq!(digests(&FILE.replacen(original, replacement, 1)), before, "{replacement}");
    }
    // The number of digests that stay the same: all but those of the first learner; those of the
    // first seed and of the learner without a seed; none.
    for (original, replacement, kept) in [
        ("trees=6", "trees=7", 9),
        ("[1, 2]", "[1, 3]", 9),
        ("\"ndcg@5\"", "\"ndcg@4\"", 0),
        ("queries=24", "queries=25", 0),
        ("folds = 3", "folds = 3\nseed = 2", 0),
        ("folds = 3", "folds = 3\nfold_seed = 2", 0),
        ("folds = 3", "folds = 3\nabsent = \"missing\"", 0),
    ] {
        let after = digests(&FILE.replacen(original, replacement, 1));
        let same = after.iter().filter(|digest| before.contains(digest)).count();
        assert_eq!(same, kept, "{replacement}");
    }
}

#[test]
fn jobs_threads_and_a_second_run_do_not_change_the_report() {
    let experiment = parse(FILE).unwrap();
    let (folder, other_folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let first = run(&experiment, folder.path(), &options());
    assert!(first.failed.is_empty());
    let three_jobs = PlanOptions { jobs: Some(3), threads: 3, ..options() };
    let second = run(&experiment, other_folder.path(), &three_jobs);
    assert_eq!(content(&first), content(&second));
    let plan = Plan::new(&experiment, folder.path(), &options()).unwrap();
    assert!(plan.pending().is_empty());
    assert_eq!(content(&run(&experiment, folder.path(), &options())), content(&first));
    assert_eq!(first.lock, run(&experiment, folder.path(), &options()).lock);
}

/// Asks to stop after this many calls of `should_stop`.
struct StopAfterCalls(AtomicUsize);

impl ExperimentProgress for StopAfterCalls {
    fn should_stop(&self) -> bool {
        let remaining = self.0.load(Ordering::SeqCst);
        self.0.store(remaining.saturating_sub(1), Ordering::SeqCst);
        remaining == 0
    }
}

#[test]
fn interruptions_anywhere_do_not_change_the_report() {
    let experiment = parse(FILE).unwrap();
    let (uninterrupted, interrupted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let expected = run(&experiment, uninterrupted.path(), &options());
    let with_checkpoints = PlanOptions { checkpoint: Duration::ZERO, ..options() };
    let mut stops = 0;
    loop {
        let plan = Plan::new(&experiment, interrupted.path(), &with_checkpoints).unwrap();
        let run = plan.run(&StopAfterCalls(AtomicUsize::new(5))).unwrap();
        if run.finished {
            let report = ExperimentReport::new(&plan, &run).unwrap();
            assert_eq!(content(&report), content(&expected));
            break;
        }
        stops += 1;
        assert!(stops < 200, "no end");
    }
    assert!(stops > 10, "{stops}");
    // The folder of an unfinished cell has the extension `part`.
    let folders = std::fs::read_dir(interrupted.path().join("cells")).unwrap();
    let unfinished = folders.filter(|f| f.as_ref().unwrap().path().extension().is_some()).count();
    assert_eq!(unfinished, 0, "unfinished cells are left");
}

/// A grid of two by two, with a table, a plot and a learner outside of the grid.
const STUDY: &str = r#"
name = "study"
metrics = ["ndcg@5", "ap"]
seeds = [1, 2]
# Samples of the randomisation test and the bootstrap.
samples = 2000

[[data]]
name = "made"
generate = "letor(queries=24, documents=8)"
folds = 3

[[learner]]
name = "trees"
spec = "lambdamart(trees=5, min_rows=2, sample_queries=0.5, stop=3)"
grid = { leaves = [3, 5], rate = [0.1, 0.5] }

[[learner]]
name = "bm25"
feature = 22

[[table]]
title = "Leaves"
rows = ["leaves"]
choose = ["rate"]

[[plot]]
title = "Curves"
lines = ["leaves"]
choose = ["rate"]
"#;

#[test]
fn a_study_is_the_same_after_interruptions_and_with_several_jobs() {
    let experiment = parse(STUDY).unwrap();
    let (uninterrupted, interrupted) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let three_jobs = PlanOptions { jobs: Some(3), ..options() };
    let expected = run(&experiment, uninterrupted.path(), &three_jobs);
    assert!(expected.failed.is_empty(), "{:?}", expected.failed);
    assert!(expected.markdown.starts_with("### Leaves: ndcg@5 on made\n"));
    assert_eq!(expected.plots.len(), 1);
    let with_checkpoints = PlanOptions { checkpoint: Duration::ZERO, ..options() };
    let mut stops = 0;
    loop {
        let plan = Plan::new(&experiment, interrupted.path(), &with_checkpoints).unwrap();
        let run = plan.run(&StopAfterCalls(AtomicUsize::new(9))).unwrap();
        if run.finished {
            let report = ExperimentReport::new(&plan, &run).unwrap();
            assert_eq!(content(&report), content(&expected));
            break;
        }
        stops += 1;
        assert!(stops < 200, "no end");
    }
    assert!(stops > 5, "{stops}");
    // A grid's name selects all of its learners: four, with three folds and two seeds.
    let only = PlanOptions { only: vec!["trees".to_owned()], ..options() };
    let plan = Plan::new(&experiment, &interrupted.path().join("new"), &only).unwrap();
    assert_eq!(plan.pending().len(), 4 * 3 * 2);
}

#[test]
fn plots_of_an_earlier_report_are_removed() {
    let folder = TempDir::new().unwrap();
    let plots = |text: &str| -> Vec<String> {
        let experiment = parse(text).unwrap();
        let plan = Plan::new(&experiment, folder.path(), &options()).unwrap();
        let run = plan.run(&NoProgress).unwrap();
        ExperimentReport::new(&plan, &run).unwrap().write(&plan).unwrap();
        let entries = std::fs::read_dir(folder.path().join("plots")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".svg")).collect();
        names.sort();
        names
    };
    assert_eq!(plots(STUDY), ["plot-1-made.svg"]);
    // A file that no report has written stays.
    std::fs::write(folder.path().join("plots/own.svg"), "<svg/>").unwrap();
    assert_eq!(plots(STUDY), ["own.svg", "plot-1-made.svg"]);
    let (without_plot, _) = STUDY.split_once("[[plot]]").unwrap();
    assert_eq!(plots(without_plot), ["own.svg"]);
}

#[test]
fn many_learners_with_a_table_are_listed_and_not_compared() {
    let rates: Vec<String> = (1..=41).map(|rate| format!("{}", f64::from(rate) / 50.0)).collect();
    let text = STUDY
        .replace("[0.1, 0.5]", &format!("[{}]", rates.join(", ")))
        .replace("leaves = [3, 5]", "leaves = [3]")
        .replace("seeds = [1, 2]\n", "")
        .replace("trees=5", "trees=2")
        .replace("folds = 3\n", "");
    let folder = TempDir::new().unwrap();
    let report = run(&parse(&text).unwrap(), folder.path(), &options());
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    let set = &report.results.data[0];
    assert!(set.comparison.is_none());
    assert_eq!(set.learners.len(), 42);
    let sections: Vec<&str> = report.page.sections.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(sections, ["table-1", "plot-1", "all", "learners", "repeat"]);
    let PageBlock::Table { table, .. } = &report.page.sections[2].blocks[1] else { panic!() };
    let values: Vec<f64> = table.rows.iter().map(|row| row[1].text.parse().unwrap()).collect();
    assert_eq!(values.len(), 42);
    assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{values:?}");
    assert!(!report.markdown.contains("system"), "{}", report.markdown);
    assert!(!report.page.summary.contains("the best"), "{}", report.page.summary);
    assert!(report.per_query.lines().next().unwrap().split('\t').count() == 3 + 42);
}

#[test]
fn missing_validation_data_is_reported_with_the_key_of_the_file() {
    let text = STUDY.replace("folds = 3", "split = \"train=0.5,test=0.5\"");
    let folder = TempDir::new().unwrap();
    let report = run(&parse(&text).unwrap(), folder.path(), &options());
    assert_eq!(report.failed.len(), 4);
    let error = &report.failed[0].error;
    assert!(error.contains("`valid`") && !error.contains("--valid"), "{error}");
}

#[test]
fn damaged_cells_are_run_again() {
    let experiment = parse(FILE).unwrap();
    let folder = TempDir::new().unwrap();
    let before = run(&experiment, folder.path(), &options());
    let plan = Plan::new(&experiment, folder.path(), &options()).unwrap();
    let file_of = |cell: usize, file: &str| {
        folder.path().join("cells").join(&plan.cells()[cell].digest).join(file)
    };
    std::fs::write(file_of(0, "scores.txt"), "1\n2\n").unwrap();
    std::fs::write(file_of(1, "ranker.model"), "no model").unwrap();
    std::fs::write(file_of(2, "cell.json"), "{").unwrap();
    std::fs::remove_file(file_of(3, "ranker.model")).unwrap();
    // The result of another learner, undamaged.
    std::fs::copy(file_of(6, "cell.json"), file_of(4, "cell.json")).unwrap();
    let damaged = Plan::new(&experiment, folder.path(), &options()).unwrap();
    assert_eq!(damaged.pending(), [0, 1, 2, 3, 4]);
    assert_eq!(content(&run(&experiment, folder.path(), &options())), content(&before));
}

#[test]
fn a_failing_learner_does_not_affect_the_others() {
    // A baseline with a monotone constraint on an unknown feature; and data that does not exist.
    let text = FILE.replacen("mart(trees=6, ", "mart(trees=6, monotone=nosuch:+, ", 1).replacen(
        "[[data]]",
        "[[data]]\nname = \"gone\"\ntrain = [\"no/a\"]\ntest = [\"no/b\"]\n\n[[data]]",
        1,
    );
    let experiment = parse(&text).unwrap();
    let folder = TempDir::new().unwrap();
    let report = run(&experiment, folder.path(), &options());
    assert_eq!(report.failed.len(), 2, "{:?}", report.failed);
    assert_eq!((report.failed[0].data.as_str(), report.failed[0].learner.as_str()), ("gone", ""));
    assert!(report.failed[0].error.contains("no/a"));
    assert_eq!(report.failed[1].learner, "mart");
    assert_eq!(report.failed[1].cells.matches("fold").count(), 6);
    assert!(report.failed[1].error.contains("nosuch"));
    let DataSetResult { learners, comparison, .. } = &report.results.data[0];
    assert_eq!(learners.len(), 2);
    assert_eq!(to_json(comparison).unwrap()["baseline"], "lambdamart");
    assert!(
        report
            .page
            .summary
            .contains("mart has no result on this data set, so lambdamart is the baseline")
    );
    assert!(report.page.sections.iter().any(|section| section.title == "Failed cells"));
    // The others have the same numbers as in an experiment without failures.
    let other = TempDir::new().unwrap();
    let without_failures = run(&parse(FILE).unwrap(), other.path(), &options());
    assert_eq!(learners[0], without_failures.results.data[0].learners[1]);
}

#[test]
fn a_learner_that_ranks_nothing_is_a_warning_also_when_its_cells_are_stored() {
    let text = FILE.replacen("min_rows=2", "min_rows=100000", 1);
    let folder = TempDir::new().unwrap();
    for _ in 0..2 {
        let report = run(&parse(&text).unwrap(), folder.path(), &options());
        let warnings = report.results.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let message = warnings[0].to_string();
        assert!(message.starts_with("made, mart: "), "{message}");
        assert!(message.contains("min_rows=100000"), "{message}");
        let json = to_json(&report.results).unwrap();
        let cell = &json["data"][0]["learners"][0]["cells"][0];
        assert_eq!(cell["warnings"][0]["kind"], "constant-scores");
    }
}

/// Reading a device without an end would take all memory; reading a pipe without a writer would
/// wait for ever.
#[cfg(unix)]
#[test]
fn only_ordinary_files_are_read() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    let created = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(created.is_ok_and(|status| status.success()));
    for path in ["/dev/zero", "pipe"] {
        let model = format!("[[learner]]\nname = \"m\"\nmodel = \"{path}\"\n");
        let data = format!("[[data]]\nname = \"d\"\ntrain = \"{path}\"\ntest = \"{path}\"\n");
        let experiment = experiment(&format!("{FILE}{model}{data}"), folder.path());
        let plan = Plan::new(&experiment, &folder.path().join("out"), &options()).unwrap();
        let failed = plan.summary().failed;
        assert_eq!(failed.len(), 2, "{failed:?}");
        for cells in &failed {
            assert!(cells.error.ends_with("it is not an ordinary file"), "{cells}");
        }
        let error = Experiment::read(&folder.path().join(path)).unwrap_err().to_string();
        assert!(error.ends_with("it is not an ordinary file"), "{error}");
    }
}

#[test]
fn metrics_that_do_not_fit_the_labels_are_a_failure_of_the_data() {
    let text = FILE.replacen("\"ap\"", "\"err(max=1)\"", 1);
    let folder = TempDir::new().unwrap();
    let report = run(&parse(&text).unwrap(), folder.path(), &options());
    assert_eq!(report.failed.len(), 3);
    assert!(report.failed[0].error.contains("the scale ends at 1"), "{}", report.failed[0].error);
}

#[test]
fn only_requested_learners_are_trained_and_all_stored_ones_are_reported() {
    let experiment = parse(FILE).unwrap();
    let folder = TempDir::new().unwrap();
    let only = |name: &str| PlanOptions { only: vec![name.to_owned()], ..options() };
    let error = Plan::new(&experiment, folder.path(), &only("mrt")).unwrap_err().to_string();
    assert!(error.contains("did you mean `mart`?"), "{error}");
    let first = run(&experiment, folder.path(), &only("bm25"));
    assert_eq!(first.results.not_run, ["mart", "lambdamart"]);
    let second = run(&experiment, folder.path(), &only("mart"));
    assert_eq!(second.results.data[0].learners.len(), 2);
    assert_eq!(second.results.not_run, ["lambdamart"]);
    assert!(second.failed.is_empty());
}

#[test]
fn a_changed_file_makes_its_cells_run_again_and_a_renamed_one_does_not() {
    let folder = TempDir::new().unwrap();
    let write_data = |name: &str, seed: u64| {
        let data = LetorOptions { queries: 10, documents: 6, seed }.generate().unwrap();
        write(&data, folder.path().join(name), Format::Letor).unwrap();
    };
    for (name, seed) in [("a.txt", 1), ("b.txt", 2), ("c.txt", 3)] {
        write_data(name, seed);
    }
    let source = "train = \"a.txt\"\nvalid = \"b.txt\"\ntest = \"c.txt\"";
    let text = FILE.replace("generate = \"letor(queries=24, documents=8)\"\nfolds = 3", source);
    let out = folder.path().join("out");
    let report = run(&experiment(&text, folder.path()), &out, &options());
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    assert_eq!(report.results.data[0].queries, 10);
    let pending = |text: &str| {
        let experiment = experiment(text, folder.path());
        Plan::new(&experiment, &out, &options()).unwrap().pending().len()
    };
    assert_eq!(pending(&text), 0);
    std::fs::rename(folder.path().join("b.txt"), folder.path().join("d.txt")).unwrap();
    assert_eq!(pending(&text.replace("b.txt", "d.txt")), 0);
    // All five cells: two learners with two seeds each, and one without a seed.
    write_data("d.txt", 5);
    assert_eq!(pending(&text.replace("b.txt", "d.txt")), 5);
    write_data("d.txt", 2);
    std::fs::write(folder.path().join("c.txt.weight"), "1\n").unwrap();
    assert_eq!(pending(&text.replace("b.txt", "d.txt")), 5);
}

#[test]
fn several_data_sets_on_one_page_have_different_ids() {
    let second = "[[data]]\nname = \"more\"\ngenerate = \"letor(queries=20, documents=7)\"\nseed = 9\n\n[[learner]]";
    let text = FILE.replacen("[[learner]]", second, 1);
    let folder = TempDir::new().unwrap();
    let report = run(&parse(&text).unwrap(), folder.path(), &options());
    fn ids(blocks: &[PageBlock], all: &mut Vec<String>) {
        for block in blocks {
            match block {
                PageBlock::Text(_) => {}
                PageBlock::Chart(chart) => all.push(chart.id.clone()),
                PageBlock::Table { id, .. } | PageBlock::Drawing { id, .. } => all.push(id.clone()),
                PageBlock::Choice { id, groups, .. } => {
                    all.push(id.clone());
                    groups.iter().for_each(|(_, blocks)| ids(blocks, all));
                }
            }
        }
    }
    let mut all: Vec<String> = report.page.sections.iter().map(|s| s.id.clone()).collect();
    report.page.sections.iter().for_each(|section| ids(&section.blocks, &mut all));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
    assert!(all.iter().any(|id| id == "overview") && all.iter().any(|id| id == "d2-wins"));
    assert!(report.markdown.contains("### made: 24 test queries of 3 folds"));
    assert!(report.markdown.contains("### more: 4 test queries\n"));
    assert_eq!(
        report.per_query.lines().next().unwrap(),
        "data\tmetric\tquery\tmart\tlambdamart\tbm25"
    );
}

#[test]
fn the_value_of_a_learner_is_the_mean_over_seeds() {
    let folder = TempDir::new().unwrap();
    let report = run(&parse(FILE).unwrap(), folder.path(), &options());
    let set = &report.results.data[0];
    let value_of = |seed: usize| set.learners[0].seeds[seed].values["ndcg@5"];
    let comparison = set.comparison.as_ref().unwrap().comparison();
    let mean = comparison.metrics[0].systems[0].mean.unwrap();
    assert_ne!(value_of(0), value_of(1));
    assert!((mean - (value_of(0) + value_of(1)) / 2.0).abs() < 1e-12, "{mean}");
}

/// Regression: accuracy took a threshold of 0.5, whatever the model.
#[test]
fn accuracy_is_measured_at_the_boundary_of_each_model() {
    let text = "name = \"x\"\nmetrics = [\"accuracy\", \"accuracy(threshold=0)\"]\n[[data]]\n\
                name = \"made\"\ngenerate = \"letor(queries=24, documents=8)\"\nfolds = 3\n\
                [[learner]]\nname = \"class\"\nspec = \"mart(loss=logloss, trees=2)\"\n\
                [[learner]]\nname = \"grade\"\nspec = \"mart(loss=ordinal, trees=2)\"\n";
    let folder = TempDir::new().unwrap();
    let report = run(&experiment(text, folder.path()), folder.path(), &options());
    let comparison = report.results.data[0].comparison.as_ref().unwrap().comparison();
    let [own, at_0] = [0, 1].map(|metric| &comparison.metrics[metric]);
    assert_eq!(own.systems[0].mean, at_0.systems[0].mean);
    assert_ne!(own.systems[1].mean, at_0.systems[1].mean);
    let convention = own.convention.as_ref().unwrap();
    assert!(convention.starts_with("threshold=each-model, "), "{convention}");
    assert!(report.lock.metrics[0].convention.starts_with("threshold=each-model, "));
}

#[test]
fn a_learner_whose_model_ranks_nothing_is_named_with_the_reason() {
    let text = "name = \"x\"\nmetrics = \"ndcg@5\"\n[[data]]\nname = \"made\"\n\
                generate = \"letor(queries=24, documents=8)\"\nfolds = 3\n\
                [[learner]]\nname = \"sound\"\nspec = \"mart(trees=2)\"\n\
                [[learner]]\nname = \"empty\"\nspec = \"mart(trees=2, min_rows=500)\"\n";
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out");
    let experiment = experiment(text, folder.path());
    // The second report is made from stored cells alone.
    for _ in 0..2 {
        let report = run(&experiment, &out, &options());
        let warning = "empty, 3 of 3 trainings: the model gives every document of a query the same \
                       score, so it ranks nothing: with min_rows=500";
        assert!(report.text.contains(warning), "{}", report.text);
        assert!(report.markdown.contains("empty, 3 of 3 trainings"), "{}", report.markdown);
        assert!(!report.text.contains("sound, "), "{}", report.text);
        assert!(
            report
                .page
                .facts
                .iter()
                .any(|(name, text)| name == "Warning" && text.starts_with(warning))
        );
        let learners = &report.results.data[0].learners;
        assert_eq!(learners[0].cells[0].warnings.len(), 0);
        assert_eq!(learners[1].cells[0].warnings.len(), 1);
    }
}

#[test]
fn the_lock_file_has_every_setting() {
    let experiment = parse(FILE).unwrap();
    let folder = TempDir::new().unwrap();
    let plan = Plan::new(&experiment, folder.path(), &options()).unwrap();
    let lock = to_json(&ExperimentLock::new(&plan)).unwrap();
    assert_eq!(lock["learners"][1]["settings"]["trees"], "8");
    assert_eq!(lock["learners"][1]["settings"]["rate"], "auto");
    assert_eq!(lock["learners"][1]["settings"]["metric"], "ndcg@10");
    assert_eq!(lock["data"][0]["source"]["letor"]["queries"], 24);
    assert_eq!(lock["data"][0]["source"]["division"], serde_json::json!({"folds": 3, "seed": 1}));
    assert_eq!(lock["learners"][2]["spec"], "linear(weights=22:1)");
    assert_eq!(lock["metrics"][0]["metric"], "ndcg@5");
}

/// The text of a key, whose digest names a cell: if it changed, no stored cell would be found any
/// more.
fn key_text(source: &str, learner: &str) -> String {
    let metric = "ndcg@5: gain=exp, discount=log2, short=keep, cutoff=5, blank=skip, missing=zero, \
                  unjudged=nonrel, ties=worst, scores=f64";
    format!(
        r#"{{"data":{{"absent":"zero","columns":"","format":null,"ignore_extra":false,"source":{source}}},"fold":1,"learner":{learner},"metric":"{metric}","seed":null,"training_rules":2,"version":"{VERSION}"}}"#
    )
}

#[test]
fn the_text_whose_digest_names_a_cell_does_not_change() {
    let folder = TempDir::new().unwrap();
    let write_file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        sha256(text.as_bytes())
    };
    let files = [("a.txt", "1 qid:1 22:1\n"), ("b.txt", "0 qid:2 22:1\n")];
    let [a, b] = files.map(|(name, text)| write_file(name, text));
    let model = write_file("m.model", "a model");
    let sources = [
        (
            "generate = \"letor(queries=24, documents=8)\"\nfolds = 3",
            r#"{"division":{"folds":3,"seed":1},"origin":{"letor":{"documents":8,"queries":24,"seed":1}}}"#.to_owned(),
        ),
        (
            "files = [\"a.txt\", \"b.txt\"]\nsplit = \"train=0.5,valid=0.25,test=0.25\"",
            format!(
                r#"{{"division":{{"seed":1,"split":"train=0.5,valid=0.25,test=0.25"}},"origin":{{"files":["{a}","{b}"]}}}}"#
            ),
        ),
        (
            "train = \"a.txt\"\ntest = \"b.txt\"",
            format!(r#"{{"test":["{b}"],"train":["{a}"],"valid":[]}}"#),
        ),
    ];
    let linear = r#"{"settings":{"bias":"0","metric":"ndcg@10","weights":"22:1"},"spec":"linear(weights=22:1)"}"#;
    let learners = [
        ("feature = 22", linear.to_owned()),
        ("model = \"m.model\"", format!(r#"{{"model":"{model}"}}"#)),
    ];
    for (source, source_text) in &sources {
        for (learner, learner_text) in &learners {
            let text = format!(
                "name = \"x\"\nmetrics = \"ndcg@5\"\n[[data]]\nname = \"d\"\n{source}\n\
                 [[learner]]\nname = \"l\"\n{learner}\n"
            );
            let experiment = experiment(&text, folder.path());
            let plan = Plan::new(&experiment, &folder.path().join("out"), &options()).unwrap();
            let cell = &plan.cells()[0];
            let key = key_text(source_text, learner_text);
            assert_eq!(cell.key.to_string(), key);
            assert_eq!(cell.digest, sha256(key.as_bytes())[..32]);
        }
    }
}

#[test]
fn a_cancelled_run_has_no_results_and_a_finished_one_has_results_and_files() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("x.toml");
    std::fs::write(&file, FILE).unwrap();
    let request = ExperimentRequest::new(&file).out(folder.path().join("out")).options(options());
    let cancelled = request.run(&StopAfterCalls(AtomicUsize::new(0))).unwrap();
    let out = folder.path().join("out").display().to_string();
    assert_eq!(
        to_json(&cancelled).unwrap(),
        serde_json::json!({"finished": false, "cells": 15, "pending": 15, "out": out, "files": []})
    );
    let finished = to_json(&request.run(&NoProgress).unwrap()).unwrap();
    let written = std::fs::read(folder.path().join("out/results.json")).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    let expected = [
        "data",
        "description",
        "experiment",
        "failed",
        "file_sha256",
        "not_run",
        "plots",
        "rankwright",
        "seeds",
        "tables",
    ];
    assert_eq!(keys, expected);
    for key in keys {
        assert_eq!(finished[key], written[key], "{key}");
    }
    assert_eq!(finished["files"].as_array().unwrap().len(), 6);
}

#[test]
fn a_folder_is_used_by_one_experiment_at_a_time() {
    let experiment = parse(FILE).unwrap();
    let folder = TempDir::new().unwrap();
    let plan = Plan::new(&experiment, folder.path(), &options()).unwrap();
    let first_run = plan.run(&NoProgress).unwrap();
    let error = plan.run(&NoProgress).unwrap_err().to_string();
    assert!(error.contains("another experiment is running"), "{error}");
    drop(first_run);
    assert!(plan.run(&NoProgress).is_ok());
}
