//! Artists and their records: theme, year, number of plays, and the records that influenced them.
//!
//! A record has a theme of a few words of its genre; title and text are made of them, so that words
//! of a record belong together. Plays have a heavy tail: an artist's fame times a Pareto draw, more
//! for newer and for better records. Influence goes back in time by preferential attachment
//! (Barabási, Albert 1999): a record that was named before is more likely to be named again, better
//! ones more often. The quality of a record stays hidden; plays and links are noisy functions of
//! it.

use rayon::prelude::*;

use super::Streams;
use super::words::{GENRES, Vocabulary, language};
use crate::random::Random;

/// First and last year of a record.
pub(super) const YEARS: (u32, u32) = (1950, 2025);

struct Artist {
    name: Vec<u32>,
    language: usize,
    genre: usize,
    start: u32,
    fame: f64,
}

/// A record with words as numbers.
pub(super) struct RecordDraft {
    pub(super) artist: u32,
    pub(super) name: Vec<u32>,
    pub(super) title: Vec<u32>,
    pub(super) text: Vec<u32>,
    pub(super) language: usize,
    pub(super) genre: usize,
    pub(super) year: u32,
    pub(super) popularity: u64,
    /// Hidden quality.
    pub(super) quality: f64,
    /// Records that influenced it, ascending.
    pub(super) links: Vec<u32>,
}

/// Draws this number of records.
pub(super) fn draw(count: usize, vocabulary: &Vocabulary, streams: &Streams) -> Vec<RecordDraft> {
    let artists: Vec<Artist> =
        (0..count / 8 + 2).map(|i| artist(&mut streams.artist(i), vocabulary)).collect();
    let mut drafts: Vec<RecordDraft> = (0..count)
        .into_par_iter()
        .map(|i| record(&mut streams.record(i), vocabulary, &artists))
        .collect();
    let links = influences(&drafts, &mut streams.links());
    for (draft, links) in drafts.iter_mut().zip(links) {
        draft.links = links;
    }
    drafts
}

fn artist(random: &mut Random, vocabulary: &Vocabulary) -> Artist {
    let words = 1 + usize::from(random.unit() < 0.8);
    let lateness = random.unit().max(random.unit());
    Artist {
        name: (0..words).map(|_| vocabulary.name(random)).collect(),
        language: language(random),
        genre: random.below(GENRES.len()),
        start: YEARS.0 + (lateness * f64::from(YEARS.1 - YEARS.0)) as u32,
        fame: 1.0 / (1.002 - random.unit()).sqrt(),
    }
}

fn record(random: &mut Random, vocabulary: &Vocabulary, artists: &[Artist]) -> RecordDraft {
    // Some artists make many records.
    let u = random.unit();
    let number = (u * u * artists.len() as f64) as usize;
    let artist = &artists[number];
    let genre = if random.unit() < 0.8 { artist.genre } else { random.below(GENRES.len()) };
    let language = if random.unit() < 0.8 { artist.language } else { language(random) };
    let career = (YEARS.1 + 1 - artist.start).min(25) as usize;
    let year = artist.start + random.below(career) as u32;
    let quality = random.normal();
    let modern = f64::from(year - YEARS.0) / f64::from(YEARS.1 - YEARS.0);
    let pareto = 1.0 / (1.0005 - random.unit());
    let liked = (2.0 + quality).max(0.2) / 2.0;
    let popularity = (4.0 * artist.fame * pareto * liked * (0.4 + modern)) as u64;
    let themes = 5 + random.below(5);
    let theme: Vec<u32> = (0..themes).map(|_| vocabulary.theme(random, language, genre)).collect();
    let title = title(random, vocabulary, language, &theme);
    let length = 30 + random.below(91);
    let text = (0..length).map(|_| match random.unit() {
        u if u < 0.35 => vocabulary.function(random, language),
        u if u < 0.60 => theme[random.below(theme.len())],
        u if u < 0.85 => vocabulary.topic(random, language, genre),
        _ => vocabulary.common(random, language),
    });
    RecordDraft {
        text: text.collect(),
        artist: number as u32,
        name: artist.name.clone(),
        title,
        language,
        genre,
        year,
        popularity,
        quality,
        links: Vec::new(),
    }
}

/// One to three words of the theme, sometimes with a function word before the last.
fn title(random: &mut Random, vocabulary: &Vocabulary, language: usize, theme: &[u32]) -> Vec<u32> {
    let mut title: Vec<u32> = theme[..1 + random.below(3)].to_vec();
    if random.unit() < 0.3 {
        title.insert(title.len() - 1, vocabulary.function(random, language));
    }
    title.dedup();
    title
}

/// The records that influenced each record, all of them earlier and by other artists.
fn influences(drafts: &[RecordDraft], random: &mut Random) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..drafts.len() as u32).collect();
    order.sort_by_key(|i| drafts[*i as usize].year);
    let mut links = vec![Vec::new(); drafts.len()];
    let mut named: Vec<u32> = Vec::new();
    for (before, number) in order.iter().enumerate() {
        let own = &drafts[*number as usize];
        let found: &mut Vec<u32> = &mut links[*number as usize];
        for _ in 0..random.below(9) {
            let Some(other) = influence(drafts, own, &order[..before], &named, random) else {
                continue;
            };
            if !found.contains(&other) {
                found.push(other);
                named.push(other);
            }
        }
        found.sort_unstable();
    }
    links
}

/// One influence, if a few tries find one.
fn influence(
    drafts: &[RecordDraft],
    own: &RecordDraft,
    earlier: &[u32],
    named: &[u32],
    random: &mut Random,
) -> Option<u32> {
    for _ in 0..8 {
        let again = !named.is_empty() && random.unit() < 0.6;
        let from = if again { named } else { earlier };
        // Late records are named most, otherwise the first records would get all influence.
        let u = random.unit();
        let back = (u * u * from.len() as f64) as usize;
        let number = *from.iter().rev().nth(back)?;
        let other = &drafts[number as usize];
        let near = other.genre == own.genre || random.unit() < 0.2;
        let good = random.unit() < 0.3 + 0.4 * other.quality;
        if near && good && other.artist != own.artist {
            return Some(number);
        }
    }
    None
}
