//! The kinds of this crate's errors: stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::error::ReportError;

error_kinds! {
    ReportError {
        Self::NoMetric => "no-metric",
        Self::NoValidation => "no-validation",
        Self::NoTraining => "no-training",
        Self::UnknownQuery { .. } => "unknown-query",
        Self::NotCompared { .. } => "not-compared",
        Self::MetricNotCompared { .. } => "metric-not-compared",
        Self::UnknownDocument { .. } => "unknown-document",
        Self::UnknownFeature { .. } => "unknown-feature",
        Self::DocumentsWithoutQuery => "documents-without-query",
        Self::SourceCount { .. } => "source-count",
        Self::OtherQueries { .. } => "other-queries",
        Self::OtherComparison => "other-comparison",
        Self::Features { .. } => "features",
        Self::Internal { .. } => "internal",
        Self::Draw { .. } => "draw",
    }
    wraps and forwards help {
        Self::Data(error) => error,
        Self::Eval(error) => error,
        Self::Spec(error) => error,
        Self::Compare(error) => error,
        Self::Model(error) => error,
        #[cfg(feature = "training")]
        Self::Learn(error) => error,
        Self::Explain(error) => error,
    }
}
