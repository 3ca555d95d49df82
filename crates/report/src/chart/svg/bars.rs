//! Bars in categories, vertical or horizontal, side by side or stacked, with error bars.
//!
//! Bars begin at 0 (on a logarithmic axis at its lower end); bars below 0 are stacked downwards,
//! separately from those above.

use super::frame::{
    Frame, LINE, LegendEntry, PlotArea, RIGHT, Swatch, left_room, names_below, width_of,
};
use super::pen::{DrawError, DrawResult, Position};
use super::theme::ColourRole;
use super::{Picture, PictureForm};
use crate::chart::axis::{AxisEnds, AxisSpan};
use crate::chart::escape::shorten;
use crate::chart::{BarSeries, Bars, Chart, Grouping, Scale};

/// Share of a category's width that is filled.
const FILLED: f64 = 0.78;
/// Thickness of a horizontal bar.
const THICKNESS: f64 = 11.0;
/// Maximum number of letters of a name below the axis.
const NAME_LETTERS: usize = 24;

/// One bar: along the categories from `from` to `to`, in values from `base` to `end`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BarShape {
    from: f64,
    to: f64,
    base: f64,
    end: f64,
}

pub(super) fn draw(chart: &Chart, bars: &Bars, form: PictureForm) -> Result<Picture, DrawError> {
    let layout = layout(bars);
    let plot = frame(chart, bars, &layout, form).draw(form)?;
    // On a logarithmic axis bars begin at its lower end, because it has no 0.
    let log_base = match chart.y.scale {
        Scale::Linear => None,
        Scale::Log => Some(if bars.horizontal { plot.spans().0 } else { plot.spans().1 }.ends().0),
    };
    let mut positions = Vec::new();
    for (i, (series, shapes)) in bars.series.iter().zip(&layout).enumerate() {
        plot.pen.series(&series.name, || {
            for (c, bar) in shapes.iter().enumerate() {
                let Some(bar) = bar else { continue };
                let base = log_base.filter(|_| bar.base == 0.0).unwrap_or(bar.base);
                let from = position(&plot, bars, bar.from, base);
                let role = ColourRole::of_value(series.colour, i, bar.end - bar.base);
                plot.pen.rect(from, position(&plot, bars, bar.to, bar.end), role, 0.9)?;
                error_bar(&plot, bars, series.band.get(c), bar)?;
            }
            Ok(())
        })?;
        let middle = |bar: &BarShape| position(&plot, bars, (bar.from + bar.to) / 2.0, bar.end);
        positions.extend(shapes.iter().map(|bar| bar.as_ref().map(middle)));
    }
    zero_line(&plot, bars)?;
    if positions.iter().all(Option::is_none) {
        plot.write_no_values()?;
    }
    Ok(plot.finish(positions))
}

/// The position in the picture of `along` on the axis of categories and `value` on the axis of
/// values.
fn position(plot: &PlotArea, bars: &Bars, along: f64, value: f64) -> Position {
    if bars.horizontal { plot.position(value, along) } else { plot.position(along, value) }
}

/// The bars of each series, one for each category; none for a gap. Bars side by side have a lane
/// each; stacked bars share one lane and begin at the sum of those before them with the same sign.
fn layout(bars: &Bars) -> Vec<Vec<Option<BarShape>>> {
    let count = bars.categories.len();
    let mut sums = vec![(0.0, 0.0); count];
    let beside = bars.grouping == Grouping::Beside;
    let lanes = if beside { bars.series.len().max(1) } else { 1 };
    let thickness = FILLED / lanes as f64;
    let mut all = Vec::with_capacity(bars.series.len());
    for (i, series) in bars.series.iter().enumerate() {
        let lane = if beside { i } else { 0 };
        let mut shapes = Vec::with_capacity(count);
        for (c, (up, down)) in sums.iter_mut().enumerate() {
            let value = series.values.get(c).copied().filter(|v| v.is_finite());
            let from = c as f64 - FILLED / 2.0 + lane as f64 * thickness;
            shapes.push(value.map(|value| {
                let mut base = 0.0;
                if !beside {
                    let sum = if value < 0.0 { &mut *down } else { &mut *up };
                    base = *sum;
                    *sum += value;
                }
                BarShape { from, to: from + thickness, base, end: base + value }
            }));
        }
        all.push(shapes);
    }
    all
}

/// The axes and the legend around the bars.
fn frame(chart: &Chart, bars: &Bars, layout: &[Vec<Option<BarShape>>], form: PictureForm) -> Frame {
    let values = layout.iter().flatten().flatten().map(|bar| bar.end);
    let bands = bars.series.iter().flat_map(|s: &BarSeries| s.band.iter().flat_map(|b| [b.0, b.1]));
    let ticks = if bars.horizontal { form.ticks() } else { 6 };
    let values = values.chain(bands).chain([0.0]);
    let values = AxisSpan::numbers(&chart.y, values, ticks, AxisEnds::AtTicks);
    let legend: Vec<_> = match bars.series.len() {
        0 | 1 => Vec::new(),
        _ => {
            let entry = |(i, s): (usize, &BarSeries)| {
                (s.name.clone(), Swatch::Block, ColourRole::of(s.colour, i))
            };
            bars.series.iter().enumerate().map(entry).collect()
        }
    };
    if bars.horizontal {
        return horizontal_frame(chart, bars, values, legend, form);
    }
    let room = form.width() - left_room(&values.ticks) - RIGHT;
    let names: Vec<_> = bars.categories.iter().map(|name| shorten(name, NAME_LETTERS)).collect();
    let (every, vertical_names) = names_below(&names, room / names.len().max(1) as f64);
    Frame {
        x: AxisSpan::names_across(&names, every),
        y: values,
        x_label: chart.x.label.clone(),
        y_label: chart.y.label.clone(),
        legend,
        vertical_names,
        height: form.height(),
        x_grid: false,
        y_grid: true,
        above: 0.0,
    }
}

/// Horizontal bars: categories go down, each as high as its bars need.
fn horizontal_frame(
    chart: &Chart,
    bars: &Bars,
    values: AxisSpan,
    legend: Vec<LegendEntry>,
    form: PictureForm,
) -> Frame {
    // Names take about a third of the width.
    let max_letters = (form.width() * 0.36 / width_of("n")) as usize;
    let names: Vec<_> = bars.categories.iter().map(|name| shorten(name, max_letters)).collect();
    let lanes = if bars.grouping == Grouping::Beside { bars.series.len().max(1) } else { 1 };
    let category_height = (THICKNESS * lanes as f64 / FILLED).max(LINE + 2.0);
    Frame {
        x: values,
        y: AxisSpan::names_down(&names),
        x_label: chart.y.label.clone(),
        y_label: chart.x.label.clone(),
        legend,
        vertical_names: false,
        height: category_height * names.len().max(2) as f64,
        x_grid: true,
        y_grid: false,
        above: 0.0,
    }
}

/// Draws a line over the interval of a bar, with a short line across each end.
fn error_bar(
    plot: &PlotArea,
    bars: &Bars,
    band: Option<&(f64, f64)>,
    bar: &BarShape,
) -> DrawResult {
    let Some((low, high)) = band.filter(|(a, b)| a.is_finite() && b.is_finite()) else {
        return Ok(());
    };
    let middle = (bar.from + bar.to) / 2.0;
    let cap = (bar.to - bar.from) / 5.0;
    let ends = [*low, *high];
    plot.pen.line(&ends.map(|v| position(plot, bars, middle, v)), ColourRole::Ink, 0.85, 1.2)?;
    ends.into_iter().try_for_each(|v| {
        let across = [middle - cap, middle + cap].map(|along| position(plot, bars, along, v));
        plot.pen.line(&across, ColourRole::Ink, 0.85, 1.2)
    })
}

/// Draws the base line at 0 if the axis of values goes below it.
fn zero_line(plot: &PlotArea, bars: &Bars) -> DrawResult {
    let (values, along) = match bars.horizontal {
        true => (plot.spans().0, plot.spans().1),
        false => (plot.spans().1, plot.spans().0),
    };
    if values.ends().0 >= 0.0 {
        return Ok(());
    }
    let (first, last) = along.ends();
    let line = [first, last].map(|along| position(plot, bars, along, 0.0));
    plot.pen.line(&line, ColourRole::Soft, 1.0, 1.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(grouping: Grouping) -> Bars {
        let series =
            |values: [f64; 2]| BarSeries { values: values.to_vec(), ..BarSeries::default() };
        Bars {
            categories: vec!["a".into(), "b".into()],
            series: vec![series([1.0, -2.0]), series([3.0, -4.0]), series([f64::NAN, 5.0])],
            grouping,
            horizontal: false,
        }
    }

    #[test]
    fn stacked_bars_go_up_and_down_from_zero() {
        let found = layout(&bars(Grouping::Stacked));
        assert_eq!(found[1][0].map(|b| (b.base, b.end)), Some((1.0, 4.0)));
        assert_eq!(found[1][1].map(|b| (b.base, b.end)), Some((-2.0, -6.0)));
        assert_eq!(found[2][0], None);
        assert_eq!(found[2][1].map(|b| (b.base, b.end)), Some((0.0, 5.0)));
    }

    #[test]
    fn bars_side_by_side_do_not_overlap() {
        let found = layout(&bars(Grouping::Beside));
        let (first, second) = (found[0][0].unwrap(), found[1][0].unwrap());
        assert!((first.to - second.from).abs() < 1e-12);
        assert!(first.from >= -0.5 && found[2][1].unwrap().to <= 1.5);
    }
}
