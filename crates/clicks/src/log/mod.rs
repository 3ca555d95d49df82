//! Readers of click logs, one file a format. The content tells the format.
//!
//! Formats whose lines hold a whole page are passed on page by page. The others, in which clicks
//! are events of their own, are joined in memory, in whatever order the events come.

mod counts;
mod join;
mod json_lines;
mod scalar;
mod yandex_log;
mod yandex_pages;

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};
use rankwright_spec::choices;

pub use counts::LogCounts;

use crate::impression::Impression;
use join::LogJoin;

choices! {
    /// A format of click logs.
    pub enum LogFormat {
        /// JSON lines: UBI, Metarank, or pages with lists of documents and clicks.
        JsonLines = "jsonl",
        /// The log of Yandex' Relevance Prediction Challenge: a line for each page and click.
        YandexLog = "yandex-log",
        /// Pages of that challenge, one record each: query, documents, clicked documents.
        YandexPages = "yandex-pages",
    }
}

impl LogFormat {
    /// The format of a text, by its beginning; `None` if it is none of them.
    pub fn detect(text: &[u8]) -> Option<Self> {
        let start = text.trim_ascii_start();
        if start.first() == Some(&b'{') {
            return Some(Self::JsonLines);
        }
        if yandex_log::is_log(start) {
            return Some(Self::YandexLog);
        }
        yandex_pages::is_pages(start).then_some(Self::YandexPages)
    }
}

/// Reads a click log of several files and passes each impression to `visit`. The format is told by
/// the content of each file if it is not given.
///
/// ```
/// use rankwright_clicks::log::read_log;
/// use rankwright_data::bytes::Input;
///
/// let line = r#"{"query": "red shoe", "docs": ["a", "b"], "clicks": [0, 1]}"#;
/// let input = Input::raw("log.jsonl", line.as_bytes().to_vec());
/// let mut pages = Vec::new();
/// let counts = read_log(&[input], None, |page| pages.push(page))?;
/// assert_eq!((counts.impressions, counts.clicks), (1, 1));
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_log(
    inputs: &[Input],
    format: Option<LogFormat>,
    mut visit: impl FnMut(Impression),
) -> Result<LogCounts, DataError> {
    let mut counts = LogCounts::default();
    // Events of one file may belong to impressions of another one.
    let mut join = LogJoin::default();
    for input in inputs {
        let detected = || LogFormat::detect(&input.bytes).ok_or_else(|| unknown_format(input));
        match format.map_or_else(detected, Ok)? {
            LogFormat::JsonLines => json_lines::read(input, |record| join.add(record))?,
            LogFormat::YandexLog => counts += yandex_log::read(input, &mut visit)?,
            LogFormat::YandexPages => counts += yandex_pages::read(input, &mut visit)?,
        }
    }
    counts += join.finish(visit);
    Ok(counts)
}

fn unknown_format(input: &Input) -> DataError {
    let location =
        SourceLocation { file: input.name.clone(), line: Some(1), column: None, field: None };
    let names: Vec<&str> = LogFormat::ALL.iter().map(|(name, _)| *name).collect();
    let start = input.bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    DataError::malformed(location, quote(start), format!("a click log ({})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<Impression>, LogCounts), DataError> {
        let mut pages = Vec::new();
        let input = Input::raw("log", text.as_bytes().to_vec());
        let counts = read_log(&[input], None, |page| pages.push(page))?;
        Ok((pages, counts))
    }

    /// Query and ids of the clicked documents of each page.
    fn clicked(pages: &[Impression]) -> Vec<(&str, Vec<&str>)> {
        let ids = |page: &'_ Impression| -> Vec<usize> {
            page.clicks.iter().map(|click| click.index).collect()
        };
        pages
            .iter()
            .map(|page| {
                let clicks = ids(page).into_iter().map(|index| page.documents[index].as_str());
                (page.query.as_str(), clicks.collect())
            })
            .collect()
    }

    #[test]
    fn events_of_ubi_are_joined_in_any_order() {
        let (pages, counts) = read(
            r#"{"action_name": "click", "query_id": "i1", "timestamp": "2026-03-01T10:00:09Z", "event_attributes": {"object": {"object_id": "c"}, "position": {"ordinal": 3}}}
{"query_id": "i1", "user_query": "red shoe", "client_id": "u", "timestamp": "2026-03-01T10:00:00Z", "query_response_hit_ids": ["a", "b", "c"]}

{"query_id": "i2", "user_query": "red shoe", "query_response_hit_ids": [7, 8]}
{"action_name": "click", "query_id": "i1", "timestamp": "2026-03-01T10:00:05Z", "event_attributes": {"object": {"object_id": "a"}}}
{"action_name": "add_to_cart", "query_id": "i1", "event_attributes": {"object": {"object_id": "a"}}}
{"action_name": "click", "query_id": "i9", "event_attributes": {"object": {"object_id": "a"}}}
{"action_name": "click", "query_id": "i2", "event_attributes": {"object": {"object_id": 9}}}
{"query_id": "i2", "query_response_hit_ids": ["x"]}
{"query_id": "i3", "query_response_hit_ids": []}"#,
        )
        .unwrap();
        assert_eq!(clicked(&pages), [("red shoe", vec!["a", "c"]), ("red shoe", vec![])]);
        assert_eq!(pages[1].documents, ["7", "8"]);
        let expected = LogCounts {
            impressions: 2,
            empty_impressions: 1,
            shown: 5,
            clicks: 2,
            off_page_clicks: 1,
            clicks_without_impression: 1,
            repeated_impressions: 1,
            other_events: 1,
            ..LogCounts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn rankings_and_interactions_of_metarank_are_read() {
        let (pages, counts) = read(
            r#"{"event": "ranking", "id": "r1", "timestamp": "1772368200000", "user": "u", "session": "s", "fields": [{"name": "query", "value": "cat"}], "items": [{"id": "i3"}, {"id": "i1"}]}
{"event": "interaction", "id": "e1", "ranking": "r1", "timestamp": 1772368199000, "type": "click", "item": "i1"}
{"event": "interaction", "id": "e2", "ranking": "r1", "timestamp": 1772368201000, "type": "purchase", "item": "i1"}
{"event": "item", "id": "x", "item": "i1", "fields": []}"#,
        )
        .unwrap();
        assert_eq!(clicked(&pages), [("cat", vec!["i1"])]);
        assert_eq!((counts.early_clicks, counts.other_events), (1, 2));
        assert_eq!(pages[0].time, Some(1_772_368_200.0));
    }

    #[test]
    fn pages_with_lists_are_sorted_by_position() {
        let (pages, _) = read(
            r#"{"query_id": 5, "query_doc_ids": [10, 20, 30], "clicks": [1, 0, 2], "positions": [3, 1, 2]}
{"session": "s", "query": "q", "docs": ["a", "b"], "clicks": [false, true]}"#,
        )
        .unwrap();
        assert_eq!(pages[0].documents, ["20", "30", "10"]);
        assert_eq!(clicked(&pages), [("5", vec!["30", "10"]), ("q", vec!["b"])]);
    }

    #[test]
    fn pages_keep_their_propensities_and_attributes() {
        let (pages, _) = read(
            r#"{"query": "q", "docs": ["a", "b"], "clicks": [0, 1], "positions": [2, 1], "propensities": [0.5, 0.25], "ranker": "pl", "device": "phone"}"#,
        )
        .unwrap();
        assert_eq!(pages[0].propensities, [0.25, 0.5]);
        let values = ["device", "ranker", "session", "x"].map(|name| pages[0].attribute(name));
        assert_eq!(values, [Some("phone"), Some("pl"), None, None]);
        for bad in ["[0.5]", "[0.5, 2]"] {
            let line = format!(
                r#"{{"query": "q", "docs": ["a", "b"], "clicks": [0, 1], "propensities": {bad}}}"#
            );
            assert!(read(&line).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_log_of_the_challenge_is_read_by_session() {
        let (pages, counts) =
            read("1\t0\tQ\t8\t0\t7\t9\n2\t1\tQ\t8\t0\t9\t7\n1\t5\tC\t9\n2\t6\tC\t5\n3\t6\tC\t5\n1\t7\tC\t7\n")
                .unwrap();
        assert_eq!(clicked(&pages), [("8", vec!["9", "7"]), ("8", vec![])]);
        assert_eq!((counts.off_page_clicks, counts.clicks_without_impression), (1, 1));
        assert_eq!((counts.upward_clicks, counts.repeated_clicks), (1, 0));
    }

    #[test]
    fn errors_name_the_line() {
        let good = r#"{"query": "q", "docs": ["a"], "clicks": [1]}"#;
        for bad in [
            r#"{"query": "q", "docs": ["a"], "clicks": [1, 0]}"#,
            r#"{"query": "q", "docs": ["a", "b"], "clicks": [1, 0], "positions": [1]}"#,
            r#"{"docs": ["a"], "clicks": [1]}"#,
            r#"{"query": "q", "clicks": [1]}"#,
            r#"{"event": "ranking", "items": []}"#,
            r#"{"query": "q", "docs": "a", "clicks": [1]}"#,
            r#"{"query": "q""#,
            "[]",
            "q",
        ] {
            let error = read(&format!("{good}\n\n{bad}\n{good}")).unwrap_err().to_string();
            assert!(error.starts_with("log:3: "), "{error}");
        }
        let error = read("query,doc\n1,2").unwrap_err().to_string();
        assert!(error.contains("jsonl, yandex-log, yandex-pages"), "{error}");
        assert!(
            read("1\t0\tQ\t8\t0\t7\n1\t0\tX\t8").unwrap_err().to_string().starts_with("log:2: ")
        );
    }
}
