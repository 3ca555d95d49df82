//! Two goals traded against each other: a point for each training, with the value of both goals on
//! the validation data.
//!
//! A training is *dominated* if another one is at least as good by both goals and better by one: no
//! weight of the goals would choose it. The others are the trade-off curve, but for trainings of which
//! a goal has no value. For some metrics, such as inversions, lower values are better. Rounds were chosen on
//! the validation data itself, so that values there are slightly too good, for each training alike.

use rankwright_eval::compare::Better;
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
    /// Whether higher or lower values of each goal are better.
    pub better: [Better; 2],
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
    fn dominates(&self, other: &TradeOffPoint, better: [Better; 2]) -> bool {
        let goodness = |point: &TradeOffPoint, goal: usize| match better[goal] {
            Better::Higher => point.values[goal].value,
            Better::Lower => -point.values[goal].value,
        };
        let [[a, b], [c, d]] = [self, other].map(|point| [goodness(point, 0), goodness(point, 1)]);
        a >= c && b >= d && (a > c || b > d)
    }

    /// Whether both goals have a value.
    fn has_values(&self) -> bool {
        self.numbers().iter().all(|value| !value.is_nan())
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
    /// Whether each training is dominated by another one, or lacks the value of a goal, so that it is
    /// not on the curve.
    pub dominated: Vec<bool>,
}

impl TradeOffReport {
    /// Finds the trainings that no other one dominates.
    pub fn new(input: &TradeOffInput<'_>, points: Vec<TradeOffPoint>) -> Result<Self, ReportError> {
        if points.is_empty() {
            return Err(ReportError::NoTraining);
        }
        let is_dominated = |point: &TradeOffPoint| {
            !point.has_values() || points.iter().any(|other| other.dominates(point, input.better))
        };
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
            // Trainings of equal values are all on the curve.
            (Some(low), Some(high)) if low.numbers() != high.numbers() => {
                let ([a, b], [c, d]) = (low.numbers(), high.numbers());
                let trainings = counted(curve.len(), "training");
                let changes = if d < b { "lowers" } else { "raises" };
                format!(
                    "Raising {first} from {a:.4} to {c:.4} {changes} {second} from {b:.4} to \
                     {d:.4}; the curve has {trainings}."
                )
            }
            (None, _) => "No training has a value of both goals.".to_owned(),
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
            let points = self.points.iter().filter(|point| point.has_values());
            let points = sorted(points.filter(wanted));
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
        if !self.points.iter().any(TradeOffPoint::has_values) {
            let text = PageBlock::Text("No training has a value of both goals.".into());
            return section("curve", "Trade-off curve", vec![text]);
        }
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
            points: {
                let points = weighted.iter().map(|(weight, values)| (*weight, values[goal]));
                points.filter(|(_, value)| !value.is_nan()).collect()
            },
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
            body: {
                let lines = [series(0), series(1)].into_iter();
                Body::Lines(lines.filter(|line| !line.points.is_empty()).collect())
            },
        };
        let has_no_points = matches!(&chart.body, Body::Lines(lines) if lines.is_empty());
        let blocks = match has_no_points {
            true if !weighted.is_empty() => {
                vec![PageBlock::Text("No training with a weight has a value.".into())]
            }
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

/// A training, and whether it is left out of the curve.
#[derive(Serialize)]
struct PointResult<'a> {
    /// The training.
    #[serde(flatten)]
    point: &'a TradeOffPoint,
    /// Whether another training is at least as good by both goals and better by one, or a goal has no
    /// value.
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
        report_of([Better::Higher; 2], values)
    }

    fn report_of(better: [Better; 2], values: &[[f64; 2]]) -> TradeOffReport {
        let data = Dataset::from_dense(&[0.5], 1, [1], ["q"]).unwrap();
        let named = NamedData { name: "valid.txt", data: &data };
        let goals = ["ndcg@10".to_owned(), "ndcg@10 on clicks".to_owned()];
        let learner = "lambdamart".to_owned();
        let input = TradeOffInput { learner, goals, better, train: named, valid: named, seed: 1 };
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
        assert!(found.page().summary.contains("not in conflict"), "{}", found.page().summary);
    }

    #[test]
    fn lower_values_are_better_for_some_goals() {
        let values = [[3.0, 0.5], [2.0, 0.5], [5.0, 0.9], [6.0, 0.8]];
        let found = report_of([Better::Lower, Better::Higher], &values);
        assert_eq!(found.dominated, [true, false, false, true]);
    }

    #[test]
    fn a_training_without_a_value_is_not_on_the_curve() {
        let found = report(&[[f64::NAN, 0.9], [0.8, 0.5], [0.7, f64::NAN]]);
        assert_eq!(found.dominated, [true, false, true]);
        let page = found.page();
        for section in &page.sections {
            let PageBlock::Chart(chart) = &section.blocks[0] else { continue };
            assert!(!chart.to_svg().unwrap().contains("NaN"));
        }
        let none = report(&[[f64::NAN; 2]]).page();
        assert!(none.summary.contains("No training has a value"), "{}", none.summary);
        let has_chart = |section: &Section| matches!(section.blocks[0], PageBlock::Chart(_));
        assert!(!none.sections.iter().any(has_chart));
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
