//! The size of each pair's lambda under a model's own objective.
//!
//! Objectives of boosting with pairs give their own lambdas, with their normalisations. The size of
//! a pair under a loss of pairs that is no such objective (`PAIR_LOSSES`: those of the ranking SVM
//! and of RankBoost) is the slope of the loss at the margin of the pair, the score of the better
//! document minus the score of the worse one: computed pair by pair, O(n^2) per query. Document
//! weights multiply them as they do lambdas; with `norm_query=true` the sizes of a query are
//! divided by the number of its pairs. Pairs of equal labels are left out.

use rankwright_data::Dataset;
use rankwright_learn::LearnError;
use rankwright_learn::objective::{
    Objective, ObjectiveBuffers, PairLambda, QueryView, RankedDocument, TrainingDocuments,
    find_pair_loss, parse_objective,
};
use rankwright_spec::Spec;

use crate::error::ReportError;

/// Computes the lambda of each pair under an objective.
#[derive(Debug)]
pub(super) enum PairSizes {
    /// An objective that reports its own lambdas.
    Objective(Box<dyn Objective>),
    /// The absolute slope of a pair loss as a function of the margin.
    Slope { slope: fn(f64) -> f64, norm_query: bool },
}

impl PairSizes {
    /// The sizes under the objective of this spec; `None` if it has no pairs or is not known here.
    pub(super) fn of(spec: &str, data: &Dataset) -> Result<Option<PairSizes>, ReportError> {
        // The model may come from another program, so its objective need not be a valid spec.
        let Ok(spec) = Spec::parse(spec) else { return Ok(None) };
        if let Some(loss) = find_pair_loss(&spec.name) {
            let norm_query = spec.get("norm_query") == Some("true");
            return Ok(Some(PairSizes::Slope { slope: loss.slope, norm_query }));
        }
        let Ok(mut objective) = parse_objective(&spec) else { return Ok(None) };
        // A query of two documents, to find out whether the objective reports lambdas of pairs.
        let query = QueryView::new(&[1.0, 0.0], &[0.0, 0.0]);
        if !objective.pair_lambdas(&query, &mut ObjectiveBuffers::default(), &mut |_| {})? {
            return Ok(None);
        }
        objective.prepare(&TrainingDocuments {
            labels: data.labels(),
            weights: &[],
            scores: &[],
        })?;
        Ok(Some(PairSizes::Objective(objective)))
    }

    /// The work of a query with this many documents, in units of about one pair.
    pub(super) fn cost(&self, documents: usize) -> u64 {
        match self {
            PairSizes::Objective(objective) => objective.cost(documents),
            // All pairs, and sorting as the work of 50 pairs for each document.
            PairSizes::Slope { .. } => (documents as u64).saturating_mul(50 + documents as u64),
        }
    }

    /// Calls a function for each pair of a query.
    pub(super) fn visit(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(PairLambda),
    ) -> Result<(), LearnError> {
        match self {
            PairSizes::Objective(objective) => {
                objective.pair_lambdas(query, buffers, visit).map(|_| ())
            }
            PairSizes::Slope { slope, norm_query } => {
                visit_by_slope(query, *slope, *norm_query, visit)
            }
        }
    }
}

/// Calls a function for each pair, with the slope of the loss at its margin as the size.
fn visit_by_slope(
    query: &QueryView<'_>,
    slope: fn(f64) -> f64,
    norm_query: bool,
    visit: &mut dyn FnMut(PairLambda),
) -> Result<(), LearnError> {
    let order = query.order()?;
    let mut rank_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(rank, document)| rank_of[*document as usize] = rank);
    let pairs = pairs_of(query);
    let norm = if norm_query { 1.0 / pairs.len().max(1) as f64 } else { 1.0 };
    let weight_of =
        |document: usize| query.weights.get(document).map_or(1.0, |weight| f64::from(*weight));
    for (better, worse, weight) in pairs {
        let margin = query.scores[better] - query.scores[worse];
        let weight = weight * weight_of(better) * weight_of(worse);
        visit(PairLambda {
            pushed_up: RankedDocument { document: better, rank: rank_of[better] },
            pushed_down: RankedDocument { document: worse, rank: rank_of[worse] },
            size: slope(margin) * weight * norm,
        });
    }
    Ok(())
}

/// Better document, worse document and weight of each pair: the preference pairs of the query, or
/// else all pairs of different labels.
fn pairs_of(query: &QueryView<'_>) -> Vec<(usize, usize, f64)> {
    if let Some(pairs) = query.pairs {
        let preferred = pairs.iter().filter(|pair| !pair.equal);
        return preferred
            .map(|pair| (pair.better as usize, pair.worse as usize, f64::from(pair.weight)))
            .collect();
    }
    let labels = query.labels;
    let below = |i: usize| (0..labels.len()).filter(move |j| labels[i] > labels[*j]);
    (0..labels.len()).flat_map(|i| below(i).map(move |j| (i, j, 1.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::lists;

    fn sizes(objective: &str, scores: &[f64]) -> Vec<f64> {
        let labels = [2.0, 1.0, 0.0];
        let pair_sizes = PairSizes::of(objective, &lists(&[&labels])).unwrap().unwrap();
        let mut found = Vec::new();
        let query = QueryView::new(&labels, scores);
        pair_sizes
            .visit(&query, &mut ObjectiveBuffers::default(), &mut |pair| found.push(pair.size))
            .unwrap();
        found
    }

    /// The pairs of labels 2 and 1, 2 and 0, 1 and 0 have the margins 0.5, 1.5 and 1.
    #[test]
    fn sizes_of_svm_and_rankboost_are_the_slopes_of_their_losses() {
        let scores = [1.5, 1.0, 0.0];
        assert_eq!(sizes("pair-hinge", &scores), [1.0, 0.0, 0.0]);
        assert_eq!(sizes("pair-squared-hinge", &scores), [1.0, 0.0, 0.0]);
        let weights = [-0.5, -1.5, -1.0].map(f64::exp);
        assert_eq!(sizes("pair-exponential(norm_query=false)", &scores), weights);
        let normalised = sizes("pair-exponential(norm_query=true)", &scores);
        assert!((normalised[1] - weights[1] / 3.0).abs() < 1e-15);
    }

    #[test]
    fn objectives_without_pairs_have_no_sizes() {
        let data = lists(&[&[1.0, 0.0]]);
        for objective in ["squared", "softmax", "", "ndcg@10", "(("] {
            assert!(PairSizes::of(objective, &data).unwrap().is_none(), "{objective}");
        }
    }
}
