//! Tests of grids and studies: the reading of files, rejected files, and that only validation data
//! decides a choice.

use std::collections::HashSet;

use rankwright_eval::{Evaluation, MeasureResult};

use super::super::cell::{CellSeconds, CellState, ExperimentCell, StoredCell};
use super::super::file::Experiment;
use super::super::report::{SetResult, System};
use super::super::tests::{digests, parse};
use super::*;

const FILE: &str = r#"
name = "study"
metrics = ["ndcg@5", "ap"]
samples = 2000

[[data]]
name = "made"
generate = "letor(queries=24, documents=8)"
folds = 3

[[learner]]
name = "trees"
spec = "lambdamart(trees=8, min_rows=2, stop=4)"
grid = { newton = ["per-document", "cross-leaf"], leaves = [3, 5], rate = [0.10, 0.5] }

[[learner]]
spec = "mart(trees=3)"

[[table]]
title = "Steps"
learners = ["trees"]
rows = ["newton"]
columns = ["leaves"]
choose = ["rate"]

[[plot]]
title = "Curves"
learners = ["trees"]
lines = ["newton"]
panels = ["leaves"]
choose = ["rate"]
"#;

#[test]
fn a_grid_gives_a_learner_for_each_combination_the_first_parameter_slowest() {
    let experiment = parse(FILE).unwrap();
    let names: Vec<&str> =
        experiment.learners.iter().map(|learner| learner.name.as_str()).collect();
    assert_eq!(names.len(), 9);
    assert_eq!(names[0], "trees newton=per-document leaves=3 rate=0.1");
    assert_eq!(names[1], "trees newton=per-document leaves=3 rate=0.5");
    assert_eq!(names[2], "trees newton=per-document leaves=5 rate=0.1");
    assert_eq!(names[4], "trees newton=cross-leaf leaves=3 rate=0.1");
    assert_eq!(names[8], "mart(trees=3)");
    assert_eq!(experiment.entries.len(), 2);
    let text = "lambdamart(trees=8, min_rows=2, stop=4), newton per-document or cross-leaf, leaves \
                3 or 5, rate 0.10 or 0.5";
    assert_eq!(experiment.entries[0].text, text);
}

#[test]
fn cells_of_a_grid_have_the_digests_of_specs_written_by_hand() {
    let learner = |newton: &str, leaves: u32, rate: f64| {
        format!(
            "[[learner]]\nspec = \"lambdamart(rate={rate}, newton={newton}, stop=4, min_rows=2, \
             trees=8, leaves={leaves})\"\n\n"
        )
    };
    let mut by_hand = String::new();
    for newton in ["per-document", "cross-leaf"] {
        for leaves in [3, 5] {
            by_hand += &(learner(newton, leaves, 0.1) + &learner(newton, leaves, 0.5));
        }
    }
    // The file with these learners in place of the grid, without table and plot.
    let (before, after) = FILE.split_once("[[learner]]\nname = \"trees\"").unwrap();
    let (_, mart) = after.split_once("[[learner]]").unwrap();
    let (mart, _) = mart.split_once("[[table]]").unwrap();
    let text = format!("{before}{by_hand}[[learner]]{mart}");
    assert_eq!(digests(&text), digests(FILE));
}

/// Asserts that [`FILE`] with `replacement` in place of `original` is rejected with an error that
/// contains all `parts`.
fn rejects(original: &str, replacement: &str, parts: &[&str]) {
    assert!(FILE.contains(original), "{original}");
    let error = parse(&FILE.replacen(original, replacement, 1)).unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{replacement}: {error} has no {part}");
    }
}

#[test]
fn errors_in_a_grid_name_their_position() {
    rejects("leaves = [3, 5]", "trees = [3, 5]", &["line 14, column 51", "in one of them"]);
    rejects("leaves = [3, 5]", "leafs = [3, 5]", &["line 14, column 51", "did you mean `leaves`?"]);
    rejects("leaves = [3, 5]", "leaves = []", &["line 14, column 60", "`leaves` is empty"]);
    rejects("leaves = [3, 5]", "leaves = 3", &["line 14, column 60", "integer `3`"]);
    rejects(
        "leaves = [3, 5]",
        "leaves = [3, [5]]",
        &["line 14, column 64", "a text, a number, true or false"],
    );
    rejects("leaves = [3, 5]", "leaves = [3, 3]", &["column 64", "leaves=3 is given twice"]);
    rejects("[0.10, 0.5]", "[0.10, 0.1]", &["line 14", "two learners are called"]);
    rejects("leaves = [3, 5]", "leaves = [3, \"x\"]", &["line 14, column 64", "leaves=x"]);
    rejects(
        "leaves = [3, 5]",
        "leaves = [\"3, depth=2\"]",
        &["line 14", "characters that a spec cannot hold"],
    );
    rejects(
        "spec = \"mart(trees=3)\"",
        "feature = 2\ngrid = { a = [1] }",
        &["`grid` needs a `spec`"],
    );
    rejects("grid = {", "grid = {}\n#", &["line 14, column 8", "`grid` is empty"]);
    rejects("lambdamart(trees=8", "lamdamart(trees=8", &["line 13", "did you mean `lambdamart`?"]);
}

#[test]
fn a_grid_of_more_than_ten_thousand_learners_is_rejected() {
    // 2501 numbers of leaves, two newton steps and two rates.
    let leaves: Vec<String> = (2..2503).map(|leaves| leaves.to_string()).collect();
    let leaves = format!("leaves = [{}]", leaves.join(", "));
    rejects("leaves = [3, 5]", &leaves, &["line 14", "(10004)", "at most 10000"]);
}

#[test]
fn errors_in_a_table_or_a_plot_name_their_position() {
    let rows = "rows = [\"newton\"]";
    rejects("choose = [\"rate\"]", "", &["line 22", "differ in `rate`", "`choose`"]);
    rejects(rows, "rows = [\"newtn\"]", &["line 22, column 8", "did you mean `newton`?"]);
    rejects(rows, "rows = [\"newton\", \"rate\"]", &["line 24", "`rate` is named twice"]);
    rejects(rows, "rows = []", &["line 22", "names no factor"]);
    rejects(rows, "row = [\"newton\"]", &["[[table]] has no key `row`", "did you mean `rows`?"]);
    rejects("learners = [\"trees\"]\n", "", &["line 21", "differ in `learner`"]);
    rejects("[\"trees\"]", "[\"tree\"]", &["line 21", "did you mean `trees`?"]);
    rejects(rows, "data = \"mad\"\nrows = [\"newton\"]", &["line 22", "the data sets are made"]);
    rejects(rows, "metrics = \"rr\"\nrows = [\"newton\"]", &["line 22", "ndcg@5, ap"]);
    let twice = "metrics = [\"ap\", \"ap\"]\nrows = [\"newton\"]";
    rejects(rows, twice, &["line 22", "named twice"]);
    let baseline = |text: &str| format!("baseline = {text}\n{rows}");
    rejects(
        rows,
        &baseline("{ leaves = 3 }"),
        &["line 22, column 14", "not a factor of the rows: newton"],
    );
    rejects(rows, &baseline("{ newton = \"none\" }"), &["line 22", "no row has newton=none"]);
    rejects(", stop=4", ", stop=none", &["line 24", "does not use validation data", "chosen"]);
    let with_panels = "lines = [\"newton\"]\npanels = [\"leaves\"]";
    let without_panels = "lines = [\"newton\"]";
    rejects(with_panels, without_panels, &["line 29", "differ in `leaves`", "`panels`"]);
    rejects("title = \"Curves\"", "", &["line 26", "[[plot]] needs `title`"]);
    rejects("folds = 3", "folds = 25", &["line 9", "24 queries cannot be divided into 25 folds"]);
}

/// A cell of a fold with a learning curve.
fn cell(fold: usize, learner: usize, seed: u64, curve: &[f64]) -> (ExperimentCell, StoredCell) {
    let cell = ExperimentCell {
        data: 0,
        fold,
        learner,
        seed,
        digest: String::new(),
        key: serde_json::Value::Null,
        state: CellState::Stored,
    };
    let stored = StoredCell {
        key: serde_json::Value::Null,
        model_sha256: String::new(),
        scores_sha256: String::new(),
        unit: "tree".to_owned(),
        rounds: curve.len(),
        best: None,
        trees: curve.len(),
        curve: curve.iter().map(|value| value.is_finite().then_some(*value)).collect(),
        warnings: Vec::new(),
        seconds: CellSeconds { round: 0.001 * (learner + 1) as f64, ..CellSeconds::default() },
    };
    (cell, stored)
}

/// A system with a test value for each fold (that of its first query; the second has 0.01 more),
/// and a curve for each fold.
fn system(experiment: &Experiment, learner: usize, tests: [f64; 3], curves: [&[f64]; 3]) -> System {
    let values: Vec<Option<f64>> = tests.iter().flat_map(|v| [Some(*v), Some(v + 0.01)]).collect();
    let result = |measure: &rankwright_eval::Measure| MeasureResult {
        measure: measure.clone(),
        convention: String::new(),
        weighted: false,
        values: values.clone(),
        value: values.iter().flatten().sum::<f64>() / 6.0,
        queries: 6,
        ci95: None,
        interval: None,
        ties: None,
    };
    let mean = Evaluation {
        queries: (0..6).map(|q| q.to_string()).collect(),
        results: experiment.metrics.iter().map(result).collect(),
    };
    let cells = (0..3).map(|fold| cell(fold, learner, 1, curves[fold])).collect();
    System { learner, cells, scores: Vec::new(), seeds: vec![(1, mean.clone())], mean }
}

/// The results of these systems on a data set of three folds with two test queries each.
fn set(systems: Vec<System>) -> SetResult {
    SetResult {
        data: 0,
        queries: 6,
        documents: 60,
        features: 2,
        index_of_learner: systems.iter().enumerate().map(|(i, s)| (s.learner, i)).collect(),
        systems,
        folds: vec![2, 2, 2],
        not_run: HashSet::new(),
        comparison: None,
        other_baseline: None,
    }
}

/// A grid of two rates for each of two newton steps, with one number of leaves.
fn two_by_two() -> Experiment {
    let text = FILE.replacen("leaves = [3, 5]", "leaves = [3]", 1);
    parse(&text).unwrap()
}

/// Results in which validation and test parts disagree: validation prefers the second rate of the
/// first row (learner 1) on folds 1 and 3, the test parts never do.
fn disagreeing(experiment: &Experiment) -> SetResult {
    set(vec![
        system(experiment, 0, [0.9, 0.9, 0.9], [&[0.1, 0.5, 0.4], &[0.8], &[0.2, 0.3]]),
        system(experiment, 1, [0.1, 0.1, 0.1], [&[0.3, 0.1, 0.6], &[0.7], &[0.4, 0.1]]),
        system(experiment, 2, [0.5, 0.5, 0.5], [&[0.6], &[0.6], &[0.6]]),
        system(experiment, 3, [0.4, 0.4, 0.4], [&[0.6], &[0.5], &[0.5]]),
    ])
}

#[test]
fn each_fold_chooses_by_its_validation_part_and_never_by_the_test_part() {
    let experiment = two_by_two();
    let set = disagreeing(&experiment);
    let found = table::TableData::new(&experiment, &experiment.tables[0], &set).unwrap();
    let cell = found.cells_of_rows[0][0].as_ref().unwrap();
    let chosen: Vec<usize> = cell.chosen.iter().map(|chosen| chosen.learner).collect();
    assert_eq!(chosen, [1, 0, 1]);
    let validated: Vec<Option<f64>> = cell.chosen.iter().map(|c| c.validated.value).collect();
    assert_eq!(validated, [Some(0.6), Some(0.8), Some(0.4)]);
    // The best rounds are 3, 1 and 1; the mean test values of the folds are 0.105, 0.905 and 0.105.
    assert!((cell.best_round().unwrap() - 5.0 / 3.0).abs() < 1e-12);
    assert!((cell.result.mean.unwrap() - 1.115 / 3.0).abs() < 1e-12);
    // On fold 1 both learners of the second row have the same value on validation data, so the
    // first in the file is chosen.
    let second = found.cells_of_rows[1][0].as_ref().unwrap();
    let chosen: Vec<usize> = second.chosen.iter().map(|chosen| chosen.learner).collect();
    assert_eq!(chosen, [2, 2, 2]);
    let vs_baseline = second.result.vs_baseline.as_ref().unwrap();
    assert!((vs_baseline.difference.unwrap() - (0.505 - 1.115 / 3.0)).abs() < 1e-12);
    assert_eq!(vs_baseline.pairs, 6);
    assert!(second.result.best && cell.result.vs_baseline.is_none());
}

#[test]
fn a_table_names_the_chosen_settings_and_the_test() {
    let experiment = two_by_two();
    let study = Study::new(&experiment, &[disagreeing(&experiment)]).unwrap();
    let text = study.text(TextTable::Markdown);
    for part in [
        "### Steps: ndcg@5 on made\n",
        "| newton       |   leaves=3 |",
        "| cross-leaf   | **0.5050** |",
        "ndcg@5: mean over 6 test queries of 3 folds.",
        "rate is chosen for each fold by ndcg@5 on its validation part",
        "than newton=per-document in the same column at alpha 0.05",
        "| per-document | 0.5 (2/3); 2 |",
        "rate, the setting chosen most often (and its number of folds); mean best number of trees",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(study.times().starts_with("### Steps: milliseconds of a round on made\n"));
    assert!(!text.contains("illisecond") && study.times().contains("| cross-leaf   |     3.50 |"));
    let cell = &study.table_results()[0].cells[0];
    assert_eq!(cell.position.row["newton"], "per-document");
    assert_eq!(cell.position.column["leaves"], "3");
    assert_eq!(cell.folds[0].learner, "trees newton=per-document leaves=3 rate=0.5");
    assert_eq!(cell.folds[0].chosen["rate"], "0.5");
    assert_eq!(cell.folds[1].validation, Some(0.8));
    let json = crate::to_json(cell).unwrap();
    assert_eq!(
        (&json["row"]["newton"], &json["metric"]),
        (&"per-document".into(), &"ndcg@5".into())
    );
    let plots = study.plot_results();
    // The plot chooses one learner for all folds: the best values are 0.5, 0.8, 0.3 for the first
    // and 0.6, 0.7, 0.4 for the second, which has the higher mean. Its shortest curve has one
    // round.
    assert_eq!(plots[0].lines[0].validation, Some((0.6 + 0.7 + 0.4) / 3.0));
    let mean = (0.3 + 0.7 + 0.4) / 3.0;
    assert_eq!(plots[0].lines[0].points, [(1.0, Some(mean))]);
    assert_eq!(crate::to_json(&plots[0].lines[0]).unwrap()["points"][0][1], mean);
}

#[test]
fn several_metrics_have_columns_side_by_side_and_the_choice_is_shown_once() {
    let text = FILE.replacen("leaves = [3, 5]", "leaves = [3]", 1).replacen(
        "rows = [\"newton\"]",
        "metrics = [\"ap\", \"ndcg@5\"]\nrows = [\"newton\"]",
        1,
    );
    let experiment = parse(&text).unwrap();
    let mut set = disagreeing(&experiment);
    // AP reverses the order; settings are still chosen by the first metric, ndcg@5.
    for system in &mut set.systems {
        system.mean.results[1].values.iter_mut().flatten().for_each(|value| *value = 1.0 - *value);
    }
    let study = Study::new(&experiment, &[set]).unwrap();
    let text = study.text(TextTable::Markdown);
    for part in [
        "### Steps: ap, ndcg@5 on made\n",
        "| newton       | ap leaves=3 | ndcg@5 leaves=3 |",
        "| per-document |  **0.6283** |          0.3717 |",
        "| newton       |     leaves=3 |\n",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let cells = &study.table_results()[0].cells;
    assert_eq!([&cells[0].position.metric, &cells[1].position.metric], ["ap", "ndcg@5"]);
}

#[test]
fn factors_that_do_not_vary_are_not_shown_as_chosen() {
    let one_value = FILE.replacen("leaves = [3, 5]", "leaves = [3]", 1);
    let text = one_value.replacen(
        "columns = [\"leaves\"]\nchoose = [\"rate\"]",
        "choose = [\"leaves\", \"rate\"]",
        1,
    );
    let experiment = parse(&text).unwrap();
    let study = Study::new(&experiment, &[disagreeing(&experiment)]).unwrap();
    let text = study.text(TextTable::Markdown);
    assert!(text.contains("leaves and rate are chosen"), "{text}");
    assert!(text.contains("| per-document | -, 0.5 (2/3); 2 |"), "{text}");
}

#[test]
fn failed_learners_cannot_be_chosen_and_pending_ones_leave_a_cell_empty() {
    let experiment = two_by_two();
    let mut incomplete = disagreeing(&experiment);
    incomplete.index_of_learner.remove(&1);
    incomplete.not_run.insert(3);
    let found = table::TableData::new(&experiment, &experiment.tables[0], &incomplete).unwrap();
    let cell = found.cells_of_rows[0][0].as_ref().unwrap();
    assert!(cell.chosen.iter().all(|chosen| chosen.learner == 0));
    assert!(found.cells_of_rows[1][0].is_none());
    let text = Study::new(&experiment, &[incomplete]).unwrap().text(TextTable::Plain);
    let failed =
        "Failed, so they could not be chosen: trees newton=per-document leaves=3 rate=0.5.";
    assert!(text.contains(failed), "{text}");
    assert!(text.contains("Not run yet: trees newton=cross-leaf leaves=3 rate=0.5."), "{text}");
}

#[test]
fn a_training_without_validation_values_is_never_chosen() {
    let experiment = two_by_two();
    let empty: [&[f64]; 3] = [&[], &[f64::NAN], &[0.9]];
    let set = set(vec![
        system(&experiment, 0, [0.9; 3], empty),
        system(&experiment, 1, [0.1; 3], [&[0.1], &[0.1], &[0.1]]),
    ]);
    let found = table::TableData::new(&experiment, &experiment.tables[0], &set).unwrap();
    let cell = found.cells_of_rows[0][0].as_ref().unwrap();
    let chosen: Vec<usize> = cell.chosen.iter().map(|chosen| chosen.learner).collect();
    assert_eq!(chosen, [1, 1, 0]);
}

#[test]
fn long_curves_are_thinned_and_panels_share_their_range() {
    let experiment = parse(FILE).unwrap();
    let long: Vec<f64> = (0..1000).map(|round| f64::from(round) / 1000.0).collect();
    let short = [0.2, 1.4];
    let systems = (0..8).map(|learner| {
        let curve: &[f64] = if learner == 3 { &short } else { &long };
        system(&experiment, learner, [0.5; 3], [curve; 3])
    });
    let study = Study::new(&experiment, &[set(systems.collect())]).unwrap();
    let charts = study.charts();
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids, ["plot-1-made-leaves-3", "plot-1-made-leaves-5"]);
    assert_eq!(charts[0].y.range, charts[1].y.range);
    let rankwright_report::chart::Body::Lines(lines) = &charts[0].body else { panic!() };
    assert_eq!((lines.len(), lines[0].points.len()), (2, 150));
    assert_eq!(lines[0].points[149], (1000.0, 0.999));
    assert_eq!(lines[1].name, "newton=cross-leaf");
    for chart in charts {
        let svg = chart.to_svg().unwrap();
        assert!(svg.len() < 40_000, "{}", svg.len());
    }
}
