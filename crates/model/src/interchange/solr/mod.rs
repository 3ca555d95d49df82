//! Models of Solr's learning-to-rank plugin, in the form of its model store, read and written.
//!
//! `MultipleAdditiveTreesModel`: `score = sum weight * tree`, where a node is a leaf with a `value`
//! or has `feature`, `threshold`, `left` and `right`. Numbers are mostly strings. Solr adds 1e-6
//! (in f32) to every threshold before it compares, and so does our reader; the writer writes the
//! number to which adding 1e-6 gives our threshold, and fails if there is none (for thresholds
//! close to 0, but not 0). `LinearModel`: a weight for each feature.
//!
//! Missing values: a feature without a value is 0 in Solr, and goes to the side of 0, unless the
//! model has `"isNullSameAsZero": false` (Solr 9.2 and later); then each node has a side for them,
//! and the features must be stored with `"defaultValue": "NaN"`. That form is written only if the
//! side of missing values matters to the model.
//!
//! Solr computes in f32 and we in f64: scores agree to about 1e-6 of their size. Feature names are
//! kept; gains and row counts are not. A base score becomes a first tree of one leaf. Rejected:
//! normalizers, other classes of models, trees that test a feature that is not listed (Solr scores
//! such a tree 0); in writing, categories, and linear models with a bias. JSON may nest 128
//! levels, so trees of more than about 120 levels cannot be read back.

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::error::ModelError;
use crate::interchange::{ModelFormat, UnsupportedPart};
use crate::model::{BodyKind, Model};

/// The name of the system in messages.
const NAME: &str = "Solr";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "solr",
    system: NAME,
    reads: "JSON of the model store of its LTR plugin",
    writes: "JSON of the model store of its LTR plugin",
    extensions: &["json"],
    bodies: &[BodyKind::Trees, BodyKind::Linear],
    // The agreement of our scores with those of the system.
    scores: "to 1e-6 (it computes in f32)",
    detect,
    read,
    write: Some(write),
};
/// The Java package of the classes of models.
const PACKAGE: &str = "org.apache.solr.ltr.model.";
/// The class of models of trees.
const TREES: &str = "MultipleAdditiveTreesModel";
/// The class of linear models.
const LINEAR: &str = "LinearModel";
/// The number that Solr adds to thresholds.
const THRESHOLD_OFFSET: f32 = 1e-6;

/// Whether bytes begin like a model of Solr: an object that names a class of models.
fn detect(bytes: &[u8]) -> bool {
    let head = bytes.get(..1 << 16).unwrap_or(bytes).trim_ascii_start();
    head.starts_with(b"{") && head.windows(PACKAGE.len()).any(|part| part == PACKAGE.as_bytes())
}

/// Reads a model of Solr.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    read::model(bytes)
}

/// Writes a model for Solr.
fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    write::model(model)
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}
