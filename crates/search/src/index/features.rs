//! The features that an index can compute: those of the crate, and custom ones.

use rankwright_spec::{Spec, SpecError};

use super::Index;
use crate::error::SearchError;
use crate::features::{FEATURES, FeatureDef};

impl Index {
    /// Adds a custom feature. It is computed wherever this index is used: for training data, in a
    /// ranker, and in the default set if its definition says so.
    ///
    /// A model trained with it needs an index with it; a ranker on another index rejects the model.
    /// Names of existing features, and names that are not valid in specs, are errors.
    pub fn with_feature(mut self, def: &'static FeatureDef) -> Result<Index, SearchError> {
        let spec = Spec::parse(def.name)?;
        if spec != Spec::new(def.name) || def.name == "default" {
            return Err(SearchError::InvalidFeatureName { name: def.name });
        }
        if self.features().any(|known| known.name == def.name) {
            return Err(SearchError::FeatureTaken { name: def.name });
        }
        self.custom_features.push(def);
        Ok(self)
    }

    /// All features that can be computed: those of [`FEATURES`], then custom ones.
    pub fn features(&self) -> impl Iterator<Item = &'static FeatureDef> {
        FEATURES.iter().chain(&self.custom_features).copied()
    }

    /// The definition of a feature by its name.
    pub(crate) fn feature(&self, name: &str) -> Result<&'static FeatureDef, SpecError> {
        self.features().find(|def| def.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.features().map(|def| def.name).collect();
            SpecError::unknown("feature", name, &known)
        })
    }
}
