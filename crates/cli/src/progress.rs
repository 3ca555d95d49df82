//! What is seen on standard error while work takes a while; nothing where that is no terminal.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rankwright::learn::{LearnError, LearnerSpec, Progress, TrainingHistory};
use rankwright::tasks::{Context, TaskError, Warning};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;

/// Runs `work` under a spinner that says what is going on; gives its result and the seconds.
pub(crate) fn timed<T>(out: &Output, what: &str, work: impl FnOnce() -> T) -> (T, f64) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if !out.quiet {
        bar.set_style(ProgressStyle::default_spinner());
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
    }
    let start = Instant::now();
    let result = work();
    bar.finish_and_clear();
    (result, start.elapsed().as_secs_f64())
}

/// Runs a task of the library: its steps are shown by a spinner, its warnings as notes.
pub(crate) fn run_task<T>(
    out: &Output,
    task: impl FnOnce(&Context<'_>) -> Result<T, TaskError>,
) -> Result<T, Failure> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if !out.quiet {
        bar.set_style(ProgressStyle::default_spinner());
        bar.enable_steady_tick(Duration::from_millis(120));
    }
    let step = |name: &str| bar.set_message(name.to_owned());
    let warn = |warning: &Warning| bar.suspend(|| out.note(warning.to_string()));
    let context = Context::default().on_step(&step).on_warning(&warn).simd(crate::simd()?);
    let result = task(&context);
    bar.finish_and_clear();
    Ok(result?)
}

/// A bar of trees or other rounds: how many of how many, the metric that decides, rows a second,
/// time left.
pub(crate) struct TrainingBar<'a> {
    bar: ProgressBar,
    out: &'a Output,
    interrupt: &'a Interrupt,
    /// Where a training that goes on is found.
    checkpoint: Option<PathBuf>,
    /// What stands before the numbers.
    label: String,
    rows: usize,
    /// TrainingBar at most, and what they are called.
    most: usize,
    unit: &'static str,
    /// Why the checkpoint that Ctrl-C asked for is not there.
    unsaved: Mutex<Option<String>>,
}

impl<'a> TrainingBar<'a> {
    pub(crate) fn new(
        out: &'a Output,
        learner: &LearnerSpec,
        rows: usize,
        interrupt: &'a Interrupt,
        checkpoint: Option<PathBuf>,
    ) -> Self {
        let target = match out.quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_message(match learner.boosting() {
            Some(_) => "sorting features into bins",
            None => "training",
        });
        bar.enable_steady_tick(Duration::from_millis(120));
        let (most, unit) = learner.rounds().unwrap_or((0, "round"));
        let label = learner.def().name.to_owned();
        let unsaved = Mutex::default();
        Self { bar, out, interrupt, checkpoint, label, rows, most, unit, unsaved }
    }

    /// Why the last checkpoint of an interrupted training could not be written; none where it was.
    pub(crate) fn unsaved(&self) -> Option<String> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for TrainingBar<'_> {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Progress for TrainingBar<'_> {
    fn checkpoint_failed(&self, error: &LearnError) {
        if self.interrupt.asked() {
            let mut unsaved = self.unsaved.lock().unwrap_or_else(PoisonError::into_inner);
            *unsaved = Some(error.to_string());
            return;
        }
        let note = format!("the checkpoint was not saved, training goes on: {error}");
        self.bar.suspend(|| self.out.note(note));
    }

    fn started(&self, _record: &TrainingHistory, done: usize) {
        let text = format!("{{bar:24}} {} {{pos}}/{{len}}  {{msg}}  {{eta}} left", self.unit);
        if let Ok(style) = ProgressStyle::with_template(&text) {
            self.bar.set_style(style);
        }
        self.bar.set_length(self.most as u64);
        self.bar.set_position(done as u64);
        self.bar.reset_eta();
        self.bar.set_message(self.label.clone());
        if let (Some(path), true) = (&self.checkpoint, done > 0) {
            let note = format!("going on after {} {done}, from {}", self.unit, path.display());
            self.bar.suspend(|| self.out.note(note));
        }
    }

    fn round_finished(&self, history: &TrainingHistory) {
        let done = history.iterations.len();
        let speed = (self.rows * done) as f64 / history.train_seconds.max(1e-9);
        let mut text = format!("{}  {} rows/s", self.label, short(speed));
        // The training data comes first where it is watched, but validation decides.
        let decides = usize::from(history.sets.first().is_some_and(|set| set == "training"));
        let values = history.iterations.last().map(|round| &round.values);
        let value = values.and_then(|sets| sets.get(decides).or(sets.first())?.first());
        if let (Some(metric), Some(value)) = (history.metrics.first(), value) {
            text = format!("{text}  {metric} {value:.4}");
        }
        self.bar.set_message(text);
        self.bar.set_position(done as u64);
    }

    fn should_stop(&self) -> bool {
        self.interrupt.asked()
    }
}

/// A large number in few letters.
fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1}G", n / 1e9),
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e3 => format!("{:.0}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
