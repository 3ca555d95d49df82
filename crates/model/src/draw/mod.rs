//! Drawings of a tree: as indented text, and as SVG without scripts and styles.

mod svg;
mod text;

use std::fmt::{Display, LowerExp};

use rankwright_spec::words::counted;

pub use svg::{tree_svg, tree_svg_with};
pub use text::{tree_text, tree_text_with};

use crate::categories::Categories;
use crate::impurity::SplitImpurity;
use crate::tree::SplitCondition;

/// A name with unprintable characters replaced, cut to at most `max` characters.
fn printable(name: &str, max: usize) -> String {
    let clean = |c: char| match c {
        // These reverse the direction of all text after them.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    match name.chars().nth(max) {
        None => name.chars().map(clean).collect(),
        Some(_) => name.chars().take(max.saturating_sub(1)).map(clean).chain(['…']).collect(),
    }
}

/// A number of rows as text.
fn rows_text(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "row")
}

/// The condition of a split, as text to follow the name of its feature; `at_most` is the sign to
/// show for "at most".
fn condition_text(rule: SplitCondition, sets: &[Categories], at_most: &str) -> String {
    match rule {
        SplitCondition::AtMost(threshold) => format!("{at_most} {}", shortest(threshold)),
        SplitCondition::NonZeroAtMost(threshold) => {
            format!("{at_most} {} (0 is missing)", shortest(threshold))
        }
        SplitCondition::In(set) => {
            let ids = sets.get(set as usize).into_iter().flat_map(Categories::ids);
            let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
            format!("in {{{}}}", ids.join(", "))
        }
    }
}

/// The impurity of a split, with four decimals, or with an exponent if it is small: `G 0.1205, before
/// 0.7145`.
fn impurity_text(impurity: &SplitImpurity) -> String {
    let number = |value: f64| match value {
        0.0 => "0".to_owned(),
        small if small < 1e-2 => format!("{small:.3e}"),
        other => format!("{other:.4}"),
    };
    format!("G {}, before {}", number(impurity.after), number(impurity.before))
}

/// The shortest text that reads back to the same float; digits without an exponent are preferred if
/// they are at most three characters longer.
fn shortest(value: impl Display + LowerExp) -> String {
    let (digits, exponent) = (value.to_string(), format!("{value:e}"));
    match digits.len() <= exponent.len() + 3 {
        true => digits,
        false => exponent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_and_stay_short() {
        for value in [0.1 + 0.2, -0.5, 1e300, 3e-300, 1234567.0, 0.0001, f64::MAX] {
            let text = shortest(value);
            assert_eq!(text.parse::<f64>().unwrap(), value);
            assert!(text.len() <= 24, "{text}");
        }
        assert_eq!(shortest(0.1f32), "0.1");
        assert_eq!(shortest(f32::INFINITY), "inf");
        assert_eq!(shortest(1e30f32), "1e30");
    }

    #[test]
    fn conditions_name_thresholds_and_categories() {
        let sets = [Categories::new([2, 5]).unwrap()];
        assert_eq!(condition_text(SplitCondition::AtMost(0.5), &sets, "<="), "<= 0.5");
        assert_eq!(
            condition_text(SplitCondition::NonZeroAtMost(0.5), &sets, "<="),
            "<= 0.5 (0 is missing)"
        );
        assert_eq!(condition_text(SplitCondition::In(0), &sets, "<="), "in {2, 5}");
    }

    #[test]
    fn one_row_is_singular() {
        assert_eq!([0, 1, 2, 11].map(rows_text), ["0 rows", "1 row", "2 rows", "11 rows"]);
    }

    #[test]
    fn names_are_cut_and_cleaned() {
        assert_eq!(printable("a\tb", 3), "a\u{fffd}b");
        assert_eq!(printable("a\u{202e}b", 3), "a\u{fffd}b");
        assert_eq!(printable("abcdef", 4), "abc…");
    }
}
