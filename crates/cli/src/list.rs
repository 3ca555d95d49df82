//! `list`: what there is, from the tables that the program itself works by.

use rankwright::data::format::FORMATS;
use rankwright::eval::table::{Align, Table};
use rankwright::eval::{METRICS, PRESETS};
use rankwright::learn::LEARNERS;
use rankwright::model::ModelFormat;
use rankwright::search::{DocumentFormat, FEATURES, FIRST_STAGES};
use rankwright::spec::ParamDef;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;

/// List learners, metrics, features, first stages or formats, with defaults and an example each.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to list
    #[arg(value_enum)]
    what: What,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum What {
    /// Learners and their parameters
    Learners,
    /// Metrics, their parameters, and presets
    Metrics,
    /// Features of documents and queries, for an index
    Features,
    /// First stages: how an index finds candidates
    FirstStages,
    /// Formats of documents, feature data, judgements, runs and models
    Formats,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    match args.what {
        What::Learners => out.result(learners_json, learners_text),
        What::Metrics => out.result(metrics_json, metrics_text),
        What::Features => out.result(features_json, features_text),
        What::FirstStages => out.result(stages_json, stages_text),
        What::Formats => out.result(formats_json, formats_text),
    }
}

fn learners_json() -> Value {
    json!({ "learners": LEARNERS })
}

/// The learners, then each parameter with the learners that take it.
fn learners_text() -> String {
    let mut learners = table(["learner", "what it is", "example"]);
    let header = ["parameter", "what it says", "default", "learners"];
    let mut parameters = Table::new(header.map(|name| (name, Align::Left)));
    let mut params: Vec<(ParamDef, Vec<&str>)> = Vec::new();
    for def in LEARNERS {
        row(&mut learners, [def.name, def.help, def.example]);
        for param in def.params() {
            match params.iter_mut().find(|(other, _)| *other == param) {
                Some((_, names)) => names.push(def.name),
                None => params.push((param, vec![def.name])),
            }
        }
    }
    // Those that most learners share come first.
    params.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (param, names) in params {
        let default = param.default.as_deref().unwrap_or("(required)");
        let cells = [param.name, param.help, default, &names.join(", ")];
        parameters.rows.push(cells.map(Into::into).to_vec());
    }
    [learners.to_text(), parameters.to_text()].join("\n")
}

fn metrics_json() -> Value {
    json!({ "metrics": METRICS, "presets": PRESETS })
}

fn metrics_text() -> String {
    let mut metrics = table(["metric", "what it measures", "example"]);
    let mut params: Vec<ParamDef> = Vec::new();
    for def in METRICS {
        let names = std::iter::once(def.name).chain(def.aliases.iter().copied());
        let names: Vec<&str> = names.collect();
        row(&mut metrics, [&names.join(", "), def.help, def.example]);
        for param in def.params() {
            if !params.iter().any(|other| (other.name, other.help) == (param.name, param.help)) {
                params.push(param);
            }
        }
    }
    let header = ["parameter", "what it says", "values", "default"];
    let mut parameters = Table::new(header.map(|name| (name, Align::Left)));
    for param in params {
        let default = param.default.clone().unwrap_or_else(|| "(required)".to_owned());
        let cells = [param.name.to_owned(), param.help.to_owned(), param.expected(), default];
        parameters.rows.push(cells.each_ref().map(|cell| cell.as_str().into()).to_vec());
    }
    let mut presets = table(["preset", "whose conventions", ""]);
    PRESETS.iter().for_each(|p| row(&mut presets, [p.name, p.help, ""]));
    presets.notes.push(
        "trec_eval's names with a number or of their own (P_10, ndcg_cut_10, recip_rank, gm_map, Rprec, ...) \
         mean the metric with preset=trec; plain map, ndcg and bpref are ours, and need preset=trec to be \
         trec_eval's. trec_eval stands for its official set, each with the preset."
            .into(),
    );
    [metrics.to_text(), parameters.to_text(), presets.to_text()].join("\n")
}

fn features_json() -> Value {
    json!({ "features": FEATURES })
}

fn features_text() -> String {
    let mut features = table(["feature", "what it is", "parameters"]);
    for def in FEATURES {
        let param = |p: &ParamDef| match &p.default {
            None => p.name.to_owned(),
            Some(default) => format!("{}={default}", p.name),
        };
        let params: Vec<String> = def.params().iter().map(param).collect();
        let star = if def.is_default { "" } else { " *" };
        row(&mut features, [&format!("{}{star}", def.name), def.help, &params.join(", ")]);
    }
    features.notes.push(
        "`default` is each of them on each field that will do, but for those with a star. field=* \
         stands for every field, stat=* for every summary: bm25(field=*), tf(field=title, stat=*)."
            .into(),
    );
    features.to_text()
}

fn stages_json() -> Value {
    json!({ "first_stages": FIRST_STAGES })
}

fn stages_text() -> String {
    let mut stages = table(["first stage", "what it is", "example"]);
    let mut parameters = table(["parameter", "what it says", "default"]);
    let mut params: Vec<ParamDef> = Vec::new();
    for def in FIRST_STAGES {
        row(&mut stages, [def.name, def.help, def.example]);
        for param in def.params() {
            if !params.contains(&param) {
                params.push(param);
            }
        }
    }
    for param in &params {
        row(&mut parameters, [param.name, param.help, param.default.as_deref().unwrap_or("")]);
    }
    [stages.to_text(), parameters.to_text()].join("\n")
}

/// Formats of judgements and runs: name, what it is, an example line.
const LISTS: [[&str; 3]; 5] = [
    ["trec qrels", "judgements: query, ignored, document, relevance", "q1 0 d7 2"],
    ["trec run", "a run: query, ignored, document, rank, score, tag", "q1 Q0 d7 1 14.2 bm25"],
    [
        "table",
        "judgements or a run, tab-separated with a header (BEIR)",
        "query-id corpus-id score",
    ],
    [
        "jsonl qrels",
        "judgements as JSON lines",
        r#"{"query_id": "q1", "doc_id": "d7", "relevance": 2}"#,
    ],
    ["jsonl run", "a run as JSON lines", r#"{"query_id": "q1", "doc_id": "d7", "score": 14.2}"#],
];

fn formats_json() -> Value {
    let data = FORMATS.iter().map(
        |f| json!({"name": f.name, "extensions": f.extensions, "doc": f.doc, "example": f.example}),
    );
    let lists = LISTS
        .iter()
        .map(|[name, doc, example]| json!({"name": name, "doc": doc, "example": example}));
    let documents = DocumentFormat::ALL.iter().map(|f| json!({"name": f.name(), "doc": f.doc()}));
    json!({
        "data": data.collect::<Vec<_>>(),
        "judgements_and_runs": lists.collect::<Vec<_>>(),
        "documents": documents.collect::<Vec<_>>(),
        "models": ModelFormat::all(),
    })
}

fn formats_text() -> String {
    let mut data = table(["data", "what it is", "example"]);
    for info in &FORMATS {
        let name = format!("{} ({})", info.name, info.extensions.join(", "));
        row(&mut data, [&name, info.doc, &info.example.replace('\t', " ")]);
    }
    data.notes.push(
        "Formats are told by content; gzip and zstd are unpacked. When writing, the extension \
         decides, and .gz or .zst after it packs."
            .into(),
    );
    let mut lists = table(["judgements and runs", "what it is", "example"]);
    LISTS.iter().for_each(|line| row(&mut lists, *line));
    let mut documents = table(["documents", "what it is", ""]);
    DocumentFormat::ALL.iter().for_each(|f| row(&mut documents, [f.name(), f.doc(), ""]));
    let mut models = table(["models", "read", "written"]);
    for format in ModelFormat::all() {
        let name = format!("{} ({})", format.name, format.system);
        row(&mut models, [&name, format.reads, format.writes]);
    }
    [data.to_text(), lists.to_text(), documents.to_text(), models.to_text()].join("\n")
}

fn table(header: [&str; 3]) -> Table {
    Table::new(header.map(|name| (name, Align::Left)))
}

fn row(table: &mut Table, cells: [&str; 3]) {
    table.rows.push(cells.map(Into::into).to_vec());
}
