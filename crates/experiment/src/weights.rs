//! The weights of linear models, and tables of the largest and the smallest of them, as in Joachims
//! (2002).
//!
//! A weight is that of the raw value of a feature, as the mean over the trainings (folds and seeds)
//! of a learner on a data set. Weights of features with different ranges cannot be compared with
//! each other. Learners whose models are not linear, or name different features, have no table.

use rankwright_eval::table::{Align, Cell as TableCell, Table, escape_markdown};
use rankwright_model::{Model, ModelBody};
use rankwright_report::PageBlock;
use rankwright_report::page::Section;
use rankwright_spec::words::counted;
use serde::Serialize;

use super::file::Experiment;
use super::plan::Plan;
use super::report::{SetResult, TextTable};

/// The weights of a learner's linear models on a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearnerWeights {
    /// Name of the data set.
    pub data: String,
    /// Name of the learner.
    pub learner: String,
    /// Number of models that the weights are means of.
    pub models: usize,
    /// All features, the largest weight first; equal ones in the order of the data.
    pub weights: Vec<MeanWeight>,
}

/// The mean weight of a feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MeanWeight {
    /// Name of the feature.
    pub feature: String,
    /// Mean weight of its raw value.
    pub weight: f64,
}

/// The weights of all linear learners; empty if the experiment shows none.
pub(super) fn all(plan: &Plan<'_>, sets: &[SetResult]) -> Vec<LearnerWeights> {
    if plan.experiment.weights == 0 {
        return Vec::new();
    }
    let systems = sets.iter().flat_map(|set| set.systems.iter().map(move |system| (set, system)));
    let found = systems.filter_map(|(set, system)| {
        let models = system.cells.iter().map(|(cell, _)| plan.store.model(&cell.digest));
        let weights = mean_weights(&models.collect::<Option<Vec<Model>>>()?)?;
        Some(LearnerWeights {
            data: plan.experiment.data_name(set.data).to_owned(),
            learner: plan.experiment.learner_name(system.learner).to_owned(),
            models: system.cells.len(),
            weights,
        })
    });
    found.collect()
}

/// The mean weights of linear models of the same features; `None` for other models.
fn mean_weights(models: &[Model]) -> Option<Vec<MeanWeight>> {
    let names = &models.first()?.header().features;
    let mut sums = vec![0.0; names.len()];
    for model in models {
        let ModelBody::Linear(linear) = model.body() else { return None };
        if model.header().features != *names {
            return None;
        }
        sums.iter_mut().zip(linear.weights()).for_each(|(sum, weight)| *sum += weight);
    }
    let mean = |(column, sum): (usize, f64)| MeanWeight {
        feature: names.name(column).into_owned(),
        weight: sum / models.len() as f64,
    };
    let mut weights: Vec<MeanWeight> = sums.into_iter().enumerate().map(mean).collect();
    weights.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Some(weights)
}

/// The tables as text, one after the other.
pub(super) fn text(experiment: &Experiment, all: &[LearnerWeights], form: TextTable) -> String {
    let table_text = |weights: &LearnerWeights| {
        let (title, table) = (title(weights), table(experiment, weights));
        match form {
            TextTable::Markdown => {
                format!("### {}\n\n{}\n", escape_markdown(&title), table.to_markdown())
            }
            TextTable::Plain => format!("{title}\n{}\n", table.to_text()),
        }
    };
    all.iter().map(table_text).collect()
}

/// The section of the page; `None` without tables.
pub(super) fn section(experiment: &Experiment, all: &[LearnerWeights]) -> Option<Section> {
    let block = |(number, weights): (usize, &LearnerWeights)| PageBlock::Table {
        id: format!("weights-{}", number + 1),
        title: title(weights),
        table: table(experiment, weights),
    };
    let blocks: Vec<PageBlock> = all.iter().enumerate().map(block).collect();
    let (id, title) = ("weights".to_owned(), "Weights of linear models".to_owned());
    (!blocks.is_empty()).then_some(Section { id, title, blocks })
}

fn title(weights: &LearnerWeights) -> String {
    format!("Weights of {}, {}", weights.learner, weights.data)
}

/// The largest and the smallest weights.
fn table(experiment: &Experiment, weights: &LearnerWeights) -> Table {
    let mut table = Table::new([("weight", Align::Right), ("feature", Align::Left)]);
    let (shown, count) = (experiment.weights, weights.weights.len());
    for (position, MeanWeight { feature, weight }) in weights.weights.iter().enumerate() {
        if position < shown || position + shown >= count {
            table.rows.push(vec![
                TableCell::new(format!("{weight:.4}")),
                TableCell::new(feature.as_str()),
            ]);
        }
    }
    let models = counted(weights.models, "training");
    table.notes.push(format!("Mean over {models}; weights of raw values."));
    let hidden = count.saturating_sub(2 * shown);
    if hidden > 0 {
        let features = counted(hidden, "feature");
        table
            .notes
            .push(format!("{features} between the largest and the smallest weights not shown."));
    }
    table
}
