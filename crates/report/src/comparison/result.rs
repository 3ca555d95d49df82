//! The serialisable result of a comparison report: the comparison, and the numbers that the page
//! adds.

use rankwright_eval::compare::Comparison;
use serde::{Serialize, Serializer};

use super::changes::{Change, RankChange};
use super::cutoffs::{Curves, CutoffPoint};
use super::hardest::{self, QueryRow};
use super::wins::Differences;
use super::{ComparisonReport, SourceDetails};

/// All numbers of the page.
#[derive(Serialize)]
struct ReportResult<'a> {
    #[serde(flatten)]
    comparison: &'a Comparison,
    /// Title of the report.
    title: &'a str,
    /// The main metric, query by query.
    per_query: PerQuery<'a>,
    /// The queries with the worst mean over the systems.
    hardest: Vec<QueryValues<'a>>,
    /// The queries with the largest difference between systems.
    most_different: Vec<QueryValues<'a>>,
    #[serde(flatten)]
    details: Option<DetailsResult<'a>>,
}

/// The main metric, query by query.
#[derive(Serialize)]
struct PerQuery<'a> {
    /// The main metric; `None` without metrics.
    metric: Option<String>,
    /// The differences of each system to the baseline.
    systems: Vec<SystemDifferences<'a>>,
}

/// The differences of one system to the baseline.
#[derive(Serialize)]
struct SystemDifferences<'a> {
    /// The system.
    system: &'a str,
    /// Number of queries on which the system is better than the baseline.
    wins: usize,
    /// Number of queries without a difference.
    ties: usize,
    /// Number of queries on which the system is worse than the baseline.
    losses: usize,
    /// Each query, the largest win first.
    queries: Vec<QueryDifference<'a>>,
}

#[derive(Serialize)]
struct QueryDifference<'a> {
    /// The query.
    query: &'a str,
    /// The value of the system minus that of the baseline, negated where lower values are better.
    gain: f64,
}

/// A query with its value under each system.
#[derive(Serialize)]
struct QueryValues<'a> {
    /// The query.
    query: &'a str,
    /// Number of judged documents.
    documents: Option<usize>,
    /// Number of documents with a label of 1 or more.
    relevant: Option<usize>,
    /// The value of each system.
    values: Vec<Option<f64>>,
    /// The mean over the systems.
    mean: f64,
    /// The largest value of a system minus the smallest one.
    difference: f64,
}

/// Results that need the rankings of each system, not only its metric values.
#[derive(Serialize)]
struct DetailsResult<'a> {
    /// The metric at every cut-off.
    cutoffs: Option<CutoffCurves<'a>>,
    /// Documents with their ranks under the baseline and another system, for some queries.
    changes: Vec<QueryChange<'a>>,
}

#[derive(Serialize)]
struct CutoffCurves<'a> {
    /// The metric.
    metric: &'a str,
    /// The treatment of ties, unjudged documents and so on, as text.
    convention: &'a str,
    /// A curve for each system.
    systems: Vec<CutoffCurve<'a>>,
}

#[derive(Serialize)]
struct CutoffCurve<'a> {
    /// The system.
    system: &'a str,
    /// The value at each cut-off.
    values: &'a [CutoffPoint],
}

/// The documents of a query under the baseline and under a system.
#[derive(Serialize)]
struct QueryChange<'a> {
    /// The query.
    query: &'a str,
    /// The system that is compared with the baseline.
    system: &'a str,
    /// Why the query is shown, such as "largest loss".
    why: Option<&'static str>,
    /// The value of the baseline.
    baseline_value: Option<f64>,
    /// The value of the system.
    value: Option<f64>,
    /// The documents with their ranks.
    documents: Vec<MovedDocument<'a>>,
}

/// A document under the baseline and under a system; a rank or score is `None` if the run lacks the
/// document.
#[derive(Serialize)]
struct MovedDocument<'a> {
    /// Id or number of the document.
    document: &'a str,
    /// The label; `None` if the document is unjudged.
    label: Option<f64>,
    /// The rank under the baseline, from 1.
    baseline_rank: Option<usize>,
    /// The rank under the system, from 1.
    rank: Option<usize>,
    /// The score under the baseline.
    baseline_score: Option<f64>,
    /// The score under the system.
    score: Option<f64>,
    /// The rank under the baseline minus the rank under the system: above 0 if the document rose.
    risen: Option<i64>,
}

impl Serialize for ComparisonReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ReportResult {
            comparison: &self.comparison,
            title: &self.title,
            per_query: PerQuery {
                metric: self.measures().get(self.main).map(|result| result.measure.to_string()),
                systems: self.differences.iter().map(|d| self.system_differences(d)).collect(),
            },
            hardest: self.query_values(hardest::hardest(self)),
            most_different: self.query_values(hardest::most_different(self)),
            details: self.details.as_ref().map(|details| self.details_result(details)),
        }
        .serialize(serializer)
    }
}

impl ComparisonReport {
    fn system_differences(&self, differences: &Differences) -> SystemDifferences<'_> {
        let query_difference = |(query, gain): &(usize, f64)| QueryDifference {
            query: self.query_id(*query),
            gain: *gain,
        };
        SystemDifferences {
            system: self.name(differences.system),
            wins: differences.counts.wins,
            ties: differences.counts.ties,
            losses: differences.counts.losses,
            queries: differences.sorted.iter().map(query_difference).collect(),
        }
    }

    fn query_values(&self, rows: Vec<QueryRow>) -> Vec<QueryValues<'_>> {
        let row = |row: QueryRow| {
            let size = self.details.as_ref().map(|details| details.query_sizes[row.query]);
            QueryValues {
                query: self.query_id(row.query),
                documents: size.map(|size| size.documents),
                relevant: size.map(|size| size.relevant),
                values: row.values,
                mean: row.mean,
                difference: row.span,
            }
        };
        rows.into_iter().map(row).collect()
    }

    fn details_result<'a>(&'a self, details: &'a SourceDetails) -> DetailsResult<'a> {
        DetailsResult {
            cutoffs: details.curves.as_ref().map(|curves| self.cutoff_curves(curves)),
            changes: details.changes.iter().map(|change| self.query_change(change)).collect(),
        }
    }

    fn cutoff_curves<'a>(&'a self, curves: &'a Curves) -> CutoffCurves<'a> {
        let system = |(s, values): (usize, &'a Vec<CutoffPoint>)| CutoffCurve {
            system: self.name(s),
            values,
        };
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
            why: Some(change.reason).filter(|reason| !reason.is_empty()),
            baseline_value: change.values.0,
            value: change.values.1,
            documents: change.documents.iter().map(MovedDocument::from).collect(),
        }
    }
}

impl<'a> From<&'a RankChange> for MovedDocument<'a> {
    fn from(document: &'a RankChange) -> Self {
        MovedDocument {
            document: &document.name,
            label: document.label,
            baseline_rank: document.before.map(|listed| listed.rank),
            rank: document.after.map(|listed| listed.rank),
            baseline_score: document.before.map(|listed| listed.score),
            score: document.after.map(|listed| listed.score),
            risen: document.risen(),
        }
    }
}
