//! The one table of features: name, documentation, parameters, and how each is made.

use rankwright_eval::{ParamInfo, Params};
use rankwright_spec::SpecError;

use super::classes::{Classifier, class_column};
use super::dense::Dense;
use super::document::{CategoryMatch, Column, recency, signed_log};
use super::given::RunFeature;
use super::graph::{LinkKind, link_column};
use super::proximity::{Proximity, ProximityKind};
use super::query::{QueryFeature, QueryKind};
use super::text::{TextFeature, TextKind, WeightFeature};
use super::{Feature, Summary};
use crate::error::SearchError;
use crate::index::{Index, Stat, TextField};
use crate::schema::FieldKind;
use crate::weighting::{B, DELTA, K1, LAMBDA, MU, Weighting};

/// One feature of the table.
#[derive(Clone, Copy)]
pub struct FeatureInfo {
    /// Name in specs.
    pub name: &'static str,
    /// One line.
    pub doc: &'static str,
    /// The kind of field it looks at; text fields include `all`.
    pub field: Option<FieldKind>,
    /// Its parameters.
    pub params: &'static [ParamInfo],
    /// Whether it is in the default set, on every field of its kind.
    pub is_default: bool,
    /// The choices of a parameter that `*` expands.
    pub(super) choices: Option<(&'static str, &'static [&'static str])>,
    pub(super) build: Build,
}

type Build = fn(&Index, &Params<'_>) -> Result<Box<dyn Feature>, SearchError>;

impl std::fmt::Debug for FeatureInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FeatureInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

const FIELD: ParamInfo = ParamInfo {
    name: "field",
    doc: "a text field, all of them as one, or * for each",
    default: "all",
};
const NUMBER: ParamInfo = ParamInfo { name: "field", doc: "a number field", default: "" };
const DATE: ParamInfo = ParamInfo { name: "field", doc: "a date field", default: "" };
const CATEGORY: ParamInfo = ParamInfo { name: "field", doc: "a category field", default: "" };
const LINKS: ParamInfo = ParamInfo { name: "field", doc: "a field of links", default: "links" };
const URL: ParamInfo = ParamInfo { name: "field", doc: "a field of addresses", default: "url" };
const FILE: ParamInfo = ParamInfo { name: "file", doc: "the file", default: "" };
const STAT: ParamInfo = ParamInfo {
    name: "stat",
    doc: "sum, min, max, mean or variance over terms, or *",
    default: "sum",
};

const STATS: &[&str] = &["sum", "min", "max", "mean", "variance"];

const fn text(name: &'static str, doc: &'static str, build: Build) -> FeatureInfo {
    FeatureInfo {
        name,
        doc,
        field: Some(FieldKind::Text),
        params: &[FIELD],
        is_default: true,
        choices: None,
        build,
    }
}

const fn summed(name: &'static str, doc: &'static str, build: Build) -> FeatureInfo {
    let mut info = text(name, doc, build);
    info.params = &[FIELD, STAT];
    info.choices = Some(("stat", STATS));
    info
}

const fn weighed(
    name: &'static str,
    doc: &'static str,
    params: &'static [ParamInfo],
) -> FeatureInfo {
    let mut info = text(name, doc, build_weight);
    info.params = params;
    info
}

const fn of_query(name: &'static str, doc: &'static str, build: Build) -> FeatureInfo {
    let mut info = text(name, doc, build);
    info.field = None;
    info.params = &[];
    info
}

const fn of_kind(
    name: &'static str,
    doc: &'static str,
    field: FieldKind,
    params: &'static [ParamInfo],
    build: Build,
) -> FeatureInfo {
    FeatureInfo { name, doc, field: Some(field), params, is_default: true, choices: None, build }
}

const fn not_default(mut info: FeatureInfo) -> FeatureInfo {
    info.is_default = false;
    info
}

const fn with_choices(
    mut info: FeatureInfo,
    key: &'static str,
    choices: &'static [&'static str],
) -> FeatureInfo {
    info.choices = Some((key, choices));
    info
}

/// Every feature.
pub const FEATURES: &[FeatureInfo] = &[
    text("nallapati-1", "sum over matched terms of ln tf", |i, p| nallapati(i, p, 1)),
    text("nallapati-2", "sum over terms of ln(1 + tf/|D|)", |i, p| nallapati(i, p, 2)),
    text("nallapati-3", "sum over matched terms of ln idf, idf = ln((N+1)/(df+0.5))", |i, p| {
        nallapati(i, p, 3)
    }),
    text("nallapati-4", "sum over matched terms of ln(|C|/cf)", |i, p| nallapati(i, p, 4)),
    text("nallapati-5", "sum over terms of ln(1 + idf * tf/|D|)", |i, p| nallapati(i, p, 5)),
    text("nallapati-6", "sum over terms of ln(1 + tf/|D| * |C|/cf)", |i, p| nallapati(i, p, 6)),
    summed("tf", "frequencies of the query's terms", |i, p| words(i, p, TextKind::Tf(stat(p)?))),
    summed("idf", "idf of the matched terms", |i, p| words(i, p, TextKind::Idf(stat(p)?))),
    summed("tf-idf", "tf * idf of the query's terms", |i, p| {
        words(i, p, TextKind::TfIdf(stat(p)?))
    }),
    weighed("bm25", "Okapi BM25", &[FIELD, K1, B]),
    weighed("cosine", "cosine of tf-idf vectors (lnc.ltc)", &[FIELD]),
    weighed("dirichlet", "ln P(Q|D), Dirichlet smoothing", &[FIELD, MU]),
    weighed("jelinek-mercer", "ln P(Q|D), Jelinek-Mercer smoothing", &[FIELD, LAMBDA]),
    weighed("absolute-discount", "ln P(Q|D), absolute discounting", &[FIELD, DELTA]),
    text("matched", "different terms of the query that occur", |i, p| {
        words(i, p, TextKind::Matched)
    }),
    text("matched-ratio", "their share of the query's different terms", |i, p| {
        words(i, p, TextKind::MatchedRatio)
    }),
    text(
        "window",
        "words in the smallest window with all matched terms; 0 without a match",
        |i, p| near(i, p, ProximityKind::Window),
    ),
    text(
        "pair-distance",
        "smallest distance of neighbours of the query; missing without a pair",
        |i, p| near(i, p, ProximityKind::PairDistance),
    ),
    text("pair-proximity", "sum over neighbours of the query of 1 / their distance", |i, p| {
        near(i, p, ProximityKind::PairProximity)
    }),
    text("phrase", "times that the query occurs word for word", |i, p| {
        near(i, p, ProximityKind::Phrase)
    }),
    text("length", "terms", |i, p| column(i, p, Stat::Length)),
    text("distinct", "different terms", |i, p| column(i, p, Stat::Distinct)),
    text("entropy", "entropy of the terms in bits", |i, p| column(i, p, Stat::Entropy)),
    text("stop-share", "share of words that were removed", build_stop_share),
    of_query("query-length", "terms of the query", |i, _| Ok(asked(i, QueryKind::Length))),
    with_choices(
        FeatureInfo {
            params: &[STAT],
            ..of_query("query-idf", "idf of the query's terms", |i, p| {
                Ok(asked(i, QueryKind::Idf(stat(p)?)))
            })
        },
        "stat",
        &["sum", "max", "mean"],
    ),
    of_query("query-scope", "-ln of the share of documents with a term of the query", |i, _| {
        Ok(asked(i, QueryKind::Scope))
    }),
    of_query("query-clarity", "simplified clarity score (He and Ounis)", |i, _| {
        Ok(asked(i, QueryKind::Clarity))
    }),
    with_choices(
        of_kind(
            "url",
            "parts of the path, letters or slashes of an address",
            FieldKind::Url,
            &[
                URL,
                ParamInfo { name: "part", doc: "depth, length or slashes, or *", default: "depth" },
            ],
            build_url,
        ),
        "part",
        &["depth", "length", "slashes"],
    ),
    of_kind("in-links", "documents that link to it", FieldKind::Links, &[LINKS], |i, p| {
        linked(i, p, LinkKind::In)
    }),
    of_kind("out-links", "documents that it links to", FieldKind::Links, &[LINKS], |i, p| {
        linked(i, p, LinkKind::Out)
    }),
    of_kind(
        "pagerank",
        "PageRank times the number of documents",
        FieldKind::Links,
        &[
            LINKS,
            ParamInfo { name: "damping", doc: "share of those who follow links", default: "0.85" },
        ],
        build_pagerank,
    ),
    of_kind("hub", "hub score (HITS)", FieldKind::Links, &[LINKS], |i, p| {
        linked(i, p, LinkKind::Hub)
    }),
    of_kind("authority", "authority score (HITS)", FieldKind::Links, &[LINKS], |i, p| {
        linked(i, p, LinkKind::Authority)
    }),
    with_choices(
        of_kind(
            "number",
            "a number field: popularity, clicks, dwell time, a year",
            FieldKind::Number,
            &[
                NUMBER,
                ParamInfo { name: "log", doc: "ln(1 + |x|) with the sign of x", default: "false" },
            ],
            build_number,
        ),
        "log",
        &["false", "true"],
    ),
    of_kind(
        "recency",
        "1 today, halved with each half-life of age",
        FieldKind::Date,
        &[
            DATE,
            ParamInfo { name: "half_life", doc: "days", default: "365" },
            ParamInfo { name: "now", doc: "seconds since 1970", default: "the newest date" },
        ],
        build_recency,
    ),
    of_kind(
        "category-match",
        "1 if the category is the query's, or all its words are in the query",
        FieldKind::Category,
        &[CATEGORY],
        build_category,
    ),
    not_default(of_kind(
        "rocchio",
        "cosine with the centroid of a class",
        FieldKind::Category,
        &[CATEGORY, ParamInfo { name: "class", doc: "the class, or * for each", default: "" }],
        build_rocchio,
    )),
    not_default(of_kind(
        "knn",
        "share of a class among the nearest other documents",
        FieldKind::Category,
        &[
            CATEGORY,
            ParamInfo { name: "class", doc: "the class, or * for each", default: "" },
            ParamInfo { name: "k", doc: "neighbours", default: "20" },
        ],
        build_knn,
    )),
    not_default(FeatureInfo {
        params: &[FILE, ParamInfo { name: "value", doc: "score or rank", default: "score" }],
        ..of_query("run", "score or rank in a run of another system", build_run)
    }),
    not_default(FeatureInfo {
        params: &[FILE],
        ..of_query("dense", "cosine of mean word vectors from a text file", build_dense)
    }),
];

/// The table's entry of a name.
pub(super) fn find(name: &str) -> Result<&'static FeatureInfo, SpecError> {
    FEATURES.iter().find(|info| info.name == name).ok_or_else(|| {
        let known: Vec<&str> = FEATURES.iter().map(|info| info.name).collect();
        SpecError::unknown("feature", name, &known)
    })
}

fn text_field(index: &Index, params: &Params<'_>) -> Result<TextField, SearchError> {
    index.text_field(params.text("field").unwrap_or("all"))
}

fn stat(params: &Params<'_>) -> Result<Summary, SpecError> {
    params.choice("stat", &Summary::ALL, Summary::Sum)
}

/// The field that a spec names; without one, the only field of the kind.
fn field<'p>(
    index: &'p Index,
    params: &'p Params<'_>,
    kind: FieldKind,
) -> Result<&'p str, SearchError> {
    if let Some(name) = params.text("field") {
        return Ok(name);
    }
    let mut fields = index.schema().of_kind(kind);
    match (fields.next(), fields.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(params
            .bad("field", "nothing", &format!("one of the {} fields", kind.name()))
            .into()),
    }
}

fn nallapati(index: &Index, params: &Params<'_>, n: u32) -> Result<Box<dyn Feature>, SearchError> {
    words(index, params, TextKind::Nallapati(n))
}

fn words(
    index: &Index,
    params: &Params<'_>,
    kind: TextKind,
) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(TextFeature { text_field: text_field(index, params)?, kind }))
}

fn near(
    index: &Index,
    params: &Params<'_>,
    kind: ProximityKind,
) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(Proximity { text_field: text_field(index, params)?, kind }))
}

fn asked(index: &Index, kind: QueryKind) -> Box<dyn Feature> {
    Box::new(QueryFeature { text_field: index.all(), kind })
}

fn column(index: &Index, params: &Params<'_>, stat: Stat) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(Column(index.stat(text_field(index, params)?, stat)?)))
}

fn build_weight(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let weighting = Weighting::read(params)?;
    Ok(Box::new(WeightFeature::new(index, text_field(index, params)?, weighting)?))
}

fn build_stop_share(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let text_field = text_field(index, params)?;
    let (terms, words) =
        (index.stat(text_field, Stat::Length)?, index.stat(text_field, Stat::Words)?);
    let share = |(terms, words): (&f64, &f64)| if *words > 0.0 { 1.0 - terms / words } else { 0.0 };
    Ok(Box::new(Column(std::sync::Arc::new(terms.iter().zip(words.iter()).map(share).collect()))))
}

fn build_url(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let parts = crate::index::URL_STATS.map(|part| (part, part));
    let part = params.choice("part", &parts, "depth")?;
    let field = field(index, params, FieldKind::Url)?;
    Ok(Box::new(Column(index.url_values(field, part)?)))
}

fn linked(
    index: &Index,
    params: &Params<'_>,
    kind: LinkKind,
) -> Result<Box<dyn Feature>, SearchError> {
    let field = field(index, params, FieldKind::Links)?;
    Ok(Box::new(Column(link_column(index, field, kind)?)))
}

fn build_pagerank(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let is_share = |v: f64| (0.0..1.0).contains(&v);
    let damping = params.f64_in("damping", 0.85, is_share, "a number from 0 to below 1")?;
    linked(index, params, LinkKind::PageRank { damping })
}

fn build_number(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let values = index.values(field(index, params, FieldKind::Number)?, FieldKind::Number)?;
    if !params.bool("log", false)? {
        return Ok(Box::new(Column(values)));
    }
    let logs = values.iter().map(|&value| signed_log(value)).collect();
    Ok(Box::new(Column(std::sync::Arc::new(logs))))
}

fn build_recency(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let values = index.values(field(index, params, FieldKind::Date)?, FieldKind::Date)?;
    let newest = values.iter().copied().filter(|v| !v.is_nan()).fold(f64::MIN, f64::max);
    let now = params.f64("now", newest)?;
    let days = params.f64_in("half_life", 365.0, |v| v > 0.0, "a number of days above 0")?;
    let column = values.iter().map(|&seconds| recency(seconds, now, days)).collect();
    Ok(Box::new(Column(std::sync::Arc::new(column))))
}

fn build_category(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let field = field(index, params, FieldKind::Category)?;
    let labels = index.labels(field, FieldKind::Category)?;
    Ok(Box::new(CategoryMatch::new(index, field, labels)))
}

fn build_rocchio(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    classified(index, params, Classifier::Rocchio)
}

fn build_knn(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let k = params.u32("k", 20)?;
    if k == 0 {
        return Err(params.bad("k", "0", "a whole number from 1 on").into());
    }
    classified(index, params, Classifier::Knn { k: k as usize })
}

fn classified(
    index: &Index,
    params: &Params<'_>,
    classifier: Classifier,
) -> Result<Box<dyn Feature>, SearchError> {
    let field = field(index, params, FieldKind::Category)?;
    let class = params.text("class").unwrap_or_default();
    let labels = index.labels(field, FieldKind::Category)?;
    if !(0..labels.len() as u32).any(|label| labels.name(label) == class) {
        let expected = format!("a value of the field `{field}`, or * for each");
        return Err(params.bad("class", class, &expected).into());
    }
    Ok(Box::new(Column(class_column(index, field, class, classifier)?)))
}

fn build_run(_: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    let ranks = params.choice("value", &[("score", false), ("rank", true)], false)?;
    Ok(Box::new(RunFeature::open(file(params)?, ranks)?))
}

fn build_dense(index: &Index, params: &Params<'_>) -> Result<Box<dyn Feature>, SearchError> {
    Ok(Box::new(Dense::open(index, file(params)?)?))
}

fn file<'p>(params: &'p Params<'_>) -> Result<&'p str, SpecError> {
    params.text("file").ok_or_else(|| params.bad("file", "nothing", "the name of a file"))
}
