//! Appending: the queries of two data sets as one data set.

use super::{Dataset, LabelColumn};
use crate::error::DataError;
use crate::matrix::Matrix;
use crate::pairs::Pair;

impl Dataset {
    /// This data set, followed by the queries of another one. `column_of` returns, for a feature of
    /// this data set, the column of the other one that has its values; a feature without a column
    /// gets the value of absent features.
    ///
    /// Document ids, positions and further columns of labels are kept if both data sets have them;
    /// where only one has weights, each row or query of the other has weight 1. Queries of the two
    /// are different queries, also if they have the same id. The number of rows is limited as in
    /// every data set.
    ///
    /// It is an error if only one has preference pairs: they would replace labels in all queries,
    /// and the queries of the other data set would have no preferences. The numbers of categories
    /// must be those of this data set ([`with_categories`](Self::with_categories)).
    ///
    /// ```
    /// use rankwright_data::Dataset;
    /// let one = Dataset::from_dense(&[0.5, 0.1], 1, [0, 1], ["a", "a"])?;
    /// let two = Dataset::from_dense(&[7.0, 0.9], 2, [2], ["b"])?;
    /// let both = one.append(&two, |_| Some(1))?;
    /// assert_eq!((both.queries(), both.matrix().row(2), both.labels()[2]), (2, &[0.9_f32][..], 2.0));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn append(
        &self,
        other: &Dataset,
        column_of: impl Fn(usize) -> Option<usize>,
    ) -> Result<Dataset, DataError> {
        let (columns, rows) = (self.columns(), self.rows() + other.rows());
        if u32::try_from(rows).is_err() {
            return Err(DataError::TooManyRows { rows });
        }
        let sources: Vec<Option<usize>> = (0..columns).map(column_of).collect();
        let count = other.columns();
        if let Some(index) = sources.iter().flatten().copied().find(|column| *column >= count) {
            return Err(DataError::OutOfRange { what: "feature", index, count });
        }
        if self.pairs.is_some() != other.pairs.is_some() {
            return Err(DataError::PairsInOne);
        }
        let mut values = Vec::with_capacity(rows * columns);
        (0..self.rows()).for_each(|row| values.extend_from_slice(self.matrix.row(row)));
        let absent = self.absent.value();
        for row in 0..other.rows() {
            let row = other.matrix.row(row);
            values.extend(sources.iter().map(|source| source.map_or(absent, |column| row[column])));
        }
        let first_row = self.rows() as u32;
        let weights_of_both =
            |one: &Option<Vec<f32>>, two: &Option<Vec<f32>>, counts: [usize; 2]| {
                if one.is_none() && two.is_none() {
                    return None;
                }
                let or_ones = |weights: &Option<Vec<f32>>, count: usize| match weights {
                    Some(weights) => weights.clone(),
                    None => vec![1.0; count],
                };
                Some([or_ones(one, counts[0]), or_ones(two, counts[1])].concat())
            };
        Ok(Dataset {
            matrix: Matrix::from_rows(rows, columns, values)?,
            features: self.features.clone(),
            labels: [self.labels(), other.labels()].concat(),
            is_labelled: self.is_labelled && other.is_labelled,
            label_columns: self.appended_label_columns(other),
            query_ids: self.query_ids.iter().chain(other.query_ids.iter()).collect(),
            query_starts: self
                .query_starts
                .iter()
                .copied()
                .chain(other.query_starts.iter().map(|start| start + first_row))
                .collect(),
            doc_ids: match (&self.doc_ids, &other.doc_ids) {
                (Some(one), Some(two)) => Some(one.iter().chain(two.iter()).collect()),
                _ => None,
            },
            row_weights: weights_of_both(
                &self.row_weights,
                &other.row_weights,
                [self.rows(), other.rows()],
            ),
            query_weights: weights_of_both(
                &self.query_weights,
                &other.query_weights,
                [self.queries(), other.queries()],
            ),
            positions: match (&self.positions, &other.positions) {
                (Some(one), Some(two)) => Some([one.as_slice(), two].concat()),
                _ => None,
            },
            pairs: self.appended_pairs(other, first_row),
            source_rows: None,
            absent: self.absent,
            feature_set: self.feature_set.clone(),
            table_columns: self.table_columns.clone(),
        })
    }

    /// The further columns of labels that both have.
    fn appended_label_columns(&self, other: &Dataset) -> Vec<LabelColumn> {
        let joined = |LabelColumn { name, labels }: &LabelColumn| {
            let others = other.label_columns.iter().find(|column| column.name == *name)?;
            let labels = [labels.as_slice(), &others.labels].concat();
            Some(LabelColumn { name: name.clone(), labels })
        };
        self.label_columns.iter().filter_map(joined).collect()
    }

    /// The pairs of both, those of the other data set with their new queries and rows.
    fn appended_pairs(&self, other: &Dataset, first_row: u32) -> Option<Vec<Pair>> {
        let first_query = self.queries() as u32;
        let moved = |pair: &Pair| Pair {
            query: pair.query + first_query,
            better: pair.better + first_row,
            worse: pair.worse + first_row,
            ..*pair
        };
        match (&self.pairs, &other.pairs) {
            (None, None) => None,
            (one, two) => {
                let one = one.iter().flatten().copied();
                Some(one.chain(two.iter().flatten().map(moved)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::LetorOptions;

    #[test]
    fn the_parts_of_a_data_set_appended_are_the_data_set() {
        let data = LetorOptions { queries: 6, documents: 5, seed: 3 }.generate().unwrap();
        let [one, two] = [0..4, 4..6]
            .map(|queries| data.select_queries(&queries.collect::<Vec<usize>>()).unwrap());
        let both = one.append(&two, Some).unwrap();
        assert_eq!(both, data.select_queries(&[0, 1, 2, 3, 4, 5]).unwrap());
    }

    #[test]
    fn features_without_a_column_are_absent_and_weights_count_one() {
        let one = Dataset::from_rows([[1.0, 2.0]], ["a", "b"]).labels([1]).query_ids(["q"]);
        let one = one.weights([3.0]).build().unwrap();
        let two = Dataset::from_rows([[7.0]], ["b"]).labels([0]).query_ids(["q"]).build().unwrap();
        let both = one.append(&two, |feature| (feature == 1).then_some(0)).unwrap();
        assert_eq!(both.matrix().row(1), [both.absent().value(), 7.0]);
        assert_eq!((both.queries(), both.row_weights().unwrap()), (2, &[3.0, 1.0][..]));
        assert!(one.append(&two, |_| Some(1)).is_err());
    }

    #[test]
    fn pairs_of_both_are_kept_and_pairs_of_only_one_are_refused() {
        let labelled = Dataset::from_dense(&[0.5, 0.1], 1, [0, 1], ["a", "a"]).unwrap();
        let with_pairs = |better: usize, worse: usize| {
            let rows = Dataset::builder().dense(&[0.5, 0.1], 1).labels([0, 1]);
            rows.query_ids(["a", "a"]).pairs([(better, worse)]).build().unwrap()
        };
        let both = with_pairs(0, 1).append(&with_pairs(1, 0), Some).unwrap();
        let pair = |query, better, worse| Pair { query, better, worse, weight: 1.0, equal: false };
        assert_eq!(both.pairs(), Some(&[pair(0, 0, 1), pair(1, 3, 2)][..]));
        for (one, two) in [(&with_pairs(0, 1), &labelled), (&labelled, &with_pairs(0, 1))] {
            let error = one.append(two, Some).unwrap_err();
            assert!(matches!(error, DataError::PairsInOne), "{error}");
            assert_eq!(error.kind(), "pairs-in-one");
        }
    }
}
