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
        let learners = layout.learners.iter().filter_map(|index| experiment.learners.get(*index));
        if let Some(learner) = learners.into_iter().find(|learner| !is_validated(learner)) {
            let message = without_validation_message(learner, "drawn");
            return Err(reader.table.error_at(&raw.learners, message));
        }
        Ok(FactorPlot { layout })
    };
    raw.iter().map(plot).collect()
}

/// The name of a key of the file, and its texts.
type NamedKey<'a> = (&'static str, &'a Option<Spanned<Texts>>);

/// Reads a `[[table]]` or a `[[plot]]`, whose lines and panels are rows and columns here.
struct LayoutReader<'a> {
    table: TomlTable<'a>,
    experiment: &'a Experiment,
    title: &'a Option<Spanned<String>>,
    rows: NamedKey<'a>,
    columns: NamedKey<'a>,
    choose: &'a Option<Spanned<Texts>>,
    learners: &'a Option<Spanned<Texts>>,
    data: &'a Option<Spanned<Texts>>,
}

impl LayoutReader<'_> {
    /// Reads and checks the layout.
    fn layout(&self) -> Result<FactorLayout, ExperimentError> {
        let ((rows_name, rows), (columns_name, columns)) = (self.rows, self.columns);
        let title = self.table.required_text("title", self.title, "\"Newton steps\"")?.to_owned();
        let layout = FactorLayout {
            title: self.table.one_line(self.title, title)?,
            learners: self.learners()?,
            data: self.data()?,
            rows: texts(rows).to_vec(),
            columns: texts(columns).to_vec(),
            choose: texts(self.choose).to_vec(),
        };
        if layout.rows.is_empty() {
            let message =
                format!("`{rows_name}` names no factor, such as {rows_name} = [\"rate\"]");
            return Err(self.table.error_at(rows, message));
        }
        self.check_factors(&layout)?;
        if let Some(factor) = unnamed_difference(self.experiment, &layout) {
            let message = format!(
                "the learners differ in `{factor}`, which is not in `{rows_name}`, `{columns_name}` \
                 or `choose`; add it to one of them, or list `learners` with equal values of it"
            );
            return Err(self.table.error_at(rows, message));
        }
        self.check_distinct(&layout)?;
        Ok(layout)
    }

    /// The learners of the named entries, or of all entries with a spec.
    fn learners(&self) -> Result<Vec<usize>, ExperimentError> {
        let entries = &self.experiment.entries;
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let requested = texts(self.learners);
        if let Some(unknown) = requested.iter().find(|name| !names.contains(&name.as_str())) {
            let suggestion =
                nearest(unknown, &names).map(|near| format!(" (did you mean `{near}`?)"));
            let suggestion = suggestion.unwrap_or_default();
            let known = some_of(&names);
            let message = format!(
                "no [[learner]] is called `{unknown}`{suggestion}; the learners are {known}"
            );
            return Err(self.table.error_at(self.learners, message));
        }
        let is_shown =
            |learner: &ExperimentLearner| match (self.learners, entries.get(learner.entry)) {
                (Some(_), Some(entry)) => requested.contains(&entry.name),
                (_, entry) => entry.is_some_and(|entry| entry.has_spec),
            };
        let learners = self.experiment.learners.iter().enumerate();
        let found: Vec<usize> =
            learners.filter(|(_, learner)| is_shown(learner)).map(|(index, _)| index).collect();
        match found.is_empty() {
            true => Err(self.table.error_at(
                self.learners,
                "no [[learner]] has a `spec`, so there is nothing to show",
            )),
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
        let index = |name: &String| {
            names.iter().position(|other| other == name).ok_or_else(|| {
                let known = some_of(&names);
                let message = format!("no [[data]] is called `{name}`; the data sets are {known}");
                self.table.error_at(self.data, message)
            })
        };
        let sets: BTreeSet<usize> = texts(self.data).iter().map(index).collect::<Result<_, _>>()?;
        match sets.is_empty() {
            true => Err(self.table.error_at(self.data, "`data` names no data set")),
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
                    return Err(self.table.error_at(key, message));
                }
                if seen.contains(&factor.as_str()) {
                    return Err(self.table.error_at(key, format!("`{factor}` is named twice")));
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
            for learner in group.iter().filter_map(|index| experiment.learners.get(*index)) {
                if group.len() > 1 && !is_validated(learner) {
                    let message = without_validation_message(learner, "chosen");
                    return Err(self.table.error_at(self.choose, message));
                }
                let choice = values(experiment, learner, &layout.choose);
                if let Some(other) = seen.insert(choice, &learner.name) {
                    let (rows_name, rows) = self.rows;
                    let message = format!(
                        "`{other}` and `{}` have the same row and column; add \"learner\" to \
                         `{rows_name}`",
                        learner.name
                    );
                    return Err(self.table.error_at(rows, message));
                }
            }
        }
        Ok(())
    }
}

/// All parameters of the learners.
fn parameters(experiment: &Experiment, learners: &[usize]) -> BTreeSet<&'static str> {
    let learners = learners.iter().filter_map(|index| experiment.learners.get(*index));
    let parameters_of = |learner: &ExperimentLearner| match &learner.kind {
        LearnerKind::Spec(spec) => spec.def().params(),
        LearnerKind::Model(_) => Vec::new(),
    };
    learners.flat_map(parameters_of).map(|param| param.name).collect()
}

/// A setting in which learners of a layout differ although it is not a factor of the layout; `None`
/// if there is none. If the entry is a factor, it covers all settings in which entries differ, so
/// that only learners of the same entry are compared.
fn unnamed_difference<'e>(experiment: &'e Experiment, layout: &FactorLayout) -> Option<&'e str> {
    let factors = || [&layout.rows, &layout.columns, &layout.choose].into_iter().flatten();
    let by_entry = factors().any(|factor| factor == ENTRY);
    let learner_name = |learner: &ExperimentLearner| match &learner.kind {
        LearnerKind::Spec(spec) => spec.def().name,
        LearnerKind::Model(_) => "",
    };
    let mut first_of_group: HashMap<usize, &ExperimentLearner> = HashMap::new();
    let parameters = parameters(experiment, &layout.learners);
    for index in &layout.learners {
        let Some(learner) = experiment.learners.get(*index) else { continue };
        let group = if by_entry { learner.entry } else { 0 };
        let other = *first_of_group.entry(group).or_insert(learner);
        if learner_name(learner) != learner_name(other) {
            return Some(ENTRY);
        }
        let differs = |name: &&&str| setting(learner, name) != setting(other, name);
        let is_factor = |name: &&&str| factors().any(|factor| factor == **name);
        if let Some(name) = parameters.iter().find(|name| differs(name) && !is_factor(name)) {
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
fn without_validation_message(learner: &ExperimentLearner, action: &str) -> String {
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
    let index = |text: &String| {
        names.iter().position(|name| name == text).ok_or_else(|| {
            let known = names.join(", ");
            let message = format!("`{text}` is not one of the experiment's metrics: {known}");
            table.error_at(key, message)
        })
    };
    let mut indices: Vec<usize> = texts(key).iter().map(index).collect::<Result<_, _>>()?;
    if indices.is_empty() {
        indices.push(0);
    }
    let is_mean = |index: &&usize| {
        experiment.metrics.get(**index).is_some_and(|m| matches!(m.aggregate(), Aggregate::Mean))
    };
    if let Some(name) = indices.iter().find(|i| !is_mean(i)).and_then(|index| names.get(*index)) {
        let message =
            format!("a table shows means over queries, and {name} is not a mean over queries");
        return Err(table.error_at(key, message));
    }
    let distinct: BTreeSet<&usize> = indices.iter().collect();
    if distinct.len() < indices.len() {
        return Err(table.error_at(key, "a metric is named twice"));
    }
    Ok(indices)
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
    let learners = layout.learners.iter().filter_map(|index| experiment.learners.get(*index));
    let is_baseline = |learner: &ExperimentLearner| {
        baseline.iter().all(|(factor, expected)| value(experiment, learner, factor) == *expected)
    };
    if !learners.into_iter().any(is_baseline) {
        let (names, values): (Vec<String>, Vec<String>) = baseline.into_iter().unzip();
        let message = format!("no row has {}", words(&names, &values));
        return Err(table.error_at(&raw.baseline, message));
    }
    Ok(baseline)
}
