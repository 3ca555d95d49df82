//! A grid of values as colours.
//!
//! Without values of both signs, the strength of a colour goes from the smallest to the largest
//! value. With values on both sides of 0, each sign has its own colour and the strength is the
//! distance from 0. Where cells are large enough the number is written in them.

use super::frame::{Frame, LINE, PlotArea, RIGHT, left_room, names_below, width_of};
use super::pen::{DrawError, DrawResult, TextAnchor};
use super::theme::ColourRole;
use super::{Picture, PictureForm};
use crate::chart::axis::AxisSpan;
use crate::chart::escape::shorten;
use crate::chart::number::{brief, short};
use crate::chart::{Chart, HeatMap};

/// Maximum number of letters of a name below the axis.
const NAME_LETTERS: usize = 24;

/// The mapping from values to colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shades {
    low: f64,
    high: f64,
}

impl Shades {
    /// The mapping for the values of a grid; none if there is no number.
    pub(crate) fn of(heat: &HeatMap) -> Option<Shades> {
        let mut values = heat.cells.iter().flatten().copied().filter(|v| v.is_finite());
        let first = values.next()?;
        let ends = values.fold((first, first), |(low, high), v| (low.min(v), high.max(v)));
        Some(Shades { low: ends.0, high: ends.1 })
    }

    /// Whether there are values on both sides of 0.
    pub(crate) fn has_both_signs(self) -> bool {
        self.low < 0.0 && self.high > 0.0
    }

    /// The smallest and the largest value.
    pub(crate) fn ends(self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether the value has the colour for values below 0, and the strength of the colour from 0
    /// to 1.
    pub(crate) fn strength(self, value: f64) -> (bool, f64) {
        if self.has_both_signs() {
            return (value < 0.0, value.abs() / self.high.max(-self.low));
        }
        let width = self.high - self.low;
        (false, if width > 0.0 { (value - self.low) / width } else { 1.0 })
    }
}

pub(super) fn draw(chart: &Chart, heat: &HeatMap, form: PictureForm) -> Result<Picture, DrawError> {
    let columns = heat.columns.len().max(1) as f64;
    let rows: Vec<_> = heat.rows.iter().map(|name| shorten(name, form.letters() / 2)).collect();
    let y = AxisSpan::names_down(&rows);
    let column_width = (form.width() - left_room(&y.ticks) - RIGHT) / columns;
    let names: Vec<_> = heat.columns.iter().map(|name| shorten(name, NAME_LETTERS)).collect();
    let (every, vertical_names) = names_below(&names, column_width);
    let plot = Frame {
        x: AxisSpan::names_across(&names, every),
        y,
        x_label: chart.x.label.clone(),
        y_label: chart.y.label.clone(),
        legend: Vec::new(),
        vertical_names,
        height: (LINE + 4.0) * rows.len().max(2) as f64,
        x_grid: false,
        y_grid: false,
        above: LINE,
    }
    .draw(form)?;
    let shades = Shades::of(heat);
    let mut positions = Vec::new();
    plot.pen.series(&heat.value, || {
        for (r, c) in grid(heat) {
            let value = cell(heat, r, c);
            positions.push(value.map(|_| plot.position(c as f64, r as f64)));
            if let (Some(value), Some(shades)) = (value, shades) {
                draw_cell(&plot, (r as f64, c as f64), value, shades, column_width)?;
            }
        }
        Ok(())
    })?;
    match shades {
        Some(shades) => draw_colour_key(&plot, heat, shades)?,
        None => plot.write_no_values()?,
    }
    Ok(plot.finish(positions))
}

/// Rows and columns of all cells, row by row.
pub(crate) fn grid(heat: &HeatMap) -> impl Iterator<Item = (usize, usize)> {
    let columns = heat.columns.len();
    (0..heat.rows.len()).flat_map(move |r| (0..columns).map(move |c| (r, c)))
}

/// A cell's value, if it is a number.
pub(crate) fn cell(heat: &HeatMap, r: usize, c: usize) -> Option<f64> {
    heat.cells.get(r).and_then(|row| row.get(c)).copied().filter(|v| v.is_finite())
}

/// Draws the cell in row `r` and column `c`, with its number if there is room for it.
fn draw_cell(
    plot: &PlotArea,
    (r, c): (f64, f64),
    value: f64,
    shades: Shades,
    column_width: f64,
) -> DrawResult {
    let (below, strength) = shades.strength(value);
    let role = if below { ColourRole::Down } else { ColourRole::Up };
    let (from, to) = (plot.position(c - 0.5, r - 0.5), plot.position(c + 0.5, r + 0.5));
    // A thin gap between cells, unless the cells are tiny.
    let inset = if column_width > 6.0 { 0.5 } else { 0.0 };
    let (from, to) = ((from.0 + inset, from.1 + inset), (to.0 - inset, to.1 - inset));
    plot.pen.rect(from, to, role, opacity(strength))?;
    let text = format!("{value:.2}");
    let text = if value.fract() == 0.0 { short(value) } else { text };
    if width_of(&text) + 4.0 <= column_width && to.1 - from.1 >= 14.0 {
        // Light text on a strong colour.
        let ink = if strength > 0.55 { ColourRole::Background } else { ColourRole::Ink };
        plot.pen.text(&text, plot.position(c, r), TextAnchor::Middle, ink)?;
    }
    Ok(())
}

/// The opacity of a colour; the weakest values stay visible.
fn opacity(strength: f64) -> f64 {
    0.06 + 0.94 * strength
}

/// Draws the colour key above the grid: the name of the quantity, and the colours from the smallest
/// to the largest value.
fn draw_colour_key(plot: &PlotArea, heat: &HeatMap, shades: Shades) -> DrawResult {
    const STEPS: usize = 9;
    let (low, high) = shades.ends();
    let name = shorten(&heat.value, 28);
    let y = 10.0;
    plot.pen.text(&name, (2.0, y), TextAnchor::Left, ColourRole::Ink)?;
    let mut x = 2.0 + width_of(&name) + 12.0;
    plot.pen.text(&brief(low), (x, y), TextAnchor::Left, ColourRole::Soft)?;
    x += width_of(&brief(low)) + 6.0;
    for i in 0..STEPS {
        let value = low + (high - low) * i as f64 / (STEPS - 1) as f64;
        let (below, strength) = shades.strength(value);
        let role = if below { ColourRole::Down } else { ColourRole::Up };
        plot.pen.rect((x, y - 6.0), (x + 10.0, y + 6.0), role, opacity(strength))?;
        x += 10.0;
    }
    plot.pen.text(&brief(high), (x + 6.0, y), TextAnchor::Left, ColourRole::Soft)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat(cells: Vec<Vec<f64>>) -> HeatMap {
        HeatMap { columns: vec![], rows: vec![], value: String::new(), cells }
    }

    #[test]
    fn each_sign_has_its_colour_only_with_values_on_both_sides_of_0() {
        let both = Shades::of(&heat(vec![vec![-1.0, f64::NAN, 4.0]])).unwrap();
        assert_eq!(both.strength(-1.0), (true, 0.25));
        assert_eq!(both.strength(4.0), (false, 1.0));
        let above = Shades::of(&heat(vec![vec![2.0, 4.0]])).unwrap();
        assert_eq!(above.strength(3.0), (false, 0.5));
        assert_eq!(Shades::of(&heat(vec![vec![f64::NAN]])), None);
    }
}
