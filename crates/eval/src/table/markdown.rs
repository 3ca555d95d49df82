//! A GitHub-flavoured Markdown table, padded so that the source is readable too.
//!
//! Characters that Markdown would read as markup are escaped with a backslash.

use super::{Align, Cell, Table, one_line, pad, width};

pub(super) fn render(table: &Table) -> String {
    let mut lines: Vec<Vec<String>> = vec![table.header_cells().iter().map(cell_text).collect()];
    lines.extend(table.padded_rows().map(|row| row.iter().map(cell_text).collect()));
    let widths: Vec<usize> = (0..table.columns())
        .map(|c| lines.iter().filter_map(|row| row.get(c)).map(|text| width(text)).max())
        .map(|widest| widest.unwrap_or(0).max(1))
        .collect();

    let mut out = String::new();
    for (row, cells) in lines.iter().enumerate() {
        let padded = cells.iter().zip(&widths).enumerate();
        let padded = padded.map(|(c, (text, width))| pad(text, *width, table.align_of(c)));
        out.push('|');
        padded.for_each(|text| out.push_str(&format!(" {text} |")));
        out.push('\n');
        if row == 0 {
            out.push_str(&header_rule(table, &widths));
        }
    }
    for note in &table.notes {
        out.push('\n');
        out.push_str(&escape(note));
        out.push('\n');
    }
    out
}

/// The line below the header, which gives the alignment of columns.
fn header_rule(table: &Table, widths: &[usize]) -> String {
    let mut out = String::from("|");
    for (column, width) in widths.iter().enumerate() {
        let dashes = "-".repeat(width + 1);
        out.push_str(&match table.align_of(column) {
            Align::Left => format!(":{dashes}|"),
            Align::Right => format!("{dashes}:|"),
        });
    }
    out.push('\n');
    out
}

fn cell_text(cell: &Cell) -> String {
    let text = escape(&cell.text);
    // `****` would not be an empty bold text but a horizontal line.
    let text = if cell.best && !text.is_empty() { format!("**{text}**") } else { text };
    format!("{text} {}", cell.mark.symbol()).trim_end().to_owned()
}

pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '~' | '&' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_characters_are_escaped() {
        assert_eq!(escape("a|b_c*d`e"), "a\\|b\\_c\\*d\\`e");
        assert_eq!(
            escape("<b>[x](y) \\ &amp; ~~z~~"),
            "\\<b\\>\\[x\\](y) \\\\ \\&amp; \\~\\~z\\~\\~"
        );
        assert_eq!(escape("two\nlines"), "two lines");
    }

    #[test]
    fn an_empty_best_cell_is_not_bold() {
        assert_eq!(cell_text(&Cell { best: true, ..Cell::default() }), "");
    }
}
