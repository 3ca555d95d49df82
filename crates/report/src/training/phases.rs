//! Time by phase: seconds of each phase of a training, over its rounds and in total, from the log
//! beside the model.
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

/// Reads the seconds of one phase.
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
    /// Seconds of reading the data, and of binning the features.
    pub before: (f64, f64),
    /// Number of threads of the training.
    pub threads: Option<usize>,
}

impl PhaseTimes {
    /// Adds up the times of a log; `None` if no round took any.
    pub fn new(log: &TrainingLog) -> Option<PhaseTimes> {
        let all = &log.history.iterations;
        let total = |of: SecondsOf| all.iter().map(|round| of(&round.seconds)).sum::<f64>();
        let used: Vec<_> = PHASES.into_iter().filter(|(_, of)| total(*of) > 0.0).collect();
        if used.is_empty() {
            return None;
        }
        let width = all.len().div_ceil(POINTS).max(1);
        let mean = |rounds: &[Iteration]| -> Vec<f64> {
            let sum = |of: SecondsOf| rounds.iter().map(|r| of(&r.seconds)).sum::<f64>();
            used.iter().map(|(_, of)| sum(*of) / rounds.len() as f64).collect()
        };
        let middle = |rounds: &[Iteration]| {
            rounds.iter().map(|round| round.number as f64).sum::<f64>() / rounds.len() as f64
        };
        let unit = &log.history.unit;
        Some(PhaseTimes {
            names: used.iter().map(|(name, _)| (*name).to_owned()).collect(),
            unit: if unit.is_empty() { "round".to_owned() } else { unit.clone() },
            rounds: all.chunks(width).map(middle).collect(),
            seconds: all.chunks(width).map(mean).collect(),
            totals: used.iter().map(|(_, of)| total(*of)).collect(),
            before: (log.load_seconds, log.history.bin_seconds),
            threads: log.threads,
        })
    }

    pub(super) fn section(&self) -> Section {
        let threads = self.threads.map(|threads| format!(" on {}", counted(threads, "thread")));
        let threads = threads.unwrap_or_default();
        let blocks = vec![
            PageBlock::Text(format!(
                "Wall-clock time of the training{threads}, from the log beside the model. Times \
                 differ from run to run; the model does not."
            )),
            PageBlock::Chart(self.over_rounds()),
            PageBlock::Chart(self.in_total()),
        ];
        Section { id: "time".into(), title: "Time per phase".into(), blocks }
    }

    fn over_rounds(&self) -> Chart {
        let series = |(phase, name): (usize, &String)| {
            let at = |(round, row): (&f64, &Vec<f64>)| (*round, row[phase] * 1e3);
            let points = self.rounds.iter().zip(&self.seconds).map(at).collect();
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

    fn in_total(&self) -> Chart {
        let before = [("reading the data", self.before.0), ("binning the features", self.before.1)];
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
            load: self.before.0,
            bin: self.before.1,
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
    fn times_are_added_up_and_long_trainings_thinned() {
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
        let log = TrainingLog { history, load_seconds: 1.0, threads: Some(2) };
        let found = PhaseTimes::new(&log).unwrap();
        assert_eq!(found.names, ["histograms and splits", "metrics"]);
        assert_eq!(found.totals, [250.0, 125250.0]);
        assert_eq!((found.rounds.len(), found.rounds[0]), (167, 2.0));
        assert_eq!(found.seconds[0], [0.5, 2.0]);
        let empty =
            TrainingLog { history: TrainingHistory::default(), load_seconds: 0.0, threads: None };
        assert!(PhaseTimes::new(&empty).is_none());
    }
}
