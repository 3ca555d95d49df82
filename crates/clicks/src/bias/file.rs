//! A file with the examination of each rank; [`ExaminationFile`] has its forms.

use rankwright_data::bytes::Input;
use rankwright_data::{BiasFileProblem, DataError, ExaminationFile, SourceLocation, quote};

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
    let malformed = |line: Option<usize>, expected: &str| {
        let index = line.map_or(0, |line| line - 1);
        let found = input.bytes.split(|byte| *byte == b'\n').nth(index).unwrap_or_default();
        let line = line.map(|line| line as u64);
        let location = SourceLocation { file: input.name.clone(), line, column: None, field: None };
        DataError::malformed(location, quote(found.trim_ascii()), expected)
    };
    let text = std::str::from_utf8(&input.bytes).map_err(|_| malformed(None, "UTF-8 text"))?;
    match ExaminationFile::parse(text) {
        Ok(file) => Ok(file.examination),
        Err(problem) => Err(malformed(problem.line(), expected_by(&problem))),
    }
}

/// The form that a file with this problem should have had.
fn expected_by(problem: &BiasFileProblem) -> &'static str {
    match problem {
        BiasFileProblem::Json { .. } => "JSON with a list `examination`, or a list `estimates`",
        BiasFileProblem::NoEstimate => "an estimate with a value beyond rank 1",
        BiasFileProblem::Line { .. } => "a rank from 1 on and its examination",
        BiasFileProblem::Repeated { .. } => "each rank once",
        BiasFileProblem::TooLong { .. } => "at most a million ranks",
        _ => "examinations of 0 or more, at least one above 0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bias::BiasEstimator;

    fn read(text: &str) -> Result<Vec<Option<f64>>, String> {
        let input = Input::raw("bias", text.as_bytes().to_vec());
        read_examination(&input).map_err(|error| error.to_string())
    }

    #[test]
    fn estimates_of_json_and_lines_of_text_are_read() {
        let one = r#"{"examination": [1, null, 0.5]}"#;
        assert_eq!(read(one).unwrap(), [Some(1.0), None, Some(0.5)]);
        // The parser uses estimates of this name, which are not corrected for relevance, only if
        // there are no others.
        assert_eq!(BiasEstimator::ClickRate.name(), "click-rate");
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
            ("1 1\n99999999999 0.5", "bias: "),
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
