//! The attributes of a `TreeEnsembleRegressor`: arrays `nodes_...` of equal length with the nodes
//! of all trees, and arrays `target_...` with the weights (values) of the leaves.

use super::fields::{attribute, data_type, tensor};
use super::graph::{OnnxParts, unsupported};
use super::wire::{Message, WireField, doubles, floats, ints, invalid};
use super::{NAME, ProtobufProblem, UnsupportedGraph};
use crate::error::ModelError;
use crate::interchange::FileProblem;

/// The mode of a node: a leaf, or a comparison of a value `x` with the threshold `t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeMode {
    /// A leaf whose weight was not yet looked up.
    Leaf,
    /// A leaf whose weight is stored in place of the threshold.
    WeightedLeaf,
    /// A row goes to the true side if `x <= t`.
    AtMost,
    /// A row goes to the true side if `x < t`.
    Below,
    /// A row goes to the true side if `x >= t`.
    AtLeast,
    /// A row goes to the true side if `x > t`.
    Above,
}

/// The arrays, named after their attributes.
#[derive(Debug, Default)]
pub(super) struct TreeArrays {
    pub(super) treeids: Vec<u32>,
    pub(super) nodeids: Vec<u32>,
    pub(super) featureids: Vec<u32>,
    pub(super) truenodeids: Vec<u32>,
    pub(super) falsenodeids: Vec<u32>,
    pub(super) modes: Vec<NodeMode>,
    pub(super) values: Vec<f64>,
    /// 1 if missing values go to the true side of the node; empty if none do at any node.
    pub(super) missing_tracks_true: Vec<u32>,
    pub(super) target_treeids: Vec<u32>,
    pub(super) target_nodeids: Vec<u32>,
    pub(super) target_weights: Vec<f64>,
    /// The base score.
    pub(super) base: f64,
    /// Whether the sum over the trees is divided by their number.
    pub(super) average: bool,
}

/// An attribute of the ensemble.
#[derive(Clone, Copy)]
struct Attribute<'a> {
    name: &'a str,
    /// The protocol buffer of the attribute.
    message: Message<'a>,
    /// Maximum number of its values.
    max_values: usize,
}

/// Minimum number of bytes of a node in a file: five whole numbers, a threshold, a mode. It bounds
/// the number of nodes of a file, and so the length of its arrays.
const MIN_NODE_BYTES: usize = 5 + 4 + 6;

impl TreeArrays {
    /// Reads the arrays of a file of `size` bytes.
    pub(super) fn read(parts: &OnnxParts<'_>, size: usize) -> Result<TreeArrays, ModelError> {
        let mut arrays = TreeArrays::default();
        let max_values = size / MIN_NODE_BYTES;
        for &message in &parts.attributes {
            let mut name = "";
            for field in message {
                if let (attribute::NAME, field) = field? {
                    name = field.text()?;
                    // The name usually comes first, so that the values need not be skipped.
                    break;
                }
            }
            arrays.keep(Attribute { name, message, max_values })?;
        }
        arrays.check()?;
        Ok(arrays)
    }

    /// Keeps the value of an attribute; rejects attributes that could change scores.
    fn keep(&mut self, attribute: Attribute<'_>) -> Result<(), ModelError> {
        match attribute.name {
            "nodes_treeids" => self.treeids = attribute.ints()?,
            "nodes_nodeids" => self.nodeids = attribute.ints()?,
            "nodes_featureids" => self.featureids = attribute.ints()?,
            "nodes_truenodeids" => self.truenodeids = attribute.ints()?,
            "nodes_falsenodeids" => self.falsenodeids = attribute.ints()?,
            "nodes_missing_value_tracks_true" => self.missing_tracks_true = attribute.ints()?,
            "nodes_modes" => self.modes = attribute.modes()?,
            "nodes_values" | "nodes_values_as_tensor" => self.values = attribute.reals()?,
            "target_treeids" => self.target_treeids = attribute.ints()?,
            "target_nodeids" => self.target_nodeids = attribute.ints()?,
            "target_weights" | "target_weights_as_tensor" => {
                self.target_weights = attribute.reals()?;
            }
            "target_ids" => match attribute.ints()?.iter().all(|&id| id == 0) {
                true => {}
                false => return Err(unsupported(UnsupportedGraph::SeveralTargets)),
            },
            "base_values" | "base_values_as_tensor" => match attribute.reals()?[..] {
                [] => {}
                [base] => self.base = base,
                _ => return Err(unsupported(UnsupportedGraph::SeveralBaseValues)),
            },
            "n_targets" => match attribute.int()? {
                1 => {}
                other => return Err(bad_attribute("n_targets", &other.to_string(), "1")),
            },
            "aggregate_function" => match attribute.text()? {
                "SUM" => {}
                "AVERAGE" => self.average = true,
                other => return Err(bad_attribute("aggregate_function", other, "SUM or AVERAGE")),
            },
            "post_transform" => match attribute.text()? {
                "NONE" => {}
                other => return Err(bad_attribute("post_transform", other, "NONE")),
            },
            // The frequencies of nodes do not affect scores.
            "nodes_hitrates" | "nodes_hitrates_as_tensor" => {}
            other => {
                let name = other.to_owned();
                return Err(unsupported(UnsupportedGraph::Attribute { name }));
            }
        }
        Ok(())
    }

    /// Checks that the arrays of nodes have equal lengths, and those of weights too.
    fn check(&mut self) -> Result<(), ModelError> {
        let nodes = self.treeids.len();
        // This array may be left out, which means the same as zeros: no missing value goes to the
        // true side.
        if self.missing_tracks_true.iter().all(|&tracks| tracks == 0) {
            self.missing_tracks_true = Vec::new();
        }
        let tracks = self.missing_tracks_true.len();
        for (name, length) in [
            ("nodes_nodeids", self.nodeids.len()),
            ("nodes_featureids", self.featureids.len()),
            ("nodes_truenodeids", self.truenodeids.len()),
            ("nodes_falsenodeids", self.falsenodeids.len()),
            ("nodes_modes", self.modes.len()),
            ("nodes_values", self.values.len()),
            ("nodes_missing_value_tracks_true", if tracks == 0 { nodes } else { tracks }),
        ] {
            check_length(name, length, nodes, "as many as nodes_treeids has")?;
        }
        let weights = self.target_weights.len();
        let rule = "as many as target_weights has";
        check_length("target_treeids", self.target_treeids.len(), weights, rule)?;
        check_length("target_nodeids", self.target_nodeids.len(), weights, rule)
    }
}

/// The error for an attribute with a value that is not supported.
fn bad_attribute(attribute: &'static str, found: &str, expected: &'static str) -> ModelError {
    let found = found.to_owned();
    unsupported(UnsupportedGraph::AttributeValue { attribute, found, expected })
}

/// Checks the length of a list; `rule` says in a message what the expected length is.
fn check_length(
    list: &'static str,
    found: usize,
    expected: usize,
    rule: &'static str,
) -> Result<(), ModelError> {
    match found == expected && u32::try_from(found).is_ok() {
        true => Ok(()),
        false => {
            let problem = FileProblem::ListLength { list, found, expected, rule };
            Err(ModelError::invalid_file(NAME, problem))
        }
    }
}

impl<'a> Attribute<'a> {
    /// Every field with this number.
    fn fields(self, number: u64) -> impl Iterator<Item = Result<WireField<'a>, ModelError>> {
        self.message.filter_map(move |field| match field {
            Ok((found, field)) => (found == number).then_some(Ok(field)),
            Err(error) => Some(Err(error)),
        })
    }

    /// The last field with this number.
    fn last(self, number: u64) -> Result<WireField<'a>, ModelError> {
        let last = self.fields(number).last();
        last.ok_or_else(|| invalid(ProtobufProblem::NoValue { name: self.name.to_owned() }))?
    }

    fn int(self) -> Result<i64, ModelError> {
        self.last(attribute::INT)?.int()
    }

    fn text(self) -> Result<&'a str, ModelError> {
        self.last(attribute::STRING)?.text()
    }

    /// Whole numbers; one that does not fit a u32 becomes the largest u32, which is no valid id.
    fn ints(self) -> Result<Vec<u32>, ModelError> {
        let mut count = 0;
        for field in self.fields(attribute::INTS) {
            count += match field? {
                // Only the last byte of each packed number has 0 as its top bit.
                WireField::Bytes(packed) => packed.iter().filter(|byte| **byte < 0x80).count(),
                _ => 1,
            };
        }
        if count > self.max_values {
            let name = self.name.to_owned();
            return Err(invalid(ProtobufProblem::TooManyNumbers { name }));
        }
        let mut values = Vec::with_capacity(count);
        for field in self.fields(attribute::INTS) {
            ints(field?, |value| {
                values.push(u32::try_from(value).unwrap_or(u32::MAX));
                Ok(())
            })?;
        }
        Ok(values)
    }

    /// Numbers, in the attribute itself or in a tensor that it holds.
    fn reals(self) -> Result<Vec<f64>, ModelError> {
        if let Some(tensor) = self.fields(attribute::TENSOR).last() {
            return tensor_reals(tensor?.message()?);
        }
        let mut count = 0;
        for field in self.fields(attribute::FLOATS) {
            count += match field? {
                WireField::Bytes(packed) => packed.len() / 4,
                _ => 1,
            };
        }
        let mut values = Vec::with_capacity(count);
        for field in self.fields(attribute::FLOATS) {
            floats(field?, |value| values.push(f64::from(value)))?;
        }
        Ok(values)
    }

    /// The modes of nodes.
    fn modes(self) -> Result<Vec<NodeMode>, ModelError> {
        let mut modes = Vec::new();
        for field in self.fields(attribute::STRINGS) {
            modes.push(match field?.text()? {
                "LEAF" => NodeMode::Leaf,
                "BRANCH_LEQ" => NodeMode::AtMost,
                "BRANCH_LT" => NodeMode::Below,
                "BRANCH_GTE" => NodeMode::AtLeast,
                "BRANCH_GT" => NodeMode::Above,
                other => {
                    let (node, mode) = (modes.len(), other.to_owned());
                    return Err(unsupported(UnsupportedGraph::NodeMode { node, mode }));
                }
            });
        }
        Ok(modes)
    }
}

/// The numbers of a tensor of floats or doubles.
fn tensor_reals(message: Message<'_>) -> Result<Vec<f64>, ModelError> {
    let mut values = Vec::new();
    let mut element_type = 0;
    for field in message {
        if let (tensor::DATA_TYPE, field) = field? {
            element_type = field.int()?;
        }
    }
    for field in message {
        match (field?, element_type) {
            ((tensor::FLOAT_DATA, field), data_type::FLOAT)
            | ((tensor::RAW_DATA, field @ WireField::Bytes(_)), data_type::FLOAT) => {
                floats(field, |value| values.push(f64::from(value)))?;
            }
            ((tensor::DOUBLE_DATA, field), data_type::DOUBLE)
            | ((tensor::RAW_DATA, field @ WireField::Bytes(_)), data_type::DOUBLE) => {
                doubles(field, |value| values.push(value))?;
            }
            ((tensor::FLOAT_DATA | tensor::RAW_DATA | tensor::DOUBLE_DATA, _), found) => {
                return Err(unsupported(UnsupportedGraph::TensorType { found }));
            }
            ((tensor::EXTERNAL_DATA, _), _) => {
                return Err(unsupported(UnsupportedGraph::ExternalTensor));
            }
            // 0: the data is in the tensor itself.
            ((tensor::DATA_LOCATION, location), _) if location.int()? != 0 => {
                return Err(unsupported(UnsupportedGraph::ExternalTensor));
            }
            _ => {}
        }
    }
    Ok(values)
}
