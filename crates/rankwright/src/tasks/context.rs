//! Progress, warnings and cancellation of a task.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

#[cfg(feature = "clicks")]
use rankwright_clicks::log::LogProgress;
use rankwright_data::Warnings;
#[cfg(feature = "experiment")]
use rankwright_experiment::ExperimentProgress;
use rankwright_model::simd::Simd;
#[cfg(feature = "search")]
use rankwright_search::SearchWarning;

#[cfg(feature = "search")]
use super::IndexProgress;
#[cfg(feature = "train")]
use super::TrainingProgress;
use super::{TaskError, Warning};

/// Callbacks and settings of a task; the default has none.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use rankwright::tasks::Context;
///
/// let stop = AtomicBool::new(false);
/// let show = |step: &str| eprintln!("{step}...");
/// let context = Context::default().on_step(&show).cancel(&stop);
/// # let _ = context;
/// ```
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    step: Option<&'a (dyn Fn(&str) + Sync)>,
    warning: Option<&'a (dyn Fn(&Warning) + Sync)>,
    cancel: Option<&'a AtomicBool>,
    #[cfg(feature = "train")]
    pub(super) training: Option<&'a dyn TrainingProgress>,
    #[cfg(feature = "search")]
    indexing: Option<&'a (dyn Fn(&IndexProgress) + Sync)>,
    #[cfg(feature = "clicks")]
    log: Option<&'a (dyn Fn(&LogProgress) + Sync)>,
    #[cfg(feature = "experiment")]
    pub(super) experiment: Option<&'a dyn ExperimentProgress>,
    simd: Simd,
}

impl<'a> Context<'a> {
    /// Calls this at the start of each step, with a phrase such as `reading train.txt`.
    pub fn on_step(mut self, callback: &'a (dyn Fn(&str) + Sync)) -> Self {
        self.step = Some(callback);
        self
    }

    /// Calls this with each warning when it arises; the result lists all of them again.
    pub fn on_warning(mut self, callback: &'a (dyn Fn(&Warning) + Sync)) -> Self {
        self.warning = Some(callback);
        self
    }

    /// Ends the task once this flag is set: before its next step, and within steps that take long.
    /// The error is [`TaskError::Cancelled`]; that of a training says what was saved.
    pub fn cancel(mut self, flag: &'a AtomicBool) -> Self {
        self.cancel = Some(flag);
        self
    }

    /// Sends the events of trainings here.
    #[cfg(feature = "train")]
    pub fn training(mut self, progress: &'a dyn TrainingProgress) -> Self {
        self.training = Some(progress);
        self
    }

    /// Calls this during the build of an index, after each batch of documents.
    #[cfg(feature = "search")]
    pub fn on_indexing(mut self, callback: &'a (dyn Fn(&IndexProgress) + Sync)) -> Self {
        self.indexing = Some(callback);
        self
    }

    /// Calls this while a click log is read.
    #[cfg(feature = "clicks")]
    pub fn on_log(mut self, callback: &'a (dyn Fn(&LogProgress) + Sync)) -> Self {
        self.log = Some(callback);
        self
    }

    /// Sends the events of an experiment here; its steps go to [`on_step`](Self::on_step) as well.
    #[cfg(feature = "experiment")]
    pub fn experiment(mut self, progress: &'a dyn ExperimentProgress) -> Self {
        self.experiment = Some(progress);
        self
    }

    /// Announces a step to the caller.
    pub(super) fn announce(&self, step: &str) {
        if let Some(callback) = self.step {
            callback(step);
        }
    }

    #[cfg(feature = "search")]
    pub(super) fn report_indexing(&self, progress: &IndexProgress) {
        if let Some(callback) = self.indexing {
            callback(progress);
        }
    }

    #[cfg(feature = "clicks")]
    pub(super) fn report_log(&self, progress: &LogProgress) {
        if let Some(callback) = self.log {
            callback(progress);
        }
    }

    /// Sets the SIMD instruction set to use; results do not depend on it.
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Whether the caller asked to cancel the task.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("cancelled", &self.is_cancelled())
            .field("simd", &self.simd)
            .finish_non_exhaustive()
    }
}

/// A running task: its context, and the warnings so far.
pub(super) struct RunningTask<'a> {
    context: &'a Context<'a>,
    warnings: Vec<Warning>,
}

impl<'a> RunningTask<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        RunningTask { context, warnings: Vec::new() }
    }

    /// Announces a step and runs it; returns its result and the seconds that it took.
    pub(super) fn step<T, E: Into<TaskError>>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, f64), TaskError> {
        if self.context.is_cancelled() {
            return Err(TaskError::Cancelled);
        }
        self.context.announce(name);
        let start = Instant::now();
        let result = work().map_err(Into::into)?;
        Ok((result, start.elapsed().as_secs_f64()))
    }

    /// Sends a warning to the caller's callback, and keeps it for the result.
    pub(super) fn warn(&mut self, warning: Warning) {
        if let Some(callback) = self.context.warning {
            callback(&warning);
        }
        self.warnings.push(warning);
    }

    /// Keeps a warning for the result without calling the caller's callback.
    pub(super) fn keep_silently(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Emits the warnings of a reader or writer of data.
    pub(super) fn warn_of(&mut self, warnings: &Warnings) {
        warnings.iter().for_each(|warning| self.warn(Warning::Data(warning.clone())));
    }

    /// Emits the warnings of an index, of features or of a ranking.
    #[cfg(feature = "search")]
    pub(super) fn warn_of_search(&mut self, warnings: Vec<SearchWarning>) {
        warnings.into_iter().for_each(|warning| self.warn(Warning::Search(warning)));
    }

    #[cfg(any(feature = "train", feature = "clicks", feature = "search"))]
    pub(super) fn context(&self) -> &'a Context<'a> {
        self.context
    }

    pub(super) fn simd(&self) -> Simd {
        self.context.simd
    }

    /// Warnings so far.
    #[cfg(feature = "train")]
    pub(super) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    pub(super) fn into_warnings(self) -> Vec<Warning> {
        self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_raised_flag_ends_a_task_before_its_next_step() {
        let flag = AtomicBool::new(false);
        let context = Context::default().cancel(&flag);
        let running = RunningTask::new(&context);
        assert_eq!(running.step("one", || Ok::<_, TaskError>(7)).unwrap().0, 7);
        flag.store(true, Ordering::Relaxed);
        let error = running.step("two", || Ok::<_, TaskError>(7)).unwrap_err();
        assert!(matches!(error, TaskError::Cancelled));
    }

    #[test]
    fn steps_and_warnings_reach_their_callbacks_and_warnings_are_kept() {
        let seen = Mutex::new(Vec::new());
        let step = |name: &str| seen.lock().unwrap().push(name.to_owned());
        let warn = |warning: &Warning| seen.lock().unwrap().push(warning.to_string());
        let context = Context::default().on_step(&step).on_warning(&warn);
        let mut running = RunningTask::new(&context);
        running.step("reading a", || Ok::<_, TaskError>(())).unwrap();
        running.warn(Warning::FeaturesOfWeights);
        assert_eq!(running.into_warnings().len(), 1);
        let seen = seen.lock().unwrap();
        assert_eq!(seen[0], "reading a");
        assert!(seen[1].starts_with("there is no data"), "{seen:?}");
    }
}
