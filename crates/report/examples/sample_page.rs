//! Writes a page with every kind of plot and block, for manual inspection and for the browser
//! tests: `cargo run -p rankwright-report --example sample_page -- page.html [PARTS FOLDER]`.

use std::error::Error;
use std::path::Path;

use rankwright_eval::compare::Mark;
use rankwright_eval::table::{Align, Cell, Table};
use rankwright_report::chart::{
    Axis, BarSeries, Bars, Body, Chart, ForceArrow, Forces, Grouping, HeatMap, Scale, Series,
    SeriesColour,
};
use rankwright_report::{ChoiceControl, Page, PageBlock, Section};

/// A name that is markup if the page does not escape it, with right-to-left letters.
const NASTY: &str = "<script>alert(1)</script> &\"' שלום 🚀";

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let file = words.next().ok_or("usage: sample_page FILE [PARTS FOLDER]")?;
    let page = page();
    std::fs::write(file, page.to_html()?)?;
    if let Some(folder) = words.next() {
        page.write_assets(Path::new(&folder))?;
        std::fs::write(Path::new(&folder).join("page.txt"), page.to_text(80))?;
    }
    Ok(())
}

fn page() -> Page {
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let section = |id: &str, title: &str, blocks: Vec<PageBlock>| Section {
        id: id.to_owned(),
        title: title.to_owned(),
        blocks,
    };
    Page {
        title: "Training report: lambdamart on the demo data".into(),
        summary: "The best model has 140 trees and reaches NDCG@10 0.5123 on validation data; \
               later trees only fit the training data better."
            .into(),
        facts: vec![
            fact("Data", "train.txt (800 queries, 96,120 documents, 136 features)"),
            fact("Learner", "lambdamart(trees=200, leaves=31, rate=0.1, metric=ndcg@10)"),
            fact("Seed", "42"),
            fact("Odd name", NASTY),
        ],
        conventions: vec!["ndcg@10: gain=exp, discount=log2, blank=skip, ties=worst".into()],
        sections: vec![
            section("progress", "Progress of training", progress()),
            section("features", "Features", features()),
            section("lists", "Single lists", lists()),
            section("results", "Results", results()),
        ],
    }
}

fn chart(id: &str, title: &str, x: Axis, y: Axis, body: Body) -> PageBlock {
    let caption = "NDCG with gain 2^label - 1 and discount log2(rank + 1); queries without \
                   relevant documents count 0. Higher is better.";
    PageBlock::Chart(Chart {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        x,
        y,
        body,
    })
}

fn axis(label: &str) -> Axis {
    Axis { label: label.into(), ..Axis::default() }
}

fn curve(name: &str, end: f64, speed: f64, fall: f64) -> Series {
    let value =
        |i: f64| end * (1.0 - (-i / speed).exp()) - fall * i / 200.0 + 0.004 * (i * 1.7).sin();
    let points = (1..=200).map(|i| (f64::from(i), 0.2 + value(f64::from(i)))).collect();
    Series { name: name.into(), points, ..Series::default() }
}

fn progress() -> Vec<PageBlock> {
    let valid = curve("validation", 0.31, 40.0, 0.03);
    let band = valid.points.iter().map(|(_, y)| (y - 0.02, y + 0.02)).collect();
    let mut gappy = curve("checkpoint", 0.25, 60.0, 0.0);
    gappy.points.iter_mut().skip(80).take(30).for_each(|p| p.1 = f64::NAN);
    let level = Series {
        name: "BM25".into(),
        points: vec![(1.0, 0.36), (200.0, 0.36)],
        dashed: true,
        ..Series::default()
    };
    let lines = vec![curve("training", 0.42, 50.0, 0.0), Series { band, ..valid }, gappy, level];
    let loss = |name: &str, rate: f64| Series {
        name: name.into(),
        points: (0..60)
            .map(|i| (10f64.powf(f64::from(i) / 20.0), (-f64::from(i) * rate).exp()))
            .collect(),
        ..Series::default()
    };
    let log = |label: &str| Axis { scale: Scale::Log, ..axis(label) };
    let share = |name: &str, at: f64| Series {
        name: name.into(),
        points: (0..50)
            .map(|i| (f64::from(i), 1.0 + at + (f64::from(i) / 9.0 + at).sin()))
            .collect(),
        ..Series::default()
    };
    vec![
        PageBlock::Text("Validation stops rising after some 140 trees.".into()),
        chart(
            "ndcg",
            "NDCG@10 by number of trees",
            axis("trees"),
            axis("NDCG@10"),
            Body::Lines(lines),
        ),
        chart(
            "loss",
            "Loss on logarithmic axes",
            log("trees"),
            log("loss"),
            Body::Lines(vec![loss("rate 0.1", 0.02), loss("rate 0.5", 0.08), loss("rate 1", 0.13)]),
        ),
        chart(
            "pairs",
            "Share of the lambdas by label pair",
            axis("trees"),
            axis("sum of |lambda|"),
            Body::Stack(vec![
                share("2 over 0", 0.0),
                share("1 over 0", 1.3),
                share("2 over 1", 2.1),
            ]),
        ),
    ]
}

fn bars(categories: Vec<String>, series: Vec<BarSeries>, horizontal: bool) -> Bars {
    Bars { categories, series, grouping: Grouping::Beside, horizontal }
}

fn features() -> Vec<PageBlock> {
    let names: Vec<String> = (1..=14).map(|i| format!("feature {i}: bm25 of the body")).collect();
    let names = names.into_iter().chain([NASTY.to_owned()]).collect::<Vec<_>>();
    let values =
        |scale: f64| (0..15).map(|i| scale * (-f64::from(i) / 4.0).exp()).collect::<Vec<_>>();
    let importance = vec![
        BarSeries { name: "gain".into(), values: values(1.0), ..BarSeries::default() },
        BarSeries { name: "splits".into(), values: values(0.7), ..BarSeries::default() },
    ];
    let wins: Vec<f64> = (0..60).map(|i| 0.3 - f64::from(i) * 0.009).collect();
    let queries: Vec<String> = (1..=60).map(|i| format!("query {i}")).collect();
    let wins = vec![BarSeries {
        name: "difference".into(),
        values: wins,
        colour: SeriesColour::Signed,
        ..BarSeries::default()
    }];
    let systems = ["bm25", "linear", "lambdamart", "ranknet"].map(str::to_owned).to_vec();
    let means = |shift: f64| -> Vec<f64> { [0.31, 0.36, 0.45, 0.42].map(|v| v + shift).to_vec() };
    let with_band = |name: &str, shift: f64| BarSeries {
        name: name.into(),
        values: means(shift),
        band: means(shift).iter().map(|v| (v - 0.03, v + 0.03)).collect(),
        ..BarSeries::default()
    };
    let labels = |shift: f64| BarSeries {
        name: format!("label {shift}"),
        values: (1..=20).map(|i| (20.0 - f64::from(i)).max(1.0) / (1.0 + shift)).collect(),
        colour: SeriesColour::Ordinal { step: shift as usize, of: 3 },
        ..BarSeries::default()
    };
    let stacked = Bars {
        grouping: Grouping::Stacked,
        ..bars(
            (1..=20).map(|i| i.to_string()).collect(),
            vec![labels(0.0), labels(1.0), labels(2.0)],
            false,
        )
    };
    let (x, y) = (Axis::default, || axis("share"));
    vec![
        chart(
            "importance",
            "Importance of features",
            x(),
            y(),
            Body::Bars(bars(names, importance, true)),
        ),
        chart(
            "wins",
            "Wins and losses by query",
            x(),
            axis("difference in NDCG@10"),
            Body::Bars(bars(queries, wins, false)),
        ),
        chart(
            "means",
            "Means with 95% intervals",
            x(),
            axis("mean"),
            Body::Bars(bars(
                systems,
                vec![with_band("NDCG@10", 0.0), with_band("MAP", -0.1)],
                false,
            )),
        ),
        chart("labels", "Labels by rank", axis("rank"), axis("documents"), Body::Bars(stacked)),
        chart("correlation", "Correlation of features", x(), x(), Body::HeatMap(heat())),
    ]
}

fn heat() -> HeatMap {
    let names: Vec<String> = (1..=10).map(|i| format!("feature number {i}")).collect();
    let value = |r: usize, c: usize| match (r, c) {
        (2, 5) => f64::NAN,
        _ => ((r as f64 - c as f64) / 3.0).cos(),
    };
    HeatMap {
        columns: names.clone(),
        cells: (0..10).map(|r| (0..10).map(|c| value(r, c)).collect()).collect(),
        rows: names,
        value: "Kendall's tau".into(),
    }
}

fn lists() -> Vec<PageBlock> {
    let pushed = |i: u32, force: f64| ForceArrow {
        name: format!("GX{:03}-{i}", i * 37),
        label: f64::from(i * 7 % 3),
        force,
    };
    let list = |scale: f64| {
        (0..12).map(|i| pushed(i, scale * f64::from(i * 7 % 3) - 0.9 / f64::from(i + 1))).collect()
    };
    let forces = |shift: f64| Forces {
        lists: vec![("RankNet".into(), list(0.4 + shift)), ("LambdaRank".into(), list(0.8))],
    };
    let cloud = |name: &str, shift: f64| Series {
        name: name.into(),
        points: (0..40).map(|i| (f64::from(i) / 8.0, (f64::from(i) * shift).sin())).collect(),
        names: (0..40).map(|i| format!("document {i}")).collect(),
        ..Series::default()
    };
    let group = |i: u32| {
        let id = format!("forces-{i}");
        let body = Body::Forces(forces(f64::from(i)));
        (
            format!("q{i}"),
            vec![chart(&id, "Forces on a list", Axis::default(), Axis::default(), body)],
        )
    };
    let tree = "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1400\" \
                height=\"90\" viewBox=\"0 0 1400 90\" role=\"img\" aria-labelledby=\"title\">\
                <title id=\"title\">A tree</title><rect x=\"640\" y=\"8\" width=\"120\" \
                height=\"40\" fill=\"#eef\" stroke=\"#767676\"/><text x=\"660\" y=\"33\" \
                font-size=\"13\">bm25 &lt; 3.5</text></svg>";
    vec![
        PageBlock::Choice {
            id: "query".into(),
            label: "Query".into(),
            groups: vec![group(1), group(2)],
            control: ChoiceControl::List,
        },
        chart(
            "scores",
            "Scores of two models",
            axis("first"),
            axis("second"),
            Body::Points(vec![cloud("label 0", 1.3), cloud(NASTY, 0.7)]),
        ),
        PageBlock::Drawing { id: "tree".into(), title: "Tree 1 of 140".into(), svg: tree.into() },
        chart("nothing", "A plot without values", axis("x"), axis("y"), Body::Lines(vec![])),
    ]
}

fn results() -> Vec<PageBlock> {
    let names = [
        "system",
        "NDCG@10",
        "MAP",
        "ERR@20",
        "P@5",
        "RR",
        "recall@100",
        "seconds",
        "trees",
        "note",
    ];
    let side = |i: usize| if i == 0 || i == 9 { Align::Left } else { Align::Right };
    let mut table = Table::new(names.into_iter().enumerate().map(|(i, name)| (name, side(i))));
    for (row, name) in ["bm25", "lambdamart", NASTY].into_iter().enumerate() {
        let numbers = (0..8).map(|c| Cell {
            text: format!("{:.4}", 0.3 + (row * 7 + c * 3) as f64 / 100.0),
            best: row == 1,
            mark: if row == 1 { Mark::Better } else { Mark::None },
        });
        let cells = std::iter::once(Cell::new(name)).chain(numbers);
        table.rows.push(cells.chain([Cell::new("as trained")]).collect());
    }
    table.notes.push("▲ significantly better than bm25 at alpha 0.05. 800 queries.".into());
    vec![PageBlock::Table { id: "systems".into(), title: "Systems by metric".into(), table }]
}
