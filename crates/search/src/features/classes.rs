//! Features that score how well a document fits a class: Rocchio and kNN, trained on the documents
//! of the index that have a class.
//!
//! Documents are tf-idf vectors of all their text. Rocchio's score is the cosine with the centroid
//! of the class, which includes the document itself if it belongs to the class; kNN's score is the
//! share of the class among the k nearest other documents. Every document of the index is read
//! once, when the features are prepared. A document with several classes belongs only to the first
//! one in training; a class that is the first one of no document is refused. `class=*` was replaced
//! by the single classes before (`set.rs`).

use std::collections::BTreeSet;
use std::sync::Arc;

use rankwright_spec::{Auto, Spec, SpecError, params};
use rayon::prelude::*;

use super::Feature;
use super::column::DocumentColumn;
use super::def::FeatureDef;
use super::fields::field_or_only;
use crate::classify::{Distance, Knn, Rocchio, SparseVector, TfIdf};
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

pub(super) static ROCCHIO: FeatureDef = FeatureDef {
    name: "rocchio",
    help: "Cosine with the centroid of a class.",
    example: "rocchio(field=genre, class=jazz)",
    field: Some(FieldKind::Category),
    is_default: false,
    index_values: ("class", trained_class_names),
    ..FeatureDef::of::<RocchioFeatureParams>(|index, spec| {
        let RocchioFeatureParams { field, class } = read_params(spec)?;
        build(index, spec, &field, &class, FeatureClassifier::Rocchio)
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
        build(index, spec, &field, &class, FeatureClassifier::Knn { k: k as usize })
    })
};

/// The classifier of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeatureClassifier {
    Rocchio,
    Knn { k: usize },
}

/// The feature of a class, which must be the first value of the field for at least one document.
fn build(
    index: &Index,
    spec: &Spec,
    field: &Auto<String>,
    class: &str,
    classifier: FeatureClassifier,
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
    Ok(Box::new(DocumentColumn(class_column(index, &field, class, classifier)?)))
}

/// The number of the class that a document belongs to in training: its first value.
fn class_of(categories: &FieldValues, doc: u32) -> Option<u32> {
    categories.of(doc).first().copied()
}

/// The classes that `class=*` of a spec stands for.
pub(super) fn trained_class_names(index: &Index, spec: &Spec) -> Result<Vec<String>, SearchError> {
    let named = spec.get("field").map_or(Auto::Auto, |field| Auto::Given(field.to_owned()));
    let field = field_or_only(index, spec, &named, FieldKind::Category)?;
    Ok(trained_classes(index, &field)?.into_iter().collect())
}

/// The classes of a category field that documents belong to in training, ascending.
pub(super) fn trained_classes(index: &Index, field: &str) -> Result<BTreeSet<String>, SearchError> {
    let categories = index.field_values(field, FieldKind::Category)?;
    let docs = index.ids()?.sorted();
    let classes: BTreeSet<u32> =
        docs.iter().filter_map(|&doc| class_of(&categories, doc)).collect();
    Ok(classes.into_iter().map(|class| categories.text(class).to_owned()).collect())
}

/// Documents of an index as vectors, and the classes of those that have one.
struct ClassVectors {
    /// The document numbers, in the order of the ids.
    docs: Vec<u32>,
    /// The vector of each document of `docs`.
    vectors: Vec<SparseVector>,
    /// The documents with a class, as indices into `docs`, ascending.
    labelled: Vec<usize>,
    /// The class of each document of `labelled`.
    classes: Vec<String>,
}

impl ClassVectors {
    fn read(index: &Index, field: &str) -> Result<ClassVectors, SearchError> {
        let categories = index.field_values(field, FieldKind::Category)?;
        let docs = index.ids()?.sorted().to_vec();
        let texts: Result<Vec<Vec<String>>, SearchError> =
            docs.par_iter().map(|&doc| index.terms_of_document(doc)).collect();
        let texts = texts?;
        let tfidf = TfIdf::fit(&texts);
        let vectors = texts.par_iter().map(|terms| tfidf.vector(terms)).collect();
        let class = |row: &usize| class_of(&categories, docs[*row]);
        let labelled: Vec<usize> = (0..docs.len()).filter(|row| class(row).is_some()).collect();
        let classes = labelled.iter().filter_map(class);
        let classes = classes.map(|class| categories.text(class).to_owned()).collect();
        Ok(ClassVectors { docs, vectors, labelled, classes })
    }
}

/// The score of one class for each document, by document number; deleted documents have NaN.
fn class_column(
    index: &Index,
    field: &str,
    class: &str,
    classifier: FeatureClassifier,
) -> Result<Arc<Vec<f64>>, SearchError> {
    let ClassVectors { docs, vectors, labelled, classes } = ClassVectors::read(index, field)?;
    let training: Vec<SparseVector> = labelled.iter().map(|&row| vectors[row].clone()).collect();
    let training_error = |error| SearchError::Classes { field: field.to_owned(), error };
    // A class without training documents was refused before.
    let score_of_class = |scores: Vec<(&str, f64)>| {
        scores.iter().find(|(name, _)| *name == class).map_or(f64::NAN, |(_, score)| *score)
    };
    let values: Vec<f64> = match classifier {
        FeatureClassifier::Rocchio => {
            let rocchio = Rocchio::fit(&training, &classes, Distance::Cosine);
            let rocchio = rocchio.map_err(training_error)?;
            vectors.par_iter().map(|vector| score_of_class(rocchio.scores(vector))).collect()
        }
        FeatureClassifier::Knn { k } => {
            let knn = Knn::fit(&training, &classes, k, Distance::Cosine);
            let knn = knn.map_err(training_error)?;
            let scores = (0..docs.len()).into_par_iter().map(|row| {
                // A document is not its own neighbour.
                match labelled.binary_search(&row) {
                    Ok(own) => score_of_class(knn.scores_without(&vectors[row], own)),
                    Err(_) => score_of_class(knn.scores(&vectors[row])),
                }
            });
            scores.collect()
        }
    };
    let mut column = vec![f64::NAN; index.max_doc()];
    for (&doc, value) in docs.iter().zip(values) {
        column[doc as usize] = value;
    }
    Ok(Arc::new(column))
}
