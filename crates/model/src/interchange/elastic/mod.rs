//! Trees for the learning-to-rank plugins of Elasticsearch and OpenSearch, `model/xgboost+json`:
//! the form in which XGBoost dumps trees (`dump_model` with `dump_format="json"`), read and
//! written.
//!
//! A list of trees; a node is a `leaf`, or has a `split` (the name of a feature), a
//! `split_condition` (the threshold) and two `children`: values below the threshold go to the first
//! (`yes`), others to the second (`no`), and missing ones to the child whose id is `missing`. The
//! plugins also accept an object with the list as `splits` and an `objective`; it is read if the
//! objective does not transform the sums of the trees.
//!
//! The writer writes the list, which every version of the plugins accepts. `x <= t` becomes `x <
//! t'`, where t' is the next f32 above t. A base score becomes a tree of one leaf, the first of the
//! list. Numbers have 32 bits. Rejected: splits with categories or with 0 as missing, linear
//! models, numbers beyond 32 bits.
//!
//! Missing values: only recent versions of OpenSearch's plugin use `missing`; other versions count
//! a missing value as 0, or send it to the second child. If the training data of a model had no
//! missing values, `missing` is written as the side of a 0, so that the versions of the plugins
//! differ least.
//!
//! The form does not list features: those that no split tests are lost, and a dump of unnamed
//! features (`f0`, `f1`, ...) is read as numbers from 0. XGBoost leaves its base score out of a
//! dump: scores of the plugins and of the model read here are XGBoost's without the base score.
//! JSON may nest 128 levels, so trees of more than about 60 levels cannot be read back.

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::error::ModelError;
use crate::interchange::{ModelFormat, UnsupportedPart};
use crate::model::{BodyKind, Model};

/// The name of the system in messages.
const NAME: &str = "Elasticsearch";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "elasticsearch",
    system: NAME,
    reads: "model/xgboost+json of the LTR plugins (OpenSearch too), dump_model of XGBoost",
    writes: "model/xgboost+json of the LTR plugins (OpenSearch too)",
    extensions: &["json"],
    bodies: &[BodyKind::Trees],
    // The agreement of our scores with those of the system.
    scores: "to 1e-6 (it computes in f32)",
    detect,
    read,
    write: Some(write),
};
/// Number of bytes that are searched for detection.
const DETECT_BYTES: usize = 4096;

/// Whether bytes begin like a list of trees, or like an object with such a list as `splits`.
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

/// Writes a model of trees.
fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    write::model(model)
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}
