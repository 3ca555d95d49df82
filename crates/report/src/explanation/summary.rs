//! A whole data set: the size of each feature's effect on scores.
//!
//! Queries are taken in a seeded random order until there are enough documents (fewer for
//! nets, where each explanation is expensive). `size` is the mean absolute contribution of a
//! feature over these documents; `spread` is the same after each list's mean is subtracted, the
//! part that can change an order. For the largest features, value and contribution of single
//! documents are kept too.

use rankwright_data::Random;
use rankwright_model::{Explainer, Explanation};
use rankwright_spec::words::counted;
use serde::Serialize;

use super::{ExplanationRequest, is_sampled};
use crate::error::ReportError;

/// Number of documents to explain.
const DOCUMENTS: usize = 3_000;
/// Number of documents to explain where each one is explained by sampling.
const DOCUMENTS_SAMPLED: usize = 200;
/// Number of features with points.
const SHOWN: usize = 9;
/// Maximum number of points of a feature.
const POINTS: usize = 300;

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
    /// Its name.
    pub feature: String,
    /// The mean absolute contribution.
    pub size: f64,
    /// The mean absolute contribution after the mean of each list is subtracted.
    pub spread: f64,
    /// Value and contribution in some documents, for the largest features.
    #[serde(skip)]
    pub points: Vec<FeaturePoint>,
}

/// Value and contribution of a feature in one document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeaturePoint {
    /// The row in the input, from 0.
    pub row: usize,
    /// The value of the feature; NaN if it is missing.
    pub value: f32,
    /// The contribution of the feature.
    pub contribution: f64,
}

impl EffectSummary {
    pub(super) fn new(
        request: &ExplanationRequest<'_>,
        explainer: &Explainer<'_>,
    ) -> Result<EffectSummary, ReportError> {
        let data = request.data.1;
        let most_documents =
            if is_sampled(request.model.1) { DOCUMENTS_SAMPLED } else { DOCUMENTS };
        let mut order: Vec<usize> = (0..data.queries()).collect();
        Random::new(request.options.seed, 1 << 41).shuffle(&mut order);
        let mut documents = 0;
        let taken = order.iter().take_while(|query| {
            let before = documents;
            documents += data.query_rows(**query).len();
            before < most_documents
        });
        let mut queries: Vec<usize> = taken.copied().collect();
        queries.sort_unstable();
        let found = explainer.explain(data, &queries)?;
        let documents: usize = found.iter().map(Explanation::documents).sum();
        let mut features = features(&found, explainer.names(), documents);
        let source = |row: usize| data.source_row(row);
        for (slot, feature) in features.iter_mut().take(SHOWN) {
            feature.points = points(&found, *slot, documents, source);
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

/// The effects of features with their indices, the largest first.
fn features(
    found: &[Explanation],
    names: Vec<String>,
    documents: usize,
) -> Vec<(usize, FeatureEffect)> {
    let mut sums = vec![(0.0, 0.0); names.len()];
    for list in found {
        let means = list.means();
        for document in 0..list.documents() {
            for ((sum, part), mean) in sums.iter_mut().zip(list.contributions(document)).zip(&means)
            {
                sum.0 += part.abs();
                sum.1 += (part - mean).abs();
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

/// Evenly spaced documents, sorted by value; missing values come last.
fn points(
    found: &[Explanation],
    slot: usize,
    documents: usize,
    source: impl Fn(usize) -> usize,
) -> Vec<FeaturePoint> {
    let all =
        found.iter().flat_map(|list| (0..list.documents()).map(move |document| (list, document)));
    let step = documents.div_ceil(POINTS).max(1);
    let mut points: Vec<FeaturePoint> = all
        .step_by(step)
        .map(|(list, document)| FeaturePoint {
            row: source(list.rows.start + document),
            value: list.values(document)[slot],
            contribution: list.contributions(document)[slot],
        })
        .collect();
    points.sort_by(|a, b| a.value.total_cmp(&b.value));
    points
}
