//! Every feature on five documents, against values computed by hand; sets and rejected sets.

use std::collections::BTreeSet;

use crate::five::{Bench, bench};
use rankwright_search::{
    Document, Extractor, FEATURE_VERSION, FEATURES, FeatureRows, FeatureSet, FirstStage, Index,
    Query, SearchBuffers, SearchError, Terms, Value,
};

fn rows(bench: &Bench, set: &str, query: &Query) -> Result<FeatureRows, SearchError> {
    let set = set.replace("{folder}", bench.folder.path().to_str().unwrap());
    let extractor = Extractor::new(bench.index.clone(), &FeatureSet::parse(&set)?)?;
    let terms = Terms::new(&query.text, bench.index.analysis());
    let ranked = |id: &str| bench.index.candidate(id).unwrap().unwrap();
    let candidates = ["d1", "d2", "d3", "d4", "d5"].map(ranked);
    extractor.rows(query, &terms, &candidates)
}

/// The values of one feature for d1 to d5.
fn column(bench: &Bench, spec: &str, query: &Query) -> Vec<f32> {
    let rows = rows(bench, spec, query).unwrap();
    assert_eq!(rows.columns, 1, "{spec}");
    rows.values
}

/// Missing.
const NONE: f64 = f64::NAN;

/// Features of the words `blue train`.
///
/// B = ln((5+1)/(2+0.5)) = ln 2.4 is the idf of blue in the text, T = ln(6/3.5) that of train; in
/// `all` both are in 3 documents, so that both have T. BM25's idf is the same number:
/// 1 + (5-2+0.5)/2.5 = 2.4.
fn text_values() -> Vec<(&'static str, [f64; 5])> {
    let ln = f64::ln;
    let (b, t) = (2.4_f64.ln(), (6.0 / 3.5_f64).ln());
    let (l, q) = (1.0 + ln(2.0), (b * b + t * t).sqrt());
    let square = |x: f64| x * x;
    vec![
        // Only blue in d1 occurs twice; ln 1 = 0.
        ("nallapati-1(field=text)", [ln(2.0), 0.0, 0.0, 0.0, 0.0]),
        // tf/|D|: d1 2/4 and 1/4, d2 1/2, d4 1/3 twice.
        ("nallapati-2(field=text)", [ln(1.5) + ln(1.25), ln(1.5), 0.0, 2.0 * ln(4.0 / 3.0), 0.0]),
        ("nallapati-3(field=text)", [ln(b) + ln(t), ln(t), 0.0, ln(b) + ln(t), 0.0]),
        // |C|/cf = 12/3 = 4 for both.
        ("nallapati-4(field=text)", [2.0 * ln(4.0), ln(4.0), 0.0, 2.0 * ln(4.0), 0.0]),
        (
            "nallapati-5(field=text)",
            [
                ln(1.0 + b * 0.5) + ln(1.0 + t * 0.25),
                ln(1.0 + t * 0.5),
                0.0,
                ln(1.0 + b / 3.0) + ln(1.0 + t / 3.0),
                0.0,
            ],
        ),
        // d1 1 + 2/4*4 = 3 and 1 + 1/4*4 = 2; d2 1 + 1/2*4 = 3; d4 1 + 1/3*4 = 7/3 twice.
        ("nallapati-6(field=text)", [ln(6.0), ln(3.0), 0.0, 2.0 * ln(7.0 / 3.0), 0.0]),
        // (blue, train): d1 (2, 1), d2 (0, 1), d3 (0, 0), d4 (1, 1), d5 (0, 0).
        ("tf(field=text)", [3.0, 1.0, 0.0, 2.0, 0.0]),
        ("tf(field=text, stat=min)", [1.0, 0.0, 0.0, 1.0, 0.0]),
        ("tf(field=text, stat=max)", [2.0, 1.0, 0.0, 1.0, 0.0]),
        ("tf(field=text, stat=mean)", [1.5, 0.5, 0.0, 1.0, 0.0]),
        ("tf(field=text, stat=variance)", [0.25, 0.25, 0.0, 0.0, 0.0]),
        // Of the matched terms alone.
        ("idf(field=text)", [b + t, t, 0.0, b + t, 0.0]),
        ("idf(field=text, stat=min)", [t, t, 0.0, t, 0.0]),
        ("idf(field=text, stat=max)", [b, t, 0.0, b, 0.0]),
        ("idf(field=text, stat=mean)", [(b + t) / 2.0, t, 0.0, (b + t) / 2.0, 0.0]),
        (
            "idf(field=text, stat=variance)",
            [square((b - t) / 2.0), 0.0, 0.0, square((b - t) / 2.0), 0.0],
        ),
        // (blue, train): d1 (2B, T), d2 (0, T), d4 (B, T).
        ("tf-idf(field=text)", [2.0 * b + t, t, 0.0, b + t, 0.0]),
        ("tf-idf(field=text, stat=min)", [t, 0.0, 0.0, t, 0.0]),
        ("tf-idf(field=text, stat=max)", [2.0 * b, t, 0.0, b, 0.0]),
        ("tf-idf(field=text, stat=mean)", [b + t / 2.0, t / 2.0, 0.0, (b + t) / 2.0, 0.0]),
        (
            "tf-idf(field=text, stat=variance)",
            [square(b - t / 2.0), square(t / 2.0), 0.0, square((b - t) / 2.0), 0.0],
        ),
        // k1 (1 - b + b |D|/m) = 1.2 (0.25 + 0.75 |D|/2.4): 1.8 for 4 terms, 1.05 for 2, 1.425 for
        // 3.
        (
            "bm25(field=text)",
            [b * 4.4 / 3.8 + t * 2.2 / 2.8, t * 2.2 / 2.05, 0.0, (b + t) * 2.2 / 2.425, 0.0],
        ),
        // Titles have the mean length 6/5, so that their divisors are 0.25 + 0.75 |D|/1.2: 1.5 for two
        // terms, 0.875 for one; those of texts are 1.5, 0.875 and 1.1875 for 4, 2 and 3 terms. A
        // title counts twice; both words are in three documents.
        (
            "bm25f",
            [
                t * (bm25f(2.0 / 1.5 + 2.0 / 1.5) + bm25f(2.0 / 1.5 + 1.0 / 1.5)),
                t * bm25f(1.0 / 0.875),
                0.0,
                t * 2.0 * bm25f(1.0 / 1.1875),
                t * bm25f(2.0 / 0.875),
            ],
        ),
        // Query (B, T)/Q; d1 has weights 1 + ln 2 = L (blue), 1 (train), 1 (sea).
        (
            "cosine(field=text)",
            [
                (b * l + t) / (q * (l * l + 2.0).sqrt()),
                t / (q * 2.0_f64.sqrt()),
                0.0,
                (b + t) / (q * 3.0_f64.sqrt()),
                0.0,
            ],
        ),
        // mu p = 10 * 3/12 = 2.5 for both words: (tf + 2.5)/(|D| + 10).
        (
            "dirichlet(field=text, mu=10)",
            [
                ln(4.5 / 14.0) + ln(3.5 / 14.0),
                ln(2.5 / 12.0) + ln(3.5 / 12.0),
                2.0 * ln(2.5 / 13.0),
                2.0 * ln(3.5 / 13.0),
                2.0 * ln(2.5 / 10.0),
            ],
        ),
        // tf/|D|/2 + 1/8; d5 has no text, so that only the collection counts.
        (
            "jelinek-mercer(field=text)",
            [
                ln(0.375) + ln(0.25),
                ln(0.125) + ln(0.375),
                2.0 * ln(0.125),
                2.0 * ln(7.0 / 24.0),
                2.0 * ln(0.125),
            ],
        ),
        // (max(tf - 0.7, 0) + 0.7 u / 4)/|D| with u = 3, 2, 2, 3 different terms; d5: the
        // collection.
        (
            "absolute-discount(field=text)",
            [
                ln(1.825 / 4.0) + ln(0.825 / 4.0),
                ln(0.35 / 2.0) + ln(0.65 / 2.0),
                2.0 * ln(0.35 / 3.0),
                2.0 * ln(0.825 / 3.0),
                2.0 * ln(0.25),
            ],
        ),
        ("matched(field=text)", [2.0, 1.0, 0.0, 2.0, 0.0]),
        ("matched", [2.0, 1.0, 0.0, 2.0, 1.0]),
        ("matched-ratio(field=title)", [1.0, 0.0, 0.0, 0.0, 0.5]),
        // d1 blue 0 and train 1; d2 train alone; d4 from train 0 to blue 4.
        ("window(field=text)", [2.0, 1.0, 0.0, 5.0, 0.0]),
        ("pair-distance(field=text)", [1.0, NONE, NONE, 4.0, NONE]),
        ("pair-proximity(field=text)", [1.0, 0.0, 0.0, 0.25, 0.0]),
        ("phrase(field=text)", [1.0, 0.0, 0.0, 0.0, 0.0]),
        ("phrase", [2.0, 0.0, 0.0, 0.0, 0.0]),
    ]
}

/// f (k1 + 1) / (f + k1) with k1 = 1.2.
fn bm25f(f: f64) -> f64 {
    f * 2.2 / (f + 1.2)
}

/// Features of the document, and of the query.
fn other_values() -> Vec<(&'static str, [f64; 5])> {
    let ln = f64::ln;
    let t = (6.0 / 3.5_f64).ln();
    let three = 3.0_f64.log2();
    vec![
        ("length(field=text)", [4.0, 2.0, 3.0, 3.0, 0.0]),
        ("length", [6.0, 4.0, 4.0, 3.0, 1.0]),
        ("distinct(field=text)", [3.0, 2.0, 2.0, 3.0, 0.0]),
        // d1 shares 1/2, 1/4, 1/4: 0.5 + 0.5 + 0.5 bits; d3 2/3 and 1/3: log2 3 - 2/3.
        ("entropy(field=text)", [1.5, 1.0, three - 2.0 / 3.0, three, 0.0]),
        // 2 of 6, 0 of 2, 2 of 5, 2 of 5 words were removed.
        ("stop-share(field=text)", [1.0 / 3.0, 0.0, 0.4, 0.4, 0.0]),
        ("query-length", [2.0; 5]),
        ("query-idf", [2.0 * t; 5]),
        ("query-idf(stat=max)", [t; 5]),
        ("query-idf(stat=mean)", [t; 5]),
        // d1, d2, d4 and d5 have a term of the query.
        ("query-scope", [-ln(0.8); 5]),
        // 0.5 log2(0.5 * 18/5) + 0.5 log2(0.5 * 18/4).
        ("query-clarity", [0.5 * 1.8_f64.log2() + 0.5 * 2.25_f64.log2(); 5]),
        ("query-number(field=frequency)", [7.0; 5]),
        ("query-number(field=frequency, log=true)", [ln(8.0); 5]),
        ("query-number(field=language)", [NONE; 5]),
        ("url", [2.0, 0.0, 3.0, NONE, 2.0]),
        // No word of the query is in an address.
        ("url-cosine", [0.0, 0.0, 0.0, NONE, 0.0]),
        ("site(part=host, name=A.org)", [1.0, 1.0, 1.0, NONE, 0.0]),
        ("site(name=b.org)", [0.0, 0.0, 0.0, NONE, 0.0]),
        ("site(part=country, name=org)", [1.0, 1.0, 1.0, NONE, 0.0]),
        ("url(part=length)", [22.0, 14.0, 23.0, NONE, 3.0]),
        ("url(part=slashes)", [4.0, 3.0, 6.0, NONE, 1.0]),
        // d1 -> d2, d3; d2 -> d3; d3 -> d1; d4 -> d3 (and one that is not there).
        ("in-links", [1.0, 1.0, 3.0, 0.0, 0.0]),
        ("out-links", [2.0, 1.0, 1.0, 1.0, 0.0]),
        // d3 is two years older than the newest date, d1 has it, d2 is a year older, d4 has none.
        ("in-link-age", [730.0, 0.0, 182.5, NONE, NONE]),
        ("in-link-age(stat=min)", [730.0, 0.0, 0.0, NONE, NONE]),
        ("in-link-age(stat=max, date=date)", [730.0, 0.0, 365.0, NONE, NONE]),
        // 1704067200 is the newest date; a day later.
        ("in-link-age(now=1704153600)", [731.0, 1.0, 183.5, NONE, NONE]),
        ("pagerank", pageranks()),
        ("hub", hubs()),
        ("authority", authorities()),
        ("number", [100.0, 0.0, NONE, -7.0, NONE]),
        ("number(log=true)", [ln(101.0), 0.0, NONE, -ln(8.0), NONE]),
        // The newest date is that of d1 and d5; 365 and 730 days before.
        ("recency", [1.0, 0.5, 0.25, NONE, 1.0]),
        // 1704067200 is 2024-01-01; 73 days later, one half-life of 73 days more.
        ("recency(half_life=73, now=1710374400)", [0.5, 1.0 / 64.0, 1.0 / 2048.0, NONE, 0.5]),
        // `Blue Train` and `blue` are all in the query.
        ("category-match(field=genre)", [0.0, 0.0, 1.0, 1.0, 0.0]),
        ("category(field=genre, class=rock)", [0.0, 1.0, 0.0, 1.0, 0.0]),
        ("rocchio(field=shelf, class=a)", rocchio([0, 3])),
        ("rocchio(field=shelf, class=b)", rocchio([1, 2])),
        // The class of the nearest other labelled document: d1 -> d4 (a), d2 -> d4 (a), d3 -> d1
        // (a), d4 -> d2 (b), d5 -> d1 (a); see `vectors`.
        ("knn(field=shelf, class=a, k=1)", [1.0, 1.0, 1.0, 0.0, 1.0]),
        // All three others; d5 is not labelled, and has d1, d4 and, at cosine 0, d2 before d3.
        ("knn(field=shelf, class=a, k=3)", [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]),
        ("class-score(field=shelf, class=a)", naive_bayes()),
        // A tree of one split, trained on the other three labelled documents: for d1 these are d2,
        // d3 and d4, of which only d4, of class a, has the term blue.
        ("class-score(field=shelf, class=a, classifier=tree(depth=1))", [1.0, 0.0, 0.0, 1.0, 1.0]),
        ("run(file={folder}/other.run)", [4.0, 9.5, NONE, NONE, NONE]),
        ("run(file={folder}/other.run, value=rank)", [2.0, 1.0, NONE, NONE, NONE]),
        ("run(file={folder}/other.run, value=top1)", [0.0, 1.0, 0.0, 0.0, 0.0]),
        ("run(file={folder}/other.run, value=top10)", [1.0, 1.0, 0.0, 0.0, 0.0]),
        ("run(file={folder}/other.run, value=closeness)", [0.98, 0.99, 0.0, 0.0, 0.0]),
        ("dense(file={folder}/vectors.txt)", dense()),
    ]
}

/// PageRank times 5. With s = 0.15 + 0.17 r5, the amount that every document gets: r4 = r5 = s, so
/// s = 0.15/0.83; r1 = s + 0.85 r3, r2 = s + 0.85 r1/2, r3 = s + 0.85 (r1/2 + r2 + r4) = 2.7 s +
/// 0.78625 r1, so r1 = s + 2.295 s + 0.6683125 r1.
fn pageranks() -> [f64; 5] {
    let s = 0.15 / 0.83;
    let r1 = 3.295 * s / (1.0 - 0.668_312_5);
    let ranks = [r1, s + 0.425 * r1, 2.7 * s + 0.786_25 * r1, s, s];
    assert!((ranks.iter().sum::<f64>() - 5.0).abs() < 1e-12, "the mean is 1");
    ranks
}

/// Authorities of d2 and d3: a2' = a2 + a3, a3' = a2 + 3 a3, whose largest eigenvalue is 2 + √2
/// with (1, 1 + √2). d1 is only linked to by d3, a weaker part of the graph (1 < 2 + √2), and tends
/// to 0.
fn authorities() -> [f64; 5] {
    let third = 1.0 + 2.0_f64.sqrt();
    let length = (1.0 + third * third).sqrt();
    [0.0, 1.0 / length, third / length, 0.0, 0.0]
}

/// Hubs: d1 links to both (2 + √2), d2 and d4 to d3 (1 + √2).
fn hubs() -> [f64; 5] {
    let (both, one) = (2.0 + 2.0_f64.sqrt(), 1.0 + 2.0_f64.sqrt());
    let length = (both * both + 2.0 * one * one).sqrt();
    [both / length, one / length, 0.0, one / length, 0.0]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn unit(vector: [f64; 5]) -> [f64; 5] {
    let length = dot(&vector, &vector).sqrt();
    vector.map(|weight| weight / length)
}

/// The documents as tf-idf vectors over (blue, giant, sea, step, train) of all text: weights
/// (1 + ln tf) ln(5/df), with X = ln(5/3) for blue and train, Y = ln(5/2) for the others. Their
/// cosines: d1-d2 0.14, d1-d3 0.50, d1-d4 0.51, d2-d3 0.21, d2-d4 0.77, d3-d4 0, d5-d1 0.65,
/// d5-d4 0.44.
fn vectors() -> [[f64; 5]; 5] {
    let (x, y) = ((5.0 / 3.0_f64).ln(), (5.0 / 2.0_f64).ln());
    let (two, three) = (1.0 + 2.0_f64.ln(), 1.0 + 3.0_f64.ln());
    [
        unit([three * x, 0.0, y, 0.0, two * x]),
        unit([0.0, two * y, 0.0, y, x]),
        unit([0.0, 0.0, three * y, y, 0.0]),
        unit([x, y, 0.0, 0.0, x]),
        unit([x, 0.0, 0.0, 0.0, 0.0]),
    ]
}

/// Cosines with the mean of a class of two.
fn rocchio([one, two]: [usize; 2]) -> [f64; 5] {
    let vectors = vectors();
    let centroid = unit(std::array::from_fn(|at| vectors[one][at] + vectors[two][at]));
    vectors.map(|vector| dot(&vector, &centroid))
}

/// The probability of class a by multinomial naive Bayes, for the counts of (blue, giant, sea,
/// step, train). Each of d1 to d4 is scored by the other three; d5 has no class and is scored by
/// all.
fn naive_bayes() -> [f64; 5] {
    let counts = [
        [3.0, 0.0, 1.0, 0.0, 2.0],
        [0.0, 2.0, 0.0, 1.0, 1.0],
        [0.0, 0.0, 3.0, 1.0, 0.0],
        [1.0, 1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 0.0, 0.0_f64],
    ];
    std::array::from_fn(|document| {
        let joint = |class: [usize; 2]| {
            let members: Vec<usize> = class.into_iter().filter(|d| *d != document).collect();
            let sum = |term: usize| members.iter().map(|d| counts[*d][term]).sum::<f64>();
            let all: f64 = (0..5).map(sum).sum();
            let power =
                |term: usize| ((sum(term) + 1.0) / (all + 5.0)).powf(counts[document][term]);
            members.len() as f64 * (0..5).map(power).product::<f64>()
        };
        let (a, b) = (joint([0, 3]), joint([1, 2]));
        a / (a + b)
    })
}

/// blue is (1, 0), train the mean (0, 1), sea (-1, 0). The query is (T, T) of length 1. d1 has
/// blue 3, train 2, sea 1 times: (3 T - B, 2 T) with sea's idf B = ln 2.4; giant and step have no
/// vector.
fn dense() -> [f64; 5] {
    let (b, t) = (2.4_f64.ln(), (6.0 / 3.5_f64).ln());
    let half = 0.5_f64.sqrt();
    let first = [3.0 * t - b, 2.0 * t];
    let first = (first[0] + first[1]) * half / dot(&first, &first).sqrt();
    [first, half, -half, 1.0, half]
}

fn check(bench: &Bench, query: &Query, spec: &str, expected: [f64; 5]) {
    let found = column(bench, spec, query);
    for (document, (value, expected)) in (1..).zip(found.iter().zip(expected)) {
        let value = f64::from(*value);
        let equal = value.is_nan() && expected.is_nan()
            || (value - expected).abs() <= 1e-6 * expected.abs().max(1.0);
        assert!(equal, "{spec}: d{document} has {value}, by hand {expected}");
    }
}

#[test]
fn features_are_as_by_hand_on_five_documents() {
    let bench = bench();
    let query = Query::new("q1", "blue train").with("frequency", "7").with("language", "en");
    for (spec, expected) in text_values().into_iter().chain(other_values()) {
        check(&bench, &query, spec, expected);
    }
}

#[test]
fn the_example_of_every_feature_gives_finite_values() {
    let bench = bench();
    let query = Query::new("q1", "blue train").with("frequency", "7").with("language", "en");
    for def in FEATURES {
        let spec = def.example.replace("file=", "file={folder}/");
        let values = column(&bench, &spec, &query);
        assert_eq!(values.len(), 5, "{spec}");
        // NaN is a missing value.
        assert!(values.iter().all(|value| !value.is_infinite()), "{spec}: {values:?}");
        assert!(values.iter().any(|value| value.is_finite()), "{spec}: {values:?}");
    }
}

#[test]
fn a_value_of_the_query_decides_the_category_and_repeated_words_count() {
    let bench = bench();
    let mut query = Query::new("q9", "blue the blue");
    query.fields.push(("genre".into(), Value::Text("jazz".into())));
    check(&bench, &query, "category-match(field=genre)", [1.0, 0.0, 0.0, 0.0, 0.0]);
    check(&bench, &query, "query-length", [2.0; 5]);
    // blue twice, in d1 with K = 1.8 and d4 with K = 1.425.
    let b = 2.4_f64.ln();
    check(
        &bench,
        &query,
        "bm25(field=text)",
        [2.0 * b * 4.4 / 3.8, 0.0, 0.0, 2.0 * b * 2.2 / 2.425, 0.0],
    );
    // The query as a phrase is blue, a removed word, blue again, which occurs nowhere.
    check(&bench, &query, "phrase", [0.0; 5]);
    check(&bench, &query, "run(file={folder}/other.run)", [NONE; 5]);
    check(&bench, &query, "run(file={folder}/other.run, value=top10)", [0.0; 5]);
}

/// The values of a feature for the documents of an index in memory, in the order of their ids.
fn values_in(documents: Vec<Document>, spec: &str, query: &Query) -> Vec<f32> {
    let mut ids: Vec<String> = documents.iter().map(|document| document.id.clone()).collect();
    ids.sort_unstable();
    let index = std::sync::Arc::new(Index::in_memory(documents).unwrap());
    let extractor = Extractor::new(index.clone(), &FeatureSet::parse(spec).unwrap()).unwrap();
    let terms = Terms::new(&query.text, index.analysis());
    let candidates: Vec<_> = ids.iter().map(|id| index.candidate(id).unwrap().unwrap()).collect();
    extractor.rows(query, &terms, &candidates).unwrap().values
}

#[test]
fn words_of_a_web_address_are_compared_with_those_of_the_query() {
    let page = |id: &str, url: &str| Document::new(id).with("text", "train").with("url", url);
    let pages = vec![
        // blue 2, org 1, trains 1: 3 / (sqrt 2 sqrt 6).
        page("1", "https://www.blue.org/blue-trains"),
        page("2", "https://blue.org/"),
        page("3", "https://sea.org/www.train.html"),
        page("4", "https://sea.org/"),
    ];
    let found = values_in(pages, "url-cosine", &Query::new("q", "blue train"));
    let expected = [3.0 / 12.0_f32.sqrt(), 0.5, 1.0 / 10.0_f32.sqrt(), 0.0];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn each_site_and_each_category_becomes_a_column() {
    let page = |id: &str, url: &str, kind: &str| {
        Document::new(id).with("text", "train").with("url", url).with("genre", kind)
    };
    let pages = || {
        vec![
            page("1", "https://www.a.co.uk/x", "jazz"),
            page("2", "http://b.a.co.uk:80/", "rock"),
            page("3", "http://c.de/", "jazz"),
        ]
    };
    let query = Query::new("q", "train");
    let of = |spec: &str| values_in(pages(), spec, &query);
    // The hosts a.co.uk, b.a.co.uk and c.de; the domains a.co.uk and c.de; the countries de and uk.
    assert_eq!(of("site(part=host, name=*)"), [1., 0., 0., 0., 1., 0., 0., 0., 1.]);
    assert_eq!(of("site(name=*)"), [1., 0., 1., 0., 0., 1.]);
    assert_eq!(of("site(part=country, name=*)"), [0., 1., 0., 1., 1., 0.]);
    let set = FeatureSet::parse("category(field=genre, class=*)").unwrap();
    let set = set.expand(&bench().index).unwrap().features;
    let classes = ["Blue Train", "blue", "jazz", "rock"];
    assert_eq!(set, classes.map(|class| format!("category(field=genre, class={class})")));
}

#[test]
fn bm25f_is_the_score_of_the_first_stage_to_the_bit() {
    let words = ["blue", "train", "sea", "giant", "step"];
    let text = |number: usize, field: usize| {
        let word = |at: usize| words[(number * 7 + field * 3 + at * at + number * at) % 5];
        (0..(number * field + number) % 6).map(word).collect::<Vec<_>>().join(" ")
    };
    let document = |number: usize| {
        let fields = ["title", "body", "text"].into_iter().enumerate();
        let document = Document::new(format!("d{number:02}"));
        fields.fold(document, |document, (at, name)| document.with(name, text(number, at)))
    };
    let index = Index::in_memory((0..40).map(document).collect::<Vec<_>>()).unwrap();
    let index = std::sync::Arc::new(index);
    let query = Query::new("q", "blue train blue");
    let terms = Terms::new(&query.text, index.analysis());
    for spec in [
        "bm25f",
        "bm25f(k1=0)",
        "bm25f(weights=title:0)",
        "bm25f(weights=title:0+text:0, b=0.3)",
        "bm25f(b=title:0+body:1, weights=title:3+text:0.5)",
    ] {
        let stage = FirstStage::parse(spec).unwrap();
        let mut buffers = SearchBuffers::default();
        let found = index.retrieve(&terms, &stage, 40, None, &mut buffers).unwrap();
        assert!(found.len() > 10, "{spec}: {}", found.len());
        let extractor = Extractor::new(index.clone(), &FeatureSet::parse(spec).unwrap()).unwrap();
        let values = extractor.rows(&query, &terms, &found).unwrap().values;
        let scores: Vec<f32> = found.iter().map(|candidate| candidate.score as f32).collect();
        assert_eq!(values, scores, "{spec}");
    }
}

#[test]
fn a_query_without_terms_has_features_too() {
    let bench = bench();
    for text in ["", "the of", "unknown"] {
        let rows = rows(&bench, "default", &Query::new("q1", text)).unwrap();
        assert!(rows.values.iter().all(|value| !value.is_infinite()), "'{text}'");
        let query = Query::new("q1", text);
        for spec in ["bm25", "cosine", "matched-ratio", "query-scope", "query-clarity", "window"] {
            check(&bench, &query, spec, [0.0; 5]);
        }
    }
}

#[test]
fn the_default_set_has_every_default_feature_on_every_field() {
    let bench = bench();
    let set = FeatureSet::parse("default").unwrap().expand(&bench.index).unwrap();
    assert_eq!(set.analysis.as_deref(), Some("english"));
    assert_eq!(set.version, FEATURE_VERSION);
    let has = |column: &str| set.features.iter().any(|feature| feature == column);
    for column in [
        "bm25(field=title)",
        "bm25(field=text)",
        "bm25(field=all)",
        "tf(field=text, stat=variance)",
        "query-idf(stat=mean)",
        "url(field=url, part=slashes)",
        "number(field=plays, log=true)",
        "recency(field=date)",
        "category-match(field=genre)",
        "category-match(field=shelf)",
        "pagerank(field=links)",
    ] {
        assert!(has(column), "{column} is not in {:?}", set.features);
    }
    for info in FEATURES {
        let of = |feature: &&String| feature.split('(').next() == Some(info.name);
        let count = set.features.iter().filter(of).count();
        assert_eq!(count > 0, info.is_default, "{}", info.name);
        assert!(count <= 15, "{}: {count} columns", info.name);
    }
    let again = set.expand(&bench.index).unwrap();
    assert_eq!(again, set, "a set that is expanded stays as it is");
    let every = "rocchio(field=shelf, class=*), bm25, bm25(field=*), default";
    let every = FeatureSet::parse(every).unwrap().expand(&bench.index).unwrap();
    assert_eq!(
        every.features[..2],
        ["rocchio(field=shelf, class=a)", "rocchio(field=shelf, class=b)"]
    );
    let distinct: BTreeSet<&String> = every.features.iter().collect();
    assert_eq!(distinct.len(), every.features.len(), "no column twice");
}

#[test]
fn every_definition_has_a_sentence_and_an_example_that_works() {
    let bench = bench();
    let folder = bench.folder.path().to_str().unwrap();
    for def in FEATURES {
        assert!(def.help.ends_with('.') && !def.help.contains('\n'), "{}", def.name);
        assert!(def.params().iter().all(|param| param.help.ends_with('.')), "{}", def.name);
        let has_field = def.params().iter().any(|param| param.name == "field");
        // The field of `query-number` is one of the queries.
        assert_eq!(has_field, def.field.is_some() || def.name == "query-number", "{}", def.name);
        let example = def.example.replace("file=", &format!("file={folder}/"));
        let rows = rows(&bench, &example, &Query::new("q1", "blue train")).unwrap();
        assert_eq!(rows.columns, 1, "{}", def.name);
        assert_eq!(def.example.split('(').next(), Some(def.name));
        let json = serde_json::to_value(def).unwrap();
        assert_eq!(json["name"], def.name);
        assert_eq!(json["parameters"].as_array().unwrap().len(), def.params().len());
    }
}

#[test]
fn invalid_features_are_refused_with_a_remedy() {
    let bench = bench();
    let query = Query::new("q1", "blue");
    for (set, expected) in [
        ("bm52", "did you mean `bm25`?"),
        ("bm25(k2=1)", "`bm25` has no parameter `k2`"),
        ("bm25(field=body)", "the index has no text field `body`; its fields are title:text"),
        ("number(field=title)", "no number field `title`"),
        ("pagerank(damping=1)", "a number from 0, below 1"),
        ("category-match", "one of the category fields"),
        ("knn(field=shelf, class=a, k=0)", "from 1 on"),
        ("rocchio(field=shelf, class=c)", "a value of the field `shelf`"),
        ("run", "`run` needs `file`"),
        ("query-number", "`query-number` needs `field`"),
        ("site", "`site` needs `name`"),
        ("site(part=path, name=a)", "host | domain | country"),
        ("category(field=shelf, class=c)", "a value of the field `shelf`"),
        ("bm25@10", "takes no cut-off"),
        ("dense(file={folder}/other.run)", "a word and numbers up to 1e30"),
        ("run(file={folder}/none.run)", "none.run"),
        ("recency(half_life=0)", "above 0"),
        ("tf(stat=median)", "sum | min | max | mean"),
        ("", "the feature set has no features"),
    ] {
        let error = rows(&bench, set, &query).unwrap_err();
        let text = format!("{error} {}", error.help().unwrap_or_default());
        assert!(text.contains(expected), "{set}: {text}");
    }
}
