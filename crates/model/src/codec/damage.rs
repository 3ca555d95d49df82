//! The kinds of damage of a model file in our own format, and their messages.

use rankwright_spec::words::counted;
use thiserror::Error;

/// The damage of a model file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Damage {
    /// The file is shorter than a checksum.
    #[error("it is cut off")]
    CutOff,
    /// The content was changed after writing.
    #[error("its checksum does not match its content")]
    Checksum,
    /// The first line does not end.
    #[error("its first line does not end")]
    FirstLine,
    /// The first line ends with a carriage return, as after a conversion of line ends.
    #[error("its line ends were changed, perhaps by a transfer as text")]
    LineEnds,
    /// The first line has no version.
    #[error("its first line has no version")]
    NoVersion,
    /// The content belongs to another version than the first line names.
    #[error("it is marked as version {marked}, and its content is that of version {content}")]
    OtherVersion {
        /// The version in the first line.
        marked: u32,
        /// The version that the content needs.
        content: u32,
    },
    /// The second line is missing.
    #[error("there is no line with a header")]
    NoHeader,
    /// The second line is not a header.
    #[error("its header cannot be read ({message})")]
    Header {
        /// The message of the JSON reader.
        message: String,
    },
    /// The hash of the features is wrong.
    #[error("its feature hash does not match its features")]
    FeatureHash,
    /// An unknown kind of model.
    #[error("its kind is '{}'; expected trees, linear, net or blend", .found.escape_debug())]
    UnknownKind {
        /// The kind in the header.
        found: String,
    },
    /// A blend among the members of a blend.
    #[error("it has a blend within a blend")]
    NestedBlend,
    /// More items than the remaining bytes can hold.
    #[error("{} do not fit into it", counted(*.count, .item))]
    TooManyItems {
        /// The kind of item: `tree`, `layer`.
        item: &'static str,
        /// The number in the file.
        count: usize,
    },
    /// A byte that is none of the known codes.
    #[error("the byte {value} is no known {code}")]
    UnknownCode {
        /// The kind of code that was expected: `activation`, `normalisation`.
        code: &'static str,
        /// The byte.
        value: u8,
    },
    /// A product of sizes that overflows a `usize`.
    #[error("a size is too large")]
    SizeOverflow,
    /// The bytes end too early.
    #[error("{} should follow, but {left} {} left", counted(*.needed, "byte"), is_or_are(*.left))]
    MissingBytes {
        /// Number of bytes that should follow.
        needed: usize,
        /// Number of bytes that are left.
        left: usize,
    },
    /// Bytes after the end of the model.
    #[error("{} after its end", counted(*.bytes, "byte"))]
    TrailingBytes {
        /// Number of bytes after the end.
        bytes: usize,
    },
    /// Padding bits are not 0. Each split stores one bit: the child (left or right) that missing
    /// values go to. The last byte is filled up with zeros.
    #[error("padding bits are set")]
    PaddingBits,
}

fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}
