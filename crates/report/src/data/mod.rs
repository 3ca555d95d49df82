//! Data report: the properties of a data set that matter before training.
//!
//! Labels and sizes of queries, the relation of each feature to relevance (`relation.rs`), the
//! distribution of its values by label (`spread.rs`), near-duplicate features (`similar.rs`),
//! missing and constant features, and the warnings of a data set's summary.
//!
//! Cost: three sorts of each query for every feature, in parallel over features, and a correlation
//! for every pair of features on a sample of rows, which is smaller where there are very many
//! pairs. Edge cases: a data set without features has only labels and sizes; where all labels of
//! every query are equal no feature has a correlation, and a hyphen is shown in place of the
//! number.

mod histogram;
mod labels;
mod missing;
mod relation;
mod result;
mod similar;
mod spread;
#[cfg(test)]
mod tests;

use rankwright_data::{DEFAULT_SEED, Dataset, DatasetSummary, Random};
use rankwright_eval::{Measure, MetricText, SourceKind};
use rankwright_spec::words::counted;
use rankwright_spec::{above, check_params, params};
use rayon::prelude::*;

use crate::comparison::{fixed, signed};
use crate::error::ReportError;
use crate::page::Page;
use relation::Relation;
use similar::FeatureCorrelations;
use spread::Spread;

/// Upper limit of the number of features in a report, which has a row for each.
const MOST_FEATURES: usize = 20_000;

/// Upper limit of the pairs of features times rows in correlations; it takes some seconds.
const MOST_COMPARISONS: usize = 1 << 36;

params! {
    /// Options of a data report.
    ///
    /// ```
    /// use rankwright_report::data::DataOptions;
    ///
    /// let options = DataOptions::default().metric("ap").top(30);
    /// assert_eq!(options.sample, 10_000);
    /// ```
    pub struct DataOptions {
        metric: MetricText = MetricText::new("ndcg@10"), .., "Metric of the single-feature rankers.";
        top: usize = 20, 1..=50,
            "Number of features shown in charts, the strongest relation to relevance first.";
        sample: usize = 10_000, 2..,
            "Number of documents on which features are compared with each other.";
        seed: u64 = DEFAULT_SEED, .., "Seed of that sample.";
        duplicate_correlation: f64 = 0.99, above(0.0).up_to(1.0),
            "Features whose absolute rank correlation is above this are near-duplicates.";
    }
}

/// A report on a data set.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_report::data::{DataOptions, DataReport};
///
/// let data = LetorOptions { queries: 10, documents: 20, seed: 1 }.generate()?;
/// let report = DataReport::new("Made up", &data, &DataOptions::default())?;
/// assert_eq!(serde_json::to_value(&report)?["queries"], 10);
/// assert!(report.page().summary.starts_with("10 queries"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DataReport {
    title: String,
    facts: Vec<(String, String)>,
    options: DataOptions,
    summary: DatasetSummary,
    /// Number of documents of each query.
    sizes: Vec<usize>,
    /// Number of documents of each query with a label of 1 or more.
    relevant: Vec<usize>,
    /// The metric of single-feature rankers.
    ranker: Measure,
    /// Whether a query has a weight other than 1; means over queries then are weighted.
    weighted: bool,
    /// The relation of each feature to relevance, in column order.
    relations: Vec<Relation>,
    /// Columns by the strength of their correlation with relevance, the strongest first.
    order: Vec<usize>,
    /// The distribution of the values of the features in charts.
    spreads: Vec<Spread>,
    /// Near-duplicate features.
    similar: FeatureCorrelations,
}

impl DataReport {
    /// Computes the report of a data set.
    pub fn new(
        title: &str,
        data: &Dataset,
        options: &DataOptions,
    ) -> Result<DataReport, ReportError> {
        check_params(options, "report on data")?;
        if data.columns() > MOST_FEATURES {
            let (found, most) = (data.columns(), MOST_FEATURES);
            return Err(ReportError::Features { found, most });
        }
        let ranker = options.metric.spec()?.resolve(SourceKind::Features)?;
        let summary = DatasetSummary::of(data);
        let relations = relation::all(data, &summary, &ranker)?;
        let order = relation::order(&relations);
        let top: Vec<usize> = order.iter().take(options.top).copied().collect();
        let rows = sample(data.rows(), options.sample, options.seed);
        let spreads = top.par_iter().map(|&c| Spread::of(data, &summary, c, &rows)).collect();
        let pairs = data.columns() * data.columns() / 2;
        let size = options.sample.min(MOST_COMPARISONS / pairs.max(1));
        let compared = sample(data.rows(), size, options.seed);
        let bound = options.duplicate_correlation;
        let similar = FeatureCorrelations::of(data, &compared, &top, bound);
        let relevant = |labels: &[f64]| labels.iter().filter(|label| **label >= 1.0).count();
        let weights = data.query_weights().unwrap_or(&[]);
        Ok(DataReport {
            title: title.to_owned(),
            facts: Vec::new(),
            options: options.clone(),
            sizes: data.iter_queries().map(|query| query.rows.len()).collect(),
            relevant: data.iter_queries().map(|query| relevant(query.labels)).collect(),
            summary,
            ranker,
            weighted: weights.iter().any(|weight| *weight != 1.0),
            relations,
            order,
            spreads,
            similar,
        })
    }

    /// Adds facts about the origin of the data; shown at the top of the page.
    pub fn with_facts(mut self, facts: Vec<(String, String)>) -> Self {
        self.facts.extend(facts);
        self
    }

    /// The report as a page.
    pub fn page(&self) -> Page {
        let mut sections = vec![labels::section(self), missing::warnings(self)];
        if !self.relations.is_empty() {
            sections.extend([relation::section(self), relation::rankers(self)]);
            sections.extend([spread::section(self), missing::section(self)]);
            sections.push(similar::section(self));
        }
        let facts = self.facts.iter().cloned().chain(self.own_facts()).collect();
        let conventions = match self.relations.is_empty() {
            true => Vec::new(),
            false => vec![self.convention()],
        };
        Page { title: self.title.clone(), summary: self.summary(), facts, conventions, sections }
    }

    /// The facts that the report adds to those of the caller.
    fn own_facts(&self) -> Vec<(String, String)> {
        vec![
            ("Queries".to_owned(), self.queries()),
            ("Documents".to_owned(), self.summary.rows.to_string()),
            ("Features".to_owned(), self.relations.len().to_string()),
        ]
    }

    /// The number of queries, and if it is smaller the number of those with a relevant document,
    /// which most metrics need.
    fn queries(&self) -> String {
        let DatasetSummary { queries, blank_queries, .. } = &self.summary;
        match blank_queries {
            0 => queries.to_string(),
            blank => {
                let relevant = queries.saturating_sub(*blank);
                format!("{queries}, {relevant} of them with a relevant document")
            }
        }
    }

    /// The conventions of the metric of single-feature rankers: how ties, unjudged documents and so
    /// on are treated.
    fn convention(&self) -> String {
        let weights = if self.weighted { ", weights=query" } else { "" };
        format!("{}: {}{weights}", self.ranker, self.ranker.convention())
    }

    /// The name of the feature of a column.
    fn name(&self, column: usize) -> &str {
        self.summary.features.get(column).map_or("", |feature| &feature.name)
    }

    /// The summary at the top of the page: the size of the data and its strongest feature.
    fn summary(&self) -> String {
        let DatasetSummary { queries, rows, .. } = &self.summary;
        let mut summary = format!(
            "{}, {}, {}.",
            counted(*queries, "query"),
            counted(*rows, "document"),
            counted(self.relations.len(), "feature")
        );
        let best = self.order.first().and_then(|&c| Some((c, self.relations.get(c)?)));
        if let Some((column, relation)) = best.filter(|(_, r)| r.tau.is_finite() && r.tau != 0.0) {
            summary += &format!(
                " Feature {} has the strongest correlation with relevance: its mean tau is {}, and \
                 ranking by it alone gives {} {}.",
                self.name(column),
                signed(Some(relation.tau)),
                self.ranker,
                fixed(Some(relation.best(self.ranker.metric().better()).0))
            );
        }
        summary
    }
}

/// Rows of a seeded sample in ascending order; all rows if there are no more than requested.
fn sample(rows: usize, size: usize, seed: u64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..rows).collect();
    if rows > size {
        // The first `size` steps of a Fisher-Yates shuffle. Stream 0 of the seed: nothing else here
        // draws random numbers.
        let mut random = Random::new(seed, 0);
        for i in 0..size {
            let other = i + random.below(rows - i);
            all.swap(i, other);
        }
        all.truncate(size);
        all.sort_unstable();
    }
    all
}

/// The values of one feature in all rows.
fn column(data: &Dataset, column: usize) -> impl Iterator<Item = f32> + '_ {
    let width = data.columns().max(1);
    data.matrix().values().iter().skip(column).step_by(width).copied()
}
