//! The plan of an experiment: the cells to run, the cells already stored, and the number of jobs.
//! A cell is one training run: data set x fold x learner x seed.
//!
//! Cost: every data file is read once for its checksum. A data set or a model that cannot be read
//! affects only the cells concerned; the report lists them.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright_learn::simd::Simd;
use rankwright_spec::nearest;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cell::{CellState, CellStore, ExperimentCell};
use super::file::{DataSet, Experiment, ExperimentLearner, LearnerKind};
use super::key::{CellKey, DataKey, FileChecksums, TRAINING_RULES, checksum};
use super::lock::{FileChecksum, LockedDefinition};
use super::memory::JobLimit;
use super::parts::DataParts;
use super::run::error_text;
use super::{VERSION, memory, sha256, to_json};
use crate::ExperimentError;

/// Options of running an experiment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Number of cells that run at a time; `None` chooses it by threads and memory.
    pub jobs: Option<usize>,
    /// Threads of all jobs together; 0 takes one for each core.
    pub threads: usize,
    /// Train only these learners or `[[learner]]` entries, by name; empty for all. Stored results
    /// of the others are still reported.
    pub only: Vec<String>,
    /// Time between checkpoints of a training; 0 saves after every round. A number of seconds in
    /// JSON.
    #[serde(with = "rankwright_spec::seconds")]
    pub checkpoint: Duration,
    /// The SIMD instruction set to use. It has no place in JSON: results do not depend on it.
    #[serde(skip)]
    pub simd: Simd,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            jobs: None,
            threads: 0,
            only: Vec::new(),
            checkpoint: Duration::from_secs(20),
            simd: Simd::Auto,
        }
    }
}

impl PlanOptions {
    /// Sets the number of cells that run at a time; `None` chooses it by threads and memory.
    pub fn jobs(mut self, jobs: Option<usize>) -> Self {
        self.jobs = jobs;
        self
    }

    /// Sets the threads of all jobs together; 0 takes one for each core.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the learners to train, empty for all; stored results of the others are still reported.
    pub fn only(mut self, only: Vec<String>) -> Self {
        self.only = only;
        self
    }

    /// Sets the time between checkpoints of a training; 0 saves after every round.
    pub fn checkpoint(mut self, checkpoint: Duration) -> Self {
        self.checkpoint = checkpoint;
        self
    }

    /// Sets the SIMD instruction set to use.
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

/// The cells of an experiment and their states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanSummary {
    /// The cells, in the order of data, fold, learner and seed.
    pub cells: Vec<PlannedCell>,
    /// Number of cells that run at a time.
    pub jobs: usize,
    /// The reason for this number.
    #[serde(skip)]
    pub job_limit: JobLimit,
    /// Cells that are known to fail before anything is run.
    pub failed: Vec<FailedCells>,
    /// Folder of the results.
    #[serde(skip)]
    pub out: PathBuf,
    /// Number of cells to run; cells with the same digest count once.
    #[serde(skip)]
    pending: usize,
}

impl PlanSummary {
    /// Number of cells to run; cells with the same result are run once.
    pub fn pending(&self) -> usize {
        self.pending
    }

    /// Number of cells that are stored already.
    pub fn stored(&self) -> usize {
        self.cells.iter().filter(|cell| cell.state == CellState::Stored).count()
    }
}

/// One cell of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlannedCell {
    /// The cell in words: "mq2008, fold 2, lambdamart, seed 1".
    pub cell: String,
    /// Name of the cell's folder.
    pub digest: String,
    /// The state: stored, to be run, or left out.
    pub state: CellState,
}

/// Cells without a result, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedCells {
    /// The data set; empty for all data sets.
    pub data: String,
    /// The learner; empty for all learners.
    pub learner: String,
    /// Folds and seeds; empty for all folds and seeds.
    pub cells: String,
    /// The kind of error, a name that programs can rely on.
    pub kind: &'static str,
    /// The error message.
    pub error: String,
}

impl FailedCells {
    /// All cells of a learner, of a data set or of both; an empty name stands for all.
    pub(super) fn all_of(data: &str, learner: &str, error: &ExperimentError) -> Self {
        FailedCells {
            data: data.to_owned(),
            learner: learner.to_owned(),
            cells: String::new(),
            kind: error.kind(),
            error: error_text(error),
        }
    }
}

impl fmt::Display for FailedCells {
    /// Writes "mq2008, lambdamart, fold 2: ..."
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = [&self.data, &self.learner, &self.cells].map(String::as_str);
        let location: Vec<&str> = location.into_iter().filter(|text| !text.is_empty()).collect();
        write!(f, "{}: {}", location.join(", "), self.error)
    }
}

/// The cells of an experiment, and the folder for their results.
#[derive(Debug)]
pub struct Plan<'e> {
    pub(super) experiment: &'e Experiment,
    /// The folder of the results.
    pub(super) out: PathBuf,
    pub(super) store: CellStore,
    pub(super) cells: Vec<ExperimentCell>,
    /// The data of each data set.
    pub(super) parts: Vec<DataParts<'e>>,
    /// The files of each data set, each once; empty for a data set that cannot be read.
    pub(super) files: Vec<Vec<FileChecksum>>,
    pub(super) failed: Vec<FailedCells>,
    pub(super) jobs: usize,
    pub(super) job_limit: JobLimit,
    pub(super) threads: usize,
    pub(super) checkpoint: Duration,
    pub(super) simd: Simd,
}

impl<'e> Plan<'e> {
    /// Makes the plan; reads every file and runs nothing.
    pub fn new(
        experiment: &'e Experiment,
        out: &Path,
        options: &PlanOptions,
    ) -> Result<Self, ExperimentError> {
        experiment.check()?;
        check_only(experiment, &options.only)?;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let mut plan = Self {
            experiment,
            out: out.to_owned(),
            store: CellStore(out.join("cells")),
            cells: Vec::new(),
            parts: experiment.data.iter().map(DataParts::new).collect(),
            files: Vec::new(),
            failed: Vec::new(),
            jobs: 1,
            job_limit: JobLimit::Threads,
            threads,
            checkpoint: options.checkpoint,
            simd: options.simd,
        };
        let learners = plan.learner_keys();
        for (index, set) in experiment.data.iter().enumerate() {
            plan.add_set(index, set, &learners)?;
        }
        plan.find_stored(&options.only);
        let pending = plan.cells.iter().filter(|cell| cell.state == CellState::Pending);
        let needed = pending.map(|cell| memory::needed(&experiment.data[cell.data]));
        let needed = needed.max().unwrap_or(0);
        let pending = plan.pending().len();
        (plan.jobs, plan.job_limit) =
            memory::jobs(options.jobs, threads, pending, needed, rankwright_data::memory_limit());
        Ok(plan)
    }

    /// The plan in a serialisable form.
    pub fn summary(&self) -> PlanSummary {
        let cell = |cell: &ExperimentCell| PlannedCell {
            cell: self.name(cell),
            digest: cell.digest.clone(),
            state: cell.state,
        };
        PlanSummary {
            cells: self.cells.iter().map(cell).collect(),
            jobs: self.jobs,
            job_limit: self.job_limit,
            failed: self.failed.clone(),
            out: self.out.clone(),
            pending: self.pending().len(),
        }
    }

    /// All cells, in the order of data, fold, learner and seed.
    pub fn cells(&self) -> &[ExperimentCell] {
        &self.cells
    }

    /// The folder of the results.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Number of cells that run at a time, and the reason.
    pub fn jobs(&self) -> (usize, JobLimit) {
        (self.jobs, self.job_limit)
    }

    /// Cells that are known to fail before anything is run.
    pub fn failed(&self) -> &[FailedCells] {
        &self.failed
    }

    /// A cell in words: "mq2008, fold 2, lambdamart, seed 1".
    pub fn name(&self, cell: &ExperimentCell) -> String {
        let (set, learner) =
            (&self.experiment.data[cell.data], &self.experiment.learners[cell.learner]);
        let (data, name) = (&set.name, &learner.name);
        let seeded = learner.kind.is_seeded();
        let seed = if seeded { format!(", seed {}", cell.seed) } else { String::new() };
        match set.folds() {
            1 => format!("{data}, {name}{seed}"),
            _ => format!("{data}, fold {}, {name}{seed}", cell.fold + 1),
        }
    }

    /// Indices of the cells to run, each digest once.
    pub fn pending(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        let cells =
            self.cells.iter().enumerate().filter(|(_, cell)| cell.state == CellState::Pending);
        let mut pending = Vec::new();
        for (index, cell) in cells {
            if seen.insert(cell.digest.as_str()) {
                pending.push(index);
            }
        }
        pending
    }

    /// The settings that determine each learner; `None` for a model that cannot be read.
    fn learner_keys(&mut self) -> Vec<Option<LockedDefinition>> {
        let key = |learner: &ExperimentLearner| match &learner.kind {
            LearnerKind::Spec(spec) => Ok(LockedDefinition::of_learner(spec)),
            LearnerKind::Model(file) => {
                checksum(&file.path).map(|(sum, _)| LockedDefinition::Model { model: sum })
            }
        };
        let mut keys = Vec::new();
        for learner in &self.experiment.learners {
            let key = key(learner).map_err(|error| {
                self.failed.push(FailedCells::all_of("", &learner.name, &error.into()));
            });
            keys.push(key.ok());
        }
        keys
    }

    /// Adds the cells of the data set with this index; `settings` are those of each learner.
    fn add_set(
        &mut self,
        set_index: usize,
        set: &DataSet,
        settings: &[Option<LockedDefinition>],
    ) -> Result<(), ExperimentError> {
        let checksums = match FileChecksums::of(set) {
            Ok(checksums) => checksums,
            Err(error) => {
                self.files.push(Vec::new());
                self.failed.push(FailedCells::all_of(&set.name, "", &error.into()));
                return Ok(());
            }
        };
        let metric = self.experiment.main_metric();
        let metric = format!("{metric}: {}", metric.convention());
        for fold in 0..set.folds() {
            let data = DataKey::new(set, fold, &checksums);
            for (index, learner) in self.experiment.learners.iter().enumerate() {
                // A model that cannot be read has no settings.
                let Some(settings) = &settings[index] else { continue };
                for seed in self.experiment.seeds_of(learner) {
                    let key = CellKey {
                        version: VERSION,
                        training_rules: TRAINING_RULES,
                        learner: settings,
                        features: &learner.features,
                        seed: learner.kind.is_seeded().then_some(*seed),
                        data: &data,
                        fold: fold + 1,
                        metric: &metric,
                    };
                    let key = to_json(&key)?;
                    let digest = sha256(key.to_string().as_bytes()).chars().take(32).collect();
                    self.cells.push(ExperimentCell {
                        data: set_index,
                        fold,
                        learner: index,
                        seed: *seed,
                        digest,
                        key,
                        // Set by `find_stored`.
                        state: CellState::Skipped,
                    });
                }
            }
        }
        self.files.push(checksums.listed);
        Ok(())
    }

    /// Sets the state of each cell, several at a time: a stored cell is read completely for its
    /// checksums. `only` names the learners to train, empty for all.
    fn find_stored(&mut self, only: &[String]) {
        let experiment = self.experiment;
        let requested = |learner: &ExperimentLearner| {
            let entry = experiment.entry_of(learner);
            only.is_empty() || only.iter().any(|name| *name == learner.name || name == entry)
        };
        let requested: Vec<bool> = experiment.learners.iter().map(requested).collect();
        let store = &self.store;
        self.cells.par_iter_mut().for_each(|cell| {
            cell.state = match (store.load(cell).is_some(), requested[cell.learner]) {
                (true, _) => CellState::Stored,
                (false, true) => CellState::Pending,
                (false, false) => CellState::Skipped,
            };
        });
    }
}

/// Rejects names that are neither learners nor `[[learner]]` entries.
fn check_only(experiment: &Experiment, only: &[String]) -> Result<(), ExperimentError> {
    let entries = experiment.entries.iter().map(|entry| entry.name.as_str());
    let learners = experiment.learners.iter().map(|learner| learner.name.as_str());
    let known: HashSet<&str> = entries.clone().chain(learners.clone()).collect();
    let names: Vec<&str> = entries.collect();
    let Some(unknown) = only.iter().find(|name| !known.contains(name.as_str())) else {
        return Ok(());
    };
    let all: Vec<&str> = names.iter().copied().chain(learners).collect();
    Err(ExperimentError::UnknownLearner {
        name: unknown.clone(),
        nearest: nearest(unknown, &all),
        known: names.iter().map(|&name| name.to_owned()).collect(),
    })
}
