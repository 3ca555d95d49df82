//! LightGBM's models: reads and writes the text of `save_model`, reads the JSON of `dump_model`.
//!
//! **Reading.** Scores are LightGBM's raw ones, `predict(raw_score=True)`, to the bit: both add
//! leaf values in f64 in the order of the trees. The objective's own transform of a score (such as
//! the sigmoid of `binary`) keeps the order of documents and is left out; a note of the header
//! names the objective. Leaf values already include shrinkage. With `average_output` (random
//! forests) every leaf is divided by the number of trees, which may change the last bit: this is
//! the result of `predict` without `raw_score`.
//!
//! | `decision_type` | means | ours |
//! |---|---|---|
//! | bit 0 | categories of a bitset go left, others right | `SplitCondition::In`, missing right |
//! | bit 1 | missing values go left | `missing` |
//! | bits 2, 3: 0 (None) | NaN counts as 0 | `SplitCondition::AtMost`, `missing`: side of 0 |
//! | bits 2, 3: 1 (Zero) | 0 and NaN are missing | `SplitCondition::NonZeroAtMost` |
//! | bits 2, 3: 2 (NaN) | NaN is missing | `SplitCondition::AtMost` |
//!
//! A threshold is rounded down to f32, which is the same for every f32 value (`x <= t`). A first
//! tree that is one leaf becomes the base score. Categories are LightGBM's codes: a model that was
//! trained on a pandas table needs the codes of that table. Gains that are not finite (they do not
//! affect a score) become the nearest finite number.
//!
//! Rejected: linear trees, several classes (`num_tree_per_iteration` over 1), versions other than
//! v2 to v4, and JSON of trees deeper than some 120 splits, which the text form can hold.
//!
//! **Writing.** Trees as text of version v4, a base score as a first tree of one leaf, so that
//! LightGBM adds the same numbers in the same order. Feature ids that count from 0 become
//! `Column_0`, ...; those that count from 1 become the names `1`, `2`, ... in the order of the
//! columns. Rejected: linear models, sets of categories with missing values on the left, and names
//! that are empty or contain white space. LightGBM treats values within 1e-35 of 0 as 0, for any
//! threshold; and it treats features that a sparse row leaves out as 0.

mod dump;
mod export;
mod parts;
#[cfg(test)]
pub(super) mod tests;
mod text;

use self::export::write;
use crate::error::ModelError;
use crate::interchange::{FileProblem, ModelFormat, UnsupportedPart};
use crate::model::{BodyKind, Model};

/// The name of the system in messages.
const NAME: &str = "LightGBM";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "lightgbm",
    system: NAME,
    reads: "text of save_model, JSON of dump_model",
    writes: "text of save_model",
    extensions: &["txt", "json"],
    bodies: &[BodyKind::Trees],
    // The agreement of our scores with those of the system.
    scores: "raw scores, the same bits",
    detect,
    read,
    write: Some(write),
};

/// Number of bytes that are searched for the key that detects the JSON; keys may be in any order.
const DETECT_BYTES: usize = 1 << 16;

/// Whether bytes begin like LightGBM's text or like its JSON.
fn detect(bytes: &[u8]) -> bool {
    is_text(bytes) || is_dump(bytes)
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"tree\n") || bytes.starts_with(b"tree\r\n")
}

fn is_dump(bytes: &[u8]) -> bool {
    let key = b"\"num_tree_per_iteration\"";
    let begin = bytes.get(..DETECT_BYTES).unwrap_or(bytes);
    begin.trim_ascii_start().starts_with(b"{") && begin.windows(key.len()).any(|part| part == key)
}

/// Reads the text or the JSON.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    match is_text(bytes) {
        true => text::read(bytes),
        false => dump::read(bytes),
    }
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}

fn invalid(problem: FileProblem) -> ModelError {
    ModelError::invalid_file(NAME, problem)
}
