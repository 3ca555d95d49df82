//! The kinds of this crate's errors: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::error::ExperimentError;

error_kinds! {
    ExperimentError {
        Self::FolderInUse { .. } => "folder-in-use",
        Self::OutputIsInput { .. } => "output-is-input",
        Self::NoRate { .. } => "no-rate",
        Self::BadRate { .. } => "bad-rate",
        Self::RateTwice { .. } => "rate-twice",
        Self::Goals { .. } => "goals",
        Self::BadGoalWeight { .. } => "bad-goal-weight",
        Self::NoWeights => "no-weights",
        Self::KeptLabels { .. } => "kept-labels",
        Self::NoInterval { .. } => "no-interval",
        Self::Internal { .. } => "internal",
        Self::NoRounds { .. } => "no-rounds",
        Self::File { .. } => "file",
        Self::UnknownLearner { .. } => "unknown-learner",
        Self::UnknownFeature { .. } => "unknown-feature",
        Self::NumberedFeatures => "numbered-features",
        Self::EmptyTestPart => "empty-test-part",
        Self::ScoreNotFinite { .. } => "score-not-finite",
        Self::Panicked { .. } => "panicked",
        Self::Threads { .. } => "threads",
    }
    wraps and forwards help {
        Self::Data(error) => error,
        Self::Eval(error) => error,
        Self::Spec(error) => error,
        Self::Compare(error) => error,
        Self::Model(error) => error,
        Self::Learn(error) => error,
        Self::Report(error) => error,
        Self::SharedData(error) => error,
    }
}
