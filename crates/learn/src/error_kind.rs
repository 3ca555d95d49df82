//! The kinds of this crate's errors: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::error::{LearnError, NotFiniteValue, StateProblem};
use crate::tune::TuneError;

error_kinds! {
    LearnError {
        Self::EmptyData => "empty-data",
        Self::NoFeatures => "no-features",
        Self::MissingValidation { .. } => "missing-validation",
        Self::MissingFoldValidation { .. } => "missing-fold-validation",
        Self::HoldOut { .. } => "hold-out",
        Self::NoMetricValue { .. } => "no-metric-value",
        Self::MetricUndefined { .. } => "metric-undefined",
        Self::PairsUnsupported { .. } => "pairs-unsupported",
        Self::ObjectiveNeedsLabels => "objective-needs-labels",
        Self::PairOutOfRange { .. } => "pair-out-of-range",
        Self::OnlyTiedPairs => "only-tied-pairs",
        Self::LabelsMissing => "labels-missing",
        Self::NothingToRank => "nothing-to-rank",
        Self::NothingRelevant { .. } => "nothing-relevant",
        Self::OneClass { .. } => "one-class",
        Self::ZeroWeights => "zero-weights",
        Self::StartModelUnsupported { .. } => "start-model-unsupported",
        Self::TeacherUnsupported { .. } => "teacher-unsupported",
        Self::TeacherScores { .. } => "teacher-scores",
        Self::TeacherScoreNotFinite { .. } => "teacher-score-not-finite",
        Self::CollectiveUnsupported { .. } => "collective-unsupported",
        Self::StartModelFeature { .. } => "start-model-feature",
        Self::LabelNotFinite { .. } => "label-not-finite",
        Self::TooManyGrades { .. } => "too-many-grades",
        Self::OneGrade => "one-grade",
        Self::UnknownGrade { .. } => "unknown-grade",
        Self::MetricOutOfRange { .. } => "metric-out-of-range",
        Self::NoSwaps { .. } => "no-swaps",
        Self::NewtonWithoutPairs => "newton-without-pairs",
        Self::NoSuchTree { .. } => "no-such-tree",
        Self::NoDerivatives { .. } => "no-derivatives",
        Self::NegativeHessian => "negative-hessian",
        Self::Objective(_) => "objective",
        Self::QueryLengths { .. } => "query-lengths",
        Self::Log { .. } => "log",
        Self::Checkpoint { .. } => "checkpoint",
        Self::CheckpointInUse { .. } => "checkpoint-in-use",
        Self::Cancelled { .. } => "cancelled",
        Self::BlendOfBlends { .. } => "blend-of-blends",
        Self::PositionsMissing { .. } => "positions-missing",
        Self::TooManyPositions { .. } => "too-many-positions",
        Self::ExaminationMissing { .. } => "examination-missing",
        Self::ExaminationUnknown { .. } => "examination-unknown",
        Self::NotAClickRate { .. } => "not-a-click-rate",
        Self::LabelColumnMissing { .. } => "label-column-missing",
        Self::LabelsOfPairs => "labels-of-pairs",
        Self::BiasOfPairs { .. } => "bias-of-pairs",
        Self::BiasFile { .. } => "bias-file",
        Self::Internal { .. } => "internal",
    }
    wraps {
        Self::Spec(error) => error,
        Self::Eval(error) => error,
        Self::Data(error) => error,
        Self::Model(error) => error,
        Self::Tune(error) => error,
        Self::NotFinite(error) => error,
        Self::InQuery { error, .. } => error,
        Self::CheckpointState(error) => error,
    }
}

error_kinds! {
    TuneError {
        Self::NoDefaultSpace { .. } => "no-default-space",
        Self::NothingToSearch { .. } => "nothing-to-search",
        Self::NothingToTune { .. } => "nothing-to-tune",
        Self::Trials { .. } => "trials",
        Self::Folds { .. } => "folds",
        Self::NoRounds { .. } => "no-rounds",
        Self::ResourceInSpace { .. } => "resource-in-space",
        Self::BadTrial { .. } => "bad-trial",
        Self::AllFailed { .. } => "all-failed",
        Self::LogInUse { .. } => "log-in-use",
        Self::TuneLog { .. } => "tune-log",
    }
    wraps {}
}

error_kinds! {
    NotFiniteValue {
        Self::Derivatives => "derivatives",
        Self::Lambdas => "lambdas",
        Self::ObjectiveDerivative => "objective-derivative",
        Self::LeafValues => "leaf-values",
        Self::PairExponentials => "pair-exponentials",
        Self::NetScores => "net-scores",
    }
    wraps {}
}

error_kinds! {
    StateProblem {
        Self::NotHexadecimal => "not-hexadecimal",
        Self::MissingTrees => "missing-trees",
        Self::LeavesDoNotFit => "leaves-do-not-fit",
        Self::OtherLearner => "other-learner",
    }
    wraps {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_errors_of_this_crate_have_the_same_kind() {
        let types =
            [LearnError::KINDS, TuneError::KINDS, NotFiniteValue::KINDS, StateProblem::KINDS];
        let mut kinds: Vec<&str> = types.concat();
        kinds.sort_unstable();
        let same: Vec<_> = kinds.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(same.is_empty(), "{same:?}");
    }
}
