//! The kinds of this crate's errors: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::error::ModelError;
use crate::explain::ExplainError;
use crate::problem::{
    BlendProblem, HeaderProblem, NetProblem, SparseProblem, TransformProblem, TreeProblem,
    WeightsProblem,
};

error_kinds! {
    ModelError {
        Self::NotAModel { .. } => "not-a-model",
        Self::UnknownFormat { .. } => "unknown-format",
        Self::Version { .. } => "version",
        Self::Damaged { .. } => "damaged",
        Self::InvalidFile { .. } => "invalid-file",
        Self::Unsupported { .. } => "unsupported",
        Self::NotFinite { .. } => "not-finite",
        Self::TooMany { .. } => "too-many",
        Self::FeatureCount { .. } => "feature-count",
        Self::InvalidOrder { .. } => "invalid-order",
        Self::MissingFeatures { .. } => "missing-features",
        Self::UnknownFeatures { .. } => "unknown-features",
        Self::UnknownNumbers { .. } => "unknown-numbers",
        Self::CountedFromZero { .. } => "counted-from-zero",
        Self::NamesAndNumbers { .. } => "names-and-numbers",
        Self::UnknownCategories { .. } => "unknown-categories",
        Self::CategoriesWithoutTexts { .. } => "categories-without-texts",
        Self::OtherCategories { .. } => "other-categories",
        Self::Absent { .. } => "absent",
        Self::NeedsWholeQuery => "needs-whole-query",
        Self::RowLength { .. } => "row-length",
        Self::NoSuchFeature { .. } => "no-such-feature",
        Self::NoPrediction { .. } => "no-prediction",
        Self::NoGrades => "no-grades",
        Self::OtherRelevance { .. } => "other-relevance",
        Self::Internal { .. } => "internal",
    }
    wraps {
        Self::Data(error) => error,
        Self::InvalidTree(error) => error,
        Self::InvalidWeights(error) => error,
        Self::InvalidNet(error) => error,
        Self::InvalidTransform(error) => error,
        Self::InvalidBlend(error) => error,
        Self::InvalidHeader(error) => error,
        Self::InvalidSparseRows(error) => error,
        Self::InPart { error, .. } => error,
        Self::InFile { error, .. } => error,
    }
}

error_kinds! {
    ExplainError {
        Self::NoCounts { .. } => "no-counts",
        Self::NoBackground => "no-background",
        Self::EmptyBackground => "empty-background",
        Self::TooDeep { .. } => "too-deep",
        Self::Unmatched { .. } => "unmatched",
        Self::NoSuchQuery { .. } => "no-such-query",
        Self::NoColumn { .. } => "no-column",
    }
    wraps {
        Self::Model(error) => error,
        Self::Options(error) => error,
    }
}

error_kinds! {
    TreeProblem {
        Self::Size { .. } => "size",
        Self::FeatureNumber { .. } => "feature-number",
        Self::NanThreshold { .. } => "nan-threshold",
        Self::UnknownSet { .. } => "unknown-set",
        Self::BackwardChild { .. } => "backward-child",
        Self::SharedChild { .. } => "shared-child",
        Self::UnknownChild { .. } => "unknown-child",
        Self::Category { .. } => "category",
        Self::SetWords { .. } => "set-words",
    }
    wraps {}
}

error_kinds! {
    WeightsProblem {
        Self::Duplicate { .. } => "duplicate",
        Self::UnknownFeatures { .. } => "unknown-features",
        Self::Syntax { .. } => "syntax",
        Self::IdTooLarge { .. } => "id-too-large",
    }
    wraps {}
}

error_kinds! {
    NetProblem {
        Self::LayerWeights { .. } => "layer-weights",
        Self::LayerNorm { .. } => "layer-norm",
        Self::LayerInputs { .. } => "layer-inputs",
        Self::NoLayers => "no-layers",
        Self::Outputs { .. } => "outputs",
    }
    wraps {}
}

error_kinds! {
    TransformProblem {
        Self::Length { .. } => "length",
        Self::Step { .. } => "step",
    }
    wraps {}
}

error_kinds! {
    BlendProblem {
        Self::NoMembers => "no-members",
        Self::NestedBlend { .. } => "nested-blend",
        Self::Absent { .. } => "absent",
        Self::NumberedFeatures { .. } => "numbered-features",
        Self::UnmatchedFeatures { .. } => "unmatched-features",
    }
    wraps {}
}

error_kinds! {
    HeaderProblem {
        Self::FeatureIds { .. } => "feature-ids",
        Self::DuplicateFeature { .. } => "duplicate-feature",
        Self::PositionBias => "position-bias",
    }
    wraps {}
}

error_kinds! {
    SparseProblem {
        Self::RowOffsets { .. } => "row-offsets",
        Self::Column { .. } => "column",
    }
    wraps {}
}
