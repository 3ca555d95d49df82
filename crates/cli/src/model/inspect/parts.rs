//! The parts of a model of each kind, as lines of text and as a table of members.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::{BodySummary, LayerSummary, Normalise};
use rankwright::spec::words::counted;

/// Facts with their names, in display order.
pub(super) fn lines(body: &BodySummary) -> Vec<(String, String)> {
    let line = |what: &str, text: String| (what.to_owned(), text);
    match body {
        BodySummary::Trees { base, trees } => vec![
            line("trees", trees.count.to_string()),
            line("leaves", format!("{}, at most {} per tree", trees.leaves, trees.most_leaves)),
            line("depth", format!("{:.1} on average, at most {}", trees.mean_depth, trees.depth)),
            line("base score", base.to_string()),
        ],
        BodySummary::Linear { bias } => vec![line("bias", bias.to_string())],
        BodySummary::Net { transform, parameters, layers } => {
            let mut lines = vec![line("transform", transform.clone())];
            let layers = layers.iter().enumerate();
            lines.extend(layers.map(|(i, layer)| (format!("layer {}", i + 1), layer_text(layer))));
            lines.push(line("parameters", parameters.to_string()));
            lines
        }
        BodySummary::Blend { normalise, members } => vec![
            line("members", members.len().to_string()),
            line("scores are", normalised(*normalise).into()),
        ],
        _ => Vec::new(),
    }
}

/// A layer in words: `136 to 64, layer norm, relu, 8832 parameters`.
fn layer_text(layer: &LayerSummary) -> String {
    let norm = if layer.norm { ", layer norm" } else { "" };
    let activation = match layer.activation {
        "none" => String::new(),
        name => format!(", {name}"),
    };
    let (inputs, outputs) = (layer.inputs, layer.outputs);
    format!("{inputs} to {outputs}{norm}{activation}, {}", counted(layer.parameters, "parameter"))
}

/// The normalisation of the scores of a blend's members, in words.
fn normalised(common: Option<Normalise>) -> &'static str {
    common.map_or("normalised as the column `normalise` of the table says", Normalise::in_words)
}

/// A table with a row for each member of a blend.
pub(super) fn members(body: &BodySummary) -> Option<Table> {
    let BodySummary::Blend { members, normalise } = body else { return None };
    let mixed = normalise.is_none();
    let mut columns = vec![("member", Align::Right), ("weight", Align::Right)];
    columns.extend(mixed.then_some(("normalise", Align::Left)));
    columns.extend([("kind", Align::Left), ("size", Align::Left), ("learner", Align::Left)]);
    let mut table = Table::new(columns);
    for (number, member) in (1..=members.len()).zip(members) {
        let mut row = vec![Cell::new(number.to_string()), Cell::new(member.weight.to_string())];
        row.extend(mixed.then(|| member.normalise.name().into()));
        row.push(member.kind.name().into());
        row.extend([member.size.as_str(), member.learner.as_str()].map(Cell::new));
        table.rows.push(row);
    }
    Some(table)
}
