//! The best n documents, found without scoring all, are those of the full scan: the same documents
//! in the same order with the same bits, in any index.

use proptest::prelude::*;
use rankwright_search::{
    BuildOptions, Document, Filter, FirstStage, Index, Schema, SearchBuffers, Terms,
};

/// First stages that skip documents, with several parameters, and one that does not.
const STAGES: [&str; 12] = [
    "bm25",
    "bm25(k1=0.9, b=0.4)",
    "bm25(k1=0, b=1)",
    "bm25(b=0, field=title)",
    "cosine",
    "cosine(field=text)",
    "dirichlet",
    "dirichlet(mu=10, field=text)",
    "jelinek-mercer",
    "absolute-discount",
    "absolute-discount(delta=0.2, field=title)",
    "bm25f",
];

const SCHEMA: &str = "title:text, text:text, group:category";

/// A word by its rank: the first ones are far more common than the last ones.
fn word(draw: u32) -> String {
    let rank = (draw as f64 / 10_000.0).powi(3) * 60.0;
    format!("word{}", rank as u32)
}

fn text(most: usize) -> impl Strategy<Value = String> {
    let words = prop::collection::vec(0..10_000_u32, 0..most);
    words.prop_map(|draws| draws.into_iter().map(word).collect::<Vec<_>>().join(" "))
}

fn document() -> impl Strategy<Value = Document> {
    (0..900_u32, text(4), text(25), 0..3_u32).prop_map(|(id, title, text, group)| {
        let document = Document::new(format!("d{id}"));
        document.with("title", title).with("text", text).with("group", format!("g{group}"))
    })
}

fn options() -> BuildOptions {
    BuildOptions::new().schema(Schema::parse(SCHEMA).unwrap()).allow_absent(true)
}

/// Documents with the bits of their scores.
fn found(
    index: &Index,
    stage: &str,
    query: &str,
    n: usize,
    filter: Option<&Filter>,
    buffers: &mut SearchBuffers,
) -> Vec<(String, u64)> {
    let terms = Terms::new(query, index.analysis());
    let stage = FirstStage::parse(stage).unwrap();
    let best = index.retrieve(&terms, &stage, n, filter, buffers).unwrap();
    let with_bits =
        |candidate| (index.id(candidate).unwrap().to_owned(), candidate.score.to_bits());
    best.iter().map(with_bits).collect()
}

/// Compares the best n with the beginning of the whole list, for each stage and some n.
fn agree(index: &Index, query: &str, filter: Option<&Filter>, buffers: &mut SearchBuffers) {
    for stage in STAGES {
        // The first time statistics are not cached yet, the second time they are.
        for _ in 0..2 {
            for n in [1, 2, 5, 10, 40] {
                let best = found(index, stage, query, n, filter, buffers);
                let all = found(index, stage, query, usize::MAX, filter, buffers);
                assert_eq!(best, all[..n.min(all.len())], "{stage}, '{query}', the best {n}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_best_are_those_of_the_full_scan(
        builds in prop::collection::vec(prop::collection::vec(document(), 0..220), 1..4),
        deleted in prop::collection::vec(0..900_u32, 0..60),
        queries in prop::collection::vec(text(6), 1..4),
    ) {
        let mut builds = builds.into_iter();
        let first = builds.next().unwrap().into_iter().map(Ok);
        let (mut index, _) = Index::in_memory_with(first, &options()).unwrap();
        // Each addition is a segment of its own; replaced documents are deleted in older ones.
        for documents in builds {
            index.add(documents.into_iter().map(Ok)).unwrap();
        }
        index.delete(deleted.into_iter().map(|id| format!("d{id}"))).unwrap();
        let filter = Filter::new(&index, "group:g1").unwrap();
        let nothing = Filter::new(&index, "group:other").unwrap();
        let mut buffers = SearchBuffers::default();
        for query in &queries {
            for filter in [None, Some(&filter), Some(&nothing)] {
                agree(&index, query, filter, &mut buffers);
            }
        }
    }
}

/// Lists of many blocks, equal scores, and terms of very different frequency.
#[test]
fn long_lists_and_ties_give_the_same_documents() {
    let documents = (0..6_000_u32).map(|number| {
        let mut text = String::from("common ");
        text.push_str(if number % 2 == 0 { "even " } else { "odd odd " });
        if number % 97 == 0 {
            text.push_str("rare rare common ");
        }
        if number % 1_500 == 7 {
            text.push_str("precious ");
        }
        text.push_str(&"filler ".repeat((number % 7) as usize));
        let title = if number % 31 == 0 { "common title" } else { "a title" };
        let group = format!("g{}", number % 3);
        let document = Document::new(format!("d{number:05}"));
        Ok(document.with("title", title).with("text", text).with("group", group))
    });
    let documents: Vec<_> = documents.collect();
    let (index, _) = Index::in_memory_with(documents, &options()).unwrap();
    let filter = Filter::new(&index, "group:g2").unwrap();
    let mut buffers = SearchBuffers::default();
    for query in [
        "common",
        "rare",
        "rare common",
        "common even odd filler",
        "precious common title",
        "unknown rare",
        "rare rare even",
        "filler filler title precious rare odd",
    ] {
        for filter in [None, Some(&filter)] {
            agree(&index, query, filter, &mut buffers);
        }
    }
}
