//! Lines below a table of metrics: conventions (how ties, unjudged documents and so on are
//! treated), methods of intervals, and metrics that depend strongly on the order of equal scores.
//!
//! Each fact is printed once. Conventions that all metrics of the table have in common are one
//! line; metrics that agree in all other conventions share a line; a cut-off that the name of the
//! metric shows is not repeated.

use rankwright_spec::words::counted;

use crate::evaluate::{Evaluation, MeasureResult};
use crate::stats::IntervalMethod;

/// The lines below a table of one evaluation: conventions, intervals that are not Student's, ties.
pub fn footnotes(results: &[MeasureResult]) -> Vec<String> {
    let mut lines = shared_footnotes(results);
    lines.extend(results.iter().filter_map(|result| {
        let text = tie_text(result)?;
        Some(format!("ties: {text}"))
    }));
    lines
}

/// The lines below a table of several evaluations by the same metrics, from the results of one of
/// them: conventions and intervals that are not Student's. [`tie_notes`] has the lines on ties.
pub fn shared_footnotes(results: &[MeasureResult]) -> Vec<String> {
    let mut lines = conventions(results);
    lines.extend(intervals(results));
    lines
}

/// For each of several systems, a line for each metric that depends strongly on the order of equal
/// scores.
pub fn tie_notes<'a>(systems: impl IntoIterator<Item = (&'a str, &'a Evaluation)>) -> Vec<String> {
    let lines = systems.into_iter().flat_map(|(name, evaluation)| {
        let texts = evaluation.results.iter().filter_map(tie_text);
        texts.map(move |text| format!("ties: {name}: {text}"))
    });
    lines.collect()
}

/// Lines `measures: conventions`. The conventions that all measures have in common are the last
/// line; measures that agree in all other conventions share a line.
pub fn conventions(results: &[MeasureResult]) -> Vec<String> {
    let all: Vec<Vec<&str>> =
        results.iter().map(|result| result.convention.split(", ").collect()).collect();
    let [first, rest @ ..] = all.as_slice() else { return Vec::new() };
    if rest.is_empty() {
        return vec![format!("{}: {}", results[0].measure, results[0].convention)];
    }
    let is_common = |entry: &&str| rest.iter().all(|other| other.contains(entry));
    let common: Vec<&str> = first.iter().copied().filter(is_common).collect();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for (result, entries) in results.iter().zip(&all) {
        let cutoff_in_name = result.measure.spec().cutoff.map(|k| format!("cutoff={k}"));
        let is_own =
            |entry: &&&str| !common.contains(*entry) && Some(**entry) != cutoff_in_name.as_deref();
        let own: Vec<&str> = entries.iter().filter(is_own).copied().collect();
        let (text, name) = (own.join(", "), result.measure.to_string());
        match groups.iter_mut().find(|(other, _)| *other == text) {
            Some((_, names)) => names.push(name),
            None => groups.push((text, vec![name])),
        }
    }
    let line = |(text, names): &(String, Vec<String>)| format!("{}: {text}", names.join(", "));
    let mut lines: Vec<String> =
        groups.iter().filter(|(text, _)| !text.is_empty()).map(line).collect();
    if !common.is_empty() {
        let prefix = if lines.is_empty() { "" } else { "all: " };
        lines.push(format!("{prefix}{}", common.join(", ")));
    }
    lines
}

/// A line on the intervals that are not Student's.
fn intervals(results: &[MeasureResult]) -> Option<String> {
    let measures_with = |method: IntervalMethod| -> Vec<String> {
        let found = results.iter().filter(|result| result.interval == Some(method));
        found.map(|result| result.measure.to_string()).collect()
    };
    let methods = [(IntervalMethod::Logit, "logit"), (IntervalMethod::Log, "logarithmic")];
    let parts: Vec<String> = methods
        .into_iter()
        .map(|(method, scale)| (measures_with(method), scale))
        .filter(|(measures, _)| !measures.is_empty())
        .map(|(measures, scale)| format!("on the {scale} scale for {}", measures.join(", ")))
        .collect();
    let text = parts.join(", ");
    (!text.is_empty()).then(|| {
        format!(
            "intervals: Student's t; {text}, where it would otherwise leave the range of the metric"
        )
    })
}

/// The effect of ties on a metric in words, if it is large.
fn tie_text(result: &MeasureResult) -> Option<String> {
    let ties = result.ties.filter(|ties| ties.is_large())?;
    Some(format!(
        "equal scores decide {} in {} of {}; it is {:.4} to {:.4}, depending on their order \
         (ties={} here)",
        result.measure,
        ties.queries,
        counted(result.queries, "query"),
        ties.low,
        ties.high,
        result.measure.conventions().ties.name(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{EvalOptions, evaluate};
    use crate::metric::MetricSpec;
    use crate::source::{ScoredQueries, SourceKind};

    fn results(specs: &[&str], scores: &[f64]) -> Vec<MeasureResult> {
        let labels = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0];
        let ids = vec!["a", "b", "c"];
        let source = ScoredQueries::new(&labels, scores, vec![0..2, 2..4, 4..6], ids).unwrap();
        let measure = |s: &&str| MetricSpec::parse(s).unwrap().resolve(SourceKind::Features);
        let measures: Vec<_> = specs.iter().map(|s| measure(s).unwrap()).collect();
        evaluate(&source, &measures, EvalOptions::default().tie_effect(true)).unwrap().results
    }

    /// Scores that rank the relevant document of each query first.
    const PERFECT_SCORES: [f64; 6] = [0.1, 0.2, 0.9, 0.3, 0.1, 0.2];

    #[test]
    fn one_metric_has_its_whole_convention() {
        let one = results(&["ndcg@10"], &PERFECT_SCORES);
        assert_eq!(conventions(&one), [format!("ndcg@10: {}", one[0].convention)]);
        assert!(conventions(&[]).is_empty());
    }

    #[test]
    fn conventions_in_common_are_said_once_and_cutoffs_not_twice() {
        let several = results(&["ndcg@5", "ndcg@10", "rr"], &PERFECT_SCORES);
        assert_eq!(
            conventions(&several),
            [
                "ndcg@5, ndcg@10: gain=exp, discount=log2, short=keep",
                "rr: rel=1, cutoff=none",
                "all: blank=skip, missing=zero, unjudged=nonrel, ties=worst, scores=f64",
            ]
        );
        let same = results(&["ndcg@5", "ndcg@10"], &PERFECT_SCORES);
        let [line] = &conventions(&same)[..] else { panic!("{same:?}") };
        assert!(line.starts_with("gain=exp, discount=log2, short=keep, blank=skip"), "{line}");
    }

    #[test]
    fn large_effects_of_ties_and_intervals_on_another_scale_have_a_line() {
        assert_eq!(footnotes(&results(&["p@1"], &PERFECT_SCORES)).len(), 1);
        let tied = results(&["rr"], &[1.0, 1.0, 2.0, 1.0, 0.1, 0.2]);
        let lines = footnotes(&tied);
        assert_eq!(
            lines[1..],
            [
                "intervals: Student's t; on the logit scale for rr, where it would otherwise leave \
                 the range of the metric",
                "ties: equal scores decide rr in 1 of 3 queries; it is 0.8333 to 1.0000, depending \
                 on their order (ties=worst here)"
            ]
        );
    }
}
