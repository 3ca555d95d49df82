//! Reads a model for the learning-to-rank plugins of Elasticsearch and OpenSearch ("the plugins"):
//! the JSON that XGBoost's `dump_model` writes, which is called a dump, or an object around it.

use std::fmt;

use rankwright_data::{Absent, FeatureNames};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{NAME, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::{MAX_FEATURES, below};
use crate::interchange::raw_nodes::{RawNode, RawTrees};
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::model::{Model, ModelBody};
use crate::tree::Side;

/// Objectives for which the plugins' scores are the sums of the trees.
const SUM_OBJECTIVES: [&str; 5] =
    ["binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear"];

/// Reads a model.
pub(super) fn model(bytes: &[u8]) -> Result<Model, ModelError> {
    let ElasticFile { forest, objective, missing_as_zero } = serde_json::from_slice(bytes)
        .map_err(|error| {
            let expected = "the JSON of XGBoost's dump_model, as in model/xgboost+json";
            let problem = FileProblem::Syntax { message: error.to_string(), expected };
            ModelError::invalid_file(NAME, problem)
        })?;
    if let Some(objective) = objective.as_deref().filter(|name| !SUM_OBJECTIVES.contains(name)) {
        return Err(unsupported(UnsupportedPart::Objective {
            objective: objective.to_owned(),
            reason: "it changes the sum of the trees",
        }));
    }
    let (features, columns) = features(&forest);
    // If a node does not name the side of missing values, the plugins send them right.
    let missing = |node: &RawNode, _| node.missing.unwrap_or(Side::Right);
    let ensemble = Ensemble::new(0.0, forest.build_trees(NAME, &columns, missing)?)?;
    let absent = if missing_as_zero { Absent::Zero } else { Absent::Missing };
    let mut header = Header::new(features, absent);
    header.notes.insert("from".into(), NAME.into());
    if let Some(objective) = objective {
        header.notes.insert("objective".into(), objective);
    }
    Model::new(header, ModelBody::Trees(ensemble))
}

/// The features of the model, and the column of each name, by the number of the name (the order of
/// first occurrence). If all names are numbers, or XGBoost's `f` with a number, they become ids;
/// otherwise columns are in the order of first occurrence.
fn features(forest: &RawTrees) -> (FeatureNames, Vec<u32>) {
    let mut names: Vec<&str> = vec![""; forest.names().count()];
    for (name, number) in forest.names() {
        if let Some(slot) = names.get_mut(number as usize) {
            *slot = name;
        }
    }
    let ids = |prefix: &str| -> Option<Vec<u32>> {
        let id = |name: &&str| {
            let digits = name.strip_prefix(prefix)?;
            let id: u32 = digits.parse().ok().filter(|id| (*id as usize) < MAX_FEATURES)?;
            (id.to_string() == digits).then_some(id)
        };
        names.iter().map(id).collect()
    };
    let from_ids = |first: u32, ids: Vec<u32>| {
        let count = ids.iter().max().map_or(0, |largest| (largest + 1 - first) as usize);
        let columns = ids.into_iter().map(|id| id - first).collect();
        (FeatureNames::Ids { first, count }, columns)
    };
    match (ids("f"), ids("")) {
        (Some(ids), _) if !names.is_empty() => from_ids(0, ids),
        (_, Some(ids)) => from_ids(u32::from(!ids.contains(&0)), ids),
        _ => {
            let columns = (0..names.len() as u32).collect();
            (FeatureNames::Named(names.into_iter().map(String::from).collect()), columns)
        }
    }
}

/// A dump of XGBoost, or an object around it.
#[derive(Default)]
struct ElasticFile {
    forest: RawTrees,
    objective: Option<String>,
    missing_as_zero: bool,
}

impl<'de> Deserialize<'de> for ElasticFile {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ElasticFile, D::Error> {
        from.deserialize_any(FileVisitor)
    }
}

struct FileVisitor;

impl<'de> Visitor<'de> for FileVisitor {
    type Value = ElasticFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of trees, or an object with such a list")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<ElasticFile, S::Error> {
        let mut file = ElasticFile::default();
        NodeVisitor::Trees(&mut file.forest).visit_seq(list)?;
        Ok(file)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<ElasticFile, M::Error> {
        let mut file = ElasticFile::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "splits" => {
                    file.forest = RawTrees::default();
                    map.next_value_seed(NodeVisitor::Trees(&mut file.forest))?;
                }
                "objective" => file.objective = Some(map.next_value()?),
                "missing_as_zero" => file.missing_as_zero = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(file)
    }
}

/// Reads the list of trees, the children of a node, or a node into the forest. Nodes nest as deep
/// as the JSON reader allows (128 levels).
enum NodeVisitor<'a> {
    Trees(&'a mut RawTrees),
    Children(&'a mut RawTrees),
    Node(&'a mut RawTrees),
}

/// Two children of a node: each with its number in the forest and its `nodeid` in the file. Reading
/// a single node returns it as the first of two; the result of reading the list of trees is not
/// used.
type ChildNumbers = [(u32, Option<i64>); 2];

impl<'de> DeserializeSeed<'de> for NodeVisitor<'_> {
    type Value = ChildNumbers;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<ChildNumbers, D::Error> {
        match self {
            NodeVisitor::Trees(_) | NodeVisitor::Children(_) => from.deserialize_seq(self),
            NodeVisitor::Node(_) => from.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for NodeVisitor<'_> {
    type Value = ChildNumbers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NodeVisitor::Trees(_) => "a list of trees",
            NodeVisitor::Children(_) => "two children",
            NodeVisitor::Node(_) => "a node",
        })
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<ChildNumbers, S::Error> {
        let mut found = ChildNumbers::default();
        match self {
            NodeVisitor::Trees(forest) | NodeVisitor::Node(forest) => {
                while list.next_element_seed(NodeVisitor::Node(&mut *forest))?.is_some() {
                    forest.end_tree(1.0).map_err(S::Error::custom)?;
                }
            }
            NodeVisitor::Children(forest) => {
                let mut count = 0;
                while let Some([child, _]) =
                    list.next_element_seed(NodeVisitor::Node(&mut *forest))?
                {
                    let slot = found.get_mut(count);
                    *slot.ok_or_else(|| S::Error::custom("a node with three children"))? = child;
                    count += 1;
                }
            }
        }
        Ok(found)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<ChildNumbers, M::Error> {
        let (NodeVisitor::Trees(forest)
        | NodeVisitor::Children(forest)
        | NodeVisitor::Node(forest)) = self;
        node(forest, map)
    }
}

/// Reads a node and those under it; the node is the first of the returned two.
fn node<'de, M: MapAccess<'de>>(
    forest: &mut RawTrees,
    mut map: M,
) -> Result<ChildNumbers, M::Error> {
    let wrong = |problem: &str| Err(M::Error::custom(problem));
    let mut node = RawNode::default();
    let (mut id, mut yes, mut no, mut missing) = (None, None, None, None);
    let (mut leaf_value, mut children) = (None, ChildNumbers::default());
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "nodeid" => id = Some(map.next_value()?),
            "split" => {
                let number = forest.number_of_name(map.next_value()?);
                node.feature = Some(number.map_err(M::Error::custom)?);
            }
            "split_condition" => {
                // Rounded to 32 bits, as XGBoost and the plugins do.
                let condition = f64::from(map.next_value::<f32>()?);
                node.threshold = below(condition);
            }
            "yes" => yes = Some(map.next_value::<i64>()?),
            "no" => no = Some(map.next_value::<i64>()?),
            "missing" => missing = Some(map.next_value::<i64>()?),
            "leaf" => leaf_value = Some(f64::from(map.next_value::<f32>()?)),
            "children" if node.left != 0 => return wrong("a node with children twice"),
            "children" => {
                children = map.next_value_seed(NodeVisitor::Children(forest))?;
                (node.left, node.right) = (children[0].0, children[1].0);
            }
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
    }
    match (leaf_value, node.feature) {
        (Some(_), Some(_)) => return wrong("a node that is split and leaf"),
        (None, None) => return wrong("a node that is neither split nor leaf"),
        (Some(value), None) => node.value = value,
        (None, Some(_)) => {
            if (yes, no) != (children[0].1, children[1].1) || yes == no {
                return wrong("a node whose 'yes' and 'no' are not its two children");
            }
            node.missing = match missing {
                None => None,
                id if id == yes => Some(Side::Left),
                id if id == no => Some(Side::Right),
                Some(_) => return wrong("a node whose 'missing' is none of its children"),
            };
        }
    }
    Ok([(forest.push(node), id), (0, None)])
}
