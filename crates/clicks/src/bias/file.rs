//! A file with the examination of each rank.
//!
//! Two forms are read: the JSON of an estimation of position bias (an object with a list
//! `examination`, or with a list `estimates` of such objects, of which the first that has a value
//! beyond rank 1 is taken, but click rates only if there is no other), and text, a line for each
//! rank with the rank, from 1, and its examination. Text after `#`, empty lines and a first line of
//! words are skipped. `null` and a rank without a line have no examination.

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};
use serde::Deserialize;

use super::BiasEstimator;

/// Largest rank that a file may name.
const MAX_RANK: usize = 1_000_000;

/// An estimate as JSON.
#[derive(Debug, Deserialize)]
struct RawEstimate {
    estimator: Option<String>,
    examination: Vec<Option<f64>>,
}

impl RawEstimate {
    fn is_usable(&self) -> bool {
        self.examination.len() == 1 || self.examination.iter().skip(1).any(Option::is_some)
    }

    fn is_click_rate(&self) -> bool {
        self.estimator.as_deref() == Some(BiasEstimator::ClickRate.name())
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum RawBias {
    Several { estimates: Vec<RawEstimate> },
    One(RawEstimate),
}

/// Reads the examination of each rank relative to rank 1 from a file.
///
/// ```
/// use rankwright_clicks::bias::read_examination;
/// use rankwright_data::bytes::Input;
///
/// let file = Input::raw("bias.txt", b"rank examination\n1 1\n3 0.25\n".to_vec());
/// assert_eq!(read_examination(&file)?, [Some(1.0), None, Some(0.25)]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_examination(input: &Input) -> Result<Vec<Option<f64>>, DataError> {
    let text = input.bytes.trim_ascii();
    let found = match text.first() {
        Some(b'{') => of_json(text, input)?,
        _ => of_lines(text, input)?,
    };
    let is_valid = |value: &f64| value.is_finite() && *value >= 0.0;
    match found.iter().flatten().all(is_valid) && found.iter().any(Option::is_some) {
        true => Ok(found),
        false => Err(malformed(input, None, text, "examinations of 0 or more, at least one")),
    }
}

fn malformed(input: &Input, line: Option<u64>, found: &[u8], expected: &str) -> DataError {
    let location = SourceLocation { file: input.name.clone(), line, column: None, field: None };
    let found = found.split(|byte| *byte == b'\n').next().unwrap_or_default();
    DataError::malformed(location, quote(found), expected)
}

fn of_json(text: &[u8], input: &Input) -> Result<Vec<Option<f64>>, DataError> {
    let raw: RawBias = serde_json::from_slice(text).map_err(|_| {
        malformed(input, None, text, "JSON with a list `examination`, or a list `estimates`")
    })?;
    let mut estimates = match raw {
        RawBias::One(one) => vec![one],
        RawBias::Several { estimates } => estimates,
    };
    estimates.retain(RawEstimate::is_usable);
    // A stable sort: click rates come last, the others keep their order.
    estimates.sort_by_key(RawEstimate::is_click_rate);
    let first = estimates.into_iter().next();
    first
        .map(|estimate| estimate.examination)
        .ok_or_else(|| malformed(input, None, text, "an estimate with a value beyond rank 1"))
}

fn of_lines(text: &[u8], input: &Input) -> Result<Vec<Option<f64>>, DataError> {
    let mut found: Vec<Option<f64>> = Vec::new();
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let content = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        let is_header = number == 1 && content.first().is_some_and(u8::is_ascii_alphabetic);
        if content.is_empty() || is_header {
            continue;
        }
        let fault = || malformed(input, Some(number), line, "a rank from 1 on and its examination");
        let content = std::str::from_utf8(content).map_err(|_| fault())?;
        let mut words = content.split(|c: char| c.is_whitespace() || c == ',');
        let mut words = std::iter::from_fn(|| words.by_ref().find(|word| !word.is_empty()));
        let rank = words.next().and_then(|word| word.parse::<usize>().ok());
        let rank = rank.filter(|rank| (1..=MAX_RANK).contains(rank)).ok_or_else(fault)?;
        let value = words.next().and_then(|word| word.parse::<f64>().ok()).ok_or_else(fault)?;
        if found.len() < rank {
            found.resize(rank, None);
        }
        if found[rank - 1].replace(value).is_some() {
            return Err(malformed(input, Some(number), line, "each rank once"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Option<f64>>, String> {
        let input = Input::raw("bias", text.as_bytes().to_vec());
        read_examination(&input).map_err(|error| error.to_string())
    }

    #[test]
    fn estimates_of_json_and_lines_of_text_are_read() {
        let one = r#"{"examination": [1, null, 0.5]}"#;
        assert_eq!(read(one).unwrap(), [Some(1.0), None, Some(0.5)]);
        let several = r#"{"estimates": [
            {"estimator": "click-rate", "examination": [1, 0.9]},
            {"estimator": "swap", "examination": [1, null]},
            {"estimator": "em", "examination": [1, 0.4], "ci95": [null, null]}]}"#;
        assert_eq!(read(several).unwrap(), [Some(1.0), Some(0.4)]);
        assert_eq!(read("# made by hand\n2,0.5\n1\t1 # first\n").unwrap(), [Some(1.0), Some(0.5)]);
    }

    #[test]
    fn other_texts_are_refused_with_their_line() {
        for (text, place) in [
            ("1 1\n0 0.5\n", "bias:2: "),
            ("1 1\n2\n", "bias:2: "),
            ("1 1\n1 0.5\n", "bias:2: "),
            ("1 1\n2 x\n", "bias:2: "),
            ("1 1\n99999999999 0.5", "bias:2: "),
            ("1 -1\n", "bias: "),
            ("1 nan\n", "bias: "),
            ("", "bias: "),
            ("{}", "bias: "),
            (r#"{"estimates": [{"examination": [null, null]}]}"#, "bias: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(place), "{text}: {error}");
        }
    }
}
