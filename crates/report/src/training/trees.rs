//! Drawings of a few of a model's trees: the first, the last and some between them.

use rankwright_model::draw::tree_svg;
use rankwright_model::{Model, ModelBody};

use super::{OmissionReason, ReportPart};
use crate::page::{ChoiceControl, PageBlock, Section};

/// Maximum number of leaves of a drawn tree: a larger drawing cannot be read.
const MOST_LEAVES: usize = 256;

/// Numbers of the trees to draw, from 1: `count` of them, evenly spread from the first to the last.
///
/// ```
/// use rankwright_report::training::chosen_trees;
///
/// assert_eq!(chosen_trees(100, 3), [1, 50, 100]);
/// assert_eq!(chosen_trees(2, 3), [1, 2]);
/// assert_eq!(chosen_trees(100, 1), [1]);
/// ```
pub fn chosen_trees(trees: usize, count: usize) -> Vec<usize> {
    let steps = count.saturating_sub(1).max(1);
    let number = |step: usize| 1 + (trees.saturating_sub(1)) * step / steps;
    let mut numbers: Vec<usize> = (0..count.min(trees)).map(number).collect();
    // If at least as many are requested as there are trees, all of them are drawn.
    if count > 1 && trees > 0 && numbers.len() == trees {
        numbers = (1..=trees).collect();
    }
    numbers.dedup();
    numbers
}

/// Number and drawing of some of a model's trees, or the reason why there are none.
pub(super) fn drawings(model: &Model, count: usize) -> ReportPart<Vec<(usize, PageBlock)>> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(OmissionReason::NoTreesInModel { model: model.body().name() });
    };
    let trees = ensemble.trees();
    let numbers = chosen_trees(trees.len(), count);
    let all = numbers.into_iter().filter_map(|number| Some((number, trees.get(number - 1)?)));
    let draw = |(number, tree): (usize, &rankwright_model::Tree)| {
        let title = format!("Tree {number} of {}", trees.len());
        let leaves = tree.leaves().len();
        let block = match leaves <= MOST_LEAVES {
            true => {
                let svg = tree_svg(tree, model.header(), &title);
                PageBlock::Drawing { id: format!("tree-{number}"), title, svg }
            }
            false => {
                PageBlock::Text(format!("{title} has {leaves} leaves, too many to draw here."))
            }
        };
        (number, block)
    };
    match trees.is_empty() || count == 0 {
        true => Err(OmissionReason::NoTreeToDraw),
        false => Ok(all.map(draw).collect()),
    }
}

/// The section: a choice of the drawings.
pub(super) fn section(drawings: &ReportPart<Vec<(usize, PageBlock)>>) -> Section {
    let blocks = match drawings {
        Err(reason) => vec![PageBlock::Text(reason.to_string())],
        Ok(drawings) => {
            let text = "Each leaf adds its value to the score of every document that reaches it. The \
                        first trees learn the largest effects; later trees correct the errors \
                        that are left.";
            let group = |(number, block): &(usize, PageBlock)| {
                (format!("tree {number}"), vec![block.clone()])
            };
            let groups = drawings.iter().map(group).collect();
            let (id, label) = ("tree-choice".to_owned(), "Tree".to_owned());
            vec![
                PageBlock::Text(text.to_owned()),
                PageBlock::Choice { id, label, groups, control: ChoiceControl::List },
            ]
        }
    };
    Section { id: "trees".into(), title: "Trees".into(), blocks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::constant_model;

    #[test]
    fn trees_are_spread_from_the_first_to_the_last() {
        assert_eq!(chosen_trees(0, 3), [0; 0]);
        assert_eq!(chosen_trees(1, 3), [1]);
        assert_eq!(chosen_trees(3, 5), [1, 2, 3]);
        assert_eq!(chosen_trees(10, 4), [1, 4, 7, 10]);
        assert_eq!(chosen_trees(7, 2), [1, 7]);
    }

    #[test]
    fn drawings_are_svg() {
        let found = drawings(&constant_model("lambda"), 3).unwrap();
        assert!(matches!(&found[0].1, PageBlock::Drawing { svg, .. } if svg.starts_with("<svg")));
        assert_eq!(section(&Ok(found)).blocks.len(), 2);
    }
}
