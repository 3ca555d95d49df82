//! An objective as the value of a parameter: `boosting(objective=huber(alpha=0.8))`.

use rankwright_spec::{
    IntoParam, ParamKind, ParamValue, RangeDef, Spec, SpecError, TextValue, ValueError,
};

use super::def::{ParsedObjective, read_objective};

/// The text of an objective, so that builder methods take `"huber(alpha=0.8)"`; they also take the
/// parameters of an objective.
///
/// ```
/// use rankwright_learn::objective::HuberParams;
/// use rankwright_learn::prelude::*;
///
/// let learner = Boosting::new().objective(HuberParams::default().alpha(0.8));
/// assert_eq!(LearnerSpec::new(learner)?.to_string(), "boosting(objective=huber(alpha=0.8))");
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
///
/// A text from a spec is checked when it is read; one from a builder method is checked with the
/// other parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectiveText(String);

impl ObjectiveText {
    /// The text of an objective, not checked yet.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The objective with its declaration and its spec in canonical form.
    pub(crate) fn parsed(&self) -> Result<ParsedObjective, SpecError> {
        read_objective(&Spec::parse(&self.0)?)
    }
}

impl ParamValue for ObjectiveText {
    fn kind() -> ParamKind {
        ParamKind::Spec { of: "objective" }
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        let parsed = Self::new(text).parsed()?;
        Ok(Self(parsed.spec.to_string()))
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn check(&self) -> Result<(), ValueError> {
        self.parsed()?;
        Ok(())
    }
}

impl TextValue for ObjectiveText {
    fn from_text(text: &str) -> Self {
        Self::new(text)
    }
}

impl IntoParam<ObjectiveText> for String {
    fn into_param(self) -> ObjectiveText {
        ObjectiveText(self)
    }
}
