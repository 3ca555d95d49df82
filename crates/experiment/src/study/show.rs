//! Formats a table by factors, which are settings in which learners differ: values with marks of
//! significant differences, the chosen settings, times, and the serialisable result.

use std::collections::BTreeSet;

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::{counted, plural};

use super::super::factor::{ABSENT, values, words};
use super::super::file::{Experiment, FactorTable};
use super::super::report::SetResult;
use super::choice::Chosen;
use super::table::{TableCell, TableData};
use super::{
    FactorCell, FactorPosition, FactorSeconds, FactorTableResult, FactorTableTimes, FactorValues,
    FoldChoice, ShownTable,
};

/// A table on a data set, formatted: its values, chosen settings, times and results.
pub(super) fn shown(
    experiment: &Experiment,
    table: &FactorTable,
    set: &SetResult,
    numbers: &TableData,
) -> ShownTable {
    let formatter = TableFormatter { experiment, table, set, numbers };
    let data = formatter.data();
    ShownTable {
        heading: format!("{}: {} on {data}", table.layout.title, formatter.metrics().join(", ")),
        times_heading: format!("{}: milliseconds of a round on {data}", table.layout.title),
        values: formatter.values(),
        chosen: formatter.chosen(),
        times: formatter.times(),
        result: formatter.result(),
        times_result: formatter.times_result(),
    }
}

/// Formats one table.
struct TableFormatter<'a> {
    experiment: &'a Experiment,
    table: &'a FactorTable,
    set: &'a SetResult,
    numbers: &'a TableData,
}

impl TableFormatter<'_> {
    /// The name of the data set.
    fn data(&self) -> &str {
        self.experiment.data_name(self.set.data)
    }

    /// The name of the metric with this index.
    fn metric(&self, index: usize) -> String {
        self.experiment.metrics[index].to_string()
    }

    /// The names of the metrics of the table.
    fn metrics(&self) -> Vec<String> {
        self.table.metrics.iter().map(|index| self.metric(*index)).collect()
    }

    /// The metric by which settings are chosen.
    fn chosen_by(&self) -> String {
        self.experiment.main_metric().to_string()
    }

    /// A table with a column for each row factor and a column under each heading; `cell` formats a
    /// cell.
    fn table_under(
        &self,
        headings: impl IntoIterator<Item = String>,
        cell: impl Fn(Option<&TableCell>) -> Cell,
    ) -> Table {
        let factors = self.table.layout.rows.iter().map(|factor| (factor.clone(), Align::Left));
        let headings: Vec<String> = headings.into_iter().collect();
        let columns = headings.len();
        let headings = headings.into_iter().map(|heading| (heading, Align::Right));
        let mut table = Table::new(factors.chain(headings));
        for (values, cells) in self.numbers.grid.rows.iter().zip(&self.numbers.cells_of_rows) {
            let names = values.iter().map(|value| Cell::new(value.as_str()));
            let cells = cells.iter().take(columns).map(|table_cell| cell(table_cell.as_ref()));
            table.rows.push(names.chain(cells).collect());
        }
        table
    }

    /// Headings of all columns: the values of the column factors, and the metric if there are
    /// several metrics or no factors.
    fn headings(&self) -> Vec<String> {
        let heading = |(metric, column): &(usize, usize)| {
            let factors = self.column(*column);
            let shows_metric = self.table.metrics.len() > 1 || factors.is_empty();
            let metric = if shows_metric { self.metric(*metric) } else { String::new() };
            let words = [metric, factors].into_iter().filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        };
        self.numbers.table_columns.iter().map(heading).collect()
    }

    /// Headings of the columns of one metric, for values that do not depend on the metric;
    /// `default` is the heading of a column without factors.
    fn headings_of_one_metric(&self, default: &str) -> Vec<String> {
        let heading = |words: String| if words.is_empty() { default.to_owned() } else { words };
        self.columns().map(heading).collect()
    }

    /// The factors of each column in words.
    fn columns(&self) -> impl Iterator<Item = String> {
        (0..self.numbers.grid.columns.len()).map(|column| self.column(column))
    }

    /// The factors of a column in words.
    fn column(&self, column: usize) -> String {
        words(&self.table.layout.columns, &self.numbers.grid.columns[column])
    }

    /// The table of test values.
    fn values(&self) -> Table {
        let mut table = self.table_under(self.headings(), |cell| match cell {
            None => Cell::new("-"),
            Some(TableCell { result, .. }) => Cell {
                text: result.mean.map_or("-".to_owned(), |mean| format!("{mean:.4}")),
                best: result.best,
                mark: result
                    .vs_baseline
                    .as_ref()
                    .map(|vs_baseline| vs_baseline.mark)
                    .unwrap_or_default(),
            },
        });
        table.notes.push(self.sample_note());
        table.notes.extend(self.choice_note());
        table.notes.extend(self.marks_note());
        table.notes.extend(self.missing_notes());
        table
    }

    /// The number of queries, folds and seeds, in words.
    fn sample_note(&self) -> String {
        let folds = match self.experiment.data[self.set.data].folds() {
            1 => String::new(),
            folds => format!(" of {}", counted(folds, "fold")),
        };
        let queries = counted(self.set.queries, "test query");
        let cells = self.numbers.cells_of_rows.iter().flatten().flatten();
        let with_value: BTreeSet<usize> = cells.map(|cell| cell.result.queries).collect();
        let skipped = match (with_value.first(), with_value.last()) {
            (Some(low), Some(high)) if low == high && *low < self.set.queries => {
                format!(", {low} of them with a value")
            }
            _ => String::new(),
        };
        let seeds = match self.experiment.seeds.len() {
            1 => String::new(),
            seeds => format!("; a query's value is the mean over {seeds} seeds"),
        };
        format!("{}: mean over {queries}{folds}{skipped}{seeds}.", self.metrics().join(", "))
    }

    /// The chosen factors and the rule of the choice, in words.
    fn choice_note(&self) -> Option<String> {
        let choose = &self.table.layout.choose;
        let (last, before) = choose.split_last()?;
        let factors = match before.is_empty() {
            true => last.clone(),
            false => format!("{} and {last}", before.join(", ")),
        };
        let verb = if choose.len() == 1 { "is" } else { "are" };
        let has_folds = self.set.folds.len() > 1;
        Some(format!(
            "{factors} {verb} chosen{} by {} on {} validation part, at the best round of each training.",
            if has_folds { " for each fold" } else { "" },
            self.chosen_by(),
            if has_folds { "its" } else { "the" },
        ))
    }

    /// The meaning of the marks.
    fn marks_note(&self) -> Option<String> {
        let baseline = &self.numbers.grid.rows[self.numbers.baseline];
        let compared = self.numbers.grid.rows.len().checked_sub(1).filter(|rows| *rows > 0)?;
        let options = &self.experiment.compare;
        let test = options.test_in_words();
        let correction = match compared {
            1 => "one comparison in a column".to_owned(),
            _ => format!("{} over the rows of a column", options.correction.in_words()),
        };
        Some(format!(
            "▲ significantly better, ▼ significantly worse than {} in the same column at alpha {}: \
             two-sided {test}; {correction}.",
            words(&self.table.layout.rows, baseline),
            options.alpha
        ))
    }

    /// Notes on learners that could not be chosen or shown.
    fn missing_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let some_names = |learners: &BTreeSet<usize>| {
            let names: Vec<&str> =
                learners.iter().map(|learner| self.experiment.learner_name(*learner)).collect();
            super::super::file::some_of(&names)
        };
        if !self.numbers.failed.is_empty() {
            notes.push(format!(
                "Failed, so they could not be chosen: {}.",
                some_names(&self.numbers.failed)
            ));
        }
        if !self.numbers.not_run.is_empty() {
            notes.push(format!("Not run yet: {}.", some_names(&self.numbers.not_run)));
        }
        notes
    }

    /// The table of the settings chosen most often, and the mean best round; `None` if there is
    /// neither.
    fn chosen(&self) -> Option<Table> {
        let cells = || self.numbers.cells_of_rows.iter().flatten().flatten();
        let has_rounds = cells().any(|cell| cell.best_round().is_some());
        let choose = &self.table.layout.choose;
        if choose.is_empty() && !has_rounds {
            return None;
        }
        let mut table = self.table_under(self.headings_of_one_metric("chosen"), |cell| {
            let Some(cell) = cell else { return Cell::new("-") };
            let mut parts = Vec::new();
            parts.extend(self.most_often(cell));
            parts.extend(cell.best_round().map(|round| format!("{round:.0}")));
            Cell::new(if parts.is_empty() { "-".to_owned() } else { parts.join("; ") })
        });
        let unit = cells().find(|cell| !cell.unit.is_empty()).map_or("round", |cell| &cell.unit);
        let rounds = has_rounds.then(|| format!("mean best number of {}", plural(unit)));
        let chosen = (!choose.is_empty()).then(|| {
            let explanation = match self.set.folds.len() {
                1 => String::new(),
                _ => ", the setting chosen most often (and its number of folds)".to_owned(),
            };
            format!("{}{explanation}", choose.join(", "))
        });
        let settings: Vec<String> = chosen.into_iter().chain(rounds).collect();
        table.notes.push(format!("Chosen on validation data: {}.", settings.join("; ")));
        Some(table)
    }

    /// The setting chosen most often: "0.1, 5, - (4/5)", with `-` for a factor that does not vary;
    /// `None` if no factor varies.
    fn most_often(&self, cell: &TableCell) -> Option<String> {
        let choose = &self.table.layout.choose;
        if !cell.varies.contains(&true) {
            return None;
        }
        let settings_of = |learner: usize| {
            let all = values(self.experiment, &self.experiment.learners[learner], choose);
            let shown = all.into_iter().zip(&cell.varies);
            shown.map(|(value, varies)| if *varies { value } else { ABSENT.to_owned() }).collect()
        };
        let all: Vec<Vec<String>> = cell.chosen.iter().map(|c| settings_of(c.learner)).collect();
        let count = |settings: &Vec<String>| all.iter().filter(|other| *other == settings).count();
        // Among settings chosen equally often the first one: `max_by_key` returns the last maximum.
        let commonest = all.iter().rev().max_by_key(|settings| count(settings))?;
        match all.len() {
            1 => Some(commonest.join(", ")),
            folds => Some(format!("{} ({}/{folds})", commonest.join(", "), count(commonest))),
        }
    }

    /// The table of the milliseconds of a round; `None` without rounds.
    fn times(&self) -> Option<Table> {
        let mut cells = self.numbers.cells_of_rows.iter().flatten().flatten();
        let unit = cells.find(|cell| cell.seconds_per_round.is_some()).map(|cell| &cell.unit)?;
        let unit = if unit.is_empty() { "round" } else { unit };
        let mut table = self.table_under(self.headings_of_one_metric("milliseconds"), |cell| {
            let seconds = cell.and_then(|cell| cell.seconds_per_round);
            Cell::new(seconds.map_or("-".to_owned(), |s| milliseconds(s * 1000.0)))
        });
        table.notes.push(format!(
            "Milliseconds of the median {unit} of a training, without its evaluation on validation \
             data; mean over folds, seeds and all settings that could be chosen."
        ));
        Some(table)
    }

    /// The result of `result_of` for every table cell that has a value.
    fn cells<T>(&self, result_of: impl Fn(FactorPosition, &TableCell) -> T) -> Vec<T> {
        let layout = &self.table.layout;
        let mut all = Vec::new();
        for (row, cells) in self.numbers.grid.rows.iter().zip(&self.numbers.cells_of_rows) {
            for ((metric, column), cell) in self.numbers.table_columns.iter().zip(cells) {
                let Some(cell) = cell else { continue };
                let factors = &self.numbers.grid.columns[*column];
                let position = FactorPosition {
                    row: by_name(&layout.rows, row),
                    column: by_name(&layout.columns, factors),
                    metric: self.metric(*metric),
                };
                all.push(result_of(position, cell));
            }
        }
        all
    }

    fn result(&self) -> FactorTableResult {
        let layout = &self.table.layout;
        let baseline = &self.numbers.grid.rows[self.numbers.baseline];
        let name = |learner: &usize| self.experiment.learner_name(*learner).to_owned();
        let names = |learners: &BTreeSet<usize>| learners.iter().map(name).collect();
        FactorTableResult {
            title: layout.title.clone(),
            data: self.data().to_owned(),
            metrics: self.metrics(),
            chosen_by: self.chosen_by(),
            rows: layout.rows.clone(),
            columns: layout.columns.clone(),
            choose: layout.choose.clone(),
            baseline: by_name(&layout.rows, baseline),
            queries: self.set.queries,
            failed: names(&self.numbers.failed),
            not_run: names(&self.numbers.not_run),
            cells: self.cells(|position, cell| self.cell(position, cell)),
        }
    }

    /// The result of a table cell.
    fn cell(&self, position: FactorPosition, cell: &TableCell) -> FactorCell {
        let vs_baseline = cell.result.vs_baseline.as_ref();
        let chosen = cell.chosen.iter().enumerate();
        FactorCell {
            position,
            value: cell.result.mean,
            ci95: cell.result.ci95,
            queries: cell.result.queries,
            best: cell.result.best,
            difference: vs_baseline.and_then(|v| v.difference),
            difference_ci95: vs_baseline.and_then(|v| v.difference_ci95),
            p: vs_baseline.map(|v| v.p),
            p_corrected: vs_baseline.map(|v| v.p_corrected),
            mark: vs_baseline.map_or("", |v| v.mark.symbol()),
            best_round: cell.best_round(),
            folds: chosen.map(|(fold, chosen)| self.fold_choice(fold, chosen)).collect(),
        }
    }

    /// The learner chosen on a fold; folds count from 0.
    fn fold_choice(&self, fold: usize, chosen: &Chosen) -> FoldChoice {
        let choose = &self.table.layout.choose;
        let learner = &self.experiment.learners[chosen.learner];
        FoldChoice {
            fold: fold + 1,
            learner: learner.name.clone(),
            chosen: by_name(choose, &values(self.experiment, learner, choose)),
            validation: chosen.validated.value,
            best_round: chosen.validated.best_round,
        }
    }

    fn times_result(&self) -> FactorTableTimes {
        FactorTableTimes {
            title: self.table.layout.title.clone(),
            data: self.data().to_owned(),
            cells: self.cells(|position, cell| FactorSeconds {
                position,
                seconds_per_round: cell.seconds_per_round,
            }),
        }
    }
}

/// The values of factors by name.
fn by_name(factors: &[String], values: &[String]) -> FactorValues {
    factors.iter().cloned().zip(values.iter().cloned()).collect()
}

/// A number with about three significant digits, and at most three decimals.
fn milliseconds(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}
