//! All numbers of an experiment's report, and the times of its trainings, as serialisable results.
//! A cell is one training run: data set x fold x learner x seed.

use std::collections::BTreeMap;
use std::fmt;

use rankwright_eval::Evaluation;
use rankwright_report::comparison::ComparisonReport;
use rayon::prelude::*;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::file::Experiment;
use super::lock::LockedDefinition;
use super::plan::{FailedCells, Plan};
use super::report::{SetResult, System};
use super::study::{FactorPlotResult, FactorTableResult, FactorTableTimes, Study};
use super::weights::LearnerWeights;
use super::{CellSeconds, CellWarning, ExperimentCell, StoredCell, VERSION};

/// All numbers of an experiment's report.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ExperimentResults {
    /// The version of this program.
    pub rankwright: &'static str,
    /// Name of the experiment.
    pub experiment: String,
    /// Description of the experiment; may be empty.
    pub description: String,
    /// SHA-256 of the experiment's file.
    pub file_sha256: String,
    /// Seeds of the trainings.
    pub seeds: Vec<u64>,
    /// Tables by factors, each on each of its data sets.
    pub tables: Vec<FactorTableResult>,
    /// Panels of the learning curves by factors.
    pub plots: Vec<FactorPlotResult>,
    /// The data sets with results.
    pub data: Vec<DataSetResult>,
    /// Weights of linear models, if the experiment shows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<LearnerWeights>,
    /// Cells without a result, and the reasons.
    pub failed: Vec<FailedCells>,
    /// Learners with cells that are neither stored nor were requested.
    pub not_run: Vec<String>,
}

/// All learners on one data set.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DataSetResult {
    /// Name of the data set.
    pub name: String,
    /// Number of folds.
    pub folds: usize,
    /// Number of test queries of all folds.
    pub queries: usize,
    /// Number of documents of these queries.
    pub documents: usize,
    /// Number of features.
    pub features: usize,
    /// The comparison with the baseline; `None` if there are too many learners for it.
    pub comparison: Option<ComparisonReport>,
    /// The learners whose cells are all stored.
    pub learners: Vec<LearnerResult>,
}

/// The results of one learner on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LearnerResult {
    /// Name of the learner.
    pub name: String,
    /// The spec with every setting, or the file of a model.
    #[serde(rename = "what")]
    pub definition: LockedDefinition,
    /// Values for each seed.
    pub seeds: Vec<SeedResult>,
    /// The trainings, by fold and seed.
    pub cells: Vec<CellResult>,
}

/// Values of a learner with one seed, over all folds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SeedResult {
    /// The seed.
    pub seed: u64,
    /// Value of each metric; NaN (`null` in JSON) if no query has a value.
    pub values: BTreeMap<String, f64>,
}

/// The result of one training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CellResult {
    /// The fold, from 1.
    pub fold: usize,
    /// The seed.
    pub seed: u64,
    /// Name of the cell's folder.
    pub digest: String,
    /// SHA-256 of the model's file.
    pub model_sha256: String,
    /// The word for one round of the training, such as `tree`; empty if there are no rounds.
    pub unit: String,
    /// Number of rounds of the training.
    pub rounds: usize,
    /// Number of the round with the best value on validation data, from 1; `None` without
    /// validation data.
    pub best_round: Option<usize>,
    /// Number of trees of the model; 0 if it has none.
    pub trees: usize,
    /// Warnings about the model, such as that it gives all documents of a query the same score.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<CellWarning>,
}

/// Seconds of an experiment's trainings; they differ from run to run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExperimentTimes {
    /// Times of each training.
    pub cells: Vec<CellTimes>,
    /// Seconds of a round by factors; `None` if the experiment has no tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<FactorTableTimes>>,
}

/// Seconds of one training.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CellTimes {
    /// The cell in words: "mq2008, fold 2, lambdamart, seed 1".
    pub cell: String,
    /// Name of the cell's folder.
    pub digest: String,
    /// Seconds by phase.
    pub seconds: CellSeconds,
}

/// A warning about the models of a learner on a data set. Serialised as `{"kind": ..., "message":
/// ..., "data": ..., "learner": ...}`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExperimentWarning {
    /// The data set.
    pub data: String,
    /// The learner.
    pub learner: String,
    /// The warning about a model.
    pub warning: CellWarning,
}

impl ExperimentWarning {
    /// The stable name of the kind of warning, in kebab case.
    pub fn kind(&self) -> &str {
        &self.warning.kind
    }
}

impl fmt::Display for ExperimentWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}: {}", self.data, self.learner, self.warning.message)
    }
}

impl Serialize for ExperimentWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ExperimentWarning", 4)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.serialize_field("data", &self.data)?;
        object.serialize_field("learner", &self.learner)?;
        object.end()
    }
}

impl ExperimentResults {
    pub(super) fn new(
        experiment: &Experiment,
        sets: &[SetResult],
        study: &Study,
        failed: &[FailedCells],
        not_run: &[String],
    ) -> Self {
        ExperimentResults {
            rankwright: VERSION,
            experiment: experiment.name.clone(),
            description: experiment.description.clone(),
            file_sha256: experiment.sha256.clone(),
            seeds: experiment.seeds.clone(),
            tables: study.table_results(),
            plots: study.plot_results(),
            data: sets.iter().map(|set| DataSetResult::new(experiment, set)).collect(),
            weights: Vec::new(),
            failed: failed.to_vec(),
            not_run: not_run.to_vec(),
        }
    }
}

impl DataSetResult {
    fn new(experiment: &Experiment, set: &SetResult) -> Self {
        let data = &experiment.data[set.data];
        let learners = set.systems.par_iter().map(|system| LearnerResult::new(experiment, system));
        DataSetResult {
            name: data.name.clone(),
            folds: data.folds(),
            queries: set.queries,
            documents: set.documents,
            features: set.features,
            comparison: set.comparison.clone(),
            learners: learners.collect(),
        }
    }
}

impl LearnerResult {
    fn new(experiment: &Experiment, system: &System) -> Self {
        let learner = &experiment.learners[system.learner];
        let seed = |(seed, found): &(u64, Evaluation)| SeedResult {
            seed: *seed,
            values: found.results.iter().map(|r| (r.measure.to_string(), r.value)).collect(),
        };
        LearnerResult {
            name: learner.name.clone(),
            definition: LockedDefinition::new(&learner.kind),
            seeds: system.seeds.iter().map(seed).collect(),
            cells: system.cells.iter().map(CellResult::new).collect(),
        }
    }
}

impl ExperimentResults {
    /// Warnings about models, such as `mq2008, mart: the model gives ...`. For a learner on a data
    /// set each kind of warning is listed once, because it has the same cause for all folds and
    /// seeds.
    pub fn warnings(&self) -> Vec<ExperimentWarning> {
        let mut warnings = Vec::new();
        for (set, learner) in
            self.data.iter().flat_map(|set| set.learners.iter().map(move |l| (set, l)))
        {
            let mut kinds: Vec<&str> = Vec::new();
            for warning in learner.cells.iter().flat_map(|cell| &cell.warnings) {
                if !kinds.contains(&warning.kind.as_str()) {
                    kinds.push(&warning.kind);
                    warnings.push(ExperimentWarning {
                        data: set.name.clone(),
                        learner: learner.name.clone(),
                        warning: warning.clone(),
                    });
                }
            }
        }
        warnings
    }
}

impl CellResult {
    fn new((cell, stored): &(ExperimentCell, StoredCell)) -> Self {
        CellResult {
            fold: cell.fold + 1,
            seed: cell.seed,
            digest: cell.digest.clone(),
            model_sha256: stored.model_sha256.clone(),
            warnings: stored.warnings.clone(),
            unit: stored.unit.clone(),
            rounds: stored.rounds,
            best_round: stored.best,
            trees: stored.trees,
        }
    }
}

impl ExperimentTimes {
    pub(super) fn new(plan: &Plan<'_>, sets: &[SetResult], study: &Study) -> Self {
        let cells = sets.iter().flat_map(|set| &set.systems).flat_map(|system| &system.cells);
        let cell = |(cell, stored): &(ExperimentCell, StoredCell)| CellTimes {
            cell: plan.name(cell),
            digest: cell.digest.clone(),
            seconds: stored.seconds,
        };
        let tables = (!plan.experiment.tables.is_empty()).then(|| study.table_times());
        ExperimentTimes { cells: cells.map(cell).collect(), tables }
    }
}
