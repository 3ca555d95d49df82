//! Every first stage against a simple reference implementation: the formulas as the papers write
//! them, over the tokens of the analysis, without an index.
#![allow(clippy::print_stderr)] // Says that real data is not at hand.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rankwright_search::{
    Analysis, BuildOptions, Document, Documents, Existing, FIRST_STAGES, FirstStage, Index,
    QueryOptions, Schema, SearchBuffers, Terms, Value, build_index, read_queries,
};

/// Number of occurrences of each term.
type Counts = BTreeMap<String, f64>;

/// The living documents: the term counts of each text field, by id.
struct Reference {
    analysis: Analysis,
    fields: Vec<String>,
    documents: BTreeMap<String, Vec<Counts>>,
}

/// The input of the formulas: the documents as bags of words, and the collection's numbers.
struct Bags<'a> {
    bags: Vec<(&'a str, Counts)>,
    /// Number of terms of all documents.
    all: f64,
}

fn length(bag: &Counts) -> f64 {
    bag.values().sum()
}

fn tf(bag: &Counts, term: &str) -> f64 {
    bag.get(term).copied().unwrap_or(0.0)
}

impl Bags<'_> {
    fn df(&self, term: &str) -> f64 {
        self.bags.iter().filter(|(_, bag)| bag.contains_key(term)).count() as f64
    }

    /// The term's share of the collection.
    fn share(&self, term: &str) -> f64 {
        self.bags.iter().map(|(_, bag)| tf(bag, term)).sum::<f64>() / self.all
    }

    fn mean_length(&self) -> f64 {
        self.all / self.bags.len() as f64
    }

    fn bm25_idf(&self, df: f64) -> f64 {
        (1.0 + (self.bags.len() as f64 - df + 0.5) / (df + 0.5)).ln()
    }
}

impl Reference {
    fn new(analysis: &Analysis, fields: &[&str]) -> Reference {
        let fields = fields.iter().map(|&field| field.to_owned()).collect();
        Reference { analysis: analysis.clone(), fields, documents: BTreeMap::new() }
    }

    fn count(&self, texts: &[&str]) -> Counts {
        let mut counts = Counts::new();
        for term in texts.iter().flat_map(|text| self.analysis.terms(text)) {
            *counts.entry(term).or_default() += 1.0;
        }
        counts
    }

    /// Adds a document, or replaces the one of its id.
    fn put(&mut self, document: &Document) {
        let counts = self.fields.iter().map(|field| match document.get(field) {
            Some(Value::Text(text)) => self.count(&[text]),
            Some(Value::Texts(texts)) => {
                self.count(&texts.iter().map(String::as_str).collect::<Vec<_>>())
            }
            _ => Counts::new(),
        });
        let counts = counts.collect();
        self.documents.insert(document.id.clone(), counts);
    }

    /// The bags of one field, or of `all`.
    fn bags(&self, field: &str) -> Bags<'_> {
        let wanted = |name: &str| field == "all" || field == name;
        let bags: Vec<(&str, Counts)> = self
            .documents
            .iter()
            .map(|(id, fields)| {
                let mut bag = Counts::new();
                let fields = self.fields.iter().zip(fields).filter(|(name, _)| wanted(name));
                for (term, tf) in fields.flat_map(|(_, counts)| counts) {
                    *bag.entry(term.clone()).or_default() += tf;
                }
                (id.as_str(), bag)
            })
            .collect();
        let all = bags.iter().map(|(_, bag)| length(bag)).sum();
        Bags { bags, all }
    }

    /// The scores of all documents that have a term of the query, by id.
    fn scores(&self, stage: &Stage, query: &str) -> BTreeMap<String, f64> {
        let query = self.count(&[query]);
        if stage.name == "bm25f" {
            return self.bm25f(stage, &query);
        }
        let bags = self.bags(stage.field);
        // Terms that the collection does not have are left out.
        let query: Counts = query.into_iter().filter(|(term, _)| bags.df(term) > 0.0).collect();
        let matches = |bag: &Counts| query.keys().any(|term| bag.contains_key(term));
        let found = bags.bags.iter().filter(|(_, bag)| matches(bag));
        let facts: Vec<TermFacts<'_>> = query
            .iter()
            .map(|(term, &count)| (term.as_str(), count, bags.df(term), bags.share(term)))
            .collect();
        found.map(|(id, bag)| ((*id).to_owned(), stage.score(&bags, &facts, bag))).collect()
    }

    fn bm25f(&self, stage: &Stage, query: &Counts) -> BTreeMap<String, f64> {
        let fields: Vec<(Bags<'_>, f64, f64)> = self
            .fields
            .iter()
            .map(|name| (self.bags(name), (stage.weight)(name), (stage.b)(name)))
            .collect();
        let all = self.bags("all");
        let mut scores = BTreeMap::new();
        for (term, count) in query {
            let frequency = |at: usize| -> f64 {
                let part = |(bags, weight, b): &(Bags<'_>, f64, f64)| {
                    let bag = &bags.bags[at].1;
                    let norm = 1.0 - b + b * length(bag) / bags.mean_length();
                    if bag.contains_key(term) { weight * tf(bag, term) / norm } else { 0.0 }
                };
                fields.iter().map(part).sum()
            };
            let frequencies: Vec<f64> = (0..all.bags.len()).map(frequency).collect();
            let df = frequencies.iter().filter(|&&f| f > 0.0).count() as f64;
            for ((id, _), &f) in all.bags.iter().zip(&frequencies).filter(|(_, f)| **f > 0.0) {
                let part = count * all.bm25_idf(df) * f * (stage.k1 + 1.0) / (f + stage.k1);
                *scores.entry((*id).to_owned()).or_default() += part;
            }
        }
        scores
    }
}

/// A term of the query: the term, its count in the query, its document frequency, its share of the
/// collection.
type TermFacts<'a> = (&'a str, f64, f64, f64);

/// A first stage's spec and its parameters.
struct Stage {
    spec: &'static str,
    name: &'static str,
    field: &'static str,
    k1: f64,
    b: fn(&str) -> f64,
    weight: fn(&str) -> f64,
    /// mu, lambda or delta.
    smoothing: f64,
}

impl Stage {
    fn score(&self, bags: &Bags<'_>, query: &[TermFacts<'_>], bag: &Counts) -> f64 {
        let d = length(bag);
        let sum = |part: &dyn Fn(&TermFacts<'_>) -> f64| query.iter().map(part).sum::<f64>();
        match self.name {
            "bm25" => sum(&|&(term, count, df, _)| {
                let (tf, b) = (tf(bag, term), (self.b)("all"));
                let norm = self.k1 * (1.0 - b + b * d / bags.mean_length());
                if tf == 0.0 {
                    return 0.0;
                }
                count * bags.bm25_idf(df) * tf * (self.k1 + 1.0) / (tf + norm)
            }),
            "cosine" => {
                let n = bags.bags.len() as f64;
                let of_query = |&(_, count, df, _): &TermFacts<'_>| {
                    (1.0 + count.ln()) * ((n + 1.0) / (df + 0.5)).ln()
                };
                let of_bag = |tf: f64| if tf > 0.0 { 1.0 + tf.ln() } else { 0.0 };
                let dot = sum(&|fact| of_query(fact) * of_bag(tf(bag, fact.0)));
                let query_length = sum(&|fact| of_query(fact) * of_query(fact)).sqrt();
                let bag_length = bag.values().map(|&tf| of_bag(tf) * of_bag(tf)).sum::<f64>();
                dot / (query_length * bag_length.sqrt())
            }
            "dirichlet" => {
                let mu = self.smoothing;
                sum(&|&(term, count, _, p)| count * ((tf(bag, term) + mu * p) / (d + mu)).ln())
            }
            "jelinek-mercer" => {
                let l = self.smoothing;
                sum(&|&(term, count, _, p)| count * ((1.0 - l) * tf(bag, term) / d + l * p).ln())
            }
            "absolute-discount" => {
                let (delta, distinct) = (self.smoothing, bag.len() as f64);
                sum(&|&(term, count, _, p)| {
                    let left = (tf(bag, term) - delta).max(0.0);
                    count * ((left + delta * distinct * p) / d).ln()
                })
            }
            other => panic!("no reference for the first stage {other}"),
        }
    }
}

/// Several variants of every first stage, over one field and over all.
fn stages() -> Vec<Stage> {
    let stage = |spec, name, field, b: fn(&str) -> f64, smoothing| {
        let weight: fn(&str) -> f64 = |field| if field == "title" { 2.0 } else { 1.0 };
        Stage { spec, name, field, k1: 1.2, b, weight, smoothing }
    };
    let b: fn(&str) -> f64 = |_| 0.75;
    vec![
        stage("bm25", "bm25", "all", b, 0.0),
        Stage {
            k1: 0.9,
            ..stage("bm25(k1=0.9, b=0.4, field=title)", "bm25", "title", |_| 0.4, 0.0)
        },
        Stage { k1: 0.0, ..stage("bm25(k1=0, b=1)", "bm25", "all", |_| 1.0, 0.0) },
        stage("bm25f", "bm25f", "all", b, 0.0),
        Stage {
            k1: 0.9,
            b: |field| if field == "title" { 0.3 } else { 0.75 },
            weight: |field| match field {
                "title" => 3.0,
                "text" => 0.5,
                "note" => 0.0,
                _ => 1.0,
            },
            ..stage(
                "bm25f(k1=0.9, weights=title:3+text:0.5+note:0, b=title:0.3)",
                "bm25f",
                "all",
                b,
                0.0,
            )
        },
        stage("cosine", "cosine", "all", b, 0.0),
        stage("cosine(field=text)", "cosine", "text", b, 0.0),
        stage("dirichlet", "dirichlet", "all", b, 2000.0),
        stage("dirichlet(mu=10, field=text)", "dirichlet", "text", b, 10.0),
        stage("jelinek-mercer", "jelinek-mercer", "all", b, 0.5),
        stage("jelinek-mercer(lambda=0.3, field=title)", "jelinek-mercer", "title", b, 0.3),
        stage("absolute-discount", "absolute-discount", "all", b, 0.7),
        stage("absolute-discount(delta=0.2, field=text)", "absolute-discount", "text", b, 0.2),
    ]
}

fn index(path: &Path, schema: &str, existing: Existing, documents: Vec<Document>) {
    let schema = Schema::parse(schema).unwrap();
    let options = BuildOptions::new().schema(schema).existing(existing).allow_absent(true);
    let documents = documents.into_iter().map(Ok);
    build_index(path, documents, &options, &mut |_| ControlFlow::Continue(())).unwrap().unwrap();
}

/// The index's ranking must have the reference's documents and scores, in the order of its scores.
fn agree(
    index: &Index,
    reference: &Reference,
    stage: &Stage,
    query: &str,
    buffers: &mut SearchBuffers,
) {
    let expected = reference.scores(stage, query);
    let terms = Terms::new(query, index.analysis());
    let first = FirstStage::parse(stage.spec).unwrap();
    let found = index.retrieve(&terms, &first, usize::MAX, None, buffers).unwrap();
    let what = format!("{} on '{query}'", stage.spec);
    assert_eq!(found.len(), expected.len(), "{what}");
    let ids: Vec<&str> = found.iter().map(|ranked| index.id(ranked).unwrap()).collect();
    for (id, ranked) in ids.iter().zip(&found) {
        let score = *expected.get(*id).unwrap_or_else(|| panic!("{what}: {id} does not match"));
        // Log probabilities are sums of both signs, whose error is that of the summands.
        let is_likelihood = stage.smoothing > 0.0;
        let scale = if is_likelihood { score.abs().max(1.0) } else { score.abs() };
        let difference = (ranked.score - score).abs();
        assert!(difference <= 1e-12 * scale, "{what}: {id} has {}, expected {score}", ranked.score);
    }
    for (pair, ids) in found.windows(2).zip(ids.windows(2)) {
        let (a, b) = (pair[0].score, pair[1].score);
        assert!(a > b || a == b && ids[0] > ids[1], "{what}: {ids:?} at {a} and {b}");
    }
    for n in [0, 1, 3] {
        let best = index.retrieve(&terms, &first, n, None, &mut SearchBuffers::default()).unwrap();
        assert_eq!(best, found[..n.min(found.len())], "{what}: the best {n}");
    }
}

#[test]
fn the_reference_knows_every_first_stage() {
    for info in FIRST_STAGES {
        let specs: Vec<Stage> = stages().into_iter().filter(|s| s.name == info.name).collect();
        assert!(specs.len() >= 2, "{}", info.name);
    }
}

const WORDS: [&str; 12] = [
    "blue", "Blue", "train", "trains", "the", "of", "sea", "giant", "step", "ranking", "naïve",
    "42",
];
const SCHEMA: &str = "title:text, text:text, note:text";

fn text() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..12);
    words.prop_map(|words| words.join(" "))
}

fn value() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        1 => Just(None),
        4 => text().prop_map(|text| Some(Value::Text(text))),
        1 => prop::collection::vec(text(), 0..3).prop_map(|texts| Some(Value::Texts(texts))),
    ]
}

/// Documents with few different ids, so that many are replaced.
fn document() -> impl Strategy<Value = Document> {
    (0..9_u32, value(), value(), value()).prop_map(|(id, title, text, note)| {
        let mut document = Document::new(format!("d{id}"));
        for (name, value) in [("title", title), ("text", text), ("note", note)] {
            if let Some(value) = value {
                document = document.with(name, value);
            }
        }
        document
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn scores_equal_the_reference_in_any_collection(
        builds in prop::collection::vec(prop::collection::vec(document(), 0..10), 1..4),
        queries in prop::collection::vec(text(), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        let mut reference =
            Reference::new(&Analysis::default(), &["title", "text", "note"]);
        for (number, documents) in builds.into_iter().enumerate() {
            documents.iter().for_each(|document| reference.put(document));
            let existing = if number == 0 { Existing::Refuse } else { Existing::Add };
            index(&path, SCHEMA, existing, documents);
        }
        let index = Index::open(&path).unwrap();
        prop_assert_eq!(index.documents(), reference.documents.len());
        // The same buffers for all queries, so that leftovers of a query would be noticed.
        let mut buffers = SearchBuffers::default();
        for query in &queries {
            for stage in stages() {
                agree(&index, &reference, &stage, query, &mut buffers);
            }
        }
    }
}

/// A document is deleted, then its id is there again in another segment; one field alone is `all`.
#[test]
fn replaced_documents_never_count_and_a_single_field_is_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let document = |id: &str, text: &str| Document::new(id).with("text", Value::Text(text.into()));
    let old = [("a", "blue blue train"), ("b", "train"), ("c", "sea")];
    let new = [("a", "sea"), ("c", "blue train"), ("d", "blue")];
    let mut reference = Reference::new(&Analysis::default(), &["text"]);
    for (existing, texts) in [(Existing::Refuse, old), (Existing::Add, new)] {
        let documents = texts.map(|(id, text)| document(id, text)).to_vec();
        documents.iter().for_each(|document| reference.put(document));
        index(&path, "text:text", existing, documents);
    }
    let index = Index::open(&path).unwrap();
    assert_eq!(index.documents(), 4);
    for stage in stages().iter().filter(|s| !s.spec.contains("title")) {
        for query in ["blue", "train sea", "blue blue train", "unknown blue", "unknown", ""] {
            agree(&index, &reference, stage, query, &mut SearchBuffers::default());
        }
    }
    let missing = FirstStage::parse("bm25(field=title)").unwrap();
    let terms = Terms::new("blue", index.analysis());
    let error =
        index.retrieve(&terms, &missing, 9, None, &mut SearchBuffers::default()).unwrap_err();
    assert_eq!(error.to_string(), "the index has no text field `title`; its fields are text:text");
}

#[test]
fn scores_equal_the_reference_on_cranfield() {
    let Some(data) = std::env::var_os("RANKWRIGHT_DATA").map(PathBuf::from) else {
        eprintln!("RANKWRIGHT_DATA is not set: the reference is not compared on Cranfield");
        return;
    };
    let cranfield = data.join("cranfield");
    let documents = Documents::open(cranfield.join("cran.all.1400"), None).unwrap();
    let documents: Vec<Document> = documents.map(Result::unwrap).collect();
    let mut reference = Reference::new(&Analysis::default(), &["title", "text"]);
    documents.iter().for_each(|document| reference.put(document));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    // The authors' names and the places of publication are not searched.
    let schema = "title:text, text:text, author:stored, source:stored";
    let (first, rest) = documents.split_at(900);
    index(&path, schema, Existing::Refuse, first.to_vec());
    index(&path, "", Existing::Add, rest.to_vec());
    let index = Index::open(&path).unwrap();
    assert_eq!(index.documents(), 1400);
    let queries = read_queries(cranfield.join("cran.qry"), QueryOptions::default()).unwrap();
    let mut buffers = SearchBuffers::default();
    for query in queries.iter().step_by(40) {
        for stage in stages().iter().filter(|stage| !stage.spec.contains("note")) {
            agree(&index, &reference, stage, &query.text, &mut buffers);
        }
    }
}
