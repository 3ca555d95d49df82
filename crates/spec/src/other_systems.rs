//! Names of other systems and their counterparts here.
//!
//! Somebody who knows LightGBM, XGBoost, CatBoost, scikit-learn or RankLib writes
//! `learning_rate=0.05` or `XGBRanker`. A spec has one name for each thing, so these are refused,
//! with the name that stands for the same thing here. The tables below are also a page of the
//! documentation.

/// A parameter of other systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherSystemParam {
    /// Names in other systems.
    pub names: &'static [&'static str],
    /// Names of the same parameter in our specs, the most usual first; empty if it is not a
    /// parameter of a spec.
    pub our_names: &'static [&'static str],
    /// A difference, or the place where it is set if it is not a parameter; empty if there is none.
    pub note: &'static str,
}

/// A learner of other systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherSystemLearner {
    /// Names in other systems.
    pub names: &'static [&'static str],
    /// The same learner as a spec of ours, with parameters where they are needed.
    pub our_spec: &'static str,
    /// A difference; empty if there is none.
    pub note: &'static str,
}

const fn param(
    names: &'static [&'static str],
    our_names: &'static [&'static str],
    note: &'static str,
) -> OtherSystemParam {
    OtherSystemParam { names, our_names, note }
}

const fn learner(
    names: &'static [&'static str],
    our_spec: &'static str,
    note: &'static str,
) -> OtherSystemLearner {
    OtherSystemLearner { names, our_spec, note }
}

/// Parameters of LightGBM, XGBoost, CatBoost, scikit-learn and RankLib.
pub static OTHER_SYSTEM_PARAMS: &[OtherSystemParam] = &[
    param(&["learning_rate", "eta", "shrinkage", "shrinkage_rate", "lr"], &["rate"], ""),
    param(
        &[
            "n_estimators",
            "num_iterations",
            "num_boost_round",
            "num_trees",
            "num_round",
            "nrounds",
            "n_trees",
            "iterations",
            "tree",
        ],
        &["trees", "rounds", "epochs"],
        "",
    ),
    param(&["num_leaves", "max_leaves", "max_leaf_nodes", "leaf"], &["leaves"], ""),
    param(&["max_depth"], &["depth"], "0 is no limit"),
    param(
        &["early_stopping_rounds", "early_stopping_round", "n_iter_no_change", "od_wait", "estop"],
        &["stop"],
        "needs validation data",
    ),
    param(
        &["min_data_in_leaf", "min_child_samples", "min_samples_leaf", "min_data", "mls"],
        &["min_rows"],
        "",
    ),
    param(
        &["min_sum_hessian_in_leaf", "min_child_weight", "min_sum_hessian"],
        &["min_hessian"],
        "",
    ),
    param(
        &[
            "min_gain_to_split",
            "min_split_gain",
            "gamma",
            "min_split_loss",
            "min_impurity_decrease",
        ],
        &["min_gain"],
        "",
    ),
    param(&["lambda_l1", "reg_alpha", "alpha"], &["l1"], ""),
    param(&["lambda_l2", "reg_lambda", "lambda", "l2_leaf_reg", "l2_regularization"], &["l2"], ""),
    param(&["max_bin", "max_bins", "border_count", "tc"], &["bins"], "at most 255"),
    param(
        &["feature_fraction", "colsample_bytree", "colsample", "rsm", "max_features", "frate"],
        &["sample_features"],
        "a fraction",
    ),
    param(
        &["bagging_fraction", "subsample", "sample_rate", "srate", "sub_row"],
        &["sample_queries"],
        "a fraction; whole queries are drawn",
    ),
    param(&["sigmoid"], &["sigma"], ""),
    param(&["lambdarank_truncation_level", "lambdarank_num_pair_per_sample"], &["truncation"], ""),
    param(&["lambdarank_norm", "lambdarank_normalization"], &["norm_query"], ""),
    param(&["eval_metric", "metric2t", "custom_metric"], &["metric"], ""),
    param(
        &["label_gain", "ndcg_exp_gain"],
        &[],
        "the gain is a part of the metric: `metric=ndcg(gain=linear)@10`",
    ),
    param(
        &["eval_at", "ndcg_eval_at", "k", "top_k", "cutoff"],
        &[],
        "the cut-off follows the name of the metric: `ndcg@10`",
    ),
    param(&["monotone_constraints"], &["monotone"], ""),
    param(&["interaction_constraints"], &["interactions"], ""),
    param(&["categorical_feature", "cat_features", "categorical_features"], &["categorical"], ""),
    param(&["grow_policy"], &["growth"], ""),
    param(&["top_rate"], &["goss_top"], "a fraction of the queries, not of the rows"),
    param(&["other_rate"], &["goss_rest"], "a fraction of the queries, not of the rows"),
    param(&["drop_rate", "rate_drop"], &["drop_trees"], ""),
    param(&["skip_drop"], &["drop_skip"], ""),
    param(&["max_drop"], &["drop_most"], ""),
    param(
        &["boosting", "boosting_type", "booster"],
        &[],
        "DART is `drop_trees=0.1`, GOSS is `goss_top=0.2`, a forest is the learner `random-forest`",
    ),
    param(
        &["objective", "loss_function", "application"],
        &["loss"],
        "most objectives are learners of their own, such as `lambdamart` and `xendcg`",
    ),
    param(&["C"], &["c"], "relative to the mean loss, not to its sum"),
    param(&["tol"], &["tolerance"], ""),
    param(&["max_iter", "n_iter"], &["steps", "epochs", "rounds", "passes"], ""),
    param(&["hidden_layer_sizes", "node", "units"], &["layers"], "separated by slashes: `64/32`"),
    param(&["batch_size"], &["batch"], "a number of queries"),
    param(&["n_epochs", "epoch", "max_epochs"], &["epochs"], ""),
    param(&["weight_decay"], &["decay"], ""),
    param(&["bag", "n_bags"], &["bags"], ""),
    param(&["round"], &["rounds"], ""),
    param(
        &["seed", "random_state", "random_seed"],
        &[],
        "the seed belongs to the training, not to the learner: give it beside the spec",
    ),
    param(
        &["num_threads", "n_jobs", "nthread", "thread_count"],
        &[],
        "the number of threads is given beside the spec, and does not change the model",
    ),
    param(
        &["device", "device_type", "task_type", "tree_method", "force_col_wise", "force_row_wise"],
        &[],
        "there is one method: histograms, on the processor",
    ),
];

/// Learners, objectives and classes of other systems.
pub static OTHER_SYSTEM_LEARNERS: &[OtherSystemLearner] = &[
    learner(
        &[
            "LGBMRanker",
            "lightgbm",
            "lgbm",
            "XGBRanker",
            "xgboost",
            "xgb",
            "lambda_mart",
            "rank_ndcg",
            "rank_map",
        ],
        "lambdamart",
        "LightGBM's objective `lambdarank` is `lambdamart` too; `lambdarank` here is a net",
    ),
    learner(&["rank_xendcg", "xendcg_mart", "xe_ndcg_mart"], "xendcg", ""),
    learner(&["CatBoostRanker", "catboost", "YetiRankPairwise"], "yetirank", ""),
    learner(&["rank_pairwise", "PairLogit", "PairLogitPairwise"], "rankmart", ""),
    learner(
        &["gbdt", "gbm", "gbrt", "GradientBoostingRegressor", "LGBMRegressor", "XGBRegressor"],
        "mart",
        "",
    ),
    learner(&["QueryRMSE"], "mart(loss=query-rmse)", ""),
    learner(&["QuerySoftMax"], "mart(loss=softmax)", ""),
    learner(&["rf", "RandomForests", "RandomForestRegressor"], "random-forest", ""),
    learner(&["svm_rank", "svmrank", "rank_svm"], "ranksvm", ""),
    learner(&["ca", "CoordinateAscent", "coor_ascent"], "coordinate-ascent", ""),
    learner(&["Ridge", "LinearRegression"], "linear-regression", ""),
    learner(&["LogisticRegression"], "logistic", ""),
    learner(&["LinearSVC"], "linear-svm", ""),
    learner(
        &["mlp", "MLPRegressor"],
        "ranknet",
        "a net too, but it learns from pairs of documents, not from the values of the labels",
    ),
];

/// Usual names of first stages and their specs here.
pub static OTHER_FIRST_STAGES: &[(&[&str], &str)] = &[
    (&["tfidf", "tf-idf", "vector-space", "vsm"], "cosine"),
    (&["lm", "lm-dirichlet", "language-model", "query-likelihood", "ql"], "dirichlet"),
    (&["lm-jelinek-mercer", "jm"], "jelinek-mercer"),
    (&["okapi"], "bm25"),
];

/// The entry of a parameter's name in other systems.
pub fn other_system_param(name: &str) -> Option<&'static OtherSystemParam> {
    OTHER_SYSTEM_PARAMS.iter().find(|entry| entry.names.contains(&name))
}

/// The entry of a learner's name in other systems; case and the signs `-` and `_` do not matter.
pub fn other_system_learner(name: &str) -> Option<&'static OtherSystemLearner> {
    OTHER_SYSTEM_LEARNERS.iter().find(|entry| is_one_of(name, entry.names))
}

/// The spec of a first stage that is usually called `name`; case and the signs `-` and `_` do not
/// matter.
pub fn other_first_stage(name: &str) -> Option<&'static str> {
    OTHER_FIRST_STAGES.iter().find(|(names, _)| is_one_of(name, names)).map(|(_, spec)| *spec)
}

/// Whether `name` is one of the known names, apart from case and the signs `-` and `_`.
fn is_one_of(name: &str, known: &[&str]) -> bool {
    let simplified = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let found = simplified(name);
    known.iter().any(|known| simplified(known) == found)
}

impl OtherSystemParam {
    /// The text of an error: the name here, for a spec with these parameters.
    pub(crate) fn hint(&self, known: &[&str]) -> Option<String> {
        let note = match self.note {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        let name = self.our_names.iter().find(|name| known.contains(name));
        match (name, self.our_names) {
            (Some(name), _) => Some(format!("it is called `{name}` here{note}")),
            (None, []) => Some(self.note.to_owned()),
            // Another learner has it.
            (None, [_, ..]) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_name_stands_for_one_thing() {
        let mut seen = HashSet::new();
        for name in OTHER_SYSTEM_PARAMS.iter().flat_map(|entry| entry.names) {
            assert!(seen.insert(name), "{name} twice");
        }
        let mut seen = HashSet::new();
        for name in OTHER_SYSTEM_LEARNERS.iter().flat_map(|entry| entry.names) {
            assert!(seen.insert(name), "{name} twice");
        }
        for entry in OTHER_SYSTEM_PARAMS {
            assert!(!entry.our_names.is_empty() || !entry.note.is_empty(), "{:?}", entry.names);
        }
    }

    #[test]
    fn a_hint_names_a_parameter_that_the_spec_has() {
        let hint = |name: &str, known: &[&str]| other_system_param(name).unwrap().hint(known);
        let trees = ["trees", "rate", "l2"];
        assert_eq!(hint("eta", &trees).unwrap(), "it is called `rate` here");
        assert_eq!(hint("n_estimators", &["epochs"]).unwrap(), "it is called `epochs` here");
        assert_eq!(hint("num_leaves", &trees), None);
        assert!(hint("random_state", &trees).unwrap().starts_with("the seed belongs"));
        assert_eq!(other_system_learner("lgbm-ranker").unwrap().our_spec, "lambdamart");
        assert_eq!(other_system_learner("ranknet"), None);
    }
}
