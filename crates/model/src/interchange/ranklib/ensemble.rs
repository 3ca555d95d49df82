//! Reads ensembles of trees in XML, tag by tag with an explicit stack.
//!
//! ```text
//! <ensemble>
//!   <tree id="1" weight="0.1">
//!     <split>
//!       <feature> 3 </feature> <threshold> 0.5 </threshold>
//!       <split pos="left"> <output> -1.0 </output> </split>
//!       <split pos="right"> <output> 2.0 </output> </split>
//!     </split>
//!   </tree>
//! </ensemble>
//! ```
//!
//! The left child comes first; an error if `pos` says otherwise.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{feature_id, invalid, refuse, shown};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::common::{
    ForeignNode, MOST_TREES, assemble, in_tree, java_number, side_of_zero,
};
use crate::model::ModelBody;
use crate::tree::{Leaf, Tree};

/// Reads the trees, and the largest feature id; `several` ensembles are averaged.
pub(super) fn read(text: &str, several: bool) -> Result<(ModelBody, usize), ModelError> {
    let ensembles = text.matches("<ensemble>").count();
    if ensembles > 1 && !several {
        return Err(refuse("more than one ensemble, as only Random Forests have"));
    }
    let mut work = EnsembleWork { divisor: ensembles.max(1) as f64, ..EnsembleWork::default() };
    let mut reader = Reader::from_str(text);
    loop {
        let event = reader.read_event().map_err(|error| {
            invalid(format!("byte {}: {error}", reader.error_position()), "XML")
        })?;
        let done = event == Event::Eof;
        let place = reader.buffer_position();
        work.take(event).map_err(|error| match error {
            ModelError::Invalid { what, expected } => {
                ModelError::Invalid { what: format!("{what} (before byte {place})"), expected }
            }
            other => other,
        })?;
        if done {
            break;
        }
    }
    if work.ensembles != ensembles || ensembles == 0 {
        return Err(invalid(format!("{} ensembles", work.ensembles), "an <ensemble>"));
    }
    Ok((ModelBody::Trees(Ensemble::new(0.0, work.trees)?), work.largest))
}

/// The state between two tags.
#[derive(Default, PartialEq, Clone, Copy)]
enum TagState {
    #[default]
    Nothing,
    Ensemble,
    Tree,
    Feature,
    Threshold,
    Output,
}

/// A split or a leaf that is still open.
#[derive(Default)]
struct Open {
    feature: Option<u32>,
    threshold: Option<f32>,
    left: Option<u32>,
    right: Option<u32>,
    output: Option<f64>,
}

#[derive(Default)]
struct EnsembleWork {
    within: TagState,
    ensembles: usize,
    divisor: f64,
    weight: f64,
    /// Open splits and leaves, from the root on.
    open: Vec<Open>,
    /// Closed nodes of the tree; the root is the last.
    nodes: Vec<ForeignNode>,
    trees: Vec<Tree>,
    largest: usize,
}

impl EnsembleWork {
    fn take(&mut self, event: Event<'_>) -> Result<(), ModelError> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag.name().as_ref()),
            Event::Text(text) => self.text(&text),
            Event::Eof if self.within == TagState::Nothing => Ok(()),
            Event::Eof => Err(invalid("it is cut off", "</ensemble>")),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => Ok(()),
            Event::Empty(_) | Event::CData(_) | Event::DocType(_) | Event::GeneralRef(_) => {
                Err(invalid("a tag of another kind", "tags with text between them"))
            }
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), ModelError> {
        match (self.within, tag.name().as_ref()) {
            (TagState::Nothing, "ensemble") => {
                (self.within, self.ensembles) = (TagState::Ensemble, self.ensembles + 1);
            }
            (TagState::Ensemble, "tree") => {
                if self.trees.len() == MOST_TREES {
                    return Err(refuse(format!("more than {MOST_TREES} trees")));
                }
                let weight = attribute(tag, "weight")?;
                let weight = weight.ok_or_else(|| invalid("a tree without weight", "a weight"))?;
                self.weight = number(&weight)?;
                self.within = TagState::Tree;
            }
            (TagState::Tree, "split") => self.split(tag)?,
            (TagState::Tree, name) if !self.open.is_empty() => {
                self.within = match name {
                    "feature" => TagState::Feature,
                    "threshold" => TagState::Threshold,
                    "output" => TagState::Output,
                    other => return Err(unexpected(other)),
                };
            }
            (_, name) => return Err(unexpected(name)),
        }
        Ok(())
    }

    /// Opens a split or leaf within the current one.
    fn split(&mut self, tag: &BytesStart<'_>) -> Result<(), ModelError> {
        let side = match self.open.last() {
            None if self.nodes.is_empty() => None,
            Some(Open { feature: Some(_), threshold: Some(_), left: None, .. }) => Some("left"),
            Some(Open { feature: Some(_), threshold: Some(_), right: None, .. }) => Some("right"),
            _ => {
                return Err(invalid("a split out of place", "two within a split with a threshold"));
            }
        };
        let said = attribute(tag, "pos")?;
        if let (Some(side), Some(said)) = (side, said)
            && side != said
        {
            return Err(invalid(format!("a split at pos '{}'", shown(&said)), side));
        }
        self.open.push(Open::default());
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), ModelError> {
        let blank = text.trim().is_empty();
        let Some(open) = self.open.last_mut().filter(|_| !blank) else {
            return match blank {
                true => Ok(()),
                false => Err(invalid(format!("the text '{}'", shown(text)), "tags only")),
            };
        };
        let twice = match self.within {
            TagState::Feature => {
                let id = feature_id(text)?;
                self.largest = self.largest.max(id as usize);
                open.feature.replace(id - 1).is_some()
            }
            TagState::Threshold => {
                let value = java_number(text).parse().map_err(|_| no_number(text))?;
                open.threshold.replace(value).is_some()
            }
            TagState::Output => open.output.replace(number(text)?).is_some(),
            _ => return Err(invalid(format!("the text '{}'", shown(text)), "tags only")),
        };
        match twice {
            true => Err(invalid("a split that says one thing twice", "each thing once")),
            false => Ok(()),
        }
    }

    fn end(&mut self, name: &str) -> Result<(), ModelError> {
        // The XML reader has checked that this closes the last opened tag.
        match name {
            "ensemble" => self.within = TagState::Nothing,
            "tree" => {
                let number = self.trees.len();
                let tree = self.tree().map_err(|error| in_tree(number, error))?;
                self.trees.push(tree);
                self.nodes.clear();
                self.within = TagState::Ensemble;
            }
            "split" => self.close()?,
            _ => self.within = TagState::Tree,
        }
        Ok(())
    }

    /// Closes a split or a leaf, and adds it to its parent.
    fn close(&mut self) -> Result<(), ModelError> {
        let node = match self.open.pop() {
            Some(Open {
                feature: Some(feature),
                threshold: Some(threshold),
                left: Some(left),
                right: Some(right),
                output: None,
            }) => {
                let missing = side_of_zero(threshold);
                ForeignNode::Split { feature, threshold, missing, left, right, rows: 0 }
            }
            Some(Open { feature: None, threshold: None, left: None, right: None, output }) => {
                let value = output.ok_or_else(|| invalid("an empty split", "an output"))?;
                ForeignNode::Leaf(Leaf { value: value * self.weight / self.divisor, rows: 0 })
            }
            _ => {
                return Err(invalid(
                    "a split that is not whole",
                    "feature, threshold and two splits, or an output",
                ));
            }
        };
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        match self.open.last_mut() {
            Some(Open { left: left @ None, .. }) => *left = Some(number),
            Some(around) => around.right = Some(number),
            None => {}
        }
        Ok(())
    }

    fn tree(&self) -> Result<Tree, ModelError> {
        let nodes = &self.nodes;
        let root = nodes.len().checked_sub(1);
        let root = root.ok_or_else(|| invalid("an empty tree", "a split"))?;
        assemble(root as u32, nodes.len(), |at| {
            nodes.get(at as usize).copied().ok_or_else(|| invalid("a node that is not there", ""))
        })
    }
}

fn unexpected(name: &str) -> ModelError {
    invalid(format!("the tag <{}>", shown(name)), "ensemble, tree, split, each in its place")
}

fn no_number(text: &str) -> ModelError {
    invalid(format!("'{}'", shown(text)), "a number")
}

fn number(text: &str) -> Result<f64, ModelError> {
    java_number(text).parse().map_err(|_| no_number(text))
}

/// The value of an attribute.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, ModelError> {
    let found = tag.try_get_attribute(name).map_err(|error| invalid(error, "attributes"))?;
    Ok(found.map(|found| found.value.into_owned()))
}
