//! The inputs of tasks: objects of the package in memory, or paths of files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use rankwright::data::{Qrels, QueryLists, Run};
use rankwright::eval::MetricSpec;
use rankwright::learn::LearnerSpec;
use rankwright::model::{MatchBy, MatchOptions};
use rankwright::tasks::{
    CollectionSource, Context, DataFiles, DataSource, ModelSource, QrelsSource, RunSource,
    ScoreSource, Source, TaskError, read_qrels, read_run,
};

use crate::arrays::vector;
use crate::dataset::PyDataset;
use crate::errors::OrRaise;
use crate::fields::Fields;
use crate::model::PyModel;
use crate::search::{GivenDocument, documents};

/// Feature data: a data set, which may have a name, or files.
#[derive(FromPyObject)]
enum GivenData<'py> {
    Memory(PyRef<'py, PyDataset>),
    File(PathBuf),
    Named(String, PyRef<'py, PyDataset>),
    Files(Vec<PathBuf>),
}

impl From<GivenData<'_>> for DataSource {
    fn from(given: GivenData<'_>) -> Self {
        match given {
            GivenData::Memory(data) => DataSource::from(&data.data),
            GivenData::Named(name, data) => DataSource::named(name, data.data.clone()),
            GivenData::File(path) => DataFiles::new([path]).into(),
            GivenData::Files(paths) => DataFiles::new(paths).into(),
        }
    }
}

/// A model, which may have a name, or its file.
#[derive(FromPyObject)]
enum GivenModel<'py> {
    Memory(PyRef<'py, PyModel>),
    File(PathBuf),
    Named(String, PyRef<'py, PyModel>),
}

impl From<GivenModel<'_>> for ModelSource {
    fn from(given: GivenModel<'_>) -> Self {
        match given {
            GivenModel::Memory(model) => ModelSource::from(&model.model),
            GivenModel::Named(name, model) => Source::named(name, model.model.clone()),
            GivenModel::File(path) => path.into(),
        }
    }
}

/// A row of a list: query, document and number.
type ListRow = (String, String, f64);

/// A run or judgements: a file, or rows of query, document and number, which may have a name.
#[derive(FromPyObject)]
enum GivenLists {
    File(PathBuf),
    Rows(Vec<ListRow>),
    Named(String, Vec<ListRow>),
    NamedFile(String, PathBuf),
}

/// The lists in memory, under their name.
fn lists(name: &str, rows: &[ListRow]) -> Result<QueryLists, TaskError> {
    let rows = rows.iter().map(|(query, document, number)| (&**query, &**document, *number));
    Ok(QueryLists::from_rows(name, rows)?)
}

impl GivenLists {
    fn source<T>(
        self,
        name: &str,
        of_lists: impl FnOnce(QueryLists) -> T,
        read: impl FnOnce(&Path, &Context<'_>) -> Result<T, TaskError>,
    ) -> Result<Source<T>, TaskError> {
        Ok(match self {
            GivenLists::File(path) => path.into(),
            GivenLists::NamedFile(name, path) => {
                Source::named(name, read(&path, &Context::default())?)
            }
            GivenLists::Rows(rows) => Source::named(name, of_lists(lists(name, &rows)?)),
            GivenLists::Named(name, rows) => {
                let found = of_lists(lists(&name, &rows)?);
                Source::named(name, found)
            }
        })
    }
}

/// Documents in memory, or the files that have them.
#[derive(FromPyObject)]
enum GivenDocuments {
    Files(Vec<PathBuf>),
    InMemory(Vec<GivenDocument>),
}

impl From<GivenDocuments> for CollectionSource {
    fn from(given: GivenDocuments) -> Self {
        match given {
            GivenDocuments::Files(files) => CollectionSource::files(files),
            GivenDocuments::InMemory(given) => CollectionSource::in_memory(documents(given)),
        }
    }
}

impl<'py> Fields<'py> {
    /// Feature data, in memory or of files.
    pub(crate) fn data_source(&self, name: &str) -> PyResult<Option<DataSource>> {
        Ok(self.optional::<GivenData<'py>>(name)?.map(Into::into))
    }

    /// Feature data that every request has.
    pub(crate) fn required_data_source(&self, name: &str) -> PyResult<DataSource> {
        Ok(self.required::<GivenData<'py>>(name)?.into())
    }

    /// Several sets of feature data; none if the field is not given.
    pub(crate) fn data_sources(&self, name: &str) -> PyResult<Vec<DataSource>> {
        let given: Option<Vec<GivenData<'py>>> = self.optional(name)?;
        Ok(given.into_iter().flatten().map(Into::into).collect())
    }

    /// A model, in memory or of a file.
    pub(crate) fn model_source(&self, name: &str) -> PyResult<Option<ModelSource>> {
        Ok(self.optional::<GivenModel<'py>>(name)?.map(Into::into))
    }

    /// A model that every request has.
    pub(crate) fn required_model(&self, name: &str) -> PyResult<ModelSource> {
        Ok(self.required::<GivenModel<'py>>(name)?.into())
    }

    /// Several models; none if the field is not given.
    pub(crate) fn model_sources(&self, name: &str) -> PyResult<Vec<ModelSource>> {
        let given: Option<Vec<GivenModel<'py>>> = self.optional(name)?;
        Ok(given.into_iter().flatten().map(Into::into).collect())
    }

    /// Scores of feature data with their name.
    pub(crate) fn score_sources(&self, name: &str) -> PyResult<Vec<ScoreSource>> {
        let given: Option<Vec<(String, Bound<'py, PyAny>)>> = self.optional(name)?;
        let source = |(name, scores): (String, Bound<'py, PyAny>)| {
            Ok(Source::named(name, vector::<f64>(&scores)?))
        };
        given.into_iter().flatten().map(source).collect()
    }

    /// Several runs; none if the field is not given.
    pub(crate) fn run_sources(&self, name: &str) -> PyResult<Vec<RunSource>> {
        let given: Option<Vec<GivenLists>> = self.optional(name)?;
        let source = |given: GivenLists| given.source("the run", Run::from_lists, read_run);
        given.into_iter().flatten().map(source).collect::<Result<_, _>>().or_raise(self.py())
    }

    /// Judgements, in memory or of a file.
    pub(crate) fn qrels_source(&self, name: &str) -> PyResult<Option<QrelsSource>> {
        let given: Option<GivenLists> = self.optional(name)?;
        let source =
            |given: GivenLists| given.source("the judgements", Qrels::from_lists, read_qrels);
        given.map(source).transpose().or_raise(self.py())
    }

    /// Documents, in memory or of files.
    pub(crate) fn document_source(&self, name: &str) -> PyResult<Option<CollectionSource>> {
        Ok(self.optional::<GivenDocuments>(name)?.map(Into::into))
    }

    /// A learner's spec.
    pub(crate) fn learner(&self, name: &str) -> PyResult<LearnerSpec> {
        LearnerSpec::parse(&self.required::<String>(name)?).or_raise(self.py())
    }

    /// Several learners' specs.
    pub(crate) fn learners(&self, name: &str) -> PyResult<Vec<LearnerSpec>> {
        let texts: Vec<String> = self.required(name)?;
        let learners: Result<_, _> = texts.iter().map(|text| LearnerSpec::parse(text)).collect();
        learners.or_raise(self.py())
    }

    /// Metrics; none if the field is not given.
    pub(crate) fn metrics(&self, name: &str) -> PyResult<Vec<MetricSpec>> {
        let texts: Vec<String> = self.optional(name)?.unwrap_or_default();
        let metrics: Result<_, _> = texts.iter().map(|text| MetricSpec::parse(text)).collect();
        metrics.or_raise(self.py())
    }

    /// The rule that matches features: the fields `by_position` and `ignore_extra`.
    pub(crate) fn matching(&self) -> PyResult<MatchOptions> {
        let by = match self.optional("by_position")?.unwrap_or(false) {
            true => MatchBy::Position,
            false => MatchBy::Name,
        };
        let ignore_extra = self.optional("ignore_extra")?.unwrap_or(false);
        Ok(MatchOptions::default().by(by).ignore_extra(ignore_extra))
    }

    /// Values of a type with a builder: the field, or what `default` has.
    pub(crate) fn or<T: pyo3::conversion::FromPyObjectOwned<'py>>(
        &self,
        name: &str,
        default: T,
    ) -> PyResult<T> {
        Ok(self.optional(name)?.unwrap_or(default))
    }
}

/// A data set of the library for Python.
pub(crate) fn data_set(data: rankwright::data::Dataset) -> PyDataset {
    PyDataset { data: Arc::new(data) }
}
