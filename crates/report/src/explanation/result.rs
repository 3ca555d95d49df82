//! An explanation as a serialisable result. Numbers that JSON cannot represent, such as a missing
//! value, are null.

use rankwright_model::Dependence;
use serde::{Serialize, Serializer};

use super::{
    Effect, EffectSummary, ExplainedDocument, PairExplanation, QueryExplanation, RankingExplanation,
};
use crate::serialise::shortest;

#[derive(Serialize)]
struct ExplanationResult<'a> {
    model: &'a str,
    data: &'a str,
    relative_to: &'a str,
    /// Whether contributions are computed exactly, as opposed to sampled.
    exact: bool,
    dependence: Vec<DependenceResult<'a>>,
    #[serde(flatten)]
    query: Option<QueryResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a EffectSummary>,
}

#[derive(Serialize)]
struct QueryResult<'a> {
    query: &'a str,
    base: f64,
    documents: &'a [ExplainedDocument],
    list: &'a [Effect],
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<PairResult<'a>>,
}

/// A pair of documents, without contributions of their own.
#[derive(Serialize)]
struct PairResult<'a> {
    a: DocumentHead<'a>,
    b: DocumentHead<'a>,
    difference: f64,
    contributions: Vec<ShareResult<'a>>,
}

#[derive(Serialize)]
struct ShareResult<'a> {
    feature: &'a str,
    values: [Option<f64>; 2],
    difference: f64,
}

#[derive(Serialize)]
struct DocumentHead<'a> {
    doc: &'a str,
    row: usize,
    rank: usize,
    label: f64,
    score: f64,
}

#[derive(Serialize)]
struct DependenceResult<'a> {
    feature: &'a str,
    documents: usize,
    points: Vec<DependencePoint>,
    missing: Option<f64>,
    curves: Vec<DependenceCurve<'a>>,
}

#[derive(Serialize)]
struct DependencePoint {
    value: Option<f64>,
    score: f64,
}

#[derive(Serialize)]
struct DependenceCurve<'a> {
    row: usize,
    scores: &'a [f64],
}

impl Serialize for RankingExplanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ExplanationResult {
            model: &self.model,
            data: &self.data,
            relative_to: &self.relative_to,
            exact: !self.sampled,
            dependence: self.dependence.iter().map(DependenceResult::from).collect(),
            query: self.query.as_ref().map(QueryResult::from),
            summary: self.summary.as_ref(),
        }
        .serialize(serializer)
    }
}

impl<'a> From<&'a QueryExplanation> for QueryResult<'a> {
    fn from(found: &'a QueryExplanation) -> Self {
        QueryResult {
            query: &found.query,
            base: found.base,
            documents: &found.documents,
            list: &found.list,
            pair: found.pair.as_ref().map(PairResult::from),
        }
    }
}

impl<'a> From<&'a PairExplanation> for PairResult<'a> {
    fn from(pair: &'a PairExplanation) -> Self {
        let contributions = pair.shares.iter().map(|share| ShareResult {
            feature: &share.feature,
            values: share.values.map(shortest),
            difference: share.difference,
        });
        PairResult {
            a: DocumentHead::from(&pair.a),
            b: DocumentHead::from(&pair.b),
            difference: pair.difference,
            contributions: contributions.collect(),
        }
    }
}

impl<'a> From<&'a ExplainedDocument> for DocumentHead<'a> {
    fn from(document: &'a ExplainedDocument) -> Self {
        DocumentHead {
            doc: &document.doc,
            row: document.row,
            rank: document.rank,
            label: document.label,
            score: document.score,
        }
    }
}

impl<'a> From<&'a Dependence> for DependenceResult<'a> {
    fn from(found: &'a Dependence) -> Self {
        let points = found.values.iter().zip(&found.means);
        let points =
            points.map(|(value, score)| DependencePoint { value: shortest(*value), score: *score });
        let curves = found.curves.iter().map(|(row, scores)| DependenceCurve { row: *row, scores });
        DependenceResult {
            feature: &found.name,
            documents: found.documents,
            points: points.collect(),
            missing: found.missing,
            curves: curves.collect(),
        }
    }
}
