//! The tooltips of a chart, reached with the mouse or with the arrow keys.
//!
//! A stop is one position of the tooltip: in lines, areas and bars all series at one position along
//! the axis; in points, grids and lists a single value. Each item refers to a position of the drawn
//! picture (see [`Picture::positions`](super::svg::Picture)), so the wide and the narrow form share
//! their stops. Gaps are no items, and a position with gaps only is no stop.

use serde_json::{Value, json};

use super::number::short;
use super::svg::heat::{cell, grid};
use super::svg::theme::ColourRole;
use super::svg::{Picture, Position};
use super::{Bars, Body, Chart, Forces, HeatMap, Series, SeriesColour};

/// The coordinates in which the stop nearest to the mouse is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NearestBy {
    X,
    Y,
    Both,
}

/// A line of a tooltip: one value of one series.
#[derive(Debug, Clone, PartialEq)]
struct TooltipItem {
    /// Index of the series.
    series: usize,
    /// Index into the picture's positions.
    position: usize,
    text: String,
}

/// A stop.
#[derive(Debug, Clone, PartialEq)]
struct Tooltip {
    title: String,
    items: Vec<TooltipItem>,
}

/// All stops of a chart as compact JSON, which the page's script reads: `by` (coordinates in which
/// the nearest stop is searched), `stride` (stops that the up and down keys move by), `of` (the
/// beginning of every title), `series` (names and CSS classes), and for each of the `stops` its
/// title and items `[series, text, x, y, x narrow, y narrow]`.
pub(crate) fn to_json(chart: &Chart, wide: &Picture, narrow: &Picture) -> Value {
    let (by, stride, stops) = stops(chart);
    let by = match by {
        NearestBy::X => "x",
        NearestBy::Y => "y",
        NearestBy::Both => "xy",
    };
    let position = |picture: &Picture, i: usize| picture.positions.get(i).copied().flatten();
    let stop = |stop: &Tooltip| {
        let items = stop.items.iter().filter_map(|item| {
            let (wide, narrow): (Position, Position) =
                (position(wide, item.position)?, position(narrow, item.position)?);
            let xy = [wide.0, wide.1, narrow.0, narrow.1].map(|v| v.round() as i64);
            Some(json!([item.series, item.text, xy[0], xy[1], xy[2], xy[3]]))
        });
        let items: Vec<Value> = items.collect();
        (!items.is_empty()).then(|| json!([stop.title, items]))
    };
    let stops: Vec<Value> = stops.iter().filter_map(stop).collect();
    let of = title_prefix(chart);
    json!({"by": by, "stride": stride, "of": of, "series": series(chart), "stops": stops})
}

/// The beginning of every title; stored once, because there may be hundreds of stops.
fn title_prefix(chart: &Chart) -> &str {
    match &chart.body {
        Body::Lines(_) | Body::Stack(_) => &chart.x.label,
        _ => "",
    }
}

/// Name and CSS class of each series.
fn series(chart: &Chart) -> Vec<(String, &'static str)> {
    let named = |series: Vec<(&String, SeriesColour)>| {
        let all = series.into_iter().enumerate();
        all.map(|(i, (name, colour))| (name.clone(), ColourRole::of(colour, i).class())).collect()
    };
    match &chart.body {
        Body::Lines(all) | Body::Points(all) | Body::Stack(all) => {
            named(all.iter().map(|s| (&s.name, s.colour)).collect())
        }
        Body::Bars(bars) => named(bars.series.iter().map(|s| (&s.name, s.colour)).collect()),
        Body::HeatMap(heat) => vec![(heat.value.clone(), ColourRole::Up.class())],
        // The title already names the list, and the item shows the document's name.
        Body::Forces(forces) => forces.lists.iter().map(|_| (String::new(), "soft")).collect(),
    }
}

/// The search for the nearest stop, the number of stops that the up and down keys move by, and all
/// stops.
fn stops(chart: &Chart) -> (NearestBy, usize, Vec<Tooltip>) {
    match &chart.body {
        Body::Lines(all) | Body::Stack(all) => (NearestBy::X, 1, along_x(all)),
        Body::Points(all) => (NearestBy::Both, 1, points(chart, all)),
        Body::Bars(bars) => {
            (if bars.horizontal { NearestBy::Y } else { NearestBy::X }, 1, categories(bars))
        }
        Body::HeatMap(heat) => (NearestBy::Both, heat.columns.len().max(1), cells(heat)),
        Body::Forces(forces) => (NearestBy::Both, 1, documents(forces)),
    }
}

/// A value with its interval: `0.5 (0.4 to 0.6)`.
fn with_band(value: f64, band: Option<&(f64, f64)>) -> String {
    match band {
        Some((low, high)) if low.is_finite() && high.is_finite() => {
            format!("{} ({} to {})", short(value), short(*low), short(*high))
        }
        _ => short(value),
    }
}

/// A stop for each x, with the values of all series there.
fn along_x(all: &[Series]) -> Vec<Tooltip> {
    let mut found: Vec<(f64, TooltipItem)> = Vec::new();
    let mut position = 0;
    for (index, series) in all.iter().enumerate() {
        for (i, (x, y)) in series.points.iter().enumerate() {
            if x.is_finite() && y.is_finite() {
                let point_name = series.names.get(i).filter(|name| !name.is_empty());
                let point_name = point_name.map(|name| format!(" {name}")).unwrap_or_default();
                let text = with_band(*y, series.band.get(i)) + &point_name;
                found.push((*x, TooltipItem { series: index, position, text }));
            }
            position += 1;
        }
    }
    // Stable, so that series stay in order.
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let same = found.chunk_by(|a, b| a.0 == b.0);
    let stop = |chunk: &[(f64, TooltipItem)]| {
        let title = chunk.first().map(|(x, _)| short(*x)).unwrap_or_default();
        Tooltip { title, items: chunk.iter().map(|(_, item)| item.clone()).collect() }
    };
    same.map(stop).collect()
}

/// A stop for each point.
fn points(chart: &Chart, all: &[Series]) -> Vec<Tooltip> {
    let mut found = Vec::new();
    let mut position = 0;
    for (index, series) in all.iter().enumerate() {
        for (i, (x, y)) in series.points.iter().enumerate() {
            if x.is_finite() && y.is_finite() {
                let value = with_band(*y, series.band.get(i));
                let text = format!(
                    "{} {}, {} {value}",
                    label_or(&chart.x.label, "x"),
                    short(*x),
                    label_or(&chart.y.label, "y")
                );
                let title = series.names.get(i).cloned().unwrap_or_default();
                let item = TooltipItem { series: index, position, text };
                found.push(Tooltip { title, items: vec![item] });
            }
            position += 1;
        }
    }
    found
}

fn label_or<'a>(label: &'a str, if_empty: &'a str) -> &'a str {
    if label.is_empty() { if_empty } else { label }
}

/// A stop for each category, with the values of all series there.
fn categories(bars: &Bars) -> Vec<Tooltip> {
    let count = bars.categories.len();
    let stop = |(c, name): (usize, &String)| {
        let items = bars.series.iter().enumerate().filter_map(|(index, series)| {
            let value = series.values.get(c).copied().filter(|v| v.is_finite())?;
            let text = with_band(value, series.band.get(c));
            Some(TooltipItem { series: index, position: index * count + c, text })
        });
        Tooltip { title: name.clone(), items: items.collect() }
    };
    bars.categories.iter().enumerate().map(stop).collect()
}

/// A stop for each cell of a grid.
fn cells(heat: &HeatMap) -> Vec<Tooltip> {
    let name = |names: &[String], i: usize| names.get(i).cloned().unwrap_or_default();
    let stop = |(position, (r, c)): (usize, (usize, usize))| Tooltip {
        title: format!("{}, {}", name(&heat.rows, r), name(&heat.columns, c)),
        items: cell(heat, r, c)
            .map(|value| TooltipItem { series: 0, position, text: short(value) })
            .into_iter()
            .collect(),
    };
    grid(heat).enumerate().map(stop).collect()
}

/// A stop for each document of each list.
fn documents(forces: &Forces) -> Vec<Tooltip> {
    let mut found = Vec::new();
    for (series, (list, documents)) in forces.lists.iter().enumerate() {
        for (rank, d) in documents.iter().enumerate() {
            let direction = match d.force {
                f if f > 0.0 => "pushed up by",
                f if f < 0.0 => "pushed down by",
                _ => "not pushed:",
            };
            let text = format!(
                "{}: label {}, {direction} {}",
                d.name,
                short(d.label),
                short(d.force.abs())
            );
            let items = vec![TooltipItem { series, position: found.len(), text }];
            found.push(Tooltip { title: format!("{list}, rank {}", rank + 1), items });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::super::svg::PictureForm;
    use super::*;

    fn tooltips_json(chart: &Chart) -> Value {
        let picture = |form| Picture::of(chart, form).unwrap();
        to_json(chart, &picture(PictureForm::Wide), &picture(PictureForm::Narrow))
    }

    #[test]
    fn series_at_the_same_x_share_a_stop_and_gaps_are_left_out() {
        let (lines, _) = &samples::all()[0];
        let found = tooltips_json(lines);
        assert_eq!(found["by"], "x");
        assert_eq!(found["stops"].as_array().unwrap().len(), 4);
        assert_eq!(found["of"], "across");
        assert_eq!(found["stops"][0][0], "1");
        assert_eq!(found["stops"][0][1].as_array().unwrap().len(), 3);
        assert_eq!(found["stops"][1][1].as_array().unwrap().len(), 2);
        assert_eq!(found["stops"][1][1][0][1], "1.5 (0.5 to 2)");
    }

    #[test]
    fn every_kind_has_stops_with_items_of_known_series() {
        for (chart, _) in samples::all() {
            let found = tooltips_json(&chart);
            let series = found["series"].as_array().unwrap().len() as u64;
            let stops = found["stops"].as_array().unwrap();
            assert!(!stops.is_empty(), "{}", chart.id);
            for item in stops.iter().flat_map(|s| s[1].as_array().unwrap()) {
                assert!(item[0].as_u64().unwrap() < series, "{}", chart.id);
                assert_eq!(item.as_array().unwrap().len(), 6);
            }
        }
    }

    #[test]
    fn bars_have_a_stop_for_each_category_with_the_position_of_each_bar() {
        let (bars, _) = &samples::all()[4];
        let stops = stops(bars).2;
        assert_eq!(stops[2].title, "three");
        assert_eq!(stops[2].items.iter().map(|i| i.position).collect::<Vec<_>>(), [2, 5]);
        assert_eq!(stops[1].items.len(), 1);
    }
}
