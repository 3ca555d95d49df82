//! Runs a search: rung by rung, trial by trial, with finished trials kept in a log. A trial is the
//! learner with one set of parameters; a rung trains some of the trials for a number of rounds.

use std::fmt::Debug;
use std::path::PathBuf;

use rankwright_data::Dataset;
use rankwright_eval::compare::Better;
use rankwright_model::ScoreOptions;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::error::TuneError;
use super::evaluate::TrialTraining;
use super::log::Log;
use super::plan::{TuneData, TunePlan};
use super::trial::{Trial, TrialValues, best_first};
use super::trial_comparison::{TrialComparison, compare_trials};
use crate::error::LearnError;
use crate::session::checkpoint::fingerprint;
use crate::session::{NoProgress, Progress, ValidationSet};

/// Receives the progress events of a search, and those of each training.
pub trait TuneProgress: Progress {
    /// Called before a trial is trained for at most `limit` rounds, or completely if that is
    /// `None`.
    fn trial_started(&self, _trial: usize, _limit: Option<usize>) {}

    /// Called when a trial is finished, or was found in the log.
    fn trial_finished(&self, _trial: &Trial, _from_log: bool) {}
}

impl TuneProgress for NoProgress {}

/// Data and options of a search.
#[non_exhaustive]
pub struct TuneJob<'a> {
    /// Training data.
    pub train: &'a Dataset,
    /// Validation data, if trials are evaluated on it; `None` if they are evaluated by cross
    /// validation.
    pub valid: Option<ValidationSet<'a>>,
    /// Options for matching validation data with the training data's features, and the instruction
    /// set.
    pub features: ScoreOptions,
    /// The file that keeps finished trials; if it is the log of this same search, the search
    /// resumes. `None` to keep trials in memory only.
    pub log: Option<PathBuf>,
    /// The folder of checkpoints during training; nothing is left there at the end. `None` for no
    /// checkpoints.
    pub folder: Option<PathBuf>,
    /// Receives progress events.
    pub progress: &'a dyn TuneProgress,
}

impl<'a> TuneJob<'a> {
    /// A search on this training data, with defaults for everything else.
    pub fn new(train: &'a Dataset) -> Self {
        let features = ScoreOptions::default();
        Self { train, valid: None, features, log: None, folder: None, progress: &NoProgress }
    }

    /// Sets the validation data, for a search evaluated on it.
    #[must_use]
    pub fn validation(mut self, set: impl Into<Option<ValidationSet<'a>>>) -> Self {
        self.valid = set.into();
        self
    }

    /// Sets the options for matching the features of validation data, and the instruction set.
    #[must_use]
    pub fn features(mut self, options: ScoreOptions) -> Self {
        self.features = options;
        self
    }

    /// Sets the file that keeps finished trials.
    #[must_use]
    pub fn log(mut self, file: impl Into<Option<PathBuf>>) -> Self {
        self.log = file.into();
        self
    }

    /// Sets the folder of checkpoints.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<Option<PathBuf>>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Sets the receiver of progress events, which may also cancel.
    #[must_use]
    pub fn progress(mut self, progress: &'a dyn TuneProgress) -> Self {
        self.progress = progress;
        self
    }
}

impl Debug for TuneJob<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TuneJob").field("log", &self.log).field("folder", &self.folder).finish()
    }
}

/// The result of a search.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TuneResult {
    /// Every trial as far as it was trained, the best first: those trained completely, then those
    /// with fewer rounds, and last those that failed.
    pub trials: Vec<Trial>,
    /// The best trial against trial 0 (the learner as given); `None` if either has no value, or
    /// they are the same.
    pub vs_trial_0: Option<TrialComparison>,
    /// Number of finished trainings; successive halving may train a trial several times.
    #[serde(rename = "done")]
    pub trainings_done: usize,
    /// Number of these trainings that the log already had.
    #[serde(rename = "found")]
    pub found_in_log: usize,
    /// False if the search was cancelled before its end.
    pub finished: bool,
}

impl TuneResult {
    /// The best of the trials that were trained completely.
    pub fn best(&self) -> Option<&Trial> {
        self.trials.first().filter(|trial| trial.value.is_some() && trial.limit.is_none())
    }

    /// Trial 0, if it was trained completely.
    pub fn trial_0(&self) -> Option<&Trial> {
        self.trials.iter().find(|trial| trial.trial == 0 && trial.limit.is_none())
    }
}

impl TunePlan {
    /// Runs the search, or resumes it.
    pub fn run(&self, job: &TuneJob<'_>) -> Result<TuneResult, LearnError> {
        let valid = job.valid.as_ref().filter(|_| self.settings.evaluated_on == TuneData::Valid);
        let sets = [Some(job.train), valid.map(|set| set.data)];
        let checksum = |data: &Dataset| format!("{:016x}", fingerprint(data, ""));
        let data: Vec<String> = sets.into_iter().flatten().map(checksum).collect();
        let mut identity = self.identity();
        identity.extend(["training data", "validation data"].into_iter().zip(data.clone()));
        let log = match &job.log {
            Some(path) => Log::open(path, &identity)?,
            None => Log::in_memory(),
        };
        let search_id = xxh3_64(format!("{identity:?}").as_bytes());
        let better = self.measure.metric().better();
        let found_in_log = 0;
        let mut search =
            TrialSearch { plan: self, job, data, search_id, better, log, found_in_log };
        let finished = search.run()?;
        if finished && let Some(folder) = &job.folder {
            // A folder that holds other files stays.
            let _ = std::fs::remove_dir(folder);
        }
        search.result(finished)
    }
}

/// A search while it runs.
struct TrialSearch<'a> {
    plan: &'a TunePlan,
    job: &'a TuneJob<'a>,
    /// Checksums of the training data and, if it is used, the validation data.
    data: Vec<String>,
    /// Identifies the search in the names of checkpoints.
    search_id: u64,
    /// Whether higher or lower values of the metric are better.
    better: Better,
    log: Log,
    /// Number of trainings found in the log.
    found_in_log: usize,
}

impl<'a> TrialSearch<'a> {
    /// Runs all rungs; false if the search was cancelled.
    fn run(&mut self) -> Result<bool, LearnError> {
        let mut active: Vec<usize> = (0..self.plan.specs().len()).collect();
        let rungs = self.plan.rungs();
        let mut previous_rounds = None;
        for (number, rung) in rungs.iter().enumerate() {
            for trial in &active {
                if !self.run_trial(*trial, rung.rounds, previous_rounds)? {
                    return Ok(false);
                }
            }
            if let Some(next) = rungs.get(number + 1) {
                let survivors = self.survivors(&active, rung.rounds, next.trials);
                for dropped in active.iter().filter(|trial| !survivors.contains(trial)) {
                    self.training(*dropped, rung.rounds, previous_rounds).delete_checkpoints();
                }
                active = survivors;
            }
            previous_rounds = rung.rounds;
        }
        Ok(true)
    }

    /// The training of a trial on one rung, given the rounds of the rung before.
    fn training(
        &self,
        trial: usize,
        limit: Option<usize>,
        previous_rounds: Option<usize>,
    ) -> TrialTraining<'a> {
        let previous_rounds = previous_rounds.unwrap_or(0);
        TrialTraining {
            plan: self.plan,
            job: self.job,
            trial,
            limit,
            previous_rounds,
            search_id: self.search_id,
        }
    }

    /// Runs one trial on one rung; false if the search was cancelled.
    fn run_trial(
        &mut self,
        trial: usize,
        limit: Option<usize>,
        previous_rounds: Option<usize>,
    ) -> Result<bool, LearnError> {
        let training = self.training(trial, limit, previous_rounds);
        if let Some(found) = self.log.find(trial, limit) {
            let from_log = true;
            self.found_in_log += 1;
            self.job.progress.trial_finished(found, from_log);
            return Ok(true);
        }
        if self.job.progress.should_stop() {
            return Ok(false);
        }
        self.job.progress.trial_started(trial, limit);
        let finished = match self.known_result(trial, limit, previous_rounds) {
            Some(known) => known,
            None => match training.run() {
                Some(result) => Trial { data: self.data.clone(), ..result },
                None => return Ok(false),
            },
        };
        let from_log = false;
        self.job.progress.trial_finished(&finished, from_log);
        self.log.add(finished)?;
        let boosted = self.plan.specs()[trial].boosting().is_some();
        // Boosted trees continue on the next rung from their checkpoint; others start again.
        if limit.is_none() || !boosted {
            training.delete_checkpoints();
        }
        Ok(true)
    }

    /// The result of a trial that needs no training: the same learner was trained before, or this
    /// trial stopped early on the rung before, so that more rounds change nothing. `None` if the
    /// trial must be trained.
    fn known_result(
        &self,
        trial: usize,
        limit: Option<usize>,
        previous_rounds: Option<usize>,
    ) -> Option<Trial> {
        let spec = &self.plan.specs()[trial];
        let text = spec.to_string();
        let same_learner = |other: &&Trial| other.spec == text && other.limit == limit;
        let same_learner = self.log.trials().iter().find(same_learner);
        let stopped = || {
            let last = previous_rounds.and_then(|rounds| self.log.find(trial, Some(rounds)))?;
            let stopped_early = spec.boosting().is_some() && last.trained < last.limit;
            Some(last).filter(|last| stopped_early && last.trained.is_some())
        };
        let known = same_learner.or_else(stopped)?;
        let seconds = if known.trial == trial { known.seconds } else { 0.0 };
        let same_as = Some(known.trial);
        let result = TrialValues { trial, limit, seconds, same_as, ..known.result.clone() };
        Some(Trial { result, ..known.clone() })
    }

    /// The trials that continue on the next rung, in the order of their numbers: the best, and
    /// trial 0.
    fn survivors(&self, active: &[usize], limit: Option<usize>, count: usize) -> Vec<usize> {
        let finished = active.iter().filter_map(|trial| self.log.find(*trial, limit));
        let finished = finished.filter(|trial| trial.value.is_some());
        let mut survivors: Vec<usize> = Vec::new();
        for trial in best_first(finished, self.better) {
            if trial.trial == 0 || survivors.iter().filter(|other| **other != 0).count() < count {
                survivors.push(trial.trial);
            }
        }
        survivors.sort_unstable();
        survivors
    }

    /// The result of the search; `finished` is false if the search was cancelled.
    fn result(self, finished: bool) -> Result<TuneResult, LearnError> {
        let mut trials = Vec::new();
        let mut not_listed: Vec<usize> = (0..self.plan.specs().len()).collect();
        for rung in self.plan.rungs().iter().rev() {
            let done = not_listed.iter().filter_map(|trial| self.log.find(*trial, rung.rounds));
            let sorted = best_first(done.filter(|trial| trial.error.is_none()), self.better);
            not_listed.retain(|trial| !sorted.iter().any(|done| done.trial == *trial));
            trials.extend(sorted.into_iter().cloned());
        }
        let failed = self.log.trials().iter().filter(|trial| trial.error.is_some());
        trials.extend(failed.filter(|trial| not_listed.contains(&trial.trial)).cloned());
        // A log may also hold trials of a longer search.
        let is_of_plan = |trial: &&Trial| {
            let on_rung = self.plan.rungs().iter().any(|rung| rung.rounds == trial.limit);
            on_rung && trial.trial < self.plan.specs().len()
        };
        let trainings_done = self.log.trials().iter().filter(is_of_plan).count();
        let mut result = TuneResult {
            trials,
            vs_trial_0: None,
            trainings_done,
            found_in_log: self.found_in_log,
            finished,
        };
        if finished && result.best().is_none() {
            let failed = |trial: &Trial| Some((trial.trial, trial.error.clone()?));
            let invariant = "a finished search without a value has a trial that failed";
            // A trial that failed on the last rung may have a value of an earlier one.
            let (trial, error) = self
                .log
                .trials()
                .iter()
                .find_map(failed)
                .ok_or(LearnError::Internal { invariant })?;
            return Err(TuneError::AllFailed { trial, error }.into());
        }
        if let (Some(best), Some(trial_0)) = (result.best(), result.trial_0())
            && best.trial != 0
        {
            result.vs_trial_0 = compare_trials(best, trial_0, self.better)?;
        }
        Ok(result)
    }
}
