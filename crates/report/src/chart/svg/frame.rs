//! The frame around the marks: axes with ticks, grid, axis labels and legend.
//!
//! The plotting library draws grid, axes and ticks and maps values to positions; this file reserves
//! room for them. The label of the upward axis is written horizontally above it, which is easier to
//! read. Names below the axis are horizontal where they fit, else vertical; where even that does
//! not fit, some are left out.

use plotters::chart::ChartBuilder;
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::style::{FontStyle, FontTransform};

use super::canvas::{CANVAS_SCALE, FONT};
use super::pen::{DrawError, DrawResult, Pen, Position, TextAnchor, line_style, text_style};
use super::theme::ColourRole;
use super::{LETTER, Picture, PictureForm};
use crate::chart::axis::AxisSpan;
use crate::chart::escape::shorten;

/// Height of a line of text.
pub(super) const LINE: f64 = 20.0;
/// Room right of the chart, for half of the last tick's label.
pub(super) const RIGHT: f64 = 18.0;
/// Length of a tick, and its distance from its label.
const TICK: f64 = 4.0;

/// The sample of a series in the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swatch {
    /// A line with the marker of the series.
    Line,
    /// A dashed line.
    Dashed,
    /// The marker alone.
    Marker,
    /// A block of colour.
    Block,
}

/// A series in the legend: its name, sample and colour.
pub(super) type LegendEntry = (String, Swatch, ColourRole);

/// The frame around the marks, before it is drawn.
pub(super) struct Frame {
    pub(super) x: AxisSpan,
    pub(super) y: AxisSpan,
    pub(super) x_label: String,
    pub(super) y_label: String,
    pub(super) legend: Vec<LegendEntry>,
    /// Whether names below the axis are vertical.
    pub(super) vertical_names: bool,
    /// Height of the plot area without the frame.
    pub(super) height: f64,
    /// Whether there are grid lines at the ticks of x.
    pub(super) x_grid: bool,
    /// Whether there are grid lines at the ticks of y.
    pub(super) y_grid: bool,
    /// Room above everything else, for a colour key.
    pub(super) above: f64,
}

/// The plot area of a chart: its frame is drawn, and marks can be added.
pub(super) struct PlotArea {
    pub(super) pen: Pen,
    coord: Cartesian2d<AxisSpan, AxisSpan>,
    width: f64,
    height: f64,
}

impl Ranged for AxisSpan {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let length = f64::from(limit.1) - f64::from(limit.0);
        (f64::from(limit.0) + length * self.fraction(*value)).round() as i32
    }

    // The values that get a tick: only bold ones, no light ones between them.
    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.iter().map(|(value, _)| *value).collect(),
        }
    }

    fn range(&self) -> std::ops::Range<f64> {
        let (low, high) = self.ends();
        low..high
    }
}

impl ValueFormatter<f64> for AxisSpan {
    fn format_ext(&self, value: &f64) -> String {
        let found = self.ticks.iter().find(|(tick, _)| tick == value);
        found.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

/// Approximate width of a text, from the usual widths of letters in sans-serif fonts: the reader's
/// font is not known here.
pub(super) fn width_of(text: &str) -> f64 {
    let letter = |c: char| match c {
        'i' | 'l' | 'j' | 't' | 'f' | '.' | ',' | ' ' | '|' | '\'' | ':' => 0.36,
        '@' | 'm' | 'w' | 'M' | 'W' | '%' => 0.95,
        c if c.is_uppercase() => 0.72,
        c if c.is_ascii() => 0.62,
        // Chinese, Japanese, Korean and emoji are as wide as they are high.
        c if c >= '\u{1100}' => 1.05,
        _ => 0.7,
    };
    text.chars().map(letter).sum::<f64>() * FONT
}

/// Room for the tick labels of the upward axis.
pub(super) fn left_room(ticks: &[(f64, String)]) -> f64 {
    let widest = ticks.iter().map(|(_, label)| width_of(label)).fold(0.0, f64::max);
    (widest + 2.0 * TICK + 6.0).max(24.0)
}

impl Frame {
    /// Draws the frame.
    pub(super) fn draw(self, form: PictureForm) -> Result<PlotArea, DrawError> {
        let width = form.width();
        let rows = legend_rows(&self.legend, form);
        let label_above = if self.y_label.is_empty() { 0.0 } else { LINE + 6.0 };
        let top = 8.0 + self.above + rows.len() as f64 * LINE + label_above;
        let left = left_room(&self.y.ticks);
        let widest = self.x.ticks.iter().map(|(_, label)| width_of(label)).fold(0.0, f64::max);
        let tick_room = if self.vertical_names { widest + 3.0 * TICK } else { LINE + TICK };
        let label_room = if self.x_label.is_empty() { 6.0 } else { LINE + 4.0 };
        let height = top + self.height + tick_room + label_room;

        let pen = Pen::new(width, height);
        draw_legend(&pen, &rows)?;
        if !self.y_label.is_empty() {
            let max_letters = ((width - 8.0) / (FONT * LETTER)) as usize;
            let label = shorten(&self.y_label, max_letters);
            let position = (2.0, top - LINE / 2.0 - 8.0);
            pen.text(&label, position, TextAnchor::Left, ColourRole::Soft)?;
        }
        let middle = left + (width - left - RIGHT) / 2.0;
        let max_letters = ((width - left) / (FONT * LETTER)) as usize;
        let label = shorten(&self.x_label, max_letters);
        let position = (middle, height - LINE / 2.0 - 1.0);
        pen.text(&label, position, TextAnchor::Middle, ColourRole::Soft)?;
        let coord = self.mesh(&pen, top, left, tick_room, label_room)?;
        Ok(PlotArea { pen, coord, width, height })
    }

    /// Draws grid, axes and ticks into the area that the four margins leave; below the chart there
    /// is room for the tick labels and for the axis label.
    fn mesh(
        self,
        pen: &Pen,
        top: f64,
        left: f64,
        tick_room: f64,
        label_room: f64,
    ) -> Result<Cartesian2d<AxisSpan, AxisSpan>, DrawError> {
        let px = |v: f64| (v * CANVAS_SCALE) as i32;
        let mut context = ChartBuilder::on(&pen.area)
            .margin_top(px(top))
            .margin_right(px(RIGHT))
            .margin_bottom(px(label_room))
            .x_label_area_size(px(tick_room))
            .y_label_area_size(px(left))
            .build_cartesian_2d(self.x, self.y)?;
        let text = text_style(ColourRole::Soft, FONT, FontStyle::Normal);
        let rotation =
            if self.vertical_names { FontTransform::Rotate270 } else { FontTransform::None };
        let mut mesh = context.configure_mesh();
        mesh.axis_style(line_style(ColourRole::Soft, 0.6, 1.0))
            .bold_line_style(line_style(ColourRole::Grid, 1.0, 1.0))
            .light_line_style(line_style(ColourRole::Grid, 0.0, 1.0))
            .x_label_style(text.clone().transform(rotation))
            .y_label_style(text)
            .set_all_tick_mark_size(px(TICK));
        if !self.x_grid {
            mesh.disable_x_mesh();
        }
        if !self.y_grid {
            mesh.disable_y_mesh();
        }
        mesh.draw()?;
        Ok(context.plotting_area().as_coord_spec().clone())
    }
}

impl PlotArea {
    /// The position of a pair of values in the picture.
    pub(super) fn position(&self, x: f64, y: f64) -> Position {
        let (x, y) = self.coord.translate(&(x, y));
        (f64::from(x) / CANVAS_SCALE, f64::from(y) / CANVAS_SCALE)
    }

    /// The axes x and y.
    pub(super) fn spans(&self) -> (&AxisSpan, &AxisSpan) {
        (self.coord.x_spec(), self.coord.y_spec())
    }

    /// Writes in the middle of the chart that there are no values.
    pub(super) fn write_no_values(&self) -> DrawResult {
        let centre = (self.width / 2.0, self.height / 2.0);
        self.pen.text("no values", centre, TextAnchor::Middle, ColourRole::Soft)
    }

    /// The picture, with the positions of its values in the order of [`Picture::positions`].
    pub(super) fn finish(self, positions: Vec<Option<Position>>) -> Picture {
        let body = self.pen.svg.take();
        Picture { width: self.width, height: self.height, body, positions }
    }
}

/// The layout of names below an axis with `slot` of width for each name: the number n of which
/// every n-th name is written, and whether the names are vertical.
pub(super) fn names_below(names: &[String], slot: f64) -> (usize, bool) {
    let longest = names.iter().map(|name| width_of(name)).fold(0.0, f64::max);
    if longest + 6.0 <= slot {
        return (1, false);
    }
    // Names of up to five digits, such as numbers of bins, stay horizontal.
    if longest <= width_of("00000") {
        return (((longest + 10.0) / slot).ceil() as usize, false);
    }
    (((FONT + 3.0) / slot).ceil().max(1.0) as usize, true)
}

/// A legend entry with its place: index of the series, x, shortened name, sample, colour.
type PlacedEntry<'a> = (usize, f64, String, &'a Swatch, ColourRole);

/// The entries of the legend in as many rows as they need.
fn legend_rows(legend: &[LegendEntry], form: PictureForm) -> Vec<Vec<PlacedEntry<'_>>> {
    let mut rows: Vec<Vec<PlacedEntry<'_>>> = Vec::new();
    // Infinite, so that the first entry begins a row.
    let mut x = f64::INFINITY;
    for (i, (name, swatch, role)) in legend.iter().enumerate() {
        let name = shorten(name, form.letters());
        // The sample before the name and a gap behind it.
        let width = 28.0 + width_of(&name) + 16.0;
        if x + width > form.width() {
            rows.push(Vec::new());
            x = 2.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((i, x, name, swatch, *role));
        }
        x += width;
    }
    rows
}

fn draw_legend(pen: &Pen, rows: &[Vec<PlacedEntry<'_>>]) -> DrawResult {
    for (row, entries) in rows.iter().enumerate() {
        let y = 10.0 + row as f64 * LINE;
        for (series, x, name, swatch, role) in entries {
            let middle = (x + 11.0, y);
            match swatch {
                Swatch::Block => {
                    pen.rect((x + 4.0, y - 6.0), (x + 18.0, y + 6.0), *role, 1.0)?;
                }
                Swatch::Marker => pen.marker(*series, *role, middle, 4.5, 1.0)?,
                Swatch::Line | Swatch::Dashed => {
                    let (from, to) = ((*x, y), (x + 22.0, y));
                    if **swatch == Swatch::Dashed {
                        pen.line(&[from, (x + 7.0, y)], *role, 1.0, 2.0)?;
                        pen.line(&[(x + 13.0, y), to], *role, 1.0, 2.0)?;
                    } else {
                        pen.line(&[from, to], *role, 1.0, 2.0)?;
                        pen.marker(*series, *role, middle, 4.0, 1.0)?;
                    }
                }
            }
            pen.text(name, (x + 28.0, y), TextAnchor::Left, ColourRole::Ink)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_horizontal_where_they_fit_and_vertical_where_not() {
        let names = |text: &str| vec![text.to_owned(); 3];
        assert_eq!(names_below(&names("12"), 40.0), (1, false));
        assert_eq!(names_below(&names("a long feature name"), 40.0), (1, true));
        assert_eq!(names_below(&names("a long feature name"), 8.0), (2, true));
        let (every, vertical) = names_below(&names("100"), 5.0);
        assert!(every > 4 && !vertical);
    }

    #[test]
    fn the_legend_breaks_into_rows_that_fit() {
        let legend =
            vec![("a series of some length".to_owned(), Swatch::Line, ColourRole::Series(0)); 6];
        for form in [PictureForm::Wide, PictureForm::Narrow] {
            let rows = legend_rows(&legend, form);
            assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), 6);
            assert!(rows.iter().all(|row| !row.is_empty()));
        }
        assert!(
            legend_rows(&legend, PictureForm::Narrow).len()
                > legend_rows(&legend, PictureForm::Wide).len()
        );
    }
}
