//! Custom features of an index: training and serving use the same code, and other indexes reject
//! the model.

use std::sync::{Arc, OnceLock};

use rankwright_data::{Absent, FeatureNames};
use rankwright_model::{Header, Linear, Model, ModelBody};
use rankwright_search::{
    BuildOptions, CandidateStatistics, Extractor, FEATURES, Feature, FeatureDef, FeatureParams,
    FeatureRows, FeatureSet, FieldKind, FirstStage, Index, Needs, NumberField, Query, Ranker,
    RowOptions, SearchBuffers, SearchError, TermStatistic, Terms, TextField, training_data,
};
use rankwright_spec::{SpecError, choices, params};

use crate::five::{bench, documents};

params! {
    /// Parameters of the feature `coverage`.
    pub struct CoverageParams {
        field: String = "all".to_owned(), .., "Text field; all: every text field as one.";
        power: f64 = 1.0, 0.0.., "Power of the share.";
    }
}

/// Share of a field's terms that occur in the query.
struct Coverage {
    field: TextField,
    power: f64,
}

impl FeatureParams for CoverageParams {
    fn build(&self, index: &Index) -> Result<Box<dyn Feature>, SearchError> {
        Ok(Box::new(Coverage { field: index.text_field(&self.field)?, power: self.power }))
    }
}

impl Feature for Coverage {
    fn needs(&self) -> Needs {
        Needs::default().frequencies(self.field)
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        for (candidate, value) in out.iter_mut().enumerate() {
            let found: u32 = statistics.frequencies(self.field, candidate)?.sum();
            let length = statistics.length(self.field, candidate)?.max(1.0);
            *value = (f64::from(found) / length).powf(self.power);
        }
        Ok(())
    }
}

static COVERAGE: FeatureDef = FeatureDef {
    name: "coverage",
    help: "Share of the terms of a field that the query has.",
    example: "coverage(field=title)",
    field: Some(FieldKind::Text),
    ..FeatureDef::of_params::<CoverageParams>()
};

choices! {
    /// The part of the statistics that the feature `probe` reads.
    pub enum Part {
        /// The number in the id.
        Id = "id",
        /// The number of the field `plays`.
        Plays = "plays",
        /// The number of values of the document.
        Fields = "fields",
        /// The position of the first term of the query in the text.
        Position = "position",
        /// The documents of the first term of the query in the text.
        Documents = "documents",
        /// Nothing: no value is written.
        Nothing = "nothing",
        /// Frequencies of a field that is not among the needs.
        Undeclared = "undeclared",
        /// An unknown candidate.
        Beyond = "beyond",
        /// An unknown term.
        Term = "term",
        /// A panic.
        Panic = "panic",
    }
}

params! {
    /// Parameters of the feature `probe`.
    pub struct ProbeParams {
        part: Part = Part::Nothing, .., "Part of the statistics.";
    }
}

/// A feature that reads one part of the statistics.
struct Probe {
    part: Part,
    text: TextField,
    title: TextField,
    plays: NumberField,
}

static PROBE: FeatureDef = FeatureDef {
    name: "probe",
    help: "Part of the statistics.",
    example: "probe(part=id)",
    is_default: false,
    ..FeatureDef::of_params::<ProbeParams>()
};

impl FeatureParams for ProbeParams {
    fn build(&self, index: &Index) -> Result<Box<dyn Feature>, SearchError> {
        Ok(Box::new(Probe {
            part: self.part,
            text: index.text_field("text")?,
            title: index.text_field("title")?,
            plays: index.number_field("plays")?,
        }))
    }
}

impl Feature for Probe {
    fn needs(&self) -> Needs {
        match self.part {
            Part::Position | Part::Term => Needs::default().positions(self.text),
            Part::Documents => Needs::default().frequencies(self.text),
            _ => Needs::default(),
        }
    }

    fn values(
        &self,
        statistics: &CandidateStatistics<'_>,
        out: &mut [f64],
    ) -> Result<(), SearchError> {
        assert_eq!(out.len(), statistics.candidates());
        if self.part == Part::Plays {
            out.copy_from_slice(&statistics.numbers(&self.plays)?);
            return Ok(());
        }
        for (candidate, value) in out.iter_mut().enumerate() {
            *value = match self.part {
                Part::Id => statistics.id(candidate)?[1..].parse().unwrap(),
                Part::Fields => statistics.document(candidate)?.fields.len() as f64,
                Part::Position => {
                    let positions = statistics.positions(self.text, 0, candidate)?;
                    positions[0].first().map_or(f64::NAN, |&at| f64::from(at))
                }
                Part::Documents => statistics.term_stats(self.text)?[0].documents as f64,
                Part::Undeclared => {
                    f64::from(statistics.frequencies(self.title, candidate)?.sum::<u32>())
                }
                Part::Beyond => f64::from(statistics.id(candidate + 5)?.len() as u32),
                Part::Term => statistics.positions(self.text, 7, candidate)?.len() as f64,
                Part::Panic => panic!("a mistake in the feature"),
                Part::Nothing | Part::Plays => continue,
            };
        }
        Ok(())
    }
}

fn index() -> Arc<Index> {
    let schema = bench().index.schema().clone();
    let options = BuildOptions::new().schema(schema);
    let (index, _) = Index::in_memory_with(documents().into_iter().map(Ok), &options).unwrap();
    let index = index.with_feature(&COVERAGE).unwrap();
    Arc::new(index.with_feature(&PROBE).unwrap())
}

/// The rows of the five documents for a query.
fn rows(index: &Arc<Index>, set: &str, text: &str) -> Result<FeatureRows, SearchError> {
    let extractor = Extractor::new(Arc::clone(index), &FeatureSet::parse(set)?)?;
    let candidate = |number: usize| index.candidate(&format!("d{number}")).unwrap().unwrap();
    // Not in the order of the index.
    let candidates: Vec<_> = (1..=5).rev().map(candidate).collect();
    extractor.rows(&Query::new("q1", text), &Terms::new(text, index.analysis()), &candidates)
}

/// The values of one feature for the documents d1 to d5.
fn values(index: &Arc<Index>, feature: &str) -> Vec<f32> {
    let mut values = rows(index, feature, "blue train").unwrap().values;
    values.reverse();
    values
}

#[test]
fn custom_features_read_all_parts_of_the_statistics() {
    let index = index();
    assert_eq!(values(&index, "coverage(field=title)"), [1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(values(&index, "coverage(field=text, power=2)")[..2], [0.5625, 0.25]);
    assert_eq!(values(&index, "probe(part=id)"), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(values(&index, "probe(part=fields)"), [8.0, 8.0, 8.0, 5.0, 3.0]);
    assert_eq!(values(&index, "probe(part=documents)"), [2.0; 5]);
    let plays = values(&index, "probe(part=plays)");
    assert_eq!(plays[..2], [100.0, 0.0]);
    assert!(plays[2].is_nan() && plays[3] == -7.0 && plays[4].is_nan());
    let positions = values(&index, "probe(part=position)");
    assert_eq!((positions[0], positions[3]), (0.0, 4.0));
    assert!(positions[1].is_nan() && positions[4].is_nan());
}

#[test]
fn values_that_a_feature_does_not_write_are_missing() {
    let rows = rows(&index(), "bm25, probe, coverage", "blue train").unwrap();
    for candidate in 0..5 {
        let row = rows.row(candidate);
        assert!(!row[0].is_nan() && row[1].is_nan() && !row[2].is_nan(), "{row:?}");
    }
}

#[test]
fn a_custom_feature_is_in_the_default_set_if_its_definition_says_so() {
    let index = index();
    let set = FeatureSet::parse("default").unwrap().expand(&index).unwrap();
    let custom: Vec<&String> = set.features.iter().filter(|f| f.starts_with("coverage")).collect();
    assert_eq!(custom, ["coverage(field=title)", "coverage(field=text)", "coverage(field=all)"]);
    assert!(!set.features.iter().any(|feature| feature.starts_with("probe")));
    assert_eq!(index.features().count(), FEATURES.len() + 2);
}

#[test]
fn a_ranker_computes_the_rows_of_the_training_data() {
    let index = index();
    let set = FeatureSet::parse("coverage(field=*), bm25, probe(part=id)").unwrap();
    let query = Query::new("q1", "blue train");
    let options = RowOptions::default();
    let training = training_data(Arc::clone(&index), vec![query.clone()], None, &set, &options);
    let training = training.unwrap();
    let names = FeatureNames::from_names(training.set.features.clone());
    let mut header = Header::new(names, Absent::Zero);
    header.feature_set = training.data.feature_set().map(str::to_owned);
    let linear = Linear::new(0.0, vec![1.0, 0.5, 0.25, 0.1, -0.01]).unwrap();
    let model = Model::new(header, ModelBody::Linear(linear)).unwrap();

    let ranker = Ranker::new(Arc::clone(&index), &model).unwrap();
    let ranked = ranker.rank_query(&query, None, &mut SearchBuffers::default()).unwrap();
    assert_eq!(ranked.documents.len(), training.rows);
    for (rank, &first) in ranked.first_ranks.iter().enumerate() {
        let trained = training.data.matrix().row(first as usize - 1).to_vec();
        assert_eq!(ranked.features.row(rank), trained, "rank {rank}");
    }

    // Without the feature an index cannot serve the model.
    let other_index = bench().index;
    let Err(SearchError::ModelFeatures(error)) = Ranker::new(other_index, &model) else {
        panic!("refused")
    };
    let SearchError::Spec(SpecError::UnknownName { kind, found, .. }) = *error else {
        panic!("{error}")
    };
    assert_eq!((kind, found.as_str()), ("feature", "coverage"));
}

#[test]
fn custom_features_stay_when_documents_are_added_and_deleted() {
    let mut index = Arc::into_inner(index()).unwrap();
    index.delete(["d2"]).unwrap();
    index.add([Ok(documents().swap_remove(1))]).unwrap();
    assert_eq!(index.features().count(), FEATURES.len() + 2);
    assert_eq!(values(&Arc::new(index), "probe(part=id)"), [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn names_that_are_taken_or_not_valid_are_refused() {
    let index = || Arc::into_inner(self::index()).unwrap();
    let again = index().with_feature(&COVERAGE).unwrap_err();
    assert!(matches!(again, SearchError::FeatureTaken { name: "coverage" }), "{again}");
    static BM25: FeatureDef = FeatureDef { name: "bm25", ..COVERAGE_WITHOUT_NAME };
    static DEFAULT: FeatureDef = FeatureDef { name: "default", ..COVERAGE_WITHOUT_NAME };
    static WITH_PARAMETERS: FeatureDef = FeatureDef { name: "a(b=1)", ..COVERAGE_WITHOUT_NAME };
    static WITHOUT_NAME: FeatureDef = COVERAGE_WITHOUT_NAME;
    let taken = index().with_feature(&BM25).unwrap_err();
    assert!(matches!(taken, SearchError::FeatureTaken { name: "bm25" }), "{taken}");
    for def in [&DEFAULT, &WITH_PARAMETERS] {
        let error = index().with_feature(def).unwrap_err();
        assert!(matches!(error, SearchError::InvalidFeatureName { .. }), "{error}");
    }
    assert!(index().with_feature(&WITHOUT_NAME).is_err());
}

/// The definition without a name.
const COVERAGE_WITHOUT_NAME: FeatureDef = FeatureDef::of_params::<CoverageParams>();

#[test]
fn parameters_of_custom_features_are_checked() {
    let index = index();
    for (set, expected) in [
        ("coverage(field=body)", "no text field `body`"),
        ("coverage(power=-1)", "from 0 on"),
        ("coverage(powr=1)", "did you mean `power`?"),
        ("coverage@5", "takes no cut-off"),
        ("coverige", "did you mean `coverage`?"),
    ] {
        let error = rows(&index, set, "blue").unwrap_err().to_string();
        assert!(error.contains(expected), "{set}: {error}");
    }
}

#[test]
fn mistakes_in_custom_features_are_not_damage_of_the_index() {
    let index = index();
    let error = |part: &str| rows(&index, &format!("probe(part={part})"), "blue").unwrap_err();
    assert!(matches!(
        error("undeclared"),
        SearchError::NotGathered { statistic: TermStatistic::Frequencies }
    ));
    let beyond = error("beyond");
    assert!(matches!(beyond, SearchError::NoSuchCandidate { candidate: 5, candidates: 5 }));
    assert!(matches!(error("term"), SearchError::NoSuchTerm { term: 7, terms: 1 }));
}

#[test]
#[should_panic(expected = "a mistake in the feature")]
fn a_panic_in_a_custom_feature_is_not_caught() {
    let _ = rows(&index(), "probe(part=panic)", "blue");
}

#[test]
fn fields_of_another_index_are_refused() {
    static FIELDS_OF_ANOTHER_INDEX: OnceLock<(TextField, NumberField)> = OnceLock::new();
    params! {
        /// Parameters of the feature `foreign`.
        pub struct ForeignParams {
            text: bool = false, .., "The text field rather than the number field.";
        }
    }
    /// A feature that reads fields of another index than its own.
    struct Foreign {
        is_text: bool,
    }
    impl Feature for Foreign {
        fn values(
            &self,
            statistics: &CandidateStatistics<'_>,
            out: &mut [f64],
        ) -> Result<(), SearchError> {
            let (text, number) = FIELDS_OF_ANOTHER_INDEX.get().unwrap();
            out[0] = match self.is_text {
                true => statistics.length(*text, 0)?,
                false => statistics.numbers(number)?[0],
            };
            Ok(())
        }
    }
    impl FeatureParams for ForeignParams {
        fn build(&self, _: &Index) -> Result<Box<dyn Feature>, SearchError> {
            Ok(Box::new(Foreign { is_text: self.text }))
        }
    }
    static FOREIGN: FeatureDef =
        FeatureDef { name: "foreign", ..FeatureDef::of_params::<ForeignParams>() };

    let other = index();
    FIELDS_OF_ANOTHER_INDEX.set((other.all_text(), other.number_field("plays").unwrap())).unwrap();
    let document = rankwright_search::Document::new("d1").with("text", "blue");
    let small = Arc::new(Index::in_memory([document]).unwrap().with_feature(&FOREIGN).unwrap());
    for set in ["foreign", "foreign(text=true)"] {
        let extractor = Extractor::new(Arc::clone(&small), &FeatureSet::parse(set).unwrap());
        let terms = Terms::new("blue", small.analysis());
        let found = small
            .retrieve(&terms, &FirstStage::default(), 10, None, &mut SearchBuffers::default())
            .unwrap();
        let error = extractor.unwrap().rows(&Query::new("q", "blue"), &terms, &found).unwrap_err();
        assert!(matches!(error, SearchError::OtherIndex { .. }), "{set}: {error}");
    }
}
