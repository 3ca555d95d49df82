//! The kinds of errors: stable names for programs that cannot match on Rust enums, such as scripts
//! that read JSON, Python and HTTP clients.
//!
//! A kind is the name of a variant in lower case with hyphens, such as `unknown-features`. A
//! variant that only wraps another error, or only adds a location (file, line) to it, has the kind
//! of the inner error. The match in `kind` is exhaustive, so a new variant does not compile without
//! a kind.

/// Implements the method `kind` and the constant `KINDS`, the list of the kinds of an error type's
/// own variants.
///
/// ```
/// #[derive(Debug)]
/// enum Inner {
///     NoRows,
/// }
/// enum Outer {
///     TooFew { found: usize },
///     Data(Inner),
/// }
/// rankwright_spec::error_kinds! {
///     Inner { Self::NoRows => "no-rows", }
///     wraps {}
/// }
/// rankwright_spec::error_kinds! {
///     Outer { Self::TooFew { .. } => "too-few", }
///     wraps { Self::Data(error) => error, }
/// }
/// assert_eq!(Outer::TooFew { found: 1 }.kind(), "too-few");
/// assert_eq!(Outer::Data(Inner::NoRows).kind(), "no-rows");
/// assert_eq!(Outer::KINDS, ["too-few"]);
/// ```
///
/// With `wraps and forwards help { ... }`, the type also has the method `wrapped_help`: the help of
/// the wrapped error, so that no wrapping variant can be left out of the type's own `help`.
///
/// ```
/// struct Inner;
/// impl Inner {
///     fn help(&self) -> Option<String> {
///         Some("give rows".to_owned())
///     }
///     fn kind(&self) -> &'static str {
///         "no-rows"
///     }
/// }
/// enum Outer {
///     TooFew,
///     Data(Inner),
/// }
/// rankwright_spec::error_kinds! {
///     Outer { Self::TooFew => "too-few", }
///     wraps and forwards help { Self::Data(error) => error, }
/// }
/// assert_eq!(Outer::Data(Inner).wrapped_help(), Some(Some("give rows".to_owned())));
/// assert_eq!(Outer::TooFew.wrapped_help(), None);
/// ```
#[macro_export]
macro_rules! error_kinds {
    (
        $error:ty { $( $(#[$own_cfg:meta])* $own:pat => $kind:literal, )* }
        wraps and forwards help { $( $(#[$wrapper_cfg:meta])* $wrapper:pat => $inner:ident, )* }
    ) => {
        $crate::error_kinds! {
            $error { $( $(#[$own_cfg])* $own => $kind, )* }
            wraps { $( $(#[$wrapper_cfg])* $wrapper => $inner, )* }
        }

        impl $error {
            /// The help of the wrapped error, if it has one; the outer `None` stands for a variant
            /// that wraps no other error.
            pub(crate) fn wrapped_help(
                &self,
            ) -> ::std::option::Option<::std::option::Option<::std::string::String>> {
                match self {
                    $( $(#[$wrapper_cfg])* $wrapper => Some($inner.help()), )*
                    _ => None,
                }
            }
        }
    };
    (
        $error:ty { $( $(#[$own_cfg:meta])* $own:pat => $kind:literal, )* }
        wraps { $( $(#[$wrapper_cfg:meta])* $wrapper:pat => $inner:ident, )* }
    ) => {
        impl $error {
            /// The kinds of this type's own variants; a variant that wraps another error has the
            /// kind of that error.
            pub const KINDS: &'static [&'static str] = &[$( $(#[$own_cfg])* $kind, )*];

            /// The stable name of the kind of error, for programs that cannot match on the
            /// variants: `no-such-file`. A variant that only wraps another error has the kind of
            /// that error.
            pub fn kind(&self) -> &'static str {
                match self {
                    $( $(#[$own_cfg])* $own => $kind, )*
                    $( $(#[$wrapper_cfg])* $wrapper => $inner.kind(), )*
                }
            }
        }
    };
}

use crate::SpecError;

error_kinds! {
    SpecError {
        Self::Syntax { .. } => "syntax",
        Self::TooDeep { .. } => "too-deep",
        Self::UnknownName { .. } => "unknown-name",
        Self::UnknownKey { .. } => "unknown-key",
        Self::DuplicateKey { .. } => "duplicate-key",
        Self::MissingKey { .. } => "missing-key",
        Self::BadValue { .. } => "bad-value",
        Self::Conflict { .. } => "conflict",
    }
    wraps {}
}
