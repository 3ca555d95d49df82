//! Aligned plain text, two spaces between columns.
//!
//! `*` after a number marks the best of the column, `▲` and `▼` mark significance. They have
//! character positions of their own, so that the digits of a column are aligned.

use super::{Align, Cell, Table, one_line, pad, width};

/// Widths of the three parts of a column: text, star, mark.
struct ColumnWidths {
    text: usize,
    star: bool,
    mark: bool,
}

impl ColumnWidths {
    fn of(cells: &[&Cell]) -> Self {
        Self {
            text: cells.iter().map(|cell| width(&cell.text)).max().unwrap_or(0),
            star: cells.iter().any(|cell| cell.best),
            mark: cells.iter().any(|cell| !cell.mark.symbol().is_empty()),
        }
    }

    fn width(&self) -> usize {
        self.text + usize::from(self.star) + if self.mark { 2 } else { 0 }
    }

    fn fill(&self, cell: &Cell, align: Align) -> String {
        let mut filled = pad(&cell.line(), self.text, align);
        if self.star {
            filled.push(if cell.best { '*' } else { ' ' });
        }
        if self.mark {
            filled.push_str(&pad(&format!(" {}", cell.mark.symbol()), 2, Align::Left));
        }
        filled
    }
}

pub(super) fn render(table: &Table) -> String {
    let mut lines = vec![table.header_cells()];
    lines.extend(table.full_rows());
    let columns: Vec<Vec<&Cell>> =
        (0..table.columns()).map(|c| lines.iter().filter_map(|row| row.get(c)).collect()).collect();
    let widths: Vec<ColumnWidths> = columns.iter().map(|cells| ColumnWidths::of(cells)).collect();

    let mut out = String::new();
    for (row, cells) in lines.iter().enumerate() {
        let filled = cells.iter().zip(&widths).enumerate();
        let filled = filled.map(|(c, (cell, widths))| widths.fill(cell, table.align_of(c)));
        push_line(&mut out, &filled.collect::<Vec<_>>());
        if row == 0 {
            let rules = widths.iter().map(|widths| "-".repeat(widths.width()));
            push_line(&mut out, &rules.collect::<Vec<_>>());
        }
    }
    push_notes(&mut out, table, widths.iter().any(|widths| widths.star));
    out
}

fn push_line(out: &mut String, cells: &[String]) {
    out.push_str(cells.join("  ").trim_end());
    out.push('\n');
}

fn push_notes(out: &mut String, table: &Table, star: bool) {
    if table.notes.is_empty() && !star {
        return;
    }
    out.push('\n');
    if star {
        out.push_str("* best of the column.\n");
    }
    for note in &table.notes {
        out.push_str(&one_line(note));
        out.push('\n');
    }
}
