//! `list`: lists learners, objectives, metrics, features, first stages, classifiers, click models
//! and formats, from the library's own tables.

use rankwright::eval::table::{Align, Table};
use rankwright::spec::ParamDef;
use rankwright::tasks::{
    ComponentEntry, FeatureList, FirstStageList, FormatList, LearnerList, MetricList,
    ObjectiveList, describe_classifier, describe_click_model, describe_feature,
    describe_first_stage, describe_learner, describe_metric, describe_objective, list_classifiers,
    list_click_models, list_features, list_first_stages, list_formats, list_learners, list_metrics,
    list_objectives,
};

use crate::failure::Failure;
use crate::output::Output;
use crate::page::terminal_columns;

/// List learners, objectives, metrics, features, first stages, classifiers, click models or
/// formats, with defaults and an example each.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The kind of thing to list
    #[arg(value_enum)]
    what: ListSubject,
    /// Show one of them with all of its parameters: `list learners lambdamart`
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ListSubject {
    /// Learners and their parameters
    Learners,
    /// Objectives: the losses that boosted trees and nets minimise
    Objectives,
    /// Metrics, their parameters, and presets
    Metrics,
    /// Features of documents and queries, for an index
    Features,
    /// First stages, which find the candidates in an index
    FirstStages,
    /// Classifiers of documents
    Classifiers,
    /// Click models, which are fitted to a click log
    ClickModels,
    /// Formats of documents, feature data, judgements, runs and models
    Formats,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        return show_entry(args.what, name, out);
    }
    match args.what {
        ListSubject::Learners => out.show(&list_learners(), learners_text),
        ListSubject::Objectives => out.show(&list_objectives(), objectives_text),
        ListSubject::Metrics => out.show(&list_metrics(), metrics_text),
        ListSubject::Features => out.show(&list_features(), features_text),
        ListSubject::FirstStages => out.show(&list_first_stages(), stages_text),
        ListSubject::Classifiers => out.show(&list_classifiers(), |list| {
            components_text("classifier", "classifiers", &list.classifiers)
        }),
        ListSubject::ClickModels => out.show(&list_click_models(), |list| {
            components_text("click model", "click models", &list.click_models)
        }),
        ListSubject::Formats => out.show(&list_formats(), formats_text),
    }
}

/// Shows one entry of a list.
fn show_entry(what: ListSubject, name: &str, out: &Output) -> Result<(), Failure> {
    match what {
        ListSubject::Learners => out.show(&describe_learner(name)?, |def| {
            let takes = def.accepts;
            let yes = |takes: bool| if takes { "yes" } else { "no" };
            let pairs = match (takes.pairs, takes.pairs_alone) {
                (true, false) => "yes, together with labels",
                (pairs, _) => yes(pairs),
            };
            let facts = [
                ("preference pairs", pairs),
                ("start model", yes(takes.start)),
                ("validation data", yes(takes.validation)),
                ("missing values", yes(takes.missing)),
                ("positions", yes(takes.positions)),
            ];
            entry_text(def.name, def.help, def.example, &facts, &def.params())
        }),
        ListSubject::Objectives => out.show(&describe_objective(name)?, |def| {
            entry_text(def.name, def.help, def.example, &[], &def.params())
        }),
        ListSubject::Metrics => out.show(&describe_metric(name)?, |def| {
            let names = def.aliases.join(", ");
            let yes = |takes: bool| if takes { "yes" } else { "no" };
            let mut facts =
                vec![("cut-off @k", yes(def.cutoff)), ("ties=mean", yes(def.mean_ties))];
            if !names.is_empty() {
                facts.insert(0, ("also called", names.as_str()));
            }
            entry_text(def.name, def.help, def.example, &facts, &def.params())
        }),
        ListSubject::Features => out.show(&describe_feature(name)?, |def| {
            let facts = [("in the set `default`", if def.is_default { "yes" } else { "no" })];
            entry_text(def.name, def.help, def.example, &facts, &def.params())
        }),
        ListSubject::FirstStages => out.show(&describe_first_stage(name)?, |def| {
            entry_text(def.name, def.help, def.example, &[], &def.params())
        }),
        ListSubject::Classifiers => out.show(&describe_classifier(name)?, component_text),
        ListSubject::ClickModels => out.show(&describe_click_model(name)?, component_text),
        ListSubject::Formats => {
            Err(Failure::usage("`list formats` takes no name: it shows every format"))
        }
    }
}

/// One entry with its facts and parameters.
fn entry_text(
    name: &str,
    help: &str,
    example: &str,
    facts: &[(&str, &str)],
    params: &[ParamDef],
) -> String {
    let mut text = format!("{name}: {help}\n\nexample: {example}\n");
    for (what, value) in facts {
        text.push_str(&format!("{what}: {value}\n"));
    }
    if params.is_empty() {
        return text + "\nIt has no parameters.\n";
    }
    let header = ["parameter", "default", "values", "meaning"];
    let mut table = Table::new(header.map(|name| (name, Align::Left)));
    for param in params {
        let default = param.default.as_deref().unwrap_or("(required)");
        let needs = param.requires.map_or(String::new(), |needs| format!(" Only with {needs}."));
        let (values, meaning) = (param.expected(), format!("{}{needs}", param.help));
        table.rows.push([param.name, default, &values, &meaning].map(Into::into).to_vec());
    }
    format!("{text}\n{}", draw(&table))
}

/// A table as text that fits the terminal; with its whole lines if there is none, so that they can
/// be searched.
fn draw(table: &Table) -> String {
    match terminal_columns() {
        Some(columns) => table.to_text_within(columns),
        None => table.to_text(),
    }
}

/// The learners, then each parameter with the learners that take it.
fn learners_text(list: &LearnerList) -> String {
    let mut learners = table(["learner", "description", "example"]);
    for def in list.learners {
        row(&mut learners, [def.name, def.help, def.example]);
    }
    let params = list.learners.iter().map(|def| (def.name, def.params()));
    [draw(&learners), draw(&shared_parameters("learners", params))].join("\n")
}

/// The objectives, then each parameter with the objectives that take it.
fn objectives_text(list: &ObjectiveList) -> String {
    let mut objectives = table(["objective", "description", "example"]);
    for def in list.objectives {
        row(&mut objectives, [def.name, def.help, def.example]);
    }
    objectives.notes.push(
        "`boosting(objective=...)` minimises any of them, `mart(loss=...)` those that its parameter \
         names; other learners have one of their own, which `list learners` names."
            .into(),
    );
    let params = list.objectives.iter().map(|def| (def.name, def.params()));
    [draw(&objectives), draw(&shared_parameters("objectives", params))].join("\n")
}

/// Components with one line each, then each parameter with the components that take it.
fn components_text(title: &str, owners: &str, entries: &[ComponentEntry]) -> String {
    let mut components = table([title, "description", "example"]);
    entries.iter().for_each(|e| row(&mut components, [e.name, e.help, e.example]));
    let params = entries.iter().map(|entry| (entry.name, entry.parameters.clone()));
    [draw(&components), draw(&shared_parameters(owners, params))].join("\n")
}

/// One component with its parameters.
fn component_text(entry: &ComponentEntry) -> String {
    entry_text(entry.name, entry.help, entry.example, &[], &entry.parameters)
}

/// A row for each parameter, with the names of the learners, objectives, classifiers or click
/// models that take it, in a column with the title `owners`; the more take it, the earlier.
fn shared_parameters<'a>(
    owners: &str,
    all: impl Iterator<Item = (&'a str, Vec<ParamDef>)>,
) -> Table {
    let mut shared: Vec<(ParamDef, Vec<&str>)> = Vec::new();
    for (owner, params) in all {
        for param in params {
            match shared.iter_mut().find(|(other, _)| *other == param) {
                Some((_, names)) => names.push(owner),
                None => shared.push((param, vec![owner])),
            }
        }
    }
    shared.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let header = ["parameter", "meaning", "default", owners];
    let mut table = Table::new(header.map(|name| (name, Align::Left)));
    for (param, names) in shared {
        let default = param.default.as_deref().unwrap_or("(required)");
        let cells = [param.name, param.help, default, &names.join(", ")];
        table.rows.push(cells.map(Into::into).to_vec());
    }
    table
}

/// A parameter that several metrics may take, not all with the same default.
struct MetricParam<'a> {
    def: ParamDef,
    /// The defaults, that of the first metric first, with the names of the metrics that have it.
    defaults: Vec<(String, Vec<&'a str>)>,
}

/// The metrics, then each parameter with its defaults, and the presets.
fn metrics_text(list: &MetricList) -> String {
    let mut metrics = table(["metric", "description", "example"]);
    let mut params: Vec<MetricParam<'_>> = Vec::new();
    for def in list.metrics {
        let names = std::iter::once(def.name).chain(def.aliases.iter().copied());
        let names: Vec<&str> = names.collect();
        row(&mut metrics, [&names.join(", "), def.help, def.example]);
        for param in def.params() {
            let default = param.default.clone().unwrap_or_else(|| "(required)".to_owned());
            let known = params
                .iter_mut()
                .find(|known| (known.def.name, known.def.help) == (param.name, param.help));
            let Some(known) = known else {
                params.push(MetricParam { def: param, defaults: vec![(default, vec![def.name])] });
                continue;
            };
            match known.defaults.iter_mut().find(|(other, _)| *other == default) {
                Some((_, owners)) => owners.push(def.name),
                None => known.defaults.push((default, vec![def.name])),
            }
        }
    }
    let header = ["parameter", "meaning", "values", "default"];
    let mut parameters = Table::new(header.map(|name| (name, Align::Left)));
    for MetricParam { def, defaults } in params {
        let shown = defaults.iter().enumerate().map(|(number, (default, owners))| match number {
            0 => default.clone(),
            _ => format!("{default} for {}", owners.join(", ")),
        });
        let default = shown.collect::<Vec<_>>().join("; ");
        let cells = [def.name.to_owned(), def.help.to_owned(), def.expected(), default];
        parameters.rows.push(cells.each_ref().map(|cell| cell.as_str().into()).to_vec());
    }
    let mut presets = table(["preset", "conventions", ""]);
    list.presets.iter().for_each(|p| row(&mut presets, [p.name, p.help, ""]));
    presets.notes.push(
        "Names that only trec_eval uses (P_10, ndcg_cut_10, recip_rank, gm_map, Rprec, ...) stand for the \
         metric with preset=trec. The names map, ndcg and bpref have the default conventions; add \
         preset=trec for those of trec_eval. The name trec_eval stands for all metrics of its official set, \
         each with the preset."
            .into(),
    );
    [draw(&metrics), draw(&parameters), draw(&presets)].join("\n")
}

fn features_text(list: &FeatureList) -> String {
    let mut features = table(["feature", "description", "parameters"]);
    for def in list.features {
        let param = |p: &ParamDef| match &p.default {
            None => p.name.to_owned(),
            Some(default) => format!("{}={default}", p.name),
        };
        let params: Vec<String> = def.params().iter().map(param).collect();
        let star = if def.is_default { "" } else { " *" };
        row(&mut features, [&format!("{}{star}", def.name), def.help, &params.join(", ")]);
    }
    features.notes.push(
        "The set `default` has each feature on each field that it applies to, except the features \
         with a star. field=* stands for every field, stat=* for every statistic: bm25(field=*), \
         tf(field=title, stat=*)."
            .into(),
    );
    draw(&features)
}

fn stages_text(list: &FirstStageList) -> String {
    let mut stages = table(["first stage", "description", "example"]);
    let mut parameters = table(["parameter", "meaning", "default"]);
    let mut params: Vec<ParamDef> = Vec::new();
    for def in list.first_stages {
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
    [draw(&stages), draw(&parameters)].join("\n")
}

fn formats_text(list: &FormatList) -> String {
    let mut data = table(["data", "description", "example"]);
    for info in &list.data {
        let name = format!("{} ({})", info.name, info.extensions.join(", "));
        row(&mut data, [&name, info.doc, &info.example.replace('\t', " ")]);
    }
    data.notes.push(
        "The format of an input is detected by content; gzip and zstd are decompressed. The format \
         of an output follows from its extension; a further .gz or .zst compresses it."
            .into(),
    );
    let mut lists = table(["judgements and runs", "description", "example"]);
    let found = &list.judgements_and_runs;
    found.iter().for_each(|f| row(&mut lists, [f.name, f.doc, f.example]));
    let mut pairs = table(["preference pairs", "description", "example"]);
    list.preference_pairs.iter().for_each(|f| row(&mut pairs, [f.name, f.doc, f.example]));
    let mut documents = table(["documents", "description", ""]);
    list.documents.iter().for_each(|f| row(&mut documents, [f.name, f.doc, ""]));
    let mut models = table(["models", "read", "written"]);
    for format in list.models {
        let name = format!("{} ({})", format.name, format.system);
        row(&mut models, [&name, format.reads, format.writes]);
    }
    [draw(&data), draw(&lists), draw(&pairs), draw(&documents), draw(&models)].join("\n")
}

/// A table with three columns of text.
fn table(header: [&str; 3]) -> Table {
    Table::new(header.map(|name| (name, Align::Left)))
}

/// Adds a row to such a table.
fn row(table: &mut Table, cells: [&str; 3]) {
    table.rows.push(cells.map(Into::into).to_vec());
}
