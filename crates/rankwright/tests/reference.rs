//! Checks the pages under `docs/reference/`: every learner, objective, metric, feature, first stage
//! and format, generated from the declarations themselves. A page that differs fails the test; this
//! command rewrites them:
//!
//! ```text
//! cargo test -p rankwright --test reference -- --ignored write_the_pages
//! ```
#![cfg(all(feature = "train", feature = "search"))]

use std::fmt::Write as _;
use std::path::PathBuf;

use rankwright::data::format::FORMATS;
use rankwright::eval::{METRICS, PRESETS, PresetDef};
use rankwright::learn::objective::OBJECTIVES;
use rankwright::learn::{LEARNERS, LearnerDef};
use rankwright::model::ModelFormat;
use rankwright::search::{DocumentFormat, FEATURES, FIRST_STAGES};
use rankwright::spec::ParamDef;

const NOTE: &str =
    "<!-- Written by crates/rankwright/tests/reference.rs; edit the declarations instead. -->";

fn page(title: &str, about: &str) -> String {
    format!("{NOTE}\n\n# {title}\n\n{about}\n\n")
}

/// A cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\t'], " ")
}

fn table(page: &mut String, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let _ = writeln!(page, "| {} |", header.join(" | "));
    let _ = writeln!(page, "|{}", "---|".repeat(header.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page.push('\n');
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn entry(page: &mut String, name: &str, help: &str, example: &str, defs: &[ParamDef]) {
    let _ = write!(page, "## {name}\n\n{help}\n\n```text\n{example}\n```\n\n");
    if defs.is_empty() {
        page.push_str("No parameters.\n\n");
        return;
    }
    let row = |param: &ParamDef| {
        let default = param.default.as_deref().map_or("must be given".to_owned(), code);
        let needs = param.requires.map_or(String::new(), |needs| format!(" Only with `{needs}`."));
        let help = format!("{}{needs}", param.help);
        vec![code(param.name), default, param.expected(), help]
    };
    table(page, &["parameter", "default", "values", "meaning"], defs.iter().map(row));
}

fn learners() -> String {
    let about = "A learner as `train --learner` accepts it, and as a struct of the Rust library.";
    let mut page = page("Learners", about);
    let yes = |yes: bool| if yes { "yes" } else { "" }.to_owned();
    let row = |def: &&LearnerDef| {
        let takes = def.accepts;
        let pairs = match (takes.pairs, takes.pairs_alone) {
            (true, false) => "with labels".to_owned(),
            (pairs, _) => yes(pairs),
        };
        let abilities = [takes.start, takes.validation, takes.missing].map(yes);
        [vec![code(def.name), def.help.to_owned(), pairs], abilities.to_vec()].concat()
    };
    let header =
        ["learner", "", "preference pairs", "start model", "validation data", "missing values"];
    table(&mut page, &header, LEARNERS.iter().map(row));
    for def in LEARNERS {
        entry(&mut page, def.name, def.help, def.example, &def.params());
    }
    page
}

fn objectives() -> String {
    let about = "The losses that learners minimise; boosted trees and nets share them.";
    let mut page = page("Objectives", about);
    for def in OBJECTIVES {
        entry(&mut page, def.name, def.help, def.example, &def.params());
    }
    page
}

fn metrics() -> String {
    let about = "Every metric prints its conventions with its value. `@k` cuts the list at k.";
    let mut page = page("Metrics", about);
    let preset = |preset: &PresetDef| vec![code(preset.name), preset.help.to_owned()];
    page.push_str("Presets take over the conventions of another tool: `ndcg(preset=trec)@10`.\n\n");
    table(&mut page, &["preset", "conventions"], PRESETS.iter().map(preset));
    for def in METRICS {
        entry(&mut page, def.name, def.help, def.example, &def.params());
        if !def.aliases.is_empty() {
            let names: Vec<String> = def.aliases.iter().map(|name| code(name)).collect();
            let _ = write!(page, "Also called {}.\n\n", names.join(", "));
        }
    }
    page
}

fn features() -> String {
    let about = "Features of a query and a document of an index, and the first stages that find \
                 candidates.";
    let mut page = page("Features and first stages", about);
    page.push_str("# Features\n\n");
    for def in FEATURES {
        entry(&mut page, def.name, def.help, def.example, &def.params());
    }
    page.push_str("# First stages\n\n");
    for def in FIRST_STAGES {
        entry(&mut page, def.name, def.help, def.example, &def.params());
    }
    page
}

fn formats() -> String {
    let about = "Formats are told by content. When writing, the extension decides, and `.gz` or \
                 `.zst` after it compresses.";
    let mut page = page("Formats", about);
    page.push_str("## Feature data\n\n");
    let data = FORMATS.iter().map(|format| {
        let extensions = format.extensions.join(", ");
        vec![code(format.name), extensions, format.doc.to_owned(), code(format.example)]
    });
    table(&mut page, &["format", "extensions", "", "example"], data);
    page.push_str("## Documents\n\n");
    let documents = DocumentFormat::ALL.iter();
    let documents = documents.map(|format| vec![code(format.name()), format.doc().to_owned()]);
    table(&mut page, &["format", ""], documents);
    page.push_str("## Models\n\n");
    let models = ModelFormat::all().iter().map(|format| {
        let texts = [format.system, format.reads, format.writes, format.scores];
        [vec![code(format.name)], texts.map(str::to_owned).to_vec()].concat()
    });
    table(&mut page, &["format", "system", "read", "written", "scores"], models);
    page
}

fn pages() -> [(&'static str, String); 5] {
    [
        ("learners.md", learners()),
        ("objectives.md", objectives()),
        ("metrics.md", metrics()),
        ("features.md", features()),
        ("formats.md", formats()),
    ]
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name)
}

#[test]
fn the_pages_are_those_of_the_declarations() {
    for (name, text) in pages() {
        let found = std::fs::read_to_string(path(name)).unwrap_or_default();
        let line = found.lines().zip(text.lines()).position(|(a, b)| a != b);
        let line = line.unwrap_or(found.lines().count().min(text.lines().count())) + 1;
        assert!(found == text, "docs/reference/{name} is stale from line {line} on");
    }
}

#[test]
fn every_learner_stands_on_its_page_with_its_parameters() {
    let page = learners();
    for def in LEARNERS {
        assert!(page.contains(&format!("## {}\n", def.name)), "{}", def.name);
    }
    assert!(page.contains("| `leaves` | `31` | a whole number from 2 to 65536 |"), "{page}");
}

#[test]
#[ignore = "writes the pages anew"]
fn write_the_pages() {
    for (name, text) in pages() {
        std::fs::write(path(name), text).unwrap();
    }
}
