//! A teacher: a model, or scores from elsewhere, that a learner learns from besides the labels, also
//! on queries without labels.
//!
//! The teacher's scores T are standardised within each query, z = (T - mean) / deviation, since only
//! their order and their relative differences have a meaning. Learners that need labels get them on
//! the scale of the data's own:
//!
//! ```text
//! soft label = min(a + b z, largest label)      a, b: least squares line of labels on z, b >= 0
//! ```
//!
//! over the rows with labels; without any, a = b = 1 and the largest label is 4. A teacher that
//! knows nothing about the labels thus has b = 0, and its soft labels are their mean. Queries of one
//! document have z = 0. The objectives that use them are in `objective/distilled.rs`; a linear
//! regression is trained on the labels (1 - w) label + w soft label, which is the same mixture of
//! squared errors.
//!
//! Metrics on the training data, if they are computed, count soft labels as labels where the data
//! has none.

use std::borrow::Cow;
use std::sync::Arc;

use rankwright_data::Dataset;
use rankwright_model::{Header, Matching, Model, Normalise, ScoreOptions};
use rankwright_spec::params;
use xxhash_rust::xxh3::xxh3_64;

use super::checkpoint::fingerprint;
use crate::error::LearnError;

params! {
    /// Parameters of learning from a teacher.
    pub struct TeacherParams {
        teacher_weight: f64 = 0.5, 0.0..=1.0,
            "Weight of the teacher's scores in the loss; that of the labels is 1 minus this.";
    }
    /// Builder methods for the parameters of learning from a teacher.
    pub trait TeacherOptions: teacher_params;
}

/// A teacher, its weight, and further queries without labels.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{LearnerSpec, Teacher, TrainRequest};
///
/// let [train, more] = [1, 2].map(|seed| LetorOptions { queries: 20, documents: 20, seed });
/// let (train, more) = (train.generate()?, more.generate()?);
/// let forest = LearnerSpec::parse("random-forest(trees=50)")?.train((&train).into())?.model;
/// let teacher = Teacher::of_model(&forest).weight(0.7).unlabelled(&more);
/// let request = TrainRequest::new(&train).teacher(teacher);
/// let student = LearnerSpec::parse("lambdamart(trees=20)")?.train(request)?.model;
/// assert_eq!(student.header().queries, 40);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Teacher<'a> {
    /// The source of the scores.
    pub scores: TeacherScores<'a>,
    /// The weight of the teacher.
    pub params: TeacherParams,
    /// Queries that are learned from the teacher alone; labels that they have are ignored.
    pub unlabelled: Option<&'a Dataset>,
}

/// The source of a teacher's scores.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TeacherScores<'a> {
    /// A model, which scores the data.
    Model(&'a Model),
    /// A score for each row of the training data, then for each row of the queries without labels.
    Given(&'a [f64]),
}

impl<'a> Teacher<'a> {
    /// A model as the teacher, with the default weight.
    pub fn of_model(model: &'a Model) -> Self {
        Self::new(TeacherScores::Model(model))
    }

    /// Given scores as the teacher, with the default weight: one for each row of the training data,
    /// then one for each row of the queries without labels.
    pub fn of_scores(scores: &'a [f64]) -> Self {
        Self::new(TeacherScores::Given(scores))
    }

    fn new(scores: TeacherScores<'a>) -> Self {
        Self { scores, params: TeacherParams::default(), unlabelled: None }
    }

    /// Sets the weight of the teacher, from 0 to 1.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        self.params.teacher_weight = weight;
        self
    }

    /// Adds queries that are learned from the teacher alone.
    #[must_use]
    pub fn unlabelled(mut self, data: impl Into<Option<&'a Dataset>>) -> Self {
        self.unlabelled = data.into();
        self
    }

    /// A text that differs from that of any other teacher, for fingerprints of checkpoints.
    pub(crate) fn text(&self) -> String {
        let digest = match self.scores {
            TeacherScores::Model(model) => xxh3_64(&model.to_bytes()),
            TeacherScores::Given(scores) => xxh3_64(bytemuck::cast_slice(scores)),
        };
        let unlabelled = self.unlabelled.map(|data| fingerprint(data, ""));
        format!("teacher {digest:016x} {} {unlabelled:?}", self.params.teacher_weight)
    }

    /// The note on the teacher in the header of a model.
    pub(crate) fn note(&self) -> String {
        let source = match self.scores {
            TeacherScores::Model(model) if !model.header().learner.is_empty() => {
                model.header().learner.as_str()
            }
            TeacherScores::Model(_) => "model",
            TeacherScores::Given(_) => "scores",
        };
        let unlabelled = self.unlabelled.map_or(0, Dataset::queries);
        let weight = self.params.teacher_weight;
        format!("{source}, teacher_weight={weight}, unlabelled_queries={unlabelled}")
    }

    /// The training data with the queries without labels after it, a soft label in each row that
    /// has no label; and the targets of all queries.
    pub(crate) fn targets(
        &self,
        train: &Dataset,
        options: ScoreOptions,
    ) -> Result<(Dataset, Arc<SoftTargets>), LearnError> {
        let all = match self.unlabelled {
            Some(unlabelled) => Cow::Owned(appended(train, unlabelled, options)?),
            None => Cow::Borrowed(train),
        };
        let scores = match self.scores {
            TeacherScores::Model(model) => {
                let mut scores = model.score(train, options)?;
                if let Some(unlabelled) = self.unlabelled {
                    scores.extend(model.score(unlabelled, options)?);
                }
                scores
            }
            TeacherScores::Given(scores) => scores.to_vec(),
        };
        if scores.len() != all.rows() {
            return Err(LearnError::TeacherScores { found: scores.len(), rows: all.rows() });
        }
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            return Err(LearnError::TeacherScoreNotFinite { row, score: scores[row] });
        }
        let ends = (0..all.queries()).map(|query| all.query_rows(query).end);
        let starts = std::iter::once(0).chain(ends).collect();
        let labels = if train.is_labelled() { train.labels() } else { &[] };
        let targets = SoftTargets::new(scores, starts, labels, self.params.teacher_weight);
        let soft = &targets.soft_labels[labels.len()..];
        let all = all.into_owned().with_labels([labels, soft].concat())?;
        Ok((all, Arc::new(targets)))
    }
}

/// A data set with the queries of another one after its own; features are matched.
pub(crate) fn appended(
    train: &Dataset,
    added: &Dataset,
    options: ScoreOptions,
) -> Result<Dataset, LearnError> {
    let header = Header::new(train.features().clone(), train.absent());
    let matching = Matching::new(&header, added.features(), options.matching)?;
    let numbered;
    let added = match train.table_columns() {
        // The numbers of categories are those of the training data.
        Some(columns) => {
            numbered = added.clone().with_categories(columns);
            &numbered
        }
        None => added,
    };
    Ok(train.append(added, |feature| matching.column(feature))?)
}

/// The largest soft label if there are no labels.
const LARGEST_WITHOUT_LABELS: f64 = 4.0;

/// The scores of a teacher as targets: standardised within each query, and on the scale of labels.
#[derive(Debug)]
pub(crate) struct SoftTargets {
    /// Standardised scores of all rows.
    standard: Vec<f64>,
    soft_labels: Vec<f64>,
    /// The first row of each query, and at the end the number of rows.
    starts: Vec<usize>,
    /// Number of rows with labels, which are those of the first queries.
    labelled_rows: usize,
    weight: f64,
}

impl SoftTargets {
    /// The targets of a teacher's scores. `starts` has the first row of each query, and at the end
    /// the number of rows; `labels` are those of the first rows.
    pub(crate) fn new(scores: Vec<f64>, starts: Vec<usize>, labels: &[f64], weight: f64) -> Self {
        let mut standard = scores;
        for query in starts.windows(2) {
            Normalise::Standard.apply(&mut standard[query[0]..query[1]]);
        }
        let (line, largest) = match labels {
            [] => ((1.0, 1.0), LARGEST_WITHOUT_LABELS),
            labels => (line(labels, &standard), labels.iter().copied().fold(f64::MIN, f64::max)),
        };
        let soft = |z: &f64| (line.0 + line.1 * z).min(largest);
        let soft_labels = standard.iter().map(soft).collect();
        Self { standard, soft_labels, starts, labelled_rows: labels.len(), weight }
    }

    /// The weight of the teacher.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether the documents of a query have labels.
    pub(crate) fn is_labelled(&self, query: usize) -> bool {
        self.starts[query] < self.labelled_rows
    }

    /// The standardised scores of a query.
    pub(crate) fn standard(&self, query: usize) -> &[f64] {
        &self.standard[self.starts[query]..self.starts[query + 1]]
    }

    /// The soft labels of a query.
    pub(crate) fn soft_labels(&self, query: usize) -> &[f64] {
        &self.soft_labels[self.starts[query]..self.starts[query + 1]]
    }

    /// The labels of all rows, mixed with their soft labels by the weight; rows without labels have
    /// their soft label.
    pub(crate) fn mixed_labels(&self, labels: &[f64]) -> Vec<f64> {
        let mut mixed = self.soft_labels.clone();
        for (mixed, label) in mixed.iter_mut().zip(&labels[..self.labelled_rows]) {
            *mixed = (1.0 - self.weight) * label + self.weight * *mixed;
        }
        mixed
    }
}

/// Intercept and slope of the least squares line of labels on the first of the scores; the slope is
/// at least 0.
fn line(labels: &[f64], scores: &[f64]) -> (f64, f64) {
    let n = labels.len() as f64;
    let mean_label = labels.iter().sum::<f64>() / n;
    let mean_score = scores[..labels.len()].iter().sum::<f64>() / n;
    let (mut product, mut square) = (0.0, 0.0);
    for (label, score) in labels.iter().zip(scores) {
        product += (label - mean_label) * (score - mean_score);
        square += (score - mean_score) * (score - mean_score);
    }
    let slope = if square > 0.0 { (product / square).max(0.0) } else { 0.0 };
    (mean_label - slope * mean_score, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_labels_lie_on_the_line_of_labels_and_scores() {
        // Two queries of two documents, z = 1 and -1 in each; labels 3, 1 and 2, 0: the line is
        // 1.5 + z.
        let scores = vec![5.0, 1.0, 0.5, 0.25, 9.0, 9.0];
        let targets = SoftTargets::new(scores, vec![0, 2, 4, 6], &[3.0, 1.0, 2.0, 0.0], 0.25);
        assert_eq!(targets.standard(1), [1.0, -1.0]);
        assert!(targets.soft_labels(0).iter().zip([2.5, 0.5]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(targets.standard(2), [0.0, 0.0]);
        assert!(targets.is_labelled(1) && !targets.is_labelled(2));
        let mixed = targets.mixed_labels(&[3.0, 1.0, 2.0, 0.0, 7.0, 7.0]);
        let expected = [2.875, 0.875, 2.125, 0.125, 1.5, 1.5];
        assert!(mixed.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{mixed:?}");
    }

    #[test]
    fn a_teacher_that_ranks_backwards_has_the_mean_label_as_its_soft_label() {
        let targets = SoftTargets::new(vec![0.0, 1.0], vec![0, 2], &[1.0, 0.0], 0.5);
        assert_eq!(targets.soft_labels(0), [0.5, 0.5]);
    }

    #[test]
    fn soft_labels_without_labels_are_one_plus_z_and_at_most_four() {
        let scores: Vec<f64> = (0..30).map(|row| f64::from(u8::from(row == 0))).collect();
        let targets = SoftTargets::new(scores, vec![0, 30], &[], 0.5);
        assert_eq!(targets.soft_labels(0)[0], 4.0);
        assert!(targets.soft_labels(0)[1] < 1.0 && !targets.is_labelled(0));
    }
}
