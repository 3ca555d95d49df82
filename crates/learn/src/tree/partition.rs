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

/// Leaves of fewer rows are partitioned by one thread.
const MIN_PARALLEL_ROWS: usize = 1 << 14;

/// A part of a buffer of rows: row numbers, and the packed derivatives of these rows.
#[derive(Debug)]
pub(crate) struct RowSlices<'a> {
    pub(crate) rows: &'a mut [u32],
    pub(crate) packed: &'a mut [u64],
}

impl<'a> RowSlices<'a> {
    /// Reborrows the same slices.
    pub(crate) fn reborrow(&mut self) -> RowSlices<'_> {
        RowSlices { rows: self.rows, packed: self.packed }
    }

    /// The slices before a position and those from that position on.
    pub(crate) fn split_at(self, position: usize) -> (RowSlices<'a>, RowSlices<'a>) {
        let (rows, rows_after) = self.rows.split_at_mut(position);
        let (packed, packed_after) = self.packed.split_at_mut(position);
        (RowSlices { rows, packed }, RowSlices { rows: rows_after, packed: packed_after })
    }
}

/// For each value of a column's byte, 1 if rows with this byte go left, else 0. Rows go left if
/// their bin of the feature is at most `last_left`, or if it is the bin of missing values and
/// `missing` is the left side.
pub(crate) fn left_bytes(
    packing: PackedFeature,
    bins: &FeatureBins,
    last_left: usize,
    missing: Side,
) -> [u8; CELLS] {
    std::array::from_fn(|byte| {
        let bin = packing.bin(byte as u8);
        let is_missing = bins.missing && bin == bins.value_bins();
        u8::from(if is_missing { missing == Side::Left } else { bin <= last_left })
    })
}

/// Like [`left_bytes`], for a split on a categorical feature, which sends a set of bins left.
pub(crate) fn left_bytes_of_set(packing: PackedFeature, set: &BinSet) -> [u8; CELLS] {
    std::array::from_fn(|byte| set[packing.bin(byte as u8)])
}

/// Moves `rows` and their `packed` derivatives to `to`: first the rows that go left, then the
/// others. A row goes left if `goes_left` is 1 for its byte in `column`. Returns the number of rows
/// that go left. `flags` is work space, one byte per row.
pub(crate) fn partition(
    column: &[u8],
    goes_left: &[u8; CELLS],
    rows: &[u32],
    packed: &[u64],
    flags: &mut [u8],
    to: RowSlices<'_>,
) -> usize {
    let chunk_rows = match rows.len() < MIN_PARALLEL_ROWS {
        true => rows.len().max(1),
        false => rows.len().div_ceil(rayon::current_num_threads().max(1)),
    };
    // Sets the flags of a chunk's rows, 1 for left; returns the number of rows that go left.
    let set_flags = |(rows, flags): (&[u32], &mut [u8])| {
        let mut left_rows = 0_usize;
        for (row, flag) in rows.iter().zip(flags) {
            *flag = goes_left[usize::from(column[*row as usize])];
            left_rows += usize::from(*flag);
        }
        left_rows
    };
    if rows.len() < MIN_PARALLEL_ROWS {
        let left_rows = set_flags((rows, flags));
        let (mut left, mut right) = to.split_at(left_rows);
        scatter(rows, packed, flags, &mut left, &mut right);
        return left_rows;
    }
    // The number of rows of each chunk that go left.
    let counts: Vec<usize> =
        rows.par_chunks(chunk_rows).zip(flags.par_chunks_mut(chunk_rows)).map(set_flags).collect();
    let left_rows = counts.iter().sum();
    let (mut all_left, mut all_right) = to.split_at(left_rows);
    // The destinations of each chunk's left and right rows.
    let mut destinations = Vec::with_capacity(counts.len());
    for (count, rows) in counts.iter().zip(rows.chunks(chunk_rows)) {
        let (left, left_after) = all_left.split_at(*count);
        let (right, right_after) = all_right.split_at(rows.len() - count);
        destinations.push((left, right));
        (all_left, all_right) = (left_after, right_after);
    }
    destinations
        .par_iter_mut()
        .zip(rows.par_chunks(chunk_rows).zip(packed.par_chunks(chunk_rows)))
        .zip(flags.par_chunks(chunk_rows))
        .for_each(|(((left, right), (rows, packed)), flags)| {
            scatter(rows, packed, flags, left, right);
        });
    left_rows
}

/// Moves one chunk: each row to the next free position of its side, without a branch.
fn scatter(
    rows: &[u32],
    packed: &[u64],
    flags: &[u8],
    left: &mut RowSlices<'_>,
    right: &mut RowSlices<'_>,
) {
    let (mut next_left, mut next_right) = (0, 0);
    for ((row, packed), flag) in rows.iter().zip(packed).zip(flags) {
        // Every row is written to the next free position of both sides. On the side to which the
        // row does not belong, the next row of that side overwrites it.
        if let (Some(r), Some(p)) = (left.rows.get_mut(next_left), left.packed.get_mut(next_left)) {
            (*r, *p) = (*row, *packed);
        }
        if let (Some(r), Some(p)) =
            (right.rows.get_mut(next_right), right.packed.get_mut(next_right))
        {
            (*r, *p) = (*row, *packed);
        }
        next_left += usize::from(*flag);
        next_right += usize::from(1 - *flag);
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
            n in prop_oneof![0_usize..300, MIN_PARALLEL_ROWS..MIN_PARALLEL_ROWS + 50_000],
            last_left: u8, seed: u64,
        ) {
            let mut random = rankwright_data::Random::new(seed, 0);
            let column: Vec<u8> = (0..2 * n).map(|_| random.below(256) as u8).collect();
            // One of every two rows; the packed value of a row is three times its number.
            let rows: Vec<u32> = (0..n as u32).map(|i| 2 * i + random.below(2) as u32).collect();
            let packed: Vec<u64> = rows.iter().map(|r| u64::from(*r) * 3).collect();
            let goes_left: [u8; CELLS] =
                std::array::from_fn(|byte| u8::from(byte <= usize::from(last_left)));
            let is_left = |row: &&u32| column[**row as usize] <= last_left;
            let mut expected: Vec<u32> = rows.iter().filter(is_left).copied().collect();
            let count = expected.len();
            expected.extend(rows.iter().filter(|r| !is_left(r)));
            for threads in [1, 2, 3, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (mut to_rows, mut to_packed) = (vec![0; n], vec![0; n]);
                let to = RowSlices { rows: &mut to_rows, packed: &mut to_packed };
                let mut flags = vec![0; n];
                let found =
                    pool.install(|| partition(&column, &goes_left, &rows, &packed, &mut flags, to));
                prop_assert_eq!(found, count);
                prop_assert_eq!(&to_rows, &expected);
                prop_assert!(to_rows.iter().zip(&to_packed).all(|(r, p)| u64::from(*r) * 3 == *p));
            }
        }
    }
}
