//! A tree as indented text: a line for each split and leaf, the `yes` side first.
//!
//! ```text
//! bm25 <= 7.25? missing: no, 120 rows, gain 3.5
//!   yes: -0.5 (80 rows)
//!   no: pagerank <= 0.1? missing: yes, 40 rows, gain 1
//!     yes: 0.125 (15 rows)
//!     no: 0.75 (25 rows)
//! ```
//!
//! With impurities, the line of a split ends in `, G 0.1205, before 0.7145`: the impurity after the
//! split and before it (`impurity.rs`). Other numbers are the shortest that read back to the same
//! float. Indentation stops at a depth of 40; deeper lines start with their depth, as `[41]`, so
//! that the text of a tree that is one long chain stays linear in its size. A tree without splits
//! is one line.

use std::fmt::Write;

use super::{DrawnNames, condition_text, impurity_text, rows_text, shortest};
use crate::impurity::SplitImpurity;
use crate::tree::{Child, Side, Tree};

/// The deepest level that is indented in full; on deeper levels the depth is written as a number.
const MAX_INDENTED_DEPTH: usize = 40;

/// Draws a tree as text. `names` are the names of the features, or the header of the tree's model,
/// which also has the texts of categories.
///
/// ```
/// use rankwright_data::FeatureNames;
/// use rankwright_model::{Tree, draw::tree_text};
///
/// let text = tree_text(&Tree::constant(0.5, 10)?, &FeatureNames::Named(vec![]));
/// assert_eq!(text, "0.5 (10 rows)\n");
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
pub fn tree_text<'a>(tree: &Tree, names: impl Into<DrawnNames<'a>>) -> String {
    tree_text_with(tree, names, &[])
}

/// Draws a tree as text, with the impurity of each split that has one, by the number of the split.
pub fn tree_text_with<'a>(
    tree: &Tree,
    names: impl Into<DrawnNames<'a>>,
    impurities: &[SplitImpurity],
) -> String {
    let names = names.into();
    let mut text = String::new();
    let mut pending = vec![(tree.root(), 0, "")];
    while let Some((child, depth, prefix)) = pending.pop() {
        text.push_str(&"  ".repeat(depth.min(MAX_INDENTED_DEPTH)));
        if depth > MAX_INDENTED_DEPTH {
            let _ = write!(text, "[{depth}] ");
        }
        text.push_str(prefix);
        match child {
            Child::Leaf(leaf) => {
                let leaf = &tree.leaves()[leaf as usize];
                let _ = writeln!(text, "{} ({})", shortest(leaf.value), rows_text(leaf.rows));
            }
            Child::Split(number) => {
                let split = &tree.splits()[number as usize];
                let name = names.feature(split.feature, usize::MAX);
                let missing = if split.missing == Side::Left { "yes" } else { "no" };
                let _ = write!(
                    text,
                    "{name} {}? missing: {missing}, {}, gain {}",
                    condition_text(split, tree.sets(), names, "<="),
                    rows_text(split.rows),
                    shortest(split.gain)
                );
                if let Some(impurity) = impurities.get(number as usize) {
                    let _ = write!(text, ", {}", impurity_text(impurity));
                }
                text.push('\n');
                pending.push((split.right, depth + 1, "no: "));
                pending.push((split.left, depth + 1, "yes: "));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::FeatureNames;

    use crate::tree::tests::{chain_tree, two_split_tree};

    #[test]
    fn every_split_and_leaf_has_its_line() {
        let names = FeatureNames::Named(vec!["bm25".into(), "page\nrank".into()]);
        let lines = [
            "bm25 <= 0.5? missing: no, 10 rows, gain 2.5",
            "  yes: -1 (4 rows)",
            "  no: page\u{fffd}rank <= 0.1? missing: yes, 6 rows, gain 1",
            "    yes: 0.25 (2 rows)",
            "    no: 3 (4 rows)",
            "",
        ];
        assert_eq!(tree_text(&two_split_tree(), &names), lines.join("\n"));
    }

    #[test]
    fn the_line_of_a_split_ends_in_its_impurity() {
        let names = FeatureNames::Named(vec!["bm25".into(), "pagerank".into()]);
        let impurity = |split, after| SplitImpurity { split, rows: 9, before: 0.71453, after };
        let impurities = [impurity(0, 0.12051), impurity(1, 0.00012)];
        let text = tree_text_with(&two_split_tree(), &names, &impurities);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with(", gain 2.5, G 0.1205, before 0.7145"), "{text}");
        assert!(lines[2].ends_with(", gain 1, G 1.200e-4, before 0.7145"), "{text}");
    }

    #[test]
    fn a_chain_of_splits_stays_readable_and_linear() {
        let text = tree_text(&chain_tree(5000), &FeatureNames::Ids { first: 1, count: 1 });
        assert_eq!(text.lines().count(), 10_001);
        assert!(text.len() < 10_001 * 200);
        assert!(text.contains("[5000] no: 5000 (1 row)\n"), "{}", &text[text.len() - 300..]);
    }
}
