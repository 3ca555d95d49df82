//! A whole data set: the size of each feature's effect on scores.
//!
//! Queries are taken in a seeded random order until there are enough documents (fewer for nets,
//! where each explanation is expensive). `size` is the mean absolute contribution of a feature over
//! these documents; `spread` is the same after the mean contribution within each query is
//! subtracted: only this part can change an order. For the features with the largest size, value
//! and contribution of single documents are kept too.

use rankwright_data::Random;
use rankwright_model::{Explainer, Explanation};
use rankwright_spec::words::counted;
use serde::Serialize;

use super::{ExplanationRequest, is_sampled};
use crate::error::ReportError;

/// Approximate number of documents to explain.
const DOCUMENTS: usize = 3_000;
/// Approximate number of documents to explain where each one is explained by sampling.
const DOCUMENTS_SAMPLED: usize = 200;
/// Number of features with points.
const SHOWN: usize = 9;
/// Maximum number of points of a feature.
const POINTS: usize = 300;
/// Stream of random numbers for the order of the queries. Any constant; keeps this stream apart
/// from the other uses of the seed.
const QUERY_STREAM: u64 = 1 << 41;

/// The effects of all features on scores.
#[derive(Debug, Clone, Serialize)]
pub struct EffectSummary {
    /// Number of queries in the sample.
    pub queries: usize,
    /// Number of queries in the data.
    #[serde(skip)]
    pub all_queries: usize,
    /// Number of documents in the sample.
    pub documents: usize,
    /// The features, the largest size first.
    pub features: Vec<FeatureEffect>,
}

impl EffectSummary {
    /// The size of the sample, in words.
    pub(super) fn sample_in_words(&self) -> String {
        let documents = counted(self.documents, "document");
        match self.queries == self.all_queries {
            true => format!("{documents} of {}", counted(self.queries, "query")),
            false => {
                format!("{documents} of {} of {} queries", self.queries, self.all_queries)
            }
        }
    }
}

/// The effect of one feature on scores.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureEffect {
    /// The name of the feature.
    pub feature: String,
    /// The mean absolute contribution.
    pub size: f64,
    /// The mean absolute contribution after the mean within each query is subtracted.
    pub spread: f64,
    /// Value and contribution in some documents, for the largest features.
    #[serde(skip)]
    pub points: Vec<FeaturePoint>,
}

/// Value and contribution of a feature in one document.
#[derive(Debug, Clone, PartialEq)]
pub struct FeaturePoint {
    /// The row in the input, from 0.
    pub row: usize,
    /// The value of the feature; NaN if it is missing.
    pub value: f32,
    /// The text of the value, if it is a category.
    pub text: Option<String>,
    /// The contribution of the feature.
    pub contribution: f64,
}

impl EffectSummary {
    /// Explains a sample of queries.
    pub(super) fn new(
        request: &ExplanationRequest<'_>,
        explainer: &Explainer<'_>,
    ) -> Result<EffectSummary, ReportError> {
        let data = request.data.1;
        let enough = if is_sampled(request.model.1) { DOCUMENTS_SAMPLED } else { DOCUMENTS };
        let mut order: Vec<usize> = (0..data.queries()).collect();
        Random::new(request.options.seed, QUERY_STREAM).shuffle(&mut order);
        let mut documents = 0;
        let taken = order.iter().take_while(|query| {
            let before = documents;
            documents += data.query_rows(**query).len();
            before < enough
        });
        let mut queries: Vec<usize> = taken.copied().collect();
        queries.sort_unstable();
        let explanations = explainer.explain(data, &queries)?;
        let documents: usize = explanations.iter().map(Explanation::documents).sum();
        let mut features = features(&explanations, explainer.names(), documents);
        let source_row = |row: usize| data.source_row(row);
        for (index, feature) in features.iter_mut().take(SHOWN) {
            feature.points = points(&explanations, *index, documents, source_row);
            for point in &mut feature.points {
                point.text = explainer.category_text(*index, point.value);
            }
        }
        let features = features.into_iter().map(|(_, feature)| feature).collect();
        Ok(EffectSummary {
            queries: queries.len(),
            all_queries: data.queries(),
            documents,
            features,
        })
    }
}

/// Index and effect of each feature, the largest size first.
fn features(
    explanations: &[Explanation],
    names: Vec<String>,
    documents: usize,
) -> Vec<(usize, FeatureEffect)> {
    let mut sums = vec![(0.0, 0.0); names.len()];
    for query in explanations {
        let means = query.means();
        for document in 0..query.documents() {
            let contributions = query.contributions(document).iter().zip(&means);
            for ((size, spread), (contribution, mean)) in sums.iter_mut().zip(contributions) {
                *size += contribution.abs();
                *spread += (contribution - mean).abs();
            }
        }
    }
    let count = documents.max(1) as f64;
    let summary = |(feature, (size, spread)): (String, (f64, f64))| FeatureEffect {
        feature,
        size: size / count,
        spread: spread / count,
        points: Vec::new(),
    };
    let mut all: Vec<_> = names.into_iter().zip(sums).map(summary).enumerate().collect();
    all.sort_by(|(_, a), (_, b)| b.size.total_cmp(&a.size));
    all
}

/// Value and contribution of a feature in every n-th document, sorted by value; missing values come
/// last.
fn points(
    explanations: &[Explanation],
    feature: usize,
    documents: usize,
    source_row: impl Fn(usize) -> usize,
) -> Vec<FeaturePoint> {
    let all = explanations
        .iter()
        .flat_map(|query| (0..query.documents()).map(move |document| (query, document)));
    let step = documents.div_ceil(POINTS).max(1);
    let mut points: Vec<FeaturePoint> = all
        .step_by(step)
        .map(|(query, document)| FeaturePoint {
            row: source_row(query.rows.start + document),
            value: query.values(document)[feature],
            text: None,
            contribution: query.contributions(document)[feature],
        })
        .collect();
    points.sort_by(|a, b| a.value.total_cmp(&b.value));
    points
}
