//! Damage of binary files: caches, Parquet and Arrow.

/// The part of a binary file that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileDamage {
    /// The first bytes of a cache were changed.
    #[error("its first bytes were changed, possibly by a transfer in text mode")]
    FirstBytes,
    /// A cache ends inside its header.
    #[error("it ends inside its header")]
    ShortHeader,
    /// The header of a cache names more sections than the format has.
    #[error("its header names more sections than the format has")]
    TooManySections,
    /// The checksum of the header of a cache does not match.
    #[error("the checksum of its header does not match")]
    HeaderChecksum,
    /// A cache is shorter or longer than it was written.
    #[error("it has {found} bytes, but {expected} were written")]
    Length {
        /// The number of bytes.
        found: u64,
        /// The number of bytes that were written.
        expected: u64,
    },
    /// A section of a cache is damaged.
    #[error("section {number} ({name}) {problem}")]
    Section {
        /// The number of the section's kind in the format.
        number: u64,
        /// The name of its content, such as `labels`.
        name: &'static str,
        /// The problem.
        problem: SectionProblem,
    },
    /// A cache has bytes after its last section.
    #[error("it has bytes after its last section")]
    TrailingBytes,
    /// The numbers of rows and columns of a cache do not match its matrix.
    #[error("its numbers of rows and columns do not match its matrix")]
    Shape,
    /// A cache has both feature names and feature ids, or neither.
    #[error("its feature names contradict its feature ids")]
    FeatureNames,
    /// The queries of a cache overlap or leave gaps.
    #[error("the rows of its queries are not in order")]
    QueryOrder,
    /// A cache has rows but no queries.
    #[error("it has rows but no queries")]
    NoQueries,
    /// A label of a cache is not finite.
    #[error("a label is not finite")]
    Label,
    /// Two features of a cache have one name.
    #[error("two features have the same name")]
    DuplicateFeature,
    /// A weight of a cache is negative or not finite.
    #[error("a weight is negative or not finite")]
    Weight,
    /// A position of a cache is 0; positions are ranks, from 1.
    #[error("a position is 0; positions are ranks, which start at 1")]
    Position,
    /// The original row order of a cache is not a permutation of its rows.
    #[error("its original row order is not a permutation of its rows")]
    RowOrder,
    /// A preference pair of a cache is not valid.
    #[error("a preference pair is not valid")]
    Pair,
    /// The end of an Arrow file is missing.
    #[error("it is cut off, or its footer is missing")]
    NoFooter,
    /// The footer of an Arrow file cannot be parsed.
    #[error("its footer cannot be parsed")]
    Footer,
    /// An Arrow file or stream has no schema.
    #[error("it has no schema")]
    NoSchema,
    /// An Arrow file has the byte order of another machine.
    #[error("its numbers have the byte order of another machine")]
    ByteOrder,
    /// A block of an Arrow file lies outside of the file.
    #[error("a block lies outside of the file")]
    Block,
    /// An Arrow stream ends inside a message.
    #[error("it ends inside a message")]
    ShortMessage,
    /// A compressed buffer claims to hold more than compression allows.
    #[error("a compressed buffer of {bytes} bytes claims to hold {claimed} bytes")]
    CompressedSize {
        /// The size of the compressed buffer.
        bytes: u64,
        /// The size that it claims to have uncompressed.
        claimed: u64,
    },
    /// The recorded rule for absent features is unknown.
    #[error("its rule for absent features is unknown")]
    AbsentRule,
    /// A category of the data has no text among the recorded categories.
    #[error("a category has a number without a text")]
    CategoryNumber,
    /// The recorded description of the table that the data was read from cannot be parsed.
    #[error("the columns of the table that it was made from cannot be read")]
    TableColumns,
    /// The library that reads the format reports an error.
    #[error("{message}")]
    Reader {
        /// The message of that library.
        message: String,
    },
    /// The library that reads the format panicked.
    #[error("its reader failed: {message}")]
    Panic {
        /// The message of the panic.
        message: String,
    },
}

/// The problem with a section of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionProblem {
    /// Its offset or length is wrong.
    #[error("has a wrong offset or length")]
    Extent,
    /// It is not in ascending order, or of an unknown kind.
    #[error("is out of order")]
    Order,
    /// The bytes between it and the section before are not zero.
    #[error("follows bytes that are not zero")]
    Gap,
    /// Its checksum does not match.
    #[error("has a checksum that does not match")]
    Checksum,
    /// It does not have a value for each row or query.
    #[error("has a wrong number of values")]
    Count,
    /// It is missing.
    #[error("is missing")]
    Missing,
    /// It is not UTF-8 text, or does not hold as many strings as it should.
    #[error("does not hold valid text")]
    Text,
}

impl FileDamage {
    /// An error of a library that reads the format; its message is put on one line.
    pub fn reader(error: impl std::fmt::Display) -> Self {
        FileDamage::Reader { message: one_line(&error.to_string()) }
    }

    /// A panic of a library that reads the format; its message is put on one line.
    pub fn panic(message: &str) -> Self {
        FileDamage::Panic { message: one_line(message) }
    }
}

/// Joins the lines of a message; some messages of other libraries have several.
fn one_line(message: &str) -> String {
    message.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}
