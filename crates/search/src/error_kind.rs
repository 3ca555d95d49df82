//! The kinds of this crate's errors: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::classify::ClassifyError;
use crate::error::{FeatureSetProblem, SearchError};
use crate::filter::FilterError;
use crate::links::LinkError;

error_kinds! {
    SearchError {
        Self::NoIndex { .. } => "no-index",
        Self::IndexExists { .. } => "index-exists",
        Self::NotAFolder { .. } => "not-a-folder",
        Self::FolderNotEmpty { .. } => "folder-not-empty",
        Self::IndexVersion { .. } => "index-version",
        Self::IndexLocked { .. } => "index-locked",
        Self::Damaged { .. } => "damaged",
        Self::IndexAccess { .. } => "index-access",
        Self::OtherBuild { .. } => "other-build",
        Self::OtherIndex { .. } => "other-index",
        Self::SchemaWithoutKind { .. } => "schema-without-kind",
        Self::UnknownKind { .. } => "unknown-kind",
        Self::FieldNameTaken { .. } => "field-name-taken",
        Self::FieldNameReserved { .. } => "field-name-reserved",
        Self::NoDocuments => "no-documents",
        Self::AllBroken { .. } => "all-broken",
        Self::AbsentField { .. } => "absent-field",
        Self::NoTextField => "no-text-field",
        Self::UnknownField { .. } => "unknown-field",
        Self::NoFacet { .. } => "no-facet",
        Self::UnknownDocumentFormat { .. } => "unknown-document-format",
        Self::BadDocument { .. } => "bad-document",
        Self::NoFeatures => "no-features",
        Self::FeatureVersion { .. } => "feature-version",
        Self::OtherAnalysis { .. } => "other-analysis",
        Self::FeatureName { .. } => "feature-name",
        Self::Classes { .. } => "classes",
        Self::FeatureTaken { .. } => "feature-taken",
        Self::InvalidFeatureName { .. } => "invalid-feature-name",
        Self::NotGathered { .. } => "not-gathered",
        Self::NoSuchCandidate { .. } => "no-such-candidate",
        Self::NoSuchTerm { .. } => "no-such-term",
        Self::NanScore { .. } => "nan-score",
        Self::NoJudgedQueries { .. } => "no-judged-queries",
        Self::NoRows => "no-rows",
        Self::NoRowsPass { .. } => "no-rows-pass",
        Self::ZeroCandidates => "zero-candidates",
        Self::NoLabelField { .. } => "no-label-field",
        Self::NoFieldBesideLabel { .. } => "no-field-beside-label",
        Self::NotClassifiableBy { .. } => "not-classifiable-by",
        Self::NoLabels { .. } => "no-labels",
        Self::OneClass { .. } => "one-class",
        Self::Folds { .. } => "folds",
        Self::NoFieldToClassify { .. } => "no-field-to-classify",
        Self::TableModel { .. } => "table-model",
        Self::Internal { .. } => "internal",
    }
    wraps {
        Self::Data(error) => error,
        Self::Spec(error) => error,
        Self::Model(error) => error,
        Self::Eval(error) => error,
        Self::Classify(error) => error,
        Self::Filter(error) => error,
        Self::BadFeatureSet(error) => error,
        Self::ModelFeatures(error) => error,
    }
}

error_kinds! {
    ClassifyError {
        Self::Empty => "empty",
        Self::Lengths { .. } => "lengths",
        Self::NotFinite { .. } => "not-finite",
        Self::Negative { .. } => "negative",
        Self::NoNeighbours => "no-neighbours",
        Self::TooLarge { .. } => "too-large",
    }
    wraps {}
}

error_kinds! {
    LinkError {
        Self::NoSuchNode { .. } => "no-such-node",
        Self::TooLarge { .. } => "too-large",
    }
    wraps {}
}

error_kinds! {
    FeatureSetProblem {
        Self::Syntax { .. } => "syntax",
    }
    wraps {
        Self::FirstStage(error) => error,
    }
}

impl FilterError {
    /// The kinds of this error.
    pub const KINDS: &'static [&'static str] = &["filter-error"];

    /// The stable name of the kind of error; `problem` says more.
    pub fn kind(&self) -> &'static str {
        "filter-error"
    }
}
