//! A page's charts, tables and drawings as separate files: `ID.svg`, `ID.csv` and `ID.json` for
//! each chart, `ID.csv` and `ID.json` for each table, `ID.svg` for each drawing. Ids are made safe
//! first, so no name can lead out of the folder. Each file is written whole or not at all.

use std::path::{Path, PathBuf};

use rankwright_data::DataError;
use rankwright_data::store::write_atomic;
use rankwright_eval::compare::Mark;
use rankwright_eval::table::Table;
use rankwright_spec::visible;
use serde_json::{Value, json};

use super::{Page, PageBlock};
use crate::ReportError;
use crate::chart::numbers::csv_field;

/// The files that [`write`] writes.
pub(super) fn files(page: &Page, folder: &Path) -> Vec<PathBuf> {
    fn names(block: &PageBlock, out: &mut Vec<String>) {
        match block {
            PageBlock::Text(_) => {}
            PageBlock::Chart(chart) => {
                out.extend(["svg", "csv", "json"].map(|ending| format!("{}.{ending}", chart.id)));
            }
            PageBlock::Table { id, .. } => {
                out.extend(["csv", "json"].map(|ending| format!("{id}.{ending}")));
            }
            PageBlock::Drawing { id, .. } => out.push(format!("{id}.svg")),
            PageBlock::Choice { groups, .. } => {
                groups.iter().flat_map(|(_, blocks)| blocks).for_each(|block| names(block, out));
            }
        }
    }
    let mut out = Vec::new();
    let page = page.with_safe_ids();
    page.sections.iter().flat_map(|section| &section.blocks).for_each(|b| names(b, &mut out));
    out.into_iter().map(|name| folder.join(name)).collect()
}

/// Writes the files and returns their paths.
pub(super) fn write(page: &Page, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| DataError::io("make", folder.display().to_string(), error))?;
    let page = page.with_safe_ids();
    let mut out = AssetWriter { folder, files: Vec::new() };
    for section in &page.sections {
        section.blocks.iter().try_for_each(|block| out.block(block))?;
    }
    Ok(out.files)
}

/// Writes files into a folder and collects their paths.
struct AssetWriter<'a> {
    folder: &'a Path,
    files: Vec<PathBuf>,
}

impl AssetWriter<'_> {
    fn file(&mut self, id: &str, ending: &str, content: &str) -> Result<(), ReportError> {
        let path = self.folder.join(format!("{id}.{ending}"));
        write_atomic(&path, |out| out.write_all(content.as_bytes()))?;
        self.files.push(path);
        Ok(())
    }

    fn json_file(&mut self, id: &str, content: &Value) -> Result<(), ReportError> {
        self.file(id, "json", &visible::json(&format!("{content:#}\n")))
    }

    fn block(&mut self, block: &PageBlock) -> Result<(), ReportError> {
        match block {
            PageBlock::Text(_) => Ok(()),
            PageBlock::Chart(chart) => {
                self.file(&chart.id, "svg", &chart.to_svg()?)?;
                self.file(&chart.id, "csv", &chart.to_csv())?;
                self.json_file(&chart.id, &chart.to_json())
            }
            PageBlock::Table { id, title, table } => {
                self.file(id, "csv", &csv(table))?;
                self.json_file(id, &json(title, table))
            }
            PageBlock::Drawing { id, svg, .. } => self.file(id, "svg", svg),
            PageBlock::Choice { groups, .. } => {
                let mut blocks = groups.iter().flat_map(|(_, blocks)| blocks);
                blocks.try_for_each(|block| self.block(block))
            }
        }
    }
}

fn csv(table: &Table) -> String {
    let line = |cells: Vec<String>| cells.join(",") + "\n";
    let header = line(table.header.iter().map(|name| csv_field(name)).collect());
    let rows = table.rows.iter().map(|row| line(row.iter().map(|c| csv_field(&c.text)).collect()));
    header + &rows.collect::<String>()
}

/// A table as JSON: its cells as shown, with their marks, and its notes.
fn json(title: &str, table: &Table) -> Value {
    let cell = |cell: &rankwright_eval::table::Cell| {
        let mark = match cell.mark {
            Mark::Better => json!("better"),
            Mark::Worse => json!("worse"),
            Mark::None => Value::Null,
        };
        json!({"text": cell.text, "best": cell.best, "mark": mark})
    };
    let rows: Vec<Vec<Value>> =
        table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    json!({"title": title, "header": table.header, "rows": rows, "notes": table.notes})
}
