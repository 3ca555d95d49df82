//! Unusual documents, queries and paths, each with its defined outcome.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use crate::common::{
    assert_is_clean, build, build_with, document, large, message, names, old_documents, search,
};
use rankwright_data::WarningKind;
use rankwright_search::{
    Analysis, BuildOptions, Document, Documents, Existing, Extractor, FIRST_STAGES, FeatureSet,
    Filter, FirstStage, Index, Query, Schema, SearchBuffers, SearchError, Terms, Value,
    build_index,
};

// ------------------------------------------------------------------------------------- documents

#[test]
fn documents_without_text_are_kept_and_counted_and_never_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let documents = vec![
        document("full", "blue train"),
        document("empty", ""),
        document("stop", "the of and"),
        document("signs", "... !?"),
        Document::new("bare"),
        Document::new("listed").with("text", Value::Texts(Vec::new())),
    ];
    let report = build(&path, documents, Existing::Refuse).unwrap();
    assert_eq!((report.documents, report.without_terms), (6, 5));
    let index = Index::open(&path).unwrap();
    assert_eq!(index.documents(), 6);
    assert_eq!(search(&index, "blue the of"), ["full"]);
    assert_eq!(index.document("bare").unwrap(), Some(Document::new("bare")));
    // A document that no query finds may still be a candidate: judged documents are.
    let bare = index.candidate("bare").unwrap().unwrap();
    let terms = Terms::new("blue", index.analysis());
    assert_eq!(index.snippet(&bare, &terms, 50).unwrap().text, "");
    let extractor = Extractor::new(index, &FeatureSet::parse("default").unwrap()).unwrap();
    let rows = extractor.rows(&Query::new("q", "blue"), &terms, &[bare]).unwrap();
    assert!(rows.values.iter().all(|value| !value.is_infinite()));
}

#[test]
fn a_collection_of_nothing_or_without_text_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let without_text = vec![Document::new("d").with("year", Value::Number(1.0))];
    for (documents, message_part) in
        [(Vec::new(), "there are no documents"), (without_text, "the documents have no text field")]
    {
        let error = build(&path, documents, Existing::Refuse).unwrap_err();
        assert!(message(&error).contains(message_part), "{error}");
    }
    build(&path, old_documents(), Existing::Refuse).unwrap();
    assert_is_clean(&path);
}

#[test]
fn of_documents_with_one_id_the_last_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    // In one batch, and in separate batches.
    let mut documents =
        vec![document("a", "first red"), document("b", "blue"), document("a", "second red")];
    documents.extend((0..5000).map(|number| document(&format!("x{number}"), "filler")));
    documents.push(document("a", "third red"));
    documents.push(document("x7", "seventh"));
    let report = build(&path, documents, Existing::Refuse).unwrap();
    assert_eq!((report.documents, report.duplicates), (5005, 3));
    let index = Index::open(&path).unwrap();
    assert_eq!(index.documents(), 5002);
    assert_eq!(search(&index, "red"), ["a"]);
    assert_eq!(search(&index, "third"), ["a"]);
    assert!(search(&index, "first").is_empty() && search(&index, "second").is_empty());
    assert_eq!(search(&index, "seventh"), ["x7"]);
    drop(index);
    let report =
        build(&path, vec![document("a", "fourth"), document("c", "new")], Existing::Add).unwrap();
    assert_eq!((report.documents, report.duplicates), (2, 0));
    let index = Index::open(&path).unwrap();
    assert_eq!(index.documents(), 5003);
    assert!(search(&index, "red").is_empty());
    assert_eq!(search(&index, "fourth"), ["a"]);
    assert_eq!(index.document("a").unwrap().unwrap().text("text"), Some("fourth"));
}

#[test]
fn bytes_that_are_no_utf8_are_replaced_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("odd.jsonl");
    let mut bytes = b"{\"id\": \"a\", \"text\": \"blue \xff\xfe train caf\xe9 end\"}\n".to_vec();
    bytes.extend_from_slice(b"{\"id\": \"b\", \"text\": \"red\"}\n");
    fs::write(&file, bytes).unwrap();
    let path = folder.path().join("index");
    let mut documents = Documents::open(&file, None).unwrap();
    let mut go = |_| ControlFlow::Continue(());
    build_index(&path, documents.by_ref(), &BuildOptions::default(), &mut go).unwrap().unwrap();
    assert_eq!(documents.warnings().count(WarningKind::InvalidUtf8), 1);
    let index = Index::open(&path).unwrap();
    for word in ["blue", "train", "end"] {
        assert_eq!(search(&index, word), ["a"], "{word}");
    }
    let text = index.document("a").unwrap().unwrap();
    assert!(text.text("text").unwrap().contains("blue \u{fffd}\u{fffd} train"), "{text:?}");
}

#[test]
fn unusual_characters_and_long_words_are_indexed_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let long = "x".repeat(500);
    let odd = format!("nul\0byte \u{1}\u{1f} {long} tail ⑴ ﬀ ß Été 東京");
    build(&path, vec![document("a", &odd), document("b", "tail")], Existing::Refuse).unwrap();
    let index = Index::open(&path).unwrap();
    for word in ["nul", "byte", "東京", "ete", "ff", "⑴"] {
        assert_eq!(search(&index, word), ["a"], "{word}");
    }
    assert_eq!(search(&index, "tail"), ["b", "a"]);
    assert!(search(&index, &long).is_empty(), "words of 128 bytes and more are no words");
    assert_eq!(index.document("a").unwrap().unwrap().text("text"), Some(odd.as_str()));
}

#[test]
fn a_number_in_a_text_field_is_searched_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let title = |id: &str, value| Document::new(id).with("title", value);
    let number = title("a", Value::Number(1984.0));
    build(&path, vec![number, title("b", Value::Text("animal farm".into()))], Existing::Refuse)
        .unwrap();
    assert_eq!(search(&Index::open(&path).unwrap(), "1984"), ["a"]);
}

/// Largest memory of this process so far, where the system reports it.
fn peak_megabytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? / 1024)
}

#[test]
#[ignore = "takes some seconds and a gigabyte"]
#[allow(clippy::print_stderr)]
fn a_document_of_100_mb_is_indexed_and_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.jsonl");
    let mut out = std::io::BufWriter::new(fs::File::create(&file).unwrap());
    write!(out, "{{\"id\": \"large\", \"text\": \"needle ").unwrap();
    let mut bytes = 0;
    let mut number = 0_u64;
    while bytes < 100_000_000 {
        let word = format!("word{} ", number * number % 50_021);
        bytes += word.len();
        number += 1;
        out.write_all(word.as_bytes()).unwrap();
    }
    write!(out, "haystack\"}}\n{{\"id\": \"small\", \"text\": \"needle haystack\"}}\n").unwrap();
    out.into_inner().unwrap();
    let path = folder.path().join("index");
    let start = Instant::now();
    let documents = Documents::open(&file, None).unwrap();
    let mut go = |_| ControlFlow::Continue(());
    build_index(&path, documents, &BuildOptions::default(), &mut go).unwrap().unwrap();
    let built = start.elapsed();
    let index = Index::open(&path).unwrap();
    assert_eq!(search(&index, "needle haystack"), ["small", "large"]);
    let terms = Terms::new("haystack", index.analysis());
    let large = index.candidate("large").unwrap().unwrap();
    let snippet = index.snippet(&large, &terms, 60).unwrap();
    assert!(snippet.marked("[", "]").contains("[haystack]"), "{snippet:?}");
    let extractor = Extractor::new(index, &FeatureSet::parse("default").unwrap()).unwrap();
    let rows = extractor.rows(&Query::new("q", "needle haystack"), &terms, &[large]).unwrap();
    assert!(rows.values.iter().all(|value| !value.is_infinite()));
    eprintln!(
        "100 MB: built in {built:.1?}, all in {:.1?}, at most {:?} MB",
        start.elapsed(),
        peak_megabytes()
    );
}

// --------------------------------------------------------------------------------------- queries

#[test]
fn an_empty_query_and_one_of_stop_words_find_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(
        &path,
        vec![document("a", "the blue train"), document("b", "of the sea")],
        Existing::Refuse,
    )
    .unwrap();
    let index = Index::open(&path).unwrap();
    for query in ["", "   ", "the of", "...", "\0", "unknown"] {
        for info in FIRST_STAGES {
            let stage = FirstStage::parse(info.name).unwrap();
            let terms = Terms::new(query, index.analysis());
            let found =
                index.retrieve(&terms, &stage, 10, None, &mut SearchBuffers::default()).unwrap();
            assert!(found.is_empty(), "{} on '{query}'", info.name);
            let first = index.candidate("a").unwrap().unwrap();
            let snippet = index.snippet(&first, &terms, 8).unwrap();
            assert_eq!((snippet.text.as_str(), snippet.marks.len()), ("the blue", 0), "'{query}'");
        }
    }
    let long = "blue ".repeat(50_000);
    assert_eq!(search(&index, &long), ["a"], "a very long query");
    let error = Filter::new(&index, "year:>=1990").unwrap_err();
    assert!(message(&error).contains("there is no field `year`"), "{error}");
    assert!(message(&error).contains("the fields are"), "{error}");
}

// ----------------------------------------------------------------------------------------- paths

#[test]
fn a_folder_without_an_index_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let full = folder.path().join("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("letter.txt"), "mine").unwrap();
    for existing in [Existing::Refuse, Existing::Replace, Existing::Add] {
        let error = build(&file, old_documents(), existing).unwrap_err();
        assert!(message(&error).contains("an index is a folder"), "{}", message(&error));
        let error = build(&full, old_documents(), existing).unwrap_err();
        assert!(
            message(&error).contains("has other files in it and no index"),
            "{}",
            message(&error)
        );
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(names(&full), BTreeSet::from(["letter.txt".to_owned()]));
    for (path, expected) in [
        (&file, "file"),
        (&full, "there is no index"),
        (&folder.path().join("none"), "there is no index"),
    ] {
        let error = Index::open(path).unwrap_err();
        assert!(message(&error).contains(expected), "{}", message(&error));
    }
    // An empty folder is accepted, and so is one that does not exist.
    fs::remove_file(full.join("letter.txt")).unwrap();
    build(&full, old_documents(), Existing::Refuse).unwrap();
    build(&folder.path().join("a/b/c"), old_documents(), Existing::Add).unwrap();
}

#[test]
fn an_existing_index_is_kept_unless_requested_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(&path, old_documents(), Existing::Refuse).unwrap();
    let error = build(&path, vec![document("n", "new")], Existing::Refuse).unwrap_err();
    assert!(matches!(error, SearchError::IndexExists { .. }), "{error}");
    let before = Index::open(&path).unwrap();
    build(&path, vec![document("n", "new")], Existing::Replace).unwrap();
    assert_eq!(search(&before, "old"), ["old-2", "old-1"], "an open index stays as it was");
    assert_eq!(search(&Index::open(&path).unwrap(), "new"), ["n"]);
    assert_is_clean(&path);
}

/// Documents that, when they are read, check that the folder is locked.
#[test]
fn only_one_process_writes_an_index_at_a_time() {
    for existing in [Existing::Refuse, Existing::Replace, Existing::Add] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        if existing != Existing::Refuse {
            build(&path, old_documents(), Existing::Refuse).unwrap();
        }
        let inner = path.clone();
        let documents = old_documents().into_iter().map(move |document| {
            let error = build(&inner, old_documents(), existing).unwrap_err();
            assert!(
                error.to_string().contains("another process is writing to the index"),
                "{error}"
            );
            Ok(document)
        });
        let options = BuildOptions::new().existing(existing);
        let mut go = |_| ControlFlow::Continue(());
        build_index(&path, documents, &options, &mut go).unwrap().unwrap();
        assert_eq!(Index::open(&path).unwrap().documents(), 2);
        assert_is_clean(&path);
    }
}

#[test]
fn adding_with_another_analysis_or_schema_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    build(&path, old_documents(), Existing::Refuse).unwrap();
    let add = || BuildOptions::new().existing(Existing::Add);
    for options in [
        add().analysis(Analysis::parse("german").unwrap()),
        add().schema(Schema::parse("text:category").unwrap()),
        add().schema(Schema::parse("year:number").unwrap()),
    ] {
        let error = build_with(&path, vec![document("n", "new")], &options).unwrap_err();
        assert!(
            message(&error).contains("built with analysis english and schema text:text"),
            "{error}"
        );
    }
    let same = add().analysis(Analysis::default()).schema(Schema::parse("text:text").unwrap());
    build_with(&path, vec![document("n", "new")], &same).unwrap();
    assert_eq!(Index::open(&path).unwrap().documents(), 3);
}

#[test]
fn a_source_that_fails_or_a_stop_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    for (existing, present) in [(Existing::Refuse, 0), (Existing::Replace, 2), (Existing::Add, 2)] {
        if present > 0 && !path.join("rankwright.json").exists() {
            build(&path, old_documents(), Existing::Refuse).unwrap();
        }
        let options = BuildOptions::new().existing(existing);
        let failing = (0..4000).map(|number| match number {
            3500 => Err(SearchError::UnknownDocumentFormat { file: "a.txt".into() }),
            number => Ok(large(number)),
        });
        let mut go = |_| ControlFlow::Continue(());
        let error = build_index(&path, failing, &options, &mut go).unwrap_err();
        assert!(matches!(error, SearchError::UnknownDocumentFormat { .. }), "{error}");
        let documents = (0..9000).map(|number| Ok(large(number)));
        let mut stop =
            |done| if done > 2000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        assert_eq!(build_index(&path, documents, &options, &mut stop).unwrap(), None);
        let found = Index::open(&path).map_or(0, |index| index.documents());
        assert_eq!(found, present, "{existing:?}");
        if present > 0 {
            assert_has_one_generation(&path);
        }
    }
}

/// Checks that there is one generation; unfinished segments are removed with the next commit.
fn assert_has_one_generation(path: &Path) {
    let generations = names(path).into_iter().filter(|name| name.starts_with("generation-"));
    assert_eq!(generations.count(), 1);
}
