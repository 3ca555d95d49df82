//! Errors of training.
//!
//! An error names the problem and the value. Advice on how to fix it is added by the command line,
//! the Python package or the server.

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_model::ModelError;
use rankwright_spec::SpecError;

use crate::tune::TuneError;

/// The reason why a training was rejected or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A learner, objective or metric is not written as it must be.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A metric could not be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A file could not be read or written.
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
        "{aside} of {queries} queries cannot be set aside for validation: both parts need some"
    )]
    HoldOut {
        /// The number or part of queries to set aside.
        aside: String,
        /// The queries there are.
        queries: usize,
    },
    /// A data set on which the metric is undefined for every query.
    #[error("no query of {data} has a value for {metric}: there are no relevant documents")]
    NoMetricValue {
        /// Name of the data set.
        data: String,
        /// The metric.
        metric: String,
    },
    /// No query of the data has a value of a metric.
    #[error("{metric} has no value: no query of the data counts under {convention}")]
    MetricUndefined {
        /// The metric.
        metric: String,
        /// Its conventions, in words.
        convention: String,
    },
    /// Preference pairs were given to a learner that needs labels.
    #[error("{learner} does not learn from preference pairs; {} do", pair_learners())]
    PairsUnsupported {
        /// The learner or objective.
        learner: String,
    },
    /// A preference between documents that the query does not have.
    #[error("a preference names documents {better} and {worse} of a query of {documents}")]
    PairOutOfRange {
        /// The better document, from 0.
        better: u32,
        /// The worse document, from 0.
        worse: u32,
        /// Documents of the query.
        documents: usize,
    },
    /// Preference pairs that are all ties.
    #[error("all preference pairs are ties; some must say which document is better")]
    OnlyTiedPairs,
    /// Preferences without labels for an objective that needs both.
    #[error("lambdas of a metric need labels, and there are preference pairs alone")]
    LabelsMissing,
    /// No two documents of a query differ in label.
    #[error("no query has two documents with different labels, so there is nothing to rank")]
    NothingToRank,
    /// No query has both relevant and other documents.
    #[error("no query has both relevant documents (labels from {rel} on) and others")]
    NothingRelevant {
        /// The lowest label that counts as relevant.
        rel: f64,
    },
    /// All documents are relevant, or none is, and the learner is a classifier.
    #[error(
        "there are only {found} documents (relevant are labels from {rel} on); both kinds are needed"
    )]
    OneKind {
        /// The lowest label that counts as relevant.
        rel: f64,
        /// The kind there is: `relevant` or `other`.
        found: &'static str,
    },
    /// Everything that could be learnt from has weight 0.
    #[error("everything that could be learnt from has weight 0")]
    ZeroWeights,
    /// A start model was given to a learner that does not support one.
    #[error("{learner} does not start from a model; boosted trees do")]
    StartUnsupported {
        /// The learner.
        learner: String,
    },
    /// A start model that is not made of trees.
    #[error("the start model is a {kind} model; trees can be added to trees only")]
    StartNotTrees {
        /// Its kind.
        kind: &'static str,
    },
    /// A feature of the start model that the data lacks.
    #[error("the start model uses feature {feature}, which the training data lacks")]
    StartFeature {
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
    /// More different labels than ordinal regression takes.
    #[error("there are more than {most} different labels, the most that ordinal regression takes")]
    TooManyGrades {
        /// The most different labels.
        most: usize,
    },
    /// All labels are equal, and the learner needs several grades.
    #[error("all labels are equal; ordinal regression needs different labels")]
    OneGrade,
    /// A label that was not among those that ordinal regression was prepared with.
    #[error("the label {label} is none of the grades that ordinal regression was prepared with")]
    UnknownGrade {
        /// The label.
        label: f64,
    },
    /// A metric has a value outside 0 to 1, and the learner needs one within.
    #[error("the metric is {value} on a query of the training data; adarank needs one from 0 to 1")]
    MetricOutOfRange {
        /// The value.
        value: f64,
    },
    /// The metric's change under swaps is not defined.
    #[error("the metric {metric} has no change under swaps, so lambdas cannot aim at it")]
    NoSwaps {
        /// The metric.
        metric: String,
    },
    /// A Newton step over pairs was requested for an objective without pairs.
    #[error("newton=cross-leaf and newton=joint are for objectives of pairs; this one has none")]
    NewtonWithoutPairs,
    /// A number left the range in which training can continue.
    #[error("{what}; {likely}")]
    NotFinite {
        /// The number that is not finite or too large.
        what: &'static str,
        /// The likely cause.
        likely: &'static str,
    },
    /// An objective of the caller's own returned a hessian below 0.
    #[error("the objective gave a second derivative below 0; an upper bound of it is allowed")]
    NegativeHessian,
    /// An objective of the caller's own failed.
    #[error("the objective failed: {0}")]
    Objective(String),
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
        "a query has {scores} scores, {labels} labels, {weights} weights and room for {room} derivatives"
    )]
    QueryLengths {
        /// Number of scores.
        scores: usize,
        /// Number of labels.
        labels: usize,
        /// Number of weights.
        weights: usize,
        /// Number of derivatives that the output buffers hold.
        room: usize,
    },
    /// A file that is not a training log.
    #[error("{file} is no log of a training: {problem}")]
    Log {
        /// The file.
        file: String,
        /// The problem with its content.
        problem: String,
    },
    /// A checkpoint that cannot be resumed.
    #[error("{path} {problem}")]
    Checkpoint {
        /// The file.
        path: String,
        /// The problem, as the rest of a sentence.
        problem: String,
    },
    /// A checkpoint whose state is not one of this training.
    #[error("the checkpoint {problem}")]
    CheckpointState {
        /// The problem, as the rest of a sentence.
        problem: &'static str,
    },
    /// A training that was cancelled before there was a model.
    #[error("training was cancelled before its first {unit}")]
    Cancelled {
        /// The name of a round.
        unit: String,
    },
    /// A blend as a member of a blend.
    #[error("{path} is a blend; a blend cannot be a member of another")]
    BlendOfBlends {
        /// The file.
        path: String,
    },
    /// A bug in this program.
    #[error("internal error: {invariant} does not hold")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
}

impl LearnError {
    /// A number that is not finite or too large, with its likely cause.
    pub(crate) fn not_finite(what: &'static str, likely: &'static str) -> Self {
        Self::NotFinite { what, likely }
    }
}

/// The names of the learners that take preference pairs.
fn pair_learners() -> String {
    let takes = crate::learner::LEARNERS.iter().filter(|def| def.takes.pairs);
    takes.map(|def| def.name).collect::<Vec<_>>().join(", ")
}
