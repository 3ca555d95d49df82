//! Errors of experiments. A cell of an experiment is one training run: data set x fold x learner x
//! seed.

use std::path::PathBuf;
use std::sync::Arc;

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
use rankwright_eval::stats::StatsError;
use rankwright_learn::LearnError;
use rankwright_model::ModelError;
use rankwright_report::ReportError;
use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

use crate::file::some_of;

/// The reason why an experiment could not be read, run or reported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A metric cannot be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A spec cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Systems cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A training failed.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A page could not be drawn.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Another process runs an experiment in the same folder.
    #[error("another experiment is running in {}", folder.display())]
    FolderInUse {
        /// The folder of the results.
        folder: PathBuf,
    },
    /// A file of the report would be written over an input of the experiment.
    #[error("{} would be written over the input {}", out.display(), input.display())]
    OutputIsInput {
        /// The file to write.
        out: PathBuf,
        /// The input that is the same file.
        input: PathBuf,
    },
    /// A learner has no parameter `rate`, so there is no shrinkage to vary.
    #[error("{learner} has no parameter `rate`")]
    NoRate {
        /// Name of the learner.
        learner: String,
    },
    /// A learning rate is not a number above 0.
    #[error("the learning rate is {rate}; expected a number above 0")]
    BadRate {
        /// The rate.
        rate: f64,
    },
    /// A learning rate is given twice.
    #[error("the learning rate {rate} is given twice")]
    RateTwice {
        /// The rate.
        rate: f64,
    },
    /// Two goals that cannot be traded: they are equal, or differ in both the metric and the labels.
    #[error(
        "{} and {} cannot be traded: two goals must differ in their metric or in their labels, and \
         not in both",
        goals[0], goals[1]
    )]
    Goals {
        /// The goals.
        goals: [String; 2],
    },
    /// A weight of a goal is not between 0 and 1.
    #[error("the weight of the second goal is {weight}; expected a number from 0 to 1")]
    BadGoalWeight {
        /// The weight.
        weight: f64,
    },
    /// A trade-off without weights and tolerances.
    #[error("there is no weight and no tolerance to train with")]
    NoWeights,
    /// A goal that is kept has labels other than the data's own.
    #[error("a metric on {labels} cannot be kept: only one on the data's own labels can")]
    KeptLabels {
        /// The column of labels.
        labels: String,
    },
    /// The values of a metric have no confidence interval.
    #[error("there is no interval of the mean of {metric}: {source}")]
    NoInterval {
        /// The metric.
        metric: String,
        /// The reason.
        source: StatsError,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// A learner does not learn in rounds, so there is no learning curve.
    #[error("{learner} is not trained in rounds, so it has no learning curve")]
    NoRounds {
        /// The learner's spec.
        learner: String,
    },
    /// An error in an experiment's file.
    #[error("{file}, line {line}, column {column}: {message}")]
    File {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem and the expected content.
        message: String,
    },
    /// Data that several cells share could not be read.
    #[error(transparent)]
    SharedData(#[from] Arc<DataError>),
    /// A learner was named that the experiment does not have.
    #[error("no learner of the experiment is called `{name}`{}", suggestion(nearest.as_ref()))]
    UnknownLearner {
        /// The name.
        name: String,
        /// A known name that is similar to it; `None` if there is none.
        nearest: Option<String>,
        /// Names of the `[[learner]]` entries in the experiment's file.
        known: Vec<String>,
    },
    /// A learner is to be trained on a feature that the data does not have.
    #[error("the data has no feature `{name}`{}", suggestion(nearest.as_ref()))]
    UnknownFeature {
        /// The name.
        name: String,
        /// A feature of the data with a similar name; `None` if there is none.
        nearest: Option<String>,
    },
    /// A learner is to be trained on some features of data whose features have no names.
    #[error("the features of the data have numbers and no names, so that none can be selected")]
    NumberedFeatures,
    /// The test part of a cell has no queries.
    #[error("the test part has no queries")]
    EmptyTestPart,
    /// The model of a cell gives a test document a score that is not finite.
    #[error("the model gives a test document the score {score}, so the training diverged")]
    ScoreNotFinite {
        /// The score.
        score: f64,
    },
    /// The training or scoring of a cell panicked: a bug in this program or in a learner of the
    /// caller.
    #[error("internal error: the cell panicked: {message}")]
    Panicked {
        /// The message of the panic.
        message: String,
    },
    /// The system could not start threads.
    #[error("cannot start {}: {source}", counted(*threads, "thread"))]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The reason.
        source: rayon::ThreadPoolBuildError,
    },
}

/// ` (did you mean ...?)`, or nothing if there is no similar name.
fn suggestion(nearest: Option<&String>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl ExperimentError {
    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        self.wrapped_help().unwrap_or_else(|| self.own_help())
    }

    /// A remedy for the errors of experiments themselves.
    fn own_help(&self) -> Option<String> {
        match self {
            Self::NoRate { .. } => {
                Some("learners with a learning rate are, for example, lambdamart and mart".into())
            }
            Self::Goals { .. } => {
                Some("such as ndcg@10 and p@5, or ndcg@10 and ndcg@10 on clicks".into())
            }
            Self::FolderInUse { .. } => {
                Some("wait until it ends, or choose another folder for the results".into())
            }
            Self::EmptyTestPart => Some("give the test part a larger share of the data".into()),
            Self::ScoreNotFinite { .. } => {
                Some("a smaller learning rate or more regularisation may help".into())
            }
            Self::UnknownLearner { known, .. } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                Some(format!("the learners are {}", some_of(&known)))
            }
            _ => None,
        }
    }
}
