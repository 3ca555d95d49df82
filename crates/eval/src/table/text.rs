//! Aligned plain text, two spaces between columns.
//!
//! `*` after a number marks the best of the column, `▲` and `▼` mark significance. They have
//! character positions of their own, so that the digits of a column are aligned.

use super::{Align, Cell, Table, one_line, pad, width};

/// The three parts of a column: the text, a star for the best, and a mark of significance.
struct ColumnParts {
    /// Width of the text, in characters.
    text_width: usize,
    /// Whether any cell has a star.
    has_star: bool,
    /// Whether any cell has a mark.
    has_mark: bool,
}

impl ColumnParts {
    fn of(cells: &[&Cell]) -> Self {
        Self {
            text_width: cells.iter().map(|cell| width(&cell.line())).max().unwrap_or(0),
            has_star: cells.iter().any(|cell| cell.best),
            has_mark: cells.iter().any(|cell| !cell.mark.symbol().is_empty()),
        }
    }

    fn width(&self) -> usize {
        self.text_width + usize::from(self.has_star) + if self.has_mark { 2 } else { 0 }
    }

    /// The text of a cell, padded to the width of the column.
    fn fill(&self, cell: &Cell, align: Align) -> String {
        let mut filled = pad(&cell.line(), self.text_width, align);
        if self.has_star {
            filled.push(if cell.best { '*' } else { ' ' });
        }
        if self.has_mark {
            filled.push_str(&pad(&format!(" {}", cell.mark.symbol()), 2, Align::Left));
        }
        filled
    }
}

pub(super) fn render(table: &Table) -> String {
    draw(table, None)
}

pub(super) fn render_within(table: &Table, width: usize) -> String {
    draw(table, Some(width))
}

/// The smallest width that a column is reduced to.
const MIN_COLUMN_WIDTH: usize = 12;

/// The table as text; with a maximum width, long texts continue on further lines.
fn draw(table: &Table, max_width: Option<usize>) -> String {
    let mut lines = vec![table.header_cells()];
    lines.extend(table.padded_rows());
    let cells_by_column: Vec<Vec<&Cell>> =
        (0..table.columns()).map(|c| lines.iter().filter_map(|row| row.get(c)).collect()).collect();
    let mut column_parts: Vec<ColumnParts> =
        cells_by_column.iter().map(|cells| ColumnParts::of(cells)).collect();
    if let Some(max_width) = max_width {
        narrow(table, &mut column_parts, max_width);
    }

    let mut out = String::new();
    for (row, cells) in lines.iter().enumerate() {
        for line in wrap_row(cells, &column_parts) {
            let filled = line.iter().zip(&column_parts).enumerate();
            let filled = filled.map(|(c, (cell, column))| column.fill(cell, table.align_of(c)));
            push_line(&mut out, &filled.collect::<Vec<_>>());
        }
        if row == 0 {
            let rules = column_parts.iter().map(|column| "-".repeat(column.width()));
            push_line(&mut out, &rules.collect::<Vec<_>>());
        }
    }
    push_notes(&mut out, table, column_parts.iter().any(|column| column.has_star), max_width);
    out
}

/// Reduces the widest columns of text until a line has at most `max_width` characters.
fn narrow(table: &Table, widths: &mut [ColumnParts], max_width: usize) {
    loop {
        let all: usize = widths.iter().map(|column| column.width() + 2).sum();
        let excess = all.saturating_sub(max_width + 2);
        let is_text = |c: usize| table.align_of(c) == Align::Left;
        let texts = widths.iter_mut().enumerate().filter(|(c, _)| is_text(*c));
        let mut texts: Vec<&mut ColumnParts> = texts.map(|(_, column)| column).collect();
        texts.sort_by_key(|column| std::cmp::Reverse(column.text_width));
        let second = texts.get(1).map_or(0, |column| column.text_width);
        match texts.first_mut() {
            Some(widest) if excess > 0 && widest.text_width > MIN_COLUMN_WIDTH => {
                // First down to the width of the second widest column, then by 1 in turn.
                let step = excess.min((widest.text_width - second).max(1));
                widest.text_width = (widest.text_width - step).max(MIN_COLUMN_WIDTH);
            }
            _ => return,
        }
    }
}

/// A row as one or more lines: texts that are wider than their column are broken between words.
fn wrap_row(cells: &[Cell], widths: &[ColumnParts]) -> Vec<Vec<Cell>> {
    let parts: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, column)| wrap_text(&cell.line(), column.text_width))
        .collect();
    let count = parts.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let line = |index: usize| -> Vec<Cell> {
        let cell = |(cell, parts): (&Cell, &Vec<String>)| {
            let text = parts.get(index).cloned().unwrap_or_default();
            // Marks stand in the first line.
            if index == 0 { Cell { text, ..cell.clone() } } else { Cell::new(text) }
        };
        cells.iter().zip(&parts).map(cell).collect()
    };
    (0..count).map(line).collect()
}

/// A text in lines of at most this many characters, broken between words where possible; 0 is no
/// limit.
fn wrap_text(text: &str, max_width: usize) -> Vec<String> {
    if width(text) <= max_width || max_width == 0 {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().map_or_else(String::new, std::mem::take);
            let blank = usize::from(!line.is_empty());
            let last = lines.len() - 1;
            if width(&line) + blank + word.len() <= max_width {
                let space = " ".repeat(blank);
                lines[last] = format!("{line}{space}{}", word.iter().collect::<String>());
                break;
            }
            // A word that is wider than a whole line is broken, after a comma or parenthesis if
            // any.
            if line.is_empty() {
                let cut = word[..max_width].iter().rposition(|c| ",)(/".contains(*c));
                let cut = cut.map_or(max_width, |i| i + 1);
                let rest = word.split_off(cut);
                lines[last] = word.iter().collect();
                word = rest;
            } else {
                lines[last] = line;
            }
            lines.push(String::new());
        }
    }
    lines
}

fn push_line(out: &mut String, cells: &[String]) {
    out.push_str(cells.join("  ").trim_end());
    out.push('\n');
}

/// Adds the notes; the first one explains the star, if there is one.
fn push_notes(out: &mut String, table: &Table, has_star: bool, max_width: Option<usize>) {
    if table.notes.is_empty() && !has_star {
        return;
    }
    out.push('\n');
    if has_star {
        out.push_str("* best of the column.\n");
    }
    for note in &table.notes {
        for line in wrap_text(&one_line(note), max_width.unwrap_or(usize::MAX)) {
            out.push_str(&line);
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_continue_on_further_lines_and_numbers_do_not() {
        let mut table =
            Table::new([("name", Align::Left), ("n", Align::Right), ("meaning", Align::Left)]);
        let cell = "a long description of what it does";
        table.rows.push(vec!["first".into(), "12345".into(), cell.into()]);
        table.notes.push("a note that is longer than the table may be".into());
        let expected = "\
name       n  meaning
-----  -----  ----------------
first  12345  a long
              description of
              what it does

a note that is longer than the
table may be
";
        assert_eq!(table.to_text_within(30), expected);
        assert!(table.to_text_within(200) == table.to_text());
    }

    /// A name of three characters that are shown as more.
    #[test]
    fn escaped_characters_count_as_they_are_shown() {
        let mut table = Table::new([("x", Align::Left), ("n", Align::Right)]);
        table.rows.push(vec!["a\u{1b}b".into(), "1".into()]);
        let text = table.to_text();
        let row = text.lines().nth(2).unwrap_or_default();
        assert!(row.starts_with('a') && row.ends_with("b  1"), "{text}");
    }

    #[test]
    fn words_wider_than_a_line_are_broken_after_punctuation() {
        assert_eq!(
            wrap_text("ndcg(gain=linear,blank=0)@10", 20),
            ["ndcg(gain=linear,", "blank=0)@10"]
        );
        assert_eq!(wrap_text("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap_text("ab abcdefgh", 4), ["ab", "abcd", "efgh"]);
        assert_eq!(wrap_text("", 4), [""]);
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit_and_lose_nothing(text in "[a-d,( ]{0,60}", max_width in 1_usize..20) {
            let found = wrap_text(&text, max_width);
            prop_assert!(found.iter().all(|line| width(line) <= max_width));
            let without_spaces = |text: &str| text.replace(' ', "");
            prop_assert_eq!(without_spaces(&found.join("")), without_spaces(&text));
        }
    }
}
