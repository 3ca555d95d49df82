//! Helpers of the tests of indexes: small documents, builds, and searches.
#![allow(dead_code, unreachable_pub)] // Not every test uses all of it.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use rankwright_search::{
    BuildOptions, BuildReport, Document, Existing, FirstStage, Index, SearchBuffers, SearchError,
    Terms, Value, build_index,
};

pub fn document(id: &str, text: &str) -> Document {
    Document::new(id).with("text", Value::Text(text.into()))
}

pub fn build_with(
    path: &Path,
    documents: Vec<Document>,
    options: &BuildOptions,
) -> Result<BuildReport, SearchError> {
    let documents = documents.into_iter().map(Ok);
    let report = build_index(path, documents, options, &mut |_| ControlFlow::Continue(()));
    report.map(Option::unwrap)
}

pub fn build(
    path: &Path,
    documents: Vec<Document>,
    existing: Existing,
) -> Result<BuildReport, SearchError> {
    build_with(path, documents, &BuildOptions::new().existing(existing))
}

/// The ids of the documents that match, best first.
pub fn search(index: &Index, query: &str) -> Vec<String> {
    let terms = Terms::new(query, index.analysis());
    let stage = FirstStage::default();
    let found = index.retrieve(&terms, &stage, 100, None, &mut SearchBuffers::default()).unwrap();
    found.iter().map(|ranked| index.id(ranked).unwrap().to_owned()).collect()
}

pub fn message(error: &SearchError) -> String {
    format!("{error}; {}", error.help().unwrap_or_default())
}

pub fn old_documents() -> Vec<Document> {
    vec![document("old-1", "a small old record"), document("old-2", "another old one")]
}

/// Names in a folder, including hidden ones.
pub fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Files of a generation besides those of segments.
const OTHER_FILES: [&str; 5] =
    ["meta.json", ".managed.json", "readers.lock", ".tantivy-meta.lock", ".tantivy-writer.lock"];

/// Checks that an index's folder holds nothing but what is in use: one generation, and perhaps the
/// one before it, for readers that have it open. Every segment of the newest one is in tantivy's
/// list, and other files are known by name.
pub fn assert_is_clean(path: &Path) {
    let names = names(path);
    let mut generations: Vec<&String> =
        names.iter().filter(|name| name.starts_with("generation-")).collect();
    // Numbers have no leading zeros: `generation-10` comes after `generation-9`.
    generations.sort_by_key(|name| (name.len(), name.as_str()));
    assert!((1..=2).contains(&generations.len()), "{names:?}");
    assert_eq!(names.len(), 2 + generations.len(), "rankwright.json and the lock: {names:?}");
    let folder = path.join(generations[generations.len() - 1]);
    let list = fs::read_to_string(folder.join("meta.json")).unwrap().replace('-', "");
    for name in self::names(&folder) {
        let stem = name.split('.').next().unwrap_or_default();
        let is_segment = stem.len() == 32 && list.contains(stem);
        assert!(is_segment || OTHER_FILES.contains(&name.as_str()), "{name} is left over");
    }
}

/// A document of a large collection, for builds that take a while.
pub fn large(number: usize) -> Document {
    let word = |at: usize| format!("word{} ", (number * 31 + at * at * 7) % 9973);
    document(
        &format!("large-{number}"),
        &format!("large {}", (0..60).map(word).collect::<String>()),
    )
}
