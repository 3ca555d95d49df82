//! Class scores of documents, computed from labelled documents: Rocchio and kNN.
//!
//! Documents are tf-idf vectors of all their text. Rocchio's score is the cosine with the class's
//! centroid, kNN's the share of the class among the k nearest documents other than itself. Every
//! document of the index is read once when the features are prepared; a document with several
//! classes counts for the first.

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
            expected: format!("a value of the field `{field}`, or * for each"),
        }
        .into());
    }
    Ok(Box::new(DocumentColumn(class_column(index, &field, class, classifier)?)))
}

/// Documents of an index as vectors, for the classes of one field.
struct ClassVectors {
    docs: Vec<u32>,
    vectors: Vec<SparseVector>,
    /// The documents with a class, as indices into `docs`.
    known: Vec<usize>,
    classes: Vec<String>,
}

impl ClassVectors {
    fn read(index: &Index, field: &str) -> Result<ClassVectors, SearchError> {
        let labels = index.labels(field, FieldKind::Category)?;
        let docs = index.ids()?.sorted().to_vec();
        let texts: Result<Vec<Vec<String>>, SearchError> =
            docs.par_iter().map(|&doc| index.words_of(doc)).collect();
        let texts = texts?;
        let tfidf = TfIdf::fit(&texts);
        let vectors = texts.par_iter().map(|terms| tfidf.vector(terms)).collect();
        let class = |row: &usize| labels.of(docs[*row]).first().copied();
        let known: Vec<usize> = (0..docs.len()).filter(|row| class(row).is_some()).collect();
        let classes = known.iter().filter_map(class).map(|label| labels.name(label).to_owned());
        let classes = classes.collect();
        Ok(ClassVectors { docs, vectors, known, classes })
    }
}

/// A column with the score of one class for each document.
fn class_column(
    index: &Index,
    field: &str,
    class: &str,
    classifier: FeatureClassifier,
) -> Result<Arc<Vec<f64>>, SearchError> {
    let labelled = ClassVectors::read(index, field)?;
    let training: Vec<SparseVector> =
        labelled.known.iter().map(|&row| labelled.vectors[row].clone()).collect();
    let failed = |error| SearchError::Classes { field: field.to_owned(), error };
    let score = |scores: Vec<(&str, f64)>| {
        scores.iter().find(|(name, _)| *name == class).map_or(f64::NAN, |(_, score)| *score)
    };
    let values: Vec<f64> = match classifier {
        FeatureClassifier::Rocchio => {
            let rocchio = Rocchio::fit(&training, &labelled.classes, Distance::Cosine);
            let rocchio = rocchio.map_err(failed)?;
            labelled.vectors.par_iter().map(|vector| score(rocchio.scores(vector))).collect()
        }
        FeatureClassifier::Knn { k } => {
            let knn =
                Knn::fit(&training, &labelled.classes, k, Distance::Cosine).map_err(failed)?;
            let scores = (0..labelled.docs.len()).into_par_iter().map(|row| {
                let vector = &labelled.vectors[row];
                match labelled.known.binary_search(&row) {
                    Ok(own) => score(knn.scores_without(vector, own)),
                    Err(_) => score(knn.scores(vector)),
                }
            });
            scores.collect()
        }
    };
    let mut column = vec![f64::NAN; index.max_doc()];
    for (&doc, value) in labelled.docs.iter().zip(values) {
        column[doc as usize] = value;
    }
    Ok(Arc::new(column))
}
