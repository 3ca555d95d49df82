//! Comparison report: the systems by metric, by query and by document, with significance tests.
//!
//! From evaluations alone the report has the table with significance, the means with intervals, the
//! queries won and lost, and the hardest queries. With the sources of the evaluations (the labels
//! and scores that were evaluated, [`ComparisonReport::with_sources`]) it adds the metric at every
//! cut-off and, for a few queries, the documents whose rank differs between two systems.
//!
//! The first metric is the main metric unless another is named ([`ComparisonReport::with_main`]):
//! queries are sorted by it. Cost: the significance tests, then O(queries log queries) for each
//! system; cut-offs take one more evaluation of each system. Edge cases: a single system is
//! described and not compared; a query without a value under a system is left out of that system's
//! wins and losses; without metrics the page has only facts.

mod changes;
mod cutoffs;
mod hardest;
mod overview;
mod result;
mod wins;

use rankwright_eval::compare::{
    Better, CompareOptions, Comparison, align_evaluations, compare_evaluations,
};
use rankwright_eval::{
    Candidates, EvalOptions, Evaluation, ListBuffers, MeasureResult, QuerySource, SourceKind,
    conventions,
};

use crate::error::ReportError;
use crate::page::{Page, Section};
use changes::Change;
use cutoffs::Curves;
use wins::Differences;

/// A comparison of systems and the report on it.
///
/// ```
/// use rankwright_eval::compare::CompareOptions;
/// use rankwright_eval::{EvalOptions, MetricSpec, ScoredQueries, SourceKind, evaluate};
/// use rankwright_report::comparison::ComparisonReport;
///
/// let labels = [1.0, 0.0, 0.0, 2.0];
/// let ndcg = [MetricSpec::parse("ndcg@10")?.resolve(SourceKind::Features)?];
/// let mut systems = Vec::new();
/// for (name, scores) in [("old", [0.5, 0.9, 0.1, 0.7]), ("new", [0.9, 0.5, 0.1, 0.7])] {
///     let queries = ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], vec!["a", "b"])?;
///     systems.push((name.to_owned(), evaluate(&queries, &ndcg, EvalOptions::default())?));
/// }
/// let report = ComparisonReport::new("Old and new", systems, &CompareOptions::default())?;
/// assert_eq!(report.comparison().baseline, 0);
/// assert!(report.page().sections.iter().any(|section| section.id == "wins"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ComparisonReport {
    title: String,
    systems: Vec<(String, Evaluation)>,
    comparison: Comparison,
    /// Index of the metric that queries are sorted by.
    main: usize,
    /// The differences of each system to the baseline, query by query, under the main metric.
    differences: Vec<Differences>,
    /// Facts of the caller, by name and value.
    facts: Vec<(String, String)>,
    /// Sections of the caller.
    sections: Vec<Section>,
    details: Option<SourceDetails>,
}

/// Results that need the sources of the evaluations.
#[derive(Debug, Clone)]
struct SourceDetails {
    kind: SourceKind,
    query_sizes: Vec<QuerySize>,
    curves: Option<Curves>,
    changes: Vec<Change>,
    /// Number of systems whose rank changes are not shown, because there are too many systems.
    omitted: usize,
}

/// The size of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct QuerySize {
    /// Number of judged documents.
    documents: usize,
    /// Number of documents with a label of 1 or more.
    relevant: usize,
}

impl ComparisonReport {
    /// Compares evaluations of the same queries by the same measures; queries are paired by id.
    pub fn new(
        title: &str,
        systems: Vec<(String, Evaluation)>,
        options: &CompareOptions,
    ) -> Result<ComparisonReport, ReportError> {
        let comparison = compare_evaluations(&systems, options)?;
        Self::from_comparison(title, systems, comparison)
    }

    /// Reports on an existing comparison of these evaluations.
    pub fn from_comparison(
        title: &str,
        systems: Vec<(String, Evaluation)>,
        comparison: Comparison,
    ) -> Result<ComparisonReport, ReportError> {
        let systems = align_evaluations(systems)?;
        check_comparison(&systems, &comparison)?;
        Ok(Self {
            title: title.to_owned(),
            differences: wins::differences(&comparison, &systems, 0)?,
            systems,
            comparison,
            main: 0,
            facts: Vec::new(),
            sections: Vec::new(),
            details: None,
        })
    }

    /// Makes the metric of this name the main metric; call it before [`Self::with_sources`].
    pub fn with_main(mut self, metric: &str) -> Result<Self, ReportError> {
        let found = self.comparison.metrics.iter().position(|m| m.label == metric);
        self.main = found.ok_or_else(|| {
            let known = self.comparison.metrics.iter().map(|m| m.label.clone()).collect();
            ReportError::MetricNotCompared { metric: metric.to_owned(), known }
        })?;
        self.differences = wins::differences(&self.comparison, &self.systems, self.main)?;
        Ok(self)
    }

    /// Adds facts about the origin of the comparison; shown at the top of the page.
    pub fn with_facts(mut self, facts: Vec<(String, String)>) -> Self {
        self.facts.extend(facts);
        self
    }

    /// Adds a section at the end. The report's own sections have the ids `summary`, `wins`,
    /// `hardest`, `cutoffs` and `changes`.
    pub fn with_section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// Adds the sources of the evaluations, in the order of the systems. `queries` are the ids of
    /// the queries whose documents are shown; if it is empty, a few informative queries are chosen.
    pub fn with_sources(
        mut self,
        sources: &[&dyn QuerySource],
        queries: &[String],
        options: EvalOptions,
    ) -> Result<Self, ReportError> {
        if sources.len() != self.systems.len() {
            let (found, expected) = (sources.len(), self.systems.len());
            return Err(ReportError::SourceCount { found, expected });
        }
        let Some(first) = sources.first() else { return Ok(self) };
        sources.iter().enumerate().try_for_each(|(s, source)| self.check_source(s, *source))?;
        let (changes, omitted) = changes::select(&self, sources, queries)?;
        self.details = Some(SourceDetails {
            kind: first.kind(),
            query_sizes: query_sizes(*first)?,
            curves: cutoffs::curves(&self.systems, sources, options)?,
            changes,
            omitted,
        });
        Ok(self)
    }

    /// Checks that a source has the queries of the evaluations, in the order of the first system.
    fn check_source(&self, system: usize, source: &dyn QuerySource) -> Result<(), ReportError> {
        let expected = self.queries();
        let found = (0..source.len()).map(|q| source.id(q));
        match found.eq(expected.iter().map(String::as_str)) {
            true => Ok(()),
            false => {
                let (system, first) = (self.name(system).to_owned(), self.name(0).to_owned());
                Err(ReportError::OtherQueries { system, first })
            }
        }
    }

    /// The numbers of the comparison.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }

    /// The systems with their evaluations.
    pub fn systems(&self) -> &[(String, Evaluation)] {
        &self.systems
    }

    /// The report as a page.
    pub fn page(&self) -> Page {
        let mut facts = self.facts.clone();
        facts.extend(overview::facts(self));
        let mut sections = vec![overview::section(self)];
        sections.extend(wins::section(self));
        sections.extend(hardest::section(self));
        if let Some(details) = &self.details {
            sections.extend(details.curves.as_ref().map(|c| cutoffs::section(c, &self.systems)));
            sections.extend(changes::section(self, details));
        }
        sections.extend(self.sections.iter().cloned());
        let mut lines = conventions(self.measures());
        if let Some(curves) = self.details.as_ref().and_then(|details| details.curves.as_ref()) {
            lines.push(format!("{}: {}", curves.metric, curves.convention));
        }
        Page {
            title: self.title.clone(),
            summary: overview::summary(self),
            facts,
            conventions: lines,
            sections,
        }
    }

    /// Queries won, tied and lost under the main metric, with the sorted differences as two rows of
    /// block characters; for a terminal of this many columns. Empty for a single system.
    pub fn per_query_text(&self, width: usize) -> String {
        wins::text(self, width)
    }

    /// The results of the first system; all systems have the same measures and conventions.
    fn measures(&self) -> &[MeasureResult] {
        &self.systems[0].1.results
    }

    /// The ids of the queries, which all systems have in the same order.
    fn queries(&self) -> &[String] {
        &self.systems[0].1.queries
    }

    /// The name of the main metric; only for reports that have metrics.
    fn main_metric(&self) -> String {
        self.measures()[self.main].measure.to_string()
    }

    fn baseline_name(&self) -> &str {
        self.name(self.comparison.baseline)
    }

    /// The name of a system.
    fn name(&self, system: usize) -> &str {
        &self.systems[system].0
    }

    fn query_id(&self, query: usize) -> &str {
        &self.queries()[query]
    }

    /// The value of the main metric for a system and a query; `None` if the metric has no value for
    /// the query, or if there are no metrics.
    fn value(&self, system: usize, query: usize) -> Option<f64> {
        let (_, evaluation) = &self.systems[system];
        evaluation.results.get(self.main)?.values[query]
    }
}

/// Rejects a comparison of other systems, or by another number of metrics, than the evaluations.
fn check_comparison(
    systems: &[(String, Evaluation)],
    comparison: &Comparison,
) -> Result<(), ReportError> {
    let metrics = systems.first().map(|(_, evaluation)| evaluation.results.len());
    let is_same = systems.iter().map(|(name, _)| name).eq(&comparison.systems)
        && metrics == Some(comparison.metrics.len())
        && comparison.metrics.iter().all(|metric| metric.systems.len() == systems.len())
        && comparison.baseline < systems.len();
    if is_same { Ok(()) } else { Err(ReportError::OtherComparison) }
}

/// Number of documents and of relevant documents of each query.
fn query_sizes(source: &dyn QuerySource) -> Result<Vec<QuerySize>, ReportError> {
    let (mut candidates, mut buffers) = (Candidates::new(), ListBuffers::default());
    let mut size = |q: usize| -> Result<QuerySize, ReportError> {
        candidates.clear();
        source.load(q, &mut candidates)?;
        buffers.start(&candidates)?;
        let list = buffers.rank(&candidates, rankwright_eval::OrderRule::STABLE, Some(0))?;
        Ok(QuerySize { documents: list.ideal().len(), relevant: list.relevant(1.0) })
    };
    (0..source.len()).map(&mut size).collect()
}

/// +1 if higher values are better, else -1: a difference times this is positive for a win.
fn direction(better: Better) -> f64 {
    match better {
        Better::Higher => 1.0,
        Better::Lower => -1.0,
    }
}

/// Four decimals; a hyphen if there is no number; no sign for zero.
pub(crate) fn fixed(value: Option<f64>) -> String {
    match value.filter(|v| !v.is_nan()) {
        None => "-".to_owned(),
        Some(value) => match format!("{value:.4}") {
            zero if zero == "-0.0000" => "0.0000".to_owned(),
            text => text,
        },
    }
}

/// Four decimals with an explicit sign; a hyphen if there is no number; no sign for zero.
pub(crate) fn signed(value: Option<f64>) -> String {
    match value {
        Some(v) if v > 0.0 && fixed(value) != "0.0000" => format!("+{}", fixed(value)),
        _ => fixed(value),
    }
}

#[cfg(test)]
mod tests;
