//! The history of a training, round by round: sizes, metrics and times.
//!
//! The history is written to a file beside the model: it contains times, which must not change the
//! bytes of a model.

use rankwright_spec::words::counted;
use serde::{Deserialize, Serialize};

/// Seconds of one round by phase; a round of boosting is a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseSeconds {
    /// Derivatives of the objective.
    pub derivatives: f64,
    /// Scaling and rounding to whole numbers.
    pub quantise: f64,
    /// Histograms and split search.
    pub histograms: f64,
    /// Moving rows to the children.
    pub partition: f64,
    /// Leaf values, and the update of the scores.
    pub leaves: f64,
    /// Validation data and metrics.
    pub evaluate: f64,
    /// Everything except the metrics, for learners other than boosting.
    #[serde(default)]
    pub learn: f64,
}

impl PhaseSeconds {
    /// Seconds of learning: everything except the metrics.
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
    /// Number of the round, from 1; a start model's trees are not counted.
    pub number: usize,
    /// Number of leaves of the round's tree; `None` if a round is not a tree.
    pub leaves: Option<usize>,
    /// The training loss after the round, if it is known; for boosting the mean, computed only if
    /// the training data is evaluated and the objective has a loss.
    pub loss: Option<f64>,
    /// The step that the line search chose; `None` without a line search.
    pub step: Option<f64>,
    /// For each evaluated data set, the value of each metric; NaN if no query has a value.
    #[serde(with = "nan_as_null")]
    pub values: Vec<Vec<f64>>,
    /// Seconds by phase.
    pub seconds: PhaseSeconds,
}

/// JSON has neither NaN nor infinities: each is written as null, and null is read as NaN.
mod nan_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        values: &[Vec<f64>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let finite_values = |set: &Vec<f64>| -> Vec<Option<f64>> {
            set.iter().map(|value| Some(*value).filter(|v| v.is_finite())).collect()
        };
        values.iter().map(finite_values).collect::<Vec<_>>().serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Vec<Vec<f64>>, D::Error> {
        let read: Vec<Vec<Option<f64>>> = Vec::deserialize(deserializer)?;
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        Ok(read.into_iter().map(|set| set.into_iter().map(number).collect()).collect())
    }
}

/// The rounds of a training that its model is made of, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptRounds {
    /// Number of rounds kept, counted from the first round.
    pub rounds: usize,
    /// Number of rounds trained.
    pub of: usize,
    /// The reason why these are kept.
    #[serde(flatten)]
    pub reason: KeptReason,
}

/// The reason why a number of rounds is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KeptReason {
    /// Their metric on the validation data is the best of all rounds.
    BestOnValidation {
        /// The metric.
        metric: String,
        /// The name of the validation set.
        set: String,
        /// The value.
        value: f64,
    },
    /// All rounds: there is no validation data to choose by.
    NoValidation,
    /// All rounds: `stop=none` asks to keep them ([`Stop::None`](super::Stop::None)).
    AllRequested,
    /// All rounds: each is a step towards one minimum, so that the last one is always kept.
    LastIsResult,
}

impl KeptRounds {
    /// The rounds and the reason in words; `unit` is the word for one round, such as `tree`.
    ///
    /// ```
    /// use rankwright_learn::{KeptReason, KeptRounds};
    ///
    /// let all = KeptRounds { rounds: 300, of: 300, reason: KeptReason::NoValidation };
    /// assert_eq!(all.text("tree"), "all 300 trees: there is no validation data");
    /// ```
    pub fn text(&self, unit: &str) -> String {
        let reason = match &self.reason {
            KeptReason::BestOnValidation { metric, set, value } => {
                format!("the best {metric} on {set}, {value:.4}")
            }
            KeptReason::NoValidation => "there is no validation data".to_owned(),
            KeptReason::AllRequested => "keeping all was requested".to_owned(),
            KeptReason::LastIsResult => "the last one is the result".to_owned(),
        };
        match self.of == self.rounds {
            true if self.of == 1 => format!("1 {unit}: {reason}"),
            true => format!("all {}: {reason}", counted(self.of, unit)),
            false => format!("{} of {}: {reason}", self.rounds, counted(self.of, unit)),
        }
    }
}

/// The history of a whole training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingHistory {
    /// Evaluated data sets: the training data first if requested, then the validation sets.
    pub sets: Vec<String>,
    /// Metrics; the first one is used for early stopping and for choosing the model.
    pub metrics: Vec<String>,
    /// Conventions of each metric, in words: the treatment of ties, unjudged documents and so on.
    pub conventions: Vec<String>,
    /// The word for one round: "tree", "epoch", ...; empty if there are no rounds.
    #[serde(default)]
    pub unit: String,
    /// Number of rounds, from 1, after which the first metric on the first validation set was best;
    /// `None` without validation data.
    pub best: Option<usize>,
    /// The rounds that the model is made of; `None` if the training has no rounds.
    #[serde(default)]
    pub kept: Option<KeptRounds>,
    /// The rounds.
    pub iterations: Vec<Iteration>,
    /// Seconds for binning the features.
    pub bin_seconds: f64,
    /// Seconds for all rounds.
    pub train_seconds: f64,
    /// The weights of a linear model: the weight of each transformed feature, so that weights can
    /// be compared with each other. In the order of the features; empty for models that are not
    /// linear.
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// The name of the training data among the evaluated data sets.
pub(super) const TRAINING_SET: &str = "training";

/// Names of validation sets that tell them apart, from each other and from the training data, which
/// is called `training` among the evaluated sets.
///
/// ```
/// use rankwright_learn::validation_set_names;
///
/// let names = validation_set_names(["a.txt", "training", "a.txt"]);
/// assert_eq!(names, ["a.txt", "training (validation)", "a.txt (2)"]);
/// assert_eq!(validation_set_names(names.iter().map(String::as_str)), names);
/// ```
pub fn validation_set_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        let name = match name {
            TRAINING_SET => format!("{TRAINING_SET} (validation)"),
            name => name.to_owned(),
        };
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        found.extend(candidates.find(|candidate| !found.contains(candidate)));
    }
    found
}

impl TrainingHistory {
    /// The index in `sets` of the data set that determines the best round: the first validation
    /// set; `None` without validation data.
    pub fn deciding_set(&self) -> Option<usize> {
        let has_training_set = self.sets.first().is_some_and(|name| name == TRAINING_SET);
        let first_validation_set = usize::from(has_training_set);
        (first_validation_set < self.sets.len()).then_some(first_validation_set)
    }
}
