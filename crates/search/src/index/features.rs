//! The features that an index can compute: those of the crate, and those that a program adds.

use rankwright_spec::{Spec, SpecError};

use super::Index;
use crate::error::SearchError;
use crate::features::{FEATURES, FeatureDef};

impl Index {
    /// The same with one feature more, which a program defines. It is computed wherever this index
    /// is used: for training data, in a ranker, and in the default set if it belongs there.
    ///
    /// A model trained with it needs an index with it; a ranker on another index refuses the model.
    /// Refused are names of features that the index has already, and names that are no spec.
    pub fn with_feature(mut self, def: &'static FeatureDef) -> Result<Index, SearchError> {
        let spec = Spec::parse(def.name)?;
        if spec != Spec::new(def.name) || def.name == "default" {
            return Err(SearchError::NoFeatureName { name: def.name });
        }
        if self.features().any(|known| known.name == def.name) {
            return Err(SearchError::FeatureTaken { name: def.name });
        }
        self.own_features.push(def);
        Ok(self)
    }

    /// Every feature that can be computed: those of [`FEATURES`], then those that were added.
    pub fn features(&self) -> impl Iterator<Item = &'static FeatureDef> {
        FEATURES.iter().chain(&self.own_features).copied()
    }

    /// The definition of a feature by its name.
    pub(crate) fn feature(&self, name: &str) -> Result<&'static FeatureDef, SpecError> {
        self.features().find(|def| def.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.features().map(|def| def.name).collect();
            SpecError::unknown("feature", name, &known)
        })
    }
}
