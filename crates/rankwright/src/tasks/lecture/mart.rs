//! MART on seventeen points: two trees of one split each.

use rankwright_learn::split_impurities;
use rankwright_model::draw::tree_svg_with;
use rankwright_model::{Model, ScoreOptions, Tree};
use rankwright_report::PageBlock;

use super::super::TaskError;
use super::points::{OWN_COORDINATES, data, ensemble, trained};
use super::sources::WICAKSONO;
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "mart",
    title: "MART on 17 points: F0, and two trees fitted to residuals",
    lectures: &[WICAKSONO],
    compute,
};

const LEARNER: &str = "mart(trees=2, leaves=2, rate=1, min_rows=1)";
const ROUNDED_FIRST: &str = "the slide rounds F0 to 2.471 and the residuals with it before it adds";
const ROUNDED_SECOND: &str = "the slide rounds F1 to 1.444 and 3.625 before it adds";
const ROUNDED_SUM: &str = "the numbers of the slide are rounded: their sum is 3.791";
/// The sums as the slide prints them; rows are parts of x1, columns parts of x2.
const SUMS: [[&str; 2]; 2] =
    [["1.444 - 0.236", "1.444 + 0.166"], ["3.625 - 0.236", "3.625 + 0.166"]];

fn compute() -> Result<Worked, TaskError> {
    let data = data()?;
    let model = trained(LEARNER, &data)?;
    let ensemble = ensemble(&model)?;
    let base = ensemble.base();
    let value = |tree: usize, leaf: usize| {
        let leaf = ensemble.trees().get(tree).and_then(|tree| tree.leaves().get(leaf));
        leaf.map_or(f64::NAN, |leaf| leaf.value)
    };
    let f1 = |leaf: usize| base + value(0, leaf);
    let mut steps = vec![
        LectureStep::number("F0: the constant of the lowest squared error, the mean", base)
            .slide("2.471")
            .note(OWN_COORDINATES),
        LectureStep::text("h1 splits on x1 < v1", split_text(ensemble.trees().first())),
        LectureStep::number("h1, yes: mean residual", value(0, 0))
            .slide("-1.027")
            .note(ROUNDED_FIRST),
        LectureStep::number("h1, no", value(0, 1)).slide("1.154"),
        LectureStep::number("F1 = F0 + h1, yes", f1(0)).slide("1.444"),
        LectureStep::number("F1, no", f1(1)).slide("3.625"),
        LectureStep::text("h2 splits on x2 < v2", split_text(ensemble.trees().get(1))),
        LectureStep::number("h2, yes", value(1, 0)).slide("-0.236"),
        LectureStep::number("h2, no", value(1, 1)).slide("0.166").note(ROUNDED_SECOND),
    ];
    for (first, (x1, sums)) in ["x1 < v1", "x1 >= v1"].into_iter().zip(SUMS).enumerate() {
        for (second, (x2, sum)) in ["x2 < v2", "x2 >= v2"].into_iter().zip(sums).enumerate() {
            let text = format!("F2 = F1 + h2 where {x1} and {x2}");
            let step = LectureStep::number(text, f1(first) + value(1, second)).slide(sum);
            steps.push(if step.agrees == Some(false) { step.note(ROUNDED_SUM) } else { step });
        }
    }
    Ok(Worked { steps, pictures: drawings(&model)? })
}

/// The condition of a tree's first split.
fn split_text(tree: Option<&Tree>) -> String {
    let split = tree.and_then(|tree| tree.splits().first());
    let text = split.map(|split| {
        let threshold = split.rule.threshold().unwrap_or(f32::NAN);
        format!("x{} < {threshold}", split.feature + 1)
    });
    text.unwrap_or_default()
}

/// The two trees with the impurity of their splits.
fn drawings(model: &Model) -> Result<Vec<PageBlock>, TaskError> {
    let data = data()?;
    let trees = ensemble(model)?.trees().iter().enumerate();
    let draw = |(number, tree): (usize, &Tree)| -> Result<PageBlock, TaskError> {
        let impurities = split_impurities(model, &data, number, ScoreOptions::default())?;
        let title = format!("Tree {} of MART, with the impurity of its split", number + 1);
        let svg = tree_svg_with(tree, &model.header().features, &title, &impurities);
        Ok(PageBlock::Drawing { id: format!("mart-tree-{}", number + 1), title, svg })
    };
    trees.map(draw).collect()
}
