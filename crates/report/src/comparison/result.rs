//! A comparison as a serialisable result, and the more that a report shows.

use rankwright_eval::Evaluation;
use rankwright_eval::compare::{Comparison, SystemResult, Versus};
use serde::{Serialize, Serializer};

use super::changes::{Change, Moved};
use super::cutoffs::{Curves, Point};
use super::hardest::{self, QueryRow};
use super::wins::Differences;
use super::{ComparisonReport, Details};

/// The numbers of a comparison.
///
/// ```
/// use rankwright_eval::compare::CompareOptions;
/// use rankwright_eval::{EvalOptions, MetricSpec, ScoredQueries, SourceKind, evaluate};
/// use rankwright_report::comparison::{ComparisonReport, ComparisonResult};
///
/// let ndcg = [MetricSpec::parse("ndcg@10")?.resolve(SourceKind::Features)?];
/// let queries = ScoredQueries::new(&[1.0, 0.0], &[0.5, 0.9], vec![0..2], vec!["a"])?;
/// let found = evaluate(&queries, &ndcg, EvalOptions::default())?;
/// let systems = vec![("old".to_owned(), found.clone()), ("new".to_owned(), found)];
/// let report = ComparisonReport::new("T", systems, &CompareOptions::default())?;
/// let result = ComparisonResult::new(report.comparison(), report.systems());
/// assert_eq!(result.baseline.as_deref(), Some("old"));
/// assert_eq!(result.metrics[0].systems[1].system, "new");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ComparisonResult {
    /// The system that the others are compared with.
    pub baseline: Option<String>,
    /// The significance test.
    pub test: String,
    /// The correction for several comparisons.
    pub correction: String,
    /// The level of significance.
    pub alpha: f64,
    /// Seed of tests that draw at random.
    pub seed: u64,
    /// Samples of tests that draw at random.
    pub samples: usize,
    /// Each metric with all systems.
    pub metrics: Vec<MetricResult>,
}

/// All systems under one metric.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MetricResult {
    /// The metric.
    pub metric: String,
    /// Its conventions, in words.
    pub convention: String,
    /// The systems, in the order in which they were given.
    pub systems: Vec<SystemValue>,
}

/// One system under one metric.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SystemValue {
    /// Name of the system.
    pub system: String,
    /// Mean over its queries; none without any.
    pub value: Option<f64>,
    /// 95 % interval of the mean; none below two queries.
    pub ci95: Option<[f64; 2]>,
    /// Queries that count.
    pub queries: usize,
    /// Whether no other system has a better value.
    pub best: bool,
    /// The comparison with the baseline; none for the baseline itself.
    pub versus_baseline: Option<BaselineDelta>,
}

/// A system against the baseline, on the queries where both have a value.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct BaselineDelta {
    /// Queries that count.
    pub pairs: usize,
    /// Mean of system minus baseline; none without any query.
    pub difference: Option<f64>,
    /// 95 % interval of the difference.
    pub difference_ci95: Option<[f64; 2]>,
    /// p-value of the test.
    pub p: f64,
    /// p-value corrected over the systems of the metric.
    pub p_corrected: f64,
    /// Cohen's d_z; none where it is undefined.
    pub effect: Option<f64>,
    /// Queries on which the system is better.
    pub wins: usize,
    /// Queries on which both are equal.
    pub ties: usize,
    /// Queries on which the baseline is better.
    pub losses: usize,
    /// `▲` or `▼` where the difference is significant, else empty.
    pub mark: &'static str,
}

impl ComparisonResult {
    /// The numbers of a comparison of evaluations.
    pub fn new(comparison: &Comparison, systems: &[(String, Evaluation)]) -> Self {
        let options = &comparison.options;
        let first = systems.first().map_or(&[][..], |(_, evaluation)| &evaluation.results);
        let metrics = comparison.metrics.iter().zip(first).map(|(metric, first)| MetricResult {
            metric: metric.label.clone(),
            convention: first.convention.clone(),
            systems: comparison
                .systems
                .iter()
                .zip(&metric.systems)
                .map(|(name, result)| SystemValue::new(name, result))
                .collect(),
        });
        ComparisonResult {
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

impl SystemValue {
    fn new(name: &str, result: &SystemResult) -> Self {
        SystemValue {
            system: name.to_owned(),
            value: result.mean,
            ci95: result.ci95,
            queries: result.queries,
            best: result.best,
            versus_baseline: result.versus.as_ref().map(BaselineDelta::from),
        }
    }
}

impl From<&Versus> for BaselineDelta {
    fn from(versus: &Versus) -> Self {
        BaselineDelta {
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

/// Everything that the page shows.
#[derive(Serialize)]
struct ReportResult<'a> {
    #[serde(flatten)]
    comparison: ComparisonResult,
    title: &'a str,
    per_query: PerQuery<'a>,
    hardest: Vec<QueryValues<'a>>,
    most_different: Vec<QueryValues<'a>>,
    #[serde(flatten)]
    details: Option<DetailsResult<'a>>,
}

/// The main metric, query by query.
#[derive(Serialize)]
struct PerQuery<'a> {
    metric: String,
    systems: Vec<Gains<'a>>,
}

#[derive(Serialize)]
struct Gains<'a> {
    system: &'a str,
    wins: usize,
    ties: usize,
    losses: usize,
    queries: Vec<Gain<'a>>,
}

#[derive(Serialize)]
struct Gain<'a> {
    query: &'a str,
    gain: f64,
}

#[derive(Serialize)]
struct QueryValues<'a> {
    query: &'a str,
    documents: Option<usize>,
    relevant: Option<usize>,
    values: Vec<Option<f64>>,
    mean: f64,
    difference: f64,
}

/// What only the sources of the evaluations know.
#[derive(Serialize)]
struct DetailsResult<'a> {
    cutoffs: Option<CutoffCurves<'a>>,
    changes: Vec<QueryChange<'a>>,
}

#[derive(Serialize)]
struct CutoffCurves<'a> {
    metric: &'a str,
    convention: &'a str,
    systems: Vec<CutoffCurve<'a>>,
}

#[derive(Serialize)]
struct CutoffCurve<'a> {
    system: &'a str,
    values: &'a [Point],
}

#[derive(Serialize)]
struct QueryChange<'a> {
    query: &'a str,
    system: &'a str,
    why: Option<&'static str>,
    baseline_value: Option<f64>,
    value: Option<f64>,
    documents: Vec<MovedDocument<'a>>,
}

#[derive(Serialize)]
struct MovedDocument<'a> {
    document: &'a str,
    label: Option<f64>,
    baseline_rank: Option<usize>,
    rank: Option<usize>,
    baseline_score: Option<f64>,
    score: Option<f64>,
    risen: Option<i64>,
}

impl Serialize for ComparisonReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ReportResult {
            comparison: ComparisonResult::new(&self.comparison, &self.systems),
            title: &self.title,
            per_query: PerQuery {
                metric: self.main_metric(),
                systems: self.differences.iter().map(|d| self.gains(d)).collect(),
            },
            hardest: self.query_values(hardest::hardest(self)),
            most_different: self.query_values(hardest::most_different(self)),
            details: self.details.as_ref().map(|details| self.details_result(details)),
        }
        .serialize(serializer)
    }
}

impl ComparisonReport {
    fn gains(&self, differences: &Differences) -> Gains<'_> {
        let one = |(query, gain): &(usize, f64)| Gain { query: self.query_id(*query), gain: *gain };
        Gains {
            system: self.name(differences.system),
            wins: differences.counts.wins,
            ties: differences.counts.ties,
            losses: differences.counts.losses,
            queries: differences.sorted.iter().map(one).collect(),
        }
    }

    fn query_values(&self, rows: Vec<QueryRow>) -> Vec<QueryValues<'_>> {
        let row = |row: QueryRow| {
            let shape = self.details.as_ref().and_then(|details| details.shapes.get(row.query));
            QueryValues {
                query: self.query_id(row.query),
                documents: shape.map(|shape| shape.documents),
                relevant: shape.map(|shape| shape.relevant),
                values: row.values,
                mean: row.mean,
                difference: row.span,
            }
        };
        rows.into_iter().map(row).collect()
    }

    fn details_result<'a>(&'a self, details: &'a Details) -> DetailsResult<'a> {
        DetailsResult {
            cutoffs: details.curves.as_ref().map(|curves| self.cutoff_curves(curves)),
            changes: details.changes.iter().map(|change| self.query_change(change)).collect(),
        }
    }

    fn cutoff_curves<'a>(&'a self, curves: &'a Curves) -> CutoffCurves<'a> {
        let system =
            |(s, values): (usize, &'a Vec<Point>)| CutoffCurve { system: self.name(s), values };
        CutoffCurves {
            metric: &curves.metric,
            convention: &curves.convention,
            systems: curves.systems.iter().enumerate().map(system).collect(),
        }
    }

    fn query_change<'a>(&'a self, change: &'a Change) -> QueryChange<'a> {
        QueryChange {
            query: self.query_id(change.query),
            system: self.name(change.system),
            why: Some(change.why).filter(|why| !why.is_empty()),
            baseline_value: change.values.0,
            value: change.values.1,
            documents: change.documents.iter().map(MovedDocument::from).collect(),
        }
    }
}

impl<'a> From<&'a Moved> for MovedDocument<'a> {
    fn from(moved: &'a Moved) -> Self {
        MovedDocument {
            document: &moved.name,
            label: moved.label,
            baseline_rank: moved.before.map(|place| place.rank),
            rank: moved.after.map(|place| place.rank),
            baseline_score: moved.before.map(|place| place.score),
            score: moved.after.map(|place| place.score),
            risen: moved.risen(),
        }
    }
}
