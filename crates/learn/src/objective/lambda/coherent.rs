//! Coherent pairs: in addition to the pairs of the documents at the first ranks, those of the
//! documents that an ideal ranking would have there.
//!
//! With a truncation level T only the documents at the first T ranks are paired with all others. A
//! relevant document further down is paired with those T alone, so that it can get a smaller lambda
//! than a less relevant one at the top, which is paired with all the worse documents below it:
//! lambdas that contradict the labels (Marcuzzi, Lucchese and Orlando, "LambdaRank gradients are
//! incoherent", CIKM 2023). Their remedy, Lambda-eX, adds pairs. Here the documents that an ideal
//! ranking has at its first T ranks, but that are ranked below T, are also paired with all
//! documents below T.
//!
//! The documents of the ideal first T ranks are chosen by label, then by rank. The documents that
//! get additional pairs are called *promoted*, although their ranks do not change. There are at
//! most T of them, so the cost stays O(T n). Documents of the lowest label are never promoted: no
//! document is worse.

use rankwright_spec::choices;

use super::ranked::RankedQuery;

choices! {
    /// The pairs that are used.
    pub enum PairChoice {
        /// Pairs whose better-ranked document is above the truncation level.
        Top = "top",
        /// Those of `Top`, and all pairs of the documents that an ideal ranking has above the
        /// truncation level.
        Coherent = "coherent",
    }
}

/// Sets `ranked.promoted` to the ranks below the truncation level whose documents an ideal ranking
/// has above it, ascending.
pub(super) fn find_promoted(ranked: &mut RankedQuery, truncation: usize) {
    let n = ranked.len();
    ranked.promoted.clear();
    if truncation >= n || ranked.labels.len() != n {
        return;
    }
    let labels = &ranked.labels;
    let mut ideal_order: Vec<u32> = (0..n as u32).collect();
    let by_label = |a: &u32, b: &u32| {
        labels[*b as usize].total_cmp(&labels[*a as usize]).then_with(|| a.cmp(b))
    };
    ideal_order.sort_unstable_by(by_label);
    let lowest = ideal_order.last().map_or(f64::NEG_INFINITY, |rank| labels[*rank as usize]);
    let is_promoted = |rank: &u32| *rank as usize >= truncation && labels[*rank as usize] > lowest;
    ranked.promoted.extend(ideal_order.iter().take(truncation).copied().filter(is_promoted));
    ranked.promoted.sort_unstable();
}

#[cfg(test)]
mod tests {
    use rankwright_spec::Spec;

    use super::*;
    use crate::objective::tests::derivatives;
    use crate::objective::{Objective, QueryView, parse_objective};

    /// The objective of a spec.
    fn objective(text: &str) -> Box<dyn Objective> {
        parse_objective(&Spec::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn documents_that_belong_on_top_are_promoted() {
        let mut ranked = RankedQuery::default();
        ranked.labels = vec![0.0, 1.0, 0.0, 2.0, 1.0];
        ranked.order = (0..5).collect();
        find_promoted(&mut ranked, 2);
        assert_eq!(ranked.promoted, [3]);
        find_promoted(&mut ranked, 5);
        assert!(ranked.promoted.is_empty());
        ranked.labels = vec![0.0; 5];
        find_promoted(&mut ranked, 2);
        assert!(ranked.promoted.is_empty());
    }

    /// With every relevant document promoted, only pairs of equal labels are left out: the result
    /// equals that without truncation.
    #[test]
    fn promoting_all_relevant_documents_is_the_same_as_no_truncation() {
        let labels = [0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0];
        let scores = [3.0, 2.0, 1.5, 1.0, 0.5, 0.2, 0.1];
        let query = QueryView::new(&labels, &scores);
        let with = |params: &str| {
            objective(&format!("lambda(metric=dcg, norm_gap=false, norm_query=false, {params})"))
        };
        let (gradient, hessian) =
            derivatives(&*with("truncation=2, pairs=coherent"), &query).unwrap();
        let (all_gradient, all_hessian) = derivatives(&*with("truncation=none"), &query).unwrap();
        for row in 0..7 {
            assert!((gradient[row] - all_gradient[row]).abs() < 1e-6, "{row}");
            assert!((hessian[row] - all_hessian[row]).abs() < 1e-6, "{row}");
        }
        assert!(gradient.iter().sum::<f32>().abs() < 1e-6);
    }

    /// The document of label 1 at the top is paired with the twenty worse ones. So must be the
    /// document of label 2 below the truncation level.
    #[test]
    fn a_better_document_below_the_level_is_paired_with_all_worse_ones() {
        let mut labels = [0.0; 22];
        (labels[0], labels[21]) = (1.0, 2.0);
        let scores: Vec<f64> = (0..22).map(|rank| -0.01 * f64::from(rank)).collect();
        let query = QueryView::new(&labels, &scores);
        let lambda_ratio = |pairs: &str| {
            let text =
                format!("lambda(metric=ndcg@10, truncation=1, norm_gap=false, pairs={pairs})");
            let (gradient, _) = derivatives(&*objective(&text), &query).unwrap();
            gradient[21] / gradient[0]
        };
        let (coherent, top) = (lambda_ratio("coherent"), lambda_ratio("top"));
        assert!(coherent > 3.0 * top, "{coherent} {top}");
    }
}
