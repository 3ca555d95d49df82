//! What can be wrong with a comparison.

use crate::stats::StatsError;

/// Why a comparison could not be made.
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
        /// The name asked for.
        name: String,
        /// The systems there are.
        known: String,
    },
    /// The name of a test is not known.
    #[error("unknown test `{found}`; expected one of: t, randomisation, bootstrap, sign")]
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
        /// What is wrong with them.
        source: StatsError,
    },
    /// The significance level is out of range.
    #[error("alpha {found}; expected a number between 0 and 1, for example 0.05")]
    Alpha {
        /// The level asked for.
        found: f64,
    },
    /// So few samples that no p-value can reach alpha.
    #[error(
        "{samples} samples cannot give a p-value as low as alpha {alpha}; \
         ask for more samples, 100000 is a good choice"
    )]
    TooFewSamples {
        /// Samples asked for.
        samples: usize,
        /// Significance level asked for.
        alpha: f64,
    },
    /// Another option is out of range.
    #[error(transparent)]
    Option(#[from] StatsError),
}
