//! Series along two axes of numbers: lines with bands, points, and areas on top of each other.
//!
//! A line breaks at every value that is missing or whose x is outside its axis; a single value
//! between two gaps is shown as a point. Each solid line also has the marker of its series at a few
//! points.

use super::frame::{Frame, PlotArea, Swatch};
use super::pen::{DrawError, DrawResult, Position};
use super::theme::ColourRole;
use super::{Picture, PictureForm};
use crate::chart::axis::{AxisEnds, AxisSpan};
use crate::chart::{Chart, Series};

/// Approximate number of markers on a line.
const MARKERS: usize = 6;

/// Lines with a band around each of them, if there is one.
pub(super) fn lines(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
) -> Result<Picture, DrawError> {
    let swatch = |s: &Series| if s.dashed { Swatch::Dashed } else { Swatch::Line };
    let ys = values_and_bands(chart, series);
    let plot = frame(chart, series, form, ys, swatch).draw(form)?;
    let mut positions = Vec::new();
    for (i, one) in series.iter().enumerate() {
        plot.pen.line_series(&one.name, one.dashed, || draw_line(&plot, i, one))?;
        positions.extend(visible_positions(&plot, &one.points));
    }
    finish(plot, positions)
}

/// Points, and the lines of dashed series; bands of points are vertical lines.
pub(super) fn points(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
) -> Result<Picture, DrawError> {
    let ys = values_and_bands(chart, series);
    let swatch = |s: &Series| if s.dashed { Swatch::Dashed } else { Swatch::Marker };
    let plot = frame(chart, series, form, ys, swatch).draw(form)?;
    let count: usize = series.iter().map(|s| s.points.len()).sum();
    let radius = if count > 400 { 2.5 } else { 4.0 };
    let mut positions = Vec::new();
    for (i, one) in series.iter().enumerate() {
        let of_series = visible_positions(&plot, &one.points);
        if one.dashed {
            plot.pen.line_series(&one.name, true, || draw_line(&plot, i, one))?;
            positions.extend(of_series);
            continue;
        }
        plot.pen.series(&one.name, || {
            draw_error_bars(&plot, i, one)?;
            let role = ColourRole::of(one.colour, i);
            let mut known = of_series.iter().flatten();
            known.try_for_each(|position| plot.pen.marker(i, role, *position, radius, 0.75))
        })?;
        positions.extend(of_series);
    }
    finish(plot, positions)
}

/// Stacked areas: each series from the sum of those before it to that sum plus its own value.
pub(super) fn stack(
    chart: &Chart,
    series: &[Series],
    form: PictureForm,
) -> Result<Picture, DrawError> {
    let edges = stack_edges(series);
    let ys = edges.iter().flatten().map(|(_, y)| *y).chain([0.0]).collect();
    let plot = frame(chart, series, form, ys, |_| Swatch::Block).draw(form)?;
    let mut positions = Vec::new();
    for (i, one) in series.iter().enumerate() {
        let upper = edges.get(i + 1).map(Vec::as_slice).unwrap_or_default();
        let lower = edges.get(i).map(Vec::as_slice).unwrap_or_default();
        plot.pen.series(&one.name, || {
            let edge_positions = |edge: &[(f64, f64)]| -> Vec<Position> {
                let known = edge.iter().filter(|(x, _)| plot.spans().0.can_show(*x));
                known.map(|(x, y)| plot.position(*x, *y)).collect()
            };
            let (top, mut corners) = (edge_positions(upper), edge_positions(lower));
            corners.reverse();
            corners.extend(top.iter().copied());
            if corners.len() < 4 {
                return Ok(());
            }
            plot.pen.area(corners, ColourRole::of(one.colour, i), 0.85)?;
            // A line in the background colour separates neighbouring areas without relying on
            // colour.
            plot.pen.line(&top, ColourRole::Background, 1.0, 1.5)
        })?;
        positions.extend(visible_positions(&plot, upper));
    }
    finish(plot, positions)
}

/// The edges of stacked areas: the lower edge of the first series, then the upper edge of each
/// series. A value that is not a number counts as 0.
fn stack_edges(series: &[Series]) -> Vec<Vec<(f64, f64)>> {
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

/// The picture, with a note if no value has a position.
fn finish(plot: PlotArea, positions: Vec<Option<Position>>) -> Result<Picture, DrawError> {
    if positions.iter().all(Option::is_none) {
        plot.write_no_values()?;
    }
    Ok(plot.finish(positions))
}

/// The axes and the legend around the series; `ys` are the values that the upward axis must cover.
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
    let legend = legend.map(|(i, s)| (s.name.clone(), swatch(s), ColourRole::of(s.colour, i)));
    Frame {
        x: AxisSpan::numbers(&chart.x, xs, form.ticks(), AxisEnds::AtValues),
        y: AxisSpan::numbers(&chart.y, ys, 6, AxisEnds::AtTicks),
        x_label: chart.x.label.clone(),
        y_label: chart.y.label.clone(),
        legend: if needs_legend { legend.collect() } else { Vec::new() },
        vertical_names: false,
        height: form.height(),
        x_grid: false,
        y_grid: true,
        above: 0.0,
    }
}

/// All values and the ends of their bands, without those whose x is outside its axis.
fn values_and_bands(chart: &Chart, series: &[Series]) -> Vec<f64> {
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

/// The position of a pair of values; none if x is outside its axis, or if an axis has no place for
/// its value.
fn visible_position(plot: &PlotArea, x: f64, y: f64) -> Option<Position> {
    let (across, up) = plot.spans();
    let (low, high) = across.ends();
    let is_inside = (low..=high).contains(&x);
    (is_inside && across.can_show(x) && up.can_show(y)).then(|| plot.position(x, y))
}

fn visible_positions(plot: &PlotArea, points: &[(f64, f64)]) -> Vec<Option<Position>> {
    points.iter().map(|(x, y)| visible_position(plot, *x, *y)).collect()
}

/// The runs of positions without a gap.
fn runs<T: Copy>(positions: &[Option<T>]) -> Vec<Vec<T>> {
    let parts = positions.split(Option::is_none).map(|run| run.iter().flatten().copied().collect());
    parts.filter(|run: &Vec<T>| !run.is_empty()).collect()
}

/// Draws the band, the line and the markers of the `i`-th series.
fn draw_line(plot: &PlotArea, i: usize, series: &Series) -> DrawResult {
    let role = ColourRole::of(series.colour, i);
    for run in runs(&band_positions(plot, series)) {
        let mut corners: Vec<Position> = run.iter().map(|(_, high)| *high).collect();
        corners.extend(run.iter().rev().map(|(low, _)| *low));
        if corners.len() > 3 {
            plot.pen.area(corners, role, 0.16)?;
        }
    }
    let positions = visible_positions(plot, &series.points);
    for run in runs(&positions) {
        match run.as_slice() {
            [single] => plot.pen.marker(i, role, *single, 3.0, 1.0)?,
            run => plot.pen.line(run, role, 1.0, 2.0)?,
        }
    }
    if series.dashed {
        return Ok(());
    }
    // The first marker of each series is at another point, so that the markers of lines with equal
    // values do not cover each other.
    let every = positions.len().div_ceil(MARKERS).max(1);
    let every = if positions.len() <= 2 * MARKERS { 1 } else { every };
    let first = if every == 1 { 0 } else { (i * every / 4) % every };
    let known = positions.iter().skip(first).step_by(every).flatten();
    known.into_iter().try_for_each(|position| plot.pen.marker(i, role, *position, 3.5, 1.0))
}

/// The lower and the upper end of the band at each point; none if an end has no position.
fn band_positions(plot: &PlotArea, series: &Series) -> Vec<Option<(Position, Position)>> {
    let pairs = series.points.iter().zip(&series.band);
    let ends = pairs.map(|((x, _), (low, high))| {
        Some((visible_position(plot, *x, *low)?, visible_position(plot, *x, *high)?))
    });
    ends.collect()
}

/// Draws a vertical line over the band of each point of the `i`-th series.
fn draw_error_bars(plot: &PlotArea, i: usize, series: &Series) -> DrawResult {
    let known = band_positions(plot, series);
    let role = ColourRole::of(series.colour, i);
    known
        .into_iter()
        .flatten()
        .try_for_each(|(low, high)| plot.pen.line(&[low, high], role, 0.6, 1.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_split_a_line_into_runs() {
        assert_eq!(runs(&[Some(1), None, Some(2), Some(3), None]), [vec![1], vec![2, 3]]);
        assert!(runs::<i32>(&[None, None]).is_empty());
    }

    #[test]
    fn a_stack_adds_up_its_series_and_gaps_count_as_0() {
        let series =
            |ys: [f64; 2]| Series { points: vec![(0.0, ys[0]), (1.0, ys[1])], ..Series::default() };
        let edges = stack_edges(&[series([1.0, 2.0]), series([3.0, f64::NAN])]);
        assert_eq!(edges[0], [(0.0, 0.0), (1.0, 0.0)]);
        assert_eq!(edges[2], [(0.0, 4.0), (1.0, 2.0)]);
    }
}
