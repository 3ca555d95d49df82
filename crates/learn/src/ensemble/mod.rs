//! Learners made of many parts: weak rankers that are boosted, weights that are moved one by one,
//! forests and bags of trees.
//!
//! [`rankboost`] boosts thresholds on pairs, [`adarank`] features on queries; [`svmmap`] is a line
//! with a margin in average precision; [`coordinate`] climbs the metric itself. [`forest`] and
//! [`bagging`] average trees and ensembles. [`target`] computes a metric of many rankings,
//! [`climb`] moves weights by it; blends use both.

mod adarank;
mod bagging;
pub(crate) mod climb;
mod coordinate;
mod forest;
pub(crate) mod numbers;
mod rankboost;
mod svmmap;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod trials;

use rankwright_data::Dataset;
use rankwright_eval::{ParamInfo, Params};
use rankwright_model::{ModelBody, Transforms};
use rankwright_spec::SpecError;

use self::climb::Grid;
use crate::boost::BoostParams;
use crate::error::LearnError;
use crate::linear::fold;
use crate::session::TrainResult;
use crate::trainer::Validation;
use crate::transform::{TransformPlan, any_missing, transformed};

pub(crate) use adarank::{ADARANK_PARAMS, read_adarank};
pub(crate) use bagging::{BAGGING_PARAMS, read_bagging};
pub(crate) use coordinate::{COORDINATE_PARAMS, read_coordinate};
pub(crate) use forest::{FOREST_PARAMS, read_forest};
pub(crate) use rankboost::{RANKBOOST_PARAMS, read_rankboost};
pub(crate) use svmmap::{SVMMAP_PARAMS, read_svmmap};

/// A line of the tables of parameters.
pub(crate) const fn info(
    name: &'static str,
    doc: &'static str,
    default: &'static str,
) -> ParamInfo {
    ParamInfo { name, doc, default }
}

/// A whole number from 1 on.
pub(crate) fn from_one(params: &Params<'_>, key: &str, default: u32) -> Result<usize, SpecError> {
    let wrong = |text: &str| params.bad(key, text, "a whole number from 1 on");
    match params.text(key) {
        None => Ok(default as usize),
        Some(text) => match text.parse::<u32>() {
            Ok(number) if number > 0 => Ok(number as usize),
            _ => Err(wrong(text)),
        },
    }
}

/// `tolerance=`.
pub(crate) fn tolerance(params: &Params<'_>, default: f64) -> Result<f64, SpecError> {
    params.f64_in("tolerance", default, |x| x >= 0.0, "a number from 0 on")
}

/// What validation data is to boosted trees.
fn stopping(params: &BoostParams) -> Validation {
    if params.stop.is_some() { Validation::Needed } else { Validation::Ignored }
}

/// The training data as a line sees it.
#[derive(Debug)]
struct Inputs {
    transforms: Transforms,
    /// Transformed values, rows x columns.
    values: Vec<f32>,
    columns: usize,
    missing: bool,
}

impl Inputs {
    /// Fits the transform and applies it; data without features is refused.
    fn new(plan: TransformPlan, data: &Dataset) -> Result<Self, LearnError> {
        if data.columns() == 0 {
            return Err(LearnError::NoFeatures);
        }
        let transforms = plan.fit(data)?;
        let values = transformed(data, &transforms);
        Ok(Self { transforms, values, columns: data.columns(), missing: any_missing(data) })
    }

    fn grid(&self) -> Grid<'_, f32> {
        Grid::new(&self.values, self.columns)
    }

    /// The model of weights on transformed features; a bias would change no ranking.
    fn line(&self, weights: &[f64]) -> Result<ModelBody, LearnError> {
        fold::model(&self.transforms, weights, 0.0, self.missing)
    }

    /// Puts the weights of the line into the history.
    fn recorded(&self, mut result: TrainResult) -> TrainResult {
        result.history.weights = fold::weights(result.model.body(), &self.transforms);
        result
    }
}
