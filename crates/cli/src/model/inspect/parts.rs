//! What a model of each kind is made of: a line for each fact, and the same as JSON.

use rankwright::eval::table::{Align, Cell, Table};
use rankwright::model::{Blend, Ensemble, Layer, Model, ModelBody, Net, Normalise, Tree};
use rankwright::spec::words::counted;
use serde_json::{Value, json};

use crate::output::number;

/// Counts over all trees.
struct Figures {
    leaves: usize,
    most_leaves: usize,
    depth: usize,
    mean_depth: f64,
}

impl Figures {
    fn of(ensemble: &Ensemble) -> Figures {
        let leaves = || ensemble.trees().iter().map(|tree| tree.leaves().len());
        let depths: Vec<usize> = ensemble.trees().iter().map(Tree::depth).collect();
        Figures {
            leaves: leaves().sum(),
            most_leaves: leaves().max().unwrap_or(0),
            depth: depths.iter().copied().max().unwrap_or(0),
            mean_depth: depths.iter().sum::<usize>() as f64 / depths.len().max(1) as f64,
        }
    }
}

/// Facts and what they are, in the order in which they are shown.
pub(super) fn lines(kind: &ModelBody) -> Vec<(String, String)> {
    let line = |what: &str, text: String| (what.to_owned(), text);
    match kind {
        ModelBody::Trees(ensemble) => {
            let f = Figures::of(ensemble);
            vec![
                line("trees", ensemble.trees().len().to_string()),
                line("leaves", format!("{}, at most {} a tree", f.leaves, f.most_leaves)),
                line("depth", format!("{:.1} on average, at most {}", f.mean_depth, f.depth)),
                line("base score", ensemble.base().to_string()),
            ]
        }
        ModelBody::Linear(model) => vec![line("bias", model.bias().to_string())],
        ModelBody::Net(net) => {
            let mut lines = vec![line("transform", net.transforms().describe())];
            let layers = net.layers().iter().enumerate();
            lines.extend(layers.map(|(at, one)| (format!("layer {}", at + 1), layer(one))));
            lines.push(line("parameters", net.parameters().to_string()));
            lines
        }
        ModelBody::Blend(blend) => vec![
            line("members", blend.members().len().to_string()),
            line("scores are", normalised(blend.normalise()).into()),
        ],
        _ => Vec::new(),
    }
}

/// `136 to 64, layer norm, relu, 8832 parameters`.
fn layer(layer: &Layer) -> String {
    let norm = if layer.norm().is_some() { ", layer norm" } else { "" };
    let activation = match layer.activation().name() {
        "none" => String::new(),
        name => format!(", {name}"),
    };
    let (inputs, outputs) = (layer.inputs(), layer.outputs());
    format!("{inputs} to {outputs}{norm}{activation}, {} parameters", layer.parameters())
}

fn normalised(normalise: Normalise) -> &'static str {
    match normalise {
        Normalise::None => "added as they are",
        Normalise::MinMax => "brought to 0 to 1 within each query",
        Normalise::Standard => "standardised within each query",
        Normalise::Rank => "replaced by ranks within each query",
        _ => "normalised within each query",
    }
}

/// A row for each member of a blend.
pub(super) fn members(blend: &Blend) -> Table {
    let columns = [
        ("member", Align::Right),
        ("weight", Align::Right),
        ("kind", Align::Left),
        ("size", Align::Left),
        ("learner", Align::Left),
    ];
    let mut table = Table::new(columns);
    for (at, (weight, member)) in blend.members().iter().enumerate() {
        table.rows.push(vec![
            Cell::new((at + 1).to_string()),
            Cell::new(weight.to_string()),
            member.body().name().into(),
            Cell::new(size(member)),
            Cell::new(member.header().learner.as_str()),
        ]);
    }
    table
}

fn size(model: &Model) -> String {
    match model.body() {
        ModelBody::Trees(ensemble) => counted(ensemble.trees().len(), "tree"),
        ModelBody::Net(net) => counted(net.parameters(), "parameter"),
        _ => counted(model.used_features().len(), "feature"),
    }
}

/// Adds what `lines` tells to a document.
pub(super) fn json(kind: &ModelBody, document: &mut Value) {
    match kind {
        ModelBody::Trees(ensemble) => {
            let f = Figures::of(ensemble);
            document["base"] = number(ensemble.base());
            document["trees"] = json!({
                "count": ensemble.trees().len(), "leaves": f.leaves,
                "most_leaves": f.most_leaves, "depth": f.depth,
                "mean_depth": number(f.mean_depth),
            });
        }
        ModelBody::Linear(line) => document["bias"] = number(line.bias()),
        ModelBody::Net(net) => net_json(net, document),
        ModelBody::Blend(blend) => {
            document["normalise"] = blend.normalise().name().into();
            let member = |(weight, member): &(f64, Model)| {
                json!({
                    "weight": number(*weight), "kind": member.body().name(),
                    "size": size(member), "learner": member.header().learner,
                })
            };
            document["members"] = blend.members().iter().map(member).collect();
        }
        _ => {}
    }
}

fn net_json(net: &Net, document: &mut Value) {
    document["transform"] = net.transforms().describe().into();
    document["parameters"] = net.parameters().into();
    let layer = |layer: &Layer| {
        json!({
            "inputs": layer.inputs(), "outputs": layer.outputs(), "norm": layer.norm().is_some(),
            "activation": layer.activation().name(), "parameters": layer.parameters(),
        })
    };
    document["layers"] = net.layers().iter().map(layer).collect();
}
