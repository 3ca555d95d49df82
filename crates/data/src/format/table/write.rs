//! Code shared by the writers of tables: short numbers, rows formatted in parallel, and a check of
//! names that would not read back.

use std::collections::HashSet;
use std::fmt::{Display, LowerExp};
use std::io::{self, Write};
use std::sync::Arc;

use rayon::prelude::*;

use super::content::{ColumnContent, ContentKind};
use crate::dataset::Dataset;
use crate::error::SourceLocation;
use crate::format::roles::Role;
use crate::names::FeatureNames;

/// The shortest text that reads back to the same number.
pub(super) fn number_text(value: f64) -> String {
    let mut text = Vec::new();
    write_number(&mut text, value);
    String::from_utf8(text).unwrap_or_default()
}

/// A float that is written as the shortest text that reads back to itself.
pub(in crate::format) trait Float: Copy + Display + LowerExp + Into<f64> {}
impl Float for f32 {}
impl Float for f64 {}

/// Appends a number; very large and very small ones get an exponent.
pub(in crate::format) fn write_number(out: &mut Vec<u8>, value: impl Float) {
    let size = value.into().abs();
    let without_exponent = size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite();
    // Writing into a vector cannot fail.
    let _ = if without_exponent { write!(out, "{value}") } else { write!(out, "{value:e}") };
}

/// Writes rows that are formatted in parallel, in the order given.
pub(in crate::format) fn write_rows(
    order: &[u32],
    out: &mut dyn Write,
    format: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    const CHUNK: usize = 256;
    // A few chunks a thread at a time, so that memory stays small for any number of rows.
    for group in order.chunks(CHUNK * 8 * rayon::current_num_threads()) {
        let texts: Vec<Vec<u8>> = group
            .par_chunks(CHUNK)
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

/// Rejects feature names that would read back differently from a table.
pub(in crate::format) fn check_writable(
    features: &FeatureNames,
    roles_matter: bool,
) -> io::Result<()> {
    let mut seen = HashSet::new();
    for name in features.iter() {
        let problem = match Role::guess(&name) {
            Some(role) if roles_matter => {
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

/// Whether a reader takes these texts for categories.
pub(in crate::format) fn read_as_categories(texts: &[String]) -> bool {
    let mut content = ColumnContent::default();
    for text in texts {
        if text.trim_ascii() != text {
            return false;
        }
        // Each is taken to repeat.
        (0..3).for_each(|_| content.add(text.as_bytes(), SourceLocation::default));
    }
    texts.is_empty() || matches!(content.kind(), ContentKind::Categories | ContentKind::Codes)
}
