//! A random forest (Breiman 2001) on the labels: the mean of many regression trees, each grown on a
//! part of the queries and of the features.
//!
//! Trees are grown independently of each other's errors, so they may be large, and their mean has a
//! smaller variance than each tree. Queries are drawn with all their documents and without
//! replacement: 63 of a hundred, which is the expected fraction of distinct ones in a bootstrap
//! sample; features are drawn for each tree. The draws depend on seed and tree alone. Documents
//! have the weights of the data.
//!
//! The trees come from the grower of boosting, on the derivatives of squared error at a fixed
//! score, the mean label: the value of a leaf is then the mean of its labels minus the mean of all
//! labels. With a rate of 1 / (number of trees) the sum of the trees is their mean. Cost: that of
//! boosting with the same number of trees. Constant labels or features give a constant score.

use rankwright_spec::{Auto, SpecError, above, param_groups, params};

use crate::boost::{BoostConfig, BoostEngine, BoostParams, NewtonParams};
use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::objective::{
    Derivatives, DistilledObjective, Objective, ObjectiveBuffers, QueryView, Squared, TeacherTerm,
    TrainingDocuments,
};
use crate::session::{Stop, TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::tree::TreeParams;

params! {
    /// Parameters of a random forest.
    pub struct ForestParams {
        trees: usize = 300, 1.., "Number of trees.";
        leaves: usize = 100, 2..=65536, "Maximum number of leaves of a tree.";
        depth: usize = 0, .., "Maximum number of splits from the root to a leaf; 0: no limit.";
        min_rows: u64 = 10, .., "Minimum number of rows in a leaf.";
        min_gain: f64 = 0.0, 0.0.., "A split must have a gain above this.";
        sample_queries: f64 = 0.63, above(0.0).up_to(1.0),
            "Fraction of the queries that each tree is grown from, drawn for each tree.";
        sample_features: f64 = 0.3, above(0.0).up_to(1.0),
            "Fraction of the features that each tree may use, drawn for each tree.";
        bins: usize = 255, 2..=255, "Maximum number of bins of a feature.";
        stop: Stop = Stop::Auto, ..,
            "Number of trees without improvement on validation data after which training stops; \
             auto: all trees are trained. With validation data, the best number of trees is kept; \
             none: all are kept.";
    }
    /// Builder methods for the parameters of a random forest.
    pub trait ForestOptions: forest_params;
}

param_groups! {
    /// A random forest on the labels.
    pub struct RandomForest {
        forest: ForestParams, ForestOptions::forest_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for RandomForest {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "random-forest",
        help: "The mean of regression trees, each grown on a sample of queries and features (Breiman 2001).",
        example: "random-forest(trees=300, leaves=100)",
        accepts: AcceptedInputs {
            pairs: false,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: true,
            positions: false,
        },
        // More trees never make a forest worse: their number need not be tuned.
        tuning: Some(Tuning {
            space: &["leaves=logint(20,500), min_rows=logint(1,50), \
                      sample_queries=uniform(0.3,1), sample_features=uniform(0.1,0.7)"],
            rounds_parameter: Some("trees"),
            rounds_range: None,
            stop: None,
        }),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let forest = &self.forest;
        let boost = BoostParams {
            trees: forest.trees,
            rate: Auto::Given(1.0 / forest.trees as f64),
            stop: forest.stop,
            sample_queries: forest.sample_queries,
            sample_features: forest.sample_features,
            ..BoostParams::default()
        };
        let tree = TreeParams {
            leaves: Auto::Given(forest.leaves),
            depth: forest.depth,
            min_rows: Auto::Given(forest.min_rows),
            min_gain: forest.min_gain,
            bins: forest.bins,
            ..TreeParams::default()
        };
        let config = BoostConfig::new(&boost, &tree, &NewtonParams::default());
        Ok(Box::new(ForestTrainer { config }))
    }
}

/// Trains a random forest.
#[derive(Debug)]
struct ForestTrainer {
    config: BoostConfig,
}

impl Trainer for ForestTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let mut objective = SquaredAtMean { mean: 0.0 };
        let engine = BoostEngine::new(self.config.clone());
        match &request.soft_targets {
            None => engine.train(&mut objective, request),
            Some(targets) => {
                let labels = Box::new(objective);
                engine.train(&mut DistilledObjective::new(labels, targets.clone()), request)
            }
        }
    }

    fn accepts_teacher(&self) -> bool {
        true
    }

    fn objective(&self) -> String {
        "squared".to_owned()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.config.trees, "tree"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::of_rounds(self.config.stop, self.config.trees)
    }

    fn max_leaves(&self) -> u64 {
        (self.config.trees as u64).saturating_mul(self.config.tree.leaves as u64)
    }

    fn min_rows(&self, _rows: u64) -> Option<u64> {
        Some(self.config.tree.min_rows)
    }
}

/// The objective of a forest: derivatives of squared error at the mean label, whatever the scores
/// are; the loss is the squared error of the scores.
#[derive(Debug, Clone, Copy)]
struct SquaredAtMean {
    /// The mean label of the training data.
    mean: f64,
}

impl Objective for SquaredAtMean {
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::SoftLabels
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let scores = vec![self.mean; query.scores.len()];
        Squared.derivatives(&QueryView { scores: &scores, ..*query }, buffers, out)
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        Squared.loss(query, buffers)
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        self.mean = Squared.prepare(all)?;
        Ok(self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::{rows, trains_reproducibly};
    use crate::learner::LearnerSpec;
    use rankwright_data::generate::LetorOptions;
    use rankwright_model::ModelBody;

    #[test]
    fn the_forest_is_the_mean_of_its_trees() {
        let data = LetorOptions { queries: 20, documents: 20, seed: 5 }.generate().unwrap();
        // With all queries and features, all trees are equal, and so is their mean.
        let parameters = "trees=4, leaves=6, min_rows=5, sample_queries=1, sample_features=1";
        let forest = LearnerSpec::parse(&format!("random-forest({parameters})")).unwrap();
        let forest = forest.train(TrainRequest::new(&data)).unwrap().model;
        let tree = LearnerSpec::parse("tree(leaves=6, min_rows=5)").unwrap();
        let tree = tree.train(TrainRequest::new(&data)).unwrap().model;
        for row in 0..data.rows() {
            let row = data.matrix().row(row);
            assert!((forest.score_row(row) - tree.score_row(row)).abs() < 1e-9);
        }
        let ModelBody::Trees(forest) = forest.body() else { panic!("no trees") };
        let splits: Vec<_> = forest.trees().iter().map(|tree| tree.splits().to_vec()).collect();
        assert!(splits.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn trees_of_a_forest_differ_and_so_do_forests_of_different_seeds() {
        let data = LetorOptions { queries: 20, documents: 20, seed: 5 }.generate().unwrap();
        let learner = LearnerSpec::parse("random-forest(trees=3, leaves=5)").unwrap();
        let train = |seed| learner.train(TrainRequest::new(&data).seed(seed)).unwrap().model;
        let first = train(1);
        let ModelBody::Trees(forest) = first.body() else { panic!("no trees") };
        assert_ne!(forest.trees()[0].splits(), forest.trees()[1].splits());
        assert_eq!(first.to_bytes(), train(1).to_bytes());
        assert_ne!(first.to_bytes(), train(2).to_bytes());
    }

    #[test]
    fn constant_labels_give_that_constant() {
        let data = rows(&[("a", 2.0, &[0.0]), ("a", 2.0, &[1.0]), ("b", 2.0, &[5.0])]);
        let learner = LearnerSpec::parse("random-forest(trees=3, min_rows=1)").unwrap();
        let model = learner.train(TrainRequest::new(&data)).unwrap().model;
        assert_eq!(model.score_row(&[1.0]), 2.0);
        let wrong = LearnerSpec::parse("random-forest(sample_features=0)").unwrap_err();
        assert!(wrong.to_string().contains("sample_features=0"), "{wrong}");
    }

    #[test]
    fn threads_and_an_interruption_change_nothing() {
        trains_reproducibly("random-forest(trees=8, leaves=9)");
    }
}
