//! Warnings of tasks: facts that the user should know although the task succeeded.

use std::fmt;
use std::path::{Path, PathBuf};

use rankwright_data::{DataWarning, SummaryWarning, UnseenCategories};
#[cfg(feature = "experiment")]
use rankwright_experiment::ExperimentWarning;
#[cfg(feature = "train")]
use rankwright_learn::TrainWarning;
#[cfg(feature = "report")]
use rankwright_report::ReportWarning;
#[cfg(feature = "search")]
use rankwright_search::SearchWarning;
use rankwright_spec::words::counted;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// A recoverable problem of a task. Serialised as `{"kind": ..., "message": ...}`, with the fields
/// of the variant as further keys.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A recoverable problem while reading, such as blank lines, or a part of the data that the
    /// written format cannot hold.
    Data(DataWarning),
    /// A warning about the content of data, such as constant features.
    Content(SummaryWarning),
    /// A warning of a report.
    #[cfg(feature = "report")]
    Report(ReportWarning),
    /// A warning about the models of a learner in an experiment.
    #[cfg(feature = "experiment")]
    Experiment(ExperimentWarning),
    /// A recoverable problem of an index, features or a ranking.
    #[cfg(feature = "search")]
    Search(SearchWarning),
    /// A warning of a training, such as a model that gives every document the same score, or pairs
    /// that are sampled.
    #[cfg(feature = "train")]
    Training(TrainWarning),
    /// The data lacks features that the model uses.
    MissingFeatures {
        /// Their names.
        names: Vec<String>,
        /// Number of features that the model uses.
        used: usize,
        /// Their assumed value: `zero` or `missing`.
        taken_as: &'static str,
    },
    /// Values of a feature are none of the model's categories.
    UnseenCategories(UnseenCategories),
    /// A linear model was made without data, so its features are those of its weights.
    FeaturesOfWeights,
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
    /// The feature set of the training data names other features than the data has. The model
    /// records the set nevertheless.
    OtherFeatureSet,
    /// The feature set of the training data cannot be read. The model records it nevertheless.
    BadFeatureSet {
        /// The reason.
        message: String,
    },
    /// A model was converted to a format that cannot hold the feature set it was trained on.
    FeatureSetLost {
        /// Name of the format.
        format: &'static str,
    },
    /// A model was converted to a format that cannot hold the columns of the table it was trained
    /// on: their roles, the texts of categories, and the parts of points in time that are features.
    TableColumnsLost {
        /// Name of the format.
        format: &'static str,
        /// The features whose texts are lost.
        categories: Vec<String>,
    },
    /// Some trainings of a search over parameters were already finished.
    TrialsFound {
        /// Number of these trainings.
        trainings: usize,
        /// File that holds them.
        log: PathBuf,
    },
    /// The log beside a trained model could not be written.
    TrainingLogNotWritten {
        /// The reason.
        message: String,
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
    /// The log beside the model is that of another training, and is left out.
    OtherTrainingLog {
        /// The file.
        file: PathBuf,
    },
    /// Data files beside the parts of a split that are none of its parts, such as those of an older
    /// split; their queries may be in the new parts, too.
    OtherParts {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// A metric compares scores with the boundary of the model, which has none, so that its default
    /// threshold takes the place.
    NoBoundary {
        /// The model or its learner, where there are several; `None` where there is one model.
        model: Option<String>,
        /// The metric.
        metric: String,
        /// The score from which a document is called relevant.
        threshold: f64,
    },
    /// No judgement names a document of a run.
    NothingJudged {
        /// Name of the run.
        run: String,
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
    /// A click log was written in a format that cannot hold a part of it.
    #[cfg(feature = "clicks")]
    LogPartLost {
        /// Name of the part.
        part: &'static str,
        /// Name of the format.
        format: &'static str,
        /// Number of impressions that have the part.
        impressions: u64,
    },
    /// A click log has events that are no clicks, and they were not written.
    #[cfg(feature = "clicks")]
    LogEventsLost {
        /// Name of the format.
        format: &'static str,
        /// Number of these events.
        events: u64,
    },
    /// A click log was written in a format in which every impression has an id, or a session and
    /// times.
    #[cfg(feature = "clicks")]
    ImpressionIdsMade {
        /// Name of the format.
        format: &'static str,
        /// Number of impressions that were given their number as id.
        impressions: u64,
    },
    /// Documents of queries in a click log are not in the feature data.
    #[cfg(feature = "clicks")]
    UnknownLogDocuments {
        /// Number of pairs of query and document that the data does not have.
        unknown: usize,
        /// Number of pairs in the log.
        all: usize,
    },
    /// Queries of a click log are not in the feature data.
    #[cfg(feature = "clicks")]
    UnknownLogQueries {
        /// Number of queries that the data does not have.
        unknown: usize,
        /// Number of queries in the log.
        all: usize,
    },
    /// Some queries are not in every run that is interleaved, and are left out.
    UncommonQueries {
        /// Number of these queries.
        queries: usize,
    },
    /// Some requests are for queries that no run has, and are left out.
    UnknownRequests {
        /// Number of these requests.
        requests: usize,
    },
    /// Some impressions of a log show none of the interleaved lists, or one of several that cannot
    /// be told apart, and are left out.
    OtherImpressions {
        /// Number of these impressions.
        impressions: u64,
        /// Number of all impressions.
        of: u64,
    },
    /// Impressions of users are to be kept together in a bootstrap, but some have neither a user
    /// nor a session.
    ImpressionsWithoutUser {
        /// Number of these impressions.
        impressions: u64,
        /// Number of impressions that are compared.
        of: u64,
    },
    /// Some queries of the runs are not in the file of queries, and no question is asked about
    /// them.
    QueriesWithoutText {
        /// Number of these queries.
        queries: usize,
    },
    /// Some documents of the runs are not in the collection, and no question is asked about them.
    DocumentsWithoutText {
        /// Number of these documents.
        documents: usize,
    },
    /// Some answers of judges cannot be read, and are left out.
    UnreadableAnswers {
        /// Number of these answers.
        answers: usize,
        /// Number of all answers.
        of: usize,
    },
    /// Some answers are to questions that are not known, and are left out.
    UnknownQuestions {
        /// Number of these answers.
        answers: usize,
    },
    /// A run has queries without judgements, which are ignored.
    UnjudgedQueries {
        /// Name of the run.
        run: String,
        /// Number of these queries.
        queries: usize,
    },
}

/// Maximum number of features or files that are named in a message.
const MAX_NAMED: usize = 5;

/// The first names of a list, and the number of the others.
fn shortened(names: &[String]) -> String {
    let shown = names.get(..MAX_NAMED).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A number of things with its verb: "1 query is", "2 queries are".
fn are(number: usize, noun: &str) -> String {
    format!("{} {}", counted(number, noun), if number == 1 { "is" } else { "are" })
}

impl Warning {
    /// The stable name of the kind of warning, in kebab case, such as `blank-lines`.
    pub fn kind(&self) -> &str {
        match self {
            Warning::Data(warning) => warning.kind(),
            Warning::Content(warning) => warning.kind(),
            #[cfg(feature = "report")]
            Warning::Report(warning) => warning.kind(),
            #[cfg(feature = "experiment")]
            Warning::Experiment(warning) => warning.kind(),
            #[cfg(feature = "search")]
            Warning::Search(warning) => warning.kind(),
            #[cfg(feature = "train")]
            Warning::Training(warning) => warning.kind(),
            Warning::TrainingLogNotWritten { .. } => "training-log-not-written",
            Warning::MissingFeatures { .. } => "missing-features",
            Warning::UnseenCategories(_) => "unseen-categories",
            Warning::FeaturesOfWeights => "features-of-weights",
            Warning::CheckpointFailed { .. } => "checkpoint-failed",
            Warning::CheckpointRemoved { .. } => "checkpoint-removed",
            Warning::CheckpointNotRemoved { .. } => "checkpoint-not-removed",
            Warning::OtherFeatureSet => "other-feature-set",
            Warning::BadFeatureSet { .. } => "bad-feature-set",
            Warning::FeatureSetLost { .. } => "feature-set-lost",
            Warning::TableColumnsLost { .. } => "table-columns-lost",
            Warning::TrialsFound { .. } => "trials-found",
            Warning::NoTrainingLog { .. } => "no-training-log",
            Warning::BadTrainingLog { .. } => "bad-training-log",
            Warning::OtherTrainingLog { .. } => "other-training-log",
            Warning::OtherParts { .. } => "other-parts",
            Warning::NoBoundary { .. } => "no-boundary",
            Warning::NothingJudged { .. } => "nothing-judged",
            Warning::MissingQueries { .. } => "missing-queries",
            #[cfg(feature = "clicks")]
            Warning::LogPartLost { .. } | Warning::LogEventsLost { .. } => "log-part-lost",
            #[cfg(feature = "clicks")]
            Warning::ImpressionIdsMade { .. } => "impression-ids-made",
            #[cfg(feature = "clicks")]
            Warning::UnknownLogDocuments { .. } => "unknown-log-documents",
            #[cfg(feature = "clicks")]
            Warning::UnknownLogQueries { .. } => "unknown-log-queries",
            Warning::UnjudgedQueries { .. } => "unjudged-queries",
            Warning::UncommonQueries { .. } => "uncommon-queries",
            Warning::UnknownRequests { .. } => "unknown-requests",
            Warning::OtherImpressions { .. } => "other-impressions",
            Warning::ImpressionsWithoutUser { .. } => "impressions-without-user",
            Warning::QueriesWithoutText { .. } => "queries-without-text",
            Warning::DocumentsWithoutText { .. } => "documents-without-text",
            Warning::UnreadableAnswers { .. } => "unreadable-answers",
            Warning::UnknownQuestions { .. } => "unknown-questions",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Data(warning) => warning.fmt(f),
            Warning::Content(warning) => warning.fmt(f),
            #[cfg(feature = "report")]
            Warning::Report(warning) => warning.fmt(f),
            #[cfg(feature = "experiment")]
            Warning::Experiment(warning) => warning.fmt(f),
            #[cfg(feature = "search")]
            Warning::Search(warning) => warning.fmt(f),
            #[cfg(feature = "train")]
            Warning::Training(warning) => warning.fmt(f),
            Warning::TrainingLogNotWritten { message } => {
                write!(f, "the model is written, but the log beside it is not: {message}")
            }
            Warning::MissingFeatures { names, used, taken_as } => {
                write!(
                    f,
                    "the data lacks {} of the {} that the model uses, taken as {taken_as}: {}",
                    names.len(),
                    counted(*used, "feature"),
                    shortened(names)
                )
            }
            Warning::UnseenCategories(unseen) => unseen.fmt(f),
            Warning::FeaturesOfWeights => f.write_str(
                "there is no data, so the features of the model are those that have a weight",
            ),
            Warning::CheckpointFailed { message } => {
                write!(f, "the checkpoint was not saved, and training continued: {message}")
            }
            Warning::CheckpointRemoved { folder, folder_kept } => {
                let what = if *folder_kept { "the checkpoint in" } else { "the checkpoint folder" };
                write!(f, "the training is finished, so {what} {} was removed", folder.display())
            }
            Warning::CheckpointNotRemoved { folder, message } => write!(
                f,
                "the training is finished, but its checkpoint in {} could not be removed: {message}",
                folder.display()
            ),
            Warning::OtherFeatureSet => f.write_str(
                "the data has other features than its feature set names, or in another order; the \
                 model records the set nevertheless, and an index can rank with the model only if \
                 it can compute each feature of the data by its name",
            ),
            Warning::BadFeatureSet { message } => write!(
                f,
                "the feature set of the data cannot be read, and no index will accept the model: \
                 {message}"
            ),
            Warning::FeatureSetLost { format } => write!(
                f,
                "a file of the format {format} cannot hold the feature set of the model: analysis, first stage and \
                 number of candidates are only in the original"
            ),
            Warning::TableColumnsLost { format, categories } => {
                write!(
                    f,
                    "a file of the format {format} cannot hold the roles of the table's columns, which are only \
                     in the original"
                )?;
                match categories.as_slice() {
                    [] => Ok(()),
                    names => write!(
                        f,
                        "; nor the texts of {}, so that categories must be given to the converted \
                         model as numbers: {}",
                        counted(names.len(), "feature"),
                        names.join(", ")
                    ),
                }
            }
            Warning::TrialsFound { trainings, log } => write!(
                f,
                "{} of this search {} finished before; results are taken from {}",
                counted(*trainings, "training"),
                if *trainings == 1 { "was" } else { "were" },
                log.display()
            ),
            Warning::NoTrainingLog { file } => {
                write!(f, "there is no training log {}", file.display())
            }
            Warning::BadTrainingLog { message } => {
                write!(f, "the training log cannot be used, and is left out: {message}")
            }
            Warning::OtherTrainingLog { file } => {
                let file = file.display();
                write!(f, "{file} is the log of another model's training, and is left out")
            }
            Warning::OtherParts { files } => {
                let names: Vec<String> = files.iter().map(|p| p.display().to_string()).collect();
                let (them, belong) = match names.len() {
                    1 => ("it", "does not belong"),
                    _ => ("them", "do not belong"),
                };
                write!(
                    f,
                    "{} {belong} to this division, but may contain the same queries; remove {them}, \
                     or do not use {them} together with the new parts",
                    shortened(&names)
                )
            }
            Warning::NoBoundary { model, metric, threshold } => write!(
                f,
                "the scores of {} only rank: it has no boundary between relevant and other \
                 documents, and {metric} calls a document relevant from a score of {threshold} on",
                model.as_deref().unwrap_or("this model")
            ),
            Warning::NothingJudged { run } => write!(
                f,
                "no document of {run} is among the judged ones: check that run and judgements have \
                 the same ids of queries and documents"
            ),
            Warning::MissingQueries { run, missing, judged } => write!(
                f,
                "{run} lacks {missing} of {}; the convention `missing` of a metric determines how \
                 they count",
                counted(*judged, "judged query")
            ),
            #[cfg(feature = "clicks")]
            Warning::LogPartLost { part, format, impressions } => write!(
                f,
                "a log of the format {format} cannot hold the {} of {}, left out",
                part.replace('-', " "),
                counted(usize::try_from(*impressions).unwrap_or(usize::MAX), "impression")
            ),
            #[cfg(feature = "clicks")]
            Warning::LogEventsLost { format, events } => write!(
                f,
                "{} left out: only impressions and clicks are written as {format}",
                counted(usize::try_from(*events).unwrap_or(usize::MAX), "other event")
            ),
            #[cfg(feature = "clicks")]
            Warning::ImpressionIdsMade { format: "yandex-log", impressions } => write!(
                f,
                "a log of the format yandex-log needs a session and times; {} without them got \
                 their number in the log as session, or the time 0",
                counted(usize::try_from(*impressions).unwrap_or(usize::MAX), "impression")
            ),
            #[cfg(feature = "clicks")]
            Warning::ImpressionIdsMade { format, impressions } => write!(
                f,
                "a log of the format {format} needs an id for each impression; {} without one \
                 got their number in the log",
                counted(usize::try_from(*impressions).unwrap_or(usize::MAX), "impression")
            ),
            #[cfg(feature = "clicks")]
            Warning::UnknownLogDocuments { unknown, all } => write!(
                f,
                "the feature data lacks {unknown} of the {} of the log's queries, left out",
                counted(*all, "document")
            ),
            #[cfg(feature = "clicks")]
            Warning::UnknownLogQueries { unknown, all } => write!(
                f,
                "the feature data lacks {unknown} of the log's {}, left out",
                counted(*all, "query")
            ),
            Warning::UnjudgedQueries { run, queries } => {
                write!(f, "{run} has {}, ignored", counted(*queries, "unjudged query"))
            }
            Warning::UncommonQueries { queries } => {
                write!(f, "{} not in every run, left out", are(*queries, "query"))
            }
            Warning::UnknownRequests { requests } => {
                write!(f, "{} for queries that no run has, left out", are(*requests, "request"))
            }
            Warning::OtherImpressions { impressions, of } => {
                let of = counted(*of as usize, "impression");
                write!(
                    f,
                    "{impressions} of {of} show no list of the comparison, or one that cannot be \
                     told from another, left out"
                )
            }
            Warning::ImpressionsWithoutUser { impressions, of } => {
                let of = counted(*of as usize, "impression");
                write!(
                    f,
                    "{impressions} of {of} have neither a user nor a session; the bootstrap draws \
                     each of them by itself, so that intervals may be too short"
                )
            }
            Warning::QueriesWithoutText { queries } => {
                let queries = are(*queries, "query");
                write!(
                    f,
                    "{queries} not in the file of queries, so no question is asked about them"
                )
            }
            Warning::DocumentsWithoutText { documents } => {
                let documents = are(*documents, "document");
                write!(f, "{documents} not in the collection, so no question is asked about them")
            }
            Warning::UnreadableAnswers { answers, of } => {
                write!(f, "{answers} of {} cannot be read, left out", counted(*of, "answer"))
            }
            Warning::UnknownQuestions { answers } => {
                write!(f, "{} to questions that are not known, left out", are(*answers, "answer"))
            }
        }
    }
}

impl Warning {
    /// The fields of a warning of the tasks themselves by their names in JSON; a field `message` is
    /// called `reason` there.
    fn fields(&self) -> Vec<(&'static str, Value)> {
        match self {
            // These serialise themselves.
            Warning::Data(_) | Warning::Content(_) => Vec::new(),
            #[cfg(feature = "report")]
            Warning::Report(_) => Vec::new(),
            #[cfg(feature = "experiment")]
            Warning::Experiment(_) => Vec::new(),
            #[cfg(feature = "search")]
            Warning::Search(_) => Vec::new(),
            #[cfg(feature = "train")]
            Warning::Training(_) => Vec::new(),
            Warning::FeaturesOfWeights | Warning::OtherFeatureSet => Vec::new(),
            Warning::MissingFeatures { names, used, taken_as } => {
                vec![("names", json!(names)), ("used", json!(used)), ("taken_as", json!(taken_as))]
            }
            Warning::UnseenCategories(unseen) => vec![
                ("count", json!(unseen.values)),
                ("columns", json!([unseen.feature])),
                ("examples", json!(unseen.examples)),
            ],
            Warning::CheckpointFailed { message }
            | Warning::BadFeatureSet { message }
            | Warning::TrainingLogNotWritten { message }
            | Warning::BadTrainingLog { message } => vec![("reason", json!(message))],
            Warning::CheckpointRemoved { folder, folder_kept } => {
                vec![("folder", path_value(folder)), ("folder_kept", json!(folder_kept))]
            }
            Warning::CheckpointNotRemoved { folder, message } => {
                vec![("folder", path_value(folder)), ("reason", json!(message))]
            }
            Warning::FeatureSetLost { format } => vec![("format", json!(format))],
            Warning::TableColumnsLost { format, categories } => {
                vec![("format", json!(format)), ("categories", json!(categories))]
            }
            Warning::TrialsFound { trainings, log } => {
                vec![("trainings", json!(trainings)), ("log", path_value(log))]
            }
            Warning::NoTrainingLog { file } | Warning::OtherTrainingLog { file } => {
                vec![("file", path_value(file))]
            }
            Warning::OtherParts { files } => {
                vec![("files", files.iter().map(|file| path_value(file)).collect())]
            }
            Warning::NoBoundary { model, metric, threshold } => {
                let model = model.iter().map(|model| ("model", json!(model)));
                let metric = [("metric", json!(metric)), ("threshold", json!(threshold))];
                model.chain(metric).collect()
            }
            Warning::NothingJudged { run } => vec![("run", json!(run))],
            Warning::MissingQueries { run, missing, judged } => {
                vec![("run", json!(run)), ("missing", json!(missing)), ("judged", json!(judged))]
            }
            #[cfg(feature = "clicks")]
            Warning::LogPartLost { part, format, impressions } => vec![
                ("part", json!(part)),
                ("format", json!(format)),
                ("impressions", json!(impressions)),
            ],
            #[cfg(feature = "clicks")]
            Warning::LogEventsLost { format, events } => vec![
                ("part", json!("events")),
                ("format", json!(format)),
                ("events", json!(events)),
            ],
            #[cfg(feature = "clicks")]
            Warning::ImpressionIdsMade { format, impressions } => {
                vec![("format", json!(format)), ("impressions", json!(impressions))]
            }
            #[cfg(feature = "clicks")]
            Warning::UnknownLogDocuments { unknown, all }
            | Warning::UnknownLogQueries { unknown, all } => {
                vec![("unknown", json!(unknown)), ("all", json!(all))]
            }
            Warning::UnjudgedQueries { run, queries } => {
                vec![("run", json!(run)), ("queries", json!(queries))]
            }
            Warning::UncommonQueries { queries } | Warning::QueriesWithoutText { queries } => {
                vec![("queries", json!(queries))]
            }
            Warning::UnknownRequests { requests } => vec![("requests", json!(requests))],
            Warning::OtherImpressions { impressions, of }
            | Warning::ImpressionsWithoutUser { impressions, of } => {
                vec![("impressions", json!(impressions)), ("of", json!(of))]
            }
            Warning::DocumentsWithoutText { documents } => vec![("documents", json!(documents))],
            Warning::UnreadableAnswers { answers, of } => {
                vec![("answers", json!(answers)), ("of", json!(of))]
            }
            Warning::UnknownQuestions { answers } => vec![("answers", json!(answers))],
        }
    }
}

/// A path as text; characters that are no text are replaced.
fn path_value(path: &Path) -> Value {
    Value::from(path.display().to_string())
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Warning::Data(warning) => return warning.serialize(serializer),
            Warning::Content(warning) => return warning.serialize(serializer),
            #[cfg(feature = "report")]
            Warning::Report(warning) => return warning.serialize(serializer),
            #[cfg(feature = "experiment")]
            Warning::Experiment(warning) => return warning.serialize(serializer),
            #[cfg(feature = "train")]
            Warning::Training(warning) => return warning.serialize(serializer),
            #[cfg(feature = "search")]
            Warning::Search(warning) => return warning.serialize(serializer),
            _ => {}
        }
        let fields = self.fields();
        let mut object = serializer.serialize_map(Some(2 + fields.len()))?;
        object.serialize_entry("kind", self.kind())?;
        object.serialize_entry("message", &self.to_string())?;
        for (name, value) in &fields {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::{SourceLocation, WarningKind};

    #[test]
    fn a_warning_has_a_kind_for_programs_and_a_sentence_for_people() {
        let names = (0..7).map(|n| format!("f{n}")).collect();
        let warning = Warning::MissingFeatures { names, used: 9, taken_as: "zero" };
        let json = serde_json::to_value(&warning).unwrap();
        assert_eq!(json["kind"], "missing-features");
        assert_eq!(
            json["message"],
            "the data lacks 7 of the 9 features that the model uses, taken as zero: f0, f1, f2, \
             f3, f4 and 2 more"
        );
        assert_eq!((&json["names"][6], &json["used"]), (&"f6".into(), &9.into()));
        let failed = Warning::CheckpointFailed { message: "the disk is full".into() };
        let json = serde_json::to_value(&failed).unwrap();
        assert_eq!(json["reason"], "the disk is full");
        assert_eq!(json["message"], failed.to_string());
    }

    #[test]
    fn warnings_of_all_crates_have_one_shape() {
        let first = SourceLocation::line("a.txt", 3);
        let warnings = [
            Warning::Data(DataWarning::new(WarningKind::BlankLines, 2, first)),
            Warning::Content(SummaryWarning::NegativeLabels),
            #[cfg(feature = "search")]
            Warning::Search(SearchWarning::NothingPasses),
            #[cfg(feature = "report")]
            Warning::Report(ReportWarning::NoLog),
            Warning::UnjudgedQueries { run: "x.run".into(), queries: 1 },
        ];
        for warning in warnings {
            let json = serde_json::to_value(&warning).unwrap();
            let kind = json["kind"].as_str().unwrap();
            assert_eq!(kind, warning.kind());
            assert!(kind.chars().all(|c| c == '-' || c.is_ascii_lowercase()), "{kind}");
            assert_eq!(json["message"], warning.to_string());
        }
    }

    #[test]
    fn one_is_singular() {
        let one = Warning::UnjudgedQueries { run: "x.run".into(), queries: 1 };
        assert_eq!(one.to_string(), "x.run has 1 unjudged query, ignored");
        let one = Warning::TrialsFound { trainings: 1, log: "t.jsonl".into() };
        assert_eq!(
            one.to_string(),
            "1 training of this search was finished before; results are taken from t.jsonl"
        );
    }
}
