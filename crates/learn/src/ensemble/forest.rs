//! A random forest (Breiman 2001) on the labels: the mean of many regression trees, each grown on a
//! part of the queries and of the features.
//!
//! Trees do not look at each other's errors, so they may be large, and their mean varies less than
//! any of them. Queries are drawn whole and without replacement: 63 of a hundred, which is how many
//! different ones a bootstrap sample has; features are drawn for each tree. The draws depend
//! on seed and tree alone. Documents weigh what the data says.
//!
//! The trees come from the grower of boosting, on the derivatives of squared error at a fixed
//! score, the mean label: a leaf is then the mean of its labels less that. With a rate of one
//! over the number of trees their sum is their mean. Cost: that of boosting so many trees. Constant
//! labels or features give a constant.

use std::sync::Arc;

use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_spec::SpecError;

use super::info;
use crate::boost::{BoostParams, Booster};
use crate::error::LearnError;
use crate::learner::boosting;
use crate::objective::{Derivatives, Documents, Objective, QueryView, Squared, Workspace};
use crate::session::{TrainRequest, TrainResult};
use crate::trainer::{Trainer, Validation};

/// Parameters of `random-forest`.
pub(crate) const FOREST_PARAMS: &[ParamInfo] = &[
    info("trees", "number of trees", "300"),
    info("leaves", "most leaves of a tree", "100"),
    info("depth", "most splits from the root to a leaf; 0: no limit", "0"),
    info("min_rows", "least rows in a leaf", "10"),
    info("min_gain", "a split must gain more than this", "0"),
    info("sample_queries", "part of the queries that each tree sees, drawn anew", "0.63"),
    info("sample_features", "part of the features that each tree may use, drawn anew", "0.3"),
    info("bins", "most bins of a feature, 2 to 255", "255"),
    info("stop", "stop when validation has not improved for so many trees; 0: never", "0"),
];

/// Defaults that differ from those of boosted trees.
const DEFAULTS: &[(&str, &str)] = &[
    ("leaves", "100"),
    ("min_rows", "10"),
    ("sample_queries", "0.63"),
    ("sample_features", "0.3"),
];

/// Reads `random-forest`.
pub(crate) fn read_forest(
    params: &Params<'_>,
    _target: &MetricSpec,
) -> Result<Arc<dyn Trainer>, SpecError> {
    let mut params = boosting(&params.with_defaults(DEFAULTS))?;
    params.rate = 1.0 / params.trees as f64;
    Ok(Arc::new(Forest { params }))
}

#[derive(Debug)]
struct Forest {
    params: BoostParams,
}

impl Trainer for Forest {
    fn train(&self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        let mut labels = Labels { mean: 0.0 };
        Booster::new(self.params.clone())?.train(&mut labels, request)
    }

    fn objective(&self) -> String {
        "squared".to_owned()
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.params.trees, "tree"))
    }

    fn validation(&self) -> Validation {
        super::stopping(&self.params)
    }
}

/// Squared error at the mean label, whatever the scores are.
#[derive(Debug, Clone, Copy)]
struct Labels {
    mean: f64,
}

impl Objective for Labels {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        work: &mut Workspace,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let scores = vec![self.mean; query.scores.len()];
        Squared.derivatives(&QueryView { scores: &scores, ..*query }, work, out)
    }

    fn loss(&self, query: &QueryView<'_>, work: &mut Workspace) -> Result<Option<f64>, LearnError> {
        Squared.loss(query, work)
    }

    fn prepare(&mut self, all: &Documents<'_>) -> Result<f64, LearnError> {
        self.mean = Squared.prepare(all)?;
        Ok(self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::trials::{rows, trains_alike};
    use crate::learner::LearnerSpec;
    use rankwright_data::generate::LetorOptions;
    use rankwright_model::ModelBody;

    #[test]
    fn the_forest_is_the_mean_of_its_trees() {
        let data = LetorOptions { queries: 20, documents: 20, seed: 5 }.generate().unwrap();
        // All queries and features: every tree is the one tree, and so is their mean.
        let same = "trees=4, leaves=6, min_rows=5, sample_queries=1, sample_features=1";
        let forest = LearnerSpec::parse(&format!("random-forest({same})")).unwrap();
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
    fn draws_make_the_trees_differ_and_seeds_the_forests() {
        let data = LetorOptions { queries: 20, documents: 20, seed: 5 }.generate().unwrap();
        let learner = LearnerSpec::parse("random-forest(trees=3, leaves=5)").unwrap();
        let train =
            |seed| learner.train(TrainRequest { seed, ..TrainRequest::new(&data) }).unwrap().model;
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
    fn threads_and_a_pause_change_nothing() {
        trains_alike("random-forest(trees=8, leaves=9)");
    }
}
