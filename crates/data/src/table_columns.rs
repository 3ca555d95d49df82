//! The columns of the table that a data set was read from: the role of each, and the way in which
//! its values become features.
//!
//! A data set, its cache and a model keep these columns, so that roles are given only once, and so
//! that texts get the same category numbers in every file. If the names of the columns alone tell
//! their roles ([`TableColumns::is_implied`]), the columns are not kept, except if the table has no
//! query column (all rows are one query).
//!
//! Feature values are 32-bit floats. The value of a category is its index in the list of
//! categories, which is sorted by frequency, the most frequent first, then by text. A text that is
//! not in the list is a missing value. A point in time becomes one feature for each [`TimePart`],
//! in UTC.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::DataError;
use crate::format::{Role, has_undecided_role};
use crate::point_in_time::DateOrder;
use crate::warnings::{MAX_EXAMPLES, unseen_message};

/// The largest number of categories of a column; rarer texts are missing values.
pub const MAX_CATEGORIES: usize = 1000;

/// The most columns of a table, whether they are read from its files, a cache or a model.
const MAX_COLUMNS: usize = 1 << 20;

/// A part of a point in time that is a feature of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TimePart {
    /// Days since the beginning of 1970, with their fraction.
    Days,
    /// The hour of the day, 0 to 23.
    Hour,
    /// The day of the week, from 0 (Monday) to 6 (Sunday).
    Weekday,
}

impl TimePart {
    /// Every part.
    pub const ALL: [TimePart; 3] = [TimePart::Days, TimePart::Hour, TimePart::Weekday];

    /// The name in roles and in names of features.
    pub fn name(self) -> &'static str {
        match self {
            TimePart::Days => "days",
            TimePart::Hour => "hour",
            TimePart::Weekday => "weekday",
        }
    }

    /// The value of the part at a time, in microseconds since the beginning of 1970 (UTC).
    pub(crate) fn of(self, micros: i64) -> f32 {
        const HOUR: i64 = 3_600_000_000;
        const DAY: i64 = 24 * HOUR;
        match self {
            TimePart::Days => (micros as f64 / DAY as f64) as f32,
            TimePart::Hour => (micros.rem_euclid(DAY) / HOUR) as f32,
            // 1 January 1970 was a Thursday.
            TimePart::Weekday => (micros.div_euclid(DAY) + 3).rem_euclid(7) as f32,
        }
    }
}

/// The way in which the values of a column become features.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Encoding {
    /// Numbers are features as they are; `true` is 1 and `false` is 0.
    #[default]
    Number,
    /// Texts become numbers: their index in this list.
    #[serde(with = "shared_texts")]
    Category(Arc<[String]>),
    /// Points in time become one feature for each part, called `column.part`.
    Time(Vec<TimePart>),
}

/// Serialises a shared list of texts like an owned list.
mod shared_texts {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(list: &Arc<[String]>, to: S) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<[String]>, D::Error> {
        Vec::<String>::deserialize(from).map(Arc::from)
    }
}

impl Encoding {
    /// Categories of values in memory: `numbers` has the index in `texts` of each row's text, or
    /// `None` for a missing value. The texts that occur are sorted as in a file, the most frequent
    /// first, then by text; beyond [`MAX_CATEGORIES`] they are missing values. Returns the encoding
    /// and the value of the feature in each row.
    ///
    /// ```
    /// use rankwright_data::Encoding;
    /// let texts = ["red", "blue", "green"].map(str::to_owned);
    /// let (encoding, values) = Encoding::categories(&texts, [Some(2), Some(0), Some(2), Some(9)]);
    /// assert_eq!(encoding, Encoding::Category(["green".to_owned(), "red".to_owned()].into()));
    /// assert_eq!(values[..3], [0.0, 1.0, 0.0]);
    /// assert!(values[3].is_nan());
    /// ```
    pub fn categories(
        texts: &[String],
        numbers: impl IntoIterator<Item = Option<usize>>,
    ) -> (Encoding, Vec<f32>) {
        let numbers: Vec<Option<usize>> = numbers.into_iter().collect();
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for text in numbers.iter().filter_map(|number| texts.get((*number)?)) {
            *counts.entry(text).or_default() += 1;
        }
        let mut sorted: Vec<(&str, u64)> = counts.into_iter().collect();
        sorted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        sorted.truncate(MAX_CATEGORIES);
        let kept: Arc<[String]> = sorted.iter().map(|(text, _)| (*text).to_owned()).collect();
        let codes: HashMap<&str, f32> =
            sorted.iter().zip(0u16..).map(|((text, _), code)| (*text, f32::from(code))).collect();
        let value_of: Vec<f32> = texts
            .iter()
            .map(|text| codes.get(text.as_str()).copied().unwrap_or(f32::NAN))
            .collect();
        let value = |number: Option<usize>| number.and_then(|number| value_of.get(number)).copied();
        let values = numbers.into_iter().map(|number| value(number).unwrap_or(f32::NAN)).collect();
        (Encoding::Category(kept), values)
    }

    /// The name of the encoding in roles and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Encoding::Number => "number",
            Encoding::Category(_) => "category",
            Encoding::Time(_) => "time",
        }
    }

    fn is_number(&self) -> bool {
        *self == Encoding::Number
    }
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TableColumn {
    /// The name of the column.
    pub name: String,
    /// The role of the column: `feature`, `ignore`, an id, a label, a weight or a position.
    pub role: Role,
    /// The encoding of a feature.
    #[serde(default, skip_serializing_if = "Encoding::is_number")]
    pub encoding: Encoding,
    /// The order of day and month in dates such as `3/4/2026`, of a column of points in time.
    #[serde(default, skip_serializing_if = "DateOrder::is_unknown")]
    pub date_order: DateOrder,
}

impl TableColumn {
    /// A column with a role; a feature of numbers where the role is `feature`.
    pub fn new(name: impl Into<String>, role: Role) -> TableColumn {
        let date_order = DateOrder::Unknown;
        TableColumn { name: name.into(), role, encoding: Encoding::Number, date_order }
    }

    /// A column of features.
    pub fn feature(name: impl Into<String>, encoding: Encoding) -> TableColumn {
        let (role, date_order) = (Role::Feature, DateOrder::Unknown);
        TableColumn { name: name.into(), role, encoding, date_order }
    }

    /// Whether the name alone tells the role, and the encoding is that of numbers.
    pub(crate) fn is_implied(&self) -> bool {
        let guess = Role::guess(&self.name);
        let name_decides = guess.is_some() || !has_undecided_role(&self.name);
        self.role == guess.unwrap_or(Role::Feature) && name_decides && self.encoding.is_number()
    }

    /// Whether the column is a feature of numbers.
    pub(crate) fn is_number(&self) -> bool {
        self.role == Role::Feature && self.encoding.is_number()
    }

    /// The names of the features that the column becomes.
    pub fn features(&self) -> Vec<String> {
        match (&self.role, &self.encoding) {
            (Role::Feature, Encoding::Time(parts)) => {
                parts.iter().map(|part| format!("{}.{}", self.name, part.name())).collect()
            }
            (Role::Feature, _) => vec![self.name.clone()],
            _ => Vec::new(),
        }
    }
}

/// The columns of a table, in their order.
///
/// ```
/// use rankwright_data::{Encoding, TableColumn, TableColumns};
/// use rankwright_data::format::Role;
/// let brands = Encoding::Category(["acme".to_owned(), "best".to_owned()].into());
/// let columns = TableColumns::new(vec![
///     TableColumn::new("session", Role::Query),
///     TableColumn::feature("brand", brands),
/// ])?;
/// assert_eq!(columns.categories("brand").unwrap()[1], "best");
/// assert!(!columns.is_implied());
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct TableColumns {
    columns: Vec<TableColumn>,
}

impl<'de> Deserialize<'de> for TableColumns {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let columns = Vec::<TableColumn>::deserialize(from)?;
        TableColumns::new(columns).map_err(serde::de::Error::custom)
    }
}

impl TableColumns {
    /// Checks that there are not too many columns, that names differ, that no column has an
    /// encoding such as `category` as its role, and that a role other than `feature`, `ignore` and
    /// `extra_label` has at most one column; that only features have an encoding other than numbers;
    /// that the categories of a column differ and are at most [`MAX_CATEGORIES`]; and that the parts
    /// of a time are at least one, ascending and different.
    pub fn new(columns: Vec<TableColumn>) -> Result<TableColumns, DataError> {
        let invalid = |column: &TableColumn| DataError::TableColumn { column: column.name.clone() };
        if columns.len() > MAX_COLUMNS {
            let (columns, limit) = (columns.len(), MAX_COLUMNS);
            return Err(DataError::TooManyTableColumns { columns, limit });
        }
        let (mut names, mut roles) = (HashSet::new(), HashSet::new());
        for column in &columns {
            let is_shared = matches!(column.role, Role::Feature | Role::Ignore | Role::ExtraLabel);
            let is_encoding = column.role.is_encoding();
            let encoding_fits_role = column.role == Role::Feature || column.encoding.is_number();
            let is_valid = match &column.encoding {
                Encoding::Number => true,
                Encoding::Category(values) => {
                    let known: HashSet<&String> = values.iter().collect();
                    known.len() == values.len() && values.len() <= MAX_CATEGORIES
                }
                Encoding::Time(parts) => !parts.is_empty() && parts.windows(2).all(|w| w[0] < w[1]),
            };
            let is_new =
                names.insert(column.name.as_str()) && (is_shared || roles.insert(column.role));
            if !(is_new && is_valid && encoding_fits_role) || is_encoding {
                return Err(invalid(column));
            }
        }
        Ok(TableColumns { columns })
    }

    /// The columns in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &TableColumn> {
        self.columns.iter()
    }

    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The texts of a feature's categories, by their numbers; `None` if it has no categories.
    pub fn categories(&self, feature: &str) -> Option<&Arc<[String]>> {
        match self.column(feature) {
            Some(TableColumn {
                role: Role::Feature, encoding: Encoding::Category(values), ..
            }) => Some(values),
            _ => None,
        }
    }

    /// The names of the features that are categories, each with the texts of its categories.
    pub fn all_categories(&self) -> impl Iterator<Item = (&str, &Arc<[String]>)> {
        self.columns.iter().filter_map(|column| match (&column.role, &column.encoding) {
            (Role::Feature, Encoding::Category(values)) => Some((column.name.as_str(), values)),
            _ => None,
        })
    }

    /// Whether the names of the columns alone tell everything: every role is the one that the name
    /// means, no column is ignored, and all features are numbers.
    pub fn is_implied(&self) -> bool {
        self.columns.iter().all(TableColumn::is_implied)
    }

    /// The columns as JSON text.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Columns from the text of [`to_json`](Self::to_json); `None` for any other text.
    pub fn from_json(text: &str) -> Option<TableColumns> {
        serde_json::from_str(text).ok()
    }

    /// The same columns; columns of categories also have the categories that only `other` has,
    /// after their own. So a table can be read for several models, each of which then gets its own
    /// category numbers ([`Dataset::with_categories`]).
    #[must_use]
    pub fn joined_categories(&self, other: &TableColumns) -> TableColumns {
        let mut columns = self.columns.clone();
        for column in &mut columns {
            if let (Encoding::Category(values), Some(others)) =
                (&mut column.encoding, other.categories(&column.name))
            {
                let known: HashSet<&String> = values.iter().collect();
                let added = others.iter().filter(|text| !known.contains(text));
                let joined: Vec<String> = values.iter().chain(added).cloned().collect();
                *values = joined.into();
            }
        }
        TableColumns { columns }
    }

    /// The same columns for rows without labels: further columns of labels are ignored.
    #[cfg(any(feature = "text", feature = "columnar"))]
    pub(crate) fn without_labels(&self) -> TableColumns {
        let mut columns = self.columns.clone();
        for column in columns.iter_mut().filter(|column| column.role == Role::ExtraLabel) {
            column.role = Role::Ignore;
        }
        TableColumns { columns }
    }

    /// Gives the feature `name`, which is a category, these categories.
    fn set_categories(&mut self, name: &str, list: &Arc<[String]>) {
        let column = self.columns.iter_mut().find(|column| column.name == name);
        if let Some(TableColumn { encoding: Encoding::Category(values), .. }) = column {
            *values = list.clone();
        }
    }
}

/// The text of a category with this number; `None` for a missing value. Readers have checked that
/// every other value has a text ([`Dataset::has_category_texts`]).
#[cfg(any(feature = "text", feature = "columnar"))]
pub(crate) fn category_text(texts: &[String], value: f32) -> Option<&str> {
    (!value.is_nan()).then(|| texts[value as usize].as_str())
}

/// Values of a feature whose texts are none of the categories of a model or of earlier data, so
/// that they count as missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnseenCategories {
    /// The name of the feature.
    pub feature: String,
    /// The number of such values.
    pub values: u64,
    /// The first different texts, at most five.
    pub examples: Vec<String>,
}

impl UnseenCategories {
    fn new(feature: &str) -> UnseenCategories {
        UnseenCategories { feature: feature.to_owned(), values: 0, examples: Vec::new() }
    }

    fn add(&mut self, text: &String) {
        self.values += 1;
        if self.examples.len() < MAX_EXAMPLES && !self.examples.contains(text) {
            self.examples.push(text.clone());
        }
    }
}

impl fmt::Display for UnseenCategories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&unseen_message(&self.feature, self.values, &self.examples))
    }
}

impl Dataset {
    /// The columns of the table that the data was read from; `None` if it is from no table, or if
    /// the names of the columns tell everything ([`TableColumns::is_implied`]) and one is the
    /// query.
    pub fn table_columns(&self) -> Option<&Arc<TableColumns>> {
        self.table_columns.as_ref()
    }

    /// The texts of a feature's categories, by their numbers; `None` if it has no categories.
    pub fn categories(&self, feature: usize) -> Option<&Arc<[String]>> {
        self.table_columns.as_ref()?.categories(&self.features().name(feature))
    }

    /// Whether every value of a feature of categories is missing, or the number of a text in the
    /// feature's list. Readers of files that record categories check this, and all other code
    /// relies on it.
    pub(crate) fn has_category_texts(&self) -> bool {
        self.category_without_text().is_none()
    }

    /// The first feature of categories with a value that is neither missing nor the number of a
    /// text in the feature's list.
    pub(crate) fn category_without_text(&self) -> Option<&str> {
        let categories = self.table_columns.iter().flat_map(|columns| columns.all_categories());
        let mut wrong = categories.into_iter().filter(|(name, texts)| {
            let Some(column) = self.features.column(name) else { return false };
            (0..self.rows()).any(|row| {
                let value = self.matrix.get(row, column);
                let is_number = value >= 0.0 && value.fract() == 0.0;
                !(value.is_nan() || (is_number && (value as usize) < texts.len()))
            })
        });
        wrong.next().map(|(name, _)| name)
    }

    /// Whether a feature of categories has another list of categories in `other`, so that
    /// [`with_categories`](Self::with_categories) would number them anew.
    pub fn differs_in_categories(&self, other: &TableColumns) -> bool {
        let own_categories = self.table_columns.iter().flat_map(|columns| columns.all_categories());
        own_categories
            .into_iter()
            .any(|(name, values)| other.categories(name).is_some_and(|o| o != values))
    }

    /// The values that [`with_categories`](Self::with_categories) makes missing, because their
    /// texts are not among the other columns' categories; a feature without such values is not
    /// listed. Cost: one pass over the values of features with such texts.
    pub fn unseen_categories(&self, other: &TableColumns) -> Vec<UnseenCategories> {
        let own_categories = self.table_columns.iter().flat_map(|columns| columns.all_categories());
        let unseen = |(name, _): (&str, &Arc<[String]>)| {
            self.values_not_in(self.features.column(name)?, other.categories(name)?)
        };
        own_categories.into_iter().filter_map(unseen).collect()
    }

    /// The values of one feature, by its column, whose texts are not in a list of categories;
    /// `None` if there are none, or if the feature has no categories.
    pub fn values_not_in(&self, column: usize, list: &[String]) -> Option<UnseenCategories> {
        let texts = self.categories(column)?;
        let known: HashSet<&String> = list.iter().collect();
        let is_unseen: Vec<bool> = texts.iter().map(|text| !known.contains(text)).collect();
        if !is_unseen.contains(&true) {
            return None;
        }
        let mut unseen = UnseenCategories::new(&self.features.name(column));
        for row in 0..self.rows() {
            let value = self.matrix.get(row, column);
            // The value is in range, see `has_category_texts`.
            if !value.is_nan() && is_unseen[value as usize] {
                unseen.add(&texts[value as usize]);
            }
        }
        (unseen.values > 0).then_some(unseen)
    }

    /// The same data with the category numbers of other columns, such as those of the training
    /// data. A category that the other columns do not have becomes a missing value.
    #[must_use]
    pub fn with_categories(self, other: &TableColumns) -> Dataset {
        let own_columns = self.table_columns.clone();
        let own_categories = own_columns.iter().flat_map(|columns| columns.all_categories());
        let list = |(name, _): (&str, &Arc<[String]>)| {
            Some((self.features.column(name)?, other.categories(name)?.clone()))
        };
        let lists: Vec<(usize, Arc<[String]>)> = own_categories.filter_map(list).collect();
        self.with_category_lists(&lists)
    }

    /// The same data with other lists of categories for some features, given by their columns: a
    /// value becomes the number of its text in the new list, or missing if that has no such text.
    /// Columns without categories stay as they are.
    #[must_use]
    pub fn with_category_lists(mut self, lists: &[(usize, Arc<[String]>)]) -> Dataset {
        let Some(mut table_columns) = self.table_columns.clone() else { return self };
        // The features to change, each with the new number of each old number.
        let mut new_numbers: Vec<(usize, Vec<f32>)> = Vec::new();
        for (column, list) in lists {
            let Some(own) = self.categories(*column).filter(|own| *own != list) else { continue };
            let numbers: HashMap<&str, usize> =
                list.iter().enumerate().map(|(number, text)| (text.as_str(), number)).collect();
            let number = |text: &String| numbers.get(text.as_str()).map_or(f32::NAN, |n| *n as f32);
            new_numbers.push((*column, own.iter().map(number).collect()));
            Arc::make_mut(&mut table_columns).set_categories(&self.features.name(*column), list);
        }
        if new_numbers.is_empty() {
            return self;
        }
        let width = self.columns();
        let mut matrix = self.matrix.into_owned();
        for row in matrix.values_mut().chunks_exact_mut(width.max(1)) {
            for (column, numbers) in &new_numbers {
                let value = &mut row[*column];
                // The value is in range, see `has_category_texts`.
                if !value.is_nan() {
                    *value = numbers[*value as usize];
                }
            }
        }
        self.matrix = matrix;
        self.table_columns = Some(table_columns);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brands(values: &[&str]) -> TableColumns {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let brand = TableColumn::feature("brand", Encoding::Category(values));
        TableColumns::new(vec![TableColumn::new("qid", Role::Query), brand]).unwrap()
    }

    #[test]
    fn parts_of_a_time_are_those_of_the_calendar() {
        // Wednesday, 1 January 2025, 18:00: day 20,089 from 1970.
        let micros = (20_089 * 24 + 18) * 3_600_000_000;
        assert_eq!(TimePart::Hour.of(micros), 18.0);
        assert_eq!(TimePart::Weekday.of(micros), 2.0);
        assert_eq!(TimePart::Days.of(micros), 20_089.75);
        assert_eq!(TimePart::Weekday.of(0), 3.0, "Thursday");
        assert_eq!((TimePart::Weekday.of(-1), TimePart::Hour.of(-1)), (2.0, 23.0));
    }

    #[test]
    fn columns_are_written_and_read_as_json() {
        let mut columns = brands(&["a", "b"]);
        columns.columns.push(TableColumn::feature("at", Encoding::Time(TimePart::ALL.to_vec())));
        columns.columns.push(TableColumn::new("url", Role::Ignore));
        assert_eq!(TableColumns::from_json(&columns.to_json().unwrap()).unwrap(), columns);
        let text = "[{\"name\":\"qid\",\"role\":\"qid\"},{\"name\":\"x\",\"role\":\"feature\"}]";
        let plain = TableColumns::from_json(text).unwrap();
        assert!(plain.is_implied() && !columns.is_implied());
        assert_eq!(plain.to_json().unwrap(), text);
    }

    #[test]
    fn columns_that_contradict_themselves_are_refused() {
        for bad in [
            r#"[{"name":"a","role":"qid"},{"name":"b","role":"qid"}]"#,
            r#"[{"name":"a","role":"feature"},{"name":"a","role":"ignore"}]"#,
            r#"[{"name":"a","role":"feature","encoding":{"category":["x","x"]}}]"#,
            r#"[{"name":"a","role":"feature","encoding":{"time":[]}}]"#,
            r#"[{"name":"a","role":"feature","encoding":{"time":["hour","days"]}}]"#,
            r#"[{"name":"a","role":"label","encoding":{"category":["x"]}}]"#,
            r#"[{"name":"a","role":"time"}]"#,
            r#"[{"name":"a","role":"what"}]"#,
        ] {
            assert!(TableColumns::from_json(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn categories_get_the_numbers_of_other_columns_and_unknown_ones_are_missing() {
        let mut data = Dataset::from_rows([[0.0], [1.0], [2.0], [f32::NAN]], ["brand"])
            .query_ids([1, 1, 1, 1])
            .build()
            .unwrap();
        data.table_columns = Some(Arc::new(brands(&["a", "b", "c"])));
        let other = brands(&["c", "a"]);
        assert!(data.differs_in_categories(&other));
        let unseen = data.unseen_categories(&other);
        assert_eq!(
            (unseen.len(), unseen[0].values, unseen[0].examples.join(",")),
            (1, 1, "b".into())
        );
        let joined = data.table_columns().unwrap().joined_categories(&brands(&["d", "a"]));
        assert_eq!(joined.categories("brand").unwrap().join(""), "abcd");
        let recoded = data.with_categories(&other);
        let values = recoded.matrix().values();
        assert_eq!((values[0], values[2]), (1.0, 0.0));
        assert!(values[1].is_nan() && values[3].is_nan());
        assert_eq!(recoded.categories(0).unwrap().len(), 2);
        assert!(!recoded.differs_in_categories(&other));
        assert!(recoded.unseen_categories(&other).is_empty());
    }
}
