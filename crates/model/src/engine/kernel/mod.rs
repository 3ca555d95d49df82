//! The innermost steps of the select network (`network.rs`), which evaluates every node of a tree
//! for 32 rows at a time: in portable Rust ([`Portable`]), and with AVX2 intrinsics (`avx2.rs`),
//! since the compiler does not vectorise all steps well.
//!
//! The rank of a value is the number of its feature's thresholds that lie below it; a split
//! compares ranks, not values. Both kernels give the same bytes; a test compares them. Everything
//! else is written once, over [`Kernel`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

/// Number of rows that are handled together, with a byte each: an AVX2 register has 32 bytes.
pub(crate) const ROWS_PER_REGISTER: usize = 32;
/// Number of thresholds in a block: the sorted thresholds of a feature are cut into blocks, so that
/// a rank is found in two steps.
pub(crate) const BLOCK_THRESHOLDS: usize = 16;

/// A byte for each of 32 rows.
pub(crate) type Bytes = [u8; ROWS_PER_REGISTER];
/// A rank for each of 32 rows, with its sign bit flipped: AVX2 compares bytes as signed numbers.
pub(crate) type Ranks = [i8; ROWS_PER_REGISTER];
/// Slots of `N` bytes. The slot of a leaf or node holds for each of `N` rows the number of the leaf
/// that the row reaches from there.
pub(crate) type Slots<const N: usize> = Aligned<[[u8; N]; SLOTS]>;

/// Bytes aligned so that no 32 of them cross a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// Number of slots: one for each of up to 256 leaves, and one for each node whose children are both
/// leaves, of which there are at most 128. Rounded up to a power of two, so that `% SLOTS` is
/// cheap.
pub(crate) const SLOTS: usize = 512;

/// The steps. Those of trees (`leaf_pair`, `select_child` and `oblivious_level`) are for `N` rows,
/// a multiple of [`ROWS_PER_REGISTER`]; in them a row goes right if its rank is greater than
/// `threshold_rank`. A kernel is a value, so that one that needs certain instructions can be the
/// proof that they are available.
pub(crate) trait Kernel: Copy {
    /// A node whose children are the leaves `low_leaf` and `low_leaf + 1`: sets `out` to the
    /// latter in rows that go right, to the former in others.
    fn leaf_pair<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        low_leaf: u8,
        out: &mut [u8; N],
    );
    /// Any other node, given the slots `[left, right, target]`: sets the slot `target` to the
    /// content of the slot `right` in rows that go right, of the slot `left` in others.
    fn select_child<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        slots: &mut Slots<N>,
        left_right_target: [usize; 3],
    );
    /// A level of an oblivious tree, whose splits make the same test: sets the bit `bit` of the
    /// leaf number in rows that go right.
    fn oblivious_level<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        bit: u8,
        out: &mut [u8; N],
    );
    /// Starts loading values into the cache.
    fn prefetch(self, values: &[f32]);
    /// The number of thresholds, at most 255, that lie below each value.
    fn count_below(self, thresholds: &[f32], values: &[f32; ROWS_PER_REGISTER]) -> Bytes;
    /// The number of thresholds of a block that lie below a value.
    fn count_below_one(self, block: &[f32; BLOCK_THRESHOLDS], value: f32) -> u8;
    /// For each value all bits set if it is NaN or its absolute value is at most `limit`, else 0.
    fn missing_mask(self, values: &[f32; ROWS_PER_REGISTER], limit: f32) -> Bytes;
    /// Replaces the ranks that the mask marks by `missing_rank`, and flips the sign bit of all.
    fn flip_sign(self, ranks: &Bytes, missing_mask: &Bytes, missing_rank: u8) -> Ranks;
}

/// Rust without intrinsics, for any processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn leaf_pair<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        low_leaf: u8,
        out: &mut [u8; N],
    ) {
        for (out, rank) in out.iter_mut().zip(ranks) {
            *out = low_leaf + u8::from(*rank > threshold_rank);
        }
    }

    #[inline(always)]
    fn select_child<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        slots: &mut Slots<N>,
        left_right_target: [usize; 3],
    ) {
        // Slot numbers are always below `SLOTS`; the remainder tells the compiler so.
        let [left, right, target] = left_right_target.map(|slot| slot % SLOTS);
        let mut picked = slots.0[left];
        for ((out, rank), right) in picked.iter_mut().zip(ranks).zip(&slots.0[right]) {
            *out = if *rank > threshold_rank { *right } else { *out };
        }
        slots.0[target] = picked;
    }

    #[inline(always)]
    fn oblivious_level<const N: usize>(
        self,
        ranks: &[i8; N],
        threshold_rank: i8,
        bit: u8,
        out: &mut [u8; N],
    ) {
        for (out, rank) in out.iter_mut().zip(ranks) {
            *out |= if *rank > threshold_rank { bit } else { 0 };
        }
    }

    #[inline(always)]
    fn prefetch(self, _values: &[f32]) {}

    #[inline(always)]
    fn count_below(self, thresholds: &[f32], values: &[f32; ROWS_PER_REGISTER]) -> Bytes {
        let mut counts = [0_u8; ROWS_PER_REGISTER];
        for threshold in thresholds {
            for (count, value) in counts.iter_mut().zip(values) {
                *count += u8::from(threshold < value);
            }
        }
        counts
    }

    #[inline(always)]
    fn count_below_one(self, block: &[f32; BLOCK_THRESHOLDS], value: f32) -> u8 {
        block.iter().map(|threshold| u8::from(*threshold < value)).sum()
    }

    #[inline(always)]
    fn missing_mask(self, values: &[f32; ROWS_PER_REGISTER], limit: f32) -> Bytes {
        let mut mask = [0; ROWS_PER_REGISTER];
        for (mask, value) in mask.iter_mut().zip(values) {
            *mask = u8::from(value.is_nan() | (value.abs() <= limit)).wrapping_neg();
        }
        mask
    }

    #[inline(always)]
    fn flip_sign(self, ranks: &Bytes, missing_mask: &Bytes, missing_rank: u8) -> Ranks {
        let mut flipped = [0; ROWS_PER_REGISTER];
        for ((out, rank), mask) in flipped.iter_mut().zip(ranks).zip(missing_mask) {
            *out = ((rank & !mask | missing_rank & mask) ^ 0x80) as i8;
        }
        flipped
    }
}
