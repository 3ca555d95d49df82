//! Checks the pages under `docs/reference/`: every learner, objective, metric, feature, first stage
//! and format, generated from the declarations themselves. A page that differs fails the test; this
//! command rewrites them:
//!
//! ```text
//! cargo xtask records
//! ```
#![cfg(all(feature = "search", feature = "experiment", feature = "clicks"))]

#[path = "reference/error_kinds.rs"]
mod error_kinds;
#[path = "reference/json_results.rs"]
mod json_results;
#[path = "reference/requests.rs"]
mod requests;

use std::fmt::Write as _;
use std::path::PathBuf;

use rankwright::clicks::bias::BiasOptions;
use rankwright::clicks::model::CLICK_MODELS;
use rankwright::data::format::FORMATS;
use rankwright::data::generate::{HomepagesOptions, LetorOptions, StoreOptions};
use rankwright::data::split::SplitOptions;
use rankwright::eval::compare::CompareOptions;
use rankwright::eval::{METRICS, PRESETS, PresetDef};
use rankwright::learn::objective::OBJECTIVES;
use rankwright::learn::tune::TuneParams;
use rankwright::learn::{FoldParams, LearnerSpec};
use rankwright::learn::{LEARNERS, LearnerDef};
use rankwright::model::ModelFormat;
use rankwright::search::classify::CLASSIFIERS;
use rankwright::search::{DocumentFormat, FEATURES, FIRST_STAGES, FirstStage};
use rankwright::spec::{
    OTHER_FIRST_STAGES, OTHER_SYSTEM_LEARNERS, OTHER_SYSTEM_PARAMS, ParamDef, ParamGroup,
};
use rankwright::tasks::{list_classifiers, list_click_models, list_formats};

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
        let abilities = [takes.start, takes.validation, takes.missing, takes.positions].map(yes);
        [vec![code(def.name), def.help.to_owned(), pairs], abilities.to_vec()].concat()
    };
    let header = [
        "learner",
        "",
        "preference pairs",
        "start model",
        "validation data",
        "missing values",
        "positions",
    ];
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
    let about = "Every metric prints its conventions with its value. `@k` cuts the list at k. The 95 % \
                 interval of a mean is Student's t over queries; where that would leave the range of \
                 the metric, it is Student's t on the logit scale, or on the logarithmic scale for a \
                 metric without a highest value, and a line below the table says so.";
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

fn classifiers() -> String {
    let about = "A classifier as `classify --classifier` accepts it.";
    let mut page = page("Classifiers", about);
    for def in list_classifiers().classifiers {
        entry(&mut page, def.name, def.help, def.example, &def.parameters);
    }
    page
}

fn click_models() -> String {
    let about = "A click model as `clicks fit --model` accepts it.";
    let mut page = page("Click models", about);
    for def in list_click_models().click_models {
        entry(&mut page, def.name, def.help, def.example, &def.parameters);
    }
    page
}

/// The rules of files of preference pairs that their table of lines does not say.
const PAIR_RULES: &str = "\
Tabs, spaces or commas separate the words of a line; between commas, a word in double quotes may have commas. Documents are named \
by id or by their row in the data, from 0. Empty lines and lines that begin with `#` are skipped. A first line may \
name the columns: instead of `better` and `worse` also `winner` and `loser`, `preferred` and `other`, `chosen` and `rejected`, `positive` \
and `negative`; before a probability also `a` and `b` or `doc_a` and `doc_b`.\n\n\
Without such a line, a fourth column is a weight. If all its values are from 0 to 1 and not all are 1, it could be a probability as \
well, and the file is refused until a header or `--pair-column` says which it is. A probability P becomes the two preferences of \
RankNet's cross-entropy: P times that of the first document, 1 - P times that of the second.\n\n";

/// The example of every line is read, with its header and without.
#[test]
fn examples_of_preference_pairs_are_read() {
    use rankwright::data::bytes::Input;
    use rankwright::data::{Dataset, PairColumn};
    for pairs in list_formats().preference_pairs {
        let column = match pairs.header.contains("probability") {
            true => PairColumn::Probability,
            false => PairColumn::Weight,
        };
        let read = |text: String, column| {
            let data = Dataset::from_rows([[1.0], [2.0]], ["x"])
                .query_ids(["q1", "q1"])
                .doc_ids(["d7", "d3"])
                .build()
                .unwrap();
            let input = Input::from_bytes("pairs.tsv", text.into_bytes()).unwrap();
            let (data, _) = data.with_pairs_as(&input, column).unwrap();
            data.pairs().unwrap().to_vec()
        };
        let found = read(format!("{}\n", pairs.example), Some(column));
        let with_header = format!("{}\n{}\n", pairs.header, pairs.example);
        assert_eq!(read(with_header, None), found, "{}", pairs.name);
        assert_eq!(found[0].better, 0, "{}", pairs.name);
        let weights: Vec<f32> = found.iter().map(|pair| pair.weight).collect();
        let expected: &[f32] = match pairs.name {
            "preference" => &[1.0],
            "probability" => &[0.7, 0.3],
            "probability and weight" => &[2.1, 0.9],
            _ => &[2.5],
        };
        assert_eq!(weights.len(), expected.len(), "{}", pairs.name);
        for (found, expected) in weights.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{}: {weights:?}", pairs.name);
        }
    }
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
    page.push_str("## Judgements and runs\n\n");
    let lists = list_formats().judgements_and_runs.into_iter();
    let lists = lists.map(|list| vec![code(list.name), list.doc.to_owned(), code(list.example)]);
    table(&mut page, &["format", "", "example"], lists);
    page.push_str("## Preference pairs\n\n");
    page.push_str(PAIR_RULES);
    let pairs = list_formats().preference_pairs.into_iter().map(|pairs| {
        let header = if pairs.header.is_empty() { String::new() } else { code(pairs.header) };
        vec![pairs.name.to_owned(), pairs.doc.to_owned(), header, code(pairs.example)]
    });
    table(&mut page, &["line", "", "header", "example"], pairs);
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

fn names() -> String {
    let about = "Names of LightGBM, XGBoost, CatBoost, scikit-learn and RankLib, and what they are \
                 called here. The names on the left are refused with this hint.";
    let mut page = page("Names you may know", about);
    let all = |names: &[&str]| names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
    page.push_str("## Parameters\n\n");
    let params = OTHER_SYSTEM_PARAMS.iter().map(|entry| {
        let here = match entry.our_names {
            [] => "not a parameter".to_owned(),
            names => all(names),
        };
        vec![all(entry.names), here, entry.note.to_owned()]
    });
    table(&mut page, &["elsewhere", "here", ""], params);
    page.push_str("## Learners\n\n");
    let learners = OTHER_SYSTEM_LEARNERS.iter();
    let learners =
        learners.map(|entry| vec![all(entry.names), code(entry.our_spec), entry.note.to_owned()]);
    table(&mut page, &["elsewhere", "here", ""], learners);
    page.push_str("## First stages\n\n");
    let stages = OTHER_FIRST_STAGES.iter().map(|(names, spec)| vec![all(names), code(spec)]);
    table(&mut page, &["elsewhere", "here"], stages);
    page
}

/// A hint must not lead to a name that does not exist.
#[test]
fn every_name_of_another_system_leads_to_one_that_exists() {
    for entry in OTHER_SYSTEM_PARAMS {
        for here in entry.our_names {
            let has = |def: &&&LearnerDef| def.params().iter().any(|param| param.name == *here);
            assert!(LEARNERS.iter().any(|def| has(&def)), "no learner has `{here}`");
        }
    }
    for entry in OTHER_SYSTEM_LEARNERS {
        assert!(LearnerSpec::parse(entry.our_spec).is_ok(), "{}", entry.our_spec);
        for name in entry.names {
            assert!(LEARNERS.iter().all(|def| def.name != *name), "{name} is a learner here");
        }
    }
    for (names, spec) in OTHER_FIRST_STAGES {
        assert!(FirstStage::parse(spec).is_ok(), "{spec}");
        for name in *names {
            let error = FirstStage::parse(name).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean `{spec}`?")), "{error}");
        }
    }
    for (spec, hint) in [
        ("lambdamart(learning_rate=0.1)", "it is called `rate` here"),
        ("lambdamart(num_leaves=7)", "it is called `leaves` here"),
        ("mart(n_estimators=7)", "it is called `trees` here"),
        ("lambdamart(max_depth=7)", "it is called `depth` here"),
        ("xendcg(early_stopping_rounds=7)", "it is called `stop` here"),
        ("lambdamart(lambda_l2=7)", "it is called `l2` here"),
        ("ranknet(lr=0.1)", "it is called `rate` here"),
        ("XGBRanker(eta=0.1)", "did you mean `lambdamart`?"),
    ] {
        let error = LearnerSpec::parse(spec).unwrap_err().to_string();
        assert!(error.contains(hint), "{error}");
    }
    let net = LearnerSpec::parse("lambdarank(num_leaves=31)").unwrap_err();
    assert!(net.help().unwrap().contains("the learner `lambdamart`"), "{net}");
}

fn results() -> String {
    let about = "The keys of the document that each command prints with `--json`, from the \
                 declarations of the results. `a[].b` is the key `b` of each entry of the list `a`. \
                 Commands that write a page add `html`, and `assets` if there are any. New keys may \
                 be added; keys are not removed or renamed without a note in the changelog. An \
                 error is `{\"error\": {\"kind\": ..., \"message\": ..., \"help\": ..., \
                 \"exit_code\": ...}}`, on standard error.";
    page("JSON results", about) + &json_results::page()
}

fn errors() -> String {
    let about = "The kinds of errors: the key `kind` of an error that a command prints with \
                 `--json`, and `kind()` of the error types of the library. An error that only wraps \
                 another one has the kind of the inner one, so a program needs no knowledge of the \
                 nesting. Kinds are not removed or renamed without a note in the changelog.";
    let mut text = page("Errors", about);
    text.push_str("## The command\n\n");
    table(&mut text, &["kind", "meaning"], error_kinds::of_command());
    for (name, rows) in error_kinds::kinds() {
        let _ = write!(text, "## `{name}`\n\n");
        table(&mut text, &["kind", "meaning"], rows);
    }
    text
}

fn requests() -> String {
    let about = "The requests of `rankwright::tasks` as JSON, for programs in any language. A field that \
                 the first example lacks may be left out, unknown fields are refused, a file is its \
                 path, and a learner, metric or other component is the text of its spec. An object of \
                 parameters (`options`, `division`, ...) has the parameters that differ from their \
                 defaults; their names are those of the other pages. Values in memory, which a program \
                 can give instead of files, have no JSON form. Ranges are checked when the JSON is read.";
    page("Requests", about) + &requests::page()
}

fn pages() -> [(&'static str, String); 11] {
    [
        ("learners.md", learners()),
        ("objectives.md", objectives()),
        ("metrics.md", metrics()),
        ("features.md", features()),
        ("classifiers.md", classifiers()),
        ("click-models.md", click_models()),
        ("formats.md", formats()),
        ("names.md", names()),
        ("requests.md", requests()),
        ("results.md", results()),
        ("errors.md", errors()),
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
    assert!(
        page.contains("| `leaves` | `auto` | auto \\| a whole number from 2 to 65536 |"),
        "{page}"
    );
}

/// The parameters of every declared component, with its name.
fn all_declarations() -> Vec<(&'static str, Vec<ParamDef>)> {
    let learners = LEARNERS.iter().map(|def| (def.name, def.params()));
    let objectives = OBJECTIVES.iter().map(|def| (def.name, def.params()));
    let metrics = METRICS.iter().map(|def| (def.name, def.params()));
    let features = FEATURES.iter().map(|def| (def.name, def.params()));
    let first_stages = FIRST_STAGES.iter().map(|def| (def.name, def.params()));
    let click_models = CLICK_MODELS.iter().map(|def| (def.name, def.params()));
    let components = learners.chain(objectives).chain(metrics).chain(features).chain(first_stages);
    let classifiers = CLASSIFIERS.iter().map(|def| (def.name, def.params()));
    let options = [
        ("cross validation", FoldParams::default().defs()),
        ("tuning", TuneParams::default().defs()),
        ("comparison", CompareOptions::default().defs()),
        ("position bias", BiasOptions::default().defs()),
        ("split", SplitOptions::default().defs()),
        ("letor", LetorOptions::default().defs()),
        ("store", StoreOptions::default().defs()),
        ("homepages", HomepagesOptions::default().defs()),
    ];
    components.chain(click_models).chain(classifiers).chain(options).collect()
}

#[test]
fn no_component_has_two_parameters_of_one_name() {
    for (name, defs) in all_declarations() {
        for (n, def) in defs.iter().enumerate() {
            let again = defs[..n].iter().any(|earlier| earlier.name == def.name);
            assert!(!again, "{name} has {} twice", def.name);
        }
    }
}

#[test]
fn the_condition_of_a_parameter_names_another_of_the_same_declaration() {
    let mut conditions = 0;
    for (name, defs) in all_declarations() {
        for condition in defs.iter().filter_map(|def| def.requires) {
            let key = condition.split(['=', '<', '>', '!']).next().unwrap();
            assert!(defs.iter().any(|def| def.name == key), "{name}: {condition}");
            conditions += 1;
        }
    }
    assert!(conditions > 20, "{conditions}");
}

#[test]
#[ignore = "writes the pages anew"]
fn write_the_pages() {
    for (name, text) in pages() {
        std::fs::write(path(name), text).unwrap();
    }
}
