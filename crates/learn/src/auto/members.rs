//! The members of the blend: means of fold models, or models trained on all queries but those of
//! one fold.

use rankwright_data::Dataset;
use rankwright_data::split::folds;
use rankwright_model::{Linear, Model, ModelBody};

use super::choice::Choice;
use crate::ensemble::bagging::mean_of_trees;
use crate::error::LearnError;
use crate::session::{NestedTraining, TrainRequest, ValidationSet};

impl Choice<'_> {
    /// The members of the blend: for each candidate with a weight, the mean of its fold models.
    pub(super) fn fold_members(
        &mut self,
        weights: &[f64],
    ) -> Result<Vec<(f64, Model)>, LearnError> {
        let mut members = Vec::new();
        for (candidate, weight) in self.candidates.iter_mut().zip(weights) {
            if *weight > 0.0 {
                let models = std::mem::take(&mut candidate.models);
                members.extend(weighted_mean(models, *weight)?);
            }
        }
        Ok(members)
    }

    /// The members of the blend, trained on the queries of all folds but one; that fold is the
    /// validation data which chooses the number of rounds. The returned bool is false if training
    /// was cancelled; then later members are missing.
    pub(super) fn members_of_all(
        &self,
        weights: &[f64],
        pool: &Dataset,
        nested: &mut NestedTraining<'_>,
        request: &TrainRequest<'_>,
    ) -> Result<(Vec<(f64, Model)>, bool), LearnError> {
        let fold = folds(pool.queries(), self.folds.len(), request.seed)?.swap_remove(0);
        let mut queries = [fold.train, fold.test].concat();
        queries.sort_unstable();
        let (train, valid) = (pool.select_queries(&queries)?, pool.select_queries(&fold.valid)?);
        let mut members = Vec::new();
        for (candidate, weight) in self.candidates.iter().zip(weights) {
            if *weight == 0.0 {
                continue;
            }
            let mut member_request = nested.request(&train);
            member_request.valid = vec![ValidationSet::new("held out", &valid)];
            let (model, finished) = nested.train(&candidate.learner, member_request)?;
            members.push((*weight, model));
            if !finished {
                return Ok((members, false));
            }
        }
        Ok((members, true))
    }
}

/// The models of one learner as members that share the weight: trees and linear models become one
/// model, the mean of all.
fn weighted_mean(models: Vec<Model>, weight: f64) -> Result<Vec<(f64, Model)>, LearnError> {
    let count = models.len() as f64;
    let header = models.first().map(|model| model.header().clone());
    let header = header.ok_or(LearnError::Internal { invariant: "a member has fold models" })?;
    if models.iter().all(|model| matches!(model.body(), ModelBody::Trees(_))) {
        let body = ModelBody::Trees(mean_of_trees(models)?);
        return Ok(vec![(weight, Model::new(header, body)?)]);
    }
    let linear = |model: &Model| match model.body() {
        ModelBody::Linear(linear) => Some(linear.clone()),
        _ => None,
    };
    let all: Option<Vec<Linear>> = models.iter().map(linear).collect();
    if let Some(all) = all {
        let columns = header.features.len();
        let mean = |column: usize| all.iter().map(|one| one.weights()[column]).sum::<f64>() / count;
        let bias = all.iter().map(Linear::bias).sum::<f64>() / count;
        let body = ModelBody::Linear(Linear::new(bias, (0..columns).map(mean).collect())?);
        return Ok(vec![(weight, Model::new(header, body)?)]);
    }
    Ok(models.into_iter().map(|model| (weight / count, model)).collect())
}
