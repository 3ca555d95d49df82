//! Two goals traded against each other: one learner trained with several weights of the second goal,
//! from 0 (the first goal alone) to 1 (the second alone). The trainings of
//! [`TradeOffReport`](rankwright_report::training::TradeOffReport).
//!
//! A goal is a metric on a column of labels. The learner is trained on (1 - w) times the first and w
//! times the second goal: as a sum of metrics (`metric=ndcg@10:0.7+p@5:0.3`) for two metrics, as a
//! sum over columns of labels (`labels=label:0.7+clicks:0.3`) for two columns. For each tolerance the
//! learner is also trained on the second goal with the first one kept (`goal=keep(...)`). Every
//! training has the same data, seed and other parameters, and is measured by both goals.

use rankwright_data::{DEFAULT_SEED, Dataset, MAIN_LABEL};
use rankwright_eval::compare::Better;
use rankwright_eval::{MetricSpec, ScoredDataset, SourceKind, measures_for_model};
use rankwright_learn::simd::Simd;
use rankwright_learn::{LearnError, LearnerSpec, Progress, TrainRequest, ValidationSet};
use rankwright_model::{Model, ScoreOptions};
use rankwright_report::ReportWarning;
use rankwright_report::training::{NamedData, TradeOffInput, TradeOffPoint, TradeOffReport};
use rankwright_report::training::{TradeOffSetting, TradeOffValue};
use rankwright_spec::json_by_text;

use crate::ExperimentError;
use crate::held_out::{HeldOut, hold_out};

/// A goal: a metric on a column of labels.
///
/// ```
/// use rankwright_experiment::TradeOffGoal;
///
/// let goal = TradeOffGoal::parse("ndcg@10 on clicks")?;
/// assert_eq!((goal.metric.to_string().as_str(), goal.labels.as_str()), ("ndcg@10", "clicks"));
/// assert_eq!(TradeOffGoal::parse("p@5")?.labels, "label");
/// # Ok::<(), rankwright_experiment::ExperimentError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOffGoal {
    /// The metric.
    pub metric: MetricSpec,
    /// The name of the column of labels; `label` for the data's own.
    pub labels: String,
}

impl TradeOffGoal {
    /// Reads `METRIC` or `METRIC on COLUMN`.
    pub fn parse(text: &str) -> Result<Self, ExperimentError> {
        let (metric, labels) = text.split_once(" on ").unwrap_or((text, MAIN_LABEL));
        let metric = MetricSpec::parse(metric.trim())?;
        Ok(Self { metric, labels: labels.trim().to_owned() })
    }

    /// Whether higher or lower values are better.
    fn better(&self) -> Result<Better, ExperimentError> {
        Ok(self.metric.resolve(SourceKind::Features)?.metric().better())
    }

    /// The value of this goal for a model's scores of `data`; NaN if no query has one.
    fn value(
        &self,
        data: &Dataset,
        model: &Model,
        scores: &[f64],
    ) -> Result<TradeOffValue, ExperimentError> {
        let known = data.label_column_names().map(str::to_owned).collect();
        let missing = LearnError::LabelColumnMissing { name: self.labels.clone(), known };
        let labels = data.label_column(&self.labels).ok_or(missing)?;
        let measures = [self.metric.resolve(SourceKind::Features)?];
        let measures = measures_for_model(&measures, |rel| model.boundary(rel))?;
        let scored = ScoredDataset::new(data, scores)?.labels(labels)?;
        let found = scored.evaluate(&measures)?;
        let result = found.results.first();
        let value = result.map_or(f64::NAN, |result| result.value);
        Ok(TradeOffValue::new(value, result.and_then(|result| result.ci95)))
    }
}

json_by_text!(TradeOffGoal, TradeOffGoal::to_string, TradeOffGoal::parse);

impl std::fmt::Display for TradeOffGoal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.labels == MAIN_LABEL {
            true => self.metric.fmt(f),
            false => write!(f, "{} on {}", self.metric, self.labels),
        }
    }
}

/// A learner, two goals, and data to train and validate it on.
///
/// ```
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_experiment::{TradeOffGoal, TradeOffRequest};
/// use rankwright_learn::{LearnerSpec, NoProgress};
/// use rankwright_report::training::NamedData;
///
/// let data = LetorOptions { queries: 30, documents: 10, seed: 1 }.generate()?;
/// let learner = LearnerSpec::parse("lambdamart(trees=5, leaves=4)")?;
/// let goals = [TradeOffGoal::parse("ndcg@10")?, TradeOffGoal::parse("p@3")?];
/// let train = NamedData { name: "train.txt", data: &data };
/// let request = TradeOffRequest::new(learner, goals, train).weights(vec![0.0, 0.5, 1.0]);
/// let report = request.run(|_| NoProgress)?.expect("nothing stops it");
/// assert_eq!(report.points.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TradeOffRequest<'a> {
    /// The learner; its metric, its labels and a metric that it keeps are replaced.
    pub learner: LearnerSpec,
    /// The two goals. The name of the data's own labels in their table means the same as `label`.
    pub goals: [TradeOffGoal; 2],
    /// Weights of the second goal, from 0 to 1.
    pub weights: Vec<f64>,
    /// Tolerances with which the first goal is kept; may be empty.
    pub tolerances: Vec<f64>,
    /// Training data.
    pub train: NamedData<'a>,
    /// Validation data, on which models are chosen and measured; `None` holds out a fifth of the
    /// training queries, drawn by the seed.
    pub valid: Option<NamedData<'a>>,
    /// Seed of every training, and of the held-out queries.
    pub seed: u64,
    /// Options of scoring validation data with the model.
    pub score: ScoreOptions,
    /// The SIMD instruction set to use.
    pub simd: Simd,
}

impl<'a> TradeOffRequest<'a> {
    /// The weights of a request that names none.
    pub const DEFAULT_WEIGHTS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];

    /// A request with the default weights and settings.
    pub fn new(learner: LearnerSpec, goals: [TradeOffGoal; 2], train: NamedData<'a>) -> Self {
        Self {
            learner,
            goals,
            weights: Self::DEFAULT_WEIGHTS.to_vec(),
            tolerances: Vec::new(),
            train,
            valid: None,
            seed: DEFAULT_SEED,
            score: ScoreOptions::default(),
            simd: Simd::Auto,
        }
    }

    /// Sets the weights of the second goal.
    #[must_use]
    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the tolerances with which the first goal is kept.
    #[must_use]
    pub fn tolerances(mut self, tolerances: Vec<f64>) -> Self {
        self.tolerances = tolerances;
        self
    }

    /// Sets the validation data.
    #[must_use]
    pub fn valid(mut self, valid: impl Into<Option<NamedData<'a>>>) -> Self {
        self.valid = valid.into();
        self
    }

    /// Sets the seed of every training, and of the held-out queries.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the options of scoring validation data with the model.
    #[must_use]
    pub fn score(mut self, options: ScoreOptions) -> Self {
        self.score = options;
        self
    }

    /// Sets the SIMD instruction set to use.
    #[must_use]
    pub fn simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Trains with every weight and tolerance, and measures both goals. `progress` makes a receiver
    /// of progress events for each training, which is dropped at its end. `None` if a receiver asked
    /// to stop.
    pub fn run<P: Progress>(
        &self,
        mut progress: impl FnMut(&LearnerSpec) -> P,
    ) -> Result<Option<TradeOffReport>, ExperimentError> {
        let learners = self.learners()?;
        let held_out = match &self.valid {
            Some(_) => None,
            None => Some(hold_out(&self.train, self.seed)?),
        };
        let (train, valid) = match (&held_out, self.valid) {
            (None, Some(valid)) => (self.train, valid),
            (Some(held_out), _) => (held_out.train(), held_out.valid()),
            (None, None) => {
                return Err(ExperimentError::Internal { invariant: "there is validation data" });
            }
        };
        let (mut points, mut warnings) = (Vec::new(), Vec::new());
        let goals = self.goals_on_data();
        for (setting, learner) in &learners {
            let receiver = progress(learner);
            let request = TrainRequest::new(train.data)
                .validation_sets([ValidationSet::new(valid.name, valid.data)])
                .seed(self.seed)
                .features(self.score)
                .progress(&receiver)
                .simd(self.simd);
            let outcome = learner.train(request)?;
            if !outcome.finished {
                return Ok(None);
            }
            let text = learner.to_string();
            // Warnings on data are the same for every training.
            let own = outcome.warnings.into_iter().filter(|warning| !warning.is_about_data());
            warnings.extend(
                own.map(|warning| ReportWarning::Training { learner: text.clone(), warning }),
            );
            let scores = outcome.model.score(valid.data, self.score)?;
            let value = |goal: &TradeOffGoal| goal.value(valid.data, &outcome.model, &scores);
            let [first, second] = &goals;
            points.push(TradeOffPoint {
                setting: *setting,
                learner: text,
                values: [value(first)?, value(second)?],
                rounds: outcome.history.kept.as_ref().map(|kept| kept.rounds),
                train_seconds: outcome.history.train_seconds,
            });
        }
        let input = TradeOffInput {
            learner: self.learner.to_string(),
            goals: [self.goals[0].to_string(), self.goals[1].to_string()],
            better: [self.goals[0].better()?, self.goals[1].better()?],
            train,
            valid,
            seed: self.seed,
        };
        let mut report = TradeOffReport::new(&input, points)?;
        report.warnings.extend(held_out.as_ref().map(HeldOut::warning));
        report.warnings.extend(warnings);
        Ok(Some(report))
    }

    /// The goals, with `label` in place of the name that the data's own labels have in their table.
    fn goals_on_data(&self) -> [TradeOffGoal; 2] {
        let data = self.train.data;
        let is_own = |name: &str| {
            data.is_main_label(name) && data.label_column_names().all(|other| other != name)
        };
        self.goals.clone().map(|goal| match is_own(&goal.labels) {
            true => TradeOffGoal { labels: MAIN_LABEL.to_owned(), ..goal },
            false => goal,
        })
    }

    /// The learner of each training, with its weight or tolerance. An error if the goals are equal or
    /// differ in both metric and labels, a weight is not from 0 to 1, or the learner does not take
    /// the parameters.
    pub fn learners(&self) -> Result<Vec<(TradeOffSetting, LearnerSpec)>, ExperimentError> {
        let goals = self.goals_on_data();
        let [first, second] = &goals;
        let (same_metric, same_labels) =
            (first.metric == second.metric, first.labels == second.labels);
        if same_metric == same_labels {
            let goals = [first.to_string(), second.to_string()];
            return Err(ExperimentError::Goals { goals });
        }
        if self.weights.is_empty() && self.tolerances.is_empty() {
            return Err(ExperimentError::NoWeights);
        }
        if let Some(weight) = self.weights.iter().find(|weight| !(0.0..=1.0).contains(*weight)) {
            return Err(ExperimentError::BadGoalWeight { weight: *weight });
        }
        let mut learners = Vec::new();
        for &weight in &self.weights {
            learners.push((TradeOffSetting::Weight(weight), self.weighted(&goals, weight)?));
        }
        for &tolerance in &self.tolerances {
            learners
                .push((TradeOffSetting::Tolerance(tolerance), self.keeping(&goals, tolerance)?));
        }
        Ok(learners)
    }

    /// The learner on both goals, the second one with this weight.
    fn weighted(
        &self,
        [first, second]: &[TradeOffGoal; 2],
        weight: f64,
    ) -> Result<LearnerSpec, ExperimentError> {
        let mix = |one: &str, two: &str| match weight {
            0.0 => one.to_owned(),
            1.0 => two.to_owned(),
            weight => format!("{one}:{}+{two}:{weight}", rounded(1.0 - weight)),
        };
        let (metric, labels) = match first.labels == second.labels {
            true => {
                let metric = mix(&first.metric.to_string(), &second.metric.to_string());
                (metric, first.labels.clone())
            }
            false => (first.metric.to_string(), mix(&first.labels, &second.labels)),
        };
        let learner = self.learner.with_parameter("metric", metric)?;
        let kept = learner.parameter("goal").filter(|goal| goal != "none");
        let learner = match kept {
            Some(_) => learner.with_parameter("goal", "none")?,
            None => learner,
        };
        Ok(with_labels(&learner, &labels)?)
    }

    /// The learner on the second goal, with the first one kept within a tolerance.
    fn keeping(
        &self,
        [first, second]: &[TradeOffGoal; 2],
        tolerance: f64,
    ) -> Result<LearnerSpec, ExperimentError> {
        if first.labels != MAIN_LABEL {
            return Err(ExperimentError::KeptLabels { labels: first.labels.clone() });
        }
        let learner = self.learner.with_parameter("metric", second.metric.to_string())?;
        let learner =
            learner.with_parameter("goal", format!("keep({}, {tolerance})", first.metric))?;
        Ok(with_labels(&learner, &second.labels)?)
    }
}

/// The learner with `labels=` set to these, in place of those that it names. A learner without the
/// parameter trains on the data's own labels, so that it can trade two metrics.
fn with_labels(
    learner: &LearnerSpec,
    labels: &str,
) -> Result<LearnerSpec, rankwright_spec::SpecError> {
    let trains_on = learner.parameter("labels").unwrap_or_else(|| MAIN_LABEL.to_owned());
    match trains_on == labels {
        true => Ok(learner.clone()),
        false => learner.with_parameter("labels", labels),
    }
}

/// A weight without rounding errors: `1.0 - 0.8` is 0.2 instead of 0.19999999999999996. A weight above 0 stays
/// above 0.
fn rounded(weight: f64) -> f64 {
    let rounded = (weight * 1e9).round() / 1e9;
    if rounded > 0.0 { rounded } else { weight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::format::Role;
    use rankwright_data::{TableColumn, TableColumns};
    use rankwright_learn::NoProgress;

    /// A hundred queries of two documents that a model tells apart by one feature: judges find the
    /// first one relevant, users click the second one.
    fn conflict() -> Dataset {
        let row = |first: f64, second: f64| (0..200).map(move |r| [first, second][r % 2]);
        Dataset::builder()
            .rows((0..200).map(|row| [f32::from(u8::from(row % 2 == 0))]))
            .labels(row(1.0, 0.0))
            .label_column("clicks", row(0.0, 1.0))
            .query_ids((0..200).map(|row| row / 2))
            .build()
            .unwrap()
    }

    fn request<'a>(data: &'a Dataset, goals: [&str; 2]) -> TradeOffRequest<'a> {
        let learner = "lambdamart(trees=3, leaves=2, min_rows=1, norm_query=false)";
        let goals = goals.map(|goal| TradeOffGoal::parse(goal).unwrap());
        let named = NamedData { name: "data", data };
        TradeOffRequest::new(LearnerSpec::parse(learner).unwrap(), goals, named).valid(named)
    }

    /// The pair of every query is worth the same in both columns, so that the heavier one wins;
    /// relevance that is kept wins whatever the clicks say, unless its loss is within the tolerance.
    #[test]
    fn the_heavier_column_wins_and_a_kept_one_is_kept() {
        let data = conflict();
        let request = request(&data, ["ndcg@2", "ndcg@2 on clicks"])
            .weights(vec![0.0, 0.4, 0.6, 1.0])
            .tolerances(vec![0.005, 0.9]);
        let report = request.run(|_| NoProgress).unwrap().unwrap();
        let values: Vec<[f64; 2]> =
            report.points.iter().map(|point| point.values.map(|v| v.value)).collect();
        // Its only relevant document at rank 2 gives a list 1 / log2(3).
        let second = 1.0 / 3.0_f64.log2();
        let [judges, users] = [[1.0, second], [second, 1.0]];
        let expected = [judges, judges, users, users, judges, users];
        for (number, (found, expected)) in values.iter().zip(expected).enumerate() {
            let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
            // With both within the tolerance, they count alike and balance.
            assert!(is_near || number == 5, "{number}: {found:?} {expected:?}");
        }
        assert_eq!(
            report.points[1].learner,
            "lambdamart(trees=3, leaves=2, min_rows=1, metric=ndcg@2, norm_query=false, \
             labels=label:0.6+clicks:0.4)"
        );
        assert!(report.points[4].learner.contains("goal=keep(ndcg@2, 0.005)"));
        assert!(report.points[4].learner.contains("labels=clicks:1"));
    }

    #[test]
    fn two_metrics_are_a_sum_of_metrics() {
        let data = conflict();
        let learners = request(&data, ["ndcg@10", "p@1"]).weights(vec![0.0, 0.2]).learners();
        let learners: Vec<String> =
            learners.unwrap().into_iter().map(|(_, learner)| learner.to_string()).collect();
        assert!(!learners[0].contains("p@1") && !learners[0].contains("labels"), "{learners:?}");
        assert!(learners[1].contains("ndcg@10:0.8+p@1:0.2"), "{learners:?}");
    }

    /// Labels and a kept metric of the learner itself give way to those of the goals.
    #[test]
    fn labels_of_the_learner_are_replaced() {
        let data = conflict();
        let mut request = request(&data, ["ndcg@2", "p@1"]).weights(vec![0.0, 0.5]);
        let own = "lambdamart(trees=3, labels=clicks:1, goal=keep(p@2, 0.1))";
        request.learner = LearnerSpec::parse(own).unwrap();
        for (_, learner) in request.learners().unwrap() {
            assert!(!learner.to_string().contains("clicks"), "{learner}");
            assert!(!learner.to_string().contains("keep"), "{learner}");
        }
    }

    #[test]
    fn the_name_of_the_labels_in_their_table_means_the_labels() {
        let columns =
            [TableColumn::new("grade", Role::Label), TableColumn::new("x", Role::Feature)];
        let columns = TableColumns::new(columns.to_vec()).unwrap();
        let data = Dataset::builder()
            .rows([[0.5_f32], [0.25]])
            .feature_names(["x"])
            .labels([1.0, 0.0])
            .label_column("clicks", [0.0, 1.0])
            .query_ids(["a", "a"])
            .table_columns(columns)
            .build()
            .unwrap();
        let kept = request(&data, ["p@1 on grade", "p@1 on clicks"]).tolerances(vec![0.1]);
        let learners = kept.weights(vec![0.5]).learners().unwrap();
        assert!(learners[0].1.to_string().contains("labels=label:0.5+clicks:0.5"));
        assert!(learners[1].1.to_string().contains("goal=keep(p@1, 0.1)"));
        let same = request(&data, ["p@1 on grade", "p@1"]).learners();
        assert!(matches!(same.unwrap_err(), ExperimentError::Goals { .. }));
    }

    #[test]
    fn weights_next_to_0_and_1_are_weights() {
        let data = conflict();
        let weights = vec![1e-12, 1.0 - 1e-12];
        let learners = request(&data, ["p@1", "p@1 on clicks"]).weights(weights).learners();
        let learners = learners.unwrap();
        let labels = learners.iter().map(|(_, learner)| learner.parameter("labels").unwrap());
        assert!(labels.into_iter().all(|labels| labels.contains('+')), "{learners:?}");
    }

    #[test]
    fn goals_that_are_equal_or_differ_in_both_are_refused() {
        let data = conflict();
        let error = |goals: [&str; 2], weights: &[f64]| {
            request(&data, goals).weights(weights.to_vec()).learners().unwrap_err()
        };
        for goals in [["p@1", "p@1"], ["p@1", "ndcg@10 on clicks"]] {
            assert!(matches!(error(goals, &[0.5]), ExperimentError::Goals { .. }));
        }
        let goals = ["p@1", "ndcg@10"];
        assert!(matches!(error(goals, &[1.5]), ExperimentError::BadGoalWeight { weight: 1.5 }));
        assert!(matches!(error(goals, &[]), ExperimentError::NoWeights));
        let kept = request(&data, ["p@1 on clicks", "p@1"]).tolerances(vec![0.1]).learners();
        assert!(matches!(kept.unwrap_err(), ExperimentError::KeptLabels { .. }));
        let unknown = request(&data, ["p@1", "p@1 on sales"]).run(|_| NoProgress).unwrap_err();
        assert!(unknown.to_string().contains("'sales'"), "{unknown}");
    }
}
