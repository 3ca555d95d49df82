//! Charts for a terminal: dots for lines, blocks for bars, shades for grids. No colours, so a chart
//! can also be written to a file or an e-mail.
//!
//! Columns are counted in characters, which is right except for characters that are two columns
//! wide (Chinese, Japanese, Korean). A chart without values is one line that says so. Widths below
//! 40 count as 40, and those above 200 as 200.

mod bars;
mod braille;
mod lists;
mod plane;

use super::{Body, Chart};

/// Number of rows of a chart with two axes.
const ROWS: usize = 12;

impl Chart {
    /// The chart in characters, `width` columns at most where names allow; ends of the axes, legend
    /// and values are written beside it.
    pub fn to_text(&self, width: usize) -> String {
        let width = width.clamp(40, 200);
        let body = match &self.body {
            Body::Lines(all) => plane::lines(self, all, width),
            Body::Points(all) => plane::points(self, all, width),
            Body::Stack(all) => plane::stack(self, all, width),
            Body::Bars(bars) => bars::draw(bars, width),
            Body::HeatMap(heat) => lists::heat(heat, width),
            Body::Forces(forces) => lists::forces(forces, width),
        };
        let body = if body.is_empty() { "(no values)\n".to_owned() } else { body };
        format!("{}\n{body}", clean(&self.title))
    }
}

/// The text with control characters replaced by spaces: they could move the cursor or change
/// colours.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A name of at most `max_chars` characters without control characters.
fn name(text: &str, max_chars: usize) -> String {
    super::escape::shorten(&clean(text), max_chars)
}

/// The text padded with spaces on the right.
fn pad(text: &str, width: usize) -> String {
    let space = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(space))
}

/// The text padded with spaces on the left.
fn pad_left(text: &str, width: usize) -> String {
    let space = width.saturating_sub(text.chars().count());
    format!("{}{text}", " ".repeat(space))
}

#[cfg(test)]
mod tests {
    use super::super::samples;

    #[test]
    fn no_line_is_wider_than_the_requested_width() {
        for (chart, _) in samples::all() {
            for width in [40, 80, 120] {
                let text = chart.to_text(width);
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= width, "{} at {width}:\n{text}", chart.id);
                assert!(text.lines().count() > 2, "{}", chart.id);
            }
        }
    }

    #[test]
    fn charts_without_values_say_so() {
        for chart in samples::empty() {
            assert!(chart.to_text(80).contains("(no values)"), "{}", chart.id);
        }
    }

    #[test]
    fn names_cannot_send_commands_to_the_terminal() {
        for (chart, _) in samples::all() {
            let text = samples::renamed(chart, "a\u{1b}[31m\u{7}\rb").to_text(80);
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
