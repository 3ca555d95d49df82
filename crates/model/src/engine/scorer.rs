//! A model prepared to score rows of a data set's columns.

use std::sync::Arc;

use super::{Engine, ScoreBuffers, engine_of};
use crate::error::ModelError;
use crate::matching::Matching;
use crate::model::Model;
use crate::simd::Simd;

/// A model prepared for the columns of a data set: any number of threads can share one, a clone
/// costs a pointer, and calls allocate nothing after the caller's [`ScoreBuffers`] were used once
/// for a call of that size.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Header, Linear, Model, ModelBody, ScoreBuffers};
///
/// let features = FeatureNames::Ids { first: 1, count: 2 };
/// let linear = ModelBody::Linear(Linear::new(0.5, vec![1.0, 10.0])?);
/// let scorer = Model::new(Header::new(features, Absent::Zero), linear)?.scorer();
/// let mut buffers = ScoreBuffers::default();
/// assert_eq!(scorer.score_one(&[1.0, 2.0], &mut buffers)?, 21.5);
/// let mut scores = [0.0; 2];
/// scorer.score_rows(&[1.0, 2.0, 3.0, 4.0], &mut scores, &mut buffers)?;
/// assert_eq!(scores, [21.5, 43.5]);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Scorer {
    pub(super) columns: usize,
    /// The value of an entry that a sparse row leaves out.
    pub(super) absent: f32,
    pub(super) listwise: bool,
    pub(super) engine: Arc<dyn Engine>,
}

impl Scorer {
    /// Prepares a model for the columns that it is matched with; `columns` is their number.
    pub(crate) fn new(model: &Model, matching: &Matching, columns: usize, simd: Simd) -> Scorer {
        Scorer {
            columns,
            absent: matching.absent(),
            listwise: model.is_listwise(),
            engine: engine_of(model, matching, simd).into(),
        }
    }

    /// Number of values that a row must have: one for each column.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A short description of the engine.
    pub fn engine(&self) -> String {
        self.engine.name()
    }

    /// Whether a score depends on the other documents of its query. Only
    /// [`score_query`](Scorer::score_query) scores rows then.
    pub fn is_listwise(&self) -> bool {
        self.listwise
    }

    /// The score of one row. A model that [`is_listwise`](Scorer::is_listwise) gives
    /// [`ModelError::NeedsWholeQuery`].
    pub fn score_one(&self, row: &[f32], buffers: &mut ScoreBuffers) -> Result<f64, ModelError> {
        let mut score = [0.0];
        self.score_rows(row, &mut score, buffers)?;
        Ok(score[0])
    }

    /// Scores consecutive rows in `values`, one for each entry of `scores`. A model that
    /// [`is_listwise`](Scorer::is_listwise) gives [`ModelError::NeedsWholeQuery`].
    pub fn score_rows(
        &self,
        values: &[f32],
        scores: &mut [f64],
        buffers: &mut ScoreBuffers,
    ) -> Result<(), ModelError> {
        match self.listwise {
            true => Err(ModelError::NeedsWholeQuery),
            false => self.score_query(values, scores, buffers),
        }
    }

    /// Scores the rows of one query, all of them and no others, which are consecutive in `values`:
    /// one for each entry of `scores`.
    pub fn score_query(
        &self,
        values: &[f32],
        scores: &mut [f64],
        buffers: &mut ScoreBuffers,
    ) -> Result<(), ModelError> {
        if scores.len().checked_mul(self.columns) != Some(values.len()) {
            return Err(ModelError::RowLength {
                values: values.len(),
                rows: scores.len(),
                columns: self.columns,
            });
        }
        self.engine.score(values, self.columns, scores, buffers);
        Ok(())
    }
}
