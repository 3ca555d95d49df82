//! Malformed logs: each gives an error that names the place and what was expected, and none panics.

use rankwright_clicks::log::{LogColumns, LogFormat, LogInput, LogOptions, read_impressions};
use rankwright_data::DataError;
use rankwright_data::bytes::Input;

fn error_of(bytes: &[u8], options: &LogOptions) -> Result<u64, String> {
    let input = LogInput::from(Input::raw("log", bytes.to_vec()));
    let counts = read_impressions(vec![input], options, |_| Ok::<_, DataError>(()));
    counts.map(|counts| counts.impressions).map_err(|error| error.to_string())
}

/// Reads a text in a format, or in the detected one, with roles of columns, and checks that the
/// error begins with the place and contains the expectation.
#[track_caller]
fn refused(format: Option<LogFormat>, columns: &str, text: &[u8], place: &str, expected: &str) {
    let columns = LogColumns::parse(columns).unwrap();
    let options = LogOptions::default().format(format).columns(columns);
    let shown = String::from_utf8_lossy(text).into_owned();
    let error = error_of(text, &options).expect_err(&shown);
    assert!(error.starts_with(place), "{shown}\n{error}");
    let (_, after) = error.split_once("expected ").unwrap_or(("", &error));
    assert!(after.contains(expected), "{shown}\n{error}");
}

/// A line of each kind of JSON that is fine.
const QUERY: &str = r#"{"query_id": "i", "query_response_hit_ids": ["a"]}"#;
const PAGE: &str = r#"{"query": "q", "docs": ["a"], "clicks": [1]}"#;

#[test]
fn json_lines() {
    let kinds = "a query or an event of UBI";
    let line = "a line of a click log";
    let cases = [
        (r#"{"query": "q", "docs": ["a"], "clicks": [1, 0]}"#, "clicks for each document"),
        (r#"{"query": "q", "docs": ["a", "b"], "clicks": []}"#, "clicks for each document"),
        (
            r#"{"query": "q", "docs": ["a", "b"], "clicks": [1, 0], "positions": [1]}"#,
            "a position for each document",
        ),
        (
            r#"{"query": "q", "docs": ["a"], "clicks": [1], "propensities": [0.5, 0.5]}"#,
            "a propensity above 0",
        ),
        (
            r#"{"query": "q", "docs": ["a"], "clicks": [1], "propensities": [0]}"#,
            "a propensity above 0",
        ),
        (
            r#"{"query": "q", "docs": ["a"], "clicks": [1], "propensities": [1.5]}"#,
            "a propensity above 0 and at most 1",
        ),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "count": 0}"#, "a count of impressions"),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "count": -2}"#, "a count of impressions"),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "count": 1.5}"#, "a count of impressions"),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "count": "7"}"#, "a count of impressions"),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "count": 1000001}"#, "to a million"),
        (r#"{"docs": ["a"], "clicks": [1]}"#, kinds),
        (r#"{"query": "q", "clicks": [1]}"#, kinds),
        (r#"{"query": "q", "docs": ["a"]}"#, kinds),
        (r#"{"query": "q", "docs": "a", "clicks": [1]}"#, line),
        (r#"{"query": "q", "docs": [["a"]], "clicks": [1]}"#, line),
        (r#"{"query": "q", "docs": ["a"], "clicks": ["yes"]}"#, line),
        (r#"{"query": "q", "docs": ["a"], "clicks": [-1]}"#, line),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "positions": ["first"]}"#, line),
        (
            r#"{"query": "q", "docs": ["a", "b"], "clicks": [1, 0], "positions": [0, 1]}"#,
            "1 for the first document",
        ),
        (
            r#"{"action_name": "click", "query_id": "i", "event_attributes": {"position": {"ordinal": 0}}}"#,
            "a rank from 1",
        ),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "time": "noon"}"#, "ISO 8601"),
        (r#"{"query": "q", "docs": ["a"], "clicks": [1], "time": 1e30}"#, "ISO 8601"),
        (r#"{"query": {"text": "q"}, "docs": ["a"], "clicks": [1]}"#, line),
        (r#"{"query_response_hit_ids": ["a"]}"#, "a query_id"),
        (r#"{"query_id": "j", "query_response_hit_ids": "a"}"#, line),
        (r#"{"query_id": ["j"], "query_response_hit_ids": ["a"]}"#, line),
        (r#"{"query_id": "j", "query_response_hit_ids": [null]}"#, line),
        (r#"{"query_id": "j", "query_response_hit_ids": ["a"], "timestamp": "2026-13-01"}"#, "ISO"),
        (
            r#"{"query_id": "j", "query_response_hit_ids": ["a"], "query_attributes": {"propensities": []}, "x": }"#,
            line,
        ),
        (
            r#"{"query_id": "j", "query_response_hit_ids": ["a"], "query_attributes": {"propensities": "high"}}"#,
            "a propensity above 0",
        ),
        (
            r#"{"query_id": "j", "query_response_hit_ids": ["a"], "query_attributes": {"ranker": "x", "ranker": "y"}}"#,
            "each of them once",
        ),
        (
            r#"{"event": "ranking", "id": "r", "items": [{"id": "a", "fields": [{"name": "propensity", "value": "high"}]}]}"#,
            "a propensity above 0",
        ),
        (
            r#"{"event": "ranking", "id": "r", "items": [{"id": "a", "fields": [{"name": "propensity", "value": 0.5}]}, {"id": "b"}]}"#,
            "a propensity above 0",
        ),
        (r#"{"action_name": "click", "query_id": "i", "event_attributes": "x"}"#, line),
        (r#"{"action_name": "click", "query_id": "i", "event_attributes": {"object": 3}}"#, line),
        (r#"{"action_name": {}, "query_id": "i"}"#, line),
        (r#"{"event": "ranking", "items": []}"#, "an id of a ranking"),
        (r#"{"event": "ranking", "id": "r"}"#, "items of a ranking"),
        (r#"{"event": "ranking", "id": "r", "items": ["a"]}"#, line),
        (r#"{"event": "ranking", "id": "r", "items": [{"name": "a"}]}"#, line),
        (r#"{"event": "interaction", "ranking": "r", "item": "a"}"#, "a type of an interaction"),
        (r#"{"event": "interaction", "type": "click"}"#, "an item of an interaction"),
        (
            r#"{"event": "interaction", "type": "click", "ranking": "r"}"#,
            "an item of an interaction",
        ),
        (r#"{"query": "q""#, line),
        (r#"{"query": "q\"#, line),
        (r#"{"query": "\ud800", "docs": ["a"], "clicks": [1]}"#, line),
        (r#"{"query": "q", "query": "r", "docs": ["a"], "clicks": [1]}"#, line),
        ("[]", kinds),
        ("null", line),
        ("q", line),
        ("{}", kinds),
        ("}", line),
    ];
    for (bad, expected) in cases {
        for good in [QUERY, PAGE] {
            let text = format!("{good}\n\n{bad}\n{good}\n");
            refused(None, "", text.as_bytes(), "log:3: ", expected);
        }
    }
    refused(None, "", b"{\"query\": \"q\"}\n\xff\xfe", "log:1: ", "a query or an event of UBI");
    let not_utf8 =
        [PAGE.as_bytes(), b"\n{\"query\": \"\xff\", \"docs\": [], \"clicks\": []}"].concat();
    refused(None, "", &not_utf8, "log:2: ", line);
    // An array of all records is no log of lines.
    refused(None, "", format!("[{PAGE}]").as_bytes(), "log:1: ", "a click log (jsonl, ");
    // The line is right in a block after the first one.
    let long = format!("{}{{\"query\": 3}}\n", format!("{PAGE}\n").repeat(200_000));
    refused(None, "", long.as_bytes(), "log:200001: ", kinds);
}

#[test]
fn rows_of_json() {
    let good = r#"{"q": "a", "sku": "x", "buy": 1}"#;
    for (bad, place, expected) in [
        (r#"{"q": "a", "buy": 1}"#, "log:2: ", "a key with the role document"),
        (r#"{"q": "a", "sku": "x"}"#, "log:2: ", "a key with the role click"),
        (r#"{"sku": "x", "buy": 1}"#, "log:2: ", "a key with the role query or impression"),
        (r#"{"q": "a", "sku": null, "buy": 1}"#, "log:2 (column 'sku')", "a document"),
        (r#"{"q": "a", "sku": "", "buy": 1}"#, "log:2 (column 'sku')", "an id of each document"),
        (r#"{"q": null, "sku": "x", "buy": 1}"#, "log:2 (column 'q')", "a query"),
        (r#"{"q": ["a"], "sku": "x", "buy": 1}"#, "log:2 (column 'q')", "a single value"),
        (r#"{"q": "a", "sku": "x", "buy": "yes"}"#, "log:2 (column 'buy')", "a boolean"),
        (
            r#"{"q": "a", "sku": "x", "buy": [1]}"#,
            "log:2 (column 'buy')",
            "a value for each document",
        ),
        (
            r#"{"q": "a", "sku": ["x"], "buy": 1}"#,
            "log:2 (column 'buy')",
            "a value for each document",
        ),
        (r#"{"q": "a", "sku": {"id": 1}, "buy": 1}"#, "log:2 (column 'sku')", "a text, a number"),
        (
            r#"{"q": "a", "sku": "x", "buy": 1, "rank": "top"}"#,
            "log:2 (column 'rank')",
            "a position",
        ),
        (r#"{"q": "a", "sku": "x", "buy": 1, "time": "top"}"#, "log:2 (column 'time')", "ISO 8601"),
        (r#"{"q": "a", "sku": "x", "buy": 1"#, "log:2: ", "an object with columns"),
        ("3", "log:2: ", "an object with columns"),
    ] {
        let text = format!("{good}\n{bad}\n");
        let columns = "query=q, document=sku, click=buy";
        refused(None, columns, text.as_bytes(), place, expected);
    }
}

#[test]
fn tables() {
    let columns = "query,document,position,click,time,propensity,session\n";
    let good = "q,a,1,0,5,0.5,s\n";
    for (bad, place, expected) in [
        ("q,a,1,0,5,0.5", "log:3", "7 cells, as in the header"),
        ("q,a,1,0,5,0.5,s,x", "log:3", "7 cells, as in the header"),
        ("q,,1,0,5,0.5,s", "log:3 (column 'document')", "a document"),
        (",a,1,0,5,0.5,s", "log:3 (column 'query')", "a query"),
        ("q,a,x,0,5,0.5,s", "log:3 (column 'position')", "a position"),
        ("q,a,inf,0,5,0.5,s", "log:3 (column 'position')", "a position"),
        ("q,a,0,0,5,0.5,s", "log:3 (column 'position')", "1 for the first document"),
        ("q,a,-1,0,5,0.5,s", "log:3 (column 'position')", "1 for the first document"),
        ("q,a,1.5,0,5,0.5,s", "log:3 (column 'position')", "a whole number"),
        ("q,a,1,maybe,5,0.5,s", "log:3 (column 'click')", "a boolean or a number of clicks"),
        ("q,a,1,nan,5,0.5,s", "log:3 (column 'click')", "a boolean or a number of clicks"),
        ("q,a,1,0,today,0.5,s", "log:3 (column 'time')", "ISO 8601"),
        ("q,a,1,0,5,2,s", "log:3 (column 'propensity')", "a probability above 0"),
        ("q,a,1,0,5,0,s", "log:3 (column 'propensity')", "a probability above 0"),
    ] {
        let text = format!("{columns}{good}{bad}\n{good}");
        refused(None, "", text.as_bytes(), place, expected);
        let text = text.replace(',', "\t");
        refused(None, "", text.as_bytes(), place, expected);
    }
    let not_utf8 = [columns.as_bytes(), b"q,\xff,1,0,5,0.5,s\n"].concat();
    refused(None, "", &not_utf8, "log:2 (column 'document')", "UTF-8 text");
    let csv = Some(LogFormat::Csv);
    refused(csv, "", b"query,click\nq,1\n", "log:1: ", "a column with the role document");
    refused(csv, "", b"doc,click\na,1\n", "log:1: ", "a column with the role query or impression");
    refused(csv, "", b"query,doc\nq,a\n", "log:1: ", "a column with the role click");
    refused(csv, "click=buy", b"query,doc\nq,a\n", "log:1: ", "a column 'buy' for the role click");
    refused(csv, "ignore=click", b"query,doc,click\nq,a,1\n", "log:1: ", "the role click");
    refused(None, "", b"query;doc;click\nq;a;1\n", "log:1: ", "a click log (jsonl, ");
}

#[test]
fn logs_of_the_challenge() {
    let good = "1\t0\tQ\t8\t0\t7\t9\n";
    for bad in [
        "1\t0\tX\t8",
        "1\t0\tQ\t8",
        "1\tnoon\tQ\t8\t0\t7",
        "1\tnan\tC\t7",
        "1\t0\tC",
        "1\t0\tC\t7\t9",
        "1 0 Q 8 0 7",
        "1",
    ] {
        let text = format!("{good}\n{bad}\n{good}");
        let expected = "session, time, Q, query, region and documents";
        refused(None, "", text.as_bytes(), "log:3: ", expected);
    }
    for bad in ["q 1,2 : 1", "q\t1,2", "q\t : 1", "q", ":", "q\t,, : 1"] {
        let text = format!("q\t1 : 1;\n\n{bad};\nq\t1 :;");
        let expected = "a query, a tab, documents, a colon and clicks";
        refused(None, "", text.as_bytes(), "log:3: ", expected);
    }
}

#[test]
fn other_files_are_no_logs() {
    for text in [
        b"".as_slice(),
        b"\n\n",
        b"hello\n",
        b"1 qid:1 1:2\n",
        b"q Q0 d 1 2.5 run\n",
        b"\x00\x01\x02",
        b"\xff\xfe{\x00",
        b"PK\x03\x04",
        b"<html></html>",
    ] {
        refused(
            None,
            "",
            text,
            "log:1: ",
            "a click log (jsonl, yandex-log, yandex-pages, csv, tsv",
        );
    }
    for (format, text) in [
        (LogFormat::JsonLines, "query,doc,click\nq,a,1\n"),
        (LogFormat::Csv, "{\"query\": \"q\"}\n"),
        (LogFormat::YandexLog, "q\t1 : 1;"),
        (LogFormat::YandexPages, "{}"),
    ] {
        refused(Some(format), "", text.as_bytes(), "log", "");
    }
}

#[cfg(feature = "columnar")]
#[test]
fn damaged_parquet_files_are_errors() {
    use rankwright_clicks::Impression;
    use rankwright_clicks::log::write::{LogTarget, LogWriter};

    let mut bytes = Vec::new();
    let mut writer = LogWriter::new(LogTarget::Parquet, &mut bytes).unwrap();
    (0..50).for_each(|_| writer.write(&Impression::new("q", ["a", "b"]).clicked([1])).unwrap());
    writer.finish().unwrap();
    let options = LogOptions::default();
    assert_eq!(error_of(&bytes, &options), Ok(50));
    // Cut anywhere, the end of the file is missing.
    for length in (4..bytes.len()).step_by(97) {
        let error = error_of(&bytes[..length], &options).unwrap_err();
        assert!(error.starts_with("log is damaged"), "{error}");
    }
    // Changed bytes give a log or an error.
    for at in (4..bytes.len()).step_by(11) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let _ = error_of(&damaged, &options);
    }
    let columns = LogColumns::parse("document=sku").unwrap();
    let error = error_of(&bytes, &LogOptions::default().columns(columns)).unwrap_err();
    assert!(error.contains("a column 'sku' for the role document"), "{error}");
}
