//! A whole data set: how much each feature moves scores.
//!
//! Queries are taken in a seeded random order until enough documents are met (fewer where a net makes
//! each of them dear). `size` is the mean size of a feature's contribution over their documents;
//! `spread` is that of what is left when each list's mean is taken away, the part that can change an
//! order. For the largest features single documents are kept too: value and contribution.

use rankwright_data::Random;
use rankwright_model::{Explainer, Explanation};
use rankwright_spec::words::counted;
use serde::Serialize;

use super::{ExplanationRequest, is_sampled};
use crate::error::ReportError;

/// Documents that are enough.
const ENOUGH: usize = 3_000;
/// The same where each is explained by sampling.
const ENOUGH_SAMPLED: usize = 200;
/// Features with points.
const SHOWN: usize = 9;
/// Points of a feature.
const POINTS: usize = 300;

/// How much the features move scores.
#[derive(Debug, Clone, Serialize)]
pub struct EffectSummary {
    /// Queries looked at.
    pub queries: usize,
    /// Queries there are.
    #[serde(skip)]
    pub all_queries: usize,
    /// Documents looked at.
    pub documents: usize,
    /// The features, the largest size first.
    pub features: Vec<FeatureEffect>,
}

impl EffectSummary {
    /// What was looked at, in words.
    pub(super) fn seen(&self) -> String {
        let documents = counted(self.documents, "document");
        match self.queries == self.all_queries {
            true => format!("{documents} of {}", counted(self.queries, "query")),
            false => {
                format!("{documents} of {} of {} queries", self.queries, self.all_queries)
            }
        }
    }
}

/// How much one feature moves scores.
#[derive(Debug, Clone, Serialize)]
pub struct FeatureEffect {
    /// Its name.
    pub feature: String,
    /// The mean size of its contribution.
    pub size: f64,
    /// The mean size of its contribution less the mean of the list.
    pub spread: f64,
    /// Some documents, for the largest features.
    #[serde(skip)]
    pub points: Vec<FeaturePoint>,
}

/// One document as a feature sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeaturePoint {
    /// The row in the input, from 0.
    pub row: usize,
    /// The value of the feature; NaN where it is missing.
    pub value: f32,
    /// What the feature adds.
    pub contribution: f64,
}

impl EffectSummary {
    pub(super) fn new(
        request: &ExplanationRequest<'_>,
        explainer: &Explainer<'_>,
    ) -> Result<EffectSummary, ReportError> {
        let data = request.data.1;
        let enough = if is_sampled(request.model.1) { ENOUGH_SAMPLED } else { ENOUGH };
        let mut order: Vec<usize> = (0..data.queries()).collect();
        Random::new(request.options.seed, 1 << 41).shuffle(&mut order);
        let mut documents = 0;
        let taken = order.iter().take_while(|query| {
            let before = documents;
            documents += data.query_rows(**query).len();
            before < enough
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
        Ok(EffectSummary { queries: queries.len(), all_queries: data.queries(), documents, features })
    }
}

/// The features with their places, the largest first.
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

/// Documents at even distances, by value; missing values come last.
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
