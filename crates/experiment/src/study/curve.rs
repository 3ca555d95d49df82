//! Learning curves by factors, which are settings in which learners differ: the first metric of the
//! experiment on validation data after each round.
//!
//! For each line and panel the setting is chosen once, by the mean over folds and seeds of the best
//! value; its curve is the mean over its folds and seeds, up to the end of the shortest training,
//! because beyond it the mean would be over fewer trainings. Panels of a data set share the range
//! of y: that of the values after the first tenth of the rounds, because with the steep start in
//! the plot the later differences could not be seen; values outside the range are not drawn, and
//! the caption says so. A curve has at most [`MAX_POINTS`] points, evenly spaced, including the
//! last round.
//!
//! Edge cases: a line whose learners failed or are yet to be run is left out; a round without a
//! value on one fold is a gap; a panel without lines is not drawn.

use std::collections::HashSet;

use rankwright_report::chart::{Axis, Body, Chart, Scale, Series};
use rankwright_spec::words::plural;

use super::super::cell::{ExperimentCell, StoredCell};
use super::super::factor::{FactorGrid, values, words};
use super::super::file::{Experiment, FactorPlot};
use super::super::report::{SetResult, System};
use super::choice::{choose, validated};
use super::table::{choice_direction, varies};
use super::{FactorLine, FactorPlotResult};

/// Maximum number of points of a line.
const MAX_POINTS: usize = 150;
/// Margin above and below the values of a plot, as a share of their range.
const MARGIN: f64 = 0.03;

/// The charts of a `[[plot]]`, and their results.
#[derive(Debug, Default)]
pub(super) struct DrawnPlot {
    pub(super) charts: Vec<Chart>,
    pub(super) results: Vec<FactorPlotResult>,
}

/// A line of a plot: its name, the chosen learner, and its points.
struct CurveLine {
    name: String,
    /// Index of the chosen learner.
    learner: usize,
    /// The chosen values of the factors that vary, in words.
    chosen: String,
    /// Its best value on validation data, mean over folds and seeds.
    value: Option<f64>,
    /// The word for one round, such as `tree`.
    unit: String,
    /// Rounds, from 1, and the values after them; NaN if a fold has no value.
    points: Vec<(f64, f64)>,
}

/// Draws the plot with this index, from 0; `ids` are those of all charts so far.
pub(super) fn draw_plot(
    experiment: &Experiment,
    plot: &FactorPlot,
    plot_index: usize,
    sets: &[SetResult],
    ids: &mut HashSet<String>,
) -> DrawnPlot {
    let grid = FactorGrid::new(experiment, &plot.layout);
    let mut drawn = DrawnPlot::default();
    for set in plot.layout.data.iter().filter_map(|data| sets.iter().find(|s| s.data == *data)) {
        let panel_lines = |column: usize| -> Vec<CurveLine> {
            let lines = (0..grid.rows.len())
                .filter_map(|row| line(experiment, plot, &grid, set, row, column));
            lines.collect()
        };
        let panels: Vec<Vec<CurveLine>> = (0..grid.columns.len()).map(panel_lines).collect();
        let range = shared_range(&panels);
        for (column, lines) in panels.iter().enumerate().filter(|(_, lines)| !lines.is_empty()) {
            let values = grid.columns[column].as_slice();
            let mut panel = Panel { experiment, plot, set, values, id: String::new() };
            panel.id = panel.new_id(plot_index, ids);
            drawn.charts.push(panel.chart(lines, range));
            drawn.results.push(panel.result(lines));
        }
    }
    drawn
}

/// The line of a row in a column; `None` if one of its learners is yet to be run, or if there is
/// nothing to draw.
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
    let points = thinned(&mean_curve(&system.cells));
    let unit = system.cells.first().map_or("", |(_, stored)| stored.unit.as_str());
    (!points.is_empty()).then(|| CurveLine {
        name: words(&plot.layout.rows, &grid.rows[row]),
        learner: chosen.learner,
        chosen: chosen_in_words(experiment, &plot.layout.choose, &systems, chosen.learner),
        value: chosen.validated.value,
        unit: if unit.is_empty() { "round" } else { unit }.to_owned(),
        points,
    })
}

/// A learner's values of those factors in `choose` that vary among the systems: "rate=0.1 ridge=1".
fn chosen_in_words(
    experiment: &Experiment,
    choose: &[String],
    systems: &[&System],
    learner: usize,
) -> String {
    let learner = &experiment.learners[learner];
    let varies = varies(experiment, choose, systems);
    let varied = choose.iter().zip(varies).filter(|(_, varies)| *varies);
    let varied: Vec<String> = varied.map(|(factor, _)| factor.clone()).collect();
    words(&varied, &values(experiment, learner, &varied))
}

/// The mean curve of several trainings, as long as the shortest of them.
fn mean_curve(cells: &[(ExperimentCell, StoredCell)]) -> Vec<f64> {
    let shortest = cells.iter().map(|(_, stored)| stored.curve.len()).min().unwrap_or(0);
    let mean_after = |round: usize| {
        let values = cells.iter().map(|(_, stored)| stored.curve.get(round).copied().flatten());
        let sum: Option<f64> = values.sum();
        sum.map_or(f64::NAN, |sum| sum / cells.len() as f64)
    };
    (0..shortest).map(mean_after).collect()
}

/// Evenly spaced points of a curve: rounds, from 1, and the values after them.
fn thinned(curve: &[f64]) -> Vec<(f64, f64)> {
    let point = |index: usize| ((index + 1) as f64, curve[index]);
    if curve.len() <= MAX_POINTS {
        return (0..curve.len()).map(point).collect();
    }
    let last = curve.len() - 1;
    (0..MAX_POINTS).map(|i| point(i * last / (MAX_POINTS - 1))).collect()
}

/// The range from the lowest to the highest value of all panels after the first tenth of each line,
/// with a margin; `None` without two different values.
fn shared_range(panels: &[Vec<CurveLine>]) -> Option<(f64, f64)> {
    let skipped = |line: &CurveLine| line.points.len() / 10;
    let lines = panels.iter().flatten();
    let points = lines.flat_map(|line| line.points.iter().skip(skipped(line)));
    let values = points.map(|(_, value)| *value).filter(|value| value.is_finite());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let margin = MARGIN * (high - low);
    (low < high).then_some((low - margin, high + margin))
}

fn is_outside(value: f64, range: Option<(f64, f64)>) -> bool {
    range.is_some_and(|(low, high)| value < low || value > high)
}

/// A value, or NaN, which is drawn as a gap, if it is outside the range.
fn gap_outside(value: f64, range: Option<(f64, f64)>) -> f64 {
    if is_outside(value, range) { f64::NAN } else { value }
}

/// A panel of a plot on a data set.
struct Panel<'a> {
    experiment: &'a Experiment,
    plot: &'a FactorPlot,
    set: &'a SetResult,
    /// Values of the panel's factors.
    values: &'a [String],
    /// Name of the file: letters, digits and `-`, unique in the experiment.
    id: String,
}

impl Panel<'_> {
    /// The metric of the curves.
    fn metric(&self) -> String {
        self.experiment.main_metric().to_string()
    }

    /// The name of the data set.
    fn data(&self) -> &str {
        self.experiment.data_name(self.set.data)
    }

    /// The panel in words: "leaves=7"; empty if there is one panel.
    fn panel(&self) -> String {
        words(&self.plot.layout.columns, self.values)
    }

    /// An id that is not among `ids`, to which it is added.
    fn new_id(&self, plot_index: usize, ids: &mut HashSet<String>) -> String {
        let text = format!("plot {} {} {}", plot_index + 1, self.data(), self.panel());
        let ascii_or_space =
            |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
        let ascii: String = text.chars().map(ascii_or_space).take(80).collect();
        let base = ascii.split_whitespace().collect::<Vec<_>>().join("-");
        let numbered = (2..).map(|n: u64| format!("{base}-{n}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        candidates.find(|id| ids.insert(id.clone())).unwrap_or(base)
    }

    fn title(&self) -> String {
        let panel = match self.panel() {
            panel if panel.is_empty() => String::new(),
            panel => format!(", {panel}"),
        };
        format!("{}: {}{panel}", self.plot.layout.title, self.data())
    }

    fn caption(&self, lines: &[CurveLine], range: Option<(f64, f64)>) -> String {
        let folds = self.set.folds.len();
        let mean_over = match (folds > 1, self.experiment.seeds.len() > 1) {
            (true, true) => "; mean over folds and seeds, up to the end of the shortest training",
            (true, false) => "; mean over folds, up to the end of the shortest training",
            (false, true) => "; mean over seeds, up to the end of the shortest training",
            (false, false) => "",
        };
        let metric = self.metric();
        let mut caption = format!("{metric} on validation data after each round{mean_over}.");
        let mut values = lines.iter().flat_map(|line| &line.points);
        if values.any(|(_, value)| is_outside(*value, range)) {
            caption += " The first values are outside the plot.";
        }
        let in_words = |line: &CurveLine| format!("{} for {}", line.chosen, line.name);
        let chosen = lines.iter().filter(|line| !line.chosen.is_empty());
        let chosen: Vec<String> = chosen.map(in_words).collect();
        if !chosen.is_empty() {
            caption += &format!(" Settings chosen by their best value: {}.", chosen.join("; "));
        }
        caption
    }

    fn chart(&self, lines: &[CurveLine], range: Option<(f64, f64)>) -> Chart {
        let series = |line: &CurveLine| Series {
            name: line.name.clone(),
            points: line.points.iter().map(|(x, y)| (*x, gap_outside(*y, range))).collect(),
            ..Series::default()
        };
        let first_unit = lines.first().map_or("round", |line| line.unit.as_str());
        let unit =
            if lines.iter().all(|line| line.unit == first_unit) { first_unit } else { "round" };
        Chart {
            id: self.id.clone(),
            title: self.title(),
            caption: self.caption(lines, range),
            x: Axis { label: plural(unit), ..Axis::default() },
            y: Axis {
                label: format!("{} on validation data", self.metric()),
                scale: Scale::Linear,
                range,
                ..Axis::default()
            },
            body: Body::Lines(lines.iter().map(series).collect()),
        }
    }

    fn result(&self, lines: &[CurveLine]) -> FactorPlotResult {
        let line = |line: &CurveLine| FactorLine {
            line: line.name.clone(),
            learner: self.experiment.learner_name(line.learner).to_owned(),
            validation: line.value,
            points: line.points.iter().map(|(x, y)| (*x, y.is_finite().then_some(*y))).collect(),
        };
        FactorPlotResult {
            id: self.id.clone(),
            title: self.plot.layout.title.clone(),
            data: self.data().to_owned(),
            panel: self.panel(),
            metric: self.metric(),
            lines: lines.iter().map(line).collect(),
        }
    }
}
