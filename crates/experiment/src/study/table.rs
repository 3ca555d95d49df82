//! The numbers of a table by factors, which are settings in which learners differ: the chosen
//! learners' test values, rows compared within a column.
//!
//! In each table cell the setting is chosen for each fold on that fold's validation part. The
//! values of all test queries, each from its fold's chosen learner, form one list; the lists of a
//! column are compared with that of the baseline's row, query by query.
//!
//! Edge cases: a cell without learners, with a learner that is yet to be run, or where no learner
//! can be chosen, has no value; learners that failed are left out of the choice and listed; a
//! column without the baseline's row has values and no tests.

use std::collections::BTreeSet;

use rankwright_eval::compare::{Better, MetricValues, SystemResult, compare};

use super::super::cell::{ExperimentCell, StoredCell};
use super::super::factor::{FactorGrid, value, words};
use super::super::file::{Experiment, FactorTable};
use super::super::report::{SetResult, System};
use super::choice::{Chosen, choose, on_fold};
use crate::ExperimentError;

/// The numbers of a table on a data set.
#[derive(Debug)]
pub(super) struct TableData {
    pub(super) grid: FactorGrid,
    /// Index of the row that the others are compared with.
    pub(super) baseline: usize,
    /// For each column of the table, the index of its metric and of its column in the grid: all
    /// columns of the first metric, then those of the next.
    pub(super) table_columns: Vec<(usize, usize)>,
    /// Table cells by row and column of the table.
    pub(super) cells_of_rows: Vec<Vec<Option<TableCell>>>,
    /// Indices of the learners that could not be chosen because they failed.
    pub(super) failed: BTreeSet<usize>,
    /// Indices of the learners that are yet to be run.
    pub(super) not_run: BTreeSet<usize>,
}

/// A cell of a table: the chosen learners and their result.
#[derive(Debug)]
pub(super) struct TableCell {
    /// For each factor to choose, whether it varies in this cell.
    pub(super) varies: Vec<bool>,
    /// The choice on each fold.
    pub(super) chosen: Vec<Chosen>,
    /// The mean, and the comparison with the baseline.
    pub(super) result: SystemResult,
    /// Seconds of the median round, mean over the trainings of all learners to choose from; `None`
    /// without rounds.
    pub(super) seconds_per_round: Option<f64>,
    /// The word for one round, such as `tree`; empty if there are no rounds.
    pub(super) unit: String,
}

impl TableCell {
    /// The mean over folds of the best round, from 1; `None` without validation values.
    pub(super) fn best_round(&self) -> Option<f64> {
        let rounds: Option<Vec<f64>> = self.chosen.iter().map(|c| c.validated.best_round).collect();
        let rounds = rounds.filter(|rounds| !rounds.is_empty())?;
        Some(rounds.iter().sum::<f64>() / rounds.len() as f64)
    }
}

/// A table cell before it is compared.
struct CellCandidate {
    varies: Vec<bool>,
    chosen: Vec<Chosen>,
    /// The test value of each query.
    values: Vec<Option<f64>>,
    seconds_per_round: Option<f64>,
    unit: String,
}

impl TableData {
    /// Chooses the learners of each table cell and compares the rows of each column.
    pub(super) fn new(
        experiment: &Experiment,
        table: &FactorTable,
        set: &SetResult,
    ) -> Result<Self, ExperimentError> {
        let grid = FactorGrid::new(experiment, &table.layout);
        let is_baseline = |row: &Vec<String>| {
            table.baseline.iter().all(|(factor, value)| {
                table.layout.rows.iter().zip(row).any(|(f, v)| f == factor && v == value)
            })
        };
        let invariant = "the baseline of a table is one of its rows";
        let baseline = grid.rows.iter().position(is_baseline);
        let baseline = baseline.ok_or(ExperimentError::Internal { invariant })?;
        let rows = grid.rows.len();
        let columns = grid.columns.len();
        let of_metric = |metric: usize| (0..columns).map(move |column| (metric, column));
        let table_columns: Vec<(usize, usize)> =
            table.metrics.iter().copied().flat_map(of_metric).collect();
        let mut data = Self {
            grid,
            baseline,
            table_columns: table_columns.clone(),
            cells_of_rows: (0..rows).map(|_| Vec::new()).collect(),
            failed: BTreeSet::new(),
            not_run: BTreeSet::new(),
        };
        for (metric, column) in table_columns {
            let candidates: Vec<Option<CellCandidate>> = (0..rows)
                .map(|row| data.candidate(experiment, table, set, row, (metric, column)))
                .collect();
            let cells = data.compared(experiment, table, metric, candidates)?;
            data.cells_of_rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
        }
        Ok(data)
    }

    /// Chooses the learners of a table cell; `None` if none can be chosen.
    fn candidate(
        &mut self,
        experiment: &Experiment,
        table: &FactorTable,
        set: &SetResult,
        row: usize,
        (metric, column): (usize, usize),
    ) -> Option<CellCandidate> {
        let group = self.grid.group(row, column).to_vec();
        let not_run: Vec<usize> =
            group.iter().copied().filter(|learner| set.not_run.contains(learner)).collect();
        if !not_run.is_empty() {
            self.not_run.extend(not_run);
            return None;
        }
        let systems: Vec<&System> =
            group.iter().filter_map(|learner| set.system(*learner)).collect();
        self.failed.extend(group.iter().filter(|learner| set.system(**learner).is_none()));
        let better = choice_direction(experiment);
        let chosen: Vec<Chosen> = (0..set.folds.len())
            .map(|fold| choose(&systems, better, |system| on_fold(system, fold, better)))
            .collect::<Option<_>>()?;
        let cells = || systems.iter().flat_map(|system| &system.cells);
        Some(CellCandidate {
            varies: varies(experiment, &table.layout.choose, &systems),
            values: values(set, &chosen, metric),
            chosen,
            seconds_per_round: seconds_per_round(cells()),
            unit: cells().next().map_or(String::new(), |(_, stored)| stored.unit.clone()),
        })
    }

    /// Compares the rows of a column by one metric.
    fn compared(
        &self,
        experiment: &Experiment,
        table: &FactorTable,
        metric: usize,
        candidates: Vec<Option<CellCandidate>>,
    ) -> Result<Vec<Option<TableCell>>, ExperimentError> {
        let name = |row: usize| words(&table.layout.rows, &self.grid.rows[row]);
        let present: Vec<(usize, &CellCandidate)> = candidates
            .iter()
            .enumerate()
            .filter_map(|(row, candidate)| Some((row, candidate.as_ref()?)))
            .collect();
        if present.is_empty() {
            return Ok(candidates.iter().map(|_| None).collect());
        }
        let names: Vec<String> = present.iter().map(|(row, _)| name(*row)).collect();
        let has_baseline = present.iter().any(|(row, _)| *row == self.baseline);
        let measure = &experiment.metrics[metric];
        let metric = MetricValues {
            better: measure.metric().better(),
            range: measure.metric().range(),
            ..MetricValues::new(
                measure.to_string(),
                present.iter().map(|(_, candidate)| candidate.values.clone()).collect(),
            )
        };
        let baseline = has_baseline.then(|| name(self.baseline));
        let options = experiment.compare.clone().baseline(baseline);
        let comparison = compare(&names, &[metric], &options.check()?)?;
        let mut results = comparison.metrics.into_iter().flat_map(|metric| metric.systems);
        let invariant = "a comparison has a result for each of its systems";
        let cell = |candidate: Option<CellCandidate>| {
            let Some(candidate) = candidate else { return Ok(None) };
            let mut result = results.next().ok_or(ExperimentError::Internal { invariant })?;
            if !has_baseline {
                result.vs_baseline = None;
            }
            let CellCandidate { varies, chosen, seconds_per_round, unit, .. } = candidate;
            Ok(Some(TableCell { varies, chosen, result, seconds_per_round, unit }))
        };
        candidates.into_iter().map(cell).collect()
    }
}

/// For each factor, whether it has several values among these learners.
pub(super) fn varies(
    experiment: &Experiment,
    factors: &[String],
    systems: &[&System],
) -> Vec<bool> {
    let has_several_values = |factor: &String| {
        let learners = systems.iter().map(|system| &experiment.learners[system.learner]);
        let values: BTreeSet<String> =
            learners.map(|learner| value(experiment, learner, factor)).collect();
        values.len() > 1
    };
    factors.iter().map(has_several_values).collect()
}

/// Whether higher or lower values of the first metric, by which settings are chosen, are better.
pub(super) fn choice_direction(experiment: &Experiment) -> Better {
    experiment.main_metric().metric().better()
}

/// The test values of every query, each from its fold's chosen learner.
fn values(set: &SetResult, chosen: &[Chosen], metric: usize) -> Vec<Option<f64>> {
    let mut values = Vec::with_capacity(set.queries);
    let mut start = 0;
    for (queries, chosen) in set.folds.iter().zip(chosen) {
        // A learner that was chosen has results, with an entry for every query of every fold.
        let system = &set.systems[set.index_of_learner[&chosen.learner]];
        values.extend_from_slice(&system.mean.results[metric].values[start..start + queries]);
        start += queries;
    }
    values
}

/// The mean of the trainings' median rounds, in seconds; `None` without rounds.
fn seconds_per_round<'a>(
    cells: impl Iterator<Item = &'a (ExperimentCell, StoredCell)>,
) -> Option<f64> {
    let rounds: Vec<f64> = cells
        .filter(|(_, stored)| stored.rounds > 0)
        .map(|(_, stored)| stored.seconds.round)
        .collect();
    (!rounds.is_empty()).then(|| rounds.iter().sum::<f64>() / rounds.len() as f64)
}
