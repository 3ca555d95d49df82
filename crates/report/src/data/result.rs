//! A data report as a serialisable result: every number of the page, and every feature.

use rankwright_data::{FeatureSummary, SummaryWarning};
use serde::{Serialize, Serializer};

use super::histogram::{Bin, bins};
use super::relation::Relation;
use super::spread::{Bins, Spread};
use super::{DataReport, missing};

/// The JSON of a data report.
#[derive(Serialize)]
struct DataResult<'a, W> {
    /// Title of the report.
    title: &'a str,
    /// Number of documents.
    rows: usize,
    /// Number of queries.
    queries: usize,
    /// Number of features.
    features: usize,
    /// Number of documents with each label.
    labels: Vec<LabelCount>,
    /// Statistics of the number of documents per query.
    query_sizes: SizeStatistics,
    /// Number of queries by number of documents.
    documents_per_query: Vec<SizeBin>,
    /// Number of queries by number of relevant documents.
    relevant_per_query: Vec<SizeBin>,
    /// Queries without a label of at least 1.
    blank_queries: usize,
    /// Queries whose labels are all equal.
    equal_label_queries: usize,
    /// Queries of one document.
    single_queries: usize,
    /// Warnings about the data.
    warnings: &'a [W],
    /// The metric of rankings by a single feature.
    ranker: RankerMetric,
    /// Each feature.
    feature_summaries: Vec<FeatureResult<'a>>,
    /// Names of the features, the one with the strongest correlation with relevance first.
    by_correlation: Vec<&'a str>,
    /// Names of the features with missing values.
    missing: Vec<&'a str>,
    /// The values by label of the features with charts: the first ones of `by_correlation`.
    spreads: Vec<SpreadResult<'a>>,
    /// Features that are almost the same.
    similar: SimilarResult<'a>,
}

/// A label and its frequency.
#[derive(Serialize)]
struct LabelCount {
    /// The label.
    label: f64,
    /// Number of documents.
    rows: usize,
}

/// Statistics of the number of documents per query.
#[derive(Serialize)]
struct SizeStatistics {
    /// The smallest.
    min: usize,
    /// The median.
    median: usize,
    /// The mean.
    mean: f64,
    /// 95 % of the queries have at most this many.
    p95: usize,
    /// The largest.
    max: usize,
}

/// A bin of a histogram of queries by their number of documents, or of relevant documents.
#[derive(Serialize)]
struct SizeBin {
    /// The smallest number of documents.
    from: usize,
    /// The largest number of documents.
    to: usize,
    /// Number of queries with `from` to `to` documents.
    queries: usize,
}

#[derive(Serialize)]
struct RankerMetric {
    /// The metric, as a spec.
    metric: String,
    /// The conventions of the metric: how ties, unjudged documents and so on are treated.
    convention: String,
}

#[derive(Serialize)]
struct FeatureResult<'a> {
    /// Name of the feature.
    name: &'a str,
    /// Number of missing values.
    missing: usize,
    /// Number of zeros.
    zeros: usize,
    /// Number of infinite values.
    infinite: usize,
    /// The smallest value.
    min: f32,
    /// The largest value.
    max: f32,
    /// The mean.
    mean: f64,
    /// Whether all values are equal.
    constant: bool,
    /// An earlier feature with the same values.
    same_as: Option<&'a str>,
    /// Mean over queries of the rank correlation with labels (Kendall's tau-b).
    tau: f64,
    /// 95 % confidence interval of the correlation.
    tau_ci95: Option<(f64, f64)>,
    /// Number of queries that have a correlation.
    tau_queries: usize,
    /// The metric of ranking by this feature alone.
    ranker: FeatureRanker,
}

/// The metric of ranking by the feature alone.
#[derive(Serialize)]
struct FeatureRanker {
    /// The metric of the better direction.
    value: f64,
    /// Whether the better direction has larger values first.
    larger_first: bool,
    /// The metric with larger values first.
    descending: f64,
    /// The metric with smaller values first.
    ascending: f64,
}

/// The distribution of a feature's values by label.
#[derive(Serialize)]
struct SpreadResult<'a> {
    /// The feature.
    feature: &'a str,
    /// Single values, or ranges of values.
    bins: BinsResult<'a>,
    /// The shares of the bins for each label.
    labels: Vec<LabelShares<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum BinsResult<'a> {
    /// A bin for each value.
    Values { values: &'a [f32] },
    /// Bins of equal width between two values.
    Range { from: f64, to: f64, centres: Vec<f64> },
}

#[derive(Serialize)]
struct LabelShares<'a> {
    /// The label, or a group of labels if there are more than six.
    label: &'a str,
    /// The share of the label's documents in each bin.
    shares: &'a [f64],
}

#[derive(Serialize)]
struct SimilarResult<'a> {
    /// Number of documents in the sample.
    rows: usize,
    /// Seed of the sample.
    seed: u64,
    /// Features with a larger absolute rank correlation are near-duplicates.
    bound: f64,
    /// Groups of near-duplicates.
    near_duplicates: Vec<Vec<NearDuplicate<'a>>>,
    /// Rank correlations of the features with charts.
    correlations: Correlations<'a>,
}

#[derive(Serialize)]
struct NearDuplicate<'a> {
    /// The feature.
    feature: &'a str,
    /// The feature's rank correlation with the first feature of the group.
    correlation: f64,
}

#[derive(Serialize)]
struct Correlations<'a> {
    /// The features.
    features: Vec<&'a str>,
    /// A row of correlations for each feature.
    values: &'a [Vec<f64>],
}

impl DataReport {
    /// The numbers of the report as a serialisable value, with these warnings in place of its own:
    /// a caller that read the data may have more warnings.
    pub fn result_with<'a, W: Serialize>(&'a self, warnings: &'a [W]) -> impl Serialize + 'a {
        let summary = &self.summary;
        let features = summary.features.iter().zip(&self.relations);
        let (labels, sizes) = (summary.labels.iter(), &summary.sizes);
        DataResult {
            title: &self.title,
            rows: summary.rows,
            queries: summary.queries,
            features: summary.features.len(),
            labels: labels.map(|(label, rows)| LabelCount { label: *label, rows: *rows }).collect(),
            query_sizes: SizeStatistics {
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
    fn feature<'a>(&self, summary: &'a FeatureSummary, relation: &Relation) -> FeatureResult<'a> {
        let (value, larger_first) = relation.best(self.ranker.metric().better());
        FeatureResult {
            name: &summary.name,
            missing: summary.missing,
            zeros: summary.zeros,
            infinite: summary.infinite,
            min: summary.min,
            max: summary.max,
            mean: summary.mean,
            constant: summary.is_constant(self.summary.rows),
            same_as: summary.same_as.as_deref(),
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
