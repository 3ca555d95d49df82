//! HITS (Kleinberg 1999): a good hub points at good authorities, a good authority is pointed at
//! by good hubs:
//!
//! a(v) = sum over u -> v of h(u),   h(u) = sum over u -> v of a(v),
//!
//! where a is the authority and h the hub score, each scaled to a vector of length 1 in every
//! round; the limits are the first singular vectors of the link matrix. The rounds start with equal
//! hub scores, and end when the scores together change by no more than the tolerance; the cost
//! of a round is O(nodes + links). Sums are in the order of node numbers, so that the bits do not
//! depend on threads.
//!
//! A node without in-links has authority 0, a node without out-links hub score 0. Without any links
//! all scores are 0. If two components of a graph have the same largest singular value, the limit
//! depends on the start: from equal hub scores, both components keep scores above 0.

use rayon::prelude::*;

use super::{Graph, MIN_NODES_PER_TASK};

/// Options of HITS.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct HitsOptions {
    /// Stops when the absolute changes of a round sum to no more than this.
    pub tolerance: f64,
    /// Largest number of rounds; at least one is computed.
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

    /// Sets the sum of absolute changes in a round at which the iteration stops.
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

/// Hub and authority scores of every node; each is a vector of length 1, or of zeros without links.
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
        let next_authorities = gather(nodes, |node| graph.in_links(node), &hubs);
        let next_hubs = gather(nodes, |node| graph.out_links(node), &next_authorities);
        let change = change(&next_authorities, &authorities) + change(&next_hubs, &hubs);
        (authorities, hubs) = (next_authorities, next_hubs);
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

/// Scales a vector to length 1; a vector of zeros stays.
fn scale(values: &mut [f64]) {
    let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|v| *v /= length);
    }
}

/// The sum of absolute differences.
fn change(new: &[f64], old: &[f64]) -> f64 {
    new.iter().zip(old).map(|(new, old)| (new - old).abs()).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-9, "{found:?}, expected {expected:?}");
        }
    }

    #[test]
    fn four_nodes_have_the_values_computed_by_hand() {
        // 0 -> {2, 3}, 1 -> 2. A round multiplies the hub scores of 0 and 1 by [[2, 1], [1, 1]],
        // whose first eigenvector is (g, 1) with the golden ratio g; the same matrix multiplies the
        // authorities of 2 and 3.
        let graph = Graph::new(4, [(0, 2), (0, 3), (1, 2)]).unwrap();
        let found = hits(&graph, HitsOptions::default());
        let g = f64::midpoint(1.0, 5f64.sqrt());
        let length = (g * g + 1.0).sqrt();
        assert_close(&found.hubs, &[g / length, 1.0 / length, 0.0, 0.0]);
        assert_close(&found.authorities, &[0.0, 0.0, g / length, 1.0 / length]);
    }

    #[test]
    fn without_links_all_scores_are_0_and_in_a_ring_all_are_equal() {
        for nodes in [0, 1, 3] {
            let found = hits(&Graph::new(nodes, []).unwrap(), HitsOptions::default());
            assert_eq!((found.hubs, found.authorities), (vec![0.0; nodes], vec![0.0; nodes]));
        }
        let ring = Graph::new(3, [(0, 1), (1, 2), (2, 0)]).unwrap();
        assert_close(&hits(&ring, HitsOptions::default()).hubs, &[3f64.sqrt() / 3.0; 3]);
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
            assert_close(&found.authorities, &a);
            assert_close(&found.hubs, &h);
        }
    }
}
