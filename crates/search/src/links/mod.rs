//! Links between documents: the graph, and two measures of importance.
//!
//! [`pagerank`] is the share of time that a random surfer spends on a document; [`hits`] separates
//! documents with good links (hubs) from documents that are linked to (authorities). Both are
//! features of a document that do not depend on the query, so they are computed once per index.

mod graph;
mod hits;
mod pagerank;

pub use graph::{Graph, LinkError};
pub use hits::{Hits, HitsOptions, hits};
pub use pagerank::{PageRankOptions, pagerank};

/// Smallest number of nodes per task: below that, distributing the work costs more than the work.
const MIN_NODES_PER_TASK: usize = 4096;
