//! Sources of queries for an evaluation.
//!
//! A [`QuerySource`] loads one query at a time into the caller's buffers. Two kinds exist: feature
//! data with a column of scores ([`ScoredQueries`], here) and runs joined with judgements
//! ([`JudgedRun`](crate::JudgedRun)).

use std::ops::Range;

use crate::error::EvalError;
use crate::list::Candidates;
use crate::order::same_length;

/// The kind of a source's data; it decides the default tie policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// Rows of feature data with scores: ties default to `worst`.
    Features,
    /// A retrieval run with judgements: ties default to `docid`.
    Run,
}

/// A set of queries to evaluate.
pub trait QuerySource: Sync {
    /// Number of queries to evaluate; for a run these are the judged queries.
    fn len(&self) -> usize;

    /// Whether there is no query.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Id of the query with the number `q`, from 0.
    fn id(&self, q: usize) -> &str;

    /// Weight of a query in means.
    fn weight(&self, _q: usize) -> f64 {
        1.0
    }

    /// The kind of data, which decides the default tie policy.
    fn kind(&self) -> SourceKind;

    /// Whether the queries have labels; without them only metrics of given preferences have a
    /// value.
    fn is_labelled(&self) -> bool {
        true
    }

    /// Fills `into`, which may hold the candidates of another query, with those of query `q`.
    fn load<'a>(&'a self, q: usize, into: &mut Candidates<'a>) -> Result<(), EvalError>;
}

/// Feature data with scores: the rows of each query are a range.
///
/// ```
/// use rankwright_eval::{EvalOptions, MetricSpec, QuerySource, ScoredQueries, evaluate};
///
/// let labels = [1.0, 0.0, 0.0, 2.0];
/// let scores = [0.5, 0.9, 0.1, 0.7];
/// let queries = ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], vec!["a", "b"])?;
/// let rr = MetricSpec::parse("rr")?.resolve(queries.kind())?;
/// let evaluation = evaluate(&queries, &[rr], EvalOptions::default())?;
/// assert_eq!(evaluation.results[0].values, [Some(0.5), Some(1.0)]);
/// assert_eq!(evaluation.results[0].value, 0.75);
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScoredQueries<'a> {
    labels: &'a [f64],
    scores: &'a [f64],
    ranges: Vec<Range<usize>>,
    ids: Vec<&'a str>,
    doc_ids: Option<&'a [&'a [u8]]>,
    weights: Option<&'a [f64]>,
}

impl<'a> ScoredQueries<'a> {
    /// A source from labels and scores by row, and one row range and one id for each query.
    pub fn new(
        labels: &'a [f64],
        scores: &'a [f64],
        ranges: Vec<Range<usize>>,
        ids: Vec<&'a str>,
    ) -> Result<Self, EvalError> {
        same_length("scores", scores.len(), labels.len())?;
        same_length("query ids", ids.len(), ranges.len())?;
        if let Some(range) = ranges.iter().find(|r| r.start > r.end || r.end > labels.len()) {
            let what = "rows of a query range";
            return Err(EvalError::Shape { what, found: range.end, expected: labels.len() });
        }
        let queries = Self { labels, scores, ranges, ids, doc_ids: None, weights: None };
        queries.check_overlap()?;
        Ok(queries)
    }

    /// Checks that a row belongs to one query only; the ranges may be in any order.
    fn check_overlap(&self) -> Result<(), EvalError> {
        let mut order: Vec<usize> = (0..self.ranges.len()).collect();
        order.retain(|&q| !self.ranges[q].is_empty());
        order.sort_by_key(|&q| self.ranges[q].start);
        let overlap = order.windows(2).find(|w| self.ranges[w[1]].start < self.ranges[w[0]].end);
        match overlap {
            Some(&[first, second]) => Err(EvalError::SharedRow {
                row: self.ranges[second].start,
                first: self.ids[first].to_owned(),
                second: self.ids[second].to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Adds document ids by row, for `ties=docid`.
    pub fn with_docids(mut self, doc_ids: &'a [&'a [u8]]) -> Result<Self, EvalError> {
        same_length("document ids", doc_ids.len(), self.labels.len())?;
        self.doc_ids = Some(doc_ids);
        Ok(self)
    }

    /// Adds a weight for each query.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self, EvalError> {
        same_length("query weights", weights.len(), self.ranges.len())?;
        self.weights = Some(weights);
        Ok(self)
    }
}

impl QuerySource for ScoredQueries<'_> {
    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn id(&self, q: usize) -> &str {
        self.ids[q]
    }

    fn weight(&self, q: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[q])
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Features
    }

    fn load<'b>(&'b self, q: usize, into: &mut Candidates<'b>) -> Result<(), EvalError> {
        into.clear();
        let Some(range) = self.ranges.get(q).cloned() else {
            return Err(EvalError::NoSuchQuery { query: q, queries: self.ranges.len() });
        };
        into.labels.extend_from_slice(&self.labels[range.clone()]);
        into.scores.extend_from_slice(&self.scores[range.clone()]);
        if let Some(doc_ids) = self.doc_ids {
            into.doc_ids.extend_from_slice(&doc_ids[range]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_two_queries_is_refused() {
        let (labels, scores) = ([0.0; 6], [0.0; 6]);
        let new = |ranges| ScoredQueries::new(&labels, &scores, ranges, vec!["a", "b", "c"]);
        assert!(new(vec![4..6, 0..2, 2..4]).is_ok());
        assert!(new(vec![0..2, 1..1, 2..6]).is_ok());
        let error = new(vec![3..6, 0..2, 1..3]).unwrap_err();
        let expected =
            EvalError::SharedRow { row: 1, first: "b".to_owned(), second: "c".to_owned() };
        assert_eq!(error, expected);
        assert_eq!(error.to_string(), "row 1 (from 0) belongs to query b and to query c");
    }
}
