//! One query: the contributions to its documents' scores, and a comparison of two documents.

use rankwright_data::Dataset;
use rankwright_eval::{OrderRule, Orderer, Rows};
use rankwright_model::{Explainer, Explanation};
use serde::Serialize;

use super::ExplanationRequest;
use super::list::{Effect, effects};
use crate::error::ReportError;
use crate::known::KnownNames;
use crate::serialise::short_f32;

/// The reasons for the order of a query's documents.
#[derive(Debug, Clone)]
pub struct QueryExplanation {
    /// The query's id.
    pub query: String,
    /// Number of the query's documents.
    pub size: usize,
    /// The base score: a document's score is this plus the contributions of all features.
    pub base: f64,
    /// The requested documents, from the top of the list down.
    pub documents: Vec<ExplainedDocument>,
    /// The comparison of two documents.
    pub pair: Option<PairExplanation>,
    /// The effect of each feature on the order; features whose contributions vary most between the
    /// documents come first.
    pub effects: Vec<Effect>,
}

/// A document and the contributions to its score.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainedDocument {
    /// The document's id, or its row number in the input, from 0, if it has no id.
    pub doc: String,
    /// The document's row in the input, counted from 0.
    pub row: usize,
    /// The document's rank, from 1; equal scores are ordered by row.
    pub rank: usize,
    /// The document's label.
    pub label: f64,
    /// The document's score.
    pub score: f64,
    /// Contributions of the features, the largest absolute value first.
    pub contributions: Vec<Contribution>,
}

/// The contribution of a feature to a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// The name of the feature.
    pub feature: String,
    /// The feature's value; NaN if it is missing.
    #[serde(serialize_with = "short_f32")]
    pub value: f32,
    /// The text of the value, if it is a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The contribution to the score.
    pub contribution: f64,
}

/// The reasons why one document is ranked above (or below) another.
#[derive(Debug, Clone)]
pub struct PairExplanation {
    /// The first document, with an empty list of contributions.
    pub a: ExplainedDocument,
    /// The second document, with an empty list of contributions.
    pub b: ExplainedDocument,
    /// The first score minus the second: the sum of the contributions.
    pub difference: f64,
    /// Contributions of the features to the difference, the largest absolute value first.
    pub contributions: Vec<PairContribution>,
}

/// The contribution of a feature to the difference of two scores.
#[derive(Debug, Clone, PartialEq)]
pub struct PairContribution {
    /// The name of the feature.
    pub feature: String,
    /// The feature's values in the first and in the second document.
    pub values: [f32; 2],
    /// The texts of these values, as far as they are categories.
    pub texts: [Option<String>; 2],
    /// The contribution to the difference.
    pub difference: f64,
}

impl QueryExplanation {
    /// Explains the query with this id.
    pub(super) fn new(
        request: &ExplanationRequest<'_>,
        explainer: &Explainer<'_>,
        id: &str,
    ) -> Result<QueryExplanation, ReportError> {
        let data = request.data.1;
        let Some(query) = data.query_ids().iter().position(|other| other == id) else {
            let known = KnownNames::similar_to(id, data.query_ids().iter());
            return Err(ReportError::UnknownQuery { data: "data", query: id.to_owned(), known });
        };
        let explanations = explainer.explain(data, &[query])?;
        let Some(explanation) = explanations.into_iter().next() else {
            return Err(ReportError::Internal { invariant: "each query has an explanation" });
        };
        let (names, ranks) = (explainer.names(), ranks(&explanation.scores)?);
        let query_documents = QueryDocuments {
            data,
            explainer,
            explanation: &explanation,
            names: &names,
            ranks: &ranks,
        };
        let mut indices = match request.documents {
            [] => (0..explanation.documents()).collect(),
            named => {
                let index = |name: &String| query_documents.index(id, name);
                named.iter().map(index).collect::<Result<Vec<_>, _>>()?
            }
        };
        indices.sort_by_key(|index| ranks[*index]);
        indices.dedup();
        let pair = match request.pair {
            Some([a, b]) => Some(
                query_documents.pair(query_documents.index(id, a)?, query_documents.index(id, b)?),
            ),
            None => None,
        };
        Ok(QueryExplanation {
            query: id.to_owned(),
            size: explanation.documents(),
            base: explanation.base,
            documents: indices.into_iter().map(|index| query_documents.document(index)).collect(),
            pair,
            effects: effects(&explanation, &names)?,
        })
    }
}

/// The rank of each document, from 1.
fn ranks(scores: &[f64]) -> Result<Vec<usize>, ReportError> {
    let mut orderer = Orderer::default();
    let mut ranks = vec![0; scores.len()];
    let order = orderer.order(Rows::of_scores(scores), OrderRule::STABLE)?;
    for (rank, document) in (1..).zip(order) {
        ranks[*document as usize] = rank;
    }
    Ok(ranks)
}

/// The documents of a query, by their index within the query.
struct QueryDocuments<'a> {
    data: &'a Dataset,
    explainer: &'a Explainer<'a>,
    explanation: &'a Explanation,
    /// Names of the features.
    names: &'a [String],
    /// The rank of each document, from 1.
    ranks: &'a [usize],
}

impl QueryDocuments<'_> {
    /// The document's id, or its row number if it has no id.
    fn name(&self, index: usize) -> String {
        let row = self.explanation.rows.start + index;
        match self.data.doc_ids() {
            Some(ids) if !ids.get(row).is_empty() => ids.get(row).to_owned(),
            _ => self.data.source_row(row).to_string(),
        }
    }

    /// The index of a document by its id or, if no id matches, by its row.
    fn index(&self, query: &str, name: &str) -> Result<usize, ReportError> {
        let all = || 0..self.explanation.documents();
        let row =
            |index: &usize| self.data.source_row(self.explanation.rows.start + index).to_string();
        let by_id = all().find(|index| self.name(*index) == name);
        by_id.or_else(|| all().find(|index| row(index) == name)).ok_or_else(|| {
            let names: Vec<String> = all().map(|index| self.name(index)).collect();
            let known = KnownNames::similar_to(name, names.iter().map(String::as_str));
            let (query, document) = (query.to_owned(), name.to_owned());
            ReportError::UnknownDocument { query, document, known }
        })
    }

    /// The document with its rank, label and score alone.
    fn without_contributions(&self, index: usize) -> ExplainedDocument {
        let row = self.explanation.rows.start + index;
        ExplainedDocument {
            doc: self.name(index),
            row: self.data.source_row(row),
            rank: self.ranks[index],
            label: self.data.labels()[row],
            score: self.explanation.scores[index],
            contributions: Vec::new(),
        }
    }

    fn document(&self, index: usize) -> ExplainedDocument {
        let values = self.explanation.values(index);
        let features = self.names.iter().zip(values).zip(self.explanation.contributions(index));
        let mut contributions: Vec<Contribution> = features
            .enumerate()
            .map(|(index, ((feature, value), contribution))| Contribution {
                feature: feature.clone(),
                value: *value,
                text: self.explainer.category_text(index, *value),
                contribution: *contribution,
            })
            .collect();
        contributions.sort_by(|a, b| by_size(a.contribution, b.contribution));
        ExplainedDocument { contributions, ..self.without_contributions(index) }
    }

    fn pair(&self, a: usize, b: usize) -> PairExplanation {
        let differences = self.explanation.difference(a, b);
        let values = self.explanation.values(a).iter().zip(self.explanation.values(b));
        let features = self.names.iter().zip(values).zip(differences);
        let mut contributions: Vec<PairContribution> = features
            .enumerate()
            .map(|(index, ((feature, (a, b)), difference))| PairContribution {
                feature: feature.clone(),
                values: [*a, *b],
                texts: [*a, *b].map(|value| self.explainer.category_text(index, value)),
                difference,
            })
            .collect();
        contributions.sort_by(|a, b| by_size(a.difference, b.difference));
        let (a, b) = (self.without_contributions(a), self.without_contributions(b));
        PairExplanation { difference: a.score - b.score, a, b, contributions }
    }
}

/// Compares by absolute value, the largest first; in a stable sort equal ones keep the order of the
/// features.
fn by_size(a: f64, b: f64) -> std::cmp::Ordering {
    b.abs().total_cmp(&a.abs())
}
