//! The weights of a linear model: the largest and the smallest ones.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::spec::words::counted;
use rankwright::tasks::{FeatureWeight, TrainModelResult};

/// Number of the largest, and of the smallest, weights that are shown.
const SHOWN: usize = 8;

/// A table of the largest and the smallest weights.
pub(super) fn table(trained: &TrainModelResult) -> Option<Table> {
    let weights = trained.weights.as_ref()?;
    let count = weights.len();
    let nonzero: Vec<&FeatureWeight> = weights.iter().filter(|w| w.weight != 0.0).collect();
    let mut columns = vec![("feature", Align::Left), ("weight", Align::Right)];
    let is_transformed = |w: &&FeatureWeight| w.raw.is_some_and(|raw| raw != w.weight);
    let has_raw = nonzero.iter().any(is_transformed);
    if has_raw {
        columns.push(("of the raw value", Align::Right));
    }
    let mut table = Table::new(columns);
    let row = |weight: &&FeatureWeight| {
        let mut cells = vec![weight.feature.clone(), short(weight.weight)];
        if has_raw {
            cells.push(weight.raw.map(short).unwrap_or_default());
        }
        cells.into_iter().map(Cell::new).collect::<Vec<Cell>>()
    };
    match nonzero.len() > 2 * SHOWN + 1 {
        false => table.rows.extend(nonzero.iter().map(row)),
        true => {
            table.rows.extend(nonzero[..SHOWN].iter().map(row));
            table.rows.push(vec![
                Cell::new("..."),
                Cell::new(format!("({} more)", nonzero.len() - 2 * SHOWN)),
            ]);
            table.rows.extend(nonzero[nonzero.len() - SHOWN..].iter().map(row));
        }
    }
    table.notes.push(match count - nonzero.len() {
        0 => format!("weights of {}", counted(count, "feature")),
        1 => format!("weights of {}; 1 is 0", counted(count, "feature")),
        zeros => format!("weights of {}; {zeros} are 0", counted(count, "feature")),
    });
    if has_raw {
        table.notes.push("weights are those of the transformed feature values".into());
    }
    Some(table)
}

/// A number of any size in few digits.
fn short(number: f64) -> String {
    match number.abs() {
        size if size == 0.0 || (1e-3..1e5).contains(&size) => format!("{number:.4}"),
        _ => format!("{number:.3e}"),
    }
}
