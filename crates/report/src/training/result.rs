//! The numbers of a training report as one serialisable result.

use rankwright_eval::MeasureResult;
use rankwright_learn::AutoReport;
use serde::{Serialize, Serializer};

use super::labels::LabelRanksResult;
use super::{
    Curve, CurveOrigin, Importances, Lambdas, PhaseTimes, QueryForces, ReportPart, TrainingReport,
};
use crate::serialise::or_reason;

/// The JSON of a training report.
#[derive(Serialize)]
struct TrainingResult<'a, W> {
    /// Name of the model.
    model: &'a str,
    /// Name of a round, such as `tree`.
    unit: &'a str,
    /// The numbers of rounds after which the partial model was evaluated (the stages of the
    /// training).
    stages: &'a [usize],
    /// Number of rounds at the best value of the first metric on the first validation set.
    best: Option<usize>,
    /// Values of the whole model on each data set.
    values: Vec<SetValue<'a>>,
    /// Origin of the curves: `log` (the training log) or `trees` (the first trees of the model,
    /// evaluated again); null if there are no curves.
    curves_from: Option<CurveOrigin>,
    /// Learning curves, one for each metric.
    curves: &'a [Curve],
    /// The sizes of lambdas by stage, or the reason why they are left out.
    #[serde(serialize_with = "or_reason")]
    lambdas: &'a ReportPart<Lambdas>,
    /// The ranks of documents by label and stage.
    labels: LabelRanksResult<'a>,
    /// The forces (negative lambdas) on the documents of one query, or the reason why they are
    /// left out.
    #[serde(serialize_with = "or_reason")]
    forces: &'a ReportPart<QueryForces>,
    /// Seconds of each phase of the training, or the reason why they are left out.
    #[serde(serialize_with = "or_reason")]
    time: &'a ReportPart<PhaseTimes>,
    /// The candidates of an automatic training; left out for other learners.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a AutoReport>,
    /// The importance of features.
    importance: &'a Importances,
    /// The number of each tree that is shown as a diagram, from 1, or the reason why none is shown.
    #[serde(serialize_with = "or_reason")]
    trees: ReportPart<Vec<usize>>,
    /// Warnings about the data and the model.
    warnings: &'a [W],
}

/// The value of one metric for the whole model on one data set.
#[derive(Serialize)]
struct SetValue<'a> {
    /// Name of the data set.
    data: &'a str,
    /// The metric.
    metric: String,
    /// The conventions of the metric: how ties, unjudged documents and so on are treated.
    convention: &'a str,
    /// The value.
    value: f64,
    /// Number of queries that have a value.
    queries: usize,
    /// 95 % confidence interval of the value.
    ci95: Option<(f64, f64)>,
}

impl<'a> SetValue<'a> {
    fn new(data: &'a str, result: &'a MeasureResult) -> Self {
        SetValue {
            data,
            metric: result.measure.to_string(),
            convention: &result.convention,
            value: result.value,
            queries: result.queries,
            ci95: result.ci95,
        }
    }
}

impl TrainingReport {
    /// The numbers of the report as a serialisable value, with these warnings in place of its own:
    /// a caller that read the data may have more warnings.
    pub fn result_with<'a, W: Serialize>(&'a self, warnings: &'a [W]) -> impl Serialize + 'a {
        TrainingResult {
            model: &self.name,
            unit: &self.stages.unit,
            stages: &self.stages.numbers,
            best: self.best(),
            values: self
                .values
                .iter()
                .flat_map(|(name, found)| found.results.iter().map(|r| SetValue::new(name, r)))
                .collect(),
            curves_from: self.curves_from,
            curves: &self.curves,
            lambdas: &self.lambdas,
            labels: self.labels.result(&self.stages),
            forces: &self.forces,
            time: &self.phases,
            choice: self.choice.as_ref(),
            importance: &self.importance,
            trees: self.drawn_trees(),
            warnings,
        }
    }
}

impl TrainingReport {
    /// The number of each tree that is shown as a diagram, or the reason why there are none.
    fn drawn_trees(&self) -> ReportPart<Vec<usize>> {
        match &self.trees {
            Ok(drawings) => Ok(drawings.iter().map(|(number, _)| *number).collect()),
            Err(reason) => Err(reason.clone()),
        }
    }
}

impl Serialize for TrainingReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.result_with(&self.warnings).serialize(serializer)
    }
}
