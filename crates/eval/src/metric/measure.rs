//! The metrics of an evaluation: a checked text, [`MetricSpec`], is resolved to a [`Measure`].
//!
//! A spec is checked when it is parsed; it is resolved when the kind of data is known, because the
//! default tie policy differs between feature data and runs.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rankwright_spec::{Conflict, ParamValue, RangeDef, Spec, SpecError, read_into};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::goals::{GOALS, GoalsText, is_short_form};
use super::names::{find_metric, parse_trec_name};
use super::{Aggregate, Metric, MetricDef};
use crate::boundary::each_models_convention;
use crate::convention::{Blank, Conventions, Missing, SHARED_CONVENTIONS};
use crate::error::EvalError;
use crate::gain::Gain;
use crate::list::{Candidates, ListBuffers, RankedList};
use crate::order::TiePolicy;
use crate::rank_sum::QueryValue;
use crate::source::SourceKind;
use crate::swap::SwapDelta;

/// The checked text of a metric: name, parameters and values are all valid.
///
/// ```
/// use rankwright_eval::{MetricSpec, SourceKind};
///
/// let spec = MetricSpec::parse("ndcg(blank=0, gain=linear)@10")?;
/// assert_eq!(spec.to_string(), "ndcg(gain=linear, blank=0)@10");
/// let measure = spec.resolve(SourceKind::Features)?;
/// assert!(measure.convention().contains("ties=worst"));
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MetricSpec {
    /// The spec with the name that the user wrote, arguments in the order of the metric's
    /// declaration.
    written: Spec,
    /// The spec with the metric's own name; a trec_eval name is expanded.
    canonical: Spec,
    def: &'static MetricDef,
}

impl MetricSpec {
    /// Reads and checks one metric.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        if is_short_form(text) {
            // ndcg@10:1+p@5:0.3, a weighted sum.
            let text = GoalsText::read(text, &RangeDef::default());
            let text = text.map_err(|error| error.at(GOALS.name, "of", ""))?.write();
            return Self::from_spec(Spec::new(GOALS.name).with("of", text));
        }
        Self::from_spec(Spec::parse(text)?)
    }

    /// Checks one metric.
    pub fn from_spec(mut written: Spec) -> Result<Self, SpecError> {
        let mut canonical = match parse_trec_name(&written.name) {
            Some(mut spec) => {
                if let (Some(_), Some(cutoff)) = (spec.cutoff, written.cutoff) {
                    let conflict = Conflict::SecondCutoff { cutoff };
                    return Err(SpecError::conflict(written.name, conflict));
                }
                spec.cutoff = spec.cutoff.or(written.cutoff);
                written.args.iter().fold(spec, |s, (k, v)| s.with(k, v.as_str()))
            }
            None => written.clone(),
        };
        let def = find_metric(&canonical.name)?;
        canonical.name = def.name.to_owned();
        let params = def.params();
        let position = |key: &str| params.iter().position(|param| param.name == key);
        canonical.args.sort_by_key(|(key, _)| position(key));
        written.args.sort_by_key(|(key, _)| position(key));
        let spec = Self { written, canonical, def };
        spec.resolve(SourceKind::Features)?;
        Ok(spec)
    }

    /// The spec with the metric's own name; trec_eval names are expanded.
    pub fn canonical(&self) -> &Spec {
        &self.canonical
    }

    /// The declaration of the metric.
    pub fn def(&self) -> &'static MetricDef {
        self.def
    }

    /// Fills in every convention for a kind of data: a value is that of the spec, else that of the
    /// preset, else the metric's default.
    pub fn resolve(&self, kind: SourceKind) -> Result<Measure, SpecError> {
        let Self { canonical: spec, def, .. } = self;
        let known = def.params();
        let has_param = |key: &str| known.iter().any(|param| param.name == key);
        let preset = spec.get("preset").filter(|name| *name != "none" && has_param("preset"));
        let mut params = def.params_with_preset(preset)?;
        read_into(&mut *params, spec)?;
        if let Some(cutoff) = spec.cutoff.filter(|_| !def.cutoff) {
            return Err(SpecError::conflict(&spec.name, Conflict::CutoffNotAllowed { cutoff }));
        }
        let conventions = Conventions::resolve(&*params, kind)?;
        if conventions.ties == TiePolicy::Mean && !def.mean_ties {
            let conflict = Conflict::NotSupported {
                setting: "ties=mean".to_owned(),
                reason: "this metric has no exact mean over tied documents; expected ties=worst, \
                         docid, stable or best",
            };
            return Err(SpecError::conflict(&spec.name, conflict));
        }
        let metric: Arc<dyn Metric> = Arc::from(params.build(spec.cutoff));
        let mut own_conventions = params.own_conventions();
        own_conventions.extend(def.cutoff.then(|| describe_cutoff(spec.cutoff)));
        let shared = SHARED_CONVENTIONS.into_iter().filter(|key| has_param(key));
        let convention = describe(own_conventions, &conventions, shared, metric.aggregate()).into();
        let boundary = params
            .takes_boundary()
            .map(|rel| Arc::new(UnresolvedBoundary { metric: self.clone(), kind, rel }));
        let (spec, order_free) = (self.written.clone(), !has_param("ties"));
        let gain = params.text("gain").map(|text| Gain::read(&text, &RangeDef::default()));
        let gain = gain.transpose().map_err(|error| error.at(&spec.name, "gain", ""))?;
        Ok(Measure { spec, metric, conventions, convention, order_free, boundary, gain })
    }
}

/// The metric, not yet resolved, of a measure whose threshold is the boundary of the model that
/// made the scores.
#[derive(Debug)]
struct UnresolvedBoundary {
    metric: MetricSpec,
    kind: SourceKind,
    /// The lowest label that counts as relevant.
    rel: f64,
}

/// The text of a model's boundary in the convention that is printed with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundaryText {
    /// The number: `threshold=0`.
    Number,
    /// The words `threshold=each-model`, for several models with different boundaries.
    EachModel,
}

impl PartialEq for MetricSpec {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl fmt::Display for MetricSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written.fmt(f)
    }
}

/// A metric serialises to its text.
impl Serialize for MetricSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MetricSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        MetricSpec::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl FromStr for MetricSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}

/// A cut-off as `cutoff=10` or `cutoff=none`.
fn describe_cutoff(cutoff: Option<u32>) -> String {
    cutoff.map_or("cutoff=none".to_owned(), |k| format!("cutoff={k}"))
}

/// Every convention by name: the metric's own, then the shared ones that it has, then the
/// aggregation if it is not the mean over queries.
fn describe(
    own: Vec<String>,
    conventions: &Conventions,
    shared: impl Iterator<Item = &'static str>,
    aggregate: Aggregate,
) -> String {
    let shared = shared.filter_map(|key| conventions.describe(key));
    let total = (aggregate != Aggregate::Mean).then(|| format!("total={}", aggregate.name()));
    own.into_iter().chain(shared).chain(total).collect::<Vec<_>>().join(", ")
}

/// A metric with all conventions filled in, ready to evaluate.
#[derive(Debug, Clone)]
pub struct Measure {
    /// The spec with the name that the user wrote.
    spec: Spec,
    metric: Arc<dyn Metric>,
    /// The shared conventions.
    conventions: Conventions,
    /// All conventions as text.
    convention: Arc<str>,
    /// Whether the order among equal scores cannot change the value.
    order_free: bool,
    /// The metric, if its threshold is the boundary of the model.
    boundary: Option<Arc<UnresolvedBoundary>>,
    /// The gain of labels; `None` for a metric without the parameter `gain`.
    gain: Option<Gain>,
}

impl Measure {
    /// A measure of a custom metric.
    pub fn custom(name: &str, metric: impl Metric + 'static, conventions: Conventions) -> Self {
        let own = Some(metric.convention()).filter(|own| !own.is_empty());
        let own = own.into_iter().collect();
        let shared = SHARED_CONVENTIONS.into_iter();
        let convention = describe(own, &conventions, shared, metric.aggregate()).into();
        let (spec, metric) = (Spec::new(name), Arc::new(metric));
        Self {
            spec,
            metric,
            conventions,
            convention,
            order_free: false,
            boundary: None,
            gain: None,
        }
    }

    /// The measure for scores of a model with a boundary: `boundary` gets the lowest label that
    /// counts as relevant, and returns the lowest score that the model predicts such a label for,
    /// if it has one. Other measures, and those with a given threshold, stay as they are.
    ///
    /// ```
    /// use rankwright_eval::{BoundaryText, MetricSpec, SourceKind};
    ///
    /// let accuracy = MetricSpec::parse("accuracy")?.resolve(SourceKind::Features)?;
    /// let of_svm = accuracy.with_boundary(BoundaryText::Number, |_rel| Some(0.0))?;
    /// assert_eq!(accuracy.of(&[0.2, -0.3], &[1.0, 0.0])?, Some(0.5));
    /// assert_eq!(of_svm.of(&[0.2, -0.3], &[1.0, 0.0])?, Some(1.0));
    /// assert!(of_svm.convention().starts_with("threshold=0, "));
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn with_boundary(
        &self,
        text: BoundaryText,
        boundary: impl FnOnce(f64) -> Option<f64>,
    ) -> Result<Measure, SpecError> {
        let Some(unresolved) = &self.boundary else { return Ok(self.clone()) };
        let mut metric = unresolved.metric.clone();
        if let Some(threshold) = boundary(unresolved.rel) {
            // Parameters are finite; no finite score is outside of these limits.
            let threshold = threshold.clamp(f64::MIN, f64::MAX).write();
            metric.canonical = metric.canonical.with("threshold", threshold);
        }
        let mut measure = metric.resolve(unresolved.kind)?;
        if text == BoundaryText::EachModel {
            measure.convention = each_models_convention(&measure.convention).into();
        }
        // A later call can replace this boundary by that of another model.
        measure.boundary = Some(Arc::clone(unresolved));
        Ok(measure)
    }

    /// The lowest label that counts as relevant, if the measure compares scores with the boundary
    /// of the model that made them; `None` for other measures and a given threshold.
    ///
    /// ```
    /// use rankwright_eval::{MetricSpec, SourceKind};
    ///
    /// let rel = |text: &str| -> Result<Option<f64>, rankwright_eval::EvalError> {
    ///     Ok(MetricSpec::parse(text)?.resolve(SourceKind::Features)?.takes_boundary())
    /// };
    /// assert_eq!(rel("accuracy(rel=2)")?, Some(2.0));
    /// assert_eq!(rel("accuracy(threshold=0)")?, None);
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn takes_boundary(&self) -> Option<f64> {
        self.boundary.as_ref().map(|unresolved| unresolved.rel)
    }

    /// The spec with the name that the user wrote.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The metric.
    pub fn metric(&self) -> &dyn Metric {
        &*self.metric
    }

    /// The gain of labels; `None` for metrics without the parameter `gain` and for custom ones.
    ///
    /// ```
    /// use rankwright_eval::{Gain, MetricSpec, SourceKind};
    ///
    /// let gain = |text: &str| {
    ///     let measure = MetricSpec::parse(text)?.resolve(SourceKind::Features)?;
    ///     Ok::<_, rankwright_eval::EvalError>(measure.gain().cloned())
    /// };
    /// assert_eq!(gain("ndcg@10")?, Some(Gain::Exp));
    /// assert_eq!(gain("ndcg(gain=linear)@10")?, Some(Gain::Linear));
    /// assert_eq!(gain("ap")?, None);
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn gain(&self) -> Option<&Gain> {
        self.gain.as_ref()
    }

    /// The shared conventions.
    pub fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// Every convention by name, as `key=value, key=value`; it must be printed with the number.
    pub fn convention(&self) -> &str {
        &self.convention
    }

    /// Whether the order among equal scores cannot change the value.
    pub(crate) fn is_order_free(&self) -> bool {
        self.order_free
    }

    /// The number of first ranks whose labels, together with the ideal, determine the value; `None`
    /// if the value depends on more, as under `ties=mean`, where documents below the cut-off count
    /// if they are tied with one above it.
    pub fn depth(&self) -> Option<usize> {
        let depth =
            self.metric.depth().filter(|_| self.conventions.order().ties != TiePolicy::Mean);
        depth.map(|depth| depth as usize)
    }

    /// The aggregation of the values of queries into one number.
    pub fn aggregate(&self) -> Aggregate {
        self.metric.aggregate()
    }

    /// The changes of the metric under swaps; `None` if the metric does not support them.
    pub fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        self.metric.swap()
    }

    /// The value of one ranked query; `None` if it is skipped. The list must have been ranked under
    /// this measure's conventions.
    ///
    /// The conventions are applied in this order: a query that the run lacks is skipped
    /// (`missing=skip`); a query without a relevant document gets the value of `blank`; a query
    /// that the run lacks gets the metric's value for it (`missing=zero`). Only for other queries
    /// the metric is computed.
    pub fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let returned = list.returned();
        if !returned && self.conventions.missing == Missing::Skip {
            return Ok(None);
        }
        if self.metric.has_no_relevant(list)? {
            return Ok(self.blank_value());
        }
        if !returned {
            return Ok(self.metric.when_missing(list));
        }
        self.metric.evaluate(list)
    }

    /// The value of a query without a relevant document; `None` if it is skipped.
    fn blank_value(&self) -> Option<f64> {
        match self.conventions.blank {
            Blank::Skip => None,
            Blank::Zero => Some(0.0),
            Blank::One => Some(1.0),
        }
    }

    /// The value of one query as a function of the order of its documents, which are all judged:
    /// from their labels, and the same labels best first ([`sort_labels`](crate::sort_labels)). For
    /// any order the value is that of [`evaluate`](Self::evaluate), to the last bit. `None` if the
    /// metric is no sum over few ranks, or the gain of a label is not defined.
    pub fn query_value(&self, labels: &[f64], ideal: &[f64]) -> Option<QueryValue> {
        self.depth()?;
        let list = RankedList::of_judged(labels, &[], ideal);
        match self.metric.has_no_relevant(&list) {
            Ok(true) => Some(QueryValue::Constant(self.blank_value())),
            Ok(false) => self.metric.query_value(labels, ideal),
            Err(_) => None,
        }
    }

    /// The value for one query given by scores and labels; `None` if it is skipped.
    ///
    /// ```
    /// use rankwright_eval::{MetricSpec, SourceKind};
    ///
    /// let p = MetricSpec::parse("p@2")?.resolve(SourceKind::Features)?;
    /// assert_eq!(p.of(&[3.0, 1.0, 2.0], &[1.0, 1.0, 0.0])?, Some(0.5));
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn of(&self, scores: &[f64], labels: &[f64]) -> Result<Option<f64>, EvalError> {
        let candidates = Candidates {
            scores: scores.to_vec(),
            labels: labels.to_vec(),
            returned: true,
            ..Candidates::default()
        };
        self.of_candidates(&candidates)
    }

    /// The value for one query given by its candidates; `None` if it is skipped.
    pub fn of_candidates(&self, candidates: &Candidates<'_>) -> Result<Option<f64>, EvalError> {
        let mut buffers = ListBuffers::default();
        buffers.start(candidates)?;
        self.evaluate(&buffers.rank_for(candidates, &self.conventions, None)?)
    }
}

/// A measure serialises to its text.
impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

/// The value of a metric for labels that are already in rank order; `None` if such a query is
/// skipped.
///
/// ```
/// use rankwright_eval::of_ranking;
///
/// assert_eq!(of_ranking("rr", &[0.0, 0.0, 1.0, 1.0])?, Some(1.0 / 3.0));
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
pub fn of_ranking(metric: &str, labels: &[f64]) -> Result<Option<f64>, EvalError> {
    let scores: Vec<f64> = (0..labels.len()).map(|rank| -(rank as f64)).collect();
    MetricSpec::parse(metric)?.resolve(SourceKind::Features)?.of(&scores, labels)
}
