//! A data set with a column of scores, as a source of queries.

use rankwright_data::{Dataset, PairsByQuery};

use crate::error::EvalError;
use crate::evaluate::{EvalOptions, Evaluation, evaluate};
use crate::list::Candidates;
use crate::metric::ToMeasures;
use crate::order::same_length;
use crate::source::{QuerySource, SourceKind};

/// The queries of a data set, scored row by row.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_eval::ScoredDataset;
///
/// let data = LetorOptions { queries: 5, documents: 10, seed: 1 }.generate()?;
/// let scores = data.labels().to_vec();
/// let scored = ScoredDataset::new(&data, &scores)?;
/// assert_eq!(scored.evaluate("ndcg@10")?.get("ndcg@10"), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScoredDataset<'a> {
    data: &'a Dataset,
    scores: &'a [f64],
    labels: &'a [f64],
    pairs: Option<PairsByQuery>,
}

impl<'a> ScoredDataset<'a> {
    /// A data set and its scores, in the row order of the data set (`Dataset::from_source_order`
    /// brings scores in the order of the file into it).
    pub fn new(data: &'a Dataset, scores: &'a [f64]) -> Result<Self, EvalError> {
        same_length("scores", scores.len(), data.rows())?;
        Ok(Self { data, scores, labels: data.labels(), pairs: data.pairs_by_query() })
    }

    /// The same scores with other labels, one for each row, such as those of a further column.
    ///
    /// ```
    /// use rankwright_data::Dataset;
    /// use rankwright_eval::ScoredDataset;
    ///
    /// let data = Dataset::from_dense(&[0.5, 0.1], 1, [1, 0], ["q", "q"])?;
    /// let data = data.with_label_column("clicks", vec![0.0, 3.0])?;
    /// let scored = ScoredDataset::new(&data, &[2.0, 1.0])?;
    /// assert_eq!(scored.evaluate("rr")?.get("rr"), Some(1.0));
    /// let clicks = data.label_column("clicks").unwrap_or_default();
    /// assert_eq!(scored.labels(clicks)?.evaluate("rr")?.get("rr"), Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn labels(mut self, labels: &'a [f64]) -> Result<Self, EvalError> {
        same_length("labels", labels.len(), self.data.rows())?;
        self.labels = labels;
        Ok(self)
    }

    /// Evaluates metrics (texts, specs or measures) on every query, with default options.
    pub fn evaluate(&self, metrics: impl ToMeasures) -> Result<Evaluation, EvalError> {
        let measures = metrics.to_measures(SourceKind::Features)?;
        evaluate(self, &measures, EvalOptions::default())
    }
}

impl QuerySource for ScoredDataset<'_> {
    fn len(&self) -> usize {
        self.data.queries()
    }

    fn id(&self, q: usize) -> &str {
        self.data.query_ids().get(q)
    }

    fn weight(&self, q: usize) -> f64 {
        let weights = self.data.query_weights();
        weights.map_or(1.0, |weights| f64::from(weights[q]))
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Features
    }

    fn is_labelled(&self) -> bool {
        self.data.is_labelled()
    }

    fn load<'a>(&'a self, q: usize, into: &mut Candidates<'a>) -> Result<(), EvalError> {
        into.clear();
        let query = self.data.query(q);
        into.labels.extend_from_slice(&self.labels[query.rows.clone()]);
        into.scores.extend_from_slice(&self.scores[query.rows.clone()]);
        let start = query.rows.start as u32;
        let pairs = self.pairs.iter().flat_map(|pairs| pairs.of_query(q));
        let preferred = pairs.filter(|pair| !pair.equal);
        into.preferences
            .extend(preferred.map(|pair| (pair.better - start, pair.worse - start, pair.weight)));
        if let Some(doc_ids) = self.data.doc_ids() {
            into.doc_ids.extend(query.rows.map(|row| doc_ids.get(row).as_bytes()));
        }
        Ok(())
    }
}
