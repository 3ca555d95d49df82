//! Errors of training.
//!
//! An error names the problem and the value; [`LearnError::help`] names a remedy that holds for
//! every caller. The command line replaces the remedy by a command or option to type where it knows
//! one.

mod checkpoint;
mod not_finite;

use std::error::Error;
use std::path::PathBuf;

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_model::ModelError;
use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

use crate::bias::BiasFileProblem;
use crate::tune::TuneError;

pub use checkpoint::{CheckpointProblem, StateProblem};
pub use not_finite::NotFiniteValue;

/// The reason why a training was rejected or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// The text of a learner, objective or metric cannot be read, or a parameter is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A metric could not be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// An error of the data crate, such as a file that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model could not be used or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A search over parameters was rejected or failed.
    #[error(transparent)]
    Tune(#[from] TuneError),

    /// The training data has no rows.
    #[error("the training data is empty")]
    EmptyData,
    /// The training data has no columns.
    #[error("the training data has no features")]
    NoFeatures,
    /// The learner stops early or selects its model by validation data, and there is none.
    #[error("{learner} needs validation data, and there is none")]
    MissingValidation {
        /// The learner.
        learner: String,
    },
    /// A fold of a cross validation leaves no queries to validate on.
    #[error("{learner} needs validation queries other than those that a fold tests")]
    MissingFoldValidation {
        /// The learner.
        learner: String,
    },
    /// Too few queries to set some aside for validation.
    #[error(
        "a part of {part} of {} cannot be set aside for validation: training and validation need \
         at least one query each",
        counted(*queries, "query")
    )]
    HoldOut {
        /// The part of the queries to set aside, between 0 and 1.
        part: f64,
        /// Number of queries that there are.
        queries: usize,
    },
    /// Training or validation data on which the metric is undefined for every query.
    #[error("no query of {data} has a value for {metric}: there are no relevant documents")]
    NoMetricValue {
        /// Name of the data set.
        data: String,
        /// The metric.
        metric: String,
    },
    /// Data for permutation importance on which the metric is undefined for every query.
    #[error("no query of the data has a value for {metric} ({convention})")]
    MetricUndefined {
        /// The metric.
        metric: String,
        /// The conventions of the metric, in words: how ties, unjudged documents and so on are
        /// treated.
        convention: String,
    },
    /// The training data has preference pairs, and the learner needs labels.
    #[error("{learner} does not learn from preference pairs; {} do", pair_learners(*labelled))]
    PairsUnsupported {
        /// The learner.
        learner: String,
        /// Whether the documents have labels besides the pairs.
        labelled: bool,
    },
    /// A query has preference pairs, and the objective learns from labels only.
    #[error("this objective needs a label for each document and does not learn from pairs")]
    ObjectiveNeedsLabels,
    /// A preference between documents that the query does not have.
    #[error(
        "a preference names documents {better} and {worse} of a query that has {}",
        counted(*documents, "document")
    )]
    PairOutOfRange {
        /// The better document, from 0.
        better: u32,
        /// The worse document, from 0.
        worse: u32,
        /// Number of documents of the query.
        documents: usize,
    },
    /// Preference pairs that are all ties.
    #[error("all preference pairs are ties; some must say which document is better")]
    OnlyTiedPairs,
    /// Preferences without labels for an objective that needs both.
    #[error(
        "lambdas of a metric need labels, and there are preference pairs only; {} learn from pairs \
         alone",
        pair_learners(false)
    )]
    LabelsMissing,
    /// No two documents of a query differ in label.
    #[error("no query has two documents with different labels, so there is nothing to rank")]
    NothingToRank,
    /// No query has both relevant and other documents.
    #[error("no query has both relevant documents (a label of at least {rel}) and others")]
    NothingRelevant {
        /// The lowest label that counts as relevant.
        rel: f64,
    },
    /// All documents are relevant, or none is, and the learner is a classifier.
    #[error(
        "{} is relevant (has a label of at least {rel}); a classifier needs relevant and other \
         documents",
        if *relevant { "every document" } else { "no document" }
    )]
    OneClass {
        /// The lowest label that counts as relevant.
        rel: f64,
        /// Whether all documents are relevant; if not, none is.
        relevant: bool,
    },
    /// All documents, queries or pairs to learn from have weight 0.
    #[error("all weights of the training data are 0, so there is nothing to learn from")]
    ZeroWeights,
    /// A start model was given to a learner that does not support one.
    #[error("{learner} cannot start from a model; boosted trees can")]
    StartModelUnsupported {
        /// The learner.
        learner: String,
    },
    /// A teacher was given to a learner that cannot learn from one.
    #[error("{learner} cannot learn from a teacher; {} can", teacher_learners())]
    TeacherUnsupported {
        /// The learner.
        learner: String,
    },
    /// The number of a teacher's scores is not the number of rows.
    #[error("the teacher has {}, and the data has {}", counted(*found, "score"), counted(*rows, "row"))]
    TeacherScores {
        /// Number of scores.
        found: usize,
        /// Number of rows of the training data and of the queries without labels.
        rows: usize,
    },
    /// A score of a teacher that is NaN or infinite.
    #[error("the teacher's score of row {row} is {score}; scores must be finite numbers")]
    TeacherScoreNotFinite {
        /// Row of the data set, from 0.
        row: usize,
        /// The score.
        score: f64,
    },
    /// Several processes were to train together with a learner that exchanges nothing: each would
    /// get a model of its own queries alone.
    #[error("{learner} cannot be trained by {processes} processes together")]
    CollectiveUnsupported {
        /// The learner.
        learner: String,
        /// Number of processes.
        processes: usize,
    },
    /// A feature of the start model that the data lacks.
    #[error("the start model uses feature {feature}, which the training data lacks")]
    StartModelFeature {
        /// Name or number of the feature.
        feature: String,
    },
    /// A label that is NaN or infinite.
    #[error("the label of row {row} is {label}; labels must be finite numbers")]
    LabelNotFinite {
        /// Row of the data set, from 0.
        row: usize,
        /// The label.
        label: f64,
    },
    /// More different labels than ordinal regression accepts.
    #[error("there are more than {most} different labels, the maximum for ordinal regression")]
    TooManyGrades {
        /// The largest number of different labels that ordinal regression accepts.
        most: usize,
    },
    /// All labels are equal, and the learner needs several grades.
    #[error("all labels are equal; ordinal regression needs different labels")]
    OneGrade,
    /// A label that was not among those that ordinal regression was prepared with.
    #[error("the label {label} is not one of the labels that ordinal regression was prepared with")]
    UnknownGrade {
        /// The label.
        label: f64,
    },
    /// A metric has a value outside 0 to 1, and the learner needs values from 0 to 1.
    #[error(
        "the metric is {value} on a query of the training data; adarank needs a metric from 0 to 1"
    )]
    MetricOutOfRange {
        /// The value.
        value: f64,
    },
    /// The metric does not define its change when two documents swap their positions.
    #[error("the metric {metric} does not define its change under swaps, which lambdas need")]
    NoSwaps {
        /// The metric.
        metric: String,
    },
    /// A Newton step with the hessians of document pairs, for an objective without pairs.
    #[error(
        "newton=cross-leaf and newton=joint need an objective of document pairs; this one has none"
    )]
    NewtonWithoutPairs,
    /// A tree that the model does not have.
    #[error("there is no tree {number}; the model has {}", counted(*trees, "tree"))]
    NoSuchTree {
        /// Number of the tree, from 1.
        number: usize,
        /// Number of trees of the model; 0 if it has none.
        trees: usize,
    },
    /// The objective of a model cannot be evaluated, so that the targets of its trees are not
    /// known.
    #[error("the targets of the trees are not known: the model's objective is '{objective}'")]
    NoDerivatives {
        /// The objective; empty if the model does not name one.
        objective: String,
    },
    /// A value left the range in which training can continue.
    #[error(transparent)]
    NotFinite(#[from] NotFiniteValue),
    /// An objective that the caller implements returned a hessian below 0.
    #[error("the objective returned a hessian below 0; hessians must be at least 0")]
    NegativeHessian,
    /// An objective that the caller implements failed; see [`LearnError::objective`].
    #[error("the objective failed: {0}")]
    Objective(#[source] Box<dyn Error + Send + Sync>),
    /// An error in one query.
    #[error("query {query}: {error}")]
    InQuery {
        /// Id of the query.
        query: String,
        /// The error.
        error: Box<LearnError>,
    },
    /// Slices of different lengths in a query that the caller created.
    #[error(
        "the slices of a query differ in length: {scores} scores, {labels} labels, {weights} \
         weights, {derivatives} derivatives"
    )]
    QueryLengths {
        /// Number of scores.
        scores: usize,
        /// Number of labels.
        labels: usize,
        /// Number of weights.
        weights: usize,
        /// Number of derivatives that the output buffers hold.
        derivatives: usize,
    },
    /// A file that is not a training log.
    #[error("{file} is not the log of a training: {error}")]
    Log {
        /// The file.
        file: String,
        /// The error of the JSON reader, with its line and column.
        error: serde_json::Error,
    },
    /// A checkpoint that cannot be resumed.
    #[error("{path} {problem}")]
    Checkpoint {
        /// The file.
        path: String,
        /// The reason.
        problem: CheckpointProblem,
    },
    /// Another training, perhaps in another process, saves to the same folder.
    #[error("another training is using the checkpoint folder {}", folder.display())]
    CheckpointInUse {
        /// The folder.
        folder: PathBuf,
    },
    /// A checkpoint whose learner state cannot be restored.
    #[error("the checkpoint holds {0}")]
    CheckpointState(#[from] StateProblem),
    /// A training that was cancelled before there was a model.
    #[error("training was cancelled before its first {unit}")]
    Cancelled {
        /// The word for one round of the training, such as `tree`.
        unit: String,
    },
    /// A blend as a member of a blend.
    #[error("{path} is a blend; a blend cannot be a member of another")]
    BlendOfBlends {
        /// The file.
        path: String,
    },
    /// A correction for position bias, and training data without positions.
    #[error(
        "bias={bias} needs the position at which each document was shown, and the training data has \
         none"
    )]
    PositionsMissing {
        /// The correction.
        bias: &'static str,
    },
    /// More different positions than a model keeps.
    #[error("the training data has {found} different positions; at most {most} can be corrected")]
    TooManyPositions {
        /// Number of different positions.
        found: usize,
        /// The largest number.
        most: usize,
    },
    /// A correction by examination without the examination of positions.
    #[error("bias={bias} needs the examination of each position, and there is none")]
    ExaminationMissing {
        /// The correction.
        bias: &'static str,
    },
    /// A click at a position whose examination is not known.
    #[error("a document was clicked at position {position}, whose examination is not known")]
    ExaminationUnknown {
        /// The position.
        position: u32,
    },
    /// A label that is neither a click nor a click rate.
    #[error("the label of row {row} is {label}; bias=dr needs clicks or click rates from 0 to 1")]
    NotAClickRate {
        /// Row of the data set, from 0.
        row: usize,
        /// The label.
        label: f64,
    },
    /// A column of labels that the data does not have.
    #[error("the data has no column of labels '{name}'; it has {}", known_labels(known))]
    LabelColumnMissing {
        /// The name of the column.
        name: String,
        /// The names of the further columns of labels that the data has.
        known: Vec<String>,
    },
    /// Several columns of labels, and preference pairs, which replace all labels.
    #[error("labels= mixes columns of labels, and the training data has preference pairs")]
    LabelsOfPairs,
    /// A correction of clicks for data with preference pairs, which are no clicks.
    #[error(
        "bias={bias} corrects labels that are clicks, and the training data has preference pairs"
    )]
    BiasOfPairs {
        /// The correction.
        bias: &'static str,
    },
    /// A file of position bias that cannot be read.
    #[error("{file} cannot be read as position bias: {problem}")]
    BiasFile {
        /// The file.
        file: String,
        /// The reason.
        problem: BiasFileProblem,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
}

impl LearnError {
    /// An error in an objective that the caller implements: a message, or an error as the source.
    ///
    /// ```
    /// use rankwright_learn::LearnError;
    ///
    /// let error = LearnError::objective("labels must be 0 or 1");
    /// assert_eq!(error.to_string(), "the objective failed: labels must be 0 or 1");
    /// ```
    pub fn objective(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Objective(error.into())
    }

    /// Whether the learner cannot be trained on this data, while another one may be.
    pub(crate) fn is_about_data(&self) -> bool {
        match self {
            Self::InQuery { error, .. } => error.is_about_data(),
            Self::ObjectiveNeedsLabels
            | Self::OnlyTiedPairs
            | Self::LabelsMissing
            | Self::NothingToRank
            | Self::NothingRelevant { .. }
            | Self::OneClass { .. }
            | Self::TooManyGrades { .. }
            | Self::OneGrade
            | Self::MetricOutOfRange { .. }
            | Self::NoSwaps { .. }
            | Self::NotFinite(_) => true,
            _ => false,
        }
    }

    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Spec(error) => return error.help(),
            Self::Eval(error) => return error.help(),
            Self::Data(error) => return error.help(),
            Self::Model(error) => return error.help(),
            Self::Tune(error) => return error.help(),
            Self::InQuery { error, .. } => return error.help(),
            Self::MissingValidation { .. } => {
                "give validation data, or train without early stopping"
            }
            Self::MissingFoldValidation { .. } => {
                "set aside a part of each fold's training queries for validation, or train without \
                 early stopping"
            }
            Self::HoldOut { .. } => {
                "give validation data, or set aside another part of the queries"
            }
            Self::NoMetricValue { .. } | Self::MetricUndefined { .. } => {
                "give data with relevant documents, or choose another metric"
            }
            Self::PairsUnsupported { .. } => {
                "choose one of these learners, or give data with labels and without preference \
                 pairs"
            }
            Self::LabelsMissing => "choose one of these learners, or give data with labels",
            Self::NothingToRank => "give data with graded labels, or preference pairs",
            Self::NothingRelevant { .. } | Self::OneClass { .. } => {
                "give data with relevant and other documents, or set the lowest relevant label \
                 (rel)"
            }
            Self::StartModelUnsupported { .. } => "train without a start model, or boost trees",
            Self::TeacherUnsupported { .. } => {
                "train without a teacher, or choose one of these learners"
            }
            Self::CollectiveUnsupported { .. } => {
                "train in one process, or boost trees (lambdamart, mart, rankboost, ...)"
            }
            Self::StartModelFeature { .. } => {
                "add this column to the data, or start from a model of the data's features"
            }
            Self::TooManyGrades { .. } => "round the labels, or use linear-regression or mart",
            Self::MetricOutOfRange { .. } => "choose a metric such as metric=ndcg@10",
            Self::NewtonWithoutPairs => {
                "use newton=per-document, or a learner of document pairs: lambdamart, rankmart"
            }
            Self::PositionsMissing { .. } => "give data with a column of positions",
            Self::ExaminationMissing { .. } => {
                "set examination=, such as examination=1/0.6/0.4, or use bias=gam, which needs none"
            }
            Self::ExaminationUnknown { .. } => {
                "give the examination of every position with a click"
            }
            Self::NotAClickRate { .. } => "make labels of clicks 0 and 1, or use bias=ips",
            Self::LabelColumnMissing { .. } => {
                "give the column the role extra_label, or call it label:NAME in the file"
            }
            Self::LabelsOfPairs => "train without preference pairs, or without labels=",
            Self::BiasOfPairs { .. } => "train without preference pairs, or use bias=gam",
            Self::BiasFile { .. } => {
                "expected lines of position and examination, or the JSON of an estimation"
            }
            Self::NotFinite(value) => value.help(),
            Self::CheckpointInUse { .. } => "wait until it ends, or use another checkpoint folder",
            Self::Checkpoint { .. } | Self::CheckpointState(_) => {
                "use another checkpoint folder, or delete this checkpoint to start from the \
                 beginning"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// The names of the learners that learn from preference pairs: of documents with labels, or, if not
/// `labelled`, of documents without labels.
fn pair_learners(labelled: bool) -> String {
    let accepts_pairs = |def: &&&crate::learner::LearnerDef| match labelled {
        true => def.accepts.pairs,
        false => def.accepts.pairs_alone,
    };
    crate::learner::LEARNERS
        .iter()
        .filter(accepts_pairs)
        .map(|def| def.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The names of the learners that learn from a teacher.
fn teacher_learners() -> String {
    let accepts_teacher = |def: &&&crate::learner::LearnerDef| {
        crate::learner::LearnerSpec::parse(def.name).is_ok_and(|learner| learner.accepts_teacher())
    };
    let names = crate::learner::LEARNERS.iter().filter(accepts_teacher).map(|def| def.name);
    names.collect::<Vec<_>>().join(", ")
}

/// The columns of labels of a data set, for a message.
fn known_labels(further: &[String]) -> String {
    std::iter::once("label")
        .chain(further.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::TuneLogProblem;

    #[test]
    fn messages_and_help_name_no_flags_and_have_correct_plurals() {
        let pairs = LearnError::PairsUnsupported { learner: "mart".to_owned(), labelled: true };
        let folds = LearnError::from(TuneError::Folds { folds: 1 });
        let held_out = LearnError::HoldOut { part: 0.2, queries: 1 };
        let value = LearnError::from(NotFiniteValue::NetScores);
        let path = || "checkpoint.model".to_owned();
        let checkpoint =
            LearnError::Checkpoint { path: path(), problem: CheckpointProblem::NotACheckpoint };
        let state = LearnError::from(StateProblem::MissingTrees);
        let log = TuneError::TuneLog { path: path(), problem: TuneLogProblem::NotALog }.into();
        let nested = LearnError::InQuery { query: "q1".to_owned(), error: Box::new(pairs) };
        assert_eq!(nested.help(), Some(
            "choose one of these learners, or give data with labels and without preference pairs"
                .to_owned()
        ));
        assert_eq!(folds.to_string(), "1 fold: at least 2 folds are needed to train and test");
        assert!(held_out.to_string().contains("of 1 query cannot"), "{held_out}");
        assert_eq!(checkpoint.to_string(), "checkpoint.model is a model, not a checkpoint");
        assert_eq!(state.to_string(), "the checkpoint holds fewer trees than rounds");
        for error in [nested, folds, held_out, value, checkpoint, state, log] {
            let help = error.help().unwrap_or_default();
            assert!(!error.to_string().contains("--") && !help.contains("--"), "{error}; {help}");
        }
    }

    #[test]
    fn an_objective_keeps_its_error_as_the_source() {
        let io = std::io::Error::other("no connection");
        let error = LearnError::objective(io);
        assert_eq!(error.to_string(), "the objective failed: no connection");
        assert!(error.source().unwrap().downcast_ref::<std::io::Error>().is_some());
    }
}
