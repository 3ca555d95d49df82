//! Tests of judgements and runs: every format, warnings, errors, and older forms of judgements.

use super::*;
use crate::warnings::WarningKind;
use proptest::prelude::*;

fn run(text: &str) -> Result<(Run, Warnings), DataError> {
    Run::read(Input::from_bytes("r", text.as_bytes().to_vec())?)
}

fn qrels(text: &str) -> Result<(Qrels, Warnings), DataError> {
    Qrels::read(Input::from_bytes("q", text.as_bytes().to_vec())?)
}

/// Query, document and number of each row.
fn rows(lists: &QueryLists) -> Vec<(String, String, f64)> {
    let row = |q: usize, d: ListedDocument| {
        (lists.query_id(q).to_owned(), String::from_utf8_lossy(d.id).into_owned(), d.value)
    };
    (0..lists.queries()).flat_map(|q| lists.list(q).map(move |d| row(q, d))).collect()
}

#[test]
fn trec_tables_and_json_read_the_same() {
    let expected = rows(qrels("a 0 d1 1\na 0 d2 -1\nb 0 d1 2\n").unwrap().0.lists());
    for text in [
        "# c\na\t0\td1\t1\r\n\na 0 d2 -1\nb 0 d1 2",
        "query-id\tcorpus-id\tscore\na\td1\t1\na\td2\t-1\nb\td1\t2\n",
        "{\"qid\":\"a\",\"docid\":\"d1\",\"rel\":1}\n{\"query_id\":\"a\",\"doc_id\":\"d2\",\"relevance\":-1}\n{\"query-id\":\"b\",\"corpus-id\":\"d1\",\"score\":2}",
    ] {
        assert_eq!(rows(qrels(text).unwrap().0.lists()), expected, "{text}");
    }
}

#[test]
fn scattered_queries_are_joined_and_extra_columns_give_a_warning() {
    let (run, warnings) =
        run("a Q0 x 1 2.5 t\nb Q0 y 1 1 t\na Q0 z#1 2 -1e-3 t junk here\n").unwrap();
    let lists = run.lists();
    assert_eq!(lists.list(0).map(|d| d.id).collect::<Vec<_>>(), [&b"x"[..], b"z#1"]);
    assert_eq!(lists.find("b"), Some(1));
    assert_eq!(warnings.count(WarningKind::ExtraColumns), 1);
    assert_eq!(lists.location(0, 1).to_string(), "r:3");
}

#[test]
fn errors_name_the_line_and_the_likely_mistake() {
    let error = run("a Q0 x 1 2.5 t\na 0 x 1\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "r:2: found 4 columns in 'a 0 x 1', expected 6 columns 'qid Q0 docid rank score tag'"
    );
    assert!(error.remedy() == Some(crate::Remedy::IsQrels));
    assert!(run("a Q0 x 1 nan t\n").unwrap_err().to_string().contains("a finite number"));
    assert!(qrels("# only\n\n").is_err());
}

#[test]
fn tabs_in_the_header_make_tabs_the_only_separator() {
    let (qrels, _) = qrels("query-id\tcorpus-id\tscore\nq 1\tdoc 7\t0\r\n").unwrap();
    assert_eq!(rows(qrels.lists()), [("q 1".to_owned(), "doc 7".to_owned(), 0.0)]);
}

#[test]
fn a_run_is_not_taken_for_judgements() {
    let error = qrels("a Q0 x 1 2.5 t\n").unwrap_err();
    assert!(error.to_string().starts_with("q:1: found 6 columns"), "{error}");
    assert!(error.remedy() == Some(crate::Remedy::IsRun));
    let error = qrels("query-id,corpus-id,score\n").unwrap_err();
    assert!(error.help().unwrap().contains("with tabs"));
}

#[test]
fn three_columns_without_a_header_are_judgements_of_cranfield() {
    let (qrels, _) = self::qrels("1 184 2 \r\n1 29 -1\r\n2 12 1\n").unwrap();
    let expected = [("1", "184", 2.0), ("1", "29", -1.0), ("2", "12", 1.0)];
    assert_eq!(rows(qrels.lists()), expected.map(|(q, d, v)| (q.into(), d.into(), v)));
    // The first line decides: if it lacks a column, the error is at the next line, which has four.
    let error = self::qrels("1 0 184\n1 0 29 2\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "q:2: found 4 columns in '1 0 29 2', expected 3 columns 'qid docid relevance', as in the \
         first line"
    );
    assert!(self::qrels("1 0 doc\n").is_err());
    assert!(run("1 184 2\n").is_err());
}

#[test]
fn lines_that_end_in_two_zeros_are_judgements_of_smart() {
    let (qrels, _) = self::qrels("01 1410  0 0\n01 1572  0 0\n10 46 0 0\n").unwrap();
    let expected = [("1", "1410", 1.0), ("1", "1572", 1.0), ("10", "46", 1.0)];
    assert_eq!(rows(qrels.lists()), expected.map(|(q, d, v)| (q.into(), d.into(), v)));
    // If one line ends differently, the file has TREC columns.
    let (trec, _) = self::qrels("01 ITER 0 0\n01 0 0 0\n01 0 d 1\n").unwrap();
    let trec = rows(trec.lists());
    assert_eq!(trec.last().unwrap(), &("01".to_owned(), "d".to_owned(), 1.0));
    // So has a file with only one document.
    let (one_document, _) = self::qrels("q 0 0 0\np 0 0 0\n").unwrap();
    let lists = one_document.lists();
    assert_eq!(rows(lists).len(), 2);
    assert_eq!(lists.list(0).map(|d| d.value).collect::<Vec<_>>(), [0.0]);
}

#[test]
fn every_format_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let lists = || {
        let rows = [("q1", "a", 0.1 + 0.2), ("q1", "ö", -1e-300), ("q2", "a", 3.0)];
        QueryLists::from_rows("x", rows).unwrap()
    };
    for format in [ListFormat::Trec, ListFormat::Table, ListFormat::Jsonl] {
        let path = folder.path().join("out");
        Run::from_lists(lists()).save(&path, format, "tag").unwrap();
        let (back, warnings) = Run::read(Input::open(&path).unwrap()).unwrap();
        assert_eq!(back, Run::from_lists(lists()), "{format:?}");
        assert!(warnings.is_empty());
        Qrels::from_lists(lists()).save(&path, format).unwrap();
        assert_eq!(Qrels::read(Input::open(&path).unwrap()).unwrap().0, Qrels::from_lists(lists()));
    }
}

#[test]
fn ids_that_do_not_fit_columns_are_refused_when_writing() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::from_lists(QueryLists::from_rows("x", [("q 1", "a", 1.0)]).unwrap());
    let path = folder.path().join("out");
    assert!(run.save(&path, ListFormat::Trec, "t").unwrap_err().to_string().contains("JSON"));
    run.save(&path, ListFormat::Jsonl, "t").unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn many_chunks_read_like_one(count in 1usize..300_000) {
        let text: String = (0..count).map(|i| format!("q{} Q0 doc{i} 1 {} t\n", i / 7, i)).collect();
        let (run, _) = run(&text).unwrap();
        prop_assert_eq!(run.lists().documents(), count);
        let last = (count - 1) / 7;
        let value = run.lists().list(last).last().unwrap().value;
        prop_assert_eq!(value, (count - 1) as f64);
    }

}

proptest! {
    #[test]
    fn any_bytes_give_lists_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let input = |b: &[u8]| Input::from_bytes("x", b.to_vec());
        if let Ok(input) = input(&bytes) { let _ = Run::read(input); }
        if let Ok(input) = input(&bytes) { let _ = Qrels::read(input); }
    }
}
