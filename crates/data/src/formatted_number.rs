//! Numbers as people write them: with a decimal comma, a currency sign or thousands separators.
//! `1,234` may mean 1.234 or 1234, so such a cell is not read as a number, except in files whose
//! columns are separated by semicolons (`format::csv::separators`). The functions here tell these
//! numbers from other texts, so that an error can name the problem.

/// Whether a text is a number with a decimal comma, such as `0,5`.
///
/// ```
/// assert!(rankwright_data::is_decimal_comma("-0,5"));
/// assert!(!rankwright_data::is_decimal_comma("1,2,3"));
/// ```
pub fn is_decimal_comma(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    unsigned.split_once(',').is_some_and(|(whole, rest)| is_digits(whole) && is_digits(rest))
}

/// Whether a text is a number with a currency sign, the letters of a currency or a percent sign, or
/// with thousands separators: `€12`, `12.50 EUR`, `7 %`, `1,234.50`, `1.234,50`.
///
/// ```
/// assert!(rankwright_data::is_formatted_number("1,234.50"));
/// assert!(!rankwright_data::is_formatted_number("1234.50"));
/// ```
pub fn is_formatted_number(text: &str) -> bool {
    const SIGNS: [char; 6] = ['€', '$', '£', '¥', '₹', '%'];
    let is_currency = |word: &str| word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase());
    let text = text.trim_start_matches(['-', '+']);
    let mut bare = text.trim_start_matches(SIGNS).trim_end_matches(SIGNS).trim();
    let words = bare.split_once(' ');
    if let Some((number, _)) = words.filter(|(_, word)| is_currency(word)) {
        bare = number;
    } else if let Some((_, number)) = words.filter(|(word, _)| is_currency(word)) {
        bare = number;
    }
    let has_sign = bare.len() < text.len();
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = |whole: &str, separator: char| {
        let mut groups = whole.split(separator);
        let first = groups.next().is_some_and(|group| is_digits(group) && group.len() <= 3);
        first && groups.clone().next().is_some() && groups.all(|g| is_digits(g) && g.len() == 3)
    };
    [(',', '.'), ('.', ','), (' ', ','), (' ', '.')].iter().any(|(thousands, point)| {
        let (whole, fraction) = match bare.split_once(*point) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (bare, None),
        };
        let is_fraction = fraction.is_none_or(is_digits);
        is_fraction && (is_grouped(whole, *thousands) || (has_sign && is_digits(whole)))
    })
}

/// Whether a number with one point may be thousands with a separator, such as `1.250`: one to three
/// digits, the first not 0, then the point and three digits.
pub(crate) fn may_be_thousands(number: &[u8]) -> bool {
    let unsigned = number.strip_prefix(b"-").unwrap_or(number);
    let Some(point) = unsigned.iter().position(|byte| *byte == b'.') else { return false };
    let (whole, rest) = unsigned.split_at(point);
    let mut digits = whole.iter().chain(rest.iter().skip(1));
    (1..=3).contains(&whole.len())
        && rest.len() == 4
        && !whole.starts_with(b"0")
        && digits.all(u8::is_ascii_digit)
}

/// A text with points in place of commas, and commas in place of points.
pub(crate) fn exchange_commas_and_points(text: &[u8]) -> Vec<u8> {
    let exchange = |byte: &u8| match byte {
        b',' => b'.',
        b'.' => b',',
        other => *other,
    };
    text.iter().map(exchange).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_may_be_thousands() {
        for text in ["1.250", "12.400", "-999.000"] {
            assert!(may_be_thousands(text.as_bytes()), "{text}");
        }
        for text in ["1250", "0.250", "1.25", "1.2500", "1234.500", ".250", "1.2e3", "1.2.3", ""] {
            assert!(!may_be_thousands(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn texts_that_only_contain_digits_are_no_formatted_numbers() {
        for text in ["€12", "-€12", "12.50 EUR", "USD 7", "7 %", "1,234,567", "1.234,50", "1 234"]
        {
            assert!(is_formatted_number(text), "{text}");
        }
        for text in ["EUR", "€", "1,23,4", "1.2.3", "12 pieces", "a 7", "1,", "12-7", "12", ""] {
            assert!(!is_formatted_number(text), "{text}");
        }
    }
}
