//! Collects the named parts of a document in order; parts with the same name are joined.

use std::collections::HashMap;

use crate::document::Value;

/// Collects the fields of a document in time linear in the number of parts, for any number of
/// names.
#[derive(Default)]
pub(crate) struct FieldCollector {
    /// Name and text of each field, in the order of first appearance.
    parts: Vec<(String, String)>,
    /// The index in `parts` of each name.
    by_name: HashMap<String, usize>,
}

impl FieldCollector {
    /// Adds a part. If there is already one with this name, the text is appended to it after
    /// `separator`. Texts of whitespace only are ignored.
    pub(crate) fn add(&mut self, name: &str, text: &str, separator: &str) {
        if text.trim().is_empty() {
            return;
        }
        let known = self.by_name.get(name).and_then(|&index| self.parts.get_mut(index));
        match known {
            Some((_, whole)) => {
                whole.push_str(separator);
                whole.push_str(text);
            }
            None => {
                self.by_name.insert(name.to_owned(), self.parts.len());
                self.parts.push((name.to_owned(), text.to_owned()));
            }
        }
    }

    /// Removes and returns the text of a name.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let index = self.by_name.remove(name)?;
        self.parts.get_mut(index).map(|(_, text)| std::mem::take(text))
    }

    /// The parts that were not taken, as texts.
    pub(crate) fn into_fields(self) -> Vec<(String, Value)> {
        let not_taken = self.parts.into_iter().filter(|(_, text)| !text.is_empty());
        not_taken.map(|(name, text)| (name, Value::Text(text))).collect()
    }
}

/// Keeps the last value of each name, at the position of the first one.
pub(crate) fn keep_last_values<T>(fields: &mut Vec<(String, T)>) {
    // Usually there are few fields and no name twice: comparing all pairs is faster than a hash
    // map.
    let is_short = fields.len() <= 16;
    let names = || fields.iter().map(|(name, _)| name.as_str());
    if is_short && names().enumerate().all(|(i, name)| names().take(i).all(|other| other != name)) {
        return;
    }
    let mut first: HashMap<String, usize> = HashMap::with_capacity(fields.len());
    let mut kept: Vec<(String, T)> = Vec::with_capacity(fields.len());
    for (name, value) in fields.drain(..) {
        match first.get(&name).and_then(|&index| kept.get_mut(index)) {
            Some((_, old)) => *old = value,
            None => {
                first.insert(name.clone(), kept.len());
                kept.push((name, value));
            }
        }
    }
    *fields = kept;
}

/// The text with every run of whitespace replaced by one space, trimmed.
pub(crate) fn single_spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_with_the_same_name_are_joined_and_blank_ones_are_left_out() {
        let mut parts = FieldCollector::default();
        parts.add("text", "a", "\n\n");
        parts.add("title", " ", "\n\n");
        parts.add("docno", "7", "\n\n");
        parts.add("text", "b", "\n\n");
        assert_eq!(parts.take("docno").as_deref(), Some("7"));
        assert_eq!(parts.take("docno"), None);
        assert_eq!(parts.into_fields(), [("text".to_owned(), Value::Text("a\n\nb".into()))]);
    }

    #[test]
    fn the_last_value_of_a_name_wins_for_few_and_for_many_names() {
        for names in [3usize, 40] {
            let mut fields: Vec<(String, usize)> =
                (0..names * 2).map(|i| ((i % names).to_string(), i)).collect();
            keep_last_values(&mut fields);
            let expected: Vec<(String, usize)> =
                (0..names).map(|i| (i.to_string(), names + i)).collect();
            assert_eq!(fields, expected);
        }
    }
}
