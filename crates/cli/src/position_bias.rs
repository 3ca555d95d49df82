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
    table.notes.push(meaning(&bias.kind).to_owned());
    if let Some(clip) = bias.clip {
        table.notes.push(format!("an examination below {clip} was raised to it"));
    }
    table.notes.push("scores do not depend on positions".to_owned());
    table
}

/// The meaning of the columns of a correction.
fn meaning(kind: &str) -> &'static str {
    match kind {
        "gam" => "term: what training added to the score of a document at this position",
        "pairwise" => {
            "the loss of a pair was divided by the factor of its clicked document and by that of the other"
        }
        "ips" => "a click was divided by the examination of its position",
        _ => "labels are doubly robust estimates of relevance by the examination of positions",
    }
}
