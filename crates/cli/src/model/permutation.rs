//! Permutation importance: how much worse a metric gets when the values of one feature are
//! exchanged among all rows (Breiman, Random Forests, 2001, section 10).
//!
//! The feature's column is shuffled as a whole, across queries, `repeats` times with orders drawn
//! from (seed, feature, repeat) alone, so that neither threads nor the other features change a
//! digit. The loss is `value - value with the shuffled column` (the other way round for metrics
//! where less is better); its mean and its standard deviation over the repeats are told. A feature
//! that the data lacks loses exactly 0. Cost: features x repeats x (scoring + evaluating), in
//! parallel over features.

use rankwright::data::{Dataset, Random};
use rankwright::eval::compare::Better;
use rankwright::eval::{Measure, ScoredDataset};
use rankwright::model::{Model, ScoreOptions};
use rayon::prelude::*;

use crate::failure::Failure;

/// The loss of the metric for each feature that the model uses.
pub(crate) struct Permutation {
    /// The measure.
    pub(crate) measure: Measure,
    /// Its value on the data as it is.
    pub(crate) value: f64,
    /// Feature number and the loss of each repeat, by feature.
    pub(crate) losses: Vec<(usize, Vec<f64>)>,
}

/// What to shuffle, and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) repeats: usize,
    pub(crate) seed: u64,
    pub(crate) options: ScoreOptions,
}

impl Permutation {
    pub(crate) fn new(
        model: &Model,
        data: &Dataset,
        measure: Measure,
        plan: Plan,
    ) -> Result<Permutation, Failure> {
        let value = value_of(data, &model.score(data, plan.options)?, &measure)?;
        if value.is_nan() {
            return Err(Failure::request(format!(
                "{measure} has no value: no query of the data counts under {}",
                measure.convention()
            )));
        }
        let losses: Result<Vec<_>, Failure> = model
            .used_features()
            .into_par_iter()
            .map(|feature| {
                let loss = |repeat| {
                    let order = shuffled(data.rows(), feature, repeat, plan);
                    let scores = model.score_permuted(data, plan.options, feature, &order)?;
                    let changed = value_of(data, &scores, &measure)?;
                    Ok(match measure.metric().better() {
                        Better::Lower => changed - value,
                        _ => value - changed,
                    })
                };
                Ok((feature, (0..plan.repeats).map(loss).collect::<Result<_, Failure>>()?))
            })
            .collect();
        Ok(Permutation { measure, value, losses: losses? })
    }

    /// Mean and standard deviation of a feature's loss; no deviation for one repeat.
    pub(crate) fn of(&self, feature: usize) -> Option<(f64, Option<f64>)> {
        let at = self.losses.binary_search_by_key(&feature, |(feature, _)| *feature).ok()?;
        let losses = &self.losses[at].1;
        let n = losses.len() as f64;
        let mean = losses.iter().sum::<f64>() / n;
        let squares: f64 = losses.iter().map(|loss| (loss - mean) * (loss - mean)).sum();
        Some((mean, (losses.len() > 1).then(|| (squares / (n - 1.0)).sqrt())))
    }
}

fn shuffled(rows: usize, feature: usize, repeat: usize, plan: Plan) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    let stream = (feature as u64) << 32 | repeat as u64;
    Random::new(plan.seed, stream).shuffle(&mut order);
    order
}

fn value_of(data: &Dataset, scores: &[f64], measure: &Measure) -> Result<f64, Failure> {
    let found = ScoredDataset::new(data, scores)?.evaluate(std::slice::from_ref(measure))?;
    Ok(found.results.first().map_or(f64::NAN, |result| result.value))
}
