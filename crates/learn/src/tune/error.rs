//! Errors of a search over parameters.

/// The reason why a search was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A learner without a default space.
    #[error("{learner} has no parameters that are searched by default")]
    NoSpace {
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
    #[error("{trials} trials; there can be 1 to {most}")]
    Trials {
        /// The number.
        trials: usize,
        /// The maximum.
        most: usize,
    },
    /// Too few folds.
    #[error("{folds} folds; at least 2 are needed to train and test")]
    Folds {
        /// The number.
        folds: usize,
    },
    /// Successive halving of a learner without rounds.
    #[error(
        "{learner} has no rounds of which a trial could be given fewer; random search needs none"
    )]
    NoRounds {
        /// The learner.
        learner: String,
    },
    /// A space that contains the parameter that successive halving varies.
    #[error("successive halving varies {resource} itself, so the space cannot contain it")]
    ResourceInSpace {
        /// The parameter.
        resource: &'static str,
    },
    /// A trial whose parameters conflict.
    #[error("trial {trial} would be {learner}: {why}")]
    BadTrial {
        /// Its number.
        trial: usize,
        /// The learner with its parameters.
        learner: String,
        /// The error.
        why: String,
    },
    /// No trial could be trained.
    #[error("every trial failed, one of them so: {why}")]
    AllFailed {
        /// The error of one of them.
        why: String,
    },
    /// A log that another search holds open.
    #[error("another search is writing to {path}")]
    LogInUse {
        /// The file.
        path: String,
    },
    /// A log that belongs to another search.
    #[error("{path} {problem}")]
    Log {
        /// The file.
        path: String,
        /// The problem, as the rest of a sentence.
        problem: String,
    },
}
