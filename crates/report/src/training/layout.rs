//! The layout of a training report as a page.

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_eval::{conventions, tie_notes};
use rankwright_spec::words::counted;

use super::{
    BestRound, CurveOrigin, NamedData, ReportPart, TrainingReport, TrainingRequest, leaderboard,
    trees,
};
use crate::page::{Page, PageBlock, Section};

/// Name and text of facts about the origin of the report: model, data and settings.
pub(super) fn facts(request: &TrainingRequest<'_>) -> Vec<(String, String)> {
    let (name, model) = request.model;
    let header = model.header();
    let mut facts = vec![("Model".to_owned(), name.to_owned())];
    let mut add = |name: &str, text: String| {
        if !text.is_empty() {
            facts.push((name.to_owned(), text));
        }
    };
    add("Learner", header.learner.clone());
    add("Objective", header.objective.clone());
    if !header.learner.is_empty() {
        add("Seed", header.seed.to_string());
    }
    let size = |queries: usize, rows: usize| {
        format!("{}, {}", counted(queries, "query"), counted(rows, "document"))
    };
    let data = request.train.data;
    let mut trained = format!("{} ({})", request.train.name, size(data.queries(), data.rows()));
    let (queries, rows) = (header.queries as usize, header.rows as usize);
    let differs = rows > 0 && (queries, rows) != (data.queries(), data.rows());
    if differs {
        trained.push_str(&format!("; the model was trained on {}", size(queries, rows)));
    }
    add(if differs { "Data of the report" } else { "Training data" }, trained);
    let named = |set: &NamedData<'_>| {
        format!("{} ({})", set.name, size(set.data.queries(), set.data.rows()))
    };
    if request.valid.is_empty() {
        add("Validation data", validation_of_training(request));
    }
    request.valid.iter().for_each(|set| add("Validation data", named(set)));
    add("Version", env!("CARGO_PKG_VERSION").to_owned());
    facts
}

/// The text about validation data if the request has none.
fn validation_of_training(request: &TrainingRequest<'_>) -> String {
    let sets = request.log.iter().flat_map(|log| &log.history.sets);
    let sets: Vec<&str> = sets.map(String::as_str).filter(|name| *name != "training").collect();
    match sets.is_empty() {
        true => "none".to_owned(),
        false => format!("none given; the training was validated on {}", sets.join(", ")),
    }
}

impl TrainingReport {
    /// The report as a page.
    pub fn page(&self) -> Page {
        let data = self.values.first().map_or("the training data", |(name, _)| name.as_str());
        Page {
            title: format!("Training report of {}", self.name),
            summary: self.summary(),
            facts: self.facts.clone(),
            conventions: self.conventions(),
            sections: self.sections(data),
        }
    }

    /// The sections of the page; `data` is the name of the training data.
    fn sections(&self, data: &str) -> Vec<Section> {
        let candidates = self.choice.as_ref().map(leaderboard::section);
        candidates
            .into_iter()
            .chain([
                self.curve_section(),
                section(&self.lambdas, "lambdas", "Lambdas", |part| {
                    part.section(&self.stages, data)
                }),
                self.labels.section(&self.stages, self.best(), data),
                section(&self.forces, "forces", "Forces on a ranked list", |part| {
                    part.section(&self.stages)
                }),
                section(&self.phases, "time", "Time per phase", |part| part.section()),
                self.importance.section(),
                trees::section(&self.trees),
            ])
            .collect()
    }

    /// The conventions of all metrics of the page: how ties, unjudged documents and so on are
    /// treated; and the metrics that the order of equal scores decides.
    fn conventions(&self) -> Vec<String> {
        let measured = self.values.first().map_or(&[][..], |(_, found)| &found.results);
        let mut lines = conventions(measured);
        // Curves of a log, and permutations, may have other metrics.
        let is_measured = |metric: &str| measured.iter().any(|r| r.measure.to_string() == metric);
        let curves = self.curves.iter().map(|curve| (&curve.metric, &curve.convention));
        let permuted = self.importance.permuted.as_ref().ok();
        let others = curves.chain(permuted.map(|found| (&found.metric, &found.convention)));
        for (metric, convention) in others.filter(|(metric, _)| !is_measured(metric)) {
            let line = format!("{metric}: {convention}");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(tie_notes(self.values.iter().map(|(name, found)| (name.as_str(), found))));
        lines
    }

    /// Summary of the results, in one or two sentences.
    fn summary(&self) -> String {
        let value = |(name, found): &(String, rankwright_eval::Evaluation)| {
            let result = found.results.first()?;
            Some(match result.value.is_nan() {
                true => format!("no value on {name}, because none of its queries has a value"),
                false => format!("{:.4} on {name}", result.value),
            })
        };
        let values: Vec<String> = self.values.iter().filter_map(value).collect();
        let metric = self.values.first().and_then(|(_, found)| found.results.first());
        let metric = metric.map_or(String::new(), |result| result.measure.to_string());
        let subject = match self.stages.has_earlier_stages {
            false => "The model".to_owned(),
            true => format!("After {} the model", counted(self.stages.last(), &self.unit())),
        };
        let mut summary = format!("{subject} has {metric} {}.", values.join(" and "));
        let best = self.curves.first().and_then(|curve| Some((curve, curve.best?)));
        if let Some((curve, BestRound { rounds: best, value })) = best {
            let start = if self.curves_from == Some(CurveOrigin::Log) {
                "According to the training log the"
            } else {
                "The"
            };
            summary.push_str(&format!(
                " {start} best {} on {} is {value:.4}, after {}.",
                curve.metric,
                curve.deciding_name(),
                counted(best, &self.unit())
            ));
        }
        summary
    }

    /// The name of a round: `tree`, `epoch`, ...
    fn unit(&self) -> String {
        self.stages.unit.clone()
    }

    /// The section: a chart for each metric, and the values of the whole model.
    fn curve_section(&self) -> Section {
        let mut blocks = Vec::new();
        let source = match self.curves_from {
            None => "",
            Some(CurveOrigin::Log) => "The values are from the training log.",
            Some(CurveOrigin::Trees) => {
                "The values are computed again from the first trees of the model, stage by stage."
            }
        };
        if self.curves_from.is_none() {
            blocks.push(PageBlock::Text(
                "There is no learning curve: the model has no trees that could be added one by one, \
                 and there is no training log with metrics after each round."
                    .to_owned(),
            ));
        }
        let has_log_curves = self.curves_from == Some(CurveOrigin::Log);
        let measured = self.values.first().map_or(&[][..], |(_, found)| &found.results);
        let has_no_curve = |metric: &String| self.curves.iter().all(|c| c.metric != *metric);
        let missing: Vec<String> = measured
            .iter()
            .map(|result| result.measure.to_string())
            .filter(|metric| has_log_curves && has_no_curve(metric))
            .collect();
        if !missing.is_empty() {
            let metrics = missing.join(", ");
            blocks.push(PageBlock::Text(format!("The training log has no values of {metrics}.")));
        }
        if let Some(rounds) = self.trained_rounds {
            blocks.push(PageBlock::Text(format!(
                "The training ran for {}; the model keeps the first {}, which are the best on \
                 validation data.",
                counted(rounds, &self.unit()),
                self.stages.last()
            )));
        }
        let charts = self.curves.iter().enumerate();
        let charts = charts.map(|(i, curve)| curve.chart(i + 1, &self.unit(), source));
        blocks.extend(charts.map(PageBlock::Chart));
        let (id, title) = ("curve-values".to_owned(), "The whole model".to_owned());
        blocks.push(PageBlock::Table { id, title, table: self.table() });
        Section { id: "curve".into(), title: "Learning curve".into(), blocks }
    }

    /// The table of the whole model: a row for each metric and data set.
    fn table(&self) -> Table {
        let mut table = Table::new([
            ("metric", Align::Left),
            ("data", Align::Left),
            ("value", Align::Right),
            ("95% interval", Align::Right),
            ("queries", Align::Right),
        ]);
        for (name, found) in &self.values {
            for result in &found.results {
                let interval = result.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
                table.rows.push(vec![
                    Cell::new(result.measure.to_string()),
                    Cell::new(name.as_str()),
                    Cell::new(match result.value.is_nan() {
                        true => "-".to_owned(),
                        false => format!("{:.4}", result.value),
                    }),
                    Cell::new(interval.unwrap_or_default()),
                    Cell::new(result.queries.to_string()),
                ]);
            }
        }
        table
    }
}

/// The section of a part, or one with the reason why the part is left out.
fn section<T>(
    part: &ReportPart<T>,
    id: &str,
    title: &str,
    show: impl FnOnce(&T) -> Section,
) -> Section {
    match part {
        Ok(part) => show(part),
        Err(reason) => Section {
            id: id.to_owned(),
            title: title.to_owned(),
            blocks: vec![PageBlock::Text(reason.to_string())],
        },
    }
}
