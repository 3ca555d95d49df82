//! The kinds of `LogWriteError` (the other error types have theirs beside them): stable names for programs that cannot match on variants.

use rankwright_spec::error_kinds;

use crate::log::write::LogWriteError;

error_kinds! {
    LogWriteError {
        Self::Io(_) => "io",
        Self::Separator { .. } => "separator",
    }
    wraps {
        Self::Data(error) => error,
    }
}
