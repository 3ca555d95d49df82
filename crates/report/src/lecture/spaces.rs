//! Documents of two features in the space of the features and in the space of pairs.
//!
//! A linear ranker scores a document x by w x. The order of two documents of a query is right if
//! w (x - y) > 0 for the better document x, so that ranking becomes a classification of the
//! differences x - y by a line through the origin (Herbrich, Graepel, Obermayer 2000; Joachims
//! 2002). Each difference also stands for its negative, of the other class; of n documents of a
//! query there are at most n (n - 1) of them.

use super::plane::Rectangle;
use crate::chart::{Axis, Body, Chart, Series, SeriesColour};

/// A document of a query, with two features.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryPoint {
    /// The query's name.
    pub query: String,
    /// The label.
    pub label: f64,
    /// The two features.
    pub features: (f64, f64),
}

/// The difference of two documents of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairDifference {
    /// First minus second document, for each of the two features.
    pub features: (f64, f64),
    /// Whether the first document is the better one.
    pub is_better: bool,
}

/// A point with a class.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelledPoint {
    /// The name of its class.
    pub class: String,
    /// The two features.
    pub features: (f64, f64),
}

/// The differences of all pairs of documents of one query with different labels, each in both
/// directions.
pub fn pair_differences(documents: &[QueryPoint]) -> Vec<PairDifference> {
    let mut differences = Vec::new();
    for first in documents {
        let partners = documents.iter().filter(|second| second.query == first.query);
        for second in partners.filter(|second| second.label != first.label) {
            let (a, b) = (first.features, second.features);
            let features = (a.0 - b.0, a.1 - b.1);
            differences.push(PairDifference { features, is_better: first.label > second.label });
        }
    }
    differences
}

/// Documents in the space of their features, by query and label, with the direction `weights` of
/// rising scores of a linear ranker.
pub fn original_space(documents: &[QueryPoint], weights: (f64, f64), names: [&str; 2]) -> Chart {
    let group = |point: &QueryPoint| format!("query {}, label {}", point.query, point.label);
    let mut series = grouped(documents.iter().map(|point| (group(point), point.features)));
    let rectangle = Rectangle::around(documents.iter().map(|point| point.features));
    // The line along the weights through the centre, by its normal.
    let normal = (-weights.1, weights.0);
    let (x, y) = rectangle.centre();
    let offset = normal.0 * x + normal.1 * y;
    series.extend(
        rectangle.chord(normal, offset).map(|ends| border("direction of rising score", ends)),
    );
    Chart {
        id: "original-space".into(),
        title: "Two queries in the original space".into(),
        caption:
            "Labels of one query are in order along the dashed direction, and so are those of \
                  the other; but no single line separates the labels of both queries."
                .into(),
        x: axis(names[0], rectangle.sides[0]),
        y: axis(names[1], rectangle.sides[1]),
        body: Body::Points(series),
    }
}

/// The differences of documents in the space of pairs, with the line that `weights` separates them
/// by.
pub fn pair_space(pairs: &[PairDifference], weights: (f64, f64), names: [&str; 2]) -> Chart {
    let group = |pair: &PairDifference| match pair.is_better {
        true => "+1: the first document is better".to_owned(),
        false => "-1: the first document is worse".to_owned(),
    };
    let mut series = grouped(pairs.iter().map(|pair| (group(pair), pair.features)));
    let rectangle = Rectangle::around(pairs.iter().map(|pair| pair.features));
    series.extend(rectangle.chord(weights, 0.0).map(|ends| border("w x = 0", ends)));
    let names = names.map(|name| format!("difference of {name}"));
    Chart {
        id: "space-of-pairs".into(),
        title: "Two queries in the space of pairs".into(),
        caption: "Each point is the difference of two documents of one query. A line through the \
                  origin separates the pairs in the right order from their opposites: ranking is \
                  a classification here, without an intercept."
            .into(),
        x: axis(&names[0], rectangle.sides[0]),
        y: axis(&names[1], rectangle.sides[1]),
        body: Body::Points(series),
    }
}

/// Points of several classes, with the border `weights x + bias = 0` of a linear classifier.
pub fn class_border(
    points: &[LabelledPoint],
    weights: (f64, f64),
    bias: f64,
    names: [&str; 2],
) -> Chart {
    let mut series = grouped(points.iter().map(|point| (point.class.clone(), point.features)));
    let rectangle = Rectangle::around(points.iter().map(|point| point.features));
    series.extend(rectangle.chord(weights, -bias).map(|ends| border("border", ends)));
    Chart {
        id: "class-border".into(),
        title: "Classes and their border".into(),
        caption: "The dashed line is where the score of the linear classifier is 0.".into(),
        x: axis(names[0], rectangle.sides[0]),
        y: axis(names[1], rectangle.sides[1]),
        body: Body::Points(series),
    }
}

/// An axis with these ends.
fn axis(label: &str, ends: (f64, f64)) -> Axis {
    Axis { label: label.to_owned(), range: Some(ends), ..Axis::default() }
}

/// A dashed line.
fn border(name: &str, ends: [(f64, f64); 2]) -> Series {
    Series { name: name.to_owned(), points: ends.to_vec(), dashed: true, ..Series::default() }
}

/// A series for each name, in the order of first use, with its points sorted by x.
fn grouped(points: impl Iterator<Item = (String, (f64, f64))>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for (name, point) in points {
        match series.iter_mut().find(|one| one.name == name) {
            Some(one) => one.points.push(point),
            None => series.push(Series {
                name,
                points: vec![point],
                colour: SeriesColour::Distinct,
                ..Series::default()
            }),
        }
    }
    for one in &mut series {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Vec<QueryPoint> {
        let point =
            |query: &str, label, features| QueryPoint { query: query.into(), label, features };
        vec![
            point("a", 1.0, (2.0, 1.0)),
            point("a", 0.0, (1.0, 1.0)),
            point("b", 2.0, (5.0, 5.0)),
            point("b", 1.0, (4.0, 4.0)),
            point("b", 1.0, (4.0, 3.0)),
        ]
    }

    #[test]
    fn pairs_are_of_one_query_and_of_different_labels() {
        let pairs = pair_differences(&documents());
        assert_eq!(pairs.len(), 2 + 4);
        assert_eq!(pairs[0], PairDifference { features: (1.0, 0.0), is_better: true });
        assert_eq!(pairs[1], PairDifference { features: (-1.0, 0.0), is_better: false });
        assert_eq!(pairs.iter().filter(|pair| pair.is_better).count(), 3);
    }

    #[test]
    fn the_separating_line_goes_through_the_origin() {
        let pairs = pair_differences(&documents());
        let Body::Points(series) = pair_space(&pairs, (1.0, 0.5), ["x", "y"]).body else {
            panic!("a chart of points")
        };
        let line = series.last().unwrap();
        assert!(line.dashed && line.name == "w x = 0");
        assert!(line.points.iter().all(|(x, y)| (x + 0.5 * y).abs() < 1e-12), "{line:?}");
        assert_eq!(series.iter().map(|one| one.points.len()).collect::<Vec<_>>(), [3, 3, 2]);
    }

    #[test]
    fn documents_are_grouped_by_query_and_label() {
        let Body::Points(series) = original_space(&documents(), (1.0, 0.0), ["x", "y"]).body else {
            panic!("a chart of points")
        };
        let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).collect();
        let expected = ["query a, label 1", "query a, label 0", "query b, label 2"];
        assert_eq!(names[..3], expected);
        // The weights (1, 0) rise to the right: the dashed direction is horizontal.
        let direction = &series.last().unwrap().points;
        assert_eq!(direction[0].1, direction[1].1);
    }
}
