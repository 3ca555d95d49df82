//! Clicks that are corrected for position bias: what an objective sees in place of the data's own
//! labels and weights.

/// The corrections of all rows; the default is no correction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CorrectedClicks {
    /// Labels in place of those of the data.
    pub(crate) labels: Option<Vec<f64>>,
    /// Document weights in place of those of the data.
    pub(crate) row_weights: Option<Vec<f32>>,
    /// Weights of clicks; see [`crate::objective::ClickWeights`].
    pub(crate) weights: Option<RowClickWeights>,
}

/// The weights of clicks of all rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RowClickWeights {
    /// As the better document of a pair, or as the target of a list.
    pub(crate) better: Vec<f64>,
    /// As the worse document of a pair.
    pub(crate) worse: Vec<f64>,
}
