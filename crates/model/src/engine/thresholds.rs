//! The thresholds of one [`ColumnTest`](super::split_tests::ColumnTest), while trees are added: up
//! to [`MAX_THRESHOLDS`] distinct numbers. A column test stands for all splits of some trees that
//! compare one column with a threshold; a tree that would bring too many begins the next group of
//! trees, with tests of its own.
//!
//! Thresholds are kept in the order of arrival and found by their bits in a hash table with at
//! least twice as many slots as entries. They are sorted once, at the end: a model of 1,000 large
//! trees has a quarter of a million splits, and a search in a sorted list for each would take most
//! of the time of preparing the model. With at most 255 entries even bits that were chosen to
//! collide in the same slot cost little.

/// Maximum number of thresholds of a column test.
pub(crate) const MAX_THRESHOLDS: usize = 255;
/// A slot without a threshold; the indices of thresholds are smaller.
const EMPTY: u8 = u8::MAX;
/// Initial number of slots: two to this power.
const INITIAL_SLOT_BITS: u32 = 4;

/// Distinct thresholds; -0 and 0 are the same, and NaN is not allowed.
#[derive(Debug)]
pub(crate) struct Thresholds {
    values: Vec<f32>,
    /// A hash table of indices into `values`: each in the slot of the value's hash, or the next
    /// free one.
    slots: Vec<u8>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { values: Vec::new(), slots: vec![EMPTY; 1 << INITIAL_SLOT_BITS] }
    }
}

impl Thresholds {
    /// The number of thresholds.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The index of a threshold (from 0, in the order of arrival), which is added if it is new;
    /// `None` if there are already [`MAX_THRESHOLDS`] others.
    #[inline]
    pub(crate) fn index_or_insert(&mut self, threshold: f32) -> Option<u8> {
        // Makes -0 into 0.
        let threshold = threshold + 0.0;
        let mut slot = self.slot(threshold);
        loop {
            match self.slots[slot] {
                EMPTY => return self.insert(threshold, slot),
                index if self.values[usize::from(index)] == threshold => return Some(index),
                _ => slot = (slot + 1) % self.slots.len(),
            }
        }
    }

    /// The slot at which the search for a threshold begins.
    fn slot(&self, threshold: f32) -> usize {
        // Fibonacci hashing: the constant is a prime near 2^32 divided by the golden ratio.
        let bits = self.slots.len().trailing_zeros();
        (threshold.to_bits().wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize
    }

    /// Adds a new threshold in an empty slot; returns its index, or `None` if there is no room.
    fn insert(&mut self, threshold: f32, slot: usize) -> Option<u8> {
        if self.values.len() == MAX_THRESHOLDS {
            return None;
        }
        let index = self.values.len() as u8;
        self.values.push(threshold);
        self.slots[slot] = index;
        if self.values.len() * 2 > self.slots.len() {
            self.rebuild(self.slots.len() * 2);
        }
        Some(index)
    }

    /// Removes all thresholds but the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.values.truncate(count);
        self.rebuild(self.slots.len());
    }

    /// Rebuilds the hash table with this number of slots.
    fn rebuild(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        for index in 0..self.values.len() {
            let mut slot = self.slot(self.values[index]);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) % slots;
            }
            self.slots[slot] = index as u8;
        }
    }

    /// The sorted thresholds, and the rank of each threshold (its index in that list), in
    /// the order of arrival.
    pub(crate) fn sorted(&self) -> (Vec<f32>, Vec<u8>) {
        let mut order: Vec<u8> = (0..self.values.len() as u8).collect();
        let value = |index: u8| self.values[usize::from(index)];
        order.sort_unstable_by(|a, b| value(*a).total_cmp(&value(*b)));
        let mut ranks = vec![0; order.len()];
        for (rank, index) in (0..=u8::MAX).zip(&order) {
            ranks[usize::from(*index)] = rank;
        }
        (order.into_iter().map(value).collect(), ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_rank_of_a_threshold_is_its_index_among_the_sorted(
            values in proptest::collection::vec(any::<f32>(), 0..300),
            kept in 0_usize..300,
        ) {
            let values: Vec<f32> = values.into_iter().filter(|value| !value.is_nan()).collect();
            let mut thresholds = Thresholds::default();
            for value in values.iter().chain(values.iter().take(kept)) {
                if let Some(index) = thresholds.index_or_insert(*value) {
                    let (sorted, ranks) = thresholds.sorted();
                    prop_assert_eq!(sorted[usize::from(ranks[usize::from(index)])], *value);
                    prop_assert!(sorted.is_sorted_by(|a, b| a < b));
                } else {
                    prop_assert_eq!(thresholds.len(), MAX_THRESHOLDS);
                }
            }
            let before = thresholds.values.clone();
            thresholds.truncate(kept);
            for (index, value) in (0..=u8::MAX).zip(before.iter().take(kept)) {
                prop_assert_eq!(thresholds.index_or_insert(*value), Some(index));
            }
        }
    }

    #[test]
    fn both_zeros_are_one_threshold() {
        let mut thresholds = Thresholds::default();
        assert_eq!(
            [0.0, -0.0, 1.0].map(|value| thresholds.index_or_insert(value)),
            [0, 0, 1].map(Some)
        );
    }
}
