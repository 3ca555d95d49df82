//! An explanation as a serialisable result. Numbers that JSON cannot represent, such as a missing
//! value, are null.

use rankwright_model::Dependence;
use serde::{Serialize, Serializer};

use super::{
    Effect, EffectSummary, ExplainedDocument, PairExplanation, QueryExplanation, RankingExplanation,
};
use crate::serialise::shortest;

/// The JSON of an explanation.
#[derive(Serialize)]
struct ExplanationResult<'a> {
    /// Name of the model.
    model: &'a str,
    /// Name of the data.
    data: &'a str,
    /// Description of the background that contributions are relative to.
    relative_to: &'a str,
    /// Whether contributions are computed exactly, as opposed to sampled.
    exact: bool,
    /// The partial dependence of scores on the requested features.
    dependence: Vec<DependenceResult<'a>>,
    #[serde(flatten)]
    query: Option<QueryResult<'a>>,
    /// The effects over the whole data set, if no query was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a EffectSummary>,
}

/// The explanation of a query.
#[derive(Serialize)]
struct QueryResult<'a> {
    /// The query's id.
    query: &'a str,
    /// The base score: a document's score is this plus the contributions of all features.
    base: f64,
    /// The requested documents, from the top of the list down.
    documents: &'a [ExplainedDocument],
    /// The effect of each feature on the order of the list.
    list: &'a [Effect],
    /// The comparison of two documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<PairResult<'a>>,
}

/// The contributions to the difference of two scores.
#[derive(Serialize)]
struct PairResult<'a> {
    a: DocumentHead<'a>,
    b: DocumentHead<'a>,
    /// The score of `a` minus the score of `b`.
    difference: f64,
    contributions: Vec<PairContributionResult<'a>>,
}

/// The contribution of a feature to the difference of two scores.
#[derive(Serialize)]
struct PairContributionResult<'a> {
    feature: &'a str,
    /// The feature's values in both documents; null if missing.
    values: [Option<f64>; 2],
    /// The texts of these values; only for categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<&'a [Option<String>; 2]>,
    difference: f64,
}

/// A document without the contributions to its score.
#[derive(Serialize)]
struct DocumentHead<'a> {
    doc: &'a str,
    row: usize,
    rank: usize,
    label: f64,
    score: f64,
}

/// The partial dependence of scores on a feature.
#[derive(Serialize)]
struct DependenceResult<'a> {
    /// Name of the feature.
    feature: &'a str,
    /// Number of documents in the means.
    documents: usize,
    /// The mean score at each value of the feature.
    points: Vec<DependencePoint<'a>>,
    /// The mean score with the feature set to missing; null if no document lacks it.
    missing: Option<f64>,
    /// The scores of single documents.
    curves: Vec<DependenceCurve<'a>>,
}

#[derive(Serialize)]
struct DependencePoint<'a> {
    /// The value that the feature is set to.
    value: Option<f64>,
    /// The text of the value, if it is a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// The mean score.
    score: f64,
}

/// The scores of one document at each value of the feature.
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
    fn from(explanation: &'a QueryExplanation) -> Self {
        QueryResult {
            query: &explanation.query,
            base: explanation.base,
            documents: &explanation.documents,
            list: &explanation.effects,
            pair: explanation.pair.as_ref().map(PairResult::from),
        }
    }
}

impl<'a> From<&'a PairExplanation> for PairResult<'a> {
    fn from(pair: &'a PairExplanation) -> Self {
        let contributions = pair.contributions.iter().map(|contribution| PairContributionResult {
            feature: &contribution.feature,
            values: contribution.values.map(shortest),
            texts: Some(&contribution.texts).filter(|texts| texts.iter().any(Option::is_some)),
            difference: contribution.difference,
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
    fn from(dependence: &'a Dependence) -> Self {
        let points = dependence.values.iter().zip(&dependence.means);
        let points = points.enumerate().map(|(index, (value, score))| DependencePoint {
            value: shortest(*value),
            text: dependence.texts.get(index).map(String::as_str),
            score: *score,
        });
        let curves = dependence.curves.iter();
        let curves = curves.map(|(row, scores)| DependenceCurve { row: *row, scores });
        DependenceResult {
            feature: &dependence.name,
            documents: dependence.documents,
            points: points.collect(),
            missing: dependence.missing,
            curves: curves.collect(),
        }
    }
}
