//! One learner with several shrinkages (learning rates), their learning curves overlaid.
//!
//! Shrinkage is the factor that each tree's step is multiplied by (Friedman, Greedy Function
//! Approximation, 2001, section 5): large steps learn fast and soon overfit the training data,
//! small steps need more trees and reach higher values. Every run has the same data, seed and
//! parameters except for `rate`. The best number of rounds of each run is chosen on the validation
//! data itself, so that the values there are slightly too good, for each rate alike.
//!
//! Differences between the best models of two rates are tested on the queries of the validation
//! data, by a randomisation test with Holm's correction. With a single rate there is no test.

use rankwright_eval::compare::{
    BaselineDelta, Better, CompareOptions, Comparison, compare_evaluations,
};
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_eval::{Evaluation, Measure};
use rankwright_learn::TrainingHistory;
use rankwright_spec::words::{counted, plural};
use serde::{Serialize, Serializer};

use super::NamedData;
use super::curves::thinned_indices;
use crate::chart::{Axis, Body, Chart, Series};
use crate::error::ReportError;
use crate::metric_axis::metric_axis;
use crate::page::{Page, PageBlock, Section};
use crate::warning::ReportWarning;

/// Maximum number of points of a line.
const POINTS: usize = 200;

/// The trainings of a shrinkage report: a learner on two data sets, once for each rate.
#[derive(Debug, Clone)]
pub struct ShrinkageInput<'a> {
    /// The learner before its rate is replaced, as a spec.
    pub learner: String,
    /// Training data.
    pub train: NamedData<'a>,
    /// Validation sets; the first one determines the best round.
    pub valid: Vec<NamedData<'a>>,
    /// The metric that is computed after each round.
    pub measure: Measure,
    /// Seed of every training.
    pub seed: u64,
}

impl<'a> ShrinkageInput<'a> {
    /// The training data, then the validation sets.
    fn sets(&self) -> impl Iterator<Item = &NamedData<'a>> {
        std::iter::once(&self.train).chain(&self.valid)
    }
}

/// A training with one rate.
#[derive(Debug, Clone)]
pub struct ShrinkageRun {
    /// The rate.
    pub rate: f64,
    /// The learner with that rate.
    pub learner: String,
    /// Values after each round: the training data is the first set, then come validation sets.
    pub history: TrainingHistory,
    /// The evaluation of the best model on the first validation set.
    pub best: Evaluation,
}

impl ShrinkageRun {
    /// The metric after each round on one data set: 0 is the training data, 1 the first validation
    /// set.
    pub fn curve(&self, set: usize) -> Vec<f64> {
        let value = |values: &Vec<Vec<f64>>| values.get(set).and_then(|v| v.first()).copied();
        let rounds = self.history.iterations.iter();
        rounds.map(|round| value(&round.values).unwrap_or(f64::NAN)).collect()
    }

    /// Number of rounds at the best value on the validation data.
    pub fn rounds(&self) -> usize {
        self.history.best.unwrap_or(self.history.iterations.len())
    }

    /// The best value on the validation data.
    pub fn value(&self) -> f64 {
        self.best.results.first().map_or(f64::NAN, |result| result.value)
    }
}

/// A report on trainings with several rates.
#[derive(Debug, Clone)]
pub struct ShrinkageReport {
    /// Name and text of facts about the origin of the report.
    pub facts: Vec<(String, String)>,
    /// Warnings for the reader.
    pub warnings: Vec<ReportWarning>,
    /// The metric.
    pub metric: String,
    /// The conventions of the metric: how ties, unjudged documents and so on are treated.
    pub convention: String,
    /// Names of the training data and of the validation sets, of which there is at least one.
    pub sets: Vec<String>,
    /// Name of a round, such as `tree`.
    pub unit: String,
    /// The runs, in the requested order.
    pub runs: Vec<ShrinkageRun>,
    /// Index of the run with the best value.
    pub best: usize,
    /// The comparison of the best models of all rates, with the best rate as the baseline; `None`
    /// for a single run.
    pub comparison: Option<Comparison>,
}

impl ShrinkageReport {
    /// Compares the best models of the trainings.
    pub fn new(input: &ShrinkageInput<'_>, runs: Vec<ShrinkageRun>) -> Result<Self, ReportError> {
        let sets: Vec<String> = input.sets().map(|set| set.name.to_owned()).collect();
        if sets.len() < 2 {
            return Err(ReportError::NoValidation);
        }
        let better = input.measure.metric().better();
        // Higher is better.
        let quality = |run: usize| match better {
            Better::Higher => runs[run].value(),
            Better::Lower => -runs[run].value(),
        };
        let Some(best) = (0..runs.len())
            .reduce(|best, run| if quality(run) > quality(best) { run } else { best })
        else {
            return Err(ReportError::NoTraining);
        };
        let names: Vec<String> = runs.iter().map(run_name).collect();
        let comparison = match runs.len() {
            1 => None,
            _ => {
                let options = CompareOptions::default().baseline(names[best].clone());
                let named = names.iter().cloned().zip(runs.iter().map(|run| run.best.clone()));
                Some(compare_evaluations(&named.collect::<Vec<_>>(), &options)?)
            }
        };
        let unit = runs.first().map_or(String::new(), |run| run.history.unit.clone());
        Ok(ShrinkageReport {
            facts: facts(input),
            warnings: Vec::new(),
            metric: input.measure.to_string(),
            convention: input.measure.convention().to_owned(),
            sets,
            unit: if unit.is_empty() { "tree".to_owned() } else { unit },
            runs,
            best,
            comparison,
        })
    }

    /// The report as a page.
    pub fn page(&self) -> Page {
        let best = &self.runs[self.best];
        let summary = format!(
            "Of {} the best on {} is {}: {} {:.4} after {}.",
            counted(self.runs.len(), "rate"),
            self.sets[1],
            best.rate,
            self.metric,
            best.value(),
            counted(best.rounds(), &self.unit)
        );
        let on_validation = "With a large rate the curve rises fast and soon falls again; with a small rate it \
             rises slowly and for longer.";
        let on_training = "On the training data the curve keeps rising; this does not show how the model \
             ranks new queries.";
        let mut sections = vec![self.section(1, ("valid", "Validation data"), on_validation)];
        for set in 2..self.sets.len() {
            let id = format!("valid-{set}");
            sections.push(self.section(set, (&id, "More validation data"), on_validation));
        }
        sections.push(self.section(0, ("train", "Training data"), on_training));
        sections.push(self.values_section());
        Page {
            title: "Shrinkage".into(),
            summary,
            facts: self.facts.clone(),
            conventions: vec![format!("{}: {}", self.metric, self.convention)],
            sections,
        }
    }

    /// The learning curves of all rates on one data set.
    fn section(&self, set: usize, (id, title): (&str, &str), text: &str) -> Section {
        let data = &self.sets[set];
        let series = |run: &ShrinkageRun| {
            let values = run.curve(set);
            let point = |i: usize| (run.history.iterations[i].number as f64, values[i]);
            let indices = thinned_indices(values.len(), POINTS, run.history.best);
            Series {
                name: run_name(run),
                points: indices.into_iter().map(point).collect(),
                ..Series::default()
            }
        };
        let chart = Chart {
            id: format!("shrinkage-{id}"),
            title: format!("{} on {data} against {}", self.metric, plural(&self.unit)),
            caption: format!("A line for each rate. {text}"),
            x: Axis { label: plural(&self.unit), ..Axis::default() },
            y: metric_axis(&self.metric),
            body: Body::Lines(self.runs.iter().map(series).collect()),
        };
        Section { id: id.into(), title: title.into(), blocks: vec![PageBlock::Chart(chart)] }
    }

    /// The best value of each rate.
    fn values_section(&self) -> Section {
        let text = format!(
            "The best number of {} of each rate was chosen on the validation data itself, so these \
             values are slightly too good, for all rates alike.",
            plural(&self.unit)
        );
        let (id, title) = ("shrinkage-values".to_owned(), "Best value of each rate".to_owned());
        let blocks =
            vec![PageBlock::Text(text), PageBlock::Table { id, title, table: self.table() }];
        Section { id: "values".into(), title: "Best values".into(), blocks }
    }

    /// A table with a row for each rate.
    pub fn table(&self) -> Table {
        let mut table = Table::new([
            ("rate".to_owned(), Align::Right),
            (format!("best {}", self.metric), Align::Right),
            ("95% interval".to_owned(), Align::Right),
            (plural(&self.unit), Align::Right),
            ("after the last round".to_owned(), Align::Right),
            ("training data".to_owned(), Align::Right),
            ("p".to_owned(), Align::Right),
        ]);
        for (index, run) in self.runs.iter().enumerate() {
            let last = run.curve(1).last().copied().unwrap_or(f64::NAN);
            let on_training = run.curve(0).get(run.rounds().saturating_sub(1)).copied();
            let ci = run.best.results.first().and_then(|result| result.ci95);
            let vs_baseline = self.vs_baseline(index);
            let mark = vs_baseline.map(|vs_baseline| vs_baseline.mark).unwrap_or_default();
            let value = format!("{:.4}", run.value());
            table.rows.push(vec![
                Cell::new(run.rate.to_string()),
                Cell { mark, best: index == self.best, ..Cell::new(value) },
                Cell::new(ci.map_or("-".into(), |(low, high)| format!("{low:.4} to {high:.4}"))),
                Cell::new(run.rounds().to_string()),
                Cell::new(format!("{last:.4}")),
                Cell::new(on_training.map_or("-".into(), |value| format!("{value:.4}"))),
                Cell::new(
                    vs_baseline.map_or("-".into(), |vs_baseline| {
                        format!("{:.4}", vs_baseline.p_corrected)
                    }),
                ),
            ]);
        }
        table.notes.push(format!("values on {}", self.sets[1]));
        if let Some(comparison) = &self.comparison {
            table.notes.push(format!(
                "p: {} test against the best rate over queries, correction {}",
                comparison.options.test, comparison.options.correction
            ));
        }
        table
    }

    /// The difference of a run to the best one; none for the best run itself.
    fn vs_baseline(&self, run: usize) -> Option<&BaselineDelta> {
        self.comparison.as_ref()?.metrics.first()?.systems.get(run)?.vs_baseline.as_ref()
    }
}

/// The JSON of a shrinkage report.
#[derive(Serialize)]
struct ShrinkageResult<'a, W> {
    /// The metric.
    metric: &'a str,
    /// The conventions of the metric: how ties, unjudged documents and so on are treated.
    convention: &'a str,
    /// Name of a round, such as `tree`.
    unit: &'a str,
    /// The rate with the best value.
    best_rate: f64,
    /// The trainings, by rate.
    runs: Vec<RateResult<'a>>,
    /// Warnings about the data and the models.
    warnings: &'a [W],
}

/// The result of one rate.
#[derive(Serialize)]
struct RateResult<'a> {
    /// The learning rate.
    rate: f64,
    /// The learner with this rate.
    learner: &'a str,
    /// Number of rounds at the best value on the first validation set.
    best_round: usize,
    /// The best value on the first validation set.
    value: f64,
    /// 95 % confidence interval of the value.
    ci95: Option<(f64, f64)>,
    /// Seconds of training.
    train_seconds: f64,
    /// The comparison of this rate's best model with that of the best rate; none for the best rate
    /// itself.
    versus_best: Option<BaselineDelta>,
    /// The metric on the training data after each round.
    training: Vec<f64>,
    /// The metric on the first validation set after each round.
    validation: Vec<f64>,
    /// The metric after each round on each further validation set.
    other_validation: Vec<Vec<f64>>,
}

impl Serialize for ShrinkageReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.result_with(&self.warnings).serialize(serializer)
    }
}

impl ShrinkageReport {
    /// The numbers of the report as a serialisable value, with these warnings in place of its own:
    /// a caller that read the data may have more warnings.
    pub fn result_with<'a, W: Serialize>(&'a self, warnings: &'a [W]) -> impl Serialize + 'a {
        ShrinkageResult {
            metric: &self.metric,
            convention: &self.convention,
            unit: &self.unit,
            best_rate: self.runs[self.best].rate,
            runs: self.runs.iter().enumerate().map(|(i, run)| self.rate_result(i, run)).collect(),
            warnings,
        }
    }

    fn rate_result<'a>(&self, index: usize, run: &'a ShrinkageRun) -> RateResult<'a> {
        RateResult {
            rate: run.rate,
            learner: &run.learner,
            best_round: run.rounds(),
            value: run.value(),
            ci95: run.best.results.first().and_then(|result| result.ci95),
            train_seconds: run.history.train_seconds,
            versus_best: self.vs_baseline(index).cloned(),
            training: run.curve(0),
            validation: run.curve(1),
            other_validation: (2..self.sets.len()).map(|set| run.curve(set)).collect(),
        }
    }
}

fn run_name(run: &ShrinkageRun) -> String {
    format!("rate {}", run.rate)
}

/// Name and text of facts about the origin of the report.
fn facts(input: &ShrinkageInput<'_>) -> Vec<(String, String)> {
    let name_and_size = |set: &NamedData<'_>| {
        let (queries, rows) = (set.data.queries(), set.data.rows());
        format!("{} ({}, {})", set.name, counted(queries, "query"), counted(rows, "document"))
    };
    let facts = [
        ("Learner", input.learner.clone()),
        ("Training data", name_and_size(&input.train)),
        ("Seed", input.seed.to_string()),
        ("Version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let valid = input.valid.iter().map(|set| ("Validation data", name_and_size(set)));
    // Validation data comes after training data.
    let (before, after) = facts.split_at(2);
    let all = before.iter().cloned().chain(valid).chain(after.iter().cloned());
    all.map(|(name, text)| (name.to_owned(), text)).collect()
}
