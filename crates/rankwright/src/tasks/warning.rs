//! Warnings of tasks: facts that the user should know although the task succeeded.

use std::fmt;
use std::path::PathBuf;

use rankwright_data::DataWarning;
#[cfg(feature = "report")]
use rankwright_report::ReportWarning;
#[cfg(feature = "search")]
use rankwright_search::SearchWarning;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A recoverable problem of a task. Serialised as `{"kind": ..., "message": ...}`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A recoverable problem while reading, such as blank lines, or a part of the data that the
    /// written format cannot hold.
    Data(DataWarning),
    /// A warning of a report.
    #[cfg(feature = "report")]
    Report(ReportWarning),
    /// A recoverable problem of an index, features or a ranking.
    #[cfg(feature = "search")]
    Search(SearchWarning),
    /// Only one of two sides has feature names, so features are matched by their order.
    MatchedByPosition {
        /// The two sides, such as `model and data`.
        between: String,
    },
    /// The data lacks features that the model uses.
    MissingFeatures {
        /// Their names.
        names: Vec<String>,
        /// Number of features that the model uses.
        used: usize,
        /// Their assumed value: `zero` or `missing`.
        taken_as: &'static str,
    },
    /// A linear model was made without data, so its features are those of its weights.
    FeaturesOfWeights,
    /// Some queries are too large for a visit of every pair of their documents.
    SampledPairs {
        /// The learner.
        learner: &'static str,
        /// Number of queries that are too large.
        queries: usize,
        /// Number of documents that each document is paired with.
        partners: usize,
        /// Whether new pairs are drawn for each tree.
        boosted: bool,
    },
    /// A checkpoint could not be written; the training continued.
    CheckpointFailed {
        /// The reason.
        message: String,
    },
    /// The checkpoint of an earlier, cancelled training was removed, since the training is
    /// finished.
    CheckpointRemoved {
        /// Its folder.
        folder: PathBuf,
        /// Whether the folder is still there, with other files in it.
        folder_kept: bool,
    },
    /// A checkpoint that is no longer needed could not be removed.
    CheckpointNotRemoved {
        /// Its folder.
        folder: PathBuf,
        /// The reason.
        message: String,
    },
    /// The feature set of the data names other features than the data has, and is left out.
    OtherFeatureSet,
    /// Some trainings of a search were already finished.
    TrialsFound {
        /// Number of these trainings.
        trainings: usize,
        /// File that holds them.
        log: PathBuf,
    },
    /// There is no log beside the model.
    NoTrainingLog {
        /// The path where it was expected.
        file: PathBuf,
    },
    /// The log beside the model cannot be read, and is left out.
    BadTrainingLog {
        /// The reason.
        message: String,
    },
    /// A run lacks judged queries.
    MissingQueries {
        /// Name of the run.
        run: String,
        /// Number of judged queries that it lacks.
        missing: usize,
        /// Number of judged queries.
        judged: usize,
    },
    /// A run has queries without judgements, which are ignored.
    UnjudgedQueries {
        /// Name of the run.
        run: String,
        /// Number of these queries.
        queries: usize,
    },
}

/// Most features that are named in a message.
const NAMED: usize = 5;

impl Warning {
    /// The stable name of the kind of warning; `data` for warnings of the data, which have a kind
    /// of their own, and `search` for those of a search.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::Data(_) => "data",
            #[cfg(feature = "report")]
            Warning::Report(warning) => warning.kind(),
            #[cfg(feature = "search")]
            Warning::Search(_) => "search",
            Warning::MatchedByPosition { .. } => "matched_by_position",
            Warning::MissingFeatures { .. } => "missing_features",
            Warning::FeaturesOfWeights => "features_of_weights",
            Warning::SampledPairs { .. } => "sampled_pairs",
            Warning::CheckpointFailed { .. } => "checkpoint_failed",
            Warning::CheckpointRemoved { .. } => "checkpoint_removed",
            Warning::CheckpointNotRemoved { .. } => "checkpoint_not_removed",
            Warning::OtherFeatureSet => "other_feature_set",
            Warning::TrialsFound { .. } => "trials_found",
            Warning::NoTrainingLog { .. } => "no_training_log",
            Warning::BadTrainingLog { .. } => "bad_training_log",
            Warning::MissingQueries { .. } => "missing_queries",
            Warning::UnjudgedQueries { .. } => "unjudged_queries",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Data(warning) => warning.fmt(f),
            #[cfg(feature = "report")]
            Warning::Report(warning) => warning.fmt(f),
            #[cfg(feature = "search")]
            Warning::Search(warning) => warning.fmt(f),
            Warning::MatchedByPosition { between } => write!(
                f,
                "only one of {between} has feature names: features are matched by their order"
            ),
            Warning::MissingFeatures { names, used, taken_as } => {
                let shown = names.get(..NAMED).unwrap_or(names).join(", ");
                let features = if *used == 1 { "feature" } else { "features" };
                write!(
                    f,
                    "the data lacks {} of the {used} {features} that the model uses, taken as \
                     {taken_as}: {shown}",
                    names.len()
                )?;
                match names.len().saturating_sub(NAMED) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Warning::FeaturesOfWeights => {
                f.write_str("no data: the weights say which features there are")
            }
            Warning::SampledPairs { learner, queries, partners, boosted } => {
                let queries = match queries {
                    1 => "1 query is".to_owned(),
                    many => format!("{many} queries are"),
                };
                let how = match boosted {
                    true => " for each tree; `truncation=` limits pairs to the top ranks instead",
                    false => "",
                };
                write!(
                    f,
                    "{queries} too large for {learner} to look at every pair of documents: each \
                     document is paired with {partners} others, drawn by the seed{how}"
                )
            }
            Warning::CheckpointFailed { message } => {
                write!(f, "the checkpoint was not saved, training went on: {message}")
            }
            Warning::CheckpointRemoved { folder, folder_kept } => {
                let what = if *folder_kept { "its checkpoint in " } else { "" };
                write!(f, "the training is whole; removed {what}{}", folder.display())
            }
            Warning::CheckpointNotRemoved { folder, message } => {
                write!(f, "{} is not needed any more, but: {message}", folder.display())
            }
            Warning::OtherFeatureSet => f.write_str(
                "the feature set of the data names other features than the data has: left out",
            ),
            Warning::TrialsFound { trainings, log } => {
                write!(f, "{trainings} trainings were finished already, by {}", log.display())
            }
            Warning::NoTrainingLog { file } => write!(f, "there is no {}", file.display()),
            Warning::BadTrainingLog { message } => {
                write!(f, "{message}; the report does without the log")
            }
            Warning::MissingQueries { run, missing, judged } => write!(
                f,
                "{run} lacks {missing} of {judged} judged queries; 'missing=' in a metric's \
                 convention says how they count"
            ),
            Warning::UnjudgedQueries { run, queries } => {
                write!(f, "{run} has {queries} unjudged queries, ignored")
            }
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Warning::Data(warning) = self {
            return warning.serialize(serializer);
        }
        let mut object = serializer.serialize_struct("Warning", 2)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_has_a_kind_for_programs_and_a_sentence_for_people() {
        let names = (0..7).map(|n| format!("f{n}")).collect();
        let warning = Warning::MissingFeatures { names, used: 9, taken_as: "zero" };
        let json = serde_json::to_value(&warning).unwrap();
        assert_eq!(json["kind"], "missing_features");
        assert_eq!(
            json["message"],
            "the data lacks 7 of the 9 features that the model uses, taken as zero: f0, f1, f2, \
             f3, f4 and 2 more"
        );
    }
}
