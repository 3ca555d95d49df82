//! Report on an interleaved comparison: impressions won and lost by clicks, the difference with its
//! interval, and the number of impressions that are needed to find a difference.
//!
//! The numbers come from the caller. Edge cases: without a clicked impression there are counts and
//! no differences; without a winner there is no table of impressions that are needed.

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_spec::words::counted;

use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping, Scale, Series, SeriesColour};
use crate::page::{Page, PageBlock, Section};

/// The comparison of two rankers by clicks on interleaved lists.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComparedRankers {
    /// The baseline.
    pub first: String,
    /// The other ranker; delta is above 0 if it is better.
    pub second: String,
    /// Impressions that the second ranker won.
    pub wins: usize,
    /// Impressions that the first ranker won.
    pub losses: usize,
    /// Clicked impressions without a winner.
    pub ties: usize,
    /// Impressions without clicks.
    pub without_clicks: usize,
    /// Share of the clicked impressions won by the second ranker, ties as half, minus 1/2.
    pub delta: Option<f64>,
    /// The 95% interval of delta.
    pub delta_ci95: Option<[f64; 2]>,
    /// The mean of delta over queries.
    pub query_delta: Option<f64>,
    /// The 95% interval of that mean.
    pub query_delta_ci95: Option<[f64; 2]>,
    /// The p-value of the sign test on impressions with a winner.
    pub p: Option<f64>,
    /// The p-value, corrected for several comparisons.
    pub p_corrected: Option<f64>,
    /// Share of the impressions with a winner that the better ranker won here, and number of
    /// impressions that are needed to find a difference of this size.
    pub needed: Option<(f64, u64)>,
    /// The same for other, hypothetical shares.
    pub power: Vec<(f64, u64)>,
}

impl ComparedRankers {
    fn name(&self) -> String {
        format!("{} vs. {}", self.second, self.first)
    }

    fn impressions(&self) -> usize {
        self.wins + self.losses + self.ties + self.without_clicks
    }
}

/// An interleaved comparison of two or more rankers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InterleavingReport {
    /// Name and value of facts about the comparison: method, number of lists.
    pub facts: Vec<(String, String)>,
    /// The groups of impressions that the bootstrap of the intervals draws as a whole, in the
    /// plural, such as `users`.
    pub clusters: String,
    /// The correction of p-values for several comparisons.
    pub correction: String,
    /// The comparison of each two rankers.
    pub comparisons: Vec<ComparedRankers>,
}

impl InterleavingReport {
    /// Impressions won, lost and tied, as in Table 2 of Joachims (2002).
    pub fn counts_table(&self) -> Table {
        let columns = ["more clicks", "fewer clicks", "tie (with clicks)", "no clicks", "total"];
        let columns = columns.map(|name| (name, Align::Right));
        let mut table = Table::new(std::iter::once(("comparison", Align::Left)).chain(columns));
        for compared in &self.comparisons {
            let ComparedRankers { wins, losses, ties, without_clicks, .. } = compared;
            let counts = [*wins, *losses, *ties, *without_clicks, compared.impressions()];
            let counts = counts.map(|count| Cell::new(count.to_string()));
            table.rows.push(std::iter::once(Cell::new(compared.name())).chain(counts).collect());
        }
        table.notes.push(
            "impressions in which the first-named ranker has more or less credit for the clicks"
                .to_owned(),
        );
        table
    }

    /// Delta and delta by query with their intervals, and the p-value.
    pub fn difference_table(&self) -> Table {
        let several = self.comparisons.len() > 1;
        let mut columns = vec!["delta", "95% interval", "delta by query", "95% interval", "p"];
        columns.extend(several.then_some("corrected p"));
        let columns = columns.into_iter().map(|name| (name, Align::Right));
        let mut table = Table::new(std::iter::once(("comparison", Align::Left)).chain(columns));
        for compared in &self.comparisons {
            let mut cells = vec![
                compared.name(),
                number(compared.delta),
                interval(compared.delta_ci95),
                number(compared.query_delta),
                interval(compared.query_delta_ci95),
                p_value(compared.p),
            ];
            cells.extend(several.then(|| p_value(compared.p_corrected)));
            table.rows.push(cells.into_iter().map(Cell::new).collect());
        }
        table.notes.push(format!(
            "delta: share of the clicked impressions won, ties as half, minus 1/2; interval by \
             bootstrap over {}",
            self.clusters
        ));
        table.notes.push(
            "delta by query: mean over queries; p: exact sign test on impressions with a winner"
                .to_owned(),
        );
        if several {
            table.notes.push(format!("correction of the p-values: {}", self.correction));
        }
        table
    }

    /// Number of impressions that are needed to find a difference; none if there are several
    /// comparisons or no impression has a winner.
    pub fn power_table(&self) -> Option<Table> {
        let [compared] = &self.comparisons[..] else { return None };
        let mut table = Table::new(
            ["better ranker wins", "impressions needed"].map(|name| (name, Align::Right)),
        );
        let mut row = |share: f64, impressions: u64, note: &str| {
            let share = format!("{:.1} %{note}", 100.0 * share);
            table.rows.push(vec![Cell::new(share), Cell::new(impressions.to_string())]);
        };
        if let Some((share, impressions)) = compared.needed {
            row(share, impressions, " (as here)");
        }
        compared.power.iter().for_each(|(share, impressions)| row(*share, *impressions, ""));
        table.notes.push(format!(
            "wins: share of the impressions with a winner; impressions needed: to find the \
             difference with probability 0.8 at level 0.05, if the same share of impressions has a \
             winner as among the {} so far",
            counted(compared.impressions(), "impression")
        ));
        (!table.rows.is_empty()).then_some(table)
    }

    /// The report as a page.
    pub fn page(&self) -> Page {
        let table = |id: &str, title: &str, table: Table| PageBlock::Table {
            id: id.to_owned(),
            title: title.to_owned(),
            table,
        };
        let outcome = vec![
            table("outcome-counts", "Impressions won and lost", self.counts_table()),
            PageBlock::Chart(self.outcome_chart()),
        ];
        let difference = vec![
            table("differences", "Differences and tests", self.difference_table()),
            PageBlock::Chart(self.delta_chart()),
        ];
        let section = |id: &str, title: &str, blocks: Vec<PageBlock>| Section {
            id: id.to_owned(),
            title: title.to_owned(),
            blocks,
        };
        let mut sections = vec![
            section("outcomes", "Wins and losses", outcome),
            section("difference", "The difference", difference),
        ];
        if let ([compared], Some(power)) = (&self.comparisons[..], self.power_table()) {
            let blocks = vec![
                table("impressions-needed", "Impressions that are needed", power),
                PageBlock::Chart(power_chart(compared)),
            ];
            sections.push(section("power", "How many impressions are needed", blocks));
        }
        Page {
            title: "Interleaved comparison".to_owned(),
            summary: self.comparisons.iter().map(summary).collect::<Vec<_>>().join(" "),
            facts: self.facts.clone(),
            conventions: Vec::new(),
            sections,
        }
    }

    fn outcome_chart(&self) -> Chart {
        type Count = fn(&ComparedRankers) -> usize;
        let outcomes: [(&str, Count); 4] = [
            ("more clicks", |compared| compared.wins),
            ("tie", |compared| compared.ties),
            ("fewer clicks", |compared| compared.losses),
            ("no clicks", |compared| compared.without_clicks),
        ];
        let series = outcomes.map(|(name, count)| BarSeries {
            name: name.to_owned(),
            values: self.comparisons.iter().map(|compared| count(compared) as f64).collect(),
            ..BarSeries::default()
        });
        Chart {
            id: "outcome-chart".to_owned(),
            title: "Impressions by outcome".to_owned(),
            caption:
                "Impressions in which the first-named ranker has more credit for the clicks, as \
                      much or less, and impressions without clicks."
                    .to_owned(),
            x: Axis { label: "Comparison".to_owned(), ..Axis::default() },
            y: Axis { label: "Impressions".to_owned(), ..Axis::default() },
            body: Body::Bars(Bars {
                categories: self.comparisons.iter().map(ComparedRankers::name).collect(),
                series: series.to_vec(),
                grouping: Grouping::Stacked,
                horizontal: true,
            }),
        }
    }

    fn delta_chart(&self) -> Chart {
        let value = |delta: Option<f64>| delta.unwrap_or(f64::NAN);
        let band = |ci95: Option<[f64; 2]>| ci95.map_or((f64::NAN, f64::NAN), |[a, b]| (a, b));
        let all = &self.comparisons;
        let series = vec![
            BarSeries {
                name: "by impression".to_owned(),
                values: all.iter().map(|compared| value(compared.delta)).collect(),
                band: all.iter().map(|compared| band(compared.delta_ci95)).collect(),
                ..BarSeries::default()
            },
            BarSeries {
                name: "by query".to_owned(),
                values: all.iter().map(|compared| value(compared.query_delta)).collect(),
                band: all.iter().map(|compared| band(compared.query_delta_ci95)).collect(),
                ..BarSeries::default()
            },
        ];
        Chart {
            id: "delta-chart".to_owned(),
            title: "Difference of the rankers".to_owned(),
            caption: "Share of the clicked impressions that the first-named ranker won, ties as half, \
                      minus 1/2, with 95% intervals. Above 0 it is better. By query, each query counts \
                      the same, however often it was asked."
                .to_owned(),
            x: Axis { label: "Comparison".to_owned(), ..Axis::default() },
            y: Axis { label: "Delta".to_owned(), limits: Some((-0.5, 0.5)), ..Axis::default() },
            body: Body::Bars(Bars {
                categories: all.iter().map(ComparedRankers::name).collect(),
                series,
                grouping: Grouping::Beside,
                horizontal: false,
            }),
        }
    }
}

/// The number of impressions by the share of wins.
fn power_chart(compared: &ComparedRankers) -> Chart {
    let points = |rows: &[(f64, u64)]| -> Vec<(f64, f64)> {
        rows.iter().map(|(share, impressions)| (100.0 * share, *impressions as f64)).collect()
    };
    let mut rows = compared.power.clone();
    rows.extend(compared.needed);
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends: Vec<f64> = points(&rows).iter().map(|(share, _)| *share).collect();
    let so_far = compared.impressions() as f64;
    let ends = ends.first().copied().zip(ends.last().copied());
    Chart {
        id: "power-chart".to_owned(),
        title: "Impressions that are needed to find a difference".to_owned(),
        caption: "The larger the share of the better ranker's wins, the fewer impressions are needed \
                  to find the difference with probability 0.8 at level 0.05. Dashed: impressions so \
                  far."
        .to_owned(),
        x: Axis { label: "Wins of the better ranker, %".to_owned(), ..Axis::default() },
        y: Axis { label: "Impressions".to_owned(), scale: Scale::Log, ..Axis::default() },
        body: Body::Lines(vec![
            Series { name: "needed".to_owned(), points: points(&rows), ..Series::default() },
            Series {
                name: "so far".to_owned(),
                points: ends.map_or(Vec::new(), |(a, b)| vec![(a, so_far), (b, so_far)]),
                dashed: true,
                colour: SeriesColour::Distinct,
                ..Series::default()
            },
        ]),
    }
}

/// The result of a comparison in a sentence.
fn summary(compared: &ComparedRankers) -> String {
    let (name, baseline) = (&compared.second, &compared.first);
    let Some((delta, p)) = compared.delta.zip(compared.p_corrected.or(compared.p)) else {
        return format!("There are no clicks, so {name} and {baseline} cannot be compared.");
    };
    let judgement = match (p < 0.05, delta > 0.0) {
        (true, true) => "is significantly better than",
        (true, false) => "is significantly worse than",
        (false, _) => "is not significantly different from",
    };
    format!(
        "{name} {judgement} {baseline}: it won {} and lost {} (delta {}, p {}).",
        counted(compared.wins, "impression"),
        compared.losses,
        number(Some(delta)),
        p_value(Some(p))
    )
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:+.4}"))
}

fn interval(interval: Option<[f64; 2]>) -> String {
    interval.map_or("-".to_owned(), |[low, high]| format!("{low:+.4} to {high:+.4}"))
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.00005 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first row of Table 2 of Joachims (2002).
    fn google() -> ComparedRankers {
        ComparedRankers {
            first: "Google".to_owned(),
            second: "Learned".to_owned(),
            wins: 29,
            losses: 13,
            ties: 27,
            without_clicks: 19,
            delta: Some(0.1159),
            delta_ci95: Some([0.03, 0.2]),
            query_delta: Some(0.1),
            query_delta_ci95: None,
            p: Some(0.0195),
            p_corrected: Some(0.0195),
            needed: Some((0.69, 100)),
            power: vec![(0.51, 20_000), (0.7, 90)],
        }
    }

    fn report(comparisons: Vec<ComparedRankers>) -> InterleavingReport {
        let clusters = "users".to_owned();
        InterleavingReport { clusters, comparisons, ..InterleavingReport::default() }
    }

    #[test]
    fn the_page_has_the_table_the_difference_and_the_impressions_needed() {
        let report = report(vec![google()]);
        let text = report.counts_table().to_text();
        assert!(
            text.lines().any(|line| {
                let row = ["Learned", "vs.", "Google", "29", "13", "27", "19", "88"];
                line.split_whitespace().eq(row)
            }),
            "{text}"
        );
        let page = report.page();
        let ids: Vec<&str> = page.sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["outcomes", "difference", "power"]);
        assert!(page.summary.contains("Learned is significantly better than Google"));
        let html = page.to_html().unwrap();
        for chart in ["outcome-chart", "delta-chart", "power-chart"] {
            assert!(html.contains(chart));
        }
    }

    #[test]
    fn several_rankers_have_corrected_values_and_no_clicks_no_difference() {
        let none = ComparedRankers { first: "a".into(), second: "b".into(), ..Default::default() };
        let page = report(vec![google(), none.clone()]).page();
        assert_eq!(page.sections.len(), 2);
        assert!(page.to_html().unwrap().contains("corrected p"));
        assert!(page.summary.contains("There are no clicks"), "{}", page.summary);
        assert!(report(vec![none]).power_table().is_none());
    }
}
