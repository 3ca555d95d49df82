//! Inputs of tasks as the Python package passes them: paths, or values in memory.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rankwright::clicks::interleave::read_lists;
use rankwright::clicks::judge::{read_answers, read_comparisons, read_questions};
use rankwright::clicks::log::{LogRows, LogValues};
use rankwright::data::bytes::Input;
use rankwright::data::{DataError, Dataset, Qrels, QueryLists, Run};
use rankwright::model::Model;
use rankwright::search::Query;
use rankwright::tasks::{
    AnswersSource, Context, DataFiles, DataSource, DocumentsSource, InMemory, JudgementsSource,
    ListsSource, ModelSource, QrelsSource, QueriesSource, QueryFile, QuestionsSource, RunSource,
    ShownLists, Source, read_run,
};

use crate::arrow_frames::ArrowFrame;
use crate::dataset::PyDataset;
use crate::errors::OrRaise;
use crate::model::PyModel;
use crate::run::in_pool;
use crate::search::{GivenDocument, PyIndex, documents};

/// A file, or the text that a file would have.
#[derive(FromPyObject)]
pub(crate) enum FileOrText {
    Text(PyBackedBytes),
    File(PathBuf),
}

impl FileOrText {
    /// The source of a file, or of the values that `read` reads from the text.
    fn source<T>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Input) -> Result<T, DataError>,
    ) -> PyResult<Source<T>>
    where
        T: InMemory,
    {
        match self {
            FileOrText::File(path) => Ok(Source::File(path.clone())),
            FileOrText::Text(text) => {
                let found = read(&Input::raw(T::NAME, text.to_vec())).or_raise(py)?;
                Ok(Source::from(found))
            }
        }
    }

    pub(crate) fn lists(&self, py: Python<'_>) -> PyResult<ListsSource> {
        self.source(py, read_lists)
    }

    pub(crate) fn judgements(&self, py: Python<'_>) -> PyResult<JudgementsSource> {
        self.source(py, read_comparisons)
    }

    pub(crate) fn questions(&self, py: Python<'_>) -> PyResult<QuestionsSource> {
        self.source(py, read_questions)
    }

    pub(crate) fn answers(&self, py: Python<'_>) -> PyResult<AnswersSource> {
        self.source(py, read_answers)
    }
}

/// The values of a log in memory: the text of a file, or a frame.
#[derive(FromPyObject)]
pub(crate) enum GivenLog<'py> {
    Text(PyBackedBytes),
    Frame(Bound<'py, PyAny>),
}

impl GivenLog<'_> {
    pub(crate) fn values(&self) -> PyResult<LogValues> {
        match self {
            GivenLog::Text(text) => Ok(LogValues::Text(Arc::from(&text[..]))),
            GivenLog::Frame(frame) => {
                let (schema, batches) = ArrowFrame::read(frame)?.into_parts();
                Ok(LogValues::Rows(LogRows::new(schema, batches)))
            }
        }
    }
}

/// A run or judgements: a file, or rows of query, document and number.
#[derive(FromPyObject)]
pub(crate) enum GivenLists {
    File(PathBuf),
    Rows(Vec<(String, String, f64)>),
}

/// The lists of rows.
fn lists_of(name: &str, rows: &[(String, String, f64)]) -> Result<QueryLists, DataError> {
    let rows = rows.iter().map(|(query, document, number)| (&**query, &**document, *number));
    QueryLists::from_rows(name, rows)
}

impl GivenLists {
    /// The judgements.
    pub(crate) fn qrels(&self, py: Python<'_>) -> PyResult<QrelsSource> {
        match self {
            GivenLists::File(path) => Ok(QrelsSource::from(path)),
            GivenLists::Rows(rows) => {
                Ok(Qrels::from_lists(lists_of(Qrels::NAME, rows).or_raise(py)?).into())
            }
        }
    }

    /// The run; with a name if the caller gave one.
    pub(crate) fn run(&self, py: Python<'_>, name: Option<&str>) -> PyResult<RunSource> {
        match (self, name) {
            (GivenLists::File(path), None) => Ok(RunSource::from(path)),
            (GivenLists::File(path), Some(name)) => {
                let run = in_pool(py, 0, || read_run(path, &Context::default()))?;
                Ok(RunSource::named(name, run))
            }
            (GivenLists::Rows(rows), name) => {
                let name = name.unwrap_or(Run::NAME);
                let run = Run::from_lists(lists_of(name, rows).or_raise(py)?);
                Ok(RunSource::named(name, run))
            }
        }
    }
}

/// What simulated users see: a file of any kind, interleaved lists as text, or the rows of a run.
#[derive(FromPyObject)]
pub(crate) enum GivenShown {
    Text(PyBackedBytes),
    Lists(GivenLists),
}

impl GivenShown {
    pub(crate) fn source(self, py: Python<'_>) -> PyResult<ShownLists> {
        match self {
            GivenShown::Text(text) => Ok(ShownLists::Lists(FileOrText::Text(text).lists(py)?)),
            GivenShown::Lists(GivenLists::File(path)) => Ok(ShownLists::File(path)),
            GivenShown::Lists(lists) => Ok(ShownLists::Run(lists.run(py, None)?)),
        }
    }
}

/// Feature data: a data set in memory, or files.
#[derive(FromPyObject)]
pub(crate) enum GivenData<'py> {
    Memory(PyRef<'py, PyDataset>),
    Files(Vec<PathBuf>),
}

impl GivenData<'_> {
    pub(crate) fn source(&self) -> DataSource {
        match self {
            GivenData::Memory(data) => DataSource::from(Arc::<Dataset>::clone(&data.data)),
            GivenData::Files(files) => DataSource::from(DataFiles::new(files)),
        }
    }
}

/// A model in memory, or its file.
#[derive(FromPyObject)]
pub(crate) enum GivenModel<'py> {
    Memory(PyRef<'py, PyModel>),
    File(PathBuf),
}

impl GivenModel<'_> {
    /// The model; with a name if the caller gave one.
    pub(crate) fn source(&self, py: Python<'_>, name: Option<&str>) -> PyResult<ModelSource> {
        match (self, name) {
            (GivenModel::Memory(model), None) => Ok(ModelSource::from(&model.model)),
            (GivenModel::Memory(model), Some(name)) => {
                Ok(ModelSource::named(name, Arc::<Model>::clone(&model.model)))
            }
            (GivenModel::File(path), None) => Ok(ModelSource::from(path)),
            (GivenModel::File(path), Some(name)) => {
                let model = in_pool(py, 0, || rankwright::tasks::load_model(path))?;
                Ok(ModelSource::named(name, model))
            }
        }
    }
}

/// Queries: a file, or ids with texts.
#[derive(FromPyObject)]
pub(crate) enum GivenQueries {
    File(PathBuf),
    Texts(Vec<(String, String)>),
}

impl GivenQueries {
    pub(crate) fn source(self) -> QueriesSource {
        match self {
            GivenQueries::File(path) => QueryFile::new(path).into(),
            GivenQueries::Texts(texts) => {
                let queries = texts.into_iter().map(|(id, text)| Query::new(id, text));
                queries.collect::<Vec<_>>().into()
            }
        }
    }
}

/// Documents: an index, the folder of one, files, or documents in memory.
#[derive(FromPyObject)]
pub(crate) enum GivenDocuments<'py> {
    Index(PyRef<'py, PyIndex>),
    Folder(PathBuf),
    Files(Vec<PathBuf>),
    InMemory(Vec<GivenDocument>),
}

impl GivenDocuments<'_> {
    pub(crate) fn source(self, py: Python<'_>) -> PyResult<DocumentsSource> {
        Ok(match self {
            GivenDocuments::Index(index) => DocumentsSource::Index(index.index(py)?.into()),
            GivenDocuments::Folder(path) => DocumentsSource::Index(path.into()),
            GivenDocuments::Files(files) => DocumentsSource::Files(files),
            GivenDocuments::InMemory(given) => documents(given).into(),
        })
    }
}
