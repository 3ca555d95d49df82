//! A directed graph in compressed sparse rows: the out-links and the in-links of each node.
//!
//! It is built in O(links log links) from pairs in any order, and takes 8 bytes per link and 16 per
//! node. A link from a node to itself says nothing about importance and is dropped; a link given
//! twice counts once. A graph may have no nodes or no links.

/// The reason why pairs do not form a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A link names an unknown node.
    #[error("there is a link from node {from} to node {to}, but only nodes below {nodes} exist")]
    NoSuchNode {
        /// The source of the link.
        from: u32,
        /// The target of the link.
        to: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// More nodes than a 32-bit number can count.
    #[error("found {nodes} nodes, expected at most 4294967295")]
    TooLarge {
        /// Number of nodes.
        nodes: usize,
    },
}

impl LinkError {
    /// Advice for the user: a way to avoid the error.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            LinkError::NoSuchNode { .. } => {
                "leave out links to documents that are not in the collection".into()
            }
            LinkError::TooLarge { .. } => "compute parts of the graph separately".into(),
        })
    }
}

/// A directed graph over the nodes 0, 1, ... n - 1.
///
/// ```
/// use rankwright_search::links::Graph;
/// let graph = Graph::new(3, [(0, 1), (0, 2), (0, 1), (2, 2)])?;
/// assert_eq!((graph.nodes(), graph.links()), (3, 2));
/// assert_eq!(graph.out_links(0), [1, 2]);
/// assert_eq!((graph.in_degree(1), graph.out_degree(2)), (1, 0));
/// # Ok::<(), rankwright_search::links::LinkError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    outgoing: LinkRows,
    incoming: LinkRows,
}

impl Graph {
    /// A graph of this many nodes with these links, each given as (from, to).
    pub fn new(
        nodes: usize,
        links: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Graph, LinkError> {
        if u32::try_from(nodes).is_err() {
            return Err(LinkError::TooLarge { nodes });
        }
        let mut pairs = Vec::new();
        for (from, to) in links {
            if from as usize >= nodes || to as usize >= nodes {
                return Err(LinkError::NoSuchNode { from, to, nodes });
            }
            if from != to {
                pairs.push((from, to));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let outgoing = LinkRows::new(nodes, &pairs);
        pairs.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        pairs.sort_unstable();
        Ok(Graph { outgoing, incoming: LinkRows::new(nodes, &pairs) })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.outgoing.starts.len() - 1
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.outgoing.targets.len()
    }

    /// The nodes that a node points to, ascending; none for an unknown node.
    pub fn out_links(&self, node: usize) -> &[u32] {
        self.outgoing.row(node)
    }

    /// The nodes that point to a node, ascending; none for an unknown node.
    pub fn in_links(&self, node: usize) -> &[u32] {
        self.incoming.row(node)
    }

    /// Number of links that start at a node.
    pub fn out_degree(&self, node: usize) -> usize {
        self.out_links(node).len()
    }

    /// Number of links that end at a node.
    pub fn in_degree(&self, node: usize) -> usize {
        self.in_links(node).len()
    }
}

/// The nodes at the other end of each node's links: those of node i are
/// `targets[starts[i]..starts[i + 1]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinkRows {
    starts: Vec<usize>,
    targets: Vec<u32>,
}

impl LinkRows {
    /// The rows of sorted pairs (node, target); every node is below `nodes`.
    fn new(nodes: usize, pairs: &[(u32, u32)]) -> LinkRows {
        let mut starts = vec![0; nodes + 1];
        for (from, _) in pairs {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        LinkRows { starts, targets: pairs.iter().map(|(_, to)| *to).collect() }
    }

    /// The targets of a node; none for an unknown node.
    fn row(&self, node: usize) -> &[u32] {
        match (self.starts.get(node), self.starts.get(node.saturating_add(1))) {
            (Some(&start), Some(&end)) => &self.targets[start..end],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_the_set_of_its_links_without_self_links() {
        let graph = Graph::new(4, [(3, 0), (1, 1), (0, 2), (0, 1), (0, 2)]).unwrap();
        assert_eq!(graph, Graph::new(4, [(0, 1), (0, 2), (3, 0)]).unwrap());
        assert_eq!((graph.out_links(0), graph.in_links(0)), (&[1, 2][..], &[3][..]));
        assert_eq!((graph.in_degree(2), graph.out_degree(1), graph.in_degree(3)), (1, 0, 0));
        assert!(graph.out_links(4).is_empty() && graph.in_links(usize::MAX).is_empty());
    }

    #[test]
    fn a_link_to_an_unknown_node_is_refused() {
        let error = Graph::new(2, [(0, 1), (1, 2)]).unwrap_err();
        assert_eq!(error, LinkError::NoSuchNode { from: 1, to: 2, nodes: 2 });
        assert!(error.to_string().contains("from node 1 to node 2, but only nodes below 2"));
    }

    #[test]
    fn there_may_be_no_nodes() {
        let graph = Graph::new(0, []).unwrap();
        assert_eq!((graph.nodes(), graph.links()), (0, 0));
    }
}
