//! Click logs in and out, one file a format. The content tells the format.
//!
//! Impressions are passed on in the order of the log: that of their first record, file after file.
//! Formats whose records are whole pages are passed on page by page. In the others, clicks are
//! events of their own, or a page is several rows: their records wait until the end of the log, in
//! memory up to a bound and beyond it in temporary files (`record_store.rs`), and are then joined
//! (`join.rs`), in whatever order they came. Files are read on one thread, which parses in
//! parallel, while impressions are passed on from another, as references: their memory is used
//! again for later ones.

mod columns;
mod counts;
mod input;
mod join;
mod json_lines;
mod memory;
mod options;
#[cfg(feature = "columnar")]
mod parquet;
mod pipeline;
mod progress;
mod record;
mod record_store;
mod rows;
mod scalar;
mod sessions;
mod table;
pub mod write;
mod yandex_log;
mod yandex_pages;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rankwright_data::{DataError, SourceLocation, memory_limit, quote};
use rankwright_spec::{check_params, choices};

pub use columns::{LogColumns, LogRole};
pub use counts::LogCounts;
#[cfg(feature = "columnar")]
pub use input::LogRows;
pub use input::{LogInput, LogValues};
pub use options::{BotLimits, DroppedPart, LogOptions, TimeSpan};
pub use progress::LogProgress;

use crate::impression::Impression;
use pipeline::pipelined;
use progress::JoinProgress;
use record::{RecordBatch, RecordKind, write_impression};
use record_store::RecordStore;
use sessions::{BotCounter, find_sessions, needs_users, user_key};

choices! {
    /// A format of click logs.
    pub enum LogFormat {
        /// JSON lines: UBI, Metarank, pages with lists of documents and clicks, or rows of a table.
        JsonLines = "jsonl",
        /// The log of Yandex' Relevance Prediction Challenge: a line for each page and click.
        YandexLog = "yandex-log",
        /// Pages of that challenge, one record each: query, documents, clicked documents.
        YandexPages = "yandex-pages",
        /// A table with columns separated by commas, and a row for each shown document.
        Csv = "csv",
        /// A table with columns separated by tabs, and a row for each shown document.
        Tsv = "tsv",
        /// A Parquet file with a row for each shown document, or for each page.
        Parquet = "parquet",
    }
}

impl LogFormat {
    /// The format of a text, by its beginning; `None` if it is none of them.
    pub fn detect(text: &[u8]) -> Option<Self> {
        Self::detect_with(text, &LogOptions::default())
    }

    /// The format of a text whose columns may have given roles.
    fn detect_with(text: &[u8], options: &LogOptions) -> Option<Self> {
        if text.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        let start = text.trim_ascii_start();
        let object = start.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        if object.is_some_and(|inside| matches!(inside, [] | [b'"' | b'}', ..])) {
            return Some(Self::JsonLines);
        }
        let tables = [(b'\t', Self::Tsv), (b',', Self::Csv)];
        let is_table = |(delimiter, _): &&(u8, Self)| table::is_table(start, *delimiter, options);
        if let Some((_, format)) = tables.iter().find(is_table) {
            return Some(*format);
        }
        if yandex_log::is_log(start) {
            return Some(Self::YandexLog);
        }
        yandex_pages::is_pages(start).then_some(Self::YandexPages)
    }
}

/// Reads a click log of several files and passes each impression to `visit`. The format is told by
/// the content of each file if it is not given.
///
/// ```
/// use rankwright_clicks::log::read_log;
/// use rankwright_data::bytes::Input;
///
/// let line = r#"{"query": "red shoe", "docs": ["a", "b"], "clicks": [0, 1]}"#;
/// let input = Input::raw("log.jsonl", line.as_bytes().to_vec());
/// let mut pages = Vec::new();
/// let counts = read_log([input], None, |page| pages.push(page.clone()))?;
/// assert_eq!((counts.impressions, counts.clicks), (1, 1));
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
pub fn read_log(
    inputs: impl IntoIterator<Item = impl Into<LogInput>>,
    format: Option<LogFormat>,
    mut visit: impl FnMut(&Impression),
) -> Result<LogCounts, DataError> {
    let inputs = inputs.into_iter().map(Into::into).collect();
    read_impressions(inputs, &LogOptions::default().format(format), |page| {
        visit(page);
        Ok::<_, DataError>(())
    })
}

/// Reads a click log of several files with options, and passes each impression to `visit` until
/// that fails.
///
/// ```
/// use rankwright_clicks::log::{DroppedPart, LogInput, LogOptions, read_impressions};
/// use rankwright_data::DataError;
/// use rankwright_data::bytes::Input;
///
/// let table = "impression,query,document,position,click\n1,cat,a,2,1\n1,cat,b,1,0\n";
/// let input = LogInput::from(Input::raw("log.csv", table.as_bytes().to_vec()));
/// let options = LogOptions::default().drop([DroppedPart::Repeated]);
/// read_impressions(vec![input], &options, |page| {
///     assert_eq!(page.documents, ["b", "a"]);
///     Ok::<_, DataError>(())
/// })?;
/// # Ok::<(), DataError>(())
/// ```
pub fn read_impressions<E: From<DataError>>(
    inputs: Vec<LogInput>,
    options: &LogOptions,
    visit: impl FnMut(&Impression) -> Result<(), E>,
) -> Result<LogCounts, E> {
    read_watched(inputs, options, |_| (), visit)
}

/// The same as [`read_impressions`], with the progress of reading passed to `watch`, on the same
/// thread.
pub fn read_watched<E: From<DataError>>(
    inputs: Vec<LogInput>,
    options: &LogOptions,
    mut watch: impl FnMut(LogProgress),
    mut visit: impl FnMut(&Impression) -> Result<(), E>,
) -> Result<LogCounts, E> {
    let mut failed = None;
    // Only this function depends on the type of the error, so that the rest is compiled once.
    let read = read_until_stopped(inputs, options, &mut watch, &mut |page| {
        visit(page).map_err(|error| {
            failed = Some(error);
            ReadStop::ByVisitor
        })
    });
    watch(LogProgress::Finished);
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, Ok(counts)) => Ok(counts),
        (None, Err(ReadStop::Data(error))) => Err(error.into()),
        (None, Err(ReadStop::ByVisitor)) => Err(record_store::UNREADABLE.into()),
    }
}

/// The reason why reading ends early.
#[derive(Debug)]
enum ReadStop {
    Data(DataError),
    /// The function that impressions are passed to has failed.
    ByVisitor,
}

impl From<DataError> for ReadStop {
    fn from(error: DataError) -> Self {
        ReadStop::Data(error)
    }
}

/// A function that takes impressions.
type VisitPage<'a> = dyn FnMut(&Impression) -> Result<(), ReadStop> + 'a;

fn read_until_stopped(
    mut inputs: Vec<LogInput>,
    options: &LogOptions,
    watch: &mut dyn FnMut(LogProgress),
    visit: &mut VisitPage<'_>,
) -> Result<LogCounts, ReadStop> {
    check_params(&options.bots, "bots").map_err(DataError::from)?;
    let total = inputs.iter().map(LogInput::length).sum();
    let bytes_read = Arc::new(AtomicU64::new(0));
    inputs.iter_mut().for_each(|input| input.count_bytes(&bytes_read));
    let mut counts = LogCounts::default();
    let mut cleaned = CleanedLog::new(options);
    let mut waiting = new_store(options);
    pipelined(
        |sender| {
            let send = &mut |batch| sender.send(batch);
            inputs.into_iter().try_for_each(|input| read_input(input, options, send))
        },
        |batch: &mut RecordBatch| {
            watch(LogProgress::Reading { bytes: bytes_read.load(Ordering::Relaxed), total });
            counts.other_events += batch.other_events;
            counts.off_page_clicks += batch.off_page_clicks;
            counts.clicks_without_impression += batch.clicks_without_impression;
            waiting.add(batch, |page| cleaned.add(page, visit))
        },
    )?;
    let mut joined = JoinProgress { watch, impressions: 0 };
    let off_page = waiting.finish(
        |records| join::join(records, &mut counts),
        |page| {
            joined.add();
            cleaned.add(page, visit)
        },
    )?;
    counts.off_page_clicks += off_page;
    counts += cleaned.finish(visit)?;
    Ok(counts)
}

fn new_store(options: &LogOptions) -> RecordStore {
    let bound = options.max_join_bytes.unwrap_or_else(|| memory_limit() / 4);
    let folder = options.scratch_folder.clone().unwrap_or_else(std::env::temp_dir);
    RecordStore::new(bound, folder)
}

/// Passes the records of an input on in batches.
fn read_input(
    mut input: LogInput,
    options: &LogOptions,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    match input.values() {
        Some(LogValues::Impressions(pages)) => return memory::read(input.name(), &pages, send),
        #[cfg(feature = "columnar")]
        Some(LogValues::Rows(rows)) => {
            return parquet::read_table(input.name(), &rows, options, send);
        }
        Some(LogValues::Text(_)) | None => {}
    }
    input.skip_byte_order_mark();
    let detected = || LogFormat::detect_with(input.beginning(), options);
    let format = options.format.or_else(detected).ok_or_else(|| unknown_format(&input))?;
    match format {
        LogFormat::JsonLines => json_lines::read(&mut input, options, send),
        LogFormat::YandexLog => yandex_log::read(&mut input, send),
        LogFormat::YandexPages => yandex_pages::read(&mut input, send),
        LogFormat::Csv => table::read(&mut input, b',', options, send),
        LogFormat::Tsv => table::read(&mut input, b'\t', options, send),
        #[cfg(feature = "columnar")]
        LogFormat::Parquet => parquet::read(input.into_whole()?, options, send),
        #[cfg(not(feature = "columnar"))]
        LogFormat::Parquet => {
            let format = rankwright_data::format::Format::Parquet;
            Err(DataError::NotBuilt { format, feature: "columnar" })
        }
    }
}

fn unknown_format(input: &LogInput) -> DataError {
    let location = SourceLocation::line(input.name(), 1);
    let names: Vec<&str> = LogFormat::ALL.iter().map(|(name, _)| *name).collect();
    let start = input.beginning().split(|byte| *byte == b'\n').next().unwrap_or_default();
    DataError::malformed(location, quote(start), format!("a click log ({})", names.join(", ")))
}

/// The impressions of a log on their way to the caller: counted, with sessions, and without what is
/// to be left out.
struct CleanedLog<'a> {
    options: &'a LogOptions,
    counts: LogCounts,
    bots: BotCounter,
    /// Impressions that wait until all of their user are known; `None` if they need not.
    by_user: Option<RecordStore>,
    /// A buffer for the record of an impression.
    encoded: Vec<u8>,
}

impl<'a> CleanedLog<'a> {
    fn new(options: &'a LogOptions) -> Self {
        let by_user = needs_users(options).then(|| new_store(options));
        let (counts, bots) = (LogCounts::default(), BotCounter::default());
        CleanedLog { options, counts, bots, by_user, encoded: Vec::new() }
    }

    fn add(&mut self, page: &mut Impression, visit: &mut VisitPage<'_>) -> Result<(), ReadStop> {
        if let Some(store) = &mut self.by_user {
            let key = user_key(page);
            self.encoded.clear();
            write_impression(&mut self.encoded, RecordKind::Page, key, page);
            return Ok(store.push(RecordKind::Page.hash(key), &self.encoded)?);
        }
        self.bots.add(page);
        match self.counts.add(page, self.options) {
            true => visit(page),
            false => Ok(()),
        }
    }

    fn finish(self, visit: &mut VisitPage<'_>) -> Result<LogCounts, ReadStop> {
        let Self { options, mut counts, bots, by_user, .. } = self;
        bots.finish(&options.bots, &mut counts);
        if let Some(store) = by_user {
            let mut of_users = LogCounts::default();
            store.finish(
                |records| find_sessions(records, options, &mut of_users),
                |page| match counts.add(page, options) {
                    true => visit(page),
                    false => Ok(()),
                },
            )?;
            counts += of_users;
        }
        Ok(counts)
    }
}
