//! Further columns of labels: clicks, sales or another judgement beside the labels of a data set.
//!
//! A data set has one column of labels, by which it is evaluated, and any number of further ones
//! with names. They travel with their rows through selections, splits, caches and tables; learners
//! with the parameter `labels` train on several of them at once.
//!
//! In a table, a column with the role `extra_label` is one, and so is a column whose name begins
//! with `label:`, as the writers of tables call it. The readers of tables read such a column like a
//! feature of numbers, and it is taken out of the matrix when all rows are there.

use std::collections::HashSet;

use super::Dataset;
use crate::error::DataError;
use crate::format::Role;

/// The name of a data set's own labels among all of its columns of labels.
pub const MAIN_LABEL: &str = "label";

/// The beginning of the name of a further column of labels in tables.
pub(crate) const LABEL_PREFIX: &str = "label:";

/// A further column of labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelColumn {
    pub(crate) name: String,
    /// One for each row.
    pub(crate) labels: Vec<f64>,
}

#[cfg(any(feature = "text", feature = "columnar"))]
impl LabelColumn {
    /// An empty column of labels, given the name of its column in a table and the number of rows
    /// that it will have.
    pub(crate) fn of_table(column: &str, rows: usize) -> Self {
        Self { name: label_name(column).to_owned(), labels: Vec::with_capacity(rows) }
    }
}

/// The name of a column of labels, given the name of its column in a table.
pub(crate) fn label_name(column: &str) -> &str {
    let column = column.trim();
    let named = column.get(..LABEL_PREFIX.len()).filter(|p| p.eq_ignore_ascii_case(LABEL_PREFIX));
    match named {
        Some(_) => column[LABEL_PREFIX.len()..].trim(),
        None => column,
    }
}

/// Whether the name of a column of a table means a further column of labels.
pub(crate) fn is_label_column(column: &str) -> bool {
    let name = label_name(column);
    name != column.trim() && !name.is_empty()
}

/// Checks the names of further columns of labels, and that each has a finite label for each row.
pub(crate) fn check_label_columns(columns: &[LabelColumn], rows: usize) -> Result<(), DataError> {
    let mut names = HashSet::from([MAIN_LABEL]);
    for LabelColumn { name, labels } in columns {
        if name.trim().is_empty() || name.trim() != name || !names.insert(name) {
            return Err(DataError::LabelColumnName { name: name.clone() });
        }
        if labels.len() != rows {
            let (what, per, found) = ("extra label", "row", labels.len());
            return Err(DataError::LengthMismatch { what, found, per, expected: rows });
        }
        if let Some((row, value)) = (0..).zip(labels).find(|(_, label)| !label.is_finite()) {
            return Err(DataError::NotFinite { what: "extra label", row, value: *value });
        }
    }
    Ok(())
}

impl Dataset {
    /// The same data set with a further column of labels, a finite label for each row. Its name
    /// differs from `label` and from those of other columns of labels.
    ///
    /// ```
    /// use rankwright_data::Dataset;
    /// let data = Dataset::from_dense(&[0.5, 0.1], 1, [2, 0], ["a", "a"])?;
    /// let data = data.with_label_column("clicks", vec![0.0, 7.0])?;
    /// assert_eq!(data.label_column("clicks").unwrap(), [0.0, 7.0]);
    /// assert_eq!(data.label_column("label").unwrap(), [2.0, 0.0]);
    /// assert!(data.label_column("sales").is_none());
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn with_label_column(
        mut self,
        name: impl Into<String>,
        labels: Vec<f64>,
    ) -> Result<Dataset, DataError> {
        self.label_columns.push(LabelColumn { name: name.into(), labels });
        check_label_columns(&self.label_columns, self.rows())?;
        Ok(self)
    }

    /// The labels of all rows in the column with this name: `label`, or the name of its column in
    /// the table that the data was read from, is the data's own labels; `None` if there is no such
    /// column, or the data has no labels.
    pub fn label_column(&self, name: &str) -> Option<&[f64]> {
        let found = self.label_columns.iter().find(|column| column.name == name);
        match found {
            Some(column) => Some(&column.labels),
            None => self.is_main_label(name).then_some(self.labels.as_slice()),
        }
    }

    /// Whether a name means the data's own labels: `label`, or the name of their column in the table
    /// that the data was read from.
    pub fn is_main_label(&self, name: &str) -> bool {
        let columns = self.table_columns.iter().flat_map(|columns| columns.iter());
        let mut of_table = columns.filter(|column| column.role == Role::Label);
        self.is_labelled
            && (name == MAIN_LABEL || of_table.any(|column| column.name.trim() == name))
    }

    /// The names of the further columns of labels, in their order.
    pub fn label_column_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.label_columns.iter().map(|column| column.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Input;
    use crate::format::{Format, ReadOptions, Roles, read_inputs, write_to};

    const TABLE: &str = "qid,relevance,bm25,clicks,sales\n\
        a,2,0.5,0.1,1\na,0,0.25,3,0\nb,1,0.75,0,2\na,1,0.125,5,0\n";

    fn read(bytes: &[u8], roles: &str) -> Result<Dataset, DataError> {
        let options = ReadOptions { roles: Roles::parse(roles).unwrap(), ..ReadOptions::default() };
        Ok(read_inputs(vec![Input::raw("t.csv", bytes.to_vec())], &options)?.data)
    }

    fn data() -> Dataset {
        read(TABLE.as_bytes(), "extra_label=clicks+sales").unwrap()
    }

    #[test]
    fn columns_of_labels_are_read_beside_the_features_of_a_table() {
        let data = data();
        assert_eq!(data.features().iter().collect::<Vec<_>>(), ["bm25"]);
        // The fourth row joins the others of its query.
        assert_eq!(data.label_column("clicks").unwrap(), [0.1, 3.0, 5.0, 0.0]);
        assert_eq!(data.label_column("sales").unwrap(), [1.0, 0.0, 0.0, 2.0]);
        for name in ["label", "relevance"] {
            assert_eq!(data.label_column(name).unwrap(), [2.0, 0.0, 1.0, 1.0], "{name}");
        }
        assert_eq!(data.matrix().row(2), [0.125]);
        assert_eq!(data.label_column_names().collect::<Vec<_>>(), ["clicks", "sales"]);
    }

    #[test]
    fn every_format_with_columns_keeps_them_and_letor_says_that_it_does_not() {
        let data = data();
        #[cfg(feature = "columnar")]
        let columnar = [Format::Parquet, Format::Arrow];
        #[cfg(not(feature = "columnar"))]
        let columnar: [Format; 0] = [];
        let formats = [Format::Csv, Format::Tsv, Format::Jsonl, Format::Cache];
        for format in formats.into_iter().chain(columnar) {
            let mut bytes = Vec::new();
            let warnings = write_to(&data, &mut bytes, format).unwrap();
            assert!(!format!("{warnings:?}").contains("LabelColumns"), "{format:?}");
            let again = read(&bytes, "").unwrap();
            for name in ["clicks", "sales"] {
                let expected = data.to_source_order(data.label_column(name).unwrap()).unwrap();
                let found = again.to_source_order(again.label_column(name).unwrap()).unwrap();
                assert_eq!(found, expected, "{format:?} {name}");
            }
            assert_eq!(again.features(), data.features(), "{format:?}");
            if format == Format::Cache {
                assert_eq!(again, data);
            }
        }
        let warnings = write_to(&data, Vec::new(), Format::Letor).unwrap();
        assert!(format!("{warnings:?}").contains("LabelColumns"), "{warnings:?}");
    }

    #[test]
    fn label_columns_stay_with_their_rows() {
        let data = data();
        let clicks = |data: &Dataset| data.label_column("clicks").unwrap().to_vec();
        assert_eq!(clicks(&data.select_queries(&[1, 0]).unwrap()), [0.0, 0.1, 3.0, 5.0]);
        assert_eq!(clicks(&data.select_rows(|row| row != 1)), [0.1, 5.0, 0.0]);
        assert_eq!(clicks(&data.select_features(&[]).unwrap()), clicks(&data));
        let both = data.append(&data, Some).unwrap();
        assert_eq!(clicks(&both), [clicks(&data), clicks(&data)].concat());
        let plain = Dataset::from_dense(&[1.0], 1, [0], ["z"]).unwrap();
        let both = data.append(&plain, |_| Some(0)).unwrap();
        assert_eq!(both.label_column_names().len(), 0);
    }

    #[test]
    fn labels_keep_all_digits_of_a_64_bit_number_in_every_format() {
        let data = Dataset::from_dense(&[0.5, 0.25], 1, [1, 0], ["a", "a"]).unwrap();
        let exact = vec![16_777_217.0, 0.123_456_789_012_345];
        let data = data.with_label_column("clicks", exact.clone()).unwrap();
        #[cfg(feature = "columnar")]
        let columnar = [Format::Parquet, Format::Arrow];
        #[cfg(not(feature = "columnar"))]
        let columnar: [Format; 0] = [];
        for format in [Format::Csv, Format::Jsonl, Format::Cache].into_iter().chain(columnar) {
            let mut bytes = Vec::new();
            write_to(&data, &mut bytes, format).unwrap();
            assert_eq!(
                read(&bytes, "").unwrap().label_column("clicks").unwrap(),
                exact,
                "{format:?}"
            );
        }
        // `true` and `false` are labels, too: a click or none.
        let table = TABLE.replace(",0.1,1", ",true,1").replace(",3,0", ",FALSE,0");
        let data = read(table.as_bytes(), "extra_label=clicks, ignore=sales").unwrap();
        assert_eq!(data.label_column("clicks").unwrap(), [1.0, 0.0, 5.0, 0.0]);
    }

    /// A key that a line leaves out is an absent feature, but not a label of 0.
    #[test]
    fn a_row_without_a_further_label_is_an_error_with_its_place() {
        let of_keys = |second: &str| {
            format!(
                "{{\"qid\":\"a\",\"label\":2,\"clicks\":3,\"x\":1}}\n\
                 {{\"qid\":\"a\",\"label\":0,{second}\"x\":2}}\n"
            )
        };
        assert!(read(of_keys("\"clicks\":0,").as_bytes(), "extra_label=clicks").is_ok());
        for second in ["", "\"clicks\":null,"] {
            let error = read(of_keys(second).as_bytes(), "extra_label=clicks").unwrap_err();
            let text = error.to_string();
            let is_clear = text.contains("clicks") && text.contains(":2") && text.contains("label");
            assert!(is_clear, "{text}");
        }
    }

    #[test]
    fn labels_that_are_missing_or_named_twice_are_refused() {
        let gap = TABLE.replace("0.25,3,0", "0.25,,0");
        let error = read(gap.as_bytes(), "extra_label=clicks").unwrap_err().to_string();
        assert!(error.contains("clicks") && error.contains("t.csv:3"), "{error}");
        let error = read(TABLE.replace("3,0", "x,0").as_bytes(), "extra_label=clicks").unwrap_err();
        assert!(error.to_string().contains("clicks"), "{error}");
        let data = data();
        for name in ["clicks", "label", "", " x"] {
            let error = data.clone().with_label_column(name, vec![0.0; 4]).unwrap_err();
            assert!(matches!(error, DataError::LabelColumnName { .. }), "{name}: {error}");
        }
        assert!(data.clone().with_label_column("x", vec![0.0; 3]).is_err());
        assert!(data.with_label_column("x", vec![f64::NAN; 4]).is_err());
    }
}
