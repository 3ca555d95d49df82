//! Names of the columns of a feature matrix.

use std::borrow::Cow;
use std::collections::HashSet;

/// Feature names: numbers that count up (LETOR text), or free names (tables).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureNames {
    /// Feature ids `first`, `first + 1`, ...
    Ids {
        /// Id of the first column: 0 or 1.
        first: u32,
        /// Number of columns.
        count: usize,
    },
    /// A name for each column.
    Named(Vec<String>),
}

impl FeatureNames {
    /// Makes feature names from texts. If they are exactly 0, 1, 2, ... or 1, 2, 3, ..., they
    /// become ids, so that a LETOR file stays the same after a conversion to a table and back.
    pub fn from_names(names: Vec<String>) -> Self {
        let counts_from = |first: u32| {
            names.iter().enumerate().all(|(i, name)| *name == (first as usize + i).to_string())
        };
        match () {
            () if names.is_empty() || counts_from(1) => {
                FeatureNames::Ids { first: 1, count: names.len() }
            }
            () if counts_from(0) => FeatureNames::Ids { first: 0, count: names.len() },
            () => FeatureNames::Named(names),
        }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        match self {
            FeatureNames::Ids { count, .. } => *count,
            FeatureNames::Named(names) => names.len(),
        }
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a column.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn name(&self, column: usize) -> Cow<'_, str> {
        assert!(column < self.len(), "column {column} of {}", self.len());
        match self {
            FeatureNames::Ids { first, .. } => Cow::Owned((*first as usize + column).to_string()),
            FeatureNames::Named(names) => Cow::Borrowed(&names[column]),
        }
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        match self {
            FeatureNames::Ids { first, count } => {
                let id: usize = name.parse().ok()?;
                // `01` and `+1` are other names.
                if id.to_string() != name {
                    return None;
                }
                id.checked_sub(*first as usize).filter(|column| column < count)
            }
            FeatureNames::Named(names) => names.iter().position(|n| n == name),
        }
    }

    /// The first name that an earlier feature already has.
    pub fn duplicate(&self) -> Option<&str> {
        let FeatureNames::Named(names) = self else { return None };
        let mut seen = HashSet::with_capacity(names.len());
        names.iter().map(String::as_str).find(|name| !seen.insert(*name))
    }

    /// All names in column order.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|column| self.name(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_consecutive_numbers_become_ids() {
        let names = |list: &[&str]| list.iter().map(|s| s.to_string()).collect();
        assert_eq!(
            FeatureNames::from_names(names(&["1", "2"])),
            FeatureNames::Ids { first: 1, count: 2 }
        );
        assert_eq!(
            FeatureNames::from_names(names(&["0", "1"])),
            FeatureNames::Ids { first: 0, count: 2 }
        );
        let named = FeatureNames::from_names(names(&["bm25", "1"]));
        assert_eq!(named.column("1"), Some(1));
        assert_eq!(named.name(0), "bm25");
        let ids = FeatureNames::Ids { first: 1, count: 3 };
        assert_eq!((ids.column("0"), ids.column("3"), ids.column("4")), (None, Some(2), None));
        for other in ["01", "+1", " 1", "1.0", ""] {
            assert_eq!(ids.column(other), None, "{other:?}");
        }
    }
}
