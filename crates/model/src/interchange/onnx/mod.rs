//! ONNX models with a `TreeEnsembleRegressor` (domain ai.onnx.ml), read and written; other models and
//! sums are written as graphs of standard operators.
//!
//! | part | file |
//! |---|---|
//! | protocol buffers, read and written by hand | `wire` |
//! | the field numbers of its messages | `fields` |
//! | the graph: position of the ensemble, nodes allowed around it | `graph` |
//! | the ensemble's attributes as arrays | `columns` |
//! | arrays to trees | `read` |
//! | trees to a graph, and the file around it | `write` |
//! | linear models, nets and sums to a graph | `sum` |
//! | graphs of standard operators | `operators` |
//!
//! Read: the modes `BRANCH_LEQ`, `BRANCH_LT`, `BRANCH_GTE`, `BRANCH_GT`, missing values to either
//! side, base values, sums and averages of trees, f32 attributes and f64 tensors. A model scores as
//! an ONNX runtime would, but adds in f64 where a runtime adds in f32. Rejected: more than one
//! target (output), transforms of scores, `BRANCH_EQ` and `BRANCH_NEQ`, the newer operator
//! `TreeEnsemble`, and every operator around the ensemble that could change a number. Features are
//! numbered from 0 (ONNX has no names for them), unless this crate wrote the file. Gains and row
//! counts are not kept.
//!
//! Written: splits exactly, leaf values and base as f32; linear models and nets in doubles; sums of all
//! of these, such as a model and the trees that a training added to it. Categories are errors, and so
//! are models whose scores depend on the other documents of a query. Only graphs of trees alone are
//! read back.

mod columns;
mod fields;
mod graph;
mod operators;
mod problem;
mod read;
mod sum;
#[cfg(test)]
mod tests;
mod wire;
mod write;

pub use self::problem::{ProtobufProblem, UnsupportedGraph};
use crate::error::ModelError;
use crate::interchange::ModelFormat;
use crate::model::{BodyKind, Model};

/// The name of the system in messages.
const NAME: &str = "ONNX";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "onnx",
    system: NAME,
    reads: "TreeEnsembleRegressor",
    writes: "TreeEnsembleRegressor; other models and sums as standard operators, which are not read back",
    extensions: &["onnx"],
    bodies: &BodyKind::ALL,
    // The agreement of our scores with those of the system.
    scores: "to 1e-6 (leaf values in f32)",
    detect,
    read,
    write: Some(write),
};
/// The key of the metadata with the feature names, as a JSON list.
const FEATURES: &str = "rankwright.features";
/// The key of the metadata with the kind of a model that is not trees alone.
const KIND: &str = "rankwright.kind";

/// Whether bytes begin like an ONNX model: the version of the file format (field 1, a small
/// number), then the tag of one of the fields 2 to 8 of a model.
fn detect(bytes: &[u8]) -> bool {
    match bytes {
        [0x08, version, tag, ..] => {
            (1..0x80).contains(version) && [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42].contains(tag)
        }
        _ => false,
    }
}

/// Reads an ONNX model.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    read::model(bytes)
}

/// Writes an ONNX model.
fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    write::model(model)
}
