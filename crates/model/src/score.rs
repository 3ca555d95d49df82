//! Scores of a whole data set: features are matched and checked once, then rows are scored in
//! blocks on all threads, or query by query if a score depends on the other documents of its query.
//!
//! Scores are in the row order of the data set (`Dataset::to_source_order` gives the file's). Each
//! is the same to the bit as [`Model::score_row`] (or [`Model::score_query`]) of the row with its
//! values in the model's order, on any number of threads. Cost (of trees): rows x trees x depth.
//! Without rows there are no scores.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rankwright_data::{Dataset, FeatureNames, UnseenCategories};
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
        let data = &*self.with_own_categories(data)?;
        let matching = self.matched(data, options)?;
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
        let data = &*self.with_own_categories(data)?;
        let matching = self.matched(data, options)?;
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

    /// The values of the data whose texts are none of the model's categories, so that scores take
    /// them as missing. Data that was read by the columns of the model has none: its reader has
    /// warned of them ([`WarningKind::UnseenCategories`](rankwright_data::WarningKind)).
    pub fn unseen_categories(&self, data: &Dataset) -> Vec<UnseenCategories> {
        let columns = self.header().table_columns.as_deref();
        columns.map_or_else(Vec::new, |columns| data.unseen_categories(columns))
    }

    /// An error if texts of a feature have other category numbers in the model than in the data.
    pub fn check_categories(&self, data: &Dataset) -> Result<(), ModelError> {
        let model_columns = self.header().table_columns.as_deref();
        let data_columns = data.table_columns();
        let mut data_categories = data_columns.into_iter().flat_map(|c| c.all_categories());
        let differs = |name: &str, texts: &Arc<[String]>| {
            let is_known = self.header().features.column(name).is_some();
            is_known && model_columns.and_then(|columns| columns.categories(name)) != Some(texts)
        };
        match data_categories.find(|(name, texts)| differs(name, texts)) {
            Some((name, _)) => Err(ModelError::OtherCategories { feature: name.to_owned() }),
            None => Ok(()),
        }
    }

    /// The data with the category numbers of the model. An error if a feature that scores depend on
    /// has texts in the data, and the model knows no texts of it.
    pub(crate) fn with_own_categories<'a>(
        &self,
        data: &'a Dataset,
    ) -> Result<Cow<'a, Dataset>, ModelError> {
        let Some(data_columns) = data.table_columns() else { return Ok(Cow::Borrowed(data)) };
        let model_columns = self.header().table_columns.as_deref();
        let features = &self.header().features;
        let is_known =
            |name: &str| model_columns.is_some_and(|columns| columns.categories(name).is_some());
        let mut unknown = data_columns.all_categories().filter(|(name, _)| !is_known(name));
        let used = || self.used_features();
        let is_used = |name: &str| features.column(name).is_some_and(|f| used().contains(&f));
        if let Some((name, _)) = unknown.find(|(name, _)| is_used(name)) {
            return Err(ModelError::UnknownCategories { feature: name.to_owned() });
        }
        Ok(match model_columns.filter(|columns| data.differs_in_categories(columns)) {
            Some(columns) => Cow::Owned(data.clone().with_categories(columns)),
            None => Cow::Borrowed(data),
        })
    }

    /// Matches the model's features with those of a data set, which must treat absent values as the
    /// model does, if that makes a difference to the model.
    fn matched(&self, data: &Dataset, options: ScoreOptions) -> Result<Matching, ModelError> {
        let (model_absent, data_absent) = (self.header().absent, data.absent());
        // For a linear model an absent value counts as 0 in either case.
        if model_absent != data_absent && self.distinguishes_missing() {
            let (model, data) = (model_absent.name(), data_absent.name());
            return Err(ModelError::Absent { model, data });
        }
        Matching::new(self.header(), data.features(), options.matching)
    }
}

#[cfg(test)]
mod tests;
