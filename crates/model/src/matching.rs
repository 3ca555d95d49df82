//! Which column of a data set is which feature of a model.
//!
//! - Where both have names, names are matched. A feature of the model that the data lacks is an
//!   error: a table has a column or it has not.
//! - Otherwise ids are matched. Names that are whole numbers are ids; where none is, the features
//!   are numbered from 1 in their order ([`Matching::by_position`] tells, so that it can be said
//!   aloud). Ids that a sparse file happens not to contain are absent values (0 or missing, as the model
//!   says), not a mismatch; but a table whose columns are only counted must have them all.
//! - Features that the model does not know are an error, unless they are to be ignored. Ignoring
//!   them is an error too where no feature would be left.
//!
//! A data set without columns (LETOR lines without features) meets every model matched by id.
//! Cost: one pass over the names; nothing as large as a range of ids is built.

use std::collections::{BTreeMap, HashMap, HashSet};

use rankwright_data::FeatureNames;

use crate::error::{ModelError, SHOWN, few};
use crate::header::Header;

/// Where to find a model's features in a data set.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Header, Matching};
///
/// let names = |list: &[&str]| FeatureNames::Named(list.iter().map(|n| n.to_string()).collect());
/// let model = Header::new(names(&["bm25", "pagerank"]), Absent::Zero);
/// let data = names(&["pagerank", "bm25", "clicks"]);
/// assert!(Matching::new(&model, &data, false).is_err());
/// let matching = Matching::new(&model, &data, true)?;
/// assert_eq!((matching.column(0), matching.column(1)), (Some(1), Some(0)));
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Matching {
    map: Map,
    features: usize,
    absent: f32,
    by_position: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Map {
    /// Feature `f` is column `f + shift`, where there is such a column.
    Shift { shift: i64, columns: usize },
    /// Feature to column.
    Table(BTreeMap<usize, usize>),
}

impl Matching {
    /// Matches the features of a model with those of a data set.
    pub fn new(
        model: &Header,
        data: &FeatureNames,
        ignore_extra: bool,
    ) -> Result<Matching, ModelError> {
        let features = &model.features;
        let map = match (features, data) {
            (FeatureNames::Named(needed), FeatureNames::Named(given)) => by_name(needed, given)?,
            (FeatureNames::Ids { first, .. }, FeatureNames::Ids { first: start, count }) => {
                Map::Shift { shift: i64::from(*first) - i64::from(*start), columns: *count }
            }
            (FeatureNames::Named(needed), FeatureNames::Ids { .. }) => {
                let id = Ids::of(needed);
                let found = needed.iter().enumerate().filter_map(|(feature, name)| {
                    Some((feature, data.column(&id.get(feature, name)?.to_string())?))
                });
                Map::Table(found.collect())
            }
            (FeatureNames::Ids { .. }, FeatureNames::Named(given)) => by_id(features, given)?,
        };
        let by_position = match (features, data) {
            (FeatureNames::Named(names), FeatureNames::Ids { .. })
            | (FeatureNames::Ids { .. }, FeatureNames::Named(names)) => {
                Ids::of(names) == Ids::Counted
            }
            _ => false,
        };
        let (features, absent) = (features.len(), model.absent.value());
        let matching = Matching { map, features, absent, by_position };
        matching.check_extra(model, data, ignore_extra)?;
        Ok(matching)
    }

    /// The model's own features as columns, in their order.
    pub(crate) fn own(model: &Header) -> Matching {
        let features = model.features.len();
        let map = Map::Shift { shift: 0, columns: features };
        Matching { map, features, absent: model.absent.value(), by_position: false }
    }

    /// The column of a feature; `None` where all its values are absent.
    pub fn column(&self, feature: usize) -> Option<usize> {
        match &self.map {
            Map::Shift { shift, columns } => {
                let column = i64::try_from(feature).ok()?.checked_add(*shift)?;
                let column = usize::try_from(column).ok()?;
                (feature < self.features && column < *columns).then_some(column)
            }
            Map::Table(table) => table.get(&feature).copied(),
        }
    }

    /// Whether names on one side were numbered to meet ids on the other, which is only right if
    /// the order of the features is the same.
    pub fn by_position(&self) -> bool {
        self.by_position
    }

    /// The value of a feature that has no column.
    pub fn absent(&self) -> f32 {
        self.absent
    }

    /// How many columns of the data a feature of the model has.
    fn matched(&self) -> usize {
        match &self.map {
            Map::Shift { shift, columns } => {
                let (features, columns) = (self.features as i64, *columns as i64);
                usize::try_from((features + shift).min(columns) - (*shift).max(0)).unwrap_or(0)
            }
            Map::Table(table) => table.len(),
        }
    }

    fn check_extra(
        &self,
        model: &Header,
        data: &FeatureNames,
        ignore_extra: bool,
    ) -> Result<(), ModelError> {
        let matched = self.matched();
        let count = data.len() - matched.min(data.len());
        if count > 0 && !ignore_extra {
            let known: HashSet<usize> = match &self.map {
                Map::Shift { .. } => HashSet::new(),
                Map::Table(table) => table.values().copied().collect(),
            };
            let is_known = |column: usize| match &self.map {
                Map::Shift { shift, .. } => {
                    let feature = column as i64 - shift;
                    (0..self.features as i64).contains(&feature)
                }
                Map::Table(_) => known.contains(&column),
            };
            let extra = (0..data.len()).filter(|&column| !is_known(column));
            let names: Vec<_> = extra.map(|column| data.name(column)).take(count).collect();
            return Err(ModelError::UnknownFeatures { count, names: few(&names, count) });
        }
        if matched == 0 && !data.is_empty() && self.features > 0 {
            let names: Vec<_> = model.features.iter().take(SHOWN).collect();
            let count = self.features;
            return Err(ModelError::MissingFeatures { count, names: few(&names, count) });
        }
        Ok(())
    }
}

fn by_name(needed: &[String], given: &[String]) -> Result<Map, ModelError> {
    let mut columns: HashMap<&str, usize> = HashMap::with_capacity(given.len());
    for (column, name) in given.iter().enumerate() {
        columns.entry(name).or_insert(column);
    }
    let mut table = BTreeMap::new();
    let mut missing = Vec::new();
    for (feature, name) in needed.iter().enumerate() {
        match columns.get(name.as_str()) {
            Some(&column) => {
                table.insert(feature, column);
            }
            None => missing.push(name),
        }
    }
    match missing.is_empty() {
        true => Ok(Map::Table(table)),
        false => {
            let count = missing.len();
            Err(ModelError::MissingFeatures { count, names: few(&missing, count) })
        }
    }
}

/// Ids of the model met with named columns.
fn by_id(features: &FeatureNames, given: &[String]) -> Result<Map, ModelError> {
    let ids = Ids::of(given);
    let mut table = BTreeMap::new();
    for (column, name) in given.iter().enumerate() {
        let id = ids.get(column, name).map(|id| id.to_string());
        if let Some(feature) = id.and_then(|id| features.column(&id)) {
            table.entry(feature).or_insert(column);
        }
    }
    if ids == Ids::Counted && table.len() < features.len() {
        let lacking = (0..features.len()).filter(|feature| !table.contains_key(feature));
        let names: Vec<_> = lacking.take(SHOWN).map(|feature| features.name(feature)).collect();
        let count = features.len() - table.len();
        return Err(ModelError::MissingFeatures { count, names: few(&names, count) });
    }
    Ok(Map::Table(table))
}

/// How named features come to ids.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ids {
    /// Some names are whole numbers: these are ids, the other names have none.
    Numbers,
    /// No name is a number: they are numbered from 1.
    Counted,
}

impl Ids {
    fn of(names: &[String]) -> Ids {
        match names.iter().any(|name| number(name).is_some()) {
            true => Ids::Numbers,
            false => Ids::Counted,
        }
    }

    fn get(self, column: usize, name: &str) -> Option<u32> {
        match self {
            Ids::Numbers => number(name),
            Ids::Counted => u32::try_from(column + 1).ok(),
        }
    }
}

/// A whole number as `to_string` would write it, so that no two names are the same id.
fn number(name: &str) -> Option<u32> {
    name.parse().ok().filter(|id: &u32| id.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::Absent;

    fn named(list: &[&str]) -> FeatureNames {
        FeatureNames::Named(list.iter().map(|name| name.to_string()).collect())
    }

    fn ids(first: u32, count: usize) -> FeatureNames {
        FeatureNames::Ids { first, count }
    }

    fn columns(
        model: FeatureNames,
        data: &FeatureNames,
        ignore: bool,
    ) -> Result<Vec<Option<usize>>, String> {
        let count = model.len();
        let matching = Matching::new(&Header::new(model, Absent::Missing), data, ignore)
            .map_err(|e| e.to_string())?;
        assert!(matching.absent().is_nan());
        assert_eq!(matching.column(count), None);
        Ok((0..count).map(|feature| matching.column(feature)).collect())
    }

    #[test]
    fn names_are_matched_by_name_and_all_are_needed() {
        let found = columns(named(&["a", "b"]), &named(&["b", "a"]), false);
        assert_eq!(found.unwrap(), [Some(1), Some(0)]);
        let error = columns(named(&["a", "b", "c"]), &named(&["b"]), true).unwrap_err();
        assert_eq!(error, "the data lacks 2 of the model's features: a, c");
        let error = columns(named(&["a"]), &named(&["x", "a", "y"]), false).unwrap_err();
        assert_eq!(error, "the data has 2 features that the model does not know: x, y");
        assert_eq!(columns(named(&["a"]), &named(&["x", "a"]), true).unwrap(), [Some(1)]);
    }

    #[test]
    fn ids_that_a_sparse_file_lacks_are_absent() {
        let found = columns(ids(1, 4), &ids(1, 2), false);
        assert_eq!(found.unwrap(), [Some(0), Some(1), None, None]);
        assert_eq!(columns(ids(1, 2), &ids(1, 0), false).unwrap(), [None, None]);
        let error = columns(ids(1, 2), &ids(1, 14), false).unwrap_err();
        let names = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more";
        assert_eq!(
            error,
            format!("the data has 12 features that the model does not know: {names}")
        );
        assert_eq!(columns(ids(1, 1), &ids(1, 2), true).unwrap(), [Some(0)]);
    }

    #[test]
    fn ids_that_count_from_elsewhere_are_shifted() {
        assert_eq!(columns(ids(0, 3), &ids(1, 2), false).unwrap(), [None, Some(0), Some(1)]);
        let error = columns(ids(1, 2), &ids(0, 3), false).unwrap_err();
        assert_eq!(error, "the data has 1 features that the model does not know: 0");
        assert_eq!(columns(ids(1, 2), &ids(0, 3), true).unwrap(), [Some(1), Some(2)]);
    }

    #[test]
    fn names_that_are_numbers_are_ids() {
        let found = columns(ids(1, 3), &named(&["3", "1"]), false);
        assert_eq!(found.unwrap(), [Some(1), None, Some(0)]);
        let error = columns(ids(1, 3), &named(&["3", "bm25"]), false).unwrap_err();
        assert!(error.ends_with("does not know: bm25"), "{error}");
        assert_eq!(columns(named(&["3", "1"]), &ids(1, 3), true).unwrap(), [Some(2), Some(0)]);
        assert_eq!(number("007"), None);
    }

    #[test]
    fn names_without_numbers_are_counted_from_1() {
        assert_eq!(columns(ids(1, 2), &named(&["a", "b"]), false).unwrap(), [Some(0), Some(1)]);
        let error = columns(ids(1, 3), &named(&["a", "b"]), true).unwrap_err();
        assert_eq!(error, "the data lacks 1 of the model's features: 3");
        assert_eq!(columns(named(&["a", "b"]), &ids(1, 1), false).unwrap(), [Some(0), None]);
        assert!(columns(named(&["a"]), &ids(1, 2), false).is_err());
    }

    #[test]
    fn ignoring_everything_is_refused() {
        let error = columns(ids(1, 2), &named(&["77", "78"]), true).unwrap_err();
        assert_eq!(error, "the data lacks 2 of the model's features: 1, 2");
    }

    #[test]
    fn a_huge_range_of_ids_costs_nothing() {
        let header = Header::new(ids(1, 4_000_000_000), Absent::Zero);
        let matching = Matching::new(&header, &ids(1, 3), false).unwrap();
        assert_eq!((matching.column(2), matching.column(3_999_999_999)), (Some(2), None));
        assert!(Matching::new(&header, &named(&["a"]), false).is_err());
    }
}
