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
    let options = BuildOptions::new().schema(Schema::parse(SCHEMA).unwrap()).allow_absent(true);
    Index::in_memory_with(documents.into_iter().map(Ok), &options).unwrap().0
}

/// The ids of the documents that pass, in order.
fn passing(index: &Index, filter: &str) -> Vec<String> {
    let found = index.filtered_ids(&Filter::new(index, filter).unwrap()).unwrap();
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
fn conditions_of_every_kind_find_their_documents() {
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
        ("url:(cup, LAMP)", vec!["cup", "lamp"]),
        ("url=(cup, https://shop.org/Audio/lamp)", vec!["lamp"]),
        ("url IN (lamp, https://shop.org/Audio/cup)", vec!["cup"]),
        ("url!=(cup, https://shop.org/Audio/lamp)", vec!["bare", "chair", "cup"]),
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
    for (filter, position, message, help) in [
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
        assert!(error.to_string().contains(message), "{filter}: {error}");
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
    stock: Option<bool>,
    day: Option<Moment>,
    tags: Vec<&'static str>,
    url: Option<&'static str>,
    cites: Vec<&'static str>,
}

const WORDS: [&str; 4] = ["red", "blue", "train", "shoe"];
const TAGS: [&str; 3] = ["red", "new in", "Red"];
const URLS: [&str; 3] = ["https://a.org/Shoes", "https://b.org/hats/", "ftp://a.org"];
const URL_PARTS: [&str; 4] = ["A.ORG", "shoes", "/hats/", "ftp://a.org"];
const CITES: [&str; 3] = ["d1", "d2", "http://c.org"];

/// Year, month, day, hour, minute and second.
type Moment = [u32; 6];

const MOMENTS: [Moment; 6] = [
    [2023, 12, 31, 23, 59, 59],
    [2024, 1, 1, 0, 0, 0],
    [2024, 1, 1, 9, 30, 0],
    [2024, 2, 29, 0, 0, 0],
    [2024, 12, 31, 12, 0, 0],
    [2025, 1, 1, 0, 0, 0],
];

/// Years, months, days and seconds: the first numbers of a moment.
const PERIODS: [&[u32]; 10] = [
    &[2023],
    &[2024],
    &[2024, 1],
    &[2024, 2],
    &[2024, 12],
    &[2023, 12, 31],
    &[2024, 1, 1],
    &[2024, 2, 29],
    &[2024, 1, 1, 9, 30, 0],
    &[2023, 12, 31, 23, 59, 59],
];

/// A moment or a period as a filter and a document write it.
fn written(period: &[u32]) -> String {
    match period {
        [year, month, day, hour, minute, second] => {
            format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
        }
        [year, rest @ ..] => {
            let rest: String = rest.iter().map(|part| format!("-{part:02}")).collect();
            format!("{year}{rest}")
        }
        [] => String::new(),
    }
}

impl Item {
    fn document(&self, number: usize) -> Document {
        let mut document = Document::new(format!("d{number}")).with("title", self.title.join(" "));
        if let Some(price) = self.price {
            document = document.with("price", f64::from(price) / 2.0);
        }
        if let Some(stock) = self.stock {
            document = document.with("stock", f64::from(u8::from(stock)));
        }
        if let Some(moment) = self.day {
            let is_midnight = moment[3..] == [0, 0, 0];
            let shown = if is_midnight { &moment[..3] } else { &moment[..] };
            document = document.with("day", written(shown));
        }
        for (name, values) in [("tags", &self.tags), ("cites", &self.cites)] {
            if !values.is_empty() {
                let values = values.iter().map(|&value| value.to_owned()).collect();
                document = document.with(name, Value::Texts(values));
            }
        }
        if let Some(url) = self.url {
            document = document.with("url", url);
        }
        document
    }
}

fn item() -> impl Strategy<Value = Item> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..4);
    let numbers = (prop::option::of(-3..4), prop::option::of(any::<bool>()));
    let day = prop::option::of(prop::sample::select(&MOMENTS[..]));
    let tags = prop::sample::subsequence(&TAGS[..], 0..=3);
    let url = prop::option::of(prop::sample::select(&URLS[..]));
    let cites = prop::sample::subsequence(&CITES[..], 0..=2);
    (words, numbers, day, tags, url, cites).prop_map(
        |(title, (price, stock), day, tags, url, cites)| Item {
            title,
            price,
            stock,
            day,
            tags,
            url,
            cites,
        },
    )
}

/// An end of a range: a value, and whether it belongs to the range.
type End<T> = Option<(T, bool)>;

/// An expression of the reference: its text, and a plain function of one document.
#[derive(Debug, Clone)]
enum Reference {
    Price(&'static str, i32),
    PriceRange(End<i32>, End<i32>),
    PriceDots(Option<i32>, Option<i32>),
    OneOfPrices(&'static str, Vec<i32>),
    HasPrice,
    Stock(&'static str, bool),
    Day(&'static str, &'static [u32]),
    DayRange(End<&'static [u32]>, End<&'static [u32]>),
    DayDots(Option<&'static [u32]>, Option<&'static [u32]>),
    OneOfDays(&'static str, Vec<&'static [u32]>),
    Tag(&'static str),
    OneOfTags(&'static str, Vec<&'static str>),
    Cites(&'static str),
    Words(Vec<&'static str>),
    UrlContains(&'static str),
    Url(&'static str),
    OneOfUrls(&'static str, Vec<&'static str>),
    Id(usize),
    OneOfIds(&'static str, Vec<usize>),
    Not(&'static str, Box<Reference>),
    And(&'static str, Vec<Reference>),
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

/// The first numbers of a moment, as many as a period has.
fn in_period<'a>(moment: &'a Moment, period: &[u32]) -> &'a [u32] {
    &moment[..period.len()]
}

/// A range with these ends as text.
fn range<T>(field: &str, low: &End<T>, high: &End<T>, show: impl Fn(&T) -> String) -> String {
    let value = |end: &End<T>| end.as_ref().map_or("*".to_owned(), |(value, _)| show(value));
    let is_in = |end: &End<T>| end.as_ref().is_some_and(|(_, included)| *included);
    let (open, close) = (if is_in(low) { '[' } else { '{' }, if is_in(high) { ']' } else { '}' });
    format!("{field}:{open}{} TO {}{close}", value(low), value(high))
}

/// A set as text: `:(a, b)`, `IN [a, b]` and so on.
fn set<T>(field: &str, operator: &str, values: &[T], show: impl Fn(&T) -> String) -> String {
    let values: Vec<String> = values.iter().map(show).collect();
    match operator {
        "IN" => format!("{field} IN [{}]", values.join(", ")),
        operator => format!("{field}{operator}({})", values.join(", ")),
    }
}

impl Reference {
    fn text(&self) -> String {
        let half = |price: &i32| (f64::from(*price) / 2.0).to_string();
        let period = |period: &&'static [u32]| written(period);
        let quoted = |text: &&str| format!("\"{text}\"");
        let id = |number: &usize| format!("d{number}");
        match self {
            Self::Price(operator, price) => format!("price {operator} {}", half(price)),
            Self::PriceRange(low, high) => range("price", low, high, half),
            Self::PriceDots(low, high) => {
                let end = |end: &Option<i32>| end.as_ref().map(half).unwrap_or_default();
                format!("price:{}..{}", end(low), end(high))
            }
            Self::OneOfPrices(operator, prices) => set("price", operator, prices, half),
            Self::HasPrice => "price:*".into(),
            Self::Stock(operator, stock) => format!("stock{operator}{stock}"),
            Self::Day(operator, day) => format!("day{operator}{}", written(day)),
            Self::DayRange(low, high) => range("day", low, high, period),
            Self::DayDots(low, high) => {
                let end = |end: &Option<&'static [u32]>| end.map(written).unwrap_or_default();
                format!("day:{}..{}", end(low), end(high))
            }
            Self::OneOfDays(operator, days) => set("day", operator, days, period),
            Self::Tag(tag) => format!("tags:\"{tag}\""),
            Self::OneOfTags(operator, tags) => set("tags", operator, tags, quoted),
            Self::Cites(link) => format!("cites:{link}"),
            Self::Words(words) => format!("title:'{}'", words.join(" ")),
            Self::UrlContains(part) => format!("url:{part}"),
            Self::Url(url) => format!("url={url}"),
            Self::OneOfUrls(operator, urls) => set("url", operator, urls, quoted),
            Self::Id(number) => format!("id:d{number}"),
            Self::OneOfIds(operator, numbers) => set("id", operator, numbers, id),
            Self::Not(operator, part) => format!("{operator}({})", part.text()),
            Self::And(operator, parts) => joined(parts, operator),
            Self::Or(parts) => joined(parts, " or "),
        }
    }

    fn passes(&self, number: usize, item: &Item) -> bool {
        // `passes`, or its negation if the operator is `!=`.
        let negated_if_unequal = |operator: &str, passes: bool| (operator == "!=") != passes;
        match self {
            // A document without a price differs from every price, and passes no other comparison.
            Self::Price("!=", price) => item.price != Some(*price),
            Self::Price(operator, price) => {
                item.price.is_some_and(|own| compare(operator, own, *price))
            }
            Self::PriceRange(low, high) => item.price.is_some_and(|own| {
                low.is_none_or(|(low, included)| own > low || (included && own == low))
                    && high.is_none_or(|(high, included)| own < high || (included && own == high))
            }),
            Self::PriceDots(low, high) => item.price.is_some_and(|own| {
                low.is_none_or(|low| own >= low) && high.is_none_or(|high| own <= high)
            }),
            Self::OneOfPrices(operator, prices) => {
                negated_if_unequal(operator, item.price.is_some_and(|own| prices.contains(&own)))
            }
            Self::HasPrice => item.price.is_some(),
            Self::Stock(operator, stock) => {
                negated_if_unequal(operator, item.stock == Some(*stock))
            }
            Self::Day(operator, day) => {
                let is_in = |own: Moment| in_period(&own, day) == *day;
                match *operator {
                    "=" | ":" => item.day.is_some_and(is_in),
                    "!=" => !item.day.is_some_and(is_in),
                    operator => {
                        item.day.is_some_and(|own| compare(operator, in_period(&own, day), day))
                    }
                }
            }
            Self::DayRange(low, high) => item.day.is_some_and(|own| {
                let low = low.is_none_or(|(low, included)| {
                    let own = in_period(&own, low);
                    own > low || (included && own == low)
                });
                let high = high.is_none_or(|(high, included)| {
                    let own = in_period(&own, high);
                    own < high || (included && own == high)
                });
                low && high
            }),
            Self::DayDots(low, high) => item.day.is_some_and(|own| {
                low.is_none_or(|low| in_period(&own, low) >= low)
                    && high.is_none_or(|high| in_period(&own, high) <= high)
            }),
            Self::OneOfDays(operator, days) => {
                let is_in = |own: Moment| days.iter().any(|day| in_period(&own, day) == *day);
                negated_if_unequal(operator, item.day.is_some_and(is_in))
            }
            Self::Tag(tag) => item.tags.contains(tag),
            Self::OneOfTags(operator, tags) => {
                negated_if_unequal(operator, tags.iter().any(|tag| item.tags.contains(tag)))
            }
            Self::Cites(link) => item.cites.contains(link),
            Self::Words(words) => item.title.windows(words.len()).any(|part| part == words),
            Self::UrlContains(part) => item.url.is_some_and(|url| contains(url, part)),
            Self::Url(url) => item.url == Some(url),
            Self::OneOfUrls(":", parts) => {
                item.url.is_some_and(|url| parts.iter().any(|part| contains(url, part)))
            }
            Self::OneOfUrls(operator, urls) => {
                negated_if_unequal(operator, item.url.is_some_and(|url| urls.contains(&url)))
            }
            Self::Id(own) => *own == number,
            Self::OneOfIds(operator, numbers) => {
                negated_if_unequal(operator, numbers.contains(&number))
            }
            Self::Not(_, part) => !part.passes(number, item),
            Self::And(_, parts) => parts.iter().all(|part| part.passes(number, item)),
            Self::Or(parts) => parts.iter().any(|part| part.passes(number, item)),
        }
    }
}

fn contains(url: &str, part: &str) -> bool {
    url.to_lowercase().contains(&part.to_lowercase())
}

fn joined(parts: &[Reference], operator: &str) -> String {
    let parts: Vec<String> = parts.iter().map(|part| format!("({})", part.text())).collect();
    parts.join(operator)
}

fn number_condition() -> impl Strategy<Value = Reference> {
    let operator = prop::sample::select(vec!["<", "<=", ">", ">=", "=", ":", ":>=", "!="]);
    let end = || prop::option::of((-3..4, any::<bool>()));
    let prices = prop::collection::vec(-3..4, 1..4);
    prop_oneof![
        (operator, -3..4).prop_map(|(operator, price)| Reference::Price(operator, price)),
        (end(), end()).prop_map(|(low, high)| Reference::PriceRange(low, high)),
        (prop::option::of(-3..4), prop::option::of(-3..4))
            .prop_map(|(low, high)| Reference::PriceDots(low, high)),
        (set_operator(), prices).prop_map(|(operator, set)| Reference::OneOfPrices(operator, set)),
        Just(Reference::HasPrice),
        (prop::sample::select(vec![":", "=", "!="]), any::<bool>())
            .prop_map(|(operator, stock)| Reference::Stock(operator, stock)),
    ]
}

fn date_condition() -> impl Strategy<Value = Reference> {
    let operator = prop::sample::select(vec!["<", "<=", ">", ">=", "=", ":", ":<", "!="]);
    let period = || prop::sample::select(&PERIODS[..]);
    let end = || prop::option::of((period(), any::<bool>()));
    prop_oneof![
        (operator, period()).prop_map(|(operator, day)| Reference::Day(operator, day)),
        (end(), end()).prop_map(|(low, high)| Reference::DayRange(low, high)),
        (prop::option::of(period()), prop::option::of(period()))
            .prop_map(|(low, high)| Reference::DayDots(low, high)),
        (set_operator(), prop::collection::vec(period(), 1..4))
            .prop_map(|(operator, days)| Reference::OneOfDays(operator, days)),
    ]
}

fn text_condition() -> impl Strategy<Value = Reference> {
    let part = || prop::sample::select(&URL_PARTS[..]);
    let whole_or_part = prop_oneof![part(), prop::sample::select(&URLS[..])];
    prop_oneof![
        prop::sample::select(&TAGS[..]).prop_map(Reference::Tag),
        (set_operator(), prop::sample::subsequence(&TAGS[..], 1..=3))
            .prop_map(|(operator, tags)| Reference::OneOfTags(operator, tags)),
        prop::sample::select(&CITES[..]).prop_map(Reference::Cites),
        part().prop_map(Reference::UrlContains),
        prop::sample::select(&URLS[..]).prop_map(Reference::Url),
        (set_operator(), prop::collection::vec(whole_or_part, 1..4))
            .prop_map(|(operator, urls)| Reference::OneOfUrls(operator, urls)),
        (0..13_usize).prop_map(Reference::Id),
        (set_operator(), prop::collection::vec(0..13_usize, 1..4))
            .prop_map(|(operator, ids)| Reference::OneOfIds(operator, ids)),
        prop::collection::vec(prop::sample::select(&WORDS[..]), 1..3).prop_map(Reference::Words),
    ]
}

fn set_operator() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![":", "=", "IN", "!="])
}

fn expression() -> impl Strategy<Value = Reference> {
    let leaf = prop_oneof![number_condition(), date_condition(), text_condition()];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let not = prop::sample::select(vec!["NOT ", "-", "not"]);
        let and = prop::sample::select(vec![" AND ", " ", " and "]);
        prop_oneof![
            (not, inner.clone()).prop_map(|(not, part)| Reference::Not(not, Box::new(part))),
            (and, prop::collection::vec(inner.clone(), 1..3))
                .prop_map(|(and, parts)| Reference::And(and, parts)),
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
                .filter(|(number, item)| expression.passes(*number, item))
                .map(|(number, _)| format!("d{number}"))
                .collect();
            expected.sort();
            prop_assert_eq!(passing(&index, &text), expected, "{}", text);
        }
    }
}

// ---------------------------------------------------------------------- searches without documents

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
fn a_search_without_documents_warns_with_the_reason() {
    use SearchWarning::{MatchesFiltered, NoTerms, NothingMatches, NothingPasses};
    let ranker = ranker();
    assert_eq!(warnings(&ranker, "train", "tags:red"), []);
    assert_eq!(warnings(&ranker, "train", "tags:green"), [NothingPasses]);
    assert_eq!(warnings(&ranker, "cup", "tags:blue"), [MatchesFiltered { documents: 1 }]);
    assert_eq!(warnings(&ranker, "train", "id:bare"), [MatchesFiltered { documents: 3 }]);
    assert_eq!(warnings(&ranker, "zeppelin", "tags:red"), [NothingMatches]);
    assert_eq!(warnings(&ranker, "the of", "tags:red"), [NoTerms]);
    let messages: Vec<String> =
        warnings(&ranker, "train", "id:bare").iter().map(SearchWarning::to_string).collect();
    assert_eq!(messages, ["3 documents match the query, but none of them passes the filter"]);
}

#[test]
fn a_run_counts_the_queries_without_documents_by_reason() {
    let ranker = ranker();
    let queries = [("1", "train"), ("2", "zeppelin"), ("3", "nothing"), ("4", "the"), ("5", "cup")]
        .map(|(id, text)| Query::new(id, text));
    // The number of queries without documents, and the warnings.
    let empty_and_warnings = |filter: &str| {
        let filter = Filter::new(ranker.index(), filter).unwrap();
        let run = ranker.run(&queries, Some(&filter), 10).unwrap();
        let warnings = run.warnings.iter().map(SearchWarning::to_string).collect::<Vec<_>>();
        (run.empty, warnings.join("\n"))
    };
    assert_eq!(
        empty_and_warnings("tags:blue"),
        (
            4,
            "1 query found no document, because no term is left after the analysis: '4'\n\
             1 query found no document, because no document has one of the query terms: '2'\n\
             2 queries found no document, because no matching document passes the filter: '3', '5'"
                .to_owned()
        )
    );
    assert_eq!(
        empty_and_warnings("tags:green"),
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
fn training_data_warns_of_unknown_ids_and_obeys_the_filter() {
    let index = std::sync::Arc::new(shop());
    let rows = [("1", "cup", 1.0), ("1", "gone", 2.0), ("1", "bare", 1.0), ("9", "cup", 1.0)];
    let qrels = Qrels::from_lists(QueryLists::from_rows("qrels", rows).unwrap());
    let queries = || vec![Query::new("1", "train"), Query::new("2", "train")];
    let set = FeatureSet::parse("bm25").unwrap();
    let data_with = |filter: &str| {
        let filter = Filter::new(&index, filter).unwrap();
        let options = RowOptions::new().judged(true).filter(Some(&filter));
        training_data(index.clone(), queries(), Some(&qrels), &set, &options)
    };
    let all = data_with("*").unwrap();
    let messages: Vec<String> = all.warnings.iter().map(SearchWarning::to_string).collect();
    assert_eq!(
        messages,
        [
            "judgements of 1 query ignored, as the query is not given: '9'",
            "1 query without judgements left out: '2'",
            "judgements of 1 document ignored, as the index does not have the document: 'gone'",
        ]
    );
    assert_eq!(all.rows, 4, "three that match, and one that is judged");
    assert_eq!(
        data_with("tags:red").unwrap().rows,
        2,
        "judged documents have to pass the filter too"
    );
    let error = data_with("tags:green").unwrap_err();
    assert!(matches!(error, SearchError::NoRowsPass { .. }), "{error}");
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
