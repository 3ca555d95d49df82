//! How long the lambdas of an iteration take; ignored by default. Run it with
//! `cargo test --release -p rankwright-learn speed -- --ignored --nocapture --test-threads 1`.

use std::time::Instant;

use rankwright_data::Random;
use rankwright_eval::{MetricSpec, Orderer};

use super::*;

const QUERIES: usize = 6000;
const DOCUMENTS: usize = 120;
const ROUNDS: usize = 30;

struct Bench {
    labels: Vec<f64>,
    scores: Vec<f64>,
    gradient: Vec<f32>,
    hessian: Vec<f32>,
    memory: Vec<u32>,
    random: Random,
}

impl Bench {
    /// Labels as in MSLR-WEB30K, scores near normal.
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

    /// Adds a tree of 31 leaves at rate 0.1.
    fn grow(&mut self) {
        let leaves: Vec<f64> = (0..31).map(|_| 0.1 * self.random.normal()).collect();
        for score in &mut self.scores {
            *score += leaves[self.random.below(31)];
        }
    }

    fn range(query: usize) -> std::ops::Range<usize> {
        query * DOCUMENTS..(query + 1) * DOCUMENTS
    }

    fn lambdas(&mut self, objective: &Lambda, work: &mut Workspace, seed: u64) {
        for q in 0..QUERIES {
            let r = Self::range(q);
            let view = QueryView::new(&self.labels[r.clone()], &self.scores[r.clone()]);
            let view = QueryView { query: q, seed, ..view };
            let mut out = Derivatives {
                gradient: &mut self.gradient[r.clone()],
                hessian: &mut self.hessian[r.clone()],
                memory: &mut self.memory[r],
            };
            objective.derivatives(&view, work, &mut out).unwrap();
        }
    }
}

fn milliseconds(mut round: impl FnMut(), mut between: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            between();
            let start = Instant::now();
            round();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[ROUNDS / 2])
}

fn report(name: &str, params: LambdaParams) {
    let objective = params.check().unwrap();
    let bench = std::cell::RefCell::new(Bench::new());
    let mut work = Workspace::default();
    let mut seed = 0;
    let round = || {
        seed += 1;
        bench.borrow_mut().lambdas(&objective, &mut work, seed);
    };
    let (best, median) = milliseconds(round, || bench.borrow_mut().grow());
    println!("{name}: best {best:.1} ms, median {median:.1} ms an iteration");
}

fn metric(text: &str) -> LambdaParams {
    let params = LambdaParams::for_metric(MetricSpec::parse(text).unwrap());
    LambdaParams { truncation: Some(30), ..params }
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
        LambdaParams { simd: Simd::Portable, ..metric("ndcg") },
    );
    report("ndcg, no truncation", LambdaParams { truncation: Some(usize::MAX), ..metric("ndcg") });
    report("ap, truncation 30", metric("ap"));
    report("err, truncation 30", metric("err"));
    report("pair logistic, all pairs", LambdaParams::default());
}

#[test]
#[ignore = "a measurement"]
fn speed_of_the_order() {
    let bench = std::cell::RefCell::new(Bench::new());
    let mut orderer = Orderer::default();
    for (name, rate) in [("a tree at rate 0.1", 1.0), ("no change", 0.0)] {
        let round = || {
            let bench = &mut *bench.borrow_mut();
            for q in 0..QUERIES {
                let r = Bench::range(q);
                let hint = &mut bench.memory[r.clone()];
                orderer.order_seeded(&bench.scores[r], 7, hint).unwrap();
            }
        };
        let between = || {
            if rate > 0.0 {
                bench.borrow_mut().grow();
            }
        };
        let (best, median) = milliseconds(round, between);
        println!("order after {name}: best {best:.1} ms, median {median:.1} ms");
    }
}
