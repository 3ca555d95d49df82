//! Errors of comparisons.

use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

use crate::stats::StatsError;

/// The reason why a comparison was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No system was given.
    #[error("no system was given; expected at least one, and two for a comparison")]
    NoSystems,
    /// Two systems have the same name.
    #[error("two systems are named `{name}`; expected different names")]
    DuplicateSystem {
        /// The name used twice.
        name: String,
    },
    /// The baseline is none of the systems.
    #[error("baseline `{name}` is not among the systems; expected one of: {known}")]
    UnknownBaseline {
        /// The given name.
        name: String,
        /// The known systems.
        known: String,
    },
    /// The name of a test is not known.
    #[error("unknown test `{found}`; expected one of: randomisation, t, bootstrap, sign")]
    UnknownTest {
        /// The name given.
        found: String,
    },
    /// A metric does not have a list of values for every system.
    #[error(
        "metric `{metric}` has values of {}; expected one list for each of {}",
        counted(*.found, "system"), counted(*.expected, "system")
    )]
    SystemCount {
        /// Label of the metric.
        metric: String,
        /// Number of lists of values.
        found: usize,
        /// Number of systems.
        expected: usize,
    },
    /// A system does not have an entry for every query.
    #[error(
        "metric `{metric}`: system `{system}` has {}; expected {expected}, as many as the first \
         system has",
        counted(*.found, "per-query entry")
    )]
    QueryCount {
        /// Label of the metric.
        metric: String,
        /// Name of the system.
        system: String,
        /// Number of entries, one for each query.
        found: usize,
        /// Number of entries of the first system.
        expected: usize,
    },
    /// The values of a system cannot be tested.
    #[error("metric `{metric}`, system `{system}`: {source}")]
    Values {
        /// Label of the metric.
        metric: String,
        /// Name of the system.
        system: String,
        /// The reason why the values cannot be tested.
        source: StatsError,
    },
    /// So few samples that no p-value can reach alpha.
    #[error(
        "{} cannot give a p-value as low as alpha={alpha}",
        counted(*.samples, "sample")
    )]
    TooFewSamples {
        /// The given number of samples.
        samples: usize,
        /// The given significance level.
        alpha: f64,
    },
    /// A system was evaluated on a query that another was not evaluated on.
    #[error(
        "{has} was evaluated on query {query} and {lacks} was not; \
         expected the same queries for all systems"
    )]
    DifferentQueries {
        /// The query.
        query: String,
        /// The system that was evaluated on the query.
        has: String,
        /// The system that was not.
        lacks: String,
    },
    /// A system has two queries of the same id.
    #[error("{system} has two queries with the id {query}; expected different ids")]
    DuplicateQuery {
        /// The system.
        system: String,
        /// The id.
        query: String,
    },
    /// Systems were measured by different metrics, or under different conventions (how ties,
    /// unjudged documents and so on are treated).
    #[error("{system} was measured by {found}, the first system by {expected}")]
    DifferentMetrics {
        /// The system.
        system: String,
        /// The first of its metrics that differs, with its conventions; or the number of its
        /// metrics.
        found: String,
        /// The same of the first system.
        expected: String,
    },
    /// An option is out of range.
    #[error(transparent)]
    Options(#[from] SpecError),
    /// Values that cannot be tested.
    #[error(transparent)]
    Stats(#[from] StatsError),
}

impl CompareError {
    /// A remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        self.wrapped_help().unwrap_or_else(|| self.own_help())
    }

    /// A remedy for the errors of the comparison itself.
    fn own_help(&self) -> Option<String> {
        match self {
            Self::QueryCount { .. } => Some("write `None` for a query that is skipped".to_owned()),
            Self::TooFewSamples { .. } => {
                Some("draw more samples, or choose a larger alpha".to_owned())
            }
            Self::DifferentQueries { .. } => {
                Some("evaluate all systems on the same queries".to_owned())
            }
            _ => None,
        }
    }
}
