//! Series along two axes in characters.
//!
//! Lines are braille dots; every series has its own marker, which is placed on its line a few times
//! and shown in the legend. Areas are filled with one character per series.

use super::braille::Dots;
use super::{ROWS, name, pad_left};
use crate::chart::axis::AxisSpan;
use crate::chart::number::short;
use crate::chart::{Chart, Series};

const MARKERS: [char; 8] = ['●', '■', '▲', '◆', '▼', '+', '○', '□'];
const FILLS: [char; 6] = ['█', '░', '▓', '·', '▒', ':'];

fn marker(i: usize) -> char {
    MARKERS.get(i % MARKERS.len()).copied().unwrap_or('●')
}

fn fill(i: usize) -> char {
    FILLS.get(i % FILLS.len()).copied().unwrap_or('█')
}

pub(super) fn lines(chart: &Chart, all: &[Series], width: usize) -> String {
    draw(chart, all, width, |dots, fractions| {
        for (i, own) in fractions.iter().enumerate() {
            for pair in own.windows(2) {
                if let [Some(from), Some(to)] = pair {
                    dots.line(*from, *to);
                }
            }
            let every = (own.len() / 5).max(1);
            let known = own.iter().skip(i * every / 4).step_by(every).flatten();
            known.into_iter().for_each(|at| dots.put(*at, marker(i)));
        }
    })
}

pub(super) fn points(chart: &Chart, all: &[Series], width: usize) -> String {
    draw(chart, all, width, |dots, fractions| {
        for (i, own) in fractions.iter().enumerate() {
            own.iter().flatten().for_each(|at| dots.put(*at, marker(i)));
        }
    })
}

type Fraction = Option<(f64, f64)>;

/// Axes and legend around a plot; `put` draws the values, whose positions are between 0 and 1.
fn draw(
    chart: &Chart,
    all: &[Series],
    width: usize,
    put: impl FnOnce(&mut Dots, &[Vec<Fraction>]),
) -> String {
    let points = || all.iter().flat_map(|s| &s.points).filter(|(x, _)| chart.x.is_inside(*x));
    let x = AxisSpan::numbers(&chart.x, points().map(|p| p.0), 4, false);
    let y = AxisSpan::numbers(&chart.y, points().map(|p| p.1), 4, true);
    let position = |p: &(f64, f64)| -> Fraction {
        let is_shown = chart.x.is_inside(p.0) && x.can_show(p.0) && y.can_show(p.1);
        is_shown.then(|| (x.fraction(p.0), y.fraction(p.1)))
    };
    let fractions: Vec<Vec<Fraction>> =
        all.iter().map(|s| s.points.iter().map(position).collect()).collect();
    if fractions.iter().flatten().all(Option::is_none) {
        return String::new();
    }
    let left = margin(&y);
    let mut dots = Dots::new(width - left - 1, ROWS);
    put(&mut dots, &fractions);
    let entries = all.iter().enumerate().map(|(i, one)| legend(one, marker(i), width));
    around(chart, (&x, &y), dots.lines(), width) + &entries.collect::<String>()
}

/// Stacked areas as columns, each filled from the bottom.
pub(super) fn stack(chart: &Chart, all: &[Series], width: usize) -> String {
    let Some(first) = all.first().filter(|s| !s.points.is_empty()) else { return String::new() };
    let sums = |i: usize| -> Vec<f64> {
        let own = all.iter().map(|s| s.points.get(i).map_or(0.0, |p| p.1));
        let grow = |sum: &mut f64, v: f64| {
            *sum += if v.is_finite() { v } else { 0.0 };
            Some(*sum)
        };
        own.scan(0.0, grow).collect()
    };
    let edges: Vec<Vec<f64>> = (0..first.points.len()).map(sums).collect();
    let x = AxisSpan::numbers(&chart.x, first.points.iter().map(|p| p.0), 4, false);
    let y = AxisSpan::numbers(&chart.y, edges.iter().flatten().copied().chain([0.0]), 4, true);
    let columns = width - margin(&y) - 1;
    let nearest = |column: usize| {
        let fraction = column as f64 / (columns - 1).max(1) as f64;
        let off = |p: &(f64, f64)| (x.fraction(p.0) - fraction).abs();
        let best = first.points.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
        best.map_or(0, |(i, _)| i)
    };
    let nearest: Vec<usize> = (0..columns).map(nearest).collect();
    let row = |r: usize| -> String {
        let height = (ROWS - r) as f64 - 0.5;
        let one = |i: &usize| {
            let own = edges.get(*i).map(Vec::as_slice).unwrap_or_default();
            own.iter().position(|sum| y.fraction(*sum) * ROWS as f64 >= height).map_or(' ', fill)
        };
        nearest.iter().map(one).collect()
    };
    let entries = all.iter().enumerate().map(|(i, one)| legend(one, fill(i), width));
    around(chart, (&x, &y), (0..ROWS).map(row).collect(), width) + &entries.collect::<String>()
}

/// Number of columns to the left of the plot.
fn margin(y: &AxisSpan) -> usize {
    y.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(1) + 1
}

/// A line of the legend: `● validation: 0.41 to 0.52, last 0.51`.
fn legend(one: &Series, marker: char, width: usize) -> String {
    let known: Vec<f64> = one.points.iter().map(|p| p.1).filter(|y| y.is_finite()).collect();
    let Some(last) = known.last() else { return String::new() };
    let ends = known.iter().fold((*last, *last), |e, v| (e.0.min(*v), e.1.max(*v)));
    let shown = format!("{} to {}, last {}", short(ends.0), short(ends.1), short(*last));
    let label = name(&one.name, width.saturating_sub(shown.chars().count() + 4));
    let gap = if label.is_empty() { "" } else { ": " };
    format!("{}\n", name(&format!("{marker} {label}{gap}{shown}"), width))
}

/// The plot with ticks on the left and the ends of x below.
fn around(
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
        let here = |at: f64| ((1.0 - y.fraction(at)) * last as f64).round() as usize == r;
        let tick = y.ticks.iter().find(|(at, _)| here(*at)).map(|(_, label)| label.as_str());
        let line = format!("{}│{row}", pad_left(tick.unwrap_or_default(), left - 1));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let inner = width - left;
    out.push_str(&format!("{}└{}\n", " ".repeat(left - 1), "─".repeat(inner - 1)));
    let (low, high) = (short(x.ends().0), short(x.ends().1));
    let room = inner.saturating_sub(low.chars().count() + high.chars().count() + 2);
    let label = name(&chart.x.label, room);
    let side = (room - label.chars().count()) / 2;
    let rest = room - label.chars().count() - side;
    let gaps = (" ".repeat(side + 1), " ".repeat(rest + 1));
    out.push_str(&format!("{}{low}{}{label}{}{high}\n", " ".repeat(left), gaps.0, gaps.1));
    out
}
