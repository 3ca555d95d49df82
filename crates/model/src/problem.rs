//! The problems with the parts of a model, an enum for each kind of part. Their messages name the
//! value that was found and what was expected.

use rankwright_spec::visible::one_line;
use rankwright_spec::words::counted;
use thiserror::Error;

use crate::error::ModelError;
use crate::tree::Child;

/// A parameter of a model, which must be finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelParameter {
    /// The base score of an ensemble.
    #[error("the base score")]
    BaseScore,
    /// The value of a leaf.
    #[error("the value of leaf {leaf}")]
    LeafValue {
        /// The leaf, from 0.
        leaf: usize,
    },
    /// The gain of a split.
    #[error("the gain of split {split}")]
    Gain {
        /// The split, from 0.
        split: usize,
    },
    /// The bias of a linear model.
    #[error("the bias")]
    Bias,
    /// A weight of a linear model.
    #[error("weight number {weight}")]
    Weight {
        /// The weight, from 0.
        weight: usize,
    },
    /// A weight, a bias, a scale or a shift of a layer.
    #[error("a parameter of a layer")]
    LayerParameter,
    /// The weight of a member of a blend.
    #[error("the weight of member {member}")]
    MemberWeight {
        /// The member, from 0.
        member: usize,
    },
    /// The replacement of missing values of a feature.
    #[error("the replacement of missing values of feature number {feature}")]
    MissingReplacement {
        /// The feature, from 0.
        feature: usize,
    },
}

/// A reason why splits and leaves are not a valid tree.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TreeProblem {
    /// The numbers of splits and leaves do not belong together.
    #[error(
        "a tree of {} and {}; expected one leaf more than splits, and at most 2147483647 splits",
        counted(*.splits, "split"), counted(*.leaves, "leaf")
    )]
    Size {
        /// Number of splits.
        splits: usize,
        /// Number of leaves.
        leaves: usize,
    },
    /// A split on a feature number that is too large.
    #[error("split {split} tests feature {feature}; expected a number below 4294967295")]
    FeatureNumber {
        /// The split, from 0.
        split: usize,
        /// The number of the feature, from 0.
        feature: u32,
    },
    /// A threshold that is NaN.
    #[error("the threshold of split {split} is NaN; expected a number")]
    NanThreshold {
        /// The split, from 0.
        split: usize,
    },
    /// A split on a set of categories that the tree does not have.
    #[error(
        "split {split} tests set {set} of categories; the tree has {}",
        counted(*.sets, "set")
    )]
    UnknownSet {
        /// The split, from 0.
        split: usize,
        /// The number of the set, from 0.
        set: u32,
        /// Number of sets.
        sets: usize,
    },
    /// A child that does not come after its parent.
    #[error("split {split} leads back to split {child}; expected a later split")]
    BackwardChild {
        /// The split, from 0.
        split: usize,
        /// The number of the child.
        child: u32,
    },
    /// A child that two splits share, or that is both children of one split.
    #[error("split {split} leads to {}, which has a parent already; expected one path to each node",
        child_in_words(.child))]
    SharedChild {
        /// The split, from 0.
        split: usize,
        /// The child.
        child: Child,
    },
    /// A child that does not exist.
    #[error("split {split} leads to {}; expected a split or leaf that exists", child_in_words(.child))]
    UnknownChild {
        /// The split, from 0.
        split: usize,
        /// The child.
        child: Child,
    },
    /// A category whose number is too large.
    #[error("a set with category {category}; expected categories below 16777216")]
    Category {
        /// The category.
        category: u32,
    },
    /// A set of categories of too many words, or whose last word is 0.
    #[error(
        "a category set of {}; expected at most 262144, and the last one not 0",
        counted(*.words, "64-bit word")
    )]
    SetWords {
        /// Number of words of 64 bits.
        words: usize,
    },
}

/// `split 3` or `leaf 3`.
fn child_in_words(child: &Child) -> String {
    match child {
        Child::Split(number) => format!("split {number}"),
        Child::Leaf(number) => format!("leaf {number}"),
    }
}

/// A reason why weights are not a valid linear model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WeightsProblem {
    /// Two weights for one feature.
    #[error("two weights for feature '{feature}'; expected one for each feature")]
    Duplicate {
        /// The name of the feature.
        feature: String,
    },
    /// Weights for features that do not exist.
    #[error(
        "weights for unknown features: {unknown}; expected names among the {}, such as {known}",
        counted(*.features, "feature")
    )]
    UnknownFeatures {
        /// The unknown names, the first few.
        unknown: String,
        /// The known names, the first few.
        known: String,
        /// Number of known features.
        features: usize,
    },
    /// A text that is no weight.
    #[error(
        "'{found}' is not a weight; expected feature:weight pairs separated by '/', such as \
         22:0.03/72:0.06"
    )]
    Syntax {
        /// The text.
        found: String,
    },
    /// A feature id that is too large.
    #[error("a weight for feature id {id}; expected ids up to {max_id}")]
    IdTooLarge {
        /// The id.
        id: u32,
        /// The largest id that is possible.
        max_id: u32,
    },
}

/// A reason why layers are not a valid net.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NetProblem {
    /// A layer whose weights do not fit its inputs and outputs.
    #[error(
        "a layer of {} and {} with {}; expected at least one output, and a weight for each input \
         of each output",
        counted(*.inputs, "input"), counted(*.outputs, "output"), counted(*.weights, "weight")
    )]
    LayerWeights {
        /// Number of weights.
        weights: usize,
        /// Number of inputs.
        inputs: usize,
        /// Number of outputs.
        outputs: usize,
    },
    /// A layer normalisation that does not fit the outputs.
    #[error(
        "{} and {} of a layer; expected {outputs} of each, one for each output",
        counted(*.scales, "scale"), counted(*.shifts, "shift")
    )]
    LayerNorm {
        /// Number of scales.
        scales: usize,
        /// Number of shifts.
        shifts: usize,
        /// Number of outputs.
        outputs: usize,
    },
    /// A layer with another number of inputs than the layer before has outputs.
    #[error(
        "layer {layer} with {}; expected {expected}, the number of values that it receives",
        counted(*.inputs, "input")
    )]
    LayerInputs {
        /// The layer, from 0.
        layer: usize,
        /// Number of its inputs.
        inputs: usize,
        /// Number of values that it receives.
        expected: usize,
    },
    /// No layers.
    #[error("a net without layers; expected at least one")]
    NoLayers,
    /// A last layer of several outputs.
    #[error("a last layer with {outputs} outputs; expected one output, the score")]
    Outputs {
        /// Number of outputs.
        outputs: usize,
    },
}

/// A reason why steps are not a valid transform of features.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TransformProblem {
    /// Steps and replacements of missing values for different numbers of features.
    #[error(
        "steps for {}, and replacements of missing values for {missing}; expected both for each \
         feature",
        counted(*.steps, "feature")
    )]
    Length {
        /// Number of features with steps.
        steps: usize,
        /// Number of features with a replacement.
        missing: usize,
    },
    /// A step with illegal numbers.
    #[error("feature number {feature}: the step '{step}' is not valid; expected {problem}")]
    Step {
        /// The feature, from 0.
        feature: usize,
        /// The kind of the step.
        step: &'static str,
        /// The problem.
        problem: StepProblem,
    },
}

/// The problem with one step of a transform; the message says what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StepProblem {
    /// Bounds that are not finite, or of which the first is higher.
    #[error("finite bounds, the lower one first")]
    Bounds,
    /// A shift or a scale that is not finite.
    #[error("a finite shift and scale")]
    Affine,
    /// A table without points, or without a value for each point.
    #[error("a table of at least one point, with a value for each")]
    TableSize,
    /// A table with a number that is not finite.
    #[error("a table of finite numbers")]
    TableNumber,
    /// A table whose points do not rise or whose values fall.
    #[error("a table whose points rise and whose values do not fall")]
    TableOrder,
}

/// A reason why models are not the members of a valid blend.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BlendProblem {
    /// No members.
    #[error("a blend without members; expected at least one")]
    NoMembers,
    /// A member that is a blend.
    #[error("member {member} is a blend itself; expected trees, a linear model or a net")]
    NestedBlend {
        /// The member, from 0.
        member: usize,
    },
    /// A member with another rule for absent features.
    #[error(
        "member {member} takes absent features as {found}; expected {expected}, as in the blend"
    )]
    Absent {
        /// The member, from 0.
        member: usize,
        /// The value of an absent feature for the member: `zero` or `missing`.
        found: &'static str,
        /// The value for the blend.
        expected: &'static str,
    },
    /// A member whose features are numbered in a blend whose features are named.
    #[error(
        "member {member} numbers its features, and the blend names them; expected the same names \
         in both"
    )]
    NumberedFeatures {
        /// The member, from 0.
        member: usize,
    },
    /// A member whose features the blend does not have.
    #[error("the features of member {member} are not all in the blend: {error}")]
    UnmatchedFeatures {
        /// The member, from 0.
        member: usize,
        /// The error of matching them.
        error: Box<ModelError>,
    },
}

/// The problem with the header of a model: with its features or its position bias.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// Feature ids out of range.
    #[error(
        "{} from {first} on; expected ids that count from 0 or 1 and stay below 4294967295",
        counted(*.count, "feature id")
    )]
    FeatureIds {
        /// The first id.
        first: u32,
        /// Number of ids.
        count: usize,
    },
    /// Two features of the same name.
    #[error("two features are named '{name}'; expected different names", name = one_line(.name))]
    DuplicateFeature {
        /// The name.
        name: String,
    },
    /// Position bias whose positions do not ascend, or that has not one finite number for each.
    #[error("its position bias has not one finite number for each of ascending positions")]
    PositionBias,
}

/// The problem with rows given in a sparse form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SparseProblem {
    /// Row offsets that do not fit the number of rows, or the number of entries: each entry has a
    /// column and a value.
    #[error(
        "{} for {}; expected one offset more than rows, ascending, the last being the number \
         of columns and of values",
        counted(*.offsets, "row offset"), counted(*.rows, "sparse row")
    )]
    RowOffsets {
        /// Number of offsets.
        offsets: usize,
        /// Number of rows.
        rows: usize,
    },
    /// An entry in a column that does not exist.
    #[error("an entry in column {column}; expected columns below {columns}")]
    Column {
        /// The column, from 0.
        column: u32,
        /// Number of columns.
        columns: usize,
    },
}
