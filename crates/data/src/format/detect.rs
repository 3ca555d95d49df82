//! Detects the format of a file by its content; its extension only breaks ties.
//!
//! Binary formats have a magic number. For text, the first line that is neither blank nor a comment
//! decides: `{` is JSON; a label and `id:value` pairs are LETOR; tabs or commas are a table. Other
//! common files (a TREC run, qrels, a spreadsheet) are rejected with an error that names their
//! kind.
//! Cost: the first line, and at most the first 64 KiB.

use std::path::Path;

use super::cache::NAME;
use super::roles::Role;
use super::{Format, names};
use crate::bytes::Input;
use crate::error::{DataError, Remedy, quote};

/// Formats that are detected by their first bytes.
const MAGICS: &[(&[u8], Format)] = &[
    (NAME, Format::Cache),
    (b"PAR1", Format::Parquet),
    (b"ARROW1", Format::Arrow),
    // The marker with which every message of an Arrow stream starts.
    (&[0xff; 4], Format::Arrow),
];

/// Files that are not supported, and the advice for each.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"PARE", "this is Parquet with an encrypted footer", "write it again without encryption"),
    (b"FEA1", "this is Feather of version 1", "write it again as Feather version 2 (Arrow IPC)"),
    (
        b"PK\x03\x04",
        "this is a zip archive (or a spreadsheet, or .npz)",
        "unpack it, or export CSV",
    ),
    (b"\x89HDF", "this is HDF5", "export it as Parquet or CSV"),
    (b"\x93NUMPY", "this is a NumPy array", "export it as Parquet or CSV, with qid and label"),
    (b"BZh", "this is packed with bzip2", "unpack it, or pack it with gzip or zstd"),
    (b"\xfd7zXZ\0", "this is packed with xz", "unpack it, or pack it with gzip or zstd"),
    (b"\xff\xfe", "this is UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "this is UTF-16 text", "save it as UTF-8"),
];

/// Detects the format of an input.
pub(super) fn detect(input: &Input) -> Result<Format, DataError> {
    let bytes: &[u8] = &input.bytes;
    if let Some((_, format)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Ok(*format);
    }
    if let Some((_, reason, help)) = FOREIGN.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Err(unknown(input, *reason, *help));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let sample = text.get(..65536).unwrap_or(text);
    let is_odd = |byte: &&u8| **byte < 32 && !matches!(**byte, b'\n' | b'\r' | b'\t');
    let odd = sample.iter().filter(is_odd).count();
    if sample.contains(&0) || odd * 20 > sample.len() {
        let help = format!("the formats are {}", names());
        return Err(unknown(input, "this is binary, but of no format that is read", help));
    }
    // A first line may be longer than the sample, but its start is enough.
    let mut lines = sample.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty());
    let Some(first) = first.or_else(|| beyond(text)) else {
        return Err(DataError::Empty { file: input.name.clone(), what: "rows" });
    };
    let is_comment = |line: &[u8]| line.is_empty() || line.starts_with(b"#");
    let told = if is_comment(first) { lines.find(|line| !is_comment(line)) } else { Some(first) };
    // Only comments so far: LETOR is the only format that has them.
    let Some(told) = told else { return Ok(Format::Letor) };
    let (first, told) = (String::from_utf8_lossy(first), String::from_utf8_lossy(told));
    by_line(input, &told, sample.contains(&b':')).unwrap_or_else(|| by_separator(input, &first))
}

/// The first line with content, if it is beyond the sample.
fn beyond(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start();
    text.split(|&byte| byte == b'\n').next().filter(|line| !line.is_empty())
}

fn unknown(input: &Input, reason: impl Into<String>, remedy: impl Into<Remedy>) -> DataError {
    let (file, remedy) = (input.name.clone(), remedy.into());
    DataError::UnknownFormat { file, reason: reason.into(), remedy }
}

/// The format, if one line is enough to detect it: all but tables.
fn by_line(input: &Input, line: &str, has_colons: bool) -> Option<Result<Format, DataError>> {
    if line.starts_with('{') {
        return Some(Ok(Format::Jsonl));
    }
    if line.starts_with('[') {
        let help = "write one object a line, for instance with `jq -c '.[]'`";
        return Some(Err(unknown(input, "this is a JSON array, not one object a line", help)));
    }
    if is_number(line) && !has_colons {
        let reason = "this is one number a line, not feature data";
        return Some(Err(unknown(input, reason, Remedy::EvaluateScores)));
    }
    if is_letor(line) {
        return Some(Ok(Format::Letor));
    }
    let what = trec_kind(line)?;
    let remedy = Remedy::EvaluateRun { formats: names() };
    Some(Err(unknown(input, format!("this is {what}, not feature data"), remedy)))
}

/// A label followed by a query or a feature, or only a label. One good sign is enough, so that the
/// LETOR reader can report the fault in the rest of the line.
fn is_letor(line: &str) -> bool {
    let data = line.split('#').next().unwrap_or_default();
    let mut words = data.split_ascii_whitespace();
    let label = words.next().is_some_and(is_number);
    let is_feature = |word: &str| {
        word.split_once(':').is_some_and(|(id, _)| {
            id == "qid" || (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    match words.next() {
        Some(word) => {
            is_feature(word) && (label || words.all(is_feature) || word.starts_with("qid:"))
        }
        None => label,
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// A line of a TREC run or of qrels. A header whose features are called 0, 1, 2 is neither.
fn trec_kind(line: &str) -> Option<&'static str> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_header = words.iter().any(|word| Role::guess(word) == Some(Role::Query));
    let is_fixed = |word: &str| ["q0", "iter"].contains(&word.to_ascii_lowercase().as_str());
    match words[..] {
        [query, document, "score"]
            if query.starts_with("query") && document.starts_with("corpus") =>
        {
            Some("a file of qrels (BEIR)")
        }
        _ if is_header => None,
        [_, fixed, _, _, score, ..] if is_fixed(fixed) && is_number(score) => Some("a TREC run"),
        [_, fixed, _, rank, score, _] if [fixed, rank, score].into_iter().all(is_number) => {
            Some("a TREC run")
        }
        [_, fixed, _, relevance]
            if (is_fixed(fixed) || is_number(fixed)) && is_number(relevance) =>
        {
            Some("a file of TREC qrels")
        }
        _ => None,
    }
}

fn by_separator(input: &Input, line: &str) -> Result<Format, DataError> {
    let count = |separator: char| line.matches(separator).count();
    let (commas, tabs, semicolons) = (count(','), count('\t'), count(';'));
    let named = Format::from_path(Path::new(&input.name));
    if semicolons > commas && semicolons > tabs {
        let help = "write it with commas or tabs between the columns, and with a decimal point";
        return Err(unknown(input, "the columns are separated by semicolons", help));
    }
    match (commas, tabs, named) {
        (1.., 1.., Some(format @ (Format::Csv | Format::Tsv)))
        | (0, 0, Some(format @ (Format::Csv | Format::Tsv))) => Ok(format),
        (0, 0, Some(Format::Letor)) => Ok(Format::Letor),
        (0, 0, _) => {
            let reason =
                format!("the first line {} is of no format that is read", quote(line.as_bytes()));
            Err(unknown(input, reason, format!("the formats are {}", names())))
        }
        (commas, tabs, _) if commas > tabs => Ok(Format::Csv),
        _ => Ok(Format::Tsv),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, bytes: &[u8]) -> Result<Format, String> {
        let input = Input::from_bytes(name, bytes.to_vec()).unwrap();
        detect(&input).map_err(|e| e.to_string())
    }

    #[test]
    fn content_tells_the_format_whatever_the_name() {
        for (bytes, format) in [
            (&b"PAR1...."[..], Format::Parquet),
            (b"ARROW1\0\0", Format::Arrow),
            (b"\xff\xff\xff\xff\x10\0\0\0", Format::Arrow),
            (b"RWDATA\r\n", Format::Cache),
            (b"\xef\xbb\xbf\n {\"qid\":1}", Format::Jsonl),
            (b"2 qid:10 1:0.5 # d", Format::Letor),
            (b"# comment\n\n0 1:2 3:4\n", Format::Letor),
            (b"# only\n# comments\n", Format::Letor),
            (b"x qid:1 1:2\n", Format::Letor),
            (b"-1\n1 1:2\n", Format::Letor),
            (b"0 # doc 1\n", Format::Letor),
            (b"session\tclicks\t1\t2\t3\t4\n", Format::Tsv),
            (b"#qid,label,a\n1,2,3\n", Format::Csv),
            (b"qid,label,a\n", Format::Csv),
            (b"qid\tlabel\ta,b\tc\n", Format::Tsv),
            (b"qid\tlabel\tweight\t0\t1\t2\n", Format::Tsv),
            (b"qid,label,\"a\tb\"\n", Format::Csv),
        ] {
            assert_eq!(told("file", bytes), Ok(format), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_extension_breaks_ties() {
        assert_eq!(told("a.csv", b"qid\tx,label\n"), Ok(Format::Csv));
        assert_eq!(told("a.tsv.gz", b"qid,label\tx,y\n"), Ok(Format::Tsv));
        assert_eq!(told("a.csv", b"qid\n"), Ok(Format::Csv));
        assert_eq!(told("a.txt", b"hello\n"), Ok(Format::Letor));
        assert!(told("a", b"hello\n").unwrap_err().contains("'hello'"));
    }

    #[test]
    fn what_is_no_feature_data_is_refused_by_name() {
        for (bytes, reason) in [
            (&b"301 Q0 FBIS3-1 1 7.5 tag\n"[..], "this is a TREC run"),
            (b"301 Q0 FBIS3-1 1 7.5 tag and more\n", "this is a TREC run"),
            (b"# comment\n301 0 FBIS3-1 1\n", "this is a file of TREC qrels"),
            (b"# Heading\n\nSome text\n", "is of no format"),
            (b"0.5\n-1e-3\n", "this is one number a line"),
            (b"query-id\tcorpus-id\tscore\n", "qrels (BEIR)"),
            (b"qid;label;a\n", "semicolons"),
            (b"[{\"qid\":1}]", "JSON array"),
            (b"PK\x03\x04....", "zip"),
            (b"\xff\xfeq\0i\0d\0", "UTF-16"),
            (b"a\0b", "binary"),
            (b"\x01\x02\x03", "binary"),
        ] {
            let error = told("file", bytes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        assert_eq!(told("e", b"").unwrap_err(), "e holds no rows");
        assert_eq!(told("e", b" \r\n\n").unwrap_err(), "e holds no rows");
    }
}
