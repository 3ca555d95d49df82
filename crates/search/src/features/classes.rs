//! Features that score how well a document fits a class: Rocchio and kNN, trained on the documents
//! of the index that have a class.
//!
//! Documents are tf-idf vectors of all their text. Rocchio's score is the cosine with the centroid
//! of the class; kNN's score is the share of the class among the k nearest other documents. Every
//! document of the index is read once, when the features are prepared; a document with several
//! classes counts for the first one.

use std::sync::Arc;

use rankwright_spec::{Auto, Spec, SpecError, params};
use rayon::prelude::*;

use super::Feature;
use super::column::DocumentColumn;
use super::def::FeatureDef;
use super::fields::field_or_only;
use crate::classify::{Distance, Knn, Rocchio, SparseVector, TfIdf};
use crate::error::SearchError;
use crate::index::Index;
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

/// The feature of a class, which must be a value of the field.
fn build(
    index: &Index,
    spec: &Spec,
    field: &Auto<String>,
    class: &str,
    classifier: FeatureClassifier,
) -> Result<Box<dyn Feature>, SearchError> {
    let field = field_or_only(index, spec, field, FieldKind::Category)?;
    let labels = index.labels(&field, FieldKind::Category)?;
    if !(0..labels.len() as u32).any(|label| labels.name(label) == class) {
        return Err(SpecError::BadValue {
            name: spec.name.clone(),
            key: "class".to_owned(),
            value: class.to_owned(),
            expected: format!("a value of the field `{field}`, or * for each value"),
        }
        .into());
    }
    Ok(Box::new(DocumentColumn(class_column(index, &field, class, classifier)?)))
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
        let labels = index.labels(field, FieldKind::Category)?;
        let docs = index.ids()?.sorted().to_vec();
        let texts: Result<Vec<Vec<String>>, SearchError> =
            docs.par_iter().map(|&doc| index.terms_of_document(doc)).collect();
        let texts = texts?;
        let tfidf = TfIdf::fit(&texts);
        let vectors = texts.par_iter().map(|terms| tfidf.vector(terms)).collect();
        let class = |row: &usize| labels.of(docs[*row]).first().copied();
        let labelled: Vec<usize> = (0..docs.len()).filter(|row| class(row).is_some()).collect();
        let classes = labelled.iter().filter_map(class).map(|label| labels.name(label).to_owned());
        let classes = classes.collect();
        Ok(ClassVectors { docs, vectors, labelled, classes })
    }
}

/// A column with the score of one class for each document.
fn class_column(
    index: &Index,
    field: &str,
    class: &str,
    classifier: FeatureClassifier,
) -> Result<Arc<Vec<f64>>, SearchError> {
    let ClassVectors { docs, vectors, labelled, classes } = ClassVectors::read(index, field)?;
    let training: Vec<SparseVector> = labelled.iter().map(|&row| vectors[row].clone()).collect();
    let failed = |error| SearchError::Classes { field: field.to_owned(), error };
    let score_of_class = |scores: Vec<(&str, f64)>| {
        scores.iter().find(|(name, _)| *name == class).map_or(f64::NAN, |(_, score)| *score)
    };
    let values: Vec<f64> = match classifier {
        FeatureClassifier::Rocchio => {
            let rocchio = Rocchio::fit(&training, &classes, Distance::Cosine).map_err(failed)?;
            vectors.par_iter().map(|vector| score_of_class(rocchio.scores(vector))).collect()
        }
        FeatureClassifier::Knn { k } => {
            let knn = Knn::fit(&training, &classes, k, Distance::Cosine).map_err(failed)?;
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
