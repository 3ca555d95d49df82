//! Inputs of tasks: files, or values that a program has in memory. A task decides the same for
//! both: how features match, which metrics are the default ones, what is a warning.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::bytes::Input;
use rankwright_data::{Dataset, Qrels, Run};
use rankwright_model::Model;
#[cfg(feature = "search")]
use rankwright_search::Index;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::context::RunningTask;
use super::data_files::{DataFiles, LoadedData, ReadRules};
use super::eval::{read_qrels_file, read_run_file};
use super::input_files::{NamedModel, divide};
use super::paths::{SourceName, distinct_names};
use super::{TaskError, Warning, check_standard_input, file_label, load_model};

/// A type whose values tasks take from memory as well as from files.
pub trait InMemory {
    /// The name of a value that has no other, for messages.
    const NAME: &'static str;
}

impl InMemory for Model {
    const NAME: &'static str = "the model";
}

impl InMemory for Run {
    const NAME: &'static str = "the run";
}

impl InMemory for Qrels {
    const NAME: &'static str = "the judgements";
}

/// Scores, one for each row of a data set in the order of its source.
impl InMemory for Vec<f64> {
    const NAME: &'static str = "the scores";
}

#[cfg(feature = "search")]
impl InMemory for Index {
    const NAME: &'static str = "the index";
}

/// A file, or a value in memory with a name.
///
/// ```
/// use rankwright::prelude::*;
/// use rankwright::tasks::{ModelSource, Source};
///
/// let file = ModelSource::from("m.model");
/// assert_eq!(file.name(), "m.model");
/// # let data = rankwright::data::generate::LetorOptions { queries: 9, documents: 9, seed: 1 };
/// # let data = data.generate()?;
/// let model = RankSvm::new().fit(&data)?.model;
/// assert_eq!(ModelSource::from(model.clone()).name(), "the model");
/// assert_eq!(Source::named("today's model", model).name(), "today's model");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
pub enum Source<T> {
    /// A file, or the folder of an index.
    File(PathBuf),
    /// A value in memory.
    Memory {
        /// Its name in messages and results.
        name: String,
        /// The value.
        value: Arc<T>,
    },
}

/// A model: its file, or the model itself.
pub type ModelSource = Source<Model>;

/// A run: its file, or the run itself.
pub type RunSource = Source<Run>;

/// Judgements: their file, or the judgements themselves.
pub type QrelsSource = Source<Qrels>;

/// Scores of feature data: a file of one score per line or of a table with ids, or a score for each
/// row in the order of the source of the data.
pub type ScoreSource = Source<Vec<f64>>;

/// An index: its folder, or the opened index.
#[cfg(feature = "search")]
pub type IndexSource = Source<Index>;

impl<T> Source<T> {
    /// A value in memory with a name for messages and results.
    pub fn named(name: impl Into<String>, value: impl Into<Arc<T>>) -> Self {
        Source::Memory { name: name.into(), value: value.into() }
    }

    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::File(path) => Some(path),
            Source::Memory { .. } => None,
        }
    }

    /// The path of the file, or the name of the value in memory.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Memory { name, .. } => name.clone(),
        }
    }

    /// The name, and whether it is a path.
    pub(super) fn source_name(&self) -> SourceName {
        SourceName { text: self.name(), is_file: self.path().is_some() }
    }

    /// The value in memory, or the value that `read` reads from the file.
    pub(super) fn load_with(
        &self,
        read: impl FnOnce(&Path) -> Result<T, TaskError>,
    ) -> Result<Arc<T>, TaskError> {
        match self {
            Source::File(path) => Ok(Arc::new(read(path)?)),
            Source::Memory { value, .. } => Ok(value.clone()),
        }
    }
}

impl ModelSource {
    /// The model, read from its file if it has one.
    pub fn load(&self) -> Result<Arc<Model>, TaskError> {
        self.load_with(load_model)
    }
}

impl QrelsSource {
    /// The judgements, read from their file if they have one.
    pub(super) fn load(&self, task: &mut RunningTask<'_>) -> Result<Arc<Qrels>, TaskError> {
        self.load_with(|path| read_qrels_file(path, task))
    }
}

impl RunSource {
    /// The run, read from its file if it has one; a model in its place is an error.
    pub(super) fn load(&self, task: &mut RunningTask<'_>) -> Result<Arc<Run>, TaskError> {
        self.load_with(|path| read_run_file(path, task))
    }
}

#[cfg(feature = "search")]
impl IndexSource {
    /// The index, opened if it is a folder.
    pub(super) fn open(&self, task: &RunningTask<'_>) -> Result<Arc<Index>, TaskError> {
        self.load_with(|path| {
            let step = format!("opening {}", path.display());
            Ok(task.step(&step, || Index::open(path))?.0)
        })
    }
}

/// The names of sources: those of files without folders where these names differ; values in memory
/// that have the same name get numbers.
pub(super) fn source_names<T>(sources: &[Source<T>]) -> Vec<String> {
    distinct_names(sources.iter().map(Source::source_name))
}

/// Sources as named in messages: the first, and the number of others.
#[cfg(feature = "clicks")]
pub(super) fn source_label<T>(sources: &[Source<T>]) -> String {
    file_label(&sources.iter().map(Source::name).collect::<Vec<_>>())
}

impl<T> Clone for Source<T> {
    fn clone(&self) -> Self {
        match self {
            Source::File(path) => Source::File(path.clone()),
            Source::Memory { name, value } => {
                Source::Memory { name: name.clone(), value: value.clone() }
            }
        }
    }
}

impl<T> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => f.debug_tuple("File").field(path).finish(),
            Source::Memory { name, .. } => f.debug_tuple("Memory").field(name).finish(),
        }
    }
}

/// Two sources are equal if they are the same file, or the same value in memory under one name.
impl<T> PartialEq for Source<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Source::File(path), Source::File(other)) => path == other,
            (Source::Memory { name, value }, Source::Memory { name: other, value: same }) => {
                name == other && Arc::ptr_eq(value, same)
            }
            _ => false,
        }
    }
}

impl<T> Eq for Source<T> {}

impl<T: InMemory> From<T> for Source<T> {
    fn from(value: T) -> Self {
        Source::named(T::NAME, value)
    }
}

impl<T: InMemory> From<Arc<T>> for Source<T> {
    fn from(value: Arc<T>) -> Self {
        Source::named(T::NAME, value)
    }
}

impl<T: InMemory> From<&Arc<T>> for Source<T> {
    fn from(value: &Arc<T>) -> Self {
        Source::named(T::NAME, value.clone())
    }
}

/// Conversions of everything that is a path.
macro_rules! from_paths {
    ($($path:ty),*) => { $(
        impl<T> From<$path> for Source<T> {
            fn from(path: $path) -> Self {
                Source::File(path.into())
            }
        }

        impl From<$path> for DataSource {
            fn from(path: $path) -> Self {
                DataSource::Files(DataFiles::new([path]))
            }
        }
    )* };
}

from_paths!(PathBuf, &PathBuf, &Path, String, &String, &str);

/// A file is its path in JSON; a value in memory has no JSON form.
impl<T> Serialize for Source<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Source::File(path) => path.serialize(serializer),
            Source::Memory { name, .. } => Err(no_json_form(name)),
        }
    }
}

impl<'de, T> Deserialize<'de> for Source<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(Source::File)
    }
}

/// The error of writing a value in memory as JSON.
pub(super) fn no_json_form<E: ser::Error>(name: &str) -> E {
    E::custom(format_args!("{name} is in memory; only files can be written as JSON"))
}

/// Feature data: files with the options of reading them, or a data set in memory with a name.
///
/// ```
/// use rankwright::prelude::*;
/// use rankwright::tasks::{DataFiles, DataSource};
///
/// let files = DataSource::from(DataFiles::new(["day1.txt", "day2.txt"]));
/// assert_eq!(files.label(), "day1.txt and 1 more");
/// let data = Dataset::from_rows([[1.0], [2.0]], ["x"]).query_ids(["q", "q"]).build()?;
/// assert_eq!(DataSource::from(data.clone()).label(), "the data");
/// assert_eq!(DataSource::named("today's data", data).label(), "today's data");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum DataSource {
    /// Files; several are one data set.
    Files(DataFiles),
    /// A data set in memory.
    Memory {
        /// Its name in messages and results.
        name: String,
        /// The data.
        data: Arc<Dataset>,
    },
}

impl DataSource {
    /// The name of a data set in memory that has no other.
    const NAME: &'static str = "the data";

    /// A data set in memory with a name for messages and results.
    pub fn named(name: impl Into<String>, data: impl Into<Arc<Dataset>>) -> Self {
        DataSource::Memory { name: name.into(), data: data.into() }
    }

    /// The files with their options; `None` for data in memory.
    pub fn files(&self) -> Option<&DataFiles> {
        match self {
            DataSource::Files(files) => Some(files),
            DataSource::Memory { .. } => None,
        }
    }

    /// All input files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files().into_iter().flat_map(DataFiles::paths)
    }

    /// The files as named in messages, or the name of the data in memory.
    pub fn label(&self) -> String {
        match self {
            DataSource::Files(files) => file_label(&files.files),
            DataSource::Memory { name, .. } => name.clone(),
        }
    }

    /// Whether there is no file and no data in memory.
    pub fn is_empty(&self) -> bool {
        self.files().is_some_and(|files| files.files.is_empty())
    }

    /// Whether a file of preference pairs is given.
    pub(super) fn has_pair_file(&self) -> bool {
        self.files().is_some_and(|files| files.pairs.is_some())
    }

    /// The files as named in messages, or the name of the data in memory, and which of both it is.
    #[cfg(any(feature = "train", feature = "report"))]
    pub(super) fn source_name(&self) -> SourceName {
        SourceName { text: self.label(), is_file: self.files().is_some() }
    }

    /// The paths of the files of data, or the name of the data in memory.
    #[cfg(feature = "train")]
    pub(super) fn names(&self) -> Vec<PathBuf> {
        match self {
            DataSource::Files(files) => files.files.clone(),
            DataSource::Memory { name, .. } => vec![name.into()],
        }
    }

    /// This data, which belongs to other data, as validation data to training data: options of
    /// reading that it does not give are those of the other data.
    #[cfg(feature = "train")]
    pub(super) fn with_options_of(&self, other: &DataSource) -> DataSource {
        match (self, other) {
            (DataSource::Files(own), DataSource::Files(other)) => {
                DataSource::Files(own.with_options_of(other))
            }
            _ => self.clone(),
        }
    }

    /// The data in memory, or the data of the files.
    pub(super) fn load(
        &self,
        rules: Option<ReadRules>,
        task: &mut RunningTask<'_>,
    ) -> Result<LoadedData, TaskError> {
        match self {
            DataSource::Files(files) => files.load(rules, task),
            DataSource::Memory { name, data } => Ok(in_memory(name, data, rules, task)),
        }
    }

    /// The models among the files, with their names, and what the data is read from.
    pub(super) fn divided(&self, task: &RunningTask<'_>) -> Result<DividedData<'_>, TaskError> {
        match self {
            DataSource::Files(files) => {
                check_standard_input(files.paths())?;
                let (models, data) = divide(files.open(task)?.0)?;
                Ok(DividedData { models, files: Some((files, data)), memory: None })
            }
            DataSource::Memory { name, data } => {
                Ok(DividedData { models: Vec::new(), files: None, memory: Some((name, data)) })
            }
        }
    }
}

/// A data source whose files are divided by content into models and data.
pub(super) struct DividedData<'a> {
    /// The models among the files, with the names of their files.
    pub(super) models: Vec<NamedModel>,
    /// The other files, opened.
    files: Option<(&'a DataFiles, Vec<Input>)>,
    /// The data in memory.
    memory: Option<(&'a str, &'a Arc<Dataset>)>,
}

impl DividedData<'_> {
    /// The only model, and the data that it scores. `given` is a model besides those among the
    /// files.
    pub(super) fn with_one_model(
        mut self,
        given: Option<Arc<Model>>,
    ) -> Result<(Arc<Model>, Self), TaskError> {
        let found = std::mem::take(&mut self.models).into_iter().map(|(_, model)| model);
        let mut models: Vec<Arc<Model>> = given.into_iter().chain(found).collect();
        match (models.pop(), models.len()) {
            (None, _) => Err(TaskError::NoModel { file: self.first_name() }),
            (Some(_), more @ 1..) => Err(TaskError::SeveralModels { count: more + 1 }),
            (Some(_), 0) if self.has_no_data() => Err(TaskError::NoData),
            (Some(model), 0) => Ok((model, self)),
        }
    }

    /// Whether there are neither files of data nor data in memory.
    pub(super) fn has_no_data(&self) -> bool {
        self.memory.is_none() && self.files.as_ref().is_none_or(|(_, inputs)| inputs.is_empty())
    }

    /// The name of the first file of data, for the error of a missing model.
    pub(super) fn first_name(&self) -> String {
        let first = self.files.as_ref().and_then(|(_, inputs)| inputs.first());
        let name = first.map(|input| input.name.clone());
        name.or(self.memory.map(|(name, _)| name.to_owned())).unwrap_or("the input".to_owned())
    }

    /// Reads the data by the rules of the models.
    pub(super) fn load(
        self,
        rules: Option<ReadRules>,
        task: &mut RunningTask<'_>,
    ) -> Result<LoadedData, TaskError> {
        match (self.files, self.memory) {
            (Some((files, inputs)), _) => files.load_opened(inputs, rules, task),
            (None, Some((name, data))) => Ok(in_memory(name, data, rules, task)),
            (None, None) => Err(TaskError::NoData),
        }
    }
}

/// Data in memory with the category numbers of the model or data that the rules are of; texts that
/// these do not have become missing values, with a warning.
fn in_memory(
    name: &str,
    data: &Arc<Dataset>,
    rules: Option<ReadRules>,
    task: &mut RunningTask<'_>,
) -> LoadedData {
    let mut data = data.clone();
    let known = rules.and_then(|rules| rules.columns);
    if let Some(known) = known.filter(|known| data.table_columns() != Some(known)) {
        for unseen in data.unseen_categories(&known) {
            task.warn(Warning::UnseenCategories(unseen));
        }
        if data.table_columns().is_some() {
            data = Arc::new(Arc::unwrap_or_clone(data).with_categories(&known));
        }
    }
    let columns = data.table_columns().map(|columns| (**columns).clone());
    LoadedData {
        data,
        format: None,
        files: vec![name.to_owned()],
        columns,
        warnings: Default::default(),
        seconds: 0.0,
    }
}

/// No files.
impl Default for DataSource {
    fn default() -> Self {
        DataSource::Files(DataFiles::default())
    }
}

impl fmt::Debug for DataSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataSource::Files(files) => files.fmt(f),
            DataSource::Memory { name, .. } => f.debug_tuple("Memory").field(name).finish(),
        }
    }
}

impl From<DataFiles> for DataSource {
    fn from(files: DataFiles) -> Self {
        DataSource::Files(files)
    }
}

impl From<Vec<PathBuf>> for DataSource {
    fn from(files: Vec<PathBuf>) -> Self {
        DataSource::Files(DataFiles::new(files))
    }
}

impl From<Dataset> for DataSource {
    fn from(data: Dataset) -> Self {
        DataSource::named(Self::NAME, data)
    }
}

impl From<Arc<Dataset>> for DataSource {
    fn from(data: Arc<Dataset>) -> Self {
        DataSource::named(Self::NAME, data)
    }
}

impl From<&Arc<Dataset>> for DataSource {
    fn from(data: &Arc<Dataset>) -> Self {
        DataSource::named(Self::NAME, data.clone())
    }
}

/// The JSON form of the files; data in memory has none.
impl Serialize for DataSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            DataSource::Files(files) => files.serialize(serializer),
            DataSource::Memory { name, .. } => Err(no_json_form(name)),
        }
    }
}

impl<'de> Deserialize<'de> for DataSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DataFiles::deserialize(deserializer).map(DataSource::Files)
    }
}

/// Reads a value that JSON has as a short form (a text or a list of texts) or as an object.
pub(super) fn short_or_object<'de, T, O, D>(
    deserializer: D,
    expected: &'static str,
    short: impl FnOnce(Vec<String>) -> T,
) -> Result<T, D::Error>
where
    O: Deserialize<'de> + Into<T>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(ShortOrObject {
        expected,
        short,
        object: std::marker::PhantomData::<fn() -> O>,
    })
}

/// Like [`short_or_object`], if the short form is one text.
#[cfg(feature = "search")]
pub(super) fn short_text_or_object<'de, T, O, D>(
    deserializer: D,
    expected: &'static str,
    short: impl FnOnce(String) -> T,
) -> Result<T, D::Error>
where
    O: Deserialize<'de> + Into<T>,
    D: Deserializer<'de>,
{
    // A list of one text is that text.
    let one = |texts: Vec<String>| match <[String; 1]>::try_from(texts) {
        Ok([text]) => Ok(short(text)),
        Err(_) => Err(expected),
    };
    let found = short_or_object::<Result<T, &str>, OkObject<O>, D>(deserializer, expected, one)?;
    found.map_err(|expected| de::Error::custom(format_args!("expected {expected}")))
}

/// An object that can always be read.
#[cfg(feature = "search")]
#[derive(Deserialize)]
#[serde(transparent)]
struct OkObject<O>(O);

#[cfg(feature = "search")]
impl<T, O: Into<T>> From<OkObject<O>> for Result<T, &'static str> {
    fn from(object: OkObject<O>) -> Self {
        Ok(object.0.into())
    }
}

struct ShortOrObject<F, O> {
    expected: &'static str,
    short: F,
    object: std::marker::PhantomData<fn() -> O>,
}

impl<'de, T, F, O> de::Visitor<'de> for ShortOrObject<F, O>
where
    F: FnOnce(Vec<String>) -> T,
    O: Deserialize<'de> + Into<T>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        Ok((self.short)(vec![text.to_owned()]))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        Deserialize::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(self.short)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        O::deserialize(de::value::MapAccessDeserializer::new(map)).map(Into::into)
    }
}
