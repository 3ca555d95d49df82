//! The keys of the JSON results, from the source: every field of a result type that serialises,
//! with its documentation, types inside types included.
//!
//! The reader knows as much Rust as the result types use: structs with `derive(Serialize)`, doc
//! comments, and the attributes `rename`, `skip`, `skip_serializing_if` and `flatten` of serde.
//! Types that serialise themselves are listed in [`WRITTEN`] with their keys.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Each command with the type of its result.
pub(super) const RESULTS: [(&str, &str); 57] = [
    ("train", "TrainModelResult"),
    ("eval", "EvalResult"),
    ("compare", "CompareResult"),
    ("score", "ScoreResult"),
    ("cv", "CrossValidateResult"),
    ("tune", "TuneLearnerResult"),
    ("explain", "ExplainResult"),
    ("data inspect", "InspectResult"),
    ("data convert", "ConvertResult"),
    ("data split", "SplitResult"),
    ("data generate letor", "GenerateLetorResult"),
    ("data generate store", "GenerateStoreResult"),
    ("data generate homepages", "GenerateHomepagesResult"),
    ("model inspect", "InspectModelResult"),
    ("model convert", "ConvertModelResult"),
    ("index", "BuildIndexResult"),
    ("index --delete", "DeleteDocumentsResult"),
    ("search", "SearchIndexResult"),
    ("run", "RunQueriesResult"),
    ("features", "ExtractFeaturesResult"),
    ("classify", "ValidateClassifierResult"),
    ("classify --apply", "ClassifyDocumentsResult"),
    ("clicks inspect", "InspectClicksResult"),
    ("clicks convert", "ConvertClicksResult"),
    ("clicks counts", "CountClicksResult"),
    ("clicks pairs", "ClickPairsResult"),
    ("clicks fit", "FitClickModelResult"),
    ("clicks bias", "EstimateBiasResult"),
    ("clicks labels", "LabelClicksResult"),
    ("clicks simulate", "SimulateClicksResult"),
    ("clicks evaluate", "EvaluateClicksResult"),
    ("interleave", "InterleaveRunsResult"),
    ("interleave score", "ScoreInterleavingResult"),
    ("interleave simulate", "SimulateRunResult"),
    ("judge prompts", "JudgePromptsResult"),
    ("judge read", "JudgeReadResult"),
    ("judge check", "JudgeCheckResult"),
    ("judge aggregate", "JudgeAggregateResult"),
    ("experiment", "RunExperimentResult"),
    ("experiment --dry-run", "PlanSummary"),
    ("report compare", "ReportComparisonResult"),
    ("report train", "ReportTrainingResult"),
    ("report data", "ReportDataResult"),
    ("report clicks", "ReportClicksResult"),
    ("report shrinkage", "ReportShrinkageResult"),
    ("report tradeoff", "ReportTradeOffResult"),
    ("lecture", "LectureList"),
    ("lecture NAME", "LectureResult"),
    ("list learners", "LearnerList"),
    ("list objectives", "ObjectiveList"),
    ("list metrics", "MetricList"),
    ("list features", "FeatureList"),
    ("list first-stages", "FirstStageList"),
    ("list classifiers", "ClassifierList"),
    ("list click-models", "ClickModelList"),
    ("list formats", "FormatList"),
    ("demo", "DemoResult"),
];

/// Types that serialise as another one.
const SERIALISED_AS: [(&str, &str); 5] = [
    ("ComparisonReport", "ReportResult"),
    ("ReportTrainingResult", "TrainingResult"),
    ("ReportDataResult", "DataResult"),
    ("ReportShrinkageResult", "ShrinkageResult"),
    ("ReportTradeOffResult", "TradeOffResult"),
];

/// Keys of types that serialise themselves: type, key, meaning.
const WRITTEN: [(&str, &str, &str); 31] = [
    ("Comparison", "systems", "Names of the systems."),
    ("Comparison", "baseline", "Name of the baseline."),
    ("Comparison", "test", "The paired test."),
    ("Comparison", "correction", "The correction for several comparisons."),
    ("Comparison", "alpha", "The level of significance."),
    ("Comparison", "seed, samples, tolerance", "Options of the test."),
    ("Comparison", "metrics", "Values, differences and tests for each metric."),
    ("ScoreResult", "rows", "Number of rows."),
    ("ScoreResult", "seconds", "Seconds of the steps."),
    ("ScoreResult", "features_not_in_data", "Features that scores depend on and the data lacks."),
    ("ScoreResult", "warnings", "Warnings, each with `kind` and `message`."),
    ("ScoreResult", "out, format", "The file that was written, and its format; if there is one."),
    ("ScoreResult", "scores", "A score for each row in the order of the files; without a file."),
    (
        "ScoreResult",
        "prediction",
        "The kind of predictions, on request: grade, probability or class.",
    ),
    ("ScoreResult", "predictions", "A prediction for each row, on request; without a file."),
    ("ScoreResult", "query_ids, doc_ids", "The ids of the rows; without a file, on request."),
    (
        "BodySummary",
        "base, trees, bias, transform, parameters, layers, normalise, members",
        "The parts of the model; which of them there are depends on its kind.",
    ),
    ("Warning", "kind, message", "A name that programs can rely on, and a sentence."),
    ("LearnerDef", "name, help, example", "Its name, one sentence, and a spec that runs."),
    ("LearnerDef", "accepts", "Inputs that it accepts besides features and labels."),
    (
        "LearnerDef",
        "tuning",
        "The default tuning: the parameters that are searched, and the one that sets the rounds.",
    ),
    ("LearnerDef", "parameters", PARAMETERS),
    ("ObjectiveDef", "name, help, example", "Its name, one sentence, and a spec."),
    (
        "ObjectiveDef",
        "hessian, preferences",
        "The kind of its second derivatives, and whether it learns from preference pairs.",
    ),
    ("ObjectiveDef", "parameters", PARAMETERS),
    ("MetricDef", "name, aliases, help, example", "Its names, one sentence, and a spec."),
    ("MetricDef", "cutoff, mean_ties", "Whether it takes a cut-off, and whether it averages ties."),
    ("MetricDef", "parameters", PARAMETERS),
    (
        "FeatureDef",
        "field, default",
        "The kind of field that it is computed from, and whether it is one of the default set.",
    ),
    (
        "FeatureDef",
        "name, help, example, parameters",
        "Its name, one sentence, a spec, parameters.",
    ),
    ("FirstStageDef", "name, help, example, parameters", "The same of a first stage."),
];

const PARAMETERS: &str = "Its parameters, each with name, kind, default, range and help.";

/// A field of a result.
#[derive(Debug, Clone)]
struct ResultField {
    key: String,
    about: String,
    /// Type names inside its type.
    types: Vec<String>,
    is_list: bool,
    may_lack: bool,
    flatten: bool,
}

/// A type with its fields.
type Types = HashMap<String, Vec<ResultField>>;

/// The page without its heading.
pub(super) fn page() -> String {
    let types = types();
    let mut page = String::new();
    for (command, root) in RESULTS {
        page.push_str(&format!("## `{command}`\n\n| key | meaning |\n|---|---|\n"));
        let mut lines = Vec::new();
        keys(&types, root, "", 0, &mut lines);
        assert!(!lines.is_empty(), "{root} has no keys");
        for (key, about) in lines {
            page.push_str(&format!("| `{key}` | {} |\n", about.replace('|', "\\|")));
        }
        page.push('\n');
    }
    page
}

/// The keys of a type, with those of the types inside.
fn keys(types: &Types, of: &str, prefix: &str, depth: usize, lines: &mut Vec<(String, String)>) {
    let other = SERIALISED_AS.iter().find(|(name, _)| *name == of);
    let of = other.map_or(of, |(_, other)| other);
    let written = WRITTEN.iter().filter(|(owner, ..)| *owner == of).collect::<Vec<_>>();
    if !written.is_empty() {
        for (_, key, about) in written {
            lines.push((format!("{prefix}{key}"), (*about).to_owned()));
            if (of, *key) == ("Comparison", "metrics") {
                keys(types, "MetricComparison", &format!("{prefix}{key}[]."), depth + 1, lines);
            }
        }
        return;
    }
    let Some(fields) = types.get(of) else { return };
    for field in fields {
        let inner = field.types.iter().find(|name| {
            types.contains_key(*name)
                || WRITTEN.iter().any(|(owner, ..)| owner == name)
                || SERIALISED_AS.iter().any(|(owner, _)| owner == name)
        });
        if field.flatten {
            if let Some(inner) = inner {
                keys(types, inner, prefix, depth, lines);
            }
            continue;
        }
        let list = if field.is_list { "[]" } else { "" };
        let key = format!("{prefix}{}{list}", field.key);
        let lack = if field.may_lack { " May be absent or `null`." } else { "" };
        lines.push((key.clone(), format!("{}{lack}", field.about)));
        // Deeper than this a table is no help; warnings have the same keys everywhere.
        if let Some(inner) = inner.filter(|name| depth < 2 && *name != "Warning") {
            keys(types, inner, &format!("{key}."), depth + 1, lines);
        }
    }
}

/// All structs of the workspace that derive `Serialize`.
fn types() -> Types {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let mut all = Types::new();
    for name in
        ["data", "eval", "model", "learn", "search", "clicks", "report", "experiment", "rankwright"]
    {
        for file in rust_files(&crates.join(name).join("src")) {
            let source = std::fs::read_to_string(&file).unwrap();
            for (name, fields) in structs(&source) {
                // Later crates win: tasks have the results.
                all.insert(name, fields);
            }
        }
    }
    all
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            false => {}
        }
    }
    files.sort();
    files
}

/// The structs of a file that derive `Serialize`, at the outer level.
fn structs(source: &str) -> Vec<(String, Vec<ResultField>)> {
    let mut found = Vec::new();
    let mut serialises = false;
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[derive(") {
            serialises = line.contains("Serialize");
        } else if let Some(rest) = ["pub struct ", "pub(super) struct ", "struct "]
            .iter()
            .find_map(|start| line.strip_prefix(start))
        {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            if serialises && line.ends_with('{') {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
                found.push((name, fields(&body)));
            }
            serialises = false;
        } else if !line.starts_with("#[") && !line.starts_with("///") {
            serialises = false;
        }
    }
    found
}

fn fields(body: &[&str]) -> Vec<ResultField> {
    let mut found = Vec::new();
    let (mut about, mut attributes) = (String::new(), String::new());
    for line in body.iter().map(|line| line.trim()) {
        if let Some(text) = line.strip_prefix("///") {
            let space = if about.is_empty() { "" } else { " " };
            about = format!("{about}{space}{}", text.trim());
        } else if line.starts_with("#[") {
            attributes.push_str(line);
        } else if let Some((name, kind)) = line.trim_end_matches(',').split_once(": ") {
            let name = name.rsplit(' ').next().unwrap_or_default();
            let is_skipped = attributes.contains("skip)") || attributes.contains("skip,");
            if !is_skipped {
                found.push(field(name, kind, &about, &attributes));
            }
            (about, attributes) = (String::new(), String::new());
        }
    }
    found
}

fn field(name: &str, kind: &str, about: &str, attributes: &str) -> ResultField {
    let renamed = attributes.split("rename = \"").nth(1).and_then(|rest| rest.split('"').next());
    let words = kind.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    ResultField {
        key: renamed.unwrap_or(name).to_owned(),
        about: about.to_owned(),
        types: words.map(str::to_owned).collect(),
        is_list: kind.contains("Vec<") || kind.contains("&'static ["),
        may_lack: kind.starts_with("Option<") || attributes.contains("skip_serializing_if"),
        flatten: attributes.contains("flatten"),
    }
}

#[test]
fn the_reader_of_result_types_follows_the_attributes() {
    let source =
        "/// A result.\n#[derive(Debug, Serialize)]\n#[non_exhaustive]\npub struct R {\n    \
                  /// Rows.\n    pub rows: usize,\n    #[serde(skip)]\n    pub hidden: f64,\n    ///
                  /// \
                  Two\n    /// lines.\n    #[serde(rename = \"metric\", skip_serializing_if = \
                  \"Option::is_none\")]\n    pub label: Option<Vec<Part>>,\n}\n\npub struct \
                  Plain {\n    pub rows: usize,\n}\n";
    let found = structs(source);
    assert_eq!(found.len(), 1);
    let keys: Vec<&str> = found[0].1.iter().map(|field| field.key.as_str()).collect();
    assert_eq!(keys, ["rows", "metric"]);
    let label = &found[0].1[1];
    assert!(label.is_list && label.may_lack && label.about == "Two lines.", "{label:?}");
}
