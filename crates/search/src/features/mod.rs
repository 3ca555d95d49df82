//! Features: numbers that describe a query and a document, the input of a model that re-ranks.
//!
//! A feature is a spec: `bm25(field=title)`, `pagerank`, `recency(field=date, half_life=30)`. The
//! spec is the name of the column in data files and models. So a model itself names the features to
//! compute, and training and serving run the same code ([`Extractor`]). `field=*` stands
//! for every suitable field, `stat=*` for every summary; [`FeatureSet`] expands them.
//!
//! Each feature has a [`FeatureDef`] in the file of its formula, and a line in [`FEATURES`]. A
//! program can add custom features to an index ([`Index::with_feature`]): everything that uses this
//! index, for training or for serving, computes them with the same code, and a model that names a
//! feature which the index does not know is rejected.

mod bm25f;
mod category;
mod classes;
mod column;
mod def;
mod dense;
mod extract;
mod fields;
mod frequency;
mod links;
mod nallapati;
mod proximity;
mod query;
mod run;
mod set;
mod site;
mod statistics;
mod summary;
mod url_cosine;
mod weight;

pub use def::{FeatureDef, FeatureParams};
pub use extract::{Extractor, FeatureRows};
pub use set::{DEFAULT_CANDIDATES, FEATURE_VERSION, FeatureSet};
pub use statistics::{CandidateStatistics, Needs};

use crate::error::SearchError;
#[cfg(doc)]
use crate::index::Index;
use crate::retrieve::features as weightings;
use summary::TermSummary;

/// All features, in the order of the columns of the default set.
pub static FEATURES: &[&FeatureDef] = &[
    &nallapati::NALLAPATI_1,
    &nallapati::NALLAPATI_2,
    &nallapati::NALLAPATI_3,
    &nallapati::NALLAPATI_4,
    &nallapati::NALLAPATI_5,
    &nallapati::NALLAPATI_6,
    &frequency::TF,
    &frequency::IDF,
    &frequency::TF_IDF,
    &weightings::BM25,
    &bm25f::BM25F,
    &weightings::COSINE,
    &weightings::DIRICHLET,
    &weightings::JELINEK_MERCER,
    &weightings::ABSOLUTE_DISCOUNT,
    &frequency::MATCHED,
    &frequency::MATCHED_RATIO,
    &proximity::WINDOW,
    &proximity::PAIR_DISTANCE,
    &proximity::PAIR_PROXIMITY,
    &proximity::PHRASE,
    &column::LENGTH,
    &column::DISTINCT,
    &column::ENTROPY,
    &column::STOP_SHARE,
    &query::QUERY_LENGTH,
    &query::QUERY_IDF,
    &query::QUERY_SCOPE,
    &query::QUERY_CLARITY,
    &query::QUERY_NUMBER,
    &column::URL,
    &url_cosine::URL_COSINE,
    &site::SITE,
    &links::IN_LINKS,
    &links::IN_LINK_AGE,
    &links::OUT_LINKS,
    &links::PAGERANK,
    &links::HUB,
    &links::AUTHORITY,
    &column::NUMBER,
    &column::RECENCY,
    &category::CATEGORY_MATCH,
    &category::CATEGORY,
    &classes::ROCCHIO,
    &classes::KNN,
    &classes::CLASS_SCORE,
    &run::RUN,
    &dense::DENSE,
];

/// A feature prepared for one index: computes a number for each candidate of a query.
///
/// [`FeatureDef`] builds a feature from a spec.
pub trait Feature: Send + Sync {
    /// The statistics that must be collected; none by default.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// The query fields that the feature reads, such as a language; none by default. The feature
    /// set records those that the training queries have. When a model ranks, there is a warning for
    /// queries without them.
    fn query_fields(&self) -> Vec<String> {
        Vec::new()
    }

    /// Writes the value of each candidate to `out`, in the order of the candidates in `statistics`.
    /// NaN is a missing value, and so is a value that is not written.
    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError>;
}
