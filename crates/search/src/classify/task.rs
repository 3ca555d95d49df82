//! Classification of documents, from labelled documents to decisions or to a cross validation.
//!
//! Documents are tf-idf vectors of all their text. Cross validation splits by document: each
//! document is classified with a classifier and a vocabulary from other documents.

use std::collections::BTreeMap;
use std::time::Instant;

use rankwright_data::Random;
use rayon::prelude::*;
use serde::Serialize;

use super::classifier::Classifier;
use super::labelled::{LabelledDocuments, keep_last, terms};
use super::{ClassScore, ConfusionMatrix, SparseVector, TfIdf};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;
use crate::warning::SearchWarning;

/// Labelled documents, and a classifier to be trained on them.
///
/// ```
/// use rankwright_search::classify::{Classifier, TextClassifier};
/// use rankwright_search::{Analysis, Document};
///
/// let texts = [("1", "jazz", "music"), ("2", "train", "travel"), ("3", "jazz band", "music")];
/// let labelled = texts.map(|(id, text, class)| {
///     Document::new(id).with("text", text).with("class", class)
/// });
/// let classifier = TextClassifier::new(
///     labelled.to_vec(), "class", Classifier::default(), Analysis::default())?;
/// let result = classifier.classify(vec![Document::new("4").with("text", "a jazz trio")])?;
/// assert_eq!(result.decisions[0].class, "music");
/// # Ok::<(), rankwright_search::SearchError>(())
/// ```
pub struct TextClassifier {
    /// The field of the classes.
    label: String,
    classifier: Classifier,
    analysis: Analysis,
    labelled: LabelledDocuments,
    warnings: Vec<SearchWarning>,
}

impl std::fmt::Debug for TextClassifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextClassifier")
            .field("label", &self.label)
            .field("classifier", &self.classifier)
            .field("documents", &self.documents())
            .finish_non_exhaustive()
    }
}

/// The quality of a classifier in a cross validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassifierEvaluation {
    /// The spec of the classifier.
    pub classifier: String,
    /// The spec of the text analysis.
    pub analysis: String,
    /// The field that holds the class.
    pub label: String,
    /// Number of folds.
    pub folds: u32,
    /// Seed of the random assignment to folds.
    pub seed: u64,
    /// Number of labelled documents.
    pub documents: usize,
    /// Number of documents without a class, which were left out.
    pub without_label: usize,
    /// Share of correct decisions.
    pub accuracy: f64,
    /// Mean F1 of the classes.
    pub macro_f1: f64,
    /// F1 of the counts added up over the classes.
    pub micro_f1: f64,
    /// Precision, recall and F1 of each class.
    pub classes: Vec<ClassScore>,
    /// Number of documents of a true class (row) that were assigned to a class (column), in the
    /// order of `classes`.
    pub confusion: Vec<Vec<u64>>,
    /// Seconds of the cross validation.
    pub seconds: f64,
}

/// The classes that were decided for documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Classification {
    /// The decision on each document.
    #[serde(skip)]
    pub decisions: Vec<ClassDecision>,
    /// The spec of the classifier.
    pub classifier: String,
    /// Number of documents that the classifier was trained on.
    pub learnt_from: usize,
    /// Number of training documents without a class, which were left out.
    pub without_label: usize,
    /// Number of classified documents.
    pub documents: usize,
    /// Number of documents assigned to each class.
    pub classes: BTreeMap<String, u64>,
    /// Seconds of the classification.
    pub seconds: f64,
    /// Recoverable problems of the classified documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SearchWarning>,
}

/// The class of one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassDecision {
    /// The id of the document.
    pub id: String,
    /// The class that was decided.
    pub class: String,
    /// The distance to the centroid of the class (Rocchio), or the share of the class among the
    /// neighbours (kNN).
    pub value: f64,
}

impl TextClassifier {
    /// Stores labelled documents; of several documents with one id the last one counts.
    pub fn new(
        mut documents: Vec<Document>,
        label: impl Into<String>,
        classifier: Classifier,
        analysis: Analysis,
    ) -> Result<Self, SearchError> {
        classifier.check()?;
        let label = label.into();
        let mut warnings = duplicate_warnings(keep_last(&mut documents));
        let labelled = LabelledDocuments::new(&documents, &label, &analysis)?;
        if labelled.left_out > 0 {
            let (label, documents) = (label.clone(), labelled.left_out);
            warnings.push(SearchWarning::WithoutLabel { label, documents });
        }
        Ok(Self { label, classifier, analysis, labelled, warnings })
    }

    /// Recoverable problems of the labelled documents.
    pub fn warnings(&self) -> &[SearchWarning] {
        &self.warnings
    }

    /// The number of documents with a class.
    pub fn documents(&self) -> usize {
        self.labelled.classes.len()
    }

    /// Classifies the labelled documents of each fold with a classifier trained on the other folds.
    pub fn cross_validate(
        &self,
        folds: u32,
        seed: u64,
    ) -> Result<ClassifierEvaluation, SearchError> {
        let start = Instant::now();
        let (documents, fold_count) = (self.documents(), folds as usize);
        if documents < fold_count || fold_count < 2 {
            return Err(SearchError::Folds { documents, folds: fold_count });
        }
        let mut order: Vec<usize> = (0..documents).collect();
        // 0: any constant; the only stream of random numbers of this seed.
        Random::new(seed, 0).shuffle(&mut order);
        let mut decided = vec![String::new(); documents];
        for fold in 0..fold_count {
            let documents_of = |is_test: bool| {
                let positions = (0..documents).filter(move |i| (i % fold_count == fold) == is_test);
                positions.map(|i| order[i]).collect::<Vec<usize>>()
            };
            let (training, test) = (documents_of(false), documents_of(true));
            let texts: Vec<&Vec<String>> = test.iter().map(|&i| &self.labelled.terms[i]).collect();
            for (&i, (class, _)) in test.iter().zip(self.decide(&training, &texts)?) {
                decided[i] = class;
            }
        }
        let truth = self.labelled.classes.iter().map(String::as_str);
        let found = ConfusionMatrix::new(truth.zip(decided.iter().map(String::as_str)));
        Ok(ClassifierEvaluation {
            classifier: self.classifier.to_string(),
            analysis: self.analysis.to_string(),
            label: self.label.clone(),
            folds,
            seed,
            documents,
            without_label: self.labelled.left_out,
            accuracy: found.accuracy(),
            macro_f1: found.macro_f1(),
            micro_f1: found.micro_f1(),
            classes: found.per_class(),
            confusion: found.confusion().to_vec(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Trains on all labelled documents and classifies other documents; of several documents with
    /// one id the last one counts.
    pub fn classify(&self, mut documents: Vec<Document>) -> Result<Classification, SearchError> {
        let start = Instant::now();
        let warnings = duplicate_warnings(keep_last(&mut documents));
        let fields = &self.labelled.fields;
        let is_present =
            |field: &String| documents.iter().any(|document| document.get(field).is_some());
        if !documents.is_empty() && !fields.iter().any(is_present) {
            return Err(SearchError::NoFieldToClassify { fields: fields.clone() });
        }
        let terms = terms(&documents, fields, &self.analysis);
        let training: Vec<usize> = (0..self.documents()).collect();
        let decided = self.decide(&training, &terms.iter().collect::<Vec<_>>())?;
        let mut classes: BTreeMap<String, u64> = BTreeMap::new();
        decided.iter().for_each(|(class, _)| *classes.entry(class.clone()).or_default() += 1);
        let decision = |(document, (class, value)): (Document, (String, f64))| ClassDecision {
            id: document.id,
            class,
            value,
        };
        Ok(Classification {
            classifier: self.classifier.to_string(),
            learnt_from: training.len(),
            without_label: self.labelled.left_out,
            documents: documents.len(),
            classes,
            decisions: documents.into_iter().zip(decided).map(decision).collect(),
            seconds: start.elapsed().as_secs_f64(),
            warnings,
        })
    }

    /// Trains on the labelled documents of these indices, and classifies texts, given as terms;
    /// returns the class and [`ClassDecision::value`] of each text.
    fn decide(
        &self,
        training: &[usize],
        texts: &[&Vec<String>],
    ) -> Result<Vec<(String, f64)>, SearchError> {
        let training_texts: Vec<&Vec<String>> =
            training.iter().map(|&i| &self.labelled.terms[i]).collect();
        let classes: Vec<&str> =
            training.iter().map(|&i| self.labelled.classes[i].as_str()).collect();
        let tfidf = TfIdf::fit(&training_texts);
        let vectors: Vec<SparseVector> =
            training_texts.par_iter().map(|terms| tfidf.vector(terms)).collect();
        let fitted = self.classifier.fit(&vectors, &classes)?;
        let decide = |terms: &&Vec<String>| {
            let vector = tfidf.vector(terms);
            let decision = fitted.classify(&vector);
            (decision.class.to_owned(), decision.value)
        };
        Ok(texts.par_iter().map(decide).collect())
    }
}

/// The warning about a number of documents that were replaced by a later one with the same id.
fn duplicate_warnings(documents: usize) -> Vec<SearchWarning> {
    match documents {
        0 => Vec::new(),
        count => vec![SearchWarning::DuplicateIds { documents: count as u64 }],
    }
}
