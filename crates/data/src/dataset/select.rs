//! Selection: a data set with some of the queries, rows or features of another data set.

use std::collections::HashMap;

use super::{Dataset, LabelColumn};
use crate::error::DataError;
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::pairs::Pair;
use crate::strings::Strings;

impl Dataset {
    /// The data set of some of the queries, in the given order, with all their columns. A query
    /// that is given twice is contained twice.
    pub fn select_queries(&self, queries: &[usize]) -> Result<Dataset, DataError> {
        let count = self.queries();
        match queries.iter().find(|&&query| query >= count) {
            Some(&index) => Err(DataError::OutOfRange { what: "query", index, count }),
            None => Ok(self.selected(queries)),
        }
    }

    /// The data set with some of the features, in the given order, and everything else unchanged.
    /// The feature set is not kept, as it names all features.
    ///
    /// ```
    /// use rankwright_data::Dataset;
    /// let rows = [[0.5, 1.0, 7.0], [0.1, 0.0, 8.0]];
    /// let data = Dataset::from_rows(rows, ["bm25", "clicks", "age"]).labels([0, 1]);
    /// let some = data.query_ids(["a", "a"]).build()?.select_features(&[2, 0])?;
    /// assert_eq!(some.matrix().row(1), [8.0, 0.1]);
    /// assert_eq!(some.features().name(0), "age");
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn select_features(&self, columns: &[usize]) -> Result<Dataset, DataError> {
        let count = self.columns();
        if let Some(&index) = columns.iter().find(|&&column| column >= count) {
            return Err(DataError::OutOfRange { what: "feature", index, count });
        }
        let rows = 0..self.rows();
        let values =
            rows.flat_map(|row| columns.iter().map(move |&column| self.matrix.get(row, column)));
        let names = columns.iter().map(|&column| self.features.name(column).into_owned());
        Ok(Dataset {
            matrix: Matrix::from_rows(self.rows(), columns.len(), values.collect())?,
            features: FeatureNames::from_names(names.collect()),
            feature_set: None,
            ..self.clone()
        })
    }

    /// The data set of the rows that `keep` accepts, in their order, with all their columns.
    /// Queries without such a row are left out, and so are pairs of a row that is left out.
    ///
    /// ```
    /// use rankwright_data::Dataset;
    /// let data = Dataset::from_dense(&[0.5, 0.1, 0.9], 1, [0, 1, 2], ["a", "b", "a"])?;
    /// let some = data.select_rows(|row| data.labels()[row] != 1.0);
    /// assert_eq!((some.rows(), some.queries()), (2, 1));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    #[must_use]
    pub fn select_rows(&self, keep: impl Fn(usize) -> bool) -> Dataset {
        let (mut order, mut queries, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        // The new query and the new row of each old one.
        let mut new_queries = vec![None; self.queries()];
        let mut new_rows = vec![None; self.rows()];
        for (query, new_query) in new_queries.iter_mut().enumerate() {
            let start = order.len() as u32;
            for row in self.query_rows(query).filter(|row| keep(*row)) {
                new_rows[row] = Some(order.len() as u32);
                order.push(row as u32);
            }
            if order.len() as u32 > start {
                *new_query = Some(queries.len() as u32);
                queries.push(query);
                starts.push(start);
            }
        }
        let kept_pair = |pair: &Pair| {
            let (better, worse) = (new_rows[pair.better as usize]?, new_rows[pair.worse as usize]?);
            Some(Pair { query: new_queries[pair.query as usize]?, better, worse, ..*pair })
        };
        let of_queries = |weights: &Vec<f32>| queries.iter().map(|&query| weights[query]).collect();
        Dataset {
            query_ids: queries.iter().map(|&query| self.query_ids.get(query)).collect(),
            query_weights: self.query_weights.as_ref().map(of_queries),
            pairs: self.pairs.as_ref().map(|pairs| pairs.iter().filter_map(kept_pair).collect()),
            query_starts: starts,
            ..self.rows_in_order(&order)
        }
    }

    /// Like `select_queries`, for queries that are known to exist.
    pub(crate) fn selected(&self, queries: &[usize]) -> Dataset {
        let mut order = Vec::new();
        let mut starts = Vec::with_capacity(queries.len());
        for &query in queries {
            starts.push(order.len() as u32);
            order.extend(self.query_rows(query).map(|row| row as u32));
        }
        Dataset {
            query_ids: queries.iter().map(|&query| self.query_ids.get(query)).collect(),
            query_weights: self
                .query_weights
                .as_ref()
                .map(|weights| queries.iter().map(|&query| weights[query]).collect()),
            pairs: self.pairs.as_ref().map(|pairs| self.selected_pairs(pairs, queries, &starts)),
            query_starts: starts,
            ..self.rows_in_order(&order)
        }
    }

    /// The columns of rows in this order, and everything else that does not depend on queries; the
    /// caller sets the parts of queries.
    fn rows_in_order(&self, order: &[u32]) -> Dataset {
        Dataset {
            matrix: self.matrix.selected(order),
            features: self.features.clone(),
            labels: values_of_rows(&self.labels, order),
            is_labelled: self.is_labelled,
            label_columns: self.label_columns_of(order),
            query_ids: Strings::default(),
            query_starts: Vec::new(),
            doc_ids: self.doc_ids.as_ref().map(|ids| ids.reordered(order)),
            row_weights: self.row_weights.as_ref().map(|weights| values_of_rows(weights, order)),
            query_weights: None,
            positions: self.positions.as_ref().map(|positions| values_of_rows(positions, order)),
            pairs: None,
            source_rows: None,
            absent: self.absent,
            feature_set: self.feature_set.clone(),
            table_columns: self.table_columns.clone(),
        }
    }

    /// The further columns of labels of rows in this order.
    fn label_columns_of(&self, order: &[u32]) -> Vec<LabelColumn> {
        let column = |LabelColumn { name, labels }: &LabelColumn| LabelColumn {
            name: name.clone(),
            labels: values_of_rows(labels, order),
        };
        self.label_columns.iter().map(column).collect()
    }

    /// The pairs of the selected queries, in their old order, once for each copy of a query.
    /// `starts` has the first new row of each selected query.
    fn selected_pairs(&self, pairs: &[Pair], queries: &[usize], starts: &[u32]) -> Vec<Pair> {
        // New query number and first new row of each copy, by old query number.
        let mut copies: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for ((number, &query), &start) in (0..).zip(queries).zip(starts) {
            copies.entry(query as u32).or_default().push((number, start));
        }
        let mut selected = Vec::new();
        for pair in pairs {
            let old_start = self.query_rows(pair.query as usize).start as u32;
            for &(query, new_start) in copies.get(&pair.query).into_iter().flatten() {
                let better = pair.better - old_start + new_start;
                let worse = pair.worse - old_start + new_start;
                selected.push(Pair { query, better, worse, ..*pair });
            }
        }
        selected
    }
}

fn values_of_rows<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}
