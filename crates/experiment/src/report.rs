//! The report on an experiment: a comparison for each data set on one page, and files beside it.
//!
//! Everything is computed from the stored cells, in the order of the experiment's file. A cell is
//! one training run: data set x fold x learner x seed. The files do not depend on interruptions,
//! jobs and threads, except that times are written to `times.json` and `times.md`, and threads to
//! the lock file.
//!
//! A learner takes part in a data set's comparison if all of its cells are stored. If the baseline
//! does not take part, the first learner that does is the baseline, and the page says so.
//!
//! Tables and plots by factors ([`study`](super::study)) come first. With them, more than
//! [`MAX_COMPARED`] learners are not compared with the baseline one by one: they are shown in one
//! sorted list.
//!
//! Cost: each cell is read once and each learner measured once for each seed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::store::{WriteBody, write_together};
use rankwright_data::{DataError, Dataset};
use rankwright_eval::compare::Better;
use rankwright_eval::table::{comparison_table, escape_markdown};
use rankwright_eval::{
    EvalOptions, Evaluation, QuerySource, evaluate_models, measures_for_models,
    name_boundary_of_each_model, tie_notes,
};
use rankwright_model::{Model, ScoreMeaning};
use rankwright_report::chart::Chart;
use rankwright_report::comparison::ComparisonReport;
use rankwright_report::page::{Page, PageBlock, Section};
use rankwright_spec::visible;
use rankwright_spec::words::counted;
use rayon::prelude::*;
use serde_json::Value;

use super::cell::{CellState, ExperimentCell, StoredCell};
use super::file::{Experiment, LearnerKind};
use super::plan::{FailedCells, Plan};
use super::pool::{Pooled, mean};
use super::results::{ExperimentResults, ExperimentTimes};
use super::run::PlanRun;
use super::study::Study;
use super::weights::{self, LearnerWeights};
use super::{ExperimentLock, tables, to_json};
use crate::ExperimentError;

/// The report on an experiment: page, numbers and tables.
#[derive(Debug)]
pub struct ExperimentReport {
    /// The page.
    pub page: Page,
    /// All numbers of the report.
    pub results: ExperimentResults,
    /// A Markdown table for each data set.
    pub markdown: String,
    /// The same tables as plain text, for a terminal.
    pub text: String,
    /// The value of every query, tab-separated.
    pub per_query: String,
    /// Everything needed to repeat the experiment.
    pub lock: ExperimentLock,
    /// Seconds of the trainings; they differ from run to run.
    pub times: ExperimentTimes,
    /// Seconds of a round by factors, as Markdown; empty without tables by factors.
    pub times_markdown: String,
    /// Learning curves by factors.
    pub plots: Vec<Chart>,
    /// Cells without a result.
    pub failed: Vec<FailedCells>,
}

/// A system of the comparison: all results of a learner on a data set.
pub(super) struct System {
    /// Index of the learner.
    pub(super) learner: usize,
    pub(super) cells: Vec<(ExperimentCell, StoredCell)>,
    /// The scores of the test documents, by seed and fold; empty if documents are not shown.
    pub(super) scores: Vec<Vec<Vec<f64>>>,
    /// One evaluation for each seed.
    pub(super) seeds: Vec<(u64, Evaluation)>,
    /// The mean over the seeds.
    pub(super) mean: Evaluation,
}

/// All results on a data set.
pub(super) struct SetResult {
    /// Index of the data set.
    pub(super) data: usize,
    /// Number of test queries of all folds.
    pub(super) queries: usize,
    /// Number of documents of these queries.
    pub(super) documents: usize,
    pub(super) features: usize,
    pub(super) systems: Vec<System>,
    /// The index in `systems` of each learner that has one.
    pub(super) index_of_learner: HashMap<usize, usize>,
    /// Number of test queries of each fold.
    pub(super) folds: Vec<usize>,
    /// Learners with cells that are neither stored nor requested.
    pub(super) not_run: HashSet<usize>,
    /// `None` if there are too many learners to compare each with the baseline.
    pub(super) comparison: Option<ComparisonReport>,
    /// The name of the baseline if it is not the requested one, else `None`.
    pub(super) other_baseline: Option<String>,
}

impl SetResult {
    /// A learner's results; `None` if not all of its cells are stored.
    pub(super) fn system(&self, learner: usize) -> Option<&System> {
        self.index_of_learner.get(&learner).and_then(|index| self.systems.get(*index))
    }
}

/// The names of the files of a report, besides plots.
pub(super) const REPORT_FILES: [&str; 7] = [
    "report.html",
    "results.json",
    "table.md",
    "per-query.tsv",
    "experiment.lock.json",
    "times.json",
    TIMES_MARKDOWN,
];

/// The table of times, which not every report has.
const TIMES_MARKDOWN: &str = "times.md";

/// The folder of the plots of a report.
pub(super) const PLOTS: &str = "plots";

/// Maximum number of learners that are all compared with the baseline if there are tables by
/// factors.
const MAX_COMPARED: usize = 40;

/// Whether there are so many learners that they are shown only in tables by factors and in one
/// sorted list.
pub(super) fn has_many_learners(experiment: &Experiment) -> bool {
    !experiment.tables.is_empty() && experiment.learners.len() > MAX_COMPARED
}

/// The form of tables as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextTable {
    Markdown,
    Plain,
}

impl ExperimentReport {
    /// Reads the stored cells, evaluates and compares. `run` is the result of running the plan.
    pub fn new(plan: &Plan<'_>, run: &PlanRun) -> Result<Self, ExperimentError> {
        let mut failed = run.failed.clone();
        let mut sets = Vec::new();
        for data in 0..plan.experiment.data.len() {
            sets.extend(set_result(plan, data, &mut failed)?);
        }
        let not_run = not_run(plan);
        let study = Study::new(plan.experiment, &sets)?;
        let weights = weights::all(plan, &sets);
        let all_tables = |form: TextTable| {
            study.text(form)
                + &tables_text(plan.experiment, &sets, &not_run, form)
                + &weights::text(plan.experiment, &weights, form)
        };
        Ok(Self {
            page: page(plan, &sets, &study, &weights, &failed, &not_run),
            markdown: all_tables(TextTable::Markdown),
            text: all_tables(TextTable::Plain),
            per_query: tables::per_query(plan.experiment, &sets),
            lock: ExperimentLock::new(plan),
            times: ExperimentTimes::new(plan, &sets, &study),
            results: ExperimentResults {
                weights,
                ..ExperimentResults::new(plan.experiment, &sets, &study, &failed, &not_run)
            },
            times_markdown: study.times(),
            plots: study.charts(),
            failed,
        })
    }

    /// Writes all files into the plan's folder, together: after a kill, they are all of one run.
    /// Plots of an earlier run that this report does not have are removed. Returns the paths of
    /// all files.
    pub fn write(&self, plan: &Plan<'_>) -> Result<Vec<PathBuf>, ExperimentError> {
        let folder = plan.out();
        fs::create_dir_all(folder)
            .map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
        let mut files = vec![
            ("report.html".to_owned(), self.page.to_html()?),
            ("results.json".to_owned(), json_text(&to_json(&self.results)?)),
            ("table.md".to_owned(), self.markdown.clone()),
            ("per-query.tsv".to_owned(), self.per_query.clone()),
            ("experiment.lock.json".to_owned(), json_text(&to_json(&self.lock)?)),
            ("times.json".to_owned(), json_text(&to_json(&self.times)?)),
        ];
        if !self.times_markdown.is_empty() {
            files.push((TIMES_MARKDOWN.to_owned(), self.times_markdown.clone()));
        }
        if !self.plots.is_empty() {
            let plots = folder.join(PLOTS);
            fs::create_dir_all(&plots)
                .map_err(|e| DataError::io("make the folder", plots.display().to_string(), e))?;
        }
        for chart in &self.plots {
            files.push((format!("{PLOTS}/{}.svg", chart.id), chart.to_svg()?));
        }
        let is_known = |name: &str| name.starts_with(PLOTS) || REPORT_FILES.contains(&name);
        debug_assert!(files.iter().all(|(name, _)| is_known(name)));
        let mut changes: Vec<(PathBuf, Option<WriteBody<'_>>)> = Vec::new();
        for (name, text) in &files {
            changes.push((folder.join(name), Some(Box::new(|out| out.write_all(text.as_bytes())))));
        }
        if self.times_markdown.is_empty() {
            // A table of times from an earlier run does not belong to these files.
            write_together([(folder.join(TIMES_MARKDOWN), None)])?;
        }
        for plot in outdated_plots(folder, &files) {
            write_together([(plot, None)])?;
        }
        write_together(changes)?;
        Ok(files.into_iter().map(|(name, _)| folder.join(name)).collect())
    }
}

/// The plots of an earlier report in a folder that are not among `files`, pairs of name and text.
fn outdated_plots(folder: &Path, files: &[(String, String)]) -> Vec<PathBuf> {
    // Files with other names were not written by a report.
    let is_plot = |name: &String| name.starts_with("plot-") && name.ends_with(".svg");
    let entries = fs::read_dir(folder.join(PLOTS)).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_plot);
    let names = names.map(|name| format!("{PLOTS}/{name}"));
    let outdated = names.filter(|name| files.iter().all(|(file, _)| file != name));
    outdated.map(|name| folder.join(name)).collect()
}

/// A JSON document as the text of a file, without control characters.
fn json_text(document: &Value) -> String {
    visible::json(&format!("{document:#}\n")).into_owned()
}

/// The results on one data set; `None` if no learner has all of its cells stored.
fn set_result(
    plan: &Plan<'_>,
    data: usize,
    failed: &mut Vec<FailedCells>,
) -> Result<Option<SetResult>, ExperimentError> {
    let experiment = plan.experiment;
    let cells_by_learner = cells_of(plan, data);
    let is_stored = |cells: &Vec<&ExperimentCell>| {
        !cells.is_empty() && cells.iter().all(|cell| plan.store.holds(cell))
    };
    if !cells_by_learner.iter().any(is_stored) {
        return Ok(None);
    }
    let tests = plan.parts[data].tests()?;
    // Learners are independent of each other, and their order is kept.
    let measured: Vec<Option<Result<System, ExperimentError>>> = cells_by_learner
        .par_iter()
        .enumerate()
        .map(|(learner, cells)| Some(system(plan, learner, load_all(plan, cells)?, &tests)))
        .collect();
    let mut systems: Vec<System> = Vec::new();
    for (learner, measured) in measured.into_iter().enumerate() {
        match measured {
            None => {}
            Some(Ok(system)) => systems.push(system),
            Some(Err(error)) => {
                let (data, learner) =
                    (experiment.data_name(data), experiment.learner_name(learner));
                failed.push(FailedCells::all_of(data, learner, &error));
            }
        }
    }
    if systems.is_empty() {
        return Ok(None);
    }
    let mut means: Vec<_> = systems.iter_mut().map(|system| &mut system.mean).collect();
    name_boundary_of_each_model(&mut means);
    let (comparison, other_baseline) = match has_many_learners(experiment) {
        true => (None, None),
        false => {
            let (comparison, other) = compare_systems(experiment, data, &systems, &tests)?;
            (Some(comparison), other)
        }
    };
    let not_run = plan.cells.iter().filter(|c| c.data == data && c.state == CellState::Skipped);
    Ok(Some(SetResult {
        data,
        queries: tests.iter().map(|test| test.queries()).sum(),
        documents: tests.iter().map(|test| test.rows()).sum(),
        features: tests.iter().map(|test| test.columns()).max().unwrap_or(0),
        folds: tests.iter().map(|test| test.queries()).collect(),
        not_run: not_run.map(|cell| cell.learner).collect(),
        index_of_learner: systems
            .iter()
            .enumerate()
            .map(|(index, system)| (system.learner, index))
            .collect(),
        systems,
        comparison,
        other_baseline,
    }))
}

/// A cell, its stored result and its test scores.
type Loaded = (ExperimentCell, StoredCell, Vec<f64>);

/// The cells of each learner on a data set.
fn cells_of<'p>(plan: &'p Plan<'_>, data: usize) -> Vec<Vec<&'p ExperimentCell>> {
    let mut cells_by_learner = vec![Vec::new(); plan.experiment.learners.len()];
    for cell in plan.cells.iter().filter(|cell| cell.data == data) {
        cells_by_learner[cell.learner].push(cell);
    }
    cells_by_learner
}

/// A learner's cells; `None` if there are none or not all of them are stored.
fn load_all(plan: &Plan<'_>, cells: &[&ExperimentCell]) -> Option<Vec<Loaded>> {
    let load = |cell: &&ExperimentCell| {
        let (mut stored, scores) = plan.store.load(cell)?;
        // Keys are not needed any more, and there may be thousands.
        stored.key = Value::Null;
        Some((
            ExperimentCell { key: Value::Null, digest: cell.digest.clone(), ..**cell },
            stored,
            scores,
        ))
    };
    let cells = cells.iter().map(load).collect::<Option<Vec<_>>>()?;
    (!cells.is_empty()).then_some(cells)
}

/// Evaluates the scores of the learner with this index, seed by seed.
fn system(
    plan: &Plan<'_>,
    learner: usize,
    cells: Vec<Loaded>,
    tests: &[Arc<Dataset>],
) -> Result<System, ExperimentError> {
    let experiment = plan.experiment;
    let seeds = experiment.seeds_of(&experiment.learners[learner]);
    let (mut scores, mut evaluations) = (Vec::new(), Vec::new());
    for seed in seeds {
        // Cells are in the order of folds.
        let of_seed = || cells.iter().filter(|(cell, ..)| cell.seed == *seed);
        let scores_of_seed: Vec<Vec<f64>> = of_seed().map(|(.., scores)| scores.clone()).collect();
        let pooled = Pooled::new(tests, &scores_of_seed)?;
        let meanings = of_seed().map(|(cell, ..)| score_meaning(plan, learner, cell));
        let meanings = meanings.collect::<Result<Vec<_>, _>>()?;
        let boundary = |meaning: Option<ScoreMeaning>| {
            move |rel| meaning.as_ref().and_then(|meaning| meaning.boundary(rel))
        };
        let boundaries: Vec<_> = meanings.into_iter().map(boundary).collect();
        let models = measures_for_models(&experiment.metrics, &boundaries)?;
        let options = EvalOptions::default().tie_effect(true);
        evaluations.push((*seed, evaluate_models(&pooled, &models, &pooled.folds(), options)?));
        if !has_many_learners(experiment) && experiment.seeds.len() == 1 {
            scores.push(scores_of_seed);
        }
    }
    let mut of_seeds: Vec<_> = evaluations.iter_mut().map(|(_, found)| found).collect();
    name_boundary_of_each_model(&mut of_seeds);
    let without_seeds: Vec<Evaluation> = evaluations.iter().map(|(_, e)| e.clone()).collect();
    let mean = mean(&without_seeds)?;
    let cells = cells.into_iter().map(|(cell, stored, _)| (cell, stored)).collect();
    Ok(System { learner, cells, scores, seeds: evaluations, mean })
}

/// The meaning of the scores of a cell's model; `None` if they only rank, or if no metric compares
/// them with a boundary of the model.
fn score_meaning(
    plan: &Plan<'_>,
    learner: usize,
    cell: &ExperimentCell,
) -> Result<Option<ScoreMeaning>, ExperimentError> {
    let experiment = plan.experiment;
    if experiment.metrics.iter().all(|measure| measure.takes_boundary().is_none()) {
        return Ok(None);
    }
    let model = match &experiment.learners[learner].kind {
        LearnerKind::Model(file) => Model::load(&file.path)?,
        LearnerKind::Spec(_) => {
            let internal = ExperimentError::Internal { invariant: "a stored cell has its model" };
            plan.store.model(&cell.digest).ok_or(internal)?
        }
    };
    Ok(model.score_meaning())
}

/// Compares the systems of a data set; also returns the name of the baseline if it is not the
/// requested one.
fn compare_systems(
    experiment: &Experiment,
    data: usize,
    systems: &[System],
    tests: &[Arc<Dataset>],
) -> Result<(ComparisonReport, Option<String>), ExperimentError> {
    let named: Vec<(String, Evaluation)> = systems
        .iter()
        .map(|system| (experiment.learner_name(system.learner).to_owned(), system.mean.clone()))
        .collect();
    let requested = experiment.compare.baseline.as_ref();
    let has_baseline = named.iter().any(|(name, _)| Some(name) == requested);
    let other = named.first().map(|(name, _)| name.clone()).filter(|_| !has_baseline);
    let baseline = other.clone().or(requested.cloned());
    let options = experiment.compare.clone().baseline(baseline);
    let title = experiment.data_name(data);
    let mut report = ComparisonReport::new(title, named, &options)?;
    // Lists of documents belong to one seed; means over several seeds have none.
    if experiment.seeds.len() == 1 {
        let pooled = systems.iter().filter_map(|system| system.scores.first());
        let pooled = pooled.map(|scores| Pooled::new(tests, scores));
        let pooled = pooled.collect::<Result<Vec<_>, _>>()?;
        let sources: Vec<&dyn QuerySource> = pooled.iter().map(|p| p as &dyn QuerySource).collect();
        report = report.with_sources(&sources, &[], EvalOptions::default())?;
    }
    Ok((report, other))
}

/// Names of the learners with cells that were neither stored nor requested.
fn not_run(plan: &Plan<'_>) -> Vec<String> {
    let skipped = plan.cells.iter().filter(|cell| cell.state == CellState::Skipped);
    let learners: BTreeSet<usize> = skipped.map(|cell| cell.learner).collect();
    learners.into_iter().map(|learner| plan.experiment.learner_name(learner).to_owned()).collect()
}

/// The comparison tables, one after the other.
fn tables_text(
    experiment: &Experiment,
    sets: &[SetResult],
    not_run: &[String],
    form: TextTable,
) -> String {
    let mut text = String::new();
    for set in sets {
        let Some(report) = &set.comparison else { continue };
        let mut table = comparison_table(report.comparison());
        let seeds = experiment.seeds.len();
        if seeds > 1 {
            table.notes.push(format!("The value of a query is the mean over {seeds} seeds."));
        }
        let systems = report.systems().iter().map(|(name, found)| (name.as_str(), found));
        table.notes.extend(tie_notes(systems));
        table.notes.extend(other_baseline_note(experiment, set));
        table.notes.extend(tables::warnings(experiment, set));
        if !not_run.is_empty() {
            table.notes.push(format!("Not run yet: {}.", not_run.join(", ")));
        }
        let title = tables::heading(experiment, set);
        text += &match form {
            TextTable::Markdown => {
                format!("### {}\n\n{}\n", escape_markdown(&title), table.to_markdown())
            }
            TextTable::Plain => format!("{title}\n{}\n", table.to_text()),
        };
    }
    text
}

/// The page of the report.
fn page(
    plan: &Plan<'_>,
    sets: &[SetResult],
    study: &Study,
    weights: &[LearnerWeights],
    failed: &[FailedCells],
    not_run: &[String],
) -> Page {
    let experiment = plan.experiment;
    let mut sections: Vec<Section> = study.sections();
    if has_many_learners(experiment) {
        sections.push(tables::sorted(experiment, sets));
    } else if sets.len() > 1 {
        sections.push(tables::overview(experiment, sets));
    }
    for set in sets {
        let Some(report) = &set.comparison else { continue };
        let page = report.page();
        let (prefix, title) = match sets.len() {
            1 => (String::new(), String::new()),
            _ => (format!("d{}-", set.data + 1), page.title.clone()),
        };
        sections.extend(page.sections.into_iter().map(|s| prefixed(s, &prefix, &title)));
    }
    if experiment.seeds.len() > 1 && !has_many_learners(experiment) {
        sections.push(tables::seeds(experiment, sets));
    }
    sections.extend(weights::section(experiment, weights));
    sections.push(tables::learners(experiment));
    sections.extend(tables::failures(failed));
    sections.push(tables::repeat(plan));
    Page {
        title: experiment.name.clone(),
        summary: summary(experiment, sets, failed),
        facts: tables::facts(experiment, sets, not_run),
        conventions: tables::metric_conventions(sets),
        sections,
    }
}

/// A note if another learner had to be the baseline.
fn other_baseline_note(experiment: &Experiment, set: &SetResult) -> Option<String> {
    let (other, requested) =
        (set.other_baseline.as_ref()?, experiment.compare.baseline.as_deref()?);
    Some(format!("{requested} has no result on this data set, so {other} is the baseline."))
}

/// The summary, a sentence for each data set.
fn summary(experiment: &Experiment, sets: &[SetResult], failed: &[FailedCells]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    if !experiment.description.is_empty() {
        sentences.push(experiment.description.trim().to_owned());
    }
    for set in sets {
        let title = experiment.data_name(set.data);
        // Among many learners, the best one on test data is mostly chance.
        let best = best(set).filter(|_| !has_many_learners(experiment)).map(|(system, value)| {
            let metric = experiment.main_metric();
            let name = experiment.learner_name(system.learner);
            format!(
                "On {title}, {name} has the best {metric} of {}: {value:.4}.",
                counted(set.systems.len(), "learner")
            )
        });
        sentences.extend(best);
        sentences.extend(other_baseline_note(experiment, set));
    }
    match failed.len() {
        0 => {}
        _ => sentences.push("Some cells have no result; see Failed cells.".to_owned()),
    }
    sentences.join(" ")
}

/// The system with the best value of the first metric, the first among equals.
fn best(set: &SetResult) -> Option<(&System, f64)> {
    let mut best: Option<(&System, f64)> = None;
    for system in &set.systems {
        let result = system.mean.results.first()?;
        let is_better = best.is_none_or(|(_, value)| match result.measure.metric().better() {
            Better::Higher => result.value > value,
            Better::Lower => result.value < value,
        });
        if is_better && !result.value.is_nan() {
            best = Some((system, result.value));
        }
    }
    best
}

/// A section of a data set's report, with `prefix` before its ids and `title`, the data set's name,
/// before its heading; unchanged if `prefix` is empty.
fn prefixed(mut section: Section, prefix: &str, title: &str) -> Section {
    if prefix.is_empty() {
        return section;
    }
    section.id.insert_str(0, prefix);
    section.title = format!("{title}: {}", section.title);
    section.blocks.iter_mut().for_each(|block| prefix_ids(block, prefix));
    section
}

/// Puts `prefix` before the ids of a block.
fn prefix_ids(block: &mut PageBlock, prefix: &str) {
    match block {
        PageBlock::Text(_) => {}
        PageBlock::Chart(chart) => chart.id.insert_str(0, prefix),
        PageBlock::Table { id, .. } | PageBlock::Drawing { id, .. } => id.insert_str(0, prefix),
        PageBlock::Choice { id, groups, .. } => {
            id.insert_str(0, prefix);
            let blocks = groups.iter_mut().flat_map(|(_, blocks)| blocks);
            blocks.for_each(|block| prefix_ids(block, prefix));
        }
    }
}
