//! A LaTeX `tabular` with the rules of the booktabs package.
//!
//! All ten characters that TeX treats specially are escaped, and `<`, `>`, `|`, which the default
//! font encoding prints as other characters. A leading minus is set as a minus, not as a hyphen.
//! Triangles, which mark significant differences from the baseline, need the package amssymb; a
//! comment in the output names the packages.

use super::{Align, Cell, Table, one_line};
use crate::compare::Mark;

pub(super) fn render(table: &Table) -> String {
    let alignments: String = (0..table.columns())
        .map(|column| match table.align_of(column) {
            Align::Left => 'l',
            Align::Right => 'r',
        })
        .collect();
    let mut out = String::from("% needs \\usepackage{booktabs,amssymb}\n");
    out.push_str(&format!("\\begin{{tabular}}{{{alignments}}}\n\\toprule\n"));
    out.push_str(&line(&table.header_cells()));
    out.push_str("\\midrule\n");
    table.padded_rows().for_each(|row| out.push_str(&line(&row)));
    out.push_str("\\bottomrule\n\\end{tabular}\n");
    for note in &table.notes {
        out.push_str(&format!("\n\\smallskip\\noindent{{\\footnotesize {}\\par}}\n", escape(note)));
    }
    out
}

/// A line of the table.
fn line(cells: &[Cell]) -> String {
    let joined = cells.iter().map(cell_text).collect::<Vec<_>>().join(" & ");
    // LaTeX reads a `[` after `\\` or `\midrule` as the start of an optional argument, and a `*`
    // after `\\` as part of the command, even on the next line.
    let guard = if joined.starts_with(['[', '*']) { "{}" } else { "" };
    format!("{guard}{joined} \\\\\n")
}

fn cell_text(cell: &Cell) -> String {
    let mut text = escape(&cell.text);
    let is_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if let Some(rest) = text.strip_prefix('-').filter(|rest| is_number(rest)) {
        text = format!("$-${rest}");
    }
    if cell.best {
        text = format!("\\textbf{{{text}}}");
    }
    let mark = match cell.mark {
        Mark::Better => "$^{\\blacktriangle}$",
        Mark::Worse => "$^{\\blacktriangledown}$",
        Mark::None => "",
    };
    text + mark
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '_' | '&' | '%' | '#' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '<' => out.push_str("$<$"),
            '>' => out.push_str("$>$"),
            '|' => out.push_str("\\textbar{}"),
            '▲' => out.push_str("$\\blacktriangle$"),
            '▼' => out.push_str("$\\blacktriangledown$"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(escape("_&%#$"), "\\_\\&\\%\\#\\$");
        assert_eq!(escape("{x}"), "\\{x\\}");
        assert_eq!(escape("~^\\"), "\\textasciitilde{}\\textasciicircum{}\\textbackslash{}");
        assert_eq!(escape("<0.1|>"), "$<$0.1\\textbar{}$>$");
        assert_eq!(escape("ndcg@10, naïve"), "ndcg@10, naïve");
    }

    #[test]
    fn a_negative_number_gets_a_minus_and_a_name_keeps_its_hyphen() {
        assert_eq!(cell_text(&"-0.05".into()), "$-$0.05");
        assert_eq!(cell_text(&"-".into()), "-");
        assert_eq!(cell_text(&"linear-svm".into()), "linear-svm");
    }

    #[test]
    fn a_row_that_starts_with_a_bracket_gets_an_empty_group_before_it() {
        assert_eq!(line(&["[a]".into(), "[b]".into()]), "{}[a] & [b] \\\\\n");
    }
}
