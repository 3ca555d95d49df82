//! Writes LETOR text. Every feature of every row is written, also zeros and missing values (as
//! `nan`), so that the file reads back the same, whatever the rule for absent features.

use std::io::{self, Write};

use rankwright_spec::visible::is_control;

use crate::dataset::Dataset;
use crate::error::quote;
use crate::format::table::write_rows;
use crate::names::FeatureNames;

pub(in crate::format) fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let first = first_id(data);
    check_ids(data)?;
    let query_of_row = data.query_of_rows();
    write_rows(&data.rows_by_source(), out, |row, text| {
        format_row(data, row, query_of_row[row] as usize, first, text);
    })
}

fn refuse<T>(message: String) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// The id of the first feature; features that have names get the ids 1, 2, 3, ... in their order.
fn first_id(data: &Dataset) -> u32 {
    match data.features() {
        FeatureNames::Ids { first, .. } => *first,
        FeatureNames::Named(_) => 1,
    }
}

/// Rejects query ids and document ids that would read back differently.
fn check_ids(data: &Dataset) -> io::Result<()> {
    let has_spaces = |id: &str| id.contains(|c: char| c.is_whitespace() || is_control(c));
    let is_invalid = |id: &str| has_spaces(id) || id.contains('#') || id.is_empty();
    if let Some(id) = data.query_ids().iter().find(|id| is_invalid(id)) {
        return refuse(format!(
            "the query id {} cannot be written in LETOR text because of its characters; write csv or jsonl",
            quote(id.as_bytes())
        ));
    }
    if let Some(id) = data.doc_ids().and_then(|ids| ids.iter().find(|id| has_spaces(id))) {
        return refuse(format!(
            "the document id {} cannot be written in LETOR text because of its characters; write csv or jsonl",
            quote(id.as_bytes())
        ));
    }
    Ok(())
}

/// Appends the line of a row to `out`; `first` is the id of the first feature.
fn format_row(data: &Dataset, row: usize, query: usize, first: u32, out: &mut Vec<u8>) {
    let label = data.labels()[row];
    // Writing into a Vec cannot fail.
    let _ = write!(out, "{label} qid:{}", data.query_ids().get(query));
    for (column, &value) in data.matrix().row(row).iter().enumerate() {
        let id = first as usize + column;
        // Whole numbers without a fraction, except -0; very small and very large numbers with an
        // exponent, since they would be long without.
        let _ = match value {
            v if v.is_nan() => write!(out, " {id}:nan"),
            v if v == v.trunc() && v.abs() < 1e7 && (v != 0.0 || v.is_sign_positive()) => {
                write!(out, " {id}:{}", v as i32)
            }
            v if v != 0.0 && (v.abs() < 1e-4 || v.abs() >= 1e15) => write!(out, " {id}:{v:e}"),
            v => write!(out, " {id}:{v}"),
        };
    }
    if let Some(docid) = data.doc_ids().map(|ids| ids.get(row)).filter(|id| !id.is_empty()) {
        let _ = write!(out, " #docid = {docid}");
    }
    out.push(b'\n');
}
