//! The choice between portable code and code for AVX2, and the proof that AVX2 is available.
//!
//! Most kernels (the inner loops of training and scoring) are written once in portable Rust
//! (without intrinsics) and compiled twice: for AVX2, and for any processor. Nothing in them
//! depends on the width of a register (no fused multiply-add, sums in a fixed number of lanes), so
//! both give the same bits. The innermost steps of scoring are also written with AVX2 intrinsics
//! (`engine/kernel/avx2.rs`). Tests compare each with its reference implementation.

use rankwright_spec::SpecError;

/// The instruction set that kernels use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Simd {
    /// AVX2 if this processor has it, otherwise the portable code.
    #[default]
    Auto,
    /// The portable code, on any processor.
    Portable,
}

impl Simd {
    /// The instruction set that the environment variable `RANKWRIGHT_SIMD` names: `portable`, or
    /// `auto`, which is also meant by an empty or absent variable. It is for tests, as results do
    /// not depend on it.
    pub fn from_environment() -> Result<Simd, SpecError> {
        let value = std::env::var_os("RANKWRIGHT_SIMD").unwrap_or_default();
        Self::from_name(&value.to_string_lossy())
    }

    /// The instruction set of a value of the variable.
    fn from_name(name: &str) -> Result<Simd, SpecError> {
        match name {
            "" | "auto" => Ok(Simd::Auto),
            "portable" => Ok(Simd::Portable),
            other => {
                Err(SpecError::unknown("value of RANKWRIGHT_SIMD", other, &["auto", "portable"]))
            }
        }
    }

    /// The proof that code for AVX2 may be called; `None` if the processor lacks AVX2 or the
    /// portable code was requested.
    pub fn avx2(self) -> Option<Avx2> {
        match self {
            Simd::Auto => Avx2::detect(),
            Simd::Portable => None,
        }
    }
}

/// Proof that this processor has AVX2 and POPCNT. Only [`Avx2::detect`] makes one, so that a
/// function that takes it can use those instructions.
///
/// ```
/// use rankwright_model::simd::{Avx2, Simd};
///
/// assert_eq!(Simd::Auto.avx2(), Avx2::detect());
/// assert_eq!(Simd::Portable.avx2(), None);
/// ```
///
/// ```compile_fail
/// let without_detection = rankwright_model::simd::Avx2(());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    /// Detects whether the processor has AVX2 and POPCNT (the result is cached, so that a call
    /// costs a load and a comparison).
    #[inline]
    pub fn detect() -> Option<Avx2> {
        #[cfg(target_arch = "x86_64")]
        {
            // Every processor with AVX2 has POPCNT too; checked anyway, as kernels use both.
            let found = std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("popcnt");
            found.then_some(Avx2(()))
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_variable_are_read_and_others_rejected() {
        assert_eq!(Simd::from_name(""), Ok(Simd::Auto));
        assert_eq!(Simd::from_name("portable"), Ok(Simd::Portable));
        let error = Simd::from_name("mmx").unwrap_err().to_string();
        assert!(error.starts_with("unknown value of RANKWRIGHT_SIMD `mmx`"), "{error}");
    }
}
