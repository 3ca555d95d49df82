//! The words of five invented languages: pronounceable, and unlike each other.
//!
//! A language has function words, content words that belong to one genre each, and common content
//! words. A third of the content words are loans that all languages share, so that a word alone
//! does not tell the language. Names of artists are words of their own. No word has two meanings:
//! all are distinct. Frequencies follow Zipf's law, 1 / (rank + 2.7), by a table of sums.

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

/// The parts of syllables: beginnings, vowels, ends.
type Sounds = (&'static [&'static str], &'static [&'static str], &'static [&'static str]);

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

const FUNCTION: usize = 40;
const CONTENT: usize = 3200;
const NAMES: usize = 1600;
/// Content words are made in rounds of sixteen: one for each genre, the other four are common.
const ROUND: usize = 16;
/// One in this many rounds of content words consists of loan words.
const LOANS: usize = 3;

/// All words, as numbers.
pub(super) struct Vocabulary {
    words: Vec<String>,
    function: Vec<Vec<u32>>,
    /// Words by language, then genre.
    topic: Vec<Vec<Vec<u32>>>,
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
        let mut short = |sounds| (0..FUNCTION).map(|_| maker.word(random, sounds, 1)).collect();
        let function: Vec<Vec<u32>> = SOUNDS.iter().map(&mut short).collect();
        let mut content: Vec<Vec<u32>> = Vec::new();
        for sounds in &SOUNDS {
            let loans = content.first().cloned().unwrap_or_default();
            let word = |i: usize| match loans.get(i) {
                Some(loan) if (i / ROUND).is_multiple_of(LOANS) => *loan,
                _ => {
                    let syllables = 2 + random.below(2);
                    maker.word(random, sounds, syllables)
                }
            };
            content.push((0..CONTENT).map(word).collect());
        }
        let every = |words: &[u32], keep: &dyn Fn(usize) -> bool| -> Vec<u32> {
            words.iter().enumerate().filter(|(i, _)| keep(i % ROUND)).map(|(_, w)| *w).collect()
        };
        let topic = content
            .iter()
            .map(|words| (0..GENRES.len()).map(|g| every(words, &|i| i == g)).collect())
            .collect();
        let common: Vec<Vec<u32>> =
            content.iter().map(|words| every(words, &|i| i >= GENRES.len())).collect();
        let names = (0..NAMES).map(|i| maker.word(random, &SOUNDS[i % SOUNDS.len()], 2)).collect();
        Vocabulary {
            words: maker.words,
            function,
            topic,
            common,
            names,
            function_zipf: Zipf::new(FUNCTION),
            topic_zipf: Zipf::new(CONTENT / ROUND),
            common_zipf: Zipf::new(CONTENT / ROUND * (ROUND - GENRES.len())),
            name_zipf: Zipf::new(NAMES),
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
        (word as usize) < FUNCTION * LANGUAGES.len()
    }

    /// A function word.
    pub(super) fn function(&self, random: &mut Random, language: usize) -> u32 {
        self.function[language][self.function_zipf.draw(random)]
    }

    /// A word of a genre.
    pub(super) fn topic(&self, random: &mut Random, language: usize, genre: usize) -> u32 {
        self.topic[language][genre][self.topic_zipf.draw(random)]
    }

    /// A word of a genre as the theme of a record: rare words more often than by Zipf's law.
    pub(super) fn theme(&self, random: &mut Random, language: usize, genre: usize) -> u32 {
        let words = &self.topic[language][genre];
        let u = random.unit();
        words[((0.3 + 0.7 * u) * u * words.len() as f64) as usize]
    }

    /// A common content word, of no genre.
    pub(super) fn common(&self, random: &mut Random, language: usize) -> u32 {
        self.common[language][self.common_zipf.draw(random)]
    }

    /// A name.
    pub(super) fn name(&self, random: &mut Random) -> u32 {
        self.names[self.name_zipf.draw(random)]
    }
}

/// Makes words that are different from all earlier ones.
struct WordMaker {
    words: Vec<String>,
    taken: HashSet<String>,
}

impl WordMaker {
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
            // Longer words never run out.
            syllables += usize::from(random.unit() < 0.3);
        }
    }
}

/// Draws ranks with a probability proportional to 1 / (rank + 2.7).
struct Zipf {
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
        let at = random.unit() * self.sums.last().copied().unwrap_or(0.0);
        self.sums.partition_point(|sum| *sum <= at).min(self.sums.len() - 1)
    }
}

/// Draws a language by its share.
pub(super) fn language(random: &mut Random) -> usize {
    let mut at = random.below(100);
    for (language, share) in LANGUAGE_SHARES.iter().enumerate() {
        if at < *share {
            return language;
        }
        at -= share;
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
        let of = |language: usize| vocabulary.topic[language][3].iter().collect::<HashSet<_>>();
        let shared = of(0).intersection(&of(4)).count();
        assert_eq!((of(0).len(), shared), (CONTENT / ROUND, (CONTENT / ROUND).div_ceil(LOANS)));
    }

    #[test]
    fn ranks_follow_zipf() {
        let zipf = Zipf::new(100);
        let mut random = Random::new(2, 2);
        let mut counts = [0f64; 100];
        (0..100_000).for_each(|_| counts[zipf.draw(&mut random)] += 1.0);
        assert!((counts[0] / counts[10] - 12.7 / 2.7).abs() < 0.5, "{counts:?}");
        assert!(counts.iter().all(|count| *count > 0.0));
    }
}
