//! Series along two axes in characters.
//!
//! Lines are braille dots; every series has its own marker, which is placed on its line a few times
//! and shown in the legend. Areas are filled with one character per series.

use super::braille::Dots;
use super::{ROWS, name, pad_left};
use crate::chart::axis::{AxisEnds, AxisSpan};
use crate::chart::number::short;
use crate::chart::{Body, Chart, Series};

/// Markers of the series, in order; they repeat after the last.
const MARKERS: [char; 8] = ['●', '■', '▲', '◆', '▼', '+', '○', '□'];
/// Characters that fill the areas of the series, in order; they repeat after the last.
const FILLS: [char; 6] = ['█', '░', '▓', '·', '▒', ':'];

fn marker(i: usize) -> char {
    MARKERS.get(i % MARKERS.len()).copied().unwrap_or('●')
}

fn fill(i: usize) -> char {
    FILLS.get(i % FILLS.len()).copied().unwrap_or('█')
}

pub(super) fn lines(chart: &Chart, all: &[Series], width: usize) -> String {
    draw(chart, all, width, |dots, positions_by_series| {
        for (i, positions) in positions_by_series.iter().enumerate() {
            connect(dots, positions);
            // About five markers; the first marker of each series is at another point, so that
            // markers do not cover each other.
            let every = (positions.len() / 5).max(1);
            let known = positions.iter().skip(i * every / 4).step_by(every).flatten();
            known.into_iter().for_each(|position| dots.put(*position, marker(i)));
        }
    })
}

pub(super) fn points(chart: &Chart, all: &[Series], width: usize) -> String {
    draw(chart, all, width, |dots, positions_by_series| {
        for (i, (positions, one)) in positions_by_series.iter().zip(all).enumerate() {
            match one.dashed {
                true => connect(dots, positions),
                false => positions.iter().flatten().for_each(|at| dots.put(*at, marker(i))),
            }
        }
    })
}

/// Draws a line through positions, with gaps.
fn connect(dots: &mut Dots, positions: &[PointPosition]) {
    for pair in positions.windows(2) {
        if let [Some(from), Some(to)] = pair {
            dots.line(*from, *to);
        }
    }
}

/// The position of a point as shares of the two axes, from 0 to 1; `None` for a point that is not
/// shown, which is a gap in its line.
type PointPosition = Option<(f64, f64)>;

/// A chart with axes and legend. `draw_values` draws the series from the positions of their points.
fn draw(
    chart: &Chart,
    all: &[Series],
    width: usize,
    draw_values: impl FnOnce(&mut Dots, &[Vec<PointPosition>]),
) -> String {
    let points = || all.iter().flat_map(|s| &s.points).filter(|(x, _)| chart.x.is_inside(*x));
    let x = AxisSpan::numbers(&chart.x, points().map(|p| p.0), 4, AxisEnds::AtValues);
    let y = AxisSpan::numbers(&chart.y, points().map(|p| p.1), 4, AxisEnds::AtTicks);
    let position = |p: &(f64, f64)| -> PointPosition {
        let is_shown = chart.x.is_inside(p.0) && x.can_show(p.0) && y.can_show(p.1);
        is_shown.then(|| (x.fraction(p.0), y.fraction(p.1)))
    };
    let positions_by_series: Vec<Vec<PointPosition>> =
        all.iter().map(|s| s.points.iter().map(position).collect()).collect();
    if positions_by_series.iter().flatten().all(Option::is_none) {
        return String::new();
    }
    let left = margin(&y);
    let mut dots = Dots::new(width - left - 1, ROWS);
    draw_values(&mut dots, &positions_by_series);
    let is_points = matches!(chart.body, Body::Points(_));
    // A dashed series among points has no marker.
    let sign = |i, s: &Series| if is_points && s.dashed { '⠒' } else { marker(i) };
    let legend = all.iter().enumerate().map(|(i, s)| legend_line(s, sign(i, s), width));
    with_axes(chart, (&x, &y), dots.lines(), width) + &legend.collect::<String>()
}

/// Stacked areas as columns, each filled from the bottom.
pub(super) fn stack(chart: &Chart, all: &[Series], width: usize) -> String {
    let Some(first) = all.first().filter(|s| !s.points.is_empty()) else { return String::new() };
    // The upper edges of all areas at the i-th point.
    let sums = |i: usize| -> Vec<f64> {
        let values = all.iter().map(|s| s.points.get(i).map_or(0.0, |p| p.1));
        let add = |sum: &mut f64, v: f64| {
            *sum += if v.is_finite() { v } else { 0.0 };
            Some(*sum)
        };
        values.scan(0.0, add).collect()
    };
    let edges: Vec<Vec<f64>> = (0..first.points.len()).map(sums).collect();
    let (xs, ys) = (first.points.iter().map(|p| p.0), edges.iter().flatten().copied());
    let x = AxisSpan::numbers(&chart.x, xs, 4, AxisEnds::AtValues);
    let y = AxisSpan::numbers(&chart.y, ys.chain([0.0]), 4, AxisEnds::AtTicks);
    let columns = width - margin(&y) - 1;
    let nearest_point = |column: usize| {
        let fraction = column as f64 / (columns - 1).max(1) as f64;
        let distance = |p: &(f64, f64)| (x.fraction(p.0) - fraction).abs();
        let points = first.points.iter().enumerate();
        let nearest = points.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
        nearest.map_or(0, |(i, _)| i)
    };
    let nearest_points: Vec<usize> = (0..columns).map(nearest_point).collect();
    let row = |r: usize| -> String {
        let height = (ROWS - r) as f64 - 0.5;
        let character = |point: &usize| {
            let sums = edges.get(*point).map(Vec::as_slice).unwrap_or_default();
            sums.iter().position(|sum| y.fraction(*sum) * ROWS as f64 >= height).map_or(' ', fill)
        };
        nearest_points.iter().map(character).collect()
    };
    let legend = all.iter().enumerate().map(|(i, s)| legend_line(s, fill(i), width));
    with_axes(chart, (&x, &y), (0..ROWS).map(row).collect(), width) + &legend.collect::<String>()
}

/// Number of columns to the left of the chart.
fn margin(y: &AxisSpan) -> usize {
    y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(1) + 1
}

/// A line of the legend: `● validation: 0.41 to 0.52, last 0.51`.
fn legend_line(series: &Series, marker: char, width: usize) -> String {
    let finite: Vec<f64> = series.points.iter().map(|p| p.1).filter(|y| y.is_finite()).collect();
    let Some(last) = finite.last() else { return String::new() };
    let (low, high) = finite.iter().fold((*last, *last), |e, v| (e.0.min(*v), e.1.max(*v)));
    let values = format!("{} to {}, last {}", short(low), short(high), short(*last));
    let label = name(&series.name, width.saturating_sub(values.chars().count() + 4));
    let separator = if label.is_empty() { "" } else { ": " };
    format!("{}\n", name(&format!("{marker} {label}{separator}{values}"), width))
}

/// The rows of a chart with ticks on the left and the ends of x below.
fn with_axes(
    chart: &Chart,
    (x, y): (&AxisSpan, &AxisSpan),
    rows: Vec<String>,
    width: usize,
) -> String {
    let left = margin(y);
    let mut out = String::new();
    if !chart.y.label.is_empty() {
        out.push_str(&format!("{}\n", name(&chart.y.label, width)));
    }
    let last = rows.len().saturating_sub(1).max(1);
    for (r, row) in rows.iter().enumerate() {
        let is_in_row =
            |value: f64| ((1.0 - y.fraction(value)) * last as f64).round() as usize == r;
        let tick = y.ticks.iter().find(|(value, _)| is_in_row(*value));
        let tick = tick.map(|(_, label)| label.as_str());
        let line = format!("{}│{row}", pad_left(tick.unwrap_or_default(), left - 1));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let inner = width - left;
    out.push_str(&format!("{}└{}\n", " ".repeat(left - 1), "─".repeat(inner - 1)));
    let (low, high) = (short(x.ends().0), short(x.ends().1));
    let label_room = inner.saturating_sub(low.chars().count() + high.chars().count() + 2);
    let label = name(&chart.x.label, label_room);
    let before = (label_room - label.chars().count()) / 2;
    let after = label_room - label.chars().count() - before;
    let (before, after) = (" ".repeat(before + 1), " ".repeat(after + 1));
    out.push_str(&format!("{}{low}{before}{label}{after}{high}\n", " ".repeat(left)));
    out
}
