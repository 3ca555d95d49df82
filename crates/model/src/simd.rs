//! Which machine code the kernels run: wide registers where the processor has them, or portable.
//!
//! Most kernels are one piece of plain Rust, compiled twice: once for AVX2, once for any processor.
//! Nothing in them depends on the width of a register (no fused multiply-add, fixed lanes), so both
//! give the same bits. The innermost steps of scoring are also written out for AVX2
//! (`engine/kernel.rs`). Tests compare each with its twin.

/// How a kernel is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Simd {
    /// The widest that this processor has.
    #[default]
    Auto,
    /// The portable code, whatever the processor.
    Portable,
}

impl Simd {
    /// Whether the code compiled for AVX2 may be called.
    pub fn avx2(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            // Every processor with AVX2 counts bits too; asked all the same, as kernels use both.
            self == Simd::Auto
                && std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("popcnt")
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }
}
