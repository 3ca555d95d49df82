//! The summary of a model and the importance of its features, as text.

use rankwright::data::FeatureNames;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::{BiasFactors, BodyKind, FeatureImportance, Model, ModelBody};
use rankwright::search::FeatureSet;
use rankwright::spec::words::counted;
use rankwright::tasks::InspectModelResult;

use super::parts;
use crate::position_bias;

pub(super) fn text(found: &InspectModelResult) -> String {
    let mut blocks = vec![facts(found).to_text()];
    blocks.extend(parts::members(&found.summary.body).map(|table| table.to_text()));
    let mut table = features(found);
    // Deeper nets have no weights of features, but perhaps drops.
    if found.summary.kind == BodyKind::Net && found.summary.weights.is_some() {
        table.notes.push("weights are those of the transformed features".into());
    }
    if let Some(permutation) = &found.permutation {
        let metric = &permutation.metric;
        table.notes.push(format!(
            "drop: how much worse {metric} = {:.4} gets when the feature is shuffled; mean and \
             standard deviation of {}, seed {}",
            permutation.value,
            counted(permutation.repeats, "shuffle"),
            permutation.seed
        ));
        table.notes.push(format!("{metric}: {}", permutation.convention));
    }
    if !table.rows.is_empty() {
        blocks.push(table.to_text());
    }
    if let Some(bias) = &found.summary.position_bias {
        blocks.push(position_bias::table(bias).to_text());
    }
    if let Some(tree) = &found.tree {
        blocks.push(format!("tree {}:\n{}", tree.number, tree.text));
    }
    blocks.join("\n")
}

/// The header and the size of the model, one line per fact.
fn facts(found: &InspectModelResult) -> Table {
    let summary = &found.summary;
    let file = found.model.clone();
    let mut table = Table::new([("model", Align::Left), (&file, Align::Left)]);
    let mut line = |what: &str, text: String| {
        if !text.is_empty() {
            table.rows.push(vec![what.into(), Cell::new(text)]);
        }
    };
    line("kind", summary.kind.name().into());
    line("learner", summary.learner.clone());
    line("objective", summary.objective.clone());
    line("metric", summary.metric.clone());
    line("conventions", summary.conventions.clone());
    if summary.rows > 0 {
        let rows = counted(summary.rows as usize, "document");
        let queries = counted(summary.queries as usize, "query");
        line("trained on", format!("{rows} of {queries}, seed {}", summary.seed));
    }
    if let Some(text) = &summary.feature_set {
        // The names of the features follow; this shows the other facts of the set.
        let set = FeatureSet::from_toml(text);
        line("feature set", set.map_or_else(|error| error.to_string(), |set| set_text(&set)));
    }
    summary.notes.iter().for_each(|(key, text)| line(key, text.clone()));
    let bias = summary.position_bias.as_ref();
    line("position bias", bias.map(BiasFactors::describe).unwrap_or_default());
    line("features", features_text(&found.loaded.header().features));
    line("feature hash", summary.feature_hash.clone());
    line("absent features are", summary.absent.into());
    parts::lines(&summary.body).into_iter().for_each(|(what, text)| line(&what, text));
    if let Some(ModelBody::Trees(trees)) = found.loaded.added_trees().map(Model::body) {
        line("base score of the added trees", trees.base().to_string());
    }
    table
}

/// A row for each used feature: its weight, or gain and splits, and the drop of the metric if it is
/// shuffled.
fn features(found: &InspectModelResult) -> Table {
    let rows = found.summary.feature_rows();
    let columns: &[&str] = match found.summary.kind {
        BodyKind::Trees => &["gain", "share", "splits"],
        _ if found.summary.weights.is_some() => &["weight"],
        _ => &[],
    };
    let drops: &[&str] = if found.permutation.is_some() { &["drop", "+-"] } else { &[] };
    let columns = columns.iter().chain(drops).map(|name| (*name, Align::Right));
    let mut table = Table::new([("feature", Align::Left)].into_iter().chain(columns));
    let total = rows.iter().filter_map(|row| row.gain).sum();
    table.rows.extend(rows.iter().map(|row| cells(row, total)));
    table
}

/// The cells of a feature; `total` is the gain of all features.
fn cells(row: &FeatureImportance, total: f64) -> Vec<Cell> {
    let mut cells = vec![Cell::new(row.name.as_str())];
    cells.extend(row.weight.map(|weight| Cell::new(weight.to_string())));
    if let (Some(gain), Some(splits)) = (row.gain, row.splits) {
        let share = if total > 0.0 { 100.0 * gain / total } else { 0.0 };
        let texts = [gain_text(gain), format!("{share:.1} %"), splits.to_string()];
        cells.extend(texts.map(Cell::new));
    }
    if let Some(drop) = row.drop {
        let spread = drop.spread.map_or(String::new(), |spread| format!("{spread:.4}"));
        cells.extend([format!("{:.4}", drop.mean), spread].map(Cell::new));
    }
    cells
}

/// A gain in about five digits: gains of a training may be a thousandth or a million.
fn gain_text(gain: f64) -> String {
    match gain.abs() {
        size if size >= 10_000.0 => format!("{gain:.0}"),
        size if size >= 1.0 || size == 0.0 => {
            let whole = size.max(1.0).log10().floor() as usize;
            format!("{gain:.*}", 4 - whole)
        }
        size if size >= 1e-3 => format!("{gain:.6}"),
        _ => format!("{gain:.3e}"),
    }
}

/// Analysis, first stage and candidates of the features of a model, as text.
fn set_text(set: &FeatureSet) -> String {
    let analysis = set.analysis.as_deref().unwrap_or("any");
    let mut text = format!("version {} of the formulas, analysis {analysis}", set.version);
    if let Some(stage) = &set.first_stage {
        text += &format!(", first stage {stage}");
    }
    if let Some(candidates) = set.candidates {
        text += &format!(", {}", counted(candidates, "candidate"));
    }
    text
}

fn features_text(features: &FeatureNames) -> String {
    match features {
        FeatureNames::Ids { first, count } if *count > 0 => {
            format!("{count}, ids {first} to {}", *first as usize + count - 1)
        }
        FeatureNames::Named(names) if !names.is_empty() => {
            let few: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
            let more = if names.len() > 5 { ", ..." } else { "" };
            format!("{}: {}{more}", names.len(), few.join(", "))
        }
        _ => "none".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_of_any_size_have_few_digits() {
        for (gain, text) in [
            (0.0, "0.0000"),
            (1.5, "1.5000"),
            (123.456789, "123.46"),
            (1_234_567.891, "1234568"),
            (0.0123456, "0.012346"),
            (1.5e-7, "1.500e-7"),
        ] {
            assert_eq!(gain_text(gain), text);
        }
    }
}
