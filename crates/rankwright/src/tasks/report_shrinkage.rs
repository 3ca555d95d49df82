//! Report on shrinkage: one learner trained with several learning rates, curves side by side.

use std::path::{Path, PathBuf};

use rankwright_data::DEFAULT_SEED;
use rankwright_eval::{MetricSpec, SourceKind};
use rankwright_experiment::ShrinkageRequest;
use rankwright_learn::LearnerSpec;
use rankwright_model::{MatchOptions, ScoreOptions};
use rankwright_report::training::{NamedData, ShrinkageReport};
use serde::{Deserialize, Serialize, Serializer};

use super::context::RunningTask;
use super::paths::set_names;
use super::train::{ForwardedProgress, ValidationData, warn_about};
use super::{Context, DataSource, TaskError, TaskInputs, Warning};
use crate::tasks::request_json::default_seed;

/// A learner, the rates to train it with, and data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReportShrinkageRequest {
    /// The learner; its rate is replaced.
    pub learner: LearnerSpec,
    /// The rates, each a number above 0.
    pub rates: Vec<f64>,
    /// Training data.
    pub data: DataSource,
    /// Sets of validation data; options of reading that they do not give are those of the training
    /// data. The first determines the best round. If empty, a fifth of the training queries is
    /// held out.
    #[serde(default)]
    pub valid: Vec<DataSource>,
    /// The metric; the learner's own metric if not given.
    pub metric: Option<MetricSpec>,
    /// Number of trees; that of the learner where not given.
    pub trees: Option<usize>,
    /// Seed of the trainings, and of the queries that are held out.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The rule that matches the features of validation data with those of the training data.
    #[serde(default)]
    pub matching: MatchOptions,
}

impl ReportShrinkageRequest {
    /// The default learner of a program that lets its user choose.
    pub const DEFAULT_LEARNER: &'static str = "lambdamart(trees=200, leaves=16)";

    /// The default rates of a program that lets its user choose.
    pub const DEFAULT_RATES: [f64; 4] = ShrinkageRequest::DEFAULT_RATES;

    /// Trains a learner on data with these rates.
    pub fn new(
        learner: LearnerSpec,
        rates: impl Into<Vec<f64>>,
        data: impl Into<DataSource>,
    ) -> Self {
        ReportShrinkageRequest {
            learner,
            rates: rates.into(),
            data: data.into(),
            valid: Vec::new(),
            metric: None,
            trees: None,
            seed: DEFAULT_SEED,
            matching: MatchOptions::default(),
        }
    }

    /// Adds a set of validation data.
    pub fn validation(mut self, data: impl Into<DataSource>) -> Self {
        self.valid.push(data.into());
        self
    }

    /// Sets the metric.
    pub fn metric(mut self, metric: MetricSpec) -> Self {
        self.metric = Some(metric);
        self
    }

    /// Sets the number of trees, in place of that of the learner.
    pub fn trees(mut self, trees: usize) -> Self {
        self.trees = Some(trees);
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// The data, and the models that a blend names as its members.
impl TaskInputs for ReportShrinkageRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let data = self.data.paths().chain(self.valid.iter().flat_map(DataSource::paths));
        data.map(Path::to_owned).chain(self.learner.files()).collect()
    }
}

/// A comparison of trainings with several rates. Serialised as the numbers of the report, with all
/// warnings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportShrinkageResult {
    /// The report.
    pub report: ShrinkageReport,
    /// All warnings, including those of the report.
    pub warnings: Vec<Warning>,
}

impl Serialize for ReportShrinkageResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report.result_with(&self.warnings).serialize(serializer)
    }
}

/// Trains a learner once for each rate and compares the learning curves. A cancelled training is
/// [`TaskError::Cancelled`]; nothing of it is saved.
pub fn report_shrinkage(
    request: &ReportShrinkageRequest,
    context: &Context<'_>,
) -> Result<ReportShrinkageResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    let learner = match request.trees {
        None => request.learner.clone(),
        Some(trees) => request.learner.with_parameter("trees", trees.to_string())?,
    };
    ShrinkageRequest::learners(&learner, &request.rates)?;
    let resolve = |metric: &MetricSpec| metric.resolve(SourceKind::Features);
    let measure = request.metric.as_ref().map(resolve).transpose()?;
    let train = request.data.load(None, &mut task)?.data;
    let valid = ValidationData { sets: &request.valid, matching: request.matching };
    let (valid, _) = valid.load(&request.data, &train, &mut task)?;
    warn_about(&learner, &train, measure.as_slice(), &mut task)?;
    let (train_name, valid_names) = set_names(&request.data, &request.valid);
    let sets = valid_names.iter().zip(&valid);
    let named_train = NamedData { name: &train_name, data: &train };
    let trainings = ShrinkageRequest::new(learner, named_train)
        .rates(request.rates.clone())
        .valid(sets.map(|(name, (_, data))| NamedData { name, data }).collect())
        .measure(measure)
        .seed(request.seed)
        .score(ScoreOptions::new().matching(request.matching).simd(task.simd()))
        .simd(task.simd());
    let report =
        trainings.run(|learner| ForwardedProgress::begin(context, learner, train.rows(), None))?;
    let report = report.ok_or(TaskError::Cancelled)?;
    report.warnings.iter().for_each(|warning| task.warn(Warning::Report(warning.clone())));
    Ok(ReportShrinkageResult { report, warnings: task.into_warnings() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::DataFiles;
    use crate::tasks::TrainingProgress;
    use rankwright_data::Dataset;
    use rankwright_data::format::{Format, write};
    use rankwright_data::generate::LetorOptions;
    use rankwright_experiment::ExperimentError;
    use rankwright_learn::{Progress, TrainingHistory};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn request(folder: &Path, rates: &[f64]) -> ReportShrinkageRequest {
        let path = folder.join("train.rwd");
        let data = LetorOptions { queries: 20, documents: 10, seed: 1 }.generate().unwrap();
        write(&data, &path, Format::Cache).unwrap();
        let learner = LearnerSpec::parse("mart(trees=2, leaves=4)").unwrap();
        ReportShrinkageRequest::new(learner, rates, DataFiles::new([path]))
    }

    /// Records beginnings and ends of trainings; sets a flag after a number of rounds.
    struct Events<'a> {
        seen: Mutex<Vec<String>>,
        rounds_left: Mutex<usize>,
        stop: &'a AtomicBool,
    }

    impl<'a> Events<'a> {
        fn new(rounds_left: usize, stop: &'a AtomicBool) -> Self {
            let seen = Mutex::default();
            Events { seen, rounds_left: Mutex::new(rounds_left), stop }
        }
    }

    impl Progress for Events<'_> {
        fn round_finished(&self, _history: &TrainingHistory) {
            let mut left = self.rounds_left.lock().unwrap();
            *left = left.saturating_sub(1);
            self.stop.store(*left == 0, Ordering::Relaxed);
        }
    }

    impl TrainingProgress for Events<'_> {
        fn begin(&self, learner: &LearnerSpec, rows: usize, _checkpoint: Option<&Path>) {
            self.seen.lock().unwrap().push(format!("{learner} on {rows}"));
        }

        fn end(&self) {
            self.seen.lock().unwrap().push("end".to_owned());
        }
    }

    #[test]
    fn each_training_begins_and_ends_and_held_out_queries_are_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let events = Events::new(usize::MAX, &stop);
        let context = Context::default().training(&events).cancel(&stop);
        let result = report_shrinkage(&request(folder.path(), &[1.0, 0.5]), &context).unwrap();
        let rows = Dataset::read(folder.path().join("train.rwd")).unwrap().rows();
        assert_eq!(
            *events.seen.lock().unwrap(),
            [
                &format!("mart(trees=2, rate=1, leaves=4) on {rows}"),
                "end",
                &format!("mart(trees=2, rate=0.5, leaves=4) on {rows}"),
                "end"
            ]
        );
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json, serde_json::to_value(&result.report).unwrap());
        assert_eq!(json["warnings"][0]["kind"], "held-out");
        assert_eq!(result.warnings.len(), 1);
    }

    #[test]
    fn the_number_of_trees_replaces_that_of_the_learner() {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), &[0.5]).trees(3);
        let stop = AtomicBool::new(false);
        let events = Events::new(usize::MAX, &stop);
        report_shrinkage(&request, &Context::default().training(&events)).unwrap();
        let seen = events.seen.lock().unwrap();
        assert!(seen[0].starts_with("mart(trees=3, rate=0.5, leaves=4)"), "{seen:?}");
    }

    #[test]
    fn a_training_that_ranks_nothing_is_a_warning_of_each_rate() {
        let folder = tempfile::tempdir().unwrap();
        let learner = LearnerSpec::parse("mart(trees=2, min_rows=100000)").unwrap();
        let request = ReportShrinkageRequest { learner, ..request(folder.path(), &[1.0, 0.5]) };
        let result = report_shrinkage(&request, &Context::default()).unwrap();
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["held-out", "constant-scores", "constant-scores"]);
        let message = result.warnings[2].to_string();
        assert!(message.contains("rate=0.5") && message.contains("min_rows=100000"), "{message}");
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["warnings"][1]["kind"], "constant-scores");
    }

    #[test]
    fn a_cancelled_training_ends_the_task() {
        let folder = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let events = Events::new(3, &stop);
        let context = Context::default().training(&events).cancel(&stop);
        let error = report_shrinkage(&request(folder.path(), &[1.0, 0.5]), &context).unwrap_err();
        assert!(matches!(error, TaskError::Cancelled), "{error}");
        let seen = events.seen.lock().unwrap();
        assert_eq!(seen.len(), 4, "the second training was begun and ended: {seen:?}");
    }

    #[test]
    fn rates_are_checked_before_anything_is_read() {
        let learner = LearnerSpec::parse("mart").unwrap();
        let nowhere = DataFiles::new(["there is no such file"]);
        let request = ReportShrinkageRequest::new(learner, [0.5, 0.5], nowhere);
        let error = report_shrinkage(&request, &Context::default()).unwrap_err();
        assert!(
            matches!(error, TaskError::Experiment(ExperimentError::RateTwice { .. })),
            "{error}"
        );
    }
}
