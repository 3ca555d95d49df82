//! Bagging (Breiman, *Bagging Predictors*, 1996): several boosted ensembles, each trained on a part
//! of the queries, averaged into one.
//!
//! Boosted trees overfit their training queries; ensembles trained on different queries make
//! different errors, and their mean has a smaller error. A bag is a sample of the queries and the
//! ensemble trained on it. Each bag draws its queries by seed and number (from 0), without
//! replacement, and is trained with the seed plus its number. As all of them are sums of trees, so
//! is their mean: one ensemble with all trees, each leaf divided by the number of bags. Scores are
//! averaged without normalisation, since ensembles of one learner have the same scale.
//!
//! Cost: number of bags times that of the learner, on part of the data, which is copied for each
//! bag. Checkpoints go to a folder for each bag, which also keeps the models of finished bags.

use rankwright_data::Random;
use rankwright_model::{Ensemble, Leaf, Model, ModelBody, Tree};
use rankwright_spec::{Spec, SpecError, above, param_groups, params};

use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, LearnerSpec, LearnerText, TargetOptions,
    TargetParams, Tuning,
};
use crate::session::{NestedTraining, TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};

params! {
    /// Parameters of bagging.
    pub struct BaggingParams {
        learner: LearnerText = LearnerText::new("lambdamart"), ..,
            "Learner of each bag: any learner of boosted trees.";
        bags: usize = 10, 1.., "Number of bags.";
        sample_queries: f64 = 0.63, above(0.0).up_to(1.0), "Fraction of the queries in each bag.";
    }
    /// Builder methods for the parameters of bagging.
    pub trait BaggingOptions: bagging_params;
}

param_groups! {
    /// Bagging: the mean of boosted ensembles, each trained on a part of the queries.
    pub struct Bagging {
        bagging: BaggingParams, BaggingOptions::bagging_params;
        // The metric of reports, and of the learner of the bags if its spec has none.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for Bagging {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "bagging",
        help: "The mean of boosted ensembles, each trained on a part of the queries (Breiman 1996).",
        example: "bagging(learner=lambdamart(trees=50, leaves=15), bags=5)",
        accepts: AcceptedInputs {
            pairs: true,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: true,
            positions: false,
        },
        tuning: Some(Tuning {
            space: &["learner=choice(lambdamart(leaves=7),lambdamart(leaves=15),\
                      lambdamart(leaves=31),xendcg(leaves=15),xendcg(leaves=31)), \
                      sample_queries=uniform(0.4,0.9)"],
            rounds_parameter: Some("bags"),
            rounds_range: None,
            stop: None,
        }),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let learner_text = self.bagging.learner.as_str();
        let refused = || SpecError::BadValue {
            name: Self::DEF.name.to_owned(),
            key: "learner".to_owned(),
            value: learner_text.to_owned(),
            expected: "a learner of boosted trees, such as lambdamart(trees=100)".to_owned(),
        };
        let mut spec = Spec::parse(learner_text)?;
        // Checked before the inner spec is resolved, which would resolve nested bags without end.
        if matches!(spec.name.as_str(), "bagging" | "blend") {
            return Err(refused());
        }
        if spec.get("metric").is_none() {
            spec = spec.with("metric", self.target.metric.as_str());
        }
        let learner = LearnerSpec::from_spec(spec)?;
        if learner.boosting().is_none() {
            return Err(refused());
        }
        let BaggingParams { bags, sample_queries, .. } = self.bagging;
        Ok(Box::new(BaggingTrainer { learner, bags, sample_queries }))
    }
}

/// Trains the bags and averages them.
#[derive(Debug)]
struct BaggingTrainer {
    learner: LearnerSpec,
    bags: usize,
    /// Fraction of the queries in each bag.
    sample_queries: f64,
}

impl Trainer for BaggingTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let mut nested = NestedTraining::begin(request, "bag")?;
        let mut models = Vec::with_capacity(self.bags);
        let mut finished = true;
        for bag in 0..self.bags {
            let all_queries = request.train.queries();
            let queries = bag_queries(all_queries, self.sample_queries, request.seed, bag);
            let data = request.train.select_queries(&queries)?;
            let seed = request.seed.wrapping_add(bag as u64);
            let bag_request = nested.request(&data).seed(seed);
            let (model, bag_finished) = nested.train(&self.learner, bag_request)?;
            models.push(model);
            finished = bag_finished;
            if !finished {
                break;
            }
        }
        nested.finish(ModelBody::Trees(mean_of_trees(models)?), finished)
    }

    fn objective(&self) -> String {
        self.learner.to_string()
    }

    fn accepts_pairs(&self) -> bool {
        self.learner.accepts_pairs()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.bags, "bag"))
    }

    fn validation_use(&self) -> ValidationUse {
        self.learner.validation_use()
    }

    fn queries_with_sampled_pairs(&self, data: &rankwright_data::Dataset) -> usize {
        self.learner.queries_with_sampled_pairs(data)
    }

    fn max_leaves(&self) -> u64 {
        (self.bags as u64).saturating_mul(self.learner.max_leaves())
    }
}

/// Any constant: keeps the random choice of queries apart from other random numbers of the seed.
const BAGS_SEED: u64 = 0x6261_6767_696e_6721;

/// The queries of a bag, ascending: this fraction of all, but at least one. `bag` counts from 0.
fn bag_queries(queries: usize, fraction: f64, seed: u64, bag: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..queries).collect();
    Random::new(seed ^ BAGS_SEED, bag as u64).shuffle(&mut order);
    order.truncate(((fraction * queries as f64).round() as usize).clamp(1, queries.max(1)));
    order.sort_unstable();
    order
}

/// One ensemble whose scores are the means of those of the given models.
pub(crate) fn mean_of_trees(models: Vec<Model>) -> Result<Ensemble, LearnError> {
    let count = models.len() as f64;
    let (mut base, mut trees) = (0.0, Vec::new());
    for model in models {
        let ModelBody::Trees(ensemble) = model.into_parts().1 else {
            return Err(LearnError::Internal { invariant: "a bag is made of trees" });
        };
        base += ensemble.base() / count;
        for tree in ensemble.trees() {
            let scaled = |leaf: &Leaf| Leaf { value: leaf.value / count, ..*leaf };
            let leaves = tree.leaves().iter().map(scaled).collect();
            trees.push(Tree::with_sets(tree.splits().to_vec(), leaves, tree.sets().to_vec())?);
        }
    }
    Ok(Ensemble::new(base, trees)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::trains_reproducibly;
    use rankwright_data::generate::LetorOptions;

    #[test]
    fn scores_are_the_means_of_the_bags() {
        let data = LetorOptions { queries: 20, documents: 15, seed: 5 }.generate().unwrap();
        let bag_learner = LearnerSpec::parse("mart(trees=4, leaves=5)").unwrap();
        let text = "bagging(learner=mart(trees=4, leaves=5), bags=3, sample_queries=0.5)";
        let learner = LearnerSpec::parse(text).unwrap();
        assert_eq!(learner.to_string(), text);
        let model = learner.train(TrainRequest::new(&data).seed(7)).unwrap().model;
        let bags: Vec<Model> = (0..3)
            .map(|bag| {
                let queries = bag_queries(20, 0.5, 7, bag);
                assert_eq!(queries.len(), 10);
                let data = data.select_queries(&queries).unwrap();
                bag_learner.train(TrainRequest::new(&data).seed(7 + bag as u64)).unwrap().model
            })
            .collect();
        for row in 0..data.rows() {
            let row = data.matrix().row(row);
            let mean = bags.iter().map(|model| model.score_row(row)).sum::<f64>() / 3.0;
            assert!((model.score_row(row) - mean).abs() < 1e-9);
        }
        assert_ne!(bag_queries(20, 0.5, 7, 0), bag_queries(20, 0.5, 7, 1));
        assert_eq!(bag_queries(20, 0.0001, 7, 0).len(), 1);
    }

    #[test]
    fn only_boosted_trees_go_into_bags() {
        let error = |text: &str| LearnerSpec::parse(text).unwrap_err().to_string();
        for text in ["linear(weights=1:1)", "adarank", "bagging", "blend(members=mart)", "x(y=1)"] {
            let error = error(&format!("bagging(learner={text})"));
            assert!(error.contains("learner"), "{text}: {error}");
        }
        assert!(error("bagging(bags=0)").contains("from 1 on"));
        assert!(error("bagging(sample_queries=0)").contains("above 0"));
        assert!(error("bagging(learner=mart(rate=0))").contains("rate=0"));
    }

    #[test]
    fn the_learner_of_the_bags_gets_the_metric() {
        let learner = LearnerSpec::parse("bagging(metric=err@5, learner=lambdamart(trees=2))");
        let data = LetorOptions { queries: 10, documents: 15, seed: 5 }.generate().unwrap();
        let model = learner.unwrap().train(TrainRequest::new(&data)).unwrap().model;
        assert!(model.header().objective.contains("metric=err@5"), "{}", model.header().objective);
    }

    #[test]
    fn threads_and_an_interruption_change_nothing() {
        trains_reproducibly("bagging(learner=lambdamart(trees=4, leaves=5), bags=3)");
    }

    #[test]
    fn bags_of_a_learner_with_dart_and_goss_are_reproducible() {
        let options = "rate=0.5, drop_trees=0.5, drop_skip=0, goss_top=0.4, goss_rest=0.3";
        trains_reproducibly(&format!(
            "bagging(learner=mart(trees=4, leaves=5, {options}), bags=3)"
        ));
    }
}
