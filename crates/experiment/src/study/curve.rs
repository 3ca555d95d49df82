//! Learning curves by factors: the first metric of the experiment on validation data after each
//! round.
//!
//! For each line and panel the setting is chosen once, by the mean over folds and seeds of the best
//! value; its curve is the mean over its folds and seeds, up to the end of the shortest training,
//! since beyond that the mean would cover other trainings. Panels of a data set share the range of
//! y: that of the values after the first tenth of the rounds, as the steep beginning would leave no
//! room for the rest; values outside are not drawn, and the caption says so. A curve has at most
//! [`POINTS`] points, evenly spaced, including the last round.
//!
//! Edge cases: a line whose learners failed or are yet to be run is left out; a round without a
//! value on one fold is a gap; a panel without lines is not drawn.

use std::collections::HashSet;

use rankwright_report::chart::{Axis, Body, Chart, Scale, Series};
use rankwright_spec::words::plural;

use super::super::cell::{ExperimentCell, StoredCell};
use super::super::factor::{FactorGrid, values, words};
use super::super::file::{Experiment, FactorPlot};
use super::super::report::{SetResult, System, name};
use super::choice::{choose, validated};
use super::table::{choice_direction, varies};
use super::{FactorLine, FactorPlotResult};

/// Maximum number of points of a line.
const POINTS: usize = 150;

/// The charts of a `[[plot]]`, and their results.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) charts: Vec<Chart>,
    pub(super) results: Vec<FactorPlotResult>,
}

/// A line of a plot: its name, the chosen learner, and its points.
struct CurveLine {
    name: String,
    learner: usize,
    /// The chosen values of the factors that vary, in words.
    chosen: String,
    value: Option<f64>,
    unit: String,
    points: Vec<(f64, f64)>,
}

pub(super) fn drawn(
    experiment: &Experiment,
    plot: &FactorPlot,
    number: usize,
    sets: &[SetResult],
    ids: &mut HashSet<String>,
) -> Drawn {
    let grid = FactorGrid::new(experiment, &plot.view);
    let mut drawn = Drawn::default();
    for set in plot.view.data.iter().filter_map(|data| sets.iter().find(|s| s.data == *data)) {
        let panel = |column: usize| -> Vec<CurveLine> {
            let lines = (0..grid.rows.len())
                .filter_map(|row| line(experiment, plot, &grid, set, row, column));
            lines.collect()
        };
        let panels: Vec<Vec<CurveLine>> = (0..grid.columns.len()).map(panel).collect();
        let range = range(&panels);
        for (column, lines) in panels.iter().enumerate().filter(|(_, lines)| !lines.is_empty()) {
            let values = grid.columns.get(column).map_or(&[][..], Vec::as_slice);
            let mut panel_of_plot = Panel { experiment, plot, set, values, id: String::new() };
            panel_of_plot.id = panel_of_plot.new_id(number, ids);
            drawn.charts.push(panel_of_plot.chart(lines, range));
            drawn.results.push(panel_of_plot.result(lines));
        }
    }
    drawn
}

/// The line of a row in a column; none while one of its learners is yet to be run.
fn line(
    experiment: &Experiment,
    plot: &FactorPlot,
    grid: &FactorGrid,
    set: &SetResult,
    row: usize,
    column: usize,
) -> Option<CurveLine> {
    let group = grid.group(row, column);
    if group.iter().any(|learner| set.not_run.contains(learner)) {
        return None;
    }
    let systems: Vec<&System> = group.iter().filter_map(|learner| set.system(*learner)).collect();
    let better = choice_direction(experiment);
    let chosen = choose(&systems, better, |system| validated(system.cells.iter(), better))?;
    let system = set.system(chosen.learner)?;
    let points = thinned(&mean(&system.cells));
    let unit = system.cells.first().map_or("", |(_, stored)| stored.unit.as_str());
    (!points.is_empty()).then(|| CurveLine {
        name: words(&plot.view.rows, grid.rows.get(row).map_or(&[][..], Vec::as_slice)),
        learner: chosen.learner,
        chosen: in_words(experiment, &plot.view.choose, &systems, chosen.learner),
        value: chosen.validated.value,
        unit: if unit.is_empty() { "round" } else { unit }.to_owned(),
        points,
    })
}

/// A learner's values of the factors that vary: "rate=0.1 ridge=1".
fn in_words(
    experiment: &Experiment,
    choose: &[String],
    systems: &[&System],
    learner: usize,
) -> String {
    let Some(learner) = experiment.learners.get(learner) else { return String::new() };
    let varies = varies(experiment, choose, systems);
    let varied = choose.iter().zip(varies).filter(|(_, varies)| *varies);
    let varied: Vec<String> = varied.map(|(factor, _)| factor.clone()).collect();
    words(&varied, &values(experiment, learner, &varied))
}

/// The mean curve of several trainings, as long as the shortest of them.
fn mean(cells: &[(ExperimentCell, StoredCell)]) -> Vec<f64> {
    let shortest = cells.iter().map(|(_, stored)| stored.curve.len()).min().unwrap_or(0);
    let at = |round: usize| {
        let values = cells.iter().map(|(_, stored)| stored.curve.get(round).copied().flatten());
        let sum: Option<f64> = values.sum();
        sum.map_or(f64::NAN, |sum| sum / cells.len() as f64)
    };
    (0..shortest).map(at).collect()
}

/// Rounds from 1 and their values, evenly spaced.
fn thinned(curve: &[f64]) -> Vec<(f64, f64)> {
    let point = |at: usize| ((at + 1) as f64, curve[at]);
    if curve.len() <= POINTS {
        return (0..curve.len()).map(point).collect();
    }
    let last = curve.len() - 1;
    (0..POINTS).map(|i| point(i * last / (POINTS - 1))).collect()
}

/// The range from the lowest to the highest value of all panels after the first tenth of each line;
/// none without two different values.
fn range(panels: &[Vec<CurveLine>]) -> Option<(f64, f64)> {
    let later = |line: &CurveLine| line.points.len() / 10;
    let lines = panels.iter().flatten();
    let points = lines.flat_map(|line| line.points.iter().skip(later(line)));
    let values = points.map(|(_, value)| *value).filter(|value| value.is_finite());
    let ends = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let room = 0.03 * (ends.1 - ends.0);
    (ends.0 < ends.1).then_some((ends.0 - room, ends.1 + room))
}

fn is_outside(value: f64, range: Option<(f64, f64)>) -> bool {
    range.is_some_and(|(low, high)| value < low || value > high)
}

/// A value, or a gap where it is outside the range.
fn inside(value: f64, range: Option<(f64, f64)>) -> f64 {
    if is_outside(value, range) { f64::NAN } else { value }
}

/// A panel of a plot on a data set.
struct Panel<'a> {
    experiment: &'a Experiment,
    plot: &'a FactorPlot,
    set: &'a SetResult,
    values: &'a [String],
    /// Name of the file: letters, digits and `-`, unique in the experiment.
    id: String,
}

impl Panel<'_> {
    fn metric(&self) -> String {
        self.experiment.metrics.first().map(ToString::to_string).unwrap_or_default()
    }

    fn data(&self) -> &str {
        self.experiment.data.get(self.set.data).map_or("", |data| data.name.as_str())
    }

    /// The panel in words: "leaves=7"; empty where there is one panel.
    fn panel(&self) -> String {
        words(&self.plot.view.columns, self.values)
    }

    fn new_id(&self, number: usize, ids: &mut HashSet<String>) -> String {
        let wanted = format!("plot {} {} {}", number + 1, self.data(), self.panel());
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
        let plain: String = wanted.chars().map(plain).take(80).collect();
        let base = plain.split_whitespace().collect::<Vec<_>>().join("-");
        let numbered = (2..).map(|n: u64| format!("{base}-{n}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        names.find(|name| ids.insert(name.clone())).unwrap_or(base)
    }

    fn title(&self) -> String {
        let panel = match self.panel() {
            panel if panel.is_empty() => String::new(),
            panel => format!(", {panel}"),
        };
        format!("{}: {}{panel}", self.plot.view.title, self.data())
    }

    fn caption(&self, lines: &[CurveLine], range: Option<(f64, f64)>) -> String {
        let folds = self.set.folds.len();
        let over = match (folds > 1, self.experiment.seeds.len() > 1) {
            (true, true) => "; mean over folds and seeds, up to the end of the shortest training",
            (true, false) => "; mean over folds, up to the end of the shortest training",
            (false, true) => "; mean over seeds, up to the end of the shortest training",
            (false, false) => "",
        };
        let mut caption = format!("{} on validation data after each round{over}.", self.metric());
        let mut values = lines.iter().flat_map(|line| &line.points);
        if values.any(|(_, value)| is_outside(*value, range)) {
            caption += " The first values are outside the plot.";
        }
        let word = |line: &CurveLine| format!("{} for {}", line.chosen, line.name);
        let chosen = lines.iter().filter(|line| !line.chosen.is_empty());
        let chosen: Vec<String> = chosen.map(word).collect();
        if !chosen.is_empty() {
            caption += &format!(" Settings chosen by their best value: {}.", chosen.join("; "));
        }
        caption
    }

    fn chart(&self, lines: &[CurveLine], range: Option<(f64, f64)>) -> Chart {
        let series = |line: &CurveLine| Series {
            name: line.name.clone(),
            points: line.points.iter().map(|(x, y)| (*x, inside(*y, range))).collect(),
            ..Series::default()
        };
        let unit = lines.first().map_or("round", |line| line.unit.as_str());
        Chart {
            id: self.id.clone(),
            title: self.title(),
            caption: self.caption(lines, range),
            x: Axis { label: plural(unit), ..Axis::default() },
            y: Axis {
                label: format!("{} on validation data", self.metric()),
                scale: Scale::Linear,
                range,
            },
            body: Body::Lines(lines.iter().map(series).collect()),
        }
    }

    fn result(&self, lines: &[CurveLine]) -> FactorPlotResult {
        let line = |line: &CurveLine| FactorLine {
            line: line.name.clone(),
            learner: name(self.experiment, line.learner).to_owned(),
            validation: line.value,
            points: line.points.iter().map(|(x, y)| (*x, y.is_finite().then_some(*y))).collect(),
        };
        FactorPlotResult {
            id: self.id.clone(),
            title: self.plot.view.title.clone(),
            data: self.data().to_owned(),
            panel: self.panel(),
            metric: self.metric(),
            lines: lines.iter().map(line).collect(),
        }
    }
}
