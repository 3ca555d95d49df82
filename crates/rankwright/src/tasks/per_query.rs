//! Writes the values of every query to a file: metric, query, and a column for each system.

use std::path::Path;

use rankwright_data::store::write_atomic;
use rankwright_eval::{Evaluation, PerQueryTable};

use super::TaskError;

/// Writes a [`PerQueryTable`].
pub fn write_per_query(path: &Path, systems: &[(&str, &Evaluation)]) -> Result<(), TaskError> {
    let table = PerQueryTable::new(systems)?;
    write_atomic(path, |out| table.write(out))?;
    Ok(())
}
