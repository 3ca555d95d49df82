//! Warnings of a report.

use std::fmt;

#[cfg(feature = "training")]
use rankwright_learn::TrainWarning;
use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A fact that the reader of a report should know. Serialised as `{"kind": ..., "message": ...}`,
/// with the fields of the variant as further keys.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReportWarning {
    /// A part of the queries was held out because there is no validation data.
    HeldOut {
        /// Number of queries held out.
        queries: usize,
        /// Number of queries in the data.
        of: usize,
    },
    /// There is no log of the training, so times are left out.
    NoLog,
    /// A metric compares scores with the boundary of the model between relevant and other
    /// documents; the model has none, so the metric uses its default threshold.
    NoBoundary {
        /// The metric.
        metric: String,
        /// The score from which a document is called relevant.
        threshold: f64,
    },
    /// The data is not what the model was trained on.
    OtherData {
        /// Name of the data.
        data: String,
        /// Queries and documents that the model was trained on.
        trained: (usize, usize),
        /// Queries and documents of the data.
        found: (usize, usize),
    },
    /// A warning about a model that was trained for the report.
    #[cfg(feature = "training")]
    Training {
        /// The learner.
        learner: String,
        /// The warning.
        warning: TrainWarning,
    },
}

impl ReportWarning {
    /// The stable name of the kind of warning, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::HeldOut { .. } => "held-out",
            Self::NoLog => "no-log",
            Self::NoBoundary { .. } => "no-boundary",
            Self::OtherData { .. } => "other-data",
            #[cfg(feature = "training")]
            Self::Training { warning, .. } => warning.kind(),
        }
    }
}

impl fmt::Display for ReportWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldOut { queries, of } => write!(
                f,
                "there is no validation data: {queries} of the {}, drawn at random with the seed, \
                 {} held out for validation",
                counted(*of, "query"),
                if *queries == 1 { "is" } else { "are" }
            ),
            Self::NoLog => f.write_str("there is no log of the training, so times are left out"),
            Self::NoBoundary { metric, threshold } => write!(
                f,
                "the scores of this model only rank: it has no boundary between relevant and other \
                 documents, and {metric} calls a document relevant from a score of {threshold} on"
            ),
            Self::OtherData { data, trained, found } => write!(
                f,
                "the model was trained on {} with {}, but {data} has {} with {}; the report \
                 describes {data}",
                counted(trained.0, "query"),
                counted(trained.1, "document"),
                counted(found.0, "query"),
                counted(found.1, "document"),
            ),
            #[cfg(feature = "training")]
            Self::Training { learner, warning } => write!(f, "{learner}: {warning}"),
        }
    }
}

impl Serialize for ReportWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // 5: kind, message and at most three fields of the variant.
        let mut object = serializer.serialize_struct("ReportWarning", 5)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        match self {
            Self::NoLog => {}
            Self::HeldOut { queries, of } => {
                object.serialize_field("queries", queries)?;
                object.serialize_field("of", of)?;
            }
            Self::NoBoundary { metric, threshold } => {
                object.serialize_field("metric", metric)?;
                object.serialize_field("threshold", threshold)?;
            }
            Self::OtherData { data, trained, found } => {
                object.serialize_field("data", data)?;
                object.serialize_field("trained", trained)?;
                object.serialize_field("found", found)?;
            }
            #[cfg(feature = "training")]
            Self::Training { learner, warning } => {
                object.serialize_field("learner", learner)?;
                object.serialize_field("warning", warning)?;
            }
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_serialised_as_kind_message_and_fields() {
        let held_out = ReportWarning::HeldOut { queries: 6, of: 30 };
        let json = serde_json::to_value(&held_out).unwrap();
        assert_eq!((&json["kind"], &json["queries"]), (&"held-out".into(), &6.into()));
        assert_eq!(json["message"], held_out.to_string());
        let (trained, found) = ((1, 2), (3, 4));
        let other = ReportWarning::OtherData { data: "d.txt".to_owned(), trained, found };
        let json = serde_json::to_value(&other).unwrap();
        assert_eq!((&json["data"], &json["found"][1]), (&"d.txt".into(), &4.into()));
    }
}
