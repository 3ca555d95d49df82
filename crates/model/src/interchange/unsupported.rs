//! The parts of models that our own format or that of another system cannot express, and their
//! messages.

use rankwright_spec::words::counted;
use thiserror::Error;

use super::onnx::UnsupportedGraph;
use crate::model::{BodyKind, Model};

/// A part of a model that our own format or that of another system cannot express.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum UnsupportedPart {
    /// A kind of model that the other system's format does not have.
    #[error("{} cannot be written in this format", kind_in_words(*.0))]
    Body(BodyKind),
    /// A sum of a model and of the trees that a training added to it, where the two are of
    /// different kinds.
    #[error(
        "a sum of {} and the trees that were added to it cannot be written in this format",
        kind_in_words(*.start)
    )]
    SumOfKinds {
        /// The kind of the model that the training started from.
        start: BodyKind,
    },
    /// A model whose scores depend on the other documents of the query, for a format that scores one
    /// document at a time.
    #[error(
        "{} whose scores depend on the other documents of a query cannot be written in this format",
        kind_in_words(*.kind)
    )]
    Listwise {
        /// The kind of the model.
        kind: BodyKind,
    },
    /// A linear model of transformed features; only models of the raw features can be written.
    #[error("a linear model whose features are transformed cannot be written in this format")]
    TransformedLinear,
    /// A format that is read and not written.
    #[error("this format can be read but not written")]
    ReadOnly,
    /// A version of the format that is not known.
    #[error("the version '{found}' is not known; expected {expected}")]
    Version {
        /// The version in the file.
        found: String,
        /// The known versions.
        expected: &'static str,
    },
    /// An old binary format.
    #[error("this is the binary format of old versions; expected JSON or UBJSON")]
    OldBinary,
    /// More than one score for a row.
    #[error("{name} is {count}; only models with one score for each row can be read")]
    SeveralOutputs {
        /// The name of the number in the file.
        name: &'static str,
        /// The number of outputs, targets or classes.
        count: u64,
    },
    /// A tree for another output than the first.
    #[error("the tree is for output {output}; only models with one score for each row can be read")]
    OtherOutput {
        /// The number of the output, from 0.
        output: i32,
    },
    /// Leaves of several numbers.
    #[error("the leaves are vectors; expected one number in each leaf")]
    VectorLeaves,
    /// Leaves with a linear model.
    #[error("the leaves are linear models; expected one number in each leaf")]
    LinearLeaves,
    /// Features that are not numbers.
    #[error("the model has {}; expected only features that are numbers", counted(*.count, .kind))]
    FeatureKind {
        /// The kind: `categorical feature`.
        kind: &'static str,
        /// Number of such features.
        count: usize,
    },
    /// A kind of split that is not known.
    #[error("a split of the kind '{kind}'; expected a split on a number")]
    SplitKind {
        /// The kind in the file.
        kind: String,
    },
    /// A split of ours that counts 0 as missing.
    #[error("split {split} counts 0 as missing, which this format cannot express")]
    ZeroAsMissing {
        /// The split, from 0.
        split: usize,
    },
    /// A split of ours on categories.
    #[error("split {split} tests categories, which this format cannot express")]
    Categories {
        /// The split, from 0.
        split: usize,
    },
    /// A split on categories that sends missing values to the side of the listed ones.
    #[error(
        "a split sends missing values to the side of the listed categories; this format sends them \
         to the other side"
    )]
    MissingWithCategories,
    /// Sets of categories that would need too much memory.
    #[error("the numbers of the categories are so large that their sets do not fit into memory")]
    LargeCategories,
    /// A side of missing values that a format without missing values cannot express.
    #[error(
        "split {split} sends missing values to another side than 0, and this format takes them as 0"
    )]
    MissingSide {
        /// The split, from 0.
        split: usize,
    },
    /// A threshold that cannot be written for a system that adds 1e-6 to every threshold.
    #[error(
        "split {split} has the threshold {threshold:?}; the system adds 1e-6 to each threshold, \
         and no number becomes this one"
    )]
    Threshold {
        /// The split, from 0.
        split: usize,
        /// The threshold.
        threshold: f32,
    },
    /// A number out of the range of 32-bit floats.
    #[error("{name} is {value:?}, out of the range of 32-bit numbers")]
    Beyond32Bits {
        /// The number in words: "a leaf value".
        name: &'static str,
        /// The number.
        value: f64,
    },
    /// The bias of a linear model.
    #[error("the linear model has the bias {bias:?}, which this format cannot express")]
    Bias {
        /// The bias.
        bias: f64,
    },
    /// A feature name that the other format cannot hold.
    #[error(
        "the feature name '{}'; expected names that are not empty and have no white space or control \
         characters",
        .name.escape_debug()
    )]
    FeatureName {
        /// The name.
        name: String,
    },
    /// An objective that transforms scores, or that is not known.
    #[error("the objective '{objective}': {reason}")]
    Objective {
        /// The objective.
        objective: String,
        /// The reason why it is not supported, as a clause.
        reason: &'static str,
    },
    /// A booster, ranker or class of models that is not known.
    #[error("the {item} '{found}' is not known; expected {expected}")]
    Unknown {
        /// The item: `booster`, `ranker`, `class`.
        item: &'static str,
        /// Its name in the file.
        found: String,
        /// The known names.
        expected: &'static str,
    },
    /// Several ensembles in the file of a ranker that has one.
    #[error("there are several ensembles; expected one, except for Random Forests")]
    SeveralEnsembles,
    /// A feature whose values the other system normalises before it scores them.
    #[error("feature '{feature}' is normalised by {normaliser}; expected raw values")]
    Normaliser {
        /// The name of the feature.
        feature: String,
        /// The class of the normaliser.
        normaliser: String,
    },
    /// A tree that tests a feature that the file does not list.
    #[error("a tree tests the feature '{feature}', which is not in the list of features")]
    UnlistedFeature {
        /// The name of the feature.
        feature: String,
    },
    /// More items than can be read.
    #[error("there are more than {most} {items}")]
    TooMany {
        /// The items, in the plural.
        items: &'static str,
        /// Maximum number.
        most: usize,
    },
    /// More leaves than a file of its size should have.
    #[error("there are more leaves than a file of this size should have")]
    TooManyLeaves,
    /// A graph of operators that could change scores.
    #[error(transparent)]
    Graph(UnsupportedGraph),
}

impl UnsupportedPart {
    /// A kind of model that a format does not have.
    pub(crate) fn of_model(model: &Model) -> UnsupportedPart {
        match model.start_of_sum() {
            Some(start) => UnsupportedPart::SumOfKinds { start },
            None => UnsupportedPart::Body(model.body().kind()),
        }
    }

    /// A remedy, if there is one.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            UnsupportedPart::Body(BodyKind::Blend) => {
                Some("train and write its members one by one")
            }
            UnsupportedPart::SumOfKinds { .. } => Some(
                "the formats rankwright and onnx hold such a sum; to write trees alone, train them \
                 without a start model, or from one that consists of trees",
            ),
            UnsupportedPart::Listwise { .. } => Some(
                "train it without a normalisation of scores, and without features that are scaled \
                 within their query",
            ),
            UnsupportedPart::Graph(UnsupportedGraph::WrittenOnly { .. }) => {
                Some("read the model file that it was written from")
            }
            UnsupportedPart::TransformedLinear => {
                Some("train it with transform=standard, which becomes weights of the raw features")
            }
            UnsupportedPart::OldBinary => {
                Some("load it with XGBoost before 3.1 and save it as model.json or model.ubj")
            }
            UnsupportedPart::MissingSide { .. } => {
                Some("the formats solr, onnx and xgboost have missing values")
            }
            _ => None,
        }
    }
}

fn kind_in_words(kind: BodyKind) -> &'static str {
    match kind {
        BodyKind::Trees => "a sum of trees",
        BodyKind::Linear => "a linear model",
        BodyKind::Net => "a net",
        BodyKind::Blend => "a blend",
    }
}
