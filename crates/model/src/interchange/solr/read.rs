//! Reads a model from the JSON of the model store.
//!
//! Keys may come in any order: trees are made from the nodes after the whole file is read.

use std::collections::HashMap;
use std::fmt;

use rankwright_data::{Absent, FeatureNames};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{LINEAR, NAME, PACKAGE, THRESHOLD_OFFSET, TREES, unsupported};
use crate::bounded::BoundedVec;
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::{java_number, side_of_zero};
use crate::interchange::raw_nodes::{MAX_NAMES, RawNode, RawTrees};
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::linear::Linear;
use crate::model::{Model, ModelBody};
use crate::tree::Side;

/// Reads a model.
pub(super) fn model(bytes: &[u8]) -> Result<Model, ModelError> {
    let file: SolrFile = serde_json::from_slice(bytes).map_err(|error| {
        let expected = "the JSON of Solr's model store";
        let problem = FileProblem::Syntax { message: error.to_string(), expected };
        ModelError::invalid_file(NAME, problem)
    })?;
    for feature in &file.features.0 {
        let norm = feature.norm.as_ref().map_or("", |norm| norm.class.as_str());
        if !norm.is_empty() && !norm.ends_with(".IdentityNormalizer") {
            let (feature, normaliser) = (feature.name.clone(), norm.to_owned());
            return Err(unsupported(UnsupportedPart::Normaliser { feature, normaliser }));
        }
    }
    let names: Vec<String> = file.features.0.into_iter().map(|feature| feature.name).collect();
    let class = file.class.strip_prefix(PACKAGE).unwrap_or(&file.class);
    let body = match class {
        TREES => ModelBody::Trees(file.params.ensemble(&names)?),
        LINEAR => ModelBody::Linear(linear(&names, &file.params.weights)?),
        other => {
            return Err(unsupported(UnsupportedPart::Unknown {
                item: "class",
                found: other.to_owned(),
                expected: "MultipleAdditiveTreesModel or LinearModel",
            }));
        }
    };
    let mut header = Header::new(FeatureNames::from_names(names), Absent::Zero);
    header.notes.insert("from".into(), format!("{NAME} {class}"));
    for (key, value) in [("name", file.name), ("store", file.store)] {
        if !value.is_empty() {
            header.notes.insert(key.into(), value);
        }
    }
    Model::new(header, body)
}

/// Makes a linear model. Every listed feature must have a weight; Solr ignores weights of other
/// names.
fn linear(names: &[String], weights: &HashMap<String, f64>) -> Result<Linear, ModelError> {
    let weight = |name: &String| {
        weights.get(name).copied().ok_or_else(|| {
            let problem = FileProblem::NoWeight { feature: name.clone() };
            ModelError::invalid_file(NAME, problem)
        })
    };
    Linear::new(0.0, names.iter().map(weight).collect::<Result<_, _>>()?)
}

/// The parts of the file that are read, under Solr's names.
#[derive(Deserialize)]
struct SolrFile {
    class: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    store: String,
    features: BoundedVec<SolrFeature, MAX_NAMES>,
    #[serde(default)]
    params: SolrParams,
}

#[derive(Deserialize)]
struct SolrFeature {
    name: String,
    #[serde(default)]
    norm: Option<SolrNormaliser>,
}

#[derive(Deserialize)]
struct SolrNormaliser {
    class: String,
}

/// The parameters of both classes of models.
#[derive(Default)]
struct SolrParams {
    /// The weights of a linear model, by feature name.
    weights: HashMap<String, f64>,
    /// Whether a feature without a value is missing; otherwise it counts as 0.
    null_is_missing: bool,
    /// The trees of a model of trees.
    forest: RawTrees,
}

impl SolrParams {
    /// Makes the ensemble; `names` are the listed features.
    fn ensemble(&self, names: &[String]) -> Result<Ensemble, ModelError> {
        let features: HashMap<&str, u32> =
            names.iter().enumerate().map(|(number, name)| (name.as_str(), number as u32)).collect();
        let mut columns = vec![u32::MAX; self.forest.names().count()];
        for (name, number) in self.forest.names() {
            let feature = features.get(name).ok_or_else(|| {
                unsupported(UnsupportedPart::UnlistedFeature { feature: name.to_owned() })
            })?;
            if let Some(column) = columns.get_mut(number as usize) {
                *column = *feature;
            }
        }
        let missing = |node: &RawNode, threshold| match self.null_is_missing {
            true => node.missing.unwrap_or(Side::Right),
            false => side_of_zero(threshold),
        };
        Ensemble::new(0.0, self.forest.build_trees(NAME, &columns, missing)?)
    }
}

/// A number, or a string that Java would read as one; read both as f64 and as f32.
#[derive(Clone, Copy)]
struct Number {
    as_f64: f64,
    as_f32: f32,
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        from.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, perhaps in quotes")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number { as_f64: value, as_f32: value as f32 })
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Number, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        let text = java_number(text);
        match (text.parse(), text.parse()) {
            (Ok(as_f64), Ok(as_f32)) => Ok(Number { as_f64, as_f32 }),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}

/// A boolean, perhaps in quotes.
struct Boolean(bool);

impl<'de> Deserialize<'de> for Boolean {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Boolean, D::Error> {
        from.deserialize_any(BooleanVisitor)
    }
}

struct BooleanVisitor;

impl Visitor<'_> for BooleanVisitor {
    type Value = Boolean;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false, perhaps in quotes")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Boolean, E> {
        Ok(Boolean(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Boolean, E> {
        match text {
            "true" => Ok(Boolean(true)),
            "false" => Ok(Boolean(false)),
            other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
        }
    }
}

/// Weights by feature name.
struct Weights(HashMap<String, f64>);

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Weights, D::Error> {
        from.deserialize_map(WeightsVisitor)
    }
}

struct WeightsVisitor;

impl<'de> Visitor<'de> for WeightsVisitor {
    type Value = Weights;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX_NAMES} weights by feature name")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Weights, M::Error> {
        let mut weights = HashMap::new();
        while let Some((name, weight)) = map.next_entry::<String, Number>()? {
            if weights.len() == MAX_NAMES {
                return Err(M::Error::invalid_length(MAX_NAMES + 1, &self));
            }
            weights.insert(name, weight.as_f64);
        }
        Ok(Weights(weights))
    }
}

/// Reads the list of trees, a tree or a node into the forest. Nodes nest as deep as the JSON reader
/// allows (128 levels).
enum ForestVisitor<'a> {
    Trees(&'a mut RawTrees),
    Tree(&'a mut RawTrees),
    Node(&'a mut RawTrees),
}

impl<'de> Deserialize<'de> for SolrParams {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SolrParams, D::Error> {
        from.deserialize_map(ParamsVisitor)
    }
}

struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = SolrParams;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters of a model")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<SolrParams, M::Error> {
        let mut params = SolrParams::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "trees" => {
                    params.forest = RawTrees::default();
                    map.next_value_seed(ForestVisitor::Trees(&mut params.forest))?;
                }
                "weights" => params.weights = map.next_value::<Weights>()?.0,
                "isNullSameAsZero" => params.null_is_missing = !map.next_value::<Boolean>()?.0,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(params)
    }
}

impl<'de> DeserializeSeed<'de> for ForestVisitor<'_> {
    /// The number of a node as [`RawTrees::push`] returns it; 0 for a tree or a list.
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u32, D::Error> {
        match self {
            ForestVisitor::Trees(_) => from.deserialize_seq(self),
            ForestVisitor::Tree(_) | ForestVisitor::Node(_) => from.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for ForestVisitor<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ForestVisitor::Trees(_) => "a list of trees",
            ForestVisitor::Tree(_) => "a tree",
            ForestVisitor::Node(_) => "a node",
        })
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<u32, S::Error> {
        let (ForestVisitor::Trees(forest)
        | ForestVisitor::Tree(forest)
        | ForestVisitor::Node(forest)) = self;
        while list.next_element_seed(ForestVisitor::Tree(forest))?.is_some() {}
        Ok(0)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<u32, M::Error> {
        match self {
            ForestVisitor::Trees(forest) | ForestVisitor::Tree(forest) => tree(forest, map),
            ForestVisitor::Node(forest) => node(forest, map),
        }
    }
}

/// Reads a tree.
fn tree<'de, M: MapAccess<'de>>(forest: &mut RawTrees, mut map: M) -> Result<u32, M::Error> {
    let (mut weight, mut has_root) = (None, false);
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "weight" => weight = Some(map.next_value::<Number>()?.as_f64),
            "root" if has_root => return Err(M::Error::custom("a tree with two roots")),
            "root" => {
                map.next_value_seed(ForestVisitor::Node(forest))?;
                has_root = true;
            }
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
    }
    let weight = weight.ok_or_else(|| M::Error::custom("a tree without a weight"))?;
    forest.end_tree(weight).map_err(M::Error::custom)?;
    Ok(0)
}

/// Reads a node and those under it; returns the number of the node, as [`RawTrees::push`] does.
fn node<'de, M: MapAccess<'de>>(forest: &mut RawTrees, mut map: M) -> Result<u32, M::Error> {
    let mut node = RawNode::default();
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "feature" => {
                let name: String = map.next_value()?;
                node.feature = Some(forest.number_of_name(name).map_err(M::Error::custom)?);
            }
            "threshold" => {
                node.threshold = Some(map.next_value::<Number>()?.as_f32 + THRESHOLD_OFFSET)
            }
            "value" => node.value = map.next_value::<Number>()?.as_f64,
            "missing" => {
                let side: String = map.next_value()?;
                // As in Solr: every text other than `left` is right.
                node.missing = Some(if side == "left" { Side::Left } else { Side::Right });
            }
            "left" | "right" => {
                let child = map.next_value_seed(ForestVisitor::Node(forest))?;
                let slot = if key == "left" { &mut node.left } else { &mut node.right };
                if *slot != 0 {
                    return Err(M::Error::custom(format!("a node with two children '{key}'")));
                }
                *slot = child;
            }
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
    }
    Ok(forest.push(node))
}
