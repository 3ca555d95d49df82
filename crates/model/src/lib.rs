//! Models that score documents: trees, linear models, nets and blends of them.
//!
//! A model is valid by construction: every constructor of a part, such as [`Tree::new`] and
//! [`Model::new`], checks it, and untrusted bytes go through the same constructors.
//! [`Model::from_bytes`] reads our own files and those of other systems; it gives a model or a
//! [`ModelError`], never a panic and never a tree with a cycle. A [`Model`] has a [`Header`] with
//! the names of its features and its origin; [`Model::score`] finds these features among the
//! columns of a data set ([`Matching`]).
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod bias_factors;
mod blend;
mod bounded;
mod categories;
mod category_numbers;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod codec;
pub mod draw;
mod engine;
mod ensemble;
mod error;
mod error_kind;
mod explain;
mod file;
mod header;
mod importance;
mod impurity;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod interchange;
mod linear;
mod matching;
mod math;
mod model;
mod net;
mod prediction;
mod problem;
mod score;
pub mod simd;
mod summary;
mod transform;
mod tree;

pub use bias_factors::{BiasColumn, BiasFactors, MAX_POSITIONS};
pub use blend::{Blend, Normalise};
pub use categories::Categories;
pub use codec::Damage;
pub use engine::{ScoreBuffers, Scorer, SparseRows};
pub use ensemble::Ensemble;
pub use error::{ModelError, ModelPart};
pub use explain::{
    Dependence, DependenceOptions, ExplainError, ExplainOptions, ExplainParams, Explainer,
    Explanation,
};
pub use header::Header;
pub use importance::Importance;
pub use impurity::SplitImpurity;
pub use interchange::{
    FileProblem, ModelFormat, NodeProblem, ProtobufProblem, ReadModel, UnsupportedGraph,
    UnsupportedPart, WriteModel,
};
pub use linear::Linear;
pub use matching::{MatchBy, MatchOptions, Matching};
pub use model::{BodyKind, Model, ModelBody};
pub use net::{Activation, Layer, LayerNorm, Net};
pub use prediction::{GRADES_NOTE, PredictionKind, ScoreMeaning, THRESHOLDS_NOTE};
pub use problem::{
    BlendProblem, HeaderProblem, ModelParameter, NetProblem, SparseProblem, StepProblem,
    TransformProblem, TreeProblem, WeightsProblem,
};
pub use score::ScoreOptions;
pub use summary::{
    BodySummary, FeatureImportance, LayerSummary, MemberSummary, MetricDrop, ModelSummary,
    TreesSummary,
};
pub use transform::{TransformStep, Transforms};
pub use tree::{ABOUT_ZERO, Child, Leaf, Side, Split, SplitCondition, Tree};
