//! The regions of a regression tree in the plane of its two features: each leaf is a rectangle, in
//! which every document has the same value.

use rankwright_model::{Child, Tree};

use super::plane::Rectangle;
use crate::chart::{Axis, Body, Chart, Series, SeriesColour};

/// The regions of a tree, as dashed borders among points with labels. `base` is added to the values
/// of the leaves. `points` are two features and a label each. `None` for a tree that tests
/// other features than the first two, or categories, and without points.
pub fn tree_regions(
    tree: &Tree,
    base: f64,
    names: [&str; 2],
    points: &[((f64, f64), f64)],
) -> Option<Chart> {
    if points.is_empty() {
        return None;
    }
    let whole = Rectangle::around(points.iter().map(|point| point.0));
    let (borders, regions) = divide(tree, whole)?;
    let mut series = by_label(points);
    series.push(Series {
        name: "value of a region".into(),
        points: regions.iter().map(|(rectangle, _)| rectangle.centre()).collect(),
        names: regions.iter().map(|(_, value)| format!("{:.4}", base + value)).collect(),
        ..Series::default()
    });
    let border = |(name, ends): (String, [(f64, f64); 2])| Series {
        name,
        points: ends.to_vec(),
        dashed: true,
        ..Series::default()
    };
    let name_of = |axis: usize, value: f64| format!("{} = {value}", names[axis]);
    series.extend(
        borders.into_iter().map(|(axis, value, ends)| border((name_of(axis, value), ends))),
    );
    let values: Vec<String> =
        regions.iter().map(|(_, value)| format!("{:.4}", base + value)).collect();
    let axis = |i: usize| Axis {
        label: names[i].to_owned(),
        range: Some(whole.sides[i]),
        ..Axis::default()
    };
    Some(Chart {
        id: "tree-regions".into(),
        title: "Regions of the regression tree".into(),
        caption: format!(
            "Each leaf of the tree is a rectangle; all documents in it have the same value. The \
             values, from the leaf at the left of the tree to that at its right: {}. They are \
             those of the leaves plus the base of the model, {base:.4}.",
            values.join(", ")
        ),
        x: axis(0),
        y: axis(1),
        body: Body::Points(series),
    })
}

/// Borders (the axis, the value on it, and the ends of the line) and regions with the value of
/// their leaf.
type Division = (Vec<(usize, f64, [(f64, f64); 2])>, Vec<(Rectangle, f64)>);

/// Divides a rectangle by the splits of a tree, the leaves from left to right.
fn divide(tree: &Tree, whole: Rectangle) -> Option<Division> {
    let (mut borders, mut regions) = (Vec::new(), Vec::new());
    let mut pending = vec![(tree.root(), whole)];
    while let Some((node, rectangle)) = pending.pop() {
        match node {
            Child::Leaf(leaf) => regions.push((rectangle, tree.leaves().get(leaf as usize)?.value)),
            Child::Split(number) => {
                let split = tree.splits().get(number as usize)?;
                let (axis, value) = (split.feature as usize, split.rule.threshold()?);
                // As a decimal number, not as the nearest 32-bit float written with 64 bits.
                let value: f64 = value.to_string().parse().ok()?;
                let normal = match axis {
                    0 => (1.0, 0.0),
                    1 => (0.0, 1.0),
                    _ => return None,
                };
                borders.extend(rectangle.chord(normal, value).map(|ends| (axis, value, ends)));
                let [below, above] = rectangle.divided(axis, value);
                pending.push((split.right, above));
                pending.push((split.left, below));
            }
        }
    }
    Some((borders, regions))
}

/// A series for each label, ascending, with its points sorted by x.
fn by_label(points: &[((f64, f64), f64)]) -> Vec<Series> {
    let mut labels: Vec<f64> = points.iter().map(|point| point.1).collect();
    labels.sort_by(f64::total_cmp);
    labels.dedup();
    let of_label = |(step, label): (usize, &f64)| {
        let points_of_label = points.iter().filter(|point| point.1 == *label);
        let mut positions: Vec<(f64, f64)> = points_of_label.map(|point| point.0).collect();
        positions.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series {
            name: format!("label {label}"),
            points: positions,
            colour: SeriesColour::Ordinal { step, of: labels.len() },
            ..Series::default()
        }
    };
    labels.iter().enumerate().map(of_label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_model::{Leaf, Side, Split, SplitCondition};

    /// x <= 0.5 goes to leaf 0; the others by y <= 0.25.
    fn tree(second_feature: u32) -> Tree {
        let split = |feature, threshold, left, right| Split {
            feature,
            rule: SplitCondition::AtMost(threshold),
            missing: Side::Left,
            left,
            right,
            gain: 1.0,
            rows: 2,
        };
        let splits = vec![
            split(0, 0.5, Child::Leaf(0), Child::Split(1)),
            split(second_feature, 0.25, Child::Leaf(1), Child::Leaf(2)),
        ];
        let leaves = [1.0, 2.0, 3.0].map(|value| Leaf { value, rows: 1 }).to_vec();
        Tree::new(splits, leaves).unwrap()
    }

    const POINTS: [((f64, f64), f64); 4] =
        [((0.0, 0.0), 1.0), ((1.0, 0.0), 2.0), ((1.0, 1.0), 4.0), ((0.0, 1.0), 1.0)];

    #[test]
    fn borders_end_at_the_region_that_they_divide() {
        let chart = tree_regions(&tree(1), 10.0, ["x", "y"], &POINTS).unwrap();
        let values = "11.0000, 12.0000, 13.0000. They are those of the leaves plus the base of the \
                      model, 10.0000.";
        assert!(chart.caption.ends_with(values), "{}", chart.caption);
        let Body::Points(series) = chart.body else { panic!("a chart of points") };
        let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
        let expected =
            ["label 1", "label 2", "label 4", "value of a region", "x = 0.5", "y = 0.25"];
        assert_eq!(names, expected);
        assert_eq!(series[4].points, [(0.5, -0.1), (0.5, 1.1)]);
        // The second split divides the right part alone.
        assert_eq!(series[5].points, [(0.5, 0.25), (1.1, 0.25)]);
    }

    #[test]
    fn a_tree_of_other_features_has_no_regions_in_the_plane() {
        assert!(tree_regions(&tree(2), 0.0, ["x", "y"], &POINTS).is_none());
        assert!(tree_regions(&tree(1), 0.0, ["x", "y"], &[]).is_none());
    }
}
