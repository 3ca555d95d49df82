//! Tests of whole pages: properties of every report's HTML, text and files.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rankwright_eval::table::{Align, Cell, Table};
use rankwright_report::chart::{Axis, Body, Chart, Series};
use rankwright_report::{ChoiceControl, Page, PageBlock, Section};

const NASTY: &str = "</script><script>alert(1)</script> <b>&\"' שלום 🚀";

fn chart(id: &str, series: usize, points: usize) -> Chart {
    let one = |s: usize| Series {
        name: format!("{NASTY} {s}"),
        points: (0..points).map(|i| (i as f64, (i as f64 / 20.0 + s as f64).sin())).collect(),
        ..Series::default()
    };
    Chart {
        id: id.into(),
        title: format!("Chart {NASTY}"),
        caption: NASTY.into(),
        x: Axis { label: NASTY.into(), ..Axis::default() },
        y: Axis { label: "value".into(), ..Axis::default() },
        body: Body::Lines((0..series).map(one).collect()),
    }
}

fn table(rows: usize) -> Table {
    let mut table = Table::new([(NASTY, Align::Left), ("value", Align::Right)]);
    for i in 0..rows {
        table.rows.push(vec![Cell::new(NASTY), Cell::new(i.to_string())]);
    }
    table.notes.push(NASTY.into());
    table
}

fn page(blocks: Vec<PageBlock>) -> Page {
    Page {
        title: format!("Page {NASTY}"),
        summary: NASTY.into(),
        facts: vec![(NASTY.into(), NASTY.into())],
        conventions: vec![NASTY.into()],
        sections: vec![Section { id: "one two".into(), title: NASTY.into(), blocks }],
    }
}

fn everything() -> Page {
    let tree = "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"><title \
                id=\"title\">t</title></svg>";
    let drawing =
        || PageBlock::Drawing { id: "tree".into(), title: NASTY.into(), svg: tree.into() };
    let group =
        |name: &str| (name.to_owned(), vec![PageBlock::Chart(chart("same", 2, 5)), drawing()]);
    page(vec![
        PageBlock::Text(NASTY.into()),
        PageBlock::Chart(chart("same", 2, 300)),
        PageBlock::Table { id: "../same".into(), title: NASTY.into(), table: table(20) },
        PageBlock::Choice {
            id: "same".into(),
            label: NASTY.into(),
            groups: vec![group(NASTY), group("b")],
            control: ChoiceControl::Slider,
        },
    ])
}

/// Values of an attribute, in order.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn names_from_outside_cannot_become_markup() {
    let html = everything().to_html().unwrap();
    assert!(!html.contains("<script>alert") && !html.contains("<b>"));
    // Our own script, and the values of three charts.
    assert_eq!(html.matches("<script").count(), 4);
    assert_eq!(html.matches("</script>").count(), 4);
}

#[test]
fn ids_are_safe_and_given_once() {
    let html = everything().to_html().unwrap();
    let ids = attributes(&html, "id");
    assert!(ids.iter().all(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?}");
    for link in attributes(&html, "href") {
        assert!(ids.contains(&link.trim_start_matches('#')), "{link}");
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let html = everything().to_html().unwrap();
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"));
    assert!(attributes(&html, "src").is_empty());
    assert!(!html.contains("@import") && !html.contains("url("));
    for address in html.split("http").skip(1) {
        let known = ["://www.w3.org/2000/svg", "-equiv"];
        assert!(known.iter().any(|k| address.starts_with(k)), "{}", &address[..40]);
    }
}

#[test]
fn long_tables_below_plots_say_how_many_rows_are_left_out() {
    let html = everything().to_html().unwrap();
    assert!(html.contains("Not shown: 200 more rows."));
}

#[test]
fn headings_go_down_one_level_at_a_time() {
    let html = everything().to_html().unwrap();
    let levels: Vec<u32> = html
        .split("<h")
        .skip(1)
        .filter_map(|rest| rest.chars().next().and_then(|c| c.to_digit(10)))
        .collect();
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn text_has_the_main_plots_and_short_tables() {
    let text = everything().to_text(80);
    assert!(text.contains("5 more rows in the HTML file"));
    assert!(text.contains("●"));
    assert!(text.contains("===="));
    assert!(everything().to_text(1).len() > 100);
}

#[test]
fn parts_are_files_of_the_folder_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("parts");
    let files = everything().write_assets(&inside).unwrap();
    assert_eq!(files, everything().asset_files(&inside));
    let mut names: Vec<_> = files
        .iter()
        .map(|file| file.strip_prefix(&inside).unwrap().to_str().unwrap().to_owned())
        .collect();
    let distinct = names.iter().collect::<HashSet<_>>().len();
    assert_eq!(distinct, 3 * 3 + 2 + 2);
    assert!(files.iter().all(|file| file.is_file()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    names.retain(|name| name.ends_with(".json"));
    for name in names {
        let text = std::fs::read_to_string(inside.join(name)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = everything().write_assets(&file.join("parts")).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
}

#[test]
fn an_empty_page_is_a_page() {
    let html = Page::default().to_html().unwrap();
    assert!(html.contains("<main") && html.ends_with("</html>\n"));
}

#[test]
fn sixty_charts_of_four_lines_stay_below_five_megabytes_and_are_quick() {
    let blocks = (0..60).map(|i| PageBlock::Chart(chart(&format!("c{i}"), 4, 200))).collect();
    let page = page(blocks);
    let start = Instant::now();
    let html = page.to_html().unwrap();
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    // A second in an optimised build; generous for the one that tests run in.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
