//! The table of learners.

use rankwright_eval::ParamInfo;

use super::LearnerInfo;
use super::objective::{LOSS, params_of};
use super::params::{BOOSTING, METRIC, NEWTON, TREE};
use crate::blend;
use crate::ensemble;
use crate::linear;
use crate::net::{self, FACTORED, NET, SOFTMAX_TARGET};
use crate::trainer::ReadTrainer;
use crate::transform::TRANSFORM;

/// What kind of learner stands behind a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Family {
    Mart,
    RankMart,
    LambdaMart,
    Xendcg,
    Yeti,
    Tree,
    /// Weights that someone wrote down.
    Given,
    /// Whatever else there is; read by a function of its own.
    Other(ReadTrainer),
}

/// Every learner there is.
pub const LEARNERS: &[LearnerInfo] = &[
    LearnerInfo {
        name: "lambdamart",
        doc: "boosted trees on pairs weighted by the change of a metric (Burges 2010)",
        example: "lambdamart(trees=500, leaves=31, rate=0.05, metric=ndcg@10)",
        params: &LAMBDAMART,
        family: Family::LambdaMart,
    },
    LearnerInfo {
        name: "rankmart",
        doc: "boosted trees on the pair logistic loss of RankNet, every pair alike",
        example: "rankmart(trees=200, leaves=15, sigma=1)",
        params: &RANKMART,
        family: Family::RankMart,
    },
    LearnerInfo {
        name: "xendcg",
        doc: "boosted trees on a listwise cross entropy that bounds NDCG (Bruch 2021)",
        example: "xendcg(trees=200, leaves=31)",
        params: &XENDCG,
        family: Family::Xendcg,
    },
    LearnerInfo {
        name: "yetirank",
        doc: "boosted trees on a metric made smooth by noise on the scores (Gulin 2011, Lyzhin 2023)",
        example: "yetirank(trees=200, leaves=31, metric=ap)",
        params: &YETIRANK,
        family: Family::Yeti,
    },
    LearnerInfo {
        name: "mart",
        doc: "boosted trees on a loss of each document's label (Friedman 2001), or of a list",
        example: "mart(loss=query-rmse, trees=200, leaves=31)",
        params: &MART,
        family: Family::Mart,
    },
    LearnerInfo {
        name: "tree",
        doc: "one regression tree on the labels, each leaf the mean of its documents",
        example: "tree(leaves=8, min_rows=5)",
        params: &ONE_TREE,
        family: Family::Tree,
    },
    LearnerInfo {
        name: "ranksvm",
        doc: "a line that puts preferred documents ahead by a margin (Herbrich 1999, Joachims 2002)",
        example: "ranksvm(c=2, norm_query=true)",
        params: &RANKSVM,
        family: Family::Other(linear::read_ranksvm),
    },
    LearnerInfo {
        name: "pairwise-logistic",
        doc: "a line on the logistic loss of preferences: ranking logistic regression, linear RankNet",
        example: "pairwise-logistic(c=20)",
        params: &PAIRWISE,
        family: Family::Other(linear::read_pairwise_logistic),
    },
    LearnerInfo {
        name: "linear-regression",
        doc: "ridge regression: a line fitted to the labels by least squares",
        example: "linear-regression(l2=0.5)",
        params: &REGRESSION,
        family: Family::Other(linear::read_regression),
    },
    LearnerInfo {
        name: "logistic",
        doc: "logistic regression on relevant or not: maximum entropy (Nallapati 2004)",
        example: "logistic(rel=2, c=100)",
        params: &LOGISTIC,
        family: Family::Other(linear::read_logistic),
    },
    LearnerInfo {
        name: "linear-svm",
        doc: "support vector machine on relevant or not, linear (Nallapati 2004)",
        example: "linear-svm(loss=hinge, c=3)",
        params: &LINEAR_SVM,
        family: Family::Other(linear::read_svm),
    },
    LearnerInfo {
        name: "ordinal",
        doc: "ordinal regression on the grades: a line and a threshold between any two (McCullagh 1980)",
        example: "ordinal(c=100)",
        params: &ORDINAL,
        family: Family::Other(linear::read_ordinal),
    },
    LearnerInfo {
        name: "lambdarank",
        doc: "a net on pairs weighted by the change of a metric (Burges 2006)",
        example: "lambdarank(layers=64/32, epochs=30, metric=ndcg@10)",
        params: &LAMBDARANK,
        family: Family::Other(net::read_lambdarank),
    },
    LearnerInfo {
        name: "ranknet",
        doc: "a net on the logistic loss of pairs (Burges 2005), factored by query (Burges 2010)",
        example: "ranknet(layers=32, sigma=1, epochs=20)",
        params: &RANKNET,
        family: Family::Other(net::read_ranknet),
    },
    LearnerInfo {
        name: "listnet",
        doc: "a net on the cross entropy between labels and scores as distributions (Cao 2007)",
        example: "listnet(layers=0, epochs=30)",
        params: &LISTNET,
        family: Family::Other(net::read_listnet),
    },
    LearnerInfo {
        name: "listmle",
        doc: "a net on the likelihood of the best order (Xia 2008)",
        example: "listmle(layers=32, top=10, epochs=30)",
        params: &LISTMLE,
        family: Family::Other(net::read_listmle),
    },
    LearnerInfo {
        name: "softmax",
        doc: "a net on the softmax cross entropy with gains as the target (Bruch 2019)",
        example: "softmax(target=gain, layers=64/32, norm=layer, epochs=30)",
        params: &SOFTMAX_NET,
        family: Family::Other(net::read_softmax),
    },
    LearnerInfo {
        name: "approxndcg",
        doc: "a net on NDCG with ranks made smooth (Qin 2010)",
        example: "approxndcg(temperature=0.1, layers=64/32, epochs=30)",
        params: &APPROX_NET,
        family: Family::Other(net::read_approxndcg),
    },
    LearnerInfo {
        name: "rankboost",
        doc: "thresholds on features, boosted on the pairs that are still wrong (Freund 2003)",
        example: "rankboost(trees=200, norm_query=true)",
        params: &RANKBOOST,
        family: Family::Other(ensemble::read_rankboost),
    },
    LearnerInfo {
        name: "adarank",
        doc: "a line, its features boosted on the queries that a metric is low for (Xu and Li 2007)",
        example: "adarank(rounds=100, metric=ap)",
        params: &ADARANK,
        family: Family::Other(ensemble::read_adarank),
    },
    LearnerInfo {
        name: "svmmap",
        doc: "a line with a margin in average precision, by cutting planes (Yue 2007)",
        example: "svmmap(c=0.3, epsilon=0.01)",
        params: &SVMMAP,
        family: Family::Other(ensemble::read_svmmap),
    },
    LearnerInfo {
        name: "coordinate-ascent",
        doc: "a line, its weights moved one by one while a metric gains (Metzler and Croft 2007)",
        example: "coordinate-ascent(restarts=2, passes=3, metric=ndcg@10)",
        params: &COORDINATE,
        family: Family::Other(ensemble::read_coordinate),
    },
    LearnerInfo {
        name: "random-forest",
        doc: "the mean of trees on the labels, each of some queries and features (Breiman 2001)",
        example: "random-forest(trees=300, leaves=100)",
        params: &FOREST,
        family: Family::Other(ensemble::read_forest),
    },
    LearnerInfo {
        name: "bagging",
        doc: "the mean of boosted ensembles, each trained on a part of the queries (Breiman 1996)",
        example: "bagging(learner=lambdamart(trees=50, leaves=15), bags=5)",
        params: &BAGGING,
        family: Family::Other(ensemble::read_bagging),
    },
    LearnerInfo {
        name: "blend",
        doc: "a weighted sum of models, weights learnt on validation data (Burges 2011)",
        example: "blend(members=lambdamart(trees=30)+ranksvm+random-forest(trees=30))",
        params: &BLEND,
        family: Family::Other(blend::read_blend),
    },
    LearnerInfo {
        name: "linear",
        doc: "a line of given weights: nothing is learnt, the baseline that someone tuned by hand",
        example: "linear(weights=22:0.03/72:0.06, bias=0)",
        params: GIVEN,
        family: Family::Given,
    },
];

/// Parameters of `linear`.
const GIVEN: &[ParamInfo] = &[
    ParamInfo {
        name: "weights",
        doc: "weights by feature name or id, parted by slashes: 22:0.03/72:0.06",
        default: "must be given",
    },
    ParamInfo { name: "bias", doc: "what every score begins with", default: "0" },
    METRIC,
];

/// What every boosted learner takes.
const COMMON: usize = BOOSTING.len() + TREE.len();
const PAIR: &[ParamInfo] = params_of("pair-logistic");
const LAMBDA: &[ParamInfo] = params_of("lambda");
const LISTS: &[ParamInfo] = params_of("xendcg");
const YETI: &[ParamInfo] = params_of("yeti");
const LOGLOSS: &[ParamInfo] = params_of("logloss");
const HUBER: &[ParamInfo] = params_of("huber");
const SOFTMAX: &[ParamInfo] = params_of("softmax");
const MLE: &[ParamInfo] = params_of("listmle");
const APPROX: &[ParamInfo] = params_of("approxndcg");
const LOSSES: usize = 1 + LOGLOSS.len() + HUBER.len() + SOFTMAX.len() + MLE.len() + APPROX.len();

static LAMBDAMART: [ParamInfo; COMMON + LAMBDA.len() + NEWTON.len()] =
    join(&[BOOSTING, TREE, LAMBDA, NEWTON]);
static RANKMART: [ParamInfo; COMMON + 1 + PAIR.len() + NEWTON.len()] =
    join(&[BOOSTING, TREE, &[METRIC], PAIR, NEWTON]);
static XENDCG: [ParamInfo; COMMON + 1 + LISTS.len()] = join(&[BOOSTING, TREE, &[METRIC], LISTS]);
static YETIRANK: [ParamInfo; COMMON + YETI.len() + NEWTON.len()] =
    join(&[BOOSTING, TREE, YETI, NEWTON]);
static MART: [ParamInfo; LOSSES + COMMON + 1] =
    join(&[&[LOSS], LOGLOSS, HUBER, SOFTMAX, MLE, APPROX, BOOSTING, TREE, &[METRIC]]);
static ONE_TREE: [ParamInfo; TREE.len() + 1] = join(&[TREE, &[METRIC]]);

static RANKSVM: [ParamInfo; linear::RANKSVM_PARAMS.len() + 1] =
    join(&[linear::RANKSVM_PARAMS, &[METRIC]]);
static PAIRWISE: [ParamInfo; linear::PAIRWISE_PARAMS.len() + 1] =
    join(&[linear::PAIRWISE_PARAMS, &[METRIC]]);
static REGRESSION: [ParamInfo; linear::REGRESSION_PARAMS.len() + 1] =
    join(&[linear::REGRESSION_PARAMS, &[METRIC]]);
static LOGISTIC: [ParamInfo; linear::LOGISTIC_PARAMS.len() + 1] =
    join(&[linear::LOGISTIC_PARAMS, &[METRIC]]);
static LINEAR_SVM: [ParamInfo; linear::SVM_PARAMS.len() + 1] =
    join(&[linear::SVM_PARAMS, &[METRIC]]);
static ORDINAL: [ParamInfo; linear::ORDINAL_PARAMS.len() + 1] =
    join(&[linear::ORDINAL_PARAMS, &[METRIC]]);

/// What every net takes.
const NETS: usize = NET.len() + TRANSFORM.len();

static LAMBDARANK: [ParamInfo; NETS + LAMBDA.len()] = join(&[NET, TRANSFORM, LAMBDA]);
static RANKNET: [ParamInfo; NETS + 1 + PAIR.len() + FACTORED.len()] =
    join(&[NET, TRANSFORM, &[METRIC], PAIR, FACTORED]);
static LISTNET: [ParamInfo; NETS + 1] = join(&[NET, TRANSFORM, &[METRIC]]);
static LISTMLE: [ParamInfo; NETS + 1 + MLE.len()] = join(&[NET, TRANSFORM, &[METRIC], MLE]);
static SOFTMAX_NET: [ParamInfo; NETS + 1 + SOFTMAX_TARGET.len()] =
    join(&[NET, TRANSFORM, &[METRIC], SOFTMAX_TARGET]);
static APPROX_NET: [ParamInfo; NETS + 1 + APPROX.len()] =
    join(&[NET, TRANSFORM, &[METRIC], APPROX]);

static RANKBOOST: [ParamInfo; ensemble::RANKBOOST_PARAMS.len() + 1] =
    join(&[ensemble::RANKBOOST_PARAMS, &[METRIC]]);
static ADARANK: [ParamInfo; ensemble::ADARANK_PARAMS.len() + 1] =
    join(&[ensemble::ADARANK_PARAMS, &[METRIC]]);
static SVMMAP: [ParamInfo; ensemble::SVMMAP_PARAMS.len() + 1] =
    join(&[ensemble::SVMMAP_PARAMS, &[METRIC]]);
static COORDINATE: [ParamInfo; ensemble::COORDINATE_PARAMS.len() + 1] =
    join(&[ensemble::COORDINATE_PARAMS, &[METRIC]]);
static FOREST: [ParamInfo; ensemble::FOREST_PARAMS.len() + 1] =
    join(&[ensemble::FOREST_PARAMS, &[METRIC]]);
static BAGGING: [ParamInfo; ensemble::BAGGING_PARAMS.len() + 1] =
    join(&[ensemble::BAGGING_PARAMS, &[METRIC]]);
static BLEND: [ParamInfo; blend::BLEND_PARAMS.len() + 1] = join(&[blend::BLEND_PARAMS, &[METRIC]]);

/// Several lists as one.
const fn join<const N: usize>(parts: &[&[ParamInfo]]) -> [ParamInfo; N] {
    let mut all = [METRIC; N];
    let (mut part, mut to) = (0, 0);
    while part < parts.len() {
        let mut from = 0;
        while from < parts[part].len() {
            all[to] = parts[part][from];
            from += 1;
            to += 1;
        }
        part += 1;
    }
    all
}
