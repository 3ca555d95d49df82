//! CatBoost models in their JSON form (`save_model(path, format="json")`), read only.
//!
//! `score = scale * (tree_1 + tree_2 + ...) + bias`; the scale is multiplied into the leaves.
//!
//! - `oblivious_trees`: all splits of a level have the same test, so a tree is a list of `k` splits
//!   and `2^k` leaf values. Bit `i` of a leaf's number is the result of split `i`: 1 if `value >
//!   border`. Here split 0 becomes the root. A tree of depth k is expanded to `2^k - 1` splits, so
//!   `k` is at most 16, which is CatBoost's own limit, and files that claim more leaves than their
//!   size could hold are rejected.
//! - `trees`: nested nodes with `left`, `right` and `split`, or `value`, from CatBoost's other ways
//!   of growing trees.
//!
//! `nan_value_treatment` of a feature decides the side of missing values: `AsTrue` right, `AsFalse`
//! and `AsIs` (a feature without missing values in training, where NaN is above no border) left.
//! Names are kept if features have them; otherwise features are numbered from 0. The numbers of
//! rows at leaves are the rounded leaf weights.
//!
//! Rejected: categories, texts and embeddings, splits on anything but numbers, more than one
//! output. The file is read twice: for its features first, then tree by tree.

mod metadata;
#[cfg(test)]
mod tests;
mod trees;

use rankwright_data::Absent;

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::{FileProblem, ModelFormat, UnsupportedPart};
use crate::model::{Model, ModelBody};

/// The name of the system in messages.
const NAME: &str = "CatBoost";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "catboost",
    system: NAME,
    reads: "JSON of save_model",
    writes: "",
    extensions: &["json"],
    bodies: &[],
    // The agreement of our scores with those of the system.
    scores: "raw values, to 1e-6",
    detect,
    read,
    write: None,
};

/// Whether bytes begin like a CatBoost model: an object with one of the keys that come first.
fn detect(bytes: &[u8]) -> bool {
    let head = bytes.get(..4096).unwrap_or(bytes).trim_ascii_start();
    let has = |key: &str| head.windows(key.len()).any(|part| part == key.as_bytes());
    let keys = ["\"features_info\"", "\"oblivious_trees\"", "\"ctr_data\""];
    head.starts_with(b"{") && keys.into_iter().any(has)
}

/// Reads a CatBoost model.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let metadata = metadata::Metadata::read(bytes)?;
    let trees = trees::read(bytes, &metadata)?;
    let mut header = Header::new(metadata.names(), Absent::Zero);
    let from = format!("{NAME} {}", metadata.version);
    header.notes.insert("from".into(), from.trim_end().into());
    if !metadata.loss.is_empty() {
        header.notes.insert("objective".into(), metadata.loss.clone());
    }
    Model::new(header, ModelBody::Trees(Ensemble::new(metadata.bias, trees)?))
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}

fn invalid(problem: FileProblem) -> ModelError {
    ModelError::invalid_file(NAME, problem)
}

/// The error of the JSON reader, or of our own code through it.
fn invalid_json(error: &serde_json::Error) -> ModelError {
    let expected = "the JSON that CatBoost writes";
    invalid(FileProblem::Syntax { message: error.to_string(), expected })
}
