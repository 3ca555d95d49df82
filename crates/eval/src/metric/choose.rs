//! The metrics of an evaluation, which may be given as texts, specs or measures, or be the default
//! ones.

use std::str::FromStr;

use rankwright_spec::SpecError;

use super::{Measure, MetricSpec, parse_metrics};
use crate::source::SourceKind;

/// The default metric of training and of reports.
pub const DEFAULT_METRIC: &str = "ndcg@10";

/// The default metric of preference pairs: the only one of data without labels, and one more beside
/// the usual ones where data has labels too.
pub const PREFERENCE_METRIC: &str = "preference-accuracy";

/// Metrics as a caller writes them: a text (several metrics are separated by commas), a
/// [`MetricSpec`], a [`Measure`], or a list of one of them.
pub trait ToMeasures {
    /// The measures for a kind of data, in the order given.
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError>;
}

impl ToMeasures for str {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        parse_metrics(self)?.iter().map(|spec| spec.resolve(kind)).collect()
    }
}

impl ToMeasures for String {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        self.as_str().to_measures(kind)
    }
}

impl ToMeasures for MetricSpec {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        Ok(vec![self.resolve(kind)?])
    }
}

impl ToMeasures for Measure {
    fn to_measures(&self, _: SourceKind) -> Result<Vec<Measure>, SpecError> {
        Ok(vec![self.clone()])
    }
}

impl<T: ToMeasures> ToMeasures for [T] {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        let mut measures = Vec::new();
        for part in self {
            measures.extend(part.to_measures(kind)?);
        }
        Ok(measures)
    }
}

impl<T: ToMeasures, const N: usize> ToMeasures for [T; N] {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        self.as_slice().to_measures(kind)
    }
}

impl<T: ToMeasures> ToMeasures for Vec<T> {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        self.as_slice().to_measures(kind)
    }
}

impl<T: ToMeasures + ?Sized> ToMeasures for &T {
    fn to_measures(&self, kind: SourceKind) -> Result<Vec<Measure>, SpecError> {
        (**self).to_measures(kind)
    }
}

/// A measure for feature data; [`MetricSpec::resolve`] makes one for runs.
impl FromStr for Measure {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        MetricSpec::parse(text)?.resolve(SourceKind::Features)
    }
}

/// The metrics that are used if none is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefaultMetrics<'a> {
    /// The usual metrics for the kind of data ([`usual_metrics`]).
    Usual,
    /// The metric that a model was trained for, from its header. An empty text stands for
    /// [`DEFAULT_METRIC`]; a text that is no metric is an error.
    Trained(&'a str),
}

/// The given metrics (texts, specs or measures), or the default ones if none is given.
///
/// ```
/// use rankwright_eval::{DefaultMetrics, SourceKind, metrics_or_default};
///
/// let given = metrics_or_default(&["ap, p@5"], SourceKind::Run, DefaultMetrics::Usual)?;
/// assert_eq!(given.len(), 2);
/// let none: [&str; 0] = [];
/// let trained = DefaultMetrics::Trained("err@20");
/// let default = metrics_or_default(&none, SourceKind::Features, trained)?;
/// assert_eq!(default[0].to_string(), "err@20");
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
pub fn metrics_or_default<T: ToMeasures>(
    given: &[T],
    kind: SourceKind,
    default: DefaultMetrics<'_>,
) -> Result<Vec<Measure>, SpecError> {
    if !given.is_empty() {
        return given.to_measures(kind);
    }
    match default {
        DefaultMetrics::Usual => usual_metrics(kind).to_measures(kind),
        DefaultMetrics::Trained(text) => Ok(vec![metric_or_default(None, kind, text)?]),
    }
}

/// The given metric, or the metric that a model was trained for; ndcg@10 if the model names none. A
/// trained metric that is not known here is an error.
pub fn metric_or_default(
    given: Option<&str>,
    kind: SourceKind,
    trained: &str,
) -> Result<Measure, SpecError> {
    let default = match trained {
        "" => DEFAULT_METRIC,
        trained => trained,
    };
    MetricSpec::parse(given.unwrap_or(default))?.resolve(kind)
}

/// The metrics that an evaluation usually reports, as a text.
pub fn usual_metrics(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Features => "ndcg@1, ndcg@5, ndcg@10, ap, rr, p@10",
        SourceKind::Run => "ndcg@10, ap, rr, p@10, recall@100, judged@10",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str], kind: SourceKind, default: DefaultMetrics<'_>) -> Vec<String> {
        let measures = metrics_or_default(texts, kind, default).unwrap();
        measures.iter().map(Measure::to_string).collect()
    }

    #[test]
    fn the_usual_metrics_are_legal_and_contain_the_default() {
        for kind in [SourceKind::Features, SourceKind::Run] {
            let usual = names(&[], kind, DefaultMetrics::Usual);
            assert_eq!(usual.join(", "), usual_metrics(kind));
            assert!(usual.contains(&DEFAULT_METRIC.to_owned()));
        }
    }

    #[test]
    fn given_metrics_win_then_the_trained_one_then_the_default() {
        let chosen = |texts: &[&str], trained| {
            names(texts, SourceKind::Features, DefaultMetrics::Trained(trained))
        };
        assert_eq!(chosen(&["rr, ap", "p@3"], "err"), ["rr", "ap", "p@3"]);
        assert_eq!(chosen(&[], "err(max=2)@5"), ["err(max=2)@5"]);
        assert_eq!(chosen(&[], ""), ["ndcg@10"]);
        let unknown = DefaultMetrics::Trained("clicks@10");
        let error = metrics_or_default::<&str>(&[], SourceKind::Features, unknown).unwrap_err();
        assert!(error.to_string().contains("unknown metric `clicks`"), "{error}");
        let wrong = metrics_or_default(&["nope"], SourceKind::Run, DefaultMetrics::Usual);
        assert!(wrong.is_err());
    }
}
