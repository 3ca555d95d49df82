//! Draws lines from a table of numbers, as the reports of Rankwright draw them.
//!
//! `chart-bench OUT.svg TITLE CAPTION X-LABEL Y-LABEL Y-SCALE < TABLE`; the scale of y is `linear`
//! or `log`, that of x is logarithmic. The table has tabs between its cells: names in the first
//! line, then a value of x and a value of each line. Run by `bench/ranknet_lengths.py`.

use std::error::Error;
use std::io::Read;
use std::path::PathBuf;

use rankwright_data::store::write_atomic;
use rankwright_report::chart::{Axis, Body, Chart, Scale, Series};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, title, caption, x, y, scale] = arguments.as_slice() else {
        return Err(
            "usage: chart-bench OUT.svg TITLE CAPTION X-LABEL Y-LABEL Y-SCALE < TABLE".into()
        );
    };
    let scale = match scale.as_str() {
        "linear" => Scale::Linear,
        "log" => Scale::Log,
        other => return Err(format!("the scale `{other}` is neither linear nor log").into()),
    };
    let mut table = String::new();
    std::io::stdin().read_to_string(&mut table)?;
    let out = PathBuf::from(out);
    let chart = Chart {
        id: "lines".to_owned(),
        title: title.clone(),
        caption: caption.clone(),
        x: Axis { label: x.clone(), scale: Scale::Log, ..Axis::default() },
        y: Axis { label: y.clone(), scale, ..Axis::default() },
        body: Body::Lines(series(&table)?),
    };
    let svg = chart.to_svg()?;
    write_atomic(&out, |file| file.write_all(svg.as_bytes()))?;
    Ok(())
}

/// The lines of a table.
fn series(table: &str) -> Result<Vec<Series>, Box<dyn Error>> {
    let mut lines = table.lines();
    let names = lines.next().ok_or("the table is empty")?.split('\t').skip(1);
    let mut all: Vec<Series> =
        names.map(|name| Series { name: name.to_owned(), ..Series::default() }).collect();
    for line in lines {
        let numbers: Vec<f64> = line.split('\t').map(str::parse).collect::<Result<_, _>>()?;
        let (x, values) = numbers.split_first().ok_or("a line of the table is empty")?;
        if values.len() != all.len() {
            return Err(format!("the line `{line}` does not have a value for each name").into());
        }
        all.iter_mut().zip(values).for_each(|(series, y)| series.points.push((*x, *y)));
    }
    Ok(all)
}
