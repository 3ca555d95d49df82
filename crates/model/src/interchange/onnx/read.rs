//! Makes trees from arrays of nodes.
//!
//! Nodes are identified by the pair (tree, node). They are mostly sorted by it; otherwise a sorted
//! order is computed. The root of a tree is the one node that is no child. With `n` nodes the cost
//! is n, or n log n if they are not sorted.

use rankwright_data::{Absent, FeatureNames};

use super::columns::{Mode, TreeArrays};
use super::graph::{Outline, outline, refuse};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::{ForeignNode, MOST_TREES, assemble, at_most, below, in_tree};
use crate::model::{Model, ModelBody};
use crate::tree::{Leaf, Side, Tree};

/// Nodes in the order of (tree, node).
struct OnnxNodes {
    columns: TreeArrays,
    /// The index into the columns by rank in that order; `None` if they are sorted.
    order: Option<Vec<u32>>,
}

/// Reads a model.
pub(super) fn model(bytes: &[u8]) -> Result<Model, ModelError> {
    let outline = outline(bytes)?;
    let mut nodes = OnnxNodes::sorted(TreeArrays::read(&outline, bytes.len())?)?;
    let ends = nodes.ends()?;
    let divisor = if nodes.columns.average { ends.len().max(1) as f64 } else { 1.0 };
    nodes.weigh(divisor)?;
    let mut trees = Vec::with_capacity(ends.len());
    let mut start = 0;
    for (number, end) in ends.into_iter().enumerate() {
        trees.push(nodes.tree(start, end).map_err(|error| in_tree(number, error))?);
        start = end;
    }
    let ensemble = Ensemble::new(nodes.columns.base, trees)?;
    let mut header = Header::new(features(&outline, ensemble.features())?, Absent::Zero);
    let from = format!("ONNX {}", outline.producer);
    header.notes.insert("from".into(), from.trim_end().into());
    Model::new(header, ModelBody::Trees(ensemble))
}

/// The names in our own metadata, or the numbers of the columns.
fn features(outline: &Outline<'_>, asked: usize) -> Result<FeatureNames, ModelError> {
    let Some(names) = outline.names else {
        let count = outline.columns.unwrap_or(asked);
        return Ok(FeatureNames::Ids { first: 0, count });
    };
    let names: Vec<String> = serde_json::from_str(names).map_err(|error| {
        ModelError::invalid(format!("ONNX: feature names that cannot be read ({error})"), "JSON")
    })?;
    match outline.columns {
        Some(columns) if columns != names.len() && !(columns == 1 && names.is_empty()) => {
            Err(ModelError::invalid(
                format!("ONNX: {} feature names", names.len()),
                format!("{columns}, one for each column of the input"),
            ))
        }
        _ => Ok(FeatureNames::from_names(names)),
    }
}

impl OnnxNodes {
    fn sorted(columns: TreeArrays) -> Result<OnnxNodes, ModelError> {
        let key = |at: usize| (columns.treeids.get(at), columns.nodeids.get(at));
        let count = columns.treeids.len();
        if (1..count).all(|at| key(at - 1) < key(at)) {
            return Ok(OnnxNodes { columns, order: None });
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|&at| key(at as usize));
        let pairs = order.iter().zip(order.iter().skip(1));
        let mut twice = pairs.filter(|(a, b)| key(**a as usize) == key(**b as usize));
        if let Some((at, _)) = twice.next() {
            let (tree, node) = key(*at as usize);
            let (tree, node) = (tree.copied().unwrap_or(0), node.copied().unwrap_or(0));
            return Err(ModelError::invalid(
                format!("ONNX: two nodes {node} in tree {tree}"),
                "a number of its own for each node",
            ));
        }
        Ok(OnnxNodes { columns, order: Some(order) })
    }

    fn len(&self) -> usize {
        self.columns.treeids.len()
    }

    /// The index into the columns of a rank.
    fn index(&self, place: usize) -> usize {
        match &self.order {
            None => place,
            Some(order) => order.get(place).map_or(usize::MAX, |&at| at as usize),
        }
    }

    fn key(&self, place: usize) -> Option<(u32, u32)> {
        let at = self.index(place);
        Some((*self.columns.treeids.get(at)?, *self.columns.nodeids.get(at)?))
    }

    /// The end of each tree's nodes.
    fn ends(&self) -> Result<Vec<usize>, ModelError> {
        let tree = |place| self.key(place).map(|key| key.0);
        let mut ends = Vec::new();
        for place in 1..=self.len() {
            if tree(place) != tree(place - 1) || place == self.len() {
                if ends.len() == MOST_TREES {
                    return Err(refuse(format!("more than {MOST_TREES} trees")));
                }
                ends.push(place);
            }
        }
        Ok(ends)
    }

    /// The rank of a node between two ranks; a guess is tried first.
    fn find(&self, key: (u32, u32), guess: usize, from: usize, to: usize) -> Option<usize> {
        if (from..to).contains(&guess) && self.key(guess) == Some(key) {
            return Some(guess);
        }
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle)? < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < to && self.key(low) == Some(key)).then_some(low)
    }

    /// Stores the weights of the leaves in place of thresholds; a leaf without one has weight 0.
    fn weigh(&mut self, divisor: f64) -> Result<(), ModelError> {
        for (mode, value) in self.columns.modes.iter().zip(&mut self.columns.values) {
            if *mode == Mode::Leaf {
                *value = 0.0;
            }
        }
        let trees = std::mem::take(&mut self.columns.target_treeids);
        let nodes = std::mem::take(&mut self.columns.target_nodeids);
        let weights = std::mem::take(&mut self.columns.target_weights);
        // Weights are mostly in the order of their leaves, with a few splits between.
        let mut last = 0;
        for ((tree, node), weight) in trees.into_iter().zip(nodes).zip(weights) {
            let near = (last..last + 4).find(|&place| self.key(place) == Some((tree, node)));
            let place = self.find((tree, node), near.unwrap_or(last), 0, self.len());
            let at = place.map(|place| self.index(place));
            let slot = at.and_then(|at| {
                Some((self.columns.modes.get_mut(at)?, self.columns.values.get_mut(at)?))
            });
            match slot {
                Some((mode @ Mode::Leaf, value)) => {
                    (*mode, *value) = (Mode::Weighted, weight / divisor);
                }
                Some((Mode::Weighted, _)) => {
                    return Err(refuse(format!("two weights for node {node} of tree {tree}")));
                }
                _ => {
                    return Err(ModelError::invalid(
                        format!("ONNX: a weight for node {node} of tree {tree}"),
                        "weights for leaves that are there",
                    ));
                }
            }
            last = place.unwrap_or(last);
        }
        Ok(())
    }

    /// The tree of the ranks from `start` to `end`.
    fn tree(&self, start: usize, end: usize) -> Result<Tree, ModelError> {
        let mut met = vec![false; end - start];
        for place in start..end {
            let at = self.index(place);
            let columns = &self.columns;
            if matches!(columns.modes.get(at), Some(Mode::Leaf | Mode::Weighted)) {
                continue;
            }
            for side in [&columns.truenodeids, &columns.falsenodeids] {
                let to = self.child(side, place, start, end)?;
                if let Some(met) = met.get_mut(to as usize - start) {
                    *met = true;
                }
            }
        }
        let mut roots = met.iter().enumerate().filter(|(_, met)| !**met);
        let (Some((root, _)), None) = (roots.next(), roots.next()) else {
            return Err(ModelError::invalid(
                "ONNX: no single node at the top",
                "one node to which no other leads",
            ));
        };
        let tree = assemble((start + root) as u32, end - start, |at| self.node(at, start, end))?;
        match tree.splits().len() + tree.leaves().len() == end - start {
            true => Ok(tree),
            false => Err(ModelError::invalid(
                "ONNX: nodes that cannot be reached from the top",
                "a way to each node",
            )),
        }
    }

    /// The rank of a child of a node.
    fn child(
        &self,
        side: &[u32],
        place: usize,
        start: usize,
        end: usize,
    ) -> Result<u32, ModelError> {
        let key = self.key(place).unwrap_or_default();
        let node = side.get(self.index(place)).copied().unwrap_or(u32::MAX);
        match self.find((key.0, node), start.saturating_add(node as usize), start, end) {
            Some(place) => Ok(place as u32),
            None => Err(ModelError::invalid(
                format!("ONNX: node {} leads to node {node}", key.1),
                "a node of the same tree",
            )),
        }
    }

    fn node(&self, place: u32, start: usize, end: usize) -> Result<ForeignNode, ModelError> {
        let (place, columns) = (place as usize, &self.columns);
        let at = self.index(place);
        let value = columns.values.get(at).copied().unwrap_or(f64::NAN);
        let mode = columns.modes.get(at).copied().unwrap_or(Mode::Leaf);
        if matches!(mode, Mode::Leaf | Mode::Weighted) {
            return Ok(ForeignNode::Leaf(Leaf { value, rows: 0 }));
        }
        let threshold = match mode {
            Mode::AtMost | Mode::Above => at_most(value),
            _ => below(value).ok_or_else(|| refuse("a node that asks for values below -inf"))?,
        };
        let truth = self.child(&columns.truenodeids, place, start, end)?;
        let lie = self.child(&columns.falsenodeids, place, start, end)?;
        // Values up to the threshold go left: the true side if the mode tests for that.
        let true_left = matches!(mode, Mode::AtMost | Mode::Below);
        let tracks = columns.missing_tracks_true.get(at).is_some_and(|&tracks| tracks != 0);
        Ok(ForeignNode::Split {
            feature: columns.featureids.get(at).copied().unwrap_or(u32::MAX),
            threshold,
            missing: if tracks == true_left { Side::Left } else { Side::Right },
            left: if true_left { truth } else { lie },
            right: if true_left { lie } else { truth },
            rows: 0,
        })
    }
}
