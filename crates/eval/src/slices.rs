//! Evaluation of slices: scores, labels and query ids, one of each per row.

use std::collections::HashMap;
use std::hash::Hash;

use crate::error::EvalError;
use crate::evaluate::{EvalOptions, Evaluation, evaluate};
use crate::metric::ToMeasures;
use crate::order::same_length;
use crate::source::{ScoredQueries, SourceKind};

/// Evaluates scores against labels; rows with the same query id are one query.
///
/// The ids may be of any hashable type that can be displayed, and the rows in any order. Queries
/// are in the order of their first rows, and rows of a query in the order given. Metrics are texts,
/// specs or measures, also measures of a custom [`Metric`](crate::Metric).
///
/// ```
/// use rankwright_eval::evaluate_slices;
///
/// let scores = [0.9, 0.3, 0.2, 0.8];
/// let labels = [1.0, 2.0, 0.0, 0.0];
/// let queries = ["red", "blue", "red", "blue"];
/// let found = evaluate_slices(&scores, &labels, &queries, ["ndcg@10", "rr"])?;
/// assert_eq!(found.get("rr"), Some(0.75));
/// assert_eq!(found.get_query("rr", "blue"), Some(0.5));
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
pub fn evaluate_slices<S, L, Q>(
    scores: &[S],
    labels: &[L],
    query_ids: &[Q],
    metrics: impl ToMeasures,
) -> Result<Evaluation, EvalError>
where
    S: Copy + Into<f64>,
    L: Copy + Into<f64>,
    Q: Eq + Hash + ToString,
{
    same_length("labels", labels.len(), scores.len())?;
    same_length("query ids", query_ids.len(), scores.len())?;
    let measures = metrics.to_measures(SourceKind::Features)?;
    let queries = rows_by_query(query_ids);
    let ids: Vec<String> = queries.iter().map(|(id, _)| id.to_string()).collect();
    // The rows, query after query.
    let order = || queries.iter().flat_map(|(_, rows)| rows.iter().copied());
    let labels: Vec<f64> = order().map(|row| labels[row].into()).collect();
    let scores: Vec<f64> = order().map(|row| scores[row].into()).collect();
    let ranges = queries.iter().scan(0, |start, (_, rows)| {
        let range = *start..*start + rows.len();
        *start = range.end;
        Some(range)
    });
    let source = ScoredQueries::new(
        &labels,
        &scores,
        ranges.collect(),
        ids.iter().map(String::as_str).collect(),
    )?;
    evaluate(&source, &measures, EvalOptions::default())
}

/// The rows of each query, queries in the order of their first rows.
fn rows_by_query<Q: Eq + Hash>(ids: &[Q]) -> Vec<(&Q, Vec<usize>)> {
    // The number of each query, from 0.
    let mut numbers: HashMap<&Q, usize> = HashMap::new();
    let mut queries: Vec<(&Q, Vec<usize>)> = Vec::new();
    for (row, id) in ids.iter().enumerate() {
        let number = *numbers.entry(id).or_insert(queries.len());
        if number == queries.len() {
            queries.push((id, Vec::new()));
        }
        queries[number].1.push(row);
    }
    queries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::RankedList;
    use crate::{Conventions, Measure, Metric, MetricSpec};

    #[test]
    fn rows_in_any_order_give_the_same_values() {
        let sorted = evaluate_slices(
            &[0.9_f32, 0.1, 0.5, 0.8, 0.2],
            &[0_u8, 2, 1, 0, 1],
            &[7_i64, 7, 7, -3, -3],
            "ndcg@10, ap",
        )
        .unwrap();
        let mixed = evaluate_slices(
            &Vec::from([0.8_f32, 0.9, 0.1, 0.2, 0.5]),
            &Vec::from([0_u8, 0, 2, 1, 1]),
            &Vec::from([-3_i64, 7, 7, -3, 7]),
            vec!["ndcg@10".to_owned(), "ap".to_owned()],
        )
        .unwrap();
        assert_eq!(
            (&sorted.queries[..], &mixed.queries[..]),
            (&["7".into(), "-3".into()][..], &["-3".into(), "7".into()][..])
        );
        for metric in ["ndcg@10", "ap"] {
            assert_eq!(sorted.get(metric), mixed.get(metric));
            for query in ["7", "-3"] {
                let value = sorted.get_query(metric, query);
                assert!(value.is_some() && value == mixed.get_query(metric, query));
            }
        }
    }

    #[derive(Debug)]
    struct TopLabel;

    impl Metric for TopLabel {
        fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
            Ok(list.labels().first().copied())
        }
    }

    #[test]
    fn metrics_may_be_specs_measures_and_custom_ones() {
        let top = Measure::custom("top", TopLabel, Conventions::of(SourceKind::Features));
        let rr: Measure = "rr".parse().unwrap();
        let (scores, labels, ids) = ([0.5, 0.6], [1.0, 3.0], ["q", "q"]);
        let found = evaluate_slices(&scores, &labels, &ids, [top.clone(), rr]).unwrap();
        assert_eq!((found.get("top"), found.get("rr")), (Some(3.0), Some(1.0)));
        let p = MetricSpec::parse("p@1").unwrap();
        assert_eq!(evaluate_slices(&scores, &labels, &ids, &p).unwrap().get("p@1"), Some(1.0));
        assert_eq!(
            evaluate_slices(&scores, &labels, &ids, &[top][..]).unwrap().get("top"),
            Some(3.0)
        );
    }

    #[test]
    fn slices_of_other_lengths_and_wrong_metrics_are_refused() {
        let wrong = evaluate_slices(&[0.1, 0.2], &[1.0], &["a", "a"], "rr").unwrap_err();
        assert!(matches!(wrong, EvalError::Shape { what: "labels", found: 1, expected: 2 }));
        let wrong = evaluate_slices(&[0.1], &[1.0], &["a", "a"], "rr").unwrap_err();
        assert!(matches!(wrong, EvalError::Shape { what: "query ids", found: 2, expected: 1 }));
        let wrong = evaluate_slices(&[0.1], &[1.0], &["a"], ["ncdg"]).unwrap_err();
        assert!(wrong.to_string().contains("did you mean `ndcg`?"), "{wrong}");
        let none = evaluate_slices(&[0.0; 0], &[0.0; 0], &[""; 0], "rr").unwrap();
        assert_eq!(none.get("rr"), None);
    }
}
