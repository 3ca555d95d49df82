//! Scores of a whole data set: features are matched and checked once, then rows are scored in
//! blocks on all threads, or query by query if a score depends on the other documents of its query.
//!
//! Scores are in the row order of the data set (`Dataset::to_source_order` gives them in the order
//! of the file). Each is the same to the bit as [`Model::score_row`] (or [`Model::score_query`]) of
//! the row with its values in the model's order, on any number of threads. Cost (of trees): rows x
//! trees x depth. Without rows there are no scores.

use std::ops::Range;

use rankwright_data::{Dataset, FeatureNames};
use rayon::prelude::*;

use crate::engine::{ScoreBuffers, Scorer};
use crate::error::ModelError;
use crate::matching::{MatchOptions, Matching};
use crate::model::Model;
use crate::simd::Simd;

/// Options of scoring a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ScoreOptions {
    /// The rule that matches the model's features with those of the data.
    pub matching: MatchOptions,
    /// The instruction set to use; the scores are the same.
    pub simd: Simd,
}

impl ScoreOptions {
    /// The default rule and instruction set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the rule that matches the model's features with those of the data.
    #[must_use]
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Sets the instruction set to use; the scores are the same.
    #[must_use]
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl From<MatchOptions> for ScoreOptions {
    fn from(matching: MatchOptions) -> Self {
        ScoreOptions { matching, ..ScoreOptions::default() }
    }
}

/// Number of rows that a thread scores at a time, if scores do not depend on whole queries.
const BLOCK_ROWS: usize = 512;

impl Model {
    /// The score of each row, in the row order of the data set.
    ///
    /// ```
    /// use rankwright_data::{Absent, Dataset};
    /// use rankwright_model::{Header, ModelBody, Linear, Model, ScoreOptions};
    ///
    /// let data = Dataset::from_dense(&[1.0, 2.0, 3.0, 4.0], 2, [0, 0], ["a", "a"])?;
    /// let linear = Linear::new(0.0, vec![1.0, 10.0])?;
    /// let header = Header::new(data.features().clone(), Absent::Zero);
    /// let model = Model::new(header, ModelBody::Linear(linear))?;
    /// assert_eq!(model.score(&data, ScoreOptions::default())?, [21.0, 43.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score(&self, data: &Dataset, options: ScoreOptions) -> Result<Vec<f64>, ModelError> {
        let (data, matching) = self.prepared(data, options.matching)?;
        let data = &*data;
        let scorer = Scorer::new(self, &matching, data.columns(), options.simd);
        let (values, columns) = (data.matrix().values(), data.columns());
        let mut scores = vec![0.0; data.rows()];
        let parts = self.parts(data, &mut scores).into_par_iter();
        parts.try_for_each_init(ScoreBuffers::default, |buffers, (rows, scores)| {
            scorer.score_query(&values[rows.start * columns..rows.end * columns], scores, buffers)
        })?;
        Ok(scores)
    }

    /// The score of each row, in the row order of the data set (that of its labels and queries),
    /// with default options. A data set keeps the rows of a query together, so that this may differ
    /// from the order of the file; [`Dataset::to_source_order`] restores that.
    pub fn predict(&self, data: &Dataset) -> Result<Vec<f64>, ModelError> {
        self.score(data, ScoreOptions::default())
    }

    /// A scorer of rows whose values are in the order of the model's features.
    pub fn scorer(&self) -> Scorer {
        let matching = Matching::identity(self.header());
        Scorer::new(self, &matching, self.header().features.len(), Simd::Auto)
    }

    /// A scorer of rows of a data set with these features.
    pub fn scorer_for(
        &self,
        features: &FeatureNames,
        options: ScoreOptions,
    ) -> Result<Scorer, ModelError> {
        let matching = Matching::new(self.header(), features, options.matching)?;
        Ok(Scorer::new(self, &matching, features.len(), options.simd))
    }

    /// The score of each row as if the values of one feature had been shuffled among the rows: row
    /// `r` gets the value of row `order[r]`. Used for permutation importance.
    pub fn score_permuted(
        &self,
        data: &Dataset,
        options: ScoreOptions,
        feature: usize,
        order: &[u32],
    ) -> Result<Vec<f64>, ModelError> {
        let features = self.header().features.len();
        if feature >= features {
            return Err(ModelError::NoSuchFeature { feature, features });
        }
        if order.len() != data.rows() || order.iter().any(|&row| row as usize >= data.rows()) {
            return Err(ModelError::InvalidOrder { found: order.len(), rows: data.rows() });
        }
        let (data, matching) = self.prepared(data, options.matching)?;
        let data = &*data;
        let Some(column) = matching.column(feature) else { return self.score(data, options) };
        let scorer = Scorer::new(self, &matching, data.columns(), options.simd);
        let (values, columns) = (data.matrix().values(), data.columns());
        let mut scores = vec![0.0; data.rows()];
        let parts = self.parts(data, &mut scores).into_par_iter();
        let buffers = || (Vec::new(), ScoreBuffers::default());
        parts.try_for_each_init(buffers, |(permuted, buffers), (rows, scores)| {
            permuted.clear();
            permuted.extend_from_slice(&values[rows.start * columns..rows.end * columns]);
            for (row, &from) in permuted.chunks_exact_mut(columns).zip(&order[rows]) {
                row[column] = data.matrix().get(from as usize, column);
            }
            scorer.score_query(permuted, scores, buffers)
        })?;
        Ok(scores)
    }

    /// Cuts the rows into the ranges that are scored at a time, each with its slice of the scores:
    /// queries for a listwise model, otherwise blocks.
    fn parts<'a>(
        &self,
        data: &Dataset,
        mut scores: &'a mut [f64],
    ) -> Vec<(Range<usize>, &'a mut [f64])> {
        let rows = data.rows();
        let ranges: Vec<Range<usize>> = match self.is_listwise() {
            true => (0..data.queries()).map(|query| data.query_rows(query)).collect(),
            false => {
                let starts = (0..rows).step_by(BLOCK_ROWS);
                starts.map(|start| start..rows.min(start + BLOCK_ROWS)).collect()
            }
        };
        // The ranges of queries, like those of blocks, follow each other without gaps.
        let with_scores = |range: Range<usize>| {
            let (range_scores, rest) = std::mem::take(&mut scores).split_at_mut(range.len());
            scores = rest;
            (range, range_scores)
        };
        ranges.into_iter().map(with_scores).collect()
    }
}

#[cfg(test)]
mod tests;
