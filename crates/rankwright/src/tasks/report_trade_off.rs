//! Report on two goals: one learner trained with several weights of the second goal.

use std::path::{Path, PathBuf};

use rankwright_data::DEFAULT_SEED;
use rankwright_experiment::{TradeOffGoal, TradeOffRequest};
use rankwright_learn::LearnerSpec;
use rankwright_model::{MatchOptions, ScoreOptions};
use rankwright_report::training::{NamedData, TradeOffReport};
use serde::{Serialize, Serializer};

use super::context::RunningTask;
use super::paths::set_names;
use super::train::{ForwardedProgress, ValidationFiles, warn_about};
use super::{Context, DataFiles, TaskError, TaskInputs, Warning};

/// A learner, two goals, the weights to train it with, and data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportTradeOffRequest {
    /// The learner; its metric and labels are replaced.
    pub learner: LearnerSpec,
    /// The two goals.
    pub goals: [TradeOffGoal; 2],
    /// Weights of the second goal, from 0 (the first goal alone) to 1 (the second alone).
    pub weights: Vec<f64>,
    /// Tolerances with which the first goal is kept; may be empty.
    pub tolerances: Vec<f64>,
    /// Training data.
    pub data: DataFiles,
    /// A file of validation data, read with the options of the training data, on which models are
    /// chosen and measured. Without it, a fifth of the training queries is held out.
    pub valid: Option<PathBuf>,
    /// Seed of the trainings, and of the queries that are held out.
    pub seed: u64,
    /// The rule that matches the features of validation data with those of the training data.
    pub matching: MatchOptions,
}

impl ReportTradeOffRequest {
    /// The default learner of a program that lets its user choose.
    pub const DEFAULT_LEARNER: &'static str = "lambdamart(trees=200, leaves=16)";

    /// The default weights of a program that lets its user choose.
    pub const DEFAULT_WEIGHTS: [f64; 6] = TradeOffRequest::DEFAULT_WEIGHTS;

    /// Trains a learner on data with the default weights of two goals.
    pub fn new(learner: LearnerSpec, goals: [TradeOffGoal; 2], data: DataFiles) -> Self {
        Self {
            learner,
            goals,
            weights: Self::DEFAULT_WEIGHTS.to_vec(),
            tolerances: Vec::new(),
            data,
            valid: None,
            seed: DEFAULT_SEED,
            matching: MatchOptions::default(),
        }
    }

    /// Sets the weights of the second goal.
    #[must_use]
    pub fn weights(mut self, weights: impl Into<Vec<f64>>) -> Self {
        self.weights = weights.into();
        self
    }

    /// Sets the tolerances with which the first goal is kept.
    #[must_use]
    pub fn tolerances(mut self, tolerances: impl Into<Vec<f64>>) -> Self {
        self.tolerances = tolerances.into();
        self
    }

    /// Sets the file of validation data.
    #[must_use]
    pub fn validation(mut self, file: impl Into<PathBuf>) -> Self {
        self.valid = Some(file.into());
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// The data, and the models that a blend names as its members.
impl TaskInputs for ReportTradeOffRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let data = self.data.paths().chain(self.valid.as_deref());
        data.map(Path::to_owned).chain(self.learner.files()).collect()
    }
}

/// Trainings with several weights of two goals. Serialised as the numbers of the report, with all
/// warnings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReportTradeOffResult {
    /// The report.
    pub report: TradeOffReport,
    /// All warnings, including those of the report.
    pub warnings: Vec<Warning>,
}

impl Serialize for ReportTradeOffResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.report.result_with(&self.warnings).serialize(serializer)
    }
}

/// Trains a learner once for each weight and tolerance, and measures both goals on the validation
/// data. A cancelled training is [`TaskError::Cancelled`]; nothing of it is saved.
pub fn report_trade_off(
    request: &ReportTradeOffRequest,
    context: &Context<'_>,
) -> Result<ReportTradeOffResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files([])?;
    let train = request.data.load(None, &mut task)?.data;
    let files: Vec<PathBuf> = request.valid.iter().cloned().collect();
    let valid = ValidationFiles { files: &files, pairs: None, matching: request.matching };
    let (valid, _) = valid.load(&request.data, &train, &mut task)?;
    warn_about(&request.learner, &train, &[], &mut task)?;
    let (train_name, valid_names) = set_names(&request.data.files, &files);
    let mut sets = valid_names.iter().zip(&valid);
    let valid = sets.next().map(|(name, (_, data))| NamedData { name, data });
    let named_train = NamedData { name: &train_name, data: &train };
    let trainings =
        TradeOffRequest::new(request.learner.clone(), request.goals.clone(), named_train)
            .weights(request.weights.clone())
            .tolerances(request.tolerances.clone())
            .valid(valid)
            .seed(request.seed)
            .score(ScoreOptions::new().matching(request.matching).simd(task.simd()))
            .simd(task.simd());
    let report =
        trainings.run(|learner| ForwardedProgress::begin(context, learner, train.rows(), None))?;
    let report = report.ok_or(TaskError::Cancelled)?;
    report.warnings.iter().for_each(|warning| task.warn(Warning::Report(warning.clone())));
    Ok(ReportTradeOffResult { report, warnings: task.into_warnings() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::format::{Format, write};
    use rankwright_data::generate::LetorOptions;

    #[test]
    fn goals_on_two_columns_of_labels_are_measured_on_held_out_queries() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.csv");
        let data = LetorOptions { queries: 30, documents: 10, seed: 1 }.generate().unwrap();
        // Users click what judges dislike.
        let clicks = data.labels().iter().map(|label| 4.0 - label).collect();
        let data = data.with_label_column("clicks", clicks).unwrap();
        write(&data, &path, Format::Csv).unwrap();
        let goals = ["ndcg@10", "ndcg@10 on clicks"].map(|g| TradeOffGoal::parse(g).unwrap());
        let learner = LearnerSpec::parse("lambdamart(trees=10, leaves=4)").unwrap();
        let request = ReportTradeOffRequest::new(learner, goals, DataFiles::new([path]))
            .weights([0.0, 0.5, 1.0])
            .tolerances([0.01]);
        let result = report_trade_off(&request, &Context::default()).unwrap();
        let json = serde_json::to_value(&result).unwrap();
        let value = |point: usize, goal: usize| {
            json["points"][point]["values"][goal]["value"].as_f64().unwrap()
        };
        assert!(value(0, 0) > value(1, 0) && value(1, 0) > value(2, 0), "{json}");
        assert!(value(0, 1) < value(1, 1) && value(1, 1) < value(2, 1), "{json}");
        assert_eq!(json["points"].as_array().unwrap().len(), 4);
        assert_eq!(json["warnings"][0]["kind"], "held-out");
    }
}
