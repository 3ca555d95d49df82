//! Reads and writes models in the formats of other systems.
//!
//! Each format is a folder with a [`ModelFormat`] called `FORMAT`. To add a format, make its
//! folder, and add here its `mod` and a reference in [`FORMATS`].
//!
//! A model that is read scores as its own system scores it. A part that our models cannot express
//! is an error that says so, and so is a part of our models that the other format cannot express:
//! nothing is changed silently. Files are not trusted: any bytes give a model or an error, in time
//! and memory that grow only with their length.

mod catboost;
mod common;
mod elastic;
mod format;
mod lightgbm;
mod onnx;
mod problem;
mod ranklib;
mod raw_nodes;
mod solr;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
mod unsupported;
mod xgboost;

pub use self::format::{ModelFormat, ReadModel, WriteModel};
pub use self::onnx::{ProtobufProblem, UnsupportedGraph};
pub use self::problem::{FileProblem, NodeProblem};
pub use self::unsupported::UnsupportedPart;

use crate::codec;
use crate::error::ModelError;
use crate::model::{Model, ModelBody};

/// Every format. A file is read by the first format that recognises its beginning.
static FORMATS: &[&ModelFormat] = &[
    &codec::FORMAT,
    &lightgbm::FORMAT,
    &xgboost::FORMAT,
    &catboost::FORMAT,
    &ranklib::FORMAT,
    &solr::FORMAT,
    &elastic::FORMAT,
    &onnx::FORMAT,
];

impl Model {
    /// Reads a model of any known format, ours or another system's, detected by its content.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, ModelError> {
        match ModelFormat::detect(bytes) {
            Some(format) => Model::from_bytes_as(bytes, format),
            None => Err(ModelError::not_a_model(ModelFormat::systems())),
        }
    }

    /// Reads a model in this format.
    pub fn from_bytes_as(bytes: &[u8], format: &ModelFormat) -> Result<Model, ModelError> {
        (format.read)(bytes)
    }

    /// The model as the bytes of a file in another format; fails if the format cannot express it.
    pub fn to_bytes_as(&self, format: &ModelFormat) -> Result<Vec<u8>, ModelError> {
        match format.write {
            Some(write) if format.bodies.contains(&self.body().kind()) => write(self),
            Some(_) => {
                let part = match self.body() {
                    ModelBody::Net(net) if net.layers().len() == 1 => {
                        UnsupportedPart::TransformedLinear
                    }
                    _ => UnsupportedPart::of_model(self),
                };
                Err(ModelError::unsupported(format.system, part))
            }
            None => Err(ModelError::unsupported(format.system, UnsupportedPart::ReadOnly)),
        }
    }
}
