//! The progress bar of a parameter search: position, the best trial so far, time left.
//!
//! Its length is the number of rounds of all trials together, over all folds; a trial of a learner
//! without rounds counts 1. The bar jumps ahead where a trial stops early.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::ProgressBar;
use rankwright::eval::compare::Better;
use rankwright::learn::tune::{Trial, TuneData, TunePlan, TuneProgress};
use rankwright::learn::{LearnError, Progress, TrainingHistory};

use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::{TRIALS, style};

/// The progress bar of a parameter search.
pub(super) struct TuneBar<'a> {
    bar: ProgressBar,
    out: &'a Output,
    plan: &'a TunePlan,
    interrupt: Interrupt,
    /// Number of trainings of a trial: one for each fold.
    trainings: usize,
    state: Mutex<BarState>,
}

#[derive(Default)]
struct BarState {
    /// Rounds of finished trials.
    done: f64,
    /// The current trial.
    trial: usize,
    /// Rounds of each training of the current trial.
    rounds: f64,
    /// Number of the current training of the trial, from 1.
    training: usize,
    /// Number and value of the best trial so far.
    best: Option<(usize, f64)>,
}

impl<'a> TuneBar<'a> {
    pub(super) fn new(out: &'a Output, plan: &'a TunePlan, interrupt: Interrupt) -> Self {
        let trainings = match plan.settings().evaluated_on {
            TuneData::Valid => 1,
            TuneData::Folds { count, .. } => count,
        };
        let bar = ProgressBar::with_draw_target(None, out.progress());
        bar.set_style(style(TRIALS));
        let this = Self { bar, out, plan, interrupt, trainings, state: Mutex::default() };
        let rungs = plan.rungs().iter();
        let rounds = rungs.map(|rung| rung.trials as f64 * this.rounds_of(0, rung.rounds));
        this.bar.set_length((rounds.sum::<f64>() * trainings as f64) as u64);
        this.bar.enable_steady_tick(Duration::from_millis(120));
        this
    }

    /// Rounds of one training of a trial, at most `limit`. Boosted trees continue from the previous
    /// rung of successive halving, unless they are trained on folds.
    fn rounds_of(&self, trial: usize, limit: Option<usize>) -> f64 {
        let Some(spec) = self.plan.specs().get(trial) else { return 1.0 };
        let Some((max_rounds, _)) = spec.rounds() else { return 1.0 };
        let continues = spec.boosting().is_some() && self.trainings == 1;
        let rungs = self.plan.rungs();
        let rung = rungs.iter().position(|rung| rung.rounds == limit).unwrap_or(0);
        let before = rung.checked_sub(1).and_then(|previous| rungs.get(previous)?.rounds);
        let before = before.filter(|_| continues).unwrap_or(0);
        limit.unwrap_or(max_rounds).saturating_sub(before).max(1) as f64
    }

    fn state(&self) -> MutexGuard<'_, BarState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the current trial and the best one.
    fn show(&self, state: &BarState) {
        let best = match state.best {
            Some((trial, value)) => {
                format!("  best {value:.4} (trial {trial})")
            }
            None => String::new(),
        };
        let last = self.plan.specs().len().saturating_sub(1);
        let text = format!("trial {} of {last}{best}", state.trial);
        log::info!("{text}");
        self.bar.set_message(text);
    }

    /// The bar on the terminal.
    pub(super) fn bar(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Progress for TuneBar<'_> {
    fn checkpoint_failed(&self, error: &LearnError) {
        let note =
            format!("the checkpoint of a trial was not saved, and training continues: {error}");
        self.bar.suspend(|| self.out.note(note));
    }

    fn started(&self, _history: &TrainingHistory, _done: usize) {
        self.state().training += 1;
    }

    fn round_finished(&self, history: &TrainingHistory) {
        let state = self.state();
        let max_rounds = self.plan.specs().get(state.trial).and_then(|spec| spec.rounds());
        let max_rounds = max_rounds.map_or(1, |(max_rounds, _)| max_rounds).max(1) as f64;
        let earlier_trainings = state.training.saturating_sub(1) as f64 * state.rounds;
        let this_training = (history.iterations.len() as f64).min(max_rounds).min(state.rounds);
        let trial_done =
            (earlier_trainings + this_training).min(state.rounds * self.trainings as f64);
        self.bar.set_position((state.done + trial_done) as u64);
    }

    fn should_stop(&self) -> bool {
        self.interrupt.is_requested()
    }
}

impl TuneProgress for TuneBar<'_> {
    fn trial_started(&self, trial: usize, limit: Option<usize>) {
        let rounds = self.rounds_of(trial, limit);
        let mut state = self.state();
        (state.trial, state.rounds, state.training) = (trial, rounds, 0);
        self.show(&state);
    }

    fn trial_finished(&self, trial: &Trial, from_log: bool) {
        let rounds = self.rounds_of(trial.trial, trial.limit);
        let mut state = self.state();
        state.done += rounds * self.trainings as f64;
        if let Some(value) = trial.value {
            let better = self.plan.measure().metric().better();
            let is_best = state.best.is_none_or(|(_, best)| match better {
                Better::Higher => value > best,
                Better::Lower => value < best,
            });
            if is_best {
                state.best = Some((trial.trial, value));
            }
        }
        self.bar.set_position(state.done as u64);
        if from_log {
            // Trials from the log took no time and tell nothing about the time left.
            self.bar.reset_eta();
        }
        if let Some(error) = &trial.error {
            let note = format!("trial {} ({}) failed: {error}", trial.trial, trial.spec);
            self.bar.suspend(|| self.out.note(note));
        }
        self.show(&state);
    }
}
