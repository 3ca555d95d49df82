//! Learners that combine many parts or search for weights directly: boosted weak rankers,
//! coordinate ascent, forests and bags of trees.
//!
//! [`rankboost`] boosts thresholds of features with weighted pairs, [`adarank`] boosts single
//! features with weighted queries; [`svmmap`] is a linear model with a margin in average precision;
//! [`coordinate`] maximises the metric itself. [`forest`] averages trees, [`bagging`] averages
//! ensembles of boosted trees. [`target`] computes the metric that is maximised, for many rankings
//! at once, and [`steps`] for rankings that differ by one column; [`coordinate_search`] searches for
//! weights that maximise the metric, [`columns`] stores the features for that search; blends use all
//! four.

mod adarank;
pub(crate) mod bagging;
pub(crate) mod columns;
mod coordinate;
pub(crate) mod coordinate_search;
pub(crate) mod float_state;
mod forest;
mod rankboost;
pub(crate) mod steps;
mod svmmap;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod test_support;

use rankwright_data::Dataset;
use rankwright_model::{ModelBody, Transforms};
use rayon::prelude::*;

use self::columns::QueryColumns;
use crate::error::LearnError;
use crate::linear::fold;
use crate::session::TrainResult;
use crate::transform::{TransformParams, any_missing, transformed};

pub use adarank::{AdaRank, AdaRankOptions, AdaRankParams, Directions};
pub use bagging::{Bagging, BaggingOptions, BaggingParams};
pub use coordinate::{CoordinateAscent, CoordinateAscentOptions, CoordinateAscentParams};
pub use forest::{ForestOptions, ForestParams, RandomForest};
pub use rankboost::{RankBoost, RankBoostOptions, RankBoostParams};
pub use svmmap::{SvmMap, SvmMapOptions, SvmMapParams};

crate::learner::learners![RankBoost, AdaRank, SvmMap, CoordinateAscent, RandomForest, Bagging];

/// The transformed features of the training data of a linear model.
#[derive(Debug)]
struct TransformedData {
    transforms: Transforms,
    /// Transformed values, row by row.
    values: Vec<f32>,
    columns: usize,
    /// Whether the data has missing values.
    missing: bool,
}

impl TransformedData {
    /// Fits the transform and applies it to all rows; data without features is an error.
    fn new(transform: &TransformParams, data: &Dataset) -> Result<Self, LearnError> {
        if data.columns() == 0 {
            return Err(LearnError::NoFeatures);
        }
        let transforms = transform.fit(data)?;
        let values = transformed(data, &transforms);
        Ok(Self { transforms, values, columns: data.columns(), missing: any_missing(data) })
    }

    /// Takes the values out, stored by column for each query of the data.
    fn take_columns(&mut self, data: &Dataset) -> QueryColumns<f32> {
        QueryColumns::new(data, &std::mem::take(&mut self.values), self.columns)
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
        fold::model(&self.transforms, weights, 0.0, self.missing)
    }

    /// Adds the weights of the linear model to the history.
    fn with_weights(&self, mut result: TrainResult) -> TrainResult {
        result.history.weights = fold::weights(result.model.body(), &self.transforms);
        result
    }
}
