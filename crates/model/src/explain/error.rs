//! The errors of explanations.

use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

use crate::error::ModelError;

/// The reason why there is no explanation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An option is out of its range.
    #[error(transparent)]
    Options(#[from] SpecError),
    /// Trees without the number of training rows at each leaf.
    #[error(
        "tree {tree} has no counts of training rows at its leaves, which its expected score needs"
    )]
    NoCounts {
        /// The first such tree, from 0.
        tree: usize,
    },
    /// A net without background documents, which its explanation needs.
    #[error("a net can only be explained against background documents, and none were given")]
    NoBackground,
    /// Background data without rows.
    #[error("the background data has no rows; expected at least one document")]
    EmptyBackground,
    /// A tree so deep that its explanation would need too much memory.
    #[error(
        "tree {tree} has paths of {} on {}; expected shallower trees",
        counted(*.depth, "split"), counted(*.features, "feature")
    )]
    TooDeep {
        /// The tree, from 0.
        tree: usize,
        /// Splits on its longest path.
        depth: usize,
        /// Maximum number of different features on a path.
        features: usize,
    },
    /// A member of a blend uses a feature that the blend does not have.
    #[error("member {member} of the blend uses its feature {feature}, which the blend lacks")]
    Unmatched {
        /// The member, from 0.
        member: usize,
        /// The name of the feature.
        feature: String,
    },
    /// A number of a query that the data does not have.
    #[error(
        "there is no query number {query}; the data has {}, numbered from 0",
        counted(*.queries, "query")
    )]
    NoSuchQuery {
        /// The given number.
        query: usize,
        /// Number of queries.
        queries: usize,
    },
    /// The data lacks the feature whose partial dependence was requested.
    #[error("the data has no values of feature {feature}; expected a feature that the data has")]
    NoColumn {
        /// The name of the feature.
        feature: String,
    },
}

impl ExplainError {
    /// A remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            ExplainError::Model(error) => error.help(),
            ExplainError::Options(error) => error.help(),
            ExplainError::NoCounts { .. } | ExplainError::NoBackground => Some(
                "give background data, such as the training data: the explanation is then relative \
                 to its documents"
                    .into(),
            ),
            ExplainError::Unmatched { .. } => {
                Some("make the blend again with the features of all its members".into())
            }
            _ => None,
        }
    }
}
