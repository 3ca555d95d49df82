//! Values of metrics and derivatives of objectives for one small query.

use rankwright_eval::{Measure, MetricSpec, SourceKind, of_ranking};
use rankwright_learn::objective::{
    Derivatives, DocumentPair, Objective, ObjectiveBuffers, PairLambda, QueryView, parse_objective,
};
use rankwright_spec::Spec;

use super::super::TaskError;

/// The value of a metric for labels by rank; NaN if it is undefined.
pub(super) fn value(metric: &str, labels: &[f64]) -> Result<f64, TaskError> {
    Ok(of_ranking(metric, labels)?.unwrap_or(f64::NAN))
}

/// A metric with its conventions.
pub(super) fn measure(metric: &str) -> Result<Measure, TaskError> {
    Ok(MetricSpec::parse(metric)?.resolve(SourceKind::Features)?)
}

/// The labels, best first.
pub(super) fn ideal(labels: &[f64]) -> Vec<f64> {
    let mut sorted = labels.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted
}

/// The labels after two ranks, from 1, are swapped.
pub(super) fn swapped(labels: &[f64], first: usize, second: usize) -> Vec<f64> {
    let mut swapped = labels.to_vec();
    swapped.swap(first - 1, second - 1);
    swapped
}

/// An objective, and the labels, scores and pairs of one query.
pub(super) struct SmallQuery<'a> {
    objective: Box<dyn Objective>,
    view: QueryView<'a>,
}

impl<'a> SmallQuery<'a> {
    /// An objective by its spec, and a query.
    pub(super) fn new(
        objective: &str,
        labels: &'a [f64],
        scores: &'a [f64],
    ) -> Result<Self, TaskError> {
        let objective = parse_objective(&Spec::parse(objective)?)?;
        Ok(SmallQuery { objective, view: QueryView::new(labels, scores) })
    }

    /// Preferences that replace those of the labels.
    pub(super) fn pairs(mut self, pairs: &'a [DocumentPair]) -> Self {
        self.view.pairs = Some(pairs);
        self
    }

    /// The loss.
    pub(super) fn loss(&self) -> Result<f64, TaskError> {
        let loss = self.objective.loss(&self.view, &mut ObjectiveBuffers::default())?;
        Ok(loss.unwrap_or(f64::NAN))
    }

    /// The derivative of the loss with respect to the score of each document: its lambda.
    pub(super) fn lambdas(&self) -> Result<Vec<f64>, TaskError> {
        let documents = self.view.scores.len();
        let (mut gradient, mut hessian) = (vec![0.0; documents], vec![0.0; documents]);
        let mut out =
            Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut [] };
        self.objective.derivatives(&self.view, &mut ObjectiveBuffers::default(), &mut out)?;
        Ok(gradient.into_iter().map(f64::from).collect())
    }

    /// The lambda of each pair.
    pub(super) fn pair_lambdas(&self) -> Result<Vec<PairLambda>, TaskError> {
        let mut pairs = Vec::new();
        let mut visit = |pair| pairs.push(pair);
        self.objective.pair_lambdas(&self.view, &mut ObjectiveBuffers::default(), &mut visit)?;
        Ok(pairs)
    }
}
