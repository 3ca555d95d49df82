//! Summary of a data set: counts, distributions, and warnings before training.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use rankwright_spec::words::counted;
use rayon::prelude::*;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::dataset::Dataset;

/// Counts and distributions of a data set.
#[derive(Debug, Clone, Serialize)]
pub struct DatasetSummary {
    /// Number of rows (documents).
    pub rows: usize,
    /// Number of queries.
    pub queries: usize,
    /// Each label with its number of rows, ascending.
    pub labels: Vec<(f64, usize)>,
    /// Number of rows per query.
    pub sizes: QuerySizeSummary,
    /// Number of queries without a label of at least 1.
    pub blank_queries: usize,
    /// Number of queries whose labels are all equal, so that no order is better than another.
    pub equal_label_queries: usize,
    /// Number of queries with a single row.
    pub single_queries: usize,
    /// Number of rows whose document id occurs earlier in the same query.
    pub repeated_documents: usize,
    /// Whether the rows of every query (with at least two labels) are sorted by label, best first.
    pub sorted_by_label: bool,
    /// A summary of each feature, in column order.
    pub features: Vec<FeatureSummary>,
}

/// The distribution of the number of rows of a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuerySizeSummary {
    /// The smallest number.
    pub min: usize,
    /// The median.
    pub median: usize,
    /// The mean.
    pub mean: f64,
    /// The 95th percentile.
    pub p95: usize,
    /// The largest number.
    pub max: usize,
}

/// Summary of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureSummary {
    /// The name of the feature.
    pub name: String,
    /// The number of rows in which it is missing.
    pub missing: usize,
    /// The number of rows in which it is 0.
    pub zeros: usize,
    /// The number of rows in which it is infinite.
    pub infinite: usize,
    /// Smallest value; NaN if always missing.
    pub min: f32,
    /// Largest value; NaN if always missing.
    pub max: f32,
    /// Mean of the finite values; NaN if there is none.
    pub mean: f64,
    /// The first earlier feature with the same value in every row.
    pub same_as: Option<String>,
}

impl FeatureSummary {
    /// Whether the feature has one value only (or is always missing), and so carries no
    /// information.
    pub fn is_constant(&self, rows: usize) -> bool {
        self.missing == rows || (self.missing == 0 && self.min == self.max)
    }
}

/// Counts and sums over some rows of a column.
#[derive(Clone)]
struct ColumnStats {
    missing: usize,
    zeros: usize,
    infinite: usize,
    finite: usize,
    min: f32,
    max: f32,
    sum: f64,
    /// Equal for columns with the same value in every row, and different for others, except by a
    /// very unlikely collision.
    hash: u64,
}

/// The statistics of no rows.
const EMPTY: ColumnStats = ColumnStats {
    missing: 0,
    zeros: 0,
    infinite: 0,
    finite: 0,
    min: f32::INFINITY,
    max: f32::NEG_INFINITY,
    sum: 0.0,
    hash: 0,
};

impl ColumnStats {
    fn add(&mut self, row: u64, value: f32) {
        // The sum over the rows of a hash of row number and value, so that rows can be added in any
        // order. The factors are those of SplitMix64.
        let mixed = (row << 32 | u64::from(value.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash =
            self.hash.wrapping_add((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        if value.is_nan() {
            self.missing += 1;
            return;
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.zeros += usize::from(value == 0.0);
        if value.is_finite() {
            self.finite += 1;
            self.sum += f64::from(value);
        } else {
            self.infinite += 1;
        }
    }

    fn merge(&mut self, later: &ColumnStats) {
        self.missing += later.missing;
        self.zeros += later.zeros;
        self.infinite += later.infinite;
        self.finite += later.finite;
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        self.sum += later.sum;
        self.hash = self.hash.wrapping_add(later.hash);
    }
}

/// The number of rows that one task adds up; fixed, so that sums do not depend on the number of
/// threads.
const BLOCK_ROWS: usize = 4096;

/// The number of columns that are added up at a time.
const COLUMNS_AT_A_TIME: usize = 4096;

impl DatasetSummary {
    /// Computes the summary of a data set.
    pub fn of(data: &Dataset) -> DatasetSummary {
        let mut labels: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
        for &label in data.labels().iter().filter(|_| data.is_labelled()) {
            let label = label + 0.0; // -0 is 0
            labels.entry(order_key(label)).or_insert((label, 0)).1 += 1;
        }
        let queries_with = |holds: &dyn Fn(&[f64]) -> bool| match data.is_labelled() {
            true => data.iter_queries().filter(|query| holds(query.labels)).count(),
            false => 0,
        };
        DatasetSummary {
            rows: data.rows(),
            queries: data.queries(),
            labels: labels.into_values().collect(),
            sizes: sizes(data),
            blank_queries: queries_with(&|labels| labels.iter().all(|l| *l < 1.0)),
            equal_label_queries: queries_with(&|labels| {
                labels.windows(2).all(|w| w.first() == w.last())
            }),
            single_queries: data.iter_queries().filter(|query| query.rows.len() == 1).count(),
            repeated_documents: repeated_documents(data),
            sorted_by_label: sorted_by_label(data),
            features: features(data),
        }
    }

    /// Properties of the data that should be known before training.
    pub fn warnings(&self) -> Vec<SummaryWarning> {
        let features = |is_counted: &dyn Fn(&FeatureSummary) -> bool| {
            self.features.iter().filter(|feature| is_counted(feature)).count()
        };
        // A query with a single document has equal labels, too.
        let several_documents = self.equal_label_queries.saturating_sub(self.single_queries);
        let single: fn(usize) -> SummaryWarning =
            |queries| SummaryWarning::SingleDocument { queries };
        let counts = [
            (self.single_queries, single),
            (several_documents, |queries| SummaryWarning::EqualLabels { queries }),
            (self.repeated_documents, |rows| SummaryWarning::RepeatedDocuments { rows }),
            (features(&|feature| feature.is_constant(self.rows)), |features| {
                SummaryWarning::ConstantFeatures { features }
            }),
            (features(&|feature| feature.same_as.is_some()), |features| {
                SummaryWarning::EqualFeatures { features }
            }),
            (features(&|feature| feature.infinite > 0), |features| {
                SummaryWarning::InfiniteValues { features }
            }),
            (features(&|feature| is_large(feature.min) || is_large(feature.max)), |features| {
                SummaryWarning::LargeValues { features }
            }),
        ];
        let counted = counts.into_iter().filter(|(count, _)| *count > 0);
        let mut warnings: Vec<SummaryWarning> =
            counted.map(|(count, warning)| warning(count)).collect();
        if self.sorted_by_label {
            warnings.push(SummaryWarning::SortedByLabel);
        }
        if self.labels.iter().any(|(label, _)| *label < 0.0) {
            warnings.push(SummaryWarning::NegativeLabels);
        }
        let labels = self.labels.iter().map(|(label, _)| *label);
        warnings.extend(SummaryWarning::of_large_labels(labels));
        warnings
    }
}

/// Every whole number up to this one, 2^24, is exact as a 32-bit float.
const MAX_EXACT_INTEGER: f32 = 16_777_216.0;

fn is_large(value: f32) -> bool {
    value.is_finite() && value.abs() > MAX_EXACT_INTEGER
}

/// The largest label for which the exponential gain, 2^label - 1, still makes sense.
const MAX_EXPONENTIAL_LABEL: f64 = 31.0;

impl SummaryWarning {
    /// The warning about labels that are too large for an exponential gain, if there are any.
    pub fn of_large_labels(labels: impl IntoIterator<Item = f64>) -> Option<SummaryWarning> {
        let largest = labels.into_iter().fold(0.0, f64::max);
        (largest > MAX_EXPONENTIAL_LABEL)
            .then_some(SummaryWarning::LargeLabels { largest: largest as u64 })
    }

    /// The warning about features with values so large that whole numbers may have been rounded
    /// (above 2^24), if there are any. Cost: one pass over the values.
    pub fn of_large_values(data: &Dataset) -> Option<SummaryWarning> {
        let columns = data.columns();
        let large_features = |rows: &[f32]| {
            let mut large = vec![false; columns];
            for row in rows.chunks_exact(columns.max(1)) {
                for (large, value) in large.iter_mut().zip(row) {
                    *large |= is_large(*value);
                }
            }
            large
        };
        let values = data.matrix().values();
        if !values.par_chunks(1 << 20).any(|part| part.iter().any(|&value| is_large(value))) {
            return None;
        }
        let features = large_features(values).into_iter().filter(|large| *large).count();
        Some(SummaryWarning::LargeValues { features })
    }
}

/// A property of a data set that should be known before training. Serialised as
/// `{"kind": ..., "message": ...}`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryWarning {
    /// Queries with a single document.
    SingleDocument {
        /// Their number.
        queries: usize,
    },
    /// Queries with several documents whose labels are all equal.
    EqualLabels {
        /// Their number.
        queries: usize,
    },
    /// Rows whose document id occurs earlier in the same query.
    RepeatedDocuments {
        /// Their number.
        rows: usize,
    },
    /// Features with one value only.
    ConstantFeatures {
        /// Their number.
        features: usize,
    },
    /// Features with the same value as an earlier feature in every row.
    EqualFeatures {
        /// Their number.
        features: usize,
    },
    /// Features with infinite values.
    InfiniteValues {
        /// Their number.
        features: usize,
    },
    /// Features with values of which a 32-bit float may not keep all digits.
    LargeValues {
        /// Their number.
        features: usize,
    },
    /// The rows of every query are sorted by label, best first.
    SortedByLabel,
    /// Some labels are negative.
    NegativeLabels,
    /// Labels so large that, with the gain 2^label - 1, all labels but the largest count nothing.
    LargeLabels {
        /// The largest label, rounded down to a whole number.
        largest: u64,
    },
}

impl SummaryWarning {
    /// The stable name of the kind of warning, such as `equal-labels`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SingleDocument { .. } => "single-document",
            Self::EqualLabels { .. } => "equal-labels",
            Self::RepeatedDocuments { .. } => "repeated-documents",
            Self::ConstantFeatures { .. } => "constant-features",
            Self::EqualFeatures { .. } => "equal-features",
            Self::InfiniteValues { .. } => "infinite-values",
            Self::LargeValues { .. } => "large-values",
            Self::SortedByLabel => "sorted-by-label",
            Self::NegativeLabels => "negative-labels",
            Self::LargeLabels { .. } => "large-labels",
        }
    }
}

impl fmt::Display for SummaryWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit, rest) = match *self {
            Self::SingleDocument { queries } => {
                (queries, "query", "with only one document: there is nothing to rank")
            }
            Self::EqualLabels { queries } => (
                queries,
                "query",
                "with several documents of equal label: pairwise and listwise learners learn \
                 nothing from such a query",
            ),
            Self::RepeatedDocuments { rows } => {
                (rows, "row", "with a document id that occurs earlier in the same query")
            }
            Self::ConstantFeatures { features } => (features, "feature", "with a constant value"),
            Self::EqualFeatures { features } => {
                (features, "feature", "with the same values as an earlier feature")
            }
            Self::InfiniteValues { features } => (features, "feature", "with infinite values"),
            Self::LargeValues { features } => (
                features,
                "feature",
                "with values beyond 16777216, of which 32-bit floats keep about 7 digits: whole \
                 numbers may have been rounded",
            ),
            Self::SortedByLabel => {
                return f.write_str(
                    "the rows of every query are sorted by label, best first: tools that break \
                     ties by row order report values that are too good",
                );
            }
            Self::LargeLabels { largest } => {
                return write!(
                    f,
                    "there are labels up to {largest}: with the gain 2^label - 1, the default of \
                     NDCG and ERR, only the largest labels count; use a linear gain \
                     (`ndcg(gain=linear)`), or fewer grades such as 0 to 4"
                );
            }
            Self::NegativeLabels => {
                return f.write_str(
                    "some labels are negative; metrics count such documents as not relevant",
                );
            }
        };
        write!(f, "{} {rest}", counted(count, unit))
    }
}

impl Serialize for SummaryWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("SummaryWarning", 2)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.end()
    }
}

/// An integer for each number, in the same order as the numbers: the bits with the sign bit
/// flipped, all bits for negative numbers.
fn order_key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn sizes(data: &Dataset) -> QuerySizeSummary {
    let mut sizes: Vec<usize> = data.iter_queries().map(|query| query.rows.len()).collect();
    sizes.sort_unstable();
    let quantile = |share: f64| {
        let index = (share * sizes.len().saturating_sub(1) as f64).round() as usize;
        sizes.get(index).copied().unwrap_or(0)
    };
    QuerySizeSummary {
        min: quantile(0.0),
        median: quantile(0.5),
        mean: data.rows() as f64 / sizes.len().max(1) as f64,
        p95: quantile(0.95),
        max: quantile(1.0),
    }
}

fn repeated_documents(data: &Dataset) -> usize {
    let Some(doc_ids) = data.doc_ids() else { return 0 };
    let mut seen = HashSet::new();
    data.iter_queries()
        .map(|query| {
            seen.clear();
            let ids = query.rows.map(|row| doc_ids.get(row)).filter(|id| !id.is_empty());
            ids.filter(|id| !seen.insert(*id)).count()
        })
        .sum()
}

fn sorted_by_label(data: &Dataset) -> bool {
    let mut with_different_labels = data
        .iter_queries()
        .filter(|q| q.labels.windows(2).any(|w| w.first() != w.last()))
        .peekable();
    with_different_labels.peek().is_some()
        && with_different_labels.all(|query| query.labels.is_sorted_by(|a, b| a >= b))
}

/// The summary of each feature, in column order.
fn features(data: &Dataset) -> Vec<FeatureSummary> {
    // The first column with each hash.
    let mut first_with_hash: HashMap<u64, usize> = HashMap::new();
    let mut summaries = Vec::with_capacity(data.columns());
    // A group of columns at a time: the statistics of all blocks of a very wide matrix would take
    // more memory than the matrix.
    for first in (0..data.columns()).step_by(COLUMNS_AT_A_TIME) {
        let group = first..data.columns().min(first + COLUMNS_AT_A_TIME);
        for (index, column) in group.clone().zip(column_stats(data, group)) {
            let same = *first_with_hash.entry(column.hash).or_insert(index);
            let is_missing = column.missing == data.rows();
            summaries.push(FeatureSummary {
                name: data.features().name(index).into_owned(),
                missing: column.missing,
                zeros: column.zeros,
                infinite: column.infinite,
                min: if is_missing { f32::NAN } else { column.min },
                max: if is_missing { f32::NAN } else { column.max },
                mean: column.sum / column.finite as f64,
                same_as: (same != index).then(|| data.features().name(same).into_owned()),
            });
        }
    }
    summaries
}

/// The statistics of some columns over all rows.
fn column_stats(data: &Dataset, group: Range<usize>) -> Vec<ColumnStats> {
    let width = data.columns();
    let blocks: Vec<Vec<ColumnStats>> = data
        .matrix()
        .values()
        .par_chunks(BLOCK_ROWS * width)
        .enumerate()
        .map(|(block, rows)| {
            let mut columns = vec![EMPTY; group.len()];
            for (index, row) in rows.chunks_exact(width).enumerate() {
                let row_number = (block * BLOCK_ROWS + index) as u64;
                for (column, &value) in columns.iter_mut().zip(&row[group.clone()]) {
                    column.add(row_number, value);
                }
            }
            columns
        })
        .collect();
    let mut columns = vec![EMPTY; group.len()];
    for block in &blocks {
        columns.iter_mut().zip(block).for_each(|(column, part)| column.merge(part));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;
    use crate::format::{Format, ReadOptions, read_inputs};

    fn summary(text: &str) -> DatasetSummary {
        let input = Input::from_bytes("f", text.as_bytes().to_vec()).unwrap();
        let options = ReadOptions { format: Some(Format::Letor), ..ReadOptions::default() };
        DatasetSummary::of(&read_inputs(vec![input], &options).unwrap().data)
    }

    #[test]
    fn counts_are_right() {
        let s = summary(
            "2 qid:a 1:1 2:1 3:5 #d1\n0 qid:a 1:NULL 3:5 #d1\n0 qid:b 1:3 2:3 3:5\n-1 qid:c 3:5\n-1 qid:c 1:inf 3:5\n",
        );
        assert_eq!((s.rows, s.queries, s.blank_queries), (5, 3, 2));
        assert_eq!(s.labels, [(-1.0, 2), (0.0, 2), (2.0, 1)]);
        assert_eq!((s.single_queries, s.equal_label_queries, s.repeated_documents), (1, 2, 1));
        assert_eq!((s.sizes.min, s.sizes.median, s.sizes.max), (1, 2, 2));
        let first = &s.features[0];
        assert_eq!((first.missing, first.zeros, first.infinite), (1, 1, 1));
        assert_eq!((first.min, first.max), (0.0, f32::INFINITY));
        assert!(s.features[2].is_constant(s.rows) && !s.features[1].is_constant(s.rows));
        assert!(s.sorted_by_label);
        let kinds: Vec<&str> = s.warnings().iter().map(SummaryWarning::kind).collect();
        let expected = [
            "single-document",
            "equal-labels",
            "repeated-documents",
            "constant-features",
            "infinite-values",
            "sorted-by-label",
            "negative-labels",
        ];
        assert_eq!(kinds, expected);
        let single = s.warnings()[0].to_string();
        assert_eq!(single, "1 query with only one document: there is nothing to rank");
    }

    #[test]
    fn values_that_may_have_been_rounded_give_a_warning() {
        let input = |text: &str| Input::from_bytes("f", text.as_bytes().to_vec()).unwrap();
        let options = ReadOptions { format: Some(Format::Letor), ..ReadOptions::default() };
        for (text, features) in [
            ("1 qid:a 1:16777216 2:inf\n0 qid:a 1:1 2:2\n", 0),
            ("1 qid:a 1:16777217 2:-1731859200\n0 qid:a 1:20000001 2:2\n", 2),
        ] {
            let expected = (features > 0).then_some(SummaryWarning::LargeValues { features });
            let data = read_inputs(vec![input(text)], &options).unwrap().data;
            let found = summary(text).warnings();
            let found = found.into_iter().find(|warning| warning.kind() == "large-values");
            // 16777217 itself is rounded to 16777216, which is not large; 20000001 is.
            assert_eq!(SummaryWarning::of_large_values(&data), expected);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn labels_that_are_too_large_for_an_exponential_gain_give_a_warning() {
        let found = summary("31 qid:a 1:1\n0 qid:a 1:2\n").warnings();
        assert!(found.iter().all(|warning| warning.kind() != "large-labels"));
        let found = summary("100 qid:a 1:1\n0 qid:a 1:2\n").warnings();
        let found = found.iter().find(|warning| warning.kind() == "large-labels").unwrap();
        assert!(found.to_string().starts_with("there are labels up to 100: "), "{found}");
    }

    #[test]
    fn equal_columns_are_found() {
        let s = summary("1 qid:a 1:1 2:7 3:1\n0 qid:a 1:2 2:7 3:2\n");
        assert_eq!(s.features[2].same_as.as_deref(), Some("1"));
        assert_eq!(s.features[1].same_as, None);
    }

    #[test]
    fn equal_columns_are_found_in_different_groups_of_columns() {
        let last = COLUMNS_AT_A_TIME + 5;
        let s = summary(&format!("1 qid:a 2:1 3:4 {last}:1\n0 qid:a 2:7 3:2 {last}:7\n"));
        assert_eq!(s.features.len(), last);
        assert_eq!(s.features[last - 1].same_as.as_deref(), Some("2"));
        assert_eq!(s.features[last - 2].same_as.as_deref(), Some("1"));
    }
}
