//! A learner as the value of a parameter: `bagging(learner=lambdamart(trees=50))`.

use rankwright_spec::{IntoParam, ParamKind, ParamValue, RangeDef, TextValue, ValueError};

use super::LearnerSpec;
use crate::error::LearnError;

/// The text of a learner, so that builder methods take `"lambdamart(trees=50)"`; they also take a
/// learner that a program built, or a [`LearnerSpec`].
///
/// ```
/// use rankwright_learn::prelude::*;
///
/// let bags = Bagging::new().learner(LambdaMart::new().trees(50).leaves(7)).bags(5);
/// let spec = LearnerSpec::new(bags)?;
/// assert_eq!(spec.to_string(), "bagging(learner=lambdamart(trees=50, leaves=7), bags=5)");
/// let parsed = LearnerSpec::parse("mart(trees=20)")?;
/// assert!(LearnerSpec::new(Bagging::new().learner(parsed)).is_ok());
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnerText(String);

impl LearnerText {
    /// A text that is not checked yet.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ParamValue for LearnerText {
    fn kind() -> ParamKind {
        ParamKind::Spec { of: "learner" }
    }

    /// The text in canonical form; the learner that has the parameter (such as bagging) checks
    /// whether this learner is suitable.
    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        match LearnerSpec::parse(text) {
            Ok(learner) => Ok(Self(learner.to_string())),
            Err(LearnError::Spec(error)) => Err(ValueError::Spec(error)),
            Err(error) => Err(ValueError::Expected(error.to_string())),
        }
    }

    fn write(&self) -> String {
        self.0.clone()
    }
}

impl TextValue for LearnerText {
    fn from_text(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<LearnerSpec> for LearnerText {
    fn from(learner: LearnerSpec) -> Self {
        Self(learner.to_string())
    }
}

impl IntoParam<LearnerText> for LearnerSpec {
    fn into_param(self) -> LearnerText {
        self.into()
    }
}
