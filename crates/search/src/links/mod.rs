//! Links between documents: the graph, and two ways to read importance off it.
//!
//! [`pagerank`] asks where someone ends up who follows links at random; [`hits`] tells documents
//! that point well (hubs) from documents that are pointed at (authorities). Both are features of
//! a document that no query changes, so they are computed once for an index.

mod graph;
mod hits;
mod pagerank;

pub use graph::{Graph, LinkError};
pub use hits::{Hits, HitsOptions, hits};
pub use pagerank::{PageRankOptions, pagerank};

/// Nodes a task takes at least: below that, handing out work costs more than the work.
const GRAIN: usize = 4096;
