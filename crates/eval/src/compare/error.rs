//! Errors of comparisons.

use rankwright_spec::SpecError;

use crate::stats::StatsError;

/// The reason why a comparison was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There is nothing to compare.
    #[error("no systems given; expected at least one, and two to compare")]
    NoSystems,
    /// Two systems have the same name.
    #[error("two systems are named `{name}`; give each its own name")]
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
    #[error("metric `{metric}` has values of {found} systems; expected {expected}, one list each")]
    SystemCount {
        /// Label of the metric.
        metric: String,
        /// Lists found.
        found: usize,
        /// Systems given.
        expected: usize,
    },
    /// A system does not have an entry for every query.
    #[error(
        "metric `{metric}`: system `{system}` has {found} per-query entries; expected {expected} \
         as the first system has; write `None` where a query is skipped"
    )]
    QueryCount {
        /// Label of the metric.
        metric: String,
        /// Name of the system.
        system: String,
        /// Entries found.
        found: usize,
        /// Entries of the first system.
        expected: usize,
    },
    /// The values of a system cannot be tested.
    #[error("metric `{metric}`, system `{system}`: {source}")]
    Values {
        /// Label of the metric.
        metric: String,
        /// Name of the system.
        system: String,
        /// The reason.
        source: StatsError,
    },
    /// So few samples that no p-value can reach alpha.
    #[error("{samples} samples cannot give a p-value as low as alpha {alpha}; more samples can")]
    TooFewSamples {
        /// The given number of samples.
        samples: usize,
        /// The given significance level.
        alpha: f64,
    },
    /// A system was measured on a query that another was not measured on.
    #[error(
        "{has} was measured on query {query} and {lacks} was not; \
         systems are compared on the same queries"
    )]
    DifferentQueries {
        /// The query.
        query: String,
        /// The system that has it.
        has: String,
        /// The system that lacks it.
        lacks: String,
    },
    /// A system has two queries of the same id.
    #[error("{system} has two queries named {query}; results are paired by query id")]
    DuplicateQuery {
        /// The system.
        system: String,
        /// The id.
        query: String,
    },
    /// Systems were measured by different metrics, or under different conventions.
    #[error("{system} was measured by {found}, the first system by {expected}")]
    DifferentMetrics {
        /// The system.
        system: String,
        /// Its first metric that differs, with its conventions.
        found: String,
        /// The metric of the first system.
        expected: String,
    },
    /// An option is out of range.
    #[error(transparent)]
    Options(#[from] SpecError),
    /// Values that cannot be tested.
    #[error(transparent)]
    Stats(#[from] StatsError),
}
