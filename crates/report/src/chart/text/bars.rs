//! Bars in characters: horizontal, in eighths of a character, with their values to the right.
//!
//! Values below 0 go to the left from a common line. In eighths only the right end of a bar can be
//! drawn, so bars to the left end at whole characters.

use super::{name, pad, pad_left};
use crate::chart::Bars;
use crate::chart::number::short;

const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Maximum number of categories that are shown; the rest is left out.
const MOST: usize = 25;

pub(super) fn draw(bars: &Bars, width: usize) -> String {
    let shown = || bars.series.iter().flat_map(|s| s.values.iter().take(bars.categories.len()));
    let known = || shown().copied().filter(|v| v.is_finite());
    if known().next().is_none() {
        return String::new();
    }
    let (low, high) = known().fold((0.0f64, 0.0f64), |e, v| (e.0.min(v), e.1.max(v)));
    let longest = |names: &mut dyn Iterator<Item = &String>, most: usize| {
        names.map(|n| n.chars().count().min(most)).max().unwrap_or(0)
    };
    let category = longest(&mut bars.categories.iter(), width / 3);
    let series = match bars.series.len() {
        1 => 0,
        _ => longest(&mut bars.series.iter().map(|s| &s.name), width / 6) + 1,
    };
    let number = known().map(|v| short(v).len()).max().unwrap_or(0);
    let room = width.saturating_sub(category + series + number + 2).max(4) as f64;
    let span = if high > low { high - low } else { 1.0 };
    let left = (-low / span * room).round() as usize;
    let mut out = String::new();
    for (c, label) in bars.categories.iter().enumerate().take(MOST) {
        for (i, one) in bars.series.iter().enumerate() {
            let label = if i == 0 { name(label, category) } else { String::new() };
            let own = if series > 0 { name(&one.name, series - 1) } else { String::new() };
            let value = one.values.get(c).copied().unwrap_or(f64::NAN);
            let bar = bar(value, span, room, left);
            let head = format!("{} {}", pad(&label, category), pad(&own, series));
            let line = format!("{head}{bar} {}", short(value));
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
    if bars.categories.len() > MOST {
        out.push_str(&format!("and {} more\n", bars.categories.len() - MOST));
    }
    out
}

/// A bar with the empty columns to its left.
fn bar(value: f64, span: f64, room: f64, left: usize) -> String {
    let length = if value.is_finite() { value.abs() / span * room } else { 0.0 };
    if value < 0.0 {
        let blocks = "█".repeat((length.round() as usize).min(left));
        return pad_left(&blocks, left);
    }
    let eighths = (length * 8.0).round() as usize;
    let end = match EIGHTHS.get(eighths % 8) {
        Some(end) if !eighths.is_multiple_of(8) => end.to_string(),
        _ => String::new(),
    };
    // Rounding on both sides of the line must not push the value out of the window.
    let whole = (eighths / 8).min((room as usize).saturating_sub(left));
    let end = if whole < eighths / 8 { String::new() } else { end };
    format!("{}{}{end}", " ".repeat(left), "█".repeat(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_in_eighths_and_go_left_below_zero() {
        assert_eq!(bar(1.0, 2.0, 5.0, 0), "██▌");
        assert_eq!(bar(-1.0, 2.0, 8.0, 4), "████");
        assert_eq!(bar(-0.5, 2.0, 8.0, 4), "  ██");
        assert_eq!(bar(1.0, 2.0, 8.0, 4), "    ████");
        assert_eq!(bar(f64::NAN, 2.0, 8.0, 4), "    ");
    }
}
