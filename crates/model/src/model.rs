//! A model: a header and something that scores rows.

use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::linear::Linear;

/// What scores the rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A sum of trees.
    Trees(Ensemble),
    /// A weight for each feature.
    Linear(Linear),
}

impl Kind {
    /// The name used in files and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Trees(_) => "trees",
            Kind::Linear(_) => "linear",
        }
    }
}

/// A checked model.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Header, Kind, Linear, Model};
///
/// let names = FeatureNames::Named(vec!["bm25".into(), "pagerank".into()]);
/// let line = Linear::from_weights(&names, 0.0, &[("pagerank".into(), 2.0)])?;
/// let model = Model::new(Header::new(names, Absent::Zero), Kind::Linear(line))?;
/// assert_eq!(model.score_row(&[7.0, 1.5]), 3.0);
/// let bytes = model.to_bytes();
/// assert_eq!(Model::from_bytes(&bytes)?, model);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    header: Header,
    kind: Kind,
}

impl Model {
    /// Puts a header and a scorer together; features must be in range.
    pub fn new(header: Header, kind: Kind) -> Result<Model, ModelError> {
        header.check()?;
        let known = header.features.len();
        match &kind {
            Kind::Trees(trees) if trees.features() > known => Err(ModelError::invalid(
                format!("a tree that asks for feature number {}", trees.features() - 1),
                format!("numbers below {known}, the number of features in the header"),
            )),
            Kind::Linear(line) if line.weights().len() != known => Err(ModelError::invalid(
                format!("{} weights", line.weights().len()),
                format!("{known}, one for each feature in the header"),
            )),
            _ => Ok(Model { header, kind }),
        }
    }

    /// What the model knows about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What scores the rows.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The header and the scorer, to be changed and put together again.
    pub fn into_parts(self) -> (Header, Kind) {
        (self.header, self.kind)
    }

    /// The score of a row whose values stand in the order of the header's features: the slow and
    /// plain way, and the reference for every other. A feature beyond the end of the row is
    /// missing.
    pub fn score_row(&self, row: &[f32]) -> f64 {
        match &self.kind {
            Kind::Trees(trees) => trees.score_row(row),
            Kind::Linear(line) => line.score_row(row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::small;
    use rankwright_data::{Absent, FeatureNames};

    #[test]
    fn features_must_be_in_the_header() {
        let header = |count| Header::new(FeatureNames::Ids { first: 1, count }, Absent::Zero);
        let trees = || Kind::Trees(Ensemble::new(0.0, vec![small()]).unwrap());
        assert!(Model::new(header(2), trees()).is_ok());
        let error = Model::new(header(1), trees()).unwrap_err().to_string();
        assert_eq!(
            error,
            "a tree that asks for feature number 1; expected numbers below 1, the number of features in the header"
        );
        let line = |n| Kind::Linear(Linear::new(0.0, vec![1.0; n]).unwrap());
        assert!(Model::new(header(3), line(3)).is_ok());
        assert!(Model::new(header(3), line(2)).is_err() && Model::new(header(3), line(4)).is_err());
    }
}
