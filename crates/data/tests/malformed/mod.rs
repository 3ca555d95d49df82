//! Bad input, file by file, with the exact error messages.
//!
//! Each case has the message and, after ` -> `, the remedy. A message names the location, what was
//! found and what was expected, and no two cases have the same message. After the table come files
//! that are damaged at random: they never crash a reader, and a cache never hides a changed bit.

mod cache;
#[cfg(feature = "columnar")]
mod columnar;
mod detection;
mod jsonl;
mod letor;
mod lists;
mod tables;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rankwright_data::bytes::Input;
use rankwright_data::format::{self, Format, ReadOptions, Roles};
use rankwright_data::{DataError, Dataset};

/// The way in which a case is read.
enum Reader {
    /// As feature data, under this file name.
    Text(&'static str),
    /// As feature data of this format.
    As(Format),
    /// As feature data with these column roles.
    Columns(&'static str),
    /// As feature data, with a matrix of at most this many bytes.
    Limit(u64),
    /// As feature data after a first file with this content.
    Second(&'static str),
    /// As a cache after a first cache.
    SecondCache,
    Qrels,
    Run,
    Pairs,
}

struct Case {
    name: &'static str,
    reader: Reader,
    bytes: Vec<u8>,
    message: &'static str,
}

fn case(
    name: &'static str,
    reader: Reader,
    bytes: impl AsRef<[u8]>,
    message: &'static str,
) -> Case {
    Case { name, reader, bytes: bytes.as_ref().to_vec(), message }
}

fn input(name: &str, bytes: &[u8]) -> Input {
    Input::from_bytes(name, bytes.to_vec()).unwrap()
}

fn read_as(inputs: Vec<Input>, options: ReadOptions) -> Result<(), DataError> {
    format::read_inputs(inputs, &options).map(|_| ())
}

impl Case {
    fn read(&self) -> Result<(), DataError> {
        let plain = ReadOptions::default();
        let bytes = &self.bytes;
        use Reader::*;
        match self.reader {
            Text(name) => read_as(vec![input(name, bytes)], plain),
            As(format) => {
                let options = plain.format(format);
                read_as(vec![input("forced", bytes)], options)
            }
            Columns(roles) => {
                let options = plain.roles(Roles::parse(roles).unwrap());
                read_as(vec![input("roles.csv", bytes)], options)
            }
            Limit(max_matrix_bytes) => {
                let options = plain.max_matrix_bytes(max_matrix_bytes);
                read_as(vec![input("large", bytes)], options)
            }
            Second(first) => {
                read_as(vec![input("first", first.as_bytes()), input("second", bytes)], plain)
            }
            SecondCache => read_as(vec![input("a.rwd", bytes), input("b.rwd", bytes)], plain),
            Qrels => rankwright_data::Qrels::read(input("bad.qrels", bytes)).map(|_| ()),
            Run => rankwright_data::Run::read(input("bad.run", bytes)).map(|_| ()),
            Pairs => sample(3).with_pairs(&input("bad.pairs", bytes)).map(|_| ()),
        }
    }

    /// The message that a user sees.
    fn message_shown(&self) -> String {
        match self.read() {
            Ok(()) => "nothing".into(),
            Err(error) => match error.help() {
                Some(help) => format!("{error} -> {help}"),
                None => error.to_string(),
            },
        }
    }
}

/// A small data set with one query `q`.
fn sample(rows: usize) -> Dataset {
    let values: Vec<f32> = (0..rows * 3).map(|v| v as f32 * 0.75).collect();
    Dataset::builder()
        .dense(values, 3)
        .feature_names(["a", "b", "c"])
        .labels((0..rows).map(|row| row % 5))
        .query_ids(vec!["q"; rows])
        .doc_ids((0..rows).map(|row| format!("d{row}")))
        .build()
        .unwrap()
}

fn file_of(data: &Dataset, format: Format) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    format::write(data, &path, format).unwrap();
    std::fs::read(path).unwrap()
}

fn all() -> Vec<Case> {
    let groups = [
        letor::letor(),
        tables::csv(),
        tables::tsv(),
        jsonl::jsonl(),
        detection::detection(),
        cache::cache(),
        lists::qrels(),
        lists::run(),
        lists::pairs(),
    ];
    #[allow(unused_mut)]
    let mut cases: Vec<Case> = groups.into_iter().flatten().collect();
    #[cfg(feature = "columnar")]
    cases.extend(columnar::columnar());
    cases
}

#[test]
fn every_bad_input_gets_its_message_word_for_word() {
    let mut wrong = Vec::new();
    for case in all() {
        let found =
            catch_unwind(AssertUnwindSafe(|| case.message_shown())).unwrap_or("a panic".into());
        if found != case.message {
            wrong.push(format!("{}\n  found:    {found}\n  expected: {}", case.name, case.message));
        }
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn there_are_many_cases_and_no_two_say_the_same() {
    let cases = all();
    assert!(cases.len() >= 130, "{}", cases.len());
    let mut by_message: HashMap<&str, &str> = HashMap::new();
    for case in &cases {
        if let Some(other) = by_message.insert(case.message, case.name) {
            panic!("'{}' and '{other}' say the same: {}", case.name, case.message);
        }
    }
}

/// Reads damaged bytes; an error or a data set are both fine, a panic is not.
fn read_without_panic(bytes: Vec<u8>, what: &str) -> Result<Dataset, DataError> {
    let options = ReadOptions::new().max_matrix_bytes(1 << 24);
    let read = || match Input::from_bytes("damaged", bytes) {
        Ok(input) => format::read_inputs(vec![input], &options).map(|loaded| loaded.data),
        Err(error) => Err(error),
    };
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| panic!("{what}: the reader panicked"))
}

/// Flips a bit of each byte in turn, and cuts the file at every 64th byte and inside its ends.
fn mutants(good: &[u8]) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
    let flips = (0..good.len()).map(move |at| {
        let mut bytes = good.to_vec();
        // A different bit from byte to byte, the same in every run.
        bytes[at] ^= 1 << ((at * 5 + at / 8) % 8);
        (format!("flip at {at}"), bytes)
    });
    let near_ends = |at: &usize| at.is_multiple_of(64) || *at < 64 || *at + 64 > good.len();
    let cuts = (0..good.len()).filter(near_ends);
    flips.chain(cuts.map(move |at| (format!("cut at {at}"), good[..at].to_vec())))
}

#[test]
fn a_changed_cache_is_always_refused() {
    let data = sample(40);
    let good = file_of(&data, Format::Cache);
    assert_eq!(read_without_panic(good.clone(), "unchanged").unwrap(), data);
    for (what, bytes) in mutants(&good) {
        assert!(read_without_panic(bytes, &what).is_err(), "{what} went unnoticed");
    }
}

#[test]
fn damaged_text_never_panics() {
    let numbered = {
        let csv = "qid,docid,label,1,2\nq,d0,1,0.5,\nq,d1,0,NULL,1e-3\n";
        let loaded =
            format::read_inputs(vec![input("a.csv", csv.as_bytes())], &ReadOptions::default());
        loaded.unwrap().data
    };
    for format in [Format::Letor, Format::Csv, Format::Tsv, Format::Jsonl] {
        for (what, bytes) in mutants(&file_of(&numbered, format)) {
            let _ = read_without_panic(bytes, &format!("{format:?}, {what}"));
        }
    }
}

#[cfg(feature = "columnar")]
#[test]
fn damaged_parquet_and_arrow_never_panic() {
    for format in [Format::Parquet, Format::Arrow] {
        let good = file_of(&sample(40), format);
        for (what, bytes) in mutants(&good) {
            let _ = read_without_panic(bytes, &format!("{format:?}, {what}"));
        }
    }
}
