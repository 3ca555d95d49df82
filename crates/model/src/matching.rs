//! Matches the columns of a data set with the features of a model.
//!
//! - If both have names, names are matched. A feature of the model that the data lacks is an error:
//!   a table either has a column or does not.
//! - Otherwise ids are matched. Names that are whole numbers are ids; if no name is one, the
//!   features are numbered from 1 in their order ([`Matching::by_position`] is then true, so that
//!   the caller can warn). Ids that a sparse file happens not to contain are absent values (0 or
//!   missing, by the model's rule), not a mismatch; but a table whose columns are numbered by
//!   position must have them all.
//! - Features that the model does not know are an error, unless they are to be ignored. Ignoring
//!   them is an error too if no feature would be left.
//!
//! A data set without columns (LETOR lines without features) fits every model matched by id. Cost:
//! one pass over the names; nothing as large as a range of ids is allocated.

use std::collections::{BTreeMap, HashMap, HashSet};

use rankwright_data::FeatureNames;

use crate::error::{ModelError, SHOWN, first_names};
use crate::header::Header;
use crate::problem::BlendProblem;

/// The columns of a data set that hold a model's features.
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
    map: ColumnMap,
    features: usize,
    absent: f32,
    by_position: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum ColumnMap {
    /// Feature `f` is column `f + shift`, if there is such a column.
    Shift { shift: i64, columns: usize },
    /// A column for each feature.
    Table(BTreeMap<usize, usize>),
    /// A column for each feature of a member, by way of the features of its blend.
    Through(Box<Matching>, Box<Matching>),
}

impl Matching {
    /// Matches the features of a model with those of a data set.
    pub fn new(
        model: &Header,
        data: &FeatureNames,
        ignore_extra: bool,
    ) -> Result<Matching, ModelError> {
        Matching::with(model, &DataFeatures::new(data), ignore_extra)
    }

    /// Like `new`, with the features of the data prepared for several lookups.
    fn with(
        model: &Header,
        given: &DataFeatures<'_>,
        ignore_extra: bool,
    ) -> Result<Matching, ModelError> {
        let (features, data) = (&model.features, given.features);
        let map = match (features, data) {
            (FeatureNames::Named(needed), FeatureNames::Named(_)) => by_name(needed, given)?,
            (FeatureNames::Ids { first, .. }, FeatureNames::Ids { first: start, count }) => {
                ColumnMap::Shift { shift: i64::from(*first) - i64::from(*start), columns: *count }
            }
            (FeatureNames::Named(needed), FeatureNames::Ids { .. }) => {
                let id = NameToId::of(needed);
                let found = needed.iter().enumerate().filter_map(|(feature, name)| {
                    Some((feature, data.column(&id.get(feature, name)?.to_string())?))
                });
                ColumnMap::Table(found.collect())
            }
            (FeatureNames::Ids { .. }, FeatureNames::Named(names)) => {
                by_id(features, names, given)?
            }
        };
        let by_position = match (features, data) {
            (FeatureNames::Named(names), FeatureNames::Ids { .. }) => {
                NameToId::of(names) == NameToId::Counted
            }
            (FeatureNames::Ids { .. }, FeatureNames::Named(_)) => given.ids == NameToId::Counted,
            _ => false,
        };
        let (features, absent) = (features.len(), model.absent.value());
        let matching = Matching { map, features, absent, by_position };
        matching.check_extra(model, data, ignore_extra)?;
        Ok(matching)
    }

    /// Matches the features of each member of a blend with those of the blend. Time and memory grow
    /// with the names of both: features of other members are ignored.
    pub(crate) fn members<'a>(
        members: impl Iterator<Item = &'a Header>,
        blend: &FeatureNames,
    ) -> Result<Vec<Matching>, ModelError> {
        let given = DataFeatures::new(blend);
        let matched = |(number, member): (usize, &Header)| {
            let numbers = matches!(member.features, FeatureNames::Ids { .. });
            if numbers && matches!(blend, FeatureNames::Named(_)) && given.ids == NameToId::Numbers
            {
                let problem = BlendProblem::NumberedFeatures { member: number };
                return Err(ModelError::InvalidBlend(problem));
            }
            Matching::with(member, &given, true).map_err(|error| {
                let error = Box::new(error);
                let problem = BlendProblem::UnmatchedFeatures { member: number, error };
                ModelError::InvalidBlend(problem)
            })
        };
        members.enumerate().map(matched).collect()
    }

    /// The model's own features as columns, in their order.
    pub(crate) fn own(model: &Header) -> Matching {
        let features = model.features.len();
        let map = ColumnMap::Shift { shift: 0, columns: features };
        Matching { map, features, absent: model.absent.value(), by_position: false }
    }

    /// The columns of a member's features in the data that its blend is matched with; `self`
    /// matches the member with the blend.
    pub(crate) fn through(&self, blend: &Matching) -> Matching {
        Matching {
            map: ColumnMap::Through(Box::new(self.clone()), Box::new(blend.clone())),
            features: self.features,
            absent: self.absent,
            by_position: self.by_position || blend.by_position,
        }
    }

    /// The value of a feature in a row. A feature beyond the end of the row is missing.
    pub(crate) fn value(&self, row: &[f32], feature: usize) -> f32 {
        match self.column(feature) {
            Some(column) => row.get(column).copied().unwrap_or(f32::NAN),
            None => self.absent,
        }
    }

    /// The column of a feature; `None` if all its values are absent.
    pub fn column(&self, feature: usize) -> Option<usize> {
        match &self.map {
            ColumnMap::Shift { shift, columns } => {
                let column = i64::try_from(feature).ok()?.checked_add(*shift)?;
                let column = usize::try_from(column).ok()?;
                (feature < self.features && column < *columns).then_some(column)
            }
            ColumnMap::Table(table) => table.get(&feature).copied(),
            ColumnMap::Through(blend, data) => data.column(blend.column(feature)?),
        }
    }

    /// Whether names on one side were numbered to match ids on the other, which is only right if
    /// the order of the features is the same.
    pub fn by_position(&self) -> bool {
        self.by_position
    }

    /// The value of a feature that has no column.
    pub fn absent(&self) -> f32 {
        self.absent
    }

    /// The number of columns of the data that hold a feature of the model.
    fn matched(&self) -> usize {
        match &self.map {
            ColumnMap::Shift { shift, columns } => {
                let (features, columns) = (self.features as i64, *columns as i64);
                usize::try_from((features + shift).min(columns) - (*shift).max(0)).unwrap_or(0)
            }
            ColumnMap::Table(table) => table.len(),
            ColumnMap::Through(..) => {
                (0..self.features).filter(|f| self.column(*f).is_some()).count()
            }
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
                ColumnMap::Shift { .. } | ColumnMap::Through(..) => HashSet::new(),
                ColumnMap::Table(table) => table.values().copied().collect(),
            };
            let is_known = |column: usize| match &self.map {
                ColumnMap::Shift { shift, .. } => {
                    let feature = column as i64 - shift;
                    (0..self.features as i64).contains(&feature)
                }
                ColumnMap::Table(_) | ColumnMap::Through(..) => known.contains(&column),
            };
            let extra = (0..data.len()).filter(|&column| !is_known(column));
            let names: Vec<_> = extra.map(|column| data.name(column)).take(count).collect();
            return Err(ModelError::UnknownFeatures { count, names: first_names(&names, count) });
        }
        if matched == 0 && !data.is_empty() && self.features > 0 {
            let names: Vec<_> = model.features.iter().take(SHOWN).collect();
            let count = self.features;
            return Err(ModelError::MissingFeatures { count, names: first_names(&names, count) });
        }
        Ok(())
    }
}

/// The features of a data set, prepared for lookups.
struct DataFeatures<'a> {
    features: &'a FeatureNames,
    /// The first column of each name.
    columns: HashMap<&'a str, usize>,
    /// The conversion of names to ids.
    ids: NameToId,
}

impl<'a> DataFeatures<'a> {
    fn new(features: &'a FeatureNames) -> DataFeatures<'a> {
        let names: &[String] = match features {
            FeatureNames::Named(names) => names,
            FeatureNames::Ids { .. } => &[],
        };
        let mut columns = HashMap::with_capacity(names.len());
        for (column, name) in names.iter().enumerate() {
            columns.entry(name.as_str()).or_insert(column);
        }
        DataFeatures { features, columns, ids: NameToId::of(names) }
    }
}

fn by_name(needed: &[String], given: &DataFeatures<'_>) -> Result<ColumnMap, ModelError> {
    let mut table = BTreeMap::new();
    let mut missing = Vec::new();
    for (feature, name) in needed.iter().enumerate() {
        match given.columns.get(name.as_str()) {
            Some(&column) => {
                table.insert(feature, column);
            }
            None => missing.push(name),
        }
    }
    match missing.is_empty() {
        true => Ok(ColumnMap::Table(table)),
        false => {
            let count = missing.len();
            Err(ModelError::MissingFeatures { count, names: first_names(&missing, count) })
        }
    }
}

/// Matches ids of the model with named columns.
fn by_id(
    features: &FeatureNames,
    names: &[String],
    given: &DataFeatures<'_>,
) -> Result<ColumnMap, ModelError> {
    if given.ids == NameToId::Counted {
        return counted(features, names.len());
    }
    let mut table = BTreeMap::new();
    for (column, name) in names.iter().enumerate() {
        if let Some(feature) = number(name).and_then(|id| features.column(&id.to_string())) {
            table.entry(feature).or_insert(column);
        }
    }
    Ok(ColumnMap::Table(table))
}

/// Matches ids of the model with columns that are numbered from 1; each must have one.
fn counted(features: &FeatureNames, columns: usize) -> Result<ColumnMap, ModelError> {
    let first = match features {
        FeatureNames::Ids { first, .. } => *first as usize,
        FeatureNames::Named(_) => 1,
    };
    let lacks = |feature: &usize| !(1..=columns).contains(&(feature + first));
    let before = 1_usize.saturating_sub(first).min(features.len());
    let after = (features.len() + first).saturating_sub(columns + 1).min(features.len() - before);
    if before + after > 0 {
        let lacking = (0..features.len()).filter(lacks).take(SHOWN);
        let names: Vec<_> = lacking.map(|feature| features.name(feature)).collect();
        let count = before + after;
        return Err(ModelError::MissingFeatures { count, names: first_names(&names, count) });
    }
    Ok(ColumnMap::Shift { shift: first as i64 - 1, columns })
}

/// The conversions of feature names to ids.
#[derive(Debug, Clone, Copy, PartialEq)]
enum NameToId {
    /// Some names are whole numbers: these are ids, the other names have none.
    Numbers,
    /// No name is a number: they are numbered from 1.
    Counted,
}

impl NameToId {
    fn of(names: &[String]) -> NameToId {
        match names.iter().any(|name| number(name).is_some()) {
            true => NameToId::Numbers,
            false => NameToId::Counted,
        }
    }

    fn get(self, column: usize, name: &str) -> Option<u32> {
        match self {
            NameToId::Numbers => number(name),
            NameToId::Counted => u32::try_from(column + 1).ok(),
        }
    }
}

/// A whole number exactly as `to_string` would write it, so that no two names have the same id.
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
        assert_eq!(error, "the data has 1 feature that the model does not know: 0");
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

    #[test]
    fn members_are_matched_with_the_blend_and_through_it_with_data() {
        let header = |features| Header::new(features, Absent::Zero);
        let of = |member, blend: &FeatureNames| {
            let found = Matching::members([&header(member)].into_iter(), blend);
            found.map(|mut all| all.remove(0)).map_err(|error| error.to_string())
        };
        let blend = named(&["a", "b", "c"]);
        let member = of(named(&["c", "a"]), &blend).unwrap();
        let data = Matching::new(&header(blend.clone()), &named(&["b", "c", "a"]), false).unwrap();
        let through = member.through(&data);
        assert_eq!([0, 1, 2].map(|f| through.column(f)), [Some(1), Some(2), None]);
        let error = of(named(&["a", "d"]), &blend).unwrap_err();
        assert!(error.starts_with("the features of member 0 are not all in the blend"), "{error}");
        // Numbers are matched with names by position, but not with names that are numbers.
        assert!(of(ids(1, 3), &blend).unwrap().by_position());
        let error = of(ids(1, 3), &named(&["3", "1"])).unwrap_err();
        assert!(error.starts_with("member 0 numbers its features"), "{error}");
        let short = of(ids(1, 4), &ids(1, 2)).unwrap();
        let data = Matching::new(&header(ids(1, 2)), &ids(0, 3), true).unwrap();
        let through = short.through(&data);
        assert_eq!([0, 1, 2].map(|f| through.column(f)), [Some(1), Some(2), None]);
        assert_eq!(through.value(&[7.0, 8.0], 2), 0.0);
        assert!(through.value(&[7.0, 8.0], 1).is_nan(), "beyond the end of the row");
    }
}
