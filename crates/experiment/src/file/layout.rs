//! `[[table]]` and `[[plot]]`: learners arranged by the factors in which they differ.
//!
//! Both are a [`FactorLayout`]: learners arranged by row and column (in a plot: by line and panel),
//! and the other factors chosen on validation data. Every setting in which the learners of a layout
//! differ must be a factor of the rows, of the columns or of the choice: an unnamed difference
//! would be mistaken for the effect of a factor.

use std::collections::{BTreeSet, HashMap};

use rankwright_eval::Aggregate;
use rankwright_spec::nearest;
use toml::Spanned;

use super::super::factor::{ENTRY, FactorGrid, setting, value, values, words};
use super::document::{TomlDocument, TomlTable};
use super::raw::{RawPlot, RawTable, Texts};
use super::{Experiment, ExperimentLearner, LearnerKind, some_of, texts};
use crate::ExperimentError;

/// Learners arranged by factors.
#[derive(Debug, Clone)]
pub struct FactorLayout {
    /// Title of the table or plot.
    pub title: String,
    /// Indices of the learners, in the order of the file.
    pub learners: Vec<usize>,
    /// Indices of the data sets.
    pub data: Vec<usize>,
    /// Factors of the rows, or of the lines of a plot.
    pub rows: Vec<String>,
    /// Factors of the columns, or of the panels of a plot.
    pub columns: Vec<String>,
    /// Factors whose values are chosen on validation data.
    pub choose: Vec<String>,
}

/// A table of test values by factors.
#[derive(Debug, Clone)]
pub struct FactorTable {
    /// The arrangement of the learners in rows and columns.
    pub layout: FactorLayout,
    /// Indices of the metrics shown, each in its own columns.
    pub metrics: Vec<usize>,
    /// Row factors and their values: the first row that has all of these is the baseline.
    pub baseline: Vec<(String, String)>,
}

/// Learning curves by factors.
#[derive(Debug, Clone)]
pub struct FactorPlot {
    /// The arrangement: rows are lines, columns are panels.
    pub layout: FactorLayout,
}

/// Reads all of `[[table]]`.
pub(super) fn tables(
    document: TomlDocument<'_>,
    raw: &[Spanned<RawTable>],
    experiment: &Experiment,
) -> Result<Vec<FactorTable>, ExperimentError> {
    let table = |raw: &Spanned<RawTable>| {
        let (start, raw) = (raw.span().start, raw.get_ref());
        let reader = LayoutReader {
            table: document.table(start, "[[table]]"),
            experiment,
            title: &raw.title,
            rows: ("rows", &raw.rows),
            columns: ("columns", &raw.columns),
            choose: &raw.choose,
            learners: &raw.learners,
            data: &raw.data,
        };
        let layout = reader.layout()?;
        let metrics = metrics(&reader.table, &raw.metrics, experiment)?;
        let baseline = baseline(&reader.table, raw, experiment, &layout)?;
        Ok(FactorTable { layout, metrics, baseline })
    };
    raw.iter().map(table).collect()
}

/// Reads all of `[[plot]]`.
pub(super) fn plots(
    document: TomlDocument<'_>,
    raw: &[Spanned<RawPlot>],
    experiment: &Experiment,
) -> Result<Vec<FactorPlot>, ExperimentError> {
    let plot = |raw: &Spanned<RawPlot>| {
        let (start, raw) = (raw.span().start, raw.get_ref());
        let reader = LayoutReader {
            table: document.table(start, "[[plot]]"),
            experiment,
            title: &raw.title,
            rows: ("lines", &raw.lines),
            columns: ("panels", &raw.panels),
            choose: &raw.choose,
            learners: &raw.learners,
            data: &raw.data,
        };
        let layout = reader.layout()?;
        let learners = layout.learners.iter().filter_map(|number| experiment.learners.get(*number));
        if let Some(learner) = learners.into_iter().find(|learner| !is_validated(learner)) {
            return Err(reader.table.wrong(&raw.learners, unvalidated(learner, "drawn")));
        }
        Ok(FactorPlot { layout })
    };
    raw.iter().map(plot).collect()
}

/// The name of a key, and its texts.
type Key<'a> = (&'static str, &'a Option<Spanned<Texts>>);

/// Reads a `[[table]]` or a `[[plot]]`, whose lines and panels are rows and columns here.
struct LayoutReader<'a> {
    table: TomlTable<'a>,
    experiment: &'a Experiment,
    title: &'a Option<Spanned<String>>,
    rows: Key<'a>,
    columns: Key<'a>,
    choose: &'a Option<Spanned<Texts>>,
    learners: &'a Option<Spanned<Texts>>,
    data: &'a Option<Spanned<Texts>>,
}

impl LayoutReader<'_> {
    fn layout(&self) -> Result<FactorLayout, ExperimentError> {
        let ((rows, row_key), (columns, column_key)) = (self.rows, self.columns);
        let title = self.table.needed("title", self.title, "\"Newton steps\"")?.to_owned();
        let layout = FactorLayout {
            title: self.table.one_line(self.title, title)?,
            learners: self.learners()?,
            data: self.data()?,
            rows: texts(row_key).to_vec(),
            columns: texts(column_key).to_vec(),
            choose: texts(self.choose).to_vec(),
        };
        if layout.rows.is_empty() {
            let message = format!("`{rows}` names no factor, such as {rows} = [\"rate\"]");
            return Err(self.table.wrong(row_key, message));
        }
        self.check_factors(&layout)?;
        if let Some(factor) = unnamed_difference(self.experiment, &layout) {
            let message = format!(
                "the learners differ in `{factor}`, which is not in `{rows}`, `{columns}` or `choose`; \
                 add it to one of them, or list `learners` with equal values of it"
            );
            return Err(self.table.wrong(row_key, message));
        }
        self.check_distinct(&layout)?;
        Ok(layout)
    }

    /// The learners of the named entries, or of all entries with a spec.
    fn learners(&self) -> Result<Vec<usize>, ExperimentError> {
        let entries = &self.experiment.entries;
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let requested = texts(self.learners);
        if let Some(other) = requested.iter().find(|name| !names.contains(&name.as_str())) {
            let suggestion =
                nearest(other, &names).map(|near| format!(" (did you mean `{near}`?)"));
            let suggestion = suggestion.unwrap_or_default();
            let known = some_of(&names);
            let message =
                format!("no [[learner]] is called `{other}`{suggestion}; the learners are {known}");
            return Err(self.table.wrong(self.learners, message));
        }
        let is_shown =
            |learner: &ExperimentLearner| match (self.learners, entries.get(learner.entry)) {
                (Some(_), Some(entry)) => requested.contains(&entry.name),
                (_, entry) => entry.is_some_and(|entry| entry.learns),
            };
        let learners = self.experiment.learners.iter().enumerate();
        let found: Vec<usize> =
            learners.filter(|(_, learner)| is_shown(learner)).map(|(number, _)| number).collect();
        match found.is_empty() {
            true => Err(self
                .table
                .wrong(self.learners, "no [[learner]] has a `spec`, so there is nothing to show")),
            false => Ok(found),
        }
    }

    /// Indices of the named data sets, or of all.
    fn data(&self) -> Result<Vec<usize>, ExperimentError> {
        let sets = &self.experiment.data;
        if self.data.is_none() {
            return Ok((0..sets.len()).collect());
        }
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let number = |name: &String| {
            names.iter().position(|other| other == name).ok_or_else(|| {
                let known = some_of(&names);
                let message = format!("no [[data]] is called `{name}`; the data sets are {known}");
                self.table.wrong(self.data, message)
            })
        };
        let sets: BTreeSet<usize> =
            texts(self.data).iter().map(number).collect::<Result<_, _>>()?;
        match sets.is_empty() {
            true => Err(self.table.wrong(self.data, "`data` names no data set")),
            false => Ok(sets.into_iter().collect()),
        }
    }

    /// Checks that each factor is a parameter of at least one learner and is named once.
    fn check_factors(&self, layout: &FactorLayout) -> Result<(), ExperimentError> {
        let mut known = parameters(self.experiment, &layout.learners);
        known.insert(ENTRY);
        let mut seen: Vec<&str> = Vec::new();
        for key in [self.rows.1, self.columns.1, self.choose] {
            for factor in texts(key) {
                if !known.contains(factor.as_str()) {
                    let names: Vec<&str> = known.iter().copied().collect();
                    let suggestion = nearest(factor, &names);
                    let suggestion = suggestion.map(|near| format!("; did you mean `{near}`?"));
                    let suggestion = suggestion.unwrap_or_default();
                    let message =
                        format!("none of the learners has a parameter `{factor}`{suggestion}");
                    return Err(self.table.wrong(key, message));
                }
                if seen.contains(&factor.as_str()) {
                    return Err(self.table.wrong(key, format!("`{factor}` is named twice")));
                }
                seen.push(factor);
            }
        }
        Ok(())
    }

    /// Checks that no two learners have the same row, column and choice, and that learners to
    /// choose among have validation values.
    fn check_distinct(&self, layout: &FactorLayout) -> Result<(), ExperimentError> {
        let experiment = self.experiment;
        let grid = FactorGrid::new(experiment, layout);
        let positions = (0..grid.rows.len())
            .flat_map(|row| (0..grid.columns.len()).map(move |column| (row, column)));
        for (row, column) in positions {
            let mut seen: HashMap<Vec<String>, &str> = HashMap::new();
            let group = grid.group(row, column);
            for learner in group.iter().filter_map(|number| experiment.learners.get(*number)) {
                if group.len() > 1 && !is_validated(learner) {
                    return Err(self.table.wrong(self.choose, unvalidated(learner, "chosen")));
                }
                let choice = values(experiment, learner, &layout.choose);
                if let Some(other) = seen.insert(choice, &learner.name) {
                    let (rows, key) = self.rows;
                    let message = format!(
                        "`{other}` and `{}` have the same row and column; add \"learner\" to `{rows}`",
                        learner.name
                    );
                    return Err(self.table.wrong(key, message));
                }
            }
        }
        Ok(())
    }
}

/// All parameters of the learners.
fn parameters(experiment: &Experiment, learners: &[usize]) -> BTreeSet<&'static str> {
    let learners = learners.iter().filter_map(|number| experiment.learners.get(*number));
    let parameters_of = |learner: &ExperimentLearner| match &learner.kind {
        LearnerKind::Spec(spec) => spec.def().params(),
        LearnerKind::Model(_) => Vec::new(),
    };
    learners.flat_map(parameters_of).map(|param| param.name).collect()
}

/// A setting in which learners differ without a factor for it; `None` if there is none. If the
/// entry is a factor, it covers all settings in which entries differ.
fn unnamed_difference<'e>(experiment: &'e Experiment, layout: &FactorLayout) -> Option<&'e str> {
    let all = || [&layout.rows, &layout.columns, &layout.choose].into_iter().flatten();
    let by_entry = all().any(|factor| factor == ENTRY);
    let learner_name = |learner: &ExperimentLearner| match &learner.kind {
        LearnerKind::Spec(spec) => spec.def().name,
        LearnerKind::Model(_) => "",
    };
    let mut first: HashMap<usize, &ExperimentLearner> = HashMap::new();
    let parameters = parameters(experiment, &layout.learners);
    for number in &layout.learners {
        let Some(learner) = experiment.learners.get(*number) else { continue };
        let group = if by_entry { learner.entry } else { 0 };
        let other = *first.entry(group).or_insert(learner);
        if learner_name(learner) != learner_name(other) {
            return Some(ENTRY);
        }
        let differs = |name: &&&str| setting(learner, name) != setting(other, name);
        let named = |name: &&&str| all().any(|factor| factor == **name);
        if let Some(name) = parameters.iter().find(|name| differs(name) && !named(name)) {
            return Some(name);
        }
    }
    None
}

/// Whether a learner has values on validation data.
fn is_validated(learner: &ExperimentLearner) -> bool {
    matches!(&learner.kind, LearnerKind::Spec(spec) if spec.uses_validation())
}

/// The message that a learner without validation values cannot be chosen or drawn.
fn unvalidated(learner: &ExperimentLearner, action: &str) -> String {
    format!(
        "`{}` does not use validation data, so it cannot be {action} by its validation values; choose \
         a learner that does (without `stop=none`), or list `learners` without it",
        learner.name
    )
}

/// Indices of the metrics of a table: the first of the experiment if none is named.
fn metrics(
    table: &TomlTable<'_>,
    key: &Option<Spanned<Texts>>,
    experiment: &Experiment,
) -> Result<Vec<usize>, ExperimentError> {
    let names: Vec<String> = experiment.metrics.iter().map(ToString::to_string).collect();
    let known = |text: &String| {
        names.iter().position(|name| name == text).ok_or_else(|| {
            let known = names.join(", ");
            let message = format!("`{text}` is not one of the experiment's metrics: {known}");
            table.wrong(key, message)
        })
    };
    let mut numbers: Vec<usize> = texts(key).iter().map(known).collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        numbers.push(0);
    }
    let is_mean = |number: &&usize| {
        experiment.metrics.get(**number).is_some_and(|m| matches!(m.aggregate(), Aggregate::Mean))
    };
    if let Some(name) = numbers.iter().find(|n| !is_mean(n)).and_then(|number| names.get(*number)) {
        let message =
            format!("a table shows means over queries, and {name} is not a mean over queries");
        return Err(table.wrong(key, message));
    }
    let distinct: BTreeSet<&usize> = numbers.iter().collect();
    if distinct.len() < numbers.len() {
        return Err(table.wrong(key, "a metric is named twice"));
    }
    Ok(numbers)
}

/// Reads `baseline = { newton = "per-document" }`: row factors and their values.
fn baseline(
    table: &TomlTable<'_>,
    raw: &RawTable,
    experiment: &Experiment,
    layout: &FactorLayout,
) -> Result<Vec<(String, String)>, ExperimentError> {
    let mut entries: Vec<_> = raw.baseline.iter().flat_map(|entries| entries.get_ref()).collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut baseline: Vec<(String, String)> = Vec::new();
    for (name, written) in entries {
        if !layout.rows.contains(name.get_ref()) {
            let rows = layout.rows.join(", ");
            let message = format!("`{}` is not a factor of the rows: {rows}", name.get_ref());
            return Err(table.document.error(name.span(), message));
        }
        baseline.push((name.get_ref().clone(), table.document.scalar(written)));
    }
    let learners = layout.learners.iter().filter_map(|number| experiment.learners.get(*number));
    let is_baseline = |learner: &ExperimentLearner| {
        baseline.iter().all(|(factor, wanted)| value(experiment, learner, factor) == *wanted)
    };
    if !learners.into_iter().any(is_baseline) {
        let (names, values): (Vec<String>, Vec<String>) = baseline.into_iter().unzip();
        let message = format!("no row has {}", words(&names, &values));
        return Err(table.wrong(&raw.baseline, message));
    }
    Ok(baseline)
}
