//! Detects the format of a file by its content; its extension only breaks ties.
//!
//! Binary formats have a magic number. For text, the first line that is neither blank nor a comment
//! decides: `{` is JSON; a label and `id:value` pairs are LETOR; tabs, commas or semicolons are a
//! table. Other common files (a TREC run, qrels, a spreadsheet) are rejected with an error that names
//! their kind. Only the first 64 KiB are read, unless they are all blank.

use std::path::Path;

use super::Format;
use super::cache::MAGIC_LETTERS;
use super::roles::Role;
use crate::bytes::Input;
use crate::error::{DataError, FormatProblem, UnsupportedFormat};

/// Formats that are detected by their first bytes.
const MAGICS: &[(&[u8], Format)] = &[
    (MAGIC_LETTERS, Format::Cache),
    (b"PAR1", Format::Parquet),
    (b"ARROW1", Format::Arrow),
    // The marker with which every message of an Arrow stream starts.
    (&[0xff; 4], Format::Arrow),
];

/// Formats that are not supported, by their first bytes.
const UNSUPPORTED: &[(&[u8], UnsupportedFormat)] = &[
    (b"PARE", UnsupportedFormat::EncryptedParquet),
    (b"FEA1", UnsupportedFormat::FeatherV1),
    (b"PK\x03\x04", UnsupportedFormat::Zip),
    (b"\x89HDF", UnsupportedFormat::Hdf5),
    (b"\x93NUMPY", UnsupportedFormat::NumPy),
    (b"BZh", UnsupportedFormat::Bzip2),
    (b"\xfd7zXZ\0", UnsupportedFormat::Xz),
    (b"\xff\xfe", UnsupportedFormat::Utf16),
    (b"\xfe\xff", UnsupportedFormat::Utf16),
];

/// Detects the format of an input.
pub(super) fn detect(input: &Input) -> Result<Format, DataError> {
    let bytes: &[u8] = &input.bytes;
    if let Some((_, format)) = MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Ok(*format);
    }
    if let Some(&(_, kind)) = UNSUPPORTED.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Err(unknown(input, FormatProblem::Unsupported { kind }));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let sample = text.get(..65536).unwrap_or(text);
    let is_control = |byte: &&u8| **byte < 32 && !matches!(**byte, b'\n' | b'\r' | b'\t');
    let controls = sample.iter().filter(is_control).count();
    // More than one control character in 20 bytes is no text.
    if sample.contains(&0) || controls * 20 > sample.len() {
        return Err(unknown(input, FormatProblem::UnknownBinary));
    }
    // A first line may be longer than the sample, but its start is enough.
    let mut lines = sample.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty());
    let Some(first_line) = first.or_else(|| line_beyond_sample(text)) else {
        return Err(DataError::Empty { file: input.name.clone(), what: "rows" });
    };
    let is_comment = |line: &[u8]| line.is_empty() || line.starts_with(b"#");
    let data_line = match is_comment(first_line) {
        true => lines.find(|line| !is_comment(line)),
        false => Some(first_line),
    };
    // Only comments in the sample: LETOR is the only format that has them.
    let Some(data_line) = data_line else { return Ok(Format::Letor) };
    let first_line = String::from_utf8_lossy(first_line);
    let data_line = String::from_utf8_lossy(data_line);
    // The header of a table may start with `#`, so its separator is looked for in the first line.
    by_line(input, &data_line, sample.contains(&b':'))
        .unwrap_or_else(|| by_separator(input, &first_line))
}

/// The first line that is not blank, for a file whose sample has only blank lines.
fn line_beyond_sample(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_start();
    text.split(|&byte| byte == b'\n').next().filter(|line| !line.is_empty())
}

fn unknown(input: &Input, problem: FormatProblem) -> DataError {
    DataError::UnknownFormat { file: input.name.clone(), problem }
}

/// The format of a file by one line of it; `None` if it may be a table. `has_colons` says whether
/// the sample of the file has a colon, as every LETOR file with features does.
fn by_line(input: &Input, line: &str, has_colons: bool) -> Option<Result<Format, DataError>> {
    if line.starts_with('{') {
        return Some(Ok(Format::Jsonl));
    }
    if line.starts_with('[') {
        return Some(Err(unknown(input, FormatProblem::JsonArray)));
    }
    if is_number(line) && !has_colons {
        return Some(Err(unknown(input, FormatProblem::Scores)));
    }
    if is_letor(line) {
        return Some(Ok(Format::Letor));
    }
    Some(Err(unknown(input, run_or_qrels(line)?)))
}

/// Whether a line is a label followed by `qid:` or a feature, or only a label. The rest of the line
/// may be wrong: the LETOR reader then reports the error.
fn is_letor(line: &str) -> bool {
    let data = line.split('#').next().unwrap_or_default();
    let mut words = data.split_ascii_whitespace();
    let has_label = words.next().is_some_and(is_number);
    let is_feature = |word: &str| {
        word.split_once(':').is_some_and(|(id, _)| {
            id == "qid" || (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    match words.next() {
        Some(word) => {
            is_feature(word) && (has_label || words.all(is_feature) || word.starts_with("qid:"))
        }
        None => has_label,
    }
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// The problem if a line is from a TREC run (`query Q0 document rank score tag`) or from judgements
/// (`query 0 document relevance`). The header of a table whose features are called 0, 1, 2 is
/// neither.
fn run_or_qrels(line: &str) -> Option<FormatProblem> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_header = words.iter().any(|word| Role::guess(word) == Some(Role::Query));
    // The second column has no meaning; most files have one of these words there.
    let is_unused = |word: &str| ["q0", "iter"].contains(&word.to_ascii_lowercase().as_str());
    match words[..] {
        [query, document, "score"]
            if query.starts_with("query") && document.starts_with("corpus") =>
        {
            Some(FormatProblem::Qrels)
        }
        _ if is_header => None,
        [_, unused, _, _, score, ..] if is_unused(unused) && is_number(score) => {
            Some(FormatProblem::Run)
        }
        [_, unused, _, rank, score, _] if [unused, rank, score].into_iter().all(is_number) => {
            Some(FormatProblem::Run)
        }
        [_, unused, _, relevance]
            if (is_unused(unused) || is_number(unused)) && is_number(relevance) =>
        {
            Some(FormatProblem::Qrels)
        }
        _ => None,
    }
}

/// The format of a table by its header line (CSV if semicolons separate its columns), and by the
/// file's extension if the line has both commas and tabs, or neither.
fn by_separator(input: &Input, line: &str) -> Result<Format, DataError> {
    let count = |separator: char| line.matches(separator).count();
    let (commas, tabs) = (count(','), count('\t'));
    let by_extension = Format::from_path(Path::new(&input.name));
    if is_split_by_semicolons(line.as_bytes()) {
        return Ok(Format::Csv);
    }
    match (commas, tabs, by_extension) {
        (1.., 1.., Some(format @ (Format::Csv | Format::Tsv)))
        | (0, 0, Some(format @ (Format::Csv | Format::Tsv))) => Ok(format),
        // The message does not show the line: a file that is no data may hold secrets.
        (0, 0, _) => Err(unknown(input, FormatProblem::UnknownText)),
        (commas, tabs, _) if commas > tabs => Ok(Format::Csv),
        _ => Ok(Format::Tsv),
    }
}

/// Whether the columns of a table are separated by semicolons: its header line has more of them than
/// commas and than tabs, outside of quotes.
///
/// ```
/// assert!(rankwright_data::is_split_by_semicolons(b"id;title;\"a, b\""));
/// assert!(!rankwright_data::is_split_by_semicolons(b"id,title"));
/// ```
pub fn is_split_by_semicolons(line: &[u8]) -> bool {
    let mut counts = [0usize; 3];
    let mut is_quoted = false;
    for byte in line {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => counts[0] += 1,
            b',' if !is_quoted => counts[1] += 1,
            b'\t' if !is_quoted => counts[2] += 1,
            _ => {}
        }
    }
    let [semicolons, commas, tabs] = counts;
    semicolons > commas && semicolons > tabs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(name: &str, bytes: &[u8]) -> Result<Format, String> {
        let input = Input::from_bytes(name, bytes.to_vec()).unwrap();
        detect(&input).map_err(|e| e.to_string())
    }

    #[test]
    fn content_decides_the_format_for_any_name() {
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
            (b"qid;label;a\n", Format::Csv),
            (b"qid;label;\"a\tb\"\n", Format::Csv),
            (b"qid\tlabel\ta,b\tc\n", Format::Tsv),
            (b"qid\tlabel\tweight\t0\t1\t2\n", Format::Tsv),
            (b"qid,label,\"a\tb\"\n", Format::Csv),
        ] {
            assert_eq!(detected("file", bytes), Ok(format), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_extension_breaks_ties() {
        assert_eq!(detected("a.csv", b"qid\tx,label\n"), Ok(Format::Csv));
        assert_eq!(detected("a.tsv.gz", b"qid,label\tx,y\n"), Ok(Format::Tsv));
        assert_eq!(detected("a.csv", b"qid\n"), Ok(Format::Csv));
        for name in ["a", "a.txt"] {
            let error = detected(name, b"hello\n").unwrap_err();
            assert!(error.contains("no known format") && !error.contains("hello"), "{error}");
        }
    }

    #[test]
    fn other_files_are_refused_with_the_name_of_their_format() {
        for (bytes, reason) in [
            (&b"301 Q0 FBIS3-1 1 7.5 tag\n"[..], "this is a TREC run"),
            (b"301 Q0 FBIS3-1 1 7.5 tag and more\n", "this is a TREC run"),
            (b"# comment\n301 0 FBIS3-1 1\n", "this is a file of judgements"),
            (b"# Heading\n\nSome text\n", "has no known format"),
            (b"0.5\n-1e-3\n", "one number per line"),
            (b"query-id\tcorpus-id\tscore\n", "this is a file of judgements (qrels)"),
            (b"[{\"qid\":1}]", "JSON array"),
            (b"PK\x03\x04....", "zip"),
            (b"\xff\xfeq\0i\0d\0", "UTF-16"),
            (b"a\0b", "binary"),
            (b"\x01\x02\x03", "binary"),
        ] {
            let error = detected("file", bytes).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        assert_eq!(detected("e", b"").unwrap_err(), "e holds no rows");
        assert_eq!(detected("e", b" \r\n\n").unwrap_err(), "e holds no rows");
    }
}
