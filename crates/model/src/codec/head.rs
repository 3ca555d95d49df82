//! The header of a model file: one line of JSON, keys in a fixed order, the features last.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rankwright_data::{Absent, FeatureNames, TableColumns};
use serde::{Deserialize, Deserializer, Serialize};

use super::Damage;
use crate::bias_factors::BiasFactors;
use crate::bounded::{BoundedMap, BoundedVec};
use crate::error::ModelError;
use crate::header::{Header, MAX_NAMES, MAX_NOTES};

/// The note that held the feature set before there was a field for it; still read.
const FEATURE_SET_NOTE: &str = "features";

/// The JSON object of the line, with its keys in the order in which they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderLine<'a> {
    kind: Cow<'a, str>,
    learner: Cow<'a, str>,
    objective: Cow<'a, str>,
    metric: Cow<'a, str>,
    conventions: Cow<'a, str>,
    seed: u64,
    queries: u64,
    rows: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_set: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table_columns: Option<Cow<'a, TableColumns>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    position_bias: Option<Cow<'a, BiasFactors>>,
    #[serde(deserialize_with = "notes")]
    notes: Cow<'a, BTreeMap<String, String>>,
    absent: AbsentWord,
    feature_hash: String,
    features: HeaderFeatures<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AbsentWord {
    Zero,
    Missing,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum HeaderFeatures<'a> {
    Ids { first: u32, count: usize },
    Names(#[serde(deserialize_with = "names")] Cow<'a, [String]>),
}

/// Reads at most [`MAX_NAMES`] names.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, [String]>, D::Error> {
    BoundedVec::<String, MAX_NAMES>::deserialize(from).map(|bounded| Cow::Owned(bounded.0))
}

/// Reads at most [`MAX_NOTES`] notes.
fn notes<'de, 'a, D: Deserializer<'de>>(
    from: D,
) -> Result<Cow<'a, BTreeMap<String, String>>, D::Error> {
    BoundedMap::<MAX_NOTES>::deserialize(from).map(|bounded| Cow::Owned(bounded.0))
}

/// The header as one line, without the line end.
#[allow(clippy::expect_used, reason = "an empty line would silently make an unreadable file")]
pub(super) fn write(header: &Header, kind: &str) -> String {
    let line = HeaderLine {
        kind: kind.into(),
        learner: (&header.learner).into(),
        objective: (&header.objective).into(),
        metric: (&header.metric).into(),
        conventions: (&header.conventions).into(),
        seed: header.seed,
        queries: header.queries,
        rows: header.rows,
        feature_set: header.feature_set.as_deref().map(Cow::Borrowed),
        table_columns: header.table_columns.as_deref().map(Cow::Borrowed),
        position_bias: header.position_bias.as_ref().map(Cow::Borrowed),
        notes: Cow::Borrowed(&header.notes),
        absent: match header.absent {
            Absent::Zero => AbsentWord::Zero,
            Absent::Missing => AbsentWord::Missing,
        },
        feature_hash: hash_text(header),
        features: match &header.features {
            FeatureNames::Ids { first, count } => {
                HeaderFeatures::Ids { first: *first, count: *count }
            }
            FeatureNames::Named(names) => HeaderFeatures::Names(Cow::Borrowed(names)),
        },
    };
    serde_json::to_string(&line).expect("every part of a header can be written as JSON")
}

/// Reads the line: the header, and the name of the kind of body that follows.
pub(super) fn read(line: &[u8]) -> Result<(Header, String), ModelError> {
    let line: HeaderLine<'_> = serde_json::from_slice(line)
        .map_err(|error| ModelError::damaged(Damage::Header { message: error.to_string() }))?;
    let features = match line.features {
        HeaderFeatures::Ids { first, count } => FeatureNames::Ids { first, count },
        HeaderFeatures::Names(names) => FeatureNames::Named(names.into_owned()),
    };
    let absent = match line.absent {
        AbsentWord::Zero => Absent::Zero,
        AbsentWord::Missing => Absent::Missing,
    };
    let mut notes = line.notes.into_owned();
    let feature_set = line.feature_set.map(Cow::into_owned);
    let header = Header {
        learner: line.learner.into_owned(),
        objective: line.objective.into_owned(),
        metric: line.metric.into_owned(),
        conventions: line.conventions.into_owned(),
        seed: line.seed,
        queries: line.queries,
        rows: line.rows,
        feature_set: feature_set.or_else(|| notes.remove(FEATURE_SET_NOTE)),
        table_columns: line.table_columns.map(|columns| Arc::new(columns.into_owned())),
        position_bias: line.position_bias.map(Cow::into_owned),
        notes,
        ..Header::new(features, absent)
    };
    match hash_text(&header) == line.feature_hash {
        true => Ok((header, line.kind.into_owned())),
        false => Err(ModelError::damaged(Damage::FeatureHash)),
    }
}

fn hash_text(header: &Header) -> String {
    format!("{:016x}", header.feature_hash())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bias_factors::BiasColumn;

    #[test]
    fn a_feature_set_has_a_field_and_is_read_from_the_note_of_old_files() {
        let features = FeatureNames::Named(vec!["a".into()]);
        let mut header = Header::new(features.clone(), Absent::Zero);
        let without_feature_set = write(&header, "trees");
        assert!(!without_feature_set.contains("feature_set"), "{without_feature_set}");
        header.feature_set = Some("analysis = \"english\"\n".into());
        let line = write(&header, "trees");
        assert_eq!(read(line.as_bytes()).unwrap(), (header.clone(), "trees".to_owned()));
        let mut old = Header::new(features, Absent::Zero);
        old.notes.insert("features".into(), "analysis = \"english\"\n".into());
        old.notes.insert("from".into(), "elsewhere".into());
        let (found, _) = read(write(&old, "trees").as_bytes()).unwrap();
        assert_eq!(found.feature_set, header.feature_set);
        assert_eq!(found.notes.keys().collect::<Vec<_>>(), ["from"]);
    }

    #[test]
    fn position_bias_has_a_field_and_is_absent_without_a_correction() {
        let mut header = Header::new(FeatureNames::Named(vec!["a".into()]), Absent::Zero);
        assert!(!write(&header, "trees").contains("position_bias"));
        let column = BiasColumn::new("examination", vec![1.0, 1.0 / 3.0]);
        let bias = BiasFactors::new("ips", vec![1, 2], vec![column]).clip(Some(0.05));
        header.position_bias = Some(bias);
        let line = write(&header, "trees");
        assert_eq!(read(line.as_bytes()).unwrap(), (header, "trees".to_owned()));
        let wrong = line.replace("\"kind\":\"ips\"", "\"kind\":\"ips\",\"more\":1");
        assert!(read(wrong.as_bytes()).is_err());
    }

    #[test]
    fn too_many_names_or_notes_are_refused() {
        let header = Header::new(FeatureNames::Named(vec!["a".into()]), Absent::Zero);
        let line = write(&header, "trees");
        assert!(read(line.as_bytes()).is_ok());
        let names = format!("[{}\"\"]", "\"\",".repeat(MAX_NAMES));
        let notes: Vec<String> = (0..=MAX_NOTES).map(|name| format!("\"{name}\":\"\"")).collect();
        for (from, to, limit) in [
            ("[\"a\"]", names, MAX_NAMES),
            ("\"notes\":{}", format!("\"notes\":{{{}}}", notes.join(",")), MAX_NOTES),
        ] {
            let error = read(line.replace(from, &to).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("at most {limit}")), "{error}");
        }
    }
}
