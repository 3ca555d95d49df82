//! Gains: the value of a label at rank 1.
//!
//! `exp` is 2^label - 1, `linear` is the label itself, and a table such as `0/1/3/7/15` has a gain
//! for each label from 0 on. Negative labels gain 0. With `exp`, a label above 1000, for which sums
//! of 2^label could overflow, is an error; so is a label that a table does not have.

use rankwright_spec::{ParamKind, ParamValue, RangeDef, ValueError};

use crate::error::{EvalError, LabelLimit};

/// The conversion of labels to gains.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Gain {
    /// 2^label - 1.
    Exp,
    /// The label.
    Linear,
    /// A gain for each label 0, 1, 2, ...
    Table(GainTable),
}

/// Gains of the labels 0, 1, 2, ...: two or more numbers that are not negative and do not decrease.
///
/// With a decreasing table, a ranking could have a higher DCG than the one sorted by label, and so
/// an NDCG above 1.
#[derive(Debug, Clone, PartialEq)]
pub struct GainTable(Vec<f64>);

impl GainTable {
    /// The table; `None` if the numbers are not as the type requires.
    pub fn new(gains: Vec<f64>) -> Option<Self> {
        let legal = gains.iter().all(|g| g.is_finite() && *g >= 0.0)
            && gains.windows(2).all(|w| w[0] <= w[1]);
        (legal && gains.len() > 1).then_some(Self(gains))
    }

    /// Reads `0/1/3/7`; `None` if the text is no legal table.
    fn read(text: &str) -> Option<Self> {
        let gains: Option<Vec<f64>> = text.split('/').map(|g| g.trim().parse().ok()).collect();
        Self::new(gains?)
    }
}

/// The largest label of `exp`: 2^1000 times any number of documents is still finite.
const MAX_EXP_LABEL: f64 = 1000.0;

impl ParamValue for Gain {
    fn kind() -> ParamKind {
        let table = ParamKind::List { of: Box::new(ParamKind::Number) };
        let linear = ParamKind::Either { word: "linear", or: Box::new(table) };
        ParamKind::Either { word: "exp", or: Box::new(linear) }
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        const EXPECTED: &str =
            "exp | linear | numbers of 0 or more that do not decrease, such as 0/1/3/7";
        match text {
            "exp" => Ok(Gain::Exp),
            "linear" => Ok(Gain::Linear),
            table => match GainTable::read(table) {
                Some(table) => Ok(Gain::Table(table)),
                None => Err(ValueError::Expected(EXPECTED.to_owned())),
            },
        }
    }

    fn write(&self) -> String {
        match self {
            Gain::Exp => "exp".to_owned(),
            Gain::Linear => "linear".to_owned(),
            Gain::Table(GainTable(gains)) => {
                gains.iter().map(f64::to_string).collect::<Vec<_>>().join("/")
            }
        }
    }
}

impl Gain {
    /// The gain of a label.
    #[inline]
    pub fn of(&self, label: f64) -> Result<f64, EvalError> {
        if label <= 0.0 && !matches!(self, Gain::Table(_)) {
            return Ok(0.0);
        }
        match self {
            Gain::Linear => Ok(label),
            Gain::Exp => {
                // For whole labels up to 62 a shift gives the same number, and is much cheaper than
                // a power.
                let grade = label as u64;
                if grade as f64 == label && grade <= 62 {
                    return Ok(((1_u64 << grade) - 1) as f64);
                }
                if label > MAX_EXP_LABEL {
                    return Err(EvalError::LabelTooLarge {
                        metric: "gain=exp",
                        found: label,
                        max: MAX_EXP_LABEL,
                        limit: LabelLimit::ExpGain,
                    });
                }
                Ok(label.exp2() - 1.0)
            }
            Gain::Table(GainTable(gains)) => {
                if label < 0.0 {
                    return Ok(0.0);
                }
                let grade = label as usize;
                match gains.get(grade) {
                    Some(gain) if grade as f64 == label => Ok(*gain),
                    _ => Err(EvalError::NoGain { found: label, max: gains.len() - 1 }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_documented_gains() {
        let table = Gain::Table(GainTable::read("0/1/3.5").unwrap());
        for (label, exp, linear) in [(-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (4.0, 15.0, 4.0)] {
            assert_eq!(Gain::Exp.of(label), Ok(exp));
            assert_eq!(Gain::Linear.of(label), Ok(linear));
        }
        assert!((Gain::Exp.of(0.5).unwrap() - (2_f64.sqrt() - 1.0)).abs() < 1e-15);
        // 62 is the last label whose gain comes from a shift; that of 63 is a power.
        assert_eq!(Gain::Exp.of(62.0), Ok(62_f64.exp2() - 1.0));
        assert_eq!(Gain::Exp.of(63.0), Ok(63_f64.exp2() - 1.0));
        assert_eq!(table.of(2.0), Ok(3.5));
        assert_eq!(table.of(-3.0), Ok(0.0));
        assert_eq!(table.write(), "0/1/3.5");
    }

    #[test]
    fn impossible_labels_are_errors_with_a_remedy() {
        let large = Gain::Exp.of(1001.0).unwrap_err();
        assert!(large.to_string().contains("the scale ends at 1000"), "{large}");
        assert!(large.help().unwrap().contains("gain=linear"), "{large:?}");
        assert!(Gain::Exp.of(1000.0).unwrap().is_finite());
        let table = Gain::Table(GainTable::read("0/1").unwrap());
        assert_eq!(table.of(2.0), Err(EvalError::NoGain { found: 2.0, max: 1 }));
        assert_eq!(table.of(0.5), Err(EvalError::NoGain { found: 0.5, max: 1 }));
        for bad in ["", "1", "0/x", "3/1", "-1/0", "0/inf", "0/"] {
            assert_eq!(GainTable::read(bad), None, "{bad}");
        }
    }
}
