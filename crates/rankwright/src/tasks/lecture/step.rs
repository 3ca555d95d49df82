//! One step of a worked example: a computed value beside that of the slide.

use serde::Serialize;

/// A step of a worked example.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LectureStep {
    /// The quantity, with its formula where it is short.
    pub text: String,
    /// The computed value.
    pub value: StepValue,
    /// The value as the slide prints it; `None` if it prints none.
    pub slide: Option<String>,
    /// Whether the computed value, rounded to the digits of the slide, is that of the slide; `None`
    /// if it prints none.
    pub agrees: Option<bool>,
    /// The reason for a difference, or a remark; may be empty.
    pub note: String,
    /// Number of decimals to show.
    #[serde(skip)]
    decimals: usize,
}

/// The value of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum StepValue {
    /// A number.
    Number(f64),
    /// A word, such as a class.
    Text(String),
}

impl LectureStep {
    /// A step with a number.
    pub(super) fn number(text: impl Into<String>, value: f64) -> Self {
        Self::new(text.into(), StepValue::Number(value))
    }

    /// A step with a count.
    pub(super) fn count(text: impl Into<String>, value: usize) -> Self {
        Self::number(text, value as f64).decimals(0)
    }

    /// A step with a word.
    pub(super) fn text(text: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(text.into(), StepValue::Text(value.into()))
    }

    fn new(text: String, value: StepValue) -> Self {
        let note = String::new();
        LectureStep { text, value, slide: None, agrees: None, note, decimals: 4 }
    }

    /// Sets the value as the slide prints it.
    pub(super) fn slide(mut self, slide: &str) -> Self {
        self.agrees = Some(agrees(&self.value, slide));
        self.slide = Some(slide.to_owned());
        self
    }

    /// Sets the reason for a difference, or a remark.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Sets the number of decimals to show.
    pub(super) fn decimals(mut self, decimals: usize) -> Self {
        self.decimals = decimals;
        self
    }

    /// The computed value as text.
    pub fn value_text(&self) -> String {
        match &self.value {
            StepValue::Text(text) => text.clone(),
            StepValue::Number(value) => {
                let text = format!("{value:.*}", self.decimals);
                // A number that is rounded to 0 has no sign.
                let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
                if is_zero { text.trim_start_matches('-').to_owned() } else { text }
            }
        }
    }
}

/// Whether a value, rounded to the digits of a slide, is the value of the slide.
fn agrees(value: &StepValue, slide: &str) -> bool {
    match value {
        StepValue::Text(text) => text == slide,
        StepValue::Number(value) => {
            let decimals = slide.rsplit_once('.').map_or(0, |(_, digits)| digits.len());
            let half = 0.5 * 10f64.powi(-(decimals as i32));
            // A value in the middle of two numbers may be rounded either way.
            let is_near = |printed: f64| (printed - value).abs() <= half * (1.0 + 1e-9);
            printed_number(slide).is_some_and(is_near)
        }
    }
}

/// The number of a slide, which may be written as the sum or the difference of two.
fn printed_number(slide: &str) -> Option<f64> {
    let number = |text: &str| text.parse::<f64>().ok();
    match slide.split(' ').collect::<Vec<_>>()[..] {
        [one] => number(one),
        [one, "+", other] => Some(number(one)? + number(other)?),
        [one, "-", other] => Some(number(one)? - number(other)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_agrees_with_a_slide_that_rounds_it() {
        let found = |value: f64, slide: &str| LectureStep::number("x", value).slide(slide).agrees;
        assert_eq!(found(1.4485, "1.45"), Some(true));
        assert_eq!(found(0.94998, "0.94"), Some(false));
        assert_eq!(found(-1.0261, "-1.027"), Some(false));
        assert_eq!(found(13.0, "13"), Some(true));
        assert_eq!(found(1.2083, "1.444 - 0.236"), Some(true));
        assert_eq!(found(3.7903, "3.625 + 0.166"), Some(false));
        assert_eq!(LectureStep::text("x", "history").slide("history").agrees, Some(true));
        assert_eq!(LectureStep::number("x", 1.0).agrees, None);
    }

    #[test]
    fn values_are_rounded_and_zero_has_no_sign() {
        assert_eq!(LectureStep::number("x", -1e-9).value_text(), "0.0000");
        assert_eq!(LectureStep::number("x", -0.25).value_text(), "-0.2500");
        assert_eq!(LectureStep::count("x", 13).value_text(), "13");
    }
}
