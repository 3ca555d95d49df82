//! One scorer shared by eight threads, without an allocation per call.
//!
//! `cargo run -p rankwright --example serve_scores_from_8_threads`
#![allow(clippy::print_stdout)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::thread;

use rankwright::data::generate::LetorOptions;
use rankwright::prelude::*;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending has no counter any more, and counts nothing.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CALLS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = LetorOptions { queries: 40, documents: 20, seed: 1 }.generate()?;
    let model = LambdaMart::new().trees(50).leaves(15).fit(&data)?.model;
    let expected = model.predict(&data)?;
    let scorer = model.scorer();

    let serve = |number: usize| {
        // Each thread has its own scorer, which is cheap, and reuses its buffers.
        let (scorer, mut buffers) = (scorer.clone(), ScoreBuffers::default());
        let rows = data.query_rows(number);
        let columns = data.columns();
        let values = &data.matrix().values()[rows.start * columns..rows.end * columns];
        let mut scores = vec![0.0; rows.len()];
        let mut call = || scorer.score_query(values, &mut scores, &mut buffers);
        call()?;
        let before = ALLOCATIONS.get();
        for _ in 0..CALLS {
            call()?;
        }
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(scores, expected[rows]);
        Ok::<usize, rankwright::model::ModelError>(allocations)
    };
    let serve = &serve;
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || serve(number))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")).collect()
    });
    let counts: Result<Vec<_>, &str> = counts;
    for (number, count) in counts?.into_iter().enumerate() {
        let count = count?;
        println!("thread {number}: {CALLS} queries scored, {count} allocations");
        assert_eq!(count, 0);
    }
    Ok(())
}
