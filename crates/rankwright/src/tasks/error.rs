//! Errors of tasks.

use std::path::{Path, PathBuf};

#[cfg(feature = "clicks")]
use rankwright_clicks::ClicksError;
#[cfg(feature = "clicks")]
use rankwright_clicks::interleave::InterleavingError;
#[cfg(feature = "clicks")]
use rankwright_clicks::judge::PromptError;
#[cfg(feature = "clicks")]
use rankwright_clicks::log::write::LogWriteError;
use rankwright_data::{Absent, DataError};
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
#[cfg(feature = "experiment")]
use rankwright_experiment::ExperimentError;
#[cfg(feature = "train")]
use rankwright_learn::LearnError;
use rankwright_model::ModelError;
#[cfg(feature = "explain")]
use rankwright_report::ReportError;
#[cfg(feature = "search")]
use rankwright_search::SearchError;
use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

#[cfg(feature = "train")]
use super::{SavedTraining, TrainOption};

/// The reason why a task ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// Data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An evaluation is not possible.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A spec cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Systems cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A model could not be read, written or matched with data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A training failed.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// An explanation or a report cannot be made.
    #[cfg(feature = "explain")]
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Trainings with several settings cannot be made or compared.
    #[cfg(feature = "experiment")]
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A feature set or an index cannot be used.
    #[cfg(feature = "search")]
    #[error(transparent)]
    Search(#[from] SearchError),
    /// A click log cannot be written.
    #[cfg(feature = "clicks")]
    #[error(transparent)]
    LogWrite(#[from] LogWriteError),
    /// An estimate from a click log is not possible.
    #[cfg(feature = "clicks")]
    #[error(transparent)]
    Clicks(#[from] ClicksError),
    /// The value of a model cannot be estimated from a click log.
    #[cfg(feature = "clicks")]
    #[error("{model}: {error}")]
    ModelValue {
        /// Name of the model.
        model: String,
        /// The reason.
        error: ClicksError,
    },
    /// The data has no feature of a name.
    #[error("the data has no feature '{name}'; it has {}", counted(*features, "feature"))]
    UnknownFeature {
        /// The name or number of the feature.
        name: String,
        /// Number of features of the data.
        features: usize,
    },
    /// A click log has no impression.
    #[cfg(feature = "clicks")]
    #[error("{log}: the click log has no impression with a document")]
    EmptyLog {
        /// The files of the log.
        log: String,
    },
    /// Rankings cannot be interleaved.
    #[cfg(feature = "clicks")]
    #[error("{}{source}", of_query(query))]
    Interleaving {
        /// The query; none if it does not matter.
        query: Option<String>,
        /// The reason.
        source: InterleavingError,
    },
    /// Runs to be interleaved have no query in common.
    #[cfg(feature = "clicks")]
    #[error("no query is in every run, so there is nothing to interleave")]
    NoCommonQuery,
    /// No interleaved list is requested for a query that all runs have.
    #[cfg(feature = "clicks")]
    #[error("no list is requested for a query that is in every run")]
    NoRequests,
    /// A file has no interleaved list.
    #[cfg(feature = "clicks")]
    #[error("{lists} has no interleaved list")]
    NoLists {
        /// The file.
        lists: String,
    },
    /// No impression of a log shows one of the interleaved lists.
    #[cfg(feature = "clicks")]
    #[error(
        "no impression of the log shows a list of {lists}: neither by its id nor by its documents"
    )]
    NoListShown {
        /// The file of lists.
        lists: String,
    },
    /// Several pages were requested of each interleaved list.
    #[cfg(feature = "clicks")]
    #[error("an interleaved list is shown once, but {sessions} pages of each are to be shown")]
    SessionsOfLists {
        /// The requested number of pages.
        sessions: usize,
    },
    /// No query of a run has judgements.
    #[cfg(feature = "clicks")]
    #[error("no query of {file} has judgements")]
    NoJudgedQuery {
        /// The run or the file of interleaved lists.
        file: String,
    },
    /// A question to a judge cannot be made.
    #[cfg(feature = "clicks")]
    #[error("{}{source}", of_query(query))]
    Prompt {
        /// The query; none if it does not matter.
        query: Option<String>,
        /// The reason.
        source: PromptError,
    },
    /// There is no pair of documents to ask a judge about.
    #[cfg(feature = "clicks")]
    #[error("there is no pair of documents to ask about: {reason}")]
    NoPairs {
        /// The reason.
        reason: &'static str,
    },
    /// No answer of judges can be read as a comparison.
    #[cfg(feature = "clicks")]
    #[error("{files}: no answer is to a known question and can be read")]
    NoAnswers {
        /// The files.
        files: String,
    },
    /// Files of judgements have no comparison.
    #[cfg(feature = "clicks")]
    #[error("{files}: there is no comparison of two documents")]
    NoComparisons {
        /// The files.
        files: String,
    },
    /// The caller cancelled the task.
    #[error("cancelled")]
    Cancelled,
    /// Standard input is named more than once.
    #[error("standard input (-) can be read only once")]
    StandardInputTwice,
    /// A result would be written over one of its inputs.
    #[error("{} would be written over the input {}", out.display(), input.display())]
    OutputIsInput {
        /// The file to write.
        out: PathBuf,
        /// The input that is the same file.
        input: PathBuf,
    },
    /// A part of a division exists already.
    #[error("{} exist{} already", existing_parts(path, *others), if *others == 0 { "s" } else { "" })]
    PartExists {
        /// The first part that exists.
        path: PathBuf,
        /// The number of other parts that exist.
        others: usize,
    },
    /// A run cannot hold predictions.
    #[error("a run ranks documents by score, and cannot hold a {kind} for each")]
    RunOfPredictions {
        /// The kind of prediction.
        kind: &'static str,
    },
    /// The name of a run is not one word.
    #[error(
        "the name of a run is one word, as its columns are separated by whitespace; found '{tag}'"
    )]
    TagNotOneWord {
        /// The name.
        tag: String,
    },
    /// Feature data was given as the source of a feature set, and records none.
    #[cfg(feature = "search")]
    #[error("the data {} records no feature set", data.display())]
    NoFeatureSet {
        /// The file.
        data: PathBuf,
    },
    /// A model was given in place of feature data.
    #[error("{file} is a model; feature data is expected here")]
    ModelInsteadOfData {
        /// The file.
        file: String,
    },
    /// A model was given in place of a run.
    #[error("{file} is a model; a run is expected here, since models rank feature data")]
    ModelInsteadOfRun {
        /// The file.
        file: String,
    },
    /// A table of scores with ids was given in place of feature data or a model.
    #[error("{file} has scores with ids, neither feature data nor a model")]
    ScoresAmongData {
        /// The file.
        file: String,
    },
    /// No model is among the files.
    #[error("{file} is not a model")]
    NoModel {
        /// The first of the files.
        file: String,
    },
    /// Several models are given where one is expected.
    #[error("{count} models are given; one is expected here")]
    SeveralModels {
        /// Number of models.
        count: usize,
    },
    /// All files are models.
    #[error("there is no feature data for the model to score")]
    NoData,
    /// Neither a model nor scores are among the files to compare.
    #[error("none of the files is a model, and there are no scores to compare")]
    NoSystems,
    /// Options of matching features are given, but there is no model.
    #[error("there are no features to match, since no model is among the files")]
    NoModelToMatch,
    /// The caller's rule for absent features is not the model's.
    #[error(
        "absent features are to be read as {}, but the model was trained with them as {}",
        requested.name(), model.name()
    )]
    AbsentContradictsModel {
        /// The caller's rule.
        requested: Absent,
        /// The model's rule.
        model: Absent,
    },
    /// The caller's rule for absent features differs from the one recorded in the file.
    #[error(
        "absent features are to be read as {}, but {file} ({format}) records that they are {}",
        requested.name(), recorded.name()
    )]
    AbsentRecorded {
        /// The file.
        file: String,
        /// Name of its format.
        format: &'static str,
        /// The caller's rule.
        requested: Absent,
        /// The file's rule.
        recorded: Absent,
    },
    /// Models that score the same data have different rules for absent features.
    #[error(
        "{first} takes absent features as {}, {second} as {}, so one data set cannot serve both",
        first_rule.name(), second_rule.name()
    )]
    AbsentRulesDiffer {
        /// A model.
        first: String,
        /// Its rule.
        first_rule: Absent,
        /// Another model.
        second: String,
        /// Its rule.
        second_rule: Absent,
    },
    /// The extension of a file to write is not that of a known format.
    #[error(
        "the extension of {} is not that of a format; known extensions are .{}",
        path.display(), known.join(", .")
    )]
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// An extension of each format.
        known: Vec<&'static str>,
    },
    /// Named features cannot be renumbered.
    #[error("the features of the model have names, so they have no numbers to change")]
    FeaturesHaveNames,
    /// A file is to be written into a folder that does not exist.
    #[error("cannot write {}: the folder {} does not exist", file.display(), folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// A folder exists in place of a file to write.
    #[error("{} is a folder, not a file", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A path that is not a folder exists in place of the folder for checkpoints.
    #[error("{} is not a folder, but a cancelled training would be saved there", path.display())]
    CheckpointIsNoFolder {
        /// The path.
        path: PathBuf,
    },
    /// A learner that needs training data has none.
    #[error("{learner} needs training data, and none is given")]
    NoTrainingData {
        /// The learner.
        learner: &'static str,
    },
    /// Options of matching features are given, but there is neither validation data nor a start
    /// model.
    #[error("there are no features to match: there is neither validation data nor a start model")]
    NothingToMatch,
    /// A training option for a learner that is not trained.
    #[cfg(feature = "train")]
    #[error("{option} has no effect: the weights of {learner} are given and nothing is trained")]
    NothingTrained {
        /// The learner.
        learner: &'static str,
        /// The option.
        option: TrainOption,
    },
    /// An option about data was given, but no data.
    #[cfg(feature = "train")]
    #[error("{option} has no effect without data")]
    OptionNeedsData {
        /// The option.
        option: TrainOption,
    },
    /// Checkpoints were requested for a learner without rounds.
    #[error("{learner} is trained in one step, without rounds, so it has no checkpoints")]
    NoCheckpoints {
        /// The learner.
        learner: &'static str,
    },
    /// One input of a training has features that the other does not know.
    #[error(
        "{found_in} has {} that {unknown_to} does not know: {names}", counted(*count, "feature")
    )]
    UnknownFeatures {
        /// The input that has them.
        found_in: String,
        /// The input that does not know them.
        unknown_to: String,
        /// Number of these features.
        count: usize,
        /// Their names, the first few.
        names: String,
    },
    /// One input of a training lacks features of the other.
    #[error("{missing_in} lacks {count} of the features of {found_in}: {names}")]
    MissingFeatures {
        /// The input that lacks them.
        missing_in: String,
        /// The input that has them.
        found_in: String,
        /// Number of these features.
        count: usize,
        /// Their names, the first few.
        names: String,
    },
    /// The features of one input of a training have names, those of the other have numbers.
    #[error("the features of {first} have {first_naming}; those of {second} have {second_naming}")]
    NamesAndNumbers {
        /// One input.
        first: String,
        /// The names or numbers of its features, the first few.
        first_naming: String,
        /// The other input.
        second: String,
        /// The names or numbers of its features, the first few.
        second_naming: String,
    },
    /// A training was cancelled.
    #[cfg(feature = "train")]
    #[error("{}", stopped(unit, *done, saved))]
    TrainingStopped {
        /// The name of a round.
        unit: String,
        /// Number of finished rounds.
        done: usize,
        /// The saved state of the training.
        saved: SavedTraining,
    },
    /// A trained model could not be written where it belongs, and was saved in another place.
    #[error(
        "{} could not be written, so the trained model was saved as {} ({reason})",
        out.display(), file.display()
    )]
    ModelSavedElsewhere {
        /// The file to write.
        out: PathBuf,
        /// The file that has the model.
        file: PathBuf,
        /// The reason why the file could not be written.
        reason: String,
    },
    /// No learner is given.
    #[error("no learner is given")]
    NoLearner,
    /// A learner is given twice.
    #[error("{learner} is given twice")]
    LearnerTwice {
        /// The learner.
        learner: String,
    },
    /// Two queries of a list have one id.
    #[error("two queries have the id '{id}'")]
    QueryTwice {
        /// The id.
        id: String,
    },
    /// An option that has no effect beside the others.
    #[error("the option `{option}` does not apply: {reason}")]
    OptionUnused {
        /// Name of the option in the request.
        option: &'static str,
        /// The reason why it has no effect.
        reason: &'static str,
    },
    /// Validation queries are held out for learners that ignore them.
    #[error(
        "a part of the training queries is held out for validation, but no learner uses it: none \
         stops early or chooses among models"
    )]
    ValidPartUnused,
    /// The best learner is to be trained on all data, but it needs validation data for that.
    #[error(
        "the best learner is to be trained on all of the data, but it needs validation data, and \
         there is none"
    )]
    NoValidationForBest,
    /// Two results are to be written to the same file.
    #[error("two results would be written to {}", path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    /// A parameter search was cancelled.
    #[error("interrupted after {} of the search", counted(*done, "finished training"))]
    SearchStopped {
        /// Number of finished trainings.
        done: usize,
        /// File that holds them.
        log: Option<PathBuf>,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: String,
    },
    /// A tree was requested of a model without trees.
    #[error("this model is {kind} and has no trees to show")]
    NoTrees {
        /// Kind of the model.
        kind: &'static str,
    },
    /// A tree was requested that the model does not have.
    #[error("there is no tree {number}; the model has {}, numbered from 1", counted(*trees, "tree"))]
    NoSuchTree {
        /// The requested number.
        number: usize,
        /// Number of trees of the model.
        trees: usize,
    },
    /// A part of a division has no query.
    #[error("the part '{name}' would be empty: the data has only {}", counted(*queries, "query"))]
    EmptyPart {
        /// Name of the part.
        name: String,
        /// Number of queries of the data.
        queries: usize,
    },
    /// A score file has another number of lines than the data has rows.
    #[error(
        "{file} has {}, but {data} has {}; a score file has one line for each row",
        counted(*found, "score"), counted(*expected, "row")
    )]
    ScoreCount {
        /// The score file.
        file: String,
        /// Number of its lines.
        found: usize,
        /// Name of the data.
        data: String,
        /// Number of its rows.
        expected: usize,
    },
}

/// The query at the beginning of a message.
#[cfg(feature = "clicks")]
fn of_query(query: &Option<String>) -> String {
    query.as_ref().map_or(String::new(), |query| format!("query '{query}': "))
}

/// The first of the parts that exist, and the number of others.
fn existing_parts(path: &Path, others: usize) -> String {
    match others {
        0 => path.display().to_string(),
        _ => format!("{} and {}", path.display(), counted(others, "other part")),
    }
}

impl TaskError {
    /// A remedy, if the error has one.
    pub fn help(&self) -> Option<String> {
        self.wrapped_help().unwrap_or_else(|| self.own_help().map(str::to_owned))
    }

    /// A remedy for the errors of the tasks themselves.
    fn own_help(&self) -> Option<&'static str> {
        Some(match self {
            TaskError::NoFolder { .. } => "create the folder first",
            TaskError::IsFolder { .. } => "give the path of a file in it",
            TaskError::CheckpointIsNoFolder { .. } => {
                "move it, or give another folder for checkpoints"
            }
            TaskError::UnknownFeatures { .. } => {
                "check that both have the same features, or ignore extra features"
            }
            TaskError::MissingFeatures { .. } => {
                "add these columns, or rename them so that both agree"
            }
            TaskError::ModelSavedElsewhere { .. } => {
                "copy the saved model, which is complete, to a folder with enough free space"
            }
            TaskError::StandardInputTwice => "give a file instead",
            TaskError::OutputIsInput { .. } => "give another file",
            TaskError::SameFile { .. } => "give a file for each result",
            TaskError::PartExists { .. } => "choose another folder, or replace the parts",
            TaskError::AbsentContradictsModel { .. } => "leave the rule to the model",
            TaskError::AbsentRecorded { .. } => "leave the rule to the file",
            TaskError::AbsentRulesDiffer { .. } => {
                "score the data with each model by itself and compare the scores"
            }
            TaskError::UnknownExtension { .. } => "use a known extension, or give the format",
            TaskError::EmptyPart { queries: 1, .. } => DataError::ONE_QUERY,
            TaskError::EmptyPart { .. } => "give the part a larger share, or use more data",
            TaskError::NoModelToMatch | TaskError::NothingToMatch => {
                "leave out the options of matching features"
            }
            TaskError::NamesAndNumbers { .. } => {
                "name the features of both alike; or match them by position, if both have the same \
                 features in the same order"
            }
            #[cfg(feature = "clicks")]
            TaskError::NoCommonQuery => "check that the ids of queries are the same in all runs",
            #[cfg(feature = "clicks")]
            TaskError::NoRequests => "request at least one list for a query of all runs",
            #[cfg(feature = "clicks")]
            TaskError::NoListShown { .. } => {
                "log the id of each request as the id of its impression"
            }
            #[cfg(feature = "clicks")]
            TaskError::SessionsOfLists { .. } => "make several lists for each query instead",
            TaskError::NoCheckpoints { .. } => "train without checkpoints",
            #[cfg(feature = "train")]
            TaskError::NothingTrained { .. } => "leave out the option",
            #[cfg(feature = "train")]
            TaskError::OptionNeedsData { .. } => "give data, or leave out the option",
            TaskError::QueryTwice { .. } => "give each query an id of its own",
            TaskError::OptionUnused { .. } => "leave out the option",
            TaskError::ValidPartUnused => {
                "choose a learner that stops early, or hold out no queries"
            }
            TaskError::NoValidationForBest => "give validation data, or write no model",
            TaskError::SearchStopped { log: Some(_), .. } => "repeat the request to resume",
            #[cfg(feature = "search")]
            TaskError::NoFeatureSet { .. } => {
                "give data that was computed from an index, or the specs of features"
            }
            _ => return None,
        })
    }
}

/// The saved state of a cancelled training, in words.
#[cfg(feature = "train")]
fn stopped(unit: &str, done: usize, saved: &SavedTraining) -> String {
    let stopped = format!("interrupted after {unit} {done}");
    match saved {
        SavedTraining::Checkpoint { folder } => {
            format!("{stopped}; the training was saved in {}", folder.display())
        }
        SavedTraining::Partial { file, reason } => format!(
            "{stopped}; the checkpoint could not be written ({reason}), so the model so far was \
             saved to {}",
            file.display()
        ),
        SavedTraining::Nothing { out: Some(out) } => {
            format!(
                "{stopped}; nothing was saved: {} is not an ordinary file, and no folder for \
                 checkpoints is given",
                out.display()
            )
        }
        SavedTraining::Nothing { out: None } => {
            format!("{stopped}; nothing was saved: no folder for checkpoints is given")
        }
        SavedTraining::Lost { reason } => format!("{stopped}; no model was saved: {reason}"),
    }
}
