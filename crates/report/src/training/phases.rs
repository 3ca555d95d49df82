//! Time by phase: seconds of each phase of a training, over its rounds and in total, from the log
//! of the training.
//!
//! Long trainings are shown in at most 200 points, each the mean of several successive rounds.
//! Phases that took no time are left out.

use rankwright_learn::{Iteration, PhaseSeconds, TrainingLog};
use rankwright_spec::words::{counted, plural};
use serde::{Serialize, Serializer};

use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Series};
use crate::page::{PageBlock, Section};
use crate::serialise::as_map;

/// Maximum number of points of a line.
const POINTS: usize = 200;

/// A function that gets the seconds of one phase.
type SecondsOf = fn(&PhaseSeconds) -> f64;

/// The phases of a round and their names.
const PHASES: [(&str, SecondsOf); 7] = [
    ("derivatives", |p| p.derivatives),
    ("rounding to whole numbers", |p| p.quantise),
    ("histograms and splits", |p| p.histograms),
    ("moving rows", |p| p.partition),
    ("leaf values and scores", |p| p.leaves),
    ("learning", |p| p.learn),
    ("metrics", |p| p.evaluate),
];

/// Seconds by phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTimes {
    /// Names of the phases that took time.
    pub names: Vec<String>,
    /// Name of a round, such as `tree`.
    pub unit: String,
    /// The middle round of each group of successive rounds.
    pub rounds: Vec<f64>,
    /// Mean seconds of a round: `seconds[group][phase]`.
    pub seconds: Vec<Vec<f64>>,
    /// Seconds of each phase in all rounds together.
    pub totals: Vec<f64>,
    /// Seconds of reading the data.
    pub load_seconds: f64,
    /// Seconds of binning the features.
    pub bin_seconds: f64,
    /// Number of threads of the training.
    pub threads: Option<usize>,
}

impl PhaseTimes {
    /// Sums the times of a log; `None` if it has no times.
    pub fn new(log: &TrainingLog) -> Option<PhaseTimes> {
        let all = &log.history.iterations;
        let total = |seconds_of: SecondsOf| -> f64 {
            all.iter().map(|round| seconds_of(&round.seconds)).sum()
        };
        let used: Vec<_> =
            PHASES.into_iter().filter(|(_, seconds_of)| total(*seconds_of) > 0.0).collect();
        if used.is_empty() {
            return None;
        }
        let group_size = all.len().div_ceil(POINTS).max(1);
        let mean = |rounds: &[Iteration]| -> Vec<f64> {
            let sum = |seconds_of: SecondsOf| -> f64 {
                rounds.iter().map(|round| seconds_of(&round.seconds)).sum()
            };
            used.iter().map(|(_, seconds_of)| sum(*seconds_of) / rounds.len() as f64).collect()
        };
        let middle = |rounds: &[Iteration]| {
            rounds.iter().map(|round| round.number as f64).sum::<f64>() / rounds.len() as f64
        };
        let unit = &log.history.unit;
        Some(PhaseTimes {
            names: used.iter().map(|(name, _)| (*name).to_owned()).collect(),
            unit: if unit.is_empty() { "round".to_owned() } else { unit.clone() },
            rounds: all.chunks(group_size).map(middle).collect(),
            seconds: all.chunks(group_size).map(mean).collect(),
            totals: used.iter().map(|(_, seconds_of)| total(*seconds_of)).collect(),
            load_seconds: log.load_seconds,
            bin_seconds: log.history.bin_seconds,
            threads: log.threads,
        })
    }

    /// The section: the time of each round and of all rounds.
    pub(super) fn section(&self) -> Section {
        let threads = self.threads.map(|threads| format!(" on {}", counted(threads, "thread")));
        let threads = threads.unwrap_or_default();
        let blocks = vec![
            PageBlock::Text(format!(
                "Wall-clock time of the training{threads}, from the training log. Times \
                 differ from run to run; the model does not."
            )),
            PageBlock::Chart(self.rounds_chart()),
            PageBlock::Chart(self.totals_chart()),
        ];
        Section { id: "time".into(), title: "Time per phase".into(), blocks }
    }

    /// Milliseconds of each phase against the rounds.
    fn rounds_chart(&self) -> Chart {
        let series = |(phase, name): (usize, &String)| {
            let point = |(round, row): (&f64, &Vec<f64>)| (*round, row[phase] * 1e3);
            let points = self.rounds.iter().zip(&self.seconds).map(point).collect();
            Series { name: name.clone(), points, ..Series::default() }
        };
        Chart {
            id: "time-rounds".into(),
            title: format!("Time of each {}", self.unit),
            caption: "The phases are stacked; the upper edge is the time of the whole round."
                .into(),
            x: Axis { label: plural(&self.unit), ..Axis::default() },
            y: Axis { label: "milliseconds".into(), ..Axis::default() },
            body: Body::Stack(self.names.iter().enumerate().map(series).collect()),
        }
    }

    /// Seconds of each phase in all rounds, and before the first round.
    fn totals_chart(&self) -> Chart {
        let before =
            [("reading the data", self.load_seconds), ("binning the features", self.bin_seconds)];
        let before = before.into_iter().filter(|(_, seconds)| *seconds > 0.0);
        let before = before.map(|(name, seconds)| (name.to_owned(), seconds));
        let phases = self.names.iter().cloned().zip(self.totals.iter().copied());
        let (categories, values) = before.chain(phases).unzip();
        Chart {
            id: "time-total".into(),
            title: "Time of all rounds together".into(),
            caption: "Reading the data and binning the features happen before the first round."
                .into(),
            x: Axis { label: "phase".into(), ..Axis::default() },
            y: Axis { label: "seconds".into(), ..Axis::default() },
            body: Body::Bars(Bars {
                categories,
                series: vec![BarSeries { name: "seconds".into(), values, ..BarSeries::default() }],
                grouping: Grouping::Beside,
                horizontal: true,
            }),
        }
    }
}

impl Serialize for PhaseTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct PhaseChart<'a> {
            unit: &'a str,
            load: f64,
            bin: f64,
            #[serde(serialize_with = "as_map")]
            totals: Vec<(String, f64)>,
            rounds: &'a [f64],
            phases: &'a [String],
            seconds: &'a [Vec<f64>],
            threads: Option<usize>,
        }
        PhaseChart {
            unit: &self.unit,
            load: self.load_seconds,
            bin: self.bin_seconds,
            totals: self.names.iter().cloned().zip(self.totals.iter().copied()).collect(),
            rounds: &self.rounds,
            phases: &self.names,
            seconds: &self.seconds,
            threads: self.threads,
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_learn::TrainingHistory;

    #[test]
    fn times_are_summed_and_long_trainings_have_fewer_points() {
        let round = |number: usize| Iteration {
            number,
            leaves: None,
            loss: None,
            step: None,
            values: Vec::new(),
            seconds: PhaseSeconds {
                histograms: 0.5,
                evaluate: number as f64,
                ..PhaseSeconds::default()
            },
        };
        let iterations: Vec<Iteration> = (1..=500).map(round).collect();
        let history =
            TrainingHistory { iterations, unit: "tree".into(), ..TrainingHistory::default() };
        let log = TrainingLog {
            history,
            load_seconds: 1.0,
            threads: Some(2),
            sha256: None,
            choice: None,
        };
        let found = PhaseTimes::new(&log).unwrap();
        assert_eq!(found.names, ["histograms and splits", "metrics"]);
        // 500 * 0.5, and the sum of 1 to 500.
        assert_eq!(found.totals, [250.0, 125250.0]);
        // Groups of three rounds.
        assert_eq!((found.rounds.len(), found.rounds[0]), (167, 2.0));
        assert_eq!(found.seconds[0], [0.5, 2.0]);
        let history = TrainingHistory::default();
        let empty =
            TrainingLog { history, load_seconds: 0.0, threads: None, sha256: None, choice: None };
        assert!(PhaseTimes::new(&empty).is_none());
    }
}
