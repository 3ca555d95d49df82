//! Text: an index in memory or in a folder, search, features and runs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use rankwright::data::{Qrels, QueryLists};
use rankwright::model::Model;
use rankwright::search::{
    BuildOptions, Document, Existing, FeatureSet, Filter, FirstStage, Index, Query, Ranker,
    RowOptions, SearchError, SearchRequest, Value, training_data,
};
use rankwright::tasks::{
    BuildIndexRequest, Context, DeleteDocumentsRequest, TaskError, build_index, delete_from_index,
};

use crate::dataset::PyDataset;
use crate::errors::{json, of_kind};
use crate::model::PyModel;
use crate::run::{in_pool, interruptible};

/// A value of a document's field.
#[derive(FromPyObject)]
pub(crate) enum FieldValue {
    Number(f64),
    Text(String),
    Texts(Vec<String>),
}

impl From<FieldValue> for Value {
    fn from(value: FieldValue) -> Value {
        match value {
            FieldValue::Number(number) => Value::Number(number),
            FieldValue::Text(text) => Value::Text(text),
            FieldValue::Texts(texts) => Value::Texts(texts),
        }
    }
}

/// A document: its id, and names with values.
pub(crate) type GivenDocument = (String, Vec<(String, FieldValue)>);

/// The documents of the library.
pub(crate) fn documents(given: Vec<GivenDocument>) -> Vec<Document> {
    let document = |(id, fields): GivenDocument| {
        let with = |document: Document, (name, value): (String, FieldValue)| {
            document.with(&name, Value::from(value))
        };
        fields.into_iter().fold(Document::new(id), with)
    };
    given.into_iter().map(document).collect()
}

/// An index of documents.
#[pyclass(name = "Index", module = "rankwright._native", frozen)]
pub(crate) struct PyIndex {
    /// `None` while a thread changes the index.
    index: Mutex<Option<Arc<Index>>>,
}

/// Options of candidates: first stage, number of candidates, filter.
type Candidates = (Option<String>, Option<usize>, Option<String>);

impl PyIndex {
    fn of(index: Index) -> Self {
        PyIndex { index: Mutex::new(Some(Arc::new(index))) }
    }

    /// Never held while the interpreter lock is released.
    fn locked(&self) -> MutexGuard<'_, Option<Arc<Index>>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the index, which no other thread may use meanwhile.
    fn change<T: Send, E: Into<TaskError> + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Index) -> Result<T, E> + Send,
    ) -> PyResult<T> {
        let mut held = self.locked().take().ok_or_else(|| in_use(py))?;
        let result = match Arc::get_mut(&mut held) {
            Some(index) => interruptible(py, 0, |_| work(index)),
            None => Err(in_use(py)),
        };
        *self.locked() = Some(held);
        result
    }

    pub(crate) fn index(&self, py: Python<'_>) -> PyResult<Arc<Index>> {
        self.locked().clone().ok_or_else(|| in_use(py))
    }
}

/// The exception of an index that is used by another thread.
fn in_use(py: Python<'_>) -> PyErr {
    of_kind(py, "index-in-use", "another thread uses the index, which is changed", None)
}

/// A ranker with or without a model, and its filter.
fn ranker(
    index: &Arc<Index>,
    model: Option<&Model>,
    (stage, count, filter): &Candidates,
) -> Result<(Ranker, Option<Filter>), TaskError> {
    let mut builder = Ranker::builder(index.clone());
    if let Some(model) = model {
        builder = builder.model(model);
    }
    if let Some(stage) = stage {
        builder = builder.first_stage(FirstStage::parse(stage)?);
    }
    if let Some(count) = count {
        builder = builder.candidates(*count);
    }
    let filter = filter.as_ref().map(|text| Filter::new(index, text)).transpose()?;
    Ok((builder.build()?, filter))
}

#[pymethods]
impl PyIndex {
    /// Indexes documents in memory.
    #[staticmethod]
    fn in_memory(py: Python<'_>, given: Vec<GivenDocument>) -> PyResult<PyIndex> {
        let documents = documents(given);
        Ok(PyIndex::of(interruptible(py, 0, |_| Index::in_memory(documents))?))
    }

    /// Indexes files of documents into a folder; returns the result as JSON.
    #[staticmethod]
    fn build(py: Python<'_>, files: Vec<PathBuf>, out: PathBuf, add: bool) -> PyResult<String> {
        let mut options = BuildOptions::new();
        if add {
            options.existing = Existing::Add;
        }
        let request = BuildIndexRequest::new(files, out).options(options);
        let result = interruptible(py, 0, |cancel| {
            build_index(&request, &Context::default().cancel(cancel))
        })?;
        json(py, &result)
    }

    /// Indexes documents in memory into a folder.
    #[staticmethod]
    fn build_documents(
        py: Python<'_>,
        given: Vec<GivenDocument>,
        out: PathBuf,
    ) -> PyResult<PyIndex> {
        let documents = documents(given);
        let index = interruptible(py, 0, |_| {
            let documents = documents.into_iter().map(Ok::<_, SearchError>);
            let options = BuildOptions::new();
            let progress = &mut |_| ControlFlow::Continue(());
            rankwright::search::build_index(&out, documents, &options, progress)?;
            Index::open(&out)
        })?;
        Ok(PyIndex::of(index))
    }

    /// Opens the index of a folder.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<PyIndex> {
        Ok(PyIndex::of(in_pool(py, 0, || Index::open(&path))?))
    }

    /// Adds documents, or replaces those of the same id.
    fn add(&self, py: Python<'_>, given: Vec<GivenDocument>) -> PyResult<()> {
        let documents = documents(given);
        self.change(py, |index| index.add(documents.into_iter().map(Ok))).map(drop)
    }

    /// Deletes the documents of these ids, and those that pass a filter; returns their number, and
    /// the warnings as JSON.
    #[pyo3(signature = (ids, filter))]
    fn delete(
        &self,
        py: Python<'_>,
        ids: Vec<String>,
        filter: Option<String>,
    ) -> PyResult<(usize, String)> {
        let result = self.change(py, |index| {
            let mut request = DeleteDocumentsRequest::new(index.path().unwrap_or(Path::new("")));
            request.ids = ids;
            request.filter = filter;
            delete_from_index(index, &request, &Context::default())
        })?;
        Ok((result.deleted, json(py, &result.warnings)?))
    }

    /// Number of documents.
    #[getter]
    fn documents(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.index(py)?.documents())
    }

    /// Answers a query; the result is JSON.
    #[pyo3(signature = (query, top, model, candidates, features, facets))]
    #[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
    fn search(
        &self,
        py: Python<'_>,
        query: &str,
        top: usize,
        model: Option<&PyModel>,
        candidates: Candidates,
        features: bool,
        facets: Vec<String>,
    ) -> PyResult<String> {
        let (index, model) = (self.index(py)?, model.map(|model| model.model.clone()));
        let result = interruptible(py, 0, |_| {
            let (ranker, filter) = ranker(&index, model.as_deref(), &candidates)?;
            let request = SearchRequest::new(query).top(top).filter(filter.as_ref());
            let request = facets.into_iter().fold(request.features(features), SearchRequest::facet);
            Ok::<_, TaskError>(ranker.search(&request)?)
        })?;
        json(py, &result)
    }

    /// Ranks the documents of many queries; returns rows of query, document and score.
    #[pyo3(signature = (queries, top, model, candidates))]
    fn run(
        &self,
        py: Python<'_>,
        queries: Vec<(String, String)>,
        top: usize,
        model: Option<&PyModel>,
        candidates: Candidates,
    ) -> PyResult<Vec<(String, String, f64)>> {
        let (index, model) = (self.index(py)?, model.map(|model| model.model.clone()));
        let queries: Vec<Query> =
            queries.into_iter().map(|(id, text)| Query::new(id, text)).collect();
        let result = interruptible(py, 0, |_| {
            let (ranker, filter) = ranker(&index, model.as_deref(), &candidates)?;
            Ok::<_, TaskError>(ranker.run(&queries, filter.as_ref(), top)?)
        })?;
        let lists = result.run.lists();
        let rows = lists
            .iter()
            .flat_map(|(query, documents)| documents.map(move |document| (query, document)));
        Ok(rows
            .map(|(query, document)| {
                (
                    query.to_owned(),
                    String::from_utf8_lossy(document.id).into_owned(),
                    document.value,
                )
            })
            .collect())
    }

    /// Computes the features of the candidates of queries, with labels from judgements.
    #[pyo3(signature = (queries, qrels, features, judged, candidates))]
    fn features(
        &self,
        py: Python<'_>,
        queries: Vec<(String, String)>,
        qrels: Option<Vec<(String, String, f64)>>,
        features: &str,
        judged: bool,
        candidates: Candidates,
    ) -> PyResult<PyDataset> {
        let index = self.index(py)?;
        let queries: Vec<Query> =
            queries.into_iter().map(|(id, text)| Query::new(id, text)).collect();
        let rows = interruptible(py, 0, |_| {
            let set = FeatureSet::parse(features)?;
            let qrels = match &qrels {
                Some(rows) => {
                    let rows = rows.iter().map(|(query, id, grade)| (&**query, &**id, *grade));
                    Some(Qrels::from_lists(QueryLists::from_rows("the judgements", rows)?))
                }
                None => None,
            };
            let (stage, count, filter) = &candidates;
            let stage = stage.as_ref().map(|text| FirstStage::parse(text)).transpose()?;
            let filter = filter.as_ref().map(|text| Filter::new(&index, text)).transpose()?;
            let options = RowOptions::new()
                .first_stage(stage)
                .candidates(*count)
                .judged(judged)
                .filter(filter.as_ref());
            Ok::<_, TaskError>(training_data(
                index.clone(),
                queries,
                qrels.as_ref(),
                &set,
                &options,
            )?)
        })?;
        Ok(PyDataset { data: Arc::new(rows.data) })
    }
}
