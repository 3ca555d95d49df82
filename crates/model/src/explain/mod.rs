//! Explanations: the contribution of each feature to a document's score.
//!
//! `score = base + contribution of feature 1 + contribution of feature 2 + ...`, where
//! contributions are Shapley values (Shapley 1953; Lundberg and Lee, *A unified approach to
//! interpreting model predictions*, 2017): the mean change of the expected score when the feature
//! becomes known, over all orders in which features may become known. The base is the expected
//! score of a document of which nothing is known.
//!
//! | model | method | expected score over |
//! |---|---|---|
//! | trees | exact, `trees.rs` | the training rows at the leaves, or background documents |
//! | linear | exact, `linear.rs` | background documents, or a document of zeros |
//! | net | sampled by random orders of features, `net.rs` | background documents, which must be given |
//! | net of one layer | exact, `net.rs` | background documents, or inputs of zero |
//! | blend | the methods of its members, `blend.rs` | as for the members |
//!
//! The base and the contributions sum to the score up to rounding: within 1e-9 of the size of the
//! terms. Explanations do not depend on the number of threads. A query without documents gives an
//! empty explanation.

mod blend;
mod dependence;
mod error;
mod linear;
mod net;
mod paths;
mod quadrature;
mod table;
mod trees;

#[cfg(test)]
mod tests;

use std::ops::Range;

use rankwright_data::{Dataset, descending_key};
use rankwright_spec::{SpecError, check_params, params};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::dependence::{Dependence, DependenceOptions};
pub use self::error::ExplainError;

use self::blend::{BlendShap, WeightedMember};
use self::linear::LinearShap;
use self::net::NetShap;
use self::table::{Contributions, UsedFeatureRows, absorb_rounding, sample};
use self::trees::{TreeShap, count_leaf_rows, stored_leaf_rows};
use crate::blend::Blend;
use crate::matching::MatchOptions;
use crate::model::{Model, ModelBody};

/// Maximum number of background documents.
const MAX_BACKGROUND: usize = 10_000;

params! {
    /// Parameters of explanations that are numbers.
    #[derive(Copy, Eq)]
    pub struct ExplainParams {
        permutations: usize = 32, 1..=100_000,
            "Number of permutations that contributions of nets are averaged over, rounded up to a multiple of the number of background documents.";
        seed: u64 = 1, .., "Seed of every sample.";
    }
}

/// Options of explanations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ExplainOptions {
    /// The seed of the choice of background documents and of the random orders of features.
    pub seed: u64,
    /// For nets: number of random orders in which the features of a background document are
    /// exchanged for those of the explained document, each used forwards and backwards; 1 to
    /// 100,000. At most as many background documents are used, and each of them in equally many
    /// orders: the number of orders is rounded up to a multiple of the number of background
    /// documents.
    pub permutations: usize,
    /// The rule that matches the model's features with the columns of data.
    pub matching: MatchOptions,
}

impl Default for ExplainOptions {
    fn default() -> Self {
        let ExplainParams { permutations, seed } = ExplainParams::default();
        ExplainOptions { seed, permutations, matching: MatchOptions::default() }
    }
}

impl ExplainOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of random orders of features for nets.
    #[must_use]
    pub fn permutations(mut self, permutations: usize) -> Self {
        self.permutations = permutations;
        self
    }

    /// Sets the rule that matches the model's features with the columns of data.
    #[must_use]
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Checks the values that have a range.
    fn check(&self) -> Result<(), SpecError> {
        let ExplainOptions { seed, permutations, matching: _ } = *self;
        check_params(&ExplainParams { permutations, seed }, "explain")
    }
}

/// A model prepared for explanations.
///
/// ```
/// use rankwright_data::{Absent, Dataset};
/// use rankwright_model::{ExplainOptions, Explainer, Header, ModelBody, Linear, Model};
///
/// let rows = [[1.0, 2.0, 0.0], [3.0, 4.0, 9.0]];
/// let data = Dataset::from_rows(rows, ["bm25", "clicks", "age"]).query_ids(["a", "a"]).build()?;
/// let linear = Linear::new(0.5, vec![1.0, 10.0, 0.0])?;
/// let header = Header::new(data.features().clone(), Absent::Zero);
/// let model = Model::new(header, ModelBody::Linear(linear))?;
///
/// let explainer = Explainer::with_background(&model, &data, ExplainOptions::default())?;
/// assert_eq!(explainer.features(), [0, 1]); // "age" has no weight
/// let found = explainer.explain(&data, &[0])?;
/// assert_eq!((found[0].base, &found[0].scores[..]), (32.5, &[21.5, 43.5][..]));
/// assert_eq!(found[0].contributions(1), [1.0, 10.0]);
/// assert_eq!(found[0].difference(1, 0), [2.0, 20.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Explainer<'a> {
    model: &'a Model,
    options: ExplainOptions,
    /// The features that the model uses, ascending.
    features: Vec<usize>,
    method: ExplainMethod<'a>,
}

/// The method that explains a kind of model.
#[derive(Debug)]
enum ExplainMethod<'a> {
    Trees(TreeShap<'a>),
    Linear(LinearShap),
    Net(Box<NetShap>),
    Blend(BlendShap<'a>),
}

impl ExplainMethod<'_> {
    /// Explains the documents of one query.
    fn explain(&self, table: &UsedFeatureRows) -> Contributions {
        match self {
            ExplainMethod::Trees(trees) => trees.explain(table),
            ExplainMethod::Linear(linear) => linear.explain(table),
            ExplainMethod::Net(net) => net.explain(table),
            ExplainMethod::Blend(blend) => blend.explain(table),
        }
    }
}

impl<'a> Explainer<'a> {
    /// An explainer that needs no data: trees by the training rows at their leaves, linear models
    /// relative to a document of zeros, nets of one layer to inputs of zero. Fails for deeper nets,
    /// and for trees without row counts.
    pub fn new(model: &'a Model, options: ExplainOptions) -> Result<Explainer<'a>, ExplainError> {
        options.check()?;
        let features = model.used_features();
        let method = method_of(model, &features, None, options)?;
        Ok(Explainer { model, options, features, method })
    }

    /// An explainer relative to background documents; of more than 10,000 rows, 10,000 are chosen
    /// by seed. For trees, the rows at the leaves are those of the background documents.
    pub fn with_background(
        model: &'a Model,
        background: &Dataset,
        options: ExplainOptions,
    ) -> Result<Explainer<'a>, ExplainError> {
        options.check()?;
        if background.rows() == 0 {
            return Err(ExplainError::EmptyBackground);
        }
        let features = model.used_features();
        let (background, matching) = model.prepared(background, options.matching)?;
        let background = &*background;
        let rows = sample(background.rows(), MAX_BACKGROUND, options.seed);
        let table = UsedFeatureRows::gather(background, rows.into_iter(), &matching, &features);
        let method = method_of(model, &features, Some(&table), options)?;
        Ok(Explainer { model, options, features, method })
    }

    /// The features that have contributions, by their numbers in the model, ascending: those that
    /// the model uses.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The names of these features.
    pub fn names(&self) -> Vec<String> {
        let names = &self.model.header().features;
        self.features.iter().map(|feature| names.name(*feature).into_owned()).collect()
    }

    /// The text of a value of one of these features, by its index among them, if it is a category.
    pub fn category_text(&self, index: usize, value: f32) -> Option<String> {
        let feature = *self.features.get(index)?;
        self.model.header().category_text(feature, value).map(str::to_owned)
    }

    /// Explains all documents of some queries of a data set, given by their numbers from 0.
    pub fn explain(
        &self,
        data: &Dataset,
        queries: &[usize],
    ) -> Result<Vec<Explanation>, ExplainError> {
        if let Some(&query) = queries.iter().find(|query| **query >= data.queries()) {
            return Err(ExplainError::NoSuchQuery { query, queries: data.queries() });
        }
        let (data, matching) = self.model.prepared(data, self.options.matching)?;
        let data = &*data;
        let explain_query = |&query: &usize| {
            let rows = data.query_rows(query);
            let table = UsedFeatureRows::gather(data, rows.clone(), &matching, &self.features);
            let Contributions { base, scores, values } = self.method.explain(&table);
            let width = table.width;
            let (feature_values, contributions) = (table.values, values);
            Explanation { query, rows, base, scores, width, feature_values, contributions }
        };
        Ok(queries.par_iter().map(explain_query).collect())
    }
}

/// The method that explains a model, prepared with the features that the model uses.
fn method_of<'a>(
    model: &'a Model,
    features: &[usize],
    background: Option<&UsedFeatureRows>,
    options: ExplainOptions,
) -> Result<ExplainMethod<'a>, ExplainError> {
    match model.body() {
        ModelBody::Trees(ensemble) => {
            let rows = match background {
                Some(table) => count_leaf_rows(ensemble, features, table),
                None => stored_leaf_rows(ensemble)?,
            };
            Ok(ExplainMethod::Trees(TreeShap::new(ensemble, features.to_vec(), &rows)?))
        }
        ModelBody::Linear(linear) => {
            Ok(ExplainMethod::Linear(LinearShap::new(linear, features, background)))
        }
        ModelBody::Net(net) => {
            let orders = options.permutations;
            let net = NetShap::new(net, features, background, orders, options.seed)?;
            Ok(ExplainMethod::Net(Box::new(net)))
        }
        ModelBody::Blend(blend) => blend_method(model, blend, features, background, options),
    }
}

/// The method that explains a blend, prepared with the features that the blend uses.
fn blend_method<'a>(
    model: &'a Model,
    blend: &'a Blend,
    features: &[usize],
    background: Option<&UsedFeatureRows>,
    options: ExplainOptions,
) -> Result<ExplainMethod<'a>, ExplainError> {
    let mut members = Vec::new();
    let members_matched = blend.members().iter().zip(model.member_matchings());
    let members_matched = members_matched.zip(blend.normalisations());
    for (number, (((weight, member), matching), normalise)) in members_matched.enumerate() {
        if *weight == 0.0 {
            continue;
        }
        let used = member.used_features();
        let index_in_blend = |feature: &usize| {
            let column = matching.column(*feature);
            let index = column.and_then(|column| features.binary_search(&column).ok());
            index.ok_or_else(|| ExplainError::Unmatched {
                member: number,
                feature: member.header().features.name(*feature).into_owned(),
            })
        };
        let columns: Vec<usize> = used.iter().map(index_in_blend).collect::<Result<_, _>>()?;
        let background = background.map(|table| table.select(&columns));
        let method = method_of(member, &used, background.as_ref(), options)?;
        members.push(WeightedMember { weight: *weight, normalise: *normalise, method, columns });
    }
    Ok(ExplainMethod::Blend(BlendShap { members }))
}

/// The contributions of features to the scores of one query's documents.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The number of the query, from 0.
    pub query: usize,
    /// The rows of the query's documents in the data.
    pub rows: Range<usize>,
    /// The base, from which every score starts.
    pub base: f64,
    /// The score of each document, in the order of the rows.
    pub scores: Vec<f64>,
    /// Number of features.
    width: usize,
    /// The value of each feature, document after document.
    feature_values: Vec<f32>,
    /// The contribution of each feature, document after document.
    contributions: Vec<f64>,
}

impl Explanation {
    /// Number of documents.
    pub fn documents(&self) -> usize {
        self.scores.len()
    }

    /// The values of a document's features, in the order of [`Explainer::features`]; documents are
    /// numbered from 0, and the result is empty if there is no such document.
    pub fn values(&self, document: usize) -> &[f32] {
        self.feature_values.get(document * self.width..(document + 1) * self.width).unwrap_or(&[])
    }

    /// The contribution of each feature to the score of a document; empty if there is no such
    /// document.
    pub fn contributions(&self, document: usize) -> &[f64] {
        self.contributions.get(document * self.width..(document + 1) * self.width).unwrap_or(&[])
    }

    /// The documents by descending score, those of equal scores in their own order.
    ///
    /// ```
    /// use rankwright_data::{Absent, Dataset};
    /// use rankwright_model::{ExplainOptions, Explainer, Header, Linear, Model, ModelBody};
    ///
    /// let rows = [[1.0, 2.0], [3.0, 1.0]];
    /// let data = Dataset::from_rows(rows, ["bm25", "clicks"]).query_ids(["a", "a"]).build()?;
    /// let header = Header::new(data.features().clone(), Absent::Zero);
    /// let model = Model::new(header, ModelBody::Linear(Linear::new(0.0, vec![1.0, 0.5])?))?;
    /// let list = Explainer::new(&model, ExplainOptions::default())?.explain(&data, &[0])?.remove(0);
    /// assert_eq!(list.order(), [1, 0]);
    /// // Feature 0 adds 2 to the lead of the second document, feature 1 takes 0.5 from it.
    /// assert_eq!(list.why(1, 0), [(0, 2.0), (1, -0.5)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.documents()).collect();
        order.sort_by_key(|document| descending_key(self.scores[*document]));
        order
    }

    /// The reasons why document `a` is above or below document `b`: features (indices of
    /// [`Explainer::features`]) with their shares of the difference of the scores, the largest
    /// first.
    pub fn why(&self, a: usize, b: usize) -> Vec<(usize, f64)> {
        let mut reasons: Vec<(usize, f64)> =
            self.difference(a, b).into_iter().enumerate().collect();
        reasons.sort_by(|(_, x), (_, y)| y.abs().total_cmp(&x.abs()));
        reasons
    }

    /// The contribution of each feature to the score of document `a` minus that of document `b`;
    /// the sum of the contributions is that difference.
    pub fn difference(&self, a: usize, b: usize) -> Vec<f64> {
        let pairs = self.contributions(a).iter().zip(self.contributions(b));
        let mut parts: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        if let (Some(a), Some(b)) = (self.scores.get(a), self.scores.get(b)) {
            absorb_rounding(&mut parts, a - b);
        }
        parts
    }

    /// The mean contribution of each feature over the query's documents. This part of the
    /// contribution is the same for all documents, and so does not change their order.
    pub fn means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.width];
        for document in 0..self.documents() {
            let parts = self.contributions(document);
            means.iter_mut().zip(parts).for_each(|(mean, part)| *mean += part);
        }
        let documents = self.documents().max(1) as f64;
        means.iter_mut().for_each(|mean| *mean /= documents);
        means
    }
}
