//! Brings the evaluations of several systems into the same order of queries, paired by query id.

use std::collections::HashMap;

use rankwright_spec::words::counted;

use super::{CompareError, MetricValues};
use crate::evaluate::{Evaluation, MeasureResult};
use crate::stats::Interval;

/// The evaluations, with their queries in the order of the first system's.
///
/// Every system must have been evaluated on the same set of queries, by the same metrics under the
/// same conventions (treatment of ties, unjudged documents and so on); the order of queries does
/// not matter. Several queries may have the same id only if all systems have their queries in the
/// same order.
pub fn align_evaluations(
    systems: Vec<(String, Evaluation)>,
) -> Result<Vec<(String, Evaluation)>, CompareError> {
    let mut systems = systems.into_iter();
    let Some(first) = systems.next() else { return Ok(Vec::new()) };
    let mut aligned = vec![first];
    for (name, evaluation) in systems {
        let (first_name, first) = &aligned[0];
        check_metrics(first, (&name, &evaluation))?;
        let evaluation = match evaluation.queries == first.queries {
            true => evaluation,
            false => {
                let order = order_of((first_name, first), (&name, &evaluation))?;
                reordered(evaluation, &order)
            }
        };
        aligned.push((name, evaluation));
    }
    Ok(aligned)
}

/// The index of each query in the evaluation of the system `name`; ids must be different.
fn positions_by_id<'a>(
    name: &str,
    evaluation: &'a Evaluation,
) -> Result<HashMap<&'a str, usize>, CompareError> {
    let mut positions = HashMap::with_capacity(evaluation.queries.len());
    for (position, id) in evaluation.queries.iter().enumerate() {
        if positions.insert(id.as_str(), position).is_some() {
            let (system, query) = (name.to_owned(), id.clone());
            return Err(CompareError::DuplicateQuery { system, query });
        }
    }
    Ok(positions)
}

/// For each query of the first system, its index in the evaluation of the other system.
fn order_of(
    (first_name, first): (&str, &Evaluation),
    (name, evaluation): (&str, &Evaluation),
) -> Result<Vec<usize>, CompareError> {
    let different = |query: &str, has: &str, lacks: &str| CompareError::DifferentQueries {
        query: query.to_owned(),
        has: has.to_owned(),
        lacks: lacks.to_owned(),
    };
    let first_positions = positions_by_id(first_name, first)?;
    let positions = positions_by_id(name, evaluation)?;
    let is_new = |id: &&String| !first_positions.contains_key(id.as_str());
    if let Some(query) = evaluation.queries.iter().find(is_new) {
        return Err(different(query, name, first_name));
    }
    let position = |id: &String| {
        positions.get(id.as_str()).copied().ok_or_else(|| different(id, first_name, name))
    };
    first.queries.iter().map(position).collect()
}

/// Checks that a system was measured by the same metrics under the same conventions as the first
/// one.
fn check_metrics(
    first: &Evaluation,
    (name, evaluation): (&str, &Evaluation),
) -> Result<(), CompareError> {
    let describe = |result: &MeasureResult| format!("{} ({})", result.measure, result.convention);
    let expected: Vec<String> = first.results.iter().map(describe).collect();
    let found: Vec<String> = evaluation.results.iter().map(describe).collect();
    if found == expected {
        return Ok(());
    }
    let differs = found.iter().zip(&expected).find(|(a, b)| a != b);
    let (found, expected) = match differs {
        Some((found, expected)) => (found.clone(), expected.clone()),
        None => (counted(found.len(), "metric"), counted(expected.len(), "metric")),
    };
    Err(CompareError::DifferentMetrics { system: name.to_owned(), found, expected })
}

/// The evaluation with its queries in the order of these indices.
fn reordered(mut evaluation: Evaluation, order: &[usize]) -> Evaluation {
    evaluation.queries =
        order.iter().map(|&position| evaluation.queries[position].clone()).collect();
    for result in &mut evaluation.results {
        result.values = order.iter().map(|&position| result.values[position]).collect();
    }
    evaluation
}

/// The interval of a total.
fn interval(result: &MeasureResult) -> Option<Interval> {
    let ((low, high), method) = result.ci95.zip(result.interval)?;
    Some(Interval { low, high, method })
}

impl MetricValues {
    /// The metrics of several systems, paired by query id as [`align_evaluations`] does.
    pub fn of_evaluations(
        systems: &[(String, Evaluation)],
    ) -> Result<Vec<MetricValues>, CompareError> {
        let systems = align_evaluations(systems.to_vec())?;
        let Some((_, first)) = systems.first() else { return Ok(Vec::new()) };
        let metric = |(m, result): (usize, &MeasureResult)| {
            let results = || systems.iter().map(move |(_, e)| &e.results[m]);
            MetricValues {
                convention: Some(result.convention.clone()),
                better: result.measure.metric().better(),
                range: result.measure.metric().range(),
                totals: results().map(|r| (r.value, interval(r))).collect(),
                ..MetricValues::new(
                    result.measure.to_string(),
                    results().map(|r| r.values.clone()).collect(),
                )
            }
        };
        Ok(first.results.iter().enumerate().map(metric).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CompareOptions, compare_evaluations};
    use super::*;
    use crate::evaluate_slices;

    /// The evaluation of a system with these queries, of four documents each; the relevant document
    /// of query `id` is at rank `(id / 3 + shift) % 4`, from 0.
    fn system(name: &str, ids: &[u32], metrics: &str, shift: usize) -> (String, Evaluation) {
        let rows = ids.iter().flat_map(|id| (0..4).map(move |row| (*id, row)));
        let rows: Vec<(u32, usize)> = rows.collect();
        let scores: Vec<f64> = rows.iter().map(|(_, row)| -(*row as f64)).collect();
        let relevant = |(id, row): &(u32, usize)| *row == (*id as usize / 3 + shift) % 4;
        let labels: Vec<f64> = rows.iter().map(|r| f64::from(u8::from(relevant(r)))).collect();
        let ids: Vec<u32> = rows.iter().map(|(id, _)| *id).collect();
        (name.to_owned(), evaluate_slices(&scores, &labels, &ids, metrics).unwrap())
    }

    #[test]
    fn the_order_of_queries_does_not_change_a_comparison() {
        let forward: Vec<u32> = (0..9).collect();
        let backward: Vec<u32> = (0..9).rev().collect();
        let base = system("base", &forward, "rr", 1);
        let options = CompareOptions::default();
        let vs_baseline = |other| {
            let found = compare_evaluations(&[base.clone(), other], &options).unwrap();
            found.metrics[0].systems[1].vs_baseline.clone().unwrap()
        };
        let same_order = vs_baseline(system("x", &forward, "rr", 0));
        let other_order = vs_baseline(system("x", &backward, "rr", 0));
        assert_eq!(same_order, other_order);
        assert!(same_order.p < 1.0 && same_order.counts.wins > 0);
    }

    #[test]
    fn systems_with_different_queries_are_refused() {
        let base = system("base", &[1, 2, 3], "rr", 0);
        let refused = |ids: &[u32]| {
            let systems = [base.clone(), system("x", ids, "rr", 0)];
            compare_evaluations(&systems, &CompareOptions::default()).unwrap_err()
        };
        let lacks = CompareError::DifferentQueries {
            query: "2".into(),
            has: "base".into(),
            lacks: "x".into(),
        };
        assert_eq!(refused(&[1, 3]), lacks);
        assert_eq!(
            refused(&[1, 2, 3, 4]).to_string(),
            "x was evaluated on query 4 and base was not; expected the same queries for all systems"
        );
    }

    #[test]
    fn queries_with_the_same_id_are_paired_only_if_all_systems_have_the_same_order() {
        let mut twice = system("x", &[1, 2, 3], "rr", 0);
        twice.1.queries[1] = "1".to_owned();
        let same_order = align_evaluations(vec![twice.clone(), ("y".to_owned(), twice.1.clone())]);
        assert_eq!(same_order.unwrap()[1].1.queries, ["1", "1", "3"]);
        let error =
            align_evaluations(vec![system("base", &[1, 2, 3], "rr", 0), twice]).unwrap_err();
        assert_eq!(error.to_string(), "x has two queries with the id 1; expected different ids");
    }

    #[test]
    fn different_metrics_and_conventions_are_refused() {
        let base = system("base", &[1, 2], "rr", 0);
        for (metrics, expected) in [
            ("ap", "x was measured by ap ("),
            ("rr(blank=0)", "x was measured by rr(blank=0) (rel=1"),
            ("rr, ap", "x was measured by 2 metrics, the first system by 1 metric"),
        ] {
            let systems = [base.clone(), system("x", &[1, 2], metrics, 0)];
            let error = MetricValues::of_evaluations(&systems).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
