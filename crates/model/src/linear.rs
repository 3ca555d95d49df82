//! A linear model: `score = bias + w_1 x_1 + w_2 x_2 + ...`, added in f64 in the order of the
//! features.
//!
//! A missing value (NaN) counts as 0 for any weight, and terms that are 0 are skipped. An infinite
//! term (by overflow, or of an infinite value) counts as the largest finite number, so that a score
//! is never NaN.
//!
//! Weights are written `22:0.03/72:0.06`: terms of a feature's name or id, a colon and the weight,
//! separated by slashes, so that they fit into a spec such as
//! `linear(bias=0, weights=22:0.03/72:0.06)`. The last colon of a term separates name and weight,
//! so names may contain colons.

use std::collections::BTreeSet;

use rankwright_data::FeatureNames;

use crate::error::{MAX_SHOWN_NAMES, ModelError, first_names};
use crate::problem::{ModelParameter, WeightsProblem};

/// A bias and one weight for each feature.
///
/// ```
/// use rankwright_model::Linear;
///
/// let weights = Linear::parse_weights("2:0.5/4:-1")?;
/// let names = Linear::names_of(&weights)?;
/// let linear = Linear::from_weights(&names, 1.0, &weights)?;
/// assert_eq!(linear.weights(), [0.0, 0.5, 0.0, -1.0]);
/// assert_eq!(linear.score_row(&[9.0, 2.0, 9.0, f32::NAN]), 2.0);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    bias: f64,
    weights: Vec<f64>,
}

/// The largest feature id that [`Linear::names_of`] accepts. It bounds memory: a model has a weight
/// for every id up to the largest.
const MAX_ID: u32 = 1 << 24;

impl Linear {
    /// A linear model of a bias and a weight for each feature; all must be finite.
    pub fn new(bias: f64, weights: Vec<f64>) -> Result<Linear, ModelError> {
        ModelError::check_finite(ModelParameter::Bias, bias)?;
        for (weight, &value) in weights.iter().enumerate() {
            ModelError::check_finite(ModelParameter::Weight { weight }, value)?;
        }
        Ok(Linear { bias, weights })
    }

    /// A linear model of the features `names`, with weights by feature name; features without an
    /// entry in `weights` get the weight 0.
    pub fn from_weights(
        names: &FeatureNames,
        bias: f64,
        weights: &[(String, f64)],
    ) -> Result<Linear, ModelError> {
        let mut all_weights = vec![0.0; names.len()];
        let mut unknown = Vec::new();
        let mut seen = BTreeSet::new();
        let fail = |problem| Err(ModelError::InvalidWeights(problem));
        for (name, weight) in weights {
            match names.column(name) {
                Some(column) if seen.insert(column) => all_weights[column] = *weight,
                Some(_) => return fail(WeightsProblem::Duplicate { feature: name.clone() }),
                None => unknown.push(name.as_str()),
            }
        }
        if !unknown.is_empty() {
            let known: Vec<_> = names.iter().take(MAX_SHOWN_NAMES).collect();
            return fail(WeightsProblem::UnknownFeatures {
                unknown: first_names(&unknown, unknown.len()),
                known: first_names(&known, names.len()),
                features: names.len(),
            });
        }
        Linear::new(bias, all_weights)
    }

    /// Reads weights written as `name:weight/name:weight`.
    pub fn parse_weights(text: &str) -> Result<Vec<(String, f64)>, ModelError> {
        text.split('/')
            .map(|term| {
                let parts = term.rsplit_once(':').map(|(name, number)| {
                    (name.trim(), number.trim().parse::<f64>().ok().filter(|w| w.is_finite()))
                });
                match parts {
                    Some((name, Some(weight))) if !name.is_empty() => Ok((name.to_owned(), weight)),
                    _ => {
                        let found = term.trim().to_owned();
                        Err(ModelError::InvalidWeights(WeightsProblem::Syntax { found }))
                    }
                }
            })
            .collect()
    }

    /// The features of a model with these weights: if all names are ids, the ids from 1 (or from 0,
    /// if 0 is among them) to the largest; otherwise the names, in their order.
    pub fn names_of(weights: &[(String, f64)]) -> Result<FeatureNames, ModelError> {
        let ids: Option<Vec<u32>> = weights.iter().map(|(name, _)| name.parse().ok()).collect();
        match ids.filter(|ids| !ids.is_empty()) {
            None => Ok(FeatureNames::Named(weights.iter().map(|(name, _)| name.clone()).collect())),
            Some(ids) => {
                let largest = ids.iter().copied().max().unwrap_or(0);
                if largest > MAX_ID {
                    let problem = WeightsProblem::IdTooLarge { id: largest, max_id: MAX_ID };
                    return Err(ModelError::InvalidWeights(problem));
                }
                let first = u32::from(!ids.contains(&0));
                Ok(FeatureNames::Ids { first, count: (largest + 1 - first) as usize })
            }
        }
    }

    /// The score of a row of zeros.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The weights in the order of the features.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The score of a row. A feature beyond the end of the row is missing.
    pub fn score_row(&self, row: &[f32]) -> f64 {
        self.weights
            .iter()
            .zip(row)
            .fold(self.bias, |sum, (&weight, &value)| add_term(sum, weight, value))
    }
}

/// Adds the term of one feature to the sum of a linear model.
pub(crate) fn add_term(sum: f64, weight: f64, value: f32) -> f64 {
    if weight == 0.0 || value == 0.0 || value.is_nan() {
        return sum;
    }
    sum + (weight * f64::from(value)).clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_count_0_and_no_score_is_nan() {
        let linear = Linear::new(1.0, vec![2.0, -3.0, 0.0]).unwrap();
        assert_eq!(linear.score_row(&[1.0, 1.0, 1.0]), 0.0);
        assert_eq!(linear.score_row(&[f32::NAN, 1.0, f32::INFINITY]), -2.0);
        assert_eq!(linear.score_row(&[]), 1.0);
        let opposite_terms = linear.score_row(&[f32::INFINITY, f32::INFINITY, 0.0]);
        assert!(!opposite_terms.is_nan(), "{opposite_terms}");
        let huge = Linear::new(0.0, vec![1e300; 2]).unwrap();
        assert_eq!(huge.score_row(&[1e30, 1e30]), f64::INFINITY);
    }

    #[test]
    fn weights_are_read_as_they_are_written() {
        let weights = Linear::parse_weights(" 22:0.03 / a:b:-1e-3").unwrap();
        assert_eq!(weights, [("22".to_owned(), 0.03), ("a:b".to_owned(), -0.001)]);
        let names = Linear::names_of(&weights).unwrap();
        assert_eq!(names, FeatureNames::Named(vec!["22".into(), "a:b".into()]));
        let linear = Linear::from_weights(&names, 0.0, &weights).unwrap();
        assert_eq!(linear.weights(), [0.03, -0.001]);
        for bad in ["", "22", "22:", ":1", "22:x", "22:1//3:1", "22:nan", "22:inf"] {
            let error = Linear::parse_weights(bad).unwrap_err().to_string();
            assert!(error.contains("22:0.03/72:0.06"), "{bad}: {error}");
        }
    }

    #[test]
    fn ids_alone_make_a_range_of_features() {
        let names = |text| Linear::names_of(&Linear::parse_weights(text).unwrap());
        assert_eq!(names("7:1/3:1").unwrap(), FeatureNames::Ids { first: 1, count: 7 });
        assert_eq!(names("7:1/0:1").unwrap(), FeatureNames::Ids { first: 0, count: 8 });
        assert!(names("4000000000:1").unwrap_err().to_string().contains("ids up to 16777216"));
        assert_eq!(Linear::names_of(&[]).unwrap().len(), 0);
    }

    #[test]
    fn unknown_and_repeated_names_are_refused() {
        let names = FeatureNames::Named(vec!["bm25".into(), "clicks".into()]);
        let linear = |text| {
            Linear::from_weights(&names, 0.0, &Linear::parse_weights(text).unwrap())
                .map_err(|error| error.to_string())
        };
        let error = linear("bm25:1/bm26:1/pr:2").unwrap_err();
        assert!(
            error.contains("unknown features: bm26, pr;") && error.contains("bm25, clicks"),
            "{error}"
        );
        assert!(linear("bm25:1/bm25:2").unwrap_err().starts_with("two weights for feature 'bm25'"));
        assert!(Linear::new(f64::INFINITY, vec![]).is_err());
    }
}
