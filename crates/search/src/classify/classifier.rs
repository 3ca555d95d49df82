//! A classifier by its spec, such as `rocchio(distance=euclidean)` or `knn(k=20)`.

use std::fmt;

use rankwright_spec::{Spec, SpecError, check_params, params, write_spec};

use super::{ClassifyError, Decision, Distance, Knn, Rocchio, SparseVector};
use crate::params::read_params;

params! {
    /// Parameters of Rocchio's classifier.
    pub struct RocchioParams {
        distance: Distance = Distance::Cosine, .., "Distance to the centroid of a class.";
    }
}

params! {
    /// Parameters of the k nearest neighbours.
    pub struct KnnParams {
        k: u32 = 20, 1.., "Number of nearest neighbours that vote.";
        distance: Distance = Distance::Cosine, .., "Distance to a neighbour.";
    }
}

/// A classifier before training.
///
/// ```
/// use rankwright_search::classify::{Classifier, KnnParams};
///
/// let classifier = Classifier::parse("knn(k=5)")?;
/// assert_eq!(classifier, Classifier::Knn(KnnParams::default().k(5_u32)));
/// assert_eq!(classifier.to_string(), "knn(k=5)");
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Classifier {
    /// The class whose centroid is nearest.
    Rocchio(RocchioParams),
    /// The class of most of the nearest documents.
    Knn(KnnParams),
}

impl Default for Classifier {
    fn default() -> Self {
        Self::Rocchio(RocchioParams::default())
    }
}

impl Classifier {
    /// Reads a spec, such as `knn(k=5)`.
    pub fn parse(text: &str) -> Result<Classifier, SpecError> {
        let spec = Spec::parse(text)?;
        match spec.name.as_str() {
            "rocchio" => read_params(&spec).map(Self::Rocchio),
            "knn" => read_params(&spec).map(Self::Knn),
            other => Err(SpecError::unknown("classifier", other, &["rocchio", "knn"])),
        }
    }

    /// Checks the ranges of the parameters.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Rocchio(params) => check_params(params, "rocchio"),
            Self::Knn(params) => check_params(params, "knn"),
        }
    }

    /// Trains on labelled documents; `classes` has the class of each document.
    pub(super) fn fit(
        &self,
        vectors: &[SparseVector],
        classes: &[&str],
    ) -> Result<FittedClassifier, ClassifyError> {
        Ok(match *self {
            Self::Rocchio(RocchioParams { distance }) => {
                FittedClassifier::Rocchio(Rocchio::fit(vectors, classes, distance)?)
            }
            Self::Knn(KnnParams { k, distance }) => {
                FittedClassifier::Knn(Knn::fit(vectors, classes, k as usize, distance)?)
            }
        })
    }
}

impl fmt::Display for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rocchio(params) => write_spec("rocchio", params).fmt(f),
            Self::Knn(params) => write_spec("knn", params).fmt(f),
        }
    }
}

/// A trained classifier.
pub(super) enum FittedClassifier {
    Rocchio(Rocchio),
    Knn(Knn),
}

impl FittedClassifier {
    pub(super) fn classify(&self, vector: &SparseVector) -> Decision<'_> {
        match self {
            Self::Rocchio(rocchio) => rocchio.classify(vector),
            Self::Knn(knn) => knn.classify(vector),
        }
    }
}
