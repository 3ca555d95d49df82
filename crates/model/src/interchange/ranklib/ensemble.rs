//! Reads ensembles of trees in XML, tag by tag and without recursion, as trees may be deep.
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
//! The left child comes first; a `pos` that says otherwise is an error.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{NAME, bad_value, feature_id, invalid, unexpected, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::common::{
    ForeignNode, MAX_TREES, assemble, in_tree, java_number, node_problem, side_of_zero,
};
use crate::interchange::problem::excerpt;
use crate::interchange::{FileProblem, NodeProblem, UnsupportedPart};
use crate::model::ModelBody;
use crate::tree::{Leaf, Tree};

/// The number of ensembles that a ranker's file may have.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum EnsembleCount {
    One,
    /// Several ensembles, of which the score is the mean.
    Several,
}

/// Reads the trees; returns them and the largest feature id.
pub(super) fn read(text: &str, allowed: EnsembleCount) -> Result<(ModelBody, usize), ModelError> {
    let ensembles = text.matches("<ensemble>").count();
    if ensembles > 1 && allowed == EnsembleCount::One {
        return Err(unsupported(UnsupportedPart::SeveralEnsembles));
    }
    let divisor = ensembles.max(1) as f64;
    let mut parser = EnsembleParser { divisor, ..EnsembleParser::default() };
    let mut reader = Reader::from_str(text);
    loop {
        let event = reader.read_event().map_err(|error| {
            let message = format!("byte {}: {error}", reader.error_position());
            invalid(FileProblem::Syntax { message, expected: "XML" })
        })?;
        let done = event == Event::Eof;
        let byte = reader.buffer_position();
        parser.handle(event).map_err(|error| match error {
            ModelError::InvalidFile { format, tree, problem } => {
                let problem = FileProblem::BeforeByte { byte, problem: Box::new(problem) };
                ModelError::InvalidFile { format, tree, problem }
            }
            other => other,
        })?;
        if done {
            break;
        }
    }
    if parser.ensembles != ensembles || ensembles == 0 {
        return Err(invalid(FileProblem::CutOff { expected: "an <ensemble>" }));
    }
    Ok((ModelBody::Trees(Ensemble::new(0.0, parser.trees)?), parser.largest_id))
}

/// The innermost open tag; a `<split>` counts as `Tree`.
#[derive(Default, PartialEq, Clone, Copy)]
enum OpenTag {
    #[default]
    None,
    Ensemble,
    Tree,
    Feature,
    Threshold,
    Output,
}

/// A `<split>`, which may be a split or a leaf, that is not yet closed.
#[derive(Default)]
struct OpenNode {
    feature: Option<u32>,
    threshold: Option<f32>,
    left: Option<u32>,
    right: Option<u32>,
    output: Option<f64>,
}

/// Makes trees from the events of the XML reader.
#[derive(Default)]
struct EnsembleParser {
    within: OpenTag,
    /// Number of ensembles begun so far.
    ensembles: usize,
    /// The number of all ensembles, by which leaf values are divided.
    divisor: f64,
    /// The weight of the current tree.
    weight: f64,
    /// The open splits and leaves, from the root on.
    open: Vec<OpenNode>,
    /// The closed nodes of the current tree; when it ends, the root is the last.
    nodes: Vec<ForeignNode>,
    trees: Vec<Tree>,
    /// The largest feature id so far.
    largest_id: usize,
}

impl EnsembleParser {
    /// Handles the next event.
    fn handle(&mut self, event: Event<'_>) -> Result<(), ModelError> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag.name().as_ref()),
            Event::Text(text) => self.text(&text),
            Event::Eof if self.within == OpenTag::None => Ok(()),
            Event::Eof => Err(invalid(FileProblem::CutOff { expected: "</ensemble>" })),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => Ok(()),
            Event::Empty(_) | Event::CData(_) | Event::DocType(_) | Event::GeneralRef(_) => {
                Err(unexpected("a tag of another kind", "tags with text between them"))
            }
        }
    }

    /// Opens a tag.
    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), ModelError> {
        match (self.within, tag.name().as_ref()) {
            (OpenTag::None, "ensemble") => {
                (self.within, self.ensembles) = (OpenTag::Ensemble, self.ensembles + 1);
            }
            (OpenTag::Ensemble, "tree") => {
                if self.trees.len() == MAX_TREES {
                    let (items, most) = ("trees", MAX_TREES);
                    return Err(unsupported(UnsupportedPart::TooMany { items, most }));
                }
                let weight = attribute(tag, "weight")?;
                let weight =
                    weight.ok_or_else(|| unexpected("a tree without a weight", "a weight"))?;
                self.weight = number(&weight)?;
                self.within = OpenTag::Tree;
            }
            (OpenTag::Tree, "split") => self.open_node(tag)?,
            (OpenTag::Tree, name) if !self.open.is_empty() => {
                self.within = match name {
                    "feature" => OpenTag::Feature,
                    "threshold" => OpenTag::Threshold,
                    "output" => OpenTag::Output,
                    other => return Err(unexpected_tag(other)),
                };
            }
            (_, name) => return Err(unexpected_tag(name)),
        }
        Ok(())
    }

    /// Opens a split or leaf within the current one.
    fn open_node(&mut self, tag: &BytesStart<'_>) -> Result<(), ModelError> {
        let side = match self.open.last() {
            None if self.nodes.is_empty() => None,
            Some(OpenNode { feature: Some(_), threshold: Some(_), left: None, .. }) => Some("left"),
            Some(OpenNode { feature: Some(_), threshold: Some(_), right: None, .. }) => {
                Some("right")
            }
            _ => {
                let expected = "two splits within a split with a threshold";
                return Err(unexpected("a split in the wrong place", expected));
            }
        };
        let found = attribute(tag, "pos")?;
        if let (Some(side), Some(found)) = (side, found)
            && side != found
        {
            return Err(bad_value("pos", &found, side));
        }
        self.open.push(OpenNode::default());
        Ok(())
    }

    /// Reads text: the value of an open `<feature>`, `<threshold>` or `<output>`, or white space.
    fn text(&mut self, text: &str) -> Result<(), ModelError> {
        let blank = text.trim().is_empty();
        let Some(open) = self.open.last_mut().filter(|_| !blank) else {
            return match blank {
                true => Ok(()),
                false => Err(unexpected(format!("the text '{}'", excerpt(text)), "tags only")),
            };
        };
        let is_repeated = match self.within {
            OpenTag::Feature => {
                let id = feature_id(text)?;
                self.largest_id = self.largest_id.max(id as usize);
                open.feature.replace(id - 1).is_some()
            }
            OpenTag::Threshold => {
                let value = java_number(text).parse().map_err(|_| no_number(text))?;
                open.threshold.replace(value).is_some()
            }
            OpenTag::Output => open.output.replace(number(text)?).is_some(),
            _ => return Err(unexpected(format!("the text '{}'", excerpt(text)), "tags only")),
        };
        match is_repeated {
            true => Err(unexpected("a split with a value given twice", "each value once")),
            false => Ok(()),
        }
    }

    /// Closes the last opened tag.
    fn end(&mut self, name: &str) -> Result<(), ModelError> {
        // The XML reader has checked that this closes the last opened tag.
        match name {
            "ensemble" => self.within = OpenTag::None,
            "tree" => {
                let number = self.trees.len();
                let tree = self.tree().map_err(|error| in_tree(NAME, number, error))?;
                self.trees.push(tree);
                self.nodes.clear();
                self.within = OpenTag::Ensemble;
            }
            "split" => self.close_node()?,
            _ => self.within = OpenTag::Tree,
        }
        Ok(())
    }

    /// Closes a split or a leaf, and adds it to its parent.
    fn close_node(&mut self) -> Result<(), ModelError> {
        let node = match self.open.pop() {
            Some(OpenNode {
                feature: Some(feature),
                threshold: Some(threshold),
                left: Some(left),
                right: Some(right),
                output: None,
            }) => {
                let missing = side_of_zero(threshold);
                ForeignNode::Split { feature, threshold, missing, left, right, rows: 0 }
            }
            Some(OpenNode { feature: None, threshold: None, left: None, right: None, output }) => {
                let value = output.ok_or_else(|| unexpected("an empty split", "an output"))?;
                ForeignNode::Leaf(Leaf { value: value * self.weight / self.divisor, rows: 0 })
            }
            _ => {
                let expected = "feature, threshold and two splits, or an output";
                return Err(unexpected("an incomplete split", expected));
            }
        };
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        match self.open.last_mut() {
            Some(OpenNode { left: left @ None, .. }) => *left = Some(number),
            Some(parent) => parent.right = Some(number),
            None => {}
        }
        Ok(())
    }

    /// Makes the tree of the closed nodes.
    fn tree(&self) -> Result<Tree, ModelError> {
        let nodes = &self.nodes;
        let root = nodes.len().checked_sub(1);
        let root = root.ok_or_else(|| node_problem(NAME, NodeProblem::EmptyTree))?;
        assemble(NAME, root as u32, nodes.len(), |number| {
            let node = nodes.get(number as usize).copied();
            node.ok_or_else(|| node_problem(NAME, NodeProblem::NoSuchNode { node: number.into() }))
        })
    }
}

fn unexpected_tag(name: &str) -> ModelError {
    let expected = "<ensemble>, in it <tree>, in a tree <split>";
    unexpected(format!("the tag <{}>", excerpt(name)), expected)
}

fn no_number(text: &str) -> ModelError {
    bad_value("a value", text, "a number")
}

fn number(text: &str) -> Result<f64, ModelError> {
    java_number(text).parse().map_err(|_| no_number(text))
}

/// The value of an attribute; `None` if the tag does not have it.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, ModelError> {
    let found = tag.try_get_attribute(name).map_err(|error| {
        invalid(FileProblem::Syntax { message: error.to_string(), expected: "attributes" })
    })?;
    Ok(found.map(|found| found.value.into_owned()))
}
