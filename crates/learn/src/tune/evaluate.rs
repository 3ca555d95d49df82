//! Training and evaluation of one trial, on validation data or on folds.
//!
//! With successive halving, which trains in steps called rungs, boosted trees continue from the
//! rung before: a checkpoint holds all trees so far, and the result is the same as in one training.
//! Other learners are trained from the beginning on each rung (a net's learning rate depends on the
//! number of epochs), and so are all learners on folds. With a checkpoint folder, trainings
//! evaluated on validation data also save once a minute, and resume after an interruption.

use rankwright_eval::{Evaluation, ScoredDataset};
use rankwright_model::ModelBody;

use super::plan::{TuneData, TunePlan};
use super::search::TuneJob;
use super::trial::Trial;
use crate::error::LearnError;
use crate::learner::{CvOptions, LearnerSpec, cross_validate};
use crate::session::validation::measures_for;
use crate::session::{Checkpoints, Progress, TrainRequest, TrainResult};

/// One training of a trial.
pub(super) struct TrialTraining<'a> {
    pub(super) plan: &'a TunePlan,
    pub(super) job: &'a TuneJob<'a>,
    /// Number of the trial, from 0.
    pub(super) trial: usize,
    /// Maximum number of rounds on this rung; `None` to train completely.
    pub(super) limit: Option<usize>,
    /// Number of rounds of the rung before; 0 on the first rung.
    pub(super) previous_rounds: usize,
    /// Identifies the search in the names of checkpoints.
    pub(super) search_id: u64,
}

impl TrialTraining<'_> {
    /// Trains and evaluates; `None` if the search was cancelled. The error of a failed trial is
    /// stored in the trial.
    pub(super) fn run(&self) -> Option<Trial> {
        let mut trial = Trial { seed: self.plan.settings.seed, ..Trial::default() };
        trial.trial = self.trial;
        trial.limit = self.limit;
        trial.spec = self.plan.specs()[self.trial].to_string();
        let learner = self.plan.learner_with_limit(self.trial, self.limit);
        let evaluation = learner.and_then(|learner| match self.plan.settings.evaluated_on {
            TuneData::Valid => self.on_validation_data(&learner, &mut trial),
            TuneData::Folds { count, valid_part } => {
                self.on_folds(&learner, count, valid_part, &mut trial)
            }
        });
        match evaluation {
            Ok(None) => return None,
            Ok(Some(evaluation)) => store_evaluation(&mut trial, evaluation),
            Err(error) => trial.error = Some(error.to_string()),
        }
        Some(trial)
    }

    /// Trains once and evaluates on the validation data; `None` if the search was cancelled.
    fn on_validation_data(
        &self,
        learner: &LearnerSpec,
        trial: &mut Trial,
    ) -> Result<Option<Evaluation>, LearnError> {
        let valid = self
            .job
            .valid
            .clone()
            .ok_or_else(|| LearnError::MissingValidation { learner: learner.to_string() })?;
        let progress: &dyn Progress = self.job.progress;
        let request = TrainRequest::new(self.job.train)
            .validation_sets([valid.clone()])
            .metrics([self.plan.measure.clone()])
            .seed(self.plan.settings.seed)
            .features(self.job.features)
            .checkpoints(self.checkpoints(learner))
            .progress(progress)
            .simd(self.job.features.simd);
        let result = learner.train(request)?;
        if !result.finished {
            return Ok(None);
        }
        trial.seconds = result.history.bin_seconds + result.history.train_seconds;
        trial.trained = Some(result.history.iterations.len()).filter(|rounds| *rounds > 0);
        trial.rounds = rounds(&result);
        let scores = result.model.score(valid.data, self.job.features)?;
        let measures = measures_for(&result.model, std::slice::from_ref(&self.plan.measure))?;
        Ok(Some(ScoredDataset::new(valid.data, &scores)?.evaluate(&measures)?))
    }

    /// Cross-validates on the training data; `None` if the search was cancelled.
    fn on_folds(
        &self,
        learner: &LearnerSpec,
        folds: usize,
        valid_part: Option<f64>,
        trial: &mut Trial,
    ) -> Result<Option<Evaluation>, LearnError> {
        let options = CvOptions::new(vec![self.plan.measure.clone()])
            .folds(folds)
            .seed(self.plan.settings.seed)
            .valid_part(valid_part)
            .simd(self.job.features.simd)
            .progress(self.job.progress);
        let result = cross_validate(learner, self.job.train, &options)?;
        if !result.finished {
            return Ok(None);
        }
        let trees: usize = result.folds.iter().map(|fold| fold.trees).sum();
        trial.rounds = Some(trees as f64 / folds as f64).filter(|trees| *trees > 0.0);
        trial.seconds = result.folds.iter().map(|fold| fold.seconds).sum();
        Ok(Some(result.pooled))
    }

    /// The checkpoints that this training saves, and resumes from; `None` if it saves none.
    fn checkpoints(&self, learner: &LearnerSpec) -> Option<Checkpoints> {
        learner.rounds()?;
        let folder = self.job.folder.as_ref()?;
        let mut name = format!("{:016x}-{}", self.search_id, self.trial);
        let boosted = learner.boosting().is_some();
        // Boosted trees have one folder for all rungs, to continue from the rung before.
        let own_folder = self.limit.filter(|_| !boosted);
        if let Some(rounds) = own_folder {
            name = format!("{name}-{rounds}");
        }
        Some(Checkpoints {
            // Saves at the end of this rung, where the next one starts.
            every_rounds: self
                .limit
                .filter(|_| boosted)
                .map_or(0, |limit| limit.saturating_sub(self.previous_rounds)),
            every: Checkpoints::DEFAULT_INTERVAL,
            folder: folder.join(name),
        })
    }

    /// Deletes the checkpoints of this training, once nothing resumes from them.
    pub(super) fn delete_checkpoints(&self) {
        let learner = self.plan.learner_with_limit(self.trial, self.limit);
        if let Some(checkpoints) = learner.ok().and_then(|learner| self.checkpoints(&learner)) {
            // A checkpoint that cannot be deleted only costs disk space.
            let _ = checkpoints.remove();
        }
    }
}

/// Number of rounds in the model; `None` if there are none.
fn rounds(result: &TrainResult) -> Option<f64> {
    let count = match result.model.body() {
        ModelBody::Trees(ensemble) => ensemble.trees().len(),
        _ => match &result.history.kept {
            Some(kept) => kept.rounds,
            None => result.history.iterations.len(),
        },
    };
    Some(count as f64).filter(|count| *count > 0.0)
}

/// Stores the value of the metric in the trial, or an error if the metric has no value.
fn store_evaluation(trial: &mut Trial, evaluation: Evaluation) {
    let Some(result) = evaluation.results.into_iter().next() else {
        trial.error = Some(
            LearnError::Internal { invariant: "a trial is evaluated by one metric" }.to_string(),
        );
        return;
    };
    trial.value = Some(result.value).filter(|value| value.is_finite());
    trial.ci95 = result.ci95;
    trial.queries = result.queries;
    trial.convention = result.convention;
    trial.values = result.values;
    if trial.value.is_none() {
        trial.error = Some(format!("no query has a value for {}", result.measure));
    }
}
