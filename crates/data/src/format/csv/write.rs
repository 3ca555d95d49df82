//! Writes data sets as tables: qid, docid, label, weight, query_weight, position (if present), further
//! columns of labels, then one column per feature, rows in the order of the input.

use std::io::{self, Write};
use std::sync::Arc;

use crate::dataset::{Dataset, LABEL_PREFIX};
use crate::error::quote;
use crate::format::table::{category_texts, check_writable, write_number, write_rows};
use crate::table_columns::category_text;

/// Writes a data set as a table with a header.
pub(in crate::format) fn write(
    data: &Dataset,
    delimiter: u8,
    out: &mut dyn Write,
) -> io::Result<()> {
    let features_are_columns = true;
    check_writable(data.features(), features_are_columns)?;
    check_texts(data)?;
    let mut header = Vec::new();
    // Each column with whether the data set has it.
    let columns = [
        ("qid", true),
        ("docid", data.doc_ids().is_some()),
        ("label", data.is_labelled()),
        ("weight", data.row_weights().is_some()),
        ("query_weight", data.query_weights().is_some()),
        ("position", data.positions().is_some()),
    ];
    for (name, _) in columns.iter().filter(|(_, is_present)| *is_present) {
        write_text(&mut header, name, delimiter);
        header.push(delimiter);
    }
    for name in data.label_column_names() {
        write_text(&mut header, &format!("{LABEL_PREFIX}{name}"), delimiter);
        header.push(delimiter);
    }
    for name in data.features().iter() {
        write_text(&mut header, &name, delimiter);
        header.push(delimiter);
    }
    header.pop();
    header.push(b'\n');
    out.write_all(&header)?;
    let query_of_row = data.query_of_rows();
    let categories = category_texts(data);
    write_rows(&data.rows_by_source(), out, |row, text| {
        write_row(data, row, query_of_row[row] as usize, &categories, delimiter, text);
    })
}

/// Appends the line of a row to `out`; `categories` has the texts of each feature's categories.
fn write_row(
    data: &Dataset,
    row: usize,
    query: usize,
    categories: &[Option<Arc<[String]>>],
    delimiter: u8,
    out: &mut Vec<u8>,
) {
    write_text(out, data.query_ids().get(query), delimiter);
    if let Some(doc_ids) = data.doc_ids() {
        out.push(delimiter);
        write_text(out, doc_ids.get(row), delimiter);
    }
    if data.is_labelled() {
        out.push(delimiter);
        write_number(out, data.labels()[row]);
    }
    for (weights, index) in [(data.row_weights(), row), (data.query_weights(), query)] {
        if let Some(weights) = weights {
            out.push(delimiter);
            write_number(out, weights[index]);
        }
    }
    if let Some(positions) = data.positions() {
        out.push(delimiter);
        out.extend_from_slice(positions[row].to_string().as_bytes());
    }
    for column in &data.label_columns {
        out.push(delimiter);
        write_number(out, column.labels[row]);
    }
    for (value, texts) in data.matrix().row(row).iter().zip(categories) {
        out.push(delimiter);
        if let Some(texts) = texts {
            // A missing category is an empty cell.
            if let Some(text) = category_text(texts, *value) {
                write_text(out, text, delimiter);
            }
        } else if !value.is_nan() {
            write_number(out, *value);
        }
    }
    out.push(b'\n');
}

/// Rejects a text with a NUL byte: readers, including ours, treat a file with one as binary.
fn check_texts(data: &Dataset) -> io::Result<()> {
    let nul_error = |text: &str| text.contains('\0').then(|| nul_in_text(text));
    let name = data.features().iter().find_map(|name| nul_error(&name));
    let query = || data.query_ids().iter().find_map(nul_error);
    let document = || data.doc_ids()?.iter().find_map(nul_error);
    let categories = data.table_columns().into_iter().flat_map(|columns| columns.all_categories());
    let mut categories = categories.flat_map(|(_, values)| values.iter());
    let category = || categories.find_map(|text| nul_error(text));
    let label = || data.label_column_names().find_map(nul_error);
    match name.or_else(label).or_else(query).or_else(document).or_else(category) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// The error of a text with a NUL byte.
pub(crate) fn nul_in_text(text: &str) -> io::Error {
    let text = quote(text.as_bytes());
    let message = format!("{text} has a NUL byte, which a table of text cannot hold; write jsonl");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Appends a field, quoted if necessary.
fn write_text(out: &mut Vec<u8>, text: &str, delimiter: u8) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    if !text.bytes().any(special) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for part in text.split_inclusive('"') {
        out.extend_from_slice(part.as_bytes());
        if part.ends_with('"') {
            out.push(b'"');
        }
    }
    out.push(b'"');
}
