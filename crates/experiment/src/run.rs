//! Runs the pending cells of a plan, several at a time. A cell is one training run: data set x fold
//! x learner x seed.
//!
//! Each job has its own thread pool and takes the next pending cell until there is none. A failure
//! of a cell is recorded, and the other cells continue; a panic in a learner is such a failure. The
//! receiver of progress events can ask to stop: a training then ends after its current round; a
//! learner that trains in rounds writes a checkpoint first, from which a new run of the same
//! experiment resumes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rankwright_data::{DataError, Dataset, catch_panic};
use rankwright_eval::Measure;
use rankwright_learn::{
    Checkpoints, Iteration, LearnError, LearnerSpec, NoProgress, Progress, TrainRequest,
    TrainResult, TrainingHistory, ValidationSet,
};
use rankwright_model::{Model, ModelBody, ScoreOptions};

use super::cell::{CellSeconds, CellState, CellWarning, ExperimentCell, StoredCell};
use super::file::LearnerKind;
use super::plan::{FailedCells, Plan, PlanSummary};
use crate::ExperimentError;

/// Receives progress events while cells are run, and can ask to stop.
///
/// The no-op implementation is [`NoProgress`].
pub trait ExperimentProgress: Sync {
    /// Called when a step other than running cells begins, such as `comparing`.
    fn step(&self, _name: &str) {}

    /// Called before cells are run.
    fn planned(&self, _plan: &PlanSummary) {}

    /// Called when a cell begins; `cell` names it in words.
    fn started(&self, _cell: &str) {}

    /// Called when a cell is stored (`_error` is `None`) or has failed.
    fn ended(&self, _cell: &str, _error: Option<&ExperimentError>) {}

    /// Whether to stop now; called after every round and between cells.
    fn should_stop(&self) -> bool {
        false
    }
}

impl ExperimentProgress for NoProgress {}

/// The result of running a plan.
#[derive(Debug)]
pub struct PlanRun {
    /// Whether every pending cell was run; false after a request to stop.
    pub finished: bool,
    /// Number of the pending cells that are stored now.
    pub done: usize,
    /// Failed cells: those from planning, then those from running in the order of the plan. Cells
    /// of one data set and learner with the same error are grouped.
    pub failed: Vec<FailedCells>,
    /// Holds the lock of the folder until the reports are written.
    _lock: ResultsLock,
}

/// A lock that keeps other processes out of a folder; the system releases it when the process ends.
#[derive(Debug)]
struct ResultsLock(#[allow(dead_code, reason = "held, not read")] File);

impl ResultsLock {
    /// Locks a folder; an error if another process holds the lock.
    fn take(folder: &Path) -> Result<Self, ExperimentError> {
        let path = folder.join(".lock");
        // The operating system holds the lock, not the content of the file: if the user has a file
        // with this name, its content is kept.
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|e| DataError::io("write", path.display().to_string(), e))?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => {
                Err(ExperimentError::FolderInUse { folder: folder.to_owned() })
            }
            // A file system without locks does not prevent the run.
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(Self(file)),
        }
    }
}

/// The cells that were run, by their index: nothing if the cell was stored, or the error.
type CellOutcomes = HashMap<usize, Result<(), ExperimentError>>;

/// The end of a cell that did not fail.
enum CellEnd {
    /// The result is stored.
    Stored,
    /// The training was asked to stop.
    Interrupted,
}

impl Plan<'_> {
    /// Runs every pending cell.
    pub fn run(&self, progress: &dyn ExperimentProgress) -> Result<PlanRun, ExperimentError> {
        fs::create_dir_all(&self.store.0)
            .map_err(|e| DataError::io("make the folder", self.store.0.display().to_string(), e))?;
        let lock = ResultsLock::take(&self.out)?;
        for cell in self.cells.iter().filter(|cell| cell.state == CellState::Stored) {
            // The process may have been killed between storing a cell and removing its temporary
            // folder.
            let _ = fs::remove_dir_all(self.store.unfinished_folder(&cell.digest));
        }
        let pending = self.pending();
        for cell in pending.iter().map(|index| &self.cells[*index]) {
            self.parts[cell.data].register_use(cell.fold);
        }
        let next = AtomicUsize::new(0);
        let outcomes: Mutex<CellOutcomes> = Mutex::default();
        std::thread::scope(|scope| -> Result<(), ExperimentError> {
            for job in 0..self.jobs {
                let pool = self.pool(job)?;
                let (next, outcomes, pending) = (&next, &outcomes, &pending);
                scope.spawn(move || self.run_job(&pool, next, pending, outcomes, progress));
            }
            Ok(())
        })?;
        let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(PlanRun {
            finished: outcomes.len() == pending.len(),
            done: outcomes.values().filter(|outcome| outcome.is_ok()).count(),
            failed: self.failures(&outcomes),
            _lock: lock,
        })
    }

    /// The thread pool of a job; jobs count from 0. Threads are divided evenly among jobs, each has
    /// at least one.
    fn pool(&self, job: usize) -> Result<rayon::ThreadPool, ExperimentError> {
        let threads = self.threads / self.jobs + usize::from(job < self.threads % self.jobs);
        let threads = threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|source| ExperimentError::Threads { threads, source })
    }

    /// Runs a job: takes pending cells until there are none. `next` is the position in `pending` of
    /// the next cell to take, shared by all jobs.
    fn run_job(
        &self,
        pool: &rayon::ThreadPool,
        next: &AtomicUsize,
        pending: &[usize],
        outcomes: &Mutex<CellOutcomes>,
        progress: &dyn ExperimentProgress,
    ) {
        while !progress.should_stop() {
            let Some(index) = pending.get(next.fetch_add(1, Ordering::SeqCst)) else { return };
            let cell = &self.cells[*index];
            let name = self.name(cell);
            progress.started(&name);
            let run = || catch_panic(|| self.run_cell(cell, progress));
            let end = pool
                .install(run)
                .unwrap_or_else(|message| Err(ExperimentError::Panicked { message }));
            self.parts[cell.data].release(cell.fold);
            let outcome = match end {
                Ok(CellEnd::Interrupted) => return,
                Ok(CellEnd::Stored) => Ok(()),
                Err(error) => Err(error),
            };
            progress.ended(&name, outcome.as_ref().err());
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).insert(*index, outcome);
        }
    }

    /// Trains, scores and stores a cell.
    fn run_cell(
        &self,
        cell: &ExperimentCell,
        progress: &dyn ExperimentProgress,
    ) -> Result<CellEnd, ExperimentError> {
        let learner = &self.experiment.learners[cell.learner];
        let (set, parts) = (&self.experiment.data[cell.data], &self.parts[cell.data]);
        // Features that the learner is not trained on are extra ones in the other parts.
        let ignore_extra = set.matching.ignore_extra || !learner.features.is_empty();
        let matching = set.matching.ignore_extra(ignore_extra);
        let options = ScoreOptions::new().matching(matching).simd(self.simd);
        let mut stored = StoredCell {
            key: cell.key.clone(),
            model_sha256: String::new(),
            scores_sha256: String::new(),
            unit: String::new(),
            rounds: 0,
            best: None,
            trees: 0,
            curve: Vec::new(),
            warnings: Vec::new(),
            seconds: CellSeconds::default(),
        };
        let (model, is_trained) = match &learner.kind {
            LearnerKind::Spec(spec) => {
                let training = parts.training(cell.fold)?;
                let columns = learner.columns(training.train.features())?;
                let selected = columns.map(|columns| training.train.select_features(&columns));
                let selected = selected.transpose()?;
                let data = selected.as_ref().unwrap_or(&training.train);
                let trained =
                    self.train(cell, spec, (data, training.valid.as_ref()), options, progress)?;
                if !trained.finished {
                    return Ok(CellEnd::Interrupted);
                }
                stored.warnings = trained.warnings.iter().map(CellWarning::new).collect();
                let history = trained.history;
                (stored.rounds, stored.best) = (history.iterations.len(), history.best);
                stored.curve = curve(&history);
                stored.seconds.bin = history.bin_seconds;
                stored.seconds.train = history.train_seconds;
                stored.seconds.round = median_round(&history);
                stored.unit = history.unit;
                (trained.model, true)
            }
            LearnerKind::Model(file) => {
                let checksum = cell.key.pointer("/learner/model").and_then(|value| value.as_str());
                let invariant = "the key of a model given as a file has its checksum";
                let checksum = checksum.ok_or(ExperimentError::Internal { invariant })?;
                stored.model_sha256 = checksum.to_owned();
                (Model::load(&file.path)?, false)
            }
        };
        if let ModelBody::Trees(ensemble) = model.body() {
            stored.trees = ensemble.trees().len();
        }
        let started = Instant::now();
        let test = parts.test(cell.fold)?;
        let scores = score(&model, &test, options)?;
        stored.seconds.score = started.elapsed().as_secs_f64();
        let model = is_trained.then_some(&model);
        self.store.store(&cell.digest, stored, model, &scores)?;
        Ok(CellEnd::Stored)
    }

    /// Trains a cell, from a checkpoint if there is one.
    fn train(
        &self,
        cell: &ExperimentCell,
        spec: &LearnerSpec,
        (train, valid): (&Dataset, Option<&Dataset>),
        options: ScoreOptions,
        progress: &dyn ExperimentProgress,
    ) -> Result<TrainResult, LearnError> {
        let checkpoints = spec.rounds().map(|_| {
            let folder = self.store.unfinished_folder(&cell.digest).join("checkpoint");
            Checkpoints::new(folder).every(self.checkpoint)
        });
        let first_metric: Vec<Measure> = self.experiment.metrics.iter().take(1).cloned().collect();
        let progress = CellProgress(progress);
        let run = || -> Result<TrainResult, LearnError> {
            let valid = valid.filter(|_| spec.uses_validation());
            let valid = valid.map(|data| ValidationSet::new("validation", data));
            let request = TrainRequest::new(train)
                .validation_sets(valid)
                .metrics(first_metric.clone())
                .seed(cell.seed)
                .features(options)
                .checkpoints(checkpoints.clone())
                .progress(&progress)
                .simd(self.simd);
            spec.train(request)
        };
        let resumed = checkpoints.as_ref().is_some_and(|checkpoints| checkpoints.file().exists());
        match run() {
            // An unusable checkpoint is removed, and the cell is trained from the start.
            Err(LearnError::Checkpoint { .. } | LearnError::CheckpointState(_)) if resumed => {
                if let Some(checkpoints) = &checkpoints {
                    let _ = checkpoints.remove();
                }
                run()
            }
            result => result,
        }
    }

    /// The failures from planning, then those from running in the order of the plan.
    fn failures(&self, outcomes: &CellOutcomes) -> Vec<FailedCells> {
        let mut by_digest = HashMap::new();
        for (index, outcome) in outcomes {
            if let Err(error) = outcome {
                let digest = self.cells[*index].digest.as_str();
                by_digest.insert(digest, (error.kind(), error_text(error)));
            }
        }
        // Cells of one data set and learner that failed for one reason.
        let mut groups: Vec<(_, Vec<&ExperimentCell>)> = Vec::new();
        for cell in &self.cells {
            let Some(error) = by_digest.get(cell.digest.as_str()) else { continue };
            let group = (cell.data, cell.learner, error);
            match groups.iter_mut().find(|(other, _)| *other == group) {
                Some((_, cells)) => cells.push(cell),
                None => groups.push((group, vec![cell])),
            }
        }
        let failed =
            groups.into_iter().map(|((data, learner, (kind, error)), cells)| FailedCells {
                data: self.experiment.data_name(data).to_owned(),
                learner: self.experiment.learner_name(learner).to_owned(),
                cells: self.folds_and_seeds(&cells),
                kind,
                error: error.clone(),
            });
        self.failed.iter().cloned().chain(failed).collect()
    }

    /// Folds and seeds in words: "fold 1, seed 2; fold 3, seed 2"; empty if there is only one fold
    /// and one seed.
    fn folds_and_seeds(&self, cells: &[&ExperimentCell]) -> String {
        let in_words = |cell: &&ExperimentCell| {
            let mut words = Vec::new();
            if self.experiment.data[cell.data].folds() > 1 {
                words.push(format!("fold {}", cell.fold + 1));
            }
            let learner = &self.experiment.learners[cell.learner];
            if self.experiment.seeds_of(learner).len() > 1 {
                words.push(format!("seed {}", cell.seed));
            }
            words.join(", ")
        };
        let texts = cells.iter().map(in_words).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("; ")
    }
}

/// The first metric of the experiment after each round, on the only validation set; `None` for a
/// round after which no query has a value.
fn curve(history: &TrainingHistory) -> Vec<Option<f64>> {
    let value = |round: &Iteration| {
        let value = round.values.first().and_then(|set| set.first());
        value.copied().map(|value| value.is_finite().then_some(value))
    };
    history.iterations.iter().filter_map(value).collect()
}

/// Seconds of the median round without its evaluation; 0 if there are no rounds.
fn median_round(history: &TrainingHistory) -> f64 {
    let mut seconds: Vec<f64> = history.iterations.iter().map(|r| r.seconds.learning()).collect();
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(0.0)
}

/// Scores of the test part; a score that is not finite is an error.
fn score(
    model: &Model,
    test: &Dataset,
    options: ScoreOptions,
) -> Result<Vec<f64>, ExperimentError> {
    if test.rows() == 0 {
        return Err(ExperimentError::EmptyTestPart);
    }
    let scores = model.score(test, options)?;
    match scores.iter().find(|score| !score.is_finite()) {
        Some(&score) => Err(ExperimentError::ScoreNotFinite { score }),
        None => Ok(scores),
    }
}

/// Forwards the request to stop to a training.
struct CellProgress<'a>(&'a dyn ExperimentProgress);

impl Progress for CellProgress<'_> {
    fn should_stop(&self) -> bool {
        self.0.should_stop()
    }
}

/// An error on one line, with the change to make in the experiment's file if there is one.
pub(super) fn error_text(error: &ExperimentError) -> String {
    let help = match error {
        ExperimentError::Learn(LearnError::MissingValidation { .. }) => {
            Some("the data set needs a validation part, `valid`".to_owned())
        }
        other => other.help(),
    };
    match help {
        Some(help) => format!("{error}; {help}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_never_rewritten_and_missing_validation_data_is_recognised_by_its_type() {
        // The name of a file looks like the text of another error.
        let file = "needs validation data.txt".to_owned();
        let text = error_text(&DataError::Empty { file, what: "rows" }.into());
        assert_eq!(text, "needs validation data.txt holds no rows");
        let missing = LearnError::MissingValidation { learner: "mart(stop=5)".to_owned() };
        assert_eq!(
            error_text(&missing.into()),
            "mart(stop=5) needs validation data, and there is none; the data set needs a validation \
             part, `valid`"
        );
    }
}
