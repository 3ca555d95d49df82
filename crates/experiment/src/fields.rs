//! Strict reading of TOML: every key is known, every value has its type, every error its place.
//!
//! serde would do for the types, but not for the message: an unknown key is answered with the nearest
//! known one and the list of all, at its line and column.

use std::ops::Range;

use rankwright_spec::nearest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::ExperimentError;

/// The text and what it is called, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl Document<'_> {
    /// An error at a place.
    pub(super) fn error(
        &self,
        span: Range<usize>,
        what: impl std::fmt::Display,
    ) -> ExperimentError {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        ExperimentError::request(format!("{}, line {line}, column {column}: {what}", self.name))
    }

    /// The whole text as a table.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'_>>, ExperimentError> {
        DeTable::parse(self.text).map_err(|e| self.error(e.span().unwrap_or_default(), e.message()))
    }
}

/// A table whose keys are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    document: Document<'a>,
    table: &'a DeTable<'a>,
    /// What it is called in messages, such as `[[learner]]`.
    what: &'a str,
    /// Where it stands.
    start: usize,
}

impl<'a> Fields<'a> {
    /// Refuses keys that are not known.
    pub(super) fn new(
        document: Document<'a>,
        table: &'a DeTable<'a>,
        start: usize,
        what: &'a str,
        known: &[&str],
    ) -> Result<Self, ExperimentError> {
        for key in table.keys() {
            let name = key.get_ref();
            if known.contains(&name.as_ref()) {
                continue;
            }
            let slip = nearest(name, known).map(|near| format!(" (did you mean `{near}`?)"));
            let slip = slip.unwrap_or_default();
            let message = format!("{what} has no `{name}`{slip}; known are {}", known.join(", "));
            return Err(document.error(key.span(), message));
        }
        Ok(Self { document, table, what, start })
    }

    /// An error at a key's value, or at the table where the key is not there.
    pub(super) fn wrong(&self, key: &str, what: impl std::fmt::Display) -> ExperimentError {
        let span = self.get(key).map_or(self.start..self.start, Spanned::span);
        self.document.error(span, what)
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Those of the keys that are there.
    pub(super) fn present<'k>(&self, keys: &[&'k str]) -> Vec<&'k str> {
        keys.iter().copied().filter(|key| self.has(key)).collect()
    }

    fn expected(&self, key: &str, expected: &str, found: &Spanned<DeValue<'_>>) -> ExperimentError {
        let kind = found.get_ref().type_str();
        self.document.error(found.span(), format!("`{key}` is {expected}, not of type {kind}"))
    }

    fn missing(&self, key: &str, example: &str) -> ExperimentError {
        self.wrong(key, format!("{} needs `{key}`, such as {key} = {example}", self.what))
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<String>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = value.get_ref().as_str().map(str::to_owned);
        text.map(Some).ok_or_else(|| self.expected(key, "a text in quotes", value))
    }

    /// A text that must be there and not be empty.
    pub(super) fn needed(&self, key: &str, example: &str) -> Result<String, ExperimentError> {
        let text = self.text(key)?.ok_or_else(|| self.missing(key, example))?;
        match text.trim().is_empty() {
            true => Err(self.wrong(key, format!("`{key}` is empty"))),
            false => Ok(text),
        }
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let flag = value.get_ref().as_bool();
        flag.map(Some).ok_or_else(|| self.expected(key, "true or false", value))
    }

    pub(super) fn whole(&self, key: &str) -> Result<Option<u64>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let expected = || self.expected(key, "a whole number, 0 or more", value);
        whole(value.get_ref()).map(Some).ok_or_else(expected)
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
            other => whole(other).map(|number| number as f64),
        };
        number.map(Some).ok_or_else(|| self.expected(key, "a number", value))
    }

    /// A text, or a number as one.
    pub(super) fn word(&self, key: &str) -> Result<Option<String>, ExperimentError> {
        match self.get(key).map(Spanned::get_ref) {
            Some(DeValue::Integer(number)) => Ok(Some(number.as_str().to_owned())),
            _ => self.text(key),
        }
    }

    /// A list of texts; one text is a list of one. Empty where the key is not there.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        if let Some(one) = value.get_ref().as_str() {
            return Ok(vec![one.to_owned()]);
        }
        let wrong = |found: &Spanned<DeValue<'_>>| self.expected(key, "a list of texts", found);
        let list = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        let text = |item: &Spanned<DeValue<'_>>| {
            item.get_ref().as_str().map(str::to_owned).ok_or_else(|| wrong(item))
        };
        list.iter().map(text).collect()
    }

    pub(super) fn wholes(&self, key: &str) -> Result<Vec<u64>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let wrong =
            |found: &Spanned<DeValue<'_>>| self.expected(key, "a list of whole numbers", found);
        let list = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        list.iter().map(|item| whole(item.get_ref()).ok_or_else(|| wrong(item))).collect()
    }

    /// The entries of `key = { ... }`, in the order of the file; empty where the key is not there.
    pub(super) fn entries(&self, key: &str) -> Result<Vec<Entry<'a>>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.expected(key, "a table in braces, { ... }", value))?;
        let entry = |(name, value): (&Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)| Entry {
            name: name.get_ref().to_string(),
            at: name.span(),
            value,
        };
        let mut entries: Vec<Entry<'a>> = table.iter().map(entry).collect();
        // The map goes by name.
        entries.sort_by_key(|entry| entry.at.start);
        Ok(entries)
    }

    /// An error at any place.
    pub(super) fn wrong_at(
        &self,
        at: &Range<usize>,
        what: impl std::fmt::Display,
    ) -> ExperimentError {
        self.document.error(at.clone(), what)
    }

    /// The tables `[[key]]`, in their order.
    pub(super) fn tables(
        &self,
        key: &str,
        what: &'a str,
        known: &[&str],
    ) -> Result<Vec<Fields<'a>>, ExperimentError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let wrong =
            |found: &Spanned<DeValue<'_>>| self.expected(key, &format!("written {what}"), found);
        let list = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
        let fields = |item: &'a Spanned<DeValue<'a>>| {
            let table = item.get_ref().as_table().ok_or_else(|| wrong(item))?;
            Fields::new(self.document, table, item.span().start, what, known)
        };
        list.iter().map(fields).collect()
    }
}

/// An entry of a table in braces.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    pub(super) name: String,
    /// Where the name stands.
    pub(super) at: Range<usize>,
    pub(super) value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Entry<'a> {
    /// The items of a list; none where it is something else.
    pub(super) fn list(&self) -> Option<&'a [Spanned<DeValue<'a>>]> {
        self.value.get_ref().as_array().map(|list| &**list)
    }
}

/// A text, a number or a switch, as it stands in a spec.
pub(super) fn scalar(value: &DeValue<'_>) -> Option<String> {
    let plain = |text: &str| text.replace('_', "").trim_start_matches('+').to_owned();
    match value {
        DeValue::String(text) => Some(text.trim().to_owned()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        DeValue::Float(float) => Some(plain(float.as_str())),
        DeValue::Integer(number) if number.radix() == 10 => Some(plain(number.as_str())),
        DeValue::Integer(_) => whole(value).map(|number| number.to_string()),
        _ => None,
    }
}

fn whole(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    let digits = number.as_str().replace('_', "");
    u64::from_str_radix(digits.trim_start_matches('+'), number.radix()).ok()
}
