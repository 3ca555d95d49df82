//! Lexicographic goals: `goal=keep(ndcg@10, 0.005)` names a first metric, which comes before the
//! objective's own metric (`metric=`): the own metric counts only for pairs whose swap changes the
//! first one by at most the tolerance (Svore, Volkovs and Burges 2011, section 4). The first metric
//! is called the kept metric.
//!
//! For a pair of documents, d1 is the change of the kept metric when the two swap ranks, d2 that of
//! the own metric:
//!
//! ```text
//! weight of the pair = |d1|            if |d1| > tolerance
//!                      |d1 + d2|       otherwise
//! ```
//!
//! With several columns of labels (`labels=...`), the kept metric is that of the data's own labels, and
//! the objective is a sum: the pair loss weighted by |d1|, plus for each column of labels the loss
//! weighted by |d2| of this column, in which pairs with |d1| > tolerance have no weight
//! ([`QueryView::kept_labels`](crate::objective::QueryView::kept_labels)).
//!
//! Validation follows the same order ([`crate::session`]): of the rounds whose kept metric is within
//! the tolerance of the best one so far, that with the best own metric is taken.

use std::cell::RefCell;

use rankwright_eval::{EvalError, MetricSpec, SwapDelta};
use rankwright_spec::{ParamKind, ParamValue, RangeDef, TextValue, ValueError, split_specs};

/// The kept metric of `goal=keep(METRIC, TOLERANCE)`, and its tolerance.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeptMetric {
    /// The metric that comes first.
    pub metric: MetricSpec,
    /// Changes of this metric up to this size count as none: then the learner's own metric decides.
    pub tolerance: f64,
}

impl KeptMetric {
    /// A metric that comes first, with its tolerance.
    pub fn new(metric: MetricSpec, tolerance: f64) -> Self {
        Self { metric, tolerance }
    }
}

/// The parameter `goal`: `none`, or `keep(METRIC, TOLERANCE)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalText(String);

impl Default for GoalText {
    fn default() -> Self {
        Self(NONE.to_owned())
    }
}

/// The value of the parameter if no metric is kept.
const NONE: &str = "none";

/// The form of the parameter, for messages.
const EXPECTED: &str = "none, or a metric and a tolerance such as keep(ndcg@10, 0.005)";

impl GoalText {
    /// The metric that is kept; `None` for `none`.
    ///
    /// ```
    /// use rankwright_learn::objective::GoalText;
    /// use rankwright_spec::TextValue;
    ///
    /// let kept = GoalText::from_text("keep(ndcg@10, 0.005)").kept().unwrap().unwrap();
    /// assert_eq!((kept.metric.to_string().as_str(), kept.tolerance), ("ndcg@10", 0.005));
    /// assert!(GoalText::from_text("none").kept().unwrap().is_none());
    /// ```
    pub fn kept(&self) -> Result<Option<KeptMetric>, ValueError> {
        if self.0 == NONE {
            return Ok(None);
        }
        let expected = || ValueError::Expected(EXPECTED.to_owned());
        let inside = self.0.strip_prefix("keep(").and_then(|text| text.strip_suffix(')'));
        let parts = split_specs(inside.ok_or_else(expected)?);
        let [metric, tolerance] = parts.as_slice() else { return Err(expected()) };
        let metric = MetricSpec::parse(metric).map_err(ValueError::Spec)?;
        let tolerance = tolerance.parse().ok().filter(|t: &f64| t.is_finite() && *t >= 0.0);
        Ok(Some(KeptMetric { metric, tolerance: tolerance.ok_or_else(expected)? }))
    }
}

impl ParamValue for GoalText {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        let kept = Self(text.to_owned()).kept()?;
        Ok(match kept {
            None => Self::default(),
            Some(KeptMetric { metric, tolerance }) => Self(format!("keep({metric}, {tolerance})")),
        })
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn check(&self) -> Result<(), ValueError> {
        self.kept().map(|_| ())
    }
}

impl TextValue for GoalText {
    fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The change of a kept metric when two documents swap ranks; where it is within the tolerance, the
/// change of another metric is added.
#[derive(Debug)]
pub(super) struct KeepSwap {
    /// The kept metric, and the largest number of labels that its ideal order has.
    pub(super) kept: (Box<dyn SwapDelta>, usize),
    /// The metric whose changes are added, in the same form.
    pub(super) added: (Box<dyn SwapDelta>, usize),
    pub(super) tolerance: f64,
    /// A buffer: the changes of the kept metric if one document swaps ranks with each other one.
    pub(super) kept_deltas: RefCell<Vec<f64>>,
    /// Whether the kept metric only takes the weight of pairs away, since its own changes are
    /// another term of the objective ([`crate::objective::LabelSum`]).
    pub(super) only_excludes: bool,
}

/// The labels of a kept metric, where they are not those of the own metric.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptLabels<'a> {
    /// In the order of the ranks.
    pub(super) labels: &'a [f64],
    /// The same labels in ideal order, highest first.
    pub(super) ideal: &'a [f64],
}

impl KeepSwap {
    /// Loads a query. `kept` are the labels of the kept metric; `None` for the same labels.
    pub(super) fn prepare_with_kept_labels(
        &mut self,
        labels: &[f64],
        ideal: &[f64],
        kept: Option<KeptLabels<'_>>,
    ) -> Result<(), EvalError> {
        self.only_excludes = kept.is_some();
        let kept = kept.unwrap_or(KeptLabels { labels, ideal });
        let (kept_swap, kept_max) = &mut self.kept;
        kept_swap.prepare(kept.labels, kept.ideal.get(..*kept_max).unwrap_or(kept.ideal))?;
        let (added_swap, added_max) = &mut self.added;
        added_swap.prepare(labels, ideal.get(..*added_max).unwrap_or(ideal))
    }
}

impl SwapDelta for KeepSwap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        self.prepare_with_kept_labels(labels, ideal, None)
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let mut kept_deltas = self.kept_deltas.borrow_mut();
        kept_deltas.resize(out.len(), 0.0);
        self.kept.0.swap_deltas_from(i, from, &mut kept_deltas);
        self.added.0.swap_deltas_from(i, from, out);
        for (delta, kept) in out.iter_mut().zip(&*kept_deltas).skip(from) {
            let decides = kept.abs() > self.tolerance;
            *delta = match (self.only_excludes, decides) {
                (true, true) => 0.0,
                (true, false) => *delta,
                (false, true) => *kept,
                (false, false) => kept + *delta,
            };
        }
    }
}
