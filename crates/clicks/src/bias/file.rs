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
    let line_of = |line: Option<usize>| {
        let index = line.map_or(0, |line| line - 1);
        let found = input.bytes.split(|byte| *byte == b'\n').nth(index).unwrap_or_default();
        quote(found.trim_ascii())
    };
    let Ok(text) = std::str::from_utf8(&input.bytes) else {
        let location = SourceLocation::file(&input.name);
        return Err(DataError::malformed(location, line_of(None), "UTF-8 text"));
    };
    match ExaminationFile::parse(text) {
        Ok(file) => Ok(file.examination),
        Err(problem) => Err(malformed(&input.name, &problem, line_of(problem.line()))),
    }
}

/// Checks examination in memory, a value for each rank from 1 on, as that of a file.
pub fn check_examination(values: &[Option<f64>]) -> Result<(), DataError> {
    match ExaminationFile::of_values(values.iter().copied()) {
        Ok(_) => Ok(()),
        Err(problem) => {
            let found = format!("{} ranks", values.len());
            Err(malformed("the examination of ranks", &problem, found))
        }
    }
}

/// The error of a problem, at its line or its rank. `content` is what was found where the problem
/// names no value.
fn malformed(name: &str, problem: &BiasFileProblem, content: String) -> DataError {
    let file = || SourceLocation::file(name);
    let line = |line: usize| SourceLocation::line(name, line as u64);
    let (location, found, expected) = match problem {
        BiasFileProblem::Json { message } => {
            let expected = format!(
                "JSON with a list `examination`, or with a list `estimates` of such objects ({message})"
            );
            (file(), content, expected)
        }
        BiasFileProblem::NoEstimate => {
            (file(), content, "an estimate with a value for a rank beyond 1".to_owned())
        }
        BiasFileProblem::Line { line: at, .. } => {
            (line(*at), content, "a rank from 1 on and its examination".to_owned())
        }
        BiasFileProblem::Repeated { line: at, position } => {
            (line(*at), format!("rank {position} again"), "each rank once".to_owned())
        }
        BiasFileProblem::Noise { position, value } => {
            let expected = "click noise, a probability from 0 to 1".to_owned();
            (file(), format!("{value} at rank {position}"), expected)
        }
        BiasFileProblem::Value { position, value } => {
            let expected = "a finite examination of at least 0".to_owned();
            (file(), format!("{value} at rank {position}"), expected)
        }
        BiasFileProblem::TooLong { most } => (file(), content, format!("at most {most} ranks")),
        _ => (file(), content, "the examination of a rank, above 0".to_owned()),
    };
    DataError::malformed(location, found, expected)
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
        for (text, part) in [
            ("1 1\n0 0.5\n", "bias:2: "),
            ("1 1\n2\n", "bias:2: "),
            ("1 1\n1 0.5\n", "bias:2: "),
            ("1 1\n2 x\n", "bias:2: "),
            ("1 1\n99999999999 0.5", "bias: "),
            ("1 1\n2 -1\n", "at rank 2, expected a finite examination"),
            ("1 nan\n", "at rank 1, expected a finite examination"),
            ("", "expected the examination of a rank"),
            ("1 0\n", "expected the examination of a rank"),
            ("{\"examination\": [1, -2]}", "found -2 at rank 2, "),
            ("{\"examination\": [1], \"click_noise\": [2]}", "at rank 1, expected click noise"),
            ("{}", "expected JSON with a list `examination`"),
            (r#"{"estimates": [{"examination": [null, null]}]}"#, "bias: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with("bias:") && error.contains(part), "{text}: {error}");
        }
        assert!(check_examination(&[Some(1.0), None, Some(0.2)]).is_ok());
        for values in [vec![], vec![Some(1.0), Some(-0.5)], vec![None, Some(0.0)]] {
            let error = check_examination(&values).unwrap_err().to_string();
            assert!(error.starts_with("the examination of ranks: "), "{error}");
        }
    }
}
