//! The text of an experiment's file, and errors with their position in it.

use std::ops::Range;

use rankwright_spec::nearest;
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::raw::Scalar;
use crate::ExperimentError;

/// The text and its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct TomlDocument<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl<'a> TomlDocument<'a> {
    /// An error at a range of bytes of the text.
    pub(super) fn error(&self, span: Range<usize>, message: impl ToString) -> ExperimentError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        ExperimentError::File {
            file: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            message: message.to_string(),
        }
    }

    /// Deserialises the whole text.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, ExperimentError> {
        toml::from_str(self.text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let message = self.unknown_key(&span, error.message());
            self.error(span, message.unwrap_or_else(|| error.message().to_owned()))
        })
    }

    /// The message about an unknown key, with its table and the nearest known key; `None` if
    /// serde's `message` is about something else. serde gives the key and the known keys as text
    /// only: "unknown field `x`, expected one of `a`, `b`".
    fn unknown_key(&self, span: &Range<usize>, message: &str) -> Option<String> {
        let (key, known) = message.strip_prefix("unknown field `")?.split_once('`')?;
        let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
        let suggestion = nearest(key, &known).map(|near| format!(" (did you mean `{near}`?)"));
        let lines = self.text.get(..span.start)?.lines();
        let header = lines.rev().find(|line| line.starts_with('[') && line.ends_with(']'));
        Some(format!(
            "{} has no key `{key}`{}; the keys are {}",
            header.unwrap_or("the experiment"),
            suggestion.unwrap_or_default(),
            known.join(", ")
        ))
    }

    /// A table that starts at this byte of the text.
    pub(super) fn table(self, start: usize, name: &'static str) -> TomlTable<'a> {
        TomlTable { document: self, start, name }
    }

    /// A value as a spec would write it; numbers keep their notation in the file.
    pub(super) fn scalar(&self, value: &Spanned<Scalar>) -> String {
        let written = self.text.get(value.span()).unwrap_or_default();
        match value.get_ref() {
            Scalar::Text(text) => text.trim().to_owned(),
            Scalar::Boolean(value) => value.to_string(),
            // A notation that specs do not have, such as 0x1f.
            Scalar::Integer(number) if written.starts_with('0') => number.to_string(),
            Scalar::Integer(_) | Scalar::Float => {
                written.replace('_', "").trim_start_matches('+').to_owned()
            }
        }
    }
}

/// A table of the file; errors about absent keys are reported at its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct TomlTable<'a> {
    pub(super) document: TomlDocument<'a>,
    /// The byte of the text where the table starts.
    start: usize,
    /// The header as written, such as `[[learner]]`, or "the experiment".
    name: &'static str,
}

impl TomlTable<'_> {
    /// An error at a key's value, or at the start of the table if the key is absent.
    pub(super) fn error_at<T>(
        &self,
        value: &Option<Spanned<T>>,
        message: impl ToString,
    ) -> ExperimentError {
        let span = value.as_ref().map_or(self.start..self.start, Spanned::span);
        self.document.error(span, message)
    }

    /// The text of a required key; an error if it is absent or empty.
    pub(super) fn required_text<'v>(
        &self,
        key: &str,
        value: &'v Option<Spanned<String>>,
        example: &str,
    ) -> Result<&'v str, ExperimentError> {
        match value.as_ref().map(|text| text.get_ref().as_str()) {
            None => {
                let message = format!("{} needs `{key}`, such as {key} = {example}", self.name);
                Err(self.error_at(value, message))
            }
            Some(text) if text.trim().is_empty() => {
                Err(self.error_at(value, format!("`{key}` is empty")))
            }
            Some(text) => Ok(text),
        }
    }

    /// Checks that a name is one line without tabs, because it is written into tables and
    /// tab-separated files; an error is reported at `key`.
    pub(super) fn one_line(
        &self,
        key: &Option<Spanned<String>>,
        name: String,
    ) -> Result<String, ExperimentError> {
        match name.chars().any(char::is_control) {
            true => Err(self.error_at(key, "a name must be one line without tabs")),
            false => Ok(name),
        }
    }
}
