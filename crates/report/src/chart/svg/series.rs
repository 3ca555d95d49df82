//! Series along two axes of numbers: lines with bands, points, and areas on top of each other.
//!
//! A line breaks at every value that is outside its axes or missing; a value alone between two gaps
//! is shown as a point. Each solid line also has its series' marker at a few points.

use super::frame::{Frame, Plot, Swatch};
use super::pen::{DrawError, DrawResult, Position};
use super::theme::ColourRole;
use super::{Picture, PictureForm};
use crate::chart::axis::AxisSpan;
use crate::chart::{Chart, Series};

/// Number of markers on a line.
const MARKERS: usize = 6;

pub(super) fn lines(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
) -> Result<Picture, DrawError> {
    let swatch = |s: &Series| if s.dashed { Swatch::Dashed } else { Swatch::Line };
    let plot = frame(chart, series, form, ends(chart, series), swatch).draw(form)?;
    let mut positions = Vec::new();
    for (i, one) in series.iter().enumerate() {
        plot.pen.series(&one.name, one.dashed, || line(&plot, i, one))?;
        positions.extend(positions_of(&plot, &one.points));
    }
    done(plot, positions)
}

pub(super) fn points(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
) -> Result<Picture, DrawError> {
    let plot = frame(chart, series, form, ends(chart, series), |_| Swatch::Marker).draw(form)?;
    let count: usize = series.iter().map(|s| s.points.len()).sum();
    let radius = if count > 400 { 2.5 } else { 4.0 };
    let mut positions = Vec::new();
    for (i, one) in series.iter().enumerate() {
        let own = positions_of(&plot, &one.points);
        plot.pen.series(&one.name, false, || {
            bars_of_band(&plot, i, one)?;
            let role = ColourRole::of(one.colour, i, false);
            own.iter().flatten().try_for_each(|at| plot.pen.marker(i, role, *at, radius, 0.75))
        })?;
        positions.extend(own);
    }
    done(plot, positions)
}

/// Stacked areas: each series from the sum of those before it to that sum plus its own value.
pub(super) fn stack(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
) -> Result<Picture, DrawError> {
    let sums = sums(series);
    let all = sums.iter().flatten().map(|(_, y)| *y).chain([0.0]).collect();
    let plot = frame(chart, series, form, all, |_| Swatch::Block).draw(form)?;
    let mut positions = Vec::new();
    for (i, one) in series.iter().enumerate() {
        let upper = sums.get(i + 1).map(Vec::as_slice).unwrap_or_default();
        let lower = sums.get(i).map(Vec::as_slice).unwrap_or_default();
        plot.pen.series(&one.name, false, || {
            let at = |edge: &[(f64, f64)]| -> Vec<Position> {
                let known = edge.iter().filter(|(x, _)| plot.spans().0.can_show(*x));
                known.map(|(x, y)| plot.at(*x, *y)).collect()
            };
            let (top, mut corners) = (at(upper), at(lower));
            corners.reverse();
            corners.extend(top.iter().copied());
            if corners.len() < 4 {
                return Ok(());
            }
            plot.pen.area(corners, ColourRole::of(one.colour, i, false), 0.85)?;
            // A line in the background colour separates neighbouring areas without relying on
            // colour.
            plot.pen.line(&top, ColourRole::Ground, 1.0, 1.5)
        })?;
        positions.extend(positions_of(&plot, upper));
    }
    done(plot, positions)
}

/// The lower edge of the first series, then the upper edge of each. A value that is not a number
/// counts as 0.
fn sums(series: &[Series]) -> Vec<Vec<(f64, f64)>> {
    let xs: Vec<f64> =
        series.first().map(|s| s.points.iter().map(|p| p.0).collect()).unwrap_or_default();
    let mut edge: Vec<(f64, f64)> = xs.into_iter().map(|x| (x, 0.0)).collect();
    let mut edges = vec![edge.clone()];
    for one in series {
        for (sum, point) in edge.iter_mut().zip(&one.points) {
            sum.1 += if point.1.is_finite() { point.1 } else { 0.0 };
        }
        edges.push(edge.clone());
    }
    edges
}

fn done(plot: Plot, positions: Vec<Option<Position>>) -> Result<Picture, DrawError> {
    if positions.iter().all(Option::is_none) {
        plot.write_no_values()?;
    }
    Ok(plot.finish(positions))
}

fn frame(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
    ys: Vec<f64>,
    swatch: impl Fn(&Series) -> Swatch,
) -> Frame {
    let xs = series.iter().flat_map(|s| s.points.iter().map(|p| p.0));
    let needs_legend = series.len() > 1 || series.iter().any(|s| !s.name.is_empty());
    let legend = series.iter().enumerate();
    let legend =
        legend.map(|(i, s)| (s.name.clone(), swatch(s), ColourRole::of(s.colour, i, false)));
    Frame {
        x: AxisSpan::numbers(&chart.x, xs, form.ticks(), false),
        y: AxisSpan::numbers(&chart.y, ys, 6, true),
        x_label: chart.x.label.clone(),
        y_label: chart.y.label.clone(),
        legend: if needs_legend { legend.collect() } else { Vec::new() },
        upright: false,
        height: form.height(),
        grid: (false, true),
        above: 0.0,
    }
}

/// All values and ends of their bands, where x is on its axis.
fn ends(chart: &Chart, series: &[Series]) -> Vec<f64> {
    let mut values = Vec::new();
    for one in series {
        for (i, (x, y)) in one.points.iter().enumerate() {
            if chart.x.is_inside(*x) {
                values.push(*y);
                values.extend(one.band.get(i).into_iter().flat_map(|band| [band.0, band.1]));
            }
        }
    }
    values
}

fn position(plot: &Plot, x: f64, y: f64) -> Option<Position> {
    let (across, up) = plot.spans();
    let (low, high) = across.ends();
    let is_inside = (low..=high).contains(&x);
    (is_inside && across.can_show(x) && up.can_show(y)).then(|| plot.at(x, y))
}

fn positions_of(plot: &Plot, points: &[(f64, f64)]) -> Vec<Option<Position>> {
    points.iter().map(|(x, y)| position(plot, *x, *y)).collect()
}

/// The runs of positions without a gap.
fn runs<T: Copy>(positions: &[Option<T>]) -> Vec<Vec<T>> {
    let parts = positions.split(Option::is_none).map(|run| run.iter().flatten().copied().collect());
    parts.filter(|run: &Vec<T>| !run.is_empty()).collect()
}

fn line(plot: &Plot, i: usize, one: &Series) -> DrawResult {
    let role = ColourRole::of(one.colour, i, false);
    for run in runs(&band_positions(plot, one)) {
        let mut corners: Vec<Position> = run.iter().map(|(_, high)| *high).collect();
        corners.extend(run.iter().rev().map(|(low, _)| *low));
        if corners.len() > 3 {
            plot.pen.area(corners, role, 0.16)?;
        }
    }
    let positions = positions_of(plot, &one.points);
    for run in runs(&positions) {
        match run.as_slice() {
            [alone] => plot.pen.marker(i, role, *alone, 3.0, 1.0)?,
            run => plot.pen.line(run, role, 1.0, 2.0)?,
        }
    }
    if one.dashed {
        return Ok(());
    }
    // Later series begin a little later, so that markers on equal lines do not cover each other.
    let every = positions.len().div_ceil(MARKERS).max(1);
    let every = if positions.len() <= 2 * MARKERS { 1 } else { every };
    let first = if every == 1 { 0 } else { (i * every / 4) % every };
    let known = positions.iter().skip(first).step_by(every).flatten();
    known.into_iter().try_for_each(|at| plot.pen.marker(i, role, *at, 3.5, 1.0))
}

/// Both ends of the band at each point that has one.
fn band_positions(plot: &Plot, one: &Series) -> Vec<Option<(Position, Position)>> {
    let pairs = one.points.iter().zip(&one.band);
    pairs
        .map(|((x, _), (low, high))| Some((position(plot, *x, *low)?, position(plot, *x, *high)?)))
        .collect()
}

/// Draws a vertical bar over the band of each point.
fn bars_of_band(plot: &Plot, i: usize, one: &Series) -> DrawResult {
    let known = band_positions(plot, one);
    let role = ColourRole::of(one.colour, i, false);
    known
        .into_iter()
        .flatten()
        .try_for_each(|(low, high)| plot.pen.line(&[low, high], role, 0.6, 1.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_part_a_line_into_runs() {
        assert_eq!(runs(&[Some(1), None, Some(2), Some(3), None]), [vec![1], vec![2, 3]]);
        assert!(runs::<i32>(&[None, None]).is_empty());
    }

    #[test]
    fn a_stack_adds_up_and_takes_gaps_as_nothing() {
        let one =
            |ys: [f64; 2]| Series { points: vec![(0.0, ys[0]), (1.0, ys[1])], ..Series::default() };
        let edges = sums(&[one([1.0, 2.0]), one([3.0, f64::NAN])]);
        assert_eq!(edges[0], [(0.0, 0.0), (1.0, 0.0)]);
        assert_eq!(edges[2], [(0.0, 4.0), (1.0, 2.0)]);
    }
}
