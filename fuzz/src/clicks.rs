//! Click logs: any bytes are a log or an error, and a log can be written and read again.

use rankwright::clicks::Impression;
use rankwright::clicks::log::write::{LogTarget, LogWriter};
use rankwright::clicks::log::{
    DroppedPart, LogCounts, LogFormat, LogInput, LogOptions, TimeSpan, read_impressions,
};
use rankwright::data::DataError;
use rankwright::data::bytes::Input;

/// The first thousand impressions of a log with these bytes, and the counts of the whole log. An
/// impression that stands for several equal ones stands for at most three here.
fn read(bytes: &[u8], options: &LogOptions) -> Option<(Vec<Impression>, LogCounts)> {
    let input = LogInput::from(Input::raw("fuzz", bytes.to_vec()));
    let mut impressions = Vec::new();
    let counts = read_impressions(vec![input], options, |impression| {
        let documents = impression.documents.len();
        assert!(impression.clicks.iter().all(|click| click.index < documents));
        if impressions.len() < 1000 {
            let mut impression = impression.clone();
            impression.count = impression.count.min(3);
            impressions.push(impression);
        }
        Ok::<_, DataError>(())
    });
    counts.ok().map(|counts| (impressions, counts))
}

/// Reads bytes in the detected format and in each of `formats`, in memory and with temporary files.
pub(crate) fn log(bytes: &[u8], formats: &[LogFormat]) {
    for format in formats.iter().copied().map(Some).chain([None]) {
        let options = LogOptions::default().format(format);
        let Some((impressions, counts)) = read(bytes, &options) else { continue };
        // A line may stand for a million impressions.
        let max_impressions = bytes.len() as u64 * 1_000_000;
        assert!(counts.impressions + counts.clicks_without_impression <= max_impressions);
        // With little memory, temporary files are used: the impressions are the same.
        let bounded = options.clone().max_join_bytes(64);
        if bytes.len() < 2000 {
            assert!(read(bytes, &bounded) == Some((impressions.clone(), counts)), "{format:?}");
        }
        let all = DroppedPart::ALL.iter().map(|(_, part)| *part);
        let cleaned = options.session_gap(Some(TimeSpan { seconds: 60.0 })).drop(all);
        assert!(read(bytes, &cleaned).is_some());
        write(&impressions);
    }
}

/// Writes impressions in every format; what is read again has no more impressions than were shown.
fn write(impressions: &[Impression]) {
    // A written log gives ids to impressions, which must differ.
    let mut ids: Vec<&str> = impressions.iter().map(|impression| impression.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let has_distinct_ids = ids.len() == impressions.len();
    for (_, target) in LogTarget::ALL {
        let mut out = Vec::new();
        let Ok(mut writer) = LogWriter::new(*target, &mut out) else { continue };
        if impressions.iter().try_for_each(|impression| writer.write(impression)).is_err() {
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
        let shown: u64 = impressions.iter().map(|impression| impression.count).sum();
        assert!(!has_distinct_ids || again.len() as u64 <= shown, "{target:?}");
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
