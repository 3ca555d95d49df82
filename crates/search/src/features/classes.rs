//! Features that score how well a document fits a class, by a classifier that is trained on the
//! documents of the index that have a class.
//!
//! Documents are tf-idf vectors of all their text, or counts for naive Bayes. The vocabulary and the
//! document frequencies are those of all documents of the index, with and without a class: they say
//! nothing about classes, so that they are not computed anew for each part below. The score of
//! `rocchio` is the cosine with the centroid of the class, which includes the document itself; that
//! of `knn` is the share of the class among the k nearest other documents. `class-score` has the
//! score of any classifier; that of `rocchio(distance=euclidean)` is minus the distance. It must not reveal the class of a document that the classifier was
//! trained on: so the documents with a class, in the order of their ids, are dealt out to five
//! parts, and each part is scored by a classifier that is trained on the other four. Documents
//! without a class are scored by one that is trained on all.
//!
//! Every document of the index is read once, when the features are prepared, and the scores of all
//! classes are kept. A document with several classes belongs only to the first one in training; a
//! class that is the first one of no document is refused. A class that the training documents of a
//! part lack has no score there. `set.rs` has already replaced `class=*` by one spec for each
//! class.

use std::collections::{BTreeMap, BTreeSet};

use rankwright_spec::{Auto, Spec, SpecError, params};
use rayon::prelude::*;

use super::Feature;
use super::column::DocumentColumn;
use super::def::FeatureDef;
use super::fields::field_or_only;
use crate::classify::{
    Classifier, ClassifyError, Distance, Knn, NaiveBayesParams, Rocchio, SparseVector, TermWeights,
    TfIdf, TrainedClassifier,
};
use crate::error::SearchError;
use crate::index::{FieldValues, Index};
use crate::params::read_params;
use crate::schema::FieldKind;

params! {
    /// Parameters of the feature `rocchio`.
    pub struct RocchioFeatureParams {
        field: Auto<String> = Auto::Auto, .., "Category field; auto: the only one.";
        class: String = String::new(), .., "Class: a value of the field.";
    }
}

params! {
    /// Parameters of the feature `knn`.
    pub struct KnnFeatureParams {
        field: Auto<String> = Auto::Auto, .., "Category field; auto: the only one.";
        class: String = String::new(), .., "Class: a value of the field.";
        k: u32 = 20, 1.., "Number of neighbours.";
    }
}

params! {
    /// Parameters of the feature `class-score`.
    pub struct ClassScoreParams {
        field: Auto<String> = Auto::Auto, .., "Category field; auto: the only one.";
        class: String = String::new(), .., "Class: a value of the field.";
        classifier: Classifier = Classifier::NaiveBayes(NaiveBayesParams::default()), ..,
            "Classifier: rocchio, knn, naive-bayes, linear-svm, logistic, tree or random-forest.";
    }
}

pub(super) static ROCCHIO: FeatureDef = FeatureDef {
    name: "rocchio",
    help: "Cosine with the centroid of a class.",
    example: "rocchio(field=genre, class=jazz)",
    field: Some(FieldKind::Category),
    is_default: false,
    index_values: ("class", trained_class_names),
    ..FeatureDef::of::<RocchioFeatureParams>(|index, spec| {
        let RocchioFeatureParams { field, class } = read_params(spec)?;
        build(index, spec, &field, &class, &FeatureClassifier::Rocchio)
    })
};

pub(super) static KNN: FeatureDef = FeatureDef {
    name: "knn",
    help: "Share of a class among the nearest other documents.",
    example: "knn(field=genre, class=jazz, k=10)",
    field: Some(FieldKind::Category),
    is_default: false,
    index_values: ("class", trained_class_names),
    ..FeatureDef::of::<KnnFeatureParams>(|index, spec| {
        let KnnFeatureParams { field, class, k } = read_params(spec)?;
        build(index, spec, &field, &class, &FeatureClassifier::Knn { k: k as usize })
    })
};

pub(super) static CLASS_SCORE: FeatureDef = FeatureDef {
    name: "class-score",
    help: "Score of a class by a classifier that was trained on other documents.",
    example: "class-score(field=genre, class=jazz, classifier=naive-bayes)",
    field: Some(FieldKind::Category),
    is_default: false,
    index_values: ("class", trained_class_names),
    ..FeatureDef::of::<ClassScoreParams>(|index, spec| {
        let ClassScoreParams { field, class, classifier } = read_params(spec)?;
        build(index, spec, &field, &class, &FeatureClassifier::Any(classifier))
    })
};

/// Number of parts that documents with a class are dealt out to.
const PARTS: usize = 5;

/// The classifier of a feature.
#[derive(Debug, Clone, PartialEq)]
enum FeatureClassifier {
    Rocchio,
    Knn { k: usize },
    Any(Classifier),
}

impl FeatureClassifier {
    fn weights(&self) -> TermWeights {
        match self {
            Self::Rocchio | Self::Knn { .. } => TermWeights::TfIdf,
            Self::Any(classifier) => classifier.usual_weights(),
        }
    }
}

/// The feature of a class, which must be the first value of the field for at least one document.
fn build(
    index: &Index,
    spec: &Spec,
    field: &Auto<String>,
    class: &str,
    classifier: &FeatureClassifier,
) -> Result<Box<dyn Feature>, SearchError> {
    let field = field_or_only(index, spec, field, FieldKind::Category)?;
    if !trained_classes(index, &field)?.contains(class) {
        return Err(SpecError::BadValue {
            name: spec.name.clone(),
            key: "class".to_owned(),
            value: class.to_owned(),
            expected: format!(
                "a value of the field `{field}` that is the first one of at least one document, or \
                 * for each such value"
            ),
        }
        .into());
    }
    let name = |class: &str| format!("{classifier:?}\0{field}\0{class}");
    let make = || {
        let columns = class_columns(index, &field, class, classifier)?;
        // With few documents, no part may have been trained on the class.
        let requested = (class.to_owned(), vec![f64::NAN; index.max_doc()]);
        let missing = columns.iter().all(|(name, _)| name != class).then_some(requested);
        Ok(columns.into_iter().chain(missing).map(|(class, c)| (name(&class), c)).collect())
    };
    Ok(Box::new(DocumentColumn(index.computed_column(&name(class), make)?)))
}

/// The number of the class that a document belongs to in training: its first value.
fn class_of(categories: &FieldValues, doc: u32) -> Option<u32> {
    categories.of(doc).first().copied()
}

/// The classes that `class=*` of a spec stands for.
fn trained_class_names(index: &Index, spec: &Spec) -> Result<Vec<String>, SearchError> {
    let named = spec.get("field").map_or(Auto::Auto, |field| Auto::Given(field.to_owned()));
    let field = field_or_only(index, spec, &named, FieldKind::Category)?;
    Ok(trained_classes(index, &field)?.into_iter().collect())
}

/// The classes of a category field that documents belong to in training, ascending.
fn trained_classes(index: &Index, field: &str) -> Result<BTreeSet<String>, SearchError> {
    let categories = index.field_values(field, FieldKind::Category)?;
    let docs = index.ids()?.sorted();
    let classes: BTreeSet<u32> =
        docs.iter().filter_map(|&doc| class_of(&categories, doc)).collect();
    Ok(classes.into_iter().map(|class| categories.text(class).to_owned()).collect())
}

/// Maximum number of classes whose scores are all kept; of more, only those of the requested class.
const MAX_KEPT_CLASSES: usize = 100;

/// Documents of an index as vectors, and the classes of those that have one.
struct ClassVectors {
    /// The document numbers, in the order of the ids.
    docs: Vec<u32>,
    /// The vector of each document of `docs`.
    vectors: Vec<SparseVector>,
    /// Number of terms.
    features: usize,
    /// The documents with a class, as indices into `docs`, ascending.
    labelled: Vec<usize>,
    /// The class of each document of `labelled`.
    classes: Vec<String>,
    /// The class whose scores are kept; `None` for all.
    kept: Option<String>,
}

/// The scores of classes for a document: pairs of a class and its score.
type ClassScores = Vec<(String, f64)>;

impl ClassVectors {
    fn read(
        index: &Index,
        field: &str,
        class: &str,
        weights: TermWeights,
    ) -> Result<ClassVectors, SearchError> {
        let requested = class;
        let categories = index.field_values(field, FieldKind::Category)?;
        let docs = index.ids()?.sorted().to_vec();
        let texts: Result<Vec<Vec<String>>, SearchError> =
            docs.par_iter().map(|&doc| index.terms_of_document(doc)).collect();
        let texts = texts?;
        let tfidf = TfIdf::fit(&texts);
        let vector = |terms: &Vec<String>| match weights {
            TermWeights::TfIdf => tfidf.vector(terms),
            TermWeights::Counts => tfidf.counts(terms),
        };
        let vectors = texts.par_iter().map(vector).collect();
        let class = |row: &usize| class_of(&categories, docs[*row]);
        let labelled: Vec<usize> = (0..docs.len()).filter(|row| class(row).is_some()).collect();
        let classes = labelled.iter().filter_map(class);
        let classes = classes.map(|class| categories.text(class).to_owned()).collect();
        let kept = (categories.len() > MAX_KEPT_CLASSES).then(|| requested.to_owned());
        Ok(ClassVectors { docs, vectors, features: tfidf.len(), labelled, classes, kept })
    }

    /// The vectors of the documents with a class.
    fn training(&self) -> Vec<SparseVector> {
        self.labelled.iter().map(|&row| self.vectors[row].clone()).collect()
    }

    /// The cosines of each document with the centroids.
    fn rocchio(&self) -> Result<Vec<ClassScores>, ClassifyError> {
        let rocchio = Rocchio::fit(&self.training(), &self.classes, Distance::Cosine)?;
        Ok(self.vectors.par_iter().map(|vector| self.kept_scores(rocchio.scores(vector))).collect())
    }

    /// The shares of the classes among the neighbours of each document.
    fn knn(&self, k: usize) -> Result<Vec<ClassScores>, ClassifyError> {
        let knn = Knn::fit(&self.training(), &self.classes, k, Distance::Cosine)?;
        let scores = (0..self.docs.len()).into_par_iter().map(|row| {
            // A document is not its own neighbour; `own` is its index in `labelled`.
            match self.labelled.binary_search(&row) {
                Ok(own) => self.kept_scores(knn.scores_without(&self.vectors[row], own)),
                Err(_) => self.kept_scores(knn.scores(&self.vectors[row])),
            }
        });
        Ok(scores.collect())
    }

    /// The scores of each document by a classifier that was not trained on it.
    fn any(&self, classifier: &Classifier) -> Result<Vec<ClassScores>, ClassifyError> {
        let all = self.fit_without(classifier, None)?;
        let parts: Result<Vec<_>, ClassifyError> = match self.labelled.len() {
            0 | 1 => Ok(Vec::new()),
            _ => (0..PARTS).map(|part| self.fit_without(classifier, Some(part))).collect(),
        };
        let parts = parts?;
        let scores = |row: usize| match self.labelled.binary_search(&row) {
            Ok(own) => match parts.get(own % PARTS) {
                Some(fitted) => self.scores_by(&**fitted, row),
                None => Vec::new(),
            },
            Err(_) => self.scores_by(&*all, row),
        };
        Ok((0..self.docs.len()).into_par_iter().map(scores).collect())
    }

    /// A classifier that is trained on the documents with a class, without those of a part; a
    /// document is in the part of its index in `labelled` modulo [`PARTS`].
    fn fit_without(
        &self,
        classifier: &Classifier,
        part: Option<usize>,
    ) -> Result<Box<dyn TrainedClassifier>, ClassifyError> {
        let rows = (0..self.labelled.len()).filter(|own| Some(own % PARTS) != part);
        let (vectors, classes): (Vec<SparseVector>, Vec<&str>) = rows
            .map(|own| (self.vectors[self.labelled[own]].clone(), self.classes[own].as_str()))
            .unzip();
        classifier.fit(&vectors, &classes, self.features)
    }

    /// The scores of a document by a classifier.
    fn scores_by(&self, fitted: &dyn TrainedClassifier, row: usize) -> ClassScores {
        let classes = fitted.classes().iter().map(String::as_str);
        self.kept_scores(classes.zip(fitted.class_scores(&self.vectors[row])))
    }

    /// The scores that are kept.
    fn kept_scores<'a>(&self, scores: impl IntoIterator<Item = (&'a str, f64)>) -> ClassScores {
        let is_kept = |class: &str| self.kept.as_ref().is_none_or(|kept| kept == class);
        let kept = scores.into_iter().filter(|(class, _)| is_kept(class));
        kept.map(|(class, score)| (class.to_owned(), score)).collect()
    }
}

/// A column for each class, with the score of the class for each document; if there are many
/// classes, only for the given one.
fn class_columns(
    index: &Index,
    field: &str,
    class: &str,
    classifier: &FeatureClassifier,
) -> Result<Vec<(String, Vec<f64>)>, SearchError> {
    let vectors = ClassVectors::read(index, field, class, classifier.weights())?;
    let scores = match classifier {
        FeatureClassifier::Rocchio => vectors.rocchio(),
        FeatureClassifier::Knn { k } => vectors.knn(*k),
        FeatureClassifier::Any(classifier) => vectors.any(classifier),
    };
    let training_error = |error| SearchError::Classes { field: field.to_owned(), error };
    let scores = scores.map_err(training_error)?;
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (&doc, scores) in vectors.docs.iter().zip(scores) {
        for (class, score) in scores {
            let column = columns.entry(class).or_insert_with(|| vec![f64::NAN; index.max_doc()]);
            column[doc as usize] = score;
        }
    }
    Ok(columns.into_iter().collect())
}
