//! Bars in characters: horizontal, in eighths of a character, with their values to the right.
//!
//! Values below 0 go to the left from the common zero column. Unicode has eighths of a block only
//! for the right end of a bar, so bars to the left end at whole characters.

use super::{name, pad, pad_left};
use crate::chart::Bars;
use crate::chart::number::short;

/// Blocks that fill 0 to 7 eighths of a character from the left.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Maximum number of categories that are shown; those after them are left out.
const MAX_CATEGORIES: usize = 25;

pub(super) fn draw(bars: &Bars, width: usize) -> String {
    let categories = &bars.categories[..bars.categories.len().min(MAX_CATEGORIES)];
    let shown = || bars.series.iter().flat_map(|s| s.values.iter().take(categories.len()));
    let finite = || shown().copied().filter(|v| v.is_finite());
    if finite().next().is_none() {
        return String::new();
    }
    let (low, high) = finite().fold((0.0f64, 0.0f64), |e, v| (e.0.min(v), e.1.max(v)));
    let longest = |names: &mut dyn Iterator<Item = &String>, max_chars: usize| {
        names.map(|n| n.chars().count().min(max_chars)).max().unwrap_or(0)
    };
    let category_width = longest(&mut categories.iter(), width / 3);
    let series_width = match bars.series.len() {
        1 => 0,
        _ => longest(&mut bars.series.iter().map(|s| &s.name), width / 6) + 1,
    };
    let number_width = finite().map(|v| short(v).len()).max().unwrap_or(0);
    let names_and_number = category_width + series_width + number_width + 2;
    let bar_width = width.saturating_sub(names_and_number).max(4) as f64;
    let span = if high > low { high - low } else { 1.0 };
    let zero_column = (-low / span * bar_width).round() as usize;
    let mut out = String::new();
    for (c, category) in categories.iter().enumerate() {
        for (i, series) in bars.series.iter().enumerate() {
            let category = if i == 0 { name(category, category_width) } else { String::new() };
            let series_name = match series_width {
                0 => String::new(),
                width => name(&series.name, width - 1),
            };
            let value = series.values.get(c).copied().unwrap_or(f64::NAN);
            let bar = bar(value, span, bar_width, zero_column);
            let names =
                format!("{} {}", pad(&category, category_width), pad(&series_name, series_width));
            let line = format!("{names}{bar} {}", short(value));
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    if bars.categories.len() > categories.len() {
        out.push_str(&format!("and {} more\n", bars.categories.len() - categories.len()));
    }
    out
}

/// A bar with the empty columns to its left. `span` is the difference of values that a bar of
/// `width` characters shows.
fn bar(value: f64, span: f64, width: f64, zero_column: usize) -> String {
    let length = if value.is_finite() { value.abs() / span * width } else { 0.0 };
    if value < 0.0 {
        let blocks = "█".repeat((length.round() as usize).min(zero_column));
        return pad_left(&blocks, zero_column);
    }
    let eighths = (length * 8.0).round() as usize;
    let end = match EIGHTHS.get(eighths % 8) {
        Some(end) if !eighths.is_multiple_of(8) => end.to_string(),
        _ => String::new(),
    };
    // Rounding on both sides of the zero column must not make the line longer than the width.
    let whole = (eighths / 8).min((width as usize).saturating_sub(zero_column));
    let end = if whole < eighths / 8 { String::new() } else { end };
    format!("{}{}{end}", " ".repeat(zero_column), "█".repeat(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{BarSeries, Grouping};

    /// A name and a value far larger than the others, in a category that is not drawn.
    #[test]
    fn categories_that_are_not_shown_change_no_bar() {
        let draw_with_last = |name: &str, value: f64| {
            let mut categories: Vec<String> = (0..25).map(|n| format!("c{n}")).collect();
            categories.push(name.to_owned());
            let values = [vec![1.0; 25], vec![value]].concat();
            let series = vec![BarSeries { values, ..BarSeries::default() }];
            draw(&Bars { categories, series, grouping: Grouping::Beside, horizontal: true }, 40)
        };
        let drawn = draw_with_last("a long name", -1e6);
        assert_eq!(drawn, draw_with_last("c", 1.0));
        assert!(drawn.contains('█') && drawn.ends_with("and 1 more\n"), "{drawn}");
    }

    #[test]
    fn bars_end_in_eighths_and_go_left_below_zero() {
        assert_eq!(bar(1.0, 2.0, 5.0, 0), "██▌");
        assert_eq!(bar(-1.0, 2.0, 8.0, 4), "████");
        assert_eq!(bar(-0.5, 2.0, 8.0, 4), "  ██");
        assert_eq!(bar(1.0, 2.0, 8.0, 4), "    ████");
        assert_eq!(bar(f64::NAN, 2.0, 8.0, 4), "    ");
    }
}
