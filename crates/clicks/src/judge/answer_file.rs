//! Files of answers: JSON lines, a JSON array, a table separated by tabs, or one answer a line.
//!
//! - **JSON.** The id of the question is `custom_id`, `id` or the like; without one, `query`, `a`
//!   and `b` name the documents. The answer is the first text under `answer`, `output`, `response`,
//!   `content` or the like, at any depth, so that files of batch interfaces of language models can
//!   be read as they are. A line without such a text, as batch interfaces write for a request that
//!   failed (`"response": null, "error": ...`), is an empty answer, which says nothing. `judge` or
//!   `model` names the judge.
//! - **Tables.** The columns `id`, `answer` and perhaps `judge`, or `query`, `a`, `b`, `answer` and
//!   perhaps `judge`; a header line with these names is left out.
//! - **Lines.** Each line is the answer to the question at the same place of its file. An empty
//!   line is an empty answer, which says nothing, so that the answers below it keep their questions;
//!   empty lines at the end of the file are no answers.
//!
//! Empty lines of JSON and of tables are left out.

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};
use serde_json::Value;

/// An answer, and the question that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgeAnswer {
    /// The question.
    pub key: AnswerKey,
    /// The answer as it was given; empty if there is none.
    pub text: String,
    /// The judge; empty if the file names none.
    pub judge: String,
    /// The line of the file, from 1; for a JSON array the place in it.
    pub line: u64,
}

/// The question of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerKey {
    /// The id of a question.
    Id(String),
    /// The query and the two documents, in the order in which the judge saw them.
    Pair {
        /// The query.
        query: String,
        /// The document that was shown first.
        first: String,
        /// The document that was shown second.
        second: String,
    },
    /// The place of the question in its file, from 0.
    Place(usize),
}

/// Reads answers.
///
/// ```
/// use rankwright_clicks::judge::{AnswerKey, read_answers};
/// use rankwright_data::bytes::Input;
///
/// let text = r#"{"custom_id": "7-1", "response": {"choices": [{"message": {"content": "A > B"}}]}}"#;
/// let answers = read_answers(&Input::raw("batch.jsonl", text.as_bytes().to_vec()))?;
/// assert_eq!(answers[0].key, AnswerKey::Id("7-1".to_owned()));
/// assert_eq!(answers[0].text, "A > B");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_answers(input: &Input) -> Result<Vec<JudgeAnswer>, DataError> {
    let malformed = |line: u64, found: &[u8], expected: &str| {
        DataError::malformed(SourceLocation::line(&input.name, line), quote(found), expected)
    };
    let text =
        std::str::from_utf8(&input.bytes).map_err(|_| malformed(1, &input.bytes, "UTF-8 text"))?;
    if text.trim_start().starts_with('[') {
        let values: Vec<Value> = serde_json::from_str(text)
            .map_err(|error| malformed(1, text.as_bytes(), &format!("a JSON array ({error})")))?;
        let answers = (1..).zip(&values).map(|(place, value)| {
            let found = value.to_string();
            from_json(value, place).ok_or_else(|| malformed(place, found.as_bytes(), JSON_ANSWER))
        });
        return answers.collect();
    }
    // A table's last line keeps the tab at its end: its answer is empty.
    let filled_end = text.trim_end().len();
    let end = text[filled_end..].find('\n').map_or(text.len(), |at| filled_end + at);
    let lines = (1..).zip(text[..end].lines());
    let filled = lines.clone().find(|(_, line)| !line.trim().is_empty());
    let first = filled.map_or("", |(_, line)| line.trim_start());
    let (is_json, is_table) = (first.starts_with('{'), first.contains('\t'));
    let mut answers = Vec::new();
    for (number, line) in lines {
        if (is_json || is_table) && line.trim().is_empty() {
            continue;
        }
        let answer = match (is_json, is_table) {
            (true, _) => {
                let value: Value = serde_json::from_str(line).map_err(|error| {
                    malformed(number, line.as_bytes(), &format!("a line of JSON ({error})"))
                })?;
                from_json(&value, number)
                    .ok_or_else(|| malformed(number, line.as_bytes(), JSON_ANSWER))?
            }
            (false, true) if answers.is_empty() && is_header(line) => continue,
            (false, true) => from_columns(line, number)
                .ok_or_else(|| malformed(number, line.as_bytes(), COLUMNS))?,
            (false, false) => JudgeAnswer {
                key: AnswerKey::Place(answers.len()),
                text: line.to_owned(),
                judge: String::new(),
                line: number,
            },
        };
        answers.push(answer);
    }
    Ok(answers)
}

/// The part of an error that says what was expected, for JSON that is no answer.
const JSON_ANSWER: &str = "an object with the id of a question, or with query, a and b";

/// The part of an error that says what was expected, for other columns of a table.
const COLUMNS: &str =
    "the columns id, answer and perhaps judge, or query, a, b, answer and perhaps judge";

/// Keys under which an answer is looked for, in this order.
const TEXT_KEYS: [&str; 18] = [
    "answer",
    "output",
    "preferred",
    "preference",
    "winner",
    "choice",
    "verdict",
    "completion",
    "generated_text",
    "content",
    "text",
    "message",
    "response",
    "body",
    "choices",
    "candidates",
    "parts",
    "result",
];

fn from_json(value: &Value, line: u64) -> Option<JudgeAnswer> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| as_id(value.get(key)?));
    let key = match text(&["custom_id", "id", "question", "question_id"]) {
        Some(id) => AnswerKey::Id(id),
        None => AnswerKey::Pair {
            query: text(&["query", "qid"])?,
            first: text(&["a"])?,
            second: text(&["b"])?,
        },
    };
    let judge = text(&["judge", "model"]).unwrap_or_default();
    Some(JudgeAnswer { key, text: find_text(value, 0).unwrap_or_default(), judge, line })
}

/// A text or a number as an id.
fn as_id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The first text under a known key, at a depth that no interface exceeds.
fn find_text(value: &Value, depth: usize) -> Option<String> {
    if depth > 16 {
        return None;
    }
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) => values.iter().find_map(|value| find_text(value, depth + 1)),
        Value::Object(members) => TEXT_KEYS
            .iter()
            .find_map(|key| members.get(*key).and_then(|value| find_text(value, depth + 1))),
        _ => None,
    }
}

fn is_header(line: &str) -> bool {
    let first = line.split('\t').next().unwrap_or_default().trim().to_ascii_lowercase();
    let has_answer = line.split('\t').any(|word| word.trim().eq_ignore_ascii_case("answer"));
    matches!(first.as_str(), "id" | "query" | "qid" | "query_id") && has_answer
}

fn from_columns(line: &str, number: u64) -> Option<JudgeAnswer> {
    let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
    let pair = |query: &str, first: &str, second: &str| AnswerKey::Pair {
        query: query.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
    };
    let (key, text, judge) = match columns[..] {
        [id, text] => (AnswerKey::Id(id.to_owned()), text, ""),
        [id, text, judge] => (AnswerKey::Id(id.to_owned()), text, judge),
        [query, first, second, text] => (pair(query, first, second), text, ""),
        [query, first, second, text, judge] => (pair(query, first, second), text, judge),
        _ => return None,
    };
    Some(JudgeAnswer { key, text: text.to_owned(), judge: judge.to_owned(), line: number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<JudgeAnswer>, DataError> {
        read_answers(&Input::raw("answers", text.as_bytes().to_vec()))
    }

    fn id(id: &str) -> AnswerKey {
        AnswerKey::Id(id.to_owned())
    }

    #[test]
    fn answers_are_read_from_json_tables_and_lines() {
        let json = "{\"id\": 3, \"answer\": \"A > B\", \"judge\": \"anna\"}\n\n\
                    {\"query\": \"q\", \"a\": \"x\", \"b\": \"y\", \"preferred\": \"a\"}\n\
                    {\"id\": \"batch_1\", \"custom_id\": \"4-2\", \"response\": {\"body\": {\"model\": \
                    \"m\", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \
                    \"content\": \"B > A\"}}]}}}\n";
        let found = read(json).unwrap();
        assert_eq!((&found[0].key, found[0].judge.as_str()), (&id("3"), "anna"));
        let pair = AnswerKey::Pair { query: "q".into(), first: "x".into(), second: "y".into() };
        assert_eq!((&found[1].key, found[1].text.as_str(), found[1].line), (&pair, "a", 3));
        assert_eq!((&found[2].key, found[2].text.as_str()), (&id("4-2"), "B > A"));
        let table = read("id\tanswer\n1-1\tA > B\n1-2\t\n").unwrap();
        assert_eq!((table.len(), &table[1].key, table[1].text.as_str()), (2, &id("1-2"), ""));
        let table = read("q\tx\ty\tA = B\tanna\n").unwrap();
        assert_eq!((&table[0].key, table[0].judge.as_str()), (&pair, "anna"));
        let array = read("[{\"id\": \"x\", \"output\": \"A\"},\n{\"id\": \"y\", \"text\": \"B\"}]");
        assert_eq!(array.unwrap()[1].key, id("y"));
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn an_empty_line_is_an_empty_answer_and_moves_no_other() {
        let found = read("\nA > B\n  \r\nB > A\n\n\n").unwrap();
        let found: Vec<(&AnswerKey, &str, u64)> =
            found.iter().map(|answer| (&answer.key, answer.text.trim(), answer.line)).collect();
        let place = AnswerKey::Place;
        let expected = [
            (&place(0), "", 1),
            (&place(1), "A > B", 2),
            (&place(2), "", 3),
            (&place(3), "B > A", 4),
        ];
        assert_eq!(found, expected);
        // Between lines of JSON and rows of a table, empty lines mean nothing.
        assert_eq!(read("\n1-1\tA\n\n1-2\tB\n").unwrap().len(), 2);
        assert!(read("\n \n").unwrap().is_empty());
    }

    #[test]
    fn a_failed_request_of_a_batch_is_an_empty_answer() {
        let lines = r#"{"id": "batch_1", "custom_id": "1-1", "response": {"body": {"choices": [{"message": {"content": "A > B"}}]}}, "error": null}
{"id": "batch_2", "custom_id": "1-2", "response": null, "error": {"code": "expired", "message": "too late"}}
{"id": "3"}
"#;
        let found = read(lines).unwrap();
        let keys: Vec<&AnswerKey> = found.iter().map(|answer| &answer.key).collect();
        assert_eq!(keys, [&id("1-1"), &id("1-2"), &id("3")]);
        let texts: Vec<&str> = found.iter().map(|answer| answer.text.as_str()).collect();
        assert_eq!(texts, ["A > B", "", ""]);
        assert_eq!(read("[{\"id\": 1}]").unwrap()[0].text, "");
    }

    #[test]
    fn files_that_cannot_be_read_are_errors_with_a_place() {
        for (text, place) in [
            ("{\"id\": \"1\", \"answer\": \"A\"}\n{\"answer\": \"B\"}\n", "answers:2: "),
            ("{\"id\": \"1\", \"answer\": \"A\"}\nA > B\n", "answers:2: "),
            ("{\"answer\": \"A\"}", "answers:1: "),
            ("1\tA\n2\tA\tx\ty\tz\tu\n", "answers:2: "),
            ("[{\"answer\": \"A\"}]", "answers:1: "),
            ("[1]", "answers:1: "),
            ("[1", "answers:1: "),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(place), "{text}: {error}");
        }
        assert!(read_answers(&Input::raw("x", vec![0xff, 0xfe])).is_err());
    }
}
