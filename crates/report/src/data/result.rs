//! A data report as a serialisable result: every number of the page, and every feature.

use rankwright_data::{FeatureSummary, SummaryWarning};
use serde::{Serialize, Serializer};

use super::histogram::{Bin, bins};
use super::relation::Relation;
use super::spread::{Bins, Spread};
use super::{DataReport, missing};

#[derive(Serialize)]
struct DataResult<'a, W> {
    title: &'a str,
    rows: usize,
    queries: usize,
    features: usize,
    labels: Vec<LabelShare>,
    query_sizes: SizeCounts,
    documents_per_query: Vec<SizeBin>,
    relevant_per_query: Vec<SizeBin>,
    /// Queries without a label of at least 1.
    blank_queries: usize,
    /// Queries whose labels are all equal.
    equal_label_queries: usize,
    /// Queries of one document.
    single_queries: usize,
    warnings: &'a [W],
    ranker: RankerMetric,
    feature_summaries: Vec<FeatureResult<'a>>,
    /// Names of the features, the one with the strongest correlation with relevance first.
    by_correlation: Vec<&'a str>,
    /// Names of the features with missing values.
    missing: Vec<&'a str>,
    spreads: Vec<SpreadResult<'a>>,
    similar: SimilarResult<'a>,
}

#[derive(Serialize)]
struct LabelShare {
    label: f64,
    rows: usize,
}

#[derive(Serialize)]
struct SizeCounts {
    min: usize,
    median: usize,
    mean: f64,
    p95: usize,
    max: usize,
}

#[derive(Serialize)]
struct SizeBin {
    from: usize,
    to: usize,
    queries: usize,
}

#[derive(Serialize)]
struct RankerMetric {
    metric: String,
    convention: String,
}

#[derive(Serialize)]
struct FeatureResult<'a> {
    name: &'a str,
    missing: usize,
    zeros: usize,
    infinite: usize,
    min: f32,
    max: f32,
    mean: f64,
    constant: bool,
    same_as: Option<&'a str>,
    tau: f64,
    tau_ci95: Option<(f64, f64)>,
    tau_queries: usize,
    ranker: FeatureRanker,
}

/// The metric of ranking by the feature alone.
#[derive(Serialize)]
struct FeatureRanker {
    value: f64,
    larger_first: bool,
    descending: f64,
    ascending: f64,
}

#[derive(Serialize)]
struct SpreadResult<'a> {
    feature: &'a str,
    bins: BinsResult<'a>,
    labels: Vec<LabelShares<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BinsResult<'a> {
    Values { values: &'a [f32] },
    Range { from: f64, to: f64, centres: Vec<f64> },
}

#[derive(Serialize)]
struct LabelShares<'a> {
    label: &'a str,
    shares: &'a [f64],
}

#[derive(Serialize)]
struct SimilarResult<'a> {
    rows: usize,
    seed: u64,
    bound: f64,
    near_duplicates: Vec<Vec<NearDuplicate<'a>>>,
    correlations: Correlations<'a>,
}

#[derive(Serialize)]
struct NearDuplicate<'a> {
    feature: &'a str,
    correlation: f64,
}

#[derive(Serialize)]
struct Correlations<'a> {
    features: Vec<&'a str>,
    values: &'a [Vec<f64>],
}

impl DataReport {
    /// The numbers of the report, with these warnings in place of its own: a caller that read the
    /// data may have more of them.
    pub fn result_with<'a, W: Serialize>(&'a self, warnings: &'a [W]) -> impl Serialize + 'a {
        let summary = &self.summary;
        let features = summary.features.iter().zip(&self.relations);
        let (labels, sizes) = (summary.labels.iter(), &summary.sizes);
        DataResult {
            title: &self.title,
            rows: summary.rows,
            queries: summary.queries,
            features: summary.features.len(),
            labels: labels.map(|(label, rows)| LabelShare { label: *label, rows: *rows }).collect(),
            query_sizes: SizeCounts {
                min: sizes.min,
                median: sizes.median,
                mean: sizes.mean,
                p95: sizes.p95,
                max: sizes.max,
            },
            documents_per_query: histogram(&self.sizes),
            relevant_per_query: histogram(&self.relevant),
            blank_queries: summary.blank_queries,
            equal_label_queries: summary.equal_label_queries,
            single_queries: summary.single_queries,
            warnings,
            ranker: RankerMetric { metric: self.ranker.to_string(), convention: self.convention() },
            feature_summaries: features.map(|(f, r)| self.feature(f, r)).collect(),
            by_correlation: self.order.iter().map(|column| self.name(*column)).collect(),
            missing: missing::features(self).iter().map(|f| f.name.as_str()).collect(),
            spreads: self.spreads.iter().map(|spread| self.spread(spread)).collect(),
            similar: self.similar_result(),
        }
    }

    /// The warnings about the content of the data.
    pub fn warnings(&self) -> Vec<SummaryWarning> {
        self.summary.warnings()
    }
}

impl Serialize for DataReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.result_with(&self.warnings()).serialize(serializer)
    }
}

fn histogram(numbers: &[usize]) -> Vec<SizeBin> {
    let bin = |bin: Bin| SizeBin { from: bin.first, to: bin.last, queries: bin.count };
    bins(numbers).into_iter().map(bin).collect()
}

impl DataReport {
    fn feature<'a>(&self, found: &'a FeatureSummary, relation: &Relation) -> FeatureResult<'a> {
        let (value, larger_first) = relation.best(self.ranker.metric().better());
        FeatureResult {
            name: &found.name,
            missing: found.missing,
            zeros: found.zeros,
            infinite: found.infinite,
            min: found.min,
            max: found.max,
            mean: found.mean,
            constant: found.is_constant(self.summary.rows),
            same_as: found.same_as.as_deref(),
            tau: relation.tau,
            tau_ci95: relation.tau_ci95,
            tau_queries: relation.tau_queries,
            ranker: FeatureRanker {
                value,
                larger_first,
                descending: relation.descending,
                ascending: relation.ascending,
            },
        }
    }

    fn spread<'a>(&'a self, spread: &'a Spread) -> SpreadResult<'a> {
        let bins = match &spread.bins {
            Bins::Values(values) => BinsResult::Values { values },
            Bins::Range(from, to) => {
                BinsResult::Range { from: *from, to: *to, centres: spread.bins.centres() }
            }
        };
        let labels = spread.shares.iter().map(|(label, shares)| LabelShares { label, shares });
        SpreadResult { feature: self.name(spread.column), bins, labels: labels.collect() }
    }

    fn similar_result(&self) -> SimilarResult<'_> {
        let similar = &self.similar;
        let member = |(column, correlation): &(usize, f64)| NearDuplicate {
            feature: self.name(*column),
            correlation: *correlation,
        };
        let group = |group: &Vec<(usize, f64)>| group.iter().map(member).collect();
        SimilarResult {
            rows: similar.rows,
            seed: self.options.seed,
            bound: self.options.duplicate_correlation,
            near_duplicates: similar.groups.iter().map(group).collect(),
            correlations: Correlations {
                features: similar.top.iter().map(|column| self.name(*column)).collect(),
                values: &similar.correlations,
            },
        }
    }
}
