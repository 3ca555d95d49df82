//! Matches the columns of a data set with the features of a model.
//!
//! - Names match names. A feature of the model that the data lacks is an error: a table either has
//!   a column or does not.
//! - Numbers (ids) match numbers; names that are whole numbers are ids. Ids that a sparse file
//!   happens not to contain are absent values (0 or missing, by the model's rule), not a mismatch.
//! - Names do not match numbers: nothing says with which number the names begin. The caller can
//!   match the features of both sides by their order ([`MatchBy::Position`]).
//! - Features that the model does not know are an error, unless they are to be ignored. Ignoring
//!   them is an error too if no feature would be left.
//!
//! A data set without columns (LETOR lines without features) fits every model matched by id. Cost:
//! one pass over the names; nothing as large as a range of ids is allocated.

use std::collections::{BTreeMap, HashMap, HashSet};

use rankwright_data::FeatureNames;
use serde::{Deserialize, Serialize};

use crate::error::{ModelError, SHOWN, first_names};
use crate::header::Header;
use crate::problem::BlendProblem;

/// The rule that matches the features of a model with those of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MatchBy {
    /// Names with equal names, numbers with equal numbers.
    #[default]
    Name,
    /// The first feature with the first column, the second with the second, whatever their names
    /// and numbers: right only if both have the same features in the same order.
    Position,
}

/// Options of matching a model with data.
///
/// ```
/// use rankwright_model::{MatchBy, MatchOptions};
///
/// let options = MatchOptions::default().ignore_extra(true).by(MatchBy::Position);
/// assert!(options.ignore_extra);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MatchOptions {
    /// Ignore features that the model does not know, instead of rejecting the data.
    pub ignore_extra: bool,
    /// By name and number, or by position.
    pub by: MatchBy,
}

impl MatchOptions {
    /// Sets whether features that the model does not know are ignored.
    #[must_use]
    pub fn ignore_extra(mut self, ignore: bool) -> Self {
        self.ignore_extra = ignore;
        self
    }

    /// Sets whether features are matched by name and number, or by position.
    #[must_use]
    pub fn by(mut self, by: MatchBy) -> Self {
        self.by = by;
        self
    }
}

/// The columns of a data set that hold a model's features.
///
/// ```
/// use rankwright_data::{Absent, FeatureNames};
/// use rankwright_model::{Header, MatchOptions, Matching};
///
/// let names = |list: &[&str]| FeatureNames::Named(list.iter().map(|n| n.to_string()).collect());
/// let model = Header::new(names(&["bm25", "pagerank"]), Absent::Zero);
/// let data = names(&["pagerank", "bm25", "clicks"]);
/// assert!(Matching::new(&model, &data, MatchOptions::default()).is_err());
/// let matching = Matching::new(&model, &data, MatchOptions::default().ignore_extra(true))?;
/// assert_eq!((matching.column(0), matching.column(1)), (Some(1), Some(0)));
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Matching {
    map: ColumnMap,
    features: usize,
    absent: f32,
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
        options: MatchOptions,
    ) -> Result<Matching, ModelError> {
        Matching::with(model, &DataFeatures::new(data), options)
    }

    /// Like `new`, with the features of the data prepared for several lookups.
    fn with(
        model: &Header,
        given: &DataFeatures<'_>,
        options: MatchOptions,
    ) -> Result<Matching, ModelError> {
        let (features, data) = (&model.features, given.features);
        let map = match (options.by, features, data) {
            (MatchBy::Position, ..) => by_position(features, data)?,
            (_, FeatureNames::Named(needed), FeatureNames::Named(_)) => by_name(needed, given)?,
            (_, FeatureNames::Ids { first, .. }, FeatureNames::Ids { first: start, count }) => {
                ColumnMap::Shift { shift: i64::from(*first) - i64::from(*start), columns: *count }
            }
            (_, FeatureNames::Named(needed), FeatureNames::Ids { .. }) => {
                names_in_ids(needed, features, data)?
            }
            (_, FeatureNames::Ids { .. }, FeatureNames::Named(names)) => {
                ids_in_names(features, names, data)?
            }
        };
        let (features, absent) = (features.len(), model.absent.value());
        let matching = Matching { map, features, absent };
        matching.check_extra(model, data, options.ignore_extra)?;
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
            let is_number = |name: &String| crate::matching::number(name).is_some();
            let any_number = |names: &[String]| names.iter().any(is_number);
            if numbers && matches!(blend, FeatureNames::Named(names) if any_number(names)) {
                let problem = BlendProblem::NumberedFeatures { member: number };
                return Err(ModelError::InvalidBlend(problem));
            }
            Matching::with(member, &given, MatchOptions::default().ignore_extra(true)).map_err(
                |error| {
                    let error = Box::new(error);
                    let problem = BlendProblem::UnmatchedFeatures { member: number, error };
                    ModelError::InvalidBlend(problem)
                },
            )
        };
        members.enumerate().map(matched).collect()
    }

    /// The model's own features as columns, in their order.
    pub(crate) fn own(model: &Header) -> Matching {
        let features = model.features.len();
        let map = ColumnMap::Shift { shift: 0, columns: features };
        Matching { map, features, absent: model.absent.value() }
    }

    /// The columns of a member's features in the data that its blend is matched with; `self`
    /// matches the member with the blend.
    pub(crate) fn through(&self, blend: &Matching) -> Matching {
        Matching {
            map: ColumnMap::Through(Box::new(self.clone()), Box::new(blend.clone())),
            features: self.features,
            absent: self.absent,
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
        DataFeatures { features, columns }
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

/// Matches names of the model with numbered columns: all of them must be numbers.
fn names_in_ids(
    needed: &[String],
    features: &FeatureNames,
    data: &FeatureNames,
) -> Result<ColumnMap, ModelError> {
    if needed.iter().any(|name| number(name).is_none()) {
        return Err(names_and_numbers(features, data));
    }
    let column = |(feature, name): (usize, &String)| Some((feature, data.column(name)?));
    Ok(ColumnMap::Table(needed.iter().enumerate().filter_map(column).collect()))
}

/// Matches ids of the model with named columns: some of them must be numbers.
fn ids_in_names(
    features: &FeatureNames,
    names: &[String],
    data: &FeatureNames,
) -> Result<ColumnMap, ModelError> {
    if !names.is_empty() && names.iter().all(|name| number(name).is_none()) {
        return Err(names_and_numbers(features, data));
    }
    let mut table = BTreeMap::new();
    for (column, name) in names.iter().enumerate() {
        if let Some(feature) = number(name).and_then(|id| features.column(&id.to_string())) {
            table.entry(feature).or_insert(column);
        }
    }
    Ok(ColumnMap::Table(table))
}

/// The first feature is the first column, and so on. A table must have a column for each feature.
fn by_position(features: &FeatureNames, data: &FeatureNames) -> Result<ColumnMap, ModelError> {
    let (needed, columns) = (features.len(), data.len());
    if matches!(data, FeatureNames::Named(_)) && needed > columns {
        let names: Vec<_> = (columns..needed).take(SHOWN).map(|f| features.name(f)).collect();
        let count = needed - columns;
        return Err(ModelError::MissingFeatures { count, names: first_names(&names, count) });
    }
    Ok(ColumnMap::Shift { shift: 0, columns })
}

fn names_and_numbers(model: &FeatureNames, data: &FeatureNames) -> ModelError {
    let [model, data] = [model, data].map(naming);
    ModelError::NamesAndNumbers { model, data }
}

/// The names or numbers of features, the first few, in words.
fn naming(features: &FeatureNames) -> String {
    match features {
        FeatureNames::Named(names) => format!("the names {}", first_names(names, names.len())),
        FeatureNames::Ids { count: 0, .. } => "numbers".to_owned(),
        FeatureNames::Ids { first, count: 1 } => format!("the number {first}"),
        FeatureNames::Ids { first, count } => {
            format!("the numbers {first} to {}", *first as usize + count - 1)
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
        let options = MatchOptions::default().ignore_extra(ignore);
        matched(model, data, options)
    }

    fn matched(
        model: FeatureNames,
        data: &FeatureNames,
        options: MatchOptions,
    ) -> Result<Vec<Option<usize>>, String> {
        let count = model.len();
        let matching = Matching::new(&Header::new(model, Absent::Missing), data, options)
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
    fn names_do_not_match_numbers() {
        let text = "the model's features have the names a, b; those of the data have the numbers \
                    0 to 2";
        // Neither is guessed with which number the names begin, nor are extra features blamed.
        for ignore in [false, true] {
            assert_eq!(columns(named(&["a", "b"]), &ids(0, 3), ignore).unwrap_err(), text);
            let error = columns(ids(1, 1), &named(&["a", "b"]), ignore).unwrap_err();
            let text = "the model's features have the number 1; those of the data have the names \
                        a, b";
            assert_eq!(error, text);
        }
        // A renamed feature among numbers is not taken as absent.
        let error = columns(named(&["1", "bm25", "3"]), &ids(1, 3), true).unwrap_err();
        assert!(error.contains("have the names 1, bm25, 3"), "{error}");
        assert!(columns(named(&["a"]), &ids(1, 0), false).is_err());
    }

    #[test]
    fn positions_are_matched_on_request() {
        let by_position = MatchOptions::default().by(MatchBy::Position);
        let found = |model, data| matched(model, &data, by_position);
        assert_eq!(found(named(&["a", "b"]), ids(0, 2)).unwrap(), [Some(0), Some(1)]);
        assert_eq!(found(ids(1, 2), named(&["a", "b"])).unwrap(), [Some(0), Some(1)]);
        assert_eq!(found(ids(1, 2), ids(0, 2)).unwrap(), [Some(0), Some(1)]);
        assert_eq!(found(named(&["a", "b"]), named(&["b", "c"])).unwrap(), [Some(0), Some(1)]);
        // Sparse data may lack the last ones, a table may not.
        assert_eq!(found(named(&["a", "b"]), ids(1, 1)).unwrap(), [Some(0), None]);
        let error = found(ids(1, 3), named(&["a", "b"])).unwrap_err();
        assert_eq!(error, "the data lacks 1 of the model's features: 3");
        let error = found(named(&["a"]), ids(0, 2)).unwrap_err();
        assert_eq!(error, "the data has 1 feature that the model does not know: 1");
        let found = matched(named(&["a"]), &ids(0, 2), by_position.ignore_extra(true));
        assert_eq!(found.unwrap(), [Some(0)]);
    }

    #[test]
    fn ignoring_everything_is_refused() {
        let error = columns(ids(1, 2), &named(&["77", "78"]), true).unwrap_err();
        assert_eq!(error, "the data lacks 2 of the model's features: 1, 2");
    }

    #[test]
    fn a_huge_range_of_ids_costs_nothing() {
        let header = Header::new(ids(1, 4_000_000_000), Absent::Zero);
        let matching = Matching::new(&header, &ids(1, 3), MatchOptions::default()).unwrap();
        assert_eq!((matching.column(2), matching.column(3_999_999_999)), (Some(2), None));
        assert!(Matching::new(&header, &named(&["a"]), MatchOptions::default()).is_err());
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
        let options = MatchOptions::default();
        let names = named(&["b", "c", "a"]);
        let data = Matching::new(&header(blend.clone()), &names, options).unwrap();
        let through = member.through(&data);
        assert_eq!([0, 1, 2].map(|f| through.column(f)), [Some(1), Some(2), None]);
        let error = of(named(&["a", "d"]), &blend).unwrap_err();
        assert!(error.starts_with("the features of member 0 are not all in the blend"), "{error}");
        let error = of(ids(1, 3), &blend).unwrap_err();
        assert!(error.contains("the names a, b, c"), "{error}");
        let error = of(ids(1, 3), &named(&["3", "1"])).unwrap_err();
        assert!(error.starts_with("member 0 numbers its features"), "{error}");
        let short = of(ids(1, 4), &ids(1, 2)).unwrap();
        let data =
            Matching::new(&header(ids(1, 2)), &ids(0, 3), options.ignore_extra(true)).unwrap();
        let through = short.through(&data);
        assert_eq!([0, 1, 2].map(|f| through.column(f)), [Some(1), Some(2), None]);
        assert_eq!(through.value(&[7.0, 8.0], 2), 0.0);
        assert!(through.value(&[7.0, 8.0], 1).is_nan(), "beyond the end of the row");
    }
}
