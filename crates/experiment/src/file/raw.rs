//! The TOML structure of an experiment's file: keys and types, as `docs/experiments.md` describes
//! them. Checks that need several keys, the folder or the environment are made by the other files
//! of this folder.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rankwright_data::generate::LetorOptions;
use rankwright_data::split::Parts;
use rankwright_eval::compare::Test;
use rankwright_eval::stats::Correction;
use rankwright_model::MatchBy;
use rankwright_spec::{Spec, SpecError, read_spec};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExperiment {
    pub(super) name: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) description: String,
    pub(super) metrics: Option<Spanned<Texts>>,
    pub(super) seeds: Option<Spanned<Vec<WholeNumber>>>,
    /// Name of the learner that the others are compared with.
    pub(super) baseline: Option<Spanned<String>>,
    /// The significance test.
    #[serde(default)]
    pub(super) test: Parsed<Test>,
    /// The correction of the test for several comparisons.
    #[serde(default)]
    pub(super) correction: Parsed<Correction>,
    /// The level of significance.
    pub(super) alpha: Option<Spanned<f64>>,
    /// Number of random samples of the test.
    pub(super) samples: Option<WholeNumber>,
    /// Number of the largest and of the smallest weights of each linear learner to show.
    pub(super) weights: Option<WholeNumber>,
    #[serde(default)]
    pub(super) text: Vec<Spanned<RawText>>,
    #[serde(default)]
    pub(super) data: Vec<Spanned<RawData>>,
    #[serde(default)]
    pub(super) learner: Vec<Spanned<RawLearner>>,
    #[serde(default)]
    pub(super) table: Vec<Spanned<RawTable>>,
    #[serde(default)]
    pub(super) plot: Vec<Spanned<RawPlot>>,
}

/// `[[text]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawText {
    pub(super) name: Option<Spanned<String>>,
    pub(super) documents: Option<Spanned<Texts>>,
    pub(super) queries: Option<Spanned<String>>,
    pub(super) qrels: Option<Spanned<String>>,
    /// The generator of documents, queries and judgements, instead of files.
    pub(super) generate: Option<Spanned<String>>,
    /// The seed of `generate`.
    pub(super) seed: Option<Spanned<WholeNumber>>,
    pub(super) schema: Option<Spanned<String>>,
    pub(super) analysis: Option<Spanned<String>>,
    /// Whether the ids of queries are 1, 2, 3, ... by position.
    #[serde(default)]
    pub(super) number_queries: bool,
    pub(super) features: Option<Spanned<Texts>>,
    pub(super) first_stage: Option<Spanned<String>>,
    pub(super) candidates: Option<Spanned<WholeNumber>>,
    /// Whether judged documents that are not among the candidates are added.
    #[serde(default)]
    pub(super) judged: bool,
}

/// `[[data]]`; `source.rs` describes which keys go together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawData {
    pub(super) name: Option<Spanned<String>>,
    pub(super) train: Option<Spanned<Texts>>,
    pub(super) valid: Option<Spanned<Texts>>,
    pub(super) test: Option<Spanned<Texts>>,
    /// The tables `[[data.fold]]`.
    pub(super) fold: Option<Spanned<Vec<Spanned<RawFold>>>>,
    /// A folder for each fold, with train.txt, vali.txt and test.txt.
    pub(super) folders: Option<Spanned<Texts>>,
    /// The files of LETOR's rotation: fold 1 tests on the last file, validates on the one before it
    /// and trains on the others; each next fold starts one file later.
    pub(super) parts: Option<Spanned<Texts>>,
    /// Files whose queries are divided by `folds` or `split`.
    pub(super) files: Option<Spanned<Texts>>,
    /// The generator of queries to divide, instead of files.
    pub(super) generate: Option<Spanned<Parsed<Generator>>>,
    /// The seed of `generate`.
    pub(super) seed: Option<Spanned<WholeNumber>>,
    /// Number of folds of a cross validation.
    pub(super) folds: Option<Spanned<WholeNumber>>,
    pub(super) split: Option<Spanned<Parsed<SplitFractions>>>,
    /// The seed of the shuffle before the division by `folds` or `split`.
    pub(super) fold_seed: Option<Spanned<WholeNumber>>,
    pub(super) format: Option<Spanned<String>>,
    /// The meaning of an absent feature: `zero` or `missing`.
    pub(super) absent: Option<Spanned<String>>,
    /// The roles of the columns of a table, as in the option `--columns`.
    pub(super) columns: Option<Spanned<String>>,
    /// Whether features of validation and test data that the training data lacks are ignored.
    #[serde(default)]
    pub(super) ignore_extra: bool,
    /// The rule that matches features of validation and test data with those of the training data.
    #[serde(default)]
    pub(super) match_by: MatchBy,
}

/// `[[data.fold]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFold {
    pub(super) train: Option<Spanned<Texts>>,
    pub(super) valid: Option<Spanned<Texts>>,
    pub(super) test: Option<Spanned<Texts>>,
}

/// `[[learner]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLearner {
    pub(super) name: Option<Spanned<String>>,
    pub(super) spec: Option<Spanned<String>>,
    pub(super) grid: Option<Spanned<RawGrid>>,
    pub(super) model: Option<Spanned<String>>,
    /// The name or number of a feature to rank by, instead of a learner.
    pub(super) feature: Option<Spanned<Scalar>>,
    /// The features to train on; all if not given.
    pub(super) features: Option<Spanned<Texts>>,
}

/// `{ leaves = [7, 31], rate = [0.03, 0.1] }`: the values of each parameter.
pub(super) type RawGrid = BTreeMap<Spanned<String>, Spanned<Vec<Spanned<Scalar>>>>;

/// `[[table]]`. `rows`, `columns` and `choose` are parameters of learners (factors, see
/// `factor.rs`); the values of those in `choose` are chosen on validation data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTable {
    pub(super) title: Option<Spanned<String>>,
    pub(super) rows: Option<Spanned<Texts>>,
    pub(super) columns: Option<Spanned<Texts>>,
    pub(super) choose: Option<Spanned<Texts>>,
    pub(super) learners: Option<Spanned<Texts>>,
    pub(super) data: Option<Spanned<Texts>>,
    pub(super) metrics: Option<Spanned<Texts>>,
    pub(super) baseline: Option<Spanned<BTreeMap<Spanned<String>, Spanned<Scalar>>>>,
}

/// `[[plot]]`. `lines`, `panels` and `choose` are parameters of learners, as in a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPlot {
    pub(super) title: Option<Spanned<String>>,
    pub(super) lines: Option<Spanned<Texts>>,
    pub(super) panels: Option<Spanned<Texts>>,
    pub(super) choose: Option<Spanned<Texts>>,
    pub(super) learners: Option<Spanned<Texts>>,
    pub(super) data: Option<Spanned<Texts>>,
}

/// A value that is written as a text in the file; errors are reported at the text's position.
#[derive(Debug, Default)]
pub(super) struct Parsed<T>(pub(super) T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Parsed).map_err(D::Error::custom)
    }
}

/// `letor(queries=500, documents=60)`; the seed is a separate key.
#[derive(Debug)]
pub(super) struct Generator(pub(super) LetorOptions);

impl FromStr for Generator {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spec = Spec::parse(text)?;
        if spec.name != "letor" || spec.cutoff.is_some() {
            return Err(SpecError::unknown("generator", &spec.name, &["letor"]));
        }
        match spec.get("seed") {
            Some(seed) => Err(SpecError::BadValue {
                key: "seed".to_owned(),
                value: seed.to_owned(),
                expected: "a key `seed` beside `generate`".to_owned(),
                name: spec.name,
            }),
            None => read_spec(&spec).map(Generator),
        }
    }
}

/// The fractions of a split: `train` and `test`, and optionally `valid`.
#[derive(Debug)]
pub(super) struct SplitFractions {
    /// The fractions as written.
    pub(super) text: String,
    pub(super) parts: Parts,
}

impl FromStr for SplitFractions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = Parts::parse(text).map_err(|error| error.to_string())?;
        // A split of no queries, to get the names of the parts.
        let names: Vec<String> = parts.split(0, 0).into_iter().map(|(name, _)| name).collect();
        let known = ["train", "valid", "test"];
        if let Some(other) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("the parts are called train, valid and test, not {other}"));
        }
        match ["train", "test"].iter().find(|name| !names.iter().any(|n| n == *name)) {
            Some(name) => Err(format!("there is no part `{name}`")),
            None => Ok(SplitFractions { text: text.to_owned(), parts }),
        }
    }
}

/// A whole number, 0 or more.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeNumber(pub(super) u64);

/// A list of texts; a single text is a list of one.
#[derive(Debug, Default)]
pub(super) struct Texts(pub(super) Vec<String>);

/// A value of a parameter. A number is read again from its position in the text, which keeps its
/// notation (see [`scalar`](super::document::TomlDocument::scalar)); so a float has no value here.
#[derive(Debug)]
pub(super) enum Scalar {
    Text(String),
    Boolean(bool),
    Integer(i64),
    Float,
}

/// Implements `Deserialize` for a type, from the text about the expected value and the `visit_...`
/// methods of a visitor.
macro_rules! deserialize_value {
    ($type:ty, $expected:literal, $($visit:item)*) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct ValueVisitor;
                impl<'de> Visitor<'de> for ValueVisitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    $($visit)*
                }
                deserializer.deserialize_any(ValueVisitor)
            }
        }
    };
}

deserialize_value! { WholeNumber, "a whole number, 0 or more",
    fn visit_i64<E: Error>(self, number: i64) -> Result<WholeNumber, E> {
        let negative = |_| E::invalid_value(Unexpected::Signed(number), &self);
        number.try_into().map(WholeNumber).map_err(negative)
    }
}

deserialize_value! { Texts, "a text or a list of texts",
    fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
        Ok(Texts(vec![text.to_owned()]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = list.next_element()? {
            texts.push(text);
        }
        Ok(Texts(texts))
    }
}

deserialize_value! { Scalar, "a text, a number, true or false",
    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Boolean(value))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(number))
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float)
    }
}
