//! Artists and their records: theme, year, number of plays, and the records that influenced them.
//!
//! A record has a theme, a few words of its genre. Its title and a part of its text are made of
//! these words, so that the words of a record belong together. Plays have a heavy tail: an artist's
//! fame times a Pareto-distributed number, more for newer and for better records. Links to earlier
//! records follow preferential attachment (Barabási, Albert 1999): a record that is already linked
//! to is more likely to be linked to again, and so is a better one. The quality of a record stays
//! hidden; plays and links are noisy functions of it.

use rayon::prelude::*;

use super::words::{GENRES, Vocabulary, language};
use super::{RandomStreams, StoreOptions};
use crate::random::Random;

/// First and last year of a record.
pub(super) const YEARS: (u32, u32) = (1950, 2025);

struct Artist {
    /// One or two words.
    name: Vec<u32>,
    /// The number of the main language.
    language: usize,
    /// The number of the main genre.
    genre: usize,
    /// The year of the first record.
    start: u32,
    /// A factor on the plays of the artist's records; has a heavy tail.
    fame: f64,
}

/// A record whose words are numbers of the vocabulary.
pub(super) struct RecordDraft {
    /// The number of the artist.
    pub(super) artist: u32,
    pub(super) artist_name: Vec<u32>,
    /// The fame of the artist.
    pub(super) fame: f64,
    pub(super) title: Vec<u32>,
    pub(super) text: Vec<u32>,
    pub(super) language: usize,
    pub(super) genre: usize,
    pub(super) year: u32,
    /// The number of plays.
    pub(super) popularity: u64,
    /// Hidden quality, approximately normal with mean 0 and variance 1.
    pub(super) quality: f64,
    /// Numbers of the records that influenced this record, ascending.
    pub(super) links: Vec<u32>,
}

/// Draws the records of a store.
pub(super) fn draw(
    options: &StoreOptions,
    vocabulary: &Vocabulary,
    streams: &RandomStreams,
) -> Vec<RecordDraft> {
    let (count, overlap) = (options.records, options.genre_overlap);
    let artists: Vec<Artist> =
        (0..count / 8 + 2).map(|i| draw_artist(&mut streams.artist(i), vocabulary)).collect();
    let mut drafts: Vec<RecordDraft> = (0..count)
        .into_par_iter()
        .map(|i| draw_record(&mut streams.record(i), vocabulary, &artists, overlap))
        .collect();
    let links = influences(&drafts, &mut streams.links());
    for (draft, links) in drafts.iter_mut().zip(links) {
        draft.links = links;
    }
    drafts
}

fn draw_artist(random: &mut Random, vocabulary: &Vocabulary) -> Artist {
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

/// Draws a record by one of the artists, without its links; `overlap` is the share of words of a
/// random genre.
fn draw_record(
    random: &mut Random,
    vocabulary: &Vocabulary,
    artists: &[Artist],
    overlap: f64,
) -> RecordDraft {
    // The square makes artists with low numbers more likely: they make many records.
    let u = random.unit();
    let number = (u * u * artists.len() as f64) as usize;
    let artist = &artists[number];
    let genre = if random.unit() < 0.8 { artist.genre } else { random.below(GENRES.len()) };
    let language = if random.unit() < 0.8 { artist.language } else { language(random) };
    let career_years = (YEARS.1 + 1 - artist.start).min(25) as usize;
    let year = artist.start + random.below(career_years) as u32;
    let quality = random.normal();
    let recency = f64::from(year - YEARS.0) / f64::from(YEARS.1 - YEARS.0);
    let pareto = 1.0 / (1.0005 - random.unit());
    let by_quality = (2.0 + quality).max(0.2) / 2.0;
    let popularity = (4.0 * artist.fame * pareto * by_quality * (0.4 + recency)) as u64;
    let theme_words = 5 + random.below(5);
    // Without overlap there is no further draw, so that such a store has the same bytes as before
    // `genre_overlap` existed.
    let word_genre = |random: &mut Random| match overlap > 0.0 && random.unit() < overlap {
        true => random.below(GENRES.len()),
        false => genre,
    };
    let theme_word = |_| {
        let genre = word_genre(random);
        vocabulary.theme(random, language, genre)
    };
    let theme: Vec<u32> = (0..theme_words).map(theme_word).collect();
    let title = draw_title(random, vocabulary, language, &theme);
    let length = 30 + random.below(91);
    let text = (0..length).map(|_| match random.unit() {
        u if u < 0.35 => vocabulary.function(random, language),
        u if u < 0.60 => theme[random.below(theme.len())],
        u if u < 0.85 => {
            let genre = word_genre(random);
            vocabulary.topic(random, language, genre)
        }
        _ => vocabulary.common(random, language),
    });
    RecordDraft {
        text: text.collect(),
        artist: number as u32,
        artist_name: artist.name.clone(),
        fame: artist.fame,
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
fn draw_title(
    random: &mut Random,
    vocabulary: &Vocabulary,
    language: usize,
    theme: &[u32],
) -> Vec<u32> {
    let mut title: Vec<u32> = theme[..1 + random.below(3)].to_vec();
    if random.unit() < 0.3 {
        title.insert(title.len() - 1, vocabulary.function(random, language));
    }
    title.dedup();
    title
}

/// The records that influenced each record; none of them is later, and all are by other artists.
fn influences(drafts: &[RecordDraft], random: &mut Random) -> Vec<Vec<u32>> {
    let mut order: Vec<u32> = (0..drafts.len() as u32).collect();
    order.sort_by_key(|i| drafts[*i as usize].year);
    let mut links = vec![Vec::new(); drafts.len()];
    // The targets of all links so far, once for each link.
    let mut linked: Vec<u32> = Vec::new();
    for (position, number) in order.iter().enumerate() {
        let record = &drafts[*number as usize];
        let of_record: &mut Vec<u32> = &mut links[*number as usize];
        for _ in 0..random.below(9) {
            let Some(other) = influence(drafts, record, &order[..position], &linked, random) else {
                continue;
            };
            if !of_record.contains(&other) {
                of_record.push(other);
                linked.push(other);
            }
        }
        of_record.sort_unstable();
    }
    links
}

/// A record that influenced `record`; `None` if none of eight random candidates fits. Candidates
/// are drawn from `linked`, the targets of earlier links, or from `earlier`, all earlier records.
fn influence(
    drafts: &[RecordDraft],
    record: &RecordDraft,
    earlier: &[u32],
    linked: &[u32],
    random: &mut Random,
) -> Option<u32> {
    for _ in 0..8 {
        let use_linked = !linked.is_empty() && random.unit() < 0.6;
        let candidates = if use_linked { linked } else { earlier };
        // Late candidates are more likely; otherwise the first records would get almost all links.
        let u = random.unit();
        let from_end = (u * u * candidates.len() as f64) as usize;
        let number = *candidates.iter().rev().nth(from_end)?;
        let other = &drafts[number as usize];
        let fits_genre = other.genre == record.genre || random.unit() < 0.2;
        let is_good = random.unit() < 0.3 + 0.4 * other.quality;
        if fits_genre && is_good && other.artist != record.artist {
            return Some(number);
        }
    }
    None
}
