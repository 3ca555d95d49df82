//! Filters held against a brute-force reference: documents and expressions are drawn at random, the
//! reference looks at the values of every document, and both must name the same documents.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames, Qrels, QueryLists};
use rankwright_model::{Header, Linear, Model, ModelBody};
use rankwright_search::{
    BuildOptions, Document, Extractor, FeatureSet, Filter, FilterProblem, Index, Query, Ranker,
    RowOptions, Schema, SearchError, SearchRequest, SearchWarning, Value, training_data,
};

const SCHEMA: &str = "title:text, body:text, price:number, stock:number, day:date, tags:category, url:url, \
     cites:links, note:stored";

fn index(documents: Vec<Document>) -> Index {
    let options = BuildOptions::new().schema(Schema::parse(SCHEMA).unwrap());
    Index::in_memory_with(documents.into_iter().map(Ok), &options).unwrap().0
}

/// The ids of the documents that pass, in order.
fn passing(index: &Index, filter: &str) -> Vec<String> {
    let found = index.matching(&Filter::new(index, filter).unwrap()).unwrap();
    found.into_iter().map(str::to_owned).collect()
}

fn shop() -> Index {
    let document = |id: &str, tags: &[&str], price: f64, day: &str| {
        let tags = Value::Texts(tags.iter().map(|&tag| tag.to_owned()).collect());
        Document::new(id)
            .with("title", format!("The {id} of Blue Train").as_str())
            .with("tags", tags)
            .with("price", price)
            .with("stock", f64::from(u8::from(price > 15.0)))
            .with("day", day)
            .with("url", format!("https://shop.org/Audio/{id}").as_str())
    };
    index(vec![
        document("cup", &["red", "kitchen"], 10.0, "2024-01-01"),
        document("chair", &["red"], 20.0, "2024-01-01T09:30:00Z"),
        document("lamp", &["blue", "new in"], 20.5, "2024-05-31"),
        Document::new("bare").with("title", "nothing else"),
    ])
}

#[test]
fn the_conditions_that_went_wrong_find_what_they_say() {
    let index = shop();
    for (filter, expected) in [
        ("tags:red AND NOT tags:kitchen", vec!["chair"]),
        ("tags:red -tags:kitchen", vec!["chair"]),
        ("NOT tags:red", vec!["bare", "lamp"]),
        ("day:>=2024-01-01", vec!["chair", "cup", "lamp"]),
        ("day>2024-01-01", vec!["lamp"]),
        ("day:2024-01-01", vec!["chair", "cup"]),
        ("day:2024-01", vec!["chair", "cup"]),
        ("day:2024-01-01T09:30:00Z", vec!["chair"]),
        ("day:[2024-01-01 TO 2024-05-31}", vec!["chair", "cup"]),
        ("stock:true", vec!["chair", "lamp"]),
        ("stock:false", vec!["cup"]),
        ("url:audio", vec!["chair", "cup", "lamp"]),
        ("url=https://shop.org/Audio/cup", vec!["cup"]),
        ("price>=20", vec!["chair", "lamp"]),
        ("price >= 20 AND price < 20.5", vec!["chair"]),
        ("price:10..20", vec!["chair", "cup"]),
        ("price!=20", vec!["bare", "cup", "lamp"]),
        ("tags:(kitchen, \"new in\")", vec!["cup", "lamp"]),
        ("title:*", vec!["bare", "chair", "cup", "lamp"]),
        ("tags:* OR id:bare", vec!["bare", "chair", "cup", "lamp"]),
        ("NOT price:*", vec!["bare"]),
        ("title:\"blue train\" cup", vec!["cup"]),
        ("title:\"train blue\"", vec![]),
        ("*", vec!["bare", "chair", "cup", "lamp"]),
    ] {
        assert_eq!(passing(&index, filter), expected, "{filter}");
    }
}

#[test]
fn a_filter_that_does_not_fit_the_fields_says_where_and_why() {
    let index = shop();
    for (filter, position, said, help) in [
        ("prize>3", 0, "there is no field `prize`", "did you mean `price`?"),
        ("tags:red AND zzz:1", 13, "there is no field `zzz`", "the fields are title:text"),
        ("price>cheap", 6, "field `price` is a number, and `cheap` is not", ""),
        ("day:soon", 4, "field `day` is a date", "2024-05-31T12:00:00Z"),
        ("tags>red", 0, "field `tags` is of kind category, whose values have no order", "`:`"),
        ("title:[a TO b]", 0, "field `title` is of kind text", ""),
        ("note:x", 0, "field `note` is stored only", ""),
        ("title:the", 6, "no term is left of `the`", ""),
        ("tags:re*", 5, "`re*` has a wildcard", "quote it"),
    ] {
        let error = Filter::new(&index, filter).unwrap_err();
        assert!(error.to_string().contains(said), "{filter}: {error}");
        assert!(error.help().unwrap_or_default().contains(help), "{filter}: {:?}", error.help());
        let SearchError::Filter(error) = error else { panic!("{error}") };
        assert_eq!(error.position, position, "{filter}: {error}");
    }
    let SearchError::Filter(error) = Filter::new(&index, "").unwrap_err() else { panic!() };
    assert_eq!(error.problem, FilterProblem::Empty);
}

// ------------------------------------------------------------------------------------- reference

/// A document of the reference.
#[derive(Debug, Clone)]
struct Item {
    title: Vec<&'static str>,
    price: Option<i32>,
    /// Days since the first of January 2024.
    day: Option<u8>,
    tags: Vec<&'static str>,
    url: Option<&'static str>,
}

const WORDS: [&str; 4] = ["red", "blue", "train", "shoe"];
const TAGS: [&str; 3] = ["red", "new in", "Red"];
const URLS: [&str; 3] = ["https://a.org/Shoes", "https://b.org/hats/", "ftp://a.org"];

impl Item {
    fn document(&self, number: usize) -> Document {
        let mut document = Document::new(format!("d{number}")).with("title", self.title.join(" "));
        if let Some(price) = self.price {
            document = document.with("price", f64::from(price) / 2.0);
        }
        if let Some(day) = self.day {
            document = document.with("day", format!("2024-01-{:02}", day + 1));
        }
        if !self.tags.is_empty() {
            let tags = self.tags.iter().map(|&tag| tag.to_owned()).collect();
            document = document.with("tags", Value::Texts(tags));
        }
        if let Some(url) = self.url {
            document = document.with("url", url);
        }
        document
    }
}

fn item() -> impl Strategy<Value = Item> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..4);
    let tags = prop::sample::subsequence(&TAGS[..], 0..=3);
    let url = prop::option::of(prop::sample::select(&URLS[..]));
    (words, prop::option::of(-3..4), prop::option::of(0..4u8), tags, url)
        .prop_map(|(title, price, day, tags, url)| Item { title, price, day, tags, url })
}

/// An expression of the reference: its text, and a plain function of one document.
#[derive(Debug, Clone)]
enum Reference {
    Price(&'static str, i32),
    PriceRange(i32, bool, i32, bool),
    HasPrice,
    Day(&'static str, u8),
    Tag(&'static str),
    OneOfTags(Vec<&'static str>),
    Words(Vec<&'static str>),
    UrlContains(&'static str),
    Url(&'static str),
    Not(Box<Reference>),
    And(Vec<Reference>),
    Or(Vec<Reference>),
}

fn compare<T: PartialOrd>(operator: &str, value: T, with: T) -> bool {
    match operator.trim_start_matches(':') {
        "<" => value < with,
        "<=" => value <= with,
        ">" => value > with,
        ">=" => value >= with,
        "!=" => value != with,
        _ => value == with,
    }
}

impl Reference {
    fn text(&self) -> String {
        let half = |price: &i32| f64::from(*price) / 2.0;
        match self {
            Self::Price(operator, price) => format!("price {operator} {}", half(price)),
            Self::PriceRange(low, low_in, high, high_in) => {
                let (open, close) =
                    (if *low_in { '[' } else { '{' }, if *high_in { ']' } else { '}' });
                format!("price:{open}{} TO {}{close}", half(low), half(high))
            }
            Self::HasPrice => "price:*".into(),
            Self::Day(operator, day) => format!("day{operator}2024-01-{:02}", day + 1),
            Self::Tag(tag) => format!("tags:\"{tag}\""),
            Self::OneOfTags(tags) => format!("tags:(\"{}\")", tags.join("\", \"")),
            Self::Words(words) => format!("title:'{}'", words.join(" ")),
            Self::UrlContains(part) => format!("url:{part}"),
            Self::Url(url) => format!("url={url}"),
            Self::Not(part) => format!("NOT ({})", part.text()),
            Self::And(parts) => joined(parts, " AND "),
            Self::Or(parts) => joined(parts, " or "),
        }
    }

    fn passes(&self, item: &Item) -> bool {
        match self {
            // A document without a price differs from every price, and passes no other comparison.
            Self::Price("!=", price) => item.price != Some(*price),
            Self::Price(operator, price) => {
                item.price.is_some_and(|own| compare(operator, own, *price))
            }
            Self::PriceRange(low, low_in, high, high_in) => item.price.is_some_and(|own| {
                (own > *low || (*low_in && own == *low))
                    && (own < *high || (*high_in && own == *high))
            }),
            Self::HasPrice => item.price.is_some(),
            Self::Day("!=", day) => item.day != Some(*day),
            Self::Day(operator, day) => item.day.is_some_and(|own| compare(operator, own, *day)),
            Self::Tag(tag) => item.tags.contains(tag),
            Self::OneOfTags(tags) => tags.iter().any(|tag| item.tags.contains(tag)),
            Self::Words(words) => item.title.windows(words.len()).any(|part| part == words),
            Self::UrlContains(part) => {
                item.url.is_some_and(|url| url.to_lowercase().contains(&part.to_lowercase()))
            }
            Self::Url(url) => item.url == Some(url),
            Self::Not(part) => !part.passes(item),
            Self::And(parts) => parts.iter().all(|part| part.passes(item)),
            Self::Or(parts) => parts.iter().any(|part| part.passes(item)),
        }
    }
}

fn joined(parts: &[Reference], operator: &str) -> String {
    let parts: Vec<String> = parts.iter().map(|part| format!("({})", part.text())).collect();
    parts.join(operator)
}

fn expression() -> impl Strategy<Value = Reference> {
    let operator = || prop::sample::select(vec!["<", "<=", ">", ">=", "=", ":", ":>=", "!="]);
    let leaf = prop_oneof![
        (operator(), -3..4).prop_map(|(operator, price)| Reference::Price(operator, price)),
        (-3..4, any::<bool>(), -3..4, any::<bool>())
            .prop_map(|(a, b, c, d)| Reference::PriceRange(a, b, c, d)),
        Just(Reference::HasPrice),
        (operator(), 0..4u8).prop_map(|(operator, day)| Reference::Day(operator, day)),
        prop::sample::select(&TAGS[..]).prop_map(Reference::Tag),
        prop::sample::subsequence(&TAGS[..], 1..=3).prop_map(Reference::OneOfTags),
        prop::collection::vec(prop::sample::select(&WORDS[..]), 1..3).prop_map(Reference::Words),
        prop::sample::select(vec!["A.ORG", "shoes", "/hats/"]).prop_map(Reference::UrlContains),
        prop::sample::select(&URLS[..]).prop_map(Reference::Url),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|part| Reference::Not(Box::new(part))),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Reference::And),
            prop::collection::vec(inner, 1..3).prop_map(Reference::Or),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_filter_passes_the_documents_of_the_reference(
        items in prop::collection::vec(item(), 1..12),
        expressions in prop::collection::vec(expression(), 8),
        deleted in 0..12usize,
    ) {
        let documents = items.iter().enumerate().map(|(number, item)| item.document(number));
        let mut index = index(documents.collect());
        index.delete([format!("d{deleted}")]).unwrap();
        for expression in expressions {
            let text = expression.text();
            let living = items.iter().enumerate().filter(|(number, _)| *number != deleted);
            let mut expected: Vec<String> = living
                .filter(|(_, item)| expression.passes(item))
                .map(|(number, _)| format!("d{number}"))
                .collect();
            expected.sort();
            prop_assert_eq!(passing(&index, &text), expected, "{}", text);
        }
    }
}

// ------------------------------------------------------------------------------- empty lists

fn ranker() -> Ranker {
    Ranker::first_stage(shop()).unwrap()
}

/// The warnings of a search with a filter.
fn warnings(ranker: &Ranker, query: &str, filter: &str) -> Vec<SearchWarning> {
    let filter = Filter::new(ranker.index(), filter).unwrap();
    let request = SearchRequest::new(query).filter(Some(&filter));
    ranker.search(&request).unwrap().warnings
}

#[test]
fn a_search_without_documents_names_the_filter_or_the_query_whichever_it_was() {
    use SearchWarning::{MatchesFiltered, NoTerms, NothingMatches, NothingPasses};
    let ranker = ranker();
    assert_eq!(warnings(&ranker, "train", "tags:red"), []);
    assert_eq!(warnings(&ranker, "train", "tags:green"), [NothingPasses]);
    assert_eq!(warnings(&ranker, "cup", "tags:blue"), [MatchesFiltered { documents: 1 }]);
    assert_eq!(warnings(&ranker, "train", "id:bare"), [MatchesFiltered { documents: 3 }]);
    assert_eq!(warnings(&ranker, "zeppelin", "tags:red"), [NothingMatches]);
    assert_eq!(warnings(&ranker, "the of", "tags:red"), [NoTerms]);
    let said: Vec<String> =
        warnings(&ranker, "train", "id:bare").iter().map(SearchWarning::to_string).collect();
    assert_eq!(said, ["3 documents match the query, but none of them passes the filter"]);
}

#[test]
fn a_run_counts_the_queries_without_documents_by_reason() {
    let ranker = ranker();
    let queries = [("1", "train"), ("2", "zeppelin"), ("3", "nothing"), ("4", "the"), ("5", "cup")]
        .map(|(id, text)| Query::new(id, text));
    let said = |filter: &str| {
        let filter = Filter::new(ranker.index(), filter).unwrap();
        let run = ranker.run(&queries, Some(&filter), 10).unwrap();
        let said = run.warnings.iter().map(SearchWarning::to_string).collect::<Vec<_>>();
        (run.empty, said.join("\n"))
    };
    assert_eq!(
        said("tags:blue"),
        (
            4,
            "1 query found no document, because no term is left after the analysis: '4'\n\
             1 query found no document, because no document has one of the query terms: '2'\n\
             2 queries found no document, because no matching document passes the filter: '3', '5'"
                .to_owned()
        )
    );
    assert_eq!(
        said("tags:green"),
        (
            5,
            "no document of the index passes the filter\n\
             1 query found no document, because no term is left after the analysis: '4'\n\
             1 query found no document, because no document has one of the query terms: '2'"
                .to_owned()
        )
    );
}

#[test]
fn feature_data_names_what_it_cannot_find_and_keeps_to_the_filter() {
    let index = std::sync::Arc::new(shop());
    let rows = [("1", "cup", 1.0), ("1", "gone", 2.0), ("1", "bare", 1.0), ("9", "cup", 1.0)];
    let qrels = Qrels::from_lists(QueryLists::from_rows("qrels", rows).unwrap());
    let queries = || vec![Query::new("1", "train"), Query::new("2", "train")];
    let set = FeatureSet::parse("bm25").unwrap();
    let made = |filter: &str| {
        let filter = Filter::new(&index, filter).unwrap();
        let options = RowOptions::new().judged(true).filter(Some(&filter));
        training_data(index.clone(), queries(), Some(&qrels), &set, &options)
    };
    let all = made("*").unwrap();
    let said: Vec<String> = all.warnings.iter().map(SearchWarning::to_string).collect();
    assert_eq!(
        said,
        [
            "judgements of 1 query ignored, as the query is not given: '9'",
            "1 query without judgements left out: '2'",
            "judgements of 1 document ignored, as the index does not have the document: 'gone'",
        ]
    );
    assert_eq!(all.rows, 4, "three that match, and one that is judged");
    assert_eq!(made("tags:red").unwrap().rows, 2, "judged documents have to pass the filter too");
    let error = made("tags:green").unwrap_err();
    assert!(matches!(error, SearchError::NoRowsPass), "{error}");
}

#[test]
fn equal_scores_of_a_model_keep_the_order_of_the_first_stage_also_in_a_run() {
    let documents = ["a", "b", "c", "d"].iter().enumerate().map(|(at, id)| {
        Document::new(*id).with("title", "blue ".repeat(4 - at).as_str()).with("price", 1.0)
    });
    let index = std::sync::Arc::new(index(documents.collect()));
    let mut header =
        Header::new(FeatureNames::from_names(vec!["query-length".into()]), Absent::Zero);
    let set = FeatureSet::parse("query-length").unwrap();
    let set = Extractor::new(index.clone(), &set).unwrap().set_with(&RowOptions::new()).unwrap();
    header.feature_set = Some(set.to_toml());
    let names = FeatureNames::from_names(set.features.clone());
    header.features = names;
    let line = Linear::new(0.0, vec![1.0; set.features.len()]).unwrap();
    let model = Model::new(header, ModelBody::Linear(line)).unwrap();
    let first = Ranker::first_stage(index.clone()).unwrap();
    let ids = |ranker: &Ranker| -> Vec<String> {
        ranker.rank("blue", 10).unwrap().into_iter().map(|hit| hit.id).collect()
    };
    let ranker = Ranker::new(index, &model).unwrap();
    let before = ids(&first);
    assert_ne!(before, ["d", "c", "b", "a"], "the first stage has an order of its own");
    assert_eq!(ids(&ranker), before);
    let hits = ranker.rank("blue", 10).unwrap();
    assert!(hits.iter().all(|hit| hit.score == hits[0].score), "{hits:?}");
    let run = ranker.run(&[Query::new("1", "blue")], None, 10).unwrap().run;
    let mut rows: Vec<(f32, String)> = run
        .lists()
        .list(0)
        .map(|row| (row.value as f32, String::from_utf8_lossy(row.id).into_owned()))
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let read: Vec<String> = rows.into_iter().map(|(_, id)| id).collect();
    assert_eq!(read, before, "as trec_eval orders it");
}
