//! Steps that the tasks on an index share: the index, queries, candidates of a first stage, a
//! ranker.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::Warnings;
use rankwright_model::Model;
use rankwright_search::{
    Filter, FirstStage, Index, Query, QueryOptions, QuerySyntax, Ranker, read_queries_with,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::TaskError;
use super::context::RunningTask;
use super::request_json::query;
use super::sources::short_text_or_object;

/// A file of queries, and options of reading it. In JSON it is a path, or an object with these
/// fields.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct QueryFile {
    /// The file: TSV, JSON lines, TREC topics or SMART; `-` is standard input.
    pub path: PathBuf,
    /// Ids of the queries, and the parts of TREC topics that form their texts.
    pub options: QueryOptions,
}

impl QueryFile {
    /// A file with the default options.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        QueryFile { path: path.into(), options: QueryOptions::default() }
    }

    /// Sets the options of reading.
    pub fn options(mut self, options: QueryOptions) -> Self {
        self.options = options;
        self
    }

    /// Reads the queries.
    pub(super) fn load(&self, task: &mut RunningTask<'_>) -> Result<Vec<Query>, TaskError> {
        let step = format!("reading {}", self.path.display());
        let mut warnings = Warnings::default();
        let read = || read_queries_with(&self.path, &self.options, &mut warnings);
        let (queries, _) = task.step(&step, read)?;
        task.warn_of(&warnings);
        Ok(queries)
    }
}

/// The object form of [`QueryFile`] in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryFileObject {
    path: PathBuf,
    #[serde(default)]
    options: QueryOptions,
}

impl From<QueryFileObject> for QueryFile {
    fn from(QueryFileObject { path, options }: QueryFileObject) -> Self {
        QueryFile { path, options }
    }
}

impl<'de> Deserialize<'de> for QueryFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the path of a file of queries, or an object with `path`";
        short_text_or_object::<_, QueryFileObject, _>(deserializer, expected, QueryFile::new)
    }
}

/// Queries: a file with options of reading it, or the queries themselves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum QueriesSource {
    /// A file.
    File(QueryFile),
    /// Queries in memory.
    Memory(Arc<[Query]>),
}

impl QueriesSource {
    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            QueriesSource::File(file) => Some(&file.path),
            QueriesSource::Memory(_) => None,
        }
    }

    /// The queries, read from their file if they have one.
    pub(super) fn load(&self, task: &mut RunningTask<'_>) -> Result<Vec<Query>, TaskError> {
        match self {
            QueriesSource::File(file) => file.load(task),
            QueriesSource::Memory(queries) => {
                check_ids(queries)?;
                Ok(queries.to_vec())
            }
        }
    }
}

/// Rejects an id of two queries, which judgements and runs could not tell apart.
fn check_ids(queries: &[Query]) -> Result<(), TaskError> {
    let mut ids = HashSet::new();
    match queries.iter().find(|query| !ids.insert(query.id.as_str())) {
        Some(query) => Err(TaskError::QueryTwice { id: query.id.clone() }),
        None => Ok(()),
    }
}

/// A file as its path or an object with `path`; queries in memory as a list, whose entries are
/// texts or objects with `text`, `id` and `fields`.
impl Serialize for QueriesSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            QueriesSource::File(file) => file.serialize(serializer),
            QueriesSource::Memory(queries) => serializer.collect_seq(queries.iter().map(JsonQuery)),
        }
    }
}

/// A query without an id has its place in the list as its id, from 1.
impl<'de> Deserialize<'de> for QueriesSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QueriesVisitor)
    }
}

/// A query of a list, as JSON.
struct JsonQuery<'a>(&'a Query);

impl Serialize for JsonQuery<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        query::serialize(self.0, serializer)
    }
}

struct QueriesVisitor;

impl<'de> de::Visitor<'de> for QueriesVisitor {
    type Value = QueriesSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of a file of queries, an object with `path`, or a list of queries")
    }

    fn visit_str<E: de::Error>(self, path: &str) -> Result<QueriesSource, E> {
        Ok(path.into())
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<QueriesSource, A::Error> {
        let object = QueryFileObject::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(QueriesSource::File(object.into()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<QueriesSource, A::Error> {
        let mut queries = Vec::new();
        while let Some(query) = seq.next_element::<query::ListedQuery>()? {
            queries.push(query.at(queries.len() + 1));
        }
        Ok(queries.into())
    }
}

impl From<QueryFile> for QueriesSource {
    fn from(file: QueryFile) -> Self {
        QueriesSource::File(file)
    }
}

impl From<Vec<Query>> for QueriesSource {
    fn from(queries: Vec<Query>) -> Self {
        QueriesSource::Memory(queries.into())
    }
}

/// A file with the default options.
impl From<PathBuf> for QueriesSource {
    fn from(path: PathBuf) -> Self {
        QueriesSource::File(QueryFile::new(path))
    }
}

impl From<&Path> for QueriesSource {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl From<&str> for QueriesSource {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

/// The documents of an index that become candidates of a query.
///
/// ```
/// use rankwright::search::FirstStage;
/// use rankwright::tasks::CandidateOptions;
///
/// let options = CandidateOptions::new()
///     .first_stage(FirstStage::parse("bm25(k1=0.9, b=0.4)")?)
///     .filter("genre:rock")
///     .count(200);
/// assert_eq!(options.count, Some(200));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CandidateOptions {
    /// The first stage; that of the model or feature set if not given, BM25 if there is none.
    pub first_stage: Option<FirstStage>,
    /// Only documents that pass this filter, such as `genre:rock AND year>=1990`.
    pub filter: Option<String>,
    /// Largest number of candidates of a query; that of the model or feature set if not given. If
    /// they record none: 100 where a model re-ranks or features are computed, otherwise 1000.
    pub count: Option<usize>,
    /// The syntax of the queries.
    #[serde(default)]
    pub syntax: QuerySyntax,
}

impl CandidateOptions {
    /// All documents, by the first stage and the number of candidates of the model or feature set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the first stage.
    pub fn first_stage(mut self, stage: FirstStage) -> Self {
        self.first_stage = Some(stage);
        self
    }

    /// Sets a filter of the documents.
    pub fn filter(mut self, filter: impl Into<String>) -> Self {
        self.filter = Some(filter.into());
        self
    }

    /// Sets the largest number of candidates of a query.
    pub fn count(mut self, count: usize) -> Self {
        self.count = Some(count);
        self
    }

    /// Sets the syntax of the queries; plain words by default.
    pub fn syntax(mut self, syntax: QuerySyntax) -> Self {
        self.syntax = syntax;
        self
    }

    /// The filter for an index, where one is given.
    pub(super) fn make_filter(&self, index: &Index) -> Result<Option<Filter>, TaskError> {
        Ok(self.filter.as_deref().map(|text| Filter::new(index, text)).transpose()?)
    }

    /// A ranker of these candidates, with a model that re-ranks them if one is given.
    pub(super) fn make_ranker(
        &self,
        index: Arc<Index>,
        model: Option<&Model>,
        task: &RunningTask<'_>,
    ) -> Result<Ranker, TaskError> {
        let mut builder = Ranker::builder(index).syntax(self.syntax);
        if let Some(model) = model {
            builder = builder.model(model);
        }
        if let Some(stage) = &self.first_stage {
            builder = builder.first_stage(stage.clone());
        }
        if let Some(count) = self.count {
            builder = builder.candidates(count);
        }
        Ok(task.step("preparing the ranker", || builder.build())?.0)
    }
}
