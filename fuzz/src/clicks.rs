//! Click logs: any bytes are a log or an error, and a log can be written and read again.

use rankwright::clicks::Impression;
use rankwright::clicks::log::write::{LogTarget, LogWriter};
use rankwright::clicks::log::{
    DroppedPart, LogCounts, LogFormat, LogInput, LogOptions, TimeSpan, read_impressions,
};
use rankwright::data::DataError;
use rankwright::data::bytes::Input;

/// Impressions of these bytes, at most a thousand, and the counts.
fn read(bytes: &[u8], options: &LogOptions) -> Option<(Vec<Impression>, LogCounts)> {
    let input = LogInput::from(Input::raw("fuzz", bytes.to_vec()));
    let mut pages = Vec::new();
    let counts = read_impressions(vec![input], options, |page| {
        assert!(page.clicks.iter().all(|click| click.index < page.documents.len()));
        if pages.len() < 1000 {
            let mut page = page.clone();
            page.count = page.count.min(3);
            pages.push(page);
        }
        Ok::<_, DataError>(())
    });
    counts.ok().map(|counts| (pages, counts))
}

/// Reads bytes in the detected format and in each of these, in memory and with temporary files.
pub(crate) fn log(bytes: &[u8], formats: &[LogFormat]) {
    for format in formats.iter().copied().map(Some).chain([None]) {
        let options = LogOptions::default().format(format);
        let Some((pages, counts)) = read(bytes, &options) else { continue };
        // A line may stand for a million impressions.
        let max_impressions = bytes.len() as u64 * 1_000_000;
        assert!(counts.impressions + counts.clicks_without_impression <= max_impressions);
        // With little memory, temporary files are used: the impressions are the same.
        let bounded = options.clone().max_join_bytes(64);
        if bytes.len() < 2000 {
            assert!(read(bytes, &bounded) == Some((pages.clone(), counts)), "{format:?}");
        }
        let all = DroppedPart::ALL.iter().map(|(_, part)| *part);
        let cleaned = options.session_gap(Some(TimeSpan { seconds: 60.0 })).drop(all);
        assert!(read(bytes, &cleaned).is_some());
        write(&pages);
    }
}

/// Writes impressions in every format; what is read again has no more impressions than were shown.
fn write(pages: &[Impression]) {
    // A written log gives ids to impressions, which must differ.
    let mut ids: Vec<&str> = pages.iter().map(|page| page.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let has_ids = ids.len() == pages.len();
    for (_, target) in LogTarget::ALL {
        let mut out = Vec::new();
        let Ok(mut writer) = LogWriter::new(*target, &mut out) else { continue };
        if pages.iter().try_for_each(|page| writer.write(page)).is_err() {
            continue;
        }
        if writer.finish().is_err() {
            continue;
        }
        let Some((again, _)) = read(&out, &LogOptions::default().format(format_of(*target))) else {
            // Empty ids of documents, or times beyond all years, are read only from their own
            // format.
            continue;
        };
        let shown: u64 = pages.iter().map(|page| page.count).sum();
        assert!(!has_ids || again.len() as u64 <= shown, "{target:?}");
    }
}

/// The format in which a log that was written as `target` is read.
fn format_of(target: LogTarget) -> Option<LogFormat> {
    Some(match target {
        LogTarget::Parquet => LogFormat::Parquet,
        LogTarget::YandexLog => LogFormat::YandexLog,
        LogTarget::YandexPages => LogFormat::YandexPages,
        LogTarget::Csv => LogFormat::Csv,
        LogTarget::Tsv => LogFormat::Tsv,
        _ => LogFormat::JsonLines,
    })
}
