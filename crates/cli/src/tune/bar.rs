//! The progress bar of a parameter search: position, the best so far, time left.
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

pub(super) struct TuneBar<'a> {
    bar: ProgressBar,
    out: &'a Output,
    plan: &'a TunePlan,
    interrupt: Interrupt,
    /// Number of trainings of a trial.
    parts: usize,
    state: Mutex<BarState>,
}

#[derive(Default)]
struct BarState {
    /// Rounds of finished trials.
    done: f64,
    trial: usize,
    /// Rounds of the current trial, for each training.
    cost: f64,
    /// Number of the current training of the trial, from 1.
    part: usize,
    best: Option<(usize, f64)>,
}

impl<'a> TuneBar<'a> {
    pub(super) fn new(out: &'a Output, plan: &'a TunePlan, interrupt: Interrupt) -> Self {
        let parts = match plan.settings().evaluated_on {
            TuneData::Valid => 1,
            TuneData::Folds { count, .. } => count,
        };
        let bar = ProgressBar::with_draw_target(None, out.progress());
        bar.set_style(style(TRIALS));
        let all = Self { bar, out, plan, interrupt, parts, state: Mutex::default() };
        let rungs = plan.rungs().iter();
        let length: f64 = rungs.map(|rung| rung.trials as f64 * all.cost(0, rung.rounds)).sum();
        all.bar.set_length((length * parts as f64) as u64);
        all.bar.enable_steady_tick(Duration::from_millis(120));
        all
    }

    /// Rounds of one training of a trial. Boosted trees continue from the previous rung.
    fn cost(&self, trial: usize, limit: Option<usize>) -> f64 {
        let Some(spec) = self.plan.specs().get(trial) else { return 1.0 };
        let Some((most, _)) = spec.rounds() else { return 1.0 };
        let continues = spec.boosting().is_some() && self.parts == 1;
        let rungs = self.plan.rungs();
        let rung = rungs.iter().position(|rung| rung.rounds == limit).unwrap_or(0);
        let before = rung.checked_sub(1).and_then(|at| rungs.get(at)?.rounds);
        let before = before.filter(|_| continues).unwrap_or(0);
        limit.unwrap_or(most).saturating_sub(before).max(1) as f64
    }

    fn state(&self) -> MutexGuard<'_, BarState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, state: &BarState) {
        let best = match state.best {
            Some((trial, value)) => {
                format!("  best {} {value:.4} (trial {trial})", self.plan.measure())
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
        self.state().part += 1;
    }

    fn round_finished(&self, history: &TrainingHistory) {
        let state = self.state();
        let most = self.plan.specs().get(state.trial).and_then(|spec| spec.rounds());
        let most = most.map_or(1, |(most, _)| most).max(1) as f64;
        let part = state.part.saturating_sub(1) as f64 * state.cost;
        let within = (history.iterations.len() as f64).min(most).min(state.cost);
        let all = state.cost * self.parts as f64;
        self.bar.set_position((state.done + (part + within).min(all)) as u64);
    }

    fn should_stop(&self) -> bool {
        self.interrupt.is_requested()
    }
}

impl TuneProgress for TuneBar<'_> {
    fn trial_started(&self, trial: usize, limit: Option<usize>) {
        let cost = self.cost(trial, limit);
        let mut state = self.state();
        (state.trial, state.cost, state.part) = (trial, cost, 0);
        self.show(&state);
    }

    fn trial_finished(&self, trial: &Trial, found: bool) {
        let cost = self.cost(trial.trial, trial.limit);
        let mut state = self.state();
        state.done += cost * self.parts as f64;
        if let Some(value) = trial.value {
            let better = self.plan.measure().metric().better();
            let wins = state.best.is_none_or(|(_, most)| match better {
                Better::Higher => value > most,
                Better::Lower => value < most,
            });
            if wins {
                state.best = Some((trial.trial, value));
            }
        }
        self.bar.set_position(state.done as u64);
        if found {
            // Steps that took no time give no information about the time left.
            self.bar.reset_eta();
        }
        if let Some(error) = &trial.error {
            let note = format!("trial {} ({}) failed: {error}", trial.trial, trial.spec);
            self.bar.suspend(|| self.out.note(note));
        }
        self.show(&state);
    }
}
