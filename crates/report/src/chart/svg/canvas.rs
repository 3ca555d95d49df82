//! The drawing backend of the plotting library that writes SVG.
//!
//! The library works in whole pixels, so the surface is ten times as large as the picture and
//! coordinates are written as tenths. Each role of a colour has a placeholder colour, whose blue
//! component is the index of a CSS class (see `theme`). Elements can be put into groups, one for
//! each series.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontStyle, FontTransform,
};

use super::theme::class_of;
use crate::chart::escape::escape;

/// Units of the surface in one unit of the picture.
pub(super) const CANVAS_SCALE: f64 = 10.0;

/// Default size of text, in units of the picture.
pub(crate) const FONT: f64 = 13.0;

/// SVG written so far; shared between the surface and the code that opens groups.
#[derive(Debug, Clone, Default)]
pub(super) struct SvgBuffer(Rc<RefCell<String>>);

impl SvgBuffer {
    /// Writes markup unchanged.
    pub(super) fn raw(&self, markup: &str) {
        self.0.borrow_mut().push_str(markup);
    }

    /// Takes the markup written so far.
    pub(super) fn take(&self) -> String {
        self.0.take()
    }
}

/// The surface that the plotting library draws on.
pub(super) struct Canvas {
    svg: SvgBuffer,
    size: (u32, u32),
}

type DrawResult = Result<(), DrawingErrorKind<std::fmt::Error>>;

impl Canvas {
    /// A surface for a picture of this width and height.
    pub(super) fn new(svg: SvgBuffer, width: f64, height: f64) -> Canvas {
        Canvas { svg, size: ((width * CANVAS_SCALE) as u32, (height * CANVAS_SCALE) as u32) }
    }

    /// Writes an element of this kind with its colour; nothing if it is fully transparent.
    fn element(&self, colour: BackendColor, kind: &str, attributes: &str) -> DrawResult {
        if colour.alpha > 0.0 {
            let opacity = opacity(colour);
            let class = class_of(colour.rgb.2 as usize);
            self.svg.raw(&format!("<{kind} class=\"{class}\"{opacity}{attributes}/>\n"));
        }
        Ok(())
    }

    /// Writes an element that is either filled or drawn as an outline.
    fn shape<S: BackendStyle>(
        &self,
        style: &S,
        fill: bool,
        kind: &str,
        position: &str,
    ) -> DrawResult {
        let paint = match fill {
            true => " fill=\"currentColor\"".to_owned(),
            false => stroke(style.stroke_width()),
        };
        self.element(style.color(), kind, &format!("{paint}{position}"))
    }

    /// Writes a line through points, or the area between them.
    fn path<S: BackendStyle>(
        &self,
        style: &S,
        fill: bool,
        points: impl IntoIterator<Item = BackendCoord>,
    ) -> DrawResult {
        let mut d = String::from("M");
        for (i, (x, y)) in points.into_iter().enumerate() {
            let separator = if i == 0 { "" } else { " " };
            write!(d, "{separator}{} {}", tenth(x), tenth(y))
                .map_err(DrawingErrorKind::DrawingError)?;
        }
        let end = if fill { "z" } else { "" };
        self.shape(style, fill, "path", &format!(" d=\"{d}{end}\""))
    }
}

/// A number of tenths as a decimal number, without a trailing `.0`.
fn tenth(v: i32) -> String {
    match v % 10 {
        0 => (v / 10).to_string(),
        _ => format!("{:.1}", f64::from(v) / CANVAS_SCALE),
    }
}

fn stroke(width: u32) -> String {
    format!(" fill=\"none\" stroke=\"currentColor\" stroke-width=\"{}\"", tenth(width as i32))
}

fn opacity(colour: BackendColor) -> String {
    match colour.alpha < 1.0 {
        true => format!(" opacity=\"{}\"", (colour.alpha * 100.0).round() / 100.0),
        false => String::new(),
    }
}

impl DrawingBackend for Canvas {
    type ErrorType = std::fmt::Error;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> DrawResult {
        let position = format!(" x=\"{}\" y=\"{}\" width=\".1\" height=\".1\"", tenth(x), tenth(y));
        self.element(colour, "rect", &format!(" fill=\"currentColor\"{position}"))
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.path(style, false, [from, to])
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let (x, y) = (tenth(from.0.min(to.0)), tenth(from.1.min(to.1)));
        let (w, h) = (tenth((to.0 - from.0).abs()), tenth((to.1 - from.1).abs()));
        let position = format!(" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        self.shape(style, fill, "rect", &position)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        self.path(style, false, path)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> DrawResult {
        self.path(style, true, corners)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let radius = tenth(radius as i32);
        let position = format!(" cx=\"{}\" cy=\"{}\" r=\"{radius}\"", tenth(x), tenth(y));
        self.shape(style, fill, "circle", &position)
    }

    /// Rotated text reads upwards and ends at its position; it is used only for long names below an
    /// axis.
    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> DrawResult {
        let rotated = !matches!(style.transform(), FontTransform::None);
        let (x, y) = (tenth(x), tenth(y));
        let anchor = match (rotated, style.anchor().h_pos) {
            (true, _) | (_, HPos::Right) => " text-anchor=\"end\"",
            (_, HPos::Center) => " text-anchor=\"middle\"",
            (_, HPos::Left) => "",
        };
        // The position is at the baseline in SVG; these shares of the text size move it to the
        // middle, the top or the bottom of the text.
        let dy = match (rotated, style.anchor().v_pos) {
            (true, _) | (_, VPos::Center) => " dy=\".35em\"",
            (_, VPos::Top) => " dy=\".78em\"",
            (_, VPos::Bottom) => " dy=\"-.22em\"",
        };
        let size = style.size() / CANVAS_SCALE;
        let size = match (size - FONT).abs() < 0.01 {
            true => String::new(),
            false => format!(" font-size=\"{size}\""),
        };
        let bold = matches!(style.style(), FontStyle::Bold);
        let weight = if bold { " font-weight=\"600\"" } else { "" };
        let rotation =
            if rotated { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        self.svg.raw(&format!(
            "<text class=\"{}\"{} x=\"{x}\" y=\"{y}\"{anchor}{dy}{size}{weight}{rotation} \
             fill=\"currentColor\">{}</text>\n",
            class_of(style.color().rgb.2 as usize),
            opacity(style.color()),
            escape(text)
        ));
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<std::fmt::Error>> {
        let width = text.chars().count() as f64 * style.size() * super::LETTER;
        Ok((width as u32, style.size() as u32))
    }
}
