//! Tables with a row for each shown document.

use std::io::{self, Write};

use csv::{Writer, WriterBuilder};

use crate::impression::Impression;

/// The columns; their names are those of their roles.
const COLUMNS: [&str; 12] = [
    "impression",
    "session",
    "user",
    "query",
    "document",
    "position",
    "click",
    "click_time",
    "time",
    "ranker",
    "propensity",
    "device",
];

/// Begins a table with its header.
pub(super) fn start(delimiter: u8, out: &mut dyn Write) -> io::Result<Writer<&mut dyn Write>> {
    let mut table = WriterBuilder::new().delimiter(delimiter).from_writer(out);
    table.write_record(COLUMNS)?;
    Ok(table)
}

/// Writes the rows of a page.
pub(super) fn write(
    table: &mut Writer<&mut dyn Write>,
    id: &str,
    page: &Impression,
) -> io::Result<()> {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let time = number(page.time);
    for (index, document) in page.documents.iter().enumerate() {
        let click = page.clicks.iter().find(|click| click.index == index);
        let click_time = number(click.and_then(|click| click.time));
        let propensity = number(page.propensities.get(index).copied());
        let position = (index + 1).to_string();
        table.write_record([
            id,
            &page.session,
            &page.user,
            &page.query,
            document,
            &position,
            if click.is_some() { "1" } else { "0" },
            &click_time,
            &time,
            &page.ranker,
            &propensity,
            &page.device,
        ])?;
    }
    Ok(())
}
