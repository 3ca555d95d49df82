//! The content of a CatBoost file besides its trees. A border is CatBoost's word for a threshold, a
//! float feature its word for a numeric one.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use rankwright_data::FeatureNames;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::{invalid, invalid_json, unsupported};
use crate::bounded::BoundedVec;
use crate::error::ModelError;
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::tree::Side;

/// The features and numbers that the trees need, and the origin of the model.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// The float features, by number.
    pub(super) features: Vec<FloatColumn>,
    /// The borders of all features, one after the other.
    borders: Vec<f32>,
    /// The name of each column; empty if it has none.
    column_names: Vec<String>,
    /// The factor of the sum of trees.
    pub(super) scale: f64,
    /// The number that is added to the scaled sum.
    pub(super) bias: f64,
    /// The name of the training loss; empty if the file has none.
    pub(super) loss: String,
    /// The version of CatBoost; empty if the file has none.
    pub(super) version: String,
}

/// A float feature.
#[derive(Debug)]
pub(super) struct FloatColumn {
    /// The column of the data.
    pub(super) column: u32,
    /// The side of missing values.
    pub(super) missing: Side,
    /// The range of its borders in [`Metadata::borders`]; `None` if the file does not list them.
    borders: Option<Range<usize>>,
}

/// Maximum number of columns: a limit on the memory that a file can use.
const MAX_COLUMNS: usize = 1 << 19;
/// Maximum number of outputs, for the same reason.
const MAX_OUTPUTS: usize = 1 << 16;
/// Maximum number of borders of a feature, for the same reason; CatBoost makes at most 65,535.
const MAX_BORDERS: usize = 1 << 16;

/// The parts of the file that are read here, under CatBoost's names.
#[derive(Deserialize)]
struct CatboostFile {
    features_info: FeaturesInfo,
    #[serde(default)]
    scale_and_bias: Option<(f64, Bias)>,
    #[serde(default)]
    model_info: Option<ModelInfo>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FeaturesInfo {
    float_features: BoundedVec<FloatFeature, MAX_COLUMNS>,
    categorical_features: Vec<IgnoredAny>,
    text_features: Vec<IgnoredAny>,
    embedding_features: Vec<IgnoredAny>,
    /// Statistics of categories, with which CatBoost replaces them.
    ctrs: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct FloatFeature {
    feature_index: u32,
    #[serde(default)]
    flat_feature_index: Option<u32>,
    #[serde(default)]
    feature_id: String,
    #[serde(default)]
    nan_value_treatment: Option<NanTreatment>,
    #[serde(default)]
    borders: Option<BoundedVec<f64, MAX_BORDERS>>,
}

/// The handling of NaN at splits `value > border`: the test is false (`AsFalse`) or true
/// (`AsTrue`). `AsIs` is for features without NaN in training; the comparison with NaN is false
/// too.
#[derive(Deserialize, Clone, Copy)]
#[allow(clippy::enum_variant_names, reason = "the names in the file")]
enum NanTreatment {
    AsIs,
    AsFalse,
    AsTrue,
}

/// The bias: one number in old files, a list in newer ones.
#[derive(Default)]
struct Bias(Vec<f64>);

impl<'de> Deserialize<'de> for Bias {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bias, D::Error> {
        from.deserialize_any(BiasVisitor)
    }
}

struct BiasVisitor;

impl<'de> Visitor<'de> for BiasVisitor {
    type Value = Bias;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a bias or a list of biases")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Bias, E> {
        Ok(Bias(vec![value]))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Bias, E> {
        Ok(Bias(vec![value as f64]))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Bias, E> {
        Ok(Bias(vec![value as f64]))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<Bias, S::Error> {
        let list = BoundedVec::<f64, MAX_OUTPUTS>::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(Bias(list.0))
    }
}

/// The origin of the model. Other entries of this object are not read, as their form changes from
/// version to version.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ModelInfo {
    catboost_version_info: String,
    params: CatboostParams,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CatboostParams {
    loss_function: LossFunction,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct LossFunction {
    r#type: String,
}

impl Metadata {
    /// Reads a file without its trees; rejects kinds of models that our trees cannot express.
    pub(super) fn read(bytes: &[u8]) -> Result<Metadata, ModelError> {
        let file: CatboostFile =
            serde_json::from_slice(bytes).map_err(|error| invalid_json(&error))?;
        let info = file.features_info;
        for (kind, count) in [
            ("categorical feature", info.categorical_features.len()),
            ("text feature", info.text_features.len()),
            ("embedding feature", info.embedding_features.len()),
            ("category statistic", info.ctrs.map_or(0, |ctrs| ctrs.len())),
        ] {
            if count > 0 {
                return Err(unsupported(UnsupportedPart::FeatureKind { kind, count }));
            }
        }
        let (scale, bias) = match file.scale_and_bias {
            None => (1.0, 0.0),
            Some((scale, Bias(biases))) => match biases[..] {
                [] => (scale, 0.0),
                [bias] => (scale, bias),
                _ => {
                    let (name, count) = ("the number of outputs", biases.len() as u64);
                    return Err(unsupported(UnsupportedPart::SeveralOutputs { name, count }));
                }
            },
        };
        let origin = file.model_info.unwrap_or_default();
        let version = version(&origin.catboost_version_info).to_owned();
        let loss = origin.params.loss_function.r#type;
        let mut metadata = Metadata { scale, bias, loss, version, ..Metadata::default() };
        for feature in info.float_features.0 {
            metadata.add(feature)?;
        }
        Ok(metadata)
    }

    /// Adds a float feature, which must have the next number.
    fn add(&mut self, feature: FloatFeature) -> Result<(), ModelError> {
        let number = feature.feature_index;
        let column = feature.flat_feature_index.unwrap_or(number);
        if number as usize != self.features.len() {
            return Err(invalid(FileProblem::OutOfOrder {
                item: "float feature",
                found: number as usize,
                expected: self.features.len(),
            }));
        }
        let missing = match feature.nan_value_treatment {
            Some(NanTreatment::AsTrue) => Side::Right,
            Some(NanTreatment::AsIs | NanTreatment::AsFalse) | None => Side::Left,
        };
        let borders = feature.borders.map(|borders| {
            let start = self.borders.len();
            self.borders.extend(borders.0.iter().map(|border| *border as f32));
            start..self.borders.len()
        });
        self.features.push(FloatColumn { column, missing, borders });
        // As there are no other kinds of features, columns are numbered like float features. Gaps
        // in the numbers would cost memory.
        match column as usize == self.column_names.len() {
            true => self.column_names.push(feature.feature_id),
            false => {
                return Err(invalid(FileProblem::OutOfOrder {
                    item: "column",
                    found: column as usize,
                    expected: self.column_names.len(),
                }));
            }
        }
        Ok(())
    }

    /// Rejects a split of the float feature `number` whose border differs from the listed one:
    /// CatBoost itself uses not the border of the split but its `index` in the lists of borders of
    /// all features, one after the other. Without an index, the border must be in the feature's
    /// list, which is sorted.
    pub(super) fn check_border(
        &self,
        number: u32,
        border: f64,
        index: Option<u32>,
    ) -> Result<(), ModelError> {
        let feature = self.features.get(number as usize);
        let range = feature.and_then(|feature| feature.borders.clone());
        let Some(range) = range else { return Ok(()) };
        let border32 = border as f32;
        let listed = match index {
            Some(index) => {
                let listed = self.borders.get(index as usize).copied();
                if range.contains(&(index as usize)) && listed == Some(border32) {
                    return Ok(());
                }
                listed
            }
            None => {
                let own_borders = self.borders.get(range).unwrap_or_default();
                let order = |listed: &f32| listed.partial_cmp(&border32).unwrap_or(Ordering::Less);
                if own_borders.binary_search_by(order).is_ok() {
                    return Ok(());
                }
                None
            }
        };
        Err(invalid(FileProblem::InconsistentBorder { feature: number, border, listed }))
    }

    /// The names of the features. If none has a name, they are ids from 0; if only some have, the
    /// names of the others are their numbers.
    pub(super) fn names(&self) -> FeatureNames {
        let count = self.column_names.len();
        if self.column_names.iter().all(String::is_empty) {
            return FeatureNames::Ids { first: 0, count };
        }
        let name = |(number, name): (usize, &String)| match name.is_empty() {
            true => number.to_string(),
            false => name.clone(),
        };
        FeatureNames::from_names(self.column_names.iter().enumerate().map(name).collect())
    }
}

/// The version in CatBoost's build information, such as `Branch: tags/v1.2.10`.
fn version(build: &str) -> &str {
    let after = build.split_once("tags/v").map_or("", |(_, after)| after);
    after.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or("")
}
