//! A short run of every fuzz target on any compiler: the seeds, and mutations of them. The same
//! mutations every time; `RANKWRIGHT_FUZZ_SECONDS` gives each target more time and so more of them.
#![allow(missing_docs, clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rankwright_fuzz::targets::{TARGETS, Target};

/// A target ends after this time or this number of mutations, whichever comes first.
const SECONDS: f64 = 1.5;
const MUTATIONS: usize = 4000;

/// The longest time that a target may take for one input.
const MAX_TIME: Duration = Duration::from_secs(20);

/// The largest number of bytes of a mutation.
const MAX_BYTES: usize = 1 << 16;

/// A file or folder of this package.
fn folder(inside: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(inside)
}

/// The contents of the seeds of a target, in the order of their file names.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder("seeds").join(name))
        .unwrap_or_else(|error| panic!("seeds/{name}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Runs a target. The current input is kept in a file, so that it is still there if the target
/// panics, overflows the stack or never ends.
fn smoke(name: &str) {
    let target: Target = TARGETS.iter().find(|(known, _)| *known == name).unwrap().1;
    let given = std::env::var("RANKWRIGHT_FUZZ_SECONDS").ok();
    let seconds: Option<f64> = given.map(|text| text.parse().expect("a number of seconds"));
    let max_mutations = if seconds.is_some() { usize::MAX } else { MUTATIONS };
    let end = Instant::now() + Duration::from_secs_f64(seconds.unwrap_or(SECONDS));
    let current = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-input-{name}"));
    let run = |bytes: &[u8]| {
        std::fs::write(&current, bytes).unwrap();
        let start = Instant::now();
        target(bytes);
        assert!(start.elapsed() < MAX_TIME, "{} took {:?}", current.display(), start.elapsed());
    };
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    seeds.iter().for_each(|seed| run(seed));
    run(b"");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut done = 0;
    while done < max_mutations && Instant::now() < end {
        let seed = &seeds[done % seeds.len()];
        run(&mutated(seed, &seeds, &mut random));
        done += 1;
    }
    println!("{name}: {} seeds and {done} mutations", seeds.len());
    std::fs::remove_file(current).unwrap();
}

/// The random number generator splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to, but not including, `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Pieces that parsers treat in a special way.
const PIECES: &[&[u8]] = &[
    b"-1",
    b"0",
    b"99999999999999999999",
    b"1e999",
    b"nan",
    b"-inf",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\xe2\x80\xae",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\"",
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"<",
    b">",
    b":",
    b"=",
    b",",
    b"#",
    b"NOT ",
    b" OR ",
    b"@10",
    b"bagging(learner=",
    b"blend(members=",
    b"qid:",
    b"\xc3",
];

/// A seed with one to five random changes.
fn mutated(seed: &[u8], seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(5) {
        let at = random.below(bytes.len() + 1);
        let end = (at + 1 + random.below(40)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 if at < end => drop(bytes.drain(at..end)),
            4 if at < end => {
                let max_times = if random.below(10) == 0 { 400 } else { 3 };
                let times = 1 + random.below(max_times);
                let part = bytes[at..end].repeat(times);
                bytes.splice(at..at, part);
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                let to = (from + random.below(60)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            6 => {
                let piece = PIECES[random.below(PIECES.len())];
                let times = if random.below(20) == 0 { 3000 } else { 1 };
                bytes.splice(at..at, piece.repeat(times));
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..end.max(at), piece.iter().copied());
            }
        }
    }
    bytes.truncate(MAX_BYTES);
    bytes
}

macro_rules! smoke_tests {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                smoke(stringify!($name));
            }
        )*

        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

smoke_tests![
    letor,
    csv,
    tsv,
    jsonl,
    parquet,
    arrow,
    cache,
    packed,
    run,
    qrels,
    pairs,
    scores,
    spec,
    filter,
    query,
    feature_set,
    documents,
    queries,
    experiment,
    model,
    interchange,
    position_bias,
    training_log,
    tune_log,
    checkpoint,
    vectors,
    side_files,
    cell,
    switch,
    index,
    click_lines,
    click_table,
    click_parquet,
    click_yandex,
    interleaved,
    requests,
    judge,
];

#[test]
fn every_target_is_tested_and_has_a_program() {
    let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, TESTED);
    let manifest = std::fs::read_to_string(folder("Cargo.toml")).unwrap();
    for name in known {
        assert!(folder("fuzz_targets").join(format!("{name}.rs")).is_file(), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}
