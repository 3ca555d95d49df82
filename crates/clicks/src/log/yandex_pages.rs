//! Pages of Yandex' Relevance Prediction Challenge in the form in which click-model toolkits pass
//! them on: one record for each page,
//!
//! ```text
//! QUERY <tab> DOCUMENT,DOCUMENT,... : CLICK , CLICK , ... ;
//! ```
//!
//! with the clicked documents in the order of time. Records end with `;`, with any white space
//! around it, also line ends; a page without clicks has nothing after the colon. A click on a
//! document that the page does not show is counted and left out.

use rankwright_data::{DataError, SourceLocation};

use super::input::LogInput;
use super::record::RecordBatch;
use crate::impression::{Click, Impression};

/// Reads pages of this format.
pub(super) fn read(
    input: &mut LogInput,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let name = input.name().to_owned();
    let mut line = 1_u64;
    while let Some(block) = input.next_block(b';')? {
        let mut batch = RecordBatch::default();
        for record in block.split(|byte| *byte == b';') {
            let leading = record.iter().take_while(|byte| byte.is_ascii_whitespace());
            let start = line + leading.filter(|byte| **byte == b'\n').count() as u64;
            line += record.iter().filter(|byte| **byte == b'\n').count() as u64;
            let record = record.trim_ascii();
            if record.is_empty() {
                continue;
            }
            let (impression, off_page) =
                read_record(record).ok_or_else(|| malformed(&name, start, record))?;
            batch.off_page_clicks += off_page;
            batch.page(impression);
        }
        if !send(batch) {
            break;
        }
    }
    Ok(())
}

/// Whether a text is of this format, by its first record.
pub(super) fn is_pages(text: &[u8]) -> bool {
    let record = text.split(|byte| *byte == b';').next().unwrap_or_default();
    read_record(record.trim_ascii()).is_some()
}

fn malformed(name: &str, line: u64, record: &[u8]) -> DataError {
    let found = rankwright_data::quote(record);
    let expected = "a query, a tab, documents, a colon and clicks";
    DataError::malformed(SourceLocation::line(name, line), found, expected)
}

/// The impression of a record, and the number of its clicks on documents that are not shown.
fn read_record(record: &[u8]) -> Option<(Impression, u64)> {
    let text = std::str::from_utf8(record).ok()?;
    let (query, rest) = text.split_once('\t')?;
    let (documents, clicks) = rest.split_once(':')?;
    let names = |list: &str| -> Vec<String> {
        list.split(',').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()
    };
    let mut impression = Impression::new(query.trim(), names(documents));
    if impression.documents.is_empty() {
        return None;
    }
    let mut off_page = 0;
    for clicked in names(clicks) {
        match impression.documents.iter().position(|document| *document == clicked) {
            Some(index) => impression.clicks.push(Click { index, time: None }),
            None => off_page += 1,
        }
    }
    Some((impression, off_page))
}

#[cfg(test)]
mod tests {
    use rankwright_data::bytes::Input;

    use super::*;

    fn read_text(text: &str) -> Result<(Vec<Impression>, u64), DataError> {
        let (mut pages, mut off_page) = (Vec::new(), 0);
        let mut input = LogInput::from(Input::raw("log", text.as_bytes().to_vec()));
        read(&mut input, &mut |batch| {
            off_page += batch.off_page_clicks;
            pages.extend(batch.pages);
            true
        })?;
        Ok((pages, off_page))
    }

    #[test]
    fn records_are_read_with_any_space_around_their_ends() {
        let (pages, off_page) =
            read_text("q1\t7,8,9 : 9 , 7 , 9; q1\t7,8 :; q2\t8,7 : 5 ; \nq3\t1 : 1;\n\n").unwrap();
        let shown: Vec<_> =
            pages.iter().map(|page| (page.query.as_str(), page.documents.len())).collect();
        assert_eq!(shown, [("q1", 3), ("q1", 2), ("q2", 2), ("q3", 1)]);
        let clicks: Vec<_> = pages[0].clicks.iter().map(|click| click.index).collect();
        assert_eq!((clicks, pages[1].clicks.len(), off_page), (vec![2, 0, 2], 0, 1));
    }

    #[test]
    fn an_error_names_the_line_of_the_record() {
        let error = read_text("q\t1 : 1;\n\nq 1,2 : 1;").unwrap_err().to_string();
        assert!(error.starts_with("log:3: ") && error.contains("a tab"), "{error}");
        assert!(read_text("q\t : 1").is_err() && read_text("q\t1,2").is_err());
        assert_eq!(read_text(" \n").unwrap().0, []);
    }
}
