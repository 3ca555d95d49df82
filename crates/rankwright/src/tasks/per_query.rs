//! Values of every query as a table: metric, query, and a column for each system.

use std::path::Path;

use rankwright_data::store::write_atomic;
use rankwright_eval::Evaluation;

use super::TaskError;

/// Writes per-query values, tab-separated with a header, 10 decimals each. One system has the
/// column `value`, several have their names. A query that every system skips is left out.
pub fn write_per_query(path: &Path, systems: &[(&str, &Evaluation)]) -> Result<(), TaskError> {
    write_atomic(path, |out| {
        let names: Vec<&str> = match systems {
            [_] => vec!["value"],
            _ => systems.iter().map(|(name, _)| *name).collect(),
        };
        writeln!(out, "metric\tquery\t{}", names.join("\t"))?;
        let Some((_, first)) = systems.first() else { return Ok(()) };
        for (m, result) in first.results.iter().enumerate() {
            for (q, query) in first.queries.iter().enumerate() {
                let values: Vec<Option<f64>> = systems
                    .iter()
                    .map(|(_, e)| e.results.get(m)?.values.get(q).copied().flatten())
                    .collect();
                if values.iter().all(Option::is_none) {
                    continue;
                }
                let shown = values.iter().map(|v| v.map_or(String::new(), |v| format!("{v:.10}")));
                let shown: Vec<String> = shown.collect();
                writeln!(out, "{}\t{query}\t{}", result.measure, shown.join("\t"))?;
            }
        }
        Ok(())
    })?;
    Ok(())
}
