//! The errors of the model crate. They name the problem and the value, and no flag or method of a
//! caller. The problems of each subject are enums of their own: `problem.rs` has those of the parts
//! of a model, `codec/damage.rs` those of our own files, `interchange/problem.rs` and
//! `interchange/unsupported.rs` those of other systems' files.

use std::fmt;

use rankwright_data::DataError;
use rankwright_spec::words::counted;

use crate::codec::Damage;
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::model::BodyKind;
use crate::prediction::PredictionKind;
use crate::problem::{
    BlendProblem, HeaderProblem, ModelParameter, NetProblem, SparseProblem, TransformProblem,
    TreeProblem, WeightsProblem,
};

/// An error of the model crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Bytes that are no model at all.
    #[error("this is no model: its beginning is unlike that of the models of {systems}")]
    NotAModel {
        /// The systems whose models could have been read.
        systems: String,
    },
    /// An unknown model format.
    #[error("there is no model format '{name}'; known are {known}")]
    UnknownFormat {
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A model of a version of our format that is not known.
    #[error("the model has format version {found}; this program reads versions up to {supported}")]
    Version {
        /// The version in the file.
        found: u32,
        /// The newest version that is read.
        supported: u32,
    },
    /// A file in our own format whose bytes were changed after writing.
    #[error("the model is damaged: {damage}")]
    Damaged {
        /// The damage.
        damage: Damage,
    },
    /// A file in another system's format that does not follow that format.
    #[error("{format} model: {}{problem}", in_tree(.tree))]
    InvalidFile {
        /// The name of the other system.
        format: &'static str,
        /// The tree with the problem, from 0, if it is in a tree.
        tree: Option<usize>,
        /// The problem.
        problem: FileProblem,
    },
    /// A part of a model that our own format or that of another system cannot express.
    #[error("{format} model: {}{part}", in_tree(.tree))]
    Unsupported {
        /// The name of the other system.
        format: &'static str,
        /// The tree with the part, from 0, if it is in a tree.
        tree: Option<usize>,
        /// The part that cannot be expressed.
        part: UnsupportedPart,
    },
    /// A parameter of a model that is infinite or NaN.
    #[error("{parameter} is {value}; expected a finite number")]
    NotFinite {
        /// The parameter.
        parameter: ModelParameter,
        /// Its value.
        value: f64,
    },
    /// More parts than a model can have.
    #[error("{}; expected at most {most}", counted(*.found, .item))]
    TooMany {
        /// The kind of part: `tree`, `named feature`.
        item: &'static str,
        /// Number of parts.
        found: usize,
        /// Maximum number.
        most: usize,
    },
    /// Splits and leaves that do not make a tree.
    #[error(transparent)]
    InvalidTree(TreeProblem),
    /// Weights that do not make a linear model.
    #[error(transparent)]
    InvalidWeights(WeightsProblem),
    /// Layers that do not make a net.
    #[error(transparent)]
    InvalidNet(NetProblem),
    /// Steps that do not make a transform of features.
    #[error(transparent)]
    InvalidTransform(TransformProblem),
    /// Models that do not make a blend.
    #[error(transparent)]
    InvalidBlend(BlendProblem),
    /// Features or a position bias that do not make a header.
    #[error(transparent)]
    InvalidHeader(HeaderProblem),
    /// A body that does not fit the features of its header.
    #[error(
        "the model ({}) uses {}; its header has {header}",
        .body.name(), counted(*.features, "feature")
    )]
    FeatureCount {
        /// The kind of the body.
        body: BodyKind,
        /// Number of features that the body uses.
        features: usize,
        /// Number of features in the header.
        header: usize,
    },
    /// Sparse rows whose arrays do not fit each other or the columns.
    #[error(transparent)]
    InvalidSparseRows(SparseProblem),
    /// A reordering of rows with another number of rows, or with a row that does not exist.
    #[error(
        "a reordering with {} for {}; expected the number of a row for each row",
        counted(*.found, "entry"), counted(*.rows, "row")
    )]
    InvalidOrder {
        /// Number of entries of the reordering.
        found: usize,
        /// Number of rows.
        rows: usize,
    },
    /// The data lacks features that the model needs.
    #[error("the data lacks {count} of the model's features: {names}")]
    MissingFeatures {
        /// Number of missing features.
        count: usize,
        /// The names of the first few.
        names: String,
    },
    /// The data has features that the model does not know.
    #[error(
        "the data has {} that the model does not know: {names}",
        counted(*.count, "feature")
    )]
    UnknownFeatures {
        /// Number of unknown features.
        count: usize,
        /// The names of the first few.
        names: String,
    },
    /// The data has numbered features that the model does not know, and the model's features are
    /// not numbered from the same first number as those of the data: a feature may have different
    /// numbers in the two.
    #[error(
        "the data has {} that the model does not know: {names}; the numbers of the model's features \
         begin with {model}, those of the data with {data}",
        counted(*.count, "feature")
    )]
    UnknownNumbers {
        /// Number of features that the model does not know.
        count: usize,
        /// The numbers of the first few of them.
        names: String,
        /// The number of the model's first feature.
        model: u32,
        /// The number of the data's first feature.
        data: u32,
    },
    /// The features of a model of another system have no names and are counted from 0; those of the
    /// data are numbered from 1.
    #[error(
        "the features of the model ({from}) have no names and are counted from 0; those of the data \
         are numbered from 1, so that feature 0 of the model may be feature 1 of the data"
    )]
    CountedFromZero {
        /// The system that trained the model.
        from: String,
    },
    /// The features of the model have names and those of the data have numbers, or the reverse.
    #[error("the model's features have {model}; those of the data have {data}")]
    NamesAndNumbers {
        /// The names or numbers of the model's features, the first few.
        model: String,
        /// The names or numbers of the data's features, the first few.
        data: String,
    },
    /// A feature is text in the data and a number in the model.
    #[error(
        "the feature '{feature}' has texts in the data, but the model was trained on numbers and \
         knows no texts"
    )]
    UnknownCategories {
        /// The feature.
        feature: String,
    },
    /// A feature is a category of texts in the model, and the data has numbers without texts.
    #[error(
        "the feature '{feature}' is a category with texts in the model, but has numbers without \
         texts in the data, and these may number the texts differently"
    )]
    CategoriesWithoutTexts {
        /// The feature.
        feature: String,
    },
    /// Texts of a feature have other category numbers in a model than in the data.
    #[error(
        "the texts of the feature '{feature}' have other numbers in the model than in the data"
    )]
    OtherCategories {
        /// The feature.
        feature: String,
    },
    /// The data was read with another value for absent features than the model was trained with.
    #[error(
        "the model takes absent features as {model}, but the data was read with them as {data}"
    )]
    Absent {
        /// The value of an absent feature for the model: `zero` or `missing`.
        model: &'static str,
        /// The value with which the data was read.
        data: &'static str,
    },
    /// Rows were given one by one to a model whose scores depend on the other documents of the
    /// query.
    #[error("the scores of this model depend on the whole query: its rows must be scored together")]
    NeedsWholeQuery,
    /// Values that do not make rows.
    #[error(
        "{} for {}; expected {columns} for each row",
        counted(*.values, "value"), counted(*.rows, "row")
    )]
    RowLength {
        /// Number of values.
        values: usize,
        /// Number of rows.
        rows: usize,
        /// Number of values in a row.
        columns: usize,
    },
    /// A number of a feature that the model does not have.
    #[error(
        "there is no feature number {feature}; the model has {}, numbered from 0",
        counted(*.features, "feature")
    )]
    NoSuchFeature {
        /// The given number.
        feature: usize,
        /// Number of features.
        features: usize,
    },
    /// The scores of a model have no meaning in terms of labels.
    #[error(
        "the scores of this model, trained on the objective {objective}, give no {}; those of {} do",
        kind.name(), kind.learners()
    )]
    NoPrediction {
        /// The requested prediction.
        kind: PredictionKind,
        /// The objective of the training.
        objective: String,
    },
    /// An ordinal model without a record of its grades and thresholds.
    #[error("this ordinal model has no record of its grades and thresholds")]
    NoGrades,
    /// The model separates other labels than the requested ones.
    #[error("the model predicts labels of at least {model}, not of at least {given}")]
    OtherRelevance {
        /// The lowest relevant label of the training.
        model: f64,
        /// The requested one.
        given: f64,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// An error in a part of a model.
    #[error("{part}: {error}")]
    InPart {
        /// The part.
        part: ModelPart,
        /// The error.
        error: Box<ModelError>,
    },
    /// An error in a named file.
    #[error("{file}: {error}")]
    InFile {
        /// The file.
        file: String,
        /// The error.
        error: Box<ModelError>,
    },
}

/// A part of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelPart {
    /// A tree of an ensemble, from 0.
    Tree(usize),
    /// A layer of a net, from 0.
    Layer(usize),
    /// A member of a blend, from 0.
    Member(usize),
}

impl fmt::Display for ModelPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelPart::Tree(number) => write!(f, "tree {number}"),
            ModelPart::Layer(number) => write!(f, "layer {number}"),
            ModelPart::Member(number) => write!(f, "member {number}"),
        }
    }
}

/// `tree 3: ` as the start of a message; nothing without a tree.
fn in_tree(tree: &Option<usize>) -> String {
    tree.map(|number| format!("tree {number}: ")).unwrap_or_default()
}

impl ModelError {
    /// Bytes that are no model of these systems.
    pub(crate) fn not_a_model(systems: impl Into<String>) -> Self {
        ModelError::NotAModel { systems: systems.into() }
    }

    pub(crate) fn damaged(damage: Damage) -> Self {
        ModelError::Damaged { damage }
    }

    /// A file that does not follow the format of another system.
    pub(crate) fn invalid_file(format: &'static str, problem: FileProblem) -> Self {
        ModelError::InvalidFile { format, tree: None, problem }
    }

    /// A part of a model that our own format or that of another system cannot express.
    pub(crate) fn unsupported(format: &'static str, part: UnsupportedPart) -> Self {
        ModelError::Unsupported { format, tree: None, part }
    }

    /// An error unless a parameter is finite.
    pub(crate) fn check_finite(parameter: ModelParameter, value: f64) -> Result<(), Self> {
        if value.is_finite() { Ok(()) } else { Err(ModelError::NotFinite { parameter, value }) }
    }

    /// Adds the part of a model to the error.
    pub(crate) fn within(self, part: ModelPart) -> Self {
        ModelError::InPart { part, error: Box::new(self) }
    }

    /// Adds the file to the error.
    pub fn in_file(self, file: impl Into<String>) -> Self {
        match self {
            // These already name their file.
            ModelError::Data(_) | ModelError::InFile { .. } => self,
            other => ModelError::InFile { file: file.into(), error: Box::new(other) },
        }
    }

    /// A remedy, if there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            ModelError::Data(error) => error.help(),
            ModelError::InFile { error, .. } | ModelError::InPart { error, .. } => error.help(),
            ModelError::InvalidFile { problem: FileProblem::Model(error), .. } => error.help(),
            ModelError::InvalidBlend(BlendProblem::NestedBlend { .. }) => {
                Some("give the members of that blend instead".into())
            }
            ModelError::Unsupported { part, .. } => part.help().map(str::to_owned),
            ModelError::Version { found, supported } if found > supported => {
                Some("a newer program wrote it: update this one, or train the model again".into())
            }
            ModelError::Damaged { .. } => {
                Some("copy or train the model again; nothing in the file can be trusted".into())
            }
            ModelError::MissingFeatures { .. } => {
                Some("add these columns to the data, or rename them as in training".into())
            }
            ModelError::UnknownFeatures { .. } => Some("check that this is the right data".into()),
            ModelError::UnknownNumbers { .. } => Some(
                "match the features by position, if both have the same features in the same order; \
                 or ignore the features that the model does not know, if equal numbers are the \
                 same feature"
                    .into(),
            ),
            ModelError::CountedFromZero { .. } => Some(
                "match the features by position, if both have the same features in the same order; \
                 or write the model with the number of its first feature"
                    .into(),
            ),
            ModelError::NamesAndNumbers { .. } => Some(
                "give the features the same names in model and data; or match them by position, if \
                 both have the same features in the same order"
                    .into(),
            ),
            ModelError::NoGrades => Some("train the model again".into()),
            ModelError::UnknownCategories { .. } => {
                Some("train the model on data with these texts, or leave the column out".into())
            }
            ModelError::CategoriesWithoutTexts { .. } => {
                Some("give the data as a table with the texts of this column".into())
            }
            ModelError::OtherCategories { .. } => {
                Some("read the data with the table columns of the model".into())
            }
            ModelError::Absent { model, .. } => {
                Some(format!(
                    "read the data again from its source, with absent features as {model}"
                ))
            }
            _ => None,
        }
    }
}

/// Maximum number of names in a message.
pub(crate) const MAX_SHOWN_NAMES: usize = 10;

/// Names for a message: the first few of `names`, and how many of `count` are not shown.
pub(crate) fn first_names<S: AsRef<str>>(names: &[S], count: usize) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_SHOWN_NAMES).map(S::as_ref).collect();
    match count.saturating_sub(MAX_SHOWN_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
