//! Errors of a search over parameters.

use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

/// The reason why a search was rejected or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A learner without a default space.
    #[error("{learner} has no parameters that are searched by default")]
    NoDefaultSpace {
        /// The learner.
        learner: String,
    },
    /// A learner whose spec already fixes all parameters of the space.
    #[error("{learner} fixes every parameter that would be searched")]
    NothingToSearch {
        /// The learner with its parameters.
        learner: String,
    },
    /// A learner that learns nothing from data.
    #[error("{learner} learns nothing, so there is nothing to tune")]
    NothingToTune {
        /// The learner.
        learner: String,
    },
    /// A number of trials that is not allowed.
    #[error("{}: a search has 1 to {most} trials", counted(*trials, "trial"))]
    Trials {
        /// The number of trials.
        trials: usize,
        /// The largest number that is allowed.
        most: usize,
    },
    /// Too few folds.
    #[error("{}: at least 2 folds are needed to train and test", counted(*folds, "fold"))]
    Folds {
        /// The number of folds.
        folds: usize,
    },
    /// Successive halving of a learner without rounds.
    #[error("{learner} is not trained in rounds, which successive halving needs")]
    NoRounds {
        /// The learner.
        learner: String,
    },
    /// A space that contains the parameter that successive halving varies.
    #[error("successive halving varies {resource} itself, so the space cannot contain it")]
    ResourceInSpace {
        /// The parameter that sets the number of rounds.
        resource: &'static str,
    },
    /// A trial whose parameters conflict.
    #[error("trial {trial} would be {learner}: {error}")]
    BadTrial {
        /// The number of the trial, from 0.
        trial: usize,
        /// The learner with its parameters.
        learner: String,
        /// The conflict.
        error: SpecError,
    },
    /// No trial could be trained.
    #[error("every trial failed; the error of trial {trial} is: {error}")]
    AllFailed {
        /// The number of one of the trials.
        trial: usize,
        /// The error of that trial, as the log has it.
        error: String,
    },
    /// A log that another search holds open.
    #[error("another search is writing to {path}")]
    LogInUse {
        /// The file.
        path: String,
    },
    /// A file that is not the log of this search.
    #[error("{path} {problem}")]
    TuneLog {
        /// The file.
        path: String,
        /// The problem with its content.
        problem: TuneLogProblem,
    },
}

impl TuneError {
    /// A remedy that holds for every caller; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::NoDefaultSpace { .. } => "give a space of parameters to search",
            Self::NothingToSearch { .. } => {
                "give a space of parameters to search, or fix fewer parameters in the spec"
            }
            Self::NoRounds { .. } => "use random search",
            Self::ResourceInSpace { .. } => {
                "use random search, or leave the parameter out of the space"
            }
            Self::BadTrial { .. } => "leave values that conflict out of the space",
            Self::LogInUse { .. } => "wait until that search ends, or use another log",
            Self::TuneLog { .. } => {
                "use another log, or delete this one to start from the beginning"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// The reason why a file is not the log of this search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneLogProblem {
    /// The first line is not that of a log.
    #[error("is not the log of a parameter search")]
    NotALog,
    /// Another version of this program wrote the log.
    #[error("is a log of format {found}, and this program writes format {supported}")]
    Version {
        /// The format of the file.
        found: u32,
        /// The format of this program.
        supported: u32,
    },
    /// The log belongs to a search with other settings or data.
    #[error("is the log of another search: {}", in_words(differences))]
    OtherSearch {
        /// The settings that differ.
        differences: Vec<SettingDifference>,
    },
    /// A line is not a finished trial.
    #[error("is damaged in line {line}: {error}")]
    Damaged {
        /// The line, from 1.
        line: usize,
        /// The error of the JSON reader.
        error: serde_json::Error,
    },
}

/// A setting in which two searches differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingDifference {
    /// Name of the setting.
    pub setting: String,
    /// The value of the setting in the log; `None` if the log lacks the setting.
    pub logged: Option<String>,
    /// The value of the setting in this search; `None` if this search lacks the setting.
    pub current: Option<String>,
}

/// The differences as text.
fn in_words(differences: &[SettingDifference]) -> String {
    let value = |value: &Option<String>| value.as_deref().unwrap_or("not set").to_owned();
    let difference_in_words = |difference: &SettingDifference| {
        let SettingDifference { setting, logged, current } = difference;
        format!("{setting} was {}, now {}", value(logged), value(current))
    };
    differences.iter().map(difference_in_words).collect::<Vec<_>>().join("; ")
}
