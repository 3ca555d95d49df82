//! The position bias that a training corrected the clicks of its data for.
//!
//! The numbers are a record for the reader of a model: scores never depend on them, because the
//! position at which a document will be shown is not known when it is scored.

use rankwright_spec::words::counted;
use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::problem::HeaderProblem;

/// Maximum number of positions: it bounds the memory that a model file can use.
pub const MAX_POSITIONS: usize = 10_000;
/// Maximum number of columns, for the same reason; the corrections here have one or two.
const MAX_COLUMNS: usize = 16;

/// The position bias of a training: one or more numbers for each position.
///
/// ```
/// use rankwright_model::{BiasColumn, BiasFactors};
///
/// let terms = BiasColumn::new("term", vec![0.4, -0.1, -0.3]);
/// let bias = BiasFactors::new("gam", vec![1, 2, 3], vec![terms]);
/// assert_eq!(bias.column("term"), Some(&[0.4, -0.1, -0.3][..]));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BiasFactors {
    /// The correction, as the learner's parameter `bias` names it.
    pub kind: String,
    /// The positions of the training data, ascending.
    pub positions: Vec<u32>,
    /// The numbers of the positions.
    pub columns: Vec<BiasColumn>,
    /// The smallest examination (how likely a position is looked at) that was used: smaller ones
    /// were raised to it. `None` if they were used as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
}

/// One number for each position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BiasColumn {
    /// The name of the number, which depends on the correction: `examination` is how likely the
    /// position is looked at, `term` what training added to the scores at the position.
    pub name: String,
    /// The numbers, in the order of the positions.
    pub values: Vec<f64>,
}

impl BiasColumn {
    /// A named column.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values }
    }
}

impl BiasFactors {
    /// The bias of these positions, not clipped.
    pub fn new(kind: impl Into<String>, positions: Vec<u32>, columns: Vec<BiasColumn>) -> Self {
        Self { kind: kind.into(), positions, columns, clip: None }
    }

    /// Sets the smallest examination that was used; see the field `clip`.
    #[must_use]
    pub fn clip(mut self, clip: Option<f64>) -> Self {
        self.clip = clip;
        self
    }

    /// The numbers of a column; `None` if there is none of this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let column = self.columns.iter().find(|column| column.name == name);
        column.map(|column| column.values.as_slice())
    }

    /// The correction in words: `gam, 10 positions`, with the clip if there is one.
    pub fn describe(&self) -> String {
        let positions = counted(self.positions.len(), "position");
        match self.clip {
            None => format!("{}, {positions}", self.kind),
            Some(clip) => format!("{}, {positions}, clipped at {clip}", self.kind),
        }
    }

    /// The meaning of the columns, in words; `None` for a correction that is not known here.
    pub fn meaning(&self) -> Option<&'static str> {
        Some(match self.kind.as_str() {
            "gam" => "term: what training added to the score of a document at this position",
            "pairwise" => {
                "the loss of a pair was divided by the factor of its clicked document and by that \
                 of the other"
            }
            "ips" => "a click was divided by the examination of its position",
            "dr" => {
                "labels are doubly robust estimates of relevance by the examination of positions"
            }
            _ => return None,
        })
    }

    /// Checks that positions ascend, and that every column has a finite number for each.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        for (item, found, most) in [
            ("position", self.positions.len(), MAX_POSITIONS),
            ("column of position bias", self.columns.len(), MAX_COLUMNS),
        ] {
            if found > most {
                return Err(ModelError::TooMany { item, found, most });
            }
        }
        let ascends = self.positions.is_sorted_by(|a, b| a < b);
        let fits = |column: &BiasColumn| column.values.len() == self.positions.len();
        let is_finite = |value: &f64| value.is_finite();
        let mut numbers = self.columns.iter().flat_map(|column| &column.values).chain(&self.clip);
        match ascends && self.columns.iter().all(fits) && numbers.all(is_finite) {
            true => Ok(()),
            false => Err(ModelError::InvalidHeader(HeaderProblem::PositionBias)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_has_one_finite_number_in_each_column() {
        let bias = |positions: &[u32], values: &[f64]| {
            let column = BiasColumn::new("term", values.to_vec());
            BiasFactors::new("gam", positions.to_vec(), vec![column]).check()
        };
        assert!(bias(&[1, 2], &[0.5, -0.5]).is_ok() && bias(&[], &[]).is_ok());
        assert!(bias(&[2, 1], &[0.5, 0.5]).is_err() && bias(&[1, 1], &[0.5, 0.5]).is_err());
        assert!(bias(&[1, 2], &[0.5]).is_err() && bias(&[1], &[f64::NAN]).is_err());
        let many: Vec<u32> = (0..=MAX_POSITIONS as u32).collect();
        let error = bias(&many, &vec![0.0; many.len()]).unwrap_err().to_string();
        assert!(error.contains("position"), "{error}");
    }

    #[test]
    fn the_clip_is_in_the_description() {
        let bias = BiasFactors::new("ips", vec![1], vec![]);
        assert_eq!(bias.describe(), "ips, 1 position");
        assert_eq!(bias.clip(Some(0.05)).describe(), "ips, 1 position, clipped at 0.05");
    }
}
