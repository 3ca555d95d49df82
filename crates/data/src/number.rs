//! Decimal numbers from bytes, several bytes at a time (SIMD within a register).
//!
//! The fast path takes `[-]digits[.digits]` with at most eight digits (seven if there is no point),
//! which covers most values in feature files; everything else goes to `fast_float2`. Both give the
//! correctly rounded value, as `str::parse` does: the digits m and the power 10^k are exact in f64
//! (m < 10^8, k <= 8), so m / 10^k is the f64 nearest to the decimal. Rounding that to f32 could
//! only go wrong if it lies exactly half-way between two f32 values, and then the fast path is not
//! used (Clinger 1990, "How to read floating point numbers accurately", for the exact division).
//!
//! A parser can start a token only when the end of the token before is known. So the end is found
//! first, by comparing sixteen bytes at once, and does not wait for the value of the digits.

/// Powers of ten up to 10^8, padded to 16 entries, so that the index `k & 15` is always in range.
const POW10: [f64; 16] =
    [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// 1 in every byte: a byte times this repeats the byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The top bit of every byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Bytes of a text that begin with a token. Because of the fixed size, the compiler can see that no
/// access below is out of bounds.
pub(crate) type Window = [u8; 32];

/// The first `N` bytes at an offset of the text; `None` near its end.
#[inline(always)]
pub(crate) fn window<const N: usize>(bytes: &[u8], offset: usize) -> Option<&[u8; N]> {
    bytes.get(offset..)?.first_chunk()
}

/// The length of the token at the start of a window: the number of its leading bytes (at most 16)
/// that are above the space character in ASCII.
#[inline(always)]
pub(crate) fn token_length(window: &Window) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            __m128i, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
        };
        // SAFETY: SSE2 is part of x86_64, and a window has 32 bytes; the load is unaligned.
        let above = unsafe {
            let bytes = _mm_loadu_si128(window.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x20)))
        };
        (!above).trailing_zeros() as usize
    }
    #[cfg(not(target_arch = "x86_64"))]
    token_length_reference(window)
}

/// The simple version of the vector comparison.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn token_length_reference(window: &Window) -> usize {
    window.iter().take(16).take_while(|b| (0x21..0x80).contains(*b)).count()
}

/// Eight bytes of a window; `offset` is at most 15.
#[inline(always)]
fn load8(window: &Window, offset: usize) -> u64 {
    let offset = offset & 15;
    match window.get(offset..offset + 8).and_then(|eight| eight.try_into().ok()) {
        Some(eight) => u64::from_le_bytes(eight),
        None => 0,
    }
}

/// Marks bytes that are no digits, in a word of bytes from which '0' was subtracted (by xor): the
/// top bit of such a byte is set. A carry can change only bytes after the first such byte, so the
/// first mark is right, and so is a result without marks.
#[inline(always)]
fn non_digits(word: u64) -> u64 {
    (word.wrapping_add(0x76 * ONES) | word) & HIGH
}

/// The number whose eight decimal digits are the bytes of a word, the first digit in the lowest
/// byte. Joins pairs of digits, then pairs of those, and so on; the factors are 10 * 2^8 + 1, 100 *
/// 2^16 + 1 and 10,000 * 2^32 + 1.
#[inline(always)]
fn value_of_digits(word: u64) -> u64 {
    let word = word.wrapping_mul(2561) >> 8;
    let word = (word & 0x00ff_00ff_00ff_00ff).wrapping_mul(6_553_601) >> 16;
    (word & 0x0000_ffff_0000_ffff).wrapping_mul(42_949_672_960_001) >> 32
}

/// The digits at the start of a window: the number of digits among its first eight bytes before the
/// first other byte, and their value (meaningful for one to eight digits).
#[inline(always)]
pub(crate) fn digits(window: &Window) -> (usize, u64) {
    let word = load8(window, 0) ^ (0x30 * ONES);
    let count = (non_digits(word).trailing_zeros() / 8) as usize;
    // Move the digits to the top; the low bytes become 0, which are leading zeros.
    (count, value_of_digits(word.wrapping_shl(64 - 8 * count as u32)))
}

/// The unsigned decimal number, without exponent and of up to eight digits, that is the token of
/// `length` bytes at `AT` in a window.
#[inline(always)]
fn unsigned<const AT: usize>(window: &Window, length: usize) -> Option<f64> {
    let word = load8(window, AT);
    // The number of bytes before the first point (0x2e); 8 if there is none in eight bytes. Points
    // are zero bytes after the xor, and the second line marks zero bytes by their top bits.
    let xored = word ^ (0x2e * ONES);
    let points = xored.wrapping_sub(ONES) & !xored & HIGH;
    let before_point = (points.trailing_zeros() / 8) as usize;
    let has_point = (before_point < length.min(8)) as usize;
    let count = length - has_point;
    // Eight digits are accepted with a point among them, seven without.
    if count.wrapping_sub(1) > 6 + has_point {
        return None;
    }
    // Remove the point: keep the bytes before it, and take those after it from the word one byte
    // further. Then move the digits to the top.
    let keep = (points & points.wrapping_neg()).wrapping_sub(1) >> 7;
    let joined = (word & keep) | (load8(window, AT + 1) & !keep);
    let digits = (joined ^ (0x30 * ONES)) << (64 - 8 * count as u32);
    if non_digits(digits) != 0 {
        return None;
    }
    let decimals = if has_point == 1 { count - before_point } else { 0 };
    let power = POW10.get(decimals & 15)?;
    Some(value_of_digits(digits) as i64 as f64 / power)
}

/// The decimal number without exponent, of up to eight digits, that is the token of `length` bytes
/// at the start of a window.
#[inline(always)]
fn short_decimal(window: &Window, length: usize) -> Option<f64> {
    if window[0] == b'-' {
        return unsigned::<1>(window, length.checked_sub(1)?).map(|value| -value);
    }
    unsigned::<0>(window, length)
}

/// The finite f32 that is the token of `length` (1 to 16) bytes at the start of a window.
#[inline(always)]
pub(crate) fn f32_token(window: &Window, length: usize) -> Option<f32> {
    // A single digit, mostly 0, is common in counts and flags and has a fast path of its own.
    let digit = window[0].wrapping_sub(b'0');
    if length == 1 && digit < 10 {
        return Some(f32::from(digit));
    }
    match short_decimal(window, length) {
        // The low 29 bits are lost in f32; exactly half of their range is the case that could round
        // wrongly.
        Some(value) if value.to_bits() & 0x1fff_ffff != 0x1000_0000 => Some(value as f32),
        _ => slow_f32(number_token(window.get(..length)?)?),
    }
}

/// The finite f64 that is the token of `length` bytes at `offset`.
#[inline(always)]
pub(crate) fn f64_token(bytes: &[u8], offset: usize, length: usize) -> Option<f64> {
    match window(bytes, offset).and_then(|window: &Window| short_decimal(window, length)) {
        Some(value) => Some(value),
        None => slow_f64(number_token(bytes.get(offset..offset + length)?)?),
    }
}

#[inline(never)]
fn slow_f32(token: &[u8]) -> Option<f32> {
    fast_float2::parse(token).ok().filter(|value: &f32| value.is_finite())
}

#[inline(never)]
fn slow_f64(token: &[u8]) -> Option<f64> {
    fast_float2::parse(token).ok().filter(|value: &f64| value.is_finite())
}

/// The token, if it begins like a number (and not like `inf` or `nan`).
fn number_token(token: &[u8]) -> Option<&[u8]> {
    let unsigned = token.strip_prefix(b"-").unwrap_or(token);
    matches!(unsigned.first(), Some(b'0'..=b'9' | b'.')).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text with enough spaces after it for a window.
    fn padded(text: &str) -> Vec<u8> {
        [text.as_bytes(), &[b' '; 32]].concat()
    }

    /// Checks that a number is parsed as by the standard library.
    fn check(text: &str) {
        let bytes = padded(text);
        if text.len() <= 16 {
            let single = f32_token(window(&bytes, 0).unwrap(), text.len());
            assert_eq!(single.map(f32::to_bits), text.parse().ok().map(f32::to_bits), "{text}");
        }
        let double = f64_token(&bytes, 0, text.len()).unwrap();
        assert_eq!(double.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
    }

    #[test]
    fn numbers_read_as_the_standard_library_reads_them() {
        for text in [
            "0",
            "-0",
            "7",
            "10",
            "1234567",
            "12345678",
            "123456789",
            "1234567.8",
            "12345678.",
            "123456789012345678901234567890",
            "0.5",
            "-22.076928",
            "0.000001",
            "0.0000001",
            "0.00000001",
            "16777217",
            "16777219",
            "1e5",
            "1.5E-3",
            "-1e-45",
            "9007199254740993",
            ".5",
            "5.",
            "-.5",
            ".00000001",
            "0.1234567",
            "0.12345678",
            "8388608.5",
            "8388609.5",
            "1.00000005960464477539",
        ] {
            check(text);
        }
    }

    #[test]
    fn tokens_that_are_no_finite_number_are_refused() {
        for text in [
            "x", "NULL", "nan", "inf", "-inf", "-", "--1", "+", "1e39", "-9e99", ".", "-.",
            "1.2.3", "1,5", "0x10", "1-2", "12a", "1:2",
        ] {
            let bytes = padded(text);
            assert_eq!(f32_token(window(&bytes, 0).unwrap(), text.len()), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn any_short_decimal_is_rounded_correctly(
            whole in 0u32..20_000_000, decimals in 0usize..10, fraction in any::<u64>(), minus: bool,
        ) {
            let sign = if minus { "-" } else { "" };
            let fraction = format!("{fraction:020}");
            let text = match decimals {
                0 => format!("{sign}{whole}"),
                n => format!("{sign}{whole}.{}", &fraction[..n]),
            };
            check(&text);
        }

        #[test]
        fn any_float_reads_back(value in any::<f32>().prop_filter("finite", |v| v.is_finite())) {
            check(&format!("{value}"));
            check(&format!("{value:e}"));
        }

        #[test]
        fn the_vector_compare_equals_its_reference_implementation(bytes: Window) {
            prop_assert_eq!(token_length(&bytes), token_length_reference(&bytes));
        }

        /// Short tokens of digits and points, right and wrong, against the standard library.
        #[test]
        fn short_tokens_are_read_or_refused_as_by_the_standard_library(text in "-?[0-9.]{1,10}") {
            let found = f64_token(&padded(&text), 0, text.len());
            prop_assert_eq!(found.map(f64::to_bits), text.parse::<f64>().ok().map(f64::to_bits));
        }
    }
}
