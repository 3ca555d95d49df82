//! A file with the examination of positions, for `bias=ips` and `bias=dr`.
//!
//! Two forms are read:
//!
//! - JSON: an object with the list `examination`, by position from 1 on, and perhaps the list
//!   `click_noise`; or an object with a list `estimates` of such objects, which an estimation of
//!   position bias writes. Of several estimates, the first is used, but not one by `click-rate`,
//!   which corrects nothing, if there is another. `null` is a position without an estimate.
//! - Text: a line for each position with the position, its examination and perhaps its click noise,
//!   separated by white space. Empty lines, lines that begin with `#`, and a first line that begins
//!   with a word are skipped.

use rankwright_model::MAX_POSITIONS;
use rankwright_spec::{ParamValue, Slashed, SpecError};
use serde::Deserialize;

use super::BiasCorrection;
use crate::learner::LearnerSpec;

/// The examination of positions, as a file has it.
///
/// ```
/// use rankwright_learn::{BiasFile, LearnerSpec};
///
/// let file = BiasFile::parse("position examination\n1 1\n2 0.6\n3 0.4\n")?;
/// let learner = file.set(&LearnerSpec::parse("lambdamart(bias=ips)")?)?;
/// assert_eq!(learner.to_string(), "lambdamart(bias=ips, examination=1/0.6/0.4)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BiasFile {
    /// The estimator that the file names; `None` if it names none.
    pub estimator: Option<String>,
    /// The examination of the positions from 1 on; 0 if it is not known.
    pub examination: Vec<f64>,
    /// The probability of a click on a document that is not relevant, by position; empty if the
    /// file has none.
    pub click_noise: Vec<f64>,
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
    /// The file has no examination of any position.
    #[error("it has no examination of any position")]
    Empty,
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
    /// An examination that is no probability or ratio, or click noise that is no probability.
    #[error("position {position} has {value}; expected a finite number of at least 0")]
    Value {
        /// The position.
        position: usize,
        /// The value.
        value: String,
    },
    /// More positions than a model keeps.
    #[error("it has more than {most} positions")]
    TooLong {
        /// The largest number of positions.
        most: usize,
    },
}

/// One estimate in JSON. Fields that say more about it are not needed here.
#[derive(Deserialize)]
struct EstimateJson {
    estimator: Option<String>,
    examination: Vec<Option<f64>>,
    #[serde(default)]
    click_noise: Vec<Option<f64>>,
}

/// The JSON forms of a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum BiasJson {
    Several { estimates: Vec<EstimateJson> },
    One(EstimateJson),
}

/// The name of the estimator that corrects nothing.
const UNCORRECTED: &str = "click-rate";

impl BiasFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, BiasFileProblem> {
        let file = match text.trim_start().starts_with('{') {
            true => Self::of_json(text)?,
            false => Self::of_lines(text)?,
        };
        for (values, largest) in [(&file.examination, f64::MAX), (&file.click_noise, 1.0)] {
            let wrong = values.iter().position(|value| !(0.0..=largest).contains(value));
            if let Some(index) = wrong {
                let (position, value) = (index + 1, values[index].to_string());
                return Err(BiasFileProblem::Value { position, value });
            }
        }
        match file.examination.iter().any(|value| *value > 0.0) {
            true if file.examination.len() <= MAX_POSITIONS => Ok(file),
            true => Err(BiasFileProblem::TooLong { most: MAX_POSITIONS }),
            false => Err(BiasFileProblem::Empty),
        }
    }

    fn of_json(text: &str) -> Result<Self, BiasFileProblem> {
        let json: BiasJson = serde_json::from_str(text)
            .map_err(|error| BiasFileProblem::Json { message: error.to_string() })?;
        let estimates = match json {
            BiasJson::Several { estimates } => estimates,
            BiasJson::One(estimate) => vec![estimate],
        };
        let is_corrected =
            |estimate: &EstimateJson| estimate.estimator.as_deref() != Some(UNCORRECTED);
        let chosen = estimates.iter().position(is_corrected).unwrap_or(0);
        let chosen = estimates.into_iter().nth(chosen).ok_or(BiasFileProblem::Empty)?;
        let known =
            |values: Vec<Option<f64>>| values.into_iter().map(|v| v.unwrap_or(0.0)).collect();
        Ok(Self {
            estimator: chosen.estimator,
            examination: known(chosen.examination),
            click_noise: known(chosen.click_noise),
        })
    }

    fn of_lines(text: &str) -> Result<Self, BiasFileProblem> {
        let mut file = Self { estimator: None, examination: Vec::new(), click_noise: Vec::new() };
        let mut seen = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            let is_heading = number == 0 && line.starts_with(char::is_alphabetic);
            if line.is_empty() || line.starts_with('#') || is_heading {
                continue;
            }
            let wrong = || BiasFileProblem::Line { line: number + 1, text: line.to_owned() };
            let words: Vec<&str> = line.split_whitespace().collect();
            let (position, values) = words.split_first().ok_or_else(wrong)?;
            let position: usize = position.parse().map_err(|_| wrong())?;
            let values: Result<Vec<f64>, _> = values.iter().map(|word| word.parse()).collect();
            let values = values.map_err(|_| wrong())?;
            if position == 0 || !(1..=2).contains(&values.len()) {
                return Err(wrong());
            }
            if position > MAX_POSITIONS {
                return Err(BiasFileProblem::TooLong { most: MAX_POSITIONS });
            }
            if seen.contains(&position) {
                return Err(BiasFileProblem::Repeated { line: number + 1, position });
            }
            seen.push(position);
            for (list, value) in
                [&mut file.examination, &mut file.click_noise].into_iter().zip(values)
            {
                list.resize(list.len().max(position), 0.0);
                list[position - 1] = value;
            }
        }
        Ok(file)
    }

    /// The learner with the examination of this file; click noise is for `bias=dr` alone. An error
    /// if the learner takes no examination.
    pub fn set(&self, learner: &LearnerSpec) -> Result<LearnerSpec, SpecError> {
        let list = |values: &[f64]| Slashed(values.to_vec()).write();
        let set = learner.with_parameter("examination", list(&self.examination))?;
        let takes_noise = learner.parameter("bias").as_deref() == Some(BiasCorrection::Dr.name());
        match self.click_noise.is_empty() || !takes_noise {
            true => Ok(set),
            false => set.with_parameter("click_noise", list(&self.click_noise)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_examination_by_position() {
        let text = BiasFile::parse("position\texamination\n# a page\n3\t0.4\n1\t1\n").unwrap();
        assert_eq!(text.examination, [1.0, 0.0, 0.4]);
        let json = r#"{"estimates":[{"estimator":"click-rate","examination":[1,0.9,0.8]},
            {"estimator":"em","examination":[1,null,0.4],"ci95":[null,null,[0.3,0.5]]}],"seconds":1}"#;
        let json = BiasFile::parse(json).unwrap();
        assert_eq!((json.examination, json.estimator.as_deref()), (text.examination, Some("em")));
        let noise = BiasFile::parse("1 1 0.2\n2 0.5 0.1").unwrap();
        assert_eq!(noise.click_noise, [0.2, 0.1]);
        assert_eq!(
            noise,
            BiasFile::parse(r#"{"examination":[1,0.5],"click_noise":[0.2,0.1]}"#).unwrap()
        );
    }

    #[test]
    fn other_texts_are_refused_with_their_place() {
        for (text, part) in [
            ("", "no examination"),
            ("1 0\n", "no examination"),
            ("1 1\n2 x\n", "line 2"),
            ("0 1\n", "line 1"),
            ("1\n", "line 1"),
            ("1 1 0.1 0.2\n", "line 1"),
            ("1 1\n1 0.5\n", "position 1 again"),
            ("1 -1\n", "position 1 has -1"),
            ("1 1 2\n", "position 1 has 2"),
            ("1 inf\n", "position 1"),
            ("1 1\n99999999 0.5\n", "more than"),
            ("{}", "no JSON"),
            ("{\"estimates\":[]}", "no examination"),
            ("{\"examination\":[\"a\"]}", "no JSON"),
        ] {
            let error = BiasFile::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_learner_without_an_examination_refuses_the_file() {
        let file = BiasFile::parse("1 1\n2 0.5 0.1\n").unwrap();
        let set = |text: &str| file.set(&LearnerSpec::parse(text).unwrap());
        let dr = set("mart(bias=dr)").unwrap();
        assert_eq!(dr.to_string(), "mart(bias=dr, examination=1/0.5, click_noise=0/0.1)");
        assert!(set("lambdamart(bias=gam)").unwrap_err().to_string().contains("bias=ips or dr"));
        assert!(set("adarank").is_err());
    }
}
