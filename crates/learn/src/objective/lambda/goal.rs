//! Lexicographic goals: `goal=keep(ndcg@10, 0.005)` keeps a first metric, and the objective's own
//! metric counts only where the first one is indifferent (Svore, Volkovs and Burges 2011, section
//! 4).
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

/// A metric that is kept, and the change of it that counts as none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeptMetric {
    /// The metric that comes first.
    pub metric: MetricSpec,
    /// Changes of it up to this size leave the choice to the own metric.
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

/// The changes of a kept metric, and within its tolerance those of another metric, too.
#[derive(Debug)]
pub(super) struct KeepSwap {
    /// The kept metric, and the largest number of best labels that its ideal is made of.
    pub(super) kept: (Box<dyn SwapDelta>, usize),
    /// The own metric, in the same form.
    pub(super) own: (Box<dyn SwapDelta>, usize),
    pub(super) tolerance: f64,
    /// The changes of the kept metric.
    pub(super) row: RefCell<Vec<f64>>,
    /// Whether the kept metric only excludes pairs: its own change is a term of its own.
    pub(super) excludes: bool,
}

/// The labels of a kept metric, where they are not those of the own metric.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptLabels<'a> {
    /// By rank.
    pub(super) labels: &'a [f64],
    /// Best first.
    pub(super) ideal: &'a [f64],
}

impl KeepSwap {
    /// Loads a query. `kept` are the labels of the kept metric; `None` for the same labels.
    pub(super) fn prepare_with(
        &mut self,
        labels: &[f64],
        ideal: &[f64],
        kept: Option<KeptLabels<'_>>,
    ) -> Result<(), EvalError> {
        self.excludes = kept.is_some();
        let kept = kept.unwrap_or(KeptLabels { labels, ideal });
        let cut = |ideal: &'_ [f64], most: usize| ideal.len().min(most);
        let of_kept = &kept.ideal[..cut(kept.ideal, self.kept.1)];
        self.kept.0.prepare(kept.labels, of_kept)?;
        self.own.0.prepare(labels, &ideal[..cut(ideal, self.own.1)])
    }
}

impl SwapDelta for KeepSwap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        self.prepare_with(labels, ideal, None)
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let mut row = self.row.borrow_mut();
        row.resize(out.len(), 0.0);
        self.kept.0.swap_deltas_from(i, from, &mut row);
        self.own.0.swap_deltas_from(i, from, out);
        for (own, kept) in out.iter_mut().zip(&*row).skip(from) {
            let decides = kept.abs() > self.tolerance;
            *own = match self.excludes {
                true => f64::from(u8::from(!decides)) * *own,
                false if decides => *kept,
                false => kept + *own,
            };
        }
    }
}
