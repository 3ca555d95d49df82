//! The items that most programs use, to be imported together: `use rankwright::prelude::*;`.

pub use rankwright_data::{Absent, Dataset, DatasetBuilder, Qrels, QueryLists, Run};
pub use rankwright_eval::compare::{CompareOptions, Comparison, compare_evaluations};
pub use rankwright_eval::{Evaluation, Measure, Metric, MetricSpec, evaluate_slices};
#[cfg(feature = "train")]
pub use rankwright_learn::prelude::*;
pub use rankwright_model::{
    ExplainOptions, Explainer, Explanation, MatchBy, MatchOptions, Model, ModelFormat,
    ScoreBuffers, ScoreOptions, Scorer,
};
#[cfg(feature = "search")]
pub use rankwright_search::{
    Document, FeatureSet, Hit, Index, Query, Ranker, RowOptions, training_data,
};

pub use crate::evaluate::evaluate;
