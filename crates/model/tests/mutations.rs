//! Tests that damaged model files are read safely: more than 200,000 of them, of every format, give
//! a usable model or an error, quickly and without memory out of proportion to the file.
//!
//! The files are small models that the other systems have trained themselves, and our exports of
//! them in each format. This test has its own process, as it counts allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rankwright_data::Random;
use rankwright_model::{Model, ModelFormat, ScoreBuffers};
use xxhash_rust::xxh3::xxh3_64;

/// Number of edits of each file.
const EDITS: usize = 16_000;
/// Bytes of memory that reading may use in addition to four times the size of the file.
const EXTRA_BYTES: usize = 16 << 20;
/// Time limit for reading a file, which are all small.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// An allocator that counts allocated bytes, and their maximum.
struct CountingAllocator;

/// Number of bytes that are allocated now.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
/// The maximum since it was last set.
static MAX_ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does everything; only counters are added.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MAX_ALLOCATED.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Models that other systems have trained, and models in our own format.
const FIXTURES: [&str; 11] = [
    "lightgbm.txt",
    "lightgbm.json",
    "xgboost.json",
    "xgboost.ubj",
    "catboost-levels.json",
    "catboost-leaves.json",
    "elasticsearch.json",
    "trees-1.model",
    "line-1.model",
    "net-3.model",
    "blend-3.model",
];

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(path).unwrap()
}

/// Every file to be damaged, by name.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> =
        FIXTURES.iter().map(|name| ((*name).to_owned(), fixture(name))).collect();
    // Models to be written in every format.
    for (source, name) in [
        ("trees", "catboost-levels.json"),
        ("categories", "lightgbm.txt"),
        ("line", "line-1.model"),
    ] {
        let model = Model::from_bytes(&fixture(name)).unwrap();
        for format in ModelFormat::writable() {
            // Models that a format cannot express are skipped.
            if let Ok(bytes) = model.to_bytes_as(format) {
                files.push((format!("{source} as {format}"), bytes));
            }
        }
    }
    files
}

/// Bytes that are likely to cause trouble, which replace others or the word at some offset.
const TROUBLESOME: [&[u8]; 22] = [
    b"-1",
    b"0",
    b"1e999",
    b"-1e-400",
    b"NaN",
    b"nan",
    b"inf",
    b"2147483648",
    b"4294967295",
    b"18446744073709551616",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"[[[[[[[[",
    b"{\"a\":",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\xc0\x7f",
    b"\0\0\0\0\0\0\xf0\x7f",
];

/// The file after one random edit.
fn edited(file: &[u8], draw: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let at = draw.below(bytes.len());
    let length = 1 + draw.below(8);
    let end = (at + length).min(bytes.len());
    match draw.below(10) {
        0 => bytes[at] ^= 1 << draw.below(8),
        1 => bytes[at] = draw.below(256) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        5 => {
            let other = draw.below(bytes.len());
            bytes.swap(at, other);
        }
        6 => {
            // Overwrites as many bytes: the following bytes keep their position.
            let troublesome = TROUBLESOME[draw.below(TROUBLESOME.len())];
            bytes.iter_mut().skip(at).zip(troublesome).for_each(|(to, from)| *to = *from);
        }
        7 => {
            // A large part twice, or removed.
            let far = at + draw.below(bytes.len() - at);
            let part = if draw.below(2) == 0 { Vec::new() } else { bytes[at..far].repeat(2) };
            bytes.splice(at..far, part);
        }
        _ => {
            let word = word_at(&bytes, at);
            let troublesome = TROUBLESOME[draw.below(TROUBLESOME.len())];
            bytes.splice(word, troublesome.iter().copied());
        }
    }
    bytes
}

/// The range of the word, number or string at an offset.
fn word_at(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._\"".contains(byte);
    let from = at - bytes[..at].iter().rev().take_while(|byte| part(byte)).count();
    from..at + bytes[at..].iter().take_while(|byte| part(byte)).count()
}

/// The bytes of one of our files with valid checksums: at the end, and at the end of each member of
/// a blend. Otherwise every damaged file would be rejected by its checksum.
fn with_valid_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    const MAGIC: &[u8] = b"RANKWRIGHT MODEL ";
    for at in 8..bytes.len() {
        let (before, member) = bytes.split_at_mut(at);
        if !member.starts_with(MAGIC) {
            continue;
        }
        let length = before.last_chunk().map_or(0, |length| u64::from_le_bytes(*length));
        let file = member.get_mut(..usize::try_from(length).unwrap_or(usize::MAX));
        if let Some((covered, sum)) = file.and_then(|file| file.split_last_chunk_mut::<8>()) {
            *sum = xxh3_64(covered).to_le_bytes();
        }
    }
    if let Some((covered, sum)) = bytes.split_last_chunk_mut::<8>() {
        *sum = xxh3_64(covered).to_le_bytes();
    }
    bytes
}

/// Reads a file, within the limits of time and memory. A model must score rows, and its scorer must
/// give the bits of the reference implementation. Returns whether the file was read.
fn check(name: &str, bytes: &[u8]) -> bool {
    let before = ALLOCATED.load(Ordering::Relaxed);
    MAX_ALLOCATED.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let read = Model::from_bytes(bytes);
    let (took, used) = (start.elapsed(), MAX_ALLOCATED.load(Ordering::Relaxed) - before);
    // On a busy machine a process may pause for that long; a file that is really slow is slow
    // twice.
    if took >= TIME_LIMIT {
        let start = Instant::now();
        drop(Model::from_bytes(bytes));
        let again = start.elapsed();
        assert!(again < TIME_LIMIT, "{name}: {took:?}, then {again:?} for {bytes:?}");
    }
    assert!(used <= EXTRA_BYTES + 4 * bytes.len(), "{name}: {used} bytes for {bytes:?}");
    let Ok(model) = read else { return false };
    let scorer = model.scorer();
    let columns = scorer.columns();
    if columns > 1000 {
        return true;
    }
    let row: Vec<f32> = [0.5, f32::NAN, 3.0, -1.0].into_iter().cycle().take(columns).collect();
    let reference = model.score_row(&row);
    let (mut scores, mut buffers) = ([0.0; 7], ScoreBuffers::default());
    scorer.score_query(&row.repeat(7), &mut scores, &mut buffers).unwrap();
    for score in scores {
        assert_eq!(score.to_bits(), reference.to_bits(), "{name}: {bytes:?}");
    }
    true
}

#[test]
fn two_hundred_thousand_damaged_files_give_a_model_or_an_error() {
    let mut draw = Random::new(7, 0);
    let (mut count, mut read) = (0, 0);
    for (name, file) in files() {
        // ONNX graphs of linear models are written for other systems and not read back.
        assert_eq!(check(&name, &file), name != "line as onnx", "{name} is undamaged");
        let is_ours = ModelFormat::detect(&file).is_some_and(|format| format.name == "rankwright");
        for _ in 0..EDITS {
            let mut bytes = edited(&file, &mut draw);
            if is_ours {
                bytes = with_valid_checksums(bytes);
            }
            read += usize::from(check(&name, &bytes));
            count += 1;
        }
    }
    assert!(count >= 200_000, "{count}");
    // Most edits are damage, and some give a model.
    assert!(read > count / 100 && read < count / 2, "{read} of {count} were read");
}
