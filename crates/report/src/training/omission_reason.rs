//! The reasons why a part of a training report is left out.

use std::fmt;

/// A part of a report, or the reason why it is left out.
pub type ReportPart<T> = Result<T, OmissionReason>;

/// The reason why a part of a training report is left out. [`fmt::Display`] gives a whole sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OmissionReason {
    /// There is no training log.
    NoLog,
    /// The training log does not record the time of each phase.
    NoTimes,
    /// The model does not name the objective that it was trained with.
    UnknownObjective,
    /// The objective of the training has no pairs of documents.
    NoPairObjective {
        /// Name of the learner.
        learner: String,
        /// The objective, as a spec.
        objective: String,
    },
    /// The model was trained on columns of labels other than the data's own alone, each with pairs
    /// of its own.
    SeveralLabels {
        /// The columns with their weights.
        labels: String,
    },
    /// No query has pairs of documents, or all queries have too many of them.
    NoUsableQuery,
    /// No query has two documents with different labels.
    EqualLabels,
    /// The model has no trees.
    NoTreesInModel {
        /// The kind of model, such as `net`.
        model: &'static str,
    },
    /// No drawing of a tree was requested, or the ensemble is empty.
    NoTreeToDraw,
    /// The metric has no value on the data, so permutation importance cannot be computed.
    MetricUndefined {
        /// The metric.
        metric: String,
        /// The conventions of the metric: how ties, unjudged documents and so on are treated.
        convention: String,
    },
}

impl fmt::Display for OmissionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("This part is left out: ")?;
        match self {
            Self::NoLog => f.write_str("there is no training log."),
            Self::NoTimes => {
                f.write_str("the training log does not record the time of each phase.")
            }
            Self::UnknownObjective => {
                f.write_str("the model does not name the objective of its training.")
            }
            Self::NoPairObjective { learner, objective } => write!(
                f,
                "{learner} does not learn from pairs of documents (its objective is {objective}), \
                 so there are no lambdas of pairs."
            ),
            Self::SeveralLabels { labels } => write!(
                f,
                "the model was trained on the columns of labels {labels}, each with pairs of its own."
            ),
            Self::NoUsableQuery => f.write_str(
                "no query of the data has pairs of documents, or every query has too many of them.",
            ),
            Self::EqualLabels => f.write_str("no query has two documents with different labels."),
            Self::NoTreesInModel { model } => {
                write!(f, "the model has no trees (its kind is {model}).")
            }
            Self::NoTreeToDraw => f.write_str("there is no tree to draw."),
            Self::MetricUndefined { metric, convention } => write!(
                f,
                "{metric} has no value for any query of the data under {convention}, so permutation \
                 importance cannot be computed."
            ),
        }
    }
}
