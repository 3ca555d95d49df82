//! HITS (Kleinberg 1999): a good hub points at good authorities, a good authority is pointed at
//! by good hubs:
//!
//! a(v) = sum over u -> v of h(u),   h(u) = sum over u -> v of a(v),
//!
//! each scaled to length 1 (L2) in every round; the limits are the first singular vectors of the
//! link matrix. Starts from equal hubs and ends when hubs and authorities together change by no
//! more than the tolerance; O(nodes + links) per round. Sums are in order of node number, so that
//! the bits do not depend on threads.
//!
//! A node without in-links has authority 0, one without out-links hub 0; without any links all are
//! 0, and no vector has length 1 then. Where two components of a graph are equally strong the limit
//! depends on the start; from equal hubs both keep their weight.

use rayon::prelude::*;

use super::{Graph, MIN_NODES_PER_TASK};

/// Options of HITS.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HitsOptions {
    /// Stops when the absolute changes of a round sum to no more than this.
    pub tolerance: f64,
    /// Largest number of rounds.
    pub iterations: usize,
}

impl Default for HitsOptions {
    fn default() -> Self {
        HitsOptions { tolerance: 1e-10, iterations: 100 }
    }
}

impl HitsOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the sum of absolute changes of a round at which it stops.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the largest number of rounds.
    #[must_use]
    pub fn iterations(mut self, iterations: usize) -> Self {
        self.iterations = iterations;
        self
    }
}

/// Hub and authority scores of every node; each vector has length 1, or is all 0 without links.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// Hub score of each node.
    pub hubs: Vec<f64>,
    /// Authority score of each node.
    pub authorities: Vec<f64>,
}

/// Hubs and authorities of a graph.
///
/// ```
/// use rankwright_search::links::{Graph, HitsOptions, hits};
/// let graph = Graph::new(3, [(0, 2), (1, 2)])?;
/// let found = hits(&graph, HitsOptions::default());
/// assert_eq!(found.authorities, [0.0, 0.0, 1.0]);
/// assert!((found.hubs[0] - 0.5f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), rankwright_search::links::LinkError>(())
/// ```
pub fn hits(graph: &Graph, options: HitsOptions) -> Hits {
    let nodes = graph.nodes();
    if graph.links() == 0 {
        return Hits { hubs: vec![0.0; nodes], authorities: vec![0.0; nodes] };
    }
    let mut hubs = vec![1.0; nodes];
    scale(&mut hubs);
    let mut authorities = gather(nodes, |node| graph.in_links(node), &hubs);
    hubs = gather(nodes, |node| graph.out_links(node), &authorities);
    for _ in 1..options.iterations {
        let next = gather(nodes, |node| graph.in_links(node), &hubs);
        let next_hubs = gather(nodes, |node| graph.out_links(node), &next);
        let change = change(&next, &authorities) + change(&next_hubs, &hubs);
        (authorities, hubs) = (next, next_hubs);
        if change <= options.tolerance {
            break;
        }
    }
    Hits { hubs, authorities }
}

/// The sum of the weights of each node's neighbours, scaled to length 1.
fn gather<'a>(
    nodes: usize,
    neighbours: impl Fn(usize) -> &'a [u32] + Sync,
    weights: &[f64],
) -> Vec<f64> {
    let mut sums: Vec<f64> = (0..nodes)
        .into_par_iter()
        .with_min_len(MIN_NODES_PER_TASK)
        .map(|node| neighbours(node).iter().map(|other| weights[*other as usize]).sum())
        .collect();
    scale(&mut sums);
    sums
}

fn scale(values: &mut [f64]) {
    let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|v| *v /= length);
    }
}

fn change(new: &[f64], old: &[f64]) -> f64 {
    new.iter().zip(old).map(|(new, old)| (new - old).abs()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-9, "{found:?}, expected {expected:?}");
        }
    }

    #[test]
    fn four_nodes_have_the_values_computed_by_hand() {
        // 0 -> {2, 3}, 1 -> 2. Hubs follow [[2, 1], [1, 1]], whose first vector is (g, 1) with
        // the golden ratio g; authorities of 2 and 3 follow the same matrix.
        let graph = Graph::new(4, [(0, 2), (0, 3), (1, 2)]).unwrap();
        let found = hits(&graph, HitsOptions::default());
        let g = f64::midpoint(1.0, 5f64.sqrt());
        let length = (g * g + 1.0).sqrt();
        close(&found.hubs, &[g / length, 1.0 / length, 0.0, 0.0]);
        close(&found.authorities, &[0.0, 0.0, g / length, 1.0 / length]);
    }

    #[test]
    fn without_links_there_is_neither() {
        for nodes in [0, 1, 3] {
            let found = hits(&Graph::new(nodes, []).unwrap(), HitsOptions::default());
            assert_eq!((found.hubs, found.authorities), (vec![0.0; nodes], vec![0.0; nodes]));
        }
        let ring = Graph::new(3, [(0, 1), (1, 2), (2, 0)]).unwrap();
        close(&hits(&ring, HitsOptions::default()).hubs, &[3f64.sqrt() / 3.0; 3]);
    }

    proptest! {
        #[test]
        fn equals_the_same_rounds_on_the_whole_matrix(
            links in prop::collection::vec((0u32..9, 0u32..9), 1..40),
        ) {
            let graph = Graph::new(9, links.iter().copied()).unwrap();
            let rounds = HitsOptions { tolerance: -1.0, iterations: 40 };
            let found = hits(&graph, rounds);
            let mut matrix = [[0.0; 9]; 9];
            links.iter().filter(|(u, v)| u != v).for_each(|(u, v)| {
                matrix[*u as usize][*v as usize] = 1.0;
            });
            let (mut h, mut a) = ([1.0; 9], [0.0; 9]);
            for _ in 0..rounds.iterations {
                a = std::array::from_fn(|v| (0..9).map(|u| matrix[u][v] * h[u]).sum());
                scale(&mut a);
                h = std::array::from_fn(|u| (0..9).map(|v| matrix[u][v] * a[v]).sum());
                scale(&mut h);
            }
            close(&found.authorities, &a);
            close(&found.hubs, &h);
        }
    }
}
