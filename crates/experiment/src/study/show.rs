//! Formats a table by factors: values with marks, the chosen settings, times, and the result.

use std::collections::BTreeSet;

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;

use super::super::factor::{ABSENT, values, words};
use super::super::file::{DataSet, Experiment, FactorTable};
use super::super::report::{SetResult, name};
use super::choice::Chosen;
use super::table::{TableCell, TableData};
use super::{
    FactorCell, FactorPlace, FactorSeconds, FactorTableResult, FactorTableTimes, FactorValues,
    FoldChoice, ShownTable,
};

/// All parts of a table on a data set, formatted.
pub(super) fn shown(
    experiment: &Experiment,
    table: &FactorTable,
    set: &SetResult,
    found: &TableData,
) -> ShownTable {
    let what = Showing { experiment, table, set, found };
    let data = what.data();
    ShownTable {
        heading: format!("{}: {} on {data}", table.view.title, what.metrics().join(", ")),
        times_heading: format!("{}: milliseconds of a round on {data}", table.view.title),
        values: what.values(),
        chosen: what.chosen(),
        times: what.times(),
        result: what.result(),
        times_result: what.times_result(),
    }
}

struct Showing<'a> {
    experiment: &'a Experiment,
    table: &'a FactorTable,
    set: &'a SetResult,
    found: &'a TableData,
}

impl Showing<'_> {
    fn data(&self) -> &str {
        self.experiment.data.get(self.set.data).map_or("", |data| data.name.as_str())
    }

    fn metric(&self, number: usize) -> String {
        self.experiment.metrics.get(number).map(ToString::to_string).unwrap_or_default()
    }

    fn metrics(&self) -> Vec<String> {
        self.table.metrics.iter().map(|number| self.metric(*number)).collect()
    }

    fn deciding(&self) -> String {
        self.experiment.metrics.first().map(ToString::to_string).unwrap_or_default()
    }

    /// A table with a text for each row and column.
    fn laid_out(
        &self,
        heads: impl IntoIterator<Item = String>,
        cell: impl Fn(Option<&TableCell>) -> Cell,
    ) -> Table {
        let rows = self.table.view.rows.iter().map(|factor| (factor.clone(), Align::Left));
        let heads: Vec<String> = heads.into_iter().collect();
        let shown = heads.len();
        let mut table = Table::new(rows.chain(heads.into_iter().map(|head| (head, Align::Right))));
        for (values, places) in self.found.grid.rows.iter().zip(&self.found.places) {
            let names = values.iter().map(|value| Cell::new(value.as_str()));
            let cells = places.iter().take(shown).map(|place| cell(place.as_ref()));
            table.rows.push(names.chain(cells).collect());
        }
        table
    }

    /// Headings of all columns: the metric where there are several or no factors, and the factors.
    fn heads(&self) -> Vec<String> {
        let head = |(metric, column): &(usize, usize)| {
            let factors = self.columns().nth(*column).unwrap_or_default();
            let named = self.table.metrics.len() > 1 || factors.is_empty();
            let metric = if named { self.metric(*metric) } else { String::new() };
            let words = [metric, factors].into_iter().filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        };
        self.found.heads.iter().map(head).collect()
    }

    /// Headings of the columns of one metric, for values that do not depend on the metric; a column
    /// without factors is called `alone`.
    fn heads_once(&self, alone: &str) -> Vec<String> {
        let head = |words: String| if words.is_empty() { alone.to_owned() } else { words };
        self.columns().map(head).collect()
    }

    /// The factors of each column in words.
    fn columns(&self) -> impl Iterator<Item = String> {
        self.found.grid.columns.iter().map(|values| words(&self.table.view.columns, values))
    }

    fn values(&self) -> Table {
        let mut table = self.laid_out(self.heads(), |place| match place {
            None => Cell::new("-"),
            Some(TableCell { result, .. }) => Cell {
                text: result.mean.map_or("-".to_owned(), |mean| format!("{mean:.4}")),
                best: result.best,
                mark: result.versus.as_ref().map(|versus| versus.mark).unwrap_or_default(),
            },
        });
        table.notes.push(self.measured());
        table.notes.extend(self.choice());
        table.notes.extend(self.legend());
        table.notes.extend(self.missing());
        table
    }

    /// The number of queries, folds and seeds, in words.
    fn measured(&self) -> String {
        let folds = match self.experiment.data.get(self.set.data).map_or(1, DataSet::folds) {
            1 => String::new(),
            folds => format!(" of {}", counted(folds, "fold")),
        };
        let queries = counted(self.set.queries, "test query");
        let places = self.found.places.iter().flatten().flatten();
        let used: BTreeSet<usize> = places.map(|place| place.result.queries).collect();
        let skipped = match (used.first(), used.last()) {
            (Some(low), Some(high)) if low == high && *low < self.set.queries => {
                format!(", of which {low} count")
            }
            _ => String::new(),
        };
        let seeds = match self.experiment.seeds.len() {
            1 => String::new(),
            seeds => format!("; a query's value is the mean over {seeds} seeds"),
        };
        format!("{}: mean over {queries}{folds}{skipped}{seeds}.", self.metrics().join(", "))
    }

    /// The chosen factors and the way of choosing, in words.
    fn choice(&self) -> Option<String> {
        let (choose, one) = (&self.table.view.choose, self.table.view.choose.len() == 1);
        let (last, before) = choose.split_last()?;
        let factors = match before.is_empty() {
            true => last.clone(),
            false => format!("{} and {last}", before.join(", ")),
        };
        let (is, fold) = (if one { "is" } else { "are" }, self.set.folds.len() > 1);
        Some(format!(
            "{factors} {is} chosen{} by {} on {} validation part, at each training's best round.",
            if fold { " for each fold" } else { "" },
            self.deciding(),
            if fold { "its" } else { "the" },
        ))
    }

    /// The meaning of the marks.
    fn legend(&self) -> Option<String> {
        let baseline = self.found.grid.rows.get(self.found.baseline)?;
        let compared = self.found.grid.rows.len().checked_sub(1).filter(|rows| *rows > 0)?;
        let options = &self.experiment.compare;
        let test = options.test_in_words();
        let correction = match compared {
            1 => "one comparison in a column".to_owned(),
            _ => format!("{} over the rows of a column", options.correction.in_words()),
        };
        Some(format!(
            "▲ significantly better, ▼ significantly worse than {} in the same column at alpha {}: \
             two-sided {test}; {correction}.",
            words(&self.table.view.rows, baseline),
            options.alpha
        ))
    }

    /// Notes on learners that could not be chosen or shown.
    fn missing(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let some = |learners: &BTreeSet<usize>| {
            let names: Vec<&str> =
                learners.iter().map(|learner| name(self.experiment, *learner)).collect();
            super::super::file::some_of(&names)
        };
        if !self.found.failed.is_empty() {
            notes.push(format!(
                "FailedCells, and could not be chosen: {}.",
                some(&self.found.failed)
            ));
        }
        if !self.found.open.is_empty() {
            notes.push(format!("Not run yet: {}.", some(&self.found.open)));
        }
        notes
    }

    /// The table of the settings chosen most often, and the mean best round.
    fn chosen(&self) -> Option<Table> {
        let places = || self.found.places.iter().flatten().flatten();
        let rounds = places().any(|place| place.round().is_some());
        let choose = &self.table.view.choose;
        if choose.is_empty() && !rounds {
            return None;
        }
        let mut table = self.laid_out(self.heads_once("chosen"), |place| {
            let Some(place) = place else { return Cell::new("-") };
            let mut parts = Vec::new();
            parts.extend(self.most_often(place));
            parts.extend(place.round().map(|round| format!("{round:.0}")));
            Cell::new(if parts.is_empty() { "-".to_owned() } else { parts.join("; ") })
        });
        let unit = places().find(|place| !place.unit.is_empty()).map_or("round", |p| &p.unit);
        let rounds = rounds.then(|| format!("mean best number of {unit}s"));
        let chosen = (!choose.is_empty()).then(|| {
            let of = match self.set.folds.len() {
                1 => String::new(),
                _ => ", chosen most often (on how many folds)".to_owned(),
            };
            format!("{}{of}", choose.join(", "))
        });
        let said: Vec<String> = chosen.into_iter().chain(rounds).collect();
        table.notes.push(format!("Chosen on validation data: {}.", said.join("; ")));
        Some(table)
    }

    /// The setting chosen most often: "0.1, 5, - (4/5)", with `-` for a factor that does not vary;
    /// none where no factor varies.
    fn most_often(&self, place: &TableCell) -> Option<String> {
        let choose = &self.table.view.choose;
        if !place.varies.contains(&true) {
            return None;
        }
        let of = |learner: usize| {
            let member = self.experiment.learners.get(learner);
            let all = member.map_or(Vec::new(), |member| values(self.experiment, member, choose));
            let shown = all.into_iter().zip(&place.varies);
            shown.map(|(value, varies)| if *varies { value } else { ABSENT.to_owned() }).collect()
        };
        let all: Vec<Vec<String>> = place.chosen.iter().map(|c| of(c.learner)).collect();
        let count = |one: &Vec<String>| all.iter().filter(|other| *other == one).count();
        // The first of those chosen equally often.
        let most = all.iter().rev().max_by_key(|one| count(one))?;
        match all.len() {
            1 => Some(most.join(", ")),
            folds => Some(format!("{} ({}/{folds})", most.join(", "), count(most))),
        }
    }

    fn times(&self) -> Option<Table> {
        let mut places = self.found.places.iter().flatten().flatten();
        let unit = places.find(|place| place.seconds.is_some()).map(|place| &place.unit)?;
        let unit = if unit.is_empty() { "round" } else { unit };
        let mut table = self.laid_out(self.heads_once("milliseconds"), |place| {
            let seconds = place.and_then(|place| place.seconds);
            Cell::new(seconds.map_or("-".to_owned(), |s| milliseconds(s * 1000.0)))
        });
        table.notes.push(format!(
            "Milliseconds of the median {unit} of a training, without looking at validation data; \
             mean over folds, seeds and all that could be chosen."
        ));
        Some(table)
    }

    /// The result of `of` for every table cell that has a value.
    fn places<T>(&self, of: impl Fn(FactorPlace, &TableCell) -> T) -> Vec<T> {
        let view = &self.table.view;
        let mut all = Vec::new();
        for (row, places) in self.found.grid.rows.iter().zip(&self.found.places) {
            for ((metric, column), place) in self.found.heads.iter().zip(places) {
                let Some(place) = place else { continue };
                let factors = self.found.grid.columns.get(*column).map_or(&[][..], Vec::as_slice);
                let named = FactorPlace {
                    row: named(&view.rows, row),
                    column: named(&view.columns, factors),
                    metric: self.metric(*metric),
                };
                all.push(of(named, place));
            }
        }
        all
    }

    fn result(&self) -> FactorTableResult {
        let view = &self.table.view;
        let baseline = self.found.grid.rows.get(self.found.baseline);
        let names = |learners: &BTreeSet<usize>| -> Vec<String> {
            learners.iter().map(|learner| name(self.experiment, *learner).to_owned()).collect()
        };
        FactorTableResult {
            title: view.title.clone(),
            data: self.data().to_owned(),
            metrics: self.metrics(),
            chosen_by: self.deciding(),
            rows: view.rows.clone(),
            columns: view.columns.clone(),
            choose: view.choose.clone(),
            baseline: baseline.map(|values| named(&view.rows, values)),
            queries: self.set.queries,
            failed: names(&self.found.failed),
            not_run: names(&self.found.open),
            cells: self.places(|named, place| self.cell(named, place)),
        }
    }

    fn cell(&self, named: FactorPlace, place: &TableCell) -> FactorCell {
        let versus = place.result.versus.as_ref();
        let chosen = place.chosen.iter().enumerate();
        FactorCell {
            place: named,
            value: place.result.mean,
            ci95: place.result.ci95,
            queries: place.result.queries,
            best: place.result.best,
            difference: versus.and_then(|v| v.difference),
            difference_ci95: versus.and_then(|v| v.difference_ci95),
            p: versus.map(|v| v.p),
            p_corrected: versus.map(|v| v.p_corrected),
            mark: versus.map_or("", |v| v.mark.symbol()),
            rounds: place.round(),
            folds: chosen.map(|(fold, chosen)| self.fold_choice(fold, chosen)).collect(),
        }
    }

    fn fold_choice(&self, fold: usize, chosen: &Chosen) -> FoldChoice {
        let choose = &self.table.view.choose;
        let member = self.experiment.learners.get(chosen.learner);
        let values = member.map_or(Vec::new(), |member| values(self.experiment, member, choose));
        FoldChoice {
            fold: fold + 1,
            learner: name(self.experiment, chosen.learner).to_owned(),
            chosen: named(choose, &values),
            validation: chosen.validated.value,
            best: chosen.validated.round,
        }
    }

    fn times_result(&self) -> FactorTableTimes {
        FactorTableTimes {
            title: self.table.view.title.clone(),
            data: self.data().to_owned(),
            seconds: self
                .places(|named, found| FactorSeconds { place: named, round: found.seconds }),
        }
    }
}

fn named(factors: &[String], values: &[String]) -> FactorValues {
    factors.iter().cloned().zip(values.iter().cloned()).collect()
}

/// The number with three significant digits.
fn milliseconds(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}
