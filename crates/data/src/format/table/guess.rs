//! Guesses of roles that need the values of columns, and of names that mean a role only if no other
//! column has it.
//!
//! A guess is made only where exactly one column fits, and every guess gives a warning. Ids must
//! not become features by accident: a model would memorise single documents. A column whose
//! name means an id is the document id if its values differ within each query; otherwise it is left
//! out, or read as categories if its values repeat.

use std::collections::{HashMap, HashSet};

use super::content::{ColumnContent, ContentKind};
use super::plan::{ColumnUse, SourceColumn};
use crate::format::roles::{
    FALLBACK_LABEL_NAMES, FALLBACK_QUERY_NAMES, POSSIBLE_LABEL_NAMES, ROW_NUMBER_NAMES, Role,
    is_id_name, is_item_number_name, normalised_name,
};

/// A label guessed by name has at most this many different values.
const MAX_GRADES: usize = 20;

/// The columns of a table: their uses so far, and the content of their first rows.
pub(super) struct Guesses<'a> {
    pub(super) columns: &'a [SourceColumn],
    pub(super) uses: &'a [ColumnUse],
    pub(super) contents: &'a [ColumnContent],
    /// Whether the use of each column was given, so that it is not guessed.
    pub(super) is_given: &'a [bool],
}

/// A column whose role is not known yet: its number, its name and its content.
type UndecidedColumn<'a> = (usize, &'a str, &'a ColumnContent);

impl<'a> Guesses<'a> {
    /// The columns that have no role by their names, and none that was given.
    fn undecided(&self) -> impl Iterator<Item = UndecidedColumn<'a>> + '_ {
        let columns = self.columns.iter().zip(self.uses).zip(self.contents).zip(self.is_given);
        columns
            .enumerate()
            .filter(|(_, (((column, used), _), is_given))| {
                !column.is_nested && !**is_given && **used == ColumnUse::Feature(None)
            })
            .map(|(number, (((column, _), content), _))| (number, column.name.as_str(), content))
    }

    /// The undecided columns whose name is in a list and whose values fit, in the order of the
    /// list.
    fn named(&self, names: &[&str], fits: fn(&ColumnContent) -> bool) -> Vec<usize> {
        let index = |name: &str| names.iter().position(|known| *known == normalised_name(name));
        let mut found: Vec<(usize, usize)> = self
            .undecided()
            .filter(|(.., content)| fits(content))
            .filter_map(|(number, name, _)| Some((index(name)?, number)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, number)| number).collect()
    }

    /// The column of the label, if exactly one column can be the label.
    pub(super) fn label(&self) -> Option<usize> {
        only(&self.named(FALLBACK_LABEL_NAMES, is_grade))
    }

    /// The columns that are perhaps the label, to be suggested in an error message, the most likely
    /// first.
    pub(super) fn possible_labels(&self) -> Vec<usize> {
        let named = self.named(FALLBACK_LABEL_NAMES, is_numeric);
        named.into_iter().chain(self.named(POSSIBLE_LABEL_NAMES, is_numeric)).collect()
    }

    /// The column of the query id, if exactly one column can be the query id.
    pub(super) fn query(&self) -> Option<usize> {
        only(&self.named(FALLBACK_QUERY_NAMES, repeats))
    }

    /// The columns that are perhaps the query id, to be suggested in an error message: by their
    /// names, or the first one whose equal values are adjacent.
    pub(super) fn possible_queries(&self) -> Vec<usize> {
        let grouped =
            self.undecided().filter(|(.., content)| repeats(content) && is_grouped(content));
        let named = self.named(FALLBACK_QUERY_NAMES, repeats);
        match named.is_empty() {
            true => grouped.map(|(number, ..)| number).take(1).collect(),
            false => named,
        }
    }

    /// The undecided columns whose values are most likely those of a role that no name means, the most
    /// likely first: few different numbers for labels (any numbers if there are none), values that repeat for
    /// queries.
    pub(super) fn likely(&self, role: Role) -> Vec<usize> {
        let fits = |content: &ColumnContent| match role {
            Role::Label => is_grade(content),
            _ => repeats(content),
        };
        let mut found: Vec<UndecidedColumn<'_>> =
            self.undecided().filter(|(.., content)| fits(content)).collect();
        match role {
            Role::Label => found.sort_by_key(|(.., content)| content.different()),
            // Texts before numbers, which may be features.
            _ => found.sort_by_key(|(.., content)| {
                (is_numeric(content), std::cmp::Reverse(content.different()))
            }),
        }
        if found.is_empty() && role == Role::Label {
            found = self.undecided().filter(|(.., content)| is_numeric(content)).collect();
        }
        found.into_iter().map(|(number, ..)| number).collect()
    }

    /// The undecided columns whose name means an id and whose values can be ids.
    fn ids(&self) -> impl Iterator<Item = UndecidedColumn<'a>> + '_ {
        self.undecided().filter(|(_, name, content)| is_id_name(name) && is_id(content))
    }

    /// The column of the document id, if exactly one column can be the document id. Columns that
    /// may be just row numbers count only if there is no other.
    pub(super) fn document(&self, query: Option<usize>) -> Option<usize> {
        let query = query.and_then(|query| self.contents.get(query)).map(ColumnContent::sample);
        let unique: Vec<(usize, &str)> = self
            .ids()
            .filter(|(.., content)| differs_within(content.sample(), query))
            .map(|(number, name, _)| (number, name))
            .collect();
        let is_row_number = |name: &str| ROW_NUMBER_NAMES.contains(&normalised_name(name).as_str());
        let numbers = |with_row_numbers: bool| {
            let found = unique.iter().filter(|(_, name)| with_row_numbers || !is_row_number(name));
            found.map(|(number, _)| *number).collect::<Vec<_>>()
        };
        let by_id_name = only(&numbers(false)).or_else(|| only(&numbers(true)));
        by_id_name.or_else(|| self.only_item_number(query).filter(|_| unique.is_empty()))
    }

    /// The only column of texts with a name such as `item_no` whose values differ within each query.
    /// Numbers with such a name may be a feature.
    fn only_item_number(&self, query: Option<&[Box<str>]>) -> Option<usize> {
        let is_item_number = |name: &str, content: &ColumnContent| {
            is_item_number_name(name) && !is_numeric(content) && is_id(content)
        };
        let found: Vec<usize> = self
            .undecided()
            .filter(|(_, name, content)| is_item_number(name, content))
            .filter(|(.., content)| differs_within(content.sample(), query))
            .map(|(number, ..)| number)
            .collect();
        only(&found)
    }

    /// A column that is perhaps the document id, to be suggested in an error message: texts without
    /// whitespace that hardly repeat, or whole numbers with a name such as `item_no`, if they
    /// differ within each query and do not just count its rows.
    pub(super) fn possible_document(&self, query: Option<usize>) -> Option<usize> {
        let query = query.and_then(|query| self.contents.get(query)).map(ColumnContent::sample);
        let is_possible = |name: &str, content: &ColumnContent| match content.kind() {
            ContentKind::FreeTexts { .. } => {
                let has_whitespace = |text: &str| text.contains(char::is_whitespace);
                !content.sample().iter().any(|text| has_whitespace(text))
            }
            ContentKind::Numbers => {
                is_item_number_name(name) && is_id(content) && !counts_rows(content, query)
            }
            _ => false,
        };
        let has_all_values =
            |content: &ColumnContent| content.sample().iter().all(|value| !value.is_empty());
        let mut found = self.undecided().filter(|(_, name, content)| {
            has_all_values(content)
                && is_possible(name, content)
                && differs_within(content.sample(), query)
        });
        found.next().map(|(number, ..)| number)
    }

    /// The other columns whose name means an id: first those to leave out, because their values
    /// hardly repeat, then those to read as categories.
    pub(super) fn other_ids(&self) -> (Vec<usize>, Vec<usize>) {
        let rows = |content: &ColumnContent| {
            content.sample().iter().filter(|value| !value.is_empty()).count()
        };
        let (left_out, categories): (Vec<_>, Vec<_>) =
            self.ids().partition(|(.., content)| content.different() * 2 > rows(content));
        let numbers = |ids: Vec<(usize, &str, &ColumnContent)>| {
            ids.into_iter().map(|(number, ..)| number).collect()
        };
        (numbers(left_out), numbers(categories))
    }
}

/// The only element of a list; `None` if there are none or several.
fn only(columns: &[usize]) -> Option<usize> {
    match columns {
        [column] => Some(*column),
        _ => None,
    }
}

fn is_numeric(content: &ColumnContent) -> bool {
    content.kind() == ContentKind::Numbers
}

/// Whether values can be graded labels: a few different numbers.
fn is_grade(content: &ColumnContent) -> bool {
    is_numeric(content) && content.different() <= MAX_GRADES
}

/// Whether values repeat, as query ids do: there is more than one value, and the number of
/// different values is at most two thirds of the rows that have one.
fn repeats(content: &ColumnContent) -> bool {
    let with_value = content.sample().iter().filter(|value| !value.is_empty()).count();
    content.different() > 1 && content.different() * 3 <= with_value * 2
}

/// Whether all rows with the same value are adjacent, and no value is missing.
fn is_grouped(content: &ColumnContent) -> bool {
    let groups = content.sample().chunk_by(|a, b| a == b).count();
    let has_missing = content.sample().iter().any(|value| value.is_empty());
    !has_missing && groups == content.different()
}

/// Whether values can be ids: texts, codes and whole numbers.
fn is_id(content: &ColumnContent) -> bool {
    match content.kind() {
        ContentKind::Codes | ContentKind::Categories | ContentKind::FreeTexts { .. } => true,
        ContentKind::Mixed { .. } => true,
        ContentKind::Numbers => {
            let is_whole = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
            content.sample().iter().all(|value| is_whole(value))
        }
        _ => false,
    }
}

/// Whether values may just count the rows of each query: none is larger than the number of rows of
/// its query.
fn counts_rows(content: &ColumnContent, queries: Option<&[Box<str>]>) -> bool {
    let query_of = |row: usize| queries.and_then(|queries| queries.get(row)).map_or("", |q| q);
    let mut rows: HashMap<&str, u64> = HashMap::new();
    for row in 0..content.sample().len() {
        *rows.entry(query_of(row)).or_default() += 1;
    }
    content.sample().iter().enumerate().all(|(row, value)| {
        let rows_of_query = rows.get(query_of(row)).copied().unwrap_or_default();
        value.parse::<u64>().is_ok_and(|value| value <= rows_of_query)
    })
}

/// Whether all values within each query are different; missing values do not count.
fn differs_within(values: &[Box<str>], queries: Option<&[Box<str>]>) -> bool {
    let mut seen: HashMap<&str, HashSet<&str>> = HashMap::new();
    values.iter().enumerate().filter(|(_, value)| !value.is_empty()).all(|(row, value)| {
        let query = queries.and_then(|queries| queries.get(row)).map_or("", |query| query);
        seen.entry(query).or_default().insert(value)
    })
}
