//! PageRank (Page, Brin, Motwani, Winograd 1998): the share of time that a random surfer spends on
//! each node. The surfer follows a link with probability d (the damping), and jumps to any of the n
//! nodes with probability 1 - d:
//!
//! p(v) = (1 - d) / n + d (sum over u -> v of p(u) / out(u) + D / n),
//!
//! where out(u) is the number of out-links of u, and D the sum of the ranks of nodes without
//! out-links, from which the surfer jumps to any node; so the ranks sum to 1. Computed by power
//! iteration, which starts with 1 / n and ends when the ranks together change by no more than the
//! tolerance; O(nodes + links) per round. The remaining error is at most d / (1 - d) times the last
//! change. Each node's sum is over its in-links in ascending order, and sums over all nodes are in
//! order of number, so that the bits do not depend on threads.
//!
//! No nodes give no ranks, a single node rank 1, and a graph without links 1 / n everywhere.

use rayon::prelude::*;

use super::{Graph, MIN_NODES_PER_TASK};

/// Options of PageRank.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PageRankOptions {
    /// The probability that the surfer follows a link. Below 0 counts as 0, above 1 as 1, and NaN
    /// as 0.
    pub damping: f64,
    /// Stops when the absolute changes of a round sum to no more than this.
    pub tolerance: f64,
    /// Largest number of rounds.
    pub iterations: usize,
}

impl Default for PageRankOptions {
    fn default() -> Self {
        PageRankOptions { damping: 0.85, tolerance: 1e-10, iterations: 100 }
    }
}

impl PageRankOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the probability that the surfer follows a link.
    #[must_use]
    pub fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
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

/// The PageRank of every node.
///
/// ```
/// use rankwright_search::links::{Graph, PageRankOptions, pagerank};
/// let graph = Graph::new(3, [(0, 2), (1, 2), (2, 0)])?;
/// let ranks = pagerank(&graph, PageRankOptions::default());
/// assert!(ranks[2] > ranks[0] && ranks[0] > ranks[1]);
/// assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), rankwright_search::links::LinkError>(())
/// ```
pub fn pagerank(graph: &Graph, options: PageRankOptions) -> Vec<f64> {
    let nodes = graph.nodes();
    let damping = if options.damping.is_nan() { 0.0 } else { options.damping.clamp(0.0, 1.0) };
    let n = nodes as f64;
    let mut ranks = vec![1.0 / n; nodes];
    // The rank that each node passes on by each of its links.
    let mut rank_per_link = vec![0.0; nodes];
    for _ in 0..options.iterations {
        // The sum of the ranks of nodes without out-links.
        let mut dangling = 0.0;
        for (node, (per_link, rank)) in rank_per_link.iter_mut().zip(&ranks).enumerate() {
            let degree = graph.out_degree(node);
            if degree == 0 {
                dangling += rank;
            } else {
                *per_link = rank / degree as f64;
            }
        }
        let base = (1.0 - damping) / n + damping * dangling / n;
        let next: Vec<f64> = (0..nodes)
            .into_par_iter()
            .with_min_len(MIN_NODES_PER_TASK)
            .map(|node| {
                let followed: f64 =
                    graph.in_links(node).iter().map(|from| rank_per_link[*from as usize]).sum();
                base + damping * followed
            })
            .collect();
        let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
        ranks = next;
        if change <= options.tolerance {
            break;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranks(nodes: usize, links: &[(u32, u32)]) -> Vec<f64> {
        let exact = PageRankOptions { tolerance: 1e-15, iterations: 1000, ..Default::default() };
        pagerank(&Graph::new(nodes, links.iter().copied()).unwrap(), exact)
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-11, "{found:?}, expected {expected:?}");
        }
    }

    #[test]
    fn three_nodes_have_the_values_computed_by_hand() {
        // The ranks a, b, c of 0 -> 2, 1 -> 2, 2 -> 0: b = 0.05, a = 0.05 + 0.85 c and
        // c = 0.05 + 0.85 (a + b), so c (1 - 0.7225) = 0.05 + 0.85 * 0.1 = 0.135.
        let c = 0.135 / 0.2775;
        assert_close(&ranks(3, &[(0, 2), (1, 2), (2, 0)]), &[0.05 + 0.85 * c, 0.05, c]);
    }

    #[test]
    fn the_rank_of_nodes_without_out_links_is_spread_evenly() {
        // The ranks a, b of 0 -> 1: a = 0.075 + 0.425 b and b = a + 0.85 a, with a + b = 1.
        assert_close(&ranks(2, &[(0, 1)]), &[1.0 / 2.85, 1.85 / 2.85]);
        // The ranks a, b, c, d of 0 -> {1, 2}, 1 -> 2, and 3 without links. With s = 0.0375 +
        // 0.2125 (c + d): a = d = s, b = s (1 + 0.425), c = s (1 + 0.425 + 0.85 * 1.425); all sum
        // to 1.
        let shape = [1.0, 1.425, 1.425 + 0.85 * 1.425, 1.0];
        let sum: f64 = shape.iter().sum();
        assert_close(&ranks(4, &[(0, 1), (0, 2), (1, 2)]), &shape.map(|s| s / sum));
    }

    #[test]
    fn a_ring_and_a_graph_without_links_are_even() {
        assert_close(&ranks(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]), &[0.25; 4]);
        assert_close(&ranks(5, &[]), &[0.2; 5]);
        assert_close(&ranks(1, &[(0, 0)]), &[1.0]);
        assert!(ranks(0, &[]).is_empty());
    }

    #[test]
    fn unusual_options_still_give_a_distribution() {
        let graph = Graph::new(3, [(0, 1), (1, 0)]).unwrap();
        for damping in [f64::NAN, -1.0, 0.0, 1.0, 7.0, f64::INFINITY] {
            let options = PageRankOptions { damping, ..Default::default() };
            let sum: f64 = pagerank(&graph, options).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{damping}: {sum}");
        }
        let none = PageRankOptions { iterations: 0, ..Default::default() };
        assert_eq!(pagerank(&graph, none), [1.0 / 3.0; 3]);
    }

    #[test]
    fn ranks_do_not_depend_on_the_number_of_threads() {
        let mut random = rankwright_data::Random::new(1, 1);
        let n = 3 * MIN_NODES_PER_TASK;
        let mut node = || random.below(n) as u32;
        let links: Vec<(u32, u32)> = (0..40_000).map(|_| (node(), node())).collect();
        let graph = Graph::new(n, links).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| pagerank(&graph, PageRankOptions::default()))
        };
        assert_eq!(run(1), run(3));
    }

    /// The slow reference: the whole matrix, dangling rows filled in, multiplied round after round.
    fn dense(nodes: usize, links: &[(u32, u32)], rounds: usize) -> Vec<f64> {
        let n = nodes as f64;
        let mut matrix = vec![vec![0.0; nodes]; nodes];
        for (from, to) in links.iter().filter(|(from, to)| from != to) {
            matrix[*from as usize][*to as usize] = 1.0;
        }
        for row in &mut matrix {
            let degree: f64 = row.iter().sum();
            row.iter_mut().for_each(|x| *x = if degree == 0.0 { 1.0 / n } else { *x / degree });
            row.iter_mut().for_each(|x| *x = 0.15 / n + 0.85 * *x);
        }
        let mut ranks = vec![1.0 / n; nodes];
        for _ in 0..rounds {
            ranks = (0..nodes).map(|v| (0..nodes).map(|u| ranks[u] * matrix[u][v]).sum()).collect();
        }
        ranks
    }

    proptest! {
        #[test]
        fn equals_power_iteration_on_the_whole_matrix(
            nodes in 1usize..12,
            links in prop::collection::vec((0u32..12, 0u32..12), 0..40),
        ) {
            let links: Vec<(u32, u32)> =
                links.iter().map(|(a, b)| (a % nodes as u32, b % nodes as u32)).collect();
            let found = ranks(nodes, &links);
            assert_close(&found, &dense(nodes, &links, 300));
            prop_assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
