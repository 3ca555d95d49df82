//! Metrics of a request.

use rankwright_data::Dataset;
use rankwright_eval::metric::AccuracyParams;
use rankwright_eval::{
    DefaultMetrics, Measure, MetricSpec, PREFERENCE_METRIC, SourceKind, measures_for_model,
    measures_for_models, measures_without_boundary, metrics_or_default,
};
use rankwright_model::Model;
use rankwright_spec::SpecError;

use super::context::RunningTask;
use super::{TaskError, Warning};

/// Metrics for feature data or a run: the given ones, or the usual ones of its kind
/// ([`usual_metrics`](rankwright_eval::usual_metrics)).
pub fn resolve_metrics(
    metrics: &[MetricSpec],
    kind: SourceKind,
) -> Result<Vec<Measure>, TaskError> {
    Ok(metrics_or_default(metrics, kind, DefaultMetrics::Usual)?)
}

/// Metrics for a data set: the given ones, or the default ones. The default ones are the usual
/// metrics of labels if the data has no preference pairs, the metric of pairs if it has pairs
/// alone, and both if it has labels and pairs.
pub fn resolve_data_metrics(
    metrics: &[MetricSpec],
    data: &Dataset,
) -> Result<Vec<Measure>, TaskError> {
    let kind = SourceKind::Features;
    let mut measures = resolve_metrics(metrics, kind)?;
    if metrics.is_empty() && data.pairs().is_some() {
        if !data.is_labelled() {
            measures.clear();
        }
        measures.push(MetricSpec::parse(PREFERENCE_METRIC)?.resolve(kind)?);
    }
    Ok(measures)
}

/// The metrics for the scores of a model: those that compare scores with a boundary, from which on
/// a document is called relevant, take the model's own, if it has one.
pub fn measures_for(model: &Model, measures: &[Measure]) -> Result<Vec<Measure>, SpecError> {
    measures_for_model(measures, |rel| model.boundary(rel))
}

/// Warns of each metric that compares scores with a boundary, if the model has none. `name` is that
/// of the model, where there are several.
pub(super) fn warn_of_no_boundary(
    name: Option<&str>,
    model: &Model,
    measures: &[Measure],
    task: &mut RunningTask<'_>,
) {
    for measure in measures_without_boundary(measures, |rel| model.boundary(rel)) {
        task.warn(no_boundary(name, measure.to_string()));
    }
}

/// The warning of a metric that takes its default threshold, as the model has no boundary.
pub(super) fn no_boundary(name: Option<&str>, metric: String) -> Warning {
    let threshold = AccuracyParams::DEFAULT_THRESHOLD;
    Warning::NoBoundary { model: name.map(str::to_owned), metric, threshold }
}

/// The metrics for each of several systems; `None` stands for scores of no model.
pub(super) fn measures_per_system(
    models: &[Option<&Model>],
    measures: &[Measure],
) -> Result<Vec<Vec<Measure>>, SpecError> {
    let boundary = |model: &Option<&Model>| {
        let meaning = model.and_then(Model::score_meaning);
        move |rel| meaning.as_ref().and_then(|meaning| meaning.boundary(rel))
    };
    measures_for_models(measures, &models.iter().map(boundary).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use rankwright_data::Preference;

    use super::*;

    #[test]
    fn pairs_and_labels_decide_on_the_default_metrics() {
        let rows = || Dataset::from_rows([[1.0], [2.0]], ["x"]).query_ids(["q", "q"]);
        let names = |data: Dataset, metrics: &[&str]| {
            let specs: Vec<_> = metrics.iter().map(|m| MetricSpec::parse(m).unwrap()).collect();
            let measures = resolve_data_metrics(&specs, &data).unwrap();
            measures.iter().map(Measure::to_string).collect::<Vec<_>>().join(" ")
        };
        let usual = "ndcg@1 ndcg@5 ndcg@10 ap rr p@10";
        assert_eq!(names(rows().labels([1, 0]).build().unwrap(), &[]), usual);
        let pairs = || rows().pairs([Preference::new(0, 1)]);
        let both = pairs().labels([1, 0]).build().unwrap();
        assert_eq!(names(both, &[]), format!("{usual} preference-accuracy"));
        assert_eq!(names(pairs().build().unwrap(), &[]), "preference-accuracy");
        assert_eq!(names(pairs().build().unwrap(), &["rr"]), "rr");
    }
}
