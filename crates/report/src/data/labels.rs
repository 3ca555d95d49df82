//! Distribution of labels, of documents per query, and of relevant documents per query.

use rankwright_eval::table::{Align, Cell, Table};

use super::DataReport;
use super::histogram::{Bin, bins};
use crate::chart::{Axis, BarSeries, Bars, Body, Chart, Grouping};
use crate::page::{PageBlock, Section};

/// Maximum number of bars; if there are more labels, neighbouring labels share a bar.
const MAX_BARS: usize = 20;

/// Name of each bar of labels and its number of documents.
fn label_bars(report: &DataReport) -> Vec<(String, usize)> {
    let labels = &report.summary.labels;
    if labels.len() <= MAX_BARS {
        return labels.iter().map(|(label, rows)| (label.to_string(), *rows)).collect();
    }
    let size = labels.len().div_ceil(MAX_BARS);
    let bar = |chunk: &[(f64, usize)]| {
        let rows = chunk.iter().map(|(_, rows)| rows).sum();
        match chunk {
            [(first, _), .., (last, _)] => (format!("{first} to {last}"), rows),
            [(only, _)] => (only.to_string(), rows),
            [] => (String::new(), rows),
        }
    };
    labels.chunks(size).map(bar).collect()
}

/// A bar chart of counts; `bars` are names and counts, `x` and `y` the labels of the axes.
fn count_chart(id: &str, [title, caption, x, y]: [&str; 4], bars: Vec<(String, usize)>) -> Chart {
    let (categories, values): (Vec<String>, Vec<usize>) = bars.into_iter().unzip();
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x: Axis { label: x.to_owned(), ..Axis::default() },
        y: Axis { label: y.to_owned(), ..Axis::default() },
        body: Body::Bars(Bars {
            categories,
            series: vec![BarSeries {
                name: y.to_owned(),
                values: values.into_iter().map(|count| count as f64).collect(),
                ..BarSeries::default()
            }],
            grouping: Grouping::Beside,
            horizontal: false,
        }),
    }
}

/// The section: three charts and a table of counts.
pub(super) fn section(report: &DataReport) -> Section {
    let named = |bins: Vec<Bin>| bins.iter().map(|bin| (bin.name(), bin.count)).collect();
    let texts = ["Labels", "The number of documents with each label.", "Label", "Documents"];
    let labels = count_chart("labels-chart", texts, label_bars(report));
    let caption = "The number of queries by their number of documents.";
    let texts = ["Documents per query", caption, "Documents", "Queries"];
    let sizes = count_chart("sizes", texts, named(bins(&report.sizes)));
    let caption = "The number of queries by their number of documents with a label of 1 or more. \
                   Most metrics have no value for a query without such a document.";
    let texts = ["Relevant documents per query", caption, "Relevant documents", "Queries"];
    let relevant = count_chart("relevant", texts, named(bins(&report.relevant)));
    let table = PageBlock::Table {
        id: "counts".to_owned(),
        title: "Counts".to_owned(),
        table: table(report),
    };
    let blocks =
        [labels, sizes, relevant].map(PageBlock::Chart).into_iter().chain([table]).collect();
    Section { id: "labels".to_owned(), title: "Labels and queries".to_owned(), blocks }
}

/// The table of counts.
fn table(report: &DataReport) -> Table {
    let s = &report.summary;
    let mut table = Table::new([("quantity", Align::Left), ("value", Align::Right)]);
    let lines = [
        ("queries", s.queries.to_string()),
        ("documents", s.rows.to_string()),
        ("features", s.features.len().to_string()),
        ("documents per query, minimum", s.sizes.min.to_string()),
        ("documents per query, median", s.sizes.median.to_string()),
        ("documents per query, mean", format!("{:.1}", s.sizes.mean)),
        ("documents per query, maximum", s.sizes.max.to_string()),
        (
            "queries with a label of 1 or more",
            s.queries.saturating_sub(s.blank_queries).to_string(),
        ),
        ("queries without a label of 1 or more", s.blank_queries.to_string()),
        ("queries whose labels are all equal", s.equal_label_queries.to_string()),
        ("queries with one document", s.single_queries.to_string()),
    ];
    for (quantity, count) in lines {
        table.rows.push(vec![quantity.into(), Cell::new(count)]);
    }
    table
}
