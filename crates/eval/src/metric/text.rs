//! Metrics as values of parameters: `lambdamart(metric=err@20)`.

use std::fmt;

use rankwright_spec::{
    IntoParam, ParamKind, ParamValue, RangeDef, SpecError, TextValue, ValueError,
};

use super::MetricSpec;

/// The text of a metric as the value of a parameter, so that builder methods take `"err@20"`.
///
/// A text from a spec is checked when it is read; one from a builder method is checked with the
/// other parameters. [`MetricText::spec`] returns the metric.
///
/// ```
/// use rankwright_eval::MetricText;
/// use rankwright_spec::{Spec, check_params, params, read_spec};
///
/// params! {
///     /// A learner.
///     pub struct Learner {
///         metric: MetricText = MetricText::new("ndcg@10"), .., "Target metric.";
///     }
/// }
/// assert_eq!(Learner::default().metric.spec()?.to_string(), "ndcg@10");
/// let err = read_spec::<Learner>(&Spec::parse("x(metric=err@20)")?)?;
/// assert_eq!(err, Learner::default().metric("err@20"));
/// let error = check_params(&Learner::default().metric("ncdg"), "x").unwrap_err();
/// assert!(error.to_string().contains("did you mean `ndcg`?"));
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetricText(String);

impl MetricText {
    /// The text of a metric, not checked yet.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The metric; an error if the text names none.
    pub fn spec(&self) -> Result<MetricSpec, SpecError> {
        MetricSpec::parse(&self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ParamValue for MetricText {
    fn kind() -> ParamKind {
        MetricSpec::kind()
    }

    fn read(text: &str, range: &RangeDef) -> Result<Self, ValueError> {
        MetricSpec::read(text, range).map(Self::from)
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn check(&self) -> Result<(), ValueError> {
        self.spec()?;
        Ok(())
    }
}

impl TextValue for MetricText {
    fn from_text(text: &str) -> Self {
        Self::new(text)
    }
}

impl IntoParam<MetricText> for String {
    fn into_param(self) -> MetricText {
        MetricText(self)
    }
}

impl IntoParam<MetricText> for MetricSpec {
    fn into_param(self) -> MetricText {
        self.into()
    }
}

impl IntoParam<MetricText> for &MetricSpec {
    fn into_param(self) -> MetricText {
        MetricText(self.to_string())
    }
}

impl From<MetricSpec> for MetricText {
    fn from(spec: MetricSpec) -> Self {
        Self(spec.to_string())
    }
}

impl fmt::Display for MetricText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ParamValue for MetricSpec {
    fn kind() -> ParamKind {
        ParamKind::Spec { of: "metric" }
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        Self::parse(text).map_err(ValueError::Spec)
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_spec::{Auto, Spec, check_params, params, read_spec, write_spec};

    params! {
        /// Three types of parameters that hold a metric.
        pub(super) struct MetricHolder {
            target: MetricText = MetricText::new("ndcg@10"), .., "Target.";
            watch: Auto<MetricText> = Auto::Auto, .., "Watched metric.";
            other: Option<MetricText> = None, .., "Another metric.";
        }
    }

    #[test]
    fn builders_and_specs_give_the_same_metric() {
        let text = "x(target=ap(rel=2)@100, watch=err@20, other=rr)";
        let built = MetricHolder::default().target("ap(rel=2)@100").watch("err@20").other("rr");
        assert_eq!(read_spec::<MetricHolder>(&Spec::parse(text).unwrap()).unwrap(), built);
        assert_eq!(write_spec("x", &built).to_string(), text);
        let ndcg = MetricSpec::parse("ndcg@5").unwrap();
        let by_text = MetricHolder::default().target("ndcg@5".to_owned());
        assert_eq!(MetricHolder::default().target(&ndcg), by_text);
    }

    #[test]
    fn an_invalid_metric_is_refused_with_the_error_of_the_metric() {
        let built = check_params(&MetricHolder::default().watch("ndcg@0"), "x").unwrap_err();
        assert!(built.to_string().contains("column 6"), "{built}");
        let read = read_spec::<MetricHolder>(&Spec::parse("x(other=ndcg(gian=exp))").unwrap());
        assert!(read.unwrap_err().to_string().contains("did you mean `gain`?"));
    }
}
