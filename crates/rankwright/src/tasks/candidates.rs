//! Steps that the tasks on an index share: the index, queries, candidates of a first stage, a
//! ranker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::Warnings;
use rankwright_model::Model;
use rankwright_search::{
    Filter, FirstStage, Index, Query, QueryOptions, QuerySyntax, Ranker, read_queries_with,
};

use super::TaskError;
use super::context::RunningTask;

/// A file of queries, and options of reading it.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone, Default)]
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

/// Opens an index.
pub(super) fn open_index(path: &Path, task: &RunningTask<'_>) -> Result<Arc<Index>, TaskError> {
    let step = format!("opening {}", path.display());
    Ok(Arc::new(task.step(&step, || Index::open(path))?.0))
}
