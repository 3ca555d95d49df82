//! Matches the columns of a data set with the features of a model.
//!
//! - Names match names. A feature of the model that the data lacks is an error: a table either has
//!   a column or does not.
//! - Numbers (ids) match numbers; names that are whole numbers are ids. Ids that a sparse file
//!   happens not to contain are absent values (0 or missing, by the model's rule), not a mismatch.
//! - Other systems count unnamed features from 0. Matching such a model with data whose features
//!   are numbered from 1 is an error, as two cases cannot be told apart: if the system was trained
//!   on a matrix, its feature 0 is feature 1 of the data; if it read the same file, equal numbers
//!   are the same feature. After [`Header::number_from`] the numbers are taken as they are.
//! - Names do not match numbers: nothing says with which number the names begin. The caller can
//!   match the features of both sides by their order ([`MatchBy::Position`]).
//! - Features that the model does not know are an error, unless they are to be ignored. Ignoring
//!   them is an error too if no feature would be left.
//!
//! A data set without columns (LETOR lines without features) fits every model matched by id. Cost:
//! one pass over the names; nothing as large as a range of ids is allocated.

use std::collections::{BTreeMap, HashMap, HashSet};

use rankwright_data::FeatureNames;
use rankwright_spec::choices;
use serde::{Deserialize, Serialize};

use crate::error::{MAX_SHOWN_NAMES, ModelError, first_names};
use crate::header::Header;
use crate::problem::BlendProblem;

choices! {
    /// The rule that matches the features of a model with those of a data set.
    #[non_exhaustive]
    pub enum MatchBy {
        /// Names with equal names, numbers with equal numbers.
        Name = "name",
        /// By their order, whatever their names and numbers: right only if both sides have the same
        /// features in the same order.
        Position = "position",
    }
}

/// Options of matching a model with data.
///
/// ```
/// use rankwright_model::{MatchBy, MatchOptions};
///
/// let options = MatchOptions::default().ignore_extra(true).by(MatchBy::Position);
/// assert!(options.ignore_extra);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MatchOptions {
    /// Ignore features that the model does not know, instead of rejecting the data.
    pub ignore_extra: bool,
    /// Whether features are matched by name and number, or by position.
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
    /// Number of features of the model.
    features: usize,
    /// The value of a feature without a column.
    absent: f32,
}

/// The column of each feature.
#[derive(Debug, Clone, PartialEq)]
enum ColumnMap {
    /// Feature `f` is column `f + shift`, if there is such a column.
    Shift { shift: i64, columns: usize },
    /// The columns of the features that have one.
    Table(BTreeMap<usize, usize>),
    /// For a member of a blend: the matching of the member's features with the blend's, and the
    /// matching of the blend's features with the columns.
    Through { with_blend: Box<Matching>, with_data: Box<Matching> },
}

impl Matching {
    /// Matches the features of a model with those of a data set.
    pub fn new(
        model: &Header,
        data: &FeatureNames,
        options: MatchOptions,
    ) -> Result<Matching, ModelError> {
        Matching::with_prepared(model, &FeatureLookup::new(data), options)
    }

    /// Like `new`, with the features of the data prepared for several lookups.
    fn with_prepared(
        model: &Header,
        lookup: &FeatureLookup<'_>,
        options: MatchOptions,
    ) -> Result<Matching, ModelError> {
        let (features, data) = (&model.features, lookup.features);
        if let (MatchBy::Name, Some(system)) = (options.by, model.counted_from_zero()) {
            let is_numbered = matches!(data, FeatureNames::Ids { .. })
                || data.iter().any(|name| id_of(&name).is_some());
            if is_numbered && !data.is_empty() && data.column("0").is_none() {
                return Err(ModelError::CountedFromZero { from: system.to_owned() });
            }
        }
        let map = match (options.by, features, data) {
            (MatchBy::Position, ..) => by_position(features, data)?,
            (_, FeatureNames::Named(needed), FeatureNames::Named(_)) => by_name(needed, lookup)?,
            (
                _,
                FeatureNames::Ids { first, .. },
                FeatureNames::Ids { first: data_first, count },
            ) => {
                let shift = i64::from(*first) - i64::from(*data_first);
                ColumnMap::Shift { shift, columns: *count }
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

    /// Matches the features of each member of a blend with those of the blend, which may have more
    /// features than the member. Time and memory grow with the number of names.
    pub(crate) fn members<'a>(
        members: impl Iterator<Item = &'a Header>,
        blend: &FeatureNames,
    ) -> Result<Vec<Matching>, ModelError> {
        let lookup = FeatureLookup::new(blend);
        let matched = |(number, member): (usize, &Header)| {
            let is_numbered = matches!(member.features, FeatureNames::Ids { .. });
            let is_number = |name: &String| id_of(name).is_some();
            let any_number = |names: &[String]| names.iter().any(is_number);
            if is_numbered && matches!(blend, FeatureNames::Named(names) if any_number(names)) {
                let problem = BlendProblem::NumberedFeatures { member: number };
                return Err(ModelError::InvalidBlend(problem));
            }
            let options = MatchOptions::default().ignore_extra(true);
            Matching::with_prepared(member, &lookup, options).map_err(|error| {
                let error = Box::new(error);
                let problem = BlendProblem::UnmatchedFeatures { member: number, error };
                ModelError::InvalidBlend(problem)
            })
        };
        members.enumerate().map(matched).collect()
    }

    /// The matching for rows whose columns are the model's features, in their order.
    pub(crate) fn identity(model: &Header) -> Matching {
        let features = model.features.len();
        let map = ColumnMap::Shift { shift: 0, columns: features };
        Matching { map, features, absent: model.absent.value() }
    }

    /// The matching of a blend's member with data: `self` matches the features of the member with
    /// those of the blend, `blend` those of the blend with the columns of the data.
    pub(crate) fn through(&self, blend: &Matching) -> Matching {
        Matching {
            map: ColumnMap::Through {
                with_blend: Box::new(self.clone()),
                with_data: Box::new(blend.clone()),
            },
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
            ColumnMap::Through { with_blend, with_data } => {
                with_data.column(with_blend.column(feature)?)
            }
        }
    }

    /// The value of a feature that has no column.
    pub fn absent(&self) -> f32 {
        self.absent
    }

    /// The number of columns of the data that hold a feature of the model.
    fn matched_columns(&self) -> usize {
        match &self.map {
            ColumnMap::Shift { shift, columns } => {
                let (features, columns) = (self.features as i64, *columns as i64);
                usize::try_from((features + shift).min(columns) - (*shift).max(0)).unwrap_or(0)
            }
            ColumnMap::Table(table) => table.len(),
            ColumnMap::Through { .. } => {
                (0..self.features).filter(|f| self.column(*f).is_some()).count()
            }
        }
    }

    /// Rejects data with extra features (those that the model does not know), unless they are to be
    /// ignored, and data without any feature of the model.
    fn check_extra(
        &self,
        model: &Header,
        data: &FeatureNames,
        ignore_extra: bool,
    ) -> Result<(), ModelError> {
        let matched = self.matched_columns();
        let extra = data.len() - matched.min(data.len());
        if extra > 0 && !ignore_extra {
            let known: HashSet<usize> = match &self.map {
                ColumnMap::Shift { .. } | ColumnMap::Through { .. } => HashSet::new(),
                ColumnMap::Table(table) => table.values().copied().collect(),
            };
            let is_known = |column: usize| match &self.map {
                ColumnMap::Shift { shift, .. } => {
                    let feature = column as i64 - shift;
                    (0..self.features as i64).contains(&feature)
                }
                ColumnMap::Table(_) | ColumnMap::Through { .. } => known.contains(&column),
            };
            let columns = (0..data.len()).filter(|&column| !is_known(column));
            let names: Vec<_> = columns.map(|column| data.name(column)).take(extra).collect();
            let names = first_names(&names, extra);
            return Err(match (&model.features, data) {
                (FeatureNames::Ids { first, .. }, FeatureNames::Ids { first: data_first, .. })
                    if first != data_first
                        && matches!(self.map, ColumnMap::Shift { shift, .. } if shift != 0) =>
                {
                    let (model, data) = (*first, *data_first);
                    ModelError::UnknownNumbers { count: extra, names, model, data }
                }
                _ => ModelError::UnknownFeatures { count: extra, names },
            });
        }
        if matched == 0 && !data.is_empty() && self.features > 0 {
            let names: Vec<_> = model.features.iter().take(MAX_SHOWN_NAMES).collect();
            let count = self.features;
            return Err(ModelError::MissingFeatures { count, names: first_names(&names, count) });
        }
        Ok(())
    }
}

/// The features of a data set or of a blend, prepared for lookups by name.
struct FeatureLookup<'a> {
    features: &'a FeatureNames,
    /// The first column of each name.
    columns: HashMap<&'a str, usize>,
}

impl<'a> FeatureLookup<'a> {
    fn new(features: &'a FeatureNames) -> FeatureLookup<'a> {
        let names: &[String] = match features {
            FeatureNames::Named(names) => names,
            FeatureNames::Ids { .. } => &[],
        };
        let mut columns = HashMap::with_capacity(names.len());
        for (column, name) in names.iter().enumerate() {
            columns.entry(name.as_str()).or_insert(column);
        }
        FeatureLookup { features, columns }
    }
}

/// Matches names with names: the data must have all names of the model.
fn by_name(needed: &[String], lookup: &FeatureLookup<'_>) -> Result<ColumnMap, ModelError> {
    let mut table = BTreeMap::new();
    let mut missing = Vec::new();
    for (feature, name) in needed.iter().enumerate() {
        match lookup.columns.get(name.as_str()) {
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

/// Matches names of the model with numbered columns: every name must be a number.
fn names_in_ids(
    needed: &[String],
    features: &FeatureNames,
    data: &FeatureNames,
) -> Result<ColumnMap, ModelError> {
    if needed.iter().any(|name| id_of(name).is_none()) {
        return Err(names_and_numbers(features, data));
    }
    let column = |(feature, name): (usize, &String)| Some((feature, data.column(name)?));
    Ok(ColumnMap::Table(needed.iter().enumerate().filter_map(column).collect()))
}

/// Matches ids of the model with named columns: at least one name must be a number.
fn ids_in_names(
    features: &FeatureNames,
    names: &[String],
    data: &FeatureNames,
) -> Result<ColumnMap, ModelError> {
    if !names.is_empty() && names.iter().all(|name| id_of(name).is_none()) {
        return Err(names_and_numbers(features, data));
    }
    let mut table = BTreeMap::new();
    for (column, name) in names.iter().enumerate() {
        if let Some(feature) = id_of(name).and_then(|id| features.column(&id.to_string())) {
            table.entry(feature).or_insert(column);
        }
    }
    Ok(ColumnMap::Table(table))
}

/// Matches the first feature with the first column, and so on. Data with named columns must have
/// one for each feature.
fn by_position(features: &FeatureNames, data: &FeatureNames) -> Result<ColumnMap, ModelError> {
    let (needed, columns) = (features.len(), data.len());
    if matches!(data, FeatureNames::Named(_)) && needed > columns {
        let first = (columns..needed).take(MAX_SHOWN_NAMES);
        let names: Vec<_> = first.map(|feature| features.name(feature)).collect();
        let count = needed - columns;
        return Err(ModelError::MissingFeatures { count, names: first_names(&names, count) });
    }
    Ok(ColumnMap::Shift { shift: 0, columns })
}

/// The error of names on one side and numbers on the other.
fn names_and_numbers(model: &FeatureNames, data: &FeatureNames) -> ModelError {
    let [model, data] = [model, data].map(names_text);
    ModelError::NamesAndNumbers { model, data }
}

/// The first few names of features, or their range of numbers, for a message.
fn names_text(features: &FeatureNames) -> String {
    match features {
        FeatureNames::Named(names) => format!("the names {}", first_names(names, names.len())),
        FeatureNames::Ids { count: 0, .. } => "numbers".to_owned(),
        FeatureNames::Ids { first, count: 1 } => format!("the number {first}"),
        FeatureNames::Ids { first, count } => {
            format!("the numbers {first} to {}", *first as usize + count - 1)
        }
    }
}

/// The id of a name that is a whole number, written exactly as `to_string` would write it, so that
/// no two names have the same id; `None` for other names.
fn id_of(name: &str) -> Option<u32> {
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

    /// Extra features of the data are ignored.
    const IGNORE_EXTRA: bool = true;
    /// Extra features of the data are an error.
    const REJECT_EXTRA: bool = false;

    /// The column of each feature of a model.
    fn columns(
        model: FeatureNames,
        data: &FeatureNames,
        ignore_extra: bool,
    ) -> Result<Vec<Option<usize>>, String> {
        let options = MatchOptions::default().ignore_extra(ignore_extra);
        columns_with(model, data, options)
    }

    fn columns_with(
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
        let found = columns(named(&["a", "b"]), &named(&["b", "a"]), REJECT_EXTRA);
        assert_eq!(found.unwrap(), [Some(1), Some(0)]);
        let error = columns(named(&["a", "b", "c"]), &named(&["b"]), IGNORE_EXTRA).unwrap_err();
        assert_eq!(error, "the data lacks 2 of the model's features: a, c");
        let error = columns(named(&["a"]), &named(&["x", "a", "y"]), REJECT_EXTRA).unwrap_err();
        assert_eq!(error, "the data has 2 features that the model does not know: x, y");
        assert_eq!(columns(named(&["a"]), &named(&["x", "a"]), IGNORE_EXTRA).unwrap(), [Some(1)]);
    }

    #[test]
    fn ids_that_a_sparse_file_lacks_are_absent() {
        let found = columns(ids(1, 4), &ids(1, 2), REJECT_EXTRA);
        assert_eq!(found.unwrap(), [Some(0), Some(1), None, None]);
        assert_eq!(columns(ids(1, 2), &ids(1, 0), REJECT_EXTRA).unwrap(), [None, None]);
        let error = columns(ids(1, 2), &ids(1, 14), REJECT_EXTRA).unwrap_err();
        let names = "3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more";
        assert_eq!(
            error,
            format!("the data has 12 features that the model does not know: {names}")
        );
        assert_eq!(columns(ids(1, 1), &ids(1, 2), IGNORE_EXTRA).unwrap(), [Some(0)]);
    }

    #[test]
    fn ids_that_start_from_another_number_are_shifted() {
        assert_eq!(columns(ids(0, 3), &ids(1, 2), REJECT_EXTRA).unwrap(), [None, Some(0), Some(1)]);
        // Features 0 and 1 may be the same feature, or not: the error gives both first numbers.
        let text = |name: u32, model: u32, data: u32| {
            format!(
                "the data has 1 feature that the model does not know: {name}; the numbers of the \
                 model's features begin with {model}, those of the data with {data}"
            )
        };
        assert_eq!(columns(ids(1, 2), &ids(0, 3), REJECT_EXTRA).unwrap_err(), text(0, 1, 0));
        assert_eq!(columns(ids(0, 2), &ids(1, 2), REJECT_EXTRA).unwrap_err(), text(2, 0, 1));
        assert_eq!(columns(ids(1, 2), &ids(0, 3), IGNORE_EXTRA).unwrap(), [Some(1), Some(2)]);
    }

    /// A model of another system without names, whose columns are counted from 0.
    #[test]
    fn columns_of_another_system_are_not_taken_as_numbers_of_data_that_begins_with_1() {
        let mut header = Header::new(ids(0, 3), Absent::Zero);
        header.notes.insert("from".into(), "LightGBM 4".into());
        let find = |header: &Header, data: &FeatureNames, options| {
            let matching = Matching::new(header, data, options).map_err(|e| e.to_string())?;
            Ok::<_, String>([0, 1, 2].map(|feature| matching.column(feature)))
        };
        let by_number = MatchOptions::default();
        // As many features as the model, one more, and fewer (the last may be absent everywhere).
        let table = named(&["1", "2", "bm25"]);
        for data in [ids(1, 3), ids(1, 4), ids(1, 2), ids(1, 1), table] {
            for ignore_extra in [false, true] {
                let options = by_number.ignore_extra(ignore_extra);
                let error = find(&header, &data, options).unwrap_err();
                assert!(error.contains("the model (LightGBM 4)"), "{error}");
                assert!(error.contains("feature 0 of the model may be feature 1"), "{error}");
            }
        }
        let by_position = by_number.by(MatchBy::Position);
        assert_eq!(find(&header, &ids(1, 2), by_position), Ok([Some(0), Some(1), None]));
        for data in [ids(0, 3), named(&["0", "1", "2"]), named(&["0", "2", "1"])] {
            assert_eq!(find(&header, &data, by_number).unwrap()[0], Some(0));
        }
        assert_eq!(find(&header, &ids(1, 0), by_number), Ok([None; 3]));
        // Both numbers that can be recorded: 1 for the first case, 0 for equal numbers.
        header.number_from(1);
        assert_eq!(find(&header, &ids(1, 3), by_number), Ok([Some(0), Some(1), Some(2)]));
        header.number_from(0);
        assert_eq!(find(&header, &ids(1, 2), by_number), Ok([None, Some(0), Some(1)]));
    }

    #[test]
    fn names_that_are_numbers_are_ids() {
        let found = columns(ids(1, 3), &named(&["3", "1"]), REJECT_EXTRA);
        assert_eq!(found.unwrap(), [Some(1), None, Some(0)]);
        let error = columns(ids(1, 3), &named(&["3", "bm25"]), REJECT_EXTRA).unwrap_err();
        assert!(error.ends_with("does not know: bm25"), "{error}");
        assert_eq!(
            columns(named(&["3", "1"]), &ids(1, 3), IGNORE_EXTRA).unwrap(),
            [Some(2), Some(0)]
        );
        assert_eq!(id_of("007"), None);
    }

    #[test]
    fn names_do_not_match_numbers() {
        let text = "the model's features have the names a, b; those of the data have the numbers \
                    0 to 2";
        // No guess is made with which number the names begin, and the error is not about extra
        // features.
        for ignore in [REJECT_EXTRA, IGNORE_EXTRA] {
            assert_eq!(columns(named(&["a", "b"]), &ids(0, 3), ignore).unwrap_err(), text);
            let error = columns(ids(1, 1), &named(&["a", "b"]), ignore).unwrap_err();
            let text = "the model's features have the number 1; those of the data have the names \
                        a, b";
            assert_eq!(error, text);
        }
        // A renamed feature among numbers is not taken as absent.
        let error = columns(named(&["1", "bm25", "3"]), &ids(1, 3), IGNORE_EXTRA).unwrap_err();
        assert!(error.contains("have the names 1, bm25, 3"), "{error}");
        assert!(columns(named(&["a"]), &ids(1, 0), REJECT_EXTRA).is_err());
    }

    #[test]
    fn positions_are_matched_on_request() {
        let by_position = MatchOptions::default().by(MatchBy::Position);
        let found = |model, data| columns_with(model, &data, by_position);
        assert_eq!(found(named(&["a", "b"]), ids(0, 2)).unwrap(), [Some(0), Some(1)]);
        assert_eq!(found(ids(1, 2), named(&["a", "b"])).unwrap(), [Some(0), Some(1)]);
        assert_eq!(found(ids(1, 2), ids(0, 2)).unwrap(), [Some(0), Some(1)]);
        assert_eq!(found(named(&["a", "b"]), named(&["b", "c"])).unwrap(), [Some(0), Some(1)]);
        // Numbered (sparse) data may lack the last features, named data may not.
        assert_eq!(found(named(&["a", "b"]), ids(1, 1)).unwrap(), [Some(0), None]);
        let error = found(ids(1, 3), named(&["a", "b"])).unwrap_err();
        assert_eq!(error, "the data lacks 1 of the model's features: 3");
        let error = found(named(&["a"]), ids(0, 2)).unwrap_err();
        assert_eq!(error, "the data has 1 feature that the model does not know: 1");
        let found = columns_with(named(&["a"]), &ids(0, 2), by_position.ignore_extra(true));
        assert_eq!(found.unwrap(), [Some(0)]);
    }

    #[test]
    fn data_whose_features_would_all_be_ignored_is_refused() {
        let error = columns(ids(1, 2), &named(&["77", "78"]), IGNORE_EXTRA).unwrap_err();
        assert_eq!(error, "the data lacks 2 of the model's features: 1, 2");
    }

    #[test]
    fn a_huge_range_of_ids_takes_no_memory() {
        let header = Header::new(ids(1, 4_000_000_000), Absent::Zero);
        let matching = Matching::new(&header, &ids(1, 3), MatchOptions::default()).unwrap();
        assert_eq!((matching.column(2), matching.column(3_999_999_999)), (Some(2), None));
        assert!(Matching::new(&header, &named(&["a"]), MatchOptions::default()).is_err());
    }

    #[test]
    fn members_are_matched_with_the_blend_and_through_it_with_data() {
        let header = |features| Header::new(features, Absent::Zero);
        let match_member = |member, blend: &FeatureNames| {
            let found = Matching::members([&header(member)].into_iter(), blend);
            found.map(|mut all| all.remove(0)).map_err(|error| error.to_string())
        };
        let blend = named(&["a", "b", "c"]);
        let member = match_member(named(&["c", "a"]), &blend).unwrap();
        let options = MatchOptions::default();
        let names = named(&["b", "c", "a"]);
        let data = Matching::new(&header(blend.clone()), &names, options).unwrap();
        let through = member.through(&data);
        assert_eq!([0, 1, 2].map(|f| through.column(f)), [Some(1), Some(2), None]);
        let error = match_member(named(&["a", "d"]), &blend).unwrap_err();
        assert!(error.starts_with("the features of member 0 are not all in the blend"), "{error}");
        let error = match_member(ids(1, 3), &blend).unwrap_err();
        assert!(error.contains("the names a, b, c"), "{error}");
        let error = match_member(ids(1, 3), &named(&["3", "1"])).unwrap_err();
        assert!(error.starts_with("member 0 numbers its features"), "{error}");
        let short = match_member(ids(1, 4), &ids(1, 2)).unwrap();
        let data =
            Matching::new(&header(ids(1, 2)), &ids(0, 3), options.ignore_extra(true)).unwrap();
        let through = short.through(&data);
        assert_eq!([0, 1, 2].map(|f| through.column(f)), [Some(1), Some(2), None]);
        assert_eq!(through.value(&[7.0, 8.0], 2), 0.0);
        assert!(through.value(&[7.0, 8.0], 1).is_nan(), "beyond the end of the row");
    }
}
