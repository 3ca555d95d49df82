//! Logs that are written and read again: everything that a format can hold comes back.

use proptest::prelude::*;
use rankwright_clicks::log::write::{LogTarget, LogWriter, LostPart, WrittenLog};
use rankwright_clicks::log::{LogFormat, LogInput, LogOptions, read_impressions};
use rankwright_clicks::{Click, Impression, Pages};
use rankwright_data::DataError;
use rankwright_data::bytes::Input;

fn write(target: LogTarget, pages: &[Impression]) -> (Vec<u8>, WrittenLog) {
    let mut out = Vec::new();
    let mut writer = LogWriter::new(target, &mut out).unwrap();
    pages.iter().for_each(|page| writer.write(page).unwrap());
    let written = writer.finish().unwrap();
    (out, written)
}

fn read(bytes: Vec<u8>, format: Option<LogFormat>) -> Vec<Impression> {
    let input = LogInput::from(Input::raw("log", bytes));
    let mut pages = Vec::new();
    read_impressions(vec![input], &LogOptions::default().format(format), |page| {
        pages.push(page.clone());
        Ok::<_, DataError>(())
    })
    .unwrap();
    pages
}

/// An impression without the parts that a format loses.
fn kept(target: LogTarget, mut page: Impression, number: usize) -> Impression {
    let is_table = matches!(target, LogTarget::Csv | LogTarget::Tsv);
    let holds_ids = matches!(target, LogTarget::Ubi | LogTarget::Metarank) || is_table;
    if page.id.is_empty() && holds_ids {
        page.id = number.to_string();
    }
    if target == LogTarget::YandexLog {
        let mut kept = Impression::new(page.query, page.documents);
        kept.session = match page.session.is_empty() {
            true => number.to_string(),
            false => page.session,
        };
        kept.time = page.time.or(Some(0.0));
        kept.clicks = page.clicks;
        kept.clicks.iter_mut().for_each(|click| click.time = click.time.or(kept.time));
        return kept;
    }
    if target == LogTarget::YandexPages {
        let (query, documents, mut clicks) = (page.query, page.documents, page.clicks);
        clicks.iter_mut().for_each(|click| click.time = None);
        let mut page = Impression::new(query, documents);
        page.clicks = clicks;
        return page;
    }
    if is_table || matches!(target, LogTarget::Lists | LogTarget::Parquet) {
        let mut seen = Vec::new();
        page.clicks.retain(|click| {
            let is_new = !seen.contains(&click.index);
            seen.push(click.index);
            is_new
        });
        if target == LogTarget::Parquet {
            page.clicks.iter_mut().for_each(|click| click.time = None);
        }
        if page.clicks.iter().any(|click| click.time.is_none()) {
            page.clicks.sort_by_key(|click| click.index);
        }
    }
    page
}

/// Texts that every format can hold, with characters that some must escape.
fn text() -> impl Strategy<Value = String> {
    "[a-z0-9\"'äß{}#|]{1,6}( [a-z\"]{1,3})?"
}

fn optional_text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), text()]
}

fn time() -> impl Strategy<Value = Option<f64>> {
    let milliseconds = (-5_000_000_000_000_i64..9_000_000_000_000).prop_map(|ms| ms as f64 / 1e3);
    proptest::option::of(milliseconds)
}

fn page() -> impl Strategy<Value = Impression> {
    let documents = proptest::collection::btree_set(text(), 1..6);
    let texts = (optional_text(), optional_text(), optional_text(), optional_text());
    let clicks = proptest::collection::vec((0..6_usize, 0..1000_u32), 0..4);
    let fields = (texts, text(), documents, clicks, time(), any::<bool>(), any::<bool>());
    fields.prop_map(|(texts, query, documents, clicks, time, is_timed, has_propensities)| {
        let mut page = Impression::new(query, documents);
        (page.session, page.user, page.ranker, page.device) = texts;
        page.time = time;
        let count = page.documents.len();
        let of_click = |(index, seconds): (usize, u32)| Click {
            index: index % count,
            time: is_timed.then(|| 1e9 + f64::from(seconds) * 0.5),
        };
        page.clicks = clicks.into_iter().map(of_click).collect();
        if is_timed {
            // Formats with a list of times do not keep the order of clicks at one time.
            page.clicks
                .sort_by(|a, b| a.time.partial_cmp(&b.time).unwrap().then(a.index.cmp(&b.index)));
        }
        if has_propensities {
            page.propensities = (0..count).map(|rank| 1.0 / (rank + 3) as f64).collect();
        }
        page
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_keeps_what_it_can_hold(
        mut pages in proptest::collection::vec(page(), 1..8),
        has_ids in any::<bool>(),
    ) {
        if has_ids {
            for (number, page) in pages.iter_mut().enumerate() {
                page.id = format!("i{number}");
            }
        }
        for (name, target) in LogTarget::ALL {
            let (bytes, written) = write(*target, &pages);
            // A query or a session may begin like JSON.
            let format = match target {
                LogTarget::YandexPages => Some(LogFormat::YandexPages),
                LogTarget::YandexLog => Some(LogFormat::YandexLog),
                _ => None,
            };
            let found = read(bytes, format);
            let expected: Vec<Impression> = (1..)
                .zip(&pages)
                .map(|(number, page)| kept(*target, page.clone(), number))
                .collect();
            prop_assert_eq!(&found, &expected, "{}", name);
            prop_assert_eq!(written.impressions, pages.len() as u64);
            // Without a reported loss nothing is lost.
            if written.lost.is_empty() && written.made_ids == 0 {
                prop_assert_eq!(&found, &pages, "{}", name);
            }
        }
    }
}

#[test]
fn losses_are_counted_by_part() {
    let mut page = Impression::new("q", ["a", "b"]).clicked([2, 1, 2]);
    page.user = "u".into();
    page.propensities = vec![0.5, 0.5];
    let parts = |target| -> Vec<LostPart> {
        let written = write(target, &[page.clone(), Impression::new("q", ["a"])]).1;
        assert!(written.lost.iter().all(|lost| lost.impressions == 1));
        written.lost.iter().map(|lost| lost.part).collect()
    };
    assert_eq!(parts(LogTarget::Lists), [LostPart::ClickOrder, LostPart::RepeatedClicks]);
    assert_eq!(parts(LogTarget::YandexPages), [LostPart::Users, LostPart::Propensities]);
    assert_eq!(parts(LogTarget::Ubi), []);
    assert_eq!(write(LogTarget::Metarank, &[page.clone()]).1.made_ids, 1);
    page.time = Some(1e12);
    assert_eq!(write(LogTarget::Ubi, &[page]).1.lost[0].part, LostPart::Times);
}

#[test]
fn separators_of_a_format_are_refused() {
    let mut out = Vec::new();
    let mut writer = LogWriter::new(LogTarget::YandexPages, &mut out).unwrap();
    let mut log = Vec::new();
    let mut lines = LogWriter::new(LogTarget::YandexLog, &mut log).unwrap();
    for (query, document) in [("q\tr", "a"), ("q", "a\tb"), ("q", ""), ("", "a")] {
        let error = lines.write(&Impression::new(query, [document])).unwrap_err();
        assert!(error.to_string().contains("yandex-log"), "{error}");
    }
    for (query, document) in [("q", "a,b"), ("q", "a:b"), ("q;", "a"), ("q\t", "a"), ("q", " a")] {
        let error = writer.write(&Impression::new(query, [document])).unwrap_err();
        assert!(error.to_string().contains("separator"), "{error}");
        assert_eq!(error.kind(), "separator");
    }
}

/// An impression that stands for several is one line where the format has a count, and several
/// impressions elsewhere.
#[test]
fn counted_impressions_are_written_as_often_as_they_were_shown() {
    let mut page = Impression::new("q", ["a", "b"]).clicked([2]);
    page.count = 3;
    for (name, target) in LogTarget::ALL {
        let (bytes, written) = write(*target, &[page.clone(), Impression::new("q", ["a"])]);
        assert_eq!(written.impressions, 4, "{name}");
        let found = read(bytes, None);
        let shown: Vec<(u64, usize)> =
            found.iter().map(|page| (page.count, page.clicks.len())).collect();
        match target {
            LogTarget::Lists => assert_eq!(shown, [(3, 1), (1, 0)]),
            _ => assert_eq!(shown, [(1, 1), (1, 1), (1, 1), (1, 0)], "{name}"),
        }
        assert_eq!(Pages::collect(&found).impressions(), 4, "{name}");
    }
    page.id = "i".into();
    let found = read(write(LogTarget::Ubi, &[page]).0, None);
    assert_eq!(found.iter().map(|page| page.id.as_str()).collect::<Vec<_>>(), ["i", "i#2", "i#3"]);
}

/// The three spacings of the end of a record that occur in files of the challenge.
#[test]
fn pages_of_the_challenge_are_read_with_any_spacing() {
    let text = b"q\t1,2 : 2 ;q\t1,2 : 1; q\t2,1 :;\nq\t1 : 1 ; \n".to_vec();
    let pages = read(text, None);
    assert_eq!(pages.len(), 4);
    assert_eq!(pages[0].clicked_ranks(), [false, true]);
}
