//! The candidates on the data by which they are chosen: trained fold by fold, and dropped if they
//! are worse than others or if there is no time for them.
//!
//! With a time limit (`minutes=`), candidates are trained on the first fold in their order until two
//! fifths of the time are spent; those that were not begun are dropped. Of the others, the best ones
//! are kept, as far as their trainings on the other folds fit into the rest of the time; the very
//! best one is kept in any case. Time is the sum of the seconds of the trainings, which checkpoints
//! record, so that a resumed training decides as before.

use rankwright_data::Dataset;
use rankwright_data::split::Fold;
use rankwright_model::{Model, Normalise};

use super::candidate::{CandidateLearner, LearnerFamily};
use super::plan::AutoPlan;
use crate::ensemble::target::TargetMetric;
use crate::error::LearnError;
use crate::session::{NestedTraining, TrainRequest, ValidationSet};

/// The share of the time in which candidates are begun on the first fold.
const FIRST_FOLD_SHARE: f64 = 0.4;

/// The candidates, and the data and folds by which they are chosen.
pub(super) struct Choice<'a> {
    pub(super) data: &'a Dataset,
    pub(super) target: TargetMetric<'a>,
    pub(super) folds: Vec<Fold>,
    pub(super) candidates: Vec<CandidateLearner>,
}

impl Choice<'_> {
    /// Trains all candidates on the first fold and the better ones on the others. Returns false if
    /// training was cancelled.
    pub(super) fn train(
        &mut self,
        nested: &mut NestedTraining<'_>,
        request: &TrainRequest<'_>,
        plan: &AutoPlan,
    ) -> Result<bool, LearnError> {
        for number in 0..self.folds.len() {
            let running = self.candidates.iter().filter(|candidate| candidate.is_running()).count();
            let students = usize::from(plan.is_distilled);
            nested.planned = Some(nested.done() + running * (self.folds.len() - number) + students);
            let limit =
                plan.seconds.filter(|_| number == 0).map(|seconds| seconds * FIRST_FOLD_SHARE);
            if !self.train_fold(number, nested, request, limit)? {
                return Ok(false);
            }
            nested.leaders = self.leaders()?;
            if number == 0 && plan.halve {
                self.drop_worse_half()?;
            }
            if let (0, Some(seconds)) = (number, plan.seconds) {
                self.drop_by_time(seconds - nested.seconds(), plan)?;
            }
        }
        if self.candidates.iter().any(CandidateLearner::is_running) {
            return Ok(true);
        }
        let failure = self.candidates.iter_mut().find_map(|candidate| candidate.failure.take());
        Err(failure.unwrap_or(LearnError::Internal {
            invariant: "the best candidate of the first fold is not dropped",
        }))
    }

    /// Trains the running candidates for one fold, and scores its test queries. Candidates that are
    /// not begun within the limit are dropped, except the first one that can be trained.
    fn train_fold(
        &mut self,
        number: usize,
        nested: &mut NestedTraining<'_>,
        request: &TrainRequest<'_>,
        limit: Option<f64>,
    ) -> Result<bool, LearnError> {
        let fold = &self.folds[number];
        let [train, valid, test] =
            [&fold.train, &fold.valid, &fold.test].map(|queries| self.data.select_queries(queries));
        let (train, valid, test) = (train?, valid?, test?);
        // If there are few queries, perhaps no query for validation has a metric value.
        let can_validate = request.metrics.first().is_none_or(|metric| {
            let values = crate::session::validation::values(
                &valid,
                &vec![0.0; valid.rows()],
                std::slice::from_ref(metric),
            );
            values.is_ok_and(|values| values.iter().all(|value| !value.is_nan()))
        });
        let mut has_model = false;
        for candidate in self.candidates.iter_mut().filter(|candidate| candidate.is_running()) {
            if has_model && limit.is_some_and(|limit| nested.seconds() >= limit) {
                candidate.is_dropped = true;
                continue;
            }
            let mut fold_request = nested.request(&train);
            if can_validate {
                let name = format!("fold {}", number + 1);
                fold_request.valid = vec![ValidationSet::new(name, &valid)];
            }
            fold_request.seed = request.seed.wrapping_add(number as u64);
            let before = nested.seconds();
            let model = match nested.train(&candidate.learner, fold_request) {
                Ok((model, false)) => {
                    // Even a training that is cancelled at once shall return a model.
                    candidate.models.push(model);
                    return Ok(false);
                }
                Ok((model, true)) => model,
                Err(error) if error.is_about_data() => {
                    candidate.failure = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            candidate.seconds += nested.seconds() - before;
            let scores = standard_scores(&model, &test, request)?;
            candidate.scores.resize(self.data.rows(), 0.0);
            let rows = fold.test.iter().flat_map(|query| self.data.query_rows(*query));
            rows.zip(scores).for_each(|(row, score)| candidate.scores[row] = score);
            candidate.models.push(model);
            has_model = true;
        }
        Ok(true)
    }

    /// The mean of the metric for each ranking (a score for every row), over the queries whose flag
    /// in `is_used` is true; higher is better.
    pub(super) fn totals(
        &self,
        is_used: Vec<bool>,
        rankings: &[&[f64]],
    ) -> Result<Vec<f64>, LearnError> {
        let fill = |query: usize, ranking: usize, scores: &mut [f64]| {
            scores.copy_from_slice(&rankings[ranking][self.data.query_rows(query)]);
        };
        self.target.restricted_to(is_used).totals(rankings.len(), fill)
    }

    /// For each query, whether it is one of these.
    pub(super) fn flags(&self, queries: &[usize]) -> Vec<bool> {
        let mut flags = vec![false; self.data.queries()];
        queries.iter().for_each(|query| flags[*query] = true);
        flags
    }

    /// The running candidates, the best one on the first fold first; `None` if no test query of
    /// this fold has a metric value.
    fn running_by_value(&self) -> Result<Option<Vec<usize>>, LearnError> {
        let running: Vec<usize> = (0..self.candidates.len())
            .filter(|index| self.candidates[*index].is_running())
            .collect();
        let rankings: Vec<&[f64]> =
            running.iter().map(|index| self.candidates[*index].scores.as_slice()).collect();
        let values = self.totals(self.flags(&self.folds[0].test), &rankings)?;
        if values.iter().any(|value| value.is_nan()) {
            return Ok(None);
        }
        let mut order: Vec<usize> = (0..running.len()).collect();
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        Ok(Some(order.into_iter().map(|position| running[position]).collect()))
    }

    /// The specs of the trained candidates with their metric on the first fold, the best one first.
    fn leaders(&self) -> Result<Vec<(String, f64)>, LearnError> {
        let trained: Vec<&CandidateLearner> =
            self.candidates.iter().filter(|candidate| !candidate.models.is_empty()).collect();
        let rankings: Vec<&[f64]> =
            trained.iter().map(|candidate| candidate.scores.as_slice()).collect();
        let values = self.totals(self.flags(&self.folds[0].test), &rankings)?;
        let mut leaders: Vec<(String, f64)> =
            trained.iter().map(|candidate| candidate.text.clone()).zip(values).collect();
        leaders.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(leaders)
    }

    /// Drops the half of the candidates that is worse on the first fold, except the best of each
    /// family.
    fn drop_worse_half(&mut self) -> Result<(), LearnError> {
        let Some(order) = self.running_by_value()? else { return Ok(()) };
        let better_half = order.len().div_ceil(2);
        let mut families = Vec::new();
        for (rank, index) in order.into_iter().enumerate() {
            let candidate = &mut self.candidates[index];
            let family = LearnerFamily::of(&candidate.learner);
            let is_best_of_family = !families.contains(&family);
            families.push(family);
            candidate.is_dropped = rank >= better_half && !is_best_of_family;
        }
        Ok(())
    }

    /// Goes through the candidates, the best on the first fold first, and drops those whose
    /// trainings on the other folds do not fit into what is left of these seconds. The best one is
    /// kept in any case.
    fn drop_by_time(&mut self, seconds: f64, plan: &AutoPlan) -> Result<(), LearnError> {
        let Some(order) = self.running_by_value()? else { return Ok(()) };
        let mut remaining_seconds = seconds;
        for (rank, index) in order.into_iter().enumerate() {
            let candidate = &mut self.candidates[index];
            let needed = candidate.seconds * plan.trainings_after_first_fold();
            candidate.is_dropped = rank > 0 && needed > remaining_seconds;
            if candidate.is_running() {
                remaining_seconds -= needed;
            }
        }
        Ok(())
    }
}

/// The scores of a model, standardised within each query.
fn standard_scores(
    model: &Model,
    data: &Dataset,
    request: &TrainRequest<'_>,
) -> Result<Vec<f64>, LearnError> {
    let mut scores = model.score(data, request.features)?;
    for query in 0..data.queries() {
        Normalise::Standard.apply(&mut scores[data.query_rows(query)]);
    }
    Ok(scores)
}
