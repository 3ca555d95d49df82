//! Queries that are held out of the training data where a report has no validation data.

use rankwright_data::Dataset;
use rankwright_report::ReportWarning;
use rankwright_report::training::NamedData;

use crate::ExperimentError;

/// The fraction of the queries that is held out.
const HELD_OUT_FRACTION: f64 = 0.2;

/// Training data that was split into training and validation parts.
pub(crate) struct HeldOut {
    train: Dataset,
    valid: Dataset,
    /// The names of both parts.
    names: [String; 2],
}

/// Holds out a fifth of the queries, drawn by the seed.
pub(crate) fn hold_out(data: &NamedData<'_>, seed: u64) -> Result<HeldOut, ExperimentError> {
    let (train, valid) = data.data.hold_out(HELD_OUT_FRACTION, seed)?;
    let names = ["four fifths of", "a held-out fifth of"];
    Ok(HeldOut { train, valid, names: names.map(|part| format!("{part} {}", data.name)) })
}

impl HeldOut {
    /// The training part.
    pub(crate) fn train(&self) -> NamedData<'_> {
        NamedData { name: &self.names[0], data: &self.train }
    }

    /// The validation part.
    pub(crate) fn valid(&self) -> NamedData<'_> {
        NamedData { name: &self.names[1], data: &self.valid }
    }

    /// The warning that queries were held out.
    pub(crate) fn warning(&self) -> ReportWarning {
        let queries = self.valid.queries();
        ReportWarning::HeldOut { queries, of: queries + self.train.queries() }
    }
}
