//! Systems compared on metrics: means, differences to a baseline, and what they are worth.
//!
//! Plain data in (names and per-query values), so it serves runs, models and learners alike. For
//! each metric every system is set against the baseline on the queries where both have a value;
//! p-values are corrected over the systems within a metric. The seed is the same for every pair,
//! so a system's p-value does not depend on which others stand in the table.
//!
//! Cost: one test per metric and system. Edge cases: a query without a value (`None`) is left out
//! of that system's mean and of its pairs; no pairs give p = 1 and no difference; a single system
//! is only described, not compared, and nothing is called best.

use std::collections::HashSet;

mod error;
mod options;

pub use error::CompareError;
pub use options::{CompareOptions, Test, ValidCompareOptions};

use crate::evaluate::{Evaluation, MeasureResult};
use crate::stats::{
    Paired, StatsError, Wins, bootstrap, check_values, effect_size, mean_interval,
    randomisation_test, sign_test, t_test, wins,
};

/// Confidence level of the intervals reported.
const LEVEL: f64 = 0.95;

/// Which end of a metric is the good one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Better {
    /// As for NDCG.
    #[default]
    Higher,
    /// As for RMSE.
    Lower,
}

impl Better {
    /// +1 or -1: a difference times this is positive where it is an improvement.
    fn sign(self) -> f64 {
        match self {
            Self::Higher => 1.0,
            Self::Lower => -1.0,
        }
    }
}

/// One metric's per-query values of every system.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricValues {
    /// What the metric is called in the table.
    pub label: String,
    /// Which end is good.
    pub better: Better,
    /// `values[system][query]`; `None` where the query is skipped.
    pub values: Vec<Vec<Option<f64>>>,
    /// The value of each system as a whole, with its interval, where that is not the plain mean
    /// of its queries (a geometric mean, a sum, weighted queries); empty otherwise. Differences
    /// and tests are about the queries' values in any case.
    pub totals: Vec<(f64, Option<[f64; 2]>)>,
}

impl MetricValues {
    /// A metric of which more is better.
    pub fn new(label: impl Into<String>, values: Vec<Vec<Option<f64>>>) -> Self {
        Self { label: label.into(), better: Better::Higher, values, totals: Vec::new() }
    }

    /// The metrics of several evaluations of the same queries by the same measures.
    pub fn of_evaluations(evaluations: &[&Evaluation]) -> Vec<MetricValues> {
        let Some(first) = evaluations.first() else { return Vec::new() };
        let metric = |(m, result): (usize, &MeasureResult)| {
            let results = || evaluations.iter().filter_map(move |e| e.results.get(m));
            MetricValues {
                label: result.measure.to_string(),
                better: result.measure.metric().better(),
                values: results().map(|r| r.values.clone()).collect(),
                totals: results().map(|r| (r.value, r.ci95.map(|(a, b)| [a, b]))).collect(),
            }
        };
        first.results.iter().enumerate().map(metric).collect()
    }
}

/// Whether a system differs significantly from the baseline.
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

/// A system against the baseline, on the queries where both have a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Versus {
    /// Queries that both counted.
    pub pairs: usize,
    /// Mean of system minus baseline over these queries; none without any.
    pub difference: Option<f64>,
    /// 95 % interval of it: percentile under the bootstrap test, Student-t under the others.
    pub difference_ci95: Option<[f64; 2]>,
    /// p-value of the chosen test.
    pub p: f64,
    /// The same, corrected over the systems of the metric.
    pub p_corrected: f64,
    /// Cohen's d_z of system minus baseline; none where it is undefined.
    pub effect: Option<f64>,
    /// Queries on which the system is better, equal, worse.
    pub counts: Wins,
    /// Significance at alpha, after correction.
    pub mark: Mark,
}

/// One system under one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemResult {
    /// Mean over the system's own queries (or the metric's own total); none without any.
    pub mean: Option<f64>,
    /// Student-t 95 % interval of the mean; none below two queries.
    pub ci95: Option<[f64; 2]>,
    /// Queries counted.
    pub queries: usize,
    /// Whether no other system has a better mean.
    pub best: bool,
    /// Comparison with the baseline; none for the baseline itself.
    pub versus: Option<Versus>,
}

/// All systems under one metric, in the order of [`Comparison::systems`].
#[derive(Debug, Clone, PartialEq)]
pub struct MetricComparison {
    /// What the metric is called.
    pub label: String,
    /// Which end is good.
    pub better: Better,
    /// One result per system.
    pub systems: Vec<SystemResult>,
}

/// Systems compared on metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Names of the systems.
    pub systems: Vec<String>,
    /// Which of them is the baseline.
    pub baseline: usize,
    /// How the comparison was made.
    pub options: CompareOptions,
    /// One entry per metric.
    pub metrics: Vec<MetricComparison>,
}

/// Compares systems with the baseline on every metric.
///
/// ```
/// use rankwright_eval::compare::{CompareOptions, Mark, MetricValues, compare};
/// let systems = ["bm25".to_string(), "learnt".to_string()];
/// let base: Vec<_> = (0..20).map(|q| Some(f64::from(q) / 40.0)).collect();
/// let learnt: Vec<_> = base.iter().map(|v| v.map(|v| v + 0.1)).collect();
/// let metric = MetricValues::new("ndcg@10", vec![base, learnt]);
/// let found = compare(&systems, &[metric], &CompareOptions::default().check()?)?;
/// let versus = found.metrics[0].systems[1].versus.as_ref().unwrap();
/// assert_eq!((versus.pairs, versus.mark), (20, Mark::Better));
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
        // Skipped queries stand in as 0 here, so that an error names the query's own position.
        let filled: Vec<f64> = values.iter().map(|value| value.unwrap_or(0.0)).collect();
        check_values(&filled).map_err(|source| CompareError::Values {
            metric: label(),
            system: system.clone(),
            source,
        })?;
    }
    Ok(())
}

fn compare_metric(
    systems: &[String],
    metric: &MetricValues,
    baseline: usize,
    options: &CompareOptions,
) -> Result<MetricComparison, CompareError> {
    let in_place = |system: &String, source: StatsError| CompareError::Values {
        metric: metric.label.clone(),
        system: system.clone(),
        source,
    };
    let base_values = metric.values.get(baseline).map_or(&[][..], Vec::as_slice);
    let mut results = Vec::with_capacity(systems.len());
    for (i, (system, values)) in systems.iter().zip(&metric.values).enumerate() {
        let mut result = describe(values).map_err(|e| in_place(system, e))?;
        if let Some((total, ci95)) = metric.totals.get(i).filter(|(total, _)| total.is_finite()) {
            (result.mean, result.ci95) = (Some(*total), *ci95);
        }
        if i != baseline {
            let versus = set_against(values, base_values, metric.better, options);
            result.versus = Some(versus.map_err(|e| in_place(system, e))?);
        }
        results.push(result);
    }
    correct_and_mark(&mut results, metric.better, options);
    flag_best(&mut results, metric.better);
    Ok(MetricComparison { label: metric.label.clone(), better: metric.better, systems: results })
}

/// Mean, interval and count of one system.
fn describe(values: &[Option<f64>]) -> Result<SystemResult, StatsError> {
    let counted: Vec<f64> = values.iter().copied().flatten().collect();
    let ci95 = mean_interval(&counted, LEVEL)?;
    let queries = counted.len();
    let mean = (queries > 0).then(|| counted.iter().sum::<f64>() / queries as f64);
    Ok(SystemResult { mean, ci95, queries, best: false, versus: None })
}

/// The tests of one system against the baseline; correction and mark come later.
fn set_against(
    values: &[Option<f64>],
    baseline: &[Option<f64>],
    better: Better,
    options: &CompareOptions,
) -> Result<Versus, StatsError> {
    let both = values.iter().zip(baseline).filter_map(|(v, b)| v.zip(*b));
    let (own, base): (Vec<f64>, Vec<f64>) = both.unzip();
    let pairs = Paired::new(&own, &base)?;
    let mut difference_ci95 = mean_interval(pairs.differences(), LEVEL)?;
    let p = match options.test {
        Test::T => t_test(&pairs).p,
        Test::Randomisation => randomisation_test(&pairs, options.sampling())?.p,
        Test::Sign => sign_test(&pairs, options.tolerance)?.p,
        Test::Bootstrap => {
            let found = bootstrap(&pairs, LEVEL, options.sampling())?;
            difference_ci95 = found.interval;
            found.p
        }
    };
    let raw = wins(&pairs, options.tolerance)?;
    let counts = match better {
        Better::Higher => raw,
        Better::Lower => Wins { wins: raw.losses, ties: raw.ties, losses: raw.wins },
    };
    Ok(Versus {
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

fn correct_and_mark(results: &mut [SystemResult], better: Better, options: &CompareOptions) {
    let compared = || results.iter().filter_map(|r| r.versus.as_ref());
    let plain: Vec<f64> = compared().map(|versus| versus.p).collect();
    let corrected = options.correction.adjust(&plain);
    let compared = results.iter_mut().filter_map(|r| r.versus.as_mut());
    for (versus, p) in compared.zip(corrected) {
        versus.p_corrected = p;
        // The sign test speaks about counts, the others about the mean.
        let improvement = match options.test {
            Test::Sign => versus.counts.wins as f64 - versus.counts.losses as f64,
            _ => versus.difference.unwrap_or(0.0) * better.sign(),
        };
        versus.mark = match improvement {
            _ if p > options.alpha => Mark::None,
            gain if gain > 0.0 => Mark::Better,
            gain if gain < 0.0 => Mark::Worse,
            _ => Mark::None,
        };
    }
}

/// Flags the best mean, and all that equal it up to rounding; a lone system is not best.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Correction;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    fn wave(offset: f64) -> Vec<Option<f64>> {
        (0..20).map(|q| Some(0.5 + 0.3 * f64::from(q).sin() + offset)).collect()
    }

    fn run(systems: &[&str], metric: MetricValues, options: CompareOptions) -> Comparison {
        compare(&names(systems), &[metric], &options.check().unwrap()).unwrap()
    }

    fn versus(found: &Comparison, system: usize) -> &Versus {
        found.metrics[0].systems[system].versus.as_ref().unwrap()
    }

    #[test]
    fn better_and_worse_systems_are_marked_under_every_test() {
        for test in Test::ALL {
            let metric = MetricValues::new("m", vec![wave(0.0), wave(0.05), wave(-0.05)]);
            let options = CompareOptions { test, ..CompareOptions::default() };
            let found = run(&["base", "up", "down"], metric, options);
            assert_eq!(versus(&found, 1).mark, Mark::Better, "{test}");
            assert_eq!(versus(&found, 2).mark, Mark::Worse, "{test}");
            assert_eq!(versus(&found, 2).counts, Wins { wins: 0, ties: 0, losses: 20 });
            assert!((versus(&found, 1).difference.unwrap() - 0.05).abs() < 1e-12);
            assert!(found.metrics[0].systems[0].versus.is_none());
            assert_eq!(best(&found), [false, true, false]);
        }
    }

    fn best(found: &Comparison) -> Vec<bool> {
        found.metrics[0].systems.iter().map(|system| system.best).collect()
    }

    #[test]
    fn lower_is_better_turns_marks_wins_and_best_around() {
        let values = vec![wave(0.0), wave(0.05)];
        let metric = MetricValues { better: Better::Lower, ..MetricValues::new("rmse", values) };
        let found = run(&["base", "up"], metric, CompareOptions::default());
        assert_eq!(versus(&found, 1).mark, Mark::Worse);
        assert_eq!(versus(&found, 1).counts.losses, 20);
        assert!(versus(&found, 1).difference.unwrap() > 0.0);
        assert_eq!(best(&found), [true, false]);
    }

    #[test]
    fn identical_systems_share_best_and_have_no_mark() {
        let metric = MetricValues::new("m", vec![wave(0.0), wave(0.0)]);
        let found = run(&["a", "b"], metric, CompareOptions::default());
        let versus = versus(&found, 1);
        assert_eq!((versus.p, versus.mark, versus.effect), (1.0, Mark::None, Some(0.0)));
        assert_eq!(versus.counts, Wins { wins: 0, ties: 20, losses: 0 });
        assert_eq!(best(&found), [true, true]);
    }

    #[test]
    fn only_queries_counted_in_both_are_paired() {
        let base = vec![Some(0.1), None, Some(0.3), Some(0.4)];
        let other = vec![Some(0.2), Some(0.9), None, Some(0.6)];
        let found =
            run(&["base", "other"], MetricValues::new("m", vec![base, other]), Default::default());
        let system = &found.metrics[0].systems[1];
        assert_eq!(system.queries, 3);
        assert!((system.mean.unwrap() - 1.7 / 3.0).abs() < 1e-12);
        assert_eq!(versus(&found, 1).pairs, 2);
        assert!((versus(&found, 1).difference.unwrap() - 0.15).abs() < 1e-12);
    }

    #[test]
    fn a_system_without_values_has_no_mean_and_no_evidence() {
        let metric = MetricValues::new("m", vec![some(&[0.1, 0.2]), vec![None, None]]);
        let found = run(&["base", "empty"], metric, CompareOptions::default());
        let system = &found.metrics[0].systems[1];
        assert_eq!((system.mean, system.ci95, system.queries, system.best), (None, None, 0, false));
        assert_eq!((versus(&found, 1).difference, versus(&found, 1).p), (None, 1.0));
    }

    #[test]
    fn p_values_are_corrected_over_the_systems_of_a_metric() {
        let noisy = |shift: f64| -> Vec<Option<f64>> {
            (0..20).map(|q| Some(0.5 + 0.1 * f64::from(q * q).sin() + shift)).collect()
        };
        let metric = MetricValues::new("m", vec![wave(0.0), noisy(0.05), noisy(0.2), noisy(0.3)]);
        for correction in Correction::ALL {
            let options = CompareOptions { correction, test: Test::T, ..Default::default() };
            let found = run(&["base", "a", "b", "c"], metric.clone(), options);
            let (plain, corrected): (Vec<f64>, Vec<f64>) =
                (1..4).map(|s| (versus(&found, s).p, versus(&found, s).p_corrected)).unzip();
            assert_eq!(corrected, correction.adjust(&plain));
        }
    }

    #[test]
    fn a_p_value_does_not_depend_on_the_other_systems() {
        let alone = MetricValues::new("m", vec![wave(0.0), wave(0.01)]);
        let among = MetricValues::new("m", vec![wave(0.0), wave(-0.2), wave(0.01)]);
        let first = run(&["base", "x"], alone, CompareOptions::default());
        let second = run(&["base", "y", "x"], among, CompareOptions::default());
        assert_eq!(versus(&first, 1).p, versus(&second, 2).p);
    }

    #[test]
    fn the_baseline_is_found_by_name() {
        let metric = MetricValues::new("m", vec![wave(0.0), wave(0.1)]);
        let options = CompareOptions { baseline: Some("b".into()), ..CompareOptions::default() };
        let found = run(&["a", "b"], metric, options);
        assert_eq!(found.baseline, 1);
        assert_eq!(versus(&found, 0).mark, Mark::Worse);
    }

    #[test]
    fn a_lone_system_is_described_and_not_called_best() {
        let found = run(&["a"], MetricValues::new("m", vec![wave(0.0)]), Default::default());
        assert!(found.metrics[0].systems[0].ci95.is_some());
        assert_eq!(best(&found), [false]);
    }

    #[test]
    fn bad_input_is_an_error_that_names_the_place() {
        let options = CompareOptions { baseline: Some("z".into()), ..CompareOptions::default() };
        let (plain, other) = (CompareOptions::default().check().unwrap(), options.check().unwrap());
        let message = |systems: &[&str], values: Vec<Vec<Option<f64>>>, options| {
            let metric = MetricValues::new("map", values);
            compare(&names(systems), &[metric], options).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[], vec![], &plain),
            "no systems given; expected at least one, and two to compare"
        );
        assert_eq!(
            message(&["a", "a"], vec![], &plain),
            "two systems are named `a`; give each its own name"
        );
        assert_eq!(
            message(&["a", "b"], vec![], &other),
            "baseline `z` is not among the systems; expected one of: a, b"
        );
        assert_eq!(
            message(&["a", "b"], vec![some(&[0.1])], &plain),
            "metric `map` has values of 1 systems; expected 2, one list each"
        );
        assert_eq!(
            message(&["a", "b"], vec![some(&[0.1]), vec![]], &plain),
            "metric `map`: system `b` has 0 per-query entries; expected 1 as the first system \
             has; write `None` where a query is skipped"
        );
        assert_eq!(
            message(&["a"], vec![vec![None, Some(f64::INFINITY)]], &plain),
            "metric `map`, system `a`: value inf at position 1 cannot be tested; expected a finite \
             number below 1e100 in size; leave out queries that have no value"
        );
    }
}
