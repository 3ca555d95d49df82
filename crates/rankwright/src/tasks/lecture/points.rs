//! Seventeen points in two dimensions, the data of a regression tree and of MART.
//!
//! The lecture shows them as a picture, which is lost. Labels and parts are those of its formulas:
//! five points of label 1, four of label 2, three of label 3 and five of label 4; x1 < 0.5 for the
//! labels 1 and 2; x2 < 0.49 for two of label 1, two of label 2 and all of label 3. The
//! coordinates are our own, chosen so that these are the best splits of the first two trees.

use rankwright_data::Dataset;
use rankwright_learn::{LearnerSpec, TrainRequest};
use rankwright_model::{Ensemble, Model, ModelBody};

use super::super::TaskError;

/// The two features and the label of each point.
pub(super) const POINTS: [(f32, f32, f64); 17] = [
    (0.24, 0.35, 1.0),
    (0.16, 0.1, 1.0),
    (0.32, 0.74, 1.0),
    (0.28, 0.86, 1.0),
    (0.08, 0.9, 1.0),
    (0.4, 0.25, 2.0),
    (0.2, 0.15, 2.0),
    (0.36, 0.58, 2.0),
    (0.12, 0.82, 2.0),
    (0.86, 0.2, 3.0),
    (0.6, 0.3, 3.0),
    (0.74, 0.4, 3.0),
    (0.78, 0.62, 4.0),
    (0.9, 0.78, 4.0),
    (0.7, 0.66, 4.0),
    (0.82, 0.94, 4.0),
    (0.65, 0.7, 4.0),
];

/// The names of the two features.
pub(super) const NAMES: [&str; 2] = ["x1", "x2"];

/// A note on the coordinates.
pub(super) const OWN_COORDINATES: &str =
    "the slide's picture is lost; coordinates are our own, labels and parts those of the slide";

/// The points as data of one query.
pub(super) fn data() -> Result<Dataset, TaskError> {
    let data = Dataset::builder()
        .dense(POINTS.map(|point| [point.0, point.1]).concat(), 2)
        .feature_names(NAMES)
        .query_ids(POINTS.map(|_| "points"))
        .labels(POINTS.map(|point| point.2));
    Ok(data.build()?)
}

/// The points for a chart.
pub(super) fn plotted() -> Vec<((f64, f64), f64)> {
    POINTS.iter().map(|(x, y, label)| ((decimal(*x), decimal(*y)), *label)).collect()
}

/// A number of few digits with 64 bits: 0.1 and not 0.10000000149.
pub(super) fn decimal(value: f32) -> f64 {
    (f64::from(value) * 1e6).round() / 1e6
}

/// A model trained on data.
pub(super) fn trained(learner: &str, data: &Dataset) -> Result<Model, TaskError> {
    Ok(LearnerSpec::parse(learner)?.train(TrainRequest::new(data))?.model)
}

/// The trees of a model.
pub(super) fn ensemble(model: &Model) -> Result<&Ensemble, TaskError> {
    match model.body() {
        ModelBody::Trees(ensemble) => Ok(ensemble),
        other => Err(TaskError::NoTrees { kind: other.name() }),
    }
}
