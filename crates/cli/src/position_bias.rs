//! The position bias that a training corrected clicks for, as a table.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::BiasFactors;

/// A row for each position.
pub(crate) fn table(bias: &BiasFactors) -> Table {
    let columns = bias.columns.iter().map(|column| (column.name.as_str(), Align::Right));
    let mut table = Table::new([("position", Align::Right)].into_iter().chain(columns));
    for (index, position) in bias.positions.iter().enumerate() {
        let values = bias.columns.iter().filter_map(|column| column.values.get(index));
        let cells = values.map(|value| Cell::new(format!("{value:.4}")));
        table.rows.push([Cell::new(position.to_string())].into_iter().chain(cells).collect());
    }
    table.notes.extend(bias.meaning().map(str::to_owned));
    if let Some(clip) = bias.clip {
        table.notes.push(format!("an examination below {clip} was raised to it"));
    }
    table.notes.push("scores do not depend on positions".to_owned());
    table
}
