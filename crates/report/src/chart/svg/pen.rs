//! Draws lines, areas, markers and text on the canvas, in units of the picture.

use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, ShapeStyle, TextStyle};

use super::canvas::{CANVAS_SCALE, Canvas, FONT, SvgBuffer};
use super::theme::ColourRole;
use crate::chart::escape::escape;

/// An error of the plotting library.
pub(super) type DrawError = DrawingAreaErrorKind<std::fmt::Error>;
/// Result of drawing.
pub(super) type DrawResult = Result<(), DrawError>;
/// A position in units of the picture, from the upper left corner.
pub(crate) type Position = (f64, f64);

/// Horizontal alignment of text at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAnchor {
    Left,
    Middle,
    Right,
}

/// A canvas and the operations that draw on it.
pub(super) struct Pen {
    pub(super) svg: SvgBuffer,
    pub(super) area: DrawingArea<Canvas, Shift>,
}

fn to_canvas((x, y): Position) -> (i32, i32) {
    ((x * CANVAS_SCALE).round() as i32, (y * CANVAS_SCALE).round() as i32)
}

/// The style of a line of this colour and width.
pub(super) fn line_style(role: ColourRole, opacity: f64, width: f64) -> ShapeStyle {
    role.placeholder(opacity).stroke_width((width * CANVAS_SCALE).round() as u32)
}

/// The style of text of this colour and size.
pub(super) fn text_style(role: ColourRole, size: f64, style: FontStyle) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, size * CANVAS_SCALE, style);
    let color = role.placeholder(1.0).to_backend_color();
    TextStyle { color, ..TextStyle::from(font) }
}

impl Pen {
    /// An empty canvas.
    pub(super) fn new(width: f64, height: f64) -> Pen {
        let svg = SvgBuffer::default();
        let area = Canvas::new(svg.clone(), width, height).into_drawing_area();
        Pen { svg, area }
    }

    /// Draws the marks of one series into a group that has its name.
    pub(super) fn series(&self, name: &str, draw: impl FnOnce() -> DrawResult) -> DrawResult {
        self.line_series(name, false, draw)
    }

    /// As [`Self::series`], with dashed or solid lines.
    pub(super) fn line_series(
        &self,
        name: &str,
        dashed: bool,
        draw: impl FnOnce() -> DrawResult,
    ) -> DrawResult {
        let dash = if dashed { " stroke-dasharray=\"7 5\"" } else { "" };
        self.svg.raw(&format!("<g data-series=\"{}\"{dash}>\n", escape(name)));
        let drawn = draw();
        self.svg.raw("</g>\n");
        drawn
    }

    /// Draws a line through positions; opacity from 0 to 1, width in units of the picture.
    pub(super) fn line(
        &self,
        positions: &[Position],
        role: ColourRole,
        opacity: f64,
        width: f64,
    ) -> DrawResult {
        let positions: Vec<_> = positions.iter().copied().map(to_canvas).collect();
        self.area.draw(&PathElement::new(positions, line_style(role, opacity, width)))
    }

    /// Draws an area with these corners.
    pub(super) fn area(
        &self,
        corners: Vec<Position>,
        role: ColourRole,
        opacity: f64,
    ) -> DrawResult {
        let corners: Vec<_> = corners.into_iter().map(to_canvas).collect();
        self.area.draw(&Polygon::new(corners, role.placeholder(opacity).filled()))
    }

    /// Draws a filled rectangle.
    pub(super) fn rect(
        &self,
        from: Position,
        to: Position,
        role: ColourRole,
        opacity: f64,
    ) -> DrawResult {
        self.area.draw(&Rectangle::new(
            [to_canvas(from), to_canvas(to)],
            role.placeholder(opacity).filled(),
        ))
    }

    /// Draws the outline of a rectangle.
    pub(super) fn outline(
        &self,
        from: Position,
        to: Position,
        role: ColourRole,
        width: f64,
    ) -> DrawResult {
        self.area
            .draw(&Rectangle::new([to_canvas(from), to_canvas(to)], line_style(role, 1.0, width)))
    }

    /// Draws text; `position` is in the vertical middle of the text.
    pub(super) fn text(
        &self,
        text: &str,
        position: Position,
        anchor: TextAnchor,
        role: ColourRole,
    ) -> DrawResult {
        self.write(text, position, anchor, text_style(role, FONT, FontStyle::Normal))
    }

    /// Draws bold text; `position` is in the vertical middle of the text.
    pub(super) fn bold(
        &self,
        text: &str,
        position: Position,
        anchor: TextAnchor,
        role: ColourRole,
    ) -> DrawResult {
        self.write(text, position, anchor, text_style(role, FONT, FontStyle::Bold))
    }

    fn write(
        &self,
        text: &str,
        position: Position,
        anchor: TextAnchor,
        style: TextStyle<'static>,
    ) -> DrawResult {
        let anchor = match anchor {
            TextAnchor::Left => HPos::Left,
            TextAnchor::Middle => HPos::Center,
            TextAnchor::Right => HPos::Right,
        };
        self.area.draw_text(text, &style.pos(Pos::new(anchor, VPos::Center)), to_canvas(position))
    }

    /// Draws the marker of the series with this index: eight shapes, so that series can be told
    /// apart without colour.
    pub(super) fn marker(
        &self,
        series: usize,
        role: ColourRole,
        position: Position,
        radius: f64,
        opacity: f64,
    ) -> DrawResult {
        // A circle, or the corners of another shape in units of the radius.
        let shape: &[Position] = match series % 8 {
            0 => {
                let style = role.placeholder(opacity).filled();
                return self.area.draw(&Circle::new(
                    to_canvas(position),
                    (radius * CANVAS_SCALE) as u32,
                    style,
                ));
            }
            1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
            3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
            4 => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
            5 => &PLUS,
            6 => &[(-1.1, -0.55), (1.1, -0.55), (1.1, 0.55), (-1.1, 0.55)],
            _ => &[(-0.55, -1.1), (0.55, -1.1), (0.55, 1.1), (-0.55, 1.1)],
        };
        let corners = shape.iter().map(|(x, y)| (position.0 + x * radius, position.1 + y * radius));
        self.area(corners.collect(), role, opacity)
    }
}

/// The corners of a plus sign.
const PLUS: [Position; 12] = [
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];
