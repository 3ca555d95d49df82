//! Guesses of roles that need the values of columns, and names that mean a role only if no other
//! column has it.
//!
//! A guess is made only where exactly one column fits, and every guess gives a warning. Ids must not
//! become features by accident: a model would learn single documents by heart. A column with the
//! name of an id is the document id if its values differ within each query; otherwise it is left
//! out, or read as categories if its values repeat.

use std::collections::{HashMap, HashSet};

use super::content::{ColumnContent, ContentKind};
use super::plan::{ColumnUse, SourceColumn};
use crate::format::roles::{
    LABELS, POSSIBLE_LABELS, QUERIES, ROW_NUMBERS, is_id_name, is_number_name, normalised_name,
};

/// A label guessed by name has at most this many different values.
const MOST_GRADES: usize = 20;

/// Columns with their uses so far, and the values of their first rows.
pub(super) struct Guesses<'a> {
    pub(super) columns: &'a [SourceColumn],
    pub(super) uses: &'a [ColumnUse],
    pub(super) contents: &'a [ColumnContent],
    /// Columns whose use is not open to guesses.
    pub(super) is_given: &'a [bool],
}

impl<'a> Guesses<'a> {
    /// The columns that no name gave a role, with their numbers.
    fn open(&self) -> impl Iterator<Item = (usize, &'a str, &'a ColumnContent)> + '_ {
        let columns = self.columns.iter().zip(self.uses).zip(self.contents).zip(self.is_given);
        columns
            .enumerate()
            .filter(|(_, (((column, used), _), is_given))| {
                !column.is_nested && !**is_given && **used == ColumnUse::Feature(None)
            })
            .map(|(number, (((column, _), content), _))| (number, column.name.as_str(), content))
    }

    /// The open columns whose name is in a list and whose values fit, in the order of the list.
    fn named(&self, names: &[&str], fits: fn(&ColumnContent) -> bool) -> Vec<usize> {
        let place = |name: &str| names.iter().position(|known| *known == normalised_name(name));
        let mut found: Vec<(usize, usize)> = self
            .open()
            .filter(|(.., content)| fits(content))
            .filter_map(|(number, name, _)| Some((place(name)?, number)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, number)| number).collect()
    }

    /// The label, if exactly one column can be it.
    pub(super) fn label(&self) -> Option<usize> {
        only(&self.named(LABELS, is_grade))
    }

    /// A column that may well be the label, for a suggestion.
    pub(super) fn possible_label(&self) -> Option<usize> {
        let named = self.named(LABELS, is_numeric);
        named.into_iter().chain(self.named(POSSIBLE_LABELS, is_numeric)).next()
    }

    /// The query id, if exactly one column can be it.
    pub(super) fn query(&self) -> Option<usize> {
        only(&self.named(QUERIES, repeats))
    }

    /// A column that may well be the query id, for a suggestion: by its name, or because equal
    /// values follow each other.
    pub(super) fn possible_query(&self) -> Option<usize> {
        let grouped = self.open().filter(|(.., content)| repeats(content) && is_grouped(content));
        self.named(QUERIES, repeats).into_iter().next().or(grouped.map(|(at, ..)| at).next())
    }

    /// The open columns whose name means an id and whose values can be one.
    fn ids(&self) -> impl Iterator<Item = (usize, &'a str, &'a ColumnContent)> + '_ {
        self.open().filter(|(_, name, content)| is_id_name(name) && is_id(content))
    }

    /// The document id, if exactly one column can be it. Among several, a column that may number
    /// the rows is the last choice.
    pub(super) fn document(&self, query: Option<usize>) -> Option<usize> {
        let query = query.and_then(|query| self.contents.get(query)).map(ColumnContent::sample);
        let unique: Vec<(usize, &str)> = self
            .ids()
            .filter(|(.., content)| differs_within(content.sample(), query))
            .map(|(number, name, _)| (number, name))
            .collect();
        let is_other = |name: &str| !ROW_NUMBERS.contains(&normalised_name(name).as_str());
        let numbers = |all: bool| {
            let found = unique.iter().filter(|(_, name)| all || is_other(name));
            found.map(|(number, _)| *number).collect::<Vec<_>>()
        };
        only(&numbers(false)).or_else(|| only(&numbers(true)))
    }

    /// A column that may well be the document id, for a suggestion: texts without blanks that hardly
    /// repeat, or whole numbers with a name such as `item_no`, if they differ within each query and
    /// do not just count its rows.
    pub(super) fn possible_document(&self, query: Option<usize>) -> Option<usize> {
        let query = query.and_then(|query| self.contents.get(query)).map(ColumnContent::sample);
        let is_possible = |name: &str, content: &ColumnContent| match content.kind() {
            ContentKind::FreeTexts { .. } => {
                let has_blank = |text: &str| text.contains(char::is_whitespace);
                !content.sample().iter().any(|text| has_blank(text))
            }
            ContentKind::Numbers => {
                is_number_name(name) && is_id(content) && !counts_rows(content, query)
            }
            _ => false,
        };
        let is_given = |content: &ColumnContent| content.sample().iter().all(|v| !v.is_empty());
        let mut found = self.open().filter(|(_, name, content)| {
            is_given(content)
                && is_possible(name, content)
                && differs_within(content.sample(), query)
        });
        found.next().map(|(number, ..)| number)
    }

    /// Further columns with the name of an id: those to leave out, whose values hardly repeat, and
    /// those to read as categories.
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

fn only(columns: &[usize]) -> Option<usize> {
    match columns {
        [column] => Some(*column),
        _ => None,
    }
}

fn is_numeric(content: &ColumnContent) -> bool {
    content.kind() == ContentKind::Numbers
}

fn is_grade(content: &ColumnContent) -> bool {
    is_numeric(content) && content.different() <= MOST_GRADES
}

fn repeats(content: &ColumnContent) -> bool {
    let given = content.sample().iter().filter(|value| !value.is_empty()).count();
    content.different() > 1 && content.different() * 3 <= given * 2
}

/// Whether equal values follow each other.
fn is_grouped(content: &ColumnContent) -> bool {
    let runs = content.sample().chunk_by(|a, b| a == b).count();
    let missing = content.sample().iter().any(|value| value.is_empty());
    !missing && runs == content.different()
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

/// Whether the values of each query are as small as the number of its rows.
fn counts_rows(content: &ColumnContent, queries: Option<&[Box<str>]>) -> bool {
    let query_of = |row: usize| queries.and_then(|queries| queries.get(row)).map_or("", |q| q);
    let mut rows: HashMap<&str, u64> = HashMap::new();
    for row in 0..content.sample().len() {
        *rows.entry(query_of(row)).or_default() += 1;
    }
    content.sample().iter().enumerate().all(|(row, value)| {
        let most = rows.get(query_of(row)).copied().unwrap_or_default();
        value.parse::<u64>().is_ok_and(|value| value <= most)
    })
}

/// Whether values differ among the rows of each query; empty ones do not count.
fn differs_within(values: &[Box<str>], queries: Option<&[Box<str>]>) -> bool {
    let mut seen: HashMap<&str, HashSet<&str>> = HashMap::new();
    values.iter().enumerate().filter(|(_, value)| !value.is_empty()).all(|(row, value)| {
        let query = queries.and_then(|queries| queries.get(row)).map_or("", |query| query);
        seen.entry(query).or_default().insert(value)
    })
}
