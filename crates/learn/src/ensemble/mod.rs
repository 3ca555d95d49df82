//! Learners that combine many parts or find weights for a metric: boosted weak rankers, coordinate
//! ascent, SVM-map, forests and bags of trees.
//!
//! [`rankboost`] boosts thresholds of features with weighted pairs, [`adarank`] boosts single
//! features with weighted queries; [`svmmap`] is a linear model with a margin in average precision;
//! [`coordinate`] maximises the metric itself. [`forest`] averages trees, [`bagging`] averages
//! ensembles of boosted trees. [`target`] computes the metric that is maximised, for many rankings
//! at once, and [`steps`] for rankings that differ from the current one by one column
//! ([`step_order`] finds their best rows); [`coordinate_search`] searches for weights that maximise
//! the metric, [`columns`] stores the features for that search; blends use [`target`],
//! [`coordinate_search`] and [`columns`]. [`float_state`] is the state of a training in a
//! checkpoint, for learners whose state is a list of floats.

mod adarank;
pub(crate) mod bagging;
pub(crate) mod columns;
mod coordinate;
pub(crate) mod coordinate_search;
pub(crate) mod float_state;
mod forest;
mod rankboost;
mod step_order;
pub(crate) mod steps;
mod svmmap;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod test_support;

use rankwright_data::Dataset;
use rankwright_model::{ModelBody, Transforms};
use rayon::prelude::*;

use self::columns::QueryColumns;
use self::target::TargetMetric;
use crate::error::LearnError;
use crate::linear::fold_transforms;
use crate::session::TrainResult;
use crate::transform::{TransformParams, any_missing, transformed};

pub use adarank::{AdaRank, AdaRankOptions, AdaRankParams, Directions};
pub use bagging::{Bagging, BaggingOptions, BaggingParams};
pub use coordinate::{CoordinateAscent, CoordinateAscentOptions, CoordinateAscentParams};
pub use forest::{ForestOptions, ForestParams, RandomForest};
pub(crate) use rankboost::PAIR_EXPONENTIAL;
pub use rankboost::{RankBoost, RankBoostOptions, RankBoostParams};
pub use svmmap::{SvmMap, SvmMapOptions, SvmMapParams};

crate::learner::learners![RankBoost, AdaRank, SvmMap, CoordinateAscent, RandomForest, Bagging];

/// The transformed features of the training data of a linear model.
#[derive(Debug)]
struct TransformedData {
    transforms: Transforms,
    /// Transformed values, row by row; empty if they are stored by column instead.
    values: Vec<f32>,
    columns: usize,
    /// Whether the data has missing values.
    missing: bool,
}

impl TransformedData {
    /// Fits the transform and applies it to all rows; data without features is an error.
    fn new(transform: &TransformParams, data: &Dataset) -> Result<Self, LearnError> {
        let mut fitted = Self::fit(transform, data)?;
        fitted.values = transformed(data, &fitted.transforms);
        Ok(fitted)
    }

    /// Fits the transform, and stores the transformed values by column, in the places of a target
    /// metric; data without features is an error.
    fn by_column(
        transform: &TransformParams,
        target: &TargetMetric<'_>,
    ) -> Result<(Self, QueryColumns<f32>), LearnError> {
        let data = target.data();
        let fitted = Self::fit(transform, data)?;
        let apply = |column: usize, values: &mut [f32]| {
            fitted.transforms.apply_to_column(column, values);
        };
        let (rows, width) = (data.matrix().values(), fitted.columns);
        let columns = QueryColumns::transformed(target.layout(), rows, width, apply);
        Ok((fitted, columns))
    }

    /// Fits the transform.
    fn fit(transform: &TransformParams, data: &Dataset) -> Result<Self, LearnError> {
        if data.columns() == 0 {
            return Err(LearnError::NoFeatures);
        }
        let transforms = transform.fit(data)?;
        let (values, columns, missing) = (Vec::new(), data.columns(), any_missing(data));
        Ok(Self { transforms, values, columns, missing })
    }

    /// The weighted sum of each row, in the order of the columns.
    fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let score = |row: &[f32]| {
            let terms = row.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
            terms.fold(0.0, |sum, (value, weight)| sum + weight * f64::from(*value))
        };
        self.values.par_chunks(self.columns.max(1)).map(score).collect()
    }

    /// The linear model of these weights of transformed features. It has no bias, which would
    /// change no ranking.
    fn model(&self, weights: &[f64]) -> Result<ModelBody, LearnError> {
        fold_transforms::model(&self.transforms, weights, 0.0, self.missing)
    }

    /// Adds the weights of the linear model to the history.
    fn with_weights(&self, mut result: TrainResult) -> TrainResult {
        result.history.weights = fold_transforms::weights(result.model.body(), &self.transforms);
        result
    }
}
