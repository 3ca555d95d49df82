//! A page for a terminal: the summary, the first charts that can be read as text, and short tables.

use rankwright_eval::table::Table;
use rankwright_spec::words::counted;

use super::{Page, PageBlock};
use crate::chart::text::clean;
use crate::chart::{Body, Chart};

/// Maximum number of charts that are shown.
const CHARTS: usize = 3;
/// Maximum number of rows of a table that are shown.
const ROWS: usize = 15;

pub(super) fn render(page: &Page, width: usize) -> String {
    let title = clean(&page.title);
    let mut out = format!("{title}\n{}\n", "=".repeat(title.chars().count()));
    if !page.summary.is_empty() {
        out.push_str(&format!("{}\n", wrapped(&clean(&page.summary), width)));
    }
    for (name, value) in &page.facts {
        out.push_str(&format!("{}: {}\n", clean(name), clean(value)));
    }
    for line in &page.conventions {
        out.push_str(&format!("{}\n", clean(line)));
    }
    let mut charts = 0;
    for section in &page.sections {
        let mut part = String::new();
        for block in shown_blocks(&section.blocks) {
            match block {
                PageBlock::Chart(chart) if charts < CHARTS && is_readable_as_text(chart) => {
                    charts += 1;
                    part.push_str(&format!("\n{}", chart.to_text(width)));
                }
                PageBlock::Table { title, table, .. } => {
                    part.push_str(&format!("\n{}\n{}", clean(title), shortened(table)));
                }
                _ => {}
            }
        }
        if !part.is_empty() {
            let title = clean(&section.title);
            out.push_str(&format!("\n{title}\n{}\n{part}", "-".repeat(title.chars().count())));
        }
    }
    out
}

/// The blocks of a section; a choice is replaced by the blocks of its first group.
fn shown_blocks(blocks: &[PageBlock]) -> Vec<&PageBlock> {
    let mut out = Vec::new();
    for block in blocks {
        match block {
            PageBlock::Choice { groups, .. } => {
                let first = groups.first().map(|(_, blocks)| shown_blocks(blocks));
                out.extend(first.unwrap_or_default());
            }
            other => out.push(other),
        }
    }
    out
}

/// Whether a chart is of a kind that can be read well in characters.
fn is_readable_as_text(chart: &Chart) -> bool {
    matches!(chart.body, Body::Lines(_) | Body::Bars(_) | Body::Stack(_))
}

/// The first rows of a table, with a note about the number of omitted rows.
fn shortened(table: &Table) -> String {
    let omitted = table.rows.len().saturating_sub(ROWS);
    let mut shown = table.clone();
    shown.rows.truncate(ROWS);
    if omitted > 0 {
        shown.notes.insert(0, format!("{} in the HTML file", counted(omitted, "more row")));
    }
    shown.to_text()
}

/// Lines of at most `width` characters, broken between words.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_only() {
        assert_eq!(wrapped("one two three four", 9), "one two\nthree\nfour");
        assert_eq!(wrapped("incomprehensible", 4), "incomprehensible");
        assert_eq!(wrapped("", 4), "");
    }
}
