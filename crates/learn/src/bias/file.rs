//! A file with the examination of positions, for `bias=ips` and `bias=dr`; its forms are described
//! in `examination_file.rs` of the crate `rankwright_data`.

use rankwright_data::{BiasFileProblem, ExaminationFile};
use rankwright_model::MAX_POSITIONS;
use rankwright_spec::{ParamValue, Slashed, SpecError};

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

impl BiasFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, BiasFileProblem> {
        let file = ExaminationFile::parse(text)?;
        if file.examination.len() > MAX_POSITIONS {
            return Err(BiasFileProblem::TooLong { most: MAX_POSITIONS });
        }
        let known =
            |values: Vec<Option<f64>>| values.into_iter().map(|v| v.unwrap_or(0.0)).collect();
        Ok(Self {
            estimator: file.estimator,
            examination: known(file.examination),
            click_noise: known(file.click_noise),
        })
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
    fn text_and_json_give_the_examination_by_position() {
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
            ("1 1 2\n", "position 1 has the click noise 2"),
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
