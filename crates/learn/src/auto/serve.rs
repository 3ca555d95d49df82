//! `serve=fast`: one LambdaMART that has learned from the blend, in place of the blend.
//!
//! The teacher's scores are the *out-of-fold* scores of the blend: on the queries that a model was
//! trained on, its scores are better than anything that a student can repeat on new queries. The
//! student is trained on all queries of the choice but those for validation of the first fold, which
//! keep its best number of trees, and learns from labels and teacher in equal parts
//! (`objective/distilled.rs`).

use rankwright_model::Model;

use super::choice::Choice;
use super::report::AutoServed;
use crate::error::LearnError;
use crate::learner::LearnerSpec;
use crate::session::{NestedTraining, Teacher, ValidationSet};

/// The learner of the student.
pub(super) const STUDENT: &str = "lambdamart(trees=500)";

/// A student of the blend.
pub(super) struct Student {
    pub(super) model: Model,
    /// Its values; `None` if training was cancelled.
    pub(super) served: Option<AutoServed>,
}

impl Choice<'_> {
    /// Trains the student of the blend with these weights.
    pub(super) fn student(
        &self,
        learner: &LearnerSpec,
        weights: &[f64],
        nested: &mut NestedTraining<'_>,
    ) -> Result<Student, LearnError> {
        let fold = &self.folds[0];
        let mut queries = [fold.train.as_slice(), &fold.test].concat();
        queries.sort_unstable();
        let mut held_out = fold.valid.clone();
        held_out.sort_unstable();
        let train = self.data.select_queries(&queries)?;
        let valid = self.data.select_queries(&held_out)?;
        let blended = self.blended(weights);
        let rows = queries.iter().flat_map(|query| self.data.query_rows(*query));
        let scores: Vec<f64> = rows.map(|row| blended[row]).collect();
        let mut student_request = nested.request(&train).teacher(Teacher::of_scores(&scores));
        student_request.valid = vec![ValidationSet::new("held out", &valid)];
        let options = student_request.features;
        let (model, finished) = nested.train(learner, student_request)?;
        if !finished {
            return Ok(Student { model, served: None });
        }
        let of_student = model.score(&valid, options)?;
        let mut scores = vec![0.0; self.data.rows()];
        let rows = held_out.iter().flat_map(|query| self.data.query_rows(*query));
        rows.zip(of_student).for_each(|(row, score)| scores[row] = score);
        let totals = self.totals(self.flags(&held_out), &[&scores, &blended])?;
        let served = AutoServed {
            learner: learner.to_string(),
            value: totals[0],
            blend: totals[1],
            queries: held_out.len(),
        };
        Ok(Student { model, served: Some(served) })
    }
}
