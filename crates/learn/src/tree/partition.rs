//! Partition of a split leaf's rows: those of the left child first, each side in its old order.
//!
//! Rows and their derivatives, packed into 64 bits ([`quantise`](super::quantise)), move together,
//! from one buffer to another. Large leaves are cut into chunks: each chunk counts its left rows,
//! the counts give every chunk its two write positions, and all chunks write at the same time. The
//! result equals that of the sequential loop for any chunk size. Cost: two passes over the leaf's
//! rows.

use rankwright_model::Side;
use rayon::prelude::*;

use super::sets::BinSet;
use crate::bins::{CELLS, FeatureBins, PackedFeature};

/// Leaves below this many rows are partitioned by one thread.
const SMALL_LEAF_ROWS: usize = 1 << 14;

/// The source or destination of moved rows: row numbers and packed derivatives.
#[derive(Debug)]
pub(crate) struct Slots<'a> {
    pub(crate) rows: &'a mut [u32],
    pub(crate) packed: &'a mut [u64],
}

impl<'a> Slots<'a> {
    /// Reborrows the same slots.
    pub(crate) fn reborrow(&mut self) -> Slots<'_> {
        Slots { rows: self.rows, packed: self.packed }
    }

    /// The slots before a position and those from it on.
    pub(crate) fn split_at(self, at: usize) -> (Slots<'a>, Slots<'a>) {
        let (rows, other_rows) = self.rows.split_at_mut(at);
        let (packed, other_packed) = self.packed.split_at_mut(at);
        (Slots { rows, packed }, Slots { rows: other_rows, packed: other_packed })
    }
}

/// For each value of a column's byte, 1 if the feature's bin in it goes left: bins up to `last` do,
/// and the bin of missing values if `missing` is the left side.
pub(crate) fn left_bytes(
    packing: PackedFeature,
    bins: &FeatureBins,
    last: usize,
    missing: Side,
) -> [u8; CELLS] {
    std::array::from_fn(|byte| {
        let bin = packing.bin(byte as u8);
        let is_missing = bins.missing && bin == bins.value_bins();
        u8::from(if is_missing { missing == Side::Left } else { bin <= last })
    })
}

/// Like [`left_bytes`], for a split that sends a set of bins left.
pub(crate) fn left_bytes_of_set(packing: PackedFeature, set: &BinSet) -> [u8; CELLS] {
    std::array::from_fn(|byte| set[packing.bin(byte as u8)])
}

/// Moves rows to `to`: first those for whose byte in `column` `left` is 1. Returns the number of
/// those. `flags` is work space, one byte per row.
pub(crate) fn partition(
    column: &[u8],
    left: &[u8; 256],
    rows: &[u32],
    packed: &[u64],
    flags: &mut [u8],
    to: Slots<'_>,
) -> usize {
    let chunk = match rows.len() < SMALL_LEAF_ROWS {
        true => rows.len().max(1),
        false => rows.len().div_ceil(rayon::current_num_threads().max(1)),
    };
    let flag = |(rows, flags): (&[u32], &mut [u8])| {
        let mut count = 0_usize;
        for (row, flag) in rows.iter().zip(flags) {
            *flag = left[usize::from(column[*row as usize])];
            count += usize::from(*flag);
        }
        count
    };
    if rows.len() < SMALL_LEAF_ROWS {
        let count = flag((rows, flags));
        let (mut lefts, mut rights) = to.split_at(count);
        scatter(rows, packed, flags, &mut lefts, &mut rights);
        return count;
    }
    let counts: Vec<usize> =
        rows.par_chunks(chunk).zip(flags.par_chunks_mut(chunk)).map(flag).collect();
    let count = counts.iter().sum();
    let (mut lefts, mut rights) = to.split_at(count);
    let mut slots = Vec::with_capacity(counts.len());
    for (count, rows) in counts.iter().zip(rows.chunks(chunk)) {
        let (left, more_left) = lefts.split_at(*count);
        let (right, more_right) = rights.split_at(rows.len() - count);
        slots.push((left, right));
        (lefts, rights) = (more_left, more_right);
    }
    slots
        .par_iter_mut()
        .zip(rows.par_chunks(chunk).zip(packed.par_chunks(chunk)))
        .zip(flags.par_chunks(chunk))
        .for_each(|(((left, right), (rows, packed)), flags)| {
            scatter(rows, packed, flags, left, right);
        });
    count
}

/// Moves one chunk: each row to the next position of its side, without a branch.
fn scatter(
    rows: &[u32],
    packed: &[u64],
    flags: &[u8],
    left: &mut Slots<'_>,
    right: &mut Slots<'_>,
) {
    let (mut at_left, mut at_right) = (0, 0);
    for ((row, packed), flag) in rows.iter().zip(packed).zip(flags) {
        // Both sides are written; on the side that the row does not belong to, at its next free
        // position, where the next row of that side overwrites it.
        if let (Some(r), Some(p)) = (left.rows.get_mut(at_left), left.packed.get_mut(at_left)) {
            (*r, *p) = (*row, *packed);
        }
        if let (Some(r), Some(p)) = (right.rows.get_mut(at_right), right.packed.get_mut(at_right)) {
            (*r, *p) = (*row, *packed);
        }
        at_left += usize::from(*flag);
        at_right += usize::from(1 - *flag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn rows_keep_their_order_on_each_side(
            n in prop_oneof![0_usize..300, SMALL_LEAF_ROWS..SMALL_LEAF_ROWS + 50_000], cut: u8, seed: u64,
        ) {
            let mut random = rankwright_data::Random::new(seed, 0);
            let column: Vec<u8> = (0..2 * n).map(|_| random.below(256) as u8).collect();
            let rows: Vec<u32> = (0..n as u32).map(|i| 2 * i + random.below(2) as u32).collect();
            let packed: Vec<u64> = rows.iter().map(|r| u64::from(*r) * 3).collect();
            let left: [u8; 256] = std::array::from_fn(|byte| u8::from(byte <= usize::from(cut)));
            let is_left = |row: &&u32| column[**row as usize] <= cut;
            let mut expected: Vec<u32> = rows.iter().filter(is_left).copied().collect();
            let count = expected.len();
            expected.extend(rows.iter().filter(|r| !is_left(r)));
            for threads in [1, 2, 3, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (mut to_rows, mut to_packed) = (vec![0; n], vec![0; n]);
                let to = Slots { rows: &mut to_rows, packed: &mut to_packed };
                let mut flags = vec![0; n];
                let found =
                    pool.install(|| partition(&column, &left, &rows, &packed, &mut flags, to));
                prop_assert_eq!(found, count);
                prop_assert_eq!(&to_rows, &expected);
                prop_assert!(to_rows.iter().zip(&to_packed).all(|(r, p)| u64::from(*r) * 3 == *p));
            }
        }
    }
}
