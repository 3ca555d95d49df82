//! Tests of data sets: grouping by query, checks, the builder, selection of queries.

use super::*;
use crate::error::PairProblem;
use crate::pairs::Preference;

/// A row for each query id; its number, from 0, is its label and the value of its only feature.
fn sample(ids: &[&str]) -> DatasetBuilder {
    let numbers = 0..ids.len();
    let values: Vec<f32> = numbers.clone().map(|v| v as f32).collect();
    Dataset::builder().dense(values, 1).labels(numbers).query_ids(ids)
}

#[test]
fn scattered_rows_are_grouped_and_can_be_put_back() {
    let data = sample(&["a", "b", "a", "c", "b"]).build().unwrap();
    assert_eq!(data.labels(), [0.0, 2.0, 1.0, 4.0, 3.0]);
    assert_eq!(data.matrix().row(1), [2.0]);
    assert_eq!(data.query(1).rows, 2..4);
    assert_eq!(data.to_source_order(data.labels()).unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(data.from_source_order(&[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap(), data.labels());
}

#[test]
fn adjacent_rows_stay_as_they_are() {
    let data = sample(&["a", "a", "b"]).build().unwrap();
    assert!(data.source_rows.is_none());
    assert_eq!(data.query_rows(1), 2..3);
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let two_rows = || sample(&["a", "a"]);
    let refused = |builder: DatasetBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(refused(two_rows().positions([1])), "1 position for 2 rows");
    assert_eq!(refused(two_rows().labels([1])), "1 label for 2 rows");
    assert_eq!(refused(two_rows().query_ids(["a"; 3])), "3 query ids for 2 rows");
    assert_eq!(refused(two_rows().feature_names(["a", "b"])), "2 feature names for 1 column");
    let label = refused(two_rows().labels([0.0, f64::NAN]));
    assert_eq!(label, "the label of row 2 is NaN, which is not finite");
    let weight = refused(two_rows().weights([1.0, -1.0]));
    assert_eq!(weight, "the weight of row 2 is -1; weights must be finite and not negative");
    assert!(refused(two_rows().query_weights([1.0, 2.0])).contains("must agree"));
    let ragged = refused(two_rows().rows([vec![1.0, 2.0], vec![1.0]]));
    assert_eq!(ragged, "row 2 has 1 feature, but the first row has 2");
    assert_eq!(
        refused(two_rows().dense(vec![0.0; 3], 2)),
        "3 values cannot be divided into rows of 2 columns"
    );
    assert_eq!(refused(Dataset::builder().query_ids([1])), "the data set has no features");
    assert_eq!(refused(Dataset::builder().rows([[1.0]])), "the data set has no query ids");
}

#[test]
fn two_features_of_one_name_are_refused() {
    let twice = Dataset::from_rows([[1.0, 2.0]], ["x", "x"]).query_ids([1]).build();
    assert!(matches!(twice, Err(DataError::DuplicateFeature { name }) if name == "x"));
}

#[test]
fn query_ids_may_be_of_any_kind() {
    let summary = |builder: DatasetBuilder| {
        let data = builder.build().unwrap();
        (data.queries(), data.query(0).id.to_owned(), data.query(0).labels.to_vec())
    };
    let start = || Dataset::builder().rows([[1.0], [2.0], [3.0]]).labels([0u8, 1, 2]);
    let expected = (2, "7".to_owned(), vec![0.0, 2.0]);
    assert_eq!(summary(start().query_ids([7u64, 8, 7])), expected);
    assert_eq!(summary(start().query_ids([7i32, -8, 7].iter())), expected);
    assert_eq!(summary(start().query_ids(["7", "ö", "7"])), expected);
    assert_eq!(summary(start().query_ids(&["7".to_owned(), "x y".into(), "7".into()])), expected);
    let without = Dataset::builder().rows([[1.0]]).query_ids(['a']).build().unwrap();
    assert_eq!(without.labels(), [0.0], "data to score needs no labels");
}

#[test]
fn pairs_name_rows_by_their_number_in_the_input() {
    let data = sample(&["a", "b", "a"]).pairs([Preference::new(2, 0).weight(0.5)]).build();
    let pair = Pair { query: 0, better: 1, worse: 0, weight: 0.5, equal: false };
    assert_eq!(data.unwrap().pairs(), Some(&[pair][..]));
    let problem = |pair: (usize, usize, f32)| match sample(&["a", "b", "a"])
        .pairs([(2, 0, 1.0), pair])
        .build()
    {
        Err(DataError::InvalidPair { number: 1, problem }) => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(problem((0, 3, 1.0)), PairProblem::NoSuchRow(3));
    assert_eq!(problem((0, 1, 1.0)), PairProblem::TwoQueries(0, 1));
    assert_eq!(problem((2, 2, 1.0)), PairProblem::WithItself(2));
    assert_eq!(problem((0, 2, 0.0)), PairProblem::Weight(0.0));
}

#[test]
fn a_part_keeps_every_column_of_the_whole() {
    let data = sample(&["a", "b", "b", "c"])
        .feature_names(["x"])
        .doc_ids(["1", "2", "3", "4"])
        .weights([1.0, 2.0, 3.0, 4.0])
        .query_weights([5.0, 6.0, 6.0, 7.0])
        .positions([1, 2, 1, 1])
        .pairs([(1, 2)])
        .absent(Absent::Missing)
        .feature_set("set")
        .build()
        .unwrap();
    let part = data.select_queries(&[2, 1]).unwrap();
    let expected = sample(&["c", "b", "b"])
        .rows([[3.0], [1.0], [2.0]])
        .feature_names(["x"])
        .labels([3, 1, 2])
        .doc_ids(["4", "2", "3"])
        .weights([4.0, 2.0, 3.0])
        .query_weights([7.0, 6.0, 6.0])
        .positions([1, 2, 1])
        .pairs([(1, 2)])
        .absent(Absent::Missing)
        .feature_set("set");
    assert_eq!(part, expected.build().unwrap());
}

#[test]
fn selecting_queries_keeps_their_rows() {
    let data = sample(&["a", "b", "b", "c"]).build().unwrap();
    let part = data.select_queries(&[2, 1]).unwrap();
    assert_eq!(part.query_ids().iter().collect::<Vec<_>>(), ["c", "b"]);
    assert_eq!(part.labels(), [3.0, 1.0, 2.0]);
    assert_eq!(part.query(1).rows, 1..3);
}

#[test]
fn queries_and_values_that_do_not_exist_are_refused() {
    let data = sample(&["a", "b", "a"]).build().unwrap();
    let error = data.select_queries(&[0, 99]).unwrap_err().to_string();
    assert_eq!(error, "there is no query 99 among 2 queries, numbered from 0");
    let error = data.to_source_order(&[1.0]).unwrap_err().to_string();
    assert_eq!(error, "1 value for 3 rows");
    assert!(data.from_source_order(&[1.0; 4]).is_err());
}

#[test]
fn a_query_that_is_selected_twice_keeps_its_pairs_in_both_copies() {
    let data = sample(&["a", "b", "b"]).pairs([(2, 1)]).build().unwrap();
    let twice = data.select_queries(&[1, 0, 1]).unwrap();
    let pair = |query, better, worse| Pair { query, better, worse, weight: 1.0, equal: false };
    assert_eq!(twice.pairs(), Some(&[pair(0, 1, 0), pair(2, 4, 3)][..]));
}

#[test]
fn selected_rows_keep_everything_that_belongs_to_them() {
    let data = Dataset::builder()
        .rows([[0.5], [0.1], [0.9], [0.2]])
        .labels([0, 1, 2, 3])
        .query_ids(["a", "b", "c", "c"])
        .doc_ids(["w", "x", "y", "z"])
        .weights([1.0, 2.0, 3.0, 4.0])
        .query_weights([1.0, 5.0, 7.0, 7.0])
        .positions([4, 3, 2, 1])
        .pairs([(2, 3)])
        .build()
        .unwrap()
        .with_feature_set(Some("features"));
    let some = data.select_rows(|row| row != 1);
    assert_eq!((some.labels(), some.queries()), (&[0.0, 2.0, 3.0][..], 2));
    assert_eq!(some.query_weights(), Some(&[1.0, 7.0][..]));
    assert_eq!(
        (some.row_weights(), some.positions()),
        (Some(&[1.0, 3.0, 4.0][..]), Some(&[4, 2, 1][..]))
    );
    let pair = some.pairs().unwrap()[0];
    assert_eq!((pair.query, pair.better, pair.worse), (1, 1, 2));
    assert_eq!((some.feature_set(), some.query(1).rows), (Some("features"), 1..3));
    assert!(data.select_rows(|row| row != 3).pairs().unwrap().is_empty());
    assert_eq!(data.select_rows(|_| false).queries(), 0);
}

#[test]
fn other_labels_weights_and_positions_are_checked() {
    let data = || Dataset::from_dense(&[0.5, 0.1], 1, [0, 1], ["a", "a"]).unwrap();
    let changed = data().with_labels(vec![0.25, 4.0]).unwrap().with_row_weights(vec![1.0, 0.0]);
    let changed = changed.unwrap().with_positions(vec![2, 1]).unwrap();
    assert_eq!((changed.labels(), changed.positions()), (&[0.25, 4.0][..], Some(&[2, 1][..])));
    assert!(data().with_labels(vec![0.0]).is_err());
    assert!(data().with_labels(vec![0.0, f64::NAN]).is_err());
    assert!(data().with_row_weights(vec![0.0, -1.0]).is_err());
    assert!(data().with_positions(vec![1, 2, 3]).is_err());
    let zero = data().with_positions(vec![1, 0]).unwrap_err();
    assert!(matches!(zero, DataError::PositionZero { row: 1 }), "{zero}");
    let rows = Dataset::from_rows([[1.0], [2.0]], ["x"]).query_ids(["a", "a"]).labels([1, 0]);
    assert_eq!(rows.positions([0_u32, 1]).build().unwrap_err().kind(), "position-zero");
}
