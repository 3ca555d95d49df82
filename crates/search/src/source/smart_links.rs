//! Links from the `.X` sections of SMART collections.
//!
//! A line is `id kind id2`, and `id2` is the document that contains the line. In CACM kind 5 means
//! that one of the two documents cites the other, 4 is bibliographic coupling and 6 co-citation.
//! Only kind 5 is a link. CACM states each of its 2,720 citations in both documents, without saying
//! which of the two cites the other; but a document can only cite older documents. So the links of
//! a document are the *older* documents: older by month and year in `.B` if both documents have
//! them, otherwise by number (CACM's numbers follow the years, except for a few at the end). In the
//! same month, the smaller number counts as older. Lines that name the document itself are ignored.
//!
//! A line of another form is left out and counted (`skipped-values`); it says nothing about the file.
//!
//! CISI has the same three columns, but its second one is a number of co-citations, from 1 on. So
//! if the second column of a file has any value other than 4, 5 and 6, every other document that a
//! line names is a link, in both directions.

use std::collections::{HashMap, HashSet};

use memchr::memmem;
use rankwright_data::{SourceLocation, WarningKind, Warnings};

use super::smart::SmartLine;

/// The interpretation of the `.X` sections of a whole file.
#[derive(Default)]
pub(super) struct CitationRule {
    /// Whether the second column is CACM's kind of link.
    has_kinds: bool,
    /// Months since the year 0, by document id.
    dates: HashMap<Vec<u8>, u32>,
}

impl CitationRule {
    /// Finds the rule of a file in one pass; fast if the file has no `.X`.
    pub(super) fn scan(text: &[u8]) -> CitationRule {
        let mut rule = CitationRule { has_kinds: true, dates: HashMap::new() };
        if memmem::find(text, b"\n.X").is_none() {
            return rule;
        }
        let (mut id, mut section): (&[u8], u8) = (&[], 0);
        for line in text.split(|&b| b == b'\n') {
            match SmartLine::of(line) {
                SmartLine::Id(found) => (id, section) = (found, 0),
                SmartLine::Section(letter) => section = letter,
                SmartLine::Content(line) if section == b'B' => {
                    if let Some(date) = date(line) {
                        rule.dates.insert(id.to_vec(), date);
                    }
                }
                SmartLine::Content(line) if section == b'X' => {
                    let line = std::str::from_utf8(line).unwrap_or_default();
                    if let Some(LinkLine { kind: Some(kind), .. }) = LinkLine::of(line) {
                        rule.has_kinds &= matches!(kind, 4..=6);
                    }
                }
                SmartLine::Content(_) => {}
            }
        }
        rule
    }

    /// The links in the section `.X` of a document, each once, in the order of the file.
    pub(super) fn links(
        &self,
        id: &str,
        section: &str,
        warnings: &mut Warnings,
        location: impl Fn() -> SourceLocation,
    ) -> Vec<String> {
        let mut links = Vec::new();
        let mut seen = HashSet::new();
        for line in section.lines().filter(|line| !line.trim().is_empty()) {
            let Some(LinkLine { first, kind, second }) = LinkLine::of(line) else {
                warnings.add(WarningKind::SkippedValues, 1, || location().in_field("links"));
                continue;
            };
            let other = if first == id { second } else { first };
            let is_link = other != id
                && (!self.has_kinds
                    || (kind.is_none_or(|kind| kind == CITATION)
                        && self.is_older(other.as_bytes(), id.as_bytes())));
            if is_link && seen.insert(other) {
                links.push(other.to_owned());
            }
        }
        links
    }

    /// Whether the document `other` is older than the document `this`.
    fn is_older(&self, other: &[u8], this: &[u8]) -> bool {
        let number = |id| std::str::from_utf8(id).ok().and_then(|id| id.parse::<u64>().ok());
        match (self.dates.get(other), self.dates.get(this)) {
            (Some(other), Some(this)) if other != this => return other < this,
            _ => {}
        }
        match (number(other), number(this)) {
            (Some(other), Some(this)) => other < this,
            _ => other < this,
        }
    }
}

/// CACM's kind of links between a document and one that it cites.
const CITATION: u64 = 5;

/// A line of a section `.X`: an id alone, or an id, a kind or a count, and another id.
struct LinkLine<'t> {
    first: &'t str,
    /// `None` for an id alone.
    kind: Option<u64>,
    /// The same as `first` for an id alone.
    second: &'t str,
}

impl<'t> LinkLine<'t> {
    /// The parts of a line; `None` if it has another form.
    fn of(line: &'t str) -> Option<Self> {
        let words: Vec<&str> = line.split_ascii_whitespace().take(4).collect();
        match words[..] {
            [id] => Some(LinkLine { first: id, kind: None, second: id }),
            [first, kind, second] => {
                Some(LinkLine { first, kind: Some(kind.parse().ok()?), second })
            }
            _ => None,
        }
    }
}

/// Months since the year 0 in a line such as `CACM December, 1958`.
fn date(line: &[u8]) -> Option<u32> {
    const MONTHS: [&[u8]; 12] = [
        b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov",
        b"dec",
    ];
    let words = || line.split(|b| !b.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let year = words().find_map(|word| {
        let year = std::str::from_utf8(word).ok()?.parse::<u32>().ok()?;
        (1800..2100).contains(&year).then_some(year)
    })?;
    let month = words().find_map(|word| {
        let start = word.get(..3)?.to_ascii_lowercase();
        MONTHS.iter().position(|month| **month == *start)
    });
    Some(year * 12 + month.unwrap_or(0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(file: &str, id: &str, section: &str) -> Vec<String> {
        let mut warnings = Warnings::default();
        CitationRule::scan(file.as_bytes())
            .links(id, section, &mut warnings, || SourceLocation::file("x"))
    }

    #[test]
    fn a_document_links_to_the_older_ones_of_kind_5() {
        let file = ".I 2\n.B\nCACM May,1970\n.X\n1\t5\t2\n.I 9\n.B\nCACM March, 1963\n.I 3\n.X\n";
        let section = "1\t5\t2\n2\t5\t2\n3\t5\t2\n9\t5\t2\n9\t5\t2\n1\t4\t2\n7\t6\t2";
        // 1 is older by number, 9 by date; 3 is newer by number, 7 only co-cited.
        assert_eq!(links(file, "2", section), ["1", "9"]);
        assert_eq!(links(file, "9", "2 5 9"), Vec::<String>::new());
    }

    #[test]
    fn counts_in_the_second_column_make_every_other_document_a_link() {
        let file = ".I 1\n.X\n1\t5\t1\n92\t1\t1\n";
        assert_eq!(links(file, "1", "1\t5\t1\n92\t1\t1\n262\t1\t1\n92 2 1"), ["92", "262"]);
    }

    /// A damaged line neither changes the meaning of the others nor disappears without a warning.
    #[test]
    fn lines_of_another_form_are_left_out_and_counted() {
        let file = ".I 2\n.X\n1\t5\t2\n7 x 2\n1 9\n";
        let mut warnings = Warnings::default();
        let section = "1\t5\t2\n7 x 2\n1 9\n8\t5\t2";
        let found = CitationRule::scan(file.as_bytes())
            .links("2", section, &mut warnings, || SourceLocation::line("cacm.all", 1));
        // 8 is newer, as kind 5 keeps its meaning.
        assert_eq!(found, ["1"]);
        assert_eq!(warnings.count(WarningKind::SkippedValues), 2);
        let text = warnings.iter().map(ToString::to_string).collect::<String>();
        assert!(text.contains("links") && text.contains("cacm.all"), "{text}");
    }

    #[test]
    fn dates_are_found_with_and_without_month() {
        assert_eq!(date(b"CACM December, 1958"), Some(1958 * 12 + 11));
        assert_eq!(date(b"j. ae. scs. 25, 1958, 324."), Some(1958 * 12));
        assert_eq!(date(b"institute"), None);
    }
}
