//! Five documents with fields of every kind, small enough to compute features by hand.
#![allow(dead_code, unreachable_pub)] // Not every test uses all of it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rankwright_search::{Analysis, BuildOptions, Document, Index, Schema, Value, build_index};
use tempfile::TempDir;

const SCHEMA: &str = "title:text, text:text, links:links, plays:number, date:date, \
                      genre:category, shelf:category, url:url";

/// The five documents. Positions of terms are those among all words.
///
/// | | title | text | terms of the text at their positions |
/// |---|---|---|---|
/// | d1 | Blue Train | blue train of the blue sea | blue 0, train 1, blue 4, sea 5; 6 words |
/// | d2 | Giant Step | giant train | giant 0, train 1; 2 words |
/// | d3 | Sea | the sea the sea step | sea 1, sea 3, step 4; 5 words |
/// | d4 | - | train of the giant blue | train 0, giant 3, blue 4; 5 words |
/// | d5 | Blue | - | |
///
/// Text: 4 + 2 + 3 + 3 + 0 = 12 terms, mean length 12/5 = 2.4; blue is in 2 documents, 3 times;
/// train in 3 documents, 3 times. All: 6 + 4 + 4 + 3 + 1 = 18 terms; blue in d1 (3), d4, d5;
/// train in d1 (2), d2, d4.
pub fn documents() -> Vec<Document> {
    let text = |text: &str| Value::Text(text.into());
    let texts = |texts: &[&str]| Value::Texts(texts.iter().map(|&text| text.into()).collect());
    vec![
        Document::new("d1")
            .with("title", text("Blue Train"))
            .with("text", text("blue train of the blue sea"))
            .with("links", texts(&["d2", "d3"]))
            .with("plays", Value::Number(100.0))
            .with("date", text("2024-01-01"))
            .with("genre", text("jazz"))
            .with("shelf", text("a"))
            .with("url", text("https://a.org/b/c.html")),
        Document::new("d2")
            .with("title", text("Giant Step"))
            .with("text", text("giant train"))
            .with("links", texts(&["d3"]))
            .with("plays", text("0"))
            .with("date", text("2023-01-01"))
            .with("genre", text("rock"))
            .with("shelf", text("b"))
            .with("url", text("https://a.org/")),
        Document::new("d3")
            .with("title", text("Sea"))
            .with("text", text("the sea the sea step"))
            .with("links", texts(&["d1"]))
            .with("plays", text("n/a"))
            .with("date", text("2022-01-01"))
            .with("genre", text("Blue Train"))
            .with("shelf", text("b"))
            .with("url", text("https://a.org/x/y/z?q=/")),
        Document::new("d4")
            .with("text", text("train of the giant blue"))
            .with("links", texts(&["d3", "gone"]))
            .with("plays", Value::Number(-7.0))
            .with("genre", texts(&["rock", "blue"]))
            .with("shelf", text("a")),
        Document::new("d5")
            .with("title", text("Blue"))
            .with("date", text("2024-01-01T00:00:00Z"))
            .with("url", text("b/c")),
    ]
}

pub struct Bench {
    pub folder: TempDir,
    pub index: Arc<Index>,
}

pub fn build(path: &Path, analysis: &str) -> Arc<Index> {
    let analysis = Analysis::parse(analysis).unwrap();
    let options = BuildOptions::new().analysis(analysis).schema(Schema::parse(SCHEMA).unwrap());
    let documents = documents().into_iter().map(Ok);
    let report = build_index(path, documents, &options, &mut |_| ControlFlow::Continue(()));
    // Only the plays of d3, n/a, are not of their field's kind.
    assert_eq!(report.unwrap().unwrap().not_of_kind, 1);
    Arc::new(Index::open(path).unwrap())
}

pub fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let index = build(&folder.path().join("index"), "english");
    let run = "q1 Q0 d2 1 9.5 other\nq1 Q0 d1 2 4 other\nq2 Q0 d3 1 1 other\n";
    std::fs::write(folder.path().join("other.run"), run).unwrap();
    // A first line of counts, as word2vec writes it; `Trains` analyses to train as well.
    let vectors = "4 2\nblue 1 0\ntrain 0 0.5\nTrains 0 1.5\nsea -1 0\n";
    std::fs::write(folder.path().join("vectors.txt"), vectors).unwrap();
    Bench { folder, index }
}
