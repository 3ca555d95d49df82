//! Errors of estimates from click logs.

use rankwright_spec::{SpecError, error_kinds};

use crate::bias::BiasRefusal;

/// The reason why an estimate from a click log is not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClicksError {
    /// Clicks cannot be weighted without the examination of their rank.
    #[error("the examination of rank {rank} is not known")]
    NoExamination {
        /// The first rank without an examination, from 1.
        rank: usize,
    },
    /// An estimator has no position bias for a log.
    #[error("{estimator} cannot estimate the position bias of this log: {reason}")]
    NoBias {
        /// The estimator.
        estimator: &'static str,
        /// The reason.
        reason: BiasRefusal,
    },
    /// No page of a log has an attribute.
    #[error("no page of the log has a value of '{name}'; attributes are {}", known.join(", "))]
    UnknownAttribute {
        /// The attribute.
        name: String,
        /// The attributes that there are.
        known: Vec<&'static str>,
    },
    /// Doubly robust labels need the relevance of each pair that a regression on features predicts.
    #[error("a doubly robust estimate needs features of the documents")]
    NoFeatures,
    /// No document of a log is part of the feature data.
    #[error("no query and document of the log is in the feature data")]
    NoKnownDocuments,
    /// A metric is not a sum over ranks.
    #[error(
        "{metric} is not a sum over ranks, and cannot be estimated from clicks; expected {}",
        expected.join(", ")
    )]
    NotAdditive {
        /// The metric.
        metric: String,
        /// Metrics that can be estimated.
        expected: Vec<&'static str>,
    },
    /// A page of a log has no propensities, or one of 0.
    #[error("a page of query '{query}' does not have the probability of each of its documents")]
    NoPropensities {
        /// The query.
        query: String,
    },
    /// The log says nothing about too large a part of a ranking.
    #[error(
        "the log covers {:.1} % of the weight of the ranking, but {:.1} % are needed: the other \
         documents were never shown where they would have to be",
        100.0 * overlap, 100.0 * needed
    )]
    NoOverlap {
        /// The covered share of the metric's weight.
        overlap: f64,
        /// The share that is needed.
        needed: f64,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// A spec cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A metric has no value.
    #[error(transparent)]
    Eval(#[from] rankwright_eval::EvalError),
    /// A test cannot be computed.
    #[error(transparent)]
    Stats(#[from] rankwright_eval::stats::StatsError),
}

error_kinds! {
    ClicksError {
        Self::NoExamination { .. } => "no-examination",
        Self::NoBias { .. } => "no-bias",
        Self::UnknownAttribute { .. } => "unknown-attribute",
        Self::NoFeatures => "no-features",
        Self::NoKnownDocuments => "no-known-documents",
        Self::NotAdditive { .. } => "not-additive",
        Self::NoPropensities { .. } => "no-propensities",
        Self::NoOverlap { .. } => "no-overlap",
        Self::Internal { .. } => "internal",
    }
    wraps {
        Self::Spec(error) => error,
        Self::Eval(error) => error,
        Self::Stats(error) => error,
    }
}

impl ClicksError {
    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Spec(error) => return error.help(),
            Self::Eval(error) => return error.help(),
            Self::Stats(error) => return error.help(),
            Self::NoExamination { .. } => "give the examination of every rank",
            Self::NoFeatures => "give feature data with the ids of queries and documents",
            Self::NoKnownDocuments => {
                "check that log and feature data have the same ids of queries and documents"
            }
            Self::NoPropensities { .. } => "use the examination of ranks instead",
            Self::NoOverlap { .. } => {
                "use the estimator dr or dm, which predict the rest by features, or accept less overlap"
            }
            Self::NoBias { .. }
            | Self::UnknownAttribute { .. }
            | Self::NotAdditive { .. }
            | Self::Internal { .. } => return None,
        };
        Some(text.to_owned())
    }
}
