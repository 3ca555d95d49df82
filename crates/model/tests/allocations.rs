//! Tests that scoring allocates nothing once the buffers of a thread were used: counted by the
//! allocator of this test program, for every kind of model, on eight threads at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::PathBuf;
use std::thread;

use rankwright_model::{Model, ScoreBuffers, Scorer, SparseRows};

/// The system's allocator with a count of the calls of each thread.
struct CountingAllocator;

thread_local! {
    /// Number of allocations of this thread.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count_allocation() {
    ALLOCATIONS.with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller's guarantees are those that the system's allocator needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees are those that the system's allocator needs.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation();
        // SAFETY: the caller's guarantees are those that the system's allocator needs.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Every kind of model: trees, a linear model, a listwise net and a listwise blend, and trees of
/// other systems.
const MODELS: [&str; 7] = [
    "trees-1.model",
    "line-1.model",
    "net-3.model",
    "blend-3.model",
    "lightgbm.txt",
    "catboost-levels.json",
    "xgboost.json",
];
const THREADS: usize = 8;
/// Number of rounds of scoring after the first one.
const ROUNDS: usize = 50;
/// Numbers of rows: one, a few, and enough that every width of block is used.
const ROWS: [usize; 5] = [1, 3, 20, 60, 300];

fn scorer(name: &str) -> Scorer {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    Model::load(path).unwrap().scorer()
}

/// Scores rows by every method that the model allows.
fn score_all(scorer: &Scorer, values: &[f32], scores: &mut [f64], buffers: &mut ScoreBuffers) {
    let columns = scorer.columns();
    if !scorer.is_listwise() {
        scores[0] = scorer.score_one(&values[..columns], buffers).unwrap();
    }
    for rows in ROWS {
        let (values, scores) = (&values[..rows * columns], &mut scores[..rows]);
        scorer.score_query(values, scores, buffers).unwrap();
        if !scorer.is_listwise() {
            scorer.score_rows(values, scores, buffers).unwrap();
        }
    }
    let sparse = SparseRows { row_offsets: &[0, 1, 1], columns: &[0], values: &values[..1] };
    scorer.score_sparse(sparse, &mut scores[..2], buffers).unwrap();
}

/// The number of allocations of one thread after its first round.
fn allocations(scorer: &Scorer) -> usize {
    let rows = ROWS[ROWS.len() - 1];
    let values: Vec<f32> = (0..rows * scorer.columns()).map(|n| (n % 7) as f32 - 1.0).collect();
    let (mut scores, mut buffers) = (vec![0.0; rows], ScoreBuffers::default());
    score_all(scorer, &values, &mut scores, &mut buffers);
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..ROUNDS {
        let shared = scorer.clone();
        score_all(&shared, &values, &mut scores, &mut buffers);
    }
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn eight_threads_share_a_scorer_and_allocate_nothing_after_the_first_round() {
    for name in MODELS {
        let scorer = scorer(name);
        let counts: Vec<usize> = thread::scope(|scope| {
            let start = |_| scope.spawn(|| allocations(&scorer));
            let threads: Vec<_> = (0..THREADS).map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(counts, [0; THREADS], "{name}, {}", scorer.engine());
    }
}

#[test]
fn the_allocator_counts_allocations() {
    let before = ALLOCATIONS.with(Cell::get);
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert_eq!(ALLOCATIONS.with(Cell::get), before + 1);
}
