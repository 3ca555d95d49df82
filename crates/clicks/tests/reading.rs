//! Tests of reading logs: formats, joins, bounds of memory, sessions and what is left out.

use rankwright_clicks::log::{
    BotLimits, DroppedPart, LogColumns, LogCounts, LogInput, LogOptions, LogValues, TimeSpan,
    read_impressions, read_log,
};
use rankwright_clicks::{Click, Impression};
use rankwright_data::DataError;
use rankwright_data::bytes::Input;

fn read(text: &str) -> Result<(Vec<Impression>, LogCounts), DataError> {
    let mut pages = Vec::new();
    let input = Input::raw("log", text.as_bytes().to_vec());
    let counts = read_log([input], None, |page| pages.push(page.clone()))?;
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
    let mut expected = LogCounts::default();
    (expected.impressions, expected.empty_impressions, expected.shown) = (2, 1, 5);
    (expected.clicks, expected.off_page_clicks, expected.other_events) = (2, 1, 1);
    (expected.clicks_without_impression, expected.repeated_impressions) = (1, 1);
    assert_eq!(counts, expected);
}

#[test]
fn an_ordinal_of_ubi_is_a_whole_number_from_1_in_any_notation() {
    let page = r#"{"query_id": "i", "query_response_hit_ids": ["a", "b", "c"]}"#;
    for (ordinal, expected) in [
        ("3", vec!["c"]),
        ("3.0", vec!["c"]),
        ("\"3\"", vec!["c"]),
        ("\"3.0\"", vec!["c"]),
        ("2e0", vec!["b"]),
        ("1", vec!["a"]),
        ("0", vec![]),
        ("2.5", vec![]),
        ("-1", vec![]),
        ("\"nan\"", vec![]),
        ("\"first\"", vec![]),
    ] {
        let click = format!(
            r#"{{"action_name": "click", "query_id": "i", "event_attributes": {{"position": {{"ordinal": {ordinal}}}}}}}"#
        );
        let log = format!("{page}\n{click}\n");
        if expected.is_empty() {
            let error = read(&log).unwrap_err().to_string();
            assert!(error.contains("a rank from 1"), "{ordinal}: {error}");
            continue;
        }
        let (pages, counts) = read(&log).unwrap();
        assert_eq!(counts.other_events, 0, "{ordinal}");
        assert_eq!(clicked(&pages), [("i", expected)], "{ordinal}");
    }
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
fn an_interaction_without_a_ranking_is_counted_and_left_out() {
    let (pages, counts) = read(
        r#"{"event": "interaction", "type": "click", "item": "a"}
{"event": "ranking", "id": "r", "items": [{"id": "a"}]}
{"event": "interaction", "type": "click", "item": "a", "ranking": null}
{"event": "interaction", "type": "click", "item": "a", "ranking": "r"}
{"event": "interaction", "type": "purchase", "item": "a"}"#,
    )
    .unwrap();
    assert_eq!(clicked(&pages), [("r", vec!["a"])]);
    assert_eq!((counts.clicks, counts.clicks_without_impression, counts.other_events), (1, 2, 1));
}

#[test]
fn a_field_of_another_type_does_not_hide_the_others() {
    let (pages, _) = read(
        r#"{"query_id": "i", "query_response_hit_ids": ["a", "b"], "query_attributes": {"device": {"os": "x"}, "ranker": "old", "propensities": [0.5, 1], "page": 2}}
{"query_id": "j", "query_response_hit_ids": ["a"], "query_attributes": {"device": "phone", "ranker": ["old"], "propensities": null}}
{"query_id": "k", "query_response_hit_ids": ["a"], "query_attributes": "none"}
{"event": "ranking", "id": "r", "fields": [{"name": "device", "value": ["x"]}, {"name": "ranker", "value": "new"}], "items": [{"id": "a", "fields": [{"name": "propensity", "value": 0.25}, {"name": "price", "value": "low"}]}]}"#,
    )
    .unwrap();
    let fields = |page: usize| (pages[page].ranker.as_str(), pages[page].device.as_str());
    assert_eq!([fields(0), fields(1)], [("old", ""), ("", "phone")]);
    assert_eq!([fields(2), fields(3)], [("", ""), ("new", "")]);
    let propensities: Vec<&[f64]> = pages.iter().map(|page| &page.propensities[..]).collect();
    assert_eq!(propensities, [&[0.5, 1.0][..], &[], &[], &[0.25]]);
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
    assert!(read("1\t0\tQ\t8\t0\t7\n1\t0\tX\t8").unwrap_err().to_string().starts_with("log:2: "));
}

/// Impressions and counts of several files, read with options.
fn read_with(
    files: &[&str],
    options: &LogOptions,
) -> Result<(Vec<Impression>, LogCounts), DataError> {
    let input = |(number, text): (usize, &&str)| {
        LogInput::from(Input::raw(format!("log{number}"), text.as_bytes().to_vec()))
    };
    let inputs = files.iter().enumerate().map(input).collect();
    let mut pages = Vec::new();
    let counts = read_impressions(inputs, options, |page| {
        pages.push(page.clone());
        Ok::<_, DataError>(())
    })?;
    Ok((pages, counts))
}

/// UBI events of many impressions in a shuffled order, in two files: clicks come before and after
/// their impressions, some are repeated, off the page or on unknown impressions.
fn shuffled_ubi() -> [String; 2] {
    let mut lines = Vec::new();
    for page in 0..400_u64 {
        let hits: Vec<String> = (0..5).map(|rank| format!("\"d{}\"", (page + rank) % 23)).collect();
        lines.push(format!(
            r#"{{"query_id": "i{page}", "user_query": "q{}", "client_id": "u{}", "timestamp": {}, "query_response_hit_ids": [{}]}}"#,
            page % 7,
            page % 11,
            1_700_000_000 + page * 600,
            hits.join(", ")
        ));
        for click in 0..page % 4 {
            lines.push(format!(
                r#"{{"action_name": "click", "query_id": "i{}", "timestamp": {}, "event_attributes": {{"object": {{"object_id": "d{}"}}}}}}"#,
                if page % 50 == 49 { 9999 } else { page },
                1_700_000_000 + page * 600 + 40 - click * 13,
                (page + click * 2) % 23
            ));
        }
    }
    let mut random = rankwright_data::Random::new(7, 0);
    random.shuffle(&mut lines);
    let half = lines.len() / 2;
    [lines[..half].join("\n"), lines[half..].join("\n")]
}

#[test]
fn a_tiny_bound_of_memory_gives_the_same_impressions_counts_and_order() {
    let ubi = shuffled_ubi();
    let table =
        "impression,query,document,position,click\n3,q,a,1,0\n2,q,b,2,1\n3,q,c,2,1\n2,q,d,1,0\n";
    let yandex: String = (0..90)
        .map(|line| match line % 3 {
            2 => format!("s{}\t{line}\tC\td{}\n", line % 5, line % 4),
            _ => format!("s{}\t{line}\tQ\tq{}\t0\td0\td{}\n", line % 5, line % 2, line % 4),
        })
        .collect();
    let pages = r#"{"query": "q", "docs": ["a", "b"], "clicks": [0, 1]}"#;
    let files = [&ubi[0], table, pages, &ubi[1], &yandex, pages];
    let folder = tempfile::tempdir().unwrap();
    for options in [
        LogOptions::default(),
        LogOptions::default()
            .session_gap(Some(TimeSpan { seconds: 1800.0 }))
            .drop([DroppedPart::Repeated, DroppedPart::Bots])
            .bots(BotLimits::default().impressions(37_u64)),
    ] {
        let (expected, counts) = read_with(&files, &options).unwrap();
        for bound in [1, 1000, 20_000] {
            let bounded = options.clone().max_join_bytes(bound).scratch_folder(folder.path());
            let (found, found_counts) = read_with(&files, &bounded).unwrap();
            assert_eq!(found_counts, counts, "{bound}");
            assert!(found == expected, "{bound}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(counts.clicks_without_impression > 0 && counts.off_page_clicks > 0, "{counts:?}");
        assert!(counts.repeated_clicks + counts.upward_clicks > 0, "{counts:?}");
    }
    // The order of the log: that of the first record of each impression.
    let (pages, _) = read_with(&[table], &LogOptions::default()).unwrap();
    let ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    assert_eq!(ids, ["3", "2"]);
    assert_eq!(
        (&*pages[1].documents, pages[1].clicks[0].index),
        (&["d", "b"].map(String::from)[..], 1)
    );
}

#[test]
fn tables_are_read_by_the_roles_of_their_columns() {
    let csv = "search_id,keyword,sku,rank,bought,ts,device\n1,\"red, shoe\",a,1,0,2026-03-01,phone\n1,\"red, shoe\",b,2,1,2026-03-01,phone\n";
    let tsv = csv.replace("\"red, shoe\"", "red; shoe").replace(',', "\t").replace(';', ",");
    let jsonl = r#"{"search_id": 1, "keyword": "red, shoe", "sku": "a", "rank": 1, "bought": 0, "ts": "2026-03-01", "device": "phone", "x": {}}
{"search_id": 1, "keyword": "red, shoe", "sku": "b", "rank": 2, "bought": true, "ts": 1772323200000, "device": "phone"}"#;
    let lists = r#"{"search_id": 1, "keyword": "red, shoe", "sku": ["b", "a"], "rank": [2, 1], "bought": [1, 0], "ts": 1772323200, "device": "phone"}"#;
    let columns = LogColumns::parse("query=keyword, document=sku, click=bought").unwrap();
    let options = LogOptions::default().columns(columns);
    for text in [csv, &tsv, jsonl, lists] {
        let (pages, counts) = read_with(&[text], &options).unwrap();
        let mut expected = Impression::new("red, shoe", ["a", "b"]).clicked([2]);
        expected.id = "1".into();
        expected.time = Some(1_772_323_200.0);
        expected.device = "phone".into();
        assert_eq!((pages.as_slice(), counts.clicks), (&[expected][..], 1), "{text}");
    }
    // Names alone tell these roles.
    let guessed = "session\tquery_id\tdoc-id\tPosition\tclicked\ns\tq\td\t1\t1\ns\tq\te\t2\t0\ns\tq\td\t1\t0\n";
    let (pages, _) = read_with(&[guessed], &LogOptions::default()).unwrap();
    assert_eq!(clicked(&pages), [("q", vec!["d"]), ("q", vec![])]);
    // A byte-order mark is no part of the first name or line.
    for text in [guessed, r#"{"query": "q", "docs": ["d"], "clicks": [1]}"#] {
        let marked = format!("\u{feff}{text}");
        assert!(read_with(&[&marked], &LogOptions::default()).unwrap().1.clicks == 1, "{text}");
    }
    let rows = r#"{"query": "q", "document": "a", "click": 1}"#;
    assert_eq!(read_with(&[rows], &LogOptions::default()).unwrap().1.clicks, 1);
}

#[test]
fn sessions_close_after_a_gap_and_other_events_can_be_clicks() {
    let line = |id: u32, user: &str, time: u32| {
        format!(
            r#"{{"query_id": {id}, "client_id": "{user}", "timestamp": {time}, "query_response_hit_ids": ["a", "b"]}}"#
        )
    };
    let click = r#"{"action_name": "purchase", "query_id": 2, "timestamp": 1900, "event_attributes": {"position": {"ordinal": 2}}}"#;
    // The log is not in the order of time.
    let lines = [
        line(1, "u", 5000),
        line(2, "u", 100),
        line(3, "v", 150),
        line(4, "u", 3000),
        click.to_owned(),
        line(5, "u", 8000),
    ];
    let options = LogOptions::default()
        .session_gap(Some(TimeSpan { seconds: 2000.0 }))
        .events(["purchase", "click"]);
    let (pages, counts) = read_with(&[&lines.join("\n")], &options).unwrap();
    let sessions: Vec<&str> = pages.iter().map(|page| page.session.as_str()).collect();
    // The purchase at 1900 keeps the session of 100 open until 3000, and that goes on at 5000.
    assert_eq!(sessions, ["u#1", "u#1", "v#1", "u#1", "u#2"]);
    assert_eq!((counts.clicks, counts.other_events, pages[1].clicks[0].index), (1, 0, 1));
    let (_, counts) = read_with(&[&lines.join("\n")], &LogOptions::default()).unwrap();
    assert_eq!((counts.clicks, counts.other_events), (0, 1));
}

#[test]
fn repeated_and_early_clicks_and_bots_are_left_out_as_told() {
    let mut lines = vec![
        r#"{"query_id": "i", "client_id": "u", "timestamp": 1000, "query_response_hit_ids": ["a", "b"]}"#.to_owned(),
    ];
    for (document, time) in [("b", 1010), ("b", 1020), ("a", 900)] {
        lines.push(format!(
            r#"{{"action_name": "click", "query_id": "i", "timestamp": {time}, "event_attributes": {{"object": {{"object_id": "{document}"}}}}}}"#
        ));
    }
    for number in 0..10 {
        lines.push(format!(
            r#"{{"query_id": "b{number}", "client_id": "bot", "timestamp": {}, "query_response_hit_ids": ["a"]}}"#,
            1000.0 + f64::from(number) * 0.5
        ));
    }
    let text = lines.join("\n");
    let (pages, counts) = read_with(&[&text], &LogOptions::default()).unwrap();
    assert_eq!((pages.len(), counts.clicks, counts.dropped_clicks), (11, 3, 0));
    assert_eq!((counts.repeated_clicks, counts.early_clicks), (1, 1));
    assert_eq!((counts.bots, counts.bot_impressions, counts.dropped_impressions), (1, 10, 0));
    let all = DroppedPart::ALL.iter().map(|(_, part)| *part);
    let (pages, counts) = read_with(&[&text], &LogOptions::default().drop(all)).unwrap();
    assert_eq!((pages.len(), counts.impressions, counts.clicks), (1, 1, 1));
    assert_eq!((counts.repeated_clicks, counts.early_clicks, counts.dropped_clicks), (1, 1, 2));
    assert_eq!((counts.bots, counts.bot_impressions, counts.dropped_impressions), (1, 10, 10));
    // The click at 900 was the first one.
    assert_eq!(pages[0].clicks[0].index, 1);
}

#[test]
fn an_error_of_the_visitor_ends_reading() {
    let line = "{\"query\": \"q\", \"docs\": [\"a\"], \"clicks\": [1]}\n".repeat(30_000);
    let input = LogInput::from(Input::raw("log", line.into_bytes()));
    let mut seen = 0;
    let error = read_impressions(vec![input], &LogOptions::default(), |_| {
        seen += 1;
        Err(DataError::NoInput)
    });
    assert!(matches!(error, Err(DataError::NoInput)) && seen == 1);
}

/// The pages of a log in memory.
fn read_values(values: LogValues) -> Result<(Vec<Impression>, LogCounts), DataError> {
    let mut pages = Vec::new();
    let input = LogInput::from_values("the log", values)?;
    let counts = read_log([input], None, |page| pages.push(page.clone()))?;
    Ok((pages, counts))
}

#[test]
fn a_log_in_memory_is_read_as_its_file() {
    let text = r#"{"session": "s", "query": "cat", "docs": ["a", "b"], "clicks": [1, 1], "click_times": [9, 5.5]}
{"query": "dog", "docs": ["c", "d"], "clicks": [0, 0], "count": 3, "propensities": [0.5, 1]}
"#;
    let expected = read(text).unwrap();
    assert_eq!(clicked(&expected.0), [("cat", vec!["b", "a"]), ("dog", vec![])]);
    assert_eq!(expected.0[0].dwell_times(), [Some(3.5), None]);
    let of_text = read_values(LogValues::Text(text.as_bytes().into())).unwrap();
    assert_eq!(of_text, expected);
    assert_eq!(read_values(expected.0.clone().into()).unwrap(), expected);
    let lines: Vec<String> =
        expected.0.iter().map(|page| serde_json::to_string(page).unwrap()).collect();
    assert_eq!(read(&lines.join("\n")).unwrap(), expected);
}

#[test]
fn impressions_in_memory_are_checked_as_those_of_a_file() {
    let mut page = Impression::new("q", ["a", "b"]);
    page.clicks = [0, 2].map(|index| Click { index, time: None }).to_vec();
    let (pages, counts) = read_values(vec![page.clone()].into()).unwrap();
    assert_eq!((clicked(&pages), counts.off_page_clicks), (vec![("q", vec!["a"])], 1));
    let mut wrong = page.clone();
    wrong.propensities = vec![0.5];
    let mut uncounted = page.clone();
    uncounted.count = 0;
    for wrong in [wrong, uncounted] {
        let error = read_values(vec![page.clone(), wrong].into()).unwrap_err().to_string();
        assert!(error.starts_with("the log, impression 2: "), "{error}");
    }
}

#[cfg(feature = "columnar")]
#[test]
fn rows_in_memory_are_read_as_a_table() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
    use rankwright_clicks::log::LogRows;

    let columns: [(&str, ArrayRef); 4] = [
        ("price", Arc::new(Int64Array::from(vec![3, 4, 5]))),
        ("qid", Arc::new(StringArray::from(vec!["cat", "cat", "dog"]))),
        ("docid", Arc::new(Int64Array::from(vec![7, 8, 7]))),
        ("clicked", Arc::new(BooleanArray::from(vec![false, true, true]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let rows = |batch: &RecordBatch| LogRows::new(batch.schema(), [batch.clone()]);
    let expected = read("qid,docid,clicked\ncat,7,0\ncat,8,1\ndog,7,1\n").unwrap();
    assert_eq!(read_values(LogValues::Rows(rows(&batch))).unwrap(), expected);
    let others = batch.project(&[0, 1]).unwrap();
    let error = read_values(LogValues::Rows(rows(&others))).err().unwrap().to_string();
    assert!(error.contains("the log: ") && error.contains("document"), "{error}");
}
