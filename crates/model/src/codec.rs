//! The model file: a line with name and version, a line of JSON, a compact body, a checksum. The
//! two lines are text (`head -2` shows them).
//!
//! | part | content |
//! |---|---|
//! | first line | `RANKWRIGHT MODEL 1`: the name and the version of the format (1 to 4) |
//! | second line | the header as JSON: kind of body, origin of the model, features |
//! | body | numbers, little-endian, see below |
//! | last 8 bytes | xxh3-64 of everything before |
//!
//! Body of `trees`: base f64, number of trees u32, then for each tree the number of splits `n` u32
//! and arrays: features u32 x n, thresholds f32 x n, sides of missing values (a bit each, lowest
//! first, 1 is left, spare bits 0), left children u32 x n, right children u32 x n (the top bit
//! marks a leaf), gains f64 x n, training rows u64 x n, leaf values f64 x (n + 1), training rows of
//! leaves u64 x (n + 1).
//! Body of `linear`: bias f64, number of weights u32, weights f64.
//!
//! Version 2 is written only if some split condition is more than a threshold. Each tree then has
//! after its thresholds the kind of each condition (a byte: 0 threshold; 1 threshold, where the
//! value 0 counts as missing; 2 set, whose number is stored in place of the threshold), and at its
//! end the number of sets u32 and for each set the number of its words u32 and the words u64, a bit
//! for each category.
//!
//! Version 3 holds nets and blends. Body of `net`: number of features u32, whether they are scaled
//! to 0..1 within a query u8, replacement of missing values f32 x features; for each feature the
//! number of its steps u8 and the steps: a byte for the kind, then 0 clip: low f32, high f32; 1
//! signed log: nothing; 2 affine: shift f32, scale f32; 3 table: number of points n u32, points f32
//! x n, values f32 x n. Then the number of layers u32 and for each layer: inputs u32, outputs u32,
//! activation u8 (0 none, 1 relu, 2 gelu, 3 tanh), whether it is normalised u8, weights f32 x
//! outputs x inputs, biases f32 x outputs, and if it is normalised scales and shifts, f32 x outputs
//! each. Body of `blend`: normalisation u8 (0 none, 1 min-max, 2 standard, 3 rank), number of
//! members u32, and for each its weight f64, its length u64 and a whole model file, which is no
//! blend itself.
//!
//! Version 4 holds blends whose members have different normalisations: 255 in place of the common
//! one, and the normalisation of each member before its weight.
//!
//! The same model always gives the same bytes. Any bytes give a model or an error: sizes are
//! compared with the remaining bytes before anything is allocated, and bytes with a valid checksum
//! are not trusted either: trees are made by [`Tree::new`](crate::Tree::new) and models by
//! [`Model::new`].

mod blend;
mod body;
mod damage;
mod head;
mod net;
#[cfg(test)]
mod tests;

pub use damage::Damage;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::ModelFormat;
use crate::model::{BodyKind, Model};

/// The first bytes of every model file, before the version.
const MAGIC: &[u8] = b"RANKWRIGHT MODEL ";
/// The newest version; all from 1 to this one are read.
const NEWEST_VERSION: u32 = 4;
/// Length of the checksum at the end of a file.
const CHECKSUM_BYTES: usize = 8;

/// Our own format.
pub(crate) static FORMAT: ModelFormat = ModelFormat {
    name: "rankwright",
    system: "Rankwright",
    reads: "its own files, of every version",
    writes: "its own files",
    extensions: &["model"],
    bodies: &BodyKind::ALL,
    // The agreement of our scores with those of the system.
    scores: "the same bits",
    detect: |bytes| bytes.starts_with(MAGIC),
    read,
    write: Some(|model| Ok(model.to_bytes())),
};

impl Model {
    /// The model as the bytes of a file in our own format: the same for the same model.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let version = body::version(self.body());
        bytes.extend_from_slice(format!("{version}\n").as_bytes());
        bytes.extend_from_slice(head::write(self.header(), self.body().name()).as_bytes());
        bytes.push(b'\n');
        body::write(self.body(), version, &mut bytes);
        let checksum = xxh3_64(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }
}

/// Reads and checks the bytes of a file in our own format.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let (version, header, kind, body) = read_header(bytes)?;
    build(version, header, &kind, body)
}

/// Reads a member of a blend. A member that is a blend itself is rejected before its body is read,
/// so that nesting is bounded.
fn read_member(bytes: &[u8]) -> Result<Model, ModelError> {
    let (version, header, kind, body) = read_header(bytes)?;
    match kind.as_str() {
        "blend" => Err(ModelError::damaged(Damage::NestedBlend)),
        kind => build(version, header, kind, body),
    }
}

/// Checks the checksum and reads the header; returns the version, the header, the name of the
/// body's kind, and the bytes of the body.
fn read_header(bytes: &[u8]) -> Result<(u32, Header, String, &[u8]), ModelError> {
    let (version, rest) = after_version(bytes)?;
    let parts = bytes.split_last_chunk::<CHECKSUM_BYTES>();
    let (content, checksum) = parts.ok_or_else(|| ModelError::damaged(Damage::CutOff))?;
    if xxh3_64(content) != u64::from_le_bytes(*checksum) {
        return Err(ModelError::damaged(Damage::Checksum));
    }
    // The content after the line with the version.
    let content = rest.split_last_chunk::<CHECKSUM_BYTES>().map_or(&[][..], |(content, _)| content);
    let line_and_body = split_line(content);
    let (line, body_bytes) = line_and_body.ok_or_else(|| ModelError::damaged(Damage::NoHeader))?;
    let (header, kind) = head::read(line)?;
    Ok((version, header, kind, body_bytes))
}

/// Reads the body and makes the model.
fn build(version: u32, header: Header, kind: &str, body: &[u8]) -> Result<Model, ModelError> {
    let body = body::read(kind, version, body)?;
    // A model has only one valid form as bytes: with the lowest version that can hold its body.
    match body::version(&body) {
        lowest if lowest == version => Model::new(header, body),
        lowest => {
            let damage = Damage::OtherVersion { marked: version, content: lowest };
            Err(ModelError::damaged(damage))
        }
    }
}

/// Checks the first line; returns the version and the bytes after it.
fn after_version(bytes: &[u8]) -> Result<(u32, &[u8]), ModelError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(ModelError::not_a_model(FORMAT.system));
    };
    let (line, rest) = split_line(rest).ok_or_else(|| ModelError::damaged(Damage::FirstLine))?;
    if line.ends_with(b"\r") {
        return Err(ModelError::damaged(Damage::LineEnds));
    }
    let text = std::str::from_utf8(line).unwrap_or_default();
    match text.parse::<u32>() {
        Ok(found) if text == found.to_string() => match (1..=NEWEST_VERSION).contains(&found) {
            true => Ok((found, rest)),
            false => Err(ModelError::Version { found, supported: NEWEST_VERSION }),
        },
        _ => Err(ModelError::damaged(Damage::NoVersion)),
    }
}

/// The bytes before the first line end, and those after it; `None` without a line end.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((bytes.get(..end)?, bytes.get(end + 1..)?))
}
