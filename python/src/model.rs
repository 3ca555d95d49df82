//! Models: files, scores, importance and explanations.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use rankwright::model::{
    ExplainError, ExplainOptions, Explainer, Model, ModelBody, ModelFormat, ScoreBuffers, Scorer,
};
use rankwright::report::ReportError;
use rankwright::tasks::{Context, ScoreRequest, TaskError, score};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::arrays::{NumberArray, score_bytes};
use crate::dataset::PyDataset;
use crate::errors::{OrRaise, json};
use crate::fields::Fields;
use crate::run::{in_pool, interruptible};

/// Arrays of at most this many values are scored at once, without the cost of other threads.
const SMALL: usize = 1 << 14;

/// A model that scores documents.
#[pyclass(name = "Model", module = "rankwright._native", frozen)]
pub(crate) struct PyModel {
    pub(crate) model: Arc<Model>,
    scorer: OnceLock<Scorer>,
}

/// The explanation of one query's list, as the package turns it into arrays.
#[derive(Serialize)]
struct ExplainedList {
    query: String,
    /// The rows of the documents in the input.
    rows: Vec<usize>,
    base: f64,
    scores: Vec<f64>,
    names: Vec<String>,
    values: Vec<Vec<Option<f32>>>,
    contributions: Vec<Vec<f64>>,
}

impl PyModel {
    /// A model of the library.
    pub(crate) fn of(model: Model) -> Self {
        PyModel { model: Arc::new(model), scorer: OnceLock::new() }
    }
}

#[pymethods]
impl PyModel {
    /// Reads a model file of any known format.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
        Ok(PyModel::of(in_pool(py, 0, || Model::load(&path))?))
    }

    /// The model of the bytes of a file, whose format is detected.
    #[staticmethod]
    #[pyo3(signature = (bytes, format))]
    fn from_bytes(py: Python<'_>, bytes: &[u8], format: Option<&str>) -> PyResult<PyModel> {
        let format = format.map(ModelFormat::find).transpose().or_raise(py)?;
        let model = in_pool(py, 0, || match format {
            Some(format) => Model::from_bytes_as(bytes, format),
            None => Model::from_bytes(bytes),
        })?;
        Ok(PyModel::of(model))
    }

    /// The bytes of the model's file, in our own format or in another.
    #[pyo3(signature = (format))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        format: Option<&str>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let format = format.map(ModelFormat::find).transpose().or_raise(py)?;
        let model = &self.model;
        let bytes = in_pool(py, 0, || match format {
            Some(format) => model.to_bytes_as(format),
            None => Ok(model.to_bytes()),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the model to a file, atomically.
    #[pyo3(signature = (path, format))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        let format = format.map(ModelFormat::find).transpose().or_raise(py)?;
        let model = &self.model;
        in_pool(py, 0, || match format {
            Some(format) => model.save_as(&path, format),
            None => model.save(&path),
        })
    }

    /// The SHA-256 of the model's bytes in our own format.
    fn sha256(&self) -> String {
        let digest = Sha256::digest(self.model.to_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The names of the features.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.model.header().features.iter().map(|name| name.into_owned()).collect()
    }

    /// The number of the first feature of a model whose features are numbered; `None` for names.
    #[getter]
    fn first_feature(&self) -> Option<u32> {
        match &self.model.header().features {
            rankwright::data::FeatureNames::Ids { first, .. } => Some(*first),
            rankwright::data::FeatureNames::Named(_) => None,
        }
    }

    /// Number of features.
    #[getter]
    fn columns(&self) -> usize {
        self.model.header().features.len()
    }

    /// The spec of the learner that trained the model.
    #[getter]
    fn learner(&self) -> String {
        self.model.header().learner.clone()
    }

    /// The value of features that data leaves out: `zero` or `missing`.
    #[getter]
    fn absent(&self) -> &'static str {
        self.model.header().absent.name()
    }

    /// Whether a score depends on the other documents of its query.
    #[getter]
    fn is_listwise(&self) -> bool {
        self.model.is_listwise()
    }

    /// Whether the model has texts of categories.
    #[getter]
    fn has_categories(&self) -> bool {
        let columns = self.model.header().table_columns.as_ref();
        columns.is_some_and(|columns| columns.all_categories().next().is_some())
    }

    /// The score of each row of feature data, or the prediction of a kind, in the order of the input,
    /// as bytes of 64-bit floats; and the warnings as JSON.
    fn score<'py>(
        &self,
        py: Python<'py>,
        fields: Bound<'py, PyDict>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyByteArray>, String)> {
        let fields = Fields::new(fields);
        let mut request = ScoreRequest::new(&self.model, fields.required_data_source("data")?)
            .matching(fields.matching()?);
        request.predict = fields.choice("predict")?;
        request.rel = fields.optional("rel")?;
        let result = interruptible(py, threads, |cancel| {
            score(&request, &Context::default().cancel(cancel))
        })?;
        let values = result.predictions.map_or(result.scores, |(_, values)| values);
        Ok((score_bytes(py, &values)?, json(py, &result.warnings)?))
    }

    /// The score of each row of a small array with a column for each feature, as one query; `None`
    /// if the array is too large for this way.
    fn score_small<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyByteArray>>> {
        let array = NumberArray::get(values)?;
        let (rows, columns) = array.shape(py)?;
        if rows * columns > SMALL || columns != self.model.header().features.len() {
            return Ok(None);
        }
        let matrix = array.small_matrix(rows, columns).or_raise(py)?;
        let scorer = self.scorer.get_or_init(|| self.model.scorer());
        let mut scores = vec![0.0; rows];
        let mut buffers = ScoreBuffers::default();
        scorer.score_query(&matrix, &mut scores, &mut buffers).or_raise(py)?;
        score_bytes(py, &scores).map(Some)
    }

    /// Number, gain and splits of each feature that has an importance, the largest gain first.
    fn importance(&self) -> Vec<(usize, f64, u64)> {
        let all = self.model.importance().into_iter();
        all.map(|found| (found.feature, found.gain, found.splits)).collect()
    }

    /// Whether the features of a model of this kind have an importance or weights.
    #[getter]
    fn has_importance(&self) -> bool {
        match self.model.body() {
            ModelBody::Trees(_) | ModelBody::Linear(_) => true,
            ModelBody::Net(net) => net.linear_weights().is_some(),
            _ => false,
        }
    }

    /// The weights of a linear model; `None` for others.
    fn weights(&self) -> Option<Vec<f64>> {
        self.model.weights()
    }

    /// Explains the lists of some queries, given by their numbers, as JSON.
    #[pyo3(signature = (data, queries, background, seed, permutations, threads))]
    #[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
    fn explain(
        &self,
        py: Python<'_>,
        data: &PyDataset,
        queries: Vec<usize>,
        background: Option<&PyDataset>,
        seed: Option<u64>,
        permutations: Option<usize>,
        threads: usize,
    ) -> PyResult<String> {
        let mut options = ExplainOptions::new();
        if let Some(seed) = seed {
            options = options.seed(seed);
        }
        if let Some(permutations) = permutations {
            options = options.permutations(permutations);
        }
        let (model, data) = (&self.model, &data.data);
        let background = background.map(|background| background.data.clone());
        let lists = in_pool(py, threads, || {
            let explain = || {
                let explainer = match &background {
                    Some(background) => Explainer::with_background(model, background, options)?,
                    None => Explainer::new(model, options)?,
                };
                let names = explainer.names();
                Ok::<_, ExplainError>((explainer.explain(data, &queries)?, names))
            };
            let (found, names) = explain().map_err(ReportError::from)?;
            let list = |list: &rankwright::model::Explanation| {
                let documents = 0..list.documents();
                let finite = |value: &f32| Some(*value).filter(|value| value.is_finite());
                ExplainedList {
                    query: data.query(list.query).id.to_owned(),
                    rows: list.rows.clone().map(|row| data.source_row(row)).collect(),
                    base: list.base,
                    scores: list.scores.clone(),
                    names: names.clone(),
                    values: documents
                        .clone()
                        .map(|document| list.values(document).iter().map(finite).collect())
                        .collect(),
                    contributions: documents
                        .map(|document| list.contributions(document).to_vec())
                        .collect(),
                }
            };
            Ok::<_, TaskError>(found.iter().map(list).collect::<Vec<_>>())
        })?;
        json(py, &lists)
    }

    /// The same model with other names of its features, by position.
    fn renamed(&self, py: Python<'_>, names: Vec<String>) -> PyResult<PyModel> {
        let names = rankwright::data::FeatureNames::from_names(names);
        Ok(PyModel::of(Model::clone(&self.model).renamed_by_position(&names).or_raise(py)?))
    }
}

/// The names of the formats of models that can be written.
#[pyfunction]
pub(crate) fn model_formats() -> Vec<&'static str> {
    ModelFormat::all().iter().map(|format| format.name).collect()
}
