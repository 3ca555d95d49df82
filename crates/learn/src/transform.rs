//! Feature transforms of learners that are not trees, fitted on the training data.
//!
//! | `transform=` | value x becomes | a missing value |
//! |---|---|---|
//! | `auto` | `log-standard` if the feature exceeds -10..10, else `standard` | 0, the mean |
//! | `adapt` | x if all features lie within -1..1, else `log-standard` | 0 |
//! | `none` | x | 0 |
//! | `standard` | (x - mean) / standard deviation | 0, the mean |
//! | `min-max` | (x - min) / (max - min) over all training data | the mean |
//! | `query-min-max` | (x - min) / (max - min) within its query | 1/2 |
//! | `log` | sign(x) ln(1 + abs(x)) | 0 |
//! | `log-standard` | the log, standardised | 0, the mean |
//! | `rank` | the fraction of training values below it, plus half the fraction equal to it | 1/2 |
//! | `gauss` | the normal quantile of that fraction | 0, the median |
//!
//! `clip=C` limits values (after a log) to C standard deviations from the mean before anything
//! else; it is an error with `rank` and `gauss`, which do not need it. Infinite values of a feature
//! become its largest or smallest finite value. A feature that is constant in the training data
//! becomes 0 (`rank`: 1/2), except with `none` and `log`. Cost: one pass over the data, or two; for
//! ranks a sort of each feature.

mod quantiles;
mod stats;

use rankwright_data::Dataset;
use rankwright_model::{TransformStep, Transforms};
use rankwright_spec::{Conflict, above, choices, params};
use rayon::prelude::*;

use self::stats::Stats;
use crate::error::LearnError;

choices! {
    /// A transform of features.
    pub enum Transform {
        /// `log-standard` for features with a value beyond -10..10, else `standard`.
        Auto = "auto",
        /// `none` if all features lie within -1..1, else `log-standard`.
        Adapt = "adapt",
        /// The value as it is.
        None = "none",
        /// Standardised: mean 0, standard deviation 1.
        Standard = "standard",
        /// Scaled to 0..1 over all training data.
        MinMax = "min-max",
        /// Scaled to 0..1 within its query.
        QueryMinMax = "query-min-max",
        /// Signed logarithm.
        Log = "log",
        /// Signed logarithm, standardised.
        LogStandard = "log-standard",
        /// The fraction of training values below the value, plus half the fraction equal to it.
        Rank = "rank",
        /// The normal quantile of the fraction that `rank` gives.
        Gauss = "gauss",
    }
}

params! {
    /// Parameters of the transform of features.
    pub struct TransformParams, check = check {
        transform: Transform = Transform::Auto, .., "Transform of the features.";
        clip: Option<f64> = None, above(0.0),
            "Clip values at this number of standard deviations from the mean.";
    }
    /// Builder methods for the transform of features.
    pub trait TransformOptions: transform_params;
}

/// Rejects clipping of values that become ranks.
fn check(params: &TransformParams) -> Result<(), Conflict> {
    match params.clip.is_some() && matches!(params.transform, Transform::Rank | Transform::Gauss) {
        true => Err(Conflict::Incompatible {
            setting: "clip".to_owned(),
            other: "transform=rank or gauss".to_owned(),
            reason: "clipping has no effect on values that become ranks",
        }),
        false => Ok(()),
    }
}

/// The default search space for tuning transforms.
pub(crate) const TRANSFORM_SPACE: &str = "transform=choice(auto,standard,query-min-max,gauss)";

/// With `auto`, a feature that has a larger absolute value is replaced by its logarithms.
const MAX_WITHOUT_LOG: f64 = 10.0;

impl TransformParams {
    /// Fits the transforms to the values of a data set.
    pub(crate) fn fit(&self, data: &Dataset) -> Result<Transforms, LearnError> {
        if self.transform == Transform::Adapt {
            let is_small = |x: &f32| x.is_nan() || (-1.0..=1.0).contains(x);
            let all_small = data.matrix().values().par_iter().all(is_small);
            let transform = if all_small { Transform::None } else { Transform::LogStandard };
            return Self { transform, ..*self }.fit(data);
        }
        let columns = data.columns();
        let log = matches!(self.transform, Transform::Log | Transform::LogStandard);
        if self.transform == Transform::None && self.clip.is_none() && !stats::any_infinite(data) {
            return Ok(Transforms::identity(columns));
        }
        if matches!(self.transform, Transform::Rank | Transform::Gauss) {
            let gauss = self.transform == Transform::Gauss;
            return quantiles::fit(data, gauss);
        }
        // For each feature, its statistics, and whether these are of its logarithms.
        let mut all: Vec<(Stats, bool)> =
            stats::feature_stats(data, log, |_| true)?.into_iter().map(|s| (s, log)).collect();
        let is_large =
            |stats: &Stats| stats.max.max(-stats.min) > MAX_WITHOUT_LOG || stats.infinite;
        if self.transform == Transform::Auto && all.iter().any(|(stats, _)| is_large(stats)) {
            let log = true;
            let log_stats = stats::feature_stats(data, log, |column| is_large(&all[column].0))?;
            for (feature, log_stats) in all.iter_mut().zip(log_stats) {
                *feature = if is_large(&feature.0) { (log_stats, log) } else { *feature };
            }
        }
        let mut steps = Vec::with_capacity(columns);
        let mut missing = Vec::with_capacity(columns);
        for (stats, log) in &all {
            let (feature_steps, replacement) = self.steps(stats, *log);
            steps.push(feature_steps);
            missing.push(replacement);
        }
        let min_max_in_query = self.transform == Transform::QueryMinMax;
        Ok(Transforms::new(steps, missing, min_max_in_query)?)
    }

    /// The steps of a feature with these statistics (of its logarithms with `log`), and the
    /// replacement of its missing values.
    fn steps(&self, stats: &Stats, log: bool) -> (Vec<TransformStep>, f32) {
        let mut steps = Vec::new();
        if log {
            steps.push(TransformStep::SignedLog);
        }
        let max_distance = self.clip.map_or(f64::INFINITY, |c| c * stats.deviation());
        let low = stats.min.max(stats.mean - max_distance);
        let high = stats.max.min(stats.mean + max_distance);
        let needs_clip = low > stats.min || high < stats.max || stats.infinite;
        if needs_clip && low <= high {
            steps.push(TransformStep::Clip { low: low as f32, high: high as f32 });
        }
        let shift_and_width = match self.transform {
            Transform::Auto | Transform::Standard | Transform::LogStandard => {
                Some((stats.mean, stats.deviation()))
            }
            Transform::MinMax => Some((low, high - low)),
            _ => None,
        };
        let Some((shift, width)) = shift_and_width else {
            let replacement = if self.transform == Transform::QueryMinMax { 0.5 } else { 0.0 };
            return (steps, replacement);
        };
        // A feature that is constant in the training data must not change scores, even if it varies
        // in data that is scored later; a scale of 0 makes it 0.
        let scale = if high > low && width > 0.0 { 1.0 / width } else { 0.0 };
        let scale = scale.min(f64::from(f32::MAX)) as f32;
        steps.push(TransformStep::Affine { shift: shift as f32, scale });
        let transformed_mean = (stats.mean - shift) * f64::from(scale);
        (steps, if transformed_mean.is_finite() { transformed_mean as f32 } else { 0.0 })
    }
}

/// All rows transformed, query by query, on all threads: the values of one row after another.
pub(crate) fn transformed(data: &Dataset, transforms: &Transforms) -> Vec<f32> {
    let mut values = data.matrix().values().to_vec();
    let columns = data.columns();
    let mut remaining = &mut values[..];
    let mut queries = Vec::with_capacity(data.queries());
    for query in 0..data.queries() {
        let (query_values, later) = remaining.split_at_mut(data.query_rows(query).len() * columns);
        remaining = later;
        queries.push(query_values);
    }
    // At least 8 queries for a task: a single small query is less work than starting a task.
    queries.into_par_iter().with_min_len(8).for_each(|rows| transforms.apply(rows));
    values
}

/// Whether a value of the data is missing.
pub(crate) fn any_missing(data: &Dataset) -> bool {
    data.matrix().values().par_chunks(1 << 16).any(|part| part.iter().any(|x| x.is_nan()))
}

#[cfg(test)]
mod tests;
