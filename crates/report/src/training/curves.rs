//! Learning curves: each metric against rounds, on training and validation data.
//!
//! For tree models the values are recomputed with the first trees only (`stages.rs`), so that any
//! metric and any data can be requested. For other learners they come from the log of the training,
//! with its metrics and data sets. The best round is that of the best value on validation data (the
//! earliest among equals). Training data alone has no best round, because more rounds nearly always
//! fit it better.

use rankwright_eval::compare::Better;
use rankwright_eval::{Measure, MetricSpec};
use rankwright_learn::TrainingHistory;
use rankwright_spec::words::{counted, plural};
use serde::Serialize;

use super::stages::Stages;
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series};
use crate::metric_axis::metric_axis;
use crate::serialise::as_map;

/// The names of a round in trainings whose rounds are separate models: a blend, bagging and the
/// automatic choice.
const UNITS_OF_MODELS: [&str; 3] = ["member", "bag", "model"];

/// Maximum number of points of a line that comes from a log.
const POINTS: usize = 200;

/// One metric against rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The metric.
    pub metric: String,
    /// The conventions of the metric: how ties, unjudged documents and so on are treated.
    pub convention: String,
    /// Number of rounds at each point.
    pub rounds: Vec<usize>,
    /// Name of each data set and its value at each point; NaN if there is no value.
    #[serde(rename = "values", serialize_with = "as_map")]
    pub sets: Vec<(String, Vec<f64>)>,
    /// The best value on the validation data.
    pub best: Option<BestRound>,
    /// Index of the data set that determines the best round.
    #[serde(skip)]
    pub deciding_set: usize,
    /// Whether each round is a separate model, such as a member of a blend, rather than a step of
    /// one model.
    #[serde(skip)]
    pub separate_models: bool,
}

/// The best value of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BestRound {
    /// Number of rounds.
    pub rounds: usize,
    /// Value of the metric.
    pub value: f64,
}

impl Curve {
    /// Curves of measures at stages (numbers of trees), from `values[stage][set][measure]`. The set
    /// with the index `deciding_set` determines the best round.
    pub fn measured(
        measures: &[Measure],
        stages: &Stages,
        sets: &[&str],
        values: &[Vec<Vec<f64>>],
        deciding_set: Option<usize>,
    ) -> Vec<Curve> {
        let curve = |(m, measure): (usize, &Measure)| {
            let line = |set: usize| values.iter().map(|stage| stage[set][m]).collect();
            let named = sets.iter().enumerate().map(|(set, name)| ((*name).to_owned(), line(set)));
            let mut curve = Curve {
                metric: measure.to_string(),
                convention: measure.convention().to_owned(),
                rounds: stages.numbers.clone(),
                sets: named.collect(),
                best: None,
                deciding_set: deciding_set.unwrap_or(0),
                separate_models: false,
            };
            curve.best =
                deciding_set.and_then(|set| curve.find_best(set, measure.metric().better()));
            curve
        };
        measures.iter().enumerate().map(curve).collect()
    }

    /// Curves from the log of a training; empty if it has no metrics.
    pub fn from_log(history: &TrainingHistory) -> Vec<Curve> {
        let shown = thinned_indices(history.iterations.len(), POINTS, history.best);
        let deciding_set = history.deciding_set();
        let curve = |(m, metric): (usize, &String)| {
            let value = |i: usize, set: usize| -> f64 {
                let values = &history.iterations[i].values;
                values.get(set).and_then(|set| set.get(m)).copied().unwrap_or(f64::NAN)
            };
            let line = |set: usize| shown.iter().map(|i| value(*i, set)).collect();
            let sets = history.sets.iter().enumerate().map(|(set, name)| (name.clone(), line(set)));
            let mut curve = Curve {
                metric: metric.clone(),
                convention: history.conventions.get(m).cloned().unwrap_or_default(),
                rounds: shown.iter().map(|i| history.iterations[*i].number).collect(),
                sets: sets.collect(),
                best: None,
                deciding_set: deciding_set.unwrap_or(0),
                separate_models: UNITS_OF_MODELS.contains(&history.unit.as_str()),
            };
            let deciding_set = deciding_set.filter(|_| !curve.separate_models);
            curve.best = deciding_set.and_then(|set| curve.find_best(set, better(metric)));
            curve
        };
        match history.sets.is_empty() || shown.is_empty() {
            true => Vec::new(),
            false => history.metrics.iter().enumerate().map(curve).collect(),
        }
    }

    /// The best value of a data set, the earliest among equals.
    fn find_best(&self, set: usize, better: Better) -> Option<BestRound> {
        let (_, values) = self.sets.get(set)?;
        let mut best: Option<(usize, f64)> = None;
        for (round, value) in self.rounds.iter().zip(values).filter(|(_, v)| !v.is_nan()) {
            let is_better = best.is_none_or(|(_, best_value)| match better {
                Better::Higher => *value > best_value,
                Better::Lower => *value < best_value,
            });
            if is_better {
                best = Some((*round, *value));
            }
        }
        best.map(|(rounds, value)| BestRound { rounds, value })
    }

    /// The name of the data set that determines the best round.
    pub(super) fn deciding_name(&self) -> &str {
        self.sets.get(self.deciding_set).map_or("validation data", |(name, _)| name.as_str())
    }

    /// A chart with a bar for each round, where rounds are separate models.
    fn bar_chart(&self, number: usize, unit: &str, source: &str) -> Chart {
        let series = self.sets.iter().map(|(name, values)| BarSeries {
            name: name.clone(),
            values: values.clone(),
            ..BarSeries::default()
        });
        let bars = Bars {
            categories: self.rounds.iter().map(usize::to_string).collect(),
            series: series.collect(),
            grouping: Grouping::Beside,
            horizontal: false,
        };
        Chart {
            id: format!("curve-{number}"),
            title: format!("{} of each {unit} alone", self.metric),
            caption: source.to_owned(),
            x: Axis { label: unit.to_owned(), ..Axis::default() },
            y: metric_axis(&self.metric),
            body: Body::Bars(bars),
        }
    }

    /// The curve as a chart. `number` makes its id unique, `unit` is the name of a round (`tree`,
    /// `epoch`), and `source` is a sentence about the origin of the values.
    pub(super) fn chart(&self, number: usize, unit: &str, source: &str) -> Chart {
        if self.separate_models {
            return self.bar_chart(number, unit, source);
        }
        let series = |(name, values): &(String, Vec<f64>)| Series {
            name: name.clone(),
            points: self.rounds.iter().map(|r| *r as f64).zip(values.iter().copied()).collect(),
            ..Series::default()
        };
        let mut lines: Vec<Series> = self.sets.iter().map(series).collect();
        let mut caption = source.to_owned();
        if let Some(BestRound { rounds, value }) = self.best {
            let counted_rounds = counted(rounds, unit);
            caption = format!(
                "The best value on {} is {value:.4}, after {counted_rounds} (dashed line). \
                 {caption}",
                self.deciding_name()
            );
            lines.push(self.best_line(rounds, &counted_rounds));
        }
        let mut x = Axis { label: plural(unit), ..Axis::default() };
        let omitted = self.omitted_points();
        if let (Some(first), Some(last)) = (self.rounds.get(omitted), self.rounds.last())
            && omitted > 0
        {
            x.range = Some((*first as f64, *last as f64));
            caption = format!(
                "{caption} The plot begins at {unit} {first}, because the values before it are far \
                 from the others; the table of numbers below has all of them."
            );
        }
        Chart {
            id: format!("curve-{number}"),
            title: format!("{} against {}", self.metric, plural(unit)),
            caption,
            x,
            y: metric_axis(&self.metric),
            body: Body::Lines(lines),
        }
    }

    /// Number of points at the start that the plot omits: the fewest for which the range of the
    /// remaining values is at most twice the range without the first tenth; at most that tenth.
    /// Otherwise the rise over the first rounds fills the plot, and all later rounds are a flat
    /// line.
    fn omitted_points(&self) -> usize {
        let width = |from: usize| {
            let values = self.sets.iter().flat_map(|(_, values)| values.iter().skip(from));
            let finite = values.copied().filter(|v| v.is_finite());
            let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                (low.min(v), high.max(v))
            });
            high - low
        };
        // The best round stays in the plot.
        let best = self.best.and_then(|best| self.rounds.iter().position(|r| *r == best.rounds));
        let max_omitted = (self.rounds.len() / 10).min(best.unwrap_or(usize::MAX));
        let later = width(max_omitted);
        if later <= 0.0 || !later.is_finite() {
            return 0;
        }
        (0..=max_omitted).find(|from| width(*from) <= 2.0 * later).unwrap_or(0)
    }

    /// A vertical dashed line at the best round, over the range of the shown values.
    fn best_line(&self, rounds: usize, counted_rounds: &str) -> Series {
        let omitted = self.omitted_points();
        let finite = || {
            let values = self.sets.iter().flat_map(|(_, values)| values.iter().skip(omitted));
            values.copied().filter(|v| v.is_finite())
        };
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let x = rounds as f64;
        Series {
            name: format!("best: {counted_rounds}"),
            points: vec![(x, low), (x, high)],
            dashed: true,
            ..Series::default()
        }
    }
}

/// Whether higher or lower values of a metric are better; higher for a name that is not a known
/// metric.
fn better(metric: &str) -> Better {
    let spec = MetricSpec::parse(metric);
    let measure = spec.and_then(|spec| spec.resolve(rankwright_eval::SourceKind::Features));
    measure.map_or(Better::Higher, |measure| measure.metric().better())
}

/// Indices into a list of `count` rounds: about `points` evenly spread ones, with the last and the
/// best round. `best` is the number of the best round, from 1.
pub(super) fn thinned_indices(count: usize, points: usize, best: Option<usize>) -> Vec<usize> {
    let step = count.div_ceil(points.max(1)).max(1);
    let mut indices: Vec<usize> = (0..count).step_by(step).collect();
    indices.extend(count.checked_sub(1));
    indices.extend(best.and_then(|best| best.checked_sub(1)).filter(|index| *index < count));
    indices.sort_unstable();
    indices.dedup();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_learn::{Iteration, PhaseSeconds};

    /// Four rounds with the values 1, 2, 3, 4 on training data and 0.1, 0.4, 0.4, 0.2 on validation
    /// data.
    fn history() -> TrainingHistory {
        let round = |number: usize| Iteration {
            number,
            leaves: None,
            loss: None,
            step: None,
            values: vec![vec![number as f64], vec![[0.1, 0.4, 0.4, 0.2][number - 1]]],
            seconds: PhaseSeconds::default(),
        };
        TrainingHistory {
            sets: vec!["training".into(), "valid.txt".into()],
            metrics: vec!["ndcg@10".into()],
            conventions: vec!["gain=exp".into()],
            iterations: (1..=4).map(round).collect(),
            ..TrainingHistory::default()
        }
    }

    #[test]
    fn curves_of_a_log_have_its_data_sets_and_the_earliest_best_round() {
        let curves = Curve::from_log(&history());
        assert_eq!(curves[0].rounds, [1, 2, 3, 4]);
        assert_eq!(curves[0].sets[0], ("training".to_owned(), vec![1.0, 2.0, 3.0, 4.0]));
        assert_eq!(curves[0].best, Some(BestRound { rounds: 2, value: 0.4 }));
        let chart = curves[0].chart(1, "epoch", "From the log.");
        assert!(matches!(&chart.body, Body::Lines(lines) if lines.len() == 3 && lines[2].dashed));
        assert!(chart.caption.contains("after 2 epochs"), "{}", chart.caption);
        let mut training_only = history();
        training_only.sets.truncate(1);
        assert_eq!(Curve::from_log(&training_only)[0].best, None, "training data has no best");
        assert!(Curve::from_log(&TrainingHistory::default()).is_empty());
    }

    #[test]
    fn the_deciding_set_is_named_and_separate_models_have_no_best() {
        assert_eq!(Curve::from_log(&history())[0].deciding_name(), "valid.txt");
        let mut two_validation_sets = history();
        two_validation_sets.sets = vec!["first.txt".into(), "second.txt".into()];
        assert_eq!(Curve::from_log(&two_validation_sets)[0].deciding_name(), "first.txt");
        for unit in UNITS_OF_MODELS {
            let members = Curve::from_log(&TrainingHistory { unit: unit.into(), ..history() });
            assert_eq!(members[0].best, None, "{unit}");
            let chart = members[0].chart(1, unit, "From the log.");
            assert!(matches!(&chart.body, Body::Bars(bars) if bars.categories.len() == 4));
        }
    }

    #[test]
    fn the_best_error_is_the_lowest() {
        let mut history = history();
        history.metrics = vec!["rmse".into()];
        assert_eq!(Curve::from_log(&history)[0].best, Some(BestRound { rounds: 1, value: 0.1 }));
    }

    #[test]
    fn the_plot_omits_a_steep_start() {
        let mut curve = Curve::from_log(&history()).remove(0);
        // A steep start of three rounds, then a slow rise.
        curve.rounds = (1..=100).collect();
        let value = |round: usize| match round {
            1..=3 => 0.1 * round as f64,
            _ => 0.5 + 0.001 * round as f64,
        };
        curve.sets = vec![("valid".to_owned(), (1..=100).map(value).collect())];
        curve.best = Some(BestRound { rounds: 100, value: 0.6 });
        let chart = curve.chart(1, "tree", "From the log.");
        assert_eq!(chart.x.range, Some((4.0, 100.0)));
        assert!(chart.caption.contains("begins at tree 4"), "{}", chart.caption);
        let Body::Lines(lines) = &chart.body else { panic!("no lines") };
        assert_eq!(lines[0].points.len(), 100, "the numbers are complete");
        assert_eq!(chart.y.limits, Some((0.0, 1.0)));
        // An even rise is shown whole.
        curve.sets = vec![("valid".to_owned(), (1..=100).map(|n| n as f64 / 200.0).collect())];
        assert_eq!(curve.chart(1, "tree", "").x.range, None);
    }

    #[test]
    fn long_lists_keep_their_ends_and_the_best() {
        assert_eq!(thinned_indices(10, 4, Some(5)), [0, 3, 4, 6, 9]);
        assert_eq!(thinned_indices(0, 4, None), [0; 0]);
        assert_eq!(thinned_indices(2, 200, None), [0, 1]);
    }
}
