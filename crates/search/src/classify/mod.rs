//! Text classifiers that are trained on labelled documents, for use alone or as features of
//! documents.
//!
//! [`Rocchio`] compares a vector with the centroid of each class, [`Knn`] lets the nearest labelled
//! documents vote, [`NaiveBayes`] multiplies probabilities, [`LinearClassifier`] is the support
//! vector machine and logistic regression, [`DecisionTree`] and [`DecisionForest`] split by single
//! features. All take sparse vectors, which [`TfIdf`] computes from tokens, or dense points.
//! [`TrainedClassifier::decide`] returns a class; `class_scores` returns a number for each class,
//! for use as a feature. [`ConfusionMatrix`] counts correct and wrong decisions. [`TextClassifier`]
//! does all steps from documents to decisions or to a cross validation.

mod classifier;
mod evaluation;
mod forest;
mod knn;
mod labelled;
mod linear;
mod naive_bayes;
mod rocchio;
mod task;
mod tfidf;
mod trained;
mod tree;
mod vector;
mod vectors;

pub use classifier::{
    CLASSIFIERS, Classifier, ClassifierDef, ForestClassifierParams, KnnParams,
    LogisticClassifierParams, NaiveBayesParams, RocchioParams, SvmClassifierParams,
    TreeClassifierParams,
};
pub use evaluation::{ClassScore, ConfusionMatrix};
pub use forest::{DecisionForest, ForestOptions};
pub use knn::{Knn, Neighbour};
pub use linear::{LinearClassLoss, LinearClassifier};
pub use naive_bayes::{NaiveBayes, NaiveBayesModel};
pub use rocchio::Rocchio;
pub use task::{
    ClassDecision, Classification, ClassifierEvaluation, ClassifierOptions, TextClassifier,
};
pub use tfidf::TfIdf;
pub use trained::TrainedClassifier;
pub use tree::{DecisionTree, GrowthLimits};
pub use vector::SparseVector;
pub use vectors::TermWeights;

use rankwright_spec::choices;
use rankwright_spec::words::counted;

choices! {
    /// A distance of two vectors.
    pub enum Distance {
        /// One minus the cosine of the angle; a vector of zeros has cosine 0 with every vector.
        Cosine = "cosine",
        /// The Euclidean distance.
        Euclidean = "euclidean",
    }
}

impl Distance {
    /// The distance of two vectors, from their squared lengths `a` and `b` and their inner product.
    /// Rounding cannot make it negative.
    fn of(self, a: f64, b: f64, dot: f64) -> f64 {
        match self {
            Distance::Euclidean => (a + b - 2.0 * dot).max(0.0).sqrt(),
            Distance::Cosine => (1.0 - cosine(a, b, dot)).max(0.0),
        }
    }
}

/// The cosine of two vectors, from their squared lengths `a` and `b` and their inner product; in
/// -1..=1, and 0 if a length is 0.
fn cosine(a: f64, b: f64, dot: f64) -> f64 {
    let lengths = a.sqrt() * b.sqrt();
    if lengths > 0.0 { (dot / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The decision of a classifier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision<'a> {
    /// The class.
    pub class: &'a str,
    /// Whether another class was exactly as good, so that the tie rule decided.
    pub ties: bool,
    /// The distance to the centroid of the class (Rocchio), its share of the neighbours (kNN), of
    /// the leaf (tree) or of the leaves (random forest), its probability (naive Bayes, logistic
    /// regression), or w·x + b (support vector machine).
    pub value: f64,
}

/// The reason why labelled documents cannot train a classifier.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifyError {
    /// There are no documents.
    #[error("there is no labelled document")]
    Empty,
    /// The number of classes given differs from the number of documents.
    #[error(
        "found {} for {}, expected one class for each document",
        counted(*classes, "class"),
        counted(*documents, "document")
    )]
    Lengths {
        /// Number of documents.
        documents: usize,
        /// Number of classes given.
        classes: usize,
    },
    /// A weight that is not finite.
    #[error("the weight of term {term} is {weight}, which is not finite")]
    NotFinite {
        /// The term or coordinate.
        term: u32,
        /// Its weight.
        weight: f32,
    },
    /// A negative weight where only counts are allowed.
    #[error("the weight of term {term} is {weight}; naive Bayes counts, and takes none below 0")]
    Negative {
        /// The term or coordinate.
        term: u32,
        /// Its weight.
        weight: f32,
    },
    /// The number of neighbours is 0.
    #[error("the number of neighbours k is 0, expected at least 1")]
    NoNeighbours,
    /// More documents or coordinates than a 32-bit number can count.
    #[error("found {count} {what}, expected at most 4294967295")]
    TooLarge {
        /// The name of the objects that are counted, in the plural.
        what: &'static str,
        /// The number of objects.
        count: usize,
    },
}

impl ClassifyError {
    /// Advice for the user: a way to avoid the error, if there is one.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            ClassifyError::Empty => "give some documents a class".into(),
            ClassifyError::Lengths { .. } => return None,
            ClassifyError::NotFinite { .. } => "leave the term out".into(),
            ClassifyError::Negative { .. } => {
                "use the Bernoulli model, or another classifier".into()
            }
            ClassifyError::NoNeighbours => "give a k of at least 1".into(),
            ClassifyError::TooLarge { .. } => "use a part of them".into(),
        })
    }
}

/// The classes of labelled documents.
struct ClassNames {
    /// The names of the classes in order, each once.
    names: Vec<String>,
    /// The class of each document, as an index into `names`.
    numbers: Vec<u32>,
}

impl ClassNames {
    /// Takes the class of each of `documents` documents.
    fn new<S: AsRef<str>>(documents: usize, classes: &[S]) -> Result<ClassNames, ClassifyError> {
        if documents != classes.len() {
            return Err(ClassifyError::Lengths { documents, classes: classes.len() });
        }
        if documents == 0 {
            return Err(ClassifyError::Empty);
        }
        if u32::try_from(documents).is_err() {
            return Err(ClassifyError::TooLarge { what: "labelled documents", count: documents });
        }
        let mut names: Vec<&str> = classes.iter().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let number = |class: &S| names.partition_point(|name| *name < class.as_ref()) as u32;
        let numbers = classes.iter().map(number).collect();
        Ok(ClassNames { names: names.into_iter().map(str::to_owned).collect(), numbers })
    }
}
