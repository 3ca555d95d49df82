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
    systems: Vec<SystemDifferences<'a>>,
}

#[derive(Serialize)]
struct SystemDifferences<'a> {
    system: &'a str,
    wins: usize,
    ties: usize,
    losses: usize,
    queries: Vec<QueryDifference<'a>>,
}

#[derive(Serialize)]
struct QueryDifference<'a> {
    query: &'a str,
    /// The value of the system less that of the baseline.
    gain: f64,
}

#[derive(Serialize)]
struct QueryValues<'a> {
    query: &'a str,
    /// Number of judged documents.
    documents: Option<usize>,
    /// Number of documents with a label of 1 or more.
    relevant: Option<usize>,
    values: Vec<Option<f64>>,
    mean: f64,
    /// The largest value of a system less the smallest.
    difference: f64,
}

/// Results that need the rankings of each system, not only its metric values.
#[derive(Serialize)]
struct DetailsResult<'a> {
    cutoffs: Option<CutoffCurves<'a>>,
    changes: Vec<QueryChange<'a>>,
}

#[derive(Serialize)]
struct CutoffCurves<'a> {
    metric: &'a str,
    /// The treatment of ties, unjudged documents and so on, as text.
    convention: &'a str,
    systems: Vec<CutoffCurve<'a>>,
}

#[derive(Serialize)]
struct CutoffCurve<'a> {
    system: &'a str,
    values: &'a [CutoffPoint],
}

#[derive(Serialize)]
struct QueryChange<'a> {
    query: &'a str,
    system: &'a str,
    /// Why the query is shown, such as "largest loss".
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
            comparison: &self.comparison,
            title: &self.title,
            per_query: PerQuery {
                metric: self.main_metric(),
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
        let one = |(query, gain): &(usize, f64)| QueryDifference {
            query: self.query_id(*query),
            gain: *gain,
        };
        SystemDifferences {
            system: self.name(differences.system),
            wins: differences.counts.wins,
            ties: differences.counts.ties,
            losses: differences.counts.losses,
            queries: differences.sorted.iter().map(one).collect(),
        }
    }

    fn query_values(&self, rows: Vec<QueryRow>) -> Vec<QueryValues<'_>> {
        let row = |row: QueryRow| {
            let size = self.details.as_ref().and_then(|details| details.query_sizes.get(row.query));
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
