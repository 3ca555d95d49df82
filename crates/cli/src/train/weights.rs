//! The weights of a line by feature name: largest and smallest first, as they explain a ranking.
//!
//! Weights of raw values cannot be compared with each other where features have different ranges;
//! those of the values as the learner saw them (standardised, say) can. Both are told where both are
//! there.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::{Model, ModelBody};
use rankwright::spec::words::counted;
use serde_json::{Value, json};

use super::Trained;

/// How many of the largest and of the smallest are shown.
const SHOWN: usize = 8;

/// One feature of a line.
struct Weight {
    feature: String,
    learnt: f64,
    raw: Option<f64>,
}

/// All weights, the largest first; equal ones in the order of the features. Empty for models that
/// are no line.
fn weights(model: &Model, learnt: &[f64]) -> Vec<Weight> {
    let raw = match model.body() {
        ModelBody::Linear(line) => Some(line.weights()),
        _ => None,
    };
    let learnt = if learnt.is_empty() { raw.unwrap_or_default() } else { learnt };
    let names = &model.header().features;
    let weight = |(column, learnt): (usize, &f64)| Weight {
        feature: names.name(column).into_owned(),
        learnt: *learnt,
        raw: raw.and_then(|raw| raw.get(column)).copied(),
    };
    let mut all: Vec<Weight> = learnt.iter().enumerate().map(weight).collect();
    all.sort_by(|a, b| b.learnt.total_cmp(&a.learnt));
    all
}

/// All weights, for programs; null where the model is no line.
pub(super) fn json_of(trained: &Trained) -> Value {
    let all = weights(&trained.model, &trained.history.weights);
    if all.is_empty() {
        return Value::Null;
    }
    let one = |w: &Weight| json!({"feature": w.feature, "weight": w.learnt, "raw": w.raw});
    all.iter().map(one).collect()
}

/// The largest and the smallest weights, for people.
pub(super) fn table(trained: &Trained) -> Option<Table> {
    let mut all = weights(&trained.model, &trained.history.weights);
    let count = all.len();
    all.retain(|weight| weight.learnt != 0.0);
    if count == 0 {
        return None;
    }
    let mut columns = vec![("feature", Align::Left), ("weight", Align::Right)];
    let raw = all.iter().any(|weight| weight.raw.is_some_and(|raw| raw != weight.learnt));
    if raw {
        columns.push(("of the raw value", Align::Right));
    }
    let mut table = Table::new(columns);
    let row = |weight: &Weight| {
        let mut cells = vec![weight.feature.clone(), short(weight.learnt)];
        if raw {
            cells.push(weight.raw.map(short).unwrap_or_default());
        }
        cells.into_iter().map(Cell::new).collect::<Vec<Cell>>()
    };
    match all.len() > 2 * SHOWN + 1 {
        false => table.rows.extend(all.iter().map(row)),
        true => {
            table.rows.extend(all[..SHOWN].iter().map(row));
            table.rows.push(vec![
                Cell::new("..."),
                Cell::new(format!("({} more)", all.len() - 2 * SHOWN)),
            ]);
            table.rows.extend(all[all.len() - SHOWN..].iter().map(row));
        }
    }
    table.notes.push(match count - all.len() {
        0 => format!("weights of {}", counted(count, "feature")),
        1 => format!("weights of {}; 1 is 0", counted(count, "feature")),
        zeros => format!("weights of {}; {zeros} are 0", counted(count, "feature")),
    });
    if raw {
        table.notes.push("a weight is that of the value as it was prepared for learning".into());
    }
    Some(table)
}

/// A number in few digits, whatever its size.
fn short(number: f64) -> String {
    match number.abs() {
        size if size == 0.0 || (1e-3..1e5).contains(&size) => format!("{number:.4}"),
        _ => format!("{number:.3e}"),
    }
}
