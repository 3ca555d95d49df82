//! A comparison as a serialisable result.

use rankwright_eval::Evaluation;
use rankwright_eval::compare::{Comparison, SystemResult, Versus};
use serde::Serialize;

/// Systems compared on metrics, as values that can be serialised.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparisonValues {
    /// Name of the baseline.
    pub baseline: Option<String>,
    /// The paired test.
    pub test: String,
    /// The correction for several comparisons.
    pub correction: String,
    /// The level of significance.
    pub alpha: f64,
    /// Seed of the samples.
    pub seed: u64,
    /// Samples of the randomisation test and the bootstrap.
    pub samples: usize,
    /// One entry for each metric.
    pub metrics: Vec<MetricComparisonValues>,
}

/// All systems under one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricComparisonValues {
    /// The metric.
    pub metric: String,
    /// Every convention of the number.
    pub convention: String,
    /// One entry for each system.
    pub systems: Vec<SystemValues>,
}

/// One system under one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SystemValues {
    /// Name of the system.
    pub system: String,
    /// Its value; none where no query counts.
    pub value: Option<f64>,
    /// 95 % interval of the value.
    pub ci95: Option<[f64; 2]>,
    /// Queries that count.
    pub queries: usize,
    /// Whether no other system has a better value.
    pub best: bool,
    /// The difference to the baseline; none for the baseline itself.
    pub versus_baseline: Option<BaselineValues>,
}

/// A system against the baseline, on the queries where both have a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BaselineValues {
    /// Queries that both counted.
    pub pairs: usize,
    /// Mean of system minus baseline.
    pub difference: Option<f64>,
    /// 95 % interval of the difference.
    pub difference_ci95: Option<[f64; 2]>,
    /// p-value of the test.
    pub p: f64,
    /// The same, corrected over the systems of the metric.
    pub p_corrected: f64,
    /// Cohen's d_z of the difference.
    pub effect: Option<f64>,
    /// Queries on which the system is better.
    pub wins: usize,
    /// Queries on which both are equal.
    pub ties: usize,
    /// Queries on which the system is worse.
    pub losses: usize,
    /// `▲` significantly better, `▼` significantly worse, or empty.
    pub mark: &'static str,
}

impl ComparisonValues {
    /// The values of a comparison, with the conventions of its evaluations.
    pub fn new(comparison: &Comparison, systems: &[(String, Evaluation)]) -> Self {
        let options = &comparison.options;
        let first = systems.first().map_or(&[][..], |(_, evaluation)| &evaluation.results);
        let metrics = comparison.metrics.iter().zip(first).map(|(metric, result)| {
            let systems = comparison.systems.iter().zip(&metric.systems);
            MetricComparisonValues {
                metric: metric.label.clone(),
                convention: result.convention.clone(),
                systems: systems.map(|(name, result)| SystemValues::new(name, result)).collect(),
            }
        });
        ComparisonValues {
            baseline: comparison.systems.get(comparison.baseline).cloned(),
            test: options.test.to_string(),
            correction: options.correction.to_string(),
            alpha: options.alpha,
            seed: options.seed,
            samples: options.samples,
            metrics: metrics.collect(),
        }
    }
}

impl SystemValues {
    fn new(name: &str, result: &SystemResult) -> Self {
        SystemValues {
            system: name.to_owned(),
            value: result.mean,
            ci95: result.ci95,
            queries: result.queries,
            best: result.best,
            versus_baseline: result.versus.as_ref().map(BaselineValues::new),
        }
    }
}

impl BaselineValues {
    fn new(versus: &Versus) -> Self {
        BaselineValues {
            pairs: versus.pairs,
            difference: versus.difference,
            difference_ci95: versus.difference_ci95,
            p: versus.p,
            p_corrected: versus.p_corrected,
            effect: versus.effect,
            wins: versus.counts.wins,
            ties: versus.counts.ties,
            losses: versus.counts.losses,
            mark: versus.mark.symbol(),
        }
    }
}
