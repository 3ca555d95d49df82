//! Rocchio's classifier: distances to centroids, and points on which it fails.

use rankwright_search::SearchError;
use rankwright_search::classify::{Distance, Rocchio, SparseVector};

use super::super::TaskError;
use super::sources::ZHANG;
use super::{ExampleDef, LectureStep, Worked};

pub(super) const DEF: ExampleDef = ExampleDef {
    name: "rocchio",
    title: "Rocchio: a chemistry or a history paper, by the nearest centroid",
    lectures: &[ZHANG],
    compute,
};

/// Chemistry, then history.
const FEW: [[f32; 2]; 4] = [[1.0, 0.9], [0.9, 1.0], [0.2, 0.3], [0.3, 0.2]];
/// The points of the lecture's kNN example: four of chemistry, then four of history.
pub(super) const EIGHT: [[f32; 2]; 8] = [
    [1.0, 0.9],
    [0.9, 1.0],
    [0.2, 0.3],
    [0.3, 0.2],
    [1.0, 0.3],
    [0.9, 0.2],
    [0.3, 1.0],
    [0.2, 0.9],
];
/// The new document of the kNN example.
pub(super) const NEW_OF_EIGHT: [f32; 2] = [0.4, 1.0];

fn compute() -> Result<Worked, TaskError> {
    let few = fit(&FEW)?;
    let point = vector(&[0.8, 0.85])?;
    let origin = vector(&[0.0, 0.0])?;
    let of = |rocchio: &Rocchio, vector: &SparseVector, class: &str| {
        let distances = rocchio.distances(vector);
        distances.iter().find(|(name, _)| *name == class).map_or(f64::NAN, |(_, value)| *value)
    };
    // Both centroids are on the diagonal, so that a coordinate follows from the distance to 0.
    let coordinate = |class: &str| of(&few, &origin, class) / 2f64.sqrt();
    let eight = fit(&EIGHT)?;
    let tied = eight.classify(&vector(&NEW_OF_EIGHT)?);
    let outcome =
        if tied.ties { format!("tie, {} by name", tied.class) } else { tied.class.into() };
    let steps = vec![
        LectureStep::number("centroid of chemistry, both coordinates", coordinate("chemistry"))
            .slide("0.95"),
        LectureStep::number("centroid of history, both coordinates", coordinate("history"))
            .slide("0.25"),
        LectureStep::number(
            "distance of d5 = (0.8, 0.85) to chemistry",
            of(&few, &point, "chemistry"),
        )
        .slide("0.1803"),
        LectureStep::number("distance to history", of(&few, &point, "history"))
            .slide("0.8124")
            .note("a slip: sqrt(0.55^2 + 0.6^2) is 0.8139"),
        LectureStep::text("class of d5", few.classify(&point).class).slide("chemistry"),
        LectureStep::text(
            "class of (0.4, 1.0) among the eight points of the next example",
            outcome,
        )
        .note(
            "an example where Rocchio does not work, which the slide asks for: both centroids \
                 are (0.6, 0.6)",
        ),
    ];
    Ok(Worked { steps, ..Worked::default() })
}

/// Points with two features, the first half of chemistry, the others of history.
fn fit(points: &[[f32; 2]]) -> Result<Rocchio, TaskError> {
    let vectors = points.iter().map(vector).collect::<Result<Vec<_>, _>>()?;
    Ok(Rocchio::fit(&vectors, &classes(points.len()), Distance::Euclidean)
        .map_err(SearchError::from)?)
}

/// The classes of points, the first half of chemistry.
pub(super) fn classes(points: usize) -> Vec<&'static str> {
    (0..points).map(|point| if point < points / 2 { "chemistry" } else { "history" }).collect()
}

/// A point as a vector.
pub(super) fn vector(point: &[f32; 2]) -> Result<SparseVector, TaskError> {
    Ok(SparseVector::dense(point).map_err(SearchError::from)?)
}
