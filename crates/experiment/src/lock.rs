//! The lock file: everything needed to repeat an experiment, on this machine or another.
//!
//! Checksums identify the data, and settings list every parameter of every learner, defaults
//! included, so that a later version with other defaults can reproduce the experiment. Threads,
//! jobs and the machine are recorded too, though results do not depend on them; times are not.

use std::collections::BTreeMap;

use rankwright_data::generate::LetorOptions;
use rankwright_eval::compare::CompareOptions;
use rankwright_eval::{BoundaryText, Measure};
use rankwright_learn::LearnerSpec;
use rankwright_model::MatchBy;
use serde::Serialize;

use super::VERSION;
use super::file::{DataOrigin, DataSet, DataSource, ExperimentLearner, LearnerKind, QueryDivision};
use super::plan::Plan;

/// Everything needed to repeat an experiment: the content of its lock file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExperimentLock {
    /// The version of this program.
    pub rankwright: &'static str,
    /// Name of the experiment.
    pub experiment: String,
    /// SHA-256 of the experiment's file.
    pub file_sha256: String,
    /// Seeds of the trainings.
    pub seeds: Vec<u64>,
    /// The metrics.
    pub metrics: Vec<LockedMetric>,
    /// The comparison.
    pub compare: LockedComparison,
    /// The data sets.
    pub data: Vec<LockedData>,
    /// The learners.
    pub learners: Vec<LockedLearner>,
    /// Threads of all jobs together.
    pub threads: usize,
    /// Number of cells that run at a time. A cell is one training: a learner on a fold of a data
    /// set with a seed.
    pub jobs: usize,
    /// The machine.
    pub machine: Machine,
}

/// A metric with its convention: how ties, unjudged documents and so on are treated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockedMetric {
    /// The metric as a spec.
    pub metric: String,
    /// The conventions of the metric.
    pub convention: String,
}

/// The settings of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LockedComparison {
    /// Name of the baseline; `None` if there is none.
    pub baseline: Option<String>,
    /// The significance test.
    pub test: String,
    /// The correction for several comparisons.
    pub correction: String,
    /// Level of significance.
    pub alpha: f64,
    /// Number of random samples of the test.
    pub samples: usize,
    /// Seed of the samples.
    pub seed: u64,
}

/// A data set: its files by checksum, and how they are read and divided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockedData {
    /// Name of the data set.
    pub name: String,
    /// Folds, division or generator.
    pub source: LockedSource,
    /// The files, each once.
    pub files: Vec<FileChecksum>,
    /// Format of the files; `None` if it is detected.
    pub format: Option<&'static str>,
    /// The meaning of absent features: `zero` or `missing`.
    pub absent: &'static str,
    /// Roles of columns as written; may be empty.
    pub columns: String,
    /// Whether features of validation and test data that the training data lacks are ignored.
    pub ignore_extra: bool,
    /// The rule that matches the features of validation and test data with those of the training
    /// data. Left out of the file if it is the default (matching by name).
    #[serde(skip_serializing_if = "is_default")]
    pub match_by: MatchBy,
}

/// Whether a value is the default, which is left out of the file.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The source of the parts of a data set, besides its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LockedSource {
    /// Files for each part of each fold.
    Folds {
        /// Number of folds.
        folds: usize,
    },
    /// Files, divided by query.
    Files(LockedDivision),
    /// Generated data, divided by query.
    Generated {
        /// The generator.
        letor: LockedGenerator,
        /// The division.
        division: LockedDivision,
    },
}

/// A division by query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LockedDivision {
    /// Cross validation.
    Folds {
        /// Number of folds.
        folds: usize,
        /// Seed of the shuffle.
        seed: u64,
    },
    /// One division, by fractions of the queries.
    Split {
        /// The fractions as written.
        split: String,
        /// Seed of the shuffle.
        seed: u64,
    },
}

/// The generator of feature data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockedGenerator {
    /// Number of queries.
    pub queries: usize,
    /// Mean number of documents per query.
    pub documents: usize,
    /// The seed.
    pub seed: u64,
}

/// A file and the checksum of its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileChecksum {
    /// The file as the experiment names it.
    pub file: String,
    /// SHA-256 of its content and of the side files that are read with it (`.query`, `.weight`,
    /// `.position`).
    pub sha256: String,
    /// Size in bytes, without side files.
    pub bytes: u64,
}

/// A learner or a model by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockedLearner {
    /// Name of the learner.
    pub name: String,
    /// The spec with every setting, or the file of a model.
    #[serde(flatten)]
    pub definition: LockedDefinition,
    /// The features that it is trained on; empty, and absent in the file, for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
}

/// A learner with every setting, or a model given as a file in place of a learner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum LockedDefinition {
    /// A learner.
    Learner {
        /// The learner's spec.
        spec: String,
        /// Every parameter, written or by default.
        settings: BTreeMap<String, String>,
    },
    /// A model that is not trained here.
    Model {
        /// The file as the experiment names it. The key that identifies a stored cell uses the same
        /// type, with the file's checksum here.
        model: String,
    },
}

/// The machine that an experiment ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Machine {
    /// The operating system.
    pub system: &'static str,
    /// The kind of processor.
    pub processor: &'static str,
    /// Number of logical CPUs that are available to the process.
    pub cores: usize,
    /// The SIMD setting: `auto` (AVX2 if the processor has it) or `portable`.
    pub simd: String,
}

impl ExperimentLock {
    /// The lock file of a plan.
    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let experiment = plan.experiment;
        let sets = experiment.data.iter().zip(&plan.files);
        ExperimentLock {
            rankwright: VERSION,
            experiment: experiment.name.clone(),
            file_sha256: experiment.sha256.clone(),
            seeds: experiment.seeds.clone(),
            metrics: experiment.metrics.iter().map(LockedMetric::new).collect(),
            compare: LockedComparison::new(&experiment.compare),
            data: sets.map(|(set, files)| LockedData::new(set, files)).collect(),
            learners: experiment.learners.iter().map(LockedLearner::new).collect(),
            threads: plan.threads,
            jobs: plan.jobs,
            machine: Machine {
                system: std::env::consts::OS,
                processor: std::env::consts::ARCH,
                cores: std::thread::available_parallelism().map_or(1, usize::from),
                simd: format!("{:?}", plan.simd).to_lowercase(),
            },
        }
    }
}

impl LockedMetric {
    fn new(measure: &Measure) -> Self {
        let metric = measure.to_string();
        // Only a metric that compares scores with the boundaries of models changes.
        let each_model = measure.with_boundary(BoundaryText::EachModel, |_| None);
        let convention = each_model.as_ref().unwrap_or(measure).convention().to_owned();
        LockedMetric { metric, convention }
    }
}

impl LockedComparison {
    fn new(options: &CompareOptions) -> Self {
        LockedComparison {
            baseline: options.baseline.clone(),
            test: options.test.to_string(),
            correction: options.correction.to_string(),
            alpha: options.alpha,
            samples: options.samples,
            seed: options.seed,
        }
    }
}

impl LockedData {
    fn new(set: &DataSet, files: &[FileChecksum]) -> Self {
        let source = match &set.source {
            DataSource::Folds(folds) => LockedSource::Folds { folds: folds.len() },
            DataSource::Whole { origin: DataOrigin::Files(_), division } => {
                LockedSource::Files(LockedDivision::new(division))
            }
            DataSource::Whole { origin: DataOrigin::Generated(options), division } => {
                LockedSource::Generated {
                    letor: LockedGenerator::new(options),
                    division: LockedDivision::new(division),
                }
            }
        };
        LockedData {
            name: set.name.clone(),
            source,
            files: files.to_vec(),
            format: set.format.map(|format| format.info().name),
            absent: set.absent.name(),
            columns: set.columns.clone(),
            ignore_extra: set.matching.ignore_extra,
            match_by: set.matching.by,
        }
    }
}

impl LockedDivision {
    pub(super) fn new(division: &QueryDivision) -> Self {
        match division {
            QueryDivision::Folds { count, seed } => {
                LockedDivision::Folds { folds: *count, seed: *seed }
            }
            QueryDivision::Split { text, seed, .. } => {
                LockedDivision::Split { split: text.clone(), seed: *seed }
            }
        }
    }
}

impl LockedGenerator {
    pub(super) fn new(options: &LetorOptions) -> Self {
        let LetorOptions { queries, documents, seed } = *options;
        LockedGenerator { queries, documents, seed }
    }
}

impl LockedLearner {
    fn new(learner: &ExperimentLearner) -> Self {
        let definition = LockedDefinition::new(&learner.kind);
        let features = learner.features.clone();
        LockedLearner { name: learner.name.clone(), definition, features }
    }
}

impl LockedDefinition {
    pub(super) fn new(kind: &LearnerKind) -> Self {
        match kind {
            LearnerKind::Spec(spec) => Self::of_learner(spec),
            LearnerKind::Model(file) => LockedDefinition::Model { model: file.written.clone() },
        }
    }

    /// All settings of a spec.
    pub(super) fn of_learner(spec: &LearnerSpec) -> Self {
        let params = spec.learner().params();
        let setting = |name: &str| Some((name.to_owned(), params.text(name)?));
        let settings = params.defs().into_iter().filter_map(|def| setting(def.name));
        LockedDefinition::Learner { spec: spec.to_string(), settings: settings.collect() }
    }
}
