//! Partial dependence: the mean score of documents as one feature is set to each of several values
//! (Friedman, *Greedy function approximation*, 2001, section 8.2), and the curve of each document
//! (individual conditional expectation: Goldstein et al., *Peeking inside the black box*, 2015).
//!
//! The values are quantiles of the feature in the data, so that most of them lie where documents
//! are; equal quantiles count once. If a score depends on the other documents of its query, one
//! document at a time is changed and the others stay. Cost: documents x values x scoring (x
//! documents of the query, if a score depends on them). A feature that is missing everywhere has no
//! values and an empty curve.

use rankwright_data::Dataset;
use rankwright_spec::{check_params, params};
use rayon::prelude::*;

use super::ExplainOptions;
use super::error::ExplainError;
use super::table::sample;
use crate::engine::ScoreBuffers;
use crate::error::ModelError;
use crate::model::Model;

params! {
    /// Options of a partial dependence.
    #[derive(Copy, Eq)]
    pub struct DependenceOptions {
        points: usize = 30, 1..=10_000, "Maximum number of values of the feature.";
        documents: usize = 500, 1..,
            "Maximum number of documents in the means; if the data has more, they are chosen by seed.";
        curves: usize = 0, 0..=100,
            "Number of curves of single documents in each partial dependence.";
    }
}

impl DependenceOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The partial dependence of scores on one feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// The number of the feature in the model, from 0.
    pub feature: usize,
    /// The name of the feature.
    pub name: String,
    /// The values that the feature was set to, ascending.
    pub values: Vec<f32>,
    /// The text of each of these values if the feature is a category, the number itself for a value
    /// that is the number of no text; empty otherwise.
    pub texts: Vec<String>,
    /// The mean score at each of these values.
    pub means: Vec<f64>,
    /// The mean score with the feature set to missing; `None` if it is missing in no document.
    pub missing: Option<f64>,
    /// The number of documents in the means.
    pub documents: usize,
    /// For some documents the row, and the score at each of `values`.
    pub curves: Vec<(usize, Vec<f64>)>,
}

impl Model {
    /// The partial dependence of a data set's scores on a feature, given by its number in the
    /// model.
    pub fn dependence(
        &self,
        data: &Dataset,
        feature: usize,
        dependence: DependenceOptions,
        options: ExplainOptions,
    ) -> Result<Dependence, ExplainError> {
        options.check()?;
        check_params(&dependence, "dependence")?;
        let features = self.header().features.len();
        if feature >= features {
            return Err(ModelError::NoSuchFeature { feature, features }.into());
        }
        let name = self.header().features.name(feature).into_owned();
        let (data, matching) = self.prepared(data, options.matching)?;
        let data = &*data;
        let Some(column) = matching.column(feature) else {
            return Err(ExplainError::NoColumn { feature: name });
        };
        let (values, any_missing) = grid(data, column, dependence.points);
        // The values that the feature is set to; the last may be a missing value.
        let mut settings = values.clone();
        if any_missing {
            settings.push(f32::NAN);
        }
        let scorer = self.scorer_for(data.features(), options.matching.into())?;
        let query_of_rows = data.query_of_rows();
        let rows = sample(data.rows(), dependence.documents, options.seed);
        let curve = |buffers: &mut ScoreBuffers, &row: &usize| -> Result<Vec<f64>, ExplainError> {
            // The rows that are scored together.
            let list_rows = match scorer.is_listwise() {
                true => data.query_rows(query_of_rows[row] as usize),
                false => row..row + 1,
            };
            let columns = data.columns();
            let entries = list_rows.start * columns..list_rows.end * columns;
            let mut list = data.matrix().values()[entries].to_vec();
            let mut scores = vec![0.0; list_rows.len()];
            let position = row - list_rows.start;
            let mut curve = Vec::with_capacity(settings.len());
            for value in &settings {
                list[position * columns + column] = *value;
                scorer.score_query(&list, &mut scores, buffers)?;
                curve.push(scores[position]);
            }
            Ok(curve)
        };
        let curves = rows.par_iter().map_init(ScoreBuffers::default, curve);
        let mut curves: Vec<Vec<f64>> = curves.collect::<Result<_, _>>()?;
        let mut means = mean_curve(&curves, settings.len());
        let missing = if any_missing { means.pop() } else { None };
        curves.truncate(dependence.curves);
        curves.iter_mut().for_each(|curve| curve.truncate(values.len()));
        let documents = rows.len();
        let curves = rows.into_iter().zip(curves).collect();
        let text = |value: &f32| self.header().category_text(feature, *value);
        let text_or_number = |value| text(value).map_or_else(|| value.to_string(), str::to_owned);
        let texts = match values.iter().any(|value| text(value).is_some()) {
            true => values.iter().map(text_or_number).collect(),
            false => Vec::new(),
        };
        Ok(Dependence { feature, name, values, texts, means, missing, documents, curves })
    }
}

/// At most `points` quantiles of a column, all different, and whether the column has missing
/// values.
fn grid(data: &Dataset, column: usize, points: usize) -> (Vec<f32>, bool) {
    let all = (0..data.rows()).map(|row| data.matrix().get(row, column));
    let mut values: Vec<f32> = all.filter(|value| !value.is_nan()).collect();
    let any_missing = values.len() < data.rows();
    // -0 becomes 0.
    values.iter_mut().for_each(|value| *value += 0.0);
    values.sort_unstable_by(f32::total_cmp);
    let mut different = values.clone();
    different.dedup();
    if different.len() <= points {
        return (different, any_missing);
    }
    let last = values.len() - 1;
    let steps = points.saturating_sub(1).max(1);
    let mut quantiles: Vec<f32> = (0..points).map(|i| values[i * last / steps]).collect();
    quantiles.dedup();
    (quantiles, any_missing)
}

/// The mean over curves at each of their points.
fn mean_curve(curves: &[Vec<f64>], points: usize) -> Vec<f64> {
    let mut means = vec![0.0; points];
    for curve in curves {
        means.iter_mut().zip(curve).for_each(|(mean, score)| *mean += score);
    }
    let count = curves.len().max(1) as f64;
    means.iter_mut().for_each(|mean| *mean /= count);
    means
}
