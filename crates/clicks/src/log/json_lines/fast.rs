//! The fast reader of a line: strings, whole numbers, and lists and objects of them, in one pass
//! over the bytes and without a copy.
//!
//! It returns nothing for a line of any other form: one with escapes, fractions or `null` at a key
//! that is read, with a key twice, with keys of rare use, or with an error. `serde_json` reads
//! these lines, and has the error messages. For every line that is read here, both give the same
//! [`RawLine`], which a property test checks.

use std::borrow::Cow;

use rankwright_data::PointInTime;

use super::{RawAttributes, RawItem, RawLine, RawObject, RawPosition};
use crate::log::rows::read_time;
use crate::log::scalar::{ClickFlag, Text, Time};

/// Most digits of a number that is read: all of them are below 2^63.
const MAX_DIGITS: usize = 18;

/// Deepest nesting of values that are skipped.
const MAX_DEPTH: usize = 16;

/// Reads a line; `None` if it is not of the ordinary form.
pub(super) fn read_line(line: &str) -> Option<RawLine<'_>> {
    let mut line = LineScanner { text: line, at: 0 };
    let mut raw = RawLine::default();
    line.object(|line, key| read_key(line, key, &mut raw))?;
    line.skip_space();
    (line.at == line.text.len()).then_some(raw)
}

/// Reads the value of a key of a line.
fn read_key<'a>(line: &mut LineScanner<'a>, key: &'a str, raw: &mut RawLine<'a>) -> Option<()> {
    let slot = match key {
        "action_name" => &mut raw.action_name,
        "query_id" => &mut raw.query_id,
        "user_query" => &mut raw.user_query,
        "client_id" => &mut raw.client_id,
        "session_id" => &mut raw.session_id,
        "event" => &mut raw.event,
        "id" => &mut raw.id,
        "ranking" => &mut raw.ranking,
        "item" => &mut raw.item,
        "type" => &mut raw.interaction,
        "query" => &mut raw.query,
        "impression" | "impression_id" => &mut raw.impression,
        "device" => &mut raw.device,
        "session" => &mut raw.session,
        "user" => &mut raw.user,
        "ranker" | "application" => &mut raw.ranker,
        "timestamp" | "time" => return set(&mut raw.timestamp, line.time()?),
        "query_response_hit_ids" => {
            return set(&mut raw.query_response_hit_ids, line.list(LineScanner::text)?);
        }
        "query_doc_ids" | "docs" | "documents" => {
            return set(&mut raw.query_doc_ids, line.list(LineScanner::text)?);
        }
        "clicks" => return set(&mut raw.clicks, line.list(LineScanner::click_flag)?),
        "items" => return set(&mut raw.items, line.list(LineScanner::item)?),
        // Only an empty list of fields is read here.
        "fields" => return set(&mut raw.fields, line.list(|_| None)?),
        "event_attributes" => return set(&mut raw.event_attributes, line.event_attributes()?),
        "query_attributes" => {
            let text = line.object_text()?;
            return set(&mut raw.query_attributes, serde_json::from_str(text).ok()?);
        }
        "count" => return set(&mut raw.count, serde_json::from_str(line.count()?).ok()?),
        "positions" | "propensities" | "click_times" => return None,
        _ => return line.skip_value(0),
    };
    set(slot, line.text()?)
}

/// Sets the value of a key; `None` if the key was there before.
fn set<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// A line with the place up to which it was read.
struct LineScanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> LineScanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The next byte that is no space, which stays to be read.
    fn next_token(&mut self) -> Option<u8> {
        self.skip_space();
        self.peek()
    }

    /// Reads a byte after any space.
    fn byte(&mut self, byte: u8) -> Option<()> {
        (self.next_token()? == byte).then(|| self.at += 1)
    }

    /// The entries between two brackets, with commas between them.
    fn entries(
        &mut self,
        [open, close]: [u8; 2],
        mut read: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.byte(open)?;
        if self.next_token()? == close {
            return self.byte(close);
        }
        loop {
            read(self)?;
            match self.next_token()? {
                b',' => self.at += 1,
                _ => return self.byte(close),
            }
        }
    }

    /// An object; `read` reads the value of each key.
    fn object(&mut self, mut read: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.entries(*b"{}", |line| {
            let key = line.string()?;
            line.byte(b':')?;
            read(line, key)
        })
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut list = Vec::new();
        self.entries(*b"[]", |line| {
            // A page has ten documents as a rule.
            if list.is_empty() {
                list.reserve(10);
            }
            list.push(read(line)?);
            Some(())
        })?;
        Some(list)
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a str> {
        self.byte(b'"')?;
        let start = self.at;
        let end = start + string_length(self.text.as_bytes().get(start..)?)?;
        self.at = end + 1;
        let is_whole = self.text.as_bytes().get(end) == Some(&b'"');
        self.text.get(start..end).filter(|_| is_whole)
    }

    /// The digits of a whole number without a sign.
    fn digits(&mut self) -> Option<&'a str> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_ordinary = match rest.first()? {
            b'0' => count == 1,
            _ => (1..=MAX_DIGITS).contains(&count),
        };
        // A fraction or an exponent is neither of the bytes that may follow a value.
        let digits = self.text.get(self.at..self.at + count);
        self.at += count;
        digits.filter(|_| is_ordinary)
    }

    /// The digits of a whole number after any space.
    fn count(&mut self) -> Option<&'a str> {
        self.skip_space();
        self.digits()
    }

    /// A text, or a whole number, whose digits are its text.
    fn text(&mut self) -> Option<Text<'a>> {
        let text = match self.next_token()? {
            b'"' => self.string()?,
            _ => self.digits()?,
        };
        Some(Text(Cow::Borrowed(text)))
    }

    fn time(&mut self) -> Option<Time> {
        let seconds = match self.next_token()? {
            b'"' => read_time(self.string()?)?,
            _ => {
                let number: u64 = self.digits()?.parse().ok()?;
                PointInTime::from_number(number as f64)?.seconds()
            }
        };
        Some(Time(seconds))
    }

    fn click_flag(&mut self) -> Option<ClickFlag> {
        match self.next_token()? {
            b't' => self.word("true").map(|()| ClickFlag(true)),
            b'f' => self.word("false").map(|()| ClickFlag(false)),
            _ => self.digits().map(|digits| ClickFlag(digits != "0")),
        }
    }

    /// An item of a ranking that has only an id, and perhaps an empty list of fields.
    fn item(&mut self) -> Option<RawItem<'a>> {
        let (mut id, mut fields) = (None, None);
        self.object(|line, key| match key {
            "id" => set(&mut id, line.text()?),
            "fields" => set(&mut fields, line.list(|_| None)?),
            _ => line.skip_value(0),
        })?;
        Some(RawItem { id: id?, fields: fields.unwrap_or_default() })
    }

    fn event_attributes(&mut self) -> Option<RawAttributes<'a>> {
        let mut raw = RawAttributes::default();
        self.object(|line, key| match key {
            "object" => {
                let object_id = line.object_with("object_id")?;
                set(&mut raw.object, RawObject { object_id })
            }
            "position" => {
                let ordinal = line.object_with("ordinal")?;
                set(&mut raw.position, RawPosition { ordinal })
            }
            _ => line.skip_value(0),
        })?;
        Some(raw)
    }

    /// An object of which one key is read.
    fn object_with(&mut self, name: &str) -> Option<Option<Text<'a>>> {
        let mut found = None;
        self.object(|line, key| match key == name {
            true => set(&mut found, line.text()?),
            false => line.skip_value(0),
        })?;
        Some(found)
    }

    /// The text of an object.
    fn object_text(&mut self) -> Option<&'a str> {
        if self.next_token()? != b'{' {
            return None;
        }
        let start = self.at;
        self.skip_value(0)?;
        self.text.get(start..self.at)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.get(self.at..)?;
        rest.starts_with(word).then(|| self.at += word.len())
    }

    /// Skips a value of any type.
    fn skip_value(&mut self, depth: usize) -> Option<()> {
        if depth == MAX_DEPTH {
            return None;
        }
        match self.next_token()? {
            b'"' => self.string().map(drop),
            b'{' => self.object(|line, _| line.skip_value(depth + 1)),
            b'[' => self.entries(*b"[]", |line| line.skip_value(depth + 1)),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => {
                if self.peek() == Some(b'-') {
                    self.at += 1;
                }
                self.digits()?;
                if self.peek() == Some(b'.') {
                    self.at += 1;
                    let rest = self.text.as_bytes().get(self.at..)?;
                    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    self.at += count;
                    return (count > 0).then_some(());
                }
                Some(())
            }
        }
    }
}

/// The number of bytes before the first that ends a string or needs a closer look: a quotation
/// mark, a backslash or a control character. `None` if there is none. Eight bytes at a time: the
/// highest bit of a byte of the mask is set where such a byte is; bits above the first one may be
/// wrong.
fn string_length(bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word;
    let mut start = 0;
    while let Some(eight) = bytes.get(start..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*eight);
        let quotes = zeros(word ^ u64::from_le_bytes([b'"'; 8]));
        let backslashes = zeros(word ^ u64::from_le_bytes([b'\\'; 8]));
        let controls = word.wrapping_sub(u64::from_le_bytes([0x20; 8])) & !word;
        let mask = (quotes | backslashes | controls) & HIGH;
        if mask != 0 {
            return Some(start + mask.trailing_zeros() as usize / 8);
        }
        start += 8;
    }
    let rest = bytes.get(start..)?;
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
    rest.iter().position(ends).map(|at| start + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The line by the reference reader, as text, since raw values have no comparison.
    fn reference(line: &str) -> Option<String> {
        serde_json::from_str::<RawLine<'_>>(line).ok().map(|raw| format!("{raw:?}"))
    }

    /// Whether the fast reader reads a line; if it does, the reference reader gives the same.
    fn is_fast(line: &str) -> bool {
        let found = read_line(line).map(|raw| format!("{raw:?}"));
        if let Some(found) = &found {
            assert_eq!(Some(found), reference(line).as_ref(), "{line}");
        }
        found.is_some()
    }

    #[test]
    fn ordinary_lines_are_read_fast_and_others_are_left_to_the_reference_reader() {
        for line in [
            r#"{"application": "shop", "query_id": "7", "client_id": "u", "user_query": "red shoe",
                "query_attributes": {}, "timestamp": "2026-03-01T12:30:07.5Z",
                "query_response_hit_ids": ["a", 7, "ü"]}"#,
            r#"{"action_name":"click","query_id":12,"timestamp":1772368200500,"message":"m",
                "event_attributes":{"object":{"object_id":"a","object_id_field":"x"},
                "position":{"ordinal":3,"x":-1.5},"browser":[null,true,{"a":[]}]}}"#,
            r#"{"event": "ranking", "id": "1", "items": [{"id": "a"}, {"id": 2, "fields": []}],
                "fields": [], "user": "u", "session": "s", "timestamp": "1772368200"}"#,
            r#"{"event":"interaction","type":"click","item":"a","ranking":"1","fields":[]}"#,
            r#"{"query": "cat", "docs": ["a", "b"], "clicks": [0, true], "time": 5, "count": 7}"#,
            "{}",
        ] {
            assert!(is_fast(line), "{line}");
        }
        for line in [
            r#"{"query": "a\"b", "docs": [], "clicks": []}"#,
            r#"{"query": null}"#,
            r#"{"query": "a", "query": "a"}"#,
            r#"{"ranker": "a", "application": "a"}"#,
            r#"{"query": 1.5}"#,
            r#"{"query": 012}"#,
            r#"{"query": -3}"#,
            r#"{"query": 1234567890123456789}"#,
            r#"{"query": true}"#,
            r#"{"timestamp": "yesterday"}"#,
            r#"{"propensities": [0.5]}"#,
            r#"{"click_times": [5]}"#,
            r#"{"event_attributes": {"position": {"ordinal": 1, "ordinal": 2}}}"#,
            r#"{"items": [{"fields": []}]}"#,
            r#"{"query": "a"} x"#,
            r#"{"query": "a",}"#,
            r#"{"query": "a""#,
            r#"{"x": [1,]}"#,
            r#"{"x": -}"#,
            r#"{"x": 1.}"#,
            r#"{"x": tru}"#,
            "{\"query\": \"a\tb\"}",
            "{\"query\": \"a\t\"}",
            "[]",
            "",
        ] {
            assert!(!is_fast(line), "{line}");
        }
        let deep = format!(r#"{{"x": {}{}}}"#, "[".repeat(40), "]".repeat(40));
        assert!(!is_fast(&deep) && reference(&deep).is_some());
    }

    #[test]
    fn strings_end_at_the_first_special_byte_wherever_it_is() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for length in 0..40 {
                for filler in [b'a', 0x7f, 0x80, 0xff, b' ', b'!', b'#', b']'] {
                    let mut text = vec![filler; length];
                    assert_eq!(string_length(&text), None);
                    text.push(special);
                    text.extend([b'"'; 9]);
                    assert_eq!(string_length(&text), Some(length), "{special} {filler}");
                }
            }
        }
    }

    /// Values that logs have, and some that they should not have.
    fn value() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just("{}".to_owned()),
            Just("[]".to_owned()),
            any::<i32>().prop_map(|number| number.to_string()),
            any::<f64>().prop_map(|number| number.to_string()),
            "[0-9]{1,20}",
            "[a-zü ]{0,12}".prop_map(|text| format!("\"{text}\"")),
            r#""([ -~]|\\[nt"\\]|\\u00e9){0,6}""#,
            "2026-0[1-9]-[0-3][0-9]T1[0-9]:00:00Z".prop_map(|text| format!("\"{text}\"")),
            r#"[-0-9a-f."{}\[\]:, ]{0,6}"#,
        ];
        scalar.prop_recursive(3, 24, 4, |inner| {
            let entry = ("(object|position|object_id|ordinal|id|fields|x)", inner.clone());
            let entry = entry.prop_map(|(key, value)| format!("\"{key}\": {value}"));
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|list| format!("[{}]", list.join(","))),
                prop::collection::vec(entry, 0..4)
                    .prop_map(|entries| format!("{{{}}}", entries.join(" , "))),
            ]
        })
    }

    const KEYS: &str = "action_name query_id user_query client_id session_id event id ranking item \
                        items type fields query query_response_hit_ids query_doc_ids docs clicks \
                        positions propensities click_times impression device session user timestamp time \
                        ranker application event_attributes query_attributes message count";

    fn key() -> impl Strategy<Value = &'static str> {
        prop::sample::select(KEYS.split(' ').collect::<Vec<_>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn both_readers_give_the_same_line(
            entries in prop::collection::vec((key(), value()), 0..6),
            spaces in " {0,2}",
        ) {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{spaces}\"{key}\"{spaces}:{value}{spaces}"))
                .collect();
            is_fast(&format!("{{{}}}{spaces}", entries.join(",")));
        }

        #[test]
        fn both_readers_agree_on_damaged_lines(at in 0_usize..300, byte in any::<u8>()) {
            let mut line = br#"{"action_name":"click","query_id":12,"timestamp":1772368200500,
                "event_attributes":{"object":{"object_id":"a","object_id_field":"x"},
                "position":{"ordinal":3,"x":-1.5}},"query_response_hit_ids":["a","b"],
                "clicks":[0,1,true],"application":"shop","user_query":"red shoe"}"#.to_vec();
            let at = at % line.len();
            line[at] = byte;
            if let Ok(line) = std::str::from_utf8(&line) {
                is_fast(line);
            }
        }
    }
}
