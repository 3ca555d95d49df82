//! Data sets: from arrays, frames, sparse matrices and files.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use rankwright::data::format::{Format, Role, Roles};
use rankwright::data::{
    Absent, DataError, Dataset, DatasetBuilder, Encoding, FeatureNames, Matrix, Preference,
    TableColumn, TableColumns,
};
use rankwright::tasks::{Context, DataFiles, ReadRules, TaskError, read_data};

use crate::arrays::{
    ColumnView, NumberArray, feature_name, matrix_of_columns, score_bytes, vector,
};
use crate::arrow_frames::{ArrowFrame, FeatureColumn};
use crate::errors::{OrRaise, json, of_kind};
use crate::run::{in_pool, interruptible};

/// Ranking data: features with labels, grouped by query.
#[pyclass(name = "Dataset", module = "rankwright._native", frozen)]
pub(crate) struct PyDataset {
    pub(crate) data: Arc<Dataset>,
}

/// The query ids of rows.
enum QueryIds {
    Whole(Vec<i64>),
    Texts(Vec<String>),
    /// The place of each row's text, and the texts.
    Numbered(Vec<i64>, Vec<String>),
    /// All rows are one query.
    One,
}

/// The parts of a data set besides its features, in the order of the rows.
struct RowParts {
    labels: Option<Vec<f64>>,
    queries: QueryIds,
    doc_ids: Option<Vec<String>>,
    weights: Option<Vec<f32>>,
    query_weights: Option<Vec<f32>>,
    positions: Option<Vec<u32>>,
    pairs: Option<Vec<Preference>>,
    names: Option<Vec<String>>,
    /// The number of the first feature, for features without names.
    first: u32,
    absent: Absent,
    threads: usize,
}

impl RowParts {
    /// The parts of a dictionary that the Python package has made.
    fn get(parts: &Bound<'_, PyDict>) -> PyResult<Self> {
        let given = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            Ok(parts.get_item(name)?.filter(|value| !value.is_none()))
        };
        let queries = match (given("query_numbers")?, given("query_texts")?, given("query_ids")?) {
            (Some(numbers), Some(texts), _) => {
                QueryIds::Numbered(vector(&numbers)?, texts.extract()?)
            }
            (_, _, Some(ids)) => QueryIds::Whole(vector(&ids)?),
            (_, Some(texts), _) => QueryIds::Texts(texts.extract()?),
            _ => QueryIds::One,
        };
        let pairs = match (given("better")?, given("worse")?, given("pair_weights")?) {
            (Some(better), Some(worse), weights) => {
                let weights = weights.map(|weights| vector::<f32>(&weights)).transpose()?;
                Some(preferences(&vector(&better)?, &vector(&worse)?, weights.as_deref()))
            }
            _ => None,
        };
        let absent = given("absent")?.map(|name| name.extract::<String>()).transpose()?;
        Ok(RowParts {
            labels: given("labels")?.map(|values| vector(&values)).transpose()?,
            queries,
            doc_ids: given("doc_ids")?.map(|values| values.extract()).transpose()?,
            weights: given("weights")?.map(|values| vector(&values)).transpose()?,
            query_weights: given("query_weights")?.map(|values| vector(&values)).transpose()?,
            positions: given("positions")?.map(|values| vector(&values)).transpose()?,
            pairs,
            names: given("names")?.map(|values| values.extract()).transpose()?,
            first: given("first")?.map_or(Ok(1), |first| first.extract())?,
            absent: match absent.as_deref() {
                Some("missing") => Absent::Missing,
                _ => Absent::Zero,
            },
            threads: given("threads")?.map_or(Ok(0), |threads| threads.extract())?,
        })
    }

    /// The data set of these parts and features; `encodings` are those of the features, empty for
    /// numbers alone.
    fn build(self, matrix: Matrix, encodings: Vec<Encoding>) -> Result<Dataset, DataError> {
        let (rows, count) = (matrix.rows(), matrix.columns());
        let is_number = |encoding: &Encoding| *encoding == Encoding::Number;
        let columns = match encodings.iter().all(is_number) {
            true => None,
            false => Some(self.table_columns(encodings)?),
        };
        let mut builder = Dataset::builder().matrix(matrix).absent(self.absent);
        builder = match self.names {
            Some(names) => builder.feature_names(names),
            None => builder.features(FeatureNames::Ids { first: self.first, count }),
        };
        builder = match self.queries {
            QueryIds::Whole(ids) => builder.query_ids(ids),
            QueryIds::Texts(ids) => builder.query_ids(ids),
            QueryIds::Numbered(numbers, texts) => numbered(builder, &numbers, &texts)?,
            QueryIds::One => builder.query_ids(vec!["0"; rows]),
        };
        if let Some(labels) = self.labels {
            builder = builder.labels(labels);
        }
        if let Some(ids) = self.doc_ids {
            builder = builder.doc_ids(ids);
        }
        if let Some(weights) = self.weights {
            builder = builder.weights(weights);
        }
        if let Some(weights) = self.query_weights {
            builder = builder.query_weights(weights);
        }
        if let Some(positions) = self.positions {
            builder = builder.positions(positions);
        }
        if let Some(pairs) = self.pairs {
            builder = builder.pairs(pairs);
        }
        if let Some(columns) = columns {
            builder = builder.table_columns(columns);
        }
        builder.build()
    }

    /// The columns of a table with a query, a label and these features, as a file would have them.
    fn table_columns(&self, encodings: Vec<Encoding>) -> Result<TableColumns, DataError> {
        let mut columns = Vec::new();
        for (role, name) in [(Role::Query, "qid"), (Role::Label, "label")] {
            if !self.names.iter().flatten().any(|feature| feature == name) {
                columns.push(TableColumn::new(name, role));
            }
        }
        let names = self.names.as_deref();
        columns.extend(
            encodings.into_iter().enumerate().map(|(number, encoding)| {
                TableColumn::feature(feature_name(names, number), encoding)
            }),
        );
        TableColumns::new(columns)
    }

    /// Builds the data set outside of the interpreter lock.
    fn dataset(
        self,
        py: Python<'_>,
        matrix: Matrix,
        encodings: Vec<Encoding>,
    ) -> PyResult<PyDataset> {
        let threads = self.threads;
        let data = in_pool(py, threads, || self.build(matrix, encodings))?;
        Ok(PyDataset { data: Arc::new(data) })
    }
}

/// Query ids by their places in a list of texts.
fn numbered(
    builder: DatasetBuilder,
    numbers: &[i64],
    texts: &[String],
) -> Result<DatasetBuilder, DataError> {
    let text = |number: &i64| usize::try_from(*number).ok().and_then(|number| texts.get(number));
    let ids: Option<Vec<&String>> = numbers.iter().map(text).collect();
    let ids = ids.ok_or(DataError::Internal { invariant: "every query number has a text" })?;
    Ok(builder.query_ids(ids))
}

/// Preferences between rows. A negative number is a row that does not exist.
fn preferences(better: &[i64], worse: &[i64], weights: Option<&[f32]>) -> Vec<Preference> {
    let row = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    let pairs = better.iter().zip(worse).enumerate();
    let weight = |place: usize| weights.and_then(|weights| weights.get(place)).copied();
    pairs
        .map(|(place, (&better, &worse))| {
            Preference::new(row(better), row(worse)).weight(weight(place).unwrap_or(1.0))
        })
        .collect()
}

#[pymethods]
impl PyDataset {
    /// Features of an array of two dimensions.
    #[staticmethod]
    fn from_array(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        parts: &Bound<'_, PyDict>,
    ) -> PyResult<PyDataset> {
        let parts = RowParts::get(parts)?;
        let array = NumberArray::get(values)?;
        let matrix = array.into_matrix(py, parts.names.as_deref(), parts.threads)?;
        parts.dataset(py, matrix, Vec::new())
    }

    /// Features of columns: arrays of one dimension, or pairs of the places and the texts of
    /// categories.
    #[staticmethod]
    fn from_columns(
        py: Python<'_>,
        columns: Vec<Bound<'_, PyAny>>,
        rows: usize,
        parts: &Bound<'_, PyDict>,
    ) -> PyResult<PyDataset> {
        let parts = RowParts::get(parts)?;
        let mut encodings = Vec::with_capacity(columns.len());
        let mut arrays = Vec::new();
        let mut categories: Vec<Vec<f32>> = Vec::new();
        let mut views = Vec::with_capacity(columns.len());
        for (number, column) in columns.iter().enumerate() {
            let (found, view, encoding) = match column.extract::<(Bound<'_, PyAny>, Vec<String>)>()
            {
                Ok((places, texts)) => {
                    let places: Vec<i64> = vector(&places)?;
                    let places = places.iter().map(|place| usize::try_from(*place).ok());
                    let (encoding, values) = Encoding::categories(&texts, places);
                    let view = ColumnView::of_slice(&values);
                    categories.push(values);
                    (categories.last().map_or(0, Vec::len), view, encoding)
                }
                Err(_) => {
                    let array = NumberArray::get(column)?;
                    let (found, _) = array.shape(py)?;
                    let view = array.columns().into_iter().next();
                    arrays.push(array);
                    let Some(view) = view else { continue };
                    (found, view, Encoding::Number)
                }
            };
            if found != rows {
                let name = feature_name(parts.names.as_deref(), number);
                let message = format!("column '{name}' has {found} rows, and the frame has {rows}");
                return Err(of_kind(py, "length-mismatch", &message, None));
            }
            views.push(view);
            encodings.push(encoding);
        }
        let names = parts.names.as_deref();
        let name = |number: usize| feature_name(names, number);
        let matrix = in_pool(py, parts.threads, || matrix_of_columns(&views, rows, &name))?;
        drop((arrays, categories));
        parts.dataset(py, matrix, encodings)
    }

    /// Features of the named columns of a frame with `__arrow_c_stream__`; `query` names the column
    /// with the query ids, if it is one of the frame.
    #[staticmethod]
    #[pyo3(signature = (frame, columns, query, parts))]
    fn from_arrow(
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        columns: Vec<String>,
        query: Option<&str>,
        parts: &Bound<'_, PyDict>,
    ) -> PyResult<PyDataset> {
        let mut parts = RowParts::get(parts)?;
        let frame = ArrowFrame::read(frame)?;
        if let Some(query) = query {
            parts.queries = QueryIds::Texts(frame.texts(py, frame.column(py, query)?)?);
        }
        let mut places = Vec::with_capacity(columns.len());
        for name in &columns {
            let place = frame.column(py, name)?;
            frame.check_feature(py, place)?;
            places.push(place);
        }
        parts.names = Some(columns);
        let names = parts.names.as_deref();
        let name = |number: usize| feature_name(names, number);
        let rows = frame.rows();
        let (matrix, encodings) = in_pool(py, parts.threads, || {
            let features = frame.features(&places)?;
            let views: Vec<ColumnView> = features.iter().map(FeatureColumn::view).collect();
            let matrix = matrix_of_columns(&views, rows, &name)?;
            let encodings = features.into_iter().map(|feature| feature.encoding).collect();
            Ok::<_, DataError>((matrix, encodings))
        })?;
        parts.dataset(py, matrix, encodings)
    }

    /// Features of a sparse matrix in compressed rows; values that it leaves out are 0 or missing.
    #[staticmethod]
    fn from_csr(
        py: Python<'_>,
        starts: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
        width: usize,
        parts: &Bound<'_, PyDict>,
    ) -> PyResult<PyDataset> {
        let parts = RowParts::get(parts)?;
        let (starts, columns): (Vec<i64>, Vec<i64>) = (vector(starts)?, vector(columns)?);
        let values: Vec<f32> = vector(values)?;
        let absent = parts.absent.value();
        let damaged = || DataError::Internal { invariant: "a sparse matrix is in canonical form" };
        let matrix = in_pool(py, parts.threads, || {
            Matrix::filled(starts.len().saturating_sub(1), width, |first_row, cells| {
                for (row, cells) in (first_row..).zip(cells.chunks_exact_mut(width)) {
                    cells.fill(absent);
                    let entries = starts[row] as usize..starts[row + 1] as usize;
                    let places = columns.get(entries.clone()).ok_or_else(damaged)?;
                    for (&place, &value) in places.iter().zip(&values[entries]) {
                        *cells.get_mut(place as usize).ok_or_else(damaged)? = value;
                    }
                }
                Ok(())
            })
        })?;
        parts.dataset(py, matrix, Vec::new())
    }

    /// Reads files of any format.
    #[staticmethod]
    #[pyo3(signature = (paths, format, absent, roles, needs_labels, columns_of, threads))]
    #[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
    fn read(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        format: Option<&str>,
        absent: Option<&str>,
        roles: Option<&str>,
        needs_labels: bool,
        columns_of: Option<&PyDataset>,
        threads: usize,
    ) -> PyResult<(PyDataset, Vec<String>)> {
        let mut files = DataFiles::new(paths);
        files.format = format.map(Format::from_name).transpose().or_raise(py)?;
        files.roles = roles.map(Roles::parse).transpose().or_raise(py)?;
        let absent = absent.map(|name| match name {
            "missing" => Absent::Missing,
            _ => Absent::Zero,
        });
        let mut rules = ReadRules::default();
        rules.columns = columns_of.and_then(|other| other.data.table_columns().cloned());
        rules.features = columns_of.map(|other| other.data.features().clone());
        match needs_labels {
            true => files.absent = absent,
            // The rule of the model that scores the data.
            false => {
                rules = rules.labels_are_optional();
                rules.absent = absent;
            }
        }
        let loaded = interruptible(py, threads, |cancel| {
            read_data(&files, Some(rules), &Context::default().cancel(cancel))
        })?;
        let warnings = loaded.warnings.iter().map(ToString::to_string).collect();
        Ok((PyDataset { data: loaded.data }, warnings))
    }

    /// Writes the data set to a file of a format; returns warnings about what it cannot hold.
    #[pyo3(signature = (path, format))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<Vec<String>> {
        let format = format.map(Format::from_name).transpose().or_raise(py)?;
        let data = &self.data;
        let warnings = in_pool(py, 0, || match format {
            Some(format) => rankwright::data::format::write(data, &path, format),
            None => data.save(&path),
        })?;
        Ok(warnings.iter().map(ToString::to_string).collect())
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.data.rows()
    }

    /// Number of features.
    #[getter]
    fn columns(&self) -> usize {
        self.data.columns()
    }

    /// Number of queries.
    #[getter]
    fn queries(&self) -> usize {
        self.data.queries()
    }

    /// Whether the data has labels.
    #[getter]
    fn is_labelled(&self) -> bool {
        self.data.is_labelled()
    }

    /// The names of the features.
    #[getter]
    fn feature_names(&self) -> Vec<String> {
        self.data.features().iter().map(|name| name.into_owned()).collect()
    }

    /// Whether the features have names, not only numbers.
    #[getter]
    fn has_names(&self) -> bool {
        matches!(self.data.features(), FeatureNames::Named(_))
    }

    /// The ids of the queries, by first appearance.
    #[getter]
    fn query_ids(&self) -> Vec<String> {
        (0..self.data.queries()).map(|query| self.data.query(query).id.to_owned()).collect()
    }

    /// The number of rows of each query.
    #[getter]
    fn query_sizes(&self) -> Vec<usize> {
        (0..self.data.queries()).map(|query| self.data.query_rows(query).len()).collect()
    }

    /// The number of the query of each row, in the order of the input, as bytes of 64-bit floats.
    fn query_of_rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let numbers = self.data.to_source_order(&self.data.query_of_rows()).or_raise(py)?;
        score_bytes(py, &numbers.into_iter().map(f64::from).collect::<Vec<_>>())
    }

    /// The label of each row, in the order of the input, as bytes of 64-bit floats.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        score_bytes(py, &self.data.to_source_order(self.data.labels()).or_raise(py)?)
    }

    /// The features of each row, in the order of the input, as bytes of 32-bit floats.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let (data, width) = (&self.data, self.data.columns());
        let rows = data.rows_by_source();
        PyByteArray::new_with(py, rows.len() * width * 4, |bytes| {
            for (to, &row) in bytes.chunks_exact_mut((width * 4).max(1)).zip(&rows) {
                for (to, value) in to.chunks_exact_mut(4).zip(data.matrix().row(row as usize)) {
                    to.copy_from_slice(&value.to_ne_bytes());
                }
            }
            Ok(())
        })
    }

    /// Texts of the categories of each feature that has them, as JSON.
    fn categories(&self, py: Python<'_>) -> PyResult<String> {
        let columns = self.data.table_columns();
        let all: std::collections::BTreeMap<&str, &[String]> = columns
            .iter()
            .flat_map(|columns| columns.all_categories())
            .map(|(name, texts)| (name, &**texts))
            .collect();
        json(py, &all)
    }

    /// The data of some queries, by their numbers.
    fn select_queries(&self, py: Python<'_>, queries: Vec<u32>) -> PyResult<PyDataset> {
        let data = &self.data;
        let queries: Vec<usize> = queries.into_iter().map(|query| query as usize).collect();
        let selected = in_pool(py, 0, || data.select_queries(&queries).map_err(TaskError::from))?;
        Ok(PyDataset { data: Arc::new(selected) })
    }
}
