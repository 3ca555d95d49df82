//! Metrics that compare scores with a boundary, from which on a document is called relevant, for the
//! scores of models.
//!
//! The boundary is that of the model that made the score, if it has one: this file has the rule, for
//! one model and for several. Where several models are evaluated together, as in a comparison or in
//! the folds of a cross validation, each score is compared with the boundary of its own model, and
//! if these differ, the convention printed with a value says `threshold=each-model`.
//!
//! A model is a function from the lowest relevant label to its boundary, or to `None` if it has
//! none; then the metric takes its default threshold.

use rankwright_spec::SpecError;

use crate::error::EvalError;
use crate::evaluate::{EvalOptions, Evaluation, evaluate_queries};
use crate::metric::{BoundaryText, Measure};
use crate::order::same_length;
use crate::source::QuerySource;

/// The measures for the scores of one model.
///
/// ```
/// use rankwright_eval::{ToMeasures, SourceKind, measures_for_model};
///
/// let measures = "accuracy, rr".to_measures(SourceKind::Features)?;
/// let of_svm = measures_for_model(&measures, |_rel| Some(0.0))?;
/// assert_eq!(of_svm[0].of(&[0.2, -0.3], &[1.0, 0.0])?, Some(1.0));
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
pub fn measures_for_model(
    measures: &[Measure],
    boundary: impl Fn(f64) -> Option<f64>,
) -> Result<Vec<Measure>, SpecError> {
    let own = |measure: &Measure| measure.with_boundary(BoundaryText::Number, &boundary);
    measures.iter().map(own).collect()
}

/// The measures for each of several models. The convention text of a measure has the number of the
/// boundary (`threshold=1`) if it is the same for all models, else `threshold=each-model`.
pub fn measures_for_models(
    measures: &[Measure],
    boundaries: &[impl Fn(f64) -> Option<f64>],
) -> Result<Vec<Vec<Measure>>, SpecError> {
    let of_model = |boundary| measures_for_model(measures, boundary);
    let mut models = boundaries.iter().map(of_model).collect::<Result<Vec<_>, _>>()?;
    for (m, measure) in measures.iter().enumerate() {
        let differs = models.windows(2).any(|two| two[0][m].convention() != two[1][m].convention());
        if differs {
            for (model, boundary) in models.iter_mut().zip(boundaries) {
                model[m] = measure.with_boundary(BoundaryText::EachModel, boundary)?;
            }
        }
    }
    Ok(models)
}

/// The measures that compare scores with a boundary, which this model does not have.
pub fn measures_without_boundary(
    measures: &[Measure],
    boundary: impl Fn(f64) -> Option<f64>,
) -> impl Iterator<Item = &Measure> {
    let lacks = move |measure: &&Measure| {
        measure.takes_boundary().is_some_and(|rel| boundary(rel).is_none())
    };
    measures.iter().filter(lacks)
}

/// Evaluates queries whose scores come from several models, each query by the measures of its model
/// ([`measures_for_models`]). `model_of` has the number of the model of each query.
///
/// ```
/// use rankwright_eval::{
///     EvalOptions, ScoredQueries, SourceKind, ToMeasures, evaluate_models, measures_for_models,
/// };
///
/// let (scores, labels) = ([0.2, -0.3, 7.0, 5.0], [1.0, 0.0, 1.0, 0.0]);
/// let queries = ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], vec!["a", "b"])?;
/// let measures = "accuracy".to_measures(SourceKind::Features)?;
/// let models = measures_for_models(&measures, &[|_| Some(0.0), |_| Some(6.0)])?;
/// let found = evaluate_models(&queries, &models, &[0, 1], EvalOptions::default())?;
/// assert_eq!(found.get("accuracy"), Some(1.0));
/// assert!(found.results[0].convention.starts_with("threshold=each-model, "));
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
pub fn evaluate_models(
    source: &dyn QuerySource,
    models: &[Vec<Measure>],
    model_of: &[usize],
    options: EvalOptions,
) -> Result<Evaluation, EvalError> {
    same_length("models of queries", model_of.len(), source.len())?;
    let Some(first) = models.first() else {
        return Err(EvalError::Shape { what: "models", found: 0, expected: 1 });
    };
    for model in models {
        same_length("metrics of a model", model.len(), first.len())?;
    }
    if let Some(model) = model_of.iter().find(|model| **model >= models.len()) {
        return Err(EvalError::Shape { what: "models", found: models.len(), expected: model + 1 });
    }
    evaluate_queries(source, first, &|q| &models[model_of[q]], options)
}

/// Writes `threshold=each-model` in the convention texts of metrics whose boundary differs between
/// these evaluations, each of which used the boundary of its own model.
pub fn name_boundary_of_each_model(evaluations: &mut [&mut Evaluation]) {
    let metrics = evaluations.iter().map(|found| found.results.len()).min().unwrap_or(0);
    for m in 0..metrics {
        let convention = |found: &Evaluation| found.results[m].convention.clone();
        if evaluations.windows(2).all(|two| convention(two[0]) == convention(two[1])) {
            continue;
        }
        let results = evaluations.iter_mut().map(|found| &mut found.results[m]);
        for result in results.filter(|result| result.measure.takes_boundary().is_some()) {
            result.convention = each_models_convention(&result.convention);
        }
    }
}

/// The conventions of a measure, with `each-model` in place of the number of the threshold.
pub(crate) fn each_models_convention(convention: &str) -> String {
    let parts = convention.split(", ").map(|part| match part.split_once('=') {
        Some(("threshold", _)) => "threshold=each-model",
        _ => part,
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::ToMeasures;
    use crate::source::{ScoredQueries, SourceKind};

    #[test]
    fn a_boundary_that_all_models_have_is_named_and_wrong_numbers_of_models_are_errors() {
        let measures = "accuracy, accuracy(rel=2)".to_measures(SourceKind::Features).unwrap();
        let models =
            measures_for_models(&measures, &[|rel: f64| Some(rel.min(1.0)), Some]).unwrap();
        for model in &models {
            assert!(model[0].convention().starts_with("threshold=1, rel=1"));
            assert!(model[1].convention().starts_with("threshold=each-model, rel=2"));
        }
        let queries =
            ScoredQueries::new(&[1.0], &[0.0], std::iter::once(0..1).collect(), vec!["q"]).unwrap();
        let evaluate = |models: &[Vec<Measure>], model_of: &[usize]| {
            evaluate_models(&queries, models, model_of, EvalOptions::default()).unwrap_err()
        };
        let wrong = [evaluate(&models, &[2]), evaluate(&models, &[]), evaluate(&[], &[0])];
        assert!(wrong.iter().all(|error| matches!(error, EvalError::Shape { .. })), "{wrong:?}");
    }

    #[test]
    fn measures_without_a_boundary_are_those_that_need_one() {
        let measures = "rr, accuracy, accuracy(threshold=0)".to_measures(SourceKind::Features);
        let measures = measures.unwrap();
        let names = |boundary: Option<f64>| -> Vec<String> {
            measures_without_boundary(&measures, |_| boundary).map(Measure::to_string).collect()
        };
        assert_eq!(names(None), ["accuracy"]);
        assert!(names(Some(0.0)).is_empty());
    }
}
