//! The kinds of errors, with the documentation of their variants from the source. The page is the
//! record of all kinds: a kind that is renamed or removed changes it.

use std::collections::HashMap;
use std::path::Path;

use rankwright::clicks::ClicksError;
use rankwright::clicks::interleave::InterleavingError;
use rankwright::clicks::judge::PromptError;
use rankwright::data::DataError;
use rankwright::eval::EvalError;
use rankwright::eval::compare::CompareError;
use rankwright::eval::stats::StatsError;
use rankwright::experiment::ExperimentError;
use rankwright::learn::tune::TuneError;
use rankwright::learn::{LearnError, NotFiniteValue, StateProblem};
use rankwright::model::{
    BlendProblem, ExplainError, HeaderProblem, ModelError, NetProblem, SparseProblem,
    TransformProblem, TreeProblem, WeightsProblem,
};
use rankwright::report::ReportError;
use rankwright::search::classify::ClassifyError;
use rankwright::search::links::LinkError;
use rankwright::search::{FeatureSetProblem, FilterError, SearchError};
use rankwright::spec::SpecError;
use rankwright::tasks::TaskError;

/// A type of errors: its name, the source file below `crates/`, and its kinds.
type ErrorType = (&'static str, &'static str, &'static [&'static str]);

const ERRORS: [ErrorType; 28] = [
    ("TaskError", "rankwright/src/tasks/error.rs", TaskError::KINDS),
    ("SpecError", "spec/src/error.rs", SpecError::KINDS),
    ("DataError", "data/src/error/mod.rs", DataError::KINDS),
    ("EvalError", "eval/src/error.rs", EvalError::KINDS),
    ("CompareError", "eval/src/compare/error.rs", CompareError::KINDS),
    ("StatsError", "eval/src/stats/error.rs", StatsError::KINDS),
    ("ModelError", "model/src/error.rs", ModelError::KINDS),
    ("TreeProblem", "model/src/problem.rs", TreeProblem::KINDS),
    ("WeightsProblem", "model/src/problem.rs", WeightsProblem::KINDS),
    ("NetProblem", "model/src/problem.rs", NetProblem::KINDS),
    ("TransformProblem", "model/src/problem.rs", TransformProblem::KINDS),
    ("BlendProblem", "model/src/problem.rs", BlendProblem::KINDS),
    ("HeaderProblem", "model/src/problem.rs", HeaderProblem::KINDS),
    ("SparseProblem", "model/src/problem.rs", SparseProblem::KINDS),
    ("ExplainError", "model/src/explain/error.rs", ExplainError::KINDS),
    ("LearnError", "learn/src/error/mod.rs", LearnError::KINDS),
    ("NotFiniteValue", "learn/src/error/not_finite.rs", NotFiniteValue::KINDS),
    ("StateProblem", "learn/src/error/checkpoint.rs", StateProblem::KINDS),
    ("TuneError", "learn/src/tune/error.rs", TuneError::KINDS),
    ("SearchError", "search/src/error/mod.rs", SearchError::KINDS),
    ("FeatureSetProblem", "search/src/error/problems.rs", FeatureSetProblem::KINDS),
    ("ClassifyError", "search/src/classify/mod.rs", ClassifyError::KINDS),
    ("LinkError", "search/src/links/graph.rs", LinkError::KINDS),
    ("ClicksError", "clicks/src/error.rs", ClicksError::KINDS),
    ("InterleavingError", "clicks/src/interleave/mod.rs", InterleavingError::KINDS),
    ("PromptError", "clicks/src/judge/template.rs", PromptError::KINDS),
    ("ReportError", "report/src/error.rs", ReportError::KINDS),
    ("ExperimentError", "experiment/src/error.rs", ExperimentError::KINDS),
];

/// Each error type with its kinds and their meanings.
pub(super) fn kinds() -> Vec<(&'static str, Vec<Vec<String>>)> {
    let mut all: Vec<_> = ERRORS.iter().copied().map(rows).collect();
    let filter = "A filter that cannot be parsed, or does not fit the fields of the index.";
    let of_filters = FilterError::KINDS.iter().map(|kind| row(kind, filter)).collect();
    all.push(("FilterError", of_filters));
    all
}

/// The kinds of failures that only the command has, with their meanings, from its source: the
/// arms `Failure::Usage(_) => "usage"` of `failure_kind.rs`.
pub(super) fn of_command() -> Vec<Vec<String>> {
    let meanings = meanings("Failure", &source("cli/src/failure.rs"));
    let kinds = source("cli/src/failure_kind.rs");
    let arm = |line: &str| {
        let (pattern, kind) = line.trim().strip_prefix("Failure::")?.split_once(" => \"")?;
        let variant: String = pattern.chars().take_while(|c| c.is_alphanumeric()).collect();
        let meaning = meanings.get(&kebab(&variant)).filter(|meaning| !meaning.is_empty());
        let meaning = meaning.unwrap_or_else(|| panic!("Failure::{variant} has no documentation"));
        Some(row(kind.strip_suffix("\",")?, meaning))
    };
    kinds.lines().take_while(|line| !line.contains("#[cfg(test)]")).filter_map(arm).collect()
}

/// A source file below `crates/`.
fn source(file: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read_to_string(crates.join(file)).unwrap()
}

fn rows((name, file, kinds): ErrorType) -> (&'static str, Vec<Vec<String>>) {
    let meanings = meanings(name, &source(file));
    let meaning = |kind: &str| match meanings.get(kind) {
        Some(meaning) => row(kind, meaning),
        None => panic!("{name} has no variant of the kind {kind}"),
    };
    (name, kinds.iter().map(|kind| meaning(kind)).collect())
}

fn row(kind: &str, meaning: &str) -> Vec<String> {
    vec![format!("`{kind}`"), meaning.to_owned()]
}

/// The documentation of each variant of an enum, by its name in lower case with hyphens.
fn meanings(name: &str, source: &str) -> HashMap<String, String> {
    let start = format!("enum {name} {{");
    let body = source.lines().skip_while(|line| !line.ends_with(&start)).skip(1);
    let mut found = HashMap::new();
    let mut about = Vec::new();
    for line in body.take_while(|line| *line != "}") {
        // Fields of variants stand further to the right.
        let Some(line) = line.strip_prefix("    ").filter(|line| !line.starts_with(' ')) else {
            continue;
        };
        if let Some(text) = line.strip_prefix("/// ") {
            about.push(text);
        } else if line.starts_with(|c: char| c.is_ascii_uppercase()) {
            let variant: String = line.chars().take_while(|c| c.is_alphanumeric()).collect();
            found.insert(kebab(&variant), std::mem::take(&mut about).join(" "));
        }
    }
    found
}

/// `NoTrainingData` as `no-training-data`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[test]
fn the_kinds_of_a_type_differ() {
    for (name, rows) in kinds() {
        let mut names: Vec<_> = rows.iter().map(|row| row[0].clone()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rows.len(), "{name} has one kind for two variants");
    }
}

#[test]
fn internal_errors_of_all_crates_have_one_wording() {
    let invariant = "a tree has a root";
    let of_task = TaskError::Internal { invariant: invariant.to_owned() };
    for (kind, message) in [
        (of_task.kind(), of_task.to_string()),
        ("internal", DataError::Internal { invariant }.to_string()),
        ("internal", ModelError::Internal { invariant }.to_string()),
        ("internal", LearnError::Internal { invariant }.to_string()),
        ("internal", SearchError::Internal { invariant }.to_string()),
        ("internal", ReportError::Internal { invariant }.to_string()),
        ("internal", ExperimentError::Internal { invariant }.to_string()),
    ] {
        assert_eq!(kind, "internal");
        assert_eq!(message, "internal error: this should always hold: a tree has a root");
    }
}
