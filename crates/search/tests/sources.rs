//! Collections and queries from files and folders, and real ones where they are available.
#![allow(clippy::print_stderr)] // Says that real data is not at hand.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rankwright_data::Qrels;
use rankwright_data::WarningKind;
use rankwright_data::bytes::Input;
use rankwright_search::{Document, DocumentFormat, Documents, QueryOptions, Value, read_queries};

/// The folder of real data; prints a line where there is none.
fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("RANKWRIGHT_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("RANKWRIGHT_DATA is not set: real collections are not read");
    }
    folder
}

fn all(path: &Path) -> Vec<Document> {
    Documents::open(path, None).unwrap().map(|document| document.unwrap()).collect()
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::Texts(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn several_inputs_of_several_formats_are_one_collection() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = "{\"id\":1,\"text\":\"a\"}\n".repeat(100);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    fs::write(at("packed"), gz.finish().unwrap()).unwrap();
    fs::write(at("blank"), " \n").unwrap();
    fs::write(at("smart"), ".I 7\n.W\n\n").unwrap();
    let paths = [at("packed"), at("blank"), at("smart")];
    let mut documents = Documents::open_all(&paths, None).unwrap();
    let total: u64 = paths.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert_eq!(documents.bytes_total(), Some(total));
    let mut before = 0;
    let mut count = 0;
    while let Some(document) = documents.next() {
        document.unwrap();
        count += 1;
        assert!(documents.bytes_read() >= before && documents.bytes_read() <= total);
        before = documents.bytes_read();
    }
    assert_eq!((count, documents.bytes_read()), (101, total));
    assert_eq!(documents.warnings().count(WarningKind::EmptyInputs), 1);
    assert_eq!(documents.warnings().count(WarningKind::WithoutText), 1);
    let lines: Vec<String> = documents.warnings().iter().map(ToString::to_string).collect();
    assert!(lines[1].ends_with("smart, document 7)"), "{lines:?}");
}

#[test]
fn a_missing_path_is_an_error_on_opening_and_an_error_ends_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "{\"id\":1}\n{\n{\"id\":2}\n").unwrap();
    let gone = folder.path().join("gone");
    assert!(Documents::open_all(&[path.clone(), gone], None).is_err());
    let mut documents = Documents::open(&path, Some(DocumentFormat::Jsonl)).unwrap();
    assert!(documents.next().unwrap().is_ok());
    let error = documents.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("a.jsonl:2:1: found text that is not JSON"), "{error}");
    assert!(documents.next().is_none());
    assert!(Documents::open(&path, Some(DocumentFormat::Folder)).is_err());
}

#[test]
fn a_folder_is_read_in_the_order_of_its_paths() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    put("z.txt", b"Zebra\n\nstripes \xff");
    let page = b"<title>A</title><p>x<img src=x.png><a href='../index.html#y'>i</a><a href=/no><a href=#z>";
    put("sub/a page.HTM", page);
    put("index.html", b"<title>I</title><a href='sub/a%20page.HTM'>a</a><a href='z.txt'>z</a>");
    put("readme.md", b"# Read me\nnow");
    put("empty.txt", b"");
    put("image.png", b"\x89PNG");
    let mut documents = Documents::open(folder.path(), None).unwrap();
    let found: Vec<Document> = documents.by_ref().map(|document| document.unwrap()).collect();
    let ids: Vec<&str> = found.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(ids, ["empty.txt", "index.html", "readme.md", "sub/a%20page.HTM", "z.txt"]);
    assert_eq!(texts(found[1].get("links")), ["sub/a%20page.HTM", "z.txt"]);
    assert_eq!(texts(found[3].get("links")), ["index.html", "/no"]);
    let counts = |at: usize| ["images", "out_links"].map(|name| found[at].get(name).cloned());
    assert_eq!(counts(3), [Some(Value::Number(1.0)), Some(Value::Number(2.0))]);
    assert_eq!(counts(4), [None, None], "a text file has no such counts");
    assert_eq!(found[3].text("title"), Some("A"));
    assert_eq!(found[3].text("url"), Some("sub/a%20page.HTM"));
    assert_eq!(found[2].text("title"), Some("Read me"));
    assert_eq!(found[4].text("text"), Some("Zebra\n\nstripes \u{fffd}"));
    assert_eq!(documents.warnings().count(WarningKind::WithoutText), 1);
    assert_eq!(documents.warnings().count(WarningKind::InvalidUtf8), 1);
    assert_eq!(Some(documents.bytes_read()), documents.bytes_total());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_bytes_in_a_folder_give_documents(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b.md", "c.html"] {
            fs::write(folder.path().join(name), &bytes).unwrap();
        }
        for document in Documents::open(folder.path(), None).unwrap() {
            // Bytes that begin like gzip or zstd may fail to unpack; nothing else may fail.
            let packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5]);
            prop_assert!(document.is_ok() || packed);
        }
    }
}

#[test]
fn the_real_collections_have_all_their_documents() {
    let Some(data) = data() else { return };
    for (file, count) in [
        ("cranfield/cran.all.1400", 1400),
        ("nfcorpus/corpus.jsonl", 3633),
        ("cacm/cacm.all", 3204),
    ] {
        let mut documents = Documents::open(data.join(file), None).unwrap();
        let ids: HashSet<String> =
            documents.by_ref().map(|document| document.unwrap().id).collect();
        assert_eq!(ids.len(), count, "{file}");
        assert_eq!(Some(documents.bytes_read()), documents.bytes_total());
    }
    let cran = all(&data.join("cranfield/cran.all.1400"));
    assert!(cran[0].text("text").unwrap().starts_with("experimental investigation of the aero"));
    assert_eq!(cran[0].text("author"), Some("brenckman,m."));
}

#[test]
fn each_citation_of_cacm_is_one_link_to_the_older_document() {
    let Some(data) = data() else { return };
    let cacm = all(&data.join("cacm/cacm.all"));
    let links: usize = cacm.iter().map(|document| texts(document.get("links")).len()).sum();
    // 5,440 lines of kind 5 name another document, each citation in both of its documents.
    assert_eq!(links, 2720);
    let cites = |id: usize| texts(cacm[id - 1].get("links"));
    assert!(cites(1).is_empty());
    assert!(cites(100).contains(&"1"));
    // Number 3184 is the revised report on Algol 60 of January 1963: what came later cites it.
    assert!(cites(2500).contains(&"2228") && cites(949).contains(&"3184"));
}

#[test]
fn the_real_queries_meet_their_judgements() {
    let Some(data) = data() else { return };
    let by_position = QueryOptions::new().number_by_position(true);
    for (file, options, count, judgements, judged) in [
        ("cranfield/cran.qry", by_position, 225, "cranfield/cranqrel", 225),
        ("nfcorpus/queries.jsonl", QueryOptions::default(), 3237, "nfcorpus/qrels/test.tsv", 323),
        ("cacm/query.text", QueryOptions::default(), 64, "cacm/trec_qrels", 52),
        ("cacm/query.text", QueryOptions::default(), 64, "cacm/qrels.text", 52),
    ] {
        let queries = read_queries(data.join(file), options).unwrap();
        assert_eq!(queries.len(), count, "{file}");
        assert!(queries.iter().all(|query| !query.text.is_empty()));
        let input = Input::open(data.join(judgements)).unwrap();
        let (qrels, _) = Qrels::read(input).unwrap();
        assert_eq!(qrels.lists().queries(), judged, "{judgements}");
        let met = queries.iter().filter(|query| qrels.lists().find(&query.id).is_some()).count();
        assert_eq!(met, judged, "{judgements}");
    }
}
