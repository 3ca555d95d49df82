//! Rows of a table as pages.
//!
//! A row shows one document of a page, or is a page if its documents are a list. Rows with the same
//! id of an impression are one page, wherever they are in the log. Without ids, neighbouring rows
//! are one page as long as session, user, query and time are the same and the position grows;
//! without positions, as long as no document is repeated.

use std::borrow::Cow;

use rankwright_data::{PointInTime, quote};

use super::columns::LogRole;
use super::join::{POSITION, is_position, sort_by_position, sort_clicks};
use super::record::{RecordBatch, RecordKind};
use crate::impression::{Click, Impression};

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LogCell<'a> {
    Missing,
    Text(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
}

/// The reason why a row is no part of a log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowProblem {
    pub(super) role: LogRole,
    pub(super) found: String,
    pub(super) expected: &'static str,
}

/// A row: a page, or a page of one document with its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LogRow {
    Page(Impression),
    Document(Impression, Option<f64>),
}

/// Reads a row from its cells.
pub(super) fn read_row<'a>(
    cells: impl IntoIterator<Item = (LogRole, LogCell<'a>)>,
) -> Result<LogRow, RowProblem> {
    let mut page = Impression::default();
    let (mut documents, mut clicks, mut click_times) = (None, None, None);
    let (mut positions, mut propensities) = (None, None);
    for (role, cell) in cells {
        match role {
            LogRole::Document => documents = values(cell),
            LogRole::Click => clicks = values(cell),
            LogRole::ClickTime => click_times = values(cell),
            LogRole::Position => positions = values(cell),
            LogRole::Propensity => propensities = values(cell),
            LogRole::Ignore => {}
            _ => {
                let LogCell::Text(text) = single(role, cell)? else { continue };
                match role {
                    LogRole::Impression => page.id = text.into_owned(),
                    LogRole::Session => page.session = text.into_owned(),
                    LogRole::User => page.user = text.into_owned(),
                    LogRole::Query => page.query = text.into_owned(),
                    LogRole::Ranker => page.ranker = text.into_owned(),
                    LogRole::Device => page.device = text.into_owned(),
                    _ => page.time = Some(time(role, &text)?),
                }
            }
        }
    }
    let missing = |role, expected| RowProblem { role, found: "nothing".into(), expected };
    let Some(documents) = documents else {
        return Err(missing(LogRole::Document, "a document or a list of documents"));
    };
    if page.query.is_empty() {
        page.query = page.id.clone();
    }
    if page.query.is_empty() {
        return Err(missing(LogRole::Query, "a query"));
    }
    let is_list = documents.is_list;
    let count = documents.texts.len();
    let flags = clicks.map(|clicks| clicks.read(LogRole::Click, count, is_list, flag));
    let flags = flags.transpose()?.unwrap_or_else(|| vec![false; count]);
    let times =
        click_times.map(|times| times.read(LogRole::ClickTime, count, is_list, optional_time));
    let times = times.transpose()?.unwrap_or_else(|| vec![None; count]);
    let positions = positions.map(|found| found.read(LogRole::Position, count, is_list, position));
    let positions = positions.transpose()?;
    let propensities =
        propensities.map(|found| found.read(LogRole::Propensity, count, is_list, probability));
    page.propensities = propensities.transpose()?.unwrap_or_default();
    page.documents = documents.texts.into_iter().map(Cow::into_owned).collect();
    if page.documents.iter().any(String::is_empty) {
        return Err(missing(LogRole::Document, "an id of each document"));
    }
    let clicked = flags.iter().zip(times).enumerate().filter(|(_, (flag, _))| **flag);
    page.clicks = clicked.map(|(index, (_, time))| Click { index, time }).collect();
    if !is_list {
        return Ok(LogRow::Document(page, positions.and_then(|found| found.first().copied())));
    }
    sort_by_position(&mut page, &positions.unwrap_or_default());
    sort_clicks(&mut page);
    Ok(LogRow::Page(page))
}

/// The values of a cell that has one for each document.
struct CellValues<'a> {
    texts: Vec<Cow<'a, str>>,
    is_list: bool,
}

fn values(cell: LogCell<'_>) -> Option<CellValues<'_>> {
    match cell {
        LogCell::Missing => None,
        LogCell::Text(text) => Some(CellValues { texts: vec![text], is_list: false }),
        LogCell::List(texts) => Some(CellValues { texts, is_list: true }),
    }
}

impl CellValues<'_> {
    /// The value of each document; `count` and `is_list` are those of the cell of documents.
    fn read<T>(
        &self,
        role: LogRole,
        count: usize,
        is_list: bool,
        value: impl Fn(LogRole, &str) -> Result<T, RowProblem>,
    ) -> Result<Vec<T>, RowProblem> {
        if self.texts.len() != count || self.is_list != is_list {
            let found = match self.is_list {
                true => format!("a list of {}", self.texts.len()),
                false => "a single value".to_owned(),
            };
            let expected = "a value for each document";
            return Err(RowProblem { role, found, expected });
        }
        self.texts.iter().map(|text| value(role, text)).collect()
    }
}

fn single(role: LogRole, cell: LogCell<'_>) -> Result<LogCell<'_>, RowProblem> {
    match cell {
        LogCell::List(_) => {
            Err(RowProblem { role, found: "a list".into(), expected: "a single value" })
        }
        other => Ok(other),
    }
}

fn problem(role: LogRole, text: &str, expected: &'static str) -> RowProblem {
    RowProblem { role, found: quote(text.as_bytes()), expected }
}

fn flag(role: LogRole, text: &str) -> Result<bool, RowProblem> {
    match text.trim() {
        "" | "0" | "false" | "False" | "FALSE" => Ok(false),
        "1" | "true" | "True" | "TRUE" => Ok(true),
        other => {
            let number = other.parse::<f64>().ok().filter(|number| *number >= 0.0);
            let expected = "a boolean or a number of clicks";
            number.map(|number| number > 0.0).ok_or_else(|| problem(role, text, expected))
        }
    }
}

fn position(role: LogRole, text: &str) -> Result<f64, RowProblem> {
    let number = text.trim().parse::<f64>().ok().filter(|number| is_position(*number));
    number.ok_or_else(|| problem(role, text, POSITION))
}

fn probability(role: LogRole, text: &str) -> Result<f64, RowProblem> {
    let number = text.trim().parse::<f64>().ok().filter(|value| *value > 0.0 && *value <= 1.0);
    number.ok_or_else(|| problem(role, text, "a probability above 0 and at most 1"))
}

fn optional_time(role: LogRole, text: &str) -> Result<Option<f64>, RowProblem> {
    match text.trim() {
        "" => Ok(None),
        text => time(role, text).map(Some),
    }
}

fn time(role: LogRole, text: &str) -> Result<f64, RowProblem> {
    let expected = "seconds or milliseconds since 1970, or a point in time of ISO 8601";
    read_time(text).ok_or_else(|| problem(role, text, expected))
}

/// Seconds since 1970 of a number or a point in time of ISO 8601.
pub(super) fn read_time(text: &str) -> Option<f64> {
    let text = text.trim();
    let point = match text.parse::<f64>() {
        Ok(number) => PointInTime::from_number(number)?,
        Err(_) => PointInTime::from_text(text.as_bytes())?,
    };
    Some(point.seconds())
}

/// Puts rows together to pages.
#[derive(Debug, Default)]
pub(super) struct RowGrouper {
    /// The page of the rows before, and the positions of its documents.
    current: Option<(Impression, Vec<f64>)>,
}

impl RowGrouper {
    /// Adds a row; pages that end before it are added to the batch.
    pub(super) fn add(&mut self, row: LogRow, batch: &mut RecordBatch) {
        let (page, position) = match row {
            LogRow::Page(page) => {
                self.finish(batch);
                return batch.page(page);
            }
            LogRow::Document(page, position) => (page, position),
        };
        match &mut self.current {
            Some((current, positions)) if continues(current, positions, &page, position) => {
                let first = current.documents.len();
                let clicks = page.clicks.into_iter();
                current.clicks.extend(clicks.map(|c| Click { index: first + c.index, ..c }));
                match page.propensities.is_empty() || current.propensities.len() != first {
                    true => current.propensities.clear(),
                    false => current.propensities.extend(page.propensities),
                }
                current.documents.extend(page.documents);
                positions.extend(position);
            }
            _ => {
                self.finish(batch);
                self.current = Some((page, position.into_iter().collect()));
            }
        }
    }

    /// Ends the current page.
    pub(super) fn finish(&mut self, batch: &mut RecordBatch) {
        let Some((mut page, positions)) = self.current.take() else { return };
        if page.id.is_empty() {
            sort_by_position(&mut page, &positions);
            sort_clicks(&mut page);
            return batch.page(page);
        }
        let documents = page.documents.iter().map(String::as_str);
        batch.join(RecordKind::Rows, &page.id, |out| {
            out.page((&page).into(), documents).positions(&positions);
        });
    }
}

/// Whether a row belongs to the page of the row before it.
fn continues(
    current: &Impression,
    positions: &[f64],
    row: &Impression,
    position: Option<f64>,
) -> bool {
    if !current.id.is_empty() || !row.id.is_empty() {
        return current.id == row.id;
    }
    let is_same = current.query == row.query
        && current.session == row.session
        && current.user == row.user
        && current.time == row.time;
    is_same
        && match (position, positions.last()) {
            (Some(position), Some(last)) => position > *last,
            (None, None) => !current.documents.iter().any(|shown| row.documents.contains(shown)),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(LogRole, &'static str)]) -> Result<LogRow, RowProblem> {
        let cell = |(role, text): &(LogRole, &'static str)| (*role, LogCell::Text((*text).into()));
        read_row(cells.iter().map(cell))
    }

    fn pages(rows: &[LogRow]) -> Vec<Impression> {
        let (mut grouper, mut batch) = (RowGrouper::default(), RecordBatch::default());
        rows.iter().for_each(|row| grouper.add(row.clone(), &mut batch));
        grouper.finish(&mut batch);
        assert_eq!(batch.pages.len(), batch.records.len(), "a row without id is not joined");
        batch.pages
    }

    #[test]
    fn neighbouring_rows_without_ids_are_a_page_while_the_position_grows() {
        use LogRole::*;
        let shown = |document, position, click| {
            row(&[(Query, "q"), (Document, document), (Position, position), (Click, click)])
                .unwrap()
        };
        let rows = [
            shown("a", "1", "0"),
            shown("b", "3", "2"),
            shown("c", "2", "0"),
            shown("a", "2", "true"),
        ];
        let found = pages(&rows);
        let documents: Vec<Vec<String>> = found.iter().map(|page| page.documents.clone()).collect();
        assert_eq!(documents, [vec!["a", "b"], vec!["c"], vec!["a"]]);
        assert_eq!(found[0].clicked_ranks(), [false, true]);
        // Without positions a page ends before a document that it shows already.
        let shown = |document| row(&[(Query, "q"), (Document, document), (Click, "0")]).unwrap();
        assert_eq!(pages(&[shown("a"), shown("b"), shown("a")]).len(), 2);
    }

    #[test]
    fn cells_of_a_wrong_form_are_named_by_their_role() {
        use LogRole::*;
        for (cells, role) in [
            (vec![(Query, "q"), (Click, "1")], Document),
            (vec![(Document, "d"), (Click, "1")], Query),
            (vec![(Query, "q"), (Document, "d"), (Click, "yes")], Click),
            (vec![(Query, "q"), (Document, "d"), (Click, "-1")], Click),
            (vec![(Query, "q"), (Document, "d"), (Position, "first")], Position),
            (vec![(Query, "q"), (Document, "d"), (Propensity, "0")], Propensity),
            (vec![(Query, "q"), (Document, "d"), (Time, "noon")], Time),
            (vec![(Query, "q"), (Document, "d"), (ClickTime, "noon")], ClickTime),
            (vec![(Query, "q"), (Document, "")], Document),
        ] {
            assert_eq!(row(&cells).unwrap_err().role, role);
        }
        let lists = [
            (Query, LogCell::Text("q".into())),
            (Document, LogCell::List(vec!["a".into(), "b".into()])),
            (Click, LogCell::List(vec!["1".into()])),
        ];
        assert_eq!(read_row(lists).unwrap_err().found, "a list of 1");
    }
}
