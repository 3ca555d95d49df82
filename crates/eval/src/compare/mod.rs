//! Comparison of systems on metrics: means, differences to a baseline, and their significance.
//!
//! The input is plain data (names and per-query values), so it works for runs, models and learners
//! alike. For each metric every system is compared with the baseline on the queries for which both
//! have a value; p-values are corrected over the systems within a metric. The seed is the same for
//! every pair, so a system's p-value does not depend on the other systems in the table.
//!
//! Cost: one test per metric and system. Edge cases: a query without a value (`None`) is left out
//! of that system's mean and of its pairs; no pairs give p = 1 and no difference; a single system
//! is only described, not compared, and not marked as best.

use std::collections::HashSet;

mod align;
mod error;
mod options;
mod result;
#[cfg(test)]
mod tests;

pub use align::align_evaluations;
pub use error::CompareError;
pub use options::{CompareOptions, Test, ValidCompareOptions};
pub use result::{
    BaselineDelta, Better, Comparison, Mark, MetricComparison, MetricValues, SystemResult,
};

use crate::evaluate::Evaluation;
use crate::stats::{
    Interval, Paired, StatsError, Wins, bootstrap, check_values, effect_size, mean_interval_within,
    randomisation_test, sign_test, t_test, wins,
};

/// Confidence level of the intervals reported.
const CONFIDENCE_LEVEL: f64 = 0.95;

/// Compares systems with the baseline on every metric.
///
/// ```
/// use rankwright_eval::compare::{CompareOptions, Mark, MetricValues, compare};
/// let systems = ["bm25".to_string(), "learnt".to_string()];
/// let base: Vec<_> = (0..20).map(|q| Some(f64::from(q) / 40.0)).collect();
/// let learnt: Vec<_> = base.iter().map(|v| v.map(|v| v + 0.1)).collect();
/// let metric = MetricValues::new("ndcg@10", vec![base, learnt]);
/// let found = compare(&systems, &[metric], &CompareOptions::default().check()?)?;
/// let vs_baseline = found.metrics[0].systems[1].vs_baseline.as_ref().unwrap();
/// assert_eq!((vs_baseline.pairs, vs_baseline.mark), (20, Mark::Better));
/// # Ok::<(), rankwright_eval::compare::CompareError>(())
/// ```
pub fn compare(
    systems: &[String],
    metrics: &[MetricValues],
    options: &ValidCompareOptions,
) -> Result<Comparison, CompareError> {
    let options = options.options();
    let baseline = find_baseline(systems, options.baseline.as_deref())?;
    let metrics = metrics
        .iter()
        .map(|metric| {
            check_metric(systems, metric)?;
            compare_metric(systems, metric, baseline, options)
        })
        .collect::<Result<_, CompareError>>()?;
    Ok(Comparison { systems: systems.to_vec(), baseline, options: options.clone(), metrics })
}

/// Compares evaluations of the same queries by the same metrics; queries are paired by id.
///
/// ```
/// use rankwright_eval::compare::{CompareOptions, compare_evaluations};
/// use rankwright_eval::evaluate_slices;
///
/// let labels = [1.0, 0.0, 0.0, 1.0];
/// let old = evaluate_slices(&[0.1, 0.2, 0.3, 0.4], &labels, &["a", "a", "b", "b"], "rr")?;
/// let new = evaluate_slices(&[0.4, 0.3, 0.2, 0.9], &labels, &["a", "a", "b", "b"], "rr")?;
/// let systems = [("old".to_owned(), old), ("new".to_owned(), new)];
/// let found = compare_evaluations(&systems, &CompareOptions::default())?;
/// assert_eq!(found.metrics[0].systems[1].mean, Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare_evaluations(
    systems: &[(String, Evaluation)],
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    let options = options.clone().check()?;
    let names: Vec<String> = systems.iter().map(|(name, _)| name.clone()).collect();
    find_baseline(&names, options.options().baseline.as_deref())?;
    compare(&names, &MetricValues::of_evaluations(systems)?, &options)
}

/// The position of the baseline among the systems, whose names must be different: the given one, or
/// else the first.
fn find_baseline(systems: &[String], name: Option<&str>) -> Result<usize, CompareError> {
    if systems.is_empty() {
        return Err(CompareError::NoSystems);
    }
    let mut seen = HashSet::new();
    if let Some(name) = systems.iter().find(|name| !seen.insert(*name)) {
        return Err(CompareError::DuplicateSystem { name: name.clone() });
    }
    let Some(name) = name else { return Ok(0) };
    systems.iter().position(|system| system == name).ok_or_else(|| CompareError::UnknownBaseline {
        name: name.to_owned(),
        known: systems.join(", "),
    })
}

/// Checks that a metric has values for every system and query, and that they are finite.
fn check_metric(systems: &[String], metric: &MetricValues) -> Result<(), CompareError> {
    let label = || metric.label.clone();
    if metric.values.len() != systems.len() {
        let (found, expected) = (metric.values.len(), systems.len());
        return Err(CompareError::SystemCount { metric: label(), found, expected });
    }
    let expected = metric.values.first().map_or(0, Vec::len);
    for (system, values) in systems.iter().zip(&metric.values) {
        if values.len() != expected {
            let (system, found) = (system.clone(), values.len());
            return Err(CompareError::QueryCount { metric: label(), system, found, expected });
        }
        // Skipped queries are checked as 0, so that the position in an error is that of the query.
        let filled: Vec<f64> = values.iter().map(|value| value.unwrap_or(0.0)).collect();
        check_values(&filled).map_err(|source| CompareError::Values {
            metric: label(),
            system: system.clone(),
            source,
        })?;
    }
    Ok(())
}

/// Compares all systems with the baseline on one metric.
fn compare_metric(
    systems: &[String],
    metric: &MetricValues,
    baseline: usize,
    options: &CompareOptions,
) -> Result<MetricComparison, CompareError> {
    let values_error = |system: &String, source: StatsError| CompareError::Values {
        metric: metric.label.clone(),
        system: system.clone(),
        source,
    };
    // `check_metric` has checked that there is one list of values for each system.
    let base_values = &metric.values[baseline];
    let mut results = Vec::with_capacity(systems.len());
    for (i, (system, values)) in systems.iter().zip(&metric.values).enumerate() {
        let mut result =
            describe(system, values, metric.range).map_err(|error| values_error(system, error))?;
        // A given total, which may be weighted or geometric, replaces the mean of the queries.
        if let Some((total, ci95)) = metric.totals.get(i).filter(|(total, _)| total.is_finite()) {
            result.mean = Some(*total);
            set_interval(&mut result, *ci95);
        }
        if i != baseline {
            let vs_baseline = compare_with_baseline(values, base_values, metric, options);
            result.vs_baseline = Some(vs_baseline.map_err(|error| values_error(system, error))?);
        }
        results.push(result);
    }
    correct_and_mark(&mut results, metric.better, options);
    flag_best(&mut results, metric.better);
    Ok(MetricComparison {
        label: metric.label.clone(),
        convention: metric.convention.clone(),
        better: metric.better,
        systems: results,
    })
}

/// The mean over the counted queries of one system, its interval, and the number of these queries.
fn describe(
    system: &str,
    values: &[Option<f64>],
    range: (f64, f64),
) -> Result<SystemResult, StatsError> {
    let counted: Vec<f64> = values.iter().copied().flatten().collect();
    let queries = counted.len();
    let mut result = SystemResult {
        system: system.to_owned(),
        mean: (queries > 0).then(|| counted.iter().sum::<f64>() / queries as f64),
        ci95: None,
        ci95_method: None,
        queries,
        best: false,
        vs_baseline: None,
    };
    set_interval(&mut result, mean_interval_within(&counted, CONFIDENCE_LEVEL, range)?);
    Ok(result)
}

fn set_interval(result: &mut SystemResult, interval: Option<Interval>) {
    result.ci95 = interval.map(|found| [found.low, found.high]);
    result.ci95_method = interval.map(|found| found.method);
}

/// Compares one system with the baseline; the corrected p-value and the mark are set later.
fn compare_with_baseline(
    values: &[Option<f64>],
    baseline: &[Option<f64>],
    metric: &MetricValues,
    options: &CompareOptions,
) -> Result<BaselineDelta, StatsError> {
    let both = values.iter().zip(baseline).filter_map(|(v, b)| v.zip(*b));
    let (own, base): (Vec<f64>, Vec<f64>) = both.unzip();
    let pairs = Paired::new(&own, &base)?;
    // A difference is at most as large as the range.
    let width = metric.range.1 - metric.range.0;
    let found = mean_interval_within(pairs.differences(), CONFIDENCE_LEVEL, (-width, width))?;
    let mut difference_ci95 = found.map(|found| [found.low, found.high]);
    let p = match options.test {
        Test::T => t_test(&pairs).p,
        Test::Randomisation => randomisation_test(&pairs, options.sampling())?.p,
        Test::Sign => sign_test(&pairs, options.tolerance)?.p,
        Test::Bootstrap => {
            let found = bootstrap(&pairs, CONFIDENCE_LEVEL, options.sampling())?;
            difference_ci95 = found.interval;
            found.p
        }
    };
    let raw = wins(&pairs, options.tolerance)?;
    let counts = match metric.better {
        Better::Higher => raw,
        Better::Lower => Wins { wins: raw.losses, ties: raw.ties, losses: raw.wins },
    };
    Ok(BaselineDelta {
        pairs: pairs.len(),
        difference: pairs.mean(),
        difference_ci95,
        p,
        p_corrected: p,
        effect: effect_size(&pairs),
        counts,
        mark: Mark::None,
    })
}

/// Corrects the p-values over the systems, and marks significant differences.
fn correct_and_mark(results: &mut [SystemResult], better: Better, options: &CompareOptions) {
    let compared = || results.iter().filter_map(|r| r.vs_baseline.as_ref());
    let uncorrected: Vec<f64> = compared().map(|vs_baseline| vs_baseline.p).collect();
    let corrected = options.correction.adjust(&uncorrected);
    let compared = results.iter_mut().filter_map(|r| r.vs_baseline.as_mut());
    for (vs_baseline, p) in compared.zip(corrected) {
        vs_baseline.p_corrected = p;
        // The sign test compares the numbers of wins and losses, the other tests means.
        let improvement = match options.test {
            Test::Sign => vs_baseline.counts.wins as f64 - vs_baseline.counts.losses as f64,
            _ => vs_baseline.difference.unwrap_or(0.0) * better.sign(),
        };
        vs_baseline.mark = match improvement {
            _ if p > options.alpha => Mark::None,
            improvement if improvement > 0.0 => Mark::Better,
            improvement if improvement < 0.0 => Mark::Worse,
            _ => Mark::None,
        };
    }
}

/// Flags the system with the best mean, and all whose mean equals it up to rounding; a single
/// system is not flagged.
fn flag_best(results: &mut [SystemResult], better: Better) {
    let means = || results.iter().filter_map(|r| r.mean).map(|mean| mean * better.sign());
    if means().count() < 2 {
        return;
    }
    let best = means().fold(f64::NEG_INFINITY, f64::max);
    let rounding = 1e-12 * best.abs();
    for result in results {
        result.best = result.mean.is_some_and(|mean| mean * better.sign() >= best - rounding);
    }
}
