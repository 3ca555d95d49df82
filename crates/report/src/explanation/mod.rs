//! Explanation report: the reasons for the order of a ranked list.
//!
//! For one query: the contribution of each feature to each document's score (Shapley values), the
//! features that distinguish the documents of the list, and the reasons why one document is ranked
//! above another. For a whole data set: the size of each feature's contributions, over a seeded
//! sample of queries. For a feature: the partial dependence of scores on its value. The
//! contributions are computed by the model crate ([`rankwright_model::Explainer`]); this module
//! selects and sorts them and shows them as a page, as text and as JSON.

mod list;
#[cfg(feature = "charts")]
mod page;
mod query;
mod result;
mod summary;
mod text;

use rankwright_data::Dataset;
use rankwright_model::{
    Activation, Dependence, DependenceOptions, ExplainError, ExplainOptions, Explainer, Model,
    ModelBody,
};

pub use self::list::Effect;
pub use self::query::{
    Contribution, ExplainedDocument, PairContribution, PairExplanation, QueryExplanation,
};
pub use self::summary::{EffectSummary, FeatureEffect, FeaturePoint};

use crate::error::ReportError;
use crate::known::KnownNames;

/// A model and data, and the choice of scores to explain.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ExplanationRequest<'a> {
    /// Name of the model, and the model.
    pub model: (&'a str, &'a Model),
    /// Name of the data, and the data.
    pub data: (&'a str, &'a Dataset),
    /// Name and documents of the background data that explanations are relative to. `None`: the
    /// background that the model itself has, such as the row counts of its leaves, or else the
    /// data.
    pub background: Option<(&'a str, &'a Dataset)>,
    /// The id of the query to explain; if not given, a sample of the whole data set is explained.
    pub query: Option<&'a str>,
    /// Documents of the query to show, by id or row number; empty for all documents.
    pub documents: &'a [String],
    /// Two documents of the query; explains why the first is ranked above the second.
    pub pair: Option<[&'a str; 2]>,
    /// Names of the features whose partial dependence is computed.
    pub dependence: &'a [String],
    /// Number of documents whose individual curves are added to each partial dependence.
    pub curves: usize,
    /// Seed, number of permutations for nets, and whether unknown features are ignored.
    pub options: ExplainOptions,
}

impl<'a> ExplanationRequest<'a> {
    /// Explains a sample of the whole data set; model and data each with a name.
    pub fn new(model: (&'a str, &'a Model), data: (&'a str, &'a Dataset)) -> Self {
        Self {
            model,
            data,
            background: None,
            query: None,
            documents: &[],
            pair: None,
            dependence: &[],
            curves: 0,
            options: ExplainOptions::default(),
        }
    }

    /// Sets the name and the documents of the background data; `None` for the model's own
    /// background, or else the data.
    #[must_use]
    pub fn background(mut self, background: impl Into<Option<(&'a str, &'a Dataset)>>) -> Self {
        self.background = background.into();
        self
    }

    /// Sets the query to explain, by its id; `None` for a sample of the whole data set.
    #[must_use]
    pub fn query(mut self, query: impl Into<Option<&'a str>>) -> Self {
        self.query = query.into();
        self
    }

    /// Sets the documents of the query to show, by id or row number; empty for all documents.
    #[must_use]
    pub fn documents(mut self, documents: &'a [String]) -> Self {
        self.documents = documents;
        self
    }

    /// Sets two documents of the query: explains why the first is ranked above the second.
    #[must_use]
    pub fn pair(mut self, pair: impl Into<Option<[&'a str; 2]>>) -> Self {
        self.pair = pair.into();
        self
    }

    /// Sets the features whose partial dependence is computed, by their names.
    #[must_use]
    pub fn dependence(mut self, features: &'a [String]) -> Self {
        self.dependence = features;
        self
    }

    /// Sets the number of documents whose individual curves are added to each partial dependence.
    #[must_use]
    pub fn curves(mut self, curves: usize) -> Self {
        self.curves = curves;
        self
    }

    /// Sets the options of explanations.
    #[must_use]
    pub fn options(mut self, options: ExplainOptions) -> Self {
        self.options = options;
        self
    }
}

/// An explanation of the order of documents: for one query or a whole data set.
#[derive(Debug, Clone)]
pub struct RankingExplanation {
    /// Name of the model.
    pub model: String,
    /// Name of the data.
    pub data: String,
    /// Description of the background that contributions are relative to.
    pub relative_to: String,
    /// Whether contributions were estimated by sampling rather than computed exactly.
    pub sampled: bool,
    /// The explanation of the requested query.
    pub query: Option<QueryExplanation>,
    /// The effects over the whole data set, if no query was requested.
    pub summary: Option<EffectSummary>,
    /// The partial dependence of scores on each of the requested features.
    pub dependence: Vec<Dependence>,
}

/// Computes the requested explanations.
pub fn explain(request: &ExplanationRequest<'_>) -> Result<RankingExplanation, ReportError> {
    if request.query.is_none() && (request.pair.is_some() || !request.documents.is_empty()) {
        return Err(ReportError::DocumentsWithoutQuery);
    }
    let (explainer, relative_to) = explainer(request)?;
    let query = match request.query {
        Some(id) => Some(QueryExplanation::new(request, &explainer, id)?),
        None => None,
    };
    let summary = match request.query {
        Some(_) => None,
        None => Some(EffectSummary::new(request, &explainer)?),
    };
    let of_feature = |name: &String| {
        let features = &request.model.1.header().features;
        let Some(feature) = features.column(name) else {
            let known: Vec<String> = features.iter().map(|name| name.into_owned()).collect();
            let known = KnownNames::similar_to(name, known.iter().map(String::as_str));
            return Err(ReportError::UnknownFeature { feature: name.clone(), known });
        };
        let (model, data) = (request.model.1, request.data.1);
        let dependence_options = DependenceOptions::new().curves(request.curves);
        Ok(model.dependence(data, feature, dependence_options, request.options)?)
    };
    Ok(RankingExplanation {
        model: request.model.0.to_owned(),
        data: request.data.0.to_owned(),
        relative_to,
        sampled: is_sampled(request.model.1),
        query,
        summary,
        dependence: request.dependence.iter().map(of_feature).collect::<Result<_, _>>()?,
    })
}

/// The explainer, and a description of the background that its explanations are relative to.
fn explainer<'a>(request: &ExplanationRequest<'a>) -> Result<(Explainer<'a>, String), ReportError> {
    let model = request.model.1;
    if let Some((name, background)) = request.background {
        let explainer = Explainer::with_background(model, background, request.options)?;
        return Ok((explainer, format!("the documents of {name}")));
    }
    match Explainer::new(model, request.options) {
        Ok(explainer) => Ok((explainer, built_in_background(model).to_owned())),
        // If the trees store no row counts at their leaves, or a net has no background, the data
        // itself is the background.
        Err(ExplainError::NoCounts { .. } | ExplainError::NoBackground) => {
            let explainer = Explainer::with_background(model, request.data.1, request.options)?;
            Ok((explainer, format!("the documents of {}", request.data.0)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The background of a model for which no background data is given.
fn built_in_background(model: &Model) -> &'static str {
    match model.body() {
        ModelBody::Linear(_) => "a document of zeros",
        ModelBody::Net(_) => "a document whose transformed features are 0",
        ModelBody::Blend(_) => "the background of each member of the blend",
        _ => "the rows that the trees were trained on",
    }
}

/// Whether contributions are estimated by sampling: if the model contains a net that is not linear
/// in its inputs.
fn is_sampled(model: &Model) -> bool {
    match model.body() {
        ModelBody::Net(net) => {
            let mut layers = net.layers().iter();
            net.linear_weights().is_none()
                || layers.any(|layer| layer.activation() != Activation::None)
        }
        ModelBody::Blend(blend) => blend.members().iter().any(|(_, member)| is_sampled(member)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
