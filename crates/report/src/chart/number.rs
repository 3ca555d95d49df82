//! Formats numbers for people: a few significant digits, no trailing zeros.

/// Up to five significant digits, but every digit before the decimal point; scientific notation
/// where a number is very large or very small; `-` for a value that is not finite.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", trimmed(digits));
    }
    let exponent = size.log10().floor() as i32;
    let decimals = (4 - exponent).clamp(0, 8) as usize;
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

/// Three significant digits from 0.001 to 1000, for narrow columns; otherwise as [`short`].
pub(crate) fn brief(value: f64) -> String {
    let size = value.abs();
    match value.is_finite() && (1e-3..1e3).contains(&size) {
        true => {
            let decimals = (2.0 - size.log10().floor()).clamp(0.0, 5.0) as usize;
            trimmed(&format!("{value:.decimals$}")).to_owned()
        }
        false => short(value),
    }
}

/// The number with as many decimals as a tick step of this size needs.
pub(crate) fn by_step(value: f64, step: f64) -> String {
    let largest = value.abs().max(step.abs());
    if largest >= 1e7 || (step > 0.0 && step < 1e-5) {
        return short(value);
    }
    // 1e-9 allows for rounding errors of the logarithm.
    let decimals = if step > 0.0 { (-(step.log10() + 1e-9).floor()).clamp(0.0, 6.0) } else { 0.0 };
    let text = format!("{value:.0$}", decimals as usize);
    // A number that is rounded to 0 has no sign.
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

/// The text without zeros at the end of its decimals.
fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_five_digits_at_most() {
        let cases = [
            (0.0, "0"),
            (0.421349, "0.42135"),
            (-0.5, "-0.5"),
            (12.0, "12"),
            (1234.5678, "1234.6"),
            (123456.0, "123456"),
            (0.00001, "1e-5"),
            (2.5e9, "2.5e9"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn brief_numbers_have_three_digits() {
        let found = [0.98999, -0.0123456, 123.456, 0.0, 5000.0].map(brief);
        assert_eq!(found, ["0.99", "-0.0123", "123", "0", "5000"]);
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!(by_step(0.1 + 0.2, 0.1), "0.3");
        assert_eq!(by_step(0.25, 0.05), "0.25");
        assert_eq!(by_step(-0.0000001, 0.5), "0.0");
        assert_eq!(by_step(20.0, 10.0), "20");
        assert_eq!(by_step(3e7, 1e7), "3e7");
    }
}
