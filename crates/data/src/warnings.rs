//! Recoverable problems, counted by kind and reported once each.

use std::collections::HashSet;
use std::fmt;

use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::error::{SourceLocation, quote};
use crate::format::Role;
use crate::point_in_time::DateOrder;
use crate::table_columns::MAX_CATEGORIES;

/// A kind of recoverable problem. Serialised as its [`name`](Self::name).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// A byte-order mark at the start of the file.
    ByteOrderMark,
    /// Blank lines.
    BlankLines,
    /// Features of a row whose ids are not in ascending order.
    UnsortedFeatures,
    /// Missing values that are written as words, such as `NULL` or `nan`.
    MissingValues,
    /// Queries whose rows are not adjacent.
    ScatteredQueries,
    /// Rows that have no document id while others have one.
    RowsWithoutDocid,
    /// Columns after the last one that is read.
    ExtraColumns,
    /// Side files that were read with the data: query sizes, weights, positions.
    SideFile,
    /// A side file of query sizes that is ignored, because the rows have a qid.
    NeedlessQuerySizes,
    /// Inputs without a feature set, although other inputs have one.
    InputsWithoutFeatureSet,
    /// A part of the data that the written format cannot hold.
    Lost(DataPart),
    /// Preference pairs for which there is also the opposite pair.
    ContradictoryPairs,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Documents in which no field has a word.
    WithoutText,
    /// Values that no field can hold: objects in lists, binary columns.
    SkippedValues,
    /// Text between documents.
    OutsideText,
    /// Inputs without a single document.
    EmptyInputs,
    /// Columns that were given a role because of their names or values.
    GuessedRole(Role),
    /// Columns whose names mean this role, and that are left out because the role was given as
    /// `none`.
    RoleLeftOut(Role),
    /// Columns that look like ids and are left out.
    IdLeftOut,
    /// Columns of ids that are read as categories.
    IdsAsCategories,
    /// Columns with the row numbers of a data frame, which are left out.
    RowNumbersLeftOut,
    /// Query ids that differ from others only by spaces around them.
    IdsWithSpaces,
    /// Columns of numbers with leading zeros that are read as categories.
    LeadingZeros,
    /// Columns with more different values than can be categories; rare values are missing values.
    RareCategories,
    /// Columns of dates such as `31/12/2025`, which are read in this order.
    DateOrder(DateOrder),
    /// Columns that are features and could be the label, beside the column that was given as label.
    PossibleLabels,
    /// Columns of a file with semicolons whose numbers may have a point between thousands; they are
    /// read with a decimal point.
    PossibleThousands,
    /// Features of earlier data, such as those of a model, that no line of JSON lines has.
    AbsentInAllLines {
        /// Whether absent numbers are 0; otherwise they are missing.
        is_zero: bool,
    },
    /// Texts that are none of the categories of earlier data, such as the training data of a model,
    /// and are read as missing values.
    UnseenCategories,
    /// Files of a folder that are no documents by their name.
    SkippedFiles,
    /// Links in a folder that lead to another folder or to nothing.
    SkippedLinks,
}

/// A part of a data set that not every format can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DataPart {
    /// Names of features.
    FeatureNames,
    /// The feature set that the features were computed with.
    FeatureSet,
    /// The rule that absent features of sparse rows are missing values.
    AbsentRule,
    /// Weights of rows.
    RowWeights,
    /// Weights of queries.
    QueryWeights,
    /// Positions at which rows were shown.
    Positions,
    /// Further columns of labels.
    LabelColumns,
    /// Preference pairs.
    Pairs,
    /// The texts of categories.
    Categories,
    /// The fact that the data has no labels.
    NoLabels,
}

impl DataPart {
    /// The kind of the warning that a format cannot hold the part.
    fn lost_name(self) -> &'static str {
        match self {
            DataPart::FeatureNames => "lost-feature-names",
            DataPart::FeatureSet => "lost-feature-set",
            DataPart::AbsentRule => "lost-absent-rule",
            DataPart::RowWeights => "lost-row-weights",
            DataPart::QueryWeights => "lost-query-weights",
            DataPart::Positions => "lost-positions",
            DataPart::LabelColumns => "lost-label-columns",
            DataPart::Pairs => "lost-pairs",
            DataPart::Categories => "lost-categories",
            DataPart::NoLabels => "labels-of-zero",
        }
    }

    /// The message that a format cannot hold the part.
    fn lost_message(self) -> &'static str {
        match self {
            DataPart::FeatureNames => {
                "this format does not keep feature names: features are numbered in their order"
            }
            DataPart::FeatureSet => "this format does not keep the feature set",
            DataPart::NoLabels => {
                "the data has no labels, but every row of this format needs one: 0 is written"
            }
            DataPart::AbsentRule => {
                "this format does not keep the rule that absent features are missing values"
            }
            DataPart::RowWeights => "this format does not keep row weights",
            DataPart::QueryWeights => "this format does not keep query weights",
            DataPart::Positions => "this format does not keep positions",
            DataPart::LabelColumns => "this format does not keep further columns of labels",
            DataPart::Pairs => "this format does not keep preference pairs",
            DataPart::Categories => {
                "this format does not keep which features are categories, and their texts"
            }
        }
    }
}

impl WarningKind {
    /// The stable name of the kind, such as `blank-lines` or `lost-pairs`.
    pub fn name(self) -> &'static str {
        match self {
            WarningKind::ByteOrderMark => "byte-order-mark",
            WarningKind::BlankLines => "blank-lines",
            WarningKind::UnsortedFeatures => "unsorted-features",
            WarningKind::MissingValues => "missing-values",
            WarningKind::ScatteredQueries => "scattered-queries",
            WarningKind::RowsWithoutDocid => "rows-without-docid",
            WarningKind::ExtraColumns => "extra-columns",
            WarningKind::SideFile => "side-file",
            WarningKind::NeedlessQuerySizes => "needless-query-sizes",
            WarningKind::InputsWithoutFeatureSet => "inputs-without-feature-set",
            WarningKind::Lost(part) => part.lost_name(),
            WarningKind::ContradictoryPairs => "contradictory-pairs",
            WarningKind::InvalidUtf8 => "invalid-utf8",
            WarningKind::WithoutText => "without-text",
            WarningKind::SkippedValues => "skipped-values",
            WarningKind::OutsideText => "outside-text",
            WarningKind::EmptyInputs => "empty-inputs",
            WarningKind::GuessedRole(Role::Query) => "guessed-qid",
            WarningKind::GuessedRole(Role::Label) => "guessed-label",
            WarningKind::GuessedRole(Role::Docid) => "guessed-docid",
            WarningKind::GuessedRole(Role::Weight) => "guessed-weight",
            WarningKind::GuessedRole(Role::QueryWeight) => "guessed-query-weight",
            WarningKind::GuessedRole(Role::Position) => "guessed-position",
            WarningKind::GuessedRole(_) => "guessed-role",
            WarningKind::RoleLeftOut(_) => "role-left-out",
            WarningKind::IdLeftOut => "id-left-out",
            WarningKind::IdsAsCategories => "ids-as-categories",
            WarningKind::RowNumbersLeftOut => "row-numbers-left-out",
            WarningKind::IdsWithSpaces => "ids-with-spaces",
            WarningKind::LeadingZeros => "leading-zeros",
            WarningKind::RareCategories => "rare-categories",
            WarningKind::DateOrder(_) => "date-order",
            WarningKind::PossibleLabels => "possible-labels",
            WarningKind::PossibleThousands => "possible-thousands",
            WarningKind::AbsentInAllLines { .. } => "absent-in-all-lines",
            WarningKind::UnseenCategories => "unseen-categories",
            WarningKind::SkippedFiles => "skipped-files",
            WarningKind::SkippedLinks => "skipped-links",
        }
    }

    /// The message for a number of problems of this kind.
    fn message(self, count: u64) -> String {
        let (unit, rest) = match self {
            WarningKind::ByteOrderMark => ("byte-order mark", "skipped"),
            WarningKind::BlankLines => ("blank line", "skipped"),
            WarningKind::UnsortedFeatures => {
                ("row", "with features that are not in ascending order")
            }
            WarningKind::MissingValues => ("value", "written NULL or nan, read as missing"),
            WarningKind::ScatteredQueries => {
                ("query", "with rows that are not adjacent in the input; the rows were grouped")
            }
            WarningKind::IdsWithSpaces => (
                "query id",
                "that differs from another only by spaces around it; it is a query of its own",
            ),
            WarningKind::RowsWithoutDocid => {
                ("row", "without a document id, although other rows have one")
            }
            WarningKind::ExtraColumns => ("line", "with text after the last column, ignored"),
            WarningKind::SideFile => ("side file", "read together with the data"),
            WarningKind::NeedlessQuerySizes => {
                ("side file", "of query sizes ignored, because the rows have a qid")
            }
            WarningKind::InputsWithoutFeatureSet => {
                ("input", "without a feature set; that of the other inputs is assumed")
            }
            WarningKind::Lost(part) => return part.lost_message().to_owned(),
            WarningKind::ContradictoryPairs => {
                ("preference pair", "contradicted by the opposite pair; both are kept")
            }
            WarningKind::InvalidUtf8 => {
                ("text", "with bytes that are not UTF-8, replaced by U+FFFD")
            }
            WarningKind::WithoutText => ("document", "without any text, kept"),
            WarningKind::SkippedValues => ("value", "skipped: neither text, number nor list"),
            WarningKind::OutsideText => ("text", "outside of documents, skipped"),
            WarningKind::EmptyInputs => ("input", "without a document"),
            WarningKind::UnseenCategories => {
                ("value", "not among the known categories, read as missing")
            }
            // Warnings with columns have their message from `about_columns`.
            WarningKind::GuessedRole(_)
            | WarningKind::RoleLeftOut(_)
            | WarningKind::IdLeftOut
            | WarningKind::IdsAsCategories
            | WarningKind::RowNumbersLeftOut
            | WarningKind::LeadingZeros
            | WarningKind::DateOrder(_)
            | WarningKind::PossibleLabels
            | WarningKind::PossibleThousands
            | WarningKind::AbsentInAllLines { .. }
            | WarningKind::RareCategories => ("column", "with a warning"),
            WarningKind::SkippedFiles => {
                ("file", "skipped: neither text (.txt, .md) nor a page (.html, .htm)")
            }
            WarningKind::SkippedLinks => ("link", "to a folder or to nothing skipped"),
        };
        format!("{} {rest}", counted(count as usize, unit))
    }
}

impl Serialize for WarningKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// All problems of one kind: their number, and the location of the first one. Serialised as
/// `{"kind": ..., "message": ..., "count": ..., "first": ...}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataWarning {
    /// The kind.
    pub kind: WarningKind,
    /// The number of problems.
    pub count: u64,
    /// The location of the first one.
    pub first: SourceLocation,
    /// The columns of a table that the warning is about; empty for other warnings.
    pub columns: Vec<String>,
    /// The first different texts that are no known categories, words for missing values, or a value
    /// that may be thousands; the roles that solve the problem of possible labels; empty for other
    /// warnings.
    pub examples: Vec<String>,
}

impl DataWarning {
    /// Problems of a kind that concern no columns of a table.
    pub fn new(kind: WarningKind, count: u64, first: SourceLocation) -> DataWarning {
        DataWarning { kind, count, first, columns: Vec::new(), examples: Vec::new() }
    }

    /// The columns in words, and whether there is only one.
    fn listed_columns(&self) -> (String, bool) {
        let names: Vec<String> = self.columns.iter().take(8).map(|c| format!("'{c}'")).collect();
        let more = match self.columns.len().saturating_sub(8) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let is_single = self.columns.len() == 1;
        let columns = if is_single { "column" } else { "columns" };
        (format!("{columns} {}{more}", names.join(", ")), is_single)
    }

    /// The message on words for missing values.
    fn about_missing_words(&self) -> String {
        let words: Vec<String> = self.examples.iter().map(|text| quote(text.as_bytes())).collect();
        let such_as = if words.len() < MAX_EXAMPLES { "" } else { "such as " };
        format!(
            "{}: {} written {such_as}{}, read as missing; the role `category` keeps such a word as \
             a text",
            self.listed_columns().0,
            counted(self.count as usize, "value"),
            words.join(", ")
        )
    }

    fn first_example(&self) -> &str {
        self.examples.first().map_or("", String::as_str)
    }

    /// The message of a warning about columns; `None` for other kinds.
    fn about_columns(&self) -> Option<String> {
        let (columns, is_single) = self.listed_columns();
        let is = if is_single { "is" } else { "are" };
        let rest = match self.kind {
            WarningKind::GuessedRole(role) => format!("{is} taken as {}", role_in_words(role)),
            WarningKind::RoleLeftOut(role) => {
                format!("{is} left out, because the role {} was given as `none`", role.name())
            }
            WarningKind::IdLeftOut => format!(
                "{} and {is} left out; the role `number` or `category` would make features of ids",
                if is_single { "looks like an id" } else { "look like ids" }
            ),
            WarningKind::IdsAsCategories => format!(
                "{} and {is} read as categories; the role `number` reads numbers",
                if is_single { "looks like an id" } else { "look like ids" }
            ),
            WarningKind::RowNumbersLeftOut => format!(
                "{} of a data frame and {is} left out; the role `number` would make a feature",
                if is_single { "has the row numbers" } else { "have row numbers" }
            ),
            WarningKind::LeadingZeros => format!(
                "{} numbers with leading zeros and {is} read as categories; the role `number` reads \
                 numbers",
                if is_single { "has" } else { "have" }
            ),
            WarningKind::DateOrder(order) => {
                let example = match order {
                    DateOrder::MonthFirst => "month first, as in 12/31/2025",
                    _ => "day first, as in 31/12/2025",
                };
                format!("{is} read as dates with the {example}")
            }
            WarningKind::PossibleLabels => format!(
                "could be the label too, and {is} read as {}: a label among the features makes \
                 every model look perfect; the role `ignore` leaves {} out",
                if is_single { "a feature" } else { "features" },
                if is_single { "it" } else { "them" }
            ),
            WarningKind::PossibleThousands => format!(
                "{is} read with decimal points, but each number with a point may be thousands, such \
                 as '{}'; where thousands are meant, write the numbers without separators of \
                 thousands",
                self.first_example()
            ),
            WarningKind::AbsentInAllLines { is_zero: true } => {
                format!("{is} in no line: numbers are taken as 0, categories and times as missing")
            }
            WarningKind::AbsentInAllLines { is_zero: false } => {
                format!("{is} in no line: all values are taken as missing")
            }
            WarningKind::RareCategories => format!(
                "{} more than {MAX_CATEGORIES} different values: the most frequent ones are \
                 categories, the others are missing values",
                if is_single { "has" } else { "have" }
            ),
            _ => return None,
        };
        Some(format!("{}: {columns} {rest}", self.first))
    }

    /// The stable name of the kind of warning, such as `blank-lines`.
    pub fn kind(&self) -> &'static str {
        self.kind.name()
    }
}

impl Serialize for DataWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lists = [&self.columns, &self.examples];
        let length = 4 + lists.iter().filter(|list| !list.is_empty()).count();
        let mut object = serializer.serialize_struct("DataWarning", length)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.serialize_field("count", &self.count)?;
        object.serialize_field("first", &self.first)?;
        if !self.columns.is_empty() {
            object.serialize_field("columns", &self.columns)?;
        }
        if !self.examples.is_empty() {
            object.serialize_field("examples", &self.examples)?;
        }
        object.end()
    }
}

impl fmt::Display for DataWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            WarningKind::Lost(part) => write!(f, "{}: {}", self.first, part.lost_message()),
            WarningKind::UnseenCategories => {
                let column = self.columns.first().map_or("", String::as_str);
                let message = unseen_message(column, self.count, &self.examples);
                write!(f, "{message} (first: {})", self.first)
            }
            WarningKind::MissingValues if !self.columns.is_empty() => {
                write!(f, "{} (first: {})", self.about_missing_words(), self.first)
            }
            _ if !self.columns.is_empty() => f.write_str(&self.about_columns().unwrap_or_default()),
            kind => write!(f, "{} (first: {})", kind.message(self.count), self.first),
        }
    }
}

/// The message that values of a column are no known categories.
pub(crate) fn unseen_message(column: &str, values: u64, examples: &[String]) -> String {
    let shown: Vec<String> = examples.iter().map(|text| quote(text.as_bytes())).collect();
    let (are, count) = match values {
        1 => ("is", "1 value".to_owned()),
        values => ("are", format!("{values} values")),
    };
    // There may be further texts once the list is full.
    let such_as = if shown.len() < MAX_EXAMPLES { "" } else { "such as " };
    format!(
        "column '{column}': {count} {are} not among the known categories and {are} read as missing: \
         {such_as}{}",
        shown.join(", ")
    )
}

/// A role in words, for messages.
fn role_in_words(role: Role) -> &'static str {
    match role {
        Role::Query => "the query id",
        Role::Label => "the label",
        Role::Docid => "the document id",
        Role::Weight => "the weight of the rows, not as a feature",
        Role::QueryWeight => "the weight of the queries, not as a feature",
        Role::Position => "the position at which documents were shown, not as a feature",
        _ => "a feature",
    }
}

/// Maximum number of fields whose skipped values are counted separately.
const MAX_COUNTED_FIELDS: usize = 20;

/// Maximum number of texts that a warning on unseen categories or missing values has.
pub(crate) const MAX_EXAMPLES: usize = 5;

/// The warnings of a reader or a writer, one for each kind; unseen categories and skipped values
/// are counted by field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Warnings {
    warnings: Vec<DataWarning>,
}

impl Warnings {
    /// Counts more problems of a kind; `location` is called only for the first.
    pub fn add(
        &mut self,
        kind: WarningKind,
        count: u64,
        location: impl FnOnce() -> SourceLocation,
    ) {
        if count == 0 {
            return;
        }
        if kind == WarningKind::SkippedValues {
            return self.add_of_field(kind, count, location());
        }
        match self.warnings.iter_mut().find(|warning| warning.kind == kind) {
            Some(warning) => warning.count += count,
            None => {
                self.warnings.push(DataWarning::new(kind, count, location()));
            }
        }
    }

    /// Adds a warning about a column of a table.
    pub(crate) fn add_column(
        &mut self,
        kind: WarningKind,
        column: String,
        location: impl FnOnce() -> SourceLocation,
    ) {
        self.add(kind, 1, location);
        if let Some(warning) = self.warnings.iter_mut().find(|warning| warning.kind == kind) {
            warning.columns.push(column);
        }
    }

    /// Adds a warning about a column of a table with an example, of which the first is kept.
    pub(crate) fn add_column_with_example(
        &mut self,
        kind: WarningKind,
        column: String,
        example: String,
        location: impl FnOnce() -> SourceLocation,
    ) {
        self.add_column(kind, column, location);
        let known = self.warnings.iter_mut().find(|warning| warning.kind == kind);
        if let Some(warning) = known.filter(|warning| warning.examples.is_empty()) {
            warning.examples.push(example);
        }
    }

    /// Counts more problems of a kind separately for each field of their locations. If there are
    /// too many fields, problems of further fields are added to the last one.
    fn add_of_field(&mut self, kind: WarningKind, count: u64, location: SourceLocation) {
        let of_kind = || self.warnings.iter().filter(|warning| warning.kind == kind);
        let is_full = of_kind().count() >= MAX_COUNTED_FIELDS;
        let same = |warning: &DataWarning| warning.first.field == location.field;
        let known = self.warnings.iter().position(|warning| warning.kind == kind && same(warning));
        let last = || self.warnings.iter().rposition(|warning| warning.kind == kind && is_full);
        match known.or_else(last).and_then(|at| self.warnings.get_mut(at)) {
            Some(warning) => warning.count += count,
            None => self.warnings.push(DataWarning::new(kind, count, location)),
        }
    }

    /// Counts texts of a column that are none of its known categories; `location` is called only
    /// for the first of the column.
    pub(crate) fn add_unseen(
        &mut self,
        column: &str,
        count: u64,
        examples: &[String],
        location: impl FnOnce() -> SourceLocation,
    ) {
        let kind = WarningKind::UnseenCategories;
        let is_same = |known: &DataWarning| known.kind == kind && known.columns == [column];
        let at = self.warnings.iter().position(is_same).unwrap_or_else(|| {
            let mut new = DataWarning::new(kind, 0, location());
            new.columns.push(column.to_owned());
            self.warnings.push(new);
            self.warnings.len() - 1
        });
        let Some(warning) = self.warnings.get_mut(at) else { return };
        warning.count += count;
        for text in examples {
            if warning.examples.len() < MAX_EXAMPLES && !warning.examples.contains(text) {
                warning.examples.push(text.clone());
            }
        }
    }

    /// Counts values of columns of a table that are written as words for a missing value.
    pub(crate) fn add_missing_words(
        &mut self,
        count: u64,
        columns: Vec<String>,
        words: Vec<String>,
        first: SourceLocation,
    ) {
        let kind = WarningKind::MissingValues;
        self.add(kind, count, || first);
        let Some(known) = self.warnings.iter_mut().find(|known| known.kind == kind) else { return };
        let mut names: HashSet<String> = known.columns.iter().cloned().collect();
        known.columns.extend(columns.into_iter().filter(|column| names.insert(column.clone())));
        for word in words {
            if known.examples.len() < MAX_EXAMPLES && !known.examples.contains(&word) {
                known.examples.push(word);
            }
        }
    }

    /// Bytes as text; invalid UTF-8 is replaced by U+FFFD, with a warning.
    pub fn text(&mut self, bytes: &[u8], location: impl FnOnce() -> SourceLocation) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                self.add(WarningKind::InvalidUtf8, 1, location);
                String::from_utf8_lossy(bytes).into_owned()
            }
        }
    }

    /// Adds the warnings of a later part of the input.
    pub fn merge(&mut self, later: Warnings) {
        for warning in later.warnings {
            let DataWarning { kind, count, first, columns, examples } = warning;
            if let (WarningKind::UnseenCategories, [column]) = (kind, columns.as_slice()) {
                self.add_unseen(column, count, &examples, || first);
                continue;
            }
            if kind == WarningKind::MissingValues {
                self.add_missing_words(count, columns, examples, first);
                continue;
            }
            self.add(kind, count, || first);
            if let Some(known) = self.warnings.iter_mut().find(|known| known.kind == kind) {
                known.columns.extend(columns);
                if known.examples.is_empty() {
                    known.examples = examples;
                }
            }
        }
    }

    /// The warnings in the order in which the kinds first occurred.
    pub fn iter(&self) -> impl Iterator<Item = &DataWarning> {
        self.warnings.iter()
    }

    /// The number of problems of a kind.
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.warnings
            .iter()
            .filter(|warning| warning.kind == kind)
            .map(|warning| warning.count)
            .sum()
    }

    /// The warnings as a list.
    pub fn into_vec(self) -> Vec<DataWarning> {
        self.warnings
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.warnings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_location_is_kept_and_counts_add_up() {
        let mut warnings = Warnings::default();
        warnings.add(WarningKind::BlankLines, 1, || SourceLocation::line("a", 3));
        warnings.add(WarningKind::BlankLines, 0, || unreachable!());
        let mut later = Warnings::default();
        later.add(WarningKind::BlankLines, 2, || SourceLocation::line("a", 9));
        warnings.merge(later);
        assert_eq!(warnings.count(WarningKind::BlankLines), 3);
        let text: Vec<String> = warnings.iter().map(|warning| warning.to_string()).collect();
        assert_eq!(text, ["3 blank lines skipped (first: a:3)"]);
    }

    #[test]
    fn text_that_is_not_utf8_is_replaced_and_counted() {
        let mut warnings = Warnings::default();
        assert_eq!(warnings.text(b"a\xffb", || SourceLocation::line("x", 3)), "a\u{fffd}b");
        assert_eq!(warnings.text(b"\xff", || SourceLocation::line("x", 9)), "\u{fffd}");
        assert_eq!(warnings.text("ö".as_bytes(), || unreachable!()), "ö");
        let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            ["2 texts with bytes that are not UTF-8, replaced by U+FFFD (first: x:3)"]
        );
        assert_eq!(warnings.count(WarningKind::WithoutText), 0);
    }

    #[test]
    fn skipped_values_are_counted_by_field_up_to_a_number_of_fields() {
        let mut warnings = Warnings::default();
        for field in ["tags", "size", "tags"] {
            let location = || SourceLocation::line("a", 3).in_field(field);
            warnings.add(WarningKind::SkippedValues, 2, location);
        }
        let text: Vec<String> = warnings.iter().map(|warning| warning.to_string()).collect();
        let skipped = "values skipped: neither text, number nor list (first: a:3 (column";
        assert_eq!(text, [format!("4 {skipped} 'tags'))"), format!("2 {skipped} 'size'))")]);
        for field in 0..100 {
            let location = || SourceLocation::line("a", 3).in_field(field.to_string());
            warnings.add(WarningKind::SkippedValues, 1, location);
        }
        assert_eq!(warnings.iter().count(), MAX_COUNTED_FIELDS);
        assert_eq!(warnings.count(WarningKind::SkippedValues), 106);
    }

    #[test]
    fn one_problem_is_singular() {
        let one = DataWarning::new(WarningKind::ScatteredQueries, 1, SourceLocation::file("a"));
        assert!(one.to_string().starts_with("1 query with rows"), "{one}");
        assert_eq!(one.kind(), "scattered-queries");
    }

    #[test]
    fn a_warning_is_serialised_with_its_text() {
        let mut warnings = Warnings::default();
        warnings.add(WarningKind::BlankLines, 2, || SourceLocation::line("a", 3));
        warnings.add(WarningKind::Lost(DataPart::Pairs), 1, || SourceLocation::file("b"));
        let expected = serde_json::json!([
            {
                "kind": "blank-lines", "count": 2, "first": {"file": "a", "line": 3},
                "message": "2 blank lines skipped (first: a:3)",
            },
            {
                "kind": "lost-pairs", "count": 1, "first": {"file": "b"},
                "message": "b: this format does not keep preference pairs",
            },
        ]);
        assert_eq!(serde_json::to_value(&warnings).unwrap(), expected);
    }
}
