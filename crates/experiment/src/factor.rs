//! Factors: the settings in which learners of a study differ, and each learner's value of them.
//!
//! A factor is a parameter of learners, or [`ENTRY`], the name of a learner's `[[learner]]` entry.
//! The value of a factor is the learner's setting, whether the spec has it or it is the default; a
//! learner without the parameter has the value [`ABSENT`].

use std::collections::HashMap;

use super::file::{Experiment, ExperimentLearner, FactorLayout, LearnerKind};

/// The factor that is not a parameter: the name of the entry.
pub(super) const ENTRY: &str = "learner";
/// The value of a parameter that a learner does not have.
pub(super) const ABSENT: &str = "-";

/// A learner's value of a factor.
pub(super) fn value(experiment: &Experiment, learner: &ExperimentLearner, factor: &str) -> String {
    if factor == ENTRY {
        return experiment.entry_of(learner).to_owned();
    }
    setting(learner, factor).unwrap_or_else(|| ABSENT.to_owned())
}

/// A learner's setting of a parameter, written or by default; `None` if it has no such parameter.
pub(super) fn setting(learner: &ExperimentLearner, name: &str) -> Option<String> {
    let LearnerKind::Spec(spec) = &learner.kind else { return None };
    spec.learner().params().text(name)
}

/// A learner's values of several factors.
pub(super) fn values(
    experiment: &Experiment,
    learner: &ExperimentLearner,
    factors: &[String],
) -> Vec<String> {
    factors.iter().map(|factor| value(experiment, learner, factor)).collect()
}

/// The values in words: "newton=cross-leaf leaves=7"; the name of an entry is written alone.
pub(super) fn words(factors: &[String], values: &[String]) -> String {
    let word = |(factor, value): (&String, &String)| match factor.as_str() {
        ENTRY => value.clone(),
        _ => format!("{factor}={value}"),
    };
    factors.iter().zip(values).map(word).collect::<Vec<_>>().join(" ")
}

/// The learners of a layout by row and column; rows and columns in the order in which they first
/// occur.
#[derive(Debug)]
pub(super) struct FactorGrid {
    /// For each row, its values of the row factors.
    pub(super) rows: Vec<Vec<String>>,
    /// For each column, its values of the column factors.
    pub(super) columns: Vec<Vec<String>>,
    /// Indices of the learners at each row and column, one of which is chosen on validation data.
    groups: HashMap<(usize, usize), Vec<usize>>,
}

impl FactorGrid {
    pub(super) fn new(experiment: &Experiment, layout: &FactorLayout) -> Self {
        let mut grid = Self { rows: Vec::new(), columns: Vec::new(), groups: HashMap::new() };
        for index in &layout.learners {
            let learner = &experiment.learners[*index];
            let row = index_of(&mut grid.rows, values(experiment, learner, &layout.rows));
            let column = index_of(&mut grid.columns, values(experiment, learner, &layout.columns));
            grid.groups.entry((row, column)).or_default().push(*index);
        }
        grid
    }

    /// Indices of the learners at a row and column, in the order of the file; empty if no learner
    /// has both values.
    pub(super) fn group(&self, row: usize, column: usize) -> &[usize] {
        self.groups.get(&(row, column)).map_or(&[], Vec::as_slice)
    }
}

/// The index of these values in a list; new values are added at the end.
fn index_of(list: &mut Vec<Vec<String>>, values: Vec<String>) -> usize {
    let found = list.iter().position(|other| *other == values);
    found.unwrap_or_else(|| {
        list.push(values);
        list.len() - 1
    })
}
