//! Two goals traded against each other: a point for each training, with the value of both goals on
//! the validation data.
//!
//! A training is *dominated* if another one is at least as good by both goals and better by one: no
//! weight of the goals would choose it. The others are the trade-off curve. Rounds were chosen on
//! the validation data itself, so that values there are slightly too good, for each training alike.

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;
use serde::{Serialize, Serializer};

use super::NamedData;
use crate::chart::{Axis, Body, Chart, Series};
use crate::error::ReportError;
use crate::page::{Page, PageBlock, Section};
use crate::warning::ReportWarning;

/// The trainings of a trade-off.
#[derive(Debug, Clone)]
pub struct TradeOffInput<'a> {
    /// The learner before its metric and labels are replaced, as a spec.
    pub learner: String,
    /// The two goals: a metric, and its column of labels if it is not the data's own.
    pub goals: [String; 2],
    /// Training data.
    pub train: NamedData<'a>,
    /// Validation data.
    pub valid: NamedData<'a>,
    /// Seed of every training.
    pub seed: u64,
}

/// The rule by which a training mixes two goals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TradeOffSetting {
    /// The weight of the second goal; that of the first is 1 minus this.
    Weight(f64),
    /// The first goal is kept within this tolerance (`goal=keep(METRIC, TOLERANCE)`): the second one
    /// counts only for pairs whose swap changes the first by at most this much.
    Tolerance(f64),
}

impl std::fmt::Display for TradeOffSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Weight(weight) => write!(f, "weight {weight}"),
            Self::Tolerance(tolerance) => write!(f, "kept within {tolerance}"),
        }
    }
}

/// The value of a goal on the validation data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TradeOffValue {
    /// The mean over queries; NaN if no query has a value.
    pub value: f64,
    /// 95 % confidence interval of the mean.
    pub ci95: Option<(f64, f64)>,
}

impl TradeOffValue {
    /// A value with its interval.
    pub fn new(value: f64, ci95: Option<(f64, f64)>) -> Self {
        Self { value, ci95 }
    }
}

/// A training with one weight or tolerance.
#[derive(Debug, Clone, Serialize)]
pub struct TradeOffPoint {
    /// The weight or the tolerance.
    pub setting: TradeOffSetting,
    /// The learner with it.
    pub learner: String,
    /// The value of each goal on the validation data.
    pub values: [TradeOffValue; 2],
    /// Number of rounds that were kept; `None` for learners without rounds.
    pub rounds: Option<usize>,
    /// Seconds of training.
    pub train_seconds: f64,
}

impl TradeOffPoint {
    /// Whether this training is at least as good by both goals, and better by one.
    fn dominates(&self, other: &TradeOffPoint) -> bool {
        let [a, b] = self.numbers();
        let [c, d] = other.numbers();
        a >= c && b >= d && (a > c || b > d)
    }

    /// The values of the two goals, without their intervals.
    fn numbers(&self) -> [f64; 2] {
        self.values.map(|value| value.value)
    }
}

/// A report on two goals.
#[derive(Debug, Clone)]
pub struct TradeOffReport {
    /// Name and text of facts about the origin of the report.
    pub facts: Vec<(String, String)>,
    /// Warnings for the reader.
    pub warnings: Vec<ReportWarning>,
    /// The two goals.
    pub goals: [String; 2],
    /// Name of the validation data.
    pub valid: String,
    /// The trainings, in the requested order.
    pub points: Vec<TradeOffPoint>,
    /// Whether each training is dominated by another one.
    pub dominated: Vec<bool>,
}

impl TradeOffReport {
    /// Finds the trainings that no other one dominates.
    pub fn new(input: &TradeOffInput<'_>, points: Vec<TradeOffPoint>) -> Result<Self, ReportError> {
        if points.is_empty() {
            return Err(ReportError::NoTraining);
        }
        let is_dominated =
            |point| points.iter().any(|other: &TradeOffPoint| other.dominates(point));
        let dominated = points.iter().map(is_dominated).collect();
        Ok(Self {
            facts: facts(input),
            warnings: Vec::new(),
            goals: input.goals.clone(),
            valid: input.valid.name.to_owned(),
            points,
            dominated,
        })
    }

    /// The trainings that no other one dominates, in ascending order of the first goal.
    pub fn curve(&self) -> Vec<&TradeOffPoint> {
        let kept = self.points.iter().zip(&self.dominated).filter(|(_, dominated)| !**dominated);
        sorted(kept.map(|(point, _)| point))
    }

    /// The report as a page.
    pub fn page(&self) -> Page {
        let [first, second] = &self.goals;
        let curve = self.curve();
        let summary = match (curve.first(), curve.last()) {
            (Some(low), Some(high)) if curve.len() > 1 && low.numbers() != high.numbers() => {
                let ([a, b], [c, d]) = (low.numbers(), high.numbers());
                let trainings = counted(curve.len(), "training");
                format!(
                    "Raising {first} from {a:.4} to {c:.4} lowers {second} from {b:.4} to {d:.4}; \
                     the curve has {trainings}."
                )
            }
            _ => "One training is best by both goals: they are not in conflict here.".to_owned(),
        };
        Page {
            title: "Trade-off".into(),
            summary,
            facts: self.facts.clone(),
            conventions: Vec::new(),
            sections: vec![self.curve_section(), self.weights_section(), self.values_section()],
        }
    }

    /// Both goals against each other.
    fn curve_section(&self) -> Section {
        let [first, second] = &self.goals;
        let points = |name: &str, is_weight: bool| {
            let wanted = |point: &&TradeOffPoint| {
                matches!(point.setting, TradeOffSetting::Weight(_)) == is_weight
            };
            let points = sorted(self.points.iter().filter(wanted));
            Series {
                name: name.to_owned(),
                points: points.iter().map(|point| point.numbers().into()).collect(),
                names: points.iter().map(|point| point.setting.to_string()).collect(),
                ..Series::default()
            }
        };
        let line = Series {
            name: "trade-off curve".to_owned(),
            points: self.curve().iter().map(|point| point.numbers().into()).collect(),
            dashed: true,
            ..Series::default()
        };
        let series = [points("weights", true), points(&format!("{first} kept"), false), line];
        let chart = Chart {
            id: "trade-off".into(),
            title: format!("{second} against {first} on {}", self.valid),
            caption: "A point for each training. No other training is better by both goals than \
                      those on the line."
                .into(),
            x: axis(first),
            y: axis(second),
            body: Body::Points(series.into_iter().filter(|s| !s.points.is_empty()).collect()),
        };
        section("curve", "Trade-off curve", vec![PageBlock::Chart(chart)])
    }

    /// Each goal against the weight of the second.
    fn weights_section(&self) -> Section {
        let mut weighted: Vec<(f64, [f64; 2])> = self
            .points
            .iter()
            .filter_map(|point| match point.setting {
                TradeOffSetting::Weight(weight) => Some((weight, point.numbers())),
                TradeOffSetting::Tolerance(_) => None,
            })
            .collect();
        weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let series = |goal: usize| Series {
            name: self.goals[goal].clone(),
            points: weighted.iter().map(|(weight, values)| (*weight, values[goal])).collect(),
            ..Series::default()
        };
        let chart = Chart {
            id: "trade-off-weights".into(),
            title: format!("Both goals on {} by the weight of the second", self.valid),
            caption: format!(
                "At 0 the learner is trained on {} alone, at 1 on {} alone.",
                self.goals[0], self.goals[1]
            ),
            x: Axis { label: format!("weight of {}", self.goals[1]), ..Axis::default() },
            y: Axis { label: "value".into(), ..Axis::default() },
            body: Body::Lines(vec![series(0), series(1)]),
        };
        let blocks = match weighted.is_empty() {
            true => vec![PageBlock::Text("No training has a weight.".into())],
            false => vec![PageBlock::Chart(chart)],
        };
        section("weights", "Weights", blocks)
    }

    /// The values of all trainings.
    fn values_section(&self) -> Section {
        let text = "The number of rounds of each training was chosen on the validation data itself, \
                    so these values are slightly too good, for all trainings alike.";
        let (id, title) = ("trade-off-values".to_owned(), "Values of both goals".to_owned());
        let table = PageBlock::Table { id, title, table: self.table() };
        section("values", "Values", vec![PageBlock::Text(text.into()), table])
    }

    /// A table with a row for each training.
    pub fn table(&self) -> Table {
        let mut columns = vec![("training".to_owned(), Align::Left)];
        for goal in &self.goals {
            columns.push((goal.clone(), Align::Right));
            columns.push(("95% interval".to_owned(), Align::Right));
        }
        columns.push(("rounds".to_owned(), Align::Right));
        columns.push(("on the curve".to_owned(), Align::Left));
        let mut table = Table::new(columns);
        for (point, dominated) in self.points.iter().zip(&self.dominated) {
            let mut row = vec![Cell::new(point.setting.to_string())];
            for TradeOffValue { value, ci95 } in &point.values {
                row.push(Cell::new(format!("{value:.4}")));
                let interval = ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
                row.push(Cell::new(interval.unwrap_or_else(|| "-".into())));
            }
            row.push(Cell::new(point.rounds.map_or("-".into(), |rounds| rounds.to_string())));
            row.push(Cell::new(if *dominated { "no" } else { "yes" }));
            table.rows.push(row);
        }
        table.notes.push(format!("values on {}", self.valid));
        table
    }

    /// The numbers of the report as a serialisable value, with these warnings in place of its own:
    /// a caller that read the data may have more warnings.
    pub fn result_with<'a, W: Serialize>(&'a self, warnings: &'a [W]) -> impl Serialize + 'a {
        let points = self.points.iter().zip(&self.dominated);
        TradeOffResult {
            goals: &self.goals,
            points: points.map(|(point, &dominated)| PointResult { point, dominated }).collect(),
            warnings,
        }
    }
}

/// The JSON of a report on two goals.
#[derive(Serialize)]
struct TradeOffResult<'a, W> {
    /// The two goals: a metric, and its column of labels if it is not the data's own.
    goals: &'a [String; 2],
    /// The trainings, in the requested order.
    points: Vec<PointResult<'a>>,
    /// Warnings about the data and the models.
    warnings: &'a [W],
}

/// A training, and whether another one is at least as good by both goals and better by one.
#[derive(Serialize)]
struct PointResult<'a> {
    /// The training.
    #[serde(flatten)]
    point: &'a TradeOffPoint,
    /// Whether another training dominates it.
    dominated: bool,
}

impl Serialize for TradeOffReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.result_with(&self.warnings).serialize(serializer)
    }
}

fn section(id: &str, title: &str, blocks: Vec<PageBlock>) -> Section {
    Section { id: id.into(), title: title.into(), blocks }
}

fn axis(goal: &str) -> Axis {
    Axis { label: goal.to_owned(), ..Axis::default() }
}

/// Trainings by the value of the first goal, lowest first; at equal values by the second goal,
/// highest first.
fn sorted<'p>(points: impl Iterator<Item = &'p TradeOffPoint>) -> Vec<&'p TradeOffPoint> {
    let mut points: Vec<&TradeOffPoint> = points.collect();
    points.sort_by(|one, other| {
        let ([a, b], [c, d]) = (one.numbers(), other.numbers());
        a.total_cmp(&c).then(d.total_cmp(&b))
    });
    points
}

/// Name and text of facts about the origin of the report.
fn facts(input: &TradeOffInput<'_>) -> Vec<(String, String)> {
    let size = |set: &NamedData<'_>| {
        let (queries, rows) = (set.data.queries(), set.data.rows());
        format!("{} ({}, {})", set.name, counted(queries, "query"), counted(rows, "document"))
    };
    let facts = [
        ("Learner", input.learner.clone()),
        ("Goals", input.goals.join(", ")),
        ("Training data", size(&input.train)),
        ("Validation data", size(&input.valid)),
        ("Seed", input.seed.to_string()),
        ("Version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    facts.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::Dataset;

    fn report(values: &[[f64; 2]]) -> TradeOffReport {
        let data = Dataset::from_dense(&[0.5], 1, [1], ["q"]).unwrap();
        let named = NamedData { name: "valid.txt", data: &data };
        let goals = ["ndcg@10".to_owned(), "ndcg@10 on clicks".to_owned()];
        let learner = "lambdamart".to_owned();
        let input = TradeOffInput { learner, goals, train: named, valid: named, seed: 1 };
        let point = |(number, values): (usize, &[f64; 2])| TradeOffPoint {
            setting: match number {
                9 => TradeOffSetting::Tolerance(0.005),
                number => TradeOffSetting::Weight(number as f64 / 4.0),
            },
            learner: format!("lambdamart({number})"),
            values: values.map(|value| TradeOffValue::new(value, Some((value - 0.1, value)))),
            rounds: Some(7),
            train_seconds: 0.5,
        };
        TradeOffReport::new(&input, values.iter().enumerate().map(point).collect()).unwrap()
    }

    #[test]
    fn trainings_that_no_other_dominates_are_the_curve() {
        let found = report(&[[0.9, 0.2], [0.8, 0.5], [0.7, 0.5], [0.5, 0.7], [0.5, 0.6]]);
        assert_eq!(found.dominated, [false, false, true, false, true]);
        let curve: Vec<[f64; 2]> = found.curve().iter().map(|point| point.numbers()).collect();
        assert_eq!(curve, [[0.5, 0.7], [0.8, 0.5], [0.9, 0.2]]);
        let page = found.page();
        assert!(page.summary.contains("0.5000 to 0.9000") && page.summary.contains("3 trainings"));
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(json["points"][2]["dominated"], true);
        assert_eq!(json["points"][1]["setting"]["weight"], 0.25);
        assert_eq!(json["points"][1]["values"][1]["value"], 0.5);
        assert_eq!(found.table().rows.len(), 5);
    }

    #[test]
    fn goals_without_a_conflict_have_one_point_and_equal_points_stay() {
        let found = report(&[[0.9, 0.7], [0.8, 0.7], [0.9, 0.7]]);
        assert_eq!(found.dominated, [false, true, false]);
        let same = report(&[[0.9, 0.7], [0.8, 0.6]]);
        assert!(same.page().summary.contains("not in conflict"));
    }

    #[test]
    fn the_picture_has_a_named_point_for_each_training_and_the_line() {
        let values: Vec<[f64; 2]> =
            (0..10).map(|i| [0.9 - 0.05 * i as f64, 0.1 * i as f64]).collect();
        let page = report(&values).page();
        let PageBlock::Chart(chart) = &page.sections[0].blocks[0] else { panic!("no chart") };
        let Body::Points(series) = &chart.body else { panic!("no points") };
        assert_eq!(series.iter().map(|s| s.points.len()).collect::<Vec<_>>(), [9, 1, 10]);
        assert_eq!(series[1].names, ["kept within 0.005"]);
        assert!(series[2].dashed && series[0].names.contains(&"weight 0.25".to_owned()));
        let svg = chart.to_svg().unwrap();
        assert!(svg.contains("<svg") && svg.contains("ndcg@10 on clicks"));
    }
}
