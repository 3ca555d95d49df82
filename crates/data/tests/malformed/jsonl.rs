//! JSON lines.

use super::Reader::Text;
use super::{Case, case};

pub(crate) fn jsonl() -> Vec<Case> {
    vec![
        case(
            "jsonl: the object does not end",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2"#]),
            "bad.jsonl:1:18: found the end of the line, expected the rest of its JSON",
        ),
        case(
            "jsonl: a comma is missing",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1 "label":2}"#]),
            "bad.jsonl:1:10: found invalid JSON (expected `,` or `}`), expected one JSON object per line",
        ),
        case(
            "jsonl: a key without quotes",
            Text("bad.jsonl"),
            lines(&[r#"{qid:1}"#]),
            "bad.jsonl:1:2: found invalid JSON (key must be a string), expected one JSON object per line",
        ),
        case(
            "jsonl: text after the object",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2} x"#]),
            "bad.jsonl:1:21: found invalid JSON (trailing characters), expected one JSON object per line",
        ),
        case(
            "jsonl: a later line is no object",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2}"#, r#"[1,2]"#]),
            "bad.jsonl:2: found an array, expected one JSON object per line",
        ),
        case(
            "jsonl: a key twice",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"qid":3}"#]),
            "bad.jsonl:1:26: found the key 'qid' a second time, expected each key once",
        ),
        case(
            "jsonl: a feature twice",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"features":{"a":1,"a":2}}"#]),
            "bad.jsonl:1:31: found the key 'a' a second time, expected each key once",
        ),
        case(
            "jsonl: a feature inside and outside",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"a":1,"features":{"a":1}}"#]),
            "bad.jsonl:1:37: found the key 'a' a second time, expected each key once",
        ),
        case(
            "jsonl: features in a later line only",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2}"#, r#"{"qid":1,"label":2,"features":[1]}"#]),
            "bad.jsonl:2:31: found the key 'features', expected a key of the first line: 'qid', 'label' -> if the column is not a feature, leave it out: give the roles `ignore=features`",
        ),
        case(
            "jsonl: an object after an array",
            Text("bad.jsonl"),
            lines(&[
                r#"{"qid":1,"label":2,"features":[1]}"#,
                r#"{"qid":1,"label":2,"features":{"1":1}}"#,
            ]),
            "bad.jsonl:2:31 (column 'features'): found an object, expected an array of features, as in the first line",
        ),
        case(
            "jsonl: an array after an object",
            Text("bad.jsonl"),
            lines(&[
                r#"{"qid":1,"label":2,"features":{"a":1}}"#,
                r#"{"qid":1,"label":2,"features":[1]}"#,
            ]),
            "bad.jsonl:2:31 (column 'features'): found an array, expected an object with features, as in the first line",
        ),
        case(
            "jsonl: arrays of different lengths",
            Text("bad.jsonl"),
            lines(&[
                r#"{"qid":1,"label":2,"features":[1,2]}"#,
                r#"{"qid":1,"label":2,"features":[1]}"#,
            ]),
            "bad.jsonl:2:31 (column 'features'): found 1 feature, expected 2, as many as in the first line",
        ),
        case(
            "jsonl: feature is a string",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"a":1}"#, r#"{"qid":1,"label":2,"a":"high"}"#]),
            "bad.jsonl: column 'a' has numbers and texts (the first text, 'high', is at bad.jsonl:2:24) -> give the roles `category=a`",
        ),
        case(
            "jsonl: feature is nested",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"a":{"b":1}}"#]),
            "bad.jsonl: column 'a' is of type object, which is neither a number, a text nor a point in time -> give the roles `ignore=a`",
        ),
        case(
            "jsonl: feature does not fit f32",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"features":[1e300]}"#]),
            "bad.jsonl:1:32 (column '1'): found '1e300', expected a number within ±3.4e38 (features are 32-bit floats)",
        ),
        case(
            "jsonl: feature is too large for anything",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"a":1e999}"#]),
            "bad.jsonl:1:24 (column 'a'): found '1e999', expected a number within ±3.4e38 (features are 32-bit floats)",
        ),
        case(
            "jsonl: label is a string",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":"2"}"#]),
            "bad.jsonl:1:18 (column 'label'): found the text '2', expected a label, which is a finite number",
        ),
        case(
            "jsonl: label is null",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":null}"#]),
            "bad.jsonl:1:18 (column 'label'): found nothing, expected a label, which is a finite number -> leave out rows that nobody judged, or write 0 if they count as not relevant",
        ),
        case(
            "jsonl: label is missing",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2}"#, r#"{"qid":1}"#]),
            "bad.jsonl:2 (column 'label'): found nothing, expected a label, which is a finite number -> leave out rows that nobody judged, or write 0 if they count as not relevant",
        ),
        case(
            "jsonl: query id is missing",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2}"#, r#"{"label":1}"#]),
            "bad.jsonl:2 (column 'qid'): found nothing, expected a query id",
        ),
        case(
            "jsonl: query id is empty",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":"","label":2}"#]),
            "bad.jsonl:1:8 (column 'qid'): found nothing, expected a query id",
        ),
        case(
            "jsonl: query id is an array",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":[1],"label":2}"#]),
            "bad.jsonl:1:8 (column 'qid'): found an array, expected a query id",
        ),
        case(
            "jsonl: query id has a broken escape",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":"\ud800","label":2}"#]),
            "bad.jsonl:1:8 (column 'qid'): found the text '\\\\ud800', expected a text with valid escapes",
        ),
        case(
            "jsonl: weight is missing",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"label":2,"weight":1}"#, r#"{"qid":1,"label":2}"#]),
            "bad.jsonl:2 (column 'weight'): found nothing, expected a weight, which is a finite number from 0",
        ),
        case(
            "jsonl: no query key",
            Text("bad.jsonl"),
            lines(&[r#"{"id":1,"label":2}"#]),
            "bad.jsonl: no column is recognised as the qid; the columns are 'id', 'label' -> give the roles `qid=none`; `qid=none` if all rows are one list",
        ),
        case(
            "jsonl: no label key",
            Text("bad.jsonl"),
            lines(&[r#"{"qid":1,"x":2}"#]),
            "bad.jsonl: no column is recognised as the label; the columns are 'qid', 'x' -> give the roles `label=x`; `label=none` if there is no label",
        ),
        case(
            "jsonl: bytes are no text",
            Text("bad.jsonl"),
            b"{\"qid\":\"\xff\",\"label\":2}\n",
            "bad.jsonl:1:9: found bytes '�', expected UTF-8 text",
        ),
    ]
}

/// The bytes of these lines.
fn lines(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"]).flatten().copied().collect()
}
