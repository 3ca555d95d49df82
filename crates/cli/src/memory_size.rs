//! Sizes of memory as they are typed: `512M`, `8G`, `1.5GiB`, or a number of bytes.

/// A number of bytes; K, M, G and T are powers of 1,024.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_uppercase();
    let unit = unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit);
    let shift = ["", "K", "M", "G", "T"].iter().position(|known| *known == unit);
    let bytes = shift.zip(number.parse::<f64>().ok());
    let bytes = bytes.map(|(shift, number)| number * (1u64 << (10 * shift)) as f64);
    match bytes.filter(|bytes| (1.0..=2f64.powi(63)).contains(bytes)) {
        Some(bytes) => Ok(bytes as u64),
        None => Err("a size such as 512M, 8G or a number of bytes is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_usual_units() {
        for (text, bytes) in [
            ("1000", 1000),
            ("2K", 2048),
            ("512m", 512 << 20),
            ("1.5GiB", 3 << 29),
            ("1 TB", 1 << 40),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "-1", "0", "1X", "1e3", "99999999T", "1..5G"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
