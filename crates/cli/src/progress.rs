//! Progress on standard error during longer work; nothing if it is not a terminal.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{BinaryBytes, ProgressBar, ProgressStyle};
use rankwright::clicks::log::LogProgress;
use rankwright::learn::simd::Simd;
use rankwright::learn::{LearnError, LearnerSpec, MemberStart, Progress, TrainingHistory};
use rankwright::spec::visible::one_line;
use rankwright::spec::words::counted;
use rankwright::tasks::{Context, TaskError, TrainingProgress, Warning};

use crate::advice::advice_on_warning;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, TRAINING_PART};
use crate::output::Output;

/// Template of the line of a parameter search.
pub(crate) const TRIALS: &str = "{bar:16} {eta} left  {wide_msg}";

/// Template of the line of an index that is built, or of a click log that is read.
pub(crate) const DOCUMENTS: &str =
    "{bar:16} {bytes}/{total_bytes}  {binary_bytes_per_sec}  {eta} left  {wide_msg}";

/// Template of the line of an experiment.
pub(crate) const CELLS: &str = "{bar:16} cell {pos}/{len}  {eta} left  {wide_msg}";

/// Runs a task of the library that has nothing to save when it is asked to end: a spinner shows its
/// steps, and its warnings are printed as notes.
pub(crate) fn run_task<T>(
    out: &Output,
    task: impl FnOnce(&Context<'_>) -> Result<T, TaskError>,
) -> Result<T, Failure> {
    let context = Context::default().cancel(Interrupt.flag());
    run_with_bar(out, context, &spinner(out), task)
}

/// Runs a task that trains: a bar shows the rounds, and a request to end lets it save.
pub(crate) fn run_training<T>(
    out: &Output,
    task: impl FnOnce(&Context<'_>) -> Result<T, TaskError>,
) -> Result<T, Failure> {
    let interrupt = Interrupt::after(TRAINING_PART);
    let bar = TrainingBar::hidden(out, interrupt);
    let context = Context::default().cancel(interrupt.flag()).training(&bar);
    run_with_bar(out, context, &bar.bar, task)
}

/// Runs a task with the progress bar of the caller.
pub(crate) fn run_with_bar<T>(
    out: &Output,
    context: Context<'_>,
    bar: &ProgressBar,
    task: impl FnOnce(&Context<'_>) -> Result<T, TaskError>,
) -> Result<T, Failure> {
    let step = |name: &str| {
        log::info!("{name}");
        bar.set_message(one_line(name).into_owned());
    };
    let warn = |warning: &Warning| {
        let advice = advice_on_warning(warning).map(|advice| format!("; {advice}"));
        let note = format!("{warning}{}", advice.unwrap_or_default());
        bar.suspend(|| out.note(note));
    };
    let log = |progress: &LogProgress| show_log_progress(bar, progress);
    let simd = Simd::from_environment()?;
    let result = task(&context.on_step(&step).on_warning(&warn).on_log(&log).simd(simd));
    bar.finish_and_clear();
    result.map_err(|error| match error {
        TaskError::Cancelled => Failure::Stopped,
        other => other.into(),
    })
}

/// Shows how much of a click log is read: a bar if its size is known.
fn show_log_progress(bar: &ProgressBar, progress: &LogProgress) {
    match progress {
        LogProgress::Reading { bytes, total: Some(total) } => {
            if bar.length() != Some(*total) {
                bar.set_style(style(DOCUMENTS));
                bar.set_length(*total);
            }
            bar.set_position(*bytes);
        }
        LogProgress::Reading { bytes, total: None } => {
            bar.set_message(format!("reading a log, {}", BinaryBytes(*bytes)));
        }
        LogProgress::Joining { impressions } => {
            end_log_bar(bar);
            bar.set_message(format!("joining clicks, {impressions} impressions"));
        }
        _ => end_log_bar(bar),
    }
}

/// Makes a bar of bytes a spinner again.
fn end_log_bar(bar: &ProgressBar) {
    if bar.length().is_some() {
        bar.unset_length();
        bar.set_style(spinner_style());
    }
}

fn spinner(out: &Output) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, out.progress());
    bar.set_style(spinner_style());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// A spinner with a message that is cut at the end of the line.
pub(crate) fn spinner_style() -> ProgressStyle {
    style("{spinner} {wide_msg}")
}

/// A style; messages (`{wide_msg}`) are cut at the end of the line, so that no line of progress is
/// wider than the terminal.
pub(crate) fn style(template: &str) -> ProgressStyle {
    // The templates are our own, and a test reads each of them.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A progress bar of trees or other rounds: rounds done of all rounds, the deciding metric, rows
/// per second, time left.
pub(crate) struct TrainingBar<'a> {
    bar: ProgressBar,
    out: &'a Output,
    interrupt: Interrupt,
    training: Mutex<Training>,
}

/// The current training.
#[derive(Default)]
struct Training {
    /// File of its checkpoint.
    checkpoint: Option<PathBuf>,
    /// Text before the numbers.
    label: String,
    /// Number of rows of the training data.
    rows: usize,
    max_rounds: usize,
    /// The name of a round: `tree`, `epoch`.
    unit: &'static str,
}

impl<'a> TrainingBar<'a> {
    /// A bar that is a spinner until a training begins.
    pub(crate) fn hidden(out: &'a Output, interrupt: Interrupt) -> Self {
        Self { bar: spinner(out), out, interrupt, training: Mutex::default() }
    }

    fn training(&self) -> MutexGuard<'_, Training> {
        self.training.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TrainingBar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl TrainingProgress for TrainingBar<'_> {
    fn begin(&self, learner: &LearnerSpec, rows: usize, checkpoint: Option<&Path>) {
        self.bar.set_message(match learner.boosting() {
            Some(_) => "sorting features into bins",
            None => "training",
        });
        let (max_rounds, unit) = learner.rounds().unwrap_or((0, "round"));
        let (label, checkpoint) = (learner.def().name.to_owned(), checkpoint.map(Path::to_owned));
        *self.training() = Training { checkpoint, label, rows, max_rounds, unit };
    }

    fn end(&self) {
        self.bar.unset_length();
        self.bar.set_style(spinner_style());
        self.bar.set_message("");
    }
}

impl Progress for TrainingBar<'_> {
    fn checkpoint_failed(&self, error: &LearnError) {
        // After an interruption, the error says what was saved.
        if !self.interrupt.is_requested() {
            let note = format!("the checkpoint was not saved, and training continues: {error}");
            self.bar.suspend(|| self.out.note(note));
        }
    }

    fn started(&self, _history: &TrainingHistory, done: usize) {
        let training = self.training();
        self.bar.set_style(style(&round_template(training.unit)));
        self.bar.set_length(training.max_rounds as u64);
        self.bar.set_position(done as u64);
        self.bar.reset_eta();
        self.bar.set_message(training.label.clone());
        if let (Some(path), true) = (&training.checkpoint, done > 0) {
            let note = format!("resuming after {} {done} from {}", training.unit, path.display());
            self.bar.suspend(|| self.out.note(note));
        }
        log::info!(
            "training {}: at most {}",
            training.label,
            counted(training.max_rounds, training.unit)
        );
    }

    fn member_started(&self, member: &MemberStart<'_>) {
        let text = member_text(member);
        log::info!("{text}");
        self.bar.set_message(one_line(&text).into_owned());
        if let Some(planned) = member.planned {
            self.bar.set_length(planned as u64);
        }
    }

    fn round_finished(&self, history: &TrainingHistory) {
        let training = self.training();
        let done = history.iterations.len();
        let speed = (training.rows * done) as f64 / history.train_seconds.max(1e-9);
        let mut text = format!("{}  {} rows/s", training.label, short_number(speed));
        // Without validation data, only set 0, the training data, may have a value.
        let shown_set = history.deciding_set().unwrap_or(0);
        let values = history.iterations.last().map(|round| &round.values);
        let value = values.and_then(|sets| sets.get(shown_set)?.first());
        if let (Some(metric), Some(value)) = (history.metrics.first(), value) {
            text = format!("{text}  {metric} {value:.4}");
        }
        let (unit, max_rounds) = (training.unit, training.max_rounds);
        // Ten rounds of a training are logged as information, the others for debugging.
        match done % max_rounds.div_ceil(10).max(1) {
            0 => log::info!("{unit} {done} of {max_rounds}: {text}"),
            _ => log::debug!("{unit} {done} of {max_rounds}: {text}"),
        }
        self.bar.set_message(text);
        self.bar.set_position(done as u64);
    }

    fn should_stop(&self) -> bool {
        self.interrupt.is_requested()
    }
}

/// The training within a training that begins, and the best candidates so far.
fn member_text(member: &MemberStart<'_>) -> String {
    let best: Vec<String> =
        member.leaders.iter().take(3).map(|(name, value)| format!("{name} {value:.4}")).collect();
    match best.is_empty() {
        true => member.learner.to_owned(),
        false => format!("{}; best so far: {}", member.learner, best.join(", ")),
    }
}

/// Template of the line of a training: the rounds and the time left, then the message, which is cut
/// at the end of the line.
fn round_template(unit: &str) -> String {
    format!("{{bar:16}} {unit} {{pos}}/{{len}}  {{eta}} left  {{wide_msg}}")
}

/// A large number in short form: `12k`, `3.4M`.
fn short_number(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1}G", n / 1e9),
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e3 => format!("{:.0}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    /// A terminal of 80 columns that keeps what is written.
    #[derive(Debug, Clone, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _n: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _n: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _n: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _n: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(&format!("{text}\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_line_of_progress_wraps_at_80_columns() {
        let long =
            "lambdamart  123M rows/s  ndcg(gain=linear, blank=0, preset=trec)@10 0.4321 and more";
        let spinner = "{spinner} {wide_msg}";
        let rounds = round_template("mini-batch");
        for template in [spinner, &rounds, TRIALS, CELLS, DOCUMENTS] {
            let screen = Screen::default();
            let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
            let bar = ProgressBar::with_draw_target(Some(5_000_000_000), target);
            bar.set_style(ProgressStyle::with_template(template).unwrap());
            bar.set_position(1_234_567_890);
            bar.set_message(long);
            bar.tick();
            let text = screen.0.lock().unwrap().trim_end().to_owned();
            assert!(!text.is_empty(), "{template}");
            assert!(text.lines().count() == 1 && text.chars().count() <= 80, "{template}: {text}");
        }
    }
}
