//! Input and result of a comparison.

use serde::{Serialize, Serializer};

use super::CompareOptions;
use crate::stats::{Interval, IntervalMethod, Wins};

/// The direction of a metric: whether higher or lower values are better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Higher is better, as for NDCG.
    #[default]
    Higher,
    /// Lower is better, as for RMSE.
    Lower,
}

impl Better {
    /// +1 or -1: a difference times this is positive if it is an improvement.
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Higher => 1.0,
            Self::Lower => -1.0,
        }
    }
}

/// One metric's per-query values of every system.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricValues {
    /// Name of the metric in tables.
    pub label: String,
    /// Conventions of the metric (how ties, unjudged documents and so on are treated); `None` if it
    /// is not one of this crate's metrics.
    pub convention: Option<String>,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// The lowest and the highest value of a query; infinite if there is no bound. Intervals stay
    /// within it.
    pub range: (f64, f64),
    /// `values[system][query]`; `None` if the query is skipped.
    pub values: Vec<Vec<Option<f64>>>,
    /// The total of each system, with its 95 % interval; if empty, totals are the unweighted means
    /// of the queries' values. [`MetricValues::of_evaluations`] always sets it, as the total of an
    /// evaluation may be a geometric mean, a sum, or weighted by query. Differences and tests use
    /// the queries' values in any case.
    pub totals: Vec<(f64, Option<Interval>)>,
}

impl MetricValues {
    /// A metric for which higher values are better, of any size.
    pub fn new(label: impl Into<String>, values: Vec<Vec<Option<f64>>>) -> Self {
        Self {
            label: label.into(),
            convention: None,
            better: Better::Higher,
            range: (f64::NEG_INFINITY, f64::INFINITY),
            values,
            totals: Vec::new(),
        }
    }
}

/// The significance mark of a system in comparison with the baseline. It serialises to its symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// Significantly better.
    Better,
    /// Significantly worse.
    Worse,
    /// Neither.
    #[default]
    None,
}

impl Mark {
    /// `▲`, `▼` or nothing.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Better => "▲",
            Self::Worse => "▼",
            Self::None => "",
        }
    }
}

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}

/// A system against the baseline, on the queries where both have a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineDelta {
    /// Number of queries for which both systems have a value.
    pub pairs: usize,
    /// Mean of system minus baseline over these queries; `None` without any.
    pub difference: Option<f64>,
    /// 95 % interval of the difference: percentiles under the bootstrap test, Student's t under the
    /// other tests, or Student's t on the logit scale where it would leave the range of
    /// differences.
    pub difference_ci95: Option<[f64; 2]>,
    /// p-value of the chosen test.
    pub p: f64,
    /// The p-value, corrected over the systems of the metric.
    pub p_corrected: f64,
    /// The effect size, Cohen's d_z, of system minus baseline; `None` if it is undefined.
    pub effect: Option<f64>,
    /// Numbers of queries on which the system is better, equal, worse.
    #[serde(flatten)]
    pub counts: Wins,
    /// Significance at alpha, after correction.
    pub mark: Mark,
}

/// One system under one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SystemResult {
    /// Name of the system.
    pub system: String,
    /// The metric's total for the system if it has one, otherwise the mean over the queries for
    /// which the system has a value; `None` without such queries.
    #[serde(rename = "value")]
    pub mean: Option<f64>,
    /// 95 % interval of the mean, within the range of the metric; `None` below two queries.
    pub ci95: Option<[f64; 2]>,
    /// The method of the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95_method: Option<IntervalMethod>,
    /// Number of queries for which the system has a value.
    pub queries: usize,
    /// Whether no other system has a better mean.
    pub best: bool,
    /// Comparison with the baseline; `None` for the baseline itself.
    #[serde(rename = "versus_baseline")]
    pub vs_baseline: Option<BaselineDelta>,
}

/// All systems under one metric, in the order of [`Comparison::systems`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricComparison {
    /// Name of the metric.
    #[serde(rename = "metric")]
    pub label: String,
    /// Conventions of the metric; `None` if it is not one of this crate's metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convention: Option<String>,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// One result per system.
    pub systems: Vec<SystemResult>,
}

/// The result of a comparison of systems on metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Names of the systems.
    pub systems: Vec<String>,
    /// Position of the baseline in `systems`, from 0.
    pub baseline: usize,
    /// The options of the comparison.
    pub options: CompareOptions,
    /// One entry per metric.
    pub metrics: Vec<MetricComparison>,
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ComparisonDocument<'a> {
            systems: &'a [String],
            baseline: &'a str,
            test: &'a str,
            correction: &'a str,
            alpha: f64,
            seed: u64,
            samples: usize,
            tolerance: f64,
            metrics: &'a [MetricComparison],
        }
        let CompareOptions { test, correction, alpha, seed, samples, tolerance, .. } = self.options;
        ComparisonDocument {
            systems: &self.systems,
            baseline: &self.systems[self.baseline],
            test: test.name(),
            correction: correction.name(),
            alpha,
            seed,
            samples,
            tolerance,
            metrics: &self.metrics,
        }
        .serialize(serializer)
    }
}
