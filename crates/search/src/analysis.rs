//! Text analysis: from text to terms (words, lower case, accents, stop words, stems).
//!
//! The steps are tantivy's: words are runs of letters and digits; words of 128 bytes or more are
//! dropped; then lower case, the language's stop words removed (`stop`), accented letters replaced by
//! their base letters (`fold`), stop words removed once more, and Snowball stems (`stem`). A removed
//! word still counts as a position, so that positions and phrases stay correct. Indexes of older
//! versions remove stop words only after accents are replaced, which keeps those with accents. Documents and queries are analysed
//! alike; the spec is stored with the index.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use foldhash::fast::FixedState;
use rankwright_spec::{Spec, SpecError, json_by_text, params, write_spec};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    StopWordFilter, TextAnalyzer, Token,
};

use crate::params::read_params;

/// Words of this many bytes or more are dropped: they are mostly encoded data, not language.
const MAX_WORD_BYTES: usize = 128;

/// Languages with a stemmer, by name in specs.
const LANGUAGES: &[(&str, Language)] = &[
    ("arabic", Language::Arabic),
    ("danish", Language::Danish),
    ("dutch", Language::Dutch),
    ("english", Language::English),
    ("finnish", Language::Finnish),
    ("french", Language::French),
    ("german", Language::German),
    ("greek", Language::Greek),
    ("hungarian", Language::Hungarian),
    ("italian", Language::Italian),
    ("norwegian", Language::Norwegian),
    ("portuguese", Language::Portuguese),
    ("romanian", Language::Romanian),
    ("russian", Language::Russian),
    ("spanish", Language::Spanish),
    ("swedish", Language::Swedish),
    ("tamil", Language::Tamil),
    ("turkish", Language::Turkish),
];

params! {
    /// Parameters of the analysis of a language.
    pub struct LanguageParams {
        stem: bool = true, .., "Reduce words to their stems.";
        stop: bool = true, .., "Remove stop words, if the language has a list of them.";
        fold: bool = true, .., "Replace accented letters by their base letters: é by e.";
    }
}

params! {
    /// Parameters of the analysis `plain`.
    pub struct PlainParams {
        fold: bool = true, .., "Replace accented letters by their base letters: é by e.";
    }
}

/// The steps from text to terms.
///
/// ```
/// use rankwright_search::Analysis;
///
/// let analysis = Analysis::parse("english")?;
/// assert_eq!(analysis.terms("The Ranking of documents"), ["rank", "document"]);
/// let plain = Analysis::parse("plain")?;
/// assert_eq!(plain.terms("The Ranking"), ["the", "ranking"]);
/// # Ok::<(), rankwright_spec::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// `None` is the analysis `plain`: no language, no stems, no stop words.
    language: Option<&'static str>,
    stem: bool,
    stop: bool,
    fold: bool,
    /// Whether stop words with accents are kept, as by an index of an older version.
    keeps_accented_stop_words: bool,
}

json_by_text!(Analysis, Analysis::to_string, Analysis::parse);

impl Default for Analysis {
    fn default() -> Self {
        Self::of_language(Some("english"), LanguageParams::default())
    }
}

impl Analysis {
    /// Reads `english`, `german(stem=false)`, `plain`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        if spec.name == "plain" {
            let PlainParams { fold } = read_params(&spec)?;
            let params = LanguageParams { stem: false, stop: false, fold };
            return Ok(Self::of_language(None, params));
        }
        let language = LANGUAGES.iter().map(|(name, _)| *name).find(|name| *name == spec.name);
        let language = language.ok_or_else(|| {
            let known: Vec<&str> =
                std::iter::once("plain").chain(LANGUAGES.iter().map(|(name, _)| *name)).collect();
            SpecError::unknown("analysis", &spec.name, &known)
        })?;
        Ok(Self::of_language(Some(language), read_params(&spec)?))
    }

    fn of_language(language: Option<&'static str>, params: LanguageParams) -> Self {
        let LanguageParams { stem, stop, fold } = params;
        Self { language, stem, stop, fold, keeps_accented_stop_words: false }
    }

    /// Whether the language may have stop words with accents, which are to be removed although
    /// accents are replaced.
    pub(crate) fn has_accented_stop_words(&self) -> bool {
        let has_accents = self.language.is_some_and(|language| language != "english");
        has_accents && self.stop && self.fold
    }

    /// The same analysis as indexes of older versions have it, which keep stop words with accents.
    pub(crate) fn keeping_accented_stop_words(self) -> Self {
        let keeps_accented_stop_words = self.has_accented_stop_words();
        Self { keeps_accented_stop_words, ..self }
    }

    /// Tantivy's tokenizer chain of these steps.
    pub fn analyzer(&self) -> TextAnalyzer {
        let mut chain = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter_dynamic(RemoveLongFilter::limit(MAX_WORD_BYTES))
            .filter_dynamic(LowerCaser);
        let language = LANGUAGES.iter().find(|(name, _)| Some(*name) == self.language);
        let language = language.map(|&(_, language)| language);
        let stop_words = || language.filter(|_| self.stop).and_then(StopWordFilter::new);
        if let Some(filter) = stop_words()
            && self.has_accented_stop_words()
            && !self.keeps_accented_stop_words
        {
            chain = chain.filter_dynamic(filter);
        }
        if self.fold {
            chain = chain.filter_dynamic(AsciiFoldingFilter);
        }
        let Some(language) = language else { return chain.build() };
        if let Some(filter) = stop_words() {
            chain = chain.filter_dynamic(filter);
        }
        if self.stem {
            chain = chain.filter_dynamic(Stemmer::new(language));
        }
        chain.build()
    }

    /// The terms of a text, in order.
    pub fn terms(&self, text: &str) -> Vec<String> {
        self.terms_with_positions(text).into_iter().map(|(term, _)| term).collect()
    }

    /// The terms of a text, each with the position of its word among all words of the text.
    pub(crate) fn terms_with_positions(&self, text: &str) -> Vec<(String, usize)> {
        let mut terms = Vec::new();
        self.visit_tokens(text, |token| {
            terms.push((std::mem::take(&mut token.text), token.position));
        });
        terms
    }

    /// Calls `found` with each term of a text as a token: the term, its position, and the byte
    /// range of its word. The tokenizer chain of the last analysis on this thread is kept, as
    /// building it takes longer than analysing a query.
    pub(crate) fn visit_tokens(&self, text: &str, mut found: impl FnMut(&mut Token)) {
        thread_local! {
            static LAST: RefCell<Option<(Analysis, TextAnalyzer)>> = const { RefCell::new(None) };
        }
        let cached = LAST.take().filter(|(analysis, _)| analysis == self);
        let (analysis, mut analyzer) = cached.unwrap_or_else(|| (self.clone(), self.analyzer()));
        let mut stream = analyzer.token_stream(text);
        while stream.advance() {
            let token = stream.token_mut();
            if !token.text.is_empty() {
                found(token);
            }
        }
        drop(stream);
        LAST.set(Some((analysis, analyzer)));
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { language, stem, stop, fold, .. } = *self;
        let spec = match language {
            Some(language) => write_spec(language, &LanguageParams { stem, stop, fold }),
            None => write_spec("plain", &PlainParams { fold }),
        };
        spec.fmt(f)
    }
}

/// Largest number of different words that are cached; beyond this the cache is cleared.
const MAX_CACHED_WORDS: usize = 1 << 20;
/// In place of the number of a term: the analysis removes the word, such as a stop word.
const REMOVED: u32 = u32::MAX;

/// An analysis with a cache from word to term, as most words occur many times.
///
/// Gives the same terms as [`Analysis::terms_with_positions`], but as numbers: the first new term
/// is 0, the next 1, and so on, until [`Analyser::clear_if_full`] forgets them.
pub(crate) struct Analyser {
    analyzer: TextAnalyzer,
    /// The number of the term of each cached word, or [`REMOVED`].
    term_of_word: HashMap<Box<str>, u32, FixedState>,
    /// The number of each term.
    numbers: HashMap<Box<str>, u32, FixedState>,
    /// The term of each number.
    terms: Vec<Box<str>>,
}

impl Analyser {
    pub(crate) fn new(analysis: &Analysis) -> Self {
        let (term_of_word, numbers) = (HashMap::default(), HashMap::default());
        Self { analyzer: analysis.analyzer(), term_of_word, numbers, terms: Vec::new() }
    }

    /// Calls `found` with the number of each term and its position among the words; returns the
    /// number of words, including removed ones.
    pub(crate) fn analyse(&mut self, text: &str, mut found: impl FnMut(u32, usize)) -> usize {
        let mut position = 0;
        // The words of tantivy's SimpleTokenizer.
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let cached = self.term_of_word.get(word).copied();
            let term = cached.unwrap_or_else(|| self.add_word(word));
            if term != REMOVED {
                found(term, position);
            }
            position += 1;
        }
        position
    }

    /// Analyses a word that is not in the cache yet, and caches the number of its term.
    fn add_word(&mut self, word: &str) -> u32 {
        let mut stream = self.analyzer.token_stream(word);
        let is_term = stream.advance() && !stream.token().text.is_empty();
        let term = match is_term {
            false => REMOVED,
            true => {
                let next = self.terms.len() as u32;
                let text: Box<str> = stream.token().text.as_str().into();
                *self.numbers.entry(text).or_insert_with_key(|text| {
                    self.terms.push(text.clone());
                    next
                })
            }
        };
        drop(stream);
        self.term_of_word.insert(word.into(), term);
        term
    }

    /// The term of a number.
    pub(crate) fn term(&self, number: u32) -> &str {
        &self.terms[number as usize]
    }

    /// Clears the cache if it is too large; numbers then start at 0 again.
    pub(crate) fn clear_if_full(&mut self) {
        if self.term_of_word.len() > MAX_CACHED_WORDS {
            self.term_of_word.clear();
            self.numbers.clear();
            self.terms.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_analysis_prints_as_it_parses() {
        for text in ["english", "german(stem=false)", "plain", "plain(fold=false)"] {
            let analysis = Analysis::parse(text).expect(text);
            assert_eq!(analysis.to_string(), text);
        }
        assert!(Analysis::parse("klingon").unwrap_err().to_string().contains("known: plain"));
        assert!(Analysis::parse("plain(stem=true)").is_err());
    }

    #[test]
    fn accents_stop_words_and_stems() {
        let terms = Analysis::default().terms("Über the café's RUNNING-shoes, 1984");
        assert_eq!(terms, ["uber", "cafe", "s", "run", "shoe", "1984"]);
        let mut analyser = Analyser::new(&Analysis::default());
        let words = analyser.analyse("Über the café's RUNNING-shoes, 1984", |_, _| ());
        assert_eq!(words, 7, "the six terms and the stop word `the`");
        assert!(Analysis::default().terms("the of and").is_empty());
    }

    #[test]
    fn stop_words_with_accents_are_removed_before_accents_are_replaced() {
        for (analysis, text, expected) in [
            ("french", "dès à la même plage", vec!["plag"]),
            ("german", "Für über Züge", vec!["zug"]),
            ("spanish", "también él está aquí", vec!["aqui"]),
            ("french(stop=false)", "à la plage", vec!["a", "la", "plag"]),
            ("french(fold=false)", "à la même plage", vec!["plag"]),
        ] {
            let analysis = Analysis::parse(analysis).unwrap();
            assert_eq!(analysis.terms(text), expected, "{analysis}");
        }
        let old = Analysis::parse("french").unwrap().keeping_accented_stop_words();
        assert_eq!(old.terms("été à la plage"), ["ete", "a", "plag"]);
        assert_eq!(old.to_string(), "french");
        let english = Analysis::default();
        assert_eq!(english.clone().keeping_accented_stop_words(), english);
    }

    proptest::proptest! {
        #[test]
        fn cached_words_give_the_same_terms_as_the_whole_chain(
            texts in proptest::collection::vec("[a-cÄß ,.'-]{0,30}|(the|of|running|runs|é|[^a]{0,8}) ?", 1..8),
        ) {
            for analysis in ["english", "german(stop=false)", "french", "plain"] {
                let analysis = Analysis::parse(analysis).unwrap();
                let mut analyser = Analyser::new(&analysis);
                for text in &texts {
                    let mut found = Vec::new();
                    analyser.analyse(text, |term, position| found.push((term, position)));
                    let found = found.into_iter().map(|(t, position)| (analyser.term(t).to_owned(), position));
                    proptest::prop_assert_eq!(found.collect::<Vec<_>>(), analysis.terms_with_positions(text));
                }
            }
        }
    }
}
