//! RankLib models: ensembles of trees in XML and linear models, read and written.
//!
//! A file begins with comment lines, `## LambdaMART` first: the name of the ranker. Then
//!
//! - `LambdaMART`, `MART`: one `<ensemble>` of trees with weights, `score = sum weight * tree`;
//! - `Random Forests`: several ensembles, of which the score is the mean;
//! - `Coordinate Ascent`: `id:weight id:weight ...`;
//! - `Linear Regression`: the same, where id 0 has the bias.
//!
//! Other rankers (nets, RankBoost, AdaRank, ...) are rejected by name. Values up to a threshold go
//! left. RankLib has no missing values: a feature that is absent, and one that is NaN, counts as 0
//! there, and so a missing value goes to the side of a 0 at every split here. A model whose scores
//! depend on sending missing values to another side cannot be written. RankLib computes in f32 and
//! we in f64, so scores agree to about 1e-6 of their size.
//!
//! Feature ids count from 1. If features have names or other ids, the writer uses their positions
//! from 1 as ids and adds the names as comments (`## Feature 1 = "bm25"`), which RankLib skips and
//! our reader reads. The plugins of Elasticsearch and OpenSearch read these files as
//! `model/ranklib`; there an id is a position in the feature set. Gains and row counts are not
//! kept; a base score becomes a first tree of one leaf.

mod ensemble;
#[cfg(test)]
mod tests;
mod weights;
mod write;

use rankwright_data::{Absent, FeatureNames};

use self::ensemble::EnsembleCount;
use self::weights::IdZero;
use super::common::MAX_FEATURES;
use super::problem::excerpt;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::{FileProblem, ModelFormat, UnsupportedPart};
use crate::model::{BodyKind, Model, ModelBody};

/// The name of the system in messages.
const NAME: &str = "RankLib";

/// The entry in the table of formats.
pub(super) static FORMAT: ModelFormat = ModelFormat {
    name: "ranklib",
    system: NAME,
    reads: "XML ensembles, lines of weights",
    writes: "XML ensembles, lines of weights",
    extensions: &["txt", "xml"],
    bodies: &[BodyKind::Trees, BodyKind::Linear],
    // The agreement of our scores with those of the system.
    scores: "to 1e-6 (it computes in f32)",
    detect,
    read,
    write: Some(write),
};
/// The names of RankLib's rankers, with which their files begin.
const RANKERS: [&str; 10] = [
    "LambdaMART",
    "MART",
    "Random Forests",
    "Coordinate Ascent",
    "Linear Regression",
    "AdaRank",
    "RankBoost",
    "RankNet",
    "LambdaRank",
    "ListNet",
];
/// The beginning of a comment that names a feature.
const FEATURE_COMMENT: &str = "Feature ";

/// Whether bytes begin like a RankLib model.
fn detect(bytes: &[u8]) -> bool {
    let head = bytes.trim_ascii_start();
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
    match line.strip_prefix(b"##") {
        Some(name) => RANKERS.iter().any(|ranker| ranker.as_bytes() == name.trim_ascii()),
        None => line.starts_with(b"<ensemble>"),
    }
}

/// Reads a RankLib model.
fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| invalid(FileProblem::NotUtf8 { byte: error.valid_up_to() }))?;
    let (ranker, names, content) = head(text);
    let (body, largest_id) = match ranker {
        "" | "LambdaMART" | "MART" => ensemble::read(content, EnsembleCount::One)?,
        "Random Forests" => ensemble::read(content, EnsembleCount::Several)?,
        "Coordinate Ascent" => weights::read(content, IdZero::Invalid)?,
        "Linear Regression" => weights::read(content, IdZero::Bias)?,
        other => {
            return Err(unsupported(UnsupportedPart::Unknown {
                item: "ranker",
                found: excerpt(other),
                expected: "LambdaMART, MART, Random Forests, Coordinate Ascent or Linear Regression",
            }));
        }
    };
    let count = names.len().max(largest_id);
    let features = match names.len() == count && count > 0 {
        true => FeatureNames::from_names(names),
        false => FeatureNames::Ids { first: 1, count },
    };
    let body = match body {
        ModelBody::Linear(linear) => ModelBody::Linear(weights::padded(&linear, count)?),
        trees => trees,
    };
    let mut header = Header::new(features, Absent::Zero);
    header.notes.insert("from".into(), format!("{NAME} {ranker}").trim_end().into());
    Model::new(header, body)
}

/// Writes a RankLib model.
fn write(model: &Model) -> Result<Vec<u8>, ModelError> {
    write::model(model)
}

fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}

fn invalid(problem: FileProblem) -> ModelError {
    ModelError::invalid_file(NAME, problem)
}

/// Text, a tag or a line that is not allowed in its place.
fn unexpected(found: impl Into<String>, expected: &'static str) -> ModelError {
    invalid(FileProblem::Unexpected { found: found.into(), expected })
}

fn bad_value(name: &'static str, found: &str, expected: &'static str) -> ModelError {
    invalid(FileProblem::BadValue { name, line: None, found: excerpt(found), expected })
}

/// Splits a file into the name of the ranker, the names of features, and the text after the
/// comments at the beginning.
fn head(text: &str) -> (&str, Vec<String>, &str) {
    let (mut ranker, mut names, mut content) = (None, Vec::new(), text);
    for line in text.split_inclusive('\n') {
        let Some(comment) = line.trim().strip_prefix('#') else {
            if line.trim().is_empty() {
                continue;
            }
            break;
        };
        let comment = comment.trim_start_matches('#').trim();
        ranker.get_or_insert(comment);
        let named = comment.strip_prefix(FEATURE_COMMENT).and_then(|rest| rest.split_once(" = "));
        if let Some((number, name)) = named {
            let is_next = number.parse() == Ok(names.len() + 1);
            match serde_json::from_str::<String>(name) {
                Ok(name) if is_next => names.push(name),
                // An ordinary comment.
                _ => {}
            }
        }
        // A line is a slice of the text: its address gives the offset of its end in the text.
        let end = line.as_ptr() as usize - text.as_ptr() as usize + line.len();
        content = text.get(end..).unwrap_or("");
    }
    (ranker.unwrap_or(""), names, content)
}

/// Reads a feature id, from 1 on.
fn feature_id(text: &str) -> Result<u32, ModelError> {
    match text.trim().parse::<u32>() {
        Ok(id) if id >= 1 && id as usize <= MAX_FEATURES => Ok(id),
        _ => Err(bad_value("a feature id", text, "1 to 16777216")),
    }
}
