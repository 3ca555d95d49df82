//! The kinds of this crate's errors: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::compare::CompareError;
use crate::error::EvalError;
use crate::stats::StatsError;

error_kinds! {
    EvalError {
        Self::NanScore { .. } => "nan-score",
        Self::BadLabel { .. } => "bad-label",
        Self::LabelTooLarge { .. } => "label-too-large",
        Self::NoGain { .. } => "no-gain",
        Self::Overflow { .. } => "overflow",
        Self::Shape { .. } => "shape",
        Self::SharedRow { .. } => "shared-row",
        Self::NoLabels { .. } => "no-labels",
        Self::NoDocids => "no-docids",
        Self::DuplicateDocument { .. } => "duplicate-document",
        Self::NoSuchQuery { .. } => "no-such-query",
    }
    wraps {
        Self::Spec(error) => error,
        Self::Query { source, .. } => source,
    }
}

error_kinds! {
    CompareError {
        Self::NoSystems => "no-systems",
        Self::DuplicateSystem { .. } => "duplicate-system",
        Self::UnknownBaseline { .. } => "unknown-baseline",
        Self::UnknownTest { .. } => "unknown-test",
        Self::SystemCount { .. } => "system-count",
        Self::QueryCount { .. } => "query-count",
        Self::TooFewSamples { .. } => "too-few-samples",
        Self::DifferentQueries { .. } => "different-queries",
        Self::DuplicateQuery { .. } => "duplicate-query",
        Self::DifferentMetrics { .. } => "different-metrics",
    }
    wraps and forwards help {
        Self::Values { source, .. } => source,
        Self::Options(error) => error,
        Self::Stats(error) => error,
    }
}

error_kinds! {
    StatsError {
        Self::LengthMismatch { .. } => "length-mismatch",
        Self::NotFinite { .. } => "not-finite",
        Self::Samples { .. } => "samples",
        Self::Level { .. } => "level",
        Self::Tolerance { .. } => "tolerance",
        Self::UnknownCorrection { .. } => "unknown-correction",
    }
    wraps {}
}
