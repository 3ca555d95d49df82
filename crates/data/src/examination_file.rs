//! A file with the examination of ranks: the probability, relative to rank 1, that a user looks at
//! the document at a rank. Messages call the rank its position.
//!
//! Two forms are read:
//!
//! - JSON: an object with the list `examination`, by rank from 1 on, and perhaps the list
//!   `click_noise`; or an object with a list `estimates` of such objects, which an estimation of
//!   position bias writes. Of several estimates, the first is used that has a value for a rank
//!   beyond 1, or that has only rank 1. An estimate by `click-rate`, which corrects nothing, is
//!   used only if there is no other. `null` is a rank without an estimate.
//! - Text: a line for each rank with the rank, its examination and perhaps its click noise,
//!   separated by white space or commas. Text after `#`, empty lines, and a first line that begins
//!   with a word are skipped. A rank without a line has no examination.

use serde::Deserialize;

/// Largest rank that a file may name.
const MAX_RANK: usize = 1_000_000;

/// The name of the estimator that corrects nothing.
const UNCORRECTED: &str = "click-rate";

/// The examination of ranks, as a file has it.
///
/// ```
/// use rankwright_data::ExaminationFile;
///
/// let file = ExaminationFile::parse("rank examination\n1 1\n3 0.25 # few clicks\n")?;
/// assert_eq!(file.examination, [Some(1.0), None, Some(0.25)]);
/// # Ok::<(), rankwright_data::BiasFileProblem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ExaminationFile {
    /// The estimator that the file names; `None` if it names none.
    pub estimator: Option<String>,
    /// The examination of the ranks from 1 on; `None` if it is not known.
    pub examination: Vec<Option<f64>>,
    /// The probability of a click on an examined document that is not relevant, by rank; empty if
    /// the file has none.
    pub click_noise: Vec<Option<f64>>,
}

/// The reason why a file of position bias cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BiasFileProblem {
    /// The JSON text has another form.
    #[error("it is no JSON of position bias: {message}")]
    Json {
        /// The message of the JSON reader.
        message: String,
    },
    /// No position has an examination above 0.
    #[error("it has no examination of any position")]
    Empty,
    /// All estimates were refused: they have several positions, but no value beyond position 1.
    #[error("it has no estimate with a value beyond position 1")]
    NoEstimate,
    /// A line that is not a position with its examination.
    #[error("line {line} is no position with its examination: {text}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The text of the line.
        text: String,
    },
    /// A position in two lines.
    #[error("line {line} has position {position} again")]
    Repeated {
        /// The line, from 1.
        line: usize,
        /// The position.
        position: usize,
    },
    /// Click noise that is no probability.
    #[error("position {position} has the click noise {value}; expected a number from 0 to 1")]
    Noise {
        /// The position.
        position: usize,
        /// The value.
        value: String,
    },
    /// An examination that is no probability or ratio.
    #[error("position {position} has {value}; expected a finite number of at least 0")]
    Value {
        /// The position.
        position: usize,
        /// The value.
        value: String,
    },
    /// More positions than a file may have.
    #[error("it has more than {most} positions")]
    TooLong {
        /// The largest number of positions.
        most: usize,
    },
}

impl BiasFileProblem {
    /// The line of the problem, from 1, if it is in one.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Line { line, .. } | Self::Repeated { line, .. } => Some(*line),
            _ => None,
        }
    }
}

/// One estimate in JSON. Other fields of it are not read.
#[derive(Deserialize)]
struct EstimateJson {
    estimator: Option<String>,
    examination: Vec<Option<f64>>,
    #[serde(default)]
    click_noise: Vec<Option<f64>>,
}

impl EstimateJson {
    /// Whether the estimate has a value for a rank beyond 1, or has rank 1 only.
    fn is_usable(&self) -> bool {
        self.examination.len() == 1 || self.examination.iter().skip(1).any(Option::is_some)
    }

    fn is_uncorrected(&self) -> bool {
        self.estimator.as_deref() == Some(UNCORRECTED)
    }
}

/// The JSON forms of a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum BiasJson {
    Several { estimates: Vec<EstimateJson> },
    One(EstimateJson),
}

impl ExaminationFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, BiasFileProblem> {
        let file = match text.trim_start().starts_with('{') {
            true => Self::of_json(text)?,
            false => Self::of_lines(text)?,
        };
        file.check()?;
        Ok(file)
    }

    /// Examination in memory: a value for each rank from 1 on, or `None` where it is not known. The
    /// values are checked as those of a file.
    pub fn of_values(
        examination: impl IntoIterator<Item = Option<f64>>,
    ) -> Result<Self, BiasFileProblem> {
        let examination = examination.into_iter().collect();
        let file = Self { examination, ..Self::default() };
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), BiasFileProblem> {
        let file = self;
        // The first value of a list that is not from 0 to `largest`, with its position.
        let outside = |values: &[Option<f64>], largest: f64| {
            let mut positions = values.iter().zip(1..);
            positions.find_map(|(value, position)| {
                let value = value.filter(|value| !(0.0..=largest).contains(value))?;
                Some((position, value.to_string()))
            })
        };
        if let Some((position, value)) = outside(&file.examination, f64::MAX) {
            return Err(BiasFileProblem::Value { position, value });
        }
        if let Some((position, value)) = outside(&file.click_noise, 1.0) {
            return Err(BiasFileProblem::Noise { position, value });
        }
        match file.examination.iter().flatten().any(|value| *value > 0.0) {
            true if file.examination.len().max(file.click_noise.len()) <= MAX_RANK => Ok(()),
            true => Err(BiasFileProblem::TooLong { most: MAX_RANK }),
            false => Err(BiasFileProblem::Empty),
        }
    }

    fn of_json(text: &str) -> Result<Self, BiasFileProblem> {
        let json: BiasJson = serde_json::from_str(text)
            .map_err(|error| BiasFileProblem::Json { message: error.to_string() })?;
        let mut estimates = match json {
            BiasJson::Several { estimates } => estimates,
            BiasJson::One(estimate) => vec![estimate],
        };
        if estimates.is_empty() {
            return Err(BiasFileProblem::Empty);
        }
        estimates.retain(EstimateJson::is_usable);
        // A stable sort: click rates come last, the others keep their order.
        estimates.sort_by_key(EstimateJson::is_uncorrected);
        let chosen = estimates.into_iter().next().ok_or(BiasFileProblem::NoEstimate)?;
        let EstimateJson { estimator, examination, click_noise } = chosen;
        Ok(Self { estimator, examination, click_noise })
    }

    fn of_lines(text: &str) -> Result<Self, BiasFileProblem> {
        let mut file = Self::default();
        let mut is_first = true;
        for (line, full_text) in (1..).zip(text.lines()) {
            let content = full_text.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let is_heading =
                std::mem::take(&mut is_first) && content.starts_with(char::is_alphabetic);
            if is_heading {
                continue;
            }
            let wrong = || BiasFileProblem::Line { line, text: full_text.trim().to_owned() };
            let words = content.split(|c: char| c.is_whitespace() || c == ',');
            let mut words = words.filter(|word| !word.is_empty());
            let position: usize =
                words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
            let values: Result<Vec<f64>, _> = words.map(str::parse::<f64>).collect();
            let values = values.map_err(|_| wrong())?;
            if position == 0 || !(1..=2).contains(&values.len()) {
                return Err(wrong());
            }
            if position > MAX_RANK {
                return Err(BiasFileProblem::TooLong { most: MAX_RANK });
            }
            let lists = [&mut file.examination, &mut file.click_noise];
            for (list, value) in lists.into_iter().zip(values) {
                list.resize(list.len().max(position), None);
                let place = list.get_mut(position - 1);
                if place.and_then(|place| place.replace(value)).is_some() {
                    return Err(BiasFileProblem::Repeated { line, position });
                }
            }
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_estimate_that_was_not_refused_is_used() {
        let json = r#"{"estimates": [
            {"estimator": "click-rate", "examination": [1, 0.9]},
            {"estimator": "em", "examination": [1, null]},
            {"estimator": "regression-em", "examination": [1, 0.4], "ci95": [null, null]}]}"#;
        let file = ExaminationFile::parse(json).unwrap();
        assert_eq!(file.estimator.as_deref(), Some("regression-em"));
        assert_eq!(file.examination, [Some(1.0), Some(0.4)]);
        let rate = r#"{"estimates": [{"estimator": "em", "examination": [1, null]},
            {"estimator": "click-rate", "examination": [1, 0.9]}]}"#;
        assert_eq!(ExaminationFile::parse(rate).unwrap().estimator.as_deref(), Some("click-rate"));
        let refused = r#"{"estimates": [{"estimator": "em", "examination": [1, null]}]}"#;
        assert_eq!(ExaminationFile::parse(refused), Err(BiasFileProblem::NoEstimate));
    }

    #[test]
    fn click_noise_is_a_probability_of_a_possible_position() {
        let parse = |noise: &str| {
            ExaminationFile::parse(&format!("{{\"examination\": [1], \"click_noise\": [{noise}]}}"))
        };
        let error = parse("0.1, 1.5").unwrap_err().to_string();
        assert_eq!(error, "position 2 has the click noise 1.5; expected a number from 0 to 1");
        let many = vec!["null"; MAX_RANK + 1].join(",");
        assert_eq!(parse(&many), Err(BiasFileProblem::TooLong { most: MAX_RANK }));
    }

    #[test]
    fn lines_may_have_commas_remarks_a_heading_and_click_noise() {
        let text = "# by hand\nrank,examination,noise\n2,0.5,0.1\n\n1\t1 # first\n";
        let file = ExaminationFile::parse(text).unwrap();
        assert_eq!(file.examination, [Some(1.0), Some(0.5)]);
        assert_eq!(file.click_noise, [None, Some(0.1)]);
    }
}
