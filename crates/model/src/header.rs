//! The header of a model: its features, and its origin.
//!
//! Everything here depends only on data, spec and seed, so that the same training gives the same
//! bytes; times, dates and machines are recorded elsewhere.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rankwright_data::{Absent, FeatureNames, TableColumns};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::bias_factors::BiasFactors;
use crate::error::ModelError;
use crate::problem::HeaderProblem;

/// Maximum number of named features. It bounds the memory that a file can take, as a name needs
/// more memory than its bytes in the file.
pub(crate) const MAX_NAMES: usize = 1 << 17;
/// Maximum number of notes, for the same reason.
pub(crate) const MAX_NOTES: usize = 1 << 12;

/// The name of the note that [`Header::number_from`] writes: the number of the first feature.
const FIRST_FEATURE: &str = "first_feature";

/// The header of a model.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::Header;
///
/// let mut header = Header::new(FeatureNames::Ids { first: 1, count: 136 }, Absent::Zero);
/// header.learner = "lambdamart(trees=100)".into();
/// assert_eq!(header.feature_hash(), header.clone().feature_hash());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The features, in the order of their numbers in trees and weights.
    pub features: FeatureNames,
    /// The value of a feature that a sparse row leaves out.
    pub absent: Absent,
    /// The learner that made the model, as a canonical spec.
    pub learner: String,
    /// The objective that training minimised.
    pub objective: String,
    /// The metric that training reported.
    pub metric: String,
    /// The conventions of that metric: how ties, unjudged documents and so on are treated.
    pub conventions: String,
    /// The seed of the training.
    pub seed: u64,
    /// Queries in the training data.
    pub queries: u64,
    /// Rows in the training data.
    pub rows: u64,
    /// The feature set that the features of the training data were computed with, as canonical TOML
    /// text: text analysis, first stage, number of candidates. `None` for features of unknown
    /// origin. This crate keeps the text and does not parse it.
    pub feature_set: Option<String>,
    /// The columns of the table that the training data was read from: their roles, and the texts of
    /// categories. `None` if the data is from no table, or if the names of its columns imply their
    /// roles and all features are numbers.
    pub table_columns: Option<Arc<TableColumns>>,
    /// The position bias that the clicks of the training data were corrected for; `None` if they
    /// were not corrected.
    pub position_bias: Option<BiasFactors>,
    /// Other facts about the model, by name. The note `from` is the system that trained a model
    /// read from another system's file.
    pub notes: BTreeMap<String, String>,
}

impl Header {
    /// The text of a feature's value, if the feature is a category and the model knows the texts.
    pub fn category_text(&self, feature: usize, value: f32) -> Option<&str> {
        let columns = self.table_columns.as_deref()?;
        let texts = columns.categories(&self.features.name(feature))?;
        let is_number = value >= 0.0 && value.fract() == 0.0;
        texts.get(value as usize).filter(|_| is_number).map(String::as_str)
    }

    /// A header with these features; all other fields are empty or 0.
    pub fn new(features: FeatureNames, absent: Absent) -> Header {
        Header {
            features,
            absent,
            learner: String::new(),
            objective: String::new(),
            metric: String::new(),
            conventions: String::new(),
            seed: 0,
            queries: 0,
            rows: 0,
            feature_set: None,
            table_columns: None,
            position_bias: None,
            notes: BTreeMap::new(),
        }
    }

    /// Numbers the features from `first`, which must be 0 or 1; returns false, without a change, if
    /// the features have names. A note records the number, so that the features are matched with
    /// data by these numbers even if the model is of another system that counted them from 0.
    ///
    /// ```
    /// use rankwright_data::{Absent, FeatureNames};
    /// use rankwright_model::Header;
    ///
    /// let mut header = Header::new(FeatureNames::Ids { first: 0, count: 3 }, Absent::Zero);
    /// assert!(header.number_from(1));
    /// assert_eq!(header.features.name(0), "1");
    /// ```
    pub fn number_from(&mut self, first: u32) -> bool {
        let FeatureNames::Ids { count, .. } = self.features else { return false };
        self.features = FeatureNames::Ids { first, count };
        self.notes.insert(FIRST_FEATURE.into(), first.to_string());
        true
    }

    /// The other system that trained the model, if that system counted the unnamed features from 0
    /// and [`number_from`](Header::number_from) has not confirmed their numbers.
    pub(crate) fn counted_from_zero(&self) -> Option<&str> {
        let system = self.notes.get("from")?;
        let is_counted = matches!(self.features, FeatureNames::Ids { first: 0, .. });
        (is_counted && !self.notes.contains_key(FIRST_FEATURE)).then_some(system)
    }

    /// A hash of the features: the xxh3-64 of the names, or of the range of ids.
    pub fn feature_hash(&self) -> u64 {
        match &self.features {
            FeatureNames::Ids { first, count } => {
                xxh3_64(format!("ids {first} {count}").as_bytes())
            }
            FeatureNames::Named(names) => {
                let mut hash = Xxh3::new();
                for name in names {
                    // With its length, so that "ab", "c" differs from "a", "bc".
                    hash.update(&(name.len() as u64).to_le_bytes());
                    hash.update(name.as_bytes());
                }
                hash.digest()
            }
        }
    }

    /// Checks that feature names differ, that ids are in range, that position bias has a number for
    /// each position, and that there are not too many names or notes.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        self.position_bias.as_ref().map_or(Ok(()), BiasFactors::check)?;
        if self.notes.len() > MAX_NOTES {
            let (found, most) = (self.notes.len(), MAX_NOTES);
            return Err(ModelError::TooMany { item: "note", found, most });
        }
        match &self.features {
            FeatureNames::Ids { first, count } => {
                let end = u64::from(*first).checked_add(*count as u64);
                match end.is_some_and(|end| end <= u64::from(u32::MAX)) && *first <= 1 {
                    true => Ok(()),
                    false => {
                        let (first, count) = (*first, *count);
                        Err(ModelError::InvalidHeader(HeaderProblem::FeatureIds { first, count }))
                    }
                }
            }
            FeatureNames::Named(names) => {
                if names.len() > MAX_NAMES {
                    let (found, most) = (names.len(), MAX_NAMES);
                    return Err(ModelError::TooMany { item: "named feature", found, most });
                }
                let mut seen = HashSet::with_capacity(names.len());
                match names.iter().find(|name| !seen.insert(name.as_str())) {
                    None => Ok(()),
                    Some(name) => {
                        let name = name.clone();
                        Err(ModelError::InvalidHeader(HeaderProblem::DuplicateFeature { name }))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Header {
        let names = names.iter().map(|name| name.to_string()).collect();
        Header::new(FeatureNames::Named(names), Absent::Zero)
    }

    #[test]
    fn the_hash_tells_feature_sets_apart() {
        let ids = |first, count| Header::new(FeatureNames::Ids { first, count }, Absent::Zero);
        let all =
            [named(&["ab", "c"]), named(&["a", "bc"]), named(&["c", "ab"]), ids(1, 2), ids(0, 2)];
        let hashes: HashSet<u64> = all.iter().map(Header::feature_hash).collect();
        assert_eq!(hashes.len(), all.len());
        assert_eq!(ids(1, 2).feature_hash(), ids(1, 2).feature_hash());
    }

    #[test]
    fn features_that_cannot_be_told_apart_are_refused() {
        let error = named(&["a", "b", "a"]).check().unwrap_err().to_string();
        assert!(error.starts_with("two features are named 'a'"), "{error}");
        for (first, count) in [(1, usize::MAX), (2, 1), (1, u32::MAX as usize)] {
            let header = Header::new(FeatureNames::Ids { first, count }, Absent::Zero);
            assert!(header.check().is_err(), "{count} from {first}");
        }
        assert!(named(&["a", "b"]).check().is_ok() && named(&[]).check().is_ok());
    }
}
