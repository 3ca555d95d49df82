//! A regression tree on seventeen points: the impurity G of its first split, and of all others.

use rankwright_data::Dataset;
use rankwright_learn::split_impurities;
use rankwright_model::draw::tree_svg_with;
use rankwright_model::{
    Child, Leaf, MatchOptions, Matching, Model, ScoreOptions, Side, Split, SplitCondition,
    SplitImpurity, Tree,
};
use rankwright_report::PageBlock;
use rankwright_report::lecture::tree_regions;

use super::super::TaskError;
use super::points::{NAMES, OWN_COORDINATES, data, ensemble, plotted, trained};
use super::sources::WICAKSONO;
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "tree",
    title: "A regression tree on 17 points: the impurity G of its splits",
    lectures: &[WICAKSONO],
    compute,
};

fn compute() -> Result<Worked, TaskError> {
    let data = data()?;
    let stump = trained("tree(leaves=2, min_rows=1)", &data)?;
    let first = first_impurity(&stump, &data)?;
    let (threshold, values) = first_split(&stump)?;
    let [on_x1, on_x2] = best_others(&stump, &data, threshold)?;
    let steps = vec![
        LectureStep::number(
            "impurity L of all points: half the variance of the labels",
            first.before,
        )
        .note(OWN_COORDINATES),
        LectureStep::number(
            format!("best split: x1 < v1 = {threshold}; mean label, yes"),
            values.0,
        )
        .slide("1.444"),
        LectureStep::number("mean label, no", values.1).slide("3.625"),
        LectureStep::number("G(v1) = 9/17 L(yes) + 8/17 L(no)", first.after).slide("0.12"),
        LectureStep::number("smallest G of all other splits on x1", on_x1)
            .note("the slide asks whether any other split has a lower G: none has"),
        LectureStep::number("smallest G of all splits on x2", on_x2),
    ];
    let full = trained("tree(leaves=4, min_rows=1)", &data)?;
    Ok(Worked {
        steps: [steps, next_splits(&full, &data)?].concat(),
        pictures: pictures(&full, &data)?,
    })
}

/// The impurity of the first split of a model's first tree.
fn first_impurity(model: &Model, data: &Dataset) -> Result<SplitImpurity, TaskError> {
    let impurities = split_impurities(model, data, 0, ScoreOptions::default())?;
    impurities.first().copied().ok_or(TaskError::NoSuchTree { number: 1, trees: 0 })
}

/// The first tree of a model.
fn first_tree(model: &Model) -> Result<&Tree, TaskError> {
    let trees = ensemble(model)?.trees();
    trees.first().ok_or(TaskError::NoSuchTree { number: 1, trees: trees.len() })
}

/// The threshold of the first split of a stump, and the predictions of its two leaves.
fn first_split(model: &Model) -> Result<(f32, (f64, f64)), TaskError> {
    let (base, tree) = (ensemble(model)?.base(), first_tree(model)?);
    let threshold = tree.splits().first().and_then(|split| split.rule.threshold());
    let value = |leaf: usize| tree.leaves().get(leaf).map_or(f64::NAN, |leaf| base + leaf.value);
    Ok((threshold.unwrap_or(f32::NAN), (value(0), value(1))))
}

/// The smallest G of all splits on each feature, except the split on the first one that separates
/// the points as `threshold` does.
fn best_others(model: &Model, data: &Dataset, threshold: f32) -> Result<[f64; 2], TaskError> {
    let matching = Matching::new(model.header(), data.features(), MatchOptions::default())?;
    let mut best = [f64::INFINITY; 2];
    for (feature, best) in (0..).zip(&mut best) {
        let column = |row: usize| data.matrix().row(row).get(feature as usize).copied();
        let mut values: Vec<f32> = (0..data.rows()).filter_map(column).collect();
        values.sort_by(f32::total_cmp);
        values.dedup();
        for pair in values.windows(2) {
            let &[low, high] = pair else { continue };
            if feature == 0 && (low..high).contains(&threshold) {
                continue;
            }
            let tree = stump_at(feature, low)?;
            let found = SplitImpurity::of_tree(&tree, data, &matching, data.labels());
            *best = found.iter().map(|impurity| impurity.after).fold(*best, f64::min);
        }
    }
    Ok(best)
}

/// A tree of one split, for its impurity alone.
fn stump_at(feature: u32, threshold: f32) -> Result<Tree, TaskError> {
    let split = Split {
        feature,
        rule: SplitCondition::AtMost(threshold),
        missing: Side::Left,
        left: Child::Leaf(0),
        right: Child::Leaf(1),
        gain: 0.0,
        rows: 0,
    };
    Ok(Tree::new(vec![split], vec![Leaf { value: 0.0, rows: 0 }; 2])?)
}

/// The splits after the first of a tree that is grown further.
fn next_splits(model: &Model, data: &Dataset) -> Result<Vec<LectureStep>, TaskError> {
    let impurities = split_impurities(model, data, 0, ScoreOptions::default())?;
    let tree = first_tree(model)?;
    let step = |(impurity, split): (&SplitImpurity, &Split)| {
        let name = NAMES.get(split.feature as usize).unwrap_or(&"");
        let threshold = split.rule.threshold().unwrap_or(f32::NAN);
        let text = format!(
            "next split, of {} points with L = {:.4}: {name} < {threshold}; its G",
            impurity.rows, impurity.before
        );
        LectureStep::number(text, impurity.after)
    };
    Ok(impurities.iter().zip(tree.splits()).skip(1).map(step).collect())
}

/// The tree, and its regions in the plane.
fn pictures(model: &Model, data: &Dataset) -> Result<Vec<PageBlock>, TaskError> {
    let (base, tree) = (ensemble(model)?.base(), first_tree(model)?);
    let impurities = split_impurities(model, data, 0, ScoreOptions::default())?;
    let title = "A regression tree of four leaves, with the impurity of its splits".to_owned();
    let svg = tree_svg_with(tree, &model.header().features, &title, &impurities);
    let regions = tree_regions(tree, base, NAMES, &plotted()).map(PageBlock::Chart);
    let drawing = PageBlock::Drawing { id: "regression-tree".into(), title, svg };
    Ok([drawing].into_iter().chain(regions).collect())
}
