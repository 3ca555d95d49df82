//! The chain of examinations of the cascade family (cascade model, DCM, CCM, DBN and SDBN).
//!
//! The user examines rank 1. At an examined rank r the document is clicked with probability
//! `click_r`; then the user goes on to rank r + 1 with probability `after_click_r`, or
//! `after_skip_r` if there was no click. Once a rank is not examined, no later one is, and there is
//! no click. With E_r the examination of rank r and C the clicks,
//!
//! ```text
//! x_1     = 1
//! P(C_r = 1 | C_<r) = x_r click_r,             x_r = P(E_r = 1 | C_<r)
//! x_{r+1} = x_r P(C_r | E_r = 1) P(E_{r+1} = 1 | C_r, E_r = 1) / P(C_r | C_<r)
//! ```
//!
//! and P(E_r = 1 | C) follows from x_r and the likelihood of the remaining clicks with and without
//! E_r, computed from the last rank to the first. Cost: O(ranks).

/// The probabilities of one rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChainRank {
    /// The probability of a click if the rank is examined.
    pub(super) click: f64,
    /// The probability that the next rank is examined after a click.
    pub(super) after_click: f64,
    /// The probability that the next rank is examined after no click.
    pub(super) after_skip: f64,
}

impl ChainRank {
    /// The probability of this outcome if the rank is examined.
    fn outcome(&self, clicked: bool) -> f64 {
        if clicked { self.click } else { 1.0 - self.click }
    }

    /// The probability that the next rank is examined after this outcome.
    fn next(&self, clicked: bool) -> f64 {
        if clicked { self.after_click } else { self.after_skip }
    }
}

/// P(C_r = 1): the probability of a click at each rank.
pub(super) fn marginal(ranks: impl Iterator<Item = ChainRank>, out: &mut Vec<f64>) {
    out.clear();
    let mut examined = 1.0;
    for rank in ranks {
        out.push(examined * rank.click);
        examined *= rank.click * rank.after_click + (1.0 - rank.click) * rank.after_skip;
    }
}

/// P(C_r = 1 | C_<r): the probability of a click at each rank, given the clicks above it.
pub(super) fn conditional(
    ranks: impl Iterator<Item = ChainRank>,
    clicked: &[bool],
    out: &mut Vec<f64>,
) {
    out.clear();
    let mut examined = 1.0;
    for (rank, clicked) in ranks.zip(clicked) {
        out.push(examined * rank.click);
        examined = next_examined(&rank, *clicked, examined);
    }
}

/// x_{r+1} from x_r; 0 if the outcome was impossible.
fn next_examined(rank: &ChainRank, clicked: bool, examined: f64) -> f64 {
    let with_examination = examined * rank.outcome(clicked);
    let probability = with_examination + if clicked { 0.0 } else { 1.0 - examined };
    if probability > 0.0 { with_examination * rank.next(clicked) / probability } else { 0.0 }
}

/// P(E_r = 1 | C) for each rank, and at the end that of a rank after the last one.
pub(super) fn examined(ranks: &[ChainRank], clicked: &[bool], out: &mut Vec<f64>) {
    out.clear();
    out.push(1.0);
    for (rank, clicked) in ranks.iter().zip(clicked) {
        let before = out.last().copied().unwrap_or(1.0);
        out.push(next_examined(rank, *clicked, before));
    }
    // The likelihood of the clicks from rank r on, if r is examined and if it is not, up to a
    // common factor.
    let (mut with, mut without) = (1.0, 1.0);
    for ((rank, clicked), out) in ranks.iter().zip(clicked).zip(out.iter_mut()).rev() {
        let next = rank.next(*clicked);
        with = rank.outcome(*clicked) * (next * with + (1.0 - next) * without);
        without = if *clicked { 0.0 } else { without };
        let joint = *out * with;
        let total = joint + (1.0 - *out) * without;
        *out = if total > 0.0 { joint / total } else { 0.0 };
        let scale = f64::max(with, without);
        if scale > 0.0 {
            (with, without) = (with / scale, without / scale);
        }
    }
}
