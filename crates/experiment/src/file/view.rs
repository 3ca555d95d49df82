//! `[[table]]` and `[[plot]]`: learners by the factors that they differ in.
//!
//! Both are a [`View`]: learners laid out by row and column (a plot: by line and panel), with what is
//! left chosen on validation data. Every setting in which the learners of a view differ must be in one
//! of the three: a difference that nobody named would be taken for that of a factor.

use std::collections::{BTreeSet, HashMap};

use rankwright_eval::Aggregate;
use rankwright_spec::nearest;

use super::super::factor::{ENTRY, Grid, setting, value, values, words};
use super::super::fields::{Fields, scalar};
use super::{Experiment, Member, MemberKind, one_line, some_of};
use crate::ExperimentError;

const TABLE: &[&str] =
    &["title", "rows", "columns", "choose", "learners", "data", "metrics", "baseline"];
const PLOT: &[&str] = &["title", "lines", "panels", "choose", "learners", "data"];

/// Learners laid out by factors.
#[derive(Debug, Clone)]
pub struct FactorView {
    /// What is shown.
    pub title: String,
    /// Which learners, by number, in the order of the file.
    pub learners: Vec<usize>,
    /// Which data sets, by number.
    pub data: Vec<usize>,
    /// Factors down the rows, or those that tell lines apart.
    pub rows: Vec<String>,
    /// Factors across the columns, or those of the panels.
    pub columns: Vec<String>,
    /// Factors whose values are chosen on validation data.
    pub choose: Vec<String>,
}

/// A table of test values by factors.
#[derive(Debug, Clone)]
pub struct FactorTable {
    /// What stands where.
    pub view: FactorView,
    /// The metrics shown, by number, each in columns of its own.
    pub metrics: Vec<usize>,
    /// Values of row factors: the first row that agrees is what others are compared with.
    pub baseline: Vec<(String, String)>,
}

/// Learning curves by factors.
#[derive(Debug, Clone)]
pub struct FactorPlot {
    /// Lines are its rows, panels its columns.
    pub view: FactorView,
}

/// Reads all of `[[table]]`.
pub(super) fn tables(
    top: &Fields<'_>,
    experiment: &Experiment,
) -> Result<Vec<FactorTable>, ExperimentError> {
    let table = |fields: &Fields<'_>| {
        let view = view(fields, experiment, "rows", "columns")?;
        let metrics = metrics(fields, experiment)?;
        let baseline = baseline(fields, experiment, &view)?;
        Ok(FactorTable { view, metrics, baseline })
    };
    top.tables("table", "[[table]]", TABLE)?.iter().map(table).collect()
}

/// Reads all of `[[plot]]`.
pub(super) fn plots(
    top: &Fields<'_>,
    experiment: &Experiment,
) -> Result<Vec<FactorPlot>, ExperimentError> {
    let plot = |fields: &Fields<'_>| {
        let view = view(fields, experiment, "lines", "panels")?;
        let members = view.learners.iter().filter_map(|number| experiment.learners.get(*number));
        if let Some(member) = members.into_iter().find(|member| !is_validated(member)) {
            return Err(fields.wrong("learners", unvalidated(member, "drawn")));
        }
        Ok(FactorPlot { view })
    };
    top.tables("plot", "[[plot]]", PLOT)?.iter().map(plot).collect()
}

fn view(
    fields: &Fields<'_>,
    experiment: &Experiment,
    rows: &str,
    columns: &str,
) -> Result<FactorView, ExperimentError> {
    let view = FactorView {
        title: one_line(fields, fields.needed("title", "\"Newton steps\"")?)?,
        learners: learners(fields, experiment)?,
        data: data(fields, experiment)?,
        rows: fields.texts(rows)?,
        columns: fields.texts(columns)?,
        choose: fields.texts("choose")?,
    };
    if view.rows.is_empty() {
        let message = format!("`{rows}` names no factor, such as {rows} = [\"rate\"]");
        return Err(fields.wrong(rows, message));
    }
    let keys = [(rows, &view.rows), (columns, &view.columns), ("choose", &view.choose)];
    known_once(fields, experiment, &view, keys)?;
    if let Some(factor) = unnamed(experiment, &view) {
        let message = format!(
            "the learners differ in `{factor}`, which is in none of `{rows}`, `{columns}` and \
             `choose`; name it there, or name `learners` that are alike in it"
        );
        return Err(fields.wrong(rows, message));
    }
    told_apart(fields, experiment, &view, rows)?;
    Ok(view)
}

/// The learners of the entries named, or of all that have a spec.
fn learners(fields: &Fields<'_>, experiment: &Experiment) -> Result<Vec<usize>, ExperimentError> {
    let entries = &experiment.entries;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let asked = fields.texts("learners")?;
    if let Some(other) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        let slip = nearest(other, &names).map(|near| format!(" (did you mean `{near}`?)"));
        let slip = slip.unwrap_or_default();
        let known = some_of(&names);
        let message = format!("no [[learner]] is called `{other}`{slip}; they are {known}");
        return Err(fields.wrong("learners", message));
    }
    let wanted = |member: &Member| match (fields.has("learners"), entries.get(member.entry)) {
        (true, Some(entry)) => asked.contains(&entry.name),
        (_, entry) => entry.is_some_and(|entry| entry.learns),
    };
    let members = experiment.learners.iter().enumerate();
    let found: Vec<usize> = members.filter(|(_, m)| wanted(m)).map(|(number, _)| number).collect();
    match found.is_empty() {
        true => Err(fields.wrong("learners", "there is no learner with a spec to be shown")),
        false => Ok(found),
    }
}

fn data(fields: &Fields<'_>, experiment: &Experiment) -> Result<Vec<usize>, ExperimentError> {
    if !fields.has("data") {
        return Ok((0..experiment.data.len()).collect());
    }
    let names: Vec<&str> = experiment.data.iter().map(|set| set.name.as_str()).collect();
    let number = |name: &String| {
        names.iter().position(|other| other == name).ok_or_else(|| {
            let message = format!("no [[data]] is called `{name}`; they are {}", some_of(&names));
            fields.wrong("data", message)
        })
    };
    let sets: BTreeSet<usize> =
        fields.texts("data")?.iter().map(number).collect::<Result<_, _>>()?;
    match sets.is_empty() {
        true => Err(fields.wrong("data", "`data` names no data set")),
        false => Ok(sets.into_iter().collect()),
    }
}

/// Each factor is a parameter of one of the learners at least, and is named once.
fn known_once(
    fields: &Fields<'_>,
    experiment: &Experiment,
    view: &FactorView,
    keys: [(&str, &Vec<String>); 3],
) -> Result<(), ExperimentError> {
    let mut known = parameters(experiment, &view.learners);
    known.insert(ENTRY);
    let mut seen: Vec<&str> = Vec::new();
    for (key, factors) in keys {
        for factor in factors {
            if !known.contains(factor.as_str()) {
                let names: Vec<&str> = known.iter().copied().collect();
                let slip = nearest(factor, &names).map(|near| format!("; did you mean `{near}`?"));
                let slip = slip.unwrap_or_default();
                let message = format!("none of the learners has a parameter `{factor}`{slip}");
                return Err(fields.wrong(key, message));
            }
            if seen.contains(&factor.as_str()) {
                return Err(fields.wrong(key, format!("`{factor}` is named twice")));
            }
            seen.push(factor);
        }
    }
    Ok(())
}

/// Every parameter that one of the learners has.
fn parameters(experiment: &Experiment, learners: &[usize]) -> BTreeSet<&'static str> {
    let members = learners.iter().filter_map(|number| experiment.learners.get(*number));
    let of = |member: &Member| match &member.what {
        MemberKind::Learner(spec) => spec.def().params(),
        MemberKind::Model(_) => Vec::new(),
    };
    members.flat_map(of).map(|param| param.name).collect()
}

/// A setting in which learners differ without a factor for it. Where the entry is a factor, it stands
/// for all that one entry has and another has not.
fn unnamed<'e>(experiment: &'e Experiment, view: &FactorView) -> Option<&'e str> {
    let all = || [&view.rows, &view.columns, &view.choose].into_iter().flatten();
    let by_entry = all().any(|factor| factor == ENTRY);
    let kind = |member: &Member| match &member.what {
        MemberKind::Learner(spec) => spec.def().name,
        MemberKind::Model(_) => "",
    };
    let mut first: HashMap<usize, &Member> = HashMap::new();
    let parameters = parameters(experiment, &view.learners);
    for number in &view.learners {
        let Some(member) = experiment.learners.get(*number) else { continue };
        let group = if by_entry { member.entry } else { 0 };
        let other = *first.entry(group).or_insert(member);
        if kind(member) != kind(other) {
            return Some(ENTRY);
        }
        let differs = |name: &&&str| setting(member, name) != setting(other, name);
        let named = |name: &&&str| all().any(|factor| factor == **name);
        if let Some(name) = parameters.iter().find(|name| differs(name) && !named(name)) {
            return Some(name);
        }
    }
    None
}

/// No two learners stand at the same place with the same choice, and those that are chosen among have
/// validation values.
fn told_apart(
    fields: &Fields<'_>,
    experiment: &Experiment,
    view: &FactorView,
    rows: &str,
) -> Result<(), ExperimentError> {
    let grid = Grid::new(experiment, view);
    let places = (0..grid.rows.len()).flat_map(|r| (0..grid.columns.len()).map(move |c| (r, c)));
    for (row, column) in places {
        let mut seen: HashMap<Vec<String>, &str> = HashMap::new();
        let group = grid.group(row, column);
        for member in group.iter().filter_map(|number| experiment.learners.get(*number)) {
            if group.len() > 1 && !is_validated(member) {
                return Err(fields.wrong("choose", unvalidated(member, "chosen")));
            }
            let choice = values(experiment, member, &view.choose);
            if let Some(other) = seen.insert(choice, &member.name) {
                let message = format!(
                    "`{other}` and `{}` stand at the same place; add \"learner\" to `{rows}`",
                    member.name
                );
                return Err(fields.wrong(rows, message));
            }
        }
    }
    Ok(())
}

fn is_validated(member: &Member) -> bool {
    matches!(&member.what, MemberKind::Learner(spec) if spec.uses_validation())
}

fn unvalidated(member: &Member, what: &str) -> String {
    format!(
        "`{}` does not look at validation data, so that it cannot be {what} by it; give it stop=, or \
         name `learners` without it",
        member.name
    )
}

/// The metrics of a table, the first of the experiment if none is named.
fn metrics(fields: &Fields<'_>, experiment: &Experiment) -> Result<Vec<usize>, ExperimentError> {
    let names: Vec<String> = experiment.metrics.iter().map(ToString::to_string).collect();
    let known = |text: &String| {
        names.iter().position(|name| name == text).ok_or_else(|| {
            let known = names.join(", ");
            let message = format!("`{text}` is none of the metrics of the experiment: {known}");
            fields.wrong("metrics", message)
        })
    };
    let mut numbers: Vec<usize> =
        fields.texts("metrics")?.iter().map(known).collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        numbers.push(0);
    }
    let mean = |number: &&usize| {
        experiment.metrics.get(**number).is_some_and(|m| matches!(m.aggregate(), Aggregate::Mean))
    };
    if let Some(name) = numbers.iter().find(|n| !mean(n)).and_then(|number| names.get(*number)) {
        let message = format!("a table shows means over queries, and {name} is none");
        return Err(fields.wrong("metrics", message));
    }
    let once: BTreeSet<&usize> = numbers.iter().collect();
    if once.len() < numbers.len() {
        return Err(fields.wrong("metrics", "a metric is named twice"));
    }
    Ok(numbers)
}

/// Reads `baseline = { newton = "per-document" }`.
fn baseline(
    fields: &Fields<'_>,
    experiment: &Experiment,
    view: &FactorView,
) -> Result<Vec<(String, String)>, ExperimentError> {
    let mut wanted: Vec<(String, String)> = Vec::new();
    for entry in fields.entries("baseline")? {
        if !view.rows.contains(&entry.name) {
            let message = format!("`{}` is none of the rows: {}", entry.name, view.rows.join(", "));
            return Err(fields.wrong_at(&entry.at, message));
        }
        let found = scalar(entry.value.get_ref()).ok_or_else(|| {
            fields.wrong_at(&entry.value.span(), "a text, a number or a switch is expected")
        })?;
        wanted.push((entry.name, found));
    }
    let members = view.learners.iter().filter_map(|number| experiment.learners.get(*number));
    let agrees = |member: &Member| {
        wanted.iter().all(|(factor, found)| value(experiment, member, factor) == *found)
    };
    if !members.into_iter().any(agrees) {
        let (names, found): (Vec<String>, Vec<String>) = wanted.into_iter().unzip();
        let message = format!("no row has {}", words(&names, &found));
        return Err(fields.wrong("baseline", message));
    }
    Ok(wanted)
}
