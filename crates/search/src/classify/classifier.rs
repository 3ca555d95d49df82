//! A classifier by its spec, such as `rocchio(distance=euclidean)` or `naive-bayes(smoothing=0.5)`.

use std::fmt;

use rankwright_data::DEFAULT_SEED;
use rankwright_spec::{
    Auto, ParamDef, ParamGroup, ParamKind, ParamValue, RangeDef, Spec, SpecError, ValueError,
    above, check_params, json_by_text, params, write_spec,
};

use super::forest::{DecisionForest, ForestOptions};
use super::linear::{LinearClassLoss, LinearClassifier};
use super::naive_bayes::{NaiveBayes, NaiveBayesModel};
use super::tree::{DecisionTree, GrowthLimits};
use super::{ClassifyError, Distance, Knn, Rocchio, SparseVector, TermWeights, TrainedClassifier};
use crate::params::read_params;

params! {
    /// Parameters of Rocchio's classifier.
    pub struct RocchioParams {
        distance: Distance = Distance::Cosine, .., "Distance to the centroid of a class.";
    }
}

params! {
    /// Parameters of the k nearest neighbours.
    pub struct KnnParams {
        k: u32 = 20, 1.., "Number of nearest neighbours that vote.";
        distance: Distance = Distance::Cosine, .., "Distance to a neighbour.";
    }
}

params! {
    /// Parameters of naive Bayes.
    pub struct NaiveBayesParams {
        model: NaiveBayesModel = NaiveBayesModel::Multinomial, ..,
            "Distribution of features: multinomial takes counts, bernoulli presence and absence.";
        smoothing: f64 = 1.0, above(0.0), "Number that is added to every count.";
    }
}

params! {
    /// Parameters of the linear support vector machine as a classifier.
    pub struct SvmClassifierParams {
        c: f64 = 1.0, above(0.0), "Weight of the losses relative to half the squared norm of the weights.";
    }
}

params! {
    /// Parameters of logistic regression as a classifier.
    pub struct LogisticClassifierParams {
        c: f64 = 1.0, above(0.0), "Weight of the losses relative to half the squared norm of the weights.";
    }
}

params! {
    /// Parameters of a decision tree.
    pub struct TreeClassifierParams {
        depth: Option<u32> = None, 1.., "Maximum number of splits above a leaf.";
        min_rows: u32 = 1, 1.., "Minimum number of training documents in a leaf.";
    }
}

params! {
    /// Parameters of a random forest as a classifier.
    pub struct ForestClassifierParams {
        trees: u32 = 100, 1..=100_000, "Number of trees.";
        depth: Option<u32> = None, 1.., "Maximum number of splits above a leaf.";
        min_rows: u32 = 1, 1.., "Minimum number of training documents in a leaf.";
        sample_features: Auto<u32> = Auto::Auto, 1..,
            "Number of features that a split is chosen among; auto: the square root of all.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the draws.";
    }
}

/// The declaration of a classifier.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ClassifierDef {
    /// Name in specs.
    pub name: &'static str,
    /// One sentence: the class that it decides for.
    pub help: &'static str,
    /// A spec with the most useful parameters.
    pub example: &'static str,
    param_defs: fn() -> Vec<ParamDef>,
}

impl ClassifierDef {
    /// The parameters.
    pub fn params(&self) -> Vec<ParamDef> {
        (self.param_defs)()
    }
}

/// Declares the classifiers: variant, parameters, name and example; the documentation is the help.
macro_rules! classifiers {
    ($( $(#[doc = $help:literal])* $variant:ident($params:ident) = $name:literal, $example:literal; )*) => {
        /// A classifier before training.
        ///
        /// ```
        /// use rankwright_search::classify::{Classifier, KnnParams};
        ///
        /// let classifier = Classifier::parse("knn(k=5)")?;
        /// assert_eq!(classifier, Classifier::Knn(KnnParams::default().k(5_u32)));
        /// assert_eq!(classifier.to_string(), "knn(k=5)");
        /// # Ok::<(), rankwright_spec::SpecError>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Classifier {
            $( $(#[doc = $help])* $variant($params), )*
        }

        /// The declarations of all classifiers.
        pub static CLASSIFIERS: &[ClassifierDef] = &[$( ClassifierDef {
            name: $name,
            help: concat!($($help),*).trim_ascii(),
            example: $example,
            param_defs: || $params::default().defs(),
        }, )*];

        impl Classifier {
            /// The names of all classifiers.
            pub const NAMES: &'static [&'static str] = &[$( $name ),*];

            /// Reads a spec, such as `knn(k=5)`.
            pub fn parse(text: &str) -> Result<Classifier, SpecError> {
                let spec = Spec::parse(text)?;
                match spec.name.as_str() {
                    $( $name => read_params(&spec).map(Self::$variant), )*
                    other => Err(SpecError::unknown("classifier", other, Self::NAMES)),
                }
            }

            /// The name in specs.
            pub fn name(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $name, )*
                }
            }

            /// Checks the ranges of the parameters.
            pub(super) fn check(&self) -> Result<(), SpecError> {
                match self {
                    $( Self::$variant(params) => check_params(params, $name), )*
                }
            }

            /// The spec.
            fn spec(&self) -> Spec {
                match self {
                    $( Self::$variant(params) => write_spec($name, params), )*
                }
            }
        }
    };
}

classifiers! {
    /// The class whose centroid is nearest.
    Rocchio(RocchioParams) = "rocchio", "rocchio(distance=euclidean)";
    /// The class of most of the nearest documents.
    Knn(KnnParams) = "knn", "knn(k=20)";
    /// The most probable class if features are independent.
    NaiveBayes(NaiveBayesParams) = "naive-bayes", "naive-bayes(model=bernoulli)";
    /// The class on whose side of a plane a document is farthest.
    LinearSvm(SvmClassifierParams) = "linear-svm", "linear-svm(c=1)";
    /// The most probable class if the logarithms of odds are linear.
    Logistic(LogisticClassifierParams) = "logistic", "logistic(c=1)";
    /// The class of most training documents in a leaf.
    Tree(TreeClassifierParams) = "tree", "tree(depth=3)";
    /// The class with the highest mean share in the leaves of many trees.
    RandomForest(ForestClassifierParams) = "random-forest", "random-forest(trees=100)";
}

impl Default for Classifier {
    fn default() -> Self {
        Self::Rocchio(RocchioParams::default())
    }
}

impl Classifier {
    /// The weights of terms that suit the classifier: counts for naive Bayes, tf-idf for all
    /// others.
    pub fn usual_weights(&self) -> TermWeights {
        match self {
            Self::NaiveBayes(_) => TermWeights::Counts,
            _ => TermWeights::TfIdf,
        }
    }

    /// The name of the values that decide: `distance` (the lowest wins), `share`, `probability` or
    /// `score` (the highest wins).
    pub fn value_name(&self) -> &'static str {
        match self {
            Self::Rocchio(_) => "distance",
            Self::Knn(_) | Self::Tree(_) | Self::RandomForest(_) => "share",
            Self::NaiveBayes(_) | Self::Logistic(_) => "probability",
            Self::LinearSvm(_) => "score",
        }
    }

    /// Trains on vectors of features below `features`; `classes` has the class of each vector.
    ///
    /// ```
    /// use rankwright_search::classify::{Classifier, SparseVector, TrainedClassifier};
    ///
    /// let points = [[1.0, 0.9], [0.2, 0.3]].map(|point| SparseVector::dense(&point));
    /// let points = points.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    /// let tree = Classifier::parse("tree(depth=1)")?.fit(&points, &["art", "law"], 2).unwrap();
    /// assert_eq!(tree.decide(&points[1]).class, "law");
    /// # Ok::<(), rankwright_spec::SpecError>(())
    /// ```
    pub fn fit(
        &self,
        vectors: &[SparseVector],
        classes: &[&str],
        features: usize,
    ) -> Result<Box<dyn TrainedClassifier>, ClassifyError> {
        let linear = |loss, c| LinearClassifier::fit(vectors, classes, features, loss, c);
        Ok(match self {
            Self::Rocchio(params) => Box::new(Rocchio::fit(vectors, classes, params.distance)?),
            Self::Knn(params) => {
                Box::new(Knn::fit(vectors, classes, params.k as usize, params.distance)?)
            }
            Self::NaiveBayes(NaiveBayesParams { model, smoothing }) => {
                Box::new(NaiveBayes::fit(vectors, classes, features, *model, *smoothing)?)
            }
            Self::LinearSvm(params) => Box::new(linear(LinearClassLoss::SquaredHinge, params.c)?),
            Self::Logistic(params) => Box::new(linear(LinearClassLoss::Logistic, params.c)?),
            Self::Tree(TreeClassifierParams { depth, min_rows }) => {
                let limits = GrowthLimits { depth: *depth, min_rows: *min_rows };
                Box::new(DecisionTree::fit(vectors, classes, limits)?)
            }
            Self::RandomForest(params) => {
                Box::new(DecisionForest::fit(vectors, classes, params.options(features))?)
            }
        })
    }
}

impl ForestClassifierParams {
    /// The options for vectors of this many features.
    fn options(&self, features: usize) -> ForestOptions {
        let root = (features as f64).sqrt() as usize;
        ForestOptions {
            trees: self.trees,
            sample_features: self.sample_features.given().map_or(root.max(1), |n| n as usize),
            limits: GrowthLimits { depth: self.depth, min_rows: self.min_rows },
            seed: self.seed,
        }
    }
}

impl fmt::Display for Classifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec().fmt(f)
    }
}

json_by_text!(Classifier, Classifier::to_string, Classifier::parse);

/// A classifier as the value of a parameter: `class-score(classifier=tree(depth=3))`.
impl ParamValue for Classifier {
    fn kind() -> ParamKind {
        ParamKind::Spec { of: "classifier" }
    }

    fn read(text: &str, _: &RangeDef) -> Result<Self, ValueError> {
        Self::parse(text).map_err(ValueError::Spec)
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_classifier_is_read_and_printed_and_separates_two_points() {
        let points = [[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8]];
        let points: Vec<SparseVector> =
            points.iter().map(|point| SparseVector::dense(point).unwrap()).collect();
        for &name in Classifier::NAMES {
            let classifier = Classifier::parse(name).unwrap();
            assert_eq!((classifier.to_string().as_str(), classifier.name()), (name, name));
            classifier.check().unwrap();
            let classifier =
                if name == "knn" { Classifier::parse("knn(k=1)").unwrap() } else { classifier };
            let fitted = classifier.fit(&points, &["x", "x", "y", "y"], 2).unwrap();
            let found: Vec<&str> = points.iter().map(|point| fitted.decide(point).class).collect();
            assert_eq!(found, ["x", "x", "y", "y"], "{name}");
            let scores = fitted.class_scores(&points[0]);
            assert!(scores.len() == 2 && scores[0] > scores[1], "{name}: {scores:?}");
        }
        let error = Classifier::parse("naive-bayes(smoothing=0)").unwrap_err().to_string();
        assert!(error.contains("above 0"), "{error}");
    }
}
