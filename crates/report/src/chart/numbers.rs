//! The numbers of a chart: CSV with one row per value, JSON of the whole chart, and a table for
//! people.
//!
//! CSV follows RFC 4180; numbers are written so that they read back to the same float, and a gap is
//! an empty field (in JSON null). The table for people has few digits, and a column for each series
//! of lines, stacked areas or bars, unless they have intervals.

use std::collections::HashMap;

use rankwright_spec::visible;
use serde_json::{Value, json};

use super::number::short;
use super::svg::heat::{cell, grid};
use super::{Axis, BarSeries, Body, Chart, Grouping, Scale, Series};

/// A value of a table: a name or a number; a number that is not finite is a gap.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TableValue {
    Name(String),
    Number(f64),
}

impl TableValue {
    fn csv(&self) -> String {
        match self {
            TableValue::Name(name) => csv_field(name),
            TableValue::Number(v) if v.is_finite() => v.to_string(),
            TableValue::Number(_) => String::new(),
        }
    }

    /// The value in short form, for people.
    pub(crate) fn short(&self) -> String {
        match self {
            TableValue::Name(name) => name.clone(),
            TableValue::Number(v) if v.is_finite() => short(*v),
            TableValue::Number(_) => String::new(),
        }
    }
}

/// Header and rows.
pub(crate) type Rows = (Vec<String>, Vec<Vec<TableValue>>);

/// A field of a CSV file, in quotes where it needs them; control characters other than line breaks
/// and tabs are escaped.
pub(crate) fn csv_field(text: &str) -> String {
    let text = &*visible::lines(text);
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn name(text: &str) -> TableValue {
    TableValue::Name(text.to_owned())
}

impl Chart {
    /// The numbers as CSV, one row per value, with a header.
    ///
    /// ```
    /// use rankwright_report::chart::{Axis, Bars, BarSeries, Body, Chart, Grouping};
    /// let chart = Chart {
    ///     id: "importance".into(),
    ///     title: "Gain by feature".into(),
    ///     caption: String::new(),
    ///     x: Axis::default(),
    ///     y: Axis::default(),
    ///     body: Body::Bars(Bars {
    ///         categories: vec!["bm25".into()],
    ///         series: vec![BarSeries { name: "gain".into(), values: vec![0.5], ..BarSeries::default() }],
    ///         grouping: Grouping::Beside,
    ///         horizontal: true,
    ///     }),
    /// };
    /// assert_eq!(chart.to_csv(), "category,series,value,low,high\nbm25,gain,0.5,,\n");
    /// ```
    pub fn to_csv(&self) -> String {
        let (header, rows) = self.row_per_value();
        let mut out = header.join(",") + "\n";
        for row in rows {
            out.push_str(&row.iter().map(TableValue::csv).collect::<Vec<_>>().join(","));
            out.push('\n');
        }
        out
    }

    /// The chart as data: titles, axes and values.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "id": self.id,
            "title": self.title,
            "caption": self.caption,
            "x": axis_json(&self.x),
            "y": axis_json(&self.y),
        });
        let (kind, content) = match &self.body {
            Body::Lines(all) => ("lines", series_json(all)),
            Body::Points(all) => ("points", series_json(all)),
            Body::Stack(all) => ("stack", series_json(all)),
            Body::Bars(bars) => {
                let series = bars.series.iter().map(
                    |s| json!({"name": s.name, "values": s.values, "band": pairs_json(&s.band)}),
                );
                let stacked = bars.grouping == Grouping::Stacked;
                out["categories"] = json!(bars.categories);
                out["stacked"] = json!(stacked);
                ("bars", series.collect())
            }
            Body::HeatMap(heat) => {
                out["columns"] = json!(heat.columns);
                out["rows"] = json!(heat.rows);
                ("heat", json!([{"name": heat.value, "cells": heat.cells}]))
            }
            Body::Forces(forces) => {
                let lists = forces.lists.iter().map(|(name, list)| {
                    let documents = list
                        .iter()
                        .map(|d| json!({"name": d.name, "label": d.label, "force": d.force}));
                    json!({"name": name, "documents": documents.collect::<Value>()})
                });
                ("forces", lists.collect())
            }
        };
        out["kind"] = json!(kind);
        out["series"] = content;
        out
    }

    /// A table with one row per value.
    fn row_per_value(&self) -> Rows {
        let header = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match &self.body {
            Body::Lines(all) | Body::Points(all) | Body::Stack(all) => {
                let rows = all.iter().flat_map(row_per_point).collect();
                (header(&["series", "x", "y", "low", "high", "name"]), rows)
            }
            Body::Bars(bars) => {
                let rows = bars.series.iter().flat_map(|series| {
                    let categories = bars.categories.iter().enumerate();
                    categories.map(|(c, category)| {
                        let [low, high] = band_at(&series.band, c);
                        vec![name(category), name(&series.name), value_at(series, c), low, high]
                    })
                });
                (header(&["category", "series", "value", "low", "high"]), rows.collect())
            }
            Body::HeatMap(heat) => {
                let rows = grid(heat).map(|(r, c)| {
                    let name_at = |names: &[String], i: usize| {
                        name(names.get(i).map(String::as_str).unwrap_or_default())
                    };
                    let value = TableValue::Number(cell(heat, r, c).unwrap_or(f64::NAN));
                    vec![name_at(&heat.rows, r), name_at(&heat.columns, c), value]
                });
                (header(&["row", "column", "value"]), rows.collect())
            }
            Body::Forces(forces) => {
                let rows = forces.lists.iter().flat_map(|(list, documents)| {
                    documents.iter().enumerate().map(|(rank, d)| {
                        let numbers = [rank as f64 + 1.0, d.label, d.force].map(TableValue::Number);
                        let [rank, label, force] = numbers;
                        vec![name(list), rank, name(&d.name), label, force]
                    })
                });
                (header(&["list", "rank", "document", "label", "force"]), rows.collect())
            }
        }
    }

    /// A table for people: the series of lines, stacked areas and bars without intervals side by
    /// side; an x or a category that a series lacks is a gap.
    pub(crate) fn table(&self) -> Rows {
        match &self.body {
            Body::Lines(all) | Body::Stack(all) if all.iter().all(|s| s.band.is_empty()) => {
                by_x(&self.x.label, all)
            }
            Body::Bars(bars) if bars.series.iter().all(|s| s.band.is_empty()) => {
                let first_column = if self.x.label.is_empty() { "category" } else { &self.x.label };
                let names = bars.series.iter().map(|s| match s.name.is_empty() {
                    true => self.y.label.clone(),
                    false => s.name.clone(),
                });
                let header = std::iter::once(first_column.to_owned()).chain(names).collect();
                let rows = bars.categories.iter().enumerate().map(|(c, category)| {
                    let values = bars.series.iter().map(|s| value_at(s, c));
                    std::iter::once(name(category)).chain(values).collect()
                });
                (header, rows.collect())
            }
            // A wider grid is easier to read with one row per value.
            Body::HeatMap(heat) if heat.columns.len() <= 30 => {
                let header = std::iter::once(self.y.label.clone()).chain(heat.columns.clone());
                let rows = heat.rows.iter().enumerate().map(|(r, row)| {
                    let cells = (0..heat.columns.len()).map(|c| cell(heat, r, c));
                    let cells = cells.map(|v| TableValue::Number(v.unwrap_or(f64::NAN)));
                    std::iter::once(name(row)).chain(cells).collect()
                });
                (header.collect(), rows.collect())
            }
            _ => without_blank_columns(self.row_per_value()),
        }
    }
}

fn axis_json(axis: &Axis) -> Value {
    let scale = match axis.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    };
    json!({"label": axis.label, "scale": scale, "range": axis.range})
}

fn pairs_json(pairs: &[(f64, f64)]) -> Value {
    pairs.iter().map(|(first, second)| json!([first, second])).collect()
}

fn series_json(all: &[Series]) -> Value {
    let series = |s: &Series| {
        json!({
            "name": s.name,
            "points": pairs_json(&s.points),
            "band": pairs_json(&s.band),
            "names": s.names,
            "dashed": s.dashed,
        })
    };
    all.iter().map(series).collect()
}

/// The rows of a series: its name, x, y, both ends of the band and the point's name.
fn row_per_point(series: &Series) -> impl Iterator<Item = Vec<TableValue>> {
    series.points.iter().enumerate().map(move |(i, (x, y))| {
        let point_name = series.names.get(i).map(String::as_str).unwrap_or_default();
        let [x, y] = [*x, *y].map(TableValue::Number);
        let [low, high] = band_at(&series.band, i);
        vec![name(&series.name), x, y, low, high, name(point_name)]
    })
}

/// The value of a category; a gap if there is none.
fn value_at(series: &BarSeries, category: usize) -> TableValue {
    TableValue::Number(series.values.get(category).copied().unwrap_or(f64::NAN))
}

/// The lower and the upper end of the `i`-th interval; gaps if there is none.
fn band_at(band: &[(f64, f64)], i: usize) -> [TableValue; 2] {
    let (low, high) = band.get(i).copied().unwrap_or((f64::NAN, f64::NAN));
    [low, high].map(TableValue::Number)
}

/// All xs in ascending order, each once.
fn xs(all: &[Series]) -> Vec<f64> {
    let mut xs: Vec<f64> = all.iter().flat_map(|s| s.points.iter().map(|p| p.0)).collect();
    xs.retain(|x| x.is_finite());
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// A table with a row for each x and a column for each series.
fn by_x(x_label: &str, all: &[Series]) -> Rows {
    let first_column = if x_label.is_empty() { "x" } else { x_label };
    let names = all.iter().map(|s| s.name.clone());
    let header = std::iter::once(first_column.to_owned()).chain(names).collect();
    // Adding 0 makes -0 and 0 the same key.
    let key = |x: f64| (x + 0.0).to_bits();
    let values = |s: &Series| s.points.iter().map(|p| (key(p.0), p.1)).collect();
    let values_of_series: Vec<HashMap<u64, f64>> = all.iter().map(values).collect();
    let row = |x: f64| {
        let values =
            values_of_series.iter().map(|by_key| by_key.get(&key(x)).copied().unwrap_or(f64::NAN));
        std::iter::once(x).chain(values).map(TableValue::Number).collect()
    };
    (header, xs(all).into_iter().map(row).collect())
}

/// The table without the columns in which every row is empty.
fn without_blank_columns((header, rows): Rows) -> Rows {
    let blank = |c: usize| rows.iter().all(|row| row.get(c).is_none_or(|e| e.short().is_empty()));
    let keep: Vec<bool> = (0..header.len()).map(|c| rows.is_empty() || !blank(c)).collect();
    let kept = |c: &usize| keep.get(*c).copied().unwrap_or(true);
    fn pick<T>(all: Vec<T>, kept: impl Fn(&usize) -> bool) -> Vec<T> {
        all.into_iter().enumerate().filter(|(c, _)| kept(c)).map(|(_, v)| v).collect()
    }
    let header = pick(header, kept);
    (header, rows.into_iter().map(|row| pick(row, kept)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn csv_quotes_commas_and_quotes_and_leaves_gaps_empty() {
        let series = Series {
            name: "a,\"b\"".into(),
            points: vec![(1.0, 0.1), (2.0, f64::NAN)],
            ..Series::default()
        };
        let chart = samples::chart("c", Body::Lines(vec![series]));
        let expected =
            "series,x,y,low,high,name\n\"a,\"\"b\"\"\",1,0.1,,,\n\"a,\"\"b\"\"\",2,,,,\n";
        assert_eq!(chart.to_csv(), expected);
    }

    #[test]
    fn every_kind_of_chart_has_a_row_of_csv_for_each_position_in_the_picture() {
        use super::super::svg::{Picture, PictureForm};
        for (chart, _) in samples::all() {
            let positions = Picture::of(&chart, PictureForm::Wide).unwrap().positions.len();
            assert_eq!(chart.to_csv().lines().count(), positions + 1, "{}", chart.id);
        }
    }

    #[test]
    fn json_names_the_kind_and_has_null_for_gaps() {
        let kinds: Vec<_> =
            samples::all().iter().map(|(c, _)| c.to_json()["kind"].clone()).collect();
        // The first and the last of the samples.
        assert_eq!(kinds[0], "lines");
        assert_eq!(kinds[8], "forces");
        let (lines, _) = &samples::all()[0];
        assert_eq!(lines.to_json()["series"][0]["points"][1], json!([2.0, null]));
    }

    #[test]
    fn the_table_puts_series_side_by_side() {
        let series = |name: &str, points: &[(f64, f64)]| Series {
            name: name.into(),
            points: points.to_vec(),
            ..Series::default()
        };
        let all = [series("a", &[(1.0, 0.5), (2.0, 0.6)]), series("b", &[(2.0, 0.7)])];
        let (header, rows) = by_x("iteration", &all);
        assert_eq!(header, ["iteration", "a", "b"]);
        let text: Vec<Vec<_>> =
            rows.iter().map(|r| r.iter().map(TableValue::short).collect()).collect();
        assert_eq!(text, [["1", "0.5", ""], ["2", "0.6", "0.7"]]);
    }
}
