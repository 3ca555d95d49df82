//! What `model inspect` found, as text and as JSON.

use rankwright::data::FeatureNames;
use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::draw::tree_text;
use rankwright::model::{Model, ModelBody, Tree};
use rankwright::search::FeatureSet;
use rankwright::spec::words::counted;
use serde_json::{Value, json};

use super::{Permutation, parts};
use crate::output::number;

/// Everything there is to show.
pub(super) struct About<'a> {
    pub(super) model: &'a Model,
    pub(super) file: String,
    pub(super) permutation: Option<&'a Permutation>,
    pub(super) repeats: u32,
    pub(super) seed: u64,
    /// A tree that was asked for, with its number.
    pub(super) tree: Option<(usize, &'a Tree)>,
}

impl About<'_> {
    pub(super) fn text(&self) -> String {
        let mut parts = vec![self.facts().to_text()];
        if let ModelBody::Blend(blend) = self.model.body() {
            parts.push(parts::members(blend).to_text());
        }
        let mut table = match (weights_of(self.model), self.model.body()) {
            (Some(weights), _) => self.weights(&weights),
            (None, ModelBody::Trees(_)) => self.importance(),
            _ => self.losses(),
        };
        if matches!(self.model.body(), ModelBody::Net(_)) && !table.rows.is_empty() {
            table.notes.push("weights are those of the transformed features".into());
        }
        if let Some(found) = self.permutation {
            table.notes.push(format!(
                "loss: how much worse {} = {:.4} gets when the feature is shuffled; mean and \
                 standard deviation of {} shuffles, seed {}",
                found.measure, found.value, self.repeats, self.seed
            ));
            table.notes.push(format!("{}: {}", found.measure, found.measure.convention()));
        }
        if !table.rows.is_empty() {
            parts.push(table.to_text());
        }
        if let Some((tree_number, tree)) = self.tree {
            let text = tree_text(tree, &self.model.header().features);
            parts.push(format!("tree {tree_number}:\n{text}"));
        }
        parts.join("\n")
    }

    /// The header and the size of the model, a line each.
    fn facts(&self) -> Table {
        let header = self.model.header();
        let mut table = Table::new([("model", Align::Left), (&self.file, Align::Left)]);
        let mut line = |what: &str, text: String| {
            if !text.is_empty() {
                table.rows.push(vec![what.into(), Cell::new(text)]);
            }
        };
        line("kind", self.model.body().name().into());
        line("learner", header.learner.clone());
        line("objective", header.objective.clone());
        line("metric", header.metric.clone());
        line("conventions", header.conventions.clone());
        if header.rows > 0 {
            let rows = counted(header.rows as usize, "document");
            let queries = counted(header.queries as usize, "query");
            line("trained on", format!("{rows} of {queries}, seed {}", header.seed));
        }
        if let Some(text) = &header.feature_set {
            // The names of the features follow; here is what else a set says.
            let set = FeatureSet::from_toml(text);
            line("feature set", set.map_or_else(|error| error.to_string(), |set| set_text(&set)));
        }
        for (key, text) in &header.notes {
            line(key, text.clone());
        }
        line("features", features_text(&header.features));
        line("feature hash", format!("{:016x}", header.feature_hash()));
        line("absent features are", header.absent.name().into());
        for (what, text) in parts::lines(self.model.body()) {
            line(&what, text);
        }
        table
    }

    /// Gain and splits by feature, largest gain first.
    fn importance(&self) -> Table {
        let columns = ["gain", "share", "splits"].map(|name| (name, Align::Right));
        let mut table = self.feature_table(&columns);
        let all = self.model.importance();
        let total: f64 = all.iter().map(|one| one.gain).sum();
        for one in &all {
            let share = if total > 0.0 { 100.0 * one.gain / total } else { 0.0 };
            let mut row = vec![
                Cell::new(one.name.as_str()),
                Cell::new(format!("{:.4}", one.gain)),
                Cell::new(format!("{share:.1} %")),
                Cell::new(one.splits.to_string()),
            ];
            row.extend(self.loss_cells(one.feature));
            table.rows.push(row);
        }
        table
    }

    /// Weights by feature, largest first whatever the sign.
    fn weights(&self, weights: &[f64]) -> Table {
        let mut table = self.feature_table(&[("weight", Align::Right)]);
        for (feature, weight) in sorted_weights(weights) {
            let name = self.model.header().features.name(feature).into_owned();
            let mut row = vec![Cell::new(name), Cell::new(weight.to_string())];
            row.extend(self.loss_cells(feature));
            table.rows.push(row);
        }
        table
    }

    /// Features by what shuffling them loses, largest first; empty where nothing was shuffled.
    fn losses(&self) -> Table {
        let mut table = self.feature_table(&[]);
        for feature in self.by_loss() {
            let mut row = vec![Cell::new(self.model.header().features.name(feature).into_owned())];
            row.extend(self.loss_cells(feature));
            table.rows.push(row);
        }
        table
    }

    /// The features that were shuffled, largest loss first.
    fn by_loss(&self) -> Vec<usize> {
        let Some(found) = self.permutation else { return Vec::new() };
        let mean = |feature: usize| found.of(feature).map_or(0.0, |(mean, _)| mean);
        let all = found.losses.iter().map(|(feature, _)| (*feature, mean(*feature)));
        let mut all: Vec<(usize, f64)> = all.collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all.into_iter().map(|(feature, _)| feature).collect()
    }

    fn feature_table(&self, columns: &[(&str, Align)]) -> Table {
        let losses = [("loss", Align::Right), ("+-", Align::Right)];
        let losses = losses.into_iter().filter(|_| self.permutation.is_some());
        let columns = columns.iter().copied();
        Table::new([("feature", Align::Left)].into_iter().chain(columns).chain(losses))
    }

    fn loss_cells(&self, feature: usize) -> Vec<Cell> {
        match self.permutation.and_then(|found| found.of(feature)) {
            None => Vec::new(),
            Some((mean, spread)) => {
                let spread = spread.map_or(String::new(), |spread| format!("{spread:.4}"));
                vec![Cell::new(format!("{mean:.4}")), Cell::new(spread)]
            }
        }
    }

    /// What the header says.
    fn header_json(&self) -> Value {
        let header = self.model.header();
        json!({
            "model": self.file,
            "kind": self.model.body().name(),
            "learner": header.learner,
            "objective": header.objective,
            "metric": header.metric,
            "conventions": header.conventions,
            "seed": header.seed,
            "queries": header.queries,
            "rows": header.rows,
            "feature_set": header.feature_set,
            "notes": header.notes,
            "absent": header.absent.name(),
            "features": header.features.len(),
            "feature_hash": format!("{:016x}", header.feature_hash()),
        })
    }

    pub(super) fn json(&self) -> Value {
        let mut document = self.header_json();
        parts::json(self.model.body(), &mut document);
        match (weights_of(self.model), self.model.body()) {
            (Some(weights), _) => document["weights"] = self.weights_json(&weights),
            (None, ModelBody::Trees(_)) => document["importance"] = self.importance_json(),
            (None, _) if self.permutation.is_some() => document["importance"] = self.losses_json(),
            _ => {}
        }
        if let Some(found) = self.permutation {
            document["permutation"] = json!({
                "metric": found.measure.to_string(),
                "convention": found.measure.convention(),
                "value": number(found.value), "repeats": self.repeats, "seed": self.seed,
            });
        }
        if let Some((tree_number, tree)) = self.tree {
            let text = tree_text(tree, &self.model.header().features);
            let (leaves, depth) = (tree.leaves().len(), tree.depth());
            document["tree"] =
                json!({ "number": tree_number, "leaves": leaves, "depth": depth, "text": text });
        }
        document
    }

    fn importance_json(&self) -> Value {
        let all = self.model.importance();
        let one = |one: &rankwright::model::Importance| {
            let value = json!({
                "feature": one.name, "gain": number(one.gain), "splits": one.splits,
            });
            self.with_loss(value, one.feature)
        };
        all.iter().map(one).collect()
    }

    fn losses_json(&self) -> Value {
        let names = &self.model.header().features;
        let one = |feature| self.with_loss(json!({ "feature": names.name(feature) }), feature);
        self.by_loss().into_iter().map(one).collect()
    }

    fn weights_json(&self, weights: &[f64]) -> Value {
        let names = &self.model.header().features;
        let one = |(feature, weight): (usize, f64)| {
            let value = json!({ "feature": names.name(feature), "weight": number(weight) });
            self.with_loss(value, feature)
        };
        sorted_weights(weights).into_iter().map(one).collect()
    }

    fn with_loss(&self, mut value: Value, feature: usize) -> Value {
        if let Some((mean, spread)) = self.permutation.and_then(|found| found.of(feature)) {
            value["loss"] = number(mean);
            value["loss_spread"] = spread.map_or(Value::Null, number);
        }
        value
    }
}

/// The weight of each feature, where the model is a line over features as they are or transformed.
fn weights_of(model: &Model) -> Option<Vec<f64>> {
    match model.body() {
        ModelBody::Linear(line) => Some(line.weights().to_vec()),
        ModelBody::Net(net) => Some(net.line()?.iter().map(|weight| f64::from(*weight)).collect()),
        _ => None,
    }
}

/// Weights other than 0, largest first whatever the sign.
fn sorted_weights(weights: &[f64]) -> Vec<(usize, f64)> {
    let all = weights.iter().copied().enumerate();
    let mut used: Vec<(usize, f64)> = all.filter(|(_, weight)| *weight != 0.0).collect();
    used.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    used
}

/// How the features of a model were computed from text.
fn set_text(set: &FeatureSet) -> String {
    let analysis = set.analysis.as_deref().unwrap_or("any");
    format!("version {} of the formulas, analysis {analysis}", set.version)
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
