//! The fields of a request, as the Python package passes them: a dictionary in which `None` is a
//! field that is not given.

use std::path::PathBuf;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::clicks::log::{LogColumns, LogFormat, LogOptions};
use rankwright::spec::{NamedChoice, ParamGroup, ParamValue, RangeDef, Spec, SpecError, read_spec};
use rankwright::tasks::{ClickFiles, DataSource, LogSource, RunSource, TaskError};

use crate::errors::OrRaise;
use crate::sources::{GivenData, GivenLists, GivenLog};

/// The fields of a request.
pub(crate) struct Fields<'py> {
    dict: Bound<'py, PyDict>,
}

impl<'py> Fields<'py> {
    /// The fields of a dictionary.
    pub(crate) fn new(dict: Bound<'py, PyDict>) -> Self {
        Fields { dict }
    }

    /// The interpreter.
    pub(crate) fn py(&self) -> Python<'py> {
        self.dict.py()
    }

    /// A field that may be left out.
    pub(crate) fn optional<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        match self.dict.get_item(name)? {
            Some(value) if !value.is_none() => Ok(Some(value.extract().map_err(Into::into)?)),
            _ => Ok(None),
        }
    }

    /// A field that every request has.
    pub(crate) fn required<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<T> {
        self.optional(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// A field with a text that `parse` reads.
    pub(crate) fn parsed<T, E: Into<TaskError>>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> PyResult<Option<T>> {
        let text: Option<String> = self.optional(name)?;
        text.map(|text| parse(&text)).transpose().or_raise(self.py())
    }

    /// A field with the name of a choice.
    pub(crate) fn choice<T: NamedChoice>(&self, name: &'static str) -> PyResult<Option<T>> {
        self.parsed(name, |text| choice_of(name, text))
    }

    /// A field with names of choices; empty if it is not given.
    pub(crate) fn choices<T: NamedChoice>(&self, name: &'static str) -> PyResult<Vec<T>> {
        let texts: Vec<String> = self.optional(name)?.unwrap_or_default();
        let found: Result<_, _> = texts.iter().map(|text| choice_of(name, text)).collect();
        found.or_raise(self.py())
    }

    /// Options by the spec that the field has, such as `bias(min_shown=5)`; the default options if
    /// it is not given.
    pub(crate) fn options<G: ParamGroup + Default>(&self, name: &str) -> PyResult<G> {
        let read = |text: &str| Spec::parse(text).and_then(|spec| read_spec(&spec));
        Ok(self.parsed(name, read)?.unwrap_or_default())
    }

    /// A click log: its files or its values in memory, and the options of reading.
    pub(crate) fn log(&self, name: &str) -> PyResult<LogSource> {
        let log = Fields::new(self.required(name)?);
        let options = LogOptions::default()
            .format(log.choice::<LogFormat>("format")?)
            .columns(log.parsed("columns", LogColumns::parse)?.unwrap_or_default())
            .events(log.optional::<Vec<String>>("events")?.unwrap_or_default())
            .session_gap(log.parsed("session_gap", |text| {
                let range = RangeDef::default();
                ParamValue::read(text, &range).map_err(|error| error.at("log", "session_gap", text))
            })?)
            .drop(log.choices("drop")?)
            .bots(log.options("bots")?);
        let source = match log.optional::<GivenLog<'_>>("values")? {
            Some(given) => LogSource::from(given.values()?),
            None => ClickFiles::new(log.required::<Vec<PathBuf>>("files")?).into(),
        };
        Ok(source.with_options(options))
    }

    /// A click log that may be left out.
    pub(crate) fn optional_log(&self, name: &str) -> PyResult<Option<LogSource>> {
        let given = self.optional::<Bound<'py, PyDict>>(name)?;
        given.map(|_| self.log(name)).transpose()
    }

    /// Feature data that may be left out.
    pub(crate) fn data(&self, name: &str) -> PyResult<Option<DataSource>> {
        Ok(self.optional::<GivenData<'_>>(name)?.map(|data| data.source()))
    }

    /// Feature data.
    pub(crate) fn required_data(&self, name: &str) -> PyResult<DataSource> {
        Ok(self.required::<GivenData<'_>>(name)?.source())
    }

    /// Runs, each with a name or without one.
    pub(crate) fn runs(&self, name: &str) -> PyResult<Vec<RunSource>> {
        let runs: Vec<(Option<String>, GivenLists)> = self.required(name)?;
        runs.iter().map(|(name, run)| run.run(self.py(), name.as_deref())).collect()
    }
}

/// The choice of a name; `field` is for errors.
fn choice_of<T: NamedChoice>(field: &'static str, text: &str) -> Result<T, SpecError> {
    let choices = T::choices();
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    let found = choices.iter().find(|choice| choice.name == text);
    found.map(|choice| choice.value).ok_or_else(|| SpecError::unknown(field, text, &names))
}
