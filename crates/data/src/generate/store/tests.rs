//! Tests of the store: bytes, counts, links, grades, and that features besides the text improve the
//! ranking.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::*;

fn store(records: usize, queries: usize, seed: u64) -> Store {
    StoreOptions::default().records(records).queries(queries).seed(seed).generate().unwrap()
}

/// The three files of a store.
fn written(store: &Store) -> [Vec<u8>; 3] {
    let folder = tempfile::tempdir().unwrap();
    store.write(folder.path()).unwrap();
    ["documents.jsonl", "queries.jsonl", "qrels.txt"]
        .map(|name| std::fs::read(folder.path().join(name)).unwrap())
}

/// The grades of a query by record id.
fn grades(store: &Store, query: usize) -> HashMap<String, f64> {
    let list = store.qrels.lists().list(query);
    list.map(|d| (String::from_utf8(d.id.to_vec()).unwrap(), d.value)).collect()
}

/// Lower-case words of title, artist and text.
fn words(record: &StoreRecord) -> Vec<String> {
    let all = format!("{} {} {}", record.title, record.artist, record.text).to_lowercase();
    all.split([' ', '/']).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

#[test]
fn overlap_makes_words_of_other_genres_common() {
    // The share of words that records of one genre alone have, among all words.
    let exclusive = |genre_overlap| {
        let options =
            StoreOptions::default().records(400).queries(1).seed(3).genre_overlap(genre_overlap);
        let store = options.generate().unwrap();
        let mut genres: HashMap<String, HashSet<&str>> = HashMap::new();
        for record in &store.documents {
            words(record).into_iter().for_each(|word| {
                genres.entry(word).or_default().insert(record.genre);
            });
        }
        genres.values().filter(|genres| genres.len() == 1).count() as f64 / genres.len() as f64
    };
    let (separate, mixed) = (exclusive(0.0), exclusive(0.6));
    assert!(mixed < 0.7 * separate, "{mixed} {separate}");
}

#[test]
fn the_bytes_never_change_between_versions() {
    let found = written(&store(200, 10, 42)).map(|bytes| xxh3_64(&bytes));
    // Recorded once; they must never change.
    let recorded = [0x09b7_fb51_cfe1_37e0, 0x4a27_2550_3c4b_1227, 0x423e_b983_80f4_cca5];
    assert_eq!(found, recorded);
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let in_pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| store(300, 20, 5))
    };
    let one = in_pool(1);
    assert_eq!(one, in_pool(3));
    assert_ne!(one.documents, store(300, 20, 6).documents);
}

#[test]
fn files_read_back_as_what_was_generated() {
    let store = store(150, 8, 3);
    let [documents, queries, qrels] = written(&store);
    let rows = |bytes: &[u8]| -> Vec<serde_json::Value> {
        let text = std::str::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (documents, queries) = (rows(&documents), rows(&queries));
    assert_eq!((documents.len(), queries.len()), (150, 8));
    for (row, record) in documents.iter().zip(&store.documents) {
        assert_eq!(row.as_object().unwrap().len(), 9);
        assert_eq!(row["id"], record.id);
        assert_eq!(row["text"], record.text);
        assert_eq!(row["year"], record.year);
        assert_eq!(row["popularity"], record.popularity);
        assert_eq!(row["links"].as_array().unwrap().len(), record.links.len());
    }
    assert_eq!(queries[7]["language"], store.queries[7].language);
    let input = crate::bytes::Input::from_bytes("qrels", qrels).unwrap();
    assert_eq!(Qrels::read(input).unwrap().0, store.qrels);
}

#[test]
fn the_popularity_of_artists_is_added_on_request_and_changes_nothing_else() {
    let plain = store(300, 20, 5);
    let options = StoreOptions::default().records(300).queries(20).seed(5).artist_popularity(true);
    let with = options.generate().unwrap();
    let mut of_artist: HashMap<&str, u64> = HashMap::new();
    for (record, plain) in with.documents.iter().zip(&plain.documents) {
        let popularity = record.artist_popularity.unwrap();
        assert!((99..=2236).contains(&popularity), "{popularity}");
        assert_eq!(*of_artist.entry(&record.artist).or_insert(popularity), popularity);
        assert_eq!(*plain, StoreRecord { artist_popularity: None, ..record.clone() });
    }
    assert_eq!((&with.queries, &with.qrels), (&plain.queries, &plain.qrels));
    let [documents, ..] = written(&with);
    let first = std::str::from_utf8(&documents).unwrap().lines().next().unwrap();
    let first: serde_json::Value = serde_json::from_str(first).unwrap();
    assert_eq!(first["artist_popularity"], with.documents[0].artist_popularity.unwrap());
}

#[test]
fn records_have_the_documented_properties() {
    let store = store(4000, 1, 7);
    let ids: HashSet<&String> = store.documents.iter().map(|r| &r.id).collect();
    assert_eq!(ids.len(), 4000);
    let by_id: HashMap<&String, &StoreRecord> =
        store.documents.iter().map(|r| (&r.id, r)).collect();
    for record in &store.documents {
        let length = record.text.split_whitespace().filter(|w| *w != "/").count();
        assert!((30..=120).contains(&length), "{length} words");
        assert!((1950..=2025).contains(&record.year));
        assert!(!record.title.is_empty() && !record.artist.is_empty());
        for link in &record.links {
            let other = by_id[link];
            assert!(other.year <= record.year && other.id != record.id);
        }
    }
    let distinct = |f: fn(&StoreRecord) -> &'static str| {
        store.documents.iter().map(f).collect::<HashSet<_>>().len()
    };
    assert_eq!((distinct(|r| r.language), distinct(|r| r.genre)), (5, 12));
}

#[test]
fn plays_and_links_have_heavy_tails() {
    let store = store(4000, 1, 8);
    let mut plays: Vec<u64> = store.documents.iter().map(|r| r.popularity).collect();
    plays.sort_unstable();
    let (max, median) = (plays[3999], plays[2000]);
    assert!(max > 100 * median, "{max} {median}");
    // The number of links to each record.
    let mut links_to: HashMap<&String, usize> = HashMap::new();
    let links = store.documents.iter().flat_map(|record| &record.links);
    links.for_each(|link| *links_to.entry(link).or_default() += 1);
    let links: usize = links_to.values().sum();
    assert!((4000..32_000).contains(&links), "{links} links");
    // The most linked record has more than 15 times the mean.
    assert!(*links_to.values().max().unwrap() > 15 * links / 4000);
}

#[test]
fn grades_are_few_4s_and_many_0s() {
    let store = store(4000, 150, 9);
    let lists = store.qrels.lists();
    assert_eq!(lists.queries(), 150);
    let mut counts = [0usize; 5];
    for query in 0..150 {
        let found: Vec<f64> = lists.list(query).map(|d| d.value).collect();
        assert!((50..=150).contains(&found.len()), "{} judged", found.len());
        assert!((1..=4).contains(&found.iter().filter(|g| **g == 4.0).count()));
        found.iter().for_each(|g| counts[*g as usize] += 1);
    }
    let all: usize = counts.iter().sum();
    assert!(counts[0] * 2 > all && counts[0] * 10 < all * 9, "{counts:?}");
    assert!(counts[1..].is_sorted_by(|a, b| a > b), "{counts:?}");
}

#[test]
fn relevant_records_have_a_word_of_the_query() {
    let store = store(4000, 100, 10);
    for (number, query) in store.queries.iter().enumerate() {
        let typed: Vec<&str> = query.text.split(' ').collect();
        assert!((1..=4).contains(&typed.len()), "{}", query.text);
        let grades = grades(&store, number);
        for record in store.documents.iter().filter(|r| grades.get(&r.id).is_some_and(|g| *g > 0.0))
        {
            let words = words(record);
            assert!(typed.iter().any(|t| words.iter().any(|w| w == t)), "{query:?} {record:?}");
        }
    }
}

#[test]
fn a_store_of_one_record_is_a_store() {
    let store = store(1, 2, 0);
    assert!(store.documents[0].links.is_empty());
    assert_eq!(grades(&store, 1), HashMap::from([("r000001".to_owned(), 4.0)]));
}

#[test]
fn zero_and_too_large_sizes_are_refused() {
    let none = StoreOptions::default().records(0).generate().unwrap_err();
    assert_eq!(
        none.to_string(),
        "`store`: records=0 is not allowed; expected a whole number from 1 on"
    );
    for (records, queries) in [(usize::MAX, 1), (1, usize::MAX), (1 << 45, 1)] {
        let options = StoreOptions::default().records(records).queries(queries);
        let error = options.generate().unwrap_err();
        assert!(error.to_string().contains("do not fit into memory"), "{error}");
    }
}

/// The 200 best records by BM25 over all their words (k1 = 1.2, b = 0.75), as (score, record).
/// `bags` has the word counts of each record.
fn bm25(store: &Store, bags: &[HashMap<String, f64>], query: &str) -> Vec<(f64, usize)> {
    let n = bags.len() as f64;
    let lengths: Vec<f64> = bags.iter().map(|bag| bag.values().sum()).collect();
    let mean = lengths.iter().sum::<f64>() / n;
    let mut scores: Vec<(f64, usize)> = (0..store.documents.len()).map(|i| (0.0, i)).collect();
    for word in query.split(' ') {
        let df = bags.iter().filter(|bag| bag.contains_key(word)).count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for (score, i) in &mut scores {
            let tf = bags[*i].get(word).copied().unwrap_or(0.0);
            *score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * lengths[*i] / mean));
        }
    }
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    scores.truncate(200);
    scores.retain(|(score, _)| *score > 0.0);
    scores
}

/// NDCG at 10 with exponential gain.
fn ndcg(ranked: &[usize], store: &Store, grades: &HashMap<String, f64>) -> f64 {
    let dcg = |gains: &[f64]| -> f64 {
        let discounted = gains.iter().take(10).enumerate();
        discounted.map(|(i, g)| (g.exp2() - 1.0) / (i as f64 + 2.0).log2()).sum()
    };
    let grade = |i: &usize| grades.get(&store.documents[*i].id).copied().unwrap_or(0.0);
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    dcg(&ranked.iter().map(grade).collect::<Vec<_>>()) / dcg(&ideal)
}

#[test]
fn text_alone_ranks_decently_and_further_features_rank_better() {
    let store = store(4000, 60, 11);
    let bag = |record: &StoreRecord| {
        let mut bag: HashMap<String, f64> = HashMap::new();
        words(record).into_iter().for_each(|word| *bag.entry(word).or_default() += 1.0);
        bag
    };
    let bags: Vec<HashMap<String, f64>> = store.documents.iter().map(bag).collect();
    // The mean NDCG by text alone, with further features, and in an arbitrary order.
    let (mut text, mut more, mut chance) = (0.0, 0.0, 0.0);
    for (number, query) in store.queries.iter().enumerate() {
        let grades = grades(&store, number);
        let mut found = bm25(&store, &bags, &query.text);
        let order = |found: &[(f64, usize)]| found.iter().map(|(_, i)| *i).collect::<Vec<_>>();
        text += ndcg(&order(&found), &store, &grades) / 60.0;
        let best = found.first().map_or(1.0, |first| first.0);
        for (score, i) in &mut found {
            let record = &store.documents[*i];
            let plays = (1.0 + record.popularity as f64).log2() / 16.0;
            let language = if record.language == query.language { 0.8 } else { 0.0 };
            *score = 2.0 * *score / best + plays + language + f64::from(record.year - 1950) / 120.0;
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        more += ndcg(&order(&found), &store, &grades) / 60.0;
        // An arbitrary order that does not depend on the score; both numbers are prime.
        found.sort_by_key(|(_, i)| (i * 7919) % 4001);
        chance += ndcg(&order(&found), &store, &grades) / 60.0;
    }
    assert!(text > chance + 0.15, "text {text}, chance {chance}");
    assert!((0.3..0.7).contains(&text), "text {text}");
    assert!(more > text + 0.1, "text {text}, more {more}");
}
