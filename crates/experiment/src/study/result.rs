//! Tables and learning curves by factors, which are settings in which learners differ, as
//! serialisable results.

use std::collections::BTreeMap;

use serde::Serialize;

/// Values of factors by name.
pub type FactorValues = BTreeMap<String, String>;

/// A table by factors on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorTableResult {
    /// Title of the table.
    pub title: String,
    /// Name of the data set.
    pub data: String,
    /// Metrics that are shown.
    pub metrics: Vec<String>,
    /// The metric on validation data that settings are chosen by.
    pub chosen_by: String,
    /// Factors of the rows.
    pub rows: Vec<String>,
    /// Factors of the columns.
    pub columns: Vec<String>,
    /// Factors whose values are chosen.
    pub choose: Vec<String>,
    /// Values of the factors of the row that the other rows are compared with.
    pub baseline: FactorValues,
    /// Number of test queries.
    pub queries: usize,
    /// Learners that failed, so that they could not be chosen.
    pub failed: Vec<String>,
    /// Learners that are yet to be run.
    pub not_run: Vec<String>,
    /// The cells of the table that have a value.
    pub cells: Vec<FactorCell>,
}

/// The position of a cell in a table by factors.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorPosition {
    /// Values of the row's factors.
    pub row: FactorValues,
    /// Values of the column's factors.
    pub column: FactorValues,
    /// The metric.
    pub metric: String,
}

/// The value of a table cell, compared with the baseline's row in the same column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorCell {
    /// The position in the table.
    #[serde(flatten)]
    pub position: FactorPosition,
    /// Mean over the test queries; `None` if no query has a value.
    pub value: Option<f64>,
    /// 95 % confidence interval of the mean; `None` if there are too few queries.
    pub ci95: Option<[f64; 2]>,
    /// Number of queries that have a value.
    pub queries: usize,
    /// Whether no other row of the column has a better mean.
    pub best: bool,
    /// Mean difference to the baseline's row; `None` for the baseline.
    pub difference: Option<f64>,
    /// 95 % confidence interval of the difference; `None` for the baseline.
    pub difference_ci95: Option<[f64; 2]>,
    /// p-value of the difference; `None` for the baseline.
    pub p: Option<f64>,
    /// The p-value corrected over the rows of the column; `None` for the baseline.
    pub p_corrected: Option<f64>,
    /// Symbol of a significant difference; empty without one.
    pub mark: &'static str,
    /// Mean over folds of the best round, from 1; `None` without validation values.
    pub best_round: Option<f64>,
    /// The learner chosen on each fold.
    pub folds: Vec<FoldChoice>,
}

/// The learner that validation data chose on a fold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoldChoice {
    /// The fold, from 1.
    pub fold: usize,
    /// Name of the learner.
    pub learner: String,
    /// The learner's values of the chosen factors.
    pub chosen: FactorValues,
    /// The learner's value on validation data, mean over the seeds; `None` if it has no value.
    pub validation: Option<f64>,
    /// The learner's best round, from 1, mean over the seeds; `None` if it has no best round.
    pub best_round: Option<f64>,
}

/// Seconds of a round in each cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorTableTimes {
    /// Title of the table.
    pub title: String,
    /// Name of the data set.
    pub data: String,
    /// The times by cell.
    pub cells: Vec<FactorSeconds>,
}

/// Seconds of a round in one table cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorSeconds {
    /// The position in the table.
    #[serde(flatten)]
    pub position: FactorPosition,
    /// Seconds of the median round, mean over the trainings of all learners to choose from; `None`
    /// without rounds.
    pub seconds_per_round: Option<f64>,
}

/// A panel of a plot by factors on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorPlotResult {
    /// Name of the chart and of its file.
    pub id: String,
    /// Title of the plot.
    pub title: String,
    /// Name of the data set.
    pub data: String,
    /// Values of the panel's factors in words; empty if there is one panel.
    pub panel: String,
    /// The metric of the learning curves, on validation data.
    pub metric: String,
    /// The learning curves.
    pub lines: Vec<FactorLine>,
}

/// A learning curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FactorLine {
    /// Values of the line's factors in words.
    pub line: String,
    /// Name of the learner that was chosen.
    pub learner: String,
    /// The learner's best value on validation data, mean over folds and seeds; `None` if it has no
    /// value.
    pub validation: Option<f64>,
    /// Rounds, from 1, and the values after them; `None` if a fold has no value.
    pub points: Vec<(f64, Option<f64>)>,
}
