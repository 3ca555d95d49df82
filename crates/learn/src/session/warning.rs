//! Warnings about a trained model (that it ranks nothing, or that it treats categories as numbers),
//! and about a learner with its data: that pairs are sampled, or that labels are too large.

use std::fmt;

use rankwright_data::{Dataset, SummaryWarning};
use rankwright_eval::Gain;
use rankwright_model::{Model, ModelBody, ModelError, ScoreOptions, SplitCondition};
use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::request::TrainRequest;
use crate::objective::SAMPLED_PARTNERS;
use crate::trainer::Trainer;

/// A fact that the user should know although a training succeeded. Serialised as
/// `{"kind": ..., "message": ...}`, with the fields of the variant as further keys.
///
/// ```
/// use rankwright_data::Dataset;
/// use rankwright_learn::prelude::*;
///
/// let data = Dataset::from_dense(&[0.1, 0.2, 0.3, 0.4], 1, [0, 1, 0, 1], ["a", "a", "b", "b"])?;
/// let result = Mart::new().min_rows(20).fit(&data)?;
/// let message = result.warnings[0].to_string();
/// assert!(message.contains("the same score"), "{message}");
/// assert!(message.contains("min_rows=20"), "{message}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrainWarning {
    /// The model gives all documents of a query the same score, so it ranks nothing.
    ConstantScores {
        /// The most likely reason.
        reason: ConstantReason,
    },
    /// The learner, or the model that it started from, cannot split by sets of categories, and used
    /// the numbers of the categories as quantities. The most frequent category has the lowest
    /// number.
    CategoriesAsNumbers {
        /// The features whose values are categories.
        features: Vec<String>,
        /// Whether the start model does so; the learner otherwise.
        in_start: bool,
    },
    /// Some queries are too large for a visit of every pair of their documents.
    SampledPairs {
        /// The learner.
        learner: &'static str,
        /// Number of queries that are too large.
        queries: usize,
        /// Number of documents that each document is paired with.
        partners: usize,
        /// Whether new pairs are drawn for each tree.
        boosted: bool,
    },
    /// The validation data was not used: an automatic choice of learners also trains on the queries
    /// of validation data, but could not here.
    ValidationNotUsed {
        /// The reason.
        reason: &'static str,
    },
    /// A property of the training data that matters for this training: labels that are too large
    /// for the exponential gain of a metric.
    Content(SummaryWarning),
}

/// The most likely reason why a model gives every document the same score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ConstantReason {
    /// All labels are equal.
    OneGrade {
        /// The label.
        label: f64,
    },
    /// No label is above 0, so that no document is relevant.
    NothingRelevant {
        /// The largest label.
        largest: f64,
    },
    /// Labels differ between queries only.
    EqualWithinQueries,
    /// Every feature has one value.
    ConstantFeatures,
    /// No leaf can have as many rows as the learner requires.
    TooFewRows {
        /// Rows of the training data.
        rows: usize,
        /// Rows that a leaf must have.
        min_rows: u64,
    },
    /// None of the above: nothing that the learner tried improved its objective.
    NothingImproves,
}

impl TrainWarning {
    /// The stable name of the kind of warning, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            TrainWarning::ConstantScores { .. } => "constant-scores",
            TrainWarning::CategoriesAsNumbers { .. } => "categories-as-numbers",
            TrainWarning::SampledPairs { .. } => "sampled-pairs",
            TrainWarning::ValidationNotUsed { .. } => "validation-not-used",
            TrainWarning::Content(warning) => warning.kind(),
        }
    }

    /// Whether the warning is about learner and data alone, so that it is known before the training
    /// and every training of the learner on the data has it.
    pub fn is_about_data(&self) -> bool {
        match self {
            TrainWarning::ConstantScores { .. }
            | TrainWarning::CategoriesAsNumbers { .. }
            | TrainWarning::ValidationNotUsed { .. } => false,
            TrainWarning::SampledPairs { .. } | TrainWarning::Content(_) => true,
        }
    }

    /// The warnings about a learner, its data and its metrics, known before the training.
    pub(crate) fn about_data(
        trainer: &dyn Trainer,
        learner: &'static str,
        request: &TrainRequest<'_>,
    ) -> Vec<Self> {
        let data = request.train;
        let is_exponential = request.metrics.iter().any(|metric| metric.gain() == Some(&Gain::Exp));
        let large = is_exponential
            .then(|| SummaryWarning::of_large_labels(data.labels().iter().copied()))
            .flatten();
        let queries = match data.pairs() {
            Some(_) => 0,
            None => trainer.queries_with_sampled_pairs(data),
        };
        let sampled = (queries > 0).then(|| TrainWarning::SampledPairs {
            learner,
            queries,
            partners: SAMPLED_PARTNERS,
            boosted: trainer.boosting().is_some(),
        });
        large.map(TrainWarning::Content).into_iter().chain(sampled).collect()
    }

    /// The warning about a model that gives all documents of a query of its training data the same
    /// score; `None` if the scores differ. `options` say how features of data and model are
    /// matched.
    pub(crate) fn about_constant_scores(
        model: &Model,
        train: &Dataset,
        options: ScoreOptions,
        min_rows: Option<u64>,
    ) -> Result<Option<Self>, ModelError> {
        if train.rows() == 0 || !is_constant(model, train, options)? {
            return Ok(None);
        }
        Ok(Some(TrainWarning::ConstantScores { reason: ConstantReason::find(train, min_rows) }))
    }

    /// The warnings about categories that a model takes as numbers: those that the start model
    /// takes so, then the others, as far as there are any.
    pub(crate) fn about_categories(
        model: &Model,
        start: Option<&Model>,
        train: &Dataset,
    ) -> Vec<Self> {
        let categories =
            (0..train.columns()).filter(|feature| train.categories(*feature).is_some());
        let is_in_start = |name: &String| start.is_some_and(|start| takes_as_number(start, name));
        let (of_start, of_learner): (Vec<String>, Vec<String>) = categories
            .map(|feature| train.features().name(feature).into_owned())
            .filter(|name| takes_as_number(model, name))
            .partition(is_in_start);
        [(of_start, true), (of_learner, false)]
            .into_iter()
            .filter(|(features, _)| !features.is_empty())
            .map(|(features, in_start)| TrainWarning::CategoriesAsNumbers { features, in_start })
            .collect()
    }
}

impl ConstantReason {
    /// The name of the reason, in kebab case.
    pub fn name(&self) -> &'static str {
        match self {
            ConstantReason::OneGrade { .. } => "one-grade",
            ConstantReason::NothingRelevant { .. } => "nothing-relevant",
            ConstantReason::EqualWithinQueries => "equal-within-queries",
            ConstantReason::ConstantFeatures => "constant-features",
            ConstantReason::TooFewRows { .. } => "too-few-rows",
            ConstantReason::NothingImproves => "nothing-improves",
        }
    }

    /// The most likely reason why a model of this training data has constant scores.
    fn find(train: &Dataset, min_rows: Option<u64>) -> Self {
        let (labels, rows) = (train.labels(), train.rows());
        let too_large_min_rows =
            min_rows.filter(|min_rows| min_rows.saturating_mul(2) > rows as u64);
        let equal = |labels: &[f64]| labels.windows(2).all(|pair| pair[0] == pair[1]);
        let largest = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // With preference pairs, labels may all be equal.
        let labelled = train.pairs().is_none();
        match labels.first() {
            Some(&label) if labelled && equal(labels) => ConstantReason::OneGrade { label },
            _ if labelled && (0..train.queries()).all(|q| equal(train.query(q).labels)) => {
                ConstantReason::EqualWithinQueries
            }
            _ if has_constant_features(train) => ConstantReason::ConstantFeatures,
            _ => match too_large_min_rows {
                Some(min_rows) => ConstantReason::TooFewRows { rows, min_rows },
                None if labelled && largest <= 0.0 => ConstantReason::NothingRelevant { largest },
                None => ConstantReason::NothingImproves,
            },
        }
    }
}

/// Whether scores of a model depend on the value of a feature as a number.
fn takes_as_number(model: &Model, name: &str) -> bool {
    let Some(feature) = model.header().features.column(name) else { return false };
    match model.body() {
        ModelBody::Trees(ensemble) => {
            let mut splits = ensemble.trees().iter().flat_map(|tree| tree.splits());
            splits.any(|split| {
                let is_set = matches!(split.rule, SplitCondition::In(_));
                split.feature as usize == feature && !is_set
            })
        }
        ModelBody::Linear(linear) => linear.weights().get(feature).is_some_and(|w| *w != 0.0),
        ModelBody::Net(_) => true,
        ModelBody::Blend(blend) => {
            let mut members = blend.members().iter();
            members.any(|(weight, member)| *weight != 0.0 && takes_as_number(member, name))
        }
        // A new kind of body is assumed to use every feature.
        _ => true,
    }
}

/// Whether a model gives all documents of each query the same score. Trees and linear models are
/// judged by their parts, so that this costs nothing.
fn is_constant(model: &Model, train: &Dataset, options: ScoreOptions) -> Result<bool, ModelError> {
    Ok(match model.body() {
        ModelBody::Trees(ensemble) => ensemble
            .trees()
            .iter()
            .all(|tree| tree.leaves().windows(2).all(|pair| pair[0].value == pair[1].value)),
        ModelBody::Linear(linear) => linear.weights().iter().all(|weight| *weight == 0.0),
        _ => {
            let scores = model.score(train, options)?;
            (0..train.queries()).all(|query| {
                scores[train.query_rows(query)].windows(2).all(|pair| pair[0] == pair[1])
            })
        }
    })
}

/// Whether every feature has the same value, or is missing, in all rows.
fn has_constant_features(data: &Dataset) -> bool {
    let matrix = data.matrix();
    let bits = |row: usize, column: usize| matrix.get(row, column).to_bits();
    (0..data.columns())
        .all(|column| (1..data.rows()).all(|row| bits(row, column) == bits(0, column)))
}

impl fmt::Display for TrainWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrainWarning::ConstantScores { reason } => write!(
                f,
                "the model gives every document of a query the same score, so it ranks nothing: \
                 {reason}"
            ),
            TrainWarning::CategoriesAsNumbers { features, in_start } => write!(
                f,
                "{} takes the numbers of categories as numbers (the most frequent \
                 category is 0), in {}: {}; boosted trees split by sets of categories instead",
                if *in_start { "the start model" } else { "this learner" },
                counted(features.len(), "feature"),
                features.join(", ")
            ),
            TrainWarning::SampledPairs { learner, queries, partners, boosted } => {
                let verb = if *queries == 1 { "is" } else { "are" };
                let details = match boosted {
                    true => " for each tree; `truncation=` limits pairs to the top ranks instead",
                    false => "",
                };
                write!(
                    f,
                    "{} {verb} too large for {learner} to use every pair of documents: each \
                     document is paired with {partners} others, drawn at random with the \
                     seed{details}",
                    counted(*queries, "query")
                )
            }
            TrainWarning::ValidationNotUsed { reason } => write!(
                f,
                "the validation data is not used: this learner would train on its queries too, \
                 but cannot, because {reason}"
            ),
            TrainWarning::Content(warning) => warning.fmt(f),
        }
    }
}

impl fmt::Display for ConstantReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstantReason::OneGrade { label } => write!(f, "all labels are {label}"),
            ConstantReason::NothingRelevant { largest } => {
                write!(f, "no document is relevant, as the largest label is {largest}")
            }
            ConstantReason::EqualWithinQueries => {
                f.write_str("no query has two documents with different labels")
            }
            ConstantReason::ConstantFeatures => f.write_str("every feature has one value only"),
            ConstantReason::TooFewRows { rows, min_rows } => write!(
                f,
                "with min_rows={min_rows}, a split needs {}, and the training data has {rows}",
                counted(min_rows.saturating_mul(2) as usize, "row")
            ),
            ConstantReason::NothingImproves => {
                f.write_str("nothing that the learner tried improved its objective")
            }
        }
    }
}

impl Serialize for TrainWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let TrainWarning::Content(warning) = self {
            return warning.serialize(serializer);
        }
        let mut object = serializer.serialize_struct("TrainWarning", 6)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        match self {
            TrainWarning::ConstantScores { reason } => {
                object.serialize_field("reason", reason.name())?;
            }
            TrainWarning::CategoriesAsNumbers { features, in_start } => {
                object.serialize_field("features", features)?;
                object.serialize_field("in_start", in_start)?;
            }
            TrainWarning::SampledPairs { learner, queries, partners, boosted } => {
                object.serialize_field("learner", learner)?;
                object.serialize_field("queries", queries)?;
                object.serialize_field("partners", partners)?;
                object.serialize_field("boosted", boosted)?;
            }
            TrainWarning::ValidationNotUsed { reason } => {
                object.serialize_field("reason", reason)?;
            }
            TrainWarning::Content(_) => {}
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::LearnerSpec;
    use crate::session::TrainRequest;

    /// One query of these labels, whose only feature is the row number.
    fn data(labels: &[f64]) -> Dataset {
        let values: Vec<f32> = (0..labels.len()).map(|row| row as f32).collect();
        Dataset::from_dense(&values, 1, labels.to_vec(), vec!["a"; labels.len()]).unwrap()
    }

    /// The name of the reason in the warning about the learner's model; `None` without a warning.
    fn reason(learner: &str, data: &Dataset) -> Option<&'static str> {
        let learner = LearnerSpec::parse(learner).unwrap();
        let result = learner.train(TrainRequest::new(data)).unwrap();
        result.warnings.first().map(|warning| match warning {
            TrainWarning::ConstantScores { reason } => reason.name(),
            other => panic!("{other}"),
        })
    }

    #[test]
    fn a_model_of_constant_scores_has_a_warning_with_the_reason() {
        let graded: Vec<f64> = (0..60).map(|row| f64::from(row % 3)).collect();
        let negative: Vec<f64> = (0..60).map(|row| -1.0 - f64::from(row % 2)).collect();
        let few = [0.0, 1.0, 2.0, 0.0, 1.0];
        for (learner, labels, expected) in [
            ("lambdamart(trees=3)", &graded[..], None),
            ("lambdamart(trees=3, min_rows=31)", &graded, Some("too-few-rows")),
            ("mart(trees=3)", &few, Some("too-few-rows")),
            ("mart(trees=3)", &[1.0; 60], Some("one-grade")),
            ("random-forest(trees=3)", &[1.0; 60], Some("one-grade")),
            ("lambdamart(trees=3)", &[1.0; 60], Some("one-grade")),
            ("lambdamart(trees=3)", &negative, Some("nothing-relevant")),
            ("mart(trees=3, min_gain=1e9)", &graded, Some("nothing-improves")),
            ("linear-regression", &[1.0; 60], Some("one-grade")),
        ] {
            assert_eq!(reason(learner, &data(labels)), expected, "{learner} {labels:?}");
        }
        let constant_feature =
            Dataset::from_dense(&[3.0; 60], 1, graded.clone(), vec!["a"; 60]).unwrap();
        assert_eq!(reason("mart(trees=3)", &constant_feature), Some("constant-features"));
        let queries: Vec<usize> = (0..60).map(|row| row % 3).collect();
        let values: Vec<f32> = (0..60).map(|row| row as f32).collect();
        // Each query has documents of one label.
        let equal_within_queries = Dataset::from_dense(&values, 1, graded, queries).unwrap();
        assert_eq!(
            reason("lambdamart(trees=3)", &equal_within_queries),
            Some("equal-within-queries")
        );
    }
}
