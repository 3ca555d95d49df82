//! The sections and tables of an experiment's report. A cell of an experiment is one training run:
//! data set x fold x learner x seed.

use std::fmt::Write as _;

use rankwright_eval::compare::Better;
use rankwright_eval::conventions;
use rankwright_eval::table::{Align, Cell as TableCell, Table};
use rankwright_report::PageBlock;
use rankwright_report::page::Section;
use rankwright_spec::visible::one_line;
use rankwright_spec::words::counted;

use super::VERSION;
use super::file::{Experiment, some_of};
use super::plan::{FailedCells, Plan};
use super::report::{SetResult, System, has_many_learners};

/// A data set in words: its name, queries and folds.
pub(super) fn heading(experiment: &Experiment, set: &SetResult) -> String {
    let data = &experiment.data[set.data];
    let folds = match data.folds() {
        1 => String::new(),
        folds => format!(" of {folds} folds"),
    };
    format!("{}: {}{folds}", data.name, counted(set.queries, "test query"))
}

/// The conventions of the metrics: how ties, unjudged documents and so on are treated.
pub(super) fn metric_conventions(sets: &[SetResult]) -> Vec<String> {
    let first = sets.first().and_then(|set| set.systems.first());
    first.map_or(Vec::new(), |system| conventions(&system.mean.results))
}

/// The facts at the top of the page.
pub(super) fn facts(
    experiment: &Experiment,
    sets: &[SetResult],
    not_run: &[String],
) -> Vec<(String, String)> {
    let mut facts = vec![("Rankwright".to_owned(), VERSION.to_owned())];
    for set in sets {
        let text = format!(
            "{}, {}, {}",
            heading(experiment, set),
            counted(set.documents, "document"),
            counted(set.features, "feature")
        );
        facts.push(("Data".to_owned(), text));
    }
    for warning in sets.iter().flat_map(|set| warnings(experiment, set)) {
        facts.push(("Warning".to_owned(), warning));
    }
    let seeds: Vec<String> = experiment.seeds.iter().map(u64::to_string).collect();
    facts.push(("Seeds".to_owned(), seeds.join(", ")));
    facts.push(("Metric of early stopping".to_owned(), experiment.main_metric().to_string()));
    if let Some(baseline) =
        experiment.compare.baseline.as_ref().filter(|_| !has_many_learners(experiment))
    {
        facts.push(("Baseline".to_owned(), baseline.clone()));
    }
    if !not_run.is_empty() {
        let names: Vec<&str> = not_run.iter().map(String::as_str).collect();
        facts.push(("Not run yet".to_owned(), some_of(&names)));
    }
    facts
}

/// The first warning about the models of each learner on a data set, and the number of trainings
/// with warnings: "lambdamart, 2 of 5 trainings: the model gives every document of a query the same
/// score ..."
pub(super) fn warnings(experiment: &Experiment, set: &SetResult) -> Vec<String> {
    let mut lines = Vec::new();
    for system in &set.systems {
        let warned = system.cells.iter().filter_map(|(_, stored)| stored.warnings.first());
        if let Some(first) = warned.clone().next() {
            let trainings = counted(system.cells.len(), "training");
            let learner = experiment.learner_name(system.learner);
            lines.push(format!("{learner}, {} of {trainings}: {}", warned.count(), first.message));
        }
    }
    lines
}

/// The first metric of every learner on every data set.
pub(super) fn overview(experiment: &Experiment, sets: &[SetResult]) -> Section {
    let metric = experiment.main_metric().to_string();
    let titles = sets.iter().map(|set| (experiment.data_name(set.data), Align::Right));
    let mut table = Table::new(std::iter::once(("learner", Align::Left)).chain(titles));
    for (learner_index, learner) in experiment.learners.iter().enumerate() {
        let mut row = vec![TableCell::new(learner.name.as_str())];
        for set in sets {
            let index = set.systems.iter().position(|system| system.learner == learner_index);
            let result = index.zip(set.comparison.as_ref()).and_then(|(index, report)| {
                report.comparison().metrics.first()?.systems.get(index)
            });
            row.push(match result {
                Some(result) => TableCell {
                    text: value(result.mean),
                    best: result.best,
                    mark: result.vs_baseline.as_ref().map(|v| v.mark).unwrap_or_default(),
                },
                None => TableCell::new("-"),
            });
        }
        table.rows.push(row);
    }
    table.notes.push("▲ and ▼: significantly better or worse than the baseline.".to_owned());
    Section {
        id: "overview".to_owned(),
        title: format!("{metric} on every data set"),
        blocks: vec![PageBlock::Table { id: "overview-table".to_owned(), title: metric, table }],
    }
}

/// The section with every learner on every data set, the best by the first metric at the top.
pub(super) fn sorted(experiment: &Experiment, sets: &[SetResult]) -> Section {
    let mut blocks = vec![PageBlock::Text(
        "There are too many learners for a test of each; the best of many is partly best by \
         chance. The tables above compare selected settings."
            .to_owned(),
    )];
    for set in sets {
        let metrics = experiment.metrics.iter().map(|metric| (metric.to_string(), Align::Right));
        let learner = ("learner".to_owned(), Align::Left);
        let mut table = Table::new(std::iter::once(learner).chain(metrics));
        let mut systems: Vec<&System> = set.systems.iter().collect();
        let lower_is_better = experiment.main_metric().metric().better() == Better::Lower;
        // Lowest first, and systems without a value last.
        let sort_key = |system: &System| {
            let value = system.mean.results[0].value;
            match value.is_nan() {
                true => f64::INFINITY,
                false if lower_is_better => value,
                false => -value,
            }
        };
        systems.sort_by(|a, b| sort_key(a).total_cmp(&sort_key(b)));
        for system in systems {
            let values = system.mean.results.iter().map(|r| TableCell::new(value(Some(r.value))));
            let learner = TableCell::new(experiment.learner_name(system.learner));
            table.rows.push(std::iter::once(learner).chain(values).collect());
        }
        let id = format!("all-{}", set.data + 1);
        blocks.push(PageBlock::Table { id, title: heading(experiment, set), table });
    }
    Section { id: "all".to_owned(), title: "All learners".to_owned(), blocks }
}

/// The section on the variation of each learner over seeds.
pub(super) fn seeds(experiment: &Experiment, sets: &[SetResult]) -> Section {
    let mut blocks = vec![PageBlock::Text(
        "The values of each seed show how much of a difference may be due to chance. The values \
         above are means over the seeds, query by query."
            .to_owned(),
    )];
    for set in sets {
        let seeds: Vec<String> =
            experiment.seeds.iter().map(|seed| format!("seed {seed}")).collect();
        let mut columns = vec![("learner", Align::Left), ("metric", Align::Left)];
        columns.extend(seeds.iter().map(|seed| (seed.as_str(), Align::Right)));
        columns.push(("spread", Align::Right));
        let mut table = Table::new(columns);
        for system in set.systems.iter().filter(|system| system.seeds.len() > 1) {
            for (m, metric) in experiment.metrics.iter().enumerate() {
                let values = seed_values(system, m);
                let mut row =
                    vec![experiment.learner_name(system.learner).to_owned(), metric.to_string()];
                row.extend(values.iter().map(|v| value(Some(*v))));
                row.push(value(deviation(&values)));
                table.rows.push(row.into_iter().map(TableCell::new).collect());
            }
        }
        table.notes.push("spread: standard deviation over the seeds".to_owned());
        let id = format!("seeds-{}", set.data + 1);
        blocks.push(PageBlock::Table { id, title: heading(experiment, set), table });
    }
    Section { id: "seeds".to_owned(), title: "Seeds".to_owned(), blocks }
}

/// The value of a metric for each seed.
fn seed_values(system: &System, metric: usize) -> Vec<f64> {
    system.seeds.iter().map(|(_, evaluation)| evaluation.results[metric].value).collect()
}

/// Standard deviation of a sample; `None` for fewer than two values.
fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt())
}

/// A value with four decimals, or `-` if there is none.
fn value(value: Option<f64>) -> String {
    value.filter(|v| !v.is_nan()).map_or("-".to_owned(), |v| format!("{v:.4}"))
}

/// The section on the learners.
pub(super) fn learners(experiment: &Experiment) -> Section {
    let mut table = Table::new([("learner", Align::Left), ("spec or model", Align::Left)]);
    for entry in &experiment.entries {
        table.rows.push(vec![entry.name.as_str().into(), TableCell::new(entry.text.as_str())]);
    }
    let title = "Learners".to_owned();
    let note = "experiment.lock.json has every setting, including defaults.".to_owned();
    table.notes.push(note);
    Section {
        id: "learners".to_owned(),
        title: title.clone(),
        blocks: vec![PageBlock::Table { id: "learners-table".to_owned(), title, table }],
    }
}

/// The section on cells without a result; `None` if there are no such cells.
pub(super) fn failures(failed: &[FailedCells]) -> Option<Section> {
    if failed.is_empty() {
        return None;
    }
    let columns = ["data", "learner", "cells", "error"].map(|name| (name, Align::Left));
    let mut table = Table::new(columns);
    let or_all = |text: &str| if text.is_empty() { "all".to_owned() } else { text.to_owned() };
    for FailedCells { data, learner, cells, error, .. } in failed {
        let row = [or_all(data), or_all(learner), or_all(cells), error.clone()];
        table.rows.push(row.into_iter().map(TableCell::new).collect());
    }
    let title = "Failed cells".to_owned();
    let text = "These cells have no result. Their learners are left out of the comparison on that \
                data set. Run the experiment again to retry them; stored cells are not run again.";
    let id = "failed-table".to_owned();
    let blocks = vec![
        PageBlock::Text(text.to_owned()),
        PageBlock::Table { id, title: title.clone(), table },
    ];
    Some(Section { id: "failed".to_owned(), title, blocks })
}

/// The section on reproducing the results: version, and checksums of the files.
pub(super) fn repeat(plan: &Plan<'_>) -> Section {
    let columns = ["data", "file", "SHA-256"].map(|name| (name, Align::Left));
    let mut table = Table::new(columns);
    for (set, files) in plan.experiment.data.iter().zip(&plan.files) {
        for file in files {
            let row = [set.name.clone(), file.file.clone(), file.sha256.clone()];
            table.rows.push(row.into_iter().map(TableCell::new).collect());
        }
    }
    let title = "Reproducing the results".to_owned();
    let text = format!(
        "Version {VERSION} of Rankwright, the experiment's file with SHA-256 {}, and data files \
         with the checksums below give the same numbers with any number of threads.",
        plan.experiment.sha256
    );
    let mut blocks = vec![PageBlock::Text(text)];
    if !table.rows.is_empty() {
        let id = "files".to_owned();
        blocks.push(PageBlock::Table { id, title: "Data files".to_owned(), table });
    }
    Section { id: "repeat".to_owned(), title, blocks }
}

/// The value of every query, tab-separated: data set, metric, query, and a column for each learner.
pub(super) fn per_query(experiment: &Experiment, sets: &[SetResult]) -> String {
    let names: Vec<&str> =
        experiment.learners.iter().map(|learner| learner.name.as_str()).collect();
    let columns: Vec<_> = names.iter().map(|name| one_line(name)).collect();
    let mut text = format!("data\tmetric\tquery\t{}\n", columns.join("\t"));
    for set in sets {
        let title = experiment.data_name(set.data);
        let Some(first) = set.systems.first().map(|system| &system.mean) else { continue };
        for (m, metric) in experiment.metrics.iter().enumerate() {
            for (q, query) in first.queries.iter().enumerate() {
                let value_of = |learner: usize| set.system(learner)?.mean.results[m].values[q];
                let values: Vec<Option<f64>> = (0..names.len()).map(value_of).collect();
                if values.iter().all(Option::is_none) {
                    continue;
                }
                let shown = values.iter().map(|v| v.map_or(String::new(), |v| format!("{v:.10}")));
                let shown: Vec<String> = shown.collect();
                let (title, query) = (one_line(title), one_line(query));
                let _ = writeln!(text, "{title}\t{metric}\t{query}\t{}", shown.join("\t"));
            }
        }
    }
    text
}
