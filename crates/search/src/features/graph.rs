//! The links of an index as a graph, and each document's standing in it.
//!
//! Nodes are the living documents in the order of their ids, so that nothing depends on how the index
//! is cut. Links to documents that are not there are left out. Computed once, when features are made
//! ready.

use std::sync::Arc;

use crate::error::SearchError;
use crate::index::Index;
use crate::links::{Graph, HitsOptions, PageRankOptions, hits, pagerank};
use crate::schema::FieldKind;

/// What is told of a document's place in the graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LinkKind {
    In,
    Out,
    PageRank { damping: f64 },
    Hub,
    Authority,
}

/// A column of one number for each document.
pub(super) fn link_column(
    index: &Index,
    field: &str,
    kind: LinkKind,
) -> Result<Arc<Vec<f64>>, SearchError> {
    let graph = graph_of(index, field)?;
    let values: Vec<f64> = match kind {
        LinkKind::In => (0..graph.nodes()).map(|node| graph.in_degree(node) as f64).collect(),
        LinkKind::Out => (0..graph.nodes()).map(|node| graph.out_degree(node) as f64).collect(),
        LinkKind::PageRank { damping } => {
            // Times the number of documents, so that the mean is 1 in any collection.
            let options = PageRankOptions { damping, ..PageRankOptions::default() };
            let nodes = graph.nodes() as f64;
            pagerank(&graph, options).into_iter().map(|share| share * nodes).collect()
        }
        LinkKind::Hub => hits(&graph, HitsOptions::default()).hubs,
        LinkKind::Authority => hits(&graph, HitsOptions::default()).authorities,
    };
    let mut column = vec![f64::NAN; index.slots()];
    for (&doc, value) in index.ids()?.sorted().iter().zip(values) {
        column[doc as usize] = value;
    }
    Ok(Arc::new(column))
}

fn graph_of(index: &Index, field: &str) -> Result<Graph, SearchError> {
    let labels = index.labels(field, FieldKind::Links)?;
    let ids = index.ids()?;
    let targets: Vec<Option<u32>> = (0..labels.len() as u32)
        .map(|label| ids.find(labels.name(label)).map(|doc| ids.place(doc)))
        .collect();
    let mut links = Vec::new();
    for (node, &doc) in (0..).zip(ids.sorted()) {
        let to = labels.of(doc).iter().filter_map(|&label| targets[label as usize]);
        links.extend(to.map(|target| (node, target)));
    }
    Graph::new(ids.sorted().len(), links)
        .map_err(|error| SearchError::Request { what: error.to_string(), help: None })
}
