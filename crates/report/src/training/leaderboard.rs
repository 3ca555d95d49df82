//! The candidates of an automatic training: values with intervals, weights in the blend and times,
//! from the log of the training.

use rankwright_eval::table::{Align, Table};
use rankwright_learn::{AutoCandidate, AutoReport};

use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::page::{PageBlock, Section};

/// The section: the estimate, the values of all candidates, their weights and times.
pub(super) fn section(report: &AutoReport) -> Section {
    let mut candidates: Vec<&AutoCandidate> = report.candidates.iter().collect();
    let value = |candidate: &AutoCandidate| candidate.value.unwrap_or(f64::NEG_INFINITY);
    candidates.sort_by(|a, b| value(b).total_cmp(&value(a)));
    let mut blocks = vec![PageBlock::Text(format!("{}.", report.text()))];
    blocks.extend(report.served_text().map(|text| PageBlock::Text(format!("{text}."))));
    let trained: Vec<&AutoCandidate> =
        candidates.iter().copied().filter(|candidate| candidate.value.is_some()).collect();
    blocks.push(PageBlock::Chart(values(report, &trained)));
    let weight = |candidate: &AutoCandidate| candidate.weight;
    let weights = bars("candidates-weights", "Weights in the blend", "weight", &trained, &weight);
    blocks.push(PageBlock::Chart(weights));
    let seconds = |candidate: &AutoCandidate| candidate.seconds;
    let times = bars("candidates-times", "Time spent", "seconds", &trained, &seconds);
    blocks.push(PageBlock::Chart(times));
    blocks.push(PageBlock::Table {
        id: "candidates-table".into(),
        title: "All candidates".into(),
        table: table(report, &candidates),
    });
    Section { id: "candidates".into(), title: "Candidates".into(), blocks }
}

/// The value of each candidate with its interval.
fn values(report: &AutoReport, candidates: &[&AutoCandidate]) -> Chart {
    let value = |candidate: &AutoCandidate| candidate.value.unwrap_or(f64::NAN);
    let mut chart = bars(
        "candidates-values",
        "Values on queries that were not trained on",
        &report.metric,
        candidates,
        &value,
    );
    chart.caption =
        "The error bars are 95 % intervals. Candidates that were dropped after the first \
                     fold are evaluated on that fold only."
            .into();
    if let Body::Bars(Bars { series, .. }) = &mut chart.body {
        let interval = |candidate: &&AutoCandidate| {
            candidate.ci95.unwrap_or((value(candidate), value(candidate)))
        };
        series.iter_mut().for_each(|s| s.band = candidates.iter().map(interval).collect());
    }
    chart
}

/// A bar for each candidate.
fn bars(
    id: &str,
    title: &str,
    axis: &str,
    candidates: &[&AutoCandidate],
    value: &dyn Fn(&AutoCandidate) -> f64,
) -> Chart {
    Chart {
        id: id.into(),
        title: title.into(),
        caption: String::new(),
        x: Axis { label: "candidate".into(), ..Axis::default() },
        y: Axis { label: axis.into(), ..Axis::default() },
        body: Body::Bars(Bars {
            categories: candidates.iter().map(|candidate| candidate.learner.clone()).collect(),
            series: vec![BarSeries {
                name: axis.into(),
                values: candidates.iter().map(|candidate| value(candidate)).collect(),
                ..BarSeries::default()
            }],
            grouping: Grouping::Beside,
            horizontal: true,
        }),
    }
}

/// A row for each candidate.
fn table(report: &AutoReport, candidates: &[&AutoCandidate]) -> Table {
    let mut table = Table::new([
        ("candidate", Align::Left),
        (report.metric.as_str(), Align::Right),
        ("95% interval", Align::Right),
        ("folds", Align::Right),
        ("weight", Align::Right),
        ("seconds", Align::Right),
        ("failure", Align::Left),
    ]);
    for candidate in candidates {
        let number = |value: f64| format!("{value:.4}");
        let interval = candidate.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
        let row = [
            candidate.learner.clone(),
            candidate.value.map(number).unwrap_or_default(),
            interval.unwrap_or_default(),
            candidate.folds.to_string(),
            format!("{:.2}", candidate.weight),
            format!("{:.2}", candidate.seconds),
            candidate.failure.clone().unwrap_or_default(),
        ];
        table.rows.push(row.iter().map(|cell| cell.as_str().into()).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::generate::LetorOptions;
    use rankwright_learn::{LearnerSpec, TrainRequest};

    #[test]
    fn the_best_candidate_comes_first_with_its_interval_and_weight() {
        let data = LetorOptions { queries: 20, documents: 10, seed: 1 }.generate().unwrap();
        let text = "auto(candidates=mart(trees=3)+ranksvm, folds=3)";
        let result = LearnerSpec::parse(text).unwrap().train(TrainRequest::new(&data)).unwrap();
        let report = result.choice.unwrap();
        let section = section(&report);
        let Some(PageBlock::Table { table, .. }) = section.blocks.last() else {
            panic!("no table")
        };
        assert_eq!(table.rows.len(), 2);
        let charts: Vec<&Chart> = section
            .blocks
            .iter()
            .filter_map(
                |block| if let PageBlock::Chart(chart) = block { Some(chart) } else { None },
            )
            .collect();
        assert_eq!(charts.len(), 3);
        let Body::Bars(bars) = &charts[0].body else { panic!("no bars") };
        assert!(bars.series[0].values[0] >= bars.series[0].values[1]);
        let (low, high) = bars.series[0].band[0];
        assert!(low < bars.series[0].values[0] && bars.series[0].values[0] < high);
    }
}
