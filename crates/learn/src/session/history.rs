//! What happened in a training, round by round: sizes, metrics and where the time went.
//!
//! The history goes to a side file: it has times in it, and a model's bytes must not.

use serde::{Deserialize, Serialize};

/// Seconds of one round by phase; a round of boosting is a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Derivatives of the objective.
    pub derivatives: f64,
    /// Scaling and rounding to whole numbers.
    pub quantise: f64,
    /// Histograms and split search.
    pub histograms: f64,
    /// Moving rows to the children.
    pub partition: f64,
    /// Leaf values, and the scores that they change.
    pub leaves: f64,
    /// Validation data and metrics.
    pub evaluate: f64,
    /// All but the metrics, for learners other than boosting.
    #[serde(default)]
    pub learn: f64,
}

impl Phases {
    /// Seconds of learning: all but the metrics.
    pub fn learning(&self) -> f64 {
        self.derivatives
            + self.quantise
            + self.histograms
            + self.partition
            + self.leaves
            + self.learn
    }
}

/// One round of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Its number, from 1; a start model's trees are not counted.
    pub number: usize,
    /// Leaves of its tree, where it has one.
    pub leaves: Option<usize>,
    /// The training loss after it, where it is known: of boosting the mean, where the training data
    /// is watched and the objective has one.
    pub loss: Option<f64>,
    /// The step that the line search chose.
    pub step: Option<f64>,
    /// Values of each metric, for each data set that is watched; NaN where no query has one.
    #[serde(with = "numbers")]
    pub values: Vec<Vec<f64>>,
    /// Seconds.
    pub seconds: Phases,
}

/// JSON knows no NaN: a value that is no number is written as null, and read back as NaN.
mod numbers {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        values: &[Vec<f64>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let known = |set: &Vec<f64>| -> Vec<Option<f64>> {
            set.iter().map(|value| Some(*value).filter(|v| v.is_finite())).collect()
        };
        values.iter().map(known).collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Vec<Vec<f64>>, D::Error> {
        let read: Vec<Vec<Option<f64>>> = Vec::deserialize(deserializer)?;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Ok(read.into_iter().map(|set| set.into_iter().map(number).collect()).collect())
    }
}

/// A whole training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingHistory {
    /// Data sets that were watched: the training data first where asked for, then validation.
    pub sets: Vec<String>,
    /// Metrics, the one that decides first.
    pub metrics: Vec<String>,
    /// Conventions of the metrics.
    pub conventions: Vec<String>,
    /// What a round is called: "tree", "epoch", ...; empty where there are none.
    #[serde(default)]
    pub unit: String,
    /// Number of rounds at the best value of the first metric on the deciding set.
    pub best: Option<usize>,
    /// Round by round.
    pub iterations: Vec<Iteration>,
    /// Seconds for turning features into bins.
    pub bin_seconds: f64,
    /// Seconds for all rounds.
    pub train_seconds: f64,
    /// What a line has learnt: the weight of each feature's value as the learner saw it, so that
    /// weights can be compared with each other. In the order of the features; empty for models that
    /// are no line.
    #[serde(default)]
    pub weights: Vec<f64>,
}
