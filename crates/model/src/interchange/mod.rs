//! Models of other systems: read into ours, and written from ours.
//!
//! | system | file | read | write |
//! |---|---|---|---|
//! | LightGBM | text, JSON dump | yes | text |
//! | XGBoost | JSON, UBJSON | yes | JSON |
//! | CatBoost | JSON | yes | |
//! | RankLib | XML ensembles, linear text | yes | yes |
//! | Solr LTR | JSON | yes | yes |
//! | Elasticsearch, OpenSearch LTR | `model/xgboost+json` | yes | yes |
//! | ONNX | TreeEnsembleRegressor | yes | yes |
//!
//! A model that is read scores as its own system scores it; what ours cannot express is an error
//! that says so, and so is what the other format cannot express on the way out: nothing is changed
//! in silence. Files are not to be trusted: any bytes give a model or an error, in time and memory
//! that grow with their length only.

mod catboost;
mod common;
mod elastic;
mod lightgbm;
mod onnx;
mod ranklib;
mod raw_nodes;
mod solr;
#[cfg(test)]
mod test_support;
mod xgboost;

use std::path::Path;

use rankwright_data::bytes::Input;

use crate::error::ModelError;
use crate::model::{Model, ModelBody};

/// A form of model files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelFormat {
    /// Our own.
    Rankwright,
    /// LightGBM's text, or its JSON dump.
    LightGbm,
    /// XGBoost's JSON or UBJSON.
    Xgboost,
    /// CatBoost's JSON.
    CatBoost,
    /// RankLib's ensembles and linear models.
    RankLib,
    /// The JSON of Solr's learning-to-rank plugin.
    Solr,
    /// The dump of XGBoost's trees that the plugins of Elasticsearch and OpenSearch take.
    Elasticsearch,
    /// ONNX with a TreeEnsembleRegressor.
    Onnx,
}

type Read = fn(&[u8]) -> Result<Model, ModelError>;
type Write = fn(&Model) -> Result<Vec<u8>, ModelError>;

/// One row of the table.
struct Entry {
    format: ModelFormat,
    name: &'static str,
    /// Whether bytes begin like it.
    is: fn(&[u8]) -> bool,
    read: Read,
    write: Option<Write>,
}

/// Every format; the first that knows the bytes reads them.
const FORMATS: [Entry; 8] = [
    Entry {
        format: ModelFormat::Rankwright,
        name: "rankwright",
        is: Model::is_model,
        read: Model::from_bytes,
        write: Some(|model| Ok(model.to_bytes())),
    },
    Entry {
        format: ModelFormat::LightGbm,
        name: "lightgbm",
        is: lightgbm::is,
        read: lightgbm::read,
        write: Some(lightgbm::write),
    },
    Entry {
        format: ModelFormat::Xgboost,
        name: "xgboost",
        is: xgboost::is,
        read: xgboost::read,
        write: Some(xgboost::write),
    },
    Entry {
        format: ModelFormat::CatBoost,
        name: "catboost",
        is: catboost::is,
        read: catboost::read,
        write: None,
    },
    Entry {
        format: ModelFormat::RankLib,
        name: "ranklib",
        is: ranklib::is,
        read: ranklib::read,
        write: Some(ranklib::write),
    },
    Entry {
        format: ModelFormat::Solr,
        name: "solr",
        is: solr::is,
        read: solr::read,
        write: Some(solr::write),
    },
    Entry {
        format: ModelFormat::Elasticsearch,
        name: "elasticsearch",
        is: elastic::is,
        read: elastic::read,
        write: Some(elastic::write),
    },
    Entry {
        format: ModelFormat::Onnx,
        name: "onnx",
        is: onnx::is,
        read: onnx::read,
        write: Some(onnx::write),
    },
];

impl ModelFormat {
    /// Every format that can be written, by name.
    pub fn writable() -> impl Iterator<Item = (&'static str, ModelFormat)> {
        FORMATS.iter().filter(|entry| entry.write.is_some()).map(|entry| (entry.name, entry.format))
    }

    /// The name in commands.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|entry| entry.format == self).map_or("", |entry| entry.name)
    }

    /// The format of some bytes, by how they begin.
    pub fn of(bytes: &[u8]) -> Option<ModelFormat> {
        FORMATS.iter().find(|entry| (entry.is)(bytes)).map(|entry| entry.format)
    }
}

impl Model {
    /// Reads a model of any known format, ours or another system's.
    pub fn read(bytes: &[u8]) -> Result<(Model, ModelFormat), ModelError> {
        match FORMATS.iter().find(|entry| (entry.is)(bytes)) {
            Some(entry) => Ok(((entry.read)(bytes)?, entry.format)),
            // Says what it found instead.
            None => Ok((Model::from_bytes(bytes)?, ModelFormat::Rankwright)),
        }
    }

    /// Reads a model of any known format from a file; `-` is standard input.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, ModelError> {
        let input = Input::open(path.as_ref())?;
        let read = Model::read(&input.bytes).map_err(|error| error.in_file(input.name))?;
        Ok(read.0)
    }

    /// The model in another format; an error where it cannot be expressed there.
    pub fn write(&self, format: ModelFormat) -> Result<Vec<u8>, ModelError> {
        let write = FORMATS.iter().find(|entry| entry.format == format).and_then(|e| e.write);
        let newer = matches!(self.body(), ModelBody::Net(_) | ModelBody::Blend(_));
        match write {
            Some(_) if newer && format != ModelFormat::Rankwright => Err(refused(self, format)),
            Some(write) => write(self),
            None => Err(ModelError::Unsupported {
                format: format.name(),
                what: "this format can be read but not written".into(),
            }),
        }
    }
}

/// Why a net or a blend is not written for another system.
fn refused(model: &Model, format: ModelFormat) -> ModelError {
    let what = match model.body() {
        ModelBody::Blend(_) => {
            "a blend cannot be written for it; its members can be trained alone and written each"
        }
        _ => "a net, with its transforms of features, cannot be written for it; trees can",
    };
    ModelError::Unsupported { format: format.name(), what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blend, Header, Normalise, net};
    use rankwright_data::{Absent, FeatureNames};

    #[test]
    fn nets_and_blends_are_written_in_our_own_format_alone() {
        let header = Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
        let net = |hidden: &[usize]| {
            let net = net::tests::random(1, 2, hidden, false);
            Model::new(header.clone(), ModelBody::Net(net)).unwrap()
        };
        let blend = Blend::new(Normalise::Rank, vec![(1.0, test_support::line(0.0))]).unwrap();
        let blend =
            Model::new(test_support::line(0.0).header().clone(), ModelBody::Blend(blend)).unwrap();
        for (model, word) in [(net(&[]), "a net"), (net(&[2]), "a net"), (blend, "a blend")] {
            for (name, format) in ModelFormat::writable() {
                match (format, model.write(format)) {
                    (ModelFormat::Rankwright, written) => {
                        assert_eq!(Model::from_bytes(&written.unwrap()).unwrap(), model);
                    }
                    (_, written) => {
                        let error = written.unwrap_err().to_string();
                        assert!(error.starts_with(&format!("{name} model: {word}")), "{error}");
                    }
                }
            }
        }
    }
}
