//! The kinds of errors of tasks: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use super::TaskError;

error_kinds! {
    TaskError {
        Self::Cancelled => "cancelled",
        #[cfg(feature = "clicks")]
        Self::EmptyLog { .. } => "empty-log",
        Self::UnknownFeature { .. } => "unknown-feature",
        #[cfg(feature = "clicks")]
        Self::NoCommonQuery => "no-common-query",
        #[cfg(feature = "clicks")]
        Self::NoRequests => "no-requests",
        #[cfg(feature = "clicks")]
        Self::NoLists { .. } => "no-lists",
        #[cfg(feature = "clicks")]
        Self::NoListShown { .. } => "no-list-shown",
        #[cfg(feature = "clicks")]
        Self::SessionsOfLists { .. } => "sessions-of-lists",
        #[cfg(feature = "clicks")]
        Self::NoJudgedQuery { .. } => "no-judged-query",
        #[cfg(feature = "clicks")]
        Self::NoPairs { .. } => "no-pairs",
        #[cfg(feature = "clicks")]
        Self::NoAnswers { .. } => "no-answers",
        #[cfg(feature = "clicks")]
        Self::NoComparisons { .. } => "no-comparisons",
        Self::StandardInputTwice => "standard-input-twice",
        Self::OutputIsInput { .. } => "output-is-input",
        Self::PartExists { .. } => "part-exists",
        Self::RunOfPredictions { .. } => "run-of-predictions",
        Self::TagNotOneWord { .. } => "tag-not-one-word",
        #[cfg(feature = "search")]
        Self::NoFeatureSet { .. } => "no-feature-set",
        Self::ModelInsteadOfData { .. } => "model-instead-of-data",
        Self::ModelInsteadOfRun { .. } => "model-instead-of-run",
        Self::NoModel { .. } => "no-model",
        Self::ScoresAmongData { .. } => "scores-among-data",
        Self::SeveralModels { .. } => "several-models",
        Self::NoData => "no-data",
        Self::NoSystems => "no-systems",
        Self::NoModelToMatch => "no-model-to-match",
        Self::AbsentContradictsModel { .. } => "absent-contradicts-model",
        Self::AbsentRecorded { .. } => "absent-recorded",
        Self::AbsentRulesDiffer { .. } => "absent-rules-differ",
        Self::UnknownExtension { .. } => "unknown-extension",
        Self::FeaturesHaveNames => "features-have-names",
        Self::NoFolder { .. } => "no-folder",
        Self::IsFolder { .. } => "is-folder",
        Self::CheckpointIsNoFolder { .. } => "checkpoint-is-no-folder",
        Self::NoTrainingData { .. } => "no-training-data",
        Self::NothingToMatch => "nothing-to-match",
        #[cfg(feature = "train")]
        Self::NothingTrained { .. } => "nothing-trained",
        #[cfg(feature = "train")]
        Self::OptionNeedsData { .. } => "option-needs-data",
        Self::NoCheckpoints { .. } => "no-checkpoints",
        Self::UnknownFeatures { .. } => "unknown-features",
        Self::MissingFeatures { .. } => "missing-features",
        Self::NamesAndNumbers { .. } => "names-and-numbers",
        #[cfg(feature = "train")]
        Self::TrainingStopped { .. } => "training-stopped",
        Self::ModelSavedElsewhere { .. } => "model-saved-elsewhere",
        Self::NoLearner => "no-learner",
        Self::LearnerTwice { .. } => "learner-twice",
        Self::QueryTwice { .. } => "query-twice",
        Self::OptionUnused { .. } => "option-unused",
        Self::ValidPartUnused => "valid-part-unused",
        Self::NoValidationForBest => "no-validation-for-best",
        Self::SameFile { .. } => "same-file",
        Self::SearchStopped { .. } => "search-stopped",
        Self::Internal { .. } => "internal",
        Self::NoTrees { .. } => "no-trees",
        Self::NoSuchTree { .. } => "no-such-tree",
        Self::EmptyPart { .. } => "empty-part",
        Self::ScoreCount { .. } => "score-count",
    }
    wraps and forwards help {
        #[cfg(feature = "clicks")]
        Self::LogWrite(error) => error,
        Self::Data(error) => error,
        Self::Eval(error) => error,
        Self::Spec(error) => error,
        Self::Compare(error) => error,
        Self::Model(error) => error,
        #[cfg(feature = "train")]
        Self::Learn(error) => error,
        #[cfg(feature = "explain")]
        Self::Report(error) => error,
        #[cfg(feature = "experiment")]
        Self::Experiment(error) => error,
        #[cfg(feature = "search")]
        Self::Search(error) => error,
        #[cfg(feature = "clicks")]
        Self::Clicks(error) => error,
        #[cfg(feature = "clicks")]
        Self::ModelValue { error, .. } => error,
        #[cfg(feature = "clicks")]
        Self::Interleaving { source, .. } => source,
        #[cfg(feature = "clicks")]
        Self::Prompt { source, .. } => source,
    }
}
