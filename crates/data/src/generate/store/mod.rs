//! A shop of music records: synthetic documents, queries and graded judgements for search
//! experiments.
//!
//! Everything in it is invented. Words, languages, artists and lyrics-like texts are made of
//! syllables; relevance comes from a hidden utility of text match, plays, language and recency (see
//! `judge.rs`), so that a ranking by text alone is decent, and a learner with the other features
//! ranks better. `words.rs` makes the vocabulary, `records.rs` the records with their links,
//! `queries.rs` the queries. 20,000 records with 600 queries take about a third of a second of
//! processor time.
//!
//! Only basic arithmetic and square roots are used, and every record and query has its own stream
//! of random numbers, so that the result depends on the options only, not on machine or threads.
//!
//! The numeric constants in these files are chosen by hand, so that distributions look natural;
//! they have no other meaning.

mod judge;
mod queries;
mod records;
mod words;

use std::io::{self, Write};
use std::path::Path;

use rankwright_spec::{check_params, params};
use rayon::prelude::*;

use crate::error::DataError;
use crate::lists::{ListFormat, Qrels, QueryLists};
use crate::memory::memory_limit;
use crate::random::{DEFAULT_SEED, Random};
use crate::store::{WriteBody, write_together};
use judge::Judge;
use records::RecordDraft;
use words::{GENRES, LANGUAGES, Vocabulary};

/// Maximum memory of a record while it is made and held.
const BYTES_PER_RECORD: u64 = 4096;
/// Maximum memory of a query and its judgements.
const BYTES_PER_QUERY: u64 = 16_384;

params! {
    /// Parameters of a generated shop of music records.
    pub struct StoreOptions {
        records: usize = 20_000, 1.., "Number of records.";
        queries: usize = 600, 1.., "Number of queries.";
        seed: u64 = DEFAULT_SEED, .., "Seed of all draws; the same seed gives the same bytes on any machine.";
        artist_popularity: bool = false, .., "Whether records have the popularity of their artist.";
        genre_overlap: f64 = 0.0, 0.0..=1.0,
            "Share of a record's words that are drawn from a random genre instead of its own; with 0, \
             words tell the genre of almost every record.";
    }
}

/// A music record, the document of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreRecord {
    /// The id, `r000001` and so on.
    pub id: String,
    /// The title.
    pub title: String,
    /// The artist.
    pub artist: String,
    /// Lyrics-like text of 30 to 120 words, lines divided by ` / `.
    pub text: String,
    /// One of five invented languages.
    pub language: &'static str,
    /// One of twelve genres.
    pub genre: &'static str,
    /// The year it came out, 1950 to 2025.
    pub year: u32,
    /// The number of plays; a few records have very many.
    pub popularity: u64,
    /// The popularity of the artist, from 99 to 2236; `None` if it is not requested. The plays of
    /// all records of the artist depend on it.
    pub artist_popularity: Option<u64>,
    /// Ids of records by other artists that influenced this record.
    pub links: Vec<String>,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreQuery {
    /// The id, `q0001` and so on.
    pub id: String,
    /// The text of the query.
    pub text: String,
    /// The language of the user.
    pub language: &'static str,
}

/// A generated shop of music records.
#[derive(Debug, PartialEq)]
pub struct Store {
    /// The records.
    pub documents: Vec<StoreRecord>,
    /// The queries.
    pub queries: Vec<StoreQuery>,
    /// Grades 0 to 4 for 50 to 150 records per query.
    pub qrels: Qrels,
}

impl StoreOptions {
    /// Generates the store.
    ///
    /// ```
    /// use rankwright_data::generate::StoreOptions;
    /// let store = StoreOptions::default().records(300).queries(5).generate()?;
    /// assert_eq!((store.documents.len(), store.queries.len()), (300, 5));
    /// assert!((1950..=2025).contains(&store.documents[0].year));
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn generate(&self) -> Result<Store, DataError> {
        check_params(self, "store")?;
        self.check_size()?;
        let streams = RandomStreams { seed: self.seed };
        // `drafts` are records whose words are numbers of the vocabulary.
        let vocabulary = Vocabulary::new(&mut streams.words());
        let drafts = records::draw(self, &vocabulary, &streams);
        let judge = Judge::new(&drafts, &vocabulary);
        let generated: Vec<(queries::GeneratedQuery, Vec<(u32, u8)>)> = (0..self.queries)
            .into_par_iter()
            .map(|number| {
                let mut random = streams.query(number);
                let query = queries::draw(&mut random, &vocabulary, &drafts);
                let grades = judge.grade(&query, &mut random);
                (query, grades)
            })
            .collect();
        let documents: Vec<StoreRecord> = (0..drafts.len())
            .into_par_iter()
            .map(|i| to_record(i, &drafts[i], &vocabulary))
            .map(|record| match self.artist_popularity {
                true => record,
                false => StoreRecord { artist_popularity: None, ..record },
            })
            .collect();
        let mut queries = Vec::with_capacity(generated.len());
        let mut rows = Vec::new();
        for (number, (query, grades)) in generated.into_iter().enumerate() {
            let (id, language) = (format!("q{:04}", number + 1), LANGUAGES[query.language]);
            queries.push(StoreQuery { id, text: query.text, language });
            rows.extend(grades.into_iter().map(|(record, grade)| (number, record, grade)));
        }
        let rows = rows.iter().map(|(query, record, grade)| {
            (&*queries[*query].id, &*documents[*record as usize].id, f64::from(*grade))
        });
        let qrels = Qrels::from_lists(QueryLists::from_rows("the record store", rows)?);
        Ok(Store { documents, queries, qrels })
    }

    /// Rejects sizes that do not fit in memory, before anything is allocated.
    fn check_size(&self) -> Result<(), DataError> {
        let records = (self.records as u64).checked_mul(BYTES_PER_RECORD);
        let queries = (self.queries as u64).checked_mul(BYTES_PER_QUERY);
        let bytes = records.zip(queries).and_then(|(r, q)| r.checked_add(q));
        let fits = bytes.is_some_and(|bytes| bytes <= memory_limit());
        if fits && self.records < 1 << 31 {
            return Ok(());
        }
        let (records, queries) = (self.records, self.queries);
        Err(DataError::GeneratedStoreTooLarge { records, queries })
    }
}

impl Store {
    /// Writes `documents.jsonl`, `queries.jsonl` and `qrels.txt` (TREC columns) into an existing
    /// folder, all of them together: after a kill, readers see three old or three new files.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<(), DataError> {
        let folder = folder.as_ref();
        let documents: WriteBody<'_> =
            Box::new(|out| self.documents.iter().try_for_each(|record| write_record(out, record)));
        let queries: WriteBody<'_> = Box::new(|out| {
            self.queries.iter().try_for_each(|query| {
                let StoreQuery { id, text, language } = query;
                write_text_fields(out, &[("id", id), ("text", text), ("language", language)])?;
                out.write_all(b"}\n")
            })
        });
        let qrels: WriteBody<'_> = Box::new(|out| self.qrels.write_to(out, ListFormat::Trec));
        let files =
            [("documents.jsonl", documents), ("queries.jsonl", queries), ("qrels.txt", qrels)];
        write_together(files.map(|(name, body)| (folder.join(name), Some(body))))
    }
}

/// Writes a record as a JSON line. It is formatted here, because the order of keys must not depend
/// on the cargo features of serde_json.
fn write_record(out: &mut dyn Write, record: &StoreRecord) -> io::Result<()> {
    let StoreRecord { id, title, artist, text, language, genre, year, popularity, .. } = record;
    let texts: [(&str, &str); 6] = [
        ("id", id),
        ("title", title),
        ("artist", artist),
        ("text", text),
        ("language", language),
        ("genre", genre),
    ];
    write_text_fields(out, &texts)?;
    write!(out, ",\"year\":{year},\"popularity\":{popularity}")?;
    if let Some(popularity) = record.artist_popularity {
        write!(out, ",\"artist_popularity\":{popularity}")?;
    }
    out.write_all(b",\"links\":")?;
    serde_json::to_writer(&mut *out, &record.links)?;
    out.write_all(b"}\n")
}

/// Writes the beginning of a JSON object with these text fields; the caller closes the object.
fn write_text_fields(out: &mut dyn Write, fields: &[(&str, &str)]) -> io::Result<()> {
    for (index, (name, value)) in fields.iter().enumerate() {
        write!(out, "{}\"{name}\":", if index == 0 { "{" } else { "," })?;
        serde_json::to_writer(&mut *out, value)?;
    }
    Ok(())
}

fn record_id(number: usize) -> String {
    format!("r{:06}", number + 1)
}

/// A record with its words as text.
fn to_record(number: usize, draft: &RecordDraft, vocabulary: &Vocabulary) -> StoreRecord {
    let capitals = |words: &[u32]| -> String {
        let words: Vec<String> = words.iter().map(|w| capitalised(vocabulary.text(*w))).collect();
        words.join(" ")
    };
    // Seven words make a line.
    let lines: Vec<String> = draft
        .text
        .chunks(7)
        .map(|line| line.iter().map(|w| vocabulary.text(*w)).collect::<Vec<_>>().join(" "))
        .collect();
    StoreRecord {
        id: record_id(number),
        title: capitals(&draft.title),
        artist: capitals(&draft.artist_name),
        text: lines.join(" / "),
        language: LANGUAGES[draft.language],
        genre: GENRES[draft.genre],
        year: draft.year,
        popularity: draft.popularity,
        artist_popularity: Some((100.0 * draft.fame) as u64),
        links: draft.links.iter().map(|link| record_id(*link as usize)).collect(),
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// The streams of random numbers of a store: one each for the words, every artist, every record,
/// the links and every query.
struct RandomStreams {
    seed: u64,
}

impl RandomStreams {
    /// `kind` keeps the streams of different things apart.
    fn stream(&self, kind: u64, number: usize) -> Random {
        Random::new(self.seed, kind << 48 | number as u64)
    }

    fn words(&self) -> Random {
        self.stream(1, 0)
    }

    fn artist(&self, number: usize) -> Random {
        self.stream(2, number)
    }

    fn record(&self, number: usize) -> Random {
        self.stream(3, number)
    }

    fn links(&self) -> Random {
        self.stream(4, 0)
    }

    fn query(&self, number: usize) -> Random {
        self.stream(5, number)
    }
}

#[cfg(test)]
mod tests;
