//! Classification of documents, from labelled documents to decisions or to a cross validation.
//!
//! Documents are vectors of their text or of their number fields. Cross validation splits by
//! document: each document is classified with a classifier and a vocabulary from other documents.

use std::collections::BTreeMap;
use std::time::Instant;

use rankwright_data::Random;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(doc)]
use super::Decision;
use super::classifier::Classifier;
use super::labelled::{LabelledDocuments, keep_last};
use super::vectors::{DocumentContent, Vectoriser};
use super::{ClassScore, ConfusionMatrix, SparseVector, TermWeights, TrainedClassifier};
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
    options: ClassifierOptions,
    labelled: LabelledDocuments,
    warnings: Vec<SearchWarning>,
}

impl std::fmt::Debug for TextClassifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextClassifier")
            .field("label", &self.label)
            .field("classifier", &self.options.classifier)
            .field("documents", &self.documents())
            .finish_non_exhaustive()
    }
}

/// A classifier, and the content of documents that it is trained on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ClassifierOptions {
    /// The classifier; Rocchio if not set.
    pub classifier: Classifier,
    /// Analysis of the text; English if not set.
    pub analysis: Analysis,
    /// Fields to classify by: text, categories and numbers. All text fields if empty, or all number
    /// fields of documents without text.
    pub fields: Vec<String>,
    /// Weights of terms; `None` for those that suit the classifier.
    pub weights: Option<TermWeights>,
}

impl Default for ClassifierOptions {
    fn default() -> Self {
        Self::new(Classifier::default())
    }
}

impl ClassifierOptions {
    /// A classifier of English text.
    pub fn new(classifier: Classifier) -> Self {
        let (analysis, fields) = (Analysis::default(), Vec::new());
        ClassifierOptions { classifier, analysis, fields, weights: None }
    }

    /// Sets the analysis of the text.
    #[must_use]
    pub fn analysis(mut self, analysis: Analysis) -> Self {
        self.analysis = analysis;
        self
    }

    /// Sets the fields to classify by.
    #[must_use]
    pub fn fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.fields = fields.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the weights of terms.
    #[must_use]
    pub fn weights(mut self, weights: TermWeights) -> Self {
        self.weights = Some(weights);
        self
    }

    /// The weights of terms that are used.
    fn used_weights(&self) -> TermWeights {
        self.weights.unwrap_or_else(|| self.classifier.usual_weights())
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
    /// The fields that documents were classified by.
    pub fields: Vec<String>,
    /// The weights of terms.
    pub term_weights: &'static str,
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
    pub training_documents: usize,
    /// The name of the values that decide, such as `distance` or `probability`.
    pub value_name: &'static str,
    /// The names of all classes, in order: those of [`ClassDecision::values`].
    #[serde(skip)]
    pub class_names: Vec<String>,
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
    /// The value of the decision, as [`Decision::value`] describes it.
    pub value: f64,
    /// The value of each class, in the order of [`Classification::class_names`]; they decide
    /// between the classes.
    pub values: Vec<f64>,
}

/// A classifier that was trained on some of the labelled documents, and its vocabulary.
struct FittedDocuments {
    vectoriser: Vectoriser,
    classifier: Box<dyn TrainedClassifier>,
}

impl TextClassifier {
    /// Stores labelled documents; of several documents with one id the last one counts. The
    /// documents are classified by all their text.
    pub fn new(
        documents: Vec<Document>,
        label: impl Into<String>,
        classifier: Classifier,
        analysis: Analysis,
    ) -> Result<Self, SearchError> {
        let options = ClassifierOptions::new(classifier).analysis(analysis);
        Self::with_options(documents, label, options)
    }

    /// Stores labelled documents; of several documents with one id the last one counts.
    ///
    /// ```
    /// use rankwright_search::classify::{Classifier, ClassifierOptions, TextClassifier};
    /// use rankwright_search::Document;
    ///
    /// let points = [("1", 0.2, "low"), ("2", 0.3, "low"), ("3", 0.9, "high")];
    /// let labelled = points.map(|(id, x, class)| Document::new(id).with("x", x).with("class", class));
    /// let tree = ClassifierOptions::new(Classifier::parse("tree")?).fields(["x"]);
    /// let classifier = TextClassifier::with_options(labelled.to_vec(), "class", tree)?;
    /// let result = classifier.classify(vec![Document::new("4").with("x", 0.8)])?;
    /// assert_eq!(result.decisions[0].class, "high");
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub fn with_options(
        mut documents: Vec<Document>,
        label: impl Into<String>,
        options: ClassifierOptions,
    ) -> Result<Self, SearchError> {
        options.classifier.check()?;
        let label = label.into();
        let mut warnings = duplicate_warnings(keep_last(&mut documents));
        let labelled = LabelledDocuments::new(&documents, &label, &options)?;
        if labelled.left_out > 0 {
            let (label, documents) = (label.clone(), labelled.left_out);
            warnings.push(SearchWarning::WithoutLabel { label, documents });
        }
        Ok(Self { label, options, labelled, warnings })
    }

    /// The fields that documents are classified by.
    pub fn fields(&self) -> Vec<String> {
        self.labelled.fields.names()
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
        // 0 is the number of the stream, chosen freely: the seed is used for no other stream.
        Random::new(seed, 0).shuffle(&mut order);
        let mut decided = vec![String::new(); documents];
        for fold in 0..fold_count {
            let documents_of = |is_test: bool| {
                let positions = (0..documents).filter(move |i| (i % fold_count == fold) == is_test);
                positions.map(|i| order[i]).collect::<Vec<usize>>()
            };
            let (training, test) = (documents_of(false), documents_of(true));
            let fitted = self.fit(&training)?;
            let decide = |i: &usize| {
                let vector = fitted.vectoriser.vector(&self.labelled.contents[*i])?;
                Ok((*i, fitted.classifier.decide(&vector).class.to_owned()))
            };
            let found: Result<Vec<(usize, String)>, SearchError> =
                test.par_iter().map(decide).collect();
            found?.into_iter().for_each(|(i, class)| decided[i] = class);
        }
        let truth = self.labelled.classes.iter().map(String::as_str);
        let found = ConfusionMatrix::new(truth.zip(decided.iter().map(String::as_str)));
        Ok(ClassifierEvaluation {
            classifier: self.options.classifier.to_string(),
            analysis: self.options.analysis.to_string(),
            fields: self.labelled.fields.names(),
            term_weights: self.options.used_weights().name(),
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
        let fields = self.labelled.fields.names();
        let is_present =
            |field: &String| documents.iter().any(|document| document.get(field).is_some());
        if !documents.is_empty() && !fields.iter().any(is_present) {
            return Err(SearchError::NoFieldToClassify { fields });
        }
        let contents = self.labelled.fields.contents(&documents, &self.options.analysis);
        let training: Vec<usize> = (0..self.documents()).collect();
        let fitted = self.fit(&training)?;
        let decide = |(document, content): (&Document, &DocumentContent)| {
            let vector = fitted.vectoriser.vector(content)?;
            let decision = fitted.classifier.decide(&vector);
            Ok(ClassDecision {
                id: document.id.clone(),
                class: decision.class.to_owned(),
                value: decision.value,
                values: fitted.classifier.class_values(&vector),
            })
        };
        let decisions: Result<Vec<ClassDecision>, SearchError> =
            documents.par_iter().zip(&contents).map(decide).collect();
        let decisions = decisions?;
        let mut classes: BTreeMap<String, u64> = BTreeMap::new();
        let decided = decisions.iter().map(|decision| decision.class.clone());
        decided.for_each(|class| *classes.entry(class).or_default() += 1);
        Ok(Classification {
            classifier: self.options.classifier.to_string(),
            training_documents: training.len(),
            value_name: self.options.classifier.value_name(),
            class_names: fitted.classifier.classes().to_vec(),
            without_label: self.labelled.left_out,
            documents: documents.len(),
            classes,
            decisions,
            seconds: start.elapsed().as_secs_f64(),
            warnings,
        })
    }

    /// Trains on the labelled documents of these indices.
    fn fit(&self, training: &[usize]) -> Result<FittedDocuments, SearchError> {
        let contents: Vec<&DocumentContent> =
            training.iter().map(|&i| &self.labelled.contents[i]).collect();
        let classes: Vec<&str> =
            training.iter().map(|&i| self.labelled.classes[i].as_str()).collect();
        let vectoriser = Vectoriser::fit(&contents, self.options.used_weights());
        let vectors: Result<Vec<SparseVector>, SearchError> =
            contents.par_iter().map(|content| vectoriser.vector(content)).collect();
        let classifier = self.options.classifier.fit(&vectors?, &classes, vectoriser.features())?;
        Ok(FittedDocuments { vectoriser, classifier })
    }
}

/// The warning about a number of documents that were replaced by a later one with the same id.
fn duplicate_warnings(documents: usize) -> Vec<SearchWarning> {
    match documents {
        0 => Vec::new(),
        count => vec![SearchWarning::DuplicateIds { documents: count as u64 }],
    }
}
