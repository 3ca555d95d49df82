//! Impressions in memory, as a log.

use rankwright_data::{DataError, SourceLocation};

use super::json_lines::{check_count, check_propensities};
use super::record::RecordBatch;
use crate::impression::Impression;

/// Passes impressions on in batches. Clicks on documents that their page does not have are left
/// out; numbers that no file could have are errors.
pub(super) fn read(
    name: &str,
    pages: &[Impression],
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let mut batch = RecordBatch::default();
    for (number, page) in (1_usize..).zip(pages) {
        let shown = page.documents.len();
        let checked =
            check_propensities(&page.propensities, shown).and_then(|()| check_count(page.count));
        checked.map_err(|expected| {
            let location = SourceLocation::file(format!("{name}, impression {number}"));
            DataError::malformed(location, format!("query '{}'", page.query), expected)
        })?;
        let clicks = page.clicks.len();
        let mut page = page.clone();
        page.clicks.retain(|click| click.index < shown);
        batch.off_page_clicks += (clicks - page.clicks.len()) as u64;
        batch.page(page);
        if batch.is_full() && !send(std::mem::take(&mut batch)) {
            return Ok(());
        }
    }
    send(batch);
    Ok(())
}
