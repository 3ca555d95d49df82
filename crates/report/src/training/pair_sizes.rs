//! The size of each pair's lambda under a model's own objective.
//!
//! | objective | size for a pair whose better document leads by m |
//! |---|---|
//! | `lambda`, `pair-logistic` | the objective's own lambdas, with their normalisations |
//! | `pair-hinge` (ranking SVM) | 1 if m < 1, else 0 |
//! | `pair-squared-hinge` | 2 (1 - m) where m < 1, else 0 |
//! | `pair-exponential` (RankBoost) | exp(-m), the weight of the pair before it is normalised |
//!
//! The last three are not among the objectives of boosting and are computed here, pair by pair:
//! O(n^2) per query. Document weights multiply them as they do lambdas; with `norm_query=true` the
//! sizes of a query are divided by the number of its pairs. Pairs of equal labels have size 0.

use rankwright_data::Dataset;
use rankwright_learn::LearnError;
use rankwright_learn::objective::{
    Objective, ObjectiveBuffers, PairLambda, QueryView, TrainingDocuments, parse_objective,
};
use rankwright_spec::Spec;

use crate::error::ReportError;

/// Computes the lambda of each pair under an objective.
#[derive(Debug)]
pub(super) enum PairSizes {
    /// An objective that reports its own lambdas.
    Own(Box<dyn Objective>),
    /// The absolute slope of a pair loss as a function of the lead of the better document.
    Slope { of: fn(f64) -> f64, norm_query: bool },
}

impl PairSizes {
    /// From an objective's spec; `None` if it has no pairs, or is not one of ours.
    pub(super) fn of(spec: &str, data: &Dataset) -> Result<Option<PairSizes>, ReportError> {
        // A model's header may come from another program.
        let Ok(spec) = Spec::parse(spec) else { return Ok(None) };
        let slope: Option<fn(f64) -> f64> = match spec.name.as_str() {
            "pair-hinge" => Some(|lead| if lead < 1.0 { 1.0 } else { 0.0 }),
            "pair-squared-hinge" => Some(|lead| 2.0 * (1.0 - lead).max(0.0)),
            "pair-exponential" => Some(|lead| (-lead).exp()),
            _ => None,
        };
        if let Some(of) = slope {
            let norm_query = spec.get("norm_query") == Some("true");
            return Ok(Some(PairSizes::Slope { of, norm_query }));
        }
        let Ok(mut objective) = parse_objective(&spec) else { return Ok(None) };
        let query = QueryView::new(&[1.0, 0.0], &[0.0, 0.0]);
        if !objective.pair_lambdas(&query, &mut ObjectiveBuffers::default(), &mut |_| {})? {
            return Ok(None);
        }
        objective.prepare(&TrainingDocuments {
            labels: data.labels(),
            weights: &[],
            scores: &[],
        })?;
        Ok(Some(PairSizes::Own(objective)))
    }

    /// The work of a query with this many documents.
    pub(super) fn cost(&self, documents: usize) -> u64 {
        match self {
            PairSizes::Own(objective) => objective.cost(documents),
            PairSizes::Slope { .. } => (documents as u64).saturating_mul(50 + documents as u64),
        }
    }

    /// Calls a function for each pair of a query.
    pub(super) fn visit(
        &self,
        query: &QueryView<'_>,
        work: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(PairLambda),
    ) -> Result<(), LearnError> {
        match self {
            PairSizes::Own(objective) => objective.pair_lambdas(query, work, visit).map(|_| ()),
            PairSizes::Slope { of, norm_query } => by_slope(query, *of, *norm_query, visit),
        }
    }
}

fn by_slope(
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
    let weight_of = |at: usize| query.weights.get(at).map_or(1.0, |weight| f64::from(*weight));
    for (better, worse, weight) in pairs {
        let lead = query.scores[better] - query.scores[worse];
        let weight = weight * weight_of(better) * weight_of(worse);
        visit(PairLambda {
            pushed_up: (better, rank_of[better]),
            pushed_down: (worse, rank_of[worse]),
            size: slope(lead) * weight * norm,
        });
    }
    Ok(())
}

/// Better document, worse document and weight of each pair: the query's own preferences, or all
/// pairs of different labels.
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

    /// Pairs come as 2 over 1, 2 over 0, 1 over 0, which lead by 0.5, 1.5 and 1.
    #[test]
    fn pulls_of_svm_and_rankboost_are_the_slopes_of_their_losses() {
        let scores = [1.5, 1.0, 0.0];
        assert_eq!(sizes("pair-hinge", &scores), [1.0, 0.0, 0.0]);
        assert_eq!(sizes("pair-squared-hinge", &scores), [1.0, 0.0, 0.0]);
        let weights = [-0.5, -1.5, -1.0].map(f64::exp);
        assert_eq!(sizes("pair-exponential(norm_query=false)", &scores), weights);
        let normed = sizes("pair-exponential(norm_query=true)", &scores);
        assert!((normed[1] - weights[1] / 3.0).abs() < 1e-15);
    }

    #[test]
    fn objectives_without_pairs_have_no_pulls() {
        let data = lists(&[&[1.0, 0.0]]);
        for objective in ["squared", "softmax", "", "ndcg@10", "(("] {
            assert!(PairSizes::of(objective, &data).unwrap().is_none(), "{objective}");
        }
    }
}
