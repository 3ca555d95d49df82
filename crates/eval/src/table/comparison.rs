//! A [`Comparison`] as a table: of systems and metrics, or of every number of the comparison.
//!
//! Values have four decimals. The note below states how significance was decided and on how many
//! queries, so that the table can be read on its own. A hyphen replaces a missing number.

use rankwright_spec::words::counted;

use super::{Align, Cell, Table};
use crate::compare::{BaselineDelta, Comparison, MetricComparison, SystemResult};
use crate::stats::{Correction, IntervalMethod};

/// Systems as rows, metrics as columns: means with marks of significant differences from the
/// baseline; the best mean of each column is marked too.
///
/// ```
/// use rankwright_eval::compare::{CompareOptions, MetricValues, compare};
/// use rankwright_eval::table::comparison_table;
/// let systems = ["bm25".to_string(), "learnt".to_string()];
/// let values = vec![vec![Some(0.25), Some(0.5)], vec![Some(0.5), Some(0.75)]];
/// let metrics = [MetricValues::new("ndcg@10", values)];
/// let found = compare(&systems, &metrics, &CompareOptions::default().check()?)?;
/// assert!(comparison_table(&found).to_text().starts_with("\
/// system  ndcg@10
/// ------  --------
/// bm25     0.3750
/// learnt   0.6250*
/// "));
/// # Ok::<(), rankwright_eval::compare::CompareError>(())
/// ```
pub fn comparison_table(comparison: &Comparison) -> Table {
    let metrics = comparison.metrics.iter().map(|metric| (metric.label.as_str(), Align::Right));
    let mut table = Table::new(std::iter::once(("system", Align::Left)).chain(metrics));
    for (row, system) in comparison.systems.iter().enumerate() {
        let results = comparison.metrics.iter().map(|metric| metric.systems.get(row));
        let cells = results.map(|result| result.map(mean_cell).unwrap_or_default());
        table.rows.push(std::iter::once(Cell::new(system.as_str())).chain(cells).collect());
    }
    table.notes.push(legend(comparison));
    table
}

/// One row for each metric and system, with every number of the comparison.
pub fn comparison_details(comparison: &Comparison) -> Table {
    let corrected = match comparison.options.correction {
        Correction::None => None,
        correction => Some(format!("p {correction}")),
    };
    let mut columns = vec![("metric".to_owned(), Align::Left), ("system".to_owned(), Align::Left)];
    let numbers = ["mean", "95% CI", "difference", "95% CI", "p"].map(str::to_owned);
    let numbers = numbers.into_iter().chain(corrected.clone());
    let numbers = numbers.chain(["effect", "win/tie/loss", "queries"].map(str::to_owned));
    columns.extend(numbers.map(|name| (name, Align::Right)));
    let mut table = Table::new(columns);
    for metric in &comparison.metrics {
        for (system, result) in comparison.systems.iter().zip(&metric.systems) {
            let names = [metric.label.as_str(), system.as_str()].map(Cell::new);
            let numbers = detail_cells(result, corrected.is_some());
            table.rows.push(names.into_iter().chain(numbers).collect());
        }
    }
    table.notes.push(legend(comparison));
    let mut methods =
        comparison.metrics.iter().flat_map(|m| &m.systems).filter_map(|system| system.ci95_method);
    if methods.any(|method| method != IntervalMethod::T) {
        table.notes.push(
            "Intervals of means: Student's t, on the logit or logarithmic scale where it would \
             otherwise leave the range of the metric."
                .to_owned(),
        );
    }
    table
}

fn mean_cell(result: &SystemResult) -> Cell {
    let mark = result.vs_baseline.as_ref().map(|vs_baseline| vs_baseline.mark).unwrap_or_default();
    Cell { text: number_text(result.mean), best: result.best, mark }
}

/// The cells of a row after the names; `has_corrected` if there is a column of corrected p-values.
fn detail_cells(result: &SystemResult, has_corrected: bool) -> Vec<Cell> {
    let mut cells = vec![mean_cell(result), Cell::new(interval_text(result.ci95))];
    let queries = Cell::new(result.queries.to_string());
    let Some(vs_baseline) = &result.vs_baseline else {
        // The baseline has no difference, interval of it, p-values, effect and counts.
        cells.extend(std::iter::repeat_n(Cell::new("-"), if has_corrected { 6 } else { 5 }));
        cells.push(queries);
        return cells;
    };
    cells.push(Cell::new(signed_text(vs_baseline.difference)));
    cells.push(Cell::new(interval_text(vs_baseline.difference_ci95)));
    cells.push(Cell::new(p_value_text(vs_baseline.p)));
    if has_corrected {
        cells.push(Cell::new(p_value_text(vs_baseline.p_corrected)));
    }
    cells.push(Cell::new(signed_text(vs_baseline.effect)));
    let counts = vs_baseline.counts;
    cells.push(Cell::new(format!("{}/{}/{}", counts.wins, counts.ties, counts.losses)));
    cells.push(queries);
    cells
}

/// The meaning of the marks: test, correction, alpha, baseline, number of queries.
fn legend(comparison: &Comparison) -> String {
    let options = &comparison.options;
    let compared = comparison.systems.len().saturating_sub(1);
    let queries = query_counts(comparison);
    let baseline = comparison.systems.get(comparison.baseline);
    let Some(baseline) = baseline.filter(|_| compared > 0) else { return queries };
    let test = options.test_in_words();
    let correction = match compared {
        1 => "one comparison per metric".to_owned(),
        n => format!("{} over {n} systems per metric", options.correction.in_words()),
    };
    format!(
        "▲ significantly better, ▼ significantly worse than {baseline} at alpha {}: two-sided \
         {test}; {correction}. {queries}",
        options.alpha
    )
}

/// The number of queries of the means and pairs; for each metric if the numbers differ.
fn query_counts(comparison: &Comparison) -> String {
    let metrics = &comparison.metrics;
    let all =
        || metrics.iter().flat_map(|metric| query_numbers(metric).chain(pair_numbers(metric)));
    let (low, high) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    if low == high {
        return format!("{}.", counted(low, "query"));
    }
    let per_metric = |counts: fn(&MetricComparison) -> Vec<usize>| {
        let texts = metrics
            .iter()
            .map(|metric| format!("{} {}", metric.label, range_text(&counts(metric))));
        texts.collect::<Vec<_>>().join(", ")
    };
    let means = per_metric(|metric| query_numbers(metric).collect());
    if comparison.systems.len() < 2 {
        return format!("Queries: {means}.");
    }
    let pairs = per_metric(|metric| pair_numbers(metric).collect());
    format!("Queries in means: {means}; paired with the baseline: {pairs}.")
}

/// The number of queries of each system's mean.
fn query_numbers(metric: &MetricComparison) -> impl Iterator<Item = usize> {
    metric.systems.iter().map(|system| system.queries)
}

/// The number of queries in which each system is compared with the baseline.
fn pair_numbers(metric: &MetricComparison) -> impl Iterator<Item = usize> {
    metric
        .systems
        .iter()
        .filter_map(|system| system.vs_baseline.as_ref())
        .map(|vs_baseline: &BaselineDelta| vs_baseline.pairs)
}

/// `7` or `5 to 7`.
fn range_text(counts: &[usize]) -> String {
    let low = counts.iter().min().copied().unwrap_or(0);
    let high = counts.iter().max().copied().unwrap_or(0);
    if low == high { low.to_string() } else { format!("{low} to {high}") }
}

fn number_text(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| unsigned_zero(format!("{value:.4}")))
}

/// A number with its sign.
fn signed_text(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| unsigned_zero(format!("{value:+.4}")))
}

/// Removes the sign of a number that is zero after rounding.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix(['+', '-']) {
        Some("0.0000") => "0.0000".to_owned(),
        _ => text,
    }
}

fn interval_text(bounds: Option<[f64; 2]>) -> String {
    let Some([low, high]) = bounds else { return "-".to_owned() };
    format!("[{}, {}]", number_text(Some(low)), number_text(Some(high)))
}

fn p_value_text(p: f64) -> String {
    if p < 0.00005 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Test;
    use crate::compare::{CompareOptions, MetricValues, compare};

    /// Three systems on eight queries: the second always better, the third mixed.
    fn compare_three_systems(options: CompareOptions) -> Comparison {
        let base = [0.31, 0.42, 0.18, 0.55, 0.47, 0.29, 0.36, 0.62];
        let up = base.map(|v| v + 0.1);
        let mixed = [0.28, 0.47, 0.18, 0.49, 0.51, 0.20, 0.39, 0.64];
        let all_counted = |values: [f64; 8]| values.map(Some).to_vec();
        let systems = ["bm25", "rank_net", "linear-svm"].map(str::to_owned);
        let ndcg_values = [base, up, mixed].map(all_counted).to_vec();
        let ndcg = MetricValues::new("ndcg@10", ndcg_values);
        let map_values = [up, base, mixed].map(all_counted).to_vec();
        let map = MetricValues::new("map", map_values);
        compare(&systems, &[ndcg, map], &options.check().unwrap()).unwrap()
    }

    const LEGEND: &str = "▲ significantly better, ▼ significantly worse than bm25 at alpha 0.05: \
        two-sided randomisation test with 100000 samples, seed 1, exact where fewer assignments \
        exist; Holm correction over 2 systems per metric. 8 queries.";

    #[test]
    fn text_is_aligned_with_columns_for_star_and_mark() {
        let expected = "\
system      ndcg@10        map
----------  ----------  ---------
bm25         0.4000     0.5000*
rank_net     0.5000* ▲  0.4000  ▼
linear-svm   0.3950     0.3950  ▼

* best of the column.
";
        let found = comparison_table(&compare_three_systems(CompareOptions::default())).to_text();
        assert_eq!(found, format!("{expected}{LEGEND}\n"));
    }

    #[test]
    fn the_best_of_a_column_is_bold_in_markdown() {
        let expected = "\
| system     |      ndcg@10 |        map |
|:-----------|-------------:|-----------:|
| bm25       |       0.4000 | **0.5000** |
| rank\\_net  | **0.5000** ▲ |   0.4000 ▼ |
| linear-svm |       0.3950 |   0.3950 ▼ |
";
        let comparison = compare_three_systems(CompareOptions::default());
        let found = comparison_table(&comparison).to_markdown();
        assert_eq!(found, format!("{expected}\n{LEGEND}\n"));
    }

    #[test]
    fn latex_has_rules_and_escapes() {
        let expected = "\
% needs \\usepackage{booktabs,amssymb}
\\begin{tabular}{lrr}
\\toprule
system & ndcg@10 & map \\\\
\\midrule
bm25 & 0.4000 & \\textbf{0.5000} \\\\
rank\\_net & \\textbf{0.5000}$^{\\blacktriangle}$ & 0.4000$^{\\blacktriangledown}$ \\\\
linear-svm & 0.3950 & 0.3950$^{\\blacktriangledown}$ \\\\
\\bottomrule
\\end{tabular}

\\smallskip\\noindent{\\footnotesize $\\blacktriangle$ significantly better, \
$\\blacktriangledown$ significantly worse than bm25 at alpha 0.05: two-sided paired t-test; \
no correction over 2 systems per metric. 8 queries.\\par}
";
        let options =
            CompareOptions { test: Test::T, correction: Correction::None, ..Default::default() };
        assert_eq!(comparison_table(&compare_three_systems(options)).to_latex(), expected);
    }

    #[test]
    fn details_show_every_number_of_a_pair() {
        // stats.t.interval, stats.permutation_test(..., permutation_type='samples') of SciPy.
        let text = comparison_details(&compare_three_systems(CompareOptions::default())).to_text();
        let row = |system: &str| {
            let line = text.lines().find(|line| line.contains(system)).unwrap();
            line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(
            row("system"),
            [
                "metric",
                "system",
                "mean",
                "95% CI",
                "difference",
                "95% CI",
                "p",
                "p holm",
                "effect",
                "win/tie/loss",
                "queries"
            ]
        );
        assert_eq!(
            row("bm25"),
            ["ndcg@10", "bm25", "0.4000", "[0.2791, 0.5209]", "-", "-", "-", "-", "-", "-", "8"]
        );
        assert_eq!(
            row("linear-svm"),
            [
                "ndcg@10",
                "linear-svm",
                "0.3950",
                "[0.2589, 0.5311]",
                "-0.0050",
                "[-0.0472, 0.0372]",
                "0.8438",
                "0.8438",
                "-0.0992",
                "4/1/3",
                "8"
            ]
        );
    }

    #[test]
    fn differing_query_counts_are_given_per_metric() {
        let systems = ["a", "b"].map(str::to_owned);
        let values = vec![vec![Some(0.5), None, Some(0.1)], vec![None, Some(0.5), Some(0.2)]];
        let all_counted = vec![vec![Some(0.5); 3], vec![Some(0.5); 3]];
        let metrics = [MetricValues::new("map", values), MetricValues::new("rr", all_counted)];
        let options = CompareOptions::default().check().unwrap();
        let found = comparison_table(&compare(&systems, &metrics, &options).unwrap());
        let legend = &found.notes[0];
        let expected = "one comparison per metric. Queries in means: map 2, rr 3; paired with the \
                        baseline: map 1, rr 3.";
        assert!(legend.ends_with(expected), "{legend}");
    }

    #[test]
    fn the_note_of_a_single_system_does_not_mention_significance() {
        let metric = MetricValues::new("map", vec![vec![Some(0.5)]]);
        let options = CompareOptions::default().check().unwrap();
        let found = compare(&["a".to_owned()], &[metric], &options).unwrap();
        assert_eq!(
            comparison_table(&found).to_text(),
            "system     map\n------  ------\na       0.5000\n\n1 query.\n"
        );
    }

    #[test]
    fn numbers_are_rounded_without_a_negative_zero() {
        assert_eq!(number_text(Some(-0.00001)), "0.0000");
        assert_eq!(signed_text(Some(0.00001)), "0.0000");
        assert_eq!(signed_text(Some(0.25)), "+0.2500");
        assert_eq!(number_text(None), "-");
        assert_eq!(p_value_text(0.00004), "<0.0001");
        assert_eq!(p_value_text(0.00005), "0.0001");
    }
}
