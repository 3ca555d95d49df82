//! A log larger than memory: generated while it is read, joined in temporary files.

use std::io::{self, Read};
use std::time::Instant;

use rankwright_clicks::LogSummaryBuilder;
use rankwright_clicks::log::{LogInput, LogOptions, read_impressions};
use rankwright_data::DataError;
use rankwright_data::bytes::Input;

/// A UBI log of any length that is made while it is read. The clicks of an impression come a few
/// thousand lines after it.
struct GeneratedLog {
    /// Bytes that are still to be made.
    remaining: u64,
    page: u64,
    ready: Vec<u8>,
    read: usize,
}

/// Number of impressions between an impression and its click.
const DELAY: u64 = 5000;

impl GeneratedLog {
    fn new(bytes: u64) -> Self {
        GeneratedLog { remaining: bytes, page: 0, ready: Vec::new(), read: 0 }
    }

    /// Makes the lines of the next impressions.
    fn fill(&mut self) {
        use std::io::Write;
        self.ready.clear();
        self.read = 0;
        for _ in 0..64 {
            let page = self.page;
            self.page += 1;
            let out = &mut self.ready;
            let time = 1_700_000_000 + page;
            write!(
                out,
                r#"{{"application":"shop","query_id":"f3a1-{page:012}","client_id":"c-{}","user_query":"query {}","timestamp":"{time}","query_attributes":{{}},"query_response_hit_ids":["#,
                page % 100_000,
                page % 1000,
            )
            .unwrap();
            for rank in 0..10 {
                let comma = if rank == 0 { "" } else { "," };
                write!(out, "{comma}\"doc-{:06}\"", (page * 7 + rank * rank) % 5000).unwrap();
            }
            out.extend_from_slice(b"]}\n");
            if let Some(clicked) = page.checked_sub(DELAY) {
                writeln!(
                    out,
                    r#"{{"application":"shop","action_name":"click","query_id":"f3a1-{clicked:012}","timestamp":"{time}","event_attributes":{{"object":{{"object_id":"doc-{:06}"}},"position":{{"ordinal":1}}}}}}"#,
                    (clicked * 7) % 5000
                )
                .unwrap();
            }
        }
    }
}

impl Read for GeneratedLog {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.ready.len() {
            if self.remaining == 0 {
                return Ok(0);
            }
            self.fill();
            self.remaining = self.remaining.saturating_sub(self.ready.len() as u64);
        }
        let mut rest = &self.ready[self.read..];
        let count = rest.read(buffer)?;
        self.read += count;
        Ok(count)
    }
}

/// Reads a generated log of this many bytes; the impressions that were read and the seconds.
fn stream(bytes: u64, bound: u64) -> (u64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let log = GeneratedLog::new(bytes);
    let input = LogInput::from_reader("generated", Box::new(log)).unwrap();
    let options = LogOptions::default().max_join_bytes(bound).scratch_folder(folder.path());
    let start = Instant::now();
    let mut number = 0;
    let counts = read_impressions(vec![input], &options, |page| {
        // The order is that of the log, and every click has found its page.
        assert!(page.id.ends_with(&format!("{number:012}")), "{}", page.id);
        assert!(page.clicks.iter().all(|click| click.index == 0));
        number += 1;
        Ok::<_, DataError>(())
    })
    .unwrap();
    assert_eq!(counts.impressions, number);
    assert_eq!(counts.clicks, number - DELAY);
    (number, start.elapsed().as_secs_f64())
}

/// The largest memory of this process so far, in bytes; `None` if the system does not report it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[test]
fn a_generated_log_is_streamed_with_little_memory() {
    stream(8 << 20, 1 << 20);
}

/// `RANKWRIGHT_LOG_GB` is the size of the log; the bound on waiting records is 256 MB.
#[test]
#[ignore = "streams 10 GB"]
#[allow(clippy::print_stdout)]
fn ten_gigabytes_are_streamed_within_a_bound_of_memory() {
    let given = std::env::var("RANKWRIGHT_LOG_GB").ok();
    let gigabytes: f64 = given.map_or(10.0, |text| text.parse().expect("a number of gigabytes"));
    let (impressions, seconds) = stream((gigabytes * 1e9) as u64, 256_000_000);
    let peak = peak_memory().unwrap_or(0);
    println!(
        "{gigabytes} GB, {impressions} impressions in {seconds:.0} s ({:.0} MB/s), peak memory {:.0} MB",
        gigabytes * 1e3 / seconds,
        peak as f64 / 1e6
    );
    assert!(peak < 1_200_000_000, "{peak}");
}

/// The speed of reading a UBI log that is in memory, alone and with its summary.
#[test]
#[ignore = "measures; build it with optimisation"]
#[allow(clippy::print_stdout)]
fn the_speed_of_reading_a_log_of_events() {
    let mut text = Vec::new();
    GeneratedLog::new(400_000_000).read_to_end(&mut text).unwrap();
    let megabytes = text.len() as f64 / 1e6;
    for _ in 0..3 {
        let input = LogInput::from(Input::raw("generated", text.clone()));
        let start = Instant::now();
        let counts =
            read_impressions(vec![input], &LogOptions::default(), |_| Ok::<_, DataError>(()));
        let alone = start.elapsed().as_secs_f64();
        let input = LogInput::from(Input::raw("generated", text.clone()));
        let start = Instant::now();
        let mut summary = LogSummaryBuilder::default();
        read_impressions(vec![input], &LogOptions::default(), |page| {
            summary.add(page);
            Ok::<_, DataError>(())
        })
        .unwrap();
        let summary = summary.finish(counts.unwrap());
        let with_summary = start.elapsed().as_secs_f64();
        println!(
            "{megabytes:.0} MB, {} impressions: {:.0} MB/s, with a summary {:.0} MB/s",
            summary.counts.impressions,
            megabytes / alone,
            megabytes / with_summary
        );
    }
}
