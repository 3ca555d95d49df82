//! Explanation report: why a list stands as it does.
//!
//! Of one query: what each feature adds to each document's score, which features tell the documents of
//! the list apart, and why one document stands above another. Of a whole data set: how much each feature
//! moves scores, over a seeded sample of queries. Of a feature: how scores go with it. The maths of the
//! contributions is the model crate's ([`rankwright_model::Explainer`]); here they are chosen, put
//! into order and shown as a page, as text and as JSON.

mod list;
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
pub use self::query::{Contribution, ExplainedDocument, PairPart, QueryPart, Share};
pub use self::summary::{FeatureEffect, FeaturePoint, EffectSummary};

use crate::error::ReportError;
use crate::known::KnownNames;

/// What is to be explained.
#[derive(Debug, Clone, Copy)]
pub struct ExplanationRequest<'a> {
    /// The model, and what it is called.
    pub model: (&'a str, &'a Model),
    /// The data, and what it is called.
    pub data: (&'a str, &'a Dataset),
    /// Documents that explanations are relative to, and what they are called.
    pub background: Option<(&'a str, &'a Dataset)>,
    /// The id of a query; a sample of the whole data set without it.
    pub query: Option<&'a str>,
    /// Documents of the query, by id or row number; all of them where none is named.
    pub documents: &'a [String],
    /// Two documents of the query: why is the first above the second?
    pub pair: Option<[&'a str; 2]>,
    /// Features whose dependence is asked for, by name.
    pub dependence: &'a [String],
    /// How many documents' own curves go with each of them.
    pub curves: usize,
    /// Seed, orders of exchange for nets, and whether unknown features are passed over.
    pub options: ExplainOptions,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct RankingExplanation {
    /// What the model is called.
    pub model: String,
    /// What the data is called.
    pub data: String,
    /// What contributions are relative to.
    pub relative_to: String,
    /// Whether contributions were estimated by sampling rather than computed exactly.
    pub sampled: bool,
    /// The query that was asked for.
    pub query: Option<QueryPart>,
    /// The whole data set, where no query was asked for.
    pub summary: Option<EffectSummary>,
    /// How scores go with the features that were asked for.
    pub dependence: Vec<Dependence>,
}

/// Explains what is asked.
pub fn explain(request: &ExplanationRequest<'_>) -> Result<RankingExplanation, ReportError> {
    if request.query.is_none() && (request.pair.is_some() || !request.documents.is_empty()) {
        return Err(ReportError::DocumentsWithoutQuery);
    }
    let (explainer, relative_to) = explainer(request)?;
    let query = match request.query {
        Some(id) => Some(QueryPart::new(request, &explainer, id)?),
        None => None,
    };
    let summary = match request.query {
        Some(_) => None,
        None => Some(EffectSummary::new(request, &explainer)?),
    };
    let of_feature = |name: &String| {
        let (features, how) = (&request.model.1.header().features, DependenceOptions::default());
        let Some(feature) = features.column(name) else {
            let known: Vec<String> = features.iter().map(|name| name.into_owned()).collect();
            let known = KnownNames::around(name, known.iter().map(String::as_str));
            return Err(ReportError::UnknownFeature { feature: name.clone(), known });
        };
        let how = DependenceOptions { curves: request.curves, ..how };
        Ok(request.model.1.dependence(request.data.1, feature, how, request.options)?)
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

/// The explainer, and what its explanations are relative to.
fn explainer<'a>(request: &ExplanationRequest<'a>) -> Result<(Explainer<'a>, String), ReportError> {
    let model = request.model.1;
    if let Some((name, background)) = request.background {
        let found = Explainer::with_background(model, background, request.options)?;
        return Ok((found, format!("the documents of {name}")));
    }
    match Explainer::new(model, request.options) {
        Ok(found) => Ok((found, without_background(model).to_owned())),
        // The data at hand is the next best.
        Err(ExplainError::NoCounts { .. } | ExplainError::NoBackground) => {
            let found = Explainer::with_background(model, request.data.1, request.options)?;
            Ok((found, format!("the documents of {}", request.data.0)))
        }
        Err(error) => Err(error.into()),
    }
}

fn without_background(model: &Model) -> &'static str {
    match model.body() {
        ModelBody::Linear(_) => "a document of zeros",
        ModelBody::Net(_) => "a document whose transformed features are 0",
        ModelBody::Blend(_) => "what each member of the blend starts from",
        _ => "the rows that the trees were trained on",
    }
}

/// Whether a net takes part that is no line over its inputs.
fn is_sampled(model: &Model) -> bool {
    match model.body() {
        ModelBody::Net(net) => {
            let mut layers = net.layers().iter();
            net.line().is_none() || layers.any(|layer| layer.activation() != Activation::None)
        }
        ModelBody::Blend(blend) => blend.members().iter().any(|(_, member)| is_sampled(member)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
