//! The header of a model file: one line of JSON, keys in a fixed order, the features last.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rankwright_data::{Absent, FeatureNames};
use serde::{Deserialize, Deserializer, Serialize};

use crate::bounded::{BoundedMap, BoundedVec};
use crate::error::ModelError;
use crate::header::{Header, MOST_NAMES, MOST_NOTES};

/// The line as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    kind: Cow<'a, str>,
    learner: Cow<'a, str>,
    objective: Cow<'a, str>,
    metric: Cow<'a, str>,
    conventions: Cow<'a, str>,
    seed: u64,
    queries: u64,
    rows: u64,
    #[serde(deserialize_with = "notes")]
    notes: Cow<'a, BTreeMap<String, String>>,
    absent: AbsentWord,
    feature_hash: String,
    features: Features<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AbsentWord {
    Zero,
    Missing,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Features<'a> {
    Ids { first: u32, count: usize },
    Names(#[serde(deserialize_with = "names")] Cow<'a, [String]>),
}

fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, [String]>, D::Error> {
    BoundedVec::<String, MOST_NAMES>::deserialize(from).map(|bounded| Cow::Owned(bounded.0))
}

fn notes<'de, 'a, D: Deserializer<'de>>(
    from: D,
) -> Result<Cow<'a, BTreeMap<String, String>>, D::Error> {
    BoundedMap::<MOST_NOTES>::deserialize(from).map(|bounded| Cow::Owned(bounded.0))
}

/// The header as one line, without its end.
pub(super) fn write(header: &Header, kind: &str) -> String {
    let line = Line {
        kind: kind.into(),
        learner: (&header.learner).into(),
        objective: (&header.objective).into(),
        metric: (&header.metric).into(),
        conventions: (&header.conventions).into(),
        seed: header.seed,
        queries: header.queries,
        rows: header.rows,
        notes: Cow::Borrowed(&header.notes),
        absent: match header.absent {
            Absent::Zero => AbsentWord::Zero,
            Absent::Missing => AbsentWord::Missing,
        },
        feature_hash: hash_text(header),
        features: match &header.features {
            FeatureNames::Ids { first, count } => Features::Ids { first: *first, count: *count },
            FeatureNames::Named(names) => Features::Names(Cow::Borrowed(names)),
        },
    };
    // Strings, whole numbers and maps of strings: there is nothing that JSON cannot say.
    serde_json::to_string(&line).unwrap_or_else(|error| {
        debug_assert!(false, "a header is JSON: {error}");
        String::new()
    })
}

/// The header, and the kind of model that follows.
pub(super) fn read(line: &[u8]) -> Result<(Header, String), ModelError> {
    let line: Line<'_> = serde_json::from_slice(line)
        .map_err(|error| ModelError::damaged(format!("its header cannot be read ({error})")))?;
    let features = match line.features {
        Features::Ids { first, count } => FeatureNames::Ids { first, count },
        Features::Names(names) => FeatureNames::Named(names.into_owned()),
    };
    let absent = match line.absent {
        AbsentWord::Zero => Absent::Zero,
        AbsentWord::Missing => Absent::Missing,
    };
    let header = Header {
        learner: line.learner.into_owned(),
        objective: line.objective.into_owned(),
        metric: line.metric.into_owned(),
        conventions: line.conventions.into_owned(),
        seed: line.seed,
        queries: line.queries,
        rows: line.rows,
        notes: line.notes.into_owned(),
        ..Header::new(features, absent)
    };
    match hash_text(&header) == line.feature_hash {
        true => Ok((header, line.kind.into_owned())),
        false => Err(ModelError::damaged("its feature hash does not fit its features")),
    }
}

fn hash_text(header: &Header) -> String {
    format!("{:016x}", header.feature_hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_notes_end_in_time() {
        let header = Header::new(FeatureNames::Named(vec!["a".into()]), Absent::Zero);
        let line = write(&header, "trees");
        assert!(read(line.as_bytes()).is_ok());
        let names = format!("[{}\"\"]", "\"\",".repeat(MOST_NAMES));
        let notes: Vec<String> = (0..=MOST_NOTES).map(|at| format!("\"{at}\":\"\"")).collect();
        for (from, to, limit) in [
            ("[\"a\"]", names, MOST_NAMES),
            ("\"notes\":{}", format!("\"notes\":{{{}}}", notes.join(",")), MOST_NOTES),
        ] {
            let error = read(line.replace(from, &to).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("at most {limit}")), "{error}");
        }
    }
}
