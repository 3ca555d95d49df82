//! Evaluation of a model in one call.

use rankwright_data::Dataset;
use rankwright_eval::{EvalOptions, Evaluation, ScoredDataset, SourceKind, ToMeasures};
use rankwright_model::Model;

use crate::tasks::{TaskError, measures_for};

/// Scores a data set with a model and evaluates the scores against its labels.
///
/// ```
/// use rankwright::prelude::*;
/// # use rankwright::data::generate::LetorOptions;
/// # let [train, test] = [1, 2].map(|seed| LetorOptions { queries: 20, documents: 20, seed });
/// # let (train, test) = (train.generate()?, test.generate()?);
/// let model = LambdaMart::new().trees(20).fit(&train)?.model;
/// let found = evaluate(&model, &test, "ndcg@10, ap")?;
/// assert!(found.get("ndcg@10") > Some(0.4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate(
    model: &Model,
    data: &Dataset,
    metrics: impl ToMeasures,
) -> Result<Evaluation, TaskError> {
    let measures = measures_for(model, &metrics.to_measures(SourceKind::Features)?)?;
    let scores = model.predict(data)?;
    let source = ScoredDataset::new(data, &scores)?;
    Ok(rankwright_eval::evaluate(&source, &measures, EvalOptions::default())?)
}
