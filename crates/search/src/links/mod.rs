//! Links between documents: the graph, and two measures of importance.
//!
//! [`pagerank`] is the share of time that a random surfer spends on a document; [`hits`] tells
//! documents that link to good ones (hubs) from documents that hubs link to (authorities). Both are
//! features of a document that do not depend on the query, so they are computed once per index.

mod graph;
mod hits;
mod pagerank;

pub use graph::{Graph, LinkError};
pub use hits::{Hits, HitsOptions, hits};
pub use pagerank::{PageRankOptions, pagerank};

/// Smallest number of nodes per parallel task: with fewer nodes, distributing the work costs more
/// than the work itself.
const MIN_NODES_PER_TASK: usize = 4096;
