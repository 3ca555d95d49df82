//! Writes data sets as JSON lines: `{"qid": ..., "docid": ..., "label": ..., "features": ...}`.

use std::io::{self, Write};
use std::sync::Arc;

use crate::dataset::{Dataset, LABEL_PREFIX};
use crate::format::table::{category_texts, check_writable, write_number, write_rows};
use crate::names::FeatureNames;
use crate::table_columns::category_text;

/// Writes one object per row; features are an array if their names are 1, 2, 3, ..., otherwise an
/// object.
pub(in crate::format) fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let features_are_columns = false;
    check_writable(data.features(), features_are_columns)?;
    if let Some(at) = data.matrix().values().iter().position(|value| value.is_infinite()) {
        let (row, column) = (at / data.columns(), at % data.columns());
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "feature '{}' of row {} is infinite, which JSON cannot represent; write another format",
                data.features().name(column),
                data.source_row(row) + 1
            ),
        ));
    }
    let names = match data.features() {
        FeatureNames::Ids { first: 1, .. } => None,
        features => Some(features.iter().map(|name| json_string(&name)).collect::<Vec<_>>()),
    };
    let query_of_row = data.query_of_rows();
    let categories = category_texts(data);
    write_rows(&data.rows_by_source(), out, |row, text| {
        write_row(data, row, query_of_row[row] as usize, names.as_deref(), &categories, text);
    })
}

fn json_string(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// Appends the line of a row to `out`. `names` are the features' names as JSON, `None` to write an
/// array; `categories` has the texts of each feature's categories.
fn write_row(
    data: &Dataset,
    row: usize,
    query: usize,
    names: Option<&[Vec<u8>]>,
    categories: &[Option<Arc<[String]>>],
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"qid\":");
    out.extend_from_slice(&json_string(data.query_ids().get(query)));
    if let Some(doc_ids) = data.doc_ids() {
        out.extend_from_slice(b",\"docid\":");
        out.extend_from_slice(&json_string(doc_ids.get(row)));
    }
    if data.is_labelled() {
        out.extend_from_slice(b",\"label\":");
        write_number(out, data.labels()[row]);
    }
    for (key, weights, index) in
        [("weight", data.row_weights(), row), ("query_weight", data.query_weights(), query)]
    {
        if let Some(weights) = weights {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            write_number(out, weights[index]);
        }
    }
    if let Some(positions) = data.positions() {
        out.extend_from_slice(format!(",\"position\":{}", positions[row]).as_bytes());
    }
    for column in &data.label_columns {
        out.push(b',');
        out.extend_from_slice(&json_string(&format!("{LABEL_PREFIX}{}", column.name)));
        out.push(b':');
        write_number(out, column.labels[row]);
    }
    let (open, close) = if names.is_some() { (b'{', b"}}\n") } else { (b'[', b"]}\n") };
    out.extend_from_slice(b",\"features\":");
    out.push(open);
    for (column, value) in data.matrix().row(row).iter().enumerate() {
        if column > 0 {
            out.push(b',');
        }
        if let Some(names) = names {
            out.extend_from_slice(&names[column]);
            out.push(b':');
        }
        let text = categories[column].as_ref().map(|texts| category_text(texts, *value));
        match text {
            Some(Some(text)) => out.extend_from_slice(&json_string(text)),
            None if !value.is_nan() => write_number(out, *value),
            _ => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(close);
}
