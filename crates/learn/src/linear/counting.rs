//! Ranking SVM losses of all preferences of a query by counting, without a list of pairs. Levels
//! are the distinct labels of the query, numbered from 0.
//!
//! ```text
//! loss = sum over pairs, i of a higher level than j, of w_i w_j max(0, m - (s_i - s_j))^2
//! ```
//!
//! w are the weights of documents, s their scores, m is the margin. A pair has a loss if the score
//! s_j is above s_i - m. With the documents in the order of their scores, the documents j of such
//! pairs of i are a contiguous range of that order, and sums over the documents of the range with a
//! lower (or higher) level are kept in a binary indexed tree over the levels (Fenwick 1994) while
//! the range grows:
//!
//! ```text
//! up    rising s_i, range s_j < s_i + m, higher levels:   gradient_i += 2 w_i (W (m + s_i) - S)
//! down  falling s_i, range s_j > s_i - m, lower levels:   gradient_i -= 2 w_i (W (m - s_i) + S)
//! ```
//!
//! with W, S (and Q) the sums of w_j, w_j s_j (and w_j s_j^2); the loss is the sum over the second
//! sweep of w_i (W (m - s_i)^2 + 2 (m - s_i) S + Q). Terms are only added to a tree, never
//! subtracted, so sums lose no digits by cancellation. A product with the second derivatives is the
//! same two sweeps with the direction u in place of s: 2 w_i (W u_i - U), U being the sum of w_j
//! u_j. (After Airola et al. 2011, and Lee and Lin, *Large-scale linear RankSVM*, 2014.)
//!
//! The smoothed hinge of width v is the squared hinge at m = 1 minus that at m = 1 - v, divided by
//! 2v.
//!
//! Cost O(n log n) time and O(n) memory for a query of n documents, for any number of pairs.

use super::pairs::LabelLevels;

/// Squared hinges that are added up: the margin and the factor of each.
pub(super) type Margins = [(f64, f64)];

/// The sorted scores of a query at the last point, kept for `hessian_product`.
#[derive(Debug, Default)]
pub(super) struct SortedScores {
    /// Documents in rising order of scores, equal ones by number.
    order: Vec<u32>,
    /// The scores in that order, minus the middle score.
    scores: Vec<f64>,
    /// The second derivative by the score of each document: twice the sum, over its pairs that have
    /// a loss, of the pair's weight times the factor of the squared hinge.
    diagonal: Vec<f64>,
    /// A buffer: score and document, for sorting.
    keys: Vec<(f64, u32)>,
    /// The binary indexed tree of the sums W, S and Q.
    tree: Vec<[f64; 3]>,
}

impl SortedScores {
    /// Returns the loss at these scores and sets the gradient; if a score is not finite, the loss
    /// is infinite and the gradient is not set.
    pub(super) fn value(
        &mut self,
        levels: &LabelLevels,
        margins: &Margins,
        scores: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        if scores.iter().any(|score| !score.is_finite()) {
            return f64::INFINITY;
        }
        self.sort(scores);
        self.diagonal.clear();
        self.diagonal.resize(scores.len(), 0.0);
        gradient.fill(0.0);
        let mut total = 0.0;
        let diagonal = &mut self.diagonal;
        let (order, sorted) = (&self.order, &self.scores);
        let term = |position: usize| {
            let (score, weight) = (sorted[position], levels.weight(order[position] as usize));
            [weight, weight * score, weight * score * score]
        };
        for &(margin, factor) in margins {
            let factor = factor * levels.scale;
            ScoreSweep { levels, order, scores: sorted, margin }.up(
                &mut self.tree,
                term,
                |position, sums| {
                    let (document, score) = (order[position] as usize, sorted[position]);
                    let [w, s, _] = sums;
                    let own_weight = factor * levels.weight(document);
                    gradient[document] += 2.0 * own_weight * (w * (margin + score) - s);
                    diagonal[document] += 2.0 * own_weight * w;
                },
            );
            ScoreSweep { levels, order, scores: sorted, margin }.down(
                &mut self.tree,
                term,
                |position, sums| {
                    // `gap` is m - s_i.
                    let (document, gap) = (order[position] as usize, margin - sorted[position]);
                    let [w, s, q] = sums;
                    let own_weight = factor * levels.weight(document);
                    total += own_weight * (w * gap * gap + 2.0 * gap * s + q);
                    gradient[document] -= 2.0 * own_weight * (w * gap + s);
                    diagonal[document] += 2.0 * own_weight * w;
                },
            );
        }
        total
    }

    /// Sets `product` to the product of the hessian at the last point and a direction.
    pub(super) fn hessian_product(
        &mut self,
        levels: &LabelLevels,
        margins: &Margins,
        direction: &[f64],
        product: &mut [f64],
    ) {
        let (order, scores) = (&self.order, &self.scores);
        for ((product, direction), diagonal) in
            product.iter_mut().zip(direction).zip(&self.diagonal)
        {
            *product = diagonal * direction;
        }
        let term = |position: usize| {
            let document = order[position] as usize;
            [levels.weight(document) * direction[document]]
        };
        // The buffer of three sums per level is reused for single sums.
        let buffer = self.tree.as_flattened_mut();
        let (tree, _) = buffer.as_chunks_mut();
        for &(margin, factor) in margins {
            let factor = 2.0 * factor * levels.scale;
            let mut visit = |position: usize, [sum]: [f64; 1]| {
                let document = order[position] as usize;
                product[document] -= factor * levels.weight(document) * sum;
            };
            ScoreSweep { levels, order, scores, margin }.up(tree, term, &mut visit);
            ScoreSweep { levels, order, scores, margin }.down(tree, term, &mut visit);
        }
    }

    /// Sorts the documents; starts from the last order, which is nearly sorted.
    fn sort(&mut self, scores: &[f64]) {
        let n = scores.len();
        if self.order.len() != n {
            self.order = (0..n as u32).collect();
        }
        self.keys.clear();
        self.keys.extend(self.order.iter().map(|document| (scores[*document as usize], *document)));
        // Equal scores are ordered by document number, so the result does not depend on the last
        // order.
        self.keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // Only differences of scores matter; scores near 0 keep more digits in sums.
        let middle = self.keys.get(n / 2).map_or(0.0, |(score, _)| *score);
        self.order.clear();
        self.scores.clear();
        for &(score, document) in &self.keys {
            self.order.push(document);
            self.scores.push(score - middle);
        }
        self.tree.resize(n + 1, [0.0; 3]);
    }
}

/// One pass over the documents of a query in the order of their scores.
struct ScoreSweep<'a> {
    levels: &'a LabelLevels,
    /// Documents in rising order of scores.
    order: &'a [u32],
    /// The scores in that order.
    scores: &'a [f64],
    margin: f64,
}

impl ScoreSweep<'_> {
    /// Goes from the lowest score up. `term` gives the values of a position that are added up;
    /// `visit` gets a position i and the sums over higher levels with s_j < s_i + m.
    #[inline]
    fn up<const N: usize>(
        &self,
        tree: &mut [[f64; N]],
        term: impl Fn(usize) -> [f64; N],
        mut visit: impl FnMut(usize, [f64; N]),
    ) {
        let count = self.levels.count;
        let tree = &mut tree[..=count as usize];
        tree.fill([0.0; N]);
        let mut end = 0;
        for position in 0..self.order.len() {
            while end < self.order.len() && self.scores[end] - self.scores[position] < self.margin {
                // Levels are stored from the highest down, so that higher levels come before lower
                // ones.
                insert(tree, count - self.level(end), term(end));
                end += 1;
            }
            visit(position, sum_before(tree, count - self.level(position)));
        }
    }

    /// Goes from the highest score down; `visit` gets a position i and the sums over lower levels
    /// with s_j > s_i - m.
    #[inline]
    fn down<const N: usize>(
        &self,
        tree: &mut [[f64; N]],
        term: impl Fn(usize) -> [f64; N],
        mut visit: impl FnMut(usize, [f64; N]),
    ) {
        let tree = &mut tree[..=self.levels.count as usize];
        tree.fill([0.0; N]);
        let mut begin = self.order.len();
        for position in (0..self.order.len()).rev() {
            while begin > 0 && self.scores[position] - self.scores[begin - 1] < self.margin {
                begin -= 1;
                insert(tree, self.level(begin) + 1, term(begin));
            }
            visit(position, sum_before(tree, self.level(position) + 1));
        }
    }

    /// The level of the document at a position of the order.
    fn level(&self, position: usize) -> u32 {
        self.levels.of_document[self.order[position] as usize]
    }
}

/// Adds a term at an index of the Fenwick tree, counted from 1.
#[inline]
fn insert<const N: usize>(tree: &mut [[f64; N]], mut index: u32, term: [f64; N]) {
    while let Some(sums) = tree.get_mut(index as usize) {
        sums.iter_mut().zip(term).for_each(|(sum, more)| *sum += more);
        index += index & index.wrapping_neg();
    }
}

/// The sum of the terms at all indices before this one.
#[inline]
fn sum_before<const N: usize>(tree: &[[f64; N]], index: u32) -> [f64; N] {
    let mut index = index - 1;
    let mut sum = [0.0; N];
    while index > 0 {
        sum.iter_mut().zip(tree[index as usize]).for_each(|(sum, more)| *sum += more);
        index &= index - 1;
    }
    sum
}
