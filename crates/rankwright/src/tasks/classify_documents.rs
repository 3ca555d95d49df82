//! Classification of documents by labelled ones, with any classifier of the search crate.
//!
//! Documents are vectors of all their text, of chosen fields, or of numbers. A cross validation
//! classifies each labelled document with a classifier and a vocabulary that have not seen it; a
//! classification trains on all labelled documents and classifies others.

use std::path::{Path, PathBuf};

use rankwright_data::DEFAULT_SEED;
use rankwright_data::store::write_atomic;
use rankwright_search::Analysis;
use rankwright_search::classify::{
    ClassDecision, Classification, Classifier, ClassifierEvaluation, ClassifierOptions,
    TextClassifier,
};
use rankwright_spec::visible::one_line;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::{CollectionSource, Context, TaskError, TaskInputs, Warning, check_standard_input};
use crate::tasks::request_json::default_seed;

/// Labelled documents, and the classifier that is trained on them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelledFiles {
    /// Files and folders of documents; several are one collection. `-` is standard input.
    pub files: CollectionSource,
    /// The field that holds the class.
    pub label: String,
    /// The classifier, and the content of the documents that it is trained on; Rocchio on English
    /// text if not given.
    #[serde(default)]
    pub options: ClassifierOptions,
}

impl LabelledFiles {
    /// Documents of English text, for Rocchio.
    pub fn new<P: Into<PathBuf>>(
        files: impl IntoIterator<Item = P>,
        label: impl Into<String>,
    ) -> Self {
        LabelledFiles::of(CollectionSource::files(files), label)
    }

    /// Documents of files or in memory, of English text, for Rocchio.
    pub fn of(files: CollectionSource, label: impl Into<String>) -> Self {
        LabelledFiles { files, label: label.into(), options: ClassifierOptions::default() }
    }

    /// Sets the classifier, and keeps the other options.
    pub fn classifier(mut self, classifier: Classifier) -> Self {
        self.options.classifier = classifier;
        self
    }

    /// Sets the classifier and the content of the documents that it is trained on.
    pub fn options(mut self, options: ClassifierOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the analysis of the text.
    pub fn analysis(mut self, analysis: Analysis) -> Self {
        self.options.analysis = analysis;
        self
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.paths().iter().map(PathBuf::as_path)
    }

    /// The fields whose values are read; points in a table need no ids.
    fn used_fields(&self) -> Vec<String> {
        self.options.fields.iter().chain([&self.label]).cloned().collect()
    }

    /// Reads the documents and prepares the classifier.
    fn load(&self, task: &mut RunningTask<'_>) -> Result<TextClassifier, TaskError> {
        let documents = self.files.load(&self.used_fields(), task)?;
        let options = self.options.clone();
        let work = || TextClassifier::with_options(documents, &self.label, options);
        let (classifier, _) = task.step("analysing documents", work)?;
        task.warn_of_search(classifier.warnings().to_vec());
        Ok(classifier)
    }
}

/// Labelled documents, and the folds of a cross validation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ValidateClassifierRequest {
    /// The labelled documents and the classifier.
    pub labelled: LabelledFiles,
    /// Number of folds, at least 2.
    #[serde(default = "default_folds")]
    pub folds: u32,
    /// Seed of the assignment to folds.
    #[serde(default = "default_seed")]
    pub seed: u64,
}

/// Number of folds of a request that gives none.
fn default_folds() -> u32 {
    ValidateClassifierRequest::DEFAULT_FOLDS
}

impl ValidateClassifierRequest {
    /// Number of folds if none is given.
    pub const DEFAULT_FOLDS: u32 = 5;

    /// A cross validation with five folds.
    pub fn new(labelled: LabelledFiles) -> Self {
        ValidateClassifierRequest { labelled, folds: Self::DEFAULT_FOLDS, seed: DEFAULT_SEED }
    }

    /// Sets the number of folds.
    pub fn folds(mut self, folds: u32) -> Self {
        self.folds = folds;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// The quality of a classifier in a cross validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValidateClassifierResult {
    /// Accuracy, precision and recall, and the confusion matrix.
    #[serde(flatten)]
    pub evaluation: ClassifierEvaluation,
    /// Warnings about the documents.
    pub warnings: Vec<Warning>,
}

/// Cross-validates a classifier by document.
pub fn validate_classifier(
    request: &ValidateClassifierRequest,
    context: &Context<'_>,
) -> Result<ValidateClassifierResult, TaskError> {
    let mut task = RunningTask::new(context);
    check_standard_input(request.labelled.paths())?;
    let classifier = request.labelled.load(&mut task)?;
    let work = || classifier.cross_validate(request.folds, request.seed);
    let (evaluation, _) = task.step("cross-validating", work)?;
    Ok(ValidateClassifierResult { evaluation, warnings: task.into_warnings() })
}

/// Labelled documents, documents to classify, and the file for their predicted classes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClassifyDocumentsRequest {
    /// The labelled documents and the classifier.
    pub labelled: LabelledFiles,
    /// Files and folders of documents to classify.
    pub documents: CollectionSource,
    /// File for the predicted classes: document id, class and the value that decided, separated by
    /// tabs. If not given, the result alone has them.
    pub out: Option<PathBuf>,
    /// Whether the file has a header line and also the values of all classes.
    #[serde(default)]
    pub scores: bool,
}

impl TaskInputs for ClassifyDocumentsRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.labelled.files.paths().iter().chain(self.documents.paths()).cloned().collect()
    }
}

impl ClassifyDocumentsRequest {
    /// Trains on labelled documents and classifies others.
    pub fn new<P: Into<PathBuf>>(
        labelled: LabelledFiles,
        documents: impl IntoIterator<Item = P>,
        out: impl Into<PathBuf>,
    ) -> Self {
        let request = ClassifyDocumentsRequest::of(labelled, CollectionSource::files(documents));
        ClassifyDocumentsRequest { out: Some(out.into()), ..request }
    }

    /// Trains on labelled documents and classifies others, of files or in memory; writes no file.
    ///
    /// ```
    /// use rankwright::search::Document;
    /// use rankwright::tasks::{
    ///     ClassifyDocumentsRequest, Context, CollectionSource, LabelledFiles, classify_documents,
    /// };
    ///
    /// let known = [("1", "jazz band", "music"), ("2", "night train", "travel")];
    /// let known = known.map(|(id, text, class)| {
    ///     Document::new(id).with("text", text).with("class", class)
    /// });
    /// let labelled = LabelledFiles::of(CollectionSource::in_memory(known), "class");
    /// let new = CollectionSource::in_memory([Document::new("3").with("text", "a jazz trio")]);
    /// let request = ClassifyDocumentsRequest::of(labelled, new);
    /// let found = classify_documents(&request, &Context::default())?;
    /// assert_eq!(found.result.decisions[0].class, "music");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(labelled: LabelledFiles, documents: CollectionSource) -> Self {
        ClassifyDocumentsRequest { labelled, documents, out: None, scores: false }
    }

    /// Sets whether the file has a header line and also the values of all classes.
    pub fn scores(mut self, scores: bool) -> Self {
        self.scores = scores;
        self
    }
}

/// The classes of documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClassifyDocumentsResult {
    /// File of the predicted classes, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The decisions, and counts of them; its warnings are among those below.
    #[serde(flatten)]
    pub result: Classification,
    /// Warnings about the documents.
    pub warnings: Vec<Warning>,
}

/// Trains a classifier on labelled documents, classifies others, and writes the decisions.
pub fn classify_documents(
    request: &ClassifyDocumentsRequest,
    context: &Context<'_>,
) -> Result<ClassifyDocumentsResult, TaskError> {
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    check_used(request.scores && request.out.is_none(), "scores", "no file is written")?;
    let classifier = request.labelled.load(&mut task)?;
    // What the classifier was trained on is a field of the new documents, too, and never their id.
    let mut fields = classifier.fields();
    fields.extend(request.labelled.used_fields());
    let documents = request.documents.load(&fields, &mut task)?;
    let (mut result, _) = task.step("classifying", || classifier.classify(documents))?;
    task.warn_of_search(std::mem::take(&mut result.warnings));
    let names = (result.value_name, result.class_names.as_slice());
    if let Some(out) = &request.out {
        write_decisions(out, &result.decisions, request.scores.then_some(names))?;
    }
    Ok(ClassifyDocumentsResult { out: request.out.clone(), result, warnings: task.into_warnings() })
}

/// Writes a line for each decision; with the name of the values and the names of classes, a header
/// and the value of each class.
fn write_decisions(
    path: &Path,
    decisions: &[ClassDecision],
    all_values: Option<(&str, &[String])>,
) -> Result<(), TaskError> {
    write_atomic(path, |file| {
        if let Some((value_name, classes)) = all_values {
            let names: Vec<_> = classes.iter().map(|class| one_line(class)).collect();
            writeln!(file, "id\tclass\t{value_name}\t{}", names.join("\t"))?;
        }
        for ClassDecision { id, class, value, values, .. } in decisions {
            write!(file, "{}\t{}\t{value}", one_line(id), one_line(class))?;
            for value in values.iter().filter(|_| all_values.is_some()) {
                write!(file, "\t{value}")?;
            }
            writeln!(file)?;
        }
        Ok(())
    })?;
    Ok(())
}
