//! The value of every query under several systems, as a table of tab-separated columns.

use std::io::{self, Write};

use rankwright_spec::visible::one_line;

use crate::compare::{CompareError, align_evaluations};
use crate::evaluate::Evaluation;

/// Per-query values of systems, paired by query id.
///
/// A line for each metric and query in which some system has a value: `metric`, `query`, and a
/// column for each system (`value` if there is only one). Values have 10 decimals; the value of a
/// skipped query is empty. Control characters in names and ids are escaped
/// ([`one_line`](rankwright_spec::visible::one_line)), so that they cannot add columns or rows.
///
/// ```
/// use rankwright_eval::{PerQueryTable, evaluate_slices};
///
/// let found = evaluate_slices(&[2.0, 1.0], &[0.0, 1.0], &["q", "q"], "rr")?;
/// let mut text = Vec::new();
/// PerQueryTable::new(&[("mine", &found)])?.write(&mut text)?;
/// assert_eq!(text, b"metric\tquery\tvalue\nrr\tq\t0.5000000000\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PerQueryTable {
    names: Vec<String>,
    systems: Vec<Evaluation>,
}

impl PerQueryTable {
    /// A table of systems by name, measured by the same metrics on the same queries.
    pub fn new(systems: &[(&str, &Evaluation)]) -> Result<Self, CompareError> {
        let named = systems.iter().map(|(name, system)| ((*name).to_owned(), (*system).clone()));
        let (names, systems) = align_evaluations(named.collect())?.into_iter().unzip();
        Ok(Self { names, systems })
    }

    /// Writes the table with its header, separated by tabs.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_rows(out, "\t", |text| one_line(text).into_owned())
    }

    /// Writes the table with its header, separated by commas; a text with a comma or a quote is in
    /// quotes.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_rows(out, ",", |text| {
            let text = one_line(text);
            match text.contains([',', '"']) {
                true => format!("\"{}\"", text.replace('"', "\"\"")),
                false => text.into_owned(),
            }
        })
    }

    /// Writes the table; `cell` gives the text of a name, an id or a metric.
    fn write_rows(
        &self,
        out: &mut dyn Write,
        separator: &str,
        cell: impl Fn(&str) -> String,
    ) -> io::Result<()> {
        let names = match &self.names[..] {
            [_] => "value".to_owned(),
            names => names.iter().map(|name| cell(name)).collect::<Vec<_>>().join(separator),
        };
        writeln!(out, "metric{separator}query{separator}{names}")?;
        let Some(first) = self.systems.first() else { return Ok(()) };
        for (m, result) in first.results.iter().enumerate() {
            let metric = cell(&result.measure.to_string());
            for (q, query) in first.queries.iter().enumerate() {
                let values = || self.systems.iter().map(|system| system.results[m].values[q]);
                if values().all(|value| value.is_none()) {
                    continue;
                }
                let shown = values().map(|v| v.map_or(String::new(), |v| format!("{v:.10}")));
                let shown: Vec<String> = shown.collect();
                let query = cell(query);
                writeln!(out, "{metric}{separator}{query}{separator}{}", shown.join(separator))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate_slices;

    #[test]
    fn systems_are_paired_by_query_id() {
        let a =
            evaluate_slices(&[2.0, 1.0, 5.0], &[0.0, 1.0, 1.0], &["x", "x", "y"], "rr").unwrap();
        let b =
            evaluate_slices(&[5.0, 1.0, 2.0], &[1.0, 0.0, 1.0], &["y", "x", "x"], "rr").unwrap();
        let mut text = Vec::new();
        PerQueryTable::new(&[("a", &a), ("b", &b)]).unwrap().write(&mut text).unwrap();
        let expected = "metric\tquery\ta\tb\nrr\tx\t0.5000000000\t1.0000000000\n\
                        rr\ty\t1.0000000000\t1.0000000000\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn commas_separate_where_they_are_requested() {
        let queries = ["a, \"b\"", "c"];
        let found = evaluate_slices(&[2.0, 1.0], &[1.0, 1.0], &queries, "rr").unwrap();
        let mut text = Vec::new();
        PerQueryTable::new(&[("a", &found)]).unwrap().write_csv(&mut text).unwrap();
        let expected = "metric,query,value\nrr,\"a, \"\"b\"\"\",1.0000000000\nrr,c,1.0000000000\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn an_id_cannot_forge_a_row_or_a_column() {
        let queries = ["a\trr\nrr\tb\t1.0", "\u{1b}[2J"];
        let found = evaluate_slices(&[2.0, 1.0], &[1.0, 1.0], &queries, "rr").unwrap();
        let mut text = Vec::new();
        let names = [("one\tmore", &found), ("two", &found)];
        PerQueryTable::new(&names).unwrap().write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let columns: Vec<usize> = text.lines().map(|line| line.split('\t').count()).collect();
        assert_eq!(columns, [4, 4, 4], "{text}");
        assert!(text.starts_with("metric\tquery\tone\\tmore\ttwo\n"), "{text}");
        assert!(text.contains("rr\ta\\trr\\nrr\\tb\\t1.0\t1.0000000000"), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn queries_without_any_value_are_left_out() {
        let one = evaluate_slices(&[2.0, 1.0], &[0.0, 1.0], &["blank", "y"], "rr").unwrap();
        let mut text = Vec::new();
        PerQueryTable::new(&[("a", &one)]).unwrap().write(&mut text).unwrap();
        assert_eq!(text, b"metric\tquery\tvalue\nrr\ty\t1.0000000000\n");
    }
}
