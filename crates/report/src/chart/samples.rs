//! Small charts of every kind, for tests.

use super::*;

/// A chart with these values and with texts everywhere else.
pub(crate) fn chart(id: &str, body: Body) -> Chart {
    Chart {
        id: id.to_owned(),
        title: format!("Sample {id}"),
        caption: "How it was computed.".to_owned(),
        x: Axis { label: "across".into(), ..Axis::default() },
        y: Axis { label: "upwards".into(), ..Axis::default() },
        body,
    }
}

fn series(name: &str, ys: &[f64]) -> Series {
    let points = ys.iter().enumerate().map(|(i, y)| (1.0 + i as f64, *y)).collect();
    Series { name: name.into(), points, ..Series::default() }
}

/// Two series of bars in three categories, with values below 0, a gap and error bars.
fn bars(horizontal: bool, grouping: Grouping) -> Bars {
    let series = |name: &str, values: [f64; 3], band: Vec<(f64, f64)>| BarSeries {
        name: name.into(),
        values: values.to_vec(),
        band,
        colour: crate::chart::SeriesColour::default(),
    };
    Bars {
        categories: ["one", "two", "three"].map(str::to_owned).to_vec(),
        series: vec![
            series("a", [1.0, -2.0, 0.5], vec![(0.5, 1.5), (-2.5, -1.5), (0.0, 1.0)]),
            series("b", [2.0, f64::NAN, 3.0], vec![]),
        ],
        grouping,
        horizontal,
    }
}

fn forces() -> Forces {
    let arrow = |name: &str, label, force| ForceArrow { name: name.into(), label, force };
    let list = vec![arrow("d1", 0.0, -0.5), arrow("d2", 2.0, 1.0), arrow("d3", 1.0, 0.0)];
    Forces { lists: vec![("RankNet".into(), list.clone()), ("LambdaRank".into(), list)] }
}

/// Charts of every kind, each with its number of series.
pub(crate) fn all() -> Vec<(Chart, usize)> {
    let gap = series("a", &[1.0, f64::NAN, 3.0, 2.0]);
    let banded = Series { band: vec![(0.5, 2.0); 4], ..series("b", &[1.0, 1.5, 1.2, 1.0]) };
    let dashed = Series { dashed: true, ..series("c", &[2.0; 4]) };
    let named = Series { names: vec!["d1".into(), "d2".into()], ..series("p", &[1.0, 2.0]) };
    let heat = HeatMap {
        columns: vec!["x".into(), "y".into()],
        rows: vec!["r".into(), "s".into(), "t".into()],
        value: "share".into(),
        cells: vec![vec![-1.0, 2.0], vec![0.5, f64::NAN], vec![0.0, 1.0]],
    };
    let mut log = chart("log", Body::Lines(vec![series("a", &[0.0, 1.0, 10.0, 1000.0])]));
    log.y.scale = Scale::Log;
    log.x.scale = Scale::Log;
    vec![
        (chart("lines", Body::Lines(vec![gap, banded, dashed.clone()])), 3),
        (log, 1),
        (chart("points", Body::Points(vec![named, series("q", &[3.0, 1.0]), dashed.clone()])), 3),
        (chart("stack", Body::Stack(vec![series("a", &[1.0, 2.0]), series("b", &[3.0, 1.0])])), 2),
        (chart("bars", Body::Bars(bars(false, Grouping::Beside))), 2),
        (chart("stacked", Body::Bars(bars(false, Grouping::Stacked))), 2),
        (chart("horizontal", Body::Bars(bars(true, Grouping::Beside))), 2),
        (chart("heat", Body::HeatMap(heat)), 1),
        (chart("forces", Body::Forces(forces())), 2),
    ]
}

/// Charts of every kind without a finite value.
pub(crate) fn empty() -> Vec<Chart> {
    let bars = |series| Bars { series, categories: vec![], ..bars(false, Grouping::Beside) };
    let heat = HeatMap { columns: vec![], rows: vec![], value: String::new(), cells: vec![] };
    vec![
        chart("lines", Body::Lines(vec![])),
        chart("gaps", Body::Lines(vec![series("a", &[f64::NAN, f64::INFINITY])])),
        chart("points", Body::Points(vec![series("a", &[])])),
        chart("stack", Body::Stack(vec![])),
        chart("bars", Body::Bars(bars(vec![]))),
        chart("values", Body::Bars(bars(vec![BarSeries::default()]))),
        chart("heat", Body::HeatMap(heat)),
        chart("forces", Body::Forces(Forces { lists: vec![] })),
        chart("list", Body::Forces(Forces { lists: vec![("a".into(), vec![])] })),
    ]
}

/// The chart with every name and label replaced.
pub(crate) fn renamed(mut chart: Chart, name: &str) -> Chart {
    let replace = |text: &mut String| *text = name.to_owned();
    [&mut chart.title, &mut chart.caption, &mut chart.x.label, &mut chart.y.label]
        .into_iter()
        .for_each(replace);
    match &mut chart.body {
        Body::Lines(all) | Body::Points(all) | Body::Stack(all) => {
            for one in all {
                replace(&mut one.name);
                one.names.iter_mut().for_each(replace);
            }
        }
        Body::Bars(bars) => {
            bars.categories.iter_mut().for_each(replace);
            bars.series.iter_mut().for_each(|one| replace(&mut one.name));
        }
        Body::HeatMap(heat) => {
            heat.columns.iter_mut().chain(&mut heat.rows).for_each(replace);
            replace(&mut heat.value);
        }
        Body::Forces(forces) => {
            for (list, documents) in &mut forces.lists {
                replace(list);
                documents.iter_mut().for_each(|one| replace(&mut one.name));
            }
        }
    }
    chart
}
