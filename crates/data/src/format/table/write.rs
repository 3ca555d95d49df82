//! Code shared by the writers of tables: numbers as short texts, rows formatted in parallel, and a
//! check for names that would read back differently.

use std::collections::HashSet;
use std::fmt::{Display, LowerExp};
use std::io::{self, Write};
use std::sync::Arc;

use rayon::prelude::*;

use super::cell::is_missing_word;
use super::content::{ColumnContent, ContentKind};
use crate::dataset::Dataset;
use crate::error::SourceLocation;
use crate::format::roles::Role;
use crate::names::FeatureNames;

/// The shortest text that reads back to the same number.
pub(super) fn number_text(value: f64) -> String {
    if has_exponent(value) { format!("{value:e}") } else { value.to_string() }
}

/// The floats that [`write_number`] can write.
pub(in crate::format) trait Float: Copy + Display + LowerExp + Into<f64> {}
impl Float for f32 {}
impl Float for f64 {}

/// Appends the shortest text that reads back to the same number; very large and very small numbers
/// get an exponent.
pub(in crate::format) fn write_number(out: &mut Vec<u8>, value: impl Float) {
    // Writing into a vector cannot fail.
    let _ =
        if has_exponent(value.into()) { write!(out, "{value:e}") } else { write!(out, "{value}") };
}

/// Whether a number is written with an exponent: if it is very large or very small.
fn has_exponent(value: f64) -> bool {
    let magnitude = value.abs();
    magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) && magnitude.is_finite()
}

/// Writes rows in this order; `format` appends the text of a row, in parallel for several rows.
pub(in crate::format) fn write_rows(
    order: &[u32],
    out: &mut dyn Write,
    format: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    const CHUNK_ROWS: usize = 256;
    // Eight chunks per thread at a time, so that memory stays small for any number of rows.
    for group in order.chunks(CHUNK_ROWS * 8 * rayon::current_num_threads()) {
        let texts: Vec<Vec<u8>> = group
            .par_chunks(CHUNK_ROWS)
            .map(|rows| {
                let mut text = Vec::new();
                rows.iter().for_each(|&row| format(row as usize, &mut text));
                text
            })
            .collect();
        texts.iter().try_for_each(|text| out.write_all(text))?;
    }
    Ok(())
}

/// Rejects feature names that would read back differently from a table. If features are columns of
/// the table (and not nested in a column), a name must not mean a role.
pub(in crate::format) fn check_writable(
    features: &FeatureNames,
    features_are_columns: bool,
) -> io::Result<()> {
    let mut seen = HashSet::new();
    for name in features.iter() {
        let problem = match Role::guess(&name) {
            Some(role) if features_are_columns => {
                format!("feature '{name}' would be read back as the {}", role.name())
            }
            _ if name.trim().is_empty() => "a feature has no name".into(),
            _ if seen.contains(&name) => format!("there are two features '{name}'"),
            _ => {
                seen.insert(name);
                continue;
            }
        };
        let advice = "give it another name, or write the binary cache (.rwd)";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{problem}; {advice}")));
    }
    Ok(())
}

/// The categories of each feature of a data set; `None` for features that are numbers.
pub(in crate::format) fn category_texts(data: &Dataset) -> Vec<Option<Arc<[String]>>> {
    (0..data.columns()).map(|column| data.categories(column).cloned()).collect()
}

/// Whether a reader will guess that a column of these texts holds categories. If the format does not
/// tell texts and missing values apart, it reads a text such as `NA` as a missing value.
pub(in crate::format) fn read_as_categories(texts: &[String], has_text_type: bool) -> bool {
    let mut content = ColumnContent::default();
    for text in texts {
        if text.trim_ascii() != text {
            return false;
        }
        if !has_text_type && is_missing_word(text.as_bytes()) {
            return false;
        }
        // Three times, as if each text repeats: texts that do not repeat are no categories.
        (0..3).for_each(|_| content.add(text.as_bytes(), SourceLocation::default));
    }
    let content = content.words_as_texts();
    texts.is_empty() || matches!(content.kind(), ContentKind::Categories | ContentKind::Codes)
}
