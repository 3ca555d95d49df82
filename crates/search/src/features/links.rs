//! Features of the links between documents: numbers of links, their age, PageRank, hubs and
//! authorities.
//!
//! Nodes are the documents that are not deleted, in the order of their ids, so that values do not
//! depend on the segments of the index. Links to unknown documents are ignored. The values are
//! computed once, when the features are prepared. The age of a link is that of the document that it
//! is in; documents without a date do not count, and a document without dated in-links has no
//! value.

use std::sync::Arc;

use rankwright_spec::{Auto, Spec, choices, params};

use super::Feature;
use super::column::DocumentColumn;
use super::def::{Build, FeatureDef};
use super::fields::{FieldParams, field, field_or_only};
use crate::error::SearchError;
use crate::index::Index;
use crate::links::{Graph, HitsOptions, PageRankOptions, hits, pagerank};
use crate::params::read_params;
use crate::schema::FieldKind;

params! {
    /// Parameters of the feature `pagerank`.
    pub struct PageRankParams {
        field: Auto<String> = Auto::Auto, .., "Field of links; auto: the only one.";
        damping: f64 = 0.85, 0.0..1.0, "Probability that a reader follows a link.";
    }
}

choices! {
    /// The summary over the in-links of a document.
    pub enum AgeSummary {
        /// The mean age.
        Mean = "mean",
        /// The age of the newest link.
        Min = "min",
        /// The age of the oldest link.
        Max = "max",
    }
}

params! {
    /// Parameters of the feature `in-link-age`.
    pub struct InLinkAgeParams {
        field: Auto<String> = Auto::Auto, .., "Field of links; auto: the only one.";
        date: Auto<String> = Auto::Auto, .., "Date field of the linking documents; auto: the only one.";
        stat: AgeSummary = AgeSummary::Mean, .., "Mean age, or that of the newest or the oldest link.";
        now: Auto<f64> = Auto::Auto, .., "Seconds since 1970; auto: the newest date.";
    }
}

/// A definition of a feature of a field of links without further parameters.
const fn of_links(build: Build) -> FeatureDef {
    FeatureDef { field: Some(FieldKind::Links), ..FeatureDef::of::<FieldParams>(build) }
}

pub(super) static IN_LINKS: FeatureDef = FeatureDef {
    name: "in-links",
    help: "Number of documents that link to the document.",
    example: "in-links(field=links)",
    ..of_links(|index, spec| {
        build(index, spec, |graph| for_each_node(graph, |node| graph.in_degree(node) as f64))
    })
};

pub(super) static OUT_LINKS: FeatureDef = FeatureDef {
    name: "out-links",
    help: "Number of documents that the document links to.",
    example: "out-links(field=links)",
    ..of_links(|index, spec| {
        build(index, spec, |graph| for_each_node(graph, |node| graph.out_degree(node) as f64))
    })
};

pub(super) static PAGERANK: FeatureDef = FeatureDef {
    name: "pagerank",
    help: "PageRank times the number of documents, so that the mean is 1 in any collection.",
    example: "pagerank(field=links, damping=0.9)",
    field: Some(FieldKind::Links),
    ..FeatureDef::of::<PageRankParams>(|index, spec| {
        let params: PageRankParams = read_params(spec)?;
        let field = field_or_only(index, spec, &params.field, FieldKind::Links)?;
        let graph = graph_of(index, &field)?;
        let options = PageRankOptions { damping: params.damping, ..PageRankOptions::default() };
        let nodes = graph.nodes() as f64;
        let values = pagerank(&graph, options).into_iter().map(|share| share * nodes).collect();
        column(index, values)
    })
};

pub(super) static HUB: FeatureDef = FeatureDef {
    name: "hub",
    help: "Hub score (HITS).",
    example: "hub(field=links)",
    ..of_links(|index, spec| build(index, spec, |graph| hits(graph, HitsOptions::default()).hubs))
};

pub(super) static AUTHORITY: FeatureDef = FeatureDef {
    name: "authority",
    help: "Authority score (HITS).",
    example: "authority(field=links)",
    ..of_links(|index, spec| {
        build(index, spec, |graph| hits(graph, HitsOptions::default()).authorities)
    })
};

pub(super) static IN_LINK_AGE: FeatureDef = FeatureDef {
    name: "in-link-age",
    help: "Age in days of the documents that link to the document.",
    example: "in-link-age(field=links, date=date, stat=min)",
    field: Some(FieldKind::Links),
    is_default: false,
    ..FeatureDef::of::<InLinkAgeParams>(|index, spec| {
        let params: InLinkAgeParams = read_params(spec)?;
        let field = field_or_only(index, spec, &params.field, FieldKind::Links)?;
        let date = field_or_only(index, spec, &params.date, FieldKind::Date)?;
        let graph = graph_of(index, &field)?;
        let dates = index.values(&date, FieldKind::Date)?;
        let dates: Vec<f64> =
            index.ids()?.sorted().iter().map(|&doc| dates[doc as usize]).collect();
        let newest = dates.iter().copied().filter(|date| !date.is_nan()).fold(f64::MIN, f64::max);
        let now = params.now.or(newest);
        column(index, for_each_node(&graph, |node| age(&graph, node, &dates, now, params.stat)))
    })
};

/// The summary of the ages in days of the dated documents that link to a node; NaN without any.
/// `dates` has the date of each node in seconds. Dates after `now` count as `now`.
fn age(graph: &Graph, node: usize, dates: &[f64], now: f64, stat: AgeSummary) -> f64 {
    let dates = graph.in_links(node).iter().map(|&source| dates[source as usize]);
    let ages = dates.filter(|date| !date.is_nan()).map(|date| ((now - date) / 86_400.0).max(0.0));
    let ages: Vec<f64> = ages.collect();
    match stat {
        _ if ages.is_empty() => f64::NAN,
        AgeSummary::Mean => ages.iter().sum::<f64>() / ages.len() as f64,
        AgeSummary::Min => ages.iter().copied().fold(f64::INFINITY, f64::min),
        AgeSummary::Max => ages.iter().copied().fold(0.0, f64::max),
    }
}

/// A value for each node.
fn for_each_node(graph: &Graph, value: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..graph.nodes()).map(value).collect()
}

/// A feature with a value for each node of the graph.
fn build(
    index: &Index,
    spec: &Spec,
    values: fn(&Graph) -> Vec<f64>,
) -> Result<Box<dyn Feature>, SearchError> {
    let graph = graph_of(index, &field(index, spec, FieldKind::Links)?)?;
    column(index, values(&graph))
}

/// Values of the nodes as a column of the documents.
fn column(index: &Index, values: Vec<f64>) -> Result<Box<dyn Feature>, SearchError> {
    let mut column = vec![f64::NAN; index.max_doc()];
    for (&doc, value) in index.ids()?.sorted().iter().zip(values) {
        column[doc as usize] = value;
    }
    Ok(Box::new(DocumentColumn(Arc::new(column))))
}

/// The links in a field as a graph; a node is the position of a document among the sorted ids.
fn graph_of(index: &Index, field: &str) -> Result<Graph, SearchError> {
    let links_field = index.field_values(field, FieldKind::Links)?;
    let ids = index.ids()?;
    // The node of each linked id; `None` for ids of unknown documents.
    let targets: Vec<Option<u32>> =
        links_field.texts().map(|id| ids.find(id).map(|doc| ids.rank(doc))).collect();
    let mut links = Vec::new();
    for (node, &doc) in (0..).zip(ids.sorted()) {
        let linked = links_field.of(doc).iter().filter_map(|&value| targets[value as usize]);
        links.extend(linked.map(|target| (node, target)));
    }
    Graph::new(ids.sorted().len(), links)
        .map_err(|_| SearchError::Internal { invariant: "links point to documents of the index" })
}
