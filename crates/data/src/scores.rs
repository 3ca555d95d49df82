//! Score files: one number per line, in the row order of the data they belong to.

use std::path::Path;

use crate::bytes::Input;
use crate::error::{DataError, SourceLocation, quote};
use crate::store::write_atomic;

/// Reads scores. NaN is an error that names the line; infinite scores are allowed. Blank lines are
/// allowed only at the end, since elsewhere a score would be missing.
///
/// ```
/// use rankwright_data::{bytes::Input, read_scores};
/// let input = Input::from_bytes("s", b"1.5\n-2e-3\n".to_vec())?;
/// assert_eq!(read_scores(&input)?, [1.5, -0.002]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_scores(input: &Input) -> Result<Vec<f64>, DataError> {
    let text = input.bytes.trim_ascii_end();
    if text.is_empty() {
        return Err(DataError::Empty { file: input.name.clone(), what: "scores" });
    }
    text.split(|&b| b == b'\n')
        .enumerate()
        .map(|(index, line)| {
            let word = line.trim_ascii();
            let value = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
            value.filter(|value| !value.is_nan()).ok_or_else(|| {
                let location = SourceLocation::line(&input.name, index as u64 + 1);
                let error =
                    DataError::malformed(location, quote(word), "one number per line, not NaN");
                match index {
                    0 => error.with_help(
                        "scores are one number per line, or a table (CSV, TSV, JSON lines, Parquet \
                         or Arrow) with the columns `qid,docid,score` or `qid,row,score`",
                    ),
                    _ => error,
                }
            })
        })
        .collect()
}

/// Writes scores atomically; each reads back to the same float.
pub fn write_scores(path: impl AsRef<Path>, scores: &[f64]) -> Result<(), DataError> {
    write_atomic(path, |out| scores.iter().try_for_each(|score| writeln!(out, "{score}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(text: &str) -> Result<Vec<f64>, DataError> {
        read_scores(&Input::from_bytes("s", text.as_bytes().to_vec())?)
    }

    #[test]
    fn an_error_names_the_line_that_is_not_a_number() {
        assert_eq!(scores("1\r\n-inf \n\n").unwrap(), [1.0, f64::NEG_INFINITY]);
        let error = scores("1\nNaN\n").unwrap_err().to_string();
        assert_eq!(error, "s:2: found 'NaN', expected one number per line, not NaN");
        assert!(scores("1\n\n2\n").unwrap_err().to_string().starts_with("s:2: found nothing"));
        assert!(scores("1 2\n").is_err() && scores("\n").is_err());
    }

    #[test]
    fn written_scores_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let values = [0.1 + 0.2, -0.0, 1e-320, f64::MAX, f64::INFINITY];
        write_scores(&path, &values).unwrap();
        let back = read_scores(&Input::open(&path).unwrap()).unwrap();
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&values));
    }
}
