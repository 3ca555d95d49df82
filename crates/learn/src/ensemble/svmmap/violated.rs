//! The ranking whose constraint a linear model violates most: the one with the largest sum H of its
//! loss and of its score w Psi, where w are the weights of the model (Yue, Finley, Radlinski and
//! Joachims, *A Support Vector Method for Optimizing Average Precision*, SIGIR 2007, section 4 and
//! algorithm 2).
//!
//! ```text
//! Psi(y) = 1 / (R N) sum over relevant r, others n of y_rn (x_r - x_n)
//! y_rn = 1 if r is above n, else -1
//! H(y) = 1 - AP(y) + w Psi(y)
//! ```
//!
//! y is a ranking, x_r are the features of document r, s are the scores of the model. Average
//! precision depends only on the ranks of relevant documents, so within the R relevant documents
//! and within the N others the best order is by descending score. It remains to choose how many
//! relevant ones are above each of the others, and these numbers can be chosen one by one: moving
//! the j-th best other above the i-th best relevant document (both from 1) changes H by
//!
//! ```text
//! 1/R (i / (i + j - 1) - i / (i + j)) - 2 (s_i - s_j) / (R N)
//! ```
//!
//! independently of the other choices. Cost O(n log n + R N). A query without relevant documents,
//! or with relevant documents only, has one ranking and is ignored.

use rankwright_eval::{EvalError, OrderRule, Orderer, Rows};

/// The terms of a query in a cutting plane.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ViolatedRanking {
    /// 1 - AP of the ranking.
    pub(super) loss: f64,
    /// Coefficients of the documents: Psi of the correct ranking minus that of this one is the sum
    /// of each document's features times its coefficient.
    pub(super) coefficients: Vec<f64>,
}

/// The most violated ranking of a query; `None` if the query has only one ranking.
pub(super) fn most_violated(
    scores: &[f64],
    relevant: &[bool],
) -> Result<Option<ViolatedRanking>, EvalError> {
    let mut orderer = Orderer::default();
    let mut by_score = |is_relevant: bool| -> Result<Vec<usize>, EvalError> {
        let keep = |row: usize| relevant[row] == is_relevant;
        let rows = orderer.order_kept(Rows::of_scores(scores), OrderRule::STABLE, keep)?;
        Ok(rows.iter().map(|row| *row as usize).collect())
    };
    let (relevant_rows, others) = (by_score(true)?, by_score(false)?);
    if relevant_rows.is_empty() || others.is_empty() {
        return Ok(None);
    }
    let (r, n) = (relevant_rows.len() as f64, others.len() as f64);
    let mut coefficients = vec![0.0; scores.len()];
    // Number of others above each relevant document.
    let mut above = vec![0_usize; relevant_rows.len()];
    for (j, &other) in others.iter().enumerate() {
        let first = best_position(&relevant_rows, scores, scores[other], j + 1, n);
        above[first..].iter_mut().for_each(|count| *count += 1);
        coefficients[other] = -2.0 * (relevant_rows.len() - first) as f64 / (r * n);
    }
    let mut precision_sum = 0.0;
    for (i, (&row, &count)) in relevant_rows.iter().zip(&above).enumerate() {
        coefficients[row] = 2.0 * count as f64 / (r * n);
        precision_sum += (i + 1) as f64 / (i + 1 + count) as f64;
    }
    Ok(Some(ViolatedRanking { loss: 1.0 - precision_sum / r, coefficients }))
}

/// The place of the j-th best (from 1) of `n` other documents, which has this score, that gives the
/// largest H: the index of the relevant document just below it. `relevant_rows` are ordered by
/// score; their number means a place below all of them.
fn best_position(relevant_rows: &[usize], scores: &[f64], score: f64, j: usize, n: f64) -> usize {
    let r = relevant_rows.len() as f64;
    let (mut position, mut largest, mut sum) = (relevant_rows.len(), 0.0, 0.0);
    for (index, row) in relevant_rows.iter().enumerate().rev() {
        let i = (index + 1) as f64;
        let loss_change = i / (i + j as f64 - 1.0) - i / (i + j as f64);
        sum += loss_change / r - 2.0 * (scores[*row] - score) / (r * n);
        if sum > largest {
            (position, largest) = (index, sum);
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every order of the first `n` numbers.
    fn orders(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let insertions = |order: Vec<usize>| {
            (0..n).map(move |index| {
                let mut order = order.clone();
                order.insert(index, n - 1);
                order
            })
        };
        orders(n - 1).into_iter().flat_map(insertions).collect()
    }

    /// 1 - AP by definition, and Psi by definition as a coefficient for each document.
    fn by_definition(order: &[usize], relevant: &[bool]) -> (f64, Vec<f64>) {
        let (mut hits, mut precisions) = (0.0, 0.0);
        for (rank, &row) in order.iter().enumerate() {
            if relevant[row] {
                hits += 1.0;
                precisions += hits / (rank + 1) as f64;
            }
        }
        let others = order.len() as f64 - hits;
        let mut psi = vec![0.0; order.len()];
        for (rank, &a) in order.iter().enumerate() {
            for &b in &order[rank + 1..] {
                if relevant[a] != relevant[b] {
                    let (rel, other) = if relevant[a] { (a, b) } else { (b, a) };
                    let sign = if relevant[a] { 1.0 } else { -1.0 };
                    psi[rel] += sign / (hits * others);
                    psi[other] -= sign / (hits * others);
                }
            }
        }
        (1.0 - precisions / hits, psi)
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn a_query_with_only_relevant_or_only_other_documents_is_ignored() {
        assert_eq!(most_violated(&[1.0, 2.0], &[true, true]).unwrap(), None);
        assert_eq!(most_violated(&[1.0], &[false]).unwrap(), None);
        assert_eq!(most_violated(&[], &[]).unwrap(), None);
    }

    #[test]
    fn the_order_is_that_of_metrics() {
        // 0.0 and -0.0 are equal, so the row decides; NaN is an error.
        let zeros = most_violated(&[-0.0, 0.0, 0.0], &[true, true, false]).unwrap();
        assert_eq!(zeros, most_violated(&[0.0; 3], &[true, true, false]).unwrap());
        assert!(most_violated(&[f64::NAN, 0.0], &[true, false]).is_err());
    }

    #[test]
    fn at_equal_scores_the_worst_ranking_is_violated_most() {
        // The relevant document is last: AP is 1/3. It is in two wrong pairs of R N = 2.
        let found = most_violated(&[0.0; 3], &[true, false, false]).unwrap().unwrap();
        assert_eq!(found.loss, 1.0 - 1.0 / 3.0);
        assert_eq!(found.coefficients, [2.0, -1.0, -1.0]);
    }

    proptest! {
        #[test]
        fn no_ranking_of_a_small_list_is_violated_more(
            documents in proptest::collection::vec((-1.5..1.5_f64, any::<bool>()), 2..7),
        ) {
            let scores: Vec<f64> = documents.iter().map(|d| d.0).collect();
            let relevant: Vec<bool> = documents.iter().map(|d| d.1).collect();
            let Some(found) = most_violated(&scores, &relevant).unwrap() else { return Ok(()) };
            // The correct ranking: all relevant documents above all others.
            let mut correct: Vec<usize> = (0..scores.len()).collect();
            correct.sort_by_key(|row| !relevant[*row]);
            let (loss, correct_psi) = by_definition(&correct, &relevant);
            prop_assert!(loss.abs() < 1e-12);
            let h = |(loss, psi): &(f64, Vec<f64>)| loss + dot(psi, &scores);
            let all = orders(scores.len());
            let rankings = all.iter().map(|order| by_definition(order, &relevant));
            let largest_h = rankings.map(|ranking| h(&ranking)).fold(f64::MIN, f64::max);
            // H of the ranking found, from its coefficients: Psi = Psi(correct) - coefficients.
            let found_h =
                found.loss + dot(&correct_psi, &scores) - dot(&found.coefficients, &scores);
            prop_assert!((found_h - largest_h).abs() < 1e-9, "{found_h} {largest_h}");
        }
    }
}
