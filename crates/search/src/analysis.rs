//! From text to terms: words, lower case, accents, stop words, stems.
//!
//! The steps are tantivy's: words are runs of letters and digits; words of more than 128 bytes are
//! dropped; then lower case, accents to plain letters (`fold`), the language's stop words removed
//! (`stop`), and Snowball stems (`stem`). A removed word leaves its place empty, so that positions and
//! phrases stay true. Documents and queries go through the same steps; the spec is kept with the index.

use std::fmt;

use rankwright_eval::{ParamInfo, Params, Spec, SpecError};
use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    StopWordFilter, TextAnalyzer,
};

/// Words of at least so many bytes are no words.
const LONGEST_WORD: usize = 128;

/// Languages with stems, by name.
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

/// Parameters of an analysis.
pub const ANALYSIS_PARAMS: &[ParamInfo] = &[
    ParamInfo { name: "stem", doc: "words to their stems", default: "true" },
    ParamInfo {
        name: "stop",
        doc: "stop words removed, where the language has a list",
        default: "true",
    },
    ParamInfo { name: "fold", doc: "accents to plain letters", default: "true" },
];

/// How text becomes terms.
///
/// ```
/// use rankwright_search::Analysis;
///
/// let analysis = Analysis::parse("english")?;
/// assert_eq!(analysis.terms("The Ranking of documents"), ["rank", "document"]);
/// let plain = Analysis::parse("plain")?;
/// assert_eq!(plain.terms("The Ranking"), ["the", "ranking"]);
/// # Ok::<(), rankwright_eval::SpecError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// None is `plain`: no language, no stems, no stop words.
    language: Option<&'static str>,
    stem: bool,
    stop: bool,
    fold: bool,
}

impl Default for Analysis {
    fn default() -> Self {
        Self { language: Some("english"), stem: true, stop: true, fold: true }
    }
}

impl Analysis {
    /// Reads `english`, `german(stem=false)`, `plain`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec = Spec::parse(text)?;
        let language = LANGUAGES.iter().map(|(name, _)| *name).find(|name| *name == spec.name);
        if language.is_none() && spec.name != "plain" {
            let known: Vec<&str> =
                std::iter::once("plain").chain(LANGUAGES.iter().map(|(name, _)| *name)).collect();
            return Err(SpecError::unknown("analysis", &spec.name, &known));
        }
        let known = if language.is_some() { ANALYSIS_PARAMS } else { &ANALYSIS_PARAMS[2..] };
        let params = Params::new(&spec, known, &[])?;
        let in_language = language.is_some();
        Ok(Self {
            language,
            stem: params.bool("stem", in_language)?,
            stop: params.bool("stop", in_language)?,
            fold: params.bool("fold", true)?,
        })
    }

    /// Tantivy's chain of these steps.
    pub fn analyzer(&self) -> TextAnalyzer {
        let mut chain = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter_dynamic(RemoveLongFilter::limit(LONGEST_WORD))
            .filter_dynamic(LowerCaser);
        if self.fold {
            chain = chain.filter_dynamic(AsciiFoldingFilter);
        }
        let language = LANGUAGES.iter().find(|(name, _)| Some(*name) == self.language);
        let Some(&(_, language)) = language else { return chain.build() };
        if let Some(filter) = StopWordFilter::new(language).filter(|_| self.stop) {
            chain = chain.filter_dynamic(filter);
        }
        if self.stem {
            chain = chain.filter_dynamic(Stemmer::new(language));
        }
        chain.build()
    }

    /// The terms of a text, in order.
    pub fn terms(&self, text: &str) -> Vec<String> {
        self.words(text).into_iter().map(|(term, _)| term).collect()
    }

    /// The terms of a text with their places among all of its words.
    pub(crate) fn words(&self, text: &str) -> Vec<(String, usize)> {
        let mut analyzer = self.analyzer();
        let mut stream = analyzer.token_stream(text);
        let mut words = Vec::new();
        while stream.advance() {
            let token = stream.token_mut();
            if !token.text.is_empty() {
                words.push((std::mem::take(&mut token.text), token.position));
            }
        }
        words
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut spec = Spec::new(self.language.unwrap_or("plain"));
        let steps = [("stem", self.stem), ("stop", self.stop), ("fold", self.fold)];
        for (name, on) in steps {
            let usual = name == "fold" || self.language.is_some();
            if on != usual {
                spec = spec.with(name, on.to_string());
            }
        }
        spec.fmt(f)
    }
}

/// Words of a text before any is removed: runs of letters and digits.
pub(crate) fn count_words(text: &str) -> u64 {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).count() as u64
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
        assert_eq!(count_words("Über the café's RUNNING-shoes, 1984"), 7);
        assert!(Analysis::default().terms("the of and").is_empty());
    }
}
