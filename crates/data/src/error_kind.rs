//! The kinds of this crate's errors: stable names for programs that cannot match on the variants of
//! a Rust enum, such as clients of the server.

use rankwright_spec::error_kinds;

use crate::error::DataError;

error_kinds! {
    DataError {
        Self::Io { .. } => "io",
        Self::Unfinished { .. } => "unfinished",
        Self::Malformed { .. } => "malformed",
        Self::UnknownFormat { .. } => "unknown-format",
        Self::Damaged { .. } => "damaged",
        Self::Version { .. } => "version",
        Self::Columns { .. } => "columns",
        Self::TooLarge { .. } => "too-large",
        Self::EmptyMatrix { .. } => "empty-matrix",
        Self::TooManyColumns { .. } => "too-many-columns",
        Self::TooManyTableColumns { .. } => "too-many-table-columns",
        Self::ContentTooLarge { .. } => "content-too-large",
        Self::CompressionRatio { .. } => "compression-ratio",
        Self::ChangedWhileRead { .. } => "changed-while-read",
        Self::GeneratedDataTooLarge { .. } => "generated-data-too-large",
        Self::GeneratedStoreTooLarge { .. } => "generated-store-too-large",
        Self::Empty { .. } => "empty",
        Self::LengthMismatch { .. } => "length-mismatch",
        Self::NotRectangular { .. } => "not-rectangular",
        Self::RowLength { .. } => "row-length",
        Self::NotFinite { .. } => "not-finite",
        Self::LabelColumnName { .. } => "label-column-name",
        Self::FeatureOutOfRange { .. } => "feature-out-of-range",
        Self::TableColumn { .. } => "table-column",
        Self::InvalidWeight { .. } => "invalid-weight",
        Self::PositionZero { .. } => "position-zero",
        Self::QueryWeights { .. } => "query-weights",
        Self::FeatureSets { .. } => "feature-sets",
        Self::AbsentRules { .. } => "absent-rules",
        Self::DuplicateFeature { .. } => "duplicate-feature",
        Self::InvalidPair { .. } => "invalid-pair",
        Self::PairsInOne => "pairs-in-one",
        Self::AmbiguousPair { .. } => "ambiguous-pair",
        Self::MissingPart { .. } => "missing-part",
        Self::TooManyRows { .. } => "too-many-rows",
        Self::Internal { .. } => "internal",
        Self::NoInput => "no-input",
        Self::SideFiles { .. } => "side-files",
        Self::UnknownName { .. } => "unknown-name",
        Self::RoleSyntax { .. } => "role-syntax",
        Self::RoleWithoutColumn { .. } => "role-without-column",
        Self::TwoRoles { .. } => "two-roles",
        Self::TwoColumns { .. } => "two-columns",
        Self::InvalidParts { .. } => "invalid-parts",
        Self::Folds { .. } => "folds",
        Self::HoldOut { .. } => "hold-out",
        Self::OutOfRange { .. } => "out-of-range",
        Self::LongDocumentId { .. } => "long-document-id",
        Self::UnknownExtension { .. } => "unknown-extension",
        Self::NotBuilt { .. } => "not-built",
        Self::BigEndian => "big-endian",
    }
    wraps {
        Self::Spec(error) => error,
    }
}
