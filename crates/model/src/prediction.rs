//! Scores in the label's own terms: a grade, a probability, or a class.
//!
//! The objective that a model was trained on gives its score F a meaning:
//!
//! | objective | meaning | boundary |
//! |---|---|---|
//! | `logistic` | P(label >= rel) = 1 / (1 + exp(-F)) | 0 |
//! | `logloss` of boosted trees (Friedman 2001) | P(label >= rel) = 1 / (1 + exp(-2F)) | 0 |
//! | `hinge`, `squared-hinge` | a class: label >= rel if F >= 0 | 0 |
//! | `ordinal` (McCullagh 1980) | P(label <= grade k) = 1 / (1 + exp(F - t_k)) | t of the grade below rel |
//! | `squared`, `huber` | an estimate of the label | rel - 1/2, halfway between whole grades |
//!
//! The grades and thresholds t of an ordinal model are notes of its header. Of models of other
//! systems, those of XGBoost with `binary:logistic`, `binary:logitraw` or `reg:logistic` and those
//! of LightGBM with `binary` have a probability 1 / (1 + exp(-slope F)), with slope 1 for XGBoost
//! and LightGBM's parameter `sigmoid` for LightGBM. The scores of all other models, such as those
//! of pairs and lists, only rank.
//!
//! The grade of a document is the most probable one, of equally probable grades the lowest. Its
//! class is 1 if the score reaches the boundary, otherwise 0. A boundary is infinite if all grades,
//! or none, are at least rel.

use rankwright_spec::{Spec, choices};

use crate::error::ModelError;
use crate::header::Header;
use crate::model::Model;

/// The note of a header that has the grades of an ordinal model, separated by slashes.
pub const GRADES_NOTE: &str = "grades";
/// The note of a header that has the thresholds between the grades, separated by slashes.
pub const THRESHOLDS_NOTE: &str = "thresholds";

/// The objective whose models have grades.
const ORDINAL: &str = "ordinal";
/// The lowest relevant label, where neither the model nor the caller gives one.
const DEFAULT_REL: f64 = 1.0;

choices! {
    /// A prediction in terms of labels.
    pub enum PredictionKind {
        /// The most probable grade.
        Grade = "grade",
        /// The probability that the document is relevant.
        Probability = "probability",
        /// 1 for a document that is predicted to be relevant, otherwise 0.
        Class = "class",
    }
}

impl PredictionKind {
    /// The learners whose models make such predictions, as a text.
    pub fn learners(self) -> &'static str {
        match self {
            Self::Grade => "ordinal and mart(loss=ordinal)",
            Self::Probability => "logistic, ordinal, mart(loss=logloss) and mart(loss=ordinal)",
            Self::Class => {
                "logistic, linear-svm, ordinal, mart(loss=logloss) and mart(loss=ordinal)"
            }
        }
    }
}

/// The meaning of a model's scores in terms of labels.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ScoreMeaning {
    /// P(label >= rel) = 1 / (1 + exp(-slope * score)).
    Logit {
        /// The lowest relevant label.
        rel: f64,
        /// The factor of the score.
        slope: f64,
    },
    /// A label of at least rel is predicted for scores of at least 0.
    Margin {
        /// The lowest relevant label.
        rel: f64,
    },
    /// P(label <= grades\[k\]) = 1 / (1 + exp(score - thresholds\[k\])).
    Grades {
        /// The grades, ascending; one more than thresholds.
        grades: Vec<f64>,
        /// The thresholds between neighbouring grades, ascending.
        thresholds: Vec<f64>,
    },
    /// The score is an estimate of the label.
    Label,
}

impl ScoreMeaning {
    /// The meaning that a header gives to scores; `None` if they only rank, or if the grades of an
    /// ordinal model are not recorded.
    fn of(header: &Header) -> Option<Self> {
        if let Some(slope) = imported_slope(header) {
            return Some(Self::Logit { rel: DEFAULT_REL, slope });
        }
        if header.objective != ORDINAL {
            return Self::of_objective(&header.objective);
        }
        let grades = numbers(header.notes.get(GRADES_NOTE)?)?;
        let thresholds = numbers(header.notes.get(THRESHOLDS_NOTE)?)?;
        Some(Self::Grades { grades, thresholds }).filter(Self::is_consistent)
    }

    /// The meaning of scores that were trained on an objective, given as a spec; `None` if they
    /// only rank, or if it depends on the model, as for `ordinal`.
    pub fn of_objective(objective: &str) -> Option<Self> {
        let objective = Spec::parse(objective).ok()?;
        let rel = match objective.get("rel") {
            Some(text) => text.parse().ok()?,
            None => DEFAULT_REL,
        };
        match objective.name.as_str() {
            "logistic" => Some(Self::Logit { rel, slope: 1.0 }),
            "logloss" => Some(Self::Logit { rel, slope: 2.0 }),
            "hinge" | "squared-hinge" => Some(Self::Margin { rel }),
            "squared" | "huber" => Some(Self::Label),
            _ => None,
        }
    }

    /// Whether grades and thresholds are ascending and as many as they must be.
    fn is_consistent(&self) -> bool {
        let Self::Grades { grades, thresholds } = self else { return true };
        grades.len() == thresholds.len() + 1
            && grades.is_sorted_by(|a, b| a < b)
            && thresholds.is_sorted_by(|a, b| a < b)
    }

    /// The lowest score for which a label of at least `rel` is predicted; `None` if the model was
    /// trained with another lowest relevant label.
    ///
    /// ```
    /// use rankwright_model::ScoreMeaning;
    ///
    /// let meaning = ScoreMeaning::of_objective("logistic(rel=2)").unwrap();
    /// assert_eq!(meaning.boundary(2.0), Some(0.0));
    /// assert_eq!(meaning.boundary(1.0), None);
    /// ```
    pub fn boundary(&self, rel: f64) -> Option<f64> {
        let is_known = self.trained_rel().is_none_or(|trained| trained == rel);
        is_known.then(|| self.lowest_score(rel))
    }

    /// The lowest score for which the class is 1. Models that know one lowest relevant label alone
    /// decide on that one.
    fn lowest_score(&self, rel: f64) -> f64 {
        match self {
            Self::Logit { .. } | Self::Margin { .. } => 0.0,
            Self::Label => rel - 0.5,
            Self::Grades { grades, thresholds } => {
                match grades.partition_point(|grade| *grade < rel) {
                    0 => f64::NEG_INFINITY,
                    below => thresholds.get(below - 1).copied().unwrap_or(f64::INFINITY),
                }
            }
        }
    }

    /// The numbers a and b for which a x score + b is the log-odds of a label of at least `rel`: the
    /// logarithm of P(label >= rel) / P(label < rel). `None` if the score gives no probability, or
    /// one that is always 0 or 1.
    ///
    /// ```
    /// use rankwright_model::ScoreMeaning;
    ///
    /// let meaning = ScoreMeaning::of_objective("logloss").unwrap();
    /// assert_eq!(meaning.log_odds(1.0), Some((2.0, 0.0)));
    /// assert_eq!(ScoreMeaning::of_objective("hinge").unwrap().log_odds(1.0), None);
    /// ```
    pub fn log_odds(&self, rel: f64) -> Option<(f64, f64)> {
        match self {
            Self::Logit { slope, .. } => Some((*slope, 0.0)),
            Self::Grades { .. } => {
                Some((1.0, -self.lowest_score(rel))).filter(|(_, shift)| shift.is_finite())
            }
            Self::Margin { .. } | Self::Label => None,
        }
    }

    /// The probability of a label of at least `rel`; `None` if the score is no probability.
    fn probability(&self, score: f64, rel: f64) -> Option<f64> {
        match self {
            Self::Logit { slope, .. } => Some(sigmoid(slope * score)),
            Self::Grades { .. } => Some(sigmoid(score - self.lowest_score(rel))),
            Self::Margin { .. } | Self::Label => None,
        }
    }

    /// The most probable grade; `None` if there are no grades.
    fn grade(&self, score: f64) -> Option<f64> {
        let Self::Grades { grades, thresholds } = self else { return None };
        // P(label <= grade), which is 1 for the highest grade.
        let at_most = |k: usize| thresholds.get(k).map_or(1.0, |t| sigmoid(t - score));
        let mut best: Option<(f64, f64)> = None;
        let mut below = 0.0;
        for (k, &grade) in grades.iter().enumerate() {
            let probability = at_most(k) - below;
            below = at_most(k);
            if best.is_none_or(|(_, highest)| probability > highest) {
                best = Some((grade, probability));
            }
        }
        best.map(|(grade, _)| grade)
    }

    /// The class: 1 or 0; `None` if the model does not classify.
    fn class(&self, score: f64, rel: f64) -> Option<f64> {
        let decides = !matches!(self, Self::Label);
        decides.then(|| f64::from(u8::from(score >= self.lowest_score(rel))))
    }

    /// The lowest relevant label that the model was trained with, if it knows one.
    fn trained_rel(&self) -> Option<f64> {
        match self {
            Self::Logit { rel, .. } | Self::Margin { rel } => Some(*rel),
            Self::Grades { .. } | Self::Label => None,
        }
    }
}

impl Model {
    /// The meaning of the scores in terms of labels; `None` if they only rank documents.
    pub fn score_meaning(&self) -> Option<ScoreMeaning> {
        ScoreMeaning::of(self.header())
    }

    /// The lowest score for which the model predicts a label of at least `rel`; `None` if its
    /// scores only rank documents, or if it was trained with another lowest relevant label.
    pub fn boundary(&self, rel: f64) -> Option<f64> {
        self.score_meaning()?.boundary(rel)
    }

    /// Scores of this model as grades, probabilities or classes. `rel` is the lowest relevant
    /// label: if not given, that of the training, or 1 for ordinal models.
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::{Header, Linear, Model, ModelBody, PredictionKind};
    ///
    /// let names = FeatureNames::Named(vec!["bm25".into()]);
    /// let linear = Linear::from_weights(&names, 0.0, &[("bm25".into(), 1.0)])?;
    /// let mut header = Header::new(names, Absent::Zero);
    /// header.objective = "ordinal".into();
    /// header.notes.insert("grades".into(), "0/1/4".into());
    /// header.notes.insert("thresholds".into(), "-1/2".into());
    /// let model = Model::new(header, ModelBody::Linear(linear))?;
    /// let grades = model.predictions(&[-5.0, 0.0, 5.0], PredictionKind::Grade, None)?;
    /// assert_eq!(grades, [0.0, 1.0, 4.0]);
    /// # Ok::<(), rankwright_model::ModelError>(())
    /// ```
    pub fn predictions(
        &self,
        scores: &[f64],
        kind: PredictionKind,
        rel: Option<f64>,
    ) -> Result<Vec<f64>, ModelError> {
        let none = || ModelError::NoPrediction { kind, objective: self.objective_text() };
        if self.header().objective == ORDINAL && self.score_meaning().is_none() {
            return Err(ModelError::NoGrades);
        }
        let meaning = self.score_meaning().ok_or_else(none)?;
        if let (Some(model), Some(given)) = (meaning.trained_rel(), rel)
            && model != given
        {
            return Err(ModelError::OtherRelevance { model, given });
        }
        let rel = rel.or(meaning.trained_rel()).unwrap_or(DEFAULT_REL);
        let predict = |score: &f64| match kind {
            PredictionKind::Grade => meaning.grade(*score),
            PredictionKind::Probability => meaning.probability(*score, rel),
            PredictionKind::Class => meaning.class(*score, rel),
        };
        scores.iter().map(predict).collect::<Option<Vec<f64>>>().ok_or_else(none)
    }

    /// The objective of the training for a message; `unknown` if the header has none.
    fn objective_text(&self) -> String {
        let header = self.header();
        let known = [Some(&header.objective), header.notes.get("objective")];
        let known = known.into_iter().flatten().find(|text| !text.is_empty());
        known.map_or("unknown", String::as_str).to_owned()
    }
}

/// The factor of the score in the logit of a binary model of another system.
fn imported_slope(header: &Header) -> Option<f64> {
    header.notes.get("from")?;
    let objective = header.notes.get("objective")?;
    match objective.as_str() {
        "binary:logistic" | "binary:logitraw" | "reg:logistic" => Some(1.0),
        other => other.strip_prefix("binary sigmoid:")?.trim().parse().ok(),
    }
}

/// Finite numbers separated by slashes; `None` for another text.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let parts = text.split('/').filter(|part| !part.is_empty());
    let number = |part: &str| part.parse::<f64>().ok().filter(|number| number.is_finite());
    parts.map(number).collect()
}

/// 1 / (1 + exp(-x)).
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use rankwright_data::{Absent, FeatureNames};

    use super::*;
    use crate::linear::Linear;
    use crate::model::ModelBody;

    fn model(objective: &str, notes: &[(&str, &str)]) -> Model {
        let names = FeatureNames::Ids { first: 1, count: 1 };
        let mut header = Header::new(names.clone(), Absent::Zero);
        header.objective = objective.to_owned();
        header.notes = notes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let linear = Linear::from_weights(&names, 0.0, &[("1".into(), 1.0)]).unwrap();
        Model::new(header, ModelBody::Linear(linear)).unwrap()
    }

    #[test]
    fn probabilities_are_those_of_the_objective() {
        let predict = |model: &Model, score| {
            model.predictions(&[score], PredictionKind::Probability, None).unwrap()[0]
        };
        let (logistic, logloss) = (model("logistic(rel=2)", &[]), model("logloss", &[]));
        assert!((predict(&logistic, 3f64.ln()) - 0.75).abs() < 1e-15);
        assert!((predict(&logloss, 3f64.ln()) - 0.9).abs() < 1e-15);
        let xgboost = [("from", "xgboost"), ("objective", "binary:logistic")];
        assert!((predict(&model("", &xgboost), 3f64.ln()) - 0.75).abs() < 1e-15);
        let lightgbm = [("from", "lightgbm"), ("objective", "binary sigmoid:2")];
        assert!((predict(&model("", &lightgbm), 3f64.ln()) - 0.9).abs() < 1e-15);
        let ordinal = model("ordinal", &[("grades", "0/1/2"), ("thresholds", "0/1")]);
        // P(label >= 1) = 1 - P(label <= 0).
        assert!((predict(&ordinal, 3f64.ln()) - 0.75).abs() < 1e-15);
        let at_2 = ordinal.predictions(&[1.0], PredictionKind::Probability, Some(2.0)).unwrap();
        assert_eq!(at_2, [0.5]);
    }

    #[test]
    fn boundaries_are_where_the_class_changes() {
        let ordinal = model("ordinal", &[("grades", "0/1/3"), ("thresholds", "-1/2.5")]);
        let bounds = [0.0, 1.0, 2.0, 3.0, 4.0].map(|rel| ordinal.boundary(rel).unwrap());
        assert_eq!(bounds, [f64::NEG_INFINITY, -1.0, 2.5, 2.5, f64::INFINITY]);
        assert_eq!(model("squared-hinge(rel=1)", &[]).boundary(1.0), Some(0.0));
        assert_eq!(model("squared", &[]).boundary(2.0), Some(1.5));
        // What was trained to find labels of at least 1 says nothing about labels of at least 2.
        assert_eq!(model("squared-hinge(rel=1)", &[]).boundary(2.0), None);
        assert_eq!(model("logistic", &[]).boundary(2.0), None);
        assert_eq!(model("logistic(rel=2)", &[]).boundary(2.0), Some(0.0));
        assert_eq!(model("lambda(metric=ndcg@10)", &[]).boundary(1.0), None);
        let classes = ordinal.predictions(&[-1.1, -1.0, 9.0], PredictionKind::Class, None);
        assert_eq!(classes.unwrap(), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn the_grade_is_the_most_probable_one() {
        // Grade 1 has so narrow an interval that it is never the most probable.
        let narrow = model("ordinal", &[("grades", "0/1/2"), ("thresholds", "0/0.1")]);
        let grades = narrow.predictions(&[-0.1, 0.04, 0.06, 0.2], PredictionKind::Grade, None);
        assert_eq!(grades.unwrap(), [0.0, 0.0, 2.0, 2.0]);
        let two = model("ordinal", &[("grades", "1/3"), ("thresholds", "0")]);
        let grade = two.predictions(&[0.0], PredictionKind::Grade, None).unwrap();
        assert_eq!(grade, [1.0], "equally probable: the lowest");
    }

    #[test]
    fn models_that_only_rank_are_refused_with_those_that_predict() {
        let error = model("lambda(metric=ndcg@10)", &[])
            .predictions(&[0.0], PredictionKind::Grade, None)
            .unwrap_err();
        assert!(error.to_string().contains("lambda(metric=ndcg@10)"), "{error}");
        assert!(error.to_string().contains("mart(loss=ordinal)"), "{error}");
        let svm = model("hinge(rel=2)", &[]);
        assert!(svm.predictions(&[0.0], PredictionKind::Probability, None).is_err());
        let error = svm.predictions(&[0.0], PredictionKind::Class, Some(1.0)).unwrap_err();
        assert!(matches!(error, ModelError::OtherRelevance { model: 2.0, given: 1.0 }));
        for notes in [&[][..], &[("grades", "0/1"), ("thresholds", "1/0")]] {
            let error = model("ordinal", notes).predictions(&[0.0], PredictionKind::Grade, None);
            assert!(matches!(error, Err(ModelError::NoGrades)));
        }
        assert!(svm.predictions(&[], PredictionKind::Class, None).unwrap().is_empty());
    }
}
