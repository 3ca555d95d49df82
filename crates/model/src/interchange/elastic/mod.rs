//! Trees for the learning-to-rank plugins of Elasticsearch and OpenSearch, `model/xgboost+json`:
//! the form in which XGBoost dumps trees (`dump_model` with `dump_format="json"`), read and
//! written.
//!
//! A list of trees; a node is a `leaf`, or has a `split` (the name of a feature), a
//! `split_condition` and two `children`: values below the condition go to the first (`yes`),
//! missing ones to the one that `missing` names. The plugins also accept an object with the list as
//! `splits` and an `objective`; it is read if the objective does not transform the sums.
//!
//! The writer writes the list, which every version of the plugins accepts. `x <= t` becomes `x <
//! t'` with the next number above. A base score becomes a first tree of one leaf. Numbers have 32
//! bits. Rejected: splits with categories or with 0 as missing, linear models, numbers beyond 32
//! bits.
//!
//! Missing values: only late versions of OpenSearch's plugin use `missing`; others count a feature
//! without a value as 0, or send it to the second child. If a model has not learnt from missing
//! values, `missing` is the side of a 0, so that the versions differ least.
//!
//! The form does not list features: those that no split tests are lost, and a dump of unnamed
//! features (`f0`, `f1`, ...) is read as numbers from 0. XGBoost leaves its base score out of a
//! dump, and so do the plugins: scores are lower by it. JSON may nest 128 levels, so trees of more
//! than about 60 levels cannot be read back.

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::error::ModelError;
use crate::interchange::{ModelFormat, UnsupportedPart};
use crate::model::{BodyKind, Model};

/// The name in messages.
const NAME: &str = "Elasticsearch";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "elasticsearch",
    system: NAME,
    reads: "model/xgboost+json of the LTR plugins (OpenSearch too), dump_model of XGBoost",
    writes: "model/xgboost+json of the LTR plugins (OpenSearch too)",
    extensions: &["json"],
    bodies: &[BodyKind::Trees],
    scores: "to 1e-6 (it computes in f32)",
    detect,
    read,
    write: Some(write),
};
/// Number of bytes that are searched for detection.
const DETECT_BYTES: usize = 4096;

/// Whether bytes begin like this form: a list of nodes, or an object with such a list as `splits`.
fn detect(bytes: &[u8]) -> bool {
    let head = bytes.get(..DETECT_BYTES).unwrap_or(bytes).trim_ascii_start();
    let has = |key: &[u8]| head.windows(key.len()).any(|part| part == key);
    match head.first() {
        Some(b'[') => has(b"\"nodeid\""),
        Some(b'{') => has(b"\"splits\"") && has(b"\"nodeid\""),
        _ => false,
    }
}

/// Reads a dump.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    read::model(bytes)
}

/// Writes trees.
fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    write::model(model)
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}
