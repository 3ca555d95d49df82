//! The words of five invented languages, which sound different from each other.
//!
//! A language has function words, content words that belong to one genre each, and common content
//! words of no genre. A third of the content words are loan words that all languages share, so that
//! a word alone does not tell the language. The names of artists are further words. All words are
//! different. Frequencies follow the Zipf-Mandelbrot law, 1 / (rank + 2.7).

use std::collections::HashSet;

use crate::random::Random;

/// The languages, all invented.
pub(super) const LANGUAGES: [&str; 5] = ["aruan", "belic", "cormish", "dalese", "estran"];

/// Percentage of music records and users of each language.
pub(super) const LANGUAGE_SHARES: [usize; 5] = [45, 22, 15, 10, 8];

/// The genres.
pub(super) const GENRES: [&str; 12] = [
    "ballad",
    "blues",
    "choral",
    "dance",
    "electronic",
    "folk",
    "jazz",
    "metal",
    "opera",
    "pop",
    "punk",
    "swing",
];

/// The sounds of a language: beginnings of syllables, vowels, and ends of words.
type Sounds = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

/// By language.
const SOUNDS: [Sounds; 5] = [
    (
        &["b", "d", "f", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "gr", "st", "br"],
        &["a", "e", "i", "o", "u"],
        &["n", "r", "l", "st", "m"],
    ),
    (
        &["b", "ch", "d", "g", "h", "k", "l", "m", "n", "z", "tr", "sh", "kl", "y"],
        &["a", "e", "o", "ai", "ou"],
        &["k", "sh", "n", "rt", "z"],
    ),
    (
        &["c", "d", "f", "g", "l", "m", "n", "p", "qu", "r", "s", "t", "pl", "v"],
        &["a", "e", "i", "io", "u", "ea"],
        &["s", "n", "th", "rm"],
    ),
    (
        &["j", "k", "l", "m", "n", "p", "r", "s", "t", "h", "v", "sk"],
        &["aa", "i", "o", "u", "ei", "y"],
        &["t", "ks", "l", "nd"],
    ),
    (
        &["b", "d", "dz", "g", "l", "m", "n", "r", "s", "zh", "v", "sv", "mr"],
        &["a", "e", "i", "o", "u", "ia"],
        &["v", "nk", "r", "ts", "j"],
    ),
];

/// The number of function words of a language.
const FUNCTION_WORDS: usize = 40;
/// The number of content words of a language.
const CONTENT_WORDS: usize = 3200;
/// The number of words for the names of artists.
const NAME_WORDS: usize = 1600;
/// Content words are made in rounds of sixteen: one for each genre, and four common words.
const ROUND_WORDS: usize = 16;
/// One in this many rounds of content words consists of loan words.
const ROUNDS_PER_LOAN: usize = 3;

/// All words. A word is used by its number, the index in `words`.
pub(super) struct Vocabulary {
    words: Vec<String>,
    /// Function words by language.
    function: Vec<Vec<u32>>,
    /// Content words of a genre, by language, then genre.
    topic: Vec<Vec<Vec<u32>>>,
    /// Common content words by language.
    common: Vec<Vec<u32>>,
    names: Vec<u32>,
    function_zipf: Zipf,
    topic_zipf: Zipf,
    common_zipf: Zipf,
    name_zipf: Zipf,
}

impl Vocabulary {
    /// Draws the words of all languages.
    pub(super) fn new(random: &mut Random) -> Vocabulary {
        let mut maker = WordMaker { words: Vec::new(), taken: HashSet::new() };
        let mut function_words =
            |sounds| (0..FUNCTION_WORDS).map(|_| maker.word(random, sounds, 1)).collect();
        let function: Vec<Vec<u32>> = SOUNDS.iter().map(&mut function_words).collect();
        let mut content: Vec<Vec<u32>> = Vec::new();
        for sounds in &SOUNDS {
            // The other languages borrow words of the first language.
            let loans = content.first().cloned().unwrap_or_default();
            let word = |i: usize| match loans.get(i) {
                Some(loan) if (i / ROUND_WORDS).is_multiple_of(ROUNDS_PER_LOAN) => *loan,
                _ => {
                    let syllables = 2 + random.below(2);
                    maker.word(random, sounds, syllables)
                }
            };
            content.push((0..CONTENT_WORDS).map(word).collect());
        }
        // The words at some positions of each round.
        let at_positions = |words: &[u32], is_kept: &dyn Fn(usize) -> bool| -> Vec<u32> {
            let kept = words.iter().enumerate().filter(|(i, _)| is_kept(i % ROUND_WORDS));
            kept.map(|(_, word)| *word).collect()
        };
        let topic = content
            .iter()
            .map(|words| (0..GENRES.len()).map(|g| at_positions(words, &|i| i == g)).collect())
            .collect();
        let common: Vec<Vec<u32>> =
            content.iter().map(|words| at_positions(words, &|i| i >= GENRES.len())).collect();
        let names =
            (0..NAME_WORDS).map(|i| maker.word(random, &SOUNDS[i % SOUNDS.len()], 2)).collect();
        Vocabulary {
            words: maker.words,
            function,
            topic,
            common,
            names,
            function_zipf: Zipf::new(FUNCTION_WORDS),
            topic_zipf: Zipf::new(CONTENT_WORDS / ROUND_WORDS),
            common_zipf: Zipf::new(CONTENT_WORDS / ROUND_WORDS * (ROUND_WORDS - GENRES.len())),
            name_zipf: Zipf::new(NAME_WORDS),
        }
    }

    /// Number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The spelling of a word.
    pub(super) fn text(&self, word: u32) -> &str {
        &self.words[word as usize]
    }

    /// Whether a word is a function word; these have the lowest numbers.
    pub(super) fn is_function_word(&self, word: u32) -> bool {
        (word as usize) < FUNCTION_WORDS * LANGUAGES.len()
    }

    /// Draws a function word of a language.
    pub(super) fn function(&self, random: &mut Random, language: usize) -> u32 {
        self.function[language][self.function_zipf.draw(random)]
    }

    /// Draws a word of a genre.
    pub(super) fn topic(&self, random: &mut Random, language: usize, genre: usize) -> u32 {
        self.topic[language][genre][self.topic_zipf.draw(random)]
    }

    /// Draws a word of a genre for the theme of a record; rare words are more likely here than by
    /// their frequency.
    pub(super) fn theme(&self, random: &mut Random, language: usize, genre: usize) -> u32 {
        let words = &self.topic[language][genre];
        let u = random.unit();
        words[((0.3 + 0.7 * u) * u * words.len() as f64) as usize]
    }

    /// Draws a common content word.
    pub(super) fn common(&self, random: &mut Random, language: usize) -> u32 {
        self.common[language][self.common_zipf.draw(random)]
    }

    /// Draws a word for the name of an artist.
    pub(super) fn name(&self, random: &mut Random) -> u32 {
        self.names[self.name_zipf.draw(random)]
    }
}

/// Makes words that are different from all earlier ones.
struct WordMaker {
    words: Vec<String>,
    /// The same words, to find duplicates.
    taken: HashSet<String>,
}

impl WordMaker {
    /// Makes a word of at least this many syllables and returns its number.
    fn word(&mut self, random: &mut Random, sounds: &Sounds, mut syllables: usize) -> u32 {
        let (onsets, vowels, codas) = sounds;
        loop {
            let mut word = String::new();
            for _ in 0..syllables {
                word.push_str(onsets[random.below(onsets.len())]);
                word.push_str(vowels[random.below(vowels.len())]);
            }
            if random.unit() < 0.4 {
                word.push_str(codas[random.below(codas.len())]);
            }
            if self.taken.insert(word.clone()) {
                self.words.push(word);
                return self.words.len() as u32 - 1;
            }
            // The word exists already. Sometimes a syllable is added, so that words do not run out.
            syllables += usize::from(random.unit() < 0.3);
        }
    }
}

/// Draws ranks, from 0, with a probability proportional to 1 / (rank + 2.7).
struct Zipf {
    /// Cumulative sums.
    sums: Vec<f64>,
}

impl Zipf {
    fn new(count: usize) -> Zipf {
        let mut sum = 0.0;
        let sums = (0..count).map(|rank| {
            sum += 1.0 / (rank as f64 + 2.7);
            sum
        });
        Zipf { sums: sums.collect() }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let drawn = random.unit() * self.sums.last().copied().unwrap_or(0.0);
        self.sums.partition_point(|sum| *sum <= drawn).min(self.sums.len() - 1)
    }
}

/// Draws a language by its share.
pub(super) fn language(random: &mut Random) -> usize {
    let mut percent = random.below(100);
    for (language, share) in LANGUAGE_SHARES.iter().enumerate() {
        if percent < *share {
            return language;
        }
        percent -= share;
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_ascii_and_partly_shared() {
        let vocabulary = Vocabulary::new(&mut Random::new(1, 1));
        let distinct: HashSet<&String> = vocabulary.words.iter().collect();
        assert_eq!(distinct.len(), vocabulary.len());
        assert!(vocabulary.words.iter().all(|w| w.bytes().all(|b| b.is_ascii_lowercase())));
        // The words of one genre (any) in a language: one in each round.
        let words_of =
            |language: usize| vocabulary.topic[language][3].iter().collect::<HashSet<_>>();
        let shared = words_of(0).intersection(&words_of(4)).count();
        let rounds = CONTENT_WORDS / ROUND_WORDS;
        assert_eq!((words_of(0).len(), shared), (rounds, rounds.div_ceil(ROUNDS_PER_LOAN)));
    }

    #[test]
    fn ranks_follow_zipf() {
        let zipf = Zipf::new(100);
        let mut random = Random::new(2, 2);
        let mut counts = [0f64; 100];
        (0..100_000).for_each(|_| counts[zipf.draw(&mut random)] += 1.0);
        // The frequencies 1 / 2.7 and 1 / (10 + 2.7).
        assert!((counts[0] / counts[10] - 12.7 / 2.7).abs() < 0.5, "{counts:?}");
        assert!(counts.iter().all(|count| *count > 0.0));
    }
}
