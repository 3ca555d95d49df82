//! Loads a LETOR file once and prints one line of JSON: seconds, shape and peak memory.
//!
//! `load-bench FILE THREADS`; run by `bench/load.py`, each time in a fresh process.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use rankwright_data::format::{ReadOptions, read};

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("usage: load-bench FILE THREADS")?);
    let threads: usize = arguments.next().map_or(Ok(0), |t| t.parse())?;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let file_bytes = file.metadata()?.len();
    let start = Instant::now();
    let loaded = read(&[file], &ReadOptions::default())?;
    let seconds = start.elapsed().as_secs_f64();
    let (rows, features) = (loaded.data.rows(), loaded.data.columns());
    println!(
        "{{\"seconds\": {seconds}, \"rows\": {rows}, \"features\": {features}, \"peak_rss_bytes\": {}, \"matrix_bytes\": {}, \"file_bytes\": {file_bytes}}}",
        peak_rss_bytes(),
        rows * features * 4,
    );
    Ok(())
}

/// The most memory this process has held, from the kernel's own count; 0 where it has none.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
