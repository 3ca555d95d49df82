//! The best rows of one query after a step along a column, without the exact scores of most rows.
//!
//! ```text
//! score of a row after the step = score before + factor x value in the column        in f64
//! estimate                      = the same of rounded numbers                        in f32
//! ```
//!
//! An estimate differs from its score by less than a bound that follows from the largest numbers of
//! the query ([`MARGIN`]). Any `depth` rows have a lowest estimate, and a row whose estimate is
//! below that by twice the bound is not among the best `depth`. So all estimates are compared with
//! the lowest of a guess, 16 rows at a time, and only the few rows that remain are ordered. The
//! order has no rounding in it: it is that of the scores of all rows.
//!
//! The guess is the best rows before the step, or after a similar one. If it leaves many rows
//! ([`FEW_ROWS`]), the rows are divided into 16 groups: the best rows of `depth` groups are a
//! better guess. Few rows are ordered by their estimates, if these are far enough apart: the rank
//! of each is the number of estimates that are at least as high, a comparison for each pair,
//! without a branch. A bad guess, and scores that are equal or nearly so, cost time and change
//! nothing. Queries with numbers that f32 cannot hold, and short ones, are scored whole.

use std::ops::RangeInclusive;

use rankwright_eval::{EvalError, TopOrderer};

use super::columns::{ColumnValue, LANES, ValueRange};

/// Two scores are in the order of their estimates if these differ by at least this part of the
/// largest absolute numbers. Rounding to f32 has a relative error of 2^-24; a score has one such
/// error, a product three and their sum one, so that an estimate is wrong by less than 5 x 2^-24,
/// two of them by 6e-7, and a threshold is rounded once more.
const MARGIN: f64 = 1e-6;
/// Two scores after a step, each a rounded sum of a score and a rounded product, are together wrong
/// by less than this part of the largest absolute numbers: four errors of 2^-53.
const SUM_ERROR: f64 = 1e-15;
/// The same as [`MARGIN`] for numbers that are too small for the full precision of f32, which are
/// rounded to multiples of 2^-149.
const SMALL_MARGIN: f64 = 1e-38;
/// Values and estimates are below this, so that none is infinite.
const MAX_ESTIMATE: f64 = 1e37;
/// The absolute factors that f32 holds with its full precision.
const FACTORS: RangeInclusive<f64> = 1e-30..=1e30;
/// If more rows than this remain, a better guess is made.
const FEW_ROWS: usize = 20;
/// Up to this number of rows, ranks are found by counting.
const MAX_COUNTED: usize = 32;
/// Up to this number, counting takes half as long.
const HALF_COUNTED: usize = MAX_COUNTED / 2;

/// One query before a step, by place; the estimates and the column are padded.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepQuery<'a, T> {
    pub(super) scores: &'a [f64],
    /// The scores in f32; minus infinity where there is no row.
    pub(super) estimates: &'a [f32],
    /// The largest absolute score.
    pub(super) max_score: f64,
    pub(super) column: &'a [T],
    /// The range of the column.
    pub(super) range: ValueRange,
}

impl<T> StepQuery<'_, T> {
    /// Whether a step moves no two rows past each other whose scores differ by at least `gap`: the
    /// step changes the difference of two scores by less than `gap`, rounding errors included.
    pub(super) fn keeps_order(&self, factor: f64, gap: f64) -> bool {
        let largest = self.max_score + factor.abs() * self.range.max_abs;
        // False for NaN.
        gap > factor.abs() * self.range.spread * (1.0 + SUM_ERROR) + SUM_ERROR * largest
    }
}

/// Orders the best rows of queries after steps, in buffers that it keeps.
#[derive(Debug, Default)]
pub(super) struct StepOrderer {
    /// Whether each place reaches the threshold: 1 or 0.
    flags: Vec<u8>,
    /// The rows that reach the threshold; entries after the first `found` have no meaning.
    rows: Vec<u32>,
    /// Number of rows that reach the threshold.
    found: usize,
    /// The scores of the rows that reach the threshold, or of all rows.
    scores: Vec<f64>,
    orderer: TopOrderer,
    /// The last order.
    order: Vec<u32>,
}

impl StepOrderer {
    /// Finds the best `depth` rows after a step; equal scores are ordered by place. `guess` has
    /// `depth` different rows, or all rows if there are fewer, that are likely to be the best; if
    /// it is empty, all rows are scored.
    pub(super) fn order<T: ColumnValue>(
        &mut self,
        query: &StepQuery<'_, T>,
        factor: f64,
        guess: &[u32],
        depth: usize,
    ) -> Result<(), EvalError> {
        let Some(margin) = estimate_margin(query, factor).filter(|_| !guess.is_empty()) else {
            return self.order_all(query, factor, Some(depth));
        };
        let guessed = lowest_estimate(query, factor as f32, guess) - margin;
        self.find_rows(query, factor as f32, guessed);
        if self.found > FEW_ROWS && depth <= LANES {
            let grouped = group_threshold(query, factor as f32, depth) - margin;
            if grouped > guessed {
                self.find_rows(query, factor as f32, grouped);
            }
        }
        let counted = match self.found {
            found if found <= HALF_COUNTED => {
                self.count_ranks::<T, HALF_COUNTED>(query, factor as f32, depth, margin)
            }
            found if found <= MAX_COUNTED => {
                self.count_ranks::<T, MAX_COUNTED>(query, factor as f32, depth, margin)
            }
            _ => false,
        };
        if counted {
            return Ok(());
        }
        let score = |row: &u32| {
            let row = *row as usize;
            query.scores[row] + factor * query.column[row].into()
        };
        self.scores.clear();
        self.scores.extend(self.rows[..self.found].iter().map(score));
        let order = self.orderer.order(&self.scores, depth)?;
        self.order.clear();
        self.order.extend(order.iter().map(|number| self.rows[*number as usize]));
        Ok(())
    }

    /// Finds the best `depth` rows after a step from the scores of all rows; without a depth, all
    /// rows are ordered.
    pub(super) fn order_all<T: ColumnValue>(
        &mut self,
        query: &StepQuery<'_, T>,
        factor: f64,
        depth: Option<usize>,
    ) -> Result<(), EvalError> {
        self.scores.clear();
        let values = query.scores.iter().zip(query.column);
        self.scores.extend(values.map(|(score, value)| score + factor * (*value).into()));
        self.order_kept_scores(depth)
    }

    /// Finds the best `depth` rows by these scores; without a depth, all rows are ordered. Returns
    /// the smallest difference between two of these rows, and between them and the next one;
    /// infinite if there is one row.
    pub(super) fn order_and_gap(
        &mut self,
        scores: &[f64],
        depth: Option<usize>,
    ) -> Result<f64, EvalError> {
        self.scores.clear();
        self.scores.extend_from_slice(scores);
        self.order_kept_scores(depth.map(|depth| depth + 1))?;
        let gap = |pair: &[u32]| scores[pair[0] as usize] - scores[pair[1] as usize];
        let gap = self.order.windows(2).map(gap).fold(f64::INFINITY, f64::min);
        self.order.truncate(depth.unwrap_or(usize::MAX));
        Ok(gap)
    }

    /// Orders all rows by the scores in the buffer.
    fn order_kept_scores(&mut self, depth: Option<usize>) -> Result<(), EvalError> {
        let order = self.orderer.order(&self.scores, depth.unwrap_or(usize::MAX))?;
        self.order.clear();
        self.order.extend_from_slice(order);
        Ok(())
    }

    /// The last order: rows of the query, best first, counted from its first place.
    pub(super) fn last_order(&self) -> &[u32] {
        &self.order
    }

    /// The scores of all rows, by place, after [`order_all`](Self::order_all) or
    /// [`order_and_gap`](Self::order_and_gap).
    pub(super) fn last_scores(&self) -> &[f64] {
        &self.scores
    }

    /// Finds the rows whose estimate is at least a threshold.
    fn find_rows<T: ColumnValue>(&mut self, query: &StepQuery<'_, T>, factor: f32, threshold: f32) {
        let StepQuery { estimates, column, .. } = query;
        if self.rows.len() < estimates.len() {
            self.flags.resize(estimates.len(), 0);
            self.rows.resize(estimates.len(), 0);
        }
        let flags = &mut self.flags[..estimates.len()];
        mark(estimates, column, factor, threshold, flags);
        let mut found = 0;
        // 64 flags at a time, as the bits of one word.
        for (first, flags) in (0..).step_by(64).zip(flags.as_chunks::<8>().0.chunks(8)) {
            let byte = |flags: &[u8; 8]| u64::from_le_bytes(*flags).wrapping_mul(GATHER_BITS) >> 56;
            let mut word = flags.iter().rev().fold(0, |word, flags| word << 8 | byte(flags));
            while word != 0 {
                self.rows[found] = first + word.trailing_zeros();
                found += 1;
                word &= word - 1;
            }
        }
        self.found = found;
    }

    /// Orders the rows that were found, up to N, by their estimates; returns whether the best
    /// `depth` are further apart than the margin, otherwise the order is not valid.
    fn count_ranks<T: ColumnValue, const N: usize>(
        &mut self,
        query: &StepQuery<'_, T>,
        factor: f32,
        depth: usize,
        margin: f32,
    ) -> bool {
        let rows = &self.rows[..self.found.min(N)];
        let mut estimates = [0.0; N];
        for (estimate, row) in estimates.iter_mut().zip(rows) {
            let row = *row as usize;
            *estimate = query.estimates[row] + factor * query.column[row].to_f32();
        }
        // The loops have a fixed length, so that they are compiled to vector instructions.
        let mut counts = [0_i32; N];
        for estimate in &estimates[..rows.len()] {
            for (count, other) in counts.iter_mut().zip(&estimates) {
                *count += i32::from(estimate >= other);
            }
        }
        // Two equal estimates get the same rank, and the rank before it stays NaN.
        let mut sorted = [f32::NAN; N];
        self.order.clear();
        self.order.resize(rows.len(), 0);
        for ((row, count), estimate) in rows.iter().zip(counts).zip(estimates) {
            let rank = (count - 1) as usize;
            self.order[rank] = *row;
            sorted[rank] = estimate;
        }
        let pairs = sorted[..rows.len()].windows(2).take(depth);
        let far_apart = pairs.fold(true, |all, pair| all & (pair[0] - pair[1] > margin));
        self.order.truncate(depth);
        far_apart
    }
}

/// A factor that moves the lowest bits of eight bytes into the highest byte.
const GATHER_BITS: u64 = 0x0102_0408_1020_4080;

/// Sets each flag to whether the estimate after the step is at least a threshold. A loop of its own
/// that fills memory, so that it is compiled to vector instructions.
#[inline(never)]
fn mark<T: ColumnValue>(
    estimates: &[f32],
    column: &[T],
    factor: f32,
    threshold: f32,
    flags: &mut [u8],
) {
    let lanes = estimates.as_chunks::<LANES>().0.iter().zip(column.as_chunks::<LANES>().0);
    for (flags, (estimates, values)) in flags.as_chunks_mut::<LANES>().0.iter_mut().zip(lanes) {
        for (flag, (estimate, value)) in flags.iter_mut().zip(estimates.iter().zip(values)) {
            *flag = u8::from(estimate + factor * value.to_f32() >= threshold);
        }
    }
}

/// The lowest estimate of some rows after a step.
fn lowest_estimate<T: ColumnValue>(query: &StepQuery<'_, T>, factor: f32, rows: &[u32]) -> f32 {
    let mut lowest = f32::INFINITY;
    for row in rows {
        let row = *row as usize;
        let estimate = query.estimates[row] + factor * query.column[row].to_f32();
        if estimate < lowest {
            lowest = estimate;
        }
    }
    lowest
}

/// An estimate that at least `depth` rows (up to 16) reach after a step: the one at rank `depth`
/// among the highest estimates of 16 groups of rows. Minus infinity if fewer than `depth` groups
/// have a row.
fn group_threshold<T: ColumnValue>(query: &StepQuery<'_, T>, factor: f32, depth: usize) -> f32 {
    let mut highest = [f32::NEG_INFINITY; LANES];
    let lanes = query.estimates.as_chunks::<LANES>().0.iter();
    for (estimates, values) in lanes.zip(query.column.as_chunks::<LANES>().0) {
        for (highest, (estimate, value)) in highest.iter_mut().zip(estimates.iter().zip(values)) {
            let estimate = estimate + factor * value.to_f32();
            *highest = if estimate > *highest { estimate } else { *highest };
        }
    }
    highest.sort_unstable_by(|a, b| b.total_cmp(a));
    highest[depth.clamp(1, LANES) - 1]
}

/// Twice the bound of the difference between a score after the step and its estimate; `None` if the
/// query has numbers that f32 cannot hold, or too few rows to leave some out.
fn estimate_margin<T>(query: &StepQuery<'_, T>, factor: f64) -> Option<f32> {
    let largest = query.max_score + factor.abs() * query.range.max_abs;
    // False for NaN.
    let fits = largest < MAX_ESTIMATE && query.range.max_abs < MAX_ESTIMATE;
    let fits = fits && FACTORS.contains(&factor.abs());
    let margin = MARGIN * largest + SMALL_MARGIN * (1.0 + factor.abs());
    (fits && query.scores.len() > LANES).then_some(margin as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of which many are equal, differ by less than f32 can hold, or are too large for it.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            6 => -2.0_f64..2.0,
            3 => (-3_i32..4).prop_map(f64::from),
            1 => (-3_i32..4).prop_map(|n| 1.0 + f64::from(n) * 1e-9),
        ]
    }

    /// The best rows of a query found from a guess, and from the scores of all rows.
    fn orders<T: ColumnValue>(
        scores: &[f64],
        column: &[T],
        factor: f64,
        guess: &[u32],
        depth: usize,
    ) -> [Vec<u32>; 2] {
        let padded = scores.len().next_multiple_of(LANES);
        let mut estimates: Vec<f32> = scores.iter().map(|score| *score as f32).collect();
        estimates.resize(padded, f32::NEG_INFINITY);
        let range = ValueRange::new(column.iter().map(|value| (*value).into()));
        let mut column = column.to_vec();
        column.resize(padded, T::default());
        let max_score = ValueRange::new(scores.iter().copied()).max_abs;
        let (estimates, column) = (&estimates, &column);
        let query = StepQuery { scores, estimates, max_score, column, range };
        assert_kept_orders_are_right(&query, factor, depth);
        let (mut found, mut expected) = (StepOrderer::default(), StepOrderer::default());
        found.order(&query, factor, guess, depth).unwrap();
        expected.order_all(&query, factor, Some(depth)).unwrap();
        [found, expected].map(|orderer| orderer.last_order().to_vec())
    }

    /// Checks that a step that keeps the order by its bound keeps it.
    fn assert_kept_orders_are_right<T: ColumnValue>(
        query: &StepQuery<'_, T>,
        factor: f64,
        depth: usize,
    ) {
        let mut orderer = StepOrderer::default();
        let gap = orderer.order_and_gap(query.scores, Some(depth)).unwrap();
        let before = orderer.last_order().to_vec();
        orderer.order_all(query, factor, Some(depth)).unwrap();
        assert!(!query.keeps_order(factor, gap) || before == orderer.last_order());
    }

    #[test]
    fn steps_along_a_constant_column_and_short_ones_keep_the_order() {
        let scores: Vec<f64> = (0..20).map(f64::from).collect();
        let gap = StepOrderer::default().order_and_gap(&scores, Some(5)).unwrap();
        assert_eq!(gap, 1.0);
        let keeps = |column: [f32; 2], factor| {
            let range = ValueRange::new(column.iter().map(|value| f64::from(*value)));
            let query = StepQuery {
                scores: &scores,
                estimates: &[],
                max_score: 19.0,
                column: &column,
                range,
            };
            query.keeps_order(factor, gap)
        };
        assert!(keeps([7.0, 7.0], 100.0) && keeps([0.0, 1.0], -0.99));
        assert!(!keeps([0.0, 1.0], 1.0) && !keeps([f32::NAN, 1.0], 0.1));
        // So large that scores become equal.
        assert!(!keeps([7.0, 7.0], 1e17));
        // Equal scores may not be moved at all, a single row may.
        assert_eq!(StepOrderer::default().order_and_gap(&[1.0, 1.0], Some(5)), Ok(0.0));
        assert_eq!(StepOrderer::default().order_and_gap(&[1.0], Some(5)), Ok(f64::INFINITY));
    }

    proptest! {
        #[test]
        fn the_best_rows_are_those_of_all_scores(
            rows in prop::collection::vec((number(), number()), 1..150),
            scale in prop_oneof![Just(1.0), Just(1e-20), Just(1e30), Just(1e300)],
            factor in prop_oneof![number(), Just(1e-9), Just(1e-40), Just(1e20), Just(0.0)],
            depth in 1_usize..30,
            seed in 0_usize..1000,
        ) {
            let scores: Vec<f64> = rows.iter().map(|(score, _)| score * scale).collect();
            let column: Vec<f64> = rows.iter().map(|(_, value)| value * scale).collect();
            let mut guess: Vec<u32> = (0..rows.len() as u32).collect();
            guess.sort_by_key(|row| (*row as usize + seed) * 7919 % 1009);
            guess.truncate(depth);
            let [found, expected] = orders(&scores, &column, factor, &guess, depth);
            prop_assert_eq!(&found, &expected);
            // From the right guess, from none, and with a column of f32.
            prop_assert_eq!(&orders(&scores, &column, factor, &expected, depth)[0], &expected);
            prop_assert_eq!(&orders(&scores, &column, factor, &[], depth)[0], &expected);
            let narrow: Vec<f32> = rows.iter().map(|(_, value)| *value as f32).collect();
            let [found, expected] = orders(&scores, &narrow, factor, &guess, depth);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn rows_with_the_estimate_of_the_last_rank_are_not_left_out() {
        // All scores have the same estimate, and rise; the last rows are the best.
        let scores: Vec<f64> = (0..60).map(|row| 1.0 + f64::from(row) * 1e-12).collect();
        let [found, expected] = orders(&scores, &[0.0_f32; 60], 1.0, &[0, 1, 2], 3);
        assert_eq!(expected, [59, 58, 57]);
        assert_eq!(found, expected);
    }
}
