//! Inputs of the tasks on clicks: logs, interleaved lists, questions to judges with their answers,
//! and judgements, from files or in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_clicks::interleave::{InterleavedPage, check_lists, read_lists};
use rankwright_clicks::judge::{
    JudgeAnswer, PairComparison, Question, read_answers, read_comparisons, read_questions,
};
use rankwright_clicks::log::{
    LogColumns, LogCounts, LogFormat, LogInput, LogOptions, LogValues, read_watched,
};
use rankwright_clicks::{Impression, Pages, PagesBuilder};
use rankwright_data::DataError;
use rankwright_data::bytes::Input;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;
use crate::tasks::sources::{InMemory, Source, no_json_form, short_or_object};
use crate::tasks::{Context, TaskError, check_standard_input, file_label};

/// The files of a click log; several are one log. In JSON it is a path, a list of paths, or an
/// object with these fields.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ClickFiles {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Their format; `None`: told by the content of each.
    pub format: Option<LogFormat>,
    /// Columns, events, sessions, and the clicks and impressions to leave out.
    pub options: LogOptions,
}

/// The object form of [`ClickFiles`] in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClickFilesObject {
    files: Vec<PathBuf>,
    format: Option<LogFormat>,
    #[serde(default)]
    options: LogOptions,
}

impl From<ClickFilesObject> for ClickFiles {
    fn from(ClickFilesObject { files, format, options }: ClickFilesObject) -> Self {
        ClickFiles { files, format, options }
    }
}

impl<'de> Deserialize<'de> for ClickFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a path, a list of paths, or an object with `files`";
        short_or_object::<_, ClickFilesObject, _>(deserializer, expected, ClickFiles::new)
    }
}

impl ClickFiles {
    /// A log of these files.
    pub fn new(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let files = files.into_iter().map(Into::into).collect();
        Self { files, format: None, options: LogOptions::default() }
    }

    /// Sets the format.
    pub fn format(mut self, format: Option<LogFormat>) -> Self {
        self.format = format;
        self
    }

    /// Sets the options of reading.
    pub fn options(mut self, options: LogOptions) -> Self {
        self.options = options;
        self
    }
}

/// A click log: files with the options of reading them, or a log in memory with the same options.
///
/// ```
/// use rankwright::clicks::Impression;
/// use rankwright::tasks::{ClickFiles, Context, InspectClicksRequest, LogSource, inspect_clicks};
///
/// let files = LogSource::from(ClickFiles::new(["monday.jsonl", "tuesday.jsonl"]));
/// assert_eq!(files.label(), "monday.jsonl and 1 more");
/// let log = LogSource::from(vec![Impression::new("cat", ["a", "b"]).clicked([2])]);
/// let result = inspect_clicks(&InspectClicksRequest::new(log), &Context::default())?;
/// assert_eq!(result.summary.ranks[1].clicked, 1);
/// # Ok::<(), rankwright::tasks::TaskError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum LogSource {
    /// Files; several are one log.
    Files(ClickFiles),
    /// A log in memory.
    Memory {
        /// Its name in messages and results.
        name: String,
        /// The log: its impressions, the rows of a table, or the text of a file.
        values: LogValues,
        /// The options of reading.
        options: LogOptions,
    },
}

impl LogSource {
    /// The name of a log in memory that has no other.
    const NAME: &'static str = "the log";

    /// A log in memory with a name for messages and results.
    pub fn named(name: impl Into<String>, values: impl Into<LogValues>) -> Self {
        let (name, values) = (name.into(), values.into());
        LogSource::Memory { name, values, options: LogOptions::default() }
    }

    /// Sets the options of reading, of files or of a log in memory.
    pub fn with_options(mut self, options: LogOptions) -> Self {
        match &mut self {
            LogSource::Files(files) => files.options = options,
            LogSource::Memory { options: given, .. } => *given = options,
        }
        self
    }

    /// All input files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let files = match self {
            LogSource::Files(files) => files.files.as_slice(),
            LogSource::Memory { .. } => &[],
        };
        files.iter().map(PathBuf::as_path)
    }

    /// The files as named in messages, or the name of the log in memory.
    pub fn label(&self) -> String {
        match self {
            LogSource::Files(files) => file_label(&files.files),
            LogSource::Memory { name, .. } => name.clone(),
        }
    }

    /// Passes each impression to `visit`; a log without impressions is an error.
    pub(super) fn read(
        &self,
        task: &RunningTask<'_>,
        mut visit: impl FnMut(&Impression),
    ) -> Result<(LogCounts, f64), TaskError> {
        let step = format!("reading {}", self.label());
        task.step(&step, || {
            self.try_read(task.context(), |impression| {
                if task.context().is_cancelled() {
                    return Err(TaskError::Cancelled);
                }
                visit(impression);
                Ok(())
            })
        })
    }

    /// Passes each impression to `visit` until that fails; a log without impressions is an error.
    pub(super) fn try_read(
        &self,
        context: &Context<'_>,
        visit: impl FnMut(&Impression) -> Result<(), TaskError>,
    ) -> Result<LogCounts, TaskError> {
        let (inputs, options) = self.open()?;
        let counts =
            read_watched(inputs, &options, |progress| context.report_log(&progress), visit)?;
        match counts.impressions {
            0 => Err(TaskError::EmptyLog { log: self.label() }),
            _ => Ok(counts),
        }
    }

    /// The inputs, and the options of reading them.
    fn open(&self) -> Result<(Vec<LogInput>, LogOptions), TaskError> {
        match self {
            LogSource::Files(files) => {
                check_standard_input(self.paths())?;
                let inputs = files.files.iter().map(LogInput::open).collect::<Result<_, _>>()?;
                let format = files.format.or(files.options.format);
                Ok((inputs, files.options.clone().format(format)))
            }
            LogSource::Memory { name, values, options } => {
                let is_text = matches!(values, LogValues::Text(_));
                let reason = "a log of impressions or rows in memory has no format";
                check_used(!is_text && options.format.is_some(), "format", reason)?;
                let is_impressions = matches!(values, LogValues::Impressions(_));
                let has_columns = options.columns != LogColumns::default();
                let reason = "a log of impressions in memory has no columns";
                check_used(is_impressions && has_columns, "columns", reason)?;
                Ok((vec![LogInput::from_values(name, values.clone())?], options.clone()))
            }
        }
    }

    /// The distinct pages of the log, each with its number of impressions.
    pub(super) fn pages(&self, task: &RunningTask<'_>) -> Result<(Pages, LogCounts), TaskError> {
        let mut builder = PagesBuilder::default();
        let (counts, _) = self.read(task, |impression| builder.add(impression))?;
        Ok((builder.finish(), counts))
    }
}

impl std::fmt::Debug for LogSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LogSource::Files(files) => files.fmt(f),
            LogSource::Memory { name, .. } => f.debug_tuple("Memory").field(name).finish(),
        }
    }
}

impl From<ClickFiles> for LogSource {
    fn from(files: ClickFiles) -> Self {
        LogSource::Files(files)
    }
}

impl From<LogValues> for LogSource {
    fn from(values: LogValues) -> Self {
        LogSource::named(Self::NAME, values)
    }
}

impl From<Vec<Impression>> for LogSource {
    fn from(impressions: Vec<Impression>) -> Self {
        LogSource::named(Self::NAME, impressions)
    }
}

/// The JSON form of the files; a log in memory has none.
impl Serialize for LogSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            LogSource::Files(files) => files.serialize(serializer),
            LogSource::Memory { name, .. } => Err(no_json_form(name)),
        }
    }
}

impl<'de> Deserialize<'de> for LogSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ClickFiles::deserialize(deserializer).map(LogSource::Files)
    }
}

/// Interleaved lists: their file, or the lists themselves.
pub type ListsSource = Source<Vec<InterleavedPage>>;

/// Judgements of pairs of documents: their file, or the judgements themselves.
pub type JudgementsSource = Source<Vec<PairComparison>>;

/// Questions to judges: their file, or the questions themselves.
pub type QuestionsSource = Source<Vec<Question>>;

/// Answers of judges: their file, or the answers themselves.
pub type AnswersSource = Source<Vec<JudgeAnswer>>;

impl InMemory for Vec<InterleavedPage> {
    const NAME: &'static str = "the lists";
}

impl InMemory for Vec<PairComparison> {
    const NAME: &'static str = "the judgements";
}

impl InMemory for Vec<Question> {
    const NAME: &'static str = "the questions";
}

impl InMemory for Vec<JudgeAnswer> {
    const NAME: &'static str = "the answers";
}

/// Reads a file as one step of a task.
fn read_file<T>(
    path: &Path,
    task: &RunningTask<'_>,
    read: impl FnOnce(&Input) -> Result<T, DataError>,
) -> Result<T, TaskError> {
    let step = format!("reading {}", path.display());
    Ok(task.step(&step, || read(&Input::open(path)?))?.0)
}

impl ListsSource {
    /// The lists, read from their file if they have one.
    pub(super) fn load(
        &self,
        task: &RunningTask<'_>,
    ) -> Result<Arc<Vec<InterleavedPage>>, TaskError> {
        if let Source::Memory { name, value } = self {
            check_lists(name, value)?;
        }
        self.load_with(|path| read_file(path, task, read_lists))
    }
}

impl JudgementsSource {
    /// The judgements, read from their file if they have one.
    pub(in crate::tasks) fn load(
        &self,
        task: &RunningTask<'_>,
    ) -> Result<Arc<Vec<PairComparison>>, TaskError> {
        self.load_with(|path| read_file(path, task, read_comparisons))
    }
}

impl QuestionsSource {
    /// The questions, read from their file if they have one.
    pub(in crate::tasks) fn load(
        &self,
        task: &RunningTask<'_>,
    ) -> Result<Arc<Vec<Question>>, TaskError> {
        self.load_with(|path| read_file(path, task, read_questions))
    }
}

impl AnswersSource {
    /// The answers, read from their file if they have one.
    pub(in crate::tasks) fn load(
        &self,
        task: &RunningTask<'_>,
    ) -> Result<Arc<Vec<JudgeAnswer>>, TaskError> {
        self.load_with(|path| read_file(path, task, read_answers))
    }
}

/// The requests that interleaved lists are made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ListRequests {
    /// Each query this many times. The id of a request is that of the query, with a number
    /// (`q1#2`) if there are several.
    PerQuery(usize),
    /// A file with the id of a request and that of its query in each line, separated by a tab or
    /// spaces.
    File(PathBuf),
    /// The id of each request and that of its query.
    Values(Vec<(String, String)>),
}

/// One list for each query.
impl Default for ListRequests {
    fn default() -> Self {
        ListRequests::PerQuery(1)
    }
}

impl ListRequests {
    /// The file, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::PerQuery(_) | Self::Values(_) => None,
        }
    }
}
