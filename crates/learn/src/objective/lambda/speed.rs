//! Time of the lambdas of an iteration; ignored by default. Run it with
//! `cargo test --release -p rankwright-learn speed -- --ignored --nocapture --test-threads 1`.

use std::time::Instant;

use rankwright_data::Random;
use rankwright_eval::{MetricSpec, Orderer};

use super::*;

const QUERIES: usize = 6000;
const DOCUMENTS: usize = 120;
const ROUNDS: usize = 30;
/// Number of queries that are timed together.
const BLOCK: usize = 50;

struct Bench {
    labels: Vec<f64>,
    scores: Vec<f64>,
    gradient: Vec<f32>,
    hessian: Vec<f32>,
    memory: Vec<u32>,
    random: Random,
}

impl Bench {
    /// Labels distributed as in MSLR-WEB30K, scores nearly normal.
    fn new() -> Self {
        let mut random = Random::new(1, 1);
        let rows = QUERIES * DOCUMENTS;
        let shares = [0.52, 0.84, 0.97, 0.99];
        let mut label = |_| {
            let u = random.unit();
            shares.iter().filter(|s| u > **s).count() as f64
        };
        let labels = (0..rows).map(&mut label).collect();
        let scores = (0..rows).map(|_| random.normal()).collect();
        let (gradient, hessian, memory) = (vec![0.0; rows], vec![0.0; rows], vec![0; rows]);
        Self { labels, scores, gradient, hessian, memory, random }
    }

    /// Adds a random tree of 31 leaves at rate 0.1 to the scores.
    fn grow(&mut self) {
        let leaves: Vec<f64> = (0..31).map(|_| 0.1 * self.random.normal()).collect();
        for score in &mut self.scores {
            *score += leaves[self.random.below(31)];
        }
    }

    fn range(query: usize) -> std::ops::Range<usize> {
        query * DOCUMENTS..(query + 1) * DOCUMENTS
    }

    fn lambdas(
        &mut self,
        objective: &Lambda,
        work: &mut ObjectiveBuffers,
        query: usize,
        seed: u64,
    ) {
        let r = Self::range(query);
        let view = QueryView::new(&self.labels[r.clone()], &self.scores[r.clone()]);
        let view = QueryView { query, seed, ..view };
        let mut out = Derivatives {
            gradient: &mut self.gradient[r.clone()],
            hessian: &mut self.hessian[r.clone()],
            memory: &mut self.memory[r],
        };
        objective.derivatives(&view, work, &mut out).unwrap();
    }

    /// Milliseconds of an iteration: the best, and the sum of each block's best, which is less
    /// disturbed by other programs on the machine.
    fn time(&mut self, grow: bool, mut one: impl FnMut(&mut Self, usize, u64)) -> (f64, f64) {
        let mut best = f64::INFINITY;
        let mut blocks = vec![f64::INFINITY; QUERIES / BLOCK];
        for round in 0..ROUNDS {
            if grow {
                self.grow();
            }
            let start = Instant::now();
            for (block, least) in blocks.iter_mut().enumerate() {
                let start = Instant::now();
                for query in block * BLOCK..(block + 1) * BLOCK {
                    one(self, query, round as u64);
                }
                *least = least.min(start.elapsed().as_secs_f64() * 1e3);
            }
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        (best, blocks.iter().sum())
    }
}

fn report(name: &str, params: LambdaConfig) {
    let objective = params.check().unwrap();
    let mut work = ObjectiveBuffers::default();
    let one = |bench: &mut Bench, query, seed| bench.lambdas(&objective, &mut work, query, seed);
    let (best, undisturbed) = Bench::new().time(true, one);
    println!("{name}: best {best:.1} ms, undisturbed {undisturbed:.1} ms an iteration");
}

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
    for (name, grow) in [("a tree at rate 0.1", true), ("no change", false)] {
        let (best, undisturbed) = bench.time(grow, |bench, query, _| {
            let r = Bench::range(query);
            let hint = &mut bench.memory[r.clone()];
            orderer.order_seeded(&bench.scores[r], 7, hint).unwrap();
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
    let (mut gradient, mut hessian, mut memory) = (vec![0.0; n], vec![0.0; n], vec![0; n]);
    let mut work = ObjectiveBuffers::default();
    let all_pairs = LambdaConfig { truncation: Some(usize::MAX), ..metric("ndcg@10") };
    let thirteen = LambdaConfig { truncation: None, ..metric("ndcg@10") };
    for (name, params) in [("truncation 13", thirteen), ("sampled pairs", all_pairs)] {
        let objective = params.check().unwrap();
        for round in ["cold", "warm"] {
            let start = Instant::now();
            let mut out =
                Derivatives { gradient: &mut gradient, hessian: &mut hessian, memory: &mut memory };
            objective.derivatives(&QueryView::new(&labels, &scores), &mut work, &mut out).unwrap();
            println!(
                "a million documents, {name}, {round}: best {:.3} s",
                start.elapsed().as_secs_f64()
            );
        }
    }
}
