//! Text: an index in memory or in a folder, search, features and runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::search::{
    Analysis, BuildOptions, Document, DocumentFormat, FirstStage, Index, Query, Schema, Value,
};
use rankwright::spec::SpecError;
use rankwright::tasks::{
    BuildIndexRequest, CandidateOptions, CollectionSource, Context, DeleteDocumentsRequest,
    ExtractFeaturesRequest, FeatureSource, IndexSource, QueriesSource, RunQueriesRequest,
    SearchIndexRequest, TaskError, build_index, delete_from_index, extract_features, run_queries,
    search_index,
};

use crate::dataset::PyDataset;
use crate::errors::{json, of_kind};
use crate::fields::Fields;
use crate::inputs::data_set;
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

/// Queries: a file, or ids with texts.
#[derive(FromPyObject)]
enum GivenQueries {
    File(PathBuf),
    Texts(Vec<(String, String)>),
}

impl From<GivenQueries> for QueriesSource {
    fn from(given: GivenQueries) -> Self {
        match given {
            GivenQueries::File(path) => path.into(),
            GivenQueries::Texts(texts) => {
                let query = |(id, text): (String, String)| Query::new(id, text);
                texts.into_iter().map(query).collect::<Vec<_>>().into()
            }
        }
    }
}

/// The candidates of the fields.
fn candidates(fields: &Fields<'_>) -> PyResult<CandidateOptions> {
    let mut options = CandidateOptions::new();
    options.first_stage = fields.parsed("first_stage", FirstStage::parse)?;
    options.filter = fields.optional("filter")?;
    options.count = fields.optional("candidates")?;
    if let Some(syntax) = fields.choice("syntax")? {
        options.syntax = syntax;
    }
    Ok(options)
}

/// An index of documents.
#[pyclass(name = "Index", module = "rankwright._native", frozen)]
pub(crate) struct PyIndex {
    /// `None` while a thread changes the index.
    index: Mutex<Option<Arc<Index>>>,
}

/// A row of a run: query, document and score.
type RunRow = (String, String, f64);

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

    fn source(&self, py: Python<'_>) -> PyResult<IndexSource> {
        Ok(IndexSource::from(self.index(py)?))
    }
}

/// The exception of an index that is used by another thread.
fn in_use(py: Python<'_>) -> PyErr {
    of_kind(py, "index-in-use", "another thread uses the index, which is changed", None)
}

/// The format of documents of this name.
fn document_format(name: &str) -> Result<DocumentFormat, SpecError> {
    let names = DocumentFormat::ALL.map(DocumentFormat::name);
    let unknown = || SpecError::unknown("format of documents", name, &names);
    DocumentFormat::from_name(name).ok_or_else(unknown)
}

#[pymethods]
impl PyIndex {
    /// Indexes documents of files or in memory, into a folder if one is given; returns the index,
    /// and the result as JSON.
    #[staticmethod]
    fn build(py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<(PyIndex, String)> {
        let fields = Fields::new(fields);
        let documents = fields.document_source("documents")?;
        let documents = documents.unwrap_or_else(|| CollectionSource::in_memory(Vec::new()));
        let mut options = BuildOptions::new()
            .analysis(fields.parsed("analysis", Analysis::parse)?)
            .schema(fields.parsed("schema", Schema::parse)?.unwrap_or_default());
        if let Some(existing) = fields.choice("existing")? {
            options.existing = existing;
        }
        let mut request = BuildIndexRequest::of(documents).options(options);
        request.out = fields.optional("out")?;
        request.format = fields.parsed("format", document_format)?;
        request.skip_broken = fields.or("skip_broken", false)?;
        let mut result = interruptible(py, 0, |cancel| {
            build_index(&request, &Context::default().cancel(cancel))
        })?;
        let index = match result.built.take() {
            Some(index) => index,
            None => in_pool(py, 0, || Index::open(&result.index))?,
        };
        Ok((PyIndex::of(index), json(py, &result)?))
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
        Ok(self.locked().as_ref().ok_or_else(|| in_use(py))?.documents())
    }

    /// Answers a query; the result is JSON.
    fn search(&self, py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<String> {
        let fields = Fields::new(fields);
        let text: String = fields.required("query")?;
        let mut request =
            SearchIndexRequest::new(self.source(py)?, text).candidates(candidates(&fields)?);
        let values: BTreeMap<String, FieldValue> = fields.or("values", BTreeMap::new())?;
        for (name, value) in values {
            request = request.query_field(&name, value);
        }
        request.model = fields.model_source("model")?;
        request.top = fields.or("top", request.top)?;
        request.features = fields.or("features", false)?;
        request.facets = fields.or("facets", Vec::new())?;
        request.facet_values = fields.or("facet_values", request.facet_values)?;
        let result = interruptible(py, 0, |cancel| {
            search_index(&request, &Context::default().cancel(cancel))
        })?;
        json(py, &result)
    }

    /// Ranks the documents of many queries; returns rows of query, document and score, and the
    /// result as JSON.
    fn run(&self, py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<(Vec<RunRow>, String)> {
        let fields = Fields::new(fields);
        let queries: GivenQueries = fields.required("queries")?;
        let mut request =
            RunQueriesRequest::new(self.source(py)?, queries).candidates(candidates(&fields)?);
        request.model = fields.model_source("model")?;
        request.top = fields.or("top", request.top)?;
        request.tag = fields.or("tag", request.tag.clone())?;
        request.out = fields.optional("out")?;
        let result = interruptible(py, 0, |cancel| {
            run_queries(&request, &Context::default().cancel(cancel))
        })?;
        let mut rows = Vec::new();
        for (query, documents) in result.result.run.lists().iter() {
            for document in documents {
                let id = String::from_utf8_lossy(document.id).into_owned();
                rows.push((query.to_owned(), id, document.value));
            }
        }
        Ok((rows, json(py, &result)?))
    }

    /// Computes the features of the candidates of queries, with labels from judgements; returns the
    /// data, and the result as JSON.
    fn features(&self, py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<(PyDataset, String)> {
        let fields = Fields::new(fields);
        let queries: GivenQueries = fields.required("queries")?;
        let mut request =
            ExtractFeaturesRequest::new(self.source(py)?, queries).candidates(candidates(&fields)?);
        request.qrels = fields.qrels_source("qrels")?;
        if let Some(features) = fields.parsed("features", FeatureSource::parse)? {
            request.features = features;
        }
        request.judged = fields.or("judged", false)?;
        let result = interruptible(py, 0, |cancel| {
            extract_features(&request, &Context::default().cancel(cancel))
        })?;
        let text = json(py, &result)?;
        Ok((data_set(result.result.data), text))
    }
}
