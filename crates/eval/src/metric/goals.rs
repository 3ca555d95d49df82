//! Several goals at once: a weighted sum of metrics (Svore, Volkovs and Burges, *Learning to Rank
//! with Multiple Objective Functions*, WWW 2011).
//!
//! ```text
//! value = sum over goals g of w_g metric_g
//! change under a swap of two ranks = sum over goals g of w_g (change of metric_g)
//! ```
//!
//! `ndcg@10:1+p@5:0.3` is a short form of `goals(of=ndcg@10:1+p@5:0.3)`; a goal without a weight has
//! weight 1. All goals rank by the same conventions, which are those of the sum. A goal without a
//! value for a query counts 0; the query has no value if no goal has one, and is blank if it has no
//! relevant document for any goal. Goals must be means over queries of which higher is better.
//! Lambdas, early stopping and every search for the best metric thus follow the same sum. Cost: that
//! of all goals together.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // One relevant document at rank 2: rr is 1/2, p@1 is 0, p@2 is 1/2.
//! assert_eq!(of_ranking("rr:1+p@2:3", &[0.0, 1.0, 0.0])?, Some(2.0));
//! assert_eq!(of_ranking("goals(of=rr+p@1:10)", &[0.0, 1.0, 0.0])?, Some(0.5));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use std::cell::RefCell;

use rankwright_spec::{
    Conflict, ParamKind, ParamValue, RangeDef, SpecError, TextValue, ValueError, param_groups,
    params,
};

use super::{
    Aggregate, ConventionOptions, ConventionParams, Measure, Metric, MetricDef, MetricParams,
    MetricSpec,
};
use crate::compare::Better;
use crate::convention::SHARED_CONVENTIONS;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::source::SourceKind;
use crate::swap::SwapDelta;

params! {
    /// The goals of a weighted sum.
    pub struct GoalsOfParams {
        of: GoalsText = GoalsText::default(), ..,
            "Metrics with their weights, such as ndcg@10:1+p@5:0.3.";
    }
    /// Builder methods for the goals of a weighted sum.
    pub trait GoalsOfOptions: goals_of_params;
}

param_groups! {
    /// Parameters of a weighted sum of metrics.
    pub struct GoalsParams {
        of: GoalsOfParams, GoalsOfOptions::goals_of_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// Weighted sum of metrics.
pub(super) static GOALS: MetricDef = MetricDef {
    name: "goals",
    help: "Weighted sum of several metrics; ndcg@10:1+p@5:0.3 is a short form.",
    example: "goals(of=ndcg@10:1+p@5:0.3)",
    cutoff: false,
    ..MetricDef::of::<GoalsParams>()
};

/// A metric of a weighted sum.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The metric.
    pub metric: MetricSpec,
    /// Its weight, above 0.
    pub weight: f64,
}

/// The goals of a weighted sum as text: `ndcg@10:1+p@5:0.3`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoalsText(String);

impl GoalsText {
    /// The goals; an error if one of them is no metric, or cannot be added to others.
    ///
    /// ```
    /// use rankwright_eval::metric::GoalsText;
    /// use rankwright_spec::TextValue;
    ///
    /// let goals = GoalsText::from_text("ndcg@10:1+p@5:0.3").goals()?;
    /// assert_eq!((goals[1].metric.to_string().as_str(), goals[1].weight), ("p@5", 0.3));
    /// # Ok::<(), rankwright_spec::SpecError>(())
    /// ```
    pub fn goals(&self) -> Result<Vec<Goal>, SpecError> {
        split_outside_parentheses(&self.0, '+').into_iter().map(goal).collect()
    }
}

/// Whether a text is the short form of a weighted sum: it has a `+` or `:` outside of parentheses.
pub(super) fn is_short_form(text: &str) -> bool {
    ['+', ':'].iter().any(|mark| split_outside_parentheses(text, *mark).len() > 1)
}

/// Splits a text at every `mark` outside of parentheses.
fn split_outside_parentheses(text: &str, mark: char) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_mark = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == mark && depth == 0
    };
    text.split(is_mark).map(str::trim).collect()
}

/// Reads one goal.
fn goal(text: &str) -> Result<Goal, SpecError> {
    let rejected = |expected: &str| SpecError::BadValue {
        name: GOALS.name.to_owned(),
        key: "of".to_owned(),
        value: text.to_owned(),
        expected: expected.to_owned(),
    };
    let (metric, weight) = match split_outside_parentheses(text, ':').as_slice() {
        [metric] => (*metric, 1.0),
        [metric, weight] => {
            let weight = weight.parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0);
            (*metric, weight.ok_or_else(|| rejected("a metric, a colon and a weight above 0"))?)
        }
        _ => return Err(rejected("a metric, a colon and a weight above 0")),
    };
    let metric = MetricSpec::parse(metric)?;
    let key = SHARED_CONVENTIONS.iter().find(|key| metric.canonical().get(key).is_some());
    if let Some(key) = key {
        let conflict = Conflict::NotSupported {
            setting: (*key).to_owned(),
            reason: "the goals of a sum have the conventions of the sum: goals(of=..., blank=0)",
        };
        return Err(SpecError::conflict(metric.to_string(), conflict));
    }
    let measure = metric.resolve(SourceKind::Features)?;
    let is_addable = measure.metric().better() == Better::Higher
        && measure.aggregate() == Aggregate::Mean
        && measure.takes_boundary().is_none()
        && metric.def().name != GOALS.name;
    match is_addable {
        true => Ok(Goal { metric, weight }),
        false => {
            let conflict = Conflict::UnsuitableMetric {
                metric: metric.to_string(),
                reason: "goals are added up".to_owned(),
                expected: "a mean over queries of which higher is better, such as ndcg@10",
            };
            Err(SpecError::conflict(GOALS.name, conflict))
        }
    }
}

impl ParamValue for GoalsText {
    fn kind() -> ParamKind {
        ParamKind::Text
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        let goals = Self(text.to_owned()).goals().map_err(ValueError::Spec)?;
        let texts = goals.iter().map(|Goal { metric, weight }| format!("{metric}:{weight}"));
        Ok(Self(texts.collect::<Vec<_>>().join("+")))
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn check(&self) -> Result<(), ValueError> {
        self.goals()?;
        Ok(())
    }

    fn is_absent(&self) -> bool {
        self.0.is_empty()
    }
}

impl TextValue for GoalsText {
    fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl MetricParams for GoalsParams {
    fn def(&self) -> &'static MetricDef {
        &GOALS
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        // The text was checked when it was read.
        let goals = self.of.of.goals().unwrap_or_default();
        let resolved = |goal: Goal| {
            let measure = goal.metric.resolve(SourceKind::Features).ok()?;
            Some((goal.weight, measure))
        };
        Box::new(Goals { goals: goals.into_iter().filter_map(resolved).collect() })
    }
}

/// Metrics with their weights.
#[derive(Debug)]
struct Goals {
    goals: Vec<(f64, Measure)>,
}

impl Metric for Goals {
    fn range(&self) -> (f64, f64) {
        let sum = |bound: fn((f64, f64)) -> f64| {
            self.goals.iter().map(|(weight, goal)| weight * bound(goal.metric().range())).sum()
        };
        (sum(|range| range.0), sum(|range| range.1))
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let mut sum = None;
        for (weight, goal) in &self.goals {
            if goal.metric().has_no_relevant(list)? {
                continue;
            }
            if let Some(value) = goal.metric().evaluate(list)? {
                sum = Some(sum.unwrap_or(0.0) + weight * value);
            }
        }
        Ok(sum)
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        for (_, goal) in &self.goals {
            if !goal.metric().has_no_relevant(list)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn needs_labels(&self) -> bool {
        self.goals.iter().any(|(_, goal)| goal.metric().needs_labels())
    }

    fn depth(&self) -> Option<u32> {
        let depths: Option<Vec<u32>> =
            self.goals.iter().map(|(_, goal)| goal.metric().depth()).collect();
        depths?.into_iter().max()
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let swaps =
            self.goals.iter().map(|(weight, goal)| Some((*weight, usize::MAX, goal.swap()?)));
        Some(Box::new(SummedSwap::new(swaps.collect::<Option<_>>()?)))
    }
}

/// The weighted sum of the changes of several metrics under swaps.
#[derive(Debug)]
pub struct SummedSwap {
    /// The changes of each metric, with its weight and the number of best labels that it gets as
    /// the ideal.
    parts: Vec<(f64, usize, Box<dyn SwapDelta>)>,
    /// The changes of one part.
    row: RefCell<Vec<f64>>,
}

impl SummedSwap {
    /// The sum of these changes: each with its weight, and the number of best labels that it gets
    /// as the ideal (`usize::MAX` for all).
    pub fn new(parts: Vec<(f64, usize, Box<dyn SwapDelta>)>) -> Self {
        Self { parts, row: RefCell::default() }
    }
}

impl SwapDelta for SummedSwap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        for (_, max_ideal, part) in &mut self.parts {
            part.prepare(labels, ideal.get(..*max_ideal).unwrap_or(ideal))?;
        }
        Ok(())
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let Some(sums) = out.get_mut(from..) else { return };
        sums.fill(0.0);
        let mut row = self.row.borrow_mut();
        row.resize(out.len(), 0.0);
        for (weight, _, part) in &self.parts {
            part.swap_deltas_from(i, from, &mut row);
            for (sum, delta) in out.iter_mut().zip(row.iter()).skip(from) {
                *sum += weight * delta;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Measure {
        MetricSpec::parse(text).unwrap().resolve(SourceKind::Features).unwrap()
    }

    /// Three documents with the labels 0, 2, 1 by rank. With g = 2^label - 1 and the discounts 1,
    /// 1/log2(3) = 0.63093 and 1/2: DCG is 3 x 0.63093 + 0.5 = 2.39279, the ideal 3 + 0.63093 =
    /// 3.63093. Swapping ranks 1 and 2 makes DCG 3 + 0.5: NDCG rises by 1.10721 / 3.63093 =
    /// 0.30494. P@1 (label >= 1) rises from 0 to 1. So 1 x NDCG + 0.3 x P@1 rises by 0.60494.
    #[test]
    fn swaps_of_three_documents_worked_out_by_hand() {
        let goals = measure("ndcg:1+p@1:0.3");
        assert_eq!(goals.to_string(), "goals(of=ndcg:1+p@1:0.3)");
        let mut swap = goals.swap().unwrap();
        swap.prepare(&[0.0, 2.0, 1.0], &[2.0, 1.0, 0.0]).unwrap();
        let mut row = [0.0; 3];
        swap.swap_deltas(0, &mut row);
        let ndcg_2 = 1.107_21 / 3.630_93;
        // Ranks 1 and 3: (1 - 0) (1 - 0.5) / 3.63093, and P@1 rises too.
        let ndcg_3 = 0.5 / 3.630_93;
        assert!((row[1] - (ndcg_2 + 0.3)).abs() < 1e-5, "{row:?}");
        assert!((row[2] - (ndcg_3 + 0.3)).abs() < 1e-5, "{row:?}");
        swap.swap_deltas(1, &mut row);
        // Ranks 2 and 3 change NDCG only: (3 - 1) (0.5 - 0.63093) / 3.63093.
        assert!((row[2] + 2.0 * 0.130_93 / 3.630_93).abs() < 1e-5, "{row:?}");
        let value = goals.of(&[3.0, 2.0, 1.0], &[0.0, 2.0, 1.0]).unwrap().unwrap();
        assert!((value - 2.392_79 / 3.630_93).abs() < 1e-5, "{value}");
    }

    #[test]
    fn a_goal_without_relevant_documents_counts_zero_and_a_blank_query_is_skipped() {
        let goals = measure("rr:1+p(rel=2)@1:1");
        assert_eq!(goals.of(&[2.0, 1.0], &[1.0, 0.0]).unwrap(), Some(1.0));
        assert_eq!(goals.of(&[2.0, 1.0], &[2.0, 0.0]).unwrap(), Some(2.0));
        assert_eq!(goals.of(&[2.0, 1.0], &[0.0, 0.0]).unwrap(), None);
        let zero = measure("goals(of=rr:1+p@1:1, blank=0)");
        assert_eq!(zero.of(&[2.0, 1.0], &[0.0, 0.0]).unwrap(), Some(0.0));
        assert_eq!(goals.metric().range(), (0.0, 2.0));
        assert_eq!((measure("ndcg@10+p@5").depth(), measure("ndcg+p@5").depth()), (Some(10), None));
    }

    #[test]
    fn goals_that_cannot_be_added_are_refused() {
        let error = |text: &str| MetricSpec::parse(text).unwrap_err().to_string();
        assert!(error("ndcg:1+rmse:1").contains("rmse"));
        assert!(error("gmap:1+p@5:1").contains("gmap"));
        assert!(error("ndcg:0+p@5").contains("weight above 0"));
        assert!(error("ndcg:1:2").contains("weight above 0"));
        assert!(error("ndcg(blank=0):1+p@5").contains("conventions of the sum"));
        assert!(error("ndcg:1+ncdg:1").contains("did you mean `ndcg`?"));
        assert!(error("goals(of=goals(of=rr:1):1)").contains("goals"));
        assert!(error("goals").contains("of"));
    }
}
