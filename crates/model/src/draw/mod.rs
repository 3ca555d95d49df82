//! Drawings of a tree: as indented text, and as SVG without scripts and styles.

mod svg;
mod text;

use std::fmt::{Display, LowerExp};

use rankwright_data::FeatureNames;
use rankwright_spec::visible;
use rankwright_spec::words::counted;

pub use svg::{tree_svg, tree_svg_with};
pub use text::{tree_text, tree_text_with};

use crate::categories::Categories;
use crate::header::Header;
use crate::impurity::SplitImpurity;
use crate::tree::{Split, SplitCondition};

/// A name with control characters replaced, cut to at most `max` characters.
fn printable(name: &str, max: usize) -> String {
    let clean = |c: char| if visible::is_control(c) { '\u{fffd}' } else { c };
    match name.chars().nth(max) {
        None => name.chars().map(clean).collect(),
        Some(_) => name.chars().take(max.saturating_sub(1)).map(clean).chain(['…']).collect(),
    }
}

/// A number of rows as text.
fn rows_text(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "row")
}

/// The names of features in a drawing, and the texts of categories where they are known.
#[derive(Debug, Clone, Copy)]
pub struct DrawnNames<'a> {
    names: &'a FeatureNames,
    header: Option<&'a Header>,
}

impl<'a> From<&'a FeatureNames> for DrawnNames<'a> {
    fn from(names: &'a FeatureNames) -> Self {
        DrawnNames { names, header: None }
    }
}

impl<'a> From<&'a Header> for DrawnNames<'a> {
    fn from(header: &'a Header) -> Self {
        DrawnNames { names: &header.features, header: Some(header) }
    }
}

impl DrawnNames<'_> {
    /// The name of a feature, cut to at most `max` characters.
    fn feature(&self, feature: u32, max: usize) -> String {
        printable(&self.names.name(feature as usize), max)
    }

    /// A category as its text or, if that is not known, as its number.
    fn category(&self, feature: u32, id: u32) -> String {
        let known = self.header.and_then(|h| h.category_text(feature as usize, id as f32));
        match known.map(|text| printable(text, usize::MAX)) {
            // Without quotes, such a text could be taken for several ones, or for a number.
            Some(text) if text.contains([',', '{', '}']) || text.parse::<f64>().is_ok() => {
                format!("'{text}'")
            }
            Some(text) => text,
            None => id.to_string(),
        }
    }
}

/// The condition of a split, as text to follow the name of its feature; `at_most` is the sign to
/// show for "at most".
fn condition_text(
    split: &Split,
    sets: &[Categories],
    names: DrawnNames<'_>,
    at_most: &str,
) -> String {
    match split.rule {
        SplitCondition::AtMost(threshold) => format!("{at_most} {}", shortest(threshold)),
        SplitCondition::NonZeroAtMost(threshold) => {
            format!("{at_most} {} (0 counts as missing)", shortest(threshold))
        }
        SplitCondition::In(set) => {
            let ids = sets.get(set as usize).into_iter().flat_map(Categories::ids);
            let ids: Vec<String> = ids.map(|id| names.category(split.feature, id)).collect();
            format!("in {{{}}}", ids.join(", "))
        }
    }
}

/// The impurity of a split, with four decimals, or with an exponent if it is small: `G 0.1205,
/// before 0.7145`.
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
    use rankwright_data::{Absent, Encoding, TableColumn, TableColumns};

    use super::*;
    use crate::tree::tests::two_split_tree;

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
        let sets = [Categories::new([0, 2, 5]).unwrap()];
        let names = FeatureNames::from_names(vec!["brand".into()]);
        let mut header = Header::new(names, Absent::Zero);
        let condition = |rule: SplitCondition, names: DrawnNames<'_>| {
            condition_text(&Split { rule, ..two_split_tree().splits()[0] }, &sets, names, "<=")
        };
        let number = DrawnNames::from(&header.features);
        assert_eq!(condition(SplitCondition::AtMost(0.5), number), "<= 0.5");
        assert_eq!(
            condition(SplitCondition::NonZeroAtMost(0.5), number),
            "<= 0.5 (0 counts as missing)"
        );
        assert_eq!(condition(SplitCondition::In(0), number), "in {0, 2, 5}");
        // Texts where the model has them; 5 has none.
        let texts = ["acme", "b", "c, d"].map(str::to_owned).into();
        let brand = TableColumn::feature("brand", Encoding::Category(texts));
        header.table_columns = Some(TableColumns::new(vec![brand]).unwrap().into());
        let in_text = condition(SplitCondition::In(0), DrawnNames::from(&header));
        assert_eq!(in_text, "in {acme, 'c, d', 5}");
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
