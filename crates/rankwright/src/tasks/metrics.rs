//! Metrics of a request.

use rankwright_data::Dataset;
use rankwright_eval::{
    DefaultMetrics, Measure, MetricSpec, PREFERENCE_METRIC, SourceKind, metrics_or_default,
};

use super::TaskError;

/// Metrics for feature data or a run: the given ones, or the usual ones of its kind
/// ([`usual_metrics`](rankwright_eval::usual_metrics)).
pub fn resolve_metrics(
    metrics: &[MetricSpec],
    kind: SourceKind,
) -> Result<Vec<Measure>, TaskError> {
    Ok(metrics_or_default(metrics, kind, DefaultMetrics::Usual)?)
}

/// Metrics for a data set: the given ones, or the default ones. The default ones are the usual metrics
/// of labels if the data has no preference pairs, the metric of pairs if it has pairs alone, and both
/// if it has labels and pairs.
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
