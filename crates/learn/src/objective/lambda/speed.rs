//! Time that the lambdas of one boosting iteration take; ignored by default. Run it with `cargo
//! test --release -p rankwright-learn speed -- --ignored --nocapture --test-threads 1`.

use std::time::Instant;

use rankwright_data::Random;
use rankwright_eval::{MetricSpec, Orderer};

use super::*;

const QUERIES: usize = 6000;
/// Number of documents of each query.
const DOCUMENTS: usize = 120;
/// Number of iterations that are timed.
const ROUNDS: usize = 30;
/// Number of queries that are timed together.
const BLOCK_QUERIES: usize = 50;

/// All queries, in row order.
struct Bench {
    labels: Vec<f64>,
    scores: Vec<f64>,
    gradient: Vec<f32>,
    hessian: Vec<f32>,
    /// The order of each query in the previous iteration.
    cache: Vec<u32>,
    random: Random,
}

impl Bench {
    /// Labels distributed as in MSLR-WEB30K, scores nearly normal.
    fn new() -> Self {
        let mut random = Random::new(1, 1);
        let rows = QUERIES * DOCUMENTS;
        // The fractions of documents with a label of at most 0, 1, 2 and 3.
        let cumulative = [0.52, 0.84, 0.97, 0.99];
        let mut label = |_| {
            let u = random.unit();
            cumulative.iter().filter(|fraction| u > **fraction).count() as f64
        };
        let labels = (0..rows).map(&mut label).collect();
        let scores = (0..rows).map(|_| random.normal()).collect();
        let (gradient, hessian, cache) = (vec![0.0; rows], vec![0.0; rows], vec![0; rows]);
        Self { labels, scores, gradient, hessian, cache, random }
    }

    /// Adds a random tree of 31 leaves at rate 0.1 to the scores.
    fn add_tree(&mut self) {
        let leaves: Vec<f64> = (0..31).map(|_| 0.1 * self.random.normal()).collect();
        for score in &mut self.scores {
            *score += leaves[self.random.below(31)];
        }
    }

    /// The rows of a query.
    fn query_rows(query: usize) -> std::ops::Range<usize> {
        query * DOCUMENTS..(query + 1) * DOCUMENTS
    }

    /// Computes the lambdas of one query.
    fn compute_lambdas(
        &mut self,
        objective: &Lambda,
        buffers: &mut ObjectiveBuffers,
        query: usize,
        seed: u64,
    ) {
        let rows = Self::query_rows(query);
        let view = QueryView::new(&self.labels[rows.clone()], &self.scores[rows.clone()]);
        let view = QueryView { query, seed, ..view };
        let mut out = Derivatives {
            gradient: &mut self.gradient[rows.clone()],
            hessian: &mut self.hessian[rows.clone()],
            cache: &mut self.cache[rows],
        };
        objective.derivatives(&view, buffers, &mut out).unwrap();
    }

    /// Milliseconds of an iteration, which calls `visit` with each query and the iteration's seed:
    /// the shortest iteration, and the sum of each block's shortest time, which is less disturbed
    /// by other programs on the machine. `add_trees`: whether scores change between iterations.
    fn time(
        &mut self,
        add_trees: bool,
        mut visit: impl FnMut(&mut Self, usize, u64),
    ) -> (f64, f64) {
        let mut shortest = f64::INFINITY;
        let mut blocks = vec![f64::INFINITY; QUERIES / BLOCK_QUERIES];
        for round in 0..ROUNDS {
            if add_trees {
                self.add_tree();
            }
            let start = Instant::now();
            for (block, shortest) in blocks.iter_mut().enumerate() {
                let start = Instant::now();
                for query in block * BLOCK_QUERIES..(block + 1) * BLOCK_QUERIES {
                    visit(self, query, round as u64);
                }
                *shortest = shortest.min(start.elapsed().as_secs_f64() * 1e3);
            }
            shortest = shortest.min(start.elapsed().as_secs_f64() * 1e3);
        }
        (shortest, blocks.iter().sum())
    }
}

/// Prints the time of one iteration with these parameters.
fn report(name: &str, params: LambdaConfig) {
    let objective = params.check().unwrap();
    let mut buffers = ObjectiveBuffers::default();
    let visit = |bench: &mut Bench, query, seed| {
        bench.compute_lambdas(&objective, &mut buffers, query, seed);
    };
    let add_trees = true;
    let (best, undisturbed) = Bench::new().time(add_trees, visit);
    println!("{name}: best {best:.1} ms, undisturbed {undisturbed:.1} ms an iteration");
}

/// Lambdas for a metric with truncation level 30.
fn metric(text: &str) -> LambdaConfig {
    let params = LambdaConfig::for_metric(MetricSpec::parse(text).unwrap());
    LambdaConfig { truncation: Some(30), ..params }
}

#[test]
#[ignore = "a measurement"]
fn speed_of_ndcg() {
    report("ndcg, truncation 30", metric("ndcg@10"));
}

#[test]
#[ignore = "a measurement"]
fn speed_of_other_weights() {
    report(
        "ndcg, truncation 30, portable",
        LambdaConfig { simd: Simd::Portable, ..metric("ndcg") },
    );
    report("ndcg, no truncation", LambdaConfig { truncation: Some(usize::MAX), ..metric("ndcg") });
    report("ap, truncation 30", metric("ap"));
    report("err, truncation 30", metric("err"));
    report("pair logistic, all pairs", LambdaConfig::default());
}

#[test]
#[ignore = "a measurement"]
fn speed_of_the_order() {
    let (mut bench, mut orderer) = (Bench::new(), Orderer::default());
    for (name, add_trees) in [("a tree at rate 0.1", true), ("no change", false)] {
        let (best, undisturbed) = bench.time(add_trees, |bench, query, _| {
            let (rows, seed) = (Bench::query_rows(query), 7);
            let last_order = &mut bench.cache[rows.clone()];
            orderer.order_seeded(&bench.scores[rows], seed, last_order).unwrap();
        });
        println!("order after {name}: best {best:.1} ms, undisturbed {undisturbed:.1} ms");
    }
}

#[test]
#[ignore = "a measurement"]
fn speed_of_a_million_documents() {
    let mut random = Random::new(4, 4);
    let n = 1_000_000;
    let labels: Vec<f64> = (0..n).map(|_| random.below(5) as f64).collect();
    let scores: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let (mut gradient, mut hessian, mut cache) = (vec![0.0; n], vec![0.0; n], vec![0; n]);
    let mut buffers = ObjectiveBuffers::default();
    let all_pairs = LambdaConfig { truncation: Some(usize::MAX), ..metric("ndcg@10") };
    let first_ranks = LambdaConfig { truncation: None, ..metric("ndcg@10") };
    for (name, params) in [("truncation 13", first_ranks), ("sampled pairs", all_pairs)] {
        let objective = params.check().unwrap();
        for state in ["cold", "warm"] {
            let start = Instant::now();
            let mut out =
                Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut cache };
            objective
                .derivatives(&QueryView::new(&labels, &scores), &mut buffers, &mut out)
                .unwrap();
            println!(
                "a million documents, {name}, {state} buffers: best {:.3} s",
                start.elapsed().as_secs_f64()
            );
        }
    }
}
